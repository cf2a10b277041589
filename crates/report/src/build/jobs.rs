//! The job table: own repetitions, and the published jobs that the study sets beside them.

use std::collections::HashMap;

use analysis::JobRates;
use plan::Phase;
use record::{Metric, Published};

use crate::section::LARGE_TRANSFER_BYTES;
use crate::view::Figure;
use crate::view::findings::Job;

/// Published jobs first, then every repetition that counts of small random transfers by several
/// tasks. Own jobs are called `name`. Empty where there is no own one.
pub(super) fn jobs(figures: &[Figure], found: &analysis::Findings, name: &str) -> Vec<Job> {
    let is_job = |figure: &&Figure| {
        let several = figure.tasks > 1 || figure.case.starts_with(plan::randomops::CASE);
        figure.transfer_bytes < LARGE_TRANSFER_BYTES && figure.what.contains("random") && several
    };
    // A launcher may have put the tasks on more nodes than the workload asks for.
    let observed: HashMap<usize, usize> =
        found.nodes.iter().filter(|one| one.together).map(|one| (one.figure, one.nodes.len())).collect();
    let own = found.jobs.iter().filter_map(|job| {
        let figure = figures.get(job.figure).filter(is_job)?;
        let nodes = observed.get(&job.figure).map_or(job.nodes, |&nodes| nodes as u64);
        Some(of_job(job, figure, name, nodes))
    });
    let mut own: Vec<Job> = own.collect();
    mark_best(&mut own);
    if own.is_empty() {
        return own;
    }
    let mut all: Vec<Job> = found.published.iter().filter_map(|one| published(one.says()?)).collect();
    all.extend(own);
    all
}

fn of_job(job: &analysis::Job, figure: &Figure, name: &str, nodes: u64) -> Job {
    Job {
        job: name.to_owned(),
        published: None,
        figure: Some(figure.number),
        repetition: Some(job.repetition),
        phase: job.phase.name(),
        nodes: Some(nodes),
        tasks: Some(job.tasks.into()),
        seconds: Some(job.seconds),
        operations_per_task: Some(job.operations_per_task),
        by_wall_per_second: Some(job.rates.by_wall),
        by_io_per_second: job.rates.by_io,
        sum_of_tasks_per_second: job.rates.sum_of_tasks,
        printed_per_second: None,
        best: job.best,
        conditions: figure.conditions.clone(),
    }
}

/// The best of those that are shown: of all jobs of a study it may be one that is not.
fn mark_best(jobs: &mut [Job]) {
    for phase in [Phase::Write, Phase::Read, Phase::Mixed].map(Phase::name) {
        let of_phase = jobs.iter_mut().filter(|job| job.phase == phase);
        let rate = |job: &Job| job.by_wall_per_second.unwrap_or(0.0);
        let mut best: Option<&mut Job> = None;
        for job in of_phase {
            job.best = false;
            if best.as_deref().is_none_or(|known| rate(job) > rate(known)) {
                best = Some(job);
            }
        }
        if let Some(best) = best {
            best.best = true;
        }
    }
}

/// A published figure that is the rate of a job, with the columns printed beside it.
fn published(beside: &analysis::Beside) -> Option<Job> {
    let one = record::published().figure(&beside.id)?;
    let more = &one.parameters.more;
    let job = more.get("job").filter(|_| one.metric == Metric::Iops)?;
    let number = |key: &str| more.get(key).and_then(record::Detail::number);
    let (seconds, operations) = (number("time_s"), number("ops_per_task"));
    let tasks = one.parameters.tasks.map(u64::from);
    let rates = tasks.zip(seconds).zip(operations).and_then(|((tasks, seconds), operations)| {
        JobRates::of(tasks, crate::format::whole(operations), seconds, None, &[])
    });
    Some(Job {
        job: job.to_string(),
        published: Some(one.id.clone()),
        figure: None,
        repetition: None,
        phase: beside.phase.map(Phase::name).unwrap_or_default(),
        nodes: one.parameters.nodes.map(u64::from),
        tasks,
        seconds,
        operations_per_task: operations,
        by_wall_per_second: rates.map(|rates| rates.by_wall),
        by_io_per_second: None,
        sum_of_tasks_per_second: None,
        printed_per_second: Some(one.value),
        best: false,
        conditions: conditions(one, beside),
    })
}

fn conditions(one: &Published, beside: &analysis::Beside) -> String {
    let misprint = if beside.misprint.is_empty() { String::new() } else { format!("; {}", beside.misprint) };
    format!("published, printed {}{misprint}; {}", one.as_published(), beside.source)
}
