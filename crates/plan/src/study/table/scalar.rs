//! Numbers, sizes and times written as text, and ranges of them: `33..264 step 33`, `4KiB..16MiB times 2`.

use std::ops::RangeInclusive;

use super::definition::{Key, ValueKind};
use super::range::{Growth, Range, Scalar};
use crate::text::visible::shown;
use crate::{Bytes, Nanos};

/// Tolerance for the last number of a range, as a share of a step: the error of adding decimal fractions in
/// binary.
const ROUNDING: f64 = 1e-9;

/// The message of an error and what is allowed; if the help is empty, that of the kind is used.
pub(crate) type ValueError = (String, String);

/// Reads a number, size or time written as text.
pub(crate) fn scalar(key: &Key, text: &str) -> Result<Scalar, ValueError> {
    let plain = || (format!("`{}` cannot be {}", key.name, shown(text)), String::new());
    let number = |least: f64, most: f64| {
        let number: Option<f64> = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.map(Scalar::Number).ok_or_else(plain)
    };
    match key.kind {
        ValueKind::Size => Bytes::parse_study(text).map(|size| Scalar::Integer(size.0)).map_err(unit),
        ValueKind::Time => Nanos::parse_study(text).map(|time| Scalar::Integer(time.0)).map_err(unit),
        ValueKind::Count(least, most) => integer(key, text, 10, least..=most).map(Scalar::Integer),
        ValueKind::Rate => rate(text).map(Scalar::Number),
        ValueKind::Number(least, most) => number(least, most),
        ValueKind::Share => number(0.0, 1.0),
        _ => number(f64::MIN, f64::MAX),
    }
}

pub(super) fn unit(error: crate::UnitError) -> ValueError {
    (error.message, error.help)
}

pub(super) fn integer(
    key: &Key,
    digits: &str,
    radix: u32,
    allowed: RangeInclusive<u64>,
) -> Result<u64, ValueError> {
    match u64::from_str_radix(digits, radix) {
        Ok(number) if allowed.contains(&number) => Ok(number),
        _ => Err((format!("`{}` cannot be {}", key.name, shown(digits)), String::new())),
    }
}

fn rate(written: &str) -> Result<f64, ValueError> {
    match written.parse() {
        Ok(number) if number > 0.0 && number <= 1e9 => Ok(number),
        _ => Err((format!("{} transfers per second cannot be paced", shown(written)), String::new())),
    }
}

/// Whether `text` is a range.
pub(crate) fn is_range(text: &str) -> bool {
    text.contains("..")
}

impl Range {
    /// Reads a range of values of `key`, both ends included.
    pub(crate) fn parse(key: &Key, text: &str) -> Result<Self, ValueError> {
        let wrong = |message: String, help: String| Err((message, help));
        let written = shown(text.trim());
        let (from, rest) = text.split_once("..").ok_or_else(|| (String::new(), String::new()))?;
        let rest = rest.trim();
        let split = ["step", "times"].into_iter().find_map(|word| Some((word, rest.split_once(word)?)));
        let is_count = matches!(key.kind, ValueKind::Count(..));
        let by_one = (is_count && !rest.contains(char::is_whitespace)).then_some(("step", (rest, "1")));
        let Some((word, (to, by))) = split.or(by_one) else {
            let example = match is_count {
                true => "\"4..16 step 4\" or \"1..64 times 2\"",
                false => "\"4KiB..16KiB step 4KiB\" or \"4KiB..1MiB times 2\"",
            };
            let help = format!("say how to get from one value to the next: {example}");
            return wrong(format!("the range `{written}` has no step"), help);
        };
        let (from, to, by) = (from.trim(), to.trim(), by.trim());
        let (first, last) = (end_of(key, from)?, end_of(key, to)?);
        if first.order() >= last.order() {
            let message = format!("the range `{written}` does not rise");
            return wrong(message, "write the smaller end first, then a larger one".to_owned());
        }
        let range = match (first, last, word) {
            (Scalar::Integer(first), Scalar::Integer(last), "step") => {
                let step = whole_step(key, by)?;
                Self::Whole {
                    from: first,
                    growth: Growth::Step(step),
                    count: (last - first) / step.max(1) + 1,
                }
            }
            (Scalar::Integer(first), Scalar::Integer(last), _) => Self::whole_times(first, last, by)?,
            (Scalar::Number(first), Scalar::Number(last), _) => Self::number(first, last, word, by)?,
            _ => return wrong(format!("`{}` cannot have a range", key.name), "list its values".to_owned()),
        };
        range.reaches(key, &written, to)?;
        Ok(range)
    }

