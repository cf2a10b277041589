//! `ioproof job` (hidden): the process of one job. `ioproof run` starts one for each launch.

use crate::console::exit::{Exit, Failure};

/// The argument with which the program calls itself.
pub(crate) const WORD: &str = "job";

/// Reads an order from standard input, carries it out, and reports the result on standard output.
pub(crate) fn run() -> Result<Exit, Failure> {
    match jobs::serve() {
        Ok(jobs::Ended::Done) => Ok(Exit::Success),
        // This has already been reported as an event.
        Ok(jobs::Ended::Failed) => Ok(Exit::Internal),
        Err(error) => Err(Failure::new(Exit::Usage, error)),
    }
}
