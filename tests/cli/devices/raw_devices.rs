//! Block devices: the program writes to them only with permission to destroy their data, and never while they are in
//! use.

use std::fs;
use std::path::Path;

use testbed::{FileSystem, LoopDevice, Program, Testbed, skipped};

use crate::desk::{Desk, assert_says, run};

const SIZE: u64 = 32 << 20;

/// Everything on a device, read from the device itself and not through the page cache of its file system.
fn content(device: &Path) -> Vec<u8> {
    let _ = run(&Program::new("sync")).expect_code(0);
    fs::read(device).expect("the device is read")
}

#[test]
fn a_mounted_device_is_refused_and_its_data_stay() {
    if skipped(Testbed::available()) {
        return;
    }
    let device = LoopDevice::builder().bytes(SIZE).file_system(FileSystem::Ext4).build().expect("a device");
    let mine = device.mount_point().expect("mounted").join("mine");
    fs::write(&mine, "stays").expect("a file");
    let before = content(device.device());
    let desk = Desk::new();
    let name = device.device().display();
    for consent in ["", &format!("--destroy-data-on {name}")] {
        let refused = run(&desk.ior(&format!("-w -r -t 4k -b 1m -o {name} {consent}"))).expect_code(3);
        assert_says(&refused.stderr, &[&name.to_string(), "mount"]);
    }
    assert!(content(device.device()) == before, "the device has changed");
    assert_eq!(fs::read_to_string(&mine).expect("there"), "stays");
}

#[test]
fn a_device_with_a_file_system_on_it_is_refused_even_when_it_is_named() {
    if skipped(Testbed::available()) {
        return;
    }
    let device = LoopDevice::builder().bytes(SIZE).build().expect("a device");
    let name = device.device();
    let _ = run(&Program::new("mkfs.ext4").args(["-q", "-F"]).arg(name)).expect_code(0);
    let before = content(name);
    let desk = Desk::new();
    let line = format!("-w -t 4k -b 1m -o {0} --destroy-data-on {0}", name.display());
    let refused = run(&desk.ior(&line)).expect_code(3);
    assert_says(&refused.stderr, &["ext4", "wipefs"]);
    assert!(content(name) == before, "the device has changed");
}

#[test]
fn an_empty_device_is_written_only_when_it_is_named() {
    if skipped(Testbed::available()) {
        return;
    }
    let device = LoopDevice::builder().bytes(SIZE).build().expect("a device");
    let name = device.device().display();
    let desk = Desk::new();
    let line = format!("-w -r -B -W -t 64k -b 4m -N 2 -o {name}");
    let refused = run(&desk.ior(&line)).expect_code(3);
    assert_says(&refused.stderr, &[&name.to_string(), "--destroy-data-on"]);
    assert!(content(device.device()).iter().all(|&byte| byte == 0), "it was written");
    let line = format!("{line} --destroy-data-on {name}");
    let _ = run(&desk.ior(&line)).expect_code(0);
    let after = content(device.device());
    assert!(after[..8 << 20].iter().any(|&byte| byte != 0), "it was not written");
    assert!(after[8 << 20..].iter().all(|&byte| byte == 0), "more was written than asked for");
    assert!(device.device().exists(), "a device is not removed");
    // Data left on the device by an earlier run of this program is no reason to refuse the next run.
    fs::remove_dir_all(desk.record()).expect("the first record");
    let _ = run(&desk.ior(&line)).expect_code(0);
}

#[test]
fn another_device_than_the_one_named_is_refused() {
    if skipped(Testbed::available()) {
        return;
    }
    let devices = [(); 2].map(|()| LoopDevice::builder().bytes(SIZE).build().expect("a device"));
    let [named, target] = devices.each_ref().map(|device| device.device().display());
    let desk = Desk::new();
    let line = format!("-w -t 4k -b 1m -o {target} --destroy-data-on {named}");
    let refused = run(&desk.ior(&line)).expect_code(3);
    assert_says(&refused.stderr, &[&target.to_string(), "--destroy-data-on"]);
    for device in &devices {
        assert!(content(device.device()).iter().all(|&byte| byte == 0), "a device was written");
    }
}

/// E3: every task has its own device, and permission is given for each device by name.
#[test]
fn several_devices_are_written_together_when_each_of_them_is_named() {
    if skipped(Testbed::available()) {
        return;
    }
    let devices = [(); 2].map(|()| LoopDevice::builder().bytes(SIZE).build().expect("a device"));
    let [one, other] = devices.each_ref().map(|device| device.device().display());
    let desk = Desk::new();
    let study = format!(
        "[[target]]\nname = \"disks\"\ndisks = [\"{one}\", \"{other}\"]\n\n[[workload]]\nname = \"w\"\n\
         phases = [\"write\", \"read\"]\ntransfer = \"2MiB\"\nsize = \"16MiB\"\norder = \"random\"\ntasks = 2\n\
         sharing = \"per-task\"\ndirect = true\nverify = true\n"
    );
    let refused = run(&desk.study(&study).args(["--destroy-data-on", &one.to_string()])).expect_code(3);
    assert_says(&refused.stderr, &[&other.to_string(), "--destroy-data-on"]);
    for device in &devices {
        assert!(content(device.device()).iter().all(|&byte| byte == 0), "a device was written");
    }
    let both =
        ["--destroy-data-on", &one.to_string(), "--destroy-data-on", &other.to_string()].map(str::to_owned);
    let _ = run(&desk.study(&study).args(both)).expect_code(0);
    for device in &devices {
        let after = content(device.device());
        let cells = after.chunks(2 << 20);
        let written: Vec<bool> = cells.map(|cell| cell.iter().any(|&byte| byte != 0)).collect();
        assert_eq!(written, [[true; 8], [false; 8]].concat(), "each device has a task's 16 MiB");
        assert!(device.device().exists(), "a device is not removed");
    }
}
