//! The resolved job: the parameters of every task of a phase.

use plan::{Advice, FileSlot, Phase, Placement, Region, Sharing};
use rustix::fs::OFlags;

use crate::data::check::{NoiseTable, generations};
use crate::data::stamp::{BufferUse, DataPattern};
use crate::phase::ending::Ending;
use crate::{PhaseJob, TransferLimit};

/// Minimum length of an interval. Shorter ones would make the series of a long phase too large for their
/// benefit.
pub(crate) const LEAST_INTERVAL_NS: u64 = 1_000_000;

/// The transfers of one task in a phase.
#[derive(Debug, Clone)]
pub struct TaskPlan {
    /// The task's number in the whole run.
    pub task: u32,
    /// The file that the task accesses.
    pub file: FileSlot,
    /// The offsets that the task accesses in the file.
    pub region: Region,
    /// Whether the region is everything the task may visit, that is, not shortened by a limit of the
    /// workload.
    pub whole: bool,
    /// Number of transfers unless the clock ends the phase.
    pub limit: u64,
    /// Whether the task allocates the file's space.
    pub preallocates: bool,
    /// Whether this phase creates the file.
    pub is_new: bool,
    /// Whether the file's name is a link of the user, which is followed.
    pub is_link: bool,
}

/// Parameters shared by all tasks of a phase.
#[derive(Debug)]
pub(crate) struct Rules<'a> {
    /// Size of a transfer in bytes.
    pub(crate) transfer: usize,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    pub(crate) read_percent: u8,
    pub(crate) direct: bool,
    pub(crate) advice: Advice,
    pub(crate) shared: bool,
    pub(crate) file_bytes: u64,
    pub(crate) sync_at_close: bool,
    /// Number of times each task reads its part before its timed phase begins.
    pub(crate) primes: u8,
    /// Whether the sync and the close are excluded from all times.
    pub(crate) untimed_close: bool,
    pub(crate) sync_per_write: bool,
    /// `O_SYNC` or `O_DSYNC` if one of them replaces a call after each write; otherwise empty.
    pub(crate) sync_flags: OFlags,
    /// Whether to drop the range from the page cache before each read.
    pub(crate) forgets: bool,
    pub(crate) single_attempt: bool,
    pub(crate) quit_on_error: bool,
    /// Whether all tasks synchronise after open and after the transfers.
    pub(crate) barriers: bool,
    /// Whether a worker may run its tasks one after the other, because no measurement depends on it.
    pub(crate) in_turn: bool,
    pub(crate) ending: Ending,
    /// In an open loop: nanoseconds between two intended starts of all tasks together.
    pub(crate) pace_ns: Option<f64>,
    /// Number of tasks in the whole run.
    pub(crate) all_tasks: u32,
    /// Noise that reads are compared with, or `None` without verification.
    pub(crate) noise: Option<NoiseTable>,
    /// Pattern of the data to write, or `None` if nothing is written.
    pub(crate) pattern: Option<DataPattern>,
    pub(crate) job: &'a PhaseJob<'a>,
}

impl<'a> Rules<'a> {
    pub(crate) fn new(job: &'a PhaseJob<'a>) -> Self {
        let workload = job.workload;
        let phase = job.phase;
        let by_clock = phase.is_result();
        let read_percent = job.read_percent();
        let (reads, writes) = (read_percent > 0, read_percent < 100);
        let checks = matches!(phase, Phase::CheckWrite | Phase::CheckRead);
        let verify = reads && (checks || workload.verify);
        let transfer = usize::try_from(workload.geometry.transfer.0).unwrap_or(usize::MAX);
        let moves = workload.backend.moves_data();
        let data = &job.data;
        let syncs = writes && by_clock && workload.sync.per_write;
        Self {
            transfer,
            reads,
            writes,
            read_percent,
            direct: workload.direct,
            advice: workload.advice,
            shared: workload.files.sharing == Sharing::Shared,
            file_bytes: Placement::new(workload).file_bytes().0,
            // If the fill were still in the page cache, it would be written back during the reads it was
            // made for.
            sync_at_close: writes && (workload.sync.at_close || workload.sync_after || phase == Phase::Fill),
            primes: match phase != Phase::Fill
                && !workload.direct
                && workload.geometry.bytes_per_task() <= plan::PRIMED_MAX
            {
                true => workload.primed,
                false => 0,
            },
            untimed_close: writes && workload.sync_after && phase != Phase::Fill,
            sync_per_write: syncs && !workload.sync_open,
            sync_flags: match (syncs && workload.sync_open, workload.data_sync) {
                (false, _) => OFlags::empty(),
                // In rustix 1 the constant of this name has the value of O_SYNC.
                (true, true) => OFlags::from_bits_retain(libc::O_DSYNC.cast_unsigned()),
                (true, false) => OFlags::SYNC,
            },
            forgets: reads && by_clock && workload.forget,
            single_attempt: workload.single_attempt,
            quit_on_error: workload.quit_on_error,
            barriers: workload.barriers,
            in_turn: phase == Phase::Fill && !workload.barriers,
            ending: job.ending(),
            pace_ns: workload.pace.filter(|_| by_clock).map(|pace| 1e9 / pace.transfers_per_second),
            all_tasks: workload.tasks,
            noise: (verify && moves).then(|| NoiseTable::new(data.signature)),
            pattern: (writes && moves).then(|| {
                let buffers = match (reads, workload.backend.is_queued()) {
                    (true, _) => BufferUse::Mixed,
                    (false, true) => BufferUse::Request,
                    (false, false) => BufferUse::Task,
                };
                DataPattern::new(data.signature, data.write_generation, transfer, buffers)
            }),
            job,
        }
    }

