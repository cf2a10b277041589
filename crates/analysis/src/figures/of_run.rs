//! Computes the figures of a run.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::Hash;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use plan::{Case, Client, Measure, Operation, Order, PassRole, Phase, Sharing, Workload};
use record::{
    DeviceRow, EndRow, HostFacts, LatencyRow, PhaseKey, PhaseRow, Provenance, Run, SeriesRow, ServerRow,
    TaskRow, Warning,
};

use crate::RateName;
use crate::audit::Check;
use crate::figures::{
    DeviceShare, Figure, Latency, LatencySummary, MemberFigures, MovedBeside, NodeFigure, NodeFigures,
    PercentileBounds, Rate, RateOf, Rates, RepetitionFigure, ServerCounts, Wanted, grouped, named,
    node_rates, nodes_of, not_quiet, observed,
    seconds::change_in_pass,
    window::{RowsOf, rows_of, shared},
};
use crate::statistics::{counted, summary_under};

/// The maximum number of threads that compute figures. Each keeps one batch of rows of the record in memory.
const THREADS_MAX: usize = 2;
/// With fewer cases than this per thread, starting a thread does not pay off.
const CASES_OF_A_THREAD: usize = 64;

/// The figures of all result phases, in the order of the plan, summarised by the rate named `rate`, or by wall time
/// if not all passes have that rate. A phase without a counted pass has no figure.
///
/// A few threads each read the rows of one case at a time from `run`, and drop them again.
#[must_use]
pub fn figures(run: &Run, rate: RateName) -> Vec<Figure> {
    let plan = &run.manifest.plan;
    let mut warnings: HashMap<&PhaseKey, Vec<Warning>> = HashMap::new();
    for row in &run.warnings {
        if let Some(key) = &row.key {
            warnings.entry(key).or_default().push(row.warning.clone());
        }
    }
    let context = Context { run, rate, wanted: Wanted::of(plan), warnings };
    let places: HashMap<&str, usize> =
        plan.cases.iter().enumerate().map(|(place, case)| (case.id.as_str(), place)).collect();
    let of = |id: &&str| {
        let &place = places.get(id)?;
        Some((place, context.of_case(&plan.cases[place])))
    };
    let ids: Vec<&str> = run.cases().iter().map(|id| &**id).collect();
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(THREADS_MAX);
    let share = ids.len().div_ceil(threads).max(CASES_OF_A_THREAD);
    let mut figures: Vec<(usize, Vec<Figure>)> = thread::scope(|scope| {
        let of_some = |ids: &[&str]| ids.iter().filter_map(of).collect::<Vec<_>>();
        let threads: Vec<_> = ids
            .chunks(share)
            .map(|ids| (ids, thread::Builder::new().spawn_scoped(scope, move || of_some(ids))))
            .collect();
        let ended = threads.into_iter().map(|(ids, thread)| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            // No further thread could be started.
            Err(_) => of_some(ids),
        });
        ended.flatten().collect()
    });
    figures.sort_by_key(|(place, _)| *place);
    let mut figures = figures.into_iter().flat_map(|(_, figures)| figures).collect::<Vec<_>>();
    find_windows(run, &mut figures);
    figures
}

/// The rows of one case, grouped by phase.
struct Grouped<'a> {
    tasks: Groups<'a, TaskRow>,
    latency: Groups<'a, LatencyRow>,
    series: Groups<'a, SeriesRow>,
    devices: Groups<'a, DeviceRow>,
    ends: Groups<'a, EndRow>,
    servers: Groups<'a, ServerRow>,
}

type Groups<'a, R> = HashMap<&'a PhaseKey, Vec<&'a R>>;

fn group<R, K: ?Sized + Eq + Hash>(rows: &[R], key: fn(&R) -> &K) -> HashMap<&K, Vec<&R>> {
    let mut groups: HashMap<&K, Vec<&R>> = HashMap::new();
    for rows in rows.chunk_by(|a, b| key(a) == key(b)) {
        groups.entry(key(&rows[0])).or_default().extend(rows);
    }
    groups
}

fn of_key<'a, 'b, R>(
    groups: &'b Groups<'a, R>,
    key: &PhaseKey,
) -> impl Iterator<Item = &'a R> + Clone + use<'a, 'b, R> {
    groups.get(key).into_iter().flatten().copied()
}

