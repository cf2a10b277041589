//! Statements as tables of typed columns. Each kind of statement defines its columns once; every report format is
//! generated from the table and needs no knowledge of the kinds of statements.

use plan::{Amount, SettingValue};

use crate::figures::RateOf;
use crate::gate::{Kind, Outcome, Reason, Stated};

/// A value in a cell.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub enum Value {
    /// No value.
    #[default]
    None,
    Text(String),
    Count(u64),
    Number(f64),
    /// A part of a whole, or a ratio.
    Share(f64),
    /// A signed relative difference.
    Change(f64),
    /// The interval of a relative difference.
    Changes(f64, f64),
    /// The interval of a ratio.
    Shares(f64, f64),
    /// Bytes per second, or operations per second of the figure that the row is about.
    Rate(f64, RateOf),
    Seconds(f64),
    /// A figure, by index.
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
    /// The judgement of something that was fixed in advance, in the word of its kind.
    Judgement(Judgement, &'static str),
}

/// How something that was stated in advance compares with own data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// Own data agree; a commitment was kept.
    Holds,
    /// Own data disagree.
    DoesNotHold,
    /// The measured data neither confirm nor refute it, or are doubtful. Never counts as a pass.
    CannotTell,
    /// There are no own data about it.
    NotTested,
}

impl Judgement {
    /// The words for a claim: first for measured data, then for data of a model.
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
    /// The words for a commitment: first for measured data, then for data of a model, which cannot keep a commitment.
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

    /// The matching word of `words`: the one for data of a model if `simulated` is set, else the one for measured
    /// data.
    pub(crate) const fn word(self, words: &[&'static str; 8], simulated: bool) -> &'static str {
        words[self as usize + if simulated { Self::COUNT } else { 0 }]
    }

    /// The number of judgements.
    pub const COUNT: usize = 4;
}

impl Value {
    /// `number` in the unit of `amount`.
    pub(crate) const fn amount(amount: Amount, number: f64) -> Self {
        match amount {
            Amount::BytesPerSecond(_) => Self::Rate(number, RateOf::Bytes),
            Amount::OperationsPerSecond(_) => Self::Rate(number, RateOf::Operations),
            Amount::Latency { .. } => Self::Nanos(number),
        }
    }

    /// `text`, or no value if it is empty.
    pub(crate) fn some_text(text: &str) -> Self {
        if text.is_empty() { Self::None } else { Self::Text(text.to_owned()) }
    }

    /// `value`, or no value if it is `None`.
    pub(crate) fn or_none<V>(value: Option<V>, of: impl FnOnce(V) -> Self) -> Self {
        value.map_or(Self::None, of)
    }
}

/// The kind of values in a column, which determines the unit in JSON, CSV and OpenMetrics.
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
    /// Intervals of ratios.
    Interval,
    Bytes,
    Nanos,
    Flag,
    List,
    Moment,
    /// Bytes, nanoseconds, a number or a word: the value of a swept key.
    Setting,
    /// Bytes or operations per second, nanoseconds or a share; another column gives the unit.
    Amount,
    /// One of these words: those of each [`Judgement`] for measured data, followed by those for data of a model.
    Judgement(&'static [&'static str]),
}

/// How the value of a column is read from the value of a statement.
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

/// The definition of a column, for every report format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Its name in JSON, CSV and OpenMetrics.
    pub key: Words,
    /// Its heading.
    pub heading: Words,
    /// A description of its content, for documentation.
    pub about: Words,
    /// The kind of its values.
    pub quantity: Quantity,
    /// Whether it describes the subject of a statement and is shown even if the statement is withheld.
    pub subject: bool,
    /// Whether only JSON, CSV and OpenMetrics contain it.
    pub detail: bool,
    /// Whether human-readable formats show it below the row.
    pub below: bool,
    /// Whether human-readable formats show the distribution of its values if a figure has many rows.
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

/// Column constructors by kind of value. `None` and an empty text become no value.
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

    /// The value of this column for `said`.
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

/// Static text of the program.
type Words = &'static str;
/// Reads a value; `None` becomes no value.
type Getter<T, V> = fn(&T) -> Option<V>;

