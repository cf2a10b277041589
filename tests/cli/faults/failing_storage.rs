//! Storage that fails, truncates transfers or returns wrong data, injected through FUSE.

use std::fs;

use testbed::{Effect, Fault, Programme, ProgrammedFs, Strace, When, WrongData, skipped};

use crate::desk::{Desk, assert_says, events, names, run, wait_for};

const ENOSPC: i32 = rustix::io::Errno::NOSPC.raw_os_error();
const EIO: i32 = rustix::io::Errno::IO.raw_os_error();

/// A desk and a file system on which the file `f` has these faults.
fn with(faults: &[Fault]) -> (Desk, ProgrammedFs) {
    let disk = ProgrammedFs::builder().mount().expect("a file system");
    disk.set_programme_of("f", Programme { faults: faults.to_vec(), ..Programme::default() });
    (Desk::new(), disk)
}

/// Four transfers of 64 KiB on the file `f`, with additional options.
fn line(disk: &ProgrammedFs, options: &str) -> String {
    format!("{options} -t 64k -b 256k -o {}", disk.path().join("f").display())
}

#[test]
fn an_io_error_is_named_with_its_file_and_offset_and_nothing_is_left() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    let cases = [
        (Fault::on_read(When::Number(3), Effect::EIO), ["read of 65536 bytes", "offset 131072", "EIO"]),
        (Fault::on_write(When::Number(2), Effect::EIO), ["write of 65536 bytes", "offset 65536", "EIO"]),
        (Fault::on_sync(When::Always, EIO), ["fsync", "EIO", "f"]),
    ];
    for (fault, words) in cases {
        let (desk, disk) = with(&[fault]);
        let failed = run(&desk.ior(&line(&disk, "-w -r -e"))).expect_code(5);
        assert_says(&failed.stderr, &words);
        assert_says(&failed.stderr, &[&disk.path().join("f").display().to_string()]);
        assert_eq!(names(disk.path()), [""; 0], "files and claim are gone");
        assert_eq!(desk.report().state(), "failed");
    }
}

#[test]
fn space_that_ends_in_the_middle_fails_the_case_and_keeps_those_before_it() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    let programme = Programme { space_bytes: Some(512 << 10), ..Programme::default() };
    let disk = ProgrammedFs::builder().programme(programme).mount().expect("a file system");
    let desk = Desk::new();
    let study = format!(
        "[[target]]\nname = \"small\"\npath = \"{0}/small\"\n[[target]]\nname = \"large\"\npath = \"{0}/large\"\n\
         [[workload]]\nname = \"fits\"\ntarget = \"small\"\ntransfer = \"64k\"\nsize = \"256k\"\n\
         [[workload]]\nname = \"bursts\"\ntarget = \"large\"\ntransfer = \"64k\"\nsize = \"1m\"\n\
         [[workload]]\nname = \"after\"\ntarget = \"small\"\ntransfer = \"64k\"\nsize = \"256k\"\n",
        disk.path().display()
    );
    let failed = run(&desk.study(&study)).expect_code(5);
    assert_says(&failed.stderr, &["large", "ENOSPC", "space"]);
    let report = desk.report();
    assert_eq!(report.state(), "failed");
    let figures = report.0["figures"].as_array().expect("figures").iter();
    let cases: Vec<&str> = figures.filter_map(|figure| figure["case"].as_str()).collect();
    assert_eq!(cases, ["fits", "fits", "after", "after"], "write and read of both other cases");
    assert_eq!(names(disk.path()), [""; 0], "nothing is left");
}

#[test]
fn enospc_from_the_kernel_says_how_far_it_came() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    let (desk, disk) = with(&[Fault::on_write(When::From(4), Effect::Error(ENOSPC))]);
    let failed = run(&desk.ior(&line(&disk, "-w"))).expect_code(5);
    assert_says(&failed.stderr, &["offset 196608", "ENOSPC"]);
}

