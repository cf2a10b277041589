//! A record as a list shows it, from its manifest and the last lines of its journal.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use plan::limits::MANIFEST_BYTES;
use serde::Deserialize;

use crate::events::begin::check_begun;
use crate::files::checksum::checksum_of;
use crate::files::directory::{self, RunDirectory};
use crate::files::sums::{SIGNATURE, SUMS};
use crate::format::{JOURNAL, MANIFEST};
use crate::manifest::{check_version, check_version_in};
use crate::{Manifest, Provenance, RecordError};

/// The last lines of a journal, which say how the run ended, are shorter than this.
const TAIL_BYTES: u64 = 4096;

/// The state of a record in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryState {
    /// All cases have been processed.
    Complete,
    /// The user ended it.
    Interrupted,
    /// It could not continue.
    Failed,
    /// Its journal has no end, and no process of this node holds it.
    Killed,
    /// It is in progress.
    Running,
    /// Some of it is lost or changed.
    Damaged(String),
    /// It cannot be read, or was written by a later program.
    Unreadable(String),
}

impl EntryState {
    /// The names, for filters.
    pub const NAMES: [&'static str; 7] =
        ["complete", "interrupted", "failed", "killed", "running", "damaged", "unreadable"];

    /// The name in lists.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        Self::NAMES[match self {
            Self::Complete => 0,
            Self::Interrupted => 1,
            Self::Failed => 2,
            Self::Killed => 3,
            Self::Running => 4,
            Self::Damaged(_) => 5,
            Self::Unreadable(_) => 6,
        }]
    }

    /// Why it is damaged or cannot be read.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Damaged(reason) | Self::Unreadable(reason) => Some(reason),
            _ => None,
        }
    }

    /// Whether it has ended with all of its cases done.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        *self == Self::Complete
    }
}

/// What the manifest of a record says of its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunStart {
    /// The unique name of the run.
    pub run_id: String,
    /// Title of the study.
    pub title: String,
    /// Its nodes.
    pub hosts: Vec<String>,
    /// The source of its figures.
    pub provenance: Provenance,
    /// Version of the program.
    pub program_version: String,
    /// Wall clock at the start, nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: i64,
    /// Wall clock at the end.
    pub finished_unix_ns: Option<i64>,
}

/// A record in a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEntry {
    /// The name of its directory.
    pub name: String,
    /// Its directory.
    pub path: PathBuf,
    /// Its start, if the manifest can be read.
    pub start: Option<RunStart>,
    /// Its state, as far as the end of the journal tells it: damage of tables and of lines before is found when the
    /// record is opened.
    pub state: EntryState,
    /// Whether a signature is beside it, which is not verified here.
    pub is_signed: bool,
    /// Bytes of all its files, reports included.
    pub bytes: u64,
}

/// The part of a manifest that a list shows. The rest is skipped unread.
#[derive(Deserialize)]
struct Head {
    format_version: u32,
    run_id: String,
    provenance: Provenance,
    program_version: String,
    started_unix_ns: i64,
    finished_unix_ns: Option<i64>,
    plan: PlanHead,
    host: HostHead,
    cluster: Option<ClusterHead>,
}

#[derive(Deserialize)]
struct PlanHead {
    title: String,
}

#[derive(Deserialize)]
struct HostHead {
    node: String,
}

#[derive(Deserialize)]
struct ClusterHead {
    nodes: Vec<NodeHead>,
}

#[derive(Deserialize)]
struct NodeHead {
    host: HostHead,
}

impl Manifest {
    /// The names of its nodes, each once.
    #[must_use]
    pub fn hosts(&self) -> Vec<String> {
        let nodes = self.cluster.iter().flat_map(|cluster| &cluster.nodes).map(|node| &node.host.node);
        each_once(nodes.cloned(), self.host.node.clone())
    }
}

fn each_once(nodes: impl Iterator<Item = String>, only: String) -> Vec<String> {
    let mut hosts: Vec<String> = nodes.collect();
    if hosts.is_empty() {
        hosts.push(only);
    }
    hosts.sort();
    hosts.dedup();
    hosts
}

