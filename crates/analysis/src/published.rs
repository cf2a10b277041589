//! Published figures beside own ones.

use plan::{Bytes, Case, Order, Phase, Plan, Question, ReadFrom, Sharing};
use record::{
    Detail, Library, Metric, Operation, Published, PublishedKind, PublishedOperation, PublishedParameters,
    PublishedStatistic,
};

use crate::Figure;
use crate::amount::bytes_of_one;
use crate::beside::{Beside, beside, own_value, phase_of};
use crate::gate::{Gate, Kind, Stated};
use crate::subject::nodes_of;
use crate::subject::{Subject, subjects};

/// Published figures beside own ones: those that the study names, or else those that the command line tells.
pub(crate) fn of_gate(gate: &Gate<'_>, library: &Library) -> Vec<Stated<Beside>> {
    let named = beside(gate.plan, gate.figures, library);
    let all = named.into_iter().chain(of_command_lines(gate.plan, gate.figures));
    all.map(|one| gate.state(Kind::Published, one.figure.into_iter().collect(), one)).collect()
}

/// Published figures of the same command line or of the same tool, beside the own figures of a command line, an
/// import or a quick run. What stands beside a study's figures is for the study to say, in its `[[published]]`.
fn of_command_lines(plan: &Plan, figures: &[Figure]) -> Vec<Beside> {
    // What is imported names each tool with its version.
    let tools: Vec<&str> = match &plan.question {
        Question::Dialect { tool, .. } => vec![tool.as_str()],
        Question::Import { tools, .. } => tools.iter().filter_map(|tool| tool.split(' ').next()).collect(),
        Question::Quick { .. } => Vec::new(),
        Question::Study { .. } => return Vec::new(),
    };
    let of_figure = |own: &Subject<'_>| {
        let of_line = published_beside(own.case).into_iter().chain(published_near(own.case));
        let mut found: Vec<Similar> = of_line
            .filter(|one| phase_of(one) == Some(own.figure.phase) && one.metric == Metric::Bandwidth)
            .map(|published| Similar { published, differs: differs_in_size(published, own.case) })
            .collect();
        for one in tools.iter().flat_map(|tool| published_similar(tool, own.case, own.figure.phase)) {
            if !found.iter().any(|known| known.published.id == one.published.id) {
                found.push(one);
            }
        }
        let row = |one: Similar| {
            let value = own_value(own.case, own.figure, one.published)?;
            Some(Beside { differs: one.differs, ..Beside::of(one.published, Some((own, value))) })
        };
        found.into_iter().filter_map(row).collect::<Vec<_>>()
    };
    subjects(plan, figures).iter().flat_map(of_figure).collect()
}

/// In what the same command line with another transfer size, or other segments, differs.
fn differs_in_size(published: &Published, case: &Case) -> Vec<String> {
    let (printed, own) = (&published.parameters, case.workload.geometry);
    let size = printed.transfer_bytes.filter(|&bytes| bytes != own.transfer.0);
    let segments = printed.segments.filter(|&segments| segments != own.segments);
    [
        size.map(|size| format!("chosen by the study from several transfer sizes, given as {}", Bytes(size))),
        segments.map(|segments| format!("with {segments} segments, here with {}", own.segments)),
        published.value_if_binary.map(|bytes| format!("MB may be MiB: then {bytes:.0} bytes/s")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The published figures that were measured with the command line of `case`: transfer, direct
/// I/O, fsync, file per task, order, tasks and targets are equal, and so are nodes, block, segments and
/// reordering where the study prints them. A figure of a direction that no phase of the case
/// has is left out.
#[must_use]
pub fn published_beside(case: &Case) -> Vec<&'static Published> {
    same_line(case, |published, own| {
        published.transfer_bytes == own.transfer_bytes && same_segments(published, own)
    })
}

/// As [`published_beside`], except for one of two things: the transfer size, where the study names
/// the best of several sizes, or the segments, as in a miniature that moves less. Say so beside
/// them.
#[must_use]
pub fn published_near(case: &Case) -> Vec<&'static Published> {
    same_line(case, |published, own| {
        let same_transfer = published.transfer_bytes == own.transfer_bytes;
        same_transfer != same_segments(published, own)
    })
}

/// A published figure of the same tool, and in what its conditions differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Similar {
    /// The figure.
    pub published: &'static Published,
    /// The differences in words, as in `14 tasks, here 4`; empty where all that is printed is equal.
    pub differs: Vec<String>,
}

