//! A table of a study file, each value read by the kind that its key has.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::error::StudyError;
use super::kind::{Absent, Key, Kind, Table, Word};
use super::nearest::nearest;
use crate::{Bytes, Nanos};

/// Longest path that Linux takes (`PATH_MAX`), its final zero left out.
const PATH_BYTES_MAX: usize = 4095;
/// Names are columns of tables and parts of file names.
const NAME_BYTES_MAX: usize = 64;
/// Lists longer than this are a slip.
const LIST_MAX: usize = 1024;

/// A place in the text.
pub(super) type Span = Range<usize>;

/// A value that a key takes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(String),
    Texts(Vec<String>),
    /// Bytes, nanoseconds or a plain count, as the key's kind says.
    Integer(u64),
    Number(f64),
    Flag(bool),
    Word(&'static str),
    Words(Vec<&'static str>),
}

#[derive(Debug)]
struct Field {
    key_span: Span,
    span: Span,
    value: Value,
}

/// What a table says, by key.
#[derive(Debug)]
pub(super) struct Fields {
    table: &'static Table,
    header: Span,
    given: BTreeMap<&'static str, Field>,
    sound: bool,
}

impl Fields {
    /// A table that is not in the file: every key has what holds where it is left out.
    pub(super) fn absent(table: &'static Table) -> Self {
        Self { table, header: 0..0, given: BTreeMap::new(), sound: true }
    }

    /// Reads `content`, whose header stands at `header`, by the keys of `table`.
    pub(super) fn read(
        table: &'static Table,
        content: &DeTable<'_>,
        header: Span,
        errors: &mut Vec<StudyError>,
    ) -> Self {
        let before = errors.len();
        let mut fields = Self { header, ..Self::absent(table) };
        // Keys that were meant by a misspelt one are not called missing as well.
        let mut meant = Vec::new();
        for (written, value) in content {
            let name: &str = written.get_ref();
            let Some(key) = table.keys.iter().find(|key| key.name == name) else {
                meant.extend(unknown_key(table, name, written.span(), errors));
                continue;
            };
            meant.push(key.name);
            match convert(key, value) {
                Ok(converted) => {
                    let field = Field { key_span: written.span(), span: value.span(), value: converted };
                    fields.given.insert(key.name, field);
                }
                Err(error) => errors.push(*error),
            }
        }
        let required = table.keys.iter().filter(|key| matches!(key.absent, Absent::Refused));
        for key in required.filter(|key| !meant.contains(&key.name)) {
            errors.push(StudyError::new(
                fields.header.clone(),
                format!("`{}` is missing here", key.name),
                format!("{} has no `{}`", table.header(), key.name),
                key.kind.allowed(),
            ));
        }
        fields.sound = errors.len() == before;
        fields
    }

    /// Whether every key and value of the table is as it should be.
    pub(super) fn sound(&self) -> bool {
        self.sound
    }

    /// Where the table's header stands.
    pub(super) fn header(&self) -> Span {
        self.header.clone()
    }

    /// Whether the file says something about `name`.
    pub(super) fn has(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// What the file says about `name`.
    pub(super) fn given(&self, name: &str) -> Option<&Value> {
        self.given.get(name).map(|field| &field.value)
    }

    /// Where the value of `name` stands; the table's header where it was left out.
    pub(super) fn span(&self, name: &str) -> Span {
        self.given.get(name).map_or_else(|| self.header(), |field| field.span.clone())
    }

    /// Where the key `name` stands; the table's header where it was left out.
    pub(super) fn key_span(&self, name: &str) -> Span {
        self.given.get(name).map_or_else(|| self.header(), |field| field.key_span.clone())
    }

    /// The value of `name`, or the one that holds where it is left out.
    fn value(&self, name: &str) -> Option<Value> {
        if let Some(field) = self.given.get(name) {
            return Some(field.value.clone());
        }
        let key = self.table.key(name);
        let Absent::Value(literal) = key.absent else { return None };
        let parsed = DeValue::parse(literal).expect("the default of a key is TOML; a test reads them all");
        Some(convert(key, &parsed).expect("the default of a key is of its kind; a test reads them all"))
    }

    /// A text, name or path.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        match self.value(name)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A list of paths.
    pub(super) fn texts(&self, name: &str) -> Option<Vec<String>> {
        match self.value(name)? {
            Value::Texts(texts) => Some(texts),
            _ => None,
        }
    }

    /// A count.
    pub(super) fn count(&self, name: &str) -> Option<u64> {
        match self.value(name)? {
            Value::Integer(count) => Some(count),
            _ => None,
        }
    }

    /// A count that its key bounds to 32 bits.
    pub(super) fn count_u32(&self, name: &str) -> Option<u32> {
        self.count(name).and_then(|count| u32::try_from(count).ok())
    }

    /// A size.
    pub(super) fn bytes(&self, name: &str) -> Option<Bytes> {
        self.count(name).map(Bytes)
    }

    /// A time.
    pub(super) fn nanos(&self, name: &str) -> Option<Nanos> {
        self.count(name).map(Nanos)
    }

    /// A rate.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        match self.value(name)? {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// A flag; false where nothing says otherwise.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.value(name) == Some(Value::Flag(true))
    }

    /// A word.
    pub(super) fn word(&self, name: &str) -> Option<&'static str> {
        match self.value(name)? {
            Value::Word(word) => Some(word),
            _ => None,
        }
    }

    /// A list of words.
    pub(super) fn words(&self, name: &str) -> Vec<&'static str> {
        match self.value(name) {
            Some(Value::Words(words)) => words,
            _ => Vec::new(),
        }
    }
}

