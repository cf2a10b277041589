//! Whatever text is given: an import ends with an answer, and never with a part of one.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use dialect::import::{Imported, Text, import};
use plan::limits::{PRINTED_LINES, PRINTED_OUTPUTS};
use proptest::prelude::*;

/// Every fixture by name.
fn fixtures() -> Vec<(String, String)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dialect/fixtures/import");
    let mut found: Vec<(String, String)> = fs::read_dir(directory)
        .expect("the fixtures")
        .map(|entry| {
            let entry = entry.expect("a fixture");
            let text = fs::read_to_string(entry.path()).expect("text");
            (entry.file_name().to_string_lossy().into_owned(), text)
        })
        .collect();
    found.sort();
    assert!(found.len() > 20, "{found:?}");
    found
}

fn read(text: &str) -> Option<Imported> {
    import(&[Text { name: "f", bytes: text.as_bytes() }], None, 0).ok()
}

/// Where each value stands, and what it is.
fn values(imported: &Imported) -> HashSet<(u32, String, String, String)> {
    let rows = imported.phases.iter().flat_map(|record| &record.printed);
    rows.map(|row| (row.line, row.label.to_string(), row.statistic.to_string(), row.value.to_string()))
        .collect()
}

#[test]
fn every_fixture_is_read() {
    for (name, text) in fixtures() {
        let imported = import(&[Text { name: &name, bytes: text.as_bytes() }], None, 0);
        let imported = imported.unwrap_or_else(|error| panic!("{error}"));
        assert!(!imported.phases.is_empty() && !imported.plan.cases.is_empty(), "{name}");
        for record in &imported.phases {
            assert!(record.phase.wall_ns > 0, "{name}: {:?}", record.phase);
            assert!(record.printed.iter().all(|row| row.source == name && row.line > 0), "{name}");
        }
    }
}

/// Some languages separate decimals by a comma. IOR prints such numbers where the locale is one of theirs.
#[test]
fn a_decimal_comma_is_named() {
    let text = include_str!("fixtures/import/ior-4.1.txt").replace(".00 ", ",00 ");
    let error =
        import(&[Text { name: "f", bytes: text.as_bytes() }], None, 0).expect_err("a comma").to_string();
    assert!(error.contains("LC_ALL=C"), "{error}");
}

/// Every line of a text may have a label of the launcher, or the time, before it.
#[test]
fn prefixes_of_launchers_change_nothing() {
    for (name, text) in fixtures() {
        let Some(plain) = read(&text) else { continue };
        for prefix in ["0: ", "[1,0]<stdout>:", "2019-02-20T21:58:34 "] {
            let labelled: String = text.lines().map(|line| format!("{prefix}{line}\n")).collect();
            let found = read(&labelled).unwrap_or_else(|| panic!("{name} with {prefix:?} is not read"));
            assert_eq!((&found.phases, &found.tools), (&plain.phases, &plain.tools), "{name}, {prefix:?}");
        }
    }
}

/// A labelled text that is cut off is refused for that, and not as unknown.
#[test]
fn a_labelled_text_that_is_cut_off_says_so() {
    let text = include_str!("fixtures/import/ior-4.1.txt");
    let lines = text.lines().take_while(|line| !line.starts_with("write"));
    let labelled: String = lines.map(|line| format!("0: {line}\n")).collect();
    let texts = [Text { name: "f", bytes: labelled.as_bytes() }];
    let error = import(&texts, None, 0).expect_err("no results").to_string();
    assert!(error.contains("ends before"), "{error}");
}

