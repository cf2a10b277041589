//! Runs on several nodes in every output format.

use record::{Run, Warning, WarningRow};
use report::{Screen, Study};
use serde_json::Value;

use crate::common::cluster::{compared, name, operations};
use crate::validation::draw::{Fault, Random};
use crate::validation::scenario::{Setup, more_nodes};

#[test]
fn the_header_names_nodes_processes_library_and_what_differs() {
    let text = report::Study::of(&compared(16)).text_in_full(report::Screen::PLAIN);
    assert!(text.contains("16 nodes: n[01-16] · 32 processes · Open MPI v4.1.4"), "{text}");
    assert!(text.contains("kernel: n03 has 6.1.0-17-amd64"), "{text}");
    assert!(text.contains("; the other 15 nodes have 6.1.0-18-amd64"), "{text}");
    assert!(text.contains("devices under the targets: n02 has"), "{text}");
}

#[test]
fn a_shift_by_a_node_promises_that_nobody_reads_what_his_node_wrote() {
    let text = report::Study::of(&compared(4)).markdown();
    assert!(text.contains(": 0 of 12 tasks read what their own node had written."), "{text}");
}

#[test]
fn the_job_table_of_random_operations_stands_first_and_counts_nodes() {
    let text = report::Study::of(&operations(609)).text_in_full(report::Screen::PLAIN);
    let first = text.find("\nJobs\n").expect("a job table");
    assert!(text.find("\nRates\n").is_some_and(|rates| first < rates), "{text}");
    let row = text[first..].lines().find(|line| line.contains("up (1)")).expect("a job");
    let words: Vec<&str> = row.split_whitespace().collect();
    assert!(words.contains(&"609") && words.contains(&"14,616") && words.contains(&"2,000"), "{row}");
}

#[test]
fn merged_jobs_say_which_nodes_they_covered_and_that_others_could_disturb() {
    let job = |name: &str| {
        let mut run = compared(4);
        run.manifest.run_id = name.to_owned();
        run.manifest.host.batch_job = Some(format!("slurm {name}"));
        run.manifest.plan.criteria.exclusive = Some(false);
        run
    };
    let text = report::Study::of(&record::merge(vec![job("4711"), job("4712")]).expect("runs of one study"))
        .text_in_full(report::Screen::PLAIN);
    let coverage = text.split("\nCoverage of nodes\n").nth(1).expect("a section");
    for said in ["in 2 jobs", "slurm 4711", "slurm 4712", "storage not exclusive", "n[01-03]", "n04"] {
        assert!(coverage.contains(said), "no {said} in {coverage}");
    }
}

/// How many of `nodes` nodes a format mentions by name.
fn named(form: &str, nodes: u32) -> usize {
    (0..nodes).filter(|&node| form.contains(&name(node, nodes))).count()
}

#[test]
fn of_many_nodes_each_form_that_is_read_has_the_distribution_and_those_that_stand_out() {
    let run = compared(600);
    let study = Study::of(&run);
    let text = study.text(Screen::PLAIN);
    assert!(text.lines().count() < 100, "{} lines", text.lines().count());
    let full = study.text_in_full(Screen::PLAIN);
    assert!(full.lines().all(|line| line.chars().count() <= 120), "{full}");
    let mut page = Vec::new();
    study.html(&mut page).expect("written");
    // plotly.js alone takes 0.6 MB.
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
    let page = String::from_utf8(page).expect("UTF-8");
    for (form, named_max) in [(&text, 24), (&full, 64), (&study.markdown(), 64), (&page, 64)] {
        assert!(named(form, 600) <= named_max, "{} nodes in {}", named(form, 600), &form[..80]);
    }
    for form in [&full, &study.markdown(), &page] {
        let told = form.split("the distribution of ").nth(1).unwrap_or("nothing");
        assert!(told.starts_with("1,198 rows"), "two figures of 599 nodes: {:.99}", told);
        // One node is far below the others.
        assert!(form.contains("n004"), "{}", &form[..80]);
    }
    let json: Value = serde_json::from_str(&study.json()).expect("JSON");
    assert_eq!(json["cluster"]["nodes"].as_array().map(Vec::len), Some(600));
    assert_eq!(json["statements"]["node"].as_array().map(Vec::len), Some(1198));
    assert_eq!(named(&study.csv(), 600), 600);
}

/// The charts of the page of `run`.
fn charts(run: &Run) -> Vec<Value> {
    let mut page = Vec::new();
    Study::of(run).html(&mut page).expect("written");
    let page = String::from_utf8(page).expect("UTF-8");
    let (_, charts) = page.split_once("<script type=\"application/json\" id=\"charts\">").expect("charts");
    serde_json::from_str(charts.split_once("</script>").expect("they end").0).expect("JSON")
}

/// The points that the charts of weak scaling draw for more than 8 nodes.
fn beyond_8_nodes(run: &Run) -> Vec<f64> {
    let charts = charts(run);
    let weak = charts.iter().filter(|one| one["id"].as_str().is_some_and(|id| id.starts_with("chart-weak")));
    let traces = weak.flat_map(|chart| chart["data"].as_array().expect("traces"));
    let points = traces.flat_map(|one| one["x"].as_array().expect("points"));
    points.filter_map(Value::as_f64).filter(|&nodes| nodes > 8.0).collect()
}

#[test]
fn a_chart_draws_no_prediction_that_is_withheld() {
    let setup = Setup { effect: 0.5, noise: 0.001, repetitions: 5, fault: Fault::None };
    let mut run = more_nodes(setup, &mut Random(1)).run;
    assert!(!beyond_8_nodes(&run).is_empty(), "the lines continue to 16 nodes");
    // Whatever slowed one point down may have set the slope.
    for row in run.all_phases().collect::<Vec<_>>() {
        let warning = Warning::Starved { seen: "stopped for half of the time".to_owned(), share: 0.5 };
        run.warnings.push(WarningRow { key: Some(row.key.clone()), warning });
    }
    let json: Value = serde_json::from_str(&Study::of(&run).json()).expect("JSON");
    let all = json["statements"]["extrapolation"].as_array().expect("a list");
    assert!(!all.is_empty() && all.iter().all(|one| one["outcome"] == "withheld"), "{all:?}");
    assert_eq!(beyond_8_nodes(&run), Vec::<f64>::new());
    assert_eq!(json["statements"]["weak_scaling"][0]["outcome"], "marked", "the points are measured");
}

#[test]
fn the_page_draws_many_nodes_as_one_line_that_rises_to_all_of_them() {
    for nodes in [34, 600] {
        let run = compared(nodes);
        let charts = charts(&run);
        let chart = charts.iter().find(|one| one["id"] == "chart-nodes-0");
        let line = &chart.expect("of nodes")["data"][0];
        let values = |axis: &str| -> Vec<f64> {
            line[axis].as_array().expect("points").iter().filter_map(Value::as_f64).collect()
        };
        let (rates, shares) = (values("x"), values("y"));
        assert!(rates.len() <= 201 && rates.len() >= 33, "{} points", rates.len());
        assert!(rates.is_sorted() && shares.is_sorted(), "{rates:?} {shares:?}");
        let first = 100.0 / f64::from(nodes - 1);
        assert!((shares[0] - first).abs() < 1e-9, "{shares:?}");
        assert!((shares[shares.len() - 1] - 100.0).abs() < 1e-9, "{shares:?}");
    }
}
