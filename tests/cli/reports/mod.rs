//! Output about a record: reports, checks, comparisons, verdicts.

pub(crate) mod answers;
mod calc;
mod check;
mod comparisons;
mod expectations;
mod foreign_text;
mod history;
mod limits;
mod record;
mod repeats;
mod runs;
mod signed;
mod strangers;
mod verdicts;
