//! What the figures of a study say together: curves, best points, scaling, comparisons with what
//! was expected, promised, published and claimed.
//!
//! Every figure is named by its place in the list that [`crate::figures`] gave; so whatever is
//! shown of a finding, its conditions, repetitions and warnings can be shown with it.

use std::collections::HashSet;

use plan::{Client, Phase, Setting, SettingValue};
use record::Operation;

use crate::audit::Doubt;
use crate::beside::Beside;
use crate::best::Best;
use crate::bound_by::BoundBy;
use crate::claims::ClaimVerdict;
use crate::consistency::Consistency;
use crate::cost::{Cost, Fit, Placement};
use crate::coverage::{CoverageJob, NodeCoverage};
use crate::difference::Difference;
use crate::disk_view::DiskView;
use crate::expected::Expected;
use crate::gate::Stated;
use crate::imported::{HistoryTrip, ImportedCheck};
use crate::iops::DefinedIops;
use crate::jobs::Job;
use crate::layers::LayerStack;
use crate::matrix::{Matrices, MatrixTables};
use crate::members::MemberSet;
use crate::node_comparison::NodeComparison;
use crate::node_grid::NodeGrid;
use crate::overlay::{Overlay, Peaks};
use crate::process_limit::ProcessLimit;
use crate::scaling::{Scaling, Tax};
use crate::seek::SeekFit;
use crate::strips::StripPoint;
use crate::table::Table;
use crate::timeline::{FullTimer, JobCost, JobPlacing, Timeline, of_first_passes, of_passes};
use crate::verdict::Verdict;
use crate::weak_scaling::{Extrapolation, LayerCrossover, WeakScaling};
use crate::weakest::WeakestLink;

/// All findings of a study.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    /// Rates against a swept key.
    pub curves: Vec<Curve>,
    /// The best point of each sweep.
    pub best: Vec<Stated<Best>>,
    /// Rates against the sum of single devices.
    pub scaling: Vec<Stated<Scaling>>,
    /// What each target loses against another.
    pub taxes: Vec<Stated<Tax>>,
    /// Targets by how little their rates vary.
    pub consistency: Vec<Stated<Consistency>>,
    /// Figures against data sheets and limits.
    pub expected: Vec<Stated<Expected>>,
    /// The expected bound of each target, by its lowest limit.
    pub bounds: Vec<Stated<WeakestLink>>,
    /// Commitments, judged.
    pub verdicts: Vec<Stated<Verdict>>,
    /// Statements, tested.
    pub claims: Vec<Stated<ClaimVerdict>>,
    /// Own figures beside published ones.
    pub published: Vec<Stated<Beside>>,
    /// Pairs of curves, where they are farthest apart.
    pub overlays: Vec<Overlay>,
    /// Curves of one chart that are drawn over each other, by their places in
    /// [`Findings::curves`].
    pub coincident: Vec<Vec<usize>>,
    /// How far the peaks of two workloads are apart that sweep the same key.
    pub peaks: Vec<Peaks>,
    /// Jobs of small random transfers with their three rates.
    pub jobs: Vec<Stated<Job>>,
    /// Spread of the repetitions against a swept size.
    pub dispersion: Vec<Dispersion>,
    /// Straight lines through curves of node or task counts.
    pub regressions: Vec<CurveRegression>,
    /// Transfers per second by definition.
    pub iops: Vec<Stated<DefinedIops>>,
    /// What limited each figure, by its processor time.
    pub limits: Vec<Stated<BoundBy>>,
    /// Whether what other tools printed agrees with itself.
    pub printed_checks: Vec<Stated<ImportedCheck>>,
    /// Where the time of single operations of printed histories went.
    pub round_trips: Vec<Stated<HistoryTrip>>,
    /// What is doubtful, with evidence.
    pub audit: Vec<Doubt>,
    /// The nodes of each figure of several beside each other.
    pub nodes: Vec<NodeComparison>,
    /// Workloads that ran on several targets, by node and target.
    pub node_grids: Vec<NodeGrid>,
    /// Rates against the number of nodes, with the same work for each.
    pub weak_scaling: Vec<Stated<WeakScaling>>,
    /// What its lines say of more nodes.
    pub extrapolations: Vec<Stated<Extrapolation>>,
    /// From how many nodes on node-local targets overtake shared ones.
    pub layer_crossovers: Vec<Stated<LayerCrossover>>,
    /// Members of targets beside each other.
    pub members: Vec<MemberSet>,
    /// Positioning times and transfer rates of devices.
    pub seeks: Vec<SeekFit>,
    /// File systems against what their devices say of their block size.
    pub strips: Vec<Stated<StripPoint>>,
    /// Workloads on the layers of each other.
    pub layers: Vec<LayerStack>,
    /// Rates of as many tasks on more and more devices.
    pub process_limits: Vec<Stated<ProcessLimit>>,
    /// How sequential phases were at the application and at the devices.
    pub disk_views: Vec<Stated<DiskView>>,
    /// Time × devices and × rack units.
    pub costs: Vec<Stated<Cost>>,
    /// Which data targets are for.
    pub placements: Vec<Stated<Placement>>,
    /// Whether devices have slots and data has room.
    pub fits: Vec<Fit>,
    /// Every pass of jobs over time.
    pub timelines: Vec<Stated<Timeline>>,
    /// Launches and steps, with those of passes that were cut off.
    pub full_timers: Vec<Stated<FullTimer>>,
    /// Which space of jobs is for what reads fast.
    pub job_placings: Vec<Stated<JobPlacing>>,
    /// Run time of jobs × devices and × rack units.
    pub job_costs: Vec<Stated<JobCost>>,
    /// Jobs of which the study was put together; none where one job measured all of its nodes.
    pub covered_jobs: Vec<Stated<CoverageJob>>,
    /// Nodes, and when they were measured; likewise.
    pub covered_nodes: Vec<Stated<NodeCoverage>>,
    /// Launches of jobs, as a whole.
    pub matrices: Matrices,
    /// The same as rows.
    pub matrix_tables: MatrixTables,
}

