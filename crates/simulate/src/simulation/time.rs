//! The virtual clock.

/// A time on the virtual clock, in fractions of a nanosecond, because a fast link needs less than a nanosecond
/// for one transfer.
pub(crate) type Ticks = u64;

/// Number of ticks in a nanosecond. Times up to 200 days can be added without overflow.
pub(crate) const TICKS_PER_NS: u64 = 1024;

/// The end of the clock, after 52 days. Anything later is reported as an error and not simulated.
pub(crate) const CLOCK_END: Ticks = 1 << 62;

/// Converts nanoseconds to ticks.
pub(crate) fn ticks(ns: f64) -> f64 {
    ns * TICKS_PER_NS as f64
}

/// Converts `ticks` to whole nanoseconds.
#[inline]
pub(crate) fn ns(ticks: Ticks) -> u64 {
    ticks / TICKS_PER_NS
}
