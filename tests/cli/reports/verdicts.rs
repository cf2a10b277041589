//! `ioproof verdict`: commitments compared with what was measured, and the resulting exit code.

use std::fs;

use serde_json::Value;

use crate::desk::{Desk, assert_says, run};

/// Two points of direct streams; reports state what phases of one millisecond or more show.
const STREAM: &str = r#"
[protocol]
repetitions = 3
phase_min = "1ms"

[[target]]
name = "disk"
directory = "."

[[workload]]
name = "stream"
transfer = "64KiB"
size = "4MiB"
tasks = [1, 2]
direct = true
fsync = "close"
"#;

/// [`STREAM`] with a commitment for writes by two tasks.
fn promised(amount: &str, statistic: &str) -> String {
    format!(
        "{STREAM}\n[[commitment]]\nname = \"writing\"\nby = \"the vendor\"\nworkload = \"stream\"\n\
         phase = \"write\"\nat = {{ tasks = 2 }}\nstatistic = \"{statistic}\"\n{amount}\n"
    )
}

/// Writes that last long enough for a promise.
fn long(study: &str) -> String {
    study.replace("direct = true", "direct = true\nduration = \"2100ms\"\nphases = [\"write\"]")
}

/// `ioproof verdict` for the record on the desk: its exit code, its text and its first verdict.
fn judged(desk: &Desk) -> (Option<i32>, String, Value) {
    let text = run(&desk.ioproof("verdict").arg(desk.record()));
    let json = run(&desk.ioproof("verdict --json").arg(desk.record()));
    assert_eq!(text.code, json.code, "both forms have one exit code");
    let json: Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(json["kept"], text.code == Some(0));
    (text.code, text.stdout, json["verdicts"][0].clone())
}

#[test]
fn a_kept_commitment_passes_with_its_margin_bound_and_conditions() {
    let desk = Desk::new();
    let study = long(&promised("bandwidth_at_least = \"1kB/s\"", "median"))
        .replace("repetitions = 3", "repetitions = 5");
    let _ = run(&desk.study(&study).arg("--verdict")).expect_code(0);
    let (code, text, verdict) = judged(&desk);
    assert_eq!(code, Some(0), "{text}");
    let conditions = "64 KiB sequential write, direct";
    assert_says(&text, &["PASS", "writing", "the vendor", "at least", "1.00 kB/s", conditions, "2 tasks"]);
    let number = |key: &str| verdict[key].as_f64().unwrap_or_else(|| panic!("no {key} in {verdict}"));
    let margin = number("measured") / 1000.0 - 1.0;
    assert!((number("margin") / margin - 1.0).abs() < 1e-9, "{verdict}");
    assert!(number("at_worst") <= number("measured") && number("confidence") >= 0.95, "{verdict}");
}

/// Criterion, hash, evidence, doubts, what could not be seen, and judgement: on the terminal, as Markdown, and as
/// HTML.
#[test]
fn a_sheet_says_all_that_a_verdict_rests_on() {
    let desk = Desk::new();
    let study = promised("bandwidth_at_least = \"900TB/s\"", "median");
    let _ = run(&desk.study(&study)).expect_code(0);
    let text = run(&desk.ioproof("verdict").arg(desk.record()).arg("--sheet")).expect_code(8).stdout;
    let words = [
        "1 of 1 · writing · FAIL",
        "It was not kept. Figure 3 decides",
        "writing (the vendor): at least 900 TB/s",
        "every write of stream at tasks 2; judged by median, by wall time",
        "1 case: stream:tasks=2",
        "3 repetitions",
        "SHA-256",
        "What speaks against these figures",
        "What could not be seen",
        "are not declared",
    ];
    assert_says(&text, &words);
    let row = text.lines().find(|line| line.contains("  yes")).expect("the figure that decides");
    assert_eq!(row.matches("B/s").count(), 4, "a median and three repetitions: {row}");
    for name in ["sheet.md", "sheet.html"] {
        let file = desk.path(name);
        let _ = run(&desk.ioproof("verdict").arg(desk.record()).arg("--sheet").arg(&file)).expect_code(8);
        let written = fs::read_to_string(&file).expect("a sheet");
        assert_says(&written, &["writing · FAIL", "SHA-256", "What could not be seen"]);
        assert_eq!(written.starts_with("<!doctype html>"), name.ends_with("html"));
    }
    // It never overwrites a file of the record.
    let manifest = desk.record().join("manifest.json");
    let _ = run(&desk.ioproof("verdict").arg(desk.record()).arg("--sheet").arg(&manifest)).expect_code(3);
    let page = run(&desk.ioproof("report --format html").arg(desk.record())).expect_code(0).stdout;
    assert_says(&page, &["Verdict sheets", "writing · FAIL"]);
}

