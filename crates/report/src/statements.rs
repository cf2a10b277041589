//! Statements in every form. All of this is generated from [`analysis::gate::Table`]; nothing here depends on the
//! kind of statement.

use std::collections::BTreeMap;

use analysis::{
    audit::Outcome,
    figures::RateOf,
    gate::{Because, Kind, Of, Policy, Quantity, Reason, Row, Standing, Value},
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::figure::Figure;
use crate::format::{
    BYTES_PER_SECOND, duration, grouped, latency, number, percent, rate, rate_in, utc, whole,
};
use crate::hosts;
use crate::object::{json_of, property};
use crate::report::{Report, Statements};
use crate::section::{Block, Extent, conditions, figure, point, signed, title};
use crate::table::{Align, Cell, Table, Tone};

impl Statements {
    /// The rows of a kind that are not withheld.
    pub(crate) fn stated(&self, kind: Kind) -> impl Iterator<Item = &Row> {
        self.tables.iter().filter(move |table| table.kind == kind).flat_map(analysis::gate::Table::stated)
    }

    /// Their content for `section`, in forms for reading.
    pub(crate) fn blocks(&self, report: &Report, section: &str, extent: Extent) -> Vec<Block> {
        let filled = self.tables.iter().filter(|table| !table.rows.is_empty());
        let here = filled.filter(|table| table.kind.policy().section == section);
        here.flat_map(|table| blocks(report, table, extent)).collect()
    }
}

/// The number of a figure in a report: from 1.
const fn number_of(place: usize) -> usize {
    place + 1
}

/// A caption, the table, and the reasons that all rows have in common.
fn blocks(report: &Report, table: &analysis::gate::Table, extent: Extent) -> Vec<Block> {
    let shared = shared_reasons(table);
    let mut blocks: Vec<Block> = table.notes.iter().cloned().map(Block::Text).collect();
    if let Some(line) = withheld(table) {
        blocks.push(line);
        return blocks;
    }
    let limit = match extent {
        Extent::Limited => table.kind.policy().rows,
        Extent::Full => usize::MAX,
    };
    let (shown, more) = table.rows.split_at(table.rows.len().min(limit));
    let parts = shown.chunk_by(|one, next| one.part == next.part);
    blocks.extend(parts.filter_map(|rows| part(report, table, rows, shared.is_some())));
    if !more.is_empty() {
        let count = grouped(more.len() as u64);
        blocks.push(Block::Text(format!(
            "{count} more are in the JSON and CSV forms, and in text with --full."
        )));
    }
    blocks.extend(shared.map(|row| Block::Text(format!("All of them: {}.", because(row).text))));
    blocks
}

/// One line for several rows that only state the same reasons for being withheld. Rows with a judgement are
/// kept, since their names are looked up.
fn withheld(table: &analysis::gate::Table) -> Option<Block> {
    let (first, others) = table.rows.split_first()?;
    let named = table.of == Of::Nothing
        || table.columns.iter().any(|head| head.subject || matches!(head.quantity, Quantity::Standing(_)));
    let kinds = |row: &Row| row.reasons.iter().map(|one| one.because).collect::<Vec<_>>();
    let alike = |row: &Row| row.outcome == Outcome::Withheld && kinds(row) == kinds(first);
    let caption = Some(table.caption).filter(|caption| !caption.is_empty())?;
    let all = table.rows.len();
    (!named && !others.is_empty() && table.rows.iter().all(alike)).then(|| {
        let why = reasons(&first.reasons);
        Block::Text(format!("{caption}: all {all} are withheld for the same reasons; of the first, {why}."))
    })
}

/// A part of a table under its caption; none where no figure of it is in the report.
fn part(report: &Report, table: &analysis::gate::Table, rows: &[Row], shared: bool) -> Option<Block> {
    let subject = subject(table.of);
    let mut shown = empty(subject.iter().map(|&(heading, align, _)| (heading, align)), table);
    let mut before: Option<&Row> = None;
    for row in rows {
        let own = row.figures.first().and_then(|&place| figure(report, number_of(place)));
        let mut cells = match own {
            Some(own) => subject.iter().map(|(_, _, cell)| cell(report, own)).collect(),
            None if table.of == Of::Nothing => Vec::new(),
            None if table.of == Of::Figure => vec![Cell::default()],
            None => continue,
        };
        let operations = own.map_or("ops/s", Figure::operations_unit);
        let (read, below) = read(table, row, |value| cell(value, operations, |text| title(report, text)));
        cells.extend(read);
        // Of several rows of one figure the first has its conditions, and the reasons that all have.
        let said = before.replace(row).is_some_and(|before| {
            table.of == Of::Figure && (&before.figures, &before.reasons) == (&row.figures, &row.reasons)
        });
        cells.push(match said && !row.figures.is_empty() && row.outcome != Outcome::Withheld {
            true => below.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ").into(),
            false => last(report, table.of, own, row, shared, below),
        });
        shown.row(cells);
    }
    let caption = match &rows.first()?.part {
        Some(part) if table.caption.is_empty() => part.clone(),
        Some(part) => format!("{}: {part}", table.caption),
        None => table.caption.to_owned(),
    };
    (!shown.is_empty()).then(|| Block::Table { caption, table: shown.without_empty_columns() })
}

/// The cells that are read, and what stands under them.
fn read<'t>(
    table: &analysis::gate::Table,
    row: &'t Row,
    cell: impl Fn(&'t Value) -> Cell,
) -> (Vec<Cell>, Vec<String>) {
    let cells = table.columns.iter().zip(&row.cells).filter(|(head, _)| !head.detail);
    let (below, read): (Vec<_>, Vec<_>) = cells.partition(|(head, _)| head.below);
    // A value is highlighted no more than its certainty allows.
    let toned = |cell: Cell| match (row.outcome, cell.tone) {
        (Outcome::Stated, _) | (_, Tone::Good | Tone::Bad | Tone::Doubtful) => cell,
        _ => Cell { tone: Tone::Plain, ..cell },
    };
    (
        read.into_iter().map(|(_, value)| toned(cell(value))).collect(),
        below.into_iter().map(|(_, value)| cell(value).text).collect(),
    )
}

/// A table of statements that rest on no figures; `title` is what people call a target.
pub(crate) fn without_figures<'t>(
    table: &'t analysis::gate::Table,
    title: impl Fn(&'t str) -> &'t str,
) -> Table {
    let mut shown = empty([].into_iter(), table);
    for row in &table.rows {
        let (mut cells, below) = read(table, row, |value| cell(value, "IOPS", &title));
        cells.push(below.join("; ").into());
        shown.row(cells);
    }
    shown.without_empty_columns()
}

/// A table whose columns are those `before`, those of `table` that are read, and the conditions.
fn empty(before: impl Iterator<Item = (&'static str, Align)>, table: &analysis::gate::Table) -> Table {
    let heads = table.columns.iter().filter(|head| !head.detail && !head.below);
    let heads = heads.map(|head| (head.heading, align(head.quantity)));
    Table::new(&before.chain(heads).chain([(LAST, Align::Left)]).collect::<Vec<_>>()).below(LAST)
}

/// The heading of the column of conditions and reasons.
const LAST: &str = "conditions";

/// The reasons, where not all rows have the same, what stands under the row, and the conditions of the figure that
/// the row is of.
fn last(report: &Report, of: Of, own: Option<&Figure>, row: &Row, shared: bool, below: Vec<String>) -> Cell {
    let because = if shared { Cell::default() } else { because(row) };
    let of_figure = own.and_then(|own| match of {
        Of::Target | Of::Point => Some(own.conditions.clone()),
        Of::Figure => Some(conditions(report, own)),
        Of::Nothing | Of::Sweep => None,
    });
    let parts = std::iter::once(because.text.clone()).chain(below).chain(of_figure);
    let text = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
    Cell::toned(text, because.tone)
}

/// A row whose reasons are those of all others, where there are several rows and any reason.
fn shared_reasons(table: &analysis::gate::Table) -> Option<&Row> {
    let (first, others) = table.rows.split_first()?;
    let same = |row: &Row| row.outcome == first.outcome && row.reasons == first.reasons;
    (!others.is_empty() && !first.reasons.is_empty() && others.iter().all(same)).then_some(first)
}

/// A column that says whose row it is.
type OfFigure = (&'static str, Align, fn(&Report, &Figure) -> Cell);

fn subject(of: Of) -> Vec<OfFigure> {
    let link: OfFigure = ("#", Align::Right, |_, own| Cell::figure(Some(own.number)));
    let workload: OfFigure = ("workload", Align::Left, |_, own| own.group.clone().into());
    let target: OfFigure = ("target", Align::Left, |report, own| title(report, &own.target).into());
    let phase: OfFigure = ("phase", Align::Left, |_, own| own.phase.name().into());
    match of {
        Of::Nothing => Vec::new(),
        Of::Figure => vec![link],
        Of::Target => vec![link, target, phase],
        Of::Sweep => vec![workload, target, phase],
        Of::Point => {
            vec![link, workload, target, phase, ("at", Align::Left, |_, own| point(&own.settings).into())]
        }
    }
}

const fn align(quantity: Quantity) -> Align {
    match quantity {
        Quantity::Text | Quantity::List | Quantity::Flag | Quantity::Moment | Quantity::Standing(_) => {
            Align::Left
        }
        _ => Align::Right,
    }
}

/// A value as people read it.
fn cell<'t>(value: &'t Value, operations: &str, title: impl Fn(&'t str) -> &'t str) -> Cell {
    match value {
        Value::None => Cell::default(),
        // A text may name a target.
        Value::Text(text) => title(text).into(),
        Value::Count(count) => grouped(*count).into(),
        Value::Number(value) => number(*value).into(),
        Value::Share(share) => Cell::toned(percent(*share), Tone::Main),
        Value::Change(change) => Cell::toned(signed(*change), Tone::Main),
        Value::Changes(low, high) => format!("{} … {}", signed(*low), signed(*high)).into(),
        Value::Shares(low, high) => format!("{} … {}", percent(*low), percent(*high)).into(),
        // A stat of a file moves no bytes; that is not a rate of 0.
        Value::Rate(value, RateOf::Bytes) if *value > 0.0 => rate(*value).into(),
        Value::Rate(_, RateOf::Bytes) => Cell::default(),
        Value::Rate(value, RateOf::Operations) => rate_in(*value, operations).into(),
        Value::Seconds(seconds) => duration(*seconds).into(),
        Value::Figure(place) => Cell::figure(Some(number_of(*place))),
        Value::Bytes(bytes) => plan::Bytes(*bytes).to_string().into(),
        Value::Nanos(nanos) => latency(whole(*nanos)).into(),
        Value::Flag(holds) => if *holds { "yes" } else { "no" }.into(),
        Value::List(all) if all.len() > LISTED => {
            format!("{}; and {} more", all[..LISTED].join("; "), all.len() - LISTED).into()
        }
        Value::List(all) => all.join("; ").into(),
        Value::Names(all) => {
            let names: Vec<&str> = all.iter().map(String::as_str).collect();
            hosts::shortened(&names).into()
        }
        Value::Moment(unix_ns) => utc(*unix_ns).into(),
        Value::Setting(value) => value.to_string().into(),
        Value::Standing(standing, word) => Cell::toned(*word, tone(*standing)),
    }
}

/// Words or sentences of one list that are shown where a table is read.
const LISTED: usize = 4;

const fn tone(standing: Standing) -> Tone {
    match standing {
        Standing::Holds => Tone::Good,
        Standing::DoesNotHold => Tone::Bad,
        Standing::CannotTell | Standing::NotTested => Tone::Doubtful,
    }
}

/// The evidence of doubts about figures is in the audit; a withheld statement repeats it.
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

pub(crate) fn reasons(all: &[Reason]) -> String {
    all.iter().map(reason).collect::<Vec<_>>().join("; ")
}

/// A value as a number, in base units; none of words.
fn raw(value: &Value) -> Option<f64> {
    match value {
        Value::None
        | Value::Text(_)
        | Value::Standing(..)
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
    /// All of a kind as objects.
    pub(crate) fn objects(&self, kind: Kind) -> Vec<serde_json::Value> {
        let tables = self.tables.iter().filter(|table| table.kind == kind);
        tables.flat_map(|table| table.rows.iter().map(|row| self.object(table, row))).collect()
    }

    /// A statement as an object: its figures, what follows, why, and its columns.
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
                    "type": ["integer", "null"], "description": "The number of the figure that it is of."
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

/// A value of a statement, for forms that have a line for each.
pub(crate) struct Said<'a> {
    pub(crate) policy: &'static Policy,
    /// Whether it was judged by what was fixed before the run.
    pub(crate) judged: bool,
    pub(crate) row: &'a Row,
    /// The figure that it is of.
    pub(crate) figure: Option<&'a Figure>,
    /// What it is about, of the columns that say so: their keys and values.
    pub(crate) about: Vec<(&'static str, String)>,
    /// The column; empty of a statement that is withheld.
    pub(crate) name: &'static str,
    pub(crate) quantity: Quantity,
    /// The value in base units.
    pub(crate) value: Option<f64>,
    /// The value if it is not a number.
    pub(crate) text: String,
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

/// Every value of every statement but those with a file of their own; one without a value of those that are withheld.
pub(crate) fn said(report: &Report) -> Vec<Said<'_>> {
    let mut all = Vec::new();
    for table in report.statements.tables.iter().filter(|table| !table.kind.policy().wide) {
        let policy = table.kind.policy();
        let judged = table.columns.iter().any(|head| matches!(head.quantity, Quantity::Standing(_)));
        for row in &table.rows {
            let figure = row.figures.first().and_then(|&place| figure(report, number_of(place)));
            let cells = || table.columns.iter().zip(&row.cells);
            let about: Vec<(&str, String)> = cells()
                .filter(|(head, value)| head.subject && **value != Value::None)
                .map(|(head, value)| (head.key, words(value)))
                .collect();
            let of = |name, quantity, value, text: String, unit| Said {
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

/// A value in words and plain numbers.
pub(crate) fn words(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Standing(_, word) => (*word).to_owned(),
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
