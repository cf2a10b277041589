//! Published figures that are compared with own ones.

use plan::{Bytes, Case, Phase, Plan, PlanSource, ReadFrom, Sharing};
use record::{Detail, Library, Metric, Published, PublishedKind, PublishedOperation, PublishedStatistic};

use crate::comparisons::{PublishedComparison, beside, own_value, phase_of};
use crate::figures::{Figure, Subject, bytes_of_one, nodes_of, subjects};
use crate::statistics::whole;

/// A published figure, and how its conditions differ, as in `14 tasks, here 4`.
type Similar = (&'static Published, Vec<String>);

/// The published figures that are compared with own ones: those that the study names, or else those that match the
/// command line.
pub(crate) fn of_plan(plan: &Plan, figures: &[Figure], library: &Library) -> Vec<PublishedComparison> {
    beside(plan, figures, library).into_iter().chain(of_command_lines(plan, figures)).collect()
}

/// Published figures of the same command line or of the same tool, for the own figures of a command line, an import
/// or a quick run. A study names the published figures to compare with in its `[[published]]`.
fn of_command_lines(plan: &Plan, figures: &[Figure]) -> Vec<PublishedComparison> {
    // Imported runs name each tool with its version.
    let tools: Vec<&str> = match &plan.source {
        PlanSource::Dialect { tool, .. } => vec![tool.as_str()],
        PlanSource::Import { tools, .. } => tools.iter().filter_map(|tool| tool.split(' ').next()).collect(),
        PlanSource::Quick { .. } | PlanSource::CrossCheck { .. } => Vec::new(),
        PlanSource::Study { .. } => return Vec::new(),
    };
    let is_tool = matches!(plan.source, PlanSource::Dialect { .. });
    let of_figure = |own: &Subject<'_>| {
        let (case, phase) = (own.case, own.figure.phase);
        let mut found: Vec<Similar> = published_beside(case)
            .into_iter()
            .chain(published_near(case))
            .filter(|one| phase_of(one) == Some(phase) && one.metric == Metric::Bandwidth)
            .map(|published| (published, differs_in_size(published, case)))
            .collect();
        let same_line = found.len();
        for one in tools.iter().flat_map(|tool| published_similar(tool, case, phase)) {
            if !found.iter().any(|known| known.0.id == one.0.id) {
                found.push(one);
            }
        }
        let row = |(place, (published, mut differs)): (usize, Similar)| {
            let value = own_value(case, own.figure, published)?;
            let elsewhere = is_tool && place >= same_line;
            differs.extend(elsewhere.then(|| "another machine".to_owned()));
            Some(PublishedComparison {
                differs,
                elsewhere,
                ..PublishedComparison::of(published, Some((own, value)))
            })
        };
        found.into_iter().enumerate().filter_map(row).collect::<Vec<_>>()
    };
    subjects(plan, figures).iter().flat_map(of_figure).collect()
}

/// How the same command line differs if its transfer size or its number of segments is different.
fn differs_in_size(published: &Published, case: &Case) -> Vec<String> {
    let (printed, own) = (&published.parameters, case.workload.geometry);
    let size = printed.transfer_bytes.filter(|&bytes| bytes != own.transfer.0);
    let segments = printed.segments.filter(|&segments| segments != own.segments);
    let differs = [
        size.map(|size| format!("chosen by the study from several transfer sizes, given as {}", Bytes(size))),
        segments.map(|segments| format!("with {segments} segments, here with {}", own.segments)),
        published.value_if_binary.map(|bytes| format!("MB may be MiB: then {bytes:.0} bytes/s")),
    ];
    differs.into_iter().flatten().collect()
}

/// The published figures that were measured with the command line of `case`. Transfer size, direct I/O, fsync, file
/// per task, order, tasks and targets are equal, and so are nodes, block, segments and reordering if the study prints
/// them. Figures of a direction that no phase of the case has are left out.
#[must_use]
pub fn published_beside(case: &Case) -> Vec<&'static Published> {
    same_line(case, |same_transfer, same_segments| same_transfer && same_segments)
}

/// The same as [`published_beside`], but one of two things may differ: the transfer size, if the study names the best
/// of several sizes, or the number of segments, as in a scaled-down run that moves less. Callers should mention the
/// difference.
#[must_use]
pub fn published_near(case: &Case) -> Vec<&'static Published> {
    same_line(case, |same_transfer, same_segments| same_transfer != same_segments)
}

/// The published figures with the command line of `case` apart from sizes, which `sizes` judges. Devices and layout
/// are not compared.
fn same_line(case: &Case, sizes: fn(bool, bool) -> bool) -> Vec<&'static Published> {
    let workload = &case.workload;
    let geometry = workload.geometry;
    let same = |one: &&'static Published| {
        let printed = &one.parameters;
        both(printed.targets.map(|targets| targets as usize), case.paths().map(<[_]>::len))
            && both(printed.direct, case.is_direct())
            && both(printed.fsync, case.sync().map(|sync| sync.at_close))
            && both(printed.file_per_process, case.sharing().map(|one| one == Sharing::PerTask))
            && both(printed.random, case.order().map(plan::Order::is_random))
            && both(printed.tasks, case.tasks())
            && printed.nodes.is_none_or(|nodes| Some(u64::from(nodes)) == nodes_of(case))
            && is_or_unsaid(printed.reorder_tasks, matches!(workload.read_from, ReadFrom::Shift { .. }))
            && is_or_unsaid(printed.block_bytes, geometry.block.0)
            && sizes(
                both(printed.transfer_bytes, case.transfer().map(|bytes| bytes.0)),
                is_or_unsaid(printed.segments, geometry.segments),
            )
            && phase_of(one).is_some_and(|phase| case.phases.contains(&phase))
    };
    record::published().figures.iter().filter(same).collect()
}

