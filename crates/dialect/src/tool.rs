//! What every tool's dialect offers the program, so that one way of asking, running and printing serves
//! all of them.

use std::path::PathBuf;

use plan::{Case, Operation, OptionNote, Plan, PlanSource};
use record::{Manifest, PhaseRecord, Run};
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::launcher::Launcher;
use crate::{Extras, Help};

/// A tool whose command line ioproof takes.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// Its name in [`plan::PlanSource::Dialect`], and the first argument of `ioproof`.
    pub name: &'static str,
    /// The names that the program may be called by to be this tool, `name` first.
    pub called: &'static [&'static str],
    /// One line for `ioproof --help`.
    pub about: &'static str,
    /// Reads a command line, the program's name first.
    pub parse: fn(&[String], Launcher<'_>) -> Result<ParsedCommand, ToolError>,
    /// Makes the printer of the tool's output for a run of this plan; `None` if the plan is of another tool.
    pub printer: fn(&Plan) -> Option<Box<dyn ToolPrinter>>,
    /// What `-h` shows.
    pub help: fn() -> Help,
    /// Every option and what it does here, as Markdown, for `docs/`.
    pub reference: fn() -> String,
}

/// Everything that a command line of a tool asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedCommand {
    /// What is to be measured; its source holds the notes and what the printer needs.
    pub plan: Plan,
    /// ioproof's own options.
    pub extras: Extras,
    /// Print this (help, a version, a list) and end; the plan has no case.
    pub show: Option<String>,
    /// Warnings before the run, one sentence each.
    pub warnings: Vec<String>,
    /// The tool would write its output there instead of printing it.
    pub output: Option<PathBuf>,
}

/// Prints what the tool would have printed, while the run goes on or from a record long finished.
pub trait ToolPrinter: Send {
    /// The text before the first figure.
    fn header(&mut self, manifest: &Manifest) -> String;

    /// What the tool prints when a phase has ended.
    fn phase(&mut self, record: &PhaseRecord) -> String;

    /// The text after the last figure; the run is closed.
    fn finish(&mut self, run: &Run) -> String;

    /// Whether [`ToolPrinter::operations`] is to be called while a phase runs.
    fn is_live(&self) -> bool {
        false
    }

    /// What the tool prints of operations that have just ended, each of which is handed over once, before
    /// [`ToolPrinter::phase`] has all that were kept.
    fn operations(&mut self, _new: &[LiveOperation]) -> String {
        String::new()
    }

    /// Whether an interruption by the user is how the tool is meant to end.
    fn ends_when_interrupted(&self) -> bool {
        false
    }

    /// Whether the tool ends with 0 though files were missing or others were in their place, and says only in its
    /// output how many.
    fn counts_errors(&self) -> bool {
        false
    }

    /// Files that the tool writes besides its output, when the run is over.
    fn side_files(&self, _run: &Run) -> Vec<(PathBuf, String)> {
        Vec::new()
    }
}

/// An operation of a phase that is still going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveOperation {
    /// What was done.
    pub operation: Operation,
    /// It was handed to the kernel this long after the phase's common start.
    pub start_ns: u64,
    /// From then until it was done.
    pub latency_ns: u64,
    /// Bytes that it moved.
    pub bytes: u64,
    /// Wall clock at its end, nanoseconds since 1970-01-01 UTC, to some milliseconds.
    pub ended_unix_ns: i64,
}

/// Words of a command line that cannot be obeyed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{tool}: {written}: {reason}")]
pub struct ToolError {
    /// The tool.
    pub tool: &'static str,
    /// As the user wrote it.
    pub written: String,
    /// Why not, what was expected, and what to do next.
    pub reason: String,
}

impl ParsedCommand {
    /// A line that asks for `text` alone, for example for the help.
    pub(crate) fn text(line: CommandLine<'_>, text: String) -> Self {
        let extras = line.extras.clone();
        let plan = line.plan(String::new(), 0, Vec::new(), &());
        Self { plan, extras, show: Some(text), warnings: Vec::new(), output: None }
    }
}

/// A command line that was read.
pub(crate) struct CommandLine<'a> {
    pub tool: &'static str,
    /// All words, the program's name first.
    pub arguments: &'a [String],
    pub extras: &'a Extras,
    /// What the tool's options mean.
    pub notes: Vec<OptionNote>,
}

impl CommandLine<'_> {
    /// The plan of the line. `memo` is what the tool's printer needs, see [`memo_of`].
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

/// The memo that [`CommandLine::plan`] has stored in a plan of `tool`, and the command line; `None` if the plan is of
/// another tool.
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
