//! The program called as md-workbench: its sets, what one command line leaves for the next, its latency files, and
//! its system calls.

use std::fs;
use std::path::Path;

use rustix::process::Signal;
use testbed::{FileSystem, LoopDevice, Strace, Testbed, skipped};

use crate::calls;
use crate::desk::{Desk, SmallDisk, assert_says, events, run, wait_for};

/// The objects in the sets below `directory`, sorted: `0_0/file-1 1_0/file-1`.
fn objects(directory: &Path) -> String {
    let mut all = Vec::new();
    for set in fs::read_dir(directory).into_iter().flatten().flatten() {
        for object in fs::read_dir(set.path()).into_iter().flatten().flatten() {
            let path = object.path();
            all.push(path.strip_prefix(directory).expect("below").display().to_string());
        }
    }
    all.sort();
    all.join(" ")
}

#[test]
fn objects_are_gone_round_and_their_latencies_printed() {
    let desk = Desk::new();
    let words = "md-workbench -D 2 -I 20 -P 50 -R 2 -X -o sets --tasks-per-rank 2 --out record";
    let ran = run(&desk.ioproof(words)).expect_code(0);
    assert_says(&ran.stdout, &["Args: md-workbench", "total objects: 360", "objects:200 ", "(0 errs) read("]);
    let starts = |word: &str| ran.stdout.lines().filter(|line| line.starts_with(word)).count();
    assert_eq!((starts("precreate"), starts("benchmark"), starts("cleanup")), (1, 2, 1), "{}", ran.stdout);
    assert!(!desk.path("sets").exists());
    assert!(!desk.path("md-workbench.status").exists(), "there is nothing to go on with");
}

#[test]
fn a_killed_round_goes_on_with_its_objects_made_again() {
    let desk = Desk::new();
    let words = "md-workbench -D 2 -I 100 -P 120 -o sets --tasks-per-rank 2 --out record --yes";
    for ended in [1, 2] {
        let mut running = desk.ioproof(words).spawn().expect("started");
        wait_for(&mut running, "the next case", || events(&desk, "case-started") > ended);
        running.signal(Signal::KILL).expect("it lives");
        let _ = running.wait().expect("it ends");
        let resumed = run(&desk.ioproof("run --resume record --yes")).expect_code(0);
        assert_says(&resumed.stdout, &["killed, resumed once"]);
        let report = desk.report();
        let figures = report.0["figures"].as_array().expect("figures");
        let phases: Vec<_> = figures.iter().map(|figure| figure["phase"].as_str().expect("a name")).collect();
        assert_eq!(phases, ["precreate", "benchmark", "cleanup"], "each once");
        assert!(figures.iter().all(|figure| figure["surprises"].as_u64().unwrap_or(0) == 0), "{figures:?}");
        assert!(!desk.path("sets").exists());
        fs::remove_dir_all(desk.record()).expect("removed");
    }
}

/// For each command line: its options, the exit code, the objects afterwards, the content of the status file, and the
/// output.
#[test]
fn each_line_goes_on_where_the_one_before_has_ended() {
    let desk = Desk::new();
    let table = [
        ("-2", 2, "", "", "run a command line with -1 first"),
        ("-1", 0, "0_0/file-0 0_0/file-1 1_0/file-0 1_0/file-1", "pos: 0\n", "precreate process"),
        ("-1", 3, "0_0/file-0 0_0/file-1 1_0/file-0 1_0/file-1", "pos: 0\n", "already exists"),
        ("-2 -R 2", 0, "0_0/file-2 0_0/file-3 1_0/file-2 1_0/file-3", "pos: 2\n", "(0 errs) read("),
        ("-2 --read-only", 0, "0_0/file-2 0_0/file-3 1_0/file-2 1_0/file-3", "pos: 2\n", "(0 errs) read("),
        ("-2", 0, "0_0/file-3 0_0/file-4 1_0/file-3 1_0/file-4", "pos: 3\n", "(0 errs) read("),
        // There are no objects, so every step of both tasks fails to find one.
        ("-2 --start-item=40", 0, "0_0/file-3 0_0/file-4 1_0/file-3 1_0/file-4", "pos: 41\n", "(2 errs!!!)"),
        ("-3 --start-item=3", 0, "", "pos: 41\n", "(0 errs) delete("),
        ("-3", 0, "", "pos: 41\n", "errs!!!)"),
    ];
    for (number, (words, code, left, status, said)) in table.into_iter().enumerate() {
        let line = "md-workbench -D 1 -P 2 -I 1 -R 1 -o sets --tasks-per-rank 2";
        let ran = run(&desk.ioproof(&format!("{line} {words} --out record{number}"))).expect_code(code);
        assert_says(&format!("{}{}", ran.stdout, ran.stderr), &[said]);
        assert_eq!(objects(&desk.path("sets")), left, "after {words}");
        let found = fs::read_to_string(desk.path("md-workbench.status")).unwrap_or_default();
        assert_eq!(found, status, "after {words}");
    }
}

