//! How long a run on a model computes.

use plan::{Case, CaseEstimate, PhaseEstimate, Plan};

use super::SimulatedMachine;
use crate::model::Distribution;

/// Seconds for each phase, each of its tasks, and each piece of an operation on a device, with the release build on a
/// processor of 2023.
const PHASE: f64 = 5e-3;
const TASK: f64 = 3e-6;
const PIECE: f64 = 0.15e-6;
/// The same for a call on a name.
const NAME: f64 = 3e-6;
/// Operations that are simulated until a steady state is found: through a page cache, which has to be full before, with
/// random times, and turns of each task without them.
const BUFFERED: f64 = 10_000_000.0;
const RANDOM: f64 = 300_000.0;
const TURNS: f64 = 20.0;
/// Phases or cases that are simulated at once, if there are as many processors.
const AT_ONCE_MAX: usize = 4;

impl SimulatedMachine {
    /// Expected seconds of computing for a phase of each case, within a factor of five for the ready studies and models.
    #[must_use]
    pub fn computing(&self, plan: &Plan, estimates: &[CaseEstimate]) -> Vec<f64> {
        let of_case = |(index, (case, estimate))| {
            let threads = if self.ahead.simulates(index) { self.ahead.threads } else { 1 };
            self.of_case(case, estimate) / threads.min(AT_ONCE_MAX) as f64
        };
        plan.cases.iter().zip(estimates).enumerate().map(of_case).collect()
    }

    fn of_case(&self, case: &Case, estimate: &CaseEstimate) -> f64 {
        let workload = &case.workload;
        let transfer = workload.geometry.transfer.0.max(1);
        let operations = |phase: &PhaseEstimate| phase.operations.unwrap_or(phase.bytes.0 / transfer) as f64;
        let most = estimate.phases.iter().map(operations).fold(0.0, f64::max);
        let in_flight = f64::from(workload.tasks) * f64::from(workload.backend.depth().max(1));
        let work = &workload.work;
        let is_whole = !self.setup.extrapolates
            || case.concurrent.is_some()
            || work.jobs().is_some()
            || work.objects().is_some();
        let simulated = match () {
            () if is_whole => most,
            () if self.setup.model.node.cache.is_some() && !workload.direct && work.is_transfers() => {
                most.min(BUFFERED)
            }
            () if self.is_random() => most.min(RANDOM.max(TURNS * in_flight)),
            () => most.min(TURNS * in_flight),
        };
        let pieces = self.setup.layout_of(case).map_or(1.0, |layout| {
            let chunk = self.setup.model.layouts[layout].chunk.map_or(u64::MAX, |chunk| chunk.0.max(1));
            (transfer / chunk + 1) as f64
        });
        let each = if workload.work.makes_trees() { NAME } else { PIECE * pieces };
        PHASE + TASK * f64::from(workload.tasks) + each * simulated
    }

    /// Whether any part takes random times.
    fn is_random(&self) -> bool {
        let devices =
            self.setup.model.devices.iter().flat_map(|device| [Some(&device.read), Some(&device.write)]);
        let servers =
            self.setup.model.servers.iter().flat_map(|server| [server.read.as_ref(), server.write.as_ref()]);
        devices.chain(servers).flatten().any(|service| service.distribution != Distribution::Fixed)
    }
}