#[test]
fn a_short_transfer_is_continued_unless_a_single_attempt_was_asked_for() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    let faults = [
        Fault::on_read(When::Number(2), Effect::Short(512)),
        Fault::on_write(When::Number(3), Effect::Short(4096)),
    ];
    let (desk, disk) = with(&faults);
    let _ = run(&desk.ior(&line(&disk, "-w -r --verify"))).expect_code(0);
    for phase in ["write", "read"] {
        assert_eq!(desk.report().figure(phase)["repetitions"][0]["bytes"], 256 << 10, "{phase}");
    }
    let tables = desk.tables();
    assert_says(&tables, &["figures 1, 2: 1 of 4 transfers were short and were continued"]);
    let (desk, disk) = with(&faults[..1]);
    let failed = run(&desk.ior(&line(&disk, "-w -r -O singleXferAttempt=1"))).expect_code(5);
    assert_says(&failed.stderr, &["offset 65536", "512 of 65536 bytes", "single attempt"]);
}

#[test]
fn short_transfers_are_counted_once_each_and_told_by_every_backend() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    // Each transfer takes many calls to complete.
    let faults = [Fault::on_read(When::Always, Effect::Short(16_384))];
    for (backend, depth) in [("psync", 1), ("vectored", 1), ("uring", 4), ("libaio", 4)] {
        let (desk, disk) = with(&faults);
        let study = format!(
            "[[target]]\nname = \"t\"\npath = \"{}\"\n[[workload]]\nname = \"w\"\ntransfer = \"64k\"\n\
             size = \"256k\"\nbackend = \"{backend}\"\ndepth = {depth}\n",
            disk.path().join("f").display()
        );
        let _ = run(&desk.study(&study)).expect_code(0);
        let tables = desk.tables();
        let told = "4 of 4 transfers were short and were continued";
        assert_eq!(tables.matches(told).count(), 1, "{backend}: {tables}");
    }
}

#[test]
fn short_writes_of_a_fill_are_told() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    // The kernel completes asynchronous short writes of FUSE with EIO, and `io_uring` continues them itself.
    let (desk, disk) = with(&[Fault::on_write(When::Always, Effect::Short(16_384))]);
    let study = format!(
        "[[target]]\nname = \"t\"\npath = \"{}\"\n[[workload]]\nname = \"w\"\ntransfer = \"64k\"\n\
         size = \"256k\"\nphases = [\"read\"]\nfill = true\nbackend = \"psync\"\n",
        disk.path().join("f").display()
    );
    let _ = run(&desk.study(&study)).expect_code(0);
    let tables = desk.tables();
    assert_says(&tables, &["1 of 1 transfers were short and were continued", "fill of w"]);
}

#[test]
fn short_transfers_of_small_files_are_told() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    for fault in [
        Fault::on_write(When::Always, Effect::Short(16_384)),
        Fault::on_read(When::Always, Effect::Short(16_384)),
    ] {
        let programme = Programme { faults: vec![fault], ..Programme::default() };
        let disk = ProgrammedFs::builder().programme(programme).mount().expect("a file system");
        let desk = Desk::new();
        let study = format!(
            "[[target]]\nname = \"t\"\ndirectory = \"{}/t\"\n[[workload]]\nname = \"w\"\nwork = \"tree\"\n\
             items_per_directory = 4\nfile_bytes = \"64KiB\"\n",
            disk.path().display()
        );
        let _ = run(&desk.study(&study)).expect_code(0);
        assert_says(&desk.tables(), &["4 of 4 transfers were short and were continued"]);
    }
}

#[test]
fn data_of_another_run_are_told_from_foreign_data() {
    let (desk, data) = Desk::with_data();
    let line = |signature: u32, options: &str| format!("{options} -G {signature} -k -t 4k -b 64k -o data/f");
    let _ = run(&desk.ioproof(&format!("ior {} --out one", line(7, "-w")))).expect_code(0);
    let other = run(&desk.ioproof(&format!("ior {} --out two", line(8, "-R")))).expect_code(6);
    assert_says(&(other.stdout + &other.stderr), &["stale data of another run", "-G"]);
    fs::write(data.join("f"), vec![7; 64 << 10]).expect("written over");
    let foreign = run(&desk.ioproof(&format!("ior {} --out three", line(8, "-R")))).expect_code(6);
    assert_says(&(foreign.stdout + &foreign.stderr), &["foreign data"]);
}

