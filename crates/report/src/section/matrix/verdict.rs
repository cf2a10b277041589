//! How two systems compare, in sentences that name the number and the rule.

use super::{Scale, ratio, signed_number, signed_percent};
use crate::format::{counted, grouped, number, percent};
use crate::section::{Block, only};
use crate::table::{Align, Cell, Table, Tone};
use crate::view::matrix::{MatrixComparison, SpreadChange, TimeChange};

/// Of the second of `names` against the first one.
pub(super) fn sentences(names: &[String; 2], one: &MatrixComparison) -> Vec<String> {
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
    let few = one.columns.iter().all(|column| column.outcome == "too few passes");
    // The next pass may tell otherwise: launches of one pass share what went on meanwhile.
    let within = if few { "in these passes " } else { "" };
    lines.extend(one.real.as_ref().map(|real| time(within, names, real)));
    lines.extend(one.ratio_spread.as_ref().map(|spread| {
        let what = "Consistency by the spread of CPU ÷ real over launches, as the study judges it";
        consistency([what, within], ["Standard deviation", "pairs of launches"], names, spread)
    }));
    lines.extend(one.time_spread.as_ref().map(|spread| {
        let what = "Consistency by the real times of launches of one test";
        let number = "Distance from the mean of the test (of logarithms)";
        consistency([what, within], [number, "tests"], names, spread)
    }));
    if few {
        lines.push(format!(
            "{second} against {first}: too few passes of both for a test of the sums. The intervals here know how \
             launches scatter, and not how one pass differs from the next: repeat the matrix five times for that."
        ));
    }
    lines
}

fn time(within: &str, names: &[String; 2], one: &TimeChange) -> String {
    let [first, second] = names;
    let held = match (one.low, one.high, one.confidence) {
        (Some(low), Some(high), Some(confidence)) => {
            format!(", {} to {} with {}", signed_percent(low), signed_percent(high), percent(confidence))
        }
        _ => String::new(),
    };
    let verdict = match one.outcome {
        "not shown" => "no difference was shown".to_owned(),
        "too few values" => "too few launches for a verdict".to_owned(),
        word => format!("{within}{second} {word}"),
    };
    format!(
        "Real time, launch by launch: {verdict}. Median change of {} pairs from {first} to {second} {}{held} (order \
         statistics; none is shown where 0 is within).",
        one.pairs,
        signed_percent(one.median)
    )
}

fn consistency(
    [what, within]: [&str; 2],
    [number, drawn]: [&str; 2],
    names: &[String; 2],
    one: &SpreadChange,
) -> String {
    let [first, second] = names;
    let verdict = match one.more_consistent {
        "first" => format!("{within}more consistent is {first}"),
        "second" => format!("{within}more consistent is {second}"),
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

/// One matrix of two runs: what changed.
pub(crate) fn of_runs(names: &[String; 2], one: &MatrixComparison, same_work: bool) -> Vec<Block> {
    let words = "The jobs of both runs are not the same (scale, seed, tables or tests): no verdict, for their sums are of \
                 different work.";
    let mut blocks =
        vec![Block::List(if same_work { sentences(names, one) } else { vec![words.to_owned()] })];
    let largest = |place: usize| one.columns.get(place).map_or(0.0, |column| column.first.max(column.second));
    let scale = Scale::of_largest(largest(0), largest(1));
    let headings = scale.headings();
    let mut columns = vec![("", Align::Left), ("launches", Align::Right)];
    columns.extend(headings.iter().map(|heading| (heading.as_str(), Align::Right)));
    let mut table = Table::new(&columns);
    let tone = if one.complete && same_work { Tone::Main } else { Tone::Doubtful };
    let mut row = |name: &str, tone: Tone, cells: Vec<String>| {
        let mut all = vec![Cell::from(name), one.pairs.to_string().into()];
        all.extend(cells.into_iter().map(|text| Cell::toned(text, tone)));
        table.row(all);
    };
    let scaled = || one.columns.iter().zip(scale.divisors());
    row(&names[0], Tone::Plain, scaled().map(|(column, divisor)| number(column.first / divisor)).collect());
    row(&names[1], Tone::Plain, scaled().map(|(column, divisor)| number(column.second / divisor)).collect());
    row("Δ", tone, scaled().map(|(column, divisor)| signed_number(column.delta / divisor)).collect());
    let shares = one.columns.iter().map(|column| column.share.map(signed_percent).unwrap_or_default());
    row("Δ in percent", tone, shares.collect());
    let outcomes = one.columns.iter().map(|column| column.outcome.to_owned());
    row("over passes (Mann–Whitney)", tone, outcomes.collect());
    blocks.extend(only("Jobs as a whole: sums over all launches that both runs completed", table));
    blocks
}
