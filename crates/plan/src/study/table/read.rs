//! Reads a table of a study file: its values, by the kind of each key, and its swept keys.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::definition::{Key, KeyDefault, Table, ValueKind};
use super::range::{Range, Scalar};
use super::scalar::{ValueError, integer, is_range, scalar, unit};
use super::text::{amount, filled, name, path, plain, until, word};
use super::values::{Defaults, Field, Fields, Span, Sweep, SweepPart, Value};
use crate::Setting;
use crate::limits::STUDY_LIST_ITEMS;
use crate::study::error::StudyError;
use crate::study::keys::{STEP, TABLES, WORKLOAD};
use crate::study::words::instead_of_key;
use crate::text::nearest::nearest;
use crate::text::parse::{bandwidth, percent, share};
use crate::text::visible::shown;

/// A table missing from the file: every key has its default.
pub(crate) fn absent(table: &'static Table) -> Fields {
    Fields {
        name: table.name,
        defaults: defaults(table),
        header: 0..0,
        given: BTreeMap::new(),
        sweeps: Vec::new(),
        sound: true,
    }
}

/// Reads `content`, whose header is at `header`, according to the keys of `table`.
pub(crate) fn table_fields(
    table: &'static Table,
    content: &DeTable<'_>,
    header: Span,
    errors: &mut Vec<StudyError>,
) -> Fields {
    let before = errors.len();
    let mut fields = Fields { header, ..absent(table) };
    // Keys that a misspelt key was meant to be are not also reported as missing.
    let mut meant = Vec::new();
    for (written, value) in content {
        let name: &str = written.get_ref();
        let Some(key) = table.find(name) else {
            meant.extend(unknown_key(table, name, written.span(), errors));
            continue;
        };
        meant.push(key.name);
        if let (ValueKind::Tables(inner), DeValue::Array(items)) = (&key.kind, value.get_ref()) {
            let list = Value::Tables(tables(inner, items, errors));
            let field = Field { key_span: written.span(), span: value.span(), value: list };
            fields.given.insert(key.name, field);
            continue;
        }
        let result = if table.sweeps(key) && is_swept(key, value.get_ref()) {
            sweep(key, written.span(), value).map(|sweep| fields.sweeps.push(sweep))
        } else {
            convert(key, value).map(|converted| {
                let field = Field { key_span: written.span(), span: value.span(), value: converted };
                fields.given.insert(key.name, field);
            })
        };
        errors.extend(result.err().map(|error| *error));
    }
    fields.sweeps.sort_by_key(|sweep| sweep.key_span.start);
    let required = table.all().filter(|key| matches!(key.absent, KeyDefault::Refused));
    for key in required.filter(|key| !meant.contains(&key.name)) {
        errors.push(missing(table, key.name, fields.header.clone(), key.kind.allowed()));
    }
    fields.sound = errors.len() == before;
    fields
}

/// The tables in a list.
fn tables(
    table: &'static Table,
    items: &[Spanned<DeValue<'_>>],
    errors: &mut Vec<StudyError>,
) -> Vec<Fields> {
    let mut found = Vec::new();
    for item in items.iter().take(STUDY_LIST_ITEMS) {
        match item.get_ref() {
            DeValue::Table(content) => found.push(table_fields(table, content, item.span(), errors)),
            other => {
                let message = format!("{} is a table, not {}", table.header(), type_noun(other));
                let help = "write it as keys below its header, or in braces";
                errors.push(StudyError::new(item.span(), "not a table", message, help));
            }
        }
    }
    if let Some(item) = items.get(STUDY_LIST_ITEMS) {
        let message = format!("{} {} tables are too many", items.len(), table.header());
        let help = format!("a list has at most {STUDY_LIST_ITEMS} of them");
        errors.push(StudyError::new(item.span(), "one too many", message, help));
    }
    found
}

/// The defaults of `table`. Returns `None` for a table within another.
fn defaults(table: &'static Table) -> Option<&'static Defaults> {
    static DEFAULTS: LazyLock<HashMap<&'static str, Defaults>> = LazyLock::new(|| {
        let of = |table: &'static Table| {
            let values = table.all().filter_map(|key| {
                let literal = table.default(key)?;
                let parsed =
                    DeValue::parse(literal).expect("the default of a key is TOML; a test reads them all");
                let value = convert(key, &parsed)
                    .expect("the default of a key is of its kind; a test reads them all");
                Some((key.name, value))
            });
            (table.name, values.collect())
        };
        TABLES.into_iter().chain([&STEP]).map(of).collect()
    });
    DEFAULTS.get(table.name)
}

