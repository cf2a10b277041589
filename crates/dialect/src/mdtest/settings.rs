//! The settings of a command line of mdtest, and which of them exclude each other.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::options::{Key, OPTIONS};
use super::release::Release;
use crate::ToolError;
use crate::ior_family::missing_library;
use crate::options::Given;

/// A larger number of iterations is taken for a typing error.
const ITERATIONS_MAX: u32 = 1_000_000;
/// A longer rest or deadline in seconds (three years) is taken for a typing error.
const SECONDS_MAX: u64 = 100_000_000;
/// mdtest's highest level of verbosity.
const VERBOSE_MAX: u32 = 5;
/// The directory that mdtest uses without `-d`.
const DIRECTORY: &str = "./out";

/// The selected phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct ChosenPhases {
    pub create: bool,
    pub stat: bool,
    pub read: bool,
    pub rename: bool,
    pub remove: bool,
}

impl ChosenPhases {
    const ALL: Self = Self { create: true, stat: true, read: true, rename: true, remove: true };
}

/// The settings of a command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Settings {
    pub api: String,
    pub directories: Vec<PathBuf>,
    pub branching: u32,
    pub depth: u32,
    pub leaf_only: bool,
    pub items: u64,
    pub items_per_directory: u64,
    pub own_trees: bool,
    pub shared: bool,
    pub collective: bool,
    pub make_node: bool,
    pub write_bytes: u64,
    pub read_bytes: u64,
    pub sync: bool,
    pub sync_all: bool,
    pub verify: bool,
    pub shift: u32,
    pub random: bool,
    pub seed: Option<u64>,
    pub chosen: ChosenPhases,
    pub files_only: bool,
    pub directories_only: bool,
    /// `--posix.odirect`: open files with `O_DIRECT`.
    pub direct: bool,
    pub iterations: u32,
    pub delay: u64,
    pub first: u32,
    pub last: u32,
    pub stride: u32,
    pub stonewall: u64,
    pub status_file: Option<PathBuf>,
    pub signature: i64,
    pub packet: char,
    pub verbose: u32,
    pub rate_and_time: bool,
    pub time: bool,
    pub rank_details: Option<PathBuf>,
    pub rank_statistics: bool,
}

/// Stored with a plan so that its output can be printed from the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Memo {
    pub release: Release,
    pub settings: Settings,
    /// Total number of tasks of all processes.
    pub tasks: u32,
    /// Number of nodes on which they run.
    pub nodes: u32,
    /// Which tasks are on the first node.
    pub map: String,
    /// Number of tasks of each case.
    pub counts: Vec<u32>,
    /// Number of items of one kind of each task.
    pub items: u64,
}

impl Default for Settings {
    /// mdtest's defaults, as its help prints them.
    fn default() -> Self {
        Self {
            api: "POSIX".to_owned(),
            directories: vec![PathBuf::from(DIRECTORY)],
            branching: 1,
            depth: 0,
            leaf_only: false,
            items: 0,
            items_per_directory: 0,
            own_trees: false,
            shared: false,
            collective: false,
            make_node: false,
            write_bytes: 0,
            read_bytes: 0,
            sync: false,
            sync_all: false,
            verify: false,
            shift: 0,
            random: false,
            seed: None,
            chosen: ChosenPhases::default(),
            files_only: false,
            directories_only: false,
            direct: false,
            iterations: 1,
            delay: 0,
            first: 1,
            last: 0,
            stride: 1,
            stonewall: 0,
            status_file: None,
            signature: -1,
            packet: 't',
            verbose: 0,
            rate_and_time: false,
            time: false,
            rank_details: None,
            rank_statistics: false,
        }
    }
}

impl Settings {
    /// Determines the settings from all options of a command line.
    ///
    /// # Errors
    /// Errors if a value cannot be parsed, or if options exclude each other.
    pub(super) fn of(given: &[Given<Key>]) -> Result<Self, ToolError> {
        let mut settings = Self::default();
        for option in given {
            settings.set(option)?;
        }
        if settings.chosen == ChosenPhases::default() {
            settings.chosen = ChosenPhases::ALL;
        }
        settings.check()?;
        Ok(settings)
    }

    fn set(&mut self, given: &Given<Key>) -> Result<(), ToolError> {
        match given.key {
            Key::Create => self.chosen.create = true,
            Key::Stat => self.chosen.stat = true,
            Key::Read => self.chosen.read = true,
            Key::Rename => self.chosen.rename = true,
            Key::Remove => self.chosen.remove = true,
            Key::FilesOnly => self.files_only = true,
            Key::DirectoriesOnly => self.directories_only = true,
            Key::Direct => self.direct = true,
            Key::LeafOnly => self.leaf_only = true,
            Key::OwnTrees => self.own_trees = true,
            Key::Shared => self.shared = true,
            Key::Collective => self.collective = true,
            Key::MakeNode => self.make_node = true,
            Key::Sync => self.sync = true,
            Key::SyncAll => self.sync_all = true,
            Key::VerifyRead => self.verify = true,
            Key::RateAndTime => self.rate_and_time = true,
            Key::Time => self.time = true,
            Key::RankStatistics => self.rank_statistics = true,
            Key::Verbose => self.verbose = (self.verbose + 1).min(VERBOSE_MAX),
            Key::Random => {
                self.random = true;
                if !given.values.is_empty() {
                    self.seed = Some(given.count(u64::MAX)?);
                }
            }
            _ => self.set_value(given)?,
        }
        Ok(())
    }

