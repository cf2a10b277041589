//! The job table: what each run of a case did, and at which of three named rates.

use std::collections::HashMap;

use plan::{Bytes, Case, Order, Phase, RateName};
use record::{Detail, Metric, Run};

use crate::gate::{Gate, Kind, Stated};
use crate::node_comparison::NodeComparison;
use crate::subject::Subject;
use crate::table::{Column, Of, Statement, Value};
use crate::{Beside, RateOf, RepetitionFigure};

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

/// A row of the job table: one repetition of one case, or what a study printed of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The number of a published job, or the batch job or run with the repetition, as in `4711 (2)`.
    pub name: String,
    /// The id of a published job in the library, and where it is from.
    pub published: Option<(String, String)>,
    /// The repetition of an own job, from 0.
    pub repetition: Option<u32>,
    /// The phase; none of a published job that does not say.
    pub phase: Option<Phase>,
    /// Nodes.
    pub nodes: Option<u64>,
    /// Tasks, of all nodes.
    pub tasks: Option<u64>,
    /// Wall time, seconds.
    pub seconds: Option<f64>,
    /// Operations ÷ tasks.
    pub operations_per_task: Option<f64>,
    /// Its rates.
    pub rates: Option<JobRates>,
    /// What a study prints without saying which rate it is.
    pub printed: Option<f64>,
    /// The highest rate by wall time of all own jobs of its phase whose figures are not disqualified.
    pub best: bool,
}

impl Job {
    fn by_wall(&self) -> f64 {
        self.rates.map_or(0.0, |rates| rates.by_wall)
    }
}

/// Operations per second.
fn operations(rate: Option<f64>) -> Value {
    Value::or_none(rate, |rate| Value::Rate(rate, RateOf::Operations))
}

impl Statement for Job {
    const KIND: Kind = Kind::Job;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "IOPS of jobs with random transfers: N nodes, n tasks, one row for each repetition. \
                                   The headline is the rate by wall time";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::text(
            "job",
            |one: &Self| one.name.clone(),
            "The number of a published job; of an own one the batch job or run, and the repetition from 1.",
        )
        .headed("JOBID")
        .subject(),
        Column::count("nodes", |one: &Self| one.nodes, "Nodes.").headed("N"),
        Column::count("tasks", |one: &Self| one.tasks, "Tasks.").headed("n"),
        Column::seconds("seconds", |one: &Self| one.seconds, "Wall time.").headed("time"),
        Column::number("operations_per_task", |one: &Self| one.operations_per_task, "Operations ÷ tasks.")
            .headed("# ops/task"),
        Column::rate(
            "by_wall_per_second",
            |one: &Self| operations(one.rates.map(|rates| rates.by_wall)),
            "Operations ÷ wall time; of a published job computed from its other columns.",
        )
        .headed("by wall time"),
        Column::rate(
            "by_io_per_second",
            |one: &Self| operations(one.rates.and_then(|rates| rates.by_io)),
            "Operations ÷ time of the I/O phase.",
        )
        .headed("by I/O phase"),
        Column::rate(
            "sum_of_tasks_per_second",
            |one: &Self| operations(one.rates.and_then(|rates| rates.sum_of_tasks)),
            "Sum of the rates of the tasks.",
        )
        .headed("sum of tasks"),
        Column::rate(
            "printed_per_second",
            |one: &Self| operations(one.printed),
            "What a study prints without saying which it is.",
        )
        .headed("printed"),
        Column::flag(
            "best",
            |one: &Self| one.best.then_some(true),
            "The highest by wall time of all own jobs of its phase whose figures are not disqualified.",
        ),
        Column::text(
            "phase",
            |one: &Self| one.phase.map(|phase| phase.name().to_owned()).unwrap_or_default(),
            "Its phase.",
        )
        .detail(),
        Column::count("repetition", |one: &Self| one.repetition.map(u64::from), "Of an own job, from 0.")
            .detail(),
        Column::text(
            "published",
            |one: &Self| one.published.as_ref().map(|(id, _)| id.clone()).unwrap_or_default(),
            "The id of a published job; nothing of an own one.",
        )
        .detail(),
        Column::text(
            "source",
            |one: &Self| one.published.as_ref().map(|(_, source)| source.clone()).unwrap_or_default(),
            "Where a published job is from.",
        )
        .below(),
    ];

    fn notes(_: &[&Self]) -> Vec<String> {
        vec![format!(
            "By wall time: {}. By I/O phase: {}. Sum of tasks: {}. All in transfers instead of bytes. Printed: what a \
             study prints without saying which of them it is.",
            RateName::ByWall.definition(),
            RateName::ByIo.definition(),
            RateName::SumOfTasks.definition()
        )]
    }
}

/// Transfers below this size are told in operations per second.
const SMALL_BELOW: Bytes = Bytes::kib(64);

