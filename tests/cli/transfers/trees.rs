//! Directory trees: created on real file systems, left behind by killed runs, changed by others, and placed in
//! directories without enough room for them.

use std::fs;
use std::path::Path;

use rustix::process::Signal;
use testbed::{FileSystem, LoopDevice, Program, Running, Scratch, Testbed};

use crate::desk::{Desk, assert_says, events, names, run, wait_for};

/// The table of a workload with a tree in `directory`, with additional `keys`.
fn study(directory: &Path, keys: &str) -> String {
    format!(
        "[[target]]\nname = \"disk\"\ndirectory = \"{}\"\n\n[[workload]]\nname = \"files\"\nwork = \"tree\"\n{keys}",
        directory.display()
    )
}

/// Creates files for a minute, unless it is killed.
fn endless(desk: &Desk, data: &Path) -> Running {
    let keys = "phases = [\"tree-create\", \"file-create\", \"file-stat\"]\nown_trees = true\ntasks = 2\n\
                items_per_directory = 300000\nkeep = \"never\"\n";
    let mut running = desk.study(&study(data, keys)).spawn().expect("it starts");
    let root = data.join("test-dir.0-0");
    let some = || {
        (0..2).all(|task| {
            let tree = root.join(format!("mdtest_tree.{task}.0"));
            fs::read_dir(tree).is_ok_and(|entries| entries.count() > 20)
        })
    };
    wait_for(&mut running, "files in both trees", some);
    running
}

fn small() -> &'static str {
    "tasks = [1, 2]\nown_trees = [false, true]\nlevels = 1\nbranching = 2\nitems_per_directory = 20\n\
     file_bytes = \"32KiB\"\nverify = true\n"
}

fn goes_round(target: &Path) {
    let desk = Desk::new();
    let finished = run(&desk.study(&study(target, small()))).expect_code(0);
    assert_says(&finished.stdout, &["file-create", "creates/s"]);
    let report = desk.report();
    assert_eq!(report.state(), "complete");
    assert!(report.transfers("file-create") > 0.0 && report.transfers("file-stat") > 0.0);
    assert!(names(target).iter().all(|name| name == "lost+found"), "{:?}", names(target));
}

#[test]
fn trees_are_made_and_gone_on_xfs_and_in_memory() {
    let memory = Scratch::in_memory().expect("a directory");
    goes_round(memory.path());
    if testbed::skipped(Testbed::available()) {
        return;
    }
    let device = LoopDevice::builder().file_system(FileSystem::Xfs).build().expect("a file system");
    goes_round(device.mount_point().expect("mounted"));
}

#[test]
fn ctrl_c_leaves_no_tree() {
    let (desk, data) = Desk::with_data();
    let running = endless(&desk, &data);
    running.signal(Signal::INT).expect("it lives");
    let finished = running.wait().expect("it ends").expect_code(130);
    assert_says(&finished.stderr, &["interrupted"]);
    assert_eq!(names(&data), ["mine"], "the tree and the claim are gone, the user's file is not");
}

#[test]
fn the_tree_of_a_killed_run_is_told_and_removed_on_request() {
    let (desk, data) = Desk::with_data();
    let running = endless(&desk, &data);
    running.signal(Signal::KILL).expect("it lives");
    let finished = running.wait().expect("it ends");
    assert_eq!(finished.signal, Some(9));
    let root = data.join("test-dir.0-0");
    let mine = root.join("mdtest_tree.0.0/notes.txt");
    fs::write(&mine, "of the user").expect("written");
    let again = desk.ioproof("run study.toml --yes --out second");
    let refused = run(&again).expect_code(3);
    assert_says(&refused.stderr, &["test-dir.0-0", "files left by an earlier run", "ioproof clean"]);
    let asked = run(&desk.ioproof("clean data")).expect_code(0).stdout;
    assert_says(&asked, &["was killed", "test-dir.0-0", "a tree", "kept", "--yes"]);
    let removed = run(&desk.ioproof("clean data --yes")).expect_code(3).stdout;
    assert_says(&removed, &["removed", "notes.txt is kept", "the claim is kept too"]);
    assert!(mine.exists(), "the run did not make it");
    assert_eq!(names(mine.parent().expect("a directory")), ["notes.txt"], "all else is gone");
    fs::remove_file(&mine).expect("moved away");
    let _ = run(&desk.ioproof("clean data --yes")).expect_code(0);
    assert_eq!(names(&data), ["mine"]);
}

