//! The tables of a run for a terminal: at most 120 columns, no colour unless asked.

use std::borrow::Cow;
use std::fmt::Write as _;

use analysis::ShownIn;
use plan::visible;

use crate::chosen::Chosen;
use crate::escape;
use crate::format::{
    NOT_OBSERVED, counted, duration, grouped, mebibytes, megabytes, number, percent, utc, whole,
};
use crate::inventory::beside;
use crate::latencies::{self, LatencyInfo, RESPONSE_FROM_START};
use crate::section::{Block, Section, sections, unnamed, which_target};
use crate::table::{Align, Table, Tone, width, wrapped};
use crate::view::{Figure, Note, Report, RunInfo, Spread};

/// Columns that prose is folded to; tables may be wider, up to 120.
const COLUMNS: usize = 100;

/// Texts of one note that a terminal shows.
const ENTRIES_SHOWN: usize = 12;

/// Rows of one table and lines of one list that a terminal shows.
const ROWS_SHOWN: usize = 24;
const LINES_SHOWN: usize = 12;

/// What [`Colour::Ansi`] writes.
const CODES: [&str; 5] = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m"];

/// How a terminal shows the parts that stand out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Colour {
    /// No escape codes at all: for files, pipes and `NO_COLOR`.
    #[default]
    Plain,
    /// Bold headings, yellow warnings.
    Ansi,
}

impl Colour {
    /// What of `text` may go to a terminal: its lines, its tabs and the colours of a report, where there are any. Every
    /// other control character and whatever else cannot be seen is written out, as `\\u{1b}`.
    #[must_use]
    pub fn safe(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Plain => escape::terminal(text, &[]),
            Self::Ansi => escape::terminal(text, &CODES),
        }
    }

    /// A heading: one line.
    pub(crate) fn strong(self, text: &str) -> String {
        self.wrap("1", &visible(text))
    }

    pub(crate) fn warning(self, text: &str) -> String {
        self.wrap("33", text)
    }

    /// The text of a cell that stands out; its words say the same without colour.
    pub(crate) fn tone(self, tone: Tone, text: &str) -> String {
        match tone {
            Tone::Plain => text.to_owned(),
            Tone::Main => self.wrap("1", text),
            Tone::Good => self.wrap("32", text),
            Tone::Bad => self.wrap("31", text),
            Tone::Doubtful => self.wrap("33", text),
        }
    }

    fn wrap(self, code: &str, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Ansi => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }
}

/// All tables.
pub(crate) fn text(report: &Report, colour: Colour) -> String {
    let mut out = String::new();
    let heading = |text: &str| colour.strong(text);
    let _ = writeln!(out, "{}", colour.strong(&report.run.title));
    out.push_str(&head(report));
    for line in &report.missing {
        out.push_str(&colour.warning(&wrapped("! ", line, COLUMNS)));
    }
    let sections = sections(report);
    let (before, after): (Vec<&Section>, Vec<&Section>) =
        sections.iter().partition(|section| section.before_figures);
    for section in before {
        section_text(&mut out, section, colour);
    }
    if report.figures.is_empty() {
        out.push_str("\nThere is no finished result in this run.\n");
    } else {
        let chosen = Chosen::of(report);
        let figures = chosen.figures(report);
        let transfers = of_transfers(&figures);
        if !transfers.is_empty() {
            let _ = writeln!(out, "\n{}", heading("Rates"));
            out.push_str(&wrapped("", &statistic(report), COLUMNS));
            if let Some(left_out) = chosen.left_out() {
                out.push_str(&wrapped("", &left_out, COLUMNS));
            }
            out.push_str(&rates(report, &transfers, false).without_empty_columns().to_text("", colour));
        }
        let latencies = latency_table(report, &figures);
        if !latencies.is_empty() {
            let _ = writeln!(out, "\n{}", heading(latency_heading(report)));
            out.push_str(&latencies.without_empty_columns().to_text("", colour));
        }
        let measures = measures(report);
        if !measures.is_empty() {
            out.push_str(&wrapped("", &measures, COLUMNS));
        }
    }
    for section in after {
        section_text(&mut out, section, colour);
    }
    if !report.machines.is_empty() {
        let _ = writeln!(out, "\n{}", heading("The host beside published machines"));
        out.push_str(&beside::table(&report.host, &report.machines, true).to_text("", colour));
    }
    if !report.notes.is_empty() {
        let _ = writeln!(out, "\n{}", heading("Notes"));
    }
    for note in &report.notes {
        out.push_str(&colour.warning(&note_lines(note)));
        out.push_str(&wrapped("    advice: ", &note.advice, COLUMNS));
    }
    out
}

