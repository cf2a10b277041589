//! The schedule of an open loop: intended starts, independent of the progress of earlier transfers.

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::thread::{ClockId, clock_nanosleep_absolute};
use rustix::time::Timespec;

use crate::phase::clock::{self, Clock, Scale};

/// Maximum time of busy-waiting before an intended start. Sleeping threads wake up late by about this
/// much.
const SPIN_NS: u64 = 50_000;
/// Longest sleep, so that a stop is noticed soon.
const SLICE_NS: u64 = 50_000_000;
/// Timer slack requested from the kernel; its default is 50 µs.
const TIMER_SLACK_NS: u64 = 1;

/// Intended starts of one task, in ticks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schedule {
    base: u64,
    /// Ticks between two starts of all tasks together.
    step: f64,
    /// Number of the next transfer among those of all tasks.
    number: u64,
    tasks: u64,
}

impl Schedule {
    /// Creates the schedule of `task` among `tasks` tasks, whose starts are evenly interleaved: transfer
    /// `k` of task `t` starts `(k · tasks + t) · pace` after `base`.
    pub(crate) fn new(base: u64, pace_ns: f64, scale: Scale, task: u32, tasks: u32) -> Self {
        // The clock's rate as a fraction, from the number of ticks in a billion nanoseconds.
        let step = pace_ns * (scale.ticks(1_000_000_000) as f64 / 1e9);
        Self { base, step, number: u64::from(task), tasks: u64::from(tasks) }
    }

    /// The end after `duration_ns`, in ticks: the moment at which the first transfer beyond it would
    /// start. Rounded in the same way as the starts, so that the number of starts is exact.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a product of positive numbers"
    )]
    pub(crate) fn deadline(&self, duration_ns: u64, pace_ns: f64) -> u64 {
        self.base.saturating_add((duration_ns as f64 / pace_ns * self.step) as u64)
    }

    /// When the next transfer should start.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a product of positive numbers"
    )]
    pub(crate) fn next(&self) -> u64 {
        self.base + (self.number as f64 * self.step) as u64
    }

    /// Advances after the next transfer has been started.
    #[inline]
    pub(crate) fn advance(&mut self) {
        self.number += self.tasks;
    }

    /// Number of transfers due before `end` and not yet started.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a quotient of positive numbers"
    )]
    pub(crate) fn left_before(&self, end: u64) -> u64 {
        let all = (end.saturating_sub(self.base) as f64 / self.step).ceil() as u64;
        all.saturating_sub(self.number).div_ceil(self.tasks)
    }
}

/// Waits until `target`. Returns early if `stop` is set.
pub(crate) fn wait_until<C: Clock>(clock: C, scale: Scale, target: u64, stop: &AtomicBool) {
    loop {
        let now = clock.now();
        if now >= target || stop.load(Ordering::Relaxed) {
            return;
        }
        let left = scale.nanos(target - now);
        if left > SPIN_NS {
            sleep(left - SPIN_NS);
        } else {
            std::hint::spin_loop();
        }
    }
}

/// Sleeps for at most `nanos`.
pub(crate) fn sleep(nanos: u64) {
    let until = clock::monotonic_ns() + nanos.min(SLICE_NS);
    let part = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let time = Timespec { tv_sec: part(until / 1_000_000_000), tv_nsec: part(until % 1_000_000_000) };
    // A signal may end the sleep early. The caller checks the clock and the stop flag again.
    let _ = clock_nanosleep_absolute(ClockId::Monotonic, &time);
}

/// Longest single wait before an intended start that is `left` nanoseconds away. Returns `None` if it is so
/// near that the caller should spin.
pub(crate) fn longest_wait(left: u64) -> Option<u64> {
    left.checked_sub(SPIN_NS).filter(|&nanos| nanos > 0).map(|nanos| nanos.min(SLICE_NS))
}

/// Lowers this thread's timer slack until it is dropped.
#[derive(Debug)]
pub(crate) struct TimerSlack {
    before: Option<u64>,
}

impl TimerSlack {
    pub(crate) fn new() -> Self {
        let before = rustix::thread::current_timer_slack().ok();
        // Does not fail in practice; a late wake-up would be visible in the response times anyway.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(TIMER_SLACK_NS));
        Self { before }
    }
}

impl Drop for TimerSlack {
    fn drop(&mut self) {
        let _ = rustix::thread::set_current_timer_slack(self.before.and_then(std::num::NonZeroU64::new));
    }
}

#[cfg(test)]
mod tests {
    use super::Schedule;
    use crate::phase::clock::Scale;

    #[test]
    fn starts_of_all_tasks_are_evenly_spaced() {
        let scale = Scale::from_bits(1 << 32);
        let mut starts = Vec::new();
        for task in 0..3 {
            let mut schedule = Schedule::new(500, 1_000.0, scale, task, 3);
            for _ in 0..4 {
                starts.push(schedule.next());
                schedule.advance();
            }
        }
        starts.sort_unstable();
        assert_eq!(starts, (0..12).map(|i| 500 + i * 1_000).collect::<Vec<_>>());
    }

    #[test]
    fn a_duration_holds_its_exact_share_of_starts() {
        for rate in [1.0, 3.0, 7.0, 1000.0, 2000.0, 33_333.0] {
            for bits in [1 << 32, (1 << 32) / 13 * 5, (1 << 32) / 7 * 3] {
                let pace = 1e9 / rate;
                let mut schedule = Schedule::new(12_345, pace, Scale::from_bits(bits), 0, 1);
                let end = schedule.deadline(2_000_000_000, pace);
                let mut count = 0.0;
                while schedule.next() < end {
                    schedule.advance();
                    count += 1.0;
                }
                assert!((count - 2.0 * rate).abs() < 0.5, "{rate}/s: {count} in 2 s");
            }
        }
    }

    #[test]
    fn what_is_left_at_the_end_is_counted() {
        let mut schedule = Schedule::new(0, 10.0, Scale::from_bits(1 << 32), 0, 1);
        assert_eq!(schedule.left_before(100), 10);
        schedule.advance();
        assert_eq!(schedule.left_before(100), 9);
        assert_eq!(schedule.left_before(5), 0);
    }
}
