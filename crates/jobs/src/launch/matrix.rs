//! The matrix: determines when launches start, and evaluates their outcomes.

use std::collections::BTreeMap;
use std::time::Duration;

use plan::{Nanos, TestKind};

use super::outcome::{Reason, add, judge, peak_memory_bytes, since};
use super::{Ending, LaunchOutcome, LaunchReport, LaunchTask, Launched, News, Processes, Sample};
use crate::{Counters, JobEvent, StepReport, Usage};

/// Maximum interval between checks of the stop flag.
const STOP_LOOK: Duration = Duration::from_millis(100);
/// Time between asking a launch to end and killing it.
const GRACE_NS: u64 = 2_000_000_000;

/// Rules for all launches of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchRules {
    /// Maximum number of launches at a time; 0 means all that are ready.
    pub concurrency: u32,
    /// Time limit after which a launch is ended.
    pub limit: Option<Nanos>,
    /// Sampling interval.
    pub interval: Nanos,
}

/// Progress of the launches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LaunchProgress {
    /// Number of running processes.
    pub running: u32,
    /// Number of launches that have ended, successfully or not.
    pub over: u32,
    /// Total number of launches.
    pub all: u32,
    /// Bytes moved in all spaces, in both directions.
    pub moved: Counters,
}

/// Observer of the launches: receives their progress, records ended ones, and decides whether to stop the
/// run.
pub trait LaunchWatch {
    /// Whether all launches must be ended.
    fn is_stopped(&self) -> bool;

    /// Reports launches that have ended, in the order of their ends; each is reported once. No other launch
    /// starts before this returns, and none starts after it if [`LaunchWatch::is_stopped`] is then true.
    fn ended(&mut self, ended: &[&LaunchReport]);

    /// Reports progress: at the start and end of each launch, and with each sample.
    fn progress(&mut self, progress: LaunchProgress);
}

/// Launches `tasks`, which are numbered from 0. Among those that may start, one of the kind with the fewest running
/// launches comes first, then their order decides. Returns when all of them have ended.
pub fn launch(
    tasks: &[LaunchTask],
    rules: LaunchRules,
    processes: &mut dyn Processes,
    watch: &mut dyn LaunchWatch,
) -> Launched {
    let own_before = processes.own_cpu_ns();
    let mut matrix = Matrix::new(tasks, rules);
    while matrix.go_on(processes, watch) {}
    matrix.sample(processes);
    watch.progress(matrix.progress());
    let own_cpu_ns = processes.own_cpu_ns().saturating_sub(own_before);
    let launches: Vec<LaunchReport> = matrix.over.into_values().collect();
    let length_ns = launches.iter().map(|one| one.end_ns).max().unwrap_or(0);
    Launched { launches, samples: matrix.samples, length_ns, own_cpu_ns }
}

/// A running launch.
#[derive(Debug, Default)]
struct Running {
    kind: Option<TestKind>,
    start_ns: u64,
    began_ns: Option<u64>,
    steps: Vec<StepReport>,
    done: bool,
    failed: Option<String>,
    /// Time and reason of the request to end.
    told_to_end: Option<(u64, Reason)>,
    killed: bool,
}

struct Matrix<'a> {
    rules: LaunchRules,
    /// Launches that have not been started, in order.
    waiting: Vec<&'a LaunchTask>,
    running: BTreeMap<u32, Running>,
    over: BTreeMap<u32, LaunchReport>,
    /// Ended launches that have not been reported to the watch.
    untold: Vec<u32>,
    tasks: &'a [LaunchTask],
    samples: Vec<Sample>,
    /// Time and counters of the last sample.
    seen: (u64, Counters),
    /// Counters of the ended launches.
    moved: Counters,
    stopped: bool,
}

impl<'a> Matrix<'a> {
    fn new(tasks: &'a [LaunchTask], rules: LaunchRules) -> Self {
        Self {
            rules,
            waiting: tasks.iter().collect(),
            running: BTreeMap::new(),
            over: BTreeMap::new(),
            untold: Vec::new(),
            tasks,
            samples: Vec::new(),
            seen: (0, Counters::default()),
            moved: Counters::default(),
            stopped: false,
        }
    }

    /// One iteration: starts ready launches, waits for news and processes them. Returns whether to
    /// continue.
    fn go_on(&mut self, processes: &mut dyn Processes, watch: &mut dyn LaunchWatch) -> bool {
        self.begin_all(processes, watch);
        watch.progress(self.progress());
        if self.running.is_empty() {
            return false;
        }
        let most = self.until(processes.now_ns());
        for news in processes.wait(most) {
            self.take_in(news, processes);
        }
        self.end_late(processes);
        if processes.now_ns() >= self.seen.0 + self.rules.interval.0 {
            self.sample(processes);
        }
        true
    }

