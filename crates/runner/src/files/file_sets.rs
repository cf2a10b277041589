//! Determines which cases use which files. A sweep has thousands of cases and few sets of files, so
//! checks that only depend on the files are made once for each set.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use plan::{Case, Plan};

use crate::files::paths::{directory_of, paths, sets};
use crate::files::targets::{self, writes};
use crate::files::trees;

/// Key of the cases with the same files: first target, tasks, sets of files, whether the case writes, whether
/// it creates its trees itself.
type Key<'a> = (Option<&'a Path>, u32, u32, bool, bool);

/// The sets of files of some cases.
#[derive(Debug, Default)]
pub(crate) struct FileSets<'a> {
    all: Vec<FileSetUse<'a>>,
    by_key: HashMap<Key<'a>, Vec<usize>>,
    by_target: HashMap<&'a Path, Vec<usize>>,
}

/// One set of files.
#[derive(Debug)]
struct FileSetUse<'a> {
    /// The first case that uses it.
    case: &'a Case,
    /// The plan index of the last case that uses it.
    last: usize,
}

impl<'a> FileSets<'a> {
    /// The sets of files of `cases`, given in order with their plan indices.
    pub(crate) fn of(cases: impl IntoIterator<Item = (usize, &'a Case)>) -> Self {
        let mut file_sets = Self::default();
        for (index, case) in cases {
            file_sets.add(index, case);
        }
        file_sets
    }

    /// The sets of files of the cases of `plan` that use files.
    pub(crate) fn of_plan(plan: &'a Plan) -> Self {
        Self::of_unfinished(plan, &BTreeSet::new())
    }

    /// Like [`FileSets::of_plan`], without the `finished` cases.
    pub(crate) fn of_unfinished(plan: &'a Plan, finished: &BTreeSet<String>) -> Self {
        let uses_files = |case: &Case| case.workload.backend.moves_data() && !finished.contains(&case.id);
        Self::of(plan.cases.iter().enumerate().filter(|(_, case)| uses_files(case)))
    }

    fn add(&mut self, index: usize, case: &'a Case) {
        let files = &case.workload.files;
        let first = files.targets.first().map(PathBuf::as_path);
        let key = (first, case.workload.tasks, sets(case), writes(case), trees::makes(case));
        let alike = self.by_key.entry(key).or_default();
        // The placement of its tasks determines on which nodes its files are.
        let place = |case: &Case| (case.workload.nodes, case.workload.spread);
        let is_same = |known: &Case| {
            let (known_work, work) = (&known.workload.work, &case.workload.work);
            known.workload.files == *files && place(known) == place(case) && known_work == work
        };
        let known = alike.iter().find(|known| is_same(self.all[**known].case));
        if let Some(known) = known {
            self.all[*known].last = index;
            return;
        }
        let number = self.all.len();
        alike.push(number);
        for target in files.targets.iter().collect::<BTreeSet<_>>() {
            self.by_target.entry(target.as_path()).or_default().push(number);
        }
        self.all.push(FileSetUse { case, last: index });
    }

    /// One case for each set of files: the first that uses it.
    pub(crate) fn cases(&self) -> impl Iterator<Item = &'a Case> + '_ {
        self.all.iter().map(|one| one.case)
    }

    /// Those of the `roots` of trees of `case` that a case after `index` uses without recreating them.
    pub(crate) fn roots_needed_after(&self, index: usize, roots: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
        let later = self.all.iter().filter(|one| one.last > index && !trees::makes(one.case));
        let all: BTreeSet<PathBuf> = later.flat_map(|one| trees::roots(one.case)).collect();
        roots.intersection(&all).cloned().collect()
    }

    /// Those of the `files` of `case` that a case after `index` uses.
    pub(crate) fn needed_after(
        &self,
        index: usize,
        case: &Case,
        files: &BTreeSet<PathBuf>,
    ) -> BTreeSet<PathBuf> {
        let mut needed = BTreeSet::new();
        // Thousands of cases may use thousands of files each. All paths are made in the same way, so texts are compared.
        let mut rest: HashSet<&OsStr> = files.iter().map(|path| path.as_os_str()).collect();
        let targets = case.workload.files.targets.iter();
        let numbers: BTreeSet<usize> =
            targets.filter_map(|target| self.by_target.get(target.as_path())).flatten().copied().collect();
        for one in numbers.into_iter().map(|number| &self.all[number]).filter(|one| one.last > index) {
            if rest.is_empty() {
                break;
            }
            needed.extend(paths(one.case).into_iter().filter(|path| rest.remove(path.as_os_str())));
        }
        needed
    }
}

/// The real targets of all unfinished cases, without duplicates.
pub(crate) fn targets(plan: &Plan, finished: &BTreeSet<String>) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = Vec::new();
    for case in FileSets::of_unfinished(plan, finished).cases() {
        for target in &case.workload.files.targets {
            if !all.contains(target) {
                all.push(target.clone());
            }
        }
    }
    all
}

/// Every existing directory that gets a claim on what `plan` creates, including those next to a directory
/// that an earlier start has created for its trees.
pub(crate) fn directories(plan: &Plan) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = Vec::new();
    let file_sets = FileSets::of_plan(plan);
    let places = file_sets.cases().flat_map(|case| {
        let beside = case.workload.files.targets.iter().map(|target| directory_of(target));
        targets::directories(case).into_iter().chain(beside)
    });
    for directory in places {
        if !all.contains(&directory) && directory.is_dir() {
            all.push(directory);
        }
    }
    all
}

/// The unfinished cases of `plan`, in order.
pub(crate) fn unfinished<'a>(
    plan: &'a Plan,
    finished: &'a BTreeSet<String>,
) -> impl Iterator<Item = &'a Case> {
    plan.cases.iter().filter(|case| !finished.contains(&case.id))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    use plan::{Bytes, Case, Geometry, Phase, Sharing, WorkloadSpec};

    use super::FileSets;
    use crate::files::paths::paths;

    fn case(target: &str, tasks: u32, transfer: u64) -> Case {
        let geometry = Geometry { transfer: Bytes(transfer), block: Bytes::kib(64), segments: 1 };
        let mut spec = WorkloadSpec::new("w", target, geometry);
        (spec.tasks, spec.files.sharing) = (tasks, Sharing::PerTask);
        Case::new("c", spec.validate().expect("valid"), vec![Phase::Write])
    }

    #[test]
    fn a_sweep_over_sizes_has_one_set_of_files() {
        let cases = [case("a", 2, 4096), case("a", 2, 8192), case("b", 2, 4096), case("a", 4, 4096)];
        assert_eq!(FileSets::of(cases.iter().enumerate()).cases().count(), 3);
    }

    #[test]
    fn files_are_needed_until_their_last_case() {
        let cases = [case("a", 4, 4096), case("b", 4, 4096), case("a", 2, 8192)];
        let file_sets = FileSets::of(cases.iter().enumerate());
        let mine: BTreeSet<PathBuf> = paths(&cases[0]).into_iter().collect();
        assert_eq!(file_sets.needed_after(0, &cases[0], &mine), paths(&cases[2]).into_iter().collect());
        assert_eq!(file_sets.needed_after(2, &cases[2], &mine), BTreeSet::new());
    }
}
