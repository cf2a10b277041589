//! Studies of workloads that ran at the same time: what they cost each other comes first.

use record::{Warning, WarningRow};
use report::{Screen, Study};
use serde_json::Value;

use crate::common::concurrent::{concurrent, concurrent_in, starved};

#[test]
fn the_first_screen_says_what_each_workload_lost() {
    let run = concurrent();
    let text = Study::of(&run).text(Screen::PLAIN.wide(120));
    let (_, after) = text.split_once("At the same time").expect("a table");
    let lines: Vec<&str> = after.lines().filter(|line| !line.trim().is_empty()).take(4).collect();
    for (line, words) in lines.iter().zip([
        &["checkpoint beside restart, users", "MB/s", "% less than alone ("][..],
        &["restart beside checkpoint, users", "MB/s", "% less than alone ("],
        &["users beside checkpoint, restart", "IOPS"],
        &["night", "GB/s together (", "while all ran for"],
    ]) {
        assert!(words.iter().all(|word| line.contains(word)), "{words:?} in\n{line}\nof\n{text}");
    }
    let (before, _) = text.split_once("restart beside").expect("found above");
    assert!(before.lines().count() < 12, "it comes first:\n{text}");
}

#[test]
fn every_form_has_the_workloads_and_all_of_them() {
    let run = concurrent();
    let study = Study::of(&run);
    let json: Value = serde_json::from_str(&study.json()).expect("JSON");
    let each = json["statements"]["beside_others"].as_array().expect("a list");
    let names: Vec<&str> = each.iter().filter_map(|one| one["workload"].as_str()).collect();
    assert_eq!(names, ["checkpoint", "restart", "users"]);
    let all = &json["statements"]["all_together"][0];
    let shares: f64 = each.iter().filter_map(|one| one["share"].as_f64()).sum();
    assert!((shares - 1.0).abs() < 0.01, "{shares}");
    assert!(all["rate_bytes_per_second"].is_number() || all["rate_per_second"].is_number(), "{all}");
    let gap = &each[2];
    assert_eq!((&gap["gap_bound"], gap["longest_gap"].as_f64()), (&"at least".into(), Some(3.0)));
    let mut page = Vec::new();
    study.html(&mut page).expect("written");
    let page = String::from_utf8(page).expect("text");
    let whole = study.text_in_full(Screen::PLAIN);
    for (form, text) in [
        ("text", &whole),
        ("Markdown", &study.markdown()),
        ("page", &page),
        ("OpenMetrics", &study.openmetrics()),
    ] {
        let words: &[&str] = if form == "OpenMetrics" {
            &["ioproof_beside_others", "ioproof_all_together"]
        } else {
            &["Workloads at the same time", "less than alone", "longest gap at least 3 s", "fairness"]
        };
        assert!(words.iter().all(|word| text.contains(word)), "{words:?} in {form}:\n{text}");
    }
}

#[test]
fn what_the_gate_withholds_or_marks_is_so_on_the_first_screen() {
    let mut run = concurrent();
    let rows: Vec<_> =
        run.all_phases().filter(|row| row.key.case == *"night:restart" || row.key.case == *"users").collect();
    for row in rows {
        let starved = Warning::Starved { seen: "its quota was used up".to_owned(), share: 0.4 };
        let wrong = Warning::WrongData { cells: 1, first: "a cell".to_owned() };
        let warning = if row.key.case == *"users" { starved } else { wrong };
        run.warnings.push(WarningRow { key: Some(row.key.clone()), warning });
    }
    let text = Study::of(&run).text(Screen::PLAIN.wide(160));
    let line = |name: &str| text.lines().find(|line| line.contains(name)).expect("a line").to_owned();
    assert!(line("restart beside").contains("withheld: wrong data"), "{text}");
    assert!(line("users beside").contains("! "), "{text}");
}

#[test]
fn what_completed_nothing_comes_first_also_among_many() {
    let line = |run: &record::Run, name: &str| {
        let text = Study::of(run).text(Screen::PLAIN.wide(160));
        text.lines().find(|line| line.trim_start().starts_with(name)).expect("a line").to_owned()
    };
    let few = line(&starved(&["night"]), "users beside");
    assert!(few.contains("completed nothing in 1 of 6 passes while all ran"), "{few}");
    let sets = ["night", "noon", "dusk", "dawn"];
    assert!(line(&concurrent_in(&sets), "night").contains("most is lost by restart, 31.1 % less than alone"));
    let many = line(&starved(&sets), "night");
    assert!(
        many.contains("most is lost by users, completed nothing in 1 of 6 passes while all ran"),
        "{many}"
    );
}
