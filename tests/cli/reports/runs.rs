//! `ioproof runs`: the list of records, tags, removal, and a figure over time.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use testbed::Program;

use crate::desk::{Desk, assert_says, at_terminal, names, run, tree};

const STUDY: &str = "[study]\ntitle = \"Nightly\"\n[protocol]\nrepetitions = 1\n[[target]]\nname = \"t\"\ndirectory = \"data\"\n\
    [[workload]]\nname = \"reads\"\nphases = [\"read\"]\nfill = true\ntransfer = \"1MiB\"\nsize = \"64MiB\"\n\
    direct = true\nduration = \"2s\"\n";

/// A disk of which a read takes `micros`, with 2 % noise from run to run.
fn model(micros: u32) -> String {
    format!(
        "model = {{ name = \"disk\", noise = 0.02 }}\nnode = {{ processors = 4 }}\n[[device]]\nname = \"disk\"\nslots = 1\n\
         read = {{ time = \"{micros}us\" }}\nwrite = {{ time = \"1ms\" }}\n[[layout]]\nname = \"fs\"\n\
         devices = \"disk\"\n"
    )
}

/// A desk with the records of `nights` in `runs`, each with the time of a read.
fn nights(nights: &[u32]) -> Desk {
    let desk = Desk::new();
    fs::write(desk.path("study.toml"), STUDY).expect("a study");
    for (number, micros) in nights.iter().enumerate() {
        let seed = number + 100;
        fs::write(desk.path("model.toml"), model(*micros)).expect("a model");
        let words =
            format!("run study.toml --model model.toml --quiet --seed {seed} --out runs/night-{number:02}");
        let _ = run(&desk.ioproof(&words)).expect_code(0);
    }
    desk
}

fn json(program: &Program) -> Value {
    serde_json::from_str(&run(program).expect_code(0).stdout).expect("JSON")
}

