//! One `[[workload]]` table as a workload.

use super::target::Target;
use super::work::{self, WorkloadContext};
use crate::seeds::named_seed;
use crate::study::error::StudyError;
use crate::study::keys::WORKLOAD;
use crate::study::table::definition::{Setter, WorkKeys, setters};
use crate::study::table::values::{Point, Span, Values};
use crate::workload::limits::TASKS_MAX;
use crate::{Backend, Bytes, Existing, Geometry, Keep, Order, Phase, ReadFrom, Sharing, WorkloadSpec};

/// Default number of pieces of a vectored transfer: its pages, up to this limit.
const PIECES_DEFAULT_MAX: u32 = 16;
/// A page of memory.
const PAGE: u64 = 4096;

/// A workload whose keys have been read; settings shared with others are not yet resolved.
#[derive(Debug)]
pub(super) struct Draft<'f> {
    pub(super) fields: Point<'f>,
    pub(super) target: &'f Target,
    pub(super) spec: WorkloadSpec,
    pub(super) phases: Vec<Phase>,
    /// Whether this workload, or one that shares its files, states where missing data comes from.
    pub(super) fill_said: bool,
}

impl<'f> Draft<'f> {
    /// Reads a workload that runs on `target`.
    pub(super) fn read(
        fields: Point<'f>,
        target: &'f Target,
        context: WorkloadContext<'_>,
        errors: &mut Vec<StudyError>,
    ) -> Option<Self> {
        let before = errors.len();
        let phases = work::phases(&fields);
        errors.extend(work::mistakes(&fields, &phases));
        let own = work::kind(&fields);
        if own.is_none() && errors.len() > before {
            return None;
        }
        let name = fields.text("name")?;
        if let Some(own) = own.filter(|_| target.device) {
            errors.push(StudyError::new(
                fields.span("target"),
                "a device",
                format!("a device cannot hold {}", own.what),
                "create a file system on it, and name a directory of it",
            ));
        }
        let tasks_on_nodes = tasks_on_nodes(&fields, context.nodes, errors)?;
        let spec = match own {
            Some(own) => other(&fields, target, context, own, tasks_on_nodes, errors),
            None => transfers(&fields, target, context, &phases, tasks_on_nodes, errors),
        };
        let backend = backend(&fields, errors);
        let mut spec = WorkloadSpec { backend: backend?, signature: context.seed, ..spec? };
        for (set, value) in setters(WORKLOAD.keys, &fields) {
            if let Setter::Workload(set) = set {
                set(&mut spec, value);
            }
        }
        if let Order::Random { seed } = &mut spec.order {
            *seed = named_seed(context.seed, name);
        }
        (errors.len() == before).then_some(Self { fields, target, spec, phases, fill_said: false })
    }
}

/// A workload of transfers, without what single keys set.
fn transfers(
    fields: &Point<'_>,
    target: &Target,
    context: WorkloadContext<'_>,
    phases: &[Phase],
    (tasks, nodes): (u32, u32),
    errors: &mut Vec<StudyError>,
) -> Option<WorkloadSpec> {
    let name = fields.text("name")?;
    let sharing = sharing(fields, target, errors);
    let geometry = geometry(fields, tasks, sharing, errors);
    errors.extend(work::idle(fields, None, phases));
    errors.extend(no_share(fields, phases));
    errors.extend(phases_out_of_order(fields, phases));
    errors.extend(no_next_node(fields, nodes));
    let read_from = read_from(fields, (tasks, nodes), context.seed, name)?;
    let mut spec = WorkloadSpec { tasks, nodes, read_from, ..WorkloadSpec::new(name, "", geometry?) };
    spec.files.targets.clone_from(&target.paths);
    spec.files.sharing = sharing;
    spec.files.exact_names = target.device && sharing == Sharing::PerTask;
    if target.device {
        (spec.files.existing, spec.files.keep) = (Existing::Reuse, Keep::Always);
    }
    Some(spec)
}

