//! `ioproof schema`: prints the schemas with which editors and programs can check a study file, a report
//! or a host.

use clap::ValueEnum;

use crate::console::exit::{Exit, Failure};
use crate::console::print;

/// What has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Schema {
    /// Study files.
    Study,
    /// Reports in JSON.
    Report,
    /// The output of `ioproof host facts --json`.
    Host,
}

/// Prints a JSON schema.
pub(crate) fn run(what: Schema) -> Result<Exit, Failure> {
    match what {
        Schema::Study => print(&plan::study::schema())?,
        Schema::Report => print(&report::schema())?,
        Schema::Host => print(&report::inventory_schema())?,
    }
    Ok(Exit::Success)
}
