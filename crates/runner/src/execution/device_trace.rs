//! Determines the device time of each of the last operations: where its bytes are, and which device
//! requests belong to it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use engine::{LastOperation, PhaseOutcome};
use host::{BlockRequest, BlockTrace, Extent, Host, Unobservable};
use plan::{Operation, Phase, Workload};
use record::HistoryRow;
use serde::{Deserialize, Serialize};

use crate::files::targets::devices_under;

/// Size of a sector in traces, whatever the device.
const SECTOR_BYTES: u64 = 512;
/// Tolerance between the engine's clock and the tracer's.
const ROOM_NS: i64 = 10_000;

/// Traces the devices under the targets for `processes` that keep their last operations. Returns `None`
/// if this was not requested.
pub(crate) fn start(
    workload: &Workload,
    phase: Phase,
    processes: usize,
    host: &Host,
) -> Option<Result<BlockTrace, Unobservable>> {
    let kept =
        workload.history.filter(|_| !workload.untraced && phase.is_result() && phase != Phase::Exchange)?;
    if !workload.backend.moves_data() {
        return None;
    }
    let devices = devices_under(&workload.files.targets, host);
    Some(
        devices.and_then(|devices| {
            BlockTrace::start(host.root(), &devices, kept.saturating_mul(processes as u64))
        }),
    )
}

/// A device request: index of the device name, first sector, number of sectors, whether it is a write, issue
/// time since the phase's common start, and duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DeviceRequest(u32, u64, u64, bool, i64, u64);

/// A list of distinct names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct DeviceNames(Vec<String>);

impl DeviceNames {
    /// The index of `name`, which is added if it is new. The list has only as many names as there are
    /// devices.
    fn index(&mut self, name: &str) -> u32 {
        let known = self.0.iter().position(|known| known == name);
        let index = known.unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        });
        u32::try_from(index).unwrap_or(u32::MAX)
    }

    /// All names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The name at an index.
    pub(crate) fn get(&self, index: u32) -> &str {
        self.0.get(index as usize).map_or("", String::as_str)
    }
}

/// The requests of a trace that was started together with the phase of `outcome`, if they may belong to kept
/// operations: those since the first of these operations.
pub(crate) fn requests(
    all: Vec<BlockRequest>,
    outcome: &PhaseOutcome,
    names: &mut DeviceNames,
) -> Vec<DeviceRequest> {
    let since = |raw_ns: u64| {
        let start = i128::from(outcome.started_raw_ns);
        i64::try_from(i128::from(raw_ns) - start).unwrap_or(i64::MAX)
    };
    all.into_iter()
        .map(|one| {
            let took = one.completed_raw_ns.saturating_sub(one.issued_raw_ns);
            DeviceRequest(
                names.index(&one.device),
                one.sector,
                one.sectors,
                one.writes,
                since(one.issued_raw_ns),
                took,
            )
        })
        .collect()
}

/// Maps the bytes of operations to devices and sectors.
pub(crate) struct SectorMap<'h> {
    host: &'h Host,
    files: HashMap<PathBuf, Option<MappedFile>>,
}

/// One file or device.
struct MappedFile {
    device: String,
    first_sector: u64,
    /// `None` for a device, whose bytes are contiguous.
    extents: Option<Vec<Extent>>,
}

impl<'h> SectorMap<'h> {
    pub(crate) fn new(host: &'h Host) -> Self {
        Self { host, files: HashMap::new() }
    }

    /// The device and the first sector of an operation, or `None` if unknown.
    pub(crate) fn locate(&mut self, one: &LastOperation, names: &mut DeviceNames) -> Option<(u32, u64)> {
        if one.bytes == 0 || one.path.as_os_str().is_empty() {
            return None;
        }
        if !self.files.contains_key(&*one.path) {
            let file = MappedFile::look(self.host, &one.path);
            self.files.insert(one.path.to_path_buf(), file);
        }
        let file = self.files.get(&*one.path)?.as_ref()?;
        Some((names.index(&file.device), file.first_sector + file.offset(one.offset)? / SECTOR_BYTES))
    }
}

impl MappedFile {
    fn look(host: &Host, path: &Path) -> Option<Self> {
        let (device, first_sector) = host.sectors_of(path)?;
        let is_file = std::fs::metadata(path).ok()?.is_file();
        let extents = if is_file { Some(host::extents(path).ok()?) } else { None };
        Some(Self { device, first_sector, extents })
    }

    /// Position on the device of the byte at `offset`.
    fn offset(&self, offset: u64) -> Option<u64> {
        let Some(extents) = &self.extents else { return Some(offset) };
        let after = extents.partition_point(|extent| extent.offset <= offset);
        let extent = extents.get(after.checked_sub(1)?)?;
        let within = offset - extent.offset;
        (within < extent.bytes).then_some(extent.place + within)
    }
}

