//! The overhead of the measuring instrument on this host: its clock, its maximum rate, and its recording.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use analysis::statistics::Overhead;
use engine::{Controls, PhaseJob, PhaseOutcome, SingleProcess};
use plan::{Backend, Bytes, Geometry, Nanos, Order, Phase, Placement, SyncRule, Workload, WorkloadSpec};

use crate::RunnerError;
use crate::files::cleanup::RemoveOnDrop;

/// Number of pairs of runs with and without recording. A 95 % interval of a median needs at least 6.
const PAIRS: usize = 15;
/// Duration of a run: long enough to settle, short enough that both runs of a pair see the same host state.
const RUN: Nanos = Nanos::millis(400);
/// The common transfer size at which the cost per transfer has the largest share.
const TRANSFER: Bytes = Bytes::kib(4);
/// Small enough to write quickly, large enough to exceed a device's buffer.
const FILE: Bytes = Bytes::mib(256);
/// The part of the file that is read through the page cache; it fits in memory.
const CACHED: Bytes = Bytes::mib(64);
/// Number of operations kept in the history.
const KEPT: u64 = 10_000;
/// Queue depth that keeps a device busy.
const DEPTH: u32 = 32;

/// Overhead of the instrument on this host.
#[derive(Debug, Clone, PartialEq)]
pub struct Instrument {
    /// The clock used for latencies.
    pub clock: &'static str,
    /// Nanoseconds per clock read.
    pub clock_ns: f64,
    /// Transfers per second of one task on the null backend, recorded: the upper limit of this host.
    pub ceiling: f64,
    /// Nanoseconds that recording adds per transfer, from null backend runs with and without.
    pub recording_ns: f64,
    /// Share of the rate of real transfers that recording costs, from paired runs.
    pub paired: Option<Overhead>,
    /// Nanoseconds between the ends of two consecutive real transfers.
    pub transfer_ns: f64,
    /// The conditions of the real transfers.
    pub conditions: String,
    /// Additional cost of keeping the last operations.
    pub history: HistoryCost,
}

/// Cost of keeping the last operations in addition to recording.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryCost {
    /// Number of operations kept.
    pub kept: u64,
    /// Nanoseconds per transfer, from null backend runs with and without.
    pub each_ns: f64,
    /// Share of the rate of page cache reads, from paired runs. These are the fastest real transfers, so
    /// the share is largest.
    pub cached: Option<Overhead>,
    /// Nanoseconds between the ends of two consecutive reads of this kind.
    pub cached_ns: f64,
}

impl Instrument {
    /// The share of recording in the time of a real transfer, computed from the two times and thus free
    /// of the storage's own noise.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.recording_ns / self.transfer_ns
    }
}

/// Measures the instrument, with real transfers on a temporary file in `directory`. Before each pair of
/// runs, `told` is called with the name of the measurement, the number of pairs done, their total, and the
/// duration of one. A measurement that was stopped is not valid.
///
/// # Errors
/// Errors if the file cannot be written or read.
pub fn instrument(
    directory: &Path,
    controls: &Arc<Controls>,
    told: &mut dyn FnMut(&'static str, usize, usize, Duration),
) -> Result<Instrument, RunnerError> {
    let mut done = 0;
    let mut next = |stage| {
        told(stage, done, 4 * PAIRS, 2 * Duration::from(RUN));
        done += 1;
    };
    let (with, without) =
        pairs(Switch::Recording, &null_workload()?, controls, &mut || next("recording, no transfers"))?;
    let (kept, not_kept) =
        pairs(Switch::History, &null_workload()?, controls, &mut || next("history, no transfers"))?;
    let null_ns = |rates: &[f64]| 1e9 / median(rates);
    let real = real_workload(directory)?;
    let path = Placement::new(&real).files(0).swap_remove(0).path;
    let file = RemoveOnDrop::of(&path);
    let mut fill = PhaseJob::new(&real, Phase::Fill, 0);
    fill.instrument = false;
    engine::run(&fill, &SingleProcess, controls)?;
    let (on, off) = pairs(Switch::Recording, &real, controls, &mut || next("recording, real transfers"))?;
    let (cached, cached_off) = pairs(Switch::History, &cached_workload(&real)?, controls, &mut || {
        next("history, reads from memory")
    })?;
    file.now()?;
    Ok(Instrument {
        clock: engine::clock_name(),
        clock_ns: engine::clock_cost_ns(),
        ceiling: median(&with),
        recording_ns: (null_ns(&with) - null_ns(&without)).max(0.0),
        paired: analysis::statistics::overhead(&on, &off),
        transfer_ns: 1e9 / median(&on),
        conditions: real.conditions(Phase::Read),
        history: HistoryCost {
            kept: KEPT,
            each_ns: (null_ns(&kept) - null_ns(&not_kept)).max(0.0),
            cached: analysis::statistics::overhead(&cached, &cached_off),
            cached_ns: 1e9 / median(&cached),
        },
    })
}

/// The feature that is on in one run of a pair and off in the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Switch {
    Recording,
    /// Keeping the last operations; both runs record.
    History,
}