/// Reports a key that `table` does not have; gives the one that was probably meant.
fn unknown_key(
    table: &'static Table,
    name: &str,
    span: Span,
    errors: &mut Vec<StudyError>,
) -> Option<&'static str> {
    let names = || table.keys.iter().map(|key| key.name);
    let meant = nearest(name, names());
    let help = match meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("the keys are {}", names().collect::<Vec<_>>().join(", ")),
    };
    let message = format!("{} has no key `{}`", table.header(), shown(name));
    errors.push(StudyError::new(span, "unknown key", message, help));
    meant
}

/// Reads a value by the kind of its key.
fn convert(key: &Key, value: &Spanned<DeValue<'_>>) -> Result<Value, Box<StudyError>> {
    let wrong = |label: String, message: String, help: String| {
        Box::new(StudyError::new(value.span(), label, message, help))
    };
    let converted = match (&key.kind, value.get_ref()) {
        (Kind::Text, DeValue::String(text)) => Ok(Value::Text(text.to_string())),
        (Kind::Name, DeValue::String(text)) => name(text).map(Value::Text),
        (Kind::Path, DeValue::String(text)) => path(text).map(Value::Text),
        (Kind::Paths, DeValue::Array(items)) => return list(key, items, value, path).map(Value::Texts),
        (Kind::Size, DeValue::String(text)) => {
            Bytes::parse_study(text).map(|size| Value::Integer(size.0)).map_err(|e| (e.message, e.help))
        }
        (Kind::Time, DeValue::String(text)) => {
            Nanos::parse_study(text).map(|time| Value::Integer(time.0)).map_err(|e| (e.message, e.help))
        }
        (Kind::Size, DeValue::Integer(n)) => {
            integer(key, n.as_str(), n.radix(), 0..=i64::MAX.unsigned_abs()).map(Value::Integer)
        }
        (Kind::Count(least, most), DeValue::Integer(n)) => {
            integer(key, n.as_str(), n.radix(), *least..=*most).map(Value::Integer)
        }
        (Kind::Rate, DeValue::Integer(n)) if n.radix() == 10 => rate(n.as_str()).map(Value::Number),
        (Kind::Rate, DeValue::Float(n)) => rate(n.as_str()).map(Value::Number),
        (Kind::Flag, DeValue::Boolean(flag)) => Ok(Value::Flag(*flag)),
        (Kind::Word(words), DeValue::String(text)) => word(key, words, text).map(Value::Word),
        (Kind::Words(words), DeValue::Array(items)) => {
            return list(key, items, value, |text| word(key, words, text)).map(Value::Words);
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

/// What is wrong with a value and what is allowed; an empty help stands for that of the kind.
type Wrong = (String, String);

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

fn found(value: &DeValue<'_>) -> &'static str {
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

/// `text` in a message: at most a line of it.
pub(super) fn shown(text: &str) -> String {
    /// Characters of a message that a user's own word may take.
    const SHOWN_MAX: usize = 40;
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", text[..end].escape_debug()),
        None => text.escape_debug().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::Fields;
    use crate::study::keys::TABLES;
    use crate::study::kind::Absent;

    #[test]
    fn every_default_is_of_its_kind() {
        for table in TABLES {
            let fields = Fields::absent(table);
            for key in table.keys {
                let defaulted = matches!(key.absent, Absent::Value(_));
                assert_eq!(fields.value(key.name).is_some(), defaulted, "{} {}", table.name, key.name);
            }
        }
    }
}
