//! One run in every output format: the guarantees for readers and programs.

use std::collections::BTreeSet;

use record::{Warning, WarningRow};
use serde_json::Value;

use crate::common::{self, redacted};

const DOCUMENTATION: &str = include_str!("../../../../docs/REPORT.md");

#[test]
fn a_whole_run_as_text() {
    insta::assert_snapshot!(redacted(&report::Study::of(&common::run()).text_in_full(report::Screen::PLAIN)));
}

#[test]
fn a_whole_run_as_markdown() {
    insta::assert_snapshot!(redacted(&report::Study::of(&common::run()).markdown()));
}

#[test]
fn text_fits_a_terminal_and_has_escape_codes_only_when_asked() {
    let plain = report::Study::of(&common::run()).text_in_full(report::Screen::PLAIN);
    let widest = plain.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(120), "{widest:?} columns\n{plain}");
    assert!(!plain.contains('\u{1b}'));
    let coloured = report::Study::of(&common::run()).text_in_full(report::Screen::PLAIN.coloured());
    assert!(coloured.contains("\u{1b}[1mRates\u{1b}[0m"));
}

#[test]
fn no_figure_stands_without_its_conditions() {
    let run = common::run();
    let markdown = report::Study::of(&run).markdown();
    let csv = report::Study::of(&run).csv();
    let page = page(&run);
    for case in &run.manifest.plan.cases {
        for phase in case.phases.iter().filter(|phase| phase.is_result()) {
            let conditions = case.workload.conditions(*phase);
            for (form, text) in [("markdown", &markdown), ("csv", &csv), ("html", &page)] {
                assert!(text.contains(&conditions), "{form} lacks {conditions}");
            }
        }
    }
}

#[test]
fn a_cached_figure_is_marked_and_its_warning_told_in_every_form() {
    let run = common::run();
    let json: Value = serde_json::from_str(&report::Study::of(&run).json()).expect("JSON");
    let cached: Vec<bool> = json["figures"]
        .as_array()
        .expect("figures")
        .iter()
        .map(|figure| figure["page_cache"] == true)
        .collect();
    assert_eq!(cached.iter().filter(|cached| **cached).count(), 2);
    for text in [
        report::Study::of(&run).text_in_full(report::Screen::PLAIN),
        report::Study::of(&run).markdown(),
        page(&run),
    ] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("cached") && text.contains("the page cache answered:"));
        assert!(text.contains("use direct I/O, or data"), "no advice in {}", &text[..200]);
    }
}

/// A missing repetition does not imply that another one moved less data than it should.
#[test]
fn a_pass_that_moved_too_little_is_told_of_a_case_that_lacks_repetitions_too() {
    let mut run = common::run_with(|record| {
        let key = record.phase.key.clone();
        if &*key.case == "seq-read" {
            let warning = Warning::Incomplete { bytes: 4096, planned_bytes: 1 << 20 };
            record.warnings.push(WarningRow { key: Some(key), warning });
        }
        true
    });
    let case = run.manifest.plan.cases.iter_mut().find(|case| case.id == "seq-read").expect("the case");
    case.repetitions += 1;
    let json = report::Study::of(&run).json();
    for told in ["1 of 2 repetitions were measured", "moved 4096 of 1048576 planned bytes"] {
        assert!(json.contains(told), "nothing of {told:?}");
    }
}

#[test]
fn study_a_has_its_published_figures_beside_its_own() {
    let json: Value = serde_json::from_str(&report::Study::of(&common::run()).json()).expect("JSON");
    let beside = |phase: &str| {
        let figures = json["figures"].as_array().expect("figures");
        let figure = figures.iter().find(|figure| figure["case"] == "ior" && figure["phase"] == phase);
        let number = figure.expect("a figure")["number"].clone();
        let rows = json["statements"]["published"].as_array().expect("a list");
        rows.iter().find(|row| row["figure"] == number).expect("a row")["published"].as_f64()
    };
    assert_eq!((beside("write"), beside("read")), (Some(2.05e9), Some(2.78e9)));
    let text = report::Study::of(&common::run()).text_in_full(report::Screen::PLAIN);
    assert!(text.contains("2.05 GB/s") && text.contains("2.78 GB/s"), "{text}");
}

/// The same number of tasks on another layout is not the published test, but only the study knows that.
#[test]
fn beside_the_figures_of_a_study_stands_what_the_study_says() {
    let mut run = common::run();
    run.manifest.plan.source =
        plan::PlanSource::Study { path: "s.toml".into(), text: String::new(), overrides: Vec::new() };
    let json: Value = serde_json::from_str(&report::Study::of(&run).json()).expect("JSON");
    assert_eq!(json["statements"]["published"], Value::Array(Vec::new()));
    assert!(
        !report::Study::of(&run)
            .text_in_full(report::Screen::PLAIN)
            .contains("Published figures and own ones")
    );
}