/// The shared inputs for the figures of all cases.
struct Context<'a> {
    run: &'a Run,
    rate: RateName,
    /// The percentiles that the study promises or expects.
    wanted: Vec<Wanted<'a>>,
    warnings: HashMap<&'a PhaseKey, Vec<Warning>>,
}

impl Context<'_> {
    fn of_case(&self, case: &Case) -> Vec<Figure> {
        let id = case.id.as_str();
        let phases = self.run.phases(id);
        let (tasks, latency) = (self.run.tasks(id), self.run.latency(id));
        let (series, devices) = (self.run.series(id), self.run.devices(id));
        let (ends, servers) = (self.run.ends(id), self.run.servers(id));
        let rows = Grouped {
            tasks: group(&tasks, |row| &row.key),
            latency: group(&latency, |row| &row.key),
            series: group(&series, |row| &row.key),
            devices: group(&devices, |row| &row.key),
            ends: group(&ends, |row| &row.key),
            servers: group(&servers, |row| &row.key),
        };
        let first =
            |&(place, phase): &(usize, &Phase)| phase.is_result() && !case.phases[..place].contains(phase);
        let all = case.phases.iter().enumerate().filter(first);
        let neighbours = Neighbours::of(self.run, case, &devices);
        all.filter_map(|(_, &phase)| self.figure((case, phase), &phases, &rows, &neighbours)).collect()
    }

    /// The figure of `phase`. Returns `None` if no pass of it counts.
    fn figure(
        &self,
        (case, phase): (&Case, Phase),
        phases: &[PhaseRow],
        rows: &Grouped<'_>,
        neighbours: &Neighbours,
    ) -> Option<Figure> {
        let workload = &case.workload;
        let is_concurrent = case.is_concurrent(phase);
        let mut phases: Vec<_> = phases.iter().filter(|row| row.key.phase == phase).collect();
        phases.sort_by_key(|row| row.key.repetition);
        // With a rule for the steady state, the last window of the recorded passes counts, as described at
        // [`plan::Stopping::Steady`].
        let passes = phases.iter().map(|row| row.key.repetition);
        let recorded: Vec<u32> = passes.filter(|&pass| case.role(pass) == PassRole::Recorded).collect();
        let counting = &recorded[counted(recorded.len(), case.protocol.stopping)];
        let asked = Wanted::asked(&self.wanted, case, phase);
        let (mut merged, mut each) = (Histograms::new(), Vec::new());
        let (mut nodes, mut devices) = (NodeFigures::default(), Vec::new());
        let mut members = MemberFigures::default();
        let amount: fn(&SeriesRow) -> u64 = match RateOf::phase(phase) {
            RateOf::Bytes => |row| row.bytes,
            RateOf::Operations => |row| row.transfers,
        };
        let mut repetitions = Vec::with_capacity(phases.len());
        for row in phases {
            let (key, tasks) = (&row.key, of_key(&rows.tasks, &row.key));
            let counts = counting.contains(&key.repetition);
            let beside = if is_concurrent { neighbours.moved(row) } else { MovedBeside::default() };
            let mut warnings = self.warnings.get(key).cloned().unwrap_or_default();
            // When it was measured, it was not known what the others moved.
            warnings
                .extend(not_quiet(row, beside, workload).filter(|_| is_concurrent && !self.is_simulated()));
            let latency = histograms(of_key(&rows.latency, key));
            let simulated = if asked.is_empty() { None } else { self.simulated(key, &latency) };
            let evidence = simulated.as_ref().unwrap_or(&latency);
            repetitions.push(RepetitionFigure {
                repetition: key.repetition,
                role: case.role(key.repetition),
                counts,
                phase: Arc::new(row.clone()),
                rates: Rates::of(row, tasks.clone(), of_key(&rows.series, key)),
                latency: self.summaries(case, &latency, &[evidence], &of_each(&asked, counting.len())),
                drift: None,
                change: change_in_pass(tasks.clone(), &of_key(&rows.series, key).collect::<Vec<_>>(), amount),
                beside,
                while_all: None,
                device_share: DeviceShare::of(row, beside),
                // The page cache has what another workload read before.
                first_touches: first_touches(workload, row, tasks.clone())
                    .filter(|_| !(is_concurrent && neighbours.on_same_target)),
                servers: ServerCounts::of(of_key(&rows.servers, key)).map(Arc::new),
                warnings,
            });
            if counts {
                for (of, latency) in &latency {
                    merged.entry(*of).and_modify(|all| all.add(latency)).or_insert_with(|| latency.clone());
                }
                each.extend((!asked.is_empty()).then(|| simulated.unwrap_or(latency)));
                members.add(workload, tasks.clone());
                let rates = node_rates(tasks.clone(), workload, phase);
                let steady = observed::while_working(of_key(&rows.devices, key), tasks, workload, phase);
                nodes.add(rates, row, &steady);
                devices.extend(steady);
            }
        }
        let counted = || repetitions.iter().filter(|pass| pass.counts);
        let has_all = counted().all(|pass| pass.rates.get(self.rate).is_some());
        let rate = if has_all { self.rate } else { RateName::ByWall };
        let summary = |value: fn(&Rate) -> f64| {
            let rates = counted().filter_map(|pass| pass.rates.get(rate));
            summary_under(&rates.map(|rate| value(&rate)).collect::<Vec<_>>(), case.protocol.stopping)
        };
        let (bytes_per_second, transfers_per_second) =
            (summary(|rate| rate.bytes_per_second)?, summary(|rate| rate.transfers_per_second)?);
        let nodes = nodes.finish();
        let ends = counted().flat_map(|pass| of_key(&rows.ends, &pass.phase.key));
        let answering =
            ends.map(|end| end.node.as_str()).filter(|name| nodes.iter().all(|one| one.node != *name));
        let answering = named(answering);
        let devices = observed::means(devices.into_iter());
        let drifts: Vec<Option<f64>> =
            repetitions.iter().map(|pass| drift(case, &repetitions, pass, rate)).collect();
        for (pass, drift) in repetitions.iter_mut().zip(drifts) {
            pass.drift = drift;
        }
        let targets = &self.run.manifest.plan.criteria.targets;
        Some(Figure {
            case: case.id.clone(),
            group: case.group.clone(),
            target: case.target.clone(),
            client: targets
                .iter()
                .find(|one| one.name == case.target)
                .map_or(Client::Unstated, |one| one.client),
            settings: case.settings.clone(),
            provenance: self.run.provenance(case),
            percentile_of_model: self.run.model_of(case).and_then(|model| model.percentile),
            title: case.title.clone(),
            phase,
            is_concurrent,
            conditions: case.conditions(phase),
            node_count: nodes_of(case),
            memory_bytes: self.memory_of(case, &nodes),
            has_own_cache: has_own_cache(&self.run.manifest.host, workload),
            rate,
            bytes_per_second,
            transfers_per_second,
            latency: self.summaries(case, &merged, &each.iter().collect::<Vec<_>>(), &asked),
            devices,
            nodes,
            members: members.finish(workload),
            answering,
            warnings: warnings(&repetitions),
            repetitions,
        })
    }

    fn is_simulated(&self) -> bool {
        self.run.manifest.provenance == Provenance::Simulated
    }

    /// Of a pass in a model that was extrapolated: its histograms as if they had only the transfers that were simulated.
    /// Those that were computed from them show nothing about percentiles.
    fn simulated(&self, key: &PhaseKey, latency: &Histograms) -> Option<Histograms> {
        let warnings = self.warnings.get(key)?;
        let share = warnings.iter().find_map(|one| match one {
            Warning::Extrapolated { simulated_seconds, computed_seconds, .. } => {
                Some(simulated_seconds / (simulated_seconds + computed_seconds))
            }
            _ => None,
        })?;
        Some(latency.iter().map(|(of, all)| (*of, all.share(share))).collect())
    }

    /// The summaries of `all`, which are the sums of the histograms of `passes`, with bounds of the percentiles that
    /// are `asked` for.
    fn summaries(
        &self,
        case: &Case,
        all: &Histograms,
        passes: &[&Histograms],
        asked: &[(f64, usize)],
    ) -> Vec<LatencySummary> {
        let percents: Vec<f64> = self.wanted.iter().map(|one| one.percent).collect();
        let of = |(of, latency): (&(Operation, Measure), &Latency)| {
            let passes: Vec<&Latency> = passes.iter().filter_map(|pass| pass.get(of)).collect();
            let bounds = asked.iter().map(|&asked| PercentileBounds::of(&passes, asked, case.in_flight()));
            LatencySummary::of(of.0, of.1, latency, &percents, bounds.collect())
        };
        all.iter().map(of).collect()
    }

    /// [`Figure::memory_bytes`] of these nodes, or of all nodes if the record has no tasks. For an import, what the
    /// study states about its nodes.
    fn memory_of(&self, case: &Case, nodes: &[NodeFigure]) -> Option<u64> {
        let run = self.run;
        if run.provenance(case) == Provenance::Imported {
            return run
                .manifest
                .plan
                .criteria
                .node
                .memory
                .zip(nodes_of(case))
                .map(|(memory, nodes)| memory.0 * nodes);
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
}

/// The phases that ran at the same time as those of a case.
#[derive(Default)]
struct Neighbours {
    /// With their series.
    on_same_devices: Vec<(PhaseRow, Vec<SeriesRow>)>,
    /// Whether one of them is on a target of the case, and so may read the same files.
    on_same_target: bool,
}

impl Neighbours {
    /// Those of `case`, whose passes have the rows `devices`. Where devices are not known, they may be the same.
    fn of(run: &Run, case: &Case, devices: &[DeviceRow]) -> Self {
        let mut found = Self::default();
        let cases = &run.manifest.plan.cases;
        let others = cases.iter().filter(|other| other.id != case.id && case.runs_with(other));
        let names = |rows: &[DeviceRow]| -> HashSet<(String, String)> {
            rows.iter().map(|row| (row.node.to_string(), row.device.to_string())).collect()
        };
        let own = names(devices);
        for other in others {
            let targets = &other.workload.files.targets;
            found.on_same_target |= case.workload.files.targets.iter().any(|target| targets.contains(target));
            let theirs = names(&run.devices(&other.id));
            if !own.is_empty() && !theirs.is_empty() && own.is_disjoint(&theirs) {
                continue;
            }
            let series = run.series(&other.id);
            let phases = run.phases(&other.id);
            for phase in phases.iter().filter(|row| other.is_concurrent(row.key.phase)) {
                let series = series.iter().filter(|row| row.key == phase.key).cloned().collect();
                found.on_same_devices.push((phase.clone(), series));
            }
        }
        found
    }

    /// What they moved during `phase`.
    fn moved(&self, phase: &PhaseRow) -> MovedBeside {
        let same = |(other, _): &&(PhaseRow, _)| other.key.repetition == phase.key.repetition;
        let others = self.on_same_devices.iter().filter(same);
        MovedBeside::of(phase, others.map(|(other, series)| (other, &series[..])))
    }
}

/// Finds [`RepetitionFigure::while_all`] of all counted passes of workloads that ran at the same time.
fn find_windows(run: &Run, figures: &mut [Figure]) {
    let named = run.manifest.plan.cases.iter();
    let named = named.filter_map(|case| Some((case.id.as_str(), case.concurrent.as_ref()?.name.as_str())));
    let sets: HashMap<&str, &str> = named.collect();
    let name = |figure: &Figure| sets.get(figure.case.as_str()).copied();
    let places = (0..figures.len()).filter(|&place| figures[place].is_concurrent);
    for set in grouped(places, |&place| name(&figures[place])) {
        let planned = sets.values().filter(|one| name(&figures[set[0]]) == Some(**one)).count();
        let rows: Vec<RowsOf> = set.iter().map(|&place| rows_of(run, &figures[place].case)).collect();
        let numbers: BTreeSet<u32> =
            set.iter().flat_map(|&place| figures[place].counted().map(|pass| pass.repetition)).collect();
        for number in numbers {
            let of_number = |&place: &usize| {
                let pass = figures[place].counted().find(|one| one.repetition == number)?;
                Some(&*pass.phase)
            };
            let passes: Option<Vec<&PhaseRow>> = set.iter().map(of_number).collect();
            let found = match passes {
                // Without one of them, what the others did is that beside fewer.
                _ if set.len() < planned => Err(format!("{} of {planned} were measured", set.len())),
                None => Err("not all of them were measured".to_owned()),
                Some(passes) => shared(&passes, &rows),
            };
            for (at, &place) in set.iter().enumerate() {
                let own = found.as_ref().map(|all| all[at].clone()).map_err(String::clone);
                let mut passes = figures[place].repetitions.iter_mut();
                if let Some(pass) = passes.find(|one| one.counts && one.repetition == number) {
                    pass.while_all = Some(own);
                }
            }
        }
    }
}

/// [`RepetitionFigure::drift`].
fn drift(case: &Case, passes: &[RepetitionFigure], pass: &RepetitionFigure, rate: RateName) -> Option<f64> {
    let rounds = case.protocol.rounds.max(1);
    if rounds == 1 || pass.role != PassRole::Recorded {
        return None;
    }
    let first = pass.repetition.checked_sub(rounds - 1)?;
    let first = passes.iter().find(|other| other.repetition == first)?;
    let value = |of: &RepetitionFigure| Some(RateOf::phase(pass.phase.key.phase).get(&of.rates.get(rate)?));
    let first = value(first).filter(|&first| first > 0.0)?;
    Some(value(pass)? / first - 1.0)
}

/// [`Figure::warnings`].
fn warnings(passes: &[RepetitionFigure]) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = Vec::new();
    for (pass, warning) in passes.iter().flat_map(|pass| pass.warnings.iter().map(move |one| (pass, one))) {
        let concerns = pass.counts || Check::of(warning) == Some(Check::WrongData);
        if concerns && !warnings.contains(warning) {
            warnings.push(warning.clone());
        }
    }
    warnings
}

