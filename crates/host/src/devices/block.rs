//! A block device: its name, its identity, and its relations to other devices.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use record::Fact;

use crate::{DeviceNumber, Root};

/// Maximum depth of a device stack; a deeper one is treated as a loop.
pub(crate) const LAYERS_MAX: usize = 16;
/// Unit of sizes in `/sys`: sectors of 512 bytes, independent of the device.
pub(crate) const SECTOR_BYTES: u64 = 512;

/// The kernel's name of a device, for example `nvme0n1p1`.
pub(crate) fn name_of(root: &Root, number: DeviceNumber) -> Option<String> {
    let target = fs::read_link(root.path(format!("/sys/dev/block/{number}"))).ok()?;
    Some(target.file_name()?.to_str()?.to_owned())
}

/// The number of the device with this name.
pub(crate) fn number_of(root: &Root, name: &str) -> Option<DeviceNumber> {
    DeviceNumber::parse(&root.read(&format!("/sys/class/block/{name}/dev")).ok()?)
}

/// The device node of a kernel name.
pub(crate) fn node(name: &str) -> PathBuf {
    Path::new("/dev").join(name.replace('!', "/"))
}

/// The kernel's name of a node that is directly named, without links: the inverse of [`node`].
pub(crate) fn name_of_node(path: &Path) -> Option<String> {
    Some(path.strip_prefix("/dev").ok()?.to_str()?.replace('/', "!"))
}

/// The number of the block device at `path` (links are followed). Under a prefix there can be no device
/// nodes, so a plain file in `/dev` represents the device of the same name.
pub(crate) fn number_at(root: &Root, path: &Path) -> Option<DeviceNumber> {
    let real = root.path(path);
    let metadata = fs::metadata(&real).ok()?;
    if metadata.file_type().is_block_device() {
        return Some(DeviceNumber::from_raw(metadata.rdev()));
    }
    if root.is_system() || !metadata.is_file() {
        return None;
    }
    let canonical = root.without_prefix(&fs::canonicalize(real).ok()?)?;
    number_of(root, &name_of_node(&canonical)?)
}

/// The name of the device that a mount table or swap table calls `source`. In a container the node may be
/// missing; then the name is searched among the names of the kernel and of device mapper.
pub(crate) fn name_of_source(root: &Root, source: &str) -> Option<String> {
    if let Some(number) = number_at(root, Path::new(source)) {
        return name_of(root, number);
    }
    if let Some(mapped) = source.strip_prefix("/dev/mapper/") {
        let is_it = |name: &String| {
            root.text(&format!("/sys/block/{name}/dm/name")).known().map(String::as_str) == Some(mapped)
        };
        return root.names("/sys/block").into_iter().find(is_it);
    }
    name_of_node(Path::new(source))
        .filter(|name| !name.starts_with('.') && root.exists(&format!("/sys/class/block/{name}")))
}

/// The directory of a device in `/sys/devices`, as a path within the tree.
pub(crate) fn directory(root: &Root, name: &str) -> Option<PathBuf> {
    root.without_prefix(&fs::canonicalize(root.path(format!("/sys/class/block/{name}"))).ok()?)
}

/// The directory of a block device below its controller. A namespace with several paths (native NVMe
/// multipath) is not below a controller, so its first path is used.
pub(crate) fn controller_directory(root: &Root, name: &str) -> Option<PathBuf> {
    let directory = directory(root, name)?;
    if !directory.starts_with("/sys/devices/virtual/nvme-subsystem") {
        return Some(directory);
    }
    let subsystem = directory.parent()?;
    let is_controller = |name: &String| {
        name.strip_prefix("nvme")
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let controller = root.names(subsystem.to_str()?).into_iter().find(is_controller)?;
    root.without_prefix(&root.path(subsystem.join(controller)).canonicalize().ok()?)
}

/// The disk that contains a partition, or `None` for a whole device.
pub(crate) fn whole_of(root: &Root, name: &str) -> Option<String> {
    if !root.exists(&format!("/sys/class/block/{name}/partition")) {
        return None;
    }
    Some(directory(root, name)?.parent()?.file_name()?.to_str()?.to_owned())
}

/// The devices that a stacked device (md, device mapper) consists of.
pub(crate) fn slaves(root: &Root, name: &str) -> Vec<String> {
    root.names(&format!("/sys/class/block/{name}/slaves"))
}

/// The path of the file behind a loop device, as shown by the kernel.
pub(crate) fn loop_file(root: &Root, name: &str) -> Option<PathBuf> {
    let text = root.read(&format!("/sys/block/{name}/loop/backing_file")).ok()?;
    Some(PathBuf::from(text.trim_end_matches('\n')))
}

/// Capacity in bytes.
pub(crate) fn size_bytes(root: &Root, name: &str) -> Option<u64> {
    let sectors: Fact<u64> = root.number(&format!("/sys/class/block/{name}/size"));
    sectors.known()?.checked_mul(SECTOR_BYTES)
}

/// The serial number of a whole device.
pub(crate) fn serial(root: &Root, name: &str) -> Fact<String> {
    // For NVMe and MMC the controller has the serial number, for virtio the disk.
    for file in ["serial", "device/serial"] {
        if let Fact::Known(serial) = root.text(&format!("/sys/block/{name}/{file}")) {
            return Fact::Known(serial);
        }
    }
    let page = format!("/sys/block/{name}/device/vpd_pg80");
    match root.bytes(&page) {
        Ok(bytes) => unit_serial(&bytes)
            .map_or_else(|| Fact::Unknown(format!("{page} contains no serial number")), Fact::Known),
        Err(_) => Fact::Unknown(format!("no /sys/block/{name}/device/serial")),
    }
}

/// Parses the unit serial number page of SCSI (SPC-4, 7.8.15): a header of four bytes, of which the last
/// two are the length of the text that follows.
fn unit_serial(page: &[u8]) -> Option<String> {
    let [_, 0x80, high, low, text @ ..] = page else { return None };
    let length = usize::from(u16::from_be_bytes([*high, *low]));
    let serial = std::str::from_utf8(text.get(..length)?).ok()?.trim_matches(['\0', ' ']);
    (!serial.is_empty()).then(|| serial.to_owned())
}

/// The world wide name of a whole device, for example `eui.0025385b71b0a5c4`.
pub(crate) fn world_wide_name(root: &Root, name: &str) -> Option<String> {
    ["wwid", "device/wwid"].iter().find_map(|file| match root.text(&format!("/sys/block/{name}/{file}")) {
        Fact::Known(wwn) => Some(wwn),
        Fact::Unknown(_) => None,
    })
}

/// The selected entry of a list such as `none [mq-deadline] kyber`.
pub(crate) fn chosen(list: &str) -> &str {
    list.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or(list, |(choice, _)| choice)
}

#[cfg(test)]
mod tests {
    use super::{chosen, unit_serial};

    #[test]
    fn the_chosen_scheduler_is_the_one_in_brackets() {
        assert_eq!(chosen("none [mq-deadline] kyber bfq"), "mq-deadline");
        assert_eq!(chosen("none"), "none");
    }

    #[test]
    fn a_scsi_serial_is_read_to_its_length_and_no_further() {
        assert_eq!(unit_serial(b"\x00\x80\x00\x08  S3Z8NBgarbage").as_deref(), Some("S3Z8NB"));
        assert_eq!(unit_serial(b"\x00\x80\x00\x08S3Z"), None, "shorter than it says");
        assert_eq!(unit_serial(b"\x00\x80\x00\x02  "), None, "only space");
        assert_eq!(unit_serial(b"\x00\x83\x00\x01S"), None, "another page");
    }
}
