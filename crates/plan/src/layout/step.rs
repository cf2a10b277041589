//! A step of a layout, and how it is undone.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::printed::Provenance;
use crate::shell_word;

/// One action in making a layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Its purpose, as a sentence without the period.
    pub purpose: String,
    /// The action.
    pub action: Action,
    /// A device node to wait for, which the kernel creates some time after the previous steps.
    pub awaits: Option<PathBuf>,
    /// How to undo it, in this order; the steps themselves are undone in reverse order.
    pub undo: Vec<Undo>,
    /// Provenance of the command.
    pub provenance: Provenance,
}

impl Step {
    /// A command of our own with nothing to undo.
    pub(super) fn new(purpose: String, action: Action) -> Self {
        Self { purpose, action, awaits: None, undo: Vec::new(), provenance: Provenance::Own }
    }

    pub(super) fn after(self, node: &Path) -> Self {
        Self { awaits: Some(node.to_owned()), ..self }
    }

    pub(super) fn undone_by(self, undo: Vec<Undo>) -> Self {
        Self { undo, ..self }
    }

    pub(super) fn from(self, provenance: Provenance) -> Self {
        Self { provenance, ..self }
    }
}

impl Undo {
    /// An undo command of our own.
    pub(super) fn new(purpose: String, action: Action, when: UndoCondition) -> Self {
        Self { purpose, action, provenance: Provenance::Own, when }
    }
}

/// An action of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// A program and its arguments, executed without a shell.
    Command(Vec<String>),
    /// A line for `/bin/sh`, as the user wrote it.
    Shell(String),
    /// Creates a directory and its missing parents.
    MakeDirectory(PathBuf),
    /// Removes the directories that [`Action::MakeDirectory`] created, if they are empty.
    RemoveDirectory(PathBuf),
    /// Discards all bytes of a device; if it does not support that, overwrites signatures and samples.
    Wipe(PathBuf),
}

/// An action that undoes a step, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// Its purpose.
    pub purpose: String,
    /// The action.
    pub action: Action,
    /// Provenance of the command.
    pub provenance: Provenance,
    /// Condition for undoing: an interrupted step may have left nothing to undo.
    pub when: UndoCondition,
}

/// Condition that must hold before something is undone; it checks that the object belongs to the layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UndoCondition {
    /// The step was started.
    Begun,
    /// One of `sources` is mounted at `place`.
    Mounted {
        /// The mount point.
        place: PathBuf,
        /// Names of devices or file systems.
        sources: Vec<PathBuf>,
    },
    /// The device at `node` consists of `members` only.
    Stacked {
        /// The array.
        node: PathBuf,
        /// Devices that may be in it.
        members: Vec<PathBuf>,
    },
    /// The volume group consists of `members` only, and contains the volume if one is named.
    Grouped {
        /// The group.
        group: String,
        /// A volume of it.
        volume: Option<String>,
        /// Devices that may be in it.
        members: Vec<PathBuf>,
    },
    /// `device` carries a signature of this kind, by its util-linux name.
    Carries {
        /// The device.
        device: PathBuf,
        /// As in `linux_raid_member`.
        kind: String,
    },
    /// The command exits with 0.
    Answers(Vec<String>),
}

impl Action {
    /// A command of these words.
    pub(super) fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        Self::Command(words.into_iter().map(str::to_owned).collect())
    }

    /// The program that it needs, as in `mkfs.xfs`. Returns `None` for built-in actions.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        match self {
            Self::Command(words) => words.first().map(String::as_str),
            Self::Shell(_) | Self::MakeDirectory(_) | Self::RemoveDirectory(_) | Self::Wipe(_) => None,
        }
    }

    /// Whether another program performs it, which opens the devices itself.
    #[must_use]
    pub fn needs_device(&self) -> bool {
        matches!(self, Self::Command(_) | Self::Shell(_))
    }

    /// Whether it refers to `path`.
    #[must_use]
    pub fn names(&self, path: &Path) -> bool {
        match self {
            Self::Command(words) => words.iter().any(|word| Path::new(word) == path),
            // A shell command may refer to a device by any name.
            Self::Shell(_) => true,
            Self::MakeDirectory(own) | Self::RemoveDirectory(own) | Self::Wipe(own) => own == path,
        }
    }
}

/// Formatted as a shell command; built-in actions are shown as an equivalent command.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = |path: &PathBuf| shell_word(&path.to_string_lossy());
        match self {
            Self::Command(words) => {
                let words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
                f.write_str(&words.join(" "))
            }
            Self::Shell(line) => f.write_str(line),
            Self::MakeDirectory(directory) => write!(f, "mkdir -p {}", path(directory)),
            Self::RemoveDirectory(directory) => write!(f, "rmdir {}", path(directory)),
            Self::Wipe(device) => write!(f, "blkdiscard -f {}", path(device)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::Action;

    #[test]
    fn a_command_on_the_screen_is_one_that_a_shell_runs_as_it_is() {
        let words = ["a $(touch PWNED)", "", "~", "it's", "x\n#y", "/dev/sd*", "`id`", "$HOME"];
        let action = Action::words(["printf", "<%s>"].into_iter().chain(words));
        let output = Command::new("sh").args(["-c", &action.to_string()]).output().unwrap();
        let expected: String = words.iter().map(|word| format!("<{word}>")).collect();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    }
}
