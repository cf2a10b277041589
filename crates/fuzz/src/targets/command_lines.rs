//! Command lines of other tools.

use dialect::TOOLS;
use dialect::io500;
use dialect::ior::{self, Launcher};

use super::plans::shown;

/// Splits a line into words as a shell would. An additional word does not change the meaning of the others.
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

/// A configuration file of IO500, or its results.
pub(super) fn io500(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let config = match io500::Config::parse("config", text) {
        Ok(config) => config,
        Err(error) => {
            drop(error.to_string());
            io500::Config::default()
        }
    };
    let again =
        io500::Config::parse("listing", &config.listing(true, false)).expect("a listing is a configuration");
    assert_eq!(again.hash(), config.hash());
    let setup = io500::Setup::new(config.clone(), "now", 3);
    if setup.check().is_ok() {
        io500::Phase::all().for_each(|phase| drop(setup.line(phase, 1.0)));
    }
    drop(io500::verify(&config, text));
}

/// A command line of the tool named by its first word.
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
