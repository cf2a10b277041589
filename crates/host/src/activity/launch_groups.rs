//! Control groups for the processes that a run launches. The kernel accounts for each group, and enforces
//! memory limits if set (`cgroups(7)`, both versions).
//!
//! ```text
//! …/group of this process/ioproof-RUN/launch.N
//! ```
//!
//! The name of a run's group contains the name of the run, so that a later process can find the groups of
//! a killed run: [`RunGroups::remove_left`].

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::activity::cgroup::{Groups, Version};
use crate::file_systems::file_system::mount_table;
use crate::{HostError, Root};

/// Prefix of the name of a run's group.
const PREFIX: &str = "ioproof-";
/// Depth limit of the search in nested groups.
const LEVELS_MAX: usize = 24;
/// Maximum wait for the kernel to release a group after its last process has ended.
const REMOVAL: Duration = Duration::from_secs(2);
/// Interval between attempts to remove a group.
const REMOVAL_STEP: Duration = Duration::from_millis(5);

/// The required controllers, by their names in version 1.
const MEMORY: &str = "memory";
const ACCOUNT: &str = "cpuacct";

/// A directory of a hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
struct GroupDirectory {
    version: Version,
    directory: PathBuf,
}

/// The groups of a run: one for each hierarchy in use.
#[derive(Debug)]
pub struct RunGroups {
    /// Limits memory, and counts the processes killed by the limit.
    memory: Option<GroupDirectory>,
    /// Accounts for processor time.
    account: Option<GroupDirectory>,
    /// Reasons why there is no group for memory, or no group at all.
    missing: Vec<String>,
}

/// The groups of one launch.
#[derive(Debug)]
pub struct LaunchGroup {
    memory: Option<GroupDirectory>,
    account: Option<GroupDirectory>,
}

impl RunGroups {
    /// Creates the groups of the run called `run`, as far as this host permits.
    #[must_use]
    pub fn make(root: &Root, run: &str) -> Self {
        let mut groups = Self { memory: None, account: None, missing: Vec::new() };
        let name = format!("{PREFIX}{run}");
        match place(root, &name, MEMORY) {
            Ok(place) => groups.memory = Some(place),
            Err(why) => groups.missing.push(format!("memory: {why}")),
        }
        match &groups.memory {
            // In version 2 the same hierarchy serves both purposes.
            Some(place) if place.version == Version::Two => groups.account = Some(place.clone()),
            _ => match place(root, &name, ACCOUNT) {
                Ok(place) => groups.account = Some(place),
                Err(why) => groups.missing.push(format!("processor time: {why}")),
            },
        }
        groups
    }

    /// The features without a control group, each with a short reason.
    #[must_use]
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// Whether memory limits are enforced.
    #[must_use]
    pub const fn keeps_memory(&self) -> bool {
        self.memory.is_some()
    }

    /// Creates the groups of a launch.
    ///
    /// # Errors
    /// Errors if a group cannot be created or the kernel rejects the limit.
    pub fn launch(&self, name: &str, memory_max: Option<u64>) -> Result<LaunchGroup, HostError> {
        let inside = |place: &Option<GroupDirectory>| -> Result<Option<GroupDirectory>, HostError> {
            let Some(GroupDirectory { version, directory }) = place else { return Ok(None) };
            let directory = directory.join(name);
            match fs::create_dir(&directory) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                    Err(HostError::io("create the control group", &directory, error))
                }
                _ => Ok(Some(GroupDirectory { version: *version, directory })),
            }
        };
        let memory = inside(&self.memory)?;
        let account = inside(&self.account)?;
        let group = LaunchGroup { memory, account };
        if let (Some(bytes), Some(place)) = (memory_max, &group.memory) {
            let file = match place.version {
                Version::One => "memory.limit_in_bytes",
                Version::Two => "memory.max",
            };
            if let Err(error) = write(&place.directory.join(file), &bytes.to_string()) {
                let _ = group.remove();
                return Err(error);
            }
        }
        Ok(group)
    }

    /// Removes the groups of the run, including all groups left inside them.
    ///
    /// # Errors
    /// Errors if a group could not be removed.
    pub fn remove(self) -> Result<(), HostError> {
        self.places().try_for_each(|place| remove_below(&place.directory))
    }

    fn places(&self) -> impl Iterator<Item = &GroupDirectory> {
        places(&self.memory, &self.account)
    }

    /// Removes the groups of a finished run, wherever it was started, and kills the processes in them.
    /// Returns the number of groups.
    ///
    /// # Errors
    /// Errors if a group could not be removed.
    pub fn remove_left(root: &Root, run: &str) -> Result<u32, HostError> {
        let name = format!("{PREFIX}{run}");
        let mut removed = 0;
        for mount in mount_table(root)?.iter().filter(|mount| mount.kind.starts_with("cgroup")) {
            for directory in named_below(&root.path(&mount.mount_point), &name, LEVELS_MAX) {
                end_all_in(&directory);
                remove_below(&directory)?;
                removed += 1;
            }
        }
        Ok(removed)
    }
}

