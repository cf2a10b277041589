//! The first screen: what was measured on, what was found by what varied, and doubts that take no more room than figures.

use std::collections::HashSet;

use record::{HistoryRow, PhaseRow, Run};
use report::{History, HistorySelection, Screen, Study};

use crate::common;
use crate::golden;

fn page(run: &Run) -> String {
    let mut page = Vec::new();
    Study::of(run).html(&mut page).expect("written");
    String::from_utf8(page).expect("UTF-8")
}

/// The letters with which lines of doubts begin.
fn letters(text: &str) -> Vec<&str> {
    let marked = text.lines().filter_map(|line| line.split_once("  "));
    let is_letter = |mark: &str| mark.len() == 1 && mark.bytes().all(|byte| byte.is_ascii_lowercase());
    marked.filter(|(mark, rest)| is_letter(mark) && !rest.starts_with(' ')).map(|(mark, _)| mark).collect()
}

#[test]
fn the_head_names_storage_and_host_and_no_prediction() {
    let text = Study::of(&common::study::study()).text(Screen::PLAIN.wide(160));
    let head: Vec<&str> = text.lines().take(5).collect();
    assert!(head[1].starts_with("xfs on nvme0n1p1 (EXAMPLE SSD 2TB) · made-up-node"), "{head:?}");
    assert!(head[1].contains("6.1.0-18-amd64") && head[2].ends_with("64 GiB memory"), "{head:?}");
    assert!(!head.concat().contains("predicted"), "{head:?}");
}

#[test]
fn letters_of_doubts_have_no_gaps() {
    for (name, run) in golden::runs() {
        let text = Study::of(&run).text(Screen::PLAIN.wide(200));
        let expected: Vec<String> = ('a'..='z').map(String::from).take(letters(&text).len()).collect();
        assert_eq!(letters(&text), expected, "{name}:\n{text}");
    }
}

/// Idle tasks explain why a rate is lower than it could be; the rate is right.
#[test]
fn what_only_explains_a_figure_casts_no_doubt_on_it() {
    let run = common::study::study();
    let study = Study::of(&run);
    let text = study.text(Screen::PLAIN.wide(120));
    assert!(text.contains("Observed, marks comparisons only: idle tasks, 7 of 263 figures"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&study.json()).expect("JSON");
    let audit = json["audit"].as_array().expect("a list");
    assert!(audit.iter().any(|one| one["check"] == "idle tasks"), "the audit has it");
    let figures = json["figures"].as_array().expect("figures");
    assert!(!figures.iter().any(|one| one["doubts"].to_string().contains("idle tasks")));
}

#[test]
fn the_full_text_of_a_long_study_can_be_read() {
    let runs = golden::runs().into_iter().map(|(_, run)| run);
    for run in runs.chain([common::study::large(20, 6)]) {
        let text = Study::of(&run).text_in_full(Screen::PLAIN);
        let lines = text.lines().count();
        assert!(lines <= 1_500, "{lines} lines of {} cases", run.manifest.plan.cases.len());
    }
}

#[test]
fn no_id_of_a_page_is_given_twice() {
    for (name, run) in golden::runs() {
        let page = page(&run);
        let ids = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next());
        let mut known = HashSet::new();
        let twice: Vec<&str> = ids.filter(|id| !known.insert(*id)).collect();
        assert_eq!(twice, Vec::<&str>::new(), "{name}");
    }
}

#[test]
fn targets_stand_beside_each_other_and_a_withheld_rate_is_shown_nowhere() {
    let mut run = common::study::study();
    let row = |text: &str| {
        let line =
            text.lines().find(|line| line.contains("Twelve XFS") && line.contains("read")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{text}"))
    };
    let stated = row(&Study::of(&run).text(Screen::PLAIN.wide(120)));
    assert!(stated.contains("32.9 GB/s") && stated.contains("tasks 264, transfer 4 MiB"), "{stated}");
    run.change_phases(|row| Some(PhaseRow { wrong_cells: 1, ..row }));
    let text = Study::of(&run).text(Screen::PLAIN.wide(120));
    let withheld = row(&text);
    assert!(withheld.contains("withheld"), "{withheld}");
    let own = withheld.split("withheld").next().unwrap_or_default();
    assert!(!own.contains("GB/s"), "{withheld}");
    assert!(!page(&run).contains("chart-members-0"), "there is nothing to draw");
}

#[test]
fn the_bar_of_a_withheld_rate_is_empty_and_so_is_what_the_pointer_tells() {
    let mut run = common::study::study();
    let cases = run.manifest.plan.cases.iter().filter(|case| case.target == "imsm");
    let wrong: HashSet<String> = cases.map(|case| case.id.to_string()).collect();
    assert!(!wrong.is_empty());
    run.change_phases(|row| Some(PhaseRow { wrong_cells: u64::from(wrong.contains(&*row.key.case)), ..row }));
    let page = page(&run);
    let (_, charts) = page.split_once("id=\"charts\">").expect("charts");
    let charts: serde_json::Value =
        serde_json::from_str(charts.split_once("</script>").expect("an end").0).expect("JSON");
    let members = charts.as_array().expect("charts").iter().find(|one| one["id"] == "chart-members-0");
    let series = members.expect("bars")["data"].as_array().expect("series").clone();
    let mut empty = 0;
    for bar in series.iter().filter(|one| one["type"] == "bar") {
        let places = bar["y"].as_array().expect("rows").iter().enumerate();
        for (place, _) in places.filter(|(_, row)| row.as_str().is_some_and(|row| row.starts_with("IMSM"))) {
            assert_eq!((&bar["x"][place], &bar["figures"][place]), (&0.0.into(), &0.into()), "{bar}");
            let said = format!("{}{}", bar["words"][place], bar["text"][place]);
            assert!(said.contains("withheld") && !said.contains("GB/s"), "{said}");
            empty += 1;
        }
    }
    assert_eq!(empty, 2, "a write and a read");
}

#[test]
fn a_history_says_for_which_share_of_each_context_no_request_was_found() {
    let run = common::run_with(|record| {
        let row = |context: &str, device_ns: Option<u64>| HistoryRow {
            context: context.into(),
            kind: "data".into(),
            latency_ns: 1_000_000,
            device_ns,
            ..HistoryRow::new(record.phase.key.clone(), plan::Operation::Read)
        };
        let fetched = [None, None, Some(900_000)].map(|device_ns| row("prefetch", device_ns));
        record.history = fetched.into_iter().chain([row("user", None)]).collect();
        true
    });
    let history = History::of(&run, &HistorySelection::default());
    let json: serde_json::Value = serde_json::from_str(&history.json()).expect("JSON");
    let contexts = &json[0]["contexts"];
    assert_eq!(
        (&contexts[0]["context"], &contexts[0]["operations"]),
        (&"prefetch".into(), &3.into()),
        "{json}"
    );
    assert_eq!(contexts[1]["without_request_share"], 1.0);
    let text = history.text(Screen::PLAIN);
    assert!(text.contains("By context") && text.contains("66.7 %"), "{text}");
}