/// A text that was cut off says so, or all that it still gives is as it was printed.
#[test]
fn a_text_that_was_cut_off_gives_no_value_that_was_not_printed() {
    let (mut refused, mut half) = (0, Vec::new());
    for (name, text) in fixtures() {
        let lines: Vec<&str> = text.lines().collect();
        let is_whole = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_digit() && c != '.');
        // The value stands on its line, and goes on neither before nor behind.
        let stands = |(line, _, _, value): &(u32, String, String, String)| {
            let line = lines[*line as usize - 1];
            line.match_indices(value.as_str()).any(|(at, _)| {
                is_whole(line[..at].chars().next_back()) && is_whole(line[at + value.len()..].chars().next())
            })
        };
        // Every place in short ones; else places near the end of a line, and some between.
        let step = text.len() / 1500 + 1;
        let ends = text.char_indices().map(|(at, _)| at).filter(|at| {
            let near = text.as_bytes()[at.saturating_sub(4)..(at + 4).min(text.len())].contains(&b'\n');
            at % step == 0 && (near || text.len() < 1200 || at % 61 == 0)
        });
        for end in ends {
            match read(&text[..end]) {
                None => refused += 1,
                Some(part) => {
                    let found = values(&part);
                    let wrong: Vec<_> = found.iter().filter(|row| !stands(row)).collect();
                    if !wrong.is_empty() {
                        half.push(format!("{name} cut at {end}: {wrong:?}"));
                    }
                }
            }
        }
    }
    assert!(half.is_empty(), "{}", half.join("\n"));
    assert!(refused > 1000, "{refused}");
}

/// A text is changed at one place: a byte, a line twice, a line left out.
#[derive(Debug, Clone)]
enum Change {
    Character(char),
    Twice,
    Without,
    Number(String),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        any::<char>().prop_map(Change::Character),
        Just(Change::Twice),
        Just(Change::Without),
        prop_oneof!["-?[0-9]{1,25}", "[0-9]{1,5}e[0-9]{1,4}", Just("NaN".to_owned()), Just("inf".to_owned())]
            .prop_map(Change::Number),
    ]
}

fn changed(text: &str, place: prop::sample::Index, change: &Change) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let at = place.index(lines.len());
    let line = lines[at];
    let replaced = match change {
        Change::Twice => format!("{line}{line}"),
        Change::Without => String::new(),
        Change::Character(c) => {
            let places: Vec<usize> = line.char_indices().map(|(at, _)| at).collect();
            let place = places[place.index(places.len())];
            let rest = line[place..].chars().next().map_or(0, char::len_utf8);
            format!("{}{c}{}", &line[..place], &line[place + rest..])
        }
        Change::Number(number) => {
            let start = line.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
            let end = line[start..].find(|c: char| !c.is_ascii_digit()).map_or(line.len(), |end| start + end);
            format!("{}{number}{}", &line[..start], &line[end..])
        }
    };
    let mut all: Vec<&str> = lines;
    all[at] = &replaced;
    all.concat()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_changed_text_is_read_or_refused(which: prop::sample::Index, place: prop::sample::Index, change in change()) {
        let fixtures = fixtures();
        let (_, text) = &fixtures[which.index(fixtures.len())];
        let text = changed(text, place, &change);
        if let Some(imported) = read(&text) {
            for record in &imported.phases {
                prop_assert!(record.printed.iter().all(|row| row.number.is_none_or(f64::is_finite)));
                prop_assert!(imported.plan.cases.iter().any(|case| record.phase.key.case == case.id));
            }
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let _ = import(&[Text { name: "f", bytes: &bytes }], None, 0);
    }
}

#[test]
fn what_would_take_much_memory_is_refused_with_the_limit() {
    let refused = |text: &str| {
        let text = Text { name: "text", bytes: text.as_bytes() };
        import(&[text], None, 0).expect_err("too much").to_string()
    };
    let banner = "IOR-4.1.0: MPI Coordinated Test of Parallel I/O\n";
    let many = refused(&banner.repeat(PRINTED_OUTPUTS + 1));
    assert!(
        many.starts_with(&format!("text:{}: more than {PRINTED_OUTPUTS} outputs", PRINTED_OUTPUTS + 1)),
        "{many}"
    );
    let long = refused(&format!("{banner}{}", "\n".repeat(PRINTED_LINES)));
    assert!(long.contains(&format!("more than {PRINTED_LINES} lines")), "{long}");
    // Lines between outputs are not listed.
    assert!(refused(&"\n".repeat(2 * PRINTED_LINES)).contains("not the output of a known tool"));
}
