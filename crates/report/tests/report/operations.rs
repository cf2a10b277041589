//! Files, objects, messages and single requests in every output format of a report.

use serde_json::Value;

use crate::common;

/// No format calls creates IOPS, or gives MB/s for files where their number is what matters.
#[test]
fn operations_have_their_names_in_every_form() {
    let run = common::operations::files();
    let markdown = report::Study::of(&run).markdown();
    let rows = markdown.split("## Latency of every operation").next().expect("a first part");
    assert!(rows.contains("creates/s") && rows.contains("stats/s") && rows.contains("removes/s"));
    assert!(!rows.contains("IOPS"), "{rows}");
    assert!(!markdown.contains("## Rates"));
    let mut page = Vec::new();
    report::Study::of(&run).html(&mut page).expect("written");
    let page = String::from_utf8(page).expect("UTF-8");
    assert!(page.contains("Files and directories") && page.contains("creates/s"));
    assert!(!page.contains("id=\"rates\""), "no table of transfers without transfers");
    let report: Value = serde_json::from_str(&report::Study::of(&run).json()).expect("JSON");
    let created = &report["figures"][0];
    assert_eq!(created["unit"], "creates/s");
    assert_eq!(created["bytes_per_operation"], 32_768);
    let held = report["figures"][1]["allocated_bytes_per_file"].as_f64().expect("held bytes");
    assert!((held - 36_864.0).abs() < 1e-9);
    let round = report["figures"].as_array().expect("figures").last().expect("the round");
    let names: Vec<&str> = round["operations"]
        .as_array()
        .expect("operations")
        .iter()
        .map(|one| one["operation"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, ["read", "create", "stat", "remove"]);
}

#[test]
fn the_table_of_values_has_the_latency_of_each_operation() {
    let csv = report::Study::of(&common::operations::files()).csv();
    let rows = common::rows(&csv);
    let created = |name: &str| {
        let place = rows[0].iter().position(|one| one == name).expect("a column");
        rows[1][place].as_str()
    };
    assert_eq!(created("unit"), "creates/s");
    assert_eq!(created("create_latency_p50_ns"), "161250");
    assert_eq!((created("surprises"), created("stat_operations")), ("0", ""));
}

#[test]
fn requests_between_processes_say_by_what_they_travel() {
    let text = report::Study::of(&common::operations::exchanges()).text_in_full(report::Screen::PLAIN);
    assert!(text.contains("RDMA is not available"), "{text}");
    assert!(text.contains("RPC/s") && text.contains("TCP"), "{text}");
}

/// A direct read that is faster than any device does not show device latency.
#[test]
fn single_requests_are_told_apart_by_what_answered() {
    let text = report::Study::of(&common::operations::single()).text_in_full(report::Screen::PLAIN);
    let section = text.split("Latency of single requests").nth(1).expect("the section");
    let section = section.split("\n\n").next().expect("a part");
    assert!(section.contains("page cache"), "{section}");
    assert!(section.contains("direct: memory"), "{section}");
    assert!(section.contains("published of NVMe: "), "{section}");
    // Direct and cached requests of the same size share one row, with the published value shown once.
    let row = |start: &str| section.lines().find(|line| line.starts_with(start)).expect("a row");
    let row = row("512 B random").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(row.contains(" 1 56.7 µs 136 µs ") && row.contains(" 3 630 ns 1.51 µs "), "{row}");
    assert!(row.ends_with("page cache"), "{row}");
    assert_eq!(section.matches("min 865 ns").count(), 1, "{section}");
}

/// The origin of a figure is stated at the top of the report and next to the figure, in every format.
#[test]
fn what_is_imported_says_so_wherever_it_stands() {
    let run = common::operations::imported();
    let mut page = Vec::new();
    report::Study::of(&run).html(&mut page).expect("written");
    let page = String::from_utf8(page).expect("UTF-8");
    for (form, text) in [
        ("text", report::Study::of(&run).text_in_full(report::Screen::PLAIN)),
        ("markdown", report::Study::of(&run).markdown()),
        ("html", page),
    ] {
        assert!(text.contains("imported from page.txt (tsqosperf, mmfsadm)"), "{form}");
        assert!(text.contains("page.txt:126"), "{form} lacks the line of a value");
        assert!(text.contains("start to start") && text.contains("71.9 µs"), "{form} lacks the round trip");
    }
    let text = report::Study::of(&run).text_in_full(report::Screen::PLAIN);
    let rates = text.split("Rates").nth(1).expect("rates").split("Latency").next().expect("a part");
    assert_eq!(rates.matches("imported").count(), 2, "{rates}");
    assert!(report::Study::of(&run).csv().contains(",imported,"));
}
