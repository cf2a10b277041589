//! mdtest's command line and output, as releases 1.9.3 to 4.1 have them.
//!
//! [`parse`] reads a command line into a [`plan::Plan`] of one case for each number of tasks, which is
//! mostly one. [`Printer`] prints records as mdtest prints them. Semantics come from its help, its manual
//! page and from watching the program; `docs/MDTEST.md` lists every option and every difference.

mod case;
mod meaning;
mod printer;
mod ranks;
mod release;
mod rows;
mod settings;
mod table;
mod text;

use plan::{Case, OptionNote, Plan, Question};
use serde::{Deserialize, Serialize};

use crate::ior::Launcher;
use crate::options::Given;
use crate::tool::kept;
use crate::{Asked, Extras, Help, Tool, ToolError, ToolPrinter};
use case::Tasks;
use printer::Printer;
use release::{RELEASES, Release};
use settings::Settings;
use table::{Key, OPTIONS};

/// The tool's name in [`Question::Dialect`].
pub(crate) const TOOL: &str = "mdtest";

/// The row of [`crate::TOOLS`].
pub(crate) const ROW: Tool = Tool {
    name: TOOL,
    called: &[TOOL],
    about: "Makes, looks at, reads and removes many files and directories as mdtest does",
    parse,
    printer,
    help,
    reference,
};

/// What is printed for `-h`, above the options.
const HELP: &str = "Makes, looks at, reads and removes files and directories as mdtest does: -n items of each task, \
                    -F files, -D directories.\nSizes take k, m, g, t (powers of 1024). Every option and every \
                    difference to mdtest: docs/MDTEST.md";

/// What has to be kept with a plan so that its output can be printed again from the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Memo {
    release: Release,
    settings: Settings,
    /// Tasks of all processes.
    tasks: u32,
    /// Nodes that they are on.
    nodes: u32,
    /// Which tasks are on the first node.
    map: String,
    /// Tasks of each case.
    counts: Vec<u32>,
    /// Items of one kind of each task.
    items: u64,
}

fn help() -> Help {
    OPTIONS.help(HELP)
}

fn parse(arguments: &[String], launcher: Launcher<'_>) -> Result<Asked, ToolError> {
    let (extras, words) = Extras::split(arguments).map_err(|error| OPTIONS.error("", &error.to_string()))?;
    let given = OPTIONS.read(words.get(1..).unwrap_or_default())?;
    if given.iter().any(|option| option.key == Key::Help) {
        let plan = plan_of(arguments, Vec::new(), String::new(), Vec::new(), &extras);
        let show = Some(help().to_string());
        return Ok(Asked { plan, extras, show, warnings: Vec::new(), output: None });
    }
    let release: Release = extras
        .release(RELEASES)
        .map_err(|error| OPTIONS.error("--compat", &error.to_string()))?
        .unwrap_or_default();
    let settings = Settings::of(&given)?;
    // In the lines of 1.9.3 that were published with -Z it came with a directory that exists already.
    let tree = settings.tree(release == Release::V1_9 && settings.time)?;
    let tasks = Tasks::of(&settings, &extras, launcher)?;
    let mut warnings = settings.warnings(release);
    let limit = settings.limit(&mut warnings)?;
    let case = |&count: &u32| settings.case(&tree, count, &tasks, limit);
    let cases = tasks.counts.iter().map(case).collect::<Result<Vec<Case>, ToolError>>()?;
    let notes = notes(&given, &settings, &tree, &tasks, release, &extras);
    let memo = Memo {
        release,
        tasks: tasks.all,
        nodes: tasks.nodes(tasks.all),
        map: tasks.map(),
        counts: tasks.counts,
        items: tree.items_per_task(),
        settings,
    };
    let memo = serde_json::to_string(&memo)
        .expect("settings are numbers, texts and UTF-8 paths, which JSON can hold");
    let plan = plan_of(arguments, notes, memo, cases, &extras);
    Ok(Asked { plan, extras, show: None, warnings, output: None })
}

fn plan_of(
    arguments: &[String],
    notes: Vec<OptionNote>,
    memo: String,
    cases: Vec<Case>,
    extras: &Extras,
) -> Plan {
    let title = cases.first().map_or_else(String::new, |case| format!("mdtest: {}", case.title));
    let seed = cases.first().map_or(0, |case| case.workload.signature);
    let question = Question::Dialect { tool: TOOL.to_owned(), arguments: arguments.to_vec(), notes, memo };
    Plan { destroy_data_on: extras.destroy_data_on.clone(), ..Plan::new(title, question, seed, cases) }
}

fn notes(
    given: &[Given<Key>],
    settings: &Settings,
    tree: &plan::Tree,
    tasks: &Tasks,
    release: Release,
    extras: &Extras,
) -> Vec<OptionNote> {
    let meaning = |key| meaning::of(key, settings, tree, tasks, release);
    let note = |option: &Given<Key>| option.note(meaning);
    given.iter().map(note).chain(extras.notes.iter().cloned()).collect()
}

fn printer(plan: &Plan) -> Option<Box<dyn ToolPrinter>> {
    let (memo, arguments) = kept(plan, TOOL)?;
    Some(Box::new(Printer::new(memo, arguments.to_vec(), plan.cases.clone())))
}

fn reference() -> String {
    OPTIONS.table()
}
