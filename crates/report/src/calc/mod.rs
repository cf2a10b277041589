//! Output of `ioproof calc`: the formulas of the analysis with numbers substituted, so that each result can
//! be checked by hand. An error states which part of the question has no answer.

mod rates;
mod samples;

use plan::Amount;

pub use rates::{balance, bound, crossover, drives, job, little, margin, scalability, tax, units};
pub use samples::{compare, curve, difference, regression, statistics, values};

use crate::format::{grouped, latency, rate, whole};

/// Width of the name column, so that the numbers line up.
const NAME_COLUMNS: usize = 24;

/// One line of a result: its name, its value, and how it was computed.
fn line(name: &str, value: &str, how: &str) -> String {
    let how = if how.is_empty() { String::new() } else { format!("   {how}") };
    format!("{name:<NAME_COLUMNS$} {value}{how}\n")
}

/// Two rates as numbers of the same unit.
fn alike(one: Amount, other: Amount) -> Result<(f64, f64), String> {
    match (one, other) {
        (Amount::BytesPerSecond(one), Amount::BytesPerSecond(other))
        | (Amount::OperationsPerSecond(one), Amount::OperationsPerSecond(other))
            if one > 0.0 && other > 0.0 =>
        {
            Ok((one, other))
        }
        _ => Err(format!(
            "{} and {} cannot be compared: write both as bytes per second (2GB/s) or both as operations \
             per second (1000000/s)",
            shown(one),
            shown(other)
        )),
    }
}

/// A rate with its unit.
fn shown(amount: Amount) -> String {
    match amount {
        Amount::BytesPerSecond(value) => rate(value),
        Amount::OperationsPerSecond(value) if value < 100.0 => format!("{value:.2}/s"),
        Amount::OperationsPerSecond(value) => format!("{}/s", grouped(whole(value))),
        Amount::Latency { nanos, .. } => latency(whole(nanos)),
    }
}

/// `value` in the unit of `like`.
fn like(like: Amount, value: f64) -> String {
    shown(match like {
        Amount::BytesPerSecond(_) => Amount::BytesPerSecond(value),
        _ => Amount::OperationsPerSecond(value),
    })
}
