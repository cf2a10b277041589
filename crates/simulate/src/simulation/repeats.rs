//! The search for a period of a phase that repeats itself.

use std::collections::VecDeque;

use crate::simulation::time::Ticks;

/// The longest period that is found, in turns.
const PERIOD_MAX: usize = 64;
/// A period is searched in this number of turns of a window, and not in its later ones.
const TURNS_MAX: usize = 4 * PERIOD_MAX;
/// Times and sums of two turns are alike if they differ by at most this share: they are rounded.
const ALIKE: f64 = 1e-6;

/// The state of a phase.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct State {
    pub(crate) at: Ticks,
    /// What was recorded by then.
    pub(crate) operations: u64,
    pub(crate) latency_ns: u64,
    /// The sum of the times until the next event of each request. It differs if requests are elsewhere on their way,
    /// though all that was counted is the same: a turn may end amid operations that end together.
    pub(crate) ahead: Ticks,
}

/// What happened from one turn of the first task to its next one, and the state at its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn {
    length: Ticks,
    operations: u64,
    latency_ns: u64,
    ahead: Ticks,
}

impl Turn {
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let is_near = |one: u64, other: u64| one.abs_diff(other) as f64 <= ALIKE * one as f64 + 2.0;
        self.operations == other.operations
            && is_near(self.length, other.length)
            && is_near(self.ahead, other.ahead)
            // Each latency is rounded to a nanosecond.
            && self.latency_ns.abs_diff(other.latency_ns) as f64 <= ALIKE * self.latency_ns as f64 + self.operations as f64
    }
}

/// The turns so far, and for each period how many of the last turns were like those one period before.
pub(crate) struct Repeats {
    /// Number of operations of the first task at which the present turn ends.
    pub(crate) next: u64,
    begin: State,
    turns: VecDeque<Turn>,
    alike: [usize; PERIOD_MAX],
    searched: usize,
    /// The shortest period that is looked at: twice the one that was refused, so that few of them are checked.
    least: usize,
    pub(crate) checked: Option<Checked>,
}

/// A period that is looked at in all details for two periods.
pub(crate) struct Checked {
    /// In turns.
    pub(crate) period: usize,
    /// Turns since its begin.
    pub(crate) turns: usize,
    pub(crate) begin: State,
    /// After the first of the two periods.
    pub(crate) middle: State,
}

impl Repeats {
    pub(crate) fn new() -> Self {
        Self {
            next: u64::MAX,
            begin: State::default(),
            turns: VecDeque::new(),
            alike: [0; PERIOD_MAX],
            searched: 0,
            least: 1,
            checked: None,
        }
    }

    /// Searches in a new window.
    pub(crate) fn search(&mut self) {
        (self.searched, self.least) = (0, 1);
    }

    /// Whether nothing was found in all turns of the window that are looked at.
    pub(crate) fn has_ended(&self) -> bool {
        self.searched >= TURNS_MAX
    }

    /// The period that was checked was none.
    pub(crate) fn refuse(&mut self, period: usize) {
        self.least = 2 * period;
    }

    /// Forgets all turns: the next one begins at `begin`.
    pub(crate) fn forget(&mut self, begin: State) {
        let next = self.next;
        *self = Self { next, begin, ..Self::new() };
    }

    /// Ends the present turn, at the state `end`.
    pub(crate) fn end(&mut self, end: State) {
        let turn = since(self.begin, end);
        self.begin = end;
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
        found.filter(|_| !self.has_ended())
    }
}

/// What happened between two states.
pub(crate) fn since(begin: State, end: State) -> Turn {
    Turn {
        length: end.at - begin.at,
        operations: end.operations - begin.operations,
        latency_ns: end.latency_ns.wrapping_sub(begin.latency_ns),
        ahead: end.ahead,
    }
}
