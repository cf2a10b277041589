//! Selects records of collections, with their tags.

use std::path::{Path, PathBuf};

use plan::fits;

use crate::RecordError;
use crate::collection::entry::{RunEntry, RunStart};
use crate::collection::tags::Tags;

/// A record with its tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaggedRun<'a> {
    /// The record.
    pub entry: &'a RunEntry,
    /// Its tags, in order.
    pub tags: Vec<String>,
}

impl TaggedRun<'_> {
    /// Whether this is the name of its directory, or its id.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        self.entry.name == name || self.entry.start.as_ref().is_some_and(|start| start.run_id == name)
    }

    /// The directory that has its tags: the one that it is in.
    #[must_use]
    pub fn collection(&self) -> PathBuf {
        collection_of(&self.entry.path)
    }

    /// Why it is only removed if it is named.
    #[must_use]
    pub fn protection(&self) -> Option<String> {
        match (self.entry.is_signed, self.tags.first()) {
            (false, None) => None,
            (true, _) => Some("it is signed".to_owned()),
            (false, Some(tag)) => Some(format!("it has the tag {tag}")),
        }
    }
}

/// The runs that every given part selects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Names of directories, or ids; all runs if empty.
    pub runs: Vec<String>,
    /// Text in the title of the study, in which `*` stands for any text.
    pub study: Option<String>,
    /// One of the nodes; `*` stands for any text.
    pub host: Option<String>,
    /// A tag.
    pub tag: Option<String>,
    /// The earliest start, nanoseconds since 1970-01-01 UTC.
    pub since: Option<i64>,
    /// The latest start.
    pub until: Option<i64>,
    /// The name of the state.
    pub state: Option<String>,
    /// The number of the newest of them.
    pub last: Option<usize>,
}

impl RunFilter {
    /// Whether it selects all runs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The selected of `entries`, oldest first.
    ///
    /// # Errors
    /// Errors if the tags of a directory cannot be read.
    pub fn select<'a>(
        &self,
        entries: impl IntoIterator<Item = &'a RunEntry>,
    ) -> Result<Vec<TaggedRun<'a>>, RecordError> {
        let mut known: Vec<(PathBuf, Tags)> = Vec::new();
        let mut found = Vec::new();
        for entry in entries {
            let place = collection_of(&entry.path);
            if known.last().is_none_or(|(of, _)| *of != place) {
                known.push((place.clone(), Tags::read(&place)?));
            }
            let of_run = known.last().zip(entry.start.as_ref());
            let tags = of_run.map(|((_, tags), start)| tags.of(&start.run_id).map(str::to_owned).collect());
            let one = TaggedRun { entry, tags: tags.unwrap_or_default() };
            if self.takes(&one) {
                found.push(one);
            }
        }
        found.sort_by(|one, other| one.entry.order().cmp(&other.entry.order()));
        let first = self.last.map_or(0, |last| found.len().saturating_sub(last));
        Ok(found.split_off(first))
    }

    /// Whether everything but the number selects `one`.
    fn takes(&self, one: &TaggedRun<'_>) -> bool {
        let start = one.entry.start.as_ref();
        let of = |is: &dyn Fn(&RunStart) -> bool| start.is_some_and(is);
        let is_on = |pattern: &String| {
            of(&|start| start.hosts.iter().any(|host| fits(pattern.as_bytes(), host.as_bytes())))
        };
        let is_of = |text: &String| of(&|start| fits(format!("*{text}*").as_bytes(), start.title.as_bytes()));
        (self.runs.is_empty() || self.runs.iter().any(|name| one.is_called(name)))
            && self.study.as_ref().is_none_or(is_of)
            && self.host.as_ref().is_none_or(is_on)
            && self.tag.as_ref().is_none_or(|tag| one.tags.contains(tag))
            && self.state.as_ref().is_none_or(|state| one.entry.state.name() == state)
            && self.since.is_none_or(|since| of(&|start| start.started_unix_ns >= since))
            && self.until.is_none_or(|until| of(&|start| start.started_unix_ns <= until))
    }
}

/// The directory that a record is in.
fn collection_of(path: &Path) -> PathBuf {
    let parent =
        |path: &Path| path.parent().filter(|parent| !parent.as_os_str().is_empty()).map(Path::to_owned);
    match path.file_name() {
        Some(_) => parent(path).unwrap_or_else(|| PathBuf::from(".")),
        // `.` or `..` is a record.
        None => path.canonicalize().ok().and_then(|path| parent(&path)).unwrap_or_else(|| path.to_owned()),
    }
}