/// The error for a missing required key.
pub(crate) fn missing(table: &'static Table, name: &str, header: Span, allowed: String) -> StudyError {
    let help = match name {
        "statistic" => format!("the statistic must be fixed before anything is measured: {allowed}"),
        _ => allowed,
    };
    let message = format!("{} has no `{name}`", table.header());
    StudyError::new(header, format!("`{name}` is missing here"), message, help)
}

/// Reports a key that `table` does not have; returns the one that was probably meant.
fn unknown_key(
    table: &'static Table,
    name: &str,
    span: Span,
    errors: &mut Vec<StudyError>,
) -> Option<&'static str> {
    let names = || table.all().map(|key| key.name);
    let meant = nearest(name, names());
    let help = match (instead_of_key(table, name), meant) {
        (Some(write), _) => format!("write for example {write}"),
        (None, Some(meant)) => format!("did you mean `{meant}`?"),
        (None, None) => format!("the keys are {}", names().collect::<Vec<_>>().join(", ")),
    };
    let message = format!("{} has no key `{}`", table.header(), shown(name));
    errors.push(StudyError::new(span, "unknown key", message, help));
    meant
}

/// Whether `value` contains several values of `key`.
fn is_swept(key: &Key, value: &DeValue<'_>) -> bool {
    match value {
        DeValue::Array(_) => true,
        DeValue::String(text) => key.kind.is_ordered() && is_range(text),
        _ => false,
    }
}

/// Reads a list of values and ranges, or one range.
fn sweep(key: &'static Key, key_span: Span, value: &Spanned<DeValue<'_>>) -> Result<Sweep, Box<StudyError>> {
    let wrong = |label: &str, message: String, help: String| {
        Box::new(StudyError::new(value.span(), label, message, help))
    };
    let parts = match value.get_ref() {
        DeValue::Array(items) if items.is_empty() => {
            let message = format!("`{}` is swept over an empty list", key.name);
            return Err(wrong("empty", message, "give at least one value".to_owned()));
        }
        DeValue::Array(items) if items.len() > STUDY_LIST_ITEMS => {
            let message = format!("`{}` has {} items", key.name, items.len());
            return Err(wrong(
                "too long",
                message,
                format!("a list has at most {STUDY_LIST_ITEMS} items; write a range"),
            ));
        }
        DeValue::Array(items) => {
            items.iter().map(|item| part(key, &key_span, item)).collect::<Result<Vec<_>, _>>()?
        }
        _ => vec![part(key, &key_span, value)?],
    };
    Ok(Sweep { key: key.name, key_span, span: value.span(), parts })
}

fn part(
    key: &'static Key,
    key_span: &Span,
    item: &Spanned<DeValue<'_>>,
) -> Result<SweepPart, Box<StudyError>> {
    match item.get_ref() {
        DeValue::String(text) if key.kind.is_ordered() && is_range(text) => match Range::parse(key, text) {
            Ok(range) => Ok(SweepPart::Many(range, item.span())),
            Err((message, help)) => {
                let help = if help.is_empty() { key.kind.allowed() } else { help };
                Err(Box::new(StudyError::new(item.span(), "this range", message, help)))
            }
        },
        _ => {
            let value = convert(key, item)?;
            Ok(SweepPart::One(Field { key_span: key_span.clone(), span: item.span(), value }))
        }
    }
}

