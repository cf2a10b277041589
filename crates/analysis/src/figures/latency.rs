//! Latency statistics from the histograms of all transfers.

use plan::{FigureQuantity, Measure, Operation};
use record::LatencyRow;

use crate::statistics::{
    Beyond, PERCENTILE_LEVEL, beyond_at_least, beyond_at_most, passes_beyond, passes_within,
};

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
        new(
            "p99",
            "p99",
            Always,
            Percentile(99.0),
            "99 of 100 took at most this long; of fewer than 100 in all, the longest",
        ),
        new(
            "p99_9",
            "p99.9",
            Latencies,
            Percentile(99.9),
            "999 of 1,000 took at most this long; of fewer than 1,000 in all, the longest",
        ),
        new(
            "p99_99",
            "p99.99",
            Figure,
            Percentile(99.99),
            "9,999 of 10,000 took at most this long; of fewer than 10,000 in all, the longest",
        ),
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
    /// Whether the mean is printed by another tool, and not computed from the buckets.
    is_mean_printed: bool,
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
        let wanted = |row: &&LatencyRow| row.operation == operation && row.measure == measure;
        let (mut buckets, mut printed) = (Vec::new(), None);
        for row in rows.into_iter().filter(wanted) {
            match row.count {
                0 => printed = Some(row.low_ns as f64),
                count => buckets.push(Bucket { low_ns: row.low_ns, high_ns: row.high_ns, count }),
            }
        }
        let all = Self::with(buckets);
        let mean_ns = printed.unwrap_or(all.mean_ns);
        (all.count > 0).then_some(Self { mean_ns, is_mean_printed: printed.is_some(), ..all })
    }

    /// Adds the transfers of `other`.
    pub fn add(&mut self, other: &Self) {
        let sum = Self::with([self.buckets.as_slice(), &other.buckets].concat());
        let is_mean_printed = self.is_mean_printed || other.is_mean_printed;
        let mean_ns = match is_mean_printed {
            true => {
                let of = |one: &Self| one.mean_ns * one.count as f64;
                (of(self) + of(other)) / sum.count as f64
            }
            false => sum.mean_ns,
        };
        *self = Self { mean_ns, is_mean_printed, ..sum };
    }

    /// The same distribution with only `share` of the transfers, which is from 0 to 1.
    pub(super) fn share(&self, share: f64) -> Self {
        let (mut before, mut given) = (0_u64, 0_u64);
        let thinned = self.buckets.iter().filter_map(|bucket| {
            before = before.saturating_add(bucket.count);
            let count = crate::statistics::whole(before as f64 * share) - given;
            given += count;
            (count > 0).then_some(Bucket { count, ..*bucket })
        });
        Self::with(thinned.collect())
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
        let mut all = Self { buckets, count, mean_ns: 0.0, is_mean_printed: false };
        all.mean_ns = all.mean_of(|middle| middle);
        all
    }

    /// The lower edge, the upper edge and the count of each bucket.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.buckets.iter().map(|one| (one.low_ns, one.high_ns, one.count))
    }

    /// The number of transfers.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean of the bucket middles, weighted by transfers, or the mean that another tool has printed.
    #[must_use]
    pub fn mean_ns(&self) -> f64 {
        self.mean_ns
    }

    /// Whether the mean is printed, or known to within 10 %. With only a few printed percentiles, it can be anywhere
    /// between them.
    #[must_use]
    pub fn knows_mean(&self) -> bool {
        if self.is_mean_printed {
            return true;
        }
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

/// Bounds in nanoseconds, each of which is on the wrong side with a probability of at most
/// [`PERCENTILE_LEVEL`] ÷ family. `None` if there is too little data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct PercentileEnds {
    pub low: Option<u64>,
    pub high: Option<u64>,
}

/// The bounds of a percentile of the latencies of one operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PercentileBounds {
    /// For example 99.9.
    pub percent: f64,
    /// The number of figures that the promise is about, for which the level is corrected; 1 without a correction.
    pub family: usize,
    /// The transfers that they rest on.
    pub transfers: u64,
    /// By order statistics: as if all transfers were independent.
    pub by_transfers: PercentileEnds,
    /// With the pass as the unit.
    pub by_passes: PercentileEnds,
}

impl PercentileBounds {
    /// The level of each bound.
    #[must_use]
    pub fn level(family: usize) -> f64 {
        PERCENTILE_LEVEL / family.max(1) as f64
    }

    /// The bounds from the histograms of several passes, during which `in_flight` transfers were in flight at a time. If
    /// that number is not known, no number of transfers shows an upper bound by passes.
    /// A limit within a bucket is taken to be on the unfavourable side of all transfers in it.
    #[must_use]
    pub fn of(passes: &[&Latency], (percent, family): (f64, usize), in_flight: Option<f64>) -> Self {
        let level = Self::level(family);
        let transfers = passes.iter().fold(0_u64, |sum, pass| sum.saturating_add(pass.count()));
        let few = beyond_at_most(transfers, percent, level);
        let many = beyond_at_least(transfers, percent, level);
        let total = |all: &[Beyond]| all.iter().fold(0_u64, |sum, pass| sum.saturating_add(pass.beyond));
        Self {
            percent,
            family,
            transfers,
            by_transfers: PercentileEnds {
                low: lower(passes, |all| many.is_some_and(|many| total(all) >= many)),
                high: upper(passes, |all| few.is_some_and(|few| total(all) <= few)),
            },
            by_passes: PercentileEnds {
                low: lower(passes, |all| passes_beyond(all, percent, level)),
                high: in_flight
                    .and_then(|in_flight| upper(passes, |all| passes_within(all, percent, in_flight, level))),
            },
        }
    }
}

