//! Rows as narrow columns: one definition for the journal, the Parquet tables and the docs.

use std::borrow::Cow;
use std::sync::Arc;

use plan::limits::{RECORD_COUNT, RECORD_NUMBER};
use plan::{Measure, Operation, Phase};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};

use crate::files::limits::TextBudget;
use crate::table::values::Values;
use crate::{CaseId, PhaseKey, SharedText, WarningRow};

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// UTF-8.
    Text,
    /// A signed 64-bit number. All counts and times have this type, because the difference of two
    /// unsigned numbers wraps around in the tools that read these tables.
    Integer,
    /// A finite 64-bit floating-point number. Only used for what others have printed, never for own
    /// measurements.
    Number,
}

/// One value of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell<'a> {
    /// Not known or not applicable.
    Null,
    /// A text.
    Text(Cow<'a, str>),
    /// A whole number. Values above `i64::MAX` are stored as `i64::MAX`.
    Integer(i64),
    /// A number that is finite.
    Number(f64),
}

impl Cell<'_> {
    /// The number, if it is one.
    #[must_use]
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Null | Self::Text(_) | Self::Number(_) => None,
        }
    }

    /// The floating-point number, if it is one.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Null | Self::Text(_) | Self::Integer(_) => None,
        }
    }

    /// The text, if it is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null | Self::Integer(_) | Self::Number(_) => None,
        }
    }
}

/// One column of a table of `R`.
#[derive(Debug)]
pub struct Column<R> {
    /// Its name, which ends with the unit.
    pub name: &'static str,
    /// Its type.
    pub kind: ColumnType,
    /// Whether it may be null.
    pub nullable: bool,
    /// The format version that introduced it. In rows of earlier versions a text is empty and a count is
    /// 0.
    pub since: u32,
    /// Its value in a row.
    pub cell: for<'a> fn(&'a R) -> Cell<'a>,
}

/// A row that is stored in its own table.
///
/// ```
/// use record::{LatencyRow, Row};
/// let names: Vec<_> = LatencyRow::COLUMNS.iter().map(|column| column.name).collect();
/// assert_eq!(names[..3], ["case", "repetition", "phase"]);
/// ```
pub trait Row: Clone + Send + Sync + 'static {
    /// The table's name, which is also the name of its directory.
    const TABLE: &'static str;
    /// The columns, beginning with `case`, `repetition` and `phase`.
    const COLUMNS: &'static [Column<Self>];

    /// Reconstructs the rows from their columns.
    ///
    /// # Errors
    /// Returns the column that is missing or has a different type.
    fn from_columns(columns: &mut Columns<'_>) -> Result<Vec<Self>, String>;
}

impl<R> Column<R> {
    /// The values of the column for `count` rows of a version that did not have it.
    pub(crate) fn absent(&self, count: usize) -> Result<Values, String> {
        match self.kind {
            _ if self.nullable => Ok(Values::Nulls(count)),
            ColumnType::Text if self.since > 1 => Ok(Values::word("", count)),
            ColumnType::Integer if self.since > 1 => Ok(Values::Integers(vec![0; count])),
            ColumnType::Text | ColumnType::Integer | ColumnType::Number => {
                Err(format!("column {} is missing", self.name))
            }
        }
    }
}

/// The columns of some rows, which are taken in order.
#[derive(Debug)]
pub struct Columns<'a> {
    rows: usize,
    columns: std::vec::IntoIter<(&'static str, Values)>,
    texts: &'a mut TextBudget,
}

impl<'a> Columns<'a> {
    /// Creates the columns of `rows` rows. Their texts must not exceed the budget `texts`.
    pub(crate) fn new(rows: usize, columns: Vec<(&'static str, Values)>, texts: &'a mut TextBudget) -> Self {
        Self { rows, columns: columns.into_iter(), texts }
    }

    /// Skips a column.
    fn skip(&mut self) {
        let _ = self.columns.next();
    }

    fn take<V: Value>(&mut self) -> Result<Vec<V>, String> {
        let (name, values) = self.columns.next().ok_or("a column is missing")?;
        if values.len() != self.rows {
            return Err(format!("column {name} has {} values for {} rows", values.len(), self.rows));
        }
        if values.len() == 0 {
            return Ok(Vec::new());
        }
        let bytes = if V::OWNS_TEXT { values.bytes_of_places() } else { values.bytes_of_words() };
        self.texts.take(bytes, V::OWNS_TEXT).map_err(|error| format!("column {name}: {error}"))?;
        V::column(values).ok_or_else(|| format!("column {name} contains values of another type"))
    }
}

/// A type that a column can contain.
trait Value: Sized {
    const KIND: ColumnType;
    const NULLABLE: bool = false;
    /// Whether each row has its own text, even if it is the same as in other rows.
    const OWNS_TEXT: bool = false;

