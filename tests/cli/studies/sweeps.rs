//! Sweeps: rounds, clients, best points, warnings about a plan, comparison of two runs, spread.

use std::fs;

use serde_json::Value;

use crate::desk::{Desk, assert_near, assert_says, names, run};

/// A desk with a directory for data.
fn desk() -> Desk {
    let desk = Desk::new();
    fs::create_dir(desk.path("data")).expect("a directory");
    desk
}

fn list<'a>(report: &'a Value, key: &str) -> &'a [Value] {
    report[key].as_array().unwrap_or_else(|| panic!("no list {key}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn of_two_rounds_the_second_counts_and_the_drift_is_told() {
    let desk = desk();
    let study = "[protocol]\nrounds = 2\nrepetitions = 2\n[[target]]\nname = \"d\"\ndirectory = \"data\"\n\
                 [[workload]]\nname = \"w\"\nphases = [\"write\"]\ntransfer = \"64k\"\nsize = \"4m\"\n";
    let _ = run(&desk.study(study)).expect_code(0);
    let report = desk.report();
    let figure = report.figure("write");
    let passes = list(figure, "repetitions");
    let roles: Vec<&str> = passes.iter().filter_map(|pass| pass["role"].as_str()).collect();
    assert_eq!(roles, ["earlier round", "recorded", "earlier round", "recorded"]);
    let rates: Vec<f64> = passes.iter().map(|pass| number(&pass["bytes_per_second"])).collect();
    assert_near("median", report.rate("write"), f64::midpoint(rates[1], rates[3]), 1e-9);
    for (first, second) in [(0, 1), (2, 3)] {
        let drift = rates[second] / rates[first] - 1.0;
        assert!((number(&passes[second]["drift"]) - drift).abs() < 1e-9, "{passes:?}");
        assert_eq!(passes[first]["drift"], Value::Null);
        let sign = if drift < 0.0 { '-' } else { '+' };
        assert_says(&desk.tables(), &[&format!("{sign}{:.1} %", drift.abs() * 100.0)]);
    }
    assert_says(&desk.tables(), &["earlier round", "recorded", "drift"]);
}

#[test]
fn clients_on_the_server_and_behind_a_network_share_no_line_and_no_chart() {
    let desk = desk();
    let study = "[[target]]\nname = \"near\"\ndirectory = \"data\"\nclient = \"local-to-server\"\n\
                 [[target]]\nname = \"far\"\ndirectory = \"data\"\nclient = \"remote\"\n\
                 [[workload]]\nname = \"w\"\ntarget = [\"near\", \"far\"]\ntasks = [1, 2, 3]\n\
                 sharing = \"per-task\"\ntransfer = \"64k\"\nsize = \"256k\"\n";
    let _ = run(&desk.study(study)).expect_code(0);
    assert_says(&desk.tables(), &["local to server", "remote"]);
    let report = desk.report().0;
    let client_of = |target: &str| if target == "near" { "local to server" } else { "remote" };
    for figure in list(&report, "figures") {
        assert_eq!(figure["client"], client_of(figure["target"].as_str().expect("a word")));
    }
    assert_eq!(list(&report["statements"], "tax"), [Value::Null; 0], "a network is no layout");
    let page = fs::read_to_string(desk.record().join("report.html")).expect("the page");
    let notes: Vec<&str> = page.split("<figcaption").filter(|part| part.contains("Clients ")).collect();
    assert_eq!(notes.len(), 2, "a chart for each");
    assert!(notes.iter().any(|note| note.contains("Clients local to server.")));
    assert!(notes.iter().any(|note| note.contains("Clients remote.")));
}

#[test]
fn a_search_for_the_best_point_says_which_won_and_by_how_much() {
    let desk = desk();
    // Setting the rate makes the winner predictable: each task is exactly as fast as its rate.
    let study = "[[target]]\nname = \"d\"\ndirectory = \"data\"\n[protocol]\nphase_min = \"100ms\"\n\
                 [[workload]]\nname = \"search\"\nphases = [\"write\"]\nsharing = \"per-task\"\n\
                 direct = true\ntasks = [1, 2]\ntransfer = [\"4k\", \"16k\"]\nrate = [50, 100]\nsize = \"64k\"\n\
                 duration = \"300ms\"\n";
    let _ = run(&desk.study(study)).expect_code(0);
    let report = desk.report().0;
    let best = &list(&report["statements"], "best")[0];
    assert_eq!(best["points"], 8, "{best}");
    let own =
        list(&report, "figures").iter().find(|own| own["number"] == best["figure"]).expect("its figure");
    let value = |key: &str| {
        let found = list(own, "settings").iter().find(|one| one["key"] == key);
        found.map(|one| one["value"].clone()).unwrap_or_default()
    };
    assert_eq!((value("transfer"), number(&value("rate"))), (16384.into(), 100.0));
    assert!(best["gain"].is_null(), "the same rate by two task counts, once each: {best}");
    assert!(list(best, "because").iter().any(|one| one["reason"] == "too few repetitions"), "{best}");
    assert_near("best", number(&best["operations_per_second"]), 100.0, 0.3);
    assert_says(&desk.tables(), &["Best points", "transfer 16 KiB", "too few repetitions"]);
}

#[test]
fn a_plan_tells_bytes_seconds_and_every_point_that_is_too_short_too_large_or_unbalanced() {
    let desk = desk();
    let targets: Vec<String> = (0..12).map(|card| format!("\"data/{card}\"")).collect();
    let study = format!(
        "[[target]]\nname = \"cards\"\npaths = [{}]\n\
         [[workload]]\nname = \"short\"\nsharing = \"per-task\"\ntransfer = \"1m\"\ntasks = [33, 132]\nsize = \"1m\"\n\
         direct = true\n\
         [[workload]]\nname = \"large\"\nsharing = \"per-task\"\ntransfer = \"16m\"\nsize = \"160000m\"\n\
         tasks = 264\ndirect = true\n",
        targets.join(", ")
    );
    fs::write(desk.path("study.toml"), &study).expect("a study");
    let explained = run(&desk.ioproof("run study.toml --explain --full"));
    let text = explained.stdout.clone() + &explained.stderr;
    assert_says(
        &text,
        &["33 tasks over 12 targets: at most 91.7 % of the sum", "too short", "34.6 MB", "44.3 TB"],
    );
    assert!(!text.contains("132 tasks over 12 targets: at most"), "132 tasks are balanced");
    // On the terminal, a line break may occur anywhere in the text.
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short = words.matches("too short for a rate").count();
    assert!(short >= 4, "write and read of both short points: {text}");
    let about_space = text.lines().any(|line| line.contains("44.3 TB") && line.contains("free"));
    assert!(about_space || text.contains("need "), "the space is set against the volume:\n{text}");
    // The run refuses for the same reason before anything is written.
    let refused = run(&desk.ioproof("run study.toml --yes --out record")).expect_code(4);
    assert_says(&refused.stderr, &["need", "free"]);
    assert_eq!(names(&desk.path("data")), [""; 0]);
}
