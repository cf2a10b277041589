//! Restores the previous settings, and reports those that failed.

use super::apply::{Outcome, set};
use super::ledger::entry::{Entry, EntryState};
use super::ledger::{Ledger, device_number};
use super::persist::{self, PersistenceOutcome};
use super::settings::setting::{Setting, Settings};
use super::steps::{counts_bytes, other_face};
use crate::{HostIdentity, LedgerError, Root};

/// Maximum number of rounds, which are needed because settings affect each other. Values that still
/// differ after that are set by the kernel.
const ROUNDS_MAX: usize = 4;

/// What to do about a setting in a ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreAction {
    /// Write the old value.
    PutBack {
        /// The present value.
        now: String,
    },
    /// Nothing: it already has the old value.
    AsItWas,
    /// The value is neither the old one nor one of this program's, so others have changed it since.
    Foreign {
        /// The present value.
        now: String,
    },
    /// The device is gone.
    Gone,
    /// Another device now has this name, and has never had this program's value.
    Replaced,
    /// The kernel has never accepted this program's value.
    NeverSet,
    /// A reboot has reset it, and it does not have this program's value now.
    Rebooted,
}

/// A setting in a ledger, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedRestore {
    /// Index of the entry in the ledger.
    pub index: usize,
    /// The setting at its present location, since its device may have another name after a reboot.
    pub setting: Setting,
    /// The value to restore.
    pub old: String,
    /// What to do.
    pub action: RestoreAction,
}

/// Outcome for one setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreOutcome {
    /// It has this value again, as before the change.
    Restored(String),
    /// Nothing had to be done, for this reason.
    Nothing(&'static str),
    /// Others have set it to this value since. It is left unchanged and stays in the ledger.
    Foreign(String),
    /// It could not be restored, for this reason. It stays in the ledger.
    Failed(String),
}

/// Result of a restore.
#[derive(Debug)]
pub struct RestoreResult {
    /// The settings that were examined, in the order of processing.
    pub settings: Vec<(Setting, RestoreOutcome)>,
    /// The files that made settings persistent. An error explains why a file still exists.
    pub kept: Vec<PersistenceOutcome>,
}

impl RestoreResult {
    /// Whether something is left to be restored.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        let left = |(_, back): &(Setting, RestoreOutcome)| {
            matches!(back, RestoreOutcome::Foreign(_) | RestoreOutcome::Failed(_))
        };
        self.settings.iter().any(left) || self.kept.iter().any(|(_, removed)| removed.is_err())
    }

    /// Whether all remaining settings were set by others.
    #[must_use]
    pub fn is_only_foreign(&self) -> bool {
        let failed = |(_, back): &(Setting, RestoreOutcome)| matches!(back, RestoreOutcome::Failed(_));
        !self.settings.iter().any(failed) && self.kept.iter().all(|(_, removed)| removed.is_ok())
    }
}

/// What [`restore`] would do about each setting that has not been restored yet, the last changed first.
#[must_use]
pub fn survey(ledger: &Ledger, root: &Root, settings: &dyn Settings) -> Vec<PlannedRestore> {
    let look = Look {
        root,
        settings,
        rebooted: HostIdentity::of(root).boot_id != ledger.host.boot_id,
        cut_short: ledger.was_cut_short(),
    };
    // If the script still exists, a reboot has set again what was restored before it.
    let again = |entry: &Entry| look.rebooted && entry.set_at_boot && !ledger.kept.is_empty();
    let open = |(_, entry): &(usize, &Entry)| entry.state != EntryState::Restored || again(entry);
    // Side effects of the kernel come after the setting that caused them.
    let indexed: Vec<(usize, &Entry)> = ledger.entries.iter().enumerate().filter(open).collect();
    let (written, moved): (Vec<_>, Vec<_>) = indexed.into_iter().partition(|(_, entry)| entry.new.is_some());
    let ordered = written.into_iter().rev().chain(moved);
    ordered.map(|(index, entry)| look.at(index, entry)).collect()
}

/// The host as a survey sees it.
struct Look<'a> {
    root: &'a Root,
    settings: &'a dyn Settings,
    rebooted: bool,
    cut_short: bool,
}

impl Look<'_> {
    fn at(&self, index: usize, entry: &Entry) -> PlannedRestore {
        let found = |setting: Setting, old: String, action| PlannedRestore { index, setting, old, action };
        if !self.rebooted {
            let action = match self.is_replaced(entry) {
                true if self.settings.read(&entry.setting).is_ok() => RestoreAction::Replaced,
                true => RestoreAction::Gone,
                false => self.action(entry, &entry.setting, &entry.old),
            };
            return found(entry.setting.clone(), entry.old.clone(), action);
        }
        if !entry.set_at_boot && !entry.setting.outlives_boot() {
            return found(entry.setting.clone(), entry.old.clone(), RestoreAction::Rebooted);
        }
        match entry.setting_now(self.root) {
            Some(setting) => {
                let old = entry.old_after_boot(&setting, self.settings);
                let action = self.action(entry, &setting, &old);
                found(setting, old, action)
            }
            None => found(entry.setting.clone(), entry.old.clone(), RestoreAction::Gone),
        }
    }

    /// Whether the device or interrupt of a setting is a different one than when the value was recorded.
    fn is_replaced(&self, entry: &Entry) -> bool {
        let other_number =
            entry.device_number.is_some() && device_number(self.root, &entry.setting) != entry.device_number;
        other_number || entry.owner.as_ref().is_some_and(|owner| !owner.has_still(&entry.setting, self.root))
    }

    fn action(&self, entry: &Entry, setting: &Setting, old: &str) -> RestoreAction {
        let now = match self.settings.read(setting) {
            Ok(text) => text.trim().to_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && belongs_to_scheduler(setting) => {
                // It will be available again once the old scheduler is restored.
                return RestoreAction::PutBack { now: String::new() };
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return RestoreAction::Gone,
            Err(error) => return RestoreAction::PutBack { now: format!("unreadable: {error}") },
        };
        let is_ours = if self.rebooted {
            entry.is_set_again(setting, &now, self.settings)
        } else {
            entry.ours.iter().any(|value| setting.same(value, &now))
        };
        if setting.same(&now, old) {
            RestoreAction::AsItWas
        } else if is_ours || self.cut_short && entry.coupled {
            RestoreAction::PutBack { now }
        } else if matches!(entry.state, EntryState::Refused(_)) {
            RestoreAction::NeverSet
        } else if self.rebooted && !setting.outlives_boot() {
            // The script failed or is not run. It cannot be determined whether others have set this value.
            RestoreAction::Rebooted
        } else {
            RestoreAction::Foreign { now }
        }
    }
}

