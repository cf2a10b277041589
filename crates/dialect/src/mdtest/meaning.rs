//! Explains the meaning of each option for the run, with resolved values.

use plan::{Bytes, Tree};

use super::case::Tasks;
use super::options::{Key, OPTIONS};
use super::release::Release;
use super::settings::Settings;
use crate::ToolError;

/// The warning that no status file was read.
const NO_STATUS: &str = "Could not read back the stonewalling status from the file!";
/// The name of the unit that mdtest 4 prints differs from the actual unit.
const SECONDS: &str = "mdtest 4 prints the seconds of the phase under `SUMMARY time (in ms/op)`, and so does \
                       ioproof; the record has the times of single operations";

/// The meaning of `key`, for `--explain`.
pub(super) fn explain(key: Key, settings: &Settings, tree: &Tree, tasks: &Tasks, release: Release) -> String {
    phases(key)
        .map(str::to_owned)
        .or_else(|| layout(key, settings, tree))
        .or_else(|| running(key, settings, tasks))
        .unwrap_or_else(|| printing(key, settings, tree, release))
}

fn both_units(bytes: u64) -> String {
    format!("{bytes} bytes = {}", Bytes(bytes).both_units())
}

fn phases(key: Key) -> Option<&'static str> {
    Some(match key {
        Key::Create => "creates the tree and its items; without -r they are kept for a later run",
        Key::Stat => "calls statx(2) on each item",
        Key::Read => "opens each file, reads -e bytes and closes it",
        Key::Rename => "renames each directory that is an item",
        Key::Remove => "removes the items and the tree",
        Key::FilesOnly => "items are files",
        Key::DirectoriesOnly => "items are directories",
        Key::Direct => "files are opened with O_DIRECT, past the page cache",
        Key::Shared => "all tasks use the same set of files, file.mdtest.shared.0 and so on",
        Key::Sync => "fsync(2) on each file after it is written, included in its time",
        Key::SyncAll => "sync(2) on every node at the end of each phase, included in its time",
        Key::VerifyRead => "the data read is compared with the data written, inside the timed phase",
        Key::MakeNode => "files are created by mknod(2), without being opened",
        Key::Collective => {
            "task 0 creates and removes the directories of all trees; each task creates its own items"
        }
        _ => return None,
    })
}

fn layout(key: Key, settings: &Settings, tree: &Tree) -> Option<String> {
    let (directories, (_, used)) = (tree.directories(), tree.used_directories());
    let each = tree.items_per_directory;
    Some(match key {
        Key::Directory => match settings.directories.len() {
            1 => format!("the trees are in {}", settings.directories[0].display()),
            count => format!("{count} directories; the tree of task t is in directory t mod {count}"),
        },
        Key::Items | Key::ItemsPerDirectory => format!(
            "{each} items per task in each of {used} directories: {} of each kind per task",
            tree.items_per_task()
        ),
        Key::Branching | Key::Depth => {
            format!("a tree of {directories} directories, {used} of which contain items")
        }
        Key::LeafOnly => format!("items are only in the {used} directories of the lowest level"),
        Key::OwnTrees => "each task has its own tree, mdtest_tree.TASK.0".to_owned(),
        Key::WriteBytes => format!("{} are written to each file", both_units(settings.write_bytes)),
        Key::ReadBytes if settings.read_bytes == 0 => {
            "files are opened and closed, without a read".to_owned()
        }
        Key::ReadBytes => format!("{} are read from each file", both_units(settings.read_bytes)),
        _ => return None,
    })
}

fn running(key: Key, settings: &Settings, tasks: &Tasks) -> Option<String> {
    let counts = || tasks.counts.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    Some(match key {
        Key::Api if settings.api == "DUMMY" => "no I/O: measures the overhead of the harness".to_owned(),
        Key::Api => "system calls on files and directories".to_owned(),
        Key::Shift => format!(
            "task t stats items of task t + {0}, reads those of t + 2 · {0}, removes those of t + 3 · {0}",
            settings.shift
        ),
        Key::Random | Key::RandomSeed => match settings.random {
            true => "items are accessed in a random order by stat, the same for the same seed".to_owned(),
            false => "no effect without -R".to_owned(),
        },
        Key::Iterations => format!("{} times, each time in its own tree", settings.iterations),
        Key::Delay => format!("a pause of {} seconds before each iteration", settings.delay),
        Key::First | Key::Last | Key::Stride if settings.last == 0 => {
            format!("no effect without -l: {} tasks", counts())
        }
        Key::First | Key::Last | Key::Stride => format!("a table for each number of tasks: {}", counts()),
        Key::Stonewall => format!(
            "after {} seconds, each task stops as soon as it has as many files as the fastest; later phases \
             use as many",
            settings.stonewall
        ),
        Key::StatusFile if settings.chosen.create && settings.stonewall > 0 => {
            "the number of files of each task is written to it".to_owned()
        }
        Key::StatusFile if settings.chosen.create => "no effect: there is no deadline (-W)".to_owned(),
        Key::StatusFile => "each task ends a phase after the number of items stored in it".to_owned(),
        Key::Signature if settings.signature < 0 => "the default signature of the data".to_owned(),
        Key::Signature => format!("signature of the data: {}", settings.signature),
        Key::Packet => {
            "data are always incompressible and stamped with file, offset and signature, so that a check can \
             say what is wrong with them"
                .to_owned()
        }
        _ => return None,
    })
}

fn printing(key: Key, settings: &Settings, tree: &Tree, release: Release) -> String {
    match key {
        Key::Time if release == Release::V1_9 => format!(
            "not in the released 1.9.3, where it was a local patch; rates are printed, as with that patch, \
             and the items are in the directory of -d itself, which {}",
            if tree.in_target { "exists" } else { "does not exist" }
        ),
        Key::Time => {
            "times are printed instead of rates, as in 4.x; in published command lines of 1.9.3 it was a \
             local patch, and rates were printed: use --compat 1.9 for those"
                .to_owned()
        }
        Key::RateAndTime => "a table of rates and one of times".to_owned(),
        Key::RankDetails => {
            "one row per task and iteration is written to it at the end of the run".to_owned()
        }
        Key::RankStatistics => "the table also has the fastest, slowest and mean task".to_owned(),
        Key::Verbose | Key::Verbosity => match settings.verbose {
            0 => "only the tables".to_owned(),
            level => format!("level {level}: also the figures of each iteration"),
        },
        _ => String::new(),
    }
}

impl Settings {
    /// Warnings before the run.
    pub(super) fn warnings(&self, release: Release) -> Vec<String> {
        let mut warnings = Vec::new();
        if (self.time || self.rate_and_time) && release == Release::V4_0 {
            warnings.push(SECONDS.to_owned());
        }
        warnings
    }

    /// Number of items of each task that an earlier create phase has left, if a status file contains it.
    ///
    /// # Errors
    /// Errors if the file contains something else.
    pub(super) fn limit(&self, warnings: &mut Vec<String>) -> Result<Option<u64>, ToolError> {
        let Some(path) = self.status_file.as_ref().filter(|_| !self.chosen.create) else { return Ok(None) };
        let Ok(text) = record::read_text(path) else {
            warnings.push(NO_STATUS.to_owned());
            return Ok(None);
        };
        match text.trim().parse::<u64>() {
            Ok(0) => Ok(None),
            Ok(limit) => Ok(Some(limit)),
            Err(_) => Err(OPTIONS.error(
                &format!("-x {}", path.display()),
                "does not contain a number of items; name a file that a run with -C -W has written",
            )),
        }
    }
}
