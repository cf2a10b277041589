//! JSON in which every value keeps its text and its line.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::lines::{Line, number};
use crate::import::error::ImportError;
use crate::import::error::shown;

/// The JSON output of a tool.
pub(crate) struct Json<'a> {
    file: &'a str,
    tool: &'static str,
    text: &'a str,
    start: usize,
    /// The number of lines of the file before `text`.
    earlier: u32,
    /// The number of line feeds before each stretch of [`STRETCH`] bytes.
    lines_before: Vec<u32>,
}

/// Number of bytes after which lines are counted anew.
const STRETCH: usize = 4096;

/// The number of line feeds in `bytes`.
pub(super) fn line_feeds(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.iter().filter(|&&byte| byte == b'\n').count()).unwrap_or(u32::MAX)
}

/// The members of an object, in their order.
pub(crate) struct Object<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

/// The start of the first JSON value in `text`: a bracket at the beginning of a line.
pub(crate) fn start(text: &str) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let blank = line.len() - line.trim_start().len();
        let rest = line.trim();
        if rest.starts_with('{') || (rest.starts_with('[') && (rest.len() == 1 || rest.starts_with("[{"))) {
            return Some(at + blank);
        }
        at += line.len();
    }
    None
}

/// The range of the first JSON value in `text`, or of all consecutive ones.
pub(crate) fn span(text: &str, all: bool) -> Option<(usize, usize)> {
    let start = start(text)?;
    let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<IgnoredAny>();
    let mut end = start;
    while values.next().is_some_and(|value| value.is_ok()) {
        end = start + values.byte_offset();
        if !all {
            break;
        }
    }
    Some((start, end))
}

impl<'a> Json<'a> {
    /// Finds the JSON in `text`. Text before it is a message of the tool.
    pub(crate) fn new(file: &'a str, tool: &'static str, text: &'a str) -> Self {
        Self { start: start(text).unwrap_or(0), ..Self::part(file, tool, text, 1) }
    }

    /// A value that starts on `line` of the file.
    pub(crate) fn part(file: &'a str, tool: &'static str, text: &'a str, line: u32) -> Self {
        let mut lines = 0;
        let stretches = text.as_bytes().chunks(STRETCH);
        let before = |part: &[u8]| {
            let before = lines;
            lines += line_feeds(part);
            before
        };
        let lines_before = stretches.map(before).collect();
        Self { file, tool, text, start: 0, earlier: line - 1, lines_before }
    }

