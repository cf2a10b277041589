//! Statements in every form. All of this is made from [`analysis::Table`]; nothing here knows a kind of statement.

use std::collections::BTreeMap;

use analysis::{Because, Kind, Of, Outcome, POLICY, Quantity, RateOf, Reason, Row, Value};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::format::{duration, grouped, number, percent, rate, rate_in};
use crate::section::{Block, figure, point, signed, title};
use crate::table::{Align, Cell, Table, Tone};
use crate::view::{BYTES_PER_SECOND, Figure, Report};

/// The statements of a report: a table for each kind that has any.
#[derive(Debug, Clone, Default)]
pub(crate) struct Statements {
    /// A table for each kind.
    pub(crate) tables: Vec<analysis::Table>,
    /// The conditions of every figure, by its place.
    pub(crate) conditions: Vec<String>,
}

impl Statements {
    /// The rows of a kind that are not withheld.
    pub(crate) fn stated(&self, kind: Kind) -> impl Iterator<Item = &Row> {
        self.tables.iter().filter(move |table| table.kind == kind).flat_map(analysis::Table::stated)
    }

    /// What they say in `section`, for forms that are read.
    pub(crate) fn blocks(&self, report: &Report, section: &str) -> Vec<Block> {
        let filled = self.tables.iter().filter(|table| !table.rows.is_empty());
        let here = filled.filter(|table| table.kind.policy().section == section);
        here.flat_map(|table| blocks(report, table)).collect()
    }
}

/// The number of a figure in a report: from 1.
const fn number_of(place: usize) -> usize {
    place + 1
}

/// A caption, the table, and the reasons that all rows have in common.
fn blocks(report: &Report, table: &analysis::Table) -> Vec<Block> {
    let shared = shared_reasons(table);
    let mut columns: Vec<(&str, Align)> = match table.of {
        Of::Target => vec![("#", Align::Right), ("target", Align::Left), ("phase", Align::Left)],
        Of::Sweep => vec![("workload", Align::Left), ("target", Align::Left), ("phase", Align::Left)],
        Of::Point => vec![
            ("#", Align::Right),
            ("workload", Align::Left),
            ("target", Align::Left),
            ("phase", Align::Left),
            ("at", Align::Left),
        ],
    };
    columns.extend(table.columns.iter().map(|head| (head.heading, align(head.quantity))));
    columns.push((LAST, Align::Left));
    let mut shown = Table::new(&columns).below(LAST);
    for row in &table.rows {
        let Some(own) = row.figures.first().and_then(|&place| figure(report, number_of(place))) else {
            continue;
        };
        let mut cells = subject(report, table.of, own);
        cells.extend(row.cells.iter().map(|value| cell(report, own, value)));
        cells.push(last(table.of, own, row, shared.is_some()));
        shown.row(cells);
    }
    let mut blocks =
        vec![Block::Table { caption: table.caption.to_owned(), table: shown.without_empty_columns() }];
    blocks.extend(shared.map(|row| Block::Text(format!("All of them: {}.", because(row).text))));
    blocks
}

/// The heading of the column of conditions and reasons.
const LAST: &str = "conditions";

/// The reasons, where not all rows have the same, and the conditions of the figure that the row is of.
fn last(of: Of, own: &Figure, row: &Row, shared: bool) -> Cell {
    let because = if shared { Cell::default() } else { because(row) };
    match (of, because.text.is_empty()) {
        (Of::Sweep, _) => because,
        (_, true) => own.conditions.clone().into(),
        (_, false) => Cell::toned(format!("{}; {}", because.text, own.conditions), because.tone),
    }
}

/// A row whose reasons are those of all others, where there are several rows and any reason.
fn shared_reasons(table: &analysis::Table) -> Option<&Row> {
    let (first, others) = table.rows.split_first()?;
    let same = |row: &Row| row.outcome == first.outcome && row.reasons == first.reasons;
    (!others.is_empty() && !first.reasons.is_empty() && others.iter().all(same)).then_some(first)
}

/// Whose row it is.
fn subject(report: &Report, of: Of, own: &Figure) -> Vec<Cell> {
    let link = || Cell::figure(Some(own.number));
    let workload = || Cell::from(own.group.clone());
    let target = || Cell::from(title(report, &own.target));
    let phase = || Cell::from(own.phase);
    match of {
        Of::Target => vec![link(), target(), phase()],
        Of::Sweep => vec![workload(), target(), phase()],
        Of::Point => vec![link(), workload(), target(), phase(), point(&own.settings).into()],
    }
}

