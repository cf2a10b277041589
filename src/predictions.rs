//! Rates that are known before a run from outside of its study: given by hand, or measured by an earlier run.

use std::path::Path;

use plan::{Amount, Interval, Phase, Plan, PredictedRate, Predictions, RateUnit, Source};
use record::Run;

use crate::arguments::Basis;
use crate::exit::Failure;
use crate::values::GivenRate;

/// The rates for the phases of `plan` that the options tell.
///
/// # Errors
/// The run of `--like` cannot be read.
pub(crate) fn of_options(plan: &Plan, basis: &Basis) -> Result<Predictions, Failure> {
    let mut predictions = match &basis.like {
        Some(directory) => of_run(plan, &Run::open(directory)?, directory),
        None => Predictions::default(),
    };
    // Of equal sources the first counts: what names its phase before what does not.
    let (named, others): (Vec<_>, Vec<_>) = basis.expect.iter().partition(|given| given.phase.is_some());
    for given in named.into_iter().chain(others) {
        add_given(&mut predictions, plan, given);
    }
    Ok(predictions)
}

/// The rates that the run in `directory` has measured.
pub(crate) fn of_run(plan: &Plan, run: &Run, directory: &Path) -> Predictions {
    let source = Source::Run(directory.display().to_string());
    analysis::predictions::predictions_like(plan, run, &source)
}

fn add_given(predictions: &mut Predictions, plan: &Plan, given: &GivenRate) {
    let (rate, unit) = match given.rate {
        Amount::BytesPerSecond(rate) => (rate, RateUnit::Bytes),
        Amount::OperationsPerSecond(rate) => (rate, RateUnit::Operations),
        Amount::Latency { .. } => return,
    };
    let rate = PredictedRate { rate: Interval::exact(rate), unit, source: Source::Given };
    for case in &plan.cases {
        // A fill is a write that no list of phases names; operations of another size say nothing of it.
        let fills = given.phase.is_none_or(|phase| phase == Phase::Write) && unit == RateUnit::Bytes;
        let own = case.phases.iter().copied().filter(|phase| given.phase.is_none_or(|of| of == *phase));
        for phase in own.chain(fills.then_some(Phase::Fill)) {
            predictions.add(&case.id, phase, rate.clone());
        }
    }
}
