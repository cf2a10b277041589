//! The guard on real block devices.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::{FileExt, symlink};
use std::path::Path;
use std::thread;
use std::time::Duration;

use host::{PermittedDevice, Reason, Refusal, UNKNOWN_DATA_WORD};
use testbed::{FileSystem, LoopDevice, Rig, Scratch, Stripe};

use crate::tools::{Finally, Partitioned, Shell, blank, host, run, skipped, succeeds, word};

fn permit(path: &Path, consents: &[&str]) -> Result<PermittedDevice, Refusal> {
    let consents: Vec<String> = consents.iter().map(|consent| (*consent).to_owned()).collect();
    host().guard().permit(path, &consents)
}

/// The device after it was permitted. If the device is busy, this retries: when another test starts a program, the
/// child holds a copy of every open descriptor until it calls exec, including that of a partition's disk.
#[track_caller]
fn permitted(path: &Path, consents: &[&str]) -> PermittedDevice {
    const TRIES: usize = 100;
    for _ in 1..TRIES {
        match permit(path, consents) {
            Err(refusal) if refusal.reasons == [Reason::InUse] => thread::sleep(Duration::from_millis(50)),
            Err(refusal) => panic!("{path:?}: {:?}", refusal.reasons),
            Ok(device) => return device,
        }
    }
    panic!("{path:?} stays in use")
}

/// The reasons for refusing a device that was named correctly.
fn refused(path: &Path) -> Vec<Reason> {
    let reasons = permit(path, &[word(path)]).unwrap_err().reasons;
    assert!(!reasons.iter().any(|reason| matches!(reason, Reason::NotNamed { .. })), "{reasons:?}");
    reasons
}

fn write_at(device: &LoopDevice, bytes: &[u8], offset: u64) {
    let file = OpenOptions::new().write(true).open(device.device()).unwrap();
    file.write_all_at(bytes, offset).unwrap();
    file.sync_all().unwrap();
}

fn has(reasons: &[Reason], wanted: impl Fn(&Reason) -> bool) -> bool {
    reasons.iter().any(wanted)
}

#[test]
fn a_blank_device_is_permitted_only_when_it_is_named() {
    if skipped() {
        return;
    }
    let device = blank().build().unwrap();
    for consents in [&[][..], &["/dev/null"], &["unknown-data"], &[&device.name()], &["/dev/loop*"]] {
        let reasons = permit(device.device(), consents).unwrap_err().reasons;
        assert!(matches!(&reasons[..], [Reason::NotNamed { .. }]), "{consents:?}: {reasons:?}");
    }
    let permitted = permitted(device.device(), &[word(device.device())]);
    assert_eq!(permitted.name(), device.name());
    let file = OpenOptions::new().write(true).open(permitted.path()).unwrap();
    assert!(permitted.is_same(&file) && permitted.covers(device.device()));
    assert!(!permitted.is_same(&fs::File::open("/dev/null").unwrap()));
}

#[test]
fn links_and_other_nodes_lead_to_the_same_device() {
    if skipped() {
        return;
    }
    let device = blank().build().unwrap();
    let scratch = Scratch::on_disk().unwrap();
    let (link, node) = (scratch.path().join("by-id"), scratch.path().join("node"));
    symlink(device.device(), &link).unwrap();
    let number = rustix::fs::stat(device.device()).unwrap().st_rdev;
    let (major, minor) = (rustix::fs::major(number).to_string(), rustix::fs::minor(number).to_string());
    run("mknod", &[word(&node), "b", &major, &minor]);
    assert!(permitted(&link, &[word(device.device())]).covers(&node));
    drop(permitted(device.device(), &[word(&link)]));
    drop(permitted(&node, &[word(&link)]));

    run("mkfs.ext4", &["-q", word(device.device())]);
    let mount_point = scratch.path().join("mnt");
    fs::create_dir(&mount_point).unwrap();
    run("mount", &[word(device.device()), word(&mount_point)]);
    let _unmount = Finally::new("umount", &[word(&mount_point)]);
    for alias in [&link, &node] {
        let reasons = refused(alias);
        assert!(has(&reasons, |reason| matches!(reason, Reason::Mounted { .. })), "{alias:?}: {reasons:?}");
    }
}

