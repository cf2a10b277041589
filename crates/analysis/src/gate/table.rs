//! Statements as tables of typed columns. A kind of statement says here, once, what its columns are; every form of a
//! report is made from the table and knows no kind of statement.

use plan::{Amount, SettingValue};

use crate::figures::RateOf;
use crate::gate::{Kind, Outcome, Reason, Stated};

/// A value in a cell.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub enum Value {
    /// Nothing to say.
    #[default]
    None,
    Text(String),
    Count(u64),
    Number(f64),
    /// A part of a whole, or a ratio.
    Share(f64),
    /// A relative difference; its sign says in which direction.
    Change(f64),
    /// Where a relative difference lies.
    Changes(f64, f64),
    /// Where a ratio lies.
    Shares(f64, f64),
    /// Bytes per second, or operations per second of the figure that the row is of.
    Rate(f64, RateOf),
    Seconds(f64),
    /// A figure, by its place.
    Figure(usize),
    Bytes(u64),
    /// A latency in nanoseconds.
    Nanos(f64),
    Flag(bool),
    List(Vec<String>),
    /// Names of nodes.
    Names(Vec<String>),
    /// Nanoseconds since 1970-01-01 UTC.
    Moment(i64),
    /// The value of a swept key.
    Setting(SettingValue),
    /// What follows of something that was asked beforehand, in the word of its kind.
    Judgement(Judgement, &'static str),
}

/// How something that was stated beforehand stands to own data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// Own data agree; a commitment was kept.
    Holds,
    /// Own data disagree.
    DoesNotHold,
    /// What was measured neither shows nor refutes it, or is doubtful: never a pass.
    CannotTell,
    /// Own data have nothing to say.
    NotTested,
}

impl Judgement {
    /// The words for a statement, by measured data, then by those of a model.
    pub const OF_CLAIMS: [&'static str; 8] = [
        "holds",
        "does not hold",
        "cannot be told",
        "not tested",
        "holds in this model",
        "does not hold in this model",
        "cannot be told in this model",
        "not tested in this model",
    ];
    /// The words for a commitment, by measured data, then by those of a model: a model keeps no promise.
    pub const OF_COMMITMENTS: [&'static str; 8] = [
        "PASS",
        "FAIL",
        "DOUBTFUL",
        "NOT TESTED",
        "would be kept in this model",
        "would not be kept in this model",
        "doubtful in this model",
        "not tested in this model",
    ];

    /// Its word of `words`: of measured data, or of those of a model, as `simulated` says.
    pub(crate) const fn word(self, words: &[&'static str; 8], simulated: bool) -> &'static str {
        words[self as usize + if simulated { Self::COUNT } else { 0 }]
    }

    /// How many there are.
    pub const COUNT: usize = 4;
}

impl Value {
    /// `number` of `amount`'s unit.
    pub(crate) const fn amount(amount: Amount, number: f64) -> Self {
        match amount {
            Amount::BytesPerSecond(_) => Self::Rate(number, RateOf::Bytes),
            Amount::OperationsPerSecond(_) => Self::Rate(number, RateOf::Operations),
            Amount::Latency { .. } => Self::Nanos(number),
        }
    }

    /// `text`; nothing where it is empty.
    pub(crate) fn some_text(text: &str) -> Self {
        if text.is_empty() { Self::None } else { Self::Text(text.to_owned()) }
    }

    /// `value`, or nothing.
    pub(crate) fn or_none<V>(value: Option<V>, of: impl FnOnce(V) -> Self) -> Self {
        value.map_or(Self::None, of)
    }
}

/// What kind of value a column has: its unit in JSON, CSV and OpenMetrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "as the kinds of a value")]
pub enum Quantity {
    Text,
    Count,
    Number,
    /// Shares and changes.
    Ratio,
    Rate,
    Seconds,
    Figure,
    /// Ratios from and to.
    Interval,
    Bytes,
    Nanos,
    Flag,
    List,
    Moment,
    /// Bytes, nanoseconds, a number or a word: the value of a swept key.
    Setting,
    /// Bytes or operations per second, nanoseconds or a share; a column beside it says which.
    Amount,
    /// One of these words: of each [`Judgement`] by measured data, then of each by those of a model.
    Judgement(&'static [&'static str]),
}

/// How the value of a column is read from what a statement says.
#[derive(Debug, Clone, Copy)]
enum Get<T: 'static> {
    Any(fn(&T) -> Value),
    Word(fn(&T) -> &str),
    Text(fn(&T) -> String),
    Flag(fn(&T) -> Option<bool>),
    Figure(fn(&T) -> Option<usize>),
    Moment(fn(&T) -> Option<i64>),
    Whole(fn(u64) -> Value, fn(&T) -> Option<u64>),
    Float(fn(f64) -> Value, fn(&T) -> Option<f64>),
    Rate(fn(&T) -> RateOf, fn(&T) -> Option<f64>),
    List(fn(Vec<String>) -> Value, fn(&T) -> Vec<String>),
}

