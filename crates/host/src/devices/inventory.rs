//! The block devices of a host: what each is, and which of them are ways to the same medium.
//!
//! Facts, tuning, the guard and the slot map list devices only through [`whole_devices`] and [`visible`], so that they
//! cannot disagree. [`BlockDevice::of`] describes one device by its kernel name:
//!
//! ```ignore
//! let device = BlockDevice::of(root, "nvme0n1")?;
//! match device.kind {
//!     DeviceKind::Loop => {}                          // its file: `block::loop_file`
//!     DeviceKind::Namespace | DeviceKind::Multipath => {
//!         for path in paths(root, &device) { /* path.device, path.is_usable, path.state */ }
//!     }
//!     kind if kind.is_storage() => {}
//!     _ => {}
//! }
//! ```
//!
//! A device below a target is found with [`super::carriers`] (what stores a path), `device.members` (one layer down)
//! and [`block::whole_of`] (the disk of a partition). A stack ends at a multipath device: its paths are ways to one
//! medium, not media of their own.
//!
//! Layouts of `/sys`: `Documentation/ABI/{stable,testing}/sysfs-block` of Linux for `hidden`, `removable` and `size`;
//! `drivers/md/dm-sysfs.c` for `dm/uuid`, whose prefix is the maker of a mapping; `drivers/nvme/host/multipath.c` for
//! the names of paths (`nvmeScCnN` of `nvmeSnN`) and `ana_state`.

use record::Fact;

use super::block;
pub(crate) use super::block::node;
use crate::Root;

/// What a block device is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeviceKind {
    /// A disk of a controller: SCSI, SATA, virtio, MMC, RAID controllers.
    Disk,
    /// A partition of another device.
    Partition,
    /// A loop device, whether or not it has a file.
    Loop,
    /// An array of the md driver.
    Array,
    /// A multipath mapping: its members are paths to one disk.
    Multipath,
    /// A logical volume of LVM.
    LogicalVolume,
    /// An encrypted mapping.
    Encrypted,
    /// Another mapping of device mapper, such as a partition of a multipath device.
    Mapped,
    /// A cached device of bcache.
    Bcache,
    /// A volume of ZFS, whose pool the kernel does not show.
    ZfsVolume,
    /// A namespace of NVMe: of one controller, or of a subsystem with several paths.
    Namespace,
    /// One path to a namespace of NVMe. It has a queue and counters but no device node.
    NamespacePath,
    /// A device in memory: `ram`, `zram`, `nullb`.
    Memory,
    /// A device that a program or a server provides: `nbd`, `ublk`.
    Served,
    /// An image of Ceph.
    CephImage,
    /// An optical or floppy disk drive, or raw flash.
    Other,
}

/// The kind of a device by its name without digits, where the name decides.
const KINDS_BY_NAME: [(&str, DeviceKind); 14] = [
    ("loop", DeviceKind::Loop),
    ("md", DeviceKind::Array),
    ("md_d", DeviceKind::Array),
    ("bcache", DeviceKind::Bcache),
    ("zd", DeviceKind::ZfsVolume),
    ("ram", DeviceKind::Memory),
    ("zram", DeviceKind::Memory),
    ("nullb", DeviceKind::Memory),
    ("nbd", DeviceKind::Served),
    ("ublkb", DeviceKind::Served),
    ("rbd", DeviceKind::CephImage),
    ("sr", DeviceKind::Other),
    ("fd", DeviceKind::Other),
    ("mtdblock", DeviceKind::Other),
];

impl DeviceKind {
    fn of(root: &Root, name: &str, hidden: bool) -> Self {
        let has = |file: &str| root.exists(&format!("/sys/class/block/{name}/{file}"));
        if has("partition") {
            return Self::Partition;
        }
        if has("dm") {
            return Self::of_mapping(root, name);
        }
        if has("md") {
            return Self::Array;
        }
        if hidden && head_of(name).is_some() {
            return Self::NamespacePath;
        }
        if name.starts_with("nvme") {
            return Self::Namespace;
        }
        let class = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
        KINDS_BY_NAME.iter().find(|(known, _)| *known == class).map_or(Self::Disk, |(_, kind)| *kind)
    }

    fn of_mapping(root: &Root, name: &str) -> Self {
        let id = root.text(&format!("/sys/class/block/{name}/dm/uuid"));
        match id.known().and_then(|id| id.split_once('-')).map(|(maker, _)| maker) {
            Some("mpath") => Self::Multipath,
            Some("LVM") => Self::LogicalVolume,
            Some("CRYPT") => Self::Encrypted,
            _ => Self::Mapped,
        }
    }

    /// Whether a device of this kind stores data for its host and has a queue worth tuning.
    pub(crate) fn is_storage(self) -> bool {
        !matches!(self, Self::Loop | Self::Memory | Self::Served | Self::NamespacePath | Self::Other)
    }
}

/// A block device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BlockDevice {
    /// The kernel's name, in which `!` stands for a slash, for example `cciss!c0d0`.
    pub(crate) name: String,
    pub(crate) kind: DeviceKind,
    /// Whether it has no device node and is reached only through another device.
    pub(crate) hidden: bool,
    /// Whether its medium can be removed.
    pub(crate) removable: bool,
    /// Capacity; 0 if there is no medium.
    pub(crate) size_bytes: u64,
    /// The disk of a partition.
    pub(crate) parent: Option<String>,
    /// The devices that it consists of.
    pub(crate) members: Vec<String>,
    /// The devices that it is part of.
    pub(crate) holders: Vec<String>,
}

