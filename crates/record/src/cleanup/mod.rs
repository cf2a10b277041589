//! What a run makes on targets, and its removal.

pub(crate) mod ownership;
pub(crate) mod sweep;
