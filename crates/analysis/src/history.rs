//! What the last operations say together: how long they took, how much of that was the device's, and how
//! far apart they began.

use std::collections::BTreeMap;

use record::HistoryRow;

use crate::RoundTrip;

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
        let (mut count, mut sum) = (0_u64, 0.0);
        let (mut seen, mut by_sector, mut seen_latency, mut seen_device) = (0_u64, 0_u64, 0.0, 0.0);
        for row in rows {
            count += 1;
            sum += row.latency_ns as f64;
            tasks.entry((&row.node, row.task)).or_default().push((row.start_ns, row.latency_ns));
            if let Some(device_ns) = row.device_ns {
                seen += 1;
                by_sector += u64::from(row.matched == "sector");
                seen_latency += row.latency_ns as f64;
                seen_device += device_ns as f64;
            }
        }
        if count == 0 {
            return None;
        }
        let latency_ns = sum / count as f64;
        let (mut gaps, mut gap_sum) = (0.0, 0.0);
        for trip in tasks.values().filter_map(|operations| RoundTrip::of(operations, None)) {
            let of_task = (trip.n - 1) as f64;
            gaps += of_task;
            gap_sum += trip.gap_ns * of_task;
        }
        let gap_ns = (gaps > 0.0).then(|| gap_sum / gaps);
        let device = (seen > 0).then(|| {
            let seen_count = seen as f64;
            DevicePart {
                operations: seen,
                by_sector,
                latency_ns: seen_latency / seen_count,
                device_ns: seen_device / seen_count,
                rest_ns: (seen_latency - seen_device) / seen_count,
            }
        });
        Some(Self {
            operations: count,
            latency_ns,
            gap_ns,
            between_ns: gap_ns.map(|gap| gap - latency_ns),
            device,
        })
    }
}
