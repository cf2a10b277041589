//! Whether two samples of repetitions differ: the only test of differences, and the test of which sample is steadier.

use statrs::distribution::{ContinuousCDF, FisherSnedecor, StudentsT};

use crate::statistics::{
    CommonScatter, DIFFERENCE_LEVEL, Inflation, Summary, inflation, mann_whitney, median_bounds, shift,
};

/// The minimum number of repetitions on each side for a difference that is shown: five against five that do not overlap
/// have an exact probability of 0.008, four against four 0.029.
pub const DIFFERENCE_LEAST: usize = 5;

/// The minimum number on each side for one that is obvious.
pub const OBVIOUS_LEAST: usize = 2;

/// Fewer values than [`DIFFERENCE_LEAST`] on a side have to be apart by this factor: scatter that differs between both
/// sides deceives a t test of two or three values.
pub(crate) const OBVIOUS_APART: f64 = 1.5;

/// So many values on one side tell whether a single one is of their kind: it has to be beyond their range by
/// half of it, and the t test has to tell it apart.
pub const MANY: usize = 20;

/// See [`MANY`]. Of normal and skewed values one in a hundred is told apart falsely, of two states up to two.
const BEYOND_MANY: f64 = 0.5;

/// The best grade that a difference of so many values can have.
pub(crate) const fn best_grade(before: usize, after: usize) -> Option<Grade> {
    let (least, most) = if before < after { (before, after) } else { (after, before) };
    match (least, most) {
        (DIFFERENCE_LEAST.., _) => Some(Grade::Shown),
        (OBVIOUS_LEAST.., _) | (1.., MANY..) => Some(Grade::Obvious),
        _ => None,
    }
}

/// Relative resolution: closer values are equal, and the scatter of a sample is assumed to be at least this large.
/// Far above rounding, and far below the clock resolution for a phase.
const RESOLUTION: f64 = 1e-9;

/// The comparisons that are made together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Family {
    /// Their number.
    pub size: usize,
    /// The scatter that the samples of either side have in common, if it is known.
    pub scatter: Option<[CommonScatter; 2]>,
    /// How much their values depend on each other.
    pub inflation: Inflation,
}

impl Family {
    /// The family of `size` comparisons among these samples, those of one side and those of the other.
    #[must_use]
    pub fn of_samples(size: usize, before: &[&[f64]], after: &[&[f64]]) -> Self {
        let [one, other] = [before, after].map(|side| CommonScatter::of_samples(side.iter().copied()));
        let inflation = inflation(before.iter().chain(after).copied());
        Self { size, scatter: one.zip(other).map(|(one, other)| [one, other]), inflation }
    }

    /// The family of `size` comparisons of samples with each other.
    #[must_use]
    pub fn within(size: usize, samples: &[&[f64]]) -> Self {
        let scatter = CommonScatter::of_samples(samples.iter().copied()).map(|common| [common; 2]);
        Self { size, scatter, inflation: inflation(samples.iter().copied()) }
    }
}

impl From<usize> for Family {
    /// A family whose samples have nothing in common.
    fn from(size: usize) -> Self {
        Self { size, scatter: None, inflation: Inflation::default() }
    }
}

/// The result of comparing two samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contrast {
    /// The second sample is higher.
    Higher,
    /// The second sample is lower.
    Lower,
    /// No difference was shown. That does not mean that there is none: see [`Difference::interval`].
    NotShown,
    /// A side has fewer than [`DIFFERENCE_LEAST`] values, and no difference is obvious.
    TooFew,
}

/// How well a difference is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grade {
    /// It holds whatever the distribution of the values is.
    Shown,
    /// No value of one side is among those of the other, and it holds unless the storage has two states this far apart:
    /// too few values tell that from a difference.
    Obvious,
}

/// The comparison of two samples of a positive quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Difference {
    /// Median of the first sample.
    pub before: f64,
    /// Median of the second sample.
    pub after: f64,
    /// After ÷ before − 1.
    pub change: f64,
    /// The interval of the change, with a confidence of at least 1 − [`DIFFERENCE_LEVEL`] ÷ family. `None` if there
    /// are too few values. It contains 0 whenever no difference is shown.
    pub interval: Option<(f64, f64)>,
    /// The larger of the probabilities of both tests, corrected for the family: at most [`DIFFERENCE_LEVEL`] if a
    /// difference is stated. `None` if there are too few values.
    pub p_value: Option<f64>,
    pub n: (usize, usize),
    pub outcome: Contrast,
    /// How well the outcome is known if a difference is stated.
    pub grade: Grade,
    /// Repetitions on each side from which on a difference can be shown in its family.
    pub to_show: usize,
}

