//! Targets that cannot be measured and data that cannot be read: reported before anything is touched.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use testbed::{FileSystem, LoopDevice, Program, Testbed, skipped};

use crate::desk::{Desk, assert_says, names, run, tree};

#[test]
fn a_missing_directory_is_told_with_what_makes_it() {
    let desk = Desk::new();
    let study = "[[target]]\nname = \"t\"\ndirectory = \"no/such\"\n\
                 [[workload]]\nname = \"w\"\ntransfer = \"4k\"\nsize = \"4k\"\n";
    let programs = [
        desk.ior("-w -t 4k -b 4k -o no/such/file"),
        desk.ioproof("run --yes --quick no/such"),
        desk.study(study),
        desk.ioproof("overhead no/such"),
    ];
    for program in programs {
        let failed = run(&program).expect_code(4);
        assert_says(&failed.stderr, &["no/such", "does not exist", "mkdir -p"]);
        assert_eq!(names(&desk.path("")), ["study.toml"], "nothing was touched");
    }
}

/// The kernel's own file systems do not accept files, although their permissions do not show it.
#[test]
fn a_place_that_takes_no_files_is_told_before_anything_is_printed() {
    let desk = Desk::new();
    let programs = [
        desk.tool("gpfsperf", "create seq /proc/x -n 1m -r 64k"),
        desk.tool("mdtest", "-n 5 -d /proc/xx"),
        desk.tool("iozone", "-a -s 64k -f /proc/x"),
        desk.tool("md-workbench", "-o /proc/x"),
    ];
    for program in programs {
        let failed = run(&program).expect_code(4);
        assert_says(&failed.stderr, &["/proc", "cannot store files"]);
        assert_eq!((failed.stdout.as_str(), failed.stderr.lines().count()), ("", 1), "{}", failed.stderr);
    }
    let failed = run(&desk.ioproof("run --yes --quick . --out /proc/abc")).expect_code(7);
    assert_says(&failed.stderr, &["cannot create a record in /proc/abc", "cannot store files"]);
    assert_eq!((failed.stdout.as_str(), names(&desk.path("")).len()), ("", 0));
}

#[test]
fn a_file_that_is_only_read_has_to_be_there() {
    let (desk, _) = Desk::with_data();
    let failed = run(&desk.ior("-r -t 4k -b 4k -o data/missing")).expect_code(3);
    assert_says(&failed.stderr, &["data/missing does not exist", "write it first"]);
    assert_eq!((failed.stdout.as_str(), failed.stderr.lines().count()), ("", 1), "{}", failed.stderr);
    assert!(!desk.record().exists());
    let _ = run(&desk.ior("-w -r -t 4k -b 4k -o data/missing")).expect_code(0);
}

#[test]
fn a_file_system_that_is_mounted_read_only_is_told() {
    if skipped(Testbed::available()) {
        return;
    }
    let device =
        LoopDevice::builder().bytes(32 << 20).file_system(FileSystem::Ext4).build().expect("a device");
    let place = device.mount_point().expect("mounted");
    let _ = run(&Program::new("mount").args(["-o", "remount,ro"]).arg(place)).expect_code(0);
    let desk = Desk::new();
    let line = format!("-w -t 4k -b 4k -o {}", place.join("f").display());
    for program in [desk.ior(&line), desk.ioproof("run --yes --quick").arg(place)] {
        let failed = run(&program).expect_code(4);
        assert_says(&failed.stderr, &["read-only", "mount it read-write"]);
        assert!(!desk.record().exists());
    }
}

#[test]
fn files_that_cannot_fit_are_refused_before_anything_is_written() {
    if skipped(Testbed::available()) {
        return;
    }
    let device =
        LoopDevice::builder().bytes(32 << 20).file_system(FileSystem::Ext4).build().expect("a device");
    let place = device.mount_point().expect("mounted");
    let before = tree(place);
    let desk = Desk::new();
    let failed = run(&desk.ior(&format!("-w -t 1m -b 64m -o {}", place.join("f").display()))).expect_code(4);
    assert_says(&failed.stderr, &["need 64 MiB", "free", "write less"]);
    assert_eq!(tree(place), before);
    assert!(!desk.record().exists());
}

/// A stonewall may end a write long before its full volume, so only the file system can report that it is full.
#[test]
fn space_that_ends_before_the_stonewall_is_an_error_and_is_given_back() {
    if skipped(Testbed::available()) {
        return;
    }
    let device =
        LoopDevice::builder().bytes(32 << 20).file_system(FileSystem::Ext4).build().expect("a device");
    let place = device.mount_point().expect("mounted");
    let before = tree(place);
    let desk = Desk::new();
    let line = format!("-w -D 60 -t 1m -b 1g -o {}", place.join("f").display());
    let failed = run(&desk.ior(&line)).expect_code(5);
    assert_says(&failed.stderr, &["ENOSPC", "offset"]);
    assert_eq!(tree(place), before, "file and claim are gone");
    assert_eq!(desk.report().state(), "failed");
}

/// A mounted file system that is unmounted on drop.
struct Mounted(PathBuf);

impl Mounted {
    fn new(kind: &str, at: PathBuf) -> Result<Self, String> {
        fs::create_dir(&at).expect("a directory");
        let mounted = Program::new("mount").args(["-t", kind, "none"]).arg(&at).run();
        match mounted {
            Ok(finished) if finished.code == Some(0) => Ok(Self(at)),
            _ => Err(format!("needs root and {kind}")),
        }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Anything that stays mounted is cleaned up by the next process that uses the testbed.
        let _ = Program::new("umount").arg(&self.0).run();
    }
}

