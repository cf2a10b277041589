//! Tags of the runs of a collection, in one file beside the records.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::RecordError;
use crate::files::checksum::checksum_of;
use crate::files::directory::{self, RunDirectory};
use crate::files::replacement::replace;

/// The tags of all runs in a directory.
pub(crate) const FILE: &str = "ioproof-tags.json";
/// An empty file beside it, which says that there are tags: if they are lost, no run is taken for one without any.
pub(crate) const MARKER: &str = ".ioproof-tags";

/// The largest file of tags that is read: a hundred bytes for each of 100,000 runs.
const FILE_BYTES_MAX: u64 = 10 << 20;
/// The longest tag, in bytes.
const TAG_BYTES_MAX: usize = 64;

/// Tags of runs, which protect a run from removal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tags(BTreeMap<String, BTreeSet<String>>);

/// The file, with the checksum of the compact JSON of the tags.
#[derive(Serialize, Deserialize)]
struct Stored {
    tags: Tags,
    sum: String,
}

impl Tags {
    /// Reads the tags in `directory`.
    ///
    /// # Errors
    /// Errors if they cannot be read, were changed by something else, or were there once and are lost.
    pub fn read(directory: &Path) -> Result<Self, RecordError> {
        let place = &RunDirectory::from(directory);
        let path = place.join(FILE);
        if !directory::is_there(place, &path) {
            let marker = place.join(MARKER);
            return match directory::is_there(place, &marker) {
                true => Err(lost(path, &marker)),
                false => Ok(Self::default()),
            };
        }
        let bytes = directory::read(place, &path, FILE_BYTES_MAX).map_err(RecordError::io("read", &path))?;
        let damaged = |why: &str| RecordError::Unreadable {
            path: path.clone(),
            message: format!(
                "the tags of the runs in this directory are damaged ({why}); restore the file from a backup, or remove \
                 it and {MARKER} if no run is to stay protected"
            ),
        };
        let stored: Stored = serde_json::from_slice(&bytes).map_err(|error| damaged(&error.to_string()))?;
        match stored.tags.sum()? == stored.sum {
            true => Ok(stored.tags),
            false => Err(damaged("its checksum differs")),
        }
    }

    /// Changes the tags in `directory` by `change`, durably. Other processes that change them wait.
    ///
    /// # Errors
    /// Errors if they cannot be read or written; then they stay as they were.
    pub fn change(directory: &Path, change: impl FnOnce(&mut Self)) -> Result<(), RecordError> {
        let place = &RunDirectory::hold(directory)?;
        let marker = place.join(MARKER);
        let lock = lock(place).map_err(RecordError::io("write", &marker))?;
        // If this is the first change, the marker is new.
        let is_new = lock.1 && !directory::is_there(place, &place.join(FILE));
        let mut tags = if is_new { Self::default() } else { Self::read(directory)? };
        change(&mut tags);
        let sum = tags.sum()?;
        let bytes = serde_json::to_vec_pretty(&Stored { tags, sum }).map_err(unencodable(place))?;
        let written = replace(place, FILE, &bytes, true);
        if written.is_err() && is_new {
            let _ = place.remove(MARKER);
        }
        written
    }

    /// The tags of the run `run_id`, in order.
    pub fn of(&self, run_id: &str) -> impl Iterator<Item = &str> {
        self.0.get(run_id).into_iter().flatten().map(String::as_str)
    }

    /// Adds `tag` to the run.
    pub fn add(&mut self, run_id: &str, tag: &str) {
        self.0.entry(run_id.to_owned()).or_default().insert(tag.to_owned());
    }

    /// Removes `tag` from the run.
    pub fn remove(&mut self, run_id: &str, tag: &str) {
        if let Some(tags) = self.0.get_mut(run_id) {
            tags.remove(tag);
            if tags.is_empty() {
                self.0.remove(run_id);
            }
        }
    }

    /// Removes all tags of the run.
    pub fn forget(&mut self, run_id: &str) {
        self.0.remove(run_id);
    }