impl Difference {
    /// Whether one side was shown to be higher, or is obviously so.
    #[must_use]
    pub const fn is_stated(&self) -> bool {
        matches!(self.outcome, Contrast::Higher | Contrast::Lower)
    }

    /// Whether one side was shown to be higher.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        self.is_stated() && self.grade == Grade::Shown
    }

    /// Whether each side has [`DIFFERENCE_LEAST`] values, which is enough for one of several devices or nodes at the
    /// same work: that all others were in another state in each pass is told from their medians.
    pub(crate) fn is_repeated(&self) -> bool {
        self.n.0.min(self.n.1) >= DIFFERENCE_LEAST
    }

    /// Whether it is stated although too few values show it.
    #[must_use]
    pub fn is_obvious(&self) -> bool {
        self.is_stated() && self.grade == Grade::Obvious
    }
}

/// The number of repetitions on each side from which on a difference can be shown in a family: the probability that a
/// storage with two states is in one of them on one side and in the other one on the other has to be small enough.
#[must_use]
pub fn repetitions_to_show(family: usize) -> usize {
    (DIFFERENCE_LEAST..).find(|n| tells_states(*n, *n, family)).unwrap_or(usize::MAX)
}

/// Whether two states of a storage, each as likely as the other, are told from a difference of both sides.
fn tells_states(m: usize, n: usize, family: usize) -> bool {
    let values = i32::try_from(m + n).unwrap_or(i32::MAX);
    2.0_f64.powi(1 - values) * family.max(1) as f64 <= DIFFERENCE_LEVEL
}

/// Compares independent repetitions of a positive quantity; `family` is what is compared together with them: its
/// number, or [`Family`].
///
/// A difference is shown if two tests show it. The rank test of Mann and Whitney has to reach [`DIFFERENCE_LEVEL`]:
/// it assumes no distribution, and an outlier cannot make it detect a difference that is not there. The t test of the
/// logarithms, which allows both sides to scatter differently, has to reach [`DIFFERENCE_LEVEL`] ÷ size of the family
/// (Bonferroni), a level that ranks of five or six repetitions cannot reach. So a storage with two states could
/// show one by chance in a large family: if it has not enough values for that, see [`repetitions_to_show`], a
/// difference is at most obvious. The same t test shows one that is obvious; no value of one side may be among those of
/// the other, and fewer than [`DIFFERENCE_LEAST`] have to be apart by a factor of 1.5. The sources are in
/// `docs/STATISTICS.md`.
///
/// Returns `None` if a side has no value, or one that is not finite or not above 0.
///
/// ```
/// use analysis::statistics::{Contrast, difference};
/// let before = [100.0, 101.0, 99.0, 100.5, 99.5];
/// let found = difference(&before, &before.map(|rate| rate * 1.1), 1).expect("positive values");
/// assert_eq!(found.outcome, Contrast::Higher);
/// ```
#[must_use]
pub fn difference(before: &[f64], after: &[f64], family: impl Into<Family>) -> Option<Difference> {
    let mut among = family.into();
    let family = among.size;
    let (first, second) = (Summary::of(before)?, Summary::of(after)?);
    let change = second.median / first.median - 1.0;
    let untested = Difference {
        before: first.median,
        after: second.median,
        change,
        interval: None,
        p_value: None,
        n: (first.n, second.n),
        outcome: Contrast::TooFew,
        grade: Grade::Obvious,
        to_show: repetitions_to_show(family),
    };
    if first.min <= 0.0 || second.min <= 0.0 {
        return None;
    }
    let least = first.n.min(second.n);
    if best_grade(first.n, second.n).is_none() {
        return Some(untested);
    }
    let apart = (second.min / first.max).max(first.min / second.max);
    let can_be_shown = least >= DIFFERENCE_LEAST && tells_states(first.n, second.n, family);
    among.inflation = among.inflation.or(inflation([before, after]));
    let (before, after) = (logarithms(before), logarithms(after));
    let (ranks, family) = (mann_whitney(&before, &after)?, family.max(1) as f64);
    let (moved, error, student) = means([&Summary::of(&before)?, &Summary::of(&after)?], &among)?;
    let by_means = if moved.abs() < RESOLUTION { 1.0 } else { 2.0 * student.sf((moved / error).abs()) };
    let by_means = (by_means * family).min(1.0);
    if least < DIFFERENCE_LEAST {
        let many = if first.n > second.n { &first } else { &second };
        let beyond_many = || many.n >= MANY && apart > (many.max / many.min).powf(BEYOND_MANY);
        let is_apart = apart >= OBVIOUS_APART || beyond_many();
        let is_obvious = by_means <= DIFFERENCE_LEVEL && is_apart;
        let outcome = match is_obvious {
            true if change > 0.0 => Contrast::Higher,
            true => Contrast::Lower,
            false => Contrast::TooFew,
        };
        return Some(Difference { outcome, ..untested });
    }
    let p_value = ranks.p_value.max(by_means);
    let pairs = (first.n * second.n) as f64;
    let sides = [moved, 2.0 * ranks.u - pairs, change];
    // Medians, means and ranks have to agree.
    let outcome = match () {
        () if p_value > DIFFERENCE_LEVEL || !(can_be_shown || apart > 1.0) => Contrast::NotShown,
        () if sides.iter().all(|&side| side > 0.0) => Contrast::Higher,
        () if sides.iter().all(|&side| side < 0.0) => Contrast::Lower,
        () => Contrast::NotShown,
    };
    // The range that either test allows, so that the interval never excludes what the outcome leaves open. The lower
    // tail is used because 1 − level ÷ 2 would round to 1 in a large family.
    let interval = shift(&before, &after, 1.0 - DIFFERENCE_LEVEL).map(|(low, high)| {
        let reach = -student.inverse_cdf(DIFFERENCE_LEVEL / family / 2.0) * error;
        let (low, high) = (low.min(moved - reach), high.max(moved + reach));
        let open = outcome == Contrast::NotShown;
        let (low, high) = if open { (low.min(0.0), high.max(0.0)) } else { (low, high) };
        (low.exp_m1(), high.exp_m1())
    });
    let grade = if can_be_shown { Grade::Shown } else { Grade::Obvious };
    Some(Difference { interval, p_value: Some(p_value), outcome, grade, ..untested })
}

