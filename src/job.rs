//! `ioproof job`, hidden: the process of one job, which `ioproof run` starts for each launch.

use crate::exit::{Exit, Failure};
use crate::signals;

/// The word that the program calls itself with.
pub(crate) const WORD: &str = "job";

/// Takes an order from the standard input, does it, and tells on the standard output what was done.
pub(crate) fn run() -> Result<Exit, Failure> {
    signals::outlive_file_limit().map_err(|error| Failure::new(Exit::Internal, error))?;
    match jobs::serve() {
        Ok(jobs::Ended::Done) => Ok(Exit::Success),
        // Told as an event already.
        Ok(jobs::Ended::Failed) => Ok(Exit::Internal),
        Err(error) => Err(Failure::new(Exit::Usage, error)),
    }
}
