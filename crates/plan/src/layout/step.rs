//! A step of a layout, and how it is undone.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::printed::Provenance;
use crate::shell_word;

/// One thing that is done to make a layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// What for, as a sentence without its period.
    pub purpose: String,
    /// What.
    pub action: Action,
    /// A node that the kernel shows some time after the steps before: it is waited for.
    pub awaits: Option<PathBuf>,
    /// How it is undone, in this order; steps are undone in the reverse of theirs.
    pub undo: Vec<Undo>,
    /// Where the command is from.
    pub provenance: Provenance,
}

impl Step {
    /// A command that no publication has, and that leaves nothing to undo.
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
    /// A way back that no publication has.
    pub(super) fn new(purpose: String, action: Action, when: When) -> Self {
        Self { purpose, action, provenance: Provenance::Own, when }
    }
}

/// What is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// A program and its arguments. No shell reads them.
    Command(Vec<String>),
    /// A line for `/bin/sh`, as the user wrote it.
    Shell(String),
    /// A directory, and those above it that are missing.
    MakeDirectory(PathBuf),
    /// The directories that [`Action::MakeDirectory`] made, if they are empty.
    RemoveDirectory(PathBuf),
    /// All bytes of a device are given back; where it does not take them, signatures and samples are
    /// overwritten.
    Wipe(PathBuf),
}

/// How a step is undone, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// What for.
    pub purpose: String,
    /// What.
    pub action: Action,
    /// Where the command is from.
    pub provenance: Provenance,
    /// Only then: a step that was stopped in its middle may have left nothing to undo.
    pub when: When,
}

/// What must be seen before something is undone. Each asks that it is the layout's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// The step was begun.
    Begun,
    /// One of `sources` is mounted at `place`.
    Mounted {
        /// Where.
        place: PathBuf,
        /// Devices, or names of file systems.
        sources: Vec<PathBuf>,
    },
    /// The device at `node` is made of `members`, and of nothing else.
    Stacked {
        /// The array.
        node: PathBuf,
        /// All that may be in it.
        members: Vec<PathBuf>,
    },
    /// The volume group is made of `members`, and of nothing else; where a volume is named, it is in it.
    Grouped {
        /// The group.
        group: String,
        /// A volume of it.
        volume: Option<String>,
        /// All that may be in it.
        members: Vec<PathBuf>,
    },
    /// `device` carries a signature of this kind, as util-linux calls it.
    Carries {
        /// The device.
        device: PathBuf,
        /// As in `linux_raid_member`.
        kind: String,
    },
    /// The command ends with 0.
    Answers(Vec<String>),
}

impl Action {
    /// A command of these words.
    pub(super) fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        Self::Command(words.into_iter().map(str::to_owned).collect())
    }

    /// The program that it needs, as in `mkfs.xfs`. What this program does itself needs none.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        match self {
            Self::Command(words) => words.first().map(String::as_str),
            Self::Shell(_) | Self::MakeDirectory(_) | Self::RemoveDirectory(_) | Self::Wipe(_) => None,
        }
    }

    /// Whether another program does it, which asks the kernel for the devices itself.
    #[must_use]
    pub fn needs_device(&self) -> bool {
        matches!(self, Self::Command(_) | Self::Shell(_))
    }

    /// Whether it names `path`.
    #[must_use]
    pub fn names(&self, path: &Path) -> bool {
        match self {
            Self::Command(words) => words.iter().any(|word| Path::new(word) == path),
            // A line may reach a device by any name.
            Self::Shell(_) => true,
            Self::MakeDirectory(own) | Self::RemoveDirectory(own) | Self::Wipe(own) => own == path,
        }
    }
}

/// As a shell takes it. What this program does itself is shown as the command that does the same.
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
