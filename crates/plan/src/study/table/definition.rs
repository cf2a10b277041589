//! Definitions of tables, keys and kinds of values; the tables themselves are in `keys`.

use super::values::{Point, Value, Values};
use crate::text::parse::{BANDWIDTH_ALLOWED, PERCENT_ALLOWED, SHARE_ALLOWED, SIZE_ALLOWED, TIME_ALLOWED};
use crate::{
    Bytes, Case, Criteria, Expectation, FileSet, Nanos, Phase, SettingValue, TargetDescription, Work,
    WorkloadSpec,
};

/// Largest integer that TOML guarantees to represent.
pub(crate) const INTEGER_MAX: u64 = i64::MAX.unsigned_abs();
/// Stands for "above 0" as the bound of a number: no measured amount is smaller.
pub(crate) const NUMBER_LEAST: f64 = 1e-9;

/// A table of a study file.
#[derive(Debug)]
pub(crate) struct Table {
    /// Its name.
    pub(crate) name: &'static str,
    /// The key that distinguishes its occurrences if it may occur several times, as `[[name]]`.
    pub(crate) named_by: Option<&'static str>,
    /// Its purpose; a Markdown paragraph.
    pub(crate) meaning: &'static str,
    /// Whether its keys can be swept: those with a single value that are not fixed.
    pub(crate) sweeps: bool,
    /// Keys shared with another table. Their defaults apply in the table that occurs once; in the other they
    /// only override it.
    pub(crate) shared: &'static [Key],
    /// Its own keys, in the order of the reference.
    pub(crate) keys: &'static [Key],
    /// Keys that only some kinds of work have.
    pub(crate) works: &'static [WorkKeys],
}

/// A kind of work, and the keys that only apply to it.
#[derive(Debug)]
pub(crate) struct WorkKeys {
    /// The word that selects it, and its meaning.
    pub(crate) word: Word,
    /// The work on so many nodes, before its keys are applied.
    pub(crate) make: fn(u32) -> Work,
    /// What the work is done on.
    pub(crate) what: &'static str,
    /// The backends that support it, as named in the reference.
    pub(crate) backends: &'static str,
    /// Its description; a Markdown paragraph.
    pub(crate) meaning: &'static str,
    /// Its phases.
    pub(crate) phases: &'static [Word],
    /// Default phases.
    pub(crate) default_phases: &'static [&'static str],
    /// The keys of the table that it uses, besides those that all kinds of work use.
    pub(crate) uses: &'static [&'static str],
    /// Its keys, in the order of the reference.
    pub(crate) keys: &'static [Key],
}

impl WorkKeys {
    /// Whether `phase` is one of its phases.
    pub(crate) fn has(&self, phase: Phase) -> bool {
        self.phases.iter().any(|(word, _)| *word == phase.name())
    }

    /// Whether it uses `key` of the table.
    pub(crate) fn uses(&self, key: &Key) -> bool {
        !key.for_transfers || self.uses.contains(&key.name)
    }
}

impl Table {
    /// A table that occurs once and has no keys, for the fields that most tables leave at their defaults.
    pub(crate) const PLAIN: Self =
        Self { name: "", named_by: None, meaning: "", sweeps: false, shared: &[], keys: &[], works: &[] };

    /// The header as written in a file.
    pub(crate) fn header(&self) -> String {
        if self.many() { format!("[[{}]]", self.name) } else { format!("[{}]", self.name) }
    }

    /// Whether it may occur several times.
    pub(crate) fn many(&self) -> bool {
        self.named_by.is_some()
    }

    /// All its keys, starting with its own.
    pub(crate) fn all(&self) -> impl Iterator<Item = &'static Key> + use<> {
        self.keys.iter().chain(self.works.iter().flat_map(|work| work.keys)).chain(self.shared)
    }

    /// The definition of one of its keys.
    pub(crate) fn find(&self, name: &str) -> Option<&'static Key> {
        self.all().find(|key| key.name == name)
    }

    /// The default of `key`.
    pub(crate) fn default(&self, key: &'static Key) -> Option<&'static str> {
        match key.absent {
            KeyDefault::Value(_)
                if self.many() && self.shared.iter().any(|shared| shared.name == key.name) =>
            {
                None
            }
            KeyDefault::Value(literal) => Some(literal),
            KeyDefault::Refused | KeyDefault::Needed(_) | KeyDefault::Described(_) => None,
        }
    }

    /// The values that its key `name` accepts.
    pub(crate) fn allowed(&self, name: &str) -> String {
        self.find(name).map_or_else(String::new, |key| key.kind.allowed())
    }

    /// Whether `key` can be swept.
    pub(crate) fn sweeps(&self, key: &Key) -> bool {
        self.sweeps && key.kind.is_scalar() && !key.fixed
    }
}

