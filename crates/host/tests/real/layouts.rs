//! Layouts on loop devices: made, read back, taken down, and never over anybody's data.

use std::path::{Path, PathBuf};

use host::{Guard, LayoutError, Layouts, Root, Standing};
use plan::{FileSystem, FileSystemKind, Layout, Recipe};
use record::CommandRun;
use testbed::{LoopDevice, Scratch};

/// XFS wants 300 MB at least, and more for its log where it is told of a stripe.
const XFS_BYTES: u64 = 640 << 20;

/// Devices, a place to mount at, and one for ledgers; all are gone when it is dropped.
pub(crate) struct Rig {
    pub(crate) devices: Vec<LoopDevice>,
    pub(crate) scratch: Scratch,
    pub(crate) layouts: Layouts,
    pub(crate) told: Vec<CommandRun>,
}

impl Rig {
    /// None where the rights are missing.
    pub(crate) fn new(devices: usize, bytes: u64) -> Option<Self> {
        if testbed::skipped(testbed::Testbed::available()) {
            return None;
        }
        let scratch = Scratch::on_disk().unwrap();
        let devices = (0..devices).map(|_| LoopDevice::builder().bytes(bytes).build().unwrap()).collect();
        let root = Root::default();
        let layouts = Layouts::new(root.clone(), scratch.path().join("state"), Guard::new(root));
        Some(Self { devices, scratch, layouts, told: Vec::new() })
    }

    pub(crate) fn layout(&self, recipe: Recipe) -> Layout {
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

    pub(crate) fn create(&mut self, layout: &Layout) -> Result<Standing, LayoutError> {
        let told = &mut self.told;
        self.layouts.create(layout, &[], "run", &mut |run| told.push(run.clone()))
    }

    pub(crate) fn destroy(&mut self, standing: Standing) -> Result<(), LayoutError> {
        let told = &mut self.told;
        self.layouts.destroy(standing, &mut |run| told.push(run.clone()))
    }

    pub(crate) fn commands(&self) -> Vec<String> {
        self.told.iter().map(|run| run.command.clone()).collect()
    }

    /// Nothing is left, and the guard permits each device again.
    pub(crate) fn assert_blank(&self) {
        assert!(self.layouts.standing().unwrap().is_empty(), "a ledger is left");
        assert!(!self.scratch.path().join("mnt").exists(), "the mount point is left");
        for device in &self.devices {
            let named = device.device().to_string_lossy().into_owned();
            Guard::new(Root::default()).permit(device.device(), &[named]).unwrap();
        }
    }
}

pub(crate) fn file_system(kind: FileSystemKind, make: &[&str]) -> FileSystem {
    let make_options = make.iter().map(|word| (*word).to_owned()).collect();
    FileSystem { kind, make_options, mount_options: "noatime".into() }
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
    std::fs::write(places[1].join("file"), "data").unwrap();
    let device = rig.devices[0].device().display().to_string();
    assert!(rig.commands().contains(&format!("mkfs.xfs -f -K -d su=128k,sw=1 {device}")));
    assert!(rig.commands().contains(&format!("blkdiscard {device}")));
    rig.destroy(standing).unwrap();
    assert!(!places.iter().any(|place| is_mounted(place)));
    rig.assert_blank();
    let again = rig.create(&layout).unwrap();
    rig.destroy(again).unwrap();
    rig.assert_blank();
}

#[test]
fn a_raw_layout_is_its_devices_and_an_existing_directory_needs_no_ledger() {
    let Some(mut rig) = Rig::new(2, 8 << 20) else { return };
    let layout = rig.layout(Recipe::Raw);
    let standing = rig.create(&layout).unwrap();
    assert_eq!(
        standing.places(),
        rig.devices.iter().map(|device| device.device().to_owned()).collect::<Vec<_>>()
    );
    std::fs::write(rig.devices[0].device(), vec![7; 4 << 20]).unwrap();
    rig.destroy(standing).unwrap();
    rig.assert_blank();
    let existing =
        Layout { devices: vec![], mount_point: rig.scratch.path().into(), ..rig.layout(Recipe::Existing) };
    let standing = rig.create(&existing).unwrap();
    assert_eq!(standing.places(), [rig.scratch.path()]);
    assert!(rig.layouts.standing().unwrap().is_empty());
    rig.destroy(standing).unwrap();
    assert!(rig.scratch.path().exists());
}
