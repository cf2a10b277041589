//! Files that present data which the storage does not hold: holes, space that was never written, copies by reference,
//! compressed data and zeros.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use testbed::{FileSystem, LoopDevice, ProgrammedFs, Testbed, skipped};

use crate::desk::{Desk, assert_says, run};

const BYTES: usize = 8 << 20;

/// Reads of two files that are there, and a promise that any rate keeps.
fn study(directory: &Path, fill: bool) -> String {
    format!(
        "[protocol]\nrepetitions = 5\nphase_min = \"1ms\"\n\
         [[target]]\nname = \"store\"\npath = \"{}/f\"\ncaches = \"0\"\nserver_memory = \"64KiB\"\n\
         [[workload]]\nname = \"reads\"\nphases = [\"read\"]\ntransfer = \"64KiB\"\nsize = \"{BYTES}\"\ntasks = 2\n\
         sharing = \"per-task\"\ndirect = true\nexisting = \"reuse\"\nfill = {fill}\n\
         [[commitment]]\nname = \"promise\"\nworkload = \"reads\"\nphase = \"read\"\nstatistic = \"median\"\n\
         bandwidth_at_least = \"1kB/s\"\n",
        directory.display()
    )
}

/// Makes both files with `make`, from a number.
fn files(directory: &Path, make: impl Fn(&Path, u64)) {
    for number in 0..2 {
        make(&directory.join(format!("f.0000000{number}")), number);
    }
}

/// Bytes that do not repeat.
fn noise(seed: u64) -> Vec<u8> {
    let word = |index: u64| {
        let value = (seed << 32 | index).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (value ^ (value >> 27)).to_le_bytes()
    };
    (0..BYTES as u64 / 8).flat_map(word).collect()
}

fn write(path: &Path, data: &[u8]) {
    let file = File::create(path).expect("a file");
    file.write_all_at(data, 0).expect("written");
    file.sync_all().expect("on the disk");
}

/// The judgement of the promise with its reasons.
fn judged(directory: &Path, fill: bool) -> (String, String) {
    let desk = Desk::new();
    let _ = run(&desk.study(&study(directory, fill)));
    let verdict = run(&desk.ioproof("verdict --json").arg(desk.record())).stdout;
    let verdict: serde_json::Value = serde_json::from_str(&verdict).expect("JSON");
    (verdict["verdicts"][0]["judgement"].as_str().expect("a judgement").to_owned(), verdict.to_string())
}

fn is_refused(directory: &Path, words: &[&str]) {
    let refused = run(&Desk::new().study(&study(directory, false))).expect_code(3);
    assert_says(&refused.stderr, words);
}

fn is_doubtful(directory: &Path, words: &[&str]) {
    let (judgement, said) = judged(directory, false);
    assert_eq!(judgement, "DOUBTFUL", "{said}");
    assert_says(&said, words);
}

/// The storage holds what is read. Another doubt may concern passes of milliseconds.
fn is_stored(directory: &Path) {
    let (_, said) = judged(directory, false);
    assert!(said.contains("\"judgement\"") && !said.contains("less stored"), "{said}");
}

/// Most file systems in user space do not answer `SEEK_HOLE`, and the kernel then reports no holes.
#[test]
fn blocks_that_were_never_written_are_refused_where_holes_are_not_told() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    let mount = ProgrammedFs::builder().hides_holes().mount().expect("a file system");
    files(mount.path(), |path, _| {
        File::create(path).expect("a file").set_len(BYTES as u64).expect("a size");
    });
    is_refused(mount.path(), &["has allocated 0 of the 8388608 bytes", "f.00000000", "fill"]);
    // The end alone is there.
    files(mount.path(), |path, number| {
        let file = File::options().write(true).open(path).expect("a file");
        file.write_all_at(&noise(number)[BYTES / 2..], BYTES as u64 / 2).expect("written");
    });
    is_refused(mount.path(), &["has allocated 4194304 of the 8388608 bytes"]);
    let (_, said) = judged(mount.path(), true);
    assert!(!said.contains("less stored"), "what the run itself has written is there: {said}");
}

/// While the page cache holds the zeros of such a range, `SEEK_HOLE` says that it is data.
#[test]
fn space_that_was_only_allocated_is_refused_although_it_was_read_before() {
    if skipped(Testbed::available()) {
        return;
    }
    for kind in [FileSystem::Ext4, FileSystem::Xfs] {
        let device = LoopDevice::builder().file_system(kind).build().expect("a device");
        let at = device.mount_point().expect("mounted");
        files(at, |path, _| {
            let bytes = BYTES.to_string();
            let done = Command::new("fallocate").args(["-l", &bytes]).arg(path).status().expect("fallocate");
            assert!(done.success());
            assert_eq!(fs::read(path).expect("zeros").len(), BYTES);
        });
        is_refused(at, &["has a hole at offset 0"]);
    }
}

