//! gpfsperf's command line and report, which are also those of tsqosperf.
//!
//! [`parse`] reads a command line into a [`plan::Plan`] of one case with one phase; the printer has the
//! block that the tools print at the end. Semantics come from what IBM publishes of its sample program and
//! from published runs; `docs/GPFSPERF.md` lists every option and every difference with its reason.

mod case;
mod options;
mod printer;
mod settings;

use plan::{Plan, Question};
use serde::{Deserialize, Serialize};

use crate::ior::Launcher;
use crate::tool::kept;
use crate::{Asked, Extras, Tool, ToolError, ToolPrinter};
use case::Test;
use settings::{RELEASES, Release, Said};

/// The tool's name in [`Question::Dialect`].
const TOOL: &str = "gpfsperf";

/// gpfsperf, for the table of tools.
pub(crate) const ROW: Tool = Tool {
    name: TOOL,
    called: &[TOOL, "tsqosperf"],
    about: "gpfsperf's (and tsqosperf's) command line and report: one file, threads that take its records in turn",
    parse,
    printer,
    help: options::help,
    reference: options::reference,
};

/// What has to be kept with a plan so that its report can be printed again from the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Memo {
    /// As the program was called.
    program: String,
    release: Release,
    test: Option<Test>,
}

fn printer(plan: &Plan) -> Option<Box<dyn ToolPrinter>> {
    let (Memo { program, release, test }, _) = kept(plan, TOOL)?;
    Some(Box::new(printer::Printer::new(program, release, test?)))
}

/// Words that cannot be obeyed.
fn wrong(written: &str, reason: String) -> ToolError {
    ToolError { tool: TOOL, written: written.to_owned(), reason }
}

fn parse(arguments: &[String], launcher: Launcher<'_>) -> Result<Asked, ToolError> {
    let (extras, words) =
        Extras::split(arguments).map_err(|error| wrong("ioproof's own options", error.to_string()))?;
    let release: Release =
        extras.release(RELEASES).map_err(|error| wrong("--compat", error.to_string()))?.unwrap_or_default();
    let mut said = Said::of(words.get(1..).unwrap_or_default())?;
    let mut notes = std::mem::take(&mut said.notes);
    notes.extend(extras.notes.iter().cloned());
    let called = words.first().map_or(TOOL, String::as_str);
    let is_name = ROW.called.iter().any(|name| called.ends_with(name));
    let program = if is_name { called } else { TOOL }.to_owned();
    let mut warnings = Vec::new();
    let (cases, test) = match said.help {
        true => (Vec::new(), None),
        false => {
            let (case, test) = case::of(&said, &extras, launcher, &mut warnings)?;
            (vec![case], Some(test))
        }
    };
    let memo = serde_json::to_string(&Memo { program, release, test })
        .expect("settings are numbers, texts and UTF-8 paths");
    let title = cases.first().map_or_else(String::new, |case| case.title.clone());
    let question = Question::Dialect { tool: TOOL.to_owned(), arguments: arguments.to_vec(), notes, memo };
    let plan =
        Plan { destroy_data_on: extras.destroy_data_on.clone(), ..Plan::new(title, question, 0, cases) };
    let show = said.help.then(|| options::help().to_string());
    Ok(Asked { plan, extras, show, warnings, output: None })
}
