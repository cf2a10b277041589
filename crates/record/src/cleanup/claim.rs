//! Claims: before it creates the first file, a run records what it will create on a target, so that a later
//! run can find what a killed one has left.
//!
//! A claim names files relative to its own directory. Only names below this directory count, so a forged
//! claim cannot refer to any other place.
//!
//! If a run has several processes, one process claims the directories that all can reach, and one on each
//! node claims those that only that node has. The name of a claim contains the run and the node.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, UNIX_EPOCH};

use plan::Keep;
use plan::limits::MANIFEST_BYTES;
use serde::{Deserialize, Serialize};

use crate::RecordError;
use crate::cleanup::names::{claim_name, remove_temporary_files};
use crate::events::journal::JournalReader;
use crate::events::recorder::now_unix_ns;
use crate::files::directory::{self, RunDirectory};
use crate::files::replacement::{remove_if_there, replace};
use crate::format::MANIFEST;

/// A file or directory that a run will create.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimedFile {
    /// Its path below the directory of the claim.
    pub path: PathBuf,
    /// Whether it existed before the run, which therefore must not remove it.
    pub existed: bool,
    /// The identity of what existed before, if the file system reports it and the run was to replace it
    /// by its own file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<FileIdentity>,
    /// Whether it is kept when the run ends, as requested by the user.
    #[serde(default)]
    pub kept: bool,
}

/// Distinguishes a file from one that has the same name later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileIdentity {
    /// Its inode.
    pub inode: u64,
    /// Its creation time, nanoseconds since 1970-01-01 UTC. Needed because inode numbers are soon reused.
    pub born_unix_ns: i64,
}

impl FileIdentity {
    fn of(metadata: &fs::Metadata) -> Option<Self> {
        let born = metadata.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Self { inode: metadata.ino(), born_unix_ns: i64::try_from(born.as_nanos()).ok()? })
    }
}

impl ClaimedFile {
    /// Creates the claim on `path` from its present state. `relative` is its path below the directory of
    /// the claim.
    fn now(path: &Path, relative: &Path, fates: &FileFates) -> Self {
        let metadata = fs::symlink_metadata(path).ok();
        let replaced = metadata.as_ref().filter(|_| fates.replaced.contains(path));
        let identity = replaced.and_then(FileIdentity::of);
        let kept = fates.kept.contains(path);
        Self { path: relative.to_path_buf(), existed: metadata.is_some(), identity, kept }
    }

    /// Whether the run has created what is there now, according to `metadata`.
    pub(super) fn is_made(&self, metadata: &fs::Metadata) -> bool {
        let replaced = || self.identity.is_some_and(|then| FileIdentity::of(metadata) != Some(then));
        !self.existed || replaced()
    }
}

/// A tree that a run will create. It is removed by the names that [`plan::entry_type`] knows, not by a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimedTree {
    /// The path of its root below the directory of the claim; empty for that directory itself.
    pub path: PathBuf,
    /// Whether the root existed before the run, which therefore must not remove it.
    pub existed: bool,
    /// Whether the root also contains other entries. In that case only the tree's items belong to the
    /// run.
    #[serde(default)]
    pub names_only: bool,
    /// Whether it is kept when the run ends, as requested by the user.
    #[serde(default)]
    pub kept: bool,
}

/// What will happen to the files and trees of a claim, by their absolute paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileFates {
    /// Files and trees that are kept when the run ends. The claim only prevents other runs from using
    /// them meanwhile.
    pub kept: BTreeSet<PathBuf>,
    /// Files and trees that the run removes, if they exist, and replaces by its own.
    pub replaced: BTreeSet<PathBuf>,
}

