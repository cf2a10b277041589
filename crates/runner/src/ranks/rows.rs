//! The rows of each task and node of a phase. Each rank sends them to rank 0, and they are never merged.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use engine::{EndOutcome, LastOperation, PhaseOutcome, SeriesInterval, TaskOutcome};
use host::servers::CollectedOutput;
use host::{BlockRequest, DeviceSample, Host, LoadSample, Observed};
use plan::{Operation, Work};
use record::{EndRow, HistoryRow, NodeSeriesRow, PhaseKey, PhaseRecord, PhaseRow, TaskRow, Warning};
use serde::{Deserialize, Serialize};

use crate::MachinePhase;
use crate::execution::device_trace::{self, DeviceNames, DeviceRequest, SectorMap};
use crate::execution::jobs::{self, JobRows};
use crate::execution::servers;
use crate::ranks::merge_ranks::join_sorted;

/// One of the last operations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct KeptOperation {
    task: u32,
    thread: u32,
    operation: Operation,
    /// Index of its file in [`Rows::files`].
    file: u32,
    start_ns: u64,
    latency_ns: u64,
    offset: u64,
    bytes: u64,
    /// Index of its device in [`Rows::names`], and its first sector.
    sector: Option<(u32, u64)>,
}

/// A file of kept operations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct KeptFile {
    path: String,
    /// Its inode and the block size of its file system, or `None` if it no longer existed.
    inode: Option<(u64, u64)>,
}

impl KeptFile {
    fn look(path: &Path) -> Self {
        let inode = std::fs::metadata(path).ok().map(|file| (file.ino(), file.blksize()));
        Self { path: path.display().to_string(), inode }
    }
}

/// The rows of one rank's tasks and node, which it sends to rank 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
pub(crate) struct Rows {
    node: u32,
    tasks: Vec<TaskOutcome>,
    devices: Vec<DeviceSample>,
    load: Vec<LoadSample>,
    /// Its own series, if the phase has several nodes.
    series: Vec<SeriesInterval>,
    /// Its last operations, if requested.
    history: Vec<KeptOperation>,
    /// Their files, without duplicates.
    files: Vec<KeptFile>,
    /// Requests to the devices of its node during the phase, if it traced them.
    requests: Vec<DeviceRequest>,
    /// Devices of the operations and requests.
    names: DeviceNames,
    /// For each of these devices, its name among all devices, if it has one.
    uids: Vec<Option<String>>,
    /// For exchanges: this rank's endpoint.
    end: Option<EndOutcome>,
    /// For jobs: their launches.
    pub(crate) jobs: Option<JobRows>,
    /// Counters of the network file system clients on its node.
    pub(crate) told: Vec<CollectedOutput>,
}

/// Data about the devices below the kept operations.
#[derive(Default)]
pub(crate) struct TraceSource<'h> {
    /// Used to map bytes to devices; `None` if this is not wanted.
    pub(crate) host: Option<&'h Host>,
    /// All requests of this node, if this rank traced them.
    pub(crate) requests: Vec<BlockRequest>,
}

impl Rows {
    /// Creates the rows of one rank on the node with this number.
    pub(crate) fn of(
        outcome: &PhaseOutcome,
        node: u32,
        observed: Observed,
        several_nodes: bool,
        seen: TraceSource<'_>,
    ) -> Self {
        let series = if several_nodes { outcome.series.clone() } else { Vec::new() };
        // Jobs do not report a start time.
        let early = outcome.started_raw_ns.saturating_sub(observed.started_raw_ns);
        let early = if outcome.started_raw_ns == 0 { 0 } else { early };
        let mut names = DeviceNames::default();
        let (history, files) = history(&outcome.history, seen.host, &mut names);
        let requests = device_trace::requests(seen.requests, outcome, &mut names);
        let uids = names.iter().map(|name| seen.host.and_then(|host| host.device_uid(name))).collect();
        Self {
            node,
            history,
            files,
            requests,
            names,
            uids,
            tasks: outcome.tasks.clone(),
            devices: observed.devices.into_iter().filter_map(|sample| device(sample, early)).collect(),
            load: observed.load.into_iter().filter_map(|sample| load(sample, early)).collect(),
            series,
            end: outcome.end.clone(),
            jobs: None,
            told: Vec::new(),
        }
    }
}

