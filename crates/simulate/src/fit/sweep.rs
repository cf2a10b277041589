//! The points of a record to which a model is fitted.

use std::collections::HashMap;

use analysis::audit::{AuditIssue, Use};
use analysis::figures::{Figure, Latency, grouped};
use analysis::findings::findings;
use plan::{Case, Layer, Measure, Operation, Phase};
use record::Run;

use super::network::Load;
use super::request::{FitError, FitOptions, POINTS_LEAST, REPETITIONS_LEAST};

/// The settings that may differ between the points.
const VARIED: [&str; 4] = ["depth", "tasks", "tasks_per_node", "transfer"];

/// The measurements at one point.
#[derive(Debug, Clone)]
pub(super) struct Point {
    pub(super) load: Load,
    /// Number of transfers in a pass.
    pub(super) transfers: u64,
    /// For each repetition: the logarithms of transfers per nanosecond and of the mean latency in
    /// nanoseconds.
    pub(super) passes: Vec<[f64; 2]>,
    /// Processor time of one transfer, in nanoseconds.
    pub(super) processor_ns: f64,
    /// The latencies of all transfers.
    pub(super) latency: Option<Latency>,
}

impl Point {
    /// The mean over the repetitions.
    pub(super) fn mean(&self) -> [f64; 2] {
        [0, 1].map(|index| {
            self.passes.iter().map(|pass| pass[index]).sum::<f64>() / self.passes.len().max(1) as f64
        })
    }
}

/// All points of one direction, in ascending order of transfers in flight and size.
#[derive(Debug, Clone)]
pub(super) struct Direction {
    pub(super) writes: bool,
    pub(super) points: Vec<Point>,
    /// The lowest ceilings stated in the study: transfers and bytes per second.
    pub(super) ceilings: [Option<f64>; 2],
}

/// The sweep of one workload on one target.
#[derive(Debug, Clone)]
pub(super) struct Sweep {
    pub(super) workload: String,
    pub(super) target: String,
    pub(super) nodes: u32,
    pub(super) directions: Vec<Direction>,
    /// Points that are not used, each with the reason.
    pub(super) left_out: Vec<String>,
}

impl Sweep {
    /// The name of the workload and the target.
    pub(super) fn name(&self) -> String {
        let on = if self.target.is_empty() { String::new() } else { format!(" on {}", self.target) };
        format!("{}{on}", self.workload)
    }
}

type Candidate<'a> = (usize, &'a Figure, &'a Case);

/// The sweep of `run` that is specified by the options.
pub(super) fn sweep(run: &Run, figures: &[Figure], options: &FitOptions) -> Result<Sweep, FitError> {
    let all = candidates(run, figures, options);
    if all.is_empty() {
        return Err(FitError::NoTransfers { asked: options.words() });
    }
    let groups = grouped(all, |(_, _, case)| key(case));
    let mut varied: Vec<Vec<Candidate<'_>>> = groups.into_iter().filter(|group| is_varied(group)).collect();
    let group = match varied.len() {
        0 => return Err(FitError::NothingVaried),
        1 => varied.remove(0),
        _ => {
            return Err(FitError::Several { sweeps: varied.iter().map(|group| named(group[0].2)).collect() });
        }
    };
    let case = group[0].2;
    let target = run.manifest.plan.criteria.targets.iter().find(|target| target.name == case.target);
    let nodes = case.workload.nodes.max(1);
    if nodes > 1 && target.is_some_and(|target| target.layer == Layer::NodeLocal) {
        return Err(FitError::Local { target: case.target.clone(), nodes });
    }
    of_group(run, figures, &group, nodes)
}

/// The figures of transfers in one direction.
fn candidates<'a>(run: &'a Run, figures: &'a [Figure], options: &FitOptions) -> Vec<Candidate<'a>> {
    let cases: HashMap<&str, &Case> =
        run.manifest.plan.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let is_asked = |asked: &Option<String>, own: &str| asked.as_ref().is_none_or(|asked| asked == own);
    let candidate = |(index, figure): (usize, &'a Figure)| {
        let case = *cases.get(figure.case.as_str())?;
        let fits = figure.phase.is_result()
            && matches!(figure.phase, Phase::Write | Phase::Read)
            && case.workload.work.is_transfers()
            && is_asked(&options.workload, &case.group)
            && is_asked(&options.target, &case.target);
        fits.then_some((index, figure, case))
    };
    figures.iter().enumerate().filter_map(candidate).collect()
}

/// What all points of a sweep have in common.
fn key(case: &Case) -> (String, String, Vec<String>) {
    let other = case.settings.iter().filter(|setting| !VARIED.contains(&setting.key.as_str()));
    (case.group.clone(), case.target.clone(), other.map(ToString::to_string).collect())
}

fn named(case: &Case) -> String {
    let (workload, target, other) = key(case);
    let on = if target.is_empty() { String::new() } else { format!(" on {target}") };
    format!("{workload}{on}{}", other.iter().map(|one| format!(", {one}")).collect::<String>())
}

