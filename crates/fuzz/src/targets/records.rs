//! Files of a run directory, which may come from someone else.

use std::fs;
use std::path::Path;

use record::{
    DeviceRow, EndRow, HistoryRow, LatencyRow, LaunchRow, LoadRow, NodeSeriesRow, PhaseRow, PrintedRow, Row,
    Run, SUMS, SeriesRow, ServerRow, ServerTextRow, SpaceRow, StepRow, Sums, TaskRow, WarningRow,
};
use report::{Screen, Study};

const MANIFEST: &[u8] = include_bytes!("../../../record/tests/fixtures/version-4/manifest.json");
const JOURNAL: &[u8] = include_bytes!("../../../record/tests/fixtures/version-4/journal.jsonl");

/// The names of all tables.
const TABLES: [&str; 16] = [
    PhaseRow::TABLE,
    TaskRow::TABLE,
    LatencyRow::TABLE,
    SeriesRow::TABLE,
    NodeSeriesRow::TABLE,
    DeviceRow::TABLE,
    LoadRow::TABLE,
    HistoryRow::TABLE,
    PrintedRow::TABLE,
    EndRow::TABLE,
    ServerRow::TABLE,
    ServerTextRow::TABLE,
    LaunchRow::TABLE,
    StepRow::TABLE,
    SpaceRow::TABLE,
    WarningRow::TABLE,
];

/// The manifest, next to the journal of that run.
pub(super) fn manifest(input: &[u8]) {
    opened(&[("manifest.json", input), ("journal.jsonl", JOURNAL)]);
}

/// The journal, next to the manifest of another version of the run.
pub(super) fn journal(input: &[u8]) {
    opened(&[("manifest.json", MANIFEST), ("journal.jsonl", input)]);
}

/// A table, used as every table that a record may have. Without a journal its checksum is unknown.
pub(super) fn table(input: &[u8]) {
    let names = TABLES.map(|table| format!("{table}/000001.parquet"));
    let tables = names.iter().map(|name| (name.as_str(), input));
    let files: Vec<_> = [("manifest.json", MANIFEST)].into_iter().chain(tables).collect();
    opened(&files);
}

/// The list of parts, the checksums, and a claim.
pub(super) fn beside(input: &[u8]) {
    opened(&[("manifest.json", MANIFEST), ("journal.jsonl", JOURNAL), ("parts.json", input)]);
    let place = directory(&[(SUMS, input), (".ioproof-claim-run@node.json", input)]);
    if let Ok(Some(sums)) = Sums::read(place.path()) {
        let text = sums.to_string();
        fs::write(place.path().join(SUMS), &text).expect("written");
        let back = Sums::read(place.path()).expect("readable").expect("there");
        assert_eq!(back, sums, "checksums differ after they were written");
    }
    for left in record::leftovers(place.path()).expect("a directory") {
        let _ = (left.bytes(), left.age());
    }
}

fn directory(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let place = tempfile::tempdir().expect("a directory");
    for (name, bytes) in files {
        let path = place.path().join(name);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).expect("made");
        fs::write(path, bytes).expect("written");
    }
    place
}

/// Opens a run with these files, and reads all rows.
fn opened(files: &[(&str, &[u8])]) {
    let place = directory(files);
    match Run::open(place.path()) {
        Ok(run) => {
            for case in run.cases() {
                let _ = (run.tasks(case), run.latency(case), run.series(case), run.nodes(case));
                let _ = (run.devices(case), run.load(case), run.history(case), run.printed(case));
                let _ = (run.ends(case), run.servers(case), run.server_texts(case));
                let _ = (run.launches(case), run.steps(case), run.spaces(case));
            }
            run.damage.iter().chain(&run.late_damage()).for_each(|damage| drop(damage.to_string()));
        }
        Err(error) => drop(error.to_string()),
    }
}

/// A journal, rendered in all formats.
pub(super) fn report(input: &[u8]) {
    let place = directory(&[("manifest.json", MANIFEST), ("journal.jsonl", input)]);
    if let Ok(run) = Run::open(place.path()) {
        rendered(&run);
    }
}

/// Renders `run` in all output formats.
pub(super) fn rendered(run: &Run) {
    let study = Study::of(run);
    let _ = study.text_in_full(Screen::PLAIN);
    let _ = (study.markdown(), study.csv(), study.openmetrics());
    let json: Result<serde_json::Value, _> = serde_json::from_str(&study.json());
    assert!(json.is_ok(), "the report is no JSON");
}
