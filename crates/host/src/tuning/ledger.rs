//! The previous settings, on stable storage before the first change and after each one.
//!
//! A file of lines, one event each, that is only appended to and removed when all is restored. The old values
//! of all writes come before the first write. A last line without its end was truncated by a crash: nothing
//! was changed for it yet.

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::owner::Owner;
use super::planned::TuningPlan;
use super::setting::{Setting, Settings};
use crate::ledger_file::{self, Unread};
use crate::{Root, facts};

/// Its name in the state directory.
pub const LEDGER: &str = "tuning.jsonl";
/// Default state directory.
pub const STATE_DIRECTORY: &str = "/var/lib/ioproof";
/// Environment variable with another state directory.
pub const STATE_VARIABLE: &str = "IOPROOF_STATE";
/// Format version of this program.
const VERSION: u32 = 1;

/// An error of a ledger.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// It cannot be read or written.
    #[error("{action} {path}: {source}; {next}", path = path.display())]
    Io {
        /// The attempted action.
        action: &'static str,
        /// The path of the action.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
        /// What to do.
        next: &'static str,
    },
    /// Others could have written it, or it is not a regular file.
    #[error("{path}: {reason}", path = path.display())]
    Untrusted {
        /// The file.
        path: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
    /// A line is no event of a ledger.
    #[error(
        "{path}: line {line} is damaged ({reason}): the old values of its settings are in the lines before; \
         restore them by hand, then remove the file",
        path = path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// It was written by another host.
    #[error(
        "{path} was written on host {theirs}, this is {ours}: its values are not those of this host; restore \
         there, or give another --state",
        path = path.display()
    )]
    OtherHost {
        /// The file.
        path: PathBuf,
        /// The host that wrote it.
        theirs: String,
        /// This one.
        ours: String,
    },
    /// It was written before the host was booted.
    #[error(
        "{path} is of an earlier boot: run `ioproof host restore` first, which puts back what is still set",
        path = path.display()
    )]
    EarlierBoot {
        /// The file.
        path: PathBuf,
    },
    /// Another process is using it.
    #[error("another ioproof tunes or restores this host right now ({path} is locked): wait for it", path = path.display())]
    Busy {
        /// The directory.
        path: PathBuf,
    },
}

impl LedgerError {
    /// Whether the program refuses although it could.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        !matches!(self, Self::Io { .. })
    }
}

/// A host and its boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// `/etc/machine-id`; empty where there is none.
    pub machine_id: String,
    /// The name of the node.
    pub node: String,
    /// The kernel's number of this boot; empty where it has none.
    pub boot_id: String,
}

impl Identity {
    /// The identity of the host under `root`.
    #[must_use]
    pub fn of(root: &Root) -> Self {
        let text = |path: &str| root.text(path).known().cloned().unwrap_or_default();
        Self {
            machine_id: text("/etc/machine-id"),
            node: facts::node(root),
            boot_id: text("/proc/sys/kernel/random/boot_id"),
        }
    }

    /// Whether both are one host. Names change; the number of a machine does not.
    #[must_use]
    pub fn is_same_host(&self, other: &Self) -> bool {
        if self.machine_id.is_empty() || other.machine_id.is_empty() {
            return self.node == other.node;
        }
        self.machine_id == other.machine_id
    }
}

/// Progress of the change of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryState {
    /// Unknown: the program ended before it recorded the result.
    Planned,
    /// Written; it then read as this.
    Written(String),
    /// The kernel refused it.
    Refused(String),
    /// Changed by the kernel as a side effect of another; it then read as this.
    Moved(String),
    /// Restored, or gone with its device.
    Restored,
}

/// A setting and its value before the first change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The setting.
    pub setting: Setting,
    /// What it read as.
    pub old: String,
    /// What is written; nothing where the kernel changes it along with another setting.
    pub new: Option<String>,
    /// The step that changes it.
    pub step: String,
    /// The kernel's number of the device, which another device in its place does not have.
    pub device_number: Option<u64>,
    /// How its device or interrupt is found after a boot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// Whether the kernel changes it along with another of the ledger.
    pub coupled: bool,
    /// Whether each boot sets it again: by the script of `--persist`, or by TuneD.
    #[serde(default)]
    pub set_at_boot: bool,
    /// Progress of the change.
    #[serde(skip, default = "planned")]
    pub state: EntryState,
    /// Every value that this program has given it, or was about to.
    #[serde(skip)]
    pub ours: Vec<String>,
    /// Whether an earlier use has written it.
    #[serde(skip)]
    pub(super) written_before: bool,
}

fn planned() -> EntryState {
    EntryState::Planned
}

/// One use of `host tune`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Application {
    /// Its profiles.
    pub profiles: Vec<String>,
    /// When, nanoseconds since 1970 (UTC).
    pub at_unix_ns: i64,
    /// Whether it was completed.
    #[serde(skip)]
    pub finished: bool,
}

