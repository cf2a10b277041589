//! IO500's command line, configuration and results, as of 2026.
//!
//! Each phase is either a command line of IOR, mdtest or md-workbench, which is parsed by the dialect of that tool,
//! or a search. This module creates these command lines, and converts the records of the phases to what the benchmark
//! prints and stores. `docs/IO500.md` lists every option and every difference. Source: the benchmark's documentation
//! and its source code, which has the MIT licence.

mod config;
mod hash;
mod lines;
mod older;
mod options;
mod outcome;
mod phases;
mod sections;
mod sheet;
mod verify;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use plan::{Backend, Bytes, Case, Find, Geometry, Phase as Activity, PlanError, Spread, WorkloadSpec};
use serde::{Deserialize, Serialize};

use crate::launcher::Launcher;
use crate::tool::CommandLine;
use crate::{Extras, Help, ParsedCommand, ToolError};
pub use config::Config;
pub use lines::Setup;
use options::{Key, OPTIONS};
pub use outcome::{Entry, Outcome};
pub use phases::{Group, Phase};
use sections::SECTIONS;
pub use sheet::{Sheet, Text};
pub use verify::verify;

/// The tool's name in [`plan::PlanSource::Dialect`], and the first argument of `ioproof`.
pub const TOOL: &str = OPTIONS.tool;

/// What a command line requests.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Print this text and end.
    Text(String),
    /// Check a `result.txt`.
    Verify {
        /// The configuration to which it should belong.
        config: Config,
        /// The file.
        result: PathBuf,
    },
    /// Run the benchmark.
    Run(Box<RunRequest>),
}

/// A run, as requested on the command line.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRequest {
    /// The command line, beginning with the program's name.
    pub arguments: Vec<String>,
    /// The configuration.
    pub config: Config,
    /// The text of the configuration file.
    pub config_text: String,
    /// Whether the phases of the extended mode are included.
    pub is_extended: bool,
    /// Whether to carry out only the phases that remove files.
    pub is_cleanup: bool,
    /// Whether no phase is carried out.
    pub is_dry: bool,
    /// The name of its directories. By default, its start time.
    pub timestamp: Option<String>,
    /// Total number of tasks of all processes.
    pub tasks: u32,
    /// The record of the run to resume.
    pub resume: Option<PathBuf>,
    /// ioproof's own options.
    pub extras: Extras,
}

/// What the record of a run stores about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memo {
    /// The text of the configuration file.
    pub config: String,
    /// The name of its directories.
    pub timestamp: String,
    /// Whether the phases of the extended mode are included.
    pub is_extended: bool,
    /// Whether its data directories were empty when it began.
    pub is_fresh: bool,
}

impl Memo {
    /// Converts the memo to text.
    #[must_use]
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("texts and a flag are JSON")
    }

    /// Parses the result of [`Memo::text`]. Returns `None` for any other text.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().filter(|memo: &Self| is_directory_name(&memo.timestamp))
    }
}

/// Parses a command line, which begins with the program's name.
///
/// # Errors
/// Errors if an option or a configuration is invalid or not supported.
pub fn parse(arguments: &[String], launcher: Launcher<'_>) -> Result<Request, ToolError> {
    let (extras, words) = OPTIONS.extras(arguments)?;
    let mut files = Vec::new();
    let given = OPTIONS.read_with(&words, |word| {
        files.push(word.to_owned());
        Ok(())
    })?;
    let has = |key: Key| given.iter().any(|option| option.key == key);
    let value =
        |key: Key| given.iter().rfind(|option| option.key == key).and_then(|option| option.values.first());
    if words.is_empty() || has(Key::Help) {
        return Ok(Request::Text(OPTIONS.help().to_string()));
    }
    if has(Key::List) || has(Key::ListMandatory) {
        let mandatory = has(Key::ListMandatory);
        let of = if mandatory { " of the standard mode" } else { "" };
        let listing = Config::default().listing(true, mandatory);
        return Ok(Request::Text(format!("# Every option{of}, with its default\n{listing}")));
    }
    // For other tools this word is an option of ioproof, which compares the data read.
    let result = if extras.verify { files.drain(1.min(files.len())..).next_back() } else { None };
    let [file] = &files[..] else {
        let (written, reason) = match files.get(1) {
            None => (
                "io500",
                "no configuration is given; give one, as in io500 config.ini; --list prints one".to_owned(),
            ),
            Some(more) => (more.as_str(), "is a second configuration; give only one".to_owned()),
        };
        return Err(OPTIONS.error(written, &reason));
    };
    let text = record::read_text(Path::new(file)).map_err(|error| OPTIONS.error(file, &error.to_string()))?;
    let mut config = Config::parse(file, &text)?;
    let verbosity = match value(Key::Verbosity) {
        Some(level) => Some(level.parse::<u32>().map_err(|_| {
            OPTIONS.error(&format!("--verbose={level}"), "is not a level; give a number from 0 to 10")
        })?),
        None => {
            let times = given.iter().filter(|option| option.key == Key::Louder).count();
            // As in the benchmark, -v counts from 0.
            (times > 0).then(|| u32::try_from(times).unwrap_or(u32::MAX))
        }
    };
    if has(Key::ConfigHash) {
        return Ok(Request::Text(format!("{:<15} = {}\n", "config-hash", config.hash())));
    }
    if extras.verify {
        let missing = || OPTIONS.error("--verify", "needs the result.txt to check");
        return Ok(Request::Verify { config, result: result.map(PathBuf::from).ok_or_else(missing)? });
    }
    let is_extended = match value(Key::Mode).map(String::as_str) {
        None | Some("standard") => false,
        Some("extended") => true,
        Some(other) => {
            let reason = "is not a mode; give standard or extended";
            return Err(OPTIONS.error(&format!("--mode={other}"), reason));
        }
    };
    config.verbosity = verbosity;
    let timestamp = value(Key::Timestamp).cloned();
    if let Some(name) = timestamp.as_ref().filter(|name| !is_directory_name(name)) {
        let reason = "is not a directory name; leave out / and spaces, and begin with a letter or number";
        return Err(OPTIONS.error(&format!("--timestamp={name}"), reason));
    }
    let tasks = u32::try_from(launcher.node_of_tasks(extras.tasks_per_rank).len()).unwrap_or(u32::MAX).max(1);
    Ok(Request::Run(Box::new(RunRequest {
        arguments: arguments.to_vec(),
        config,
        config_text: text,
        is_extended,
        is_cleanup: has(Key::Cleanup),
        is_dry: has(Key::DryRun),
        timestamp,
        tasks,
        resume: value(Key::Resume).map(PathBuf::from),
        extras,
    })))
}

