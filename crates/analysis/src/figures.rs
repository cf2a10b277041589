//! Figures of a run.

use std::collections::HashMap;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use plan::{Case, Client, Phase, Plan, Role};
use record::{
    DeviceRow, EndRow, LatencyRow, Measure, Operation, PhaseKey, PhaseRow, Provenance, Run, SeriesRow,
    TaskRow, Warning,
};

use crate::figure::{Figure, RepetitionFigure};
use crate::member_figures::MemberFigures;
use crate::names::named;
use crate::nodes::{NodeFigures, node_rates};
use crate::settled::counted;
use crate::subject::nodes_of;
use crate::{
    DeviceShare, LATENCY_STATISTICS, Latency, LatencySummary, NodeFigure, RateName, RateOf, Rates, Summary,
    Take, observed,
};

/// Threads that make figures; the record keeps so many batches of rows at once.
const THREADS_MAX: usize = 2;
/// For fewer cases no thread is worth its start.
const CASES_OF_A_THREAD: usize = 64;

/// The figures of all result phases, in the order of the plan, summarised by the rate called
/// `rate`. A figure whose passes do not all have that rate is summarised by wall time instead;
/// [`Figure::rate`] says which it is. A phase without a pass that counts has no figure.
///
/// Rows are taken from `run` one case at a time in each of some threads, and dropped again.
#[must_use]
pub fn figures(run: &Run, rate: RateName) -> Vec<Figure> {
    let plan = &run.manifest.plan;
    let places: HashMap<&str, usize> =
        plan.cases.iter().enumerate().map(|(place, case)| (case.id.as_str(), place)).collect();
    let passes = Passes::of(run);
    let percents = percents(plan);
    let ids: Vec<&str> = run.cases().iter().map(|id| &**id).collect();
    let of = |id: &&str| {
        let (&place, passes) = places.get(id).zip(passes.0.get(id))?;
        let context = Context { run, case: &plan.cases[place], rate, percents: &percents };
        Some((place, context.figures(passes)))
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(THREADS_MAX);
    let share = ids.len().div_ceil(threads).max(CASES_OF_A_THREAD);
    let mut figures: Vec<(usize, Vec<Figure>)> = thread::scope(|scope| {
        let of_some = |ids: &[&str]| ids.iter().filter_map(of).collect::<Vec<_>>();
        let threads: Vec<_> = ids.chunks(share).map(|ids| scope.spawn(move || of_some(ids))).collect();
        let ended =
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        ended.flatten().collect()
    });
    figures.sort_by_key(|(place, _)| *place);
    figures.into_iter().flat_map(|(_, figures)| figures).collect()
}

/// The percentiles that the study's commitments ask for, and tables have not.
fn percents(plan: &Plan) -> Vec<f64> {
    let asked = plan.terms.commitments.iter().filter_map(|commitment| match commitment.amount {
        plan::Amount::Latency { percent, .. } => percent,
        plan::Amount::BytesPerSecond(_) | plan::Amount::OperationsPerSecond(_) => None,
    });
    let is_listed = |percent: f64| {
        let is = |of: f64| of.total_cmp(&percent).is_eq();
        LATENCY_STATISTICS.iter().any(|one| matches!(one.take, Take::Percentile(of) if is(of)))
    };
    let mut percents: Vec<f64> = asked.filter(|&percent| !is_listed(percent)).collect();
    percents.sort_by(f64::total_cmp);
    percents.dedup();
    percents
}

/// The phases and warnings of each case.
struct Passes<'a>(HashMap<&'a str, CasePasses<'a>>);

#[derive(Default)]
struct CasePasses<'a> {
    phases: Vec<&'a Arc<PhaseRow>>,
    warnings: Vec<(&'a PhaseKey, &'a Warning)>,
}

impl<'a> Passes<'a> {
    fn of(run: &'a Run) -> Self {
        let mut passes: HashMap<&str, CasePasses<'_>> = HashMap::new();
        for phase in &run.phases {
            passes.entry(&phase.key.case).or_default().phases.push(phase);
        }
        for row in &run.warnings {
            if let Some(key) = &row.key {
                passes.entry(&key.case).or_default().warnings.push((key, &row.warning));
            }
        }
        Self(passes)
    }
}

/// The rows of each phase of one case.
struct Grouped<'a> {
    tasks: HashMap<&'a PhaseKey, Vec<&'a TaskRow>>,
    latency: HashMap<&'a PhaseKey, Vec<&'a LatencyRow>>,
    series: HashMap<&'a PhaseKey, Vec<&'a SeriesRow>>,
    devices: HashMap<&'a PhaseKey, Vec<&'a DeviceRow>>,
    ends: HashMap<&'a PhaseKey, Vec<&'a EndRow>>,
}

