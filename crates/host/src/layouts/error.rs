//! Obstacles to a layout, and errors.

use std::io;
use std::path::{Path, PathBuf};

use plan::layout::{LayoutProblem, Package};
use record::CommandRun;
use thiserror::Error;

use crate::{HostError, LedgerError, Refusal};

/// An obstacle to creating a layout, with the next step.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Obstacle {
    /// The layout itself is invalid.
    #[error("{0}")]
    Problem(LayoutProblem),
    /// A named device cannot be identified.
    #[error("device {given:?}: {reason}")]
    Device {
        /// The name as given.
        given: String,
        /// The reason, and what to do.
        reason: String,
    },
    /// The guard does not permit a device.
    #[error("{0}")]
    Refused(Refusal),
    /// A program is missing.
    #[error("{program} not found: it is needed to {purpose}{}", provided(package.as_ref()))]
    Tool {
        /// The program.
        program: String,
        /// Purpose of the first step that needs it.
        purpose: String,
        /// The package that provides it.
        package: Option<Package>,
    },
    /// The kernel lacks a feature.
    #[error("{0}")]
    Kernel(String),
    /// An existing file or mount is in the way of the layout.
    #[error("{path}: {reason}", path = path.display())]
    Place {
        /// The path.
        path: PathBuf,
        /// What is there, and what to do.
        reason: String,
    },
    /// This user lacks the rights.
    #[error("only root may combine and mount devices: run as root; showing the plan needs no special rights")]
    NeedsRoot,
    /// Another layout conflicts with it.
    #[error("{0}")]
    Layout(String),
}

fn provided(package: Option<&Package>) -> String {
    package.map(|package| format!(" ({package})")).unwrap_or_default()
}

impl Obstacle {
    /// Whether the obstacle protects data, as opposed to something that the host lacks.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::Place { .. } | Self::Layout(_))
    }
}

/// An error about a layout.
#[derive(Debug, Error)]
pub enum LayoutError {
    /// The layout was not started.
    #[error("layout {layout}: nothing was done{}", listed(obstacles))]
    Obstacles {
        /// Its name.
        layout: String,
        /// All obstacles.
        obstacles: Vec<Obstacle>,
    },
    /// The commands differ from those that the user agreed to.
    #[error(
        "layout {layout}: nothing was done: a command, or a device or file that a command names, has \
         changed since you agreed to it; review the commands again"
    )]
    CommandsChanged {
        /// Its name.
        layout: String,
    },
    /// A step failed.
    #[error("layout {layout}: {}{}", failed_step(step), undone(left, ledger))]
    Step {
        /// Its name.
        layout: String,
        /// The step.
        step: Box<CommandRun>,
        /// What could not be undone.
        left: Vec<String>,
        /// Where the ledger is.
        ledger: PathBuf,
    },
    /// It was interrupted.
    #[error("layout {layout}: interrupted{}", undone(left, ledger))]
    Interrupted {
        /// Its name.
        layout: String,
        /// What could not be undone.
        left: Vec<String>,
        /// Where the ledger is.
        ledger: PathBuf,
    },
    /// The layout could not be destroyed completely.
    #[error("layout {layout} could not be dismantled{}", undone(left, ledger))]
    Left {
        /// Its name.
        layout: String,
        /// What could not be undone.
        left: Vec<String>,
        /// Where the ledger is.
        ledger: PathBuf,
    },
    /// The program that created the layout is still running.
    #[error(
        "layout {layout} belongs to process {pid}, which is still running (run {run_id}): wait for it to \
         end, or end it first"
    )]
    StillRunning {
        /// Its name.
        layout: String,
        /// The process.
        pid: u32,
        /// The run of that program.
        run_id: String,
    },
    /// The ledger belongs to another host.
    #[error(
        "{path} belongs to host {host}, but this is {here}: dismantle layout {layout} there, or give each \
         host its own --state",
        path = path.display()
    )]
    OtherHost {
        /// Its name.
        layout: String,
        /// The ledger.
        path: PathBuf,
        /// The host it belongs to.
        host: String,
        /// This host.
        here: String,
    },
    /// A ledger cannot be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Another error about the host.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl LayoutError {
    pub(super) fn io(action: &'static str, path: &Path, error: io::Error) -> Self {
        Self::Host(HostError::io(action, path, error))
    }

    /// Whether the program could go on but refuses in order to protect data.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Obstacles { obstacles, .. } => obstacles.iter().any(Obstacle::is_refusal),
            Self::StillRunning { .. } | Self::OtherHost { .. } | Self::CommandsChanged { .. } => true,
            _ => false,
        }
    }
}

fn listed(obstacles: &[Obstacle]) -> String {
    obstacles.iter().map(|obstacle| format!("\n- {}", obstacle.to_string().replace('\n', "\n  "))).collect()
}

/// Number of first lines of a failed command's output that are reported. Some programs print the reason
/// first and then their usage; others print it last.
const FIRST_LINES: usize = 3;
const LAST_LINES: usize = 6;

fn failed_step(run: &CommandRun) -> String {
    let mut text = format!("`{}` failed ({})", run.command, run.status);
    let lines: Vec<&str> = run.output.lines().collect();
    let is_long = lines.len() > FIRST_LINES + LAST_LINES;
    for (number, line) in lines.iter().enumerate() {
        if is_long && number == FIRST_LINES {
            text.push_str("\n  | …");
        }
        if !is_long || number < FIRST_LINES || number >= lines.len() - LAST_LINES {
            text.push_str("\n  | ");
            // A tab would be shown as an escape sequence.
            text.push_str(&line.replace('\t', " "));
        }
    }
    text
}

fn undone(left: &[String], ledger: &Path) -> String {
    if left.is_empty() {
        return "\n(all earlier steps were undone)".to_owned();
    }
    let left: String = left.iter().map(|line| format!("\n- {}", line.replace('\n', "\n  "))).collect();
    format!(
        "\nthis could not be undone and is kept in {}:{left}\nremove the cause, then run: ioproof layout \
         clean",
        ledger.display()
    )
}
