//! What is stated about records with known true values.

use analysis::{
    audit::Outcome,
    gate::{Judgement, POLICY},
};
use plan::Statistic;
use report::{Screen, Study};
use serde_json::Value;

use crate::validation::draw::{Fault, Random};
use crate::validation::pages::{COMPARED, pages, power};
use crate::validation::percentiles::percentiles;
use crate::validation::rules::rules;
use crate::validation::said::{Kind, kinds_in_document, what_is_said};
use crate::validation::scenario::{FAULTS, Setup, USUAL, of_every_kind, pair, promised};
use crate::validation::{STATED_MIN, Source, Table};

/// Enough to detect a kind that is stated without cause, in a few seconds.
const TRIALS: usize = 1_300;
const SEED: u64 = 1;

fn table(source: Source, trials: usize) -> Table {
    let mut table = Table::new(source, SEED);
    table.go_on(trials);
    table
}

#[test]
fn statements_are_as_often_true_as_docs_validation_says() {
    let table = table(Source::Drawn, TRIALS);
    assert_eq!(table.broken_limits(), [""; 0], "{}", table.markdown());
}

/// Each trial takes a considerable part of a second here. `docs/VALIDATION.md` has 2,000.
const SIMULATED_TRIALS: usize = 48;

#[test]
fn statements_on_simulated_runs_are_as_often_true() {
    let table = table(Source::Simulated, SIMULATED_TRIALS);
    assert_eq!(table.broken_limits(), [""; 0], "{}", table.markdown());
}

#[test]
fn trials_that_were_interrupted_count_as_those_that_were_not() {
    let whole = table(Source::Drawn, 60);
    let first = serde_json::to_string(&table(Source::Drawn, 25)).expect("JSON");
    let mut rest: Table = serde_json::from_str(&first).expect("what was written");
    assert_eq!(rest.trials_of(Source::Drawn, SEED), Some(25));
    rest.go_on(60);
    assert_eq!(rest.markdown(), whole.markdown());
}

#[test]
fn the_test_of_differences_keeps_its_level_where_what_is_done_by_hand_does_not() {
    let rules = rules(TRIALS, SEED);
    assert_eq!(rules.broken_limits(), [""; 0], "{}", rules.markdown());
}

/// `docs/VALIDATION.md` has 2,000.
const PAGES: usize = 20;

#[test]
fn pages_of_many_kinds_of_noise_have_few_false_statements() {
    let pages = pages(PAGES, SEED);
    assert_eq!(pages.broken_limits(), [""; 0], "{}", pages.markdown());
}

#[test]
fn five_a_side_tell_ten_percent_at_two_percent_noise_among_many() {
    for compared in COMPARED {
        let share = power(0.02, 0.1, 5, compared, SEED);
        assert!(share >= STATED_MIN, "{share} of {compared}");
    }
}

/// `docs/VALIDATION.md` has the shares of more trials.
const PERCENTILE_TRIALS: usize = 100;

#[test]
fn promised_percentiles_are_not_kept_by_chance() {
    let percentiles = percentiles(PERCENTILE_TRIALS, SEED);
    assert_eq!(percentiles.broken_limits(), [""; 0], "{}", percentiles.markdown());
}

/// The share of `draws` in which a promise for all of `cases` cases is reported as broken, although the true value of
/// each is half a standard error above it.
fn broken_by_chance(cases: u32, draws: u64) -> f64 {
    let mut random = Random(SEED);
    let setup = Setup { repetitions: 6, noise: 0.02, ..USUAL };
    let fails = (0..draws).filter(|_| {
        let run = promised(setup, 0.5, Statistic::ConfidenceBound, cases, &mut random).run;
        let figures = analysis::figures::figures(&run, analysis::RateName::ByWall);
        analysis::comparisons::verdicts(&run.manifest.plan, &figures, &[])[0].judgement
            == Judgement::DoesNotHold
    });
    fails.count() as f64 / draws as f64
}

#[test]
fn a_promise_of_many_cases_is_no_oftener_broken_by_chance_than_one_of_a_single_case() {
    assert!(broken_by_chance(24, 200) <= 0.06, "{}", broken_by_chance(24, 200));
}

/// What the formats contain if something is stated. The document is checked by its keys instead.
const LEAKS: [&str; 5] = [
    "PASS  ",
    "FAIL  ",
    "=\"PASS\"} 1",
    "ioproof_statement=\"stated\"} 1",
    "ioproof_statement=\"marked\"} 1",
];

