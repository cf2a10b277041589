//! IOR's text, releases 2.10 to 4.1: the options, the table of passes, the summary.
//!
//! Columns are found by their names, which differ between releases. If there are passes, each is imported as
//! one; if only the summary was printed, its mean is imported.

use record::Warning;

use super::{Options, Row};
use crate::import::draft::{Draft, Pass, Printed};
use crate::import::error::ImportError;
use crate::import::importer::{Form, Importer};
use crate::import::text::lines::{Block, Line, between, labelled, narrow, number, whole};
use crate::import::text::{times, units};

/// The tool's name.
pub(super) const TOOL: &str = "IOR";

/// Parses IOR's text.
pub(crate) const IMPORTER: Importer = Importer {
    name: "ior",
    tool: TOOL,
    newest: Some((4, 1)),
    form: Form::Lines { starts, is_own, continues: false, read: parse },
};

/// Minimum number of columns: the operation, four values of each of two rates, and a time.
const SUMMARY_COLUMNS_MIN: usize = 10;

/// Whether an output of IOR starts with `line`.
fn starts(line: &str) -> bool {
    line.trim_start().starts_with("IOR-") && line.contains("MPI Coordinated Test of Parallel I/O")
}

/// Whether only IOR can have printed `line`. Used if its banner is missing.
fn is_own(line: &str) -> bool {
    is_passes(line) || is_summary(line)
}

fn is_passes(line: &str) -> bool {
    line.starts_with("access") && line.contains("bw(MiB/s)")
}

fn is_summary(line: &str) -> bool {
    let line = line.trim_start();
    (line.starts_with("Operation") || line.starts_with("operation")) && squeezed(line).contains("Max(MiB)")
}

/// Converts `Max (MiB)` and `Std Dev` to one word each.
fn squeezed(line: &str) -> String {
    line.replace(" (", "(").replace("Std Dev", "StdDev")
}

/// The table that is being parsed.
enum Table {
    None,
    Passes(Vec<String>),
    Summary(Vec<String>),
}

fn parse(block: &Block<'_>) -> Result<Draft, ImportError> {
    let mut draft = Draft { tool: TOOL, ..Draft::default() };
    draft.version = block.lines.first().and_then(|line| between(line.text, "IOR-", ":")).map(str::to_owned);
    let value_of = |labels: &[&str]| block.value_of(labels).map(|(_, text)| text);
    draft.command = value_of(&["Command line used", "Command line"]).map(str::to_owned);
    draft.node = value_of(&["Machine"]).and_then(|text| text.split_whitespace().last()).map(str::to_owned);
    draft.started = value_of(&["Began", "Run began"]).and_then(times::moment);
    draft.finished = value_of(&["Finished", "Run finished"]).and_then(times::moment);
    let mut reader = Reader {
        block,
        draft,
        options: Options::default(),
        table: Table::None,
        index: None,
        rows: 0,
        stated: Vec::new(),
        moved: None,
    };
    for line in block.lines {
        reader.line(*line)?;
    }
    reader.finish()
}

struct Reader<'b, 'a> {
    block: &'b Block<'a>,
    draft: Draft,
    options: Options,
    table: Table,
    /// The test that is being parsed.
    index: Option<usize>,
    /// Number of rows in the current table.
    rows: u32,
    /// What the options say about the amount, until a pass takes it.
    stated: Vec<Printed>,
    /// The amount that the next pass moved instead of the requested one.
    moved: Option<Printed>,
}