/// A section for a terminal: long tables and lists are cut, and say so.
pub(crate) fn section_text(out: &mut String, section: &Section, colour: Colour) {
    section_upto(out, section, colour, LINES_SHOWN, ROWS_SHOWN);
}

/// A section for a terminal with all that it says.
pub(crate) fn section_whole(section: &Section, colour: Colour) -> String {
    let mut out = String::new();
    section_upto(&mut out, section, colour, usize::MAX, usize::MAX);
    out
}

fn section_upto(out: &mut String, section: &Section, colour: Colour, lines_max: usize, rows_max: usize) {
    let _ = writeln!(out, "\n{}", colour.strong(section.title));
    for block in &section.blocks {
        match block {
            Block::Heading { text, .. } => {
                let _ = writeln!(out, "\n{}", colour.strong(text));
            }
            Block::Text(text) => out.push_str(&wrapped("", text, COLUMNS)),
            Block::List(lines) => {
                for line in lines.iter().take(lines_max) {
                    out.push_str(&wrapped("  · ", line, COLUMNS));
                }
                rest(out, lines.len().saturating_sub(lines_max), "line");
            }
            Block::Table { caption, table } => {
                if !caption.is_empty() {
                    out.push_str(&wrapped("", caption, COLUMNS));
                }
                let mut table = table.clone();
                let gone = table.cut(rows_max);
                out.push_str(&table.to_text("", colour));
                rest(out, gone, "row");
            }
        }
    }
}

/// How much a terminal does not show.
fn rest(out: &mut String, count: usize, noun: &str) {
    if count > 0 {
        let more = counted(count as u64, &format!("more {noun}"));
        let _ = writeln!(out, "  … and {more} in the other forms of this report (html, markdown, csv, json)");
    }
}

/// What a note says, line by line; a sweep may say it of hundreds of figures.
fn note_lines(note: &Note) -> String {
    let mut out = String::new();
    for (index, entry) in note.entries.iter().take(ENTRIES_SHOWN).enumerate() {
        let first = if index == 0 { format!("{:>2}  ", note.mark) } else { "    ".to_owned() };
        out.push_str(&wrapped(&first, &format!("{}: {}", entry.concerns, entry.text), COLUMNS));
    }
    let rest = note.entries.len().saturating_sub(ENTRIES_SHOWN);
    if rest > 0 {
        out.push_str(&format!("    and {} more in the other forms of this report\n", grouped(rest as u64)));
    }
    out
}

/// The run in a few lines: host, time, state, seed.
pub(crate) fn head(report: &Report) -> String {
    let mut out = nodes_line(report).map(|line| folded(&line)).unwrap_or_default();
    out.push_str(&folded(&host_line(report)));
    out.push_str(&folded(&run_line(report)));
    out
}

/// Folds a line between its parts, not within one.
fn folded(line: &str) -> String {
    let mut out = String::new();
    let mut used = 0;
    for part in visible(line).split(" · ") {
        if used > 0 && used + 3 + width(part) > COLUMNS {
            out.push('\n');
            used = 0;
        }
        if used > 0 {
            out.push_str(" · ");
            used += 3;
        }
        out.push_str(part);
        used += width(part);
    }
    out.push('\n');
    out
}

/// The nodes, where they are several, and in what they differ.
pub(crate) fn nodes_line(report: &Report) -> Option<String> {
    let cluster = report.cluster.as_ref()?;
    let mut line = crate::section::nodes_line(cluster);
    if !cluster.differences.is_empty() {
        let facts: Vec<&str> = cluster.differences.iter().map(|one| one.fact.as_str()).collect();
        let _ = write!(line, " · not the same: {}", facts.join(", "));
    }
    Some(line)
}

/// Node, system, processors, memory; what is not known is left to the host section.
pub(crate) fn host_line(report: &Report) -> String {
    let host = &report.host;
    let several = report.cluster.as_ref().is_some_and(|cluster| cluster.nodes.len() > 1);
    let mut parts = vec![match (several, is_imported(report) && host.node == UNKNOWN_NODE) {
        (true, _) => format!("first node {}", host.node),
        (false, true) => "on a host that is not printed".to_owned(),
        (false, false) => host.node.clone(),
    }];
    parts.extend(host.operating_system.known().cloned());
    parts.extend(
        host.kernel.known().map(|kernel| kernel.split_whitespace().next().unwrap_or_default().to_owned()),
    );
    let cpus = host.usable_cpus;
    // Of an imported run nothing of this is known.
    if cpus > 0 {
        parts.push(match host.cpu_model.known() {
            Some(model) => format!("{cpus} × {model}"),
            None => format!("{cpus} processors"),
        });
        parts.push(format!("{} memory", plan::Bytes(host.memory_bytes)));
    }
    parts.join(" · ")
}

