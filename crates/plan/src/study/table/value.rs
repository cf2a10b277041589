//! The values that keys take, each read by the kind of its key.

use std::ops::RangeInclusive;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, IntoDeserializer as _};
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::fields::{Fields, Span, shown};
use super::kind::{Key, Kind, Table, Word};
use super::range::{Range, is_range};
use crate::study::error::StudyError;
use crate::study::keys::WORKLOAD;
use crate::text::nearest::nearest;
use crate::text::parse::{bandwidth, share};
use crate::text::visible::is_harmful;
use crate::{Amount, Bytes, Nanos, Setting, SettingValue};

/// Longest path that Linux takes (`PATH_MAX`), its final zero left out.
const PATH_BYTES_MAX: usize = 4095;
/// Names are columns of tables and parts of file names.
const NAME_BYTES_MAX: usize = 64;
/// Lists longer than this are a slip.
pub(in crate::study) const LIST_MAX: usize = 1024;

/// A value that a key takes.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::study) enum Value {
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

/// When a case is over before all repetitions are done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::study) enum Until {
    /// The confidence interval is at most this share of the median.
    Interval(f64),
    /// The last repetitions are steady.
    Steady,
    /// Nothing ends it earlier.
    Count,
}

/// What a key holds. Its kind has decided which of these it can be; asked for another, it is empty or 0.
impl Value {
    /// A flag.
    pub(in crate::study) fn flag(&self) -> bool {
        matches!(self, Self::Flag(true))
    }

    /// A count.
    pub(in crate::study) fn count(&self) -> u64 {
        if let Self::Integer(count) = self { *count } else { 0 }
    }

    /// A count that its key bounds to 32 bits.
    pub(in crate::study) fn count_u32(&self) -> u32 {
        u32::try_from(self.count()).unwrap_or(u32::MAX)
    }

    /// A list of counts that their key bounds to 32 bits.
    pub(in crate::study) fn counts_u32(&self) -> Vec<u32> {
        let Self::Integers(counts) = self else { return Vec::new() };
        counts.iter().filter_map(|&count| u32::try_from(count).ok()).collect()
    }

    /// A size.
    pub(in crate::study) fn bytes(&self) -> Bytes {
        Bytes(self.count())
    }

    /// A time.
    pub(in crate::study) fn nanos(&self) -> Nanos {
        Nanos(self.count())
    }

    /// A number, rate, share or bandwidth.
    pub(in crate::study) fn number(&self) -> f64 {
        if let Self::Number(number) = self { *number } else { 0.0 }
    }

    /// A text, name or path.
    pub(in crate::study) fn text(&self) -> String {
        if let Self::Text(text) = self { text.clone() } else { String::new() }
    }

    /// A list of texts.
    pub(in crate::study) fn texts(&self) -> Vec<String> {
        if let Self::Texts(texts) = self { texts.clone() } else { Vec::new() }
    }

    /// A word.
    pub(in crate::study) fn word(&self) -> &'static str {
        if let Self::Word(word) = self { word } else { "" }
    }

    /// Sets `to` to what the word stands for. The words of a key are those of the record.
    pub(in crate::study) fn put<T: DeserializeOwned>(&self, to: &mut T) {
        if let Some(meant) = self.parsed() {
            *to = meant;
        }
    }

    /// What the word stands for.
    pub(in crate::study) fn parsed<T: DeserializeOwned>(&self) -> Option<T> {
        let word: StrDeserializer<'_, serde::de::value::Error> = self.word().into_deserializer();
        T::deserialize(word).ok()
    }

    /// Sort order of a value of a range.
    pub(in crate::study) fn order(&self) -> f64 {
        match self {
            Self::Integer(value) => *value as f64,
            Self::Number(value) => *value,
            _ => 0.0,
        }
    }
}

impl Key {
    /// A value of this key as it is stored with a point of a sweep.
    pub(in crate::study) fn setting(&self, value: &Value) -> SettingValue {
        match (&self.kind, value) {
            (Kind::Size, Value::Integer(bytes)) => SettingValue::Bytes(Bytes(*bytes)),
            (Kind::Time, Value::Integer(nanos)) => SettingValue::Time(Nanos(*nanos)),
            (_, Value::Integer(count)) => SettingValue::Count(*count),
            (_, Value::Number(number)) => SettingValue::Number(*number),
            (_, Value::Flag(flag)) => SettingValue::Flag(*flag),
            (_, Value::Word(word)) => SettingValue::Word((*word).to_owned()),
            (_, Value::Text(text)) => SettingValue::Word(text.clone()),
            (_, other) => SettingValue::Word(format!("{other:?}")),
        }
    }
}

