//! The inventory on hosts of files, and what facts, tuning and the guard make of it.

use std::path::{Path, PathBuf};

use record::Fact;

use super::{BlockDevice, DeviceKind, node, paths, visible, whole_devices};
use crate::devices::block::name_of_node;
use crate::devices::{observable, top_and_bottom};
use crate::fake::{Tree, hosts};
use crate::file_systems::file_system;
use crate::guard::Reason;
use crate::tuning::{HostSettings, TuningContext};
use crate::{Guard, Host};

fn device(tree: &Tree, name: &str) -> BlockDevice {
    BlockDevice::of(tree.root(), name).unwrap_or_else(|| panic!("no {name}"))
}

fn kinds(tree: &Tree) -> Vec<(String, DeviceKind)> {
    whole_devices(tree.root()).map(|device| (device.name, device.kind)).collect()
}

fn named(pairs: &[(&str, DeviceKind)]) -> Vec<(String, DeviceKind)> {
    pairs.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect()
}

/// The devices that are tuned, with `+` before those that follow another.
fn tuned(tree: &Tree, name: &str) -> Vec<String> {
    let settings = HostSettings::new(tree.root());
    let context = TuningContext::new(tree.root(), &settings, &[PathBuf::from(name)]).unwrap();
    let one = |device: &crate::tuning::Device| {
        format!("{}{} {}", if device.is_path { "+" } else { "" }, device.name, device.path)
    };
    context.devices().iter().map(one).collect()
}

fn facts(tree: &Tree) -> Vec<String> {
    let inventory = Host::new(tree.root().clone()).inventory("tsc");
    inventory.host.devices.into_iter().map(|device| device.name).collect()
}

fn volumes(tree: &Tree) -> Vec<String> {
    let inventory = Host::new(tree.root().clone()).inventory("tsc");
    let all = inventory.host.volumes.known().unwrap().clone();
    let text = |volume: record::VolumeFacts| {
        let state = volume.state.known().cloned().unwrap_or_default();
        format!("{} {} of {}: {state}", volume.name, volume.kind, volume.members.join(" "))
    };
    all.into_iter().map(text).collect()
}

fn refusals(tree: &Tree, name: &str) -> Vec<String> {
    let consent = node(name).display().to_string();
    let reasons = Guard::new(tree.root().clone()).survey(name, &[consent]);
    reasons.iter().map(Reason::to_string).collect()
}

#[test]
fn a_multipath_map_is_one_device_whose_paths_follow_it() {
    let tree = hosts::dm_multipath(2, &[]);
    assert_eq!(
        kinds(&tree),
        named(&[
            ("dm-0", DeviceKind::Multipath),
            ("dm-1", DeviceKind::Mapped),
            ("sda", DeviceKind::Disk),
            ("sdb", DeviceKind::Disk),
            ("sdx", DeviceKind::Disk)
        ])
    );
    assert_eq!(
        tuned(&tree, "all"),
        ["dm-0 /dev/dm-0", "+sda /dev/dm-0", "+sdb /dev/dm-0", "dm-1 /dev/dm-1", "sdx /dev/sdx"]
    );
    let mapped = ["dm-0 /dev/mapper/mpatha", "+sda /dev/mapper/mpatha", "+sdb /dev/mapper/mpatha"];
    assert_eq!(tuned(&tree, "/dev/mapper/mpatha"), mapped);
    assert_eq!(tuned(&tree, "sdb"), ["sdb /dev/sdb"], "one path that was named alone");
    assert_eq!(volumes(&tree)[0], "dm-0 multipath of sda sdb: 2 of 2 paths: sda running; sdb running");
}

#[test]
fn a_failed_path_is_counted_as_such() {
    let tree = hosts::dm_multipath(4, &[2]);
    let usable: Vec<bool> =
        paths(tree.root(), &device(&tree, "dm-0")).iter().map(|path| path.is_usable).collect();
    assert_eq!(usable, [true, true, false, true]);
    assert!(volumes(&tree)[0].ends_with("3 of 4 paths: sda running; sdb running; sdc offline; sdd running"));
    // The paths of a map are no disks: the stack ends at the map.
    let table = file_system::mount_table(tree.root()).unwrap();
    let (top, bottom) = top_and_bottom(tree.root(), &table, Path::new("/dev/dm-1"));
    assert_eq!((top, bottom), (vec!["dm-1".to_owned()], vec!["dm-0".to_owned()]));
}

