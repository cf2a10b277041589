//! The first thing to read: whether promises were kept, each with the conditions of its figure.

use super::{Block, amount, conditions, figure, in_unit, only, signed};
use crate::format::{percent, rate_in};
use crate::table::{Align, Cell, Table, Tone};
use crate::view::Report;
use crate::view::findings::Verdict;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let verdicts = &report.findings.verdicts;
    if verdicts.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Text(counts(verdicts))];
    let mut table = Table::new(&[
        ("verdict", Align::Left),
        ("commitment", Align::Left),
        ("promised", Align::Right),
        ("measured", Align::Right),
        ("margin", Align::Right),
        ("at worst", Align::Right),
        ("#", Align::Right),
        ("conditions", Align::Left),
    ])
    .below("conditions");
    for one in verdicts {
        let counted = one.figure.and_then(|number| figure(report, number)).filter(|own| own.is_operations());
        // What is done once for each file is called by its name.
        let in_words = |value: f64| match (one.promised.unit, counted) {
            ("ops/s", Some(own)) => rate_in(value, own.unit),
            (unit, _) => in_unit(value, unit),
        };
        let promised = match one.promised.unit {
            "ops/s" => in_words(one.promised.value),
            _ => amount(&one.promised),
        };
        let value = |value: Option<f64>| value.map(in_words);
        let at_worst = value(one.unfavourable_end)
            .zip(one.confidence)
            .map(|(end, confidence)| format!("{end} ({})", percent(confidence)));
        table.row(vec![
            Cell::toned(one.judgement, tone(one.judgement)),
            name(one).into(),
            format!("{} {promised}", one.side).into(),
            value(one.measured).unwrap_or_default().into(),
            one.margin.map(signed).unwrap_or_default().into(),
            at_worst.unwrap_or_default().into(),
            Cell::figure(one.figure),
            conditions_of(report, one).into(),
        ]);
    }
    blocks.extend(only("Each commitment, as it was fixed before the run", table));
    let reasons = verdicts.iter().flat_map(|one| {
        one.because.iter().map(move |why| format!("{} is {}: {why}.", one.name, one.judgement))
    });
    let reasons: Vec<String> = reasons.collect();
    if !reasons.is_empty() {
        blocks.push(Block::List(reasons));
    }
    blocks.push(Block::Text(
        "Measured: the figure that decided. At worst: the bound of the median on the unfavourable side, with its \
         confidence. A figure that is too short, cached or flagged by the audit cannot pass."
            .to_owned(),
    ));
    blocks
}

fn name(one: &Verdict) -> String {
    if one.by.is_empty() { one.name.clone() } else { format!("{} ({})", one.name, one.by) }
}

fn conditions_of(report: &Report, one: &Verdict) -> String {
    let of = format!("{}, {}", one.concerns, one.judged_by);
    match one.figure.and_then(|number| figure(report, number)) {
        Some(own) => format!("{}; {of}", conditions(report, own)),
        None if one.conditions.is_empty() => of,
        None => format!("{}; {of}", one.conditions),
    }
}

fn tone(judgement: &str) -> Tone {
    match judgement {
        "PASS" => Tone::Good,
        "FAIL" => Tone::Bad,
        _ => Tone::Doubtful,
    }
}

/// `4 commitments: 2 PASS, 1 FAIL, 1 NOT TESTED.`
fn counts(verdicts: &[Verdict]) -> String {
    let parts: Vec<String> = ["PASS", "FAIL", "DOUBTFUL", "NOT TESTED"]
        .iter()
        .map(|&word| (word, verdicts.iter().filter(|one| one.judgement == word).count()))
        .filter(|(_, count)| *count > 0)
        .map(|(word, count)| format!("{count} {word}"))
        .collect();
    format!("{}: {}.", crate::format::counted(verdicts.len() as u64, "commitment"), parts.join(", "))
}
