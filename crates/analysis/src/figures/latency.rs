//! Latency statistics from the histograms of all transfers.

use plan::{Measure, Operation};
use record::LatencyRow;

/// Which of the human-readable tables and charts show a latency statistic; JSON and CSV contain all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ShownIn {
    /// In none.
    Nowhere,
    /// In the table of latencies of a figure on the page.
    Figure,
    /// In tables and charts of latencies as well.
    Latencies,
    /// In tables of operations as well.
    Operations,
    /// In tables of sweeps and definitions as well.
    Always,
}

/// How a statistic is computed from a histogram.
#[derive(Debug, Clone, Copy)]
pub enum Take {
    /// An edge of a bucket.
    Edge(fn(&Latency) -> u64),
    /// [`Latency::percentile`].
    Percentile(f64),
    /// Computed from all buckets.
    Mean(fn(&Latency) -> f64),
}

/// A statistic of latencies.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the name says it")]
pub struct LatencyStatistic {
    /// The name in JSON and CSV, without the unit suffix: `p99` becomes `p99_ns` there.
    pub key: &'static str,
    pub heading: &'static str,
    pub shown: ShownIn,
    pub take: Take,
    pub about: &'static str,
}

/// Builds an entry of the list.
const fn new(
    key: &'static str,
    heading: &'static str,
    shown: ShownIn,
    take: Take,
    about: &'static str,
) -> LatencyStatistic {
    LatencyStatistic { key, heading, shown, take, about }
}

impl LatencyStatistic {
    /// The value for `latency` in nanoseconds.
    #[must_use]
    pub fn of(&self, latency: &Latency) -> f64 {
        match self.take {
            Take::Edge(edge) => edge(latency) as f64,
            Take::Percentile(percent) => latency.percentile(percent) as f64,
            Take::Mean(mean) => mean(latency),
        }
    }

    /// Whether the value is a whole number of nanoseconds.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        !matches!(self.take, Take::Mean(_))
    }
}

/// All latency statistics in reports, in nanoseconds, in column order. All report formats are generated from this
/// list.
pub const LATENCY_STATISTICS: [LatencyStatistic; 11] = {
    use ShownIn::{Always, Figure, Latencies, Nowhere, Operations};
    use Take::{Edge, Mean, Percentile};
    [
        new("minimum", "min", Figure, Edge(Latency::min_ns), "the shortest"),
        new("mean", "mean", Always, Mean(Latency::mean_ns), "the mean"),
        new("deviation", "std. dev.", Nowhere, Mean(Latency::deviation_ns), "standard deviation, divisor n"),
        new(
            "mean_deviation",
            "mean dev.",
            Nowhere,
            Mean(Latency::mean_deviation_ns),
            "mean distance from the mean",
        ),
        new("p50", "p50", Operations, Percentile(50.0), "half took at most this long"),
        new("p90", "p90", Figure, Percentile(90.0), "90 of 100 took at most this long"),
        new("p95", "p95", Nowhere, Percentile(95.0), "95 of 100 took at most this long"),
        new("p99", "p99", Always, Percentile(99.0), "99 of 100 took at most this long"),
        new("p99_9", "p99.9", Latencies, Percentile(99.9), "999 of 1,000 took at most this long"),
        new("p99_99", "p99.99", Figure, Percentile(99.99), "9,999 of 10,000 took at most this long"),
        new("maximum", "max", Operations, Edge(Latency::max_ns), "the longest"),
    ]
};

/// The maximum relative error of a mean that counts as known.
const MEAN_KNOWN: f64 = 0.1;

/// A bucket of latencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Bucket {
    high_ns: u64,
    low_ns: u64,
    count: u64,
}

/// The latency of all operations of one kind, in one phase or merged from several.
///
/// Every transfer is in exactly one bucket, and merging adds buckets. A bucket is narrower than 1 % of its values,
/// which bounds the error of every statistic here.
#[derive(Debug, Clone, PartialEq)]
pub struct Latency {
    buckets: Vec<Bucket>,
    count: u64,
    mean_ns: f64,
}

