//! Paths and names of the trees and object sets of a workload.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::jobs::JobSpace;
use crate::{Jobs, Objects, Tree, Workload};

/// Suffix of the first item's name while the others are renamed in a ring, as in mdtest.
pub const RENAMED: &str = "-XX";
/// Name prefix of a root of trees.
const TREE_ROOT: &str = "test-dir";
/// Name prefix of a root of object sets.
const OBJECTS_ROOT: &str = "objects";
/// Name prefix of a root of jobs.
const JOBS_ROOT: &str = "jobs";
/// Name prefix of the directory of a launch.
const LAUNCH: &str = "launch.";
/// Name suffix of a table.
const TABLE: &str = ".table";
const TREE: &str = "mdtest_tree.";
const FILE: &str = "file.mdtest.";
const DIRECTORY: &str = "dir.mdtest.";
const OBJECT: &str = "file-";
/// Replaces the task number if all tasks share a file.
const SHARED: &str = "shared.";

/// The target in which a task works.
fn target_of(workload: &Workload, task: u32) -> &Path {
    let targets = &workload.files.targets;
    &targets[task as usize % targets.len()]
}

/// The directory that `repetition` creates below the target of `task`.
fn root_of(workload: &Workload, task: u32, repetition: u32, kind: &str) -> PathBuf {
    let set = if workload.files.file_per_repetition { repetition } else { 0 };
    target_of(workload, task).join(format!("{kind}.{set}-0"))
}

/// The distinct paths of the tasks.
fn once(workload: &Workload, of: impl Fn(u32) -> PathBuf) -> Vec<PathBuf> {
    let distinct = workload.files.targets.len().min(workload.tasks as usize);
    let mut all: Vec<PathBuf> = (0..u32::try_from(distinct).unwrap_or(u32::MAX)).map(of).collect();
    all.sort();
    all.dedup();
    all
}

/// The kind of object behind a name of a tree or object set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryType {
    /// A directory: one of a tree, an item, or a set of objects.
    Directory,
    /// A file: an item or an object.
    File,
}

/// Whether a run could have given `name` to an entry below its roots, and its type if so. Any other entry found there
/// is foreign.
///
/// ```
/// use plan::{EntryType, entry_type};
/// assert_eq!(entry_type("file.mdtest.3.17-XX"), Some(EntryType::File));
/// assert_eq!(entry_type("mdtest_tree.0.5"), Some(EntryType::Directory));
/// assert_eq!(entry_type("file.mdtest.results"), None);
/// ```
#[must_use]
pub fn entry_type(name: &str) -> Option<EntryType> {
    let numbers = |text: &str, between: char, counts: &[usize]| {
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        text.split(between).all(is_number) && counts.contains(&text.split(between).count())
    };
    let item = |rest: &str| numbers(rest.strip_suffix(RENAMED).unwrap_or(rest), '.', &[2]);
    if let Some(rest) = name.strip_prefix(TREE) {
        return numbers(rest, '.', &[1, 2]).then_some(EntryType::Directory);
    }
    if let Some(rest) = name.strip_prefix(DIRECTORY) {
        return item(rest).then_some(EntryType::Directory);
    }
    if let Some(rest) = name.strip_prefix(FILE) {
        let rest = rest.strip_prefix(SHARED).map_or(rest.to_owned(), |number| format!("0.{number}"));
        return item(&rest).then_some(EntryType::File);
    }
    if let Some(rest) = name.strip_prefix(OBJECT) {
        return numbers(rest, '.', &[1]).then_some(EntryType::File);
    }
    if let Some(rest) = name.strip_prefix(LAUNCH) {
        return numbers(rest, '.', &[1]).then_some(EntryType::Directory);
    }
    if let Some((_, number)) = name.strip_suffix(TABLE).and_then(|rest| rest.rsplit_once('.')) {
        return numbers(number, '.', &[1]).then_some(EntryType::File);
    }
    if JobSpace::ALL.iter().any(|space| space.name() == name) {
        return Some(EntryType::Directory);
    }
    numbers(name, '_', &[2]).then_some(EntryType::Directory)
}

/// The paths of the trees of a workload.
#[derive(Debug, Clone, Copy)]
pub struct TreePlacement<'a> {
    workload: &'a Workload,
    tree: &'a Tree,
}

impl<'a> TreePlacement<'a> {
    /// The trees of `workload`, if it has any.
    #[must_use]
    pub fn new(workload: &'a Workload) -> Option<Self> {
        workload.work.tree().map(|tree| Self { workload, tree })
    }