/// Rates with and without the switched feature, measured alternately. `next` is called before each pair.
fn pairs(
    switch: Switch,
    workload: &Workload,
    controls: &Controls,
    next: &mut dyn FnMut(),
) -> Result<(Vec<f64>, Vec<f64>), RunnerError> {
    let mut spec = WorkloadSpec::from(workload.clone());
    spec.history = Some(KEPT);
    let keeping = spec.validate()?;
    let mut rates = (Vec::with_capacity(PAIRS), Vec::with_capacity(PAIRS));
    for pair in 0..PAIRS {
        if controls.is_stopped() {
            break;
        }
        next();
        // The order changes from pair to pair, to cancel effects of the order.
        for on in [pair % 2 == 0, pair % 2 != 0] {
            let keeps = on && switch == Switch::History;
            let mut job = PhaseJob::new(if keeps { &keeping } else { workload }, Phase::Read, 0);
            job.instrument = on || switch == Switch::History;
            let rate = rate(&engine::run(&job, &SingleProcess, controls)?);
            if on { rates.0.push(rate) } else { rates.1.push(rate) }
        }
    }
    Ok(rates)
}

fn rate(outcome: &PhaseOutcome) -> f64 {
    outcome.reads as f64 / (outcome.io_ns.max(1) as f64 / 1e9)
}

fn median(values: &[f64]) -> f64 {
    analysis::statistics::Summary::of(values).map_or(f64::NAN, |summary| summary.median)
}

fn null_workload() -> Result<Workload, RunnerError> {
    let mut spec = WorkloadSpec::new("null", "null", geometry());
    spec.backend = Backend::no_io();
    spec.duration = Some(RUN);
    Ok(spec.validate()?)
}

/// A workload of direct transfers if the file system supports them, through io_uring if available.
fn real_workload(directory: &Path) -> Result<Workload, RunnerError> {
    let file = directory.join(record::trial_name("instrument"));
    let mut spec = WorkloadSpec::new("real", file, geometry());
    spec.order = Order::Random { seed: 1 };
    spec.direct =
        host::direct_alignment(directory)?.is_some_and(|bytes| TRANSFER.get().is_multiple_of(bytes));
    spec.sync = SyncRule { at_close: true, per_write: false };
    spec.duration = Some(RUN);
    if engine::uring_available().is_ok() {
        spec.backend = Backend::queued(DEPTH);
    }
    Ok(spec.validate()?)
}

/// A workload on the same file, read with plain calls through the page cache.
fn cached_workload(real: &Workload) -> Result<Workload, RunnerError> {
    let mut spec = WorkloadSpec::from(real.clone());
    (spec.direct, spec.backend) = (false, Backend::plain());
    spec.geometry.block = CACHED;
    Ok(spec.validate()?)
}

const fn geometry() -> Geometry {
    Geometry { transfer: TRANSFER, block: FILE, segments: 1 }
}