/// A key of a table: its name, the values it accepts, and what it sets. The reader, its errors, the reference
/// and the schema use nothing else.
#[derive(Debug)]
pub(crate) struct Key {
    /// Its name.
    pub(crate) name: &'static str,
    /// The kind of values it accepts.
    pub(crate) kind: ValueKind,
    /// What applies if it is left out.
    pub(crate) absent: KeyDefault,
    /// What it does; one or two sentences in Markdown.
    pub(crate) meaning: &'static str,
    /// Whether it cannot be swept: a statement about the files applies to all workloads on them, and the
    /// number of repetitions is not a property of what is measured.
    pub(crate) fixed: bool,
    /// Whether only transfers use it, and the kinds of work that name it in [`WorkKeys::uses`]. Only for workloads.
    pub(crate) for_transfers: bool,
    /// Conditions without which it has no effect; only for workloads.
    pub(crate) needs: [Option<Need>; 2],
    /// Where its value goes.
    pub(crate) set: Setter,
}

/// A condition on the other keys and the phases of a workload, and its description.
pub(crate) type Need = (&'static str, fn(&Point<'_>, &[Phase]) -> bool);

impl Key {
    /// A required key, unless [`Key::default`] or [`Key::left_out`] follows.
    pub(crate) const fn new(name: &'static str, kind: ValueKind) -> Self {
        let (fixed, for_transfers, needs) = (false, false, [None; 2]);
        Self {
            name,
            kind,
            absent: KeyDefault::Refused,
            meaning: "",
            fixed,
            for_transfers,
            needs,
            set: Setter::WithOthers,
        }
    }

    /// A flag that is off by default.
    pub(crate) const fn flag(name: &'static str) -> Self {
        Self::new(name, ValueKind::Flag).default("false")
    }

    /// Sets this TOML value as its default.
    pub(crate) const fn default(self, literal: &'static str) -> Self {
        Self { absent: KeyDefault::Value(literal), ..self }
    }

    /// Sets a default that is described by this text.
    pub(crate) const fn left_out(self, described: &'static str) -> Self {
        Self { absent: KeyDefault::Described(described), ..self }
    }

    /// Makes it required for work that uses it, which this text describes.
    pub(crate) const fn needed(self, described: &'static str) -> Self {
        Self { absent: KeyDefault::Needed(described), ..self }
    }

    /// Excludes it from sweeps.
    pub(crate) const fn fixed(self) -> Self {
        Self { fixed: true, ..self }
    }

    /// Restricts it to transfers, and to kinds of work that name it in [`WorkKeys::uses`].
    pub(crate) const fn for_transfers(self) -> Self {
        Self { for_transfers: true, ..self }
    }

    /// Declares that it has no effect unless `met`; `needs` describes the condition.
    pub(crate) const fn needs(self, needs: &'static str, met: fn(&Point<'_>, &[Phase]) -> bool) -> Self {
        let needs = match self.needs {
            [None, _] => [Some((needs, met)), None],
            [first, _] => [first, Some((needs, met))],
        };
        Self { needs, ..self }
    }

    /// Sets its description; one or two sentences in Markdown.
    pub(crate) const fn means(self, meaning: &'static str) -> Self {
        Self { meaning, ..self }
    }

    /// Sets the target of its value.
    pub(crate) const fn sets(self, set: Setter) -> Self {
        Self { set, ..self }
    }
}

impl Key {
    /// Converts a value of this key to the form that is stored with a point of a sweep.
    pub(crate) fn setting(&self, value: &Value) -> SettingValue {
        match (&self.kind, value) {
            (ValueKind::Size, Value::Integer(bytes)) => SettingValue::Bytes(Bytes(*bytes)),
            (ValueKind::Time, Value::Integer(nanos)) => SettingValue::Time(Nanos(*nanos)),
            (_, Value::Integer(count)) => SettingValue::Count(*count),
            (_, Value::Number(number)) => SettingValue::Number(*number),
            (_, Value::Flag(flag)) => SettingValue::Flag(*flag),
            (_, Value::Word(word)) => SettingValue::Word((*word).to_owned()),
            (_, Value::Text(text)) => SettingValue::Word(text.clone()),
            (_, other) => SettingValue::Word(format!("{other:?}")),
        }
    }
}

