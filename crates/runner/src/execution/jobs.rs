//! A phase of jobs, which are launched and recorded like any other phase.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use engine::{Controls, Launches, PhaseOutcome, Progress, SeriesInterval, TaskOutcome};
use host::{Host, RunGroups};
use jobs::launch::{
    LaunchOutcome, LaunchProgress, LaunchReport, LaunchRules, LaunchTask, LaunchWatch, Launched, Program,
    RealProcesses, launch, load_tasks, matrix_tasks,
};
use jobs::{Counters, StepReport};
use plan::{Existing, JobSpace, Jobs, JobsPlacement, Operation, Phase, Workload};
use record::{LaunchRow, PhaseKey, RecordError, SpaceRow, StepRow, Warning};
use serde::{Deserialize, Serialize};

use crate::RunnerError;
use crate::ranks::merge_ranks::SERIES_INTERVAL;

/// Rows of a phase of jobs, with warnings about its figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
pub(crate) struct JobRows {
    pub(crate) launches: Vec<LaunchRow>,
    pub(crate) steps: Vec<StepRow>,
    pub(crate) spaces: Vec<SpaceRow>,
    /// Processor time of the launcher.
    pub(crate) harness_cpu_ns: u64,
    /// Warnings about file systems with little space left, and about skipped actions.
    warnings: Vec<Warning>,
}

/// One phase of jobs.
pub(crate) struct JobsRun<'a> {
    pub(crate) workload: &'a Workload,
    pub(crate) phase: Phase,
    pub(crate) pass: u32,
    /// The program to execute for each launch.
    pub(crate) program: &'a Program,
    /// The run's name, which is used in the names of the control groups.
    pub(crate) run_id: &'a str,
    pub(crate) host: &'a Host,
    pub(crate) controls: &'a Arc<Controls>,
}

/// Writes finished launches to stable storage while their phase is still running.
pub(crate) type KeepLaunches<'k> = dyn FnMut(JobRows) -> Result<(), RecordError> + 'k;

impl JobsRun<'_> {
    /// Launches all jobs. `keep` is called with finished launches before others are started.
    ///
    /// # Errors
    /// Errors if a directory cannot be created, a control group cannot be removed, or finished launches
    /// cannot be stored. No job is running on return.
    pub(crate) fn go(&self, keep: &mut KeepLaunches<'_>) -> Result<(PhaseOutcome, JobRows), RunnerError> {
        let placement = JobsPlacement::new(self.workload).ok_or(RunnerError::OutOfPlace)?;
        let spaces = JobSpace::ALL.map(|space| placement.directory(space, self.pass));
        for directory in &spaces {
            fs::create_dir_all(directory).map_err(RunnerError::file("create the directory", directory))?;
        }
        let reuse = self.workload.files.existing == Existing::Reuse;
        let (tasks, concurrency) = match self.phase {
            Phase::Load => (load_tasks(placement, self.pass, reuse), self.host.usable_cpus()),
            _ => (matrix_tasks(placement, self.pass), placement.jobs().concurrency),
        };
        let limit = (self.phase == Phase::Jobs).then_some(placement.jobs().launch_limit).flatten();
        let rules = LaunchRules { concurrency, limit, interval: SERIES_INTERVAL };
        let groups = RunGroups::make(self.host.root(), self.run_id);
        let started_unix_ns = unix_ns();
        let mut processes = RealProcesses::new(self.program, &groups, spaces.clone());
        let mut watch =
            Watcher { controls: self.controls, tasks: &tasks, jobs: placement.jobs(), keep, error: None };
        let launched = launch(&tasks, rules, &mut processes, &mut watch);
        let error = watch.error.take();
        let mut notes = self.notes(&groups, placement.jobs());
        notes.extend(
            processes
                .notes()
                .filter(|note| !groups.missing().iter().any(|why| note.ends_with(why)))
                .map(|note| unapplied("part of a phase of jobs", note.to_owned())),
        );
        drop(processes);
        groups.remove()?;
        error.map_or(Ok(()), Err)?;
        let rows = JobRows {
            warnings: self.low_space(placement.jobs(), &launched, &spaces).into_iter().chain(notes).collect(),
            ..rows(&tasks, &launched, placement.jobs())
        };
        Ok((outcome(&launched, started_unix_ns), rows))
    }

    /// Warnings about limits for which this host has no control groups. Only the matrix reports them,
    /// because loading needs no limits.
    fn notes(&self, groups: &RunGroups, jobs: &Jobs) -> Vec<Warning> {
        if groups.missing().is_empty() || self.phase == Phase::Load {
            return Vec::new();
        }
        let reason = groups.missing().join("; ");
        let mut notes = vec![unapplied("a control group for each launch", reason.clone())];
        if !groups.keeps_memory() && jobs.tests.iter().any(|test| test.memory_max.is_some()) {
            notes.push(unapplied("`memory_max`, which cannot be enforced here,", reason));
        }
        notes
    }

    /// Warnings about file systems with less free space than the workload wants.
    fn low_space(&self, jobs: &Jobs, launched: &Launched, spaces: &[PathBuf; 3]) -> Vec<Warning> {
        let percent_min = jobs.free_percent_min;
        let mut all: Vec<Warning> = Vec::new();
        for (number, directory) in spaces.iter().enumerate() {
            let Ok(place) = self.host.file_system_of(directory) else { continue };
            let Some(free_bytes) = launched.samples.iter().filter_map(|one| one.free_bytes[number]).min()
            else {
                continue;
            };
            let is_low =
                u128::from(free_bytes) * 100 < u128::from(place.size_bytes) * u128::from(percent_min);
            let is_known = |known: &Warning| matches!(known, Warning::LowSpace { place: at, .. } if *at == place.mount_point);
            if is_low && !all.iter().any(is_known) {
                let size_bytes = place.size_bytes;
                all.push(Warning::LowSpace { place: place.mount_point, free_bytes, size_bytes, percent_min });
            }
        }
        all
    }
}

