//! Ends a phase by the clock, within its pass.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Nanos;

/// The slowest task is assumed to be half as fast as the fastest, so that a wear-out takes as long as the time before
/// it.
const WEAR_OUT_FACTOR: u64 = 2;

/// Ends a phase by the clock instead of by volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stonewall {
    /// Each task stops after this time.
    pub deadline: Nanos,
    /// Whether all tasks then continue until each has done as many transfers as the fastest.
    pub wear_out: bool,
}

impl Stonewall {
    /// Each task stops after `deadline`, with no wear-out.
    #[must_use]
    pub const fn after(deadline: Nanos) -> Self {
        Self { deadline, wear_out: false }
    }

    /// The longest time that a phase is expected to take.
    #[must_use]
    pub const fn longest(self) -> Nanos {
        let factor = if self.wear_out { WEAR_OUT_FACTOR } else { 1 };
        Nanos(self.deadline.0.saturating_mul(factor))
    }
}

impl fmt::Display for Stonewall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let after = if self.wear_out { "all catch up with the fastest" } else { "the rest stays undone" };
        write!(f, "each task stops after {}, then {after}", self.deadline)
    }
}
