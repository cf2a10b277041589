//! Limits of changes: `ioproof compare --fail-if`, its exit codes and its forms, with one run or several on a side.

use std::fs;

use serde_json::Value;

use crate::desk::{Desk, assert_says, run};

const STUDY: &str = r#"
[protocol]
repetitions = 6
phase_min = "1ms"

[[target]]
name = "disk"
directory = "unused"

[[workload]]
name = "small"
transfer = "4KiB"
size = "16MiB"
order = "random"
direct = true
fill = true
phases = ["read"]
"#;

/// Records a run of the study on a device of this latency, whose rate differs by `noise` from pass to pass.
fn simulate(desk: &Desk, name: &str, seed: u32, micros: f64, noise: f64, study: &str) {
    let model = format!(
        "model = {{ name = \"a disk\", noise = {noise} }}\nnode = {{ processors = 4, request_time = \"1us\" }}\n\
         [[device]]\nname = \"disk\"\nread = {{ time = \"{micros:.2}us\" }}\nwrite = {{ time = \"{micros:.2}us\" }}\n\
         [[layout]]\nname = \"l\"\ndevices = \"disk\"\n"
    );
    fs::write(desk.path("model.toml"), model).expect("a model");
    fs::write(desk.path("study.toml"), study).expect("a study");
    let words = format!("run study.toml --model model.toml --seed {seed} --out {name}");
    let _ = run(&desk.ioproof(&words)).expect_code(0);
}

/// `base` and `same` of 100 µs, and `slow` of 120 µs.
fn desk() -> Desk {
    let desk = Desk::new();
    for (name, seed, micros) in [("base", 1, 100.0), ("same", 2, 100.0), ("slow", 3, 120.0)] {
        simulate(&desk, name, seed, micros, 0.005, STUDY);
    }
    desk
}

fn compare(desk: &Desk, runs: &str, limits: &[&str], more: &str, code: i32) -> testbed::Finished {
    let program = desk.ioproof(&format!("compare {runs} {more}"));
    let limits = limits.iter().flat_map(|limit| ["--fail-if", limit]);
    run(&program.args(limits)).expect_code(code)
}

#[test]
fn the_exit_code_says_within_worse_or_untold() {
    let desk = desk();
    let rate = ["read.rate drops by more than 5 %"];
    let within = compare(&desk, "base same", &rate, "", 0);
    assert_says(&within.stdout, &["The value is within the limit", "small read.rate", "-5.0 %"]);
    let worse = compare(&desk, "base slow", &rate, "", 8);
    assert_says(&worse.stdout, &["The value is worse than the limit"]);
    let _ = compare(&desk, "base slow", &["read.rate drops by more than 30 %"], "", 0);
    let _ = compare(&desk, "base slow", &["read.p99 rises by more than 5 %"], "", 8);
    let _ = compare(&desk, "slow base", &rate, "", 0);
    let untold = compare(&desk, "base slow", &["read.rate drops by more than 16.6 %"], "", 10);
    assert_says(&untold.stdout, &["It cannot be told whether the value", "passes a side"]);
    let allowed = compare(&desk, "base slow", &["read.rate drops by more than 16.6 %"], "--allow-untold", 0);
    assert_says(&allowed.stderr, &["--allow-untold"]);
    // Worse decides, whatever cannot be told.
    let both = ["read.rate drops by more than 16.6 %", "read.latency rises by more than 5 %"];
    let _ = compare(&desk, "base slow", &both, "--allow-untold", 8);
    // Without a limit the margin is 5 %, of rates and of mean latencies.
    let _ = compare(&desk, "base same", &[], "--verdict", 0);
    let all = compare(&desk, "base slow", &[], "--verdict", 8);
    assert_says(&all.stdout, &["2 of 2 values are worse", "small read.latency", "small read.rate"]);
    let _ = compare(&desk, "base slow", &[], "--margin 30", 0);
    // A limit of one's own does not take the others away.
    let _ = compare(&desk, "base slow", &["read.p99 rises by more than 50 %"], "--verdict", 8);
    // Nor does the same limit twice make another question.
    let twice = compare(&desk, "base slow", &[rate[0], rate[0]], "", 8);
    assert_says(&twice.stdout, &["The value is worse than the limit"]);
}

