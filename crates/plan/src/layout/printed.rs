//! Provenance of a command: whether and how a publication prints it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Provenance of a command. Sources are the ids of `ioproof reference`, as in `a-cmd-mkfs-t1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provenance {
    /// The command is not in any publication.
    Own,
    /// The user wrote it.
    User,
    /// Printed like this, with other devices and paths.
    Printed {
        /// Where it is printed.
        source: String,
    },
    /// Printed differently, and changed for a reason.
    Corrected {
        /// Where it is printed.
        source: String,
        /// The printed command.
        printed: String,
        /// Why the printed form is wrong.
        reason: String,
    },
    /// Not printed: reconstructed from the text.
    Reconstructed {
        /// Location of the text.
        source: String,
        /// What the text says, or prints instead.
        reason: String,
    },
    /// A replacement for something unavailable.
    Substitute {
        /// What it replaces.
        stands_for: String,
    },
}

impl Provenance {
    pub(super) fn printed(source: &str) -> Self {
        Self::Printed { source: source.to_owned() }
    }

    pub(super) fn corrected(source: &str, printed: &str, reason: &str) -> Self {
        Self::Corrected { source: source.to_owned(), printed: printed.to_owned(), reason: reason.to_owned() }
    }

    pub(super) fn reconstructed(source: &str, reason: &str) -> Self {
        Self::Reconstructed { source: source.to_owned(), reason: reason.to_owned() }
    }

    /// A remark for readers of the command. Returns `None` if none is needed.
    #[must_use]
    pub fn remark(&self) -> Option<String> {
        match self {
            Self::Own => None,
            _ => Some(self.to_string()),
        }
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own => f.write_str("not published"),
            Self::User => f.write_str("the user's own"),
            Self::Printed { source } => write!(f, "as printed ({source})"),
            Self::Corrected { source, printed, reason } => {
                write!(f, "corrected: printed as `{printed}` ({source}); {reason}")
            }
            Self::Reconstructed { source, reason } => {
                write!(f, "reconstructed, not as printed ({source}): {reason}")
            }
            Self::Substitute { stands_for } => write!(f, "stands for {stands_for}"),
        }
    }
}
