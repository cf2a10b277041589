//! The job table of operations for each task, as acceptance tests of random reads print it, with
//! three rates that differ by what the operations are divided by.

use analysis::RateName;

use super::{Block, figure, only, title};
use crate::format::{grouped, number, whole};
use crate::table::{Align, Cell, Table, Tone};
use crate::text::iops;
use crate::view::Report;
use crate::view::findings::Job;

/// Own jobs that are shown: the fastest.
const JOBS_MAX: usize = 40;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let jobs = &report.findings.jobs;
    if jobs.is_empty() {
        return Vec::new();
    }
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("JOBID", Align::Left),
        ("N", Align::Right),
        ("n", Align::Right),
        ("time", Align::Right),
        ("# ops/task", Align::Right),
        ("by wall time", Align::Right),
        ("by I/O phase", Align::Right),
        ("sum of tasks", Align::Right),
        ("printed", Align::Right),
        ("", Align::Left),
        ("conditions", Align::Left),
    ])
    .below("conditions");
    let (published, own): (Vec<&Job>, Vec<&Job>) = jobs.iter().partition(|job| job.figure.is_none());
    let shown = fastest(&own);
    // All repetitions of a figure have the same conditions; they stand under the first.
    let mut last = None;
    for job in published.into_iter().chain(shown) {
        let repeated = job.figure.is_some() && job.figure == last;
        last = job.figure;
        table.row(row(report, job, repeated));
    }
    let mut caption =
        "IOPS of jobs with random transfers: N nodes, n tasks, one row for each repetition. The headline \
                       is the rate by wall time"
            .to_owned();
    if own.len() > JOBS_MAX {
        caption.push_str(&format!(
            "; the {JOBS_MAX} fastest of {}, the JSON form has all",
            grouped(own.len() as u64)
        ));
    }
    let mut blocks = only(&caption, table);
    blocks.push(Block::Text(format!(
        "By wall time: {}. By I/O phase: {}. Sum of tasks: {}. All in transfers instead of bytes. Printed: what a \
         study prints without saying which of them it is.",
        RateName::ByWall.definition(),
        RateName::ByIo.definition(),
        RateName::SumOfTasks.definition()
    )));
    blocks
}

/// The fastest jobs, in the order in which they came.
fn fastest<'a>(own: &[&'a Job]) -> Vec<&'a Job> {
    let mut places: Vec<usize> = (0..own.len()).collect();
    let rate = |place: usize| own[place].by_wall_per_second.unwrap_or(0.0);
    places.sort_by(|&a, &b| rate(b).total_cmp(&rate(a)));
    places.truncate(JOBS_MAX);
    places.sort_unstable();
    places.into_iter().map(|place| own[place]).collect()
}

/// The last part of the name of a run, which no other run has.
fn short(name: &str) -> &str {
    name.rsplit('-').next().unwrap_or(name)
}

fn row(report: &Report, job: &Job, repeated: bool) -> Vec<Cell> {
    let per_second = |rate: Option<f64>| rate.map(iops).unwrap_or_default();
    let count = |count: Option<u64>| count.map(grouped).unwrap_or_default();
    let target = job.figure.and_then(|number| figure(report, number)).map(|figure| figure.target.as_str());
    let name = match job.repetition {
        Some(repetition) => format!("{} ({})", short(&job.job), repetition + 1),
        None => job.job.clone(),
    };
    let conditions = match target.map(|target| title(report, target)) {
        _ if repeated => String::new(),
        Some(target) if !target.is_empty() => format!("{target}: {}", job.conditions),
        _ => job.conditions.clone(),
    };
    vec![
        Cell::figure(job.figure),
        name.into(),
        count(job.nodes).into(),
        count(job.tasks).into(),
        job.seconds.map(|seconds| format!("{} s", number(seconds))).unwrap_or_default().into(),
        job.operations_per_task.map(|count| grouped(whole(count))).unwrap_or_default().into(),
        Cell::toned(per_second(job.by_wall_per_second), Tone::Main),
        per_second(job.by_io_per_second).into(),
        per_second(job.sum_of_tasks_per_second).into(),
        per_second(job.printed_per_second).into(),
        if job.best { "best" } else { "" }.into(),
        conditions.into(),
    ]
}
