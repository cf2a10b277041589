//! The backends, and the one place where the implementation of each is found.
//!
//! To add a backend, implement a trait of [`contract`] and add a line to [`run`]. The backend's name and
//! capabilities are declared in `plan`.

pub(crate) mod contract;
mod libaio;
mod mmap;
mod null;
mod psync;
mod stdio;
mod uring;
mod vectored;

use plan::Backend;

use self::contract::{QueuedBackend, SyncBackend};
use crate::data::buffer::{Arena, PAGE};
use crate::driver::{blocking, queued};
use crate::phase::clock::Clock;
use crate::phase::shared::Shared;
use crate::recording::account::WorkerReport;
use crate::recording::series::{Counts, Recorder};

/// The memory of all workers.
pub(crate) struct Memory {
    pub(crate) buffers: Arena,
    /// Distance between buffers.
    pub(crate) stride: usize,
    pub(crate) counts: Arena,
    /// Number of histograms per worker: one for response times, and in an open loop one for service
    /// times.
    pub(crate) sets: usize,
}

/// How the tasks of this process are spread over threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ThreadLayout {
    /// Number of threads.
    pub(crate) workers: usize,
    /// Maximum number of tasks that a thread runs at once.
    pub(crate) at_once: usize,
    /// Number of transfers in flight for each of these tasks.
    pub(crate) depth: u32,
}

/// Distance in bytes between the histograms of two workers: a whole number of pages, so that no page is
/// shared.
pub(crate) const COUNTS_STRIDE: usize = size_of::<Counts>().next_multiple_of(PAGE);

/// Runs the transfers of all tasks with the loop compiled for this clock and backend, with or without
/// recording.
pub(crate) fn run<'m, C: Clock>(
    shared: &Shared<'_>,
    clock: C,
    layout: ThreadLayout,
    memory: &'m mut Memory,
) -> Vec<WorkerReport<'m>> {
    match shared.rules.job.workload.backend {
        Backend::Psync => run_blocking::<C, psync::Psync>(shared, clock, memory),
        Backend::Uring { .. } => run_queued::<C, uring::Uring>(shared, clock, layout, memory),
        Backend::Libaio { .. } => run_queued::<C, libaio::Libaio>(shared, clock, layout, memory),
        Backend::Vectored { .. } => run_blocking::<C, vectored::Vectored>(shared, clock, memory),
        Backend::Stdio => run_blocking::<C, stdio::Stdio>(shared, clock, memory),
        Backend::Mmap => run_blocking::<C, mmap::Mmap>(shared, clock, memory),
        Backend::Null => run_blocking::<C, null::Null>(shared, clock, memory),
    }
}

fn run_blocking<'m, C: Clock, B: SyncBackend>(
    shared: &Shared<'_>,
    clock: C,
    memory: &'m mut Memory,
) -> Vec<WorkerReport<'m>> {
    let Memory { buffers, stride, counts, sets } = memory;
    let recorders = recorders(shared, counts, *sets);
    let buffers = buffers.bytes_mut().chunks_mut(*stride).collect();
    match shared.rules.job.instrument {
        true => blocking::run::<C, B, true>(shared, clock, buffers, recorders),
        false => blocking::run::<C, B, false>(shared, clock, buffers, recorders),
    }
}

fn run_queued<'m, C: Clock, B: QueuedBackend>(
    shared: &Shared<'_>,
    clock: C,
    layout: ThreadLayout,
    memory: &'m mut Memory,
) -> Vec<WorkerReport<'m>> {
    let Memory { buffers, stride, counts, sets } = memory;
    let recorders = recorders(shared, counts, *sets);
    let ThreadLayout { at_once, depth, .. } = layout;
    let required = !shared.rules.job.workload.backend.is_replaceable();
    let pool = queued::Pool { buffers: buffers.bytes_mut(), stride: *stride, at_once, depth, required };
    match shared.rules.job.instrument {
        true => queued::run::<C, B, true>(shared, clock, pool, recorders),
        false => queued::run::<C, B, false>(shared, clock, pool, recorders),
    }
}

/// Creates a recorder for each worker.
fn recorders<'m>(shared: &Shared<'_>, counts: &'m mut Arena, sets: usize) -> Vec<Recorder<'m>> {
    let count = counts.bytes_mut().len() / COUNTS_STRIDE;
    let mut pieces = counts.pieces::<Counts>(count, COUNTS_STRIDE).into_iter();
    let mut recorders = Vec::with_capacity(count / sets);
    while let Some(response) = pieces.next() {
        let service = if sets > 1 { pieces.next() } else { None };
        let keeper = shared.keeper(recorders.len());
        recorders.push(Recorder::new(response, service).keeping(keeper));
    }
    recorders
}
