//! Columns as read. All values have one type, and are converted to the fields of rows together.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};

use crate::files::limits::bytes_of_text;

/// The index of a text in a dictionary that stands for a null value.
pub(crate) const NULL: u32 = u32::MAX;

/// The values of one column of some rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Values {
    /// Only nulls; this is their number.
    Nulls(usize),
    /// Numbers without a null.
    Integers(Vec<i64>),
    /// Numbers, some of which may be null.
    SomeIntegers(Vec<Option<i64>>),
    /// Floating-point numbers, some of which may be null.
    Numbers(Vec<Option<f64>>),
    /// Texts, each given by its index in a dictionary; [`NULL`] means that there is none.
    Texts {
        /// The distinct texts.
        words: Vec<String>,
        /// The index of each row's text.
        places: Vec<u32>,
    },
}

impl Values {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Nulls(count) => *count,
            Self::Integers(values) => values.len(),
            Self::SomeIntegers(values) => values.len(),
            Self::Numbers(values) => values.len(),
            Self::Texts { places, .. } => places.len(),
        }
    }

    /// The memory used by the texts if rows with the same text share it.
    pub(crate) fn bytes_of_words(&self) -> u64 {
        let Self::Texts { words, .. } = self else { return 0 };
        words.iter().map(|word| bytes_of_text(word)).sum()
    }

    /// The memory used by the texts if each row has its own.
    pub(crate) fn bytes_of_places(&self) -> u64 {
        let Self::Texts { words, places } = self else { return 0 };
        let bytes: Vec<u64> = words.iter().map(|word| bytes_of_text(word)).collect();
        places.iter().filter_map(|&place| bytes.get(place as usize)).sum()
    }

    /// A column with the same text `count` times.
    pub(crate) fn word(text: &str, count: usize) -> Self {
        Self::Texts { words: vec![text.to_owned()], places: vec![0; count] }
    }

    /// Expands a single value that stands for all rows to `count` values.
    fn repeated(self, count: usize) -> Self {
        match self {
            Self::Integers(values) if values.len() == 1 => Self::Integers(vec![values[0]; count]),
            Self::Texts { words, places } if places.len() == 1 => {
                Self::Texts { words, places: vec![places[0]; count] }
            }
            other => other,
        }
    }

    /// Which rows have a value, and those values.
    pub(crate) fn dense(self) -> (Vec<bool>, Self) {
        match self {
            Self::Nulls(count) => (vec![false; count], Self::Nulls(0)),
            Self::Integers(values) => (vec![true; values.len()], Self::Integers(values)),
            Self::SomeIntegers(values) => (
                values.iter().map(Option::is_some).collect(),
                Self::Integers(values.into_iter().flatten().collect()),
            ),
            Self::Numbers(values) => (
                values.iter().map(Option::is_some).collect(),
                Self::Numbers(values.into_iter().filter(Option::is_some).collect()),
            ),
            Self::Texts { words, places } => (
                places.iter().map(|&place| place != NULL).collect(),
                Self::Texts { words, places: places.into_iter().filter(|&place| place != NULL).collect() },
            ),
        }
    }
}

/// A column of a journal event: an array, or one value that stands for all rows.
pub(crate) struct JournalColumn {
    values: Values,
    for_all: bool,
}

impl JournalColumn {
    /// The values of `count` rows.
    pub(crate) fn values(self, count: usize) -> Values {
        if self.for_all { self.values.repeated(count) } else { self.values }
    }
}

impl<'de> Deserialize<'de> for JournalColumn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ColumnVisitor)
    }
}

struct ColumnVisitor;

impl<'de> Visitor<'de> for ColumnVisitor {
    type Value = JournalColumn;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of numbers or texts, or one of them for all rows")
    }

    fn visit_i64<E>(self, value: i64) -> Result<JournalColumn, E> {
        Ok(JournalColumn { values: Values::Integers(vec![value]), for_all: true })
    }

    fn visit_u64<E>(self, value: u64) -> Result<JournalColumn, E> {
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        Ok(JournalColumn { values: Values::Integers(vec![value]), for_all: true })
    }

    fn visit_str<E>(self, text: &str) -> Result<JournalColumn, E> {
        Ok(JournalColumn { values: Values::word(text, 1), for_all: true })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<JournalColumn, A::Error> {
        let mut gathered = Gathered::default();
        while let Some(value) = seq.next_element::<JournalValue<'de>>()? {
            gathered.take(value).map_err(serde::de::Error::custom)?;
        }
        Ok(JournalColumn { values: gathered.values(), for_all: false })
    }
}

