//! Whether the values that a foreign tool printed together agree with each other.
//!
//! A printed value is known to half of its last digit, [`Printed`]; what is computed from several is known
//! to the sum of what each may be off. A check passes where the two overlap, so that neither rounding is
//! taken for an error nor an error for rounding.

use plan::Bytes;

use crate::gate::Judgement;

/// A number as it was printed, with half of its last digit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Printed {
    /// The number.
    pub value: f64,
    /// What rounding can have taken or added.
    pub half_digit: f64,
}

impl Printed {
    /// Reads a number as tools print it: digits, a point, digits; a sign before, an exponent behind. None
    /// where it is no finite number.
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

    /// A number that is exact, such as a count.
    #[must_use]
    pub const fn exact(value: f64) -> Self {
        Self { value, half_digit: 0.0 }
    }

    fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, half_digit: self.half_digit * factor.abs() }
    }

    /// What rounding is of the number.
    pub(crate) fn share(self) -> f64 {
        if self.value == 0.0 { 0.0 } else { (self.half_digit / self.value).abs() }
    }

    /// A quotient of two printed numbers; the shares of rounding add up. None where the divisor is 0.
    fn over(self, divisor: Self) -> Option<Self> {
        let value = self.value / divisor.value;
        value.is_finite().then(|| Self { value, half_digit: value.abs() * (self.share() + divisor.share()) })
    }
}

/// One rule, applied to printed values.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct PrintedCheck {
    pub rule: &'static str,
    /// Whether the values agree; [`Judgement::CannotTell`] where one is what it must be, and means nothing.
    pub outcome: Judgement,
    /// As in `76 × 77104.55 = 5859945.80, printed 5859945.57`.
    pub evidence: String,
    /// Printed ÷ computed − 1; none where the rule compares no two numbers.
    pub off: Option<f64>,
}

/// The rule of which processes of iozone did not run together where it does not hold.
pub(crate) const SLOWEST_MOVED: &str = "min transferred ÷ each one's total = min rate ÷ max rate";

/// The room that sums of rounded terms and binary fractions take beside rounding itself.
const LAST_BITS: f64 = 1e-12;
/// The slowest task goes on for a moment after the fastest is done, and starts a moment after it: in the
/// runs of study E the shares agree to 2 in 10,000. One in a hundred is no longer that.
const SLOWEST_ROOM: f64 = 0.01;
/// Half of what 1000 and 1024 differ by: nearer to neither than this, a Kbyte is neither.
const KBYTE_ROOM: f64 = 0.012;

