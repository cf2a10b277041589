//! Whether a promised percentile was kept.

use plan::{Bound, Commitment, Measure, Over, Statistic};

use crate::figures::{Figure, LatencySummary, PercentileBounds, RepetitionFigure, slowest_bound};
use crate::gate::median_keeps;
use crate::statistics::{CONFIDENCE, Summary, median_bounds, passes_needed, transfers_needed, whole};

/// A promise about a percentile of the latency in one figure.
pub(super) struct PercentilePromise<'a> {
    pub(super) commitment: &'a Commitment,
    pub(super) percent: f64,
    /// In nanoseconds.
    pub(super) promised: f64,
    pub(super) figure: &'a Figure,
    /// The number of figures that the promise is about.
    pub(super) cases: usize,
    /// The transfers in flight at a time.
    pub(super) in_flight: Option<f64>,
}

/// How a figure stands to the promise.
pub(super) struct Settled {
    /// The statistic that was agreed on, over the percentiles of the passes.
    pub(super) measured: f64,
    pub(super) margin: f64,
    /// The bound that has to keep the promise, and its confidence.
    pub(super) bound: Option<(f64, f64)>,
    /// The bound that has to break it.
    pub(super) best: Option<f64>,
    pub(super) doubts: Vec<String>,
}

/// Bounds by transfers and by passes on one side; `None` if there is too little data.
type Ends = (Option<f64>, Option<f64>);

