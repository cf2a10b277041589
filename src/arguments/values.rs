//! Values of options, written as in studies.

use std::fmt;

use dialect::import::Format;
use plan::{Amount, Binding, Bytes, Nanos, UnitError};

/// A rate given by hand: of one phase, or of all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct GivenRate {
    pub(crate) phase: Option<plan::Phase>,
    pub(crate) rate: Amount,
}

/// As it is written after `--expect`.
impl fmt::Display for GivenRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(phase) = self.phase {
            write!(f, "{phase}=")?;
        }
        match self.rate {
            Amount::BytesPerSecond(rate) => write!(f, "{rate}B/s"),
            Amount::OperationsPerSecond(rate) => write!(f, "{rate}/s"),
            Amount::Latency { nanos, .. } => write!(f, "{nanos}ns"),
        }
    }
}

/// A time, as 30s.
pub(crate) fn time(text: &str) -> Result<Nanos, String> {
    Nanos::parse_study(text).map_err(told)
}

/// A size above 0, as 4KiB.
pub(crate) fn size(text: &str) -> Result<Bytes, String> {
    match Bytes::parse_study(text) {
        Ok(Bytes(0)) => Err("a size of 0 bytes cannot be measured; give a size, for example 4KiB".to_owned()),
        Ok(bytes) => Ok(bytes),
        Err(error) => Err(told(error)),
    }
}

/// A form of another tool's output, as fio-json.
pub(crate) fn import_format(text: &str) -> Result<Format, String> {
    Format::named(text).ok_or_else(|| format!("unknown tool; the known tools are {}", known_formats()))
}

/// The description of an option whose value is an [`import_format`].
pub(crate) fn import_formats() -> String {
    format!("The tool, if it is not recognised: {}", known_formats())
}

fn known_formats() -> String {
    Format::all().map(Format::name).collect::<Vec<_>>().join(", ")
}

/// A time, as 500ms; a bare number means seconds.
pub(crate) fn seconds(text: &str) -> Result<Nanos, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => time(&format!("{text}s")),
        _ => time(text),
    }
}

/// A size above 0 of a message, as 1k, 4KiB or 1: network tools write powers of 1024 as bare letters.
pub(crate) fn message(text: &str) -> Result<Bytes, String> {
    let text = text.trim();
    let binary = text.strip_suffix(['k', 'K', 'm', 'M', 'g', 'G']);
    let letter = text.chars().last().unwrap_or_default().to_ascii_uppercase();
    match binary.filter(|number| number.parse::<u64>().is_ok()) {
        Some(number) => size(&format!("{number}{letter}iB")),
        None if text.parse::<u64>().is_ok() => size(&format!("{text}B")),
        None => size(text),
    }
}

/// A word of the other party of a signed record.
pub(crate) fn nonce(text: &str) -> Result<String, String> {
    const LENGTH_MAX: usize = 256;
    let is_word = (1..=LENGTH_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    is_word
        .then(|| text.to_owned())
        .ok_or_else(|| format!("use 1 to {LENGTH_MAX} printable ASCII characters without spaces"))
}

/// Processors, as `plan::Binding` writes them.
pub(crate) fn binding(text: &str) -> Result<Binding, String> {
    text.parse().map_err(|error: plan::PlanError| format!("{}; {}", error.message, error.help))
}

fn told(error: UnitError) -> String {
    format!("{}; {}", error.message, error.help)
}

/// A rate, as 2GB/s or 30000/s, of all phases or as read=2GB/s of one.
pub(crate) fn given_rate(text: &str) -> Result<GivenRate, String> {
    let (of, rate) = match text.split_once('=') {
        Some((name, rate)) => (Some(phase(name)?), rate),
        None => (None, text),
    };
    Amount::parse_rate(rate).map(|rate| GivenRate { phase: of, rate }).map_err(told)
}

/// A phase, by its word in records.
pub(crate) fn phase(text: &str) -> Result<plan::Phase, String> {
    let names = || plan::Phase::ALL.map(plan::Phase::name).join(", ");
    plan::Phase::named(text).ok_or_else(|| format!("unknown phase; the phases are {}", names()))
}

/// A figure of a run, as `read.rate`.
pub(crate) fn figure(text: &str) -> Result<plan::FigureName, String> {
    text.parse().map_err(|error: plan::LimitError| error.to_string())
}

/// A tag of a run.
pub(crate) fn tag(text: &str) -> Result<String, String> {
    record::Tags::is_tag(text)
        .then(|| text.to_owned())
        .ok_or_else(|| "a tag is one word of letters, digits and `-_.:`, and has at most 64 bytes".to_owned())
}

/// The beginning of a day or of a minute, in nanoseconds since 1970-01-01 UTC.
pub(crate) fn since(text: &str) -> Result<i64, String> {
    moment(text).map(|(begin, _)| begin)
}

/// The end of a day or of a minute, in nanoseconds since 1970-01-01 UTC.
pub(crate) fn until(text: &str) -> Result<i64, String> {
    moment(text).map(|(_, end)| end)
}

/// The beginning and the end of the day, minute or second that `text` names.
fn moment(text: &str) -> Result<(i64, i64), String> {
    const SECOND: i128 = 1_000_000_000;
    let utc = |time: jiff::civil::DateTime| {
        time.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
    };
    let is_date = text.len() <= "2026-11-30".len();
    // A time zone may have a colon, too.
    let time = text.get("2026-11-30".len()..).unwrap_or_default();
    let time = time.split(['+', '-', 'Z']).next().unwrap_or_default();
    let is_minute = time.matches(':').count() == 1;
    let begin = match text.parse::<jiff::Timestamp>() {
        Ok(time) => Some(time),
        Err(_) => text.parse::<jiff::civil::DateTime>().ok().and_then(utc),
    };
    let length = match (is_date, is_minute) {
        (true, _) => 86_400 * SECOND,
        (_, true) => 60 * SECOND,
        _ => SECOND,
    };
    begin
        .and_then(|begin| {
            let begin = begin.as_nanosecond();
            Some((i64::try_from(begin).ok()?, i64::try_from(begin + length - 1).ok()?))
        })
        .ok_or_else(|| {
            "write a date, as 2026-11-30, or a time, as 2026-11-30T14:00 or 2026-11-30T14:00:00Z".to_owned()
        })
}
