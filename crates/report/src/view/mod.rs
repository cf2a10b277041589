//! What every form of a report shows, in plain numbers with the unit last in each name.
//!
//! [`Report`] is also the JSON form, word for word; `docs/REPORT.md` describes every field and a
//! test keeps the two together. Forms only choose, order and format what stands here.

pub(crate) mod findings;
pub(crate) mod layouts;
pub(crate) mod nodes;
pub(crate) mod printed;

use plan::OptionNote;
use record::HostFacts;
use schemars::JsonSchema;
use serde::Serialize;

use self::findings::{Findings, Setting};
use self::nodes::{ClusterInfo, RankMap};
use self::printed::{Printed, RunTime};
pub(crate) use crate::format::BYTES_PER_SECOND;
use crate::latencies::LatencyInfo;

/// The version of the JSON form. It changes when a field changes its meaning or goes away; new
/// fields may come within one version.
pub(crate) const SCHEMA: &str = "ioproof-report/3";

/// Transfers of at least this size are told in bytes per second, smaller ones in transfers per
/// second, as data sheets do.
const LARGE_TRANSFER_BYTES: u64 = 64 << 10;

/// The phases that figures are of.
const PHASES: [&str; 22] = [
    "write",
    "read",
    "mixed",
    "tree-create",
    "directory-create",
    "directory-stat",
    "directory-list",
    "directory-rename",
    "directory-remove",
    "file-create",
    "file-write",
    "file-stat",
    "file-read",
    "file-rename",
    "file-remove",
    "tree-remove",
    "precreate",
    "benchmark",
    "cleanup",
    "exchange",
    "load",
    "jobs",
];

/// A whole report.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Report {
    /// The version of this form.
    #[schemars(extend("const" = SCHEMA))]
    pub(crate) schema: &'static str,
    /// Which run.
    pub(crate) run: RunInfo,
    /// What is not there and why, in sentences; empty for a whole run.
    pub(crate) missing: Vec<String>,
    /// One for each result phase of each case.
    pub(crate) figures: Vec<Figure>,
    /// What the figures say together, after the gate: a list for each kind of statement.
    pub(crate) statements: Statements,
    /// What else the figures say together.
    pub(crate) findings: Findings,
    /// What a reader must know beside the figures.
    pub(crate) notes: Vec<Note>,
    /// What the study says of its circumstances.
    pub(crate) study: StudyInfo,
    /// What the words mean.
    pub(crate) definitions: Vec<Definition>,
    /// What was asked.
    pub(crate) cases: Vec<CaseInfo>,
    /// Each time that a layout was made for cases, in order.
    pub(crate) layouts: Vec<layouts::LayoutInfo>,
    /// Where it ran; of several nodes the first.
    pub(crate) host: HostFacts,
    /// The machines of the published studies that it stands beside.
    pub(crate) machines: Vec<PublishedMachine>,
    /// Its nodes; absent where one process made the run on one node.
    pub(crate) cluster: Option<ClusterInfo>,
    /// Who read whose data, of the reads of several nodes.
    pub(crate) rank_maps: Vec<RankMap>,
    /// What other tools printed; absent where nothing is imported.
    pub(crate) printed: Option<Printed>,
    /// The phases and rests of the run against its wall time; absent where it has not ended, or is not one
    /// run of this program.
    pub(crate) time: Option<RunTime>,
    /// The figures as the analysis has them, in the order of [`Report::figures`].
    #[serde(skip)]
    pub(crate) sources: Vec<analysis::Figure>,
    /// What they say together, for charts and sentences.
    #[serde(skip)]
    pub(crate) found: analysis::Findings,
}

/// The statements of a report: a table for each kind that has any.
#[derive(Debug, Clone, Default)]
pub(crate) struct Statements {
    /// A table for each kind.
    pub(crate) tables: Vec<analysis::Table>,
    /// The conditions of every figure, by its place.
    pub(crate) conditions: Vec<String>,
}

/// The machine that a published study was made on.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PublishedMachine {
    /// The letter of the study.
    pub(crate) study: String,
    /// Title and year of the study.
    pub(crate) source: String,
    /// What it prints of its machine, in its own words; what it does not state is not there.
    pub(crate) facts: Vec<PrintedFact>,
}

/// A fact of a published machine.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PrintedFact {
    /// About what, as in `memory`.
    pub(crate) fact: String,
    /// In the words of the study.
    pub(crate) printed: String,
}

