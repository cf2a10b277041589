//! Defaults from files and the environment: what they set, what they never set, and what is said of mistakes.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use testbed::Program;

use crate::desk::{Desk, assert_says, names, run};

/// The program with the user's file of defaults, and no other.
fn with(desk: &Desk, text: &str, words: &str) -> Program {
    let path = desk.path("mine.toml");
    fs::write(&path, text).expect("written");
    fs::set_permissions(&path, Permissions::from_mode(0o644)).expect("permissions");
    desk.ioproof(words).env("IOPROOF_CONFIG", &path)
}

const QUICK: &str = "run --yes --set duration=20ms --set repetitions=1 --set size=16MiB --quick data";

#[test]
fn later_sources_win_and_config_says_which() {
    let (desk, _) = Desk::with_data();
    let text = "# of this site\nrecords = \"of-file\"\nquiet = true\n";
    let shown = run(&with(&desk, text, "config")).expect_code(0).stdout;
    assert_says(
        &shown,
        &["records", "of-file", "mine.toml:2", "quiet", "true", "mine.toml:3", "the program"],
    );
    let other = with(&desk, text, "config").env("IOPROOF_RECORDS", "of-variable");
    assert_says(&run(&other).expect_code(0).stdout, &["of-variable", "IOPROOF_RECORDS"]);

    let quiet = run(&with(&desk, text, QUICK)).expect_code(0);
    assert!(!quiet.stderr.contains("record "), "{}", quiet.stderr);
    assert_eq!(names(&desk.path("of-file")).len(), 1);
    let loud = run(&with(&desk, text, QUICK).arg("--quiet=false").env("IOPROOF_RECORDS", "of-variable"));
    let loud = loud.expect_code(0);
    assert_says(&loud.stderr, &["record of-variable/"]);
    let _ = run(&with(&desk, text, QUICK).arg("--out").arg(desk.record())).expect_code(0);
    let manifest = fs::read_to_string(desk.record().join("manifest.json")).expect("the manifest");
    assert!(manifest.contains("mine.toml:3") && !manifest.contains("mine.toml:2"), "{manifest}");
}

#[test]
fn a_tool_takes_the_directory_of_records_and_nothing_else() {
    let (desk, _) = Desk::with_data();
    let text = "records = \"of-file\"\nquiet = true\n";
    let wrote = run(&with(&desk, text, "ior -w -t 64k -b 64k -o data/file")).expect_code(0);
    assert_says(&wrote.stderr, &["record of-file/"]);
    let record = names(&desk.path("of-file")).pop().expect("a record");
    let shown = run(&desk.ioproof("report --format json").arg(desk.path("of-file").join(record)));
    let report: serde_json::Value = serde_json::from_str(&shown.expect_code(0).stdout).expect("JSON");
    let taken = report["run"]["defaults"].as_array().expect("the defaults");
    assert_eq!(taken.len(), 1, "{taken:?}");
    assert_eq!((&taken[0]["key"], &taken[0]["value"]), (&"records".into(), &"of-file".into()));
}

#[test]
fn consent_and_signatures_are_never_defaults() {
    let (desk, data) = Desk::with_data();
    for key in [
        "yes = true",
        "destroy-data-on = \"/dev/sda\"",
        "allow_commands = \"x\"",
        "sign = \"k\"",
        "nonce = \"w\"",
    ] {
        let refused = run(&with(&desk, &format!("quiet = true\n{key}\n"), QUICK)).expect_code(2);
        assert_says(&refused.stderr, &["mine.toml:2", "cannot be a default", "give --"]);
    }
    let refused = run(&desk.ioproof(QUICK).env("IOPROOF_YES", "1")).expect_code(2);
    assert_says(&refused.stderr, &["IOPROOF_YES is set", "unset it"]);
    assert_eq!(names(&data), ["mine"], "nothing was written");
}

