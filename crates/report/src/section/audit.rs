//! What is doubtful, by cause, with the numbers that show it.

use super::block::{Block, only};
use crate::format::{counted, grouped};
use crate::report::Report;
use crate::table::{Cell, Table, Tone};
use analysis::Doubt;

/// Figures of one cause that are named; JSON and CSV have all.
const NAMED: usize = 8;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    // Each cause at its first doubt, those that withhold before the others.
    let mut causes = analysis::grouped(&report.found.audit, |one| (one.check, one.advice.as_str()));
    causes.sort_by_key(|cause| !cause[0].disqualifies());
    let rows = causes.iter().map(|cause| {
        let (word, tone) = match cause[0].disqualifies() {
            true => ("withheld", Tone::Bad),
            false => ("marked", Tone::Doubtful),
        };
        let number = cause[0].figure.map(|place| format!("#{}", place + 1));
        (cause, cause[0], word, tone, number)
    });
    let concerns = |cause: &[&Doubt], number: Option<&str>| match (cause, number) {
        ([only], Some(number)) => format!("{number} {}", only.concerns),
        ([only], None) => only.concerns.clone(),
        _ => places(cause),
    };
    let table = Table::of(rows)
        .left("check", |(_, first, _, tone, _)| Cell::toned(first.check.name(), *tone))
        .left("a promise kept", |(_, _, word, ..)| *word)
        .left("concerns", |(cause, .., number)| concerns(cause, number.as_deref()))
        .left("evidence", |(cause, first, .., number)| match number {
            Some(number) if cause.len() > 1 => format!("{number}: {}", first.evidence),
            _ => first.evidence.clone(),
        })
        .left("advice", |(_, first, ..)| first.advice.clone())
        .done();
    only("", table)
}

/// `12 figures: #1, #2, … and 4 more`; of what is no figure its own words.
fn places(cause: &[&Doubt]) -> String {
    let place =
        |one: &&Doubt| one.figure.map_or_else(|| one.concerns.clone(), |place| format!("#{}", place + 1));
    let named: Vec<String> = cause.iter().take(NAMED).map(place).collect();
    let more = match cause.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {} more", grouped(more as u64)),
    };
    format!("{}: {}{more}", counted(cause.len() as u64, "place"), named.join(", "))
}