/// The bounds that are needed of each of `passes`, of which any may be the best or the worst.
fn of_each(asked: &[(f64, usize)], passes: usize) -> Vec<(f64, usize)> {
    asked.iter().map(|&(percent, family)| (percent, family * passes)).collect()
}

/// Histograms by operation and measure.
type Histograms = BTreeMap<(Operation, Measure), Latency>;

/// The histograms of one phase.
fn histograms<'a>(rows: impl Iterator<Item = &'a LatencyRow> + Clone) -> Histograms {
    let kinds: BTreeSet<_> = rows.clone().map(|row| (row.operation, row.measure)).collect();
    kinds.into_iter().filter_map(|of| Some((of, Latency::of(rows.clone(), of.0, of.1)?))).collect()
}

/// The share of the reads of a pass that were the first ones of their bytes within the pass.
/// Regular orders visit each transfer of a task once before they start again. Blocks drawn with
/// replacement do not: `n` draws reach `b (1 - (1 - 1/b)^n)` of `b` on average.
fn first_touches<'t>(
    workload: &Workload,
    pass: &PhaseRow,
    tasks: impl Iterator<Item = &'t TaskRow>,
) -> Option<f64> {
    let are_reads = workload.work.is_transfers() && pass.read_bytes > 0;
    let data = match workload.order {
        Order::Same => workload.geometry.transfer.0,
        Order::RandomBlocks { blocks, .. } => {
            let files = if workload.files.sharing == Sharing::PerTask { workload.tasks } else { 1 };
            let draws =
                pass.read_bytes as f64 / workload.geometry.block.0.max(1) as f64 / f64::from(files.max(1));
            let missed = (1.0 - 1.0 / blocks.max(1) as f64).powf(draws);
            return are_reads.then(|| blocks as f64 * (1.0 - missed) / draws);
        }
        _ => workload.footprint().0 / u64::from(workload.tasks.max(1)),
    };
    let (first, all) =
        tasks.fold((0, 0), |(first, all), task| (first + task.bytes.min(data), all + task.bytes));
    let by_task = if all > 0 { first as f64 / all as f64 } else { 1.0 };
    let together = (data * u64::from(workload.tasks)) as f64 / pass.read_bytes as f64;
    are_reads.then(|| by_task.min(together))
}

/// Whether something other than the page cache of the nodes may keep data that was read: programs behind FUSE, and
/// file systems with a cache of their own. If the file system is not known, a cache is assumed to be possible.
fn has_own_cache(host: &HostFacts, workload: &Workload) -> bool {
    const IN_PAGE_CACHE: [&str; 19] = [
        "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "bcachefs", "jfs", "vfat", "exfat", "ntfs3", "nfs",
        "nfs4", "cifs", "smb3", "ceph", "lustre", "9p", "virtiofs",
    ];
    let keeps = |target: &PathBuf| {
        let kind = host.file_system_of(target).map(|mount| mount.kind.as_str());
        kind.map_or(!target.starts_with("/dev"), |kind| !IN_PAGE_CACHE.contains(&kind))
    };
    workload.files.targets.iter().any(keeps)
}