#[test]
fn mistakes_are_named_with_file_and_line_before_anything_is_written() {
    let (desk, data) = Desk::with_data();
    for (text, told) in [
        ("recrods = \"x\"", "did you mean `records`?"),
        ("colour = \"red\"", "the keys are records, quiet"),
        ("quiet = \"perhaps\"", "invalid value 'perhaps'"),
        ("records = 3 4", "not TOML"),
        ("[records]", "`records` takes one value"),
        ("quiet = true\nquiet = false", "not TOML"),
    ] {
        let refused = run(&with(&desk, text, QUICK)).expect_code(2);
        assert_says(&refused.stderr, &["mine.toml", told]);
        let _ = run(&with(&desk, text, "config")).expect_code(2);
    }
    let long = format!("#{}", "x".repeat(1 << 17));
    assert_says(&run(&with(&desk, &long, QUICK)).expect_code(2).stderr, &["at most 65536 bytes"]);
    fs::write(desk.path("bytes.toml"), b"quiet = true\n# \xff\n").expect("written");
    let refused = run(&desk.ioproof("config").env("IOPROOF_CONFIG", desk.path("bytes.toml"))).expect_code(2);
    assert_says(&refused.stderr, &["bytes.toml, line 2", "not UTF-8"]);
    for special in ["data", "/dev/zero"] {
        let refused = run(&desk.ioproof(QUICK).env("IOPROOF_CONFIG", special)).expect_code(4);
        assert_says(&refused.stderr, &[special, "not a regular file"]);
    }
    let refused = run(&desk.ioproof("config").env("IOPROOF_QUIET", "perhaps")).expect_code(2);
    assert_says(&refused.stderr, &["IOPROOF_QUIET", "perhaps", "unset the variable"]);
    assert_eq!(names(&data), ["mine"], "nothing was written");
}

#[test]
fn files_are_found_by_the_rules_of_base_directories() {
    let (desk, _) = Desk::with_data();
    fs::create_dir_all(desk.path("home/.config")).expect("a directory");
    fs::create_dir_all(desk.path("xdg")).expect("a directory");
    fs::write(desk.path("home/.config/ioproof.toml"), "account = \"of-home\"").expect("written");
    fs::write(desk.path("real.toml"), "account = \"of-xdg\"").expect("written");
    for file in ["home/.config/ioproof.toml", "real.toml"] {
        fs::set_permissions(desk.path(file), Permissions::from_mode(0o644)).expect("permissions");
    }
    symlink(desk.path("real.toml"), desk.path("xdg/ioproof.toml")).expect("a link");
    let config = || desk.with_files_of_defaults("config").env("HOME", desk.path("home"));
    let shown = run(&config().env("XDG_CONFIG_HOME", "")).expect_code(0).stdout;
    assert_says(&shown, &["of-home", "home/.config/ioproof.toml:1"]);
    let shown = run(&config().env("XDG_CONFIG_HOME", desk.path("xdg"))).expect_code(0).stdout;
    assert_says(&shown, &["of-xdg", "xdg/ioproof.toml:1"]);
    let shown = run(&config().env("XDG_CONFIG_HOME", "relative")).expect_code(0).stdout;
    assert_says(&shown, &["of-home"]);
}

#[test]
fn looking_at_results_depends_on_no_file() {
    let desk = Desk::new();
    let wrong = "yes = true";
    for words in ["verify nothing", "verdict nothing", "report nothing"] {
        let refused = run(&with(&desk, wrong, words));
        assert!(!refused.stderr.contains("mine.toml"), "{}", refused.stderr);
    }
    let _ = run(&with(&desk, wrong, "run --help")).expect_code(0);
}

#[test]
fn a_record_beside_what_is_measured_is_named_before_and_in_the_record() {
    let (desk, _) = Desk::with_data();
    let finished = run(&desk.ioproof(QUICK).arg("--out").arg(desk.record())).expect_code(0);
    assert_says(
        &finished.stdout,
        &["! the record is on ", "like the target data", "give --out", "docs/CONFIG.md"],
    );
    let journal = fs::read_to_string(desk.record().join("journal.jsonl")).expect("the journal");
    assert!(journal.contains("record-on-target"), "{journal}");
    let explained = run(&desk.ioproof("run --explain --quick data")).expect_code(0).stdout;
    assert_says(&explained, &["the record is on "]);
}
