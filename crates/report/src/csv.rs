//! A report as comma-separated values (RFC 4180): one row for each figure, conditions included, then one for each value
//! of a statement.

use std::collections::HashMap;

use analysis::LATENCY_STATISTICS;
use record::Operation;

use crate::escape;
use crate::latencies::LatencyInfo;
use crate::statements;
use crate::view::findings::Setting;
use crate::view::{Figure, Report};

/// A column of figures.
struct Column {
    name: &'static str,
    value: fn(&Said<'_>) -> String,
}

const fn column(name: &'static str, value: fn(&Said<'_>) -> String) -> Column {
    Column { name, value }
}

/// The columns of figures, in order; behind them stand those of latencies and of statements. `docs/REPORT.md` describes
/// them.
const FIGURE: &[Column] = &[
    column("row", |_| "figure".to_owned()),
    column("run_id", |of| of.report.run.id.clone()),
    column("number", |of| of.figure.number.to_string()),
    column("case", |of| of.figure.case.clone()),
    column("title", |of| of.figure.title.clone()),
    column("workload", |of| of.figure.group.clone()),
    column("target", |of| of.figure.target.clone()),
    column("client", |of| of.figure.client.to_owned()),
    column("settings", |of| settings(&of.figure.settings)),
    column("phase", |of| of.figure.phase.to_owned()),
    column("conditions", |of| of.figure.conditions.clone()),
    column("provenance", |of| of.figure.provenance.to_owned()),
    column("tasks", |of| of.figure.tasks.to_string()),
    column("transfer_bytes", |of| of.figure.transfer_bytes.to_string()),
    column("page_cache", |of| of.figure.page_cache.to_string()),
    column("statistic", |of| of.figure.statistic.clone()),
    column("repetitions", |of| of.figure.counted().to_string()),
    column("bytes_per_second_median", |of| decimal(of.figure.bytes_per_second.median)),
    column("bytes_per_second_minimum", |of| decimal(of.figure.bytes_per_second.minimum)),
    column("bytes_per_second_maximum", |of| decimal(of.figure.bytes_per_second.maximum)),
    column("bytes_per_second_interval_low", |of| optional(of.figure.bytes_per_second.interval_low)),
    column("bytes_per_second_interval_high", |of| optional(of.figure.bytes_per_second.interval_high)),
    column("interval_confidence", |of| optional(of.figure.bytes_per_second.confidence)),
    column("transfers_per_second_median", |of| decimal(of.figure.transfers_per_second.median)),
    column("transfers_per_second_minimum", |of| decimal(of.figure.transfers_per_second.minimum)),
    column("transfers_per_second_maximum", |of| decimal(of.figure.transfers_per_second.maximum)),
    column("device_share", |of| optional(of.figure.device_share)),
    column("notes", |of| of.figure.notes.join(" ")),
    column("warnings", |of| of.warnings.join("; ")),
    column("doubts", |of| of.figure.doubts.join("; ")),
    column("unit", |of| of.figure.unit.to_owned()),
    column("nodes", |of| of.figure.nodes.to_string()),
    column("cpu_ns_per_operation", |of| optional(of.figure.cpu_ns_per_operation)),
    column("bytes_per_operation", |of| {
        of.figure.bytes_per_operation.map(|bytes| bytes.to_string()).unwrap_or_default()
    }),
    column("allocated_bytes_per_file", |of| optional(of.figure.allocated_bytes_per_file)),
    column("surprises", |of| of.figure.surprises.to_string()),
];

