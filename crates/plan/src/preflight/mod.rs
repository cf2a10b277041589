//! Plausibility of a case in its environment, before it starts: time, space and memory.
//!
//! A [`crate::Forecast`] needs only the case. A [`CaseEstimate`] compares it with the [`RunEnvironment`]: free
//! space, memory and the expected, measured or assumed rates.

mod concern;
mod environment;
pub(crate) mod forecast;
mod space;
#[cfg(test)]
mod tests;
mod totals;

use std::collections::HashMap;

pub use concern::{
    Concern, MEMORY_MULTIPLE_MIN, PHASE_SECONDS_ADVISED, PHASE_SECONDS_MAX, PHASE_SECONDS_MIN,
    SPACE_SHARE_MAX,
};
pub use environment::{ExpectedRate, RunEnvironment, Space};
pub use space::SpaceEstimate;
pub use totals::Totals;

use crate::preflight::forecast::Filled;
use crate::{Bytes, Case, Forecast, Layer, Phase, Plan, TargetDescription};
use concern::{across_concern, cache_concern, length_concerns, memory_concern, space_concerns, whole};
use space::{TargetFileSystems, spaces, together};

/// The expected volume and duration of one phase of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseEstimate {
    /// Which phase.
    pub phase: Phase,
    /// Bytes per second that it is expected to reach.
    pub bytes_per_second: f64,
    /// Bytes that it is expected to move: one pass, or what the clock allows.
    pub bytes: Bytes,
    /// Operations that it is expected to do, where these are no transfers.
    pub operations: Option<u64>,
    /// Seconds that it is expected to take.
    pub seconds: f64,
    /// The clock ends it, not the volume.
    pub by_clock: bool,
}

/// The forecast of one case, compared with its environment.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseEstimate {
    /// What it creates and transfers.
    pub forecast: Forecast,
    /// Data written before the case because no earlier case is certain to have written it; known only if the
    /// earlier cases are, see [`estimates`].
    pub fill: Option<PhaseEstimate>,
    /// The preconditioning before the first pass, all its writes together.
    pub precondition: Option<PhaseEstimate>,
    /// Each phase of one pass, in order.
    pub phases: Vec<PhaseEstimate>,
    /// Seconds of all passes (see [`Case::passes_max`]) with their delays, of the preconditioning
    /// and of the fill.
    pub seconds: f64,
    /// The caches of the target as a share of the case's data, where the study says how large
    /// they are; known only with the plan, see [`estimates`].
    pub cache_share: Option<f64>,
    /// Space that its files take, by file system.
    pub spaces: Vec<SpaceEstimate>,
    /// Warnings about it.
    pub concerns: Vec<Concern>,
}

impl CaseEstimate {
    /// The estimate of `case`.
    ///
    /// ```
    /// use plan::{Bytes, Case, Concern, ExpectedRate, Geometry, Nanos, CaseEstimate, Phase, RunEnvironment, WorkloadSpec};
    /// // Study A, layout 3: 33 tasks × 1 MiB × 1000 take 1.8 s at 18.8 GB/s.
    /// let geometry = Geometry { transfer: Bytes::mib(1), block: Bytes::mib(1), segments: 1000 };
    /// let mut spec = WorkloadSpec::new("gpfs", "file", geometry);
    /// (spec.tasks, spec.direct) = (33, true);
    /// let case = Case::new("gpfs", spec.validate()?, vec![Phase::Write]);
    /// let rate = ExpectedRate { bytes_per_second: 18.8e9, transfer_time: Nanos(0), source: "published".into() };
    /// let environment = RunEnvironment { spaces: vec![], memory: None, node_of: vec![], write: rate.clone(), read: rate };
    /// let estimate = CaseEstimate::of(&case, &environment);
    /// assert!((estimate.seconds - 1.84).abs() < 0.01);
    /// assert!(matches!(estimate.concerns[0], Concern::TooShort { segments: Some(5434), .. }));
    /// # Ok::<(), plan::PlanError>(())
    /// ```
    #[must_use]
    pub fn of(case: &Case, environment: &RunEnvironment) -> Self {
        Self::placed(case, environment, &TargetFileSystems::of(environment), Layer::Unstated)
    }

    fn placed(
        case: &Case,
        environment: &RunEnvironment,
        placed: &TargetFileSystems<'_>,
        layer: Layer,
    ) -> Self {
        let forecast = Forecast::of(case);
        let phases: Vec<PhaseEstimate> =
            case.phases.iter().map(|&phase| phase_estimate(case, phase, environment, layer)).collect();
        let one: f64 = phases.iter().map(|phase| phase.seconds + case.delay.as_secs_f64()).sum();
        let all = one * f64::from(case.passes_max());
        let limited = case.time_limit.map_or(all, |limit| all.min(limit.as_secs_f64().max(one)));
        let written = forecast.footprint.0.saturating_mul(u64::from(case.protocol.precondition));
        let precondition = (written > 0).then(|| streamed(Bytes(written), case, environment, layer));
        let seconds = limited + precondition.as_ref().map_or(0.0, |phase| phase.seconds);
        let spaces = spaces(case, environment, placed, layer);
        let mut concerns = length_concerns(case, &phases);
        concerns.extend(space_concerns(case, &spaces));
        concerns.extend(memory_concern(case, environment.memory));
        concerns.extend(across_concern(case, &environment.node_of));
        if forecast.balance_bound < 1.0 {
            let targets = u32::try_from(case.workload.files.targets.len()).unwrap_or(u32::MAX);
            let (tasks, bound) = (case.workload.tasks, forecast.balance_bound);
            concerns.push(Concern::Unbalanced { tasks, targets, bound });
        }
        Self { forecast, fill: None, precondition, phases, seconds, cache_share: None, spaces, concerns }
    }
}

