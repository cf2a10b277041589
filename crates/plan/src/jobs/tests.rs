//! Tests of the amounts, dependencies and validation of jobs.

use super::{Action, JobSpace, JobTable, JobTest, Jobs, Output, Step, TableOrder, TestKind};
use crate::Bytes;

fn output(table: &str, space: JobSpace) -> Output {
    Output { table: table.to_owned(), space }
}

fn step(action: Action) -> Step {
    Step { action, threads: 1, memory: Bytes::mib(64) }
}

fn sort(input: &str, to: &str, space: JobSpace) -> Step {
    step(Action::Sort { input: input.to_owned(), output: output(to, space) })
}

fn scan(input: &str) -> Step {
    step(Action::Scan { input: input.to_owned(), output: None, keep_millionths: 1_000_000 })
}

fn merge(left: &str, right: &str) -> Step {
    step(Action::Merge { left: left.to_owned(), right: right.to_owned(), output: None })
}

fn append(table: &str, rows: u64) -> Step {
    step(Action::Append { table: table.to_owned(), rows })
}

fn test(name: &str, steps: Vec<Step>) -> JobTest {
    JobTest::new(name, TestKind::Io, steps)
}

/// Jobs on one table of 100 pages.
fn jobs(tests: Vec<JobTest>) -> Jobs {
    let jobs = Jobs::new(Bytes::kib(256));
    let rows = 100 * jobs.rows_per_page();
    let table = JobTable { name: "sales".to_owned(), rows, groups: rows / 10, order: TableOrder::Number };
    Jobs { tables: vec![table], tests, ..jobs }
}

fn needs(jobs: &Jobs) -> [u64; 3] {
    assert_eq!(jobs.problems(), []);
    JobSpace::ALL.map(|space| jobs.needs(space).0 / jobs.page_bytes.0)
}

fn problems(tests: Vec<JobTest>) -> Vec<String> {
    let told = |problem: super::JobProblem| {
        let at = (problem.test, problem.step);
        format!("{at:?} {}: {}; {}", problem.error.field, problem.error.message, problem.error.help)
    };
    jobs(tests).problems().into_iter().map(told).collect()
}

#[test]
fn a_sort_keeps_three_copies_of_its_input() {
    assert_eq!(needs(&jobs(vec![test("a", vec![sort("sales", "sorted", JobSpace::Work)])])), [100, 200, 100]);
    assert_eq!(
        needs(&jobs(vec![test("a", vec![sort("sales", "sorted", JobSpace::Utility)])])),
        [100, 100, 200]
    );
    assert_eq!(
        needs(&jobs(vec![test("a", vec![sort("sales", "sorted", JobSpace::Permanent)])])),
        [200, 100, 100]
    );
    // The first output is kept during the second sort.
    let twice = vec![sort("sales", "one", JobSpace::Work), sort("one", "two", JobSpace::Work)];
    assert_eq!(needs(&jobs(vec![test("a", twice)])), [100, 300, 100]);
}

#[test]
fn streams_hold_their_data_at_the_same_time_and_rounds_do_not() {
    let mut many = test("many", vec![sort("sales", "sorted", JobSpace::Work)]);
    (many.streams, many.rounds) = (4, 3);
    let one =
        test("one", vec![sort("sales", "sorted", JobSpace::Work), sort("sorted", "again", JobSpace::Work)]);
    let mut both = jobs(vec![many, one]);
    assert_eq!(needs(&both), [400, 4 * 200 + 300, 500]);
    both.concurrency = 2;
    assert_eq!(needs(&both), [400, 300 + 200, 200], "the two largest that can run together");
}

#[test]
fn what_is_left_for_others_and_what_grows_counts_in_permanent_space() {
    let page = Jobs::new(Bytes::kib(256)).rows_per_page();
    let mut makes = test("makes", vec![sort("sales", "ready", JobSpace::Permanent)]);
    makes.streams = 2;
    let mut grows = test("grows", vec![append("orders", 10 * page)]);
    grows.rounds = 5;
    let mut jobs = jobs(vec![makes, grows]);
    jobs.tables.push(JobTable { name: "orders".to_owned(), rows: page, groups: 1, order: TableOrder::Key });
    assert_eq!(needs(&jobs), [200 + 1 + 200 + 50, 200, 200]);
}

#[test]
fn sizes_of_outputs_follow_from_those_of_inputs() {
    let steps = vec![
        step(Action::Scan {
            input: "sales".to_owned(),
            output: Some(output("some", JobSpace::Work)),
            keep_millionths: 250_000,
        }),
        step(Action::Summarise { input: "sales".to_owned(), output: Some(output("sums", JobSpace::Work)) }),
        sort("some", "sorted", JobSpace::Work),
        step(Action::Merge {
            left: "sorted".to_owned(),
            right: "sums".to_owned(),
            output: Some(output("pairs", JobSpace::Work)),
        }),
    ];
    let jobs = jobs(vec![test("a", steps)]);
    assert_eq!(jobs.problems(), []);
    let all = jobs.extents(&jobs.tests[0], 4);
    let rows = jobs.tables[0].rows;
    let of = |name: &str| (all[name].rows, all[name].order);
    assert_eq!(of("some"), (rows.div_ceil(4), TableOrder::Number));
    assert_eq!(of("sums"), (rows / 10, TableOrder::Key));
    assert_eq!(of("pairs"), (rows.div_ceil(4), TableOrder::Key), "each row finds the sum of its key");
    assert!(!jobs.extents(&jobs.tests[0], 1).contains_key("sums"), "not before it is written");
}