#[test]
fn a_commitment_that_is_not_kept_fails_and_the_exit_code_says_so_where_it_was_asked_for() {
    let desk = Desk::new();
    let study = promised("bandwidth_at_least = \"900TB/s\"", "median");
    let _ = run(&desk.study(&study)).expect_code(0);
    let (code, text, verdict) = judged(&desk);
    assert_eq!((code, verdict["judgement"].as_str()), (Some(8), Some("FAIL")), "{text}");
    assert_says(&text, &["FAIL", "-99.99"]);
    fs::remove_dir_all(desk.record()).expect("the first record");
    let _ = run(&desk.study(&study).arg("--verdict")).expect_code(8);
}

#[test]
fn a_result_below_the_minimum_length_does_not_pass() {
    let desk = Desk::new();
    let study = promised("bandwidth_at_least = \"1kB/s\"", "median").replace("phase_min = \"1ms\"", "");
    let _ = run(&desk.study(&study).arg("--verdict")).expect_code(8);
    let (code, text, verdict) = judged(&desk);
    assert_eq!((code, verdict["judgement"].as_str()), (Some(8), Some("DOUBTFUL")), "{text}");
    assert_says(&text, &["DOUBTFUL", "too short", "2 s"]);
}

#[test]
fn what_was_not_measured_was_not_kept() {
    let desk = Desk::new();
    let study = promised("bandwidth_at_least = \"1kB/s\"", "median");
    let _ = run(&desk.study(&study).args(["--verdict", "--set", "workload.stream.tasks=1"])).expect_code(8);
    let (code, text, verdict) = judged(&desk);
    assert_eq!((code, verdict["judgement"].as_str()), (Some(8), Some("NOT TESTED")), "{text}");
    assert_says(&text, &["--set has taken away 1 of the figures that the study file promises"]);
}

/// A device with a burst allowance is fast for a moment.
#[test]
fn a_minimum_that_was_lowered_keeps_no_promise_and_the_sheet_says_it() {
    let desk = Desk::new();
    let study = promised("bandwidth_at_least = \"1kB/s\"", "best").replace("phase_min = \"1ms\"\n", "");
    let _ = run(&desk.study(&study).args(["--verdict", "--set", "protocol.phase_min=1ms"])).expect_code(8);
    let (_, text, verdict) = judged(&desk);
    assert_eq!(verdict["judgement"], "DOUBTFUL", "{text}");
    assert_says(&text, &["too short for a promise", "`phase_min` is 1 ms, but a promise needs 2"]);
    assert_eq!(verdict["overrides"], serde_json::json!(["protocol.phase_min=1ms"]));
    let sheet = run(&desk.ioproof("verdict").arg(desk.record()).arg("--sheet")).expect_code(8).stdout;
    assert_says(
        &sheet,
        &["not as in the study file: --set protocol.phase_min=1ms", "too short for a promise"],
    );
}

/// Each sheet has the doubts about its own commitment.
#[test]
fn the_best_repetition_is_called_that_on_its_own_sheet_once() {
    let desk = Desk::new();
    let second = "[[commitment]]\nname = \"again\"\nworkload = \"stream\"\nphase = \"write\"\nstatistic = \"median\"\n\
                  bandwidth_at_least = \"900TB/s\"\n";
    let _ = run(&desk.study(&(promised("bandwidth_at_least = \"900TB/s\"", "best") + second))).expect_code(0);
    let sheets = run(&desk.ioproof("verdict").arg(desk.record()).arg("--sheet")).expect_code(8).stdout;
    let (first, second) = sheets.split_once("2 of 2 ").expect("two sheets");
    assert_eq!((first.matches("best as typical").count(), second.matches("best as typical").count()), (1, 0));
}

