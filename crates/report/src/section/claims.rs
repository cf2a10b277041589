//! What studies and the user stated, and what own data say of it.

use super::{Block, only};
use crate::table::{Align, Cell, Table, Tone};
use crate::view::Report;

/// What must be known of any such conclusion.
const CAVEAT: &str = "A synthetic benchmark is a best case: its transfers are regular and nothing else is asked of \
                      the storage meanwhile. Applications reach less, and a statement that holds here holds for \
                      these conditions.";

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let mut table = Table::new(&[
        ("own data", Align::Left),
        ("statement", Align::Left),
        ("evidence", Align::Left),
        ("stated by", Align::Left),
    ]);
    for one in &report.findings.claims {
        let tone = match one.standing {
            "holds" => Tone::Good,
            "does not hold" => Tone::Bad,
            _ => Tone::Doubtful,
        };
        let source = if one.source.is_empty() { "this study" } else { &one.source };
        table.row(vec![
            Cell::toned(one.standing, tone),
            one.text.clone().into(),
            one.evidence.clone().into(),
            format!("{source} ({})", one.id).into(),
        ]);
    }
    let mut blocks = only("", table);
    if !blocks.is_empty() {
        blocks.push(Block::Text(CAVEAT.to_owned()));
    }
    blocks
}
