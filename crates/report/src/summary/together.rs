//! What each workload got beside others that ran at the same time, in a sentence.

use analysis::audit::Outcome;
use analysis::figures::RateOf;
use analysis::gate::{Kind, Row, Table, Value};

use crate::format::{BYTES_PER_SECOND, compact_rate, percent};
use crate::report::Report;
use crate::report::figure::Figure;
use crate::report::statements::reasons;
use crate::section::Block;

/// Maximum number of sentences; all rows are in the section.
const ROWS_MAX: usize = 12;

/// A sentence for each workload, and one for all of each set of them.
pub(crate) fn blocks(report: &Report) -> Vec<Block> {
    let of = |kind: Kind| report.statements.tables.iter().find(move |table| table.kind == kind);
    let each = of(Kind::Beside).into_iter().flat_map(|table| table.rows.iter().map(move |row| (table, row)));
    let sentences: Vec<String> = each.map(|(table, row)| beside(report, table, row)).collect();
    let more = sentences.len().saturating_sub(ROWS_MAX);
    let all =
        of(Kind::Together).into_iter().flat_map(|table| table.rows.iter().filter_map(|row| all(table, row)));
    let mut told: Vec<String> = sentences.into_iter().take(ROWS_MAX).chain(all).collect();
    if more > 0 {
        told.push(format!("{more} more workloads that ran at the same time: `ioproof report RUNDIR --full`"));
    }
    told.into_iter().map(Block::Text).collect()
}

fn cell<'t>(table: &'t Table, row: &'t Row, key: &str) -> &'t Value {
    let place = table.columns.iter().position(|column| column.key == key);
    place.and_then(|place| row.cells.get(place)).unwrap_or(&Value::None)
}

fn text(value: &Value) -> &str {
    if let Value::Text(text) = value { text } else { "" }
}

fn rate(value: &Value, operations: &str) -> Option<String> {
    match value {
        Value::Rate(rate, RateOf::Bytes) => Some(compact_rate(*rate, BYTES_PER_SECOND)),
        Value::Rate(rate, _) => Some(compact_rate(*rate, operations)),
        _ => None,
    }
}

/// `restart beside checkpoint: 412 MB/s, 31.0 % less than alone (28.0 % to 34.0 %)`.
fn beside(report: &Report, table: &Table, row: &Row) -> String {
    let of = |key: &str| cell(table, row, key);
    let own = row.figures.first().and_then(|&place| report.figures.get(place));
    let others = if let Value::List(others) = of("others") { others.join(", ") } else { String::new() };
    let subject = format!("{}: {} beside {others}", text(of("together")), text(of("workload")));
    let rate = rate(of("rate_per_second"), own.map_or("ops/s", Figure::operations_unit));
    let Some(rate) = rate.filter(|_| row.outcome != Outcome::Withheld) else {
        return format!("{subject}: cannot be told: {}", reasons(&row.reasons));
    };
    let result = match (of("loss"), of("interval"), text(of("outcome_word"))) {
        (Value::Share(loss), interval, word @ ("less than alone" | "more than alone")) => {
            let range = match interval {
                Value::Shares(low, high) => {
                    let (low, high) = (low.abs().min(high.abs()), low.abs().max(high.abs()));
                    format!(" ({} to {})", percent(low), percent(high))
                }
                _ => String::new(),
            };
            format!("{} {word}{range}", percent(loss.abs()))
        }
        (_, _, "no difference shown") => "no difference from alone is shown".to_owned(),
        (_, _, word) => format!("compared with alone: {word}"),
    };
    format!("{subject}: {rate}, {result}")
}

/// `both: 1.34 GB/s together`.
fn all(table: &Table, row: &Row) -> Option<String> {
    let sum = rate(cell(table, row, "rate_per_second"), "ops/s")?;
    let is_told = row.outcome != Outcome::Withheld;
    is_told.then(|| format!("{}: all together {sum} while all ran", text(cell(table, row, "together"))))
}
