//! The rate of a phase according to the study's own expectations and ceilings, and the rate promised for it.

use super::prediction::{Interval, PredictedRate, RateUnit, Source};
use crate::{Amount, Bound, Case, Criteria, Layer, Over, Phase, TargetDescription};

/// The range relative to a data sheet value: the value is rarely reached, and seldom missed by more than half.
const OF_EXPECTED: Interval = Interval { low: 0.5, middle: 0.8, high: 1.0 };
/// The range relative to a ceiling, which is only an upper limit.
const OF_CEILING: Interval = Interval { low: 0.25, middle: 0.5, high: 1.0 };

/// A case with the criteria of the study.
pub(super) struct CaseCriteria<'a> {
    pub(super) criteria: &'a Criteria,
    pub(super) case: &'a Case,
    pub(super) target: Option<&'a TargetDescription>,
}

impl CaseCriteria<'_> {
    /// Number of devices below the target of the case, over all nodes. Returns `None` if not stated.
    pub(super) fn devices(&self) -> Option<u32> {
        let stated = self.target.map(|target| target.devices).filter(|devices| *devices > 0);
        self.case.members().or(stated)
    }

    pub(super) fn layer(&self) -> Layer {
        self.target.map_or(Layer::Unstated, |target| target.layer)
    }

    /// The rate of `phase` according to the study, if it gives one: from data sheets, else ceilings; always limited
    /// by all ceilings. For transfers it is in bytes.
    pub(super) fn rate(&self, phase: Phase) -> Option<PredictedRate> {
        if phase.is_transfers() { self.transfers(phase) } else { self.operations(phase) }
    }

    /// All limits of `kind` on `phase`, each with its name.
    fn limits(&self, phase: Phase, ceiling: bool) -> impl Iterator<Item = (&str, Amount)> {
        let (nodes, devices) = (self.case.workload.nodes, self.devices().unwrap_or(0));
        let target = self.target.map_or(self.case.target.as_str(), |target| &target.name);
        // A fill is a sequential write, whatever the phase after it does.
        let (of, random) = match phase {
            Phase::Fill => (Phase::Write, false),
            Phase::CheckRead | Phase::CheckWrite => (Phase::Read, false),
            phase => (phase, self.case.workload.order.is_random()),
        };
        let is_own = phase.is_result();
        let all = self.criteria.expectations.iter().filter(move |one| {
            one.ceiling == ceiling
                && one.is_of_all_nodes()
                && one.agrees(target, self.case, of, Some(random))
                && one.is_of_mix(self.case, of)
                // A number of transfers of the case's size does not apply to the larger transfers of a fill.
                && (is_own || matches!(one.amount, Amount::BytesPerSecond(_)))
        });
        all.map(move |one| (one.name.as_str(), one.in_all(nodes, devices, self.layer())))
    }

    /// The lowest rate in bytes promised for `phase` of every case, and the commitment. It is a minimum, so it says
    /// nothing about how fast the storage is, unless it is more than what would be assumed otherwise.
    pub(super) fn promised(&self, phase: Phase) -> Option<(String, f64)> {
        let is_about = move |one: &&crate::Commitment| {
            one.bound == Bound::AtLeast && one.over == Over::Every && one.figures.takes(self.case, phase)
        };
        let all = self.criteria.commitments.iter().filter(is_about);
        least(all.filter_map(|one| self.in_bytes((&one.name, one.asked.amount()?))))
    }

    /// A rate of transfers in bytes.
    fn in_bytes(&self, (name, amount): (&str, Amount)) -> Option<(String, f64)> {
        let transfer = self.case.workload.geometry.transfer.0 as f64;
        match amount {
            Amount::BytesPerSecond(rate) => Some((name.to_owned(), rate)),
            Amount::OperationsPerSecond(rate) => Some((name.to_owned(), rate * transfer)),
            Amount::Latency { .. } => None,
        }
    }

    fn transfers(&self, phase: Phase) -> Option<PredictedRate> {
        let in_bytes = |limit: (&str, Amount)| self.in_bytes(limit);
        let ceiling = least(self.limits(phase, true).filter_map(in_bytes));
        let expected: Vec<_> = self.limits(phase, false).filter_map(in_bytes).collect();
        let rate = match (between(&expected), &ceiling) {
            (Some((name, rate)), _) => (rate, Source::Expected(name)),
            (None, Some((name, rate))) => (OF_CEILING * *rate, Source::Ceiling(name.clone())),
            (None, None) => return None,
        };
        let limit = Interval::exact(ceiling.map_or(f64::INFINITY, |(_, limit)| limit));
        Some(PredictedRate { rate: rate.0.at_most(limit), unit: RateUnit::Bytes, source: rate.1 })
    }

    /// Only limits that name the phase: limits of transfers do not apply to names and messages.
    fn operations(&self, phase: Phase) -> Option<PredictedRate> {
        let named = |name: &str| {
            self.criteria.expectations.iter().any(|one| one.name == name && one.phase == Some(phase))
        };
        let in_operations = |(name, amount): (&str, Amount)| match amount {
            Amount::OperationsPerSecond(rate) if named(name) => Some((name.to_owned(), rate)),
            _ => None,
        };
        let expected: Vec<_> = self.limits(phase, false).filter_map(in_operations).collect();
        let (rate, source) = match between(&expected) {
            Some((name, rate)) => (rate, Source::Expected(name)),
            None => {
                let (name, limit) = least(self.limits(phase, true).filter_map(in_operations))?;
                (OF_CEILING * limit, Source::Ceiling(name))
            }
        };
        Some(PredictedRate { rate, unit: RateUnit::Operations, source })
    }
}

/// The lowest of several limits, which is the effective one.
fn least(all: impl Iterator<Item = (String, f64)>) -> Option<(String, f64)> {
    all.min_by(|one, other| one.1.total_cmp(&other.1))
}

/// The range of several data sheet values, such as those of grades or latencies: from half of the lowest to the
/// highest.
fn between(all: &[(String, f64)]) -> Option<(String, Interval)> {
    let lowest = all.iter().min_by(|one, other| one.1.total_cmp(&other.1))?;
    let highest = all.iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
    let middle = (lowest.1 * highest.1).sqrt();
    let rate = Interval {
        low: OF_EXPECTED.low * lowest.1,
        middle: OF_EXPECTED.middle * middle,
        high: OF_EXPECTED.high * highest.1,
    };
    Some((highest.0.clone(), rate))
}
