//! Summaries of the last operations: how long they took, how much of that time was spent on the device,
//! and how far apart they started.

use std::cmp::Reverse;

use record::HistoryRow;

use crate::figures::grouped;
use crate::printed::RoundTrip;

/// Means over the operations of a history, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct HistorySplit {
    pub operations: u64,
    /// Mean time of an operation, as its caller saw it.
    pub latency_ns: f64,
    /// Mean time from the start of an operation to the start of the next one of the same task. `None` if
    /// no task has two.
    pub gap_ns: Option<f64>,
    /// Mean time from the end of an operation to the start of the next one of the same task, if each waits for the
    /// one before.
    pub between_ns: Option<f64>,
    pub device: Option<DevicePart>,
}

/// The device's part of the operations whose requests were observed, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DevicePart {
    /// The number of operations whose requests were observed.
    pub operations: u64,
    /// The number of these whose request was matched by its sector; the others were matched by time and
    /// size.
    pub by_sector: u64,
    /// Mean time of these operations.
    pub latency_ns: f64,
    /// Mean time on the device.
    pub device_ns: f64,
    /// Mean of the time not spent on the device: software, queueing, and the way there and back.
    pub rest_ns: f64,
}

/// The operations of one purpose.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryContext {
    /// The purpose, as the file system reports it.
    pub context: String,
    /// What the bytes are: `data`, `metadata`, and so on; empty if unknown.
    pub kind: String,
    /// Its operations ÷ all.
    pub share: f64,
    /// The share of its operations for which no request of a device was found: a cache answered, or the request was not
    /// traced. `None` if requests were not traced.
    pub without_request: Option<f64>,
    /// The summary of its operations.
    pub split: HistorySplit,
}

impl HistoryContext {
    /// All of `rows` as one, whatever their purpose; `traced` tells whether requests of devices were traced at the same
    /// time. Returns `None` if there are no rows.
    #[must_use]
    pub fn whole<'a>(rows: impl IntoIterator<Item = &'a HistoryRow>, traced: bool) -> Option<Self> {
        let split = HistorySplit::of(rows)?;
        let observed = traced || split.device.is_some();
        Some(Self::of((String::new(), String::new()), split, (split.operations, observed)))
    }

    fn of((context, kind): (String, String), split: HistorySplit, (all, observed): (u64, bool)) -> Self {
        let found = split.device.map_or(0, |device| device.operations);
        Self {
            context,
            kind,
            share: split.operations as f64 / all as f64,
            without_request: observed.then(|| 1.0 - found as f64 / split.operations as f64),
            split,
        }
    }

    /// The contexts of `rows` by their numbers of operations, the most first; empty if there is only one.
    #[must_use]
    pub fn all<'a>(rows: impl IntoIterator<Item = &'a HistoryRow>, traced: bool) -> Vec<Self> {
        let rows: Vec<&HistoryRow> = rows.into_iter().collect();
        let of_all = (rows.len() as u64, traced || rows.iter().any(|row| row.device_ns.is_some()));
        let groups = grouped(rows, |row| (row.context.as_str(), row.kind.as_str()));
        let of = |same: Vec<&HistoryRow>| {
            let names = (same[0].context.to_string(), same[0].kind.to_string());
            Some(Self::of(names, HistorySplit::of(same)?, of_all))
        };
        let mut all: Vec<Self> = groups.into_iter().filter_map(of).collect();
        all.sort_by_key(|one| Reverse(one.split.operations));
        if all.len() > 1 { all } else { Vec::new() }
    }
}

impl HistorySplit {
    /// The summary of `rows`, in any order. Returns `None` if there are none.
    #[must_use]
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a HistoryRow>) -> Option<Self> {
        // Each phase of each pass has a clock of its own.
        let rows: Vec<&HistoryRow> = rows.into_iter().collect();
        let tasks = grouped(rows.iter().copied(), |row| (&row.key, row.node.as_str(), row.task));
        let latency_ns = mean(rows.iter().map(|row| (row.latency_ns as f64, 1.0)))?;
        let times = |rows: &Vec<&HistoryRow>| -> Vec<(u64, u64)> {
            rows.iter().map(|row| (row.start_ns, row.latency_ns)).collect()
        };
        let trips: Vec<_> = tasks.iter().filter_map(|rows| RoundTrip::of(&times(rows), None)).collect();
        let over_pairs =
            |of: fn(&RoundTrip) -> f64| mean(trips.iter().map(|trip| (of(trip), (trip.n - 1) as f64)));
        let seen: Vec<_> = rows.iter().filter_map(|row| Some((row, row.device_ns? as f64))).collect();
        let of_seen = |of: fn(f64, f64) -> f64| {
            mean(seen.iter().map(|(row, device_ns)| (of(row.latency_ns as f64, *device_ns), 1.0)))
        };
        let device = of_seen(|latency_ns, _| latency_ns).zip(of_seen(|_, device_ns| device_ns));
        Some(Self {
            operations: rows.len() as u64,
            latency_ns,
            gap_ns: over_pairs(|trip| trip.gap_ns),
            between_ns: over_pairs(|trip| trip.between_ns),
            device: device.map(|(latency_ns, device_ns)| DevicePart {
                operations: seen.len() as u64,
                by_sector: seen.iter().filter(|(row, _)| row.matched == "sector").count() as u64,
                latency_ns,
                device_ns,
                rest_ns: latency_ns - device_ns,
            }),
        })
    }
}

/// The mean of weighted values.
fn mean(values: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (sum, weights) =
        values.fold((0.0, 0.0), |(sum, all), (value, weight)| (sum + value * weight, all + weight));
    (weights > 0.0).then(|| sum / weights)
}
