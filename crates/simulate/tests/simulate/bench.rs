//! One phase on a model, and what it gave.

use std::path::Path;

use engine::{Controls, EndOutcome, PhaseJob, PhaseOutcome};
use host::DeviceSample;
use plan::{Bytes, Case, Geometry, Measure, Nanos, Order, Phase, Plan, PlanSource, Sharing, WorkloadSpec};
use record::{FORMAT_VERSION, Manifest, Provenance};
use runner::{Checked, Machine};
use simulate::{Model, SimulatedMachine};

/// The largest relative difference between a simulation and theory.
pub(crate) const CLOSE: f64 = 0.01;

/// A model, at rest, with all of its nodes.
pub(crate) fn machine(model: &str, seed: u64) -> SimulatedMachine {
    noisy(model, 0.0, seed)
}

/// A model whose rates scatter from phase to phase.
pub(crate) fn noisy(model: &str, noise: f64, seed: u64) -> SimulatedMachine {
    let model = read(model, noise);
    let mut everywhere = in_order(512, 512, model.node.count);
    everywhere.nodes = model.node.count;
    machine_of(model, everywhere, Phase::Read, seed)
}

/// A model, at rest, with the nodes and processes that `spec` needs.
pub(crate) fn machine_for(model: &str, spec: &WorkloadSpec) -> SimulatedMachine {
    machine_of(read(model, 0.0), spec.clone(), Phase::Exchange, 1)
}

pub(crate) fn read(model: &str, noise: f64) -> Model {
    let text = format!("model = {{ name = \"a test\", noise = {noise:?} }}\n{model}");
    simulate::read(Path::new("model.toml"), &text).expect("a model")
}

/// The machine of a plan that has a case of `spec` and a case of `other`.
pub(crate) fn machine_beside(model: &str, spec: &WorkloadSpec, other: &WorkloadSpec) -> SimulatedMachine {
    let case = |id: &str, spec: &WorkloadSpec| {
        Case::new(id, spec.clone().validate().expect("valid"), vec![Phase::Exchange])
    };
    machine_of_cases(read(model, 0.0), vec![case("a", spec), case("b", other)], 1)
}

fn machine_of(model: Model, spec: WorkloadSpec, phase: Phase, seed: u64) -> SimulatedMachine {
    let case = Case::new("a", spec.validate().expect("valid"), vec![phase]);
    machine_of_cases(model, vec![case], seed)
}

pub(crate) fn machine_of_cases(model: Model, cases: Vec<Case>, seed: u64) -> SimulatedMachine {
    let plan =
        Plan::new("a test", PlanSource::Quick { directory: "/data".into(), others: Vec::new() }, 1, cases);
    SimulatedMachine::new(model, &plan, seed)
}

/// Direct transfers of 4 KiB, at random places of a file for each task, for so many seconds.
pub(crate) fn random_for(seconds: u64, tasks: u32) -> WorkloadSpec {
    let geometry = Geometry { transfer: Bytes::kib(4), block: Bytes::gib(16), segments: 1 };
    let mut spec = WorkloadSpec::new("w", "/data/file", geometry);
    (spec.tasks, spec.direct, spec.files.sharing) = (tasks, true, Sharing::PerTask);
    (spec.order, spec.duration) = (Order::Random { seed: 1 }, Some(Nanos::secs(seconds)));
    spec
}

/// Direct transfers of `transfer` bytes in order, `block` bytes of each task.
pub(crate) fn in_order(transfer: u64, block: u64, tasks: u32) -> WorkloadSpec {
    let geometry = Geometry { transfer: Bytes(transfer), block: Bytes(block), segments: 1 };
    let mut spec = WorkloadSpec::new("w", "/data/file", geometry);
    (spec.tasks, spec.direct, spec.files.sharing) = (tasks, true, Sharing::PerTask);
    spec
}

/// What a phase gave.
pub(crate) struct Simulated {
    pub(crate) outcome: PhaseOutcome,
    pub(crate) devices: Vec<(String, DeviceSample)>,
    /// Of exchanges.
    pub(crate) ends: Vec<(u32, EndOutcome)>,
}

/// The phase of repetition number `repetition` of `spec` on `machine`; tasks are spread over its nodes in turn.
pub(crate) fn phase(
    machine: &mut SimulatedMachine,
    spec: WorkloadSpec,
    phase: Phase,
    repetition: u32,
) -> Simulated {
    let nodes = u32::try_from(machine.topology().names().len()).expect("few nodes");
    phase_on(machine, spec, nodes, phase, repetition)
}

/// As [`phase`], with the tasks on the first `nodes` nodes.
pub(crate) fn phase_on(
    machine: &mut SimulatedMachine,
    spec: WorkloadSpec,
    nodes: u32,
    phase: Phase,
    repetition: u32,
) -> Simulated {
    let case = Case::new("a", spec.validate().expect("valid"), vec![phase]);
    let node_of: Vec<u32> = (0..case.workload.tasks).map(|task| task % nodes).collect();
    let job = PhaseJob::new(&case.workload, phase, repetition);
    let given = machine.phase(&case, &job, &node_of, &Controls::new()).expect("the model has all parts");
    let one = Simulated { outcome: given.outcome, devices: given.devices, ends: given.ends };
    one.adds_up();
    one
}

