//! Doubts by cause, with their evidence.

use super::block::{Block, only};
use crate::format::table::{Cell, Table, Tone};
use crate::report::Report;
use crate::report::causes::of_audit;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let table = Table::of(of_audit(&report.found.audit))
        .left("", |one| one.mark.clone())
        .left("check", |one| {
            let tone = match (one.disqualifies, one.is_observation()) {
                (true, _) => Tone::Bad,
                (false, true) => Tone::Plain,
                (false, false) => Tone::Doubtful,
            };
            Cell::toned(one.name.as_str(), tone)
        })
        .left("a promise kept", |one| match (one.disqualifies, one.is_observation()) {
            (true, _) => "withheld",
            (false, true) => "stated",
            (false, false) => "marked",
        })
        .left("concerns", |one| one.places())
        .left("evidence", |one| one.shown())
        .left("advice", |one| one.advice.clone())
        .done();
    only("", table)
}
