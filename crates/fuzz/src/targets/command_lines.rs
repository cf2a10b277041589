//! Command lines of other tools.

use dialect::TOOLS;
use dialect::ior::{self, Launcher};

use super::plans::shown;

/// Words of a line as a shell would split it; a word of more does not make the line another one.
fn words(input: &[u8]) -> Option<Vec<String>> {
    shlex::split(std::str::from_utf8(input).ok()?).filter(|words| !words.is_empty())
}

/// A command line of IOR.
pub(super) fn ior(input: &[u8]) {
    let Some(words) = words(input) else { return };
    match ior::parse(&words, Launcher::default()) {
        Ok(asked) => shown(&asked.plan),
        Err(error) => drop(error.to_string()),
    }
}

/// A command line of the tool that its first word names.
pub(super) fn tools(input: &[u8]) {
    let Some(words) = words(input) else { return };
    let Some(tool) = TOOLS.iter().find(|tool| tool.called.contains(&words[0].as_str())) else { return };
    match (tool.parse)(&words, Launcher::default()) {
        Ok(asked) => {
            shown(&asked.plan);
            if asked.show.is_none() {
                assert!((tool.printer)(&asked.plan).is_some(), "its plan has no printer");
            }
        }
        Err(error) => drop(error.to_string()),
    }
}