impl Latency {
    /// The histogram of one operation and measure in `rows`, over all phases and repetitions in `rows`. Returns
    /// `None` if no transfer was counted.
    #[must_use]
    pub fn of<'a>(
        rows: impl IntoIterator<Item = &'a LatencyRow>,
        operation: Operation,
        measure: Measure,
    ) -> Option<Self> {
        let wanted =
            |row: &&LatencyRow| row.operation == operation && row.measure == measure && row.count > 0;
        let bucket = |row: &LatencyRow| Bucket { low_ns: row.low_ns, high_ns: row.high_ns, count: row.count };
        let all = Self::with(rows.into_iter().filter(wanted).map(bucket).collect());
        (all.count > 0).then_some(all)
    }

    /// Adds the transfers of `other`.
    pub fn add(&mut self, other: &Self) {
        *self = Self::with([self.buckets.as_slice(), &other.buckets].concat());
    }

    fn with(mut buckets: Vec<Bucket>) -> Self {
        // The sort recognises two concatenated sorted histograms and merges them in one pass.
        buckets.sort();
        buckets.dedup_by(|later, kept| {
            let same = (later.low_ns, later.high_ns) == (kept.low_ns, kept.high_ns);
            if same {
                kept.count = kept.count.saturating_add(later.count);
            }
            same
        });
        buckets.shrink_to_fit();
        let count = buckets.iter().fold(0_u64, |sum, bucket| sum.saturating_add(bucket.count));
        let mut all = Self { buckets, count, mean_ns: 0.0 };
        all.mean_ns = all.mean_of(|middle| middle);
        all
    }

    /// The number of transfers.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean of the bucket middles, weighted by transfers.
    #[must_use]
    pub fn mean_ns(&self) -> f64 {
        self.mean_ns
    }

    /// Whether the mean is known to within 10 %. With only a few printed percentiles, it can be anywhere between
    /// them.
    #[must_use]
    pub fn knows_mean(&self) -> bool {
        let off = |one: &Bucket| one.high_ns.saturating_sub(one.low_ns) as f64 / 2.0 * one.count as f64;
        self.buckets.iter().map(off).sum::<f64>() / self.count as f64 <= self.mean_ns() * MEAN_KNOWN
    }

    /// The standard deviation with divisor n, from the bucket middles; ioping prints it as `mdev`.
    #[must_use]
    pub fn deviation_ns(&self) -> f64 {
        self.mean_of(|middle| (middle - self.mean_ns).powi(2)).sqrt()
    }

    /// The mean absolute deviation over all operations, from the bucket middles.
    #[must_use]
    pub fn mean_deviation_ns(&self) -> f64 {
        self.mean_of(|middle| (middle - self.mean_ns).abs())
    }

    /// The mean of `value` over all operations, applied to the middles of their buckets.
    fn mean_of(&self, value: impl Fn(f64) -> f64) -> f64 {
        let middle = |one: &Bucket| f64::midpoint(one.low_ns as f64, one.high_ns as f64);
        let of_buckets = self.buckets.iter().map(|one| value(middle(one)) * one.count as f64);
        of_buckets.sum::<f64>() / self.count as f64
    }

    /// The lower edge of the lowest bucket: no transfer was faster.
    #[must_use]
    pub fn min_ns(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.low_ns).min().unwrap_or(0)
    }

    /// The upper edge of the highest bucket: no transfer was slower.
    #[must_use]
    pub fn max_ns(&self) -> u64 {
        self.buckets.last().map_or(0, |bucket| bucket.high_ns)
    }

    /// The latency that `percent` of the transfers did not exceed: the upper edge of the bucket that holds the
    /// nearest rank, `⌈percent / 100 · count⌉`, so it is never too low.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> u64 {
        let rank = crate::statistics::nearest_rank(percent, self.count) as u64;
        let mut seen = 0_u64;
        let holds = |bucket: &&Bucket| {
            seen = seen.saturating_add(bucket.count);
            seen >= rank
        };
        self.buckets.iter().find(holds).map_or(self.max_ns(), |bucket| bucket.high_ns)
    }
}

/// All statistics of the latencies of one operation, for one pass or for all counted ones. The histograms of a long
/// study are too large for a report to hold.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct LatencySummary {
    pub operation: Operation,
    /// What the latency measures.
    pub measure: Measure,
    pub count: u64,
    /// [`Latency::knows_mean`].
    pub knows_mean: bool,
    /// Nanoseconds, in the order of [`LATENCY_STATISTICS`].
    pub nanos: [f64; LATENCY_STATISTICS.len()],
    /// The percentiles that the study's commitments need.
    requested: Box<[(f64, u64)]>,
}

impl LatencySummary {
    /// The statistics of `latency`, with the percentiles `requested`.
    #[must_use]
    pub fn of(operation: Operation, measure: Measure, latency: &Latency, requested: &[f64]) -> Self {
        Self {
            operation,
            measure,
            count: latency.count,
            knows_mean: latency.knows_mean(),
            nanos: LATENCY_STATISTICS.map(|statistic| statistic.of(latency)),
            requested: requested.iter().map(|&percent| (percent, latency.percentile(percent))).collect(),
        }
    }

    /// All statistics with their values in nanoseconds.
    pub fn all(&self) -> impl Iterator<Item = (&'static LatencyStatistic, f64)> + '_ {
        static LIST: [LatencyStatistic; LATENCY_STATISTICS.len()] = LATENCY_STATISTICS;
        LIST.iter().zip(self.nanos)
    }

    /// The value of the statistic named `key`, in nanoseconds; NaN if the list has none.
    #[must_use]
    pub fn get(&self, key: &str) -> f64 {
        self.all().find(|(statistic, _)| statistic.key == key).map_or(f64::NAN, |(_, nanos)| nanos)
    }

    /// [`Latency::mean_ns`].
    #[must_use]
    pub fn mean_ns(&self) -> f64 {
        self.get("mean")
    }

    /// [`Latency::percentile`] for the percentiles in [`LATENCY_STATISTICS`] and for those that the commitments of
    /// the study need.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Option<f64> {
        let is = |of: f64| of.total_cmp(&percent).is_eq();
        let listed =
            self.all().find(|(statistic, _)| matches!(statistic.take, Take::Percentile(of) if is(of)));
        let requested = || self.requested.iter().find(|(of, _)| is(*of)).map(|&(_, nanos)| nanos as f64);
        listed.map(|(_, nanos)| nanos).or_else(requested)
    }
}