#[test]
fn the_latency_of_each_operation_is_in_a_file() {
    let desk = Desk::new();
    let words = "md-workbench -D 2 -I 3 -P 5 -R 2 -t 0.25 -L lat -o sets --tasks-per-rank 2 --out record";
    let _ = run(&desk.ioproof(words)).expect_code(0);
    for (name, operations) in [
        ("lat-0.00-0-precreate.csv", 10),
        ("lat-0.25-0-stat.csv", 6),
        ("lat-0.25-1-read.csv", 6),
        ("lat-0.25-1-delete.csv", 6),
        ("lat-0.25-1-create.csv", 6),
        ("lat-0.00-2-cleanup.csv", 10),
    ] {
        let text = fs::read_to_string(desk.path(name)).expect(name);
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("time,runtime"), "{name}");
        let values = |line: &str| {
            let (time, took) = line.split_once(',').expect("two values");
            (time.parse::<f64>().expect("seconds"), took.parse::<f64>().expect("seconds"))
        };
        let all: Vec<(f64, f64)> = lines.map(values).collect();
        assert_eq!(all.len(), operations, "{name}: those of the first task");
        assert!(all.windows(2).all(|pair| pair[0].0 <= pair[1].0), "{name}: {all:?}");
        assert!(all.iter().all(|(_, took)| *took > 0.0), "{name}: {all:?}");
    }
}

#[test]
fn what_is_not_its_own_stays() {
    let desk = Desk::new();
    fs::create_dir(desk.path("sets")).expect("a directory");
    fs::write(desk.path("sets/mine"), "mine").expect("a file");
    let line = "md-workbench -D 1 -I 2 -P 3 -R 1 -o sets";
    let _ = run(&desk.ioproof(&format!("{line} --out record1"))).expect_code(0);
    assert_eq!(fs::read_to_string(desk.path("sets/mine")).expect("still there"), "mine");
    // A file with the name of an object of a set is never removed if it is not one of the program's own.
    fs::write(desk.path("sets/file-1"), "mine too").expect("a file");
    let refused = run(&desk.ioproof(&format!("{line} --out record2"))).expect_code(3);
    assert_says(&refused.stderr, &["sets/file-1 already exists"]);
    assert_eq!(fs::read_to_string(desk.path("sets/file-1")).expect("still there"), "mine too");
}

#[test]
fn the_file_system_decides_which_objects_can_be_direct() {
    if skipped(Testbed::available()) || skipped(Strace::available()) {
        return;
    }
    let line = |desk: &Desk, directory: &Path, options: &str| {
        let words = format!("md-workbench --posix.odirect -D 1 -I 2 -P 3 -R 1 -X {options} -o");
        desk.ioproof(&words).arg(directory.join("sets")).arg("--out").arg(desk.record())
    };
    let assert_direct = |desk: &Desk, directory: &Path, options: &str| {
        let traced =
            Strace::new().calls("open,openat").run(&line(desk, directory, options)).expect("a trace");
        let _ = traced.finished.clone().expect_code(0);
        let sets = directory.join("sets");
        let objects = |call: &&testbed::Call| call.path.as_ref().is_some_and(|path| path.starts_with(&sets));
        let objects: Vec<_> =
            traced.calls.iter().filter(objects).filter(|call| !call.has("O_DIRECTORY")).collect();
        let of_data = objects.iter().filter(|call| call.has("O_DIRECT")).count();
        // Three objects are made, and each of two steps reads one and makes another.
        assert_eq!(of_data, 7, "{objects:?}");
        assert!(!sets.exists());
    };
    let desk = Desk::new();
    let memory = SmallDisk::mount(desk.path("memory"));
    let takes_all = host::direct_alignment(memory.path()).is_ok_and(|needed| needed == Some(1));
    if !skipped(takes_all.then_some(()).ok_or_else(|| "needs tmpfs with direct transfers".to_owned())) {
        assert_direct(&desk, memory.path(), "-S 3901");
    }
    let desk = Desk::new();
    let device = LoopDevice::builder().file_system(FileSystem::Xfs).build().expect("a device");
    let disk = device.mount_point().expect("mounted");
    let refused = run(&line(&desk, disk, "-S 3901")).expect_code(4).stderr;
    assert_says(&refused, &["a multiple of 512 bytes", "they have 3901", "use transfers of 4096 bytes"]);
    assert!(!disk.join("sets").exists() && !desk.record().exists());
    assert_direct(&desk, disk, "-S 4096");
}

/// The system calls of one step, as strace shows them for md-workbench itself.
#[test]
fn a_step_takes_the_calls_of_the_real_one() {
    if skipped(Strace::available()) {
        return;
    }
    let desk = Desk::new();
    let program = desk.ioproof("md-workbench -D 1 -I 1 -P 1 -R 1 -o sets --out record");
    let trace = Strace::new().calls(calls::OF_ITEMS).run(&program).expect("a trace");
    let _ = trace.finished.clone().expect_code(0);
    let found = calls::below(&trace, &desk.path("sets"));
    let step = [
        "stat 0_0/file-0 0",
        "open 0_0/file-0 O_RDONLY",
        "lseek 0",
        "read 3901",
        "close",
        "unlink 0_0/file-0",
        "open 0_0/file-1 O_RDWR|O_CREAT 0664",
        "lseek 0",
        "write 3901",
        "close",
    ];
    let begin = ["mkdir 0_0 0775", "open 0_0/file-0 O_RDWR|O_CREAT 0664", "lseek 0", "write 3901", "close"];
    let end = ["unlink 0_0/file-1", "rmdir 0_0"];
    assert_eq!(found, [&begin[..], &step[..], &end[..]].concat());

    let program = desk.ioproof("md-workbench -D 2 -I 1 -P 2 -R 1 -o sets --out record2");
    let trace = Strace::new().calls(calls::OF_ITEMS).run(&program).expect("a trace");
    let found = calls::below(&trace, &desk.path("sets"));
    let end = ["unlink 0_0/file-1", "unlink 0_0/file-2", "rmdir 0_0"].into_iter().chain([
        "unlink 0_1/file-1",
        "unlink 0_1/file-2",
        "rmdir 0_1",
    ]);
    assert_eq!(found[found.len() - 6..], end.collect::<Vec<_>>(), "set by set");
}