    /// The tree.
    #[must_use]
    pub const fn tree(self) -> &'a Tree {
        self.tree
    }

    /// The directory that `repetition` creates below the target of `task` and that holds everything it creates there;
    /// the target itself for [`Tree::in_target`].
    #[must_use]
    pub fn root(self, task: u32, repetition: u32) -> PathBuf {
        match self.tree.in_target {
            true => target_of(self.workload, task).to_owned(),
            false => root_of(self.workload, task, repetition, TREE_ROOT),
        }
    }

    /// Every root of `repetition`, each once.
    #[must_use]
    pub fn roots(self, repetition: u32) -> Vec<PathBuf> {
        once(self.workload, |task| self.root(task, repetition))
    }

    /// The path from the root to directory number `directory` of the tree that holds the items of `owner`:
    /// `mdtest_tree.0/mdtest_tree.1`.
    #[must_use]
    pub fn directory(self, owner: u32, directory: u64) -> PathBuf {
        let tree = if self.tree.own_trees { owner } else { 0 };
        let mut numbers = vec![directory];
        let mut number = directory;
        while number > 0 {
            number = (number - 1) / u64::from(self.tree.branching.max(1));
            numbers.push(number);
        }
        let mut path = PathBuf::new();
        let mut name = String::new();
        for number in numbers.into_iter().rev() {
            name.clear();
            let written = match self.tree.own_trees {
                true => write!(name, "{TREE}{tree}.{number}"),
                false => write!(name, "{TREE}{number}"),
            };
            debug_assert!(written.is_ok(), "a String takes everything");
            path.push(&name);
        }
        path
    }

    /// The maximum length of a path in the trees, in bytes.
    pub(crate) fn path_bytes_max(self) -> usize {
        let last = self.workload.tasks.saturating_sub(1);
        let targets = self.workload.files.targets.iter();
        let root = targets.map(|target| target.as_os_str().len()).max().unwrap_or(0);
        let directory = self.directory(last, self.tree.directories().saturating_sub(1));
        let name = Self::file_name(last, self.tree.items_per_task()).len() + RENAMED.len();
        // The name of a root contains the number of a repetition.
        root + "/test-dir.4294967295-0/".len() + directory.as_os_str().len() + 1 + name
    }

    /// The name of a file: `file.mdtest.3.17`. `number` is that of [`Tree::number_of`].
    #[must_use]
    pub fn file_name(owner: u32, number: u64) -> String {
        format!("{FILE}{owner}.{number}")
    }

    /// The name of a file shared by all tasks: `file.mdtest.shared.17`.
    #[must_use]
    pub fn shared_name(number: u64) -> String {
        format!("{FILE}{SHARED}{number}")
    }

    /// The name of a directory that is an item: `dir.mdtest.3.17`.
    #[must_use]
    pub fn directory_name(owner: u32, item: u64) -> String {
        format!("{DIRECTORY}{owner}.{item}")
    }
}

/// The paths of the objects of a workload.
#[derive(Debug, Clone, Copy)]
pub struct ObjectsPlacement<'a> {
    workload: &'a Workload,
    objects: &'a Objects,
}

impl<'a> ObjectsPlacement<'a> {
    /// The objects of `workload`, if it has any.
    #[must_use]
    pub fn new(workload: &'a Workload) -> Option<Self> {
        workload.work.objects().map(|objects| Self { workload, objects })
    }

    /// The parameters of the objects.
    #[must_use]
    pub const fn objects(self) -> &'a Objects {
        self.objects
    }

    /// The directory that `repetition` creates below the target of `task` for all its sets: `TARGET/objects.R-0`; the
    /// target itself for [`Objects::in_target`].
    #[must_use]
    pub fn root(self, task: u32, repetition: u32) -> PathBuf {
        match self.objects.in_target {
            true => target_of(self.workload, task).to_owned(),
            false => root_of(self.workload, task, repetition, OBJECTS_ROOT),
        }
    }

    /// Every root of `repetition`, each once.
    #[must_use]
    pub fn roots(self, repetition: u32) -> Vec<PathBuf> {
        once(self.workload, |task| self.root(task, repetition))
    }

    /// The directory of set number `set` of `owner`, within the root of `owner`: `3_0`.
    #[must_use]
    pub fn set(owner: u32, set: u32) -> String {
        format!("{owner}_{set}")
    }

    /// The name of an object within its set: `file-17`.
    #[must_use]
    pub fn object_name(object: u64) -> String {
        format!("{OBJECT}{object}")
    }
}

/// The paths of the tables of jobs. Each space has a root below its directory; spaces may share a directory.
#[derive(Debug, Clone, Copy)]
pub struct JobsPlacement<'a> {
    workload: &'a Workload,
    jobs: &'a Jobs,
}

impl<'a> JobsPlacement<'a> {
    /// The tables of `workload`, if it has jobs.
    #[must_use]
    pub fn new(workload: &'a Workload) -> Option<Self> {
        workload.work.jobs().map(|jobs| Self { workload, jobs })
    }

