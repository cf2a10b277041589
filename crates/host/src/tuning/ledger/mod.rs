//! The previous settings, on stable storage before the first change and after each one.
//!
//! The old values of all writes come before the first write. The ledger is removed when all is restored.

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

/// Its name in the state directory.
pub const LEDGER: &str = "tuning.jsonl";

const KIND: LedgerKind = LedgerKind {
    version: 1,
    after_failed_write: "what was changed until then is in it: make room, then `ioproof host restore`",
    by_hand: "the old values of its settings are in the lines before; restore them by hand, then remove the file",
};

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
pub struct PersistentFile {
    /// Its path, without the prefix of a [`Root`].
    pub path: String,
    /// What it is.
    pub form: PersistentForm,
}

/// The kind of a persistent file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PersistentForm {
    /// A file of ours with this text.
    Text(String),
    /// A link of ours to this.
    Link(String),
    /// A line of ours in a file of the user's.
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
    /// It names an entry by its place.
    const fn is_about_an_entry(&self) -> bool {
        matches!(
            self,
            Self::Written { .. } | Self::Refused { .. } | Self::Moved { .. } | Self::Restored { .. }
        )
    }
}

/// The ledger of a host, open and locked, or just read.
#[derive(Debug)]
pub struct Ledger {
    /// The host it belongs to.
    pub host: HostIdentity,
    /// The uses of `host tune` that are in it.
    pub applications: Vec<Application>,
    /// The settings, in the order in which they were changed first.
    pub entries: Vec<Entry>,
    /// Files that make settings persistent across reboots.
    pub kept: Vec<PersistentFile>,
    /// What is missing in it.
    pub loss: LedgerLoss,
    /// Whether a restore has begun that did not come to its end.
    restoring: bool,
    file: LedgerFile,
    /// Held until the value is dropped; none of a ledger that is only looked at.
    lock: Option<File>,
}

impl Ledger {
    /// The ledger in the directory, if there is one, for looking at.
    ///
    /// # Errors
    /// It cannot be read, or is damaged.
    pub fn read(state: &Path) -> Result<Option<Self>, LedgerError> {
        let content = LedgerFile::read::<Opened, Event>(&KIND, &state.join(LEDGER))?;
        let Some(LedgerContent { file, head, events, loss, first_gap }) = content else { return Ok(None) };
        let mut ledger = Self { loss, ..Self::new(file, head.host) };
        for (line, event) in events {
            let is_after_gap = first_gap.is_some_and(|gap| line >= gap);
            // Entries go by their places, which may be others where the plan of a use is missing.
            if is_after_gap && matches!(event, Event::Planned { .. }) {
                return Err(ledger
                    .file
                    .damaged(line, "lines before it are missing, so it cannot be told what was set"));
            }
            if is_after_gap && event.is_about_an_entry() {
                continue;
            }
            ledger.replay(event).map_err(|reason| ledger.file.damaged(line, reason))?;
        }
        Ok(Some(ledger))
    }

    /// Opens the ledger in the directory for changes, creating it if needed. Locks out other processes until
    /// the value is dropped.
    ///
    /// # Errors
    /// It cannot be made or read, is in use, damaged, or another host's.
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

    fn note(&mut self, event: Event) -> Result<(), LedgerError> {
        if self.lock.is_none() {
            return Err(unwritable(self.path(), io::Error::other("it is open for reading only")));
        }
        self.file.append(&event)?;
        self.replay(event).map_err(|reason| self.file.damaged(0, reason))
    }

    /// Puts all old values on stable storage before the first write.
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

    /// A restore has come to its end, with something left.
    pub(in crate::tuning) fn paused(&mut self) -> Result<(), LedgerError> {
        self.note(Event::Paused)
    }

    /// Whether an operation was interrupted: the kernel may have changed settings as side effects that were
    /// not recorded.
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

    /// Checks that this user may restore what it says.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn check_writable(&self) -> Result<(), LedgerError> {
        use rustix::fs::{Access, access};
        let next = "run as root, or as the user that tuned; --plan needs no rights";
        access(self.path(), Access::WRITE_OK)
            .map_err(|error| LedgerError::io("write", self.path(), error, next))
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Whether nothing is left to restore.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.kept.is_empty() && self.entries.iter().all(|entry| entry.state == EntryState::Restored)
    }

    /// Removes the ledger, and the directory that it has by default if nothing else is in it.
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
        "nothing was changed: make room or run as root, or give another --state",
    )
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

/// What the kernel counts devices by (since Linux 5.15): a number that no other device of this boot has.
/// Of a loop device it changes with the file behind it, while the queue stays, and its settings with it.
pub(in crate::tuning) fn device_number(root: &Root, setting: &Setting) -> Option<u64> {
    let device = setting.device().filter(|name| !name.starts_with("loop"))?;
    root.number(&format!("/sys/block/{device}/diskseq")).known().copied()
}
