//! `ioproof clean`: shows and removes leftovers of killed runs in a directory and below it.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use plan::Nanos;
use record::{Holder, Leftover, SweepResult};

use crate::console::exit::{Exit, Failure};
use crate::console::{confirm, print_line};
use crate::records::unfinished;

/// `ioproof clean`.
#[derive(Debug, Args)]
pub(crate) struct CleanArguments {
    /// The directory that was measured, or one above it on the same file system.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Remove without asking.
    #[arg(long, short)]
    yes: bool,
}

/// Shows the leftovers in the directory and all directories below it, and removes them if the user agrees.
pub(crate) fn run(arguments: &CleanArguments) -> Result<Exit, Failure> {
    let directory =
        std::path::absolute(&arguments.directory).map_err(|error| Failure::new(Exit::Usage, error))?;
    let (mut found, mut unreadable, mut is_clean, mut all_gone) = (Vec::new(), Vec::new(), true, true);
    for place in record::claimed_directories(&directory, unfinished::has_ended)? {
        is_clean &= !temporary_files(&place)?;
        let parts = unfinished::ended(&place);
        is_clean &= parts.is_empty();
        all_gone &= remove_parts(&parts, arguments.yes)?;
        found.extend(record::leftovers(&place)?);
        unreadable.extend(record::unreadable_claims(&place)?);
    }
    for claim in &unreadable {
        let claim = claim.display();
        print_line(&format!(
            "{claim} cannot be read as the claim of a run, so what that run has created is not known: look for its files in \
             this directory, then remove the claim"
        ))?;
    }
    if found.is_empty() && unreadable.is_empty() {
        if is_clean {
            print_line(&format!("nothing to clean in {} and below", directory.display()))?;
        }
        return Ok(if all_gone { Exit::Success } else { Exit::Refused });
    }
    let all_gone = remove_all(found, arguments)? && all_gone && unreadable.is_empty();
    Ok(if all_gone { Exit::Success } else { Exit::Refused })
}

/// Removes temporary files of killed runs in `place`, and says so. Returns whether there were any.
fn temporary_files(place: &Path) -> Result<bool, Failure> {
    let removed = record::remove_temporary_files(place);
    if removed > 0 {
        let files = if removed == 1 { "file" } else { "files" };
        print_line(&format!("removed {removed} temporary {files} of killed runs in {}", place.display()))?;
    }
    Ok(removed > 0)
}

/// Removes incomplete records that killed commands have left, if the user agrees. Returns whether none of them is left
/// that was to be removed.
fn remove_parts(parts: &[PathBuf], yes: bool) -> Result<bool, Failure> {
    let mut all_gone = true;
    for path in parts {
        print_line(&format!("{} is an incomplete record that a killed command has left", path.display()))?;
        if yes || confirm("Remove it?", false)? {
            match fs::remove_dir_all(path) {
                Ok(()) => print_line("  removed")?,
                Err(error) => {
                    print_line(&format!("  cannot be removed: {error}"))?;
                    all_gone = false;
                }
            }
        } else {
            print_line(&format!("  kept; `{} --yes` removes it", command(path)))?;
        }
    }
    Ok(all_gone)
}

/// The command that cleans the directory of `path`.
fn command(path: &Path) -> String {
    let directory = path.parent().unwrap_or(path).to_string_lossy();
    format!("ioproof clean {}", plan::shell_word(&directory))
}

