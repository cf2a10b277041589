//! The plan of `ioproof randomops`: small random transfers by many tasks, modelled on the acceptance
//! benchmark of study D.
//!
//! Each task has its own file, which is first written, untimed. Then all tasks do random transfers, one at a
//! time each, for a given count or time. Choices that the source leaves open are made in [`Options`], with their
//! reasons.
//!
//! ```
//! use plan::randomops::{Options, plan};
//! // As published: 609 nodes of 24 processors, 2,000 reads of 4 KiB in each task.
//! let options = Options { nodes: 609, ..Options::new(vec!["/mnt/lustre".into()], 24) };
//! let plan = plan(options)?;
//! let workload = &plan.cases[0].workload;
//! assert_eq!((workload.tasks, workload.transfers()), (14_616, 29_232_000));
//! assert_eq!(plan.cases[0].repetitions, 3);
//! # Ok::<(), plan::PlanError>(())
//! ```

use std::path::PathBuf;

use crate::cases::rules::{node_local_rule, server_memory_rule};
use crate::seeds::named_seed;
use crate::workload::limits::TASKS_MAX;
use crate::{
    Advice, Backend, Bytes, Case, Criteria, Existing, Geometry, Keep, Layer, Nanos, OptionNote, Order, Phase,
    Plan, PlanError, PlanSource, ReadFrom, Sharing, TargetDescription, WorkloadSpec,
};

/// The tool's name in [`PlanSource::Dialect`].
pub const TOOL: &str = "randomops";
/// The case's id.
pub const CASE: &str = "randomops";
/// Operations of each task, as in the published jobs 12504 and 12515.
pub const OPERATIONS: u64 = 2_000;
/// The size of an operation: the smallest of study D, and the unit of its rates.
pub const TRANSFER: Bytes = Bytes(4 << 10);
/// Bytes of each task's file. Not given by the source; eight times what [`OPERATIONS`] touch, and small
/// enough to be written in a minute. The caches decide how much is enough, see
/// [`crate::SERVER_MEMORY_MULTIPLE`].
pub const SIZE: Bytes = Bytes(64 << 20);
/// "Data presented as maximum at least three measurements" (study D).
pub const REPETITIONS: u32 = 3;

/// What ends the work of each task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// A number of operations.
    Operations(u64),
    /// Operations until the time is up.
    Duration(Nanos),
}

/// Options of the benchmark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Directories over which the tasks' files are distributed.
    pub directories: Vec<PathBuf>,
    /// Nodes of the run.
    pub nodes: u32,
    /// Tasks per node. The default is the number of processors of a node, as the published runs had 24 on nodes
    /// of 24 cores, or that of the processes that a launcher has started on it.
    pub tasks_per_node: u32,
    /// What ends the work of each task.
    pub until: Until,
    /// Bytes of one operation.
    pub transfer: Bytes,
    /// Bytes of each task's file; a multiple of `transfer`.
    pub size: Bytes,
    /// Share of reads: 100 for random reads, 0 for random writes.
    pub read_percent: u8,
    /// Access advice given to the kernel after open.
    pub advice: Advice,
    /// Whether to bypass the page cache. By default off if advice is given (`advice`), as published, and on
    /// otherwise, so that the storage is measured and not the memory.
    pub direct: Option<bool>,
    /// How often all tasks do their work, each time in another random order.
    pub repetitions: u32,
    /// Tasks use the files of the next node, so that no node reads data that it wrote itself. On by default with
    /// several nodes, except for node-local storage.
    pub rotate: Option<bool>,
    /// Pause before each repetition.
    pub rest: Nanos,
    /// Which nodes can reach the directories.
    pub layer: Layer,
    /// Whether the storage was otherwise unused during the run.
    pub exclusive: Option<bool>,
    /// Files are kept, and a later run reads the existing data.
    pub keep: bool,
    /// A few threads serve all tasks with io_uring, if available; otherwise each task is a thread that calls
    /// pread and pwrite, like the tool of the source.
    pub queued: bool,
    /// Memory of all servers together: data must be larger, see [`crate::SERVER_MEMORY_MULTIPLE`].
    pub server_memory: Option<Bytes>,
    /// Seed of the orders and the data.
    pub seed: u64,
    /// The command line, the program's name first.
    pub arguments: Vec<String>,
    /// Meaning of each option.
    pub notes: Vec<OptionNote>,
}

