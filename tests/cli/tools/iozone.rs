//! The program called as IOzone.

use std::fs;
use std::path::Path;

use testbed::{FileSystem, Launch, Limits, LoopDevice, Program, Strace, Testbed, Trace, skipped};

use crate::desk::{Desk, assert_says, measured, run};

/// The number after the equals sign in the line that contains `name`.
fn value(text: &str, name: &str) -> f64 {
    let line = text.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{name} in {text}"));
    let behind = line.split_once('=').expect("a value").1;
    behind.split_whitespace().next().and_then(|word| word.parse().ok()).expect("a number")
}

#[test]
fn tests_share_their_files_and_leave_none() {
    let desk = Desk::new();
    let ran = run(&desk.tool("iozone", "-t 3 -s 256k -r 16k -O -C -R")).expect_code(0);
    let blocks = [
        "3 initial writers",
        "3 rewriters",
        "3 readers",
        "3 re-readers",
        "3 reverse readers",
        "3 stride readers",
        "3 random readers",
        "3 mixed workload",
        "3 random writers",
        "3 fwriters",
        "3 freaders",
    ];
    for block in blocks {
        assert_says(&ran.stdout, &[block]);
    }
    assert_eq!(ran.stdout.matches("Child[2] xfer count").count(), blocks.len());
    assert_says(&ran.stdout, &["\" Initial write \"", "iozone test complete."]);
    let names: Vec<_> =
        fs::read_dir(desk.path("")).expect("a directory").flatten().map(|one| one.file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().contains("DUMMY")), "{names:?}");
    let again = run(&desk.ioproof("report --full").arg(desk.record())).expect_code(0);
    assert_says(&again.stdout, &["record", "random"]);
}

#[test]
fn automatic_mode_has_a_row_for_each_pair_and_keeps_what_is_to_be_kept() {
    let desk = Desk::new();
    let ran =
        run(&desk.tool("iozone", "-a -n 64k -g 128k -y 16k -q 64k -w -f kept -R -b sheet")).expect_code(0);
    let rows: Vec<(u64, u64)> = ran
        .stdout
        .lines()
        .filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let pair = (words.first()?.parse().ok()?, words.get(1)?.parse().ok()?);
            (words.len() == 15).then_some(pair)
        })
        .collect();
    assert_eq!(rows, [(64, 16), (64, 32), (64, 64), (128, 16), (128, 32), (128, 64)], "{}", ran.stdout);
    assert_eq!(fs::metadata(desk.path("kept")).expect("-w keeps it").len(), 128 << 10);
    let sheet = fs::read_to_string(desk.path("sheet")).expect("-b writes it");
    assert_says(&sheet, &["\"Record rewrite report\"", "\"Re-Fread report\""]);
    assert!(ran.stdout.contains(&sheet), "the same as -R prints");
}

fn traced(desk: &Desk, words: &str, calls: &str) -> Trace {
    let trace = Strace::new().calls(calls).run(&desk.tool("iozone", words)).expect("traced");
    assert_eq!(trace.finished.code, Some(0), "{}", trace.finished.stderr);
    fs::remove_dir_all(desk.record()).expect("a record");
    trace
}

/// Whether the file `f` was opened with this flag.
fn opened_with(trace: &Trace, flag: &str) -> bool {
    let mut opened = trace.of("open").chain(trace.of("openat"));
    opened.any(|call| call.has("\"f\"") && call.has(flag))
}

/// Offsets in units of 16 kB records.
fn offsets(trace: &Trace, call: &str, path: &Path) -> Vec<u64> {
    let moved = trace.on(call, path).filter(|call| call.returned != Some(0));
    moved.map(|call| call.offset().expect("an offset") >> 14).collect()
}

