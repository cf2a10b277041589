//! Why a study does not fit a budget.

use thiserror::Error;

use super::cost::whole_up;
use crate::Bytes;

/// Why a study does not fit a budget.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FitError {
    /// Every case has more tasks or nodes.
    #[error("no case of the study has at most {}: the least that works is {}", .budget, .least)]
    NoCases {
        /// The limits, as options.
        budget: String,
        /// The least limits, as options.
        least: String,
    },
    /// Even with everything given up it takes more.
    #[error(
        "the study cannot be scaled to {}: the least that works is --time {} --space {}{}",
        .budget, .time, .space, .note
    )]
    TooSmall {
        /// The budget in words.
        budget: String,
        /// The least time, as `--time` takes it.
        time: String,
        /// The least space, as `--space` takes it.
        space: String,
        /// What else could be done.
        note: String,
    },
    /// The plan is not of a study.
    #[error("only a study file or a ready study can be scaled")]
    NoStudy,
    /// The study cannot be read with other values.
    #[error("the study cannot be scaled: {0}")]
    Unreadable(String),
}

impl FitError {
    /// Whether the budget of time or space is too small.
    pub(super) const fn is_too_small(&self) -> bool {
        matches!(self, Self::TooSmall { .. })
    }
}

/// A time as `--time` takes it, no shorter than `seconds`.
pub(super) fn time_option(seconds: f64) -> String {
    let whole = whole_up(seconds);
    match whole {
        0..120 => format!("{}s", whole.max(1)),
        120..7200 => format!("{}min", whole.div_ceil(60)),
        _ => format!("{}h", whole.div_ceil(3600)),
    }
}

/// A size as `--space` takes it, no smaller than `space`.
pub(super) fn space_option(space: Bytes) -> String {
    match space.0 {
        0..0x10_0000 => format!("{}KiB", space.0.div_ceil(1 << 10).max(1)),
        bytes if bytes.is_multiple_of(1 << 30) => format!("{}GiB", bytes >> 30),
        0x10_0000..0x4_0000_0000 => format!("{}MiB", space.0.div_ceil(1 << 20)),
        _ => format!("{}GiB", space.0.div_ceil(1 << 30)),
    }
}
