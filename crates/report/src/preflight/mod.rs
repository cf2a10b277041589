//! What a plan will do, told before it does it: [`preflight`] in one table, [`explain`] in full.
//!
//! The arithmetic is [`plan::Outlook`]'s; this file finds the words.

mod case;
mod concerns;
mod jobs;
mod layouts;
mod sweep;
mod terms;
mod works;

use std::fmt::Write as _;

use plan::{Case, OptionNote, Outlook, Plan, Question, SpaceOutlook, Surroundings, outlooks, visible};

pub use self::layouts::{LayoutOutlook, layouts};
pub(crate) use self::terms::{promised, words as protocol};

use self::case::{memory_words, result_phases, space_words};
use crate::colour::Colour;
use crate::format::{counted, decimal_bytes, duration, grouped, rate, shell_line};
use crate::offsets;
use crate::statements::without_figures;
use crate::table::{PROSE_COLUMNS as COLUMNS, Table, width, wrapped};
use crate::words;

/// Cases of a plan that `explain` describes in full before it only counts them.
const CASES_EXPLAINED: usize = 64;

/// What a run is about to do, for the moment before it starts: files, bytes and predicted seconds
/// of each case, what it needs of space and memory, and what should be looked at first.
#[must_use]
pub fn preflight(plan: &Plan, around: &Surroundings) -> String {
    let (all, spaces) = outlooks(plan, around);
    let long = sweep::is_long(plan);
    let table = if long { sweep::table(plan, &all) } else { cases(plan, &all) };
    let concerns = if long { sweep::concerns(plan, &all) } else { concerns::of_plan(plan, &all) };
    let advice = concerns + &terms::repetitions(plan);
    let heading = if advice.is_empty() { "" } else { "\nLook at this first\n" };
    let (table, whole) = (table.to_text("", Colour::Plain), altogether(plan, &all, &spaces, around));
    format!("{}\n\n{table}\n{whole}{heading}{advice}", plan.title)
}

/// One row for each case.
fn cases(plan: &Plan, all: &[Outlook]) -> Table {
    // The most that one result phase moves.
    let bytes = |outlook: &Outlook| {
        let results = outlook.phases.iter().filter(|phase| phase.phase.is_result());
        results.map(|phase| phase.bytes).max().unwrap_or(outlook.forecast.phase_bytes)
    };
    Table::of(plan.cases.iter().zip(all))
        .left("case", |(case, _)| case.id.clone())
        .left("what", |(case, _)| what(case))
        .left("path", |(case, _)| words::path(&case.workload))
        .right("tasks", |(case, _)| grouped(u64::from(case.workload.tasks)))
        .right("files", |(_, outlook)| grouped(outlook.forecast.files))
        .right("bytes a phase", |(_, outlook)| decimal_bytes(bytes(outlook).0))
        .right("repeats", |(case, _)| grouped(u64::from(case.repetitions)))
        .right("predicted", |(_, outlook)| duration(outlook.seconds))
        .done()
}

/// What follows from the study's own words, before anything is measured: what its limits allow, and whether devices
/// and data fit.
fn of_study(plan: &Plan) -> String {
    let title = |target| {
        let terms = plan.terms.targets.iter().find(|one| one.name == target);
        terms.map(|one| one.title.as_str()).filter(|title| !title.is_empty()).unwrap_or(target)
    };
    let limits = analysis::Table::planned(&analysis::weakest_links(plan, &[]));
    let room = analysis::Table::planned(&analysis::fits(plan));
    let tables = [
        ("Expected at most, by the study's own limits", limits),
        ("Slots and room, by what the study says of its targets", room),
    ];
    let filled = tables.iter().filter(|(_, table)| !table.rows.is_empty());
    let text = |table| without_figures(table, title).to_text("", Colour::Plain);
    let node = Some(plan.terms.node.words()).filter(|words| !words.is_empty());
    let node = node.map(|words| format!("\nEach node, as the study says: {words}\n"));
    node.into_iter().chain(filled.map(|(heading, table)| format!("\n{heading}\n{}", text(table)))).collect()
}

/// The whole plan for `--explain`: each option with its meaning, then for each case sizes in both
/// units, tasks, files, targets, bounds, the first offsets, predicted volume and seconds, space,
/// memory and what should be looked at.
#[must_use]
pub fn explain(plan: &Plan, around: &Surroundings) -> String {
    let (all, spaces) = outlooks(plan, around);
    let mut out = format!("{}\n{}", visible(&plan.title), question(plan));
    let cases = plan.cases.len();
    for (number, (case, outlook)) in plan.cases.iter().zip(&all).enumerate().take(CASES_EXPLAINED) {
        let name =
            if case.title.is_empty() { case.id.clone() } else { format!("{}: {}", case.id, case.title) };
        let _ = write!(out, "\nCase {} of {cases}  {}\n", number + 1, visible(&name));
        out.push_str(&case_lines(case, outlook, around));
        out.extend(outlook.concerns.iter().map(|concern| concerns::line(plan, case, concern)));
    }
    if cases > CASES_EXPLAINED {
        let _ = write!(out, "\n… and {} more cases\n", cases - CASES_EXPLAINED);
    }
    let (whole, advice) = (altogether(plan, &all, &spaces, around), terms::repetitions(plan));
    format!("{out}\nAltogether\n{whole}{advice}")
}

