//! The tuning, as stored in the record of a run.

use std::path::{Path, PathBuf};

use record::{AppliedProfile, TunedSetting, Tuning, TuningInForce};

use super::ledger::entry::{Entry, EntryState};
use super::ledger::{Application, Ledger};
use super::settings::host::HostSettings;
use super::settings::setting::Settings;
use crate::ledger::STATE_DIRECTORY;
use crate::{HostIdentity, Root};

/// Environment variable that sets another state directory.
pub const STATE_VARIABLE: &str = "IOPROOF_STATE";

/// The state directory of this program: the value of the environment variable [`STATE_VARIABLE`], or
/// `/var/lib/ioproof` under the root.
#[must_use]
pub fn state_directory(root: &Root, environment: fn(&str) -> Option<String>) -> PathBuf {
    match environment(STATE_VARIABLE).filter(|named| !named.is_empty()) {
        Some(named) => PathBuf::from(named),
        None => root.path(STATE_DIRECTORY),
    }
}

/// What this program has changed on the host. If there is no ledger, this costs only one failed call.
#[must_use]
pub fn in_force(root: &Root, state: &Path) -> Tuning {
    match Ledger::read(state) {
        Ok(None) => Tuning::LeftAlone,
        Ok(Some(ledger)) if !ledger.host.is_same_machine(&HostIdentity::of(root)) => {
            Tuning::Unknown(format!("{} belongs to another host", ledger.path().display()))
        }
        Ok(Some(ledger)) => of_ledger(&ledger, root),
        Err(error) => Tuning::Unknown(error.to_string()),
    }
}

fn of_ledger(ledger: &Ledger, root: &Root) -> Tuning {
    let rebooted = ledger.host.boot_id != HostIdentity::of(root).boot_id;
    let host = HostSettings::new(root);
    // After a reboot, only the settings that were set again at boot are in force.
    let is_in_force = |entry: &Entry| {
        let read = |setting| host.read(&setting).is_ok_and(|now| entry.is_set_again(&setting, &now, &host));
        !rebooted || entry.set_at_boot && entry.setting_now(root).is_some_and(read)
    };
    let mut settings: Vec<TunedSetting> = Vec::new();
    for entry in &ledger.entries {
        let Some(after) = after(entry) else { continue };
        if !is_in_force(entry) {
            continue;
        }
        let before = entry.setting.value(&entry.old);
        let alike = settings
            .iter_mut()
            .find(|other| other.step == entry.step && other.before == before && other.after == after);
        match alike {
            Some(other) => other.count += 1,
            None => settings.push(TunedSetting {
                step: entry.step.clone(),
                setting: entry.setting.to_string(),
                count: 1,
                before,
                after,
            }),
        }
    }
    if settings.is_empty() {
        return Tuning::LeftAlone;
    }
    let profiles = ledger.applications.iter().flat_map(|application: &Application| {
        let at = application.at_unix_ns;
        application.profiles.iter().map(move |name| AppliedProfile { name: name.clone(), at_unix_ns: at })
    });
    let unfinished = ledger.applications.iter().any(|application| !application.finished);
    Tuning::InForce(TuningInForce { profiles: profiles.collect(), settings, unfinished })
}

/// The value that this program has given to a setting, if any.
fn after(entry: &Entry) -> Option<String> {
    match &entry.state {
        EntryState::Written(text) | EntryState::Moved(text) => Some(entry.setting.value(text)),
        // The program was interrupted, so the value may have been written.
        EntryState::Planned => entry.new.clone(),
        EntryState::Refused(_) | EntryState::Restored => None,
    }
}
