//! The previous settings, which are on stable storage before the first change and after each change.
//!
//! The old values of all writes are recorded before the first write. The ledger is removed when
//! everything is restored.

pub(in crate::tuning) mod entry;
pub(in crate::tuning) mod owner;

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::planned::TuningPlan;
use super::settings::setting::{Setting, Settings};
use crate::ledger::{
    LedgerContent, LedgerFile, LedgerKind, LedgerLoss, STATE_DIRECTORY, check_directory, make_directory,
};
use crate::{HostIdentity, LedgerError, Root};
use entry::{Entry, EntryState};
use owner::Owner;

/// Name of the ledger in the state directory.
pub const LEDGER: &str = "tuning.jsonl";

const KIND: LedgerKind = LedgerKind {
    version: 1,
    after_failed_write: "the changes made so far are recorded in it: free some space, then run `ioproof host restore`",
    by_hand: "the previous values of the settings are in the lines before it; restore them by hand, then \
              remove the file",
};

/// One use of `host tune`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Application {
    /// Its profiles.
    pub profiles: Vec<String>,
    /// Time of use, in nanoseconds since 1970 (UTC).
    pub at_unix_ns: i64,
    /// Whether it was completed.
    #[serde(skip)]
    pub finished: bool,
}

/// A file that makes settings persistent across reboots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersistentFile {
    /// Its path, without the prefix of a [`Root`].
    pub path: String,
    /// The kind of file.
    pub form: PersistentForm,
}

/// The kind of a persistent file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PersistentForm {
    /// A file that this program has created, with this text.
    Text(String),
    /// A link that this program has created, to this target.
    Link(String),
    /// A line that this program has added to a file of the user.
    Line(String),
}

/// The head of the ledger.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename = "opened")]
struct Opened {
    version: u32,
    host: HostIdentity,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Event {
    Planned { application: Application, entries: Vec<Entry> },
    Written { entry: usize, read_back: String },
    Refused { entry: usize, error: String },
    Moved { entry: usize, read_back: String },
    Finished,
    Keeping { file: PersistentFile },
    Restoring,
    Restored { entry: usize },
    Removed { file: PersistentFile },
    Paused,
}

impl Event {
    /// Whether it refers to an entry by the entry's index.
    const fn is_about_an_entry(&self) -> bool {
        matches!(
            self,
            Self::Written { .. } | Self::Refused { .. } | Self::Moved { .. } | Self::Restored { .. }
        )
    }
}

/// The ledger of a host, either opened and locked, or only read.
#[derive(Debug)]
pub struct Ledger {
    /// The host it belongs to.
    pub host: HostIdentity,
    /// The recorded uses of `host tune`.
    pub applications: Vec<Application>,
    /// The settings, in the order of their first change.
    pub entries: Vec<Entry>,
    /// Files that make settings persistent across reboots.
    pub kept: Vec<PersistentFile>,
    /// What is missing in the ledger.
    pub loss: LedgerLoss,
    /// Whether a restore was begun and not finished.
    restoring: bool,
    file: LedgerFile,
    /// The lock, which is held until the value is dropped. `None` if the ledger was only read.
    lock: Option<File>,
}

impl Ledger {
    /// Reads the ledger in the directory, if there is one, without locking it.
    ///
    /// # Errors
    /// Errors if it cannot be read or is damaged.
    pub fn read(state: &Path) -> Result<Option<Self>, LedgerError> {
        let content = LedgerFile::read::<Opened, Event>(&KIND, &state.join(LEDGER))?;
        let Some(LedgerContent { file, head, events, loss, first_gap }) = content else { return Ok(None) };
        let mut ledger = Self { loss, ..Self::new(file, head.host) };
        for (line, event) in events {
            let is_after_gap = first_gap.is_some_and(|gap| line >= gap);
            // Entries are referred to by index, and the indices may be wrong if the plan of a use is
            // missing.
            if is_after_gap && matches!(event, Event::Planned { .. }) {
                return Err(ledger
                    .file
                    .damaged(line, "lines before it are missing, so it is unknown what was set"));
            }
            if is_after_gap && event.is_about_an_entry() {
                continue;
            }
            ledger.replay(event).map_err(|reason| ledger.file.damaged(line, reason))?;
        }
        Ok(Some(ledger))
    }

    /// Opens the ledger in the directory for changes, and creates it if necessary. Locks out other processes
    /// until the value is dropped.
    ///
    /// # Errors
    /// Errors if it cannot be created or read, is in use or damaged, or belongs to another host.
    pub fn open(state: &Path, host: &HostIdentity) -> Result<Self, LedgerError> {
        check_directory(state)?;
        make_directory(state).map_err(|source| unwritable(state, source))?;
        let lock = locked(state)?;
        let path = state.join(LEDGER);
        let mut ledger = match Self::read(state)? {
            Some(ledger) => ledger,
            None => {
                let head = Opened { version: KIND.version, host: host.clone() };
                let file =
                    LedgerFile::create(&KIND, &path, &head).map_err(|source| unwritable(&path, source))?;
                Self::new(file, head.host)
            }
        };
        if !ledger.host.is_same_machine(host) {
            let named = |host: &HostIdentity| format!("{} (machine {})", host.name, host.machine_id);
            return Err(LedgerError::OtherHost { path, theirs: named(&ledger.host), ours: named(host) });
        }
        ledger.lock = Some(lock);
        Ok(ledger)
    }

    fn new(file: LedgerFile, host: HostIdentity) -> Self {
        let (applications, entries, kept) = (Vec::new(), Vec::new(), Vec::new());
        let loss = LedgerLoss::default();
        Self { host, applications, entries, kept, loss, restoring: false, file, lock: None }
    }

