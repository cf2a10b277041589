//! The cases of a plan: their phases, their protocol, and the criteria for their figures that are fixed
//! before the run.

pub(crate) mod case;
pub(crate) mod condition;
pub(crate) mod criteria;
mod known;
pub(crate) mod limit;
pub(crate) mod phase;
pub(crate) mod plan;
pub(crate) mod protocol;
pub(crate) mod rules;
pub(crate) mod scaling;
pub(crate) mod setting;
pub(crate) mod terms;
