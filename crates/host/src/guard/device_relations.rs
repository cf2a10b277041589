//! Relations between devices: which of them share the same bytes.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use record::Fact;

use crate::Root;
use crate::devices::block;
use crate::devices::inventory::{self, DeviceKind};
use crate::system::sys::{self, LoopBacking};

/// The partitions of a whole device.
pub(super) fn partitions(root: &Root, whole: &str) -> Vec<String> {
    let mut names = root.names(&format!("/sys/block/{whole}"));
    names.retain(|name| root.exists(&format!("/sys/block/{whole}/{name}/partition")));
    names
}

/// The device itself and the devices whose bytes overlap with its own: for a disk its partitions; for a
/// partition its disk, and the partitions that contain it or that it contains.
pub(super) fn overlapping(root: &Root, name: &str) -> Vec<String> {
    let mut names = vec![name.to_owned()];
    let Some(whole) = block::whole_of(root, name) else {
        names.extend(partitions(root, name));
        return names;
    };
    let own = extent(root, name);
    for other in partitions(root, &whole) {
        let is_apart = match (own, extent(root, &other)) {
            (Some((start, end)), Some((other_start, other_end))) => end <= other_start || other_end <= start,
            _ => false,
        };
        if other != name && !is_apart {
            names.push(other);
        }
    }
    names.push(whole);
    names
}

/// The first sector of a partition, and the first sector after it.
fn extent(root: &Root, partition: &str) -> Option<(u64, u64)> {
    let number = |file: &str| {
        let fact: Fact<u64> = root.number(&format!("/sys/class/block/{partition}/{file}"));
        fact.known().copied()
    };
    let (start, size) = (number("start")?, number("size")?);
    Some((start, start.checked_add(size)?))
}

/// Whole devices visible to users.
pub(super) fn whole_devices(root: &Root) -> Vec<String> {
    inventory::visible(root).map(|device| device.name).collect()
}

/// A configured loop device and its backing.
#[derive(Debug, Clone)]
pub(super) struct LoopUse {
    pub(super) name: String,
    /// Backing file as shown by the kernel. The path may differ in another namespace.
    pub(super) file: PathBuf,
    /// Identity of the backing file, if the device could be queried.
    identity: Option<LoopBacking>,
    /// The block device used instead of a file.
    pub(super) block_device: Option<String>,
}

impl LoopUse {
    /// All configured loop devices.
    pub(super) fn all(root: &Root) -> Vec<Self> {
        let loops = inventory::whole_devices(root).filter(|device| device.kind == DeviceKind::Loop);
        loops.filter_map(|device| Self::of(root, &device.name)).collect()
    }

    fn of(root: &Root, name: &str) -> Option<Self> {
        let file = block::loop_file(root, name)?;
        let identity = fs::File::open(root.path(inventory::node(name)))
            .ok()
            .and_then(|device| sys::loop_backing(&device).ok());
        let number = match identity {
            Some(identity) => identity.block_device,
            None => block::number_at(root, &file),
        };
        let block_device = number.and_then(|number| block::name_of(root, number));
        Some(Self { name: name.to_owned(), file, identity, block_device })
    }

    /// `st_dev` and `st_ino` of the backing file, unless that is a block device.
    pub(super) fn file_identity(&self, root: &Root) -> Option<(u64, u64)> {
        if self.block_device.is_some() {
            return None;
        }
        self.identity.map(|own| (own.device, own.inode)).or_else(|| {
            let metadata = fs::metadata(root.path(&self.file)).ok()?;
            Some((metadata.dev(), metadata.ino()))
        })
    }

    /// Whether both have the same backing file, possibly under different names.
    pub(super) fn shares_file_with(&self, other: &Self) -> bool {
        match (self.identity, other.identity) {
            (Some(own), Some(other)) => (own.device, own.inode) == (other.device, other.inode),
            _ => self.file == other.file,
        }
    }

    /// Whether `path` is the backing file of this device.
    pub(super) fn is_on(&self, root: &Root, path: &Path) -> bool {
        match (self.identity, fs::metadata(root.path(path))) {
            (Some(own), Ok(metadata)) => (own.device, own.inode) == (metadata.dev(), metadata.ino()),
            _ => self.file == path,
        }
    }
}
