//! Descriptions of cases by their kind of work: trees, objects, requests and responses, jobs; transfers are in
//! `case`.

use plan::{Case, CaseEstimate, Existing, Phase, PhaseEstimate, RunEnvironment, Source, visible};

use super::case::{clock_words, keep_words, phases_words, predicted_transfers, tasks_words, transfer_lines};
use super::jobs;
use crate::format::{counted, decimal_bytes, duration, ends, grouped};

/// Lines about files that exist before or after the run: a model has none.
const FILES_HERE: [&str; 3] = ["existing", "before", "afterwards"];

/// What the case does: names and texts of lines.
pub(super) fn what_lines(
    case: &Case,
    estimate: &CaseEstimate,
    environment: &RunEnvironment,
) -> Vec<(&'static str, String)> {
    let mut lines = match case.workload.work.is_transfers() {
        true => transfer_lines(case, estimate, environment),
        false => names_lines(case, estimate),
    };
    lines.retain(|(name, _)| environment.model.is_none() || !FILES_HERE.contains(name));
    lines
}

/// The same for a case without transfers.
fn names_lines(case: &Case, estimate: &CaseEstimate) -> Vec<(&'static str, String)> {
    let (workload, forecast) = (&case.workload, &estimate.forecast);
    let mut lines = vec![("tasks", tasks_words(workload))];
    if let Some(tree) = workload.work.tree() {
        let each = if tree.own_trees { "a tree for each task" } else { "one tree for all tasks" };
        let all = directories(tree.directories());
        let (items, each_has) = (grouped(tree.items_per_task()), grouped(tree.items_per_directory));
        let used = directories(tree.used_directories().1);
        lines.push(("tree", format!("{each}: {} levels below the topmost, {all}", tree.depth)));
        lines.push(("items", format!("{items} of each task: {each_has} in each of {used}")));
        let (one, two, three) = (tree.shift, 2 * u64::from(tree.shift), 3 * u64::from(tree.shift));
        let shift = || {
            format!(
                "task t looks at items of t + {one}, reads those of t + {two}, removes those of t + {three}"
            )
        };
        lines.extend((one > 0).then(|| ("shift", shift())));
    }
    if let Some(work) = workload.work.objects() {
        let (sets, objects, steps) = (work.sets, grouped(work.precreated), grouped(work.steps));
        lines.push(("sets", format!("{sets} of each task, {objects} objects in each, {steps} steps")));
    }
    if let Some(rpc) = workload.work.rpc() {
        let (each, pattern, by) = (rpc.connections, rpc.pattern, plan::Rpc::TRANSPORT);
        lines.push(("messages", format!("{} out, {} back", rpc.request_bytes, rpc.response_bytes)));
        lines.push(("connections", format!("{each} of each pair, {pattern}, over {by}")));
    }
    if let Some(find) = workload.work.find() {
        let places = workload.files.targets.iter().map(|target| target.display().to_string());
        lines.push(("in", places.collect::<Vec<_>>().join(" ")));
        lines.push(("finds", find.to_string()));
    }
    lines.extend(workload.work.jobs().into_iter().flat_map(|jobs| jobs::lines(jobs, workload)));
    // The directories of jobs are shown with the space that each needs.
    if workload.work.makes_trees() && workload.work.jobs().is_none() {
        let (files, made) = (grouped(forecast.files), directories(forecast.directories));
        let (size, all) = (forecast.file_bytes.both_units(), forecast.footprint.both_units());
        let roots: Vec<String> = workload.roots(0).iter().map(|root| root.display().to_string()).collect();
        let existing = match workload.files.existing {
            _ if matches!(case.phases[..], [Phase::Benchmark | Phase::Cleanup, ..]) => {
                "what an earlier case or run has left is used"
            }
            Existing::Replace => "an existing tree is refused",
            Existing::Reuse => "an existing tree is reused",
        };
        lines.extend([
            ("files", format!("{files} of {size}, and {made}: {all} in all")),
            ("in", roots.join(" ")),
            ("before", existing.to_owned()),
        ]);
    }
    lines.push(("backend", format!("{}, depth {}", workload.backend.name(), workload.backend.depth())));
    lines.push(("phases", phases_words(case)));
    lines.extend(clock_words(workload).map(|text| ("clock", text)));
    lines.extend(workload.work.makes_trees().then(|| ("afterwards", keep_words(case).to_owned())));
    lines
}

/// `1 directory`, `12 directories`.
fn directories(count: u64) -> String {
    format!("{} director{}", grouped(count), if count == 1 { "y" } else { "ies" })
}

/// The volume of a phase whose time is not known.
fn unknown(estimate: &PhaseEstimate) -> String {
    let items = estimate.operations.map(|all| counted(all, "operation"));
    let bytes = (estimate.bytes.0 > 0).then(|| decimal_bytes(estimate.bytes.0));
    let volume: Vec<String> = items.into_iter().chain(bytes).collect();
    let of = if volume.is_empty() { String::new() } else { format!("{}; ", volume.join(" with ")) };
    format!("{}: {of}its time is not known before the simulation", estimate.phase)
}

/// Predicted operations and duration of a phase, and the source of the prediction.
pub(super) fn predicted(estimate: &PhaseEstimate) -> String {
    let phase = estimate.phase;
    match estimate.is_unknown() {
        true => return unknown(estimate),
        false if phase.is_transfers() => return predicted_transfers(estimate),
        false => {}
    }
    let source = visible(&estimate.source.to_string()).into_owned();
    let (seconds, volume) = (ends(estimate.seconds, duration), decimal_bytes(estimate.bytes.0));
    let bytes = if estimate.bytes.0 > 0 { format!(" with {volume}") } else { String::new() };
    match estimate.operations {
        None if phase == Phase::Jobs => {
            let read = estimate.read_bytes.0.min(estimate.bytes.0);
            let (read, written) = (decimal_bytes(read), decimal_bytes(estimate.bytes.0 - read));
            format!(
                "{phase}: {read} read and {written} written in {seconds}, computation included ({source})"
            )
        }
        None if phase == Phase::Load => format!("{phase}: {volume} of tables in {seconds} ({source})"),
        None if estimate.by_clock => format!("{phase}: {seconds} by the clock"),
        None => format!("{phase}: time unknown"),
        Some(all) if estimate.by_clock => {
            format!("{phase}: {seconds} by the clock, {} operations at most{bytes}", grouped(all))
        }
        Some(all) => {
            let all = counted(all, if phase == Phase::Benchmark { "operation" } else { "item" });
            let guess = match estimate.source {
                Source::Assumed(_) => ", at the time of a small transfer each",
                _ => "",
            };
            format!("{phase}: {all}{bytes} take {seconds}{guess} ({source})")
        }
    }
}
