//! gpfsperf's command line and report, which are also those of tsqosperf.
//!
//! [`parse`] converts a command line to a [`plan::Plan`] of one case with one phase; the printer prints
//! the block that the tools print at the end. The semantics come from what IBM publishes about its sample
//! program and from published runs; `docs/GPFSPERF.md` lists every option and every difference with its
//! reason.

mod case;
mod options;
mod printer;
mod settings;

use plan::Plan;
use serde::{Deserialize, Serialize};

use crate::launcher::Launcher;
use crate::tool::{CommandLine, memo_of};
use crate::{ParsedCommand, Tool, ToolError, ToolPrinter};
use case::Test;
use options::{OPTIONS, wrong};
use settings::{RELEASES, Release, Settings};

/// The tool's name in [`PlanSource::Dialect`].
const TOOL: &str = OPTIONS.tool;

/// gpfsperf, for the table of tools.
pub(crate) const ROW: Tool = Tool {
    name: TOOL,
    called: &[TOOL, "tsqosperf"],
    about: "gpfsperf's (and tsqosperf's) command line and report: threads access records of one file in turn",
    parse,
    printer,
    help: || OPTIONS.help(),
    reference: || OPTIONS.table(),
};

/// Stored with a plan so that its report can be printed from the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Memo {
    /// The name by which the program was called.
    program: String,
    release: Release,
    test: Option<Test>,
}

fn printer(plan: &Plan) -> Option<Box<dyn ToolPrinter>> {
    let (Memo { program, release, test }, _) = memo_of(plan, TOOL)?;
    Some(Box::new(printer::Printer::new(program, release, test?)))
}

fn parse(arguments: &[String], launcher: Launcher<'_>) -> Result<ParsedCommand, ToolError> {
    let (extras, words) = OPTIONS.extras(arguments)?;
    let release: Release =
        extras.release(RELEASES).map_err(|error| wrong("--compat", error.to_string()))?.unwrap_or_default();
    let settings = Settings::of(&words)?;
    let notes = settings.options.iter().map(|option| option.note(|key| OPTIONS.about(key).to_owned()));
    let line = CommandLine { tool: TOOL, arguments, extras: &extras, notes: notes.collect() };
    if settings.asks_for_help() {
        return Ok(ParsedCommand::text(line, OPTIONS.help().to_string()));
    }
    let called = arguments.first().map_or(TOOL, String::as_str);
    let is_name = ROW.called.iter().any(|name| called.ends_with(name));
    let program = if is_name { called } else { TOOL }.to_owned();
    let mut warnings = Vec::new();
    let (case, test) = case::make_case(&settings, &extras, launcher, &mut warnings)?;
    let plan = line.plan(case.title.clone(), 0, vec![case], &Memo { program, release, test: Some(test) });
    Ok(ParsedCommand { plan, extras, show: None, warnings, output: None })
}
