//! ioping's command line and output, as in release 1.3: the latency of one request at a time.
//!
//! The requests are a workload of one task, and their lines come from the last operations that it keeps.
//! The semantics come from its help, its manual page and from observing the program; `docs/IOPING.md`
//! lists every option and every difference.

mod case;
mod json;
mod meaning;
mod options;
mod printer;
mod settings;
mod stat;
mod words;

use plan::Plan;

use crate::launcher::Launcher;
use crate::tool::{CommandLine, memo_of};
use crate::{ParsedCommand, Tool, ToolError, ToolPrinter};
use options::{Key, OPTIONS};
use printer::Printer;
use settings::Settings;

/// The tool's name in [`PlanSource::Dialect`].
const TOOL: &str = OPTIONS.tool;

/// The row of [`crate::TOOLS`].
pub(crate) const ROW: Tool = Tool {
    name: TOOL,
    called: &[TOOL],
    about: "Measures the latency of one request at a time as ioping does",
    parse,
    printer,
    help: || OPTIONS.help(),
    reference: || OPTIONS.table(),
};

fn parse(arguments: &[String], launcher: Launcher<'_>) -> Result<ParsedCommand, ToolError> {
    let (extras, words) = OPTIONS.extras(arguments)?;
    let mut targets = Vec::new();
    let given = OPTIONS.read_with(&words, |word| {
        targets.push(word.to_owned());
        Ok(())
    })?;
    let mut line = CommandLine { tool: TOOL, arguments, extras: &extras, notes: Vec::new() };
    let has = |key: Key| given.iter().any(|option| option.key == key);
    if has(Key::Help) {
        return Ok(ParsedCommand::text(line, OPTIONS.help().to_string()));
    }
    if has(Key::Version) {
        return Ok(ParsedCommand::text(
            line,
            format!("ioping 1.3 (ioproof {})\n", env!("CARGO_PKG_VERSION")),
        ));
    }
    let settings = Settings::of(&given, &targets)?;
    let mut warnings = Vec::new();
    if launcher.node_of.len() > 1 {
        warnings.push(
            "ioping makes one request at a time: only the first process of the launcher makes any".to_owned(),
        );
    }
    let case = settings.case()?;
    line.notes = given.iter().map(|option| option.note(|key| meaning::explain(key, &settings))).collect();
    let plan = line.plan(format!("ioping: {}", case.title), settings.seed, vec![case], &settings);
    Ok(ParsedCommand { plan, extras, show: None, warnings, output: None })
}

fn printer(plan: &Plan) -> Option<Box<dyn ToolPrinter>> {
    let (settings, _) = memo_of(plan, TOOL)?;
    Some(Box::new(Printer::new(settings)))
}