/// Reads a value according to the kind of its key.
pub(crate) fn convert(key: &Key, value: &Spanned<DeValue<'_>>) -> Result<Value, Box<StudyError>> {
    let wrong = |label: String, message: String, help: String| {
        Box::new(StudyError::new(value.span(), label, message, help))
    };
    let converted = match (&key.kind, value.get_ref()) {
        (ValueKind::Text | ValueKind::Reference(_), DeValue::String(text)) => plain(text).map(Value::Text),
        (ValueKind::Name, DeValue::String(text)) => name(text).map(Value::Text),
        (ValueKind::Path, DeValue::String(text)) => path(text).map(Value::Text),
        (ValueKind::Paths, DeValue::Array(items)) => return list(key, items, value, path).map(Value::Texts),
        (ValueKind::Texts(_), DeValue::Array(items)) => {
            return list(key, items, value, filled).map(Value::Texts);
        }
        (ValueKind::Size | ValueKind::Time, DeValue::String(text)) => scalar(key, text).map(Value::from),
        (ValueKind::Share, DeValue::String(text)) => share(text).map(Value::Number).map_err(unit),
        (ValueKind::Percent, DeValue::String(text)) => percent(text).map(Value::Number).map_err(unit),
        (ValueKind::Bandwidth, DeValue::String(text)) => bandwidth(text).map(Value::Number).map_err(unit),
        (ValueKind::Until, DeValue::String(text)) => until(text).map(Value::Until),
        (ValueKind::Side(_), DeValue::String(text)) => amount(text),
        (ValueKind::Counts(..), DeValue::String(text)) if is_range(text) => counts_of_range(key, text),
        (ValueKind::Counts(..), DeValue::Array(items)) => return counts(key, items, value),
        (ValueKind::Keys, DeValue::Array(items)) => {
            return list(key, items, value, |text| Ok(text.to_owned())).map(Value::Texts);
        }
        (ValueKind::Settings, DeValue::Table(items)) => return settings(items).map(Value::Settings),
        (ValueKind::Table(table) | ValueKind::Side(table), DeValue::Table(items)) => {
            return nested(table, items, value.span()).map(|fields| Value::Table(Box::new(fields)));
        }
        (ValueKind::Size, DeValue::Integer(n)) => {
            integer(key, n.as_str(), n.radix(), 0..=i64::MAX.unsigned_abs()).map(Value::Integer)
        }
        (ValueKind::Count(least, most), DeValue::Integer(n)) => {
            integer(key, n.as_str(), n.radix(), *least..=*most).map(Value::Integer)
        }
        (
            ValueKind::Rate | ValueKind::Number(..) | ValueKind::Share | ValueKind::Side(_),
            DeValue::Integer(n),
        ) if n.radix() == 10 => scalar(key, n.as_str()).map(Value::from),
        (
            ValueKind::Rate | ValueKind::Number(..) | ValueKind::Share | ValueKind::Side(_),
            DeValue::Float(n),
        ) => scalar(key, n.as_str()).map(Value::from),
        (ValueKind::Flag, DeValue::Boolean(flag)) => Ok(Value::Flag(*flag)),
        (ValueKind::Word(words), DeValue::String(text)) => word(key, words, text).map(Value::Word),
        (ValueKind::Words(words), DeValue::Array(items)) => {
            return list(key, items, value, |text| word(key, words, text)).map(Value::Words);
        }
        // The range syntax of other tools, in a list or alone.
        (kind, DeValue::String(text)) if kind.is_ordered() && looks_like_range(text) => {
            let message = format!("`{}` cannot be \"{}\"", key.name, shown(text));
            let help = match WORKLOAD.all().any(|known| known.name == key.name && WORKLOAD.sweeps(known)) {
                true => "write a range as \"1..64 times 2\" or \"1..64 step 1\"".to_owned(),
                false => kind.allowed(),
            };
            return Err(wrong("not a range".to_owned(), message, help));
        }
        (kind, other) => {
            let (expected, found) = (kind.noun(), type_noun(other));
            let message = format!("`{}` takes {expected}, not {found}", key.name);
            return Err(wrong(format!("this is {found}"), message, kind.allowed()));
        }
    };
    converted.map_err(|(message, help)| {
        let help = if help.is_empty() { key.kind.allowed() } else { help };
        wrong(format!("not a value of `{}`", key.name), message, help)
    })
}

/// Whether `text` is two whole numbers with a dash in between, as in `1-64`.
fn looks_like_range(text: &str) -> bool {
    let is_number = |part: &str| !part.trim().is_empty() && part.trim().bytes().all(|b| b.is_ascii_digit());
    text.split_once('-').is_some_and(|(from, to)| is_number(from) && is_number(to))
}

fn counts_of_range(key: &Key, text: &str) -> Result<Value, ValueError> {
    let range = Range::parse(key, text)?;
    if range.count() > STUDY_LIST_ITEMS as u64 {
        let message = format!("`{}` has {} items", key.name, range.count());
        return Err((message, format!("a list has at most {STUDY_LIST_ITEMS} items")));
    }
    let values = (0..range.count()).map(|index| match range.at(index) {
        Scalar::Integer(value) => value,
        Scalar::Number(_) => 0,
    });
    Ok(Value::Integers(values.collect()))
}

