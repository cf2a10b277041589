//! Merges runs: passes of equal cases are concatenated, different cases are combined.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::ptr;
use std::sync::Arc;

use plan::{Case, Criteria, Order, Plan, PlanSource, Scaling, Untold, WorkloadSpec};

use crate::events::interrupted::InterruptedPass;
use crate::events::recorder::{Outcome, Recorder};
use crate::format::{FORMAT_VERSION, PARTS};
use crate::manifest::Manifest;
use crate::run::differing_terms;
use crate::run::own_parts::parts_of;
use crate::run::parts::{damage_of, write_parts};
use crate::run::rows_by_case::RowsByCase;
use crate::table::store::{Renumber, Source, Store};
use crate::{
    CaseId, Part, PartPasses, PhaseKey, PhaseRow, PrintedRow, Provenance, RecordError, Run, RunDirectory,
    RunState, Warning, WarningRow,
};

/// Minimum number of nodes for which passes of one case on separate nodes count as a comparison of nodes. If there
/// are only two, neither can be called the outlier.
const COMPARED_NODES_MIN: usize = 3;

/// Merges `runs` in their order. If a case is in several of them, its passes are concatenated; warm-up passes of the
/// later runs are left out. Target paths and seeds may differ between the runs, but nothing else in a case. Different
/// definitions of the same name, and different requests, are reported as warnings about the whole run. Storage counts
/// as exclusive if all runs say so, and as shared if any run does.
///
/// # Errors
/// Errors if there is no run; if a run is given twice (possibly as part of a merged one); if a case of the same name
/// differs between two of them, runs at the same time as different cases, or has different kinds of source; or if some
/// runs are simulated and others are not, or by different models, or a case twice with the same seed.
pub fn merge(runs: Vec<Run>) -> Result<Run, RecordError> {
    let refuse = |why: String| Err(RecordError::CannotMerge { why });
    let Some(first) = runs.first() else {
        return refuse("no run is named; name two or more run directories".to_owned());
    };
    if let [_] = runs.as_slice() {
        return Ok(runs.into_iter().next().expect("one was found"));
    }
    let parts: Vec<Part> = runs.iter().flat_map(parts_of).collect();
    let mut ids = HashSet::new();
    if let Some(twice) = runs.iter().map(|run| &run.manifest.run_id).find(|id| !ids.insert(id.as_str())) {
        return refuse(format!("run {twice} is named twice; name each run once"));
    }
    for run in &runs {
        if let Some(part) = run.parts.iter().find(|part| !ids.insert(part.run_id.as_str())) {
            return refuse(format!(
                "run {} is part of run {} and is named again, so its passes would count twice; name each \
                 run once",
                part.run_id, run.manifest.run_id
            ));
        }
    }
    check_models(&runs)?;
    let (plan, differences) = plan_of(&runs)?;
    let finished = runs.iter().map(|run| run.manifest.finished_unix_ns).max().flatten();
    let manifest = Manifest {
        format_version: FORMAT_VERSION,
        run_id: runs.iter().map(|run| run.manifest.run_id.as_str()).collect::<Vec<_>>().join("+"),
        started_unix_ns: runs.iter().map(|run| run.manifest.started_unix_ns).min().unwrap_or_default(),
        finished_unix_ns: finished,
        predicted: None,
        plan,
        ..first.manifest.clone()
    };
    let running = runs.iter().find(|run| run.state == RunState::Running);
    let decider = running.or_else(|| runs.iter().find(|run| run.state != RunState::Complete));
    let state = decider.map_or(RunState::Complete, |run| run.state.clone());
    let mut whole = Run::without_rows(first.directory.as_path().into(), manifest, state);
    whole.damage = damage_of(&parts, &first.directory.join(PARTS)).collect();
    whole.parts = parts;
    put_together(&mut whole, &runs)?;
    whole.warnings.extend(differences.into_iter().map(WarningRow::of_run));
    Ok(whole)
}