    /// How long to wait for news: until the next sample, time limit or check of the stop flag.
    fn until(&self, now_ns: u64) -> Duration {
        let sample = self.seen.0 + self.rules.interval.0;
        let ends = self.running.values().filter_map(|one| match (one.told_to_end, self.rules.limit) {
            (Some((at_ns, _)), _) => (!one.killed).then_some(at_ns + GRACE_NS),
            (None, Some(limit)) => Some(one.start_ns.saturating_add(limit.0)),
            (None, None) => None,
        });
        let next = ends.chain([sample]).min().unwrap_or(sample);
        Duration::from_nanos(next.saturating_sub(now_ns)).min(STOP_LOOK)
    }

    /// Starts all ready launches, as far as the limit permits, and skips those that can never start. Ended
    /// launches are reported before each start.
    fn begin_all(&mut self, processes: &mut dyn Processes, watch: &mut dyn LaunchWatch) {
        self.skip(processes.now_ns());
        let most = if self.rules.concurrency == 0 { usize::MAX } else { self.rules.concurrency as usize };
        loop {
            self.tell(watch);
            if watch.is_stopped() {
                self.stop(processes);
                return self.tell(watch);
            }
            if self.running.len() >= most {
                return;
            }
            let is_ready = |task: &&LaunchTask| {
                let complete = |number: &u32| {
                    self.over.get(number).is_some_and(|one| one.outcome == LaunchOutcome::Complete)
                };
                task.after.iter().all(complete)
            };
            // Launches of different kinds should run at the same time, because their mix is what is
            // measured.
            let running =
                |task: &LaunchTask| self.running.values().filter(|one| one.kind == task.kind).count();
            let ready = self.waiting.iter().enumerate().filter(|(_, task)| is_ready(task));
            let next = ready.min_by_key(|(_, task)| running(task)).map(|(place, _)| place);
            let Some(place) = next else { return };
            let task = self.waiting.remove(place);
            let start_ns = processes.now_ns();
            match processes.start(task) {
                Ok(()) => {
                    let running = Running { kind: task.kind, start_ns, ..Running::default() };
                    self.running.insert(task.order.launch, running);
                }
                Err(message) => {
                    self.not_begun(task, start_ns, LaunchOutcome::Failed, message);
                    self.skip(start_ns);
                }
            }
        }
    }

    /// Reports ended launches to the watch.
    fn tell(&mut self, watch: &mut dyn LaunchWatch) {
        let untold = std::mem::take(&mut self.untold);
        let ended: Vec<&LaunchReport> = untold.iter().filter_map(|launch| self.over.get(launch)).collect();
        if !ended.is_empty() {
            watch.ended(&ended);
        }
    }

    fn end(&mut self, report: LaunchReport) {
        self.untold.push(report.launch);
        self.over.insert(report.launch, report);
    }

    /// Skips launches that depend on one that has not completed, and those that depend on them.
    fn skip(&mut self, now_ns: u64) {
        loop {
            let missed = |task: &LaunchTask| {
                let mut before = task.after.iter().filter_map(|number| self.over.get(number));
                before.find(|one| one.outcome != LaunchOutcome::Complete).map(|one| (one.launch, one.outcome))
            };
            let found =
                self.waiting.iter().enumerate().find_map(|(place, task)| Some((place, missed(task)?)));
            let Some((place, (number, outcome))) = found else { return };
            let task = self.waiting.remove(place);
            let message = format!("comes after {}, which is not complete ({outcome})", self.named(number));
            self.not_begun(task, now_ns, LaunchOutcome::Skipped, message);
        }
    }

    /// Description of a launch.
    fn named(&self, number: u32) -> String {
        match self.tasks.iter().find(|task| task.order.launch == number) {
            Some(LaunchTask { order, .. }) => {
                format!("launch {number} (`{}`, stream {}, round {})", order.test, order.stream, order.round)
            }
            None => format!("launch {number}"),
        }
    }

    fn not_begun(&mut self, task: &LaunchTask, at_ns: u64, outcome: LaunchOutcome, message: String) {
        let launch = task.order.launch;
        let report = LaunchReport {
            launch,
            start_ns: at_ns,
            began_ns: None,
            end_ns: at_ns,
            usage: Usage::default(),
            group_cpu_ns: None,
            moved: Counters::default(),
            steps: Vec::new(),
            outcome,
            message,
        };
        self.end(report);
    }

