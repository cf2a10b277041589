//! Whatever a study file holds, it is read or refused with a reason, and nothing panics.

use std::fmt::Write as _;

use crate::common::{RIGHT, shown, study};
use miette::Diagnostic;
use plan::study::reference;
use plan::{JobSpace, Jobs};
use proptest::prelude::{Just, Strategy, prop_assert_eq, prop_oneof, proptest};
use proptest::sample::select;

/// Reads `text` and shows what is wrong with it; gives what is wrong with that.
fn survives(text: &str) -> Result<(), String> {
    match study(text) {
        Ok(plan) if plan.cases.is_empty() => Err("a plan without cases".to_owned()),
        Ok(plan) => plan.cases.iter().filter_map(|case| case.workload.work.jobs()).try_for_each(launched),
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

/// Says what is wrong with jobs that were let through: each launch waits for others only, and for what it reads.
fn launched(jobs: &Jobs) -> Result<(), String> {
    let launches = jobs.launches();
    let mut done = vec![false; launches.len()];
    for _ in 0..launches.len() {
        for one in &launches {
            done[one.number as usize] |= one.after.iter().all(|&before| done[before as usize]);
        }
    }
    if !done.iter().all(|done| *done) {
        return Err("a launch that never begins".to_owned());
    }
    for test in &jobs.tests {
        for (place, step) in test.steps.iter().enumerate() {
            let known = jobs.extents(test, place);
            if let Some(input) = step.action.inputs().find(|input| !known.contains_key(*input)) {
                return Err(format!("`{input}` is not there"));
            }
        }
    }
    let needs: u64 = JobSpace::ALL.iter().fold(0, |sum, space| jobs.needs(*space).0.saturating_add(sum));
    if needs < jobs.loaded_bytes().0 {
        return Err("less space than the tables take".to_owned());
    }
    Ok(())
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

/// Jobs in which nothing is wrong, to be spoilt.
const JOBS: &str = r#"[[target]]
name = "scratch"
directory = "/mnt/scratch"

[[workload]]
name = "mix"
work = "jobs"
scale = 0.5
concurrency = 2

[[table]]
name = "x"
size = "1MB"
groups = 7

[[table]]
name = "y"
rows = 1000
sorted = true

[[test]]
name = "a"
kind = "io"
streams = 2
step = [{ do = "sort", input = "x", output = "z", space = "permanent" }]

[[test]]
name = "b"
kind = "computation"
after = ["a"]

[[test.step]]
do = "merge"
left = "z"
right = "y"
"#;

/// A step that may read, write or change any of a few tables.
fn steps() -> impl Strategy<Value = String> {
    let table = || select(vec!["x", "y", "z", "u", "v"]);
    let space = || select(vec!["work", "permanent", "utility"]);
    prop_oneof![
        (table(), table(), space()).prop_map(|(input, output, space)| format!(
            "{{ do = \"sort\", input = \"{input}\", output = \"{output}\", space = \"{space}\" }}"
        )),
        (table(), table(), table()).prop_map(|(left, right, output)| format!(
            "{{ do = \"merge\", left = \"{left}\", right = \"{right}\", output = \"{output}\" }}"
        )),
        (table(), 1_u64..i64::MAX.unsigned_abs()).prop_map(|(output, rows)| format!(
            "{{ do = \"generate\", output = \"{output}\", rows = {rows} }}"
        )),
        (table(), 1_u64..i64::MAX.unsigned_abs())
            .prop_map(|(table, rows)| format!("{{ do = \"append\", table = \"{table}\", rows = {rows} }}")),
        table().prop_map(|input| format!("{{ do = \"scan\", input = \"{input}\", keep = 0.5 }}")),
        Just("{ do = \"simulation\", operations = 1e18 }".to_owned()),
    ]
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
    fn damaged_jobs_are_read_or_refused(
        at in 0..JOBS.len(), cut in 0_usize..60, new in "[a-zé0-9\n\"\\[\\]={},.#-]{0,8}",
    ) {
        let mut text = JOBS.to_owned();
        text.replace_range(at..(at + cut).min(JOBS.len()), &new);
        prop_assert_eq!(survives(&text), Ok(()));
    }

    #[test]
    fn any_jobs_are_read_or_refused(
        tests in proptest::collection::vec(proptest::collection::vec(steps(), 0..5), 1..5),
        afters in proptest::collection::vec(select(vec!["t0", "t1", "t2", "t9"]), 0..5),
        scale in select(vec!["1", "1e-9", "1e6", "0.001"]),
    ) {
        let mut text = JOBS.split_once("[[test]]").unwrap().0.replace("scale = 0.5", &format!("scale = {scale}"));
        for (number, steps) in tests.iter().enumerate() {
            write!(text, "[[test]]\nname = \"t{number}\"\nkind = \"io\"\nstep = [{}]\n", steps.join(", ")).unwrap();
            if let Some(after) = afters.get(number) {
                writeln!(text, "after = [\"{after}\"]").unwrap();
            }
        }
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