/// A column of any kind of value: its name in JSON, CSV and OpenMetrics, its heading, its description, and its
/// getter. The other constructors are for one kind of value each.
pub const fn any<T>(
    key: Words,
    heading: Words,
    about: Words,
    quantity: Quantity,
    get: fn(&T) -> Value,
) -> Column<T> {
    Column::of((key, heading, about), quantity, Get::Any(get))
}

/// A column of words; an empty word becomes no value.
pub const fn word<T>(key: Words, heading: Words, about: Words, get: fn(&T) -> &str) -> Column<T> {
    Column::of((key, heading, about), Quantity::Text, Get::Word(get))
}

/// A column of texts; an empty text becomes no value.
pub const fn text<T>(key: Words, heading: Words, about: Words, get: fn(&T) -> String) -> Column<T> {
    Column::of((key, heading, about), Quantity::Text, Get::Text(get))
}

/// A column of yes/no values.
pub const fn flag<T>(key: Words, heading: Words, about: Words, get: Getter<T, bool>) -> Column<T> {
    Column::of((key, heading, about), Quantity::Flag, Get::Flag(get))
}

/// A column of figures, by index.
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

/// Rates in the unit given by [`Statement::COUNTS`].
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

/// Values in the unit that another column gives.
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

/// Names of nodes.
pub const fn names<T>(key: Words, heading: Words, about: Words, get: fn(&T) -> Vec<String>) -> Column<T> {
    Column::of((key, heading, about), Quantity::List, Get::List(Value::Names, get))
}

/// Makes it a column about the subject of a statement, which is shown even if the statement is withheld.
pub const fn subject<T>(column: Column<T>) -> Column<T> {
    Column { head: Head { subject: true, ..column.head }, ..column }
}

/// Hides the column in human-readable formats.
pub const fn detail<T>(column: Column<T>) -> Column<T> {
    Column { head: Head { detail: true, ..column.head }, ..column }
}

/// Moves the column below the row in human-readable formats.
pub const fn below<T>(column: Column<T>) -> Column<T> {
    Column { head: Head { below: true, ..column.head }, ..column }
}

/// Makes it a column of numbers whose distribution human-readable formats show if a figure has many rows. The first
/// such column determines which rows are named: see [`crate::gate::Spread`].
pub const fn spread<T>(column: Column<T>) -> Column<T> {
    Column { head: Head { spread: true, ..column.head }, ..column }
}

/// What a row says about its figure, before its own columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// Nothing: its own columns are complete.
    Nothing,
    /// The figure's number and conditions; if it rests on no figure, its own columns say why.
    Figure,
    /// The figure's target and phase.
    Target,
    /// The figure's workload, target and phase.
    Sweep,
    /// The figure's workload, target, phase, and position in the sweep.
    Point,
}

/// A kind of statement with its columns.
pub trait Statement: Sized + 'static {
    /// The kind.
    const KIND: Kind;
    /// What a row says about its figure.
    const OF: Of;
    /// What the rates of a row count, if it has rates.
    const COUNTS: Option<fn(&Self) -> RateOf> = None;
    /// A sentence above the table that describes it.
    const CAPTION: &'static str;
    /// Its columns.
    const COLUMNS: &'static [Column<Self>];

    /// The title of its table, if the statements of a kind are split into several; rows of one table are adjacent.
    fn part(&self) -> Option<String> {
        None
    }

    /// Whether it is named if a figure has too many rows to list them.
    fn stands_out(&self) -> bool {
        false
    }

    /// Sentences above the table; `all` are the statements that are not withheld.
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
    /// [`Statement::stands_out`] for rows that are not withheld.
    pub stands_out: bool,
    pub cells: Vec<Value>,
}

/// All statements of a kind.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Table {
    pub kind: Kind,
    /// What the rows say about their figures.
    pub of: Of,
    pub caption: &'static str,
    pub notes: Vec<String>,
    pub columns: Vec<Head>,
    /// The rows: stated ones come before withheld ones.
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

    /// The table of things in a plan before anything was measured, which rest on no figure.
    #[must_use]
    pub fn planned<T: Statement + Clone>(all: &[T]) -> Self {
        Self::of(&all.iter().cloned().map(Stated::of_plan).collect::<Vec<_>>())
    }

    /// The rows that are not withheld.
    pub fn stated(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.outcome != Outcome::Withheld)
    }
}
