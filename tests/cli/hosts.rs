//! Runs the program over several hosts, to test what users see with many nodes.

use std::path::Path;

use serde_json::Value;
use testbed::{Hosts, Launch, Program, Testbed, skipped};

use crate::desk::Desk;

/// Whether ranks over several hosts cannot be started here. Prints the reason if so.
pub(crate) fn no_hosts() -> bool {
    skipped(Hosts::available()) || skipped(Launch::open_mpi_available())
}

/// Whether hosts cannot have throttled devices here. Prints the reason if so.
pub(crate) fn no_devices() -> bool {
    no_hosts() || skipped(Testbed::available())
}

/// `program` on `each` ranks on every host.
pub(crate) fn over(hosts: &Hosts, each: u32, program: &Program) -> Program {
    Launch::open_mpi(each).over(hosts).start(program)
}

/// A file below `directory`, in the form of an IOR option.
pub(crate) fn file(directory: &Path) -> String {
    directory.join("f").display().to_string()
}

/// A `[[target]]` of a study.
pub(crate) fn target(name: &str, directory: &Path, layer: &str) -> String {
    format!("[[target]]\nname = \"{name}\"\ndirectory = \"{}\"\nlayer = \"{layer}\"\n", directory.display())
}

/// The list at this path in the report on `desk`, such as `figures` or `findings/nodes`.
pub(crate) fn list(desk: &Desk, name: &str) -> Vec<Value> {
    let report = desk.report().0;
    let found = report.pointer(&format!("/{name}")).unwrap_or_else(|| panic!("no {name}"));
    found.as_array().expect("a list").clone()
}

pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}
