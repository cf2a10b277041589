//! Trees: what exists in the file system after each phase, and the counters.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use engine::{PhaseOutcome, TransferLimit};
use plan::{
    Backend, Bytes, Nanos, Operation, Phase, Stonewall, Tree, TreePlacement, Work, Workload, WorkloadSpec,
};

use crate::bed::{Bed, run, run_with, spec, with};

/// The backends that support metadata operations.
pub(crate) const BACKENDS: [Backend; 3] = [
    Backend::Psync,
    Backend::Uring { depth: 1, required: true },
    Backend::Uring { depth: 8, required: true },
];

/// A workload of `tasks` tasks with `tree` in the existing directory `t` of the bed.
pub(crate) fn workload(bed: &Bed, backend: Backend, tasks: u32, tree: Tree) -> Workload {
    changed(bed, backend, tasks, tree, |_| {})
}

pub(crate) fn changed(
    bed: &Bed,
    backend: Backend,
    tasks: u32,
    tree: Tree,
    change: impl FnOnce(&mut WorkloadSpec),
) -> Workload {
    let target = bed.path("t");
    std::fs::create_dir_all(&target).expect("a target");
    with(&spec(target, 1, 1), |spec| {
        (spec.tasks, spec.backend, spec.work) = (tasks, backend, Work::Tree(tree));
        change(spec);
    })
}

/// All paths below `directory`, relative to it. Directories have a trailing slash.
pub(crate) fn walk(directory: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut left = vec![directory.to_owned()];
    while let Some(next) = left.pop() {
        for entry in std::fs::read_dir(&next).expect("a directory").flatten() {
            let path = entry.path();
            let name = path.strip_prefix(directory).expect("below").to_string_lossy().into_owned();
            if path.is_dir() {
                found.insert(name + "/");
                left.push(path);
            } else {
                found.insert(name);
            }
        }
    }
    found
}

/// The paths that must exist below the target, including all files and all directories if requested.
fn expected(workload: &Workload, files: bool, directories: bool) -> BTreeSet<String> {
    let placement = TreePlacement::new(workload).expect("a tree");
    let tree = placement.tree();
    let target = &workload.files.targets[0];
    let mut found = BTreeSet::new();
    let mut add = |path: PathBuf, end: &str| {
        let path = path.strip_prefix(target).expect("below").to_string_lossy().into_owned();
        if !path.is_empty() {
            found.insert(path + end);
        }
    };
    for owner in 0..workload.tasks {
        let root = placement.root(owner, 0);
        add(root.clone(), "/");
        for directory in 0..tree.directories() {
            add(root.join(placement.directory(owner, directory)), "/");
        }
        for item in 0..tree.items_per_task() {
            let directory = root.join(placement.directory(owner, tree.directory_of(item)));
            let item = tree.number_of(item);
            if files {
                add(directory.join(TreePlacement::file_name(owner, item)), "");
            }
            if directories {
                add(directory.join(TreePlacement::directory_name(owner, item)), "/");
            }
        }
    }
    found
}

pub(crate) fn total(outcome: &PhaseOutcome) -> u64 {
    outcome.latency.iter().map(|latency| latency.histogram.total()).sum()
}

/// Runs `phase` and checks that all counters agree with `items`.
pub(crate) fn counted(workload: &Workload, phase: Phase, operation: Operation, items: u64) -> PhaseOutcome {
    let outcome = run(workload, phase).expect("it runs");
    assert_eq!((outcome.items, total(&outcome)), (items, items), "{phase}");
    assert_eq!((outcome.reads, outcome.writes, outcome.surprises.count), (0, 0, 0), "{phase}");
    assert!(outcome.latency.iter().all(|latency| latency.operation == operation), "{phase}");
    let in_series: u64 = outcome.series.iter().map(|interval| interval.transfers).sum();
    let of_tasks: u64 = outcome.tasks.iter().map(|task| task.items).sum();
    assert_eq!((in_series, of_tasks), (items, items), "{phase}");
    assert_eq!(outcome.tasks.len(), workload.tasks as usize);
    assert!(outcome.wall_ns >= outcome.io_ns && !outcome.stopped);
    outcome
}

