//! What the figures of a study show together: curves, best points, scaling, and comparisons with expectations,
//! commitments, published figures and claims.
//!
//! Every figure is referred to by its index in the list returned by [`crate::figures::figures`], so any report
//! of a finding can show the figure's conditions, repetitions and warnings with it.

use std::collections::HashSet;

use record::{Manifest, Provenance, Run};

use crate::audit::{self, AuditIssue, Check};
use crate::caveats::{Caveats, caveats};
use crate::comparisons::{
    ClaimVerdict, CrossCheck, PublishedComparison, Verdict, claims, commitments, cross_check, published,
    unruled::Beside,
};
use crate::figures::Figure;
use crate::gate::{Gate, Judgement, Stated, Statement, Table};
use crate::jobs::{
    FullTimer, Job, JobCost, Matrices, MatrixTables, Timeline, beside_jobs, job_table, matrices, matrix,
    of_first_passes, of_passes, published_matrix, timeline, timelines,
};
use crate::nodes::{
    CoverageJob, Extrapolation, LayerCrossover, NodeComparison, NodeCoverage, NodeStanding, WeakScaling,
    coverage, hosts, known_nodes, node_comparison, weak_scaling,
};
use crate::printed::{BenchmarkScore, HistoryTrip, ImportedCheck, SLOWEST_MOVED, imported, score};
use crate::scaling::{
    BoundBy, LayerOverhead, LayerStack, ProcessLimit, Scaling, bound_by, layers, limits, process_limit,
    scalability,
};
use crate::sweeps::{
    Best, Consistency, Curve, CurveShape, Dispersion, Overlay, Peaks, RateChange, best, consistency,
    curve_shape, curves, dispersion, overlay, rate_change,
};
use crate::targets::{
    Cost, DefinedIops, DiskView, Expected, Fit, IoHistory, Member, MemberSet, ModelVerdict, Placement,
    SeekFit, ServerSide, StripPoint, TargetContrast, WeakestLink, contrast, cost, disk_view, expected,
    io_history, iops, members, seek, server_side, weakest,
};
use crate::together::{AllTogether, Beside as BesideOthers, together};

