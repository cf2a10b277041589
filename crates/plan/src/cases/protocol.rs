//! How a case is run: preparation, repetitions, and which passes count.

use serde::{Deserialize, Serialize};

use crate::Nanos;

/// What is done before and between the phases of a case, and when it ends.
///
/// A *pass* runs all phases of a case once. Passes are numbered from 0, as repetitions in the record. The
/// first [`Protocol::warm_up`] passes do not count. They are followed by repetitions of [`Protocol::rounds`]
/// passes each, without wiping the media between the rounds; the last round of each repetition counts.
/// [`crate::Case::is_prepared_before`] says before which passes the media are wiped and preconditioned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Protocol {
    /// Number of passes at the start that do not count.
    pub warm_up: u32,
    /// Number of passes of one repetition, of which the last counts. At least 1.
    pub rounds: u32,
    /// When the case ends.
    pub stopping: Stopping,
    /// Whether the files are removed, and a device discarded, before the first pass and each repetition.
    pub wipe: bool,
    /// Number of full sequential writes of the case's files before the first pass and after each wipe; never a result.
    pub precondition: u32,
    /// Whether the page cache is written back and dropped before each phase that reads.
    pub drop_caches: bool,
    /// Whether the pages of the case's files, and no others, are written back and dropped before each phase that
    /// reads.
    #[serde(default)]
    pub evict_files: bool,
    /// A shorter phase is marked and cannot meet a commitment. 0 means the default.
    pub phase_min: Nanos,
    /// The standard deviation of ln(rate) between passes that is expected. Nothing is judged by it: it tells before the
    /// run what the repetitions can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<f64>,
}

impl Default for Protocol {
    fn default() -> Self {
        Self {
            warm_up: 0,
            rounds: 1,
            stopping: Stopping::Count,
            wipe: false,
            precondition: 0,
            drop_caches: false,
            evict_files: false,
            phase_min: Nanos(0),
            noise: None,
        }
    }
}

/// The minimum number of repetitions for an interval that contains the median with 95 % at every check: 2⁸ ÷ 9 is the
/// first of 2ⁿ ÷ (n + 1) that reaches 20 (`analysis::statistics::median_sequence`).
pub const INTERVAL_REPETITIONS_MIN: u32 = 8;

/// When a case ends. [`crate::Case::repetitions`] is never exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stopping {
    /// After [`crate::Case::repetitions`].
    Count,
    /// As soon as the interval of the median of each result phase is at most this wide. The interval is from a
    /// confidence sequence: computed after each repetition, it misses the median at any of them with a probability of
    /// at most 5 %.
    Interval {
        /// Width of the interval ÷ median.
        share: f64,
        /// Minimum number of repetitions.
        least: u32,
    },
    /// As soon as the last repetitions are steady by the rule of the SNIA Solid State Storage Performance Test
    /// Specification, section 2.1.27: within the window of rounds, the largest value minus the smallest is at most
    /// [`Stopping::Steady::excursion`] of their mean, and the least-squares line through them changes by at most
    /// [`Stopping::Steady::slope`] of it. The repetitions in that window are the ones that count.
    Steady {
        /// Number of repetitions in the window: five in the specification.
        window: u32,
        /// Limit for the range; 0.2 in the specification.
        excursion: f64,
        /// Limit for the slope; 0.1 in the specification.
        slope: f64,
    },
}

/// The purpose of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PassRole {
    /// Precedes the counted passes and does not count.
    WarmUp,
    /// A round before the last of its repetition; shown but not counted.
    EarlierRound,
    /// Counts. With [`Stopping::Steady`] only if it lies in the steady window, which depends on the measured
    /// values.
    Recorded,
}

impl PassRole {
    /// The word used in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::WarmUp => "warm-up",
            Self::EarlierRound => "earlier round",
            Self::Recorded => "recorded",
        }
    }
}
