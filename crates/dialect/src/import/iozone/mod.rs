//! iozone: throughput blocks, tables of automatic mode, and the report of `-R`.
//!
//! Its `kB` (`KB` in old releases) is 1024 bytes: with `-s 32g` it prints `33554432 KB`. "Children see" is the
//! sum of the rates of the processes, "Parent sees" is the total number of bytes divided by the time of the
//! parent. In throughput mode the phase ends when the first process is done, and `Min xfer` is the amount that
//! the slowest one had moved.

mod banner;
mod tables;

use plan::{Phase, Sharing};

use crate::import::draft::{Draft, Pass, Printed, Test};
use crate::import::error::ImportError;
use crate::import::importer::{Form, Importer};
use crate::import::text::lines::{Block, Line, between, narrow, number, whole};
use crate::import::text::{lines, times};
use banner::Banner;

/// The tool's name.
pub(super) const TOOL: &str = "iozone";

/// Parses iozone's text.
pub(crate) const IMPORTER: Importer = Importer {
    name: "iozone",
    tool: TOOL,
    newest: Some((3, 509)),
    form: Form::Lines { starts, is_own, continues: false, read: parse },
};

/// The tests of throughput mode: iozone's name for the processes, the case, the phase.
const TESTS: [(&str, &str, Phase); 13] = [
    ("initial writers", "write", Phase::Write),
    ("rewriters", "rewrite", Phase::Write),
    ("readers", "read", Phase::Read),
    ("re-readers", "reread", Phase::Read),
    ("reverse readers", "backward-read", Phase::Read),
    ("stride readers", "stride-read", Phase::Read),
    ("random readers", "random-read", Phase::Read),
    ("mixed workload", "mixed", Phase::Mixed),
    ("random writers", "random-write", Phase::Write),
    ("pwrite writers", "pwrite", Phase::Write),
    ("pread readers", "pread", Phase::Read),
    ("fwriters", "fwrite", Phase::Write),
    ("freaders", "fread", Phase::Read),
];

/// Whether an output of iozone starts with `line`.
fn starts(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("Iozone: Performance Test of File I/O")
}

/// Whether only iozone can have printed `line`. Used if its banner is missing.
fn is_own(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("Children see throughput for ") || tables::is_header(line)
}

fn parse(block: &Block<'_>) -> Result<Draft, ImportError> {
    let mut draft = Draft { tool: TOOL, ..Draft::default() };
    draft.version = block.lines.iter().find_map(|line| {
        let found = between(line.text, "Revision:", "$")?;
        Some(found.trim().trim_end_matches('\\').trim().to_owned())
    });
    draft.command = command_line(block);
    draft.started = block.value_of(&["Run began"]).and_then(|(_, text)| times::moment(text));
    let mut banner = banner::banner(block, &draft)?;
    let mut at = 0;
    while let Some(line) = block.lines.get(at) {
        at += 1;
        let text = line.text.trim();
        if text.starts_with("Children see throughput for ") {
            let (test, after) = throughput(block, at - 1, &mut banner)?;
            draft.tests.push(test);
            at = after;
        } else if tables::is_header(text) {
            let (tests, after) = tables::automatic(block, at, &banner, draft.command.as_deref())?;
            draft.tests.extend(tests);
            at = after;
        } else if tables::is_report(text) && draft.tests.is_empty() {
            let (tests, after) = tables::report(block, at - 1, &banner)?;
            draft.tests.extend(tests);
            at = after;
        }
    }
    match draft.tests.is_empty() {
        true => Err(block.ended("its first result (`Children see throughput for …`, or a row of its table)")),
        false => Ok(draft),
    }
}

/// The command line, including what was moved to the next line of a narrow page.
fn command_line(block: &Block<'_>) -> Option<String> {
    let place = block.lines.iter().position(|line| line.text.contains("Command line used:"))?;
    let mut command = between(block.lines[place].text, "Command line used:", "")?.trim().to_owned();
    // In Markdown, two blanks at the end break a line.
    let broken = block.lines[place].text.ends_with("  ");
    if let Some(next) = block.lines.get(place + 1).filter(|_| broken) {
        command.push(' ');
        command.push_str(next.text.trim());
    }
    Some(command)
}

