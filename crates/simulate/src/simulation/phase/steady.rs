//! The steady state of a phase, and what it gives in the time that is not simulated.
//!
//! A phase is simulated in windows, each as long as everything before it. A window is steady if its batches (method of
//! batch means: Law, Simulation Modeling and Analysis, 5th edition, section 9.5.3) have no trend, if the rate and the
//! percentiles are known well enough from it, and if nothing fills or empties. Then the clock is moved by a time in
//! which no task ends and no trouble begins, everything in flight with it, and the window counts as often as it fits
//! into this time. The rest is simulated again.

use std::collections::HashMap;

use analysis::statistics::Summary;
use engine::LatencyHistogram;
use plan::{Operation, Order, Phase};

use super::{ALONE, Running};
use crate::simulation::exchanges::Exchanges;
use crate::simulation::parts::drive::{Counters, Drive, Level};
use crate::simulation::parts::service::{normal, whole};
use crate::simulation::parts::station::{READ, WRITE};
use crate::simulation::recording::{Sums, Window};
use crate::simulation::steady::{Batch, Begin};
use crate::simulation::task::{ITEMS, Program, READS, WRITES, depth_of};
use crate::simulation::time::Ticks;

/// Number of batches of a window.
const BATCHES: usize = 16;
/// Student's t for 95 % with one degree of freedom less.
const STUDENT: f64 = 2.131;
/// Least number of operations in a batch, and of a window for each operation that is in flight.
const BATCH_MIN: u64 = 64;
const TURNS_MIN: u64 = 4;
/// Most that half of the 95 % interval of the rate may be, as a share of the rate.
const RATE_ERROR: f64 = 0.005;
/// The same for the mean latency.
const LATENCY_ERROR: f64 = 0.01;
/// Percentiles, and the most that their 95 % intervals may be, as a share of them.
const PERCENTILES: [(f64, f64); 2] = [(0.5, 0.02), (0.99, 0.1)];
/// If more than this share of the operations has the same latency, that share may change slowly. The intervals of
/// percentiles are then wider by this many times its change since the window before.
const ALIKE: f64 = 0.02;
const CHANGES: f64 = 2.0;
/// Most that the mean latency may drift in the time that is not simulated, and percentiles as a share of their widths.
const DRIFT: f64 = 0.003;
const DRIFT_OF_WIDTH: f64 = 0.2;
/// The time that was simulated is at most doubled this often if nothing is random: at least half of a phase is simulated.
const DOUBLINGS_MAX: f64 = 1.0;
/// The same while chance has not mixed the tasks: each has done fewer operations than this.
const DOUBLINGS_MIXING: f64 = 3.0;
const TURNS_MIXED: u64 = 4096;
/// Both halves of a window may differ by this number of standard errors and this share.
const TREND_ERRORS: f64 = 2.5;
const TREND_SHARE: f64 = 0.003;
/// Most that a level may change in all times that are not simulated, as a share of its limit.
const LEVEL_CHANGE: f64 = 0.002;
/// A level above this share of its limit is full.
const FULL: f64 = 0.95;
/// The time that is not simulated is at least this many windows.
const WINDOWS_MIN: f64 = 1.0;
/// More than the rounding error of a number of operations.
const ROUNDING: f64 = 1e-4;
/// The share of the remaining time or operations that is simulated at the end.
const END_SHARE: f64 = 0.02;

