//! IOR's CSV, from release 4.0 on, which only contains the table of passes.

use super::text::TOOL;
use super::{KIB, MIB, Options, Row};
use crate::import::draft::{Draft, Printed};
use crate::import::error::ImportError;
use crate::import::importer::{Form, Importer};
use crate::import::text::lines::{Block, narrow, whole};

/// Parses IOR's `summaryFormat=CSV`.
pub(crate) const IMPORTER: Importer =
    Importer { name: "ior-csv", tool: TOOL, newest: Some((4, 1)), form: Form::File { is_it, read: parse } };

/// Whether the first line is the heading of such a table.
fn is_header(line: &str) -> bool {
    line.starts_with("access,bw(MiB/s),")
}

/// Whether `line` is what releases 3.2 and 3.3 print as CSV: their options without separators, and no result.
fn is_without_results(line: &str) -> bool {
    line.contains("summaryFormat=CSV") && line.contains("tasks offsets")
}

fn is_it(text: &str) -> bool {
    text.lines().find(|line| !line.trim().is_empty()).is_some_and(is_header)
        || text.lines().take(2).any(is_without_results)
}

fn parse(block: &Block<'_>) -> Result<Draft, ImportError> {
    let mut draft = Draft { tool: TOOL, ..Draft::default() };
    if let Some(line) = block.lines.iter().find(|line| is_without_results(line.text)) {
        return Err(block.unusable(
            *line,
            "releases 3.2 and 3.3 write no results to their CSV, only options without a separator",
            "run IOR without summaryFormat=CSV, or with summaryFormat=JSON",
        ));
    }
    let mut rows = block.lines.iter().filter(|line| !line.text.trim().is_empty());
    let Some(head) = rows.next().filter(|line| is_header(line.text)) else {
        return Err(block.ended("the header `access,bw(MiB/s),…`"));
    };
    let columns: Vec<&str> = head.text.split(',').map(str::trim).collect();
    for line in rows {
        let words: Vec<&str> = line.text.split(',').map(str::trim).collect();
        if words.len() != columns.len() {
            return Err(block.malformed(
                *line,
                line.text,
                format!("{} comma-separated values", columns.len()),
            ));
        }
        let Some(phase) = super::phase(words[0]) else { continue };
        let (mut row, mut options, mut iteration) = (Row::default(), Options::default(), 0);
        let mut printed = Vec::new();
        for (name, word) in columns.iter().zip(&words).skip(1) {
            if matches!(*word, "-" | "NA" | "") {
                continue;
            }
            let value = block.number(*line, word, &format!("a number in the column {name}"))?;
            match *name {
                "bw(MiB/s)" => row.mib_per_second = value,
                "open(s)" => row.open_s = Some(value),
                "wr/rd(s)" => row.io_s = Some(value),
                "close(s)" => row.close_s = Some(value),
                "total(s)" => row.total_s = Some(value),
                "block(KiB)" => options.block = Some(whole(value * KIB)),
                "xfer(KiB)" => options.transfer = Some(whole(value * KIB)),
                "numTasks" => options.tasks = Some(whole(value).max(1)),
                "iter" => iteration = narrow(whole(value)),
                _ => {}
            }
            if !matches!(*name, "iter" | "numTasks") {
                let (label, unit) = name.split_once('(').unwrap_or((name, ""));
                let unit = if label == "IOPS" { "ops/s" } else { unit.trim_end_matches(')') };
                printed.push(Printed::new(*line, label, word, unit.to_owned(), "single"));
            }
        }
        // Segments are not in the table, so the amount moved is rate × time.
        let block_bytes = options.block.take();
        options.aggregate = whole_blocks(&row, block_bytes, options.tasks);
        let pass = super::test_mut(&mut draft, &Options { block: block_bytes, ..options.clone() }, 0);
        let pass = pass.pass_mut(phase, iteration);
        super::derive(pass, &row, &options);
        pass.printed.extend(printed);
    }
    match draft.tests.is_empty() {
        true => Err(block.ended("its first row")),
        false => Ok(draft),
    }
}

/// Resolution of times, which have four decimal digits.
const TIME_STEP_S: f64 = 1e-4;

/// Rounds rate × time to whole blocks of all tasks, if it is as close to them as the precision of the
/// time permits.
fn whole_blocks(row: &Row, block: Option<u64>, tasks: Option<u64>) -> Option<f64> {
    let (total_s, all) = (row.total_s?, block?.checked_mul(tasks?)? as f64);
    let rate = row.mib_per_second * MIB;
    let moved = rate * total_s;
    let blocks = (moved / all).round().max(1.0) * all;
    ((moved - blocks).abs() <= rate * TIME_STEP_S).then_some(blocks)
}
