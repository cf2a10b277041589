//! Findings of the guard in kernel tables, on hosts made of files. Real devices are in `tests/`.

use super::{Guard, Reason};
use crate::Root;
use crate::fake::Tree;

const ROOT_ONLY: &str = "27 1 8:240 / / rw - ext4 /dev/root rw\n";
const SWAP_TITLES: &str = "Filename Type Size Used Priority\n";

/// Three disks: `sda` with two unused partitions, `sdb` and `sdc` without partitions.
fn tree() -> Tree {
    Tree::new(&[("/proc/self/mountinfo", ROOT_ONLY), ("/proc/swaps", SWAP_TITLES)])
        .device("pci0/sda", "8:0", &[("device/serial", "SN-a1\n"), ("device/wwid", "naa.5000c500aaaaaaaa\n")])
        .device("pci0/sda/sda1", "8:1", &[("partition", "1"), ("start", "2048"), ("size", "2048")])
        .device("pci0/sda/sda2", "8:2", &[("partition", "2"), ("start", "4096"), ("size", "2048")])
        .device(
            "pci0/sdb",
            "8:16",
            &[("device/serial", "SN-b2\n"), ("device/wwid", "naa.5000c500bbbbbbbb\n")],
        )
        .device("pci0/sdc", "8:32", &[("device/serial", "SN-c3\n")])
}

fn survey(tree: &Tree, name: &str, consents: &[&str]) -> Vec<Reason> {
    let consents: Vec<String> = consents.iter().map(|consent| (*consent).to_owned()).collect();
    Guard::new(tree.root().clone()).survey(name, &consents)
}

fn mounted(tree: Tree, line: &str) -> Tree {
    tree.files(&[("/proc/self/mountinfo", &format!("{ROOT_ONLY}{line}\n"))])
}

#[test]
fn a_free_disk_is_permitted_by_path_link_serial_or_world_wide_name() {
    let tree = tree().link("/dev/disk/by-id/ata-b", "/dev/sdb");
    for consent in [
        "/dev/sdb",
        "/dev/disk/by-id/ata-b",
        "/dev/../dev/sdb",
        "SN-b2",
        "naa.5000c500bbbbbbbb",
        "0x5000c500bbbbbbbb",
    ] {
        assert_eq!(survey(&tree, "sdb", &[consent]), [], "{consent}");
    }
    assert_eq!(survey(&tree, "sdb", &["SN-a1", "/dev/sdb"]), [], "two targets, each with its consent");
}

#[test]
fn what_was_not_named_is_refused_and_told_how_to_name_it() {
    let tree = tree();
    for consents in
        [&[][..], &["/dev/sdc"], &["SN-c3"], &["sdb"], &["unknown-data"], &["/dev"], &["/dev/sd*"], &["*"]]
    {
        let reasons = survey(&tree, "sdb", consents);
        let [Reason::NotNamed { names }] = &reasons[..] else { panic!("{consents:?}: {reasons:?}") };
        assert_eq!(names, &["/dev/sdb", "SN-b2", "0x5000c500bbbbbbbb", "naa.5000c500bbbbbbbb"]);
        assert!(reasons[0].next_step().contains("--destroy-data-on SN-b2"));
    }
}

#[test]
fn an_empty_consent_is_refused_even_beside_a_good_one() {
    for consents in [&["", "/dev/sdb"], &["  ", "/dev/sdb"]] {
        assert_eq!(survey(&tree(), "sdb", consents), [Reason::EmptyConsent]);
    }
    let unnamed = survey(&tree(), "sdb", &[""]);
    assert!(matches!(unnamed[..], [Reason::EmptyConsent, Reason::NotNamed { .. }]), "{unnamed:?}");
}

#[test]
fn a_device_without_a_serial_is_not_named_by_nothing() {
    let tree = tree().device("virtual/block/loop0", "7:0", &[]).device(
        "pci0/sdd",
        "8:48",
        &[("device/serial", "  \n")],
    );
    assert!(matches!(survey(&tree, "sdd", &[" "])[..], [Reason::EmptyConsent, Reason::NotNamed { .. }]));
    assert!(matches!(survey(&tree, "loop0", &["none"])[..], [Reason::NotNamed { .. }]));
}

