//! Executes a plan: check, prepare, run, observe, store.
//!
//! | type | what it is |
//! |---|---|
//! | [`check`] → [`Checked`] | a plan that this host can run, with what was found during the check |
//! | [`check_again`], [`EarlierStart`] | the same for a resumed run |
//! | [`check_files_to_read`] | checks that the files a plan reads exist or are created by it |
//! | [`replaced`] | the user's files that a plan will remove |
//! | [`validate_campaign`], [`campaign`], [`LayoutBuilder`] | the same for cases on layouts, created one by one |
//! | [`PlanExecution`] | runs a checked plan and writes the record |
//! | [`Rivals`] | cases that another tool measures in alternation |
//! | [`Program`] | the program that is executed for each launch of jobs |
//! | [`follow`], [`dismiss`], [`wait_for_rank_0`], [`reports_loss`] | ranks other than 0: orders, release, losses |
//! | [`Machine`], [`check_on`] | a machine given by a description: simulated runs |
//! | [`nodes_of_tasks`], [`pause_before`], [`drops_caches_before`] | where tasks run, and what is done before each phase |
//! | [`Watch`] | receives all events; the runner itself never prints |
//! | [`RunSummary`] | how the run ended, for the caller's exit code |
//! | [`instrument`] | the overhead of the measuring instrument on this host |
//! | [`RunnerError`] | errors of a run, each with an [`ErrorKind`] |
//!
//! A case that fails does not end the run: its error is recorded and the next case starts. An interrupted
//! case is not finished: a resumed run starts it again, skips finished cases, and rewrites the data of a
//! skipped case if a later case reads it. A run may have many ranks. Rank 0 checks and executes the plan: it
//! gives orders and receives merged answers, so a phase of many ranks results in the same record as a phase
//! of one. The files of a task belong to the rank that runs the task: it creates, checks and removes them.
//!
//! Files are claimed before they are created, and always removed at the end, unless the plan keeps them.

mod check;
mod error;
mod execution;
mod files;
mod instrument;
mod machine;
#[cfg(feature = "planted-faults")]
mod planted;
mod ranks;
mod watch;

pub use ::jobs::launch::Program;
pub use check::overwrites::{Replaced, replaced};
pub use check::path_conflicts::check_files_to_read;
pub use check::record_place::record_on_target;
pub use check::{Checked, EarlierStart, check, check_again, check_on};
pub use error::{ErrorKind, RunnerError};
pub use execution::PlanExecution;
pub use execution::around::{drops_caches_before, pause_before};
pub use execution::campaign::{
    HostLayoutBuilder, LayoutBuilder, ValidatedCampaign, campaign, validate_campaign,
};
pub use execution::jobs::outcome as outcome_of_launches;
pub use execution::rival::Rivals;
pub use execution::servers::Servers;
pub use execution::state::RunSummary;
pub use files::sequence::claim_sequence;
pub use instrument::{HistoryCost, Instrument, instrument};
pub use machine::{Machine, MachineJob, MachinePhase};
#[cfg(feature = "planted-faults")]
pub use planted::planted;
pub use ranks::follow::{dismiss, follow, reports_loss, wait_for_rank_0};
pub use ranks::merge_ranks::SERIES_INTERVAL;
pub use ranks::rank_assignment::nodes_of_tasks;
pub use watch::{Event, LayoutProgress, Silent, Watch};