    /// Whether `text` can be a tag: letters, digits, `-`, `_`, `.` and `:`, at most 64 bytes.
    #[must_use]
    pub fn is_tag(text: &str) -> bool {
        (1..=TAG_BYTES_MAX).contains(&text.len())
            && text.chars().all(|one| one.is_alphanumeric() || "-_.:".contains(one))
            && !text.starts_with('-')
    }

    fn sum(&self) -> Result<String, RecordError> {
        let bytes = serde_json::to_vec(self).map_err(unencodable(&Path::new(".").into()))?;
        Ok(checksum_of(&bytes))
    }
}

/// The locked marker in `place`, and whether it was made now.
fn lock(place: &RunDirectory) -> io::Result<(File, bool)> {
    let path = place.join(MARKER);
    let (file, is_made) = match directory::create_to_append(place, &path) {
        Ok(file) => (file, true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            (directory::open_to_append(place, &path)?, false)
        }
        Err(error) => return Err(error),
    };
    // A file system without locks has no other disadvantage than that of two changes at a time one may be lost.
    let _ = file.lock();
    Ok((file, is_made))
}

fn lost(path: PathBuf, marker: &Path) -> RecordError {
    let message = format!(
        "it is missing, but runs in this directory had tags; restore it from a backup, or remove {} if no run is to \
         stay protected",
        marker.display()
    );
    RecordError::Unreadable { path, message }
}

fn unencodable(place: &RunDirectory) -> impl FnOnce(serde_json::Error) -> RecordError {
    let path = place.join(FILE);
    move |error| RecordError::Unreadable {
        path,
        message: format!("the tags could not be encoded: {error}; report this as a bug"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{FILE, MARKER, Tags};

    #[test]
    fn tags_are_read_back_and_what_is_removed_is_gone() {
        let place = tempfile::tempdir().expect("a directory");
        assert_eq!(Tags::read(place.path()).expect("none yet"), Tags::default());
        Tags::change(place.path(), |tags| {
            tags.add("run-1", "baseline");
            tags.add("run-1", "keep");
            tags.add("run-2", "keep");
        })
        .expect("written");
        Tags::change(place.path(), |tags| {
            tags.remove("run-1", "keep");
            tags.remove("run-2", "keep");
            tags.remove("run-3", "keep");
        })
        .expect("written");
        let tags = Tags::read(place.path()).expect("read");
        assert_eq!(tags.of("run-1").collect::<Vec<_>>(), ["baseline"]);
        assert_eq!(tags.of("run-2").count() + tags.of("run-3").count(), 0);
    }

    /// Each byte of the file is changed in turn, and the file is cut after each.
    #[test]
    fn damaged_or_lost_tags_are_no_missing_tags() {
        let place = tempfile::tempdir().expect("a directory");
        Tags::change(place.path(), |tags| tags.add("run-1", "baseline")).expect("written");
        let path = place.path().join(FILE);
        let (text, tags) = (fs::read(&path).expect("read"), Tags::read(place.path()).expect("read"));
        for at in 0..text.len() {
            let mut other = text.clone();
            other[at] ^= 1;
            fs::write(&path, &other).expect("written");
            // Space between the parts of JSON has no meaning.
            assert!(Tags::read(place.path()).map_or(true, |read| read == tags), "{at}");
            fs::write(&path, &text[..at]).expect("written");
            Tags::read(place.path()).expect_err("cut");
            Tags::change(place.path(), |_| {}).expect_err("cut");
        }
        fs::remove_file(&path).expect("removed");
        Tags::read(place.path()).expect_err("lost");
        Tags::change(place.path(), |tags| tags.add("run-1", "new")).expect_err("lost");
        assert!(!path.exists());
        fs::remove_file(place.path().join(MARKER)).expect("removed");
        assert_eq!(Tags::read(place.path()).expect("given up"), Tags::default());
    }

    #[test]
    fn a_tag_is_a_word() {
        for good in ["baseline", "v1.2", "größer", "a:b_c-d"] {
            assert!(Tags::is_tag(good), "{good}");
        }
        for bad in ["", "two words", "-x", "a\nb", "a\u{202e}b", "a/b", "*", &"x".repeat(65)] {
            assert!(!Tags::is_tag(bad), "{bad:?}");
        }
    }
}