impl Findings {
    /// The statements of all kinds, a table for each, for every form of a report.
    #[must_use]
    pub fn tables(&self) -> Vec<Table> {
        vec![
            Table::of(&self.verdicts),
            Table::of(&self.claims),
            Table::of(&self.best),
            Table::of(&self.scaling),
            Table::of(&self.taxes),
            Table::of(&self.consistency),
            Table::of(&self.costs),
            Table::of(&self.placements),
            Table::of(&self.job_costs),
            Table::of(&self.expected),
            Table::of(&self.bounds),
            Table::of(&self.iops),
            Table::of(&self.published),
            Table::of(&self.jobs),
            Table::of(&self.limits),
            Table::of(&self.covered_jobs),
            Table::of(&self.covered_nodes),
            Table::of(&self.layer_crossovers),
            Table::of(&self.weak_scaling),
            Table::of(&self.extrapolations),
            Table::of(&distinct(&self.layers)),
            Table::of(&self.strips),
            Table::of(&self.process_limits),
            Table::of(&self.disk_views),
            Table::planned(&self.fits),
            Table::of(&self.printed_checks),
            Table::of(&self.round_trips),
            Table::of(&self.timelines),
            Table::of(&of_passes(&self.timelines, |one| one.profile.levels.iter().cloned().collect())),
            Table::of(&of_first_passes(&self.timelines, |one| one.published.clone())),
            Table::of(&of_passes(&self.timelines, |one| one.spaces.clone())),
            Table::of(&self.job_placings),
            Table::of(&of_first_passes(&self.timelines, |one| one.moved.kinds.clone())),
            Table::of(&of_first_passes(&self.timelines, |one| one.actions.clone())),
            Table::of(&self.full_timers),
            Table::of(&self.matrix_tables.sums),
            Table::of(&self.matrix_tables.contrasts),
            Table::of(&self.matrix_tables.ratios),
            Table::of(&self.matrix_tables.tests),
        ]
    }
}

/// A layer that carries several stands in the stacks of all of them.
fn distinct(stacks: &[LayerStack]) -> LayerStack {
    let mut seen = HashSet::new();
    stacks.iter().flatten().filter(|one| seen.insert(&one.inputs)).cloned().collect()
}

/// Rates of one workload against one swept key; everything else is fixed.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The workload.
    pub group: String,
    /// The target.
    pub target: String,
    /// Where the measuring program ran; figures of different clients are never on one curve.
    pub client: Client,
    /// The phase.
    pub phase: Phase,
    /// The swept key on the x axis, as in `tasks`.
    pub axis: String,
    /// The other swept keys and their values, the target left out.
    pub fixed: Vec<Setting>,
    /// In rising order of the key.
    pub points: Vec<CurvePoint>,
    /// What the curve looks like.
    pub shape: Shape,
}

