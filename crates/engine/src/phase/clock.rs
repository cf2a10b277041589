//! The clock used by the hot loop.
//!
//! If the processor's time-stamp counter has a constant rate, never stops, and is the kernel's own clock
//! source, it is used as the clock: reading it takes one instruction and a few nanoseconds. Otherwise the
//! clock is `clock_gettime(CLOCK_MONOTONIC)`. [`clock_name`] returns the name of the clock,
//! [`clock_cost_ns`] the cost of a reading.
//!
//! The counter's rate is measured against `CLOCK_MONOTONIC_RAW`, which no time daemon adjusts. The
//! measurement starts at the first use of the clock and becomes more exact with time: 0.01 % after half a
//! millisecond, 0.0001 % after a second. Latencies use the rate known at the start of the phase; the
//! times of tasks use the rate known at its end.

#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "reads the time-stamp counter"))]

use std::sync::OnceLock;

use rustix::time::{ClockId, clock_gettime};

/// The counter's rate is measured over at least this time before it is used.
const LEAST_BASELINE_NS: u64 = 500_000;
/// Number of readings per anchor; the fastest is kept.
const ANCHOR_READINGS: u32 = 8;

/// A clock that the hot loop is compiled for.
pub(crate) trait Clock: Copy + Send + Sync + 'static {
    /// Number of ticks since some fixed moment.
    fn now(self) -> u64;
}

/// The processor's time-stamp counter.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counter;

#[cfg(target_arch = "x86_64")]
impl Clock for Counter {
    #[inline(always)]
    fn now(self) -> u64 {
        // SAFETY: every x86-64 processor has the instruction, and Linux lets user mode use it.
        unsafe { core::arch::x86_64::_rdtsc() }
    }
}

/// `clock_gettime(CLOCK_MONOTONIC)`, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Monotonic;

impl Clock for Monotonic {
    #[inline(always)]
    fn now(self) -> u64 {
        nanos(ClockId::Monotonic)
    }
}

/// Number of ticks from `start` to `end`. Returns 0 if the end seems to precede the start because the
/// counters of two processors differ slightly.
#[inline(always)]
pub(crate) fn between(start: u64, end: u64) -> u64 {
    if end >= start { end - start } else { none() }
}

#[cold]
fn none() -> u64 {
    0
}

/// The clock that is usable on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClockKind {
    #[cfg(target_arch = "x86_64")]
    Counter,
    Monotonic,
}

/// Nanoseconds per tick, as a fixed-point number with 32 binary digits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale(u64);

impl Scale {
    /// The scale of a clock whose tick is one nanosecond.
    const NANOS: Self = Self(1 << 32);

    /// Converts `ticks` to nanoseconds.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "584 years of nanoseconds fit into 64 bits")]
    pub(crate) fn nanos(self, ticks: u64) -> u64 {
        ((u128::from(ticks) * u128::from(self.0)) >> 32) as u64
    }

    /// Converts `nanos` to ticks.
    pub(crate) fn ticks(self, nanos: u64) -> u64 {
        u64::try_from((u128::from(nanos) << 32) / u128::from(self.0)).unwrap_or(u64::MAX)
    }

    /// Returns its bits, to be stored in an atomic.
    pub(crate) fn to_bits(self) -> u64 {
        self.0
    }

    /// The inverse of [`Scale::to_bits`].
    pub(crate) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}

/// The same instant on both clocks.
#[derive(Debug, Clone, Copy)]
struct Anchor {
    ticks: u64,
    raw_ns: u64,
}

static CHOICE: OnceLock<(ClockKind, Anchor)> = OnceLock::new();

fn choice() -> (ClockKind, Anchor) {
    *CHOICE.get_or_init(|| {
        let kind = detect();
        (kind, anchor(kind))
    })
}

/// Returns the clock used on this machine. The first call starts the measurement of its rate.
pub(crate) fn kind() -> ClockKind {
    choice().0
}

/// The current estimate of the clock's rate.
pub(crate) fn scale() -> Scale {
    let (kind, first) = choice();
    if kind == ClockKind::Monotonic {
        return Scale::NANOS;
    }
    let mut last = anchor(kind);
    while last.raw_ns - first.raw_ns < LEAST_BASELINE_NS {
        last = anchor(kind);
    }
    let bits = (u128::from(last.raw_ns - first.raw_ns) << 32) / u128::from((last.ticks - first.ticks).max(1));
    Scale(u64::try_from(bits).unwrap_or(u64::MAX).max(1))
}

