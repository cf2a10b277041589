//! Plausibility checks of a case in its environment before it starts: time, space and memory.
//!
//! A [`crate::Forecast`] only needs the case. A [`CaseEstimate`] compares it with the [`RunEnvironment`]: free
//! space, memory, and rates. The rate of each phase is a range with its [`Source`]: given by hand, by a model or by
//! an earlier run (see [`Predictions`]), else from the study's statements about its targets, else assumed for the
//! devices. On a model nothing is assumed, so the rate of a phase for which it gives no rate is unknown.

mod case_criteria;
mod concern;
mod environment;
pub(crate) mod forecast;
mod phase;
mod prediction;
mod space;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

pub use concern::{
    Concern, MEMORY_MULTIPLE_MIN, PHASE_SECONDS_ADVISED, PHASE_SECONDS_MAX, PHASE_SECONDS_MIN,
    SHORT_PASSES_MIN, SHORT_SECONDS_MIN, SHORT_TURNS_MIN, SPACE_SHARE_MAX, short_of,
};
pub use environment::{AssumedDevice, FileSystemSpace, RunEnvironment};
pub use phase::PhaseEstimate;
pub use prediction::{Interval, PredictedRate, Prediction, Predictions, RateUnit, Source};
pub use space::SpaceEstimate;

use crate::preflight::forecast::Filled;
use crate::{Bytes, Case, Criteria, Forecast, Plan, TargetDescription};
use case_criteria::CaseCriteria;
use concern::{across_concern, cache_concern, length_concerns, memory_concern, space_concerns};
use phase::{Phases, all_passes, written_share};
use space::{TargetFileSystems, spaces, together};

/// The forecast of one case, compared with its environment.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseEstimate {
    /// What it creates and transfers.
    pub forecast: Forecast,
    /// Data written before the case because no earlier case is certain to have written it. Only known together with
    /// the earlier cases, see [`estimates`].
    pub fill: Option<PhaseEstimate>,
    /// How often files are filled and preconditioned: once, or after each wipe.
    pub preparations: u32,
    /// One preconditioning, with all its writes.
    pub precondition: Option<PhaseEstimate>,
    /// Each phase of one pass, in order.
    pub phases: Vec<PhaseEstimate>,
    /// Seconds that the case adds to the plan: of all passes (see [`Case::passes_max`]), including delays, preconditioning
    /// and fill. Of the passes of cases that run at the same time only the longest count.
    pub seconds: Interval,
    /// Whether its passes run at the same time as those of a case that takes longer.
    pub is_beside: bool,
    /// The caches of the target as a share of the case's data, if the study gives their size. Only known together
    /// with the plan, see [`estimates`].
    pub cache_share: Option<f64>,
    /// Space that its files take, by file system.
    pub spaces: Vec<SpaceEstimate>,
    /// Warnings about the case.
    pub concerns: Vec<Concern>,
}

impl CaseEstimate {
    /// Every phase, including the fill and the preconditioning.
    pub fn all_phases(&self) -> impl Iterator<Item = &PhaseEstimate> {
        self.fill.iter().chain(&self.precondition).chain(&self.phases)
    }

    /// Whether the time of a phase is unknown, so that [`CaseEstimate::seconds`] only covers the others.
    #[must_use]
    pub fn is_partly_unknown(&self) -> bool {
        self.all_phases().any(PhaseEstimate::is_unknown)
    }

    /// The estimate of `case`.
    ///
    /// ```
    /// use plan::{
    ///     Bytes, Case, CaseEstimate, Concern, Geometry, Interval, Phase, PredictedRate, RateUnit, RunEnvironment,
    ///     Source, WorkloadSpec,
    /// };
    /// // Study A, layout 3: 33 tasks × 1 MiB × 1000 take 1.8 s at 18.8 GB/s.
    /// let geometry = Geometry { transfer: Bytes::mib(1), block: Bytes::mib(1), segments: 1000 };
    /// let mut spec = WorkloadSpec::new("gpfs", "file", geometry);
    /// (spec.tasks, spec.direct) = (33, true);
    /// let case = Case::new("gpfs", spec.validate()?, vec![Phase::Write]);
    /// let rate = PredictedRate { rate: Interval::exact(18.8e9), unit: RateUnit::Bytes, source: Source::Given };
    /// let mut environment = RunEnvironment::default();
    /// environment.predicted.add("gpfs", Phase::Write, rate);
    /// let estimate = CaseEstimate::of(&case, &environment);
    /// assert!((estimate.seconds.middle - 1.84).abs() < 0.01);
    /// assert!(matches!(estimate.concerns[0], Concern::TooShort { segments: Some(5434), .. }));
    /// # Ok::<(), plan::PlanError>(())
    /// ```
    #[must_use]
    pub fn of(case: &Case, environment: &RunEnvironment) -> Self {
        let criteria = Criteria::default();
        let criteria = CaseCriteria { criteria: &criteria, case, target: None };
        Self::placed(criteria, environment, &TargetFileSystems::of(environment), Bytes(0))
    }

