//! Which operations are carried out, and what is found of storage with known answers.

mod io_uring;
mod layout;
mod memory;
mod mixes;
mod open_loop;
mod page_cache;
mod rates;
mod starved;
mod trees;
