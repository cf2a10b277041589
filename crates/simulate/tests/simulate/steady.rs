//! What is computed of a steady state, against the simulation of all of it.

use std::fs;
use std::num::NonZero;
use std::path::Path;
use std::time::Duration;

use engine::{Controls, PhaseJob};
use plan::{
    Backend, Bytes, Case, Geometry, Nanos, Order, Pace, Pattern, Phase, Rpc, Sharing, Tree, Work,
    WorkloadSpec,
};
use record::Warning;
use runner::{Machine, MachinePhase};
use simulate::Model;

use crate::bench::{Simulated, machine_of_cases};
use crate::exchanges::{self, rpc, spec};

/// A model that comes with the program, without its noise.
fn stock(name: &str) -> Model {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../studies/models/{name}.toml"));
    let text = fs::read_to_string(&path).expect("a model");
    let quiet: String =
        text.lines().filter(|line| !line.starts_with("noise")).map(|line| format!("{line}\n")).collect();
    simulate::read(&path, &quiet).expect("a model")
}

/// Transfers of `tasks` tasks on each of `nodes` nodes on a target.
fn work(
    target: &str,
    (nodes, tasks): (u32, u32),
    transfer: u64,
    seconds: Option<u64>,
) -> (String, WorkloadSpec) {
    let block = if seconds.is_some() { 16 << 30 } else { transfer * 4096 };
    let geometry = Geometry { transfer: Bytes(transfer), block: Bytes(block), segments: 1 };
    let mut spec = WorkloadSpec::new("w", format!("/{target}/file"), geometry);
    (spec.tasks, spec.nodes, spec.direct, spec.files.sharing) =
        (nodes * tasks, nodes, true, Sharing::PerTask);
    spec.duration = seconds.map(Nanos::secs);
    (target.to_owned(), spec)
}

/// The phase as it is computed by default, and as it is simulated.
fn both(model: &Model, work: &(String, WorkloadSpec), phase: Phase) -> [MachinePhase; 2] {
    both_of(model, work, phase, 7)
}

fn both_of(
    model: &Model,
    (target, spec): &(String, WorkloadSpec),
    phase: Phase,
    seed: u64,
) -> [MachinePhase; 2] {
    let case = Case {
        target: target.clone(),
        ..Case::new("a", spec.clone().validate().expect("valid"), vec![phase])
    };
    let node_of: Vec<u32> = (0..spec.tasks).map(|task| task % spec.nodes).collect();
    [true, false].map(|extrapolates| {
        let machine = machine_of_cases(model.clone(), vec![case.clone()], seed);
        let mut machine = if extrapolates { machine } else { machine.without_extrapolation() };
        let job = PhaseJob::new(&case.workload, phase, 0);
        machine.phase(&case, &job, &node_of, &Controls::new()).expect("the model has all parts")
    })
}

fn simulated(phase: MachinePhase) -> Simulated {
    let one = Simulated { outcome: phase.outcome, devices: phase.devices, ends: phase.ends };
    one.adds_up();
    one
}

/// The share of the time that was not simulated, and the stated error of the rate.
fn computed(phase: &MachinePhase) -> Option<(f64, f64)> {
    phase.warnings.iter().find_map(|warning| match warning {
        Warning::Extrapolated { simulated_seconds, computed_seconds, rate_error } => {
            Some((computed_seconds / (simulated_seconds + computed_seconds), *rate_error))
        }
        _ => None,
    })
}

