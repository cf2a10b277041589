//! The figures of phases, as defined by mdtest, and their statistics over iterations.

use analysis::statistics::Summary;
use plan::Phase;
use record::{PhaseRecord, TaskRow};

use super::release::Release;
use crate::printed::seconds;

/// The figures of one phase of one iteration.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub phase: Phase,
    pub repetition: u32,
    /// Number of items of all tasks.
    pub items: u64,
    /// Time from the first task's start to the last task's end.
    pub seconds: f64,
    /// For each task, by number: its number of items, and its own time.
    pub ranks: Vec<(u64, f64)>,
    /// Number of items of each task when it saw the deadline, or at its end if the record does not
    /// contain that.
    pub at_stonewall: Vec<u64>,
}

impl Row {
    pub(super) fn of(record: &PhaseRecord) -> Self {
        let own = |task: &TaskRow| {
            let ns = task.close_end_ns.saturating_sub(task.open_start_ns);
            (task.transfers, seconds(ns))
        };
        let mut tasks: Vec<&TaskRow> = record.tasks.iter().collect();
        tasks.sort_by_key(|task| task.task);
        let at_stonewall =
            tasks.iter().map(|task| task.stonewall_transfers.unwrap_or(task.transfers)).collect();
        let ranks = tasks.into_iter().map(own).collect();
        let row = &record.phase;
        Self {
            phase: row.key.phase,
            repetition: row.key.repetition,
            items: row.transfers(),
            seconds: seconds(row.wall_ns),
            ranks,
            at_stonewall,
        }
    }

    /// Rate of all items over the whole time.
    pub(super) fn rate(&self) -> f64 {
        self.items as f64 / self.seconds
    }

    /// The rates of the tasks over their own times.
    pub(super) fn rank_rates(&self) -> impl Iterator<Item = f64> + '_ {
        self.ranks.iter().map(|(items, seconds)| *items as f64 / seconds)
    }
}

/// The rows of a table, in mdtest's order, with its names.
pub(super) const DIRECTORY_ROWS: [(Phase, &str); 4] = [
    (Phase::DirectoryCreate, "Directory creation"),
    (Phase::DirectoryStat, "Directory stat"),
    (Phase::DirectoryRename, "Directory rename"),
    (Phase::DirectoryRemove, "Directory removal"),
];
pub(super) const FILE_ROWS: [(Phase, &str); 4] = [
    (Phase::FileCreate, "File creation"),
    (Phase::FileStat, "File stat"),
    (Phase::FileRead, "File read"),
    (Phase::FileRemove, "File removal"),
];
pub(super) const TREE_ROWS: [(Phase, &str); 2] =
    [(Phase::TreeCreate, "Tree creation"), (Phase::TreeRemove, "Tree removal")];

/// Statistics in mdtest's format; all are 0 if there are no values.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Statistics {
    pub max: f64,
    pub min: f64,
    pub mean: f64,
    pub deviation: f64,
}

impl Statistics {
    /// Up to 3.3 the deviation was that of a population, since then it is that of a sample. Source:
    /// published tables of three iterations, in which maximum, minimum and mean determine the third
    /// value.
    pub(super) fn of(values: impl Iterator<Item = f64>, release: Release) -> Self {
        let values: Vec<f64> = values.collect();
        let Some(summary) = Summary::of(&values) else { return Self::default() };
        let deviation = match release {
            Release::V4_0 => summary.deviation_sample,
            Release::V1_9 | Release::V3_0 | Release::V3_3 => summary.deviation_population,
        };
        Self { max: summary.max, min: summary.min, mean: summary.mean, deviation }
    }
}
