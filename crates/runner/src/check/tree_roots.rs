//! Checks that the roots of trees are in the state that each case expects.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use plan::{Case, Existing, Keep};
use record::first_named;

use crate::RunnerError;
use crate::files::trees::{claim_on, has, in_target, left_there, makes};

/// Rejects existing items that conflict with the cases that `are_left`, and missing items that these need.
/// `keeps` returns the roots of a case that this rank is responsible for. Trees of a case are available to
/// later cases as long as they are kept.
///
/// # Errors
/// Returns an error about the first such root, with the next step.
pub(crate) fn check_roots<'a>(
    cases: impl Iterator<Item = &'a Case>,
    run_id: &str,
    keeps: impl Fn(&Case) -> Result<BTreeSet<PathBuf>, RunnerError>,
) -> Result<(), RunnerError> {
    // What each case leaves at a root, or the root's present state if no case has touched it.
    let mut there: BTreeMap<PathBuf, TreeState> = BTreeMap::new();
    for case in cases.filter(|case| has(case)) {
        let (makes, beside) = (makes(case), in_target(&case.workload));
        let tolerates = case.workload.files.existing == Existing::Reuse || case.protocol.wipe;
        for root in keeps(case)? {
            let known = there.get(&root).copied();
            if makes && !tolerates {
                match known {
                    Some(TreeState::Kept) => return Err(made_twice(case, root)),
                    Some(TreeState::Nothing | TreeState::WhileNeeded) => {}
                    None => {
                        // A leftover of an earlier start of this run is removed before the first case.
                        let is_own = || claim_on(&root).is_some_and(|(claim, _)| claim.run_id == run_id);
                        if let Some(found) = is_there(&root, beside)?
                            && !is_own()
                        {
                            return Err(left_there(&root, &found));
                        }
                    }
                }
            } else if !makes && !case.workload.work.kind().counts_missing() {
                let is_gone = match known {
                    Some(left) => left == TreeState::Nothing,
                    None => is_there(&root, beside)?.is_none(),
                };
                if is_gone {
                    return Err(nothing_there(case, root));
                }
            }
            let left = match (makes, case.workload.files.keep) {
                _ if case.phases.iter().any(|phase| phase.ends()) => TreeState::Nothing,
                (_, Keep::Always) => TreeState::Kept,
                (true, _) => TreeState::WhileNeeded,
                (false, _) => known.unwrap_or(TreeState::Kept),
            };
            there.insert(root, left);
        }
    }
    Ok(())
}

/// The state of a tree after a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TreeState {
    Nothing,
    /// It exists, and is removed when no case needs it any more.
    WhileNeeded,
    Kept,
}

/// What exists at `root`: the root itself, or the first of our names in an existing directory.
fn is_there(root: &Path, beside: bool) -> Result<Option<PathBuf>, RunnerError> {
    if beside {
        return Ok(first_named(root)?);
    }
    Ok(fs::symlink_metadata(root).is_ok().then(|| root.to_owned()))
}

fn made_twice(case: &Case, root: PathBuf) -> RunnerError {
    RunnerError::Target {
        path: root,
        problem: format!("is kept by a case before {}, which creates it again", case.id),
        help: "let the earlier case remove it, or give each case its own directory".to_owned(),
    }
}

fn nothing_there(case: &Case, root: PathBuf) -> RunnerError {
    let first = case.phases.first().map_or("the case", |phase| phase.name());
    RunnerError::Target {
        path: root,
        problem: format!(
            "does not exist, but {first} of {} works on files that an earlier run created in it",
            case.id
        ),
        help: "let this run create them first, or first do a run that creates and keeps them, with the same \
               tasks and sizes"
            .to_owned(),
    }
}
