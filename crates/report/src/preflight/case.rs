//! A description of one case of a plan: its work, its expected cost, and whether it fits.

use std::iter;

use plan::{
    Bytes, Case, CaseEstimate, Existing, Keep, NodeReads, Order, Phase, PhaseEstimate, ReadFrom,
    RunEnvironment, Sharing, Source, SpaceEstimate, Spread, Workload, visible,
};

use crate::format::screen::Screen;
use crate::format::table::wrapped;
use crate::format::{counted, decimal_bytes, duration, ends, grouped, percent, rate};

/// Maximum number of targets and nodes named; the rest is counted.
const NAMED: usize = 4;

/// A line of a plan: a name and its text.
pub(super) fn line(name: &str, text: &str, screen: Screen) -> String {
    wrapped(&format!("  {name:<11} "), text, screen.prose())
}

/// What a case of transfers does.
pub(super) fn transfer_lines(
    case: &Case,
    estimate: &CaseEstimate,
    environment: &RunEnvironment,
) -> Vec<(&'static str, String)> {
    let (workload, forecast) = (&case.workload, &estimate.forecast);
    let geometry = workload.geometry;
    let per_block = counted(geometry.transfers_per_block(), "transfer");
    let per_task = geometry.bytes_per_task().both_units();
    let mut lines = vec![
        ("transfer", geometry.transfer.both_units()),
        ("block", format!("{}: {per_block}", geometry.block.both_units())),
        ("segments", format!("{}: {per_task} a task", grouped(geometry.segments))),
        ("tasks", tasks_words(workload)),
        ("volume", format!("{} in one pass of all tasks", forecast.phase_bytes.both_units())),
        ("files", files_words(case, estimate)),
        ("existing", existing_words(case).to_owned()),
        ("targets", targets_words(workload)),
    ];
    if workload.files.sharing == Sharing::PerTask {
        let tasks = counted(u64::from(workload.tasks), "task");
        let targets = counted(workload.files.targets.len() as u64, "target");
        let reached = match forecast.balance_bound {
            bound if bound < 1.0 => format!("at most {}", percent(bound)),
            _ => "all".to_owned(),
        };
        lines.push(("balance", format!("{tasks} over {targets}: {reached} of the sum can be reached")));
    }
    lines.extend([
        ("order", order_words(workload)),
        ("path", path_words(workload)),
        ("durability", sync_words(workload)),
        ("phases", phases_words(case)),
    ]);
    let reads = read_from_words(workload).into_iter().chain(across_lines(case, &environment.node_of));
    lines.extend(iter::once("reads").chain(iter::repeat("")).zip(reads));
    lines.extend(clock_words(workload).map(|text| ("clock", text)));
    lines.push(("afterwards", keep_words(case).to_owned()));
    lines
}

pub(super) fn tasks_words(workload: &Workload) -> String {
    let tasks = grouped(u64::from(workload.tasks));
    let (least, most) = (workload.tasks / workload.nodes, workload.tasks.div_ceil(workload.nodes));
    match (workload.nodes, workload.spread) {
        (1, _) => tasks,
        (nodes, Spread::Ranks { tasks_per_rank }) => {
            format!("{tasks} on {nodes} nodes, {tasks_per_rank} on each process of the launcher")
        }
        (nodes, Spread::Nodes) if least == most => format!("{tasks} on {nodes} nodes, {least} on each"),
        (nodes, Spread::Nodes) => format!("{tasks} on {nodes} nodes, {least} or {most} on each"),
    }
}

/// Which nodes read data of which nodes: a summary, then the first nodes.
fn across_lines(case: &Case, node_of: &[u32]) -> Vec<String> {
    if !case.phases.iter().any(|phase| phase.needs_data()) {
        return Vec::new();
    }
    // A run with too few processes is rejected when it starts.
    let Ok(Some(across)) = plan::cross_node_reads(&case.workload, node_of) else { return Vec::new() };
    let mut lines = vec![across.sentence()];
    if case.workload.read_from != ReadFrom::Same {
        lines.extend(across.nodes.iter().take(NAMED).map(node_words));
        let others = across.nodes.len().saturating_sub(NAMED);
        lines.extend((others > 0).then(|| format!("… and {others} more nodes")));
    }
    lines
}

