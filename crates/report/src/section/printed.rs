//! What other tools printed, checked against itself; and where the time of a run went.

use super::{Block, only};
use crate::format::{duration, percent};
use crate::imported::shown_unit;
use crate::table::{Align, Table};
use crate::view::Report;

/// Printed values and their checks.
pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let Some(printed) = &report.printed else { return Vec::new() };
    let mut blocks = Vec::new();
    if !printed.files.is_empty() {
        let tools = if report.run.tool.is_empty() { "other tools" } else { &report.run.tool };
        blocks.push(Block::Text(format!(
            "Read from {}, as printed by {tools}. Nothing of it was measured by ioproof.",
            printed.files.join(", ")
        )));
    }
    blocks.extend(report.statements.blocks(report, "printed"));
    let mut table = Table::new(&[
        ("case", Align::Left),
        ("phase", Align::Left),
        ("what", Align::Left),
        ("statistic", Align::Left),
        ("printed", Align::Right),
        ("unit", Align::Left),
        ("line", Align::Left),
    ]);
    for one in &printed.values {
        table.row(vec![
            one.case.clone(),
            one.phase.to_owned(),
            one.label.clone(),
            one.statistic.clone(),
            one.value.clone(),
            shown_unit(&one.value, one.number, &one.unit).to_owned(),
            format!("{}:{}", one.source, one.line),
        ]);
    }
    blocks.extend(only("Every printed value, where it stands", table));
    blocks
}

/// Where the time of a run of operations went, whose tools print no more than rates.
pub(super) fn time(report: &Report) -> Vec<Block> {
    let Some(time) = &report.time else { return Vec::new() };
    if !report.figures.iter().any(crate::view::Figure::is_operations) {
        return Vec::new();
    }
    let share = |seconds: f64| percent(seconds / time.wall_seconds);
    let mut table =
        Table::new(&[("part", Align::Left), ("time", Align::Right), ("of the run", Align::Right)]);
    for one in &time.parts {
        table.row(vec![one.name.clone(), duration(one.seconds), share(one.seconds)]);
    }
    table.row(vec![
        "around them".to_owned(),
        duration(time.unexplained_seconds.max(0.0)),
        share(time.unexplained_seconds.max(0.0)),
    ]);
    let mut blocks = vec![Block::Text(format!(
        "{}. Around the phases: checks, preparation, observation, cleaning.",
        time.words
    ))];
    blocks.extend(only("", table));
    blocks
}
