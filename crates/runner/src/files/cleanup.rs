//! The files that a run creates. They are claimed before they are created, and removed when no case needs
//! them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use engine::MadeFiles;
use plan::{Case, Keep};
use record::SweepResult;

use crate::RunnerError;
use crate::files::file_sets::FileSets;
use crate::files::paths::{leads_to_device, paths};
use crate::files::trees;
use crate::ranks::rank_assignment::files_of;

/// The files and directories that this rank has created and not yet removed.
#[derive(Debug, Default)]
pub(crate) struct CreatedFiles {
    files: BTreeSet<PathBuf>,
    directories: BTreeSet<PathBuf>,
    /// What distinguishes the files that were created from what somebody else puts under their names.
    made: MadeFiles,
    /// Roots of trees, and whether each root also contains other files.
    roots: BTreeMap<PathBuf, bool>,
}

impl CreatedFiles {
    /// Nothing yet. `are_shared` says whether other ranks may create the same files.
    pub(crate) fn new(are_shared: bool) -> Self {
        Self { made: MadeFiles::new(are_shared), ..Self::default() }
    }

    /// Records that `path` is about to be written. It belongs to this run unless it existed before. Returns whether it
    /// does not exist yet.
    pub(crate) fn file(&mut self, path: &Path) -> bool {
        let is_new = fs::symlink_metadata(path).is_err();
        if is_new && !self.files.contains(path) {
            self.files.insert(path.to_owned());
        }
        if is_new {
            self.made.forget(path);
        }
        is_new
    }

    /// The files that were created and can be recognised.
    pub(crate) fn made(&self) -> &MadeFiles {
        &self.made
    }

    /// Removes what is at `paths` before it is created anew, and returns the number. What somebody else has put under
    /// the name of a file that was created is kept, and is an error.
    pub(crate) fn replace(&self, paths: &[PathBuf], action: &'static str) -> Result<u32, RunnerError> {
        if let Some(path) = paths.iter().find(|path| self.made.is_replaced(path)) {
            return Err(appeared(path));
        }
        let removed = remove_existing(paths.iter().cloned(), action)?;
        // Devices stay.
        let gone = paths.iter().filter(|path| fs::symlink_metadata(path).is_err());
        gone.for_each(|path| self.made.removed(path));
        Ok(removed)
    }

    /// Creates the directories for the files of `tasks` of `case`.
    pub(crate) fn own_directories(
        &mut self,
        case: &Case,
        tasks: &Range<u32>,
        pass: u32,
    ) -> Result<(), RunnerError> {
        if !case.workload.files.unique_dir {
            return Ok(());
        }
        for slot in files_of(&case.workload, tasks, pass) {
            let Some(directory) = slot.path.parent() else { continue };
            if trees::make(directory)? {
                self.directories.insert(directory.to_owned());
            }
        }
        Ok(())
    }

    /// Creates missing target directories and the roots of trees, or prepares existing directories for items.
    /// Unless `keep` is set, what this run created there in the previous pass is removed first. If everything
    /// is created anew, nothing may exist there before. Returns the number of names removed.
    pub(crate) fn trees(
        &mut self,
        targets: &[PathBuf],
        roots: &[PathBuf],
        beside: bool,
        (anew, keep): (bool, bool),
    ) -> Result<u32, RunnerError> {
        let mut removed = 0;
        // Jobs that reuse tables check each table themselves.
        for root in roots.iter().filter(|_| !keep) {
            if self.roots.contains_key(root) {
                let result = trees::remove(root, beside)?;
                trees::stays(&result)?;
                removed += saturated(result.removed);
            }
        }
        for target in targets {
            if trees::make(target)? {
                self.directories.insert(target.clone());
            }
        }
        if beside {
            self.roots.extend(roots.iter().map(|root| (root.clone(), true)));
            return Ok(removed);
        }
        for root in roots {
            match trees::make(root)? {
                true => drop(self.roots.insert(root.clone(), false)),
                false if anew => return Err(trees::left_there(root, root)),
                false => {}
            }
        }
        Ok(removed)
    }

    /// Removes the trees of `case` at `roots`, or forgets them if they are `kept`. Files of others are
    /// kept; they are reported as an error after everything else has been removed.
    pub(crate) fn remove_trees(&mut self, roots: &BTreeSet<PathBuf>, kept: bool) -> Result<u32, RunnerError> {
        let mine: Vec<(PathBuf, bool)> =
            roots.iter().filter_map(|root| self.roots.remove_entry(root)).collect();
        let mut result = SweepResult::default();
        if kept {
            self.directories.retain(|directory| !mine.iter().any(|(root, _)| root.starts_with(directory)));
            return Ok(0);
        }
        let mut first = Ok(());
        for (root, beside) in mine {
            match trees::remove(&root, beside) {
                Ok(found) => result.add(found),
                Err(error) => {
                    self.roots.insert(root, beside);
                    first = first.and(Err(error));
                }
            }
        }
        self.remove(std::iter::empty())?;
        first.and(trees::stays(&result))?;
        Ok(saturated(result.removed))
    }