/// Reports the progress of launches to the controls of the run, and stores finished ones.
struct Watcher<'a, 'k> {
    controls: &'a Controls,
    tasks: &'a [LaunchTask],
    jobs: &'a Jobs,
    keep: &'a mut KeepLaunches<'k>,
    /// Why storing the launches failed. Nothing more is launched in that case.
    error: Option<RecordError>,
}

impl LaunchWatch for Watcher<'_, '_> {
    fn is_stopped(&self) -> bool {
        self.controls.is_stopped() || self.error.is_some()
    }

    fn ended(&mut self, ended: &[&LaunchReport]) {
        if self.error.is_none() {
            self.error = (self.keep)(launch_rows(self.tasks, ended, self.jobs)).err();
        }
    }

    fn progress(&mut self, progress: LaunchProgress) {
        let LaunchProgress { running, over, all, moved } = progress;
        let sum = |counts: [u64; 3]| counts.into_iter().fold(0, u64::saturating_add);
        self.controls.show(Progress {
            transfers: sum(moved.reads).saturating_add(sum(moved.writes)),
            bytes: sum(moved.read_bytes).saturating_add(sum(moved.write_bytes)),
            launches: Some(Launches { running, over, all }),
            model_ns: None,
        });
    }
}

impl JobRows {
    /// Warnings about the figures.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let failed = || self.launches.iter().filter(|row| is_failure(row));
        if let Some(first) = failed().next() {
            let LaunchRow { launch, test, stream, round, outcome, message, .. } = first;
            warnings.push(Warning::FailedLaunches {
                failed: failed().count() as u64,
                launches: self.launches.len() as u64,
                first: format!(
                    "launch {launch} (`{test}`, stream {stream}, round {round}), {outcome}: {message}"
                ),
            });
        }
        warnings.extend(self.warnings.iter().cloned());
        warnings
    }

    /// Sets the key of the phase and the name of the node in all rows.
    pub(crate) fn of(mut self, key: &PhaseKey, node: &str) -> Self {
        for row in &mut self.launches {
            (row.key, row.node) = (key.clone(), node.into());
        }
        self.steps.iter_mut().for_each(|row| row.key = key.clone());
        self.spaces.iter_mut().for_each(|row| row.key = key.clone());
        self
    }
}

fn unapplied(what: &str, reason: String) -> Warning {
    Warning::Unapplied { what: what.to_owned(), reason }
}

/// Whether a launch failed.
pub(crate) fn is_failure(row: &LaunchRow) -> bool {
    ![LaunchOutcome::Complete, LaunchOutcome::Stopped].iter().any(|fine| fine.name() == row.outcome)
}

