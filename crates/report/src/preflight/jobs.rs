//! Jobs in words, before any of them is launched: the tests with their steps, sizes and launches, and what each
//! space needs.

use plan::jobs::{Action, Output, Step, TableOrder};
use plan::{JobSpace, JobTest, Jobs, JobsPlacement, Phase, TestKind, Workload};

use crate::Colour;
use crate::format::{counted, decimal_bytes, grouped, percent};
use crate::table::{Align, Table};

/// `101 launches of 19 tests in pages of 256 KiB: load, jobs`.
pub(super) fn what(jobs: &Jobs, phases: &[Phase]) -> String {
    let phases: Vec<&str> = phases.iter().map(|phase| phase.name()).collect();
    format!(
        "{} of {} in pages of {}: {}",
        launch_words(jobs.launch_count()),
        counted(jobs.tests.len() as u64, "test"),
        jobs.page_bytes,
        phases.join(", ")
    )
}

/// `1 launch`, `12 launches`.
fn launch_words(count: u64) -> String {
    format!("{} launch{}", grouped(count), if count == 1 { "" } else { "es" })
}

/// What the jobs are, without the list of them.
pub(super) fn lines(jobs: &Jobs, workload: &Workload) -> Vec<(&'static str, String)> {
    let kind = |kind: TestKind| {
        let tests = jobs.tests.iter().filter(|test| test.kind == kind);
        let launches: u64 = tests.clone().map(launches).sum();
        let word = if kind == TestKind::Io { "I/O" } else { kind.name() };
        format!("{} of {word} ({})", tests.count(), launch_words(launches))
    };
    let kinds: Vec<String> = TestKind::ALL.into_iter().map(kind).collect();
    let together = match jobs.concurrency {
        0 => "each as soon as those before it have ended".to_owned(),
        most => format!("at most {} at a time", grouped(u64::from(most))),
    };
    let scale = jobs.scale_billionths as f64 / 1e9;
    let mut lines = vec![
        ("tests", kinds.join(", ")),
        ("launches", format!("{}, {together}", grouped(jobs.launch_count()))),
        ("scale", format!("{scale}: rows, keys, lookups and operations are multiplied by it")),
        (
            "tables",
            format!(
                "{} with {}, made from the seed and checked",
                counted(jobs.loaded_files(), "file"),
                decimal_bytes(jobs.loaded_bytes().0)
            ),
        ),
        ("conditions", jobs.conditions(Phase::Jobs)),
    ];
    if let Some(placement) = JobsPlacement::new(workload) {
        lines.extend(JobSpace::ALL.into_iter().map(|space| {
            let needs = decimal_bytes(jobs.needs(space).0);
            (space.name(), format!("{}: {needs} at most at a time", placement.target(space).display()))
        }));
    }
    if let Some(limit) = jobs.launch_limit {
        lines.push(("limit", format!("a launch that runs for longer than {limit} is ended")));
    }
    lines
}

/// The tests, and under them their steps.
pub(super) fn tables(jobs: &Jobs) -> String {
    format!(
        "\n  Tests, each with the data of one instance\n{}\n  Steps\n{}",
        tests(jobs).without_empty_columns().to_text("  ", Colour::Plain),
        steps(jobs).without_empty_columns().to_text("  ", Colour::Plain)
    )
}

fn launches(test: &JobTest) -> u64 {
    u64::from(test.streams) * u64::from(test.rounds)
}

fn tests(jobs: &Jobs) -> Table {
    let mut table = Table::new(&[
        ("test", Align::Left),
        ("kind", Align::Left),
        ("steps", Align::Right),
        ("data", Align::Right),
        ("streams", Align::Right),
        ("rounds", Align::Right),
        ("launches", Align::Right),
        ("ceiling", Align::Right),
        ("waits for", Align::Left),
        ("what for", Align::Left),
    ]);
    for test in &jobs.tests {
        let waits = jobs.before(test).into_iter().map(|place| jobs.tests[place].name.as_str());
        table.row(vec![
            test.name.clone(),
            test.kind.name().to_owned(),
            grouped(test.steps.len() as u64),
            decimal_bytes(jobs.instance_bytes(test).0),
            grouped(u64::from(test.streams)),
            grouped(u64::from(test.rounds)),
            grouped(launches(test)),
            test.memory_max.map_or_else(String::new, |most| most.to_string()),
            waits.collect::<Vec<_>>().join(", "),
            test.title.clone(),
        ]);
    }
    table
}

