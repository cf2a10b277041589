//! `ioproof audit`: what cannot be true, in own figures or in published ones.

use report::Study;

use crate::arguments::AuditArguments;
use crate::console::{colour, print};
use crate::exit::{Exit, Failure};
use crate::runs;

/// Prints every doubt with its evidence.
pub(crate) fn run(arguments: &AuditArguments) -> Result<Exit, Failure> {
    if arguments.published {
        let library = record::published();
        print(&match arguments.json {
            true => report::audit_published_json(library),
            false => report::audit_published(library),
        })?;
        return Ok(Exit::Success);
    }
    let run = runs::open(&arguments.runs)?;
    let study = Study::of(&run);
    print(&if arguments.json { study.audit_json() } else { study.audit(colour()) })?;
    Ok(Exit::Success)
}
