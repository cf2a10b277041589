//! The guarantees of the engine, tested on real files.
//!
//! Tests that need root, strace, loop devices or fsfreeze print a message and are skipped if these are missing.

#![expect(clippy::print_stdout, reason = "tests say what they skip")]

mod bed;
mod bus;
mod content;
mod ending;
mod errors;
mod history;
mod objects;
mod open_loop;
mod processes;
mod trace;
mod tree;
mod tree_cost;
mod tree_trouble;

/// The program that tests run in another process, under a tracer or with fewer privileges.
#[path = "../../examples/drive.rs"]
mod drive;