/// The lowest edge for which `shows` holds, and for all above it, given how many transfers of each pass are above.
fn upper(passes: &[&Latency], shows: impl Fn(&[Beyond]) -> bool) -> Option<u64> {
    let (mut beyond, buckets) = (counts(passes), descending(passes, |(_, high, _)| high));
    let mut found = None;
    for of_edge in buckets.chunk_by(|one, other| one.0 == other.0) {
        if !shows(&beyond) {
            break;
        }
        found = Some(of_edge[0].0);
        for &(_, pass, count) in of_edge {
            beyond[pass].beyond = beyond[pass].beyond.saturating_add(count);
        }
    }
    found
}

/// The highest edge for which `shows` holds, given how many transfers of each pass are at or above it.
fn lower(passes: &[&Latency], shows: impl Fn(&[Beyond]) -> bool) -> Option<u64> {
    let (mut beyond, buckets) = (counts(passes), descending(passes, |(low, ..)| low));
    for of_edge in buckets.chunk_by(|one, other| one.0 == other.0) {
        for &(_, pass, count) in of_edge {
            beyond[pass].beyond = beyond[pass].beyond.saturating_add(count);
        }
        if shows(&beyond) {
            return Some(of_edge[0].0);
        }
    }
    None
}

fn counts(passes: &[&Latency]) -> Vec<Beyond> {
    passes.iter().map(|pass| Beyond { transfers: pass.count(), beyond: 0 }).collect()
}

/// An edge of each bucket of all passes with the index of the pass and the count, the highest edge first.
fn descending(passes: &[&Latency], edge: fn((u64, u64, u64)) -> u64) -> Vec<(u64, usize, u64)> {
    let of_pass = |(index, pass): (usize, &&Latency)| {
        pass.buckets().map(|bucket| (edge(bucket), index, bucket.2)).collect::<Vec<_>>()
    };
    let mut all: Vec<(u64, usize, u64)> = passes.iter().enumerate().flat_map(of_pass).collect();
    all.sort_unstable_by_key(|&(edge, ..)| std::cmp::Reverse(edge));
    all
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
    /// The percentiles that the study promises or expects.
    requested: Box<[(f64, u64)]>,
    bounds: Box<[PercentileBounds]>,
}

/// The percentiles that every latency has: `p50, p90, …`.
#[must_use]
pub fn percentiles() -> String {
    let all = LATENCY_STATISTICS.iter().filter(|one| matches!(one.take, Take::Percentile(_)));
    all.map(|one| one.heading).collect::<Vec<_>>().join(", ")
}

impl LatencySummary {
    /// The statistics of `latency`, with the percentiles `requested` and the bounds of promised ones.
    #[must_use]
    pub fn of(
        operation: Operation,
        measure: Measure,
        latency: &Latency,
        requested: &[f64],
        bounds: Vec<PercentileBounds>,
    ) -> Self {
        Self {
            operation,
            measure,
            count: latency.count,
            knows_mean: latency.knows_mean(),
            nanos: LATENCY_STATISTICS.map(|statistic| statistic.of(latency)),
            requested: requested.iter().map(|&percent| (percent, latency.percentile(percent))).collect(),
            bounds: bounds.into(),
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

    /// The value of a quantity of latencies, as far as it is known.
    pub(crate) fn value(&self, quantity: FigureQuantity) -> Option<f64> {
        match quantity {
            FigureQuantity::Rate => None,
            FigureQuantity::Latency => self.knows_mean.then(|| self.mean_ns()),
            FigureQuantity::Percentile(percent) => self.percentile(percent),
        }
    }

    /// [`Latency::mean_ns`].
    #[must_use]
    pub fn mean_ns(&self) -> f64 {
        self.get("mean")
    }

    /// [`Latency::percentile`] for the percentiles in [`LATENCY_STATISTICS`] and for those that the study promises or
    /// expects.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Option<f64> {
        let is = |of: f64| of.total_cmp(&percent).is_eq();
        let listed =
            self.all().find(|(statistic, _)| matches!(statistic.take, Take::Percentile(of) if is(of)));
        let requested = || self.requested.iter().find(|(of, _)| is(*of)).map(|&(_, nanos)| nanos as f64);
        listed.map(|(_, nanos)| nanos).or_else(requested)
    }
    /// The bounds of a percentile that the study promises or expects, for a family of this size.
    #[must_use]
    pub fn bounds(&self, percent: f64, family: usize) -> Option<&PercentileBounds> {
        self.bounds.iter().find(|one| one.family == family && one.percent.total_cmp(&percent).is_eq())
    }
}

/// The bound of the slowest operation, since a limit of latencies applies to each. An upper bound takes those of all
/// operations.
pub(crate) fn slowest_bound(
    latency: &[LatencySummary],
    (percent, family): (f64, usize),
    high: bool,
    ends: fn(&PercentileBounds) -> PercentileEnds,
) -> Option<f64> {
    let responses = latency.iter().filter(|one| one.measure == Measure::Response);
    let of = |one: &LatencySummary| {
        let ends = ends(one.bounds(percent, family)?);
        (if high { ends.high } else { ends.low }).map(|nanos| nanos as f64)
    };
    let all: Vec<Option<f64>> = responses.map(of).collect();
    let known = all.iter().flatten().copied().reduce(f64::max);
    known.filter(|_| !high || all.iter().all(Option::is_some))
}
