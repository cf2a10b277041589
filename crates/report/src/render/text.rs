//! A run for a terminal: its card with the figures and their doubts, or all tables.

use std::fmt::Write as _;

use plan::visible;

use crate::format::counted;
use crate::format::screen::{COLUMNS, Screen};
use crate::format::table::{width, wrapped};
use crate::inventory::beside;
use crate::report::Report;
use crate::report::causes::Cause;
use crate::report::notes::Note;
use crate::report::origin;
use crate::section::{Block, Extent, Section, rates, section, sections};
use crate::summary::card::Card;

/// Limits of the short form: lines about missing parts, causes of doubt, figures, rows of any other table, and lines of
/// a list.
const MISSING_SHOWN: usize = 3;
const CAUSES_SHOWN: usize = 6;
const FIGURES_SHOWN: usize = 64;
const ROWS_SHOWN: usize = 24;
const LINES_SHOWN: usize = 12;
/// Limits of the full form, in which a table that nobody would read in a terminal is cut: rows of figures, rows of any
/// other table but commitments, claims and scores, and lines of a list.
const FULL_FIGURES: usize = 100;
const FULL_ROWS: usize = 24;
const FULL_LINES: usize = 60;

/// The card, the remaining figures, and the doubts.
pub(crate) fn text(report: &Report, screen: Screen) -> String {
    let card = Card::of(report);
    let mut out = heading(report, screen);
    card.circumstances.iter().for_each(|line| out.push_str(&folded(line, screen)));
    for line in report.missing.iter().take(MISSING_SHOWN) {
        out.push_str(&screen.warning(&wrapped("! ", line, screen.prose())));
    }
    rest(&mut out, report.missing.len().saturating_sub(MISSING_SHOWN), "line");
    out.push('\n');
    let first: Vec<Block> = card.blocks().cloned().collect();
    blocks_text(&mut out, &first, screen);
    let others = card.others(report);
    if !others.is_empty() {
        let _ = writeln!(out, "{}{}", if first.is_empty() { "" } else { "\n" }, screen.strong("Figures"));
        blocks_upto(&mut out, &others, screen, LINES_SHOWN, FIGURES_SHOWN);
    }
    // Sections that belong to the answer of certain runs.
    let printed = origin::is_imported(report).then_some("printed");
    let jobs = (report.run.tool == plan::randomops::TOOL).then_some("jobs");
    let asked = jobs.into_iter().chain(printed);
    let asked = asked.filter_map(|id| section(report, id, Extent::Rows(ROWS_SHOWN)));
    asked.for_each(|section| section_upto(&mut out, &section, screen, LINES_SHOWN, ROWS_SHOWN));
    let above = out.lines().count();
    out.push('\n');
    out.push_str(&doubts(&card.causes, report.figures.len(), above, screen));
    out
}

/// The causes of doubt, in at most `most` lines but for those that disqualify figures: of those that do not fit only the
/// names, then what was observed besides.
fn doubts(causes: &[Cause], figures: usize, most: usize, screen: Screen) -> String {
    let (observed, doubts): (Vec<&Cause>, Vec<&Cause>) =
        causes.iter().partition(|cause| cause.is_observation());
    let mut out = String::new();
    if doubts.is_empty() && figures > 0 {
        out.push_str("The audit found nothing against these figures.\n");
    }
    let (mut used, mut named) = (0, Vec::new());
    for (place, cause) in doubts.into_iter().enumerate() {
        let first = format!("{:<2} ", cause.mark);
        let text = wrapped(&first, &cause.sentence(figures), screen.prose());
        let lines = text.lines().count();
        // What disqualifies figures is said whole.
        let has_room = cause.disqualifies || named.is_empty() && used + lines <= most;
        if place == 0 || has_room && place < CAUSES_SHOWN {
            used += lines;
            out.push_str(&screen.warning(&text));
        } else {
            named.push(format!("{} {}", cause.mark, cause.named(figures)).trim_start().to_owned());
        }
    }
    if !named.is_empty() {
        let line = wrapped("   ", &format!("{}; all in the full report", named.join("; ")), screen.prose());
        out.push_str(&screen.warning(&line));
    }
    let observed: Vec<String> = observed.into_iter().map(|one| one.named(figures)).collect();
    if !observed.is_empty() {
        let line = format!("Observed, marks comparisons only: {} (`ioproof check`)", observed.join("; "));
        out.push_str(&wrapped("", &line, screen.prose()));
    }
    out
}

/// The title, and above it the mark of a simulated run.
pub(crate) fn heading(report: &Report, screen: Screen) -> String {
    let line = |line: &str| format!("{}\n", screen.strong(line));
    let mark = report.run.mark.as_ref();
    let mark = mark.map(|mark| wrapped("", &format!("{mark}, not measured"), screen.prose()));
    let mark: String = mark.iter().flat_map(|mark| mark.lines()).map(line).collect();
    mark + &line(&report.run.title)
}

