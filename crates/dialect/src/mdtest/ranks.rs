//! `--saveRankPerformanceDetails`: a row for all tasks together, and one for each task.

use std::fmt::Write as _;

use plan::Phase;

use super::rows::{DIRECTORY_ROWS, FILE_ROWS, Row, TREE_ROWS};
use crate::printed::exponent;

/// mdtest's columns, including one for reading directories, which it never does.
const COLUMNS: [(Option<Phase>, &str); 11] = [
    (Some(DIRECTORY_ROWS[0].0), DIRECTORY_ROWS[0].1),
    (Some(DIRECTORY_ROWS[1].0), DIRECTORY_ROWS[1].1),
    (None, "Directory read"),
    (Some(DIRECTORY_ROWS[2].0), DIRECTORY_ROWS[2].1),
    (Some(DIRECTORY_ROWS[3].0), DIRECTORY_ROWS[3].1),
    (Some(FILE_ROWS[0].0), FILE_ROWS[0].1),
    (Some(FILE_ROWS[1].0), FILE_ROWS[1].1),
    (Some(FILE_ROWS[2].0), FILE_ROWS[2].1),
    (Some(FILE_ROWS[3].0), FILE_ROWS[3].1),
    (Some(TREE_ROWS[0].0), TREE_ROWS[0].1),
    (Some(TREE_ROWS[1].0), TREE_ROWS[1].1),
];
/// Number of columns in rows of single tasks, which exclude the tree because all tasks share it.
const COLUMNS_OF_RANKS: usize = 9;

/// The file: the first iteration of all tasks, then each task of each iteration.
pub(super) fn csv(rows: &[Row], items_per_task: u64) -> String {
    let mut out = String::from("rank,items");
    for (_, name) in COLUMNS {
        // Writing to a String cannot fail.
        let _ = write!(out, ",rate-{name},time-{name}");
    }
    out.push('\n');
    let at = |repetition: u32, phase: Option<Phase>| {
        rows.iter().find(move |row| row.repetition == repetition && Some(row.phase) == phase)
    };
    let _ = write!(out, "all,{items_per_task}");
    for (phase, _) in COLUMNS {
        push(&mut out, at(0, phase).map(|row| (row.rate(), row.seconds)));
    }
    out.push('\n');
    let repetitions = rows.iter().map(|row| row.repetition + 1).max().unwrap_or(0);
    for repetition in 0..repetitions {
        let tasks = rows.iter().filter(|row| row.repetition == repetition).map(|row| row.ranks.len()).max();
        for task in 0..tasks.unwrap_or(0) {
            let _ = write!(out, "{task},");
            for (phase, _) in &COLUMNS[..COLUMNS_OF_RANKS] {
                let own = at(repetition, *phase).and_then(|row| row.ranks.get(task));
                push(&mut out, own.map(|(items, seconds)| (*items as f64 / seconds, *seconds)));
            }
            out.push('\n');
        }
    }
    out
}

fn push(out: &mut String, figures: Option<(f64, f64)>) {
    match figures {
        Some((rate, seconds)) => {
            let _ = write!(out, ",{},{}", exponent(rate, 10), exponent(seconds, 10));
        }
        None => out.push_str(",,"),
    }
}
