//! The reference of model files and their JSON schema, generated from the types into which they are
//! parsed.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::Model;

/// The text of `docs/model.schema.json`, a JSON Schema of draft 2020-12.
#[must_use]
pub fn schema() -> String {
    let mut schema = schemars::schema_for!(Model).to_value();
    schema["title"] = "ioproof model".into();
    format!("{schema:#}\n")
}

/// The tables of model files with their keys, as Markdown for `docs/MODELS.md`.
#[must_use]
pub fn reference() -> String {
    let schema = schemars::schema_for!(Model).to_value();
    let nothing = Map::new();
    let definitions = schema["$defs"].as_object().unwrap_or(&nothing);
    let tables = schema["properties"].as_object().unwrap_or(&nothing);
    let mut text = String::new();
    let mut inner: Vec<String> = Vec::new();
    for (name, property) in tables {
        let (header, target) = match property.get("items") {
            Some(items) => (format!("`[[{name}]]`"), reference_in(items)),
            None => (format!("`[{name}]`"), reference_in(property)),
        };
        if let Some((_, definition)) = target.and_then(|target| definitions.get_key_value(target)) {
            table(&mut text, &header, definition, definitions, &mut inner);
        }
    }
    let mut done = 0;
    while done < inner.len() {
        let name = inner[done].clone();
        done += 1;
        if let Some(definition) = definitions.get(&name) {
            let header = spaced(&name);
            let header = format!("{}{}", header[..1].to_uppercase(), &header[1..]);
            table(&mut text, &header, definition, definitions, &mut inner);
        }
    }
    text
}

/// Adds one table. The types of keys that are themselves tables are added to `inner`.
fn table(
    text: &mut String,
    header: &str,
    definition: &Value,
    definitions: &Map<String, Value>,
    inner: &mut Vec<String>,
) {
    let nothing = Map::new();
    let required: Vec<&str> =
        definition["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let _ = writeln!(
        text,
        "### {header}\n\n{}\n\n| key | value | meaning |\n|---|---|---|",
        described(definition)
    );
    for (key, property) in definition["properties"].as_object().unwrap_or(&nothing) {
        let target = reference_in(property).and_then(|target| definitions.get_key_value(target));
        let value = match target {
            Some((name, target)) if target.get("properties").is_some() => {
                if !inner.contains(name) {
                    inner.push(name.clone());
                }
                // A name in the plural gets no article.
                if name.ends_with('s') { spaced(name) } else { format!("a {}", spaced(name)) }
            }
            Some((_, target)) if target.get("oneOf").is_some() || target.get("enum").is_some() => {
                words(target)
            }
            Some((_, target)) => example(target),
            None => kind(property),
        };
        let needed = if required.contains(&key.as_str()) { ", needed" } else { "" };
        let _ = writeln!(text, "| `{key}` | {value}{needed} | {} |", described(property).replace('\n', " "));
    }
    text.push('\n');
}

/// The definition that a property refers to, directly or as one of its types.
fn reference_in(property: &Value) -> Option<&str> {
    let own = property.get("$ref").and_then(Value::as_str);
    let among = || property.get("anyOf")?.as_array()?.iter().find_map(|one| one.get("$ref")?.as_str());
    let item = || property.get("items")?.get("$ref")?.as_str();
    own.or_else(among).or_else(item).and_then(|path| path.rsplit('/').next())
}

fn described(value: &Value) -> &str {
    value.get("description").and_then(Value::as_str).unwrap_or_default()
}

fn words(definition: &Value) -> String {
    let all = definition["oneOf"].as_array().into_iter().flatten().filter_map(|one| one["const"].as_str());
    let plain = definition["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let quoted: Vec<String> = all.chain(plain).map(|word| format!("`\"{word}\"`")).collect();
    quoted.join(", ")
}

fn example(definition: &Value) -> String {
    let text = definition["examples"][0].as_str().unwrap_or_default();
    format!("as `\"{text}\"`")
}

fn kind(property: &Value) -> String {
    let one = property.get("type").map_or(Value::Null, Clone::clone);
    let word = match &one {
        Value::Array(several) => several.first().and_then(Value::as_str).unwrap_or_default().to_owned(),
        Value::String(word) => word.clone(),
        _ => String::new(),
    };
    match word.as_str() {
        "string" => "a text".to_owned(),
        "boolean" => "`true` or `false`".to_owned(),
        "integer" => "a whole number".to_owned(),
        "array" => "a list".to_owned(),
        _ => "a number".to_owned(),
    }
}

/// Converts `WriteCache` to `write cache`.
fn spaced(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push(' ');
        }
        text.extend(letter.to_lowercase());
    }
    text
}