/// The reads of `spec` on `model`.
pub(crate) fn reads(model: &str, spec: WorkloadSpec) -> Simulated {
    phase(&mut machine(model, 1), spec, Phase::Read, 0)
}

/// The writes of `spec` on `model`.
pub(crate) fn writes(model: &str, spec: WorkloadSpec) -> Simulated {
    phase(&mut machine(model, 1), spec, Phase::Write, 0)
}

impl Simulated {
    pub(crate) fn transfers(&self) -> f64 {
        (self.outcome.reads + self.outcome.writes + self.outcome.items) as f64
    }

    /// From the first to the last transfer.
    pub(crate) fn seconds(&self) -> f64 {
        self.outcome.io_ns as f64 / 1e9
    }

    pub(crate) fn transfers_per_second(&self) -> f64 {
        self.transfers() / self.seconds()
    }

    pub(crate) fn bytes_per_second(&self) -> f64 {
        (self.outcome.read_bytes + self.outcome.write_bytes) as f64 / self.seconds()
    }

    /// Mean latency, in seconds: exact, not from the buckets.
    pub(crate) fn latency(&self) -> f64 {
        let sum: u64 = self.outcome.series.iter().map(|one| one.latency_sum_ns).sum();
        sum as f64 / 1e9 / self.transfers()
    }

    /// The latency that this share of the transfers does not exceed, in seconds; within a bucket in proportion.
    pub(crate) fn percentile(&self, share: f64) -> f64 {
        let response = self.outcome.latency.iter().find(|one| one.measure == Measure::Response);
        let histogram = &response.expect("latencies").histogram;
        let wanted = share * histogram.total() as f64;
        let mut before = 0.0;
        for (low, high, count) in histogram.buckets() {
            let part = (wanted - before) / count as f64;
            if count > 0 && part <= 1.0 {
                return (low as f64 + part * (high - low) as f64) / 1e9;
            }
            before += count as f64;
        }
        f64::NAN
    }

    /// Requests of all devices.
    pub(crate) fn device_requests(&self) -> [u64; 2] {
        let of = |field: fn(&host::DeviceCounters) -> u64| {
            self.devices.iter().map(|(_, sample)| field(&sample.counters)).sum()
        };
        [of(|counters| counters.reads), of(|counters| counters.writes)]
    }

    /// The share of the time that device number `number` served something.
    pub(crate) fn busy(&self, number: usize) -> f64 {
        let own = self.devices.iter().filter(|(_, one)| one.counters.device.ends_with(&format!("-{number}")));
        own.map(|(_, sample)| sample.counters.busy_ns).sum::<u64>() as f64 / self.outcome.io_ns as f64
    }

    /// What the tasks, the series and the histogram say of the same transfers is the same, and Little's law
    /// holds: what is under way at a time on average is the rate times the latency.
    pub(crate) fn adds_up(&self) {
        let outcome = &self.outcome;
        let of_tasks: u64 = outcome.tasks.iter().map(|task| task.reads + task.writes + task.items).sum();
        let of_series: u64 = outcome.series.iter().map(|one| one.transfers).sum();
        let counted = outcome.latency.iter().filter(|one| one.measure == Measure::Response);
        let counted: u64 = counted.map(|one| one.histogram.total()).sum();
        assert_eq!(
            [of_tasks, of_series, counted],
            [outcome.reads + outcome.writes + outcome.items; 3],
            "tasks, series and histogram"
        );
        let bytes: u64 = outcome.tasks.iter().map(|task| task.bytes).sum();
        assert_eq!(bytes, outcome.read_bytes + outcome.write_bytes);
    }

    /// Little's law of a closed loop, in which `customers` transfers are always under way.
    pub(crate) fn holds_little(&self, customers: f64) {
        is_close("rate × latency", self.transfers_per_second() * self.latency(), customers);
    }
}

/// Asserts that `found` is `expected` within 1 %.
#[track_caller]
pub(crate) fn is_close(what: &str, found: f64, expected: f64) {
    let off = found / expected - 1.0;
    assert!(off.abs() <= CLOSE, "{what}: {found} instead of {expected}, {:+.2} %", off * 100.0);
}

/// The manifest of a run of what was checked.
pub(crate) fn manifest(checked: &Checked) -> Manifest {
    Manifest {
        predicted: None,
        format_version: FORMAT_VERSION,
        run_id: "a-run".to_owned(),
        provenance: Provenance::Simulated,
        program_version: "0".to_owned(),
        command_line: Vec::new(),
        started_unix_ns: 0,
        finished_unix_ns: None,
        plan: checked.plan.clone(),
        host: checked.facts.clone(),
        cluster: checked.cluster(""),
        model: None,
        defaults: Vec::new(),
    }
}
