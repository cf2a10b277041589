//! The version matrix: every format version that was ever written can be read.

use std::fs;
use std::path::{Path, PathBuf};

use record::{FORMAT_VERSION, RecordError, Run, RunState};

use crate::whole::{assert_holds, everything};

fn fixture(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/version-{version}"))
}

/// A fixture is written once, by the first release of its version, with
/// `cargo run -p ioproof-record --example small_run crates/record/tests/fixtures/version-N`,
/// and never again: a field that is added later needs a default.
#[test]
fn runs_of_every_version_are_read() {
    for version in 1..=FORMAT_VERSION {
        let run = Run::open(&fixture(version)).unwrap_or_else(|error| panic!("version {version}: {error}"));
        assert_eq!(run.manifest.format_version, version);
        assert_eq!(run.damage, [], "version {version}");
        assert_eq!(run.state, RunState::Complete, "version {version}");
        assert_holds(&run, &everything(2));
    }
}

/// The journal alone says the same as the tables, in every version.
#[test]
fn journals_of_every_version_are_read() {
    for version in 1..=FORMAT_VERSION {
        let place = tempfile::tempdir().expect("a directory");
        for name in ["manifest.json", "journal.jsonl"] {
            fs::copy(fixture(version).join(name), place.path().join(name)).expect("copied");
        }
        assert_holds(&Run::open(place.path()).expect("readable"), &everything(2));
    }
}

#[test]
fn a_later_version_is_refused_with_the_next_step() {
    let place = tempfile::tempdir().expect("a directory");
    let text = fs::read_to_string(fixture(FORMAT_VERSION).join("manifest.json")).expect("readable");
    let later = format!("\"format_version\": {}", FORMAT_VERSION + 1);
    let text = text.replace(&format!("\"format_version\": {FORMAT_VERSION}"), &later);
    // What else a later version holds is unknown: it must be told before the rest is understood.
    let text = text.replace("\"seed\"", "\"entropy\"");
    fs::write(place.path().join("manifest.json"), text).expect("written");
    let error = Run::open(place.path()).expect_err("refused");
    assert!(
        matches!(error, RecordError::NewerVersion { found, .. } if found == FORMAT_VERSION + 1),
        "{error}"
    );
    assert!(error.to_string().contains("the program that wrote it"), "{error}");
}
