//! The job table: what each run of a case did, at which of three named rates.

use std::collections::{HashMap, HashSet};

use plan::{Bytes, Case, Phase, RateName};
use record::{Detail, Metric, Run};

use crate::comparisons::PublishedComparison;
use crate::figures::{RepetitionFigure, Subject};
use crate::gate::{
    Gate, Kind, Of, Stated, Statement,
    table::{Column, below, count, detail, flag, number, operations, seconds, subject, text, word},
};
use crate::nodes::NodeComparison;

/// Transfers below this size are reported in operations per second.
const SMALL_BELOW: Bytes = Bytes::kib(64);

/// Operations of all tasks ÷ seconds. Returns `None` if the time is not above 0.
///
/// ```
/// let rate = analysis::jobs::job_rate(14_616.0, 20_000.0, 266.0).expect("a time");
/// assert_eq!(rate.round(), 1_098_947.0);
/// ```
#[must_use]
pub fn job_rate(tasks: f64, operations_per_task: f64, seconds: f64) -> Option<f64> {
    (seconds > 0.0).then(|| tasks * operations_per_task / seconds)
}

/// A row of the job table: one repetition of one case, or a job as printed by a study. Its three rates, in operations
/// per second, differ, so a score always names its rate: study D prints 1,320,137 for a run that had 1,098,947 by
/// wall time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Job {
    /// The number of a published job, or the batch job or run with the repetition, as in `4711 (2)`.
    name: String,
    /// The id of a published job in the library.
    published: String,
    /// Its source.
    source: String,
    /// The repetition of an own job, starting at 0.
    repetition: Option<u32>,
    /// `None` for a published job that does not give one.
    phase: Option<Phase>,
    nodes: Option<u64>,
    /// The number over all nodes.
    tasks: Option<u64>,
    /// Wall time.
    seconds: Option<f64>,
    operations_per_task: Option<f64>,
    by_wall: Option<f64>,
    by_io: Option<f64>,
    sum_of_tasks: Option<f64>,
    /// A rate that a study prints without saying which one it is.
    printed: Option<f64>,
    /// Whether it has the highest rate by wall time of all own jobs of its phase with figures that are not
    /// disqualified.
    best: bool,
}

impl Statement for Job {
    const KIND: Kind = Kind::Job;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "IOPS of jobs with random transfers: N nodes, n tasks, one row for each repetition. \
                                   The headline is the rate by wall time";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(word(
            "job",
            "JOBID",
            "The number of a published job; of an own one the batch job or run, and the repetition from 1.",
            |one| &one.name,
        )),
        count("nodes", "N", "Nodes.", |one| one.nodes),
        count("tasks", "n", "Tasks.", |one| one.tasks),
        seconds("seconds", "time", "Wall time.", |one| one.seconds),
        number("operations_per_task", "# ops/task", "Operations ÷ tasks.", |one| one.operations_per_task),
        operations(
            "by_wall_per_second",
            "by wall time",
            "Operations ÷ wall time; of a published job computed from its other columns.",
            |one| one.by_wall,
        ),
        operations("by_io_per_second", "by I/O phase", "Operations ÷ time of the I/O phase.", |one| {
            one.by_io
        }),
        operations("sum_of_tasks_per_second", "sum of tasks", "Sum of the rates of the tasks.", |one| {
            one.sum_of_tasks
        }),
        operations(
            "printed_per_second",
            "printed",
            "What a study prints without saying which of these it is.",
            |one| one.printed,
        ),
        flag(
            "best",
            "best",
            "The highest by wall time of all own jobs of its phase whose figures are not disqualified.",
            |one| one.best.then_some(true),
        ),
        detail(text("phase", "phase", "Its phase.", |one| {
            one.phase.map(|phase| phase.name().to_owned()).unwrap_or_default()
        })),
        detail(count("repetition", "repetition", "Of an own job, from 0.", |one| {
            one.repetition.map(u64::from)
        })),
        detail(word("published", "published", "The id of a published job; empty for an own one.", |one| {
            &one.published
        })),
        below(word("source", "source", "Where a published job is from.", |one| &one.source)),
    ];

    fn notes(_: &[&Self]) -> Vec<String> {
        vec![format!(
            "By wall time: {}. By I/O phase: {}. Sum of tasks: {}. All count transfers instead of bytes. \
             Printed: what a study prints without saying which of these it is.",
            RateName::ByWall.definition(),
            RateName::ByIo.definition(),
            RateName::SumOfTasks.definition()
        )]
    }
}

