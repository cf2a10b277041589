//! The launches: those that load tables, and the matrix.

use std::collections::BTreeMap;
use std::path::PathBuf;

use plan::jobs::{Action, Output, Step};
use plan::{Bytes, JobSpace, JobTest, JobsPlacement, Launch};

use super::LaunchTask;
use crate::JobOrder;

/// Memory limit of a process that creates a table, which only holds some pages.
const LOAD_MEMORY: Bytes = Bytes::mib(64);

/// One launch for each table and stream of pass `repetition`, which creates the table and checks it. They do
/// not depend on each other. Their number is that of the file. With `reuse`, an existing correct table is
/// kept.
#[must_use]
pub fn load_tasks(placement: JobsPlacement<'_>, repetition: u32, reuse: bool) -> Vec<LaunchTask> {
    let jobs = placement.jobs();
    let mut tasks = Vec::new();
    for table in &jobs.tables {
        for stream in 0..jobs.replicas(&table.name) {
            let number = u32::try_from(tasks.len()).unwrap_or(u32::MAX);
            let output = Output { table: table.name.clone(), space: JobSpace::Permanent };
            let action =
                Action::Generate { output, rows: table.rows, groups: table.groups, order: table.order };
            let steps = vec![Step { action, threads: 1, memory: LOAD_MEMORY }];
            let stands =
                reuse.then(|| (table.name.clone(), placement.table(&table.name, stream, repetition)));
            let order = JobOrder {
                check: true,
                inputs: stands.into_iter().collect(),
                ..order(placement, repetition, number, (&table.name, stream, 0), steps)
            };
            tasks.push(LaunchTask { order, after: Vec::new(), memory_max: None, kind: None });
        }
    }
    tasks
}

/// The matrix of pass `repetition`, in the order of [`plan::Jobs::launches`].
#[must_use]
pub fn matrix_tasks(placement: JobsPlacement<'_>, repetition: u32) -> Vec<LaunchTask> {
    let jobs = placement.jobs();
    let task = |launch: Launch| {
        let test = &jobs.tests[launch.test];
        let names = (test.name.as_str(), launch.stream, launch.round);
        let order = JobOrder {
            inputs: inputs(placement, test, launch.stream, repetition),
            ..order(placement, repetition, launch.number, names, test.steps.clone())
        };
        LaunchTask { order, after: launch.after, memory_max: test.memory_max, kind: Some(test.kind) }
    };
    jobs.launches().into_iter().map(task).collect()
}

fn order(
    placement: JobsPlacement<'_>,
    repetition: u32,
    number: u32,
    (test, stream, round): (&str, u32, u32),
    steps: Vec<Step>,
) -> JobOrder {
    let jobs = placement.jobs();
    let directory = |space| match space {
        JobSpace::Permanent => placement.directory(space, repetition),
        own => placement.launch_directory(own, repetition, number),
    };
    JobOrder {
        launch: number,
        test: test.to_owned(),
        stream,
        round,
        page_bytes: jobs.page_bytes,
        direct: jobs.direct,
        sync: jobs.sync,
        check: false,
        seed: jobs.seed,
        directories: JobSpace::ALL.map(directory),
        inputs: BTreeMap::new(),
        steps,
        counters_fd: None,
    }
}

/// The files of the tables used by `test` in `stream` that were created by the load phase or other tests. If
/// a test has more streams than the one that creates a table, its streams share the files round-robin.
fn inputs(
    placement: JobsPlacement<'_>,
    test: &JobTest,
    stream: u32,
    repetition: u32,
) -> BTreeMap<String, PathBuf> {
    let jobs = placement.jobs();
    let leaves = |other: &&JobTest, name: &str| {
        let mut outputs = other.steps.iter().filter_map(|step| step.action.output());
        other.name != test.name
            && outputs.any(|output| output.space == JobSpace::Permanent && output.table == name)
    };
    let of = |name: &str| {
        let loaded = jobs.tables.iter().any(|table| table.name == name);
        let left =
            || jobs.tests.iter().find(|other| leaves(other, name)).map(|other| stream % other.streams.max(1));
        let stream = if loaded { Some(stream) } else { left() }?;
        Some((name.to_owned(), placement.table(name, stream, repetition)))
    };
    test.steps.iter().flat_map(|step| step.action.inputs()).filter_map(of).collect()
}
