//! Doubts by cause, with their evidence.

use super::block::{Block, only};
use crate::format::table::{Cell, Table, Tone};
use crate::report::Report;
use crate::report::causes::of_audit;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let table = Table::of(of_audit(report))
        .left("", |one| one.mark.clone())
        .left("check", |one| {
            Cell::toned(one.name.as_str(), if one.disqualifies { Tone::Bad } else { Tone::Doubtful })
        })
        .left("a promise kept", |one| if one.disqualifies { "withheld" } else { "marked" })
        .left("concerns", |one| one.places())
        .left("evidence", |one| one.shown())
        .left("advice", |one| one.advice.clone())
        .done();
    only("", table)
}
