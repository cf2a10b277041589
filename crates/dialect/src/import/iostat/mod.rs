//! `iostat -x` of sysstat 8 to 12. Each device becomes a case, each report an interval of it.
//!
//! `rkB/s` are KiB, `rMB/s` MiB, `rsec/s` sectors of 512 bytes (see its manual); `r_await` is in ms. The
//! length of an interval is only known with `-t`; otherwise the rates are right and the amounts are those of
//! one second. If there are several reports, the first one counts from boot and is left out.
//!
//! With `--pretty` a report has a table for each direction, with the device at the end of a row; with `--human` values
//! have a unit by 1024 (`1.5M` of a column in kB). The row of a group (`-g`) is the sum of its devices; its name is
//! indented.

pub(super) mod json;

use std::collections::BTreeMap;

use plan::{Condition, Phase, WorkloadSpec};
use record::DeviceRow;

use crate::import::draft::{Draft, Pass, Printed, Test, geometry};
use crate::import::error::ImportError;
use crate::import::importer::{Form, Importer, no_line};
use crate::import::text::lines::{Block, Line, whole};
use crate::import::text::{lines, times};

/// The tool's name.
pub(super) const TOOL: &str = "iostat";

/// Parses `iostat -x`.
pub(crate) const IMPORTER: Importer = Importer {
    name: "iostat",
    tool: TOOL,
    newest: Some((12, 7)),
    form: Form::Lines { starts, is_own: no_line, continues: false, read: parse },
};

const SECOND_NS: u64 = 1_000_000_000;

/// Whether an output of iostat starts with `line`: `Linux 6.1.0 (host) 11/21/26 _x86_64_ (2 CPU)`.
fn starts(line: &str) -> bool {
    line.starts_with("Linux ") && line.contains(" CPU)") && line.contains('(')
}

/// A value of a device in one report.
pub(super) struct Value<'a> {
    pub(super) name: String,
    pub(super) line: Line<'a>,
    pub(super) text: &'a str,
    pub(super) number: f64,
}

/// One report.
#[derive(Default)]
pub(super) struct Report<'a> {
    pub(super) at: Option<i64>,
    pub(super) devices: Vec<(String, Vec<Value<'a>>)>,
}

fn parse(block: &Block<'_>) -> Result<Draft, ImportError> {
    let mut draft = Draft { tool: TOOL, ..Draft::default() };
    let mut reports: Vec<Report<'_>> = Vec::new();
    let mut columns: Vec<&str> = Vec::new();
    let mut at = None;
    let mut date = "";
    // A device with a long name may have its values in the next line.
    let mut name = None;
    for line in block.lines {
        let text = line.text.trim();
        if starts(text) {
            draft.node = text
                .split_once('(')
                .and_then(|(_, rest)| rest.split_once(')'))
                .map(|(node, _)| node.to_owned());
            // After the host, so that it is not the release of the kernel.
            let after = text.split_once(')').map_or("", |(_, rest)| rest);
            date = after.split_whitespace().next().unwrap_or("");
        } else if text.is_empty() || text.starts_with("avg-cpu") {
            columns.clear();
        } else if is_header(text) {
            columns = text.split_whitespace().map(|column| column.trim_end_matches(':')).collect();
            let is_new = columns.contains(&"r/s") || reports.is_empty();
            if is_new && !columns.contains(&"r/s") {
                let next = "give the output of `iostat -x`, without -s";
                return Err(block.unusable(*line, "this table does not tell reads from writes", next));
            }
            if is_new {
                reports.push(Report { at: at.take(), devices: Vec::new() });
            }
        } else if columns.is_empty() {
            let of_day = text.strip_prefix("Time: ").map(|time| format!("{date} {time}"));
            at = times::moment(of_day.as_deref().unwrap_or(text)).or(at);
        } else if !text.contains(char::is_whitespace) {
            name = Some(text);
        } else if let Some(report) = reports.last_mut() {
            report.add(row(block, *line, &columns, name.take())?);
        }
    }
    let devices = reports.iter().map(|report| report.devices.len()).max().unwrap_or(0);
    if devices == 0 {
        return Err(block.ended("the row of a device"));
    }
    build(&mut draft, reports);
    match draft.tests.is_empty() {
        true => Err(block.ended("a report in which a device is not idle")),
        false => Ok(draft),
    }
}

/// Whether the line is the heading of a table: the device is its first or, with `--pretty`, its last column.
fn is_header(text: &str) -> bool {
    let is_device = |word: Option<&str>| word.is_some_and(|word| matches!(word, "Device" | "Device:"));
    is_device(text.split_whitespace().next())
        || (is_device(text.split_whitespace().next_back()) && text.contains("/s"))
}

/// A row: the device or group, and its values.
type Row<'a> = (String, Vec<Value<'a>>);

