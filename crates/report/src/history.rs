//! The last operations of a run, with the columns of an I/O history of IBM Storage Scale (`mmfsadm dump
//! iohist`) in their order, followed by the device's part of each operation's time. `ioproof import` reads
//! both.

use std::fmt::Write as _;

use analysis::figures::{HistoryContext, HistorySplit};
use plan::{Operation, Phase};
use record::{HistoryRow, PhaseKey, Row, Run};
use serde_json::{Value, json};

use crate::Screen;
use crate::format::escape;
use crate::format::names;
use crate::format::table::{Cell, Table};
use crate::format::{counted, grouped, percent};
use crate::render::csv::line;

/// Selection of operations of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistorySelection {
    /// Only this case, if given.
    pub case: Option<String>,
    /// Only this phase, if given.
    pub phase: Option<Phase>,
    /// Maximum number of operations per phase, counted from the last.
    pub last: Option<usize>,
}

/// The last operations of some phases of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// [`names::mark`] of the run.
    mark: Option<String>,
    provenance: &'static str,
    /// The name of the model of a simulated run.
    model: String,
    parts: Vec<PhaseHistory>,
}

/// The last operations of one phase.
#[derive(Debug, Clone, PartialEq)]
struct PhaseHistory {
    key: PhaseKey,
    started_unix_ns: i64,
    rows: Vec<HistoryRow>,
    /// Over all recorded operations of the phase, whether shown or not.
    split: HistorySplit,
    /// The same by context and kind of buffer, if there are several.
    contexts: Vec<HistoryContext>,
}

impl History {
    /// The part of `run` selected by `wanted`.
    #[must_use]
    pub fn of(run: &Run, wanted: &HistorySelection) -> Self {
        let is_wanted = |key: &PhaseKey| {
            wanted.case.as_ref().is_none_or(|case| key.case == *case)
                && wanted.phase.is_none_or(|phase| key.phase == phase)
        };
        let phases = run.all_phases().filter(|phase| is_wanted(&phase.key));
        let parts = phases.filter_map(|phase| {
            let all = run.history(&phase.key.case);
            let mut rows: Vec<HistoryRow> = all.iter().filter(|row| row.key == phase.key).cloned().collect();
            rows.sort_by_key(|row| row.start_ns);
            let (split, contexts) =
                (HistorySplit::of(&rows)?, HistoryContext::all(&rows, phase.traced_requests.is_some()));
            rows.drain(..rows.len().saturating_sub(wanted.last.unwrap_or(usize::MAX)));
            let (key, started_unix_ns) = (phase.key.clone(), phase.started_unix_ns);
            Some(PhaseHistory { key, started_unix_ns, rows, split, contexts })
        });
        let manifest = &run.manifest;
        Self {
            mark: names::mark(manifest),
            provenance: names::provenance(manifest.provenance),
            model: manifest.model.as_ref().map(|model| model.name.clone()).unwrap_or_default(),
            parts: parts.collect(),
        }
    }

    /// Whether the selection is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Tables for a terminal, without columns of unknown values.
    #[must_use]
    pub fn text(&self, screen: Screen) -> String {
        let mark = self.mark.as_ref().map(|mark| format!("{}\n\n", screen.strong(mark))).unwrap_or_default();
        mark + &self.parts.iter().map(|part| part.text(screen)).collect::<Vec<_>>().join("\n")
    }

