//! Measured values in the unit of a commitment, and exact conversion of a rate into the units that studies print.

use std::mem::discriminant;

use plan::{Amount, Bytes, Case, Condition, Measure, Phase, RateName};

use crate::figures::{Figure, LatencySummary, RepetitionFigure};
use crate::statistics::whole;

/// The number of bytes per operation for converting rates of `phase` between bytes and operations: the size of a
/// transfer, of a file, or of a request with its response. `None` if it is not known.
pub(crate) fn bytes_of_one(case: &Case, phase: Phase) -> Option<Bytes> {
    let bytes = case.workload.work.kind().operation_bytes(phase).unwrap_or(case.workload.geometry.transfer);
    case.knows(Condition::Transfer).then_some(bytes)
}

/// Converts `amount` to the unit of `unit`; bytes and operations per second are converted with the size `transfer`.
/// Returns `None` between rates and latencies, and if the size is needed and not known.
pub(crate) fn in_unit_of(amount: Amount, unit: Amount, transfer: Option<Bytes>) -> Option<f64> {
    let bytes = transfer.map(|transfer| transfer.0 as f64);
    match (amount, unit) {
        (Amount::BytesPerSecond(value), Amount::OperationsPerSecond(_)) => {
            bytes.filter(|&bytes| bytes > 0.0).map(|bytes| value / bytes)
        }
        (Amount::OperationsPerSecond(value), Amount::BytesPerSecond(_)) => Some(value * bytes?),
        _ => (discriminant(&amount) == discriminant(&unit)).then_some(amount.number()),
    }
}

/// The value of `figure` in the unit of `amount`: the median over its repetitions, or the latency of all counted
/// transfers together. Returns `None` if there is none.
pub(crate) fn measured(figure: &Figure, amount: Amount) -> Option<f64> {
    match amount {
        Amount::BytesPerSecond(_) => Some(figure.bytes_per_second.median),
        Amount::OperationsPerSecond(_) => Some(figure.transfers_per_second.median),
        Amount::Latency { percent, .. } => slowest(&figure.latency, percent),
    }
}

/// The percentile, or else the mean, of response times. In a phase with several operations a commitment applies to
/// each, so the slowest operation decides.
fn slowest(latency: &[LatencySummary], percent: Option<f64>) -> Option<f64> {
    let responses = latency.iter().filter(|one| one.measure == Measure::Response);
    let of = |one: &LatencySummary| percent.map_or(Some(one.mean_ns()), |percent| one.percentile(percent));
    responses.filter_map(of).max_by(f64::total_cmp)
}

/// The value of each of `repetitions` in the unit of `amount`, by the rate named `rate`. Returns `None` if one of
/// them has no such value.
pub(crate) fn values(repetitions: &[&RepetitionFigure], amount: Amount, rate: RateName) -> Option<Vec<f64>> {
    let value = |one: &&RepetitionFigure| match amount {
        Amount::BytesPerSecond(_) => one.rates.get(rate).map(|rate| rate.bytes_per_second),
        Amount::OperationsPerSecond(_) => one.rates.get(rate).map(|rate| rate.transfers_per_second),
        Amount::Latency { percent, .. } => slowest(&one.latency, percent),
    };
    repetitions.iter().map(value).collect()
}

/// Bytes per MiB.
const MEBIBYTE: u64 = 1 << 20;

/// One rate in all units.
///
/// ```
/// let rate = analysis::figures::RateUnits::from_operations(1_149_696.0, plan::Bytes::kib(4));
/// assert_eq!((rate.megabytes.round(), rate.mebibytes), (4709.0, 4491.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct RateUnits {
    pub bytes: f64,
    /// MB/s: bytes ÷ 10⁶.
    pub megabytes: f64,
    /// MiB/s: bytes ÷ 2²⁰.
    pub mebibytes: f64,
    /// Transfers per second: bytes ÷ transfer size. Infinite for a transfer size of 0.
    pub operations: f64,
}

impl RateUnits {
    /// From bytes per second.
    #[must_use]
    pub fn from_bytes(bytes: f64, transfer: Bytes) -> Self {
        let operations = bytes / transfer.0 as f64;
        Self { bytes, megabytes: bytes / 1e6, mebibytes: bytes / MEBIBYTE as f64, operations }
    }

    /// From transfers per second.
    #[must_use]
    pub fn from_operations(operations: f64, transfer: Bytes) -> Self {
        Self { operations, ..Self::from_bytes(operations * transfer.0 as f64, transfer) }
    }
}

/// The whole number of MiB/s from which a printed number of operations per second of `transfer` was converted, if
/// there is one. At 4 KiB only one number in 256 is such a multiple by chance, so a printed multiple was converted
/// from a rounded bandwidth. Returns `None` if the transfer size does not divide a MiB into at least 16 parts: larger
/// transfers give multiples by chance too often.
#[must_use]
pub fn whole_mebibytes(operations_per_second: f64, transfer: Bytes) -> Option<u64> {
    const PARTS_MIN: u64 = 16;
    let is_whole = (1.0..9e15).contains(&operations_per_second) && operations_per_second.fract() == 0.0;
    let parts = MEBIBYTE.checked_div(transfer.0).filter(|_| MEBIBYTE.is_multiple_of(transfer.0))?;
    let operations = is_whole.then(|| whole(operations_per_second))?;
    (parts >= PARTS_MIN && operations.is_multiple_of(parts)).then_some(operations / parts)
}
