//! The rate of each node in each second of a phase.

use std::collections::BTreeMap;
use std::ops::Range;

use record::NodeSeriesRow;

use crate::{Figure, by_name};

/// A page has room for so many rows: of more nodes, neighbours share one.
pub const HEAT_ROWS_MAX: usize = 128;
/// A page has room for so many columns: of more intervals, neighbours share one.
pub const HEAT_COLUMNS_MAX: usize = 240;

/// Nodes × time of one pass.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMap {
    /// The pass.
    pub repetition: u32,
    /// The nodes of each row, in the order of names.
    pub rows: Vec<Vec<String>>,
    /// Seconds from the phase's start to the start of each column.
    pub starts: Vec<f64>,
    /// Seconds that a column is long; the last one may be shorter.
    pub column_seconds: f64,
    /// For each row a cell for each column; none where the nodes were done, or had not begun.
    pub cells: Vec<Vec<Option<HeatCell>>>,
    /// The highest mean rate of a cell.
    pub highest: f64,
}

/// What the nodes of a row did in the time of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeatCell {
    /// Mean over the nodes of the first rate of the phase, [`Figure::headline`].
    pub rate: f64,
    /// The lowest of them: of nodes that share a row a slow one is seen here.
    pub lowest: f64,
}

/// The heat map of the last pass of `figure` that counts, by `rows` of its case; none where that has
/// rows of fewer than two nodes.
///
/// Of more than [`HEAT_ROWS_MAX`] nodes ⌈nodes ÷ [`HEAT_ROWS_MAX`]⌉ neighbours share a row, and of more
/// than [`HEAT_COLUMNS_MAX`] intervals as many neighbours share a column; a cell has bytes ÷ time, or
/// operations ÷ time, of all kinds together. A node's time is from its first to its last interval with a row; an interval
/// between them without one is a stall, at 0.
#[must_use]
pub fn heat_map(rows: &[NodeSeriesRow], figure: &Figure) -> Option<HeatMap> {
    let key = &figure.counted().last()?.phase.key;
    let rows: Vec<&NodeSeriesRow> = rows.iter().filter(|row| row.key == *key && row.length_ns > 0).collect();
    let interval = rows.iter().map(|row| row.length_ns).max()?;
    let counts = figure.rate_of();
    let mut nodes: BTreeMap<&str, Intervals> = BTreeMap::new();
    for row in rows {
        let of_node = nodes.entry(&row.node).or_default();
        let (amount, nanos) = of_node.entry(row.start_ns / interval).or_default();
        *amount += counts.pick(row.bytes, row.transfers);
        // Reads and writes of one interval have a row each, of the same length.
        *nanos = (*nanos).max(row.start_ns % interval + row.length_ns);
    }
    let mut nodes: Vec<(&str, Intervals)> = nodes.into_iter().collect();
    if nodes.len() < 2 {
        return None;
    }
    nodes.sort_by(|(a, _), (b, _)| by_name(a, b));
    let intervals = nodes.iter().filter_map(|(_, all)| all.keys().next_back()).max()?.saturating_add(1);
    let in_column = intervals.div_ceil(HEAT_COLUMNS_MAX as u64);
    let columns = intervals.div_ceil(in_column);
    let cell = |nodes: &[(&str, Intervals)], column: u64| {
        let places = column * in_column..(column + 1).saturating_mul(in_column);
        let rates = nodes.iter().filter_map(|(_, all)| rate(all, interval, &places));
        let rates: Vec<f64> = rates.collect();
        let lowest = rates.iter().copied().reduce(f64::min)?;
        Some(HeatCell { rate: rates.iter().sum::<f64>() / rates.len() as f64, lowest })
    };
    let rows = nodes.chunks(nodes.len().div_ceil(HEAT_ROWS_MAX));
    let cells: Vec<Vec<Option<HeatCell>>> =
        rows.clone().map(|nodes| (0..columns).map(|column| cell(nodes, column)).collect()).collect();
    let column_seconds = (interval * in_column) as f64 / 1e9;
    Some(HeatMap {
        repetition: key.repetition,
        rows: rows.map(|nodes| nodes.iter().map(|(name, _)| (*name).to_owned()).collect()).collect(),
        starts: (0..columns).map(|column| column as f64 * column_seconds).collect(),
        column_seconds,
        highest: cells.iter().flatten().flatten().map(|cell| cell.rate).fold(0.0, f64::max),
        cells,
    })
}

/// What a node did and for how long, by the number of the interval.
type Intervals = BTreeMap<u64, (u64, u64)>;

/// The rate of a node in the time of these intervals; none where it has none of its own there.
fn rate(all: &Intervals, interval: u64, places: &Range<u64>) -> Option<f64> {
    let (first, last) = (*all.keys().next()?, *all.keys().next_back()?);
    let own = places.start.max(first)..places.end.min(last.saturating_add(1));
    let mut stalled = own.end.checked_sub(own.start)?;
    let (mut count, mut nanos) = (0.0, 0.0);
    for (_, (amount, length)) in all.range(own) {
        (count, nanos, stalled) = (count + *amount as f64, nanos + *length as f64, stalled - 1);
    }
    let nanos = nanos + stalled as f64 * interval as f64;
    (nanos > 0.0).then(|| count / (nanos / 1e9))
}
