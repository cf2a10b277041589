//! What the figures of a study say together, in plain numbers. Figures are named by
//! [`super::Figure::number`], shares are from 0 to 1, and names of units stand last.

use schemars::JsonSchema;
use serde::Serialize;

use super::layers::{DiskView, Fit, LayerStack, MemberSet, ProcessLimit, QueueProbe, SeekFit, Strip};
use super::matrix::Matrices;
use super::nodes::{Coverage, LayerCrossover, NodeComparison, NodeGrid, WeakScaling};
use super::timeline::{JobCost, JobPlacing, Timeline};

/// All of it. A list is empty where the study has nothing of its kind.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(crate) struct Findings {
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) curves: Vec<Curve>,
    pub(crate) expected: Vec<Expected>,
    pub(crate) weakest_links: Vec<WeakestLink>,
    pub(crate) claims: Vec<Claim>,
    pub(crate) beside: Vec<Beside>,
    pub(crate) overlays: Vec<Overlay>,
    pub(crate) dispersion: Vec<Dispersion>,
    pub(crate) regressions: Vec<Regression>,
    /// Places among the curves, from 0.
    pub(crate) coincident: Vec<Vec<usize>>,
    /// Numbers of figures.
    pub(crate) iops: Vec<usize>,
    pub(crate) peaks: Vec<Peaks>,
    pub(crate) jobs: Vec<Job>,
    pub(crate) audit: Vec<Doubt>,
    pub(crate) nodes: Vec<NodeComparison>,
    pub(crate) node_grids: Vec<NodeGrid>,
    pub(crate) weak_scaling: Vec<WeakScaling>,
    pub(crate) layer_crossovers: Vec<LayerCrossover>,
    pub(crate) members: Vec<MemberSet>,
    pub(crate) seeks: Vec<SeekFit>,
    pub(crate) strips: Vec<Strip>,
    pub(crate) process_limits: Vec<ProcessLimit>,
    pub(crate) layers: Vec<LayerStack>,
    pub(crate) queues: Vec<QueueProbe>,
    pub(crate) disk_views: Vec<DiskView>,
    pub(crate) fits: Vec<Fit>,
    pub(crate) timelines: Vec<Timeline>,
    pub(crate) job_placings: Vec<JobPlacing>,
    pub(crate) job_costs: Vec<JobCost>,
    /// Absent where there is one node and one job.
    pub(crate) coverage: Option<Coverage>,
    /// Jobs as a whole.
    pub(crate) matrices: Matrices,
}

/// The peaks of two workloads that sweep the same key of one target.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Peaks {
    /// A curve, by its place in `curves`, from 0.
    pub(crate) first: usize,
    /// The curve of another workload.
    pub(crate) second: usize,
    /// The highest of each curve.
    pub(crate) first_transfers_per_second: f64,
    pub(crate) second_transfers_per_second: f64,
    /// Their difference ÷ the higher one; absent where no difference is shown.
    pub(crate) apart: Option<f64>,
}

/// A run of random transfers by several tasks: a repetition of a figure, or a published job.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Job {
    /// The number of a published job, else that of the batch job or the run.
    pub(crate) job: String,
    /// The id in the library of published figures; none for an own job.
    pub(crate) published: Option<String>,
    /// The own figure; none for a published job.
    pub(crate) figure: Option<usize>,
    /// Of the own figure, from 0.
    pub(crate) repetition: Option<u32>,
    pub(crate) phase: &'static str,
    pub(crate) nodes: Option<u64>,
    pub(crate) tasks: Option<u64>,
    /// Wall time.
    pub(crate) seconds: Option<f64>,
    pub(crate) operations_per_task: Option<f64>,
    /// All operations ÷ wall time; of a published job computed from its other columns.
    pub(crate) by_wall_per_second: Option<f64>,
    pub(crate) by_io_per_second: Option<f64>,
    pub(crate) sum_of_tasks_per_second: Option<f64>,
    /// The rate that a study printed without saying which it is.
    pub(crate) printed_per_second: Option<f64>,
    /// The highest rate by wall time of all own jobs of its phase.
    pub(crate) best: bool,
    pub(crate) conditions: String,
}