#[test]
fn a_steady_state_that_is_computed_is_as_one_that_is_simulated() {
    let random = |(target, spec): (String, WorkloadSpec)| {
        (target, WorkloadSpec { order: Order::Random { seed: 1 }, ..spec })
    };
    let deep = |(target, spec): (String, WorkloadSpec)| {
        (target, WorkloadSpec { backend: Backend::Uring { depth: 8, required: true }, ..spec })
    };
    let mixed = |(target, spec): (String, WorkloadSpec)| (target, WorkloadSpec { read_percent: 70, ..spec });
    let buffered = |(target, spec): (String, WorkloadSpec)| (target, WorkloadSpec { direct: false, ..spec });
    let paced = |(target, spec): (String, WorkloadSpec)| {
        (target, WorkloadSpec { pace: Some(Pace { transfers_per_second: 20_000.0 }), ..spec })
    };
    let (k4, m1) = (4 << 10, 1 << 20);
    for (name, work, phase, least) in [
        ("lustre-ef560", random(work("lustre", (1, 24), k4, Some(10))), Phase::Read, 0.5),
        ("lustre-ef560", mixed(random(work("lustre", (1, 24), k4, Some(10)))), Phase::Mixed, 0.5),
        ("lustre-ef560", random(work("lustre-writes", (8, 24), 64 << 10, Some(5))), Phase::Write, 0.5),
        ("twelve-p3700", work("cards", (1, 132), m1, None), Phase::Read, 0.4),
        ("twelve-p3700", work("gpfs-4m", (1, 33), m1, None), Phase::Write, 0.4),
        // Half of the tasks have one more beside them on their card than the other half.
        ("twelve-p3700", work("cards", (1, 198), m1, None), Phase::Write, 0.9),
        ("twelve-p3700", work("gpfs-1m", (1, 198), m1, None), Phase::Read, 0.9),
        ("laptop", random(work("home", (1, 4), k4, Some(10))), Phase::Read, 0.5),
        ("laptop", deep(random(work("home", (1, 4), k4, Some(10)))), Phase::Read, 0.5),
        ("laptop", paced(random(work("home", (1, 16), k4, Some(20)))), Phase::Read, 0.5),
        ("laptop", buffered(random(work("home", (1, 2), k4, Some(10)))), Phase::Read, 0.3),
        ("scale-disks", random(work("scale", (4, 8), 4 * m1, Some(600))), Phase::Read, 0.3),
        ("io-cell", random(work("cell", (8, 8), k4, None)), Phase::Read, 0.4),
        ("cte-power", work("ssd", (4, 16), m1, None), Phase::Write, 0.3),
    ] {
        let what = format!("{name}, {} on {}", phase.name(), work.0);
        let [short, whole] = both(&stock(name), &work, phase);
        assert_eq!(computed(&whole), None, "{what}");
        let (share, error) = computed(&short).unwrap_or_else(|| panic!("{what}: nothing is computed"));
        assert!(share > least && error <= 0.015, "{what}: {share} of the time, error {error}");
        let [short, whole] = [short, whole].map(simulated);
        for (of, most, short, whole) in [
            ("rate", 0.01, short.transfers_per_second(), whole.transfers_per_second()),
            ("bytes", 0.01, short.bytes_per_second(), whole.bytes_per_second()),
            ("p50", 0.01, short.percentile(0.5), whole.percentile(0.5)),
            ("p99", 0.03, short.percentile(0.99), whole.percentile(0.99)),
            ("seconds", 0.01, short.seconds(), whole.seconds()),
        ] {
            assert!((short / whole - 1.0).abs() <= most, "{what}: {of} {short}, simulated {whole}");
        }
    }
}