fn group<R>(rows: &[R], key: fn(&R) -> &PhaseKey) -> HashMap<&PhaseKey, Vec<&R>> {
    let mut groups: HashMap<&PhaseKey, Vec<&R>> = HashMap::new();
    for rows in rows.chunk_by(|a, b| key(a) == key(b)) {
        groups.entry(key(&rows[0])).or_default().extend(rows);
    }
    groups
}

fn of_key<'a, 'b, R>(
    groups: &'b HashMap<&'a PhaseKey, Vec<&'a R>>,
    key: &PhaseKey,
) -> impl Iterator<Item = &'a R> + Clone + use<'a, 'b, R> {
    groups.get(key).into_iter().flatten().copied()
}

/// What the figures of one case are made with.
struct Context<'a> {
    run: &'a Run,
    case: &'a Case,
    rate: RateName,
    percents: &'a [f64],
}

impl Context<'_> {
    fn figures(&self, passes: &CasePasses<'_>) -> Vec<Figure> {
        let id = self.case.id.as_str();
        let (tasks, latency) = (self.run.tasks(id), self.run.latency(id));
        let (series, devices) = (self.run.series(id), self.run.devices(id));
        let ends = self.run.ends(id);
        let rows = Grouped {
            tasks: group(&tasks, |row| &row.key),
            latency: group(&latency, |row| &row.key),
            series: group(&series, |row| &row.key),
            devices: group(&devices, |row| &row.key),
            ends: group(&ends, |row| &row.key),
        };
        let mut done: Vec<Phase> = Vec::new();
        let mut figures = Vec::new();
        for &phase in self.case.phases.iter().filter(|phase| phase.is_result()) {
            if !done.contains(&phase) {
                done.push(phase);
                figures.extend(self.figure(phase, passes, &rows));
            }
        }
        figures
    }

    /// The figure of `phase`; none where no pass of it counts.
    fn figure(&self, phase: Phase, passes: &CasePasses<'_>, rows: &Grouped<'_>) -> Option<Figure> {
        let mut phases: Vec<&Arc<PhaseRow>> =
            passes.phases.iter().copied().filter(|row| row.key.phase == phase).collect();
        phases.sort_by_key(|row| row.key.repetition);
        let counting = counting(self.case, phases.iter().map(|row| row.key.repetition));
        let mut merged = Merged::default();
        let mut nodes = NodeFigures::default();
        let mut members = MemberFigures::default();
        let mut repetitions = Vec::with_capacity(phases.len());
        for row in phases {
            let counts = counting.contains(&row.key.repetition);
            let latency = latencies(of_key(&rows.latency, &row.key));
            repetitions.push(RepetitionFigure {
                repetition: row.key.repetition,
                role: self.case.role(row.key.repetition),
                counts,
                phase: Arc::clone(row),
                rates: Rates::of(row, of_key(&rows.tasks, &row.key), of_key(&rows.series, &row.key)),
                latency: summaries(&latency, self.percents),
                drift: None,
                device_share: DeviceShare::of(row),
                warnings: passes.warnings_of(&row.key),
            });
            if counts {
                merged.add(latency);
                let rates = node_rates(of_key(&rows.tasks, &row.key), &self.case.workload, phase);
                let (tasks, devices) = (of_key(&rows.tasks, &row.key), of_key(&rows.devices, &row.key));
                members.add(&self.case.workload, tasks.clone());
                nodes.add(rates, row, tasks, devices);
            }
        }
        let counted = || repetitions.iter().filter(|pass| pass.counts);
        let has_all = counted().all(|pass| pass.rates.get(self.rate).is_some());
        let rate = if has_all { self.rate } else { RateName::ByWall };
        let drifts: Vec<Option<f64>> =
            repetitions.iter().map(|pass| drift(self.case, &repetitions, pass, rate)).collect();
        let summary = |value: fn(&crate::Rate) -> f64| {
            let rates = counted().filter_map(|pass| pass.rates.get(rate));
            Summary::of(&rates.map(|rate| value(&rate)).collect::<Vec<_>>())
        };
        let (bytes_per_second, transfers_per_second) =
            (summary(|rate| rate.bytes_per_second)?, summary(|rate| rate.transfers_per_second)?);
        let nodes = nodes.finish();
        let ends = counted().flat_map(|pass| of_key(&rows.ends, &pass.phase.key));
        let answering =
            ends.map(|end| end.node.as_str()).filter(|name| nodes.iter().all(|one| one.node != *name));
        let answering = named(answering);
        let devices = observed::means(counted().flat_map(|pass| of_key(&rows.devices, &pass.phase.key)));
        for (pass, drift) in repetitions.iter_mut().zip(drifts) {
            pass.drift = drift;
        }
        Some(Figure {
            case: self.case.id.clone(),
            group: self.case.group.clone(),
            target: self.case.target.clone(),
            client: self.client(),
            settings: self.case.settings.clone(),
            provenance: self.run.provenance(&self.case.id),
            title: self.case.title.clone(),
            phase,
            conditions: self.case.conditions(phase),
            node_count: nodes_of(self.case),
            memory_bytes: self.memory_of(&nodes),
            rate,
            bytes_per_second,
            transfers_per_second,
            latency: summaries(&merged.0, self.percents),
            devices,
            nodes,
            members: members.finish(&self.case.workload),
            answering,
            warnings: warnings(&repetitions),
            repetitions,
        })
    }

    /// [`Figure::memory_bytes`]: of these nodes, or of all where the record has no tasks; of an import what the study
    /// says of its nodes.
    fn memory_of(&self, nodes: &[NodeFigure]) -> Option<u64> {
        let run = self.run;
        if run.provenance(&self.case.id) == Provenance::Imported {
            return run.manifest.plan.terms.node.memory.map(|memory| memory.0 * nodes_of(self.case));
        }
        let manifest = (&run.manifest.host, run.manifest.cluster.as_ref());
        let parts = run.parts.iter().map(|part| (&part.host, part.cluster.as_ref()));
        let mut known: HashMap<&str, u64> = HashMap::new();
        for (host, cluster) in parts.chain([manifest]) {
            for host in cluster.iter().flat_map(|cluster| &cluster.nodes).map(|one| &one.host).chain([host]) {
                let bytes = known.entry(&host.node).or_default();
                *bytes = host.memory_bytes.max(*bytes);
            }
        }
        let memory = |name: &str| known.get(name).copied().filter(|&bytes| bytes > 0);
        match nodes {
            [] => known.keys().map(|name| memory(name)).sum(),
            nodes => nodes.iter().map(|one| memory(&one.node)).sum(),
        }
    }

    fn client(&self) -> Client {
        let targets = &self.run.manifest.plan.terms.targets;
        targets.iter().find(|target| target.name == self.case.target).map_or(Client::Unstated, |t| t.client)
    }
}

