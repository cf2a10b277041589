//! Command lines as `getopt_long_only(3)` reads them: words after one dash or two, which may be cut short
//! as long as they stay unambiguous; letters that may be bundled; the rest is the target.

use super::table::{Key, OPTIONS};
use crate::ToolError;
use crate::options::{Given, Spec, Takes};

/// Options, and what is none.
///
/// # Errors
/// The first word that is unknown, ambiguous, lacks its value, or is refused.
pub(super) fn read(words: &[String]) -> Result<(Vec<Given<Key>>, Vec<String>), ToolError> {
    let (mut given, mut rest) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            rest.extend(words.by_ref().cloned());
            break;
        }
        let Some(text) = word.strip_prefix('-').filter(|text| !text.is_empty()) else {
            rest.push(word.clone());
            continue;
        };
        let double = text.strip_prefix('-');
        let name = double.unwrap_or(text);
        let (name, attached) = match name.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (name, None),
        };
        // A single letter after a single dash is that letter.
        let is_letter = double.is_none() && (name.chars().count() < 2);
        let long = if is_letter { None } else { long(word, name)? };
        match long {
            Some(spec) => {
                let value = attached.or_else(|| takes_next(spec).then(|| words.next().cloned()).flatten());
                given.push(OPTIONS.give(spec, format!("-{}", spec.words[0]), value)?);
            }
            None if double.is_some() => return Err(unknown(word)),
            None => letters(word, text, &mut || words.next().cloned(), &mut given)?,
        }
    }
    Ok((given, rest))
}

fn takes_next(spec: &Spec<Key>) -> bool {
    matches!(spec.takes, Takes::Value(_))
}

/// The option of this name, or the only one that begins so.
fn long(word: &str, name: &str) -> Result<Option<&'static Spec<Key>>, ToolError> {
    let named = |spec: &&&'static Spec<Key>| spec.words.contains(&name);
    let specs: Vec<&'static Spec<Key>> = OPTIONS.specs.iter().collect();
    if let Some(spec) = specs.iter().find(named) {
        return Ok(Some(spec));
    }
    let begins = |spec: &&&'static Spec<Key>| spec.words.iter().any(|known| known.starts_with(name));
    let found: Vec<&&'static Spec<Key>> = specs.iter().filter(begins).collect();
    match found.as_slice() {
        [] => Ok(None),
        [spec] => Ok(Some(spec)),
        several => {
            let names: Vec<String> = several.iter().map(|spec| format!("-{}", spec.words[0])).collect();
            Err(OPTIONS.error(word, &format!("is ambiguous: {}", names.join(", "))))
        }
    }
}

fn letters(
    word: &str,
    text: &str,
    next: &mut dyn FnMut() -> Option<String>,
    given: &mut Vec<Given<Key>>,
) -> Result<(), ToolError> {
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        rest = &rest[letter.len_utf8()..];
        let spec = OPTIONS.specs.iter().find(|spec| spec.letter == Some(letter));
        let spec = spec.ok_or_else(|| unknown(word))?;
        let attached = Some(rest).filter(|rest| !rest.is_empty()).map(str::to_owned);
        let value = match spec.takes {
            Takes::Nothing => None,
            Takes::Value(_) => attached.or_else(&mut *next),
            Takes::Attached(_) | Takes::Number(_) => attached,
        };
        if spec.takes != Takes::Nothing {
            rest = "";
        }
        given.push(OPTIONS.give(spec, format!("-{letter}"), value)?);
    }
    Ok(())
}

fn unknown(word: &str) -> ToolError {
    OPTIONS.error(word, "is no option of ioping; see -h for all of them")
}