/// What a run creates below a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetClaim {
    /// [`crate::Manifest::run_id`].
    pub run_id: String,
    /// The directory of the run's record.
    pub run_directory: PathBuf,
    /// Wall clock at the start of the run, nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: i64,
    /// The process number of the run.
    pub pid: u32,
    /// Start time of that process in clock ticks since boot (`/proc/PID/stat`, field 22). It
    /// distinguishes the process from a later one with the same number.
    pub process_start_ticks: u64,
    /// The node it runs on, as named by the run.
    pub node: String,
    /// The kernel's name of that node (`/proc/sys/kernel/hostname`). Empty in claims of earlier programs,
    /// in which [`TargetClaim::node`] contains it.
    #[serde(default)]
    pub host: String,
    /// Content of `/proc/sys/kernel/random/boot_id` on that node.
    pub boot_id: String,
    /// Target of `/proc/self/ns/pid` of that process: the namespace in which its number is valid.
    #[serde(default)]
    pub pid_namespace: Option<PathBuf>,
    /// Wall clock when the claim was written, nanoseconds since 1970-01-01 UTC.
    #[serde(default)]
    pub placed_unix_ns: Option<i64>,
    /// What the user wants to keep.
    pub keep: Keep,
    /// The files.
    pub files: Vec<ClaimedFile>,
    /// Directories that the run creates for its files.
    pub directories: Vec<ClaimedFile>,
    /// Number of directories that the run has created for the claim: the one that contains it and those above it. They
    /// are removed after the claim if they are empty.
    #[serde(default)]
    pub levels_made: u32,
    /// The trees.
    #[serde(default)]
    pub trees: Vec<ClaimedTree>,
    /// What will happen to the files and trees, for [`TargetClaim::place`].
    #[serde(skip)]
    pub fates: Arc<FileFates>,
}

