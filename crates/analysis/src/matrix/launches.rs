//! Launches, their sums, and their means over passes.

use std::collections::BTreeMap;
use std::fmt;

use record::LaunchRow;

use super::{COMPLETE, RatioStatistics};
use crate::Summary;

/// A column of the table of sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SumColumn {
    /// From the start of a launch to its end.
    Real,
    /// The most memory that was resident at a time.
    Memory,
    /// CPU time in user mode.
    User,
    /// CPU time in the kernel.
    System,
}

impl SumColumn {
    /// In the order of the published table.
    pub const ALL: [Self; 4] = [Self::Real, Self::Memory, Self::User, Self::System];

    /// The word in tables and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Real => "real time",
            Self::Memory => "memory",
            Self::User => "user CPU time",
            Self::System => "system CPU time",
        }
    }
}

/// What one launch took, or the sum of what several took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Amounts {
    /// Real time in seconds.
    pub real_seconds: f64,
    /// Peak memory in bytes. A sum of peaks: they need not be at the same time.
    pub memory_bytes: f64,
    /// CPU time in user mode, in seconds.
    pub user_cpu_seconds: f64,
    /// CPU time in the kernel, in seconds.
    pub system_cpu_seconds: f64,
}

impl Amounts {
    /// One of them, in seconds or bytes.
    #[must_use]
    pub const fn get(&self, column: SumColumn) -> f64 {
        match column {
            SumColumn::Real => self.real_seconds,
            SumColumn::Memory => self.memory_bytes,
            SumColumn::User => self.user_cpu_seconds,
            SumColumn::System => self.system_cpu_seconds,
        }
    }

    /// (user + system) ÷ real; none where there was no time.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        (self.real_seconds > 0.0)
            .then(|| (self.user_cpu_seconds + self.system_cpu_seconds) / self.real_seconds)
    }

    /// With each amount multiplied.
    pub(super) fn times(self, factor: f64) -> Self {
        Self {
            real_seconds: self.real_seconds * factor,
            memory_bytes: self.memory_bytes * factor,
            user_cpu_seconds: self.user_cpu_seconds * factor,
            system_cpu_seconds: self.system_cpu_seconds * factor,
        }
    }

    /// The sum of all; whole nanoseconds and bytes are added, so that it does not hang on the order.
    pub(super) fn of_rows<'a>(rows: impl IntoIterator<Item = &'a LaunchRow>) -> Self {
        let (mut real, mut memory, mut user, mut system) = (0_u128, 0_u128, 0_u128, 0_u128);
        for row in rows {
            real += u128::from(row.end_ns.saturating_sub(row.start_ns));
            memory += u128::from(row.peak_memory_bytes);
            user += u128::from(row.user_cpu_ns);
            system += u128::from(row.system_cpu_ns);
        }
        Self {
            real_seconds: real as f64 / 1e9,
            memory_bytes: memory as f64,
            user_cpu_seconds: user as f64 / 1e9,
            system_cpu_seconds: system as f64 / 1e9,
        }
    }

    /// The sum of `all`, in their order.
    pub(super) fn sum<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        all.into_iter().fold(Self::default(), |sum, one| Self {
            real_seconds: sum.real_seconds + one.real_seconds,
            memory_bytes: sum.memory_bytes + one.memory_bytes,
            user_cpu_seconds: sum.user_cpu_seconds + one.user_cpu_seconds,
            system_cpu_seconds: sum.system_cpu_seconds + one.system_cpu_seconds,
        })
    }
}

/// A launch that did not do all that it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotCompleted {
    /// Its test.
    pub test: String,
    /// Which data it worked on.
    pub stream: u32,
    /// Which of the launches of its stream it was.
    pub round: u32,
    /// `failed`, `killed`, `out-of-memory`, `too-long`, `skipped` or `stopped`.
    pub outcome: String,
    /// Why.
    pub message: String,
}

impl fmt::Display for NotCompleted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, stream {}, round {}: ", self.test, self.stream, self.round)?;
        f.write_str(if self.message.is_empty() { &self.outcome } else { &self.message })
    }
}