fn steps(jobs: &Jobs) -> Table {
    let mut table = Table::new(&[
        ("test", Align::Left),
        ("step", Align::Right),
        ("does", Align::Left),
        ("reads", Align::Left),
        ("writes", Align::Left),
        ("how much", Align::Left),
        ("threads", Align::Right),
        ("memory", Align::Right),
    ]);
    for test in &jobs.tests {
        for (number, step) in test.steps.iter().enumerate() {
            let name = if number == 0 { test.name.clone() } else { String::new() };
            let (reads, writes) = sizes(jobs, test, number, &step.action);
            table.row(vec![
                name,
                grouped(number as u64 + 1),
                step.action.name().to_owned(),
                reads,
                writes,
                amount(step),
                grouped(u64::from(step.threads)),
                step.memory.to_string(),
            ]);
        }
    }
    table
}

/// The tables that a step reads, and the one that it writes, with their sizes.
fn sizes(jobs: &Jobs, test: &JobTest, number: usize, action: &Action) -> (String, String) {
    let (before, after) = (jobs.extents(test, number), jobs.extents(test, number + 1));
    let bytes = |rows: u64| decimal_bytes(jobs.table_bytes(rows).0);
    let mut inputs: Vec<&str> = action.inputs().collect();
    inputs.dedup();
    let reads = inputs.into_iter().map(|name| match before.get(name) {
        Some(extent) => format!("{name} {}", bytes(extent.rows)),
        None => name.to_owned(),
    });
    let writes = action.output().map_or_else(String::new, |Output { table, space }| {
        let size = after.get(table).map_or_else(String::new, |extent| format!(" {}", bytes(extent.rows)));
        format!("{table}{size}, {space}")
    });
    (reads.collect::<Vec<_>>().join(" and "), writes)
}

/// `6.5e12`: three digits of a large number.
fn roughly(number: u64) -> String {
    let short: f64 = format!("{:.2e}", number as f64).parse().unwrap_or(number as f64);
    format!("{short:e}")
}

/// `keeps 25 %`, `100,000 lookups`.
fn amount(step: &Step) -> String {
    let share = |millionths: u32| percent(f64::from(millionths) / 1e6);
    match &step.action {
        Action::Generate { rows, groups, order, .. } => {
            let order = if *order == TableOrder::Key { ", in their order" } else { "" };
            format!("{} of {}{order}", counted(*rows, "row"), counted(*groups, "key"))
        }
        Action::Scan { keep_millionths: 1_000_000, .. } => "all rows".to_owned(),
        Action::Scan { keep_millionths, .. } => format!("keeps {}", share(*keep_millionths)),
        Action::Index { lookups, .. } => counted(*lookups, "lookup"),
        Action::Append { rows, .. } => format!("{} more", counted(*rows, "row")),
        Action::Update { share_millionths, .. } => format!("{} of the pages", share(*share_millionths)),
        Action::Regression { operations, .. }
        | Action::Factorisation { operations, .. }
        | Action::Fourier { operations, .. }
        | Action::Simulation { operations } => format!("{} operations", roughly(*operations)),
        Action::Shuffle { operations, .. } => format!("{} visits", roughly(*operations)),
        Action::Summarise { .. } | Action::Sort { .. } | Action::Merge { .. } => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use plan::study::read;

    use super::{lines, tables, what};

    #[test]
    fn jobs_are_told_with_their_steps_sizes_and_launches() {
        let text = r#"
            [[target]]
            name = "t"
            directory = "/data"
            work = "/work"
            [[workload]]
            name = "mix"
            work = "jobs"
            scale = 0.001
            concurrency = 2
            launch_limit = "2h"
            [[table]]
            name = "sales"
            size = "10GB"
            [[test]]
            name = "extract"
            title = "A quarter, sorted"
            kind = "io"
            streams = 3
            rounds = 2
            memory_max = "1GiB"
            step = [
                { do = "scan", input = "sales", keep = "25 %", output = "some" },
                { do = "sort", input = "some", output = "sorted", space = "permanent", threads = 2 },
            ]
            [[test]]
            name = "model"
            kind = "computation"
            step = [
                { do = "merge", left = "sorted", right = "sorted" },
                { do = "regression", input = "sorted", operations = 3e12 },
                { do = "generate", output = "own", rows = 1000000, groups = 10, sorted = true },
                { do = "index", input = "own", lookups = 5000 },
                { do = "update", table = "own", share = 0.5 },
                { do = "append", table = "own", rows = 10000 },
            ]
        "#;
        let plan = read("s.toml".as_ref(), text).unwrap_or_else(|errors| panic!("{:#?}", errors.errors()));
        let case = &plan.cases[0];
        let jobs = case.workload.work.jobs().expect("jobs");
        let lines: Vec<String> =
            lines(jobs, &case.workload).into_iter().map(|(name, text)| format!("{name}: {text}")).collect();
        insta::assert_snapshot!(format!(
            "{}\n{}\n{}",
            what(jobs, &case.phases),
            lines.join("\n"),
            tables(jobs).lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
        ));
    }
}