/// A cache behind the device may have answered, and no counter shows it.
#[test]
fn promised_reads_need_the_caches_of_their_target_before_anything_is_measured() {
    let desk = Desk::new();
    let study = promised("bandwidth_at_least = \"1kB/s\"", "median")
        .replace("phase = \"write\"", "phase = \"read\"")
        .replace("direct = true", "direct = true\nduration = \"2100ms\"\nphases = [\"read\"]\nfill = true")
        .replace("fsync = \"close\"\n", "")
        .replace("repetitions = 3", "repetitions = 1");
    let line = "caches = \"64MiB\" in [[target]] name = \"disk\"";
    let words =
        |text: &str| text.split_whitespace().filter(|word| *word != "!").collect::<Vec<_>>().join(" ");
    let before = run(&desk.study(&study).arg("--explain")).expect_code(0).stdout;
    assert_says(&words(&before), &[line]);
    let _ = run(&desk.study(&study).arg("--verdict")).expect_code(8);
    let (_, text, verdict) = judged(&desk);
    assert_ne!(verdict["judgement"], "PASS", "{text}");
    assert_says(&verdict["why"].to_string().replace('\\', ""), &[line]);
    let stated = study.replace("directory = \".\"", "directory = \".\"\ncaches = \"0\"");
    let before = run(&Desk::new().study(&stated).arg("--explain")).expect_code(0).stdout;
    assert!(!words(&before).contains("may answer them"), "{before}");
}

/// On the first screen, in the table, on the sheet, in Markdown, on the page, and before the run.
#[test]
fn promised_creates_are_never_called_iops() {
    let desk = Desk::new();
    let study = "[protocol]\nrepetitions = 1\nphase_min = \"1us\"\n[[target]]\nname = \"t\"\ndirectory = \".\"\n\
                 [[workload]]\nname = \"tree\"\nwork = \"tree\"\nitems_per_directory = 20\n\
                 [[commitment]]\nname = \"many\"\nworkload = \"tree\"\nphase = \"file-create\"\nstatistic = \"best\"\n\
                 iops_at_least = 50_000_000\n";
    let before = run(&desk.study(study).arg("--explain")).expect_code(0).stdout;
    let screen = run(&desk.study(study).arg("--verdict")).expect_code(8).stdout;
    let of = |words: &str| run(&desk.ioproof(words).arg(desk.record())).stdout;
    let sheet = run(&desk.ioproof("verdict").arg(desk.record()).arg("--sheet")).stdout;
    let shown = [("before", before), ("screen", screen), ("table", of("verdict")), ("sheet", sheet)];
    for (name, text) in shown {
        assert!(text.contains("50,000,000 creates/s") && !text.contains("IOPS"), "{name}: {text}");
    }
    for form in ["report --full --format text", "report --format md", "report --format html"] {
        let text = of(form);
        assert!(text.contains("50,000,000 creates/s") && !text.contains("50,000,000 IOPS"), "{form}");
    }
}

/// Fewer nodes than the study file asks for: each task would read what it wrote itself.
#[test]
fn a_promise_of_several_nodes_is_not_kept_by_one() {
    let desk = Desk::new();
    let study = long(&promised("bandwidth_at_least = \"1kB/s\"", "median"))
        .replace("tasks = [1, 2]", "tasks = [2, 4]\nnodes = 2\nsharing = \"per-task\"")
        .replace("repetitions = 3", "repetitions = 1");
    let one = ["--set", "workload.stream.nodes=1"];
    let before = run(&desk.study(&study).arg("--explain").args(one)).expect_code(0).stdout;
    assert_says(&before, &["`writing` cannot be kept: it is about 2 nodes"]);
    let _ = run(&desk.study(&study).arg("--verdict").args(one)).expect_code(8);
    let (_, text, verdict) = judged(&desk);
    assert_eq!(verdict["judgement"], "DOUBTFUL", "{text}");
    assert_says(&verdict["why"].to_string(), &["it is about 2 nodes, and this is a figure of 1 node"]);
    let sheet = run(&desk.ioproof("verdict").arg(desk.record()).arg("--sheet")).expect_code(8).stdout;
    assert_says(&sheet, &["nodes: 2; planned on 1", "--set workload.stream.nodes=1"]);
    let alone = study.replace("sharing = ", "read_from = \"next-node\"\nsharing = ");
    let refused = run(&Desk::new().study(&alone).args(one)).expect_code(2).stderr;
    assert_says(&refused, &["all tasks are on one node", "read_from = \"same\""]);
}

