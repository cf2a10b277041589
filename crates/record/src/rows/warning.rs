//! Warnings about figures. They are data, and stored in the record.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::PhaseKey;

/// If there are more nodes than this, a message only names the first ones; the warning contains all of
/// them.
const NAMED_NODES_MAX: usize = 8;

/// Location of a cache that may serve reads although the devices' counters include them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheLocation {
    /// The device itself keeps its data in memory, for example zram.
    Device,
    /// In the memory of the node: the page cache of the file under a loop device, or the cache of ZFS.
    Node,
    /// Behind a program or server that backs the device, for example `nbd`.
    Server,
}

/// A kind of error that another tool printed about its own measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReportedError {
    /// Data read back differ from what was written.
    WrongData,
    /// A call that makes data durable failed, or was not made although it was asked for.
    NotDurable,
    /// Requests failed.
    Failed,
    /// Calls moved fewer bytes than requested.
    Short,
    /// A cache could not be dropped, or was in use where it should not be.
    Caches,
    /// A clock was not precise, not steady or not the same everywhere.
    Clock,
}

impl ReportedError {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::WrongData, Self::NotDurable, Self::Failed, Self::Short, Self::Caches, Self::Clock];
}

/// A warning, with the numbers behind it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Warning {
    /// The devices read less than the application did, because the page cache served reads.
    CachedReads {
        /// Bytes read by devices, divided by bytes read by the application.
        device_share: f64,
    },
    /// The devices wrote less than the application did before the phase ended.
    CachedWrites {
        /// Bytes written by devices, divided by bytes written by the application.
        device_share: f64,
    },
    /// The devices under the target could not be observed.
    DevicesUnknown {
        /// The reason.
        reason: String,
    },
    /// A counter of a server or client is unknown.
    ServerUntold {
        /// Its source.
        source: String,
        /// Why the source did not provide it.
        reason: String,
    },
    /// A cache below the devices of the target may serve requests, which the devices' counters include.
    MemoryBelow {
        /// Where the cache is.
        place: CacheLocation,
        /// The device and the reason, for example `loop0 reads its file /images/a through the page
        /// cache`.
        what: String,
    },
    /// The storage may hold much less than the data that was read, so it may have read less.
    LessStored {
        /// What was found, for example `12 of 256 sampled blocks …`.
        what: String,
    },
    /// A layer below the target loses written data without power, although fsync has succeeded.
    NotDurable {
        /// The layer and the reason, for example `/data is mounted with nobarrier: fsync does not reach stable
        /// storage`.
        what: String,
    },
    /// The phase was too short for a reliable rate.
    TooShort {
        /// How long it took.
        seconds: f64,
        /// Minimum duration.
        at_least_seconds: f64,
    },
    /// According to the forecast, the phase will be too short or too long.
    ForecastLength {
        /// Predicted seconds of one phase.
        seconds: f64,
        /// Advice on what to change.
        advice: String,
    },
    /// The tasks cannot be divided evenly among the targets.
    Unbalanced {
        /// Number of tasks.
        tasks: u32,
        /// Number of targets.
        targets: u32,
        /// The share of the total of all targets that can be reached.
        bound: f64,
    },
    /// The rate was limited by the program, not the storage.
    HarnessBound {
        /// Share of the usable processors that the program used.
        cpu_share: f64,
    },
    /// A backend that was not available was replaced.
    BackendReplaced {
        /// The requested backend.
        asked: String,
        /// The backend that was used.
        used: String,
        /// The reason.
        reason: String,
    },
    /// A check found wrong data.
    WrongData {
        /// Number of wrong 512-byte cells.
        cells: u64,
        /// Description of the first of them: path, offset, kind, expected and found.
        first: String,
    },
    /// Items of a tree were unexpectedly missing or already present.
    Surprises {
        /// Number of items.
        count: u64,
        /// Descriptions of the first of them.
        first: Vec<String>,
    },
    /// A task took much longer or shorter than the mean.
    Outlier {
        /// The task.
        task: u32,
        /// The duration compared, for example `transfer`.
        timer: String,
        /// The task's duration in seconds.
        seconds: f64,
        /// The mean of all tasks.
        mean_seconds: f64,
        /// The standard deviation over all tasks.
        deviation_seconds: f64,
    },
    /// Fewer bytes were moved than planned, for example because a stonewall ended the phase.
    Incomplete {
        /// Bytes moved.
        bytes: u64,
        /// Bytes planned.
        planned_bytes: u64,
    },
    /// The rate was not steady when the case ended: see [`plan::Stopping::Steady`].
    NotSteady {
        /// Number of counted repetitions.
        repetitions: u32,
        /// Number of repetitions in the window.
        window: u32,
        /// (largest − smallest) ÷ mean within the window, or `None` if there are fewer repetitions than
        /// the window has.
        range: Option<f64>,
        /// The maximum allowed.
        range_max: f64,
        /// Rise or fall of the regression line through the window ÷ mean.
        drift: Option<f64>,
        /// The maximum allowed.
        drift_max: f64,
    },
    /// The confidence interval of the median was too wide when the case ended: see
    /// [`plan::Stopping::Interval`].
    WideInterval {
        /// Number of counted repetitions.
        repetitions: u32,
        /// Width ÷ median, or `None` if there are too few repetitions for an interval.
        share: Option<f64>,
        /// The maximum allowed.
        share_max: f64,
    },
    /// A node was much slower than the others.
    SlowNode {
        /// The node.
        node: String,
        /// Its rate ÷ the median of all nodes.
        share: f64,
        /// Robust z-score: (rate − median) ÷ (1.4826 × median absolute deviation).
        z: f64,
        /// Number of nodes compared.
        nodes: u32,
    },
    /// A node was lost during a case.
    NodeLost {
        /// The node.
        node: String,
        /// What happened, for example `nothing was heard of it for 20 s`.
        what: String,
    },
    /// Each node has its own directory at the target's path.
    SeparateTarget {
        /// The directory.
        directory: String,
        /// Number of nodes examined.
        nodes: u32,
    },
    /// The clocks of the nodes are not known precisely enough to compare their per-second series.
    ClockUncertain {
        /// The node.
        node: String,
        /// Uncertainty of its offset in nanoseconds.
        error_ns: u64,
    },
    /// The record is on a file system that is measured, so that writing it uses the same storage.
    RecordOnTarget {
        /// The first target on it.
        target: String,
        /// The file system, for example `ext4 on /dev/sda1`.
        file_system: String,
    },
    /// Something else was using the host or the devices.
    NotQuiet {
        /// Description of what was observed.
        seen: String,
        /// The largest share of processor time or of the devices' bytes that others used. It is 0 if only a high load
        /// or single requests were observed, and in records of older programs.
        #[serde(default)]
        share: f64,
    },
    /// The node was contended or throttled, so the storage can do more than its figures show.
    Starved {
        /// Description of what was observed.
        seen: String,
        /// The share of the time for which the node was held back by the dominant cause.
        share: f64,
    },
    /// The run was resumed on a different node.
    ResumedElsewhere {
        /// The nodes of the earlier cases.
        before: String,
        /// The nodes of the cases since then.
        now: String,
    },
    /// Passes of the same case ran on different hosts, so the spread includes the differences between
    /// these.
    SeveralHosts {
        /// The hosts.
        nodes: Vec<String>,
    },
    /// Runs that were merged define the same name differently.
    DifferentTerms {
        /// The names, for example ``commitment `fast` ``.
        names: Vec<String>,
        /// The run whose definitions are not used.
        run: String,
    },
    /// Runs that were merged were requested by different studies or tools.
    DifferentQuestions {
        /// The first run.
        first: String,
        /// A run with a different request.
        other: String,
    },
    /// Some calls moved less than requested, so the rest of their transfers was requested again.
    ShortTransfers {
        /// Number of such transfers.
        transfers: u64,
        /// Total number of transfers.
        of: u64,
    },
    /// A case that was finished ran again when the run was resumed, because its rows were damaged.
    MeasuredAgain {
        /// The case.
        case: String,
        /// The reason.
        reason: String,
    },
    /// Connections to ports of this run were rejected because they did not present its key.
    Strangers {
        /// Number of connections.
        count: u64,
    },
    /// Some launches of jobs are incomplete; the matrix continued.
    FailedLaunches {
        /// Number of incomplete launches.
        failed: u64,
        /// Total number of launches.
        launches: u64,
        /// Description of the first of them.
        first: String,
    },
    /// A file system had little space left while jobs ran.
    LowSpace {
        /// Its mount point.
        place: String,
        /// Minimum of its free bytes.
        free_bytes: u64,
        /// Its size in bytes.
        size_bytes: u64,
        /// The percentage of free space below which this warning is given.
        percent_min: u32,
    },
    /// Of a phase on a model, a part in a steady state was not simulated but computed from the part before it.
    Extrapolated {
        /// Seconds of the model's clock that were simulated.
        simulated_seconds: f64,
        /// Seconds that were not.
        computed_seconds: f64,
        /// Half of the 95 % interval of the rate in the steady state, and the change of the mean latency before, as a share
        /// of it.
        rate_error: f64,
    },
    /// The figure is the mean of several iterations, as printed by another tool.
    PrintedMean {
        /// Number of iterations.
        iterations: u64,
    },
    /// Another tool printed errors with its figure.
    Reported {
        /// The kind of error.
        error: ReportedError,
        /// How often it was printed, or the number that was printed.
        count: u64,
        /// The first of the lines.
        first: String,
    },
    /// A remark about a figure printed by another tool.
    Import {
        /// The remark.
        note: String,
    },
    /// A layout does not have the requested properties.
    LayoutDiffers {
        /// Its name.
        layout: String,
        /// Descriptions of what was read back.
        found: Vec<String>,
    },
    /// A file system used by jobs updates access times on reads.
    AccessTimes {
        /// Where it is mounted.
        mount_point: String,
        /// The mount option that causes this.
        options: String,
    },
    /// A layout could not be destroyed.
    LayoutStays {
        /// Its name.
        layout: String,
        /// The reason.
        reason: String,
    },
    /// A setting that could not be applied; the run continued without it.
    Unapplied {
        /// The setting.
        what: String,
        /// The reason.
        reason: String,
    },
}