#[test]
fn upper_and_lower_case_must_be_right() {
    let reasons = survey(&tree(), "sdb", &["sn-B2"]);
    assert_eq!(reasons, [Reason::ConsentInOtherCase { given: "sn-B2".into(), name: "SN-b2".into() }]);
}

#[test]
fn a_serial_that_two_disks_have_names_neither() {
    let tree = tree().files(&[("/sys/devices/pci0/sdc/device/serial", "SN-b2\n")]);
    let reasons = survey(&tree, "sdb", &["SN-b2"]);
    let devices = vec!["sdb".to_owned(), "sdc".to_owned()];
    assert_eq!(reasons, [Reason::AmbiguousConsent { given: "SN-b2".into(), devices }]);
    assert_eq!(survey(&tree, "sdb", &["/dev/sdb"]), [], "its path is its own");
    let unnamed = survey(&tree, "sdb", &[]);
    let Reason::NotNamed { names } = &unnamed[0] else { panic!("{unnamed:?}") };
    assert!(!names.contains(&"SN-b2".to_owned()), "a shared serial is not offered: {names:?}");
}

#[test]
fn hidden_paths_of_a_multipath_device_do_not_share_its_serial() {
    let tree = tree().device("nvme-subsystem/nvme0n1", "259:0", &[("device/serial", "N1")]).device(
        "pci0/nvme0c0n1",
        "259:1",
        &[("device/serial", "N1"), ("hidden", "1\n")],
    );
    assert_eq!(survey(&tree, "nvme0n1", &["N1"]), []);
}

#[test]
fn the_serial_of_a_disk_does_not_name_a_partition_of_it() {
    let reasons = survey(&tree(), "sda1", &["SN-a1"]);
    assert_eq!(reasons, [Reason::ConsentForWholeDisk { given: "SN-a1".into(), disk: "sda".into() }]);
    assert!(matches!(survey(&tree(), "sda1", &["/dev/sda"])[..], [Reason::NotNamed { .. }]));
    assert_eq!(survey(&tree(), "sda1", &["/dev/sda1"]), []);
}

#[test]
fn a_disk_with_partitions_is_refused() {
    let reasons = survey(&tree(), "sda", &["SN-a1"]);
    assert_eq!(reasons, [Reason::Partitioned { partitions: vec!["sda1".into(), "sda2".into()] }]);
}

#[test]
fn a_mounted_partition_refuses_its_disk_and_not_its_neighbour() {
    let tree = mounted(tree(), "50 27 8:1 / /home rw - ext4 /dev/sda1 rw");
    let is_mounted = |reason: &Reason| matches!(reason, Reason::Mounted { device, .. } if device == "sda1");
    assert!(survey(&tree, "sda", &["SN-a1"]).iter().any(is_mounted));
    assert!(survey(&tree, "sda1", &["/dev/sda1"]).iter().any(is_mounted));
    assert_eq!(survey(&tree, "sda2", &["/dev/sda2"]), []);
}

#[test]
fn a_mounted_disk_refuses_its_partitions() {
    let tree = mounted(tree(), "50 27 8:0 / /data rw - xfs /dev/sda rw");
    let reasons = survey(&tree, "sda1", &["/dev/sda1"]);
    assert!(matches!(&reasons[..], [Reason::Mounted { device, .. }] if device == "sda"), "{reasons:?}");
}

#[test]
fn partitions_that_overlap_are_used_together() {
    // An extended partition and a logical partition in it.
    let tree = mounted(
        tree()
            .device("pci0/sdb/sdb1", "8:17", &[("partition", "1"), ("start", "100"), ("size", "1000")])
            .device("pci0/sdb/sdb5", "8:21", &[("partition", "5"), ("start", "200"), ("size", "100")]),
        "50 27 8:21 / /logical rw - ext4 /dev/sdb5 rw",
    );
    let reasons = survey(&tree, "sdb1", &["/dev/sdb1"]);
    assert!(matches!(&reasons[..], [Reason::Mounted { device, .. }] if device == "sdb5"), "{reasons:?}");
}

