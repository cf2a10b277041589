//! What is compared over nodes, in the words and units of a report.

use analysis::Summary;
use plan::Phase;

use super::findings::{client, layer, number, setting};
use crate::view::nodes as view;
use crate::words;

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

/// Rates against the number of nodes, with the line and its interval at each of them.
pub(super) fn weak_scaling(one: &analysis::WeakScaling) -> view::WeakScaling {
    let line = one.line.as_ref();
    let point = |point: &analysis::ScalingPoint| {
        let at = line.map(|line| line.regression.predict(point.nodes as f64));
        view::ScalingPoint {
            figure: number(point.figure),
            nodes: point.nodes,
            bytes_per_second: point.bytes_per_second,
            transfers_per_second: point.transfers_per_second,
            n: point.repetitions,
            deviation_per_second: point.deviation,
            efficiency: point.efficiency,
            line_per_second: at.map(|at| at.value),
            line_half_width_per_second: at.and_then(|at| at.line_half_width),
        }
    };
    view::WeakScaling {
        group: one.group.clone(),
        target: one.target.clone(),
        layer: layer(one.layer),
        client: client(one.client),
        phase: one.phase.name(),
        tasks_per_node: one.tasks_per_node,
        fixed: one.fixed.iter().map(setting).collect(),
        unit: words::unit(one.phase),
        points: one.points.iter().map(point).collect(),
        slope_per_second: line.map(|line| line.slope),
        slope_half_width_per_second: line.and_then(|line| line.slope_half_width),
        intercept_per_second: line.map(|line| line.intercept),
        r_squared: line.map(|line| line.r_squared),
        extrapolated: one.extrapolated.iter().map(extrapolation).collect(),
        saturation: one.saturation.as_ref().map(saturation),
        peak_nodes: one.peak_nodes,
        reaches: one.reaches.iter().map(reach).collect(),
    }
}

fn extrapolation(one: &analysis::Extrapolation) -> view::Extrapolation {
    view::Extrapolation { nodes: one.nodes, per_second: one.rate, half_width_per_second: one.half_width }
}

fn saturation(one: &analysis::Saturation) -> view::Saturation {
    view::Saturation {
        from_nodes: one.from_nodes,
        to_nodes: one.to_nodes,
        per_second: one.rate,
        lowest_per_second: one.range.0,
        highest_per_second: one.range.1,
    }
}

fn reach(one: &analysis::Reach) -> view::Reach {
    view::Reach {
        share: one.share,
        nodes: one.nodes,
        spread_beyond: one.spread_beyond,
        variation: one.variation,
    }
}

/// Where a node-local target overtakes a shared one.
pub(super) fn crossover(one: &analysis::LayerCrossover) -> view::LayerCrossover {
    view::LayerCrossover {
        local: one.local,
        shared: one.shared,
        phase: Phase::name(one.phase),
        unit: words::unit(one.phase),
        plateau_per_second: one.plateau,
        nodes: one.nodes,
    }
}