/// The job table of `run`: the published jobs that the study sets beside its own, then each repetition that counts of
/// small random transfers by several tasks, those of the fastest figure first. Empty where there is no own one, and
/// where neither published jobs nor the command line of `randomops` ask for it: the figures say the same.
pub(crate) fn jobs(
    run: &Run,
    gate: &Gate<'_>,
    nodes: &[Stated<NodeComparison>],
    published: &[Stated<Beside>],
) -> Vec<Stated<Job>> {
    let host = &run.manifest.host;
    let id = host.batch_job.as_deref().unwrap_or(&run.manifest.run_id);
    // The last part of the name of a run, which no other run has.
    let id = id.rsplit('-').next().unwrap_or(id);
    // A launcher may have put the tasks on more nodes than the workload asks for.
    let observed: HashMap<usize, usize> = nodes
        .iter()
        .map(Stated::about)
        .filter(|one| one.together)
        .map(|one| (one.figure, one.nodes.len()))
        .collect();
    let mut own: Vec<(usize, Vec<Job>)> = Vec::new();
    let printed: Vec<Job> = published.iter().filter_map(Stated::says).filter_map(printed).collect();
    let is_asked = |case: &Case| !printed.is_empty() || case.id.starts_with(plan::randomops::CASE);
    for subject in gate.subjects.iter().filter(|one| is_asked(one.case) && is_job(one)) {
        let nodes = observed.get(&subject.index).map_or(subject.nodes(), |&nodes| nodes as u64);
        let job = |one| Job { nodes: Some(nodes), ..job(id, subject.case, one) };
        own.push((subject.index, subject.figure.counted().map(job).collect()));
    }
    let fastest = |all: &[Job]| all.iter().map(Job::by_wall).fold(0.0, f64::max);
    own.sort_by(|(_, a), (_, b)| fastest(b).total_cmp(&fastest(a)));
    let mut found: Vec<(Vec<usize>, Job)> = own
        .into_iter()
        .flat_map(|(place, jobs)| jobs.into_iter().map(move |job| (vec![place], job)))
        .collect();
    if found.is_empty() {
        return Vec::new();
    }
    let mut best: HashMap<Option<Phase>, usize> = HashMap::new();
    for (place, (_, job)) in found.iter().enumerate().filter(|(_, (of, _))| gate.is_usable(of[0])) {
        let highest = best.entry(job.phase).or_insert(place);
        if job.by_wall() > found[*highest].1.by_wall() {
            *highest = place;
        }
    }
    for place in best.into_values() {
        found[place].1.best = true;
    }
    let printed = printed.into_iter().map(|job| (Vec::new(), job));
    printed.chain(found).map(|(inputs, job)| gate.state(Kind::Job, inputs, job)).collect()
}

fn is_job(subject: &Subject<'_>) -> bool {
    let workload = &subject.case.workload;
    let several = workload.tasks > 1 || subject.case.id.starts_with(plan::randomops::CASE);
    let random = matches!(workload.order, Order::Random { .. });
    several && random && workload.geometry.transfer < SMALL_BELOW && subject.figure.phase.is_transfers()
}

fn job(id: &str, case: &Case, one: &RepetitionFigure) -> Job {
    let tasks = case.workload.tasks;
    Job {
        name: format!("{id} ({})", one.repetition + 1),
        published: None,
        repetition: Some(one.repetition),
        phase: Some(one.phase.key.phase),
        nodes: None,
        tasks: Some(tasks.into()),
        seconds: Some(one.phase.wall_ns as f64 / 1e9),
        operations_per_task: Some(one.phase.transfers() as f64 / f64::from(tasks.max(1))),
        rates: Some(JobRates {
            by_wall: one.rates.by_wall.transfers_per_second,
            by_io: Some(one.rates.by_io.transfers_per_second),
            sum_of_tasks: Some(one.rates.sum_of_tasks.transfers_per_second),
        }),
        printed: None,
        best: false,
    }
}

/// A published figure that is the rate of a job, with the columns printed beside it.
fn printed(beside: &Beside) -> Option<Job> {
    let one = record::published().figure(&beside.id)?;
    let more = &one.parameters.more;
    let job = more.get("job").filter(|_| one.metric == Metric::Iops)?;
    let number = |key: &str| more.get(key).and_then(Detail::number);
    let (seconds, operations) = (number("time_s"), number("ops_per_task"));
    let tasks = one.parameters.tasks.map(u64::from);
    let all = tasks.zip(operations).map(|(tasks, operations)| tasks as f64 * operations);
    let misprint = if beside.misprint.is_empty() { String::new() } else { format!("; {}", beside.misprint) };
    Some(Job {
        name: job.to_string(),
        published: Some((
            one.id.clone(),
            format!("published, printed {}{misprint}; {}", one.as_published(), beside.source),
        )),
        repetition: None,
        phase: beside.phase,
        nodes: one.parameters.nodes.map(u64::from),
        tasks,
        seconds,
        operations_per_task: operations,
        rates: all.zip(seconds.filter(|&seconds| seconds > 0.0)).map(|(all, seconds)| JobRates {
            by_wall: all / seconds,
            by_io: None,
            sum_of_tasks: None,
        }),
        printed: Some(one.value),
        best: false,
    })
}
