//! The program's own command line; foreign dialects take over theirs before it is looked at.

#[cfg(test)]
mod documented;
mod groups;
mod look;
mod measure;
mod model;
mod scale;
pub(crate) mod values;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::builder::ValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

pub(crate) use look::{
    BatchArguments, CheckArguments, CleanArguments, CompareArguments, CompareFormat, Format,
    HistoryArguments, ImportArguments, MergeArguments, OverheadArguments, ReferenceArguments,
    ReferenceFilter, ReferenceWhat, ReportArguments, RunsArguments, RunsFormat, StudiesArguments,
    StudiesWhat, VerdictArguments, VerifyArguments,
};
pub(crate) use measure::{
    Basis, CrossCheckArguments, Fadvise, RandomopsArguments, RpcArguments, RunArguments, RunOptions,
};
pub(crate) use model::{ModelFitArguments, ModelShowArguments, ModelWhat};
pub(crate) use scale::Scale;

use crate::console::exit::{Exit, Failure};
use crate::console::{complain_lines, print};
use crate::defaults::{self, Defaults};
use crate::{
    batch, calc,
    console::signals,
    foreign,
    foreign::{cross_check, io500, ior},
    generate, host, layout, model as models,
    records::{
        check, clean, compare, history, import, merge, reference, report, runs, schema, sign, verdict,
    },
    run,
    run::{cluster, job, overhead, randomops, rpc, simulated, studies},
};

/// Measures what a storage system can really do, keeps the record, and shows the answer.
#[derive(Debug, Parser)]
#[command(name = "ioproof", version, disable_help_subcommand = true, after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
`ioproof COMMAND --help` describes a command. When called by the name of a tool,
such as `ior` or `mdtest` (a link to this program), it takes that tool's command
line.
Exit status: 0 done, 2 wrong command line or study, 3 refused, 4 the host lacks
something, 5 a transfer failed, 6 wrong data found, 7 run directory unusable, 8
a commitment was not kept, 9 a node was lost, 10 it cannot be told whether a
limit was kept, 130 interrupted.";

#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Parallel(ParallelCommand),
    #[command(flatten)]
    Local(LocalCommand),
}

/// What all processes do together that a launcher has started.
#[derive(Debug, Subcommand)]
enum ParallelCommand {
    /// Run the measurements of a study file, or measure the storage under a directory in about a minute.
    Run(RunArguments),
    /// Measure random operations by many tasks, each on its own file.
    Randomops(RandomopsArguments),
    /// Get a second opinion: measure a directory with ioproof and the installed fio in alternation.
    CrossCheck(CrossCheckArguments),
    /// Measure requests and responses between processes: rates, latency, CPU time, bandwidth.
    Rpc(RpcArguments),
    /// Run IOR's own command line; `ioproof ior -h` lists the options.
    #[command(disable_help_flag = true)]
    Ior {
        /// IOR's options, and --explain, --out RUNDIR, --compat 3.0|3.3|4.0.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, num_args = 0..)]
        arguments: Vec<OsString>,
    },
    /// Run IO500 with its configuration file; `ioproof io500 -h` lists the options.
    #[command(disable_help_flag = true)]
    Io500 {
        /// The configuration, IO500's options, and --explain, --out RUNDIR.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, num_args = 0..)]
        arguments: Vec<OsString>,
    },
}

