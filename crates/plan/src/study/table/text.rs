//! Values that are written as text: names, paths, words, amounts, and stopping rules.

use super::definition::{Key, ValueKind, Word};
use super::scalar::{ValueError, unit};
use super::values::{Until, Value};
use crate::study::words::instead_of_value;
use crate::text::nearest::nearest;
use crate::text::parse::share;
use crate::text::visible::is_harmful;
use crate::text::visible::shown;
use crate::{Amount, Bytes, Nanos};

/// Maximum length of a path in Linux (`PATH_MAX`), without its terminating zero.
const PATH_BYTES_MAX: usize = 4095;
/// Limit on the length of names, which are columns of tables and parts of file names.
const NAME_BYTES_MAX: usize = 64;
/// Parses `steady` or `interval 5 %`.
pub(super) fn until(text: &str) -> Result<Until, ValueError> {
    let text = text.trim();
    match text {
        "steady" => return Ok(Until::Steady),
        "count" => return Ok(Until::Count),
        _ => {}
    }
    let Some(rest) = text.strip_prefix("interval") else {
        return Err((format!("\"{}\" is not a stopping rule", shown(text)), String::new()));
    };
    let width = share(rest).map_err(unit)?;
    if width > 0.0 {
        return Ok(Until::Interval(width));
    }
    Err((
        "an interval of 0 % is never reached".to_owned(),
        "write a share above 0, for example \"interval 5 %\"".to_owned(),
    ))
}

/// A rate, or a size, time or share in its base unit.
pub(super) fn amount(text: &str) -> Result<Value, ValueError> {
    if let Ok(rate) = Amount::parse_rate(text) {
        return Ok(Value::Rate(rate));
    }
    let sizes = || Bytes::parse_study(text).map(|size| size.0 as f64);
    let times = || Nanos::parse_study(text).map(|time| time.0 as f64);
    let found = share(text).or_else(|_| sizes()).or_else(|_| times());
    found
        .map(Value::Number)
        .map_err(|_| (format!("`{}` is not a rate, size, time or share", shown(text)), String::new()))
}

pub(super) fn name(text: &str) -> Result<String, ValueError> {
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
pub(super) fn plain(text: &str) -> Result<String, ValueError> {
    let obeyed = |c: char| is_harmful(c) && !matches!(c, '\n' | '\t');
    match text.chars().find(|&c| obeyed(c)) {
        None => Ok(text.to_owned()),
        Some(c) => {
            let message = format!("the string contains the character {}", c.escape_unicode());
            Err((message, "it would change how a terminal shows what follows; leave it out".to_owned()))
        }
    }
}

/// A text that is not empty.
pub(super) fn filled(text: &str) -> Result<String, ValueError> {
    match text.trim() {
        "" => Err(("the string is empty".to_owned(), String::new())),
        _ => plain(text),
    }
}

pub(super) fn path(text: &str) -> Result<String, ValueError> {
    if text.is_empty() {
        return Err(("the path is empty".to_owned(), String::new()));
    }
    if text.contains('\0') {
        return Err((
            "the path contains a NUL byte".to_owned(),
            "Linux paths cannot contain one; leave it out".to_owned(),
        ));
    }
    plain(text)?;
    if text.len() > PATH_BYTES_MAX {
        let help = format!("Linux allows paths of at most {PATH_BYTES_MAX} bytes");
        return Err((format!("the path has {} bytes", text.len()), help));
    }
    Ok(text.to_owned())
}

pub(super) fn word(key: &Key, words: &'static [Word], text: &str) -> Result<&'static str, ValueError> {
    if let Some((word, _)) = words.iter().find(|(word, _)| *word == text) {
        return Ok(word);
    }
    let message = format!("`{}` cannot be \"{}\"", key.name, shown(text));
    let allowed = ValueKind::Word(words).allowed();
    let help = match (instead_of_value(key.name, text), nearest(text, words.iter().map(|(word, _)| *word))) {
        (Some(write), _) => format!("write for example {write}; otherwise {allowed}"),
        (None, Some(meant)) => format!("did you mean \"{meant}\"? Otherwise {allowed}"),
        (None, None) => allowed,
    };
    Err((message, help))
}
