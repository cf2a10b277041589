//! Weak scaling: what each further node brings, where it ends, and where layers meet.

use super::{Block, only, point, title};
use crate::format::{column_unit, divisor, grouped, number, percent, rate_in, rate_under, shared_unit};
use crate::table::{Align, Cell, Table, Tone};
use crate::view::Report;
use crate::view::nodes::{LayerCrossover, WeakScaling};

/// Sentences that are read.
const SENTENCES_MAX: usize = 24;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let all = &report.findings.weak_scaling;
    if all.is_empty() {
        return Vec::new();
    }
    let mut sentences: Vec<String> =
        report.findings.layer_crossovers.iter().filter_map(|one| crossover(report, one)).collect();
    sentences.extend(all.iter().filter_map(|one| sentence(report, one)));
    sentences.truncate(SENTENCES_MAX);
    let mut blocks = Vec::new();
    if !sentences.is_empty() {
        blocks.push(Block::List(sentences));
    }
    blocks.extend(only(
        "As many tasks on each node. Slope: what one more node brings, with its 95 % interval. Efficiency: rate ÷ \
         (nodes × the rate of one node), at the most nodes",
        table(report),
    ));
    blocks
        .extend(only("What the lines say of numbers of nodes that were not measured", extrapolated(report)));
    blocks
}

/// `write on GPFS, 64 tasks on each node`.
pub(crate) fn series_name(report: &Report, one: &WeakScaling) -> String {
    let mut text = one.phase.to_owned();
    let target = title(report, &one.target);
    if !target.is_empty() {
        text.push_str(&format!(" on {target}"));
    }
    text.push_str(&format!(", {} on each node", crate::format::counted(one.tasks_per_node, "task")));
    let fixed = point(&one.fixed);
    if !fixed.is_empty() {
        text.push_str(&format!(", {fixed}"));
    }
    text
}

/// `NVME is faster than GPFS, which is full at 10.0 GB/s, from 2 nodes on`.
pub(crate) fn crossover(report: &Report, one: &LayerCrossover) -> Option<String> {
    let series = &report.findings.weak_scaling;
    let (local, shared) = (series.get(one.local)?, series.get(one.shared)?);
    let (fast, slow) = (title(report, &local.target), title(report, &shared.target));
    let plateau = rate_in(one.plateau_per_second, one.unit);
    Some(match one.nodes {
        Some(nodes) => format!(
            "{}: {fast} is faster than {slow}, whose plateau is {plateau}, from {} on.",
            one.phase,
            crate::format::counted(nodes, "node")
        ),
        None => format!(
            "{}: from how many nodes on {fast} is faster than {slow}, whose plateau is {plateau}, cannot be told.",
            one.phase
        ),
    })
}

fn sentence(report: &Report, one: &WeakScaling) -> Option<String> {
    let mut parts = Vec::new();
    let last = one.points.last().map_or(0, |point| point.nodes);
    // At the last point itself such a share says nothing.
    if let Some(reach) = one.reaches.last().filter(|reach| reach.nodes < last) {
        let mut text = format!("{:.0} % of peak at {}", reach.share * 100.0, nodes(reach.nodes));
        if let Some(spread) = reach.spread_beyond {
            text.push_str(&format!("; at most {} below the peak beyond", percent(spread)));
        }
        if let Some(variation) = reach.variation {
            text.push_str(&format!("; ±{} from there on", percent(variation)));
        }
        parts.push(text);
    }
    if let Some(full) = &one.saturation {
        parts.push(format!(
            "full at {} from {} on",
            rate_in(full.per_second, one.unit),
            nodes(full.from_nodes)
        ));
    }
    (!parts.is_empty()).then(|| format!("{}: {}.", series_name(report, one), parts.join("; ")))
}

fn nodes(count: u64) -> String {
    crate::format::counted(count, "node")
}

fn table(report: &Report) -> Table {
    let unit = shared_unit(report.findings.weak_scaling.iter().map(|one| one.unit));
    let per_node = format!("per node {unit}");
    let full_at = format!("full at {unit}");
    let mut table = Table::new(&[
        ("workload", Align::Left),
        ("target", Align::Left),
        ("layer", Align::Left),
        ("phase", Align::Left),
        ("tasks/node", Align::Right),
        ("nodes", Align::Right),
        (per_node.trim_end(), Align::Right),
        ("R²", Align::Right),
        ("efficiency", Align::Right),
        (full_at.trim_end(), Align::Right),
        ("from", Align::Right),
        ("95 % at", Align::Right),
        ("at", Align::Left),
    ])
    .below("at");
    for one in &report.findings.weak_scaling {
        let (Some(first), Some(last)) = (one.points.first(), one.points.last()) else { continue };
        let shown = |value: f64| number(value / divisor(one.unit));
        let slope = one.slope_per_second.zip(one.slope_half_width_per_second);
        let slope = slope.map(|(slope, half)| {
            let slope = format!("{} ± {}", shown(slope), shown(half));
            if unit.is_empty() { format!("{slope} {}", column_unit(one.unit)) } else { slope }
        });
        let full = one.saturation.as_ref();
        table.row(vec![
            Cell::from(one.group.as_str()),
            title(report, &one.target).into(),
            one.layer.into(),
            one.phase.into(),
            grouped(one.tasks_per_node).into(),
            format!("{}–{}", first.nodes, last.nodes).into(),
            slope.unwrap_or_default().into(),
            one.r_squared.map(|share| format!("{share:.3}")).unwrap_or_default().into(),
            last.efficiency.map(|share| Cell::toned(percent(share), Tone::Main)).unwrap_or_default(),
            full.map(|full| rate_under(unit, full.per_second, one.unit)).unwrap_or_default().into(),
            full.map(|full| grouped(full.from_nodes)).unwrap_or_default().into(),
            one.reaches.last().map(|reach| grouped(reach.nodes)).unwrap_or_default().into(),
            point(&one.fixed).into(),
        ]);
    }
    table
}

fn extrapolated(report: &Report) -> Table {
    let unit = shared_unit(report.findings.weak_scaling.iter().map(|one| one.unit));
    let mut table = Table::new(&[
        ("series", Align::Left),
        ("nodes", Align::Right),
        (if unit.is_empty() { "rate" } else { unit }, Align::Right),
        ("± of one more value", Align::Right),
    ]);
    for one in &report.findings.weak_scaling {
        // A line that falls says of enough nodes that they move less than nothing.
        for more in one.extrapolated.iter().filter(|more| more.per_second > 0.0) {
            table.row(vec![
                series_name(report, one),
                grouped(more.nodes),
                rate_under(unit, more.per_second, one.unit),
                more.half_width_per_second.map(|half| rate_under(unit, half, one.unit)).unwrap_or_default(),
            ]);
        }
    }
    table
}
