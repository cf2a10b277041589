//! The end of tasks, and what a phase leaves behind.

use engine::Stonewalled;
use plan::Phase;

use super::{PhaseOutput, Running, Sample, narrow};
use crate::simulation::exchanges::Exchanges;
use crate::simulation::parts::drive::Counters;
use crate::simulation::parts::service::whole;
use crate::simulation::request::Request;
use crate::simulation::task::Task;
use crate::simulation::time::{CLOCK_END, TICKS_PER_NS, Ticks, ns};

impl Running<'_> {
    /// Handles a task that has no operation in flight and begins no other one.
    pub(super) fn task_is_over(&mut self, now: Ticks, index: u32) {
        let task = &mut self.tasks[index as usize];
        if task.is_over {
            return;
        }
        task.is_over = true;
        self.left -= 1;
        self.unstarted += self.unstarted_of(index);
        let ending = self.input.job.ending();
        let wears = ending.wears_out();
        let by_deadline = self.deadline != u64::MAX && now >= self.deadline;
        if by_deadline && ending.is_stonewall() {
            self.stonewall = Some((now, self.moved));
        }
        self.write_gathered(now, index);
        let together = self.input.job.workload.barriers;
        if !(wears && by_deadline) {
            let (first, moved) = (now - self.first_io.min(now), self.moved);
            self.first_done.get_or_insert((first, moved));
            if !together {
                self.close(now, index);
            }
        }
        if self.left == 0 && wears && self.worn.is_none() && self.stonewall.is_some() {
            self.wear_out(now);
        }
        if self.left == 0 && together {
            (0..narrow(self.tasks.len())).for_each(|index| self.close(now, index));
        }
    }

    /// In an open loop: number of operations that were due before the deadline and have not begun.
    pub(super) fn unstarted_of(&self, index: u32) -> u64 {
        let task = &self.tasks[index as usize];
        let Some((each, between)) = self.pace.filter(|_| self.deadline != u64::MAX) else { return 0 };
        let time = (self.deadline - self.first_io) as f64 - between * f64::from(task.number);
        whole((time / each).ceil().max(0.0)).saturating_sub(task.issued)
    }

    /// Makes all tasks continue after the stonewall to as many operations as the fastest one has done.
    pub(super) fn wear_out(&mut self, now: Ticks) {
        let worn = self.tasks.iter().map(|task| task.issued).max().unwrap_or(0);
        self.worn = Some(worn);
        self.deadline = u64::MAX;
        for index in 0..self.tasks.len() {
            let task = &mut self.tasks[index];
            if task.issued < worn.min(task.limit) {
                task.is_over = false;
                self.left += 1;
                let number = self.requests.add(Request::new(narrow(index), self.tasks[index].node));
                self.following.push((now, number));
            } else if task.closed.is_none() && !self.input.job.workload.barriers {
                self.close(now, narrow(index));
            }
        }
    }

    /// Closes the file of a task, and waits for its data if that is requested.
    pub(super) fn close(&mut self, now: Ticks, index: u32) {
        let workload = self.input.job.workload;
        let syncs = workload.sync.at_close || self.input.job.phase == Phase::Fill;
        let task = &mut self.tasks[index as usize];
        let waits = syncs && task.unwritten > 0;
        task.closed = Some([now, if waits { u64::MAX } else { now }]);
        self.syncing += usize::from(waits);
    }

    /// Whether all tasks have ended and their files are closed. Page caches may still be writing.
    pub(super) fn is_over(&self) -> bool {
        self.left == 0 && self.syncing == 0
    }

    /// Reads the counters of the devices up to `now`.
    pub(super) fn sample(&mut self, now: Ticks) {
        while self.interval_end <= now {
            let end = self.interval_end;
            // What happens during intervals without any event belongs to the one after them.
            let skipped = (now - end) / self.interval;
            self.interval_end += self.interval * (skipped + 1);
            self.take_sample(end);
        }
    }

    pub(super) fn take_sample(&mut self, end: Ticks) {
        self.system.drives.iter_mut().for_each(|drive| drive.settle(end));
        self.take_settled_sample(end);
    }

    /// Ends an interval with what has been counted of it.
    pub(super) fn take_settled_sample(&mut self, end: Ticks) {
        let start = self.samples.last().map_or(self.start, |sample| sample.start + sample.length);
        let next = self.interval_end;
        let drives = self.system.drives.iter_mut().enumerate().filter_map(|(index, drive)| {
            let counters = drive.take_settled(next);
            (counters != Counters::default()).then_some((index, counters))
        });
        let drives = drives.collect();
        self.samples.push(Sample { start, length: end - start, drives });
    }

    pub(super) fn finish(mut self, stopped: bool) -> PhaseOutput {
        let too_long = self.events.first().is_some_and(|(at, _)| at >= CLOCK_END);
        let last_end = |task: &Task| {
            let closed = task.closed.map_or(task.io[1], |closed| closed[1]);
            if closed == u64::MAX { task.io[1] } else { closed }
        };
        let end = self.tasks.iter().map(last_end).max().unwrap_or(self.start).max(self.start + TICKS_PER_NS);
        for task in &mut self.tasks {
            let ended = task.io[1];
            let closed = task.closed.get_or_insert([ended; 2]);
            if closed[1] == u64::MAX {
                closed[1] = end;
            }
        }
        self.take_sample(end.max(self.interval_end.saturating_sub(self.interval) + 1));
        self.system.now = end;
        let stonewall = self.stonewall.map(|(at, bytes)| Stonewalled {
            ns: ns(at - self.first_io.min(at)),
            bytes,
            worn_out_transfers: self.worn,
        });
        let first_done = self.first_done.unwrap_or((end - self.start, self.moved));
        let operations = self.tasks.iter().flat_map(|task| task.done).sum::<u64>();
        let ends = self.exchanges.as_ref().map(Exchanges::outcomes).unwrap_or_default();
        PhaseOutput {
            processor_time: match (&self.exchanges, &self.jobs) {
                (Some(exchanges), _) => exchanges.processor_time(),
                (_, Some(jobs)) => jobs.processor_time,
                _ => self.request_time.saturating_mul(operations),
            },
            ends,
            extrapolated: self.steady.extrapolated(),
            tasks: self.tasks,
            recording: self.recording,
            start: self.start,
            end,
            stonewall,
            first_done,
            samples: self.samples,
            stopped,
            too_long,
            unstarted: self.unstarted,
        }
    }
}
