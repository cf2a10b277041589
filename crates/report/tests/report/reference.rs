//! The library of published figures, as shown to a reader.

use record::{Metric, PublishedOperation, published};
use report::Screen;
use report::reference::{Filter, claims, json, list, misprints, show, show_json, studies};

fn filter(study: &str, text: &str) -> Filter {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Filter { study: some(study), text: some(text), ..Filter::default() }
}

#[test]
fn every_line_fits_a_terminal() {
    let library = published();
    let all = Filter::default();
    let mut texts = vec![
        list(library, &all, Screen::PLAIN),
        studies(library, &all, Screen::PLAIN),
        claims(library, &all, Screen::PLAIN),
        misprints(library, &all, Screen::PLAIN),
    ];
    let figures = library
        .figures
        .iter()
        .map(|figure| show(library, &figure.id, Screen::PLAIN).expect("an id of its own"));
    texts.extend(figures);
    for line in texts.iter().flat_map(|text| text.lines()) {
        assert!(line.chars().count() <= 120, "{line}");
    }
}

#[test]
fn figures_of_one_test_are_listed_in_one_unit() {
    insta::assert_snapshot!(list(published(), &filter("A", "test 3"), Screen::PLAIN));
}

#[test]
fn filters_go_together() {
    let library = published();
    let only = Filter {
        metric: Some(Metric::Iops),
        operation: Some(PublishedOperation::Write),
        ..filter("b", "ssd")
    };
    let text = list(library, &only, Screen::PLAIN);
    assert!(
        text.contains("b-iops-ssd-write")
            && !text.contains("b-iops-nvme")
            && !text.contains("b-iops-ssd-read"),
        "{text}"
    );
    assert_eq!(
        list(library, &filter("F", ""), Screen::PLAIN),
        "no published figure matches; leave a filter out\n"
    );
    assert_eq!(json(library, &only)["figures"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_misprint_is_shown_with_both_readings_and_the_audit() {
    insta::assert_snapshot!(show(published(), "b-ws-nvme-write-max", Screen::PLAIN).expect("a figure"));
    let text = show(published(), "c-tab2-flash-sdev", Screen::PLAIN).expect("a figure");
    assert!(text.contains("at least 0.152"), "{text}");
}

#[test]
fn other_entries_are_shown_by_their_ids() {
    let library = published();
    insta::assert_snapshot!(show(library, "a-cmd-md-t5a", Screen::PLAIN).expect("a command line"));
    assert!(
        show(library, "a-claim-tax", Screen::PLAIN)
            .expect("a statement")
            .contains("9.1% tax in read throughput")
    );
    assert!(show(library, "d-fig-many", Screen::PLAIN).is_some());
    assert!(show(library, "C", Screen::PLAIN).expect("a study").contains("Allen Scheer"));
    assert_eq!(show(library, "nothing", Screen::PLAIN), None);
    let command = show_json(library, "a-cmd-md-t5a").expect("a command line");
    assert_eq!(command["misprints"].as_array().map(Vec::len), Some(1));
}

#[test]
fn misprints_and_statements_can_be_looked_through() {
    let text = misprints(published(), &filter("E", "iozone"), Screen::PLAIN);
    insta::assert_snapshot!(text);
    let found = claims(published(), &filter("D", "commitments"), Screen::PLAIN);
    assert!(found.starts_with("d-claim-commit\n") && found.contains("score >= 1,000,000"), "{found}");
}

#[test]
fn json_has_everything_of_the_library() {
    let all = json(published(), &Filter::default());
    let count = |key: &str| all[key].as_array().map(Vec::len);
    assert_eq!(count("figures"), Some(331));
    assert_eq!((count("claims"), count("commands"), count("charts")), (Some(38), Some(27), Some(33)));
    assert_eq!((count("studies"), count("misprints")), (Some(5), Some(39)));
    assert_eq!(all["figures"][0]["metric"], "bandwidth");
}
