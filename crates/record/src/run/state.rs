//! The state of a run, and which of its cases failed.

/// The state of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunState {
    /// All cases have been processed.
    Complete,
    /// The user ended it. The finished phases are available.
    Interrupted,
    /// It could not continue.
    Failed {
        /// The reason.
        message: String,
    },
    /// Its journal has no end event, because it was killed or the host went down.
    Killed,
    /// It is in progress, and its writer holds the journal.
    Running,
}

/// A failed case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedCase {
    /// Its [`plan::Case::id`].
    pub case: String,
    /// The reason.
    pub message: String,
}