/// What a column is, for every form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Its name in JSON, CSV and OpenMetrics.
    pub key: Words,
    /// What stands above it.
    pub heading: Words,
    /// What it holds, for documentation.
    pub about: Words,
    /// The kind of its values.
    pub quantity: Quantity,
    /// Whether it says what a statement is about, and stands where that is withheld, too.
    pub subject: bool,
    /// Whether only JSON, CSV and OpenMetrics have it.
    pub detail: bool,
    /// Whether forms that are read show it under the row.
    pub below: bool,
    /// Whether forms that are read show how its values are distributed, where a figure has many rows.
    pub spread: bool,
}

/// A column of a kind of statement.
#[derive(Debug)]
pub struct Column<T: 'static> {
    head: Head,
    get: Get<T>,
}

impl<T> std::ops::Deref for Column<T> {
    type Target = Head;

    fn deref(&self) -> &Head {
        &self.head
    }
}

/// Columns of what a statement says, by the kind of their values; none, and an empty text, are no value.
impl<T> Column<T> {
    const fn of((key, heading, about): (Words, Words, Words), quantity: Quantity, get: Get<T>) -> Self {
        Self {
            head: Head {
                key,
                heading,
                about,
                quantity,
                subject: false,
                detail: false,
                below: false,
                spread: false,
            },
            get,
        }
    }

    /// Its value of `said`.
    #[must_use]
    pub fn value(&self, said: &T) -> Value {
        match self.get {
            Get::Any(get) => get(said),
            Get::Word(get) => Value::some_text(get(said)),
            Get::Text(get) => Value::some_text(&get(said)),
            Get::Flag(get) => Value::or_none(get(said), Value::Flag),
            Get::Figure(get) => Value::or_none(get(said), Value::Figure),
            Get::Moment(get) => Value::or_none(get(said), Value::Moment),
            Get::Whole(of, get) => Value::or_none(get(said), of),
            Get::Float(of, get) => Value::or_none(get(said), of),
            Get::Rate(of, get) => Value::or_none(get(said), |rate| Value::Rate(rate, of(said))),
            Get::List(of, get) => of(get(said)),
        }
    }
}

/// Words of the program.
type Words = &'static str;
/// How a value is read; none is no value.
type Getter<T, V> = fn(&T) -> Option<V>;

/// A column of any value: its name in JSON, CSV and OpenMetrics, its heading, what it holds, and how it is read. The
/// others are of one kind of values.
pub const fn any<T>(
    key: Words,
    heading: Words,
    about: Words,
    quantity: Quantity,
    get: fn(&T) -> Value,
) -> Column<T> {
    Column::of((key, heading, about), quantity, Get::Any(get))
}

/// An empty one is no value.
pub const fn word<T>(key: Words, heading: Words, about: Words, get: fn(&T) -> &str) -> Column<T> {
    Column::of((key, heading, about), Quantity::Text, Get::Word(get))
}

/// Likewise.
pub const fn text<T>(key: Words, heading: Words, about: Words, get: fn(&T) -> String) -> Column<T> {
    Column::of((key, heading, about), Quantity::Text, Get::Text(get))
}

/// Whether something holds.
pub const fn flag<T>(key: Words, heading: Words, about: Words, get: Getter<T, bool>) -> Column<T> {
    Column::of((key, heading, about), Quantity::Flag, Get::Flag(get))
}

