//! Claims: a run records what it will create on a target before creating the first file, so that a later run
//! finds what a killed one left behind.
//!
//! A claim names files relative to its own directory, and only names below it count: a forged claim cannot
//! point anywhere else.
//!
//! Of a run in several processes one process claims a directory that all reach, and one on each node
//! claims those that only that node has. A claim's name has the run and the node in it.

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
use crate::events::journal::JournalReader;
use crate::events::recorder::now_unix_ns;
use crate::files::directory;
use crate::files::replacement::{remove_if_there, replace, unfinished_parts};
use crate::format::MANIFEST;

/// Leading part of a claim's name.
pub(super) const PREFIX: &str = ".ioproof-claim-";
/// Trailing part of a claim's name.
pub(super) const SUFFIX: &str = ".json";

/// A file or directory that a run will create.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimedFile {
    /// Below the directory of the claim.
    pub path: PathBuf,
    /// It existed before the run, which therefore must not remove it.
    pub existed: bool,
    /// What existed then, if the file system tells and the run was to put its own file in the place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<FileIdentity>,
    /// It stays when the run ends, as the user asked.
    #[serde(default)]
    pub kept: bool,
}

/// What tells a file from one that took its name later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileIdentity {
    /// Its inode.
    pub inode: u64,
    /// When it was made, nanoseconds since 1970-01-01 UTC: an inode number is soon used again.
    pub born_unix_ns: i64,
}

impl FileIdentity {
    fn of(metadata: &fs::Metadata) -> Option<Self> {
        let born = metadata.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Self { inode: metadata.ino(), born_unix_ns: i64::try_from(born.as_nanos()).ok()? })
    }
}

impl ClaimedFile {
    /// The claim on `path`, which is `relative` to the directory of the claim.
    fn now(path: &Path, relative: &Path, fates: &FileFates) -> Self {
        let metadata = fs::symlink_metadata(path).ok();
        let replaced = metadata.as_ref().filter(|_| fates.replaced.contains(path));
        let identity = replaced.and_then(FileIdentity::of);
        let kept = fates.kept.contains(path);
        Self { path: relative.to_path_buf(), existed: metadata.is_some(), identity, kept }
    }

    /// Whether the run has made what is there now, as `metadata` tells.
    pub(super) fn is_made(&self, metadata: &fs::Metadata) -> bool {
        let replaced = || self.identity.is_some_and(|then| FileIdentity::of(metadata) != Some(then));
        !self.existed || replaced()
    }
}

/// A tree that a run will create: it is removed by the names that [`plan::entry_type`] knows, not by a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimedTree {
    /// Its root, below the directory of the claim; empty for that directory itself.
    pub path: PathBuf,
    /// The root existed before the run, which therefore must not remove it.
    pub existed: bool,
    /// Its items share the root with other entries: only they belong to the run.
    #[serde(default)]
    pub names_only: bool,
    /// It stays when the run ends, as the user asked.
    #[serde(default)]
    pub kept: bool,
}

/// What becomes of the files and trees of a claim, by their absolute paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileFates {
    /// They stay when the run ends: the claim only keeps other runs from using them meanwhile.
    pub kept: BTreeSet<PathBuf>,
    /// If they exist, the run removes them and makes its own.
    pub replaced: BTreeSet<PathBuf>,
}

/// What one run creates below one directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// [`crate::Manifest::run_id`].
    pub run_id: String,
    /// Where the run is recorded.
    pub run_directory: PathBuf,
    /// Wall clock at the start of the run, nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: i64,
    /// The process of the run.
    pub pid: u32,
    /// When that process started, in clock ticks since boot (`/proc/PID/stat`, field 22):
    /// another process that got the same number later has another start.
    pub process_start_ticks: u64,
    /// The node that it runs on, as the run calls it.
    pub node: String,
    /// The name that the kernel of that node has (`/proc/sys/kernel/hostname`); empty in claims of
    /// earlier programs, where [`Claim::node`] is that.
    #[serde(default)]
    pub host: String,
    /// `/proc/sys/kernel/random/boot_id` of that node.
    pub boot_id: String,
    /// `/proc/self/ns/pid` of that process: it can be looked up by its number only within this.
    #[serde(default)]
    pub pid_namespace: Option<PathBuf>,
    /// Wall clock when the claim was placed, nanoseconds since 1970-01-01 UTC.
    #[serde(default)]
    pub placed_unix_ns: Option<i64>,
    /// What the user asked to keep.
    pub keep: Keep,
    /// Files.
    pub files: Vec<ClaimedFile>,
    /// Directories that the run makes for its files.
    pub directories: Vec<ClaimedFile>,
    /// Trees.
    #[serde(default)]
    pub trees: Vec<ClaimedTree>,
    /// What becomes of the files and trees, for [`Claim::place`].
    #[serde(skip)]
    pub fates: Arc<FileFates>,
}

