//! The devices of a layout: found by the names that the user gives, and found again later.

use std::path::{Path, PathBuf};

use super::ledger::OwnedDevice;
use crate::devices::{block, inventory};
use crate::{DeviceNumber, Guard, Root, guard};

/// Path prefix of loop devices. A loop device that was configured before a reboot no longer exists.
const LOOP: &str = "/dev/loop";

/// The node of the device that the user calls `given`. The error explains why there is no such device.
pub(super) fn node(root: &Root, given: &str) -> Result<PathBuf, String> {
    guard::find(root, given).map(|name| inventory::node(&name))
}

/// The identity of this device, by which it can be recognised later.
pub(super) fn own(root: &Root, given: &str, path: &Path) -> Option<OwnedDevice> {
    let number = block::number_at(root, path)?;
    let name = block::name_of(root, number)?;
    let size_bytes = block::size_bytes(root, &name).unwrap_or(0);
    let mut device = OwnedDevice::new(given, path, number, size_bytes);
    if block::whole_of(root, &name).is_none() {
        device.identities = guard::identities(root, &name);
    }
    device.sequence = sequence(root, &name);
    Some(device)
}

fn sequence(root: &Root, name: &str) -> Option<u64> {
    let whole = block::whole_of(root, name).unwrap_or_else(|| name.to_owned());
    root.number(&format!("/sys/block/{whole}/diskseq")).known().copied()
}

/// The present location of a device in a ledger.
pub(super) enum DeviceLocation {
    /// The device was found.
    At(PathBuf, DeviceNumber),
    /// The device is gone for good, with all its data.
    Ended,
}

/// Finds the device of a ledger. A device is the same one if the kernel has had no other at its number since,
/// if it has the serial number or world wide name, or if it has content that only the layout can have
/// written.
pub(super) fn locate(
    root: &Root,
    device: &OwnedDevice,
    is_same_boot: bool,
) -> Result<DeviceLocation, String> {
    let path = &device.path;
    let found = block::number_at(root, path)
        .and_then(|number| Some((number, block::name_of(root, number)?)))
        .filter(|(_, name)| block::size_bytes(root, name) == Some(device.size_bytes));
    if is_same_boot
        && let Some((number, name)) = &found
        && *number == device.number()
        && sequence(root, name) == device.sequence
    {
        return Ok(DeviceLocation::At(path.clone(), *number));
    }
    for identity in &device.identities {
        if let Ok(name) = guard::find(root, identity)
            && block::size_bytes(root, &name) == Some(device.size_bytes)
            && let Some(number) = block::number_of(root, &name)
        {
            return Ok(DeviceLocation::At(inventory::node(&name), number));
        }
    }
    if !is_same_boot && path.to_string_lossy().starts_with(LOOP) {
        return Ok(DeviceLocation::Ended);
    }
    if !is_same_boot
        && device.identities.is_empty()
        && let Some((number, _)) = found
        && carries_own(path, device)
    {
        return Ok(DeviceLocation::At(path.clone(), number));
    }
    let names = if device.identities.is_empty() {
        "no serial number".to_owned()
    } else {
        device.identities.join(", ")
    };
    Err(format!(
        "{} ({names}, {} bytes) no longer exists, or cannot be distinguished from another device: it is \
         left as it is",
        path.display(),
        device.size_bytes
    ))
}

/// Whether the device carries exactly the signatures of the layout.
fn carries_own(path: &Path, device: &OwnedDevice) -> bool {
    match (&device.signatures, Guard::signatures(path)) {
        (Some(own), Ok(found)) => {
            !own.is_empty() && own.iter().any(|signature| !signature.uuid.is_empty()) && *own == found
        }
        _ => false,
    }
}
