//! Outline of a plan of many cases: `--explain` without `--full`.
//!
//! Properties common to all cases are shown once, then those common to a workload; the differences are rows
//! of a table, which merge cases that differ in one swept key only.

use std::collections::BTreeSet;

use plan::{Case, CaseEstimate, Concurrent, Nanos, Plan, RunEnvironment, SettingValue};

use super::case::line;
use super::sweep::{Group, groups, taken, values};
use super::{case, jobs, works};
use crate::format::screen::Screen;
use crate::format::table::{Table, wrapped};
use crate::format::{counted, decimal_bytes, duration, grouped};

/// Maximum number of rows of a workload's table; of more, cases that differ in one more key are merged.
const ROWS: usize = 7;
/// Maximum number of different texts shown for one line of a workload.
const TEXTS: usize = 3;
/// Lines left out because the table has their numbers.
const NUMBERS: [&str; 5] = ["block", "segments", "volume", "files", "balance"];
/// Lines left out if they differ between cases, because the table has the swept keys.
const KEYS: [&str; 2] = ["transfer", "tasks"];
/// The line with the location of data, which is never abbreviated.
const TARGETS: &str = "targets";

/// Description of a case: names and texts.
type Lines = Vec<(&'static str, String)>;

/// The cases of `plan`, by workload.
pub(super) fn cases(
    plan: &Plan,
    all: &[CaseEstimate],
    environment: &RunEnvironment,
    screen: Screen,
) -> String {
    let lines_of_cases: Vec<Lines> =
        plan.cases.iter().zip(all).map(|(case, estimate)| lines(case, estimate, environment)).collect();
    let of_all = common(&lines_of_cases.iter().collect::<Vec<_>>());
    let mut out = String::new();
    if plan.cases.len() > 1 && !of_all.is_empty() {
        out += &format!("\nIn each of {}\n", counted(plan.cases.len() as u64, "case"));
        out.extend(of_all.iter().map(|(name, text)| line(name, text, screen)));
    }
    for group in groups(plan, all) {
        if let Some(together) = &group[0].0.concurrent {
            out += &beside(plan, group[0].0, together, screen);
            continue;
        }
        let own: Vec<&Lines> = group.iter().map(|(case, _)| &lines_of_cases[place(plan, case)]).collect();
        out += &workload(&group, &own, if plan.cases.len() > 1 { &of_all } else { &[] }, screen);
    }
    out
}

/// Index of `case` in `plan`.
fn place(plan: &Plan, case: &Case) -> usize {
    plan.cases.iter().position(|one| std::ptr::eq(one, case)).expect("a case of the plan")
}

/// Description of the case, with one line for each name; `--full` has all lines.
fn lines(case: &Case, estimate: &CaseEstimate, environment: &RunEnvironment) -> Lines {
    let is_transfers = case.workload.work.is_transfers();
    let mut lines = works::what_lines(case, estimate, environment);
    let writes = case.phases.iter().any(|phase| phase.writes());
    lines.retain(|(name, _)| match *name {
        "" => false,
        "durability" => writes,
        name => !is_transfers || !NUMBERS.contains(&name),
    });
    if case::has_memory_line(case, environment) {
        lines.push(("memory", case::memory_risk(&case.workload, environment.memory).to_owned()));
    }
    lines
}

/// The lines common to all descriptions.
fn common(all: &[&Lines]) -> Lines {
    let Some((first, others)) = all.split_first() else { return Lines::new() };
    first.iter().filter(|one| others.iter().all(|other| other.contains(one))).cloned().collect()
}

/// One workload: properties common to its cases but not to the whole plan, and the differences between its cases.
fn workload(
    group: &Group<'_>,
    lines_of_cases: &[&Lines],
    of_all: &[(&'static str, String)],
    screen: Screen,
) -> String {
    let first = group[0].0;
    let name = if first.group.is_empty() { &first.id } else { &first.group };
    let title = if first.title.is_empty() { String::new() } else { format!(": {}", first.title) };
    let cases = match group.len() {
        1 => String::new(),
        several => format!(", {}", counted(several as u64, "case")),
    };
    let mut out = format!("\n{}", wrapped("", &format!("{name}{cases}{title}"), screen.prose()));
    let own = common(lines_of_cases);
    let names =
        analysis::figures::grouped(lines_of_cases.iter().flat_map(|lines| lines.iter()), |(name, _)| *name);
    for texts in &names {
        let name = texts[0].0;
        if own.iter().any(|(of_own, _)| *of_own == name) {
            let is_common = of_all.iter().any(|(of_all, _)| *of_all == name);
            out.extend((!is_common).then(|| line(name, &texts[0].1, screen)));
        } else if !KEYS.contains(&name) {
            let texts = analysis::figures::grouped(texts.iter().map(|(_, text)| text), |text| *text);
            let shown = if name == TARGETS { texts.len() } else { TEXTS.min(texts.len()) };
            let label = |at| if at == 0 { name } else { "" };
            out.extend(texts[..shown].iter().enumerate().map(|(at, text)| line(label(at), text[0], screen)));
            let more = texts.len() - shown;
            out.extend((more > 0).then(|| line("", &format!("… and {more} more, by case"), screen)));
        }
    }
    if group.len() > 1 {
        out += &points(group).to_text("  ", screen);
    } else {
        out += &line("predicted", &totals(group), screen);
    }
    out.extend(first.workload.work.jobs().map(|jobs| jobs::outline(jobs, screen)));
    out
}

/// One of several cases that run at the same time: what differs from the case that runs alone.
fn beside(plan: &Plan, case: &Case, together: &Concurrent, screen: Screen) -> String {
    let is_first = plan.blocks().any(|block| std::ptr::eq(&plan.cases[block.start], case));
    let head = if is_first { format!("\n{}, at the same time\n", together.name) } else { String::new() };
    let targets = case.workload.files.targets.iter().map(|target| format!("; {}", target.display()));
    let later = match together.start {
        Nanos(0) => String::new(),
        start => format!("; begins {start} later"),
    };
    let text = format!("{}: as {}{}{later}", case.id, together.alone, targets.collect::<String>());
    head + &wrapped("  ", &text, screen.prose())
}

/// `2 d 10 h for 16 files, 26.4 TB in one pass`.
fn totals(group: &Group<'_>) -> String {
    let (case, estimate) = group[0];
    let (files, bytes) = (estimate.forecast.files, estimate.forecast.phase_bytes.0);
    let files = if files > 0 { format!(" for {}", counted(files, "file")) } else { String::new() };
    let pass = if bytes > 0 { format!(", {} in one pass", decimal_bytes(bytes)) } else { String::new() };
    format!("{}{files}{pass}; {}", case::time_words(estimate), counted(case.repetitions.into(), "repetition"))
}

/// The swept keys of `group` in the order of the study, each with how many values it takes.
fn keys<'a>(group: &Group<'a>) -> Vec<(&'a str, usize)> {
    let settings = group.iter().flat_map(|(case, _)| &case.settings);
    let of_key = analysis::figures::grouped(settings, |one| one.key.as_str());
    of_key.iter().map(|same| (same[0].key.as_str(), taken(same).len())).collect()
}

fn value<'a>(case: &'a Case, key: &str) -> Option<&'a SettingValue> {
    case.settings.iter().find(|one| one.key == key).map(|one| &one.value)
}

