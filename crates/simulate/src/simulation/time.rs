//! The virtual clock.

/// A time on the virtual clock, in parts of a nanosecond: what a fast link needs for one transfer is less than
/// a nanosecond.
pub(crate) type Ticks = u64;

/// Ticks of a nanosecond. Times are added without overflow, up to 200 days.
pub(crate) const TICKS_PER_NS: u64 = 1024;

/// The end of the clock, after 52 days: what would be later is told instead of simulated.
pub(crate) const CLOCK_END: Ticks = 1 << 62;

/// Nanoseconds as ticks.
pub(crate) fn ticks(ns: f64) -> f64 {
    ns * TICKS_PER_NS as f64
}

/// Whole nanoseconds of `ticks`.
#[inline]
pub(crate) fn ns(ticks: Ticks) -> u64 {
    ticks / TICKS_PER_NS
}
