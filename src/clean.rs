//! `ioproof clean`: what killed runs left under a directory, shown and removed.

use plan::Nanos;
use record::{Holder, Leftover, Swept};

use crate::arguments::CleanArguments;
use crate::console::{confirm, confirm_loss, print};
use crate::exit::{Exit, Failure};

/// Shows what was left under the directory and removes it when the user agrees.
pub(crate) fn run(arguments: &CleanArguments) -> Result<Exit, Failure> {
    let directory =
        std::path::absolute(&arguments.directory).map_err(|error| Failure::new(Exit::Usage, error))?;
    let found = record::leftovers(&directory)?;
    let say = |line: &str| print(&format!("{line}\n"));
    if found.is_empty() {
        say(&format!("nothing was left in {}", directory.display()))?;
        return Ok(Exit::Success);
    }
    let mut refused = false;
    for leftover in &found {
        say(&line(leftover))?;
        for file in &leftover.files {
            say(&format!("  {}  {}", file.path.display(), plan::Bytes(file.bytes)))?;
        }
        for tree in &leftover.trees {
            let what = if tree.names_only { "items of a tree in it" } else { "a tree" };
            say(&format!("  {}  {what}", tree.root.display()))?;
        }
        match leftover.holder {
            Holder::Alive => {
                say("  that run goes on: its files stay")?;
                refused = true;
            }
            // Nobody has seen what `--yes` would agree to.
            Holder::Elsewhere if arguments.yes => {
                let node = &leftover.claim.node;
                say(&format!(
                    "  kept, as it may go on there: say `ioproof clean DIR --yes` on {node}, or leave out \
                     `--yes` and be asked"
                ))?;
                refused = true;
            }
            Holder::Elsewhere => {
                let node = &leftover.claim.node;
                if confirm_loss(&format!("Is that run on {node} over? Remove its files?"))? {
                    say(&removed(&leftover.remove_unseen()?))?;
                } else {
                    say(&format!("  kept; `ioproof clean DIR` on {node} can see whether that run goes on"))?;
                }
            }
            Holder::Gone => {
                if arguments.yes || confirm("Remove these files?", false)? {
                    // What still runs goes before what it writes.
                    host::RunGroups::remove_left(&host::Root::default(), &leftover.claim.run_id)
                        .map_err(|error| Failure::new(Exit::HostLacks, error))?;
                    say(&removed(&leftover.remove()?))?;
                } else {
                    say("  kept; `ioproof clean DIR --yes` removes them")?;
                }
            }
        }
    }
    Ok(if refused { Exit::Refused } else { Exit::Success })
}

/// What was removed of trees, and what stays there.
fn removed(swept: &Swept) -> String {
    let mut text = "  removed".to_owned();
    if swept.removed > 0 {
        text.push_str(&format!(", with {} names in trees", swept.removed));
    }
    for path in &swept.foreign {
        text.push_str(&format!("\n  {} stays: the run did not make it", path.display()));
    }
    let more = swept.foreign_count.saturating_sub(swept.foreign.len() as u64);
    if more > 0 {
        text.push_str(&format!("\n  and {more} more"));
    }
    text
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
