//! What was measured, in the unit of what was promised.

use plan::{Amount, Bytes, Case, Phase, RateName};
use record::Measure;

use crate::{Figure, LatencySummary, RepetitionFigure};

/// The bytes at which rates of `phase` in bytes and in operations are converted into each other: those of
/// a transfer, of a file, of a request with its response.
pub(crate) fn bytes_of_one(case: &Case, phase: Phase) -> Bytes {
    case.workload.work.operation_bytes(phase).unwrap_or(case.workload.geometry.transfer)
}

/// The number of `amount` in the unit of `unit`: bytes and operations per second converted at
/// `transfer`. None between rates and latencies.
pub(crate) fn in_unit_of(amount: Amount, unit: Amount, transfer: Bytes) -> Option<f64> {
    let bytes = transfer.0 as f64;
    match (amount, unit) {
        (Amount::BytesPerSecond(value), Amount::BytesPerSecond(_))
        | (Amount::OperationsPerSecond(value), Amount::OperationsPerSecond(_)) => Some(value),
        (Amount::BytesPerSecond(value), Amount::OperationsPerSecond(_)) => {
            (bytes > 0.0).then(|| value / bytes)
        }
        (Amount::OperationsPerSecond(value), Amount::BytesPerSecond(_)) => Some(value * bytes),
        (Amount::Latency { nanos, .. }, Amount::Latency { .. }) => Some(nanos),
        (Amount::Latency { .. }, _) | (_, Amount::Latency { .. }) => None,
    }
}

/// What `figure` reached in the unit of `amount`: the median over its repetitions, or the latency
/// of all transfers that count together; none where there is none.
pub(crate) fn measured(figure: &Figure, amount: Amount) -> Option<f64> {
    match amount {
        Amount::BytesPerSecond(_) => Some(figure.bytes_per_second.median),
        Amount::OperationsPerSecond(_) => Some(figure.transfers_per_second.median),
        Amount::Latency { percent, .. } => slowest(&figure.latency, percent),
    }
}

/// The percentile, or else the mean, of response times. Of a phase that does several things a promise holds for
/// each, so the slowest decide.
fn slowest(latency: &[LatencySummary], percent: Option<f64>) -> Option<f64> {
    let responses = latency.iter().filter(|one| one.measure == Measure::Response);
    let of = |one: &LatencySummary| percent.map_or(Some(one.mean_ns()), |percent| one.percentile(percent));
    responses.filter_map(of).max_by(f64::total_cmp)
}

/// What each of `repetitions` reached in the unit of `amount`, by the rate called `rate`; none where one
/// of them has no such value.
pub(crate) fn values(repetitions: &[&RepetitionFigure], amount: Amount, rate: RateName) -> Option<Vec<f64>> {
    let value = |one: &&RepetitionFigure| match amount {
        Amount::BytesPerSecond(_) => one.rates.get(rate).map(|rate| rate.bytes_per_second),
        Amount::OperationsPerSecond(_) => one.rates.get(rate).map(|rate| rate.transfers_per_second),
        Amount::Latency { percent, .. } => slowest(&one.latency, percent),
    };
    repetitions.iter().map(value).collect()
}

/// The number of an amount in its unit.
pub(crate) const fn number(amount: Amount) -> f64 {
    match amount {
        Amount::BytesPerSecond(value) | Amount::OperationsPerSecond(value) => value,
        Amount::Latency { nanos, .. } => nanos,
    }
}

/// Its unit in JSON and CSV.
pub(crate) const fn unit(amount: Amount) -> &'static str {
    match amount {
        Amount::BytesPerSecond(_) => "bytes/s",
        Amount::OperationsPerSecond(_) => "ops/s",
        Amount::Latency { .. } => "ns",
    }
}
