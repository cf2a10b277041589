//! What targets cost for what they give, which data they are for, and whether it fits.

use super::block::Block;
use crate::report::Report;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    report.statements.blocks(report, "cost")
}
