//! A phase in which nothing is random and that repeats itself: its period, and the whole periods that are not simulated.
//!
//! Models with fixed times soon do the same again and again. A turn ends with each operation of the first task, or with
//! as many as it has in flight. If the number of all operations, their latencies and the length of the turns were alike
//! three times in a row, two more periods are compared in all details: the operations of each task, what fills and
//! empties, and that no random number was drawn. Then the clock is moved by whole periods.

use plan::{Order, Phase, Sharing};

use super::steady::{SteadyWindow, TaskRate};
use super::transfer::GATHERED_BYTES;
use super::{ALONE, Running};
use crate::simulation::parts::drive::Drive;
use crate::simulation::repeats::{Checked, State, since};
use crate::simulation::time::Ticks;

/// At most this number of times the time so far is not simulated, until the period is looked at again.
const TIMES_MAX: u64 = 64;

/// A check takes at most one of this number of parts of what is left.
const CHECKED_SHARE: f64 = 4.0;

impl Running<'_> {
    /// Begins the search.
    pub(super) fn seek_repeats(&mut self, now: Ticks) {
        let workload = self.phases[ALONE].input.job.workload;
        // In an open loop operations are due at times of their own, and reads among writes come at random.
        let is_regular = self.phases[ALONE].pace.is_none()
            && (workload.work.is_transfers() || self.phases[ALONE].exchanges.is_some())
            && self.phases[ALONE].input.job.phase != Phase::Mixed
            && self.system.drives.iter().all(|drive| !drive.has_load());
        if self.steady.is_possible && is_regular && self.cycle().is_some() {
            self.steady.repeats.forget(self.state(now));
            self.steady.repeats.next = self.end_of_turn();
        }
    }

    /// The bytes after which a task is at the same place relative to chunks, stripes and units of a page cache; 1 if all
    /// places are alike. `None` if its places have no order, or if what happens at the end of a file or block counts.
    fn cycle(&self) -> Option<u64> {
        if self.phases[ALONE].exchanges.is_some() {
            return Some(1);
        }
        let workload = self.phases[ALONE].input.job.workload;
        let striping = &self.phases[ALONE].path.striping;
        let unit = if self.phases[ALONE].buffered {
            lcm(striping.gathered(GATHERED_BYTES), self.read_ahead_unit(ALONE))
        } else {
            1
        };
        let cycle = lcm(striping.cycle(), unit);
        let place_counts =
            self.phases[ALONE].buffered || self.system.drives.iter().any(Drive::depends_on_place);
        if cycle == 1 && !place_counts {
            return Some(1);
        }
        let is_in_order = workload.order == Order::Sequential
            && (workload.geometry.segments == 1 || workload.files.sharing != Sharing::Shared);
        // A file whose end is amid a stripe shifts the places of its task when it is read or written again.
        let begins_again = self.phases[ALONE].deadline != u64::MAX;
        let shifts =
            begins_again && (place_counts || !self.phases[ALONE].bytes_of_task.is_multiple_of(cycle));
        (is_in_order && !shifts).then_some(cycle)
    }

    fn state(&self, now: Ticks) -> State {
        let (operations, latency_ns) = self.phases[ALONE].recording.recorded();
        State { at: now, operations, latency_ns, ahead: self.events.ahead(now) }
    }

    pub(super) fn done_by_first(&self) -> u64 {
        self.tasks.first().map_or(0, |task| task.done.iter().sum())
    }

    /// Number of operations of the first task at which a turn ends that begins now.
    fn end_of_turn(&self) -> u64 {
        self.done_by_first() + u64::from(self.phases[ALONE].input.job.workload.backend.depth().max(1))
    }

    /// Searches in the window that begins now, too.
    pub(super) fn search_repeats(&mut self, now: Ticks) {
        if self.steady.repeats.has_ended() {
            self.seek_repeats(now);
        }
        self.steady.repeats.search();
    }

    /// Ends a turn, and the search when whole periods were not simulated.
    pub(super) fn end_turn(&mut self, now: Ticks) {
        self.look_at_turn(now);
        if self.steady.repeats.checked.is_none() && self.steady.repeats.has_ended() {
            self.steady.repeats.next = u64::MAX;
        }
    }

    fn look_at_turn(&mut self, now: Ticks) {
        let state = self.state(now);
        self.steady.repeats.next = self.end_of_turn();
        self.steady.repeats.end(state);
        let Some(mut checked) = self.steady.repeats.checked.take() else {
            if let Some(period) = self.steady.repeats.period() {
                self.check_period(now, period);
            }
            return;
        };
        checked.turns += 1;
        if checked.turns == checked.period {
            checked.middle = state;
            self.steady.begin.half = self.tasks.iter().map(|task| task.done).collect();
        }
        if checked.turns < 2 * checked.period {
            self.steady.repeats.checked = Some(checked);
            return;
        }
        let window = self.repeated(now, &checked);
        if let Some(longer) = window.as_ref().err().copied().flatten()
            && self.has_time_for(now, checked.begin, longer as f64 / (2 * checked.period) as f64)
        {
            return self.check_period(now, longer);
        }
        if let Ok(window) = window {
            let changes = self.changes(&window);
            let longest =
                self.time_to_skip(now, &window).min(TIMES_MAX * (now - self.phases[ALONE].first_io));
            let longest = longest.min(self.time_to_fill(&changes));
            let time = longest - longest % window.length;
            if time > 0 {
                self.fill(time, &changes);
                self.skip(now, time, &window);
                self.begin_window(now + time);
                self.seek_repeats(now + time);
                return self.check_period(now + time, checked.period);
            }
        }
        self.restart_window(now);
        self.steady.repeats.refuse(checked.period);
    }

    /// Whether a check that is so many `times` as long as the one since `begin` is short against what is left.
    fn has_time_for(&self, now: Ticks, begin: State, times: f64) -> bool {
        let first = &self.tasks[0];
        let done: u64 = first.done.iter().sum::<u64>() - self.steady.begin.done[0].iter().sum::<u64>();
        let left = first.limit.saturating_sub(first.issued) as f64;
        times * CHECKED_SHARE * (done as f64) < left
            && times * CHECKED_SHARE * ((now - begin.at) as f64)
                < self.phases[ALONE].deadline.saturating_sub(now) as f64
    }

    /// Begins to compare two periods of this number of turns.
    fn check_period(&mut self, now: Ticks, period: usize) {
        self.restart_window(now);
        let levels = self.levels();
        self.steady.levels.push(levels);
        // The window ends with its two periods, not with its batches.
        self.steady.next = u64::MAX;
        let begin = self.state(now);
        self.steady.repeats.checked = Some(Checked { period, turns: 0, begin, middle: begin });
    }

    /// The two periods that were `checked`, if they were the same. Otherwise a longer period to look at, if there may be
    /// one.
    fn repeated(&mut self, now: Ticks, checked: &Checked) -> Result<SteadyWindow, Option<usize>> {
        let Checked { begin, middle, .. } = *checked;
        let is_same = since(begin, middle).is_like(&since(middle, self.state(now)))
            && self.steady.begin.random == self.system.random_states()
            && self.waited == self.steady.begin.waited
            && self.phases[ALONE].worn.is_none();
        if !is_same {
            return Err(None);
        }
        let cycle = self.cycle().ok_or(None)?;
        let length = now - begin.at;
        let mut tasks = vec![TaskRate::default(); self.tasks.len()];
        let mut longer = 1;
        for members in self.positions() {
            // Tasks may take turns in a longer period than all of them together have.
            let halves = self.halves(&members, cycle == 1).ok_or(Some(2 * checked.period))?;
            if cycle > 1 {
                let each = halves[0].iter().sum::<u64>() / members.len() as u64;
                let advance = each * self.phases[ALONE].input.job.workload.geometry.transfer.0;
                longer = lcm(longer, cycle / gcd(advance, cycle));
            }
            let count = members.len() as f64 * length as f64;
            let mean = |kind: usize| (halves[0][kind] + halves[1][kind]) as f64 / count;
            let rate = TaskRate { per_tick: std::array::from_fn(mean), walk: 0.0 };
            members.into_iter().for_each(|index| tasks[index] = rate);
        }
        if longer > 1 {
            return Err(usize::try_from(longer).ok().and_then(|times| checked.period.checked_mul(times)));
        }
        let drives = self.work_of_window(begin.at, now).ok_or(None)?;
        Ok(SteadyWindow { length, rate_error: 0.0, latency_error: 0.0, is_exact: true, drives, tasks })
    }

    /// The operations of tasks in the same position in both periods, if they were the same and each of the tasks did
    /// something. If all places are `alike`, a task may have done one operation more than another, which is next.
    fn halves(&self, members: &[usize], alike: bool) -> Option<[[u64; 3]; 2]> {
        let mut sums = [[0; 3]; 2];
        let mut least_and_most = (u64::MAX, 0);
        for &index in members {
            let task = &self.tasks[index];
            let (before, half) = (self.steady.begin.done[index], self.steady.begin.half[index]);
            let of = |until: [u64; 3], from: [u64; 3]| std::array::from_fn(|kind| until[kind] - from[kind]);
            let halves: [[u64; 3]; 2] = [of(half, before), of(task.done, half)];
            for each in halves.map(|half| half.iter().sum::<u64>()) {
                least_and_most = (least_and_most.0.min(each), least_and_most.1.max(each));
            }
            for (sums, half) in sums.iter_mut().zip(halves) {
                sums.iter_mut().zip(half).for_each(|(sum, one)| *sum += one);
            }
        }
        let (least, most) = least_and_most;
        (sums[0] == sums[1] && least > 0 && most - least <= u64::from(alike)).then_some(sums)
    }

    /// By how much each level changes per tick, as a share of its limit.
    fn changes(&self, window: &SteadyWindow) -> Vec<f64> {
        let levels = self.levels();
        let pairs = self.steady.levels[0].iter().zip(&levels);
        let changes = pairs.map(|(before, after)| ((after.filled - before.filled).abs(), before.limit));
        changes
            .map(|(change, limit)| if change > 0.0 { change / limit / window.length as f64 } else { 0.0 })
            .collect()
    }
}

/// The greatest common divisor.
const fn gcd(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { gcd(other, one % other) }
}

/// The least common multiple, or the largest number.
const fn lcm(one: u64, other: u64) -> u64 {
    (one / gcd(one, other)).saturating_mul(other)
}
