//! Records that are made from others (`import`, `merge`): they are written under a hidden name and renamed when they
//! are complete, because a partial one would be taken for the whole. And IO500, whose phases are recorded beside the
//! record that they become.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use record::{RecordError, RunDirectory};

use crate::console::exit::{Exit, Failure};

/// Suffix of the name of a directory that becomes a record when it is complete.
const UNFINISHED: &str = ".part";

/// A directory that becomes a record. If dropped before that, nothing of it remains.
pub(crate) struct Unfinished {
    /// The path of the record.
    directory: PathBuf,
    /// The directory with the hidden name.
    path: PathBuf,
    /// The directories created for it, innermost first.
    made: Vec<PathBuf>,
    /// Whether the directory with the hidden name was created by this command and is not yet the record.
    is_to_remove: bool,
}

impl Unfinished {
    /// Creates the hidden directory of the record in `directory`, which must be empty or missing. It is on the same
    /// file system, so that it can be renamed. What commands of this host that have ended have left beside it is
    /// removed.
    pub(crate) fn beside(directory: &Path, run_id: &str) -> Result<Self, Failure> {
        // An empty directory may also be given as `.` or by a link.
        let directory = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
        if fs::read_dir(&directory).is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(RecordError::NotEmpty { path: directory }.into());
        }
        let path = directory.with_file_name(name(run_id, &host_name(), std::process::id()));
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let missing = parent.ancestors().take_while(|one| !one.as_os_str().is_empty() && !one.exists());
        let made = missing.map(Path::to_owned).collect();
        let mut unfinished = Self { directory, path: path.clone(), made, is_to_remove: false };
        // It must not exist, since it could be a link to another place.
        let make = || {
            fs::create_dir_all(parent)?;
            // What cannot be removed is tried again by the next command, and by `ioproof clean`.
            ended(parent).iter().for_each(|path| drop(fs::remove_dir_all(path)));
            fs::create_dir(&path)
        };
        make().map_err(|error: io::Error| {
            let context = format!("cannot create the directory {} for the record", path.display());
            Failure::new(Exit::Record, anyhow::Error::from(error).context(context))
        })?;
        unfinished.is_to_remove = true;
        Ok(unfinished)
    }

    /// The path under which the record is written.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Renames the complete record, whose directory is `place`.
    pub(crate) fn finish(mut self, place: &RunDirectory) -> Result<RunDirectory, Failure> {
        let renamed = place.rename(&self.directory).map_err(|error| match error {
            RecordError::Io { source, .. } => {
                let context = format!(
                    "cannot rename the record to {}: choose a directory that does not exist yet with --out",
                    self.directory.display()
                );
                Failure::new(Exit::Record, anyhow::Error::from(source).context(context))
            }
            other => other.into(),
        })?;
        self.is_to_remove = false;
        self.made.clear();
        Ok(renamed)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // Another error is being reported.
        if self.is_to_remove {
            let _ = fs::remove_dir_all(&self.path);
        }
        self.made.iter().for_each(|directory| drop(fs::remove_dir(directory)));
    }
}

/// What commands of this user and host that have ended have left in `directory`. A directory that can be written is not
/// necessarily readable.
pub(crate) fn ended(directory: &Path) -> Vec<PathBuf> {
    let is_ours = |entry: &fs::DirEntry| {
        let user = rustix::process::geteuid().as_raw();
        entry.metadata().is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == user)
    };
    let left = fs::read_dir(directory).into_iter().flatten().flatten();
    left.filter(|entry| has_ended(&entry.path()) && is_ours(entry)).map(|entry| entry.path()).collect()
}

