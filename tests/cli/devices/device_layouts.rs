//! Layouts of devices by `ioproof layout`: made, read back and taken down, also after `kill -9`. Also checks that a
//! typo never destroys a device's data.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use testbed::{Finished, LoopDevice, Program, Testbed, skipped};

use crate::desk::{Desk, assert_says, hash_in, run, wait_for};

/// Devices for layouts, and the desk that holds mount points and ledgers.
struct Bench {
    desk: Desk,
    devices: Vec<LoopDevice>,
}

impl Bench {
    /// Returns `None` without the necessary privileges.
    fn new(devices: usize, bytes: u64) -> Option<Self> {
        if skipped(Testbed::available()) {
            return None;
        }
        let device = || LoopDevice::builder().bytes(bytes).build().expect("a device");
        Some(Self { desk: Desk::new(), devices: (0..devices).map(|_| device()).collect() })
    }

    fn path(&self, device: usize) -> &Path {
        self.devices[device].device()
    }

    /// `ioproof layout`, with its ledgers on the desk.
    fn layout(&self, words: &str) -> Program {
        self.desk.ioproof("layout").args(words.split_whitespace()).arg("--state").arg(self.desk.path("state"))
    }

    /// The same for all devices, mounted on the desk.
    fn over_all(&self, words: &str) -> Program {
        let mount = self.desk.path("mnt");
        let program = self.layout(words).arg("--mount").arg(mount);
        self.devices.iter().fold(program, |program, device| program.arg("--device").arg(device.device()))
    }

    /// Fails if a layout still exists, is mounted, or left data on a device.
    fn assert_blank(&self) {
        assert_says(&run(&self.layout("list")).expect_code(0).stdout, &["there is no layout"]);
        assert!(!self.desk.path("mnt").exists(), "the mount point is left");
        for device in &self.devices {
            assert!(is_blank(device.device()), "{} is not blank", device.device().display());
        }
    }

    /// A program of this name on the desk, found on the path before the host's own.
    fn stand_in(&self, name: &str, script: &str) -> String {
        let directory = self.desk.path("bin");
        fs::create_dir_all(&directory).expect("a directory");
        let path = directory.join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("its mode");
        format!("{}:{}", directory.display(), std::env::var("PATH").expect("a PATH"))
    }
}

fn is_blank(device: &Path) -> bool {
    let _ = run(&Program::new("sync")).expect_code(0);
    let bytes = fs::read(device).expect("it is read");
    bytes == vec![0; bytes.len()]
}

fn mounts_below(directory: &Path) -> Vec<(PathBuf, String)> {
    let table = fs::read_to_string("/proc/self/mountinfo").expect("the table");
    let mount = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        Some((PathBuf::from(words.get(4)?), (*words.iter().rev().nth(1)?).to_owned()))
    };
    table.lines().filter_map(mount).filter(|(place, _)| place.starts_with(directory)).collect()
}

#[test]
fn a_file_system_on_each_of_twelve_devices_has_twelve_mounts_each_on_its_own() {
    let Some(bench) = Bench::new(12, 64 << 20) else { return };
    let words = "per-device --file-system ext4 --mount-options noatime,nodiratime";
    let plan = run(&bench.over_all(&format!("plan {words}"))).expect_code(0).stdout;
    assert_says(&plan, &["mkfs.ext4 -F", "mount -t ext4 -o noatime,nodiratime", "to undo it", "umount"]);
    assert!(mounts_below(&bench.desk.path("mnt")).is_empty(), "a plan does nothing");
    let made = run(&bench.over_all(&format!("create {words} --yes"))).expect_code(0).stdout;
    assert_eq!(made.matches("blkdiscard").count(), 12);
    let mounts = mounts_below(&bench.desk.path("mnt"));
    let wanted = |(number, device): (usize, &LoopDevice)| {
        (bench.desk.path(&format!("mnt/{number}")), device.device().to_string_lossy().into_owned())
    };
    assert_eq!(mounts, bench.devices.iter().enumerate().map(wanted).collect::<Vec<_>>());
    let read = run(&bench.layout("verify per-device")).expect_code(0).stdout;
    assert_says(&read, &["mount options asked for noatime,nodiratime", "free bytes"]);
    assert_says(&run(&bench.layout("list")).expect_code(0).stdout, &["per-device is built on"]);
    let _ = run(&Program::new("mount").args(["-o", "remount,atime"]).arg(bench.desk.path("mnt/3")))
        .expect_code(0);
    let read = run(&bench.layout("verify per-device")).expect_code(8).stdout;
    assert_says(&read, &["! ", "mnt/3: mount options asked for", "wanted noatime,nodiratime"]);
    let _ = run(&bench.layout("destroy per-device --yes")).expect_code(0);
    bench.assert_blank();
}

