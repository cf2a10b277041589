//! A record of the executed steps on stable storage, sufficient to undo them from another process.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use plan::layout::{Step, Undo};
use plan::{Layout, Recipe};
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};

use super::LayoutError;
use crate::guard::Signature;
use crate::ledger::{self, LedgerContent, LedgerFile, LedgerKind, LedgerLoss, ProcessIdentity};
use crate::{DeviceNumber, HostIdentity, Root};

/// Directory of the ledgers, below the state directory.
const DIRECTORY: &str = "layouts";
/// Suffix of a ledger's file name.
const SUFFIX: &str = ".json";
/// Lock file that is held while a layout is started, so that two programs do not use the same device.
const LOCK: &str = ".lock";
/// Mode of the lock file: only its owner may open it for writing.
const LOCK_MODE: u32 = 0o644;

const KIND: LedgerKind = LedgerKind {
    version: 1,
    after_failed_write: "the steps done so far are recorded in it: free some space, then run `ioproof layout clean`",
    by_hand: "it lists the commands that dismantle the layout; run them by hand, then remove the file",
};

/// The state of a layout that was started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ledger {
    version: u32,
    pub(super) layout: Layout,
    pub(super) run_id: String,
    /// Wall clock when it was started, nanoseconds since 1970-01-01 UTC.
    pub(super) begun_unix_ns: i64,
    pub(super) host: HostIdentity,
    pub(super) owner: ProcessIdentity,
    /// Whether it is kept after its creator ends.
    pub(super) kept: bool,
    /// Whether all steps were done.
    pub(super) complete: bool,
    pub(super) devices: Vec<OwnedDevice>,
    pub(super) steps: Vec<LedgerStep>,
}

/// A device that was assigned to the layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OwnedDevice {
    /// The name given by the user.
    pub(super) given: String,
    /// The path of its node.
    pub(super) path: PathBuf,
    major: u32,
    minor: u32,
    pub(super) size_bytes: u64,
    /// Serial number and world wide name.
    pub(super) identities: Vec<String>,
    /// `/sys/block/NAME/diskseq`, which changes with each medium, or configuration of a loop device,
    /// since boot.
    pub(super) sequence: Option<u64>,
    /// Its signatures once the layout is complete; `None` during creation.
    pub(super) signatures: Option<Vec<Signature>>,
    /// Signatures that may show up anywhere on the device once the metadata of the layout is gone.
    #[serde(default)]
    pub(super) covered: Vec<Signature>,
}

impl OwnedDevice {
    pub(super) fn new(given: &str, path: &Path, number: DeviceNumber, size_bytes: u64) -> Self {
        Self {
            given: given.to_owned(),
            path: path.to_owned(),
            major: number.major,
            minor: number.minor,
            size_bytes,
            identities: Vec::new(),
            sequence: None,
            signatures: None,
            covered: Vec::new(),
        }
    }

    /// Path, size in bytes, serial number and world wide name.
    pub(super) fn identity(&self) -> (&Path, u64, &[String]) {
        (&self.path, self.size_bytes, &self.identities)
    }

    pub(super) fn number(&self) -> DeviceNumber {
        DeviceNumber { major: self.major, minor: self.minor }
    }
}

/// A step and its progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LedgerStep {
    pub(super) step: Step,
    pub(super) state: StepState,
    /// Directories that the step has created, outer ones first.
    pub(super) made: Vec<PathBuf>,
}

/// A change in a ledger after the layout was started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum Event {
    /// The progress of a step.
    Step { step: usize, state: StepState },
    /// The directories that a step is about to create, outer ones first.
    Directories { step: usize, made: Vec<PathBuf> },
    /// All steps were done. The devices have these signatures.
    Complete { devices: Vec<OwnedDevice> },
    /// The layout is to outlive its creator.
    Kept,
    /// The destruction of the layout has begun.
    Destroying,
}

