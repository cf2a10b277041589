//! Trees of directories with small files in them, and sets of small objects.
//!
//! The layout is mdtest's, so that its command lines have the same meaning here. Source: its documentation and the
//! names that it creates on disk.

use serde::{Deserialize, Serialize};

use crate::{Bytes, Phase, PlanError};

/// Limit on directories in all trees together: creating more takes hours.
const DIRECTORIES_MAX: u64 = 1 << 26;
/// Limit on items of all tasks together: at a million per second they take a day.
const ITEMS_MAX: u64 = 1 << 37;
/// Limit on the size of a file, whose data is held in memory; a larger file is written in transfers.
const FILE_BYTES_MAX: Bytes = Bytes::gib(1);
/// Limit on sets per task; more are taken for a typing error.
const SETS_MAX: u32 = 1 << 20;
/// Limit on the pause of a step as a percentage of its length; with a longer pause, mainly the pause would be
/// measured.
const WAITING_PERCENT_MAX: u32 = 100_000;
/// Maximum length of a path in Linux (`PATH_MAX`), without its terminating zero.
pub(crate) const PATH_BYTES_MAX: usize = 4095;
/// Limit on the depth of a tree: a path has at most 4096 bytes (`PATH_MAX`), and each level takes about 20 of
/// them.
pub const TREE_DEPTH_MAX: u32 = 128;

/// A tree of directories, and the items (files, directories) of each task in it.
///
/// Each pass has its own directory below each target, [`crate::TreePlacement::root`], with one tree for all tasks,
/// or one per task. The directories of a tree are numbered level by level, starting with 0 at the top; the
/// subdirectories of number `d` are `d · branching + 1` to `d · branching + branching`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tree {
    /// Number of directory levels below the top one.
    pub depth: u32,
    /// Number of subdirectories of each directory above the lowest level; at least 1.
    pub branching: u32,
    /// Whether items are only on the lowest level.
    pub leaf_only: bool,
    /// Number of items of each task in each directory that has items.
    pub items_per_directory: u64,
    /// Whether each task has a tree of its own.
    pub own_trees: bool,
    /// Bytes written into each file.
    pub write_bytes: Bytes,
    /// Bytes read from each file; with 0, files are only opened and closed.
    pub read_bytes: Bytes,
    /// Whether to call `fsync(2)` for each file that was written.
    pub sync: bool,
    /// Task `t` stats items of task `t + shift`, reads those of `t + 2 · shift` and removes those of `t + 3 ·
    /// shift`, modulo the tasks, so that they are not in a cache of its own node.
    pub shift: u32,
    /// The seed of the random order in which items are accessed, if any.
    pub random: Option<u64>,
    /// Whether task 0 creates and removes the trees of all tasks.
    pub collective: bool,
    /// Whether files are created by `mknod(2)`, without opening them.
    pub make_node: bool,
    /// Whether items are created in the existing target itself instead of in a directory of this run.
    pub in_target: bool,
    /// Whether all tasks create and use the same files, which task 0 removes.
    #[serde(default)]
    pub shared: bool,
    /// Whether to call `sync(2)` at the end of a task's phase, as its close.
    #[serde(default)]
    pub sync_all: bool,
}

impl Tree {
    /// One shared directory with `items_per_directory` items of each task; the files are empty.
    #[must_use]
    pub const fn flat(items_per_directory: u64) -> Self {
        Self {
            depth: 0,
            branching: 1,
            leaf_only: false,
            items_per_directory,
            own_trees: false,
            write_bytes: Bytes(0),
            read_bytes: Bytes(0),
            sync: false,
            shift: 0,
            random: None,
            collective: false,
            make_node: false,
            in_target: false,
            shared: false,
            sync_all: false,
        }
    }

    /// Number of directories of one tree; `u64::MAX` if there are too many to count.
    #[must_use]
    pub fn directories(&self) -> u64 {
        (0..=self.depth).fold(0, |sum: u64, level| sum.saturating_add(self.on_level(level)))
    }

    /// Number of directories of one tree on `level`; level 0 is the top.
    fn on_level(&self, level: u32) -> u64 {
        u64::from(self.branching).saturating_pow(level)
    }

    /// The index of the first directory with items, and the number of directories with items.
    #[must_use]
    pub fn used_directories(&self) -> (u64, u64) {
        let (all, leaves) = (self.directories(), self.on_level(self.depth));
        if self.leaf_only { (all - leaves, leaves) } else { (0, all) }
    }

    /// Number of items of each kind per task.
    #[must_use]
    pub fn items_per_task(&self) -> u64 {
        self.items_per_directory.saturating_mul(self.used_directories().1)
    }

