//! Checks for rates that are implausible given other rates over the same data: those of other passes, or of
//! another order.

use std::collections::HashMap;

use plan::{Bytes, Order, Phase};

use super::issue::{RawIssue, percent};
use crate::audit::Check;
use crate::figures::{RateOf, Subject, grouped};
use crate::statistics::{Course, course};

/// If all later passes are this many times as fast, or as slow, as all earlier ones, the passes did not measure
/// the same thing. With a scatter of 20 %, two passes are this far apart in less than 1 % of all figures.
const JUMP: f64 = 2.5;
/// Larger random reads may well reach the rate of sequential ones.
const SMALL_MAX: Bytes = Bytes::kib(64);
/// Sequential reads that are this many times larger need so many fewer requests that random reads do not reach
/// their rate.
const LARGER: u64 = 4;
/// With equal sizes, devices without moving parts may be equally fast in both orders, so only a difference beyond
/// scatter is reported.
const SCATTER: f64 = 1.2;

/// Whether the rate of the passes changed permanently from one pass to the next.
pub(super) fn changed(subject: &Subject<'_>) -> Option<RawIssue> {
    let figure = subject.figure;
    let check = match figure.phase {
        Phase::Read => Check::PassesJump,
        Phase::Write => Check::WriteDrift,
        _ => return None,
    };
    // In merged runs, the passes may come from different hosts.
    if !subject.case.workload.backend.moves_data()
        || subject.nodes().is_some_and(|nodes| figure.nodes.len() as u64 > nodes)
    {
        return None;
    }
    let counts = figure.rate_of();
    let rates = figure.headline_of_passes();
    let (before, after) = jump(&rates)?;
    let evidence = format!(
        "the rate changed for good from pass {} to {} of {}: {}, then {}",
        before + 1,
        after + 1,
        rates.len(),
        counts.text(rates[before]),
        counts.text(rates[after])
    );
    let advice = match (check, rates[after] > rates[before]) {
        (Check::PassesJump, true) => "look for a cache that earlier passes filled",
        (Check::PassesJump, false) => "look for a cache that held the data at first, or for new users",
        (_, true) => "write the files once beforehand (warm_up): the first passes allocate them",
        (_, false) => "overwrite the medium beforehand (precondition), or continue until it is steady",
    };
    let factor = (rates[after] / rates[before]).max(rates[before] / rates[after]);
    Some(RawIssue::new(check, evidence, advice).with_severity(factor))
}

/// Whether the passes depend on each other, as one of `among` figures.
pub(super) fn dependent(subject: &Subject<'_>, among: usize) -> Option<RawIssue> {
    let counts = subject.figure.rate_of();
    let rates = subject.figure.headline_of_passes();
    let (first, last) = (*rates.first()?, *rates.last()?);
    let (evidence, advice) = match course(&rates, among)? {
        Course::Trend(change) => (
            format!(
                "the rate {} by {} from pass to pass: {} in the first, {} in the last of {}",
                if change < 0.0 { "falls" } else { "rises" },
                percent(change.abs()),
                counts.text(first),
                counts.text(last),
                rates.len()
            ),
            "continue until it is steady (`until = \"steady\"`), or bring the storage there beforehand (`warm_up`, \
             `precondition`)",
        ),
        Course::Alike(autocorrelation) => (
            format!(
                "each pass is like the one before (autocorrelation {autocorrelation:.2} of {})",
                rates.len()
            ),
            "make passes longer or farther apart than what changes the storage",
        ),
    };
    Some(RawIssue::new(Check::DependentPasses, evidence, advice))
}

/// The last pass before a lasting change, and the first one after it. A single differing pass at the end, after
/// several others, is not a lasting change.
fn jump(rates: &[f64]) -> Option<(usize, usize)> {
    let last = if rates.len() == 2 { 1 } else { rates.len().checked_sub(2)? };
    let lowest = |of: &[f64]| of.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = |of: &[f64]| of.iter().copied().fold(0.0, f64::max);
    let changes = |&place: &usize| {
        let (before, after) = rates.split_at(place);
        lowest(after) >= JUMP * highest(before) || highest(after) * JUMP <= lowest(before)
    };
    (1..=last).find(changes).map(|place| (place - 1, place))
}

/// Figures of small random reads that reach or exceed sequential reads of the same data, by index.
pub(super) fn random_above_sequential(subjects: &[Subject<'_>]) -> HashMap<usize, RawIssue> {
    let reads = subjects.iter().filter(|one| {
        let workload = &one.case.workload;
        one.figure.phase == Phase::Read
            && !one.figure.is_concurrent
            && workload.backend.moves_data()
            && workload.pace.is_none()
            && one.case.transfer().is_some()
            && one.case.volume().is_some()
            && one.case.in_flight().is_some()
    });
    let alike = grouped(reads, |one| {
        let workload = &one.case.workload;
        let many = (workload.tasks, workload.backend.depth(), one.nodes());
        (one.case.target.as_str(), workload.footprint(), many, workload.direct)
    });
    alike.iter().flat_map(|all| all.iter().filter_map(|one| Some((one.index, above(one, all)?)))).collect()
}

fn above(random: &Subject<'_>, alike: &[&Subject<'_>]) -> Option<RawIssue> {
    let transfer = |one: &Subject<'_>| one.case.workload.geometry.transfer;
    let rate = |one: &Subject<'_>| one.figure.bytes_per_second.median;
    let small = transfer(random);
    if !random.is_random() || small > SMALL_MAX {
        return None;
    }
    let exceeds = |one: &&&Subject<'_>| {
        one.case.order() == Some(Order::Sequential)
            && match transfer(one) {
                size if size.0 >= small.0.saturating_mul(LARGER) => rate(random) >= rate(one),
                size if size >= small => rate(random) > rate(one) * SCATTER,
                _ => false,
            }
    };
    let sequential = alike.iter().find(exceeds)?;
    let evidence = format!(
        "random reads of {small} reach {}, sequential reads of {} over the same data {}",
        RateOf::Bytes.text(rate(random)),
        transfer(sequential),
        RateOf::Bytes.text(rate(sequential))
    );
    let advice = "look for a cache that the sequential reads filled, or for what held those back";
    let severity = rate(random) / rate(sequential);
    Some(RawIssue::new(Check::RandomAboveSequential, evidence, advice).with_severity(severity))
}

#[cfg(test)]
mod tests {
    use super::jump;

    #[test]
    fn a_cache_that_was_warmed_is_a_jump_and_scatter_is_none() {
        assert_eq!(jump(&[3372.0, 11_346.0]), Some((0, 1)));
        assert_eq!(jump(&[1.0, 1.1, 3.0, 2.9]), Some((1, 2)));
        assert_eq!(jump(&[3.0, 3.1, 1.0, 1.2]), Some((1, 2)));
        assert_eq!(jump(&[1.0, 1.2, 0.8, 1.4, 0.7]), None);
        assert_eq!(jump(&[3.0, 3.1, 2.9, 3.0, 1.0]), None, "one pass at the end is no change that lasts");
        assert_eq!(jump(&[1.0]), None);
        assert_eq!(jump(&[]), None);
    }
}
