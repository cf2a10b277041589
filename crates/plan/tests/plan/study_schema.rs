//! The JSON schema of study files: editors accept what the reader accepts.
#![expect(clippy::unwrap_used, reason = "a study or schema that cannot be read fails the test")]

use std::path::Path;

use crate::common::{RIGHT, shown, study};
use jsonschema::Validator;
use plan::study::schema;
use serde_json::Value;

fn project() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn validator() -> Validator {
    jsonschema::draft202012::new(&serde_json::from_str(&schema()).unwrap()).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap()
}

/// What the schema finds wrong with a study.
fn mistakes(text: &str) -> Vec<String> {
    let found = validator();
    found.iter_errors(&json(text)).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn the_schema_in_the_documents_is_that_of_this_reader() {
    let path = project().join("docs/study.schema.json");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, schema()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    // Compared as values: the order of keys depends on what else is built.
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    assert!(
        value(&written) == value(&schema()),
        "docs/study.schema.json is not what the reader accepts; run `UPDATE_DOCS=1 cargo test -p ioproof-plan`"
    );
}

#[test]
fn studies_that_are_right_fit_the_schema() {
    let mut texts = vec![RIGHT.to_owned()];
    texts.push(include_str!("all-keys.toml").to_owned());
    texts.push(include_str!("all-terms.toml").to_owned());
    let mut directories = vec![project().join("studies")];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.ends_with("models") {
                // They are no studies.
            } else if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "toml") {
                texts.push(std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    let reference = plan::study::reference();
    let examples = reference.split("```toml\n").skip(1).filter_map(|rest| Some(rest.split_once("```")?.0));
    texts.extend(examples.map(str::to_owned));
    assert!(texts.len() >= 8, "{}", texts.len());
    for text in texts {
        study(&text).unwrap_or_else(|errors| panic!("{}", shown(&errors)));
        assert_eq!(mistakes(&text), [""; 0], "{text}");
    }
}

#[test]
fn mistakes_that_an_editor_can_see_are_seen() {
    for (part, by) in [
        ("tasks = 4", "tasks = 0"),
        ("tasks = 4", "tasks = \"four\""),
        ("tasks = 4", "tasks = []"),
        ("tasks = 4", "taks = 4"),
        ("tasks = 4", "order = \"randon\""),
        ("tasks = 4", "keep = [\"never\"]"),
        ("tasks = 4", "duration = 10"),
        ("transfer = \"1MiB\"", ""),
        ("transfer = \"1MiB\"", "transfer = \"1mb\""),
        ("repetitions = 3", "until = \"stedy\""),
        ("name = \"stream\"", "name = \"my stream\""),
        ("[study]", "[sudy]"),
    ] {
        let text = RIGHT.replacen(part, by, 1);
        assert!(!mistakes(&text).is_empty() && study(&text).is_err(), "{by}");
    }
    let commitment = "[[commitment]]\nname = \"c\"\nbandwidth_at_least = \"1GB/s\"\n";
    let promised = |rest: &str| mistakes(&format!("{RIGHT}\n{commitment}{rest}"));
    assert!(promised("").iter().any(|mistake| mistake.contains("statistic")));
    assert_eq!(promised("statistic = \"median\"\n"), [""; 0]);
    assert_eq!(promised("statistic = \"median\"\nat = { task = 4 }\n").len(), 1);
}
