//! Layouts on loop devices: they are created, read back and removed, and never overwrite existing data.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use host::layouts::Obstacle;
use host::{Guard, LayoutError, Layouts, MadeLayout, Reason, Root, UNKNOWN_DATA_WORD};
use plan::{FileSystem, FileSystemKind, Layout, Recipe};
use record::{CommandRun, LayoutFinding};
use testbed::{LoopDevice, Scratch};

use crate::tools::run;

/// XFS needs at least 300 MB, and a larger log if it is given a stripe geometry.
const XFS_BYTES: u64 = 640 << 20;

/// Devices, a mount point, and a directory for ledgers. Everything is removed when the value is dropped.
struct Rig {
    devices: Vec<LoopDevice>,
    scratch: Scratch,
    layouts: Layouts,
    told: Vec<CommandRun>,
}

impl Rig {
    /// Returns `None` without the necessary privileges.
    fn new(devices: usize, bytes: u64) -> Option<Self> {
        if testbed::skipped(testbed::Testbed::available()) {
            return None;
        }
        let scratch = Scratch::on_disk().unwrap();
        let devices = (0..devices).map(|_| LoopDevice::builder().bytes(bytes).build().unwrap()).collect();
        let root = Root::default();
        let layouts = Layouts::new(root.clone(), scratch.path().join("state"), Guard::new(root));
        Some(Self { devices, scratch, layouts, told: Vec::new() })
    }

    fn layout(&self, recipe: Recipe) -> Layout {
        let path = |device: &LoopDevice| device.device().to_string_lossy().into_owned();
        Layout {
            name: "test".into(),
            title: String::new(),
            stands_for: String::new(),
            devices: self.devices.iter().map(path).collect(),
            mount_point: self.scratch.path().join("mnt"),
            recipe,
        }
    }

    fn create(&mut self, layout: &Layout) -> Result<MadeLayout, LayoutError> {
        let told = &mut self.told;
        let agreed = self.layouts.survey(layout, &[]).commands;
        self.layouts.create(layout, &[], agreed, "run", &mut |run| told.push(run.clone()))
    }

    fn destroy(&mut self, standing: MadeLayout) -> Result<(), LayoutError> {
        let told = &mut self.told;
        self.layouts.destroy(standing, &mut |run| told.push(run.clone()))
    }

    /// The obstacles that `create` reports.
    fn refused(&mut self, layout: &Layout) -> Vec<Obstacle> {
        let before: Vec<Vec<u8>> = self.devices.iter().map(|device| head(device.device())).collect();
        let error = self.create(layout).unwrap_err();
        assert!(self.told.is_empty() && self.layouts.standing().unwrap().is_empty(), "nothing is done");
        let after: Vec<Vec<u8>> = self.devices.iter().map(|device| head(device.device())).collect();
        assert!(before == after, "devices are as they were");
        match error {
            LayoutError::Obstacles { obstacles, .. } => obstacles,
            other => panic!("{other}"),
        }
    }

    fn path(&self, device: usize) -> String {
        self.devices[device].device().to_string_lossy().into_owned()
    }

    fn commands(&self) -> Vec<String> {
        self.told.iter().map(|run| run.command.clone()).collect()
    }

    /// Asserts that nothing is left, and that the guard permits each device again.
    fn assert_blank(&self) {
        assert!(self.layouts.standing().unwrap().is_empty(), "a ledger is left");
        assert!(!self.scratch.path().join("mnt").exists(), "the mount point is left");
        for device in &self.devices {
            let named = device.device().to_string_lossy().into_owned();
            Guard::new(Root::default()).permit(device.device(), &[named]).unwrap();
        }
    }
}

fn file_system(kind: FileSystemKind, make: &[&str]) -> FileSystem {
    let make_options = make.iter().map(|word| (*word).to_owned()).collect();
    FileSystem { kind, make_options, mount_options: "noatime".into() }
}

/// The first megabyte of a device.
fn head(device: &Path) -> Vec<u8> {
    use std::io::Read;
    let mut bytes = Vec::new();
    std::fs::File::open(device).unwrap().take(1 << 20).read_to_end(&mut bytes).unwrap();
    bytes
}

