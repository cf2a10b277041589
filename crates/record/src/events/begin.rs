//! Creates a record: its directory, its journal and its manifest.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::events::journal::{Event, JournalReader, JournalWriter};
use crate::files::directory::{self, RunDirectory};
use crate::format::{JOURNAL, MANIFEST};
use crate::manifest::ManifestText;
use crate::{Manifest, RecordError};

/// Number of journal lines of a newly created run: the request, and the checksum of the manifest.
pub(crate) const FIRST_LINES: u64 = 2;

/// A newly created run.
pub(crate) struct NewRun {
    pub(crate) directory: RunDirectory,
    /// The directories created for it, innermost first.
    pub(crate) made: Vec<PathBuf>,
    pub(crate) journal: JournalWriter,
    pub(crate) reader: JournalReader,
}

impl NewRun {
    /// Implements [`crate::Recorder::create`].
    pub(crate) fn begin(directory: &Path, manifest: &Manifest) -> Result<Self, RecordError> {
        let missing = directory.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists());
        let made: Vec<PathBuf> = missing.map(Path::to_owned).collect();
        let begin = || {
            fs::create_dir_all(directory).map_err(RecordError::io("create the run directory", directory))?;
            let whole = RunDirectory::hold_whole(directory)?;
            match whole.is_empty().map_err(RecordError::io("read", directory))? {
                true => {}
                false => return Err(RecordError::NotEmpty { path: directory.to_path_buf() }),
            }
            let mut journal = JournalWriter::create(&whole)?;
            let reader = start(&whole, &mut journal, manifest).inspect_err(|_| {
                // The first error is the one that is reported. The directory is left as it was found.
                remove(&whole, &[]);
            })?;
            Ok((whole, journal, reader))
        };
        // Only empty directories are removed. If another run was faster, its directory remains.
        let (directory, journal, reader) = begin().inspect_err(|_| remove_empty(&made))?;
        Ok(Self { directory, made, journal, reader })
    }
}

/// Implements [`crate::Recorder::check_new`].
pub(crate) fn check_new(directory: &Path) -> Result<(), RecordError> {
    match fs::read_dir(directory).map(|mut entries| entries.next().is_some()) {
        Ok(true) => Err(RecordError::NotEmpty { path: directory.to_path_buf() }),
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(RecordError::io("read", directory)(error))
        }
        _ => Ok(()),
    }
}

/// Rejects a directory whose run ended before its first line was written.
pub(crate) fn check_begun(directory: &RunDirectory) -> Result<(), RecordError> {
    let is_empty = directory::length(directory, &directory.join(JOURNAL)) == Some(0);
    match is_empty && !directory::is_there(directory, &directory.join(MANIFEST)) {
        true => Err(RecordError::NotBegun { path: directory.path().to_owned() }),
        false => Ok(()),
    }
}

/// Removes the newly created run in `directory`, and the directories `made` for it.
pub(crate) fn remove(directory: &RunDirectory, made: &[PathBuf]) {
    for name in [MANIFEST, JOURNAL] {
        let _ = directory.remove(name);
    }
    // If it was moved, the directories of these names belong to somebody else.
    if directory.check_in_place().is_ok() {
        remove_empty(made);
    }
}

/// Removes those of `directories` that are empty.
fn remove_empty(directories: &[PathBuf]) {
    for directory in directories {
        let _ = fs::remove_dir(directory);
    }
}

fn start(
    directory: &RunDirectory,
    journal: &mut JournalWriter,
    manifest: &Manifest,
) -> Result<JournalReader, RecordError> {
    journal.append(&Event::RunStarted { manifest }, false)?;
    let text = ManifestText::of(directory, manifest)?;
    journal.append(&Event::Manifest { checksum: &text.checksum }, false)?;
    text.write(directory, false)?;
    let path = directory.join(JOURNAL);
    JournalReader::open(directory).map_err(RecordError::io("read", &path))
}