/// The tools that print the same figures under one name or another.
const FAMILIES: [&[&str]; 4] = [&["mdtest"], &["iozone"], &["gpfsperf", "tsqosperf"], &["ioping"]];

/// The published figures of `phase` that `tool`, whose words were used for `case`, has printed
/// elsewhere, with the same size of an operation; and what was aimed at for trees. They are of other
/// machines and often of more nodes, so what differs is told of each.
///
/// Of an mdtest table the means stand here: a table of one iteration has the same number three times.
#[must_use]
pub fn published_similar(tool: &str, case: &Case, phase: Phase) -> Vec<Similar> {
    let family = FAMILIES.iter().find(|family| family.contains(&tool));
    let size = bytes_of_one(case, phase).0;
    let wanted = |one: &&'static Published| {
        let known = one.parameters.tool.as_deref().map(str::to_ascii_lowercase);
        let of_family = known.as_deref().zip(family).is_some_and(|(known, family)| family.contains(&known));
        let goal = one.kind == PublishedKind::Target && one.metric == Metric::Creates;
        let same_size = printed_equal(one.parameters.transfer_bytes.or(file_bytes_of(one)), Some(size));
        let spread = one.statistic == PublishedStatistic::Deviation;
        let repeated =
            one.parameters.tool.as_deref() == Some("mdtest") && one.statistic != PublishedStatistic::Mean;
        let is_path = one.parameters.direct.is_none_or(|direct| direct == case.workload.direct);
        (of_family || goal)
            && phase_of(one) == Some(phase)
            && same_size
            && is_path
            && !repeated
            && !(spread && one.metric != Metric::Latency)
    };
    let similar = |published| Similar { published, differs: differences(published, case, phase) };
    record::published().figures.iter().filter(wanted).map(similar).collect()
}

/// Bytes of the small files of a published figure.
fn file_bytes_of(one: &Published) -> Option<u64> {
    let small = matches!(one.metric, Metric::Rate | Metric::Creates);
    let more = one.parameters.more.get("bytes_per_file").and_then(Detail::number);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a printed number of bytes")]
    let printed = || more.map(|bytes| bytes as u64);
    // A table of rates has one size of file; only creates and writes move it.
    let moves = matches!(one.operation, PublishedOperation::Create | PublishedOperation::Write);
    one.parameters.file_bytes.or_else(printed).filter(|_| small && moves)
}

