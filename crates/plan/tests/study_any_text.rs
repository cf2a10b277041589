//! Whatever a study file holds, it is read or refused with a reason, and nothing panics.

mod common;

use std::fmt::Write as _;

use common::{RIGHT, shown, study};
use miette::Diagnostic;
use plan::study::reference;
use proptest::prelude::{Strategy, prop_assert_eq, prop_oneof, proptest};
use proptest::sample::select;

/// Reads `text` and shows what is wrong with it; gives what is wrong with that.
fn survives(text: &str) -> Result<(), String> {
    match study(text) {
        Ok(plan) if plan.cases.is_empty() => Err("a plan without cases".to_owned()),
        Ok(_) => Ok(()),
        Err(errors) if errors.errors().is_empty() => Err("refused without a reason".to_owned()),
        Err(errors) => {
            let labels = errors.errors().iter().flat_map(|error| error.labels().into_iter().flatten());
            for label in labels {
                // A slice panics unless both ends are in the text and between two characters.
                let _marked = &text[label.offset()..label.offset() + label.len()];
            }
            let shown = shown(&errors);
            if shown.contains("Failed to read contents") { Err(shown) } else { Ok(()) }
        }
    }
}

/// Values that a key may be given by mistake.
fn values() -> impl Strategy<Value = String> {
    let odd = [
        "\"\"",
        "[]",
        "[[1]]",
        "{ a = 1 }",
        "nan",
        "-1",
        "0xff",
        "1979-05-27",
        "'''é\n'''",
        "9223372036854775807",
        "99999999999999999999",
        "true",
        "\"9223372036854775807\"",
        "[\"read\", \"write\"]",
        "[\"fill\", \"check-read\", \"mixed\"]",
        "\"random\"",
        "\"per-task\"",
        "\"4k\"",
        "\"1h\"",
    ];
    prop_oneof![select(odd.map(str::to_owned).to_vec()), "[0-9]{1,20}", "\"[a-zé0-9 .-]{0,12}\""]
}

/// Any key of any table, now and then none of them.
fn keys() -> impl Strategy<Value = String> {
    let row = |line: &str| Some(line.strip_prefix("| `")?.split_once("` |")?.0.to_owned());
    let documented: Vec<String> = reference()
        .lines()
        .filter_map(row)
        .filter(|key| key.chars().all(|c| c == '_' || c.is_alphabetic()))
        .collect();
    assert!(documented.len() > 40, "{documented:?}");
    prop_oneof![9 => select(documented), 1 => "[a-z_é]{0,8}"]
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text: String) {
        prop_assert_eq!(survives(&text), Ok(()));
    }

    #[test]
    fn a_damaged_study_is_read_or_refused(
        at in 0..RIGHT.len(), cut in 0_usize..40, new in "[a-zé0-9\n\r\t\"'\\[\\]={}.#\u{0}-]{0,8}",
    ) {
        let mut text = RIGHT.to_owned();
        text.replace_range(at..(at + cut).min(RIGHT.len()), &new);
        prop_assert_eq!(survives(&text), Ok(()));
    }

    #[test]
    fn any_key_with_any_value_is_read_or_refused(
        lines in proptest::collection::vec((keys(), values()), 1..6),
    ) {
        let mut text = RIGHT.to_owned();
        for (key, value) in lines {
            writeln!(text, "{key} = {value}").unwrap();
        }
        prop_assert_eq!(survives(&text), Ok(()));
    }
}