/// Rejects simulated runs together with others, and those of different models: the statements of a record must come
/// from one source. With the same seed a model produces the same passes again, which would count twice.
fn check_models(runs: &[Run]) -> Result<(), RecordError> {
    let refuse = |why: String| Err(RecordError::CannotMerge { why });
    let id = |run: &Run| run.manifest.run_id.clone();
    let simulated = |run: &&Run| run.manifest.provenance == Provenance::Simulated;
    let Some(first) = runs.iter().find(simulated) else { return Ok(()) };
    if let Some(other) = runs.iter().find(|run| !simulated(run)) {
        return refuse(format!(
            "run {} is simulated and run {} is not; show them side by side with `ioproof compare` instead",
            id(first),
            id(other)
        ));
    }
    let sha256 = |run: &Run| run.manifest.model.as_ref().map(|model| model.sha256.clone());
    if let Some(other) = runs.iter().find(|run| sha256(run) != sha256(first)) {
        return refuse(format!(
            "runs {} and {} are simulated by different models; show them side by side with `ioproof compare` instead",
            id(first),
            id(other)
        ));
    }
    let mut seen: HashMap<(&CaseId, u64), &Run> = HashMap::new();
    for run in runs {
        for seed in seeds_of(run) {
            for case in run.cases() {
                if let Some(earlier) =
                    seen.insert((case, seed), run).filter(|earlier| !ptr::eq(*earlier, run))
                {
                    return refuse(format!(
                        "case `{case}` is simulated with seed {seed} in runs {} and {}, so its passes would \
                         count twice; give each run its own --seed",
                        id(earlier),
                        id(run)
                    ));
                }
            }
        }
    }
    Ok(())
}

/// The seeds of a simulated run, or of the runs that it was merged from.
fn seeds_of(run: &Run) -> Vec<u64> {
    let of_parts: Vec<u64> =
        run.parts.iter().filter_map(|part| part.model.as_ref().map(|one| one.seed)).collect();
    if of_parts.is_empty() { run.manifest.model.iter().map(|model| model.seed).collect() } else { of_parts }
}

/// Combines all cases of all plans, and determines other differences between the plans. A case of several plans gets
/// the repetitions of all.
fn plan_of(runs: &[Run]) -> Result<(Plan, Vec<Warning>), RecordError> {
    let mut plan = runs[0].manifest.plan.clone();
    let mut differences = Vec::new();
    let mut places: HashMap<String, usize> =
        plan.cases.iter().enumerate().map(|(place, case)| (case.id.clone(), place)).collect();
    for run in &runs[1..] {
        check_sets(&plan, run)?;
        for case in &run.manifest.plan.cases {
            match places.get(&case.id).map(|&place| &mut plan.cases[place]) {
                Some(known) if asks_the_same(known, case) => {
                    known.repetitions = known.repetitions.saturating_add(case.repetitions);
                }
                Some(_) => {
                    return Err(RecordError::CannotMerge {
                        why: format!(
                            "case `{}` in run {} differs from the case with that name in a run named before it; \
                             rename the workload in one of the studies, or omit that run",
                            case.id, run.manifest.run_id
                        ),
                    });
                }
                None => {
                    places.insert(case.id.clone(), plan.cases.len());
                    plan.cases.push(case.clone());
                }
            }
        }
        let more = &run.manifest.plan;
        let mut names = add_criteria(&mut plan.criteria, &more.criteria);
        let differ = add(&mut plan.layouts, &more.layouts, |layout| &layout.name);
        names.extend(differ.into_iter().map(|name| format!("layout `{name}`")));
        if plan.scaling != more.scaling {
            names.push("what was given up to fit a budget".to_owned());
            add_scaling(&mut plan.scaling, &more.scaling);
        }
        if !names.is_empty() {
            differences.push(Warning::DifferentTerms { names, run: run.manifest.run_id.clone() });
        }
        if !is_same_source(&plan.source, &run.manifest.plan.source) {
            differences.push(Warning::DifferentQuestions {
                first: runs[0].manifest.run_id.clone(),
                other: run.manifest.run_id.clone(),
            });
        }
        add_overrides(&mut plan.source, &run.manifest.plan.source);
    }
    differing_terms::mark(&mut plan, runs);
    Ok((plan, differences))
}

