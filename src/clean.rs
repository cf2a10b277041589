//! `ioproof clean`: shows and removes leftovers of killed runs under a directory.

use std::path::PathBuf;

use plan::Nanos;
use record::{Holder, Leftover, SweepResult};

use crate::arguments::CleanArguments;
use crate::console::{confirm, print_line};
use crate::exit::{Exit, Failure};

/// Shows the leftovers under the directory and removes them if the user agrees.
pub(crate) fn run(arguments: &CleanArguments) -> Result<Exit, Failure> {
    let directory =
        std::path::absolute(&arguments.directory).map_err(|error| Failure::new(Exit::Usage, error))?;
    let found = record::leftovers(&directory)?;
    if found.is_empty() {
        print_line(&format!("nothing was left in {}", directory.display()))?;
        return Ok(Exit::Success);
    }
    let mut refused = false;
    for leftover in &found {
        print_line(&line(leftover))?;
        for file in &leftover.files {
            print_line(&format!("  {}  {}", file.path.display(), plan::Bytes(file.bytes)))?;
        }
        for tree in &leftover.trees {
            let what = if tree.names_only { "items of a tree in it" } else { "a tree" };
            print_line(&format!("  {}  {what}", tree.root.display()))?;
        }
        match leftover.holder {
            Holder::Alive => {
                print_line("  that run goes on: its files stay")?;
                refused = true;
            }
            // `--yes` would agree to files that were not shown.
            Holder::Elsewhere if arguments.yes => {
                let node = &leftover.claim.node;
                print_line(&format!(
                    "  kept, as it may go on there: say `ioproof clean DIR --yes` on {node}, or leave out \
                     `--yes` and be asked"
                ))?;
                refused = true;
            }
            Holder::Elsewhere => {
                let node = &leftover.claim.node;
                if confirm(&format!("Is that run on {node} over? Remove its files?"), false)? {
                    removed(&leftover.remove_unseen()?).iter().try_for_each(|line| print_line(line))?;
                } else {
                    print_line(&format!(
                        "  kept; `ioproof clean DIR` on {node} can see whether that run goes on"
                    ))?;
                }
            }
            Holder::Gone => {
                if arguments.yes || confirm("Remove these files?", false)? {
                    // Processes that still run are ended before their files are removed.
                    host::RunGroups::remove_left(&host::Root::default(), &leftover.claim.run_id)
                        .map_err(|error| Failure::new(Exit::HostLacks, error))?;
                    removed(&leftover.remove()?).iter().try_for_each(|line| print_line(line))?;
                } else {
                    print_line("  kept; `ioproof clean DIR --yes` removes them")?;
                }
            }
        }
    }
    Ok(if refused { Exit::Refused } else { Exit::Success })
}

/// Removed and remaining items of trees, as lines.
fn removed(sweep: &SweepResult) -> Vec<String> {
    let names = match sweep.removed {
        0 => String::new(),
        count => format!(", with {count} names in trees"),
    };
    let mut lines = vec![format!("  removed{names}")];
    let stays = |path: &PathBuf| format!("  {} stays: the run did not make it", path.display());
    lines.extend(sweep.foreign.iter().map(stays));
    let more = sweep.foreign_count.saturating_sub(sweep.foreign.len() as u64);
    if more > 0 {
        lines.push(format!("  and {more} more"));
    }
    lines
}

/// A leftover in one line.
pub(crate) fn line(leftover: &Leftover) -> String {
    let directory = leftover.claim_path.parent().unwrap_or(&leftover.claim_path).display();
    let state = match leftover.holder {
        Holder::Alive => "is running".to_owned(),
        Holder::Gone => "was killed".to_owned(),
        Holder::Elsewhere => {
            let age = Nanos(u64::try_from(leftover.age().as_nanos()).unwrap_or(u64::MAX));
            format!("was begun on node {} {age} ago", leftover.claim.node)
        }
    };
    let files = match (leftover.files.len(), leftover.trees.len()) {
        (0, 1..) => String::new(),
        (files, _) => format!("{files} files ({})", plan::Bytes(leftover.bytes()).both_units()),
    };
    let trees = match leftover.trees.len() {
        0 => "",
        1 => "a tree",
        _ => "trees",
    };
    let and = if files.is_empty() || trees.is_empty() { "" } else { " and " };
    format!("run {} {state} and has {files}{and}{trees} in {directory}", leftover.claim.run_id)
}