    fn cell(&self) -> Cell<'_>;

    /// All values of a column, or `None` if one of them has a different type.
    fn column(values: Values) -> Option<Vec<Self>>;
}

/// The values of a text column. Each distinct text is converted to a value only once.
fn of_words<V: Clone>(values: Values, value: impl Fn(String) -> Option<V>) -> Option<Vec<V>> {
    let Values::Texts { words, places } = values else { return None };
    let words: Vec<V> = words.into_iter().map(value).collect::<Option<_>>()?;
    let mut values = Vec::with_capacity(places.len());
    for place in places {
        values.push(words.get(place as usize)?.clone());
    }
    Some(values)
}

macro_rules! integers {
    ($($type:ty: $max:expr),+) => {$(
        impl Value for $type {
            const KIND: ColumnType = ColumnType::Integer;

            fn cell(&self) -> Cell<'_> {
                Cell::Integer(i64::try_from(*self).unwrap_or(i64::MAX))
            }

            fn column(values: Values) -> Option<Vec<Self>> {
                let Values::Integers(values) = values else { return None };
                let value = |number| Self::try_from(number).ok().filter(|_| number <= $max);
                values.into_iter().map(value).collect()
            }
        }
    )+};
}

integers!(u32: RECORD_NUMBER, u64: RECORD_COUNT, i64: i64::MAX);

impl Value for f64 {
    const KIND: ColumnType = ColumnType::Number;

    fn cell(&self) -> Cell<'_> {
        if self.is_finite() { Cell::Number(*self) } else { Cell::Null }
    }

    fn column(values: Values) -> Option<Vec<Self>> {
        let Values::Numbers(values) = values else { return None };
        values.into_iter().collect()
    }
}

impl Value for String {
    const KIND: ColumnType = ColumnType::Text;
    const OWNS_TEXT: bool = true;

    fn cell(&self) -> Cell<'_> {
        Cell::Text(Cow::Borrowed(self))
    }

    fn column(values: Values) -> Option<Vec<Self>> {
        of_words(values, Some)
    }
}

macro_rules! shared_texts {
    ($($type:ty),+) => {$(
        /// All rows share a repeated text.
        impl Value for $type {
            const KIND: ColumnType = ColumnType::Text;

            fn cell(&self) -> Cell<'_> {
                Cell::Text(Cow::Borrowed(self))
            }

            fn column(values: Values) -> Option<Vec<Self>> {
                of_words(values, |word| Some(Self::from(word)))
            }
        }
    )+};
}

shared_texts!(SharedText, Arc<str>);

macro_rules! words {
    ($($type:ty),+) => {$(
        impl Value for $type {
            const KIND: ColumnType = ColumnType::Text;

            fn cell(&self) -> Cell<'_> {
                Cell::Text(Cow::Borrowed(self.name()))
            }

            fn column(values: Values) -> Option<Vec<Self>> {
                of_words(values, |word| {
                    let word: StrDeserializer<'_, Error> = word.as_str().into_deserializer();
                    Self::deserialize(word).ok()
                })
            }
        }
    )+};
}

words!(Phase, Operation, Measure);

impl<V: Value> Value for Option<V> {
    const KIND: ColumnType = V::KIND;
    const NULLABLE: bool = true;
    const OWNS_TEXT: bool = V::OWNS_TEXT;

    fn cell(&self) -> Cell<'_> {
        self.as_ref().map_or(Cell::Null, V::cell)
    }

    fn column(values: Values) -> Option<Vec<Self>> {
        let (present, dense) = values.dense();
        let mut dense = if dense.len() == 0 { Vec::new() } else { V::column(dense)? }.into_iter();
        present.into_iter().map(|present| if present { dense.next().map(Some) } else { Some(None) }).collect()
    }
}

/// The column `name`, whose value is that of the given field.
macro_rules! column {
    ($name:expr, $type:ty, $since:expr, |$row:ident| $value:expr) => {
        Column {
            name: $name,
            kind: <$type as Value>::KIND,
            nullable: <$type as Value>::NULLABLE,
            since: $since,
            cell: |$row| Value::cell(&$value),
        }
    };
}