/// Rejects cases of `run` that run at the same time as others than in the `plan` of the runs before it: passes beside
/// different workloads are no repetitions of each other.
fn check_sets(plan: &Plan, run: &Run) -> Result<(), RecordError> {
    let members = |plan: &Plan, set: &str| -> BTreeSet<String> {
        let is_of = |case: &&Case| case.concurrent.as_ref().is_some_and(|one| one.name == set);
        plan.cases.iter().filter(is_of).map(|case| case.id.clone()).collect()
    };
    let listed = |ids: BTreeSet<String>| ids.into_iter().collect::<Vec<_>>().join(", ");
    for set in run.manifest.plan.cases.iter().filter_map(|case| case.concurrent.as_ref()) {
        let [known, own] = [plan, &run.manifest.plan].map(|plan| members(plan, &set.name));
        if !known.is_empty() && known != own {
            return Err(RecordError::CannotMerge {
                why: format!(
                    "`{}` runs {} at the same time in run {}, but {} in a run named before it; rename the \
                     [[concurrent]] in one of the studies, or omit that run",
                    set.name,
                    listed(own),
                    run.manifest.run_id,
                    listed(known)
                ),
            });
        }
    }
    Ok(())
}

/// Adds what `more` gave up: what one of the runs cannot tell, all of them cannot.
fn add_scaling(scaling: &mut Option<Scaling>, more: &Option<Scaling>) {
    let Some(more) = more else { return };
    match scaling {
        None => *scaling = Some(more.clone()),
        Some(scaling) => {
            let new: Vec<Untold> =
                more.untold.iter().filter(|one| !scaling.untold.contains(one)).cloned().collect();
            scaling.untold.extend(new);
        }
    }
}

/// Adds the overrides of `more`, so that those that concern a commitment are named, whichever run has them.
fn add_overrides(source: &mut PlanSource, more: &PlanSource) {
    let PlanSource::Study { overrides, .. } = source else { return };
    let PlanSource::Study { overrides: more, .. } = more else { return };
    let new: Vec<String> = more.iter().filter(|one| !overrides.contains(one)).cloned().collect();
    overrides.extend(new);
}

/// Adds those of `more` that are new. Returns the names of known ones with a different definition.
fn add_criteria(criteria: &mut Criteria, more: &Criteria) -> Vec<String> {
    let mut names = Vec::new();
    let mut differ = |what: &str, of: Vec<String>| {
        names.extend(of.into_iter().map(|name| format!("{what} `{name}`")));
    };
    differ("target", add(&mut criteria.targets, &more.targets, |target| &target.name));
    differ(
        "expectation",
        add(&mut criteria.expectations, &more.expectations, |expectation| &expectation.name),
    );
    differ("commitment", add(&mut criteria.commitments, &more.commitments, |commitment| &commitment.name));
    differ("published figure", add(&mut criteria.published, &more.published, |published| &published.id));
    differ("claim", add(&mut criteria.claims, &more.claims, |claim| &claim.id));
    // Doubts prevail: the figures of the merged run are only as good as the worst of them.
    criteria.exclusive = match (criteria.exclusive, more.exclusive) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    };
    let study = [("release", criteria.release != more.release), ("nodes", criteria.nodes != more.nodes)];
    names
        .extend(study.iter().filter(|(_, differs)| *differs).map(|(key, _)| format!("`{key}` of the study")));
    names
}

/// Adds those of `more` whose names are new. Returns the names of those that differ from the one with the same name.
fn add<T: Clone + PartialEq>(to: &mut Vec<T>, more: &[T], name: fn(&T) -> &String) -> Vec<String> {
    let mut differ = Vec::new();
    for one in more {
        match to.iter().find(|known| name(known) == name(one)) {
            Some(known) if known == one => {}
            Some(_) => differ.push(name(one).clone()),
            None => to.push(one.clone()),
        }
    }
    differ
}

/// Whether both come from the same text or the same tool. File locations may differ, and so may the arguments of a
/// tool, since its cases are compared.
fn is_same_source(one: &PlanSource, other: &PlanSource) -> bool {
    match (one, other) {
        (PlanSource::Quick { .. }, PlanSource::Quick { .. }) => true,
        (
            PlanSource::Study { text, overrides, .. },
            PlanSource::Study { text: other, overrides: others, .. },
        ) => {
            let elsewhere = |said: &&String| !(said.starts_with("target.") || said.starts_with("layout."));
            text == other && overrides.iter().filter(elsewhere).eq(others.iter().filter(elsewhere))
        }
        (PlanSource::Dialect { tool, .. }, PlanSource::Dialect { tool: other, .. }) => tool == other,
        // Passes of two versions of a tool must not be mixed.
        (PlanSource::CrossCheck { tool, .. }, PlanSource::CrossCheck { tool: other, .. }) => tool == other,
        (PlanSource::Import { .. }, PlanSource::Import { .. }) => true,
        _ => false,
    }
}

