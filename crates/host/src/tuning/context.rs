//! The host being examined: its settings, the named devices, and the writes planned so far.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::settings::programs::Programs;
use super::settings::setting::{Setting, Settings};
use crate::devices::block;
use crate::devices::inventory::{self, BlockDevice};
use crate::file_systems::file_system;
use crate::file_systems::mounts::Mount;
use crate::{Root, devices};

/// The name that stands for all storage devices of the host.
pub const ALL_DEVICES: &str = "all";

/// A block device with a queue, whose settings are examined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// The kernel's name, for example `nvme0n1`.
    pub name: String,
    /// A path that leads to the device, as given by the user. For a path of a multipath device, that of the
    /// multipath device.
    pub path: String,
    /// Whether it is a path of a multipath device that was named. It is tuned with it, except where the multipath
    /// device alone decides: the page cache is above the paths.
    pub is_path: bool,
}

/// A name that does not lead to a block device.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{name}: {reason}; give block devices, for example --device /dev/{example}, or --device all for \
         {all}"
)]
pub struct UnknownDevice {
    /// The name as given.
    pub name: String,
    reason: String,
    example: String,
    all: String,
}

/// The host as the steps see it.
#[derive(Debug)]
pub struct TuningContext<'a> {
    pub(super) root: &'a Root,
    pub(super) settings: &'a dyn Settings,
    pub(super) devices: Vec<Device>,
    pub(super) mounts: Vec<Mount>,
    pub(super) programs: Programs,
    /// The output of `lctl get_param` of Lustre servers, and where it comes from.
    pub(super) lustre: Option<(String, String)>,
    planned: HashMap<Setting, String>,
}

impl std::fmt::Debug for dyn Settings + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Settings")
    }
}

impl<'a> TuningContext<'a> {
    /// Creates a context for the host under `root`, with the devices that `names` lead to. A name is the
    /// path of a device, a kernel name, a directory on a device, or [`ALL_DEVICES`].
    ///
    /// # Errors
    /// Errors if a name does not lead to a block device.
    pub fn new(root: &'a Root, settings: &'a dyn Settings, names: &[PathBuf]) -> Result<Self, UnknownDevice> {
        let mounts = file_system::mount_table(root).unwrap_or_default();
        let devices = named(root, &mounts, names)?;
        let programs = Programs::of(root);
        Ok(Self { root, settings, devices, mounts, programs, lustre: None, planned: HashMap::new() })
    }

    /// Returns the same context with the output `text` of Lustre servers, which comes from `origin`.
    #[must_use]
    pub fn with_lustre(self, text: String, origin: String) -> Self {
        Self { lustre: Some((text, origin)), ..self }
    }

    /// The devices that were named.
    #[must_use]
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// The present value of a setting, or the reason why it cannot be read.
    pub(super) fn read(&self, setting: &Setting) -> Result<String, String> {
        self.settings.read(setting).map(|text| text.trim().to_owned()).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => format!("no {setting}"),
            _ => format!("{setting}: {error}"),
        })
    }

    /// The value that a setting will have once the writes planned so far are done.
    pub(super) fn later(&self, setting: &Setting) -> Option<String> {
        let planned = self.planned.get(setting).cloned();
        planned.or_else(|| self.read(setting).ok().map(|text| setting.value(&text)))
    }

    pub(super) fn plan(&mut self, setting: &Setting, value: &str) {
        self.planned.insert(setting.clone(), value.to_owned());
    }

    /// The value planned so far, if there is one.
    pub(super) fn planned(&self, setting: &Setting) -> Option<&str> {
        self.planned.get(setting).map(String::as_str)
    }

    /// The mounts whose file systems are on the named devices, one for each mount point.
    pub(super) fn mounts_on_devices(&self) -> Vec<&Mount> {
        let on_named = |mount: &&Mount| {
            let stack = mount_devices(self.root, mount);
            self.devices.iter().any(|device| stack.contains(&device.name))
        };
        let mut found: Vec<&Mount> = Vec::new();
        for mount in self.mounts.iter().filter(on_named) {
            found.retain(|other| other.mount_point != mount.mount_point);
            found.push(mount);
        }
        found
    }
}