impl TargetClaim {
    /// Creates an empty claim of this process, which runs on the node that the run calls `node`.
    ///
    /// # Errors
    /// Errors if `/proc` cannot be read.
    pub fn new(
        run_id: &str,
        run_directory: &Path,
        started_unix_ns: i64,
        keep: Keep,
        node: &str,
    ) -> Result<Self, RecordError> {
        let pid = std::process::id();
        let stat = PathBuf::from(format!("/proc/{pid}/stat"));
        let start = start_ticks(pid).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound));
        Ok(Self {
            run_id: run_id.to_owned(),
            run_directory: run_directory.to_path_buf(),
            started_unix_ns,
            pid,
            process_start_ticks: start.map_err(RecordError::io("read", &stat))?,
            node: node.to_owned(),
            host: kernel_word(HOST)?,
            boot_id: kernel_word(BOOT)?,
            pid_namespace: pid_namespace(),
            placed_unix_ns: None,
            keep,
            files: Vec::new(),
            directories: Vec::new(),
            levels_made: 0,
            trees: Vec::new(),
            fates: Arc::default(),
        })
    }

    /// Adds `trees` that the run will create. Each has its root, and whether the items are in an existing
    /// directory together with other entries.
    #[must_use]
    pub fn with_trees(self, trees: &[(PathBuf, bool)]) -> Self {
        let tree = |(path, names_only): &(PathBuf, bool)| ClaimedTree {
            path: path.clone(),
            existed: fs::symlink_metadata(path).is_ok(),
            names_only: *names_only,
            kept: false,
        };
        Self { trees: trees.iter().map(tree).collect(), ..self }
    }

    /// Writes a claim to each of `targets` (existing directories). It covers the `files`, the
    /// `directories` that the run creates for them, and the trees that are below the target. Whatever
    /// exists now is recorded and will never be removed.
    ///
    /// The claims are on stable storage when this returns: files may only be created once their owner can be
    /// determined even after a loss of power or of the device.
    ///
    /// # Errors
    /// Errors if a target cannot be written. Claims that were already written are then removed.
    pub fn place(
        &self,
        targets: &[PathBuf],
        files: &[PathBuf],
        directories: &[PathBuf],
    ) -> Result<PlacedClaim, RecordError> {
        let mut placed = PlacedClaim { paths: Vec::new() };
        let unique: BTreeSet<&PathBuf> = targets.iter().collect();
        for target in unique {
            remove_temporary_files(target);
            let claim = Self {
                files: below(target, files, &self.fates),
                directories: below(target, directories, &FileFates::default()),
                trees: trees_below(target, &self.trees, &self.fates.kept),
                placed_unix_ns: Some(now_unix_ns()),
                ..self.clone()
            };
            let path = target.join(claim.file_name());
            // The file may exist even if a later step fails.
            placed.paths.push(path.clone());
            // It contains only names and numbers, which can always be converted to JSON, and paths, which
            // can if they are UTF-8.
            let written = serde_json::to_vec(&claim)
                .map_err(|error| RecordError::Unreadable {
                    path: path.clone(),
                    message: format!("the claim cannot be encoded: {error}; use paths in UTF-8"),
                })
                .and_then(|text| replace(&target.into(), &claim.file_name(), &text, true));
            if let Err(mut error) = written {
                // The error names the directory, because the user named it and does not know the file.
                if let RecordError::Io { source, .. } = error {
                    error = RecordError::target("create files in", target)(source);
                }
                // The first error is the one that is reported.
                let _ = placed.withdraw();
                return Err(error);
            }
        }
        Ok(placed)
    }

    /// Writes the claim at `path` again, with this process as its holder.
    pub(super) fn held_here(&self, path: &Path) -> Result<PlacedClaim, RecordError> {
        let own = Self::new(&self.run_id, &self.run_directory, self.started_unix_ns, self.keep, &self.node)?;
        let claim = Self {
            placed_unix_ns: self.placed_unix_ns,
            files: self.files.clone(),
            directories: self.directories.clone(),
            levels_made: self.levels_made,
            trees: self.trees.clone(),
            ..own
        };
        let directory = path.parent().unwrap_or(Path::new("."));
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let text = serde_json::to_vec(&claim).map_err(|error| RecordError::Unreadable {
            path: path.to_owned(),
            message: format!("the claim cannot be encoded: {error}; use paths in UTF-8"),
        })?;
        replace(&directory.into(), &name, &text, true)?;
        Ok(PlacedClaim { paths: vec![path.to_owned()] })
    }

    /// When the claim was written. For claims of earlier programs, when the run began.
    #[must_use]
    pub fn placed(&self) -> i64 {
        self.placed_unix_ns.unwrap_or(self.started_unix_ns)
    }

    fn file_name(&self) -> String {
        claim_name(&self.run_id, &self.node)
    }

    /// Whether the run is still in progress, as far as this can be determined here. A process is only checked
    /// on its own node; for another node only the record is trusted.
    pub(super) fn holder(&self) -> Holder {
        let is = |path, word: &String| kernel_word(path).is_ok_and(|here| here == *word);
        let namespaces = self.pid_namespace.as_ref().zip(pid_namespace());
        if is(BOOT, &self.boot_id) && namespaces.is_none_or(|(its, own)| *its == own) {
            return match start_ticks(self.pid) == Some(self.process_start_ticks) {
                true => Holder::Alive,
                false => Holder::Gone,
            };
        }
        if let Some(holder) = self.holder_by_record() {
            return holder;
        }
        let host = if self.host.is_empty() { &self.node } else { &self.host };
        match !is(BOOT, &self.boot_id) && is(HOST, host) {
            true => Holder::Gone,
            false => Holder::Elsewhere,
        }
    }

    /// What the run's record shows, if it can be reached: either the lock of its writer, or an end after the
    /// claim. A missing lock proves nothing, because not every file system supports locks between nodes.
    fn holder_by_record(&self) -> Option<Holder> {
        /// The only part of a manifest that is needed here.
        #[derive(Deserialize)]
        struct Head {
            run_id: String,
            finished_unix_ns: Option<i64>,
        }
        // The author of the claim controls this path, so it is not trusted.
        let directory = &RunDirectory::from(&self.run_directory);
        let manifest = directory::read(directory, &directory.join(MANIFEST), MANIFEST_BYTES).ok()?;
        let journal = JournalReader::open(directory).ok()?;
        let head: Head = serde_json::from_slice(&manifest).ok()?;
        if head.run_id != self.run_id {
            return None;
        }
        if journal.is_held() {
            return Some(Holder::Alive);
        }
        let ended_after =
            head.finished_unix_ns.zip(self.placed_unix_ns).is_some_and(|(end, placed)| end >= placed);
        ended_after.then_some(Holder::Gone)
    }
}

/// Those of `paths` that are below `directory`, each with its present state and what will happen to it.
fn below(directory: &Path, paths: &[PathBuf], fates: &FileFates) -> Vec<ClaimedFile> {
    let claimed = |path: &PathBuf| {
        let relative = path.strip_prefix(directory).ok().filter(|relative| is_below(relative))?;
        Some(ClaimedFile::now(path, relative, fates))
    };
    paths.iter().filter_map(claimed).collect()
}

