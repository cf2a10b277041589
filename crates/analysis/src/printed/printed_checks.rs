//! Whether values that another tool printed together are consistent.
//!
//! A printed value is known to half a unit of its last digit, see [`Printed`]; a value computed from several is known
//! to the sum of their errors. A check passes if the two ranges overlap, so that rounding is not reported as an error
//! and an error is not excused as rounding.

use crate::gate::Judgement;

/// A printed number, with half a unit of its last digit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Printed {
    /// The number.
    pub value: f64,
    /// The maximum rounding error.
    pub half_digit: f64,
}

impl Printed {
    /// Parses a number as tools print it: digits, a point, digits, with an optional sign and exponent. Returns `None`
    /// if it is not a finite number.
    ///
    /// ```
    /// let printed = analysis::printed::Printed::parse("77104.55").expect("a number");
    /// assert_eq!((printed.value, printed.half_digit), (77104.55, 0.005));
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let last_digit = exponent - i32::try_from(decimals).ok()?;
        Some(Self { value, half_digit: 0.5 * 10_f64.powi(last_digit) })
    }

    /// An exact number, such as a count.
    #[must_use]
    pub const fn exact(value: f64) -> Self {
        Self { value, half_digit: 0.0 }
    }

    pub(super) fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, half_digit: self.half_digit * factor.abs() }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self { value: self.value + other.value, half_digit: self.half_digit + other.half_digit }
    }

    /// The rounding error relative to the number.
    pub(crate) fn share(self) -> f64 {
        if self.value == 0.0 { 0.0 } else { (self.half_digit / self.value).abs() }
    }

    /// The product of two printed numbers.
    pub(super) fn by(self, other: Self) -> Self {
        let half_digit =
            self.half_digit * (other.value.abs() + other.half_digit) + self.value.abs() * other.half_digit;
        Self { value: self.value * other.value, half_digit }
    }

    /// The quotient of two printed numbers; their relative rounding errors add up. Returns `None` if the divisor
    /// is 0.
    pub(super) fn over(self, divisor: Self) -> Option<Self> {
        let value = self.value / divisor.value;
        value.is_finite().then(|| Self { value, half_digit: value.abs() * (self.share() + divisor.share()) })
    }
}

/// One rule, applied to printed values.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct PrintedCheck {
    pub rule: &'static str,
    /// Whether the values agree; [`Judgement::CannotTell`] if a value has to be what it is and therefore means
    /// nothing.
    pub outcome: Judgement,
    /// The evidence, as in `76 × 77104.55 = 5859945.80, printed 5859945.57`.
    pub evidence: String,
    /// Printed ÷ computed − 1. `None` if the rule does not compare two numbers.
    pub off: Option<f64>,
}

/// Tolerance for sums of rounded terms and for binary fractions, in addition to rounding.
pub(super) const LAST_BITS: f64 = 1e-12;

impl PrintedCheck {
    /// The words for outcomes.
    pub(crate) const WORDS: [&'static str; 3] = ["agrees", "differs", "says nothing"];

    /// A check that passes or fails.
    pub(crate) const fn new(rule: &'static str, agrees: bool, evidence: String, off: Option<f64>) -> Self {
        let outcome = if agrees { Judgement::Holds } else { Judgement::DoesNotHold };
        Self { rule, outcome, evidence, off }
    }

    /// Compares `printed` with the value `computed` from other printed values; `tolerance` is the relative tolerance of
    /// the rule itself.
    pub(crate) fn of(
        rule: &'static str,
        printed: Printed,
        computed: Printed,
        tolerance: f64,
        evidence: String,
    ) -> Self {
        let most = printed.half_digit + computed.half_digit + computed.value.abs() * (tolerance + LAST_BITS);
        let agrees = (printed.value - computed.value).abs() <= most;
        let off = printed.value / computed.value - 1.0;
        Self::new(rule, agrees, evidence, off.is_finite().then_some(off))
    }
}

/// Histories print times in microseconds, so an operation may appear to start this long before the previous one
/// ended.
const OVERLAP_MAX_NS: u64 = 1_000;

/// How the time of one operation is spent, in nanoseconds, from a history of single operations of one thread and the
/// rate that the application saw. The history may be of a client, whose times are those of a call over the network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundTrip {
    /// The number of operations in the history.
    pub n: usize,
    /// Mean time of an operation in the history.
    pub device_ns: f64,
    /// Mean time from one start to the next.
    pub gap_ns: f64,
    /// Mean time from the end of one to the start of the next.
    pub between_ns: f64,
    /// Time per operation as the application saw it, if its rate is known.
    pub application_ns: Option<f64>,
    /// The part of that time that is not in the history.
    pub rest_ns: Option<f64>,
}

impl RoundTrip {
    /// Computes it from the starts and durations in nanoseconds of operations in any order, and from the
    /// `operations_per_second` of an application with one operation in flight at a time. Returns `None` for fewer
    /// than two operations, or if some overlap, because there is no time between those.
    #[must_use]
    pub fn of(operations: &[(u64, u64)], operations_per_second: Option<f64>) -> Option<Self> {
        let mut sorted = operations.to_vec();
        sorted.sort_unstable_by_key(|one| one.0);
        let ends = |one: (u64, u64)| one.0.saturating_add(one.1);
        let overlaps = |pair: &[(u64, u64)]| ends(pair[0]) > pair[1].0.saturating_add(OVERLAP_MAX_NS);
        let n = sorted.len();
        if n < 2 || sorted.windows(2).any(overlaps) {
            return None;
        }
        let device_ns = operations.iter().map(|one| one.1 as f64).sum::<f64>() / n as f64;
        let pairs = (n - 1) as f64;
        let gap_ns = (sorted[n - 1].0 - sorted[0].0) as f64 / pairs;
        // The last operation is in no gap. The times may overlap by the rounding that was allowed above.
        let in_gaps_ns = sorted[..n - 1].iter().map(|one| one.1 as f64).sum::<f64>() / pairs;
        let between_ns = (gap_ns - in_gaps_ns).max(0.0);
        let application_ns = operations_per_second.filter(|&rate| rate > 0.0).map(|rate| 1.0 / rate * 1e9);
        let rest_ns = application_ns.map(|nanos| nanos - device_ns);
        Some(Self { n, device_ns, gap_ns, between_ns, application_ns, rest_ns })
    }
}

/// Formats with at most two decimals, and with none if they are 0.
pub(crate) fn short(value: f64) -> String {
    without_zeros(&format!("{value:.2}"))
}

/// Removes trailing zeros from a decimal number.
pub(crate) fn without_zeros(text: &str) -> String {
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