impl Reader<'_, '_> {
    fn line(&mut self, line: Line<'_>) -> Result<(), ImportError> {
        let text = line.text.trim();
        if is_passes(text) {
            self.table = Table::Passes(text.split_whitespace().map(str::to_owned).collect());
            self.index.get_or_insert(0);
            self.rows = 0;
        } else if is_summary(text) {
            self.table = Table::Summary(squeezed(text).split_whitespace().map(str::to_owned).collect());
            self.rows = 0;
        } else if text.starts_with("Options:") || text == "Summary:" {
            // A script runs several tests, each with its own options.
            self.index = Some(self.index.map_or(0, |index| index + 1));
            self.options = Options::default();
            self.stated.clear();
            self.table = Table::None;
        } else if let Some(bytes) = between(text, "Using actual aggregate bytes moved = ", "") {
            let bytes = bytes.trim_end_matches('.');
            let _ = self.block.number(line, bytes, "a number of bytes")?;
            self.moved = Some(Printed::new(line, super::MOVED, bytes, "bytes", "total"));
        } else if text.starts_with("Max Write:") || text.starts_with("Max Read:") {
            self.maximum(line)?;
        } else {
            let first = text.split_whitespace().next().unwrap_or_default();
            match &self.table {
                Table::Passes(columns) if super::phase(first).is_some() => {
                    let columns = columns.clone();
                    self.pass(line, &columns)?;
                }
                Table::Summary(columns) if super::phase(first).is_some() => {
                    let columns = columns.clone();
                    self.summary(line, &columns)?;
                }
                _ => self.option(line)?,
            }
        }
        Ok(())
    }

    fn option(&mut self, line: Line<'_>) -> Result<(), ImportError> {
        let text = line.text.trim();
        let value = |label: &str| labelled(text, label);
        let sized = |rest: &str| {
            let found = units::size(rest, false).map(whole).filter(|&bytes| bytes > 0);
            found.ok_or_else(|| self.block.malformed(line, rest, "a size such as `64 MiB` or `65536 bytes`"))
        };
        let counted = |rest: &str| {
            let count = rest.split_whitespace().next().unwrap_or_default();
            self.block.count(line, count, "a number")
        };
        let mut options = self.options.clone();
        if let Some(rest) = value("xfersize") {
            options.transfer = Some(sized(rest)?);
        } else if let Some(rest) = value("blocksize") {
            options.block = Some(sized(rest)?);
        } else if let Some(rest) = value("aggregate filesize") {
            options.aggregate = Some(sized(rest)? as f64);
        } else if let Some(rest) = value("segments") {
            options.segments = Some(counted(rest)?);
        } else if let Some(rest) = value("tasks").or_else(|| value("clients")) {
            options.tasks = Some(counted(rest)?.max(1));
            // `clients = 64 (4 per node)`.
            if let Some(per_node) =
                between(rest, "(", " per node").and_then(|text| text.trim().parse::<u64>().ok())
            {
                options.nodes = options.tasks.map(|tasks| tasks.div_ceil(per_node.max(1)));
            }
        } else if let Some(rest) = value("repetitions") {
            options.repetitions = Some(counted(rest)?);
        } else if let Some(rest) = value("pattern") {
            // `strided (2 segments)`.
            let segments = between(rest, "(", " segment").and_then(|text| text.trim().parse().ok());
            options.segments = segments.or(options.segments);
        } else if let Some(rest) = value("nodes") {
            options.nodes = Some(counted(rest)?);
        } else if let Some(rest) = value("clients per node") {
            let per_node = counted(rest)?.max(1);
            options.nodes = options.nodes.or_else(|| options.tasks.map(|tasks| tasks.div_ceil(per_node)));
        } else if let Some(rest) = value("access") {
            options.access = Some(rest.split(',').next().unwrap_or(rest).trim().to_owned());
        } else if let Some(rest) = value("test filename") {
            options.file = Some(rest.to_owned());
        } else if let Some(rest) = value("api") {
            options.api = Some(rest.to_owned());
        } else if let Some(rest) = value("ordering in a file").or_else(|| value("ordering in a file ")) {
            options.order = Some(rest.to_owned());
        }
        self.options = options;
        if let Some((label, text)) = super::AMOUNT.iter().find_map(|label| Some((*label, value(label)?))) {
            self.stated.push(super::stated(line, label, text));
        }
        Ok(())
    }

