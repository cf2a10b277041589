//! `ioproof check`: finds implausible figures, whether measured or published.

use report::Study;

use crate::arguments::CheckArguments;
use crate::console::exit::{Exit, Failure};
use crate::console::{print, screen};
use crate::records;

/// Prints doubtful figures by cause. The exit code says whether every measured figure is usable.
pub(crate) fn run(arguments: &CheckArguments) -> Result<Exit, Failure> {
    if arguments.published {
        let library = record::published();
        print(&match arguments.json {
            true => report::check_published_json(library),
            false => report::check_published(library),
        })?;
        return Ok(Exit::Success);
    }
    let run = records::open(&arguments.runs)?;
    let study = Study::of(&run);
    print(&if arguments.json { study.check_json() } else { study.check(screen()) })?;
    records::exit(&run, if study.withheld() == 0 { Exit::Success } else { Exit::NotKept })
}
