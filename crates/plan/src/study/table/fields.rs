//! A table of a study file: its values by key, and its swept keys.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::LazyLock;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::kind::{Absent, Key, Kind, Set, Table};
use super::sweep::Sweep;
use super::value::{self, LIST_MAX, Value, convert};
use crate::Bytes;
use crate::study::error::StudyError;
use crate::study::keys::{STEP, TABLES};
use crate::text::nearest::nearest;

/// A place in the text.
pub(in crate::study) type Span = Range<usize>;

/// A key with its value.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::study) struct Field {
    pub(in crate::study) key_span: Span,
    pub(in crate::study) span: Span,
    pub(in crate::study) value: Value,
}

/// The values of a table, by key.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::study) struct Fields {
    table: &'static Table,
    header: Span,
    given: BTreeMap<&'static str, Field>,
    /// Swept keys, in the order of the file.
    sweeps: Vec<Sweep>,
    sound: bool,
}

impl Fields {
    /// A table missing from the file: every key has its default.
    pub(in crate::study) fn absent(table: &'static Table) -> Self {
        Self { table, header: 0..0, given: BTreeMap::new(), sweeps: Vec::new(), sound: true }
    }

    /// Reads `content`, whose header is at `header`, by the keys of `table`.
    pub(in crate::study) fn read(
        table: &'static Table,
        content: &DeTable<'_>,
        header: Span,
        errors: &mut Vec<StudyError>,
    ) -> Self {
        let before = errors.len();
        let mut fields = Self { header, ..Self::absent(table) };
        // Keys meant by a misspelt one are not also reported as missing.
        let mut meant = Vec::new();
        for (written, value) in content {
            let name: &str = written.get_ref();
            let Some(key) = table.find(name) else {
                meant.extend(unknown_key(table, name, written.span(), errors));
                continue;
            };
            meant.push(key.name);
            if let (Kind::Tables(inner), DeValue::Array(items)) = (&key.kind, value.get_ref()) {
                let list = Value::Tables(tables(inner, items, errors));
                let field = Field { key_span: written.span(), span: value.span(), value: list };
                fields.given.insert(key.name, field);
                continue;
            }
            let result = if table.sweeps(key) && Sweep::is_meant(key, value.get_ref()) {
                Sweep::read(key, written.span(), value).map(|sweep| fields.sweeps.push(sweep))
            } else {
                convert(key, value).map(|converted| {
                    let field = Field { key_span: written.span(), span: value.span(), value: converted };
                    fields.given.insert(key.name, field);
                })
            };
            errors.extend(result.err().map(|error| *error));
        }
        fields.sweeps.sort_by_key(|sweep| sweep.key_span.start);
        let required = table.all().filter(|key| matches!(key.absent, Absent::Refused));
        for key in required.filter(|key| !meant.contains(&key.name)) {
            errors.push(missing(table, key.name, fields.header.clone(), key.kind.allowed()));
        }
        fields.sound = errors.len() == before;
        fields
    }

    /// Whether every key and value of the table is valid.
    pub(in crate::study) fn sound(&self) -> bool {
        self.sound
    }

    /// The name of the kind of table.
    pub(in crate::study) fn name(&self) -> &'static str {
        self.table.name
    }

    /// The keys that are there and not swept.
    pub(in crate::study) fn keys(&self) -> impl Iterator<Item = &'static str> + use<'_> {
        self.given.keys().copied()
    }

    /// What the key `name` of this table takes.
    pub(in crate::study) fn allowed(&self, name: &str) -> String {
        self.table.find(name).map_or_else(String::new, |key| key.kind.allowed())
    }

    /// The swept keys, in the order of the file.
    pub(in crate::study) fn sweeps(&self) -> &[Sweep] {
        &self.sweeps
    }
}

/// A table, or a point of its sweep, whose keys can be queried.
pub(in crate::study) trait Values {
    /// The table.
    fn fields(&self) -> &Fields;

    /// The entry of `name`.
    fn field(&self, name: &str) -> Option<&Field>;

    /// Position of the table's header.
    fn header(&self) -> Span {
        self.fields().header.clone()
    }

    /// Whether `name` is given.
    fn has(&self, name: &str) -> bool {
        self.field(name).is_some()
    }

    /// The given value of `name`.
    fn given(&self, name: &str) -> Option<&Value> {
        self.field(name).map(|field| &field.value)
    }

    /// Position of the value of `name`, or of the table's header if it was left out.
    fn span(&self, name: &str) -> Span {
        self.field(name).map_or_else(|| self.header(), |field| field.span.clone())
    }

    /// Position of the key `name`, or of the table's header if it was left out.
    fn key_span(&self, name: &str) -> Span {
        self.field(name).map_or_else(|| self.header(), |field| field.key_span.clone())
    }

    /// The value of `name`, or its default.
    fn value(&self, name: &str) -> Option<&Value> {
        self.given(name).or_else(|| default(self.fields().table, name))
    }