/// The last operations of a rank, and their files.
fn history(
    all: &[LastOperation],
    host: Option<&Host>,
    names: &mut DeviceNames,
) -> (Vec<KeptOperation>, Vec<KeptFile>) {
    let mut map = host.map(SectorMap::new);
    let mut files = Vec::new();
    let mut places: HashMap<&Path, u32> = HashMap::new();
    let mut operated = Vec::with_capacity(all.len());
    for one in all {
        let place = *places.entry(&one.path).or_insert_with(|| {
            files.push(KeptFile::look(&one.path));
            u32::try_from(files.len() - 1).unwrap_or(u32::MAX)
        });
        let sector = map.as_mut().and_then(|map| map.locate(one, names));
        operated.push(KeptOperation {
            task: one.task,
            thread: one.thread,
            operation: one.operation,
            file: place,
            start_ns: one.start_ns,
            latency_ns: one.latency_ns,
            offset: one.offset,
            bytes: one.bytes,
            sector,
        });
    }
    (operated, files)
}

/// Shifts a sample to the common start of the phase, which is `early` after the start of the observer. Returns `None` for
/// an interval that ended before. What the device did in the interval in which the phase started counts as done after the
/// start: the observer starts just before, when nothing but the meeting of the ranks is left to do.
fn device(sample: DeviceSample, early: u64) -> Option<DeviceSample> {
    let start_ns = sample.start_ns.saturating_sub(early);
    let length_ns = (sample.start_ns + sample.length_ns).saturating_sub(early).saturating_sub(start_ns);
    (length_ns > 0).then_some(DeviceSample { start_ns, length_ns, ..sample })
}

/// Like [`device`], but of what was counted in the interval in which the phase started, the part after the start is taken
/// to be proportional to its time, so that what the node did before does not count as load during the phase.
fn load(sample: LoadSample, early: u64) -> Option<LoadSample> {
    let length_ns = (sample.start_ns + sample.length_ns).saturating_sub(early);
    if length_ns == 0 {
        return None;
    }
    let start_ns = sample.start_ns.saturating_sub(early);
    let length_ns = length_ns - start_ns;
    let of_all = u128::from(sample.length_ns.max(1));
    let part = |counted: Option<u64>| {
        counted.map(|counted| {
            u64::try_from(u128::from(counted) * u128::from(length_ns) / of_all).unwrap_or(u64::MAX)
        })
    };
    Some(LoadSample {
        start_ns,
        length_ns,
        busy_cpu_ns: part(sample.busy_cpu_ns),
        stolen_cpu_ns: part(sample.stolen_cpu_ns),
        cpu_wait_ns: part(sample.cpu_wait_ns),
        memory_stall_ns: part(sample.memory_stall_ns),
        stopped_ns: sample.stopped_ns.min(length_ns),
        ..sample
    })
}

/// The rows of all ranks, by task and node.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    key: PhaseKey,
    names: &'a [String],
    /// The rows so far; the phase itself is filled in later.
    pub(crate) record: PhaseRecord,
    nodes: Vec<(u32, Vec<SeriesInterval>)>,
    /// The warnings of a machine.
    pub(crate) warnings: Vec<Warning>,
    /// For jobs: their launches.
    pub(crate) jobs: JobRows,
    /// The requests traced on each tracing node.
    requests: Vec<(String, Vec<DeviceRequest>, DeviceNames)>,
    /// The names of the nodes' devices among all devices, by node and device.
    uids: HashMap<(String, String), String>,
}

impl<'a> Table<'a> {
    /// Creates an empty table. `names` are the node names, by number.
    pub(crate) fn new(key: PhaseKey, names: &'a [String]) -> Self {
        Self {
            record: PhaseRecord::new(PhaseRow::new(key.clone())),
            key,
            names,
            nodes: Vec::new(),
            warnings: Vec::new(),
            jobs: JobRows::default(),
            requests: Vec::new(),
            uids: HashMap::new(),
        }
    }

