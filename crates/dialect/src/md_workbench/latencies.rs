//! The files of `-L`: the latency of each operation, in md-workbench's format.
//!
//! A file contains the operations of one kind in one round, for example `PREFIX-0.50-2-create.csv` with the
//! waiting factor and the round. Each line has the seconds since the phase began, and the duration of the
//! operation. Source: the files that md-workbench of IOR 4.1 writes.

use std::path::PathBuf;

use plan::{Operation, Phase};
use record::{HistoryRow, PhaseRecord};

use super::lines::factor;
use super::settings::Settings;
use crate::printed::exponent;

/// The operations of a round, and the names of their files.
const OF_STEPS: [(Operation, &str); 4] = [
    (Operation::Create, "create"),
    (Operation::Remove, "delete"),
    (Operation::Read, "read"),
    (Operation::Stat, "stat"),
];

/// The files of a phase whose steps rest for `rest` millionths of their duration; empty unless requested
/// on the command line.
pub(super) fn files(settings: &Settings, rest: u32, record: &PhaseRecord) -> Vec<(PathBuf, String)> {
    let Some(prefix) = &settings.latencies else { return Vec::new() };
    let key = &record.phase.key;
    let (round, kinds): (u32, &[(Operation, &str)]) = match key.phase {
        Phase::Precreate => (0, &[(Operation::Create, "precreate")]),
        // What follows the last round has the number of the next round.
        Phase::Cleanup => {
            (if settings.benchmark { settings.rounds } else { 0 }, &[(Operation::Remove, "cleanup")])
        }
        _ => (key.repetition, &OF_STEPS),
    };
    let (of_all, rest) = (settings.latencies_of_all, factor(rest));
    let all = if of_all { "-all" } else { "" };
    let file = |&(operation, name): &(Operation, &str)| {
        let of_kind = |row: &&HistoryRow| row.operation == operation && (of_all || row.task == 0);
        let line = |row: &HistoryRow| {
            let (start, took) = (row.start_ns as f64 / 1e9, row.latency_ns as f64 / 1e9);
            format!("{start:.7},{}\n", exponent(took, 4))
        };
        let lines: String = record.history.iter().filter(of_kind).map(line).collect();
        (
            PathBuf::from(format!("{prefix}-{rest:.2}-{round}-{name}{all}.csv")),
            format!("time,runtime\n{lines}"),
        )
    };
    kinds.iter().map(file).collect()
}