/// All tables.
pub(crate) fn whole(report: &Report, screen: Screen) -> String {
    let mut out = heading(report, screen) + &head(report, screen);
    for line in &report.missing {
        out.push_str(&screen.warning(&wrapped("! ", line, screen.prose())));
    }
    let (before, after) =
        sections(report, Extent::Full).into_iter().partition::<Vec<_>, _>(|section| section.before_figures);
    let rates = rates(report, false);
    let sections = before.iter().chain(&rates).chain(&after);
    // Rows of a narrow terminal take several lines.
    let narrow = if screen.columns() < COLUMNS { 2 } else { 1 };
    for section in sections {
        let rows = match section.id {
            "summary" | "claims" | "scores" => usize::MAX,
            "rates" | "latencies" => FULL_FIGURES / narrow,
            _ => FULL_ROWS / narrow,
        };
        section_upto(&mut out, section, screen, FULL_LINES, rows);
    }
    if !report.machines.is_empty() {
        let whose = origin::whose(report);
        let heading = format!("{} beside published machines", whose.title());
        let _ = writeln!(out, "\n{}", screen.strong(&heading));
        out.push_str(&beside::table(&report.host, &report.machines, whose, true).to_text("", screen));
    }
    if !report.notes.is_empty() {
        let _ = writeln!(out, "\n{}", screen.strong("Notes"));
    }
    for note in &report.notes {
        out.push_str(&screen.warning(&note_lines(note, screen)));
        out.push_str(&wrapped("    advice: ", &note.advice, screen.prose()));
    }
    out
}

/// A section for a terminal, uncut.
pub(crate) fn section_whole(section: &Section, screen: Screen) -> String {
    let mut out = String::new();
    section_upto(&mut out, section, screen, usize::MAX, usize::MAX);
    out
}

fn section_upto(out: &mut String, section: &Section, screen: Screen, lines_max: usize, rows_max: usize) {
    let _ = writeln!(out, "\n{}", screen.strong(section.title));
    blocks_upto(out, &section.blocks, screen, lines_max, rows_max);
}

/// All of `blocks`.
pub(crate) fn blocks_text(out: &mut String, blocks: &[Block], screen: Screen) {
    blocks_upto(out, blocks, screen, usize::MAX, usize::MAX);
}

fn blocks_upto(out: &mut String, blocks: &[Block], screen: Screen, lines_max: usize, rows_max: usize) {
    let mut after_table = false;
    for block in blocks {
        let is_table = matches!(block, Block::Table { .. });
        if std::mem::replace(&mut after_table, is_table) && is_table {
            out.push('\n');
        }
        match block {
            Block::Heading { text, .. } => {
                let _ = writeln!(out, "\n{}", screen.strong(text));
            }
            Block::Text(text) => out.push_str(&wrapped("", text, screen.prose())),
            Block::List(lines) => {
                for line in lines.iter().take(lines_max) {
                    out.push_str(&wrapped("  · ", line, screen.prose()));
                }
                rest(out, lines.len().saturating_sub(lines_max), "line");
            }
            Block::Table { caption, table } => {
                if !caption.is_empty() {
                    out.push_str(&wrapped("", caption, screen.prose()));
                }
                let (table, gone) = table.first(rows_max);
                out.push_str(&table.to_text("", screen));
                rest(out, gone, "row");
            }
        }
    }
}

/// A line about `count` omitted lines or rows.
fn rest(out: &mut String, count: usize, noun: &str) {
    if count > 0 {
        let more = counted(count as u64, &format!("more {noun}"));
        let _ = writeln!(out, "  … and {more} in the CSV and JSON forms of this report");
    }
}

/// The lines of a note.
fn note_lines(note: &Note, screen: Screen) -> String {
    let mut out = String::new();
    for (index, entry) in note.entries.iter().enumerate() {
        let first = if index == 0 { format!("{:>2}  ", note.mark) } else { "    ".to_owned() };
        out.push_str(&wrapped(&first, &format!("{}: {}", entry.concerns, entry.text), screen.prose()));
    }
    out
}

/// The run in a few lines: host, time, state, seed.
fn head(report: &Report, screen: Screen) -> String {
    let mut out = origin::nodes_line(report).map(|line| folded(&line, screen)).unwrap_or_default();
    out.push_str(&folded(&origin::host_line(report), screen));
    out.push_str(&folded(&origin::run_line(report), screen));
    out.extend(origin::model_line(report).map(|line| folded(&line, screen)));
    out
}

/// Folds a line between its parts; within one only if it is longer than a line.
fn folded(line: &str, screen: Screen) -> String {
    let mut out = String::new();
    let mut used = 0;
    for part in visible(line).split(" · ") {
        if used > 0 && used + 3 + width(part) > screen.prose() {
            out.push('\n');
            used = 0;
        }
        if used > 0 {
            out.push_str(" · ");
            used += 3;
        }
        if width(part) > screen.prose() {
            let lines = wrapped("", part, screen.prose());
            let lines = lines.trim_end_matches('\n');
            used = width(lines.rsplit('\n').next().unwrap_or_default());
            out.push_str(lines);
            continue;
        }
        out.push_str(part);
        used += width(part);
    }
    out.push('\n');
    out
}