/// Converts the outcome of launched processes to that of any other phase, which began at
/// `started_unix_ns`. Each launch counts as a task.
#[must_use]
pub fn outcome(launched: &Launched, started_unix_ns: i64) -> PhaseOutcome {
    let begun = || launched.launches.iter().filter(|one| one.end_ns > one.start_ns);
    let tasks: Vec<TaskOutcome> = begun().map(task).collect();
    let total =
        |of: fn(&Counters) -> [u64; 3]| begun().flat_map(|one| of(&one.moved)).fold(0, u64::saturating_add);
    let cpu = |of: fn(&LaunchReport) -> u64| begun().map(of).fold(0, u64::saturating_add);
    let io_start = tasks.iter().map(|one| one.io_start_ns).min().unwrap_or(0);
    let first = tasks.iter().min_by_key(|one| one.io_end_ns);
    PhaseOutcome {
        started_unix_ns,
        started_raw_ns: 0,
        wall_ns: launched.length_ns,
        open_ns: io_start.saturating_sub(tasks.iter().map(|one| one.open_start_ns).min().unwrap_or(0)),
        io_ns: tasks.iter().map(|one| one.io_end_ns).max().unwrap_or(0).saturating_sub(io_start),
        close_ns: 0,
        read_bytes: total(|moved| moved.read_bytes),
        write_bytes: total(|moved| moved.write_bytes),
        reads: total(|moved| moved.reads),
        writes: total(|moved| moved.writes),
        items: 0,
        allocated_bytes: None,
        found: None,
        surprises: engine::Surprises::default(),
        first_done_ns: first.map_or(0, |one| one.io_end_ns.saturating_sub(io_start)),
        first_done_bytes: first.map_or(0, |one| one.bytes),
        stonewall: None,
        latency: Vec::new(),
        series: series(launched),
        user_cpu_ns: cpu(|one| one.usage.user_cpu_ns),
        system_cpu_ns: cpu(|one| one.usage.system_cpu_ns),
        mismatches: engine::Mismatches::default(),
        stopped: launched.launches.iter().any(|one| one.outcome == LaunchOutcome::Stopped),
        unstarted: 0,
        continued: 0,
        notes: Vec::new(),
        history: Vec::new(),
        end: None,
        tasks,
    }
}

fn task(one: &LaunchReport) -> TaskOutcome {
    let sum = |counts: [u64; 3]| counts.into_iter().fold(0, u64::saturating_add);
    let began_ns = one.began_ns.unwrap_or(one.end_ns).min(one.end_ns);
    let io_end_ns = one.steps.last().map_or(one.end_ns, |step| step.end_ns.clamp(began_ns, one.end_ns));
    TaskOutcome {
        task: one.launch,
        file: one.launch,
        open_start_ns: one.start_ns,
        open_end_ns: began_ns,
        io_start_ns: began_ns,
        io_end_ns,
        close_start_ns: io_end_ns,
        close_end_ns: one.end_ns,
        bytes: sum(one.moved.read_bytes).saturating_add(sum(one.moved.write_bytes)),
        reads: sum(one.moved.reads),
        writes: sum(one.moved.writes),
        items: 0,
        stonewall_transfers: None,
    }
}

/// Bytes read and written in each interval.
fn series(launched: &Launched) -> Vec<SeriesInterval> {
    let sum = |counts: [u64; 3]| counts.into_iter().fold(0, u64::saturating_add);
    let mut all = Vec::new();
    for sample in &launched.samples {
        let moved = &sample.moved;
        for (operation, bytes, transfers) in [
            (Operation::Read, sum(moved.read_bytes), sum(moved.reads)),
            (Operation::Write, sum(moved.write_bytes), sum(moved.writes)),
        ] {
            if transfers > 0 || bytes > 0 {
                all.push(SeriesInterval {
                    operation,
                    start_ns: sample.start_ns,
                    length_ns: sample.length_ns,
                    bytes,
                    transfers,
                    latency_sum_ns: 0,
                    latency_max_ns: 0,
                });
            }
        }
    }
    all
}

/// A placeholder. Rows get the key of their phase later.
fn no_key() -> PhaseKey {
    PhaseKey { case: "".into(), repetition: 0, phase: Phase::Jobs }
}

/// The rows of some launches and their steps, without the key of the phase.
fn launch_rows(tasks: &[LaunchTask], reports: &[&LaunchReport], jobs: &Jobs) -> JobRows {
    let task_of = |one: &LaunchReport| tasks.iter().find(|task| task.order.launch == one.launch);
    let mut rows = JobRows::default();
    for (one, task) in reports.iter().filter_map(|one| Some((one, task_of(one)?))) {
        rows.launches.push(launch_row(no_key(), task, one, jobs));
        rows.steps.extend(one.steps.iter().map(|step| step_row(no_key(), task, step)));
    }
    rows
}