/// A value of a statement.
type OfStatement = fn(&Report, &statements::Said<'_>) -> String;

/// The columns of rows of statements that only they have.
const STATEMENT: &[(&str, OfStatement)] = &[
    ("statement", |_, one| one.kind.to_owned()),
    ("outcome", |_, one| one.row.outcome.name().to_owned()),
    ("because", |_, one| one.because()),
    ("figures", |_, one| one.figures()),
    ("value_name", |_, one| one.name.to_owned()),
    ("value", |_, one| optional(one.value)),
    ("value_text", |_, one| one.text.clone()),
    ("value_unit", |_, one| one.unit.to_owned()),
    ("about", |_, one| {
        one.about.iter().map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>().join("; ")
    }),
];

/// The columns of figures that rows of statements have, too: which one they are of.
const SHARED: &[(&str, OfStatement)] = &[
    ("row", |_, _| "statement".to_owned()),
    ("run_id", |report, _| report.run.id.clone()),
    ("number", |_, one| of_figure(one, |figure| figure.number.to_string())),
    ("case", |_, one| of_figure(one, |figure| figure.case.clone())),
    ("workload", |_, one| of_figure(one, |figure| figure.group.clone())),
    ("target", |_, one| of_figure(one, |figure| figure.target.clone())),
    ("settings", |_, one| of_figure(one, |figure| settings(&figure.settings))),
    ("phase", |_, one| of_figure(one, |figure| figure.phase.to_owned())),
];

fn of_figure(one: &statements::Said<'_>, value: fn(&Figure) -> String) -> String {
    one.figure.map(value).unwrap_or_default()
}

/// The columns of the latencies of an operation.
fn latency_columns(operation: Operation) -> impl Iterator<Item = String> {
    let name = operation.name();
    let counted = match operation {
        Operation::Read | Operation::Write => "transfers",
        _ => "operations",
    };
    let statistics = LATENCY_STATISTICS.map(|statistic| format!("{name}_latency_{}_ns", statistic.key));
    std::iter::once(format!("{name}_{counted}")).chain(statistics)
}

/// All columns, in order.
pub(crate) fn columns() -> Vec<String> {
    let figure = FIGURE.iter().map(|column| column.name).map(str::to_owned);
    let latencies = Operation::ALL.into_iter().flat_map(latency_columns);
    figure.chain(latencies).chain(STATEMENT.iter().map(|(name, _)| (*name).to_owned())).collect()
}

/// The whole table, heading first.
pub(crate) fn csv(report: &Report) -> String {
    let columns = columns();
    let mut out = line(&columns);
    let warnings = warnings_of(report);
    for figure in &report.figures {
        let warnings = warnings.get(&figure.number).map_or(&[][..], Vec::as_slice);
        let mut cells = row(&Said { report, figure, warnings });
        cells.resize(columns.len(), String::new());
        out.push_str(&line(&cells));
    }
    let place = |name| columns.iter().position(|column| column == name);
    let of_statements: Vec<(usize, OfStatement)> =
        SHARED.iter().chain(STATEMENT).filter_map(|(name, value)| Some((place(name)?, *value))).collect();
    for one in statements::said(report) {
        let mut cells = vec![String::new(); columns.len()];
        for (place, value) in &of_statements {
            cells[*place] = value(report, &one);
        }
        out.push_str(&line(&cells));
    }
    out
}

/// The statements of a kind, with a row for each; none where there are none.
pub(crate) fn wide(report: &Report, kind: analysis::Kind) -> Option<String> {
    let table = report.statements.tables.iter().find(|one| one.kind == kind && !one.rows.is_empty())?;
    let named = ["run_id", "number"].into_iter().chain(table.columns.iter().map(|head| head.key));
    let mut out = line(&named.map(str::to_owned).collect::<Vec<_>>());
    for row in &table.rows {
        let number = row.figures.first().map(|place| (place + 1).to_string()).unwrap_or_default();
        let cells = row.cells.iter().map(statements::words);
        out.push_str(&line(&[report.run.id.clone(), number].into_iter().chain(cells).collect::<Vec<_>>()));
    }
    Some(out)
}

/// A figure with what is said of it.
struct Said<'a> {
    report: &'a Report,
    figure: &'a Figure,
    warnings: &'a [&'a str],
}

/// The texts of the warnings of each figure, by its number.
fn warnings_of(report: &Report) -> HashMap<usize, Vec<&str>> {
    let mut warnings: HashMap<usize, Vec<&str>> = HashMap::new();
    for entry in report.notes.iter().flat_map(|note| &note.entries) {
        for number in &entry.figures {
            warnings.entry(*number).or_default().push(&entry.text);
        }
    }
    warnings
}

/// `tasks=33;transfer=1048576`, in the units of the JSON form.
fn settings(all: &[Setting]) -> String {
    let raw = |one: &Setting| match one.value.as_str() {
        Some(word) => format!("{}={word}", one.key),
        None => format!("{}={}", one.key, one.value),
    };
    all.iter().map(raw).collect::<Vec<_>>().join(";")
}

/// The cells of a figure up to those of statements.
fn row(of: &Said<'_>) -> Vec<String> {
    let mut cells: Vec<String> = FIGURE.iter().map(|column| (column.value)(of)).collect();
    let figure = of.figure;
    for operation in Operation::ALL {
        let is_response = |one: &&LatencyInfo| one.operation == operation.name() && one.is_response();
        match figure.latency.iter().find(is_response) {
            Some(one) => {
                cells.push(one.transfers.to_string());
                cells.extend(one.all().map(|(_, nanos)| decimal(nanos)));
            }
            None => cells.extend(latency_columns(operation).map(|_| String::new())),
        }
    }
    cells
}

/// A number with a point and without an exponent, as every reader of CSV takes it; nothing where
/// it is not finite.
fn decimal(value: f64) -> String {
    if value.is_finite() { format!("{value}") } else { String::new() }
}

fn optional(value: Option<f64>) -> String {
    value.map(decimal).unwrap_or_default()
}

pub(crate) fn line(cells: &[String]) -> String {
    let mut out = cells.iter().map(|cell| escape::csv(cell)).collect::<Vec<_>>().join(",");
    out.push_str("\r\n");
    out
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn cells_with_commas_and_quotes_are_quoted() {
        let cells = ["4 KiB random read, direct", "a\"b", "c"].map(str::to_owned);
        assert_eq!(line(&cells), "\"4 KiB random read, direct\",\"a\"\"b\",c\r\n");
    }
}
