//! What all other code asks of a kind of work, with one implementation for each kind. Who needs the parameters of one
//! kind takes them from [`crate::Work`], as with [`crate::Work::tree`].

mod find;
mod jobs;
mod objects;
mod rpc;
mod transfers;
mod tree;

use std::path::PathBuf;

use crate::{Bytes, FileSlot, Nanos, Operation, Phase, PlanError, Work, Workload, WorkloadSpec};

pub(crate) use transfers::Transfers;

/// How often jobs can be halved; their tables have few rows then.
const JOBS_HALVINGS: u32 = 12;

/// What a workload makes on its target in one pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NamesMade {
    /// Number of files.
    pub files: u64,
    /// Number of directories.
    pub directories: u64,
    /// Size of each file.
    pub file_bytes: Bytes,
}

/// A kind of work.
pub trait WorkKind {
    /// Checks its parameters against the others of the workload.
    ///
    /// # Errors
    /// The first value that cannot be measured, with what is allowed.
    fn check(&self, spec: &WorkloadSpec) -> Result<(), PlanError>;

    /// Operations of each task in one pass that nothing ends earlier.
    fn pass(&self, workload: &Workload) -> u64;

    /// Bytes of the files that one pass of all tasks covers.
    fn footprint(&self, _workload: &Workload) -> Bytes {
        Bytes(0)
    }

    /// Operations of all tasks in one pass of `phase`. `None` for transfers, and if only a clock ends the phase.
    fn operations(&self, _workload: &Workload, _phase: Phase) -> Option<u64> {
        None
    }

    /// Bytes of all tasks in one pass of `phase`.
    fn phase_bytes(&self, workload: &Workload, _phase: Phase) -> Bytes {
        self.bytes(workload)
    }

    /// Bytes of all tasks in the largest phase.
    fn bytes(&self, workload: &Workload) -> Bytes;

    /// Bytes that each operation of a phase moves. `None` for transfers, whose size is given by the geometry.
    fn operation_bytes(&self, phase: Phase) -> Option<Bytes>;

    /// The part of the bytes of `phase` that is read: so many of so many.
    fn read_part(&self, _workload: &Workload, phase: Phase) -> (u64, u64) {
        if phase.makes() { (0, 1) } else { (1, 1) }
    }

    /// Whether all operations of `phase` read data.
    fn only_reads(&self, phase: Phase) -> bool {
        phase.operation() == Some(Operation::Read)
    }

    /// What one pass over these phases makes on the target.
    fn names(&self, _workload: &Workload, _phases: &[Phase]) -> NamesMade {
        NamesMade::default()
    }

    /// The names that `tasks` of its tasks need on the target for these phases. Directories of trees count once.
    fn names_needed(&self, _phases: &[Phase], _tasks: u64) -> NamesMade {
        NamesMade::default()
    }

    /// The files that `repetition` accesses and that are listed one by one; none if a rule names them.
    fn listed_files(&self, _workload: &Workload, _repetition: u32) -> Vec<FileSlot> {
        Vec::new()
    }

    /// The task whose data or items `task` accesses in `phase` of `repetition`.
    fn owner(&self, _workload: &Workload, task: u32, _phase: Phase, _repetition: u32) -> u32 {
        task
    }

    /// The directories that `repetition` creates below the targets, each listed once; the targets themselves if names are
    /// made there.
    fn roots(&self, _workload: &Workload, _repetition: u32) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Whether names are made in the target itself, next to other files.
    fn is_in_target(&self) -> bool {
        false
    }

    /// Whether the targets must exist, because items are created directly in them.
    fn needs_target(&self) -> bool {
        false
    }

    /// Whether a phase counts everything it does not find, so that nothing needs to exist before.
    fn counts_missing(&self) -> bool {
        false
    }

    /// Whether operations bypass the page cache.
    fn is_direct(&self, workload: &Workload) -> bool {
        workload.direct
    }

    /// Whether writes wait until they are on stable storage.
    fn syncs(&self, workload: &Workload) -> bool {
        workload.sync.per_write
    }

    /// The sizes of its transfers in these phases for direct I/O, or of its files if each is moved as a whole.
    fn direct_sizes(&self, _workload: &Workload, _phases: &[Phase]) -> Vec<Bytes> {
        Vec::new()
    }

    /// Whether direct I/O would measure the same but for the page cache.
    fn can_be_direct(&self, _workload: &Workload) -> bool {
        false
    }

    /// Bytes for which the page cache of one node may answer; `None` if it is bypassed or not known.
    fn cached_bytes(&self, _workload: &Workload) -> Option<u64> {
        None
    }

    /// Operations that each task must have done in `phase`, or something is missing that later phases need.
    fn needed(&self, _workload: &Workload, _phase: Phase) -> u64 {
        0
    }

    /// Time before the counted operations of a phase.
    fn warm_up(&self) -> Nanos {
        Nanos(0)
    }

    /// The amount that is lowered if the work is to take less; 0 if none can be.
    fn amount(&self, _workload: &Workload) -> u64 {
        0
    }