    /// Adds the rows of a rank.
    pub(crate) fn add(&mut self, rows: Rows) {
        let Rows {
            node,
            tasks,
            devices,
            load,
            series,
            history,
            files,
            requests,
            names,
            uids,
            end,
            jobs,
            told,
        } = rows;
        let name = self.names.get(node as usize).map_or("", String::as_str);
        let key = &self.key;
        self.record.tasks.extend(tasks.into_iter().map(|task| task_row(key, name, &task)));
        self.record.devices.extend(devices.into_iter().map(|sample| sample.into_row(key.clone(), name)));
        self.record.load.extend(load.into_iter().map(|sample| sample.into_row(key.clone(), name)));
        self.record.history.extend(history.iter().map(|one| history_row(key, name, (&files, &names), one)));
        let named = names.iter().zip(uids);
        self.uids
            .extend(named.filter_map(|(device, uid)| Some(((name.to_owned(), device.to_owned()), uid?))));
        if !requests.is_empty() {
            self.requests.push((name.to_owned(), requests, names));
        }
        self.record.ends.extend(end.map(|end| end_row(key, name, end)));
        // Jobs run on one node.
        if let Some(jobs) = jobs {
            self.jobs = jobs.of(key, name);
        }
        told.iter().for_each(|told| self.tell(name, told));
        if series.is_empty() {
            return;
        }
        match self.nodes.iter_mut().find(|(number, _)| *number == node) {
            Some((_, known)) => join_sorted(known, series, SeriesInterval::place, SeriesInterval::add),
            None => self.nodes.push((node, series)),
        }
    }

    /// Adds the rows of a machine for `work`. `node_of` returns the node of each task.
    pub(crate) fn add_machine(&mut self, phase: MachinePhase, work: &Work, node_of: &[u32]) {
        let key = &self.key;
        let node = |node: u32| self.names.get(node as usize).map_or("", String::as_str);
        let name = |task: &TaskOutcome| node(node_of.get(task.task as usize).copied().unwrap_or(0));
        self.record.tasks.extend(phase.outcome.tasks.iter().map(|task| task_row(key, name(task), task)));
        let row = |(place, sample): (String, DeviceSample)| sample.into_row(key.clone(), &place);
        self.record.devices.extend(phase.devices.into_iter().map(row));
        let ends = phase.ends.into_iter().map(|(at, end)| end_row(key, node(at), end));
        self.record.ends.extend(ends);
        self.warnings.extend(phase.warnings);
        self.nodes.extend(phase.series);
        if let Some(((tasks, launched), all)) = phase.launched.zip(work.jobs()) {
            self.jobs = jobs::rows(&tasks, &launched, all)
                .of(&self.key, self.names.first().map_or("", String::as_str));
        }
    }

    /// Adds counters that were read on `node`. An empty name means a command of the study.
    pub(crate) fn tell(&mut self, node: &str, told: &CollectedOutput) {
        let (rows, texts) = servers::rows(&self.key, node, told);
        self.record.servers.extend(rows);
        self.record.server_texts.extend(texts);
    }

    /// How sequential the device requests were, if traced.
    pub(crate) fn pattern(&self) -> Option<device_trace::AccessPattern> {
        device_trace::pattern(self.requests.iter().map(|(_, requests, _)| requests.as_slice()))
    }

    /// Sorts the rows of tasks and operations, and adds those of the nodes.
    pub(crate) fn close(&mut self) {
        self.record.tasks.sort_by_key(|row| row.task);
        self.record.history.sort_by_key(|row| row.start_ns);
        for (node, requests, names) in &self.requests {
            let mut of_node: Vec<&mut HistoryRow> =
                self.record.history.iter_mut().filter(|row| row.node == *node).collect();
            device_trace::join(&mut of_node, requests, names);
        }
        for row in self.record.history.iter_mut().filter(|row| !row.device.is_empty()) {
            row.node_type = "lcl".into();
            row.server.clone_from(&row.node);
            let uid = self.uids.get(&(row.node.to_string(), row.device.to_string()));
            row.disk_uid = uid.cloned().unwrap_or_default().into();
        }
        self.record.ends.sort_by_key(|row| row.end);
        let mut nodes = std::mem::take(&mut self.nodes);
        nodes.sort_by_key(|(node, _)| *node);
        let row = |node: u32, one: &SeriesInterval| NodeSeriesRow {
            key: self.key.clone(),
            node: self.names.get(node as usize).cloned().unwrap_or_default().into(),
            operation: one.operation,
            start_ns: one.start_ns,
            length_ns: one.length_ns,
            bytes: one.bytes,
            transfers: one.transfers,
            latency_sum_ns: one.latency_sum_ns,
            latency_max_ns: one.latency_max_ns,
        };
        self.record.nodes =
            nodes.iter().flat_map(|(node, series)| series.iter().map(|one| row(*node, one))).collect();
    }
}