/// The job table of `run`: the published jobs that the study compares with, then each counted repetition of small
/// random transfers by several tasks, starting with those of the fastest figure. Empty if there are no such
/// repetitions, or if neither published jobs nor the command line of `randomops` ask for the table: the figures
/// contain the same data.
pub(crate) fn jobs(
    run: &Run,
    gate: &Gate<'_>,
    nodes: &[Stated<NodeComparison>],
    published: &[Stated<PublishedComparison>],
) -> Vec<Stated<Job>> {
    let host = &run.manifest.host;
    let id = host.batch_job.as_deref().unwrap_or(&run.manifest.run_id);
    // The last part of the run's name, which is unique to it.
    let id = id.rsplit('-').next().unwrap_or(id);
    // A launcher may have placed the tasks on more nodes than the workload asks for.
    let observed = nodes.iter().map(Stated::about).filter(|one| one.together);
    let observed: HashMap<usize, usize> = observed.map(|one| (one.figure, one.nodes.len())).collect();
    // What a study prints does not depend on doubts about own figures, and may stand beside several of them.
    let mut seen = HashSet::new();
    let printed: Vec<Job> = published
        .iter()
        .map(Stated::about)
        .filter(|one| seen.insert(one.published.id.as_str()))
        .filter_map(printed)
        .collect();
    let of_figure = |subject: &Subject<'_>| {
        let nodes = observed.get(&subject.index).map(|&nodes| nodes as u64).or(subject.nodes());
        let job = |one| Job { nodes, ..job(id, subject.case, one) };
        (subject.index, subject.figure.counted().map(job).collect::<Vec<Job>>())
    };
    let asked = gate.subjects.iter().filter(|one| is_job(one, !printed.is_empty()));
    let mut own: Vec<(usize, Vec<Job>)> = asked.map(of_figure).filter(|(_, jobs)| !jobs.is_empty()).collect();
    if own.is_empty() {
        return Vec::new();
    }
    let by_wall = |job: &Job| job.by_wall.unwrap_or(0.0);
    let fastest = |(_, all): &(usize, Vec<Job>)| all.iter().map(by_wall).fold(0.0, f64::max);
    own.sort_by(|a, b| fastest(b).total_cmp(&fastest(a)));
    let mut phases = HashSet::new();
    for (place, jobs) in own.iter_mut().filter(|(place, _)| gate.is_usable(*place)) {
        let best = jobs.iter_mut().reduce(|best, one| if by_wall(one) > by_wall(best) { one } else { best });
        if let Some(best) = best.filter(|_| phases.insert(gate.figures[*place].phase)) {
            best.best = true;
        }
    }
    let own = own.into_iter().flat_map(|(place, jobs)| jobs.into_iter().map(move |job| (vec![place], job)));
    let printed = printed.into_iter().map(|job| (Vec::new(), job));
    printed.chain(own).map(|(inputs, job)| gate.state(inputs, job)).collect()
}

fn is_job(subject: &Subject<'_>, asked: bool) -> bool {
    let of_randomops = subject.case.id.starts_with(plan::randomops::CASE);
    let random = subject.is_random();
    let small = subject.case.transfer().is_some_and(|transfer| transfer < SMALL_BELOW);
    let several = asked && subject.case.tasks() > Some(1);
    (of_randomops || several) && random && small && subject.figure.phase.is_transfers()
}

fn job(id: &str, case: &Case, one: &RepetitionFigure) -> Job {
    let tasks = case.tasks().map(u64::from);
    Job {
        name: format!("{id} ({})", one.repetition + 1),
        repetition: Some(one.repetition),
        phase: Some(one.phase.key.phase),
        tasks,
        seconds: Some(one.phase.wall_ns as f64 / 1e9),
        operations_per_task: tasks.map(|tasks| one.phase.transfers() as f64 / tasks.max(1) as f64),
        by_wall: Some(one.rates.by_wall.transfers_per_second),
        by_io: Some(one.rates.by_io.transfers_per_second),
        sum_of_tasks: Some(one.rates.sum_of_tasks.transfers_per_second),
        ..Job::default()
    }
}

/// Converts a published figure that is the rate of a job, with the columns printed next to it.
fn printed(beside: &PublishedComparison) -> Option<Job> {
    let one = &beside.published;
    let more = &one.parameters.more;
    let job = more.get("job").filter(|_| one.metric == Metric::Iops)?;
    let number = |key: &str| more.get(key).and_then(Detail::number);
    let (seconds, operations_per_task) = (number("time_s"), number("ops_per_task"));
    let misprint = if beside.misprint.is_empty() { String::new() } else { format!("; {}", beside.misprint) };
    let rate = || job_rate(one.parameters.tasks?.into(), operations_per_task?, seconds?);
    Some(Job {
        name: job.to_string(),
        published: one.id.clone(),
        source: format!("published, printed {}{misprint}; {}", one.as_published(), beside.source()),
        phase: beside.phase,
        nodes: one.parameters.nodes.map(u64::from),
        tasks: one.parameters.tasks.map(u64::from),
        seconds,
        operations_per_task,
        by_wall: rate(),
        printed: Some(one.value),
        ..Job::default()
    })
}
