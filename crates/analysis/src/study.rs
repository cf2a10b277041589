//! All findings of a study.

use plan::Plan;
use record::{HostFacts, Manifest, Provenance, Run};

use crate::coverage::known_nodes;
use crate::findings::Findings;
use crate::gate::{Gate, Kind};
use crate::printed_checks::SLOWEST_MOVED;
use crate::table::Standing;
use crate::{
    Check, Doubt, Expected, Figure, ImportedCheck, audit, best, bound_by, claims, consistency, cost,
    coverage, curve_shape, curves, disk_view, dispersion, expected, imported, imported_checks, iops, jobs,
    layers, limits, matrix, members, node_comparison, node_grid, overlay, process_limit, published,
    round_trips, scaling, seek, seek_fits, strips, timeline, timelines, verdict, weak_scaling, weakest,
};

/// Everything that `figures`, which are those of `run`, say together.
#[must_use]
pub fn findings_of(run: &Run, figures: &[Figure]) -> Findings {
    let matrices = matrix::matrices(run, figures);
    let library = (!matrices.all.is_empty()).then(record::published);
    let printed = library.and_then(matrix::published_matrix);
    let cases = &run.manifest.plan.cases;
    let any = cases.iter().any(|case| run.provenance(&case.id) == Provenance::Imported);
    let checks = if any { imported_checks(run) } else { Vec::new() };
    let trips = if any { round_trips(run) } else { Vec::new() };
    let mut more = contradictions(&checks, figures);
    more.extend(matrix::doubts(&matrices, figures));
    more.extend(audit::above_links(run, figures));
    let plan = &run.manifest.plan;
    let host = Some(&run.manifest.host);
    let timelines = timelines(run, figures);
    more.extend(timeline::doubts(&timelines, figures));
    let doubts = Doubts::of(plan, figures, more);
    let gate = Gate::new(plan, figures, &doubts.audit);
    let (job_placings, job_costs) =
        (timeline::job_placings(run, &gate, &timelines), timeline::job_costs(&gate, &timelines));
    let (jobs, nodes) = coverage::coverage(run, figures);
    let covered_jobs = jobs.into_iter().map(|one| gate.state(Kind::CoveredJob, Vec::new(), one)).collect();
    let covered_nodes = nodes.into_iter().map(|one| gate.state(Kind::CoveredNode, Vec::new(), one)).collect();
    let found = of_gate(&gate, doubts, usable_cpus(&run.manifest), host, &known_nodes(run));
    Findings {
        jobs: jobs::jobs(run, &gate, &found.nodes, &found.published),
        covered_jobs,
        covered_nodes,
        disk_views: disk_view::disk_views(run, &gate),
        job_placings,
        job_costs,
        fits: cost::fits_of(plan, &timelines, host),
        full_timers: timeline::full_timers(run, &gate, &timelines),
        timelines: timelines
            .into_iter()
            .map(|one| gate.state(Kind::JobPass, vec![one.figure], one))
            .collect(),
        matrix_tables: matrix::tables(&gate, &matrices, printed),
        matrices,
        printed_checks: imported::of_gate(&gate, Kind::PrintedCheck, checks),
        round_trips: imported::of_gate(&gate, Kind::RoundTrip, trips),
        ..found
    }
}

/// What speaks against figures: the audit of each, and the ratios to what was expected that it needs.
struct Doubts {
    expected: Vec<Expected>,
    audit: Vec<Doubt>,
}

impl Doubts {
    /// With `more` that are known of the run.
    fn of(plan: &Plan, figures: &[Figure], more: Vec<Doubt>) -> Self {
        let expected = expected(plan, figures);
        let mut audit = audit(plan, figures, &expected);
        audit.extend(more);
        Self { expected, audit }
    }
}

/// The processors of a node that the program's processes could run on, of the node that has fewest.
#[must_use]
pub fn usable_cpus(manifest: &Manifest) -> u32 {
    let nodes = manifest.cluster.iter().flat_map(|cluster| &cluster.nodes);
    nodes.map(|node| node.host.usable_cpus).min().unwrap_or(manifest.host.usable_cpus)
}