/// The run as a whole.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct RunInfo {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) directory: String,
    #[schemars(extend("enum" = ["complete", "interrupted", "failed", "killed", "still running"]))]
    pub(crate) state: &'static str,
    #[schemars(extend("enum" = ["measured", "imported", "published", "simulated"]))]
    pub(crate) provenance: &'static str,
    pub(crate) program_version: String,
    pub(crate) command_line: String,
    /// The tool whose words were used, as in `ior`; empty where it was none.
    pub(crate) tool: String,
    pub(crate) asked: String,
    #[schemars(with = "Vec<OptionShape>")]
    pub(crate) options: Vec<OptionNote>,
    pub(crate) seed: u64,
    pub(crate) started_unix_ns: i64,
    pub(crate) finished_unix_ns: Option<i64>,
    /// How often it was resumed after it had ended early.
    pub(crate) resumed: usize,
    /// How often it had been killed before.
    pub(crate) killed: usize,
    /// Nanoseconds in which it did not run.
    pub(crate) paused_ns: u64,
    /// Of an imported run: no text says when it was printed, and both times are those of the import.
    pub(crate) undated: bool,
}

/// What [`OptionNote`] looks like as JSON.
#[derive(JsonSchema)]
#[schemars(rename = "OptionNote")]
#[expect(dead_code, reason = "only its fields' names and types are looked at")]
struct OptionShape {
    /// As the user wrote it, as in `-b1m`.
    written: String,
    /// The long name in the tool's own words.
    name: String,
    /// What it does, with resolved values.
    meaning: String,
}

/// What a study says beside its cases.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct StudyInfo {
    /// The software release, in the user's words.
    pub(crate) release: Option<String>,
    /// Whether nobody else could use the storage, as far as the user says.
    pub(crate) exclusive: Option<bool>,
    /// What each node is, as in `40 cores, 160 threads, 512 GiB of memory`; empty where the study does not say.
    pub(crate) node: String,
    /// In what the measuring node is another one; empty where it is in nothing.
    pub(crate) node_differs: Vec<String>,
    pub(crate) targets: Vec<TargetInfo>,
}

/// What a target is, as the study says.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct TargetInfo {
    pub(crate) name: String,
    /// What people call it, the name where the study has no other; and where it is measured from, if targets differ in
    /// that.
    pub(crate) title: String,
    /// The published layout that it stands for; may be empty.
    pub(crate) stands_for: String,
    /// `node-local` or `shared`; empty where not said.
    pub(crate) layer: &'static str,
    /// `local to server` or `remote`; empty where not said.
    pub(crate) client: &'static str,
    /// 0 where not said.
    pub(crate) devices: u32,
    /// 0 where not said.
    pub(crate) rack_units: f64,
}

/// One result: a phase of a case, over all repetitions.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Figure {
    /// From 1, in the order of the plan.
    pub(crate) number: usize,
    pub(crate) case: String,
    pub(crate) title: String,
    /// The workload whose sweep the case is a point of.
    pub(crate) group: String,
    /// The name of the target; empty where the study names none.
    pub(crate) target: String,
    /// Where the measuring program ran; empty where the study does not say.
    pub(crate) client: &'static str,
    /// Where in the sweep the case stands; empty where nothing is swept.
    pub(crate) settings: Vec<Setting>,
    #[schemars(extend("enum" = PHASES))]
    pub(crate) phase: &'static str,
    /// The short form of size, order and direction.
    pub(crate) what: String,
    /// The short form of cache, backend and depth.
    pub(crate) path: String,
    pub(crate) tasks: u32,
    pub(crate) transfer_bytes: u64,
    /// The long form of all conditions.
    pub(crate) conditions: String,
    #[schemars(extend("enum" = ["measured", "imported", "published", "simulated"]))]
    pub(crate) provenance: &'static str,
    /// Memory took part: the figure is not one of the device.
    pub(crate) page_cache: bool,
    /// What the spreads are of, as in `median of 3 repetitions, by wall time`.
    pub(crate) statistic: String,
    /// The name of the rate, as in `by wall time`.
    pub(crate) rate: &'static str,
    pub(crate) bytes_per_second: Spread,
    /// Of transfers, or of the operations of the phase.
    pub(crate) transfers_per_second: Spread,
    /// What the figure is read by: `bytes/s` of transfers; else operations by their name, as in
    /// `creates/s`.
    pub(crate) unit: &'static str,
    /// Nodes that it is on.
    pub(crate) nodes: u64,
    /// Each operation apart, where the phase did several; else empty.
    pub(crate) operations: Vec<OperationRate>,
    /// Processor time of all processes for one operation; absent where none was recorded.
    pub(crate) cpu_ns_per_operation: Option<f64>,
    /// Bytes that one operation moves by plan, where it is no transfer.
    pub(crate) bytes_per_operation: Option<u64>,
    /// Bytes that the file system holds for each file that was looked at.
    pub(crate) allocated_bytes_per_file: Option<f64>,
    /// Items that were not as the run had left them.
    pub(crate) surprises: u64,
    /// Who asked whom, and how; absent where nobody did.
    pub(crate) exchange: Option<Exchange>,
    pub(crate) latency: Vec<LatencyInfo>,
    pub(crate) device_share: Option<f64>,
    pub(crate) repetitions: Vec<Repetition>,
    pub(crate) devices: Vec<DeviceInfo>,
    /// Marks of the notes that concern this figure.
    pub(crate) notes: Vec<String>,
    /// The checks of the audit that doubt it, by their names in `docs/AUDIT.md`.
    pub(crate) doubts: Vec<&'static str>,
}

