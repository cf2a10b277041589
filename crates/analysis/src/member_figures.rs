//! What the tasks of each member of a target did, of several members that were measured together.

use plan::{Sharing, Workload};
use record::TaskRow;

use crate::Summary;

/// What the tasks of one member of a target moved, of several that were measured together.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberFigure {
    /// Its place among the paths of the case, from 0.
    pub place: usize,
    /// Its path.
    pub path: String,
    /// Over the passes that count: bytes of its tasks ÷ (the first of their transfers began → the last of
    /// them ended).
    pub bytes_per_second: Summary,
    /// Operations of its tasks ÷ the same time.
    pub transfers_per_second: Summary,
}

/// What the tasks of each member did in each pass, put together.
#[derive(Default)]
pub(crate) struct MemberFigures(Vec<(Vec<f64>, Vec<f64>)>);

impl MemberFigures {
    /// Adds a pass; nothing where tasks do not have members of their own.
    pub(crate) fn add<'a>(&mut self, workload: &Workload, tasks: impl Iterator<Item = &'a TaskRow>) {
        let members = workload.files.targets.len();
        if members < 2 || workload.files.sharing != Sharing::PerTask {
            return;
        }
        self.0.resize(members, Default::default());
        let mut sums = vec![(0_u64, 0_u64, u64::MAX, 0_u64); members];
        for task in tasks.filter(|task| task.transfers > 0) {
            let sum = &mut sums[task.file as usize % members];
            sum.0 += task.bytes;
            sum.1 += task.transfers;
            sum.2 = sum.2.min(task.io_start_ns);
            sum.3 = sum.3.max(task.io_end_ns);
        }
        for ((bytes, transfers, start, end), of) in sums.into_iter().zip(&mut self.0) {
            let seconds = end.saturating_sub(start) as f64 / 1e9;
            if seconds > 0.0 {
                of.0.push(bytes as f64 / seconds);
                of.1.push(transfers as f64 / seconds);
            }
        }
    }

    /// The members that moved something.
    pub(crate) fn finish(self, workload: &Workload) -> Vec<MemberFigure> {
        let paths = &workload.files.targets;
        let member = |(place, (bytes, transfers)): (usize, (Vec<f64>, Vec<f64>))| {
            Some(MemberFigure {
                place,
                path: paths.get(place)?.display().to_string(),
                bytes_per_second: Summary::of(&bytes)?,
                transfers_per_second: Summary::of(&transfers)?,
            })
        };
        self.0.into_iter().enumerate().filter_map(member).collect()
    }
}
