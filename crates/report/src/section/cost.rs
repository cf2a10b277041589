//! What targets cost for what they give, which data they are for, and whether it fits.

use super::{Block, title};
use crate::format::decimal_bytes;
use crate::view::Report;
use crate::view::layers::Fit;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let findings = &report.findings;
    let sentences: Vec<String> = findings.fits.iter().map(|one| fit(report, one)).collect();
    let mut blocks = report.statements.blocks(report, "cost");
    if !sentences.is_empty() {
        blocks.push(Block::List(sentences));
    }
    blocks
}

fn fit(report: &Report, one: &Fit) -> String {
    let mut parts = Vec::new();
    if let (Some(devices), Some(slots)) = (one.devices, one.slots) {
        parts.push(format!("{devices} devices for {slots} slots"));
    }
    if let (Some(needed), Some(capacity)) = (one.needed_bytes, one.capacity_bytes) {
        let whose = if one.said { "needed" } else { "of this study's data" };
        let studied = match one.studied_capacity_bytes {
            Some(studied) => format!(" by its file system, not the {} of the study", decimal_bytes(studied)),
            None => String::new(),
        };
        parts.push(format!("{} {whose}, {} there{studied}", decimal_bytes(needed), decimal_bytes(capacity)));
    }
    let verdict = if one.fits { "fits" } else { "does not fit" };
    format!("{}: {verdict} ({}).", title(report, &one.target), parts.join("; "))
}
