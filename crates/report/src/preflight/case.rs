//! One case of a plan in words: what it does, what it is expected to take, where it fits.

use plan::{
    Backend, Bytes, Case, Existing, ExpectedRate, NodeReads, Order, Outlook, Phase, PhaseOutlook, ReadFrom,
    Sharing, SpaceOutlook, Surroundings, Workload,
};

use super::phrases::{clock_words, keep_words, phases_words, tasks_words};
use super::works;
use crate::format::{counted, decimal_bytes, duration, grouped, percent, rate};

/// Targets named in full before the rest is counted.
const TARGETS_NAMED: usize = 4;
/// Nodes whose reads are told before the rest is counted.
const NODES_NAMED: usize = 4;

/// What the case does, without its surroundings.
pub(super) fn what_lines(
    case: &Case,
    outlook: &Outlook,
    around: &Surroundings,
) -> Vec<(&'static str, String)> {
    let workload = &case.workload;
    if !workload.work.is_transfers() {
        return works::what_lines(case, outlook);
    }
    let (geometry, forecast) = (workload.geometry, &outlook.forecast);
    let per_block = counted(geometry.transfers_per_block(), "transfer");
    let mut lines = vec![
        ("transfer", geometry.transfer.both_units()),
        ("block", format!("{}: {per_block}", geometry.block.both_units())),
        (
            "segments",
            format!("{}: {} a task", grouped(geometry.segments), geometry.bytes_per_task().both_units()),
        ),
        ("tasks", tasks_words(workload)),
        ("volume", format!("{} in one pass of all tasks", forecast.phase_bytes.both_units())),
        ("files", files_words(case, outlook)),
        ("targets", targets_words(case, outlook)),
    ];
    if workload.files.sharing == Sharing::PerTask {
        lines.push(("balance", balance_words(workload, forecast.balance_bound)));
    }
    lines.push(("order", order_words(workload)));
    lines.push(("path", path_words(workload)));
    lines.push(("durability", sync_words(workload)));
    lines.push(("phases", phases_words(case)));
    let mut reads: Vec<String> = read_from_words(workload).into_iter().collect();
    reads.extend(across_lines(case, &around.node_of));
    lines.extend(reads.into_iter().enumerate().map(|(at, text)| (if at == 0 { "reads" } else { "" }, text)));
    lines.extend(clock_words(workload).map(|text| ("clock", text)));
    lines.push(("afterwards", keep_words(workload).to_owned()));
    lines
}

