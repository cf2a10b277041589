//! elbencho's live CSV (`--livecsv`), which has a line for each interval of a phase.
//!
//! `DoneBytes` and `Entries` count from the start of the phase; `IOPS`, `MiB/s` and latencies (µs) are those
//! of the interval. What happened after the last line of a phase is not included.

use plan::{Operation, Phase};
use record::SeriesRow;

use super::{Conditions, TOOL};
use crate::import::draft::{Draft, Pass, Printed};
use crate::import::error::ImportError;
use crate::import::importer::{Form, Importer};
use crate::import::text::lines::{Block, Line, whole};
use crate::import::text::times;

/// Parses elbencho's `--livecsv`.
pub(crate) const IMPORTER: Importer = Importer {
    name: "elbencho-live",
    tool: TOOL,
    newest: Some((3, 1)),
    form: Form::File { is_it, read: parse },
};

/// Number of columns before the values: date, label, phase, runtime, rank, direction.
const COLUMNS: usize = 16;

fn is_head(line: &str) -> bool {
    line.starts_with("ISO Date,Label,Phase,RuntimeMS,Rank,MixType,")
}

fn is_it(text: &str) -> bool {
    text.lines().find(|line| !line.trim().is_empty()).is_some_and(is_head)
}

fn parse(block: &Block<'_>) -> Result<Draft, ImportError> {
    let mut draft = Draft { tool: TOOL, ..Draft::default() };
    let mut open: Option<LivePhase> = None;
    let of_file = block.lines.iter().filter(|line| !line.text.trim().is_empty() && !is_head(line.text));
    for line in of_file {
        let words: Vec<&str> = line.text.split(',').map(str::trim).collect();
        let expected = format!("{COLUMNS} values, each followed by `,`");
        if words.len() <= COLUMNS {
            return Err(block.malformed(*line, line.text, expected));
        }
        // Lines about single workers (`--livecsvex`) have few values.
        if words[4] != "Total" {
            continue;
        }
        let interval = Interval::of(block, *line, &words)?;
        let goes_on = open.as_ref().is_some_and(|open| open.takes(&interval));
        if !goes_on && let Some(done) = open.take() {
            done.add(&mut draft);
        }
        open.get_or_insert_with(|| LivePhase::of(&interval)).push(interval);
    }
    if let Some(done) = open {
        done.add(&mut draft);
    }
    match draft.tests.is_empty() {
        true => Err(block.ended("an interval of a phase that is a measurement")),
        false => Ok(draft),
    }
}

/// A line about all workers, or about one direction of a mixed phase.
struct Interval<'a> {
    line: Line<'a>,
    phase: &'a str,
    at: Option<i64>,
    operation: Option<Operation>,
    runtime_ms: u64,
    bytes: u64,
    iops: f64,
    entries: u64,
    latency_us: f64,
    words: Vec<&'a str>,
}

impl<'a> Interval<'a> {
    fn of(block: &Block<'_>, line: Line<'a>, words: &[&'a str]) -> Result<Self, ImportError> {
        let number = |at: usize, what: &str| block.number(line, words[at], what);
        Ok(Self {
            line,
            phase: words[2],
            at: times::moment(words[0]),
            operation: match words[5] {
                "Read" => Some(Operation::Read),
                "Write" => Some(Operation::Write),
                _ => None,
            },
            runtime_ms: block.count(line, words[3], "the milliseconds since the start of the phase")?,
            bytes: block.count(line, words[7], "the number of bytes done")?,
            iops: number(9, "transfers a second")?,
            entries: block.count(line, words[10], "the number of entries done")?,
            latency_us: number(13, "a mean latency in us")?,
            words: words.to_vec(),
        })
    }
}

/// The intervals of one phase.
struct LivePhase<'a> {
    name: &'a str,
    intervals: Vec<Interval<'a>>,
}

