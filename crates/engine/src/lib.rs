//! Drives the transfers: tasks, offset streams, backends, buffers, latency histograms.
//!
//! [`run`] takes one phase of a workload through its life: prepare, open, transfer, close. It
//! knows nothing of studies, MPI or reports; what it saw comes back as a [`PhaseOutcome`].
//!
//! | type | what it is |
//! |---|---|
//! | [`PhaseJob`] | which phase of which workload, which tasks run in this process, with which data |
//! | [`Controls`] | stop flag and progress, shared with other threads |
//! | [`Rendezvous`] | how the processes of a run meet; [`Alone`] for one process |
//! | [`PhaseOutcome`] | times of each task, bytes, histograms, series, last operations, wrong data |
//! | [`EngineError`] | what failed, where, and what to do next |
//!
//! # One phase
//!
//! 1. *Prepare*, untimed: limits, buffers (touched and filled), rings, threads.
//! 2. *Start*: all processes and tasks meet; times of all of them count from the moment at which the last
//!    process came.
//! 3. *Open*, with advice, preallocation and mapping. Tasks meet after it where the workload has
//!    barriers or a pace.
//! 4. *Transfers*. In a closed loop the end of one transfer serves as the start of the next read,
//!    so that one clock reading is spent per transfer; a write's start is read again after its
//!    buffer has been stamped, and a read's after the one before has been verified. Choosing the
//!    next offset (some 10 ns) therefore counts as part of a read. In an open loop ([`plan::Pace`]) the
//!    *response* counts from the intended start and the *service* from the hand-over.
//! 5. *Close*, with `fsync` where asked for.
//!
//! A fill is measured by nobody: its workers take their tasks in turn, a few at a time from open to close,
//! so that thousands of files need no memory at once.
//!
//! # Example
//! ```
//! use engine::{Alone, Controls, PhaseJob};
//! use plan::{Backend, Bytes, Geometry, Phase, WorkloadSpec};
//!
//! let geometry = Geometry { transfer: Bytes::kib(4), block: Bytes::mib(4), segments: 1 };
//! let mut spec = WorkloadSpec::new("ceiling", "unused", geometry);
//! spec.backend = Backend::Null;
//! let workload = spec.validate()?;
//! let outcome = engine::run(&PhaseJob::new(&workload, Phase::Read, 0), &Alone, &Controls::new())?;
//! assert_eq!(outcome.reads, 1024);
//! let recorded: u64 = outcome.latency.iter().map(|l| l.histogram.total()).sum();
//! assert_eq!(recorded, 1024);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod account;
mod buffer;
mod check;
mod clock;
mod common;
mod controls;
pub mod cost;
mod crew;
mod errno;
mod error;
mod extents;
mod file;
mod gate;
mod histogram;
mod history;
mod job;
mod lanes;
mod limits;
mod mmap;
mod null;
mod offsets;
mod outcome;
mod own;
mod pace;
mod phase;
mod psync;
mod rendezvous;
mod ring;
mod rpc;
mod rules;
mod series;
mod shared;
mod stamp;
mod stdio;
mod sync;
mod sys;
mod tree;
mod uring;
mod vectored;

pub use buffer::MemoryHog;
pub use clock::{clock_cost_ns, clock_name};
pub use controls::{Controls, Launches, Progress, Seen};
pub use errno::Errno;
pub use error::{EngineError, Exhausted, LimitKind, UringUnavailable};
pub use extents::{Extent, extents};
pub use histogram::LatencyHistogram;
pub use history::LastOperation;
pub use job::{DataSpec, Expect, PhaseJob, TransferLimit};
pub use outcome::{
    Latency, Mismatch, MismatchKind, Mismatches, Note, PhaseOutcome, SeriesInterval, Stonewalled, Surprises,
    TaskOutcome,
};
pub use own::{OWN_PLACES, is_own_cell, is_own_file};
pub use phase::run;
pub use rendezvous::{Alone, Point, Rendezvous, RendezvousError};
pub use ring::uring_available;
pub use rpc::{EndOutcome, NetworkError};