    fn replay(&mut self, event: Event) -> Result<(), String> {
        match event {
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
            // The value written by an earlier use must still be restored.
            EntryState::Refused(_) if entry.written_before => return Ok(()),
            EntryState::Planned | EntryState::Refused(_) | EntryState::Restored => {}
        }
        // A written setting stays marked as written, even if a later write has changed it as well.
        if !matches!((&entry.state, &state), (EntryState::Written(_), EntryState::Moved(_))) {
            entry.state = state;
        }
        Ok(())
    }

    /// Adds a setting. If it is already in the ledger, the first old value is kept.
    fn merge(&mut self, mut entry: Entry) {
        entry.ours.extend(entry.new.clone());
        let Some(earlier) = self.entries.iter_mut().find(|earlier| earlier.setting == entry.setting) else {
            self.entries.push(entry);
            return;
        };
        earlier.coupled |= entry.coupled;
        // The script of an earlier use may still exist.
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

    fn note(&mut self, event: Event) -> Result<(), LedgerError> {
        if self.lock.is_none() {
            return Err(unwritable(self.path(), io::Error::other("it is open only for reading")));
        }
        self.file.append(&event)?;
        self.replay(event).map_err(|reason| self.file.damaged(0, reason))
    }

    /// Records all old values on stable storage before the first write.
    pub(in crate::tuning) fn begin(
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
            let _ = fs::remove_file(self.path());
        }
        Err(match error {
            LedgerError::Io { path, source, .. } => unwritable(&path, source),
            other => other,
        })
    }

    pub(in crate::tuning) fn index_of(&self, setting: &Setting) -> Option<usize> {
        self.entries.iter().position(|entry| entry.setting == *setting)
    }

    pub(in crate::tuning) fn written(&mut self, entry: usize, read_back: String) -> Result<(), LedgerError> {
        self.note(Event::Written { entry, read_back })
    }

    pub(in crate::tuning) fn refused(&mut self, entry: usize, error: String) -> Result<(), LedgerError> {
        self.note(Event::Refused { entry, error })
    }

    pub(in crate::tuning) fn moved(&mut self, entry: usize, read_back: String) -> Result<(), LedgerError> {
        self.note(Event::Moved { entry, read_back })
    }

    pub(in crate::tuning) fn finished(&mut self) -> Result<(), LedgerError> {
        self.note(Event::Finished)
    }

    pub(in crate::tuning) fn restoring(&mut self) -> Result<(), LedgerError> {
        self.note(Event::Restoring)
    }

    /// Records that a restore has finished but has left something unrestored.
    pub(in crate::tuning) fn paused(&mut self) -> Result<(), LedgerError> {
        self.note(Event::Paused)
    }

    /// Whether an operation was interrupted. In that case the kernel may have changed settings as side
    /// effects that were not recorded.
    #[must_use]
    pub fn was_cut_short(&self) -> bool {
        self.restoring
            || self.loss != LedgerLoss::default()
            || self.applications.iter().any(|application| !application.finished)
    }

    pub(in crate::tuning) fn restored(&mut self, entry: usize) -> Result<(), LedgerError> {
        self.note(Event::Restored { entry })
    }

    pub(in crate::tuning) fn keeping(&mut self, file: PersistentFile) -> Result<(), LedgerError> {
        self.note(Event::Keeping { file })
    }

    pub(in crate::tuning) fn removed(&mut self, file: PersistentFile) -> Result<(), LedgerError> {
        self.note(Event::Removed { file })
    }

    /// Checks that this user may restore the settings in the ledger.
    ///
    /// # Errors
    /// Errors if the ledger cannot be written.
    pub fn check_writable(&self) -> Result<(), LedgerError> {
        use rustix::fs::{Access, access};
        let next = "run as root, or as the user who tuned the host; --plan needs no special rights";
        access(self.path(), Access::WRITE_OK)
            .map_err(|error| LedgerError::io("write", self.path(), error, next))
    }

    /// The path of the ledger.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Whether nothing is left to restore.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.kept.is_empty() && self.entries.iter().all(|entry| entry.state == EntryState::Restored)
    }

    /// Removes the ledger. Also removes its default directory if nothing else is in it.
    pub(in crate::tuning) fn remove(self) -> Result<(), LedgerError> {
        let state = self.path().parent().map(Path::to_owned);
        self.file.remove()?;
        if let Some(state) = state
            && state.ends_with(STATE_DIRECTORY.trim_start_matches('/'))
        {
            let _ = fs::remove_dir(state);
        }
        Ok(())
    }
}

fn unwritable(path: &Path, source: io::Error) -> LedgerError {
    LedgerError::io(
        "write",
        path,
        source,
        "nothing was changed: free some space, run as root, or give another --state",
    )
}

/// Locks the directory, because the file itself is created and removed.
fn locked(state: &Path) -> Result<File, LedgerError> {
    let directory = File::open(state).map_err(|source| unwritable(state, source))?;
    match directory.try_lock() {
        Ok(()) => Ok(directory),
        Err(TryLockError::WouldBlock) => Err(LedgerError::Busy { path: state.to_owned() }),
        Err(TryLockError::Error(source)) => Err(unwritable(state, source)),
    }
}

/// The kernel's sequence number of a device (since Linux 5.15), which no other device has during this
/// boot. For a loop device it changes with the file behind it, although the queue and its settings stay
/// the same.
pub(in crate::tuning) fn device_number(root: &Root, setting: &Setting) -> Option<u64> {
    let device = setting.device().filter(|name| !name.starts_with("loop"))?;
    root.number(&format!("/sys/block/{device}/diskseq")).known().copied()
}