/// The rows of all launches, without the key of the phase.
pub(crate) fn rows(tasks: &[LaunchTask], launched: &Launched, jobs: &Jobs) -> JobRows {
    let reports: Vec<&LaunchReport> = launched.launches.iter().collect();
    let mut rows = JobRows { harness_cpu_ns: launched.own_cpu_ns, ..launch_rows(tasks, &reports, jobs) };
    for sample in &launched.samples {
        for space in JobSpace::ALL {
            let place = space as usize;
            rows.spaces.push(SpaceRow {
                key: no_key(),
                space: space.name().into(),
                start_ns: sample.start_ns,
                length_ns: sample.length_ns,
                read_bytes: sample.moved.read_bytes[place],
                write_bytes: sample.moved.write_bytes[place],
                free_bytes: sample.free_bytes[place],
            });
        }
    }
    rows
}

fn launch_row(key: PhaseKey, task: &LaunchTask, one: &LaunchReport, jobs: &Jobs) -> LaunchRow {
    let (order, usage, moved) = (&task.order, &one.usage, &one.moved);
    let [permanent, work, utility] = JobSpace::ALL.map(|space| space as usize);
    LaunchRow {
        key,
        node: record::SharedText::EMPTY,
        launch: one.launch,
        test: order.test.clone().into(),
        kind: jobs.test(&order.test).map_or("load", |test| test.kind.name()).into(),
        stream: order.stream,
        round: order.round,
        start_ns: one.start_ns,
        end_ns: one.end_ns,
        start_cost_ns: one.began_ns.map_or(0, |began| began.saturating_sub(one.start_ns)),
        user_cpu_ns: usage.user_cpu_ns,
        system_cpu_ns: usage.system_cpu_ns,
        group_cpu_ns: one.group_cpu_ns,
        peak_memory_bytes: usage.peak_memory_bytes,
        major_faults: usage.major_faults,
        block_input_bytes: usage.block_input_bytes,
        block_output_bytes: usage.block_output_bytes,
        voluntary_switches: usage.voluntary_switches,
        involuntary_switches: usage.involuntary_switches,
        permanent_read_bytes: moved.read_bytes[permanent],
        permanent_write_bytes: moved.write_bytes[permanent],
        work_read_bytes: moved.read_bytes[work],
        work_write_bytes: moved.write_bytes[work],
        work_peak_bytes: moved.peak_bytes[work],
        utility_read_bytes: moved.read_bytes[utility],
        utility_write_bytes: moved.write_bytes[utility],
        utility_peak_bytes: moved.peak_bytes[utility],
        outcome: one.outcome.name().into(),
        message: one.message.clone().into(),
    }
}

fn step_row(key: PhaseKey, task: &LaunchTask, step: &StepReport) -> StepRow {
    let asked = task.order.steps.get(step.step as usize);
    let [permanent, work, utility] = JobSpace::ALL.map(|space| space as usize);
    StepRow {
        key,
        launch: task.order.launch,
        test: task.order.test.clone().into(),
        step: step.step,
        action: asked.map_or("", |step| step.action.name()).into(),
        threads: asked.map_or(1, |step| step.threads),
        start_ns: step.start_ns,
        end_ns: step.end_ns,
        user_cpu_ns: step.user_cpu_ns,
        system_cpu_ns: step.system_cpu_ns,
        peak_memory_bytes: step.peak_memory_bytes,
        block_input_bytes: step.block_input_bytes,
        block_output_bytes: step.block_output_bytes,
        voluntary_switches: step.voluntary_switches,
        involuntary_switches: step.involuntary_switches,
        permanent_read_bytes: step.moved.read_bytes[permanent],
        permanent_write_bytes: step.moved.write_bytes[permanent],
        work_read_bytes: step.moved.read_bytes[work],
        work_write_bytes: step.moved.write_bytes[work],
        utility_read_bytes: step.moved.read_bytes[utility],
        utility_write_bytes: step.moved.write_bytes[utility],
        rows_in: step.outcome.rows_in,
        rows_out: step.outcome.rows_out,
        checksum: step.outcome.checksum.map_or_else(String::new, |sum| format!("{sum:016x}")).into(),
        // Serializing names and numbers cannot fail; NaN and infinities become null.
        result: serde_json::to_string(&step.outcome.found).unwrap_or_default().into(),
    }
}

