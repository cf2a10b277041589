//! Values printed by other tools, with consistency checks; and the breakdown of run time.

use super::block::{Block, Extent, only};
use crate::format::table::Table;
use crate::format::{duration, percent};
use crate::report::Report;
use crate::report::printed::shown_unit;

/// Printed values and their checks.
pub(super) fn blocks(report: &Report, extent: Extent) -> Vec<Block> {
    let Some(printed) = &report.printed else { return Vec::new() };
    let mut blocks = Vec::new();
    if !printed.files.is_empty() {
        let tools = if report.run.tool.is_empty() { "other tools" } else { &report.run.tool };
        blocks.push(Block::Text(format!(
            "Read from {}, as printed by {tools}. Nothing of it was measured by ioproof.",
            printed.files.join(", ")
        )));
    }
    blocks.extend(report.statements.blocks(report, "printed", extent));
    let table = Table::of(&printed.values)
        .at_most(extent.rows())
        .left("case", |one| one.key.case.to_string())
        .left("phase", |one| one.key.phase.name())
        .left("what", |one| one.label.to_string())
        .left("statistic", |one| one.statistic.to_string())
        .right("printed", |one| one.value.to_string())
        .left("unit", |one| shown_unit(&one.value, one.number, &one.unit))
        .left("line", |one| format!("{}:{}", one.source, one.line))
        .done();
    blocks.extend(only(&format!("Every printed value, where it stands: {}", printed.counts()), table));
    blocks
}

/// The breakdown of run time, for runs with figures of operations.
pub(super) fn time(report: &Report) -> Vec<Block> {
    let Some(time) = &report.time else { return Vec::new() };
    if !report.figures.iter().any(crate::report::figure::Figure::is_operations) {
        return Vec::new();
    }
    let share = |seconds: f64| percent(seconds / time.wall_seconds);
    let parts = time.parts.iter().copied();
    let table = Table::of(parts.chain([("around them", time.unexplained_seconds().max(0.0))]))
        .left("part", |&(name, _)| name)
        .right("time", |&(_, seconds)| duration(seconds))
        .right("of the run", |&(_, seconds)| share(seconds))
        .done();
    let mut blocks =
        vec![Block::Text(format!("{time}. Around the phases: checks, preparation, observation, cleaning."))];
    blocks.extend(only("", table));
    blocks
}