/// Whether `name` is the name of a single directory below the one to which it is joined, and can be a
/// word of a command line.
fn is_directory_name(name: &str) -> bool {
    !(name.is_empty() || name.contains(['/', ' ']) || name.starts_with('.'))
}

/// The text for `-h`.
#[must_use]
pub fn help() -> Help {
    OPTIONS.help()
}

/// The tables of the options of the command line and of the configuration, in Markdown.
#[must_use]
pub fn reference() -> String {
    let mut out = OPTIONS.table();
    out.push_str("\n## Configuration\n");
    for section in SECTIONS {
        let note = if section.is_extended { ", of the extended mode" } else { "" };
        // Writing to a String cannot fail.
        let _ = write!(out, "\n`[{}]`{note}\n\n", section.name);
        if section.options.is_empty() {
            out.push_str("No options.\n");
            continue;
        }
        out.push_str("| option | default | meaning |\n|---|---|---|\n");
        for option in section.options {
            let default = option.default.filter(|text| !text.is_empty()).map(|text| format!("`{text}`"));
            let _ =
                writeln!(out, "| `{}` | {} | {} |", option.name, default.unwrap_or_default(), option.about);
        }
    }
    out
}

impl Setup {
    /// The plan of a search, with the command line that represents it.
    ///
    /// # Errors
    /// Errors if a directory cannot be searched.
    pub fn search(
        &self,
        phase: Phase,
        extras: &Extras,
        launcher: Launcher<'_>,
    ) -> Result<ParsedCommand, ToolError> {
        let arguments = self.line(phase, 0.0);
        let target = Path::new(&self.datadir).join(phase.directory());
        let by_name_alone = phase == Phase::FindEasy;
        let find = Find {
            matching: "*01*".to_owned(),
            bytes: (!by_name_alone).then_some(Bytes(3901)),
            newer_than: (!by_name_alone).then(|| format!("{}/timestampfile", self.resultdir).into()),
        };
        let geometry = Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 };
        let mut spec = WorkloadSpec::new(phase.name(), target, geometry);
        spec.work = find.into();
        spec.backend = Backend::Psync;
        let all = launcher.node_of_tasks(extras.tasks_per_rank);
        let nodes: std::collections::BTreeSet<u32> =
            all.iter().take(self.search_tasks(phase) as usize).copied().collect();
        spec.tasks = self.search_tasks(phase);
        spec.nodes = u32::try_from(nodes.len()).unwrap_or(1).max(1);
        if !launcher.node_of.is_empty() {
            spec.spread = Spread::Ranks { tasks_per_rank: extras.tasks_per_rank };
        }
        let wrong = |error: PlanError| OPTIONS.error(phase.name(), &format!("{error}; {}", error.help));
        let workload = spec.validate().map_err(wrong)?;
        let case = Case {
            title: format!("{} tasks search {}", self.search_tasks(phase), phase.name()),
            ..Case::new(phase.name(), workload, vec![Activity::Find])
        };
        let line = CommandLine { tool: TOOL, arguments: &arguments, extras, notes: Vec::new() };
        let plan = line.plan(format!("IO500: {}", phase.name()), 0, vec![case], &());
        Ok(ParsedCommand { plan, extras: extras.clone(), show: None, warnings: Vec::new(), output: None })
    }
}
