//! Jobs in a phase: implements processes for the launcher, on the virtual clock.

use std::cell::Cell;
use std::time::Duration;

use engine::{Controls, Launches, Progress};
use jobs::launch::{
    Ending, LaunchProgress, LaunchReport, LaunchRules, LaunchTask, LaunchWatch, Launched, News, ProcessEnd,
    Processes, launch,
};
use jobs::{Counters, JobEvent, StepOutcome, StepReport, Usage};
use plan::Jobs;

use super::{ALONE, PhaseInput, PhaseOutput, Running, narrow};
use crate::simulation::jobs::{
    ComputeTimes, JobAction, JobPhase, JobThread, Page, RunningJobs, RunningLaunch,
};
use crate::simulation::parts::station::{READ, WRITE};
use crate::simulation::parts::threads::Threads;
use crate::simulation::request::{Request, Stage};
use crate::simulation::system::{NodeLimits, System};
use crate::simulation::task::{Program, Task};
use crate::simulation::time::{CLOCK_END, TICKS_PER_NS, Ticks, ns};

/// The signals for a launch that is asked to end, and for one that is killed.
const SIGTERM: i32 = 15;
const SIGKILL: i32 = 9;

/// Launches `tasks` by `rules` on the first node, in the same way as the launcher of a measured run.
pub(crate) fn launches<'a>(
    input: &'a PhaseInput<'a>,
    limits: &'a NodeLimits,
    (jobs, times): (&'a Jobs, ComputeTimes),
    (tasks, rules): (&[LaunchTask], LaunchRules),
    system: &'a mut System,
) -> (Launched, Option<PhaseOutput>) {
    let mut running = Running::new(std::slice::from_ref(input), limits, system);
    let processors = running.system.nodes.iter().map(|node| node.processors.count());
    running.jobs = Some(RunningJobs::new(jobs, times, Threads::new(processors)));
    running.write_behind();
    let too_long = Cell::new(false);
    let mut processes = SimulatedProcesses { now: running.phases[ALONE].start, running, too_long: &too_long };
    let mut watch = Watch { controls: input.controls, too_long: &too_long };
    let launched = launch(tasks, rules, &mut processes, &mut watch);
    let mut running = processes.running;
    running.phases[ALONE].left = 0;
    // The data waiting in page caches is written.
    let stopped = input.controls.is_stopped() || too_long.get() || running.go();
    (launched, running.finish(stopped).pop())
}

struct SimulatedProcesses<'a, 'c> {
    running: Running<'a>,
    now: Ticks,
    /// Whether the clock has reached its end.
    too_long: &'c Cell<bool>,
}

struct Watch<'c> {
    controls: &'c Controls,
    too_long: &'c Cell<bool>,
}

impl LaunchWatch for Watch<'_> {
    fn is_stopped(&self) -> bool {
        self.controls.is_stopped() || self.too_long.get()
    }

    fn ended(&mut self, _ended: &[&LaunchReport]) {}

    fn progress(&mut self, progress: LaunchProgress) {
        let LaunchProgress { running, over, all, moved } = progress;
        let sum = |counts: [u64; 3]| counts.into_iter().sum::<u64>();
        self.controls.show(Progress {
            transfers: sum(moved.reads) + sum(moved.writes),
            bytes: sum(moved.read_bytes) + sum(moved.write_bytes),
            launches: Some(Launches { running, over, all }),
            model_ns: None,
        });
    }
}

impl<'a> SimulatedProcesses<'a, '_> {
    fn jobs(&mut self) -> Option<&mut RunningJobs<'a>> {
        self.running.jobs.as_mut()
    }
}

impl Processes for SimulatedProcesses<'_, '_> {
    fn now_ns(&self) -> u64 {
        ns(self.now - self.running.phases[ALONE].start)
    }

    fn start(&mut self, task: &LaunchTask) -> Result<(), String> {
        let now = self.now;
        self.running.start_launch(now, task);
        Ok(())
    }

    fn wait(&mut self, most: Duration) -> Vec<News> {
        let nanos = u64::try_from(most.as_nanos()).unwrap_or(u64::MAX / TICKS_PER_NS);
        let until = self.now.saturating_add(nanos.saturating_mul(TICKS_PER_NS));
        loop {
            let news = self.jobs().map(|jobs| std::mem::take(&mut jobs.news)).unwrap_or_default();
            if !news.is_empty() {
                return news;
            }
            match self.running.events.first() {
                Some((at, _)) if at >= CLOCK_END => {
                    self.too_long.set(true);
                    return Vec::new();
                }
                Some((at, _)) if at <= until => {
                    self.now = at.max(self.now);
                    self.running.step();
                }
                _ => {
                    self.now = until;
                    return Vec::new();
                }
            }
        }
    }

