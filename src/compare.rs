//! `ioproof compare`: two runs against each other.

use record::Run;
use report::{Screen, Study};

use crate::arguments::{CompareArguments, CompareFormat};
use crate::console::{complain, print, screen};
use crate::exit::{Exit, Failure};
use crate::report::Output;

/// Prints the changes between two runs that exceed the scatter, or plots both.
pub(crate) fn run(arguments: &CompareArguments) -> Result<Exit, Failure> {
    let runs = [arguments.before.clone(), arguments.after.clone()];
    let (before, after) = (Run::open(&runs[0])?, Run::open(&runs[1])?);
    if before.manifest.run_id == after.manifest.run_id {
        let id = &before.manifest.run_id;
        complain(&format!(
            "both are the run {id}, so nothing can differ: name the run before and the one after a change"
        ));
    }
    if arguments.verdict && report::compare(&before, &after).is_of_model_and_storage() {
        return Err(Failure::usage(
            "--verdict judges what became slower, and one of the two runs is simulated: a difference is the error of \
             the model; leave --verdict out",
        ));
    }
    let shown =
        |screen| form(&before, &after, arguments, screen).map_err(|error| Failure::new(Exit::Record, error));
    match &arguments.output {
        None => print(&shown(screen())?)?,
        Some(path) => {
            let text = shown(Screen::PLAIN)?;
            Output::new(&runs, path)?.write(path, |out| Ok(out.write_all(text.as_bytes())?))?;
        }
    }
    let is_slower = arguments.verdict && report::compare(&before, &after).is_slower();
    Ok(if is_slower { Exit::NotKept } else { Exit::Success })
}

fn form(before: &Run, after: &Run, arguments: &CompareArguments, screen: Screen) -> anyhow::Result<String> {
    let pair = || report::compare(before, after);
    let full = arguments.full;
    Ok(match arguments.format {
        CompareFormat::Text if full => pair().text_in_full(screen),
        CompareFormat::Text => pair().text(screen),
        CompareFormat::Md => pair().markdown(),
        CompareFormat::Json => pair().json(),
        CompareFormat::Html => {
            let mut page = Vec::new();
            Study::of(before).beside(Study::of(after)).html(&mut page)?;
            String::from_utf8(page)?
        }
    })
}