/// A swept key and its value.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Setting {
    pub(crate) key: String,
    /// Bytes, nanoseconds, a count, a share, true or false, or a word.
    pub(crate) value: serde_json::Value,
    /// `bytes`, `ns`, or empty for everything else.
    pub(crate) unit: &'static str,
    /// The value as people read it.
    pub(crate) text: String,
}

/// An amount with its unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Amount {
    pub(crate) value: f64,
    /// `bytes/s`, `ops/s` or `ns`.
    pub(crate) unit: &'static str,
    /// Of a latency: so many percent of all transfers are at most so long; the mean where none.
    pub(crate) percentile: Option<f64>,
}

/// A commitment and its judgement.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Verdict {
    pub(crate) name: String,
    pub(crate) by: String,
    /// Which figures it is about, in words.
    pub(crate) concerns: String,
    pub(crate) promised: Amount,
    /// `at least` or `at most`.
    #[schemars(extend("enum" = ["at least", "at most"]))]
    pub(crate) side: &'static str,
    /// The statistic and the rate that it is judged by.
    pub(crate) judged_by: String,
    /// `PASS`, `FAIL`, `DOUBTFUL` or `NOT TESTED`.
    #[schemars(extend("enum" = ["PASS", "FAIL", "DOUBTFUL", "NOT TESTED"]))]
    pub(crate) judgement: &'static str,
    pub(crate) figure: Option<usize>,
    pub(crate) conditions: String,
    /// In the unit of what was promised.
    pub(crate) measured: Option<f64>,
    /// Measured ÷ promised − 1; positive is good.
    pub(crate) margin: Option<f64>,
    /// The unfavourable end of the interval, in the unit of what was promised.
    pub(crate) unfavourable_end: Option<f64>,
    pub(crate) confidence: Option<f64>,
    pub(crate) because: Vec<String>,
}

/// Rates against a swept key, everything else fixed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Curve {
    pub(crate) group: String,
    pub(crate) target: String,
    pub(crate) client: &'static str,
    pub(crate) phase: &'static str,
    pub(crate) axis: String,
    pub(crate) fixed: Vec<Setting>,
    /// `bytes/s` of transfers; else operations by their name, as in `creates/s`.
    pub(crate) unit: &'static str,
    pub(crate) points: Vec<CurvePoint>,
    pub(crate) shape: Shape,
}

/// One point of a curve.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct CurvePoint {
    pub(crate) figure: usize,
    pub(crate) at: Setting,
    /// Bytes, nanoseconds or a count.
    pub(crate) x: f64,
    pub(crate) bytes_per_second: f64,
    pub(crate) transfers_per_second: f64,
    /// Repetitions that count.
    pub(crate) n: usize,
    /// Standard deviation of them, in the unit of the curve.
    pub(crate) deviation_per_second: f64,
    pub(crate) latency_mean_ns: Option<f64>,
    /// Tasks × depth by Little's law ÷ tasks × depth that ran.
    pub(crate) littles_law_ratio: Option<f64>,
    pub(crate) balance_bound: f64,
}

/// What a curve looks like; places are on its axis.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Shape {
    pub(crate) peak: Option<f64>,
    pub(crate) knee: Option<f64>,
    pub(crate) plateau_from: Option<f64>,
    pub(crate) plateau_to: Option<f64>,
    pub(crate) reaches_90_percent: Option<f64>,
    pub(crate) reaches_95_percent: Option<f64>,
    /// Largest distance from the peak beyond there, as a share of the peak.
    pub(crate) spread_beyond: Option<f64>,
    pub(crate) sweet_spot: Option<f64>,
    pub(crate) dips_period: Option<f64>,
    pub(crate) dips_depth: Option<f64>,
}