    /// The estimate of a case before which `filled` bytes are written.
    fn placed(
        criteria: CaseCriteria<'_>,
        environment: &RunEnvironment,
        placed: &TargetFileSystems<'_>,
        filled: Bytes,
    ) -> Self {
        let (case, layer) = (criteria.case, criteria.layer());
        let forecast = Forecast::of(case);
        let file_systems = placed.count(&case.workload.files.targets);
        let estimates = Phases { criteria, environment, forecast: &forecast, file_systems };
        let phases: Vec<PhaseEstimate> = case.phases.iter().map(|&phase| estimates.estimate(phase)).collect();
        let written = forecast.footprint.0.saturating_mul(u64::from(case.protocol.precondition));
        let precondition = (written > 0).then(|| estimates.fill(Bytes(written)));
        let fill = (filled.0 > 0 && environment.model.is_none()).then(|| estimates.fill(filled));
        let before: Interval = precondition.iter().chain(&fill).map(|phase| phase.seconds).sum();
        // Files of a single pass are written once.
        let prepared = |passes| match case.workload.files.file_per_repetition {
            true => 1,
            false => case.preparations(passes),
        };
        let preparations = prepared(case.passes_max());
        let low = before.low * f64::from(prepared(case.passes_min()));
        let seconds = all_passes(case, &phases) + Interval { low, ..before * f64::from(preparations) };
        let spaces = spaces(case, environment, placed, layer, written_share(case, &phases));
        let mut concerns = length_concerns(case, &phases);
        concerns.extend(space_concerns(case, &spaces));
        concerns.extend(memory_concern(case, environment.memory));
        concerns.extend(across_concern(case, &environment.node_of));
        if forecast.balance_bound < 1.0 {
            let targets = u32::try_from(case.workload.files.targets.len()).unwrap_or(u32::MAX);
            let (tasks, bound) = (case.workload.tasks, forecast.balance_bound);
            concerns.push(Concern::Unbalanced { tasks, targets, bound });
        }
        Self {
            forecast,
            fill,
            preparations,
            precondition,
            phases,
            seconds,
            is_beside: false,
            cache_share: None,
            spaces,
            concerns,
        }
    }
}

/// Counts the passes of `cases`, which run at the same time, only with the one that takes the longest.
fn take_time_once(cases: &[Case], estimates: &mut [CaseEstimate]) {
    let passes: Vec<Interval> =
        cases.iter().zip(&*estimates).map(|(case, estimate)| all_passes(case, &estimate.phases)).collect();
    let longest =
        (0..passes.len()).max_by(|one, other| passes[*one].middle.total_cmp(&passes[*other].middle));
    for (place, estimate) in estimates.iter_mut().enumerate().filter(|(place, _)| Some(*place) != longest) {
        let Interval { low, middle, high } = passes[place];
        estimate.is_beside = true;
        let all = &mut estimate.seconds;
        (all.low, all.middle, all.high) = (all.low - low, all.middle - middle, all.high - high);
    }
}

/// The estimates of all cases of `plan`, and the maximum space that they take on each file system at any time: cases
/// remove their files unless a later one needs them or they are kept.
#[must_use]
pub fn estimates<'p>(
    plan: &'p Plan,
    environment: &RunEnvironment,
) -> (Vec<CaseEstimate>, Vec<SpaceEstimate>) {
    let mut filled = Filled::default();
    let placed = TargetFileSystems::of(environment);
    let targets: HashMap<&str, &TargetDescription> =
        plan.criteria.targets.iter().map(|target| (target.name.as_str(), target)).collect();
    let mut estimate = |case: &'p Case| {
        let target = targets.get(case.target.as_str()).copied();
        let filled = filled.before(case, Forecast::of(case).footprint);
        let criteria = CaseCriteria { criteria: &plan.criteria, case, target };
        let mut estimate = CaseEstimate::placed(criteria, environment, &placed, filled);
        if let Some(caches) = target.and_then(|target| target.caches) {
            let volume = estimate.forecast.footprint;
            estimate.cache_share = Some(caches.0 as f64 / (volume.0 as f64).max(1.0));
            estimate.concerns.extend(cache_concern(case, volume, caches));
        }
        estimate
    };
    let mut all: Vec<CaseEstimate> = plan.cases.iter().map(&mut estimate).collect();
    for block in plan.blocks().filter(|block| plan.cases[block.start].concurrent.is_some()) {
        take_time_once(&plan.cases[block.clone()], &mut all[block]);
    }
    let totals = together(plan, environment, &all);
    (all, totals)
}