    fn set_value(&mut self, given: &Given<Key>) -> Result<(), ToolError> {
        match given.key {
            Key::Api => self.api = api(given)?,
            Key::Directory => self.directories = given.paths()?,
            Key::Branching => self.branching = given.count32(u32::MAX)?,
            Key::Depth => self.depth = given.count32(u32::MAX)?,
            Key::Items => self.items = given.count(u64::MAX)?,
            Key::ItemsPerDirectory => self.items_per_directory = given.count(u64::MAX)?,
            Key::WriteBytes => self.write_bytes = given.size()?,
            Key::ReadBytes => self.read_bytes = given.size()?,
            Key::Shift => self.shift = given.count32(u32::MAX)?,
            Key::RandomSeed => self.seed = Some(given.count(u64::MAX)?).filter(|&seed| seed > 0),
            Key::Iterations => self.iterations = given.count32(ITERATIONS_MAX)?,
            Key::Delay => self.delay = given.count(SECONDS_MAX)?,
            Key::First => self.first = given.count32(u32::MAX)?,
            Key::Last => self.last = given.count32(u32::MAX)?,
            Key::Stride => self.stride = given.count32(u32::MAX)?,
            Key::Stonewall => self.stonewall = given.count(SECONDS_MAX)?,
            Key::StatusFile => self.status_file = Some(given.path()?),
            Key::RankDetails => self.rank_details = Some(given.path()?),
            Key::Signature => self.signature = given.whole()?,
            Key::Verbosity => self.verbose = given.count32(u32::MAX)?.min(VERBOSE_MAX),
            Key::Packet => {
                self.packet = match given.text().chars().next() {
                    Some(letter @ ('o' | 'i' | 't' | 'r')) => letter,
                    _ => {
                        return Err(given.wrong(
                            "is not a packet type; give offset, incompressible, timestamp or random",
                        ));
                    }
                };
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether directories are items.
    pub(super) const fn has_directories(&self) -> bool {
        !self.shared && (self.directories_only || !self.files_only)
    }

    /// Whether files are items.
    pub(super) const fn has_files(&self) -> bool {
        self.files_only || !self.directories_only
    }

    /// Rejects combinations of options that mdtest also rejects, and command lines that measure nothing.
    fn check(&self) -> Result<(), ToolError> {
        let error = |written: &str, reason: &str| Err(OPTIONS.error(written, reason));
        let chosen = self.chosen;
        if self.iterations == 0 {
            return error("-i 0", "nothing would run: give a number of at least 1");
        }
        if self.stride == 0 {
            return error("-s 0", "the number of tasks would never increase: give a number of at least 1");
        }
        if self.branching == 0 && self.depth > 0 {
            return error(
                "-b 0",
                "a tree of several levels needs subdirectories: give -b 1 or more, or -z 0",
            );
        }
        if self.items > 0
            && self.items_per_directory > 0
            && !self.items.is_multiple_of(self.items_per_directory)
        {
            return error(
                &format!("-n {} -I {}", self.items, self.items_per_directory),
                "items must be a multiple of items per directory; give a multiple, or only one of the two",
            );
        }
        if self.shared && self.own_trees {
            return error("-S -u", "a shared file cannot be in a separate tree for each task; choose one");
        }
        if self.shared && self.directories_only && !self.files_only {
            return error("-S -D", "only files can be shared, and -D requests only directories; choose one");
        }
        if self.make_node && self.write_bytes > 0 {
            return error(
                "-k -w",
                "a file that mknod(2) creates is not open for writing; leave one of them out",
            );
        }
        if self.verify && self.read_bytes == 0 {
            return error("-X", "nothing is read that could be compared; add -e BYTES");
        }
        if chosen.create && chosen.read && self.has_files() && self.read_bytes > self.write_bytes {
            return error(
                &format!("-w {} -e {}", self.write_bytes, self.read_bytes),
                "a file cannot be read beyond what was written; give -e at most as large as -w",
            );
        }
        if self.directories.len() > 1 && !self.own_trees {
            return error(
                "-d with @",
                "a shared tree is in one directory; add -u, so that each task has its own tree",
            );
        }
        Ok(())
    }
}

fn api(given: &Given<Key>) -> Result<String, ToolError> {
    let name = given.text().to_ascii_uppercase();
    let reason = match name.as_str() {
        "POSIX" | "DUMMY" => return Ok(name),
        "AIO" | "MMAP" => "mdtest has no backend for it",
        _ => match missing_library(&name) {
            Some(reason) => reason,
            None => return Err(given.wrong("is not an API of mdtest; ioproof supports POSIX and DUMMY")),
        },
    };
    let next = "use -a POSIX on a mounted file system (DAOS: a dfuse mount)";
    Err(OPTIONS.error(&given.written, &format!("is refused: {reason}; {next}")))
}
