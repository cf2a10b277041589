//! The questions that the reports of ready-made studies answer: each question has its sentence or table.

use serde_json::Value;

use crate::desk::{Desk, assert_says, run};

/// Checks the report on the desk of the study `name` in miniature.
pub(crate) fn shows(name: &str, desk: &Desk) {
    let check: fn(&str, &Value) = match name {
        "block-size" => peaks_are_compared,
        "buffer-size" => no_size_is_marked_by_phases_of_milliseconds,
        "iops-definitions" => six_definitions,
        "iops-lustre" => jobs_stand_under_the_published_ones,
        "read-write-mix" => twenty_one_shares,
        "scale-news" => goals_with_who_asked,
        _ => return,
    };
    let markdown = run(&desk.ioproof("report --format md").arg(desk.record())).expect_code(0).stdout;
    check(&markdown, &desk.report().0);
}

/// The section with this heading in a Markdown report.
fn section<'a>(markdown: &'a str, heading: &str) -> &'a str {
    let start = markdown.find(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no section {heading}"));
    let rest = &markdown[start + 1..];
    rest[3..].find("\n## ").map_or(rest, |end| &rest[..end + 3])
}

/// Rows of the tables in a section, split into cells.
fn rows(section: &str) -> Vec<Vec<&str>> {
    let lines = section.lines().filter(|line| line.starts_with('|') && !line.contains("---"));
    lines.map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
}

/// The figures of a report.
fn figures(report: &Value) -> &[Value] {
    report["figures"].as_array().expect("a list")
}

/// D17: both series against the block size, and the distance between their peaks.
fn peaks_are_compared(markdown: &str, report: &Value) {
    let mut groups: Vec<&str> =
        figures(report).iter().filter_map(|figure| figure["group"].as_str()).collect();
    groups.dedup();
    assert_eq!(groups, ["every-4k", "powers-of-two"]);
    // The report makes no statement about the peaks of phases that take milliseconds.
    assert_eq!(report["statements"]["peaks"], Value::Array(Vec::new()));
    assert!(!section(markdown, "Sweeps").contains("its peak"));
}

/// C17 asks for the best size to be marked. In miniature the phases take milliseconds, so none is marked.
fn no_size_is_marked_by_phases_of_milliseconds(markdown: &str, report: &Value) {
    let all = report["statements"]["best"].as_array().expect("a list");
    assert_eq!(all.len(), 2, "of writes and of reads");
    for best in all {
        assert_eq!(best["outcome"], "withheld", "{best}");
        assert!(best["because"].as_array().expect("reasons").iter().any(|one| one["reason"] == "too short"));
    }
    let marked =
        |row: &Vec<&str>| row.last().is_some_and(|notes| notes.split([' ', ';']).any(|word| word == "best"));
    assert!(!rows(section(markdown, "Sweeps")).iter().any(marked));
    assert_says(section(markdown, "Best points"), &["withheld: too short"]);
}

/// E24: at least six IOPS figures, each with a definition, and no two with the same one.
fn six_definitions(markdown: &str, _: &Value) {
    let rows = rows(section(markdown, "IOPS, by what is meant"));
    let column =
        |name: &str| rows[0].iter().position(|head| *head == name).unwrap_or_else(|| panic!("no {name}"));
    let (rate, size, what, depth) = (column("IOPS"), column("size"), column("transfers"), column("depth"));
    let mut definitions: Vec<String> =
        rows[1..].iter().map(|row| format!("{} {} {}", row[size], row[what], row[depth])).collect();
    assert!(definitions.len() >= 6, "{rows:?}");
    for row in &rows[1..] {
        assert!(!row[what].is_empty() && !row[depth].is_empty(), "{row:?}");
        assert!(
            row[rate].trim_end_matches(" IOPS").replace(',', "").parse::<f64>().is_ok_and(|rate| rate > 0.0),
            "{row:?}"
        );
    }
    definitions.sort();
    definitions.dedup();
    assert!(definitions.len() >= 6, "{definitions:?}");
}

/// D2, D4: the measured jobs are listed below the published rows 12501, 12504 and 12515, with three named rates.
/// D24: the two columns of the sheet are shown next to the measured mix of 75 % reads.
fn jobs_stand_under_the_published_ones(markdown: &str, report: &Value) {
    let jobs = section(markdown, "Jobs");
    let rows = rows(jobs);
    assert_eq!(
        rows[0][1..9],
        ["JOBID", "N", "n", "time", "# ops/task", "by wall time", "by I/O phase", "sum of tasks"],
    );
    assert_eq!(rows[1][1..7], ["12501", "609", "14,616", "4 min 26 s", "20,000", "1,098,947 ops/s"]);
    assert!(rows[1].contains(&"1,320,137 ops/s"), "{:?}", rows[1]);
    assert_eq!((rows[2][1], rows[3][1]), ("12504", "12515"));
    assert_says(jobs, &["The headline is the rate by wall time"]);
    let all = report["statements"]["job"].as_array().expect("a list");
    let own: Vec<&Value> = all.iter().filter(|job| job["published"].is_null()).collect();
    assert!(!own.is_empty() && rows.len() == 1 + 3 + own.len(), "a row for each job");
    for job in &own {
        let number = |key: &str| job[key].as_f64().unwrap_or_else(|| panic!("no {key} in {job}"));
        let rate = number("tasks") * number("operations_per_task") / number("seconds");
        assert!((rate / number("by_wall_per_second") - 1.0).abs() < 1e-6, "{job}");
        assert!(number("by_io_per_second") >= rate && number("nodes") >= 1.0, "{job}");
    }
    let fastest = |phase: &str| {
        let of_phase = own.iter().filter(|job| job["phase"] == phase);
        of_phase.filter_map(|job| job["by_wall_per_second"].as_f64()).fold(0.0, f64::max)
    };
    // The passes of a miniature may be too short to determine a best one.
    for job in own.iter().filter(|job| job["best"] == true) {
        assert_eq!(job["by_wall_per_second"], fastest(job["phase"].as_str().expect("a phase")), "{job}");
    }
    let beside = section(markdown, "Published figures and own ones");
    assert_says(beside, &["314,000 IOPS", "281,000 IOPS"]);
}

/// D19.
fn twenty_one_shares(markdown: &str, report: &Value) {
    let shares = figures(report).iter().flat_map(|figure| figure["settings"].as_array().expect("a list"));
    let mut shares: Vec<u64> =
        shares.filter(|one| one["key"] == "read_percent").filter_map(|one| one["value"].as_u64()).collect();
    shares.sort_unstable();
    shares.dedup();
    assert_eq!(shares.len(), 21, "0 to 100 % in steps of 5 %");
    let rows = rows(section(markdown, "Sweeps"));
    let shares = (0..=100).step_by(5).map(|share: u32| share.to_string());
    for share in shares {
        assert!(rows.iter().any(|row| row.contains(&share.as_str())), "no row for {share} %");
    }
}

/// E1: every goal with who asked for it and the best measured result, next to published results.
fn goals_with_who_asked(markdown: &str, report: &Value) {
    let goals = section(markdown, "Summary");
    let who = ["2.5 TB/s single-stream IOR", "ORNL", "1 TB/s 1 MB sequential read", "CORAL RFP", "16 GB/s"];
    assert_says(goals, &who);
    for verdict in report["statements"]["commitment"].as_array().expect("a list") {
        assert!(verdict["measured"].as_f64() > Some(0.0) && verdict["margin"].is_number(), "{verdict}");
    }
    let published = section(markdown, "Published figures and own ones");
    assert!(rows(published).len() > 1, "{published}");
}