/// Like `below`, for trees. `directory` itself may be the root of a tree whose items are next to other
/// entries.
fn trees_below(directory: &Path, trees: &[ClaimedTree], kept: &BTreeSet<PathBuf>) -> Vec<ClaimedTree> {
    let claimed = |tree: &ClaimedTree| {
        let relative = tree.path.strip_prefix(directory).ok()?;
        let path = may_be_tree(relative, tree.names_only).then(|| relative.to_path_buf())?;
        Some(ClaimedTree { path, kept: kept.contains(&tree.path), ..tree.clone() })
    };
    trees.iter().filter_map(claimed).collect()
}

/// Whether a claim may cover a tree at `relative`.
pub(super) fn may_be_tree(relative: &Path, names_only: bool) -> bool {
    is_below(relative) || (names_only && relative.as_os_str().is_empty())
}

/// Whether `path` stays below the directory that it is joined to.
pub(super) fn is_below(path: &Path) -> bool {
    path.components().next().is_some() && path.components().all(|part| matches!(part, Component::Normal(_)))
}

/// How long a run waits for other runs that are writing claims, which takes each of them milliseconds. A lock that
/// is held for longer has a different purpose.
const TURN_WAIT_MAX: Duration = Duration::from_secs(5);
/// Interval between two attempts to get the lock.
const TURN_RETRY: Duration = Duration::from_millis(5);

/// The exclusive right to write claims in some directories and to look for those of others. If two runs start
/// together, the first one that gets it continues. On a file system without locks for directories, both may be
/// rejected.
#[derive(Debug)]
#[must_use = "the turn ends when it is dropped"]
pub struct ClaimTurn {
    _locks: Vec<File>,
}

impl ClaimTurn {
    /// Waits for the exclusive right to `directories`.
    pub fn take(directories: &[PathBuf]) -> Self {
        let until = Instant::now() + TURN_WAIT_MAX;
        let identified = |directory: &PathBuf| {
            let file = File::open(directory).ok()?;
            let metadata = file.metadata().ok()?;
            Some(((metadata.dev(), metadata.ino()), file))
        };
        // Locks each directory once, even if it has several paths, and in a fixed order, so that two runs
        // cannot wait for each other.
        let unique: BTreeMap<(u64, u64), File> = directories.iter().filter_map(identified).collect();
        let lock = |file: File| {
            while let Err(TryLockError::WouldBlock) = file.try_lock() {
                if Instant::now() >= until {
                    return None;
                }
                std::thread::sleep(TURN_RETRY);
            }
            Some(file)
        };
        Self { _locks: unique.into_values().filter_map(lock).collect() }
    }
}

/// The claims on the targets of a run in progress. They remain if this value is dropped.
#[derive(Debug)]
#[must_use = "withdraw it when the files are gone"]
pub struct PlacedClaim {
    paths: Vec<PathBuf>,
}

impl PlacedClaim {
    /// Removes the claims. Call this after the run has removed its files or has deliberately kept them.
    ///
    /// # Errors
    /// Errors if a claim cannot be removed; the others are removed.
    pub fn withdraw(self) -> Result<(), RecordError> {
        let mut result = Ok(());
        for path in &self.paths {
            result = result.and(remove_if_there(path).map_err(|error| match error {
                RecordError::Io { action, path, source } => RecordError::Target { action, path, source },
                other => other,
            }));
        }
        result
    }
}

/// Whether the run of a claim is still in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// Its process is running on this node, or the record of its run is locked by some process.
    Alive,
    /// Its process or its run has ended, or the node has been rebooted since.
    Gone,
    /// The claim is from another node (or another container), so this cannot be checked here. Other runs do
    /// not touch its files; a user may declare them to be left over.
    Elsewhere,
}

/// Returns field 22 of `/proc/PID/stat`. Returns `None` if there is no such process, or if it has ended
/// and only waits to be reaped (state `Z` or `X`), possibly for ever. The second field, the name, may
/// contain any characters, so fields are counted from its closing parenthesis.
fn start_ticks(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X" | "x") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

/// The file with the kernel's name of this node.
const HOST: &str = "/proc/sys/kernel/hostname";
/// The file whose content changes with each boot.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// The namespace of process numbers, for example `pid:[4026531836]`, or `None` if the kernel does not
/// report it.
fn pid_namespace() -> Option<PathBuf> {
    fs::read_link("/proc/self/ns/pid").ok()
}

fn kernel_word(path: &str) -> Result<String, RecordError> {
    let text = fs::read_to_string(path).map_err(RecordError::io("read", Path::new(path)))?;
    Ok(text.trim().to_owned())
}