fn lines(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

fn own(create: &[&str], verify: &[&str], destroy: &[&str]) -> Recipe {
    Recipe::Own { create: lines(create), verify: lines(verify), destroy: lines(destroy) }
}

fn differing(findings: &[LayoutFinding]) -> Vec<String> {
    findings.iter().filter(|finding| finding.differs()).map(ToString::to_string).collect()
}

fn found(findings: &[LayoutFinding], property: &str) -> String {
    let finding = findings.iter().find(|finding| finding.property == property).unwrap();
    finding.found.known().unwrap().clone()
}

fn is_mounted(place: &Path) -> bool {
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    table.lines().any(|line| line.split(' ').nth(4) == place.to_str())
}

#[test]
fn xfs_on_each_device_stands_and_goes_and_the_devices_are_blank_again() {
    let Some(mut rig) = Rig::new(2, XFS_BYTES) else { return };
    let xfs = file_system(FileSystemKind::Xfs, &["-d", "su=128k,sw=1"]);
    let layout = rig.layout(Recipe::PerDevice { file_system: xfs });
    let standing = rig.create(&layout).unwrap();
    let places: Vec<PathBuf> = ["mnt/0", "mnt/1"].map(|place| rig.scratch.path().join(place)).into();
    assert_eq!(standing.places(), places);
    assert!(places.iter().all(|place| is_mounted(place)));
    let findings = rig.layouts.verify(&standing);
    assert_eq!(differing(&findings), Vec::<String>::new());
    assert_eq!(found(&findings, "stripe unit, bytes"), "131072");
    assert_eq!(found(&findings, "stripe width, bytes"), "131072");
    assert_eq!(found(&findings, "mount options asked for"), "noatime");
    std::fs::write(places[1].join("file"), "data").unwrap();
    assert!(rig.commands().contains(&format!("mkfs.xfs -f -K -d su=128k,sw=1 {}", rig.path(0))));
    assert!(rig.commands().contains(&format!("blkdiscard -f {}", rig.path(1))));
    rig.destroy(standing).unwrap();
    assert!(!places.iter().any(|place| is_mounted(place)));
    rig.assert_blank();
    let log = std::fs::read_to_string(rig.scratch.path().join("state/layouts/commands.jsonl")).unwrap();
    assert_eq!(log.lines().count(), rig.told.len(), "each command is in the log");
    let again = rig.create(&layout).unwrap();
    rig.destroy(again).unwrap();
    rig.assert_blank();
}

#[test]
fn ext4_and_btrfs_on_each_device_stand_and_go() {
    for kind in [FileSystemKind::Ext4, FileSystemKind::Btrfs] {
        let Some(mut rig) = Rig::new(2, 128 << 20) else { return };
        let layout = rig.layout(Recipe::PerDevice { file_system: file_system(kind, &[]) });
        let standing = rig.create(&layout).unwrap();
        assert_eq!(differing(&rig.layouts.verify(&standing)), Vec::<String>::new());
        for place in standing.places() {
            std::fs::write(place.join("file"), vec![7; 8 << 20]).unwrap();
        }
        rig.destroy(standing).unwrap();
        rig.assert_blank();
    }
}

#[test]
fn one_btrfs_is_striped_over_all_devices() {
    let Some(mut rig) = Rig::new(3, 128 << 20) else { return };
    let layout = rig.layout(Recipe::Btrfs { mount_options: "noatime,nodatacow".into() });
    let standing = rig.create(&layout).unwrap();
    let findings = rig.layouts.verify(&standing);
    assert_eq!(differing(&findings), Vec::<String>::new());
    assert_eq!(found(&findings, "data profile"), "raid0");
    assert_eq!(found(&findings, "devices").split(' ').count(), 3);
    rig.destroy(standing).unwrap();
    rig.assert_blank();
}

#[test]
fn a_raw_layout_is_its_devices_and_an_existing_directory_needs_no_ledger() {
    let Some(mut rig) = Rig::new(2, 8 << 20) else { return };
    let layout = rig.layout(Recipe::Raw);
    let standing = rig.create(&layout).unwrap();
    assert_eq!(standing.places(), [rig.path(0), rig.path(1)].map(PathBuf::from));
    std::fs::write(rig.devices[0].device(), vec![7; 4 << 20]).unwrap();
    rig.destroy(standing).unwrap();
    rig.assert_blank();
    let mount_point = rig.scratch.path().to_owned();
    let existing = Layout { devices: vec![], mount_point, ..rig.layout(Recipe::Existing) };
    let standing = rig.create(&existing).unwrap();
    assert_eq!(standing.places(), [rig.scratch.path()]);
    assert!(rig.layouts.standing().unwrap().is_empty());
    assert_eq!(differing(&rig.layouts.verify(&standing)), Vec::<String>::new());
    rig.destroy(standing).unwrap();
    assert!(rig.scratch.path().exists());
}

#[test]
fn ones_own_commands_make_check_and_undo_a_layout() {
    let Some(mut rig) = Rig::new(2, 64 << 20) else { return };
    let create = ["mkfs.ext4 -q {device1}", "mount {device1} {mount}"];
    let destroy = ["umount {mount}"];
    let layout = rig.layout(own(&create, &["mountpoint -q {mount}", "test -e {mount}/none"], &destroy));
    let layout = Layout { stands_for: "XVM".into(), ..layout };
    let standing = rig.create(&layout).unwrap();
    assert!(is_mounted(&standing.places()[0]));
    assert_eq!(rig.told.last().unwrap().printed.as_deref(), Some("stands for XVM"));
    let wrong = differing(&rig.layouts.verify(&standing));
    assert!(
        matches!(&wrong[..], [only] if only.contains("test -e") && only.contains("exit status 1")),
        "{wrong:?}"
    );
    rig.destroy(standing).unwrap();
    rig.assert_blank();
}

#[test]
fn a_step_that_fails_leaves_nothing_behind() {
    let Some(mut rig) = Rig::new(1, XFS_BYTES) else { return };
    // Add a second device that is too small for XFS.
    rig.devices.push(LoopDevice::builder().bytes(8 << 20).build().unwrap());
    let xfs = file_system(FileSystemKind::Xfs, &[]);
    let layout = rig.layout(Recipe::PerDevice { file_system: xfs });
    let error = rig.create(&layout).unwrap_err().to_string();
    for words in ["mkfs.xfs -f -K", &rig.path(1), "exit status 1", "all earlier steps were undone"] {
        assert!(error.contains(words), "{words} is missing in:\n{error}");
    }
    assert!(!error.contains('\t'), "the usage of mkfs.xfs has tabs: {error:?}");
    rig.assert_blank();
    rig.told.clear();
    let layout = rig.layout(own(&["mkfs.ext4 -q {device0}", "exit 3"], &[], &["umount {mount}"]));
    let error = rig.create(&layout).unwrap_err().to_string();
    assert!(error.contains("exit status 3") && error.contains("were undone"), "{error}");
    rig.assert_blank();
}

#[test]
fn a_layout_that_is_to_stop_is_undone_between_any_two_steps() {
    for steps in 0..8 {
        let Some(mut rig) = Rig::new(2, 128 << 20) else { return };
        let asked = Arc::new(AtomicU32::new(0));
        rig.layouts = rig.layouts.clone().with_stop(move || asked.fetch_add(1, Ordering::Relaxed) == steps);
        let layout = rig.layout(Recipe::PerDevice { file_system: file_system(FileSystemKind::Ext4, &[]) });
        let error = rig.create(&layout).unwrap_err();
        assert!(
            matches!(&error, LayoutError::Interrupted { left, .. } if left.is_empty()),
            "{steps}: {error}"
        );
        rig.assert_blank();
    }
}

#[test]
fn what_is_still_used_is_not_wiped_and_stays_in_the_ledger_until_it_is_free() {
    let Some(mut rig) = Rig::new(2, 128 << 20) else { return };
    let layout = rig.layout(Recipe::PerDevice { file_system: file_system(FileSystemKind::Ext4, &[]) });
    let standing = rig.create(&layout).unwrap();
    let file = std::fs::File::create(standing.places()[0].join("file")).unwrap();
    let error = rig.destroy(standing).unwrap_err().to_string();
    for words in ["umount", "busy", "is still in use", &rig.path(0), "ioproof layout clean"] {
        assert!(error.contains(words), "{words} is missing in:\n{error}");
    }
    assert!(is_mounted(&rig.scratch.path().join("mnt/0")) && !is_mounted(&rig.scratch.path().join("mnt/1")));
    assert!(!head(rig.devices[0].device()).iter().all(|byte| *byte == 0), "it is not wiped");
    assert!(head(rig.devices[1].device()).iter().all(|byte| *byte == 0), "the other one is");
    // Someone else uses the other device in the meantime, so it is no longer ours.
    run("mkfs.ext4", &["-q", &rig.path(1)]);
    drop(file);
    let standing = rig.layouts.standing().unwrap().remove(0);
    assert!(!standing.is_complete());
    rig.destroy(standing).unwrap();
    assert!(
        !head(rig.devices[1].device()).iter().all(|byte| *byte == 0),
        "what was given back is not touched"
    );
    run("wipefs", &["-aq", &rig.path(1)]);
}

#[test]
fn what_somebody_else_has_put_on_a_device_since_is_not_wiped() {
    let Some(mut rig) = Rig::new(1, 128 << 20) else { return };
    let layout = rig.layout(Recipe::PerDevice { file_system: file_system(FileSystemKind::Ext4, &[]) });
    let standing = rig.create(&layout).unwrap();
    run("umount", &[&standing.places()[0].to_string_lossy()]);
    run("mkfs.ext4", &["-q", "-F", &rig.path(0)]);
    let error = rig.destroy(standing).unwrap_err().to_string();
    assert!(error.contains("signature of ext4") && error.contains("wipefs -a"), "{error}");
    assert!(!head(rig.devices[0].device()).iter().all(|byte| *byte == 0), "it is left as it is");
    run("wipefs", &["-aq", &rig.path(0)]);
    let standing = rig.layouts.standing().unwrap().remove(0);
    rig.destroy(standing).unwrap();
    rig.assert_blank();
}

#[test]
fn a_device_that_vanishes_is_told_and_the_others_are_given_back() {
    let Some(mut rig) = Rig::new(2, 8 << 20) else { return };
    let standing = rig.create(&rig.layout(Recipe::Raw)).unwrap();
    let gone = rig.path(1);
    std::fs::write(rig.devices[0].device(), vec![7; 1 << 20]).unwrap();
    rig.devices.pop();
    let error = rig.destroy(standing).unwrap_err().to_string();
    assert!(error.contains(&gone) && error.contains("no longer exists"), "{error}");
    assert!(head(rig.devices[0].device()).iter().all(|byte| *byte == 0));
    let standing = rig.layouts.standing().unwrap().remove(0);
    rig.layouts.forget(standing).unwrap();
    rig.assert_blank();
    // Now the device disappears while the layout is being created.
    let layout = rig.layout(own(&["true", "mkfs.ext4 -q {device0}"], &[], &["true"]));
    let mut devices = std::mem::take(&mut rig.devices);
    let agreed = rig.layouts.survey(&layout, &[]).commands;
    let error = rig.layouts.create(&layout, &[], agreed, "run", &mut |_| drop(devices.pop()));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("could not be undone") && error.contains("no longer exists"), "{error}");
}

