//! What can be wrong with a command line of IOR.

use std::path::PathBuf;

use plan::PlanError;
use thiserror::Error;

use crate::ExtrasError;

/// A command line or script that cannot be run, with the words that are wrong and the next step.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum IorError {
    /// An option that neither IOR nor ioproof knows.
    #[error("unknown option {written:?}{}", suggest(.suggestion))]
    UnknownOption {
        /// As written.
        written: String,
        /// The nearest option that exists.
        suggestion: Option<String>,
    },
    /// A word that belongs to no option.
    #[error("{written:?} belongs to no option; IOR takes its file by -o, as in -o {written}")]
    Stray {
        /// As written.
        written: String,
    },
    /// A directive of `-O` or of a script that IOR does not know.
    #[error("unknown directive {written:?}{}", suggest(.suggestion))]
    UnknownDirective {
        /// As written.
        written: String,
        /// The nearest directive that exists.
        suggestion: Option<String>,
    },
    /// The line ends where a value should stand.
    #[error("{written} needs a value, as in {example}")]
    MissingValue {
        /// The option as written.
        written: String,
        /// One that would do.
        example: String,
    },
    /// A value that cannot be read or is not allowed.
    #[error("{written}: {value:?} {problem}")]
    BadValue {
        /// The option as written.
        written: String,
        /// The value as written.
        value: String,
        /// What is wrong with it, and what is allowed.
        problem: String,
    },
    /// An option that exists in IOR and cannot be honoured here.
    #[error("{written} is refused: {reason}")]
    Refused {
        /// As written.
        written: String,
        /// Why, and what to do instead.
        reason: String,
    },
    /// Options that cannot stand together.
    #[error("{written} cannot stand together: {reason}")]
    Conflict {
        /// The options.
        written: String,
        /// Why, and what to do instead.
        reason: String,
    },
    /// More tasks than the processes of the launcher carry.
    #[error(
        "{written}: the launcher has started {processes} processes with {tasks_per_rank} of the tasks each, too \
         few for all of them; start more, or put more tasks on each: --tasks-per-rank {needed}"
    )]
    TooManyTasks {
        /// The option that asks for them.
        written: String,
        /// Processes of the launcher.
        processes: usize,
        /// Tasks of each.
        tasks_per_rank: u32,
        /// Tasks of each with which they would do.
        needed: usize,
    },
    /// Values that make no workload.
    #[error("{written}: {error}; {}", .error.help)]
    Plan {
        /// The options that gave the values, as in `-b 1m -t 16m`.
        written: String,
        /// What is wrong.
        error: PlanError,
    },
    /// A script that cannot be read.
    #[error("cannot read the script {path:?}: {reason}; -f names a file that starts with IOR START")]
    ScriptUnreadable {
        /// The path.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// A line of a script that is wrong.
    #[error("{path:?} line {line}: {error}")]
    Script {
        /// The script.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong.
        error: Box<Self>,
    },
    /// A line of a script that is neither a directive nor a command.
    #[error("{written:?} is no directive: a line is KEY=VALUE, RUN, IOR START or IOR STOP")]
    ScriptLine {
        /// As written.
        written: String,
    },
    /// A script that asks for nothing.
    #[error("the script {path:?} has no RUN: it asks for no test; end each test with a line RUN")]
    ScriptEmpty {
        /// The script.
        path: PathBuf,
    },
    /// A word that is no text.
    #[error("{lossy:?} is not valid UTF-8: give paths and values in UTF-8")]
    NotUnicode {
        /// As near as it can be shown.
        lossy: String,
    },
    /// One of ioproof's own options.
    #[error(transparent)]
    Extras(#[from] ExtrasError),
}

fn suggest(suggestion: &Option<String>) -> String {
    match suggestion {
        Some(name) => format!("; did you mean {name}?"),
        None => "; see ior -h for all".to_owned(),
    }
}
