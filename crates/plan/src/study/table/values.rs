//! The values of a table of a study file by key, its swept keys, and the points of its sweep.

use std::collections::{BTreeMap, HashMap};
use std::ops;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, IntoDeserializer as _};

use super::range::{Range, Scalar};
use crate::{Amount, Bytes, Nanos, Setting, SettingValue};

/// A value that a key accepts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Texts(Vec<String>),
    /// Bytes, nanoseconds or a plain count, depending on the key's kind.
    Integer(u64),
    Integers(Vec<u64>),
    Number(f64),
    Rate(Amount),
    Flag(bool),
    Word(&'static str),
    Words(Vec<&'static str>),
    Until(Until),
    Settings(Vec<(Setting, Span)>),
    Table(Box<Fields>),
    Tables(Vec<Fields>),
}

/// The condition under which a case ends before all repetitions are done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Until {
    /// The confidence interval is at most this share of the median.
    Interval(f64),
    /// The last repetitions are steady.
    Steady,
    /// Nothing ends it earlier.
    Count,
}

/// Accessors for the value of a key. The kind of the key determines the variant; the accessor of another
/// variant returns an empty value or 0.
impl Value {
    /// A flag.
    pub(crate) fn flag(&self) -> bool {
        matches!(self, Self::Flag(true))
    }

    /// A count.
    pub(crate) fn count(&self) -> u64 {
        if let Self::Integer(count) = self { *count } else { 0 }
    }

    /// A count that its key bounds to 32 bits.
    pub(crate) fn count_u32(&self) -> u32 {
        u32::try_from(self.count()).unwrap_or(u32::MAX)
    }

    /// A list of counts that their key bounds to 32 bits.
    pub(crate) fn counts_u32(&self) -> Vec<u32> {
        let Self::Integers(counts) = self else { return Vec::new() };
        counts.iter().filter_map(|&count| u32::try_from(count).ok()).collect()
    }

    /// A size.
    pub(crate) fn bytes(&self) -> Bytes {
        Bytes(self.count())
    }

    /// A time.
    pub(crate) fn nanos(&self) -> Nanos {
        Nanos(self.count())
    }

    /// A number, rate, share or bandwidth.
    pub(crate) fn number(&self) -> f64 {
        if let Self::Number(number) = self { *number } else { 0.0 }
    }

    /// A text, name or path.
    pub(crate) fn text(&self) -> String {
        if let Self::Text(text) = self { text.clone() } else { String::new() }
    }

    /// A list of texts.
    pub(crate) fn texts(&self) -> Vec<String> {
        if let Self::Texts(texts) = self { texts.clone() } else { Vec::new() }
    }

    /// A word.
    pub(crate) fn word(&self) -> &'static str {
        if let Self::Word(word) = self { word } else { "" }
    }

    /// Sets `to` to the meaning of the word. The words of a key are those of the record.
    pub(crate) fn put<T: DeserializeOwned>(&self, to: &mut T) {
        if let Some(meant) = self.parsed() {
            *to = meant;
        }
    }

    /// The meaning of the word.
    pub(crate) fn parsed<T: DeserializeOwned>(&self) -> Option<T> {
        let word: StrDeserializer<'_, serde::de::value::Error> = self.word().into_deserializer();
        T::deserialize(word).ok()
    }
}

impl From<Scalar> for Value {
    fn from(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Integer(value) => Self::Integer(value),
            Scalar::Number(value) => Self::Number(value),
        }
    }
}

/// A place in the text.
pub(crate) type Span = ops::Range<usize>;

/// A key with its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    pub(crate) key_span: Span,
    pub(crate) span: Span,
    pub(crate) value: Value,
}

/// The defaults of a table, by key.
pub(super) type Defaults = HashMap<&'static str, Value>;

/// The values of a table, by key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fields {
    /// The name of the kind of table.
    pub(super) name: &'static str,
    pub(super) defaults: Option<&'static Defaults>,
    pub(super) header: Span,
    pub(super) given: BTreeMap<&'static str, Field>,
    /// Swept keys, in the order of the file.
    pub(super) sweeps: Vec<Sweep>,
    pub(super) sound: bool,
}

impl Fields {
    /// Whether every key and value of the table is valid.
    pub(crate) fn sound(&self) -> bool {
        self.sound
    }

    /// The name of the kind of table.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// The keys that are given and not swept.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static str> + use<'_> {
        self.given.keys().copied()
    }

    /// The swept keys, in the order of the file.
    pub(crate) fn sweeps(&self) -> &[Sweep] {
        &self.sweeps
    }
}

/// A table, or a point of its sweep, whose keys can be queried.
pub(crate) trait Values {
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
        self.given(name).or_else(|| self.fields().defaults?.get(name))
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

    /// The meaning of a word.
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

/// A key with several values, not yet expanded.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sweep {
    pub(crate) key: &'static str,
    pub(crate) key_span: Span,
    pub(crate) span: Span,
    pub(super) parts: Vec<SweepPart>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum SweepPart {
    One(Field),
    Many(Range, Span),
}

impl Sweep {
    /// Number of values, without listing them.
    pub(crate) fn count(&self) -> u64 {
        let counts = self.parts.iter().map(|part| match part {
            SweepPart::One(_) => 1,
            SweepPart::Many(range, _) => range.count(),
        });
        counts.fold(0, u64::saturating_add)
    }

    /// All values.
    pub(super) fn values(&self) -> Vec<Field> {
        let mut fields = Vec::new();
        for part in &self.parts {
            match part {
                SweepPart::One(field) => fields.push(field.clone()),
                SweepPart::Many(range, span) => fields.extend((0..range.count()).map(|index| Field {
                    key_span: self.key_span.clone(),
                    span: span.clone(),
                    value: range.at(index).into(),
                })),
            }
        }
        fields
    }
}

/// One point of the sweep of a workload.
#[derive(Debug, Clone)]
pub(crate) struct Point<'f> {
    pub(super) fields: &'f Fields,
    pub(super) choices: Vec<Choice<'f>>,
}

/// A swept key with its value at a point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice<'f> {
    pub(super) key: &'static str,
    pub(super) field: &'f Field,
    pub(super) setting: &'f SettingValue,
}

impl Point<'_> {
    /// The swept keys with their values here, in the order of the file.
    pub(crate) fn settings(&self) -> Vec<Setting> {
        let setting =
            |choice: &Choice<'_>| Setting { key: choice.key.to_owned(), value: choice.setting.clone() };
        self.choices.iter().map(setting).collect()
    }
}

impl Values for Point<'_> {
    fn fields(&self) -> &Fields {
        self.fields
    }

    fn field(&self, name: &str) -> Option<&Field> {
        let chosen = self.choices.iter().find(|choice| choice.key == name);
        chosen.map(|choice| choice.field).or_else(|| self.fields.field(name))
    }
}
