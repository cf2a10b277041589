//! Jobs as a whole: sums over all launches, ratios of CPU time to real time, and systems beside each other.

use schemars::JsonSchema;
use serde::Serialize;

use super::findings::Setting;

/// All matrices of jobs of a run.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(crate) struct Matrices {
    /// One for each case that launched jobs.
    pub(crate) systems: Vec<Matrix>,
    pub(crate) comparisons: Vec<MatrixComparison>,
    /// What a study printed of such a matrix; absent where the run launched no jobs.
    pub(crate) published: Option<PublishedMatrix>,
}

/// The launches of one case.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Matrix {
    pub(crate) figure: usize,
    pub(crate) group: String,
    pub(crate) target: String,
    pub(crate) settings: Vec<Setting>,
    /// Of one pass.
    pub(crate) launches_asked: usize,
    /// Every launch of every pass that counts completed.
    pub(crate) complete: bool,
    /// In no pass all launches completed: what follows is of those that did. Else it is of the passes in which
    /// all completed.
    pub(crate) partial: bool,
    /// Over passes; absent where nothing completed.
    pub(crate) sums: Option<MatrixSums>,
    pub(crate) ratios: Option<RatioStatistics>,
    pub(crate) passes: Vec<MatrixPass>,
    pub(crate) tests: Vec<MatrixTest>,
    pub(crate) launches: Vec<MatrixLaunch>,
    pub(crate) histogram: Vec<RatioBin>,
}

/// Sums over all launches, by column.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct MatrixSums {
    pub(crate) real_seconds: OverPasses,
    /// Of the peaks, which need not be at the same time.
    pub(crate) memory_bytes: OverPasses,
    pub(crate) user_cpu_seconds: OverPasses,
    pub(crate) system_cpu_seconds: OverPasses,
}

/// One number of several passes.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct OverPasses {
    /// Passes.
    pub(crate) n: usize,
    pub(crate) mean: f64,
    /// With divisor n − 1; absent for one pass.
    pub(crate) deviation: Option<f64>,
    pub(crate) minimum: f64,
    pub(crate) maximum: f64,
}

/// (User + system) ÷ real of several launches.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct RatioStatistics {
    /// Launches.
    pub(crate) n: usize,
    /// Of the ratios.
    pub(crate) mean: f64,
    /// With divisor n − 1.
    pub(crate) deviation: f64,
    pub(crate) range: f64,
    pub(crate) minimum: f64,
    pub(crate) maximum: f64,
    /// All CPU time ÷ all real time.
    pub(crate) of_sums: f64,
    /// Launches below 1.
    pub(crate) waiting: usize,
    /// Launches above 1.
    pub(crate) threaded: usize,
}

/// What launches took: the sum of those that completed, or a mean.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct Amounts {
    pub(crate) real_seconds: f64,
    pub(crate) memory_bytes: f64,
    pub(crate) user_cpu_seconds: f64,
    pub(crate) system_cpu_seconds: f64,
}

/// One pass of a matrix.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct MatrixPass {
    pub(crate) repetition: u32,
    pub(crate) completed: usize,
    pub(crate) not_completed: Vec<NotCompleted>,
    /// Sums over launches that completed.
    pub(crate) sums: Amounts,
    pub(crate) ratios: Option<RatioStatistics>,
}

/// A launch that did not do all it should.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct NotCompleted {
    pub(crate) test: String,
    pub(crate) stream: u32,
    pub(crate) round: u32,
    pub(crate) outcome: String,
    pub(crate) message: String,
}

/// The launches of one test.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct MatrixTest {
    pub(crate) test: String,
    pub(crate) kind: String,
    pub(crate) launches: usize,
    /// Means over these launches.
    pub(crate) means: Amounts,
    pub(crate) ratios: Option<RatioStatistics>,
    /// `waiting`, `busy` or `threaded`, by the mean of the ratios.
    pub(crate) standing: Option<&'static str>,
}

/// One launch: means over passes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct MatrixLaunch {
    pub(crate) launch: u32,
    pub(crate) test: String,
    pub(crate) kind: String,
    pub(crate) stream: u32,
    pub(crate) round: u32,
    /// In which it completed.
    pub(crate) passes: usize,
    pub(crate) means: Amounts,
    pub(crate) ratio: Option<f64>,
    /// `waiting`, `busy` or `threaded`.
    pub(crate) standing: Option<&'static str>,
}