#[test]
fn exchanges_that_are_computed_are_as_those_that_are_simulated() {
    let model = |text: &str| {
        let text = format!("model = {{ name = \"m\" }}\n{text}");
        simulate::read(Path::new("m.toml"), &text).expect("a model")
    };
    let narrow =
        exchanges::MODEL.replace("latency = \"20us\"", "latency = \"20us\"\nbandwidth = \"500MB/s\"");
    let threads = |threads: u32, rpc: Rpc| Rpc { threads, connections: 16, ..rpc };
    let warm = |rpc: Rpc| Rpc { warm_up: Nanos::millis(100), ..rpc };
    let counted = |spec: WorkloadSpec| WorkloadSpec { duration: None, operations: Some(50_000), ..spec };
    for (what, model, spec) in [
        ("alone", model(exchanges::MODEL), spec(warm(rpc(1024, 4, Pattern::OneToOne, 1)), 1, 3)),
        ("two nodes", model(exchanges::MODEL), spec(threads(16, rpc(1024, 4, Pattern::OneToOne, 2)), 2, 1)),
        ("one server", model(exchanges::MODEL), spec(threads(3, rpc(1, 1, Pattern::ManyToOne, 8)), 8, 4)),
        ("all", model(exchanges::MODEL), spec(rpc(32_768, 4096, Pattern::AllToAll, 8), 8, 4)),
        ("a number", model(&narrow), counted(spec(warm(rpc(4096, 4096, Pattern::OneToOne, 8)), 8, 4))),
    ] {
        let [short, whole] = both(&model, &(String::new(), spec), Phase::Exchange);
        let (share, error) = computed(&short).unwrap_or_else(|| panic!("{what}: nothing is computed"));
        assert!(share >= 0.25 && error <= 0.01, "{what}: {share} of the time, error {error}");
        let [short, whole] = [short, whole].map(simulated);
        let of = |one: &Simulated| {
            let ends = one.ends.iter().map(|(_, end)| (end.client_cpu_ns + end.server_cpu_ns) as f64);
            let rate = [one.transfers_per_second(), one.bytes_per_second(), one.seconds()];
            let latency = [one.percentile(0.5), one.percentile(0.99)];
            rate.into_iter().chain(latency).chain(ends).collect::<Vec<f64>>()
        };
        for (place, (short, whole)) in of(&short).into_iter().zip(of(&whole)).enumerate() {
            assert!((short - whole).abs() <= 0.01 * whole, "{what}: {place}: {short}, simulated {whole}");
        }
    }
}

/// A node with one disk that has these keys.
fn one_disk(keys: &str) -> Model {
    let text = format!(
        "model = {{ name = \"m\" }}\nnode = {{ processors = 4 }}\n[[device]]\nname = \"disk\"\n\
         write = {{ rate = \"1GB/s\" }}\n{keys}\n[[layout]]\nname = \"here\"\ndevices = \"disk\"\n"
    );
    simulate::read(Path::new("m.toml"), &text).expect("a model")
}