/// Reads a value by the kind of its key.
pub(in crate::study) fn convert(key: &Key, value: &Spanned<DeValue<'_>>) -> Result<Value, Box<StudyError>> {
    let wrong = |label: String, message: String, help: String| {
        Box::new(StudyError::new(value.span(), label, message, help))
    };
    let converted = match (&key.kind, value.get_ref()) {
        (Kind::Text | Kind::Reference(_), DeValue::String(text)) => plain(text).map(Value::Text),
        (Kind::Name, DeValue::String(text)) => name(text).map(Value::Text),
        (Kind::Path, DeValue::String(text)) => path(text).map(Value::Text),
        (Kind::Paths, DeValue::Array(items)) => return list(key, items, value, path).map(Value::Texts),
        (Kind::Texts(_), DeValue::Array(items)) => return list(key, items, value, filled).map(Value::Texts),
        (Kind::Size | Kind::Time, DeValue::String(text)) => scalar(key, text),
        (Kind::Share, DeValue::String(text)) => share(text).map(Value::Number).map_err(unit),
        (Kind::Bandwidth, DeValue::String(text)) => bandwidth(text).map(Value::Number).map_err(unit),
        (Kind::Until, DeValue::String(text)) => until(text).map(Value::Until),
        (Kind::Side(_), DeValue::String(text)) => amount(text),
        (Kind::Counts(..), DeValue::String(text)) if is_range(text) => counts_of_range(key, text),
        (Kind::Counts(..), DeValue::Array(items)) => return counts(key, items, value),
        (Kind::Keys, DeValue::Array(items)) => {
            return list(key, items, value, |text| Ok(text.to_owned())).map(Value::Texts);
        }
        (Kind::Settings, DeValue::Table(items)) => return settings(items).map(Value::Settings),
        (Kind::Table(table) | Kind::Side(table), DeValue::Table(items)) => {
            return nested(table, items, value.span()).map(|fields| Value::Table(Box::new(fields)));
        }
        (Kind::Size, DeValue::Integer(n)) => {
            integer(key, n.as_str(), n.radix(), 0..=i64::MAX.unsigned_abs()).map(Value::Integer)
        }
        (Kind::Count(least, most), DeValue::Integer(n)) => {
            integer(key, n.as_str(), n.radix(), *least..=*most).map(Value::Integer)
        }
        (Kind::Rate | Kind::Number(..) | Kind::Share | Kind::Side(_), DeValue::Integer(n))
            if n.radix() == 10 =>
        {
            scalar(key, n.as_str())
        }
        (Kind::Rate | Kind::Number(..) | Kind::Share | Kind::Side(_), DeValue::Float(n)) => {
            scalar(key, n.as_str())
        }
        (Kind::Flag, DeValue::Boolean(flag)) => Ok(Value::Flag(*flag)),
        (Kind::Word(words), DeValue::String(text)) => word(key, words, text).map(Value::Word),
        (Kind::Words(words), DeValue::Array(items)) => {
            return list(key, items, value, |text| word(key, words, text)).map(Value::Words);
        }
        // The range syntax of other tools, in a list or alone.
        (kind, DeValue::String(text)) if kind.is_ordered() && looks_like_range(text) => {
            let message = format!("`{}` cannot be \"{}\"", key.name, shown(text));
            let help = match WORKLOAD.all().any(|known| known.name == key.name && WORKLOAD.sweeps(known)) {
                true => "write a range as \"1..64 times 2\" or \"1..64 step 1\"".to_owned(),
                false => kind.allowed(),
            };
            return Err(wrong("no range".to_owned(), message, help));
        }
        (kind, other) => {
            let (expected, found) = (kind.noun(), found(other));
            let message = format!("`{}` takes {expected}, not {found}", key.name);
            return Err(wrong(format!("this is {found}"), message, kind.allowed()));
        }
    };
    converted.map_err(|(message, help)| {
        let help = if help.is_empty() { key.kind.allowed() } else { help };
        wrong(format!("not a value of `{}`", key.name), message, help)
    })
}