fn unix_ns() -> i64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use jobs::Usage;
    use jobs::launch::{Launched, Sample};
    use plan::jobs::{Action, Step};
    use plan::{Bytes, Geometry, JobTest, TestKind, WorkloadSpec};

    use super::{
        Counters, Jobs, JobsPlacement, LaunchOutcome, LaunchReport, Operation, Phase, PhaseKey, StepReport,
        Warning, Workload, matrix_tasks, outcome, rows,
    };

    /// Two launches of a test: one is complete, one was killed.
    fn launched() -> Launched {
        let moved = |bytes: u64| Counters {
            read_bytes: [bytes, 2 * bytes, 0],
            write_bytes: [0, 0, 3 * bytes],
            reads: [1, 2, 0],
            writes: [0, 0, 3],
            ..Counters::default()
        };
        let report = |launch: u32, outcome: LaunchOutcome, message: &str| LaunchReport {
            launch,
            start_ns: 10,
            began_ns: Some(30),
            end_ns: 1000 * (u64::from(launch) + 1),
            usage: Usage { user_cpu_ns: 5, system_cpu_ns: 7, ..Usage::default() },
            group_cpu_ns: None,
            moved: moved(100),
            steps: vec![StepReport { start_ns: 40, end_ns: 900, ..StepReport::default() }],
            outcome,
            message: message.to_owned(),
        };
        let sample = Sample {
            length_ns: 2000,
            moved: moved(200),
            free_bytes: [Some(1), None, None],
            ..Sample::default()
        };
        Launched {
            launches: vec![
                report(0, LaunchOutcome::Complete, ""),
                report(1, LaunchOutcome::Killed, "was killed by signal 9"),
            ],
            samples: vec![sample],
            length_ns: 2000,
            own_cpu_ns: 9,
        }
    }

    fn workload() -> Workload {
        let geometry = Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 };
        let mut spec = WorkloadSpec::new("w", "/t", geometry);
        let action = Action::Simulation { operations: 1000 };
        let step = Step { action, threads: 1, memory: Bytes::mib(1) };
        let test = JobTest { streams: 2, ..JobTest::new("t", TestKind::Io, vec![step]) };
        let jobs = Jobs { tests: vec![test], ..Jobs::new(Bytes::kib(64)) };
        (spec.tasks, spec.work) = (2, jobs.into());
        spec.validate().expect("valid")
    }

    #[test]
    fn launches_are_the_tasks_of_their_phase_and_add_up_to_it() {
        let outcome = outcome(&launched(), 7);
        assert_eq!(
            (outcome.read_bytes, outcome.write_bytes, outcome.reads, outcome.writes),
            (600, 600, 6, 6)
        );
        assert_eq!((outcome.user_cpu_ns, outcome.system_cpu_ns, outcome.started_unix_ns), (10, 14, 7));
        let tasks: Vec<_> =
            outcome.tasks.iter().map(|task| (task.task, task.bytes, task.close_end_ns)).collect();
        assert_eq!(tasks, [(0, 600, 1000), (1, 600, 2000)]);
        let series: Vec<_> = outcome.series.iter().map(|one| (one.operation, one.bytes)).collect();
        assert_eq!(series, [(Operation::Read, 600), (Operation::Write, 600)]);
    }

    #[test]
    fn rows_say_which_launch_failed_and_why() {
        let workload = workload();
        let placement = JobsPlacement::new(&workload).expect("jobs");
        let rows = rows(&matrix_tasks(placement, 0), &launched(), placement.jobs());
        assert_eq!((rows.launches.len(), rows.steps.len(), rows.spaces.len()), (2, 2, 3));
        assert_eq!((rows.launches[1].kind.as_str(), rows.launches[1].stream), ("io", 1));
        assert_eq!((rows.launches[0].start_cost_ns, rows.launches[0].utility_write_bytes), (20, 300));
        let [Warning::FailedLaunches { failed: 1, launches: 2, first }] = &rows.warnings()[..] else {
            panic!("{:?}", rows.warnings());
        };
        assert_eq!(first, "launch 1 (`t`, stream 1, round 0), killed: was killed by signal 9");
        let key = PhaseKey { case: "c".into(), repetition: 3, phase: Phase::Jobs };
        let of_phase = rows.of(&key, "node1");
        assert!(of_phase.launches.iter().all(|row| row.key == key && row.node == "node1"));
        assert!(of_phase.spaces.iter().all(|row| row.key == key));
    }
}
