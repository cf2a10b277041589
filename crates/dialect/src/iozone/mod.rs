//! IOzone's command line and output.
//!
//! [`parse`] reads a command line into a [`plan::Plan`] of one case for each test, of each pair of file and
//! record size, or of each number of processes. The printer turns phases of a record into IOzone's table,
//! its blocks of throughput mode and its report for spreadsheets. Semantics come from its manual page and
//! from watching the program (3.471, 3.489 and 3.508); `docs/IOZONE.md` lists every option and every
//! difference with its reason.

mod case;
mod clients;
mod figures;
mod help;
mod options;
mod printer;
mod reader;
mod settings;
mod sheet;
mod test;

use plan::{Plan, Question};
use serde::{Deserialize, Serialize};

use crate::ior::Launcher;
use crate::tool::kept;
use crate::{Asked, Extras, Tool, ToolError, ToolPrinter};
use case::Point;
use reader::Reader;
use settings::{Settings, Unit};

/// The tool's name in [`Question::Dialect`].
const TOOL: &str = "iozone";

/// IOzone, for the table of tools.
pub(crate) const IOZONE: Tool = Tool {
    name: TOOL,
    called: &[TOOL],
    about: "IOzone's command line and tables: file size × record size, or throughput of processes",
    parse,
    printer,
    help: help::help,
    reference: help::reference,
};

/// What has to be kept with a plan so that its output can be printed again from the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Memo {
    settings: Settings,
    /// What each case is, in the order of the plan.
    points: Vec<Point>,
}

fn printer(plan: &Plan) -> Option<Box<dyn ToolPrinter>> {
    let (memo, _) = kept(plan, TOOL)?;
    Some(Box::new(printer::Printer::new(plan, memo)))
}

/// Words that cannot be obeyed.
fn wrong(written: &str, reason: String) -> ToolError {
    ToolError { tool: TOOL, written: written.to_owned(), reason }
}

fn parse(arguments: &[String], launcher: Launcher<'_>) -> Result<Asked, ToolError> {
    let (extras, words) =
        Extras::split(arguments).map_err(|error| wrong("ioproof's own options", error.to_string()))?;
    let mut reader = Reader::default();
    reader.line(words.get(1..).unwrap_or_default())?;
    let Reader { mut settings, mut notes, help, version, list } = reader;
    notes.extend(extras.notes.iter().cloned());
    let show = match (help, version) {
        (true, _) => Some(help::help().to_string()),
        (false, true) => Some(help::version()),
        // As IOzone does without a word.
        (false, false) if words.len() < 2 => Some(help::short()),
        (false, false) => None,
    };
    let mut warnings = Vec::new();
    let all = match &show {
        Some(_) => Vec::new(),
        None => {
            resolve(&mut settings)?;
            case::all(&settings, &extras, launcher, &mut warnings, list.as_deref())?
        }
    };
    let (cases, points): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    let memo = Memo { settings, points };
    let memo = serde_json::to_string(&memo).expect("settings are numbers, texts and UTF-8 paths");
    let question = Question::Dialect { tool: TOOL.to_owned(), arguments: arguments.to_vec(), notes, memo };
    let title = format!("IOzone: {}", words.get(1..).unwrap_or_default().join(" "));
    let plan =
        Plan { destroy_data_on: extras.destroy_data_on.clone(), ..Plan::new(title, question, 0, cases) };
    Ok(Asked { plan, extras, show, warnings, output: None })
}

/// Settles what several options say together.
fn resolve(settings: &mut Settings) -> Result<(), ToolError> {
    if let Some(upper) = settings.upper.or(settings.lower) {
        let lower = settings.lower.unwrap_or(1);
        if lower > upper {
            return Err(wrong(
                &format!("-l {lower} -u {upper}"),
                "the lower limit is above the upper one; exchange them".to_owned(),
            ));
        }
        settings.processes = (lower..=upper).collect();
    }
    if !settings.clients.is_empty() && settings.processes.is_empty() {
        // A list without a number of processes is of the client that runs single mode.
        if let Some(client) = settings.clients.first()
            && settings.file.is_relative()
        {
            settings.file = client.directory.join(&settings.file);
        }
    }
    if settings.is_throughput() && settings.unit == Unit::Microseconds {
        return Err(wrong(
            "-N",
            "microseconds of a record are not for throughput mode, as in IOzone".to_owned(),
        ));
    }
    if settings.mmap && settings.direct {
        return Err(wrong("-B and -I", "a mapping goes through the page cache; choose one".to_owned()));
    }
    if settings.mmap && settings.depth > 0 {
        return Err(wrong("-B and -k", "a mapping has one transfer at a time; choose one".to_owned()));
    }
    if settings.size_least_kb > settings.size_most_kb || settings.record_least_kb > settings.record_most_kb {
        return Err(wrong("-n, -g, -y, -q", "the least size is above the largest; exchange them".to_owned()));
    }
    Ok(())
}
