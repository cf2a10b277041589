//! The program's own command line; foreign dialects take over theirs before it is looked at.

#[cfg(test)]
mod documented;
mod groups;
pub(crate) mod values;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::ValueParser;
use clap::{Arg, CommandFactory, Parser, Subcommand};

use crate::batch::BatchArguments;
use crate::doctor::DoctorArguments;
use crate::foreign::cross_check::CrossCheckArguments;
use crate::records::check::CheckArguments;
use crate::records::clean::CleanArguments;
use crate::records::compare::CompareArguments;
use crate::records::history::HistoryArguments;
use crate::records::import::ImportArguments;
use crate::records::merge::MergeArguments;
use crate::records::reference::ReferenceArguments;
use crate::records::report::ReportArguments;
use crate::records::runs::RunsArguments;
use crate::records::schema::Schema;
use crate::records::sign::VerifyArguments;
use crate::records::verdict::VerdictArguments;
use crate::run::arguments::RunArguments;
use crate::run::overhead::OverheadArguments;
use crate::run::randomops::RandomopsArguments;
use crate::run::rpc::RpcArguments;
use crate::run::studies::StudiesArguments;
use crate::{calc, host, layout, model};

/// Measures what a storage system can really do, keeps the record, and shows the answer.
#[derive(Debug, Parser)]
#[command(name = "ioproof", version = crate::version::VERSION, disable_help_subcommand = true, after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
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
pub(crate) enum Command {
    #[command(flatten)]
    Parallel(ParallelCommand),
    #[command(flatten)]
    Local(LocalCommand),
}

/// What all processes do together that a launcher has started.
#[derive(Debug, Subcommand)]
pub(crate) enum ParallelCommand {
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
pub(crate) enum LocalCommand {
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
    Model(model::ModelWhat),
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
        what: Schema,
    },
    /// Print each default of an option with its value and where it comes from: files, the environment.
    Config,
    /// Tell what this host allows for measurements in a directory, and what to do about the rest. Nothing is written.
    Doctor(DoctorArguments),
    /// Print the completions for a shell, for example into
    /// ~/.local/share/bash-completion/completions/ioproof.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Show the man page of the program or of a command, as `ioproof man host facts`.
    Man {
        /// The command.
        command: Vec<String>,
    },
    /// Write the man pages and shell completions into a directory.
    #[command(hide = true)]
    Generate {
        /// Destination directory.
        directory: PathBuf,
    },
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
