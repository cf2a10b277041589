//! Values that keep a commitment by what does not last, or by what the storage did not do.

use plan::{Amount, Bound, Commitment, Operation, Phase, Statistic};
use record::Provenance;

use crate::audit::DEVICE_LATENCY_MIN_NS;
use crate::figures::{LatencySummary, Subject};
use crate::statistics::median;

/// The passes after a drop are worse than all passes before it by at least this factor: more than passes scatter.
const DROP: f64 = 1.25;
/// A single pass at the end may be an outlier.
const PASSES_AFTER: usize = 2;

/// Why `values` of the passes of a figure, in their order, do not keep `commitment`, which asks for `amount`, although
/// its statistic does.
pub(super) fn flattered(
    (commitment, amount): (&Commitment, Amount),
    subject: Option<&Subject<'_>>,
    values: &[f64],
) -> Vec<String> {
    let ahead = subject.and_then(|subject| read_ahead(amount, subject));
    faded(commitment, amount.number(), values).into_iter().chain(ahead).collect()
}

/// The passes became worse for good, and none afterwards keeps the commitment: what kept it was a burst
/// allowance, a cache or free blocks that were used up.
fn faded(commitment: &Commitment, promised: f64, values: &[f64]) -> Option<String> {
    // The best repetition was agreed upon whatever the others reach.
    if commitment.statistic == Statistic::Best {
        return None;
    }
    let reached = |value: &f64| match commitment.bound {
        Bound::AtLeast => value / promised,
        Bound::AtMost => promised / value,
    };
    let reached: Vec<f64> = values.iter().map(reached).collect();
    let ends = 1..=reached.len().checked_sub(PASSES_AFTER)?;
    let end = |place: usize| {
        let (before, after) = reached.split_at(place);
        let lowest = before.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = after.iter().copied().fold(0.0, f64::max);
        let level = median(after).filter(|_| highest < 1.0 && lowest >= DROP * highest)?;
        Some((after.len(), level))
    };
    let (passes, level) = ends.filter_map(end).next()?;
    let off = match commitment.bound {
        Bound::AtLeast => level - 1.0,
        Bound::AtMost => 1.0 / level - 1.0,
    };
    Some(format!(
        "it does not last: the median of the last {passes} of {} repetitions is {:+.1} % from what was promised",
        values.len(),
        off * 100.0
    ))
}

/// A latency, or a rate of operations, of which the page cache had most ready: read-ahead fetches many transfers with
/// one request. The bytes come from the storage nevertheless, so a promised bandwidth is not affected.
fn read_ahead(amount: Amount, subject: &Subject<'_>) -> Option<String> {
    let (figure, workload) = (subject.figure, &subject.case.workload);
    let of_operations = matches!(amount, Amount::Latency { .. } | Amount::OperationsPerSecond(_));
    let measured = figure.provenance == Provenance::Measured;
    if !of_operations || !measured || workload.direct || !workload.backend.can_be_direct() {
        return None;
    }
    let half = figure.response(Operation::Read).map(|latency: &LatencySummary| latency.get("p50"))?;
    (figure.phase == Phase::Read && half < DEVICE_LATENCY_MIN_NS).then(|| {
        format!(
            "half of the reads took at most {half:.0} ns: the page cache had read them ahead; measure with direct \
             I/O, or promise a bandwidth"
        )
    })
}
