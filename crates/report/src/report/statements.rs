//! Statements as JSON, and value by value for CSV and OpenMetrics. All of this is generated from
//! [`analysis::gate::Table`]; nothing here depends on the kind of statement.

use std::collections::BTreeMap;

use analysis::{
    audit::Outcome,
    figures::RateOf,
    gate::{Kind, Policy, Quantity, Reason, Row, Value},
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::json;

use super::figure::Figure;
use super::object::{json_of, property};
use crate::format::BYTES_PER_SECOND;

/// The statements of a report: a table for each kind that has any.
#[derive(Debug, Clone, Default)]
pub(crate) struct Statements {
    /// A table for each kind.
    pub(crate) tables: Vec<analysis::gate::Table>,
    /// The conditions of every figure, by its place.
    pub(crate) conditions: Vec<String>,
}

/// The number of the figure at `place`.
pub(crate) const fn number_of(place: usize) -> usize {
    place + 1
}

/// A value as a number in base units. Returns `None` for words.
fn raw(value: &Value) -> Option<f64> {
    match value {
        Value::None
        | Value::Text(_)
        | Value::Judgement(..)
        | Value::List(_)
        | Value::Names(_)
        | Value::Moment(_)
        | Value::Changes(..)
        | Value::Shares(..) => None,
        Value::Count(count) | Value::Bytes(count) => Some(*count as f64),
        Value::Flag(holds) => Some(f64::from(u8::from(*holds))),
        Value::Setting(value) => value.on_axis(),
        Value::Figure(place) => Some(number_of(*place) as f64),
        Value::Number(value)
        | Value::Share(value)
        | Value::Change(value)
        | Value::Seconds(value)
        | Value::Nanos(value)
        | Value::Rate(value, _) => Some(*value),
    }
}

impl Serialize for Statements {
    /// An object with a list for each kind.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.tables.len()))?;
        for kind in self.tables.iter().map(|table| table.kind) {
            map.serialize_entry(kind.policy().id, &self.objects(kind))?;
        }
        map.end()
    }
}

impl Statements {
    /// The rows of a kind that are not withheld.
    pub(crate) fn stated(&self, kind: Kind) -> impl Iterator<Item = &Row> {
        self.tables.iter().filter(move |table| table.kind == kind).flat_map(analysis::gate::Table::stated)
    }

    /// All statements of a kind as objects.
    pub(crate) fn objects(&self, kind: Kind) -> Vec<serde_json::Value> {
        let tables = self.tables.iter().filter(|table| table.kind == kind);
        tables.flat_map(|table| table.rows.iter().map(|row| self.object(table, row))).collect()
    }

    /// A statement as an object: its figures, outcome, reasons and columns.
    fn object(&self, table: &analysis::gate::Table, row: &Row) -> serde_json::Value {
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
            object.insert(head.key.to_owned(), json_of(value));
        }
        object.into()
    }
}

impl JsonSchema for Statements {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Statements".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let kind = |table: &analysis::gate::Table| {
            let mut properties = json!({
                "figure": {
                    "type": ["integer", "null"], "description": "The number of the figure that it describes."
                },
                "figures": {
                    "type": "array", "items": { "type": "integer" },
                    "description": "The numbers of all figures that it rests on."
                },
                "conditions": { "type": ["string", "null"], "description": "Those of the first figure." },
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
            });
            for head in &table.columns {
                properties[head.key] = property(head.quantity, head.about);
            }
            let keys = ["figure", "figures", "conditions", "outcome", "because"];
            let required: Vec<&str> =
                keys.into_iter().chain(table.columns.iter().map(|head| head.key)).collect();
            let statement = json!({ "type": "object", "properties": properties, "required": required });
            (table.kind.policy().id, json!({ "type": "array", "items": statement }))
        };
        let kinds: BTreeMap<&str, serde_json::Value> =
            analysis::findings::Findings::default().tables().iter().map(kind).collect();
        json_schema!({ "type": "object", "properties": kinds })
    }
}