/// `76 initial writers = 5859945.57 ops/sec`, the lines below it, and the index of the next line.
fn throughput(block: &Block<'_>, first: usize, banner: &mut Banner) -> Result<(Test, usize), ImportError> {
    let head = block.lines[first];
    let rest = between(head.text, "Children see throughput for ", "").unwrap_or_default();
    let (who, value) = rest
        .split_once('=')
        .ok_or_else(|| block.malformed(head, rest, "`N initial writers = RATE ops/sec`"))?;
    let (count, who) = who.trim().split_once(char::is_whitespace).unwrap_or((who, ""));
    banner.tasks = narrow(block.count(head, count, "a number of processes")?.max(1));
    let who = who.trim();
    let known = TESTS.iter().find(|(name, _, _)| *name == who);
    let &(_, name, phase) =
        known.ok_or_else(|| block.malformed(head, who, "a test of iozone such as `readers`"))?;
    let mut found = Rates { children: rate(block, head, value)?, ..Rates::default() };
    let unit = found.children.1;
    let mut pass = Pass::new(phase, 0);
    pass.printed.push(printed(head, "Children see throughput", value, unit, "sum"));
    let mut at = first + 1;
    while let Some(line) = block.lines.get(at) {
        let text = line.text.trim();
        if text.starts_with("Children see") || tables::is_report(text) {
            break;
        }
        at += 1;
        let Some((label, value)) = text.split_once('=') else { continue };
        let label = label.trim();
        let (slot, name, statistic) = if label.starts_with("Parent sees throughput") {
            (&mut found.parent, "Parent sees throughput", "total")
        } else if label.starts_with("Min throughput per process") {
            (&mut found.min, "throughput per process", "min")
        } else if label.starts_with("Max throughput per process") {
            (&mut found.max, "throughput per process", "max")
        } else if label.starts_with("Avg throughput per process") {
            (&mut found.mean, "throughput per process", "mean")
        } else if label.starts_with("Min xfer") {
            let (amount, unit) = amount(block, *line, value)?;
            found.min_xfer = Some(amount);
            pass.printed.push(printed(*line, "xfer", value, unit, "min"));
            break;
        } else {
            continue;
        };
        let (amount, of) = rate(block, *line, value)?;
        *slot = Some(amount);
        pass.printed.push(printed(*line, name, value, of, statistic));
    }
    if found.min_xfer.is_none() {
        let last = block.lines[..at].last().map_or(head, |line| *line);
        return Err(ImportError::Ended {
            file: block.file.to_owned(),
            line: last.number,
            tool: TOOL.to_owned(),
            expected: format!("the line `Min xfer` of the test of {who}"),
        });
    }
    derive(&mut pass, &found, banner);
    pass.began(banner.began);
    let stated = stated(banner);
    let mut spec = banner.spec(name, banner.record_bytes, banner.file_bytes);
    // Each process has its own file.
    spec.files.sharing = Sharing::PerTask;
    let mut test = Test::new(name, spec, &stated)
        .knowing(&banner.known(banner.record_bytes.is_some(), banner.file_bytes.is_some()));
    who.clone_into(&mut test.case.title);
    name.clone_into(&mut test.case.group);
    test.passes.push(pass);
    Ok((test, at))
}

