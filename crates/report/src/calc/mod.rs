//! What `ioproof calc` prints: the formulas of the analysis with their numbers put in, so that a
//! reader can follow each of them with a pencil. An error says what of the question has no answer.

mod rates;
mod samples;

use plan::Amount;

pub use rates::{balance, bound, crossover, drives, job, little, margin, scalability, tax, units};
pub use samples::{compare, curve, difference, regression, statistics, values};

use crate::format::{grouped, latency, rate, whole};

/// Names stand in a column of this width, so that the numbers can be compared.
const NAME_COLUMNS: usize = 24;

/// One line of a result: what it is, its value, and how it came about.
fn line(name: &str, value: &str, how: &str) -> String {
    let how = if how.is_empty() { String::new() } else { format!("   {how}") };
    format!("{name:<NAME_COLUMNS$} {value}{how}\n")
}

/// Two rates as numbers of one unit.
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
