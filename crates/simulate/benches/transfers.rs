//! Simulated transfers per second of processor time:
//!
//! ```text
//! cargo bench -p ioproof-simulate [-- PART-OF-A-NAME]
//! ```
//!
//! Rates are medians of interleaved rounds of one thread, by its processor time. `two threads` are two independent
//! machines at once, by the longer processor time of both.

#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use std::error::Error;
use std::path::Path;

use engine::{Controls, PhaseJob};
use plan::{Bytes, Case, Geometry, Order, Phase, Plan, PlanSource, Sharing, WorkloadSpec};
use runner::Machine;
use rustix::time::{ClockId, clock_gettime};
use simulate::SimulatedMachine;

/// Rounds of each rate.
const ROUNDS: usize = 5;

/// One disk, as a study of one machine has it.
const DISK: &str = r#"
    model = { name = "disk" }
    node = { processors = 8 }

    [[device]]
    name = "disk"
    slots = 16
    read = { time = "80us", rate = "2GB/s", distribution = "exponential" }
    write = { time = "30us", rate = "1GB/s" }

    [[layout]]
    name = "here"
    devices = "disk"
"#;
const CELL: &str = include_str!("../../../studies/models/io-cell.toml");
const LUSTRE: &str = include_str!("../../../studies/models/lustre-ef560.toml");

/// A workload on a model.
struct Load {
    name: &'static str,
    model: &'static str,
    phase: Phase,
    nodes: u32,
    tasks: u32,
    transfers: u64,
}

const LOADS: [Load; 5] = [
    Load { name: "disk, 8 tasks", model: DISK, phase: Phase::Read, nodes: 1, tasks: 8, transfers: 250_000 },
    Load { name: "disk, 256 tasks", model: DISK, phase: Phase::Read, nodes: 1, tasks: 256, transfers: 8_000 },
    Load { name: "cell, reads", model: CELL, phase: Phase::Read, nodes: 8, tasks: 256, transfers: 4_000 },
    Load { name: "cell, writes", model: CELL, phase: Phase::Write, nodes: 8, tasks: 256, transfers: 1_000 },
    // The job of 1,500 nodes × 24 tasks, with 50 of its 20,000 operations each.
    Load {
        name: "Lustre, 36,000 tasks",
        model: LUSTRE,
        phase: Phase::Read,
        nodes: 1500,
        tasks: 36_000,
        transfers: 50,
    },
];

impl Load {
    fn plan(&self) -> Result<Plan, Box<dyn Error>> {
        let geometry = Geometry { transfer: Bytes::kib(4), block: Bytes(self.transfers << 12), segments: 1 };
        let mut spec = WorkloadSpec::new("bench", "/data/file", geometry);
        (spec.nodes, spec.tasks, spec.direct) = (self.nodes, self.tasks, true);
        (spec.files.sharing, spec.order) = (Sharing::PerTask, Order::Random { seed: 1 });
        let mut case = Case::new("a", spec.validate()?, vec![self.phase]);
        case.target = "lustre".to_owned();
        Ok(Plan::new(
            "a benchmark",
            PlanSource::Quick { directory: "/data".into(), others: Vec::new() },
            1,
            vec![case],
        ))
    }

    /// Seconds of processor time that it takes.
    fn run(&self, seed: u64) -> Result<f64, Box<dyn Error>> {
        let model = simulate::read(Path::new("bench.toml"), self.model)?;
        let plan = self.plan()?;
        let mut machine = SimulatedMachine::new(model, &plan, seed);
        let case = &plan.cases[0];
        let each = self.tasks / self.nodes;
        let node_of: Vec<u32> = (0..self.tasks).map(|task| task / each).collect();
        let job = PhaseJob::new(&case.workload, self.phase, 0);
        let start = processor_seconds();
        let phase = machine.phase(case, &job, &node_of, &Controls::new())?;
        assert_eq!(phase.outcome.reads + phase.outcome.writes, self.all());
        Ok(processor_seconds() - start)
    }

    fn all(&self) -> u64 {
        self.transfers * u64::from(self.tasks)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo test --benches` only wants to know that it runs.
    let quick = std::env::args().any(|argument| argument == "--test");
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let loads: Vec<&Load> = LOADS.iter().filter(|load| load.name.contains(&wanted)).collect();
    let rounds = if quick { 1 } else { ROUNDS };
    let mut times = vec![Vec::new(); loads.len()];
    for round in 0..rounds {
        for (load, times) in loads.iter().zip(&mut times) {
            times.push(load.run(round as u64)?);
        }
    }
    for (load, times) in loads.iter().zip(times) {
        let rate = load.all() as f64 / median(times);
        println!("{:<24} {:>6.2} million transfers/s {:>7.1} ns", load.name, rate / 1e6, 1e9 / rate);
    }
    let two: Result<Vec<f64>, _> = (0..rounds).map(|round| two_threads(loads[0], round as u64)).collect();
    let rate = 2.0 * loads[0].all() as f64 / median(two?);
    println!("{:<24} {:>6.2} million transfers/s", format!("two threads of {}", loads[0].name), rate / 1e6);
    Ok(())
}

/// The longer processor time of two machines at once.
fn two_threads(load: &Load, seed: u64) -> Result<f64, Box<dyn Error>> {
    std::thread::scope(|scope| {
        let both = [seed, seed + 1]
            .map(|seed| scope.spawn(move || load.run(seed).map_err(|error| error.to_string())));
        both.into_iter().try_fold(0.0, |longest: f64, one| match one.join() {
            Ok(result) => Ok(longest.max(result?)),
            Err(_) => Err("a thread has panicked".into()),
        })
    })
}

/// Processor time of this thread.
fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