/// A file that makes settings persistent across reboots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFile {
    /// Its path, without the prefix of a [`Root`].
    pub path: String,
    /// What it is.
    pub form: KeptForm,
}

/// The kind of a persistent file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeptForm {
    /// A file of ours with this text.
    Text(String),
    /// A link of ours to this.
    Link(String),
    /// A line of ours in a file of the user's.
    Line(String),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Event {
    Opened { version: u32, host: Identity },
    Planned { application: Application, entries: Vec<Entry> },
    Written { entry: usize, read_back: String },
    Refused { entry: usize, error: String },
    Moved { entry: usize, read_back: String },
    Finished,
    Keeping { file: KeptFile },
    Restoring,
    Restored { entry: usize },
    Removed { file: KeptFile },
    Paused,
}

/// The ledger of a host, open and locked, or just read.
#[derive(Debug)]
pub struct Ledger {
    /// The host it belongs to.
    pub host: Identity,
    /// The uses of `host tune` that are in it.
    pub applications: Vec<Application>,
    /// The settings, in the order in which they were changed first.
    pub entries: Vec<Entry>,
    /// Files that make settings persistent across reboots.
    pub kept: Vec<KeptFile>,
    /// Whether a restore has begun that did not come to its end.
    restoring: bool,
    path: PathBuf,
    file: Option<File>,
    /// Held until the value is dropped.
    _lock: Option<File>,
}

