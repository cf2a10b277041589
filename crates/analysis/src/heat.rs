//! The rate of each node in each second of a phase.

use std::collections::HashMap;

use record::NodeSeriesRow;

use crate::{Figure, RateOf, by_name};

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
    let mut nodes: Vec<Node<'_>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for row in rows {
        let place = *places.entry(&row.node).or_insert_with(|| {
            nodes.push(Node { name: &row.node, intervals: HashMap::new() });
            nodes.len() - 1
        });
        let amount = nodes[place].intervals.entry(row.start_ns / interval).or_default();
        amount.count += match counts {
            RateOf::Bytes => row.bytes,
            RateOf::Operations => row.transfers,
        };
        // Reads and writes of one interval have a row each, of the same length.
        amount.nanos = amount.nanos.max(row.start_ns % interval + row.length_ns);
    }
    if nodes.len() < 2 {
        return None;
    }
    nodes.sort_by(|a, b| by_name(a.name, b.name));
    let intervals = nodes.iter().filter_map(|node| node.intervals.keys().max()).max()?.saturating_add(1);
    let columns_max = HEAT_COLUMNS_MAX as u64;
    let in_column = intervals.div_ceil(columns_max).max(1);
    let columns = intervals.div_ceil(in_column);
    let in_row = nodes.len().div_ceil(HEAT_ROWS_MAX).max(1);
    let binned: Vec<Vec<Option<f64>>> =
        nodes.iter().map(|node| node.columns(interval, in_column, columns)).collect();
    let cells: Vec<Vec<Option<HeatCell>>> = binned.chunks(in_row).map(together).collect();
    let means = cells.iter().flatten().flatten().map(|cell| cell.rate);
    let column_seconds = (interval * in_column) as f64 / 1e9;
    Some(HeatMap {
        repetition: key.repetition,
        rows: nodes
            .chunks(in_row)
            .map(|nodes| nodes.iter().map(|node| node.name.to_owned()).collect())
            .collect(),
        starts: (0..columns).map(|column| column as f64 * column_seconds).collect(),
        column_seconds,
        highest: means.fold(0.0, f64::max),
        cells,
    })
}

/// A node and what it did, by the number of the interval.
struct Node<'a> {
    name: &'a str,
    intervals: HashMap<u64, Amount>,
}

#[derive(Clone, Copy, Default)]
struct Amount {
    count: u64,
    nanos: u64,
}

impl Node<'_> {
    /// The rate in each column that has some of the node's time.
    fn columns(&self, interval: u64, in_column: u64, columns: u64) -> Vec<Option<f64>> {
        let first = self.intervals.keys().min().copied().unwrap_or(0);
        let last = self.intervals.keys().max().copied().unwrap_or(0);
        let mut amounts: HashMap<u64, (f64, f64, u64)> = HashMap::new();
        for (place, amount) in &self.intervals {
            let (count, nanos, with_rows) = amounts.entry(place / in_column).or_default();
            *count += amount.count as f64;
            *nanos += amount.nanos as f64;
            *with_rows += 1;
        }
        let rate = |column: u64| {
            let (from, to) = (
                (column * in_column).max(first),
                (column + 1).saturating_mul(in_column).min(last.saturating_add(1)),
            );
            let (count, nanos, with_rows) = amounts.get(&column).copied().unwrap_or_default();
            let stalled = to.saturating_sub(from).saturating_sub(with_rows);
            let nanos = nanos + stalled as f64 * interval as f64;
            (nanos > 0.0).then(|| count / (nanos / 1e9))
        };
        (0..columns).map(rate).collect()
    }
}

/// The cells of a row of several nodes.
fn together(nodes: &[Vec<Option<f64>>]) -> Vec<Option<HeatCell>> {
    let columns = nodes.first().map_or(0, Vec::len);
    let cell = |column: usize| {
        let rates: Vec<f64> = nodes.iter().filter_map(|node| node[column]).collect();
        let lowest = rates.iter().copied().reduce(f64::min)?;
        Some(HeatCell { rate: rates.iter().sum::<f64>() / rates.len() as f64, lowest })
    };
    (0..columns).map(cell).collect()
}