const fn align(quantity: Quantity) -> Align {
    match quantity {
        Quantity::Text => Align::Left,
        _ => Align::Right,
    }
}

/// A value as people read it.
fn cell(report: &Report, own: &Figure, value: &Value) -> Cell {
    match value {
        Value::None => Cell::default(),
        // A text may name a target.
        Value::Text(text) => title(report, text).into(),
        Value::Count(count) => grouped(*count).into(),
        Value::Number(value) => number(*value).into(),
        Value::Share(share) => Cell::toned(percent(*share), Tone::Main),
        Value::Change(change) => Cell::toned(signed(*change), Tone::Main),
        Value::Changes(low, high) => format!("{} … {}", signed(*low), signed(*high)).into(),
        Value::Shares(low, high) => format!("{} … {}", percent(*low), percent(*high)).into(),
        // A file that is looked at moves no bytes, which is no rate of 0.
        Value::Rate(value, RateOf::Bytes) if *value > 0.0 => rate(*value).into(),
        Value::Rate(_, RateOf::Bytes) => Cell::default(),
        Value::Rate(value, RateOf::Operations) => rate_in(*value, own.operations_unit()).into(),
        Value::Seconds(seconds) => duration(*seconds).into(),
        Value::Figure(place) => Cell::figure(Some(number_of(*place))),
    }
}

/// The evidence of doubts about figures stands in the audit; a statement that is withheld repeats it.
fn because(row: &Row) -> Cell {
    let mark = |one: &Reason| match one.because {
        Because::Doubted(check) => check.name().to_owned(),
        _ => reason(one),
    };
    match row.outcome {
        Outcome::Stated => Cell::default(),
        Outcome::Marked => {
            Cell::toned(row.reasons.iter().map(mark).collect::<Vec<_>>().join("; "), Tone::Doubtful)
        }
        Outcome::Withheld => Cell::toned(format!("withheld: {}", reasons(&row.reasons)), Tone::Doubtful),
    }
}

/// `too short: 0.4 s`.
fn reason(one: &Reason) -> String {
    format!("{}: {}", one.because.name(), one.evidence)
}

fn reasons(all: &[Reason]) -> String {
    all.iter().map(reason).collect::<Vec<_>>().join("; ")
}

/// A value as a number, in base units; none of words.
fn raw(value: &Value) -> Option<f64> {
    match value {
        Value::None | Value::Text(_) | Value::Changes(..) | Value::Shares(..) => None,
        Value::Count(count) => Some(*count as f64),
        Value::Figure(place) => Some(number_of(*place) as f64),
        Value::Number(value)
        | Value::Share(value)
        | Value::Change(value)
        | Value::Seconds(value)
        | Value::Rate(value, _) => Some(*value),
    }
}

impl Serialize for Statements {
    /// An object with a list for each kind.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let of = |table: &analysis::Table| {
            table.rows.iter().map(|row| self.object(table, row)).collect::<Vec<_>>()
        };
        let mut map = serializer.serialize_map(Some(POLICY.len()))?;
        for row in &POLICY {
            let rows: Vec<serde_json::Value> =
                self.tables.iter().filter(|table| table.kind == row.kind).flat_map(of).collect();
            map.serialize_entry(row.id, &rows)?;
        }
        map.end()
    }
}

impl Statements {
    /// A statement as an object: its figures, what follows, why, and its columns.
    fn object(&self, table: &analysis::Table, row: &Row) -> serde_json::Value {
        let figures: Vec<usize> = row.figures.iter().map(|&place| number_of(place)).collect();
        let because: Vec<serde_json::Value> = row
            .reasons
            .iter()
            .map(|one| json!({ "reason": one.because.name(), "evidence": one.evidence }))
            .collect();
        let mut object = serde_json::Map::new();
        object.insert("figure".to_owned(), json!(figures.first()));
        object.insert("figures".to_owned(), json!(figures));
        let conditions = row.figures.first().and_then(|&place| self.conditions.get(place));
        object.insert("conditions".to_owned(), json!(conditions));
        object.insert("outcome".to_owned(), json!(row.outcome.name()));
        object.insert("because".to_owned(), json!(because));
        for (head, value) in table.columns.iter().zip(&row.cells) {
            let value = match value {
                Value::None => serde_json::Value::Null,
                Value::Text(text) => json!(text),
                Value::Count(count) => json!(count),
                Value::Figure(place) => json!(number_of(*place)),
                Value::Changes(low, high) | Value::Shares(low, high) => json!([low, high]),
                Value::Number(value)
                | Value::Share(value)
                | Value::Change(value)
                | Value::Seconds(value)
                | Value::Rate(value, _) => json!(value),
            };
            object.insert(head.key.to_owned(), value);
        }
        object.into()
    }
}