/// Whether the figures of both are comparable: everything except paths and seeds must be equal.
fn asks_the_same(one: &Case, other: &Case) -> bool {
    let shape = |case: &Case| {
        let mut spec = WorkloadSpec::from(case.workload.clone());
        spec.files.targets.iter_mut().for_each(std::path::PathBuf::clear);
        spec.signature = 0;
        if let Order::Random { seed } | Order::RandomBlocks { seed, .. } = &mut spec.order {
            *seed = 0;
        }
        let protocol = case.protocol.clone();
        (
            spec,
            case.phases.clone(),
            protocol,
            case.target.clone(),
            case.settings.clone(),
            case.concurrent.clone(),
        )
    };
    shape(one) == shape(other)
}

/// Combines rows, warnings and ends of all cases.
fn put_together(whole: &mut Run, runs: &[Run]) -> Result<(), RecordError> {
    let mut parts: HashMap<CaseId, Vec<(usize, Source, Renumber)>> = HashMap::new();
    let mut order = Vec::new();
    let cases: HashMap<&str, &Case> =
        whole.manifest.plan.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let in_turn = in_turn(runs);
    let mut next_part = 0;
    for (number, run) in runs.iter().enumerate() {
        let first_part = next_part;
        next_part += run.parts.len().max(1);
        for id in run.cases() {
            let Some(source) = run.store.sources.get(id) else { continue };
            let known = std::iter::once(&**id).chain(in_turn.get(&**id).into_iter().flatten().copied());
            let known = known.filter_map(|id| parts.get(id)).flatten().filter(|(other, ..)| *other < number);
            let last = known.flat_map(|(.., numbers)| numbers.values().copied()).max();
            let before = parts.entry(id.clone()).or_insert_with(|| {
                order.push(id.clone());
                Vec::new()
            });
            let case = cases.get(&**id).copied();
            let differs = |(other, ..): &&(usize, Source, Renumber)| {
                case.is_some_and(|case| runs[*other].provenance(case) != run.provenance(case))
            };
            if let Some((other, ..)) = before.first().filter(differs) {
                return Err(RecordError::CannotMerge {
                    why: format!(
                        "case `{id}` has figures of different sources in runs {} and {}; show them side by side instead",
                        runs[*other].manifest.run_id, run.manifest.run_id
                    ),
                });
            }
            let own: Vec<u32> = run.phases(id).iter().map(|row| row.key.repetition).collect();
            let numbers = case.map_or_else(HashMap::new, |case| numbers_after(case, last, &own));
            for (place, part) in (0..).zip(&mut whole.parts[first_part..next_part]) {
                let of_part = match run.parts.get(place) {
                    None => PartPasses::of(numbers.values().copied()),
                    Some(own) => own.passes.get(id).and_then(|own| {
                        PartPasses::of((own.first..=own.last).filter_map(|pass| numbers.get(&pass).copied()))
                    }),
                };
                part.passes.remove(id);
                part.passes.extend(of_part.map(|passes| (id.clone(), passes)));
            }
            before.push((number, source.clone(), Arc::new(numbers)));
        }
        whole.damage.extend(run.damage.iter().cloned());
        whole.wiped.extend(run.wiped.iter().cloned());
        whole.layouts.extend(run.layouts.iter().cloned());
        whole.clocks.extend(run.clocks.iter().cloned());
    }
    let mut store = Store::default();
    let rows_by_case: Vec<RowsByCase<'_>> = runs.iter().map(RowsByCase::of).collect();
    let hosts: HashMap<CaseId, Vec<String>> = {
        let parts = whole.parts_by_case();
        let hosts = |id: &CaseId| {
            let parts = parts.get(&**id)?.iter().map(|&part| &whole.parts[part]).collect::<Vec<_>>();
            Some((id.clone(), several_hosts(cases.get(&**id)?, &parts)))
        };
        order.iter().filter_map(hosts).collect()
    };
    drop(cases);
    for id in order {
        let of_case = parts.remove(&id).unwrap_or_default();
        let nodes = hosts.get(&id).cloned().unwrap_or_default();
        for (number, _, numbers) in &of_case {
            if !nodes.is_empty() {
                warn_of_hosts(whole, &runs[*number].phases(&id), numbers, &nodes);
            }
            for &row in rows_by_case[*number].warnings.get(&*id).into_iter().flatten() {
                if let Some(key) = row.key.as_ref().and_then(|key| renumbered(key, numbers)) {
                    whole.warnings.push(WarningRow { key: Some(key), warning: row.warning.clone() });
                }
            }
        }
        let sources: Vec<_> = of_case.into_iter().map(|(_, source, numbers)| (source, numbers)).collect();
        store.add(id, Source::Parts(sources.into()));
    }
    whole.store = Arc::new(store);
    take_ends(whole, runs);
    Ok(())
}

