//! Thousands of tasks with a file each: fills, reads at random with all of them, then with few tasks of the same
//! depth in all on the same bytes, and prints what each phase took, the peak of memory and how evenly the
//! tasks came on.
//!
//! ```text
//! cargo run --release -p ioproof-engine --example many_tasks -- DIRECTORY [tasks=14616] [operations=2000]
//!     [size=262144] [few=58] [rounds=1] [direct] [psync] [alone]
//! ```
//!
//! The files, `tasks × size` bytes for either part, are made in a new directory in DIRECTORY and removed at the
//! end. `alone` leaves the few tasks out, `psync` gives each task a thread. Compare rates within a
//! round only: shared machines drift.

#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use engine::{Controls, PhaseJob, PhaseOutcome, SingleProcess};
use plan::{Backend, Bytes, Geometry, Order, Phase, Sharing, Workload, WorkloadSpec};

type Done<T = ()> = Result<T, Box<dyn Error>>;

/// Bytes of a read.
const TRANSFER: u64 = 4096;
/// Bytes of a transfer of a fill, at most.
const FILL_TRANSFER: u64 = 1 << 20;

struct Options(Vec<String>);

impl Options {
    fn has(&self, flag: &str) -> bool {
        self.0.iter().any(|option| option == flag)
    }

    fn number(&self, name: &str, default: u64) -> Done<u64> {
        let value = self.0.iter().find_map(|option| option.strip_prefix(name)?.strip_prefix('='));
        Ok(value.map_or(Ok(default), str::parse)?)
    }
}

/// A directory that is removed with its files.
struct Bed(PathBuf);

impl Drop for Bed {
    fn drop(&mut self) {
        let start = Instant::now();
        let removed = std::fs::remove_dir_all(&self.0);
        println!("removed in {:.2} s ({removed:?})", start.elapsed().as_secs_f64());
    }
}

/// Tasks with a file each, how deep, how large, how many reads of each.
struct Shape {
    tasks: u64,
    depth: u64,
    size: u64,
    operations: u64,
}

impl Shape {
    fn spec(&self, path: &Path, transfer: u64, options: &Options) -> Done<WorkloadSpec> {
        let block = Bytes(self.size / transfer * transfer);
        let geometry = Geometry { transfer: Bytes(transfer), block, segments: 1 };
        let mut spec = WorkloadSpec::new("many tasks", path, geometry);
        spec.tasks = u32::try_from(self.tasks)?;
        spec.files.sharing = Sharing::PerTask;
        spec.direct = options.has("direct");
        spec.backend = match options.has("psync") && self.depth == 1 {
            true => Backend::Psync,
            false => Backend::Uring { depth: u32::try_from(self.depth)?, required: false },
        };
        Ok(spec)
    }

    fn fill(&self, path: &Path, options: &Options) -> Done {
        let mut spec = self.spec(path, self.size.min(FILL_TRANSFER), options)?;
        spec.sync.at_close = true;
        run("fill", &spec.validate()?, Phase::Fill)
    }

    fn read(&self, path: &Path, options: &Options) -> Done {
        let mut spec = self.spec(path, TRANSFER, options)?;
        spec.order = Order::Random { seed: 42 };
        spec.operations = Some(self.operations);
        run("read", &spec.validate()?, Phase::Read)
    }
}

fn run(name: &str, workload: &Workload, phase: Phase) -> Done {
    let start = Instant::now();
    let outcome = engine::run(&PhaseJob::new(workload, phase, 0), &SingleProcess, &Controls::new())?;
    let seconds = start.elapsed().as_secs_f64();
    let rate = (outcome.reads + outcome.writes) as f64 / outcome.io_ns as f64 * 1e9;
    let bytes = (outcome.read_bytes + outcome.write_bytes) as f64 / outcome.io_ns as f64 * 1e3;
    let around = seconds - outcome.wall_ns as f64 / 1e9;
    let (open, close) = (outcome.open_ns as f64 / 1e9, outcome.close_ns as f64 / 1e9);
    println!(
        "{name}: {} tasks, depth {}: {seconds:.2} s, of which prepared and collected {around:.3}, open {open:.3}, close \
         {close:.3}; {rate:.0} transfers/s, {bytes:.0} MB/s; cpu {} ns user, {} ns kernel each",
        workload.tasks,
        workload.backend.depth(),
        outcome.user_cpu_ns / (outcome.reads + outcome.writes).max(1),
        outcome.system_cpu_ns / (outcome.reads + outcome.writes).max(1),
    );
    if phase == Phase::Read {
        spread(&outcome);
    }
    println!("  peak memory until now: {:.1} MiB", peak_memory()? as f64 / 1048576.0);
    Ok(())
}

/// How evenly the tasks came on, and the latencies.
fn spread(outcome: &PhaseOutcome) {
    let mut ends: Vec<f64> =
        outcome.tasks.iter().map(|task| (task.io_end_ns - task.io_start_ns) as f64 / 1e9).collect();
    ends.sort_by(f64::total_cmp);
    let at = |share: usize| ends[(ends.len() - 1) * share / 100];
    println!("  time of a task: {:.2} s the least, {:.2} the median, {:.2} the most", at(0), at(50), at(100));
    let started = outcome.tasks.iter().map(|task| task.io_start_ns).max().unwrap_or(0);
    println!("  last first transfer: {:.3} s after the start", started as f64 / 1e9);
    for latency in &outcome.latency {
        let total = latency.histogram.total();
        let mut seen = 0;
        let mut marks = vec![("max", total), ("p99", total / 100 * 99), ("p50", total / 2)];
        let mut line = format!("  latency of {total} transfers:");
        for (_, high, count) in latency.histogram.buckets() {
            seen += count;
            while let Some((name, _)) = marks.pop_if(|(_, rank)| *rank <= seen) {
                line.push_str(&format!(" {name} {:.3} ms", high as f64 / 1e6));
            }
        }
        println!("{line}");
    }
}

/// The most memory that this process had at once (`VmHWM`).
fn peak_memory() -> Done<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}

fn main() -> Done {
    let mut words = std::env::args().skip(1);
    let directory: PathBuf = words.next().ok_or("usage: many_tasks DIRECTORY [OPTION…]")?.into();
    let options = Options(words.collect());
    let tasks = options.number("tasks", 14_616)?;
    let few = options.number("few", 58)?.clamp(1, tasks);
    let (size, operations) = (options.number("size", 256 << 10)?, options.number("operations", 2000)?);
    let bed = Bed(directory.join(format!("ioproof-many-{}", std::process::id())));
    std::fs::create_dir_all(&bed.0)?;
    let many = Shape { tasks, depth: 1, size, operations };
    let ratio = tasks.div_ceil(few);
    let deep =
        Shape { tasks: few, depth: ratio, size: size * tasks / few, operations: operations * tasks / few };
    let (own, other) = (bed.0.join("many"), bed.0.join("few"));
    many.fill(&own, &options)?;
    if !options.has("alone") {
        deep.fill(&other, &options)?;
    }
    for _ in 0..options.number("rounds", 1)? {
        many.read(&own, &options)?;
        if !options.has("alone") {
            deep.read(&other, &options)?;
        }
    }
    Ok(())
}