#[test]
fn all_that_stands_against_a_layout_is_told_at_once() {
    let Some(mut rig) = Rig::new(4, 128 << 20) else { return };
    let mount = rig.scratch.path().join("other");
    std::fs::create_dir(&mount).unwrap();
    run("mkfs.ext4", &["-q", &rig.path(0)]);
    // A file system that is mounted for writing may write at any time.
    run("mount", &["-o", "ro", &rig.path(0), &mount.to_string_lossy()]);
    run("mkfs.ext4", &["-q", &rig.path(1)]);
    std::fs::write(rig.devices[2].device(), b"somebody's data").unwrap();
    let link = rig.scratch.path().join("link");
    std::os::unix::fs::symlink(rig.devices[3].device(), &link).unwrap();
    let image = rig.scratch.path().join("image");
    std::fs::write(&image, "a file").unwrap();
    let place = rig.scratch.path().join("mnt");
    std::fs::create_dir_all(place.join("0/full")).unwrap();
    let mut layout = rig.layout(Recipe::PerDevice { file_system: file_system(FileSystemKind::Ext4, &[]) });
    for more in [link, image, rig.scratch.path().to_owned(), "/dev/none-such".into()] {
        layout.devices.push(more.to_string_lossy().into_owned());
    }
    layout.devices.push("SN-of-nobody".into());
    let obstacles = rig.refused(&layout);
    run("umount", &[&mount.to_string_lossy()]);
    let reasons: Vec<&Reason> = obstacles
        .iter()
        .filter_map(
            |obstacle| if let Obstacle::Refused(refusal) = obstacle { Some(&refusal.reasons) } else { None },
        )
        .flatten()
        .collect();
    assert!(reasons.iter().any(|reason| matches!(reason, Reason::Mounted { .. })), "{reasons:?}");
    assert!(reasons.iter().any(|reason| matches!(reason, Reason::Signature { kind, .. } if kind == "ext4")));
    assert!(reasons.iter().any(|reason| matches!(reason, Reason::UnknownData { offset: 0 })), "{reasons:?}");
    let text: String = obstacles.iter().map(|obstacle| format!("{obstacle}\n")).collect();
    for words in [
        "already names",
        "not a block device",
        "it is a directory",
        "no such device",
        "SN-of-nobody",
        "not empty",
    ] {
        assert!(text.contains(words), "{words} is missing in:\n{text}");
    }
    assert_eq!(obstacles.len(), 9, "the link is one with its device:\n{text}");
    for device in 0..3 {
        run("wipefs", &["-aq", &rig.path(device)]);
    }
}