impl BlockDevice {
    /// The device with this kernel name.
    pub(crate) fn of(root: &Root, name: &str) -> Option<Self> {
        let base = format!("/sys/class/block/{name}");
        // No device has a name that is a directory of `/sys/class/block` itself.
        if ["", ".", ".."].contains(&name) || name.contains('/') || !root.exists(&base) {
            return None;
        }
        let flag = |file: &str| root.number::<u8>(&format!("{base}/{file}")) == Fact::Known(1);
        let hidden = flag("hidden");
        Some(Self {
            name: name.to_owned(),
            kind: DeviceKind::of(root, name, hidden),
            hidden,
            removable: flag("removable"),
            size_bytes: block::size_bytes(root, name).unwrap_or(0),
            parent: block::whole_of(root, name),
            members: block::slaves(root, name),
            holders: root.names(&format!("{base}/holders")),
        })
    }

    /// Whether it has a node and a medium.
    pub(crate) fn is_usable(&self) -> bool {
        !self.hidden && self.size_bytes > 0
    }
}

/// The kind of the device with this kernel name.
pub(crate) fn kind_of(root: &Root, name: &str) -> DeviceKind {
    DeviceKind::of(root, name, is_hidden(root, name))
}

/// All whole devices, hidden paths included.
pub(crate) fn whole_devices(root: &Root) -> impl Iterator<Item = BlockDevice> + '_ {
    root.names("/sys/block").into_iter().filter_map(|name| BlockDevice::of(root, &name))
}

/// The whole devices that have a node. Paths of a namespace are hidden duplicates of it.
pub(crate) fn visible(root: &Root) -> impl Iterator<Item = BlockDevice> + '_ {
    whole_devices(root).filter(|device| !device.hidden)
}

/// One path of a multipath device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DevicePath {
    /// The kernel's name: a SCSI disk, or a hidden device such as `nvme0c1n1`.
    pub(crate) device: String,
    /// The state that the kernel shows, for example `running`, or `live, optimized`. For SCSI it is that of the disk:
    /// a path that only multipathd has failed is `running` too.
    pub(crate) state: Fact<String>,
    /// Whether requests can take this path, as far as the state says.
    pub(crate) is_usable: bool,
}

/// The paths of a multipath device; empty for all other devices.
pub(crate) fn paths(root: &Root, device: &BlockDevice) -> Vec<DevicePath> {
    match device.kind {
        DeviceKind::Multipath => device.members.iter().map(|path| scsi_path(root, path)).collect(),
        DeviceKind::Namespace if !device.hidden => {
            let is_path = |path: &String| head_of(path).as_deref() == Some(device.name.as_str());
            let names = root.names("/sys/block").into_iter().filter(is_path);
            names.filter(|path| is_hidden(root, path)).map(|path| namespace_path(root, &path)).collect()
        }
        _ => Vec::new(),
    }
}

/// The multipath device that `name` is a path of.
pub(crate) fn multipath_of(root: &Root, name: &str) -> Option<String> {
    if let Some(head) = head_of(name).filter(|_| is_hidden(root, name)) {
        return Some(head);
    }
    let holders = root.names(&format!("/sys/class/block/{name}/holders"));
    let is_multipath = |holder: &String| DeviceKind::of(root, holder, false) == DeviceKind::Multipath;
    holders.into_iter().find(is_multipath)
}

fn is_hidden(root: &Root, name: &str) -> bool {
    root.number::<u8>(&format!("/sys/block/{name}/hidden")) == Fact::Known(1)
}

/// The namespace `nvmeSnN` of the path `nvmeScCnN`.
fn head_of(name: &str) -> Option<String> {
    let (subsystem, rest) = name.strip_prefix("nvme")?.split_once('c')?;
    let (controller, namespace) = rest.split_once('n')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    [subsystem, controller, namespace]
        .iter()
        .all(|number| is_number(number))
        .then(|| format!("nvme{subsystem}n{namespace}"))
}

fn scsi_path(root: &Root, name: &str) -> DevicePath {
    let state = root.text(&format!("/sys/block/{name}/device/state"));
    let is_usable = state.known().is_none_or(|state| state == "running" || state == "live");
    DevicePath { device: name.to_owned(), state, is_usable }
}

/// The state of the controller, and of the namespace behind it if the subsystem has asymmetric access.
fn namespace_path(root: &Root, name: &str) -> DevicePath {
    let controller = root.text(&format!("/sys/block/{name}/device/state"));
    let access = root.text(&format!("/sys/block/{name}/ana_state"));
    let is_usable = controller.known().is_none_or(|state| state == "live")
        && access.known().is_none_or(|state| state == "optimized" || state == "non-optimized");
    let state = match (controller, access) {
        (Fact::Known(controller), Fact::Known(access)) => Fact::Known(format!("{controller}, {access}")),
        (Fact::Unknown(_), known @ Fact::Known(_)) => known,
        (controller, Fact::Unknown(_)) => controller,
    };
    DevicePath { device: name.to_owned(), state, is_usable }
}

#[cfg(test)]
mod tests;