impl Options {
    /// The defaults, on one node with `processors` processors.
    #[must_use]
    pub fn new(directories: Vec<PathBuf>, processors: u32) -> Self {
        Self {
            directories,
            nodes: 1,
            tasks_per_node: processors.max(1),
            until: Until::Operations(OPERATIONS),
            transfer: TRANSFER,
            size: SIZE,
            read_percent: 100,
            advice: Advice::None,
            direct: None,
            repetitions: REPETITIONS,
            rotate: None,
            rest: Nanos(0),
            layer: Layer::Unstated,
            exclusive: None,
            keep: false,
            queued: false,
            server_memory: None,
            seed: 0,
            arguments: vec![TOOL.to_owned()],
            notes: Vec::new(),
        }
    }

    /// Whether transfers bypass the page cache.
    #[must_use]
    pub fn is_direct(&self) -> bool {
        self.direct.unwrap_or(self.advice == Advice::None)
    }

    /// Whether tasks use the files of the next node.
    #[must_use]
    pub fn rotates(&self) -> bool {
        self.rotate.unwrap_or(self.nodes > 1 && self.layer != Layer::NodeLocal)
    }

    /// Number of all tasks.
    fn tasks(&self) -> Result<u32, PlanError> {
        let tasks =
            self.tasks_per_node.checked_mul(self.nodes).filter(|tasks| (1..=TASKS_MAX).contains(tasks));
        tasks.ok_or_else(|| {
            PlanError::new(
                "tasks_per_node",
                format!("{} tasks on each of {} nodes cannot run", self.tasks_per_node, self.nodes),
                format!("give a number of at least 1; all nodes together have at most {TASKS_MAX} tasks"),
            )
        })
    }

    fn geometry(&self) -> Result<Geometry, PlanError> {
        if self.transfer.0 > 0 && (self.size.0 == 0 || !self.size.0.is_multiple_of(self.transfer.0)) {
            let nearest = (self.size.0 / self.transfer.0).max(1).saturating_mul(self.transfer.0);
            return Err(PlanError::new(
                "size",
                format!(
                    "a file of {} bytes cannot be divided into transfers of {} bytes",
                    self.size.0, self.transfer.0
                ),
                format!("the nearest size that can be divided is {nearest} bytes"),
            ));
        }
        Ok(Geometry { transfer: self.transfer, block: self.size, segments: 1 })
    }

    fn phase(&self) -> Phase {
        match self.read_percent {
            0 => Phase::Write,
            100 => Phase::Read,
            _ => Phase::Mixed,
        }
    }

    fn title(&self, tasks: u32) -> String {
        let what = match self.phase() {
            Phase::Write => "random writes".to_owned(),
            Phase::Mixed => format!("random transfers, {} % reads,", self.read_percent),
            _ => "random reads".to_owned(),
        };
        let nodes = if self.nodes == 1 { String::new() } else { format!(" on {} nodes", self.nodes) };
        let count = |count: u64, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
        let tasks = count(u64::from(tasks), "task");
        match self.until {
            Until::Operations(operations) => {
                format!("randomops: {tasks}{nodes}, {operations} {what} of {} each", self.transfer)
            }
            Until::Duration(time) => {
                format!("randomops: {tasks}{nodes}, {what} of {} for {time}", self.transfer)
            }
        }
    }

    fn check(&self) -> Result<(), PlanError> {
        if self.directories.is_empty() {
            return Err(PlanError::new("directory", "there is no directory", "name at least one"));
        }
        if self.repetitions == 0 {
            return Err(PlanError::new(
                "repetitions",
                "0 repetitions measure nothing",
                format!("give a number of at least 1; the published figures come from {REPETITIONS} or more"),
            ));
        }
        if self.rotate == Some(true) && self.nodes < 2 {
            return Err(PlanError::new(
                "rotate",
                "on one node every task reads what its own node wrote",
                "start it on several nodes under a launcher, or do not rotate",
            ));
        }
        Ok(())
    }
}

