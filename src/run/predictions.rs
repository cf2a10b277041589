//! Rates known before a run that do not come from its study: they are given by hand, or were measured by
//! an earlier run.

use std::path::Path;

use plan::{Amount, Case, Interval, Order, Phase, Plan, PredictedRate, Predictions, RateUnit, Source};
use record::Run;
use simulate::{Issuers, Model, Transfer};

use crate::arguments::values::GivenRate;
use crate::console::exit::Failure;
use crate::run::arguments::Basis;
use crate::run::cluster::World;
use crate::run::probe::probe;

/// The rates for the phases of `plan` that are given by the options.
///
/// # Errors
/// Errors if a rate is for a phase that the study does not have, or is given twice; if the run of `--like` cannot be
/// read; or if the probe fails.
pub(crate) fn of_options(plan: &Plan, basis: &Basis, world: &World) -> Result<Predictions, Failure> {
    check_given(plan, &basis.expect)?;
    let mut predictions = match &basis.like {
        Some(directory) => {
            let run = crate::records::one(directory)?;
            let mut found = of_run(plan, &run, directory);
            if found.is_empty() {
                found.add_unmatched(source_of(&run, directory));
            }
            found
        }
        None => Predictions::default(),
    };
    // If several given rates apply, the first one is used: for a fill its own rate comes first, then
    // those of other phases.
    let mut given: Vec<&GivenRate> = basis.expect.iter().collect();
    given.sort_by_key(|given| (given.phase.is_none(), given.phase != Some(Phase::Fill)));
    for given in given {
        add_given(&mut predictions, plan, given);
    }
    if basis.probe {
        predictions.append(probe(plan, world)?);
    }
    Ok(predictions)
}

/// The rates measured by the run in `directory`.
pub(crate) fn of_run(plan: &Plan, run: &Run, directory: &Path) -> Predictions {
    analysis::predictions::predictions_like(plan, run, &source_of(run, directory))
}

fn source_of(run: &Run, directory: &Path) -> Source {
    let model = run.manifest.model.as_ref().map(|model| format!(" (simulated by model {})", model.name));
    Source::Run(format!("{}{}", directory.display(), model.unwrap_or_default()))
}

/// Rejects rates that would not predict anything.
fn check_given(plan: &Plan, given: &[GivenRate]) -> Result<(), Failure> {
    let fills = |case: &Case| case.workload.files.fill || case.protocol.precondition > 0;
    let of_case =
        |case: &Case| case.phases.iter().copied().chain(fills(case).then_some(Phase::Fill)).collect();
    let there: Vec<Phase> = plan.cases.iter().flat_map::<Vec<Phase>, _>(of_case).collect();
    let mut seen: Vec<Option<Phase>> = Vec::new();
    for one in given {
        let named = one.phase.map_or("all phases", Phase::name);
        if seen.contains(&one.phase) {
            return Err(Failure::usage(format!(
                "--expect gives the rate of {named} twice, but only one can be used: omit one"
            )));
        }
        seen.push(one.phase);
        let Some(phase) = one.phase else { continue };
        if !there.contains(&phase) {
            let names = Phase::ALL.into_iter().filter(|phase| there.contains(phase)).map(Phase::name);
            return Err(Failure::usage(format!(
                "--expect {named}: the study has no such phase; it has {}",
                names.collect::<Vec<_>>().join(", ")
            )));
        }
        if phase == Phase::Fill && !matches!(one.rate, Amount::BytesPerSecond(_)) {
            let why = "--expect fill: its transfers have their own size, so a rate of operations does not apply to it; \
                       give it in bytes, for example fill=2GB/s";
            return Err(Failure::usage(why));
        }
    }
    Ok(())
}

fn add_given(predictions: &mut Predictions, plan: &Plan, given: &GivenRate) {
    let (rate, unit) = match given.rate {
        Amount::BytesPerSecond(rate) => (rate, RateUnit::Bytes),
        Amount::OperationsPerSecond(rate) => (rate, RateUnit::Operations),
        Amount::Latency { .. } => return,
    };
    let rate = PredictedRate { rate: Interval::exact(rate), unit, source: Source::Given };
    for case in &plan.cases {
        // A fill is a write that is not in any list of phases. Rates of operations with a different size
        // do not apply to it.
        let fills = given.phase.is_none_or(|phase| phase.only_writes()) && unit == RateUnit::Bytes;
        let own = case.phases.iter().copied().filter(|phase| given.phase.is_none_or(|of| of == *phase));
        for phase in own.chain(fills.then_some(Phase::Fill)) {
            predictions.add(&case.id, phase, rate.clone());
        }
    }
}

/// The rates of transfers according to the bounds of `model`: at most what its bottleneck can process, and at least
/// the rate at which each transfer waits for all others at the bottleneck (Lazowska et al., Quantitative System
/// Performance, chapter 5).
pub(crate) fn of_model(plan: &Plan, model: &Model) -> Predictions {
    let mut predictions = Predictions::default();
    for case in plan.cases.iter().filter(|case| case.workload.work.is_transfers()) {
        let workload = &case.workload;
        // The bounds of the devices do not apply to data that goes to the page cache.
        let cached = !workload.direct && model.node.cache.is_some();
        let Some(layout) = model.layout_of(&case.target).filter(|_| !cached) else { continue };
        let (nodes, depth) = (workload.nodes, workload.backend.depth());
        let issuers = Issuers { nodes, tasks: Some(workload.tasks.div_ceil(nodes.max(1))), depth };
        let under_way = f64::from(workload.tasks) * f64::from(depth);
        let random = matches!(workload.order, Order::Random { .. });
        let bytes = workload.geometry.transfer.0;
        let rate_of = |transfer: Transfer| {
            let bounds = model.bounds(layout, transfer, issuers);
            let response = bounds.response_ns / 1e9;
            let capacity = bounds.saturation / response.max(1e-12);
            let most = bounds.transfers_per_second();
            let least = under_way / (response + (under_way - 1.0).max(0.0) / capacity);
            Interval { low: least.min(most), middle: least.min(most).midpoint(most), high: most }
        };
        let rate = |writes: bool| rate_of(Transfer { bytes, writes, random });
        let source = || Source::Model(model.model.name.clone());
        if case.protocol.precondition > 0 {
            let bytes = workload.geometry.fill_transfer().0;
            let rate = rate_of(Transfer { bytes, writes: true, random: false }) * bytes as f64;
            predictions.add(
                &case.id,
                Phase::Fill,
                PredictedRate { rate, unit: RateUnit::Bytes, source: source() },
            );
        }
        for phase in case.phases.iter().copied().filter(|phase| phase.is_transfers()) {
            let rate = match phase {
                Phase::Mixed => {
                    let reads = f64::from(workload.read_percent) / 100.0;
                    let time =
                        |of: fn(&Interval) -> f64| reads / of(&rate(false)) + (1.0 - reads) / of(&rate(true));
                    Interval {
                        low: 1.0 / time(|rate| rate.low),
                        middle: 1.0 / time(|rate| rate.middle),
                        high: 1.0 / time(|rate| rate.high),
                    }
                }
                phase => rate(phase.writes()),
            };
            predictions.add(
                &case.id,
                phase,
                PredictedRate { rate, unit: RateUnit::Operations, source: source() },
            );
        }
    }
    predictions
}
