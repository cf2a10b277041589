//! A report as comma-separated values (RFC 4180): one row for each figure, with its conditions, then one for
//! each value of a statement.

use std::collections::HashMap;

use analysis::{figures::LATENCY_STATISTICS, statistics::Summary};
use plan::{Operation, Setting};

use crate::format::{escape, names};
use crate::report::Report;
use crate::report::figure::{FIGURE, Figure, SPREAD};
use crate::report::latencies::LatencyInfo;
use crate::report::statements;

/// How a row of a statement gets its value of a column.
type OfStatement = fn(&Report, &statements::StatementValue<'_>) -> String;

/// Columns that only rows of statements have.
const STATEMENT: &[(&str, OfStatement)] = &[
    ("statement", |_, one| one.policy.id.to_owned()),
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

/// Columns shared by rows of figures and of statements: they identify the figure.
const SHARED: &[(&str, OfStatement)] = &[
    ("row", |_, _| "statement".to_owned()),
    ("run_id", |report, _| report.run.id.clone()),
    ("number", |_, one| of_figure(one, |figure| figure.number.to_string())),
    ("case", |_, one| of_figure(one, |figure| figure.case.clone())),
    ("group", |_, one| of_figure(one, |figure| figure.group.clone())),
    ("target", |_, one| of_figure(one, |figure| figure.target.clone())),
    ("settings", |_, one| of_figure(one, |figure| settings(&figure.settings))),
    ("phase", |_, one| of_figure(one, |figure| figure.phase.name().to_owned())),
    ("provenance", |report, one| match one.figure {
        Some(figure) => names::provenance(figure.provenance).to_owned(),
        None => report.run.provenance.to_owned(),
    }),
    (MODEL, |report, _| model(report)),
];

/// The column of the model's name.
const MODEL: &str = "model";

/// The name of the model of a simulated run.
fn model(report: &Report) -> String {
    report.run.model.as_ref().map(|model| model.name.clone()).unwrap_or_default()
}

fn of_figure(one: &statements::StatementValue<'_>, value: fn(&Figure) -> String) -> String {
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

/// The rates of a figure, by the prefix of their columns.
type Rates = [(&'static str, fn(&Figure) -> &Summary); 2];
const RATES: Rates = [
    ("bytes_per_second", |figure| &figure.source.bytes_per_second),
    ("transfers_per_second", |figure| &figure.source.transfers_per_second),
];

/// All columns, in order: for figures those of [`FIGURE`], their rates and latencies; then those of
/// statements.
pub(crate) fn columns() -> Vec<String> {
    let spreads =
        RATES.iter().flat_map(|(rate, _)| SPREAD.iter().map(move |one| format!("{rate}_{}", one.key)));
    let more = ["settings", "repetitions", "warnings", MODEL].map(str::to_owned);
    let latencies = Operation::ALL.into_iter().flat_map(latency_columns);
    let statements = STATEMENT.iter().map(|(name, _)| (*name).to_owned());
    let figure =
        ["row", "run_id"].into_iter().chain(FIGURE.iter().map(|column| column.key)).map(str::to_owned);
    figure.chain(spreads).chain(more).chain(latencies).chain(statements).collect()
}

/// The whole table, heading first.
pub(crate) fn csv(report: &Report) -> String {
    let columns = columns();
    let mut out = line(&columns);
    let warnings = warnings_of(report);
    for figure in &report.figures {
        let warnings = warnings.get(&figure.number).map_or(&[][..], Vec::as_slice);
        let mut cells = row(report, figure, warnings);
        cells.resize(columns.len(), String::new());
        out.push_str(&line(&cells));
    }
    let place = |name| columns.iter().position(|column| column == name);
    let of_statements: Vec<(usize, OfStatement)> =
        SHARED.iter().chain(STATEMENT).filter_map(|(name, value)| Some((place(name)?, *value))).collect();
    for one in statements::said(&report.statements, &report.figures) {
        let mut cells = vec![String::new(); columns.len()];
        for (place, value) in &of_statements {
            cells[*place] = value(report, &one);
        }
        out.push_str(&line(&cells));
    }
    out
}

/// The statements of a kind with a row for each; none if there is no statement.
pub(crate) fn wide(report: &Report, kind: analysis::gate::Kind) -> Option<String> {
    let table = report.statements.tables.iter().find(|one| one.kind == kind && !one.rows.is_empty())?;
    let named = ["run_id", "number"].into_iter().chain(table.columns.iter().map(|head| head.key));
    let named = named.chain(["provenance", MODEL]);
    let mut out = line(&named.map(str::to_owned).collect::<Vec<_>>());
    for row in &table.rows {
        let number = row.figures.first().map(|place| (place + 1).to_string()).unwrap_or_default();
        let cells = row.cells.iter().map(statements::words);
        let cells = [report.run.id.clone(), number].into_iter().chain(cells);
        let origin = [report.run.provenance.to_owned(), model(report)];
        out.push_str(&line(&cells.chain(origin).collect::<Vec<_>>()));
    }
    Some(out)
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
    let raw = |one: &Setting| {
        let value = one.value.on_axis().map_or_else(|| one.value.to_string(), decimal);
        format!("{}={value}", one.key)
    };
    all.iter().map(raw).collect::<Vec<_>>().join(";")
}

/// The cells of a figure up to those of statements.
fn row(report: &Report, figure: &Figure, warnings: &[&str]) -> Vec<String> {
    let mut cells = vec!["figure".to_owned(), report.run.id.clone()];
    cells.extend(FIGURE.iter().map(|column| statements::words(&column.value(figure))));
    for (_, rate) in RATES {
        cells.extend(SPREAD.iter().map(|column| statements::words(&column.value(rate(figure)))));
    }
    cells.extend([
        settings(&figure.settings),
        figure.repeated().to_string(),
        warnings.join("; "),
        model(report),
    ]);
    for operation in Operation::ALL {
        let is_response = |one: &&LatencyInfo| one.operation == operation && one.is_response();
        match figure.latency.iter().find(is_response) {
            Some(one) => {
                cells.push(one.count.to_string());
                cells.extend(one.all().map(|(_, nanos)| decimal(nanos)));
            }
            None => cells.extend(latency_columns(operation).map(|_| String::new())),
        }
    }
    cells
}

/// A number with a decimal point and without an exponent, for any reader of CSV; empty if not finite.
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