/// Whether both values are known and equal.
fn both<T: PartialEq>(published: Option<T>, own: Option<T>) -> bool {
    published.is_some() && published == own
}

/// A value that a study does not print is assumed to be equal.
fn is_or_unsaid<T: PartialEq>(published: Option<T>, own: T) -> bool {
    published.is_none_or(|published| published == own)
}

const IOZONE: &str = "iozone";

/// Groups of tools that print the same figures under different names.
const FAMILIES: [&[&str]; 5] =
    [&["mdtest"], &[IOZONE], &["gpfsperf", "tsqosperf"], &["ioping"], &[plan::randomops::TOOL]];

/// The published figures of `phase` from the tool family of `tool`, whose terms were used for `case`, with the same
/// operation size, and of the same test for a tool with several tests in a phase. For trees, target values are included. They come from other machines and often from more nodes, so
/// each is returned with its differences, which are empty if all printed conditions are equal.
///
/// From an mdtest table the means are taken: a table of one iteration has the same number three times.
#[must_use]
pub fn published_similar(tool: &str, case: &Case, phase: Phase) -> Vec<Similar> {
    let family = FAMILIES.iter().find(|family| family.contains(&tool));
    let size = bytes_of_one(case, phase).map(|bytes| bytes.0);
    let wanted = |one: &&'static Published| {
        let printed = &one.parameters;
        let known = printed.tool.as_deref().map(str::to_ascii_lowercase);
        let of_family = known.as_deref().zip(family).is_some_and(|(known, family)| family.contains(&known));
        let goal = one.kind == PublishedKind::Target && one.metric == Metric::Creates;
        let repeated = printed.tool.as_deref() == Some("mdtest") && one.statistic != PublishedStatistic::Mean;
        let spread = one.statistic == PublishedStatistic::Deviation && one.metric != Metric::Latency;
        // A group of IOzone's tests has its name for them, and each line of its output is of one test.
        let same_test = tool != IOZONE || one.operation.name() == case.group;
        (of_family || goal)
            && same_test
            && phase_of(one) == Some(phase)
            && printed.transfer_bytes.or(file_bytes_of(one)).is_none_or(|printed| Some(printed) == size)
            && case.is_direct().is_none_or(|direct| is_or_unsaid(printed.direct, direct))
            && !repeated
            && !spread
    };
    let similar = |published| (published, differences(published, case, phase));
    record::published().figures.iter().filter(wanted).map(similar).collect()
}

/// Size of the small files of a published figure, in bytes.
fn file_bytes_of(one: &Published) -> Option<u64> {
    let small = matches!(one.metric, Metric::Rate | Metric::Creates);
    let printed = || one.parameters.more.get("bytes_per_file").and_then(Detail::number).map(whole);
    // A table of rates has one file size; only creates and writes move that many bytes.
    let moves = matches!(one.operation, PublishedOperation::Create | PublishedOperation::Write);
    one.parameters.file_bytes.or_else(printed).filter(|_| small && moves)
}

/// Where the printed conditions of `published` differ from those of `case`. Conditions that an imported text does not
/// state are unknown and count as no difference.
fn differences(published: &Published, case: &Case, phase: Phase) -> Vec<String> {
    let (workload, printed) = (&case.workload, &published.parameters);
    let own_nodes = nodes_of(case).map(|nodes| u32::try_from(nodes).unwrap_or(u32::MAX));
    let count = |printed: Option<u32>, own: Option<u32>, one: &str| {
        let own = own?;
        let printed = printed.filter(|&printed| printed != own)?;
        let several = if printed == 1 { "" } else { "s" };
        Some(format!("{printed} {one}{several}, here {own}").replace("processs", "processes"))
    };
    let called = match printed.tasks_called.as_deref().map_or("task", |word| word.trim_end_matches('s')) {
        "processe" => "process",
        called => called,
    };
    let tree = case.tree();
    let files = printed.more.get("files_per_task").and_then(Detail::number).zip(tree);
    let own_trees = printed.more.contains_key("shared_directory") && tree.is_some_and(|tree| tree.own_trees);
    let shared_by = if workload.files.sharing == Sharing::PerTask { 1 } else { u64::from(workload.tasks) };
    let own_bytes = workload.transfers_per_task() * workload.geometry.transfer.0 * shared_by;
    let bytes = printed.file_bytes.filter(|&bytes| {
        case.volume().is_some() && case.transfer().is_some() && phase.is_transfers() && bytes != own_bytes
    });
    let synced = case.sync().is_some() && phase == Phase::Write;
    let fsync = printed.fsync.filter(|&fsync| synced && fsync != workload.sync.at_close);
    let printed_operations = printed.more.get("ops_per_task").and_then(Detail::number);
    let operations =
        printed_operations.zip(workload.operations).filter(|(printed, own)| *printed != *own as f64);
    let differs = [
        count(printed.tasks, case.tasks(), called),
        count(printed.nodes, own_nodes, "node"),
        files
            .map(|(printed, tree)| (printed, tree.items_per_task()))
            .filter(|(printed, own)| *printed != *own as f64)
            .map(|(printed, own)| format!("{printed} files of each, here {own}")),
        operations.map(|(printed, own)| format!("{printed} operations of each, here {own}")),
        own_trees.then(|| "one shared directory, here one for each task".to_owned()),
        bytes.map(|bytes| format!("files of {}, here {}", Bytes(bytes), Bytes(own_bytes))),
        fsync.map(|fsync| {
            if fsync { "fsync at the end, here none" } else { "no fsync, here one at the end" }.to_owned()
        }),
        printed.layer.as_ref().or(printed.file_system.as_ref()).map(|place| format!("on {place}")),
    ];
    differs.into_iter().flatten().collect()
}