fn belongs_to_scheduler(setting: &Setting) -> bool {
    matches!(setting, Setting::File { path } if path.contains("/queue/iosched/"))
}

/// The reason why a file that sets values at boot is kept.
const NEEDED_STILL: &str = "it is kept until every value is restored";

/// Restores every setting in the ledger. Values that others have set since are kept, unless `force` is set.
/// When all values are restored, the files that set values at boot are removed, and the ledger last. An
/// interrupted restore can be completed by repeating it.
///
/// # Errors
/// Errors if the ledger cannot be written. What was restored before that stays restored.
pub fn restore(
    mut ledger: Ledger,
    root: &Root,
    settings: &dyn Settings,
    force: bool,
) -> Result<RestoreResult, LedgerError> {
    let survey = survey(&ledger, root, settings);
    ledger.restoring()?;
    let mut wanted: Vec<TargetValue> = Vec::new();
    let mut done: Vec<(usize, Setting, RestoreOutcome)> = Vec::new();
    for PlannedRestore { index, setting, old, action } in survey {
        let mut want = |value: &str, foreign: bool| {
            let (setting, value) = (setting.clone(), setting.value(value));
            wanted.push(TargetValue { index, setting, value, foreign, writes: 0, failed: None });
        };
        let nothing = match action {
            // These may be changed as a side effect when another setting is restored.
            RestoreAction::PutBack { .. } | RestoreAction::AsItWas => {
                want(&old, false);
                continue;
            }
            RestoreAction::Foreign { now } => {
                want(if force { &old } else { &now }, !force);
                continue;
            }
            RestoreAction::Gone => "it no longer exists",
            RestoreAction::Replaced => "its name now belongs to another device",
            RestoreAction::NeverSet => "it was never set",
            RestoreAction::Rebooted => "a reboot has undone it",
        };
        done.push((index, setting, RestoreOutcome::Nothing(nothing)));
    }
    for _ in 0..ROUNDS_MAX {
        if !round(&mut wanted, settings) {
            break;
        }
    }
    done.extend(wanted.into_iter().map(|wanted| wanted.end(settings)));
    for (index, _, back) in &done {
        if matches!(back, RestoreOutcome::Restored(_) | RestoreOutcome::Nothing(_)) {
            ledger.restored(*index)?;
        }
    }
    let kept = if done.iter().any(|(_, _, back)| matches!(back, RestoreOutcome::Failed(_))) {
        ledger.kept.iter().map(|file| (file.clone(), Err(NEEDED_STILL.to_owned()))).collect()
    } else {
        persist::remove(&mut ledger, root, force)?
    };
    if ledger.is_settled() {
        ledger.remove()?;
    } else {
        ledger.paused()?;
    }
    let settings = done.into_iter().map(|(_, setting, back)| (setting, back)).collect();
    Ok(RestoreResult { settings, kept })
}

/// The value that a setting must finally have.
struct TargetValue {
    index: usize,
    setting: Setting,
    value: String,
    /// Whether it was set by others, so that it does not block any other value.
    foreign: bool,
    writes: usize,
    failed: Option<String>,
}

/// Writes each value that is not in place. Returns whether there was any.
fn round(wanted: &mut [TargetValue], settings: &dyn Settings) -> bool {
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
            Outcome::Changed(text) => Some(format!("it was read back as {text}")),
            Outcome::Refused(why) => Some(why),
        };
    }
    wrote
}

/// Some settings can be given in bytes or as a ratio. If one is written, the kernel sets the other to 0,
/// and it does not accept 0 for bytes. So only the one in use is written.
fn follows_other_face(setting: &Setting, value: &str, all: &[(Setting, String)]) -> bool {
    let Some(other) = other_face(setting) else { return false };
    let Some((_, other)) = all.iter().find(|(setting, _)| *setting == other) else { return false };
    value == "0" && (counts_bytes(setting) || other != "0")
}

impl TargetValue {
    fn end(self, settings: &dyn Settings) -> (usize, Setting, RestoreOutcome) {
        let back = match settings.read(&self.setting) {
            Ok(text) if !self.setting.same(&text, &self.value) => {
                RestoreOutcome::Failed(self.failed.unwrap_or_else(|| format!("its value is {}", text.trim())))
            }
            Ok(text) if self.foreign => RestoreOutcome::Foreign(text.trim().to_owned()),
            Ok(_) if self.writes == 0 => RestoreOutcome::Nothing("it already had this value"),
            Ok(text) => RestoreOutcome::Restored(text.trim().to_owned()),
            Err(error) => RestoreOutcome::Failed(self.failed.unwrap_or_else(|| error.to_string())),
        };
        (self.index, self.setting, back)
    }
}