/// The first three columns.
fn keys(columns: &mut Columns<'_>) -> Result<impl Iterator<Item = PhaseKey> + use<>, String> {
    let (cases, repetitions): (Vec<CaseId>, Vec<u32>) = (columns.take()?, columns.take()?);
    let phases: Vec<Phase> = columns.take()?;
    let rest = repetitions.into_iter().zip(phases);
    Ok(cases.into_iter().zip(rest).map(|(case, (repetition, phase))| PhaseKey { case, repetition, phase }))
}

/// The version that introduced a field: the first one, unless stated otherwise.
macro_rules! since {
    () => {
        1
    };
    ($since:literal) => {
        $since
    };
}

/// Implements [`Row`] for `$row` with its key and the named fields; a missing field does not compile. A
/// field that was introduced by a later version of the format states the version.
macro_rules! row {
    ($row:ident, $table:literal, $($field:ident: $type:ty $(= $since:literal)?),+ $(,)?) => {
        impl Row for $row {
            const TABLE: &'static str = $table;
            const COLUMNS: &'static [Column<Self>] = &[
                column!("case", CaseId, 1, |row| row.key.case),
                column!("repetition", u32, 1, |row| row.key.repetition),
                column!("phase", Phase, 1, |row| row.key.phase),
                $(column!(stringify!($field), $type, since!($($since)?), |row| row.$field)),+
            ];

            fn from_columns(columns: &mut Columns<'_>) -> Result<Vec<Self>, String> {
                let keys = keys(columns)?;
                $(let mut $field = columns.take::<$type>()?.into_iter();)+
                // It was checked that every column has as many values as there are rows.
                let row = |key| Some(Self { key, $($field: $field.next()?),+ });
                let mut rows = Vec::with_capacity(columns.rows);
                rows.extend(keys.map_while(row));
                Ok(rows)
            }
        }
    };
}

pub(crate) mod batch;
mod columns;
pub(crate) mod contained;
pub(crate) mod dictionary;
pub(crate) mod pages;
pub(crate) mod parquet_store;
pub(crate) mod store;
pub(crate) mod tables;
pub(crate) mod values;

/// A column of [`WarningRow`].
const fn of_warning(
    name: &'static str,
    kind: ColumnType,
    nullable: bool,
    cell: fn(&WarningRow) -> Cell<'_>,
) -> Column<WarningRow> {
    Column { name, kind, nullable, since: 1, cell }
}

/// A warning as text, with its numbers as JSON in the last column.
impl Row for WarningRow {
    const TABLE: &'static str = "warnings";
    const COLUMNS: &'static [Column<Self>] = &[
        of_warning("case", ColumnType::Text, true, |row| {
            row.key.as_ref().map_or(Cell::Null, |key| key.case.cell())
        }),
        of_warning("repetition", ColumnType::Integer, true, |row| {
            row.key.as_ref().map_or(Cell::Null, |key| key.repetition.cell())
        }),
        of_warning("phase", ColumnType::Text, true, |row| {
            row.key.as_ref().map_or(Cell::Null, |key| key.phase.cell())
        }),
        of_warning("message", ColumnType::Text, false, |row| Cell::Text(Cow::Owned(row.warning.to_string()))),
        of_warning("advice", ColumnType::Text, false, |row| Cell::Text(Cow::Borrowed(row.warning.advice()))),
        // A warning only contains numbers, texts and vectors of these, which can always be converted to
        // JSON.
        of_warning("detail", ColumnType::Text, false, |row| {
            Cell::Text(Cow::Owned(serde_json::to_string(&row.warning).unwrap_or_default()))
        }),
    ];

    fn from_columns(columns: &mut Columns<'_>) -> Result<Vec<Self>, String> {
        let cases: Vec<Option<CaseId>> = columns.take()?;
        let (repetitions, phases): (Vec<Option<u32>>, Vec<Option<Phase>>) =
            (columns.take()?, columns.take()?);
        // Skips the message and the advice.
        columns.skip();
        columns.skip();
        let details: Vec<String> = columns.take()?;
        let keys = cases.into_iter().zip(repetitions.into_iter().zip(phases));
        keys.zip(details)
            .map(|((case, (repetition, phase)), detail)| {
                let key = || Some(PhaseKey { case: case?, repetition: repetition?, phase: phase? });
                let warning =
                    serde_json::from_str(&detail).map_err(|error| format!("column detail: {error}"))?;
                Ok(Self { key: key(), warning })
            })
            .collect()
    }
}