/// The devices of a mount's file system: the one that is mounted, its whole disk, and those below.
fn mount_devices(root: &Root, mount: &Mount) -> Vec<String> {
    let Some(name) =
        block::name_of(root, mount.number).or_else(|| block::name_of_source(root, &mount.source))
    else {
        return Vec::new();
    };
    let mut all = vec![name];
    let mut next = 0;
    while let Some(name) = all.get(next).cloned() {
        let below = block::slaves(root, &name).into_iter().chain(block::whole_of(root, &name));
        for device in below.collect::<Vec<_>>() {
            if !all.contains(&device) {
                all.push(device);
            }
        }
        next += 1;
    }
    all
}

/// All whole devices of the host that hold data. Paths of a multipath device are part of it.
pub(super) fn storage(root: &Root) -> Vec<String> {
    let is_storage = |device: &BlockDevice| {
        device.is_usable()
            && device.kind.is_storage()
            && inventory::multipath_of(root, &device.name).is_none()
    };
    inventory::whole_devices(root).filter(is_storage).map(|device| device.name).collect()
}

/// The names of the paths of `name`, if it is a multipath device.
pub(super) fn paths_of(root: &Root, name: &str) -> Vec<String> {
    let device = BlockDevice::of(root, name);
    let paths = device.map(|device| inventory::paths(root, &device)).unwrap_or_default();
    paths.into_iter().map(|path| path.device).collect()
}

fn named(root: &Root, mounts: &[Mount], names: &[PathBuf]) -> Result<Vec<Device>, UnknownDevice> {
    let mut found: Vec<Device> = Vec::new();
    for name in names {
        let (path, kernel_names) = resolve(root, mounts, name)?;
        for kernel_name in kernel_names {
            let node = |name: &str| inventory::node(name).display().to_string();
            // A partition has no queue of its own, so the queue of its disk is tuned.
            let (whole, path) = match block::whole_of(root, &kernel_name) {
                Some(whole) => (whole.clone(), node(&whole)),
                None => (kernel_name.clone(), path.clone().unwrap_or_else(|| node(&kernel_name))),
            };
            let paths = paths_of(root, &whole);
            let mut add = |name: String, is_path: bool| {
                if !found.iter().any(|device| device.name == name) {
                    found.push(Device { name, path: path.clone(), is_path });
                }
            };
            add(whole, false);
            paths.into_iter().for_each(|name| add(name, true));
        }
    }
    Ok(found)
}

/// The kernel's names for the given name. Also returns the path if it leads to a single device itself.
fn resolve(
    root: &Root,
    mounts: &[Mount],
    given: &Path,
) -> Result<(Option<String>, Vec<String>), UnknownDevice> {
    let text = given.to_string_lossy().into_owned();
    if text == ALL_DEVICES {
        return Ok((None, storage(root)));
    }
    if let Some(name) = block::number_at(root, given).and_then(|number| block::name_of(root, number)) {
        return Ok((Some(text), vec![name]));
    }
    if let Some(device) = BlockDevice::of(root, &text) {
        // A hidden path has no node: it is named by the device that it belongs to.
        let head = inventory::multipath_of(root, &text).filter(|_| device.hidden);
        return Ok((None, vec![head.unwrap_or(text)]));
    }
    let reason = if root.path(given).is_dir() {
        match devices::observable(root, mounts, given) {
            Ok(_) => return Ok((None, devices::stack(root, mounts, given))),
            Err(error) => error.reason,
        }
    } else if text.contains('/') && root.path(given).exists() {
        "it is not a block device".to_owned()
    } else {
        "there is no such device".to_owned()
    };
    let all = storage(root);
    Err(UnknownDevice {
        name: text,
        reason,
        example: all.first().cloned().unwrap_or_else(|| "nvme0n1".to_owned()),
        all: if all.is_empty() { "all devices (there are none here)".to_owned() } else { all.join(", ") },
    })
}
