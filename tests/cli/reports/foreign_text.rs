//! Untrusted text on the terminal: in a record, in a file name, on the command line, in a study.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use testbed::Finished;

use crate::desk::{Desk, assert_says, run};

/// A terminal title, clearing the screen, a new line, reversed text direction, a formula, markup.
const NASTY: &str = "=cmd|' /C calc'!A0\",\"\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}2J\r\nioproof: PASS\u{202e}|<script>alert(1)</script>";

/// Words of the format that must stay unchanged for a record to be readable.
const KEYS: [&str; 11] = [
    "title",
    "node",
    "operating_system",
    "known",
    "unknown",
    "command_line",
    "batch_job",
    "library",
    "directory",
    "program_version",
    "targets",
];

/// Puts [`NASTY`] before every text below one of [`KEYS`].
fn doctor(value: &mut Value, below: bool) {
    match value {
        Value::String(text) if below => text.insert_str(0, NASTY),
        Value::Array(items) => items.iter_mut().for_each(|item| doctor(item, below)),
        Value::Object(fields) => {
            fields.iter_mut().for_each(|(key, field)| doctor(field, KEYS.contains(&key.as_str())));
        }
        _ => {}
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("a directory");
    for entry in fs::read_dir(from).expect("the fixture") {
        let entry = entry.expect("an entry");
        let place = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &place);
        } else {
            fs::copy(entry.path(), place).map(|_| ()).expect("copied");
        }
    }
}

/// A record with untrusted text in it.
fn record(desk: &Desk) -> PathBuf {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/record/tests/fixtures/version-4");
    let record = desk.record();
    copy(&fixture, &record);
    for name in ["manifest.json", "journal.jsonl"] {
        let text = fs::read_to_string(record.join(name)).expect("the fixture");
        let values = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
        let lines = values.map(|value| {
            let mut value = value.expect("JSON");
            doctor(&mut value, false);
            format!("{value}\n")
        });
        fs::write(record.join(name), lines.collect::<String>()).expect("written");
    }
    record
}

/// The output contains no terminal control sequences, and no line of it comes from the untrusted text.
fn assert_harmless(what: &str, finished: &Finished) {
    for text in [&finished.stdout, &finished.stderr] {
        let found = text
            .replace("\r\n", "\n")
            .chars()
            .find(|one| *one != '\n' && *one != '\t' && plan::is_hidden(*one));
        assert_eq!(found.map(|one| one.escape_unicode().to_string()), None, "{what}: {text}");
        assert!(!text.lines().any(|line| line.starts_with("ioproof: PASS")), "{what}: {text}");
    }
}

#[test]
fn no_text_of_a_record_acts_on_the_terminal() {
    let desk = Desk::new();
    let record = record(&desk);
    for words in [
        "report",
        "verdict",
        "verdict --json",
        "check",
        "check --json",
        "history",
        "history --csv",
        "compare record",
    ] {
        let finished = run(&desk.ioproof(words).arg(&record));
        assert!(matches!(finished.code, Some(0 | 8)), "{words}: {}", finished.stderr);
        assert_harmless(words, &finished);
    }
    let told = run(&desk.ioproof("report record")).expect_code(0).stdout;
    assert_says(&told, &["\\u{1b}]0;x\\u{7}\\u{1b}[2J", "\\u{202e}|<script>"]);
    for form in ["md", "csv", "json", "openmetrics"] {
        let finished = run(&desk.ioproof("report record --format").arg(form)).expect_code(0);
        assert_harmless(form, &finished);
    }
    let resumed = run(&desk.ioproof("run --resume record"));
    assert_harmless("resume", &resumed);
}

#[test]
fn no_argument_or_name_of_a_file_acts_on_the_terminal() {
    let desk = Desk::new();
    let name = "a\u{1b}[2J\nioproof: PASS";
    for (words, last) in [
        ("report", name),
        ("report --format", name),
        ("run", name),
        ("import", name),
        ("ior -w -t 4k -b 4k -o", "no/a\u{1b}[2J\nioproof: PASS"),
    ] {
        let finished = run(&desk.ioproof(words).arg(last));
        assert_harmless(words, &finished);
        assert!(!finished.stderr.is_empty(), "{words}");
    }
    let _ = run(&desk.ioproof("ior -w -k -t 4k -b 4k -o").arg(name)).expect_code(0);
    assert!(desk.path(name).exists(), "the file has the name that was asked for");
}

#[test]
fn the_lines_of_a_study_do_not_act_on_the_terminal() {
    let desk = Desk::new();
    let text = "[[target]]\nname = \"t\"\npath = \"x\" # \u{202e}\u{9b}2J\n[[workload]]\nname = \"w\"\ntransfre = \"4k\"\n";
    fs::write(desk.path("study.toml"), text).expect("a study");
    let refused = run(&desk.ioproof("run study.toml --explain")).expect_code(2);
    assert_harmless("a misspelt key", &refused);
    let text = "[study]\ntitle = \"a\\u001b[2J\"\n[[target]]\nname = \"t\"\npath = \"x\"\n\
                [[workload]]\nname = \"w\"\ntransfer = \"4k\"\nsize = \"4k\"\n";
    fs::write(desk.path("study.toml"), text).expect("a study");
    let refused = run(&desk.ioproof("run study.toml --explain")).expect_code(2);
    assert_harmless("a title", &refused);
    assert_says(&refused.stderr, &["study.toml:2:9", "\\u{1b}"]);
}
