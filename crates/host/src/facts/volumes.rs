//! Volumes that consist of other devices: md, device mapper with LVM, btrfs.

use record::{Fact, VolumeFacts};

use crate::Root;
use crate::devices::block;

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
    let mut all = Vec::new();
    for name in root.names("/sys/block") {
        if root.exists(&format!("/sys/block/{name}/md")) {
            all.push(array(root, &name));
        } else if root.exists(&format!("/sys/block/{name}/dm")) {
            all.push(mapped(root, &name));
        }
    }
    let file_systems = root.names(BTRFS);
    all.extend(file_systems.iter().filter(|name| name.contains('-')).map(|name| btrfs(root, name)));
    Fact::Known(all)
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

fn mapped(root: &Root, name: &str) -> VolumeFacts {
    let base = format!("/sys/block/{name}/dm");
    let id = root.text(&format!("{base}/uuid"));
    let kind = match id.known().and_then(|id| id.split_once('-')).map(|(maker, _)| maker) {
        Some("LVM") => "lvm",
        Some("mpath") => "multipath",
        Some("CRYPT") => "dm-crypt",
        _ => "device-mapper",
    };
    let unsaid = || "only `dmsetup table` shows it".to_owned();
    VolumeFacts {
        name: name.to_owned(),
        title: root.text(&format!("{base}/name")),
        kind: kind.to_owned(),
        level: Fact::Unknown(unsaid()),
        chunk_bytes: Fact::Unknown(unsaid()),
        members: block::slaves(root, name),
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
