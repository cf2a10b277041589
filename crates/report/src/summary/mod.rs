//! Short answers from a report: the summary card, the verdict sheets, and the replies of commands that ask
//! one question.

pub(crate) mod card;
pub(crate) mod cross_check;
pub(crate) mod excerpt;
pub(crate) mod sheet;