#[test]
fn a_mounted_device_is_refused_by_the_table_the_kernel_and_its_signature() {
    if skipped() {
        return;
    }
    for kind in [FileSystem::Ext4, FileSystem::Xfs, FileSystem::Btrfs] {
        let device = blank().file_system(kind).build().unwrap();
        let reasons = refused(device.device());
        let mounted = |reason: &Reason| matches!(reason, Reason::Mounted { mount_point, .. } if Some(mount_point.as_path()) == device.mount_point());
        assert!(has(&reasons, mounted), "{kind:?}: {reasons:?}");
        assert!(reasons.contains(&Reason::InUse), "{kind:?}: {reasons:?}");
        let signature =
            |reason: &Reason| matches!(reason, Reason::Signature { kind: found, .. } if found == kind.name());
        assert!(has(&reasons, signature), "{kind:?}: {reasons:?}");
    }
}

#[test]
fn a_mount_in_another_namespace_is_found() {
    if skipped() {
        return;
    }
    let device = blank().build().unwrap();
    run("mkfs.xfs", &["-q", word(device.device())]);
    let scratch = Scratch::on_disk().unwrap();
    let script =
        format!("mount {} {} && echo ready && read end", word(device.device()), word(scratch.path()));
    let shell = Shell::run("unshare", &["--mount", "--propagation", "private"], &script);
    assert!(
        !fs::read_to_string("/proc/self/mountinfo").unwrap().contains(&format!("{} ", word(device.device())))
    );
    let reasons = refused(device.device());
    let mounted = |reason: &Reason| matches!(reason, Reason::Mounted { process: Some(process), .. } if *process == shell.process());
    assert!(has(&reasons, mounted), "{reasons:?}");
}

#[test]
fn swap_space_is_refused() {
    if skipped() {
        return;
    }
    let device = blank().build().unwrap();
    run("mkswap", &[word(device.device())]);
    let signature = |reason: &Reason| matches!(reason, Reason::Signature { kind, .. } if kind == "swap");
    assert!(has(&refused(device.device()), signature), "before it is used");
    if !succeeds("swapon", &[word(device.device())]) {
        println!("skipped: swap on a loop device is not allowed here");
        return;
    }
    let _off = Finally::new("swapoff", &[word(device.device())]);
    let reasons = refused(device.device());
    assert!(has(&reasons, |reason| matches!(reason, Reason::Swap { .. })), "{reasons:?}");
    assert!(reasons.contains(&Reason::InUse), "{reasons:?}");
}

/// Members of stacks. The tools for them need not be installed: the test writes what they write, as far as util-linux
/// checks it.
#[test]
fn members_of_arrays_groups_and_caches_are_refused_even_where_unknown_data_may_be_lost() {
    if skipped() {
        return;
    }
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let device = blank().build().unwrap();
    let size = OpenOptions::new().read(true).open(device.device()).unwrap().seek(SeekFrom::End(0)).unwrap();
    // The fields of md's superblock 0.90 have 32 bits: first its magic number, then version 0.90.
    let md = [0xa92b_4efc_u32, 0, 90].iter().flat_map(|word| word.to_le_bytes()).collect();
    let bcache = 0xc685_73f6_4e1a_45ca_8265_f57f_48ba_6d81_u128.to_be_bytes();
    let zfs = words(&[0x00ba_b10c, 5000]);
    let members = [
        ("linux_raid_member", vec![((size & !0xffff) - 0x1_0000, md)]),
        ("isw_raid_member", vec![(size - 1024, b"Intel Raid ISM Cfg Sig. 1.0.00".to_vec())]),
        ("ddf_raid_member", vec![(size - 512, vec![0xde, 0x11, 0xde, 0x11])]),
        ("zfs_member", (0..16).map(|number| ((128 << 10) + number * 1024, zfs.clone())).collect()),
        ("bcache", vec![(4096 + 8, words(&[8])), (4096 + 24, bcache.to_vec())]),
        ("crypto_LUKS", vec![(0, b"LUKS\xba\xbe\0\x01".to_vec())]),
        ("LVM1_member", vec![(0, b"HM\x01\0".to_vec())]),
    ];
    for (member, writes) in members {
        let writes: Vec<(u64, Vec<u8>)> = writes;
        for (offset, bytes) in &writes {
            write_at(&device, bytes, *offset);
        }
        let consents = [word(device.device()), UNKNOWN_DATA_WORD];
        let reasons = permit(device.device(), &consents).unwrap_err().reasons;
        let is_this = |reason: &Reason| matches!(reason, Reason::Signature { kind, .. } if kind == member);
        assert!(has(&reasons, is_this), "{member}: {reasons:?}");
        for (offset, bytes) in &writes {
            write_at(&device, &vec![0; bytes.len()], *offset);
        }
        drop(permitted(device.device(), &consents));
    }
}