#[test]
fn a_mistake_in_a_limit_and_runs_that_cannot_differ_are_refused_with_their_place() {
    let desk = desk();
    let mistake = compare(&desk, "base slow", &["read.rate drops by more then 5 %"], "", 2);
    assert_says(&mistake.stderr, &["at character 25", "\"than\" is missing"]);
    let unknown = compare(&desk, "base slow", &["write.rate drops by more than 5 %"], "", 2);
    assert_says(&unknown.stderr, &["is about no figure", "small read.rate"]);
    let tail = compare(&desk, "base slow", &["read.p42 rises by more than 5 %"], "", 2);
    assert_says(&tail.stderr, &["is about no figure", "p99.9"]);
    for words in ["compare base base --verdict", "compare --base base same --with base"] {
        let same = run(&desk.ioproof(words)).expect_code(2);
        assert_says(&same.stderr, &["is given twice"]);
    }
    for words in [
        "compare base slow --margin 0",
        "compare base slow --margin much",
        "compare base slow --allow-untold",
        "compare base",
        "compare --base base",
        "compare base slow --format junit",
        "compare base slow --verdict --output result",
        "compare --base base same --with slow --format html",
    ] {
        let _ = run(&desk.ioproof(words)).expect_code(2);
    }
}

#[test]
fn a_figure_that_one_side_lacks_cannot_be_told() {
    let desk = desk();
    let more = STUDY.replace("phases = [\"read\"]", "phases = [\"read\", \"write\"]");
    simulate(&desk, "more", 4, 100.0, 0.005, &more);
    for (runs, side) in [("base more", "before"), ("more base", "after")] {
        let found = compare(&desk, runs, &[], "--verdict", 10);
        assert_says(&found.stdout, &["small write.rate", &format!("not measured {side}")]);
        let _ = compare(&desk, runs, &["read.rate drops by more than 5 %"], "", 0);
    }
}

#[test]
fn results_are_written_for_forges_and_programs() {
    let desk = desk();
    let limits = ["read.rate drops by more than 5 %", "read.p50 rises by more than 50 %"];
    let found = compare(
        &desk,
        "base slow",
        &limits,
        "--output result.xml --output result.md --output result.json --output result.html",
        8,
    );
    assert_says(&found.stdout, &["wrote result.xml", "1 of 2 values is worse"]);
    let xml = fs::read_to_string(desk.path("result.xml")).expect("JUnit");
    assert_says(
        &xml,
        &["tests=\"2\" failures=\"1\"", "<failure message=", "name=\"read.rate drops by more than 5 %\""],
    );
    let document = test_cases(&xml);
    assert_eq!(document, 2, "{xml}");
    let markdown = fs::read_to_string(desk.path("result.md")).expect("Markdown");
    assert_says(&markdown, &["1 of 2 values is worse than the limit", "| worse | small read.rate |"]);
    let json = fs::read_to_string(desk.path("result.json")).expect("JSON");
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        (&json["schema"], &json["limits"]["result"]),
        (&"ioproof-comparison/3".into(), &"worse".into())
    );
    let row = &json["limits"]["all"][0];
    assert_eq!((&row["result"], &row["limit"]), (&"worse".into(), &limits[0].into()), "{row}");
    assert!(row["change_high"].as_f64() < Some(-0.05) && row["change_allowed"] == -0.05, "{row}");
    let page = fs::read_to_string(desk.path("result.html")).expect("a page");
    let (_, card) = page.split_once("<div class=\"card\">").expect("a card");
    let place = card.find("1 of 2 values is worse than the limit").expect("the result");
    assert!(place < card.find("<table").expect("the values"), "it stands first");
    // What cannot be told is an error in JUnit, unless it is allowed.
    let untold = ["read.rate drops by more than 16.6 %"];
    for (more, code, element) in [("", 10, "<error message="), ("--allow-untold", 0, "<skipped message=")] {
        let _ = compare(&desk, "base slow", &untold, &format!("--output untold.xml {more}"), code);
        assert_says(&fs::read_to_string(desk.path("untold.xml")).expect("JUnit"), &[element]);
    }
}

