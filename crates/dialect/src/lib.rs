//! Foreign command lines and outputs, one module for each tool.
//!
//! A dialect turns the arguments of a tool into a [`plan::Plan`], and rows of a record into the
//! text that the tool would have printed, so that commands and scripts go on working.
//! It runs nothing.
//!
//! | module | tool |
//! |---|---|
//! | [`ior`] | IOR, releases 3.0 to 4.1 |
//! | [`io500`] | IO500, as of 2026 |
//! | `ioping` | ioping, release 1.3 |
//! | `mdtest` | mdtest, releases 1.9.3 to 4.1 |
//! | `md_workbench` | md-workbench of IOR 4.1 |
//!
//! [`TOOLS`] has the others: one row for each, by which the program asks, runs and prints.
//!
//! [`fio`] writes fio's command line for a case of ours, and reads what it then prints.
//!
//! [`import`] reads what tools have printed into rows of a record.
//!
//! [`batch`] writes the job scripts of Slurm, PBS and Flux.
//!
//! [`Extras`] are the options of ioproof's own that every dialect takes as well.

pub mod batch;
pub mod fio;
mod gpfsperf;
pub mod import;
pub mod io500;
mod ioping;
pub mod ior;
mod ior_family;
mod iozone;
mod launcher;
mod md_workbench;
mod mdtest;
mod options;
mod printed;
mod tool;

pub use options::extras::{Compat, Extras, ExtrasError};
pub use options::help::Help;
pub use tool::{LiveOperation, ParsedCommand, Tool, ToolError, ToolPrinter};

/// Every tool but IOR, whose output has forms that [`ToolPrinter`] does not have.
pub const TOOLS: &[Tool] = &[ioping::ROW, mdtest::ROW, md_workbench::ROW, iozone::IOZONE, gpfsperf::ROW];

/// The tool of this name, or that is called so.
#[must_use]
pub fn tool(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.called.contains(&name))
}