fn counts(key: &Key, items: &DeArray<'_>, value: &Spanned<DeValue<'_>>) -> Result<Value, Box<StudyError>> {
    let ValueKind::Counts(least, most) = key.kind else { return Ok(Value::Integers(Vec::new())) };
    if items.is_empty() || items.len() > STUDY_LIST_ITEMS {
        let message = format!("`{}` has {} items", key.name, items.len());
        return Err(Box::new(StudyError::new(value.span(), "this list", message, key.kind.allowed())));
    }
    let one = |item: &Spanned<DeValue<'_>>| {
        let number = match item.get_ref() {
            DeValue::Integer(n) => integer(key, n.as_str(), n.radix(), least..=most).ok(),
            _ => None,
        };
        number.ok_or_else(|| {
            let message = format!("not an item of `{}`", key.name);
            Box::new(StudyError::new(item.span(), "this item", message, key.kind.allowed()))
        })
    };
    items.iter().map(one).collect::<Result<_, _>>().map(Value::Integers)
}

/// Swept keys of a workload, each with one value.
fn settings(items: &DeTable<'_>) -> Result<Vec<(Setting, Span)>, Box<StudyError>> {
    let one = |(written, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let written: &Spanned<std::borrow::Cow<'_, str>> = written;
        let name: &str = written.get_ref();
        let sweepable = || WORKLOAD.all().filter(|key| WORKLOAD.sweeps(key));
        let Some(key) = sweepable().find(|key| key.name == name) else {
            let help = match nearest(name, sweepable().map(|key| key.name)) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "write keys of [[workload]] that are swept".to_owned(),
            };
            let message = format!("`{}` is not a key that can be swept", shown(name));
            return Err(Box::new(StudyError::new(written.span(), "no such key", message, help)));
        };
        let setting = Setting { key: key.name.to_owned(), value: key.setting(&convert(key, value)?) };
        Ok((setting, written.span().start..value.span().end))
    };
    items.iter().map(one).collect()
}

/// A table within a table; its first mistake if it has any.
fn nested(table: &'static Table, items: &DeTable<'_>, span: Span) -> Result<Fields, Box<StudyError>> {
    let mut errors = Vec::new();
    let fields = table_fields(table, items, span, &mut errors);
    match errors.into_iter().next() {
        Some(error) => Err(Box::new(error)),
        None => Ok(fields),
    }
}

/// Reads each item of a list; the first wrong one is marked individually.
fn list<T>(
    key: &Key,
    items: &DeArray<'_>,
    value: &Spanned<DeValue<'_>>,
    read: impl Fn(&str) -> Result<T, ValueError>,
) -> Result<Vec<T>, Box<StudyError>> {
    let wrong = |span, label: &str, message: String, help: String| {
        let help = if help.is_empty() { key.kind.allowed() } else { help };
        Box::new(StudyError::new(span, label, message, help))
    };
    if items.is_empty() {
        let message = format!("`{}` is empty", key.name);
        return Err(wrong(value.span(), "empty", message, String::new()));
    }
    if items.len() > STUDY_LIST_ITEMS {
        let message = format!("`{}` has {} items", key.name, items.len());
        return Err(wrong(
            value.span(),
            "too long",
            message,
            format!("a list has at most {STUDY_LIST_ITEMS} items"),
        ));
    }
    let one = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
        DeValue::String(text) => read(text)
            .map_err(|(message, help)| wrong(item.span(), "not a value of this list", message, help)),
        other => {
            let found = type_noun(other);
            let message = format!("`{}` takes {}, but this is {found}", key.name, key.kind.noun());
            Err(wrong(item.span(), "not a string", message, String::new()))
        }
    };
    items.iter().map(one).collect()
}

/// The type of a value, for errors.
fn type_noun(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or time of day",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

#[cfg(test)]
mod tests {
    use super::absent;
    use crate::study::keys::TABLES;
    use crate::study::table::values::Values as _;

    #[test]
    fn every_default_is_of_its_kind() {
        for table in TABLES {
            let fields = absent(table);
            for key in table.all() {
                assert_eq!(
                    fields.value(key.name).is_some(),
                    table.default(key).is_some(),
                    "{} {}",
                    table.name,
                    key.name
                );
            }
        }
    }
}