/// The name of a host that no imported text names.
pub(crate) const UNKNOWN_NODE: &str = "unknown";

fn is_imported(report: &Report) -> bool {
    report.run.provenance == "imported"
}

/// When, how long, by which program, with which seed; of an imported run first where it is from.
pub(crate) fn run_line(report: &Report) -> String {
    let run = &report.run;
    let (when, origin, program) = (when(report), origin(report), &run.program_version);
    let state = format!("run {} ({})", run.id, run.state);
    if is_imported(report) {
        return format!("{origin} by ioproof {program} · {when} · {state}");
    }
    format!("{when} · {origin} by ioproof {program} · seed {} · {state}", run.seed)
}

fn several_files(report: &Report) -> bool {
    report.printed.as_ref().is_some_and(|printed| printed.files.len() > 1)
}

/// When the run was, and how long it took, as far as that is known.
pub(crate) fn when(report: &Report) -> String {
    let run = &report.run;
    let started = utc(run.started_unix_ns);
    let took = took(report).map(|took| format!(", took {took}")).unwrap_or_default();
    match (is_imported(report), run.undated) {
        (true, true) => format!("when it was measured is not printed; imported {started}"),
        (true, false) => match (several_files(report), run.finished_unix_ns) {
            (true, Some(finished)) => format!("measured from {started} to {}", utc(finished)),
            _ => format!("measured {started}{took}"),
        },
        (false, _) => format!("{started}{took}{}", paused(&report.run).unwrap_or_default()),
    }
}

/// `measured`; of an imported run the files that it is from and what printed them.
pub(crate) fn origin(report: &Report) -> String {
    let files = report.printed.as_ref().map(|printed| printed.files.as_slice()).unwrap_or_default();
    match (report.run.provenance, files) {
        ("imported", [_, ..]) => format!("imported from {} ({})", files.join(", "), report.run.tool),
        (provenance, _) => provenance.to_owned(),
    }
}

/// How long the run took, where its end is known. Tools print whole seconds: below one nothing is known.
fn took(report: &Report) -> Option<String> {
    let nanos = report.run.finished_unix_ns?.checked_sub(report.run.started_unix_ns)?;
    let seconds = nanos as f64 / 1e9;
    match is_imported(report) {
        true => (seconds >= 1.0).then(|| format!("about {}", duration(seconds))),
        false => Some(duration(seconds)),
    }
}

/// `; it did not run for 6 min 3 s of them: killed, resumed once`.
fn paused(run: &RunInfo) -> Option<String> {
    let killed = if run.killed > 0 { "killed" } else { "interrupted" };
    let times = match run.resumed {
        0 => return None,
        1 => "once".to_owned(),
        n => format!("{n} times"),
    };
    let paused = duration(run.paused_ns as f64 / 1e9);
    Some(format!("; it did not run for {paused} of them: {killed}, resumed {times}"))
}

/// What the numbers are of: said once where all figures agree.
pub(crate) fn statistic(report: &Report) -> String {
    let repeated = report.figures.iter().any(|figure| figure.counted() > 1);
    let mut text = if repeated { "Median of n repetitions" } else { "One repetition of each" }.to_owned();
    match one_rate(report) {
        Some(name) => {
            let _ = write!(text, ", {name}.");
        }
        None => text.push_str(", by the rate that stands in each row."),
    }
    if let Some(confidence) = confidence(report) {
        let _ = write!(text, " Interval: {confidence}.");
    }
    text.push_str(" MB = 10⁶ bytes, MiB = 2²⁰ bytes. Device: bytes that the devices moved ÷ bytes that the tasks moved.");
    text
}

/// The name of the rate, where it is the same for all figures.
fn one_rate(report: &Report) -> Option<&'static str> {
    let first = report.figures.first()?.rate;
    report.figures.iter().all(|figure| figure.rate == first).then_some(first)
}

/// The confidence of the intervals, where there are any.
pub(crate) fn confidence(report: &Report) -> Option<String> {
    let transfers = report.figures.iter().filter(|figure| !figure.is_operations());
    let spreads = transfers.filter_map(|figure| figure.bytes_per_second.confidence);
    let least = spreads.fold(f64::INFINITY, f64::min);
    least.is_finite().then(|| format!("of the median, in MB/s, at {} confidence or more", percent(least)))
}

/// Those whose rates are of bytes; the others have sections of their own.
pub(crate) fn of_transfers<'a>(figures: &[&'a Figure]) -> Vec<&'a Figure> {
    figures.iter().copied().filter(|figure| !figure.is_operations()).collect()
}

/// What the latencies are of.
pub(crate) fn latency_heading(report: &Report) -> &'static str {
    if report.figures.iter().any(Figure::is_operations) {
        "Latency of every operation"
    } else {
        "Latency of every transfer"
    }
}

