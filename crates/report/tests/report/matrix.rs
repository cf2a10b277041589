//! Jobs as a whole, in every output format of a report.

use crate::common;
use std::slice;

#[test]
fn a_matrix_with_failed_launches_is_marked_and_compared_with_nothing() {
    let run = common::matrix::matrix_with(|launch| {
        if launch.launch < 2 && launch.key.case == *"analytics:flash" {
            (launch.outcome, launch.message) = ("out-of-memory".into(), "sort needed more".into());
        }
    });
    let text = report::Study::of(&run)
        .text_in_full(report::Screen::PLAIN)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    for words in [
        "withheld: failed jobs: 2 of 101 launches did not complete in pass 0",
        "failed jobs",
        "2 out-of-memory",
    ] {
        assert!(text.contains(words), "nothing says {words:?} in\n{text}");
    }
    assert!(!text.contains("more consistent is"), "{text}");
}

#[test]
fn two_runs_of_a_matrix_are_compared_launch_by_launch() {
    let before = common::matrix::matrix();
    let after = common::matrix::matrix_with(|launch| {
        launch.end_ns = launch.start_ns + (launch.end_ns - launch.start_ns) / 10 * 9;
    });
    let pair = report::compare([&before, &after].map(slice::from_ref), &[]);
    let text = pair.text(report::Screen::PLAIN).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("-10.0 %") && text.contains("faster"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&pair.json()).expect("JSON");
    let one = &json["matrices"][1];
    assert_eq!((&one["before"], &one["same_work"]), (&"flash before".into(), &true.into()));
    let launches = one["contrasts"].as_array().expect("rows").iter();
    let real = launches.filter(|row| row["what"] == "real time, launch by launch").collect::<Vec<_>>();
    assert_eq!((&real[0]["verdict"], &real[0]["of"]), (&"faster".into(), &"101 launches".into()));
    let other = common::run();
    let alone = report::compare([&before, &other].map(slice::from_ref), &[]);
    let json: serde_json::Value = serde_json::from_str(&alone.json()).expect("JSON");
    assert_eq!(json["matrices"], serde_json::json!([]));
}

#[test]
fn runs_of_the_same_jobs_are_judged_whatever_their_path_and_others_are_not() {
    let before = common::matrix::matrix();
    let with = |change: fn(&mut plan::Jobs)| {
        let mut after = common::matrix::matrix();
        for case in &mut after.manifest.plan.cases {
            let mut spec = plan::WorkloadSpec::from(case.workload.clone());
            if let plan::Work::Jobs(jobs) = &mut spec.work {
                change(jobs);
            }
            case.workload = spec.validate().expect("valid");
        }
        report::compare([&before, &after].map(slice::from_ref), &[])
            .text(report::Screen::PLAIN)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let direct = with(|jobs| jobs.direct = !jobs.direct);
    assert!(!direct.contains("not the same") && !direct.contains("no verdict"), "{direct}");
    let other = with(|jobs| jobs.seed += 1);
    assert!(other.contains("not the same (scale, seed, tables or tests): no verdict"), "{other}");
    assert!(!other.contains("not all launches"), "{other}");
}

#[test]
fn the_tables_of_a_matrix_stand_in_markdown_and_on_the_page() {
    let run = common::matrix::matrix();
    let markdown = report::Study::of(&run).markdown();
    for words in ["Table 1", "Table 2", "published", "0.035 (!", "computed again +0.1 GB"] {
        assert!(markdown.contains(words), "nothing says {words:?} in\n{markdown}");
    }
    let mut page = Vec::new();
    report::Study::of(&run).html(&mut page).expect("written");
    let page = String::from_utf8(page).expect("UTF-8");
    assert!(page.contains("id=\"chart-matrix-0\"") && page.contains("CPU time ÷ real time of every launch"));
}
