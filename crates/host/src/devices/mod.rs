//! The block devices that store the bytes of a path, and the devices below them.

pub(crate) mod block;
pub(crate) mod block_facts;
pub(crate) mod counters;
pub(crate) mod direct;
pub(crate) mod inventory;
pub(crate) mod pci;
pub(crate) mod wear;

use std::path::{Path, PathBuf};

use self::inventory::{BlockDevice, DeviceKind};
use crate::file_systems::file_system;
use crate::file_systems::mounts::{DeviceNumber, Mount};
use crate::{HostError, Root, Unobservable};

/// The devices whose counters add up to the bytes of `path`.
pub(crate) fn observable(root: &Root, table: &[Mount], path: &Path) -> Result<Vec<String>, Unobservable> {
    let mut counted = Vec::new();
    for device in carriers(root, table, path, 0)? {
        let devices = with_counters(root, device);
        for device in &devices {
            check_counted(root, device)?;
        }
        counted.extend(devices);
    }
    Ok(counted)
}

/// The device itself, or the paths of a namespace of NVMe if only they count: the kernel counts the namespace of a
/// subsystem with several paths since Linux 6.2. Each transfer takes one path, so that the paths add up to it.
fn with_counters(root: &Root, device: String) -> Vec<String> {
    let whole = block::whole_of(root, &device).unwrap_or_else(|| device.clone());
    if !is_switched_off(root, &whole) {
        return vec![device];
    }
    let paths = BlockDevice::of(root, &whole)
        .filter(|device| device.kind == DeviceKind::Namespace)
        .map(|device| inventory::paths(root, &device))
        .unwrap_or_default();
    match paths.is_empty() {
        true => vec![device],
        false => paths.into_iter().map(|path| path.device).collect(),
    }
}

fn is_switched_off(root: &Root, whole: &str) -> bool {
    root.text(&format!("/sys/block/{whole}/queue/iostats")).known().map(String::as_str) == Some("0")
}

/// The devices that store the bytes of `path`, whether or not their counters are enabled.
pub(crate) fn carriers(
    root: &Root,
    table: &[Mount],
    path: &Path,
    layer: usize,
) -> Result<Vec<String>, Unobservable> {
    if let Some(number) = block::number_at(root, path) {
        return named(root, number).map(|name| vec![name]);
    }
    let because = |error: HostError| Unobservable::because(error.to_string());
    let existing = file_system::nearest_existing(root, path).map_err(because)?;
    let mount = file_system::mount_of(root, table, &existing).map_err(because)?;
    if by_passes_block_layer(&mount) {
        return Err(Unobservable::because(format!(
            "{} is mounted with dax, so its I/O bypasses the counters of the block layer",
            mount.mount_point.display()
        )));
    }
    match mount.kind.as_str() {
        "btrfs" => btrfs_members(root, &mount),
        "bcachefs" => mount.source.split(':').map(|source| named_source(root, &mount, source)).collect(),
        "overlay" => carriers(root, table, &upper_directory(root, table, &mount, layer)?, layer + 1),
        _ if mount.number.major != 0 => data_devices(root, &mount),
        kind => Err(Unobservable::because(no_device(kind, &mount))),
    }
}

/// The device of an ordinary file system. XFS may keep file data on a second device.
fn data_devices(root: &Root, mount: &Mount) -> Result<Vec<String>, Unobservable> {
    let mut devices = vec![named(root, mount.number)?];
    if let Some(source) = mount.super_option("rtdev") {
        devices.push(named_source(root, mount, source)?);
    }
    Ok(devices)
}

fn by_passes_block_layer(mount: &Mount) -> bool {
    mount.has_super_option("dax") || mount.super_option("dax") == Some("always")
}

/// The reason why the bytes of a file system without a block device cannot be observed, depending on its
/// type.
fn no_device(kind: &str, mount: &Mount) -> String {
    let at = mount.mount_point.display();
    match kind {
        _ if file_system::is_in_memory(kind) => format!("{kind} at {at} keeps its data in memory"),
        "nfs" | "nfs4" | "cifs" | "smb3" | "ceph" | "lustre" | "gpfs" | "beegfs" | "9p" | "virtiofs"
        | "afs" | "orangefs" | "pvfs2" | "glusterfs" | "wekafs" | "daos" => {
            format!("{kind} at {at} keeps its data on {}, not on a block device of this host", mount.source)
        }
        "zfs" => {
            format!("zfs at {at} does not tell the kernel which devices contain its pool {}", mount.source)
        }
        _ if kind == "fuse" || kind.starts_with("fuse.") => {
            format!("{kind} at {at} passes its data to a program, which may store it anywhere")
        }
        _ => format!("{kind} at {at} names no block device"),
    }
}