/// Adds the device time to `rows`, which are all of one node, from the `requests` of that node. A request
/// belongs to an operation if they overlap in a sector and in time. If the sectors of an operation are
/// unknown, it gets the request with its size and direction within its time, provided there is only one.
pub(crate) fn join(rows: &mut [&mut HistoryRow], requests: &[DeviceRequest], names: &DeviceNames) {
    let mut ordered: Vec<&DeviceRequest> = requests.iter().collect();
    ordered.sort_by_key(|DeviceRequest(.., issued, _)| *issued);
    for row in rows {
        let writes = match row.operation {
            Operation::Read => false,
            Operation::Write | Operation::Create => true,
            _ => continue,
        };
        let start = i64::try_from(row.start_ns).unwrap_or(i64::MAX).saturating_sub(ROOM_NS);
        let end = i64::try_from(row.start_ns.saturating_add(row.latency_ns)).unwrap_or(i64::MAX);
        let end = end.saturating_add(ROOM_NS);
        let from = ordered.partition_point(|DeviceRequest(.., issued, _)| *issued < start);
        let within = ordered[from..].iter().take_while(|DeviceRequest(.., issued, _)| *issued <= end).filter(
            |DeviceRequest(_, _, _, way, issued, took)| *way == writes && ended(*issued, *took) <= end,
        );
        let (matched, span) = match row.sector {
            Some(sector) => {
                let sectors = row.bytes.div_ceil(SECTOR_BYTES);
                let meets = |DeviceRequest(device, first, count, ..): &&&DeviceRequest| {
                    let (end, last) = (sector.saturating_add(sectors), first.saturating_add(*count));
                    names.get(*device) == row.device && *first < end && sector < last
                };
                ("sector", span(within.filter(meets)))
            }
            None => {
                let alike = |DeviceRequest(_, _, count, ..): &&&DeviceRequest| {
                    count.checked_mul(SECTOR_BYTES) == Some(row.bytes)
                };
                let mut alike = within.filter(alike);
                let only = alike.next().filter(|_| alike.next().is_none());
                if let Some(DeviceRequest(device, sector, ..)) = only {
                    row.device = names.get(*device).into();
                    row.sector = Some(*sector);
                }
                ("time", span(only.into_iter()))
            }
        };
        if let Some(nanos) = span {
            row.device_ns = Some(nanos.min(row.latency_ns));
            row.matched = matched.into();
        }
    }
}

fn ended(issued: i64, took: u64) -> i64 {
    issued.saturating_add(i64::try_from(took).unwrap_or(i64::MAX))
}

/// How sequential the requests of a phase were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AccessPattern {
    /// Number of requests that followed another one of the same device and direction.
    pub(crate) requests: u64,
    /// Number of these that started at the end of the previous one.
    pub(crate) contiguous: u64,
    /// Median distance of the others from that position, in bytes.
    pub(crate) seek_bytes: Option<u64>,
}

/// The pattern of the requests of each node, in issue order, or `None` if no request followed another.
/// Devices of different nodes are treated as distinct.
pub(crate) fn pattern<'r>(nodes: impl Iterator<Item = &'r [DeviceRequest]>) -> Option<AccessPattern> {
    let (mut requests, mut contiguous, mut seeks) = (0, 0, Vec::new());
    for of_node in nodes {
        let mut ordered: Vec<&DeviceRequest> = of_node.iter().collect();
        ordered.sort_by_key(|DeviceRequest(.., issued, _)| *issued);
        let mut ends: HashMap<(u32, bool), u64> = HashMap::new();
        for DeviceRequest(device, sector, sectors, writes, ..) in ordered {
            if let Some(end) = ends.insert((*device, *writes), sector.saturating_add(*sectors)) {
                requests += 1;
                match sector.abs_diff(end) {
                    0 => contiguous += 1,
                    distance => seeks.push(distance.saturating_mul(SECTOR_BYTES)),
                }
            }
        }
    }
    seeks.sort_unstable();
    let seek_bytes = seeks.get(seeks.len() / 2).copied();
    (requests > 0).then_some(AccessPattern { requests, contiguous, seek_bytes })
}

/// From the first issue to the last completion.
fn span<'r>(requests: impl Iterator<Item = &'r &'r DeviceRequest>) -> Option<u64> {
    let both = requests.map(|DeviceRequest(.., issued, took)| (*issued, ended(*issued, *took)));
    let (first, last) = both.reduce(|(first, last), (issued, end)| (first.min(issued), last.max(end)))?;
    u64::try_from(last.saturating_sub(first)).ok()
}