/// The estimate of every case of `plan`, and what all of them together put on each file system at
/// most: every set of files once, at its largest.
#[must_use]
pub fn estimates<'p>(
    plan: &'p Plan,
    environment: &RunEnvironment,
) -> (Vec<CaseEstimate>, Vec<SpaceEstimate>) {
    let mut filled = Filled::default();
    let placed = TargetFileSystems::of(environment);
    let targets: HashMap<&str, &TargetDescription> =
        plan.terms.targets.iter().map(|target| (target.name.as_str(), target)).collect();
    let mut estimate = |case: &'p Case| {
        let target = targets.get(case.target.as_str());
        let layer = target.map_or(Layer::Unstated, |target| target.layer);
        let mut estimate = CaseEstimate::placed(case, environment, &placed, layer);
        let bytes = filled.before(case, estimate.forecast.footprint);
        if bytes.0 > 0 {
            let fill = streamed(bytes, case, environment, layer);
            estimate.seconds += fill.seconds;
            estimate.fill = Some(fill);
        }
        if let Some(caches) = target.and_then(|target| target.caches) {
            let volume = estimate.forecast.footprint;
            estimate.cache_share = Some(caches.0 as f64 / (volume.0 as f64).max(1.0));
            estimate.concerns.extend(cache_concern(case, volume, caches));
        }
        estimate
    };
    let all: Vec<CaseEstimate> = plan.cases.iter().map(&mut estimate).collect();
    let totals = together(plan, environment, &all);
    (all, totals)
}

/// A sequential write that fills or preconditions files.
fn streamed(bytes: Bytes, case: &Case, environment: &RunEnvironment, layer: Layer) -> PhaseEstimate {
    let bytes_per_second = (environment.write.bytes_per_second * storages(case, layer)).max(1.0);
    let seconds = bytes.0 as f64 / bytes_per_second;
    PhaseEstimate { phase: Phase::Fill, bytes_per_second, bytes, operations: None, seconds, by_clock: false }
}

/// Expected duration of a phase without transfers: one small-transfer time per operation, which is a guess,
/// since data sheets give no figure for them.
fn operations_estimate(
    case: &Case,
    phase: Phase,
    environment: &RunEnvironment,
    layer: Layer,
) -> PhaseEstimate {
    let workload = &case.workload;
    let expected = if phase.makes() { &environment.write } else { &environment.read };
    let bytes = workload.phase_bytes(phase);
    let under_way = f64::from(workload.tasks) * f64::from(workload.backend.depth());
    let per_second = under_way / expected.transfer_time.as_secs_f64().max(1e-9);
    let all = workload.operations_of(phase);
    let by_bytes = bytes.0 as f64 / (expected.bytes_per_second * storages(case, layer)).max(1.0);
    let by_volume = all.map_or(0.0, |all| all as f64 / per_second).max(by_bytes);
    let limit = workload.duration.or(workload.stonewall.map(|stonewall| stonewall.deadline));
    let limit = limit.map(crate::Nanos::as_secs_f64);
    let by_clock = limit.is_some_and(|limit| all.is_none() || limit < by_volume);
    let seconds = limit.filter(|_| by_clock).unwrap_or(by_volume);
    let share = if by_clock && by_volume > 0.0 { seconds / by_volume } else { 1.0 };
    let operations = all.map(|all| whole(all as f64 * share).0);
    let bytes = whole(bytes.0 as f64 * share);
    let bytes_per_second = bytes.0 as f64 / seconds.max(1e-9);
    PhaseEstimate { phase, bytes_per_second, bytes, operations, seconds, by_clock }
}

/// Number of storages with the expected rates: one per node for node-local storage.
fn storages(case: &Case, layer: Layer) -> f64 {
    if layer == Layer::NodeLocal { f64::from(case.workload.nodes) } else { 1.0 }
}

fn phase_estimate(case: &Case, phase: Phase, environment: &RunEnvironment, layer: Layer) -> PhaseEstimate {
    let workload = &case.workload;
    if !workload.work.is_transfers() {
        return operations_estimate(case, phase, environment, layer);
    }
    let storages = storages(case, layer);
    let (write, read) = (environment.write.on(storages, workload), environment.read.on(storages, workload));
    let bytes_per_second = match phase {
        // Reads and writes alternate, so times add up and rates do not.
        Phase::Mixed => {
            let reads = f64::from(workload.read_percent) / 100.0;
            1.0 / (reads / read + (1.0 - reads) / write)
        }
        _ if phase.writes() => write,
        _ => read,
    }
    .max(1.0);
    let volume = if phase.is_result() { workload.bytes() } else { workload.footprint() }.0 as f64;
    let by_volume = volume / bytes_per_second;
    let (seconds, by_clock) = if !phase.is_result() {
        (by_volume, false)
    } else if let Some(duration) = workload.duration {
        (duration.as_secs_f64(), true)
    } else {
        match workload.stonewall {
            Some(stonewall) if !stonewall.wear_out && stonewall.deadline.as_secs_f64() < by_volume => {
                (stonewall.deadline.as_secs_f64(), true)
            }
            _ => (by_volume, false),
        }
    };
    let moved = if by_clock { seconds * bytes_per_second } else { volume };
    PhaseEstimate { phase, bytes_per_second, bytes: whole(moved), operations: None, seconds, by_clock }
}
