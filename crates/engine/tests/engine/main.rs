//! What a user of the engine relies on, on real files.
//!
//! Tests that need root, strace, loop devices or fsfreeze say so and are skipped where they are missing.

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

/// The program that other processes run under a tracer or with fewer rights.
#[path = "../../examples/drive.rs"]
mod drive;
