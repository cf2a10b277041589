//! The last operations of a run, with the columns of an I/O history of IBM Storage Scale
//! (`mmfsadm dump iohist`) and what part of their time was the device's.

use std::fmt::Write as _;

use analysis::{DevicePart, HistorySplit};
use plan::Phase;
use record::{HistoryRow, Operation, PhaseKey, Row, Run};
use serde::Serialize;

use crate::Colour;
use crate::csv::line;
use crate::escape;
use crate::format::{counted, grouped};
use crate::table::{Align, Table};

/// Which operations of a run are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Of this case only.
    pub case: Option<String>,
    /// Of this phase only.
    pub phase: Option<Phase>,
    /// Of each phase at most so many, the last ones.
    pub last: Option<usize>,
}

/// The last operations of some phases of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    parts: Vec<Part>,
}

/// Those of one phase.
#[derive(Debug, Clone, PartialEq)]
struct Part {
    key: PhaseKey,
    started_unix_ns: i64,
    rows: Vec<HistoryRow>,
    /// Over all of the phase's operations that were kept, shown or not.
    split: Option<HistorySplit>,
}

impl History {
    /// What `run` has of what is `wanted`.
    #[must_use]
    pub fn of(run: &Run, wanted: &Wanted) -> Self {
        let mut parts = Vec::new();
        let is_wanted = |key: &PhaseKey| {
            wanted.case.as_ref().is_none_or(|case| key.case == *case)
                && wanted.phase.is_none_or(|phase| key.phase == phase)
        };
        for phase in run.phases.iter().filter(|phase| is_wanted(&phase.key)) {
            let all = run.history(&phase.key.case);
            let mut rows: Vec<HistoryRow> = all.iter().filter(|row| row.key == phase.key).cloned().collect();
            if rows.is_empty() {
                continue;
            }
            rows.sort_by_key(|row| row.start_ns);
            let split = HistorySplit::of(&rows);
            if let Some(last) = wanted.last {
                rows.drain(..rows.len().saturating_sub(last));
            }
            parts.push(Part { key: phase.key.clone(), started_unix_ns: phase.started_unix_ns, rows, split });
        }
        Self { parts }
    }

    /// Whether nothing of what was wanted is there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Tables for a terminal. Columns in which nothing is known are left out.
    #[must_use]
    pub fn text(&self, colour: Colour) -> String {
        let mut out = String::new();
        for (number, part) in self.parts.iter().enumerate() {
            if number > 0 {
                out.push('\n');
            }
            let kept = part.split.map_or(0, |split| split.operations);
            let PhaseKey { case, repetition, phase } = &part.key;
            let shown = match part.rows.len() as u64 {
                shown if shown == kept => counted(kept, "operation"),
                shown => format!("the last {} of {} operations", grouped(shown), grouped(kept)),
            };
            let heading = format!("{case} · {phase} · repetition {repetition} · {shown}");
            let _ = writeln!(out, "{}", colour.strong(&heading));
            if let Some(file) = part.only_file() {
                let _ = writeln!(out, "{}", plan::visible(file));
            }
            out.push_str(&part.table().to_text("", colour));
            if let Some(split) = &part.split {
                out.push_str(&words(split));
            }
        }
        out
    }

    /// One row for each operation, with all columns of the record (RFC 4180).
    #[must_use]
    pub fn csv(&self) -> String {
        let mut names: Vec<&str> = HistoryRow::COLUMNS.iter().map(|column| column.name).collect();
        names.extend(["started_unix_ns", "rest_ns"]);
        let mut out = line(&names.into_iter().map(str::to_owned).collect::<Vec<_>>());
        for part in &self.parts {
            for row in &part.rows {
                let mut cells: Vec<String> =
                    HistoryRow::COLUMNS.iter().map(|column| stored(&(column.cell)(row))).collect();
                cells.push(part.started_unix_ns(row).to_string());
                cells.push(rest_ns(row).map(|nanos| nanos.to_string()).unwrap_or_default());
                out.push_str(&line(&cells));
            }
        }
        out
    }

    /// Everything, for programs.
    ///
    /// # Panics
    /// Never: there is nothing in it that cannot become JSON.
    #[must_use]
    pub fn json(&self) -> String {
        let parts: Vec<JsonPart<'_>> = self.parts.iter().map(JsonPart::of).collect();
        escape::json_text(&parts)
    }
}

#[derive(Serialize)]
struct JsonPart<'a> {
    case: &'a str,
    repetition: u32,
    phase: Phase,
    operations: u64,
    latency_mean_ns: f64,
    gap_mean_ns: Option<f64>,
    between_mean_ns: Option<f64>,
    device: Option<JsonDevice>,
    rows: &'a [HistoryRow],
}

#[derive(Serialize)]
struct JsonDevice {
    operations: u64,
    by_sector: u64,
    latency_mean_ns: f64,
    device_mean_ns: f64,
    rest_mean_ns: f64,
}

