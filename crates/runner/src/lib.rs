//! Takes a plan through its life: check, prepare, run, observe, store.
//!
//! | type | what it is |
//! |---|---|
//! | [`check`] → [`Checked`] | a plan that this host can run, with what was found on the way |
//! | [`check_again`], [`Earlier`] | the same for a run that is taken up again |
//! | [`replaced`] | the user's files that a plan will remove |
//! | [`Life`] | runs a checked plan and writes the record |
//! | [`Watch`] | told of everything that happens; the runner itself never prints |
//! | [`Ended`] | how it ended, and what a caller needs for its exit code |
//! | [`instrument`] | what the instrument itself costs on this host |
//! | [`RunnerError`] | why it could not go on, with an [`ErrorKind`] |
//!
//! A case that fails does not end the run: its error is recorded and the next case starts.
//! A case that was interrupted is not finished: a run that is taken up again starts it anew, skips
//! those that are finished, and writes the data of a skipped case again where a later case reads it.
//! Files are claimed before they are made and removed at the end, whatever happened, unless the
//! plan keeps them.

mod check;
mod cleanup;
mod convert;
mod data;
mod error;
mod instrument;
mod life;
mod phase;
mod rendezvous;
mod replaced;
mod settle;
mod uses;
mod watch;

pub use check::{Checked, Earlier, check, check_again};
pub use error::{ErrorKind, RunnerError};
pub use instrument::{Instrument, instrument};
pub use life::{Ended, Life};
pub use replaced::{Replaced, replaced};
pub use watch::{Event, Silent, Watch};