#[test]
fn a_mount_in_another_namespace_counts_and_its_process_is_named() {
    let tree = tree()
        .link("/proc/self/ns/mnt", "mnt:[1]")
        .link("/proc/100/ns/mnt", "mnt:[1]")
        .link("/proc/200/ns/mnt", "mnt:[2]")
        .files(&[("/proc/200/mountinfo", "90 80 8:16 / /inside rw - ext4 /dev/sdb rw\n")]);
    let reasons = survey(&tree, "sdb", &["/dev/sdb"]);
    let [Reason::Mounted { mount_point, process, .. }] = &reasons[..] else { panic!("{reasons:?}") };
    assert_eq!((mount_point.to_str(), *process), (Some("/inside"), Some(200)));
}

#[test]
fn swap_on_a_partition_refuses_the_disk() {
    let tree = tree().files(&[("/proc/swaps", &format!("{SWAP_TITLES}/dev/sda2 partition 1 0 -2\n"))]);
    let is_swap = |reason: &Reason| matches!(reason, Reason::Swap { .. });
    assert!(survey(&tree, "sda", &["SN-a1"]).iter().any(is_swap));
    assert!(survey(&tree, "sda2", &["/dev/sda2"]).iter().any(is_swap));
    assert!(!survey(&tree, "sda1", &["/dev/sda1"]).iter().any(is_swap));
}

#[test]
fn members_of_md_and_device_mapper_are_refused_through_disk_and_partition() {
    let tree = tree()
        .device("virtual/block/md0", "9:0", &[])
        .stacked("md0", "sda1")
        .device("virtual/block/dm-0", "253:0", &[])
        .stacked("dm-0", "sdb");
    let held =
        |device: &str, holder: &str| Reason::Held { device: device.into(), holders: vec![holder.into()] };
    assert!(survey(&tree, "sda", &["SN-a1"]).contains(&held("sda1", "md0")));
    assert_eq!(survey(&tree, "sda1", &["/dev/sda1"]), [held("sda1", "md0")]);
    assert_eq!(survey(&tree, "sdb", &["SN-b2"]), [held("sdb", "dm-0")]);
    assert_eq!(survey(&tree, "md0", &["/dev/md0"]), [], "the stack itself is free");
    assert_eq!(survey(&tree, "sda2", &["/dev/sda2"]), [], "and so is the other partition");
}

#[test]
fn an_alias_of_the_device_mapper_over_the_same_disk_is_refused() {
    // dm-1 maps the same bytes as dm-0, and dm-0 is mounted.
    let tree = mounted(
        tree()
            .device("virtual/block/dm-0", "253:0", &[("dm/name", "data")])
            .device("virtual/block/dm-1", "253:1", &[("dm/name", "alias")])
            .stacked("dm-0", "sdb")
            .stacked("dm-1", "sdb"),
        "50 27 253:0 / /data rw - ext4 /dev/mapper/data rw",
    );
    let reasons = survey(&tree, "dm-1", &["/dev/dm-1"]);
    assert_eq!(reasons, [Reason::Held { device: "sdb".into(), holders: vec!["dm-0".into()] }]);
}

#[test]
fn a_mapping_over_a_mounted_disk_is_refused() {
    let tree = mounted(
        tree().device("virtual/block/dm-1", "253:1", &[]).stacked("dm-1", "sdb"),
        "50 27 8:16 / /data rw - ext4 /dev/sdb rw",
    );
    let reasons = survey(&tree, "dm-1", &["/dev/dm-1"]);
    assert!(matches!(&reasons[..], [Reason::Mounted { device, .. }] if device == "sdb"), "{reasons:?}");
}

#[test]
fn a_device_named_only_by_the_mapper_in_the_mount_table_is_found() {
    let tree = mounted(
        tree().device("virtual/block/dm-0", "253:0", &[("dm/name", "vg-lv\n")]),
        "50 27 0:44 / /data rw - btrfs /dev/mapper/vg-lv rw",
    );
    let reasons = survey(&tree, "dm-0", &["/dev/dm-0"]);
    assert!(matches!(&reasons[..], [Reason::Mounted { .. }]), "{reasons:?}");
}

