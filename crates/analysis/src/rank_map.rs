//! Which task read whose data, as the record has it.

use std::collections::{BTreeMap, HashMap};

use plan::{Case, Phase, Placement, Sharing};
use record::TaskRow;

/// Whose data one task read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOf {
    /// The task.
    pub task: u32,
    /// Where it ran when it read.
    pub node: String,
    /// The number of the file.
    pub file: u32,
    /// The task that had written the data.
    pub written_by: u32,
    /// Where that one ran when it wrote.
    pub written_on: String,
}

/// Who read what in one read phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankMap {
    /// The pass, from 0: the first of those with the most tasks that read what their own node had
    /// written.
    pub repetition: u32,
    /// One row for each task that read, in the order of tasks.
    pub rows: Vec<ReadOf>,
}

impl RankMap {
    /// Tasks that read what a task of their own node had written: its memory may have answered.
    #[must_use]
    pub fn own_node(&self) -> usize {
        self.rows.iter().filter(|row| row.node == row.written_on).count()
    }

    /// Tasks that read what they had written themselves.
    #[must_use]
    pub fn own_data(&self) -> usize {
        self.rows.iter().filter(|row| row.task == row.written_by).count()
    }
}

/// The map of the reads of `case`, from its rows. The record says in which file a task read; of a
/// shared file the plan says whose part it was. None where no row
/// says who wrote.
#[must_use]
pub fn rank_map(case: &Case, rows: &[TaskRow]) -> Option<RankMap> {
    let placement = Placement::new(&case.workload);
    let of_case = || rows.iter().filter(|row| row.key.case == *case.id);
    let mut writers: BTreeMap<(u32, u32), &TaskRow> = BTreeMap::new();
    for row in of_case().filter(|row| matches!(row.key.phase, Phase::Fill | Phase::Write)) {
        writers.insert((row.task, row.key.repetition), row);
    }
    // What was written in an earlier pass may be read again.
    let writer = |task: u32, repetition: u32| {
        writers.range((task, 0)..=(task, repetition)).next_back().map(|(_, row)| *row)
    };
    let mut passes: HashMap<u32, Vec<ReadOf>> = HashMap::new();
    for row in of_case().filter(|row| row.key.phase == Phase::Read) {
        let repetition = row.key.repetition;
        let written_by = match case.workload.files.sharing {
            Sharing::PerTask => row.file,
            Sharing::Shared => placement.owner(row.task, Phase::Read, repetition),
        };
        if let Some(writer) = writer(written_by, repetition) {
            passes.entry(repetition).or_default().push(ReadOf {
                task: row.task,
                node: row.node.clone(),
                file: row.file,
                written_by,
                written_on: writer.node.clone(),
            });
        }
    }
    let maps = passes.into_iter().map(|(repetition, mut rows)| {
        rows.sort_by_key(|row| row.task);
        RankMap { repetition, rows }
    });
    maps.max_by_key(|map| (map.own_node(), std::cmp::Reverse(map.repetition)))
}

#[cfg(test)]
mod tests {
    use plan::{Bytes, Case, Geometry, Phase, ReadFrom, Sharing, WorkloadSpec};
    use record::{PhaseKey, TaskRow};

    use super::rank_map;

    /// Eight tasks, two on each of four nodes, that read what the task `shift` places on wrote.
    fn of(shift: u32, sharing: Sharing) -> super::RankMap {
        let geometry = Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 };
        let mut spec = WorkloadSpec::new("w", "f", geometry);
        spec.tasks = 8;
        spec.files.sharing = sharing;
        spec.read_from = ReadFrom::Shift { tasks: shift };
        let case = Case::new("c", spec.validate().expect("valid"), vec![Phase::Write, Phase::Read]);
        let row = |phase: Phase, task: u32| TaskRow {
            node: format!("n{}", task / 2),
            file: match (sharing, phase) {
                (Sharing::Shared, _) => 0,
                (_, Phase::Read) => (task + shift) % 8,
                _ => task,
            },
            ..TaskRow::new(PhaseKey { case: "c".into(), repetition: 0, phase }, task)
        };
        let rows: Vec<TaskRow> = [Phase::Write, Phase::Read]
            .iter()
            .flat_map(|&phase| (0..8).map(move |task| row(phase, task)))
            .collect();
        rank_map(&case, &rows).expect("a map")
    }

    #[test]
    fn a_shift_by_a_node_leaves_nobody_on_his_own_and_a_shift_by_a_task_every_second() {
        for sharing in [Sharing::PerTask, Sharing::Shared] {
            assert_eq!((of(2, sharing).own_node(), of(2, sharing).own_data()), (0, 0), "{sharing:?}");
            assert_eq!(of(1, sharing).own_node(), 4, "{sharing:?}");
            assert_eq!(of(0, sharing).own_data(), 8, "{sharing:?}");
        }
        let map = of(2, Sharing::PerTask);
        assert_eq!((map.rows[7].written_by, map.rows[7].written_on.as_str(), map.rows[7].file), (1, "n0", 1));
    }
}