/// A workload of the kind `own`, without what single keys set.
fn other(
    fields: &Point<'_>,
    target: &Target,
    context: WorkloadContext<'_>,
    own: &'static WorkKeys,
    (tasks, nodes): (u32, u32),
    errors: &mut Vec<StudyError>,
) -> Option<WorkloadSpec> {
    let nodes = if own.word.0 == "rpc" { fields.count_u32("nodes").unwrap_or(nodes) } else { nodes };
    let work = work::work(fields, own, context, nodes, errors)?;
    let nothing = Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 };
    let mut spec = WorkloadSpec { tasks, nodes, ..WorkloadSpec::new(fields.text("name")?, "", nothing) };
    spec.files.targets.clone_from(&target.directories);
    spec.files.sharing = Sharing::PerTask;
    if work.tree().is_some_and(|tree| !tree.own_trees) {
        spec.files.sharing = Sharing::Shared;
    }
    if let Some(rpc) = work.rpc() {
        spec.tasks = rpc.tasks();
    }
    if let Some(jobs) = work.jobs() {
        spec.files.targets.clone_from(&target.spaces);
        spec.tasks = u32::try_from(jobs.launch_count()).ok()?;
    }
    Some(WorkloadSpec { work, ..spec })
}

/// The number of tasks and nodes, for a run on `run_nodes` nodes.
fn tasks_on_nodes(fields: &Point<'_>, run_nodes: u32, errors: &mut Vec<StudyError>) -> Option<(u32, u32)> {
    let nodes = fields.count_u32("nodes");
    let Some(per_node) = fields.count_u32("tasks_per_node") else {
        let tasks = fields.count_u32("tasks")?;
        return Some((tasks, nodes.unwrap_or_else(|| run_nodes.clamp(1, tasks))));
    };
    if fields.has("tasks") {
        let message = "both `tasks` and `tasks_per_node` say how many tasks there are";
        let help = "give `tasks` (on all nodes together), or `tasks_per_node`";
        let error = StudyError::new(fields.key_span("tasks_per_node"), "and here", message, help);
        errors.push(error.and(fields.key_span("tasks"), "here"));
        return None;
    }
    let nodes = nodes.unwrap_or(run_nodes.max(1));
    let Some(tasks) = per_node.checked_mul(nodes).filter(|tasks| *tasks <= TASKS_MAX) else {
        let tasks = u64::from(per_node) * u64::from(nodes);
        errors.push(StudyError::new(
            fields.span("tasks_per_node"),
            "on each node",
            format!("{per_node} tasks on each of {nodes} nodes make {tasks}, which cannot run"),
            format!("lower `tasks_per_node` or `nodes`: at most {TASKS_MAX} tasks in all can run"),
        ));
        return None;
    };
    Some((tasks, nodes))
}

/// Whether tasks share a file, if the target allows both.
fn sharing(fields: &Point<'_>, target: &Target, errors: &mut Vec<StudyError>) -> Sharing {
    let one_device = target.device && target.paths.len() == 1;
    if fields.word("sharing") == Some("own") {
        return if one_device { Sharing::Shared } else { Sharing::PerTask };
    }
    if fields.word("sharing") == Some("per-task") {
        if one_device {
            errors.push(StudyError::new(
                fields.span("sharing"),
                "a file for each task",
                "a device has no files, so tasks cannot have a file each",
                "leave `sharing` out: each task gets its own part of the device",
            ));
        }
        return Sharing::PerTask;
    }
    if target.paths.len() > 1 {
        errors.push(StudyError::new(
            fields.span(if fields.has("sharing") { "sharing" } else { "target" }),
            "shared by all tasks",
            format!("one shared file cannot be in {} places", target.paths.len()),
            "write sharing = \"per-task\" to spread the files over the paths, or name a target with one path",
        ));
    }
    Sharing::Shared
}

/// The volume of each task, from `block` and `segments` or from `size`.
fn geometry(
    fields: &Point<'_>,
    tasks: u32,
    sharing: Sharing,
    errors: &mut Vec<StudyError>,
) -> Option<Geometry> {
    let transfer = fields.bytes("transfer")?;
    let segments = fields.count("segments")?;
    let Some(size) = fields.bytes("size") else {
        let Some(block) = fields.bytes("block") else {
            errors.push(StudyError::new(
                fields.header(),
                "no amount",
                "this workload does not say how much data it moves",
                "give `size` (bytes of each file), or `block` (bytes of each task) and `segments`",
            ));
            return None;
        };
        return Some(Geometry { transfer, block, segments });
    };
    if let Some(other) = ["block", "segments"].into_iter().find(|key| fields.has(key)) {
        let error = StudyError::new(
            fields.key_span("size"),
            "and here",
            format!("both `{other}` and `size` say how much data this workload moves"),
            "give `size`, or `block` and `segments`",
        );
        errors.push(error.and(fields.key_span(other), "here"));
        return None;
    }
    let sharers = if sharing == Sharing::Shared { u64::from(tasks) } else { 1 };
    let unit = transfer.0.saturating_mul(sharers);
    if unit > 0 && !size.0.is_multiple_of(unit) {
        let nearest = (size.0 / unit).max(1).saturating_mul(unit);
        errors.push(StudyError::new(
            fields.span("size"),
            "cannot be divided evenly",
            format!(
                "a file of {} bytes cannot be divided among {sharers} tasks into transfers of {} bytes",
                size.0, transfer.0
            ),
            format!("the nearest size that can be divided is {nearest} bytes"),
        ));
        return None;
    }
    Some(Geometry { transfer, block: Bytes(size.0 / sharers), segments: 1 })
}