/// A bin of the histogram of ratios.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct RatioBin {
    /// The bin begins with it.
    pub(crate) from: f64,
    /// The next one begins with it.
    pub(crate) to: f64,
    pub(crate) launches: usize,
}

/// Two systems that ran the same matrix.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct MatrixComparison {
    /// The baseline, by its place among the systems, from 0; of two runs in the first of them.
    pub(crate) first: usize,
    /// The other one; of two runs in the second of them.
    pub(crate) second: usize,
    /// Launches that both completed, by test, stream and round.
    pub(crate) pairs: usize,
    pub(crate) unpaired_first: usize,
    pub(crate) unpaired_second: usize,
    /// All launches of both completed and have their pairs; else no verdict is to be taken from this.
    pub(crate) complete: bool,
    /// Sums over the pairs: real time, memory, user CPU time, system CPU time.
    pub(crate) columns: Vec<ColumnChange>,
    /// Real time, launch by launch.
    pub(crate) real: Option<TimeChange>,
    /// Standard deviation of the ratios of CPU time to real time.
    pub(crate) ratio_spread: Option<SpreadChange>,
    /// Distance of the launches of one test from each other, of logarithms of their real times.
    pub(crate) time_spread: Option<SpreadChange>,
}

/// A column of the table of sums, of both systems.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ColumnChange {
    pub(crate) name: &'static str,
    /// `s` or `bytes`.
    pub(crate) unit: &'static str,
    pub(crate) first: f64,
    pub(crate) second: f64,
    pub(crate) delta: f64,
    /// Delta ÷ first.
    pub(crate) share: Option<f64>,
    /// `less`, `more`, `not shown` or `too few passes`, of the sums of all passes.
    pub(crate) outcome: &'static str,
    /// Of the Mann–Whitney test over passes.
    pub(crate) p_value: Option<f64>,
}

/// Real time of paired launches.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct TimeChange {
    pub(crate) pairs: usize,
    /// Of second ÷ first − 1.
    pub(crate) median: f64,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    pub(crate) confidence: Option<f64>,
    /// Of the second: `faster`, `slower`, `not shown` or `too few values`.
    pub(crate) outcome: &'static str,
}

/// Spreads of two systems.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct SpreadChange {
    pub(crate) first: f64,
    pub(crate) second: f64,
    /// Pairs of launches, or tests, that samples are drawn from.
    pub(crate) n: usize,
    /// Second ÷ first.
    pub(crate) ratio: f64,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    pub(crate) confidence: f64,
    pub(crate) samples: usize,
    pub(crate) seed: u64,
    /// `first`, `second`, `no difference` or `too few values`.
    pub(crate) more_consistent: &'static str,
}

/// The published tables.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PublishedMatrix {
    pub(crate) cited: String,
    pub(crate) systems: Vec<PublishedSystem>,
    /// Real time, memory, user CPU time, system CPU time.
    pub(crate) changes: Vec<PublishedChange>,
}

/// A row of each published table.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PublishedSystem {
    pub(crate) title: String,
    /// Real time, memory, user CPU time, system CPU time, in seconds and bytes.
    pub(crate) sums: Vec<PublishedCell>,
    /// Mean, standard deviation and range of the ratios.
    pub(crate) ratios: Vec<PublishedCell>,
    /// All CPU time ÷ all real time, computed from the sums.
    pub(crate) ratio_of_sums: f64,
}

/// A printed number.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PublishedCell {
    pub(crate) id: String,
    /// As printed, in seconds, bytes, or as a ratio.
    pub(crate) value: f64,
    pub(crate) printed: String,
    /// What the audit says of it.
    pub(crate) doubts: Vec<String>,
}

/// A printed difference.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PublishedChange {
    pub(crate) cell: PublishedCell,
    /// From the rows above it.
    pub(crate) recomputed: f64,
    /// Recomputed ÷ the first row.
    pub(crate) share: f64,
    pub(crate) agrees: bool,
}
