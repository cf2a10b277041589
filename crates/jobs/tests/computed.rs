//! What the steps that compute find, against what numpy finds in the same data.

use std::collections::BTreeMap;
use std::sync::Arc;

use jobs::{Io, JobOrder, Meter, StepContext, StepOutcome};
use plan::jobs::{Action, Output, Step, TableOrder};
use plan::{Bytes, JobSpace};
use serde_json::json;

/// Reads the table and computes; exits with 1 where an outcome is not what it finds.
const CHECK: &str = include_str!("python/computed.py");

/// Rows of the table.
const ROWS: u64 = 150_000;

fn actions() -> Vec<Action> {
    let input = || Some("orders".to_owned());
    vec![
        Action::Generate {
            output: Output { table: "orders".to_owned(), space: JobSpace::Permanent },
            rows: ROWS,
            groups: 100,
            order: TableOrder::Number,
        },
        Action::Regression { input: "orders".to_owned(), operations: 60 * ROWS * 120 },
        Action::Factorisation { input: input(), operations: 18_000_000 },
        Action::Factorisation { input: None, operations: 18_000_000 },
        Action::Fourier { input: input(), operations: 1 },
        Action::Fourier { input: None, operations: 20_000_000 },
        Action::Simulation { operations: 30_000_000 },
        Action::Shuffle { input: input(), operations: 1_600_000 },
    ]
}

#[test]
fn numpy_finds_the_same() {
    let python = testbed::Python::with(&["numpy"]);
    if testbed::skipped(python.as_ref().map(|_| ()).map_err(Clone::clone)) {
        return;
    }
    let python = python.expect("just looked at");
    let directories = JobSpace::ALL.map(|_| python.scratch().to_owned());
    let step = |action| Step { action, threads: 2, memory: Bytes::mib(32) };
    let order = JobOrder {
        launch: 0,
        test: "computed".to_owned(),
        stream: 0,
        round: 0,
        page_bytes: Bytes::kib(64),
        direct: false,
        sync: false,
        check: false,
        seed: 7,
        directories,
        inputs: BTreeMap::new(),
        steps: actions().into_iter().map(step).collect(),
        counters_fd: None,
    };
    let io =
        Io { page_bytes: order.page_bytes, direct: false, sync: false, meter: Arc::new(Meter::default()) };
    let context = |number| StepContext { order: &order, step: number, io: &io };
    let mut outcomes: Vec<StepOutcome> = (0..)
        .zip(&order.steps)
        .map(|(number, step)| jobs::run_step(&context(number), step).expect("it can be done"))
        .collect();
    let seeds: Vec<u64> = (0..).zip(&order.steps).map(|(number, _)| context(number).seed()).collect();
    let table = context(1).input("orders").expect("it is there").path;
    let told = python.scratch().join("told.json");
    let check = |outcomes: &[StepOutcome]| {
        let text = json!({ "table": table, "page_bytes": 65_536, "seeds": seeds, "outcomes": outcomes });
        std::fs::write(&told, text.to_string()).expect("it is written");
        python.script(CHECK).arg(&told).run().expect("it ends")
    };
    let _ = check(&outcomes).expect_code(0);
    // The other program does see what is wrong.
    for (step, name) in [(1, "x3"), (2, "log_determinant"), (4, "energy"), (7, "checksum")] {
        let right = outcomes[step].found[name];
        outcomes[step].found.insert(name.to_owned(), right * 1.0001);
        assert_eq!(check(&outcomes).code, Some(1), "step {step}: {name}");
        outcomes[step].found.insert(name.to_owned(), right);
    }
}