#[test]
fn after_each_phase_stands_exactly_what_it_says() {
    let shapes = [
        Tree { items_per_directory: 7, ..Tree::flat(0) },
        Tree { depth: 2, branching: 3, items_per_directory: 2, own_trees: true, ..Tree::flat(0) },
        Tree { depth: 2, branching: 2, leaf_only: true, items_per_directory: 3, ..Tree::flat(0) },
        Tree { depth: 1, branching: 2, own_trees: true, collective: true, ..Tree::flat(3) },
        Tree { shift: 1, random: Some(5), depth: 1, branching: 4, ..Tree::flat(5) },
        Tree { make_node: true, in_target: true, ..Tree::flat(5) },
        Tree { write_bytes: Bytes(700), read_bytes: Bytes(700), ..Tree::flat(5) },
    ];
    for (backend, tree) in BACKENDS.into_iter().flat_map(|b| shapes.iter().map(move |tree| (b, tree))) {
        let bed = Bed::new();
        let tasks = 3;
        let workload = workload(&bed, backend, tasks, tree.clone());
        let target = bed.path("t");
        let stands = |files, directories| {
            assert_eq!(walk(&target), expected(&workload, files, directories), "{tree:?}");
        };
        let trees = if tree.own_trees { u64::from(tasks) } else { 1 };
        let items = tree.items_per_task() * u64::from(tasks);
        let run = |phase, operation| counted(&workload, phase, operation, items);
        counted(&workload, Phase::TreeCreate, Operation::Create, trees * tree.directories());
        stands(false, false);
        run(Phase::DirectoryCreate, Operation::Create);
        stands(false, true);
        run(Phase::DirectoryStat, Operation::Stat);
        let lists = tree.used_directories().1 * u64::from(tasks);
        counted(&workload, Phase::DirectoryList, Operation::List, lists);
        run(Phase::DirectoryRename, Operation::Rename);
        stands(false, true);
        run(Phase::DirectoryRemove, Operation::Remove);
        stands(false, false);
        let written = run(Phase::FileCreate, Operation::Create);
        assert_eq!(written.write_bytes, items * tree.write_bytes.0);
        stands(true, false);
        run(Phase::FileWrite, Operation::Write);
        let looked = run(Phase::FileStat, Operation::Stat);
        assert!(looked.allocated_bytes.is_some_and(|bytes| bytes >= items * tree.write_bytes.0));
        run(Phase::FileRead, Operation::Read);
        run(Phase::FileRename, Operation::Rename);
        stands(true, false);
        let removed = run(Phase::FileRemove, Operation::Remove);
        assert_eq!(removed.allocated_bytes, None);
        stands(false, false);
        counted(&workload, Phase::TreeRemove, Operation::Remove, trees * tree.directories());
        assert!(walk(&target).is_empty(), "{tree:?}: the target stays, and nothing in it");
    }
}

#[test]
fn files_that_all_tasks_share_are_made_once_and_removed_by_one() {
    let bed = Bed::new();
    let tree = Tree { shared: true, sync_all: true, write_bytes: Bytes(10), ..Tree::flat(4) };
    let workload = workload(&bed, Backend::Psync, 3, tree);
    run(&workload, Phase::TreeCreate).expect("made");
    for (phase, operation, items) in [
        (Phase::FileCreate, Operation::Create, 12),
        (Phase::FileStat, Operation::Stat, 12),
        (Phase::FileRemove, Operation::Remove, 4),
    ] {
        let outcome = counted(&workload, phase, operation, items);
        assert_eq!(outcome.surprises.count, 0, "{phase}");
        let files = walk(&bed.path("t")).into_iter().filter(|name| !name.ends_with('/')).collect::<Vec<_>>();
        let left = if phase == Phase::FileRemove { 0 } else { 4 };
        assert_eq!(files.len(), left, "{phase}: {files:?}");
        assert!(files.iter().all(|name| name.contains("file.mdtest.shared.")), "{files:?}");
    }
}

#[test]
fn the_null_backend_counts_and_touches_nothing() {
    let bed = Bed::new();
    let workload = workload(&bed, Backend::Null, 2, Tree { depth: 1, branching: 2, ..Tree::flat(10) });
    counted(&workload, Phase::TreeCreate, Operation::Create, 3);
    counted(&workload, Phase::FileCreate, Operation::Create, 60);
    assert!(walk(&bed.path("t")).is_empty());
}

#[test]
fn what_is_read_is_what_was_written() {
    for (backend, bytes) in
        BACKENDS.into_iter().flat_map(|b| [1, 31, 3901, 32 << 10, 3 << 19].map(|n| (b, n)))
    {
        let bed = Bed::new();
        let tree = Tree {
            write_bytes: Bytes(bytes),
            read_bytes: Bytes(bytes),
            sync: true,
            shift: 1,
            ..Tree::flat(4)
        };
        let workload = changed(&bed, backend, 2, tree, |spec| spec.verify = true);
        for phase in [Phase::TreeCreate, Phase::FileCreate] {
            run(&workload, phase).expect("made");
        }
        let read = counted(&workload, Phase::FileRead, Operation::Read, 8);
        assert_eq!((read.read_bytes, read.mismatches.wrong_cells), (8 * bytes, 0), "{bytes}");
        assert_eq!(read.mismatches.checked_cells, 8 * bytes.div_ceil(512));
        // Swap two files. A file that is too short for a stamp does not show which item it belongs to.
        let placement = TreePlacement::new(&workload).expect("a tree");
        let directory = placement.root(0, 0).join(placement.directory(0, 0));
        let [one, two] =
            [(0, 3), (1, 2)].map(|(owner, item)| directory.join(TreePlacement::file_name(owner, item)));
        std::fs::rename(&one, directory.join("x")).expect("renamed");
        std::fs::rename(&two, &one).expect("renamed");
        std::fs::rename(directory.join("x"), &two).expect("renamed");
        let read = run(&workload, Phase::FileRead).expect("read");
        let stamped = bytes.div_ceil(512) - u64::from(!bytes.is_multiple_of(512) && bytes % 512 < 32);
        assert_eq!(read.mismatches.wrong_cells, 2 * stamped, "{bytes}");
        let named: BTreeSet<_> = read.mismatches.first.iter().map(|mismatch| mismatch.path.clone()).collect();
        if stamped > 0 {
            assert!(named.contains(&one), "{named:?}");
            let quits = with(&workload, |spec| spec.quit_on_error = true);
            let error = run(&quits, Phase::FileRead).expect_err("wrong data").to_string();
            assert!(error.contains("misplaced") && error.contains("file.mdtest."), "{error}");
        }
    }
}