/// For each case that two tools measured alternately, the other tool's case; for each that ran at the same time as others,
/// these. All are numbered together, because passes with the same number belong to each other, and one case may have an
/// additional pass if the run was interrupted.
fn in_turn(runs: &[Run]) -> HashMap<&str, Vec<&str>> {
    let rivals = runs.iter().flat_map(|run| match &run.manifest.plan.source {
        PlanSource::CrossCheck { rivals, .. } => rivals.as_slice(),
        _ => &[],
    });
    let pairs = rivals.flat_map(|one| [(&*one.own, &*one.case), (&*one.case, &*one.own)]);
    let mut all: HashMap<&str, Vec<&str>> = pairs.map(|(one, other)| (one, vec![other])).collect();
    for plan in runs.iter().map(|run| &run.manifest.plan) {
        for block in plan.blocks().filter(|block| plan.cases[block.start].concurrent.is_some()) {
            let ids = plan.cases[block].iter().map(|case| case.id.as_str());
            ids.clone()
                .for_each(|id| drop(all.insert(id, ids.clone().filter(|other| *other != id).collect())));
        }
    }
    all
}

/// New numbers for the passes `own`, which follow the `last` pass before. Whole repetitions follow each other, so
/// that each keeps its role.
fn numbers_after(case: &Case, last: Option<u32>, own: &[u32]) -> HashMap<u32, u32> {
    let (warm_up, rounds) = (case.protocol.warm_up, case.protocol.rounds.max(1));
    let Some(last) = last else { return own.iter().map(|&pass| (pass, pass)).collect() };
    let done = (last + 1).saturating_sub(warm_up).div_ceil(rounds) * rounds;
    let counted = own.iter().filter(|&&pass| pass >= warm_up);
    counted.map(|&pass| (pass, pass.saturating_add(done))).collect()
}

/// The nodes that measured `case`, if its passes ran on different nodes, so that the spread includes differences
/// between nodes. If each of several nodes ran it alone and equally often, the nodes are being compared, and no
/// warning is needed.
fn several_hosts(case: &Case, parts: &[&Part]) -> Vec<String> {
    let nodes: Vec<HashSet<&str>> = parts.iter().map(|part| part.nodes_of(case)).collect();
    if nodes.windows(2).all(|pair| pair[0] == pair[1]) {
        return Vec::new();
    }
    let mut names: Vec<String> = Vec::new();
    let mut recorded: HashMap<&str, usize> = HashMap::new();
    for (part, nodes) in parts.iter().zip(&nodes) {
        let mut nodes: Vec<&str> = nodes.iter().copied().collect();
        nodes.sort_unstable();
        for node in nodes {
            if !recorded.contains_key(node) {
                names.push(node.to_owned());
            }
            *recorded.entry(node).or_default() += part.recorded(case);
        }
    }
    let alone = nodes.iter().all(|nodes| nodes.len() == 1);
    let evenly = recorded.values().collect::<HashSet<_>>().len() == 1;
    if alone && evenly && names.len() >= COMPARED_NODES_MIN { Vec::new() } else { names }
}

/// The key in the merged run, or `None` if its pass is left out.
fn renumbered(key: &PhaseKey, numbers: &Renumber) -> Option<PhaseKey> {
    let repetition = *numbers.get(&key.repetition)?;
    Some(PhaseKey { repetition, ..key.clone() })
}

/// Warns of several `nodes` with each of `phases`.
fn warn_of_hosts(whole: &mut Run, phases: &[PhaseRow], numbers: &Renumber, nodes: &[String]) {
    for key in phases.iter().filter_map(|row| renumbered(&row.key, numbers)) {
        let warning = Warning::SeveralHosts { nodes: nodes.to_vec() };
        whole.warnings.push(WarningRow { key: Some(key), warning });
    }
}