#[test]
fn a_path_of_a_multipath_map_is_no_target() {
    let tree = hosts::dm_multipath(2, &[]);
    assert_eq!(
        refusals(&tree, "sda")[..2],
        [
            "it is a path of the multipath device dm-0, which has the same data".to_owned(),
            "sda is part of dm-0".to_owned()
        ]
    );
    assert_eq!(refusals(&tree, "dm-0"), ["dm-0 is part of dm-1"], "its partition holds it");
    assert_eq!(refusals(&tree, "sdx"), [""; 0]);
}

#[test]
fn a_hidden_path_of_a_namespace_is_no_second_disk() {
    let tree = hosts::nvme_multipath("live");
    assert_eq!(
        kinds(&tree),
        named(&[
            ("nvme0c0n1", DeviceKind::NamespacePath),
            ("nvme0c1n1", DeviceKind::NamespacePath),
            ("nvme0n1", DeviceKind::Namespace)
        ])
    );
    assert_eq!(facts(&tree), ["nvme0n1"]);
    assert_eq!(visible(tree.root()).count(), 1);
    let all = ["nvme0n1 /dev/nvme0n1", "+nvme0c0n1 /dev/nvme0n1", "+nvme0c1n1 /dev/nvme0n1"];
    for name in ["all", "nvme0n1", "nvme0c1n1", "/dev/nvme0n1p1"] {
        assert_eq!(tuned(&tree, name), all, "{name}");
    }
    assert_eq!(
        volumes(&tree),
        ["nvme0n1 nvme-multipath of nvme0c0n1 nvme0c1n1: 2 of 2 paths: nvme0c0n1 live, optimized; \
          nvme0c1n1 live, non-optimized"]
    );
    let lost = hosts::nvme_multipath("connecting");
    assert!(volumes(&lost)[0].contains(": 1 of 2 paths: "), "{:?}", volumes(&lost));
}

#[test]
fn a_hidden_path_is_no_target() {
    let tree = hosts::nvme_multipath("live");
    assert!(refusals(&tree, "nvme0c0n1").iter().any(|reason| reason.contains("multipath device nvme0n1")));
    assert_eq!(refusals(&tree, "nvme0n1"), ["it has partitions: nvme0n1p1"]);
    for given in ["/dev/nvme0c0n1", "nvme0c0n1"] {
        crate::guard::find(tree.root(), given).unwrap_err();
    }
    let serial = crate::guard::find(tree.root(), "80-AABMxwn3xAAAAAAAB");
    assert_eq!(serial.as_deref(), Ok("nvme0n1"));
}

#[test]
fn a_namespace_that_the_kernel_does_not_count_is_counted_at_its_paths() {
    let tree = hosts::nvme_multipath("live");
    let table = file_system::mount_table(tree.root()).unwrap();
    let counted = |tree: &Tree| observable(tree.root(), &table, Path::new("/dev/nvme0n1")).unwrap();
    assert_eq!(counted(&tree), ["nvme0n1"]);
    let queue = "/sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1/queue/iostats";
    let tree = tree.files(&[(queue, "0\n")]);
    assert_eq!(counted(&tree), ["nvme0c0n1", "nvme0c1n1"]);
}

#[test]
fn both_controllers_of_a_namespace_have_it() {
    let inventory = Host::new(hosts::nvme_multipath("live").root().clone()).inventory("tsc");
    let cards: Vec<&[String]> =
        inventory.slots.elsewhere.iter().map(|card| card.devices.as_slice()).collect();
    assert_eq!(cards, [["nvme0n1".to_owned()], ["nvme0n1".to_owned()]]);
}

#[test]
fn a_cached_device_shows_both_of_its_members() {
    let tree = hosts::bcache();
    let cached = device(&tree, "bcache0");
    assert_eq!((cached.kind, cached.members.len()), (DeviceKind::Bcache, 2));
    assert_eq!(device(&tree, "sda").kind, DeviceKind::Disk, "it has a directory bcache as well");
    assert_eq!(volumes(&tree), ["bcache0 bcache of nvme0n1 sda: clean"]);
    assert_eq!(refusals(&tree, "sda"), ["sda is part of bcache0"]);
    assert_eq!(refusals(&tree, "nvme0n1"), ["nvme0n1 is part of bcache0"]);
}