#[test]
fn launches_wait_for_what_they_read_and_for_the_round_before() {
    let mut makes = test("makes", vec![sort("sales", "ready", JobSpace::Permanent)]);
    makes.rounds = 2;
    let mut reads = test("reads", vec![scan("ready")]);
    reads.rounds = 2;
    let mut last = test("last", vec![scan("sales")]);
    last.after = vec!["reads".to_owned()];
    let jobs = jobs(vec![last, reads, makes]);
    assert_eq!(jobs.problems(), []);
    let told: Vec<(u32, &str, u32, Vec<u32>)> = (jobs.launches().into_iter())
        .map(|one| (one.number, jobs.tests[one.test].name.as_str(), one.round, one.after))
        .collect();
    let expected = [
        (0, "last", 0, vec![1, 3]),
        (1, "reads", 0, vec![2, 4]),
        (2, "makes", 0, vec![]),
        (3, "reads", 1, vec![1]),
        (4, "makes", 1, vec![2]),
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_circle_is_named_whole() {
    let after = |name: &str, other: &str| JobTest {
        after: vec![other.to_owned()],
        ..test(name, vec![scan("sales")])
    };
    let found = problems(vec![after("out", "a"), after("a", "b"), after("b", "c"), after("c", "a")]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("(Some(1), None) after") && found[0].contains("a → b → c → a"), "{found:?}");
    let data = problems(vec![
        test("a", vec![scan("sales"), sort("from-b", "from-a", JobSpace::Permanent)]),
        test("b", vec![sort("from-a", "from-b", JobSpace::Permanent)]),
    ]);
    assert_eq!(data.len(), 1, "{data:?}");
    assert!(data[0].contains("(Some(0), Some(1)) input") && data[0].contains("a → b → a"), "{data:?}");
    let own = problems(vec![after("a", "a")]);
    assert!(own[0].contains("a → a"), "{own:?}");
}

#[test]
fn each_mistake_is_told_at_its_place() {
    let two = |first: Vec<Step>, second: Vec<Step>| vec![test("one", first), test("two", second)];
    let many = |streams, rounds| JobTest { streams, rounds, ..test("one", vec![scan("sales")]) };
    for (tests, words) in [
        (
            vec![test("one", vec![scan("sails")])],
            "(Some(0), Some(0)) input: test `one` reads `sails`, a table that nothing creates; did you mean \
             `sales`?",
        ),
        (
            vec![test("one", vec![scan("x"), sort("sales", "x", JobSpace::Work)])],
            "reads `x` before it writes it",
        ),
        (
            two(vec![sort("sales", "x", JobSpace::Work)], vec![scan("x")]),
            "(Some(1), Some(0)) input: `x` is in work space of test `one`",
        ),
        (vec![test("one", vec![merge("sales", "sales")])], "(Some(0), Some(0)) left: a merge needs"),
        (
            vec![test("one", vec![sort("sales", "x", JobSpace::Work), append("x", 5), merge("x", "x")])],
            "(Some(0), Some(2)) left: a merge",
        ),
        (
            vec![test("one", vec![sort("sales", "x", JobSpace::Work), sort("sales", "x", JobSpace::Work)])],
            "two steps of test `one` write",
        ),
        (
            vec![test("one", vec![sort("sales", "sales", JobSpace::Permanent)])],
            "(Some(0), Some(0)) output: the table `sales` exists",
        ),
        (
            two(vec![sort("sales", "x", JobSpace::Permanent)], vec![sort("sales", "x", JobSpace::Work)]),
            "(Some(1), Some(0)) output: test `one` leaves",
        ),
        (
            two(vec![append("sales", 5)], vec![scan("sales")]),
            "(Some(0), Some(0)) table: test `one` changes `sales`, which `two` uses",
        ),
        (
            vec![test("same", vec![scan("sales")]), test("same", vec![scan("sales")])],
            "two tests are called `same`",
        ),
        (
            vec![JobTest { after: vec!["twp".to_owned()], ..test("two", vec![scan("sales")]) }],
            "waits for `twp`, which is not launched; did you mean `two`",
        ),
        (vec![test("one", vec![])], "test `one` has 0 steps"),
        (vec![many(0, 1)], "(Some(0), None) streams: test `one` is never launched"),
        (vec![many(u32::MAX, u32::MAX)], "make more than 4096 launches"),
        (vec![many(2, 4000)], "(Some(0), None) rounds: 2 streams of 4000 rounds"),
        (vec![test("one", vec![append("sales", 0)])], "rows: this step of test `one` asks for no rows"),
        (vec![test("one", vec![step(Action::Simulation { operations: 0 })])], "asks for no operations"),
        (vec![], "there is nothing to launch"),
    ] {
        let found = problems(tests);
        assert!(found.iter().any(|one| one.contains(words)), "{words}\n{found:#?}");
    }
    let wide = JobTest { streams: 3, ..test("two", vec![scan("x")]) };
    let found = problems(vec![test("one", vec![sort("sales", "x", JobSpace::Permanent)]), wide]);
    assert!(found[0].contains("has 3 streams, but `one` writes `x` for only 1"), "{found:?}");
}