/// The members of a btrfs file system that was mounted from one of them.
fn btrfs_members(root: &Root, mount: &Mount) -> Result<Vec<String>, Unobservable> {
    let source = named_source(root, mount, &mount.source)?;
    for uuid in root.names("/sys/fs/btrfs") {
        let members = root.names(&format!("/sys/fs/btrfs/{uuid}/devices"));
        if members.contains(&source) {
            return Ok(members);
        }
    }
    Err(Unobservable::because(format!(
        "no /sys/fs/btrfs/*/devices/{source} for the btrfs at {}",
        mount.mount_point.display()
    )))
}

/// The directory that an overlay writes to. Its path is only valid for the process that mounted the overlay; in a
/// container it may not exist, or lead back into the overlay.
pub(crate) fn upper_directory(
    root: &Root,
    table: &[Mount],
    mount: &Mount,
    layer: usize,
) -> Result<PathBuf, Unobservable> {
    let at = mount.mount_point.display();
    let Some(upper) = mount.super_option("upperdir") else {
        return Err(Unobservable::because(format!("the overlay at {at} has no upper directory")));
    };
    let upper = crate::file_systems::mounts::unescape_path(upper);
    let hidden =
        || format!("the upper directory {} of the overlay at {at} is not visible from here", upper.display());
    if layer >= block::LAYERS_MAX || !root.path(&upper).is_dir() {
        return Err(Unobservable::because(hidden()));
    }
    let below = file_system::nearest_existing(root, &upper)
        .and_then(|existing| file_system::mount_of(root, table, &existing))
        .map_err(|error| Unobservable::because(error.to_string()))?;
    if below.number == mount.number {
        return Err(Unobservable::because(hidden()));
    }
    Ok(upper)
}

fn named(root: &Root, number: DeviceNumber) -> Result<String, Unobservable> {
    block::name_of(root, number)
        .ok_or_else(|| Unobservable::because(format!("no /sys/dev/block/{number} for block device {number}")))
}

fn named_source(root: &Root, mount: &Mount, source: &str) -> Result<String, Unobservable> {
    block::name_of_source(root, source).ok_or_else(|| {
        Unobservable::because(format!(
            "{source}, the device of the {} at {}, is not visible from here",
            mount.kind,
            mount.mount_point.display()
        ))
    })
}

/// Rejects a device whose accounting is switched off, because its counters do not change.
fn check_counted(root: &Root, device: &str) -> Result<(), Unobservable> {
    if let Err(reason) = root.read(&format!("/sys/class/block/{device}/stat")) {
        return Err(Unobservable::because(reason));
    }
    let whole = block::whole_of(root, device).unwrap_or_else(|| device.to_owned());
    if is_switched_off(root, &whole) {
        return Err(Unobservable::because(format!(
            "/sys/block/{whole}/queue/iostats is 0: write 1 to it to count the I/O of {whole}"
        )));
    }
    Ok(())
}

/// The whole devices below a path: the observable ones (for a partition its disk), the members of each stack,
/// and the devices under the file of a loop device. No device is listed twice.
pub(crate) fn stack(root: &Root, table: &[Mount], path: &Path) -> Vec<String> {
    let mut stack = Vec::new();
    if let Ok(devices) = carriers(root, table, path, 0) {
        for device in devices {
            push_with_members(root, table, &device, 0, &mut stack);
        }
    }
    stack
}

/// The whole devices that store the bytes of a path, and those at the bottom of their stacks. A loop device
/// counts as a disk: devices under its file are in neither list.
pub(crate) fn top_and_bottom(root: &Root, table: &[Mount], path: &Path) -> (Vec<String>, Vec<String>) {
    let whole = |device: String| block::whole_of(root, &device).unwrap_or(device);
    let (mut top, mut bottom): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for device in carriers(root, table, path, 0).unwrap_or_default().into_iter().map(whole) {
        if !top.contains(&device) {
            push_bottom(root, &device, 0, &mut bottom);
            top.push(device);
        }
    }
    (top, bottom)
}

fn push_bottom(root: &Root, device: &str, layer: usize, bottom: &mut Vec<String>) {
    let members = block::slaves(root, device);
    // The paths of a multipath device are ways to one disk, not disks.
    let is_multipath = || inventory::kind_of(root, device) == DeviceKind::Multipath;
    if members.is_empty() || layer >= block::LAYERS_MAX || is_multipath() {
        if !bottom.iter().any(|known| known == device) {
            bottom.push(device.to_owned());
        }
        return;
    }
    for member in members {
        let whole = block::whole_of(root, &member).unwrap_or(member);
        push_bottom(root, &whole, layer + 1, bottom);
    }
}

fn push_with_members(root: &Root, table: &[Mount], device: &str, layer: usize, stack: &mut Vec<String>) {
    let whole = block::whole_of(root, device).unwrap_or_else(|| device.to_owned());
    if layer >= block::LAYERS_MAX || stack.contains(&whole) {
        return;
    }
    stack.push(whole.clone());
    for member in block::slaves(root, &whole) {
        push_with_members(root, table, &member, layer + 1, stack);
    }
    let Some(file) = block::loop_file(root, &whole) else { return };
    for member in carriers(root, table, &file, layer + 1).unwrap_or_default() {
        push_with_members(root, table, &member, layer + 1, stack);
    }
}