/// The plan: one case.
///
/// # Errors
/// Errors if options cannot be measured; the field is that of [`Options`].
pub fn plan(options: Options) -> Result<Plan, PlanError> {
    options.check()?;
    let (tasks, phase) = (options.tasks()?, options.phase());
    let mut spec = WorkloadSpec::new(CASE, "", options.geometry()?);
    spec.files.targets = options.directories.iter().map(|directory| directory.join(FILE)).collect();
    spec.files.sharing = Sharing::PerTask;
    // Operations need existing data: reading holes would measure nothing.
    (spec.files.fill, spec.files.existing) = (true, Existing::Reuse);
    spec.files.keep = if options.keep { Keep::Always } else { Keep::Never };
    (spec.tasks, spec.nodes) = (tasks, options.nodes);
    spec.order = Order::Random { seed: named_seed(options.seed, CASE) };
    // Repeated offsets would be served from a cache of the storage.
    spec.fresh_order = true;
    if options.queued {
        spec.backend = Backend::queued(1);
    }
    spec.direct = options.is_direct();
    spec.sync.at_close = phase.writes();
    spec.advice = options.advice;
    if options.rotates() && phase != Phase::Write {
        spec.read_from = ReadFrom::Shift { tasks: options.tasks_per_node };
    }
    match options.until {
        Until::Operations(operations) => spec.operations = Some(operations),
        Until::Duration(time) => spec.duration = Some(time),
    }
    spec.read_percent = options.read_percent;
    spec.signature = options.seed;
    let workload = spec.validate()?;
    let title = options.title(tasks);
    let target = TargetDescription {
        name: TARGET.to_owned(),
        layer: options.layer,
        server_memory: options.server_memory,
        ..TargetDescription::default()
    };
    let case = Case {
        title: title.clone(),
        target: TARGET.to_owned(),
        repetitions: options.repetitions,
        delay: options.rest,
        ..Case::new(CASE, workload, vec![phase])
    };
    node_local_rule(&case, &target)?;
    server_memory_rule(&case, &target)?;
    let question = PlanSource::Dialect {
        tool: TOOL.to_owned(),
        arguments: options.arguments,
        notes: options.notes,
        memo: String::new(),
    };
    let criteria = Criteria { exclusive: options.exclusive, targets: vec![target], ..Criteria::default() };
    Ok(Plan { criteria, ..Plan::new(title, question, options.seed, vec![case]) })
}

/// File name of a task, followed by the task number.
const FILE: &str = "ioproof-randomops";
/// Name of the directories in the record.
const TARGET: &str = "storage";

#[cfg(test)]
mod tests {
    use super::{Options, Until, plan};
    use crate::{
        Advice, Backend, Bytes, Keep, Layer, Nanos, Phase, Placement, Plan, PlanError, ReadFrom, Workload,
        cross_node_reads,
    };

    fn plan_with(change: impl FnOnce(&mut Options)) -> Result<Plan, PlanError> {
        let mut options = Options::new(vec!["/mnt/a".into()], 24);
        change(&mut options);
        plan(options)
    }

    fn workload(change: impl FnOnce(&mut Options)) -> Workload {
        plan_with(change).expect("sound").cases[0].workload.clone()
    }

