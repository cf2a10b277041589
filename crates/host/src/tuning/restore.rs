//! Puts back what was, and says what it could not.

use super::apply::{Outcome, set};
use super::keep::{self, KeptOutcome};
use super::ledger::{Entry, EntryState, Identity, Ledger, LedgerError, device_number};
use super::setting::{Setting, Settings};
use super::steps::{counts_bytes, other_face};
use crate::Root;

/// Settings change one another; after so many rounds those that resist are the kernel's.
const ROUNDS_MAX: usize = 4;

/// What is to be done about one setting of a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// The old value is written.
    PutBack {
        /// What it reads as now.
        now: String,
    },
    /// It is as it was already.
    AsItWas,
    /// It holds a value that is neither the old one nor ours: somebody else has set it since.
    Foreign {
        /// What it reads as now.
        now: String,
    },
    /// Its device has gone, or another one has taken its place, which never had our value.
    Gone,
    /// The boot has undone it.
    Rebooted,
}

/// What became of one setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Back {
    /// It reads as before again.
    Restored(String),
    /// Nothing had to be done, for this reason.
    Nothing(&'static str),
    /// Somebody else has set it since to this: it stays so, and in the ledger.
    Foreign(String),
    /// It could not be put back, for this reason: it stays in the ledger.
    Failed(String),
}

/// What a restore did.
#[derive(Debug)]
pub struct Restored {
    /// Each setting that was looked at, in the order of the work.
    pub settings: Vec<(Setting, Back)>,
    /// Each file that had made settings outlive a boot; an error tells why it is still there.
    pub kept: Vec<KeptOutcome>,
}

impl Restored {
    /// Whether something is still to be restored.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        let left = |(_, back): &(Setting, Back)| matches!(back, Back::Foreign(_) | Back::Failed(_));
        self.settings.iter().any(left) || self.kept.iter().any(|(_, removed)| removed.is_err())
    }

    /// Whether all that is left was set by somebody else.
    #[must_use]
    pub fn is_only_foreign(&self) -> bool {
        let failed = |(_, back): &(Setting, Back)| matches!(back, Back::Failed(_));
        !self.settings.iter().any(failed) && self.kept.iter().all(|(_, removed)| removed.is_ok())
    }
}

/// What [`restore`] would do about each setting that is not restored yet, the last changed first.
#[must_use]
pub fn survey(ledger: &Ledger, root: &Root, settings: &dyn Settings) -> Vec<(usize, Action)> {
    let rebooted = Identity::of(root).boot_id != ledger.host.boot_id;
    let cut_short = ledger.was_cut_short();
    let open = |(_, entry): &(usize, &Entry)| entry.state != EntryState::Restored;
    // What the kernel changed along comes after what moved it.
    let indexed: Vec<(usize, &Entry)> = ledger.entries.iter().enumerate().filter(open).collect();
    let (written, moved): (Vec<_>, Vec<_>) = indexed.into_iter().partition(|(_, entry)| entry.new.is_some());
    let ordered = written.into_iter().rev().chain(moved);
    ordered.map(|(index, entry)| (index, action(entry, root, settings, rebooted, cut_short))).collect()
}

