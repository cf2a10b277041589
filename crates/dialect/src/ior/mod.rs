//! IOR's command line and output, as releases 3.0 to 4.1 have them.
//!
//! [`parse`] converts a command line, with its directives and scripts, to a [`plan::Plan`] of one case
//! for each test. [`Printer`] prints the rows of a record in IOR's format, either while the run is in
//! progress or from a finished record. The semantics come from IOR's user guide and from observing the
//! program; `docs/IOR.md` lists every option and every difference with its reason.
//!
//! | type | what it is |
//! |---|---|
//! | [`Launcher`] | information from the launcher of the processes and about the host |
//! | [`ParsedCommand`] | the plan, the output and everything else that the command line specifies |
//! | [`Printer`] | text, JSON or CSV: a header, a part for each phase, an end |
//! | [`ToolError`] | the wrong words, and the next step |
//!
//! ```
//! use dialect::ior::{Launcher, parse};
//! let line = ["ior", "-a", "POSIX", "-Ceg", "-t1m", "-b=16m", "-F", "-o", "a/x@b/x", "-N", "24"];
//! let asked = parse(&line, Launcher::default())?;
//! let workload = &asked.plan.cases[0].workload;
//! assert_eq!(workload.tasks, 24);
//! assert_eq!(workload.files.targets.len(), 2);
//! let wrong = parse(&["ior", "-t", "16m", "-b", "1m"], Launcher::default()).unwrap_err();
//! assert!(wrong.to_string().contains("16777216") && wrong.to_string().contains("1048576"));
//! # Ok::<(), dialect::ToolError>(())
//! ```

mod case;
mod meaning;
mod options;
mod output;
mod print;
mod reader;
mod script;
mod settings;

use std::ffi::OsStr;
use std::path::PathBuf;

use plan::{OptionNote, Plan};

pub use crate::launcher::Launcher;
pub use output::{Format, OutputOptions};
pub use print::{Printer, rank_csv, version};

use crate::tool::CommandLine;
use crate::{Compat, Extras, Help, ToolError};
use options::OPTIONS;
use output::Memo;
use reader::Reader;

/// Files that a test writes in addition to its output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SideFiles {
    /// [`plan::Case::id`].
    pub case: String,
    /// `stoneWallingStatusFile`: write [`stonewall_status`] to this file when a write phase has ended.
    pub status: Option<PathBuf>,
    /// `saveRankPerformanceDetailsCSV`: write [`rank_csv`] to this file when the case has ended.
    pub rank_csv: Option<PathBuf>,
}

/// The text for `-h`.
#[must_use]
pub fn help() -> Help {
    OPTIONS.help()
}

/// The table of all options for `docs/IOR.md`, in Markdown.
#[must_use]
pub fn reference() -> String {
    OPTIONS.table()
}

/// Everything that a command line specifies.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedCommand {
    /// A case for each test; its source holds the notes and what [`Printer`] needs.
    pub plan: Plan,
    /// The output options.
    pub output: OutputOptions,
    /// ioproof's own options.
    pub extras: Extras,
    /// The release whose output format is used.
    pub compat: Compat,
    /// Files in addition to the output, for each case that has any.
    pub side_files: Vec<SideFiles>,
    /// `--dryRun`: print the plan and move nothing.
    pub dry_run: bool,
    /// `-h`: print [`help`] and end; the plan has no case.
    pub show_help: bool,
    /// `--version`: print the version and end; the plan has no case.
    pub show_version: bool,
    /// Warnings that IOR also prints before the run, one sentence each.
    pub warnings: Vec<String>,
    /// Every option with its meaning; ioproof's own options are at the end.
    pub notes: Vec<OptionNote>,
}

/// Parses a command line, which begins with the program's name.
///
/// # Errors
/// Returns an error about the first word that is unknown, wrong, or rejected, with the reason and the
/// next step.
pub fn parse<Word: AsRef<OsStr>>(
    arguments: &[Word],
    launcher: Launcher<'_>,
) -> Result<ParsedCommand, ToolError> {
    let arguments = arguments.iter().map(unicode).collect::<Result<Vec<String>, ToolError>>()?;
    let (extras, words) = OPTIONS.extras(&arguments)?;
    let mut reader = Reader::new(launcher, extras.tasks_per_rank);
    reader.line(&words)?;
    let Reader { tests, mut notes, mut warnings, output, show_help, show_version, .. } = reader;
    // With -h the rest of the command line may be invalid.
    let tests = if show_help || show_version { Vec::new() } else { tests };
    let compat = extras.release(RELEASES).map_err(|error| OPTIONS.error("--compat", &error.to_string()))?;
    let compat = compat.unwrap_or_default();
    check_release(output.format, compat)?;

    let mut cases = Vec::with_capacity(tests.len());
    let mut settings = Vec::with_capacity(tests.len());
    let mut side_files = Vec::new();
    for (index, test) in tests.iter().enumerate() {
        let (case, resolved) = case::make_case(test, index, &extras, launcher, &cases, &mut warnings)?;
        let beside = SideFiles {
            case: case.id.clone(),
            status: resolved.status_file.clone().filter(|_| resolved.write),
            rank_csv: resolved.rank_csv.clone(),
        };
        if beside.status.is_some() || beside.rank_csv.is_some() {
            side_files.push(beside);
        }
        cases.push(case);
        settings.push(resolved);
    }
    let dry_run = settings.iter().any(|test| test.dry_run);
    let title = cases.first().map_or_else(String::new, |case| case.title.clone());
    let seed = cases.first().map_or(0, |case| case.workload.signature);
    let line = CommandLine { tool: TOOL, arguments: &arguments, extras: &extras, notes: notes.clone() };
    let plan = line.plan(title, seed, cases, &Memo { format: output.format, compat, tests: settings });
    notes.extend(extras.notes.iter().cloned());
    Ok(ParsedCommand {
        plan,
        output,
        extras,
        compat,
        side_files,
        dry_run,
        show_help,
        show_version,
        warnings,
        notes,
    })
}

/// JSON was introduced in 3.2 and CSV in 4.0, so there is no such format for earlier releases.
fn check_release(format: Format, compat: Compat) -> Result<(), ToolError> {
    let since = match format {
        Format::Json if compat < Compat::V3_3 => "3.2",
        Format::Csv if compat < Compat::V4_0 => "4.0",
        Format::Text | Format::Json | Format::Csv => return Ok(()),
    };
    Err(OPTIONS.error(
        &format!("--compat {compat} and summaryFormat={}", format.name()),
        &format!("IOR has {} only since {since}; leave one of them out", format.name()),
    ))
}

/// The tool's name in [`plan::PlanSource::Dialect`].
pub const TOOL: &str = OPTIONS.tool;

/// The values that `--compat` accepts.
const RELEASES: &str = "give 3.0, 3.3 or 4.0";

/// The content of a `stoneWallingStatusFile` after the write phase of `tasks`: the number of transfers of
/// each task, or of the task that did most.
#[must_use]
pub fn stonewall_status(tasks: &[record::TaskRow]) -> String {
    tasks.iter().map(|task| task.transfers).max().unwrap_or(0).to_string()
}

fn unicode<Word: AsRef<OsStr>>(word: &Word) -> Result<String, ToolError> {
    let word = word.as_ref();
    match word.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => {
            let reason = "is not valid UTF-8: give paths and values in UTF-8";
            Err(OPTIONS.error(&word.to_string_lossy(), reason))
        }
    }
}