impl Running<'_> {
    /// Begins the search at `now`.
    pub(super) fn seek_steady(&mut self, now: Ticks) {
        if self.steady.is_possible {
            let in_flight = self.in_flight();
            self.steady.batch = (in_flight / TURNS_MIN).max(BATCH_MIN);
            self.begin_window(now);
        }
    }

    /// Operations that may be in flight.
    fn in_flight(&self) -> u64 {
        let workload = self.phases[ALONE].input.job.workload;
        self.phases[ALONE].left as u64 * u64::from(depth_of(workload))
    }

    pub(super) fn begin_window(&mut self, now: Ticks) {
        self.phases[ALONE].recording.begin_window();
        self.search_repeats(now);
        self.begin_batches(now);
    }

    /// Begins the window anew.
    pub(super) fn restart_window(&mut self, now: Ticks) {
        let _ = self.phases[ALONE].recording.restart_window();
        self.begin_batches(now);
    }

    fn begin_batches(&mut self, now: Ticks) {
        self.steady.repeats.checked = None;
        let (operations, latency_ns) = self.phases[ALONE].recording.recorded();
        self.steady.begin = Begin {
            done: self.tasks.iter().map(|task| task.done).collect(),
            half: Vec::new(),
            drives: self.drive_counters(now),
            waited: self.waited,
            used: self.phases[ALONE]
                .exchanges
                .as_ref()
                .map(|all| all.threads.used_by_each())
                .unwrap_or_default(),
            random: self.system.random_states(),
        };
        self.steady.levels.clear();
        self.steady.batches = vec![Batch { at: now, operations, latency_ns }];
        self.steady.next = operations + self.steady.batch;
    }

    /// What each device has done by `now`.
    fn drive_counters(&mut self, now: Ticks) -> Vec<Counters> {
        let counters = |drive: &mut Drive| {
            drive.settle(now);
            drive.all_counters()
        };
        self.system.drives.iter_mut().map(counters).collect()
    }

    /// What must not change in a steady state.
    pub(super) fn levels(&self) -> Vec<Level> {
        let limit = self.limits.cache.map_or(0, |(_, dirty)| dirty) as f64;
        let dirty =
            self.system.nodes.iter().map(|node| Level { filled: node.dirty as f64, limit, holds: true });
        let under_way: u64 = self.tasks.iter().map(|task| u64::from(task.under_way)).sum();
        let under_way = Level { filled: under_way as f64, limit: self.in_flight() as f64, holds: false };
        let drives = self.system.drives.iter().flat_map(|drive| drive.levels());
        let backlog = self.backlog();
        dirty.chain([under_way]).chain(drives).chain(backlog).collect()
    }

    /// In an open loop: how far the operations are behind.
    fn backlog(&self) -> Option<Level> {
        let (each, between) = self.phases[ALONE].pace?;
        let now = self.events.first().map_or(self.phases[ALONE].start, |(at, _)| at);
        let due = |task: &crate::simulation::task::Task| {
            let due = each * task.issued as f64 + between * f64::from(task.number);
            (now.saturating_sub(self.phases[ALONE].first_io) as f64 - due).max(0.0) / each
        };
        Some(Level { filled: self.tasks.iter().map(due).sum(), limit: self.tasks.len() as f64, holds: false })
    }

    /// Ends a batch, and a window after the last of its batches.
    pub(super) fn end_batch(&mut self, now: Ticks) {
        let (operations, latency_ns) = self.phases[ALONE].recording.recorded();
        self.steady.batches.push(Batch { at: now, operations, latency_ns });
        self.steady.next = operations + self.steady.batch;
        let levels = self.levels();
        self.steady.levels.push(levels);
        if self.steady.batches.len() == BATCHES / 2 + 1 {
            self.steady.begin.half = self.tasks.iter().map(|task| task.done).collect();
        }
        if self.steady.batches.len() <= BATCHES {
            return;
        }
        let Some(window) = self.steady_window(now) else {
            self.steady.batch *= 2;
            return self.begin_window(now);
        };
        let changes = self.changes_of_levels(&window);
        let longest = self
            .time_to_skip(now, &window)
            .min(self.time_to_fill(&changes))
            .min(self.time_to_drift(now, &window));
        let time = self.whole_turns(longest);
        if (time as f64) < WINDOWS_MIN * window.length as f64 {
            self.steady.batch *= 2;
            return self.begin_window(now);
        }
        let changed = self.phases[ALONE]
            .recording
            .windows()
            .filter_map(|(one, before)| Some(change_of_mean(one, before?)));
        let changed = changed.fold(0.0, f64::max);
        self.fill(time, &changes);
        self.skip(now, time, &window);
        self.steady.error = self.steady.error.max(window.rate_error + changed);
        self.begin_window(now + time);
        self.seek_repeats(now + time);
    }

    /// The window that has ended, if it is steady.
    fn steady_window(&mut self, now: Ticks) -> Option<SteadyWindow> {
        let batches = &self.steady.batches;
        let (first, last) = (batches[0], batches[BATCHES]);
        let (length, operations) = (last.at - first.at, last.operations - first.operations);
        let is_short = length == 0 || operations < self.in_flight() * TURNS_MIN;
        if is_short || self.phases[ALONE].worn.is_some() {
            return None;
        }
        let of = |value: fn(&Batch, &Batch) -> f64| -> Vec<f64> {
            batches.windows(2).map(|pair| value(&pair[0], &pair[1])).collect()
        };
        let times =
            of(|one, next| (next.at - one.at) as f64 / (next.operations - one.operations).max(1) as f64);
        let latencies = of(|one, next| {
            (next.latency_ns - one.latency_ns) as f64 / (next.operations - one.operations).max(1) as f64
        });
        let (rate_error, latency_error) = (error_of_mean(&times), error_of_mean(&latencies));
        let is_known = rate_error <= RATE_ERROR
            && latency_error <= LATENCY_ERROR
            && !has_trend(&times)
            && !has_trend(&latencies);
        let dependence =
            dependence(&latencies, self.phases[ALONE].recording.windows().map(|(window, _)| window));
        let mut windows = self.phases[ALONE].recording.windows();
        if !is_known || !windows.all(|(window, previous)| has_percentiles(window, previous, dependence)) {
            return None;
        }
        drop(windows);
        let drives = self.work_of_window(first.at, now)?;
        Some(SteadyWindow {
            length,
            rate_error,
            latency_error,
            is_exact: false,
            drives,
            tasks: self.task_rates(),
        })
    }

    /// The time in which latencies stay as they are. Tasks whose times are all fixed synchronise with each other, the more
    /// slowly the longer they run: about as much changes from each window to the next one, which is twice as long. They do
    /// not while they are not simulated, so only the time that was simulated makes them older. Tasks whose times are random
    /// spread over the devices, which may be so slow that the change from window to window is less than chance.
    fn time_to_drift(&self, now: Ticks, window: &SteadyWindow) -> Ticks {
        let chance = self.has_chance().then_some(window.latency_error);
        let doublings = self.phases[ALONE]
            .recording
            .windows()
            .map(|(window, previous)| previous.map_or(0.0, |previous| doublings(window, previous, chance)));
        let turns = self.phases[ALONE].recording.recorded().0 / self.in_flight();
        let most = match chance {
            None => DOUBLINGS_MAX,
            Some(_) if turns < TURNS_MIXED => DOUBLINGS_MIXING,
            Some(_) => f64::INFINITY,
        };
        let times = libm::exp2(doublings.fold(most, f64::min));
        let so_far = now - self.phases[ALONE].first_io;
        let simulated = so_far - self.steady.skipped;
        whole(simulated as f64 * times).saturating_sub(so_far)
    }

    /// Whether chance decides what happens.
    fn has_chance(&self) -> bool {
        let job = self.phases[ALONE].input.job;
        matches!(job.workload.order, Order::Random { .. })
            || job.phase == Phase::Mixed
            || self.steady.begin.random != self.system.random_states()
    }

    /// The work of each device since the window began at `begin`. `None` if one of them has not been the same all the
    /// time.
    pub(super) fn work_of_window(&mut self, begin: Ticks, now: Ticks) -> Option<Vec<Counters>> {
        let counters = self.drive_counters(now).into_iter().zip(&self.steady.begin.drives);
        let drives: Vec<Counters> = counters.map(|(counters, before)| counters.since(before)).collect();
        let mut troubled = self.system.drives.iter().zip(&drives).filter(|(_, work)| work.requests != [0, 0]);
        troubled.all(|(drive, _)| drive.is_even(begin, now)).then_some(drives)
    }

    /// By how much each level changes per tick, as a share of its limit, if it goes on as between the halves of the window.
    /// What holds bytes changes as much as chance allows, unless it is full; anything else only if it is more than chance.
    fn changes_of_levels(&self, window: &SteadyWindow) -> Vec<f64> {
        let levels = &self.steady.levels;
        let of_level = |place: usize| {
            let filled: Vec<f64> = levels.iter().map(|all| all[place].filled).collect();
            let (change, error) = change(&filled);
            let Level { limit, holds, .. } = levels[0][place];
            let chance = TREND_ERRORS * error;
            let is_full = filled.iter().all(|filled| *filled >= limit * FULL);
            let change = match (holds && !is_full, change > chance) {
                (true, _) => change + chance,
                (false, true) => change,
                (false, false) => 0.0,
            };
            if change > 0.0 { change / limit / (window.length as f64 / 2.0) } else { 0.0 }
        };
        (0..levels[0].len()).map(of_level).collect()
    }

    /// The time in which no level changes by more than it may in all times that are not simulated.
    pub(super) fn time_to_fill(&self, changes: &[f64]) -> Ticks {
        let rest = |place: usize| LEVEL_CHANGE - self.steady.filled.get(place).unwrap_or(&0.0);
        let changes = changes.iter().enumerate().filter(|(_, change)| **change > 0.0);
        let times = changes.map(|(place, change)| rest(place).max(0.0) / change);
        whole(times.fold(f64::INFINITY, f64::min))
    }

    /// Counts what would change in `time`, which is not simulated.
    pub(super) fn fill(&mut self, time: Ticks, changes: &[f64]) {
        self.steady.filled.resize(changes.len(), 0.0);
        let filled = self.steady.filled.iter_mut().zip(changes);
        filled.for_each(|(filled, per_tick)| *filled += per_tick * time as f64);
    }

    /// The tasks in each position, by index: with as many others on their node, and on the same device.
    pub(super) fn positions(&self) -> Vec<Vec<usize>> {
        let mut on_node = vec![0_u32; self.system.nodes.len()];
        self.tasks.iter().for_each(|task| on_node[task.node as usize] += 1);
        let mut positions: HashMap<(u32, u32, u32), Vec<usize>> = HashMap::new();
        for (index, task) in self.tasks.iter().enumerate() {
            let node = if self.phases[ALONE].path.local { task.node } else { 0 };
            // Each name of a tree has a file of its own, on any device.
            let device = match task.program {
                Program::Items(_) => 0,
                // Each connection has ends of its own.
                Program::Exchanges => task.number,
                _ => self.phases[ALONE].path.striping.first_device_of_part(task.place),
            };
            positions.entry((on_node[task.node as usize], node, device)).or_default().push(index);
        }
        positions.into_values().collect()
    }

    /// Operations of each task per tick: those of tasks that are in the same position have the same mean.
    fn task_rates(&self) -> Vec<TaskRate> {
        let batches = &self.steady.batches;
        let length = (batches[BATCHES].at - batches[0].at) as f64;
        let mut rates = vec![TaskRate::default(); self.tasks.len()];
        for members in self.positions() {
            let counts = |from: &[[u64; 3]], until: &dyn Fn(usize) -> [u64; 3]| -> Vec<[f64; 3]> {
                let of = |&index: &usize| {
                    std::array::from_fn(|kind| (until(index)[kind] - from[index][kind]) as f64)
                };
                members.iter().map(of).collect()
            };
            let (begin, half) = (&self.steady.begin.done, &self.steady.begin.half);
            let done = |index: usize| self.tasks[index].done;
            let whole = counts(begin, &done);
            let halves = [counts(begin, &|index| half[index]), counts(half, &done)];
            let sums = |all: &[[f64; 3]]| all.iter().map(|one| one.iter().sum()).collect::<Vec<f64>>();
            // Differences between tasks that grow with the time are those of a random walk.
            let variance = |all: &[[f64; 3]]| summary(&sums(all)).deviation_sample.powi(2);
            let spread = variance(&whole);
            let of_halves = (variance(&halves[0]) + variance(&halves[1])) / 2.0;
            let walk = 2.0 * (spread - of_halves).max(0.0) / length;
            let mean =
                |kind: usize| whole.iter().map(|one| one[kind]).sum::<f64>() / members.len() as f64 / length;
            let rate = TaskRate { per_tick: std::array::from_fn(mean), walk };
            members.iter().for_each(|&index| rates[index] = rate);
        }
        rates
    }

    /// The longest time in which no task ends, no operation would be begun too late and no trouble begins.
    pub(super) fn time_to_skip(&self, now: Ticks, window: &SteadyWindow) -> Ticks {
        let kept = if window.is_exact { 0.0 } else { END_SHARE };
        let mut most = self.phases[ALONE].deadline.saturating_sub(now);
        most -= whole(most as f64 * kept).max(window.length / 8).min(most);
        let by_count = self.tasks.iter().zip(&window.tasks).filter(|(task, _)| task.limit != u64::MAX);
        for (task, rate) in by_count {
            let left = task.limit.saturating_sub(task.issued) as f64;
            let each: f64 = rate.per_tick.iter().sum();
            if each > 0.0 {
                let expected = left / each;
                // Four standard deviations of the random walk are kept back.
                let kept = (left * kept).max(2.0) + 4.0 * (rate.walk * expected).sqrt();
                most = most.min(whole(((left - kept) / each).max(0.0)));
            }
        }
        let drives =
            self.system.drives.iter().zip(&window.drives).filter(|(_, work)| work.requests != [0, 0]);
        for (drive, _) in drives {
            most = most.min(drive.next_trouble(now).saturating_sub(now).saturating_sub(window.length / 8));
        }
        most
    }

    /// In an open loop as much of `time` as is whole turns, so that each operation is due as long after the one before it
    /// as without the skip.
    fn whole_turns(&self, time: Ticks) -> Ticks {
        match self.phases[ALONE].pace {
            Some((each, _)) => whole((time as f64 / each).floor() * each),
            None => time,
        }
    }

    /// Moves the clock by `time`, in which everything goes on as in `window`.
    pub(super) fn skip(&mut self, now: Ticks, time: Ticks, window: &SteadyWindow) {
        let mut moved = HashMap::new();
        let walks: Vec<f64> = window
            .tasks
            .iter()
            .map(|rate| if rate.walk > 0.0 { normal(&mut self.system.random) } else { 0.0 })
            .collect();
        let mut owed = [0.0; 3];
        for ((task, rate), walk) in self.tasks.iter_mut().zip(&window.tasks).zip(walks) {
            let each: f64 = rate.per_tick.iter().sum();
            let (most, mut issued) = (task.limit.saturating_sub(task.issued).saturating_sub(1), 0);
            let further = (rate.walk * time as f64).sqrt() * walk;
            for kind in [READS, WRITES, ITEMS] {
                let share = if each > 0.0 { rate.per_tick[kind] / each } else { 0.0 };
                let exact = match self.phases[ALONE].pace {
                    Some((turn, _)) => (time as f64 / turn).round() * share,
                    None => rate.per_tick[kind] * time as f64 + further * share,
                };
                owed[kind] += exact.max(0.0);
                // A whole number of periods gives a whole number, but for rounding.
                let count = whole((owed[kind] + ROUNDING).floor()).min(most - issued);
                owed[kind] -= count as f64;
                issued += count;
                task.done[kind] += count;
                let (operation, bytes) = match &task.program {
                    Program::Items(items) => (items.operation, items.bytes),
                    Program::Exchanges => (
                        Operation::Exchange,
                        self.phases[ALONE].exchanges.as_ref().map_or(0, Exchanges::bytes),
                    ),
                    _ if kind == WRITES => {
                        (Operation::Write, self.phases[ALONE].input.job.workload.geometry.transfer.0)
                    }
                    _ => (Operation::Read, self.phases[ALONE].input.job.workload.geometry.transfer.0),
                };
                task.bytes += count * bytes;
                self.phases[ALONE].moved += count * bytes;
                let of_node: &mut (u64, u64) = moved.entry((task.node, operation as usize)).or_default();
                *of_node = (of_node.0 + count, of_node.1 + count * bytes);
            }
            // In an open loop each task begins as many operations as are due.
            task.issued += match self.phases[ALONE].pace {
                Some((turn, _)) => whole((time as f64 / turn).round()).min(most),
                None => issued,
            };
        }
        if let Some(exchanges) = &mut self.phases[ALONE].exchanges {
            exchanges.threads.repeat(&self.steady.begin.used, time as f64 / window.length as f64);
        }
        self.fill_intervals(now, time, window, &moved);
        self.shift(time, window);
        self.steady.skipped += time;
    }

    /// Adds what happens in `time` from `now` on to the histograms, the series and the counters of the devices.
    fn fill_intervals(
        &mut self,
        now: Ticks,
        time: Ticks,
        window: &SteadyWindow,
        moved: &HashMap<(u32, usize), (u64, u64)>,
    ) {
        let mut totals = [None; Operation::ALL.len()];
        moved.iter().for_each(|((_, operation), (count, _))| *totals[*operation].get_or_insert(0) += count);
        let work = self.repeated_work(time, window, totals);
        let means = self.phases[ALONE].recording.repeat_window(totals);
        let end = now + time;
        let mut from = now;
        while from < end {
            let until = self.interval_end.min(end);
            let share = |at: Ticks| (at - now) as f64 / time as f64;
            for ((node, operation), (count, bytes)) in moved {
                let done = |at: Ticks| whole(*count as f64 * share(at));
                // Each operation has its bytes: an interval without any has none.
                let moved = |operations: u64| {
                    let moved = u128::from(*bytes) * u128::from(operations) / u128::from((*count).max(1));
                    u64::try_from(moved).unwrap_or(u64::MAX)
                };
                let operations = done(until) - done(from);
                let sums = Sums {
                    operations,
                    bytes: moved(done(until)) - moved(done(from)),
                    latency: whole(operations as f64 * means[*operation].0),
                    latency_max: means[*operation].1,
                };
                // The last tick of the interval belongs to it.
                let phase = &mut self.phases[ALONE];
                phase.recording.add_sums(*node as usize, *operation, until - 1 - phase.start, &sums);
            }
            for (drive, work) in self.system.drives.iter_mut().zip(&work) {
                drive.add_counters(&work.between(share(from), share(until)), until - from);
            }
            if until == self.interval_end {
                self.interval_end += self.interval;
                self.take_settled_sample(until);
            }
            from = until;
        }
    }

    /// What the devices do in `time`, in which `totals` operations are done. For each operation they do as much as in
    /// the window; where this is nearly a whole number of requests or bytes, it is that number, because what is in flight
    /// at the ends of the window is no difference.
    fn repeated_work(
        &self,
        time: Ticks,
        window: &SteadyWindow,
        totals: [Option<u64>; Operation::ALL.len()],
    ) -> Vec<Counters> {
        let times = time as f64 / window.length as f64;
        let mut work: Vec<Counters> = window.drives.iter().map(|work| work.between(0.0, times)).collect();
        if window.is_exact {
            return work;
        }
        let recorded = self.phases[ALONE].recording.window_sums();
        let in_flight = self.in_flight() as f64;
        for (direction, operation) in [(READ, Operation::Read), (WRITE, Operation::Write)] {
            let own = recorded[operation as usize].operations > 0;
            let counts = |index: usize| !own || index == operation as usize;
            let (mut done, mut wanted) = ((0_u64, 0_u64), (0_u64, 0_u64));
            for (index, sums) in recorded.iter().enumerate().filter(|(index, _)| counts(*index)) {
                done = (done.0 + sums.operations, done.1 + sums.bytes);
                let total = totals[index].unwrap_or(0);
                let bytes = u128::from(sums.bytes) * u128::from(total) / u128::from(sums.operations.max(1));
                wanted = (wanted.0 + total, wanted.1 + u64::try_from(bytes).unwrap_or(u64::MAX));
            }
            let scale =
                |of: fn(&mut Counters) -> &mut [u64; 2], done: u64, wanted: u64, work: &mut [Counters]| {
                    let mut drives = window.drives.clone();
                    let all: u64 = drives.iter_mut().map(|one| of(one)[direction]).sum();
                    if all == 0 || done == 0 {
                        return;
                    }
                    let exact = all as f64 / done as f64;
                    // Two turns of all that is in flight, relative to what was done.
                    let room = 2.0 * in_flight
                        / recorded.iter().map(|sums| sums.operations).sum::<u64>().max(1) as f64;
                    let each =
                        if (exact - exact.round()).abs() <= room * exact { exact.round() } else { exact };
                    let (total, mut before, mut given) = (each * wanted as f64, 0_u64, 0_u64);
                    for (one, work) in drives.iter_mut().zip(work) {
                        before += of(one)[direction];
                        let until = whole((total * before as f64 / all as f64).round());
                        of(work)[direction] = until - given;
                        given = until;
                    }
                };
            scale(|work| &mut work.requests, done.0, wanted.0, &mut work);
            scale(|work| &mut work.bytes, done.1, wanted.1, &mut work);
        }
        work
    }

    /// Moves everything that is in flight by `time`.
    fn shift(&mut self, time: Ticks, window: &SteadyWindow) {
        self.events.shift(time);
        self.requests.shift(time);
        self.tasks.iter_mut().for_each(|task| task.busy_until = task.busy_until.saturating_add(time));
        self.system.shift(time, |drive| window.drives[drive].requests != [0, 0]);
    }
}