/// Whether `text` is two whole numbers with a dash between them, as `1-64`.
fn looks_like_range(text: &str) -> bool {
    let is_number = |part: &str| !part.trim().is_empty() && part.trim().bytes().all(|b| b.is_ascii_digit());
    text.split_once('-').is_some_and(|(from, to)| is_number(from) && is_number(to))
}

/// What is wrong with a value and what is allowed; an empty help stands for that of the kind.
pub(in crate::study) type Wrong = (String, String);

/// Reads a number, size or time written as text.
pub(in crate::study) fn scalar(key: &Key, text: &str) -> Result<Value, Wrong> {
    let plain = || (format!("`{}` cannot be {}", key.name, shown(text)), String::new());
    let number = |least: f64, most: f64| {
        let number: Option<f64> = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.map(Value::Number).ok_or_else(plain)
    };
    match key.kind {
        Kind::Size => Bytes::parse_study(text).map(|size| Value::Integer(size.0)).map_err(unit),
        Kind::Time => Nanos::parse_study(text).map(|time| Value::Integer(time.0)).map_err(unit),
        Kind::Count(least, most) => integer(key, text, 10, least..=most).map(Value::Integer),
        Kind::Rate => rate(text).map(Value::Number),
        Kind::Number(least, most) => number(least, most),
        Kind::Share => number(0.0, 1.0),
        _ => number(f64::MIN, f64::MAX),
    }
}

fn unit(error: crate::UnitError) -> Wrong {
    (error.message, error.help)
}

/// `steady` or `interval 5 %`.
fn until(text: &str) -> Result<Until, Wrong> {
    let text = text.trim();
    match text {
        "steady" => return Ok(Until::Steady),
        "count" => return Ok(Until::Count),
        _ => {}
    }
    let Some(rest) = text.strip_prefix("interval") else {
        return Err((format!("\"{}\" is no rule for an end", shown(text)), String::new()));
    };
    let width = share(rest).map_err(unit)?;
    if width > 0.0 {
        return Ok(Until::Interval(width));
    }
    Err((
        "an interval of 0 % is never reached".to_owned(),
        "write a share above 0, as \"interval 5 %\"".to_owned(),
    ))
}

/// A rate, or a size, time or share in its base unit.
fn amount(text: &str) -> Result<Value, Wrong> {
    if let Ok(rate) = Amount::parse_rate(text) {
        return Ok(Value::Rate(rate));
    }
    let sizes = || Bytes::parse_study(text).map(|size| size.0 as f64);
    let times = || Nanos::parse_study(text).map(|time| time.0 as f64);
    let found = share(text).or_else(|_| sizes()).or_else(|_| times());
    found
        .map(Value::Number)
        .map_err(|_| (format!("`{}` is no rate, size, time or share", shown(text)), String::new()))
}

fn counts_of_range(key: &Key, text: &str) -> Result<Value, Wrong> {
    let range = Range::parse(key, text)?;
    if range.count() > LIST_MAX as u64 {
        let message = format!("`{}` has {} items", key.name, range.count());
        return Err((message, format!("a list has at most {LIST_MAX} items")));
    }
    let values = (0..range.count()).map(|index| match range.at(index) {
        Value::Integer(value) => value,
        _ => 0,
    });
    Ok(Value::Integers(values.collect()))
}

fn counts(key: &Key, items: &DeArray<'_>, value: &Spanned<DeValue<'_>>) -> Result<Value, Box<StudyError>> {
    let Kind::Counts(least, most) = key.kind else { return Ok(Value::Integers(Vec::new())) };
    if items.is_empty() || items.len() > LIST_MAX {
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
            let message = format!("`{}` is no key that can be swept", shown(name));
            return Err(Box::new(StudyError::new(written.span(), "no such key", message, help)));
        };
        let setting = Setting { key: key.name.to_owned(), value: key.setting(&convert(key, value)?) };
        Ok((setting, written.span().start..value.span().end))
    };
    items.iter().map(one).collect()
}

/// A table within a table; its first mistake where it has any.
fn nested(table: &'static Table, items: &DeTable<'_>, span: Span) -> Result<Fields, Box<StudyError>> {
    let mut errors = Vec::new();
    let fields = Fields::read(table, items, span, &mut errors);
    match errors.into_iter().next() {
        Some(error) => Err(Box::new(error)),
        None => Ok(fields),
    }
}