/// Which node reads what which node wrote: the first nodes, and how much crosses over.
fn across_lines(case: &Case, node_of: &[u32]) -> Vec<String> {
    if !case.phases.iter().any(|phase| phase.needs_data()) {
        return Vec::new();
    }
    // A run that is too small for the plan is refused when it starts.
    let Ok(Some(across)) = plan::across(&case.workload, node_of) else { return Vec::new() };
    let mut lines = vec![across.sentence()];
    if case.workload.read_from == ReadFrom::Same {
        return lines;
    }
    lines.extend(across.nodes.iter().take(NODES_NAMED).map(node_words));
    if let Some(others) = across.nodes.len().checked_sub(NODES_NAMED).filter(|others| *others > 0) {
        lines.push(format!("… and {others} more nodes"));
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
    let mut from: Vec<String> = node
        .from
        .iter()
        .take(NODES_NAMED)
        .map(|(from, tasks)| format!("node {from} ({})", counted(u64::from(*tasks), "task")))
        .collect();
    if node.from.len() > NODES_NAMED {
        from.push(format!("{} more nodes", node.from.len() - NODES_NAMED));
    }
    format!("node {} with {tasks} reads {}", node.node, from.join(", "))
}

fn files_words(case: &Case, outlook: &Outlook) -> String {
    let files = &case.workload.files;
    let kind = match files.sharing {
        Sharing::Shared => "shared by all tasks",
        Sharing::PerTask if files.unique_dir => "one for each task, each in a directory of its own",
        Sharing::PerTask => "one for each task",
    };
    let sets = if files.file_per_repetition { ", a set for each repetition" } else { "" };
    let existing = match files.existing {
        Existing::Replace => "files that exist are replaced",
        Existing::Reuse => "files that exist are written over in place",
    };
    let size = outlook.forecast.file_bytes.both_units();
    format!("{} of {size}, {kind}{sets}; {existing}", grouped(outlook.forecast.files))
}

fn targets_words(case: &Case, outlook: &Outlook) -> String {
    let targets = &case.workload.files.targets;
    let mut names: Vec<String> =
        targets.iter().take(TARGETS_NAMED).map(|path| path.display().to_string()).collect();
    if targets.len() > TARGETS_NAMED + 1 {
        names.push("…".to_owned());
    }
    if targets.len() > TARGETS_NAMED {
        names.extend(targets.last().map(|path| path.display().to_string()));
    }
    let names = names.join(" ");
    let (fewest, most) = outlook.forecast.files_per_target;
    match (targets.len(), case.workload.files.sharing) {
        (1, _) => names,
        (count, Sharing::Shared) => format!("{count}: {names}; a shared file uses the first alone"),
        (count, Sharing::PerTask) if fewest == most => {
            format!("{count}: {names}; {} on each", counted(u64::from(most), "file"))
        }
        (count, Sharing::PerTask) => format!("{count}: {names}; {fewest} or {most} files on each"),
    }
}

fn balance_words(workload: &Workload, bound: f64) -> String {
    let targets = workload.files.targets.len() as u64;
    let over = format!("{} over {}", counted(u64::from(workload.tasks), "task"), counted(targets, "target"));
    if bound < 1.0 {
        format!("{over}: at most {} of the sum can be reached", percent(bound))
    } else {
        format!("{over}: all of the sum can be reached")
    }
}

fn order_words(workload: &Workload) -> String {
    match workload.order {
        Order::Sequential => "sequential: segment by segment, in rising offsets".to_owned(),
        Order::Backward => "backward: from the last transfer to the first".to_owned(),
        Order::Strided { stride } => {
            format!("strided: each transfer once, every {stride}th of them in a lap")
        }
        Order::Same => "same: the first transfer over and over".to_owned(),
        Order::Random { seed } => {
            let fresh = if workload.fresh_order { ", another order in each repetition" } else { "" };
            format!("random: each transfer once, chosen by seed {seed}{fresh}")
        }
    }
}

fn path_words(workload: &Workload) -> String {
    let depth = workload.backend.depth();
    let under_way = format!("{depth} under way for each task");
    match workload.backend {
        Backend::Null => "null: no I/O at all, measures the instrument".to_owned(),
        Backend::Mmap => "shared memory mapping, through the page cache".to_owned(),
        Backend::Stdio => {
            "streams of the C library, fread and fwrite, buffered in the process too".to_owned()
        }
        Backend::Psync | Backend::Vectored { .. } | Backend::Uring { .. } => {
            let direct =
                if workload.direct { "direct (O_DIRECT)" } else { "buffered, through the page cache" };
            let calls = match workload.backend {
                Backend::Vectored { pieces } => {
                    format!("preadv and pwritev of {}", counted(u64::from(pieces), "piece"))
                }
                Backend::Uring { .. } => "io_uring".to_owned(),
                _ => "pread and pwrite".to_owned(),
            };
            format!("{direct}; {calls}, {under_way}")
        }
    }
}

fn sync_words(workload: &Workload) -> String {
    if workload.sync_open {
        let flag = if workload.data_sync { "O_DSYNC" } else { "O_SYNC" };
        let close = if workload.sync.at_close { ", and fsync in the timed close" } else { "" };
        return format!("each write by {flag}, inside its latency{close}");
    }
    match (workload.sync.per_write, workload.sync.at_close) {
        (true, true) => "fsync after each write, inside its latency, and in the timed close".to_owned(),
        (true, false) => "fsync after each write, inside its latency".to_owned(),
        (false, true) => "fsync after the last write, in the timed close".to_owned(),
        (false, false) => {
            "none asked for: data may be in memory or in a device's cache at the end".to_owned()
        }
    }
}

fn read_from_words(workload: &Workload) -> Option<String> {
    match workload.read_from {
        ReadFrom::Same => None,
        ReadFrom::Shift { tasks } => Some(format!("task t reads what task t + {tasks} wrote")),
        ReadFrom::Shuffle { at_least, seed, reseed } => {
            let fresh = if reseed { ", another in each repetition" } else { "" };
            Some(format!("a random task reads, at least {at_least} places away; seed {seed}{fresh}"))
        }
    }
}

/// Volume, seconds and rate of a phase, and where the rate comes from.
pub(super) fn predicted(phase: &PhaseOutlook, around: &Surroundings) -> String {
    if !phase.phase.is_transfers() {
        return works::predicted(phase, around);
    }
    let volume = decimal_bytes(phase.bytes.0);
    let at = format!("{} ({})", rate(phase.bytes_per_second), source(phase.phase, around));
    let seconds = duration(phase.seconds);
    if phase.by_clock {
        format!("{}: {seconds} by the clock, {volume} at {at}", phase.phase)
    } else {
        format!("{}: {volume} take {seconds} at {at}", phase.phase)
    }
}

/// Where the rate of `phase` comes from.
fn source(phase: Phase, around: &Surroundings) -> String {
    let ExpectedRate { source, .. } = if phase.writes() { &around.write } else { &around.read };
    if phase == Phase::Mixed && *source != around.read.source {
        return format!("{source}; {}", around.read.source);
    }
    source.clone()
}

/// Bytes needed of bytes free.
pub(super) fn space_words(space: &SpaceOutlook) -> String {
    let (needed, free) = (space.needed.both_units(), space.free.both_units());
    format!("{}: {needed} of {free} free, {}", space.name, percent(space.share()))
}

/// The volume against the memory.
pub(super) fn memory_words(workload: &Workload, memory: Option<Bytes>) -> String {
    let Some(memory) = memory else {
        return "not known; whether the page cache can hold the data cannot be said".to_owned();
    };
    // Each node has a memory of its own, and moves its share.
    let moved = workload.bytes().0 as f64 / f64::from(workload.nodes);
    let volume = moved / (memory.0 as f64).max(1.0);
    let risk = match workload.backend {
        Backend::Null => "no data is moved",
        _ if workload.direct => "direct I/O goes round the page cache",
        _ if volume < plan::MEMORY_MULTIPLE_MIN => "the page cache can answer",
        _ => "more than the page cache can hold",
    };
    let where_to = if workload.nodes == 1 { "" } else { " on each node" };
    format!("one pass moves {volume:.2} × the memory of {}{where_to}: {risk}", memory.both_units())
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
