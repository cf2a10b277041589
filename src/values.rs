//! Values of options, written as in studies.

use dialect::import::Format;
use plan::{Bytes, Nanos, UnitError};

/// A time, as 30s.
pub(crate) fn time(text: &str) -> Result<Nanos, String> {
    Nanos::parse_study(text).map_err(told)
}

/// A size above 0, as 4KiB.
pub(crate) fn size(text: &str) -> Result<Bytes, String> {
    match Bytes::parse_study(text) {
        Ok(Bytes(0)) => Err("0 bytes are nothing to measure; write a size as 4KiB".to_owned()),
        Ok(bytes) => Ok(bytes),
        Err(error) => Err(told(error)),
    }
}

/// A form of another tool's output, as fio-json.
pub(crate) fn import_format(text: &str) -> Result<Format, String> {
    let known = || Format::ALL.map(Format::name).join(", ");
    let found = Format::ALL.into_iter().find(|format| format.name() == text);
    found.ok_or_else(|| format!("no such tool is known; known are {}", known()))
}

fn told(error: UnitError) -> String {
    format!("{}; {}", error.message, error.help)
}

/// A phase, by its word in records.
pub(crate) fn phase(text: &str) -> Result<plan::Phase, String> {
    let found = plan::Phase::ALL.into_iter().find(|phase| phase.name() == text);
    let names = || plan::Phase::ALL.map(plan::Phase::name).join(", ");
    found.ok_or_else(|| format!("no such phase; there are {}", names()))
}
