//! What the study says of its targets, and how they compare.

use super::{Block, only};
use crate::table::{Align, Table};
use crate::view::Report;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let mut blocks = only("What each target is, as the study says", described(report));
    blocks.extend(report.statements.blocks(report, "targets"));
    blocks
}

/// Targets of which the study says more than a name.
fn described(report: &Report) -> Table {
    let mut table = Table::new(&[
        ("target", Align::Left),
        ("stands for", Align::Left),
        ("reached by", Align::Left),
        ("client", Align::Left),
        ("devices", Align::Right),
    ]);
    for one in &report.study.targets {
        let said = [one.stands_for.as_str(), one.layer, one.client];
        if one.devices == 0 && said.iter().all(|word| word.is_empty()) {
            continue;
        }
        let [stands_for, layer, client] = said.map(str::to_owned);
        let devices = if one.devices == 0 { String::new() } else { one.devices.to_string() };
        let reached_by = match layer.as_str() {
            "node-local" => "its node".to_owned(),
            "shared" => "all nodes".to_owned(),
            _ => String::new(),
        };
        table.row(vec![one.title.clone(), stands_for, reached_by, client, devices]);
    }
    table
}
