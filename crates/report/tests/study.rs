//! A study in every form: what an engineer reads, and hands to a vendor.

mod common;

use common::redacted;
use report::{Colour, Study};

fn shown<R>(of: impl FnOnce(&Study<'_>) -> R) -> R {
    let run = common::study::study();
    of(&Study::with(&run, |figures| common::findings::findings(&run, figures)))
}

#[test]
fn a_study_of_six_layouts_as_text() {
    insta::assert_snapshot!(redacted(&shown(|study| study.text(Colour::Plain))));
}

#[test]
fn a_study_of_six_layouts_as_markdown() {
    insta::assert_snapshot!(redacted(&shown(|study| study.markdown())));
}

#[test]
fn a_study_fits_a_terminal() {
    let text = shown(|study| study.text(Colour::Plain));
    for line in text.lines() {
        assert!(line.chars().count() <= 120, "{} columns: {line}", line.chars().count());
    }
    assert!(text.contains("more rows in the other forms"), "long sweeps are cut, and say so");
}