    fn take_in(&mut self, news: News, processes: &mut dyn Processes) {
        match news {
            News::Told { launch, event } => {
                let Some(one) = self.running.get_mut(&launch) else { return };
                match event {
                    JobEvent::Began { at_ns } => one.began_ns = Some(at_ns.max(one.start_ns)),
                    JobEvent::Step(step) => one.steps.push(*step),
                    JobEvent::Failed { step: Some(step), message } => {
                        one.failed = Some(format!("step {step}: {message}"));
                    }
                    JobEvent::Failed { step: None, message } => one.failed = Some(message),
                    JobEvent::Done => one.done = true,
                }
            }
            News::Garbled { launch, text } => {
                let now_ns = processes.now_ns();
                let Some(one) = self.running.get_mut(&launch) else { return };
                one.failed =
                    Some(format!("printed something that is not an event ({text}); report this as a bug"));
                one.told_to_end = one.told_to_end.or(Some((now_ns, Reason::Garbled)));
                processes.end(launch, Ending::Asked);
            }
            News::Ended { launch, end } => {
                let Some(one) = self.running.remove(&launch) else { return };
                add(&mut self.moved, &end.counters);
                let told_to_end = one.told_to_end.map(|(_, reason)| reason);
                let (outcome, message) = judge(&end, told_to_end, one.done, one.failed);
                let report = LaunchReport {
                    launch,
                    start_ns: one.start_ns,
                    began_ns: one.began_ns,
                    end_ns: end.at_ns.max(one.start_ns),
                    usage: Usage {
                        peak_memory_bytes: peak_memory_bytes(&end.usage, &one.steps, outcome),
                        ..end.usage
                    },
                    group_cpu_ns: end.group_cpu_ns,
                    moved: end.counters,
                    steps: one.steps,
                    outcome,
                    message,
                };
                self.end(report);
            }
        }
    }

    /// Asks overdue launches to end, and kills those that were asked long ago.
    fn end_late(&mut self, processes: &mut dyn Processes) {
        let now_ns = processes.now_ns();
        for (launch, one) in &mut self.running {
            match one.told_to_end {
                Some((at_ns, _)) if now_ns >= at_ns + GRACE_NS && !one.killed => {
                    one.killed = true;
                    processes.end(*launch, Ending::Killed);
                }
                None if self
                    .rules
                    .limit
                    .is_some_and(|limit| now_ns >= one.start_ns.saturating_add(limit.0)) =>
                {
                    one.told_to_end = Some((now_ns, Reason::TooLong));
                    processes.end(*launch, Ending::Asked);
                }
                Some(_) | None => {}
            }
        }
    }

    /// Starts no more launches, and asks running ones to end.
    fn stop(&mut self, processes: &mut dyn Processes) {
        if std::mem::replace(&mut self.stopped, true) {
            return;
        }
        let now_ns = processes.now_ns();
        for task in std::mem::take(&mut self.waiting) {
            let message = "the run was stopped before this launch began".to_owned();
            self.not_begun(task, now_ns, LaunchOutcome::Stopped, message);
        }
        for (launch, one) in &mut self.running {
            one.told_to_end = Some((now_ns, Reason::Stopped));
            processes.end(*launch, Ending::Asked);
        }
    }

    /// Bytes moved by all launches so far, and bytes still held.
    fn total(&self, processes: &dyn Processes) -> Counters {
        // Bytes held by ended launches have been removed with their directories.
        let mut sum = Counters { held_bytes: [0; 3], ..self.moved };
        for launch in self.running.keys() {
            add(&mut sum, &processes.counters(*launch));
        }
        sum
    }

    fn sample(&mut self, processes: &dyn Processes) {
        let (at_ns, total) = (processes.now_ns(), self.total(processes));
        let (start_ns, before) = self.seen;
        if at_ns == start_ns {
            return;
        }
        self.samples.push(Sample {
            start_ns,
            length_ns: at_ns - start_ns,
            moved: since(&total, &before),
            free_bytes: processes.free_bytes(),
            running: count(self.running.len()),
        });
        self.seen = (at_ns, total);
    }

    fn progress(&self) -> LaunchProgress {
        LaunchProgress {
            running: count(self.running.len()),
            over: count(self.over.len()),
            all: count(self.tasks.len()),
            moved: self.seen.1,
        }
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
