//! What scaling does not go below.

use crate::Bytes;

/// Each task keeps at least so many transfers in a pass for each that is in flight, and a tree so many items for each
/// task: from [`crate::SHORT_TURNS_MIN`] on a short pass shows a rate.
pub const TRANSFERS_MIN: u64 = 4;
/// The files of a case do not become smaller than this: random transfers of 4 KiB would meet the same places within a
/// second.
pub const FOOTPRINT_MIN: Bytes = Bytes(crate::quick::WORKING_SET_MIN);
/// A pass is not shortened below this, which is the length of the passes of `ioproof run --quick`; with fewer than
/// [`crate::SHORT_PASSES_MIN`] repetitions, not below [`crate::PHASE_SECONDS_MIN`].
pub const PASS_SECONDS_MIN: f64 = crate::quick::TIME.0 as f64 / 1e9;
