//! A report in Markdown: for a wiki, an issue or a pull request.

use std::fmt::Write as _;

use crate::format::counted;
use crate::format::escape::{markdown as inline, markdown_code, markdown_line};
use crate::format::table::Table;
use crate::inventory::beside;
use crate::report::Report;
use crate::report::origin;
use crate::section::{Block, Extent, Section, rates, sections};

/// Maximum number of rows of a table, since wikis limit the size of a page.
const ROWS_SHOWN: usize = 1_000;

/// The heading of a simulated run; empty for others.
pub(crate) fn marked(report: &Report) -> String {
    let heading = markdown_line(&report.run.heading);
    report.run.mark.as_ref().map(|_| format!("# {heading}\n\n")).unwrap_or_default()
}

/// The whole report.
pub(crate) fn markdown(report: &Report) -> String {
    let mut out = format!("# {}\n\n", markdown_line(&report.run.heading));
    if let Some(line) = origin::nodes_line(report) {
        let _ = writeln!(out, "{}  ", markdown_line(&line));
    }
    let _ = writeln!(out, "{}  ", markdown_line(&origin::host_line(report)));
    let _ = writeln!(out, "{}\n", markdown_line(&origin::run_line(report)));
    if let Some(line) = origin::model_line(report) {
        let _ = writeln!(out, "{}\n", markdown_line(&line));
    }
    for line in &report.missing {
        let _ = writeln!(out, "> **{}**\n", inline(line));
    }
    let (before, after) = sections(report, Extent::Rows(ROWS_SHOWN))
        .into_iter()
        .partition::<Vec<_>, _>(|section| section.before_figures);
    for section in before.iter().chain(&rates(report, true)).chain(&after) {
        section_markdown(&mut out, section);
    }
    if !report.notes.is_empty() {
        out.push_str("## Notes\n\n");
        for note in &report.notes {
            let said: Vec<String> = note
                .entries
                .iter()
                .map(|entry| format!("{}: {}", inline(&entry.concerns), inline(&entry.text)))
                .collect();
            let mark = if note.mark.is_empty() { String::new() } else { format!("**{}** ", note.mark) };
            let _ = writeln!(out, "- {mark}{}. *Advice: {}.*", said.join("; "), inline(&note.advice));
        }
        out.push('\n');
    }
    if !report.machines.is_empty() {
        let whose = origin::whose(report);
        let table = beside::table(&report.host, &report.machines, whose, false);
        let _ = writeln!(out, "## {} beside published machines\n\n{}", whose.title(), table.to_markdown());
    }
    let [how, again] = match origin::is_simulated(report) {
        true => ["How it was simulated", "Simulate it again"],
        false => ["How it was measured", "Measure it again"],
    };
    let _ = writeln!(out, "## {how}\n\n{}", definitions(report).to_markdown());
    let _ = writeln!(out, "## {again}\n\n{}", markdown_code(&report.run.command_line));
    out
}

/// A section with pipe tables; an overlong table is cut, with a note.
pub(crate) fn section_markdown(out: &mut String, section: &Section) {
    let _ = writeln!(out, "## {}\n", markdown_line(section.title));
    for block in &section.blocks {
        match block {
            Block::Heading { text, .. } => {
                let _ = writeln!(out, "### {}\n", markdown_line(text));
            }
            Block::Text(text) => {
                let _ = writeln!(out, "{}\n", markdown_line(text));
            }
            Block::List(lines) => {
                for line in lines {
                    let _ = writeln!(out, "- {}", markdown_line(line));
                }
                out.push('\n');
            }
            Block::Table { caption, table } => {
                if !caption.is_empty() {
                    let _ = writeln!(out, "{}\n", markdown_line(caption));
                }
                let (table, gone) = table.first(ROWS_SHOWN);
                let _ = writeln!(out, "{}", table.to_markdown());
                if gone > 0 {
                    let more = counted(gone as u64, "more row");
                    let _ = writeln!(out, "… and {more} in the CSV form of this report\n");
                }
            }
        }
    }
}

fn definitions(report: &Report) -> Table {
    Table::of(&report.definitions)
        .left("word", |one| one.name.clone())
        .left("meaning", |one| one.meaning.clone())
        .done()
}
