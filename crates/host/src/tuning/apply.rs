//! Applies a plan: writes each value, reads it back, and records it in the ledger.

use std::io;

use rustix::io::Errno;

use super::ledger::Ledger;
use super::ledger::entry::EntryState;
use super::planned::{TuningPlan, Write};
use super::settings::setting::{Setting, Settings};
use crate::{HostIdentity, LedgerError, Root};

/// The outcome of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The setting now has this value, which is what was written.
    Set(String),
    /// The setting now has this other value, or the kernel shows something that contradicts it.
    Changed(String),
    /// The kernel rejected it. Contains the error and what it means.
    Refused(String),
}

/// A write and its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The write.
    pub write: Write,
    /// The final outcome.
    pub outcome: Outcome,
}

/// Applies `plan` to the host under `root` and records it in the ledger. Rejected writes are skipped,
/// because the other steps do not depend on them. `tell` is called with each finished write.
///
/// # Errors
/// Errors if the ledger cannot be written. Nothing more is changed then, and `host restore` undoes the
/// previous changes.
pub fn apply(
    plan: &TuningPlan,
    root: &Root,
    settings: &dyn Settings,
    ledger: &mut Ledger,
    at_unix_ns: i64,
    tell: &mut dyn FnMut(&Applied),
) -> Result<Vec<Applied>, LedgerError> {
    if ledger.host.boot_id != HostIdentity::of(root).boot_id {
        return Err(LedgerError::EarlierBoot { path: ledger.path().to_owned() });
    }
    ledger.begin(plan, root, settings, at_unix_ns)?;
    let mut all = Vec::new();
    for write in &plan.writes {
        let outcome = set(settings, &write.setting, &write.new);
        note(ledger, &write.setting, &outcome)?;
        let applied = Applied { write: write.clone(), outcome };
        tell(&applied);
        all.push(applied);
    }
    settle(&mut all, settings, ledger, tell)?;
    note_moved(plan, settings, ledger)?;
    ledger.finished()?;
    Ok(all)
}

/// Writes a value and reads it back.
pub(super) fn set(settings: &dyn Settings, setting: &Setting, value: &str) -> Outcome {
    if let Err(error) = settings.write(setting, value) {
        return Outcome::Refused(in_words(setting, &error));
    }
    match settings.read(setting) {
        Ok(text) if setting.same(&text, value) => match settings.contradiction(setting, value) {
            None => Outcome::Set(text.trim().to_owned()),
            Some(why) => Outcome::Changed(format!("{}, but {why}", text.trim())),
        },
        Ok(text) => Outcome::Changed(text.trim().to_owned()),
        Err(error) => Outcome::Refused(format!("it was written but cannot be read back: {error}")),
    }
}

fn note(ledger: &mut Ledger, setting: &Setting, outcome: &Outcome) -> Result<(), LedgerError> {
    let Some(index) = ledger.index_of(setting) else { return Ok(()) };
    match outcome {
        Outcome::Set(text) | Outcome::Changed(text) => ledger.written(index, text.clone()),
        Outcome::Refused(error) => ledger.refused(index, error.clone()),
    }
}

/// Rewrites values that a later write has changed: for example, changing the scheduler also changes the
/// queue length.
fn settle(
    all: &mut [Applied],
    settings: &dyn Settings,
    ledger: &mut Ledger,
    tell: &mut dyn FnMut(&Applied),
) -> Result<(), LedgerError> {
    for applied in all {
        let Outcome::Set(_) = applied.outcome else { continue };
        let Write { setting, new, .. } = &applied.write;
        if settings.read(setting).is_ok_and(|text| setting.same(&text, new)) {
            continue;
        }
        applied.outcome = set(settings, setting, new);
        note(ledger, setting, &applied.outcome)?;
        tell(applied);
    }
    Ok(())
}

/// Records settings that the kernel changed as a side effect, so that they do not count as changed by others.
fn note_moved(plan: &TuningPlan, settings: &dyn Settings, ledger: &mut Ledger) -> Result<(), LedgerError> {
    for setting in plan.writes.iter().flat_map(|write| &write.moves) {
        let Some(index) = ledger.index_of(setting) else { continue };
        let entry = &ledger.entries[index];
        let Ok(text) = settings.read(setting) else { continue };
        let is_known = matches!(&entry.state, EntryState::Written(known) | EntryState::Moved(known)
            if setting.same(known, &text));
        if !is_known && !setting.same(&entry.old, &text) {
            ledger.moved(index, text.trim().to_owned())?;
        }
    }
    Ok(())
}

/// Explains the kernel's rejection of a write to this setting.
fn in_words(setting: &Setting, error: &io::Error) -> String {
    let path = match setting {
        Setting::File { path } => path.as_str(),
        _ => "",
    };
    let meaning = match Errno::from_io_error(error) {
        Some(Errno::IO) if path.ends_with("/smp_affinity") => {
            "the kernel manages this interrupt and has placed it itself"
        }
        Some(Errno::INVAL) if path.ends_with("/nr_requests") => "more than the device supports",
        Some(Errno::INVAL) => "the kernel does not accept this value here",
        Some(Errno::NODEV | Errno::NXIO | Errno::NOENT) => "it no longer exists",
        Some(Errno::ACCESS | Errno::PERM) => "this needs root, and a kernel that is not locked down",
        Some(Errno::ROFS) => "it is mounted read-only here, as in a container: tune the host itself",
        _ => return error.to_string(),
    };
    format!("{meaning} ({error})")
}

/// The writes of a plan that this user is not permitted to do, each with the reason.
#[must_use]
pub fn forbidden(plan: &TuningPlan, root: &Root) -> Vec<(Setting, String)> {
    use rustix::fs::{Access, access};
    let mut found = Vec::new();
    for write in &plan.writes {
        let path = match &write.setting {
            Setting::File { path } => root.path(path),
            Setting::Register { cpu, .. } => root.path(format!("/dev/cpu/{cpu}/msr")),
            Setting::Mount { .. } | Setting::TunedProfile if !root.is_system() => continue,
            Setting::Mount { .. } | Setting::TunedProfile => {
                if !rustix::process::geteuid().is_root() {
                    found.push((write.setting.clone(), "this needs root".to_owned()));
                }
                continue;
            }
        };
        if let Err(error) = access(&path, Access::WRITE_OK) {
            found.push((write.setting.clone(), in_words(&write.setting, &error.into())));
        }
    }
    found
}
