//! JSON objects made from typed columns, and their schemas.

use analysis::gate::table::Column;
use analysis::gate::{Quantity, Value};
use plan::{Bytes, Nanos, SettingValue};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value as Json, json};

/// A field of an object that is itself an object or a list.
pub(crate) struct Nested<T: 'static> {
    pub(crate) key: &'static str,
    pub(crate) schema: fn(&mut SchemaGenerator) -> Json,
    pub(crate) value: fn(&T) -> Json,
}

pub(crate) const fn nested<T>(
    key: &'static str,
    schema: fn(&mut SchemaGenerator) -> Json,
    value: fn(&T) -> Json,
) -> Nested<T> {
    Nested { key, schema, value }
}

/// An object with a field for each column; a missing text is an empty one.
pub(crate) fn object<T>(columns: &[Column<T>], of: &T) -> Map<String, Json> {
    let field = |column: &Column<T>| match (column.quantity, column.value(of)) {
        (Quantity::Text, Value::None) => (column.key.to_owned(), json!("")),
        (_, value) => (column.key.to_owned(), json_of(&value)),
    };
    columns.iter().map(field).collect()
}

/// A list of objects.
pub(crate) fn objects<T>(columns: &[Column<T>], all: &[T]) -> Json {
    all.iter().map(|one| Json::from(object(columns, one))).collect()
}

/// The schema of an object with a field for each column and the fields `beside`. Every field is required.
pub(crate) fn schema<T>(
    columns: &[Column<T>],
    beside: impl IntoIterator<Item = (&'static str, Json)>,
) -> Json {
    let field = |column: &Column<T>| match column.quantity {
        Quantity::Text => (column.key, json!({ "type": "string", "description": column.about })),
        quantity => (column.key, property(quantity, column.about)),
    };
    let own = columns.iter().map(field);
    let properties: Map<String, Json> =
        own.chain(beside).map(|(key, schema)| (key.to_owned(), schema)).collect();
    let required: Vec<&String> = properties.keys().collect();
    json!({ "type": "object", "required": required, "properties": properties })
}

/// The schema of a list of objects.
pub(crate) fn list_schema<T>(columns: &[Column<T>]) -> Json {
    json!({ "type": "array", "items": schema(columns, []) })
}

/// As [`list_schema`], for an attribute of schemars.
pub(crate) fn schema_of_list<T>(columns: &[Column<T>]) -> Schema {
    Schema::try_from(list_schema(columns)).expect("an object is a schema")
}

/// A value as JSON.
pub(crate) fn json_of(value: &Value) -> Json {
    match value {
        Value::None => Json::Null,
        Value::Text(text) => json!(text),
        Value::Count(count) | Value::Bytes(count) => json!(count),
        Value::Flag(holds) => json!(holds),
        Value::List(all) | Value::Names(all) => json!(all),
        Value::Moment(unix_ns) => json!(unix_ns),
        Value::Judgement(_, word) => json!(word),
        Value::Setting(value) => match value {
            SettingValue::Bytes(Bytes(whole))
            | SettingValue::Time(Nanos(whole))
            | SettingValue::Count(whole) => {
                json!(whole)
            }
            SettingValue::Number(number) => json!(number),
            SettingValue::Flag(flag) => json!(flag),
            SettingValue::Word(word) => json!(word),
        },
        Value::Figure(place) => json!(place + 1),
        Value::Changes(low, high) | Value::Shares(low, high) => json!([low, high]),
        Value::Number(value)
        | Value::Share(value)
        | Value::Change(value)
        | Value::Seconds(value)
        | Value::Nanos(value)
        | Value::Rate(value, _) => json!(value),
    }
}

/// The schema of a field with the values of a column, each of which may be null.
pub(crate) fn property(quantity: Quantity, about: &str) -> Json {
    let mut schema = match quantity {
        Quantity::Text => json!({ "type": ["string", "null"] }),
        Quantity::Count | Quantity::Figure | Quantity::Bytes | Quantity::Moment => {
            json!({ "type": ["integer", "null"] })
        }
        Quantity::Judgement(words) => {
            let words: Vec<Option<&str>> = words.iter().copied().map(Some).chain([None]).collect();
            json!({ "enum": words })
        }
        Quantity::Flag => json!({ "type": ["boolean", "null"] }),
        Quantity::Setting => json!({ "type": ["number", "string", "boolean", "null"] }),
        Quantity::List => json!({ "type": ["array", "null"], "items": { "type": "string" } }),
        Quantity::Interval => json!({ "type": ["array", "null"], "items": { "type": "number" } }),
        Quantity::Number
        | Quantity::Ratio
        | Quantity::Rate
        | Quantity::Amount
        | Quantity::Seconds
        | Quantity::Nanos => json!({ "type": ["number", "null"] }),
    };
    schema["description"] = json!(about);
    schema
}