#[test]
fn nothing_is_made_or_taken_down_without_being_agreed_to() {
    let Some(bench) = Bench::new(1, 64 << 20) else { return };
    let asked = run(&bench.over_all("create per-device --file-system ext4")).expect_code(3);
    assert_says(&asked.stdout, &["mkfs.ext4", "nothing was done"]);
    bench.assert_blank();
    let _ = run(&bench.over_all("create raw --yes")).expect_code(0);
    let asked = run(&bench.layout("destroy raw")).expect_code(3);
    assert_says(&asked.stdout, &["nothing was done"]);
    assert_says(&run(&bench.layout("clean --yes")).expect_code(0).stdout, &["is kept", "no layout was left"]);
    let _ = run(&bench.layout("destroy raw --yes")).expect_code(0);
    bench.assert_blank();
}

#[test]
fn a_layout_whose_maker_is_killed_in_the_middle_is_cleaned_up() {
    for kills in ["mkfs.ext4", "mount"] {
        let Some(bench) = Bench::new(2, 64 << 20) else { return };
        // The second call kills the program that makes the layout, after doing the work that it was called for.
        let real = if kills == "mount" { "/bin/mount" } else { "/sbin/mkfs.ext4" };
        let count = bench.desk.path("count");
        let path = bench.stand_in(
            kills,
            &format!(
                "echo >> {0}; {real} \"$@\"; if test $(wc -l < {0}) = 2; then kill -9 $PPID; fi",
                count.display()
            ),
        );
        let create = bench.over_all("create per-device --file-system ext4 --yes").env("PATH", &path);
        assert_eq!(run(&create).signal, Some(9));
        let listed = run(&bench.layout("list")).expect_code(0).stdout;
        assert_says(&listed, &["is partly built", "left by a program that has ended"]);
        let again = run(&bench.over_all("create per-device --file-system ext4 --yes")).expect_code(3);
        assert_says(&again.stderr, &["ioproof layout clean"]);
        let _ = run(&bench.layout("clean --yes")).expect_code(0);
        bench.assert_blank();
        let _ = run(&bench.over_all("create per-device --file-system ext4 --yes")).expect_code(0);
        let _ = run(&bench.layout("destroy per-device --yes")).expect_code(0);
        bench.assert_blank();
    }
}

#[test]
fn a_device_that_somebody_took_after_the_maker_was_killed_is_left_alone() {
    let Some(bench) = Bench::new(2, 64 << 20) else { return };
    let path = bench.stand_in("mkfs.ext4", "kill -9 $PPID");
    let create = bench.over_all("create per-device --file-system ext4 --yes").env("PATH", &path);
    assert_eq!(run(&create).signal, Some(9));
    // The device was wiped for the layout, but no command of the layout has used it yet.
    let _ = run(&Program::new("mkfs.ext4").args(["-q", "-F"]).arg(bench.path(1))).expect_code(0);
    let left = run(&bench.layout("clean --yes")).expect_code(4);
    assert_says(&left.stderr, &["a signature of ext4", "did not write", "wipefs -a"]);
    assert!(!is_blank(bench.path(1)), "it is somebody's");
    let _ = run(&Program::new("wipefs").arg("-aq").arg(bench.path(1))).expect_code(0);
    let _ = run(&bench.layout("clean --yes")).expect_code(0);
    bench.assert_blank();
}