/// The names of the runs that `words` select.
fn listed(desk: &Desk, words: &str) -> Vec<String> {
    let list = json(&desk.ioproof(&format!("runs runs --json {words}")));
    let runs = list["runs"].as_array().expect("a list").iter();
    runs.map(|one| one["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn runs_are_listed_filtered_and_tagged() {
    let desk = nights(&[1000, 1000, 1000]);
    fs::write(desk.path("runs/notes.txt"), "x").expect("a file");
    fs::create_dir(desk.path("runs/begun")).expect("a directory");
    fs::write(desk.path("runs/begun/manifest.json"), "{").expect("a file");
    let text = run(&desk.ioproof("runs runs")).expect_code(0).stdout;
    assert_says(
        &text,
        &["night-00", "Nightly", "complete", "simulated", "begun", "unreadable", "4 runs", "1 other file"],
    );
    assert_eq!(listed(&desk, ""), ["begun", "night-00", "night-01", "night-02"]);
    let before = tree(&desk.path("runs/night-01"));
    let tagged =
        run(&desk.ioproof("runs runs --run night-01 --set-tag baseline --set-tag v1.2")).expect_code(0);
    assert_says(&tagged.stdout, &["set baseline, v1.2 of 1 run"]);
    assert_eq!(tree(&desk.path("runs/night-01")), before, "a record is not changed");
    for (words, names) in [
        ("--state complete", &["night-00", "night-01", "night-02"][..]),
        ("--last 2", &["night-01", "night-02"]),
        ("--tag baseline", &["night-01"]),
        ("--tag v1", &[]),
        ("--study ight --last 1", &["night-02"]),
        ("--study N*tly --state damaged", &[]),
        ("--study other", &[]),
        ("--since 2020-01-01 --until 2021-01-01", &[]),
        ("--since 2020-01-01 --tag v1.2", &["night-01"]),
        ("--host nobody", &[]),
        ("--host * --last 1", &["night-02"]),
        ("--run night-00 --run night-02", &["night-00", "night-02"]),
    ] {
        assert_eq!(listed(&desk, words), names, "{words}");
    }
    let csv = run(&desk.ioproof("runs runs --format csv --tag baseline")).expect_code(0).stdout;
    assert_eq!(csv.lines().count(), 2, "{csv}");
    assert_says(&csv, &["night-01", "baseline v1.2"]);
    let _ = run(&desk.ioproof("runs runs --remove-tag v1.2")).expect_code(0);
    assert_eq!(listed(&desk, "--tag v1.2"), [] as [&str; 0]);
    // A record is a list of itself, and knows its tags.
    let one = json(&desk.ioproof("runs runs/night-01 --json"));
    assert_eq!(one["runs"][0]["tags"][0], "baseline");
    for (words, code, told) in [
        ("runs nowhere", 7, "No such file"),
        ("runs runs --set-tag two,words", 2, "a tag is one word"),
        ("runs runs --since yesterday", 2, "write a date"),
        ("runs runs --run night-07", 2, "night-07"),
        ("runs runs --format html", 2, "add --figure"),
        ("runs runs --figure read.speed", 2, "speed"),
        ("runs runs --prune", 2, "say which runs"),
    ] {
        assert_says(&run(&desk.ioproof(words)).expect_code(code).stderr, &[told]);
    }
    fs::create_dir(desk.path("empty")).expect("a directory");
    assert_says(&run(&desk.ioproof("runs empty")).expect_code(0).stdout, &["No record of a run is in empty"]);
}

/// Thirty nights, of which the last five are 6 % slower.
#[test]
fn the_night_from_which_on_runs_were_slower_is_named() {
    let times: Vec<u32> = (0..30).map(|night| if night < 25 { 1000 } else { 1064 }).collect();
    let desk = nights(&times);
    let text = run(&desk.ioproof("runs runs --figure read.rate")).expect_code(0).stdout;
    assert_says(&text, &["SIMULATED by model disk", "The level changed with run night-25"]);
    let found = json(&desk.ioproof("runs runs --figure read.latency --json"));
    let series = found["series"].as_array().expect("a list");
    assert_eq!((series.len(), series[0]["runs"].as_array().map(Vec::len)), (1, Some(30)));
    let change = &series[0]["changes"][0];
    assert_eq!((change["name"].as_str(), &series[0]["unit"]), (Some("night-25"), &"ns".into()));
    assert!((change["change"].as_f64().expect("a number") - 0.064).abs() < 0.03, "{change}");
    let csv = run(&desk.ioproof("runs runs --figure read.rate --format csv")).expect_code(0).stdout;
    assert_eq!(csv.lines().count(), 31);
    let page = "runs runs --figure read.rate --format html --output page.html";
    assert_says(&run(&desk.ioproof(page)).expect_code(0).stdout, &["wrote page.html"]);
    let page = fs::read_to_string(desk.path("page.html")).expect("a page");
    assert_says(
        &page,
        &["default-src 'none'", "night-25", "id=\"library\"", "The level changed with run night-25"],
    );
    assert!(!page.contains("src=\"http"), "the page needs no network");
    // The nights before show no change, and few nights cannot.
    let before = run(&desk.ioproof("runs runs --figure read.rate --until 2021-01-01")).expect_code(2);
    assert_says(&before.stdout, &["No run is selected"]);
    let few = run(&desk.ioproof("runs runs --figure read.rate --last 10")).expect_code(0).stdout;
    assert_says(&few, &["No change of level can be shown by 10 runs"]);
    let none = run(&desk.ioproof("runs runs --figure write.rate")).expect_code(2).stdout;
    assert_says(&none, &["30 runs have no write.rate"]);
}

fn left(desk: &Desk) -> Vec<String> {
    names(&desk.path("runs")).into_iter().filter(|name| !name.contains("tags")).collect()
}

#[test]
fn runs_are_removed_after_a_question_and_protected_ones_by_name_only() {
    let desk = nights(&[1000; 5]);
    let _ = run(&desk.ioproof("runs runs --run night-00 --set-tag keep")).expect_code(0);
    fs::write(desk.path("runs/night-01/notes.txt"), "x").expect("a file");
    let all = left(&desk);
    let asked = run(&desk.ioproof("runs runs --prune --keep-last 2")).expect_code(3).stdout;
    let told = [
        "it has the tag keep",
        "notes.txt is not part of a record",
        "to remove: runs/night-02",
        "nothing was removed",
    ];
    assert_says(&asked, &told);
    assert_eq!(left(&desk), all);
    let _ = at_terminal(&desk.ioproof("runs runs --prune --keep-last 2"), "n\\n").expect_code(3);
    assert_eq!(left(&desk), all);
    let _ = at_terminal(&desk.ioproof("runs runs --prune --keep-last 2"), "y\\n").expect_code(0);
    assert_eq!(left(&desk), ["night-00", "night-01", "night-03", "night-04"]);
    // A record that is named twice is one, and is not removed in place of another.
    let twice =
        run(&desk.ioproof("runs runs runs/ runs/night-04 --prune --keep-last 4 --yes")).expect_code(0);
    assert_says(&twice.stdout, &["kept: the newest 4 runs"]);
    assert_eq!(left(&desk), ["night-00", "night-01", "night-03", "night-04"]);
    let _ = run(&desk.ioproof("runs runs --prune --state complete --yes")).expect_code(0);
    assert_eq!(left(&desk), ["night-00", "night-01"]);
    // The tag is gone with the run.
    let _ = run(&desk.ioproof("runs runs --prune --run night-00 --yes")).expect_code(0);
    assert_eq!(left(&desk), ["night-01"]);
    assert!(!fs::read_to_string(desk.path("runs/ioproof-tags.json")).expect("tags").contains("keep"));
    // A removal that was killed is ended.
    fs::remove_file(desk.path("runs/night-01/notes.txt")).expect("removed");
    fs::rename(desk.path("runs/night-01"), desk.path("runs/.night-01.pruned")).expect("moved");
    assert_says(&run(&desk.ioproof("runs runs")).expect_code(0).stdout, &["1 record is half removed"]);
    // Nothing goes without a question.
    let _ = run(&desk.ioproof("runs runs --prune --keep-last 1")).expect_code(3);
    assert!(desk.path("runs/.night-01.pruned").exists());
    let ended = run(&desk.ioproof("runs runs --prune --keep-last 1 --yes")).expect_code(0).stdout;
    assert_says(&ended, &["to remove: runs/.night-01.pruned", "the rest of 1 run"]);
    assert!(!desk.path("runs/.night-01.pruned").exists());
    assert_eq!(left(&desk), [] as [&str; 0]);
}

#[test]
fn lost_or_unwritten_tags_protect_no_less() {
    let desk = nights(&[1000; 2]);
    let tags: PathBuf = desk.path("runs/ioproof-tags.json");
    // No file can be written.
    let full = desk.after("ulimit -f 0", "runs runs --set-tag keep");
    let _ = run(&full).expect_code(7);
    assert!(!tags.exists());
    assert_eq!(listed(&desk, "").len(), 2);
    let _ = run(&desk.ioproof("runs runs --set-tag keep")).expect_code(0);
    let text = fs::read_to_string(&tags).expect("tags");
    let _ = run(&desk.after("ulimit -f 0", "runs runs --remove-tag keep")).expect_code(7);
    assert_eq!(fs::read_to_string(&tags).expect("tags"), text);
    for other in [Some(text.replacen("keep", "kept", 1)), Some(String::new()), None] {
        match other {
            Some(other) => fs::write(&tags, other).expect("changed"),
            None => fs::remove_file(&tags).expect("removed"),
        }
        for words in ["runs runs", "runs runs --prune --state complete --yes", "runs runs --set-tag more"] {
            assert_says(&run(&desk.ioproof(words)).expect_code(7).stderr, &["ioproof-tags.json", "backup"]);
        }
        assert_eq!(left(&desk), ["night-00", "night-01"]);
    }
}
