//! What it takes to show that a promised percentile was kept, and whether a plan can reach that.

use plan::{Case, Commitment, Over, Phase, Plan, Statistic};

use crate::figures::PercentileBounds;
use crate::statistics::{passes_needed, transfers_needed, transfers_of_pass};

/// What a promised percentile takes in one case, and what is planned.
#[derive(Debug, Clone, PartialEq)]
pub struct PercentileNeed {
    /// For example 99.9.
    pub percent: f64,
    /// The least number of transfers; `None` if no number is enough.
    pub transfers: Option<u64>,
    /// Whether they have to be those of one repetition, because the best repetition is judged.
    pub in_one: bool,
    /// The least number of repetitions with the planned number of transfers, or with as many as are useful.
    pub repetitions: u64,
    /// With fewer transfers in a repetition, more repetitions are needed.
    pub of_each: u64,
    /// Transfers in flight at a time.
    pub in_flight: u64,
    /// The least number of repetitions that are planned.
    pub planned: u64,
    /// The transfers of each of them; `None` if the clock or the storage decides.
    pub planned_of_each: Option<u64>,
}

impl PercentileNeed {
    /// The needs of `commitment` in each case and phase of `plan` that it is about. Empty if it is not about a
    /// percentile.
    #[must_use]
    pub fn of(plan: &Plan, commitment: &Commitment) -> Vec<Self> {
        let Some(percent) = commitment.asked.percentile() else { return Vec::new() };
        let selected = plan.selected(&commitment.figures);
        let among = if commitment.over == Over::Best { selected.len() } else { 1 };
        let need =
            |(case, phase): (&Case, Phase)| Self::of_case(commitment.statistic, percent, among, case, phase);
        selected.into_iter().filter_map(need).collect()
    }

    /// `None` if the text of an imported case does not print how many transfers were in flight.
    fn of_case(statistic: Statistic, percent: f64, among: usize, case: &Case, phase: Phase) -> Option<Self> {
        let planned = u64::from(case.repetitions_least());
        let in_one = statistic == Statistic::Best;
        let level = PercentileBounds::level(among) / if in_one { planned.max(1) as f64 } else { 1.0 };
        let (in_flight, planned_of_each) = (case.in_flight()?, transfers_of(case, phase));
        let of_each = transfers_of_pass(percent, in_flight, level).unwrap_or(u64::MAX);
        let each = planned_of_each.unwrap_or(u64::MAX) as f64;
        let repetitions = if in_one { Some(1) } else { passes_needed(percent, each, in_flight, level) };
        Some(Self {
            percent,
            transfers: transfers_needed(percent, level),
            in_one,
            repetitions: repetitions.unwrap_or(u64::MAX),
            of_each: if in_one { 1 } else { of_each },
            in_flight: crate::statistics::whole(in_flight),
            planned,
            planned_of_each,
        })
    }

    /// Whether the plan has enough of both; `None` if that depends on how many transfers the storage completes.
    #[must_use]
    pub fn is_met(&self) -> Option<bool> {
        let Some(needed) = self.transfers else { return Some(false) };
        if self.planned < self.repetitions {
            return Some(false);
        }
        let each = self.planned_of_each?;
        Some(if self.in_one { each } else { each.saturating_mul(self.planned) } >= needed)
    }
}

/// The transfers of one pass, of the direction that has fewer. `None` if something else than their number ends the
/// phase, or if the number of operations is not known.
fn transfers_of(case: &Case, phase: Phase) -> Option<u64> {
    let workload = &case.workload;
    if workload.duration.is_some() || workload.stonewall.is_some() {
        return None;
    }
    if !workload.work.is_transfers() {
        return workload.operations_of(phase);
    }
    let reads = u64::from(workload.read_percent.min(100));
    let share = if phase == Phase::Mixed { reads.min(100 - reads) } else { 100 };
    Some(match share {
        0 => workload.transfers(),
        share => workload.transfers().saturating_mul(share) / 100,
    })
}