/// `node 0 with tasks 0 to 5 reads node 1 (6 tasks)`.
fn node_words(node: &NodeReads) -> String {
    let (first, last) = node.first_and_last;
    let tasks = match (node.tasks, last - first + 1 == node.tasks) {
        (1, _) => format!("task {first}"),
        (_, true) => format!("tasks {first} to {last}"),
        (count, false) => format!("{count} tasks from {first} to {last}"),
    };
    let from = node.from.iter().take(NAMED);
    let from = from.map(|(from, tasks)| format!("node {from} ({})", counted(u64::from(*tasks), "task")));
    let others = node.from.len().saturating_sub(NAMED);
    let from = from.chain((others > 0).then(|| format!("{others} more nodes")));
    format!("node {} with {tasks} reads {}", node.node, from.collect::<Vec<_>>().join(", "))
}

fn files_words(case: &Case, estimate: &CaseEstimate) -> String {
    let files = &case.workload.files;
    let kind = match files.sharing {
        Sharing::Shared => "shared by all tasks",
        Sharing::PerTask if files.unique_dir => "one for each task, each in a directory of its own",
        Sharing::PerTask => "one for each task",
    };
    let sets = if files.file_per_repetition { ", a set for each repetition" } else { "" };
    let (fewest, most) = estimate.forecast.files_per_target;
    let spread = match (files.targets.len(), files.sharing) {
        (1, _) => String::new(),
        (_, Sharing::Shared) => "; a shared file uses the first target alone".to_owned(),
        (_, Sharing::PerTask) if fewest == most => format!("; {most} on each target"),
        (_, Sharing::PerTask) => format!("; {fewest} or {most} on each target"),
    };
    let size = estimate.forecast.file_bytes.both_units();
    format!("{} of {size}, {kind}{sets}{spread}", grouped(estimate.forecast.files))
}

fn existing_words(case: &Case) -> &'static str {
    match case.workload.files.existing {
        _ if case.only_reads() => "existing files are read, and nothing is written",
        Existing::Replace => "existing files are replaced",
        Existing::Reuse => "existing files are overwritten in place",
    }
}

/// All devices, since their data may be lost; of directories and files the first ones.
fn targets_words(workload: &Workload) -> String {
    let targets = &workload.files.targets;
    let mut names: Vec<String> = targets.iter().map(|path| path.display().to_string()).collect();
    let count = names.len();
    let are_devices = targets.iter().any(|path| path.starts_with("/dev"));
    if count > NAMED + 1 && !are_devices {
        names.splice(NAMED..count - 1, ["…".to_owned()]);
    }
    match count {
        1 => names.remove(0),
        _ => format!("{count}: {}", names.join(" ")),
    }
}

fn order_words(workload: &Workload) -> String {
    match workload.order {
        Order::Sequential => "sequential: segment by segment, in rising offsets".to_owned(),
        Order::Backward => "backward: from the last transfer to the first".to_owned(),
        Order::Strided { stride } => format!("strided: each transfer once, in laps over every {stride}th"),
        Order::Same => "same: the first transfer over and over".to_owned(),
        Order::Random { seed } => {
            let fresh = if workload.fresh_order { ", another order in each repetition" } else { "" };
            format!("random: each transfer once, chosen by seed {seed}{fresh}")
        }
        Order::RandomBlocks { seed, blocks, .. } => {
            format!("random blocks: each one of {blocks}, some of them repeatedly, chosen by seed {seed}")
        }
    }
}

fn path_words(workload: &Workload) -> String {
    let backend = workload.backend;
    let mut calls = backend.capabilities().calls.to_owned();
    if !backend.can_be_direct() {
        return calls;
    }
    if backend.capabilities().vectored {
        calls += &format!(" of {}", counted(u64::from(backend.pieces()), "piece"));
    }
    let direct = if workload.direct { "direct (O_DIRECT)" } else { "buffered, through the page cache" };
    format!("{direct}; {calls}, {} in flight for each task", backend.depth())
}