/// Determines how each case ended, and what concerns the runs as a whole. A case that succeeded at least once counts
/// as finished.
fn take_ends(whole: &mut Run, runs: &[Run]) {
    let mut finished = HashSet::new();
    for run in runs {
        take_interrupted(whole, run);
        whole.warnings.extend(run.warnings.iter().filter(|row| row.key.is_none()).cloned());
        let new = run.finished_cases.iter().filter(|case| finished.insert(case.as_str()));
        whole.finished_cases.extend(new.cloned());
    }
    let mut failed = HashSet::new();
    for case in runs.iter().flat_map(|run| &run.failed_cases) {
        let new = failed.insert((case.case.as_str(), case.message.as_str()));
        if new && !finished.contains(case.case.as_str()) {
            whole.failed_cases.push(case.clone());
        }
    }
}

/// Attempts of a run are numbered after those of the runs before it.
fn take_interrupted(whole: &mut Run, run: &Run) {
    let mut before: HashMap<CaseId, u32> = HashMap::new();
    for pass in &whole.interrupted {
        let last = before.entry(pass.key.case.clone()).or_default();
        *last = pass.attempt.max(*last);
    }
    whole.interrupted.extend(run.interrupted.iter().cloned().map(|pass| InterruptedPass {
        attempt: pass.attempt + before.get(&pass.key.case).copied().unwrap_or_default(),
        ..pass
    }));
}

/// Stores `run` in a new directory, which is returned, with the names of its parts. `printed` has values that a tool
/// printed about several parts together, each assigned to one of the phases.
///
/// # Errors
/// Errors if the directory is not empty or cannot be written, or if one of the runs is still in progress.
pub fn write_merged(
    run: &Run,
    printed: &[PrintedRow],
    directory: &Path,
) -> Result<RunDirectory, RecordError> {
    if run.state == RunState::Running {
        let why =
            "one of the runs is still in progress, and its later data would be missing; wait for its end";
        return Err(RecordError::CannotMerge { why: why.to_owned() });
    }
    let manifest = Manifest { format_version: FORMAT_VERSION, ..run.manifest.clone() };
    let mut recorder = Recorder::create(directory, &manifest)?.not_durable();
    let place = recorder.place();
    write_parts(&place, &run.parts)?;
    for warning in run.warnings.iter().filter(|row| row.key.is_none()) {
        recorder.warning(warning)?;
    }
    let rows_by_case = RowsByCase::of(run);
    let finished: HashSet<&str> = run.finished_cases.iter().map(String::as_str).collect();
    for clocks in &run.clocks {
        recorder.clocks_at(clocks)?;
    }
    for lifetime in &run.layouts {
        for (at_unix_ns, news) in lifetime.news() {
            recorder.layout_at(&lifetime.layout, &news, at_unix_ns)?;
        }
    }
    for (case, wiped) in &run.wiped {
        recorder.wiped(case, wiped)?;
    }
    let is_same = |one: &InterruptedPass, other: &InterruptedPass| {
        (&one.key.case, one.attempt) == (&other.key.case, other.attempt)
    };
    for attempt in run.interrupted.chunk_by(is_same) {
        recorder.case_started(&attempt[0].key.case)?;
        for pass in attempt {
            recorder.launches_ended(&pass.key, &pass.launches, &pass.steps)?;
        }
    }
    for id in run.cases() {
        let records = rows_by_case.records(run, id).into_iter().map(|mut record| {
            let key = &record.phase.key;
            record.printed.extend(printed.iter().filter(|row| row.key == *key).cloned());
            record
        });
        if finished.contains(&**id) {
            recorder.case_copied(id, records)?;
            continue;
        }
        recorder.case_started(id)?;
        for record in records {
            recorder.phase_finished(&record)?;
        }
        if let Some(failed) = run.failed_cases.iter().find(|failed| *id == failed.case) {
            recorder.case_failed(id, &failed.message)?;
        }
    }
    // Rows of a part that were intact when it was opened, but not when they were copied.
    let late = run.late_damage();
    if !late.is_empty() {
        let mut parts = run.parts.clone();
        let damage = late.iter().map(ToString::to_string);
        parts.iter_mut().take(1).for_each(|part| part.damage.extend(damage.clone()));
        write_parts(&place, &parts)?;
    }
    let outcome = match &run.state {
        RunState::Complete => Outcome::Complete,
        RunState::Interrupted | RunState::Killed | RunState::Running => Outcome::Interrupted,
        RunState::Failed { message } => Outcome::Failed(message.clone()),
    };
    recorder.finish_at(&outcome, run.manifest.finished_unix_ns)?;
    Ok(place)
}
