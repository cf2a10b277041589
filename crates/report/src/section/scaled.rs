//! What a study that was scaled to a budget gave up.

use crate::report::Report;
use crate::section::Block;

/// The line of the card, what cannot be told and why, and the values that were changed.
pub(crate) fn blocks(report: &Report) -> Vec<Block> {
    let Some(scaled) = &report.run.scaled else { return Vec::new() };
    let mut blocks = vec![Block::Text(format!("The study was {}.", scaled.line))];
    blocks.extend(scaled.details.iter().map(|line| Block::Text(format!("{line}."))));
    if !scaled.settings.is_empty() {
        let all: Vec<String> =
            scaled.settings.iter().map(|one| format!("--set {}", plan::shell_word(one))).collect();
        blocks.push(Block::Text(format!("Changed: {}", all.join(" "))));
    }
    blocks
}