    /// A row of the table of passes.
    fn pass(&mut self, line: Line<'_>, columns: &[String]) -> Result<(), ImportError> {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        // Old releases end a row of the pass that has no number by its column `iter` alone.
        if words.len() != columns.len() {
            return Err(self.block.malformed(
                line,
                line.text,
                format!("a value for each of {} columns", columns.len()),
            ));
        }
        let Some(phase) = super::phase(words[0]) else { return Ok(()) };
        let mut row = Row::default();
        let mut printed = Vec::new();
        let mut iteration = 0;
        for (name, word) in columns.iter().zip(&words).skip(1) {
            let value = match *word {
                "-" | "NA" => continue,
                word => self.block.number(line, word, &format!("a number in the column {name}"))?,
            };
            let (label, unit) = name.split_once('(').unwrap_or((name, ""));
            let unit = unit.trim_end_matches(')');
            match name.as_str() {
                "bw(MiB/s)" => row.mib_per_second = value,
                "open(s)" => row.open_s = Some(value),
                "wr/rd(s)" => row.io_s = Some(value),
                "close(s)" => row.close_s = Some(value),
                "total(s)" => row.total_s = Some(value),
                "iter" => iteration = narrow(whole(value)),
                "xfer(KiB)" if self.options.transfer.is_none() => {
                    self.options.transfer = Some(whole(value * super::KIB))
                }
                "block(KiB)" if self.options.block.is_none() => {
                    self.options.block = Some(whole(value * super::KIB))
                }
                _ => {}
            }
            if name != "iter" {
                let unit = if label == "IOPS" { "ops/s" } else { unit };
                printed.push(Printed::new(line, label, word, unit.to_owned(), "single"));
            }
        }
        self.rows += 1;
        let moved = self.moved.take();
        row.moved_bytes = moved.as_ref().and_then(|moved| moved.number);
        let (options, started) = (self.options.clone(), self.draft.started);
        let test = super::test_mut(&mut self.draft, &options, self.index.unwrap_or(0));
        let pass = test.pass_mut(phase, iteration);
        super::derive(pass, &row, &options);
        pass.printed.extend(self.stated.drain(..).chain(moved).chain(printed));
        if iteration == 0 {
            pass.began(started);
        }
        Ok(())
    }

    /// A row of the summary.
    fn summary(&mut self, line: Line<'_>, columns: &[String]) -> Result<(), ImportError> {
        let mut words: Vec<&str> = line.text.split_whitespace().collect();
        let mut columns = columns.to_vec();
        // Release 2.10 ends each row with a mark for spreadsheets, and its heading does not name all
        // values.
        let is_marked = words.last() == Some(&"EXCEL");
        if !is_marked && !columns.iter().any(|column| column == "RefNum") {
            return Err(self.block.malformed(
                line,
                line.text,
                "a row that ends in EXCEL, as releases before 3.0 print it",
            ));
        }
        if is_marked {
            columns.retain(|column| !matches!(column.as_str(), "Op" | "grep"));
            let both = words.len().min(columns.len());
            words.truncate(both);
            columns.truncate(both);
        }
        if words.len() != columns.len() || columns.len() < SUMMARY_COLUMNS_MIN {
            return Err(self.block.malformed(
                line,
                line.text,
                format!("a value for each of {} columns", columns.len()),
            ));
        }
        let Some(phase) = super::phase(words[0]) else { return Ok(()) };
        let columns = &columns[..];
        let of = |name: &str| columns.iter().position(|column| column == name).map(|at| words[at]);
        let index = of("Test#").and_then(|text| text.parse::<usize>().ok()).filter(|index| *index < 10_000);
        let index = index.unwrap_or_else(|| self.index.unwrap_or(0));
        let mut printed = Vec::new();
        let mut group = "bw";
        for (name, word) in columns.iter().zip(&words).skip(1) {
            let (unit, statistic) = match name.as_str() {
                "Max(MiB)" => ("MiB/s", "max"),
                "Min(MiB)" => ("MiB/s", "min"),
                "Mean(MiB)" => ("MiB/s", "mean"),
                "Max(OPs)" => ("ops/s", "max"),
                "Min(OPs)" => ("ops/s", "min"),
                "Mean(OPs)" => ("ops/s", "mean"),
                "Mean(s)" => ("s", "mean"),
                "aggs(MiB)" => ("MiB", "total"),
                "StdDev" => (if group == "bw" { "MiB/s" } else { "ops/s" }, "standard deviation"),
                _ => continue,
            };
            let _ = self.block.number(line, word, &format!("a number in the column {name}"))?;
            group = match unit {
                "MiB/s" => "bw",
                "MiB" => super::AGGREGATE,
                "s" => "time",
                _ => "IOPS",
            };
            printed.push(Printed::new(line, group, word, unit, statistic));
        }
        let value = |name| of(name).and_then(number);
        let mut options = self.options.clone();
        options.tasks = options.tasks.or_else(|| value("#Tasks").map(whole));
        options.transfer = options.transfer.or_else(|| value("xsize").map(whole));
        options.block = options.block.or_else(|| value("blksiz").map(whole));
        options.segments = options.segments.or_else(|| value("segcnt").map(whole));
        let iterations = value("reps").map(whole).or(options.repetitions);
        let Some(mean) = value("Mean(MiB)") else {
            return Err(self.block.malformed(line, line.text, "a number in the column Mean(MiB)"));
        };
        self.rows += 1;
        let started = self.draft.started;
        let test = super::test_mut(&mut self.draft, &options, index);
        let has_passes = test.passes.iter().any(|pass| pass.row.key.phase == phase && pass.row.wall_ns > 0);
        let pass = test.pass_mut(phase, 0);
        pass.printed.extend(self.stated.drain(..).chain(printed));
        if !has_passes {
            let row = Row { mib_per_second: mean, total_s: value("Mean(s)"), ..Row::default() };
            super::derive(pass, &row, &options);
            pass.began(started);
            match iterations {
                Some(1) => {}
                Some(iterations) => pass.warnings.push(Warning::PrintedMean { iterations }),
                None => pass.note("the printed mean; the table does not state the number of iterations"),
            }
        }
        Ok(())
    }