/// What a study of two targets states if the second is 10 % faster: the kinds, and the formats that state them.
fn stated(fault: Fault) -> (Vec<Kind>, Vec<&'static str>) {
    let (mut kinds, mut forms) = (Vec::new(), Vec::new());
    // With and without a baseline.
    for seed in 1..=4 {
        let run = pair(Setup { fault, ..USUAL }, &mut Random(seed)).run;
        let figures = analysis::figures::figures(&run, analysis::RateName::ByWall);
        let found = what_is_said(&analysis::findings::findings(&run, &figures), &figures);
        kinds.extend(found.iter().map(|one| one.kind));
        let study = Study::of(&run);
        let document: Value = serde_json::from_str(&study.json()).expect("JSON");
        kinds.extend(kinds_in_document(&document));
        let mut page = Vec::new();
        study.html(&mut page).expect("memory takes it");
        let page = String::from_utf8(page).expect("UTF-8");
        let page = page.split("<script").next().expect("a first part");
        let page = page.split('<').filter_map(|tag| tag.split_once('>'));
        let page = page.map(|(_, text)| format!("{text} ")).collect();
        for (form, text) in [
            ("text", study.text_in_full(Screen::PLAIN)),
            ("markdown", study.markdown()),
            ("html", page),
            ("csv", study.csv()),
            ("json", study.json()),
            ("openmetrics", study.openmetrics()),
        ] {
            let leaks = fault != Fault::None && LEAKS.iter().any(|words| text.contains(words));
            if (says_faster(form, &text) || leaks) && !forms.contains(&form) {
                forms.push(form);
            }
        }
    }
    kinds.sort();
    kinds.dedup();
    (kinds, forms)
}

/// Whether a format says that the claim of the study holds.
fn says_faster(form: &str, text: &str) -> bool {
    let words: String = text.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    match form {
        "openmetrics" => {
            text.contains("text=\"B is faster than A.\",id=\"greater\",ioproof_claim=\"holds\"} 1")
        }
        "json" => words.contains("standing holds text B is faster than A"),
        "csv" => text
            .lines()
            .any(|row| row.contains(",claim,") && row.contains(",holds,") && row.contains("B is faster")),
        _ => words.contains("holds B is faster than A") && !words.contains("not hold B is faster than A"),
    }
}

#[test]
fn a_study_without_a_usable_figure_states_nothing_in_any_form() {
    for fault in FAULTS {
        assert_eq!(stated(fault), (vec![], vec![]), "{fault:?}");
    }
}

#[test]
fn an_effect_of_ten_percent_is_stated_in_all_six_forms() {
    let (kinds, forms) = stated(Fault::None);
    assert!(kinds.contains(&Kind::ClaimGreater) && kinds.contains(&Kind::LayerOverhead), "{kinds:?}");
    assert_eq!(forms, ["text", "markdown", "html", "csv", "json", "openmetrics"]);
}

/// The kinds for which figures that do not count have a row with more than its subject, in the findings or in the
/// document. Also returns all kinds that have rows.
fn kinds_with_rows(fault: Fault) -> (Vec<&'static str>, Vec<&'static str>) {
    let run = of_every_kind(Setup { fault, ..USUAL }, &mut Random(SEED));
    let figures = analysis::figures::figures(&run, analysis::RateName::ByWall);
    let document: Value = serde_json::from_str(&Study::of(&run).json()).expect("JSON");
    let (mut stated, mut all) = (Vec::new(), Vec::new());
    for table in analysis::findings::findings(&run, &figures).tables() {
        let policy = table.kind.policy();
        let rows = document["statements"][policy.id].as_array().expect("a list");
        let rests_on_figures = |row: &&Value| row["figures"].as_array().is_some_and(|of| !of.is_empty());
        let is_said = |row: &&Value| row["outcome"] != "withheld";
        let found = table.rows.iter().filter(|row| !row.figures.is_empty());
        let said = found.clone().filter(|row| row.outcome != Outcome::Withheld).count();
        assert_eq!(said, rows.iter().filter(rests_on_figures).filter(is_said).count(), "{}", policy.id);
        all.extend((found.count() > 0).then_some(policy.id));
        stated.extend((said > 0).then_some(policy.id));
    }
    (stated, all)
}

#[test]
fn of_figures_that_count_for_nothing_only_observations_are_shown() {
    // What was fixed before the run is judged by its own rules: it is doubtful in this case, or not tested.
    let judged = |id: &&str| !["commitment", "claim"].contains(id);
    let concludes = |id: &&str| POLICY.iter().any(|row| row.id == *id && !row.is_observation());
    for fault in FAULTS {
        let (stated, all) = kinds_with_rows(fault);
        let stated: Vec<_> = stated.into_iter().filter(judged).filter(concludes).collect();
        assert_eq!(stated, Vec::<&str>::new(), "{fault:?}");
        let kinds = ["best", "tax", "layer", "cost", "expected", "published", "nodes", "node"];
        for id in kinds.into_iter().chain(["member_set", "member", "seek", "strip"]) {
            assert!(all.contains(&id), "{id} of {all:?}");
        }
    }
}
