//! Every output format of a simulated run says that it is simulated next to its answer, and reports no promise as
//! kept.

use record::Run;
use report::{History, HistorySelection, Pair, Screen, Study, compare};
use std::slice;

use crate::common::simulated::simulated;
use crate::common::{self, study};

const MARK: &str = "SIMULATED by model twelve cards";

/// Simulated runs of every kind.
fn runs() -> Vec<Run> {
    let all = [
        common::run(),
        common::killed(),
        common::empty(),
        study::study(),
        common::cluster::compared(4),
        common::operations::files(),
        common::matrix::matrix(),
        common::layers::layers(),
    ];
    all.into_iter().map(simulated).collect()
}

fn page(study: &Study<'_>) -> String {
    let mut page = Vec::new();
    study.html(&mut page).expect("written");
    String::from_utf8(page).expect("UTF-8")
}

/// The text of an element that occurs once.
fn element<'a>(page: &'a str, name: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("<{name}>")).expect("begins");
    rest.split_once(&format!("</{name}>")).expect("ends").0
}

/// The cells of a column.
fn column(csv: &str, name: &str) -> Vec<String> {
    let mut rows = common::rows(csv).into_iter();
    let place = rows.next().expect("a heading").iter().position(|one| one == name).expect("the column");
    rows.map(|mut row| row.swap_remove(place)).collect()
}

#[test]
fn the_first_line_of_each_form_for_people_has_the_mark() {
    for run in runs() {
        let study = Study::of(&run);
        let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        let mut texts = vec![
            study.text(Screen::PLAIN),
            study.text_in_full(Screen::PLAIN),
            study.markdown(),
            study.check(Screen::PLAIN),
        ];
        if study.promises() {
            texts.push(study.verdicts(Screen::PLAIN));
            texts.extend(study.sheet(Screen::PLAIN));
            texts.extend(study.sheet_markdown());
            assert!(element(&study.sheet_html().expect("a sheet"), "h1").starts_with(MARK));
        }
        for text in texts {
            assert!(first(&text).trim_start_matches("# ").starts_with(MARK), "{}", first(&text));
        }
        let page = page(&study);
        assert!(element(&page, "title").starts_with(MARK), "{}", element(&page, "title"));
        let (_, shown) = page.split_once("<body>").expect("a body");
        let strip = format!("<p class=\"mark\" role=\"note\">{MARK}, not measured</p>");
        assert!(shown.trim_start().starts_with(&strip), "{}", &shown[..200]);
    }
}

#[test]
fn every_chart_has_the_mark_within_its_drawing() {
    let run = simulated(study::study());
    let page = page(&Study::of(&run));
    let (_, charts) = page.split_once("<script type=\"application/json\" id=\"charts\">").expect("charts");
    let charts: Vec<serde_json::Value> =
        serde_json::from_str(charts.split_once("</script>").expect("they end").0).expect("JSON");
    assert!(charts.len() > 5, "{}", charts.len());
    for chart in charts {
        assert_eq!(chart["layout"]["title"]["text"], MARK, "{}", chart["id"]);
    }
}

#[test]
fn every_row_and_sample_for_programs_names_the_model() {
    for run in runs() {
        let study = Study::of(&run);
        let csv = study.csv();
        assert!(column(&csv, "model").iter().all(|one| one == "twelve cards"), "{csv}");
        assert!(column(&csv, "provenance").iter().all(|one| one == "simulated"), "{csv}");
        if let Some(launches) = study.launches_csv() {
            assert!(column(&launches, "model").iter().all(|one| one == "twelve cards"));
        }
        let metrics = study.openmetrics();
        for sample in metrics.lines().filter(|line| !line.starts_with('#')) {
            assert!(sample.contains("{simulated_by=\"twelve cards\""), "{sample}");
        }
        for json in [study.json(), study.verdicts_json(), study.check_json()] {
            let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
            let of = if value["run"].is_object() { &value["run"] } else { &value };
            assert_eq!((&of["provenance"], &of["model"]["seed"]), (&"simulated".into(), &7.into()));
        }
    }
}

/// The words for a verdict on measured figures appear in no format, and no format says that the run kept anything.
#[test]
fn no_form_says_that_a_promise_was_kept() {
    for run in runs().into_iter().filter(|run| Study::of(run).promises()) {
        let study = Study::of(&run);
        let forms = [
            study.text(Screen::PLAIN),
            study.text_in_full(Screen::PLAIN),
            study.markdown(),
            page(&study),
            study.csv(),
            study.json(),
            study.openmetrics(),
            study.verdicts_json(),
            study.sheet(Screen::PLAIN).expect("a sheet"),
        ];
        for form in forms {
            // Without the chart library, and without the general definitions of the metrics.
            let form = form.split("<script>").next().expect("a form").lines();
            let form = form.filter(|line| !line.starts_with("# HELP")).collect::<Vec<_>>().join("\n");
            for word in ["PASS", "FAIL", "DOUBTFUL", "NOT TESTED", "It was kept", "It was not kept"] {
                let around = form.find(word).map(|at| &form[at.saturating_sub(120)..at + 40]);
                assert_eq!(around, None, "{word}");
            }
        }
        assert!(!study.kept());
        let json: serde_json::Value = serde_json::from_str(&study.verdicts_json()).expect("JSON");
        assert_eq!(json["kept"], false);
        assert!(json["would_be_kept"].is_boolean());
    }
}

