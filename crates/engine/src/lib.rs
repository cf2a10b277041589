//! Runs the transfers: tasks, offset streams, backends, buffers, latency histograms.
//!
//! [`run`] runs one phase of a workload: prepare, open, transfer, close. It has no knowledge of studies, MPI
//! or reports; its results are returned as a [`PhaseOutcome`].
//!
//! | type | what it is |
//! |---|---|
//! | [`PhaseJob`] | the phase and workload, the tasks of this process, and their data |
//! | [`Controls`] | stop flag and progress, shared with other threads |
//! | [`Rendezvous`] | synchronisation of the processes of a run; [`SingleProcess`] for one process |
//! | [`PhaseOutcome`] | times of each task, bytes, histograms, series, last operations, wrong data |
//! | [`TaskPlan`], [`Offsets`], [`Mixture`], [`Ending`] | what a task transfers; also used by simulations |
//! | [`EngineError`] | the error, where it occurred, and the next step |
//!
//! # One phase
//!
//! 1. *Prepare*, untimed: check limits; set up buffers (touched and filled), rings and threads.
//! 2. *Start*: all processes and tasks synchronise. All times count from the arrival of the last process.
//! 3. *Open*, including advice, preallocation and mapping. If the workload has barriers or a pace, tasks
//!    synchronise afterwards.
//! 4. *Transfers*. In a closed loop the end of one transfer is also the start of the next read, so one clock
//!    reading is needed per transfer; the clock is read again for a write after its buffer has been stamped,
//!    and for a read after the previous one has been verified. Choosing the next offset (some 10 ns)
//!    therefore counts as part of a read. In an open loop ([`plan::Pace`]) the *response* counts from the
//!    intended start and the *service* from the submission.
//! 5. *Close*, with `fsync` if requested.
//!
//! A fill is not measured. Its workers process their tasks in turn, a few at a time, each from open to
//! close, so that thousands of files do not need memory at once.
//!
//! # Example
//! ```
//! use engine::{SingleProcess, Controls, PhaseJob};
//! use plan::{Backend, Bytes, Geometry, Phase, WorkloadSpec};
//!
//! let geometry = Geometry { transfer: Bytes::kib(4), block: Bytes::mib(4), segments: 1 };
//! let mut spec = WorkloadSpec::new("ceiling", "unused", geometry);
//! spec.backend = Backend::Null;
//! let workload = spec.validate()?;
//! let outcome = engine::run(&PhaseJob::new(&workload, Phase::Read, 0), &SingleProcess, &Controls::new())?;
//! assert_eq!(outcome.reads, 1024);
//! let recorded: u64 = outcome.latency.iter().map(|l| l.histogram.total()).sum();
//! assert_eq!(recorded, 1024);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod backend;
pub mod cost;
mod data;
mod driver;
mod error;
mod phase;
mod recording;
mod rpc;
mod system;
mod tree;

pub use data::buffer::MemoryHog;
pub use data::offsets::{Mixture, Offsets};
pub use data::own::{OWN_PLACES, is_own_cell, is_own_file};
pub use error::{EngineError, Exhausted, LimitKind, UringUnavailable};
pub use phase::clock::{clock_cost_ns, clock_name};
pub use phase::controls::{Controls, HistoryCursor, Launches, Progress};
pub use phase::ending::Ending;
pub use phase::job::{DataSpec, Expect, PhaseJob, ProcessNeeds, TransferLimit};
pub use phase::outcome::{
    Latency, Mismatch, MismatchKind, Mismatches, Note, PhaseOutcome, SeriesInterval, Stonewalled, Surprises,
    TaskOutcome,
};
pub use phase::rendezvous::{Point, Rendezvous, RendezvousError, SingleProcess};
pub use phase::rules::TaskPlan;
pub use phase::run;
pub use recording::histogram::LatencyHistogram;
pub use recording::history::LastOperation;
pub use rpc::{EndOutcome, NetworkError};
pub use system::errno::Errno;
pub use system::file_id::MadeFiles;
pub use system::ring::uring_available;
pub use tree::objects::order::{Emptied, ObjectCall, ObjectOrder};
