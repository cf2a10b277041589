//! How busy the devices under each figure were, as `iostat` shows it.

use analysis::figures::Utilisation;

use super::block::{Block, Extent, only, point, which_target};
use crate::format::table::{Cell, Table};
use crate::format::{counted, megabytes, number, percent};
use crate::report::Report;
use crate::report::figure::{Figure, in_order};
use crate::report::latencies;

/// Maximum number of rows where not all are asked for.
const ROWS_MAX: usize = 24;

pub(super) fn blocks(report: &Report, extent: Extent) -> Vec<Block> {
    let all = in_order(&report.figures);
    let observed: Vec<(&Figure, Utilisation)> =
        all.into_iter().filter_map(|one| Some((one, Utilisation::of(&one.devices)?))).collect();
    let shown = match extent {
        Extent::Full => observed.len(),
        Extent::Limited => observed.len().min(ROWS_MAX),
        Extent::Rows(most) => observed.len().min(most),
    };
    let more = observed.len() - shown;
    let several = observed.iter().any(|(_, one)| one.devices > 1);
    let table = Table::of(observed.into_iter().take(shown))
        .right("#", |(figure, _)| Cell::figure(Some(figure.number)))
        .left("workload", |(figure, _)| figure.group.as_str())
        .left("target", |(figure, _)| which_target(report, figure))
        .left("phase", |(figure, _)| figure.phase.name())
        .left("at", |(figure, _)| point(&figure.settings))
        .right("devices", |(_, one)| several.then(|| one.devices.to_string()))
        .right("MB/s", |(_, one)| megabytes(one.bytes_per_second))
        .right("%util", |(_, one)| one.busy.map(|(mean, _)| percent(mean)))
        .right("highest", |(_, one)| one.busy.filter(|_| several).map(|(_, highest)| percent(highest)))
        .right("queue", |(_, one)| one.queue_requests.map(number))
        .right("await", |(_, one)| one.wait_ns.map(latencies::words))
        .done();
    let mut table = table.without_empty_columns();
    let constant = table.take_constant(&["workload", "target", "phase"]).join(", ");
    let caption = match constant.is_empty() {
        true => "What the devices counted while the tasks worked, mean of the repetitions".to_owned(),
        false => {
            format!("What the devices counted while the tasks worked, mean of the repetitions: {constant}")
        }
    };
    let mut blocks = only(&caption, table);
    if more > 0 && !blocks.is_empty() {
        let more = counted(more as u64, "more figure");
        blocks.push(Block::Text(format!("{more} in the JSON form.")));
    }
    blocks
}