fn logarithms(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value.ln()).collect()
}

/// The share of their range that the bounds of n values are beyond the outermost ones, where ranks do not reach
/// [`DIFFERENCE_LEVEL`].
pub(crate) const fn beyond_range(n: usize) -> Option<f64> {
    match n {
        ..=DIFFERENCE_LEAST => Some(0.5),
        6 => Some(0.25),
        _ => None,
    }
}

/// The bounds of a positive quantity from its repetitions, for a comparison with a number. The quantity is below or
/// above them with a probability of at most [`DIFFERENCE_LEVEL`] ÷ `family` each by Student's t of the logarithms,
/// and of at most [`DIFFERENCE_LEVEL`] by ranks. The ranks of five or six values do not reach that: their range is
/// widened by a half, or a quarter, on each side. Returns `None` for fewer than [`DIFFERENCE_LEAST`] repetitions, or
/// if one is not above 0.
#[must_use]
pub fn bounds(values: &[f64], family: usize) -> Option<(f64, f64)> {
    if values.len() < DIFFERENCE_LEAST || values.iter().any(|&value| value <= 0.0) {
        return None;
    }
    let Summary { mean, deviation_sample, min, max, .. } = Summary::of(&logarithms(values))?;
    let ranks = median_bounds(values, DIFFERENCE_LEVEL).map(|ranks| (ranks.low.ln(), ranks.high.ln()));
    let (low, high) = match beyond_range(values.len()) {
        Some(share) => (min - share * (max - min), max + share * (max - min)),
        None => ranks?,
    };
    let n = values.len() as f64;
    let student = StudentsT::new(0.0, 1.0, n - 1.0).ok()?;
    let error = deviation_sample.max(RESOLUTION) / n.sqrt();
    let reach = -student.inverse_cdf(DIFFERENCE_LEVEL / family.max(1) as f64) * error;
    Some((low.min(mean - reach).exp(), high.max(mean + reach).exp()))
}

