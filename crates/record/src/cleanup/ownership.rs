//! Claims: a run records what it will create on a target before creating the first file, so that a later run
//! finds what a killed one left behind.
//!
//! A claim names files relative to its own directory, and only names below it count: a forged claim cannot
//! point anywhere else.
//!
//! Of a run in several processes one process claims a directory that all reach, and one on each node
//! claims those that only that node has. A claim's name has the run and the node in it.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use std::time::Duration;

use plan::Keep;
use plan::limits::{CLAIM_BYTES, MANIFEST_BYTES};
use serde::{Deserialize, Serialize};

use crate::RecordError;
use crate::cleanup::sweep::{SweepResult, first_named, sweep_names, sweep_tree};
use crate::events::journal::JournalReader;
use crate::events::recorder::now_unix_ns;
use crate::files::directory;
use crate::files::replacement::{remove_if_there, replace};
use crate::format::MANIFEST;

/// Leading part of a claim's name.
const PREFIX: &str = ".ioproof-claim-";
/// Trailing part of a claim's name.
const SUFFIX: &str = ".json";

/// A file or directory that a run will create.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimedFile {
    /// Below the directory of the claim.
    pub path: PathBuf,
    /// It existed before the run, which therefore must not remove it.
    pub existed: bool,
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
        };
        Self { trees: trees.iter().map(tree).collect(), ..self }
    }

    /// Writes a claim into each of `targets` (directories that exist): on those of `files`, of
    /// the `directories` that the run makes for them, and of the trees, that lie below it. What exists
    /// now is noted and will never be removed.
    ///
    /// The claims are not forced to stable storage: they must outlive the process, which a file
    /// in memory does.
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
            let claim = Self {
                files: below(target, files),
                directories: below(target, directories),
                trees: trees_below(target, &self.trees),
                placed_unix_ns: Some(now_unix_ns()),
                ..self.clone()
            };
            let path = target.join(claim.file_name());
            // Only names and numbers, which always become JSON, and paths, which do if they are UTF-8.
            let written = serde_json::to_vec(&claim)
                .map_err(|error| RecordError::Unreadable {
                    path: path.clone(),
                    message: format!("the claim cannot be written down: {error}; use paths in UTF-8"),
                })
                .and_then(|text| replace(target, &claim.file_name(), &text, false));
            if let Err(mut error) = written {
                // The user named the directory but does not know the file.
                if let RecordError::Io { action, path, .. } = &mut error {
                    (*action, *path) = ("make files in", target.clone());
                }
                // The first error is the one to show.
                let _ = placed.withdraw();
                return Err(error);
            }
            placed.paths.push(path);
        }
        Ok(placed)
    }

    fn file_name(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        let plain = |text: &str| text.chars().map(plain).collect::<String>();
        format!("{PREFIX}{}@{}{SUFFIX}", plain(&self.run_id), plain(&self.node))
    }

    /// Whether the run is still in progress, as far as can be seen from here. A process is checked on its own
    /// node; for another node only the record is trusted.
    fn holder(&self) -> Holder {
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

/// The paths of `paths` that lie below `directory`, and whether they exist.
fn below(directory: &Path, paths: &[PathBuf]) -> Vec<ClaimedFile> {
    let claimed = |path: &PathBuf| {
        let relative = path.strip_prefix(directory).ok().filter(|relative| is_below(relative))?;
        let existed = fs::symlink_metadata(path).is_ok();
        Some(ClaimedFile { path: relative.to_path_buf(), existed })
    };
    paths.iter().filter_map(claimed).collect()
}

/// The same of trees; `directory` itself may be one whose items stand beside other things.
fn trees_below(directory: &Path, trees: &[ClaimedTree]) -> Vec<ClaimedTree> {
    let claimed = |tree: &ClaimedTree| {
        let relative = tree.path.strip_prefix(directory).ok()?;
        let path = may_be_tree(relative, tree.names_only).then(|| relative.to_path_buf())?;
        Some(ClaimedTree { path, ..tree.clone() })
    };
    trees.iter().filter_map(claimed).collect()
}

/// Whether a claim may cover a tree at `relative`.
fn may_be_tree(relative: &Path, names_only: bool) -> bool {
    is_below(relative) || (names_only && relative.as_os_str().is_empty())
}

/// Whether `path` cannot lead out of the directory that it is joined to.
fn is_below(path: &Path) -> bool {
    path.components().next().is_some() && path.components().all(|part| matches!(part, Component::Normal(_)))
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
            result = result.and(remove_if_there(path));
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

/// A file that a run left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftoverFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
}

/// A tree that a run left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftoverTree {
    /// Its root.
    pub root: PathBuf,
    /// Only entries with the program's names in the root belong to the run; the root stays.
    pub names_only: bool,
    /// The user of the claim: nothing of others is removed.
    owner: u32,
}

