//! How busy the devices under each figure were, as `iostat` shows it.

use analysis::figures::DeviceMean;

use super::block::{Block, Extent, only, point, which_target};
use crate::format::table::{Cell, Table};
use crate::format::{counted, megabytes, number, percent};
use crate::report::Report;
use crate::report::figure::{Figure, in_order};
use crate::report::latencies;

/// Maximum number of rows where not all are asked for.
const ROWS_MAX: usize = 24;

/// What the devices of a figure counted, each device alike.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Utilisation {
    pub(crate) devices: usize,
    /// The mean of their `%util` as a share, and the highest; `None` if it is unknown of one.
    pub(crate) busy: Option<(f64, f64)>,
    /// Of all devices together.
    bytes_per_second: f64,
    /// The mean of their `aqu-sz`.
    queue: Option<f64>,
    /// The mean of their `await`.
    wait_ns: Option<f64>,
}

/// The mean over the devices of `figure`; `None` if none was observed.
pub(crate) fn utilisation(figure: &Figure) -> Option<Utilisation> {
    let devices: Vec<&DeviceMean> = figure.devices.iter().map(|(_, one)| one).collect();
    let mean = |of: fn(&DeviceMean) -> Option<f64>| {
        let values: Option<Vec<f64>> = devices.iter().map(|one| of(one)).collect();
        values.map(|values| values.iter().sum::<f64>() / values.len() as f64)
    };
    let highest = devices.iter().filter_map(|one| one.busy_share).fold(0.0, f64::max);
    (!devices.is_empty()).then(|| Utilisation {
        devices: devices.len(),
        busy: mean(|one| one.busy_share).map(|mean| (mean, highest)),
        bytes_per_second: devices.iter().map(|one| one.moved_per_second()).sum(),
        queue: mean(|one| one.queue_requests),
        wait_ns: mean(|one| one.wait_ns),
    })
}

pub(super) fn blocks(report: &Report, extent: Extent) -> Vec<Block> {
    let all = in_order(&report.figures);
    let observed: Vec<(&Figure, Utilisation)> =
        all.into_iter().filter_map(|one| Some((one, utilisation(one)?))).collect();
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
        .right("queue", |(_, one)| one.queue.map(number))
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