/// A steady window.
pub(super) struct SteadyWindow {
    pub(super) length: Ticks,
    pub(super) rate_error: f64,
    /// The same of the mean latency.
    pub(super) latency_error: f64,
    /// Whether all that follows is as in it, so that nothing has to be left for the end.
    pub(super) is_exact: bool,
    /// The work of each device.
    pub(super) drives: Vec<Counters>,
    /// The operations of each task.
    pub(super) tasks: Vec<TaskRate>,
}

/// The operations of a task per tick: the mean by kind, and the variance of their sum that tasks do not share.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TaskRate {
    pub(super) per_tick: [f64; 3],
    pub(super) walk: f64,
}

/// The statistics of `values`, which are finite numbers.
fn summary(values: &[f64]) -> Summary {
    Summary::of(values).expect("some finite numbers")
}

/// Half of the 95 % interval of the mean of batches, as a share of it.
fn error_of_mean(batches: &[f64]) -> f64 {
    STUDENT * summary(batches).variation / (batches.len() as f64).sqrt()
}

/// The difference between the means of the two halves of `values`, and its standard error.
fn change(values: &[f64]) -> (f64, f64) {
    let (first, second) = values.split_at(values.len() / 2);
    let halves = [first, second].map(summary);
    let squares = halves.map(|half| half.deviation_sample.powi(2) / half.n as f64);
    ((halves[0].mean - halves[1].mean).abs(), squares.into_iter().sum::<f64>().sqrt())
}

