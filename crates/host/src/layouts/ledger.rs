//! Record of the executed steps on stable storage: enough to undo them from another process.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use plan::layout::{Step, Undo};
use plan::{Layout, Recipe};
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};

use super::LayoutError;
use crate::guard::Signature;
use crate::ledger_file::{self, Unread};
use crate::owner::{HostIdentity, Owner};
use crate::{DeviceNumber, Root};

/// Below the state directory.
const DIRECTORY: &str = "layouts";
/// Suffix of a ledger's name.
const SUFFIX: &str = ".json";
/// Held while a layout is started, so that two programs do not use one device.
const LOCK: &str = ".lock";
/// Format version. A later one may have undo steps unknown to this program.
const VERSION: u32 = 1;
/// State of a layout that was started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ledger {
    version: u32,
    pub(super) layout: Layout,
    pub(super) run_id: String,
    /// Wall clock at its start, nanoseconds since 1970-01-01 UTC.
    pub(super) begun_unix_ns: i64,
    pub(super) host: HostIdentity,
    pub(super) owner: Owner,
    /// It is kept after its creator ends.
    pub(super) kept: bool,
    /// All steps were done.
    pub(super) complete: bool,
    pub(super) devices: Vec<OwnedDevice>,
    pub(super) steps: Vec<LedgerStep>,
}

/// A device that was given to the layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OwnedDevice {
    /// As the user named it.
    pub(super) given: String,
    /// Its node.
    pub(super) path: PathBuf,
    major: u32,
    minor: u32,
    pub(super) size_bytes: u64,
    /// Serial number and world wide name.
    pub(super) identities: Vec<String>,
    /// `/sys/block/NAME/diskseq`: another one for each medium, or set-up of a loop device, since boot.
    pub(super) sequence: Option<u64>,
    /// Its signatures once the layout is complete; none during creation.
    pub(super) signatures: Option<Vec<Signature>>,
    /// Signatures that may appear anywhere on it once the metadata of the layout is gone.
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

    /// Path, bytes, serial number and world wide name.
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
    /// Directories that it made, outer ones first.
    pub(super) made: Vec<PathBuf>,
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
pub struct Standing {
    pub(super) ledger: Ledger,
    /// Where the ledger is; none for a layout that has nothing to undo.
    pub(super) path: Option<PathBuf>,
    /// This host.
    pub(super) here: HostIdentity,
}

impl Standing {
    /// A layout without executed steps.
    pub(super) fn begin(
        root: &Root,
        state: &Path,
        layout: &Layout,
        run_id: &str,
        devices: Vec<OwnedDevice>,
        steps: Vec<Step>,
    ) -> Self {
        let here = HostIdentity::of(root);
        // Without steps to undo no ledger is needed.
        let path = (!steps.is_empty()).then(|| place(state, &layout.name));
        let steps = steps
            .into_iter()
            .map(|step| LedgerStep { step, state: StepState::Planned, made: Vec::new() })
            .collect();
        let ledger = Ledger {
            version: VERSION,
            layout: layout.clone(),
            run_id: run_id.to_owned(),
            begun_unix_ns: now_unix_ns(),
            host: here.clone(),
            owner: Owner::this(),
            kept: false,
            complete: false,
            devices,
            steps,
        };
        Self { ledger, path, here }
    }