    /// Removes the files of `case` (at `index` in the plan) that no later case uses, unless they are to be
    /// kept. Returns their number. The error names what cannot be removed, after everything else has been
    /// removed.
    pub(crate) fn remove_after(
        &mut self,
        case: &Case,
        index: usize,
        file_sets: &FileSets<'_>,
        wrong_data: bool,
    ) -> Result<u32, RunnerError> {
        if self.files.is_empty() {
            return Ok(0);
        }
        let keep = match case.workload.files.keep {
            Keep::Always => true,
            Keep::OnError => wrong_data,
            Keep::Never => false,
        };
        let mine: BTreeSet<PathBuf> =
            paths(case).into_iter().filter(|path| self.files.contains(path)).collect();
        if keep {
            self.files.retain(|path| !mine.contains(path));
            self.directories.clear();
            return Ok(0);
        }
        let needed = file_sets.needed_after(index, case, &mine);
        let theirs = mine.iter().find(|path| self.made.is_replaced(path)).map(|path| appeared(path));
        let removed = self.remove(mine.difference(&needed))?;
        theirs.map_or(Ok(removed), Err)
    }

    /// Removes everything that is left, for example after an error.
    pub(crate) fn remove_all(&mut self) -> Result<u32, RunnerError> {
        let all = self.files.clone();
        let removed = self.remove(all.iter());
        let roots: BTreeSet<PathBuf> = self.roots.keys().cloned().collect();
        let trees = self.remove_trees(&roots, false);
        Ok(removed?.saturating_add(trees?))
    }

    /// Removes files. What somebody else has put under the name of one is kept and forgotten, so that the claim of the
    /// run no longer covers it.
    fn remove<'a>(&mut self, paths: impl Iterator<Item = &'a PathBuf>) -> Result<u32, RunnerError> {
        let mut removed = 0;
        let mut first = Ok(());
        for path in paths {
            if self.made.is_replaced(path) {
                self.files.remove(path);
                continue;
            }
            match fs::remove_file(path) {
                Ok(()) => removed += 1,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => {
                    first =
                        first.and(Err(RunnerError::File { action: "remove", path: path.clone(), source }));
                    continue;
                }
            }
            self.files.remove(path);
        }
        // A directory that contains anything else is kept, since that does not belong to this run.
        let (files, roots) = (&self.files, &self.roots);
        self.directories.retain(|directory| {
            files.iter().chain(roots.keys()).any(|one| one.starts_with(directory))
                || fs::remove_dir(directory).is_err()
        });
        first.map(|()| removed)
    }
}

/// The error for a file or link of somebody else under the name of one that was created.
fn appeared(path: &Path) -> RunnerError {
    engine::EngineError::Appeared { path: path.to_owned() }.into()
}

fn saturated(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Removes a file on drop.
pub(crate) struct RemoveOnDrop<'a> {
    path: &'a Path,
}

impl<'a> RemoveOnDrop<'a> {
    /// Creates a guard that will remove `path`.
    pub(crate) fn of(path: &'a Path) -> Self {
        Self { path }
    }

    /// Removes the file now.
    pub(crate) fn now(self) -> Result<(), RunnerError> {
        let path = self.path;
        std::mem::forget(self);
        fs::remove_file(path).map_err(RunnerError::file("remove", path))
    }
}

impl Drop for RemoveOnDrop<'_> {
    fn drop(&mut self) {
        // An error is already being reported, and the file may not even exist.
        let _ = fs::remove_file(self.path);
    }
}

/// Removes what exists at `paths` and returns the number. A link to a device is kept, because the device
/// itself is written.
pub(crate) fn remove_existing(
    paths: impl Iterator<Item = PathBuf>,
    action: &'static str,
) -> Result<u32, RunnerError> {
    let mut removed = 0;
    for path in paths {
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        let removable = metadata.is_file() || metadata.is_symlink();
        if !removable || leads_to_device(&path) {
            continue;
        }
        match fs::remove_file(&path) {
            Ok(()) => removed += 1,
            // After a lost rank another rank may remove the same files.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(RunnerError::File { action, path, source }),
        }
    }
    Ok(removed)
}
