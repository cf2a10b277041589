//! Which bytes of which files are transferred, according to the system calls that strace records.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use testbed::{FileSystem, LoopDevice, Rig, Strace, Testbed, Trace, skipped};

use crate::desk::{Desk, names, run};

const KIB: u64 = 1 << 10;

/// Calls with one name on one file, by task: each task has its own thread.
fn offsets_by_task(trace: &Trace, call: &str, file: &Path) -> Vec<Vec<u64>> {
    let mut threads: Vec<(u32, Vec<u64>)> = Vec::new();
    for call in trace.on(call, file) {
        let offset = call.offset().expect("it has an offset");
        match threads.iter_mut().find(|(thread, _)| *thread == call.thread) {
            Some((_, offsets)) => offsets.push(offset),
            None => threads.push((call.thread, vec![offset])),
        }
    }
    let mut tasks: Vec<Vec<u64>> = threads.into_iter().map(|(_, offsets)| offsets).collect();
    tasks.sort();
    tasks
}

/// Figure 2 of study B: segment by segment, in each segment the block of every task, in each block its transfers.
#[test]
fn three_tasks_visit_a_shared_file_in_the_published_order() {
    if skipped(Strace::available()) {
        return;
    }
    let desk = Desk::new();
    let file = desk.path("file");
    let line = format!("-w -r -t 4k -b 8k -s 2 -N 3 -k -o {}", file.display());
    let trace = Strace::new().run(&desk.ior(&line)).expect("a trace");
    let _ = trace.finished.clone().expect_code(0);
    let expected = [[0, 4, 24, 28], [8, 12, 32, 36], [16, 20, 40, 44]].map(|task| task.map(|at| at * KIB));
    assert_eq!(offsets_by_task(&trace, "pwrite64", &file), expected);
    assert_eq!(offsets_by_task(&trace, "pread64", &file), expected);
}

#[test]
fn random_order_visits_each_offset_once_and_is_no_rising_one() {
    if skipped(Strace::available()) {
        return;
    }
    let desk = Desk::new();
    let file = desk.path("file");
    let line = format!("-w -r -z -t 4k -b 64k -s 2 -N 3 -k -o {}", file.display());
    let trace = Strace::new().run(&desk.ior(&line)).expect("a trace");
    let _ = trace.finished.clone().expect_code(0);
    let all: Vec<u64> = (0..96).map(|transfer| transfer * 4 * KIB).collect();
    for call in ["pwrite64", "pread64"] {
        let tasks = offsets_by_task(&trace, call, &file);
        assert_eq!(tasks.iter().map(Vec::len).collect::<Vec<_>>(), [32; 3], "{call}: equal shares");
        assert!(tasks.iter().all(|task| !task.is_sorted()), "{call}: {tasks:?}");
        let mut visited: Vec<u64> = tasks.into_iter().flatten().collect();
        visited.sort_unstable();
        assert_eq!(visited, all, "{call}");
    }
}

/// The requirement of study D: exactly these calls, and no others on the data.
#[test]
fn only_positioned_transfers_of_the_asked_size_at_aligned_offsets_touch_the_data() {
    if skipped(Strace::available()) || skipped(Testbed::available()) {
        return;
    }
    let device = LoopDevice::builder().bytes(64 << 20).file_system(FileSystem::Ext4).build();
    let device = device.expect("a device");
    let desk = Desk::new();
    let base = device.mount_point().expect("mounted").join("file");
    for (transfer, block) in [(4 * KIB, 64 * KIB), (1024 * KIB, 4096 * KIB)] {
        let line = format!("-w -r -B -F -N 2 -t {transfer} -b {block} -s 1 -o {}", base.display());
        let _ = fs::remove_dir_all(desk.record());
        let trace = Strace::new().calls("%desc,%file").run(&desk.ior(&line)).expect("a trace");
        let _ = trace.finished.clone().expect_code(0);
        let files: BTreeSet<_> = ["00000000", "00000001"].map(|task| base.with_extension(task)).into();
        let on_data =
            || trace.calls.iter().filter(|call| call.path.as_ref().is_some_and(|p| files.contains(p)));
        let moving: BTreeSet<&str> = on_data().map(|call| call.name.as_str()).collect();
        for name in ["read", "write", "readv", "writev", "preadv", "pwritev", "mmap", "sendfile"] {
            assert!(!moving.contains(name), "{name} was called: {moving:?}");
        }
        // Before a read, the program looks for holes in the file, which transfers no data.
        let seeks = on_data().filter(|call| call.name == "lseek");
        assert!(seeks.into_iter().all(|call| call.has("SEEK_HOLE") || call.has("SEEK_DATA")));
        let transfers: Vec<_> =
            on_data().filter(|call| ["pread64", "pwrite64"].contains(&&*call.name)).collect();
        assert_eq!(transfers.len() as u64, 2 * 2 * block / transfer, "writes and reads of two tasks");
        for call in &transfers {
            assert_eq!(call.bytes(), Some(transfer), "{call:?}");
            assert_eq!(call.returned, i64::try_from(transfer).ok(), "{call:?}");
            assert!(call.offset().is_some_and(|offset| offset.is_multiple_of(transfer)), "{call:?}");
        }
        assert!(all_direct(&trace, &files), "a transfer went through the page cache");
    }
}

/// Whether the descriptor of each transfer was opened with `O_DIRECT`. The search for holes also opens the files, but
/// without this flag.
fn all_direct(trace: &Trace, files: &BTreeSet<PathBuf>) -> bool {
    let mut opened: BTreeMap<i64, bool> = BTreeMap::new();
    let descriptor = |argument: &str| argument.split('<').next().and_then(|number| number.parse().ok());
    let mut on_data =
        trace.calls.iter().filter(|call| call.path.as_ref().is_some_and(|path| files.contains(path)));
    on_data.all(|call| match (call.name.as_str(), call.returned) {
        ("open" | "openat", Some(number)) => {
            opened.insert(number, call.has("O_DIRECT"));
            true
        }
        ("pread64" | "pwrite64", _) => {
            descriptor(&call.arguments[0]).and_then(|number: i64| opened.get(&number)) == Some(&true)
        }
        _ => true,
    })
}

#[test]
fn twenty_four_tasks_over_twelve_cards_put_two_files_on_each() {
    if skipped(Testbed::available()) {
        return;
    }
    let rig = Rig::of(12, &LoopDevice::builder().bytes(32 << 20).file_system(FileSystem::Ext4));
    let cards = rig.as_ref().expect("twelve cards").mount_points();
    let desk = Desk::new();
    let targets: Vec<String> = cards.iter().map(|card| card.join("data").display().to_string()).collect();
    let line = format!("-a POSIX -B -e -t 1m -b 1m -s 2 -N 24 -C -F -k -o {}", targets.join("@"));
    let _ = run(&desk.ior(&line)).expect_code(0);
    for (index, card) in cards.iter().enumerate() {
        let mut files = names(card);
        files.retain(|name| name != "lost+found");
        let expected = [index, index + 12].map(|task| format!("data.{task:08}"));
        assert_eq!(files, expected, "card {index}");
        for file in expected {
            assert_eq!(fs::metadata(card.join(file)).expect("there").len(), 2 << 20);
        }
    }
}