#[test]
fn copies_by_reference_keep_no_promise_of_reads() {
    if skipped(Testbed::available()) {
        return;
    }
    for kind in [FileSystem::Xfs, FileSystem::Btrfs] {
        let device = LoopDevice::builder().file_system(kind).build().expect("a device");
        let at = device.mount_point().expect("mounted");
        let copy = |from: &Path, to: &Path| {
            let done = Command::new("cp").arg("--reflink=always").args([from, to]).status().expect("cp");
            assert!(done.success(), "{kind:?} shares blocks");
        };
        let (one, two) = (at.join("f.00000000"), at.join("f.00000001"));
        write(&one, &noise(1));
        copy(&one, &two);
        is_doubtful(at, &["8 MiB of 16 MiB that are read are in blocks that several files share"]);
        // A copy of each that is not read, as a snapshot has it, changes nothing.
        write(&two, &noise(2));
        copy(&one, &at.join("other"));
        copy(&two, &at.join("another"));
        is_stored(at);
    }
}

#[test]
fn data_that_take_little_space_keep_no_promise_of_reads() {
    if skipped(Testbed::available()) {
        return;
    }
    let device = LoopDevice::builder().file_system(FileSystem::Btrfs).build().expect("a device");
    let at = device.mount_point().expect("mounted");
    files(at, |path, number| write(path, &noise(number)));
    is_stored(at);
    files(at, |path, _| write(path, &vec![0; BYTES]));
    is_doubtful(at, &["sampled blocks hold one byte only"]);
    files(at, |path, _| write(path, &noise(1)));
    is_doubtful(at, &["sampled blocks", "equal to another one"]);
    let done =
        Command::new("mount").args(["-o", "remount,compress-force=zstd"]).arg(at).status().expect("mount");
    assert!(done.success(), "btrfs compresses");
    files(at, |path, number| {
        fs::remove_file(path).expect("removed");
        let words: String = (number << 32..).take(BYTES / 10).map(|word| format!("{word:010}")).collect();
        write(path, &[words.as_bytes(), &noise(number)].concat()[..BYTES]);
    });
    is_doubtful(at, &["16 MiB of 16 MiB that are read are compressed by the file system"]);
}

/// The files of a tree that the user has prepared: only their sizes are real.
#[test]
fn files_of_a_tree_without_blocks_keep_no_promise_of_reads() {
    const EACH: u64 = 64 << 10;
    if skipped(ProgrammedFs::available()) {
        return;
    }
    let mount = ProgrammedFs::builder().hides_holes().mount().expect("a file system");
    let tree = mount.path().join("test-dir.0-0/mdtest_tree.0");
    fs::create_dir_all(&tree).expect("a tree");
    let study = format!(
        "[protocol]\nrepetitions = 5\nphase_min = \"1ms\"\n\
         [[target]]\nname = \"store\"\ndirectory = \"{}\"\n\
         [[workload]]\nname = \"small\"\nwork = \"tree\"\nitems_per_directory = 100\nfile_bytes = \"{EACH}\"\n\
         file_per_repetition = false\nphases = [\"file-read\"]\n\
         [[commitment]]\nname = \"promise\"\nworkload = \"small\"\nphase = \"file-read\"\nstatistic = \"median\"\n\
         iops_at_least = 1\n",
        mount.path().display()
    );
    let judged = || {
        let desk = Desk::new();
        let _ = run(&desk.study(&study));
        let verdict = run(&desk.ioproof("verdict --json").arg(desk.record())).stdout;
        let verdict: serde_json::Value = serde_json::from_str(&verdict).expect("JSON");
        (verdict["verdicts"][0]["judgement"].as_str().expect("a judgement").to_owned(), verdict.to_string())
    };
    for number in 0..100 {
        let file = File::create(tree.join(format!("file.mdtest.0.{number}"))).expect("a file");
        file.set_len(EACH).expect("a size");
    }
    let (judgement, said) = judged();
    assert_eq!(judgement, "DOUBTFUL", "{said}");
    assert_says(&said, &["that are read are not allocated by the file system"]);
    for number in 0..100 {
        let data = noise(number);
        write(&tree.join(format!("file.mdtest.0.{number}")), &data[..64 << 10]);
    }
    let (_, said) = judged();
    assert!(!said.contains("less stored"), "{said}");
}