/// `1 MiB sequential write, read`.
fn what(case: &Case) -> String {
    if !case.workload.work.is_transfers() {
        return works::what(case);
    }
    let order = words::order(&case.workload);
    format!("{} {order} {}", case.workload.geometry.transfer, result_phases([case]))
}

/// Who asked, and each option with its meaning.
fn question(plan: &Plan) -> String {
    match &plan.question {
        Question::Quick { directory } => {
            format!("asked by      --quick {}\n", visible(&directory.to_string_lossy()))
        }
        Question::CrossCheck { directory, tool, .. } => {
            let directory = visible(&directory.to_string_lossy()).into_owned();
            format!("asked by      cross-check {directory}, beside {}\n", visible(tool))
        }
        Question::Study { path, .. } => format!("asked by      {}\n", visible(&path.to_string_lossy())),
        Question::Import { tools, .. } => format!("printed by    {}\n", visible(&tools.join(", "))),
        Question::Dialect { arguments, notes, .. } => {
            let asked = wrapped("asked by      ", &shell_line(arguments), COLUMNS);
            format!("{asked}\n{}", options(notes))
        }
    }
}

fn options(notes: &[OptionNote]) -> String {
    let written = notes.iter().map(|note| width(&note.written)).max().unwrap_or(0).clamp(6, 24);
    let name = notes.iter().map(|note| width(&note.name)).max().unwrap_or(0).clamp(4, 20);
    let mut out = String::new();
    for note in notes {
        let mut shown = note.written.as_str();
        if width(shown) > written {
            // A long value has a line of its own, so that the columns stay where they are.
            let _ = writeln!(out, "  {}", visible(shown));
            shown = "";
        }
        let first = format!("  {shown:written$}  {:name$}  ", note.name);
        out.push_str(&wrapped(&first, &note.meaning, COLUMNS));
    }
    out
}

fn line(name: &str, text: &str) -> String {
    wrapped(&format!("  {name:<11} "), text, COLUMNS)
}

fn case_lines(case: &Case, outlook: &Outlook, around: &Surroundings) -> String {
    let is_transfers = case.workload.work.is_transfers();
    let does = match is_transfers {
        true => case::what_lines(case, outlook, around),
        false => works::what_lines(case, outlook),
    };
    let mut out: String = does.iter().map(|(name, text)| line(name, text)).collect();
    for phase in outlook.fill.iter().chain(&outlook.phases) {
        let predicted = match phase.phase.is_transfers() {
            true => case::predicted(phase, around),
            false => works::predicted(phase, around),
        };
        out.push_str(&line("predicted", &predicted));
    }
    out.extend(outlook.spaces.iter().map(|space| line("space", &space_words(space))));
    if is_transfers {
        out.push_str(&line("memory", &memory_words(&case.workload, around.memory)));
    }
    if outlook.phases.len() > 1 || case.repetitions > 1 {
        let repetitions = counted(u64::from(case.repetitions), "repetition");
        out.push_str(&line("time", &format!("{} for {repetitions}", duration(outlook.seconds))));
    }
    if is_transfers {
        out.push_str(&offsets::first(case));
    }
    out.extend(case.workload.work.jobs().map(jobs::tables));
    out
}

/// Of all cases together: time, volume, space, rates and seed, then what the study says of the whole.
fn altogether(plan: &Plan, all: &[Outlook], spaces: &[SpaceOutlook], around: &Surroundings) -> String {
    let seconds: f64 = all.iter().map(|outlook| outlook.seconds).sum();
    let moved = |writes: bool| {
        let phases = plan.cases.iter().zip(all).flat_map(|(case, outlook)| {
            let times = u64::from(case.passes_max());
            let fill = outlook.fill.iter().map(|phase| (phase, 1));
            fill.chain(outlook.phases.iter().map(move |phase| (phase, times)))
        });
        let bytes = phases.filter(|(phase, _)| phase.phase.makes() == writes);
        bytes.fold(0_u64, |sum, (phase, times)| sum.saturating_add(phase.bytes.0.saturating_mul(times)))
    };
    let (written, read) = (moved(true), moved(false));
    let moves_data = written > 0 || read > 0;
    let mut lines =
        vec![("time", format!("about {} in {}", duration(seconds), counted(all.len() as u64, "case")))];
    if moves_data {
        let (written, read) = (decimal_bytes(written), decimal_bytes(read));
        lines.push(("volume", format!("about {written} written, {read} read")));
    }
    let needed = spaces.iter().filter(|space| space.needed.0 > 0);
    lines.extend(needed.map(|space| ("space", format!("at most {}", space_words(space)))));
    // Names and messages are not predicted by rates of data.
    let rates = [("write rate", &around.write), ("read rate", &around.read)];
    lines.extend(rates.into_iter().filter(|_| moves_data).map(|(name, expected)| {
        let small = match expected.transfer_time {
            time if time.0 > 0 => format!(", {time} for one small transfer"),
            _ => String::new(),
        };
        (name, format!("{}{small}: {}", rate(expected.bytes_per_second), expected.source))
    }));
    lines.push(("seed", plan.seed.to_string()));
    let lines: String = lines.iter().map(|(name, text)| line(name, text)).collect();
    [lines, terms::protocol(plan), terms::commitments(plan), of_study(plan)].concat()
}