/// The output about wrong data; the run must end with code 6.
fn wrong(faults: &[Fault], options: &str) -> String {
    let (desk, disk) = with(faults);
    let finished = run(&desk.ior(&line(&disk, options))).expect_code(6);
    assert_eq!(names(disk.path()), [""; 0], "nothing is left");
    finished.stdout + &finished.stderr
}

#[test]
fn wrong_data_is_named_with_its_first_offset_and_kind() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    let read = |effect| Fault::on_read(When::Covering(131_072), Effect::Wrong(effect));
    // The third write of the second repetition, which overwrites the data of the first.
    let write = |effect| Fault::on_write(When::Number(7), Effect::Wrong(effect));
    let misplaced = WrongData::Misplaced { offset: 65_536 };
    let cases = [
        (read(misplaced), "-w -W -r -R", "offset 131072: misplaced data that belongs to offset 65536"),
        (read(WrongData::Foreign), "-w -r -R", "offset 131072: foreign data"),
        (read(WrongData::Zeros), "-w -W", "offset 131072: zeros"),
        (read(WrongData::Foreign), "-w -r --verify", "offset 131072: foreign data"),
        (write(WrongData::Stale), "-w -W -E -i 2", "offset 131072: stale data of generation 1"),
        (
            write(WrongData::Torn),
            "-w -r --verify -E -i 2",
            "offset 163840: torn data, partly of generation 1",
        ),
    ];
    for (fault, options, expected) in cases {
        let said = wrong(&[fault], options);
        assert_says(&said, &[expected, "cells of 512 bytes"]);
    }
}

#[test]
fn right_data_is_not_complained_of() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    let (desk, disk) = with(&[]);
    let finished = run(&desk.ior(&line(&disk, "-w -W -r -R -C -z -F -N 3 -i 2 --verify"))).expect_code(0);
    assert!(!finished.stdout.contains("wrong"), "{}", finished.stdout);
}

/// The same on an ordinary file system, with the error returned by the kernel itself.
#[test]
fn an_injected_error_of_a_call_ends_the_run() {
    if skipped(Strace::available()) {
        return;
    }
    let desk = Desk::new();
    let file = desk.path("f");
    let strace = Strace::new().only_path(&file).inject("pread64", "error=EIO:when=2");
    let program = desk.ior(&format!("-w -r -t 4k -b 64k -o {}", file.display()));
    let failed = strace.run(&program).expect("a trace").finished.expect_code(5);
    assert_says(&failed.stderr, &["read of 4096 bytes at offset 4096", "EIO"]);
    assert_eq!(names(&desk.path("")), ["record"]);
}

/// A file system that loses what was written, as when the device below it disappears: the next check finds less than
/// was written.
#[test]
fn data_that_the_run_has_written_and_that_is_gone_is_a_failure_of_the_storage() {
    let desk = Desk::new();
    let study = "[protocol]\ndelay = \"2s\"\n[[target]]\nname = \"t\"\npath = \"data\"\n\
                 [[workload]]\nname = \"w\"\ntransfer = \"64k\"\nsize = \"256k\"\nfill = false\n";
    let mut running = desk.study(study).spawn().expect("it starts");
    wait_for(&mut running, "the write", || events(&desk, "phase-finished") > 0);
    let file = fs::OpenOptions::new().write(true).open(desk.path("data")).expect("there");
    file.set_len(0).and_then(|()| file.set_len(256 << 10)).expect("a hole");
    let failed = running.wait().expect("it ends").expect_code(5);
    assert_says(&failed.stderr, &["data written by this run is gone", "hole at offset 0"]);
}