/// One pass of a matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixPass {
    /// Its number in the record.
    pub repetition: u32,
    /// Launches that were to be.
    pub asked: usize,
    /// Launches that completed.
    pub completed: usize,
    /// The others of which there are rows.
    pub not_completed: Vec<NotCompleted>,
    /// Sums over those that completed.
    pub sums: Amounts,
    /// Of the ratios of those that completed.
    pub ratios: Option<RatioStatistics>,
}

impl MatrixPass {
    /// All launches completed.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.completed == self.asked
    }

    pub(super) fn of(repetition: u32, asked: usize, rows: &[&LaunchRow]) -> Self {
        let (completed, others): (Vec<&LaunchRow>, Vec<&LaunchRow>) =
            rows.iter().partition(|row| row.outcome == COMPLETE);
        let launches = means(completed.iter().copied());
        let ratios: Vec<f64> = launches.iter().filter_map(|one| one.ratio).collect();
        let other = |row: &&LaunchRow| NotCompleted {
            test: row.test.clone(),
            stream: row.stream,
            round: row.round,
            outcome: row.outcome.clone(),
            message: row.message.clone(),
        };
        Self {
            repetition,
            asked,
            completed: completed.len(),
            not_completed: others.iter().map(other).collect(),
            sums: Amounts::of_rows(completed),
            ratios: RatioStatistics::of(&ratios, &launches),
        }
    }
}

/// One launch: means over the passes in which it completed.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchMean {
    /// Its test.
    pub test: String,
    /// What that stresses most.
    pub kind: String,
    /// Which data it worked on.
    pub stream: u32,
    /// Which of the launches of its stream it was.
    pub round: u32,
    /// Its number in the matrix.
    pub launch: u32,
    /// Passes in which it completed.
    pub passes: usize,
    /// Means over these.
    pub amounts: Amounts,
    /// Mean of its (user + system) ÷ real in each of these; none where it took no time.
    pub ratio: Option<f64>,
}

impl LaunchMean {
    /// What launches of two systems, or of two runs, are paired by.
    #[must_use]
    pub fn key(&self) -> (&str, u32, u32) {
        (&self.test, self.stream, self.round)
    }
}

/// Means of each launch over the passes that `rows` are of. Those that did not complete are left out.
pub(super) fn means<'a>(rows: impl Iterator<Item = &'a LaunchRow>) -> Vec<LaunchMean> {
    let mut by_launch: BTreeMap<(&str, u32, u32), Vec<&LaunchRow>> = BTreeMap::new();
    for row in rows.filter(|row| row.outcome == COMPLETE) {
        by_launch.entry((&row.test, row.stream, row.round)).or_default().push(row);
    }
    let mut all: Vec<LaunchMean> = by_launch.into_values().map(|rows| mean(rows)).collect();
    let mut first: BTreeMap<String, u32> = BTreeMap::new();
    for one in &all {
        let least = first.entry(one.test.clone()).or_insert(one.launch);
        *least = one.launch.min(*least);
    }
    all.sort_by_key(|one| (first[&one.test], one.stream, one.round));
    all
}

/// `rows` are of one launch, at least one.
fn mean(mut rows: Vec<&LaunchRow>) -> LaunchMean {
    rows.sort_by_key(|row| row.key.repetition);
    let count = rows.len() as f64;
    let ratios: Vec<f64> = rows.iter().filter_map(|row| Amounts::of_rows([*row]).ratio()).collect();
    LaunchMean {
        test: rows[0].test.clone(),
        kind: rows[0].kind.clone(),
        stream: rows[0].stream,
        round: rows[0].round,
        launch: rows[0].launch,
        passes: rows.len(),
        amounts: Amounts::of_rows(rows.iter().copied()).times(1.0 / count),
        ratio: (!ratios.is_empty()).then(|| ratios.iter().sum::<f64>() / ratios.len() as f64),
    }
}

/// Each column of the sums of several passes.
pub(super) fn summarised(passes: &[&Amounts]) -> Option<[Summary; 4]> {
    let column =
        |column: SumColumn| Summary::of(&passes.iter().map(|sums| sums.get(column)).collect::<Vec<_>>());
    let [real, memory, user, system] = SumColumn::ALL.map(column);
    Some([real?, memory?, user?, system?])
}
