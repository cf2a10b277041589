//! What a transfer costs, and what of it is the instrument:
//!
//! ```text
//! cargo bench -p ioproof-engine
//! ```
//!
//! Transfers are 4 KiB random reads of a file in the page cache, in `TMPDIR` or below the build
//! directory; `IOPROOF_BENCH_MIB` sets its size (default 256). Rates are medians of interleaved
//! rounds. Compare them only with rates of the same minute: shared machines drift.

#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use std::error::Error;
use std::path::PathBuf;

use engine::{Controls, PhaseJob, PhaseOutcome, SingleProcess, cost};
use plan::{Backend, Bytes, Geometry, Order, Phase, Workload, WorkloadSpec};

/// Rounds of each rate.
const ROUNDS: usize = 7;

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo test --benches` only wants to know that it runs.
    let quick = std::env::args().any(|argument| argument == "--test");
    parts();
    let directory =
        std::env::var_os("TMPDIR").map_or_else(|| env!("CARGO_TARGET_TMPDIR").into(), PathBuf::from);
    let path = directory.join(format!("ioproof-bench-{}", std::process::id()));
    let mib = std::env::var("IOPROOF_BENCH_MIB").ok().and_then(|mib| mib.parse().ok()).unwrap_or(256);
    let mib = if quick { 1 } else { mib };
    let measured = rates(&path, mib, if quick { 1 } else { ROUNDS });
    let removed = std::fs::remove_file(&path);
    measured?;
    Ok(removed?)
}

fn line(name: &str, nanos: f64) {
    println!("{name:<44} {nanos:>9.1} ns");
}

/// The parts of the instrument.
fn parts() {
    line(&format!("clock, one reading ({})", engine::clock_name()), engine::clock_cost_ns());
    line("record a transfer (histogram, series)", cost::recording_ns());
    line("next offset, sequential", cost::offset_ns(false));
    line("next offset, random", cost::offset_ns(true));
    for size in [Bytes::kib(4), Bytes::kib(64), Bytes::mib(1)] {
        line(&format!("stamp a write of {size}"), cost::stamping_ns(size));
        line(&format!("check a read of {size}"), cost::checking_ns(size));
    }
}

fn workload(
    path: &std::path::Path,
    backend: Backend,
    mib: u64,
    random: bool,
) -> Result<Workload, Box<dyn Error>> {
    let count = if backend == Backend::Null { 4_000_000 } else { mib << 8 };
    let geometry = Geometry { transfer: Bytes::kib(4), block: Bytes(count << 12), segments: 1 };
    let mut spec = WorkloadSpec::new("bench", path, geometry);
    spec.backend = backend;
    if random {
        spec.order = Order::Random { seed: 42 };
    }
    Ok(spec.validate()?)
}

fn run(workload: &Workload, phase: Phase, instrument: bool) -> Result<PhaseOutcome, Box<dyn Error>> {
    let mut job = PhaseJob::new(workload, phase, 0);
    job.instrument = instrument;
    Ok(engine::run(&job, &SingleProcess, &Controls::new())?)
}

/// Rates of whole transfers, with and without recording, in interleaved rounds.
fn rates(path: &std::path::Path, mib: u64, rounds: usize) -> Result<(), Box<dyn Error>> {
    run(&workload(path, Backend::Psync, mib, false)?, Phase::Fill, true)?;
    let uring = |depth| Backend::Uring { depth, required: true };
    let mut cases = vec![
        ("null, sequential", workload(path, Backend::Null, mib, false)?, Phase::Read),
        ("null, random", workload(path, Backend::Null, mib, true)?, Phase::Read),
        ("psync, random read", workload(path, Backend::Psync, mib, true)?, Phase::Read),
        ("mmap, random read", workload(path, Backend::Mmap, mib, true)?, Phase::Read),
        ("psync, random write", workload(path, Backend::Psync, mib, true)?, Phase::Write),
    ];
    if engine::uring_available().is_ok() {
        for (name, depth) in [("uring depth 1, random read", 1), ("uring depth 32, random read", 32)] {
            cases.push((name, workload(path, uring(depth), mib, true)?, Phase::Read));
        }
    }
    let mut times = vec![[Vec::new(), Vec::new()]; cases.len()];
    for _ in 0..rounds {
        for ((_, workload, phase), times) in cases.iter().zip(&mut times) {
            for (times, recorded) in times.iter_mut().zip([true, false]) {
                let outcome = run(workload, *phase, recorded)?;
                times.push(outcome.io_ns as f64 / (outcome.reads + outcome.writes) as f64);
            }
        }
    }
    println!(
        "\n{:<30} {:>12} {:>12} {:>14} {:>10}",
        "4 KiB transfers", "recorded", "not", "transfers/s", "overhead"
    );
    for ((name, ..), [on, off]) in cases.iter().zip(times) {
        let overhead: Vec<f64> = on.iter().zip(&off).map(|(on, off)| (on / off - 1.0) * 100.0).collect();
        let (on, off) = (median(on), median(off));
        println!("{name:<30} {on:>9.1} ns {off:>9.1} ns {:>14.0} {:>8.1} %", 1e9 / on, median(overhead));
    }
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
