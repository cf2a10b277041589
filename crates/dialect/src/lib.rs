//! Foreign command lines and outputs, one module for each tool.
//!
//! A dialect converts the arguments of a tool to a [`plan::Plan`], and rows of a record to the text that
//! the tool would have printed, so that existing commands and scripts continue to work. It does not run
//! anything.
//!
//! | module | tool |
//! |---|---|
//! | [`ior`] | IOR, releases 3.0 to 4.1 |
//! | [`io500`] | IO500, as of 2026 |
//! | `ioping` | ioping, release 1.3 |
//! | `mdtest` | mdtest, releases 1.9.3 to 4.1 |
//! | `md_workbench` | md-workbench of IOR 4.1 |
//!
//! [`TOOLS`] has a row for each of the other tools, with functions for parsing, running and printing.
//!
//! [`fio`] creates fio's command line for one of our cases, and parses what fio prints.
//!
//! [`import`] converts what tools have printed to rows of a record.
//!
//! [`batch`] creates job scripts for Slurm, PBS and Flux.
//!
//! [`advice`] names the options of a tool that would change what its plan is warned about.
//!
//! [`Extras`] are ioproof's own options, which every dialect accepts as well.

mod advice;
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

pub use advice::{Advice, advice};
pub use options::extras::{Compat, Extras, ExtrasError};
pub use options::help::Help;
pub use tool::{LiveOperation, ParsedCommand, Tool, ToolError, ToolPrinter};

/// Every tool except IOR, whose output has formats that [`ToolPrinter`] does not support.
pub const TOOLS: &[Tool] = &[ioping::ROW, mdtest::ROW, md_workbench::ROW, iozone::IOZONE, gpfsperf::ROW];

/// The tool with this name, or with a program of this name.
#[must_use]
pub fn tool(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.called.contains(&name))
}