/// A row for each set of cases that differ in one key only, or in more keys if there would be too many rows.
fn points(group: &Group<'_>) -> Table {
    let keys = keys(group);
    let mut folded: BTreeSet<&str> = BTreeSet::new();
    let rows = |folded: &BTreeSet<&str>| {
        analysis::figures::grouped(group.iter().copied(), |(case, _)| {
            let open = keys.iter().filter(|(key, _)| !folded.contains(key));
            open.map(|(key, _)| value(case, key).map(ToString::to_string)).collect::<Vec<_>>()
        })
    };
    loop {
        let open = keys.iter().filter(|(key, _)| !folded.contains(key));
        let Some((key, _)) = open.max_by_key(|(_, values)| *values) else { break };
        folded.insert(key);
        if rows(&folded).len() <= ROWS {
            break;
        }
    }
    let mut table = Table::of(rows(&folded));
    for (key, _) in &keys {
        table = table.left(key, |row: &Group<'_>| {
            let settings: Vec<_> = row.iter().flat_map(|(case, _)| &case.settings).collect();
            values(&settings.into_iter().filter(|one| one.key == *key).collect::<Vec<_>>())
        });
    }
    let files = |row: &Group<'_>| range(row, |estimate| estimate.forecast.files, grouped);
    let pass = |row: &Group<'_>| range(row, |estimate| estimate.forecast.phase_bytes.0, decimal_bytes);
    let predicted = |row: &Group<'_>| {
        let is_known = row.iter().all(|(_, estimate)| !estimate.is_partly_unknown());
        is_known.then(|| duration(row.iter().map(|(_, estimate)| estimate.seconds.middle).sum()))
    };
    table = table
        .right("cases", |row| grouped(row.len() as u64))
        .right("files", files)
        .right("one pass", pass)
        .right("predicted", predicted);
    table.done().without_empty_columns()
}

/// The minimum and maximum over the cases of a row, as in `1 to 12`, or `4`.
fn range(row: &Group<'_>, number: impl Fn(&CaseEstimate) -> u64, words: impl Fn(u64) -> String) -> String {
    let numbers = || row.iter().map(|(_, estimate)| number(estimate));
    let (least, most) = (numbers().min().unwrap_or(0), numbers().max().unwrap_or(0));
    match (words(least), words(most)) {
        (least, most) if least == most => least,
        (least, most) => format!("{least} to {most}"),
    }
}
