//! Whether the values that a foreign tool printed together agree with each other.
//!
//! A printed value is known to half of its last digit, [`Printed`]; what is computed from several is known
//! to the sum of what each may be off. A check passes where the two overlap, so that neither rounding is
//! taken for an error nor an error for rounding.

use std::fmt;

use plan::{Bytes, Nanos};

use crate::{Standing, Value};

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
    /// let printed = analysis::Printed::parse("77104.55").expect("a number");
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

    /// The number in another unit.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
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

/// What must hold between printed values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrintedRule {
    /// The total is the number of tasks times the average of one (iozone).
    TotalOfAverages,
    /// Least and greatest lie around the average.
    AverageBetween,
    /// The share of its data that the slowest task had moved when the fastest was done is its rate ÷ that
    /// of the fastest: iozone stops all of them then.
    SlowestMoved,
    /// Bandwidth = operations per second × record size, with a Kbyte of 1000 or 1024 bytes (gpfsperf).
    RateOfRecords,
    /// Average latency = threads that were busy ÷ operations per second.
    LatencyOfThreads,
    /// The times of all phases and delays add up to the time from start to finish.
    WallTime,
    /// Smallest, mean, largest and standard deviation can be of the same values, [`crate::check_statistics`].
    Possible,
    /// Of one iteration the standard deviation is 0 by definition, and says nothing of scatter.
    OneIteration,
}

impl PrintedRule {
    /// The rule in symbols.
    #[must_use]
    pub const fn formula(self) -> &'static str {
        match self {
            Self::TotalOfAverages => "total = tasks × average",
            Self::AverageBetween => "min ≤ average ≤ max",
            Self::SlowestMoved => "min transferred ÷ each one's total = min rate ÷ max rate",
            Self::RateOfRecords => "data rate = operation rate × record size",
            Self::LatencyOfThreads => "average latency = busy threads ÷ operation rate",
            Self::WallTime => "phases + delays = finish − start",
            Self::Possible => "statistics of the same values",
            Self::OneIteration => "standard deviation of one iteration",
        }
    }
}

/// How a rule came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrintedOutcome {
    /// The values agree.
    Agrees,
    /// They do not, beyond rounding and the rule's own room.
    Differs,
    /// The value is what it must be, and means nothing.
    SaysNothing,
}

impl PrintedOutcome {
    /// All words.
    pub(crate) const NAMES: [&'static str; 3] = ["agrees", "differs", "says nothing"];

    /// As the value of a cell.
    pub(crate) const fn value(self) -> Value {
        let standing = match self {
            Self::Agrees => Standing::Holds,
            Self::Differs => Standing::DoesNotHold,
            Self::SaysNothing => Standing::CannotTell,
        };
        Value::Standing(standing, self.name())
    }

    /// The word in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Differs => "differs",
            Self::SaysNothing => "says nothing",
        }
    }
}

/// One rule, applied to printed values.
#[derive(Debug, Clone, PartialEq)]
pub struct PrintedCheck {
    /// The rule.
    pub rule: PrintedRule,
    /// How it came out.
    pub outcome: PrintedOutcome,
    /// The rule with its numbers: `76 × 77104.55 = 5859945.80, printed 5859945.57`.
    pub evidence: String,
    /// Printed ÷ computed − 1; none where the rule compares no two numbers.
    pub off: Option<f64>,
}

impl fmt::Display for PrintedCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.rule.formula(), self.outcome.name(), self.evidence)
    }
}

/// The room that sums of rounded terms and binary fractions take beside rounding itself.
const LAST_BITS: f64 = 1e-12;
/// The slowest task goes on for a moment after the fastest is done, and starts a moment after it: in the
/// runs of study E the shares agree to 2 in 10,000. One in a hundred is no longer that.
pub const SLOWEST_ROOM: f64 = 0.01;
/// Half of what 1000 and 1024 differ by: nearer to neither than this, a Kbyte is neither.
const KBYTE_ROOM: f64 = 0.012;

impl PrintedCheck {
    /// `printed` against what was `computed` from other printed values; `room` is what the rule itself
    /// leaves open, as a share.
    fn of(rule: PrintedRule, printed: Printed, computed: Printed, room: f64, evidence: String) -> Self {
        let most = printed.half_digit + computed.half_digit + computed.value.abs() * (room + LAST_BITS);
        let agrees = (printed.value - computed.value).abs() <= most;
        let off = printed.value / computed.value - 1.0;
        Self {
            rule,
            outcome: if agrees { PrintedOutcome::Agrees } else { PrintedOutcome::Differs },
            evidence,
            off: off.is_finite().then_some(off),
        }
    }
}

