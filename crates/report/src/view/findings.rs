//! What the figures of a study say together, in plain numbers. Figures are named by
//! [`super::Figure::number`], shares are from 0 to 1, and names of units stand last.

use schemars::JsonSchema;
use serde::Serialize;

use super::layers::{MemberSet, SeekFit};
use super::nodes::{NodeComparison, NodeGrid};

/// All of it. A list is empty where the study has nothing of its kind.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(crate) struct Findings {
    pub(crate) curves: Vec<Curve>,
    pub(crate) overlays: Vec<Overlay>,
    pub(crate) dispersion: Vec<Dispersion>,
    pub(crate) regressions: Vec<Regression>,
    /// Places among the curves, from 0.
    pub(crate) coincident: Vec<Vec<usize>>,
    pub(crate) peaks: Vec<Peaks>,
    pub(crate) audit: Vec<Doubt>,
    pub(crate) nodes: Vec<NodeComparison>,
    pub(crate) node_grids: Vec<NodeGrid>,
    pub(crate) members: Vec<MemberSet>,
    pub(crate) seeks: Vec<SeekFit>,
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