/// Counts the test cases of well-formed XML: every element that opens is closed.
fn test_cases(xml: &str) -> usize {
    let mut open: Vec<&str> = Vec::new();
    let mut cases = 0;
    for tag in xml.split('<').skip(2).map(|rest| rest.split_once('>').expect("a tag").0) {
        let name =
            tag.trim_start_matches('/').split_whitespace().next().expect("a name").trim_end_matches('/');
        cases += usize::from(tag.starts_with("testcase"));
        match (tag.starts_with('/'), tag.ends_with('/')) {
            (true, _) => assert_eq!(open.pop(), Some(name), "{xml}"),
            (false, true) => {}
            (false, false) => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
    cases
}

/// A nightly job: thirty runs at 2 % noise from run to run, of which the last five are 6 % slower.
#[test]
fn the_last_five_of_thirty_nights_are_told_from_the_others() {
    let desk = Desk::new();
    let mut names = Vec::new();
    // The noise of a model is from pass to pass: that from run to run is drawn here, evenly and with this deviation.
    for night in 0..30_u32 {
        let spread = (f64::from((night * 5 + 2) % 9) - 4.0) / 2.58;
        let slower = if night >= 25 { 1.06 } else { 1.0 };
        let name = format!("night-{night:02}");
        simulate(&desk, &name, 100 + night, 100.0 * slower * (1.0 + 0.02 * spread), 0.003, STUDY);
        names.push(name);
    }
    let (before, after) = names.split_at(25);
    let words = format!("compare --base {} --with {}", before.join(" "), after.join(" "));
    let told = run(&desk.ioproof(&words)).expect_code(0).stdout;
    assert_says(&told, &["25 runs", "5 runs", "slower", "between runs", "25, 5"]);
    let limit = ["--fail-if", "read.rate drops by more than 1 %"];
    let _ = run(&desk.ioproof(&words).args(limit)).expect_code(8);
    // At this scatter, five nights do not tell 6 % from 5 %, and say how many would.
    let margin = run(&desk.ioproof(&words).arg("--verdict")).expect_code(10).stdout;
    assert_says(&margin, &["cannot be told", "runs a side"]);
    let healthy =
        format!("compare --verdict --base {} --with {}", before[..12].join(" "), before[12..].join(" "));
    let _ = run(&desk.ioproof(&healthy).arg("--allow-untold")).expect_code(0);
}

/// "At least 90 % of what was accepted": promised amounts are those of the reference run.
#[test]
fn commitments_to_a_part_of_what_a_reference_run_reached_are_judged_beside_it() {
    let desk = Desk::new();
    let promises = "\n[[commitment]]\nname = \"as accepted\"\nphase = \"read\"\nstatistic = \"median\"\n\
                    reference_rate_at_least = \"90 %\"\n\
                    [[commitment]]\nname = \"tail\"\nphase = \"read\"\nstatistic = \"median\"\n\
                    reference_latency_at_most = \"110 %\"\npercentile = 50\n";
    // A promise needs phases of two seconds.
    let long = STUDY.replace("16MiB", "128MiB");
    let study = format!("{long}{promises}");
    for (name, seed, micros) in [("base", 1, 100.0), ("same", 2, 103.0), ("slow", 3, 120.0)] {
        simulate(&desk, name, seed, micros, 0.005, &study);
    }
    let explained = run(&desk.ioproof("run study.toml --model model.toml --explain")).expect_code(0).stdout;
    assert_says(&explained, &["as accepted: at least 90 % of the rate of a reference run"]);
    let alone = run(&desk.ioproof("verdict same")).expect_code(8).stdout;
    assert_says(&alone, &["not tested in this model", "--against REFERENCE"]);
    assert!(!alone.contains("0.9"), "a share is no rate: {alone}");
    for (name, word) in [("same", "would be kept in this model"), ("slow", "would not be kept in this model")]
    {
        let words = format!("verdict {name} --against base");
        let found = run(&desk.ioproof(&words)).expect_code(8).stdout;
        assert_says(&found, &[word, "90 % of the median of run", "SHA-256"]);
        let json = run(&desk.ioproof(&words).arg("--json")).expect_code(8).stdout;
        let json: Value = serde_json::from_str(&json).expect("JSON");
        let rows = json["verdicts"].as_array().expect("verdicts");
        assert_eq!(rows.len(), 2, "{json}");
        // 90 % of 10,000 reads/s, and 110 % of 0.1 ms.
        let promised: Vec<f64> =
            rows.iter().map(|row| row["promised"].as_f64().expect("an amount")).collect();
        let rate = if rows[0]["unit"] == "bytes/s" { promised[0] / 4096.0 } else { promised[0] };
        assert!((rate / 9000.0 - 1.0).abs() < 0.05 && (promised[1] / 1.1e5 - 1.0).abs() < 0.05, "{json}");
    }
    let sheet = run(&desk.ioproof("verdict same --against base --sheet")).expect_code(8).stdout;
    assert_says(&sheet, &["90 % of the median of run", "SHA-256"]);
    let other = long.replace("4KiB", "8KiB");
    simulate(&desk, "other", 5, 100.0, 0.005, &format!("{other}{promises}"));
    let differs = run(&desk.ioproof("verdict same --against other")).expect_code(8).stdout;
    assert_says(&differs, &["not tested", "bytes of an operation"]);
    for (words, said) in
        [("verdict same --against same", "its own reference"), ("verdict same --against nowhere", "nowhere")]
    {
        let code = if said == "nowhere" { 7 } else { 2 };
        assert_says(&run(&desk.ioproof(words)).expect_code(code).stderr, &[said]);
    }
    simulate(&desk, "plain", 6, 100.0, 0.005, STUDY);
    let none = run(&desk.ioproof("verdict plain --against base")).expect_code(2).stderr;
    assert_says(&none, &["reference_rate_at_least"]);
}

/// A nightly job compares its run with those before it, of the same plan and host.
#[test]
fn a_run_is_compared_with_the_earlier_ones_of_a_directory() {
    let desk = Desk::new();
    let other = STUDY.replace("4KiB", "8KiB");
    simulate(&desk, "records/other", 1, 50.0, 0.003, &other);
    for night in 0..20_u32 {
        let spread = (f64::from((night * 5 + 2) % 9) - 4.0) / 2.58;
        simulate(&desk, &format!("records/{night}"), 10 + night, 100.0 * (1.0 + 0.01 * spread), 0.003, STUDY);
    }
    simulate(&desk, "record", 50, 130.0, 0.003, STUDY);
    let words = "compare record --earlier records";
    let told = run(&desk.ioproof(words)).expect_code(0).stdout;
    assert_says(&told, &["20 runs", "slower", "20, 1"]);
    let rate = ["--fail-if", "read.rate drops by more than 5 %"];
    let _ = run(&desk.ioproof(words).args(rate)).expect_code(8);
    let few = run(&desk.ioproof(words).args(rate).args(["--last", "19"])).expect_code(10).stdout;
    assert_says(&few, &["cannot be", "5 runs a", "20"]);
    // The first of the runs has none before it, and the run of another plan is not of its kind.
    let none = run(&desk.ioproof("compare records/other --earlier records")).expect_code(2).stderr;
    assert_says(&none, &["no complete run of the same plan and host", "ioproof runs records"]);
    let _ = run(&desk.ioproof("compare record --earlier nowhere")).expect_code(7);
    let _ = run(&desk.ioproof("compare record --last 3")).expect_code(2);
}
