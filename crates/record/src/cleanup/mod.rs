//! What a run creates on targets, and its removal.

pub(crate) mod claim;
pub(crate) mod leftover;
pub(crate) mod names;
pub(crate) mod sweep;
