//! Jobs over time in every output format.

use serde_json::Value;

use crate::common::timeline::{interrupted, jobs, many};

#[test]
fn every_form_says_how_many_ran_how_fast_and_where() {
    let run = jobs();
    for text in [
        report::Study::of(&run).text_in_full(report::Screen::PLAIN),
        report::Study::of(&run).markdown(),
        page(&run),
    ] {
        let text = text.replace('\n', " ");
        for words in ["mean at a time", "climbs to", "read share", "utility space ran low", "out-of-memory"] {
            assert!(text.contains(words), "no {words} in {}", &text[..400.min(text.len())]);
        }
    }
    let json: Value = serde_json::from_str(&report::Study::of(&run).json()).expect("JSON");
    let one = &json["statements"]["job_pass"][0];
    assert_eq!((one["launches"].as_u64(), one["complete"].as_u64()), (Some(15), Some(14)));
    let spaces = json["statements"]["job_space"].as_array().expect("spaces");
    let low: Vec<bool> = spaces.iter().take(3).filter_map(|space| space["low"].as_bool()).collect();
    assert_eq!(low, [false, false, true]);
}

#[test]
fn launches_and_steps_have_a_row_each_with_a_cell_for_every_column() {
    let run = jobs();
    let csv = report::Study::of(&run).launches_csv().expect("there were jobs");
    let rows = crate::common::rows(&csv);
    // Two passes of 15 launches with three steps each.
    assert_eq!(rows.len(), 1 + 2 * 15 * 4);
    let place = |name: &str| rows[0].iter().position(|column| column == name).expect("a column");
    let sum = |row: &[String]| -> u64 {
        let of = |name: &str| row[place(name)].parse::<u64>().expect("a number");
        of("user_cpu_ns") + of("system_cpu_ns")
    };
    let steps: u64 = rows[2..5].iter().map(|row| sum(row)).sum();
    assert!(rows[1][place("step")].is_empty() && rows[2][place("step")] == "0");
    assert!(steps.abs_diff(sum(&rows[1])) < 10, "the steps of the first launch add up to it");
    assert_eq!(rows[1][place("cpu_agrees")], "true");
    let none = crate::common::run();
    assert_eq!(report::Study::of(&none).launches_csv(), None, "there were no jobs");
}

#[test]
fn a_hundred_launches_with_six_steps_each_leave_the_tables_readable() {
    let run = many();
    let text = report::Study::of(&run).text_in_full(report::Screen::PLAIN);
    assert!(text.lines().all(|line| line.chars().count() <= 120 || line.contains("http")), "too wide");
    let read = report::Study::of(&run).markdown();
    let cut = "more are in the JSON and CSV forms";
    assert!(read.contains(cut), "707 launches and steps, of which 300 are in a table");
    assert!(text.contains("more rows in the CSV and JSON forms"), "nobody reads 707 rows in a terminal");
    let json: Value = serde_json::from_str(&report::Study::of(&run).json()).expect("JSON");
    let timers = json["statements"]["full_timer"].as_array().expect("launches");
    assert_eq!(timers.iter().filter(|one| one["step"].is_null()).count() * 7, timers.len());
}

fn page(run: &record::Run) -> String {
    let mut out = Vec::new();
    report::Study::of(run).html(&mut out).expect("written");
    String::from_utf8(out).expect("UTF-8")
}

/// Launches of a pass that was cut short are shown in every format. They do not change figures and findings.
#[test]
fn launches_of_an_interrupted_pass_are_shown_and_counted_nowhere() {
    let (whole, run) = (jobs(), interrupted());
    let rows = run.interrupted[0].launches.len() + run.interrupted[0].steps.len();
    let (without, with) = (report::Study::of(&whole), report::Study::of(&run));
    assert_eq!((without.csv(), without.openmetrics()), (with.csv(), with.openmetrics()));
    let json = |study: &report::Study<'_>| -> Value { serde_json::from_str(&study.json()).expect("JSON") };
    let (before, mut after) = (json(&without), json(&with));
    let timers = after["statements"]["full_timer"].as_array_mut().expect("launches");
    let cut_off = timers.split_off(timers.len() - rows);
    assert!(cut_off.iter().all(|one| one["attempt"] == 2 && one["counts"] == false));
    assert_eq!(before, after);
    let [lines, more] = [&without, &with].map(|study| study.launches_csv().expect("jobs"));
    let added: Vec<&str> = more.strip_prefix(&lines).expect("they stand last").lines().collect();
    assert_eq!(added.len(), rows);
    assert!(added.iter().all(|line| line.contains(",,analytics,jobs,0,false,2,")));
    for form in [with.text_in_full(report::Screen::PLAIN), with.markdown(), page(&run)] {
        assert!(form.contains("3 of 15 launches had ended, 3 complete"), "{form}");
    }
}
