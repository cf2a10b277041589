//! A description of jobs before launch: the tests with their steps, sizes and launches, and the space needed.

use plan::jobs::{Action, Output, Step, TableOrder};
use plan::{JobSpace, JobTest, Jobs, JobsPlacement, Phase, TestKind, Workload};

use crate::Screen;
use crate::format::table::Table;
use crate::format::{counted, decimal_bytes, grouped, percent};

/// `1 launch`, `12 launches`.
fn launch_words(count: u64) -> String {
    format!("{} launch{}", grouped(count), if count == 1 { "" } else { "es" })
}

/// Description of the jobs, without listing them.
pub(super) fn lines(jobs: &Jobs, workload: &Workload) -> Vec<(&'static str, String)> {
    let kind = |kind: TestKind| {
        let tests = jobs.tests.iter().filter(|test| test.kind == kind);
        let launches: u64 = tests.clone().map(launches).sum();
        let word = if kind == TestKind::Io { "I/O" } else { kind.name() };
        format!("{} of {word} ({})", tests.count(), launch_words(launches))
    };
    let together = match jobs.concurrency {
        0 => "each as soon as those it waits for have ended".to_owned(),
        most => format!("at most {} at a time", grouped(u64::from(most))),
    };
    let scale = jobs.scale_billionths as f64 / 1e9;
    let (files, bytes) = (counted(jobs.loaded_files(), "file"), decimal_bytes(jobs.loaded_bytes().0));
    let mut lines = vec![
        ("tests", TestKind::ALL.map(kind).join(", ")),
        ("launches", format!("{}, {together}", grouped(jobs.launch_count()))),
        ("scale", format!("{scale}: rows, keys, lookups and operations are multiplied by it")),
        ("tables", format!("{files} with {bytes}, made from the seed and checked")),
        ("conditions", jobs.conditions(Phase::Jobs)),
    ];
    if let Some(placement) = JobsPlacement::new(workload) {
        lines.extend(JobSpace::ALL.into_iter().map(|space| {
            let needs = decimal_bytes(jobs.needs(space).0);
            (space.name(), format!("{}: {needs} at most at a time", placement.target(space).display()))
        }));
    }
    let limit = |limit| format!("a launch that runs for longer than {limit} is terminated");
    lines.extend(jobs.launch_limit.map(|most| ("limit", limit(most))));
    lines
}

/// The tests without their steps.
pub(super) fn outline(jobs: &Jobs, screen: Screen) -> String {
    format!("  Tests, each with the data of one instance\n{}", text(tests(jobs), screen))
}

fn text(table: Table, screen: Screen) -> String {
    table.without_empty_columns().to_text("  ", screen)
}

/// The tests, and under them their steps.
pub(super) fn tables(jobs: &Jobs, screen: Screen) -> String {
    let (tests, steps) = (text(tests(jobs), screen), text(steps(jobs), screen));
    format!("\n  Tests, each with the data of one instance\n{tests}\n  Steps\n{steps}")
}

fn launches(test: &JobTest) -> u64 {
    u64::from(test.streams) * u64::from(test.rounds)
}

fn tests(jobs: &Jobs) -> Table {
    let waits_for = |test: &JobTest| {
        let before = jobs.before(test).into_iter().map(|place| jobs.tests[place].name.as_str());
        before.collect::<Vec<_>>().join(", ")
    };
    Table::of(&jobs.tests)
        .left("test", |test| test.name.clone())
        .left("kind", |test| test.kind.name())
        .right("steps", |test| grouped(test.steps.len() as u64))
        .right("data", |test| decimal_bytes(jobs.instance_bytes(test).0))
        .right("streams", |test| grouped(u64::from(test.streams)))
        .right("rounds", |test| grouped(u64::from(test.rounds)))
        .right("launches", |test| grouped(launches(test)))
        .right("ceiling", |test| test.memory_max.map(|most| most.to_string()))
        .left("waits for", |test| waits_for(test))
        .left("what for", |test| test.title.clone())
        .done()
}

fn steps(jobs: &Jobs) -> Table {
    let steps =
        jobs.tests.iter().flat_map(|test| test.steps.iter().enumerate().map(move |step| (test, step)));
    Table::of(steps)
        .left("test", |(test, (number, _))| (*number == 0).then(|| test.name.clone()))
        .right("step", |(_, (number, _))| grouped(*number as u64 + 1))
        .left("does", |(_, (_, step))| step.action.name())
        .left("reads", |(test, (number, step))| reads(jobs, test, *number, &step.action))
        .left("writes", |(test, (number, step))| writes(jobs, test, *number, &step.action))
        .left("how much", |(_, (_, step))| amount(step))
        .right("threads", |(_, (_, step))| grouped(u64::from(step.threads)))
        .right("memory", |(_, (_, step))| step.memory.to_string())
        .done()
}

/// The tables that a step reads, with their sizes.
fn reads(jobs: &Jobs, test: &JobTest, number: usize, action: &Action) -> String {
    let extents = jobs.extents(test, number);
    let mut inputs: Vec<&str> = action.inputs().collect();
    inputs.dedup();
    let reads = inputs.into_iter().map(|name| match extents.get(name) {
        Some(extent) => format!("{name} {}", decimal_bytes(jobs.table_bytes(extent.rows).0)),
        None => name.to_owned(),
    });
    reads.collect::<Vec<_>>().join(" and ")
}

/// The table that a step writes, with its size.
fn writes(jobs: &Jobs, test: &JobTest, number: usize, action: &Action) -> Option<String> {
    let Output { table, space } = action.output()?;
    let extents = jobs.extents(test, number + 1);
    let size =
        extents.get(table).map(|extent| format!(" {}", decimal_bytes(jobs.table_bytes(extent.rows).0)));
    Some(format!("{table}{}, {space}", size.unwrap_or_default()))
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

    use super::{lines, tables};

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
            "{}\n{}",
            lines.join("\n"),
            tables(jobs, crate::format::screen::Screen::PLAIN)
                .lines()
                .map(str::trim_end)
                .collect::<Vec<_>>()
                .join("\n")
        ));
    }
}
