//! The cases of a plan: their phases, their protocol, and what is said of their figures before the run.

pub(crate) mod case;
pub(crate) mod criteria;
pub(crate) mod phase;
pub(crate) mod plan;
pub(crate) mod protocol;
pub(crate) mod rules;
pub(crate) mod setting;
