//! What the steps write and find, checked by a program that shares nothing with this one: Python makes the rows from
//! the formulas of `docs/JOBS.md` with numpy, and DuckDB says what the steps should find.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use jobs::{Io, JobOrder, Meter, StepContext, StepOutcome};
use plan::jobs::{Action, Output, Step, TableOrder};
use plan::{Bytes, JobSpace};
use serde_json::json;

/// Makes the rows anew, and exits with 1 where a table or an outcome is not what it finds.
const CHECK: &str = include_str!("python/check.py");
/// What it needs of PyPI.
const PACKAGES: [&str; 4] = ["numpy", "pandas", "duckdb", "xxhash"];

fn output(table: &str, space: JobSpace) -> Output {
    Output { table: table.to_owned(), space }
}

fn generate(table: &str, rows: u64, order: TableOrder) -> Action {
    Action::Generate { output: output(table, JobSpace::Permanent), rows, groups: 6000, order }
}

/// All kinds of steps on two tables, each with a table of its own to show.
fn actions() -> Vec<Action> {
    let (orders, sorted) = ("orders".to_owned(), "sorted".to_owned());
    let work = |table| Some(output(table, JobSpace::Work));
    vec![
        generate("orders", 20_000, TableOrder::Number),
        generate("prices", 9_000, TableOrder::Key),
        Action::Scan { input: orders.clone(), output: work("kept"), keep_millionths: 333_333 },
        Action::Summarise { input: orders.clone(), output: work("sums") },
        Action::Sort { input: orders.clone(), output: output("sorted", JobSpace::Work) },
        Action::Merge { left: sorted, right: "prices".to_owned(), output: work("joined") },
        Action::Index { input: orders.clone(), lookups: 700 },
        Action::Append { table: orders.clone(), rows: 3_000 },
        Action::Update { table: orders.clone(), share_millionths: 250_000 },
        Action::Scan { input: orders.clone(), output: None, keep_millionths: 1_000_000 },
        Action::Sort { input: orders, output: output("again", JobSpace::Permanent) },
    ]
}

/// Does all steps below `directory`; returns the job, what each step told, and the tables that they wrote.
fn work(directory: &std::path::Path) -> (JobOrder, Vec<StepOutcome>, BTreeMap<u32, PathBuf>) {
    let directories = JobSpace::ALL.map(|space| directory.join(space.name()));
    directories.iter().for_each(|one| std::fs::create_dir(one).expect("a space"));
    let step = |action| Step { action, threads: 2, memory: Bytes::mib(1) };
    let order = JobOrder {
        launch: 0,
        test: "mixed".to_owned(),
        stream: 3,
        round: 1,
        page_bytes: Bytes::kib(64),
        direct: false,
        sync: false,
        check: true,
        seed: 20_130_422,
        directories,
        inputs: BTreeMap::new(),
        steps: actions().into_iter().map(step).collect(),
        counters_fd: None,
    };
    let meter = Arc::new(Meter::default());
    let io = Io { page_bytes: order.page_bytes, direct: false, sync: false, meter: Arc::clone(&meter) };
    let (mut outcomes, mut tables) = (Vec::new(), BTreeMap::new());
    for (number, step) in (0..).zip(&order.steps) {
        let context = StepContext { order: &order, step: number, io: &io };
        outcomes.push(jobs::run_step(&context, step).expect("it can be done"));
        tables.extend(step.action.output().map(|output| (number, context.output(output).path)));
    }
    assert!(meter.snapshot().peak_bytes[2] > 0, "neither the sort nor the summary had room in memory");
    (order, outcomes, tables)
}

#[test]
fn another_program_finds_the_same_rows_and_sums() {
    let python = testbed::Python::with(&PACKAGES);
    if testbed::skipped(python.as_ref().map(|_| ()).map_err(Clone::clone)) {
        return;
    }
    let python = python.expect("just looked at");
    let (order, mut outcomes, tables) = work(python.scratch());
    let told = python.scratch().join("told.json");
    let check = |outcomes: &[StepOutcome]| {
        let text = json!({ "order": order, "outcomes": outcomes, "tables": tables }).to_string();
        std::fs::write(&told, text).expect("it is written");
        python.script(CHECK).arg(&told).run().expect("it ends")
    };
    let agreed = check(&outcomes).expect_code(0);
    assert_eq!(agreed.stdout.lines().count(), outcomes.len(), "{}", agreed.stdout);
    // The other program does see what is wrong.
    outcomes[3].rows_out += 1;
    assert_eq!(check(&outcomes).code, Some(1));
}
