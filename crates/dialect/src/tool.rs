//! The interface between a tool's dialect and the program, which parses, runs and prints in the same way
//! for all tools.

use std::path::PathBuf;

use plan::{Case, Operation, OptionNote, Plan, PlanSource};
use record::{Manifest, PhaseRecord, Run};
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::launcher::Launcher;
use crate::{Extras, Help};

/// A tool whose command line ioproof supports.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// Its name in [`plan::PlanSource::Dialect`], and the first argument of `ioproof`.
    pub name: &'static str,
    /// The program names that select this tool, beginning with `name`.
    pub called: &'static [&'static str],
    /// One line for `ioproof --help`.
    pub about: &'static str,
    /// Parses a command line, which begins with the program's name.
    pub parse: fn(&[String], Launcher<'_>) -> Result<ParsedCommand, ToolError>,
    /// Creates the printer of the tool's output for a run of this plan. Returns `None` if the plan
    /// belongs to another tool.
    pub printer: fn(&Plan) -> Option<Box<dyn ToolPrinter>>,
    /// The help for `-h`.
    pub help: fn() -> Help,
    /// Every option with its effect here, as Markdown for `docs/`.
    pub reference: fn() -> String,
}

/// Everything that a command line of a tool specifies.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedCommand {
    /// The plan; its source contains the notes and what the printer needs.
    pub plan: Plan,
    /// ioproof's own options.
    pub extras: Extras,
    /// If set, print this text (help, a version, a list) and end; the plan has no case.
    pub show: Option<String>,
    /// Warnings before the run, one sentence each.
    pub warnings: Vec<String>,
    /// The file to which the tool would write its output instead of printing it.
    pub output: Option<PathBuf>,
}

/// Prints what the tool would have printed, either while the run is in progress or from a finished
/// record.
pub trait ToolPrinter: Send {
    /// The text before the first figure.
    fn header(&mut self, manifest: &Manifest) -> String;

    /// What the tool prints when a phase has ended.
    fn phase(&mut self, record: &PhaseRecord) -> String;

    /// The text after the last figure. The run is closed.
    fn finish(&mut self, run: &Run) -> String;

    /// Whether to call [`ToolPrinter::operations`] while a phase runs.
    fn is_live(&self) -> bool {
        false
    }

    /// What the tool prints about operations that have just ended. Each operation is passed only once,
    /// before [`ToolPrinter::phase`] gets all that were kept.
    fn operations(&mut self, _new: &[LiveOperation]) -> String {
        String::new()
    }

    /// Whether the tool is normally ended by the user's interruption.
    fn ends_when_interrupted(&self) -> bool {
        false
    }

    /// Whether the tool exits with 0 even if files were missing or replaced by others, and only reports their
    /// number in its output.
    fn counts_errors(&self) -> bool {
        false
    }

    /// Files that the tool writes in addition to its output, when the run is over.
    fn side_files(&self, _run: &Run) -> Vec<(PathBuf, String)> {
        Vec::new()
    }
}

/// An operation of a phase that is still in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveOperation {
    /// What was done.
    pub operation: Operation,
    /// Time of submission to the kernel, relative to the phase's common start.
    pub start_ns: u64,
    /// Time from submission to completion.
    pub latency_ns: u64,
    /// Offset in the file or device.
    pub offset_bytes: u64,
    /// Number of bytes moved.
    pub bytes: u64,
    /// Wall clock at its end, nanoseconds since 1970-01-01 UTC, with a precision of some milliseconds.
    pub ended_unix_ns: i64,
}

/// Words of a command line that are invalid or not supported.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{tool}: {written}: {reason}")]
pub struct ToolError {
    /// The tool.
    pub tool: &'static str,
    /// The words as written by the user.
    pub written: String,
    /// The reason, what was expected, and what to do next.
    pub reason: String,
}

impl ParsedCommand {
    /// The result of a command line that only requests `text`, for example the help.
    pub(crate) fn text(line: CommandLine<'_>, text: String) -> Self {
        let extras = line.extras.clone();
        let plan = line.plan(String::new(), 0, Vec::new(), &());
        Self { plan, extras, show: Some(text), warnings: Vec::new(), output: None }
    }
}

/// A parsed command line.
pub(crate) struct CommandLine<'a> {
    pub tool: &'static str,
    /// All words, beginning with the program's name.
    pub arguments: &'a [String],
    pub extras: &'a Extras,
    /// The meaning of the tool's options.
    pub notes: Vec<OptionNote>,
}

impl CommandLine<'_> {
    /// Creates the plan. `memo` is what the tool's printer needs; see [`memo_of`].
    pub(crate) fn plan(self, title: String, seed: u64, cases: Vec<Case>, memo: &impl Serialize) -> Plan {
        let memo = serde_json::to_string(memo)
            .expect("a memo has numbers, texts and paths of a UTF-8 command line, which JSON can hold");
        let source = PlanSource::Dialect {
            tool: self.tool.to_owned(),
            arguments: self.arguments.to_vec(),
            notes: self.notes.into_iter().chain(self.extras.notes.iter().cloned()).collect(),
            memo,
        };
        let destroy_data_on = self.extras.destroy_data_on.clone();
        Plan { destroy_data_on, ..Plan::new(title, source, seed, cases) }
    }
}

/// The memo that [`CommandLine::plan`] has stored in a plan of `tool`, and the command line. Returns `None` if the
/// plan belongs to another tool.
pub(crate) fn memo_of<'p, Memo: DeserializeOwned>(
    plan: &'p Plan,
    tool: &str,
) -> Option<(Memo, &'p [String])> {
    match &plan.source {
        PlanSource::Dialect { tool: asked, memo, arguments, .. } if asked == tool => {
            Some((serde_json::from_str(memo).ok()?, arguments))
        }
        _ => None,
    }
}
