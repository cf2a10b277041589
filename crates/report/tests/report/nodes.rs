//! Runs of several nodes in every form.

use report::{Screen, Study};
use serde_json::Value;

use crate::common::cluster::{compared, operations};

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
        run.manifest.plan.terms.exclusive = Some(false);
        run
    };
    let text = report::Study::of(&record::merge(vec![job("4711"), job("4712")]).expect("runs of one study"))
        .text_in_full(report::Screen::PLAIN);
    let coverage = text.split("\nCoverage of nodes\n").nth(1).expect("a section");
    for said in ["in 2 jobs", "slurm 4711", "slurm 4712", "storage not exclusive", "n[01-03]", "n04"] {
        assert!(coverage.contains(said), "no {said} in {coverage}");
    }
}

#[test]
fn six_hundred_nodes_stay_readable() {
    let run = compared(600);
    let study = Study::of(&run);
    let text = study.text(Screen::PLAIN);
    assert!(text.lines().count() < 100, "{} lines", text.lines().count());
    let text = study.text_in_full(Screen::PLAIN);
    assert!(text.contains("n600"), "nothing is cut");
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    let json: Value = serde_json::from_str(&study.json()).expect("JSON");
    assert_eq!(json["cluster"]["nodes"].as_array().map(Vec::len), Some(600));
    let mut page = Vec::new();
    study.html(&mut page).expect("written");
    // plotly.js alone has 0.6 MB.
    assert!(page.len() < 4_000_000, "{} bytes", page.len());
}
