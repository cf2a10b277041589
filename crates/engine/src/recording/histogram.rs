//! Latency histograms with a relative error below 1 % that can be merged exactly.
//!
//! Buckets are those of an H2 histogram with grouping power 7: 128 buckets for each power of
//! two, so a bucket is at most 1/128 of its value wide.
//! Source: the crate `histogram`, whose buckets these are (a property test compares them).
//!
//! While a phase runs, each worker counts into its own [`Counters`], which have 32-bit counts; only
//! touched pages use memory. At the end of the phase they are added to one [`LatencyHistogram`].

use ::histogram::Histogram;

/// Buckets per power of two, as a power of two.
const GROUPING_POWER: u32 = 7;
/// Latencies of 2^42 ns (73 minutes) and more are counted in the last bucket.
const MAX_VALUE_POWER: u32 = 42;
/// Number of buckets.
pub(crate) const BUCKETS: usize = ((MAX_VALUE_POWER - GROUPING_POWER + 1) << GROUPING_POWER) as usize;

/// Index of the bucket that counts `nanos`.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "what is left after the shift has 8 bits")]
fn bucket_of(nanos: u64) -> usize {
    let shift = (63 - (nanos | (1 << GROUPING_POWER)).leading_zeros()) - GROUPING_POWER;
    let index = ((shift << GROUPING_POWER) as usize) + (nanos >> shift) as usize;
    if index < BUCKETS { index } else { last_bucket() }
}

#[cold]
fn last_bucket() -> usize {
    BUCKETS - 1
}

/// The counts of one worker for each of `N` operations (reads and writes for transfers), in memory
/// provided by the caller.
#[derive(Debug)]
pub(crate) struct Counters<'a, const N: usize> {
    counts: &'a mut [[u32; BUCKETS]; N],
    /// Buckets whose 32-bit count overflowed, one entry per 2^32.
    overflows: Vec<(usize, usize)>,
}

impl<'a, const N: usize> Counters<'a, N> {
    /// Creates counters in `counts`, which must be zero.
    pub(crate) fn new(counts: &'a mut [[u32; BUCKETS]; N]) -> Self {
        Self { counts, overflows: Vec::new() }
    }

    /// Counts one latency.
    #[inline(always)]
    pub(crate) fn add(&mut self, operation: usize, nanos: u64) {
        let index = bucket_of(nanos);
        let count = &mut self.counts[operation][index];
        *count = count.wrapping_add(1);
        if *count == 0 {
            self.overflowed(operation, index);
        }
    }

    /// Rewrites each counter with its present value, so that no page fault happens during the measured
    /// time.
    pub(crate) fn touch(&mut self) {
        for count in self.counts.iter_mut().flatten() {
            *count = std::hint::black_box(*count);
        }
    }

    #[cold]
    fn overflowed(&mut self, operation: usize, index: usize) {
        self.overflows.push((operation, index));
    }

    /// Adds all counts to `totals`, by operation.
    pub(crate) fn add_to(&self, totals: &mut [LatencyHistogram; N]) {
        for (total, counts) in totals.iter_mut().zip(self.counts.iter()) {
            for (sum, &count) in total.0.as_mut_slice().iter_mut().zip(counts) {
                *sum += u64::from(count);
            }
        }
        for &(operation, index) in &self.overflows {
            totals[operation].0.as_mut_slice()[index] += 1 << u32::BITS;
        }
    }
}

/// Latencies of many transfers. Values at or beyond 2^42 ns (73 minutes) count in the last bucket.
///
/// ```
/// let mut one = engine::LatencyHistogram::new();
/// one.add(1_000, 5);
/// let mut all = engine::LatencyHistogram::new();
/// all.add(1_001, 1);
/// all.merge(&one);
/// let buckets: Vec<_> = all.buckets().collect();
/// assert_eq!(buckets, [(1_000, 1_003, 6)]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LatencyHistogram(Histogram);

impl LatencyHistogram {
    /// Creates an empty histogram.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "both powers are below 64")]
    pub fn new() -> Self {
        let histogram = Histogram::new(GROUPING_POWER as u8, MAX_VALUE_POWER as u8);
        Self(histogram.expect("0 ≤ 7 < 42 ≤ 64, which is what the crate asks for"))
    }

    /// Adds `count` latencies of `nanos`. Any value of a bucket represents it, so rows of another process
    /// can be added by their lower bounds.
    pub fn add(&mut self, nanos: u64, count: u64) {
        self.0.as_mut_slice()[bucket_of(nanos)] += count;
    }

    /// Adds all counts of `other`, exactly.
    pub fn merge(&mut self, other: &Self) {
        for (sum, count) in self.0.as_mut_slice().iter_mut().zip(other.0.as_slice()) {
            *sum += count;
        }
    }

    /// Returns the non-empty buckets in ascending order: the smallest and largest latency in nanoseconds,
    /// and the count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.0.iter().filter(|b| b.count() > 0).map(|b| (b.start(), b.end(), b.count()))
    }

    /// Number of latencies counted.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.as_slice().iter().sum()
    }
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::{BUCKETS, Counters, LatencyHistogram};

    proptest! {
        #[test]
        fn buckets_are_those_of_the_crate_and_less_than_one_percent_wide(
            value in 0_u64..1 << 42, shift in 0_u32..42,
        ) {
            let value = value >> shift;
            let mut ours = LatencyHistogram::new();
            ours.add(value, 1);
            let mut theirs = LatencyHistogram::new();
            theirs.0.increment(value).expect("in range");
            prop_assert_eq!(&ours, &theirs);
            let (low, high, count) = ours.buckets().next().expect("one bucket");
            prop_assert_eq!(count, 1);
            prop_assert!(low <= value && value <= high);
            prop_assert!((high - low) as f64 <= 0.01 * low.max(1) as f64, "{}..{}", low, high);
        }
    }

    #[test]
    fn a_latency_beyond_the_range_counts_in_the_last_bucket() {
        let mut all = LatencyHistogram::new();
        all.add(u64::MAX, 1);
        let (low, high, _) = all.buckets().next().expect("one bucket");
        assert_eq!(high, (1 << 42) - 1);
        assert!(low > 3600 * 1_000_000_000, "the range covers an hour");
    }

    #[test]
    fn counts_beyond_32_bits_are_exact() {
        let mut memory = Box::new([[0_u32; BUCKETS]; 2]);
        memory[1][100] = u32::MAX;
        memory[1][200] = u32::MAX;
        let mut counters = Counters::new(&mut memory);
        counters.add(1, 100);
        counters.add(1, 100);
        let mut totals = [LatencyHistogram::new(), LatencyHistogram::new()];
        counters.add_to(&mut totals);
        let [none, total] = totals;
        assert_eq!(none.total(), 0);
        assert_eq!(total.buckets().next(), Some((100, 100, (1 << 32) + 1)));
        assert_eq!(total.total(), (1 << 33));
    }
}