#[test]
fn a_study_that_promises_nothing_has_nothing_to_keep() {
    let desk = Desk::new();
    let _ = run(&desk.study(STREAM)).expect_code(0);
    let said = run(&desk.ioproof("verdict").arg(desk.record())).expect_code(0);
    assert_says(&said.stdout, &["no [[commitment]]", "docs/STUDY.md"]);
}

/// D12: the maximum is shown and labelled as such, all values are shown, and so is the possibility that others
/// interfered.
#[test]
fn a_maximum_is_called_the_maximum_of_so_many_and_not_exclusive_is_said() {
    let desk = Desk::new();
    let study = format!("[study]\nexclusive = false\n{}", promised("bandwidth_at_least = \"1kB/s\"", "best"));
    let _ = run(&desk.study(&study)).expect_code(0);
    let (_, verdict, _) = judged(&desk);
    assert_says(&verdict, &["best repetition", "not exclusive"]);
    let report = desk.report();
    let text = desk.tables();
    assert_says(&text, &["maximum of 3", "not exclusive"]);
    let page = run(&desk.ioproof("report --format md").arg(desk.record())).expect_code(0).stdout;
    let row = page.lines().find(|line| line.contains("maximum of 3")).expect("a row");
    let values = report.figure("write")["repetitions"].as_array().expect("all values");
    assert_eq!(values.len(), 3);
    let cell = row.split('|').find(|cell| cell.split(", ").count() == 3).expect("three values");
    assert!(cell.split(", ").all(|value| value.trim().parse::<f64>().is_ok()), "{row}");
}

#[test]
fn a_commitment_without_a_statistic_is_refused_with_all_of_them() {
    let desk = Desk::new();
    let study = promised("bandwidth_at_least = \"1kB/s\"", "median").replace("statistic = \"median\"\n", "");
    let refused = run(&desk.study(&study)).expect_code(2).stderr;
    assert_says(
        &refused,
        &["study.toml", "no `statistic`", "before anything is measured", "confidence-bound"],
    );
    assert!(!desk.record().exists());
}

/// A case that never becomes steady: the last five of its eight passes count, the report says for each pass whether
/// it counts, and a commitment is never met by a figure that did not settle.
#[test]
fn passes_before_the_steady_state_are_shown_and_do_not_count() {
    let desk = Desk::new();
    let never = "repetitions = 8\nuntil = \"steady\"\nsteady_excursion = \"0.0001 %\"";
    let study = promised("bandwidth_at_least = \"1kB/s\"", "median").replace("repetitions = 3", never);
    let _ = run(&desk.study(&study)).expect_code(0);
    let report = desk.report();
    let passes = report.figure("write")["repetitions"].as_array().expect("passes").clone();
    let roles: Vec<&str> = passes.iter().filter_map(|pass| pass["role"].as_str()).collect();
    assert_eq!(roles.len(), 8);
    assert!(roles[..3].iter().all(|role| *role == "before steady state"), "{roles:?}");
    assert!(roles[3..].iter().all(|role| *role == "recorded"), "{roles:?}");
    let mut counted: Vec<f64> =
        passes[3..].iter().filter_map(|pass| pass["bytes_per_second"].as_f64()).collect();
    counted.sort_by(f64::total_cmp);
    let median = report.rate("write");
    assert!((median / counted[2] - 1.0).abs() < 1e-9, "the median of those that count: {median}");
    let (code, text, _) = judged(&desk);
    assert_eq!(code, Some(8), "{text}");
}
