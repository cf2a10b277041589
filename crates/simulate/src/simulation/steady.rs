//! What is known of the state of a phase while a steady state is sought.

use rand_xoshiro::Xoshiro256PlusPlus;

use crate::simulation::parts::drive::{Counters, Level};
use crate::simulation::repeats::Repeats;
use crate::simulation::time::Ticks;

/// The search for a steady state.
pub(crate) struct Steady {
    pub(crate) is_possible: bool,
    /// Number of recorded operations at which the present batch ends.
    pub(crate) next: u64,
    pub(crate) batch: u64,
    pub(crate) batches: Vec<Batch>,
    /// At the end of each batch of the window.
    pub(crate) levels: Vec<Vec<Level>>,
    /// By how much each level would have changed in the time that was not simulated, at most.
    pub(crate) filled: Vec<f64>,
    pub(crate) begin: Begin,
    pub(crate) repeats: Repeats,
    /// The time that was not simulated, and the largest error of a rate.
    pub(crate) skipped: Ticks,
    pub(crate) error: f64,
}

/// The state at the end of a batch.
#[derive(Clone, Copy)]
pub(crate) struct Batch {
    pub(crate) at: Ticks,
    pub(crate) operations: u64,
    pub(crate) latency_ns: u64,
}

/// The state at the begin of a window.
#[derive(Default)]
pub(crate) struct Begin {
    /// Of each task.
    pub(crate) done: Vec<[u64; 3]>,
    /// Of each task in the middle of the window.
    pub(crate) half: Vec<[u64; 3]>,
    /// Of each device.
    pub(crate) drives: Vec<Counters>,
    /// Number of writes that have waited for room in a page cache.
    pub(crate) waited: u64,
    /// For exchanges: the processor time of each thread.
    pub(crate) used: Vec<Ticks>,
    /// The states of all random numbers.
    pub(crate) random: Vec<Xoshiro256PlusPlus>,
}

/// How a phase was computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Extrapolated {
    /// The time that was not simulated.
    pub(crate) time: Ticks,
    /// Half of the 95 % interval of the rate, as a share of it.
    pub(crate) rate_error: f64,
}

impl Steady {
    pub(crate) fn new(is_possible: bool) -> Self {
        Self {
            is_possible,
            next: u64::MAX,
            batch: 0,
            batches: Vec::new(),
            levels: Vec::new(),
            filled: Vec::new(),
            begin: Begin::default(),
            repeats: Repeats::new(),
            skipped: 0,
            error: 0.0,
        }
    }

    pub(crate) fn extrapolated(&self) -> Option<Extrapolated> {
        (self.skipped > 0).then_some(Extrapolated { time: self.skipped, rate_error: self.error })
    }
}
