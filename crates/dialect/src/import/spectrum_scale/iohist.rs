//! `mmfsadm dump iohist`: the last I/Os of a node of Spectrum Scale, one per line.
//!
//! `nSec` is the number of sectors of 512 bytes, `time ms` the duration of the I/O as seen by the node; for a
//! client (`cli`) this includes the network to the server of the disk. The start has no date. A local disk of
//! the node (`lcl`) has no NSD node. Newer releases print a comment after the thread. `ioproof history` prints
//! the same columns, with `-` for unknown values, followed by others. `mmdiag --iohist` prints fewer: after the time
//! only the type, the device or NSD, and the NSD node; neither tags, nor context, nor thread.

use plan::{Condition, Operation, Phase, WorkloadSpec};
use record::HistoryRow;

use crate::import::draft::{Bucket, DAY_NS, Draft, Pass, Printed, Test, volume};
use crate::import::error::ImportError;
use crate::import::importer::{Form, Importer};
use crate::import::text::lines::{Block, Line, number, whole};

/// The tool's name.
pub(super) const TOOL: &str = "mmfsadm dump iohist";

/// Parses `mmfsadm dump iohist`.
pub(crate) const IMPORTER: Importer = Importer {
    name: "iohist",
    tool: TOOL,
    newest: None,
    form: Form::Lines { starts, is_own, continues: true, read: parse },
};

const SECTOR: u64 = 512;

/// What `mmdiag` prints after the time, where a dump has a tag.
const TYPES: [&str; 3] = ["lcl", "cli", "srv"];

/// Whether a dump starts with `line`.
fn starts(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("I/O history:") || line.starts_with("I/O start time")
}

/// Whether `line` can only be a row. Used if the heading is missing.
fn is_own(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.len() >= 10
        && time_of_day(words[0]).is_some()
        && matches!(words[1], "R" | "W")
        && (words[3].contains(':') || words[3] == "-")
}

fn parse(block: &Block<'_>) -> Result<Draft, ImportError> {
    let mut tables = vec![Vec::new()];
    let mut ended = false;
    for line in block.lines {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        let is_row = words.first().is_some_and(|word| time_of_day(word).is_some());
        let Some(rows) = tables.last_mut() else { break };
        if is_row && !ended {
            rows.push(Row::of(block, *line, &words)?);
        } else if starts(line.text) && !rows.is_empty() {
            tables.push(Vec::new());
            ended = false;
        } else if !words.is_empty() && !rows.is_empty() {
            // The table ends at the first line that is not a row.
            ended = true;
        }
    }
    let tests: Vec<Test> = tables.iter().filter_map(|rows| test(rows)).collect();
    match tests.is_empty() {
        true => Err(block.ended("the first row of its table")),
        false => Ok(Draft { tool: TOOL, tests, ..Draft::default() }),
    }
}

/// The case of a table, or `None` if the table is empty.
fn test(rows: &[Row<'_>]) -> Option<Test> {
    let first = rows.first()?;
    let mut start = first.at_ns;
    let phase = match (rows.iter().any(|row| row.read), rows.iter().any(|row| !row.read)) {
        (true, true) => Phase::Mixed,
        (true, false) => Phase::Read,
        (false, _) => Phase::Write,
    };
    let mut pass = Pass::new(phase, 0);
    start = rows
        .iter()
        .map(|row| row.since(start))
        .filter(|since| *since > DAY_NS / 2)
        .map(|since| (start + since) % DAY_NS)
        .min()
        .unwrap_or(start);
    let end = rows.iter().map(|row| row.since(start) + row.latency_ns).max().unwrap_or(0);
    pass.took(end);
    pass.began_at = Some(start);
    for row in rows {
        row.add(&mut pass, start);
    }
    pass.history.sort_by_key(|row| row.start_ns);
    pass.note("start times have no date; the ring holds only the last I/Os, not all of them");
    let sizes: Vec<u64> = rows.iter().map(|row| row.bytes).collect();
    let size = sizes.first().copied().filter(|first| sizes.iter().all(|size| size == first));
    let disk = if first.disk.is_empty() { "unknown" } else { first.disk };
    let spec = WorkloadSpec::new("iohist", disk, volume(size.unwrap_or(1), size.unwrap_or(1)));
    let stated = match size {
        Some(size) => format!("I/Os of {}, as the node saw them", plan::Bytes(size)),
        None => "I/Os of several sizes, as the node saw them".to_owned(),
    };
    let mut test = Test::new("iohist", spec, &stated)
        .knowing(&[(Condition::Transfer, size.is_some()), (Condition::Path, !first.disk.is_empty())]);
    test.passes.push(pass);
    Some(test)
}

/// A row of the table.
struct Row<'a> {
    line: Line<'a>,
    at_ns: u64,
    read: bool,
    kind: &'a str,
    disk: &'a str,
    sector: Option<u64>,
    bytes: u64,
    time: &'a str,
    latency_ns: u64,
    tags: (Option<i64>, Option<i64>),
    uid: &'a str,
    part: &'a str,
    server: &'a str,
    context: &'a str,
    thread: &'a str,
    comment: String,
}

