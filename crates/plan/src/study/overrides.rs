//! Overrides of the study file from the command line: `--set workload.NAME.key=value`.
//!
//! An override is inserted into the tables before they are read, so that it is checked like a part of the
//! file. Its mistakes are shown with an extra line after the text of the file.

use std::borrow::Cow;
use std::fmt;

use thiserror::Error;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::error::StudyError;
use super::keys::{PROMISES, STONEWALL, TABLES};
use super::table::definition::Table;
use super::table::values::Span;
use crate::text::nearest::nearest;
use crate::text::visible::shown;
use crate::{Case, Commitment, Plan, PlanSource};

/// Mutually exclusive keys: an override of one replaces the others.
const INSTEAD: [(&[&str], &[&str]); 16] = [
    (&PROMISES, &PROMISES),
    (
        &["path", "paths", "directory", "device", "disks"],
        &["path", "paths", "directory", "device", "disks", "layout", "volume", "work", "utility"],
    ),
    (&["layout"], &["path", "paths", "directory", "device", "disks", "work", "utility"]),
    (&["size"], &["block", "segments", "rows"]),
    (&["rows"], &["size"]),
    (&["groups"], &["distinct"]),
    (&["distinct"], &["groups"]),
    (&["block", "segments"], &["size"]),
    (&["member"], &["members"]),
    (&["members"], &["member"]),
    (&["tasks"], &["tasks_per_node"]),
    (&["tasks_per_node"], &["tasks"]),
    (&["duration", "operations"], &STONEWALL),
    (&["duration", "stonewall"], &["operations"]),
    (&["operations", "stonewall"], &["duration"]),
    (&["until"], &["repetitions_min", "steady_window", "steady_excursion", "steady_slope"]),
];

/// Tables that can be overridden: what is measured and how, and the commitments, since a built-in study has
/// no contract of its own. Expectations, published figures and claims cannot be set on the command line.
const SETTABLE: [&str; 8] =
    ["study", "protocol", "layout", "target", "workload", "table", "test", "commitment"];

/// One value that replaces that of a study file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    written: String,
    table: String,
    name: Option<String>,
    key: String,
    value: String,
}

/// An invalid override.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}; {help}")]
pub struct OverrideError {
    /// What is wrong, as a lowercase fragment that names the text.
    pub message: String,
    /// What is allowed.
    pub help: String,
}

impl Override {
    /// Parses `TABLE.KEY=VALUE`, or `TABLE.NAME.KEY=VALUE` for a table that may occur several times, where
    /// `*` selects all. VALUE is written as in the file; a text needs no quotes.
    ///
    /// ```
    /// use plan::study::Override;
    /// assert!(Override::parse("workload.stream.size=64MiB").is_ok());
    /// assert!(Override::parse("workload.*.duration=1s").is_ok());
    /// assert!(Override::parse("protocol.repetitions=2").is_ok());
    /// assert!(Override::parse("size=64MiB").is_err(), "of which table?");
    /// ```
    ///
    /// # Errors
    /// Errors if the text has another form, or names a table that no study has.
    pub fn parse(written: &str) -> Result<Self, OverrideError> {
        let wrong = |message: String, help: &str| Err(OverrideError { message, help: help.to_owned() });
        let Some((place, value)) = split(written) else {
            let message = format!("`{}` sets nothing", shown(written));
            return wrong(message, "write TABLE.NAME.KEY=VALUE, for example workload.stream.size=64MiB");
        };
        let (table, rest) = place.split_once('.').unwrap_or((place, ""));
        let Some(known) = TABLES.into_iter().find(|known| known.name == table) else {
            let names = || TABLES.into_iter().map(|table| table.name);
            let help = match nearest(table, names()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("the tables are {}", names().collect::<Vec<_>>().join(", ")),
            };
            return wrong(format!("`{}` does not name a table of a study", shown(written)), &help);
        };
        if !SETTABLE.contains(&known.name) {
            let message = format!("`{}` would change what is fixed before the run", shown(written));
            let help = format!("change {} in the file, so that everybody can see it there", known.header());
            return wrong(message, &help);
        }
        let (name, key) = match (known.many(), rest.rsplit_once('.')) {
            (true, Some((name, key))) if !name.is_empty() => (Some(name.to_owned()), key),
            (false, None) if !rest.is_empty() => (None, rest),
            (true, _) => {
                let help = format!("write {table}.NAME.KEY=VALUE, or {table}.*.KEY=VALUE for all of them");
                return wrong(format!("`{}` does not say which {table}", shown(written)), &help);
            }
            (false, _) => {
                let message = format!("`{}` does not name one key of {}", shown(written), known.header());
                return wrong(message, &format!("write {table}.KEY=VALUE"));
            }
        };
        let (written, table, value) = (written.to_owned(), table.to_owned(), value.trim().to_owned());
        Ok(Self { written, table, name, key: key.trim().to_owned(), value })
    }
}