#[test]
fn the_kernel_sees_exactly_the_tests_that_were_asked_for() {
    if skipped(Strace::available()) {
        return;
    }
    let desk = Desk::new();
    let path = desk.path("f");
    let trace = traced(
        &desk,
        "-s 64k -r 16k -i 0 -i 3 -i 4 -i 5 -j 3 -+n -f f",
        "pread64,pwrite64,open,openat,fsync",
    );
    // Sequential writes, then the first record four times; reads backward, then in strides of three. Each test reads
    // the existing data once before its timed part, and a test that writes restores its first record.
    assert_eq!(offsets(&trace, "pwrite64", &path), [0, 1, 2, 3, 0, 0, 0, 0, 0]);
    assert_eq!(
        offsets(&trace, "pread64", &path),
        [3, 2, 1, 0, 3, 2, 1, 0, 0, 0, 0, 0, 0, 3, 1, 2, 0, 3, 1, 2]
    );
    let all = trace.on("pwrite64", &path).chain(trace.on("pread64", &path));
    let sizes = all.filter(|call| call.returned != Some(0));
    assert!(sizes.into_iter().all(|call| call.bytes() == Some(16 << 10) && call.returned == Some(16 << 10)));
    assert!(opened_with(&trace, "O_CREAT") && !opened_with(&trace, "O_DIRECT"));

    // Synchronous writes are requested when the file is opened; a mapping needs its own calls.
    for (option, flag) in [("-o", "O_SYNC"), ("-+D", "O_DSYNC"), ("-+r", "O_SYNC")] {
        let words = format!("-s 64k -r 16k -i 0 {option} -+n -c -f f");
        let stable = traced(&desk, &words, "pwrite64,open,openat,fsync,fdatasync");
        assert!(opened_with(&stable, flag), "{option}");
        let calls = stable.on("fsync", &path).chain(stable.on("fdatasync", &path)).count();
        assert_eq!((stable.on("pwrite64", &path).count(), calls), (4, 0), "{option}");
    }
    let mapped = traced(&desk, "-s 64k -r 16k -i 0 -o -B -+n -c -f f", "open,openat,fsync,msync");
    assert!(opened_with(&mapped, "O_CREAT") && !opened_with(&mapped, "O_SYNC"));

    let vectored = traced(&desk, "-E -s 128k -r 4k -i 0 -i 11 -i 12 -+n -f f", "preadv,pwritev,pread64");
    // Both tests read the file once before their timed part, and the test that writes restores the data of its first
    // call.
    for (call, count) in [("preadv", 6), ("pwritev", 3)] {
        let bytes: Vec<_> = vectored.on(call, &path).map(|call| call.returned).collect();
        assert_eq!(bytes, vec![Some(64 << 10); count], "sixteen records with one {call}");
    }
}

/// Study E: a list of clients, with one process for each line.
#[test]
fn children_of_a_client_list_are_ranks_of_the_launcher() {
    if skipped(Launch::open_mpi_available()) {
        return;
    }
    let desk = Desk::new();
    let here = desk.path("").display().to_string();
    fs::write(desk.path("clients"), format!("localhost {here} /usr/local/bin/iozone\n").repeat(4))
        .expect("written");
    let words = "-i 0 -i 1 -O -t 4 -r 4k -s 1m -+m clients";
    let ran = run(&Launch::open_mpi(4).start(&desk.tool("iozone", words))).expect_code(0);
    assert_says(&ran.stdout, &["Network distribution mode enabled.", "Throughput test with 4 processes"]);
    for block in ["initial writers", "rewriters", "readers", "re-readers"] {
        assert_says(&ran.stdout, &[block]);
    }
    assert_eq!(ran.stdout.matches("Children see").count(), 4, "one rank prints");
    let (sum, mean) = (value(&ran.stdout, "Children see"), value(&ran.stdout, "Avg throughput"));
    assert!((sum / mean - 4.0).abs() < 0.001, "the sum is four times the mean");
    let (least, most) = (value(&ran.stdout, "Min throughput"), value(&ran.stdout, "Max throughput"));
    assert!(value(&ran.stdout, "Min xfer") <= 256.0 && least <= most, "{}", ran.stdout);
    assert!(!desk.path("iozone.DUMMY.0").exists(), "files are removed");

    fs::write(desk.path("far"), format!("node1 {here} x\nnode2 {here} x\n")).expect("written");
    let refused = run(&desk.tool("iozone", "-t 2 -i 0 -s 1m -+m far")).expect_code(2);
    assert_says(&refused.stderr, &["srun -N 2", "mpirun -np 2"]);
}

/// The two tools compared on a device of known rate. Not all distributions treat IOzone as free software, so it is
/// usually not installed.
#[test]
fn measured_figures_agree_with_those_of_iozone_itself() {
    let found = match Program::new("iozone").arg("-v").run() {
        Ok(finished) if finished.stdout.contains("Iozone") => Ok(()),
        _ => Err("needs IOzone itself on the path".to_owned()),
    };
    if skipped(found.and_then(|()| Testbed::available())) {
        return;
    }
    measured(|_| {
        let limits = Limits { write_bytes: Some(24 << 20), ..Limits::default() };
        let device =
            LoopDevice::builder().bytes(64 << 20).file_system(FileSystem::Ext4).limits(limits).build();
        let device = device.expect("a device");
        let place = device.mount_point().expect("mounted").display().to_string();
        let words = format!("-I -s 16m -r 1m -i 0 -+n -f {place}/f");
        let write = |finished: testbed::Finished| {
            let text = finished.expect_code(0).stdout;
            let row =
                text.lines().find(|line| line.trim_start().starts_with("16384 ")).expect("a row").to_owned();
            row.split_whitespace().nth(2).and_then(|word| word.parse::<f64>().ok()).expect("a rate")
        };
        let desk = Desk::new();
        let ours = write(run(&desk.tool("iozone", &words)));
        let theirs =
            write(run(&Program::new("iozone").args(words.split_whitespace()).current_dir(desk.path(""))));
        assert!((ours / theirs - 1.0).abs() < 0.1, "ours {ours}, IOzone's {theirs}");
    });
}