/// A figure against a data sheet or a limit.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Expected {
    pub(crate) figure: usize,
    pub(crate) name: String,
    pub(crate) amount: Amount,
    /// Measured ÷ expected.
    pub(crate) ratio: f64,
    pub(crate) ceiling: bool,
    /// Whether the mean latency is within the one at which the value is promised.
    pub(crate) in_time: Option<bool>,
    pub(crate) reached: Option<String>,
    pub(crate) source: String,
}

/// The lowest limit of a target for a number of nodes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct WeakestLink {
    pub(crate) target: String,
    pub(crate) phase: Option<&'static str>,
    /// `random` or `sequential`; both where none.
    pub(crate) order: Option<&'static str>,
    /// At which bytes and operations are converted.
    pub(crate) transfer_bytes: Option<u64>,
    pub(crate) nodes: u32,
    pub(crate) limits: Vec<NamedAmount>,
    pub(crate) weakest: String,
    pub(crate) amount: Amount,
    /// The best figure ÷ the amount.
    pub(crate) efficiency: Option<f64>,
}

/// A limit by its name.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct NamedAmount {
    pub(crate) name: String,
    pub(crate) amount: Amount,
}

/// A statement and what own data say of it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Claim {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) source: String,
    /// `holds`, `does not hold`, `cannot be told` or `not tested`.
    #[schemars(extend("enum" = ["holds", "does not hold", "cannot be told", "not tested"]))]
    pub(crate) standing: &'static str,
    pub(crate) evidence: String,
}

/// A published figure with the own one.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Beside {
    pub(crate) id: String,
    pub(crate) figure: Option<usize>,
    pub(crate) at: Vec<Setting>,
    pub(crate) group: Option<String>,
    pub(crate) target: Option<String>,
    pub(crate) phase: Option<&'static str>,
    /// `bytes/s`, `ops/s`, `ns` or `fraction`.
    pub(crate) unit: String,
    pub(crate) published: f64,
    pub(crate) own: Option<f64>,
    /// Own ÷ published.
    pub(crate) ratio: Option<f64>,
    pub(crate) as_published: String,
    pub(crate) statistic: String,
    /// Empty where nothing is known to be wrong with it.
    pub(crate) misprint: String,
    pub(crate) source: String,
}

/// Where two curves of one chart are farthest apart.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct Overlay {
    /// By its place among the curves, from 0.
    pub(crate) first: usize,
    pub(crate) second: usize,
    /// On the axis of both.
    pub(crate) x: f64,
    /// (second − first) ÷ the larger of both.
    pub(crate) difference: f64,
}

/// Spread of the repetitions against a swept size.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Dispersion {
    pub(crate) group: String,
    pub(crate) target: String,
    pub(crate) phase: &'static str,
    pub(crate) axis: String,
    /// `bytes/s` of transfers; else operations by their name, as in `creates/s`.
    pub(crate) unit: &'static str,
    pub(crate) points: Vec<DispersionPoint>,
    pub(crate) onset: Option<f64>,
    pub(crate) worst_seconds: f64,
}

/// The repetitions at one size.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct DispersionPoint {
    pub(crate) figure: usize,
    pub(crate) x: f64,
    pub(crate) repetitions_per_second: Vec<f64>,
    pub(crate) variation: f64,
    /// Longest minus shortest.
    pub(crate) spread_seconds: f64,
    pub(crate) bytes_per_task: u64,
}

/// A straight line through a curve.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Regression {
    /// By its place among the curves, from 0.
    pub(crate) curve: usize,
    /// `bytes/s` of transfers; else operations by their name, as in `creates/s`.
    pub(crate) unit: &'static str,
    /// For one more of the key.
    pub(crate) slope_per_second: f64,
    pub(crate) slope_half_width_per_second: f64,
    pub(crate) intercept_per_second: f64,
    pub(crate) r_squared: f64,
}

/// Something doubtful, with evidence.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Doubt {
    pub(crate) check: &'static str,
    pub(crate) figure: Option<usize>,
    pub(crate) concerns: String,
    pub(crate) evidence: String,
    pub(crate) advice: String,
    /// A commitment cannot pass with it.
    pub(crate) disqualifies: bool,
}