/// Everything that the figures of `plan` say together, as far as that can be known without the run
/// that they are of: [`findings_of`] knows the nodes that measured nothing, and the jobs.
///
/// `usable_cpus` are the processors of a node that the program could run on, for what limited a figure.
/// The work grows in step with the number of figures.
#[must_use]
pub fn findings(plan: &Plan, figures: &[Figure], usable_cpus: u32) -> Findings {
    let doubts = Doubts::of(plan, figures, Vec::new());
    let gate = Gate::new(plan, figures, &doubts.audit);
    of_gate(&gate, doubts, usable_cpus, None, &[])
}

fn of_gate(
    gate: &Gate<'_>,
    doubts: Doubts,
    usable_cpus: u32,
    host: Option<&HostFacts>,
    known_nodes: &[String],
) -> Findings {
    let (plan, figures) = (gate.plan, gate.figures);
    let Doubts { expected, mut audit } = doubts;
    let curves = curves::curves(gate);
    let limits = limits(plan, figures, &audit, usable_cpus);
    let seeks = seek_fits(gate, &curves);
    let (members, device_models, devices) = members::of_gate(gate, host);
    let (weak_scaling, extrapolations, layer_crossovers) = weak_scaling::of_gate(gate);
    let scaling = scaling::scaling(gate);
    let process_limits = process_limit::of_gate(gate, &limits, &expected);
    audit.extend(audit::beyond_devices(figures, &scaling));
    // The library takes a while to read, and is of no use to a study that names nothing in it.
    let is_study = matches!(plan.question, plan::Question::Study { .. });
    let names_published = !plan.terms.published.is_empty() || !plan.terms.claims.is_empty();
    let library = (names_published || !is_study).then(record::published);
    Findings {
        best: best::best(gate),
        scaling,
        taxes: scaling::taxes(gate),
        consistency: consistency::consistency(gate),
        expected: expected::of_gate(gate, &expected),
        bounds: weakest::of_gate(gate),
        verdicts: verdict::of_gate(gate),
        claims: library.map_or_else(Vec::new, |library| claims::of_gate(gate, &curves, library)),
        published: library.map_or_else(Vec::new, |library| published::of_gate(gate, library)),
        overlays: overlay::overlays(gate, &curves),
        coincident: overlay::coincident(&curves),
        peaks: overlay::peaks(gate, &curves),
        jobs: Vec::new(),
        dispersion: dispersion::of_gate(gate, &curves),
        shapes: curve_shape::of_gate(gate, &curves),
        iops: iops::of_gate(gate, &audit),
        members,
        device_models,
        devices,
        strips: strips::strips(gate, &seeks),
        seeks: seek::of_gate(gate, &seeks),
        layers: layers::layers(gate, host, &limits),
        process_limits,
        disk_views: Vec::new(),
        costs: cost::costs(gate),
        placements: cost::placements(gate),
        fits: cost::fits(plan),
        timelines: Vec::new(),
        full_timers: Vec::new(),
        job_placings: Vec::new(),
        job_costs: Vec::new(),
        limits: bound_by::of_gate(gate, &limits),
        printed_checks: Vec::new(),
        round_trips: Vec::new(),
        audit,
        nodes: node_comparison::of_gate(gate, known_nodes),
        node_grids: node_grid::node_grids(gate, known_nodes),
        layer_crossovers,
        extrapolations,
        weak_scaling,
        covered_jobs: Vec::new(),
        covered_nodes: Vec::new(),
        matrices: matrix::Matrices::default(),
        matrix_tables: matrix::MatrixTables::default(),
        curves,
    }
}

/// Printed values of imported cases that contradict each other.
fn contradictions(checks: &[ImportedCheck], figures: &[Figure]) -> Vec<Doubt> {
    let differs = |one: &&ImportedCheck| one.check.outcome == Standing::DoesNotHold;
    let doubt = |one: &ImportedCheck| Doubt {
        check: match one.check.rule {
            SLOWEST_MOVED => Check::EndedApart,
            _ => Check::Contradiction,
        },
        figure: figures.iter().position(|figure| {
            figure.case == one.case && one.phase.is_none_or(|phase| phase == figure.phase)
        }),
        concerns: match one.phase {
            Some(phase) => format!("{} {phase}", one.case),
            None => one.case.clone(),
        },
        evidence: format!("{}: {}", one.check.rule, one.check.evidence),
        advice: "look at the text again: a digit is wrong, or its processes did not run together".to_owned(),
    };
    checks.iter().filter(differs).map(doubt).collect()
}
