//! The documentation of model files is made from what reads them.

use std::fs;
use std::path::PathBuf;

/// What stands before and after the generated part of `docs/MODELS.md`.
const MARK: &str =
    "<!-- Written by `UPDATE_DOCS=1 cargo test -p ioproof-simulate`: change crates/simulate/src/model. -->\n";
const END: &str = "<!-- End of the written part. -->\n";

fn document(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs")).join(name)
}

/// Fails where the file is not `wanted`, or writes it.
fn assert_written(name: &str, wanted: &str) {
    let path = document(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, wanted).expect("the documentation can be written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == wanted, "docs/{name}: run `UPDATE_DOCS=1 cargo test -p ioproof-simulate`");
}

#[test]
fn the_schema_in_the_documentation_is_that_of_the_program() {
    assert_written("model.schema.json", &simulate::schema());
}

#[test]
fn the_reference_in_the_documentation_is_that_of_the_program() {
    let page = fs::read_to_string(document("MODELS.md")).expect("the page");
    let (before, rest) = page.split_once(MARK).expect("the mark");
    let (_, after) = rest.split_once(END).expect("the end");
    assert_written("MODELS.md", &format!("{before}{MARK}\n{}{END}{after}", simulate::reference()));
}

#[test]
fn every_model_that_comes_with_the_program_can_be_used() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/models");
    let mut read = 0;
    for entry in fs::read_dir(directory).expect("the models").flatten() {
        let text = fs::read_to_string(entry.path()).expect("a text");
        let model = simulate::read(&entry.path(), &text).unwrap_or_else(|errors| panic!("{errors}"));
        let again = toml::to_string(&model).expect("TOML");
        let same = simulate::read(&entry.path(), &again).unwrap_or_else(|errors| panic!("{errors}\n{again}"));
        assert_eq!(same, model, "{}", entry.path().display());
        read += 1;
    }
    assert!(read >= 5, "{read} models");
}
