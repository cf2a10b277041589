//! Jobs over time in every form.

use serde_json::Value;

use crate::common::timeline::{interrupted, jobs, many};

#[test]
fn every_form_says_how_many_ran_how_fast_and_where() {
    let run = jobs();
    for text in [report::text(&run), report::markdown(&run), page(&run)] {
        let text = text.replace('\n', " ");
        for words in
            ["at a time on average", "climbs to", "read share", "utility space ran low", "out-of-memory"]
        {
            assert!(text.contains(words), "no {words} in {}", &text[..400.min(text.len())]);
        }
    }
    let json: Value = serde_json::from_str(&report::json(&run)).expect("JSON");
    let one = &json["findings"]["timelines"][0];
    assert_eq!((one["launches"].as_u64(), one["complete"].as_u64()), (Some(15), Some(14)));
    let spaces: Vec<bool> =
        one["spaces"].as_array().expect("spaces").iter().filter_map(|space| space["low"].as_bool()).collect();
    assert_eq!(spaces, [false, false, true]);
}

#[test]
fn launches_and_steps_have_a_row_each_with_a_cell_for_every_column() {
    let run = jobs();
    let csv = report::Study::of(&run).launches_csv().expect("there were jobs");
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    // Two passes of 15 launches with three steps each.
    assert_eq!(rows.len(), 1 + 2 * 15 * 4);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "no cell of these has a comma");
    let place = |name: &str| rows[0].iter().position(|column| *column == name).expect("a column");
    let sum = |row: &[&str]| -> u64 {
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
    let text = report::text(&run);
    assert!(text.lines().all(|line| line.chars().count() <= 120 || line.contains("http")), "too wide");
    assert!(text.contains("the JSON form has 306 more"), "606 steps, of which 300 are in a table");
    assert!(text.lines().count() < 1200, "{} lines", text.lines().count());
    let json: Value = serde_json::from_str(&report::json(&run)).expect("JSON");
    let timers = json["findings"]["timelines"][0]["timers"].as_array().expect("launches");
    assert_eq!(timers.len(), 101);
    assert!(timers.iter().all(|one| one["steps"].as_array().is_some_and(|steps| steps.len() == 6)));
}

fn page(run: &record::Run) -> String {
    let mut out = Vec::new();
    report::html(run, &mut out).expect("written");
    String::from_utf8(out).expect("UTF-8")
}

/// Launches of a pass that was cut off are shown in every form; figures and findings are as without them.
#[test]
fn launches_of_an_interrupted_pass_are_shown_and_counted_nowhere() {
    let (whole, run) = (jobs(), interrupted());
    let rows = run.interrupted[0].launches.len() + run.interrupted[0].steps.len();
    let (without, with) = (report::Study::of(&whole), report::Study::of(&run));
    assert_eq!((without.csv(), without.openmetrics()), (with.csv(), with.openmetrics()));
    let json = |study: &report::Study<'_>| -> Value { serde_json::from_str(&study.json()).expect("JSON") };
    let (mut before, mut after) = (json(&without), json(&with));
    let cut_off = after["interrupted"].take();
    before["interrupted"].take();
    assert_eq!(before, after);
    assert_eq!(cut_off[0]["launches"].as_array().map(Vec::len), Some(3));
    let [lines, more] = [&without, &with].map(|study| study.launches_csv().expect("jobs"));
    let added: Vec<&str> = more.strip_prefix(&lines).expect("they stand last").lines().collect();
    assert_eq!(added.len(), rows);
    assert!(added.iter().all(|line| line.ends_with(",analytics,jobs,2") && line.contains(",,0,false,")));
    for form in [with.text(report::Colour::Plain), with.markdown(), page(&run)] {
        assert!(form.contains("3 of 15 launches had ended, 3 complete"), "{form}");
    }
}