impl PrintedCheck {
    /// The words for outcomes.
    pub(crate) const WORDS: [&'static str; 3] = ["agrees", "differs", "says nothing"];

    /// A check that passes or not.
    pub(crate) const fn new(rule: &'static str, agrees: bool, evidence: String, off: Option<f64>) -> Self {
        let outcome = if agrees { Judgement::Holds } else { Judgement::DoesNotHold };
        Self { rule, outcome, evidence, off }
    }

    /// `printed` against what was `computed` from other printed values; `room` is what the rule itself
    /// leaves open, as a share.
    pub(crate) fn of(
        rule: &'static str,
        printed: Printed,
        computed: Printed,
        room: f64,
        evidence: String,
    ) -> Self {
        let most = printed.half_digit + computed.half_digit + computed.value.abs() * (room + LAST_BITS);
        let agrees = (printed.value - computed.value).abs() <= most;
        let off = printed.value / computed.value - 1.0;
        Self::new(rule, agrees, evidence, off.is_finite().then_some(off))
    }
}

/// The total is the number of tasks times the average of one (iozone).
#[must_use]
pub fn total_of_averages(tasks: u64, average: Printed, total: Printed) -> PrintedCheck {
    let computed = average.times(tasks as f64);
    let evidence =
        format!("{tasks} × {} = {}, printed {}", average.value, short(computed.value), total.value);
    PrintedCheck::of("total = tasks × average", total, computed, 0.0, evidence)
}

/// Least and greatest lie around the average.
#[must_use]
pub fn average_between(min: Printed, average: Printed, max: Printed) -> PrintedCheck {
    let below = |low: Printed, high: Printed| {
        low.value - low.half_digit <= (high.value + high.half_digit) * (1.0 + LAST_BITS)
    };
    let agrees = below(min, average) && below(average, max);
    let evidence = format!("{}, {}, {}", min.value, average.value, max.value);
    PrintedCheck::new("min ≤ average ≤ max", agrees, evidence, None)
}

/// The share of its data that the slowest task had moved when the fastest was done is its rate ÷ that of the fastest:
/// iozone stops all of them then. `each` is what one task moves in all, in the unit of `moved`. None where a divisor
/// is 0.
fn slowest_moved(moved: Printed, each: Printed, min: Printed, max: Printed) -> Option<PrintedCheck> {
    let (share, rates) = (moved.over(each)?, min.over(max)?);
    let evidence = format!(
        "{} ÷ {} = {:.6}, {} ÷ {} = {:.6}",
        moved.value, each.value, share.value, min.value, max.value, rates.value
    );
    Some(PrintedCheck::of(SLOWEST_MOVED, share, rates, SLOWEST_ROOM, evidence))
}

/// What a printed block of iozone's throughput mode must satisfy: total and average, the order of the rates, and the
/// share of the slowest, of which `moved` has what it moved and what each moves in all.
#[must_use]
pub fn throughput_block(
    tasks: u64,
    total: Printed,
    [min, max, average]: [Printed; 3],
    moved: Option<(Printed, Printed)>,
) -> Vec<PrintedCheck> {
    let slowest = moved.and_then(|(moved, each)| slowest_moved(moved, each, min, max));
    let both = [total_of_averages(tasks, average, total), average_between(min, average, max)];
    both.into_iter().chain(slowest).collect()
}

/// Bytes of what a tool calls a Kbyte, 1000 or 1024: whichever makes `kbytes_per_second` of `operations_per_second`
/// with `record` bytes each; none where neither does, or a rate is not above 0.
#[must_use]
pub fn kbyte(kbytes_per_second: f64, operations_per_second: f64, record: Bytes) -> Option<f64> {
    let bytes = operations_per_second * record.0 as f64 / kbytes_per_second;
    [1000.0, 1024.0].into_iter().find(|kbyte| (bytes / kbyte - 1.0).abs() < KBYTE_ROOM)
}

/// Bandwidth = operations per second × record size, with the Kbyte that the values speak for (gpfsperf).
#[must_use]
pub fn rate_of_records(kbytes: Printed, operations: Printed, record: Bytes) -> PrintedCheck {
    let kbyte = kbyte(kbytes.value, operations.value, record).unwrap_or(1000.0);
    let computed = operations.times(record.0 as f64 / kbyte);
    let evidence = format!(
        "{} × {record} = {} Kbytes/s of {kbyte} bytes, printed {}",
        operations.value,
        short(computed.value),
        kbytes.value
    );
    PrintedCheck::of("data rate = operation rate × record size", kbytes, computed, 0.0, evidence)
}

/// Average latency = threads that were busy ÷ operations per second: `utilization` is the share of their time in which
/// they were, 1 where none is printed. None where the operation rate is 0.
#[must_use]
pub fn latency_agrees(
    latency_ms: Printed,
    threads: u64,
    utilization: Printed,
    operations: Printed,
) -> Option<PrintedCheck> {
    let busy = utilization.times(threads as f64);
    let computed = busy.times(1e3).over(operations)?;
    let evidence = format!(
        "{} ÷ {} = {:.4} ms, printed {} ms",
        short(busy.value),
        operations.value,
        computed.value,
        latency_ms.value
    );
    let rule = "average latency = busy threads ÷ operation rate";
    Some(PrintedCheck::of(rule, latency_ms, computed, 0.0, evidence))
}

/// Of one iteration the standard deviation is 0 by definition, and says nothing of scatter. None of several iterations,
/// or where no deviation is printed.
#[must_use]
pub fn one_iteration(iterations: u64, deviation: Option<Printed>) -> Option<PrintedCheck> {
    let value = deviation.filter(|_| iterations == 1)?.value;
    let (outcome, why) = match value == 0.0 {
        true => (Judgement::CannotTell, ": no measure of scatter"),
        false => (Judgement::DoesNotHold, ", which has none"),
    };
    let evidence = format!("{value} of one iteration{why}");
    Some(PrintedCheck { rule: "standard deviation of one iteration", outcome, evidence, off: None })
}

/// Histories print times to a microsecond: by so much one may seem to begin before the other has ended.
const OVERLAP_MAX_NS: u64 = 1_000;

/// Where the time of one operation goes, in nanoseconds, by a history of single operations of one thread and the rate
/// that the application saw. A history may be of a client, whose times are those of a call over the network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundTrip {
    /// Operations of the history.
    pub n: usize,
    /// Mean time of one in the history.
    pub device_ns: f64,
    /// Mean from one start to the next.
    pub gap_ns: f64,
    /// What of the gap is not in the history.
    pub between_ns: f64,
    /// Time of one operation as the application saw it, where its rate is known.
    pub application_ns: Option<f64>,
    /// What of it is not in the history.
    pub rest_ns: Option<f64>,
}

impl RoundTrip {
    /// Of the starts and times in nanoseconds of operations in any order, and of an application that has one of them
    /// under way at a time and does `operations_per_second`. None for fewer than two, and where some overlap: no time is
    /// between those.
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
        let gap_ns = (sorted[n - 1].0 - sorted[0].0) as f64 / (n - 1) as f64;
        let application_ns = operations_per_second.filter(|&rate| rate > 0.0).map(|rate| 1.0 / rate * 1e9);
        let rest_ns = application_ns.map(|nanos| nanos - device_ns);
        Some(Self { n, device_ns, gap_ns, between_ns: gap_ns - device_ns, application_ns, rest_ns })
    }
}

/// At most two decimals, none where they are 0.
pub(crate) fn short(value: f64) -> String {
    without_zeros(&format!("{value:.2}"))
}

/// A number with decimals, without the zeros at its end.
pub(crate) fn without_zeros(text: &str) -> String {
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