    fn whole_times(first: u64, last: u64, by: &str) -> Result<Self, ValueError> {
        let Some(factor) = by.parse().ok().filter(|&factor: &u64| factor >= 2) else {
            let help = "the factor is a whole number, 2 or more: \"4KiB..16MiB times 2\"";
            return Err((format!("`times {}` does not give a range", shown(by)), help.to_owned()));
        };
        if first == 0 {
            let help = "start above 0, or write a step: \"0..100 step 5\"";
            return Err((format!("0 times {factor} stays 0"), help.to_owned()));
        }
        let values = std::iter::successors(Some(first), |value| value.checked_mul(factor));
        let count = values.take_while(|value| *value <= last).count() as u64;
        Ok(Self::Whole { from: first, growth: Growth::Times(factor), count })
    }

    fn number(first: f64, last: f64, word: &str, by: &str) -> Result<Self, ValueError> {
        let least = if word == "step" { 0.0 } else { 1.0 };
        let Some(by) = by.parse().ok().filter(|by: &f64| by.is_finite() && *by > least) else {
            let help = format!("write a number above {least} after `{word}`");
            return Err((format!("`{word} {}` does not give a range", shown(by)), help));
        };
        let (growth, steps) = match word {
            "step" => (Growth::Step(by), (last - first) / by),
            _ => (Growth::Times(by), (last / first).ln() / by.ln()),
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, as the range rises; `as` saturates"
        )]
        let count = (steps + ROUNDING).floor() as u64;
        Ok(Self::Number { from: first, growth, count: count.saturating_add(1) })
    }

    /// Rejects a range whose steps do not reach its end.
    fn reaches(&self, key: &Key, written: &str, to: &str) -> Result<(), ValueError> {
        let last = self.at(self.count() - 1);
        let wanted = end_of(key, to)?;
        let (last_order, wanted_order) = (last.order(), wanted.order());
        if (last_order - wanted_order).abs() <= wanted_order.abs() * ROUNDING {
            return Ok(());
        }
        let last = key.setting(&last.into());
        let help = format!("write {last} as its end, or a step that reaches {}", shown(to));
        Err((format!("the range `{written}` ends at {last}, not at {}", shown(to)), help))
    }
}

/// An end of a range, read as a value of `key`.
fn end_of(key: &Key, text: &str) -> Result<Scalar, ValueError> {
    if text.is_empty() {
        let help = "write both, for example \"1..8 step 1\"";
        return Err(("a range needs both ends".to_owned(), help.to_owned()));
    }
    scalar(key, text)
}

/// The step of a range of sizes, times or counts.
fn whole_step(key: &Key, text: &str) -> Result<u64, ValueError> {
    // A step need not be a valid value of the key: 0 to 100 in steps of 5 are not shares of 105.
    let step = match key.kind {
        ValueKind::Count(..) => text.parse().ok(),
        _ => match scalar(key, text)? {
            Scalar::Integer(step) => Some(step),
            _ => None,
        },
    };
    match step {
        Some(step) if step > 0 => Ok(step),
        Some(_) => Err(("a step of 0 never ends".to_owned(), "write a step above 0".to_owned())),
        None => {
            Err((format!("`{}` is not a step", shown(text)), "write a whole number after `step`".to_owned()))
        }
    }
}