/// Parses a row. `wrapped` is the device if its name stands in the line before.
fn row<'a>(
    block: &Block<'_>,
    line: Line<'a>,
    columns: &[&str],
    wrapped: Option<&str>,
) -> Result<Row<'a>, ImportError> {
    let mut words: Vec<&str> = line.text.split_whitespace().collect();
    let is_pretty = columns.last() == Some(&"Device");
    let device = match (wrapped, is_pretty) {
        (Some(device), _) => device,
        (None, true) => words.pop().unwrap_or_default(),
        (None, false) => words.remove(0),
    };
    let columns: Vec<&str> = columns.iter().copied().filter(|column| *column != "Device").collect();
    if words.len() != columns.len() {
        return Err(block.malformed(
            line,
            line.text,
            format!("a value for each of {} columns", columns.len()),
        ));
    }
    // All values in a row have the same number of decimals; a truncated one has fewer. With `--human` the last value
    // is a percentage.
    let digits = |text: &str| text.split_once(['.', ',']).map(|(_, digits)| digits.len());
    let is_human = words.iter().any(|word| word.ends_with('%'));
    let last = words[words.len() - 1];
    let is_cut = match is_human {
        true => !last.ends_with('%') && columns.last() == Some(&"%util"),
        false => digits(last) != digits(words[0]),
    };
    if is_cut {
        return Err(block.malformed(line, last, "a value with as many digits as the others"));
    }
    let value = |(name, text): (&&str, &&'a str)| {
        let what = format!("a number in the column {name}");
        let number = number(name, text).ok_or_else(|| block.malformed(line, text, what))?;
        Ok(Value { name: (*name).to_owned(), line, text, number })
    };
    let values = columns.iter().zip(&words).map(value).collect::<Result<Vec<_>, ImportError>>()?;
    let is_group = wrapped.is_none()
        && match is_pretty {
            true => line.text.trim_end().strip_suffix(device).is_some_and(|rest| rest.ends_with("  ")),
            false => line.text.starts_with(' '),
        };
    Ok((if is_group { format!("{GROUP}{device}") } else { device.to_owned() }, values))
}

/// A number in the unit of its column. In some locales the decimal separator is a comma.
fn number(column: &str, text: &str) -> Option<f64> {
    let text = text.replace(',', ".");
    let plain = text.trim_end_matches(['%', 'B', 'k', 'M', 'G', 'T']);
    let number = lines::number(plain)?;
    let power = |letter: &str| ["", "k", "M", "G", "T"].iter().position(|known| *known == letter);
    let own = match text[plain.len()..].trim_end_matches('B') {
        "" if text.ends_with('B') => 0,
        "" | "%" => return Some(number),
        letter => power(letter)?,
    };
    let of_column = if column.contains("MB") { 2 } else { 1 };
    Some(number * 1024_f64.powi(i32::try_from(own).ok()? - of_column))
}

/// Stands before the name of a group.
const GROUP: char = ' ';

impl<'a> Report<'a> {
    /// Adds a row, or its values to those of another table of the same report.
    fn add(&mut self, (device, values): Row<'a>) {
        match self.devices.iter_mut().find(|(known, _)| *known == device) {
            Some((_, known)) => known.extend(values),
            None => self.devices.push((device, values)),
        }
    }
}

