//! What a reader sees first: short, as wide as the terminal, and every figure with what speaks against it.

use record::{Warning, WarningRow};
use report::{Screen, Study};

use crate::common;
use crate::golden;

/// Lines of a card: title, circumstances, an empty line and what follows up to the next empty one or to the figures.
fn card(text: &str) -> usize {
    let mut empty = 0;
    text.lines()
        .take_while(|line| {
            empty += usize::from(line.is_empty());
            empty < 2 && *line != "Figures"
        })
        .count()
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
            assert!(card(&text) <= 15, "{name}: {text}");
            assert!(text.lines().count() <= 120, "{name}: {} lines\n{text}", text.lines().count());
            let whole = study.text_in_full(Screen::PLAIN.wide(columns));
            let long = whole.lines().find(|line| line.chars().count() > columns);
            assert_eq!(long, None, "{name}, {columns} columns");
        }
    }
}

#[test]
fn answers_at_80_columns() {
    let shown = ["whole", "study", "files", "exchanges", "matrix", "weak-scaling", "killed", "empty"];
    for (name, run) in golden::runs().into_iter().filter(|(name, _)| shown.contains(&name.as_str())) {
        let text =
            Study::of(&run).text(Screen::PLAIN.wide(80)).replace(env!("CARGO_PKG_VERSION"), "[version]");
        insta::assert_snapshot!(format!("answer_{name}"), text);
    }
}

#[test]
fn what_changed_at_80_columns() {
    let (before, after) = (common::study::study(), common::study::again());
    let text = report::compare(&before, &after).text(Screen::PLAIN.wide(80));
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
}

/// Of three figures on a busy host the last is the worst, and the second repeats what the first says.
#[test]
fn a_cause_shows_the_figure_where_it_is_worst() {
    let mut run = common::run();
    run.warnings.clear();
    for (row, share) in run.phases.iter().filter(|row| row.key.repetition == 0).zip([0.31, 0.31, 0.85]) {
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
