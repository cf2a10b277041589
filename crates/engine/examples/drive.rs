//! Runs one phase and prints what it took: the smallest program around the engine.
//!
//! For instruction counts (slopes between two numbers of transfers), traces and profiles:
//!
//! ```text
//! cargo run --release -p ioproof-engine --example drive -- write psync FILE transfer=4096 count=1000
//! valgrind --tool=callgrind …/examples/drive read psync FILE transfer=4096 count=100000 random
//! strace -f -e trace=pread64 …/examples/drive read psync FILE transfer=4096 count=100
//! ```
//!
//! The words may also stand in the variable `DRIVE`. They are: `write|read|mixed|fill|check`, `psync|vectored|stdio|uring|libaio|mmap|null`, the file, then `transfer=`, `count=` (transfers of
//! each task), `tasks=`, `ops=` (transfers of each task, whatever the file has), `depth=`, `seconds=`, `rate=`, `percent=` (reads), `generation=`, `repeat=`
//! (phases), `pieces=` (of a vectored
//! transfer), `stride=`, and the flags `random`, `backward`, `same`, `direct`, `fsync`, `fsync-each`, `verify`, `pertask`, `published`, `meant` (advice),
//! `single` (attempt), `optional` (io_uring without registered buffers will do), `off` (no recording),
//! `memory` (prints the peak).
//!
//! Instead of a phase, `tree` goes through phases of a tree in a directory that exists:
//!
//! ```text
//! …/examples/drive tree psync DIRECTORY count=100000 tasks=2 phases=file-create,file-stat
//! ```
//!
//! `count=` are then the items of each task in each directory; there are also `levels=`, `branching=`,
//! `bytes=` (of a file), `shift=`, and the flags `own` (trees), `leaf`, `random`, `node` (mknod). The tree is
//! made before the phases and removed behind them.

#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use std::error::Error;

use engine::{Controls, Expect, PhaseJob, SingleProcess};
use plan::{
    Advice, Backend, Bytes, Geometry, Nanos, Order, Pace, Phase, Sharing, Tree, Workload, WorkloadSpec,
};

/// Runs what the words ask for.
///
/// # Errors
/// Words that are not understood, and what the engine says.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = match std::env::var("DRIVE") {
        Ok(words) => words.split_whitespace().map(str::to_owned).collect(),
        Err(_) => std::env::args().skip(1).collect(),
    };
    let [phase, backend, path, options @ ..] = &arguments[..] else {
        return Err(
            "usage: drive write|read|mixed|fill|check psync|vectored|stdio|uring|libaio|mmap|null FILE [OPTION…]"
                .into(),
        );
    };
    let options = Options(options);
    let phase = match phase.as_str() {
        "tree" => return tree(backend, path, &options),
        "write" => Phase::Write,
        "read" => Phase::Read,
        "mixed" => Phase::Mixed,
        "fill" => Phase::Fill,
        "check" => Phase::CheckRead,
        other => return Err(format!("unknown phase {other}").into()),
    };
    let workload = workload(backend, path, &options)?;
    let mut job = PhaseJob::new(&workload, phase, 0);
    job.instrument = !options.has("off");
    let generation = u16::try_from(options.number("generation", 1)?)?;
    job.data.write_generation = generation;
    job.data.expect = Expect::Generations(1..=generation);
    for _ in 0..options.number("repeat", 1)? {
        show(&engine::run(&job, &SingleProcess, &Controls::new())?);
    }
    if options.has("memory") {
        println!("peak memory: {} bytes", peak_memory()?);
    }
    Ok(())
}

/// The most memory that this process had at once (`VmHWM`).
fn peak_memory() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}

struct Options<'a>(&'a [String]);

impl Options<'_> {
    fn has(&self, flag: &str) -> bool {
        self.0.iter().any(|option| option == flag)
    }

    fn number(&self, name: &str, default: u64) -> Result<u64, std::num::ParseIntError> {
        self.text(name).map_or(Ok(default), str::parse)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
    }
}