/// In what the printed conditions of `published` are not those of `case`. What an imported text does not say
/// is not known, and no difference.
fn differences(published: &Published, case: &Case, phase: Phase) -> Vec<String> {
    let (workload, printed) = (&case.workload, &published.parameters);
    let own_nodes = u32::try_from(nodes_of(case)).unwrap_or(u32::MAX);
    let count = |printed: Option<u32>, own: u32, one: &str| {
        let printed = printed.filter(|&printed| printed != own)?;
        let several = if printed == 1 { "" } else { "s" };
        Some(format!("{printed} {one}{several}, here {own}"))
    };
    let called = printed.tasks_called.as_deref().map_or("task", |word| word.trim_end_matches('s'));
    let called = if called == "processe" { "process" } else { called };
    let plural = |text: String| text.replace("processs", "processes");
    let files = printed.more.get("files_per_task").and_then(Detail::number);
    let own_files = workload.work.tree().map(|tree| tree.items_per_task());
    let shared = printed.more.contains_key("shared_directory");
    let own_trees = workload.work.tree().is_some_and(|tree| tree.own_trees);
    let is_known = case.stated.is_none();
    let bytes = printed.file_bytes.filter(|_| is_known && phase.is_transfers());
    let tasks_per_file =
        if workload.files.sharing == Sharing::PerTask { 1 } else { u64::from(workload.tasks) };
    let own_bytes = workload.transfers_per_task() * workload.geometry.transfer.0 * tasks_per_file;
    let other_sync = |fsync: &bool| is_known && phase == Phase::Write && *fsync != workload.sync.at_close;
    let fsync = printed.fsync.filter(other_sync);
    [
        count(printed.tasks, workload.tasks, called).map(plural),
        count(printed.nodes.filter(|_| is_known || own_nodes > 1), own_nodes, "node"),
        files
            .zip(own_files)
            .filter(|(printed, own)| *printed != *own as f64)
            .map(|(printed, own)| format!("{printed} files of each, here {own}")),
        (shared && own_trees).then(|| "one shared directory, here one for each task".to_owned()),
        bytes
            .filter(|&bytes| bytes != own_bytes)
            .map(|bytes| format!("files of {}, here {}", Bytes(bytes), Bytes(own_bytes))),
        fsync.map(|fsync| {
            if fsync { "fsync at the end, here none" } else { "no fsync, here one at the end" }.to_owned()
        }),
        printed.layer.as_ref().or(printed.file_system.as_ref()).map(|place| format!("on {place}")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn same_line(
    case: &Case,
    sizes: impl Fn(&PublishedParameters, &PublishedParameters) -> bool,
) -> Vec<&'static Published> {
    let own = own_parameters(case);
    record::published()
        .figures
        .iter()
        .filter(|figure| figure.parameters.targets.is_some())
        .filter(|figure| sizes(&figure.parameters, &own) && same_otherwise(&figure.parameters, &own))
        .filter(|figure| has_direction(case, figure.operation.direction()))
        .collect()
}

/// The case in the words of the command line. Devices and layout are not part of it.
fn own_parameters(case: &Case) -> PublishedParameters {
    let workload = &case.workload;
    PublishedParameters {
        direct: Some(workload.direct),
        fsync: Some(workload.sync.at_close),
        file_per_process: Some(workload.files.sharing == Sharing::PerTask),
        reorder_tasks: Some(matches!(workload.read_from, ReadFrom::Shift { .. })),
        random: Some(matches!(workload.order, Order::Random { .. })),
        transfer_bytes: Some(workload.geometry.transfer.0),
        block_bytes: Some(workload.geometry.block.0),
        segments: Some(workload.geometry.segments),
        tasks: Some(workload.tasks),
        nodes: Some(u32::try_from(nodes_of(case)).unwrap_or(u32::MAX)),
        targets: Some(u32::try_from(workload.files.targets.len()).unwrap_or(u32::MAX)),
        ..PublishedParameters::default()
    }
}

/// What a study does not print is taken to be equal.
fn printed_equal<T: PartialEq>(published: Option<T>, own: Option<T>) -> bool {
    published.is_none() || published == own
}

fn same_segments(published: &PublishedParameters, own: &PublishedParameters) -> bool {
    printed_equal(published.segments, own.segments)
}

fn same_otherwise(published: &PublishedParameters, own: &PublishedParameters) -> bool {
    published.direct == own.direct
        && published.fsync == own.fsync
        && published.file_per_process == own.file_per_process
        && published.random == own.random
        && published.tasks == own.tasks
        && printed_equal(published.nodes, own.nodes)
        && published.targets == own.targets
        && printed_equal(published.reorder_tasks, own.reorder_tasks)
        && printed_equal(published.block_bytes, own.block_bytes)
}

fn has_direction(case: &Case, operation: Option<Operation>) -> bool {
    let phase = match operation {
        Some(Operation::Read) => plan::Phase::Read,
        Some(Operation::Write) => plan::Phase::Write,
        _ => return false,
    };
    case.phases.contains(&phase)
}