#[test]
fn what_files_hold_goes_with_them_when_they_are_renamed() {
    for (backend, items) in BACKENDS.into_iter().flat_map(|b| [1, 2, 3, 7].map(|n| (b, n))) {
        let bed = Bed::new();
        let tree = Tree { write_bytes: Bytes(700), read_bytes: Bytes(700), depth: 1, ..Tree::flat(items) };
        let workload = changed(&bed, backend, 2, tree, |spec| spec.verify = true);
        for phase in [Phase::TreeCreate, Phase::FileCreate] {
            run(&workload, phase).expect("made");
        }
        let before = walk(&bed.path("t"));
        for turns in 1..4 {
            run(&workload, Phase::FileRename).expect("renamed");
            assert_eq!(walk(&bed.path("t")), before, "the names at the end are those of the beginning");
            let read = run_with(&workload, Phase::FileRead, |job| job.renamings = turns).expect("read");
            assert_eq!((read.mismatches.checked_cells, read.mismatches.wrong_cells), (8 * items, 0));
        }
        if items == 7 {
            let read = run(&workload, Phase::FileRead).expect("read");
            assert!(read.mismatches.wrong_cells > 0, "the files have moved");
        }
        // A file that is written again keeps its position in the ring.
        run_with(&workload, Phase::FileWrite, |job| job.renamings = 3).expect("written");
        let read = run_with(&workload, Phase::FileRead, |job| job.renamings = 3).expect("read");
        assert_eq!(read.mismatches.wrong_cells, 0);
    }
}

#[test]
fn a_shift_moves_each_phase_to_items_of_another_task() {
    for backend in BACKENDS {
        let bed = Bed::new();
        let tree = Tree { own_trees: true, shift: 1, ..Tree::flat(3) };
        let workload = workload(&bed, backend, 4, tree);
        let one =
            |phase, task: u32| run_with(&workload, phase, |job| job.tasks = task..task + 1).expect("it runs");
        run(&workload, Phase::TreeCreate).expect("made");
        run(&workload, Phase::FileCreate).expect("made");
        one(Phase::FileRemove, 0);
        let left = walk(&bed.path("t"));
        let of =
            |owner: u32| left.iter().filter(|name| name.contains(&format!("file.mdtest.{owner}."))).count();
        assert_eq!([of(0), of(1), of(2), of(3)], [3, 3, 3, 0], "task 0 removes those of task 3");
        let seen = one(Phase::FileStat, 2);
        assert_eq!((seen.items, seen.surprises.count), (0, 3), "task 2 looks at those of task 3");
        assert_eq!(seen.tasks[0].task, 2);
    }
}

#[test]
fn a_stonewall_ends_the_making_and_the_limit_holds_later() {
    for (backend, wear_out) in BACKENDS.into_iter().flat_map(|b| [false, true].map(|wear_out| (b, wear_out)))
    {
        let bed = Bed::new();
        let workload = changed(&bed, backend, 2, Tree::flat(u64::from(u32::MAX)), |spec| {
            spec.stonewall = Some(Stonewall { deadline: Nanos(30_000_000), wear_out });
        });
        run(&workload, Phase::TreeCreate).expect("made");
        let made = run(&workload, Phase::FileCreate).expect("made");
        let wall = made.stonewall.expect("it fell");
        let counts: Vec<u64> = made.tasks.iter().map(|task| task.items).collect();
        assert!(counts.iter().all(|&count| count > 0 && count < u64::from(u32::MAX)));
        let limit = match wall.worn_out_transfers {
            Some(most) => {
                assert_eq!(counts, [most, most]);
                TransferLimit::Exactly(most)
            }
            None => TransferLimit::PerTask(&counts),
        };
        assert_eq!(wall.worn_out_transfers.is_some(), wear_out);
        for phase in [Phase::FileStat, Phase::FileRead, Phase::FileRemove] {
            let outcome = run_with(&workload, phase, |job| job.limit = limit).expect("it runs");
            assert_eq!(outcome.items, counts.iter().sum::<u64>());
            assert_eq!((outcome.surprises.count, outcome.stonewall), (0, None));
        }
        counted(&workload, Phase::TreeRemove, Operation::Remove, 1);
        assert!(walk(&bed.path("t")).is_empty());
    }
}
