//! The commitments of a study in one table: what was promised, what was reached, and what was published.

use std::collections::HashMap;

use analysis::{
    comparisons::{PublishedComparison, Verdict},
    gate::{Judgement, Stated},
};
use plan::Bound;

use crate::format::counted;
use crate::format::table::{Cell, Table, Tone};
use crate::report::Report;
use crate::section::statements::tone;
use crate::section::{Block, criterion, is_result, promised_unit, promised_value, published_value};

/// Maximum number of commitments on a card.
const LISTED_MAX: usize = 8;

/// The verdicts of all commitments, failed ones first.
pub(crate) fn by_judgement(report: &Report) -> Vec<&Verdict> {
    let mut all: Vec<&Verdict> = report.found.verdicts.iter().filter_map(Stated::says).collect();
    all.sort_by_key(|one| urgency(one.judgement));
    all
}

/// Sort key: failed and refuted ones first.
pub(crate) fn urgency(judgement: Judgement) -> u8 {
    match judgement {
        Judgement::DoesNotHold => 0,
        Judgement::CannotTell | Judgement::NotTested => 1,
        Judgement::Holds => 2,
    }
}

/// A row for each commitment, and what a reader must know about all of them. `marks` are those of doubtful figures, by
/// number.
pub(super) fn blocks(report: &Report, marks: &HashMap<usize, String>) -> Vec<Block> {
    let mut all = by_judgement(report);
    if all.is_empty() {
        return Vec::new();
    }
    let more = if all.len() > LISTED_MAX + 1 { all.split_off(LISTED_MAX) } else { Vec::new() };
    let mark =
        |one: &Verdict| one.figure.and_then(|place| marks.get(&(place + 1))).cloned().unwrap_or_default();
    let value = |one: &Verdict, value: Option<f64>| value.map(|value| promised_value(report, one, value));
    let table = Table::of(all.iter().copied())
        .left("", |one| Cell::toned(one.word(), tone(one.judgement)))
        .left("commitment", |one| one.commitment.name.clone())
        .right("promised", |one| promised(report, one))
        .right("reached", |one| Cell::toned(value(one, one.measured).unwrap_or_default(), Tone::Main))
        .right("at worst", |one| value(one, worst(one)))
        .right("published", |one| published(report, one).map(|other| published_value(other, other.value())))
        .left("!", |one| Cell::toned(mark(one), Tone::Doubtful))
        .left("why", |one| why(one))
        .done()
        .below("why")
        .without_empty_columns();
    let mut blocks = vec![Block::Table { caption: String::new(), table }];
    if !more.is_empty() {
        let count = |word: &&str| {
            let count = more.iter().filter(|one| one.word() == *word).count();
            (count > 0).then(|| format!("{count} {word}"))
        };
        let counts: Vec<String> = Judgement::OF_COMMITMENTS.iter().filter_map(count).collect();
        let more = counted(more.len() as u64, "more commitment");
        blocks.push(Block::Text(format!("{more}: {}.", counts.join(", "))));
    }
    let decided = |one: &&&Verdict| matches!(one.judgement, Judgement::Holds | Judgement::DoesNotHold);
    if all.iter().filter(decided).any(|one| !mark(one).is_empty()) {
        let text = "The doubts marked here do not change these verdicts; the verdict sheet says why.";
        blocks.push(Block::Text(text.to_owned()));
    }
    blocks
}

/// `≥ 900 GB/s`, `p99 ≤ 5 ms`.
fn promised(report: &Report, one: &Verdict) -> String {
    let side = match one.commitment.bound {
        Bound::AtLeast => "≥",
        Bound::AtMost => "≤",
    };
    criterion(one.asked(), side, promised_unit(report, one))
}

/// The bound of the median that decided, unless it is the measured value itself.
fn worst(one: &Verdict) -> Option<f64> {
    one.decisive_bound().map(|(_, end)| end).filter(|&end| one.measured != Some(end))
}

/// Why it is doubtful or not tested. The reason of an untested commitment follows the name of its case.
fn why(one: &Verdict) -> String {
    let first = one.because.first().map(String::as_str).unwrap_or_default();
    match one.judgement {
        Judgement::NotTested => first.rsplit(": ").next().unwrap_or(first).to_owned(),
        _ => first.to_owned(),
    }
}

/// What others measured beside the figure that decided, in the unit of the commitment.
fn published<'a>(report: &'a Report, one: &Verdict) -> Option<&'a PublishedComparison> {
    let amount = one.amount?;
    let is_alike = |other: &&PublishedComparison| is_result(other) && other.unit() == amount.unit();
    let is_beside = |other: &&PublishedComparison| match other.figure {
        Some(place) => one.figure == Some(place) || one.about.contains(&place),
        None => false,
    };
    // Of several promises about one figure, the published one belongs to that which it is nearest to.
    let distance = |promised: &Verdict, value: f64| {
        promised.promised().map_or(f64::INFINITY, |promised| (value / promised).ln().abs())
    };
    let is_nearest = |other: &&PublishedComparison| {
        let all = report.found.verdicts.iter().filter_map(Stated::says);
        let mut rivals = all.filter(|rival| rival.figure == one.figure && rival.place != one.place);
        !rivals.any(|rival| distance(rival, other.value()) < distance(one, other.value()))
    };
    let results = report.found.published.iter().filter_map(Stated::says).filter(is_alike);
    results.filter(is_beside).find(is_nearest)
}