#[test]
fn every_csv_row_has_a_cell_for_every_column() {
    let csv = report::Study::of(&common::run()).csv();
    let rows = common::rows(&csv);
    assert_eq!(rows.iter().filter(|row| row[0] == "figure").count(), 10);
    assert_eq!(rows.len(), csv.lines().count(), "a row is a line");
}

#[test]
fn the_documentation_names_every_field() {
    let made_up = common::study::study();
    let study = report::Study::of(&made_up);
    let mut fields = BTreeSet::new();
    let nodes = report::Study::of(&common::cluster::compared(4)).json();
    let weak = report::Study::of(&common::cluster::weak(12)).json();
    let layers = report::Study::of(&common::layers::layers()).json();
    let files = report::Study::of(&common::operations::files()).json();
    let exchanges = report::Study::of(&common::operations::exchanges()).json();
    let imported = report::Study::of(&common::operations::imported()).json();
    let matrix = report::Study::of(&common::matrix::matrix_with(|launch| {
        if launch.launch == 3 && launch.key.repetition == 0 {
            launch.outcome = "failed".into();
        }
    }))
    .json();
    let matrix: Value = serde_json::from_str(&matrix).expect("JSON");
    collect(&matrix["statements"], &mut fields);
    let own = report::Study::of(&common::run()).json();
    let jobs = report::Study::of(&common::timeline::jobs()).json();
    for json in [own, study.json(), nodes, weak, layers, files, exchanges, imported, jobs] {
        let json: Value = serde_json::from_str(&json).expect("JSON");
        for (key, value) in json.as_object().expect("an object") {
            fields.insert(key.clone());
            if key != "host" {
                collect(value, &mut fields);
            }
        }
    }
    let made = common::timeline::jobs();
    let rows = report::Study::of(&made).launches_csv().expect("there were jobs");
    fields.extend(rows.lines().next().expect("a heading").split(',').map(str::to_owned));
    let heading = report::Study::of(&common::run()).csv();
    // Latencies have the same names as in JSON, after the operation.
    let column =
        |name: &str| name.split_once("_latency_").map_or(name, |(_, statistic)| statistic).to_owned();
    fields.extend(heading.lines().next().expect("a heading").split(',').map(column));
    // No single record has statements of all kinds.
    let columns = analysis::findings::Findings::default().tables();
    fields.extend(columns.iter().flat_map(|table| &table.columns).map(|column| column.key.to_owned()));
    for field in &fields {
        assert!(DOCUMENTATION.contains(&format!("`{field}`")), "docs/REPORT.md lacks `{field}`");
    }
    let rows = DOCUMENTATION.lines().filter(|line| line.starts_with("| `"));
    for name in rows.flat_map(|row| row.split('|').nth(1).unwrap_or_default().split(',').map(str::trim)) {
        let name = name.trim_matches('`');
        assert!(fields.contains(name), "docs/REPORT.md describes `{name}`, which is nowhere");
    }
}

fn collect(value: &Value, fields: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            fields.insert(key.clone());
            collect(value, fields);
        }),
        Value::Array(list) => list.iter().for_each(|value| collect(value, fields)),
        _ => {}
    }
}

#[test]
fn the_page_loads_nothing_and_holds_plotly_once() {
    let page = page(&common::run());
    let library = "id=\"library\">";
    let (before, rest) = page.split_once(library).expect("plotly.js");
    let (packed, after) = rest.split_once("</script>").expect("its end");
    assert!((500_000..700_000).contains(&packed.len()), "{} bytes", packed.len());
    assert!(!after.contains(library), "plotly.js stands there twice");
    for part in [before, after] {
        for loads in ["src=", "href=\"http", "url(", "@import", "http://", "https://"] {
            assert!(!part.contains(loads), "the page loads something by {loads}");
        }
    }
    assert!(before.contains("default-src 'none'"));
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
}

#[test]
fn names_from_outside_cannot_become_markup() {
    let mut run = common::run_with(|record| {
        record.tasks.iter_mut().for_each(|task| task.node = "</script><b>".into());
        true
    });
    run.manifest.plan.title = "</title><script>alert(1)</script>".into();
    run.manifest.host.node = "<img src=x>".into();
    let page = page(&run);
    let (own, _) = page.split_once("id=\"library\">").expect("plotly.js");
    assert!(!own.contains("<script>alert") && !own.contains("<img") && !own.contains("</script><b>"));
    assert!(!report::Study::of(&run).markdown().contains("<script>"));
}

#[test]
fn a_run_without_results_is_no_error() {
    let run = common::empty();
    assert!(report::Study::of(&run).text_in_full(report::Screen::PLAIN).contains("no finished result"));
    assert!(page(&run).contains("no finished result"));
    assert_eq!(report::Study::of(&run).csv().lines().count(), 1);
    let json: Value = serde_json::from_str(&report::Study::of(&run).json()).expect("JSON");
    assert_eq!(json["figures"], Value::Array(Vec::new()));
}

fn page(run: &record::Run) -> String {
    let mut out = Vec::new();
    report::Study::of(run).html(&mut out).expect("written");
    String::from_utf8(out).expect("UTF-8")
}