/// [`PrintedRule::TotalOfAverages`].
///
/// ```
/// use analysis::{Printed, PrintedOutcome, total_of_averages};
/// let printed = |text| Printed::parse(text).expect("a number");
/// let check = total_of_averages(76, printed("77104.55"), printed("5859945.57"));
/// assert_eq!(check.outcome, PrintedOutcome::Agrees);
/// assert_eq!(check.evidence, "76 × 77104.55 = 5859945.8, printed 5859945.57");
/// ```
#[must_use]
pub fn total_of_averages(tasks: u64, average: Printed, total: Printed) -> PrintedCheck {
    let computed = average.times(tasks as f64);
    let evidence =
        format!("{tasks} × {} = {}, printed {}", average.value, short(computed.value), total.value);
    PrintedCheck::of(PrintedRule::TotalOfAverages, total, computed, 0.0, evidence)
}

/// [`PrintedRule::AverageBetween`].
#[must_use]
pub fn average_between(min: Printed, average: Printed, max: Printed) -> PrintedCheck {
    let below = |low: Printed, high: Printed| {
        low.value - low.half_digit <= (high.value + high.half_digit) * (1.0 + LAST_BITS)
    };
    let agrees = below(min, average) && below(average, max);
    PrintedCheck {
        rule: PrintedRule::AverageBetween,
        outcome: if agrees { PrintedOutcome::Agrees } else { PrintedOutcome::Differs },
        evidence: format!("{}, {}, {}", min.value, average.value, max.value),
        off: None,
    }
}

/// [`PrintedRule::SlowestMoved`]: `each` is what one task moves in all, in the unit of `min_moved`. None
/// where a divisor is 0.
#[must_use]
pub fn slowest_moved(
    min_moved: Printed,
    each: Printed,
    min_rate: Printed,
    max_rate: Printed,
) -> Option<PrintedCheck> {
    let (moved, rates) = (min_moved.over(each)?, min_rate.over(max_rate)?);
    let evidence = format!(
        "{} ÷ {} = {:.6}, {} ÷ {} = {:.6}",
        min_moved.value, each.value, moved.value, min_rate.value, max_rate.value, rates.value
    );
    Some(PrintedCheck::of(PrintedRule::SlowestMoved, moved, rates, SLOWEST_ROOM, evidence))
}

/// Bytes of what a tool calls a Kbyte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kbyte {
    /// 1000.
    Decimal,
    /// 1024.
    Binary,
}

impl Kbyte {
    /// Its bytes.
    #[must_use]
    pub const fn bytes(self) -> f64 {
        match self {
            Self::Decimal => 1000.0,
            Self::Binary => 1024.0,
        }
    }

    /// Which of the two makes `kbytes_per_second` of `operations_per_second` with `record` bytes each; none
    /// where neither does, or a rate is not above 0.
    ///
    /// ```
    /// use analysis::Kbyte;
    /// let found = Kbyte::of_rates(55111.52, 13454.96, plan::Bytes::kib(4));
    /// assert_eq!(found, Some(Kbyte::Decimal));
    /// ```
    #[must_use]
    pub fn of_rates(kbytes_per_second: f64, operations_per_second: f64, record: Bytes) -> Option<Self> {
        let bytes = operations_per_second * record.0 as f64 / kbytes_per_second;
        let near = |kbyte: &Self| (bytes / kbyte.bytes() - 1.0).abs() < KBYTE_ROOM;
        [Self::Decimal, Self::Binary].into_iter().find(near)
    }
}

/// [`PrintedRule::RateOfRecords`], by a Kbyte of which `kbyte` says the bytes, and by the one that the
/// values themselves speak for where it is `None`.
#[must_use]
pub fn rate_of_records(
    kbytes_per_second: Printed,
    operations_per_second: Printed,
    record: Bytes,
    kbyte: Option<Kbyte>,
) -> PrintedCheck {
    let found = || Kbyte::of_rates(kbytes_per_second.value, operations_per_second.value, record);
    let kbyte = kbyte.or_else(found).unwrap_or(Kbyte::Decimal);
    let computed = operations_per_second.times(record.0 as f64 / kbyte.bytes());
    let evidence = format!(
        "{} × {record} = {} Kbytes/s of {} bytes, printed {}",
        operations_per_second.value,
        short(computed.value),
        kbyte.bytes(),
        kbytes_per_second.value
    );
    PrintedCheck::of(PrintedRule::RateOfRecords, kbytes_per_second, computed, 0.0, evidence)
}

/// Nanoseconds of one operation where `busy` threads do `operations_per_second` of them one at a time:
/// Little's law. None where the rate is not above 0.
///
/// ```
/// let nanos = analysis::latency_of_threads(1.0, 13454.96).expect("a rate");
/// assert_eq!(nanos.round(), 74_322.0);
/// ```
#[must_use]
pub fn latency_of_threads(busy: f64, operations_per_second: f64) -> Option<f64> {
    (operations_per_second > 0.0).then(|| busy / operations_per_second * 1e9)
}

