//! Which nodes were measured by which jobs, when, and how often.

use super::{Block, only};
use crate::format::{counted, grouped, utc};
use crate::hosts;
use crate::table::{Align, Cell, Table, Tone};
use crate::view::Report;
use crate::view::nodes::{Coverage, CoverageJob};

/// Nodes and jobs that are listed.
const ROWS_MAX: usize = 40;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let Some(coverage) = &report.findings.coverage else { return Vec::new() };
    // One job that measured all of its nodes covers them; the header names them.
    if coverage.jobs.len() < 2 && coverage.missing.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Text(sentence(report, coverage))];
    if coverage.jobs.len() > 1 {
        blocks.extend(only(&caption("Jobs", "job", coverage.jobs.len()), jobs(report, coverage)));
    }
    blocks.extend(only(
        &caption(
            "Runs of each node, and the hours of the day (UTC) in which they started",
            "node",
            coverage.nodes.len(),
        ),
        nodes(coverage),
    ));
    blocks
}

fn caption(what: &str, noun: &str, count: usize) -> String {
    if count > ROWS_MAX {
        format!("{what}; {ROWS_MAX} of {}, the JSON form has all", counted(count as u64, noun))
    } else {
        what.to_owned()
    }
}

fn sentence(report: &Report, coverage: &Coverage) -> String {
    let mut text = format!(
        "{} in {}, in {} of the day (UTC: {}).",
        counted(coverage.nodes.len() as u64, "node"),
        counted(coverage.jobs.len() as u64, "job"),
        counted(coverage.hours_utc.len() as u64, "hour"),
        hours(&coverage.hours_utc)
    );
    if !coverage.missing.is_empty() {
        let names: Vec<&str> = coverage.missing.iter().map(String::as_str).collect();
        text.push_str(&format!(" Nothing was measured on {}.", hosts::shortened(&names)));
    }
    text.push_str(match report.study.exclusive {
        Some(true) => " The study says that nobody else could use the storage.",
        Some(false) => " Storage not exclusive: others could use it meanwhile, as the study says.",
        None => " The study does not say whether others could use the storage.",
    });
    text
}

/// `02, 14–16`.
fn hours(all: &[u8]) -> String {
    let runs = all.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [first, .., last] => format!("{first:02}–{last:02}"),
        [one] => format!("{one:02}"),
        [] => String::new(),
    });
    runs.collect::<Vec<_>>().join(", ")
}

fn exclusive(report: &Report) -> Cell {
    match report.study.exclusive {
        Some(false) => Cell::toned("storage not exclusive", Tone::Doubtful),
        _ => Cell::default(),
    }
}

fn jobs(report: &Report, coverage: &Coverage) -> Table {
    let mut table = Table::new(&[
        ("started", Align::Left),
        ("job", Align::Left),
        ("nodes", Align::Right),
        ("which", Align::Left),
        ("cases", Align::Right),
        ("", Align::Left),
    ]);
    for one in coverage.jobs.iter().take(ROWS_MAX) {
        let names: Vec<&str> = one.nodes.iter().map(String::as_str).collect();
        table.row(vec![
            Cell::from(utc(one.started_unix_ns)),
            name(one).into(),
            grouped(names.len() as u64).into(),
            hosts::shortened(&names).into(),
            grouped(one.cases as u64).into(),
            exclusive(report),
        ]);
    }
    table
}

fn name(job: &CoverageJob) -> String {
    job.batch_job.clone().unwrap_or_else(|| job.run.clone())
}

fn nodes(coverage: &Coverage) -> Table {
    let mut table = Table::new(&[
        ("node", Align::Left),
        ("runs", Align::Right),
        ("cases", Align::Right),
        ("first", Align::Left),
        ("last", Align::Left),
        ("hours", Align::Left),
    ]);
    for one in coverage.nodes.iter().take(ROWS_MAX) {
        table.row(vec![
            one.node.clone(),
            grouped(one.passes as u64),
            grouped(one.cases as u64),
            utc(one.first_unix_ns),
            utc(one.last_unix_ns),
            hours(&one.hours_utc),
        ]);
    }
    for one in coverage.missing.iter().take(ROWS_MAX) {
        table.row(vec![
            one.clone(),
            "0".to_owned(),
            "0".to_owned(),
            String::new(),
            String::new(),
            String::new(),
        ]);
    }
    table
}
