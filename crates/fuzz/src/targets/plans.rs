//! Texts that are turned into a plan or a drawing.

use std::fmt::Write as _;
use std::path::Path;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme};
use plan::defaults::Rules;
use plan::study::{Options, Override};
use plan::{Plan, RunEnvironment};
use report::Screen;

/// A study file, followed by overrides, each after a NUL byte.
pub(super) fn study(input: &[u8]) {
    let Ok(input) = std::str::from_utf8(input) else { return };
    let mut parts = input.split('\0');
    let (path, text) = (Path::new("study.toml"), parts.next().unwrap_or_default());
    let overrides = parts.filter_map(|part| Override::parse(part).ok()).collect();
    // A small study exercises the same code as a large one.
    let options = Options { overrides, cases_max: 500, ..Options::default() };
    let _ = plan::study::on_directory(text, "/mnt/disk");
    match plan::study::read_with(path, text, &options) {
        Ok(plan) => {
            shown(&plan);
            if let Err(errors) = plan::study::read_criteria(path, text, &plan) {
                diagnosed(&errors);
            }
        }
        Err(errors) => diagnosed(&errors),
    }
}

/// A file of defaults.
pub(super) fn defaults(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let check = |key: &str, value: &str| match key {
        "quiet" if value != "true" => Err(format!("`{value}` is not true")),
        _ => Ok(()),
    };
    let rules = Rules { keys: &["records", "quiet", "mpi"], refused: &["yes", "sign"], check: &check };
    if let Err(errors) = plan::defaults::read(Path::new("ioproof.toml"), text, &rules) {
        diagnosed(&errors);
    }
}

/// A description of a site.
pub(super) fn topology(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    match plan::topology::read(Path::new("site.toml"), text) {
        Ok(topology) => drop(report::topology(&topology)),
        Err(error) => diagnosed(&*error),
    }
}

/// Renders `plan` as before a run, and reads it back from JSON, the format in which a record stores it.
pub(super) fn shown(plan: &Plan) {
    let around = RunEnvironment::default();
    let _ = report::preflight(plan, &around, Screen::PLAIN);
    let _ = report::outline(plan, &around, Screen::PLAIN);
    let _ = report::explain(plan, &around, Screen::PLAIN);
    let text = serde_json::to_string(plan).expect("a plan is JSON");
    let back: Plan = serde_json::from_str(&text).expect("a plan is read from its own JSON");
    assert_eq!(back, *plan, "a plan differs after its JSON was read");
}

/// Renders the message as on the terminal, with the marked spans of the text.
pub(super) fn diagnosed(error: &dyn Diagnostic) {
    let mut out = String::new();
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor());
    handler.render_report(&mut out, error).expect("a message can be shown");
    let _ = write!(out, "{error}");
    let _ = error.help().map(|help| help.to_string());
}
