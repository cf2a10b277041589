//! The virtual clock.

/// A time on the virtual clock, in parts of a nanosecond: what a fast link needs for one transfer is less than
/// a nanosecond.
pub(crate) type Ticks = u64;

/// Ticks of a nanosecond. The clock reaches 200 days.
pub(crate) const TICKS_PER_NS: u64 = 1024;

/// Nanoseconds as ticks.
pub(crate) fn ticks(ns: f64) -> f64 {
    ns * TICKS_PER_NS as f64
}

/// Whole nanoseconds of `ticks`.
#[inline]
pub(crate) fn ns(ticks: Ticks) -> u64 {
    ticks / TICKS_PER_NS
}
