//! Studies of work other than transfers: trees, objects, requests.
#![expect(clippy::unwrap_used, reason = "a study that cannot be read fails the test")]

use crate::common::{RIGHT, shown, study};
use plan::{Backend, Bytes, Existing, Keep, Pattern, Phase, Tree, Work, WorkKind};

const TARGET: &str = "[[target]]\nname = \"disk\"\ndirectory = \"/mnt/disk\"\n\n[[workload]]\nname = \"w\"\n";

fn plan(keys: &str) -> plan::Plan {
    study(&format!("{TARGET}{keys}")).unwrap_or_else(|errors| panic!("{}", shown(&errors)))
}

fn refused(keys: &str) -> String {
    shown(&study(&format!("{TARGET}{keys}")).unwrap_err())
}

#[test]
fn a_tree_is_what_its_keys_say() {
    let plan = plan(
        "work = \"tree\"\nlevels = 2\nbranching = 3\nleaf_only = true\nitems_per_directory = 10\nown_trees = true\n\
         file_bytes = \"32KiB\"\nread_bytes = 4096\nshift = 1\nrandom = true\ncollective = true\ntasks = 4\n\
         fsync = \"close\"\nstonewall = \"30s\"\nwear_out = true\nkeep = \"always\"\nexisting = \"reuse\"\n\
         verify = true\nbarriers = true\nfile_per_repetition = true\nhistory = 1000\n",
    );
    let case = &plan.cases[0];
    let Work::Tree(tree) = &case.workload.work else { panic!("{:?}", case.workload.work) };
    let expected = Tree {
        depth: 2,
        branching: 3,
        leaf_only: true,
        own_trees: true,
        write_bytes: Bytes::kib(32),
        read_bytes: Bytes(4096),
        sync: true,
        shift: 1,
        random: tree.random,
        collective: true,
        ..Tree::flat(10)
    };
    assert_eq!(*tree, expected);
    assert!(tree.random.is_some());
    let phases = ["tree-create", "file-create", "file-stat", "file-read", "file-remove", "tree-remove"];
    assert_eq!(case.phases.iter().map(|phase| phase.name()).collect::<Vec<_>>(), phases);
    let files = &case.workload.files;
    assert_eq!(files.targets, [std::path::Path::new("/mnt/disk")], "the directory itself");
    assert_eq!(
        (files.keep, files.existing, files.file_per_repetition),
        (Keep::Always, Existing::Reuse, true)
    );
    assert_eq!(
        (case.workload.history, case.workload.verify, case.workload.barriers),
        (Some(1000), true, true)
    );
    assert!(case.workload.stonewall.is_some_and(|stonewall| stonewall.wear_out));
}

#[test]
fn keys_of_a_tree_are_swept() {
    let plan = plan(
        "work = \"tree\"\nphases = [\"tree-create\", \"file-create\", \"tree-remove\"]\nown_trees = [false, true]\n\
         tasks = [1, 2]\nitems_per_directory = [100, 1000]\nfile_bytes = [0, \"4KiB\"]\nbackend = \"uring\"\n\
         depth = [1, 16]\nkeep = \"never\"\n",
    );
    assert_eq!(plan.cases.len(), 32);
    let last = &plan.cases[31];
    assert_eq!(last.id, "w:own_trees=true:tasks=2:items_per_directory=1000:file_bytes=4KiB:depth=16");
    assert_eq!(last.workload.backend, Backend::Uring { depth: 16, required: true });
    assert_eq!(last.workload.operations_of(Phase::FileCreate), Some(2000));
    assert_eq!(last.workload.footprint(), Bytes(2000 * 4096));
}

#[test]
fn objects_are_what_their_keys_say() {
    let plan = plan(
        "work = \"objects\"\ntasks = 3\nsets = 2\nprecreated = 100\nsteps = [10, 20]\nobject_bytes = 3901\noffset = 2\n\
         waiting_percent = 50\nread_only = true\nno_stat = true\n",
    );
    assert_eq!(plan.cases.len(), 2);
    let case = &plan.cases[1];
    assert_eq!(case.phases, [Phase::Precreate, Phase::Benchmark, Phase::Cleanup]);
    let Work::Objects(objects) = &case.workload.work else { panic!("{:?}", case.workload.work) };
    assert_eq!((objects.sets, objects.precreated, objects.steps, objects.offset), (2, 100, 20, 2));
    assert_eq!((objects.waiting_ppm, objects.read_only, objects.no_stat), (500_000, true, true));
}

