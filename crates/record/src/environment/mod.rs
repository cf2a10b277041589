//! The environment of a run: hosts, tuning, layouts, clocks.

pub(crate) mod clocks;
pub(crate) mod fact;
pub(crate) mod facts;
pub(crate) mod layout;
pub(crate) mod machine;
pub(crate) mod slots;
pub(crate) mod tuning;