#[test]
fn files_that_somebody_removes_meanwhile_are_counted_and_end_the_run_with_6() {
    let (desk, data) = Desk::with_data();
    let keys = "phases = [\"tree-create\", \"file-create\", \"file-stat\", \"file-stat\", \"file-remove\", \
                \"tree-remove\"]\nitems_per_directory = 100000\n";
    let mut running = desk.study(&study(&data, keys)).spawn().expect("it starts");
    wait_for(&mut running, "files", || events(&desk, "phase-finished") >= 2);
    let last = data.join("test-dir.0-0/mdtest_tree.0/file.mdtest.0.99999");
    fs::remove_file(&last).expect("it was made");
    let finished = running.wait().expect("it ends").expect_code(6);
    assert_says(&finished.stderr, &["not as this run had left them"]);
    assert_says(&desk.tables(), &["file.mdtest.0.99999", "does not exist"]);
    assert_eq!(names(&data), ["mine"]);
}

#[test]
fn too_few_inodes_are_told_before_the_start_and_a_full_directory_with_its_path() {
    if testbed::skipped(Testbed::available()) {
        return;
    }
    let device = LoopDevice::builder().bytes(32 << 20).file_system(FileSystem::Ext4).build();
    let device = device.expect("a small file system");
    let place = device.mount_point().expect("mounted");
    let desk = Desk::new();
    let many = study(place, "items_per_directory = 1000000\n");
    let refused = run(&desk.study(&many)).expect_code(4);
    assert_says(&refused.stderr, &["inodes", "lower the items"]);
    // A stonewall may end the phase earlier, so only the file system can tell.
    let walled = study(place, "items_per_directory = 1000000\nstonewall = \"80s\"\n");
    let failed = run(&desk.study(&walled)).expect_code(5);
    assert_says(&failed.stderr, &["file.mdtest.0.", "inodes"]);
    assert_eq!(names(place), ["lost+found"], "what was made is gone");
}

/// XFS with project quotas, on a loop device.
struct Quota {
    mount: Scratch,
    _device: LoopDevice,
}

impl Quota {
    /// A directory in it that may hold up to `inodes` files and directories.
    fn with(inodes: u32) -> Result<Self, String> {
        let told = |program: Program| match program.run() {
            Ok(finished) if finished.code == Some(0) => Ok(()),
            Ok(finished) => Err(finished.stderr),
            Err(error) => Err(error.to_string()),
        };
        let device = LoopDevice::builder().build().map_err(|error| error.to_string())?;
        let mount = Scratch::on_disk().map_err(|error| error.to_string())?;
        told(Program::new("mkfs.xfs").args(["-q", "-f", "-K"]).arg(device.device()))?;
        told(Program::new("mount").args(["-o", "prjquota"]).arg(device.device()).arg(mount.path()))?;
        let quota = Self { mount, _device: device };
        fs::create_dir(quota.place()).map_err(|error| error.to_string())?;
        let project = format!("project -s -p {} 42", quota.place().display());
        let limit = format!("limit -p ihard={inodes} 42");
        told(Program::new("xfs_quota").args(["-x", "-c", &project, "-c", &limit]).arg(quota.mount.path()))?;
        Ok(quota)
    }

    fn place(&self) -> std::path::PathBuf {
        self.mount.path().join("limited")
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        // It may never have been mounted.
        let _ = Program::new("umount").arg("-l").arg(self.mount.path()).run();
    }
}

#[test]
fn a_quota_that_is_used_up_is_told_as_one() {
    if testbed::skipped(Testbed::available()) {
        return;
    }
    let quota = match Quota::with(200) {
        Ok(quota) => quota,
        Err(reason) => {
            testbed::skipped(Err(format!("no project quota: {reason}")));
            return;
        }
    };
    let desk = Desk::new();
    let failed = run(&desk.study(&study(&quota.place(), "items_per_directory = 1000\n"))).expect_code(5);
    assert_says(&failed.stderr, &["file.mdtest.0.", "quota"]);
    assert!(names(&quota.place()).is_empty(), "what was made is gone: {:?}", names(&quota.place()));
}

#[test]
fn a_plan_of_a_tree_says_what_it_will_make() {
    let desk = Desk::new();
    let data = desk.path("new");
    let keys = "tasks = 2\nown_trees = true\nlevels = 2\nbranching = 3\nitems_per_directory = 10\n\
                file_bytes = 3901\n";
    let told = run(&desk.study(&study(&data, keys)).arg("--explain")).expect_code(0).stdout;
    let words = [
        "a tree for each task: 2 levels below the topmost, 13 directories",
        "130 of each task: 10 in each of 13 directories",
        "260 of 3901 B",
        "and 26 directories",
        "test-dir.0-0",
    ];
    assert_says(&told, &words);
    assert!(!data.exists(), "telling makes nothing");
}