/// NSD node, context, thread and comment, from the words after `typ`. A comment may have any number of
/// words, so the thread is found by the common ending of thread names.
fn end<'a>(part: &str, rest: &[&'a str]) -> Option<(&'a str, &'a str, &'a str, String)> {
    let is_thread = |at: usize| rest.get(at).is_some_and(|word| word.contains("Thread"));
    let is_address = |word: &str| word.contains(['.', ':']);
    let with_server = match rest.len() {
        0 | 1 => return None,
        2 => false,
        _ if is_address(rest[0]) => true,
        _ if is_thread(1) => false,
        _ => is_thread(2) || part != "lcl" || rest[2].chars().all(|c| c.is_ascii_digit()),
    };
    let (server, rest) = if with_server { (rest[0], &rest[1..]) } else { ("", rest) };
    let [context, thread, comment @ ..] = rest else { return None };
    Some((server, context, thread, comment.join(" ")))
}

/// The word, or an empty text if `ioproof history` did not know the value.
fn known(word: &str) -> &str {
    if word == "-" { "" } else { word }
}

impl<'a> Row<'a> {
    fn of(block: &Block<'_>, line: Line<'a>, words: &[&'a str]) -> Result<Self, ImportError> {
        let malformed = |what: &str| block.malformed(line, line.text, what);
        let [at, direction, kind, place, sectors, time, rest @ ..] = words else {
            return Err(malformed(
                "a row with I/O start time, RW, Buf type, disk:sectorNum, nSec, time ms, …, thread",
            ));
        };
        let (tags, uid, part, (server, context, thread, comment)) = match rest {
            [part, uid] if TYPES.contains(part) => ((None, None), uid, part, ("", "", "", String::new())),
            [part, uid, server] if TYPES.contains(part) => {
                ((None, None), uid, part, (*server, "", "", String::new()))
            }
            [tag1, tag2, uid, part, rest @ ..] => {
                let end = end(part, rest);
                let end =
                    end.ok_or_else(|| malformed("NSD node, context and thread at the end of the row"))?;
                ((tag1.parse().ok(), tag2.parse().ok()), uid, part, end)
            }
            _ => {
                return Err(malformed(
                    "two tags, disk UID, type, NSD node, context and thread after the time",
                ));
            }
        };
        let (disk, sector) = match place.rsplit_once(':') {
            Some((disk, sector)) => (disk, Some(block.count(line, sector, "a sector number")?)),
            None if *place == "-" || part == &"lcl" => (known(place), None),
            None => return Err(malformed("disk:sectorNum such as `4:192933224`")),
        };
        // In some locales the decimal separator is a comma.
        let latency_ms = number(&time.replacen(',', ".", 1)).filter(|_| time.contains(['.', ',']));
        let latency_ms = latency_ms.ok_or_else(|| malformed("a time in ms"))?;
        if !matches!(*direction, "R" | "W") {
            return Err(malformed("R or W after the start time"));
        }
        Ok(Self {
            line,
            at_ns: time_of_day(at).ok_or_else(|| malformed("a start time such as 11:37:54.451846"))?,
            read: *direction == "R",
            kind: known(kind),
            disk,
            sector,
            bytes: block.count(line, sectors, "a number of sectors")?.saturating_mul(SECTOR),
            time,
            latency_ns: whole(latency_ms * 1e6),
            tags,
            uid: known(uid),
            part: known(part),
            server: known(server),
            context: known(context),
            thread,
            comment,
        })
    }

    /// The time since `start`, which is a time of the same day or of the day before.
    fn since(&self, start: u64) -> u64 {
        (self.at_ns + DAY_NS - start) % DAY_NS
    }

    fn add(&self, pass: &mut Pass, start: u64) {
        let (operation, row) = (if self.read { Operation::Read } else { Operation::Write }, &mut pass.row);
        if self.read {
            (row.reads, row.read_bytes) = (row.reads + 1, row.read_bytes.saturating_add(self.bytes));
        } else {
            (row.writes, row.write_bytes) = (row.writes + 1, row.write_bytes.saturating_add(self.bytes));
        }
        let (low_ns, high_ns) = (self.latency_ns, self.latency_ns);
        pass.latency.push(Bucket { operation, low_ns, high_ns, count: 1 });
        let time = Printed::new(self.line, "time", self.time, "ms", "single");
        pass.printed.push(Printed { number: Some(self.latency_ns as f64 / 1e6), ..time });
        pass.history.push(HistoryRow {
            start_ns: self.since(start),
            latency_ns: self.latency_ns,
            bytes: self.bytes,
            device: self.disk.into(),
            sector: self.sector,
            kind: self.kind.into(),
            tag1: self.tags.0,
            tag2: self.tags.1,
            disk_uid: self.uid.into(),
            node_type: self.part.into(),
            server: self.server.into(),
            context: self.context.into(),
            thread_name: self.thread.into(),
            comment: self.comment.clone().into(),
            ..HistoryRow::new(pass.row.key.clone(), operation)
        });
    }
}

/// Converts `11:37:54.451846` to nanoseconds since midnight.
fn time_of_day(text: &str) -> Option<u64> {
    let (hours, rest) = text.split_once(':')?;
    let (minutes, seconds) = rest.split_once(':')?;
    let (hours, minutes): (u64, u64) = (hours.parse().ok()?, minutes.parse().ok()?);
    let seconds = number(seconds).filter(|seconds| *seconds < 61.0 && text.contains('.'))?;
    (hours < 24 && minutes < 60).then(|| (hours * 3600 + minutes * 60) * 1_000_000_000 + whole(seconds * 1e9))
}