    /// The directory of item number `item` of a task.
    #[must_use]
    pub fn directory_of(&self, item: u64) -> u64 {
        self.used_directories().0 + item / self.items_per_directory.max(1)
    }

    /// Number of trees of `tasks` tasks.
    #[must_use]
    pub fn trees(&self, tasks: u32) -> u64 {
        if self.own_trees { u64::from(tasks) } else { 1 }
    }

    /// Number of operations of all `tasks` together in one pass of `phase`.
    #[must_use]
    pub fn operations(&self, phase: Phase, tasks: u32) -> u64 {
        match phase {
            Phase::TreeCreate | Phase::TreeRemove => self.directories().saturating_mul(self.trees(tasks)),
            Phase::DirectoryList => self.used_directories().1.saturating_mul(u64::from(tasks)),
            Phase::FileRemove if self.shared => self.items_per_task(),
            _ => self.items_per_task().saturating_mul(u64::from(tasks)),
        }
    }

    /// Checks every value against the others, for `tasks`.
    pub(crate) fn check(&self, tasks: u32) -> Result<(), PlanError> {
        if self.depth > TREE_DEPTH_MAX {
            return Err(PlanError::new(
                "levels",
                format!("{} levels of directories are too many", self.depth),
                format!("give a number up to {TREE_DEPTH_MAX}: a path has at most {PATH_BYTES_MAX} bytes"),
            ));
        }
        if self.branching == 0 {
            let problem = "with 0 directories in each directory there are no levels";
            return Err(PlanError::new("branching", problem, "give a number of at least 1"));
        }
        let directories = self.directories().saturating_mul(self.trees(tasks));
        if directories > DIRECTORIES_MAX {
            let too_many = if self.depth == 0 { "tasks" } else { "branching" };
            return Err(PlanError::new(
                too_many,
                format!(
                    "{} levels of {} directories in each make {} in all",
                    self.depth,
                    self.branching,
                    counted(directories)
                ),
                format!(
                    "at most {DIRECTORIES_MAX} can be made: lower the levels, the branching or the tasks"
                ),
            ));
        }
        if self.items_per_directory == 0 {
            let problem = "0 items in each directory measure nothing";
            return Err(PlanError::new("items_per_directory", problem, "give a number of at least 1"));
        }
        let items = self.items_per_task().saturating_mul(u64::from(tasks));
        if items > ITEMS_MAX {
            return Err(PlanError::new(
                "items_per_directory",
                format!("{} items of {tasks} tasks are too many", counted(items)),
                format!("at most {ITEMS_MAX} can be made: lower the items, the directories or the tasks"),
            ));
        }
        for (field, bytes) in [("file_bytes", self.write_bytes), ("read_bytes", self.read_bytes)] {
            if bytes > FILE_BYTES_MAX {
                return Err(PlanError::new(
                    field,
                    format!("a file of {bytes} is too large"),
                    format!("give at most {FILE_BYTES_MAX}; measure larger files with transfers"),
                ));
            }
        }
        if self.make_node && self.write_bytes > Bytes(0) {
            return Err(PlanError::new(
                "make_node",
                format!("files that are not opened cannot hold {} each", self.write_bytes),
                "leave make_node out, or use empty files",
            ));
        }
        Ok(())
    }

    /// Description of the items of `phase`, as in `1000 files of 3901 bytes each in 4 directories`.
    pub(crate) fn items_in_words(&self, phase: Phase) -> String {
        let (each, used) = (self.items_per_task(), self.used_directories().1);
        let among = if used > 1 { format!(" in {used} directories") } else { String::new() };
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        let bytes = if phase == Phase::FileRead { self.read_bytes } else { self.write_bytes };
        match phase {
            Phase::TreeCreate | Phase::TreeRemove | Phase::DirectoryList => {
                let all = self.directories();
                format!("{all} director{} each", if all == 1 { "y" } else { "ies" })
            }
            Phase::DirectoryCreate
            | Phase::DirectoryStat
            | Phase::DirectoryRename
            | Phase::DirectoryRemove => {
                format!("{each} director{} each{among}", if each == 1 { "y" } else { "ies" })
            }
            Phase::FileRead if bytes.0 == 0 => {
                format!("{each} file{} each{among}, opened and closed", plural(each))
            }
            _ if bytes.0 == 0 => format!("{each} empty file{} each{among}", plural(each)),
            _ => format!("{each} file{} of {} bytes each{among}", plural(each), bytes.0),
        }
    }

