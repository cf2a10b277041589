//! Models of storage systems.

use std::path::Path;

use engine::{Controls, PhaseJob};
use plan::{Bytes, Case, Geometry, Order, Phase, Plan, PlanSource, Sharing, WorkloadSpec};
use runner::Machine;
use simulate::SimulatedMachine;

/// Larger models are parsed but not simulated.
const PARTS_MAX: u64 = 2048;

/// A model file. If the model is usable, some transfers are simulated.
pub(super) fn model(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let model = match simulate::read(Path::new("model.toml"), text) {
        Ok(model) => model,
        Err(errors) => return drop(errors.to_string()),
    };
    let counts = model.devices.iter().map(|device| (device.count, device.slots));
    let counts = counts.chain(model.servers.iter().map(|server| (server.count, server.slots)));
    let counts = counts.chain(model.metadata.iter().map(|service| (service.count, service.slots)));
    let parts: u64 = counts.map(|(count, slots)| u64::from(count) * u64::from(slots)).sum();
    let links: u64 = model.links.iter().map(|link| u64::from(link.count)).sum();
    let target = model.layouts[0].targets.first().cloned().unwrap_or_default();
    if parts + links > PARTS_MAX {
        return;
    }
    let geometry = Geometry { transfer: Bytes::kib(64), block: Bytes::mib(1), segments: 1 };
    let mut spec = WorkloadSpec::new("w", "data", geometry);
    (spec.tasks, spec.files.sharing, spec.order) = (3, Sharing::PerTask, Order::Random { seed: 1 });
    let workload = spec.validate().expect("valid");
    let phases = vec![Phase::Write, Phase::Read];
    let case = Case { target: target.replace('*', "x"), ..Case::new("w", workload, phases) };
    let plan = Plan::new("", PlanSource::Quick { directory: ".".into(), others: Vec::new() }, 0, vec![case]);
    let mut machine = SimulatedMachine::new(model, &plan, 1);
    if machine.check(&plan).is_err() {
        return;
    }
    let case = &plan.cases[0];
    for phase in [Phase::Write, Phase::Read] {
        let job = PhaseJob::new(&case.workload, phase, 0);
        match machine.phase(case, &job, &[0; 3], &Controls::new()) {
            Ok(phase) => assert_eq!(phase.outcome.tasks.iter().map(|task| task.bytes).sum::<u64>(), 3 << 20),
            Err(error) => return drop(error.to_string()),
        }
    }
}
