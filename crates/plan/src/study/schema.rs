//! The JSON schema of study files for editors, generated from the definition that the reader uses.

use serde_json::{Map, Value, json};

use super::keys::{SELECTION, STEP, TABLES, WORKLOAD};
use super::table::definition::{Key, KeyDefault, Table, ValueKind};

/// Syntax of a size as text.
const SIZE: &str = "^[0-9]+([.][0-9]+)? *(B|[kKmMgGtTpP]|[KMGTP]iB|[kKMGTP]B)?$";
/// Syntax of a time with its unit.
const TIME: &str = "^[0-9]+([.][0-9]+)? *(ns|us|µs|μs|ms|s|min|h)$";
/// Bytes or bits per second.
const BANDWIDTH: &str = "^[0-9]+([.][0-9]+)? *(B|[KMGTP]iB|[kKMGTP]B|[kMGT]?bit)/s$";
/// Operations per second.
const OPERATIONS: &str = "^[0-9]+([.][0-9]+)? *[kM]? *(IOPS|/s)$";
/// A share in percent.
const SHARE: &str = "^ *[0-9]+([.][0-9]+)? *%$";
/// Syntax of a percentage.
const PERCENT: &str = SHARE;
/// Syntax of a range with a step or a factor, or of whole numbers.
const RANGE: &str = "^(.+[.][.].+ (step|times) .+|[0-9]+ *[.][.] *[0-9]+)$";
/// Syntax of a name.
const NAME: &str = "^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$";
/// Syntax of the condition under which a case ends before all repetitions are done.
const UNTIL: &str = "^(steady|count|interval +[0-9]+([.][0-9]+)? *%)$";

/// The text of `docs/study.schema.json`: a JSON Schema of draft 2020-12. It has every key with its type,
/// bounds and words; combinations are checked only by the reader.
#[must_use]
pub fn schema() -> String {
    let mut properties = Map::new();
    let mut definitions = Map::new();
    for table in TABLES {
        let reference = json!({ "$ref": format!("#/$defs/{}", table.name) });
        let property = if table.many() { json!({ "type": "array", "items": reference }) } else { reference };
        properties.insert(table.name.to_owned(), property);
        definitions.insert(table.name.to_owned(), object(table));
    }
    definitions.insert(SELECTION.name.to_owned(), object(&SELECTION));
    definitions.insert(STEP.name.to_owned(), object(&STEP));
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ioproof study",
        "description": "What is to be measured, on what, and how. docs/STUDY.md explains every key.",
        "type": "object",
        "properties": properties,
        "required": ["workload"],
        "additionalProperties": false,
        "$defs": definitions,
    });
    format!("{schema:#}\n")
}

fn object(table: &Table) -> Value {
    let properties: Map<String, Value> =
        table.all().map(|key| (key.name.to_owned(), property(table, key))).collect();
    let required: Vec<&str> =
        table.all().filter(|key| matches!(key.absent, KeyDefault::Refused)).map(|key| key.name).collect();
    let mut object = json!({
        "type": "object",
        "description": plain(table.meaning),
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    if !table.works.is_empty() {
        // Transfers are the default work of a workload.
        object["if"] = json!({ "properties": { "work": { "const": "transfers" } } });
        object["then"] = json!({ "required": ["transfer"] });
    }
    object
}

fn property(table: &Table, key: &'static Key) -> Value {
    let one = value(&key.kind);
    let mut all = match table.sweeps(key) {
        false => one,
        true if key.kind.is_ordered() => {
            let item = json!({ "anyOf": [one, range()] });
            json!({ "anyOf": [one, range(), { "type": "array", "minItems": 1, "items": item }] })
        }
        true => json!({ "anyOf": [one, { "type": "array", "minItems": 1, "items": one }] }),
    };
    all["description"] = plain(key.meaning).into();
    if let Some(default) = table.default(key).and_then(literal) {
        all["default"] = default;
    }
    all
}

/// The default of a key, which is written in TOML, as JSON.
fn literal(text: &str) -> Option<Value> {
    let table: toml::Table = toml::from_str(&format!("value = {text}")).ok()?;
    serde_json::to_value(table.get("value")?).ok()
}

fn value(kind: &ValueKind) -> Value {
    let text = |pattern: &str| json!({ "type": "string", "pattern": pattern });
    let list = |item: Value| json!({ "type": "array", "minItems": 1, "items": item });
    match kind {
        ValueKind::Text | ValueKind::Reference(_) => json!({ "type": "string" }),
        ValueKind::Name => text(NAME),
        ValueKind::Path => json!({ "type": "string", "minLength": 1 }),
        ValueKind::Paths | ValueKind::Texts(_) => list(json!({ "type": "string", "minLength": 1 })),
        ValueKind::Size => json!({ "anyOf": [{ "type": "integer", "minimum": 0 }, text(SIZE)] }),
        ValueKind::Time => text(TIME),
        ValueKind::Count(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        ValueKind::Counts(least, most) => {
            let item = json!({ "type": "integer", "minimum": least, "maximum": most });
            json!({ "anyOf": [list(item), range()] })
        }
        ValueKind::Rate => json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1e9 }),
        ValueKind::Number(least, most) => json!({ "type": "number", "minimum": least, "maximum": most }),
        ValueKind::Share => {
            json!({ "anyOf": [{ "type": "number", "minimum": 0, "maximum": 1 }, text(SHARE)] })
        }
        ValueKind::Percent => text(PERCENT),
        ValueKind::Bandwidth => text(BANDWIDTH),
        ValueKind::Flag => json!({ "type": "boolean" }),
        ValueKind::Word(_) => words(kind),
        ValueKind::Words(_) => list(words(kind)),
        ValueKind::Keys => {
            let names: Vec<&str> = swept().map(|key| key.name).collect();
            json!({ "type": "array", "minItems": 2, "items": { "enum": names } })
        }
        ValueKind::Until => text(UNTIL),
        ValueKind::Settings => {
            let properties: Map<String, Value> =
                swept().map(|key| (key.name.to_owned(), value(&key.kind))).collect();
            json!({ "type": "object", "properties": properties, "additionalProperties": false })
        }
        ValueKind::Table(table) => json!({ "$ref": format!("#/$defs/{}", table.name) }),
        ValueKind::Tables(table) => list(json!({ "$ref": format!("#/$defs/{}", table.name) })),
        ValueKind::Side(table) => {
            let reference = json!({ "$ref": format!("#/$defs/{}", table.name) });
            json!({ "anyOf": [reference, { "type": "number" }, text(BANDWIDTH), text(OPERATIONS), text(SIZE), text(TIME), text(SHARE)] })
        }
    }
}

/// The keys that a workload can sweep.
fn swept() -> impl Iterator<Item = &'static Key> {
    WORKLOAD.all().filter(|key| WORKLOAD.sweeps(key))
}

fn range() -> Value {
    json!({ "type": "string", "pattern": RANGE })
}

fn words(kind: &ValueKind) -> Value {
    let one = |(word, meaning): &(&str, &str)| json!({ "const": word, "description": plain(meaning) });
    json!({ "oneOf": kind.words().iter().map(one).collect::<Vec<_>>() })
}

/// Markdown as plain text, for editor hints.
fn plain(markdown: &str) -> String {
    markdown.replace("<br>", "\n").replace(['`', '*'], "")
}