    /// Where the items are, whose items are accessed, and in which order, as in `own trees, shift 1`.
    pub(crate) fn place_in_words(&self) -> String {
        let mut words = match (self.own_trees, self.depth) {
            (true, 0) => "own directories".to_owned(),
            (true, _) => "own trees".to_owned(),
            (false, 0) => "one directory".to_owned(),
            (false, _) => "one tree".to_owned(),
        };
        if self.leaf_only && self.depth > 0 {
            words.push_str(", lowest level only");
        }
        if self.shift > 0 {
            words.push_str(&format!(", shift {}", self.shift));
        }
        if self.shared {
            words.push_str(", shared files");
        }
        words
    }

    /// The number in the name of item number `item` of a task: mdtest also counts the places in directories
    /// without items.
    #[must_use]
    pub fn number_of(&self, item: u64) -> u64 {
        item.saturating_add(self.used_directories().0.saturating_mul(self.items_per_directory))
    }

    /// Bytes that one operation of `phase` moves.
    #[must_use]
    pub const fn bytes_per_item(&self, phase: Phase) -> Bytes {
        match phase {
            Phase::FileCreate | Phase::FileWrite => self.write_bytes,
            Phase::FileRead => self.read_bytes,
            _ => Bytes(0),
        }
    }

    /// The task whose items `task` accesses in `phase`.
    #[must_use]
    pub fn owner(&self, task: u32, phase: Phase, tasks: u32) -> u32 {
        if self.shared {
            return 0;
        }
        let times = match phase {
            Phase::FileStat | Phase::DirectoryStat => 1,
            Phase::FileRead | Phase::DirectoryList => 2,
            Phase::FileRemove | Phase::DirectoryRemove => 3,
            _ => 0,
        };
        let all = u64::from(tasks.max(1));
        let owner = (u64::from(task) + times * u64::from(self.shift)) % all;
        u32::try_from(owner).unwrap_or(task)
    }
}

/// A count that may have saturated.
fn counted(count: u64) -> String {
    if count == u64::MAX { "more than can be counted".to_owned() } else { count.to_string() }
}

/// Cycles through small objects in sets: each task owns sets of objects, and a step stats, reads and removes
/// one object of a set, and creates a new one.
///
/// Source: the documentation of md-workbench, which comes with IOR.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objects {
    /// Number of sets per task.
    pub sets: u32,
    /// Number of objects in each set before the steps start.
    pub precreated: u64,
    /// Number of steps in each set in one benchmark phase.
    pub steps: u64,
    /// Size of an object in bytes.
    pub object_bytes: Bytes,
    /// In set number `d`, starting at 0, a step of task `t` takes an object of task `t − offset · (d + 1)` and
    /// creates one for task `t + offset · (d + 1)`, modulo the tasks.
    pub offset: u32,
    /// Pause after each step, in millionths of the time that its operations took; with 0 there is no pause. In a
    /// plan that is stored it is a percentage.
    #[serde(rename = "waiting_percent", with = "percent")]
    pub waiting_ppm: u32,
    /// Whether steps only stat and read.
    pub read_only: bool,
    /// Whether to skip the stat of objects.
    pub no_stat: bool,
    /// Whether sets are created in the target itself instead of in a directory of this run.
    #[serde(default)]
    pub in_target: bool,
    /// Number of steps that an earlier run has done in each set, which is the number of the oldest object there.
    #[serde(default)]
    pub first: u64,
}

/// Millionths in one percent.
pub const PPM_OF_PERCENT: u32 = 10_000;

/// Stores millionths as a percentage: a whole number where it is one, so that plans stored by earlier versions are
/// read.
mod percent {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::PPM_OF_PERCENT;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    pub(super) fn serialize<S: Serializer>(ppm: &u32, to: S) -> Result<S::Ok, S::Error> {
        match ppm % PPM_OF_PERCENT {
            0 => to.serialize_u32(ppm / PPM_OF_PERCENT),
            _ => to.serialize_f64(f64::from(*ppm) / f64::from(PPM_OF_PERCENT)),
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast of a float saturates"
    )]
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
        f64::deserialize(from).map(|percent| (percent * f64::from(PPM_OF_PERCENT)).round() as u32)
    }
}

impl Objects {
    /// The pause after each step, as a percentage of the time that its operations took.
    #[must_use]
    pub fn waiting_percent(&self) -> f64 {
        f64::from(self.waiting_ppm) / f64::from(PPM_OF_PERCENT)
    }

    /// The pause after a step that took `took_ns`.
    #[must_use]
    pub fn rest_ns(&self, took_ns: u64) -> u64 {
        let rest = u128::from(took_ns) * u128::from(self.waiting_ppm) / 1_000_000;
        u64::try_from(rest).unwrap_or(u64::MAX)
    }

