//! What a parser finds, before it is converted to rows of a record.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use plan::{Bytes, Case, Condition, Geometry, Measure, Operation, Phase, Work, WorkloadSpec};
use record::{
    DeviceRow, HistoryRow, LatencyRow, PhaseKey, PhaseRecord, PhaseRow, PrintedRow, ReportedError, SeriesRow,
    Warning, WarningRow,
};

pub(super) use super::buckets::{Bucket, Buckets};
use super::text::lines::{Line, whole};

/// Nanoseconds per day.
pub(super) const DAY_NS: u64 = 86_400_000_000_000;

/// One output of one tool.
#[derive(Debug, Clone, Default)]
pub(super) struct Draft {
    /// The tool's name.
    pub(super) tool: &'static str,
    /// Its version, as printed.
    pub(super) version: Option<String>,
    /// Its command line, as printed.
    pub(super) command: Option<String>,
    /// The host, if the output names one.
    pub(super) node: Option<String>,
    /// Start and end time, in nanoseconds since 1970.
    pub(super) started: Option<i64>,
    pub(super) finished: Option<i64>,
    /// Whether these times are printed with their zone, or as seconds since 1970.
    pub(super) zoned: bool,
    /// What was measured.
    pub(super) tests: Vec<Test>,
    /// Remarks for the reader.
    pub(super) doubts: Vec<String>,
}

/// A case of an output.
#[derive(Debug, Clone)]
pub(super) struct Test {
    pub(super) case: Case,
    /// Whether the workload has its numbers from the text, as far as they are printed.
    is_whole: bool,
    pub(super) passes: Vec<Pass>,
}

/// A phase of a pass of a case.
#[derive(Debug, Clone)]
pub(super) struct Pass {
    pub(super) row: PhaseRow,
    /// Whether the text contains its start time.
    pub(super) timed: bool,
    /// The time of day at which it began, in nanoseconds, if the text has no date.
    pub(super) began_at: Option<u64>,
    pub(super) latency: Buckets,
    pub(super) series: Vec<SeriesRow>,
    pub(super) devices: Vec<DeviceRow>,
    pub(super) history: Vec<HistoryRow>,
    pub(super) printed: Vec<Printed>,
    pub(super) warnings: Vec<Warning>,
}

/// A printed value.
#[derive(Debug, Clone)]
pub(super) struct Printed {
    pub(super) label: String,
    pub(super) value: String,
    pub(super) number: Option<f64>,
    pub(super) unit: Cow<'static, str>,
    pub(super) statistic: String,
    pub(super) line: u32,
}

impl Printed {
    /// A value in `line`. `unit` is the unit that the tool means.
    pub(super) fn new(
        line: Line<'_>,
        label: &str,
        value: &str,
        unit: impl Into<Cow<'static, str>>,
        statistic: &str,
    ) -> Self {
        Self {
            label: label.to_owned(),
            value: value.trim().to_owned(),
            number: super::text::lines::number(value),
            unit: unit.into(),
            statistic: statistic.to_owned(),
            line: line.number,
        }
    }
}