    fn field(change: impl FnOnce(&mut Options)) -> &'static str {
        plan_with(change).expect_err("not sound").field
    }

    #[test]
    fn tasks_call_pread_as_the_source_does_and_have_files_of_their_own() {
        let all = workload(|options| {
            options.directories = vec!["/mnt/a".into(), "/mnt/b".into()];
            options.nodes = 4;
        });
        assert_eq!((all.tasks, all.nodes, all.backend), (96, 4, Backend::plain()));
        let queued = workload(|options| options.queued = true).backend;
        assert_eq!(queued, Backend::Uring { depth: 1, required: false });
        let path = |task| Placement::new(&all).file(task, Phase::Fill, 0).path;
        assert_eq!(path(0).to_str(), Some("/mnt/a/ioproof-randomops.00000000"));
        assert_eq!(path(95).to_str(), Some("/mnt/b/ioproof-randomops.00000095"));
        assert_eq!(all.footprint(), Bytes::mib(96 * 64));
        assert!(all.files.fill && all.files.keep == Keep::Never);
        assert_eq!(workload(|options| options.keep = true).files.keep, Keep::Always);
    }

    #[test]
    fn on_several_nodes_no_node_reads_what_it_wrote() {
        let own = |change: fn(&mut Options)| {
            let workload = workload(change);
            cross_node_reads(&workload, &[]).expect("no run").map(|reads| reads.own_node)
        };
        assert_eq!(own(|options| options.nodes = 4), Some(0));
        assert_eq!(own(|options| (options.nodes, options.read_percent) = (4, 75)), Some(0), "a mix, too");
        assert_eq!(own(|options| (options.nodes, options.rotate) = (4, Some(false))), Some(96));
        assert_eq!(own(|options| (options.nodes, options.layer) = (4, Layer::NodeLocal)), Some(96));
        assert_eq!(workload(|_| ()).read_from, ReadFrom::Same, "one node has no other");
        assert_eq!(field(|options| options.rotate = Some(true)), "rotate");
        // 24 files of 64 MiB are 1.5 GiB.
        assert_eq!(field(|options| options.server_memory = Some(Bytes::mib(385))), "size");
        let enough =
            plan_with(|options| options.server_memory = Some(Bytes::mib(384))).expect("four times as much");
        assert_eq!(enough.criteria.targets[0].server_memory, Some(Bytes::mib(384)), "the record has it");
        assert_eq!(enough.cases[0].workload.footprint(), Bytes::mib(4 * 384));
        let local = |options: &mut Options| {
            (options.nodes, options.layer, options.rotate) = (4, Layer::NodeLocal, Some(true));
        };
        assert_eq!(field(local), "read_from");
    }

    #[test]
    fn the_share_of_reads_makes_the_phase() {
        let phases = |percent| {
            plan_with(|options| options.read_percent = percent).expect("sound").cases[0].phases.clone()
        };
        assert_eq!(phases(100), [Phase::Read]);
        assert_eq!(phases(75), [Phase::Mixed]);
        assert_eq!(phases(0), [Phase::Write]);
        assert_eq!(field(|options| options.read_percent = 101), "read_percent");
    }

    #[test]
    fn operations_or_a_time_end_a_repetition() {
        assert_eq!(workload(|_| ()).operations, Some(2000));
        let timed = workload(|options| options.until = Until::Duration(Nanos::secs(300)));
        assert_eq!((timed.operations, timed.duration), (None, Some(Nanos::secs(300))));
        assert_eq!(field(|options| options.until = Until::Operations(0)), "operations");
        assert_eq!(field(|options| options.until = Until::Duration(Nanos(0))), "duration");
    }

    #[test]
    fn files_are_opened_around_the_cache_unless_the_kernel_is_told_about_it() {
        assert!(workload(|_| ()).direct);
        let published = workload(|options| options.advice = Advice::AsPublished);
        assert_eq!((published.direct, published.advice), (false, Advice::AsPublished));
        assert!(!workload(|options| options.direct = Some(false)).direct);
    }

    #[test]
    fn each_repetition_goes_to_other_places() {
        let workload = workload(|options| options.tasks_per_node = 2);
        let places = |task, repetition| -> Vec<u64> {
            let region = Placement::new(&workload).region(task, Phase::Read, repetition);
            (0..100).map(|index| region.at(index)).collect()
        };
        assert_ne!(places(0, 0), places(0, 1));
        assert_ne!(places(0, 0), places(1, 0));
        assert_eq!(places(1, 2), places(1, 2));
    }

    #[test]
    fn what_cannot_be_measured_names_its_option() {
        assert_eq!(field(|options| options.directories.clear()), "directory");
        assert_eq!(field(|options| options.tasks_per_node = 0), "tasks_per_node");
        assert_eq!(
            field(|options| (options.nodes, options.tasks_per_node) = (70_000, 70_000)),
            "tasks_per_node"
        );
        assert_eq!(field(|options| options.repetitions = 0), "repetitions");
        assert_eq!(field(|options| options.size = Bytes(10_000)), "size");
        assert_eq!(field(|options| options.size = Bytes(0)), "size");
        assert_eq!(field(|options| options.transfer = Bytes(0)), "transfer");
    }

    #[test]
    fn the_title_says_it_all() {
        let title = |change: fn(&mut Options)| plan_with(change).expect("sound").title;
        assert_eq!(
            title(|options| options.nodes = 609),
            "randomops: 14616 tasks on 609 nodes, 2000 random reads of 4 KiB each"
        );
        let timed = |options: &mut Options| {
            (options.tasks_per_node, options.read_percent) = (1, 75);
            options.until = Until::Duration(Nanos::secs(10));
        };
        assert_eq!(title(timed), "randomops: 1 task, random transfers, 75 % reads, of 4 KiB for 10 s");
    }
}
