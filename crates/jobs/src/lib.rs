//! Jobs of an analytics server: tables of fixed-width rows in pages, the steps on them, and the processes that do
//! them.
//!
//! | module | what it is |
//! |---|---|
//! | [`order`](JobOrder) | what a process of one job is told ([`JobOrder`]), and what it tells ([`JobEvent`]) |
//!
//! A job is a process of its own, so that the kernel accounts for it. It reads its order from the standard input and
//! tells each step that is done on the standard output.

mod order;

pub use order::{Counters, JobEvent, JobOrder, StepOutcome, StepReport};
