//! What is doubtful, by cause, with the numbers that show it.

use super::block::{Block, only};
use crate::format::{counted, grouped};
use crate::report::Report;
use crate::table::{Align, Cell, Table, Tone};
use analysis::Doubt;

/// Figures of one cause that are named; JSON and CSV have all.
const NAMED: usize = 8;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let mut table = Table::new(&[
        ("check", Align::Left),
        ("a promise kept", Align::Left),
        ("concerns", Align::Left),
        ("evidence", Align::Left),
        ("advice", Align::Left),
    ]);
    // Each cause at its first doubt, those that withhold before the others.
    let mut causes: Vec<Vec<&Doubt>> = Vec::new();
    for one in &report.found.audit {
        match causes.iter_mut().find(|cause| (cause[0].check, &cause[0].advice) == (one.check, &one.advice)) {
            Some(cause) => cause.push(one),
            None => causes.push(vec![one]),
        }
    }
    causes.sort_by_key(|cause| !cause[0].disqualifies());
    for cause in &causes {
        let first = cause[0];
        let (word, tone) = match first.disqualifies() {
            true => ("withheld", Tone::Bad),
            false => ("marked", Tone::Doubtful),
        };
        let (concerns, evidence) = match (cause.len(), first.figure.map(|place| place + 1)) {
            (1, Some(number)) => (format!("#{number} {}", first.concerns), first.evidence.clone()),
            (1, None) => (first.concerns.clone(), first.evidence.clone()),
            (_, number) => {
                let number = number.map(|number| format!("#{number}: ")).unwrap_or_default();
                (places(cause), format!("{number}{}", first.evidence))
            }
        };
        table.row(vec![
            Cell::toned(first.check.name(), tone),
            word.into(),
            concerns.into(),
            evidence.into(),
            first.advice.clone().into(),
        ]);
    }
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
