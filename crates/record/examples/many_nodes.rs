//! What it costs to record and to read one phase of many tasks on many nodes:
//! `many_nodes DIR [TASKS] [NODES] [SECONDS]`. After each step: what it took by the clock, and of a
//! processor.
//!
//! `docs/journal/2026-11-21-many-nodes-record.md` has its figures.
#![expect(clippy::print_stdout, reason = "the figures are its output")]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use plan::Phase;
use record::{NodeSeriesRow, Outcome, PhaseRecord, Recorder, Run, SeriesRow};

#[path = "../tests/record/sample.rs"]
#[expect(dead_code, reason = "tests use the rest")]
mod sample;

/// Buckets that are not empty.
const BUCKETS: u64 = 1_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("expected DIR [TASKS] [NODES] [SECONDS]")?;
    let mut number = |default: u32| arguments.next().map_or(Ok(default), |text| text.parse());
    let (tasks, nodes, seconds) = (number(14_616)?, number(600)?, number(300)?);
    let record = phase(tasks, nodes, seconds);
    let directory = Path::new(&directory);
    let id = sample::CASES[0];
    let mut manifest = sample::manifest();
    manifest.plan.cases.truncate(1);
    let mut recorder = Recorder::create(directory, &manifest)?;
    recorder.case_started(id)?;
    memory("made up");
    let mut last = (Instant::now(), processor_ns());
    let mut step = |what: &str| {
        let (wall, processor) = (last.0.elapsed().as_secs_f64(), processor_ns() - last.1);
        println!("{what}: {:.1} ms, processor {:.1} ms", wall * 1e3, processor as f64 / 1e6);
        last = (Instant::now(), processor_ns());
    };
    recorder.phase_finished(&record)?;
    step("phase_finished");
    drop(Run::open(directory)?);
    step("opened while it runs");
    let journal = fs::metadata(directory.join("journal.jsonl"))?.len();
    recorder.case_finished(id)?;
    step("case_finished");
    recorder.finish(&Outcome::Complete)?;
    step("finish");
    let run = Run::open(directory)?;
    step("opened");
    let rows = run.tasks(id).len() + run.latency(id).len() + run.series(id).len() + run.nodes(id).len();
    step("all rows read");
    println!("{rows} rows, {journal} bytes of journal");
    memory("at the end");
    if *run.nodes(id) != record.nodes || *run.tasks(id) != record.tasks {
        return Err("what was read is not what was written".into());
    }
    Ok(())
}

/// What this thread, the only one, has had of a processor (`Documentation/scheduler/sched-stats.rst`).
fn processor_ns() -> u64 {
    let text = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or_default()
}

fn memory(when: &str) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let most = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM unknown");
    println!("{when}: {most}");
}

/// A number that `seed` alone decides (the finaliser of SplitMix64).
fn noise(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// As [`sample::phase`], with times and counts that scatter as measured ones do.
fn phase(tasks: u32, nodes: u32, seconds: u32) -> PhaseRecord {
    let mut record = sample::phase(sample::CASES[0], 0, Phase::Read, tasks);
    let per_node = tasks.div_ceil(nodes).max(1);
    for task in &mut record.tasks {
        let scatter = noise(task.task.into()) >> 36;
        task.node = format!("node{:04}", task.task / per_node).into();
        (task.open_end_ns, task.io_start_ns) = (scatter / 100, scatter / 100);
        task.io_end_ns += scatter;
        (task.close_start_ns, task.close_end_ns) = (task.io_end_ns, task.io_end_ns + scatter / 50);
        (task.bytes, task.transfers) = (2_000 * 4096, 2_000);
    }
    let bucket = |bucket: u64| {
        let low_ns = 10_000 + bucket * 100;
        record::LatencyRow {
            low_ns,
            high_ns: low_ns + 99,
            count: noise(bucket) >> 44,
            ..record.latency[0].clone()
        }
    };
    record.latency = (0..BUCKETS).map(bucket).collect();
    let second =
        |second: u32| SeriesRow { start_ns: u64::from(second) * 1_000_000_000, ..record.series[0].clone() };
    record.series = (0..seconds).map(second).collect();
    let of_node = |(node, second): (u32, u32)| {
        let scatter = noise(u64::from(node) << 32 | u64::from(second)) >> 48;
        NodeSeriesRow {
            node: format!("node{node:04}").into(),
            start_ns: u64::from(second) * 1_000_000_000,
            bytes: (40_000 + scatter) * 4096,
            transfers: 40_000 + scatter,
            latency_sum_ns: 960_000_000 + scatter * 1_000,
            latency_max_ns: 1_000_000 + scatter * 77,
            ..record.nodes[0].clone()
        }
    };
    let places = (0..nodes).flat_map(|node| (0..seconds).map(move |second| (node, second)));
    record.nodes = places.map(of_node).collect();
    record
}
