//! `ioproof compare`: compares two runs, or a run with itself.

use std::path::PathBuf;

use record::Run;
use report::{Itself, Screen, Study};

use crate::arguments::{CompareArguments, CompareFormat};
use crate::console::exit::{Exit, Failure};
use crate::console::{complain, print, screen};
use crate::records;
use crate::records::report::Output;

/// Prints the changes between two runs that exceed the scatter, or plots both runs.
pub(crate) fn run(arguments: &CompareArguments) -> Result<Exit, Failure> {
    let before = records::one(&arguments.before)?;
    if let Some(times) = arguments.against_itself {
        let itself = report::against_itself(&before, times as usize).map_err(Failure::usage)?;
        let shown = |screen| form_of_itself(&itself, arguments.format, screen);
        show(arguments, std::slice::from_ref(&arguments.before), shown)?;
        return records::exit(&before, Exit::Success);
    }
    // The parser requires one of the two.
    let Some(path) = &arguments.after else {
        return Err(Failure::usage("AFTER is missing: name the run after the change"));
    };
    let after = records::one(path)?;
    let own: Vec<&str> = ids(&before).collect();
    if let Some(id) = ids(&after).find(|id| own.contains(id)) {
        complain(&format!(
            "both are, or were merged from, the run {id}, which cannot differ from itself: name a run before and a run \
             after a change"
        ));
    }
    if arguments.verdict && report::compare(&before, &after).is_of_model_and_storage() {
        return Err(Failure::usage(
            "--verdict judges what became slower, but one of the two runs is simulated, so a difference is the error \
             of the model; omit --verdict",
        ));
    }
    let shown =
        |screen| form(&before, &after, arguments, screen).map_err(|error| Failure::new(Exit::Record, error));
    show(arguments, &[arguments.before.clone(), path.clone()], shown)?;
    let is_slower = arguments.verdict && report::compare(&before, &after).is_slower();
    let exit = records::exit(&before, if is_slower { Exit::NotKept } else { Exit::Success })?;
    records::exit(&after, exit)
}

/// The ids of the run and of those from which it was merged.
fn ids(run: &Run) -> impl Iterator<Item = &str> {
    let parts = run.parts.iter().map(|part| part.run_id.as_str());
    std::iter::once(run.manifest.run_id.as_str()).chain(parts)
}

/// Prints the output, or writes it to the file that the user names.
fn show(
    arguments: &CompareArguments,
    runs: &[PathBuf],
    shown: impl Fn(Screen) -> Result<String, Failure>,
) -> Result<(), Failure> {
    match &arguments.output {
        None => print(&shown(screen())?),
        Some(path) => {
            let text = shown(Screen::PLAIN)?;
            Output::new(runs, path)?.write(path, |out| Ok(out.write_all(text.as_bytes())?))
        }
    }
}

fn form_of_itself(itself: &Itself<'_>, format: CompareFormat, screen: Screen) -> Result<String, Failure> {
    match format {
        CompareFormat::Text => Ok(itself.text(screen)),
        CompareFormat::Md => Ok(itself.markdown()),
        CompareFormat::Json => Ok(itself.json()),
        CompareFormat::Html => Err(Failure::usage(
            "comparing a run with itself has no HTML report; use --format text, md or json",
        )),
    }
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