/// One value of a journal event.
enum JournalValue<'a> {
    Null,
    Integer(i64),
    Number(f64),
    Text(Cow<'a, str>),
}

impl<'de> Deserialize<'de> for JournalValue<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = JournalValue<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a text or null")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(JournalValue::Null)
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(JournalValue::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(JournalValue::Integer(i64::try_from(value).unwrap_or(i64::MAX)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(JournalValue::Number(value))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(JournalValue::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(JournalValue::Text(Cow::Owned(text.to_owned())))
    }
}

/// Distinct texts, collected one after the other.
#[derive(Default)]
pub(crate) struct Words {
    texts: Vec<String>,
    /// The index of each of the texts.
    known: HashMap<String, u32>,
    last: u32,
}

impl Words {
    /// The index of `text`, which is added if it is new. Texts repeat: it is mostly the same as the last one or, if
    /// rows alternate between the nodes of a run, the one that followed it before.
    pub(crate) fn place_of(&mut self, text: &str) -> u32 {
        let next = if (self.last as usize) + 1 < self.texts.len() { self.last + 1 } else { 0 };
        let near = [self.last, next]
            .into_iter()
            .find(|&place| self.texts.get(place as usize).is_some_and(|known| known == text));
        self.last = near.or_else(|| self.known.get(text).copied()).unwrap_or_else(|| {
            let place = u32::try_from(self.texts.len()).unwrap_or(NULL - 1);
            self.texts.push(text.to_owned());
            self.known.insert(text.to_owned(), place);
            place
        });
        self.last
    }

    pub(crate) fn into_texts(self) -> Vec<String> {
        self.texts
    }
}

/// Values as they are read, which are of one type or null.
#[derive(Default)]
struct Gathered {
    integers: Vec<Option<i64>>,
    numbers: Vec<Option<f64>>,
    words: Words,
    places: Vec<u32>,
    nulls: usize,
}

impl Gathered {
    fn take(&mut self, value: JournalValue<'_>) -> Result<(), String> {
        match value {
            JournalValue::Text(text) => self.places.push(self.words.place_of(&text)),
            JournalValue::Integer(number) => self.integers.push(Some(number)),
            JournalValue::Number(number) => self.numbers.push(Some(number)),
            JournalValue::Null => {
                self.nulls += 1;
                self.integers.push(None);
                self.numbers.push(None);
                self.places.push(NULL);
            }
        }
        let lengths = [self.integers.len(), self.numbers.len(), self.places.len()];
        let kinds = lengths.iter().filter(|&&length| length > self.nulls).count();
        if kinds > 1 { Err("it has values of several types".to_owned()) } else { Ok(()) }
    }

    fn values(self) -> Values {
        let words = self.words.into_texts();
        if !words.is_empty() {
            Values::Texts { words, places: self.places }
        } else if self.numbers.len() > self.nulls {
            Values::Numbers(self.numbers)
        } else if self.nulls == 0 {
            Values::Integers(self.integers.into_iter().flatten().collect())
        } else if self.nulls == self.integers.len() {
            Values::Nulls(self.nulls)
        } else {
            Values::SomeIntegers(self.integers)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{JournalColumn, NULL, Values};

    #[test]
    fn texts_that_go_round_stand_once_each() {
        let text = r#"["n1", "n2", "n3", "n1", "n2", "n3", "n3", null, "n2", "n1"]"#;
        let column: JournalColumn = serde_json::from_str(text).expect("a column");
        let words = ["n1", "n2", "n3"].map(str::to_owned).to_vec();
        let places = vec![0, 1, 2, 0, 1, 2, 2, NULL, 1, 0];
        assert_eq!(column.values(10), Values::Texts { words, places });
    }
}