/// One point of a curve.
#[derive(Debug, Clone, PartialEq)]
pub struct CurvePoint {
    /// The figure.
    pub figure: usize,
    /// The value of the swept key.
    pub at: SettingValue,
    /// The same as a number: bytes, nanoseconds or a count.
    pub x: f64,
    /// Nothing disqualifies the figure.
    pub usable: bool,
    /// The rate that the curve is of, [`crate::Figure::headline`]: one of the next two.
    pub rate: f64,
    /// Median over the repetitions that count.
    pub bytes_per_second: f64,
    /// Median over the repetitions that count.
    pub transfers_per_second: f64,
    /// Repetitions that count.
    pub repetitions: usize,
    /// Mean of them, of [`CurvePoint::rate`].
    pub mean: f64,
    /// Standard deviation (n − 1) of them, of [`CurvePoint::rate`]; 0 for one.
    pub deviation: f64,
    /// Mean latency of all transfers that count.
    pub latency_mean_ns: Option<f64>,
    /// Tasks × depth that the latency predicts by Little's law ÷ tasks × depth that ran.
    pub little: Option<f64>,
    /// Share of the sum of all targets that the number of tasks can reach; 1 where they divide.
    pub balance_bound: f64,
}

/// What a curve looks like, as far as repetitions show it. Values are on the x axis, rates are those of
/// [`CurvePoint::rate`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shape {
    /// Where the rate is highest, as an index into the points.
    pub peak: Option<usize>,
    /// Where the rise ends: the farthest point from the chord of the normalised curve; none where
    /// the curve does not bend.
    pub knee: Option<f64>,
    /// From where to where the rate stays within 10 % of the peak; none where no neighbour of the
    /// peak does.
    pub plateau: Option<(f64, f64)>,
    /// Smallest value that reaches 90 % of the peak.
    pub reaches_90: Option<f64>,
    /// Smallest value that reaches 95 % of the peak.
    pub reaches_95: Option<f64>,
    /// Largest distance from the peak beyond [`Shape::reaches_95`], as a share of the peak; none
    /// where the curve ends there.
    pub spread_beyond: Option<f64>,
    /// A point inside the curve that stands out from both neighbours beyond the noise: the peak
    /// where it does, else the highest that does.
    pub sweet_spot: Option<f64>,
    /// Regular dips or peaks.
    pub dips: Option<Dips>,
}

/// Dips that come back after each period, as where offsets cross a stripe, or peaks, as where transfers fill one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dips {
    /// On the x axis.
    pub period: f64,
    /// Mean depth ÷ the rate beside the dip; below 0 of peaks.
    pub depth: f64,
}

/// Spread of repetitions against a swept size.
#[derive(Debug, Clone, PartialEq)]
pub struct Dispersion {
    /// The workload.
    pub group: String,
    /// The target.
    pub target: String,
    /// The phase.
    pub phase: Phase,
    /// The swept key, as in `size`.
    pub axis: String,
    /// In rising order.
    pub points: Vec<DispersionPoint>,
    /// The value from which on the repetitions spread more than before.
    pub onset: Option<f64>,
    /// Longest minus shortest time of one phase, over all points, in seconds.
    pub worst_seconds: f64,
}

/// The repetitions at one size.
#[derive(Debug, Clone, PartialEq)]
pub struct DispersionPoint {
    /// The figure.
    pub figure: usize,
    /// The swept value.
    pub x: f64,
    /// The first rate of every repetition.
    pub repetitions: Vec<f64>,
    /// Coefficient of variation.
    pub variation: f64,
    /// Longest minus shortest time of the phase, in seconds.
    pub seconds: f64,
    /// Bytes of one task.
    pub bytes_per_task: u64,
}

/// A straight line through a curve.
#[derive(Debug, Clone, PartialEq)]
pub struct CurveRegression {
    /// The curve, by its place in [`Findings::curves`].
    pub curve: usize,
    /// What one more of the key adds to [`CurvePoint::rate`].
    pub slope: f64,
    /// Half width of the 95 % interval of the slope.
    pub slope_half_width: f64,
    /// The line at 0.
    pub intercept: f64,
    /// Share of the variance that the line explains.
    pub r_squared: f64,
}

/// How two figures of two runs, releases or targets compare.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The case.
    pub case: String,
    /// The phase.
    pub phase: Phase,
    /// Which one, where latencies are compared.
    pub operation: Option<Operation>,
    /// Of a rate: it is that over the time of the transfers alone, beside the one by which both are
    /// summarised.
    pub transferring: bool,
    /// Of the first rate of the phase, [`crate::RateOf::phase`]; of nanoseconds where
    /// [`Comparison::operation`] is given.
    pub difference: Difference,
    /// Why the figures may not be compared, though they were measured: what the audit says of one of them. Nothing
    /// is stated then.
    pub refused: Option<String>,
}