/// The table of rates; `long` names all conditions in one column.
pub(crate) fn rates(report: &Report, figures: &[&Figure], long: bool) -> Table {
    let same_rate = one_rate(report).is_some();
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("target", Align::Left),
        (if long { "conditions" } else { "what" }, Align::Left),
        ("path", Align::Left),
        ("tasks", Align::Right),
        ("MB/s", Align::Right),
        ("MiB/s", Align::Right),
        ("IOPS", Align::Right),
        ("n", Align::Right),
        ("interval", Align::Right),
        ("device", Align::Right),
        ("rate", Align::Left),
        ("notes", Align::Left),
        ("at", Align::Left),
    ])
    .below("at");
    for figure in figures {
        let [what, path, tasks] = if long {
            [figure.conditions.clone(), String::new(), String::new()]
        } else {
            [figure.what.clone(), figure.path.clone(), grouped(u64::from(figure.tasks))]
        };
        table.row(vec![
            figure.number.to_string(),
            which_target(report, figure).to_owned(),
            what,
            path,
            tasks,
            megabytes(figure.bytes_per_second.median),
            mebibytes(figure.bytes_per_second.median),
            iops(figure.transfers_per_second.median),
            figure.counted().to_string(),
            interval(&figure.bytes_per_second),
            share(figure.device_share),
            if same_rate { String::new() } else { figure.rate.to_owned() },
            marks(figure),
            unnamed(figure),
        ]);
    }
    table
}

/// The table of latencies: one row for each figure and direction.
pub(crate) fn latency_table(report: &Report, figures: &[&Figure]) -> Table {
    let of = if figures.iter().any(|figure| figure.is_operations()) { "operations" } else { "transfers" };
    let before = [
        ("#", Align::Right),
        ("target", Align::Left),
        ("what", Align::Left),
        ("path", Align::Left),
        ("tasks", Align::Right),
        ("of", Align::Left),
    ];
    let after = [(of, Align::Right), ("at", Align::Left)];
    let mut table = Table::new(&latencies::columns(&before, ShownIn::Latencies, &after)).below("at");
    for figure in figures {
        let several = figure.latency.len() > 1;
        for one in &figure.latency {
            table.row(latency_row(which_target(report, figure), figure, one, several));
        }
    }
    table
}

fn latency_row(target: &str, figure: &Figure, one: &LatencyInfo, several: bool) -> Vec<String> {
    let service = if one.measure == "service" { " svc" } else { "" };
    let of = if several { format!("{}s{service}", one.operation) } else { String::new() };
    let mut row =
        vec![figure.number.to_string(), target.to_owned(), figure.what.clone(), figure.path.clone()];
    row.push(grouped(u64::from(figure.tasks)));
    row.push(of);
    row.extend(latencies::cells(Some(one), ShownIn::Latencies));
    row.push(grouped(one.transfers));
    row.push(unnamed(figure));
    row
}

/// What response and service times are counted from, where the table shows both.
pub(crate) fn measures(report: &Report) -> String {
    let all = || report.figures.iter().flat_map(|figure| &figure.latency);
    let find = |measure: &str| all().find(|one| one.measure == measure).map(|one| one.counted_from);
    let open_loop = all().find(|one| one.counted_from != RESPONSE_FROM_START).map(|one| one.counted_from);
    match (find("service"), open_loop) {
        (Some(service), Some(response)) => {
            format!("svc: service time, counted {service}; the same transfers without it: {response}.")
        }
        _ => String::new(),
    }
}

/// Transfers per second: whole from 100 on.
pub(crate) fn iops(per_second: f64) -> String {
    if per_second.is_finite() && per_second >= 99.95 {
        grouped(whole(per_second))
    } else {
        number(per_second)
    }
}

/// The ends of an interval in MB/s: `811.2 – 815.0`.
pub(crate) fn interval(spread: &Spread) -> String {
    match (spread.interval_low, spread.interval_high) {
        (Some(low), Some(high)) => format!("{} – {}", megabytes(low), megabytes(high)),
        _ => String::new(),
    }
}

/// A share of device bytes, two places.
pub(crate) fn share(share: Option<f64>) -> String {
    share.map_or_else(|| NOT_OBSERVED.to_owned(), |share| format!("{share:.2}"))
}

/// `imported a b, cached, too short`: footnotes, and the checks of the audit that doubt it.
pub(crate) fn marks(figure: &Figure) -> String {
    let imported = (figure.provenance == "imported").then_some("imported");
    let notes =
        imported.into_iter().chain(figure.notes.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
    let parts = std::iter::once(notes.as_str()).chain(figure.doubts.iter().copied());
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}
