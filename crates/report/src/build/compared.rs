//! What is compared over nodes, in the words and units of a report.

use super::findings::{number, setting};
use crate::view::nodes as view;
use crate::words;
use analysis::Summary;

fn average(summary: &Summary) -> view::Average {
    view::Average {
        mean_per_second: summary.mean,
        median_per_second: summary.median,
        deviation_per_second: (summary.n > 1).then_some(summary.deviation_sample),
        variation: (summary.n > 1).then_some(summary.variation),
        n: summary.n,
    }
}

fn device((name, mean): &(String, analysis::DeviceMean)) -> view::NodeDevice {
    view::NodeDevice {
        device: name.clone(),
        read_bytes_per_second: mean.read_bytes_per_second,
        write_bytes_per_second: mean.write_bytes_per_second,
    }
}

/// The nodes of one figure.
pub(super) fn comparison(one: &analysis::NodeComparison) -> view::NodeComparison {
    let counts = analysis::RateOf::phase(one.phase);
    let rate_of = |node: &analysis::NodeStanding| match counts {
        analysis::RateOf::Bytes => node.bytes_per_second,
        analysis::RateOf::Operations => node.transfers_per_second,
    };
    let standing = |one: &analysis::NodeStanding| view::NodeStanding {
        node: one.node.clone(),
        tasks: one.tasks,
        rate: average(&rate_of(one)),
        transfers_per_second: one.transfers_per_second.median,
        share: one.share,
        z: one.z,
        slow: one.slow,
        devices: one.devices.iter().map(device).collect(),
    };
    view::NodeComparison {
        figure: number(one.figure),
        target: one.target.clone(),
        phase: one.phase.name(),
        together: one.together,
        unit: words::unit(one.phase),
        nodes: one.nodes.iter().map(standing).collect(),
        missing: one.missing.clone(),
        average: average(match counts {
            analysis::RateOf::Bytes => &one.bytes_per_second,
            analysis::RateOf::Operations => &one.transfers_per_second,
        }),
        bound: one.bound.as_ref().map(bound),
    }
}

fn bound(one: &analysis::CollectiveBound) -> view::CollectiveBound {
    view::CollectiveBound {
        slowest: one.slowest.name.clone(),
        slowest_per_second: one.slowest.rate,
        bound_per_second: one.slowest.bound,
        device: one.device.as_ref().map(device),
        measured_per_second: one.measured,
        share: one.share,
        lost_per_second: one.lost,
    }
}

/// A workload on several targets, by node.
pub(super) fn grid(one: &analysis::NodeGrid) -> view::NodeGrid {
    let cell = |one: &analysis::NodeCell| view::NodeGridCell {
        figure: number(one.figure),
        rate: average(&one.rate),
        slow: one.slow,
    };
    let row = |(node, cells): (&String, &Vec<Option<analysis::NodeCell>>)| view::NodeGridRow {
        node: node.clone(),
        cells: cells.iter().map(|one| one.as_ref().map(cell)).collect(),
    };
    view::NodeGrid {
        group: one.group.clone(),
        phase: one.phase.name(),
        settings: one.settings.iter().map(setting).collect(),
        unit: words::unit(one.phase),
        targets: one.targets.clone(),
        rows: one.nodes.iter().zip(&one.cells).map(row).collect(),
        averages: one.averages.iter().map(|one| one.as_ref().map(average)).collect(),
    }
}
