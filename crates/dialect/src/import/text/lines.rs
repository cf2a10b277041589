//! Numbered lines of a text, and the values in them.

use crate::import::error::ImportError;
use crate::import::error::shown;

/// A line of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// The number of the line, from 1.
    pub(crate) number: u32,
    /// The text of the line without its end.
    pub(crate) text: &'a str,
    /// Whether its end is in the text. Without it, the last value may be cut off.
    pub(crate) has_end: bool,
}

impl<'a> Line<'a> {
    /// A line with its end, if the text has it.
    fn of(whole: &'a str, number: u32) -> Self {
        let text = whole.strip_suffix('\n').unwrap_or(whole).trim_end_matches('\r');
        Self { number, text, has_end: whole.ends_with('\n') }
    }
}

/// The lines of one output of one tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block<'a> {
    pub(crate) file: &'a str,
    pub(crate) tool: &'static str,
    pub(crate) lines: &'a [Line<'a>],
}

/// The lines of `text`, the first of which has the number `first`.
pub(crate) fn numbered(text: &str, first: u32) -> impl Iterator<Item = Line<'_>> {
    text.split_inclusive('\n').zip(first..).map(|(whole, number)| Line::of(whole, number))
}

impl<'a> Block<'a> {
    /// The error for a `line` whose content is not as expected.
    pub(crate) fn malformed(&self, line: Line<'_>, found: &str, expected: impl Into<String>) -> ImportError {
        ImportError::Malformed {
            file: self.file.to_owned(),
            line: line.number,
            found: shown(found),
            expected: expected.into(),
            next: match has_decimal_comma(found) {
                true => format!("run {} with LC_ALL=C, so that it prints decimal points", self.tool),
                false => format!("give the unmodified output of {}", self.tool),
            },
        }
    }

    /// The error for an incomplete output.
    pub(crate) fn ended(&self, expected: impl Into<String>) -> ImportError {
        ImportError::Ended {
            file: self.file.to_owned(),
            line: self.lines.last().map_or(1, |line| line.number),
            tool: self.tool.to_owned(),
            expected: expected.into(),
        }
    }

    /// The error for a line that is correct but cannot be used.
    pub(crate) fn unusable(&self, line: Line<'_>, what: impl Into<String>, next: &str) -> ImportError {
        ImportError::Unusable {
            file: self.file.to_owned(),
            line: line.number,
            what: what.into(),
            next: next.to_owned(),
        }
    }

    /// Parses `text`, in `line`, as a number. `what` describes the expected value.
    pub(crate) fn number(&self, line: Line<'_>, text: &str, what: &str) -> Result<f64, ImportError> {
        number(text).ok_or_else(|| self.malformed(line, text, what))
    }

    /// Parses `text`, in `line`, as a whole number.
    pub(crate) fn count(&self, line: Line<'_>, text: &str, what: &str) -> Result<u64, ImportError> {
        text.trim().parse().map_err(|_| self.malformed(line, text, what))
    }

    /// The value in the first line that begins with one of `labels` followed by `:`, `=` or blanks.
    pub(crate) fn value_of(&self, labels: &[&str]) -> Option<(Line<'a>, &'a str)> {
        self.lines
            .iter()
            .find_map(|line| labels.iter().find_map(|label| Some((*line, labelled(line.text, label)?))))
    }
}

/// Whether `text` is a number in the form of languages that separate decimals by a comma.
fn has_decimal_comma(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    text.trim().split_once(',').is_some_and(|(whole, decimals)| is_number(whole) && is_number(decimals))
}

/// The part of `text` after `label` and a `:` or `=`.
pub(crate) fn labelled<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    let rest = strip_prefix_any_case(text.trim_start(), label)?.trim_start();
    rest.strip_prefix([':', '=']).map(str::trim)
}

/// `text` without `prefix`, ignoring case.
pub(crate) fn strip_prefix_any_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// The part of `text` between `before` and `after`.
pub(crate) fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let rest = text.split_once(before)?.1;
    Some(if after.is_empty() { rest } else { rest.split_once(after)?.0 })
}

/// Parses a finite, non-negative number as printed by programs.
pub(crate) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let plain = text.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let value: f64 = text.parse().ok().filter(|_| plain)?;
    (value.is_finite() && value <= NUMBER_MAX).then_some(value)
}

/// Upper bound of every figure of every tool, which fits into `u64`.
const NUMBER_MAX: f64 = 9e18;

/// Rounds `value` to the nearest whole number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to what u64 and f64 have in common"
)]
pub(crate) fn whole(value: f64) -> u64 {
    value.round().clamp(0.0, NUMBER_MAX) as u64
}

/// Converts `seconds` to nanoseconds.
pub(crate) fn nanos(seconds: f64) -> u64 {
    whole(seconds * 1e9)
}

/// Nanoseconds in which `amount` is moved at `rate`, or `None` if nothing is moved.
pub(crate) fn nanos_at(amount: f64, rate: f64) -> Option<u64> {
    (amount > 0.0 && rate > 0.0).then(|| nanos(amount / rate))
}

/// Converts to `u32`, limited to its maximum.
pub(crate) fn narrow(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