/// Whether the two halves of `values` differ by more than chance.
fn has_trend(values: &[f64]) -> bool {
    let (change, error) = change(values);
    change > TREND_ERRORS * error + TREND_SHARE * summary(values).mean
}

/// How many times as large the variance of the means of batches is as if latencies did not depend on each other; at
/// least 1.
fn dependence<'w>(means: &[f64], windows: impl Iterator<Item = &'w Window>) -> f64 {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for (low, high, counted) in windows.flat_map(|window| window.histogram.buckets()) {
        let (value, counted) = (low.midpoint(high) as f64, counted as f64);
        (count, sum, squares) = (count + counted, sum + counted * value, squares + counted * value * value);
    }
    let single = squares / count.max(1.0) - (sum / count.max(1.0)).powi(2);
    let of_batch = single / (count / means.len() as f64).max(1.0);
    if of_batch > 0.0 { (summary(means).deviation_sample.powi(2) / of_batch).max(1.0) } else { 1.0 }
}

/// Whether the percentiles of a histogram are known well enough, by the order statistics at the ends of their intervals.
fn has_percentiles(window: &Window, previous: Option<&Window>, dependence: f64) -> bool {
    let histogram = &window.histogram;
    let count = window.sums.operations as f64;
    PERCENTILES.iter().all(|&(share, width)| {
        let (value, alike) = quantile(histogram, count, share);
        let change = |previous: &Window| (share_up_to(previous, value) - share_up_to(window, value)).abs();
        let wider = match previous {
            _ if alike <= ALIKE => 0.0,
            Some(previous) => CHANGES * change(previous),
            None => 1.0 - share,
        };
        let half = wider + 1.96 * (share * (1.0 - share) * dependence / count.max(1.0)).sqrt();
        let [low, high] =
            [share - half, share + half].map(|share| quantile(histogram, count, share).0 as f64);
        share + half < 1.0 && high <= low * (1.0 + width) + 1.0
    })
}

