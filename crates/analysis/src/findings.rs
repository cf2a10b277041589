//! What the figures of a study say together: curves, best points, scaling, comparisons with what
//! was expected, promised, published and claimed.
//!
//! Every figure is named by its place in the list that [`crate::figures`] gave; so whatever is
//! shown of a finding, its conditions, repetitions and warnings can be shown with it.

use std::collections::HashSet;

use plan::Phase;
use record::Operation;

use crate::audit::Doubt;
use crate::beside::Beside;
use crate::best::Best;
use crate::bound_by::BoundBy;
use crate::claims::ClaimVerdict;
use crate::consistency::Consistency;
use crate::cost::{Cost, Fit, Placement};
use crate::coverage::{CoverageJob, NodeCoverage};
use crate::curve::Curve;
use crate::curve_shape::CurveShape;
use crate::difference::Difference;
use crate::disk_view::DiskView;
use crate::dispersion::Dispersion;
use crate::expected::Expected;
use crate::gate::Stated;
use crate::imported::{HistoryTrip, ImportedCheck};
use crate::iops::DefinedIops;
use crate::jobs::Job;
use crate::layers::LayerStack;
use crate::matrix::{Matrices, MatrixTables};
use crate::members::{Member, MemberSet, ModelVerdict};
use crate::node_comparison::{NodeComparison, NodeStanding};
use crate::node_grid::NodeGrid;
use crate::overlay::{Overlay, Peaks};
use crate::process_limit::ProcessLimit;
use crate::scaling::{Scaling, Tax};
use crate::seek::SeekFit;
use crate::strips::StripPoint;
use crate::table::Table;
use crate::timeline::{FullTimer, JobCost, JobPlacing, Timeline, beside_jobs, of_first_passes, of_passes};
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
    pub overlays: Vec<Stated<Overlay>>,
    /// Curves of one chart that are drawn over each other, by their places in
    /// [`Findings::curves`].
    pub coincident: Vec<Vec<usize>>,
    /// How far the peaks of two workloads are apart that sweep the same key.
    pub peaks: Vec<Stated<Peaks>>,
    /// Jobs of small random transfers with their three rates.
    pub jobs: Vec<Stated<Job>>,
    /// Spread of the repetitions against a swept size.
    pub dispersion: Vec<Stated<Dispersion>>,
    /// What curves look like, with straight lines through those of node or task counts.
    pub shapes: Vec<Stated<CurveShape>>,
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
    pub nodes: Vec<Stated<NodeComparison>>,
    /// Workloads that ran on several targets, by node and target.
    pub node_grids: Vec<NodeGrid>,
    /// Rates against the number of nodes, with the same work for each.
    pub weak_scaling: Vec<Stated<WeakScaling>>,
    /// What its lines say of more nodes.
    pub extrapolations: Vec<Stated<Extrapolation>>,
    /// From how many nodes on node-local targets overtake shared ones.
    pub layer_crossovers: Vec<Stated<LayerCrossover>>,
    /// Members of targets beside each other.
    pub members: Vec<Stated<MemberSet>>,
    /// Their models, with the grades that they reached.
    pub device_models: Vec<Stated<ModelVerdict>>,
    /// Each of them.
    pub devices: Vec<Stated<Member>>,
    /// Positioning times and transfer rates of devices.
    pub seeks: Vec<Stated<SeekFit>>,
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
            Table::of(&self.shapes),
            Table::of(&self.overlays),
            Table::of(&self.peaks),
            Table::of(&self.dispersion),
            Table::of(&self.nodes),
            Table::of(&each_node(&self.nodes)),
            Table::of(&self.layer_crossovers),
            Table::of(&self.weak_scaling),
            Table::of(&self.extrapolations),
            Table::of(&distinct(&self.layers)),
            Table::of(&self.members),
            Table::of(&self.device_models),
            Table::of(&self.devices),
            Table::of(&self.seeks),
            Table::of(&self.strips),
            Table::of(&self.process_limits),
            Table::of(&self.disk_views),
            Table::planned(&self.fits),
            Table::of(&self.printed_checks),
            Table::of(&self.round_trips),
            Table::of(&self.timelines),
            Table::of(&of_passes(&self.timelines, |one| one.levels.iter().cloned().collect())),
            Table::of(&of_first_passes(&self.timelines, |one| beside_jobs(one, record::published()))),
            Table::of(&of_passes(&self.timelines, |one| one.spaces.clone())),
            Table::of(&self.job_placings),
            Table::of(&of_first_passes(&self.timelines, |one| one.kinds.clone())),
            Table::of(&of_first_passes(&self.timelines, |one| one.actions.clone())),
            Table::of(&self.full_timers),
            Table::of(&self.matrix_tables.sums),
            Table::of(&self.matrix_tables.contrasts),
            Table::of(&self.matrix_tables.ratios),
            Table::of(&self.matrix_tables.tests),
        ]
    }
}

/// The nodes of all figures, those that are or may be slow first.
fn each_node(sets: &[Stated<NodeComparison>]) -> Vec<Stated<NodeStanding>> {
    let mut all: Vec<_> = sets.iter().flat_map(|one| one.each(|set| set.nodes.clone())).collect();
    all.sort_by_key(|one| one.about().slow == Some(false));
    all
}

/// A layer that carries several stands in the stacks of all of them.
fn distinct(stacks: &[LayerStack]) -> LayerStack {
    let mut seen = HashSet::new();
    stacks.iter().flatten().filter(|one| seen.insert(&one.inputs)).cloned().collect()
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