fn action(entry: &Entry, root: &Root, settings: &dyn Settings, rebooted: bool, cut_short: bool) -> Action {
    let setting = &entry.setting;
    if rebooted && !setting.outlives_boot() {
        return Action::Rebooted;
    }
    if entry.device_number.is_some() && device_number(root, setting) != entry.device_number {
        return Action::Gone;
    }
    let now = match settings.read(setting) {
        Ok(text) => text.trim().to_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && belongs_to_scheduler(setting) => {
            // It comes back with its scheduler.
            return Action::PutBack { now: String::new() };
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Action::Gone,
        Err(error) => return Action::PutBack { now: format!("unreadable: {error}") },
    };
    let ours = |value: &String| setting.same(value, &now);
    if setting.same(&now, &entry.old) {
        Action::AsItWas
    } else if entry.ours.iter().any(ours) || cut_short && entry.coupled {
        Action::PutBack { now }
    } else {
        Action::Foreign { now }
    }
}

fn belongs_to_scheduler(setting: &Setting) -> bool {
    matches!(setting, Setting::File { path } if path.contains("/queue/iosched/"))
}

/// Puts back every setting of the ledger and removes what outlives a boot. What somebody else has set
/// since stays, unless `force` says that it goes too. The ledger goes when all is done.
///
/// # Errors
/// The ledger cannot be written: what was put back until then is put back.
pub fn restore(
    mut ledger: Ledger,
    root: &Root,
    settings: &dyn Settings,
    force: bool,
) -> Result<Restored, LedgerError> {
    let survey = survey(&ledger, root, settings);
    ledger.restoring()?;
    let mut wanted: Vec<Wanted> = Vec::new();
    let mut done: Vec<(usize, Back)> = Vec::new();
    for (index, action) in survey {
        let entry = &ledger.entries[index];
        let mut want = |value: &str, foreign: bool| {
            let (setting, value) = (entry.setting.clone(), entry.setting.value(value));
            wanted.push(Wanted { index, setting, value, foreign, writes: 0, failed: None });
        };
        match action {
            // These may be changed along with another that is put back.
            Action::PutBack { .. } | Action::AsItWas => want(&entry.old, false),
            Action::Foreign { .. } if force => want(&entry.old, false),
            Action::Foreign { now } => want(&now, true),
            Action::Gone => done.push((index, Back::Nothing("it went with its device"))),
            Action::Rebooted => done.push((index, Back::Nothing("a boot since has undone it"))),
        }
    }
    for _ in 0..ROUNDS_MAX {
        if !round(&mut wanted, settings) {
            break;
        }
    }
    done.extend(wanted.into_iter().map(|wanted| wanted.end(settings)));
    for (index, back) in &done {
        if matches!(back, Back::Restored(_) | Back::Nothing(_)) {
            ledger.restored(*index)?;
        }
    }
    let kept = keep::remove(&mut ledger, root, force)?;
    let entries = &ledger.entries;
    let settings = done.into_iter().map(|(index, back)| (entries[index].setting.clone(), back)).collect();
    if ledger.is_settled() {
        ledger.remove()?;
    } else {
        ledger.paused()?;
    }
    Ok(Restored { settings, kept })
}

/// A value that a setting is to have in the end.
struct Wanted {
    index: usize,
    setting: Setting,
    value: String,
    /// It is somebody else's, and in the way of nothing.
    foreign: bool,
    writes: usize,
    failed: Option<String>,
}

/// Writes each value that is not there; says whether one was.
fn round(wanted: &mut [Wanted], settings: &dyn Settings) -> bool {
    let faces: Vec<(Setting, String)> =
        wanted.iter().map(|wanted| (wanted.setting.clone(), wanted.value.clone())).collect();
    let mut wrote = false;
    for wanted in wanted {
        if settings.read(&wanted.setting).is_ok_and(|text| wanted.setting.same(&text, &wanted.value)) {
            wanted.failed = None;
            continue;
        }
        if follows_other_face(&wanted.setting, &wanted.value, &faces) {
            continue;
        }
        wrote = true;
        wanted.writes += 1;
        wanted.failed = match set(settings, &wanted.setting, &wanted.value) {
            Outcome::Set(_) => None,
            Outcome::Changed(text) => Some(format!("it reads back as {text}")),
            Outcome::Refused(why) => Some(why),
        };
    }
    wrote
}

/// Of a setting that is kept in bytes or as a ratio the kernel sets one to 0 when the other is written,
/// and takes no 0 for bytes: only the one that is in use is written.
fn follows_other_face(setting: &Setting, value: &str, all: &[(Setting, String)]) -> bool {
    let Some(other) = other_face(setting) else { return false };
    let Some((_, other)) = all.iter().find(|(setting, _)| *setting == other) else { return false };
    value == "0" && (counts_bytes(setting) || other != "0")
}

impl Wanted {
    fn end(self, settings: &dyn Settings) -> (usize, Back) {
        let back = match settings.read(&self.setting) {
            Ok(text) if !self.setting.same(&text, &self.value) => {
                Back::Failed(self.failed.unwrap_or_else(|| format!("it reads as {}", text.trim())))
            }
            Ok(text) if self.foreign => Back::Foreign(text.trim().to_owned()),
            Ok(_) if self.writes == 0 => Back::Nothing("it was so already"),
            Ok(text) => Back::Restored(text.trim().to_owned()),
            Err(error) => Back::Failed(self.failed.unwrap_or_else(|| error.to_string())),
        };
        (self.index, back)
    }
}
