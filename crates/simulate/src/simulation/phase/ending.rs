//! The end of tasks, and what a phase leaves behind.

use plan::Phase;

use super::one::RunningPhase;
use super::{PhaseOutput, Running, Sample, narrow};
use crate::simulation::exchanges::Exchanges;
use crate::simulation::parts::drive::Counters;
use crate::simulation::parts::service::whole;
use crate::simulation::request::Request;
use crate::simulation::task::Task;
use crate::simulation::time::{CLOCK_END, TICKS_PER_NS, Ticks};

impl Running<'_> {
    /// Handles a task that has no operation in flight and begins no other one.
    pub(super) fn task_is_over(&mut self, now: Ticks, index: u32) {
        let task = &mut self.tasks[index as usize];
        if task.is_over {
            return;
        }
        task.is_over = true;
        let of = task.phase as usize;
        self.phases[of].left -= 1;
        self.phases[of].unstarted += self.unstarted_of(index);
        let ending = self.phases[of].input.job.ending();
        let wears = ending.wears_out();
        let by_deadline = self.phases[of].deadline != u64::MAX && now >= self.phases[of].deadline;
        if by_deadline && ending.is_stonewall() {
            self.phases[of].stonewall = Some((now, self.phases[of].moved));
        }
        self.write_gathered(now, index);
        let together = self.phases[of].input.job.workload.barriers;
        if !(wears && by_deadline) {
            let (first, moved) = (now - self.phases[of].first_io.min(now), self.phases[of].moved);
            self.phases[of].first_done.get_or_insert((first, moved));
            if !together {
                self.close(now, index);
            }
        }
        if self.phases[of].left == 0
            && wears
            && self.phases[of].worn.is_none()
            && self.phases[of].stonewall.is_some()
        {
            self.wear_out(now, of);
        }
        if self.phases[of].left == 0 && together {
            self.tasks_of(of).for_each(|index| self.close(now, narrow(index)));
        }
        self.phase_may_end(now, of);
    }

    /// In an open loop: number of operations that were due before the deadline and have not begun.
    pub(super) fn unstarted_of(&self, index: u32) -> u64 {
        let task = &self.tasks[index as usize];
        let phase = &self.phases[task.phase as usize];
        let Some((each, between)) = phase.pace.filter(|_| phase.deadline != u64::MAX) else { return 0 };
        let time = (phase.deadline - phase.first_io) as f64 - between * f64::from(task.number);
        whole((time / each).ceil().max(0.0)).saturating_sub(task.issued)
    }

    /// Makes all tasks of a phase continue after the stonewall to as many operations as the fastest one has done.
    pub(super) fn wear_out(&mut self, now: Ticks, of: usize) {
        let tasks = self.tasks_of(of);
        let worn = self.tasks[tasks.clone()].iter().map(|task| task.issued).max().unwrap_or(0);
        self.phases[of].worn = Some(worn);
        self.phases[of].deadline = u64::MAX;
        for index in tasks {
            let task = &mut self.tasks[index];
            if task.issued < worn.min(task.limit) {
                task.is_over = false;
                self.phases[of].left += 1;
                let number =
                    self.requests.add(Request::new(narrow(index), self.tasks[index].node, narrow(of)));
                self.following.push((now, number));
            } else if task.closed.is_none() && !self.phases[of].input.job.workload.barriers {
                self.close(now, narrow(index));
            }
        }
    }

    /// Closes the file of a task, and waits for its data if that is requested.
    pub(super) fn close(&mut self, now: Ticks, index: u32) {
        let task = &mut self.tasks[index as usize];
        let phase = &mut self.phases[task.phase as usize];
        let job = phase.input.job;
        let syncs = job.workload.sync.at_close || job.phase == Phase::Fill;
        let waits = syncs && task.unwritten > 0;
        task.closed = Some([now, if waits { u64::MAX } else { now }]);
        phase.syncing += usize::from(waits);
    }

    /// Whether all phases have ended. Page caches may still be writing.
    pub(super) fn is_over(&self) -> bool {
        self.phases.iter().all(RunningPhase::is_over)
    }

    /// Ends an interval of the counters with a phase that ends before others.
    pub(super) fn phase_may_end(&mut self, now: Ticks, of: usize) {
        let is_new = || self.samples.last().is_none_or(|sample| sample.start + sample.length < now);
        if self.phases[of].is_over() && !self.is_over() && is_new() {
            self.take_sample(now);
        }
    }

    /// Reads the counters of the devices up to `now`.
    pub(super) fn sample(&mut self, now: Ticks) {
        while self.interval_end <= now {
            let end = self.interval_end;
            // What happens during intervals without any event belongs to the one after them.
            let next = self.phases.iter().map(|phase| phase.interval_after(now, end, self.interval));
            self.interval_end = next.min().unwrap_or(Ticks::MAX);
            self.take_sample(end);
        }
    }

    pub(super) fn take_sample(&mut self, end: Ticks) {
        self.system.drives.iter_mut().for_each(|drive| drive.settle(end));
        self.take_settled_sample(end);
    }

    /// Ends an interval with what has been counted of it.
    pub(super) fn take_settled_sample(&mut self, end: Ticks) {
        let start = self.samples.last().map_or(self.system.now, |sample| sample.start + sample.length);
        let next = self.interval_end;
        let drives = self.system.drives.iter_mut().enumerate().filter_map(|(index, drive)| {
            let counters = drive.take_settled(next);
            (counters != Counters::default()).then_some((index, counters))
        });
        let drives = drives.collect();
        self.samples.push(Sample { start, length: end - start, drives });
    }

    pub(super) fn finish(mut self, stopped: bool) -> Vec<PhaseOutput> {
        let too_long = self.events.first().is_some_and(|(at, _)| at >= CLOCK_END);
        let last_end = |task: &Task| {
            let closed = task.closed.map_or(task.io[1], |closed| closed[1]);
            if closed == u64::MAX { task.io[1] } else { closed }
        };
        let end_of = |(of, phase): (usize, &RunningPhase<'_>)| {
            let ends = self.tasks[self.tasks_of(of)].iter().map(last_end);
            ends.max().unwrap_or(phase.start).max(phase.start + TICKS_PER_NS)
        };
        let ends: Vec<Ticks> = self.phases.iter().enumerate().map(end_of).collect();
        let end_of_all = ends.iter().copied().max().unwrap_or(self.system.now);
        let sampled = self.samples.last().map_or(self.system.now, |sample| sample.start + sample.length);
        self.take_sample(end_of_all.max(sampled + 1));
        self.system.now = end_of_all;
        let mut outputs = Vec::new();
        for (of, end) in (0..self.phases.len()).zip(ends).rev() {
            let tasks = self.tasks.split_off(self.phases[of].first_task);
            outputs.extend(self.phases.pop().map(|phase| {
                let samples = self.samples_of(&phase, end, end == end_of_all);
                self.output(phase, tasks, samples, (end, stopped, too_long))
            }));
        }
        outputs.reverse();
        outputs
    }

    /// The counters of all devices in the intervals of a phase, with what other phases do at the same time.
    fn samples_of(&self, phase: &RunningPhase<'_>, end: Ticks, is_last: bool) -> Vec<Sample> {
        let mut all: Vec<Sample> = Vec::new();
        let mut last = None;
        let own = self.samples.iter().filter(|one| one.start >= phase.start && (is_last || one.start < end));
        for sample in own {
            let until = (sample.start + sample.length).saturating_sub(1).max(sample.start);
            let interval = (until - phase.start) / self.interval;
            match all.last_mut().filter(|_| last == Some(interval)) {
                Some(before) => before.add(sample),
                None => all.push(sample.clone()),
            }
            last = Some(interval);
        }
        all
    }

    fn output(
        &self,
        phase: RunningPhase<'_>,
        mut tasks: Vec<Task>,
        samples: Vec<Sample>,
        (end, stopped, too_long): (Ticks, bool, bool),
    ) -> PhaseOutput {
        for task in &mut tasks {
            let ended = task.io[1];
            let closed = task.closed.get_or_insert([ended; 2]);
            if closed[1] == u64::MAX {
                closed[1] = end;
            }
        }
        let operations = tasks.iter().flat_map(|task| task.done).sum::<u64>();
        PhaseOutput {
            processor_time: match (&phase.exchanges, &self.jobs) {
                (Some(exchanges), _) => exchanges.processor_time(),
                (_, Some(jobs)) => jobs.processor_time,
                _ => phase.request_time.saturating_mul(operations),
            },
            ends: phase.exchanges.as_ref().map(Exchanges::outcomes).unwrap_or_default(),
            extrapolated: self.steady.extrapolated(),
            stonewall: phase.stonewalled(),
            first_done: phase.first_done.unwrap_or((end - phase.start, phase.moved)),
            tasks,
            recording: phase.recording,
            start: phase.start,
            end,
            samples,
            stopped,
            too_long,
            unstarted: phase.unstarted,
        }
    }
}

impl Sample {
    /// Adds the interval after it.
    fn add(&mut self, next: &Self) {
        self.length += next.length;
        for (drive, counters) in &next.drives {
            match self.drives.binary_search_by_key(drive, |(drive, _)| *drive) {
                Ok(place) => self.drives[place].1.add(counters),
                Err(place) => self.drives.insert(place, (*drive, *counters)),
            }
        }
    }
}