/// A statistic over repetitions.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) mean: f64,
    /// Standard deviation with n − 1; absent with one repetition.
    pub(crate) deviation: Option<f64>,
    pub(crate) minimum: f64,
    pub(crate) maximum: f64,
    /// Ends of the confidence interval of the median; absent with too few repetitions.
    pub(crate) interval_low: Option<f64>,
    pub(crate) interval_high: Option<f64>,
    /// The confidence that the interval really has.
    pub(crate) confidence: Option<f64>,
}

impl Spread {
    /// The ends of the interval, for reading: `811.2 – 815.0`.
    pub(crate) fn interval(&self, text: fn(f64) -> String) -> Option<String> {
        self.interval_low.zip(self.interval_high).map(|(low, high)| format!("{} – {}", text(low), text(high)))
    }
}

/// One repetition of a figure.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Repetition {
    /// From 0.
    pub(crate) repetition: u32,
    /// `recorded`, `warm-up`, `earlier round`, or `before steady state` of a case that went on until it
    /// was steady; only the first counts.
    pub(crate) role: &'static str,
    /// Of the last of several rounds: its rate ÷ that of the round before − 1.
    pub(crate) drift: Option<f64>,
    pub(crate) started_unix_ns: i64,
    pub(crate) bytes: u64,
    pub(crate) transfers: u64,
    pub(crate) wall_ns: u64,
    pub(crate) open_ns: u64,
    pub(crate) io_ns: u64,
    pub(crate) close_ns: u64,
    pub(crate) user_cpu_ns: u64,
    pub(crate) system_cpu_ns: u64,
    pub(crate) device_share: Option<f64>,
    pub(crate) rates: Vec<NamedRate>,
    /// The one that the figure's spread is of.
    pub(crate) bytes_per_second: f64,
    pub(crate) transfers_per_second: f64,
}

/// One operation of a phase that did several, median over the repetitions.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct OperationRate {
    #[schemars(extend("enum" = record::Operation::ALL.map(record::Operation::name)))]
    pub(crate) operation: &'static str,
    pub(crate) per_second: f64,
    pub(crate) bytes_per_second: f64,
}

/// Requests and responses between processes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Exchange {
    /// `one-to-one`, `many-to-one` or `all-to-all`.
    #[schemars(extend("enum" = ["one-to-one", "many-to-one", "all-to-all"]))]
    pub(crate) pattern: &'static str,
    pub(crate) request_bytes: u64,
    pub(crate) response_bytes: u64,
    /// Processes that ask or answer.
    pub(crate) ends: u32,
    /// Of each pair.
    pub(crate) connections: u32,
    /// Requests under way on each.
    pub(crate) depth: u32,
    /// Of each process, in either part.
    pub(crate) threads: u32,
    /// Empty where it is the one that leads to the peer.
    pub(crate) interface: String,
    /// Processors that asking threads are bound to: `none`, `0-3`, `numa:1` or `adapter`.
    pub(crate) clients_on: String,
    /// Likewise of answering ones.
    pub(crate) servers_on: String,
    /// `TCP`.
    pub(crate) transport: &'static str,
    /// Bytes per second of requests and of responses.
    pub(crate) requests_bytes_per_second: f64,
    pub(crate) responses_bytes_per_second: f64,
}