    /// The layout that was asked for.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.ledger.layout
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.ledger.layout.name
    }

    /// The run that made it.
    #[must_use]
    pub fn run_id(&self) -> &str {
        &self.ledger.run_id
    }

    /// When it was begun, nanoseconds since 1970-01-01 UTC.
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

    /// Whether it was kept on purpose.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.ledger.kept
    }

    /// The process that made it, if still running here.
    #[must_use]
    pub fn owner(&self) -> Option<u32> {
        let Ledger { owner, host, .. } = &self.ledger;
        (self.here.is_same_boot(host) && owner.is_alive()).then_some(owner.pid)
    }

    /// Whether a killed program has left it: its creator is gone, and it was not kept on purpose.
    #[must_use]
    pub fn is_leftover(&self) -> bool {
        self.is_here() && self.owner().is_none() && !(self.ledger.kept && self.ledger.complete)
    }

    /// Whether it is of this host.
    #[must_use]
    pub fn is_here(&self) -> bool {
        self.here.is_same_host(&self.ledger.host)
    }

    /// Refuses one of another host: its commands are for that one.
    ///
    /// # Errors
    /// It is of another host.
    pub fn check_host(&self) -> Result<(), LayoutError> {
        if self.is_here() {
            return Ok(());
        }
        let (host, here) = (self.ledger.host.name.clone(), self.here.name.clone());
        Err(LayoutError::OtherHost { layout: self.name().to_owned(), path: self.ledger_place(), host, here })
    }

    /// Where its ledger is; none for a layout that has nothing to undo.
    #[must_use]
    pub fn ledger_path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The commands that destroy it, of all started steps, in the order of execution.
    pub fn undoing(&self) -> impl Iterator<Item = &Undo> {
        let is_begun = |step: &&LedgerStep| matches!(step.state, StepState::Begun | StepState::Done);
        self.ledger.steps.iter().rev().filter(is_begun).flat_map(|step| &step.step.undo)
    }

    pub(super) fn ledger_place(&self) -> PathBuf {
        self.path.clone().unwrap_or_default()
    }

    /// Writes the ledger to stable storage.
    pub(super) fn save(&self) -> Result<(), LayoutError> {
        let Some(path) = &self.path else { return Ok(()) };
        let text = serde_json::to_vec_pretty(&self.ledger).map_err(|error| LayoutError::Unreadable {
            path: path.clone(),
            reason: format!("it cannot be written down: {error}; use paths in UTF-8"),
        })?;
        replace(path, &text).map_err(|error| LayoutError::io("write", path, error))
    }

    pub(super) fn remove(self) -> Result<(), LayoutError> {
        let Some(path) = &self.path else { return Ok(()) };
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(LayoutError::io("remove", path, error))
            }
            _ => Ok(()),
        }
    }
}

/// Replaces a file atomically, also on power failure.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension("unfinished");
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(ledger_file::MODE)
        .custom_flags(libc::O_NOFOLLOW)
        .open(&temporary)?;
    // An existing file may have had another mode.
    file.set_permissions(Permissions::from_mode(ledger_file::MODE))?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&temporary, path)?;
    match path.parent() {
        Some(directory) => File::open(directory)?.sync_all(),
        None => Ok(()),
    }
}

/// The directory of ledgers.
pub(super) fn directory(state: &Path) -> PathBuf {
    state.join(DIRECTORY)
}

/// The path of the ledger of a layout. Its name is a plain word ([`Layout::problems`]).
fn place(state: &Path, name: &str) -> PathBuf {
    directory(state).join(format!("{name}{SUFFIX}"))
}

/// Creates the directory of ledgers, and locks out other programs until the value is dropped.
pub(super) fn lock(state: &Path) -> Result<File, LayoutError> {
    let directory = directory(state);
    fs::create_dir_all(&directory).map_err(|error| LayoutError::io("make", &directory, error))?;
    let path = directory.join(LOCK);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    let file =
        ledger_file::open(&mut options, &path).map_err(|error| LayoutError::io("open", &path, error))?;
    rustix::fs::flock(&file, FlockOperation::LockExclusive)
        .map_err(|error| LayoutError::io("lock", &path, error.into()))?;
    Ok(file)
}

/// All ledgers below `state`, by name.
pub(super) fn all(root: &Root, state: &Path) -> Result<Vec<Standing>, LayoutError> {
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
    let standing = |path: PathBuf| {
        let ledger = read(&path)?;
        Ok(Standing { ledger, path: Some(path), here: here.clone() })
    };
    paths.into_iter().map(standing).collect()
}

fn read(path: &Path) -> Result<Ledger, LayoutError> {
    /// Read first: a later version must not be interpreted.
    #[derive(Deserialize)]
    struct Head {
        version: u32,
    }
    let unreadable = |reason: String| LayoutError::Unreadable { path: path.to_owned(), reason };
    let text = ledger_file::read(path).map_err(|unread| match unread {
        Unread::Io(error) => LayoutError::io("read", path, error),
        Unread::Refused(reason) => unreadable(reason),
    })?;
    let head: Head = serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
    if head.version != VERSION {
        return Err(unreadable(format!("it has version {}, expected {VERSION}", head.version)));
    }
    serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))
}

fn now_unix_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
