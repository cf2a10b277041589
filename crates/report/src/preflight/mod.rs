//! What a plan will do, told before it does it: [`preflight`] in one table, [`explain`] in full.
//!
//! The arithmetic is [`plan::Outlook`]'s; this file finds the words.

mod case;
mod concerns;
mod jobs;
mod layouts;
mod phrases;
mod sweep;
mod terms;
mod works;

use std::fmt::Write as _;

use plan::{Bytes, Case, OptionNote, Outlook, Plan, Question, SpaceOutlook, Surroundings, outlooks, visible};

pub use self::layouts::{LayoutOutlook, layouts};
pub(crate) use self::terms::words as protocol;

use self::case::{memory_words, predicted, space_words, what_lines};
use crate::Colour;
use crate::format::{counted, decimal_bytes, duration, grouped, rate, shell_line};
use crate::offsets;
use crate::statements::without_figures;
use crate::table::{Align, PROSE_COLUMNS as COLUMNS, Table, width, wrapped};
use crate::words;

/// Cases of a plan that `explain` describes in full before it only counts them.
const CASES_EXPLAINED: usize = 64;

/// What a run is about to do, for the moment before it starts: files, bytes and predicted seconds
/// of each case, what it needs of space and memory, and what should be looked at first.
#[must_use]
pub fn preflight(plan: &Plan, around: &Surroundings) -> String {
    let (all, spaces) = outlooks(plan, around);
    let mut out = format!("{}\n\n", plan.title);
    let long = sweep::is_long(plan);
    let table = if long { sweep::table(plan, &all) } else { cases(plan, &all) };
    out.push_str(&table.to_text("", Colour::Plain));
    out.push('\n');
    out.push_str(&altogether(plan, &all, &spaces, around));
    out.push_str(&terms::protocol(plan));
    out.push_str(&terms::commitments(plan));
    out.push_str(&of_study(plan));
    let mut advice = if long { sweep::concerns(plan, &all, COLUMNS) } else { concerns::of_plan(plan, &all) };
    advice.push_str(&terms::repetitions(plan));
    if !advice.is_empty() {
        out.push_str("\nLook at this first\n");
        out.push_str(&advice);
    }
    out
}

/// One row for each case.
fn cases(plan: &Plan, all: &[Outlook]) -> Table {
    let mut table = Table::new(&[
        ("case", Align::Left),
        ("what", Align::Left),
        ("path", Align::Left),
        ("tasks", Align::Right),
        ("files", Align::Right),
        ("bytes a phase", Align::Right),
        ("repeats", Align::Right),
        ("predicted", Align::Right),
    ]);
    for (case, outlook) in plan.cases.iter().zip(all) {
        table.row(vec![
            case.id.clone(),
            what(case),
            words::path(&case.workload),
            grouped(u64::from(case.workload.tasks)),
            grouped(outlook.forecast.files),
            decimal_bytes(largest_phase(outlook).0),
            grouped(u64::from(case.repetitions)),
            duration(outlook.seconds),
        ]);
    }
    table
}

/// What follows from the study's own words, before anything is measured: what its limits allow, and whether devices
/// and data fit.
fn of_study(plan: &Plan) -> String {
    let mut out = String::new();
    let node = plan.terms.node.words();
    if !node.is_empty() {
        let _ = writeln!(out, "\nEach node, as the study says: {node}");
    }
    for (heading, table) in [
        (
            "Expected at most, by the study's own limits",
            analysis::Table::planned(&analysis::weakest_links(plan, &[])),
        ),
        (
            "Slots and room, by what the study says of its targets",
            analysis::Table::planned(&analysis::fits(plan)),
        ),
    ] {
        if !table.rows.is_empty() {
            let text = without_figures(&table, |target| title(plan, target)).to_text("", Colour::Plain);
            let _ = write!(out, "\n{heading}\n{text}");
        }
    }
    out
}

/// What people call a target.
fn title<'p>(plan: &'p Plan, target: &'p str) -> &'p str {
    let terms = plan.terms.targets.iter().find(|one| one.name == target);
    terms.map(|one| one.title.as_str()).filter(|title| !title.is_empty()).unwrap_or(target)
}

