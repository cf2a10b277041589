//! The owner of a setting, identified by properties that survive a reboot.
//!
//! After a reboot, devices may have other names and interrupts other numbers. The value of `sda` must not
//! be written to a different disk that has this name now.

use std::path::{Path, absolute};

use record::Fact;
use serde::{Deserialize, Serialize};

use crate::Root;
use crate::devices::{block, inventory};
use crate::tuning::settings::setting::Setting;

/// Files below a device's directory in `/sys/block` that identify it, the most specific first.
const IDENTIFIERS: [&str; 5] = ["wwid", "device/wwid", "dm/uuid", "serial", "device/serial"];

/// How to find the device or the interrupt of a setting after a reboot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Owner {
    /// The only block device whose `file` in `/sys/block/NAME` contains `text`.
    Device {
        /// The file, for example `device/wwid`.
        file: String,
        /// The trimmed content of the file.
        text: String,
    },
    /// A path of a multipath device: one of the block devices whose `file` contains `text`. All paths are set alike.
    Paths {
        /// The file, for example `wwid`.
        file: String,
        /// The trimmed content of the file.
        text: String,
        /// Whether the paths are hidden devices.
        hidden: bool,
    },
    /// The block device that this path leads to. Used if the device has no identifier or shares it with
    /// another.
    Path(String),
    /// The interrupt of this NVMe queue, for example `S2C1NX0q1`: the serial number of the controller (or
    /// its name if it has none), and the queue.
    Interrupt(String),
}

impl Owner {
    /// Returns the owner of a setting, or `None` if a reboot cannot change any name. `path` is the user's
    /// name for the device.
    pub(in crate::tuning) fn of(setting: &Setting, path: Option<&str>, root: &Root) -> Option<Self> {
        if let Some(irq) = interrupt_number(setting) {
            return interrupt(root, irq).map(Self::Interrupt);
        }
        let name = setting.device()?;
        if let Some(paths) = Self::of_path(root, name) {
            return Some(paths);
        }
        for file in IDENTIFIERS {
            if let Fact::Known(text) = identifier(root, name, file)
                && !text.contains(char::is_control)
                && devices(root, file, &text).len() == 1
            {
                return Some(Self::Device { file: file.to_owned(), text });
            }
        }
        let path = path.map_or_else(|| inventory::node(name).display().to_string(), str::to_owned);
        // A relative path is not valid at boot.
        let whole = absolute(&path).map_or(path, |whole| whole.to_string_lossy().into_owned());
        Some(Self::Path(whole))
    }

    fn of_path(root: &Root, name: &str) -> Option<Self> {
        inventory::multipath_of(root, name)?;
        let hidden = inventory::BlockDevice::of(root, name)?.hidden;
        let found = IDENTIFIERS.iter().find_map(|file| {
            let text = identifier(root, name, file).known().cloned()?;
            (!text.contains(char::is_control)).then(|| Self::Paths { file: (*file).to_owned(), text, hidden })
        });
        Some(found.unwrap_or_else(|| Self::Path(inventory::node(name).display().to_string())))
    }

    /// Returns the setting at the present location of its owner, or `None` if the owner is gone.
    pub(in crate::tuning) fn find(&self, setting: &Setting, root: &Root) -> Option<Setting> {
        let Setting::File { path } = setting else { return None };
        match self {
            Self::Interrupt(queue) => {
                let irq = root
                    .names("/proc/irq")
                    .into_iter()
                    .find(|irq| irq.parse::<u32>().is_ok() && interrupt(root, irq).as_ref() == Some(queue))?;
                Some(Setting::file(format!("/proc/irq/{irq}/smp_affinity")))
            }
            Self::Paths { .. } => self.has_still(setting, root).then(|| setting.clone()),
            Self::Device { .. } | Self::Path(_) => {
                let now = self.device(root)?;
                let below = path.strip_prefix(&format!("/sys/block/{}/", setting.device()?))?;
                Some(Setting::file(format!("/sys/block/{now}/{below}")))
            }
        }
    }

    /// Whether `setting` still belongs to this owner, as far as it has an identifier. Another device or
    /// interrupt may have taken its name in the meantime.
    pub(in crate::tuning) fn has_still(&self, setting: &Setting, root: &Root) -> bool {
        match self {
            Self::Device { file, text } | Self::Paths { file, text, .. } => {
                setting.device().is_some_and(|name| identifier(root, name, file).known() == Some(text))
            }
            Self::Interrupt(queue) => {
                interrupt_number(setting).is_some_and(|irq| interrupt(root, irq).as_ref() == Some(queue))
            }
            Self::Path(_) => true,
        }
    }

    fn device(&self, root: &Root) -> Option<String> {
        match self {
            Self::Device { file, text } => match devices(root, file, text).as_slice() {
                [only] => Some(only.clone()),
                _ => None,
            },
            Self::Path(path) => block::name_of(root, block::number_at(root, Path::new(path))?),
            Self::Paths { .. } | Self::Interrupt(_) => None,
        }
    }
}

fn identifier(root: &Root, name: &str, file: &str) -> Fact<String> {
    root.text(&format!("/sys/block/{name}/{file}"))
}

/// All devices whose `file` contains `text`, except hidden paths, which are settled with the device they belong to.
/// The SCSI paths of a multipath device, or the namespaces of one controller, share it.
fn devices(root: &Root, file: &str, text: &str) -> Vec<String> {
    let holds = |name: &String| matches!(identifier(root, name, file), Fact::Known(other) if other == text);
    inventory::visible(root).map(|device| device.name).filter(holds).collect()
}

/// The number of the interrupt whose CPU affinity the setting controls.
pub(in crate::tuning) fn interrupt_number(setting: &Setting) -> Option<&str> {
    let Setting::File { path } = setting else { return None };
    path.strip_prefix("/proc/irq/")?.strip_suffix("/smp_affinity")
}

fn interrupt(root: &Root, irq: &str) -> Option<String> {
    let action = root.names(&format!("/proc/irq/{irq}")).into_iter().find(|name| name.starts_with("nvme"))?;
    let (controller, queue) = action.rsplit_once('q')?;
    match root.text(&format!("/sys/class/nvme/{controller}/serial")) {
        Fact::Known(serial) => Some(format!("{serial}q{queue}")),
        Fact::Unknown(_) => Some(action),
    }
}
