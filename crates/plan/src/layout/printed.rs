//! Where a command is from: whether a publication prints it, and how.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a command is from. Sources are the ids of `ioproof reference`, as in `a-cmd-mkfs-t1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provenance {
    /// No publication has it.
    Own,
    /// The user wrote it.
    User,
    /// Printed so, with other devices and places.
    Printed {
        /// Where.
        source: String,
    },
    /// Printed otherwise, and changed for a reason.
    Corrected {
        /// Where.
        source: String,
        /// What is printed there.
        printed: String,
        /// Why that would not do.
        reason: String,
    },
    /// Not printed: made from what the text says.
    Reconstructed {
        /// Where the text is.
        source: String,
        /// What it says, or what it prints in its place.
        reason: String,
    },
    /// In place of what cannot be had.
    Substitute {
        /// What it stands for.
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

    /// A remark for whoever reads the command; none where there is nothing to say.
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
