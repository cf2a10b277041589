//! md-workbench's command line and output, as in IOR 4.1.
//!
//! [`parse`] converts a command line to a [`plan::Plan`]; the printer converts records to its lines. The
//! semantics come from its help and from observing the program; `docs/MD_WORKBENCH.md` lists every option
//! and every difference.

mod latencies;
mod lines;
mod options;
mod printer;
mod settings;

use plan::{HISTORY_MAX, Plan};

use crate::launcher::Launcher;
use crate::tool::{CommandLine, memo_of};
use crate::{ParsedCommand, Tool, ToolError, ToolPrinter};
use options::{Key, OPTIONS};
use printer::Printer;
use settings::{Memo, Settings};

/// The tool's name in [`PlanSource::Dialect`].
const TOOL: &str = OPTIONS.tool;

/// The row of [`crate::TOOLS`].
pub(crate) const ROW: Tool = Tool {
    name: TOOL,
    called: &[TOOL],
    about: "Cycles through small objects as md-workbench does, with the latency of each operation",
    parse,
    printer,
    help: || OPTIONS.help(),
    reference: || OPTIONS.table(),
};

/// The releases that `--compat` accepts. Its output has not changed since it was included in IOR.
#[derive(Debug, Clone, Copy)]
struct Release;

impl std::str::FromStr for Release {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if text == "4.0" { Ok(Self) } else { Err(()) }
    }
}

fn parse(arguments: &[String], launcher: Launcher<'_>) -> Result<ParsedCommand, ToolError> {
    let (extras, words) = OPTIONS.extras(arguments)?;
    let given = OPTIONS.read(&words)?;
    let mut line = CommandLine { tool: TOOL, arguments, extras: &extras, notes: Vec::new() };
    if given.iter().any(|option| option.key == Key::Help) {
        return Ok(ParsedCommand::text(line, OPTIONS.help().to_string()));
    }
    extras.release::<Release>("give 4.0").map_err(|error| OPTIONS.error("--compat", &error.to_string()))?;
    let settings = Settings::of(&given)?;
    let per_rank = extras.tasks_per_rank;
    let node_of = launcher.node_of_tasks(per_rank);
    let tasks = u32::try_from(node_of.len()).unwrap_or(u32::MAX);
    let nodes = node_of.iter().max().map_or(1, |last| last + 1);
    let cases = settings.cases(tasks, nodes, if launcher.node_of.is_empty() { 0 } else { per_rank })?;
    line.notes = given.iter().map(|option| option.note(|key| meaning(key, &settings))).collect();
    let map = node_of.iter().map(|node| if node_of.first() == Some(node) { '1' } else { '0' }).collect();
    let title = cases.first().map_or_else(String::new, |case| format!("md-workbench: {}", case.title));
    let seed = cases.first().map_or(0, |case| case.workload.signature);
    let plan = line.plan(title, seed, cases, &Memo { settings, tasks, map });
    Ok(ParsedCommand { plan, extras, show: None, warnings: Vec::new(), output: None })
}

fn meaning(key: Key, settings: &Settings) -> String {
    match key {
        Key::Rounds => {
            format!("{} rounds, each of which continues where the previous one ended", settings.rounds)
        }
        Key::Waiting | Key::Adaptive => {
            let rests: Vec<String> = settings.rests().iter().map(|rest| format!("{rest} %")).collect();
            format!("each step is followed by a pause of {} of its duration", rests.join(", "))
        }
        Key::Direct => "objects are opened with O_DIRECT, past the page cache".to_owned(),
        Key::Directory => "contains the sets, named 0_0, 0_1 and so on".to_owned(),
        Key::StatusFile if settings.cleanup && settings.precreate => {
            "no effect: this command line creates and removes the sets".to_owned()
        }
        Key::Latencies if settings.history_is_short() => {
            format!("{}; of more than {HISTORY_MAX} operations in a round, only the last", OPTIONS.about(key))
        }
        _ => OPTIONS.about(key).to_owned(),
    }
}

fn printer(plan: &Plan) -> Option<Box<dyn ToolPrinter>> {
    let (memo, arguments) = memo_of(plan, TOOL)?;
    Some(Box::new(Printer::new(memo, arguments.to_vec(), plan.cases.clone())))
}