fn sync_words(workload: &Workload) -> String {
    let timed = timed_sync_words(workload);
    match workload.sync_after {
        true => format!("{timed}; fsync and close after the timed part"),
        false => timed,
    }
}

fn timed_sync_words(workload: &Workload) -> String {
    let flag = if workload.data_sync { "O_DSYNC" } else { "O_SYNC" };
    match (workload.sync_open, workload.sync.per_write, workload.sync.at_close) {
        (true, _, false) => format!("each write by {flag}, inside its latency"),
        (true, _, true) => format!("each write by {flag}, inside its latency, and fsync in the timed close"),
        (_, true, true) => "fsync after each write, inside its latency, and in the timed close".to_owned(),
        (_, true, false) => "fsync after each write, inside its latency".to_owned(),
        (_, false, true) => "fsync after the last write, in the timed close".to_owned(),
        (_, false, false) => {
            "none requested: data may be in memory or in a device's cache at the end".to_owned()
        }
    }
}

pub(super) fn phases_words(case: &Case) -> String {
    let mut names: Vec<String> = case.phases.iter().map(ToString::to_string).collect();
    if case.phases.contains(&Phase::Mixed) {
        names.push(format!("({} % reads)", case.workload.read_percent));
    }
    let rest = (case.delay.0 > 0).then(|| format!(", {} of rest before each write and read", case.delay));
    let limit = case.time_limit.map(|limit| format!(", none started after {limit}"));
    let repetitions = counted(u64::from(case.repetitions), "repetition");
    let (rest, limit) = (rest.unwrap_or_default(), limit.unwrap_or_default());
    format!("{}; {repetitions}{rest}{limit}", names.join(", "))
}

fn read_from_words(workload: &Workload) -> Option<String> {
    match workload.read_from {
        ReadFrom::Same => None,
        ReadFrom::Shift { tasks } => Some(format!("task t reads what task t + {tasks} wrote")),
        ReadFrom::Shuffle { at_least, seed, reseed } => {
            let fresh = if reseed { ", another in each repetition" } else { "" };
            Some(format!(
                "a random task reads each task's data, at least {at_least} places away; seed {seed}{fresh}"
            ))
        }
    }
}