impl Ledger {
    fn replay(&mut self, event: Event) -> Result<(), String> {
        match event {
            Event::Step { step, state } => self.step(step)?.state = state,
            Event::Directories { step, made } => self.step(step)?.made = made,
            Event::Complete { devices } => (self.complete, self.devices) = (true, devices),
            Event::Kept => self.kept = true,
            // If this program is killed from here on, the layout counts as a leftover.
            Event::Destroying => self.complete = false,
        }
        Ok(())
    }

    fn step(&mut self, step: usize) -> Result<&mut LedgerStep, String> {
        let count = self.steps.len();
        self.steps.get_mut(step).ok_or_else(|| format!("step {step} of {count}"))
    }
}

/// Progress of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StepState {
    Planned,
    Begun,
    Done,
    Undone,
}

/// An existing layout, or the part of one that a killed program has left.
#[derive(Debug, Clone)]
pub struct MadeLayout {
    pub(super) ledger: Ledger,
    /// The file of the ledger, or `None` if the layout has nothing to undo.
    pub(super) file: Option<LedgerFile>,
    /// What is missing in the ledger.
    pub(super) loss: LedgerLoss,
    /// This host.
    pub(super) here: HostIdentity,
}

impl MadeLayout {
    /// Creates a layout without executed steps.
    pub(super) fn begin(
        root: &Root,
        layout: &Layout,
        run_id: &str,
        devices: Vec<OwnedDevice>,
        steps: Vec<Step>,
    ) -> Self {
        let here = HostIdentity::of(root);
        let steps = steps
            .into_iter()
            .map(|step| LedgerStep { step, state: StepState::Planned, made: Vec::new() })
            .collect();
        let ledger = Ledger {
            version: KIND.version,
            layout: layout.clone(),
            run_id: run_id.to_owned(),
            begun_unix_ns: now_unix_ns(),
            host: here.clone(),
            owner: ProcessIdentity::this(),
            kept: false,
            complete: false,
            devices,
            steps,
        };
        Self { ledger, file: None, loss: LedgerLoss::default(), here }
    }

    /// Whether there is anything to undo. If not, no ledger is needed.
    pub(super) fn needs_ledger(&self) -> bool {
        !self.ledger.steps.is_empty()
    }

    /// Creates the ledger on stable storage.
    pub(super) fn create_ledger(&mut self, state: &Path) -> Result<(), LayoutError> {
        // The name of a layout is a plain word ([`Layout::problems`]).
        let path = directory(state).join(format!("{}{SUFFIX}", self.name()));
        let file = LedgerFile::create(&KIND, &path, &self.ledger)
            .map_err(|error| LayoutError::io("write", &path, error))?;
        self.file = Some(file);
        Ok(())
    }

