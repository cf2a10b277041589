//! Studies that are scaled to a budget of time and space.

use std::fs;

use crate::desk::{Desk, assert_says, run};

const STUDY: &str = "[protocol]\nrepetitions = 5\n\
    [[target]]\nname = \"disk\"\ndirectory = \"data\"\n\
    [[workload]]\nname = \"stream\"\ntransfer = \"1MiB\"\nsize = \"64MiB\"\ntasks = [1, 2, 4]\n\
    [[commitment]]\nname = \"streams\"\nphase = \"write\"\nstatistic = \"median\"\nbandwidth_at_least = \"1B/s\"\n\
    [[claim]]\nid = \"own\"\ntext = \"Reads are faster.\"\nleft = { phase = \"read\", at = { tasks = 4 } }\n\
    relation = \"greater\"\nright = { phase = \"write\", at = { tasks = 4 } }\n";

/// A desk with [`STUDY`].
fn desk() -> Desk {
    let (desk, _) = Desk::with_data();
    fs::write(desk.path("study.toml"), STUDY).expect("a study");
    desk
}

#[test]
fn a_budget_that_cannot_be_met_names_the_least_that_works() {
    let desk = desk();
    let refused = |words: &str| run(&desk.ioproof(&format!("run study.toml {words}"))).expect_code(2).stderr;
    let small = refused("--time 1s --space 4KiB");
    assert_says(
        &small,
        &["cannot be scaled to 1 s and 4 KiB", "the least that works is --time", "--space 16MiB"],
    );
    assert_says(&refused("--space 4KiB --explain"), &["the least that works is --time", "--space 16MiB"]);
    assert_says(&refused("--tasks 0"), &["--tasks <N>", "0 is not in 1.."]);
    assert_says(&refused("--time abc"), &["--time <TIME>", "abc"]);
    assert_says(&refused("--space 0"), &["--space <SIZE>"]);
    for (before, option) in [("run --quick data", "--time 1min"), ("run --resume record", "--space 1MiB")] {
        let refused = run(&desk.ioproof(&format!("{before} {option}"))).expect_code(2).stderr;
        assert_says(&refused, &["cannot be used with"]);
    }
    assert!(!desk.record().exists() && !desk.path("ioproof-runs").exists(), "nothing was started");
}

#[test]
fn what_is_given_up_is_said_before_the_run() {
    let desk = desk();
    let shown = |words: &str| run(&desk.ioproof(&format!("run study.toml {words}"))).expect_code(0).stdout;
    let brief = shown("--space 32MiB --tasks 2 --explain");
    assert_says(
        &brief,
        &[
            "scaled to 32 MiB and 2 tasks: 2 of 3 points, sizes ÷ 2",
            "commitment `streams` cannot be told: one of its 3 figures was given up",
            "claim `own` cannot be told: 2 of its 2 figures were given up",
        ],
    );
    assert!(!brief.contains("workload.stream.size"), "{brief}");
    let full = shown("--space 32MiB --tasks 2 --explain --full");
    assert_says(&full, &["changed workload.stream.size=32MiB"]);
    assert!(!shown("--explain").contains("scaled"), "a study that is not scaled says nothing of it");
    assert!(!shown("--explain --time 9h").contains("scaled"), "one that fits runs as it says");
}

#[test]
fn a_scaled_run_says_so_in_its_record_and_judges_nothing_on_something_else() {
    let desk = desk();
    let words = "run study.toml --yes --out record --verdict --space 16MiB --tasks 2";
    let finished = run(&desk.ioproof(words)).expect_code(8);
    let line = "scaled to 16 MiB and 2 tasks: 2 of 3 points, sizes ÷ 4";
    assert_says(&finished.stdout, &[line, "NOT TESTED", "streams"]);
    let report = run(&desk.ioproof("report record --format json")).expect_code(0).stdout;
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report["run"]["scaled"]["line"], line);
    assert_eq!(report["run"]["scaled"]["settings"][0], "workload.stream.size=16MiB");
    let why = ["one of its 3 figures was given up", "2 of its 2 figures were given up"];
    let full = desk.tables();
    assert_says(&full, &["What was given up", why[0], why[1], "--set workload.stream.size=16MiB"]);
    assert_eq!(full.matches("not tested").count(), 1, "the claim: {full}");
    let manifest = fs::read_to_string(desk.record().join("manifest.json")).expect("a manifest");
    assert_says(&manifest, &["\"scaling\"", "\"untold\""]);
    let again = run(&desk.ioproof("verdict record")).expect_code(8).stdout;
    assert_says(&again, &[why[0]]);
}

#[test]
fn batch_takes_the_same_budget_and_passes_it_on() {
    let desk = desk();
    let made =
        "batch study.toml --slurm --out jobs --space 32MiB --tasks 2 --expect write=1GB/s --wall-time 2h";
    let said = run(&desk.ioproof(made)).expect_code(0).stdout;
    assert_says(&said, &["scaled to 32 MiB and 2 tasks: 2 of 3 points, sizes ÷ 2"]);
    let script = fs::read_to_string(desk.path("jobs/run.sh")).expect("a script");
    assert_says(
        &script,
        &["--space 32MiB", "--tasks 2", "--expect write=1000000000B/s", "#SBATCH --time=02:00:00"],
    );
    let refused =
        run(&desk.ioproof("batch study.toml --slurm --out more --space 4KiB")).expect_code(2).stderr;
    assert_says(&refused, &["the least that works is --time", "--space 16MiB"]);
    for command in ["run", "batch"] {
        let help = run(&desk.ioproof(&format!("{command} --help"))).expect_code(0).stdout;
        assert_says(&help, &["--time <TIME>", "Give up the points on more than N nodes", "exactly N nodes"]);
    }
}

#[test]
fn studies_are_listed_by_purpose_with_their_cost() {
    let desk = Desk::new();
    let list = run(&desk.ioproof("studies")).expect_code(0).stdout;
    for title in ["One disk or directory", "Shared storage and nodes", "Published studies", "Acceptance"] {
        let line =
            list.lines().find(|line| line.starts_with(title)).unwrap_or_else(|| panic!("{title}: {list}"));
        assert!(line.ends_with("time     space  needs"), "{line}");
    }
    let row = |name: &str| {
        let starts = |line: &&str| line.split_whitespace().next() == Some(name);
        list.lines().find(starts).unwrap_or_else(|| panic!("{name}: {list}")).to_owned()
    };
    assert_says(&row("weak-scaling"), &["TiB", "16 nodes"]);
    assert_says(&row("cuny-uv300"), &["root, 12 devices, 7 layouts"]);
    assert_says(&list, &["--time 10min --space 10GiB"]);
    let longest = list.lines().map(|line| line.chars().count()).max().expect("lines");
    assert!(longest <= 80, "{longest} columns: {list}");
}
