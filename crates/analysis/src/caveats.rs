//! What belongs to a figure wherever it is quoted: caches, the caution of a peak, and what was overridden.

use plan::PlanSource;
use plan::study::Override;

use crate::gate::{Gate, Stated};
use crate::sweeps::Best;

/// What belongs to a figure wherever it is quoted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Caveats {
    /// The declared caches of clients, servers and controllers ÷ the working set. `None` if the study does not give
    /// their size.
    pub cache_share: Option<f64>,
    /// [`Best::caution`] of a figure that is the best of its sweep; else empty.
    pub caution: String,
    /// What the command line set otherwise than the study file, as in `protocol.repetitions=2`.
    pub overrides: Vec<String>,
}

/// The caveats of each figure of `gate`, in their order; `best` are the best points.
#[must_use]
pub(crate) fn caveats(gate: &Gate<'_>, best: &[Stated<Best>]) -> Vec<Caveats> {
    let overrides: Vec<Override> = match &gate.plan.source {
        PlanSource::Study { overrides, .. } => {
            overrides.iter().filter_map(|one| Override::parse(one).ok()).collect()
        }
        _ => Vec::new(),
    };
    let mut all = vec![Caveats::default(); gate.figures.len()];
    for subject in &gate.subjects {
        let of_case = overrides.iter().filter(|one| one.concerns(subject.case)).map(ToString::to_string);
        let one = &mut all[subject.index];
        (one.cache_share, one.overrides) = (subject.cache_share(), of_case.collect());
    }
    for (place, peak) in best.iter().filter_map(|one| Some((one.figure(), one.says()?))) {
        all[place].caution.clone_from(&peak.caution);
    }
    all
}
