//! The search for a period of a phase that repeats itself.

use std::collections::VecDeque;

use rand_xoshiro::Xoshiro256PlusPlus;

use crate::simulation::time::Ticks;

/// The longest period that is found, in turns.
const PERIOD_MAX: usize = 64;
/// A period is searched in this number of turns of a window, and not in its later ones.
const TURNS_MAX: usize = 4 * PERIOD_MAX;
/// Times and sums of two turns are alike if they differ by at most this share: they are rounded.
const ALIKE: f64 = 1e-6;

/// What happened from one turn of the first task to its next one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn {
    pub(crate) length: Ticks,
    pub(crate) operations: u64,
    pub(crate) latency_ns: u64,
}

impl Turn {
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let is_near = |one: u64, other: u64| one.abs_diff(other) as f64 <= ALIKE * one as f64 + 2.0;
        self.operations == other.operations
            && is_near(self.length, other.length)
            // Each latency is rounded to a nanosecond.
            && self.latency_ns.abs_diff(other.latency_ns) as f64 <= ALIKE * self.latency_ns as f64 + self.operations as f64
    }
}

/// The turns so far, and for each period how many of the last turns were like those one period before.
pub(crate) struct Repeats {
    /// Number of operations of the first task at which the present turn ends.
    pub(crate) next: u64,
    /// Its begin: the time, and the operations and the latencies that were recorded by then.
    pub(crate) begin: (Ticks, u64, u64),
    turns: VecDeque<Turn>,
    alike: [usize; PERIOD_MAX],
    searched: usize,
    /// The shortest period that has not been refused.
    least: usize,
    pub(crate) checked: Option<Checked>,
}

/// A period that is looked at in all details for two periods.
pub(crate) struct Checked {
    /// In turns.
    pub(crate) period: usize,
    /// Turns since its begin.
    pub(crate) turns: usize,
    /// The first of the two periods.
    pub(crate) first: Option<Turn>,
    pub(crate) begin: (Ticks, u64, u64),
    /// Nothing may be drawn in it.
    pub(crate) random: Vec<Xoshiro256PlusPlus>,
}

impl Repeats {
    pub(crate) fn new() -> Self {
        Self {
            next: u64::MAX,
            begin: (0, 0, 0),
            turns: VecDeque::new(),
            alike: [0; PERIOD_MAX],
            searched: 0,
            least: 1,
            checked: None,
        }
    }

    /// Searches in a new window.
    pub(crate) fn search(&mut self) {
        if self.searched >= TURNS_MAX {
            (self.turns, self.alike) = (VecDeque::new(), [0; PERIOD_MAX]);
        }
        (self.searched, self.least) = (0, 1);
    }

    /// The period that was checked was none: a longer one is searched.
    pub(crate) fn refuse(&mut self, period: usize) {
        self.least = 2 * period;
    }

    /// Forgets all turns: the next one begins at `begin`.
    pub(crate) fn forget(&mut self, begin: (Ticks, u64, u64)) {
        let next = self.next;
        *self = Self { next, begin, ..Self::new() };
    }

    /// Ends the present turn, at the state `end`.
    pub(crate) fn end(&mut self, end: (Ticks, u64, u64)) {
        let turn = since(self.begin, end);
        self.begin = end;
        if self.searched >= TURNS_MAX {
            return;
        }
        self.searched += 1;
        for (period, alike) in (1..).zip(&mut self.alike) {
            let before = self.turns.len().checked_sub(period).and_then(|place| self.turns.get(place));
            *alike = if before.is_some_and(|before| turn.is_like(before)) { *alike + 1 } else { 0 };
        }
        self.turns.push_back(turn);
        if self.turns.len() > PERIOD_MAX {
            self.turns.pop_front();
        }
    }

    /// The shortest period that was there three times.
    pub(crate) fn period(&self) -> Option<usize> {
        let mut all = (1..).zip(&self.alike).skip(self.least - 1);
        let found = all.find(|(period, alike)| **alike >= 2 * period).map(|(period, _)| period);
        found.filter(|_| self.searched < TURNS_MAX)
    }
}

/// What happened between two states.
pub(crate) fn since(begin: (Ticks, u64, u64), end: (Ticks, u64, u64)) -> Turn {
    Turn { length: end.0 - begin.0, operations: end.1 - begin.1, latency_ns: end.2.wrapping_sub(begin.2) }
}
