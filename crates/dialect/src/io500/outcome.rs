//! Evaluates a phase from the record of its run.

use record::{PhaseRow, Run, TaskRow};

use super::lines::Setup;
use super::phases::Phase;
use crate::printed::seconds;

const GIB: f64 = 1_073_741_824.0;

/// A line of the section of a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A key with its value.
    Pair(&'static str, String),
    /// A problem that the user should look at.
    Warning(String),
    /// The reason why the result is invalid.
    Invalid(String),
}

/// The result of a phase.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// The score in GiB/s or in 1,000 operations per second; 0 if there is none.
    pub score: f64,
    /// Time from before its start until after its end.
    pub seconds: f64,
    /// The lines printed about it.
    pub entries: Vec<Entry>,
}

impl Outcome {
    /// The outcome of a phase that was not carried out.
    #[must_use]
    pub const fn none(seconds: f64) -> Self {
        Self { score: 0.0, seconds, entries: Vec::new() }
    }

    /// The outcome of a phase that has no result, and why.
    #[must_use]
    pub fn without_result(why: String, seconds: f64) -> Self {
        Self { entries: vec![Entry::Invalid(why)], ..Self::none(seconds) }
    }

    /// Evaluates `phase`, whose run took `seconds`.
    #[must_use]
    pub fn of(phase: Phase, run: &Run, setup: &Setup, seconds: f64) -> Self {
        let mut outcome = Self::none(seconds);
        let errors: u64 = run.all_phases().map(|row| row.wrong_cells + row.surprises).sum();
        if errors > 0 || !run.failed_cases.is_empty() {
            let count = errors.max(1);
            outcome
                .invalid(format!("{count} errors in this phase, which make the run invalid; see its record"));
        }
        let rows: Vec<PhaseRow> = run.all_phases().filter(|row| row.key.phase == phase.activity()).collect();
        let Some(row) = rows.last() else { return outcome };
        match phase {
            Phase::IorEasyWrite | Phase::IorHardWrite => outcome.of_write(row, setup),
            Phase::IorEasyRead | Phase::IorHardRead | Phase::IorRnd4kEasyRead => {
                outcome.score = bandwidth(row)
            }
            Phase::MdtestEasyWrite | Phase::MdtestHardWrite => {
                let until = until_stonewall(run, row).unwrap_or_else(|| rate(row));
                outcome.pair("rate-stonewall", format!("{until:.6}"));
                outcome.score = rate(row);
            }
            // The sets themselves are counted as well.
            Phase::MdworkbenchCreate | Phase::MdworkbenchDelete => {
                outcome.of_objects(run, &rows, Setup::SETS.saturating_mul(setup.tasks.into()));
            }
            Phase::MdworkbenchBench if rows.len() == 2 => outcome.of_objects(run, &rows, 0),
            Phase::MdworkbenchBench => {
                outcome.invalid(format!("{} rounds were made instead of 2", rows.len()));
            }
            Phase::Find | Phase::FindEasy | Phase::FindHard => outcome.of_search(row),
            _ => outcome.score = rate(row),
        }
        outcome
    }

    fn pair(&mut self, key: &'static str, value: String) {
        self.entries.push(Entry::Pair(key, value));
    }

    fn invalid(&mut self, why: String) {
        self.entries.push(Entry::Invalid(why));
    }

    fn of_write(&mut self, row: &PhaseRow, setup: &Setup) {
        let (took, asked) = (seconds(row.wall_ns), setup.stonewall());
        if took < asked as f64 {
            self.invalid(format!("the write took {took:.6} s instead of {asked} s of the stonewall"));
        }
        let until = match row.stonewall_ns.zip(row.stonewall_bytes) {
            Some((ns, bytes)) => bytes as f64 / seconds(ns) / GIB,
            None => bandwidth(row),
        };
        self.pair("throughput-stonewall", format!("{until:.2}"));
        self.score = bandwidth(row);
    }

    /// Evaluates the operations of md-workbench in the last of `rounds`, and in the first of two.
    fn of_objects(&mut self, run: &Run, rounds: &[PhaseRow], sets: u64) {
        let rate = |row: &PhaseRow| {
            let longest = longest_task(run, row).unwrap_or_else(|| seconds(row.wall_ns));
            (row.items + sets) as f64 / longest / 1000.0
        };
        let longest = |row: &PhaseRow| format!("{:.6}", longest_operation(run, row));
        let ([first, last] | [first @ last]) = rounds else { return };
        self.score = rate(last);
        if rounds.len() == 1 {
            self.pair("maxOpTime", longest(last));
            return;
        }
        let (one, two) = (rate(first), self.score);
        if one < two * 0.5 || one * 0.5 > two {
            let about = "the two rounds of md-workbench differ by more than a factor of 2";
            self.entries.push(Entry::Warning(about.to_owned()));
        }
        self.pair("maxOpTime", longest(last));
        self.pair("scoreIteration0", format!("{one:.6}"));
        self.pair("maxOpTime0", longest(first));
    }

    fn of_search(&mut self, row: &PhaseRow) {
        let found = row.found.unwrap_or(0);
        if found == 0 {
            self.invalid("nothing was found, which is likely invalid".to_owned());
        }
        self.pair("found", found.to_string());
        self.pair("total-files", row.items.to_string());
        self.score = rate(row);
    }
}

/// Bandwidth in GiB/s, from the first open to the last close.
fn bandwidth(row: &PhaseRow) -> f64 {
    row.bytes() as f64 / GIB / seconds(row.wall_ns)
}

/// Rate in 1,000 items per second over the whole time.
fn rate(row: &PhaseRow) -> f64 {
    row.items as f64 / seconds(row.wall_ns) / 1000.0
}

/// Rate in 1,000 items per second until the tasks saw the deadline, or `None` if there was none.
fn until_stonewall(run: &Run, row: &PhaseRow) -> Option<f64> {
    let ns = row.stonewall_ns?;
    let tasks = run.tasks(&row.key.case);
    let of_phase = tasks.iter().filter(|task| task.key == row.key);
    let items: Option<u64> = of_phase.map(|task| task.stonewall_transfers).sum();
    Some(items? as f64 / seconds(ns) / 1000.0)
}

/// Duration of the slowest task in seconds.
fn longest_task(run: &Run, row: &PhaseRow) -> Option<f64> {
    let own = |task: &TaskRow| seconds(task.close_end_ns.saturating_sub(task.open_start_ns));
    let tasks = run.tasks(&row.key.case);
    tasks.iter().filter(|task| task.key == row.key).map(own).max_by(f64::total_cmp)
}

/// Duration of the slowest operation in seconds.
fn longest_operation(run: &Run, row: &PhaseRow) -> f64 {
    let series = run.series(&row.key.case);
    let of_phase = series.iter().filter(|one| one.key == row.key);
    of_phase.map(|one| one.latency_max_ns).max().map_or(0.0, seconds)
}
