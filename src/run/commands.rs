//! Commands of a study. They are shown to the user, and run only with consent to exactly these commands.

use std::path::{Path, PathBuf};

use host::CommandHash;
use plan::{Plan, visible};
use runner::Servers;

use crate::console::exit::{Exit, Failure};
use crate::console::{can_show_and_ask, confirm, print, print_line};
use crate::layout;

/// Commands that query servers before and after phases, by target.
#[derive(Debug)]
pub(crate) struct ServerCommands {
    /// The name of a target, its commands and their hash.
    targets: Vec<(String, Vec<String>, CommandHash)>,
}

impl ServerCommands {
    /// The commands of `plan`, which run in the working directory.
    pub(crate) fn of(plan: &Plan) -> Self {
        let directory = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let asking = plan.criteria.targets.iter().filter(|target| !target.server_collect.is_empty());
        let of = |target: &plan::TargetDescription| {
            let (name, lines) = (target.name.clone(), target.server_collect.clone());
            let hash = CommandHash::of_lines(&format!("servers of {name}"), &lines, Path::new(&directory));
            (name, lines, hash)
        };
        Self { targets: asking.map(of).collect() }
    }

    /// The number of commands.
    pub(crate) fn count(&self) -> usize {
        self.targets.iter().map(|(_, lines, _)| lines.len()).sum()
    }

    /// The hash of each target's commands.
    pub(crate) fn hashes(&self) -> impl Iterator<Item = CommandHash> + '_ {
        self.targets.iter().map(|(.., hash)| *hash)
    }

    /// All commands in shell syntax; empty if there are none.
    pub(crate) fn shown(&self) -> String {
        let of_target = |(name, lines, _): &(String, Vec<String>, CommandHash)| {
            let lines: String = lines.iter().map(|line| format!("    # {}\n", visible(line))).collect();
            format!("servers of {} are queried before and after each phase\n{lines}", visible(name))
        };
        self.targets.iter().map(of_target).collect()
    }

    /// The text about the commands for a plan that is only shown, including how to agree to them.
    pub(crate) fn explained(&self) -> String {
        match self.count() {
            0 => String::new(),
            _ => format!("\n{}{}", self.shown(), layout::how_to_agree(self.hash())),
        }
    }

    fn hash(&self) -> CommandHash {
        CommandHash::of_all(&self.hashes().collect::<Vec<_>>())
    }

    /// Asks the user to agree to the commands, and returns the permitted ones. It is an error if the option
    /// is given although there are no commands, because it may be meant for another study.
    ///
    /// # Errors
    /// Errors if the user declined, or if there is no terminal on which to ask.
    pub(crate) fn agree(&self, plan: &Plan, allowed: Option<&str>) -> Result<Servers, Failure> {
        if self.count() == 0 {
            return match allowed {
                Some(_) => Err(Failure::usage("this study executes no commands: leave out --allow-commands")),
                None => Ok(Servers::default()),
            };
        }
        let hash = self.hash();
        if !is_allowed(allowed, hash) {
            print(&format!("\n{}", self.shown()))?;
        }
        agree(self.count(), hash, allowed, "")?;
        Ok(Servers::of(plan))
    }
}

/// Whether the option specifies exactly these commands.
pub(crate) fn is_allowed(allowed: Option<&str>, hash: CommandHash) -> bool {
    allowed.is_some_and(|allowed| allowed == hash.to_string())
}

/// Asks the user to agree to `count` commands, which were shown unless they are already allowed, and to their
/// other effects. The user agrees either by giving their hash or by an answer at the terminal, and in no
/// other way.
///
/// # Errors
/// Errors if the user declined, or if there is no terminal on which to ask.
pub(crate) fn agree(
    count: usize,
    hash: CommandHash,
    allowed: Option<&str>,
    also: &str,
) -> Result<(), Failure> {
    if is_allowed(allowed, hash) {
        return Ok(());
    }
    let executed = report::counted(count as u64, "command");
    if let Some(allowed) = allowed {
        print_line(&format!("! --allow-commands {allowed} is the hash of other commands"))?;
    }
    if !can_show_and_ask() {
        let why = format!(
            "the study would execute {executed}{also}, and there is no terminal to ask on: read them above, and add \
             --allow-commands {hash} to agree"
        );
        return Err(Failure::new(Exit::Refused, anyhow::anyhow!(why)));
    }
    if !confirm(&format!("Execute {executed}{also}?"), false)? {
        return Err(Failure::new(Exit::Refused, anyhow::anyhow!("nothing was executed or written")));
    }
    Ok(())
}