    fn counters(&self, launch: u32) -> Counters {
        let jobs = self.running.jobs.as_ref();
        jobs.and_then(|jobs| jobs.launches.get(&launch)).map_or_else(Counters::default, |one| one.moved)
    }

    fn end(&mut self, launch: u32, how: Ending) {
        let now = self.now;
        let too_long = self.too_long.get();
        let Some(one) = self.jobs().and_then(|jobs| jobs.launches.get_mut(&launch)) else { return };
        one.killed = Some(if how == Ending::Asked { SIGTERM } else { SIGKILL });
        if too_long {
            // Nothing happens any more.
            self.running.end_launch(now, launch);
        }
    }

    fn free_bytes(&self) -> [Option<u64>; 3] {
        [None; 3]
    }

    fn own_cpu_ns(&self) -> u64 {
        0
    }
}

impl Running<'_> {
    /// Starts the process of `task`, which begins at once.
    fn start_launch(&mut self, now: Ticks, task: &LaunchTask) {
        let Some(jobs) = &mut self.jobs else { return };
        let launch = task.order.launch;
        let first = narrow(self.tasks.len());
        let threads = task.order.steps.iter().map(|step| step.threads.max(1)).max().unwrap_or(0);
        for _ in 0..threads {
            self.tasks.push(Task::new(launch, (0, launch), Program::Job, u64::MAX, 0.0));
            jobs.at_work.push(JobThread::new(jobs.threads.add(0)));
        }
        jobs.launches.insert(launch, JobPhase::launch(task.clone(), first));
        jobs.news.push(News::Told {
            launch,
            event: JobEvent::Began { at_ns: ns(now - self.phases[ALONE].start) },
        });
        self.go_to_step(now, launch);
        // This happens outside of the event loop.
        while let Some(event) = self.following.pop() {
            self.events.push(event);
        }
    }

    /// Begins the current step of a launch, or ends the launch.
    fn go_to_step(&mut self, now: Ticks, launch: u32) {
        let Some(jobs) = &mut self.jobs else { return };
        let Some(one) = jobs.launches.get_mut(&launch) else { return };
        if one.killed.is_some() {
            return self.end_launch(now, launch);
        }
        if one.step == one.task.order.steps.len() {
            jobs.news.push(News::Told { launch, event: JobEvent::Done });
            return self.end_launch(now, launch);
        }
        if let Err(error) = jobs.phase.begin_step(one, now) {
            let step = u32::try_from(one.step).ok();
            jobs.news
                .push(News::Told { launch, event: JobEvent::Failed { step, message: error.to_string() } });
            return self.end_launch(now, launch);
        }
        self.go_to_pass(now, launch);
    }

    /// Begins the current pass of a launch, or ends its step.
    fn go_to_pass(&mut self, now: Ticks, launch: u32) {
        let Some(jobs) = &mut self.jobs else { return };
        let Some(one) = jobs.launches.get_mut(&launch) else { return };
        let parts = if one.killed.is_none() { jobs.phase.begin_pass(one) } else { Some(Vec::new()) };
        match parts {
            None => {
                let report = report(
                    one,
                    ns(now - self.phases[ALONE].start),
                    ns(one.step_start - self.phases[ALONE].start),
                );
                jobs.news.push(News::Told { launch, event: JobEvent::Step(Box::new(report)) });
                JobPhase::end_step(one);
                self.go_to_step(now, launch);
            }
            Some(parts) if parts.is_empty() => self.end_launch(now, launch),
            Some(parts) => {
                for (task, part) in (one.first_thread..).zip(parts) {
                    let thread = &mut jobs.at_work[task as usize];
                    *thread = part.on(thread.processor_thread);
                    let request = self.requests.add(Request::new(task, 0, 0));
                    self.following.push((now, request));
                }
            }
        }
    }

    /// Ends the process of a launch.
    fn end_launch(&mut self, now: Ticks, launch: u32) {
        let Some(jobs) = &mut self.jobs else { return };
        let Some(one) = jobs.launches.remove(&launch) else { return };
        let usage = Usage {
            user_cpu_ns: ns(one.cpu),
            // Only steps that have begun held their memory.
            peak_memory_bytes: one
                .task
                .order
                .steps
                .iter()
                .take(one.step + 1)
                .map(|step| step.memory.0)
                .max()
                .unwrap_or(0),
            ..Usage::default()
        };
        let end = ProcessEnd {
            at_ns: ns(now - self.phases[ALONE].start),
            code: one.killed.is_none().then_some(0),
            signal: one.killed,
            usage,
            counters: one.moved,
            ..ProcessEnd::default()
        };
        jobs.news.push(News::Ended { launch, end: Box::new(end) });
    }

    /// Makes a thread of a job do its next action.
    pub(super) fn job_next(&mut self, now: Ticks, number: u32) -> Option<Ticks> {
        let request = self.requests.get(number);
        let index = request.task as usize;
        self.tasks[index].io[1] = now;
        let jobs = self.jobs.as_mut()?;
        let thread = &mut jobs.at_work[index];
        let one = jobs.launches.get(&thread.launch)?;
        match jobs.phase.next(one, thread, &mut self.system.random) {
            JobAction::Read(page) => {
                thread.page = Some(page);
                self.transfer_page(now, number, page, READ)
            }
            JobAction::Write(page, time) => {
                thread.page = Some(page);
                request.piece.set_direction(WRITE);
                self.compute(now, number, time)
            }
            JobAction::Compute(time) => {
                thread.page = None;
                self.compute(now, number, time)
            }
            JobAction::Rest => {
                let launch = thread.launch;
                self.requests.remove(number);
                self.write_gathered(now, narrow(index));
                let one = self.jobs.as_mut()?.launches.get_mut(&launch)?;
                one.at_work -= 1;
                if one.at_work == 0 {
                    JobPhase::end_pass(one);
                    self.go_to_pass(now, launch);
                }
                None
            }
        }
    }

    fn transfer_page(&mut self, now: Ticks, number: u32, page: Page, direction: usize) -> Option<Ticks> {
        let request = self.requests.get(number);
        request.piece.set_direction(direction);
        (request.piece.place, request.piece.bytes) = (page.place, page.bytes);
        request.stage = Stage::Data;
        self.data(now, number)
    }

    /// Makes a thread compute.
    fn compute(&mut self, now: Ticks, number: u32, time: Ticks) -> Option<Ticks> {
        let request = self.requests.get(number);
        request.stage = Stage::Worked;
        let jobs = self.jobs.as_mut()?;
        let thread = &jobs.at_work[request.task as usize];
        let one = jobs.launches.get_mut(&thread.launch)?;
        one.cpu = one.cpu.saturating_add(time);
        jobs.processor_time = jobs.processor_time.saturating_add(time);
        jobs.threads.give(now, thread.processor_thread, number, time)
    }

    /// A thread has finished computing: it writes the page, or continues.
    pub(super) fn job_computed(&mut self, now: Ticks, number: u32) -> Option<Ticks> {
        let request = self.requests.get(number);
        let (index, writes) = (request.task as usize, request.piece.direction() == WRITE);
        let jobs = self.jobs.as_mut()?;
        let thread = &mut jobs.at_work[index];
        let next = jobs.threads.done(now, thread.processor_thread);
        self.following.extend(next);
        match thread.page {
            Some(page) if writes => self.transfer_page(now, number, page, WRITE),
            _ => self.job_next(now, number),
        }
    }

    /// A page has been read or written.
    pub(super) fn job_moved(&mut self, now: Ticks, number: u32) -> Option<Ticks> {
        let request = self.requests.get(number);
        let (index, writes) = (request.task as usize, request.piece.direction() == WRITE);
        self.tasks[index].io[1] = now;
        let jobs = self.jobs.as_mut()?;
        let thread = &mut jobs.at_work[index];
        let page = thread.page.take()?;
        self.phases[ALONE].moved += page.bytes;
        jobs.launches.get_mut(&thread.launch)?.count(&page, writes);
        if writes {
            return self.job_next(now, number);
        }
        let time = jobs.phase.time_of(&page);
        self.compute(now, number, time)
    }
}

/// The report of the current step of a launch.
fn report(one: &RunningLaunch, end_ns: u64, start_ns: u64) -> StepReport {
    let moved = one.moved_in_step();
    StepReport {
        step: u32::try_from(one.step).unwrap_or(u32::MAX),
        start_ns,
        end_ns,
        user_cpu_ns: ns(one.cpu - one.cpu_before),
        peak_memory_bytes: one.task.order.steps[one.step].memory.0,
        outcome: StepOutcome { rows_in: one.rows.read, rows_out: one.rows.written, ..StepOutcome::default() },
        moved,
        ..StepReport::default()
    }
}
