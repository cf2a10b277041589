//! Determines which files of a plan exist at the same time, and how much space they use.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use plan::{Case, Keep, Placement, Sharing};

use crate::files::paths::sets;
use crate::files::targets::writes;
use crate::ranks::rank_assignment::files_of;

/// A case with the number of its block in the plan and the relevant tasks.
pub(crate) type CaseInBlock<'a> = (usize, &'a Case, Range<u32>);

/// Key of a set of files: targets, shared or not, own directories or not, first and last task, sets.
type FilesOf<'a> = (&'a [PathBuf], bool, bool, u32, u32, u32);

/// A file of the plan.
#[derive(Debug)]
struct File<'a> {
    target: &'a Path,
    /// Bytes that it uses before the run. A device already has all the space it may ever need.
    before: u64,
    /// Bytes that it currently uses in addition.
    now: u64,
    /// The block of cases that uses it last.
    last: usize,
    is_kept: bool,
}

/// Files that some cases share.
#[derive(Debug, Default)]
struct Set {
    /// Indices of its files.
    files: Vec<usize>,
    last: usize,
    is_kept: bool,
    /// Minimum size that each of its files currently has.
    now: u64,
}

/// The files of cases, in the order in which they are created and removed.
pub(crate) struct PresentFiles<'a> {
    cases: &'a [CaseInBlock<'a>],
    /// The set of each case.
    set_of: Vec<usize>,
    sets: Vec<Set>,
    files: Vec<File<'a>>,
}

impl<'a> PresentFiles<'a> {
    /// The files of `cases`, which are in order, each with the number of its block and the tasks that are
    /// relevant here.
    pub(crate) fn of(cases: &'a [CaseInBlock<'a>]) -> Self {
        let mut all = Self { cases, set_of: Vec::new(), sets: Vec::new(), files: Vec::new() };
        let mut known: HashMap<FilesOf<'_>, usize> = HashMap::new();
        let mut numbers: HashMap<PathBuf, usize> = HashMap::new();
        for (block, case, tasks) in cases {
            let files = &case.workload.files;
            let (shared, passes) = (files.sharing == Sharing::Shared, sets(case));
            let key = (files.targets.as_slice(), shared, files.unique_dir, tasks.start, tasks.end, passes);
            let number = *known.entry(key).or_insert_with(|| {
                let slots = (0..passes).flat_map(|pass| files_of(&case.workload, tasks, pass));
                let of_slot = |slot: plan::FileSlot| {
                    let target = &files.targets[slot.index as usize % files.targets.len()];
                    *numbers.entry(slot.path).or_insert_with_key(|path| {
                        let (before, now) = (taken(path), 0);
                        all.files.push(File { target, before, now, last: 0, is_kept: false });
                        all.files.len() - 1
                    })
                };
                let files = slots.map(of_slot).collect();
                all.sets.push(Set { files, ..Set::default() });
                all.sets.len() - 1
            });
            let set = &mut all.sets[number];
            set.last = *block;
            set.is_kept |= files.keep == Keep::Always && takes_space(case);
            all.set_of.push(number);
        }
        for set in &all.sets {
            for &file in &set.files {
                let file = &mut all.files[file];
                file.last = file.last.max(set.last);
                file.is_kept |= set.is_kept;
            }
        }
        all
    }

    /// For each block, in order, and each place (`place_of` maps a target to its place) with files: the number of the
    /// block, a target there, the maximum number of bytes used by files there at the same time in the block, and the case
    /// with which this happens.
    ///
    /// # Errors
    /// Returns the error of `place_of`.
    pub(crate) fn most<P: Hash + Eq, E>(
        mut self,
        mut place_of: impl FnMut(&Path) -> Result<P, E>,
    ) -> Result<Vec<(usize, &'a Path, u64, &'a Case)>, E> {
        let mut places: HashMap<P, usize> = HashMap::new();
        let mut of_target: HashMap<&Path, usize> = HashMap::new();
        let mut of_blocks = Vec::new();
        // For each place: a target, the bytes used now, the maximum in this block and its case.
        let mut most: Vec<(&Path, u64, u64, &Case)> = Vec::new();
        let cases = self.cases;
        for (at, (block, case, _)) in cases.iter().enumerate() {
            let bytes = Placement::new(&case.workload).file_bytes().get();
            let set = &mut self.sets[self.set_of[at]];
            if takes_space(case) && bytes > set.now {
                set.now = bytes;
                for &number in &set.files {
                    let file = &mut self.files[number];
                    let place = match of_target.get(file.target) {
                        Some(place) => *place,
                        None => {
                            let place = *places.entry(place_of(file.target)?).or_insert(most.len());
                            if place == most.len() {
                                most.push((file.target, 0, 0, case));
                            }
                            of_target.insert(file.target, place);
                            place
                        }
                    };
                    let grown = bytes.saturating_sub(file.before).saturating_sub(file.now);
                    file.now += grown;
                    most[place].1 = most[place].1.saturating_add(grown);
                }
                for (_, now, most, of) in &mut most {
                    if *now > *most {
                        (*most, *of) = (*now, case);
                    }
                }
            }
            if cases.get(at + 1).is_none_or(|(next, ..)| next != block) {
                let used = most.iter().filter(|(_, _, most, _)| *most > 0);
                of_blocks.extend(used.map(|(target, _, most, case)| (*block, *target, *most, *case)));
                self.end_of(*block, &of_target, &mut most);
                most.iter_mut().for_each(|(_, now, most, _)| *most = *now);
            }
        }
        Ok(of_blocks)
    }

    /// Removes the files that no case after `block` needs.
    fn end_of(
        &mut self,
        block: usize,
        of_target: &HashMap<&Path, usize>,
        most: &mut [(&Path, u64, u64, &Case)],
    ) {
        for set in self.sets.iter_mut().filter(|set| set.last == block && set.now > 0) {
            for &number in &set.files {
                let file = &mut self.files[number];
                if file.last == block && !file.is_kept {
                    let freed = std::mem::take(&mut file.now);
                    if let Some(&place) = of_target.get(file.target) {
                        most[place].1 = most[place].1.saturating_sub(freed);
                    }
                }
            }
            set.now = 0;
        }
    }
}

