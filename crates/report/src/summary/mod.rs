//! Short answers from a report: the summary card, the verdict sheets, and the output of commands that
//! answer a single question.

pub(crate) mod card;
pub(crate) mod commitments;
pub(crate) mod cross_check;
pub(crate) mod members;
pub(crate) mod sheet;
pub(crate) mod split;
pub(crate) mod targets;
pub(crate) mod together;