impl Warning {
    /// What the user can do about it.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            Self::CachedReads { .. } => "use direct I/O, or read more data than fits in memory",
            Self::CachedWrites { .. } => "use direct I/O, or fsync inside the timed phase (ior: -e)",
            Self::DevicesUnknown { .. } => {
                "read the counters of the servers, or use far more data than fits in all memory on the path"
            }
            Self::ServerUntold { .. } => "run that command by hand, and correct server_collect",
            Self::MemoryBelow { place, .. } => match place {
                CacheLocation::Device => "measure a target whose data is not in memory",
                CacheLocation::Node => "make the loop device bypass the page cache (losetup --direct-io=on)",
                CacheLocation::Server => "use far more data than fits in the memory behind it",
            },
            Self::LessStored { .. } => "let the program write the data that it reads (fill = true)",
            Self::NotDurable { .. } => "promise writes only to a target all of whose layers keep them",
            Self::TooShort { .. } => {
                "lengthen the phase: more data (ior: -s), more items (mdtest: -n), a longer time (rpc: \
                 --seconds) or a larger scale (jobs)"
            }
            Self::ForecastLength { .. } => "change the segments (ior: -s), or set a duration",
            Self::Unbalanced { .. } => "use a number of tasks that is a multiple of the targets",
            Self::HarnessBound { .. } => "use more processors or nodes, larger transfers, or io_uring",
            Self::BackendReplaced { .. } => "allow io_uring if you compare with figures measured with it",
            Self::WrongData { .. } => {
                "do not trust this storage until the cause is known; see the first cell"
            }
            Self::Surprises { .. } => {
                "find out who else uses this directory, and repeat the run where nobody does"
            }
            Self::Outlier { .. } => "check that task's device and node",
            Self::Incomplete { .. } => "compare rates, not volumes; use wear-out for equal volumes",
            Self::NotSteady { .. } => {
                "allow more repetitions, or overwrite the media first (precondition, warm_up)"
            }
            Self::WideInterval { .. } => "allow more repetitions, or longer phases",
            Self::SlowNode { .. } => {
                "check that node's devices, links and load; the slowest node determines when a phase ends"
            }
            Self::NodeLost { .. } => "repair the node, then continue with `ioproof run --resume`",
            Self::SeparateTarget { .. } => {
                "correct for node-local storage; shared storage must be mounted at the same path on every \
                 node"
            }
            Self::ClockUncertain { .. } => {
                "totals are reliable; the seconds of that node may be shifted against those of the others"
            }
            Self::RecordOnTarget { .. } => {
                "give --out a directory on other storage, or set `records` in a file of defaults (docs/CONFIG.md)"
            }
            Self::NotQuiet { .. } => "repeat the run on a quiet host",
            Self::Starved { .. } => "remove what slowed the program down, and repeat the run",
            Self::ResumedElsewhere { .. } => {
                "compare only figures of the same nodes and processes; each task records the node on which \
                 it ran"
            }
            Self::SeveralHosts { .. } => "compare the hosts first; merge only runs of identical hosts",
            Self::DifferentTerms { .. } => {
                "the terms of the first run with that name are used; rename one, or report the runs \
                 separately"
            }
            Self::DifferentQuestions { .. } => {
                "the commitments, expectations and statements of each are judged over the cases of all: \
                 name workloads in them, or report the runs separately"
            }
            Self::ShortTransfers { .. } => {
                "look for the cause in the file system, its servers and their logs: each of these transfers \
                 took several calls"
            }
            Self::MeasuredAgain { .. } => "its earlier figures do not count; check the disk of the record",
            Self::Strangers { .. } => "find out who looks for open ports on this network",
            Self::FailedLaunches { .. } => {
                "sums over all launches lack what these did not do: fix the cause, and repeat the run"
            }
            Self::LowSpace { .. } => {
                "a full file system is slower and may fail jobs: lower the scale, or use a larger one"
            }
            Self::Extrapolated { .. } => "docs/MODELS.md says how a steady state is recognised",
            Self::PrintedMean { .. } => "its scatter is in the printed values; import each iteration",
            Self::Reported { error, .. } => match error {
                ReportedError::WrongData => "do not trust this storage until the cause is known",
                ReportedError::NotDurable => {
                    "repeat it where fsync succeeds: nothing shows that the data was on stable storage"
                }
                ReportedError::Failed | ReportedError::Short => "find the cause of the errors, and repeat it",
                ReportedError::Caches => "repeat it where caches can be dropped or bypassed",
                ReportedError::Clock => "repeat it with a steady clock",
            },
            Self::Import { .. } => "see the printed values, and docs/IMPORT.md",
            Self::LayoutDiffers { .. } => {
                "its figures are those of the layout that was found: check the commands in the section on \
                 layouts"
            }
            Self::AccessTimes { .. } => {
                "mount it with noatime,nodiratime (ioproof host tune, step mount-options, remounts it)"
            }
            Self::LayoutStays { .. } => "ioproof layout clean dismantles what was left",
            Self::Unapplied { .. } => "the figure was measured without it",
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: &f64| format!("{:.1} %", share * 100.0);
        match self {
            Self::CachedReads { device_share } => {
                write!(
                    f,
                    "the page cache answered: devices read {} of the requested data",
                    percent(device_share)
                )
            }
            Self::CachedWrites { device_share } => write!(
                f,
                "data still in memory: devices had written {} when the phase ended",
                percent(device_share)
            ),
            Self::DevicesUnknown { reason } => write!(f, "device bytes unknown: {reason}"),
            Self::ServerUntold { source, reason } => write!(f, "servers not queried: `{source}` {reason}"),
            Self::MemoryBelow { what, .. } | Self::NotDurable { what } | Self::LessStored { what } => {
                write!(f, "{what}")
            }
            Self::TooShort { seconds, at_least_seconds } => {
                write!(f, "took {seconds:.3} s; under {at_least_seconds} s a rate is mostly noise")
            }
            Self::ForecastLength { seconds, advice } => {
                write!(f, "one phase will take about {seconds:.1} s: {advice}")
            }
            Self::Unbalanced { tasks, targets, bound } => write!(
                f,
                "{tasks} tasks over {targets} targets can reach at most {} of their sum",
                percent(bound)
            ),
            Self::HarnessBound { cpu_share } => {
                write!(
                    f,
                    "the program used {} of its processors: the host may be the limit",
                    percent(cpu_share)
                )
            }
            Self::BackendReplaced { asked, used, reason } => {
                write!(f, "{used} ran in place of {asked}: {reason}")
            }
            Self::WrongData { cells, first } => write!(f, "{cells} wrong 512-byte cells; first: {first}"),
            Self::Surprises { count, first } => {
                let (items, them) = if *count == 1 { ("item was", "it") } else { ("items were", "them") };
                write!(f, "{count} {items} not as this run had left {them}")?;
                first.first().map_or(Ok(()), |first| write!(f, "; first: {first}"))
            }
            Self::Outlier { task, timer, seconds, mean_seconds, deviation_seconds } => write!(
                f,
                "task {task}: {timer} took {seconds:.3} s (mean {mean_seconds:.3} s, deviation {deviation_seconds:.3} s)"
            ),
            Self::Incomplete { bytes, planned_bytes } => {
                write!(f, "moved {bytes} of {planned_bytes} planned bytes")
            }
            Self::NotSteady { repetitions, window, range: Some(range), range_max, drift, drift_max } => {
                write!(
                    f,
                    "not steady after {repetitions} repetitions: over the last {window} the rate spans {} of \
                     its mean (at most {}) and drifts by {} (at most {})",
                    percent(range),
                    percent(range_max),
                    percent(&drift.unwrap_or_default()),
                    percent(drift_max)
                )
            }
            Self::NotSteady { repetitions, window, range: None, .. } => {
                write!(f, "not known to be steady: {repetitions} repetitions, but {window} are needed")
            }
            Self::WideInterval { repetitions, share: Some(share), share_max } => write!(
                f,
                "after {repetitions} repetitions the interval of the median is {} wide (at most {})",
                percent(share),
                percent(share_max)
            ),
            Self::WideInterval { repetitions, share: None, share_max } => write!(
                f,
                "{repetitions} repetitions are too few for an interval of the median (at most {} wide)",
                percent(share_max)
            ),
            Self::SlowNode { node, share, z, nodes } => write!(
                f,
                "node {node} had {} of the median rate of {nodes} nodes (robust z-score {z:.1})",
                percent(share)
            ),
            Self::NodeLost { node, what } => write!(f, "node {node} was lost: {what}"),
            Self::SeparateTarget { directory, nodes } => {
                write!(f, "{directory} is a different directory on each of {nodes} nodes")
            }
            Self::ClockUncertain { node, error_ns } => {
                write!(f, "the clock of node {node} is known only to {:.3} ms", *error_ns as f64 / 1e6)
            }
            Self::RecordOnTarget { target, file_system } => {
                write!(
                    f,
                    "the record is on {file_system}, like the target {target}: writing it uses the same storage"
                )
            }
            Self::NotQuiet { seen, .. } => write!(f, "not quiet: {seen}"),
            Self::Starved { seen, .. } => write!(f, "starved: {seen}"),
            Self::ResumedElsewhere { before, now } => {
                write!(f, "started on {before} and resumed on {now}: its figures come from both")
            }
            Self::SeveralHosts { nodes } => {
                let named = &nodes[..nodes.len().min(NAMED_NODES_MAX)];
                write!(f, "measured on different hosts: {}", named.join(", "))?;
                match nodes.len() - named.len() {
                    0 => Ok(()),
                    more => write!(f, " and {more} more"),
                }
            }
            Self::DifferentTerms { names, run } => {
                write!(f, "run {run} has different terms under the same name: {}", names.join(", "))
            }
            Self::DifferentQuestions { first, other } => {
                write!(f, "runs {first} and {other} come from different studies, overrides or tools")
            }
            Self::ShortTransfers { transfers, of } => {
                write!(f, "{transfers} of {of} transfers were short and were continued")
            }
            Self::MeasuredAgain { case, reason } => {
                write!(f, "case `{case}` was finished and is measured again: {reason}")
            }
            Self::FailedLaunches { failed, launches, first } => {
                write!(f, "{failed} of {launches} launches are not complete; first: {first}")
            }
            Self::LowSpace { place, free_bytes, size_bytes, percent_min } => write!(
                f,
                "{place} had a minimum of {} of {} free, which is below {percent_min} %",
                plan::Bytes(*free_bytes),
                plan::Bytes(*size_bytes)
            ),
            Self::Strangers { count } => {
                write!(
                    f,
                    "{count} connections to the ports of this run did not have its key and were rejected"
                )
            }
            // Without its numbers, which are in the record, it is the same for all figures.
            Self::Extrapolated { .. } => f.write_str(
                "the time in a steady state was not simulated but computed from the time before it",
            ),
            Self::PrintedMean { iterations } => write!(f, "the printed mean of {iterations} iterations"),
            Self::Reported { error, count, first } => {
                let what = match error {
                    ReportedError::WrongData => "wrong data",
                    ReportedError::NotDurable => "a failed fsync",
                    ReportedError::Failed => "failed requests",
                    ReportedError::Short => "short transfers",
                    ReportedError::Caches => "caches in use",
                    ReportedError::Clock => "an unreliable clock",
                };
                let times = if *count == 1 { String::new() } else { format!(" {count} times") };
                write!(f, "the tool itself reports {what}{times}: `{first}`")
            }
            Self::Import { note } => write!(f, "imported: {note}"),
            Self::LayoutDiffers { layout, found } => {
                write!(f, "layout {layout} differs from the request: {}", found.join("; "))
            }
            Self::AccessTimes { mount_point, options } => {
                write!(
                    f,
                    "{mount_point} updates access times (mounted without noatime: {options}): reads of jobs write there"
                )
            }
            Self::LayoutStays { layout, reason } => write!(f, "layout {layout} was not dismantled: {reason}"),
            Self::Unapplied { what, reason } => write!(f, "{what} was not applied: {reason}"),
        }
    }
}

/// A warning and the phase it concerns, or `None` for the whole run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WarningRow {
    /// The phase it belongs to.
    pub key: Option<PhaseKey>,
    /// The warning.
    pub warning: Warning,
}

impl WarningRow {
    /// Creates a warning about the whole run.
    #[must_use]
    pub const fn of_run(warning: Warning) -> Self {
        Self { key: None, warning }
    }
}