impl Pass {
    /// An empty phase.
    pub(super) fn new(phase: Phase, repetition: u32) -> Self {
        let key = PhaseKey { case: "".into(), repetition, phase };
        Self {
            row: PhaseRow::new(key),
            timed: false,
            began_at: None,
            latency: Buckets::default(),
            series: Vec::new(),
            devices: Vec::new(),
            history: Vec::new(),
            printed: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Sets the duration. The times of open and close are unknown.
    pub(super) fn took(&mut self, wall_ns: u64) {
        self.row.wall_ns = wall_ns;
        self.row.io_ns = wall_ns;
    }

    /// Sets the start time, if it is known.
    pub(super) fn began(&mut self, unix_ns: Option<i64>) {
        if let Some(unix_ns) = unix_ns {
            self.row.started_unix_ns = unix_ns;
            self.timed = true;
        }
    }

    /// Sets operations and bytes, in the direction of the phase.
    pub(super) fn moved(&mut self, operations: u64, bytes: u64) {
        let row = &mut self.row;
        match row.key.phase {
            Phase::Read | Phase::CheckRead | Phase::CheckWrite => {
                (row.reads, row.read_bytes) = (operations, bytes)
            }
            Phase::Write | Phase::Fill => (row.writes, row.write_bytes) = (operations, bytes),
            Phase::FileRead => (row.items, row.read_bytes) = (operations, bytes),
            _ => (row.items, row.write_bytes) = (operations, bytes),
        }
    }

    /// Adds the printed mean of the latencies of one operation, in nanoseconds, which their buckets do not give.
    pub(super) fn mean_latency(&mut self, operation: Operation, mean_ns: f64) {
        if mean_ns > 0.0 {
            let ns = whole(mean_ns);
            self.latency.push(Bucket { operation, low_ns: ns, high_ns: ns, count: 0 });
        }
    }

    /// Replaces the outer edges of the buckets of one operation by its printed minimum and maximum, in nanoseconds,
    /// and adds its printed mean. Zero stands for a value that is not printed.
    pub(super) fn printed_latency(&mut self, operation: Operation, [min, max, mean]: [f64; 3]) {
        let (min, max) = (whole(min), if max > 0.0 { whole(max) } else { u64::MAX });
        self.latency.bound(operation, min, max);
        self.mean_latency(operation, mean);
    }

    /// Adds a warning about its figures.
    pub(super) fn note(&mut self, note: impl Into<String>) {
        let warning = Warning::Import { note: note.into() };
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Adds `count` errors that the tool printed about it; `line` is the first of their lines.
    pub(super) fn reported(&mut self, error: ReportedError, count: u64, line: &str) {
        let known = self.warnings.iter_mut().find_map(|warning| match warning {
            Warning::Reported { error: known, count, .. } if *known == error => Some(count),
            _ => None,
        });
        match known {
            Some(known) => *known = known.saturating_add(count),
            None => self.warnings.push(Warning::Reported { error, count, first: line.to_owned() }),
        }
    }

    /// Converts it to a record.
    pub(super) fn record(self, case: &str, file: &str, otherwise: i64) -> PhaseRecord {
        let mut phase = self.row;
        phase.key.case = case.into();
        if !self.timed {
            phase.started_unix_ns = self.began_at.map_or(otherwise, |at| last_time(at, otherwise));
        }
        let key = phase.key.clone();
        let latency = self.latency.iter().map(|bucket| LatencyRow {
            key: key.clone(),
            operation: bucket.operation,
            measure: Measure::Response,
            low_ns: bucket.low_ns,
            high_ns: bucket.high_ns.max(bucket.low_ns),
            count: bucket.count,
        });
        let printed = self.printed.into_iter().map(|one| PrintedRow {
            key: key.clone(),
            label: one.label.into(),
            value: one.value.into(),
            number: one.number,
            unit: (*one.unit).into(),
            statistic: one.statistic.into(),
            source: file.into(),
            line: one.line,
        });
        let warning = |warning| WarningRow { key: Some(key.clone()), warning };
        PhaseRecord {
            latency: latency.collect(),
            series: self.series.into_iter().map(|row| SeriesRow { key: key.clone(), ..row }).collect(),
            devices: self.devices.into_iter().map(|row| DeviceRow { key: key.clone(), ..row }).collect(),
            history: self.history.into_iter().map(|row| HistoryRow { key: key.clone(), ..row }).collect(),
            printed: printed.collect(),
            warnings: self.warnings.into_iter().map(warning).collect(),
            ..PhaseRecord::new(phase)
        }
    }
}

impl Test {
    /// A case called `id`, about which the text says what `stated` contains. None of its conditions is known;
    /// [`Test::knowing`] adds those that are.
    pub(super) fn new(id: &str, spec: WorkloadSpec, stated: &str) -> Self {
        let whole = spec.clone().validate();
        let is_whole = whole.is_ok();
        let workload = whole
            .or_else(|_| plain(&spec).validate())
            .or_else(|_| WorkloadSpec { work: Work::default(), ..plain(&spec) }.validate())
            .expect("some tasks with one transfer of one byte on one path are valid");
        let not_printed = Some(Condition::ALL.into_iter().collect());
        let case =
            Case { stated: Some(stated.to_owned()), not_printed, ..Case::new(id, workload, Vec::new()) };
        Self { case, is_whole, passes: Vec::new() }
    }

    /// The case of a command line. All of its conditions are known, except those of `known` that are not.
    pub(super) fn of_command(case: &Case, stated: &str, known: &[(Condition, bool)]) -> Self {
        let mut case = Case { phases: Vec::new(), ..case.clone() };
        let unknown = known.iter().filter(|(_, is_known)| !is_known).map(|(condition, _)| *condition);
        let unknown: BTreeSet<Condition> = unknown.collect();
        if !unknown.is_empty() {
            (case.stated, case.not_printed) = (Some(stated.to_owned()), Some(unknown));
        }
        Self { case, is_whole: true, passes: Vec::new() }
    }

    /// Adds the conditions that the text contains, each with whether it does. The values of all others in the
    /// workload are placeholders.
    pub(super) fn knowing(mut self, known: &[(Condition, bool)]) -> Self {
        let not_printed = self.case.not_printed.get_or_insert_default();
        for (condition, _) in known.iter().filter(|(_, is_known)| *is_known && self.is_whole) {
            not_printed.remove(condition);
        }
        self
    }

    /// The pass of `phase` with the number `repetition`.
    pub(super) fn pass_mut(&mut self, phase: Phase, repetition: u32) -> &mut Pass {
        let is_it = |pass: &Pass| pass.row.key.phase == phase && pass.row.key.repetition == repetition;
        let place = self.passes.iter().position(is_it).unwrap_or_else(|| {
            self.passes.push(Pass::new(phase, repetition));
            self.passes.len() - 1
        });
        &mut self.passes[place]
    }

    /// Converts it to a case with a unique name, and its passes in their order.
    pub(super) fn finish(self, names: &mut Names) -> (Case, Vec<Pass>) {
        let mut case = self.case;
        case.id = names.free(&case.id);
        case.phases.clear();
        for pass in &self.passes {
            let phase = pass.row.key.phase;
            if !case.phases.contains(&phase) {
                case.phases.push(phase);
            }
        }
        let last = self.passes.iter().map(|pass| pass.row.key.repetition).max().unwrap_or(0);
        case.repetitions = last.saturating_add(1);
        let mut passes = self.passes;
        passes.sort_by_key(|pass| pass.row.key.repetition);
        (case, passes)
    }
}

/// The names of all cases.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: HashSet<String>,
    /// How often each name was requested.
    asked: HashMap<String, u32>,
}

impl Names {
    /// Returns `name`, or `name-2` and so on if it is already used.
    fn free(&mut self, name: &str) -> String {
        let asked = self.asked.entry(name.to_owned()).or_default();
        loop {
            *asked = asked.saturating_add(1);
            let free = if *asked == 1 { name.to_owned() } else { format!("{name}-{asked}") };
            if self.taken.insert(free.clone()) {
                return free;
            }
        }
    }
}

/// `spec` reduced to its names, because a workload that cannot be measured here may have been measured
/// elsewhere.
fn plain(spec: &WorkloadSpec) -> WorkloadSpec {
    let target = spec.files.targets.first().cloned().unwrap_or_else(|| "unknown".into());
    let tasks = spec.tasks.clamp(1, 1 << 20);
    WorkloadSpec {
        tasks,
        work: spec.work.clone(),
        ..WorkloadSpec::new(spec.name.clone(), target, geometry(None))
    }
}

/// A geometry with one transfer of this size for each task, or of one byte if the size is unknown.
pub(super) fn geometry(transfer: Option<u64>) -> Geometry {
    let transfer = Bytes(transfer.unwrap_or(1).max(1));
    Geometry { transfer, block: transfer, segments: 1 }
}

/// A geometry with transfers of `transfer` bytes, and `bytes` for each task.
pub(super) fn volume(transfer: u64, bytes: u64) -> Geometry {
    let transfer = transfer.max(1);
    let block = (bytes / transfer).max(1).saturating_mul(transfer);
    Geometry { transfer: Bytes(transfer), block: Bytes(block), segments: 1 }
}

/// The last moment not later than `unix_ns` at which a clock showed `since_midnight_ns`.
fn last_time(since_midnight_ns: u64, unix_ns: i64) -> i64 {
    let day = i64::try_from(DAY_NS).unwrap_or(i64::MAX);
    let at = i64::try_from(since_midnight_ns).unwrap_or(0);
    unix_ns - (unix_ns - at).rem_euclid(day)
}