fn task_row(key: &PhaseKey, node: &str, task: &TaskOutcome) -> TaskRow {
    TaskRow {
        key: key.clone(),
        task: task.task,
        node: node.into(),
        file: task.file,
        open_start_ns: task.open_start_ns,
        open_end_ns: task.open_end_ns,
        io_start_ns: task.io_start_ns,
        io_end_ns: task.io_end_ns,
        close_start_ns: task.close_start_ns,
        close_end_ns: task.close_end_ns,
        bytes: task.bytes,
        transfers: task.transfers(),
        stonewall_transfers: task.stonewall_transfers,
    }
}

fn end_row(key: &PhaseKey, node: &str, end: EndOutcome) -> EndRow {
    EndRow {
        key: key.clone(),
        node: node.into(),
        end: end.end,
        interface: end.interface.into(),
        address: end.address.into(),
        adapter_node: end.adapter_node,
        client_threads: end.client_threads,
        server_threads: end.server_threads,
        client_cpu_ns: end.client_cpu_ns,
        server_cpu_ns: end.server_cpu_ns,
        client_processors: end.client_processors.into(),
        server_processors: end.server_processors.into(),
        transport: end.transport.into(),
        rdma: end.rdma.into(),
        shut_out: end.shut_out,
    }
}

fn history_row(
    key: &PhaseKey,
    node: &str,
    (files, names): (&[KeptFile], &DeviceNames),
    one: &KeptOperation,
) -> HistoryRow {
    let file = files.get(one.file as usize);
    let inode = file.and_then(|file| file.inode);
    let tag = |number: u64| i64::try_from(number).ok();
    let moves = matches!(one.operation, Operation::Read | Operation::Write);
    HistoryRow {
        kind: match one.operation {
            Operation::Read | Operation::Write => "data",
            Operation::Exchange => "",
            _ => "metadata",
        }
        .into(),
        tag1: inode.and_then(|(inode, _)| tag(inode)),
        tag2: inode.filter(|_| moves).and_then(|(_, block)| tag(one.offset / block.max(1))),
        context: key.phase.to_string().into(),
        node: node.into(),
        task: one.task,
        thread: one.thread,
        start_ns: one.start_ns,
        latency_ns: one.latency_ns,
        file: file.map(|file| file.path.clone()).unwrap_or_default().into(),
        offset_bytes: one.offset,
        bytes: one.bytes,
        device: one.sector.map_or("", |(device, _)| names.get(device)).into(),
        sector: one.sector.map(|(_, sector)| sector),
        ..HistoryRow::new(key.clone(), one.operation)
    }
}

#[cfg(test)]
mod tests {
    use host::{DeviceCounters, DeviceSample, LoadSample};

    use super::{device, load};

    #[test]
    fn what_a_device_did_before_the_common_start_is_not_counted() {
        let sample = |start_ns| DeviceSample {
            start_ns,
            length_ns: 10,
            counters: DeviceCounters { read_bytes: 7, ..DeviceCounters::default() },
        };
        let seen = |start_ns| {
            let seen = device(sample(start_ns), 24);
            seen.map(|one| (one.start_ns, one.length_ns, one.counters.read_bytes))
        };
        assert_eq!([0, 10, 14].map(seen), [None; 3], "over before");
        assert_eq!([20, 30].map(seen), [Some((0, 6, 7)), Some((6, 10, 7))]);
    }

    #[test]
    fn what_was_seen_of_a_node_is_counted_from_the_common_start() {
        let sample =
            |start_ns| LoadSample { start_ns, length_ns: 10, stopped_ns: 9, ..LoadSample::default() };
        let seen =
            |start_ns| load(sample(start_ns), 24).map(|one| (one.start_ns, one.length_ns, one.stopped_ns));
        assert_eq!([0, 10, 14].map(seen), [None; 3], "over before");
        assert_eq!(seen(20), Some((0, 6, 6)));
        assert_eq!(seen(30), Some((6, 10, 9)));
    }

    /// An observer that started 29 ms before a phase of 1 ms.
    #[test]
    fn what_was_counted_before_the_phase_is_not_counted_to_it() {
        let ms = 1_000_000;
        let stolen = Some(30 * ms);
        let sample = LoadSample { length_ns: 30 * ms, stolen_cpu_ns: stolen, ..LoadSample::default() };
        let seen = load(sample, 29 * ms).expect("its last part");
        assert_eq!((seen.length_ns, seen.stolen_cpu_ns, seen.busy_cpu_ns), (ms, Some(ms), None));
    }
}