#[test]
fn data_without_a_signature_is_lost_only_where_that_is_said() {
    let Some(mut rig) = Rig::new(1, 8 << 20) else { return };
    std::fs::write(rig.devices[0].device(), vec![9; 2 << 20]).unwrap();
    let layout = rig.layout(Recipe::Raw);
    assert_eq!(rig.refused(&layout).len(), 1);
    let consent = [UNKNOWN_DATA_WORD.to_owned()];
    let agreed = rig.layouts.survey(&layout, &consent).commands;
    let standing = rig.layouts.create(&layout, &consent, agreed, "run", &mut |_| ()).unwrap();
    assert!(head(rig.devices[0].device()).iter().all(|byte| *byte == 0));
    rig.destroy(standing).unwrap();
    rig.assert_blank();
}

#[test]
fn a_name_or_a_device_that_stands_already_is_not_taken_again() {
    let Some(mut rig) = Rig::new(2, 8 << 20) else { return };
    let layout = rig.layout(Recipe::Raw);
    let standing = rig.create(&layout).unwrap();
    rig.told.clear();
    for other in [
        Layout { devices: vec![rig.path(1)], ..layout.clone() },
        Layout { devices: vec![rig.path(1)], name: "other".into(), ..layout.clone() },
    ] {
        let error = rig.create(&other).unwrap_err().to_string();
        assert!(error.contains("already exists") || error.contains("belongs to layout test"), "{error}");
    }
    assert!(rig.told.is_empty());
    rig.destroy(standing).unwrap();
    rig.assert_blank();
}

