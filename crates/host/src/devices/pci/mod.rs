//! The PCI bus: its functions, the state of their links, and the locations of block devices.

mod names;
mod slots;
mod smbios;

use std::path::{Path, PathBuf};

use record::{Fact, LinkFacts, PcieFacts};

use crate::Root;
use crate::devices::block;

pub(crate) use slots::map;

/// Directory of all functions.
const DEVICES: &str = "/sys/bus/pci/devices";
/// Directory of the slots known to the kernel.
const SLOTS: &str = "/sys/bus/pci/slots";

/// Whether `name` is an address such as `0000:3b:00.0`.
fn is_address(name: &str) -> bool {
    let shape = name.len() >= 12 && name.is_ascii();
    shape
        && name.bytes().rev().zip("f.dd:bb:dddd".bytes()).all(|(byte, shape)| match shape {
            b'.' | b':' => byte == shape,
            _ => byte.is_ascii_hexdigit(),
        })
}

/// The functions above the device in `directory`, the nearest first.
fn functions_above(directory: &Path) -> Vec<(String, PathBuf)> {
    let above = directory.ancestors().filter_map(|path| {
        let name = path.file_name()?.to_str()?;
        is_address(name).then(|| (name.to_owned(), path.to_owned()))
    });
    above.collect()
}

/// The function that the device in `directory` belongs to.
pub(crate) fn nearest_function(directory: &Path) -> Option<(String, PathBuf)> {
    functions_above(directory).into_iter().next()
}

/// The location of a block device on the bus.
pub(crate) fn place_of(root: &Root, name: &str) -> Fact<PcieFacts> {
    let Some(directory) = block::controller_directory(root, name) else {
        return Fact::Unknown(format!("no /sys/block/{name}"));
    };
    match nearest_function(&directory) {
        Some((address, path)) => Fact::Known(place(root, &address, &path)),
        None => Fact::Unknown(format!("{name} is not on a PCI bus")),
    }
}

/// Location and links of the function in `directory`.
fn place(root: &Root, address: &str, directory: &Path) -> PcieFacts {
    let port = directory
        .parent()
        .filter(|above| above.file_name().and_then(|name| name.to_str()).is_some_and(is_address));
    PcieFacts {
        address: address.to_owned(),
        slot: slot_name(root, directory),
        link: link(root, directory, "current"),
        card: link(root, directory, "max"),
        port: match port {
            Some(port) => link(root, port, "max"),
            None => {
                let reason = || format!("{address} is directly on the root bus");
                LinkFacts { width: Fact::Unknown(reason()), generation: Fact::Unknown(reason()) }
            }
        },
    }
}

fn link(root: &Root, directory: &Path, which: &str) -> LinkFacts {
    let file = |what: &str| format!("{}/{which}_link_{what}", directory.display());
    // Kernels report 0 or 255 if a function has no link of its own.
    let of_link = |width: u32| Some(width).filter(|width| (1..=32).contains(width));
    let width = root.number::<u32>(&file("width"));
    let speed = root.text(&file("speed"));
    LinkFacts {
        width: width
            .and_then(|width| Fact::of(of_link(width), || format!("{} contains {width}", file("width")))),
        generation: speed
            .and_then(|speed| Fact::of(generation(&speed), || format!("{} contains {speed}", file("speed")))),
    }
}

/// `8.0 GT/s PCIe` is generation 3.
fn generation(speed: &str) -> Option<u32> {
    match speed.split_whitespace().next()? {
        "2.5" => Some(1),
        "5" | "5.0" => Some(2),
        "8" | "8.0" => Some(3),
        "16" | "16.0" => Some(4),
        "32" | "32.0" => Some(5),
        "64" | "64.0" => Some(6),
        _ => None,
    }
}

/// The kernel's name of the slot that contains the function in `directory`, or a bridge above it.
fn slot_name(root: &Root, directory: &Path) -> Fact<String> {
    let named = root.names(SLOTS);
    if named.is_empty() {
        return Fact::Unknown(format!("{SLOTS} lists no slots"));
    }
    let addresses: Vec<String> = functions_above(directory)
        .into_iter()
        .filter_map(|(address, _)| address.split_once('.').map(|(place, _)| place.to_owned()))
        .collect();
    let found = named.into_iter().find(|name| {
        root.text(&format!("{SLOTS}/{name}/address")).known().is_some_and(|place| addresses.contains(place))
    });
    let address = addresses.first().map_or("the card", String::as_str);
    Fact::of(found, || format!("no slot in {SLOTS} contains {address}"))
}

#[cfg(test)]
mod tests {
    use super::{generation, is_address};

    #[test]
    fn an_address_is_told_from_other_directories() {
        assert!(is_address("0000:3b:00.0") && is_address("10000:01:00.0"));
        assert!(!is_address("pci0000:3a") && !is_address("nvme0") && !is_address("0000:3b:00"));
    }

    #[test]
    fn old_and_new_kernels_write_speeds_differently() {
        assert_eq!(generation("8.0 GT/s PCIe"), Some(3));
        assert_eq!(generation("5 GT/s"), Some(2));
        assert_eq!(generation("Unknown speed"), None);
    }
}