/// How often the time so far can double until the mean, the median or p99 has changed by as much as it may, if each time
/// they change as between two windows. By `chance` the mean of a window has this error; only what it changes by more
/// counts then.
fn doublings(window: &Window, previous: &Window, chance: Option<f64>) -> f64 {
    let change = change_of_mean(window, previous);
    if let Some(error) = chance {
        // The window before is half as long.
        let by_chance = error * 3.0_f64.sqrt();
        return DRIFT / (change - by_chance).max(0.0);
    }
    let of_mean = DRIFT / change;
    let of_percentiles = PERCENTILES.map(|(share, width)| {
        let [value, before] = [window, previous].map(|one| within_bucket(one, share));
        DRIFT_OF_WIDTH * width / (value / before - 1.0).abs()
    });
    of_percentiles.into_iter().fold(of_mean, f64::min)
}

/// By how much the mean latency of a window differs from that of the one before it, as a share of it.
fn change_of_mean(window: &Window, previous: &Window) -> f64 {
    let [mean, before] =
        [window, previous].map(|one| one.sums.latency as f64 / one.sums.operations.max(1) as f64);
    (mean / before - 1.0).abs()
}

/// A quantile, as if the latencies of each bucket were spread evenly.
fn within_bucket(window: &Window, share: f64) -> f64 {
    let mut rank = share * window.sums.operations as f64;
    for (low, high, counted) in window.histogram.buckets() {
        if rank <= counted as f64 {
            return low as f64 + (high - low) as f64 * rank / counted as f64;
        }
        rank -= counted as f64;
    }
    f64::INFINITY
}

/// The share of the latencies of a window up to the bucket that begins with `value`.
fn share_up_to(window: &Window, value: u64) -> f64 {
    let below = window.histogram.buckets().take_while(|(low, ..)| *low <= value).map(|(.., count)| count);
    below.sum::<u64>() as f64 / window.sums.operations.max(1) as f64
}

/// The smallest value of the bucket with the quantile `share` of `count` values, and the share of the values in it.
fn quantile(histogram: &LatencyHistogram, count: f64, share: f64) -> (u64, f64) {
    let rank = share * count;
    let mut below = 0.0;
    let mut found = (0, 0.0);
    for (low, _, counted) in histogram.buckets() {
        found = (low, counted as f64 / count.max(1.0));
        below += counted as f64;
        if below >= rank {
            break;
        }
    }
    found
}