#[test]
fn every_member_of_a_mounted_btrfs_is_refused() {
    let tree = mounted(tree(), "50 27 0:44 / /data rw - btrfs /dev/sdb rw")
        .link("/sys/fs/btrfs/6f1a/devices/sdb", "/sys/devices/pci0/sdb")
        .link("/sys/fs/btrfs/6f1a/devices/sdc", "/sys/devices/pci0/sdc");
    let member = |device: &str| Reason::BtrfsMember { device: device.into(), uuid: "6f1a".into() };
    assert_eq!(survey(&tree, "sdc", &["SN-c3"]), [member("sdc")]);
    let first = survey(&tree, "sdb", &["SN-b2"]);
    assert!(first.contains(&member("sdb")) && first.len() == 2, "{first:?}");
}

#[test]
fn two_loop_devices_on_one_file_are_one() {
    let tree = mounted(
        tree().device("virtual/block/loop0", "7:0", &[("loop/backing_file", "/images/a\n")]).device(
            "virtual/block/loop1",
            "7:1",
            &[("loop/backing_file", "/images/a\n")],
        ),
        "50 27 7:1 / /data rw - xfs /dev/loop1 rw",
    );
    let reasons = survey(&tree, "loop0", &["/dev/loop0"]);
    assert!(reasons.contains(&Reason::UnderLoop { device: "/images/a".into(), by: "loop1".into() }));
    assert!(
        reasons.iter().any(|reason| matches!(reason, Reason::Mounted { device, .. } if device == "loop1"))
    );
}

#[test]
fn a_loop_device_over_a_disk_shares_its_uses() {
    let tree = mounted(
        tree().device("virtual/block/loop0", "7:0", &[("loop/backing_file", "/dev/sdb\n")]),
        "50 27 8:16 / /data rw - ext4 /dev/sdb rw",
    );
    let above = survey(&tree, "loop0", &["/dev/loop0"]);
    assert!(matches!(&above[..], [Reason::Mounted { device, .. }] if device == "sdb"), "{above:?}");
    let below = survey(&tree, "sdb", &["SN-b2"]);
    assert!(below.contains(&Reason::UnderLoop { device: "sdb".into(), by: "loop0".into() }), "{below:?}");
}

#[test]
fn a_loop_device_whose_file_swaps_or_is_mounted_itself_is_refused() {
    let image = ("/images/a", "x");
    let loop0 = |tree: Tree| {
        tree.files(&[image]).device("virtual/block/loop0", "7:0", &[("loop/backing_file", "/images/a\n")])
    };
    let swaps = loop0(tree()).files(&[("/proc/swaps", &format!("{SWAP_TITLES}/images/a file 1 0 -2\n"))]);
    assert_eq!(survey(&swaps, "loop0", &["/dev/loop0"]), [Reason::Swap { device: "/images/a".into() }]);
    let file_mount = mounted(loop0(tree()), "50 27 0:77 / /ro ro - erofs /images/a ro");
    let reasons = survey(&file_mount, "loop0", &["/dev/loop0"]);
    assert!(matches!(&reasons[..], [Reason::FileMounted { .. }]), "{reasons:?}");
}

#[test]
fn a_loop_device_whose_file_a_virtual_machine_has_open_is_refused() {
    let tree = tree()
        .files(&[("/images/a", "x"), ("/proc/77/comm", "qemu\n"), ("/proc/77/stat", "77 (qemu) S 1 1\n")])
        .device("virtual/block/loop0", "7:0", &[("loop/backing_file", "/images/a\n")])
        .directories(&["/proc/77/fd"]);
    assert_eq!(survey(&tree, "loop0", &["/dev/loop0"]), []);
    std::os::unix::fs::symlink(tree.root().path("/images/a"), tree.root().path("/proc/77/fd/5")).unwrap();
    let reasons = survey(&tree, "loop0", &["/dev/loop0"]);
    assert_eq!(reasons, [Reason::OpenInProcess { process: 77, command: "qemu".into() }]);
}

#[test]
fn a_mount_two_layers_above_refuses_every_layer() {
    let tree =
        mounted(crate::fake::hosts::lvm_on_md(), "50 27 253:0 / /data rw - xfs /dev/mapper/vg-data rw");
    for (name, says) in [
        ("sda", "sda1 is part of md127"),
        ("sda1", "sda1 is part of md127"),
        ("md127", "md127 is part of dm-0"),
        ("dm-0", "dm-0 is mounted at /data"),
    ] {
        let node = format!("/dev/{name}");
        let reasons: Vec<String> = survey(&tree, name, &[&node]).iter().map(Reason::to_string).collect();
        assert!(reasons.iter().any(|reason| reason == says), "{name}: {reasons:?}");
    }
}