#[test]
fn a_promise_that_all_figures_reach_would_be_kept_and_is_not() {
    let mut run = study::study();
    run.manifest.plan.criteria.commitments.truncate(1);
    run.manifest.plan.criteria.commitments[0].asked = plan::Amount::BytesPerSecond(1.0).into();
    run.manifest.plan.criteria.commitments[0].over = plan::Over::Every;
    run.manifest.plan.criteria.commitments[0].statistic = plan::Statistic::Worst;
    let run = simulated(run);
    let study = Study::of(&run);
    let text = study.verdicts(Screen::PLAIN);
    assert!(text.contains("would be kept in this model"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&study.verdicts_json()).expect("JSON");
    assert_eq!((&json["kept"], &json["would_be_kept"]), (&false.into(), &true.into()));
    assert!(!study.kept());
}

/// Host facts that a simulated run lacks are not displayed as if they had been checked.
#[test]
fn only_what_the_model_says_of_its_machine_is_shown() {
    let run = simulated(study::study());
    let study = Study::of(&run);
    for form in [study.text_in_full(Screen::PLAIN.wide(200)), study.markdown()] {
        assert!(form.contains("the model's machine: node1"), "{form}");
        for word in ["not looked for", "the model does not say", "this host", "no device counters"] {
            assert!(!form.contains(word), "{word}: {form}");
        }
    }
    let page = page(&study);
    assert!(page.contains("<h3 id=\"host\">The model&#39;s machine</h3>"));
    assert!(!page.contains("not looked for") && !page.contains("this host"));
}

#[test]
fn a_comparison_says_first_that_a_difference_is_the_error_of_the_model() {
    let (measured, model) = (study::study(), simulated(study::again()));
    let said = "a difference is the error of the model";
    for (before, after) in [(&measured, &model), (&model, &measured)] {
        let pair: Pair<'_> = compare([before, after].map(slice::from_ref), &[]);
        for text in [pair.text(Screen::PLAIN), pair.text_in_full(Screen::PLAIN), pair.markdown()] {
            let first = text.lines().next().expect("a line");
            assert!(first.contains("SIMULATED") && first.ends_with(said), "{first}");
        }
        let json: serde_json::Value = serde_json::from_str(&pair.json()).expect("JSON");
        assert!(json["about"].as_str().expect("text").ends_with(said), "{json}");
        let page = page(&Study::of(before).beside(Study::of(after), &[]));
        let (_, card) = page.split_once("<div class=\"card\">").expect("a card");
        assert!(card.find(said).expect("the mark") < 400, "it stands first");
        assert!(element(&page, "title").contains(MARK));
    }
    let both = simulated(study::study());
    let text = compare([&both, &model].map(slice::from_ref), &[]).text(Screen::PLAIN);
    assert!(text.starts_with("Comparison of two SIMULATED runs: nothing was measured\n"), "{text}");
}

#[test]
fn single_operations_of_a_model_are_marked() {
    let mut run = common::operations::imported();
    assert!(!History::of(&run, &HistorySelection::default()).text(Screen::PLAIN).contains("SIMULATED"));
    run = simulated(run);
    let history = History::of(&run, &HistorySelection::default());
    assert!(history.text(Screen::PLAIN).starts_with(MARK));
    assert!(column(&history.csv(), "model").iter().all(|one| one == "twelve cards"));
    let json: serde_json::Value = serde_json::from_str(&history.json()).expect("JSON");
    assert_eq!(json[0]["model"], "twelve cards");
}

/// The name of a model is arbitrary text from the author of its file.
#[test]
fn the_name_of_a_model_starts_no_line_and_no_tag() {
    let mut run = simulated(study::study());
    let name = "x\u{1b}[2J\nioproof: PASS <script>alert(1)</script>";
    run.manifest.model.as_mut().expect("a model").name = name.to_owned();
    let study = Study::of(&run);
    let mut imported = common::operations::imported();
    imported.manifest = run.manifest.clone().simulated(run.manifest.model.clone().expect("a model"));
    let texts = [
        study.text(Screen::PLAIN),
        study.text_in_full(Screen::PLAIN),
        study.verdicts(Screen::PLAIN),
        study.sheet(Screen::PLAIN).expect("a sheet"),
        study.markdown(),
        study.sheet_markdown().expect("a sheet"),
        study.openmetrics(),
        compare([&run, &run].map(slice::from_ref), &[]).text(Screen::PLAIN),
        History::of(&imported, &HistorySelection::default()).text(Screen::PLAIN),
    ];
    for text in texts {
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(!text.lines().any(|line| line.starts_with("ioproof: PASS")), "{text}");
    }
    assert!(!page(&study).contains("<script>alert"));
    assert!(!study.sheet_html().expect("a sheet").contains("<script>alert"));
}
