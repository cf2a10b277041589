//! The JSON Schema of the report: it matches the documentation, and every report conforms to it.

use serde_json::Value;

use crate::common;

const WHERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/report.schema.json");

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// The documented schema of a host.
const HOST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/host.schema.json");

#[test]
fn the_schema_of_a_host_in_the_documentation_is_that_of_the_program() {
    let schema = report::inventory_schema();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(HOST, &schema).expect("the documentation can be written");
    }
    let written = std::fs::read_to_string(HOST).unwrap_or_default();
    assert!(written == schema, "run: UPDATE_DOCS=1 cargo test -p ioproof-report --test report schema");
}

#[test]
fn the_schema_in_the_documentation_is_that_of_the_program() {
    let schema = report::schema();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(WHERE, &schema).expect("the documentation can be written");
    }
    let written = std::fs::read_to_string(WHERE).unwrap_or_default();
    assert!(written == schema, "run: UPDATE_DOCS=1 cargo test -p ioproof-report --test report schema");
}

/// All schema violations of `report`, with their location.
fn faults(report: &Value) -> Vec<String> {
    let validator = jsonschema::draft202012::new(&parsed(&report::schema())).expect("a schema");
    validator.iter_errors(report).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn every_report_is_as_the_schema_says() {
    for run in [common::run(), common::killed(), common::empty()] {
        assert_eq!(faults(&parsed(&report::Study::of(&run).json())), [""; 0]);
    }
    for run in [
        common::cluster::compared(4),
        common::cluster::weak(12),
        common::layers::layers(),
        common::matrix::matrix(),
        common::timeline::jobs(),
    ] {
        assert_eq!(faults(&parsed(&report::Study::of(&run).json())), [""; 0]);
    }
    let run = common::study::study();
    let study = report::Study::of(&run);
    assert_eq!(faults(&parsed(&study.json())), [""; 0]);
}

#[test]
fn what_a_later_program_adds_is_let_through() {
    let mut report = parsed(&report::Study::of(&common::run()).json());
    report["added_later"] = true.into();
    report["figures"][0]["added_later"] = 1.into();
    assert_eq!(faults(&report), [""; 0]);
}

#[test]
fn what_is_missing_or_of_another_kind_is_found_with_its_place() {
    let report = parsed(&report::Study::of(&common::run()).json());
    let broken = |pointer: &str, value: Option<Value>| {
        let mut report = report.clone();
        let (parent, key) = pointer.rsplit_once('/').expect("a place");
        let parent = report.pointer_mut(parent).expect("a place").as_object_mut().expect("an object");
        match value {
            Some(value) => parent.insert(key.to_owned(), value),
            None => parent.remove(key),
        };
        faults(&report).join("; ")
    };
    let cases = [
        ("/schema", Some("ioproof-report/0".into()), "/schema"),
        ("/figures", None, "figures"),
        ("/figures/0/tasks", Some("six".into()), "/figures/0/tasks"),
        ("/figures/0/phase", Some(1.into()), "/figures/0/phase"),
        ("/figures/0/bytes_per_second/median", Some("5".into()), "/figures/0/bytes_per_second/median"),
        ("/run/seed", Some((-1).into()), "/run/seed"),
        ("/host/kernel", Some("6.1".into()), "/host/kernel"),
    ];
    for (pointer, value, named) in cases {
        let found = broken(pointer, value);
        assert!(found.contains(named), "{pointer}: {found:?}");
    }
}