/// Keys of one table are compared by their names, and so are tables, because setters cannot be compared.
impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// Puts a value into a `T`.
type SetterFn<T> = fn(&mut T, &Value);

/// Where the value of a key is stored. Setters run in the order of the keys, so that a key can refine what an
/// earlier one has set.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Setter {
    /// The value is read together with other keys of its table, because it has no meaning alone.
    WithOthers,
    /// In `[study]` and `[[target]]`.
    Criteria(SetterFn<Criteria>),
    Target(SetterFn<TargetDescription>),
    /// In `[protocol]`, and in a workload that overrides it.
    Case(SetterFn<Case>),
    /// In a workload.
    Workload(SetterFn<WorkloadSpec>),
    /// In a workload; all workloads on the same files share the value.
    Files(SetterFn<FileSet>),
    /// In the work of a workload.
    Work(SetterFn<Work>),
    /// In what figures are compared with.
    Expectation(SetterFn<Expectation>),
}

/// The setters with their values, given or default, in the order of `keys`.
pub(crate) fn setters<'v>(
    keys: &'static [Key],
    values: &'v impl Values,
) -> impl Iterator<Item = (Setter, &'v Value)> {
    let has_setter = |key: &&Key| !matches!(key.set, Setter::WithOthers);
    keys.iter().filter(has_setter).filter_map(|key| Some((key.set, values.value(key.name)?)))
}

