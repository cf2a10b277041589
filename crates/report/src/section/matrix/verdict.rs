//! How two systems compare, in sentences that name the number and the rule.

use super::{ratio, signed_percent};
use crate::format::{counted, grouped, percent};
use crate::view::matrix::{MatrixComparison, SpreadChange, TimeChange};

/// Of the second of `names` against the first one.
pub(crate) fn sentences(names: &[String; 2], one: &MatrixComparison) -> Vec<String> {
    let mut lines = Vec::new();
    let [first, second] = names;
    if !one.complete {
        let mut why = Vec::new();
        for (name, unpaired) in names.iter().zip([one.unpaired_first, one.unpaired_second]) {
            if unpaired > 0 {
                why.push(format!("{} only of {name}", counted(unpaired as u64, "launch")));
            }
        }
        let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join(", ")) };
        lines.push(format!(
            "{second} against {first}: no verdict, for not all launches of both completed and have their pairs{why}. \
             What stands below is of {} pairs.",
            one.pairs
        ));
        return lines;
    }
    lines.extend(one.real.as_ref().map(|real| time(names, real)));
    lines.extend(one.ratio_spread.as_ref().map(|spread| {
        let what = "Consistency by the spread of CPU ÷ real over launches, as the study judges it";
        consistency(what, "Standard deviation", "pairs of launches", names, spread)
    }));
    lines.extend(one.time_spread.as_ref().map(|spread| {
        let what = "Consistency by the real times of launches of one test";
        consistency(what, "Distance from the mean of the test (of logarithms)", "tests", names, spread)
    }));
    lines
}

fn time(names: &[String; 2], one: &TimeChange) -> String {
    let [first, second] = names;
    let held = match (one.low, one.high, one.confidence) {
        (Some(low), Some(high), Some(confidence)) => {
            format!(", {} to {} with {}", signed_percent(low), signed_percent(high), percent(confidence))
        }
        _ => String::new(),
    };
    let verdict = match one.outcome {
        "no difference" => "no difference".to_owned(),
        "too few values" => "too few launches for a verdict".to_owned(),
        word => format!("{second} {word}"),
    };
    format!(
        "Real time, launch by launch: {verdict}. Median change of {} pairs from {first} to {second} {}{held} (order \
         statistics; no difference where 0 is within).",
        one.pairs,
        signed_percent(one.median)
    )
}

fn consistency(what: &str, number: &str, drawn: &str, names: &[String; 2], one: &SpreadChange) -> String {
    let [first, second] = names;
    let verdict = match one.more_consistent {
        "first" => format!("more consistent is {first}"),
        "second" => format!("more consistent is {second}"),
        "no difference" => "no difference".to_owned(),
        _ => format!("too few {drawn} for a verdict"),
    };
    let held = match (one.low, one.high) {
        (Some(low), Some(high)) => format!(
            "; their ratio {} is {} to {} with {} (paired bootstrap, {} samples of {} {drawn}, seed {}; no difference \
             where 1 is within)",
            ratio(one.ratio),
            ratio(low),
            ratio(high),
            percent(one.confidence),
            grouped(one.samples as u64),
            one.n,
            one.seed
        ),
        _ => format!(" ({} {drawn})", one.n),
    };
    format!(
        "{what}: {verdict}. {number} {} of {first}, {} of {second}{held}.",
        ratio(one.first),
        ratio(one.second)
    )
}
