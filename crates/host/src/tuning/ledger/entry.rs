//! A setting that is changed: its old value, its owner, and the progress of the change.

use serde::{Deserialize, Serialize};

use super::owner::{Owner, interrupt_number};
use crate::Root;
use crate::tuning::settings::setting::{Setting, Settings, number};

/// Progress of the change of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryState {
    /// Unknown, because the program ended before it recorded the result.
    Planned,
    /// Written. Contains the value read afterwards.
    Written(String),
    /// Rejected by the kernel. Contains the reason.
    Refused(String),
    /// Changed by the kernel as a side effect of another write. Contains the value read afterwards.
    Moved(String),
    /// Restored, or no longer present because its device is gone.
    Restored,
}

/// A setting, and its value before the first change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The setting.
    pub setting: Setting,
    /// The value before the first change.
    pub old: String,
    /// The value to write, or `None` if the kernel changes the setting along with another one.
    pub new: Option<String>,
    /// The step that changes it.
    pub step: String,
    /// The kernel's number of the device, which a replacement of the device does not have.
    pub device_number: Option<u64>,
    /// How to find its device or interrupt after a reboot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// Whether the kernel changes it along with another setting in the ledger.
    pub coupled: bool,
    /// Whether it is set again at each boot, by the script of `--persist` or by TuneD.
    #[serde(default)]
    pub set_at_boot: bool,
    /// Progress of the change.
    #[serde(skip, default = "planned")]
    pub state: EntryState,
    /// Every value that this program has written to it or was about to write.
    #[serde(skip)]
    pub ours: Vec<String>,
    /// Whether an earlier use of `host tune` has written it.
    #[serde(skip)]
    pub(in crate::tuning) written_before: bool,
}

fn planned() -> EntryState {
    EntryState::Planned
}

/// The state of an entry after a reboot.
impl Entry {
    /// The setting at its present location.
    pub(in crate::tuning) fn setting_now(&self, root: &Root) -> Option<Setting> {
        self.owner
            .as_ref()
            .map_or_else(|| Some(self.setting.clone()), |owner| owner.find(&self.setting, root))
    }

    /// Whether the setting has the value that this program or its boot script has set.
    pub(in crate::tuning) fn is_set_again(
        &self,
        setting: &Setting,
        now: &str,
        settings: &dyn Settings,
    ) -> bool {
        if interrupt_number(setting).is_some() {
            // The script uses the hint that the driver gives during this boot.
            let hint = hint_of(setting).and_then(|hint| settings.read(&hint).ok());
            return hint.is_some_and(|hint| setting.same(&hint, now));
        }
        match (self.changed_bits(), number(now), self.new.as_deref().and_then(number)) {
            (Some(bits), Some(now), Some(new)) => now & bits == new & bits,
            _ => self.ours.iter().any(|value| setting.same(value, now)),
        }
    }

    /// The old value to restore. For a register, only the bits that this program has changed are
    /// restored, because a boot may change the others.
    pub(in crate::tuning) fn old_after_boot(&self, setting: &Setting, settings: &dyn Settings) -> String {
        let now = settings.read(setting).ok().and_then(|text| number(&text));
        match (self.changed_bits(), now, number(&self.old)) {
            (Some(bits), Some(now), Some(old)) => format!("{:#x}", (now & !bits) | (old & bits)),
            _ => self.old.clone(),
        }
    }

    fn changed_bits(&self) -> Option<u64> {
        let Setting::Register { .. } = self.setting else { return None };
        Some(number(&self.old)? ^ number(self.new.as_deref()?)?)
    }
}

fn hint_of(setting: &Setting) -> Option<Setting> {
    interrupt_number(setting).map(|irq| Setting::file(format!("/proc/irq/{irq}/affinity_hint")))
}
