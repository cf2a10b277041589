//! The tables of iozone's automatic mode, and the report of `-R`.

use plan::Phase;

use super::banner::{self, Banner, Unit};
use crate::import::draft::{Pass, Printed, Test};
use crate::import::error::ImportError;
use crate::import::text::lines;
use crate::import::text::lines::{Block, Line, nanos_at, number, whole};

/// The columns in the table of automatic mode: the case, its phase, and the test of `-i` that fills the
/// column.
const COLUMNS: [(&str, Phase, &str); 13] = [
    ("write", Phase::Write, "0"),
    ("rewrite", Phase::Write, "0"),
    ("read", Phase::Read, "1"),
    ("reread", Phase::Read, "1"),
    ("random-read", Phase::Read, "2"),
    ("random-write", Phase::Write, "2"),
    ("backward-read", Phase::Read, "3"),
    ("record-rewrite", Phase::Write, "4"),
    ("stride-read", Phase::Read, "5"),
    ("fwrite", Phase::Write, "6"),
    ("frewrite", Phase::Write, "6"),
    ("fread", Phase::Read, "7"),
    ("freread", Phase::Read, "7"),
];

/// The reports of `-R`: title, case, phase.
const REPORTS: [(&str, &str, Phase); 13] = [
    ("Writer report", "write", Phase::Write),
    ("Re-writer report", "rewrite", Phase::Write),
    ("Reader report", "read", Phase::Read),
    ("Re-reader report", "reread", Phase::Read),
    ("Random read report", "random-read", Phase::Read),
    ("Random write report", "random-write", Phase::Write),
    ("Backward read report", "backward-read", Phase::Read),
    ("Record rewrite report", "record-rewrite", Phase::Write),
    ("Stride read report", "stride-read", Phase::Read),
    ("Fwrite report", "fwrite", Phase::Write),
    ("Re-Fwrite report", "frewrite", Phase::Write),
    ("Fread report", "fread", Phase::Read),
    ("Re-Fread report", "freread", Phase::Read),
];

/// Whether `line` is the second line of the table's heading.
pub(super) fn is_header(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next().is_some_and(|word| word.eq_ignore_ascii_case("kb")) && words.next() == Some("reclen")
}

/// Whether `line` is the beginning of a report of `-R`.
pub(super) fn is_report(line: &str) -> bool {
    report_of(line).is_some()
}

fn report_of(line: &str) -> Option<(&'static str, Phase)> {
    let title = line.trim().strip_prefix('"')?.strip_suffix('"')?.trim();
    REPORTS
        .iter()
        .find(|(name, _, _)| name.eq_ignore_ascii_case(title))
        .map(|&(_, case, phase)| (case, phase))
}

/// One value of a table.
struct Cell<'a> {
    line: Line<'a>,
    case: &'static str,
    phase: Phase,
    file_kib: f64,
    record_kib: f64,
    text: &'a str,
    value: f64,
}

/// Parses the rows of the table of automatic mode from line `first` on. Returns the index of the next
/// line.
pub(super) fn automatic(
    block: &Block<'_>,
    first: usize,
    banner: &Banner,
    command: Option<&str>,
) -> Result<(Vec<Test>, usize), ImportError> {
    let header = block.lines[first - 1];
    let filled = filled(command);
    let mut tests = Vec::new();
    let mut at = first;
    while let Some(line) = block.lines.get(at) {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        if words.is_empty() && tests.is_empty() {
            at += 1;
            continue;
        }
        if words.is_empty() || !words[0].starts_with(|c: char| c.is_ascii_digit()) {
            break;
        }
        at += 1;
        let values: Vec<f64> = words
            .iter()
            .map(|word| block.number(*line, word, "a number of the table"))
            .collect::<Result<_, _>>()?;
        let [file_kib, record_kib, rates @ ..] = &values[..] else {
            return Err(block.malformed(*line, line.text, "a file size, a record size and rates"));
        };
        let columns = columns(block, header, *line, rates.len(), &filled)?;
        for ((column, &value), &text) in columns.iter().zip(rates).zip(&words[2..]) {
            let (case, phase, _) = COLUMNS[*column];
            let cell =
                Cell { line: *line, case, phase, file_kib: *file_kib, record_kib: *record_kib, text, value };
            tests.extend(test(banner, &cell));
        }
    }
    match tests.is_empty() {
        true => Err(block.ended("the first row of its table")),
        false => Ok((tests, at)),
    }
}

/// The columns that are filled by the tests of the command line; empty if unknown.
fn filled(command: Option<&str>) -> Vec<usize> {
    let selected = command.map(banner::selected).unwrap_or_default();
    (0..COLUMNS.len()).filter(|&column| selected.iter().any(|test| test == COLUMNS[column].2)).collect()
}