/// Declares [`Findings`]: the statements of each kind, which are a table each, and what others are made from.
macro_rules! findings {
    (
        statements { $($(#[$about:meta])* $kind:ident: $statement:ty,)+ }
        others { $($(#[$about_other:meta])* $other:ident: $type:ty,)+ }
    ) => {
        /// All findings of a study.
        #[derive(Debug, Clone, Default, PartialEq)]
        #[expect(missing_docs, reason = "the type of a field says what it is")]
        pub struct Findings {
            $($(#[$about])* pub $kind: Vec<Stated<$statement>>,)+
            $($(#[$about_other])* pub $other: $type,)+
        }

        impl Findings {
            /// One table for each field of statements.
            fn tables_of_fields(&self) -> Vec<Table> {
                vec![$(Table::of(&self.$kind)),+]
            }
        }
    };
}

findings! {
    statements {
        best: Best,
        scaling: Scaling,
        taxes: LayerOverhead,
        target_contrasts: TargetContrast,
        consistency: Consistency,
        beside_others: BesideOthers,
        all_together: AllTogether,
        expected: Expected,
        bounds: WeakestLink,
        verdicts: Verdict,
        claims: ClaimVerdict,
        published: PublishedComparison,
        overlays: Overlay,
        peaks: Peaks,
        jobs: Job,
        dispersion: Dispersion,
        changes: RateChange,
        shapes: CurveShape,
        iops: DefinedIops,
        scores: BenchmarkScore,
        limits: BoundBy,
        printed_checks: ImportedCheck,
        round_trips: HistoryTrip,
        nodes: NodeComparison,
        weak_scaling: WeakScaling,
        extrapolations: Extrapolation,
        layer_crossovers: LayerCrossover,
        members: MemberSet,
        device_models: ModelVerdict,
        devices: Member,
        seeks: SeekFit,
        strips: StripPoint,
        process_limits: ProcessLimit,
        disk_views: DiskView,
        io_histories: IoHistory,
        server_sides: ServerSide,
        costs: Cost,
        placements: Placement,
        timelines: Timeline,
        full_timers: FullTimer,
        job_costs: JobCost,
        /// The batch jobs from which the study was merged; empty if one job measured all of its nodes.
        covered_jobs: CoverageJob,
        covered_nodes: NodeCoverage,
        cross_checks: CrossCheck,
    }
    others {
        /// One for each figure.
        caveats: Vec<Caveats>,
        curves: Vec<Curve>,
        /// Curves of one chart that are drawn on top of each other, by their indices in [`Findings::curves`].
        coincident: Vec<Vec<usize>>,
        /// The doubts about figures, with evidence.
        audit: Vec<AuditIssue>,
        layers: Vec<LayerStack>,
        /// Name and nodes of each expectation none of whose nodes took part in any figure.
        without_nodes: Vec<(String, String)>,
        fits: Vec<Fit>,
        matrices: Matrices,
        matrix_tables: MatrixTables,
    }
}

/// Whether some of its figures come from the output of another tool.
fn is_imported(run: &Run) -> bool {
    run.manifest.plan.cases.iter().any(|case| run.provenance(case) == Provenance::Imported)
}

/// The doubts about `figures`, which are those of `run`, without what only a scaling curve shows.
#[must_use]
pub fn audit(run: &Run, figures: &[Figure]) -> Vec<AuditIssue> {
    let expected = expected(&run.manifest.plan, figures);
    let checks = if is_imported(run) { imported::imported_checks(run) } else { Vec::new() };
    audited(run, figures, (&expected, &checks, &matrices(run, figures), &timelines(run, figures)))
}

/// What the doubts rest on besides the figures.
type Basis<'a> = (&'a [Expected], &'a [ImportedCheck], &'a Matrices, &'a [Timeline]);

fn audited(
    run: &Run,
    figures: &[Figure],
    (expected, checks, matrices, timelines): Basis<'_>,
) -> Vec<AuditIssue> {
    let mut audit = audit::audit(&run.manifest.plan, figures, expected);
    audit.extend(contradictions(checks, figures));
    audit.extend(matrix::doubts(matrices, figures));
    audit.extend(audit::above_links(run, figures));
    audit.extend(audit::absorbed(run, figures));
    let of_promised = audit::promised(run, figures, &audit);
    audit.extend(of_promised);
    audit.extend(audit::damaged(run, figures));
    audit.extend(timeline::doubts(timelines, figures));
    let simulated = run.manifest.provenance == Provenance::Simulated;
    audit.retain(|one| one.check.speaks(simulated));
    if simulated {
        audit.iter_mut().for_each(AuditIssue::advise_on_model);
    }
    audit
}

/// All findings about `figures`, which are those of `run`. The running time is proportional to the number of
/// figures.
#[must_use]
pub fn findings(run: &Run, figures: &[Figure]) -> Findings {
    let (plan, host) = (&run.manifest.plan, &run.manifest.host);
    let expected = expected(plan, figures);
    let imported = is_imported(run);
    let checks = if imported { imported::imported_checks(run) } else { Vec::new() };
    let trips = if imported { imported::round_trips(run) } else { Vec::new() };
    let matrices = matrices(run, figures);
    let timelines = timelines(run, figures);
    let mut audit = audited(run, figures, (&expected, &checks, &matrices, &timelines));
    let reference = run.reference.as_deref().map(|one| {
        let figures = crate::figures::figures(&one.run, plan::RateName::ByWall);
        let doubts = findings(&one.run, &figures).audit;
        (one, figures, doubts)
    });
    let beside = reference.as_ref().map(|(one, figures, doubts)| {
        let name = [one.run.manifest.run_id.as_str(), one.sha256.as_str()];
        (Gate::new(&one.run.manifest.plan, figures, doubts), name)
    });
    let gate = Gate::new(plan, figures, &audit);
    let gate = &match &beside {
        Some((reference, name)) => gate.beside(reference, *name),
        None => gate,
    };
    let curves = curves::curves(gate);
    let limits = limits(plan, figures, usable_cpus(&run.manifest));
    let seeks = seek::seek_fits(gate, &curves);
    let (members, device_models, devices) =
        members::of_gate(gate, &[host].into_iter().chain(hosts(run)).collect::<Vec<_>>());
    let (weak_scaling, extrapolations, layer_crossovers) = weak_scaling::of_gate(gate);
    let scaling = scalability::scaling(gate);
    audit.extend(audit::beyond_devices(figures, &scaling));
    let known_nodes = known_nodes(run);
    let nodes = node_comparison::of_gate(gate, &known_nodes);
    let (covered_jobs, covered_nodes) = coverage::coverage(run, figures);
    // Reading the library takes a while, and a study that names nothing in it does not need it.
    let is_study = matches!(plan.source, plan::PlanSource::Study { .. });
    let names_published = !plan.criteria.published.is_empty() || !plan.criteria.claims.is_empty();
    let library = (names_published || !is_study).then(record::published);
    let published = library.map_or_else(Vec::new, |library| published::of_plan(plan, figures, library));
    let published = of_gate(gate, published, |one| one.figure.into_iter().collect());
    let printed = (!matrices.all.is_empty()).then(record::published).and_then(published_matrix);
    let best = best::best(gate);
    let layers = layers::layers(gate, Some(host), &limits);
    let beside = Beside { best: &best, layers: &layers };
    let (beside_others, all_together) = together(run, gate);
    let claims =
        library.map_or_else(Vec::new, |library| claims::claim_verdicts(gate, beside, &curves, library));
    Findings {
        caveats: caveats(gate, &best),
        best,
        taxes: scalability::taxes(gate),
        beside_others,
        all_together,
        target_contrasts: contrast::target_contrasts(gate),
        consistency: consistency::consistency(gate),
        expected: expected::of_gate(gate, &expected),
        bounds: of_gate(gate, weakest::usable_links(gate), |one| {
            one.efficiency.map(|(place, _)| place).into_iter().collect()
        }),
        verdicts: of_gate(gate, commitments::all(gate), |one| one.figure.into_iter().collect()),
        claims: of_gate(gate, claims, |one| one.figures.clone()),
        cross_checks: cross_check::cross_checks(gate),
        overlays: overlay::overlays(gate, &curves),
        coincident: overlay::coincident(&curves),
        peaks: overlay::peaks(gate, &curves),
        jobs: job_table::jobs(run, gate, &nodes, &published),
        dispersion: dispersion::of_gate(gate, &curves),
        changes: rate_change::of_gate(run, gate),
        shapes: curve_shape::of_gate(gate, &curves),
        iops: of_gate(gate, iops::of_small(plan, figures, &audit), |one| vec![one.figure]),
        scores: score::scores(run, gate),
        members,
        device_models,
        devices,
        strips: seek::strips(gate, &seeks),
        seeks: seek::of_gate(gate, &seeks),
        layers,
        process_limits: process_limit::of_gate(gate, &limits, &expected),
        disk_views: disk_view::disk_views(run, gate),
        io_histories: io_history::io_histories(run, gate),
        without_nodes: expected::without_nodes(plan, figures),
        server_sides: server_side::server_sides(gate),
        costs: cost::costs(gate),
        placements: cost::placements(gate),
        fits: cost::fits_of(run, &timelines),
        full_timers: timeline::full_timers(run, gate, &timelines),
        job_costs: timeline::job_costs(gate, &timelines),
        timelines: of_gate(gate, timelines, |one| vec![one.figure]),
        limits: bound_by::of_gate(gate, limits),
        printed_checks: of_gate(gate, checks, |_| Vec::new()),
        round_trips: of_gate(gate, trips, |_| Vec::new()),
        nodes,
        layer_crossovers,
        extrapolations,
        weak_scaling,
        covered_jobs: of_gate(gate, covered_jobs, |_| Vec::new()),
        covered_nodes: of_gate(gate, covered_nodes, |_| Vec::new()),
        matrix_tables: matrix::tables(gate, &matrices, printed),
        matrices,
        published,
        curves,
        audit,
        scaling,
    }
}

fn of_gate<T: Statement>(gate: &Gate<'_>, all: Vec<T>, inputs: fn(&T) -> Vec<usize>) -> Vec<Stated<T>> {
    all.into_iter().map(|one| gate.state(inputs(&one), one)).collect()
}

/// The number of processors per node that the program's processes could run on; the lowest one over all nodes.
#[must_use]
pub fn usable_cpus(manifest: &Manifest) -> u32 {
    let nodes = manifest.cluster.iter().flat_map(|cluster| &cluster.nodes);
    nodes.map(|node| node.host.usable_cpus).min().unwrap_or(manifest.host.usable_cpus)
}

/// Printed values of imported cases that contradict each other.
fn contradictions(checks: &[ImportedCheck], figures: &[Figure]) -> Vec<AuditIssue> {
    let differs = |one: &&ImportedCheck| one.check.outcome == Judgement::DoesNotHold;
    let doubt = |one: &ImportedCheck| AuditIssue {
        check: match one.check.rule {
            SLOWEST_MOVED => Check::EndedApart,
            _ => Check::Contradiction,
        },
        figure: figures.iter().position(|figure| {
            figure.case == one.case && one.phase.is_none_or(|phase| phase == figure.phase)
        }),
        commitment: None,
        concerns: one.phase.map_or_else(|| one.case.clone(), |phase| format!("{} {phase}", one.case)),
        evidence: format!("{}: {}", one.check.rule, one.check.evidence),
        advice: "check the text: a digit is wrong, or its processes did not run at the same time".to_owned(),
        severity: 0.0,
    };
    checks.iter().filter(differs).map(doubt).collect()
}

impl Findings {
    /// The statements of all kinds, one table per kind, for every report format.
    #[must_use]
    pub fn tables(&self) -> Vec<Table> {
        let timelines = &self.timelines;
        let mut tables = self.tables_of_fields();
        tables.extend([
            Table::of(&each_node(&self.nodes)),
            Table::of(&distinct(&self.layers)),
            Table::planned(&self.fits),
            Table::of(&of_passes(timelines, |one| one.levels.iter().cloned().collect())),
            Table::of(&of_first_passes(timelines, |one| beside_jobs(one, record::published()))),
            Table::of(&of_passes(timelines, |one| one.spaces.clone())),
            Table::of(&of_first_passes(timelines, |one| one.kinds.clone())),
            Table::of(&self.matrix_tables.sums),
            Table::of(&self.matrix_tables.contrasts),
            Table::of(&self.matrix_tables.ratios),
            Table::of(&self.matrix_tables.tests),
        ]);
        tables.sort_by_key(|table| table.kind);
        tables
    }
}

/// The nodes of all figures; those that are or may be slow come first.
fn each_node(sets: &[Stated<NodeComparison>]) -> Vec<Stated<NodeStanding>> {
    let mut all: Vec<_> = sets.iter().flat_map(|one| one.each(|set| set.nodes.clone())).collect();
    all.sort_by_key(|one| one.about().slow == Some(false));
    all
}

/// A layer that carries several others is part of the stacks of all of them.
fn distinct(stacks: &[LayerStack]) -> LayerStack {
    let mut seen = HashSet::new();
    stacks.iter().flatten().filter(|one| seen.insert(&one.inputs)).cloned().collect()
}