/// The whole plan for `--explain`: each option with its meaning, then for each case sizes in both
/// units, tasks, files, targets, bounds, the first offsets, predicted volume and seconds, space,
/// memory and what should be looked at.
#[must_use]
pub fn explain(plan: &Plan, around: &Surroundings) -> String {
    let (all, spaces) = outlooks(plan, around);
    let mut out = format!("{}\n", visible(&plan.title));
    out.push_str(&question(plan));
    for (number, (case, outlook)) in plan.cases.iter().zip(&all).enumerate().take(CASES_EXPLAINED) {
        let name =
            if case.title.is_empty() { case.id.clone() } else { format!("{}: {}", case.id, case.title) };
        let _ = write!(out, "\nCase {} of {}  {}\n", number + 1, plan.cases.len(), visible(&name));
        out.push_str(&case_lines(case, outlook, around));
        let advice: String =
            outlook.concerns.iter().map(|concern| concerns::line(plan, case, concern)).collect();
        out.push_str(&advice);
    }
    if plan.cases.len() > CASES_EXPLAINED {
        let _ = write!(out, "\n… and {} more cases\n", plan.cases.len() - CASES_EXPLAINED);
    }
    out.push_str("\nAltogether\n");
    out.push_str(&altogether(plan, &all, &spaces, around));
    out.push_str(&terms::protocol(plan));
    out.push_str(&terms::commitments(plan));
    out.push_str(&of_study(plan));
    out.push_str(&terms::repetitions(plan));
    out
}

/// `1 MiB sequential write, read`.
fn what(case: &Case) -> String {
    let mut phases: Vec<&str> = Vec::new();
    for phase in case.phases.iter().filter(|phase| phase.is_result()) {
        if !phases.contains(&phase.name()) {
            phases.push(phase.name());
        }
    }
    if !case.workload.work.is_transfers() {
        return works::what(case);
    }
    let order = words::order(&case.workload);
    format!("{} {order} {}", case.workload.geometry.transfer, phases.join(", "))
}

/// The most that one result phase moves.
fn largest_phase(outlook: &Outlook) -> Bytes {
    let results = outlook.phases.iter().filter(|phase| phase.phase.is_result());
    results.map(|phase| phase.bytes).max().unwrap_or(outlook.forecast.phase_bytes)
}

/// Who asked, and each option with its meaning.
fn question(plan: &Plan) -> String {
    match &plan.question {
        Question::Quick { directory } => {
            format!("asked by      --quick {}\n", visible(&directory.to_string_lossy()))
        }
        Question::Study { path, .. } => format!("asked by      {}\n", visible(&path.to_string_lossy())),
        Question::Import { tools, .. } => format!("printed by    {}\n", visible(&tools.join(", "))),
        Question::Dialect { arguments, notes, .. } => {
            let mut out = wrapped("asked by      ", &shell_line(arguments), COLUMNS);
            out.push('\n');
            out.push_str(&options(notes));
            out
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

fn case_lines(case: &Case, outlook: &Outlook, around: &Surroundings) -> String {
    let mut out = String::new();
    let mut line =
        |name: &str, text: String| out.push_str(&wrapped(&format!("  {name:<11} "), &text, COLUMNS));
    for (name, text) in what_lines(case, outlook, around) {
        line(name, text);
    }
    for phase in outlook.fill.iter().chain(&outlook.phases) {
        line("predicted", predicted(phase, around));
    }
    for space in &outlook.spaces {
        line("space", space_words(space));
    }
    if case.workload.work.is_transfers() {
        line("memory", memory_words(&case.workload, around.memory));
    }
    if outlook.phases.len() > 1 || case.repetitions > 1 {
        line(
            "time",
            format!(
                "{} for {}",
                duration(outlook.seconds),
                counted(u64::from(case.repetitions), "repetition")
            ),
        );
    }
    if case.workload.work.is_transfers() {
        out.push_str(&offsets::first(case));
    }
    if let Some(own) = case.workload.work.jobs() {
        out.push_str(&jobs::tables(own));
    }
    out
}

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
    let mut out = String::new();
    let mut line =
        |name: &str, text: String| out.push_str(&wrapped(&format!("  {name:<11} "), &text, COLUMNS));
    line("time", format!("about {} in {}", duration(seconds), counted(all.len() as u64, "case")));
    let (written, read) = (moved(true), moved(false));
    let moves_data = written.saturating_add(read) > 0;
    if moves_data {
        let (written, read) = (decimal_bytes(written), decimal_bytes(read));
        line("volume", format!("about {written} written, {read} read"));
    }
    for space in spaces.iter().filter(|space| space.needed.0 > 0) {
        line("space", format!("at most {}", space_words(space)));
    }
    // Names and messages are not predicted by rates of data.
    let rates = [("write rate", &around.write), ("read rate", &around.read)];
    for (name, expected) in rates.into_iter().filter(|_| moves_data) {
        let small = if expected.transfer_time.0 > 0 {
            format!(", {} for one small transfer", expected.transfer_time)
        } else {
            String::new()
        };
        line(name, format!("{}{small}: {}", rate(expected.bytes_per_second), expected.source));
    }
    line("seed", plan.seed.to_string());
    out
}