fn load(case: &Case) -> Load {
    let workload = &case.workload;
    let depth = workload.backend.depth().max(1);
    Load { tasks: workload.tasks, depth, bytes: workload.geometry.transfer.0 }
}

fn is_varied(group: &[Candidate<'_>]) -> bool {
    group.iter().any(|(_, _, case)| load(case) != load(group[0].2))
}

fn of_group(run: &Run, figures: &[Figure], group: &[Candidate<'_>], nodes: u32) -> Result<Sweep, FitError> {
    let doubts = findings(run, figures).audit;
    let first = group[0].2;
    let mut sweep = Sweep {
        workload: first.group.clone(),
        target: first.target.clone(),
        nodes,
        directions: Vec::new(),
        left_out: Vec::new(),
    };
    let (mut single, mut few) = (0, 0);
    for (phase, writes) in [(Phase::Read, false), (Phase::Write, true)] {
        let mut points: Vec<Point> = Vec::new();
        for (index, figure, case) in group.iter().filter(|(_, figure, _)| figure.phase == phase) {
            match point(run, &doubts, *index, figure, case) {
                Ok(point) if point.passes.len() < REPETITIONS_LEAST => single += 1,
                Ok(point) => points.push(point),
                Err(reason) => sweep.left_out.push(format!("{}: {reason}", figure.conditions)),
            }
        }
        points.sort_by_key(|point| (point.load.in_flight(), point.load.bytes));
        few = few.max(points.len());
        if points.len() >= POINTS_LEAST {
            let ceilings = ceilings(run, first, phase, nodes);
            sweep.directions.push(Direction { writes, points, ceilings });
        }
    }
    match sweep.directions.is_empty() {
        false => Ok(sweep),
        true if few == 0 && single > 0 => Err(FitError::OneRepetition),
        true => Err(FitError::TooFewPoints { usable: few, left_out: sweep.left_out }),
    }
}

/// The point of a figure, or the reason why it is not used.
fn point(
    run: &Run,
    doubts: &[AuditIssue],
    index: usize,
    figure: &Figure,
    case: &Case,
) -> Result<Point, String> {
    if case.workload.pace.is_some() {
        return Err("its rate is prescribed by the workload".to_owned());
    }
    if case.in_flight().is_none() || case.transfer().is_none() {
        return Err(
            "it is imported, and how many transfers of which size were in flight is not printed".to_owned()
        );
    }
    let against = doubts.iter().find(|doubt| doubt.figure == Some(index) && doubt.withholds(Use::Other));
    if let Some(doubt) = against {
        return Err(format!("{}: {}", doubt.check.name(), doubt.evidence));
    }
    let operation = if figure.phase == Phase::Write { Operation::Write } else { Operation::Read };
    let mut passes = Vec::new();
    let (mut transfers, mut processor_ns) = (0, f64::INFINITY);
    for pass in figure.counted() {
        let latency = pass.response(operation).filter(|latency| latency.knows_mean);
        let latency = latency.ok_or("it has no latencies with a known mean")?.mean_ns();
        let rate = pass.rates.by_io.transfers_per_second / 1e9;
        if !(rate > 0.0 && latency > 0.0) {
            return Err("nothing was transferred".to_owned());
        }
        passes.push([rate.ln(), latency.ln()]);
        let row = &pass.phase;
        transfers = row.transfers();
        let used = (row.user_cpu_ns + row.system_cpu_ns) as f64;
        processor_ns = processor_ns.min(used / transfers.max(1) as f64);
    }
    let counted: Vec<u32> = figure.counted().map(|pass| pass.repetition).collect();
    let rows = run.latency(&case.id);
    let own =
        rows.iter().filter(|row| row.key.phase == figure.phase && counted.contains(&row.key.repetition));
    let latency = Latency::of(own, operation, Measure::Response);
    Ok(Point { load: load(case), transfers, passes, processor_ns, latency })
}

/// The lowest ceilings that the study states for the target, in transfers and in bytes per second.
fn ceilings(run: &Run, case: &Case, phase: Phase, nodes: u32) -> [Option<f64>; 2] {
    let criteria = &run.manifest.plan.criteria;
    let target = criteria.targets.iter().find(|target| target.name == case.target);
    let (devices, layer) = target.map_or((0, Layer::Unstated), |target| (target.devices, target.layer));
    let mut lowest = [None::<f64>; 2];
    for one in &criteria.expectations {
        let concerns = one.ceiling
            && one.is_of_all_nodes()
            && one.target.as_ref().is_none_or(|named| *named == case.target)
            && one.phase.is_none_or(|named| named == phase)
            && one.read_percent.is_none();
        let (place, value) = match one.in_all(nodes, devices, layer) {
            plan::Amount::OperationsPerSecond(value) => (0, value),
            plan::Amount::BytesPerSecond(value) => (1, value),
            plan::Amount::Latency { .. } => continue,
        };
        if concerns && value > 0.0 {
            lowest[place] = Some(lowest[place].map_or(value, |known| known.min(value)));
        }
    }
    lowest
}