impl LeftoverTree {
    fn sweep(&self) -> Result<SweepResult, RecordError> {
        match self.names_only {
            true => sweep_names(&self.root, Some(self.owner)),
            false => sweep_tree(&self.root, Some(self.owner)),
        }
    }
}

/// What a run left below one directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// The claim.
    pub claim: Claim,
    /// Where it stands.
    pub claim_path: PathBuf,
    /// Whether the run goes on.
    pub holder: Holder,
    /// Files that the run made and that are still there.
    pub files: Vec<LeftoverFile>,
    /// Trees that the run made and that are still there.
    pub trees: Vec<LeftoverTree>,
}

/// The claims in `directory`, each with what is left of its files. A file with the name but not the content
/// of a claim is left alone.
///
/// # Errors
/// The directory cannot be read.
pub fn leftovers(directory: &Path) -> Result<Vec<Leftover>, RecordError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).map_err(RecordError::io("read", directory))? {
        let entry = entry.map_err(RecordError::io("read", directory))?;
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX))
            && let Some((claim, owner)) = read_claim(&entry.path())
        {
            found.push((entry.path(), claim, owner));
        }
    }
    found.sort_by(|(a, ..), (b, ..)| a.cmp(b));
    let holders: Vec<Holder> = found.iter().map(|(_, claim, _)| claim.holder()).collect();
    let going_on = || {
        let all = found.iter().zip(&holders).filter(|(_, holder)| **holder != Holder::Gone);
        all.map(|((_, claim, _), _)| claim)
    };
    let in_use: BTreeSet<PathBuf> =
        going_on().flat_map(|claim| claim.files.iter().map(|file| file.path.clone())).collect();
    let trees_in_use: BTreeSet<PathBuf> =
        going_on().flat_map(|claim| claim.trees.iter().map(|tree| tree.path.clone())).collect();
    let leftover = |((claim_path, claim, owner), holder): ((PathBuf, Claim, u32), Holder)| {
        let files = claim
            .files
            .iter()
            .filter(|file| !file.existed && (holder != Holder::Gone || !in_use.contains(&file.path)))
            .filter_map(|file| left_file(directory, &file.path, owner))
            .collect();
        let trees = claim
            .trees
            .iter()
            .filter(|tree| holder != Holder::Gone || !trees_in_use.contains(&tree.path))
            .filter_map(|tree| left_tree(directory, tree, owner))
            .collect();
        Leftover { claim, claim_path, holder, files, trees }
    };
    Ok(found.into_iter().zip(holders).map(leftover).collect())
}

/// The claim at `path` and the user that owns it.
fn read_claim(path: &Path) -> Option<(Claim, u32)> {
    let text = directory::read(path.parent()?, path, CLAIM_BYTES).ok()?;
    let claim = serde_json::from_slice(&text).ok()?;
    Some((claim, fs::symlink_metadata(path).ok()?.uid()))
}

/// The file `relative` below `directory`, if the claim may cover it: a regular file of the claim's owner,
/// reached through real directories only.
fn left_file(directory: &Path, relative: &Path, owner: u32) -> Option<LeftoverFile> {
    if !is_below(relative) || !reached_without_links(directory, relative) {
        return None;
    }
    let path = directory.join(relative);
    let metadata = fs::symlink_metadata(&path).ok()?;
    (metadata.is_file() && metadata.uid() == owner).then_some(LeftoverFile { path, bytes: metadata.len() })
}