impl Ledger {
    /// The ledger in the directory, if there is one, for looking at.
    ///
    /// # Errors
    /// It cannot be read, or is damaged.
    pub fn read(state: &Path) -> Result<Option<Self>, LedgerError> {
        let path = state.join(LEDGER);
        let text = match ledger_file::read(&path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(Unread::Io(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(Unread::Io(source)) => {
                return Err(LedgerError::Io { action: "read", path, source, next: "run as its owner" });
            }
            Err(Unread::Refused(reason)) => return Err(LedgerError::Untrusted { path, reason }),
        };
        Self::parse(path, &text).map(Some)
    }

    /// Opens the ledger in the directory for changes, creating it if needed. Locks out other processes until
    /// the value is dropped.
    ///
    /// # Errors
    /// It cannot be made or read, is in use, damaged, or another host's.
    pub fn open(state: &Path, host: &Identity) -> Result<Self, LedgerError> {
        fs::create_dir_all(state).map_err(|source| unwritable(state, source))?;
        let lock = Some(locked(state)?);
        let path = state.join(LEDGER);
        let mut ledger = match Self::read(state)? {
            Some(ledger) => ledger,
            None => {
                let opened = line(&Event::Opened { version: VERSION, host: host.clone() });
                created(&path, &opened).map_err(|source| unwritable(&path, source))?;
                Self::empty(path.clone(), host.clone())
            }
        };
        if !ledger.host.is_same_host(host) {
            let named = |host: &Identity| format!("{} (machine {})", host.node, host.machine_id);
            return Err(LedgerError::OtherHost { path, theirs: named(&ledger.host), ours: named(host) });
        }
        let file = OpenOptions::new().append(true).open(&path).map_err(|source| unwritable(&path, source))?;
        cut_torn_line(&path, &file).map_err(|source| unwritable(&path, source))?;
        ledger.file = Some(file);
        ledger._lock = lock;
        Ok(ledger)
    }

    fn empty(path: PathBuf, host: Identity) -> Self {
        let (applications, entries, kept) = (Vec::new(), Vec::new(), Vec::new());
        Self { host, applications, entries, kept, restoring: false, path, file: None, _lock: None }
    }

    fn parse(path: PathBuf, text: &str) -> Result<Self, LedgerError> {
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut ledger: Option<Self> = None;
        for (index, line) in whole.lines().enumerate() {
            let damaged =
                |reason: String| LedgerError::Damaged { path: path.clone(), line: index + 1, reason };
            let event: Event = serde_json::from_str(line).map_err(|error| damaged(error.to_string()))?;
            match (&mut ledger, event) {
                (None, Event::Opened { version: VERSION, host }) => {
                    ledger = Some(Self::empty(path.clone(), host));
                }
                (None, Event::Opened { version, .. }) => {
                    return Err(damaged(format!("version {version}, of a newer ioproof")));
                }
                (Some(ledger), event) => ledger.replay(event).map_err(damaged)?,
                (None, _) => return Err(damaged("it does not begin with who wrote it".to_owned())),
            }
        }
        ledger.ok_or_else(|| LedgerError::Damaged { path, line: 1, reason: "it is empty".to_owned() })
    }

    fn replay(&mut self, event: Event) -> Result<(), String> {
        match event {
            Event::Opened { .. } => return Err("it begins twice".to_owned()),
            Event::Planned { application, entries } => {
                self.applications.push(application);
                entries.into_iter().for_each(|entry| self.merge(entry));
            }
            Event::Finished => {
                if let Some(application) = self.applications.last_mut() {
                    application.finished = true;
                }
            }
            Event::Restoring => self.restoring = true,
            Event::Paused => {
                self.restoring = false;
                self.applications.iter_mut().for_each(|application| application.finished = true);
            }
            Event::Keeping { file } => self.kept.push(file),
            Event::Removed { file } => self.kept.retain(|other| *other != file),
            Event::Written { entry, read_back } => self.set(entry, EntryState::Written(read_back))?,
            Event::Refused { entry, error } => self.set(entry, EntryState::Refused(error))?,
            Event::Moved { entry, read_back } => self.set(entry, EntryState::Moved(read_back))?,
            Event::Restored { entry } => self.set(entry, EntryState::Restored)?,
        }
        Ok(())
    }

    fn set(&mut self, entry: usize, state: EntryState) -> Result<(), String> {
        let entries = self.entries.len();
        let entry = self.entries.get_mut(entry).ok_or(format!("entry {entry} of {entries}"))?;
        match &state {
            EntryState::Written(value) | EntryState::Moved(value) => entry.ours.push(value.clone()),
            // What an earlier use has written is to be restored all the same.
            EntryState::Refused(_) if entry.written_before => return Ok(()),
            EntryState::Planned | EntryState::Refused(_) | EntryState::Restored => {}
        }
        // What was written stays so where a later write has changed it as well.
        if !matches!((&entry.state, &state), (EntryState::Written(_), EntryState::Moved(_))) {
            entry.state = state;
        }
        Ok(())
    }

    /// Adds a setting; of one that is in the ledger already the first old value stays.
    fn merge(&mut self, mut entry: Entry) {
        entry.ours.extend(entry.new.clone());
        let Some(earlier) = self.entries.iter_mut().find(|earlier| earlier.setting == entry.setting) else {
            self.entries.push(entry);
            return;
        };
        earlier.coupled |= entry.coupled;
        // An earlier script may stand still.
        entry.set_at_boot |= earlier.set_at_boot;
        earlier.set_at_boot = entry.set_at_boot;
        if earlier.state == EntryState::Restored {
            *earlier = entry;
        } else if entry.new.is_some() {
            earlier.ours.append(&mut entry.ours);
            earlier.written_before |= !matches!(earlier.state, EntryState::Refused(_));
            (earlier.new, earlier.step, earlier.state) = (entry.new, entry.step, EntryState::Planned);
        }
    }

    fn append(&mut self, event: &Event) -> Result<(), LedgerError> {
        let failed = |source| LedgerError::Io {
            action: "write",
            path: self.path.clone(),
            source,
            next: "what was changed until then is in it: make room, then `ioproof host restore`",
        };
        let file =
            self.file.as_mut().ok_or_else(|| failed(io::Error::other("it is open for reading only")))?;
        file.write_all(line(event).as_bytes()).and_then(|()| file.sync_data()).map_err(failed)
    }

    fn note(&mut self, event: Event) -> Result<(), LedgerError> {
        self.append(&event)?;
        let path = self.path.clone();
        self.replay(event).map_err(|reason| LedgerError::Damaged { path, line: 0, reason })
    }

    /// Puts all old values on stable storage before the first write.
    pub(super) fn begin(
        &mut self,
        plan: &TuningPlan,
        root: &Root,
        settings: &dyn Settings,
        at_unix_ns: i64,
    ) -> Result<(), LedgerError> {
        let number = |setting: &Setting| device_number(root, setting);
        let mut entries: Vec<Entry> = Vec::new();
        for write in &plan.writes {
            let entry = |setting: &Setting, old: String, new: Option<String>| Entry {
                device_number: number(setting),
                owner: Owner::of(setting, write.device.as_deref(), root),
                set_at_boot: plan.persist || write.setting.outlives_boot(),
                setting: setting.clone(),
                old,
                new,
                step: write.step.to_owned(),
                coupled: plan.writes.iter().any(|other| other.moves.contains(setting)),
                state: EntryState::Planned,
                ours: Vec::new(),
                written_before: false,
            };
            match entries.iter_mut().find(|other| other.setting == write.setting) {
                Some(known) => known.new = Some(write.new.clone()),
                None => entries.push(entry(&write.setting, write.old.clone(), Some(write.new.clone()))),
            }
            for moved in &write.moves {
                if let Ok(old) = settings.read(moved)
                    && !entries.iter().any(|other| other.setting == *moved)
                {
                    entries.push(entry(moved, old.trim().to_owned(), None));
                }
            }
        }
        let profiles = plan.profiles.iter().map(|name| (*name).to_owned()).collect();
        let application = Application { profiles, at_unix_ns, finished: false };
        let Err(error) = self.note(Event::Planned { application, entries }) else { return Ok(()) };
        if self.applications.is_empty() {
            let _ = fs::remove_file(&self.path);
        }
        Err(match error {
            LedgerError::Io { path, source, .. } => unwritable(&path, source),
            other => other,
        })
    }

    pub(super) fn index_of(&self, setting: &Setting) -> Option<usize> {
        self.entries.iter().position(|entry| entry.setting == *setting)
    }

    pub(super) fn written(&mut self, entry: usize, read_back: String) -> Result<(), LedgerError> {
        self.note(Event::Written { entry, read_back })
    }

    pub(super) fn refused(&mut self, entry: usize, error: String) -> Result<(), LedgerError> {
        self.note(Event::Refused { entry, error })
    }

    pub(super) fn moved(&mut self, entry: usize, read_back: String) -> Result<(), LedgerError> {
        self.note(Event::Moved { entry, read_back })
    }

    pub(super) fn finished(&mut self) -> Result<(), LedgerError> {
        self.note(Event::Finished)
    }

    pub(super) fn restoring(&mut self) -> Result<(), LedgerError> {
        self.note(Event::Restoring)
    }

    /// A restore has come to its end, with something left.
    pub(super) fn paused(&mut self) -> Result<(), LedgerError> {
        self.note(Event::Paused)
    }

    /// Whether an operation was interrupted: the kernel may have changed settings as side effects that were
    /// not recorded.
    #[must_use]
    pub fn was_cut_short(&self) -> bool {
        self.restoring || self.applications.iter().any(|application| !application.finished)
    }

    pub(super) fn restored(&mut self, entry: usize) -> Result<(), LedgerError> {
        self.note(Event::Restored { entry })
    }

    pub(super) fn keeping(&mut self, file: KeptFile) -> Result<(), LedgerError> {
        self.note(Event::Keeping { file })
    }

    pub(super) fn removed(&mut self, file: KeptFile) -> Result<(), LedgerError> {
        self.note(Event::Removed { file })
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether nothing is left to restore.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.kept.is_empty() && self.entries.iter().all(|entry| entry.state == EntryState::Restored)
    }

    /// Removes the ledger, and the directory that it has by default if nothing else is in it.
    pub(super) fn remove(self) -> Result<(), LedgerError> {
        fs::remove_file(&self.path).map_err(|source| LedgerError::Io {
            action: "remove",
            path: self.path.clone(),
            source,
            next: "all is restored: remove it by hand",
        })?;
        if let Some(state) = self.path.parent() {
            let _ = File::open(state).and_then(|directory| directory.sync_all());
            if state.ends_with(STATE_DIRECTORY.trim_start_matches('/')) {
                let _ = fs::remove_dir(state);
            }
        }
        Ok(())
    }
}

fn unwritable(path: &Path, source: io::Error) -> LedgerError {
    let next = "nothing was changed: make room or run as root, or give another --state";
    LedgerError::Io { action: "write", path: path.to_owned(), source, next }
}

/// The lock is on the directory: the file comes and goes.
fn locked(state: &Path) -> Result<File, LedgerError> {
    let directory = File::open(state).map_err(|source| unwritable(state, source))?;
    match directory.try_lock() {
        Ok(()) => Ok(directory),
        Err(TryLockError::WouldBlock) => Err(LedgerError::Busy { path: state.to_owned() }),
        Err(TryLockError::Error(source)) => Err(unwritable(state, source)),
    }
}

fn line(event: &Event) -> String {
    serde_json::to_string(event).expect("events are of plain fields, which always have a form in JSON") + "\n"
}

/// Creates the file with its first line atomically.
fn created(path: &Path, text: &str) -> io::Result<()> {
    let fresh = path.with_extension("new");
    let write = || {
        let mut file = File::create(&fresh)?;
        file.set_permissions(Permissions::from_mode(ledger_file::MODE))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&fresh, path)?;
        path.parent().map_or(Ok(()), |state| File::open(state)?.sync_all())
    };
    write().inspect_err(|_| {
        let _ = fs::remove_file(&fresh);
    })
}

/// Removes a line truncated by a crash, which would run into the next one.
fn cut_torn_line(path: &Path, file: &File) -> io::Result<()> {
    let bytes = fs::read(path)?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    if whole < bytes.len() { file.set_len(whole as u64) } else { Ok(()) }
}

/// What the kernel counts devices by (since Linux 5.15): a number that no other device of this boot has.
/// Of a loop device it changes with the file behind it, while the queue stays, and its settings with it.
pub(super) fn device_number(root: &Root, setting: &Setting) -> Option<u64> {
    let device = setting.device().filter(|name| !name.starts_with("loop"))?;
    root.number(&format!("/sys/block/{device}/diskseq")).known().copied()
}
