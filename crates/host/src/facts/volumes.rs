//! Volumes that consist of other devices: md, device mapper with LVM and multipath, bcache, namespaces of NVMe with
//! several paths, btrfs.

use record::{Fact, VolumeFacts};

use crate::Root;
use crate::devices::block;
use crate::devices::inventory::{self, BlockDevice, DeviceKind, DevicePath};

/// Directory of the mounted btrfs file systems.
const BTRFS: &str = "/sys/fs/btrfs";
/// Number of bytes that btrfs writes to one member before it continues on the next (`BTRFS_STRIPE_LEN`),
/// at every level that stripes.
const BTRFS_STRIPE_BYTES: u64 = 64 << 10;
/// The levels of btrfs, by their names in its allocation directory.
const BTRFS_LEVELS: [&str; 9] =
    ["single", "dup", "raid0", "raid1", "raid1c3", "raid1c4", "raid10", "raid5", "raid6"];

pub(super) fn gather(root: &Root) -> Fact<Vec<VolumeFacts>> {
    if !root.exists("/sys/block") {
        return Fact::Unknown("no /sys/block".to_owned());
    }
    let mut all: Vec<VolumeFacts> =
        inventory::visible(root).filter_map(|device| of_device(root, &device)).collect();
    let file_systems = root.names(BTRFS);
    all.extend(file_systems.iter().filter(|name| name.contains('-')).map(|name| btrfs(root, name)));
    Fact::Known(all)
}

fn of_device(root: &Root, device: &BlockDevice) -> Option<VolumeFacts> {
    let name = &device.name;
    match device.kind {
        DeviceKind::Array => Some(array(root, name)),
        DeviceKind::LogicalVolume => Some(mapped(root, device, "lvm")),
        DeviceKind::Encrypted => Some(mapped(root, device, "dm-crypt")),
        DeviceKind::Mapped => Some(mapped(root, device, "device-mapper")),
        DeviceKind::Multipath => Some(VolumeFacts {
            state: multipath_state(&inventory::paths(root, device)),
            ..mapped(root, device, "multipath")
        }),
        DeviceKind::Bcache => Some(cached(root, device)),
        DeviceKind::Namespace => {
            let paths = inventory::paths(root, device);
            (!paths.is_empty()).then(|| namespace(root, name, &paths))
        }
        _ => None,
    }
}

/// The number of paths that can be used, and the state of each.
fn multipath_state(paths: &[DevicePath]) -> Fact<String> {
    let usable = paths.iter().filter(|path| path.is_usable).count();
    let state = |path: &DevicePath| match &path.state {
        Fact::Known(state) => format!("{} {state}", path.device),
        Fact::Unknown(_) => format!("{} unknown", path.device),
    };
    let states: Vec<String> = paths.iter().map(state).collect();
    Fact::Known(format!("{usable} of {} paths: {}", paths.len(), states.join("; ")))
}

/// A namespace with several paths. The kernel's links to its subsystem are `device` of the namespace.
fn namespace(root: &Root, name: &str, paths: &[DevicePath]) -> VolumeFacts {
    let base = format!("/sys/block/{name}");
    VolumeFacts {
        name: name.to_owned(),
        title: root.text(&format!("{base}/device/subsysnqn")),
        kind: "nvme-multipath".to_owned(),
        level: root.text(&format!("{base}/device/iopolicy")),
        chunk_bytes: Fact::Unknown("each transfer takes one path".to_owned()),
        members: paths.iter().map(|path| path.device.clone()).collect(),
        state: multipath_state(paths),
    }
}

/// A device of bcache: the backing device has the name, the state and the mode.
fn cached(root: &Root, device: &BlockDevice) -> VolumeFacts {
    let base = format!("/sys/block/{}/bcache", device.name);
    VolumeFacts {
        name: device.name.clone(),
        title: Fact::Unknown("bcache has no names".to_owned()),
        kind: "bcache".to_owned(),
        level: root.text(&format!("{base}/cache_mode")).map(|list| block::chosen(&list).to_owned()),
        chunk_bytes: Fact::Unknown("it is not striped".to_owned()),
        members: device.members.clone(),
        state: root.text(&format!("{base}/state")),
    }
}

fn array(root: &Root, name: &str) -> VolumeFacts {
    let base = format!("/sys/block/{name}/md");
    VolumeFacts {
        name: name.to_owned(),
        title: Fact::Unknown("the kernel does not know the name of an array".to_owned()),
        kind: "md".to_owned(),
        level: root.text(&format!("{base}/level")),
        chunk_bytes: root.number(&format!("{base}/chunk_size")),
        members: block::slaves(root, name),
        state: match (
            root.text(&format!("{base}/array_state")),
            root.text(&format!("{base}/metadata_version")),
        ) {
            (Fact::Known(state), Fact::Known(version)) => Fact::Known(format!("{state}, metadata {version}")),
            (state, _) => state,
        },
    }
}

fn mapped(root: &Root, device: &BlockDevice, kind: &str) -> VolumeFacts {
    let base = format!("/sys/block/{}/dm", device.name);
    let unsaid = || "only `dmsetup table` shows it".to_owned();
    VolumeFacts {
        name: device.name.clone(),
        title: root.text(&format!("{base}/name")),
        kind: kind.to_owned(),
        level: Fact::Unknown(unsaid()),
        chunk_bytes: Fact::Unknown(unsaid()),
        members: device.members.clone(),
        state: root
            .number::<u8>(&format!("{base}/suspended"))
            .map(|flag| if flag == 0 { "active" } else { "suspended" }.to_owned()),
    }
}

fn btrfs(root: &Root, id: &str) -> VolumeFacts {
    let base = format!("{BTRFS}/{id}");
    let levels: Vec<String> = root
        .names(&format!("{base}/allocation/data"))
        .into_iter()
        .filter(|name| BTRFS_LEVELS.contains(&name.as_str()))
        .collect();
    let level = match levels.as_slice() {
        [] => Fact::Unknown(format!("{base}/allocation/data contains no level")),
        levels => Fact::Known(levels.join(", ")),
    };
    let stripes =
        level.known().is_some_and(|level| ["raid0", "raid10", "raid5", "raid6"].contains(&level.as_str()));
    let label = root.bytes(&format!("{base}/label")).unwrap_or_default();
    let label = String::from_utf8_lossy(&label).trim().to_owned();
    VolumeFacts {
        name: id.to_owned(),
        title: if label.is_empty() {
            Fact::Unknown("it has no label".to_owned())
        } else {
            Fact::Known(label)
        },
        kind: "btrfs".to_owned(),
        chunk_bytes: match stripes {
            true => Fact::Known(BTRFS_STRIPE_BYTES),
            false => Fact::Unknown("its level is not striped".to_owned()),
        },
        level,
        members: root.names(&format!("{base}/devices")),
        state: Fact::Known("mounted".to_owned()),
    }
}
