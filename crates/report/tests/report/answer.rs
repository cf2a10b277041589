//! The beginning of a report: it is short, fits the width of the terminal, and lists the doubts about each figure.

use record::{Warning, WarningRow};
use report::{Screen, Study};
use std::slice;

use crate::common;
use crate::golden;

/// The number of lines before the figures, what is shown of imported texts and jobs, or the doubts: title, circumstances,
/// and what the card says.
fn card(text: &str) -> usize {
    let ends = ["Figures", "What was printed", "Jobs"];
    text.lines().take_while(|line| !ends.contains(line) && !line.starts_with("a  ")).count()
}

#[test]
fn the_answer_fits_every_terminal_and_is_short() {
    for (name, run) in golden::runs() {
        let study = Study::of(&run);
        for columns in [80, 100, 160] {
            let text = study.text(Screen::PLAIN.wide(columns));
            for line in text.lines() {
                assert!(line.chars().count() <= columns, "{name}, {columns} columns: {line}");
            }
            // Commitments, claims and targets beside each other have up to 8, 6 and 16 rows, which a narrow terminal folds.
            let most = if columns > 80 { 45 } else { 70 };
            assert!(card(&text) <= most, "{name}: {text}");
            assert!(text.lines().count() <= 120, "{name}: {} lines\n{text}", text.lines().count());
            let whole = study.text_in_full(Screen::PLAIN.wide(columns));
            let long = whole.lines().find(|line| line.chars().count() > columns);
            assert_eq!(long, None, "{name}, {columns} columns");
        }
    }
}

#[test]
fn answers_at_80_columns() {
    let shown =
        ["whole", "study", "concurrent", "files", "exchanges", "matrix", "weak-scaling", "killed", "empty"];
    for (name, run) in golden::runs().into_iter().filter(|(name, _)| shown.contains(&name.as_str())) {
        let text =
            Study::of(&run).text(Screen::PLAIN.wide(80)).replace(env!("CARGO_PKG_VERSION"), "[version]");
        insta::assert_snapshot!(format!("answer_{name}"), text);
    }
}

/// The answer for a matrix is its duration, how its launches ended, and how many ran in parallel.
#[test]
fn the_card_of_jobs_says_how_they_ended() {
    let run = common::matrix::matrix_with(|launch| {
        if launch.launch < 2 && launch.key.case == *"analytics:flash" {
            launch.outcome = "skipped".into();
        }
    });
    let text = Study::of(&run).text(Screen::PLAIN.wide(120));
    let (card, _) = text.split_once("\nFigures\n").expect("figures");
    for words in ["elapsed", "mean at a time", "505 of 505 complete", "495 of 505 complete, 10 skipped"] {
        assert!(card.contains(words), "nothing says {words:?} in\n{card}");
    }
}

#[test]
fn the_card_of_a_tree_has_the_rates_of_its_phases() {
    let text = Study::of(&common::operations::files()).text(Screen::PLAIN.wide(120));
    let (first, _) = text.split_once("\n\na  ").expect("doubts");
    assert!(first.contains("creates/s") && !first.contains("\nFigures\n"), "{first}");
}

/// Statements are identified by their words, verdicts by the letters of their figure.
#[test]
fn a_card_says_what_was_claimed_and_which_verdict_is_doubted() {
    let mut run = common::study::study();
    let rows: Vec<_> = run.all_phases().filter(|row| row.key.phase == plan::Phase::Read).collect();
    for row in rows {
        let warning =
            Warning::NotQuiet { seen: "others used 31 % of the processors".to_owned(), share: 0.31 };
        run.warnings.push(WarningRow { key: Some(row.key.clone()), warning });
    }
    let claim = run.manifest.plan.criteria.claims[0].text.clone();
    let text = Study::of(&run).text(Screen::PLAIN.wide(160));
    let (card, _) = text.split_once("\nFigures\n").expect("figures");
    let words: Vec<&str> = claim.split(' ').take(3).collect();
    assert!(!words.is_empty() && card.contains(&words.join(" ")), "{claim}\n{card}");
    let verdict = card.lines().find(|line| line.contains("all layouts")).expect("a verdict");
    assert!(verdict.contains("≥ 40 GB/s") && verdict.ends_with(" a"), "{verdict}");
    let stands = card.contains("The doubts marked here do not change these verdicts");
    assert_eq!(stands, !verdict.starts_with("DOUBTFUL"), "{card}");
}

/// A summary sheet states how much of the promise was reached, who ran what where (once), and the command.
/// A best point that is withheld has its line, with the reason.
#[test]
fn a_card_says_why_a_best_point_is_withheld() {
    let mut run = common::study::study();
    let text = |run: &record::Run| Study::of(run).text(Screen::PLAIN.wide(200));
    assert!(!text(&run).contains("is withheld"), "{}", text(&run));
    run.change_phases(|row| Some(record::PhaseRow { wrong_cells: 1, ..row }));
    let text = text(&run);
    let line = text.lines().find(|line| line.starts_with("The best of ")).unwrap_or_else(|| panic!("{text}"));
    assert!(line.ends_with(" sweeps is withheld: wrong data."), "{line}");
}

#[test]
fn a_sheet_gives_the_share_of_the_promise_and_the_plan_that_ran() {
    let run = common::study::study();
    let sheet = Study::of(&run).sheet(Screen::PLAIN.wide(160)).expect("a sheet");
    assert_eq!(sheet.matches("Who, where and when").count(), 1, "{sheet}");
    assert!(sheet.contains(&record::plan_sha256(&run.manifest.plan)), "{sheet}");
    assert!(sheet.contains(" % of what was promised"), "{sheet}");
    assert!(!sheet.contains("is no worse than"), "{sheet}");
}

#[test]
fn what_changed_at_80_columns() {
    let (before, after) = (common::study::study(), common::study::again());
    let text = report::compare([&before, &after].map(slice::from_ref), &[]).text(Screen::PLAIN.wide(80));
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
}

/// Of three figures on a busy host the last is the worst, and the second repeats the doubts of the first.
#[test]
fn a_cause_shows_the_figure_where_it_is_worst() {
    let mut run = common::run();
    run.warnings.clear();
    let rows: Vec<_> = run.all_phases().filter(|row| row.key.repetition == 0).collect();
    for (row, share) in rows.into_iter().zip([0.31, 0.31, 0.85]) {
        let seen = format!("others used {:.0} % of the processors", share * 100.0);
        run.warnings
            .push(WarningRow { key: Some(row.key.clone()), warning: Warning::NotQuiet { seen, share } });
    }
    let text = Study::of(&run).text(Screen::PLAIN.wide(200));
    let told: Vec<&str> = text.lines().filter(|line| line.contains("not quiet")).collect();
    assert_eq!(told.len(), 1, "{text}");
    assert!(told[0].contains("#3: others used 85 % of the processors"), "{text}");
    assert!(!text.contains("31 %"), "{text}");
}

/// A user who runs mdtest did not ask for a comparison with the machine of a study.
#[test]
fn a_command_line_is_not_set_against_another_machine() {
    let run = common::operations::files();
    let json: serde_json::Value = serde_json::from_str(&report::Study::of(&run).json()).expect("JSON");
    let published = json["statements"]["published"].as_array().expect("published figures");
    assert!(!published.is_empty() && published.iter().all(|one| one["ratio"].is_null()), "{published:?}");
    assert_eq!(json["machines"], serde_json::json!([]));
}