/// Whether the files of `case` are certain to use their full space. A stonewall may end a write long before its
/// volume is reached; for such a case only the forecast warns.
fn takes_space(case: &Case) -> bool {
    let workload = &case.workload;
    let tables = workload.work.jobs().is_some();
    writes(case) && !tables && workload.backend.moves_data() && workload.stonewall.is_none()
}

/// Bytes that a file uses before the run. A device does not grow.
fn taken(path: &Path) -> u64 {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => metadata.blocks().saturating_mul(512),
        Ok(_) => u64::MAX,
        Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use plan::{Bytes, Case, Geometry, Keep, Phase, Sharing, WorkloadSpec};

    use super::{CaseInBlock, PresentFiles};

    /// A case of two tasks that write a file of `mib` MiB each.
    fn case(target: &str, mib: u64, change: fn(&mut WorkloadSpec)) -> Case {
        let geometry = Geometry { transfer: Bytes::mib(1), block: Bytes::mib(mib), segments: 1 };
        let mut spec = WorkloadSpec::new("w", target, geometry);
        (spec.tasks, spec.files.sharing, spec.files.keep) = (2, Sharing::PerTask, Keep::Never);
        change(&mut spec);
        Case::new(format!("{target} {mib}"), spec.validate().expect("valid"), vec![Phase::Write])
    }

    /// The most MiB on the one place that all targets are on, and the case; each case is in the block of its number.
    fn most(cases: &[(usize, Case)]) -> (u64, String) {
        let cases: Vec<CaseInBlock<'_>> =
            cases.iter().map(|(block, case)| (*block, case, 0..case.workload.tasks)).collect();
        let all = PresentFiles::of(&cases).most(|_: &Path| Ok::<_, ()>(())).expect("a place");
        let most = all.iter().rev().max_by_key(|(_, _, bytes, _)| *bytes);
        let (_, _, bytes, case) = most.expect("files");
        (bytes >> 20, case.id.clone())
    }

    #[test]
    fn files_of_cases_that_remove_their_own_are_not_added_up() {
        let [one, two] = [case("/nowhere/a", 200, |_| ()), case("/nowhere/b", 201, |_| ())];
        let both = [(0, one.clone()), (1, two.clone())];
        assert_eq!(most(&both), (402, "/nowhere/b 201".to_owned()));
        assert_eq!(most(&[(0, one.clone()), (0, two.clone())]).0, 802, "cases that take turns");
        let kept = case("/nowhere/a", 200, |spec| spec.files.keep = Keep::Always);
        assert_eq!(most(&[(0, kept), (1, two.clone())]).0, 802, "kept");
        assert_eq!(most(&[(0, one.clone()), (1, two), (2, one)]).0, 802, "needed again");
    }

    #[test]
    fn a_sweep_takes_the_space_of_its_largest_case() {
        let sweep = [(0, case("/nowhere/a", 10, |_| ())), (1, case("/nowhere/a", 30, |_| ()))];
        assert_eq!(most(&sweep), (60, "/nowhere/a 30".to_owned()));
    }
}
