//! What a run makes on targets, and its removal.

pub(crate) mod claim;
pub(crate) mod leftover;
pub(crate) mod sweep;
