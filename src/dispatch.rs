//! What each command line runs: a foreign tool's, or one of the program's own commands.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{FromArgMatches, ValueEnum};

use crate::arguments::{Arguments, Command, LocalCommand, ParallelCommand, definition};
use crate::console::exit::{Exit, Failure};
use crate::console::{complain_lines, print, signals};
use crate::defaults::{self, Defaults};
use crate::foreign::{self, cross_check, io500, ior};
use crate::records::{
    check, clean, compare, history, import, merge, reference, report, runs, schema, sign, verdict,
};
use crate::run::{cluster, job, overhead, randomops, rpc, simulated, studies};
use crate::{batch, calc, doctor, generate, host, layout, model};

/// Runs what `arguments` (the program's name first) ask for.
pub(crate) fn run(arguments: Vec<OsString>) -> Result<Exit, Failure> {
    signals::outlive_file_limit().map_err(|error| Failure::new(Exit::Internal, error))?;
    // Before anything that takes time: jobs are started by the hundred. No definition of the command line has it, as
    // nobody types it.
    if matches!(&arguments[..], [_, word] if word == job::WORD) {
        return job::run();
    }
    let arguments = as_option(arguments);
    if let Some((tool, words)) = foreign(&arguments) {
        let defaults = of_first(Defaults::of("", true, &definition()))?.left_by_tool(words);
        return cluster::lead(&arguments, defaults, |world| match tool {
            Foreign::Ior => ior::run(words, world),
            Foreign::Io500 => io500::run(words, world),
            Foreign::Tool(tool) => foreign::run(tool, words, world),
        });
    }
    if arguments.get(1).is_some_and(|word| word == "audit") {
        return Err(Failure::usage("`audit` is called `check`: ioproof check RUNDIR"));
    }
    let matched = |all: clap::Command| {
        all.try_get_matches_from(&arguments).and_then(|matches| {
            match matches.subcommand_name().and_then(dialect::tool) {
                Some(tool) => Err(definition().error(ErrorKind::InvalidSubcommand, not_first(tool.name))),
                None => Ok(matches),
            }
        })
    };
    // The help, and what is wrong with a command line, depend on no file.
    let command = match matched(definition()) {
        Ok(matches) => matches.subcommand_name().unwrap_or_default().to_owned(),
        Err(error) => return usage(&error),
    };
    let defaults = of_first(Defaults::of(&command, false, &definition()))?;
    let parsed = matched(defaults.apply(definition()))
        .and_then(|matches| Ok((Arguments::from_arg_matches(&matches)?, defaults.left(&matches))));
    let (parsed, defaults) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return usage(&error),
    };
    match parsed.command {
        Command::Parallel(command) => cluster::lead(&arguments, defaults, |world| match &command {
            ParallelCommand::Run(run) => match &run.model {
                Some(model) => simulated::run(run, model, world),
                None => crate::run::run(run, world),
            },
            ParallelCommand::Randomops(asked) => randomops::run(asked, world),
            ParallelCommand::CrossCheck(asked) => cross_check::run(asked, world),
            ParallelCommand::Rpc(asked) => rpc::run(asked, world),
            ParallelCommand::Ior { .. } => Err(Failure::usage(not_first("ior"))),
            ParallelCommand::Io500 { .. } => Err(Failure::usage(not_first("io500"))),
        }),
        Command::Local(command) if cluster::is_first() => local(command, &defaults),
        Command::Local(_) => Ok(Exit::Success),
    }
}

/// `ioproof help COMMAND` is `ioproof COMMAND --help`, and tools that know only `-h` take `--help` as well.
fn as_option(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.get(1).is_some_and(|word| word == "help") {
        arguments.remove(1);
        arguments.push("--help".into());
    }
    if let (Some((Foreign::Tool(_), [_, word])), Some(last)) =
        (foreign(&arguments), arguments.len().checked_sub(1))
        && word == "--help"
    {
        arguments[last] = "-h".into();
    }
    arguments
}

/// `result`, whose error only the first process of a launcher reports.
fn of_first<T>(result: Result<T, Failure>) -> Result<T, Failure> {
    result.map_err(|failure| if cluster::is_first() { failure } else { failure.silent() })
}

