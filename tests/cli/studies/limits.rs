//! Process limits that are too low for a plan.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;

use testbed::Program;

use crate::desk::{Desk, assert_says, names, run};

#[test]
fn too_few_open_files_are_told_with_what_would_do() {
    let desk = Desk::new();
    let failed =
        run(&desk.after("ulimit -n 20", "ior -w -F -N 64 -t 4k -b 4k -o f --out record")).expect_code(4);
    assert_says(&failed.stderr, &["open files", "is 20", "the plan needs", "ulimit -n"]);
    assert_eq!(names(&desk.path("")), [""; 0], "nothing was touched");
}

/// A user to whom limits apply; they do not apply to root.
const NOBODY: u32 = 65_534;

/// The program as an unprivileged user, started from a copy on the desk, since that user may not have access to the
/// built binary.
fn as_nobody(desk: &Desk, limits: &str, words: &str) -> Option<Program> {
    let own: PathBuf = desk.path("ioproof");
    fs::copy(env!("CARGO_BIN_EXE_ioproof"), &own).expect("a copy");
    fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).expect("may be run");
    if !cfg!(target_os = "linux") || chown(desk.path(""), Some(NOBODY), Some(NOBODY)).is_err() {
        return None;
    }
    let user = ["--reuid", "65534", "--regid", "65534", "--clear-groups", "prlimit"];
    // The home directory stays that of root, into which nobody else may look; its file of defaults is not missed.
    let program = Program::new("setpriv").args(user).args(limits.split_whitespace()).arg(own);
    Some(program.args(words.split_whitespace()).current_dir(desk.path("")))
}

#[test]
fn too_little_locked_memory_is_told_with_what_would_do() {
    let desk = Desk::new();
    let study = "[[target]]\nname = \"t\"\npath = \"f\"\n[[workload]]\nname = \"w\"\ntransfer = \"64k\"\n\
                 size = \"16m\"\ndepth = 32\nbackend = \"uring\"\n";
    fs::write(desk.path("study.toml"), study).expect("a study");
    let Some(program) = as_nobody(&desk, "--memlock=65536", "run study.toml --yes --out record") else {
        testbed::skipped(Err("needs root, to be another user".to_owned()));
        return;
    };
    let failed = run(&program).expect_code(4);
    assert_says(&failed.stderr, &["locked memory", "65536", "ulimit -l"]);
    assert!(!desk.path("f").exists(), "nothing is left");
}

#[test]
fn a_directory_that_may_not_be_written_is_told() {
    let desk = Desk::new();
    let closed = desk.path("closed");
    fs::create_dir(&closed).expect("a directory");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).expect("closed");
    let line = "ior -w -t 4k -b 4k -o closed/f --out record";
    let Some(program) = as_nobody(&desk, "", line) else {
        testbed::skipped(Err("needs root, to be another user".to_owned()));
        return;
    };
    let failed = run(&program).expect_code(4);
    assert_says(&failed.stderr, &["closed", "no permission"]);
    assert!(!desk.record().exists() && names(&closed).is_empty());
}