impl<'a> JsonPart<'a> {
    fn of(part: &'a Part) -> Self {
        let split = part.split;
        let device = |part: DevicePart| JsonDevice {
            operations: part.operations,
            by_sector: part.by_sector,
            latency_mean_ns: part.latency_ns,
            device_mean_ns: part.device_ns,
            rest_mean_ns: part.rest_ns,
        };
        Self {
            case: &part.key.case,
            repetition: part.key.repetition,
            phase: part.key.phase,
            operations: split.map_or(0, |split| split.operations),
            latency_mean_ns: split.map_or(0.0, |split| split.latency_ns),
            gap_mean_ns: split.and_then(|split| split.gap_ns),
            between_mean_ns: split.and_then(|split| split.between_ns),
            device: split.and_then(|split| split.device).map(device),
            rows: &part.rows,
        }
    }
}

impl Part {
    fn started_unix_ns(&self, row: &HistoryRow) -> i64 {
        self.started_unix_ns.saturating_add(i64::try_from(row.start_ns).unwrap_or(i64::MAX))
    }

    /// The file of all rows, where there is only one.
    fn only_file(&self) -> Option<&str> {
        let first = self.rows.first().map(|row| row.file.as_str()).filter(|file| !file.is_empty())?;
        self.rows.iter().all(|row| row.file == first).then_some(first)
    }

    fn table(&self) -> Table {
        use Align::{Left, Right};
        let is_own = self.rows.iter().any(|row| row.thread_name.is_empty());
        let mut table = Table::new(&[
            // An imported time is that of a clock whose zone is not printed.
            (if is_own { "start (UTC)" } else { "start" }, Left),
            ("RW", Left),
            ("buf type", Left),
            ("disk:sectorNum", Left),
            ("nSec", Right),
            ("time ms", Right),
            ("device ms", Right),
            ("rest ms", Right),
            ("found by", Left),
            ("tag1", Right),
            ("tag2", Right),
            ("Disk UID", Left),
            ("typ", Left),
            ("NSD node", Left),
            ("context", Left),
            ("thread", Left),
            ("task", Right),
            ("offset", Right),
            ("file", Left),
        ])
        .below("file")
        .unfolded();
        let one_file = self.only_file().is_some();
        let nodes = self.rows.iter().any(|row| row.node != self.rows[0].node);
        for row in &self.rows {
            let is_item = !matches!(row.operation, Operation::Read | Operation::Write | Operation::Exchange);
            let number = |number: Option<i64>| number.map(|number| number.to_string()).unwrap_or_default();
            let thread =
                if row.thread_name.is_empty() { row.thread.to_string() } else { row.thread_name.clone() };
            let disk = match row.sector {
                Some(sector) => format!("{}:{sector}", row.device),
                None => row.device.clone(),
            };
            table.row(vec![
                time_of_day(self.started_unix_ns(row)),
                letter(row.operation),
                row.kind.clone(),
                disk,
                if is_item { String::new() } else { row.bytes.div_ceil(512).to_string() },
                millis(row.latency_ns),
                row.device_ns.map(millis).unwrap_or_default(),
                rest_ns(row).map(|rest| format!("{:.3}", rest as f64 / 1e6)).unwrap_or_default(),
                row.matched.clone(),
                number(row.tag1),
                number(row.tag2),
                row.disk_uid.clone(),
                row.node_type.clone(),
                if nodes && row.server.is_empty() { row.node.clone() } else { row.server.clone() },
                row.context.clone(),
                thread,
                if is_own { row.task.to_string() } else { String::new() },
                if is_item || !is_own { String::new() } else { row.offset_bytes.to_string() },
                if one_file { String::new() } else { row.file.clone() },
            ]);
        }
        table.without_empty_columns()
    }
}

/// The means in words.
fn words(split: &HistorySplit) -> String {
    let micros = |nanos: f64| format!("{:.1} µs", nanos / 1e3);
    let mut out = format!("mean {} an operation", micros(split.latency_ns));
    if let Some(gap) = split.gap_ns {
        let _ = write!(out, "; {} from start to start", micros(gap));
    }
    // Operations that are under way at the same time, or follow at once, have nothing between them.
    if let Some(between) = split.between_ns.filter(|between| *between >= 50.0) {
        let _ = write!(out, ", {} of it between operations", micros(between));
    }
    out.push('\n');
    if let Some(device) = &split.device {
        let by_time = device.operations - device.by_sector;
        let how = match (device.by_sector, by_time) {
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

fn stored(cell: &record::Cell<'_>) -> String {
    match cell {
        record::Cell::Null => String::new(),
        record::Cell::Text(text) => text.to_string(),
        record::Cell::Integer(number) => number.to_string(),
        record::Cell::Number(number) => number.to_string(),
    }
}

/// What of an operation's time the device does not explain.
fn rest_ns(row: &HistoryRow) -> Option<i64> {
    let (latency, device) = (i64::try_from(row.latency_ns).ok()?, i64::try_from(row.device_ns?).ok()?);
    Some(latency - device)
}

fn letter(operation: Operation) -> String {
    match operation {
        Operation::Read => "R".to_owned(),
        Operation::Write => "W".to_owned(),
        other => other.name().to_owned(),
    }
}

fn millis(nanos: u64) -> String {
    format!("{:.3}", nanos as f64 / 1e6)
}

/// As `11:37:54.451846`.
fn time_of_day(unix_ns: i64) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(unix_ns))
        .map_or_else(|_| unix_ns.to_string(), |time| time.strftime("%H:%M:%S.%6f").to_string())
}