    /// The jobs.
    #[must_use]
    pub const fn jobs(self) -> &'a Jobs {
        self.jobs
    }

    /// The user's directory for a space; that of permanent space if it has none of its own.
    #[must_use]
    pub fn target(self, space: JobSpace) -> &'a Path {
        let targets = &self.workload.files.targets;
        targets.get(space as usize).unwrap_or(&targets[0])
    }

    /// The directory that a run creates for a space.
    #[must_use]
    pub fn directory(self, space: JobSpace, repetition: u32) -> PathBuf {
        self.root(space, repetition).join(space.name())
    }

    fn root(self, space: JobSpace, repetition: u32) -> PathBuf {
        let set = if self.workload.files.file_per_repetition { repetition } else { 0 };
        self.target(space).join(format!("{JOBS_ROOT}.{set}-0"))
    }

    /// The directory of one launch in work or utility space.
    #[must_use]
    pub fn launch_directory(self, space: JobSpace, repetition: u32, launch: u32) -> PathBuf {
        self.directory(space, repetition).join(format!("{LAUNCH}{launch}"))
    }

    /// The file of a table in permanent space for one stream.
    #[must_use]
    pub fn table(self, name: &str, stream: u32, repetition: u32) -> PathBuf {
        self.directory(JobSpace::Permanent, repetition).join(table_name(name, stream))
    }

    /// The roots of all spaces, each once.
    #[must_use]
    pub fn roots(self, repetition: u32) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = JobSpace::ALL.iter().map(|space| self.root(*space, repetition)).collect();
        all.sort();
        all.dedup();
        all
    }
}

/// The file name of a table: in permanent space, `number` is its stream; in the directory of a launch, that of the
/// step that writes it.
#[must_use]
pub fn table_name(table: &str, number: u32) -> String {
    format!("{table}.{number}{TABLE}")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{EntryType, ObjectsPlacement, RENAMED, TreePlacement, entry_type};
    use crate::{Bytes, Geometry, Objects, Tree, Work, WorkloadSpec};

    #[test]
    fn paths_are_those_of_mdtest() {
        let geometry = Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 };
        let mut spec = WorkloadSpec::new("w", "/t", geometry);
        spec.tasks = 4;
        spec.work = Work::Tree(Tree { own_trees: true, depth: 2, branching: 3, ..Tree::flat(10) });
        let workload = spec.validate().expect("valid");
        let placement = TreePlacement::new(&workload).expect("a tree");
        assert_eq!(placement.root(2, 0), Path::new("/t/test-dir.0-0"));
        assert_eq!(placement.directory(2, 12), Path::new("mdtest_tree.2.0/mdtest_tree.2.3/mdtest_tree.2.12"));
        assert_eq!(TreePlacement::file_name(2, 17), "file.mdtest.2.17");
    }

    #[test]
    fn what_a_run_makes_is_known_by_its_name() {
        for file in [
            TreePlacement::file_name(2, 17),
            TreePlacement::shared_name(17),
            format!("{}{RENAMED}", TreePlacement::file_name(2, 17)),
            ObjectsPlacement::object_name(0),
        ] {
            assert_eq!(entry_type(&file), Some(EntryType::File), "{file}");
        }
        for directory in
            [TreePlacement::directory_name(2, 17), ObjectsPlacement::set(3, 0), "mdtest_tree.1.2".to_owned()]
        {
            assert_eq!(entry_type(&directory), Some(EntryType::Directory), "{directory}");
        }
        for other in
            ["file.mdtest.1", "file.mdtest.1.2.3", "file-", "_", "1_", "mdtest_tree.", "core", "file-1x"]
        {
            assert_eq!(entry_type(other), None, "{other}");
        }
    }

    #[test]
    fn objects_stand_in_a_root_of_their_own_on_each_target() {
        let geometry = Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 };
        let mut spec = WorkloadSpec::new("w", "/a", geometry);
        (spec.tasks, spec.files.file_per_repetition) = (3, true);
        spec.files.targets.push("/b".into());
        spec.work = Work::Objects(Objects {
            sets: 1,
            precreated: 1,
            steps: 1,
            object_bytes: Bytes(1),
            offset: 1,
            ..Objects::default()
        });
        let workload = spec.clone().validate().expect("valid");
        assert_eq!(workload.roots(2), [Path::new("/a/objects.2-0"), Path::new("/b/objects.2-0")]);
        if let Work::Objects(objects) = &mut spec.work {
            objects.in_target = true;
        }
        let workload = spec.validate().expect("valid");
        assert_eq!(workload.roots(2), [Path::new("/a"), Path::new("/b")]);
    }
}