impl JsonSchema for Statements {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Statements".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let statement = json!({
            "type": "object",
            "properties": {
                "figure": { "type": "integer", "description": "The number of the figure that it is of." },
                "figures": {
                    "type": "array", "items": { "type": "integer" },
                    "description": "The numbers of all figures that it rests on."
                },
                "conditions": { "type": "string", "description": "Those of the first figure." },
                "outcome": { "enum": Outcome::ALL.map(Outcome::name) },
                "because": {
                    "type": "array",
                    "description": "Why it is marked or withheld.",
                    "items": {
                        "type": "object",
                        "properties": { "reason": { "type": "string" }, "evidence": { "type": "string" } },
                        "required": ["reason", "evidence"]
                    }
                }
            },
            "required": ["figure", "figures", "conditions", "outcome", "because"]
        });
        let kinds: BTreeMap<&str, serde_json::Value> =
            POLICY.iter().map(|row| (row.id, json!({ "type": "array", "items": statement }))).collect();
        json_schema!({ "type": "object", "properties": kinds })
    }
}

/// A value of a statement, for forms that have a line for each.
pub(crate) struct Said<'a> {
    /// The kind.
    pub(crate) kind: &'static str,
    /// The statement.
    pub(crate) row: &'a Row,
    /// The figure that it is of.
    pub(crate) figure: &'a Figure,
    /// The column; empty of a statement that is withheld.
    pub(crate) name: &'static str,
    /// The value in base units.
    pub(crate) value: Option<f64>,
    /// The value where it is no number.
    pub(crate) text: &'a str,
    /// The unit of the value.
    pub(crate) unit: &'static str,
}

impl Said<'_> {
    /// The numbers of the figures, with a space between them.
    pub(crate) fn figures(&self) -> String {
        self.row.figures.iter().map(|&place| number_of(place).to_string()).collect::<Vec<_>>().join(" ")
    }

    /// Why it is marked or withheld.
    pub(crate) fn because(&self) -> String {
        reasons(&self.row.reasons)
    }
}

/// Every value of every statement; one without a value of those that are withheld.
pub(crate) fn said(report: &Report) -> Vec<Said<'_>> {
    let mut all = Vec::new();
    for table in &report.statements.tables {
        let kind = table.kind.policy().id;
        for row in &table.rows {
            let Some(figure) = row.figures.first().and_then(|&place| figure(report, number_of(place))) else {
                continue;
            };
            if row.outcome == Outcome::Withheld {
                all.push(Said { kind, row, figure, name: "", value: None, text: "", unit: "" });
                continue;
            }
            for (head, value) in table.columns.iter().zip(&row.cells) {
                let text = match value {
                    Value::Text(text) => text.as_str(),
                    _ => "",
                };
                let unit = match (head.quantity, value) {
                    (_, Value::Rate(_, RateOf::Bytes)) => BYTES_PER_SECOND,
                    (_, Value::Rate(_, RateOf::Operations)) => "ops/s",
                    (Quantity::Seconds, _) => "s",
                    (Quantity::Ratio | Quantity::Interval, _) => "ratio",
                    _ => "",
                };
                let values: Vec<(Option<f64>, &str)> = match value {
                    Value::None => continue,
                    Value::Changes(low, high) | Value::Shares(low, high) => {
                        vec![(Some(*low), "from"), (Some(*high), "to")]
                    }
                    value => vec![(raw(value), text)],
                };
                let of = |(value, text)| Said { kind, row, figure, name: head.key, value, text, unit };
                all.extend(values.into_iter().map(of));
            }
        }
    }
    all
}
