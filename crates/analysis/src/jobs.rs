//! The job table: what each run of a case did, and at which of three named rates.

use std::collections::HashMap;

use plan::{Case, Phase, Plan, SettingValue};

use crate::subject::NODES;
use crate::{Figure, RepetitionFigure};

/// Three rates of one run, in operations per second. They differ, so a score says which one it is:
/// study D prints 1,320,137 for a run of 1,098,947 by wall time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JobRates {
    /// All operations ÷ wall time, open and close included.
    pub by_wall: f64,
    /// All operations ÷ time between first and last transfer; none where it is not known.
    pub by_io: Option<f64>,
    /// Sum of the tasks' own rates; none where they are not known.
    pub sum_of_tasks: Option<f64>,
}

impl JobRates {
    /// Of `tasks` that did `operations_per_task` each: over the wall time of the job, the time of
    /// its I/O phase and the times of the tasks, all in seconds. None where the wall time is not
    /// above 0; a rate is none where its times are not known or not above 0.
    ///
    /// ```
    /// let rates = analysis::JobRates::of(14_616, 20_000, 266.0, None, &[]).expect("a time");
    /// assert_eq!(rates.by_wall.round(), 1_098_947.0);
    /// ```
    #[must_use]
    pub fn of(
        tasks: u64,
        operations_per_task: u64,
        wall_seconds: f64,
        io_seconds: Option<f64>,
        task_seconds: &[f64],
    ) -> Option<Self> {
        let operations = tasks as f64 * operations_per_task as f64;
        let timed = !task_seconds.is_empty() && task_seconds.iter().all(|&seconds| seconds > 0.0);
        (wall_seconds > 0.0).then(|| Self {
            by_wall: operations / wall_seconds,
            by_io: io_seconds.filter(|&seconds| seconds > 0.0).map(|seconds| operations / seconds),
            sum_of_tasks: timed
                .then(|| task_seconds.iter().map(|seconds| operations_per_task as f64 / seconds).sum()),
        })
    }
}

/// A row of the job table: one repetition of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The figure that it is a repetition of.
    pub figure: usize,
    /// The case.
    pub case: String,
    /// The repetition.
    pub repetition: u32,
    /// The phase.
    pub phase: Phase,
    /// Nodes.
    pub nodes: u64,
    /// Tasks, of all nodes.
    pub tasks: u32,
    /// Wall time, seconds.
    pub seconds: f64,
    /// Operations ÷ tasks.
    pub operations_per_task: f64,
    /// Its rates.
    pub rates: JobRates,
    /// The highest rate by wall time of all jobs of its phase.
    pub best: bool,
}

/// The job table of a study: one row for each repetition that counts, in the order of the figures.
#[must_use]
pub fn jobs(plan: &Plan, figures: &[Figure]) -> Vec<Job> {
    let cases: HashMap<&str, &Case> = plan.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let mut jobs = Vec::new();
    for (index, figure) in figures.iter().enumerate() {
        let Some(case) = cases.get(&*figure.case) else { continue };
        jobs.extend(figure.counted().map(|one| job(index, case, one)));
    }
    let mut best: HashMap<Phase, usize> = HashMap::new();
    for (place, job) in jobs.iter().enumerate() {
        let highest = best.entry(job.phase).or_insert(place);
        if job.rates.by_wall > jobs[*highest].rates.by_wall {
            *highest = place;
        }
    }
    for place in best.into_values() {
        jobs[place].best = true;
    }
    jobs
}

fn job(figure: usize, case: &Case, one: &RepetitionFigure) -> Job {
    let tasks = case.workload.tasks;
    Job {
        figure,
        case: case.id.clone(),
        repetition: one.repetition,
        phase: one.phase.key.phase,
        nodes: nodes_of(case),
        tasks,
        seconds: one.phase.wall_ns as f64 / 1e9,
        operations_per_task: one.phase.transfers() as f64 / f64::from(tasks.max(1)),
        rates: JobRates {
            by_wall: one.rates.by_wall.transfers_per_second,
            by_io: Some(one.rates.by_io.transfers_per_second),
            sum_of_tasks: Some(one.rates.sum_of_tasks.transfers_per_second),
        },
        best: false,
    }
}

/// The nodes that a case ran on. Before workloads said so, studies had a setting `nodes` for it.
pub(crate) fn nodes_of(case: &Case) -> u64 {
    let setting = || match crate::subject::value_of(case, NODES) {
        Some(SettingValue::Count(nodes)) => *nodes,
        _ => 1,
    };
    match case.workload.nodes {
        0 | 1 => setting().max(1),
        nodes => u64::from(nodes),
    }
}