fn workload(backend: &str, path: &str, options: &Options<'_>) -> Result<Workload, Box<dyn Error>> {
    let transfer = options.number("transfer", 4096)?;
    let count = options.number("count", 1024)?;
    let geometry = Geometry { transfer: Bytes(transfer), block: Bytes(transfer * count), segments: 1 };
    let mut spec = WorkloadSpec::new("drive", path, geometry);
    spec.tasks = u32::try_from(options.number("tasks", 1)?)?;
    spec.backend = match backend {
        "psync" => Backend::Psync,
        "uring" => Backend::Uring {
            depth: u32::try_from(options.number("depth", 32)?)?,
            required: !options.has("optional"),
        },
        "libaio" => Backend::Libaio { depth: u32::try_from(options.number("depth", 32)?)? },
        "vectored" => Backend::Vectored { pieces: u32::try_from(options.number("pieces", 4)?)? },
        "stdio" => Backend::Stdio,
        "mmap" => Backend::Mmap,
        "null" => Backend::Null,
        other => return Err(format!("unknown backend {other}").into()),
    };
    if options.has("random") {
        spec.order = Order::Random { seed: 42 };
    } else if options.has("backward") {
        spec.order = Order::Backward;
    } else if options.has("same") {
        spec.order = Order::Same;
    } else if let stride @ 1.. = options.number("stride", 0)? {
        spec.order = Order::Strided { stride };
    }
    if options.has("pertask") {
        spec.files.sharing = Sharing::PerTask;
    }
    if options.has("published") {
        spec.advice = Advice::AsPublished;
    } else if options.has("meant") {
        spec.advice = Advice::AsMeant;
    }
    spec.single_attempt = options.has("single");
    spec.sync.per_write = options.has("fsync-each");
    spec.direct = options.has("direct");
    spec.sync.at_close = options.has("fsync");
    spec.verify = options.has("verify");
    spec.read_percent = u8::try_from(options.number("percent", 100)?)?;
    let seconds = options.number("seconds", 0)?;
    spec.duration = (seconds > 0).then(|| Nanos::secs(seconds));
    let operations = options.number("ops", 0)?;
    spec.operations = (operations > 0).then_some(operations);
    let rate = options.number("rate", 0)?;
    spec.pace = (rate > 0).then_some(Pace { transfers_per_second: rate as f64 });
    Ok(spec.validate()?)
}

/// Makes a tree, goes through the asked phases and removes it.
fn tree(backend: &str, path: &str, options: &Options<'_>) -> Result<(), Box<dyn Error>> {
    let items = Tree::flat(options.number("count", 1024)?);
    let bytes = Bytes(options.number("bytes", 0)?);
    let tree = Tree {
        depth: u32::try_from(options.number("levels", 0)?)?,
        branching: u32::try_from(options.number("branching", 1)?)?,
        leaf_only: options.has("leaf"),
        own_trees: options.has("own"),
        write_bytes: bytes,
        read_bytes: bytes,
        sync: options.has("fsync"),
        shift: u32::try_from(options.number("shift", 0)?)?,
        random: options.has("random").then_some(42),
        make_node: options.has("node"),
        ..items
    };
    // What transfers have, a tree has no use for.
    let transfers = ["transfer=1", "count=1"].map(str::to_owned);
    let plain: Vec<String> =
        transfers.into_iter().chain(options.0.iter().filter(|word| *word != "random").cloned()).collect();
    let mut spec = WorkloadSpec::from(workload(backend, path, &Options(&plain))?);
    spec.work = tree.into();
    let workload = spec.validate()?;
    let phases = options.text("phases").unwrap_or("file-create,file-stat,file-read,file-remove");
    let mut names = vec!["tree-create"];
    names.extend(phases.split(',').filter(|name| !name.is_empty()));
    names.push("tree-remove");
    for name in names {
        let mut job =
            PhaseJob::new(&workload, Phase::named(name).ok_or_else(|| format!("unknown phase {name}"))?, 0);
        job.instrument = !options.has("off");
        println!("{name}:");
        show(&engine::run(&job, &SingleProcess, &Controls::new())?);
    }
    if options.has("memory") {
        println!("peak memory: {} bytes", peak_memory()?);
    }
    Ok(())
}

fn show(outcome: &engine::PhaseOutcome) {
    let transfers = outcome.reads + outcome.writes + outcome.items;
    let seconds = outcome.io_ns as f64 / 1e9;
    println!(
        "{transfers} transfers in {seconds:.6} s: {:.0}/s, {:.1} ns each, {:.1} MB/s; cpu {:.0} ns user, {:.0} ns kernel each; wrong cells {}",
        transfers as f64 / seconds,
        outcome.io_ns as f64 / transfers.max(1) as f64,
        (outcome.read_bytes + outcome.write_bytes) as f64 / seconds / 1e6,
        outcome.user_cpu_ns as f64 / transfers.max(1) as f64,
        outcome.system_cpu_ns as f64 / transfers.max(1) as f64,
        outcome.mismatches.wrong_cells,
    );
    for latency in &outcome.latency {
        let total = latency.histogram.total();
        let mut left =
            vec![("p50", total / 2), ("p90", total / 10 * 9), ("p99", total / 100 * 99), ("max", total)];
        left.reverse();
        let mut seen = 0;
        let mut line = format!("  {} {:?}:", latency.operation, latency.measure);
        for (_, high, count) in latency.histogram.buckets() {
            seen += count;
            while let Some((name, _)) = left.pop_if(|(_, rank)| *rank <= seen) {
                line.push_str(&format!(" {name} {}", Nanos(high)));
            }
        }
        println!("{line}");
    }
    for mismatch in &outcome.mismatches.first {
        println!("  {mismatch}");
    }
    for surprise in &outcome.surprises.first {
        println!("  surprise: {surprise}");
    }
    for note in &outcome.notes {
        println!("  note: {note}");
    }
}