#[cfg(test)]
mod tests {
    use plan::Operation;
    use record::{HistoryRow, PhaseKey};

    use super::{AccessPattern, DeviceNames, DeviceRequest, join, pattern};

    fn row(start_us: u64, latency_us: u64, sector: Option<u64>) -> HistoryRow {
        let key = PhaseKey { case: "c".into(), repetition: 0, phase: plan::Phase::Read };
        HistoryRow {
            start_ns: start_us * 1_000,
            latency_ns: latency_us * 1_000,
            bytes: 4096,
            device: if sector.is_some() { "vda".into() } else { record::SharedText::EMPTY },
            sector,
            ..HistoryRow::new(key, Operation::Read)
        }
    }

    fn joined(mut rows: Vec<HistoryRow>, requests: &[DeviceRequest]) -> Vec<(Option<u64>, String)> {
        let names = DeviceNames(vec!["vda".to_owned(), "vdb".to_owned()]);
        join(&mut rows.iter_mut().collect::<Vec<_>>(), requests, &names);
        rows.into_iter()
            .map(|row| (row.device_ns.map(|nanos| nanos / 1_000), row.matched.to_string()))
            .collect()
    }

    const fn request(device: u32, sector: u64, writes: bool, issued_us: i64, took_us: u64) -> DeviceRequest {
        DeviceRequest(device, sector, 8, writes, issued_us * 1_000, took_us * 1_000)
    }

    #[test]
    fn a_request_belongs_to_the_operation_that_has_its_sectors_and_its_time() {
        let rows = vec![row(100, 100, Some(80)), row(300, 100, Some(80)), row(500, 100, Some(800))];
        let requests = [
            request(0, 80, false, 110, 60),
            request(0, 80, false, 320, 70),
            // Another device, direction, time, sector.
            request(1, 800, false, 510, 20),
            request(0, 800, true, 510, 20),
            request(0, 800, false, 700, 20),
            request(0, 88, false, 510, 20),
        ];
        let of_sector = |micros| (Some(micros), "sector".to_owned());
        assert_eq!(joined(rows, &requests), [of_sector(60), of_sector(70), (None, String::new())]);
    }

    #[test]
    fn several_requests_of_one_operation_are_taken_from_first_to_last() {
        let large = HistoryRow { bytes: 8192, ..row(100, 100, Some(80)) };
        let requests = [request(0, 80, false, 110, 20), request(0, 88, false, 115, 40)];
        assert_eq!(joined(vec![large], &requests), [(Some(45), "sector".to_owned())]);
    }

    #[test]
    fn requests_in_a_row_are_those_that_begin_where_the_one_before_ended() {
        let stream = |first: u64, issued: i64| {
            (0..4).map(move |i| request(0, first + 8 * i, false, issued + 10 * i as i64, 1))
        };
        let one: Vec<DeviceRequest> = stream(0, 0).collect();
        let alone = pattern([one.as_slice()].into_iter());
        assert_eq!(alone, Some(AccessPattern { requests: 3, contiguous: 3, seek_bytes: None }));
        // Two alternating streams on one device: each request seeks to the other.
        let both: Vec<DeviceRequest> = stream(0, 0).chain(stream(8000, 5)).collect();
        let mixed = pattern([both.as_slice()].into_iter()).expect("a pattern");
        assert_eq!((mixed.requests, mixed.contiguous), (7, 0));
        assert!(mixed.seek_bytes.is_some_and(|bytes| (7900 * 512..=8008 * 512).contains(&bytes)));
        // Different devices, directions and nodes are different streams.
        let apart: Vec<DeviceRequest> =
            stream(0, 0).chain([request(1, 77, false, 5, 1), request(0, 99, true, 6, 1)]).collect();
        let nodes = [apart.as_slice(), one.as_slice()];
        assert_eq!(
            pattern(nodes.into_iter()),
            Some(AccessPattern { requests: 6, contiguous: 6, seek_bytes: None })
        );
        assert_eq!(pattern([&one[..1]].into_iter()), None);
    }

    #[test]
    fn without_sectors_only_what_is_not_ambiguous_is_taken() {
        let requests = [
            request(0, 80, false, 110, 60),
            request(1, 16, false, 310, 60),
            request(1, 24, false, 320, 60),
            DeviceRequest(0, 8, 16, false, 510_000, 20_000),
        ];
        let rows = vec![row(100, 100, None), row(300, 100, None), row(500, 100, None)];
        let nothing = || (None, String::new());
        assert_eq!(joined(rows, &requests), [(Some(60), "time".to_owned()), nothing(), nothing()]);
    }
}