fn stated(banner: &Banner) -> String {
    let record = banner.record_bytes.map(|bytes| format!("records of {}", plan::Bytes(whole(bytes))));
    let file = banner.file_bytes.map(|bytes| format!("files of {}", plan::Bytes(whole(bytes))));
    let tasks = Some(format!("{} processes", banner.tasks));
    let parts = Some(banner.stated.clone()).filter(|parts| !parts.is_empty());
    [record, file, tasks, parts].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The values of one test of throughput mode.
#[derive(Default)]
struct Rates {
    children: (f64, &'static str),
    parent: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    mean: Option<f64>,
    min_xfer: Option<f64>,
}

/// Tolerance for what is derived from rounded values.
const ROUNDED: f64 = 0.01;

/// From this ratio of both rates on, a note says how they differ.
const APART: f64 = 1.5;

/// Derives bytes and time from the rates and the sizes. All processes stop when the first is done, which
/// has moved its whole file at the highest rate. `Min xfer` confirms this or not.
fn derive(pass: &mut Pass, found: &Rates, banner: &Banner) {
    let (children, unit) = found.children;
    let per_unit = if unit == "ops/s" { 1.0 } else { 1024.0 };
    let amount = match (banner.record_bytes, banner.file_bytes) {
        (Some(record), Some(file)) if unit == "ops/s" => Some(file / record),
        (_, Some(file)) if unit != "ops/s" => Some(file / 1024.0),
        _ => None,
    };
    let ends_together =
        amount.zip(found.max).zip(found.min.zip(found.min_xfer)).and_then(|((amount, max), (min, xfer))| {
            let seconds = amount / max;
            ((min * seconds / xfer) - 1.0).abs().le(&ROUNDED).then_some(seconds)
        });
    let seconds = ends_together.unwrap_or_else(|| {
        pass.note("not every process ran for the whole time: its bytes are those of whole files");
        amount.map_or(1.0, |amount| amount * f64::from(banner.tasks) / children.max(f64::MIN_POSITIVE))
    });
    if amount.is_none() {
        pass.note("the size of the files is not printed: the rate is correct, bytes assume one second");
    }
    let moved = children * seconds * per_unit;
    let (operations, bytes) = match (unit, banner.record_bytes) {
        ("ops/s", Some(record)) => (moved, moved * record),
        ("ops/s", None) => (moved, 0.0),
        (_, Some(record)) => (moved / record, moved),
        (_, None) => (0.0, moved),
    };
    pass.moved(whole(operations), whole(bytes));
    pass.row.io_ns = lines::nanos(seconds);
    let by_parent = found.parent.filter(|&parent| parent > 0.0).map(|parent| seconds * children / parent);
    pass.row.wall_ns = lines::nanos(by_parent.unwrap_or(seconds)).max(pass.row.io_ns);
    if let Some(parent) = found.parent.filter(|&parent| parent > 0.0 && children > parent * APART) {
        pass.note(format!(
            "`Children see` is {:.1} times `Parent sees`: the figure is by the time of the parent, which includes \
             starting and ending the processes",
            children / parent
        ));
    }
    if found.parent.is_none() {
        pass.note("`Children see` is the sum of the rates of the processes, not total bytes over total time");
    }
}

fn printed(line: Line<'_>, label: &str, value: &str, unit: &'static str, statistic: &str) -> Printed {
    let value = value.split_whitespace().next().unwrap_or_default();
    Printed::new(line, label, value, unit, statistic)
}

/// `5859945.57 ops/sec`.
fn rate(block: &Block<'_>, line: Line<'_>, text: &str) -> Result<(f64, &'static str), ImportError> {
    let malformed = || block.malformed(line, text, "a rate in ops/sec or kB/sec");
    let (value, unit) = text.trim().split_once(char::is_whitespace).ok_or_else(malformed)?;
    let unit = match unit.trim().to_ascii_lowercase().as_str() {
        "ops/sec" => "ops/s",
        "kb/sec" | "kbytes/sec" => "KiB/s",
        _ => return Err(malformed()),
    };
    Ok((number(value).ok_or_else(malformed)?, unit))
}

/// `6488345.00 ops`.
fn amount(block: &Block<'_>, line: Line<'_>, text: &str) -> Result<(f64, &'static str), ImportError> {
    let malformed = || block.malformed(line, text, "an amount in ops or kB");
    let (value, unit) = text.trim().split_once(char::is_whitespace).ok_or_else(malformed)?;
    let unit = match unit.trim().to_ascii_lowercase().as_str() {
        "ops" => "ops",
        "kb" | "kbytes" => "KiB",
        _ => return Err(malformed()),
    };
    Ok((number(value).ok_or_else(malformed)?, unit))
}