impl<'a> LivePhase<'a> {
    fn of(first: &Interval<'a>) -> Self {
        Self { name: first.phase, intervals: Vec::new() }
    }

    /// Whether `next` belongs to this phase, and not to a repetition of it.
    fn takes(&self, next: &Interval<'_>) -> bool {
        let last = self.intervals.iter().rev().find(|one| one.operation == next.operation);
        self.name == next.phase && last.is_none_or(|last| last.runtime_ms < next.runtime_ms)
    }

    fn push(&mut self, interval: Interval<'a>) {
        self.intervals.push(interval);
    }

    fn add(self, draft: &mut Draft) {
        let in_directories = self.intervals.iter().any(|one| one.entries > 0);
        let Some(phase) = super::phase_or_mixed(self.name, in_directories) else {
            draft
                .doubts
                .push(format!("elbencho's phase {} is not a known measurement; it was skipped", self.name));
            return;
        };
        let mut pass = Pass::new(phase, 0);
        let runtime_ms = self.intervals.iter().map(|one| one.runtime_ms).max().unwrap_or(0);
        pass.took(runtime_ms.max(1).saturating_mul(1_000_000));
        let first = self.intervals.first();
        let began = first
            .and_then(|one| one.at?.checked_sub(i64::try_from(one.runtime_ms).ok()?.checked_mul(1_000_000)?));
        pass.began(began);
        (draft.started, draft.zoned) = (draft.started.or(began), true);
        for operation in [Operation::Read, Operation::Write] {
            let own = match phase {
                Phase::Read | Phase::FileRead => Operation::Read,
                _ => Operation::Write,
            };
            let of = |one: &&Interval<'_>| one.operation.map_or(own == operation, |of| of == operation);
            self.direction(&mut pass, operation, &self.intervals.iter().filter(of).collect::<Vec<_>>());
        }
        pass.note("a live CSV ends with its last interval: anything done after it is not included");
        let conditions = Conditions { in_directories, ..Conditions::unknown() };
        super::add(draft, conditions, pass, false);
    }

    /// Adds the intervals of one direction: its series and its sums.
    fn direction(&self, pass: &mut Pass, operation: Operation, intervals: &[&Interval<'_>]) {
        let (mut before_ms, mut before_bytes, mut transfers) = (0, 0, 0_u64);
        for one in intervals {
            let length_ms = one.runtime_ms - before_ms;
            let in_interval = whole(one.iops * length_ms as f64 / 1e3);
            transfers = transfers.saturating_add(in_interval);
            pass.series.push(SeriesRow {
                key: pass.row.key.clone(),
                operation,
                start_ns: before_ms.saturating_mul(1_000_000),
                length_ns: length_ms.saturating_mul(1_000_000),
                bytes: one.bytes.saturating_sub(before_bytes),
                transfers: in_interval,
                latency_sum_ns: whole(one.latency_us * 1e3 * in_interval as f64),
                latency_max_ns: whole(one.latency_us * 1e3),
            });
            (before_ms, before_bytes) = (one.runtime_ms, one.bytes);
            let values = [
                (7, "done", "bytes"),
                (8, "throughput", "MiB/s"),
                (9, "IOPS", "ops/s"),
                (11, "entries/s", "ops/s"),
            ];
            for (at, label, unit) in values {
                pass.printed.push(Printed::new(one.line, label, one.words[at], unit, ""));
            }
        }
        let Some(last) = intervals.last() else { return };
        match (pass.row.key.phase, operation) {
            (Phase::Mixed, Operation::Read) => {
                (pass.row.reads, pass.row.read_bytes) = (transfers, last.bytes)
            }
            (Phase::Mixed, _) => (pass.row.writes, pass.row.write_bytes) = (transfers, last.bytes),
            (Phase::Read | Phase::Write, _) => pass.moved(transfers, last.bytes),
            _ => pass.moved(last.entries, last.bytes),
        }
    }
}