#[test]
fn a_loop_device_on_a_file_that_swaps_is_refused() {
    if skipped() {
        return;
    }
    let scratch = Scratch::on_disk().unwrap();
    let file = scratch.path().join("swap");
    fs::write(&file, vec![0; 16 << 20]).unwrap();
    run("chmod", &["600", word(&file)]);
    let other_name = scratch.path().join("other-name");
    fs::hard_link(&file, &other_name).unwrap();
    let device = LoopDevice::builder().over(&other_name).cached().build().unwrap();
    drop(permitted(device.device(), &[word(device.device())]));
    run("mkswap", &[word(&file)]);
    if !succeeds("swapon", &[word(&file)]) {
        println!("skipped: swap on a file is not allowed here");
        return;
    }
    let _off = Finally::new("swapoff", &[word(&file)]);
    let reasons = refused(device.device());
    assert!(has(&reasons, |reason| matches!(reason, Reason::Swap { .. })), "{reasons:?}");
}

#[test]
fn partitions_are_guarded_with_their_disk() {
    if skipped() {
        return;
    }
    let scratch = Scratch::on_disk().unwrap();
    let Some(disk) = Partitioned::new(&scratch.path().join("image")) else {
        println!("skipped: this kernel shows no partitions of loop devices");
        return;
    };
    let reasons = refused(&disk.device);
    assert!(has(
        &reasons,
        |reason| matches!(reason, Reason::Partitioned { partitions } if partitions.len() == 2)
    ));
    assert!(
        has(&reasons, |reason| matches!(reason, Reason::Signature { kind, .. } if kind == "dos")),
        "{reasons:?}"
    );

    let (first, second) = (disk.partition(1), disk.partition(2));
    drop(permitted(&first, &[word(&first)]));
    let reasons = permit(&first, &[word(&disk.device)]).unwrap_err().reasons;
    assert!(matches!(&reasons[..], [Reason::NotNamed { .. }]), "the disk's name is not the partition's");

    run("mkfs.ext4", &["-q", word(&first)]);
    let mount_point = scratch.path().join("mnt");
    fs::create_dir(&mount_point).unwrap();
    run("mount", &[word(&first), word(&mount_point)]);
    let unmount = Finally::new("umount", &[word(&mount_point)]);
    let mounted = |reason: &Reason| matches!(reason, Reason::Mounted { .. });
    assert!(has(&refused(&disk.device), mounted));
    assert!(has(&refused(&first), mounted));
    drop(permitted(&second, &[word(&second)]));
    drop(unmount);
}

#[test]
fn a_signature_refuses_and_what_is_left_of_a_wiped_one_is_unknown_data() {
    if skipped() {
        return;
    }
    let device = blank().build().unwrap();
    run("mkfs.xfs", &["-q", word(device.device())]);
    let reasons = refused(device.device());
    assert!(has(&reasons, |reason| matches!(reason, Reason::Signature { kind, .. } if kind == "xfs")));
    let with_word = permit(device.device(), &[word(device.device()), UNKNOWN_DATA_WORD]).unwrap_err().reasons;
    assert!(
        matches!(&with_word[..], [Reason::Signature { .. }]),
        "the word is not for signatures: {with_word:?}"
    );

    run("wipefs", &["--all", word(device.device())]);
    let reasons = refused(device.device());
    assert!(matches!(&reasons[..], [Reason::UnknownData { .. }]), "{reasons:?}");
    assert!(reasons[0].next_step().contains(UNKNOWN_DATA_WORD));
    drop(permitted(device.device(), &[word(device.device()), UNKNOWN_DATA_WORD]));
}

#[test]
fn data_that_is_not_known_is_refused_and_own_stamps_are_not() {
    if skipped() {
        return;
    }
    let device = blank().build().unwrap();
    let last = FileSystem::Xfs.smallest_bytes() - 512;
    write_at(&device, &[0xee; 512], last);
    assert_eq!(refused(device.device()), [Reason::UnknownData { offset: last }]);
    let guard = host().guard().with_stamp_test(|cell| cell.iter().all(|byte| *byte == 0xee));
    assert!(guard.permit(device.device(), &[word(device.device()).to_owned()]).is_ok());
}