impl PercentilePromise<'_> {
    /// Judges the promise by `values`, the percentile of each counted pass.
    ///
    /// - It is kept only if the statistic keeps it, and the less favourable of two bounds: by order statistics of all
    ///   transfers, and with the pass as the unit. If the best repetition is enough, order statistics of that
    ///   repetition alone, corrected for the number of repetitions.
    /// - It is broken only if the statistic misses it, the order statistics of all transfers show that, and the median
    ///   of the passes misses it as the median of a rate would. If the worst repetition counts, order statistics of
    ///   that repetition alone, corrected as above.
    /// - Otherwise it is doubtful. In a model that does not describe the percentile it always is.
    pub(super) fn settled(&self, values: &[f64]) -> Option<Settled> {
        let all = Summary::of(values)?;
        let (worst, best) = if self.at_least() { (all.min, all.max) } else { (all.max, all.min) };
        let (by_transfers, by_passes) = self.keeping();
        let keeps = match self.commitment.statistic {
            Statistic::Best => by_transfers,
            _ => by_transfers.zip(by_passes).map(|(one, other)| self.worse(one, other)),
        };
        let breaks = self.breaking();
        let measured = match self.commitment.statistic {
            Statistic::Median => all.median,
            Statistic::Mean => all.mean,
            Statistic::Worst => worst,
            Statistic::Best => best,
            Statistic::ConfidenceBound => keeps.unwrap_or(worst),
        };
        let is_kept = self.margin(measured) >= 0.0 && keeps.is_some_and(|end| self.margin(end) >= 0.0);
        let is_broken = self.margin(measured) < 0.0
            && breaks.is_some_and(|end| self.margin(end) < 0.0)
            && self.median_breaks(values, all.median);
        let confidence = 1.0 - PercentileBounds::level(self.among());
        let doubts = match self.beyond_model() {
            Some(doubt) => vec![doubt],
            None if is_kept || is_broken => Vec::new(),
            None => self.doubts((by_transfers, by_passes), breaks),
        };
        Some(Settled {
            measured,
            margin: self.margin(measured),
            bound: keeps.map(|end| (end, confidence)),
            best: breaks,
            doubts,
        })
    }

    /// Why the model says nothing about the percentile.
    fn beyond_model(&self) -> Option<String> {
        let (percent, described) = (self.percent, self.figure.percentile_of_model?);
        (percent > described).then(|| match described {
            0.0 => format!("the model describes mean times, not p{percent}"),
            _ => format!("the model describes percentiles up to p{described}, not p{percent}"),
        })
    }

    fn at_least(&self) -> bool {
        self.commitment.bound == Bound::AtLeast
    }

    /// If any of several figures is enough, one may keep the promise by chance.
    fn among(&self) -> usize {
        if self.commitment.over == Over::Best { self.cases.max(1) } else { 1 }
    }

    /// If several figures all have to keep it, one may break it by chance.
    fn of_all(&self) -> usize {
        if self.commitment.over == Over::Every { self.cases.max(1) } else { 1 }
    }

    /// The share by which a latency is on the good side of the promise.
    fn margin(&self, nanos: f64) -> f64 {
        let share = nanos / self.promised;
        if self.at_least() { share - 1.0 } else { 1.0 - share }
    }

    fn worse(&self, one: f64, other: f64) -> f64 {
        if self.at_least() { one.min(other) } else { one.max(other) }
    }

    /// The bounds that have to keep the promise.
    fn keeping(&self) -> Ends {
        let high = !self.at_least();
        if self.commitment.statistic != Statistic::Best {
            let of = |ends| slowest_bound(&self.figure.latency, (self.percent, self.among()), high, ends);
            return (of(|one| one.by_transfers), of(|one| one.by_passes));
        }
        let ends = self.of_passes(self.among(), high);
        let best = if high { ends.reduce(f64::min) } else { ends.reduce(f64::max) };
        (best, best)
    }

    /// The bound that has to break the promise.
    fn breaking(&self) -> Option<f64> {
        let high = self.at_least();
        if self.commitment.statistic != Statistic::Worst {
            return slowest_bound(&self.figure.latency, (self.percent, self.of_all()), high, |one| {
                one.by_transfers
            });
        }
        let ends = self.of_passes(self.of_all(), high);
        if high { ends.reduce(f64::min) } else { ends.reduce(f64::max) }
    }

    /// The bound of each counted pass by its own transfers, as one of all passes.
    fn of_passes(&self, family: usize, high: bool) -> impl Iterator<Item = f64> + '_ {
        let asked = (self.percent, family * self.figure.counted().count());
        let end =
            move |pass: &RepetitionFigure| slowest_bound(&pass.latency, asked, high, |one| one.by_transfers);
        self.figure.counted().filter_map(end)
    }

    /// Whether the median of the passes' percentiles misses the promise, and not by chance. A single transfer refutes
    /// that none takes longer, and a single repetition that the worst keeps it.
    fn median_breaks(&self, values: &[f64], median: f64) -> bool {
        let one_is_enough = self.percent >= 100.0 && !self.at_least();
        if one_is_enough || self.commitment.statistic == Statistic::Worst {
            return true;
        }
        let ends = median_bounds(values, 1.0 - CONFIDENCE);
        let margins = ends.map(|ends| (self.margin(ends.low), self.margin(ends.high)));
        median_keeps(self.margin(median), margins) == Some(false)
    }

    /// Why `passes` with `all` transfers together give no bound.
    fn too_few_passes(&self, all: u64, passes: usize, in_flight: f64, level: f64) -> String {
        let percent = self.percent;
        let each = all as f64 / passes.max(1) as f64;
        let needed = passes_needed(percent, each, in_flight, level).unwrap_or(u64::MAX);
        if needed <= passes as u64 {
            return format!("the repetitions differ too much for a bound of p{percent}: more are needed");
        }
        let each = whole(each);
        format!(
            "p{percent} takes at least {needed} repetitions of {each} transfers with {in_flight} in flight, not {passes}"
        )
    }

    /// Why it is neither kept nor broken: what is missing, or where the bounds are.
    fn doubts(&self, (by_transfers, by_passes): Ends, breaks: Option<f64>) -> Vec<String> {
        let Self { percent, in_flight, .. } = self;
        let of_one = self.commitment.statistic == Statistic::Best;
        let passes = self.figure.counted().count();
        let level = PercentileBounds::level(self.among()) / if of_one { passes.max(1) as f64 } else { 1.0 };
        let Some(needed) = transfers_needed(*percent, level) else {
            return vec![format!(
                "no number of transfers shows that none takes longer: promise a percentile below {percent}"
            )];
        };
        let all = self.transfers();
        let there = if of_one { all / passes.max(1) as u64 } else { all };
        let mut doubts = Vec::new();
        if by_transfers.is_none() {
            let each = if of_one { " in one repetition" } else { "" };
            doubts.push(format!("p{percent} takes at least {needed} transfers{each}, not {there}"));
        }
        if by_passes.is_none() && !of_one {
            doubts.push(match in_flight {
                Some(in_flight) => self.too_few_passes(all, passes, *in_flight, level),
                None => {
                    format!("p{percent} depends on how many transfers were in flight, which is not printed")
                }
            });
        }
        if doubts.is_empty() {
            let off = |end: Option<f64>| match end {
                Some(end) => format!("{:+.2} %", (end / self.promised - 1.0) * 100.0),
                None => "unknown".to_owned(),
            };
            let keeps = by_transfers.zip(by_passes).map(|(one, other)| self.worse(one, other));
            let (low, high) = if self.at_least() { (keeps, breaks) } else { (breaks, keeps) };
            doubts.push(format!(
                "shown neither to be kept nor to be broken: the bounds of p{percent} are {} and {} from what was \
                 promised, and more repetitions narrow them",
                off(low),
                off(high)
            ));
        }
        doubts
    }

    /// The transfers of the operation with the fewest; of a model those that were simulated.
    fn transfers(&self) -> u64 {
        let responses = self.figure.latency.iter().filter(|one| one.measure == Measure::Response);
        let of = |one: &LatencySummary| {
            one.bounds(self.percent, self.among()).map_or(one.count, |bounds| bounds.transfers)
        };
        responses.map(of).min().unwrap_or(0)
    }
}