/// Student's test of the means of two samples with at least two values each: the mean of the second − that of the
/// first, its standard error, and its distribution.
fn means(sides: [&Summary; 2], among: &Family) -> Option<(f64, f64, StudentsT)> {
    let own = sides.map(|all| (all.deviation_sample.max(RESOLUTION).powi(2), (all.n - 1) as f64));
    let counts = sides.map(|all| all.n as f64);
    // Two or three values tell nothing of their variance, and are pooled: a gap between the sides protects these.
    let is_few = sides.iter().any(|all| all.n < DIFFERENCE_LEAST);
    let satterthwaite = || {
        let [a, b] = [0, 1].map(|side| own[side].0 / counts[side]);
        (a + b).powi(2) / (a * a / own[0].1 + b * b / own[1].1)
    };
    let (variances, freedom) = match among.scatter {
        _ if is_few => {
            let all = own[0].1 + own[1].1;
            ([own.iter().map(|(variance, freedom)| variance * freedom).sum::<f64>() / all; 2], all)
        }
        // What is known of the side that is known worse counts, because few variances tell badly how different they
        // are.
        Some(common) => {
            let [one, other] = [0, 1].map(|side| common[side].moderated(own[side].0, own[side].1));
            ([one.0, other.0], one.1.min(other.1).max(satterthwaite()))
        }
        None => (own.map(|(variance, _)| variance), satterthwaite()),
    };
    let of_mean = |side: usize| among.inflation.of_mean(sides[side].n) * variances[side] / counts[side];
    let error = (of_mean(0) + of_mean(1)).sqrt();
    Some((sides[1].mean - sides[0].mean, error, StudentsT::new(0.0, 1.0, freedom).ok()?))
}

/// The minimum number of values on a side: fewer do not tell a wider spread from a second state.
pub const SPREAD_VALUES_MIN: usize = 8;

/// Which of two samples is steadier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name says it")]
pub enum Steadier {
    First,
    Second,
    /// No difference beyond chance was shown.
    NoDifference,
    /// A side has fewer than [`SPREAD_VALUES_MIN`] values.
    TooFew,
}

/// The comparison of the spreads of two samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpreadTest {
    /// Coefficient of variation of the first sample.
    pub first: f64,
    /// Coefficient of variation of the second sample.
    pub second: f64,
    /// Probability that two samples with the same relative spread differ at least this much.
    pub p_value: f64,
    /// The result.
    pub steadier: Steadier,
}

/// Two tests of the distances of the logarithms from their median, each at half of [`DIFFERENCE_LEVEL`]: an analysis of
/// variance, F with 1 and N − 2 degrees of freedom (Brown and Forsythe, Journal of the American Statistical Association
/// 69, 1974), and the rank test of Mann and Whitney, which a few distant values do not mislead. The distances are
/// relative, so that a system with twice the rate may spread by twice the bytes, and taken from the median, so that
/// skewed rates do not count as widely spread ones.
///
/// Returns `None` if a side has fewer than two values, or one that is not finite or not above 0.
#[must_use]
pub fn compare_spread(first: &[f64], second: &[f64]) -> Option<SpreadTest> {
    let of = |values: &[f64]| {
        let all = Summary::of(values).filter(|all| all.n > 1 && all.min > 0.0)?;
        let distances: Vec<f64> = values.iter().map(|value| (value / all.median).ln().abs()).collect();
        Some((all.variation, Summary::of(&distances)?, distances))
    };
    let ((first, a, of_first), (second, b, of_second)) = (of(first)?, of(second)?);
    let by_ranks = mann_whitney(&of_first, &of_second)?.p_value;
    let (m, n) = (a.n as f64, b.n as f64);
    let squares = |all: &Summary| all.deviation_sample.powi(2) * (all.n - 1) as f64;
    let between = (a.mean - b.mean).powi(2) * m * n / (m + n);
    let within = (squares(&a) + squares(&b)) / (m + n - 2.0);
    let by_means = match between <= f64::EPSILON * a.mean.max(b.mean).powi(2) {
        true => 1.0,
        false => FisherSnedecor::new(1.0, m + n - 2.0).map_or(1.0, |ratio| ratio.sf(between / within)),
    };
    let p_value = (2.0 * by_means.max(by_ranks)).min(1.0);
    let steadier = if a.n.min(b.n) < SPREAD_VALUES_MIN {
        Steadier::TooFew
    } else if p_value > DIFFERENCE_LEVEL {
        Steadier::NoDifference
    } else if a.mean < b.mean {
        Steadier::First
    } else {
        Steadier::Second
    };
    Some(SpreadTest { first, second, p_value, steadier })
}