/// What the first of them does alone.
#[derive(Debug, Subcommand)]
enum LocalCommand {
    /// Print the tables of a run again, and write its report; several runs are combined.
    Report(ReportArguments),
    /// Show for each commitment of a study whether it was kept, and by how much.
    Verdict(VerdictArguments),
    /// Check whether a record is unchanged since it was signed, and who signed it.
    Verify(VerifyArguments),
    /// Check the figures of a run, or the published ones, for values that cannot be true.
    Check(CheckArguments),
    /// Show the last operations of a run individually, with the device's share of their time.
    History(HistoryArguments),
    /// List the studies that come with the program, or print one.
    Studies(StudiesArguments),
    /// Compare two runs, for example from before and after a change.
    Compare(CompareArguments),
    /// List, tag and prune the records in a directory, or show a figure of them over time.
    Runs(RunsArguments),
    /// Write job scripts that run a study under a batch system.
    Batch(BatchArguments),
    /// Merge several runs into one record.
    Merge(MergeArguments),
    /// Convert the output of other tools into a record: IOR, mdtest, iozone, ioping, gpfsperf, fio,
    /// elbencho, iostat, nsdperf, mmfsadm dump iohist.
    Import(ImportArguments),
    /// Show what studies have published: figures, statements, misprints.
    Reference(ReferenceArguments),
    /// Calculate with given figures: scalability, tax, bounds, statistics, lines, curves.
    #[command(subcommand)]
    Calc(calc::Calculation),
    /// Show, check and fit models of storage systems, for `ioproof run --model`.
    #[command(subcommand)]
    Model(ModelWhat),
    /// Show and remove what killed runs left under a directory.
    Clean(CleanArguments),
    /// Show what this host is and how it is configured.
    #[command(subcommand)]
    Host(host::HostCommand),
    /// Create layouts of devices, verify them, and dismantle them again.
    #[command(subcommand)]
    Layout(layout::LayoutCommand),
    /// Measure the overhead of ioproof itself on this host.
    Overhead(OverheadArguments),
    /// Print the JSON schema of study files, of reports or of hosts.
    Schema {
        /// Which schema.
        what: schema::Schema,
    },
    /// Print each default of an option with its value and where it comes from: files, the environment.
    Config,
    /// Write the man pages and shell completions into a directory.
    #[command(hide = true)]
    Generate {
        /// Destination directory.
        directory: PathBuf,
    },
}

/// Runs what `arguments` (the program's name first) ask for.
pub(crate) fn dispatch(arguments: Vec<OsString>) -> Result<Exit, Failure> {
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
    let matched = |definition: clap::Command| {
        definition.try_get_matches_from(&arguments).and_then(|matches| {
            match matches.subcommand_name().and_then(dialect::tool) {
                Some(tool) => {
                    Err(self::definition().error(ErrorKind::InvalidSubcommand, not_first(tool.name)))
                }
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
                None => run::run(run, world),
            },
            ParallelCommand::Randomops(asked) => randomops::run(asked, world),
            ParallelCommand::CrossCheck(asked) => cross_check::run(asked, world),
            ParallelCommand::Rpc(asked) => rpc::run(asked, world),
            ParallelCommand::Ior { .. } => Err(Failure::usage(not_first("ior"))),
            ParallelCommand::Io500 { .. } => Err(Failure::usage(not_first("io500"))),
        }),
        Command::Local(command) if cluster::is_first() => look(command, &defaults),
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

fn look(command: LocalCommand, defaults: &Defaults) -> Result<Exit, Failure> {
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
        LocalCommand::Model(what) => models::run(&what),
        LocalCommand::Schema { what } => schema::run(what),
        LocalCommand::Clean(arguments) => clean::run(&arguments),
        LocalCommand::Host(what) => host::run(&what),
        LocalCommand::Layout(asked) => layout::run(&asked),
        LocalCommand::Overhead(arguments) => overhead::run(&arguments),
        LocalCommand::Config => defaults::run(&definition()),
        LocalCommand::Generate { directory } => generate::run(&directory, &definition()),
    }
}

fn not_first(tool: &str) -> String {
    format!("write `{tool}` as the first argument: ioproof {tool} …")
}

/// The definition that help, man pages and completions are made from.
pub(crate) fn definition() -> clap::Command {
    let all = dialect::TOOLS.iter().fold(Arguments::command(), |command, tool| {
        let words = Arg::new("arguments")
            .help(format!("{}'s options, and --explain, --out RUNDIR", tool.name))
            .trailing_var_arg(true)
            .allow_hyphen_values(true)
            .num_args(0..)
            .value_parser(ValueParser::os_string());
        command.subcommand(
            clap::Command::new(tool.name)
                .about(tool.about)
                .visible_aliases(tool.called.iter().skip(1).copied())
                .disable_help_flag(true)
                .arg(words),
        )
    });
    groups::grouped(all)
}

/// Whose command line it is.
enum Foreign {
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

fn tool_called(name: &OsStr) -> Option<Foreign> {
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
    let is_form = Format::from_str(option, true).is_ok();
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