impl CasePasses<'_> {
    fn warnings_of(&self, key: &PhaseKey) -> Vec<Warning> {
        self.warnings.iter().filter(|(of, _)| *of == key).map(|(_, warning)| (*warning).clone()).collect()
    }
}

/// The passes that count, of those that were recorded: with a rule for the steady state the last
/// window of them, as [`plan::Stopping::Steady`] says.
fn counting(case: &Case, passes: impl Iterator<Item = u32>) -> Vec<u32> {
    let recorded: Vec<u32> = passes.filter(|&pass| case.role(pass) == Role::Recorded).collect();
    recorded[counted(recorded.len(), case.protocol.stopping)].to_vec()
}

/// [`RepetitionFigure::drift`].
fn drift(case: &Case, passes: &[RepetitionFigure], pass: &RepetitionFigure, rate: RateName) -> Option<f64> {
    let rounds = case.protocol.rounds.max(1);
    if rounds == 1 || pass.role != Role::Recorded {
        return None;
    }
    let first = pass.repetition.checked_sub(rounds - 1)?;
    let counts = RateOf::phase(pass.phase.key.phase);
    let value = |pass: &RepetitionFigure| pass.rates.get(rate).map(|rate| counts.get(&rate));
    let first = passes.iter().find(|other| other.repetition == first).and_then(value);
    first.filter(|&first| first > 0.0).zip(value(pass)).map(|(first, last)| last / first - 1.0)
}

/// [`Figure::warnings`].
fn warnings(passes: &[RepetitionFigure]) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = Vec::new();
    for pass in passes {
        for warning in &pass.warnings {
            let concerns = pass.counts || matches!(warning, Warning::WrongData { .. });
            if concerns && !warnings.contains(warning) {
                warnings.push(warning.clone());
            }
        }
    }
    warnings
}

/// The histogram of an operation by a measure.
type Histogram = (Operation, Measure, Latency);

fn summaries(all: &[Histogram], percents: &[f64]) -> Vec<LatencySummary> {
    let of = |(operation, measure, latency): &Histogram| {
        LatencySummary::of(*operation, *measure, latency, percents)
    };
    all.iter().map(of).collect()
}

/// The histograms of one phase.
fn latencies<'a>(rows: impl Iterator<Item = &'a LatencyRow> + Clone) -> Vec<Histogram> {
    let mut kinds: Vec<_> = rows.clone().map(|row| (row.operation, row.measure)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let of =
        |(operation, measure)| Some((operation, measure, Latency::of(rows.clone(), operation, measure)?));
    kinds.into_iter().filter_map(of).collect()
}

/// The histograms of several passes, added up.
#[derive(Default)]
struct Merged(Vec<Histogram>);

impl Merged {
    fn add(&mut self, latencies: Vec<Histogram>) {
        for one in latencies {
            match self.0.iter_mut().find(|kept| (kept.0, kept.1) == (one.0, one.1)) {
                Some(kept) => kept.2.add(&one.2),
                None => self.0.push(one),
            }
        }
        self.0.sort_by_key(|one| (one.0, one.1));
    }
}