/// Shows what runs have left, and removes it if the user agrees. Returns whether nothing had to stay.
fn remove_all(mut found: Vec<Leftover>, arguments: &CleanArguments) -> Result<bool, Failure> {
    let mut refused = false;
    // Newest first, so that what a newer run has put into directories of an older one is removed before
    // these.
    found.sort_by_key(|leftover| std::cmp::Reverse(leftover.claim.placed()));
    for leftover in &found {
        print_line(&line(leftover))?;
        for file in &leftover.files {
            print_line(&format!("  {}  {}", file.path.display(), plan::Bytes(file.bytes)))?;
        }
        for tree in &leftover.trees {
            let what = if tree.names_only { "items of a tree in it" } else { "a tree" };
            print_line(&format!("  {}  {what}", tree.root.display()))?;
        }
        for path in &leftover.kept {
            print_line(&format!("  {}  kept, as the run was told to", path.display()))?;
        }
        match leftover.holder {
            Holder::Alive => {
                print_line("  that run has not ended: its files are kept")?;
                refused = true;
            }
            // `--yes` would agree to the removal of files that were not shown.
            Holder::Elsewhere if arguments.yes => {
                let node = &leftover.claim.node;
                print_line(&format!(
                    "  kept, as it may still be running there: run `{} --yes` on {node}, or leave out `--yes` to \
                     be asked",
                    command(&leftover.claim_path)
                ))?;
                refused = true;
            }
            Holder::Elsewhere => {
                let node = &leftover.claim.node;
                if confirm(&format!("Has that run on {node} ended? Remove its files?"), false)? {
                    refused |= !say_removed(leftover, &leftover.remove_unseen()?)?;
                } else {
                    print_line(&format!(
                        "  kept; `{}` on {node} can tell whether that run is still running",
                        command(&leftover.claim_path)
                    ))?;
                }
            }
            Holder::Gone => {
                if arguments.yes || confirm("Remove these files?", false)? {
                    // Processes that are still running are ended before their files are removed.
                    if leftover.is_of_this_user() {
                        host::RunGroups::remove_left(&host::Root::default(), &leftover.claim.run_id)
                            .map_err(|error| Failure::new(Exit::HostLacks, error))?;
                    }
                    refused |= !say_removed(leftover, &leftover.remove()?)?;
                } else {
                    let command = command(&leftover.claim_path);
                    print_line(&format!("  kept; `{command} --yes` removes them"))?;
                }
            }
        }
    }
    Ok(!refused)
}

/// Prints what was removed of `leftover` and what is left. Returns whether everything is gone.
fn say_removed(leftover: &Leftover, sweep: &SweepResult) -> Result<bool, Failure> {
    let names = match sweep.removed {
        0 => String::new(),
        count => format!(", with {count} names in trees"),
    };
    let is_gone = sweep.held.is_empty() && leftover.in_use.is_empty();
    match leftover.files.is_empty() && leftover.trees.is_empty() {
        true if is_gone => print_line("  its claim is removed")?,
        true => {}
        false => print_line(&format!("  removed{names}"))?,
    }
    for path in &sweep.foreign {
        print_line(&format!("  {} is kept: the run did not create it", path.display()))?;
    }
    let more = sweep.foreign_count.saturating_sub(sweep.foreign.len() as u64);
    if more > 0 {
        print_line(&format!("  and {more} more"))?;
    }
    for path in &sweep.held {
        print_line(&format!(
            "  {} is kept: it contains something that the run did not create",
            path.display()
        ))?;
    }
    for path in &leftover.in_use {
        print_line(&format!("  {} is kept: another run is using it", path.display()))?;
    }
    if !is_gone {
        print_line(
            "  the claim is kept too: move away what does not belong to the run, wait for runs that are still running, \
             then run `ioproof clean` again",
        )?;
    }
    Ok(is_gone)
}

/// Describes a leftover in one line.
pub(crate) fn line(leftover: &Leftover) -> String {
    let directory = leftover.claim_path.parent().unwrap_or(&leftover.claim_path).display();
    let state = match leftover.holder {
        Holder::Alive => "is running".to_owned(),
        Holder::Gone => "was killed".to_owned(),
        Holder::Elsewhere => {
            let age = Nanos(u64::try_from(leftover.age().as_nanos()).unwrap_or(u64::MAX));
            format!("was started on node {} {age} ago", leftover.claim.node)
        }
    };
    let mut has = Vec::new();
    if !leftover.files.is_empty() {
        let bytes = plan::Bytes(leftover.bytes()).both_units();
        let files = leftover.files.len();
        has.push(format!("{files} {} ({bytes})", if files == 1 { "file" } else { "files" }));
    }
    match leftover.trees.len() {
        0 => {}
        1 => has.push("a tree".to_owned()),
        _ => has.push("trees".to_owned()),
    }
    if !leftover.kept.is_empty() {
        let kept = leftover.kept.len();
        has.push(format!("{kept} {} to keep", if kept == 1 { "file" } else { "files" }));
    }
    if !leftover.in_use.is_empty() {
        has.push(format!("{} that another run is using", leftover.in_use.len()));
    }
    let has = if has.is_empty() { "nothing left".to_owned() } else { has.join(" and ") };
    format!("run {} {state} and has {has} in {directory}", leftover.claim.run_id)
}
