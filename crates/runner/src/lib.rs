//! Takes a plan through its life: check, prepare, run, observe, store.
//!
//! | type | what it is |
//! |---|---|
//! | [`check`] → [`Checked`] | a plan that this host can run, with what was found on the way |
//! | [`check_again`], [`Earlier`] | the same for a run that is taken up again |
//! | [`replaced`] | the user's files that a plan will remove |
//! | [`muster`], [`campaign`], [`Builder`] | the same for cases on layouts, which are made and dismantled one by one |
//! | [`Life`] | runs a checked plan and writes the record |
//! | [`Rivals`] | what another tool measures in turn |
//! | [`Program`] | what is executed for each launch of jobs |
//! | [`follow`], [`dismiss`], [`give_way`], [`speaks`] | what every rank but the first does; its end, and after a loss |
//! | [`Watch`] | told of everything that happens; the runner itself never prints |
//! | [`Ended`] | how it ended, and what a caller needs for its exit code |
//! | [`instrument`] | what the instrument itself costs on this host |
//! | [`RunnerError`] | why it could not go on, with an [`ErrorKind`] |
//!
//! A case that fails does not end the run: its error is recorded and the next case starts.
//! A case that was interrupted is not finished: a run that is taken up again starts it anew, skips
//! those that are finished, and writes the data of a skipped case again where a later case reads it.
//! A run may have many ranks. Rank 0 checks and lives; it gives orders, and what the others saw comes
//! back joined, so that a phase of many ranks leaves what a phase of one would. The files of a task
//! belong to the rank that carries the task: it makes them, looks at them and removes them.
//!
//! Files are claimed before they are made and removed at the end, whatever happened, unless the
//! plan keeps them.

mod backends;
mod campaign;
mod check;
mod cleanup;
mod crew;
mod data;
mod error;
mod follow;
mod hand;
mod handshake;
mod inodes;
mod instrument;
mod jobs;
mod life;
mod obstacles;
mod order;
mod part;
mod phase;
mod rendezvous;
mod replaced;
mod rival;
mod roster;
mod rows;
mod seen;
mod separate;
mod servers;
mod settle;
mod signals;
mod spaces;
mod traced;
mod trees;
mod uses;
mod watch;
mod whole;

pub use ::jobs::launch::Program;
pub use campaign::{Builder, LayoutStep, Mustered, OnHost, campaign, muster};
pub use check::{Checked, Earlier, check, check_again};
pub use error::{ErrorKind, RunnerError};
pub use follow::{dismiss, follow, give_way, speaks};
pub use instrument::{HistoryCost, Instrument, instrument};
pub use life::{Ended, Life};
pub use replaced::{Replaced, replaced};
pub use rival::Rivals;
pub use servers::Servers;
pub use watch::{Event, Silent, Watch};
