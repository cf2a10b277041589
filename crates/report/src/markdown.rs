//! A report in Markdown: for a wiki, an issue or a pull request.

use std::fmt::Write as _;

use crate::table::{Align, Table, escaped};
use crate::text;
use crate::view::Report;

/// The whole report.
pub(crate) fn markdown(report: &Report) -> String {
    let mut out = format!("# {}\n\n", escaped(&report.run.title));
    let _ = writeln!(out, "{}  ", escaped(&text::host_line(report)));
    let _ = writeln!(out, "{}\n", escaped(&text::run_line(report)));
    for line in &report.missing {
        let _ = writeln!(out, "> **{}**\n", escaped(line));
    }
    if report.figures.is_empty() {
        out.push_str("There is no finished result in this run.\n\n");
    } else {
        let _ = writeln!(out, "## Rates\n\n{}\n", escaped(&text::statistic(report)));
        let _ = writeln!(out, "{}", text::rates(report, true).without_empty_columns().to_markdown());
        out.push_str("## Latency of every transfer\n\n");
        let _ = writeln!(out, "{}", text::latencies(report).without_empty_columns().to_markdown());
    }
    let measures = text::measures(report);
    if !measures.is_empty() {
        let _ = writeln!(out, "{}\n", escaped(&measures));
    }
    let published = text::published(report);
    if !published.is_empty() {
        let _ = writeln!(out, "## Beside published figures\n\n{}", published.to_markdown());
    }
    if !report.notes.is_empty() {
        out.push_str("## Notes\n\n");
        for note in &report.notes {
            let said: Vec<String> = note
                .entries
                .iter()
                .map(|entry| format!("{}: {}", escaped(&entry.concerns), escaped(&entry.text)))
                .collect();
            let _ = writeln!(
                out,
                "- **{}** {}. *Advice: {}.*",
                note.mark,
                said.join("; "),
                escaped(&note.advice)
            );
        }
        out.push('\n');
    }
    let _ = writeln!(out, "## How it was measured\n\n{}", definitions(report).to_markdown());
    let _ = writeln!(out, "## Measure it again\n\n```\n{}\n```", report.run.command_line);
    out
}

fn definitions(report: &Report) -> Table {
    let mut table = Table::new(&[("word", Align::Left), ("meaning", Align::Left)]);
    for one in &report.definitions {
        table.row(vec![one.name.clone(), one.meaning.clone()]);
    }
    table
}