    /// Number of operations of one step in one set.
    #[must_use]
    pub fn operations_of_step(&self) -> u64 {
        1 + u64::from(!self.no_stat) + 2 * u64::from(!self.read_only)
    }

    /// Number of operations on objects of all `tasks` together in one pass of `phase`; directories of sets are not
    /// counted.
    #[must_use]
    pub fn operations(&self, phase: Phase, tasks: u32) -> u64 {
        let sets = u64::from(self.sets).saturating_mul(u64::from(tasks));
        match phase {
            Phase::Benchmark => sets.saturating_mul(self.steps).saturating_mul(self.operations_of_step()),
            _ => sets.saturating_mul(self.precreated),
        }
    }

    /// Checks every value against the others, for `tasks`.
    pub(crate) fn check(&self, tasks: u32) -> Result<(), PlanError> {
        if self.sets == 0 || self.sets > SETS_MAX {
            return Err(PlanError::new(
                "sets",
                format!("{} sets of each task are not possible", self.sets),
                format!("give a number from 1 to {SETS_MAX}"),
            ));
        }
        let all = |each: u64| each.saturating_mul(u64::from(self.sets)).saturating_mul(u64::from(tasks));
        for (field, each) in [("precreated", self.precreated), ("steps", self.steps)] {
            if each == 0 || all(each) > ITEMS_MAX {
                return Err(PlanError::new(
                    field,
                    format!("{each} in each of {} sets of {tasks} tasks cannot be measured", self.sets),
                    format!("give at least 1, and at most {ITEMS_MAX} in all"),
                ));
            }
        }
        if self.object_bytes > FILE_BYTES_MAX {
            return Err(PlanError::new(
                "object_bytes",
                format!("an object of {} is too large", self.object_bytes),
                format!("give at most {FILE_BYTES_MAX}; measure larger files with transfers"),
            ));
        }
        if self.waiting_ppm / PPM_OF_PERCENT > WAITING_PERCENT_MAX {
            return Err(PlanError::new(
                "waiting_percent",
                format!(
                    "with a pause of {} % of each step, mostly the pause would be measured",
                    self.waiting_percent()
                ),
                format!("give a number up to {WAITING_PERCENT_MAX}"),
            ));
        }
        Ok(())
    }

    /// Description of the objects, as in `10 sets of 1000 objects of 3901 bytes each`.
    pub(crate) fn in_words(&self) -> String {
        let sets = if self.sets == 1 { "set" } else { "sets" };
        let mut words = format!(
            "{} {sets} of {} objects of {} bytes each",
            self.sets, self.precreated, self.object_bytes.0
        );
        if self.offset > 0 {
            words.push_str(&format!(", offset {}", self.offset));
        }
        if self.waiting_ppm > 0 {
            words.push_str(&format!(", rests of {} %", self.waiting_percent()));
        }
        if self.read_only {
            words.push_str(", read only");
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::{Objects, TREE_DEPTH_MAX, Tree};
    use crate::{Backend, Bytes, Geometry, Nanos, Pace, Phase, Work, WorkloadSpec};

    fn spec(work: Work) -> WorkloadSpec {
        let geometry = Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 };
        let mut spec = WorkloadSpec::new("w", "/t", geometry);
        (spec.tasks, spec.work) = (2, work);
        spec
    }

    fn field(change: impl FnOnce(&mut WorkloadSpec, &mut Tree)) -> &'static str {
        let (mut tree, mut spec) = (Tree::flat(10), spec(Work::Transfers));
        change(&mut spec, &mut tree);
        spec.work = Work::Tree(tree);
        spec.validate().map(|_| ()).expect_err("refused").field
    }

    #[test]
    fn trees_that_cannot_be_made_name_their_field() {
        assert_eq!(field(|_, tree| tree.depth = TREE_DEPTH_MAX + 1), "levels");
        assert_eq!(field(|_, tree| tree.branching = 0), "branching");
        assert_eq!(field(|_, tree| (tree.depth, tree.branching) = (20, 20)), "branching");
        assert_eq!(field(|_, tree| tree.items_per_directory = 0), "items_per_directory");
        assert_eq!(field(|_, tree| tree.items_per_directory = u64::MAX), "items_per_directory");
        assert_eq!(field(|_, tree| tree.write_bytes = Bytes::gib(2)), "file_bytes");
        assert_eq!(field(|_, tree| tree.read_bytes = Bytes::gib(2)), "read_bytes");
        assert_eq!(field(|_, tree| (tree.make_node, tree.write_bytes) = (true, Bytes(1))), "make_node");
        assert_eq!(field(|spec, _| spec.backend = Backend::Mmap), "backend");
        assert_eq!(field(|spec, _| spec.duration = Some(Nanos::secs(1))), "duration");
        assert_eq!(field(|spec, _| spec.operations = Some(1)), "operations");
        assert_eq!(field(|spec, _| spec.pace = Some(Pace { transfers_per_second: 1.0 })), "rate");
        let long = |spec: &mut WorkloadSpec, tree: &mut Tree| {
            spec.files.targets = vec![format!("/{}", "x/".repeat(1900)).into()];
            tree.depth = TREE_DEPTH_MAX;
        };
        assert_eq!(field(long), "levels");
    }