#[test]
fn what_ones_own_commands_have_begun_is_undone_by_ones_own_commands() {
    let Some(bench) = Bench::new(2, 128 << 20) else { return };
    let own = |last: &str| {
        bench
            .over_all("create own --yes")
            .args(["--create", "mkfs.btrfs -q -d raid0 -m raid0 {devices}"])
            .args(["--create", "mkdir -p {mount} && mount -o device={device1} {device0} {mount}"])
            .args(["--create", last])
            .args(["--check", "mountpoint -q {mount}", "--stands-for", "XVM"])
            .args(["--destroy", "umount {mount}", "--destroy", "rmdir {mount}"])
    };
    assert_eq!(run(&own("kill -9 $PPID")).signal, Some(9));
    assert_eq!(mounts_below(&bench.desk.path("mnt")).len(), 1);
    let _ = run(&bench.layout("clean --yes")).expect_code(0);
    bench.assert_blank();
    let failed = run(&own("echo 'no luck' >&2; exit 7")).expect_code(4);
    assert_says(&failed.stderr, &["exit status 7", "no luck", "were undone"]);
    bench.assert_blank();
    let _ = run(&own("true")).expect_code(0);
    let read = run(&bench.layout("verify own")).expect_code(0).stdout;
    assert_says(&read, &["mountpoint -q", "check exit status 0"]);
    let _ = run(&bench.layout("destroy own --yes")).expect_code(0);
    bench.assert_blank();
}

/// Begins a layout that continues until it is killed or the file `go` appears.
fn waiting(bench: &Bench) -> testbed::Running {
    let wait = "touch begun; while ! test -e go; do sleep 0.05; done";
    let create =
        bench.over_all("create own --yes").args(["--create", wait, "--create", "true", "--destroy", "true"]);
    let mut running = create.spawn().expect("it starts");
    wait_for(&mut running, "the first command", || bench.desk.path("begun").exists());
    running
}

#[test]
fn a_layout_is_its_makers_while_that_goes_on() {
    let Some(bench) = Bench::new(1, 8 << 20) else { return };
    let running = waiting(&bench);
    assert_says(&run(&bench.layout("list")).expect_code(0).stdout, &["is partly built", "is still running"]);
    let refused = run(&bench.layout("destroy own --yes")).expect_code(3);
    assert_says(&refused.stderr, &["belongs to process", "still running"]);
    assert_says(&run(&bench.layout("clean --yes")).expect_code(0).stdout, &["it is kept"]);
    fs::write(bench.desk.path("go"), "").expect("a file");
    let _ = running.wait().expect("it ends").expect_code(0);
    let _ = run(&bench.layout("destroy own --yes")).expect_code(0);
    bench.assert_blank();
}

#[test]
fn ctrl_c_undoes_what_was_made() {
    let Some(bench) = Bench::new(1, 8 << 20) else { return };
    let running = waiting(&bench);
    running.signal(Signal::INT).expect("it lives");
    fs::write(bench.desk.path("go"), "").expect("a file");
    let ended: Finished = running.wait().expect("it ends").expect_code(130);
    assert_says(&ended.stderr, &["interrupted", "were undone"]);
    bench.assert_blank();
}

#[test]
fn a_disk_is_not_lost_by_a_typo() {
    let Some(bench) = Bench::new(2, 64 << 20) else { return };
    let mine =
        LoopDevice::builder().bytes(64 << 20).file_system(testbed::FileSystem::Ext4).build().expect("mine");
    fs::write(mine.mount_point().expect("mounted").join("file"), "stays").expect("a file");
    let spare = LoopDevice::builder().bytes(64 << 20).build().expect("a device");
    let _ = run(&Program::new("mkfs.ext4").args(["-q", "-F"]).arg(spare.device())).expect_code(0);
    let before = fs::read(spare.device()).expect("read");
    let wrong = [
        (mine.device().display().to_string(), "is mounted at"),
        (spare.device().display().to_string(), "a signature of ext4"),
        (bench.path(0).display().to_string(), "already names"),
        ("/dev/vda-typo".to_owned(), "no such device"),
        (mine.name(), "the path is /dev/"),
        ("/dev/loop*".to_owned(), "no such device"),
        ("/dev".to_owned(), "it is a directory"),
        ("/etc/hostname".to_owned(), "not a block device"),
        ("--yes".to_owned(), "would be taken for an option"),
        (String::new(), "does not name a device"),
    ];
    for (device, words) in &wrong {
        let given = format!("--device={device}");
        let refused = run(&bench.over_all("create btrfs --yes").arg(given));
        assert!(matches!(refused.code, Some(2..=4)), "{device:?}: {refused:?}");
        assert_says(&refused.stderr, &[words]);
        bench.assert_blank();
    }
    // An option's value must not be a way to reach a device that was not named.
    let stray = format!("--mkfs-option={}", spare.device().display());
    let refused = run(&bench.over_all("create per-device --yes").arg(stray)).expect_code(2);
    assert_says(&refused.stderr, &["names another place"]);
    let _ = run(&Program::new("sync")).expect_code(0);
    assert!(before == fs::read(spare.device()).expect("read"), "it has changed");
    assert_eq!(
        fs::read_to_string(mine.mount_point().expect("mounted").join("file")).expect("there"),
        "stays"
    );
}