#[test]
fn the_ledger_of_another_host_or_of_a_later_program_is_refused() {
    let Some(mut rig) = Rig::new(1, 8 << 20) else { return };
    let standing = rig.create(&rig.layout(Recipe::Raw)).unwrap();
    let path = standing.ledger_path().unwrap().to_owned();
    let text = std::fs::read_to_string(&path).unwrap();
    let (first, events) = text.split_once('\n').unwrap();
    let mut ledger: serde_json::Value = serde_json::from_str(first).unwrap();
    for (key, value) in [("boot_id", "other"), ("machine_id", "other"), ("name", "elsewhere")] {
        ledger["host"][key] = value.into();
    }
    std::fs::write(&path, format!("{ledger}\n{events}")).unwrap();
    let other = rig.layouts.standing().unwrap().remove(0);
    assert!(!other.is_here() && !other.is_leftover());
    let error = rig.destroy(other).unwrap_err();
    assert!(matches!(&error, LayoutError::OtherHost { host, .. } if host == "elsewhere"), "{error}");
    ledger["version"] = 99.into();
    std::fs::write(&path, format!("{ledger}\n{events}")).unwrap();
    assert!(rig.layouts.standing().unwrap_err().to_string().contains("version 99"));
    std::fs::write(&path, text).unwrap();
    rig.destroy(standing).unwrap();
    rig.assert_blank();
}

