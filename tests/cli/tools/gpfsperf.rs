//! The program called as gpfsperf or tsqosperf.

use std::fs;
use std::os::unix::fs::symlink;

use testbed::{Launch, Program, Strace, skipped};

use crate::desk::{Desk, assert_says, run};

/// The number after `name` in the last line.
fn value(text: &str, name: &str) -> f64 {
    let behind = text.split_once(name).unwrap_or_else(|| panic!("{name} in {text}")).1;
    let number: String =
        behind.trim_start().chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    number.parse().expect("a number")
}

/// The two command lines of study E, with smaller files.
#[test]
fn published_lines_run_and_report_what_they_moved() {
    let desk = Desk::new();
    let ran = run(&desk.tool("tsqosperf", "write seq -n 32m -r 1m -th 16 testfile -fsync")).expect_code(0);
    assert_says(
        &ran.stdout,
        &[
            "tsqosperf write seq testfile recSize 1M nBytes 32M fileSize 32M nProcesses 1 nThreadsPerProcess 16",
            "fsync at end of test",
            "not using direct I/O",
            "bytesTransferred 33554432",
        ],
    );
    let utilization = value(&ran.stdout, "thread utilization");
    assert!(utilization > 0.0 && utilization <= 1.0, "{utilization}");
    assert_eq!(fs::metadata(desk.path("testfile")).expect("kept").len(), 32 << 20);

    fs::remove_dir_all(desk.record()).expect("a record");
    let ran = run(&desk.tool("tsqosperf", "read seq -r 64k testfile -dio")).expect_code(0);
    assert_says(
        &ran.stdout,
        &["recSize 64K nBytes 32M fileSize 32M", "using direct I/O", "nThreadsPerProcess 1"],
    );
    let (rate, latency) = (value(&ran.stdout, "Op Rate was"), value(&ran.stdout, "Avg Latency was"));
    let utilization = value(&ran.stdout, "thread utilization");
    assert!((latency / 1e3 * rate - utilization).abs() < 0.02, "latency × rate is what one thread was busy");
    let kbytes = value(&ran.stdout, "Data rate was");
    assert!((kbytes * 1e3 / rate / 65536.0 - 1.0).abs() < 0.001, "a Kbyte has 1000 bytes");
    let again = run(&desk.ioproof("report --full").arg(desk.record())).expect_code(0);
    assert_says(&again.stdout, &["64 KiB sequential read"]);
}

#[test]
fn a_link_is_the_tool_that_it_is_called() {
    let desk = Desk::new();
    let link = desk.path("gpfsperf");
    symlink(env!("CARGO_BIN_EXE_ioproof"), &link).expect("a link");
    let program =
        Program::new(&link).current_dir(desk.path("")).args(["create", "rand", "f", "-n", "1m", "-r", "64k"]);
    let ran = run(&program.arg("--out").arg(desk.record())).expect_code(0);
    assert_says(
        &ran.stdout,
        &["create rand f recSize 64K", "no fsync at end of test", "bytesTransferred 1048576"],
    );
}

#[test]
fn threads_take_records_in_turn_and_strides_wrap() {
    if skipped(Strace::available()) {
        return;
    }
    let desk = Desk::new();
    fs::write(desk.path("f"), vec![7; 64 << 10]).expect("a file");
    let traced = |words: &str| {
        let trace = Strace::new().calls("pread64").run(&desk.tool("gpfsperf", words)).expect("traced");
        assert_eq!(trace.finished.code, Some(0), "{}", trace.finished.stderr);
        let _ = fs::remove_dir_all(desk.record());
        let path = desk.path("f");
        let calls =
            trace.on("pread64", &path).map(|call| (call.thread, call.offset().expect("an offset") >> 12));
        calls.collect::<Vec<(u32, u64)>>()
    };
    let strided: Vec<u64> =
        traced("read strided f -r 4k -s 20k").into_iter().map(|(_, offset)| offset).collect();
    assert_eq!(strided, [0, 5, 10, 15, 1, 6, 11, 2, 7, 12, 3, 8, 13, 4, 9, 14]);
    let seq = traced("read seq f -r 4k -th 4");
    assert_eq!(seq.len(), 16);
    for &(thread, offset) in &seq {
        let same = seq.iter().filter(|(other, _)| *other == thread);
        assert!(same.into_iter().all(|(_, other)| other % 4 == offset % 4), "{seq:?}");
    }
}

#[test]
fn processes_of_a_launcher_are_counted() {
    if skipped(Launch::open_mpi_available()) {
        return;
    }
    let desk = Desk::new();
    let program = desk.tool("gpfsperf", "create seq f -n 4m -r 64k -th 2");
    let ran = run(&Launch::open_mpi(2).start(&program)).expect_code(0);
    assert_says(&ran.stdout, &["nProcesses 2 nThreadsPerProcess 2", "bytesTransferred 4194304"]);
    assert_eq!(ran.stdout.matches("Data rate was").count(), 1, "one rank prints");
}

/// The program drops only the blocks of its own file from the page cache, since other work may run on the host.
#[test]
fn a_read_drops_the_pages_of_its_file_and_of_no_other() {
    let desk = Desk::new();
    let [file, other] = ["f", "other"].map(|name| desk.path(name));
    for path in [&file, &other] {
        fs::write(path, vec![1; 1 << 20]).expect("a file");
        fs::File::open(path).and_then(|file| file.sync_all()).expect("on the disk");
    }
    let line = format!("read seq {} -r 64k", file.display());
    let plan = run(&desk.tool("gpfsperf", &format!("{line} --explain"))).expect_code(0).stdout;
    assert_says(
        &plan.split_whitespace().collect::<Vec<_>>().join(" "),
        &["only its files' pages are evicted"],
    );
    let _ = run(&desk.tool("gpfsperf", &line)).expect_code(0);
    let cached = |path: &std::path::Path| host::Host::default().page_cache_bytes(path).expect("looked at");
    assert_eq!(cached(&other), (1 << 20, 1 << 20), "its pages stay");
}