#[test]
fn a_plan_needs_neither_rights_nor_tools_nor_devices() {
    let Some(bench) = Bench::new(1, 8 << 20) else { return };
    let plan = |words: &str| {
        let line = format!("plan {words} --mount /mnt/nowhere-yet");
        let finished = run(&bench.layout(&line).env("PATH", "/nonexistent"));
        assert!(matches!(finished.code, Some(3 | 4)), "{finished:?}");
        finished.stdout
    };
    let text = plan("md --chunk 128KiB --device S1 --device S2");
    assert_says(
        &text,
        &["mdadm --create /dev/md0 --chunk=128 --level=0 --raid-devices=2 S1 S2", "as printed"],
    );
    assert_says(&text, &["no device has this serial number"]);
    let text = plan("imsm --chunk 128KiB --device S1 --device S2");
    assert_says(
        &text,
        &["reconstructed, not as printed", "parted -s /dev/md0 mklabel gpt mkpart primary xfs 0% 100%"],
    );
    let text = plan("gpfs --file-system p3700 --nsd-list p3700.lst --block 4MiB");
    assert_says(&text, &["mmcrfs not found", "printed as `mncrfs p3700 -F p3700.1st -B 4M", "Storage Scale"]);
    let text = plan("lustre --stripe-count 4 --first 0");
    assert_says(&text, &["lfs setstripe -c 4 -i 0 /mnt/nowhere-yet", "lfs not found"]);
    let text = plan("lvm --stripe 128KiB --volume sasdata=3TiB --volume saswork --device S1");
    assert_says(&text, &["lvcreate -y -i 1 -I 128k -L 3T -n sasdata ioproof"]);
    // For a device that only root may open, an unprivileged user sees the plan and everything that can be found out
    // about the device.
    let mounted = LoopDevice::builder().file_system(testbed::FileSystem::Ext4).build().expect("a device");
    let script = format!(
        "exec setpriv --reuid=65534 --regid=65534 --clear-groups {} layout plan per-device --device {} --device {} \
         --mount /mnt/x --state {}/state",
        bench.desk.path("ioproof").display(),
        bench.path(0).display(),
        mounted.device().display(),
        bench.desk.path(".").display()
    );
    let _ = fs::copy(env!("CARGO_BIN_EXE_ioproof"), bench.desk.path("ioproof")).expect("a copy");
    fs::set_permissions(bench.desk.path("."), fs::Permissions::from_mode(0o755)).expect("its mode");
    let shown = run(&Program::new("sh").args(["-c", &script]));
    assert!(matches!(shown.code, Some(3)), "{shown:?}");
    assert_says(&shown.stdout, &["mkfs.xfs -f -K", "only root may", "Permission denied"]);
    assert_says(&shown.stdout, &[&format!("{} is mounted at", mounted.name())]);
}

#[test]
fn the_layout_of_a_study_is_made_by_its_name() {
    let Some(bench) = Bench::new(2, 128 << 20) else { return };
    let study = format!(
        "[[layout]]\nname = \"one\"\nrecipe = \"btrfs\"\ndevices = [\"{}\", \"{}\"]\nmount_point = \"{}\"\n\
         [[target]]\nname = \"t\"\nlayout = \"one\"\n[[workload]]\nname = \"w\"\ntransfer = \"1MiB\"\nsize = \"8MiB\"\n",
        bench.path(0).display(),
        bench.path(1).display(),
        bench.desk.path("mnt").display()
    );
    fs::write(bench.desk.path("study.toml"), study).expect("a study");
    let unknown = run(&bench.layout("plan other --study study.toml")).expect_code(2);
    assert_says(&unknown.stderr, &["no layout \"other\"", "one"]);
    let plan = run(&bench.layout("plan one --study study.toml")).expect_code(0);
    let hash = hash_in(&plan.stdout);
    let create = format!("create one --study study.toml --allow-commands {hash}");
    let made = run(&bench.layout(&create)).expect_code(0);
    assert_says(&made.stdout, &["mkfs.btrfs", "data profile raid0"]);
    let _ = run(&bench.layout("destroy one --yes")).expect_code(0);
    bench.assert_blank();
}