#[test]
fn what_fills_or_grows_is_simulated_to_its_end() {
    // A write cache of the device that is full after 36 s, and a queue that grows.
    let model = one_disk(
        r#"read = { time = "1ms", distribution = "exponential" }
        write_cache = { size = "32GB", drain = "100MB/s" }"#,
    );
    let fills = work("", (1, 2), 64 << 10, Some(60));
    let (_, mut late) = work("", (1, 1), 4 << 10, Some(60));
    (late.order, late.pace) = (Order::Random { seed: 1 }, Some(Pace { transfers_per_second: 1100.0 }));
    late.backend = Backend::Uring { depth: 4096, required: true };
    // A seek at the beginning of each pass over a small file.
    let seeks = one_disk(r#"read = { time = "12ms", next_time = "0ns", rate = "150MB/s" }"#);
    let (_, mut again) = work("", (1, 1), 1 << 20, Some(60));
    again.geometry.block = Bytes(64 << 20);
    // Writers whose fixed times synchronise over seconds: the median grows by a tenth, and p99 falls by as much.
    let (_, mut striped) = work("lustre-writes", (1, 24), 28 << 10, Some(12));
    (striped.geometry.block, striped.geometry.segments) = (Bytes(28 << 10), 4096);
    // The same at another size: the median grows for longer, although it seems steady after a second.
    let mut longer = striped.clone();
    (longer.geometry.transfer, longer.geometry.block) = (Bytes(48 << 10), Bytes(48 << 10));
    // A page cache that is full after seconds; what it gathers goes out in parts of 20 MB.
    let (target, mut streams) = work("scale", (1, 16), 4 << 10, None);
    (streams.direct, streams.geometry.block) = (false, Bytes(4 << 30));
    for (model, work, phase) in [
        (&model, fills, Phase::Write),
        (&model, (String::new(), late), Phase::Read),
        (&seeks, (String::new(), again), Phase::Read),
        (&stock("scale-disks"), (target, streams), Phase::Write),
        (&stock("lustre-ef560"), ("lustre-writes".to_owned(), striped), Phase::Write),
        (&stock("lustre-ef560"), ("lustre-writes".to_owned(), longer), Phase::Write),
    ] {
        let [short, whole] = both(model, &work, phase).map(simulated);
        let rate = short.transfers_per_second() / whole.transfers_per_second();
        assert!((rate - 1.0).abs() < 0.01, "{rate}");
        let [short, whole] = [&short, &whole].map(|one| (one.percentile(0.5), one.percentile(0.99)));
        assert!(
            (short.0 / whole.0 - 1.0).abs() < 0.01 && (short.1 / whole.1 - 1.0).abs() < 0.03,
            "{short:?} {whole:?}"
        );
    }
}

/// Tasks that differ by chance only must not be computed to differ for all time: the last of them ends a phase of a
/// given number of names.
#[test]
fn tasks_that_create_names_end_together() {
    let mut spec = work("scale", (1, 14), 4096, None);
    spec.1.work = Work::Tree(Tree::flat(35_000));
    let differences = [1, 2, 3, 4].map(|seed| {
        let [short, whole] = both_of(&stock("scale-disks"), &spec, Phase::FileCreate, seed);
        assert!(computed(&short).is_some_and(|(share, _)| share > 0.5), "seed {seed}");
        let [short, whole] = [short, whole].map(|one| simulated(one).outcome.io_ns as f64);
        short / whole - 1.0
    });
    let mean = differences.iter().sum::<f64>() / 4.0;
    assert!(mean.abs() < 0.004, "{differences:?}");
}

/// Writes of files on five drives each, whose times are random: the tasks spread over the drives so slowly that each
/// window of a second looks steady.
#[test]
fn tasks_that_mix_slowly_are_simulated_long_enough() {
    let (target, spec) = work("lustre-writes", (1, 24), 124 << 10, Some(12));
    let geometry = Geometry { block: spec.geometry.transfer, segments: 4096, ..spec.geometry };
    let phases = both(&stock("lustre-ef560"), &(target, WorkloadSpec { geometry, ..spec }), Phase::Write);
    let (share, error) = computed(&phases[0]).expect("some of it is computed");
    assert!(share > 0.3, "{share}");
    let [computed, all] = phases.map(|phase| phase.outcome.writes as f64);
    let off = (computed / all - 1.0).abs();
    assert!(off <= 0.015 && off <= 1.2 * error, "{off}, stated is {error}");
}

/// The phases of two cases with five repetitions each, in the order of a run, with a pause after each phase that nobody
/// expects.
fn run(model: &Model, cases: &[Case], pause: Duration, threads: usize) -> String {
    let threads = NonZero::new(threads).expect("at least one");
    let mut machine = machine_of_cases(model.clone(), cases.to_vec(), 7).with_threads(threads);
    let mut all = String::new();
    for case in cases {
        let node_of = runner::nodes_of_tasks(&case.workload, &machine.topology()).expect("enough nodes");
        for pass in 0..case.repetitions {
            for &phase in &case.phases {
                let job = PhaseJob::new(&case.workload, phase, pass);
                let phase = machine.phase(case, &job, &node_of, &Controls::new()).expect("all parts");
                all += &format!("{:?} {:?}\n", machine.elapsed(), phase);
                machine.pause(pause);
            }
        }
        machine.files_removed(case);
    }
    all
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let cases = |target: &str, direct: bool| -> Vec<Case> {
        let sizes = [4_u64 << 10, 64 << 10];
        let case = |(number, size): (usize, u64)| {
            let spec = WorkloadSpec { direct, ..work(target, (2, 3), size, None).1 };
            let spec = WorkloadSpec { order: Order::Random { seed: 1 }, ..spec };
            let phases = vec![Phase::Write, Phase::Read];
            let workload = spec.validate().expect("valid");
            let case = Case::new(format!("case {number}"), workload, phases);
            Case { target: target.to_owned(), repetitions: 5, ..case }
        };
        sizes.into_iter().enumerate().map(case).collect()
    };
    // The last one uses page caches: each phase depends on the one before it, but no case on another.
    for (name, target, direct) in
        [("lustre-ef560", "lustre", true), ("scale-disks", "scale", true), ("scale-disks", "scale", false)]
    {
        let (model, cases) = (stock(name), cases(target, direct));
        for pause in [Duration::ZERO, Duration::from_millis(10)] {
            let one = run(&model, &cases, pause, 1);
            for threads in [2, 5] {
                assert!(run(&model, &cases, pause, threads) == one, "{name} with {threads} threads");
            }
        }
    }
}