/// The hidden name, which contains the run, the host and the process.
fn name(run_id: &str, host: &str, process: u32) -> String {
    format!(".{run_id}@{host}.{process}{UNFINISHED}")
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Whether `path` has a hidden name of a command on this host whose process has ended.
pub(crate) fn has_ended(path: &Path) -> bool {
    let host = host_name();
    let of_process = || {
        let name = path.file_name()?.to_str()?;
        let (run_id, rest) = name.strip_prefix('.')?.strip_suffix(UNFINISHED)?.split_once('@')?;
        let process: u32 = rest.strip_prefix(&host)?.strip_prefix('.')?.parse().ok()?;
        is_run_id(run_id).then_some(process)
    };
    of_process().is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists())
}

/// Whether a text has the form of [`crate::run::session::run_id`] for these commands: `20261126-171847-import-cbbaa9`.
fn is_run_id(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let digits = |part: &str, length| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
    match parts.as_slice() {
        [date, time, "import" | "merge" | "io500", random] => {
            digits(date, 8)
                && digits(time, 6)
                && random.len() == 6
                && random.bytes().all(|byte| byte.is_ascii_hexdigit())
        }
        _ => false,
    }
}

/// The file that IO500 keeps next to the records of phases until the run is complete.
pub(crate) const MEMO: &str = "io500.json";

/// The directory for the phases' records of a run whose own record is to be in `directory`.
pub(crate) fn parts_of(directory: &Path) -> PathBuf {
    let mut name = directory.as_os_str().to_owned();
    name.push(".phases");
    PathBuf::from(name)
}

/// The directory of the complete record if `directory` contains the records of the phases; otherwise
/// `directory` itself.
pub(crate) fn whole_of(directory: &Path) -> PathBuf {
    match directory.extension() {
        Some(extension) if extension == "phases" => directory.with_extension(""),
        _ => directory.to_owned(),
    }
}

/// How to continue the interrupted run whose record is to be in `directory`, or whose phases are in it.
pub(crate) fn interrupted(directory: &Path) -> Option<String> {
    let whole = whole_of(directory);
    parts_of(&whole).join(MEMO).exists().then(|| {
        let whole = plan::shell_word(&whole.to_string_lossy());
        format!(
            "an IO500 run was interrupted; `ioproof io500 CONFIG.ini --resume {whole}` continues it, `ioproof report \
             {whole}.phases/PHASE` shows a finished phase, and `ioproof clean DATADIR` removes its files"
        )
    })
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{Unfinished, has_ended, host_name, name};

    fn at(run_id: &str, host: &str, process: u32) -> PathBuf {
        Path::new("records").join(name(run_id, host, process))
    }

    /// A number that no process has, because Linux assigns at most 2^22.
    const NOBODY: u32 = u32::MAX;

    #[test]
    fn a_directory_that_was_there_before_is_not_removed() {
        let place = testbed::Scratch::on_disk().unwrap();
        let run_id = "20261126-171847-import-cbbaa9";
        let there = place.path().join(name(run_id, &host_name(), std::process::id()));
        std::fs::create_dir(&there).unwrap();
        std::fs::write(there.join("file"), "stays").unwrap();
        assert!(Unfinished::beside(&place.path().join("record"), run_id).is_err());
        assert!(there.join("file").exists());
        drop(Unfinished::beside(&place.path().join("new/record"), run_id));
        assert!(!place.path().join("new").exists());
    }

    #[test]
    fn only_directories_of_ended_commands_of_this_host_are_removed() {
        let (run_id, host) = ("20261126-171847-import-cbbaa9", host_name());
        assert!(has_ended(&at(run_id, &host, NOBODY)));
        assert!(has_ended(&at("20261126-171847-merge-cbbaa9", &host, NOBODY)));
        assert!(!has_ended(&at(run_id, &host, std::process::id())), "it goes on");
        assert!(!has_ended(&at(run_id, "elsewhere", NOBODY)));
        for other in ["photos-import-2", "20261126-171847-run-cbbaa9", "20261126-171847-import-photos"] {
            assert!(!has_ended(&at(other, &host, NOBODY)), "{other}");
        }
        assert!(!has_ended(Path::new(".photos-import-2.part")));
    }
}
