//! Predicts rates for a plan from another run of the same or a similar plan.
//!
//! Each phase of each case gets the rate by wall time of the same phase in the nearest measured case. Cases are
//! comparable if target, kind of work, order, path and durability are the same. File sizes are not compared.
//! Transfer size, tasks, nodes and depth may differ by a total factor of up to [`FACTOR_MAX`], which widens the
//! range. Only the rate of node-local storage is scaled, in proportion to the number of nodes.

use std::mem::discriminant;

use plan::{
    Case, CaseEstimate, Interval, Layer, PassRole, Phase, PhaseSubject, Plan, PredictedRate, Predictions,
    RateUnit, RunEnvironment, Source,
};
use record::{PhaseRow, Run};

use crate::statistics::Summary;

/// The factor by which transfer size, tasks, nodes and depth together may differ.
pub const FACTOR_MAX: f64 = 8.0;
/// A single repetition has no known spread: the rate may be this many times larger or smaller.
const OF_ONE_REPETITION: f64 = 1.25;
/// Rates differ more between two runs than between the repetitions of one.
const BETWEEN_RUNS: f64 = 1.05;

/// The measured result of a case in a phase.
struct Measured<'r> {
    case: &'r Case,
    phase: Phase,
    /// The range over its repetitions.
    rate: Interval,
    unit: RateUnit,
    /// The standard deviation of ln(rate) between them; `None` for one.
    noise: Option<f64>,
}

/// The rates of the phases of `plan` as measured by `earlier`, marked as coming from `source`. There are none
/// for phases without a comparable measurement.
#[must_use]
pub fn predictions_like(plan: &Plan, earlier: &Run, source: &Source) -> Predictions {
    let old = &earlier.manifest.plan;
    let measured = measured(old, earlier);
    // In a plan with a single target, nothing needs to name it.
    let one_target = [plan, old].iter().any(|plan| {
        let mut targets = plan.cases.iter().map(|case| &case.target);
        targets.next().is_none_or(|first| targets.all(|other| other == first))
    });
    let mut predictions = Predictions::default();
    for case in &plan.cases {
        let described = plan.criteria.targets.iter().find(|target| target.name == case.target);
        let is_local = described.is_some_and(|target| target.layer == Layer::NodeLocal);
        // A fill before the case is not in the list of its phases.
        for phase in case.phases.iter().copied().chain([Phase::Fill]) {
            let near = measured.iter().filter(|one| one.case.target == case.target || one_target);
            let near = near.filter_map(|one| Some((doublings(case, phase, one, is_local)?, one)));
            let Some((doublings, nearest)) = near.min_by(|one, other| one.0.total_cmp(&other.0)) else {
                continue;
            };
            let nodes = f64::from(case.workload.nodes) / f64::from(nearest.case.workload.nodes);
            let wider = BETWEEN_RUNS * (doublings / 2.0).exp2();
            let rate = nearest.rate * if is_local { nodes } else { 1.0 };
            let rate = Interval { low: rate.low / wider, middle: rate.middle, high: rate.high * wider };
            let source = source.clone();
            if let Some(noise) = nearest.noise {
                predictions.add_noise(&case.id, phase, noise);
            }
            predictions.add(&case.id, phase, PredictedRate { rate, unit: nearest.unit, source });
        }
    }
    predictions
}

/// Whether the rates of `other` predict each counted phase of `case`.
#[must_use]
pub fn predicts(other: &Case, case: &Case) -> bool {
    case.phases.iter().copied().filter(|phase| phase.is_result()).all(|phase| {
        let measured =
            Measured { case: other, phase, rate: Interval::exact(1.0), unit: RateUnit::Bytes, noise: None };
        other.phases.contains(&phase) && doublings(case, phase, &measured, false).is_some()
    })
}

/// Everything that `run` has measured. Phases in passes that do not count are only used if nothing else gives
/// the value.
fn measured<'r>(plan: &'r Plan, run: &'r Run) -> Vec<Measured<'r>> {
    let (volumes, _) = plan::estimates(plan, &RunEnvironment::default());
    let mut all = Vec::new();
    for (case, volume) in plan.cases.iter().zip(&volumes) {
        let rows = run.phases(&case.id);
        for phase in Phase::ALL {
            let of_phase = || rows.iter().filter(|row| row.key.phase == phase && row.wall_ns > 0);
            let counts = |row: &&PhaseRow| case.role(row.key.repetition) == PassRole::Recorded;
            let counted: Vec<&PhaseRow> = of_phase().filter(counts).collect();
            let counted = if counted.is_empty() { of_phase().collect() } else { counted };
            let rates: Vec<_> = counted.iter().filter_map(|row| rate_of(volume, row)).collect();
            let noise = noise(&rates);
            if let Some((rate, unit)) = over_repetitions(rates) {
                all.push(Measured { case, phase, rate, unit, noise });
            }
        }
    }
    all
}