#[test]
fn a_volume_of_zfs_is_storage_without_known_members() {
    let tree = hosts::zfs_volume();
    let volume = device(&tree, "zd0");
    assert_eq!((volume.kind, volume.members.is_empty()), (DeviceKind::ZfsVolume, true));
    assert_eq!(tuned(&tree, "/dev/zvol/tank/one"), ["zd0 /dev/zvol/tank/one"]);
    assert_eq!(tuned(&tree, "all"), ["sda /dev/sda", "zd0 /dev/zd0"]);
}

#[test]
fn a_logical_volume_leads_to_the_disks_of_its_array() {
    let tree = hosts::lvm_on_md();
    assert_eq!(device(&tree, "dm-0").kind, DeviceKind::LogicalVolume);
    assert_eq!(
        (device(&tree, "md127").kind, device(&tree, "md127").holders),
        (DeviceKind::Array, vec!["dm-0".to_owned()])
    );
    assert_eq!(device(&tree, "sda1").parent.as_deref(), Some("sda"));
    let table = file_system::mount_table(tree.root()).unwrap();
    let (top, bottom) = top_and_bottom(tree.root(), &table, Path::new("/dev/vg/data"));
    assert_eq!((top, bottom), (vec!["dm-0".to_owned()], vec!["sda".to_owned(), "sdb".to_owned()]));
    assert_eq!(volumes(&tree), ["dm-0 lvm of md127: active", "md127 md of sda1 sdb1: clean, metadata 1.2"]);
    assert!(refusals(&tree, "sda").contains(&"sda1 is part of md127".to_owned()));
}

#[test]
fn a_name_with_a_slash_is_found_by_its_node() {
    let tree = hosts::smart_array();
    assert_eq!(node("cciss!c0d0p1"), Path::new("/dev/cciss/c0d0p1"));
    assert_eq!(name_of_node(Path::new("/dev/cciss/c0d0p1")).as_deref(), Some("cciss!c0d0p1"));
    for given in ["/dev/cciss/c0d0", "/dev/disk/by-id/scsi-one", "PAFGK0N9SXA0J3"] {
        assert_eq!(crate::guard::find(tree.root(), given).as_deref(), Ok("cciss!c0d0"), "{given}");
    }
    assert_eq!(tuned(&tree, "all"), ["cciss!c0d0 /dev/cciss/c0d0"]);
    assert_eq!(tuned(&tree, "/dev/cciss/c0d0p1"), ["cciss!c0d0 /dev/cciss/c0d0"]);
    assert_eq!(refusals(&tree, "cciss!c0d0"), ["it has partitions: cciss!c0d0p1"]);
    // A mount table has the path of the node, and so has the table of swaps.
    let mounted = tree.files(&[("/proc/self/mountinfo", "27 1 0:40 / / rw - btrfs /dev/cciss/c0d0p1 rw\n")]);
    assert!(refusals(&mounted, "cciss!c0d0").contains(&"cciss!c0d0p1 is mounted at /".to_owned()));
}

#[test]
fn a_loop_device_and_an_empty_drive_are_no_storage() {
    let tree = hosts::loop_on_a_file();
    assert_eq!(facts(&tree), ["loop0", "sda"]);
    assert_eq!(tuned(&tree, "all"), ["sda /dev/sda"]);
    assert_eq!((device(&tree, "sr0").removable, device(&tree, "sr0").is_usable()), (true, false));
    assert_eq!(tuned(&tree, "/dev/loop0"), ["loop0 /dev/loop0"]);
}

#[test]
fn nothing_of_this_host_is_said_of_another() {
    let facts = Host::new(Tree::new(&[("/proc/version", "x\n")]).root().clone()).inventory("unknown").host;
    assert_eq!((facts.logical_cpus, facts.usable_cpus, facts.memory_bytes), (0, 0, 0));
    assert_eq!((facts.node.as_str(), facts.sockets.known()), ("unknown", None));
    assert_eq!(facts.batch_job, None);
    let tree = Tree::new(&[("/sys/devices/system/cpu/online", "0-71\n")]);
    let facts = Host::new(tree.root().clone()).inventory("unknown").host;
    assert_eq!((facts.logical_cpus, facts.usable_cpus), (72, 72));
    assert_eq!(facts.devices, []);
}

#[test]
fn unknown_states_do_not_count_as_failures() {
    let tree = hosts::dm_multipath(1, &[]);
    std::fs::remove_file(tree.root().path("/sys/devices/pci0000:00/host0/target0:0:0/0:0:0:1/state"))
        .unwrap();
    let [path] = &paths(tree.root(), &device(&tree, "dm-0"))[..] else { panic!("one path") };
    assert!(path.is_usable && matches!(path.state, Fact::Unknown(_)));
}
