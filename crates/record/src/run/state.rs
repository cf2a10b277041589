//! How far a run came, and which of its cases failed.

/// How far a run came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunState {
    /// All cases were gone through.
    Complete,
    /// The user ended it; the finished phases are there.
    Interrupted,
    /// It could not go on.
    Failed {
        /// Why.
        message: String,
    },
    /// Its journal has no end event: it was killed, or the host went down.
    Killed,
    /// It is in progress: its writer holds the journal.
    Running,
}

/// A failed case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedCase {
    /// [`plan::Case::id`].
    pub case: String,
    /// Why.
    pub message: String,
}