    /// The requested layout.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.ledger.layout
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.ledger.layout.name
    }

    /// The run that created it.
    #[must_use]
    pub fn run_id(&self) -> &str {
        &self.ledger.run_id
    }

    /// When it was started, in nanoseconds since 1970-01-01 UTC.
    #[must_use]
    pub fn begun_unix_ns(&self) -> i64 {
        self.ledger.begun_unix_ns
    }

    /// The nodes of its devices, in the order of the members.
    #[must_use]
    pub fn devices(&self) -> Vec<PathBuf> {
        self.ledger.devices.iter().map(|device| device.path.clone()).collect()
    }

    /// The measured directories, or the devices of a raw layout, in the order of the members.
    #[must_use]
    pub fn places(&self) -> Vec<PathBuf> {
        match self.ledger.layout.recipe {
            Recipe::Raw => self.devices(),
            _ => self.ledger.layout.directories(),
        }
    }

    /// Whether it is complete.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.ledger.complete
    }

    /// Whether it was kept deliberately.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.ledger.kept
    }

    /// The process that created it, if it is still running on this host.
    #[must_use]
    pub fn owner(&self) -> Option<u32> {
        let Ledger { owner, host, .. } = &self.ledger;
        (self.here.is_same_boot(host) && owner.is_alive()).then_some(owner.pid)
    }

    /// Whether a killed program has left it: its creator no longer runs, and it was not kept
    /// deliberately.
    #[must_use]
    pub fn is_leftover(&self) -> bool {
        self.is_here() && self.owner().is_none() && !(self.ledger.kept && self.ledger.complete)
    }

    /// Whether it belongs to this host.
    #[must_use]
    pub fn is_here(&self) -> bool {
        self.here.is_same_host(&self.ledger.host)
    }

    /// Rejects a layout of another host, because its commands are meant for that host.
    ///
    /// # Errors
    /// Errors if it belongs to another host.
    pub fn check_host(&self) -> Result<(), LayoutError> {
        if self.is_here() {
            return Ok(());
        }
        let (host, here) = (self.ledger.host.name.clone(), self.here.name.clone());
        Err(LayoutError::OtherHost { layout: self.name().to_owned(), path: self.ledger_place(), host, here })
    }

    /// The path of its ledger, or `None` if the layout has nothing to undo.
    #[must_use]
    pub fn ledger_path(&self) -> Option<&Path> {
        self.file.as_ref().map(LedgerFile::path)
    }

    /// Describes what is missing in its ledger, or returns `None` if nothing is missing.
    #[must_use]
    pub fn loss(&self) -> Option<String> {
        self.loss.told(&self.ledger_place())
    }

    /// The commands that undo all started steps, in the order of execution.
    pub fn undoing(&self) -> impl Iterator<Item = &Undo> {
        let is_begun = |step: &&LedgerStep| matches!(step.state, StepState::Begun | StepState::Done);
        self.ledger.steps.iter().rev().filter(is_begun).flat_map(|step| &step.step.undo)
    }

    pub(super) fn ledger_place(&self) -> PathBuf {
        self.ledger_path().map(Path::to_owned).unwrap_or_default()
    }

    /// Records an event, first on stable storage and then in this value.
    pub(super) fn note(&mut self, event: Event) -> Result<(), LayoutError> {
        if let Some(file) = &mut self.file {
            file.append(&event)?;
        }
        self.ledger
            .replay(event)
            .map_err(|reason| LayoutError::io("write", &self.ledger_place(), io::Error::other(reason)))
    }

    pub(super) fn remove(self) -> Result<(), LayoutError> {
        self.file.map_or(Ok(()), |file| Ok(file.remove()?))
    }
}

/// The directory of ledgers.
pub(super) fn directory(state: &Path) -> PathBuf {
    state.join(DIRECTORY)
}

/// Creates the directory of ledgers, and locks out other programs until the returned value is dropped.
pub(super) fn lock(state: &Path) -> Result<File, LayoutError> {
    let directory = directory(state);
    ledger::check_directory(&directory)?;
    ledger::make_directory(&directory).map_err(|error| LayoutError::io("make", &directory, error))?;
    let path = directory.join(LOCK);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(LOCK_MODE);
    let file = ledger::open(&mut options, &path).map_err(|error| LayoutError::io("open", &path, error))?;
    rustix::fs::flock(&file, FlockOperation::LockExclusive)
        .map_err(|error| LayoutError::io("lock", &path, error.into()))?;
    Ok(file)
}

/// All ledgers below `state`, ordered by name.
pub(super) fn all(root: &Root, state: &Path) -> Result<Vec<MadeLayout>, LayoutError> {
    let directory = directory(state);
    let entries = match fs::read_dir(&directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(LayoutError::io("read", &directory, error)),
    };
    let mut paths: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().ends_with(SUFFIX))
        .collect();
    paths.sort();
    let here = HostIdentity::of(root);
    // A ledger that another program has removed in the meantime is skipped.
    let standing = |path: PathBuf| {
        let content = LedgerFile::read::<Ledger, Event>(&KIND, &path)?;
        let Some(LedgerContent { file, head: mut ledger, events, loss, .. }) = content else {
            return Ok(None);
        };
        for (line, event) in events {
            ledger.replay(event).map_err(|reason| file.damaged(line, reason))?;
        }
        Ok(Some(MadeLayout { ledger, file: Some(file), loss, here: here.clone() }))
    };
    paths.into_iter().filter_map(|path| standing(path).transpose()).collect()
}

fn now_unix_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
