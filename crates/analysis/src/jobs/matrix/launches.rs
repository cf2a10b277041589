//! Launches, their sums, and their means over passes.

use std::collections::{BTreeMap, HashMap};

use record::LaunchRow;

use crate::gate::Value;
use crate::jobs::{complete, whole};

/// What one launch took, or several together: real time in seconds, peak memory in bytes, CPU time in user mode and in the
/// kernel in seconds. Peaks that are added up need not be at the same time.
pub type Amounts = [f64; 4];

/// The words for them in tables and JSON.
pub(super) const COLUMNS: [&str; 4] = ["real time", "memory", "user CPU time", "system CPU time"];

/// One of them, by its place.
pub(super) fn value_of(column: usize, amount: f64) -> Value {
    if column == 1 { Value::Bytes(whole(amount)) } else { Value::Seconds(amount) }
}

/// (user + system) ÷ real; none where there was no time.
pub(super) fn ratio_of([real, _, user, system]: Amounts) -> Option<f64> {
    (real > 0.0).then(|| (user + system) / real)
}

/// The sum of all; whole nanoseconds and bytes are added, so that it does not hang on the order.
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

/// The sum of what `launches` took, in their order.
pub(super) fn sum<'a>(launches: impl IntoIterator<Item = &'a LaunchMean>) -> Amounts {
    let add =
        |sum: Amounts, one: &LaunchMean| std::array::from_fn(|column| sum[column] + one.amounts[column]);
    launches.into_iter().fold([0.0; 4], add)
}

/// The outcome of launches that the end of the run has ended.
const STOPPED: &str = "stopped";

/// One pass of a matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixPass {
    pub(super) repetition: u32,
    /// Launches that completed.
    pub completed: usize,
    /// How the others of which there are rows ended, and in words which they are and why.
    pub(super) others: Vec<(String, String)>,
    /// Sums over those that completed.
    pub sums: Amounts,
    /// Those that completed, one by one.
    pub(super) launches: Vec<LaunchMean>,
}

impl MatrixPass {
    pub(super) fn of(repetition: u32, rows: &[&LaunchRow]) -> Self {
        let (completed, others): (Vec<&LaunchRow>, Vec<&LaunchRow>) =
            rows.iter().partition(|row| complete(row));
        let words = |row: &&LaunchRow| {
            let why = if row.message.is_empty() { &row.outcome } else { &row.message };
            let words = format!("{}, stream {}, round {}: {why}", row.test, row.stream, row.round);
            (row.outcome.clone(), words)
        };
        let others = others.iter().map(words).collect();
        let launches = means(completed.iter().copied());
        Self { repetition, completed: completed.len(), others, sums: sum_of_rows(completed), launches }
    }

    /// Whether the end of the run is all that kept launches from completing.
    pub(super) fn was_interrupted(&self) -> bool {
        !self.others.is_empty() && self.others.iter().all(|(outcome, _)| outcome == STOPPED)
    }
}

/// One launch: means over the passes in which it completed.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchMean {
    pub(super) test: String,
    pub(super) kind: String,
    stream: u32,
    round: u32,
    /// Means over these passes.
    pub amounts: Amounts,
    /// Mean of its (user + system) ÷ real in each of them; none where it took no time.
    pub ratio: Option<f64>,
}

impl LaunchMean {
    /// What launches of two systems, or of two runs, are paired by: test, stream and round.
    #[must_use]
    pub fn key(&self) -> (&str, u32, u32) {
        (&self.test, self.stream, self.round)
    }
}

/// Means of each launch over the passes that `rows` are of, by test in the order of the tests' first launches. Those that
/// did not complete are left out.
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

/// `rows` are of one launch, at least one.
fn mean(rows: &[&LaunchRow]) -> LaunchMean {
    let ratios: Vec<f64> = rows.iter().filter_map(|row| ratio_of(sum_of_rows([*row]))).collect();
    LaunchMean {
        test: rows[0].test.clone(),
        kind: rows[0].kind.clone(),
        stream: rows[0].stream,
        round: rows[0].round,
        amounts: sum_of_rows(rows.iter().copied()).map(|sum| sum * (1.0 / rows.len() as f64)),
        ratio: (!ratios.is_empty()).then(|| ratios.iter().sum::<f64>() / ratios.len() as f64),
    }
}
