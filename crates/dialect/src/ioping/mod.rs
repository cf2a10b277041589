//! ioping's command line and output, as release 1.3 has them: the latency of one request at a time.
//!
//! The requests are a workload of one task; their lines come from the last operations that it keeps.
//! Semantics come from its help, its manual page and from watching the program; `docs/IOPING.md` lists
//! every option and every difference.

mod case;
mod json;
mod meaning;
mod printer;
mod reader;
mod settings;
mod stat;
mod table;
mod words;

use plan::{OptionNote, Plan, Question};

use crate::ior::Launcher;
use crate::tool::kept;
use crate::{Asked, Extras, Help, Tool, ToolError, ToolPrinter};
use printer::Printer;
use settings::Settings;
use table::{Key, OPTIONS};

/// The tool's name in [`Question::Dialect`].
pub(crate) const TOOL: &str = "ioping";

/// The row of [`crate::TOOLS`].
pub(crate) const ROW: Tool = Tool {
    name: TOOL,
    called: &[TOOL],
    about: "Measures the latency of one request at a time as ioping does",
    parse,
    printer,
    help,
    reference,
};

/// What is printed for `-h`, above the options.
const HELP: &str = "Measures the latency of requests to a directory, a file or a block device, one at a time.\n\
                    Words may stand after one dash or two. Every option and every difference to ioping: \
                    docs/IOPING.md";

fn help() -> Help {
    OPTIONS.help(HELP)
}

fn parse(arguments: &[String], launcher: Launcher<'_>) -> Result<Asked, ToolError> {
    let (extras, words) = Extras::split(arguments).map_err(|error| OPTIONS.error("", &error.to_string()))?;
    let (given, rest) = reader::read(words.get(1..).unwrap_or_default())?;
    let has = |key: Key| given.iter().any(|option| option.key == key);
    let show = match (has(Key::Help), has(Key::Version)) {
        (true, _) => Some(help().to_string()),
        (_, true) => Some(format!("ioping 1.3 (ioproof {})\n", env!("CARGO_PKG_VERSION"))),
        _ => None,
    };
    let question = |notes: Vec<OptionNote>, memo: String| Question::Dialect {
        tool: TOOL.to_owned(),
        arguments: arguments.to_vec(),
        notes,
        memo,
    };
    if show.is_some() {
        let plan = Plan::new("ioping", question(Vec::new(), String::new()), 1, Vec::new());
        return Ok(Asked { plan, extras, show, warnings: Vec::new(), output: None });
    }
    let settings = Settings::of(&given, &rest)?;
    let mut warnings = Vec::new();
    if launcher.node_of.len() > 1 {
        warnings.push(
            "ioping has one request at a time: only the first process of the launcher makes any".to_owned(),
        );
    }
    let case = settings.case()?;
    let notes = given.iter().map(|option| option.note(|key| meaning::of(key, &settings)));
    let notes = notes.chain(extras.notes.iter().cloned()).collect();
    let memo = serde_json::to_string(&settings).map_err(|error| {
        OPTIONS.error(
            &settings.path.display().to_string(),
            &format!("cannot be recorded: {error}; use a path in UTF-8"),
        )
    })?;
    let (title, seed) = (format!("ioping: {}", case.title), settings.seed);
    let plan = Plan {
        destroy_data_on: extras.destroy_data_on.clone(),
        ..Plan::new(title, question(notes, memo), seed, vec![case])
    };
    Ok(Asked { plan, extras, show: None, warnings, output: None })
}

fn printer(plan: &Plan) -> Option<Box<dyn ToolPrinter>> {
    let (settings, _) = kept(plan, TOOL)?;
    Some(Box::new(Printer::new(settings)))
}

fn reference() -> String {
    OPTIONS.table()
}