    #[test]
    fn objects_that_cannot_be_made_name_their_field() {
        let objects = Objects {
            sets: 10,
            precreated: 1000,
            steps: 100,
            object_bytes: Bytes(3901),
            offset: 1,
            ..Objects::default()
        };
        let field = |change: fn(&mut Objects)| {
            let mut objects = objects.clone();
            change(&mut objects);
            spec(Work::Objects(objects)).validate().map(|_| ()).expect_err("refused").field
        };
        assert_eq!(field(|objects| objects.sets = 0), "sets");
        assert_eq!(field(|objects| objects.precreated = 0), "precreated");
        assert_eq!(field(|objects| objects.steps = u64::MAX), "steps");
        assert_eq!(field(|objects| objects.object_bytes = Bytes::gib(2)), "object_bytes");
        assert_eq!(field(|objects| objects.waiting_ppm = u32::MAX), "waiting_percent");
        let workload = spec(Work::Objects(objects)).validate().expect("valid");
        assert_eq!(
            workload.conditions(Phase::Benchmark),
            "benchmark, 2 tasks, 10 sets of 1000 objects of 3901 bytes each, offset 1, psync depth 1"
        );
        assert_eq!(workload.operations_of(Phase::Benchmark), Some(2 * 10 * 100 * 4));
        assert_eq!(workload.footprint(), Bytes(2 * 10 * 1000 * 3901));
    }

    #[test]
    fn conditions_say_which_items_of_which_tree() {
        let flat = Tree { own_trees: true, write_bytes: Bytes(3901), ..Tree::flat(1000) };
        let workload = spec(Work::Tree(flat.clone())).validate().expect("valid");
        assert_eq!(
            workload.conditions(Phase::FileCreate),
            "file-create, 2 tasks, own directories, 1000 files of 3901 bytes each, psync depth 1"
        );
        let deep = Tree { depth: 2, branching: 3, shift: 1, random: Some(1), own_trees: false, ..flat };
        let workload = spec(Work::Tree(deep)).validate().expect("valid");
        assert_eq!(
            workload.conditions(Phase::FileStat),
            "file-stat, random, 2 tasks, one tree, shift 1, 13000 files of 3901 bytes each in 13 directories, \
             psync depth 1"
        );
        assert_eq!(
            workload.conditions(Phase::TreeCreate),
            "tree-create, 2 tasks, one tree, shift 1, 13 directories each, psync depth 1"
        );
        assert_eq!(workload.operations_of(Phase::TreeCreate), Some(13));
        assert_eq!(workload.operations_of(Phase::FileCreate), Some(26_000));
        assert_eq!(workload.footprint(), Bytes(26_000 * 3901));
        assert_eq!(workload.phase_bytes(Phase::FileStat), Bytes(0));
        assert_eq!(workload.phase_bytes(Phase::FileCreate), Bytes(26_000 * 3901));
    }

    fn tree(depth: u32, branching: u32) -> Tree {
        Tree { depth, branching, ..Tree::flat(10) }
    }

    #[test]
    fn directories_are_numbered_level_by_level() {
        let tree = tree(2, 3);
        assert_eq!(tree.directories(), 13);
        assert_eq!(tree.used_directories(), (0, 13));
        assert_eq!(tree.items_per_task(), 130);
        let leaves = Tree { leaf_only: true, ..tree };
        assert_eq!(leaves.used_directories(), (4, 9));
        assert_eq!(leaves.items_per_task(), 90);
        assert_eq!((leaves.directory_of(0), leaves.directory_of(19)), (4, 5));
        assert_eq!((leaves.number_of(0), leaves.number_of(19)), (40, 59));
    }

    #[test]
    fn a_shift_moves_each_phase_on_by_one_more() {
        let tree = Tree { shift: 1, ..Tree::flat(1) };
        let owners = [Phase::FileCreate, Phase::FileStat, Phase::FileRead, Phase::FileRemove]
            .map(|phase| tree.owner(3, phase, 4));
        assert_eq!(owners, [3, 0, 1, 2]);
    }
}
