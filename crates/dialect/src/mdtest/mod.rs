//! mdtest's command line and output, as releases 1.9.3 to 4.1 have them.
//!
//! [`parse`] converts a command line to a [`plan::Plan`] with one case for each number of tasks, of which
//! there is usually only one. The printer prints records in mdtest's format. The semantics come from its
//! help, its manual page and from observing the program; `docs/MDTEST.md` lists every option and every
//! difference.

mod case;
mod meaning;
mod options;
mod printer;
mod ranks;
mod release;
mod rows;
mod settings;
mod text;

use plan::{Case, Plan};

use crate::launcher::Launcher;
use crate::tool::{CommandLine, memo_of};
use crate::{ParsedCommand, Tool, ToolError, ToolPrinter};
use case::Tasks;
use options::{Key, OPTIONS};
use printer::Printer;
use release::{RELEASES, Release};
use settings::{Memo, Settings};

/// The tool's name in [`PlanSource::Dialect`].
const TOOL: &str = OPTIONS.tool;

/// The row of [`crate::TOOLS`].
pub(crate) const ROW: Tool = Tool {
    name: TOOL,
    called: &[TOOL],
    about: "Creates, stats, reads and removes many files and directories as mdtest does",
    parse,
    printer,
    help: || OPTIONS.help(),
    reference: || OPTIONS.table(),
};

fn parse(arguments: &[String], launcher: Launcher<'_>) -> Result<ParsedCommand, ToolError> {
    let (extras, words) = OPTIONS.extras(arguments)?;
    let given = OPTIONS.read(&words)?;
    let mut line = CommandLine { tool: TOOL, arguments, extras: &extras, notes: Vec::new() };
    if given.iter().any(|option| option.key == Key::Help) {
        return Ok(ParsedCommand::text(line, OPTIONS.help().to_string()));
    }
    let release: Release = extras
        .release(RELEASES)
        .map_err(|error| OPTIONS.error("--compat", &error.to_string()))?
        .unwrap_or_default();
    let settings = Settings::of(&given)?;
    // The published command lines of 1.9.3 with -Z use a directory that already exists.
    let tree = settings.tree(release == Release::V1_9 && settings.time)?;
    let tasks = Tasks::of(&settings, &extras, launcher)?;
    let mut warnings = settings.warnings(release);
    let limit = settings.limit(&mut warnings)?;
    let case = |&count: &u32| settings.case(&tree, count, &tasks, limit);
    let cases = tasks.counts.iter().map(case).collect::<Result<Vec<Case>, ToolError>>()?;
    let meaning = |key| meaning::explain(key, &settings, &tree, &tasks, release);
    line.notes = given.iter().map(|option| option.note(meaning)).collect();
    let memo = Memo {
        release,
        tasks: tasks.all,
        nodes: tasks.nodes(tasks.all),
        map: tasks.map(),
        counts: tasks.counts,
        items: if settings.has_items() { tree.items_per_task() } else { 0 },
        settings,
    };
    let title = cases.first().map_or_else(String::new, |case| format!("mdtest: {}", case.title));
    let seed = cases.first().map_or(0, |case| case.workload.signature);
    let plan = line.plan(title, seed, cases, &memo);
    Ok(ParsedCommand { plan, extras, show: None, warnings, output: None })
}

fn printer(plan: &Plan) -> Option<Box<dyn ToolPrinter>> {
    let (memo, arguments) = memo_of(plan, TOOL)?;
    Some(Box::new(Printer::new(memo, arguments.to_vec(), plan.cases.clone())))
}