#[test]
fn a_ledger_of_an_earlier_version_is_undone() {
    let Some(mut rig) = Rig::new(1, 64 << 20) else { return };
    let layout = rig.layout(Recipe::PerDevice { file_system: file_system(FileSystemKind::Ext4, &[]) });
    let path = rig.create(&layout).unwrap().ledger_path().unwrap().to_owned();
    let written = std::fs::read_to_string(&path).unwrap();
    let values: Vec<serde_json::Value> =
        written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (head, complete) = (&values[0], &values[values.len() - 1]);
    let device = &complete["devices"][0];
    let mut text = include_str!("../data/layout-ledger-1.json").to_owned();
    for (mark, value) in [
        ("@MACHINE@", &head["host"]["machine_id"]),
        ("@HOST@", &head["host"]["name"]),
        ("@BOOT@", &head["host"]["boot_id"]),
        ("@DEVICE@", &device["path"]),
        ("@MINOR@", &device["minor"]),
        ("@SEQUENCE@", &device["sequence"]),
        ("@UUID@", &device["signatures"][0]["uuid"]),
        ("@MOUNT@", &serde_json::Value::from(layout.mount_point.to_string_lossy())),
    ] {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        text = text.replace(mark, &value);
    }
    std::fs::write(&path, text).unwrap();
    let standing = rig.layouts.standing().unwrap().remove(0);
    assert!(standing.is_kept() && standing.is_complete() && standing.run_id() == "by hand");
    rig.destroy(standing).unwrap();
    rig.assert_blank();
}

#[test]
fn after_the_host_has_started_anew_loop_devices_are_gone_and_directories_go() {
    let Some(mut rig) = Rig::new(1, 64 << 20) else { return };
    let layout = rig.layout(Recipe::PerDevice { file_system: file_system(FileSystemKind::Ext4, &[]) });
    let standing = rig.create(&layout).unwrap();
    let path = standing.ledger_path().unwrap().to_owned();
    run("umount", &[&standing.places()[0].to_string_lossy()]);
    let text = std::fs::read_to_string(&path).unwrap();
    let (first, events) = text.split_once('\n').unwrap();
    let mut ledger: serde_json::Value = serde_json::from_str(first).unwrap();
    ledger["host"]["boot_id"] = "the one before".into();
    std::fs::write(&path, format!("{ledger}\n{events}")).unwrap();
    // The number now belongs to another device.
    run("mkfs.ext4", &["-q", "-F", &rig.path(0)]);
    let standing = rig.layouts.standing().unwrap().remove(0);
    assert!(standing.is_leftover() && standing.owner().is_none());
    rig.destroy(standing).unwrap();
    assert!(rig.layouts.standing().unwrap().is_empty() && !rig.scratch.path().join("mnt").exists());
    assert!(!head(rig.devices[0].device()).iter().all(|byte| *byte == 0), "it is not touched");
    run("wipefs", &["-aq", &rig.path(0)]);
}