/// Value of `CLOCK_MONOTONIC_RAW` when the clock in use showed `ticks`.
pub(crate) fn raw_ns(ticks: u64) -> u64 {
    let (kind, _) = choice();
    let (scale, now) = (scale(), anchor(kind));
    match now.ticks.checked_sub(ticks) {
        Some(ago) => now.raw_ns.saturating_sub(scale.nanos(ago)),
        None => now.raw_ns.saturating_add(scale.nanos(ticks - now.ticks)),
    }
}

/// Reads the clock in use once.
pub(crate) fn now(kind: ClockKind) -> u64 {
    match kind {
        #[cfg(target_arch = "x86_64")]
        ClockKind::Counter => Counter.now(),
        ClockKind::Monotonic => Monotonic.now(),
    }
}

/// Name of the clock that measures transfers: `tsc` or `clock_gettime(CLOCK_MONOTONIC)`.
#[must_use]
pub fn clock_name() -> &'static str {
    match kind() {
        #[cfg(target_arch = "x86_64")]
        ClockKind::Counter => "tsc",
        ClockKind::Monotonic => "clock_gettime(CLOCK_MONOTONIC)",
    }
}

/// Cost of one clock reading in nanoseconds: the best of several measurements.
#[must_use]
pub fn clock_cost_ns() -> f64 {
    const READINGS: u32 = 1_000;
    let kind = kind();
    let scale = scale();
    let once = || {
        let start = now(kind);
        for _ in 1..READINGS {
            std::hint::black_box(now(kind));
        }
        scale.nanos(now(kind) - start) as f64 / f64::from(READINGS)
    };
    (0..5).map(|_| once()).fold(f64::INFINITY, f64::min)
}

fn nanos(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// `CLOCK_MONOTONIC` in nanoseconds, the time base of absolute sleeps.
pub(crate) fn monotonic_ns() -> u64 {
    nanos(ClockId::Monotonic)
}

fn anchor(kind: ClockKind) -> Anchor {
    let mut best = (u64::MAX, Anchor { ticks: 0, raw_ns: 0 });
    for _ in 0..ANCHOR_READINGS {
        let before = now(kind);
        let raw_ns = nanos(ClockId::MonotonicRaw);
        let took = now(kind).saturating_sub(before);
        if took < best.0 {
            best = (took, Anchor { ticks: before + took / 2, raw_ns });
        }
    }
    best.1
}

#[cfg(target_arch = "x86_64")]
fn detect() -> ClockKind {
    /// Leaf of CPUID with the power-management flags; bit 8 of EDX is "invariant TSC", which
    /// /proc/cpuinfo shows as `constant_tsc` and `nonstop_tsc`.
    /// Source: Intel SDM volume 3, "Invariant TSC"; AMD APM volume 3, appendix E.
    const POWER_LEAF: u32 = 0x8000_0007;
    const INVARIANT: u32 = 1 << 8;
    let highest = core::arch::x86_64::__cpuid(0x8000_0000).eax;
    let invariant = highest >= POWER_LEAF && core::arch::x86_64::__cpuid(POWER_LEAF).edx & INVARIANT != 0;
    let source = std::fs::read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    // The kernel stops using the counter if those of the processors diverge.
    if invariant && source.is_ok_and(|name| name.trim_ascii() == b"tsc") {
        ClockKind::Counter
    } else {
        ClockKind::Monotonic
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> ClockKind {
    ClockKind::Monotonic
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustix::time::ClockId;

    use super::{Scale, kind, nanos, now, scale};

    #[test]
    fn ticks_and_nanoseconds_are_inverse() {
        let scale = Scale::from_bits((1 << 32) * 5 / 13);
        for length in [1_000, 1_000_000, 86_400_000_000_000] {
            let back = scale.nanos(scale.ticks(length));
            assert!(back.abs_diff(length) <= 1, "{length} became {back}");
        }
    }

    #[test]
    fn the_clock_agrees_with_the_kernel_s() {
        let kind = kind();
        let (kernel, ours) = (nanos(ClockId::MonotonicRaw), now(kind));
        std::thread::sleep(Duration::from_millis(20));
        let (ours_end, kernel_end) = (now(kind), nanos(ClockId::MonotonicRaw));
        let (kernel, ours) = (kernel_end - kernel, scale().nanos(ours_end - ours));
        // The kernel's interval encloses ours; they differ by two readings, unless the test is preempted
        // between them.
        assert!(ours <= kernel + kernel / 1_000, "ours {ours}, kernel {kernel}");
        assert!(ours >= kernel / 2, "ours {ours}, kernel {kernel}");
    }
}
