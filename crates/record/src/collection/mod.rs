//! A directory that holds the records of many runs: which there are, their tags, and their removal.
//!
//! A record is listed from its manifest and the end of its journal. Nothing in it is changed: tags are in a file of the
//! collection, because a record may be signed. Links are not followed.

pub(crate) mod entry;
pub(crate) mod filter;
pub(crate) mod prune;
pub(crate) mod tags;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::collection::entry::RunEntry;
use crate::collection::prune::is_pruned;
use crate::files::directory::{self, RunDirectory};
use crate::format::{JOURNAL, MANIFEST};
use crate::{Manifest, RecordError, Run};

/// Records are read by at most this many threads: more would read one disk in turn.
const READERS_MAX: usize = 8;

/// The records in a directory.
///
/// ```no_run
/// let all = record::Collection::read(std::path::Path::new("ioproof-runs"))?;
/// for entry in &all.entries {
///     println!("{} {}", entry.name, entry.state.name());
/// }
/// # Ok::<(), record::RecordError>(())
/// ```
#[derive(Debug)]
pub struct Collection {
    /// The directory.
    pub directory: PathBuf,
    /// The records in it, oldest first; those whose start is not known come first, by name.
    pub entries: Vec<RunEntry>,
    /// The number of other files and directories, without those of the collection itself.
    pub others: usize,
    /// Records whose removal was begun and not ended.
    pub half_removed: Vec<PathBuf>,
}

impl Collection {
    /// Reads which records are in `directory`, which may be a record itself.
    ///
    /// # Errors
    /// Errors if the directory does not exist or cannot be read. A record that cannot be read is an entry.
    pub fn read(directory: &Path) -> Result<Self, RecordError> {
        let unreadable = || RecordError::io("read", directory);
        let mut all = Self {
            directory: directory.to_owned(),
            entries: Vec::new(),
            others: 0,
            half_removed: Vec::new(),
        };
        if is_record(directory) {
            all.entries.extend(RunEntry::read(directory));
            return Ok(all);
        }
        let mut paths = Vec::new();
        for found in fs::read_dir(directory).map_err(unreadable())? {
            let found = found.map_err(unreadable())?;
            let name = found.file_name();
            let is_directory = found.file_type().is_ok_and(|kind| kind.is_dir());
            match name.to_str() {
                Some(tags::FILE | tags::MARKER) => {}
                Some(name) if is_directory && is_pruned(name) => all.half_removed.push(found.path()),
                _ if is_directory && !name.as_encoded_bytes().starts_with(b".") => paths.push(found.path()),
                _ => all.others += 1,
            }
        }
        for entry in in_parallel(&paths, |path| RunEntry::read(path)) {
            match entry {
                Some(entry) => all.entries.push(entry),
                None => all.others += 1,
            }
        }
        all.entries.sort_by(|one, other| one.order().cmp(&other.order()));
        all.half_removed.sort();
        Ok(all)
    }

    /// The last `most` sound, complete records in `directory` of the same plan and host as `run`, that were started
    /// before it; oldest first.
    ///
    /// # Errors
    /// Errors if the directory cannot be read.
    pub fn earlier_of_same(
        directory: &Path,
        run: &Manifest,
        most: usize,
    ) -> Result<Vec<PathBuf>, RecordError> {
        let all = Self::read(directory)?;
        let (key, hosts) = (plan_key(run), run.hosts());
        // A copy of a record is no other run.
        let (mut found, mut known) = (Vec::new(), HashSet::new());
        for entry in all.entries.iter().rev().filter(|entry| entry.state.is_complete()) {
            let Some(start) = &entry.start else { continue };
            let is_earlier = start.run_id != run.run_id && start.started_unix_ns < run.started_unix_ns;
            if found.len() == most
                || !known.insert(start.run_id.as_str())
                || !is_earlier
                || start.hosts != hosts
                || start.title != run.plan.title
            {
                continue;
            }
            let model = |manifest: &Manifest| manifest.model.as_ref().map(|model| model.name.clone());
            let opened = Run::open(&entry.path).ok().filter(|run| run.damage.is_empty());
            let is_same = |other: &Run| {
                other.manifest.provenance == run.provenance
                    && model(&other.manifest) == model(run)
                    && plan_key(&other.manifest) == key
            };
            found.extend(opened.filter(is_same).map(|_| entry.path.clone()));
        }
        found.reverse();
        Ok(found)
    }
}

/// Whether `path` has a manifest or a journal.
fn is_record(path: &Path) -> bool {
    let place = &RunDirectory::from(path);
    [MANIFEST, JOURNAL].iter().any(|name| directory::is_there(place, &place.join(name)))
}

/// What makes two plans the same for a figure over time: title, and of each case its name, the directories of its
/// targets, its layout, the conditions of its phases, and what a comparison takes for not measured alike: fsync, set
/// rate, sharing of files and number of operations. Seeds, names of files and the number of repetitions may differ.
#[must_use]
pub fn plan_key(manifest: &Manifest) -> String {
    let plan = &manifest.plan;
    let mut text = format!("{}\n", plan.title);
    for case in &plan.cases {
        let mut places: Vec<_> = case.workload.files.targets.iter().map(|target| target.parent()).collect();
        places.sort_unstable();
        places.dedup();
        let conditions: Vec<String> = case.phases.iter().map(|phase| case.conditions(*phase)).collect();
        let pace = case.workload.pace.map(|pace| pace.transfers_per_second);
        let alike = (case.sync(), pace, case.sharing(), case.transfers_per_task());
        text += &format!("{:?}\n", (&case.id, places, &case.layout, conditions, alike));
    }
    let digits = crate::sha256(text.as_bytes());
    digits[..KEY_DIGITS].to_owned()
}

/// Enough to tell the plans of one directory apart.
const KEY_DIGITS: usize = 12;

/// The results of `of` for all `items`, in their order, computed by up to eight threads.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], of: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(READERS_MAX);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            match items.get(place) {
                Some(item) => done.push((place, of(item))),
                None => return done,
            }
        }
    };
    let mut all: Vec<(usize, R)> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(items.len())).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for other in others {
            match other.join() {
                Ok(more) => all.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, result)| result).collect()
}