    /// One row for each operation, with all columns of the record (RFC 4180).
    #[must_use]
    pub fn csv(&self) -> String {
        let stored = |cell: record::Cell<'_>| match cell {
            record::Cell::Null => String::new(),
            record::Cell::Text(text) => text.to_string(),
            record::Cell::Integer(number) => number.to_string(),
            record::Cell::Number(number) => number.to_string(),
        };
        let names = HistoryRow::COLUMNS.iter().map(|column| column.name).chain([
            "started_unix_ns",
            "rest_ns",
            "provenance",
            "model",
        ]);
        let mut out = line(&names.map(str::to_owned).collect::<Vec<_>>());
        for (part, row) in self.parts.iter().flat_map(|part| part.rows.iter().map(move |row| (part, row))) {
            let mut cells: Vec<String> =
                HistoryRow::COLUMNS.iter().map(|column| stored((column.cell)(row))).collect();
            cells.push(part.started_unix_ns(row).to_string());
            cells.push(rest_ns(row).map(|nanos| nanos.to_string()).unwrap_or_default());
            cells.extend([self.provenance.to_owned(), self.model.clone()]);
            out.push_str(&line(&cells));
        }
        out
    }

    /// Everything, for programs.
    #[must_use]
    pub fn json(&self) -> String {
        let part = |part: &PhaseHistory| {
            let mut part = part.json();
            part["provenance"] = self.provenance.into();
            part["model"] = Some(&*self.model).filter(|name| !name.is_empty()).into();
            part
        };
        escape::json_text(&self.parts.iter().map(part).collect::<Vec<_>>())
    }
}

impl PhaseHistory {
    fn json(&self) -> Value {
        let split = &self.split;
        let device = split.device.map(|device| {
            json!({
                "operations": device.operations,
                "by_sector": device.by_sector,
                "latency_mean_ns": device.latency_ns,
                "device_mean_ns": device.device_ns,
                "rest_mean_ns": device.rest_ns,
            })
        });
        json!({
            "case": &*self.key.case,
            "repetition": self.key.repetition,
            "phase": self.key.phase,
            "operations": split.operations,
            "latency_mean_ns": split.latency_ns,
            "gap_mean_ns": split.gap_ns,
            "between_mean_ns": split.between_ns,
            "device": device,
            "contexts": self.contexts.iter().map(|one| json!({
                "context": one.context,
                "kind": one.kind,
                "operations": one.split.operations,
                "latency_mean_ns": one.split.latency_ns,
                "without_request_share": one.without_request,
            })).collect::<Vec<_>>(),
            "rows": self.rows,
        })
    }

    /// The operations by their purpose.
    fn contexts(&self) -> Table {
        Table::of(&self.contexts)
            .left("context", |one| one.context.as_str())
            .left("Buf type", |one| one.kind.as_str())
            .right("operations", |one| grouped(one.split.operations))
            .right("share", |one| percent(one.share))
            .right("mean ms", |one| format!("{:.3}", one.split.latency_ns / 1e6))
            .right("no request found", |one| one.without_request.map(percent))
            .done()
            .without_empty_columns()
    }

    fn text(&self, screen: Screen) -> String {
        let PhaseKey { case, repetition, phase } = &self.key;
        let kept = self.split.operations;
        let shown = match self.rows.len() as u64 {
            shown if shown == kept => counted(kept, "operation"),
            shown => format!("the last {} of {} operations", grouped(shown), grouped(kept)),
        };
        let heading = format!("{case} · {phase} · repetition {repetition} · {shown}");
        let file = self.only_file().map(|file| format!("{}\n", plan::visible(file))).unwrap_or_default();
        let table = self.table().to_text("", screen);
        let contexts = match self.contexts.is_empty() {
            true => String::new(),
            false => format!("\nBy context\n{}", self.contexts().to_text("", screen)),
        };
        format!("{}\n{file}{table}{}{contexts}", screen.strong(&heading), words(&self.split))
    }

    fn started_unix_ns(&self, row: &HistoryRow) -> i64 {
        self.started_unix_ns.saturating_add(i64::try_from(row.start_ns).unwrap_or(i64::MAX))
    }

    /// The path of the file, if all rows have the same one.
    fn only_file(&self) -> Option<&str> {
        let first = self.rows.first().map(|row| row.file.as_str()).filter(|file| !file.is_empty())?;
        self.rows.iter().all(|row| row.file == first).then_some(first)
    }