impl Figure {
    /// Whether it is read by its operations, being no transfers.
    pub(crate) fn is_operations(&self) -> bool {
        self.unit != BYTES_PER_SECOND
    }

    /// Whether data sheets tell such transfers in bytes per second.
    pub(crate) fn is_large(&self) -> bool {
        !self.is_operations() && self.transfer_bytes >= LARGE_TRANSFER_BYTES
    }

    /// The rate that it is read by.
    pub(crate) fn headline(&self) -> &Spread {
        self.spread_in(self.unit)
    }

    /// What data sheets tell it in: the unit of its bytes, or what a transfer per second of it is called.
    pub(crate) fn shown_unit(&self) -> &'static str {
        if self.is_large() { BYTES_PER_SECOND } else { self.operations_unit() }
    }

    /// Its rate in `unit`: bytes, or else operations, per second.
    pub(crate) fn spread_in(&self, unit: &str) -> &Spread {
        if unit == BYTES_PER_SECOND { &self.bytes_per_second } else { &self.transfers_per_second }
    }

    /// What a transfer per second of it is called: `IOPS`, or `creates/s`.
    pub(crate) fn operations_unit(&self) -> &'static str {
        if self.is_operations() { self.unit } else { "IOPS" }
    }

    /// `imported a b, cached, too short`: footnotes, and the checks of the audit that doubt it.
    pub(crate) fn marks(&self) -> String {
        let imported = (self.provenance == "imported").then_some("imported");
        let notes =
            imported.into_iter().chain(self.notes.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
        let parts = std::iter::once(notes.as_str()).chain(self.doubts.iter().copied());
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }

    /// Repetitions that count.
    pub(crate) fn counting(&self) -> impl Iterator<Item = &Repetition> {
        self.repetitions.iter().filter(|one| one.counts())
    }

    /// How many they are.
    pub(crate) fn counted(&self) -> usize {
        self.counting().count()
    }
}

impl Repetition {
    /// Its rate in `unit`: bytes, or else operations, per second.
    pub(crate) fn headline(&self, unit: &str) -> f64 {
        if unit == BYTES_PER_SECOND { self.bytes_per_second } else { self.transfers_per_second }
    }

    /// Whether it is one of those that the figure is made of.
    pub(crate) fn counts(&self) -> bool {
        self.role == plan::Role::Recorded.name()
    }
}

/// A rate by one definition.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct NamedRate {
    pub(crate) name: &'static str,
    pub(crate) bytes_per_second: f64,
    pub(crate) transfers_per_second: f64,
}

/// What the kernel counted for one device, mean over the repetitions.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct DeviceInfo {
    pub(crate) device: String,
    pub(crate) read_bytes_per_second: f64,
    pub(crate) write_bytes_per_second: f64,
    pub(crate) busy_share: f64,
    pub(crate) queue_requests: f64,
    pub(crate) wait_ns: Option<f64>,
}

/// One kind of warning of the record.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Note {
    pub(crate) mark: String,
    pub(crate) kind: String,
    pub(crate) advice: String,
    pub(crate) entries: Vec<NoteEntry>,
}

/// What a note says, and of what.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct NoteEntry {
    pub(crate) text: String,
    /// Which figures or phases, in words.
    pub(crate) concerns: String,
    pub(crate) figures: Vec<usize>,
}

/// A word of the report and its meaning.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) meaning: String,
}

/// One case of the plan.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct CaseInfo {
    pub(crate) id: String,
    pub(crate) title: String,
    /// One line for each result phase.
    pub(crate) conditions: Vec<String>,
    pub(crate) phases: Vec<&'static str>,
    pub(crate) tasks: u32,
    pub(crate) transfer_bytes: u64,
    pub(crate) block_bytes: u64,
    pub(crate) segments: u64,
    pub(crate) pass_bytes: u64,
    pub(crate) files: u64,
    pub(crate) targets: Vec<String>,
    pub(crate) repetitions: u32,
    /// `finished`, `failed: …`, `not finished` or `not started`.
    pub(crate) state: String,
}