#[test]
fn swap_on_a_device_with_a_slash_in_its_name_is_seen() {
    let table = format!("{SWAP_TITLES}/dev/cciss/c0d0p1 partition 1 0 -2\n");
    let tree = crate::fake::hosts::smart_array().files(&[("/proc/swaps", &table)]);
    // In a container there may be no node.
    std::fs::remove_file(tree.root().path("/dev/cciss/c0d0p1")).unwrap();
    let swap = Reason::Swap { device: "/dev/cciss/c0d0p1".into() };
    assert!(survey(&tree, "cciss!c0d0", &["/dev/cciss/c0d0"]).contains(&swap));
}

#[test]
fn a_disk_that_is_offered_to_other_hosts_is_refused() {
    let nvme = "/sys/kernel/config/nvmet/subsystems/pool/namespaces/1";
    let scsi = "/sys/kernel/config/target/core/iblock_0/disk";
    let tree = tree().files(&[
        (&format!("{nvme}/device_path"), "/dev/sdb\n"),
        (&format!("{scsi}/udev_path"), "/dev/sda1\n"),
        ("/sys/kernel/config/target/core/alua/lu_gps", ""),
    ]);
    let exported = |device: &str, by: &str| Reason::Exported { device: device.into(), by: by.into() };
    assert_eq!(survey(&tree, "sdb", &["SN-b2"]), [exported("sdb", nvme)]);
    assert!(survey(&tree, "sda", &["SN-a1"]).contains(&exported("sda1", scsi)));
}

#[test]
fn without_the_table_of_mounts_nothing_is_permitted() {
    let tree = Tree::new(&[]).device("pci0/sdb", "8:16", &[]);
    let reasons = survey(&tree, "sdb", &["/dev/sdb"]);
    assert_eq!(reasons, [Reason::UnknownUse { error: "no /proc/self/mountinfo".into() }]);
}

#[test]
fn two_paths_to_one_disk_share_its_uses() {
    let tree = mounted(
        tree().files(&[("/sys/devices/pci0/sdc/device/wwid", "naa.5000c500bbbbbbbb\n")]),
        "50 27 8:32 / /data rw - ext4 /dev/sdc rw",
    );
    let reasons = survey(&tree, "sdb", &["/dev/sdb"]);
    assert!(matches!(&reasons[..], [Reason::AliasInUse { alias, .. }] if alias == "sdc"), "{reasons:?}");
}

#[test]
fn a_read_only_or_empty_device_is_refused() {
    let tree = tree().files(&[("/sys/devices/pci0/sdb/ro", "1\n"), ("/sys/devices/pci0/sdb/size", "0\n")]);
    assert_eq!(survey(&tree, "sdb", &["SN-b2"]), [Reason::ReadOnly, Reason::Empty]);
}

#[test]
fn every_reason_is_told_at_once_with_its_next_step() {
    let tree = mounted(tree(), "50 27 8:1 / /my\\040home rw - ext4 /dev/sda1 rw")
        .files(&[("/proc/swaps", &format!("{SWAP_TITLES}/dev/sda2 partition 1 0 -2\n"))]);
    let refusal = super::Refusal { path: "/dev/sda".into(), reasons: survey(&tree, "sda", &[]) };
    let text = refusal.to_string();
    for words in
        ["not named", "--destroy-data-on /dev/sda", "sda1, sda2", "umount '/my home'", "swapoff /dev/sda2"]
    {
        assert!(text.contains(words), "{words} is missing in:\n{text}");
    }
}

#[test]
fn what_is_no_block_device_is_refused() {
    let guard = Guard::new(Root::default());
    let reasons = |path: &str| guard.permit(path.as_ref(), &[path.to_owned()]).unwrap_err().reasons;
    assert_eq!(reasons("/dev/null"), [Reason::NotABlockDevice]);
    assert_eq!(reasons("/"), [Reason::NotABlockDevice]);
    assert!(matches!(reasons("/dev/none-such")[..], [Reason::CannotOpen { .. }]));
}