impl Claim {
    /// A claim of this process, which runs on what the run calls `node`, on nothing yet.
    ///
    /// # Errors
    /// `/proc` cannot be read.
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
            trees: Vec::new(),
            fates: Arc::default(),
        })
    }

    /// This claim with `trees` that the run will make, from the root on; of each, whether its items
    /// stand in a directory that exists, beside other things.
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

    /// Writes a claim into each of `targets` (directories that exist): on those of `files`, of
    /// the `directories` that the run makes for them, and of the trees, that lie below it. What exists
    /// now is noted and will never be removed.
    ///
    /// The claims are on stable storage afterwards: files are made only when whoever comes after a loss of power, or
    /// of the device, can tell whose they are.
    ///
    /// # Errors
    /// A target cannot be written. Claims that were placed before are withdrawn.
    pub fn place(
        &self,
        targets: &[PathBuf],
        files: &[PathBuf],
        directories: &[PathBuf],
    ) -> Result<PlacedClaim, RecordError> {
        let mut placed = PlacedClaim { paths: Vec::new() };
        let unique: BTreeSet<&PathBuf> = targets.iter().collect();
        for target in unique {
            remove_unfinished_claims(target);
            let claim = Self {
                files: below(target, files, &self.fates),
                directories: below(target, directories, &FileFates::default()),
                trees: trees_below(target, &self.trees, &self.fates.kept),
                placed_unix_ns: Some(now_unix_ns()),
                ..self.clone()
            };
            let path = target.join(claim.file_name());
            // It may be in place although something after that fails.
            placed.paths.push(path.clone());
            // Only names and numbers, which always become JSON, and paths, which do if they are UTF-8.
            let written = serde_json::to_vec(&claim)
                .map_err(|error| RecordError::Unreadable {
                    path: path.clone(),
                    message: format!("the claim cannot be written down: {error}; use paths in UTF-8"),
                })
                .and_then(|text| replace(target, &claim.file_name(), &text, true));
            if let Err(mut error) = written {
                // The user named the directory but does not know the file.
                if let RecordError::Io { source, .. } = error {
                    error = RecordError::target("make files in", target)(source);
                }
                // The first error is the one to show.
                let _ = placed.withdraw();
                return Err(error);
            }
        }
        Ok(placed)
    }

    /// When it was placed; in claims of earlier programs, when its run began.
    #[must_use]
    pub fn placed(&self) -> i64 {
        self.placed_unix_ns.unwrap_or(self.started_unix_ns)
    }

    fn file_name(&self) -> String {
        format!("{PREFIX}{}@{}{SUFFIX}", plain(&self.run_id), plain(&self.node))
    }

    /// Whether the run is still in progress, as far as can be seen from here. A process is checked on its own
    /// node; for another node only the record is trusted.
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

    /// What the record of the run shows, if reachable: the lock of its writer, or an end after the claim. An
    /// absent lock shows nothing: not every file system supports locks between nodes.
    fn holder_by_record(&self) -> Option<Holder> {
        /// All of a manifest that is of interest here.
        #[derive(Deserialize)]
        struct Head {
            run_id: String,
            finished_unix_ns: Option<i64>,
        }
        // The directory is chosen by the author of the claim.
        let directory = &self.run_directory;
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

/// The paths of `paths` that lie below `directory`, with what is there and becomes of it.
fn below(directory: &Path, paths: &[PathBuf], fates: &FileFates) -> Vec<ClaimedFile> {
    let claimed = |path: &PathBuf| {
        let relative = path.strip_prefix(directory).ok().filter(|relative| is_below(relative))?;
        Some(ClaimedFile::now(path, relative, fates))
    };
    paths.iter().filter_map(claimed).collect()
}

/// The same of trees; `directory` itself may be one whose items stand beside other things.
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

/// Whether `path` cannot lead out of the directory that it is joined to.
pub(super) fn is_below(path: &Path) -> bool {
    path.components().next().is_some() && path.components().all(|part| matches!(part, Component::Normal(_)))
}

/// How long a run waits for others that are placing claims: each takes milliseconds. A lock that is held for longer
/// has another purpose.
const TURN_WAIT_MAX: Duration = Duration::from_secs(5);
/// Interval at which it tries again.
const TURN_RETRY: Duration = Duration::from_millis(5);

/// The turn to place claims in some directories and to look for those of others: of two runs that start together
/// the first to have it goes on. Where a file system has no locks on directories both may be refused.
#[derive(Debug)]
#[must_use = "the turn ends when it is dropped"]
pub struct ClaimTurn {
    _locks: Vec<File>,
}

impl ClaimTurn {
    /// Waits for the turn in `directories`.
    pub fn take(directories: &[PathBuf]) -> Self {
        let until = Instant::now() + TURN_WAIT_MAX;
        let identified = |directory: &PathBuf| {
            let file = File::open(directory).ok()?;
            let metadata = file.metadata().ok()?;
            Some(((metadata.dev(), metadata.ino()), file))
        };
        // Each directory once, by whatever path, and in one order, so that two runs do not wait for each other.
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

/// Claims placed on the targets of a run in progress. Dropping it leaves them there.
#[derive(Debug)]
#[must_use = "withdraw it when the files are gone"]
pub struct PlacedClaim {
    paths: Vec<PathBuf>,
}

impl PlacedClaim {
    /// Removes the claims, after the run has cleaned up or kept its files on purpose.
    ///
    /// # Errors
    /// A claim cannot be removed; the others are.
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
    /// Its process is running on this node, or the record of its run is locked somewhere.
    Alive,
    /// Its process has ended, or its run, or the node was started anew since.
    Gone,
    /// It was made on another node (or in another container), which cannot be checked from here. Other runs
    /// leave its files alone; a user may declare them left over.
    Elsewhere,
}

/// Field 22 of `/proc/PID/stat`; none if there is no such process, or if it has ended and only waits
/// to be reaped (state `Z` or `X`), which it may do for ever. The second field, the name, may hold
/// anything, so fields are counted from its closing parenthesis.
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

/// The kernel's name of this node.
const HOST: &str = "/proc/sys/kernel/hostname";
/// Another one each time that the kernel starts.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// A part of a file's name that has nothing special in it.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect()
}

/// Removes the files in `directory` that processes of this user and host have left which ended while they wrote a
/// claim: they had made nothing else yet. Returns their number.
pub fn remove_unfinished_claims(directory: &Path) -> usize {
    let host = kernel_word(HOST).map(|host| plain(&host)).unwrap_or_default();
    let is_over = |name: &str| {
        let (claim, process) = unfinished_parts(name)?;
        let (_, node) = claim.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.rsplit_once('@')?;
        Some(node == host && !Path::new(&format!("/proc/{process}")).exists())
    };
    let is_ours = |entry: &fs::DirEntry| {
        let user = rustix::process::geteuid().as_raw();
        entry.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.uid() == user)
    };
    let left = fs::read_dir(directory).into_iter().flatten().flatten();
    left.filter(|entry| entry.file_name().to_str().and_then(is_over) == Some(true) && is_ours(entry))
        .filter(|entry| fs::remove_file(entry.path()).is_ok())
        .count()
}

/// Which numbers of processes this one sees, as in `pid:[4026531836]`; none where the kernel does not say.
fn pid_namespace() -> Option<PathBuf> {
    fs::read_link("/proc/self/ns/pid").ok()
}

fn kernel_word(path: &str) -> Result<String, RecordError> {
    let text = fs::read_to_string(path).map_err(RecordError::io("read", Path::new(path)))?;
    Ok(text.trim().to_owned())
}
