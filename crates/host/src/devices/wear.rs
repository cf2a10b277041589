//! Wear of a device, as reported by the device itself.

use std::fs::File;

use record::Fact;

use crate::Root;
use crate::devices::{block, inventory};
use crate::system::sys;

/// Offset of the percentage of rated life used in the NVMe health log. Source: NVM Express Base Specification
/// 2.0, 5.16.1.3.
const PERCENTAGE_USED: usize = 5;

/// Wear of a whole device in percent. Only NVMe devices are supported; others need vendor-specific tools.
pub(crate) fn wear_percent(root: &Root, name: &str) -> Fact<u32> {
    if !name.starts_with("nvme") {
        let turns = root.number::<u8>(&format!("/sys/block/{name}/queue/rotational"));
        return Fact::Unknown(match (turns, block::directory(root, name)) {
            (_, Some(path)) if path.starts_with("/sys/devices/virtual") => {
                "it is a virtual device".to_owned()
            }
            (Fact::Known(1), _) => "it is a rotational disk, or reports that it is".to_owned(),
            _ => format!(
                "only NVMe devices are queried; use `smartctl -A {}` for others",
                inventory::node(name).display()
            ),
        });
    }
    if !root.is_system() {
        return Fact::Unknown(
            "it must be read from the device, which a directory tree under --root does not provide"
                .to_owned(),
        );
    }
    let path = inventory::node(name);
    let page = File::open(&path).and_then(|file| sys::nvme_health(&file));
    match page {
        Ok(page) => Fact::Known(u32::from(page[PERCENTAGE_USED])),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            Fact::Unknown(format!("{}: {error}; it can be read as root", path.display()))
        }
        Err(error) => Fact::Unknown(format!("{}: {error}", path.display())),
    }
}
