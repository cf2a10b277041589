//! io_uring where its use is not permitted: the program reports the cause, and replaces io_uring only if the user did
//! not ask for it.

use std::fs;

use testbed::{Program, Strace, skipped};

use crate::desk::{Desk, assert_says, names, run};

/// A depth of 4 on a small file.
fn study(backend: &str) -> String {
    format!(
        "[[target]]\nname = \"t\"\npath = \"f\"\n\
         [[workload]]\nname = \"w\"\ntransfer = \"4k\"\nsize = \"1m\"\ndepth = 4\n{backend}"
    )
}

const REQUIRED: &str = "backend = \"uring\"\n";

/// Runs the program with an error injected when a ring is set up.
fn without(desk: &Desk, study: &str, error: &str) -> testbed::Finished {
    let strace = Strace::new().calls("io_uring_setup").inject("io_uring_setup", &format!("error={error}"));
    strace.run(&desk.study(study)).expect("a trace").finished
}

#[test]
fn a_ring_that_was_asked_for_and_is_refused_ends_the_run_with_the_reason() {
    if skipped(Strace::available()) {
        return;
    }
    for (error, reason) in [("EPERM", "seccomp"), ("ENOSYS", "this kernel does not have it")] {
        let desk = Desk::new();
        let failed = without(&desk, &study(REQUIRED), error).expect_code(4);
        assert_says(&failed.stderr, &["io_uring was requested", reason]);
        assert_eq!(names(&desk.path("")), ["study.toml"], "nothing was touched");
    }
}

#[test]
fn where_nobody_asked_for_it_another_way_is_taken_and_told() {
    if skipped(Strace::available()) {
        return;
    }
    let desk = Desk::new();
    let finished = without(&desk, &study(""), "EPERM").expect_code(0);
    assert_says(&finished.stdout, &["psync", "in place of io_uring", "seccomp"]);
    let report = desk.report();
    let kinds: Vec<_> =
        report.0["notes"].as_array().expect("notes").iter().map(|note| &note["kind"]).collect();
    assert!(kinds.iter().any(|kind| *kind == "backend-replaced"), "{kinds:?}");
    assert_eq!(report.figure("write")["tasks"], 4, "as many transfers are under way");
}

/// In a mount namespace of its own, this one process sees the host's setting as disabled.
#[test]
fn a_ring_that_the_administrator_switched_off_names_the_setting() {
    if skipped(Strace::available()) || skipped(namespaces()) {
        return;
    }
    let desk = Desk::new();
    fs::write(desk.path("off"), "2\n").expect("a file");
    fs::write(desk.path("study.toml"), study(REQUIRED)).expect("a study");
    let script = format!(
        "mount --bind off /proc/sys/kernel/io_uring_disabled && exec strace -f -o /dev/null \
         -e trace=io_uring_setup -e inject=io_uring_setup:error=EPERM \
         {} run study.toml --yes --out record",
        env!("CARGO_BIN_EXE_ioproof")
    );
    let program = Program::new("unshare").args(["--mount", "sh", "-c", &script]).current_dir(desk.path(""));
    let failed = run(&program).expect_code(4);
    assert_says(&failed.stderr, &["kernel.io_uring_disabled = 2", "sysctl kernel.io_uring_disabled=0"]);
}

fn namespaces() -> Result<(), String> {
    let there = std::path::Path::new("/proc/sys/kernel/io_uring_disabled").exists();
    let works = Program::new("unshare").args(["--mount", "true"]).run();
    match works {
        Ok(finished) if there && finished.code == Some(0) => Ok(()),
        _ => Err("needs mount namespaces and kernel.io_uring_disabled".to_owned()),
    }
}
