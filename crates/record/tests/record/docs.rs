//! `docs/RECORD.md` matches the files on disk.

use std::fs;
use std::path::Path;

use plan::{Operation, Phase};
use record::{
    Cell, Column, ColumnType, DeviceRow, EndRow, FORMAT_VERSION, HistoryRow, LatencyRow, LaunchRow, LoadRow,
    NodeSeriesRow, PhaseRow, PrintedRow, Row, SeriesRow, ServerRow, ServerTextRow, SpaceRow, StepRow,
    TaskRow, WarningRow,
};

fn document() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/RECORD.md");
    fs::read_to_string(path).expect("docs/RECORD.md")
}

/// The section of the document for one table.
fn section<'a>(document: &'a str, table: &str) -> &'a str {
    let heading = format!("### `{table}/`");
    let start = document.find(&heading).unwrap_or_else(|| panic!("docs/RECORD.md has no heading {heading}"));
    let rest = &document[start + heading.len()..];
    &rest[..rest.find("\n##").unwrap_or(rest.len())]
}

fn check<R: Row>(document: &str) {
    let section = section(document, R::TABLE);
    for column in R::COLUMNS {
        let Column { name, kind, nullable, .. } = column;
        let kind = match kind {
            ColumnType::Text => "text",
            ColumnType::Integer => "integer",
            ColumnType::Number => "number",
        };
        let null = if *nullable { " or null" } else { "" };
        let row = format!("| `{name}` | {kind}{null} |");
        assert!(section.contains(&row), "docs/RECORD.md, table {}: no row that begins `{row}`", R::TABLE);
    }
    let documented = section.lines().filter(|line| line.starts_with("| `")).count();
    assert_eq!(documented, R::COLUMNS.len(), "docs/RECORD.md, table {}: columns that do not exist", R::TABLE);
}

#[test]
fn every_column_of_every_table_is_documented() {
    let document = document();
    check::<PhaseRow>(&document);
    check::<TaskRow>(&document);
    check::<LatencyRow>(&document);
    check::<SeriesRow>(&document);
    check::<NodeSeriesRow>(&document);
    check::<DeviceRow>(&document);
    check::<LoadRow>(&document);
    check::<HistoryRow>(&document);
    check::<PrintedRow>(&document);
    check::<EndRow>(&document);
    check::<LaunchRow>(&document);
    check::<StepRow>(&document);
    check::<SpaceRow>(&document);
    check::<ServerRow>(&document);
    check::<ServerTextRow>(&document);
    check::<WarningRow>(&document);
}

#[test]
fn every_word_for_phases_and_operations_is_documented() {
    let document = document();
    let words = Phase::ALL.iter().map(|phase| phase.name());
    for word in words.chain(Operation::ALL.iter().map(|operation| operation.name())) {
        assert!(document.contains(&format!("`{word}`")), "docs/RECORD.md does not tell of {word}");
    }
}

#[test]
fn every_event_of_the_journal_is_documented() {
    let document = document();
    for version in 1..=FORMAT_VERSION {
        let journal = format!("tests/fixtures/version-{version}/journal.jsonl");
        let journal = Path::new(env!("CARGO_MANIFEST_DIR")).join(journal);
        for line in fs::read_to_string(journal).expect("the fixture").lines() {
            let event: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let name = event["event"].as_str().expect("a name");
            assert!(document.contains(&format!("| `{name}` |")), "docs/RECORD.md does not tell of {name}");
        }
    }
}

#[test]
fn a_cell_shows_what_it_holds() {
    assert_eq!(Cell::Integer(3).integer(), Some(3));
    assert_eq!(Cell::Text("read".into()).text(), Some("read"));
    assert_eq!(Cell::Number(0.5).number(), Some(0.5));
    assert_eq!((Cell::Null.integer(), Cell::Integer(3).number()), (None, None));
}