/// Creates the cases from the reports.
pub(super) fn build(draft: &mut Draft, mut reports: Vec<Report<'_>>) {
    if reports.len() > 1 {
        draft.doubts.push("the first report of iostat covers the time since boot; it was skipped".to_owned());
        let first = reports.remove(0);
        // Its time is the start of the next interval.
        draft.started = first.at;
    } else {
        draft
            .doubts
            .push("the only report of iostat covers the time since boot, unless -y was given".to_owned());
    }
    draft.finished = reports.iter().filter_map(|report| report.at).max();
    let mut devices: BTreeMap<String, Vec<(usize, Vec<Value<'_>>)>> = BTreeMap::new();
    let lengths = lengths(draft.started, &reports);
    for (index, report) in reports.into_iter().enumerate() {
        for (device, values) in report.devices {
            devices.entry(device).or_default().push((index, values));
        }
    }
    // A group is the sum of devices that have rows of their own, unless only groups are printed.
    let groups = devices.keys().filter(|name| name.starts_with(GROUP)).count();
    if groups > 0 && groups < devices.len() {
        devices.retain(|name, _| !name.starts_with(GROUP));
        draft.doubts.push("the rows of groups are sums of the devices; they were skipped".to_owned());
    }
    let idle = devices.iter().filter(|(_, rows)| is_idle(rows)).count();
    let all = devices.len();
    for (device, rows) in devices {
        // An idle device is left out, unless all are idle.
        if idle == all || !is_idle(&rows) {
            draft.tests.push(test(&device, rows, lengths.as_ref()));
        }
    }
    if idle > 0 && idle < all {
        draft.doubts.push(format!("{idle} of {all} devices were idle, and were skipped"));
    }
}

fn is_idle(rows: &[(usize, Vec<Value<'_>>)]) -> bool {
    let moves = |value: &Value<'_>| matches!(value.name.as_str(), "r/s" | "w/s") && value.number > 0.0;
    !rows.iter().any(|(_, values)| values.iter().any(moves))
}

/// The lengths of the intervals, or `None` if no times are printed.
fn lengths(started: Option<i64>, reports: &[Report<'_>]) -> Option<Vec<u64>> {
    let mut ends: Vec<i64> = reports.iter().map(|report| report.at).collect::<Option<_>>()?;
    match started {
        Some(started) => ends.insert(0, started),
        // Intervals are equal, so the first is as long as the second.
        None if ends.len() > 1 => ends.insert(0, ends[0].saturating_mul(2).saturating_sub(ends[1])),
        None => return None,
    }
    let lengths =
        ends.windows(2).map(|pair| u64::try_from(pair[1].saturating_sub(pair[0])).ok().filter(|&ns| ns > 0));
    lengths.collect()
}

fn test(name: &str, rows: Vec<(usize, Vec<Value<'_>>)>, lengths: Option<&Vec<u64>>) -> Test {
    let mut pass = Pass::new(Phase::Mixed, 0);
    let (device, is_device) = name.strip_prefix(GROUP).map_or((name, true), |group| (group, false));
    if !is_device {
        pass.note(format!("{device} is a group of devices, whose rates are added up"));
    }
    if lengths.is_none() {
        pass.note(
            "the length of an interval is not printed (-t): rates are correct, amounts assume one second",
        );
    }
    let mut at = 0;
    for (index, values) in rows {
        let length = lengths.and_then(|lengths| lengths.get(index).copied()).unwrap_or(SECOND_NS);
        let row = interval(device, &values, at, length);
        at += length;
        pass.row.reads += row.reads;
        pass.row.writes += row.writes;
        pass.row.read_bytes = pass.row.read_bytes.saturating_add(row.read_bytes);
        pass.row.write_bytes = pass.row.write_bytes.saturating_add(row.write_bytes);
        pass.devices.push(row);
        for value in values {
            pass.printed.push(Printed {
                number: Some(value.number),
                ..Printed::new(value.line, &value.name, value.text, unit(&value.name), "mean")
            });
        }
    }
    pass.took(at);
    let spec = WorkloadSpec::new(device, format!("/dev/{device}"), geometry(None));
    let mut test =
        Test::new(&format!("iostat-{device}"), spec, &format!("requests that {device} has completed"))
            .knowing(&[(Condition::Path, is_device)]);
    test.passes.push(pass);
    test
}

fn unit(column: &str) -> &'static str {
    match column {
        "rkB/s" | "wkB/s" | "dkB/s" => "KiB/s",
        "rMB/s" | "wMB/s" | "dMB/s" => "MiB/s",
        "rsec/s" | "wsec/s" => "sectors/s",
        "%util" | "util" | "%rrqm" | "%wrqm" | "%drqm" | "rrqm" | "wrqm" | "drqm" => "%",
        "rareq-sz" | "wareq-sz" | "dareq-sz" => "KiB",
        "aqu-sz" | "avgqu-sz" => "",
        "avgrq-sz" => "sectors",
        name if name.ends_with("await") || name == "svctm" => "ms",
        _ => "1/s",
    }
}

/// A row of the record for one interval.
fn interval(device: &str, values: &[Value<'_>], start_ns: u64, length_ns: u64) -> DeviceRow {
    let seconds = length_ns as f64 / 1e9;
    let of = |names: &[&str]| {
        values.iter().find(|value| names.contains(&value.name.as_str())).map_or(0.0, |value| value.number)
    };
    let bytes = |side: &str| {
        let of = |unit: &str| of(&[format!("{side}{unit}/s").as_str()]);
        (of("kB") * 1024.0 + of("MB") * 1_048_576.0 + of("sec") * 512.0) * seconds
    };
    let (reads, writes) = (of(&["r/s"]) * seconds, of(&["w/s"]) * seconds);
    DeviceRow {
        key: Pass::new(Phase::Mixed, 0).row.key,
        node: record::SharedText::EMPTY,
        device: device.into(),
        start_ns,
        length_ns,
        reads: whole(reads),
        read_bytes: whole(bytes("r")),
        read_time_ns: whole(reads * of(&["r_await", "await"]) * 1e6),
        writes: whole(writes),
        write_bytes: whole(bytes("w")),
        write_time_ns: whole(writes * of(&["w_await", "await"]) * 1e6),
        busy_ns: whole(of(&["%util", "util"]) / 100.0 * length_ns as f64),
        queue_time_ns: whole(of(&["aqu-sz", "avgqu-sz"]) * length_ns as f64),
    }
}