/// Reads each item of a list; the first wrong one is marked by itself.
fn list<T>(
    key: &Key,
    items: &DeArray<'_>,
    value: &Spanned<DeValue<'_>>,
    read: impl Fn(&str) -> Result<T, Wrong>,
) -> Result<Vec<T>, Box<StudyError>> {
    let wrong = |span, label: &str, message: String, help: String| {
        let help = if help.is_empty() { key.kind.allowed() } else { help };
        Box::new(StudyError::new(span, label, message, help))
    };
    if items.is_empty() {
        let message = format!("`{}` is empty", key.name);
        return Err(wrong(value.span(), "nothing in here", message, String::new()));
    }
    if items.len() > LIST_MAX {
        let message = format!("`{}` has {} items", key.name, items.len());
        return Err(wrong(value.span(), "too long", message, format!("a list has at most {LIST_MAX} items")));
    }
    let one = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
        DeValue::String(text) => read(text)
            .map_err(|(message, help)| wrong(item.span(), "not a value of this list", message, help)),
        other => {
            let found = found(other);
            let message = format!("`{}` takes {}, and this is {found}", key.name, key.kind.noun());
            Err(wrong(item.span(), "not a text", message, String::new()))
        }
    };
    items.iter().map(one).collect()
}

fn name(text: &str) -> Result<String, Wrong> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let sound =
        (1..=NAME_BYTES_MAX).contains(&text.len()) && text.chars().all(fits) && !text.starts_with(['.', '-']);
    if sound {
        return Ok(text.to_owned());
    }
    Err((format!("`{}` cannot be a name", shown(text)), String::new()))
}

/// A text that is shown verbatim, and therefore must not contain control characters except line ends and
/// tabs, nor characters that change the writing direction.
fn plain(text: &str) -> Result<String, Wrong> {
    let obeyed = |c: char| is_harmful(c) && !matches!(c, '\n' | '\t');
    match text.chars().find(|&c| obeyed(c)) {
        None => Ok(text.to_owned()),
        Some(c) => {
            let message = format!("the text has the character {} in it", c.escape_unicode());
            Err((message, "it would change how a terminal shows what follows; leave it out".to_owned()))
        }
    }
}

/// A text with something in it.
fn filled(text: &str) -> Result<String, Wrong> {
    match text.trim() {
        "" => Err(("the text is empty".to_owned(), String::new())),
        _ => plain(text),
    }
}

fn path(text: &str) -> Result<String, Wrong> {
    if text.is_empty() {
        return Err(("the path is empty".to_owned(), String::new()));
    }
    if text.contains('\0') {
        return Err((
            "the path has a zero byte in it".to_owned(),
            "no path of Linux can have one; leave it out".to_owned(),
        ));
    }
    plain(text)?;
    if text.len() > PATH_BYTES_MAX {
        let help = format!("Linux takes paths of at most {PATH_BYTES_MAX} bytes");
        return Err((format!("the path has {} bytes", text.len()), help));
    }
    Ok(text.to_owned())
}

fn word(key: &Key, words: &'static [Word], text: &str) -> Result<&'static str, Wrong> {
    if let Some((word, _)) = words.iter().find(|(word, _)| *word == text) {
        return Ok(word);
    }
    let message = format!("`{}` cannot be \"{}\"", key.name, shown(text));
    let allowed = Kind::Word(words).allowed();
    let help = match nearest(text, words.iter().map(|(word, _)| *word)) {
        Some(meant) => format!("did you mean \"{meant}\"? Otherwise {allowed}"),
        None => allowed,
    };
    Err((message, help))
}

fn integer(key: &Key, digits: &str, radix: u32, allowed: RangeInclusive<u64>) -> Result<u64, Wrong> {
    match u64::from_str_radix(digits, radix) {
        Ok(number) if allowed.contains(&number) => Ok(number),
        _ => Err((format!("`{}` cannot be {}", key.name, shown(digits)), String::new())),
    }
}

fn rate(written: &str) -> Result<f64, Wrong> {
    match written.parse() {
        Ok(number) if number > 0.0 && number <= 1e9 => Ok(number),
        _ => Err((format!("{} transfers per second cannot be paced", shown(written)), String::new())),
    }
}

pub(in crate::study) fn found(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or time of day",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
