//! Figures: what tables, charts and pages show, with all that must stand beside it.

use std::collections::HashMap;

use plan::{Phase, Plan};
use record::{
    LatencyRow, Measure, Operation, PhaseKey, PhaseRow, Run, SeriesRow, TaskRow, Warning, WarningRow,
};

use crate::{DeviceShare, Latency, RateName, Rates, Summary};

/// The rows that figures are made of.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// What was asked.
    pub plan: &'a Plan,
    /// Phases.
    pub phases: &'a [PhaseRow],
    /// Their tasks.
    pub tasks: &'a [TaskRow],
    /// Their latencies.
    pub latency: &'a [LatencyRow],
    /// Their seconds.
    pub series: &'a [SeriesRow],
    /// Their warnings.
    pub warnings: &'a [WarningRow],
}

impl<'a> From<&'a Run> for View<'a> {
    fn from(run: &'a Run) -> Self {
        Self {
            plan: &run.manifest.plan,
            phases: &run.phases,
            tasks: &run.tasks,
            latency: &run.latency,
            series: &run.series,
            warnings: &run.warnings,
        }
    }
}

/// The latency of one direction, by one measure.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationLatency {
    /// Reads or writes.
    pub operation: Operation,
    /// What it is counted from.
    pub measure: Measure,
    /// The histogram.
    pub latency: Latency,
}

/// One repetition of a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct RepetitionFigure {
    /// From 0.
    pub repetition: u32,
    /// The phase as recorded.
    pub phase: PhaseRow,
    /// Its named rates.
    pub rates: Rates,
    /// Its latencies: reads before writes, response before service.
    pub latency: Vec<OperationLatency>,
    /// What the devices moved of it.
    pub device_share: DeviceShare,
    /// What must be known beside it.
    pub warnings: Vec<Warning>,
}

/// A result phase of a case, over all its repetitions.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// [`plan::Case::id`].
    pub case: String,
    /// What the case is for; may be empty.
    pub title: String,
    /// The phase.
    pub phase: Phase,
    /// Size, order, direction, path, depth and tasks: no figure is shown without them.
    pub conditions: String,
    /// Every repetition, in order.
    pub repetitions: Vec<RepetitionFigure>,
    /// The rate that is summarised; no figure is shown without its name.
    pub rate: RateName,
    /// Bytes per second of that rate, over the repetitions.
    pub bytes_per_second: Summary,
    /// Transfers per second of that rate, over the repetitions.
    pub transfers_per_second: Summary,
    /// All transfers of all repetitions together: reads before writes, response before service.
    pub latency: Vec<OperationLatency>,
    /// What must be known beside it; each warning once, however many repetitions gave it.
    pub warnings: Vec<Warning>,
}

impl Figure {
    /// The merged latency of `operation` from the start that was intended.
    #[must_use]
    pub fn response(&self, operation: Operation) -> Option<&Latency> {
        find(&self.latency, operation, Measure::Response)
    }
}

impl RepetitionFigure {
    /// The latency of `operation` from the start that was intended.
    #[must_use]
    pub fn response(&self, operation: Operation) -> Option<&Latency> {
        find(&self.latency, operation, Measure::Response)
    }
}

fn find(latencies: &[OperationLatency], operation: Operation, measure: Measure) -> Option<&Latency> {
    let wanted = |found: &&OperationLatency| found.operation == operation && found.measure == measure;
    latencies.iter().find(wanted).map(|found| &found.latency)
}

/// The figures of all result phases, in the order of the plan, summarised by the rate called
/// `rate`. A figure whose repetitions do not all have that rate is summarised by wall time
/// instead; [`Figure::rate`] says which it is.
#[must_use]
pub fn figures(view: View<'_>, rate: RateName) -> Vec<Figure> {
    let rows = Grouped::of(view);
    let mut figures = Vec::new();
    for case in &view.plan.cases {
        let mut phases: Vec<Phase> = Vec::new();
        for &phase in case.phases.iter().filter(|phase| phase.is_result()) {
            if !phases.contains(&phase) {
                phases.push(phase);
            }
        }
        for phase in phases {
            let mut repetitions: Vec<RepetitionFigure> = view
                .phases
                .iter()
                .filter(|row| row.key.case == case.id && row.key.phase == phase)
                .map(|row| rows.repetition(row))
                .collect();
            repetitions.sort_by_key(|repetition| repetition.repetition);
            let conditions = case.workload.conditions(phase);
            figures.extend(figure(repetitions, rate).map(|figure| Figure {
                case: case.id.clone(),
                title: case.title.clone(),
                phase,
                conditions,
                ..figure
            }));
        }
    }
    figures
}

