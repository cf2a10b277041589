//! The journal of a run: writing it, reading it, and resuming a run after an interruption.

pub(crate) mod begin;
pub(crate) mod index;
pub(crate) mod interrupted;
pub(crate) mod journal;
pub(crate) mod journal_table;
pub(crate) mod layout_history;
pub(crate) mod pause;
pub(crate) mod recorder;
pub(crate) mod resume;
pub(crate) mod wipe_log;