    /// The value as `T`.
    pub(crate) fn parse<T: Deserialize<'a>>(&self) -> Result<T, ImportError> {
        serde_json::from_str(&self.text[self.start..]).map_err(|error| self.broken(self.start, &error))
    }

    /// The consecutive values, at most `most`. Other text may follow.
    pub(crate) fn roots(&self, most: usize) -> Result<Vec<&'a RawValue>, ImportError> {
        let stream = serde_json::Deserializer::from_str(&self.text[self.start..]).into_iter::<&RawValue>();
        stream.take(most).map(|value| value.map_err(|error| self.broken(self.start, &error))).collect()
    }

    /// The consecutive values, at most `most`. Text that is not JSON may follow.
    pub(crate) fn leading(&self, most: usize) -> Result<Vec<&'a RawValue>, ImportError> {
        let text = &self.text[self.start..];
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
        let mut found = Vec::new();
        while found.len() < most {
            let end = values.byte_offset();
            match values.next() {
                Some(Ok(value)) => found.push(value),
                Some(Err(error)) if found.is_empty() || text[end..].trim_start().starts_with('{') => {
                    return Err(self.broken(self.start, &error));
                }
                Some(Err(_)) | None => break,
            }
        }
        if found.is_empty() { Err(self.ended("its JSON")) } else { Ok(found) }
    }

    /// The single value.
    pub(crate) fn root(&self) -> Result<&'a RawValue, ImportError> {
        self.roots(1)?.into_iter().next().ok_or_else(|| self.ended("its JSON"))
    }

    /// `value` as an object.
    pub(crate) fn object(&self, value: &'a RawValue) -> Result<Object<'a>, ImportError> {
        serde_json::from_str(value.get()).map_err(|_| self.malformed(value, "a JSON object"))
    }

    /// `value` as an array.
    pub(crate) fn array(&self, value: &'a RawValue) -> Result<Vec<&'a RawValue>, ImportError> {
        serde_json::from_str(value.get()).map_err(|_| self.malformed(value, "a JSON array"))
    }

    /// The objects in an array, including those in nested arrays.
    pub(crate) fn objects(&self, value: &'a RawValue) -> Result<Vec<Object<'a>>, ImportError> {
        let mut found = Vec::new();
        for one in self.array(value)? {
            match one.get().starts_with('[') {
                true => found.extend(
                    self.array(one)?
                        .into_iter()
                        .map(|one| self.object(one))
                        .collect::<Result<Vec<_>, _>>()?,
                ),
                false => found.push(self.object(one)?),
            }
        }
        Ok(found)
    }

    /// The line on which `value` starts.
    pub(crate) fn line(&self, value: &'a RawValue) -> Line<'a> {
        let at = (value.get().as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        Line { number: self.line_at(at), text: value.get(), has_end: true }
    }

    fn line_at(&self, at: usize) -> u32 {
        let stretch = at / STRETCH;
        let before = self.lines_before.get(stretch).copied().unwrap_or(0);
        self.earlier + before + line_feeds(&self.text.as_bytes()[stretch * STRETCH..at]) + 1
    }

    /// Parses `value` as a number, which may be quoted.
    pub(crate) fn number(&self, value: &'a RawValue) -> Result<f64, ImportError> {
        number(value.get().trim_matches('"')).ok_or_else(|| self.malformed(value, "a number"))
    }

    /// The error for a `value` that is not as expected.
    pub(crate) fn malformed(&self, value: &'a RawValue, expected: &str) -> ImportError {
        let line = self.line(value);
        ImportError::Malformed {
            file: self.file.to_owned(),
            line: line.number,
            found: shown(line.text),
            expected: expected.to_owned(),
            next: format!("give the unmodified output of {}", self.tool),
        }
    }

    /// The error for something that is missing in the whole value.
    pub(crate) fn lacking(&self, expected: &str) -> ImportError {
        ImportError::Malformed {
            file: self.file.to_owned(),
            line: self.line_at(self.start),
            found: shown(&self.text[self.start..]),
            expected: expected.to_owned(),
            next: format!("give the unmodified output of {}", self.tool),
        }
    }

    /// The error for a `value` that is correct but cannot be used.
    pub(crate) fn unusable(&self, value: &'a RawValue, what: &str, next: &str) -> ImportError {
        ImportError::Unusable {
            file: self.file.to_owned(),
            line: self.line(value).number,
            what: what.to_owned(),
            next: next.to_owned(),
        }
    }

    /// The error for something that is missing.
    pub(crate) fn ended(&self, expected: &str) -> ImportError {
        ImportError::Ended {
            file: self.file.to_owned(),
            line: self.line_at(self.text.len().saturating_sub(1)),
            tool: self.tool.to_owned(),
            expected: expected.to_owned(),
        }
    }

    fn broken(&self, start: usize, error: &serde_json::Error) -> ImportError {
        if error.is_eof() {
            return self.ended("the end of its JSON");
        }
        let line =
            self.line_at(start).saturating_add(u32::try_from(error.line()).unwrap_or(1)).saturating_sub(1);
        let place = line.saturating_sub(self.earlier).saturating_sub(1);
        let text = self.text.lines().nth(place as usize).unwrap_or_default();
        ImportError::Malformed {
            file: self.file.to_owned(),
            line,
            found: shown(text),
            // Its own place is counted from the start of the value.
            expected: format!("JSON ({})", error.to_string().split(" at line ").next().unwrap_or_default()),
            next: format!("give the unmodified output of {}", self.tool),
        }
    }
}

impl<'a> Object<'a> {
    /// The member called `name`.
    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(member, _)| member == name).map(|(_, value)| *value)
    }

    /// The text of the member called `name`, without its quotes.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(text)
    }

    /// The member called `name` as a number.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.get(name).and_then(|value| number(value.get().trim_matches('"')))
    }

    /// All members.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().map(|(name, value)| (&**name, *value))
    }
}

/// The members of an object, those that [`Member`] names as `M` and all others as written.
pub(crate) struct Nested<'a, M> {
    pub(crate) others: Object<'a>,
    pub(crate) named: Vec<(Cow<'a, str>, M)>,
}

/// A value that is parsed together with the object that contains it.
pub(crate) trait Member {
    /// Whether a member with this name is one.
    fn is_called(name: &str) -> bool;
}

/// The text of a string, or any other value as written.
pub(crate) fn text(value: &RawValue) -> String {
    let is_string = value.get().starts_with('"');
    let text = is_string.then(|| serde_json::from_str(value.get()).ok()).flatten();
    text.unwrap_or_else(|| value.get().to_owned())
}

impl<M> Nested<'_, M> {
    /// The member called `name`.
    pub(crate) fn get(&self, name: &str) -> Option<&M> {
        self.named.iter().find(|(member, _)| member == name).map(|(_, value)| value)
    }
}

impl<'de, M: Member + Deserialize<'de>> Deserialize<'de> for Nested<'de, M> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<M>(PhantomData<M>);
        impl<'de, M: Member + Deserialize<'de>> Visitor<'de> for Members<M> {
            type Value = Nested<'de, M>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let (mut others, mut named) = (Vec::new(), Vec::new());
                while let Some(Name(name)) = map.next_key()? {
                    match M::is_called(&name) {
                        true => named.push((name, map.next_value()?)),
                        false => others.push((name, map.next_value()?)),
                    }
                }
                Ok(Nested { others: Object(others), named })
            }
        }
        deserializer.deserialize_map(Members(PhantomData))
    }
}

/// The name of a member, borrowed unless it has escapes.
#[derive(serde::Deserialize)]
pub(crate) struct Name<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((Name(name), value)) = map.next_entry()? {
                    members.push((name, value));
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}