    /// `Max Write: 1069.34 MiB/sec (1121.29 MB/sec)`.
    fn maximum(&mut self, line: Line<'_>) -> Result<(), ImportError> {
        let (name, rest) = line.text.trim().split_once(':').unwrap_or_default();
        let Some(phase) =
            name.split_whitespace().last().and_then(|name| super::phase(&name.to_ascii_lowercase()))
        else {
            return Ok(());
        };
        let value = rest.split_whitespace().next().unwrap_or_default();
        let mib_per_second = self.block.number(line, value, "a rate in MiB/sec")?;
        if !rest.contains("MiB/sec") {
            return Err(self.block.malformed(line, rest, "a rate in MiB/sec"));
        }
        let (options, index) = (self.options.clone(), self.index.unwrap_or(0));
        let test = super::test_mut(&mut self.draft, &options, index);
        let known = test.passes.iter().any(|pass| pass.row.key.phase == phase);
        let pass = test.pass_mut(phase, 0);
        if !known {
            super::derive(pass, &Row { mib_per_second, ..Row::default() }, &options);
            pass.note("the printed maximum: the other iterations are not printed");
        }
        pass.printed.push(Printed::new(line, "bw", value, "MiB/s", "max"));
        if let Some(decimal) = between(rest, "(", " MB/sec)") {
            let _ = self.block.number(line, decimal, "a rate in MB/sec")?;
            pass.printed.push(Printed::new(line, "bw", decimal, "MB/s", "max"));
        }
        Ok(())
    }

    fn finish(self) -> Result<Draft, ImportError> {
        let mut draft = self.draft;
        draft.tests.retain(|test| !test.passes.is_empty());
        let is_empty = |pass: &Pass| pass.row.wall_ns == 0;
        if draft.tests.is_empty() || draft.tests.iter().all(|test| test.passes.iter().all(is_empty)) {
            return Err(self.block.ended("the first row of its results"));
        }
        if self.rows == 0 && !matches!(self.table, Table::None) {
            return Err(self.block.ended("the first row of its last table"));
        }
        if draft.finished.is_none() && draft.version.is_some() {
            draft.doubts.push("the end of IOR's output (`Finished`) is missing".to_owned());
        }
        Ok(draft)
    }
}
