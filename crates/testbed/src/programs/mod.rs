//! Programs under test and the tools around them.

pub(crate) mod command;
pub(crate) mod control_group;
pub(crate) mod priority;
pub(crate) mod process;
pub(crate) mod program;
pub(crate) mod python;
pub(crate) mod signals;
pub(crate) mod strace;