    /// Size of a transfer's buffer in bytes.
    pub(crate) fn buffer_bytes(&self) -> usize {
        self.pattern.as_ref().map_or(self.transfer, DataPattern::buffer_bytes)
    }

    /// The first and last generation that a check accepts.
    pub(crate) fn generations(&self) -> Option<(u16, u16)> {
        generations(&self.job.data.expect)
    }

    /// Length of an interval of the series.
    pub(crate) fn interval_ns(&self) -> u64 {
        self.job.series_interval.0.max(LEAST_INTERVAL_NS)
    }

    /// Whether tasks synchronise between open and the first transfer.
    pub(crate) fn meets_after_open(&self) -> bool {
        self.barriers || self.pace_ns.is_some()
    }

    /// The tasks of this process.
    pub(crate) fn tasks(&self) -> Vec<TaskPlan> {
        self.job.task_plans()
    }
}

impl PhaseJob<'_> {
    /// The percentage of reads among the transfers.
    #[must_use]
    pub fn read_percent(&self) -> u8 {
        match self.phase {
            Phase::Fill | Phase::Write => 0,
            Phase::Mixed => self.workload.read_percent,
            _ => 100,
        }
    }

    /// Returns the transfers of each task.
    #[must_use]
    pub fn task_plans(&self) -> Vec<TaskPlan> {
        let placement = Placement::new(self.workload);
        let shared = self.workload.files.sharing == Sharing::Shared;
        let allocates = self.read_percent() < 100 && self.workload.files.preallocate;
        let operations = self.workload.operations.filter(|_| self.phase.is_result());
        let by_duration = matches!(self.ending(), Ending::Duration(_));
        let plan = |(index, task): (usize, u32)| {
            let region = placement.region(task, self.phase, self.repetition);
            let pass = region.transfers();
            let limit = match self.limit {
                TransferLimit::Pass if by_duration => u64::MAX,
                TransferLimit::Pass => operations.unwrap_or(pass),
                TransferLimit::Exactly(count) => count.min(pass),
                TransferLimit::PerTask(counts) => counts.get(index).map_or(pass, |&count| count.min(pass)),
            };
            let file = placement.file(task, self.phase, self.repetition);
            TaskPlan {
                task,
                is_new: self.new_files.contains(&file.path),
                is_link: self.links.contains(&file.path),
                file,
                region,
                whole: pass == self.workload.geometry.transfers_per_task(),
                limit,
                preallocates: allocates && (!shared || task == 0),
            }
        };
        self.tasks.clone().enumerate().map(plan).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use plan::{Bytes, Geometry, Order, Phase, Sharing, WorkloadSpec};
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::Rules;
    use crate::PhaseJob;
    use crate::data::offsets::Offsets;

    proptest! {
        #[test]
        fn operations_go_evenly_over_the_offsets(
            tasks in 1_u32..5, per_block in 1_u64..6, segments in 1_u64..6, operations in 1_u64..200, random: bool,
            shared: bool, seed: u64,
        ) {
            const TRANSFER: u64 = 4096;
            let geometry = Geometry { transfer: Bytes(TRANSFER), block: Bytes(TRANSFER * per_block), segments };
            let mut spec = WorkloadSpec::new("w", "f", geometry);
            spec.tasks = tasks;
            spec.files.sharing = if shared { Sharing::Shared } else { Sharing::PerTask };
            spec.order = if random { Order::Random { seed } } else { Order::Sequential };
            spec.operations = Some(operations);
            let workload = spec.validate().expect("valid");
            let job = PhaseJob::new(&workload, Phase::Read, 0);
            let rules = Rules::new(&job);
            let mut visits: BTreeMap<(u32, u64), u64> = BTreeMap::new();
            for task in rules.tasks() {
                prop_assert_eq!(task.limit, operations);
                let mut offsets = Offsets::new(&task.region, task.whole);
                for _ in 0..task.limit {
                    *visits.entry((task.file.index, offsets.next())).or_default() += 1;
                }
            }
            let pass = per_block * segments;
            // In random order the tasks of a shared file exchange their parts from pass to pass, and a task
            // may end what another began, but never twice in a pass.
            let (least, most) = (operations / pass, operations.div_ceil(pass));
            for (&(_, offset), &count) in &visits {
                prop_assert!(offset.is_multiple_of(TRANSFER) && offset < rules.file_bytes);
                prop_assert!((least..=most).contains(&count), "{} of {} to {}", count, least, most);
            }
            let offsets = usize::try_from(pass * u64::from(tasks)).expect("few");
            prop_assert!(least == 0 || visits.len() == offsets);
            prop_assert_eq!(visits.values().sum::<u64>(), operations * u64::from(tasks));
            for phase in [Phase::Fill, Phase::CheckRead] {
                let job = PhaseJob::new(&workload, phase, 0);
                prop_assert!(Rules::new(&job).tasks().iter().all(|task| task.limit == pass));
            }
        }
    }
}
