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
//! | [`PhaseOutcome`] | times of each task, bytes, histograms, series, wrong data |
//! | [`EngineError`] | what failed, where, and what to do next |
//!
//! # One phase
//!
//! 1. *Prepare*, untimed: limits, buffers (touched and filled), rings, threads.
//! 2. *Start*: all processes and tasks meet; times count from here.
//! 3. *Open*, with advice, preallocation and mapping. Tasks meet after it where the workload has
//!    barriers or a pace.
//! 4. *Transfers*. In a closed loop the end of one transfer serves as the start of the next read,
//!    so that one clock reading is spent per transfer; a write's start is read again after its
//!    buffer has been stamped, and a read's after the one before has been verified. Choosing the
//!    next offset (some 10 ns) therefore counts as part of a read. In an open loop ([`plan::Pace`]) the
//!    *response* counts from the intended start and the *service* from the hand-over.
//! 5. *Close*, with `fsync` where asked for.

mod controls;
mod errno;
mod error;
mod histogram;
mod job;
mod outcome;
mod rendezvous;

pub use controls::{Controls, Progress};
pub use errno::Errno;
pub use error::{EngineError, LimitKind, UringUnavailable};
pub use histogram::LatencyHistogram;
pub use job::{DataSpec, Expect, PhaseJob, TransferLimit};
pub use outcome::{
    Latency, Measure, Mismatch, MismatchKind, Mismatches, Note, Operation, PhaseOutcome, SeriesInterval,
    Stonewalled, TaskOutcome,
};
pub use rendezvous::{Alone, Point, Rendezvous, RendezvousError};