/// What is left of `tree` below `directory`, if the claim may cover it: a real directory of the claim's
/// owner, or entries with the program's names in one.
fn left_tree(directory: &Path, tree: &ClaimedTree, owner: u32) -> Option<LeftoverTree> {
    let ClaimedTree { path, existed, names_only } = tree;
    if !may_be_tree(path, *names_only) || !reached_without_links(directory, path) {
        return None;
    }
    let root = if path.as_os_str().is_empty() { directory.to_owned() } else { directory.join(path) };
    let metadata = fs::symlink_metadata(&root).ok().filter(fs::Metadata::is_dir)?;
    let is_left = match names_only {
        true => first_named(&root).is_ok_and(|found| found.is_some()),
        false => !existed && metadata.uid() == owner,
    };
    is_left.then_some(LeftoverTree { root, names_only: *names_only, owner })
}

/// Whether every directory between `directory` and `relative` is one, and no link to one.
fn reached_without_links(directory: &Path, relative: &Path) -> bool {
    relative
        .ancestors()
        .skip(1)
        .filter(|part| !part.as_os_str().is_empty())
        .all(|part| fs::symlink_metadata(directory.join(part)).is_ok_and(|metadata| metadata.is_dir()))
}

impl Leftover {
    /// Bytes of the files that are left.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// How long ago its run began.
    #[must_use]
    pub fn age(&self) -> Duration {
        let age_ns = now_unix_ns().saturating_sub(self.claim.started_unix_ns);
        Duration::from_nanos(u64::try_from(age_ns).unwrap_or_default())
    }

    /// Removes the files, the trees, the run's own directories if empty, and the claim. Files that existed
    /// before the run, links and files of other users stay; so do foreign entries in a tree, which are
    /// reported.
    ///
    /// # Errors
    /// The run is in progress or was made on another node, or a file cannot be removed; the claim then stays,
    /// so that the rest can be removed later.
    pub fn remove(&self) -> Result<SweepResult, RecordError> {
        self.remove_unless(|holder| holder != Holder::Gone)
    }

    /// Like [`Leftover::remove`], also for another node. For a user who confirmed that the run is over, and
    /// for the next start of that run itself.
    ///
    /// # Errors
    /// The run can be seen to go on, or a file cannot be removed; the claim then stays.
    pub fn remove_unseen(&self) -> Result<SweepResult, RecordError> {
        self.remove_unless(|holder| holder == Holder::Alive)
    }

    /// Removes the trees alone.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub fn remove_trees(&self) -> Result<SweepResult, RecordError> {
        let mut sweep = SweepResult::default();
        for tree in &self.trees {
            sweep.add(tree.sweep()?);
        }
        Ok(sweep)
    }

    fn remove_unless(&self, refused: fn(Holder) -> bool) -> Result<SweepResult, RecordError> {
        let directory = self.claim_path.parent().unwrap_or(Path::new("."));
        let holder = self.claim.holder();
        if refused(holder) {
            return Err(RecordError::StillRunning {
                path: directory.to_path_buf(),
                run_id: self.claim.run_id.clone(),
                state: match holder {
                    Holder::Elsewhere => "may still be going on",
                    Holder::Alive | Holder::Gone => "is still going on",
                },
                pid: self.claim.pid,
                node: self.claim.node.clone(),
            });
        }
        for file in &self.files {
            if let Err(error) = fs::remove_file(&file.path)
                && error.kind() != io::ErrorKind::NotFound
            {
                return Err(RecordError::io("remove", &file.path)(error));
            }
        }
        let sweep = self.remove_trees()?;
        let mut made: Vec<&PathBuf> = self
            .claim
            .directories
            .iter()
            .filter(|made| {
                !made.existed && is_below(&made.path) && reached_without_links(directory, &made.path)
            })
            .map(|made| &made.path)
            .collect();
        // Inner directories first; one that is not empty, or a link, is refused by the kernel and stays.
        made.sort_by_key(|path| std::cmp::Reverse(path.components().count()));
        for path in made {
            let _ = fs::remove_dir(directory.join(path));
        }
        fs::remove_file(&self.claim_path).map_err(RecordError::io("remove", &self.claim_path))?;
        Ok(sweep)
    }
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

/// Which numbers of processes this one sees, as in `pid:[4026531836]`; none where the kernel does not say.
fn pid_namespace() -> Option<PathBuf> {
    fs::read_link("/proc/self/ns/pid").ok()
}

fn kernel_word(path: &str) -> Result<String, RecordError> {
    let text = fs::read_to_string(path).map_err(RecordError::io("read", Path::new(path)))?;
    Ok(text.trim().to_owned())
}
