//! `ioproof compare`: two runs against each other.

use record::Run;

use crate::arguments::{CompareArguments, CompareFormat};
use crate::console::{colour, print};
use crate::exit::{Exit, Failure};

/// Prints what changed from one run to the other beyond the scatter.
pub(crate) fn run(arguments: &CompareArguments) -> Result<Exit, Failure> {
    let (before, after) = (Run::open(&arguments.before)?, Run::open(&arguments.after)?);
    let pair = report::compare(&before, &after);
    print(&match arguments.format {
        CompareFormat::Text => pair.text(colour()),
        CompareFormat::Md => pair.markdown(),
        CompareFormat::Json => pair.json(),
    })?;
    Ok(Exit::Success)
}
