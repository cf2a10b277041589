//! Jobs of an analytics server: tables of fixed-width rows in pages, the steps on them, and the processes that do
//! them.
//!
//! | module | what it is |
//! |---|---|
//! | [`counters`](CountersError) | what a job has moved so far, for its launcher to look at |
//! | [`order`](JobOrder) | what a process of one job is told ([`JobOrder`]), and what it tells ([`JobEvent`]) |
//! | [`usage`](Usage) | what the kernel has accounted to a process |
//! | [`launch`] | many of them at a time: their order, their processes, what became of each |
//!
//! A job is a process of its own, so that the kernel accounts for it. It reads its order from the standard input and
//! tells each step that is done on the standard output.

mod counters;
pub mod launch;
mod order;
mod usage;

pub use counters::{CountersError, CountersFile};
pub use order::{Counters, JobEvent, JobOrder, StepOutcome, StepReport};
pub use usage::Usage;
