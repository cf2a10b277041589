//! Launches, their sums, and their means over passes.

use std::collections::{BTreeMap, HashMap};

use record::LaunchRow;

use crate::gate::Value;
use crate::jobs::{complete, whole};

/// The resources of one launch or of several together: real time in seconds, peak memory in bytes, and CPU time in
/// user mode and in the kernel in seconds. Added peaks need not have occurred at the same time.
pub type Amounts = [f64; 4];

/// The names of these in tables and JSON.
pub(super) const COLUMNS: [&str; 4] = ["real time", "memory", "user CPU time", "system CPU time"];

/// One of the amounts as a value, by index.
pub(super) fn value_of(column: usize, amount: f64) -> Value {
    if column == 1 { Value::Bytes(whole(amount)) } else { Value::Seconds(amount) }
}

/// (user + system) ÷ real. Returns `None` if the real time is 0.
pub(super) fn ratio_of([real, _, user, system]: Amounts) -> Option<f64> {
    (real > 0.0).then(|| (user + system) / real)
}

/// The sum of all rows. Whole nanoseconds and bytes are added, so that the result does not depend on the order.
pub(super) fn sum_of_rows<'a>(rows: impl IntoIterator<Item = &'a LaunchRow>) -> Amounts {
    let mut sums = [0_u128; 4];
    for row in rows {
        let real_ns = row.end_ns.saturating_sub(row.start_ns);
        let own = [real_ns, row.peak_memory_bytes, row.user_cpu_ns, row.system_cpu_ns];
        sums.iter_mut().zip(own).for_each(|(sum, one)| *sum += u128::from(one));
    }
    let [real, memory, user, system] = sums.map(|sum| sum as f64);
    [real / 1e9, memory, user / 1e9, system / 1e9]
}

/// The sum over `launches`, in their order.
pub(super) fn sum<'a>(launches: impl IntoIterator<Item = &'a LaunchMean>) -> Amounts {
    let add =
        |sum: Amounts, one: &LaunchMean| std::array::from_fn(|column| sum[column] + one.amounts[column]);
    launches.into_iter().fold([0.0; 4], add)
}

/// The outcome of launches that were stopped at the end of the run.
const STOPPED: &str = "stopped";

/// One pass of a matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixPass {
    pub(super) repetition: u32,
    /// The number of launches that completed.
    pub completed: usize,
    /// How the other launches with rows ended, and a text with their names and reasons.
    pub(super) others: Vec<(String, String)>,
    /// Sums over the completed launches.
    pub sums: Amounts,
    /// The completed launches, one by one.
    pub(super) launches: Vec<LaunchMean>,
}

impl MatrixPass {
    pub(super) fn of(repetition: u32, rows: &[&LaunchRow]) -> Self {
        let (completed, others): (Vec<&LaunchRow>, Vec<&LaunchRow>) =
            rows.iter().partition(|row| complete(row));
        let words = |row: &&LaunchRow| {
            let why = if row.message.is_empty() { &row.outcome } else { &row.message };
            let words = format!("{}, stream {}, round {}: {why}", row.test, row.stream, row.round);
            (row.outcome.to_string(), words)
        };
        let others = others.iter().map(words).collect();
        let launches = means(completed.iter().copied());
        Self { repetition, completed: completed.len(), others, sums: sum_of_rows(completed), launches }
    }

    /// Whether launches did not complete only because the run ended.
    pub(super) fn was_interrupted(&self) -> bool {
        !self.others.is_empty() && self.others.iter().all(|(outcome, _)| outcome == STOPPED)
    }
}

/// One launch, with means over the passes in which it completed.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchMean {
    pub(super) test: String,
    pub(super) kind: String,
    stream: u32,
    round: u32,
    /// Means over these passes.
    pub amounts: Amounts,
    /// Mean of its (user + system) ÷ real over these passes. `None` if it took no time.
    pub ratio: Option<f64>,
}

impl LaunchMean {
    /// The key by which launches of two systems, or of two runs, are paired: test, stream and round.
    #[must_use]
    pub fn key(&self) -> (&str, u32, u32) {
        (&self.test, self.stream, self.round)
    }
}

/// Means of each launch over the passes in `rows`. Tests are in the order of their first launches. Launches that did
/// not complete are left out.
pub(super) fn means<'a>(rows: impl Iterator<Item = &'a LaunchRow>) -> Vec<LaunchMean> {
    let mut by_launch: BTreeMap<(&str, u32, u32), Vec<&LaunchRow>> = BTreeMap::new();
    let mut first: HashMap<&str, u32> = HashMap::new();
    for row in rows.filter(|row| complete(row)) {
        by_launch.entry((&row.test, row.stream, row.round)).or_default().push(row);
        let least = first.entry(&row.test).or_insert(row.launch);
        *least = row.launch.min(*least);
    }
    let mut all: Vec<LaunchMean> = by_launch.into_values().map(|rows| mean(&rows)).collect();
    all.sort_by_key(|one| (first.get(one.test.as_str()).copied(), one.stream, one.round));
    all
}

/// The mean of `rows`, which are at least one row of the same launch.
fn mean(rows: &[&LaunchRow]) -> LaunchMean {
    let ratios: Vec<f64> = rows.iter().filter_map(|row| ratio_of(sum_of_rows([*row]))).collect();
    LaunchMean {
        test: rows[0].test.to_string(),
        kind: rows[0].kind.to_string(),
        stream: rows[0].stream,
        round: rows[0].round,
        amounts: sum_of_rows(rows.iter().copied()).map(|sum| sum * (1.0 / rows.len() as f64)),
        ratio: (!ratios.is_empty()).then(|| ratios.iter().sum::<f64>() / ratios.len() as f64),
    }
}