    fn table(&self) -> Table {
        let is_own = self.rows.iter().any(|row| row.thread_name.is_empty());
        let one_file = self.only_file().is_some();
        // As in a dump of Scale, no column of a transfer is empty, so that words can be counted.
        let told = |is: bool, text: &str| match text.is_empty() {
            true if is && is_own => "-".to_owned(),
            _ => text.replace(char::is_whitespace, "_"),
        };
        let is_item = |row: &HistoryRow| {
            !matches!(row.operation, Operation::Read | Operation::Write | Operation::Exchange)
        };
        let text = |row: &HistoryRow, text: &str| told(!is_item(row), text);
        let tag = |row: &HistoryRow, tag: Option<i64>| {
            text(row, &tag.map(|tag| tag.to_string()).unwrap_or_default())
        };
        let only = |is: bool, text: String| Cell::from(is.then_some(text));
        let millis = |nanos: f64| format!("{:.3}", nanos / 1e6);
        Table::of(&self.rows)
            // An imported time has an unknown time zone.
            .left(if is_own { "I/O start time (UTC)" } else { "I/O start time" }, |row| {
                time_of_day(self.started_unix_ns(row))
            })
            .left("RW", |row| match row.operation {
                Operation::Read => "R",
                Operation::Write => "W",
                other => other.name(),
            })
            .left("Buf type", |row| text(row, &row.kind))
            .left("disk:sectorNum", |row| match row.sector {
                Some(sector) => format!("{}:{sector}", row.device),
                None => text(row, &row.device),
            })
            .right("nSec", |row| only(!is_item(row), row.bytes.div_ceil(512).to_string()))
            .right("time ms", |row| millis(row.latency_ns as f64))
            .right("tag1", |row| tag(row, row.tag1))
            .right("tag2", |row| tag(row, row.tag2))
            .left("Disk UID", |row| text(row, &row.disk_uid))
            .left("typ", |row| text(row, &row.node_type))
            .left("NSD node", |row| {
                told(!is_item(row), if row.server.is_empty() { &row.node } else { &row.server })
            })
            .left("context", |row| text(row, &row.context))
            .left("thread", |row| match row.thread_name.as_str() {
                "" => row.thread.to_string(),
                name => name.to_owned(),
            })
            .left("comment", |row| row.comment.to_string())
            .right("device ms", |row| row.device_ns.map(|nanos| millis(nanos as f64)))
            .right("rest ms", |row| rest_ns(row).map(|nanos| millis(nanos as f64)))
            .left("found by", |row| row.matched.to_string())
            .right("task", |row| only(is_own, row.task.to_string()))
            .right("offset", |row| only(is_own && !is_item(row), row.offset_bytes.to_string()))
            .left("file", |row| only(!one_file, row.file.to_string()))
            .done()
            .below("file")
            .unfolded()
            .without_empty_columns()
    }
}

/// The mean times in a sentence.
fn words(split: &HistorySplit) -> String {
    let micros = |nanos: f64| format!("{:.1} µs", nanos / 1e3);
    let mut out = format!("mean {} an operation", micros(split.latency_ns));
    if let Some(gap) = split.gap_ns {
        let _ = write!(out, "; {} from start to start", micros(gap));
    }
    // Concurrent or back-to-back operations have no gaps.
    if let Some(between) = split.between_ns.filter(|between| *between >= 50.0) {
        let _ = write!(out, ", {} of it between operations", micros(between));
    }
    out.push('\n');
    if let Some(device) = &split.device {
        let how = match (device.by_sector, device.operations - device.by_sector) {
            (_, 0) => "by sector".to_owned(),
            (0, _) => "by time and size alone".to_owned(),
            (sector, time) => {
                format!("{} by sector, {} by time and size alone", grouped(sector), grouped(time))
            }
        };
        let _ = writeln!(
            out,
            "device {}, rest {} of {} (requests of {} of {} found: {how})",
            micros(device.device_ns),
            micros(device.rest_ns),
            micros(device.latency_ns),
            grouped(device.operations),
            counted(split.operations, "operation"),
        );
    }
    out
}

/// The part of an operation's time not spent in the device.
fn rest_ns(row: &HistoryRow) -> Option<i64> {
    let (latency, device) = (i64::try_from(row.latency_ns).ok()?, i64::try_from(row.device_ns?).ok()?);
    Some(latency - device)
}

/// As `11:37:54.451846`.
fn time_of_day(unix_ns: i64) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(unix_ns))
        .map_or_else(|_| unix_ns.to_string(), |time| time.strftime("%H:%M:%S.%6f").to_string())
}