fn local(command: LocalCommand, defaults: &Defaults) -> Result<Exit, Failure> {
    match command {
        LocalCommand::Report(arguments) => report::run(&arguments),
        LocalCommand::Verdict(arguments) => verdict::run(&arguments),
        LocalCommand::Verify(arguments) => sign::verify(&arguments),
        LocalCommand::Check(arguments) => check::run(&arguments),
        LocalCommand::History(arguments) => history::run(&arguments),
        LocalCommand::Studies(arguments) => studies::run(&arguments),
        LocalCommand::Compare(arguments) => compare::run(&arguments),
        LocalCommand::Runs(arguments) => runs::run(&arguments),
        LocalCommand::Batch(arguments) => batch::run(&arguments),
        LocalCommand::Merge(arguments) => merge::run(&arguments),
        LocalCommand::Import(arguments) => import::run(&arguments, defaults),
        LocalCommand::Reference(arguments) => reference::run(&arguments),
        LocalCommand::Calc(calculation) => calc::run(&calculation),
        LocalCommand::Model(what) => model::run(&what),
        LocalCommand::Schema { what } => schema::run(what),
        LocalCommand::Clean(arguments) => clean::run(&arguments),
        LocalCommand::Host(what) => host::run(&what),
        LocalCommand::Layout(asked) => layout::run(&asked),
        LocalCommand::Overhead(arguments) => overhead::run(&arguments),
        LocalCommand::Config => defaults::run(&definition()),
        LocalCommand::Doctor(arguments) => doctor::run(&arguments, defaults),
        LocalCommand::Completions { shell } => generate::completions(shell, &definition()),
        LocalCommand::Man { command } => generate::man(&command, &definition()),
        LocalCommand::Generate { directory } => generate::run(&directory, &definition()),
    }
}

fn not_first(tool: &str) -> String {
    format!("write `{tool}` as the first argument: ioproof {tool} …")
}

/// Whose command line it is.
pub(crate) enum Foreign {
    Ior,
    Io500,
    Tool(&'static dialect::Tool),
}

/// The foreign command line, its program name first, when the program is called by that name or
/// with it as the first argument.
fn foreign(arguments: &[OsString]) -> Option<(Foreign, &[OsString])> {
    let called = arguments.first().map(Path::new).and_then(Path::file_name)?;
    if let Some(tool) = tool_called(called) {
        return Some((tool, arguments));
    }
    let tool = tool_called(arguments.get(1)?)?;
    Some((tool, &arguments[1..]))
}

pub(crate) fn tool_called(name: &OsStr) -> Option<Foreign> {
    let name = name.to_str()?.to_ascii_lowercase();
    match name.as_str() {
        "ior" => Some(Foreign::Ior),
        dialect::io500::TOOL => Some(Foreign::Io500),
        name => dialect::tool(name).map(Foreign::Tool),
    }
}

/// A message about `arguments`, whose line ends cannot start lines of the program's own.
fn told(message: &str, arguments: impl Iterator<Item = OsString>) -> String {
    arguments.fold(message.to_owned(), |message, argument| {
        let argument = argument.to_string_lossy();
        let value = argument.split_once('=').map_or("", |(_, value)| value);
        let several = [&argument, value].into_iter().filter(|word| word.contains('\n'));
        several.fold(message, |message, word| message.replace(word, &plan::visible(word)))
    })
}

/// What to write instead of an option or a command that there is not.
fn instead(error: &clap::Error) -> Option<String> {
    let given = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let command = std::env::args().nth(1).unwrap_or_default();
    if let Some(wrong) = given(ContextKind::InvalidSubcommand) {
        let definition = definition();
        let names =
            definition.get_subcommands().filter(|one| !one.is_hide_set()).map(clap::Command::get_name);
        return record::Library::nearest(wrong, names).map(|meant| format!("did you mean `{meant}`?"));
    }
    if error.kind() == ErrorKind::ArgumentConflict
        && given(ContextKind::InvalidArg).is_some_and(|option| option.starts_with("--quick"))
    {
        return Some("`ioproof run local-disk --on DIR` is a similar study, and accepts --set".to_owned());
    }
    let option = given(ContextKind::InvalidArg)?.strip_prefix("--")?;
    let option = option.split('=').next().unwrap_or(option);
    let is_form = report::Format::from_str(option, true).is_ok();
    match command.as_str() {
        "report" | "compare" if is_form => Some(format!("use --format {option}")),
        "run" if is_form => {
            Some(format!("`ioproof report RUNDIR --format {option}` shows a run in this form"))
        }
        "run" => {
            let key = option.replace('-', "_");
            let table = plan::study::table_of(&key)?;
            let name = if table == "protocol" { "" } else { "*." };
            Some(format!("it is a key of studies: use --set '{table}.{name}{key}=VALUE'"))
        }
        _ => None,
    }
}

/// Help and version go to standard output with success; everything else is wrong usage.
fn usage(error: &clap::Error) -> Result<Exit, Failure> {
    let exit = if error.use_stderr() { Exit::Usage } else { Exit::Success };
    if cluster::is_first() {
        let mut text = told(&error.to_string(), std::env::args_os());
        if let Some(instead) = instead(error) {
            let is_tip = |line: &&str| !line.trim_start().starts_with("tip: ");
            let mut lines: Vec<&str> = text.lines().filter(is_tip).collect();
            lines.dedup();
            let tip = format!("\n  tip: {instead}");
            lines.insert(1.min(lines.len()), &tip);
            text = lines.join("\n");
        }
        match exit {
            Exit::Usage => complain_lines(&text, &text),
            _ => print(&text)?,
        }
    }
    Ok(exit)
}