/// What applies if a key is left out.
#[derive(Debug)]
pub(crate) enum KeyDefault {
    /// The file is refused.
    Refused,
    /// The file is refused if the kind of work uses the key, as this text describes.
    Needed(&'static str),
    /// This TOML value is the default.
    Value(&'static str),
    /// The default described by this text.
    Described(&'static str),
}

/// A word that a key accepts, and its meaning.
pub(crate) type Word = (&'static str, &'static str);

/// The kind of values that a key accepts.
#[derive(Debug)]
pub(crate) enum ValueKind {
    /// Any text.
    Text,
    /// A text that can be used in tables and file names.
    Name,
    /// The name of a table of this kind.
    Reference(&'static str),
    /// The path of a file or directory.
    Path,
    /// A list of paths.
    Paths,
    /// A list of texts, like this one.
    Texts(&'static str),
    /// A number of bytes.
    Size,
    /// A length of time.
    Time,
    /// A whole number between two bounds, both included.
    Count(u64, u64),
    /// A list of whole numbers between two bounds, or a range of them.
    Counts(u64, u64),
    /// Transfers per second, above 0.
    Rate,
    /// A number between two bounds, both included.
    Number(f64, f64),
    /// A part of a whole, in percent or as a number from 0 to 1.
    Share,
    /// A part of another value, in percent, above 0.
    Percent,
    /// Bytes or bits per second.
    Bandwidth,
    /// True or false.
    Flag,
    /// One of several words.
    Word(&'static [Word]),
    /// A list of words.
    Words(&'static [Word]),
    /// A list of swept keys of the same table.
    Keys,
    /// Condition under which a case ends before all repetitions are done.
    Until,
    /// Swept keys and a value of each.
    Settings,
    /// A table within the table.
    Table(&'static Table),
    /// Such a table, or a value with any unit.
    Side(&'static Table),
    /// A list of tables within the table.
    Tables(&'static Table),
}

impl ValueKind {
    /// Whether it is a single value, so that a sweep can have several.
    pub(crate) fn is_scalar(&self) -> bool {
        self.is_text() || self.is_ordered() || matches!(self, Self::Flag | Self::Word(_))
    }

    /// Whether values can be incremented, so that a sweep can be a range.
    pub(crate) fn is_ordered(&self) -> bool {
        matches!(self, Self::Size | Self::Time | Self::Count(..) | Self::Rate | Self::Number(..))
    }

    /// Whether any text is taken literally.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self, Self::Text | Self::Name | Self::Reference(_) | Self::Path)
    }

    /// The type, for the reference and for errors about it.
    pub(crate) fn noun(&self) -> &'static str {
        match self {
            Self::Text | Self::Name | Self::Reference(_) => "a string",
            Self::Path => "a path",
            Self::Paths => "a list of paths",
            Self::Texts(_) => "a list of strings",
            Self::Size => "a size",
            Self::Time => "a time",
            Self::Count(..) => "a whole number",
            Self::Counts(..) => "a list of whole numbers",
            Self::Rate | Self::Number(..) => "a number",
            Self::Share => "a share",
            Self::Percent => "a percentage",
            Self::Bandwidth => "a bandwidth",
            Self::Flag => "true or false",
            Self::Word(_) => "a word",
            Self::Words(_) => "a list of words",
            Self::Keys => "a list of swept keys",
            Self::Until => "a rule",
            Self::Settings => "swept keys with one value each",
            Self::Table(_) => "a selection",
            Self::Side(_) => "a selection or a value",
            Self::Tables(_) => "a list of tables",
        }
    }

    /// What is allowed, as a sentence for the help of an error.
    pub(crate) fn allowed(&self) -> String {
        match self {
            Self::Text => "write a string in quotes".to_owned(),
            Self::Name => NAME_ALLOWED.to_owned(),
            Self::Reference(table) => format!("write the name of a [[{table}]] in quotes"),
            Self::Path => "write one path in quotes".to_owned(),
            Self::Paths => {
                "write paths in brackets, for example [\"/mnt/0/data\", \"/mnt/1/data\"]".to_owned()
            }
            Self::Texts(example) => format!("write strings in brackets, for example {example}"),
            Self::Size => SIZE_ALLOWED.to_owned(),
            Self::Time => TIME_ALLOWED.to_owned(),
            Self::Count(least, INTEGER_MAX) => format!("write a whole number, {least} or more"),
            Self::Count(least, most) => format!("write a whole number from {least} to {most}"),
            Self::Counts(least, most) => {
                format!(
                    "write whole numbers from {least} to {most} in brackets, for example [1, 4, 8], or \
                     \"1..8 times 2\""
                )
            }
            Self::Rate => "write a number above 0 and up to 1e9".to_owned(),
            Self::Number(_, most) => format!("write a number above 0 and up to {most}"),
            Self::Share => SHARE_ALLOWED.to_owned(),
            Self::Percent => PERCENT_ALLOWED.to_owned(),
            Self::Bandwidth => BANDWIDTH_ALLOWED.to_owned(),
            Self::Flag => "write true or false, without quotes".to_owned(),
            Self::Word(words) => format!("write one of {}", quoted(words)),
            Self::Words(words) => {
                format!("write a list, for example [{}]; each item is one of {}", first(words), quoted(words))
            }
            Self::Keys => {
                "write a list of keys that are swept here, for example [\"tasks\", \"size\"]".to_owned()
            }
            Self::Until => {
                "write \"steady\", \"interval 5 %\" with a share of your choice, or \"count\"".to_owned()
            }
            Self::Settings => {
                "write swept keys in braces, for example { tasks = 132, transfer = \"1MiB\" }".to_owned()
            }
            Self::Table(_) => SELECTION_ALLOWED.to_owned(),
            Self::Tables(table) => format!("write {} tables below it", table.header()),
            Self::Side(_) => {
                format!(
                    "{SELECTION_ALLOWED}; or a value, such as 0.05, \"2.8GB/s\", \"100k IOPS\", \"1MiB\" \
                     or \"2ms\""
                )
            }
        }
    }

    /// The words that it accepts, if it accepts words.
    pub(crate) fn words(&self) -> &'static [Word] {
        match self {
            Self::Word(words) | Self::Words(words) => words,
            _ => &[],
        }
    }
}

/// Syntax of a name.
const NAME_ALLOWED: &str =
    "a name has 1 to 64 letters, digits, `.`, `_` or `-`, and does not start with a dot or a dash";

/// Syntax of a selection.
const SELECTION_ALLOWED: &str = "write a selection in braces, for example { workload = \"scale\", at = { tasks = 132 } }; {} selects \
     everything";

fn quoted(words: &[Word]) -> String {
    words.iter().map(|(word, _)| format!("\"{word}\"")).collect::<Vec<_>>().join(", ")
}

fn first(words: &[Word]) -> String {
    words.first().map_or_else(String::new, |(word, _)| format!("\"{word}\""))
}
