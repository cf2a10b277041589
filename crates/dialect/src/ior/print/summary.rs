//! `Summary of all tests`: one line for each operation of each test.

use analysis::statistics::Summary;

use super::figures::{AtDeadline, Figures, MIB};
use crate::Compat;
use crate::ior::settings::Settings;

/// The statistics of one operation over all repetitions of a test.
#[derive(Debug, Clone)]
pub(super) struct Line<'a> {
    pub access: &'static str,
    pub test: usize,
    pub settings: &'a Settings,
    pub bw: Summary,
    pub ops: Summary,
    pub mean_seconds: f64,
    pub wall: Option<AtDeadline>,
    /// MiB moved by all tasks in one repetition.
    pub moved_mib: f64,
    moved_bytes: u64,
}

impl<'a> Line<'a> {
    /// The lines of test number `test`: writes before reads.
    pub(super) fn all(rows: &[Figures], test: usize, settings: &'a Settings) -> Vec<Self> {
        ["write", "read"].into_iter().filter_map(|access| Self::of(access, rows, test, settings)).collect()
    }

    fn of(access: &'static str, rows: &[Figures], test: usize, settings: &'a Settings) -> Option<Self> {
        let rows: Vec<&Figures> = rows.iter().filter(|row| row.access == access).collect();
        let values = |of: fn(&Figures) -> f64| rows.iter().map(|row| of(row)).collect::<Vec<_>>();
        let last = rows.last()?;
        Some(Self {
            access,
            test,
            settings,
            bw: Summary::of(&values(|row| row.bw_mib))?,
            ops: Summary::of(&values(|row| row.ops_total))?,
            mean_seconds: Summary::of(&values(|row| row.total))?.mean,
            wall: last.stonewall,
            moved_mib: last.bytes as f64 / MIB,
            moved_bytes: last.bytes,
        })
    }

    /// The line under [`header`].
    pub(super) fn text(&self, compat: Compat) -> String {
        let (bw, s) = (&self.bw, self.settings);
        let deviation = bw.deviation_population;
        let start =
            format!("{:<9} {:10.2} {:10.2} {:10.2} {deviation:10.2}", self.access, bw.max, bw.min, bw.mean);
        let tasks_per_node = s.tasks_per_node();
        let reorder_random = s.reorder_random.min(1);
        if compat == Compat::V3_0 {
            return format!(
                "{start} {:10.5} {} {} {tasks_per_node} {} {} {} {} {reorder_random} {} {} {} {} {} {} {}\n",
                self.mean_seconds,
                self.test,
                s.tasks,
                s.repetitions,
                u8::from(s.file_per_proc),
                u8::from(s.reorder),
                s.task_offset,
                s.reorder_seed,
                s.segments,
                s.block,
                s.transfer,
                self.moved_bytes,
                s.api,
                s.ref_num,
            );
        }
        let ops = &self.ops;
        let (wall_seconds, wall_rate) = match self.wall {
            Some(wall) => (format!("{:.2}", wall.seconds), format!("{:.2}", wall.mean_mib_per_second)),
            None => ("NA".to_owned(), "NA".to_owned()),
        };
        format!(
            "{start} {:10.2} {:10.2} {:10.2} {:10.2} {:10.5} {wall_seconds:>10} {wall_rate:>13} {:5} {:6} \
             {tasks_per_node:3} {:4} {:3} {:5} {:8} {reorder_random:9} {:4} {:6} {:8} {:8} {:9.1} {} {:6}\n",
            ops.max,
            ops.min,
            ops.mean,
            ops.deviation_population,
            self.mean_seconds,
            self.test,
            s.tasks,
            s.repetitions,
            u8::from(s.file_per_proc),
            u8::from(s.reorder),
            s.task_offset,
            s.reorder_seed,
            s.segments,
            s.block,
            s.transfer,
            self.moved_mib,
            s.api,
            s.ref_num,
        )
    }
}

/// The names of the columns: the operation and, since 3.2, 26 more; fewer before.
pub(super) const fn header(compat: Compat) -> &'static str {
    match compat {
        Compat::V3_0 => {
            "Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev    Mean(s) Test# #Tasks tPN reps fPP reord \
             reordoff reordrand seed segcnt blksiz xsize aggsize API RefNum\n"
        }
        Compat::V3_3 | Compat::V4_0 => {
            "Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     StdDev    \
             Mean(s) Stonewall(s) Stonewall(MiB) Test# #Tasks tPN reps fPP reord reordoff reordrand seed segcnt   \
             blksiz    xsize aggs(MiB)   API RefNum\n"
        }
    }
}