    /// What the given values and the defaults of `keys` set, in the order of the keys.
    fn sets(&self, keys: &'static [Key]) -> impl Iterator<Item = (Set, &Value)> {
        let has_setter = |key: &&Key| !matches!(key.set, Set::WithOthers);
        keys.iter().filter(has_setter).filter_map(|key| Some((key.set, self.value(key.name)?)))
    }

    /// A text, name or path.
    fn text(&self, name: &str) -> Option<&str> {
        match self.value(name)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A text; empty if not given.
    fn text_or_empty(&self, name: &str) -> String {
        self.value(name).map_or_else(String::new, Value::text)
    }

    /// A list of paths or keys.
    fn texts(&self, name: &str) -> Option<&[String]> {
        match self.value(name)? {
            Value::Texts(texts) => Some(texts),
            _ => None,
        }
    }

    /// A count.
    fn count(&self, name: &str) -> Option<u64> {
        self.value(name).map(Value::count)
    }

    /// A count that its key bounds to 32 bits.
    fn count_u32(&self, name: &str) -> Option<u32> {
        self.value(name).map(Value::count_u32)
    }

    /// A size.
    fn bytes(&self, name: &str) -> Option<Bytes> {
        self.value(name).map(Value::bytes)
    }

    /// A number, rate, share or bandwidth.
    fn number(&self, name: &str) -> Option<f64> {
        self.value(name).map(Value::number)
    }

    /// A list of tables.
    fn tables(&self, name: &str) -> &[Fields] {
        match self.value(name) {
            Some(Value::Tables(tables)) => tables,
            _ => &[],
        }
    }

    /// A flag; false unless given otherwise.
    fn flag(&self, name: &str) -> bool {
        self.value(name).is_some_and(Value::flag)
    }

    /// A word.
    fn word(&self, name: &str) -> Option<&'static str> {
        self.value(name).map(Value::word)
    }

    /// What a word stands for.
    fn parsed<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.value(name)?.parsed()
    }

    /// A list of words.
    fn words(&self, name: &str) -> &[&'static str] {
        match self.value(name) {
            Some(Value::Words(words)) => words,
            _ => &[],
        }
    }
}

impl Values for Fields {
    fn fields(&self) -> &Fields {
        self
    }

    fn field(&self, name: &str) -> Option<&Field> {
        self.given.get(name)
    }
}

/// The tables in a list.
fn tables(
    table: &'static Table,
    items: &[Spanned<DeValue<'_>>],
    errors: &mut Vec<StudyError>,
) -> Vec<Fields> {
    let mut found = Vec::new();
    for item in items.iter().take(LIST_MAX) {
        match item.get_ref() {
            DeValue::Table(content) => found.push(Fields::read(table, content, item.span(), errors)),
            other => {
                let message = format!("{} is a table, not {}", table.header(), value::found(other));
                let help = "write it as keys below its header, or in braces";
                errors.push(StudyError::new(item.span(), "not a table", message, help));
            }
        }
    }
    if let Some(item) = items.get(LIST_MAX) {
        let message = format!("{} times {}", items.len(), table.header());
        let help = format!("a list has at most {LIST_MAX} of them");
        errors.push(StudyError::new(item.span(), "one too many", message, help));
    }
    found
}

/// The default of the key `name` of `table`.
fn default(table: &'static Table, name: &str) -> Option<&'static Value> {
    static DEFAULTS: LazyLock<HashMap<&'static str, HashMap<&'static str, Value>>> = LazyLock::new(|| {
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
    DEFAULTS.get(table.name)?.get(name)
}

/// A required key that is not there.
pub(in crate::study) fn missing(
    table: &'static Table,
    name: &str,
    header: Span,
    allowed: String,
) -> StudyError {
    let help = match name {
        "statistic" => format!("say by which statistic it is judged before anything is measured: {allowed}"),
        _ => allowed,
    };
    let message = format!("{} has no `{name}`", table.header());
    StudyError::new(header, format!("`{name}` is missing here"), message, help)
}

/// Reports a key that `table` does not have; gives the one that was probably meant.
fn unknown_key(
    table: &'static Table,
    name: &str,
    span: Span,
    errors: &mut Vec<StudyError>,
) -> Option<&'static str> {
    let names = || table.all().map(|key| key.name);
    let meant = nearest(name, names());
    let help = match meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("the keys are {}", names().collect::<Vec<_>>().join(", ")),
    };
    let message = format!("{} has no key `{}`", table.header(), shown(name));
    errors.push(StudyError::new(span, "unknown key", message, help));
    meant
}

/// `text` in a message: at most a line of it.
pub(in crate::study) fn shown(text: &str) -> String {
    /// Characters of a message that a user's own word may take.
    const SHOWN_MAX: usize = 40;
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", text[..end].escape_debug()),
        None => text.escape_debug().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Fields, Values as _};
    use crate::study::keys::TABLES;

    #[test]
    fn every_default_is_of_its_kind() {
        for table in TABLES {
            let fields = Fields::absent(table);
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
