//! Rows as narrow columns: one definition for the journal, the Parquet tables and the docs.

use std::borrow::Cow;

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

    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn take<V: Value>(&mut self) -> Result<Vec<V>, String> {
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
pub(crate) trait Value: Sized {
    const KIND: ColumnType;
    const NULLABLE: bool = false;
    /// Whether each row has its own text, even if it is the same as in other rows.
    const OWNS_TEXT: bool = false;

    /// 0, the empty text, the first word, or no value.
    fn zero() -> Self;

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

            fn zero() -> Self {
                0
            }

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

    fn zero() -> Self {
        0.0
    }

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

    fn zero() -> Self {
        Self::new()
    }

    fn cell(&self) -> Cell<'_> {
        Cell::Text(Cow::Borrowed(self))
    }

    fn column(values: Values) -> Option<Vec<Self>> {
        of_words(values, Some)
    }
}

/// All rows share a repeated text.
impl Value for SharedText {
    const KIND: ColumnType = ColumnType::Text;

    fn zero() -> Self {
        Self::EMPTY
    }

    fn cell(&self) -> Cell<'_> {
        Cell::Text(Cow::Borrowed(self))
    }

    fn column(values: Values) -> Option<Vec<Self>> {
        of_words(values, |word| Some(Self::from(word)))
    }
}

macro_rules! words {
    ($($type:ty: $first:expr),+) => {$(
        impl Value for $type {
            const KIND: ColumnType = ColumnType::Text;

            fn zero() -> Self {
                $first
            }

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

words!(Phase: Self::Write, Operation: Self::Read, Measure: Self::Response);

impl<V: Value> Value for Option<V> {
    const KIND: ColumnType = V::KIND;
    const NULLABLE: bool = true;
    const OWNS_TEXT: bool = V::OWNS_TEXT;

    fn zero() -> Self {
        None
    }

    fn cell(&self) -> Cell<'_> {
        self.as_ref().map_or(Cell::Null, V::cell)
    }

    fn column(values: Values) -> Option<Vec<Self>> {
        let (present, dense) = values.dense();
        let mut dense = if dense.len() == 0 { Vec::new() } else { V::column(dense)? }.into_iter();
        present.into_iter().map(|present| if present { dense.next().map(Some) } else { Some(None) }).collect()
    }
}

/// The first three columns.
pub(crate) fn keys(columns: &mut Columns<'_>) -> Result<impl Iterator<Item = PhaseKey> + use<>, String> {
    let (cases, repetitions): (Vec<CaseId>, Vec<u32>) = (columns.take()?, columns.take()?);
    let phases: Vec<Phase> = columns.take()?;
    let rest = repetitions.into_iter().zip(phases);
    Ok(cases.into_iter().zip(rest).map(|(case, (repetition, phase))| PhaseKey { case, repetition, phase }))
}

impl<R> Column<R> {
    /// A column of values of type `V` that all versions have.
    pub(crate) const fn of<V: Value>(name: &'static str, cell: for<'a> fn(&'a R) -> Cell<'a>) -> Self {
        Self { name, kind: V::KIND, nullable: V::NULLABLE, since: 1, cell }
    }

    /// The same column, introduced by `version`.
    pub(crate) const fn since(mut self, version: u32) -> Self {
        self.since = version;
        self
    }
}

/// A row of a table of phases or of what belongs to one.
pub(crate) trait KeyedRow: Row {
    /// A row of zeros and empty texts.
    fn zero(key: PhaseKey) -> Self;
    fn key(&self) -> &PhaseKey;
    fn key_mut(&mut self) -> &mut PhaseKey;
}

/// Declares a row: its type, its table, and the columns after the key in the order in which they are stored. A column
/// that was introduced by a later version of the format states the version.
macro_rules! row {
    (
        $(#[$about:meta])*
        $row:ident in $table:literal {
            $($(#[$doc:meta])* $field:ident: $type:ty $(= $since:literal)?,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        pub struct $row {
            /// The phase it belongs to.
            #[serde(flatten)]
            pub key: PhaseKey,
            $(
                $(#[$doc])*
                $(#[doc = concat!("\n\nSince version ", $since, " of the format.")] #[serde(default)])?
                pub $field: $type,
            )+
        }

        impl $crate::table::Row for $row {
            const TABLE: &'static str = $table;
            const COLUMNS: &'static [$crate::table::Column<Self>] = &[
                $crate::table::Column::of::<$crate::CaseId>("case", |row| row.key.case.cell()),
                $crate::table::Column::of::<u32>("repetition", |row| row.key.repetition.cell()),
                $crate::table::Column::of::<plan::Phase>("phase", |row| row.key.phase.cell()),
                $($crate::table::Column::of::<$type>(stringify!($field), |row: &Self| row.$field.cell())$(.since($since))?),+
            ];

            fn from_columns(columns: &mut $crate::table::Columns<'_>) -> Result<Vec<Self>, String> {
                let keys = $crate::table::keys(columns)?;
                $(let mut $field = columns.take::<$type>()?.into_iter();)+
                // It was checked that every column has as many values as there are rows.
                let row = |key| Some(Self { key, $($field: $field.next()?),+ });
                let mut rows = Vec::with_capacity(columns.rows());
                rows.extend(keys.map_while(row));
                Ok(rows)
            }
        }

        impl $crate::table::KeyedRow for $row {
            fn zero(key: PhaseKey) -> Self {
                Self { key, $($field: <$type>::zero()),+ }
            }

            fn key(&self) -> &PhaseKey {
                &self.key
            }

            fn key_mut(&mut self) -> &mut PhaseKey {
                &mut self.key
            }
        }
    };
}
pub(crate) use row;

pub(crate) mod batch;
pub(crate) mod contained;
pub(crate) mod dictionary;
pub(crate) mod pages;
pub(crate) mod parquet_store;
pub(crate) mod store;
pub(crate) mod tables;
pub(crate) mod values;

/// A warning as text, with its numbers as JSON in the last column.
impl Row for WarningRow {
    const TABLE: &'static str = "warnings";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::of::<Option<CaseId>>("case", |row| {
            row.key.as_ref().map_or(Cell::Null, |key| key.case.cell())
        }),
        Column::of::<Option<u32>>("repetition", |row| {
            row.key.as_ref().map_or(Cell::Null, |key| key.repetition.cell())
        }),
        Column::of::<Option<Phase>>("phase", |row| {
            row.key.as_ref().map_or(Cell::Null, |key| key.phase.cell())
        }),
        Column::of::<String>("message", |row| Cell::Text(Cow::Owned(row.warning.to_string()))),
        Column::of::<String>("advice", |row| Cell::Text(Cow::Borrowed(row.warning.advice()))),
        // A warning only contains numbers, texts and vectors of these, which can always be converted to
        // JSON.
        Column::of::<String>("detail", |row| {
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