#[test]
fn a_second_loop_device_on_the_same_file_is_the_same_device() {
    if skipped() {
        return;
    }
    let scratch = Scratch::on_disk().unwrap();
    let (file, other_name) = (scratch.path().join("image"), scratch.path().join("other-name"));
    fs::File::create(&file).unwrap().set_len(64 << 20).unwrap();
    fs::hard_link(&file, &other_name).unwrap();
    let mounted = LoopDevice::builder().over(&file).cached().file_system(FileSystem::Ext4).build().unwrap();
    let alias = LoopDevice::builder().over(&other_name).cached().build().unwrap();
    let reasons = refused(alias.device());
    let under = |reason: &Reason| matches!(reason, Reason::UnderLoop { by, .. } if *by == mounted.name());
    assert!(has(&reasons, under), "{reasons:?}");
    let is_mounted =
        |reason: &Reason| matches!(reason, Reason::Mounted { device, .. } if *device == mounted.name());
    assert!(has(&reasons, is_mounted), "{reasons:?}");
}

#[test]
fn loop_devices_over_block_devices_share_their_uses() {
    if skipped() {
        return;
    }
    let below = blank().file_system(FileSystem::Ext4).build().unwrap();
    let above = LoopDevice::builder().over(below.device()).cached().build().unwrap();
    let reasons = refused(above.device());
    assert!(has(
        &reasons,
        |reason| matches!(reason, Reason::Mounted { device, .. } if *device == below.name())
    ));

    let free = blank().build().unwrap();
    let over_it = LoopDevice::builder().over(free.device()).cached().build().unwrap();
    let reasons = refused(free.device());
    assert_eq!(reasons, [Reason::UnderLoop { device: free.name(), by: over_it.name() }]);
}

#[test]
fn every_member_of_a_stripe_is_refused() {
    if skipped() {
        return;
    }
    let rig = Rig::of(3, &blank()).unwrap();
    let devices: Vec<_> = rig.devices().iter().map(|device| device.device().to_owned()).collect();
    let _stripe = Stripe::over(rig).unwrap();
    for device in devices {
        let reasons = refused(&device);
        assert!(
            has(&reasons, |reason| matches!(reason, Reason::BtrfsMember { .. })),
            "{device:?}: {reasons:?}"
        );
        assert!(reasons.contains(&Reason::InUse), "{device:?}: {reasons:?}");
    }
}

#[test]
fn a_process_that_has_the_device_open_is_named() {
    if skipped() {
        return;
    }
    let device = blank().build().unwrap();
    // Use a child of the shell, because a direct child of this process counts as this process.
    let script = format!("sh -c 'exec 3<{} && echo ready && read end'; true", word(device.device()));
    let shell = Shell::run("env", &[], &script);
    let reasons = refused(device.device());
    assert!(
        matches!(&reasons[..], [Reason::OpenInProcess { process, .. }] if *process != shell.process()),
        "{reasons:?}"
    );
}

#[test]
fn a_read_only_device_is_refused() {
    if skipped() {
        return;
    }
    let device = blank().build().unwrap();
    run("blockdev", &["--setro", word(device.device())]);
    // Otherwise the kernel keeps the read-only flag for the next user of this loop device.
    let _writable = Finally::new("blockdev", &["--setrw", word(device.device())]);
    assert_eq!(refused(device.device()), [Reason::ReadOnly]);
}

#[test]
fn while_a_device_is_permitted_nothing_else_can_take_it() {
    if skipped() {
        return;
    }
    let device = blank().build().unwrap();
    let scratch = Scratch::on_disk().unwrap();
    let permitted = permitted(device.device(), &[word(device.device())]);
    assert!(refused(device.device()).contains(&Reason::InUse), "not even this program twice");
    let make = ["-q", "-F", word(device.device())];
    assert!(!succeeds("mkfs.ext4", &make), "nothing that asks the kernel for it is given it");
    // Copy the image of a file system with direct I/O, bypassing the page cache as our own transfers do.
    let image = scratch.path().join("image");
    fs::File::create(&image).unwrap().set_len(FileSystem::Xfs.smallest_bytes()).unwrap();
    run("mkfs.ext4", &["-q", "-F", word(&image)]);
    run("dd", &[&format!("if={}", image.display()), &format!("of={}", device.device().display()), "bs=1M"]);
    let mount_point = scratch.path().join("mnt");
    fs::create_dir(&mount_point).unwrap();
    let mount = ["-t", "ext4", word(device.device()), word(&mount_point)];
    assert!(!succeeds("mount", &mount), "the kernel keeps it from being mounted");
    drop(permitted);
    run("mount", &mount);
    run("umount", &[word(&mount_point)]);
}
