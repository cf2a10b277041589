//! Which operations are carried out, and what the program finds on storage with known behaviour.

mod concurrent;
mod durability;
mod io_uring;
mod layout;
mod memory;
mod mixes;
mod open_loop;
mod page_cache;
mod rates;
mod starved;
mod stored;
mod trees;
