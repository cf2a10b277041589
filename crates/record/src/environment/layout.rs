//! The commands that created a layout, and the properties that were read back from it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Fact;

/// A command that was run, or something that this program did in place of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandRun {
    /// What for.
    pub purpose: String,
    /// As a shell would take it.
    pub command: String,
    /// How it ended.
    pub status: CommandEnd,
    /// What it printed, standard output before standard error; cut where it is long.
    pub output: String,
    /// How long it took, nanoseconds.
    pub took_ns: u64,
    /// Where it is published, as in `as printed (a-cmd-mkfs-t1)`; none where it is not.
    pub printed: Option<String>,
}

impl CommandRun {
    /// Whether it did what it was run for.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.status == CommandEnd::Exited(0)
    }
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CommandEnd {
    /// By itself, with this status.
    Exited(i32),
    /// By a signal.
    Killed(i32),
    /// It was never begun, for this reason; or what this program did itself failed so.
    Failed(String),
}

impl fmt::Display for CommandEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(status) => write!(f, "exit status {status}"),
            Self::Killed(signal) => write!(f, "killed by signal {signal}"),
            Self::Failed(reason) => f.write_str(reason),
        }
    }
}

/// Something of a layout as it was read back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LayoutFinding {
    /// The mount point or the device, as in `/p3700/0` or `/dev/md0`.
    pub subject: String,
    /// What, with its unit, as in `stripe unit, bytes`.
    pub property: String,
    /// What the layout asks for; none where it leaves it open.
    pub wanted: Option<String>,
    /// What was found.
    pub found: Fact<String>,
    /// Where it was read, as in `/proc/self/mountinfo`.
    pub source: String,
}

impl LayoutFinding {
    /// Whether the findings differ from the request. Unreadable settings do not differ.
    #[must_use]
    pub fn differs(&self) -> bool {
        match (&self.wanted, self.found.known()) {
            (Some(wanted), Some(found)) => wanted != found,
            _ => false,
        }
    }
}

impl fmt::Display for LayoutFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ", self.subject, self.property)?;
        match &self.found {
            Fact::Known(found) => f.write_str(found)?,
            Fact::Unknown(reason) => write!(f, "unknown ({reason})")?,
        }
        match &self.wanted {
            Some(wanted) if self.differs() => write!(f, ", wanted {wanted} ({})", self.source),
            _ => write!(f, " ({})", self.source),
        }
    }
}
