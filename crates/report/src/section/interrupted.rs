//! Launches of jobs that had ended when their pass was cut off.

use super::job_times::launch_times;
use super::{Block, only};
use crate::format::grouped;
use crate::view::Report;
use crate::view::timeline::InterruptedPass;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    if report.interrupted.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![
        Block::Text(
            "The run was ended in these passes, or their case was started again. Launches that had ended are kept here; \
             no figure, sum, ratio or verdict is made of them."
                .to_owned(),
        ),
        Block::List(report.interrupted.iter().map(sentence).collect()),
    ];
    // Tables that were loaded are counted above.
    for one in report.interrupted.iter().filter(|one| one.phase == plan::Phase::Jobs.name()) {
        let (table, gone) = launch_times(one.launches.iter());
        let more = match gone {
            0 => String::new(),
            gone => format!("; the JSON form has {} more", grouped(gone as u64)),
        };
        blocks.extend(only(&format!("{}{more}", name(one)), table));
    }
    blocks
}

/// `Case mix, jobs, repetition 1, attempt 2`.
fn name(one: &InterruptedPass) -> String {
    format!("Case {}, {}, repetition {}, attempt {}", one.case, one.phase, one.repetition + 1, one.attempt)
}

fn sentence(one: &InterruptedPass) -> String {
    format!(
        "{}: {} of {} launches had ended, {} complete.",
        name(one),
        grouped(one.launches.len() as u64),
        grouped(one.planned),
        grouped(one.complete as u64)
    )
}