impl LaunchGroup {
    /// Puts a process into the groups.
    ///
    /// # Errors
    /// Errors if the kernel rejects it.
    pub fn take(&self, process: u32) -> Result<(), HostError> {
        places(&self.memory, &self.account)
            .try_for_each(|place| write(&place.directory.join("cgroup.procs"), &process.to_string()))
    }

    /// Processor time in nanoseconds of all processes that were in the group, or `None` if unknown.
    #[must_use]
    pub fn cpu_ns(&self) -> Option<u64> {
        let place = self.account.as_ref()?;
        match place.version {
            Version::One => {
                fs::read_to_string(place.directory.join("cpuacct.usage")).ok()?.trim().parse().ok()
            }
            Version::Two => Some(word(&place.directory.join("cpu.stat"), "usage_usec")? * 1000),
        }
    }

    /// Number of the group's processes that the kernel killed because of the memory limit.
    #[must_use]
    pub fn killed_for_memory(&self) -> u64 {
        let Some(place) = &self.memory else { return 0 };
        let file = match place.version {
            Version::One => "memory.oom_control",
            Version::Two => "memory.events",
        };
        word(&place.directory.join(file), "oom_kill").unwrap_or(0)
    }

    /// Removes the group, waiting for the kernel to release it.
    ///
    /// # Errors
    /// Errors if the group could not be removed.
    pub fn remove(self) -> Result<(), HostError> {
        places(&self.memory, &self.account).try_for_each(|place| remove_one(&place.directory))
    }
}

/// Returns the directories without duplicates; in version 2 there is only one.
fn places<'p>(
    memory: &'p Option<GroupDirectory>,
    account: &'p Option<GroupDirectory>,
) -> impl Iterator<Item = &'p GroupDirectory> {
    let account = account.as_ref().filter(|one| memory.as_ref() != Some(one));
    memory.iter().chain(account)
}

/// Creates the group `name` where `controller` is available, and returns it.
fn place(root: &Root, name: &str, controller: &str) -> Result<GroupDirectory, String> {
    let mounts = mount_table(root).map_err(|error| error.to_string())?;
    let groups = Groups::of(root, &mounts, controller).ok_or("no control groups are mounted")?;
    let mut why = "no control group in which one can be created".to_owned();
    // In version 2 a group with processes, such as our own, cannot enable controllers for its children,
    // but an ancestor may.
    let levels = if groups.version == Version::One { 1 } else { groups.directories.len() };
    for parent in groups.directories.iter().take(levels) {
        match make(&root.path(parent), name, groups.version) {
            Ok(directory) => return Ok(GroupDirectory { version: groups.version, directory }),
            Err(error) => why = format!("{}: {error}", parent.display()),
        }
    }
    Err(why)
}

/// Creates `name` in `parent`, with the controllers enabled for its children.
fn make(parent: &Path, name: &str, version: Version) -> io::Result<PathBuf> {
    let directory = parent.join(name);
    match fs::create_dir(&directory) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    if version == Version::One {
        return Ok(directory);
    }
    let serve = || {
        if !serves(&directory)? {
            fs::write(parent.join("cgroup.subtree_control"), "+memory")?;
        }
        fs::write(directory.join("cgroup.subtree_control"), "+memory")
    };
    match serve() {
        Ok(()) => Ok(directory),
        Err(error) => {
            // The first error is the one to report.
            let _ = fs::remove_dir(&directory);
            Err(error)
        }
    }
}

/// Whether the version 2 group at `directory` can limit memory.
fn serves(directory: &Path) -> io::Result<bool> {
    let controllers = fs::read_to_string(directory.join("cgroup.controllers"))?;
    Ok(controllers.split_whitespace().any(|one| one == MEMORY))
}

/// Returns the number after `name` in a file of names and numbers.
fn word(file: &Path, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    line.trim().parse().ok()
}

fn write(file: &Path, text: &str) -> Result<(), HostError> {
    fs::write(file, text).map_err(|error| HostError::io("write", file, error))
}

/// Groups called `name` in the hierarchy at `directory`.
fn named_below(directory: &Path, name: &str, levels: usize) -> Vec<PathBuf> {
    let Some(levels) = levels.checked_sub(1) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        // A link leads to another hierarchy, which is searched separately.
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        match entry.file_name() == name {
            true => found.push(entry.path()),
            false => found.extend(named_below(&entry.path(), name, levels)),
        }
    }
    found
}

/// Kills the processes in a group and its descendants.
fn end_all_in(directory: &Path) {
    let inner = fs::read_dir(directory).into_iter().flatten().flatten();
    inner
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .for_each(|entry| end_all_in(&entry.path()));
    let Ok(text) = fs::read_to_string(directory.join("cgroup.procs")) else { return };
    let processes = text.lines().filter_map(|line| line.trim().parse().ok());
    for process in processes.filter_map(rustix::process::Pid::from_raw) {
        // It may have exited already.
        let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
    }
}