impl Override {
    /// Whether it sets the key `key` of the table `table` with the name `name`.
    pub(super) fn sets(&self, table: &str, name: &str, key: &str) -> bool {
        self.table == table && self.is_named(name) && self.key == key
    }

    /// Whether it is about the table with the name `name`.
    fn is_named(&self, name: &str) -> bool {
        self.name.as_deref().is_none_or(|own| own == "*" || own == name)
    }

    /// Whether it changes how `case` is measured: its workload, its target, its layout, its jobs, or the whole study.
    #[must_use]
    pub fn concerns(&self, case: &Case) -> bool {
        match self.table.as_str() {
            "workload" => self.is_named(case.workload_table()),
            "target" => self.is_named(&case.target),
            "layout" => case.layout.as_deref().is_some_and(|layout| self.is_named(layout)),
            "table" | "test" => case.workload.work.jobs().is_some(),
            "study" | "protocol" => true,
            _ => false,
        }
    }
}

/// The overrides of the study that `plan` was read from that may change what `commitment` says, or the figures that it
/// is about.
#[must_use]
pub fn overrides_of(plan: &Plan, commitment: &Commitment) -> Vec<String> {
    let PlanSource::Study { overrides, .. } = &plan.source else { return Vec::new() };
    let concerns = |written: &&String| {
        let Ok(one) = Override::parse(written) else { return true };
        let names = |own: Option<&String>| own.is_none_or(|own| one.is_named(own));
        let figures = &commitment.figures;
        match one.table.as_str() {
            "workload" => figures.workload.as_ref().is_none_or(|own| {
                one.is_named(own) || plan.cases.iter().any(|case| case.is_of(own) && one.concerns(case))
            }),
            "target" => names(commitment.figures.target.as_ref()),
            "commitment" => names(Some(&commitment.name)) || one.key == "name",
            _ => true,
        }
    };
    overrides.iter().filter(concerns).cloned().collect()
}

impl fmt::Display for Override {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

/// Splits into place and value at the first `=` after a key; a name may contain another one.
fn split(written: &str) -> Option<(&str, &str)> {
    let is_key = |place: &str| {
        let key = place.rsplit('.').next().unwrap_or_default().trim();
        !key.is_empty() && key.chars().all(|c| c.is_ascii_lowercase() || c == '_')
    };
    let mut places = written.match_indices('=').map(|(at, _)| (&written[..at], &written[at + 1..]));
    places.find(|(place, _)| is_key(place))
}

/// The text in which mistakes are shown: that of the file, followed by a line for each override.
pub(super) fn shown_text(text: &str, overrides: &[Override]) -> String {
    let mut all = text.to_owned();
    for one in overrides {
        all.push_str(&line(one, all.ends_with('\n')));
    }
    all
}

fn line(one: &Override, at_start: bool) -> String {
    format!("{}{MARK}{}\n", if at_start { "" } else { "\n" }, one.written)
}

/// Precedes an override in the shown text.
const MARK: &str = "--set ";

/// Inserts each override into `tables`, which are those of `text`.
pub(super) fn apply<'i>(
    tables: &mut DeTable<'i>,
    text: &str,
    overrides: &'i [Override],
    errors: &mut Vec<StudyError>,
) {
    let mut all = text.len();
    let mut at_start = text.ends_with('\n');
    for one in overrides {
        let start = all + usize::from(!at_start) + MARK.len();
        all += line(one, at_start).len();
        at_start = true;
        let table = TABLES.into_iter().find(|table| table.name == one.table);
        let span = start..start + one.written.len();
        errors.extend(table.and_then(|table| put(tables, table, one, &span)));
    }
}

