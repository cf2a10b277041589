//! Man pages and shell completions, made from the one definition of the command line.

use std::fs;
use std::path::Path;

use anyhow::Context;
use clap_complete::Shell;

use crate::arguments;
use crate::exit::{Exit, Failure};

/// Writes `man/*.1` and `completions/*` below `directory`.
pub(crate) fn run(directory: &Path) -> Result<Exit, Failure> {
    write(directory).map_err(|error| Failure::new(Exit::Record, error))?;
    Ok(Exit::Success)
}

fn write(directory: &Path) -> anyhow::Result<()> {
    let (man, completions) = (directory.join("man"), directory.join("completions"));
    for folder in [&man, &completions] {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    clap_mangen::generate_to(arguments::definition(), &man)
        .with_context(|| format!("cannot write man pages to {}", man.display()))?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut arguments::definition(), "ioproof", &completions)
            .with_context(|| format!("cannot write completions to {}", completions.display()))?;
    }
    Ok(())
}