#[test]
fn direct_transfers_on_a_file_system_without_them_are_refused() {
    let desk = Desk::new();
    let mounted = Mounted::new("ramfs", desk.path("ram"));
    if skipped(mounted.as_ref().map(|_| ()).map_err(Clone::clone)) {
        return;
    }
    let failed = run(&desk.ior("-w -r -B -t 4k -b 64k -o ram/f")).expect_code(4);
    assert_says(&failed.stderr, &["ram/f", "does not support direct I/O", "leave direct I/O off"]);
    assert_eq!(names(&desk.path("ram")), [""; 0], "nothing is left");
    assert!(!desk.record().exists(), "nothing was measured");
    let _ = run(&desk.ior("-w -r -t 4k -b 64k -o ram/f")).expect_code(0);
}

#[test]
fn reading_holes_is_refused_and_the_file_stays_as_it_is() {
    let desk = Desk::new();
    let sparse = desk.path("sparse");
    File::create(&sparse).and_then(|file| file.set_len(8 << 20)).expect("a sparse file");
    let blocks = |path: &Path| std::os::unix::fs::MetadataExt::blocks(&fs::metadata(path).expect("there"));
    let refused = run(&desk.ior("-r -k -t 4k -b 8m -o sparse")).expect_code(3);
    assert_says(&refused.stderr, &["sparse", "hole at offset 0", "measure memory", "write the file"]);
    assert_eq!((fs::metadata(&sparse).expect("there").len(), blocks(&sparse)), (8 << 20, 0));

    fs::remove_dir_all(desk.record()).expect("the record of the refusal");
    let study = "[[target]]\nname = \"t\"\npath = \"sparse\"\n[[workload]]\nname = \"w\"\nphases = [\"read\"]\n\
                 transfer = \"4k\"\nsize = \"8m\"\nfill = false\n";
    let refused = run(&desk.study(study)).expect_code(3);
    assert_says(&refused.stderr, &["hole at offset 0"]);
    fs::remove_dir_all(desk.record()).expect("the record of the refusal");
    let filled = study.replace("fill = false", "fill = true\nkeep = \"always\"\nverify = true");
    let _ = run(&desk.study(&filled)).expect_code(0);
    assert_eq!(blocks(&sparse) * 512, 8 << 20, "a fill phase has written all of it");
}

/// A write that ends by time leaves a partly written file. The file may already have the expected length from an
/// earlier run.
#[test]
fn a_file_that_another_workload_wrote_in_part_is_filled() {
    let desk = Desk::new();
    let workload = |name: &str, more: &str| {
        format!("[[workload]]\nname = \"{name}\"\nsize = \"4MiB\"\ntransfer = \"4KiB\"\n{more}\n")
    };
    let target = "[[target]]\nname = \"t\"\ndirectory = \".\"\n";
    let write = "phases = [\"write\"]\nkeep = \"always\"\n";
    let part = target.to_owned()
        + &workload("w", &format!("{write}existing = \"reuse\"\nrate = 100\nduration = \"50ms\""))
        + &workload("r", "phases = [\"read\"]\nfill = true\nverify = true");
    let whole = target.to_owned() + &workload("w", write);
    for before in [None, Some(whole)] {
        if let Some(whole) = before {
            let _ = run(&desk.study(&whole)).expect_code(0);
            fs::remove_dir_all(desk.record()).expect("the record");
        }
        let _ = run(&desk.study(&part)).expect_code(0);
        let journal = fs::read_to_string(desk.record().join("journal.jsonl")).expect("a journal");
        assert!(journal.contains("\"phase\":\"fill\""), "{journal}");
        fs::remove_dir_all(desk.record()).expect("the record");
    }
}

#[test]
fn data_that_is_missing_or_too_short_is_refused() {
    let desk = Desk::new();
    let refused = run(&desk.ior("-r -t 4k -b 8k -o none")).expect_code(3);
    assert_says(&refused.stderr, &["none", "does not exist", "write it first"]);
    fs::write(desk.path("short"), vec![1; 4096]).expect("a file");
    let refused = run(&desk.ior("-r -k -t 4k -b 8k -o short")).expect_code(3);
    assert_says(&refused.stderr, &["short", "4096 bytes", "8192"]);
}

#[test]
fn a_directory_where_a_file_should_be_is_told() {
    let desk = Desk::new();
    fs::create_dir(desk.path("d")).expect("a directory");
    let refused = run(&desk.ior("-w -t 4k -b 4k -o d")).expect_code(3);
    assert_says(&refused.stderr, &["d is a directory", "name a file in it"]);
}

#[test]
fn a_run_directory_that_is_in_use_is_left_alone() {
    let desk = Desk::new();
    fs::create_dir(desk.record()).expect("a directory");
    fs::write(desk.record().join("mine"), "stays").expect("a file");
    let failed = run(&desk.ior("-w -t 4k -b 4k -o f")).expect_code(7);
    assert_says(&failed.stderr, &["record", "not empty"]);
    assert_eq!(names(&desk.record()), ["mine"]);
    assert_eq!(names(&desk.path("")), ["record"], "the target was not touched");
}