fn backend(fields: &Point<'_>, errors: &mut Vec<StudyError>) -> Option<Backend> {
    let depth = fields.count_u32("depth")?;
    let backend = match fields.word("backend") {
        None if depth == 1 => Backend::plain(),
        None => Backend::queued(depth),
        Some(name) => Backend::named(name, depth, pieces(fields).unwrap_or(1))?,
    };
    if depth != backend.depth() {
        let message = format!("{} keeps one transfer in flight for each task, not {depth}", backend.name());
        let help = "use backend = \"uring\", leave `backend` out, or use more `tasks`";
        let error = StudyError::new(fields.span("depth"), "more than one in flight", message, help);
        errors.push(error.and(fields.span("backend"), "one at a time"));
    }
    Some(backend)
}

/// Pieces of a vectored transfer: as given, or whole pages.
fn pieces(fields: &Point<'_>) -> Option<u32> {
    if fields.has("pieces") {
        return fields.count_u32("pieces");
    }
    let transfer = fields.bytes("transfer")?.0;
    Some(
        (1..=PIECES_DEFAULT_MAX)
            .rev()
            .find(|&pieces| transfer.is_multiple_of(u64::from(pieces) * PAGE))
            .unwrap_or(1),
    )
}

fn read_from(fields: &Point<'_>, (tasks, nodes): (u32, u32), seed: u64, name: &str) -> Option<ReadFrom> {
    let distance = fields.count_u32("read_distance")?;
    Some(match fields.word("read_from")? {
        "shift" => ReadFrom::Shift { tasks: distance },
        "next-node" if nodes > 1 => ReadFrom::Shift { tasks: tasks.div_ceil(nodes) },
        "shuffle" => ReadFrom::Shuffle {
            at_least: distance,
            seed: named_seed(seed, &format!("{name}/read_from")),
            reseed: fields.flag("reshuffle"),
        },
        _ => ReadFrom::Same,
    })
}

/// The error for a read on the next node where there is none. A sweep over nodes may begin with one: there a task
/// reads its own data.
fn no_next_node(fields: &Point<'_>, nodes: u32) -> Option<StudyError> {
    let is_swept = || fields.fields().sweeps().iter().any(|sweep| sweep.key == "nodes" && sweep.count() > 1);
    (fields.word("read_from") == Some("next-node") && nodes == 1 && !is_swept()).then(|| {
        let message = "`read_from` is \"next-node\", but all tasks are on one node";
        let help = "start it on several nodes (mpirun, srun) and leave `nodes` out or above 1; \
                    or write read_from = \"same\"";
        StudyError::new(fields.span("read_from"), "no other node", message, help)
    })
}

/// The error for a mixed phase without a share of reads.
fn no_share(fields: &Point<'_>, phases: &[Phase]) -> Option<StudyError> {
    (phases.contains(&Phase::Mixed) && !fields.has("read_percent")).then(|| {
        StudyError::new(
            fields.span("phases"),
            "mixes reads and writes",
            "the share of reads in a mixed phase is not given",
            "add `read_percent`, a whole number from 0 to 100",
        )
    })
}

/// The error for a check without a preceding phase to compare with.
fn phases_out_of_order(fields: &Point<'_>, phases: &[Phase]) -> Option<StudyError> {
    let before = |check: Phase, checked: Phase| {
        let at = phases.iter().position(|&phase| phase == check)?;
        (!phases[..at].contains(&checked)).then_some((check, checked))
    };
    let (check, checked) =
        before(Phase::CheckWrite, Phase::Write).or_else(|| before(Phase::CheckRead, Phase::Read))?;
    let span: Span = fields.span("phases");
    let message = format!("\"{check}\" has nothing to check");
    Some(StudyError::new(span, "out of order", message, format!("put \"{checked}\" before \"{check}\"")))
}