#[test]
fn requests_need_no_target() {
    let text = "[[workload]]\nname = \"net\"\nwork = \"rpc\"\nprocesses = 4\npattern = \"all-to-all\"\nconnections = [1, 2]\nverify = true\n\
                request_bytes = 1\nresponse_bytes = \"64KiB\"\nthreads = 2\nduration = \"1s\"\n\
                client_processors = \"0-1\"\n";
    let plan = study(text).unwrap_or_else(|errors| panic!("{}", shown(&errors)));
    let case = &plan.cases[1];
    let Work::Rpc(rpc) = &case.workload.work else { panic!("{:?}", case.workload.work) };
    assert_eq!((rpc.pattern, rpc.ends, rpc.connections, rpc.threads), (Pattern::AllToAll, 4, 2, 2));
    assert_eq!((case.workload.tasks, case.phases.as_slice()), (24, &[Phase::Exchange][..]));
    assert!(case.workload.verify && case.workload.files.targets.is_empty());
    let wrong = study(&text.replace("0-1", "first")).unwrap_err();
    assert!(shown(&wrong).contains("`first` is not a processor"), "{}", shown(&wrong));
}

#[test]
fn keys_of_other_work_are_refused_at_their_place() {
    insta::assert_snapshot!(refused(
        "work = \"tree\"\nitems_per_directory = 10\ntransfer = \"4KiB\"\nsets = 2\n"
    ));
}

#[test]
fn every_mistake_names_its_key() {
    let tree = "work = \"tree\"\nitems_per_directory = 10\n";
    for (keys, words) in [
        ("work = \"tree\"\n".to_owned(), "has no `items_per_directory`"),
        ("work = \"objects\"\nsteps = 1\n".to_owned(), "has no `precreated`"),
        ("levels = 2\ntransfer = \"4KiB\"\nsize = \"4KiB\"\n".to_owned(), "work = \"tree\""),
        (format!("{tree}phases = [\"write\"]\n"), "has no phase \"write\""),
        (
            "phases = [\"file-stat\"]\ntransfer = \"4KiB\"\nsize = \"4KiB\"\n".to_owned(),
            "write work = \"tree\"",
        ),
        (format!("{tree}branching = 4\n"), "it needs `levels`"),
        (format!("{tree}levels = 200\n"), "from 0 to 128"),
        (format!("{tree}levels = 100\nbranching = 100\n"), "lower the levels"),
        (format!("{tree}file_bytes = \"2GiB\"\n"), "is too large"),
        (format!("{tree}read_bytes = 10\n"), "read at most as many bytes"),
        (format!("{tree}fsync = \"each\"\n"), "fsync = \"close\""),
        (format!("{tree}make_node = true\nfile_bytes = 1\n"), "leave make_node out"),
        (format!("{tree}random = true\nphases = [\"tree-create\"]\n"), "a phase that stats items"),
        (format!("{tree}backend = \"mmap\"\n"), "created with system calls"),
        (format!("{tree}duration = \"1s\"\n"), "leave it out where work = \"tree\""),
        (
            "work = \"objects\"\nprecreated = 1\nsteps = 1\noffset = 1\n".to_owned(),
            "it needs more than one task",
        ),
        ("work = \"rpc\"\nprocesses = 3\n".to_owned(), "an even number"),
        ("work = \"rpc\"\ntasks = 3\n".to_owned(), "leave it out where work = \"rpc\""),
        ("work = \"rpc\"\nhistory = 10\n".to_owned(), "leave it out where work = \"rpc\""),
    ] {
        let said = refused(&keys).split_whitespace().collect::<Vec<_>>().join(" ").replace("│ ", "");
        assert!(said.contains(words), "{keys}: {said}");
    }
    let said = shown(&study(&format!("{RIGHT}levels = 2\n")).unwrap_err());
    assert!(said.contains("it applies to the files and directories of a tree"), "{said}");
    let device = "[[target]]\nname = \"disk\"\ndevice = \"/dev/sdx\"\n[[workload]]\nname = \"w\"\n";
    let said = shown(&study(&format!("{device}{tree}")).unwrap_err());
    assert!(said.contains("create a file system on it"), "{said}");
}

#[test]
fn tasks_of_one_tree_need_its_directories_once() {
    let shared = Tree { depth: 1, branching: 2, ..Tree::flat(10) };
    let own = Tree { own_trees: true, ..shared.clone() };
    let needed = |tree: &Tree, phases: &[Phase]| {
        let names = tree.names_needed(phases, 3);
        (names.files, names.directories)
    };
    let files = 3 * shared.items_per_task();
    assert_eq!(needed(&shared, &[Phase::FileCreate]), (files, 3));
    assert_eq!(needed(&own, &[Phase::FileCreate]), (files, 9));
    assert_eq!(needed(&own, &[Phase::FileRead]), (0, 9), "the tree itself is there all the same");
}
