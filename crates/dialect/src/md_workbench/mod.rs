//! md-workbench's command line and output, as it comes with IOR 4.1.
//!
//! [`parse`] reads a command line into a [`plan::Plan`]; the printer turns records into its lines. Semantics
//! come from its help and from watching the program; `docs/MD_WORKBENCH.md` lists every option and every
//! difference.

mod lines;
mod printer;
mod settings;
mod table;

use plan::{Case, OptionNote, Plan, Question};
use serde::{Deserialize, Serialize};

use crate::ior::Launcher;
use crate::options::Given;
use crate::tool::kept;
use crate::{Asked, Extras, Help, Tool, ToolError, ToolPrinter};
use printer::Printer;
use settings::Settings;
use table::{Key, OPTIONS};

/// The tool's name in [`Question::Dialect`].
pub(crate) const TOOL: &str = "md-workbench";

/// The row of [`crate::TOOLS`].
pub(crate) const ROW: Tool = Tool {
    name: TOOL,
    called: &[TOOL],
    about: "Goes round small objects as md-workbench does, with the latency of each operation",
    parse,
    printer,
    help,
    reference,
};

/// What is printed for `-h`, above the options.
const HELP: &str = "Goes round small objects in sets as md-workbench does: -D sets of each task, -P objects in each, -I \
                    steps in each.\nEvery option and every difference to md-workbench: docs/MD_WORKBENCH.md";

/// The releases that `--compat` may name: its output has not changed since it came with IOR.
#[derive(Debug, Clone, Copy)]
struct Release;

impl std::str::FromStr for Release {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if text == "4.0" { Ok(Self) } else { Err(()) }
    }
}

/// What has to be kept with a plan so that its output can be printed again from the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Memo {
    settings: Settings,
    tasks: u32,
    /// Which tasks are on the first node.
    map: String,
}

fn help() -> Help {
    OPTIONS.help(HELP)
}

fn parse(arguments: &[String], launcher: Launcher<'_>) -> Result<Asked, ToolError> {
    let (extras, words) = Extras::split(arguments).map_err(|error| OPTIONS.error("", &error.to_string()))?;
    let given = OPTIONS.read(words.get(1..).unwrap_or_default())?;
    if given.iter().any(|option| option.key == Key::Help) {
        let plan = plan_of(arguments, Vec::new(), String::new(), Vec::new());
        return Ok(Asked {
            plan,
            extras,
            show: Some(help().to_string()),
            warnings: Vec::new(),
            output: None,
        });
    }
    extras.release::<Release>("give 4.0").map_err(|error| OPTIONS.error("--compat", &error.to_string()))?;
    let settings = Settings::of(&given)?;
    let per_rank = extras.tasks_per_rank;
    let node_of = launcher.node_of_tasks(per_rank);
    let tasks = u32::try_from(node_of.len()).unwrap_or(u32::MAX);
    let nodes = node_of.iter().max().map_or(1, |last| last + 1);
    let cases = settings.cases(tasks, nodes, if launcher.node_of.is_empty() { 0 } else { per_rank })?;
    let notes = notes(&given, &settings, &extras);
    let map = node_of.iter().map(|node| if node_of.first() == Some(node) { '1' } else { '0' }).collect();
    let memo = Memo { settings, tasks, map };
    let memo = serde_json::to_string(&memo)
        .expect("settings are numbers, texts and UTF-8 paths, which JSON can hold");
    Ok(Asked {
        plan: plan_of(arguments, notes, memo, cases),
        extras,
        show: None,
        warnings: Vec::new(),
        output: None,
    })
}

fn plan_of(arguments: &[String], notes: Vec<OptionNote>, memo: String, cases: Vec<Case>) -> Plan {
    let title = cases.first().map_or_else(String::new, |case| format!("md-workbench: {}", case.title));
    let seed = cases.first().map_or(0, |case| case.workload.signature);
    let question = Question::Dialect { tool: TOOL.to_owned(), arguments: arguments.to_vec(), notes, memo };
    Plan::new(title, question, seed, cases)
}

fn notes(given: &[Given<Key>], settings: &Settings, extras: &Extras) -> Vec<OptionNote> {
    let meaning = |key| match key {
        Key::Rounds => format!("{} rounds, each with sets that are made anew", settings.rounds),
        Key::Waiting | Key::Adaptive => {
            let rests: Vec<String> = settings.rests().iter().map(|rest| format!("{rest} %")).collect();
            format!("steps rest for {} of the time that they took", rests.join(", "))
        }
        Key::Directory => "the sets stand in objects.0-0 below it".to_owned(),
        _ => {
            let spec = OPTIONS.specs.iter().find(|spec| spec.key == key);
            spec.map_or_else(String::new, |spec| spec.about.to_owned())
        }
    };
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
