//! What somebody tries first: `doctor`, `--version`, man pages, completions.

use std::fs;

use crate::desk::{Desk, assert_says, run, tree};

/// The line of `doctor` about `what`, after its mark.
fn line<'t>(text: &'t str, mark: &str, what: &str) -> &'t str {
    let found =
        text.lines().find(|line| line.starts_with(mark) && line[mark.len()..].trim_start().starts_with(what));
    found.unwrap_or_else(|| panic!("no `{mark} {what}` in\n{text}"))
}

#[test]
fn doctor_says_what_is_possible_and_leaves_nothing() {
    let (desk, _) = Desk::with_data();
    let before = tree(&desk.path("."));
    let told = run(&desk.ioproof("doctor data")).expect_code(0).stdout;
    for what in ["program", "host", "directory", "quick run"] {
        let _ =
            told.lines().find(|line| line.contains(what)).unwrap_or_else(|| panic!("no {what} in\n{told}"));
    }
    assert_says(line(&told, "ok", "quick run"), &["possible"]);
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(&words, &["ioproof run --quick data"]);
    assert!(told.lines().count() < 20, "{told}");
    assert_eq!(tree(&desk.path(".")), before, "something was written: {told}");
}

#[test]
fn doctor_ends_with_4_where_nothing_can_be_measured() {
    let desk = Desk::new();
    fs::write(desk.path("file"), "x").expect("written");
    for (place, why) in [
        ("missing", "mkdir -p"),
        ("file", "is a regular file, not a directory"),
        ("/proc", "cannot store files"),
    ] {
        let told = run(&desk.ioproof(&format!("doctor {place}"))).expect_code(4).stdout;
        let (_, after) = told.split_once("lacks  quick run").unwrap_or_else(|| panic!("{told}"));
        let words = after.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(why), "{place}: {told}");
    }
}

#[test]
fn doctor_finds_the_same_by_any_name_of_the_directory() {
    let (desk, _) = Desk::with_data();
    let told = |place: &str| {
        let told = run(&desk.ioproof(&format!("doctor {place}"))).expect_code(0).stdout;
        // The free space and the time of a reading change meanwhile, and the last line has the name as given.
        let is_same = |line: &&str| {
            ["MPI", "direct I/O", "counters", "settings"].iter().any(|what| line.contains(what))
        };
        told.lines().filter(is_same).map(str::to_owned).collect::<Vec<_>>()
    };
    let whole = desk.path(".").canonicalize().expect("a directory").display().to_string();
    assert_eq!(told("."), told(&whole), "`.` is no device");
}

#[test]
fn doctor_says_that_no_record_can_be_made() {
    let (desk, _) = Desk::with_data();
    fs::write(desk.path("records"), "a file").expect("written");
    let told = run(&desk.ioproof("doctor data").env("IOPROOF_RECORDS", "records")).expect_code(4).stdout;
    assert_says(line(&told, "lacks", "quick run"), &["read records/", "Not a directory"]);
}

#[test]
fn the_version_says_what_was_built() {
    let told = run(&Desk::new().ioproof("--version")).expect_code(0).stdout;
    assert_says(&told, &["ioproof 0.", "(commit ", "-linux-", "features: "]);
}

#[test]
fn man_pages_and_completions_are_printed() {
    let desk = Desk::new();
    for (words, expected) in [
        ("man", concat!(".TH ioproof 1  \"ioproof ", env!("CARGO_PKG_VERSION"), "\"")),
        ("man host facts", ".TH ioproof-host-facts "),
        ("man ior", ".TH ioproof-ior "),
        ("man mdtest", ".TH ioproof-mdtest "),
        ("completions bash", "complete -F _ioproof"),
        ("completions zsh", "#compdef ioproof"),
        ("completions fish", "complete -c ioproof"),
    ] {
        let told = run(&desk.ioproof(words)).expect_code(0).stdout;
        assert!(told.contains(expected), "{words}: {}", &told[..told.len().min(200)]);
    }
    let told = run(&desk.ioproof("man host nothing")).expect_code(2).stderr;
    assert_says(&told, &["`nothing` is no command of host", "facts"]);
    let _ = run(&desk.ioproof("completions ksh")).expect_code(2);
}