impl RunEntry {
    /// The record in the directory `path`. Returns `None` if there is none.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let unreadable = |error: &dyn std::fmt::Display| Self {
            name: name.clone(),
            path: path.to_owned(),
            start: None,
            state: EntryState::Unreadable(error.to_string()),
            is_signed: false,
            bytes: 0,
        };
        let place = match RunDirectory::hold(path) {
            Ok(place) => place,
            Err(error) => return Some(unreadable(&error)),
        };
        let is_there = |name: &str| directory::is_there(&place, &place.join(name));
        if !is_there(MANIFEST) && !is_there(JOURNAL) {
            return None;
        }
        let text = directory::read(&place, &place.join(MANIFEST), MANIFEST_BYTES)
            .map_err(RecordError::io("read", &place.join(MANIFEST)));
        let head = text.and_then(|text| Ok((head(&place, &text)?, checksum_of(&text))));
        let (start, state) = match head {
            Ok((start, checksum)) => (Some(start), state(&place, &checksum)),
            Err(error @ RecordError::NewerVersion { .. }) => {
                (None, EntryState::Unreadable(error.to_string()))
            }
            Err(_) if check_begun(&place).is_err() => {
                (None, EntryState::Unreadable("it ended before anything was recorded".to_owned()))
            }
            Err(error) if is_there(JOURNAL) => (None, EntryState::Damaged(error.to_string())),
            Err(error) => (None, EntryState::Unreadable(error.to_string())),
        };
        let bytes = directory::bytes(&place).unwrap_or(0);
        let is_signed = is_there(SIGNATURE) || is_there(SUMS);
        Some(Self { start, state, is_signed, bytes, ..unreadable(&"") })
    }

    /// The order of a list.
    pub(crate) fn order(&self) -> (Option<i64>, &str) {
        (self.start.as_ref().map(|start| start.started_unix_ns), &self.name)
    }
}

fn head(place: &RunDirectory, text: &[u8]) -> Result<RunStart, RecordError> {
    let path = place.join(MANIFEST);
    let head: Head = match serde_json::from_slice(text) {
        Ok(head) => head,
        Err(error) => {
            // A later version may have other fields.
            check_version_in(place, text).unwrap_or(Ok(()))?;
            let message = format!("it is not a manifest of a run ({error}); restore it, or repeat the run");
            return Err(RecordError::Unreadable { path, message });
        }
    };
    check_version(place, head.format_version)?;
    let nodes = head.cluster.into_iter().flat_map(|cluster| cluster.nodes).map(|node| node.host.node);
    Ok(RunStart {
        hosts: each_once(nodes, head.host.node),
        run_id: head.run_id,
        title: head.plan.title,
        provenance: head.provenance,
        program_version: head.program_version,
        started_unix_ns: head.started_unix_ns,
        finished_unix_ns: head.finished_unix_ns,
    })
}

/// The last lines of a journal, as far as they tell the end of the run.
#[derive(Default, Deserialize)]
struct End {
    event: String,
    outcome: Option<String>,
    checksum: Option<String>,
}

/// The state of the run whose manifest has the sum `checksum`.
fn state(place: &RunDirectory, checksum: &str) -> EntryState {
    let path = place.join(JOURNAL);
    let lost = |error: io::Error| EntryState::Damaged(RecordError::io("read", &path)(error).to_string());
    let file = match directory::open(place, &path) {
        Ok(file) => file,
        Err(error) => return lost(error),
    };
    let tail = match tail(&file) {
        Ok(tail) => tail,
        Err(error) => return lost(error),
    };
    if is_held(&file) {
        return EntryState::Running;
    }
    let lines = tail.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"{\"event\":"));
    let ends: Vec<End> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let Some(End { outcome: Some(outcome), .. }) = ends.last().filter(|end| end.event == "run-finished")
    else {
        return EntryState::Killed;
    };
    let written =
        ends.iter().rev().find(|end| end.event == "manifest").and_then(|end| end.checksum.as_deref());
    match outcome.as_str() {
        _ if written.is_some_and(|written| written.starts_with("xxh64:") && written != checksum) => {
            EntryState::Damaged(format!(
                "{} is not what was written: its checksum differs",
                place.join(MANIFEST).display()
            ))
        }
        "complete" => EntryState::Complete,
        "interrupted" => EntryState::Interrupted,
        _ => EntryState::Failed,
    }
}

fn tail(file: &File) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    let start = length.saturating_sub(TAIL_BYTES);
    let mut bytes = vec![0; usize::try_from(length - start).unwrap_or_default()];
    file.read_exact_at(&mut bytes, start)?;
    Ok(bytes)
}

/// Whether a recorder holds the journal.
fn is_held(file: &File) -> bool {
    let held = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    if !held {
        let _ = file.unlock();
    }
    held
}