/// Removes the group at `directory`, starting with its children.
fn remove_below(directory: &Path) -> Result<(), HostError> {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_below(&entry.path())?;
        }
    }
    remove_one(directory)
}

fn remove_one(directory: &Path) -> Result<(), HostError> {
    let until = Instant::now() + REMOVAL;
    loop {
        match fs::remove_dir(directory) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == ErrorKind::ResourceBusy && Instant::now() < until => {
                thread::sleep(REMOVAL_STEP);
            }
            Err(error) => return Err(HostError::io("remove the control group", directory, error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::RunGroups;
    use crate::Root;
    use crate::fake::Tree;

    /// A host with one hierarchy for all, which lets us make groups.
    fn version_two() -> Tree {
        Tree::new(&[
            ("/proc/self/cgroup", "0::/mine\n"),
            ("/proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n"),
            ("/sys/fs/cgroup/mine/cgroup.procs", ""),
            // What the kernel would put into the new group.
            ("/sys/fs/cgroup/mine/ioproof-r/cgroup.controllers", "cpu memory\n"),
        ])
    }

    #[test]
    fn with_version_two_one_group_keeps_memory_and_accounts() {
        let tree = version_two();
        let groups = RunGroups::make(tree.root(), "r");
        assert!(groups.keeps_memory() && groups.missing().is_empty(), "{:?}", groups.missing());
        let launch = groups.launch("launch.3", Some(1 << 20)).unwrap();
        launch.take(4711).unwrap();
        let directory = tree.root().path("/sys/fs/cgroup/mine/ioproof-r/launch.3");
        let read = |file: &str| fs::read_to_string(directory.join(file)).unwrap();
        assert_eq!((read("memory.max"), read("cgroup.procs")), ("1048576".to_owned(), "4711".to_owned()));
        assert_eq!((launch.cpu_ns(), launch.killed_for_memory()), (None, 0));
        fs::write(directory.join("cpu.stat"), "usage_usec 12\nuser_usec 7\n").unwrap();
        fs::write(directory.join("memory.events"), "oom 3\noom_kill 2\noom_group_kill 0\n").unwrap();
        assert_eq!((launch.cpu_ns(), launch.killed_for_memory()), (Some(12_000), 2));
    }

    #[test]
    fn with_version_one_each_controller_has_a_group() {
        let tree = Tree::new(&[
            ("/proc/self/cgroup", "4:memory:/box\n2:cpuacct:/\n"),
            (
                "/proc/self/mountinfo",
                "30 1 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                 31 1 0:27 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n",
            ),
            ("/sys/fs/cgroup/memory/box/cgroup.procs", ""),
            ("/sys/fs/cgroup/cpuacct/cgroup.procs", ""),
        ]);
        let groups = RunGroups::make(tree.root(), "r");
        let launch = groups.launch("launch.0", Some(4096)).unwrap();
        let (memory, account) = (
            tree.root().path("/sys/fs/cgroup/memory/box/ioproof-r/launch.0"),
            tree.root().path("/sys/fs/cgroup/cpuacct/ioproof-r/launch.0"),
        );
        assert_eq!(fs::read_to_string(memory.join("memory.limit_in_bytes")).unwrap(), "4096");
        fs::write(account.join("cpuacct.usage"), "99\n").unwrap();
        fs::write(memory.join("memory.oom_control"), "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n")
            .unwrap();
        assert_eq!((launch.cpu_ns(), launch.killed_for_memory()), (Some(99), 1));
    }

    #[test]
    fn a_host_without_control_groups_says_so_and_goes_on() {
        let tree = Tree::new(&[("/proc/self/mountinfo", "30 1 0:26 / / rw - ext4 /dev/sda rw\n")]);
        let groups = RunGroups::make(tree.root(), "r");
        assert!(!groups.keeps_memory());
        assert_eq!(groups.missing().len(), 2, "{:?}", groups.missing());
        let launch = groups.launch("launch.0", Some(4096)).unwrap();
        launch.take(4711).unwrap();
        assert_eq!((launch.cpu_ns(), launch.killed_for_memory()), (None, 0));
        launch.remove().unwrap();
    }

    /// What a killed run leaves: a group with a process in it.
    #[test]
    fn groups_of_a_killed_run_are_found_by_its_name_and_removed() {
        let root = Root::default();
        let run = format!("test-{}", std::process::id());
        let groups = RunGroups::make(&root, &run);
        if !groups.keeps_memory() {
            println!("skipped: {}", groups.missing().join("; "));
            return;
        }
        let launch = groups.launch("launch.0", Some(64 << 20)).unwrap();
        let mut process = Command::new("sleep").arg("1000").spawn().unwrap();
        launch.take(process.id()).unwrap();
        let directory = launch.memory.as_ref().unwrap().directory.clone();
        drop((launch, groups));
        assert!(directory.is_dir());
        assert!(RunGroups::remove_left(&root, &run).unwrap() >= 1);
        assert!(!directory.exists() && !process.wait().unwrap().success());
        assert_eq!(RunGroups::remove_left(&root, &run).unwrap(), 0);
    }
}