/// Inserts `one`; returns the error if its place is wrong.
fn put<'i>(tables: &mut DeTable<'i>, table: &Table, one: &'i Override, span: &Span) -> Option<StudyError> {
    let value_span = span.end - one.value.len()..span.end;
    let value = || Spanned::new(value_span.clone(), value(table, one, value_span.start));
    let key = || Spanned::new(span.clone(), Cow::Borrowed(one.key.as_str()));
    let Some(wanted) = &one.name else {
        let name = Spanned::new(span.clone(), Cow::Borrowed(one.table.as_str()));
        let found =
            tables.entry(name).or_insert_with(|| Spanned::new(span.clone(), DeValue::Table(DeTable::new())));
        if let DeValue::Table(content) = found.get_mut() {
            replace(content, &one.key, key(), value());
        }
        return None;
    };
    let mut names = Vec::new();
    let mut hits = 0;
    if let Some(DeValue::Array(items)) = tables.get_mut(one.table.as_str()).map(Spanned::get_mut) {
        for item in items.iter_mut() {
            let DeValue::Table(content) = item.get_mut() else { continue };
            let named = table.named_by.and_then(|key| content.get(key)).map(Spanned::get_ref);
            let name = match named {
                Some(DeValue::String(name)) => name.to_string(),
                _ => String::new(),
            };
            if wanted == "*" || *wanted == name {
                hits += 1;
                replace(content, &one.key, key(), value());
            }
            names.push(name);
        }
    }
    (hits == 0)
        .then(|| super::names::unknown(table.name, wanted, span.clone(), names.iter().map(String::as_str)))
}

/// Replaces a value of the file, and any mutually exclusive key.
fn replace<'i>(
    content: &mut DeTable<'i>,
    name: &str,
    key: Spanned<Cow<'i, str>>,
    value: Spanned<DeValue<'i>>,
) {
    let instead = INSTEAD.iter().filter(|(keys, _)| keys.contains(&name)).flat_map(|(_, others)| *others);
    for other in instead.filter(|other| **other != name) {
        content.remove(*other);
    }
    // The key keeps its position in the file, and so among swept keys.
    let kept = content.get_key_value(name).map(|(key, _)| key.clone());
    content.remove(name);
    content.insert(kept.unwrap_or(key), value);
}

/// The value of an override: parsed as TOML if it is TOML, and taken as plain text otherwise. Keys that take
/// a text accept any text.
fn value<'i>(table: &Table, one: &'i Override, start: usize) -> DeValue<'i> {
    let text = || DeValue::String(Cow::Borrowed(one.value.as_str()));
    let takes_text = table.find(&one.key).is_some_and(|key| key.kind.is_text());
    match DeValue::parse(&one.value).map(Spanned::into_inner) {
        Ok(value @ (DeValue::String(_) | DeValue::Array(_))) => moved(value, start),
        Ok(value) if !takes_text => moved(value, start),
        Ok(_) | Err(_) => text(),
    }
}

/// `value` with all positions in it shifted by `start`.
fn moved(value: DeValue<'_>, start: usize) -> DeValue<'_> {
    let shifted = |span: Span| span.start + start..span.end + start;
    match value {
        DeValue::Array(items) => {
            let mut array = DeArray::new();
            for item in items {
                array.push(Spanned::new(shifted(item.span()), moved(item.into_inner(), start)));
            }
            DeValue::Array(array)
        }
        DeValue::Table(items) => {
            let mut table = DeTable::new();
            for (key, item) in items {
                let key = Spanned::new(shifted(key.span()), key.into_inner());
                table.insert(key, Spanned::new(shifted(item.span()), moved(item.into_inner(), start)));
            }
            DeValue::Table(table)
        }
        other => other,
    }
}
