//! What the last operations say together: how long they took, how much of that was the device's, and how
//! far apart they began.

use std::collections::BTreeMap;

use record::HistoryRow;

use crate::printed::RoundTrip;

/// Means over the operations of a history, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct HistorySplit {
    pub operations: u64,
    /// Mean time of one, as whoever asked for it saw it.
    pub latency_ns: f64,
    /// Mean from the start of one to the start of the next of the same task; none where no task has two.
    pub gap_ns: Option<f64>,
    /// What of the gap is not the operation: the time between them, where each waits for the one before.
    pub between_ns: Option<f64>,
    pub device: Option<DevicePart>,
}

/// The device's part of those operations whose requests were seen, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DevicePart {
    /// Operations whose requests were seen.
    pub operations: u64,
    /// Of these, those whose request was found by its sector; the others by time and size.
    pub by_sector: u64,
    /// Mean time of these operations.
    pub latency_ns: f64,
    /// Mean time on the device.
    pub device_ns: f64,
    /// Mean of what the device does not explain: software, waiting, the way there and back.
    pub rest_ns: f64,
}

impl HistorySplit {
    /// Of `rows`, in any order; none where there are none.
    #[must_use]
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a HistoryRow>) -> Option<Self> {
        let mut tasks: BTreeMap<(&str, u32), Vec<(u64, u64)>> = BTreeMap::new();
        let rows: Vec<&HistoryRow> = rows.into_iter().collect();
        for row in &rows {
            tasks.entry((&row.node, row.task)).or_default().push((row.start_ns, row.latency_ns));
        }
        let latency_ns = mean(rows.iter().map(|row| (row.latency_ns as f64, 1.0)))?;
        let trips = tasks.values().filter_map(|operations| RoundTrip::of(operations, None));
        let gap_ns = mean(trips.map(|trip| (trip.gap_ns, (trip.n - 1) as f64)));
        let seen: Vec<_> = rows.iter().filter_map(|row| Some((row, row.device_ns? as f64))).collect();
        let of_seen = |of: fn(f64, f64) -> f64| {
            mean(seen.iter().map(|(row, device_ns)| (of(row.latency_ns as f64, *device_ns), 1.0)))
        };
        let device = of_seen(|latency_ns, _| latency_ns).zip(of_seen(|_, device_ns| device_ns));
        Some(Self {
            operations: rows.len() as u64,
            latency_ns,
            gap_ns,
            between_ns: gap_ns.map(|gap| gap - latency_ns),
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

/// The mean of values with their weights.
fn mean(values: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (sum, weights) =
        values.fold((0.0, 0.0), |(sum, all), (value, weight)| (sum + value * weight, all + weight));
    (weights > 0.0).then(|| sum / weights)
}