    /// The keys whose values are halved for that, where this is all.
    fn halved_keys(&self) -> &'static [&'static str] {
        &[]
    }

    /// How often the amount can be halved so that each task still does `least` operations.
    fn halvings(&self, _workload: &Workload, _least: u64) -> u32 {
        0
    }

    /// Why a model cannot carry it out, if so.
    fn beyond_models(&self) -> Option<&'static str> {
        None
    }

    /// What makes its phases longer, as advice.
    fn longer(&self, workload: &Workload) -> &'static str;

    /// What it does in `phase`, as in `4 KiB random read`.
    fn what(&self, _workload: &Workload, phase: Phase) -> String {
        match self.operation_bytes(phase) {
            None | Some(Bytes(0)) => phase.name().to_owned(),
            Some(bytes) => format!("{phase} of {bytes}"),
        }
    }

    /// The conditions attached to every figure of `phase`.
    fn conditions(&self, workload: &Workload, phase: Phase) -> String;
}

impl Work {
    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> &dyn WorkKind {
        match self {
            Self::Transfers => &Transfers,
            Self::Tree(tree) => tree,
            Self::Objects(objects) => objects,
            Self::Rpc(rpc) => rpc,
            Self::Find(find) => find,
            Self::Jobs(jobs) => jobs,
        }
    }
}

impl Workload {
    /// Transfers of each task in one phase that nothing ends earlier: those of one pass, or the number given by
    /// [`WorkloadSpec::operations`].
    #[must_use]
    pub fn transfers_per_task(&self) -> u64 {
        self.operations.unwrap_or_else(|| self.transfers_per_pass())
    }

    /// Transfers of each task in one pass over its part of the files.
    #[must_use]
    pub fn transfers_per_pass(&self) -> u64 {
        let all = self.work.kind().pass(self);
        self.transfer_limit.map_or(all, |limit| limit.min(all))
    }

    /// Transfers of all tasks in one phase.
    #[must_use]
    pub fn transfers(&self) -> u64 {
        self.transfers_per_task().saturating_mul(u64::from(self.tasks))
    }

    /// Bytes of the files that one pass of all tasks covers. A fill writes this much, and this much free space is
    /// needed.
    #[must_use]
    pub fn footprint(&self) -> Bytes {
        self.work.kind().footprint(self)
    }

    /// Operations of all tasks in one pass of `phase`, for work other than transfers. Returns `None` for transfers,
    /// and if only a clock ends the phase.
    #[must_use]
    pub fn operations_of(&self, phase: Phase) -> Option<u64> {
        self.work.kind().operations(self, phase)
    }

    /// Bytes of all tasks in one pass of `phase`.
    #[must_use]
    pub fn phase_bytes(&self, phase: Phase) -> Bytes {
        self.work.kind().phase_bytes(self, phase)
    }

    /// Bytes of all tasks in one phase; for work other than transfers, those of its largest phase.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.work.kind().bytes(self)
    }

    /// The files that `repetition` accesses, by number. Empty for work whose files are named by a rule, and for work
    /// without files.
    #[must_use]
    pub fn listed_files(&self, repetition: u32) -> Vec<FileSlot> {
        self.work.kind().listed_files(self, repetition)
    }

    /// The task whose data or items `task` accesses in `phase` of `repetition`.
    #[must_use]
    pub fn owner(&self, task: u32, phase: Phase, repetition: u32) -> u32 {
        self.work.kind().owner(self, task, phase, repetition)
    }

    /// The directories that `repetition` creates below the targets and that hold everything it creates there, each
    /// listed once; the targets themselves for [`crate::Tree::in_target`] and [`crate::Objects::in_target`]. Empty for
    /// work without names.
    #[must_use]
    pub fn roots(&self, repetition: u32) -> Vec<PathBuf> {
        self.work.kind().roots(self, repetition)
    }

    /// What is done in `phase`: `4 KiB random read`; `64 KiB sequential mix 70/30` has 70 % of reads; `file-create of
    /// 32 KiB`; `1 KiB → 4 KiB one-to-one`.
    #[must_use]
    pub fn what(&self, phase: Phase) -> String {
        self.work.kind().what(self, phase)
    }

    /// The conditions attached to every figure of `phase`, as in `4 KiB random read, direct, uring depth 32,
    /// 1 task`.
    #[must_use]
    pub fn conditions(&self, phase: Phase) -> String {
        self.work.kind().conditions(self, phase)
    }
}

/// How often `value` can be halved without becoming less than `least`.
pub(crate) fn halvings(value: u64, least: u64) -> u32 {
    (value / least.max(1)).checked_ilog2().unwrap_or(0)
}

/// The largest of `phases`.
fn largest(kind: &impl WorkKind, workload: &Workload, phases: [Phase; 2]) -> Bytes {
    phases.into_iter().map(|phase| kind.phase_bytes(workload, phase)).max().unwrap_or_default()
}

/// `24 tasks on 2 nodes`.
fn tasks(workload: &Workload) -> String {
    let tasks = if workload.tasks == 1 { "task" } else { "tasks" };
    let nodes = if workload.nodes == 1 { String::new() } else { format!(" on {} nodes", workload.nodes) };
    format!("{} {tasks}{nodes}", workload.tasks)
}

/// `uring depth 32`.
fn backend(workload: &Workload) -> String {
    format!("{} depth {}", workload.backend.name(), workload.backend.depth())
}