/// The rate of a phase by wall time: items of trees and objects; bytes of transfers. For jobs, the predicted
/// bytes are divided by the measured time, so that a prediction reproduces the time.
fn rate_of(estimate: &CaseEstimate, row: &PhaseRow) -> Option<(f64, RateUnit)> {
    let seconds = row.wall_ns as f64 / 1e9;
    let (amount, unit) = match row.key.phase.subject() {
        PhaseSubject::Data => (row.bytes(), RateUnit::Bytes),
        PhaseSubject::Tables | PhaseSubject::Launches => {
            let estimate = estimate.phases.iter().find(|one| one.phase == row.key.phase)?;
            (estimate.bytes.0, RateUnit::Bytes)
        }
        PhaseSubject::Messages => return None,
        _ => (row.items, RateUnit::Operations),
    };
    (amount > 0).then_some((amount as f64 / seconds, unit))
}

/// The standard deviation of ln(rate).
fn noise(rates: &[(f64, RateUnit)]) -> Option<f64> {
    let logarithms: Vec<f64> = rates.iter().map(|(rate, _)| rate.ln()).collect();
    Summary::of(&logarithms).filter(|all| all.n > 1).map(|all| all.deviation_sample)
}

fn over_repetitions(mut rates: Vec<(f64, RateUnit)>) -> Option<(Interval, RateUnit)> {
    rates.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (low, unit) = *rates.first()?;
    let (high, _) = *rates.last()?;
    let rate = match rates.len() {
        1 => Interval::around(low, OF_ONE_REPETITION),
        count => Interval { low, middle: rates[count / 2].0, high },
    };
    Some((rate, unit))
}

/// The distance of `phase` of `case` from the measured one, in doublings. Returns `None` if they are not
/// comparable.
fn doublings(case: &Case, phase: Phase, measured: &Measured<'_>, is_local: bool) -> Option<f64> {
    let (new, old) = (&case.workload, &measured.case.workload);
    let fills = phase == Phase::Fill;
    // A fill is a sequential write.
    let is_same_phase = measured.phase == phase || fills && measured.phase == Phase::Write;
    let is_fill = measured.phase == Phase::Fill;
    let is_same = is_same_phase
        && discriminant(&new.work) == discriminant(&old.work)
        && new.direct == old.direct
        && new.files.sharing == old.files.sharing
        && (is_fill || (!fills && new.order.is_random()) == old.order.is_random())
        && (is_fill || fills || (new.sync, new.sync_open) == (old.sync, old.sync_open))
        && (phase != Phase::Mixed || new.read_percent == old.read_percent)
        && new.pace.is_none()
        && old.pace.is_none();
    if !is_same {
        return None;
    }
    let ratio = |new: f64, old: f64| (new.max(1.0) / old.max(1.0)).log2().abs();
    let transfer = match is_fill || fills {
        true => 0.0,
        false => ratio(new.geometry.transfer.0 as f64, old.geometry.transfer.0 as f64),
    };
    let (nodes, of_nodes) = (f64::from(new.nodes), f64::from(old.nodes));
    // Nodes with storage of their own do not share it, so the number of tasks per node is compared.
    let (nodes, tasks) = match is_local {
        true => (0.0, ratio(f64::from(new.tasks) / nodes, f64::from(old.tasks) / of_nodes)),
        false => (ratio(nodes, of_nodes), ratio(f64::from(new.tasks), f64::from(old.tasks))),
    };
    let depth = ratio(f64::from(new.backend.depth()), f64::from(old.backend.depth()));
    let other = f64::from(u8::from(new.backend.name() != old.backend.name())) / 2.0;
    // A measured fill is closer to a fill than a write is.
    let other = other + f64::from(u8::from(fills && !is_fill)) / 4.0;
    let sum = transfer + nodes + tasks + depth + other;
    (sum <= FACTOR_MAX.log2()).then_some(sum)
}
