//! IOzone's command line and output.
//!
//! [`parse`] converts a command line to a [`plan::Plan`] with a case for each test and each pair of file
//! and record size, or each number of processes. The printer converts the phases of a record to IOzone's
//! table, its blocks of throughput mode and its report for spreadsheets. The semantics come from its manual
//! page and from observing the program (3.471, 3.489 and 3.508); `docs/IOZONE.md` lists every option and
//! every difference with its reason.

mod case;
mod clients;
mod figures;
mod options;
mod printer;
mod reader;
mod settings;
mod sheet;
mod test;

use plan::Plan;

use crate::launcher::Launcher;
use crate::tool::{CommandLine, memo_of};
use crate::{ParsedCommand, Tool, ToolError, ToolPrinter};
use case::Memo;
use options::{Key, OPTIONS, wrong};
use settings::{Settings, Unit};

/// The tool's name in [`PlanSource::Dialect`].
const TOOL: &str = OPTIONS.tool;

/// IOzone, for the table of tools.
pub(crate) const IOZONE: Tool = Tool {
    name: TOOL,
    called: &[TOOL],
    about: "IOzone's command line and tables: file size × record size, or throughput of processes",
    parse,
    printer,
    help: || OPTIONS.help(),
    reference: || OPTIONS.table(),
};

fn printer(plan: &Plan) -> Option<Box<dyn ToolPrinter>> {
    let (memo, _) = memo_of(plan, TOOL)?;
    Some(Box::new(printer::Printer::new(plan, memo)))
}

/// The text printed for an empty command line.
const SHORT_HELP: &str = "\tUsage: For usage information type iozone -h \n\n";

/// The text for `-v`.
fn version() -> String {
    format!(
        "       'Iozone' Filesystem Benchmark Program\n \n        Version $Revision: 3.508 $, as ioproof {} measures \
         and prints it\n",
        env!("CARGO_PKG_VERSION")
    )
}

fn parse(arguments: &[String], launcher: Launcher<'_>) -> Result<ParsedCommand, ToolError> {
    let (extras, mut words) = OPTIONS.extras(arguments)?;
    // A quoted empty variable. IOzone ignores it.
    words.retain(|word| !word.is_empty());
    let given = OPTIONS.read_with(&words, |word| {
        Err(wrong(word, "is not an option; options begin with -, as in -a or -s 1g".to_owned()))
    })?;
    let mut line = CommandLine { tool: TOOL, arguments, extras: &extras, notes: Vec::new() };
    let has = |key: Key| given.iter().any(|option| option.key == key);
    if has(Key::Help) {
        return Ok(ParsedCommand::text(line, OPTIONS.help().to_string()));
    }
    if has(Key::Version) {
        return Ok(ParsedCommand::text(line, version()));
    }
    if words.is_empty() {
        return Ok(ParsedCommand::text(line, SHORT_HELP.to_owned()));
    }
    let mut settings = Settings::of(&given)?;
    for option in &given {
        let meaning = reader::meaning(option)?;
        line.notes.push(option.note(|_| meaning));
    }
    resolve(&mut settings)?;
    let list = given.iter().rfind(|option| option.key == Key::Clients).map(|option| option.written.as_str());
    let mut warnings = reader::warnings(&given);
    let all = case::all(&settings, &extras, launcher, &mut warnings, list)?;
    let (cases, points): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    let title = format!("IOzone: {}", words.join(" "));
    let plan = line.plan(title, 0, cases, &Memo { settings, points });
    Ok(ParsedCommand { plan, extras, show: None, warnings, output: None })
}

/// Resolves settings that depend on several options.
fn resolve(settings: &mut Settings) -> Result<(), ToolError> {
    if let Some(upper) = settings.upper.or(settings.lower) {
        let lower = settings.lower.unwrap_or(1);
        if lower > upper {
            return Err(wrong(
                &format!("-l {lower} -u {upper}"),
                "the lower limit is greater than the upper one; swap them".to_owned(),
            ));
        }
        settings.processes = (lower..=upper).collect();
    }
    if !settings.clients.is_empty() && settings.processes.is_empty() {
        // If a list is given without a number of processes, its client runs single mode.
        if let Some(client) = settings.clients.first()
            && settings.file.is_relative()
        {
            settings.file = client.directory.join(&settings.file);
        }
    }
    if settings.is_throughput() && settings.unit == Unit::Microseconds {
        return Err(wrong(
            "-N",
            "microseconds per record are not available in throughput mode, as in IOzone".to_owned(),
        ));
    }
    if settings.mmap && settings.direct {
        return Err(wrong("-B and -I", "a mapping goes through the page cache; choose one".to_owned()));
    }
    if settings.mmap && settings.depth > 0 {
        return Err(wrong("-B and -k", "a mapping supports one transfer at a time; choose one".to_owned()));
    }
    if settings.size_least_kb > settings.size_most_kb || settings.record_least_kb > settings.record_most_kb {
        return Err(wrong("-n, -g, -y, -q", "the smallest size is above the largest; swap them".to_owned()));
    }
    Ok(())
}