pub(super) fn clock_words(workload: &Workload) -> Option<String> {
    let parts = [
        workload.operations.map(|each| format!("each task does {} transfers", grouped(each))),
        workload.duration.map(|duration| format!("passes are repeated for {duration}")),
        workload.stonewall.map(|stonewall| stonewall.to_string()),
        workload.pace.map(|pace| {
            let rate = pace.transfers_per_second;
            format!("open loop: {rate} transfers/s in all, latency counted from the intended start")
        }),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

pub(super) fn keep_words(case: &Case) -> &'static str {
    match case.workload.files.keep {
        _ if case.only_reads() => "files that this run did not create stay as they are",
        Keep::Never => "the files are removed in any case",
        Keep::OnError => "the files are removed unless a check found wrong data",
        Keep::Always => "the files are kept",
    }
}

/// Predicted volume, duration and rate of a phase of transfers, and the source of the rate.
pub(super) fn predicted_transfers(estimate: &PhaseEstimate) -> String {
    let phase = estimate.phase;
    let volume = decimal_bytes(estimate.bytes.0);
    let at = format!("{} ({})", ends(estimate.bytes_per_second, rate), visible(&estimate.source.to_string()));
    let seconds = ends(estimate.seconds, duration);
    match estimate.by_clock {
        true if estimate.source == Source::Unknown => format!("{phase}: {seconds} by the clock"),
        true => format!("{phase}: {seconds} by the clock, {volume} at {at}"),
        false => format!("{phase}: {volume} take {seconds} at {at}"),
    }
}

/// Bytes needed of bytes free.
pub(super) fn space_words(space: &SpaceEstimate) -> String {
    let (needed, free) = (space.needed.both_units(), space.free.both_units());
    format!("{}: {needed} of {free} free, {}", space.name, percent(space.share()))
}

/// The volume compared with the memory, and what follows for reads.
pub(super) fn memory_words(workload: &Workload, memory: Option<Bytes>) -> String {
    let risk = memory_risk(workload, memory);
    let Some(memory) = memory else { return risk.to_owned() };
    let where_to = if workload.nodes == 1 { "" } else { " on each node" };
    let volume = multiple(workload, memory);
    format!("the data of one pass is {volume:.2} × the memory of {}{where_to}: {risk}", memory.both_units())
}

/// A node's share of the data as a multiple of its memory. Bytes of a file that are moved again are the same data.
fn multiple(workload: &Workload, memory: Bytes) -> f64 {
    let data = workload.bytes().min(workload.footprint());
    data.0 as f64 / f64::from(workload.nodes) / (memory.0 as f64).max(1.0)
}

/// The time of all passes of a case, as far as it is known.
pub(super) fn time_words(estimate: &CaseEstimate) -> String {
    match estimate.is_partly_unknown() {
        true if estimate.seconds.high > 0.0 => format!("above {}", duration(estimate.seconds.low)),
        true => "an unknown time".to_owned(),
        false => ends(estimate.seconds, duration),
    }
}

/// Whether a case can use the page cache of `environment`: a model may have none.
pub(super) fn has_memory_line(case: &Case, environment: &RunEnvironment) -> bool {
    case.workload.work.is_transfers() && (environment.model.is_none() || environment.memory.is_some())
}

/// Whether the page cache can serve reads instead of the storage.
pub(super) fn memory_risk(workload: &Workload, memory: Option<Bytes>) -> &'static str {
    match memory {
        None => "not known, so it is unknown whether the page cache can hold the data",
        _ if !workload.backend.moves_data() => "no data is moved",
        _ if workload.direct => "direct I/O bypasses the page cache",
        Some(memory) if multiple(workload, memory) < plan::MEMORY_MULTIPLE_MIN => "the page cache can answer",
        _ => "more than the page cache can hold",
    }
}

#[cfg(test)]
mod tests {
    use plan::{Bytes, Case, Geometry, Phase, ReadFrom, WorkloadSpec};

    use super::{across_lines, tasks_words};

    fn case(tasks: u32, nodes: u32, read_from: ReadFrom) -> Case {
        let geometry = Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 };
        let mut spec = WorkloadSpec::new("w", "f", geometry);
        (spec.tasks, spec.nodes, spec.read_from) = (tasks, nodes, read_from);
        Case::new("w", spec.validate().expect("valid"), vec![Phase::Write, Phase::Read])
    }

    fn lines(case: &Case) -> Vec<String> {
        across_lines(case, &[])
    }

    #[test]
    fn which_node_reads_what_which_node_wrote_is_told() {
        let case = |tasks, nodes, shift| case(tasks, nodes, ReadFrom::Shift { tasks: shift });
        assert_eq!(tasks_words(&case(24, 4, 6).workload), "24 on 4 nodes, 6 on each");
        assert_eq!(tasks_words(&case(7, 4, 6).workload), "7 on 4 nodes, 1 or 2 on each");
        assert_eq!(
            lines(&case(24, 4, 6)),
            [
                "no task reads what its own node wrote",
                "node 0 with tasks 0 to 5 reads node 1 (6 tasks)",
                "node 1 with tasks 6 to 11 reads node 2 (6 tasks)",
                "node 2 with tasks 12 to 17 reads node 3 (6 tasks)",
                "node 3 with tasks 18 to 23 reads node 0 (6 tasks)",
            ]
        );
        let many = lines(&case(36_000, 1500, 1));
        assert_eq!(many[0], "34500 of 36000 tasks read what their own node wrote");
        assert_eq!(many[1], "node 0 with tasks 0 to 23 reads node 0 (23 tasks), node 1 (1 task)");
        assert_eq!(many[5..], ["… and 1496 more nodes"]);
        assert!(lines(&case(4, 1, 1)).is_empty(), "one node has nowhere to go");
    }
}