/// [`PrintedRule::LatencyOfThreads`]: `utilization` is the share of their time in which threads were busy, 1
/// where none is printed. None where the operation rate is 0.
#[must_use]
pub fn latency_agrees(
    latency_ms: Printed,
    threads: u64,
    utilization: Printed,
    operations_per_second: Printed,
) -> Option<PrintedCheck> {
    let busy = utilization.times(threads as f64);
    let computed = busy.times(1e3).over(operations_per_second)?;
    let evidence = format!(
        "{} ÷ {} = {:.4} ms, printed {} ms",
        short(busy.value),
        operations_per_second.value,
        computed.value,
        latency_ms.value
    );
    Some(PrintedCheck::of(PrintedRule::LatencyOfThreads, latency_ms, computed, 0.0, evidence))
}

/// [`PrintedRule::OneIteration`]: none of several iterations, or where a deviation is not printed.
#[must_use]
pub fn one_iteration(iterations: u64, deviation: Option<Printed>) -> Option<PrintedCheck> {
    let deviation = deviation.filter(|_| iterations == 1)?;
    let (outcome, evidence) = match deviation.value == 0.0 {
        true => (
            PrintedOutcome::SaysNothing,
            format!("{} of one iteration: no measure of scatter", deviation.value),
        ),
        false => (PrintedOutcome::Differs, format!("{} of one iteration, which has none", deviation.value)),
    };
    Some(PrintedCheck { rule: PrintedRule::OneIteration, outcome, evidence, off: None })
}

/// What a printed block of iozone's throughput mode must satisfy: total and average, the order of the
/// rates, and the share of the slowest. `each` is what one task moves in all, in the unit of `min_moved`.
#[must_use]
pub fn throughput_block(
    tasks: u64,
    total: Printed,
    [min, max, average]: [Printed; 3],
    moved: Option<(Printed, Printed)>,
) -> Vec<PrintedCheck> {
    let mut checks = vec![total_of_averages(tasks, average, total), average_between(min, average, max)];
    checks.extend(moved.and_then(|(min_moved, each)| slowest_moved(min_moved, each, min, max)));
    checks
}

/// Histories print times to a microsecond: by so much one may seem to begin before the other has ended.
const OVERLAP_MAX_NS: i64 = 1_000;

/// Where the time of one operation goes, by a history of single operations of one thread and the rate that
/// the application saw. A history may be of a client, whose times are those of a call over the network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundTrip {
    /// Operations in the history.
    pub n: usize,
    /// Mean time of one in the history, in nanoseconds.
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
    /// Of `operations` (start, time), in any order, and of an application that has one of them under way at a
    /// time and does `operations_per_second`. None for fewer than two, and where some overlap: no time is between
    /// those.
    #[must_use]
    pub fn of(operations: &[DeviceOperation], operations_per_second: Option<f64>) -> Option<Self> {
        let end = |one: &DeviceOperation| {
            one.start_ns.saturating_add(i64::try_from(one.time.0).unwrap_or(i64::MAX))
        };
        let mut sorted = operations.to_vec();
        sorted.sort_unstable_by_key(|one| one.start_ns);
        let overlaps =
            |pair: &[DeviceOperation]| end(&pair[0]).saturating_sub(pair[1].start_ns) > OVERLAP_MAX_NS;
        let n = sorted.len();
        if n < 2 || sorted.windows(2).any(overlaps) {
            return None;
        }
        let (first, last) = (sorted[0].start_ns, sorted[n - 1].start_ns);
        let device_ns = operations.iter().map(|one| one.time.0 as f64).sum::<f64>() / n as f64;
        let gap_ns = last.abs_diff(first) as f64 / (n - 1) as f64;
        let application_ns = operations_per_second.and_then(|rate| latency_of_threads(1.0, rate));
        Some(Self {
            n,
            device_ns,
            gap_ns,
            between_ns: gap_ns - device_ns,
            application_ns,
            rest_ns: application_ns.map(|nanos| nanos - device_ns),
        })
    }
}

impl fmt::Display for RoundTrip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = |nanos: f64| format!("{:.1} µs", nanos / 1e3);
        write!(
            f,
            "{} operations: mean {} each, {} from start to start, {} between",
            self.n,
            micros(self.device_ns),
            micros(self.gap_ns),
            micros(self.between_ns)
        )?;
        match self.application_ns.zip(self.rest_ns) {
            Some((application, rest)) => {
                write!(f, "; {} for the application, {} of it not in them", micros(application), micros(rest))
            }
            None => Ok(()),
        }
    }
}

/// One device operation of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceOperation {
    /// When it began, from any zero.
    pub start_ns: i64,
    /// How long it took.
    pub time: Nanos,
}

/// At most two decimals, none where they are 0.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
