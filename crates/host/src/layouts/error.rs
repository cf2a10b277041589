//! Obstacles to a layout, and its errors.

use std::io;
use std::path::{Path, PathBuf};

use plan::layout::{LayoutProblem, Package};
use record::CommandRun;
use thiserror::Error;

use crate::{HostError, LedgerError, Refusal};

/// An obstacle to creating a layout, with the next step.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Obstacle {
    /// The layout itself is wrong.
    #[error("{0}")]
    Problem(LayoutProblem),
    /// A named device cannot be identified.
    #[error("device {given:?}: {reason}")]
    Device {
        /// As given.
        given: String,
        /// Why, and what to do.
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
        /// What provides it.
        package: Option<Package>,
    },
    /// The kernel cannot do it.
    #[error("{0}")]
    Kernel(String),
    /// An existing file or mount is in the way of the layout.
    #[error("{path}: {reason}", path = path.display())]
    Place {
        /// Where.
        path: PathBuf,
        /// What is there, and what to do.
        reason: String,
    },
    /// This user may not do it.
    #[error("only root may put devices together and mount: run as root; the plan needs no rights")]
    NeedsRoot,
    /// Another layout is in the way.
    #[error("{0}")]
    Layout(String),
}

fn provided(package: Option<&Package>) -> String {
    package.map(|package| format!(" ({package})")).unwrap_or_default()
}

impl Obstacle {
    /// Whether it protects data, rather than being a lack of the host.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::Place { .. } | Self::Layout(_))
    }
}

/// An error about a layout.
#[derive(Debug, Error)]
pub enum LayoutError {
    /// It was not started.
    #[error("layout {layout}: nothing was done{}", listed(obstacles))]
    Obstacles {
        /// Its name.
        layout: String,
        /// All obstacles.
        obstacles: Vec<Obstacle>,
    },
    /// The commands differ from those that the user agreed to.
    #[error(
        "layout {layout}: nothing was done: a command, a device or a file that a command names has changed since it \
         was agreed to; look at the commands again"
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
    /// It could not be destroyed completely.
    #[error("layout {layout} could not be taken down{}", undone(left, ledger))]
    Left {
        /// Its name.
        layout: String,
        /// What could not be undone.
        left: Vec<String>,
        /// Where the ledger is.
        ledger: PathBuf,
    },
    /// The program that made it is still running.
    #[error(
        "layout {layout} belongs to process {pid}, which goes on (run {run_id}): let it end, or end it first"
    )]
    StillRunning {
        /// Its name.
        layout: String,
        /// The process.
        pid: u32,
        /// Its run.
        run_id: String,
    },
    /// The ledger is another host's.
    #[error(
        "{path} is of host {host}, and this is {here}: take layout {layout} down there, \
         or give each host a --state of its own",
        path = path.display()
    )]
    OtherHost {
        /// Its name.
        layout: String,
        /// The ledger.
        path: PathBuf,
        /// Its host.
        host: String,
        /// This host.
        here: String,
    },
    /// A ledger cannot be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Something else about the host.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl LayoutError {
    pub(super) fn io(action: &'static str, path: &Path, error: io::Error) -> Self {
        Self::Host(HostError::io(action, path, error))
    }

    /// Whether data is protected by not going on, although the host could.
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

/// First lines of a failed command's output that are reported: some programs print the reason first and then
/// their usage; others print it last.
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
            text.push_str(line);
        }
    }
    text
}

fn undone(left: &[String], ledger: &Path) -> String {
    if left.is_empty() {
        return "\n(everything that was done before was undone)".to_owned();
    }
    let left: String = left.iter().map(|line| format!("\n- {}", line.replace('\n', "\n  "))).collect();
    format!(
        "\nthis could not be undone, and stays in {}:{left}\nremove the cause, then: ioproof layout clean",
        ledger.display()
    )
}