/// The columns of the `count` values of `line`.
fn columns(
    block: &Block<'_>,
    header: Line<'_>,
    line: Line<'_>,
    count: usize,
    filled: &[usize],
) -> Result<Vec<usize>, ImportError> {
    // These follow the two sizes.
    let named = header.text.split_whitespace().count().saturating_sub(2);
    if count == named.min(COLUMNS.len()) {
        return Ok((0..count).collect());
    }
    if count == filled.len() {
        return Ok(filled.to_vec());
    }
    let ends = ends(header.text);
    let nearest = |end: usize| ends.iter().enumerate().skip(2).min_by_key(|(_, other)| other.abs_diff(end));
    let found: Vec<usize> =
        ends_of(line.text, 2).filter_map(|end| nearest(end).map(|(column, _)| column - 2)).collect();
    let rises = found.windows(2).all(|pair| pair[0] < pair[1]);
    match found.len() == count && rises && found.iter().all(|&column| column < COLUMNS.len()) {
        true => Ok(found),
        false => Err(block.malformed(
            line,
            line.text,
            format!("a value for each of {named} columns, or as many as the tests of -i fill"),
        )),
    }
}

fn ends(text: &str) -> Vec<usize> {
    ends_of(text, 0).collect()
}

/// The end of each word of `text` after the first `skipped` words.
fn ends_of(text: &str, skipped: usize) -> impl Iterator<Item = usize> + '_ {
    let is_end = |(at, c): (usize, char)| {
        let next = text[at + c.len_utf8()..].chars().next();
        (!c.is_whitespace() && next.is_none_or(char::is_whitespace)).then_some(at)
    };
    text.char_indices().filter_map(is_end).skip(skipped)
}

/// The case of one value, or `None` if it is 0, which iozone prints for a test that did not run.
fn test(banner: &Banner, cell: &Cell<'_>) -> Option<Test> {
    let (file, record) = (cell.file_kib * 1024.0, cell.record_kib * 1024.0);
    let operations = file / record.max(1.0);
    let wall = match banner.unit {
        Unit::KibPerSecond => nanos_at(file, cell.value * 1024.0),
        Unit::OperationsPerSecond => nanos_at(operations, cell.value),
        Unit::Microseconds => Some(whole(cell.value * operations * 1e3)).filter(|&ns| ns > 0),
    }?;
    let mut pass = Pass::new(cell.phase, 0);
    pass.took(wall);
    pass.moved(whole(file / record.max(1.0)), whole(file));
    pass.began(banner.began);
    if banner.unit == Unit::Microseconds {
        pass.note("microseconds per record are printed as whole numbers");
    }
    pass.printed.push(Printed::new(cell.line, cell.case, cell.text, banner.unit.name(), ""));
    let id = format!("{}-{}k-{}k", cell.case, cell.file_kib, cell.record_kib);
    let parts =
        Some(banner.stated.as_str()).filter(|parts| !parts.is_empty()).map(|parts| format!(", {parts}"));
    let stated = format!(
        "records of {}, a file of {}, 1 process{}",
        plan::Bytes(whole(record)),
        plan::Bytes(whole(file)),
        parts.unwrap_or_default()
    );
    let mut spec = banner.spec(cell.case, Some(record), Some(file));
    spec.tasks = 1;
    let mut test = Test::new(&id, spec, &stated).knowing(&banner.known(true, true));
    cell.case.clone_into(&mut test.case.group);
    test.case.settings = vec![
        plan::Setting { key: "size".to_owned(), value: plan::SettingValue::Bytes(plan::Bytes(whole(file))) },
        plan::Setting {
            key: "transfer".to_owned(),
            value: plan::SettingValue::Bytes(plan::Bytes(whole(record))),
        },
    ];
    test.passes.push(pass);
    Some(test)
}

/// Parses the reports of `-R` from line `first` on. Returns the index of the next line.
pub(super) fn report(
    block: &Block<'_>,
    first: usize,
    banner: &Banner,
) -> Result<(Vec<Test>, usize), ImportError> {
    let mut tests = Vec::new();
    let mut at = first;
    let mut current: Option<(&'static str, Phase, Vec<f64>)> = None;
    while let Some(line) = block.lines.get(at) {
        let text = line.text.trim();
        if let Some((case, phase)) = report_of(text) {
            current = Some((case, phase, Vec::new()));
        } else if let Some((case, phase, records)) = current.as_mut().filter(|_| text.starts_with('"')) {
            if records.is_empty() {
                *records = quoted(block, *line, text)?;
            } else {
                let (file, rest) = text[1..].split_once('"').unwrap_or((text, ""));
                let file_kib = block.number(*line, file, "a file size in kB")?;
                let values: Vec<&str> = rest.split_whitespace().collect();
                if values.len() > records.len() {
                    return Err(block.malformed(*line, rest, format!("{} rates", records.len())));
                }
                for (text, &record_kib) in values.into_iter().zip(records.iter()) {
                    let value = number(text).ok_or_else(|| block.malformed(*line, text, "a rate"))?;
                    let cell = Cell { line: *line, case, phase: *phase, file_kib, record_kib, text, value };
                    tests.extend(test(banner, &cell));
                }
            }
        } else if !text.is_empty() && current.is_some() {
            break;
        }
        at += 1;
    }
    match tests.is_empty() {
        true => Err(block.ended("the first row of a report")),
        false => Ok((tests, at)),
    }
}

/// Parses record sizes: `"4"  "8"  "16"`.
fn quoted(block: &Block<'_>, line: Line<'_>, text: &str) -> Result<Vec<f64>, ImportError> {
    text.split_whitespace()
        .map(|word| {
            let number = lines::number(word.trim_matches('"'));
            number.ok_or_else(|| block.malformed(line, word, "a record size in kB"))
        })
        .collect()
}
