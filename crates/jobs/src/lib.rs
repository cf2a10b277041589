//! Jobs of an analytics server: tables of fixed-width rows in pages, steps on them, and processes that run
//! them.
//!
//! | module | what it is |
//! |---|---|
//! | [`counters`](CountersError) | a job's transfer counters, readable by its launcher |
//! | [`row`], [`Row`] | a row, its fields, and how it is generated from a seed ([`Origin`]) |
//! | [`table`](TableReader) | tables: read ([`TableReader`]), written ([`TableWriter`]), by pages ([`Io`]) |
//! | [`meter`](Meter) | counts the bytes a job moves and holds in each space |
//! | [`step`], [`StepContext`] | one step: its tables and its memory |
//! | [`order`](JobOrder) | the input of a job's process ([`JobOrder`]), and its output ([`JobEvent`]) |
//! | [`process`](serve) | the process of one job: reads an order, runs its steps, measures each |
//! | [`usage`](Usage) | the kernel's accounting of a process |
//! | [`launch`] | many jobs at a time: their order, processes and outcomes |
//!
//! A job is a separate process, so that the kernel accounts for it. It reads its order from standard input
//! and reports each completed step on standard output.

mod buffer;
mod compute;
mod error;
pub mod launch;
mod page;
mod parallel;
mod process;
pub mod row;
pub mod step;
mod steps;
mod table;
#[cfg(test)]
mod tests;

pub use buffer::PageBuffer;
pub use error::JobError;
pub use process::counters::{CountersError, CountersFile};
pub use process::meter::Meter;
pub use process::order::{Counters, JobEvent, JobOrder, StepOutcome, StepReport};
pub use process::usage::Usage;
pub use process::{Ended, ProcessError, read_order, serve, work};
pub use row::{Origin, Row};
pub use step::{Place, StepContext};
pub use steps::run_step;
pub use table::{Io, TableReader, TableWriter, Written};