/// A figure, by its place.
pub const fn figure<T>(key: Words, heading: Words, about: Words, get: Getter<T, usize>) -> Column<T> {
    Column::of((key, heading, about), Quantity::Figure, Get::Figure(get))
}

/// Whole numbers.
pub const fn count<T>(key: Words, heading: Words, about: Words, get: Getter<T, u64>) -> Column<T> {
    Column::of((key, heading, about), Quantity::Count, Get::Whole(Value::Count, get))
}

/// Bytes.
pub const fn bytes<T>(key: Words, heading: Words, about: Words, get: Getter<T, u64>) -> Column<T> {
    Column::of((key, heading, about), Quantity::Bytes, Get::Whole(Value::Bytes, get))
}

/// Numbers without a unit.
pub const fn number<T>(key: Words, heading: Words, about: Words, get: Getter<T, f64>) -> Column<T> {
    Column::of((key, heading, about), Quantity::Number, Get::Float(Value::Number, get))
}

/// Parts of a whole, or ratios.
pub const fn share<T>(key: Words, heading: Words, about: Words, get: Getter<T, f64>) -> Column<T> {
    Column::of((key, heading, about), Quantity::Ratio, Get::Float(Value::Share, get))
}

/// Relative differences.
pub const fn change<T>(key: Words, heading: Words, about: Words, get: Getter<T, f64>) -> Column<T> {
    Column::of((key, heading, about), Quantity::Ratio, Get::Float(Value::Change, get))
}

/// Seconds.
pub const fn seconds<T>(key: Words, heading: Words, about: Words, get: Getter<T, f64>) -> Column<T> {
    Column::of((key, heading, about), Quantity::Seconds, Get::Float(Value::Seconds, get))
}

/// Nanoseconds.
pub const fn nanos<T>(key: Words, heading: Words, about: Words, get: Getter<T, f64>) -> Column<T> {
    Column::of((key, heading, about), Quantity::Nanos, Get::Float(Value::Nanos, get))
}

/// Of what [`Statement::COUNTS`] says.
pub const fn rate<T: Statement>(key: Words, heading: Words, about: Words, get: Getter<T, f64>) -> Column<T> {
    let Some(counts) = T::COUNTS else { panic!("the statement says what its rates count") };
    Column::of((key, heading, about), Quantity::Rate, Get::Rate(counts, get))
}

/// Bytes per second.
pub const fn bandwidth<T>(key: Words, heading: Words, about: Words, get: Getter<T, f64>) -> Column<T> {
    Column::of((key, heading, about), Quantity::Rate, Get::Rate(|_| RateOf::Bytes, get))
}

/// Operations per second.
pub const fn operations<T>(key: Words, heading: Words, about: Words, get: Getter<T, f64>) -> Column<T> {
    Column::of((key, heading, about), Quantity::Rate, Get::Rate(|_| RateOf::Operations, get))
}

/// Nanoseconds since 1970-01-01 UTC.
pub const fn moment<T>(key: Words, heading: Words, about: Words, get: Getter<T, i64>) -> Column<T> {
    Column::of((key, heading, about), Quantity::Moment, Get::Moment(get))
}

/// A value in the unit that a column beside it says.
pub const fn amount<T>(key: Words, heading: Words, about: Words, get: fn(&T) -> Value) -> Column<T> {
    Column::of((key, heading, about), Quantity::Amount, Get::Any(get))
}

/// The value of a swept key.
pub const fn setting<T>(key: Words, heading: Words, about: Words, get: fn(&T) -> Value) -> Column<T> {
    Column::of((key, heading, about), Quantity::Setting, Get::Any(get))
}

/// Words or sentences.
pub const fn list<T>(key: Words, heading: Words, about: Words, get: fn(&T) -> Vec<String>) -> Column<T> {
    Column::of((key, heading, about), Quantity::List, Get::List(Value::List, get))
}

/// Of nodes.
pub const fn names<T>(key: Words, heading: Words, about: Words, get: fn(&T) -> Vec<String>) -> Column<T> {
    Column::of((key, heading, about), Quantity::List, Get::List(Value::Names, get))
}

/// A column of what a statement is about, which stands where that is withheld, too.
pub const fn subject<T>(column: Column<T>) -> Column<T> {
    Column { head: Head { subject: true, ..column.head }, ..column }
}

