//! How fast a processor makes, reads and sorts tables: each step's bytes of input against wall and processor time.
//!
//! ```text
//! cargo run --release -p ioproof-jobs --example tables -- /dev/shm 1000000 1 256
//! ```
//!
//! Arguments: a directory, rows, threads, and memory of a step in MiB. Everything that it writes is removed.

#![expect(clippy::print_stdout, reason = "a program for the console")]
#![expect(clippy::cast_precision_loss, reason = "rates are no exact numbers")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use jobs::{Io, JobOrder, Meter, StepContext};
use plan::jobs::{Action, Output, Step, TableOrder};
use plan::{Bytes, JobSpace};

type Failed = Box<dyn std::error::Error>;

fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, rows, threads, memory] = &arguments[..] else {
        return Err("give a directory, rows, threads, and memory in MiB".into());
    };
    let (rows, threads): (u64, u32) = (rows.parse()?, threads.parse()?);
    let directory = tempfile::tempdir_in(directory)?;
    let directories = JobSpace::ALL.map(|space| directory.path().join(space.name()));
    for one in &directories {
        std::fs::create_dir(one)?;
    }
    let step = |action| Step { action, threads, memory: Bytes::mib(memory.parse().unwrap_or(256)) };
    let order = JobOrder {
        launch: 0,
        test: "example".to_owned(),
        stream: 0,
        round: 0,
        page_bytes: Bytes::kib(256),
        direct: false,
        sync: false,
        check: false,
        seed: 1,
        directories,
        inputs: BTreeMap::new(),
        steps: actions(rows).into_iter().map(step).collect(),
        counters_fd: None,
    };
    let io =
        Io { page_bytes: order.page_bytes, direct: false, sync: false, meter: Arc::new(Meter::default()) };
    let table_bytes = plan::Jobs::new(order.page_bytes).table_bytes(rows).0 as f64;
    println!("{rows} rows, {:.0} MB, {threads} threads; MB of the table per second", table_bytes / 1e6);
    println!("{:>10} {:>8} {:>10} {:>10}", "step", "seconds", "MB/s", "MB/s CPU");
    for (number, step) in (0..).zip(&order.steps) {
        let (start, used) = (Instant::now(), processor_seconds());
        jobs::run_step(&StepContext { order: &order, step: number, io: &io }, step)?;
        let (wall, used) = (start.elapsed().as_secs_f64(), processor_seconds() - used);
        let rate = |seconds: f64| table_bytes / seconds / 1e6;
        println!("{:>10} {wall:>8.3} {:>10.0} {:>10.0}", step.action.name(), rate(wall), rate(used));
    }
    Ok(())
}

fn actions(rows: u64) -> Vec<Action> {
    let output = |table: &str, space| Output { table: table.to_owned(), space };
    let generate = |table, order| {
        let groups = (rows / 10).max(1);
        Action::Generate { output: output(table, JobSpace::Permanent), rows, groups, order }
    };
    let (mixed, ordered) = ("mixed".to_owned(), "ordered".to_owned());
    vec![
        generate("mixed", TableOrder::Number),
        generate("ordered", TableOrder::Key),
        Action::Scan { input: mixed.clone(), output: None, keep_millionths: 500_000 },
        Action::Scan {
            input: mixed.clone(),
            output: Some(output("kept", JobSpace::Work)),
            keep_millionths: 500_000,
        },
        Action::Summarise { input: mixed.clone(), output: None },
        Action::Sort { input: mixed.clone(), output: output("sorted", JobSpace::Work) },
        Action::Merge { left: "sorted".to_owned(), right: ordered.clone(), output: None },
        Action::Index { input: mixed.clone(), lookups: 10_000 },
        Action::Append { table: ordered, rows: rows / 4 },
        Action::Update { table: mixed, share_millionths: 250_000 },
    ]
}

/// Processor time of this process, in user mode and in the kernel.
fn processor_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
