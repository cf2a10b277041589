//! Jobs of an analytics server: tables of fixed-width rows in pages, the steps on them, and the processes that do
//! them.
//!
//! | module | what it is |
//! |---|---|
//! | [`counters`](CountersError) | what a job has moved so far, for its launcher to look at |
//! | [`row`], [`Row`] | a row, its fields, and how it comes from a seed ([`Origin`]) |
//! | [`table`](TableReader) | tables: read ([`TableReader`]), written ([`TableWriter`]), by pages ([`Io`]) |
//! | [`meter`](Meter) | what a job moves and keeps in each space |
//! | [`step`], [`StepContext`] | one step: its tables, its memory, and who does it |
//! | [`order`](JobOrder) | what a process of one job is told ([`JobOrder`]), and what it tells ([`JobEvent`]) |
//! | [`process`](serve) | the process of one job: takes an order, goes through its steps, measures each |
//! | [`usage`](Usage) | what the kernel has accounted to a process |
//! | [`launch`] | many of them at a time: their order, their processes, what became of each |
//!
//! A job is a process of its own, so that the kernel accounts for it. It reads its order from the standard input and
//! tells each step that is done on the standard output.

mod buffer;
mod compute;
mod counters;
mod error;
pub mod launch;
mod meter;
mod order;
mod page;
mod parallel;
mod process;
pub mod row;
pub mod step;
mod steps;
mod table;
#[cfg(test)]
mod tests;
mod usage;

pub use buffer::PageBuffer;
pub use counters::{CountersError, CountersFile};
pub use error::JobError;
pub use meter::Meter;
pub use order::{Counters, JobEvent, JobOrder, StepOutcome, StepReport};
pub use process::{Ended, ProcessError, read_order, serve, work};
pub use row::{Origin, Row};
pub use step::{Place, StepContext};
pub use table::{Io, TableReader, TableWriter, Written};
pub use usage::Usage;