/// A column that is left out of forms that are read.
pub const fn detail<T>(column: Column<T>) -> Column<T> {
    Column { head: Head { detail: true, ..column.head }, ..column }
}

/// A column that forms which are read show under the row.
pub const fn below<T>(column: Column<T>) -> Column<T> {
    Column { head: Head { below: true, ..column.head }, ..column }
}

/// A column of numbers of which forms that are read show the distribution, where a figure has many rows. The first one
/// is that by which single rows are named: see [`crate::gate::Spread`].
pub const fn spread<T>(column: Column<T>) -> Column<T> {
    Column { head: Head { spread: true, ..column.head }, ..column }
}

/// What a row says of the figure that it is of, before its own columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// Nothing: its own columns say all.
    Nothing,
    /// Its number and conditions; where it rests on none, its own columns say why.
    Figure,
    /// Its target and phase.
    Target,
    /// Its workload, target and phase.
    Sweep,
    /// Its workload, target, phase, and place in the sweep.
    Point,
}

/// A kind of statement with its columns.
pub trait Statement: Sized + 'static {
    /// The kind.
    const KIND: Kind;
    /// What is said of the figure.
    const OF: Of;
    /// What the rates of a row count, where it has such.
    const COUNTS: Option<fn(&Self) -> RateOf> = None;
    /// What the table is of: a sentence above it.
    const CAPTION: &'static str;
    /// Its columns.
    const COLUMNS: &'static [Column<Self>];

    /// What its table is of, where the statements of a kind make several; rows of one table are neighbours.
    fn part(&self) -> Option<String> {
        None
    }

    /// Whether it is named where a figure has too many rows to list them.
    fn stands_out(&self) -> bool {
        false
    }

    /// Sentences above the table; `all` are not withheld.
    fn notes(_all: &[&Self]) -> Vec<String> {
        Vec::new()
    }
}

/// A statement as a row.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Row {
    /// [`Stated::inputs`].
    pub figures: Vec<usize>,
    pub outcome: Outcome,
    pub reasons: Vec<Reason>,
    /// [`Statement::part`].
    pub part: Option<String>,
    /// [`Statement::stands_out`] of what is not withheld.
    pub stands_out: bool,
    pub cells: Vec<Value>,
}

/// All statements of a kind.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Table {
    pub kind: Kind,
    /// What is said of the figure of each row.
    pub of: Of,
    pub caption: &'static str,
    pub notes: Vec<String>,
    pub columns: Vec<Head>,
    /// Its rows: what is stated before what is withheld.
    pub rows: Vec<Row>,
}

impl Table {
    /// The table of `statements`.
    #[must_use]
    pub fn of<T: Statement>(statements: &[Stated<T>]) -> Self {
        let says: Vec<&T> = statements.iter().filter_map(Stated::says).collect();
        let cell = |one: &Stated<T>, column: &Column<T>| match one.says() {
            Some(value) => column.value(value),
            None if column.head.subject => column.value(one.about()),
            None => Value::None,
        };
        let row = |one: &Stated<T>| Row {
            figures: one.inputs.clone(),
            outcome: one.outcome,
            reasons: one.reasons.clone(),
            part: one.about().part(),
            stands_out: one.says().is_some_and(T::stands_out),
            cells: T::COLUMNS.iter().map(|column| cell(one, column)).collect(),
        };
        let mut rows: Vec<Row> = statements.iter().map(row).collect();
        rows.sort_by_key(|row| row.outcome == Outcome::Withheld);
        Self {
            kind: T::KIND,
            of: T::OF,
            caption: T::CAPTION,
            notes: if says.is_empty() { Vec::new() } else { T::notes(&says) },
            columns: T::COLUMNS.iter().map(|column| column.head).collect(),
            rows,
        }
    }

    /// The table of what a plan says before anything was measured, which rests on no figure.
    #[must_use]
    pub fn planned<T: Statement + Clone>(all: &[T]) -> Self {
        Self::of(&all.iter().cloned().map(Stated::of_plan).collect::<Vec<_>>())
    }

    /// The rows that are not withheld.
    pub fn stated(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.outcome != Outcome::Withheld)
    }
}