/// A value of a statement, for formats with one line per value.
pub(crate) struct StatementValue<'a> {
    pub(crate) policy: &'static Policy,
    /// Whether the statement was judged by terms fixed before the run.
    pub(crate) judged: bool,
    pub(crate) row: &'a Row,
    /// The first figure of the statement.
    pub(crate) figure: Option<&'a Figure>,
    /// Keys and values of the columns that name the subject of the statement.
    pub(crate) about: Vec<(&'static str, String)>,
    /// The key of the column; empty for a withheld statement.
    pub(crate) name: &'static str,
    pub(crate) quantity: Quantity,
    /// The value in base units.
    pub(crate) value: Option<f64>,
    /// The value if it is not a number.
    pub(crate) text: String,
    pub(crate) unit: &'static str,
}

impl StatementValue<'_> {
    /// The numbers of the figures, with a space between them.
    pub(crate) fn figures(&self) -> String {
        self.row.figures.iter().map(|&place| number_of(place).to_string()).collect::<Vec<_>>().join(" ")
    }

    /// Why it is marked or withheld.
    pub(crate) fn because(&self) -> String {
        reasons(&self.row.reasons)
    }
}

/// Every value of every statement, except kinds with a CSV file of their own. A withheld statement has one entry
/// without a value.
pub(crate) fn said<'a>(statements: &'a Statements, figures: &'a [Figure]) -> Vec<StatementValue<'a>> {
    let mut all = Vec::new();
    for table in statements.tables.iter().filter(|table| !table.kind.policy().wide) {
        let policy = table.kind.policy();
        let judged = table.columns.iter().any(|head| matches!(head.quantity, Quantity::Judgement(_)));
        for row in &table.rows {
            let figure = row.figures.first().and_then(|&place| figures.get(place));
            let cells = || table.columns.iter().zip(&row.cells);
            let about: Vec<(&str, String)> = cells()
                .filter(|(head, value)| head.subject && **value != Value::None)
                .map(|(head, value)| (head.key, words(value)))
                .collect();
            let of = |name, quantity, value, text: String, unit| StatementValue {
                policy,
                judged,
                row,
                figure,
                about: about.clone(),
                name,
                quantity,
                value,
                text,
                unit,
            };
            if row.outcome == Outcome::Withheld {
                all.push(of("", Quantity::Text, None, String::new(), ""));
                continue;
            }
            for (head, value) in cells() {
                match value {
                    Value::None => {}
                    Value::Changes(low, high) | Value::Shares(low, high) => {
                        let ends = [(*low, "from"), (*high, "to")];
                        let of = |(end, text): (f64, &str)| {
                            of(head.key, head.quantity, Some(end), text.to_owned(), "ratio")
                        };
                        all.extend(ends.map(of));
                    }
                    value => {
                        let value_of = raw(value);
                        let text = if value_of.is_none() { words(value) } else { String::new() };
                        all.push(of(head.key, head.quantity, value_of, text, unit(head.quantity, value)));
                    }
                }
            }
        }
    }
    all
}

/// A value as plain text: words, or a number in base units.
pub(crate) fn words(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Judgement(_, word) => (*word).to_owned(),
        Value::List(all) | Value::Names(all) => all.join("; "),
        Value::Moment(unix_ns) => unix_ns.to_string(),
        Value::Setting(value) => value.to_string(),
        Value::Flag(holds) => holds.to_string(),
        value => raw(value).map(|value| value.to_string()).unwrap_or_default(),
    }
}

/// The unit of a value in base units.
const fn unit(quantity: Quantity, value: &Value) -> &'static str {
    match (quantity, value) {
        (_, Value::Rate(_, RateOf::Bytes)) => BYTES_PER_SECOND,
        (_, Value::Rate(_, RateOf::Operations)) => "ops/s",
        (Quantity::Seconds, _) => "s",
        (Quantity::Nanos, _) | (_, Value::Nanos(_)) => "ns",
        (Quantity::Bytes, _) => "bytes",
        (Quantity::Moment, _) => "ns since 1970",
        (Quantity::Ratio | Quantity::Interval, _) | (Quantity::Amount, Value::Share(_)) => "ratio",
        _ => "",
    }
}

/// `too short: 0.4 s`.
pub(crate) fn reason(one: &Reason) -> String {
    format!("{}: {}", one.because.name(), one.evidence)
}

pub(crate) fn reasons(all: &[Reason]) -> String {
    all.iter().map(reason).collect::<Vec<_>>().join("; ")
}