/// The rows of each phase, so that a long run is gone through once.
struct Grouped<'a> {
    tasks: HashMap<&'a PhaseKey, Vec<&'a TaskRow>>,
    latency: HashMap<&'a PhaseKey, Vec<&'a LatencyRow>>,
    series: HashMap<&'a PhaseKey, Vec<&'a SeriesRow>>,
    warnings: HashMap<&'a PhaseKey, Vec<&'a WarningRow>>,
}

fn group<'a, R>(
    rows: &'a [R],
    key: impl Fn(&'a R) -> Option<&'a PhaseKey>,
) -> HashMap<&'a PhaseKey, Vec<&'a R>> {
    let mut groups: HashMap<&PhaseKey, Vec<&R>> = HashMap::new();
    for row in rows {
        if let Some(key) = key(row) {
            groups.entry(key).or_default().push(row);
        }
    }
    groups
}

fn of_key<'a, 'b, R>(
    groups: &'b HashMap<&'a PhaseKey, Vec<&'a R>>,
    key: &PhaseKey,
) -> impl Iterator<Item = &'a R> + use<'a, 'b, R> {
    groups.get(key).into_iter().flatten().copied()
}

impl<'a> Grouped<'a> {
    fn of(view: View<'a>) -> Self {
        Self {
            tasks: group(view.tasks, |row| Some(&row.key)),
            latency: group(view.latency, |row| Some(&row.key)),
            series: group(view.series, |row| Some(&row.key)),
            warnings: group(view.warnings, |row| row.key.as_ref()),
        }
    }

    fn repetition(&self, phase: &PhaseRow) -> RepetitionFigure {
        let key = &phase.key;
        let mut latency = Vec::new();
        for operation in [Operation::Read, Operation::Write] {
            for measure in [Measure::Response, Measure::Service] {
                let found = Latency::of(of_key(&self.latency, key), operation, measure);
                latency.extend(found.map(|latency| OperationLatency { operation, measure, latency }));
            }
        }
        RepetitionFigure {
            repetition: key.repetition,
            phase: phase.clone(),
            rates: Rates::of(phase, of_key(&self.tasks, key), of_key(&self.series, key)),
            latency,
            device_share: DeviceShare::of(phase),
            warnings: of_key(&self.warnings, key).map(|row| row.warning.clone()).collect(),
        }
    }
}

/// Merges repetitions; none where there are none. What the case says is filled in by the caller.
fn figure(repetitions: Vec<RepetitionFigure>, asked: RateName) -> Option<Figure> {
    let phase = repetitions.first()?.phase.key.phase;
    let has_all = repetitions.iter().all(|repetition| repetition.rates.get(asked).is_some());
    let rate = if has_all { asked } else { RateName::ByWall };
    let rates: Vec<_> = repetitions.iter().filter_map(|repetition| repetition.rates.get(rate)).collect();
    let summary = |value: fn(&crate::Rate) -> f64| Summary::of(&rates.iter().map(value).collect::<Vec<_>>());
    let mut warnings: Vec<Warning> = Vec::new();
    for warning in repetitions.iter().flat_map(|repetition| &repetition.warnings) {
        if !warnings.contains(warning) {
            warnings.push(warning.clone());
        }
    }
    Some(Figure {
        case: String::new(),
        title: String::new(),
        phase,
        conditions: String::new(),
        rate,
        bytes_per_second: summary(|rate| rate.bytes_per_second)?,
        transfers_per_second: summary(|rate| rate.transfers_per_second)?,
        latency: merged(&repetitions),
        warnings,
        repetitions,
    })
}

fn merged(repetitions: &[RepetitionFigure]) -> Vec<OperationLatency> {
    let mut all = Vec::new();
    for operation in [Operation::Read, Operation::Write] {
        for measure in [Measure::Response, Measure::Service] {
            let parts = repetitions.iter().filter_map(|part| find(&part.latency, operation, measure));
            all.extend(Latency::merge(parts).map(|latency| OperationLatency { operation, measure, latency }));
        }
    }
    all
}
