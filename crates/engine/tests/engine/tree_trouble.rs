//! Trees: concurrent changes by others, and errors that end a phase.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use engine::{EngineError, Exhausted, Surprises};
use plan::{Backend, Bytes, Phase, Tree, TreePlacement, Workload};

use crate::bed::{Bed, Mounted, child, has, is_root, output, run, sh, skip, spec, text, with};
use crate::tree::{BACKENDS, total, walk, workload};

/// The directory that contains the items of a flat tree.
fn directory(workload: &Workload) -> std::path::PathBuf {
    let placement = TreePlacement::new(workload).expect("a tree");
    placement.root(0, 0).join(placement.directory(0, 0))
}

fn made(bed: &Bed, backend: Backend, tasks: u32, tree: Tree) -> Workload {
    let workload = workload(bed, backend, tasks, tree);
    for phase in [Phase::TreeCreate, Phase::FileCreate] {
        run(&workload, phase).expect("made");
    }
    workload
}

#[test]
fn missing_files_are_counted_and_named_and_the_rest_goes_on() {
    for backend in BACKENDS {
        let bed = Bed::new();
        let workload = made(
            &bed,
            backend,
            2,
            Tree { write_bytes: Bytes(5000), read_bytes: Bytes(5000), ..Tree::flat(50) },
        );
        let directory = directory(&workload);
        for item in [3, 7, 49] {
            fs::remove_file(directory.join(TreePlacement::file_name(1, item))).expect("removed");
        }
        fs::write(directory.join(TreePlacement::file_name(0, 1)), "short").expect("cut");
        for phase in [Phase::FileWrite, Phase::FileRead, Phase::FileStat] {
            if phase == Phase::FileRead {
                fs::write(directory.join(TreePlacement::file_name(0, 1)), "short").expect("cut");
            }
            let outcome = run(&workload, phase).expect("it goes on");
            let short = u64::from(phase == Phase::FileRead);
            assert_eq!((outcome.items, outcome.surprises.count), (97 - short, 3 + short), "{phase}");
            assert_eq!(total(&outcome), outcome.items);
            let first = outcome.surprises.first.join("\n");
            assert!(first.contains("/file.mdtest.1.49: does not exist"), "{first}");
            let words = "/file.mdtest.0.1: has only 5 of the 5000 bytes that were written";
            assert_eq!(first.contains(words), phase == Phase::FileRead, "{first}");
        }
    }
}

#[test]
fn whatever_else_is_found_there_is_a_surprise_and_stays() {
    for backend in BACKENDS {
        let bed = Bed::new();
        let workload = made(&bed, backend, 1, Tree::flat(5));
        let again = run(&workload, Phase::FileCreate).expect("it goes on");
        assert_eq!((again.items, again.surprises.count), (5, 0), "as mdtest, it opens what is there");
        let again = run(&workload, Phase::TreeCreate).expect("it goes on");
        assert_eq!((again.items, again.surprises.count), (0, 1));
        run(&workload, Phase::DirectoryCreate).expect("made");
        let directory = directory(&workload);
        let item = directory.join(TreePlacement::directory_name(0, 2));
        fs::write(item.join("foreign"), "").expect("written");
        let removed = run(&workload, Phase::DirectoryRemove).expect("it goes on");
        assert_eq!((removed.items, removed.surprises.count), (4, 1));
        let words = &removed.surprises.first[0];
        assert!(words.ends_with("/dir.mdtest.0.2: contains foreign, which does not belong there"), "{words}");
        run(&workload, Phase::FileRemove).expect("removed");
        let removed = run(&workload, Phase::TreeRemove).expect("it goes on");
        assert_eq!((removed.items, removed.surprises.count), (0, 2), "the tree, and its root");
        assert!(item.join("foreign").exists());
    }
}

#[test]
fn many_surprises_are_counted_and_the_first_are_named() {
    for backend in BACKENDS {
        let bed = Bed::new();
        let workload = made(&bed, backend, 2, Tree { depth: 1, branching: 2, ..Tree::flat(40) });
        let placement = TreePlacement::new(&workload).expect("a tree");
        fs::remove_dir_all(placement.root(0, 0).join(placement.directory(0, 1))).expect("removed");
        let looked = run(&workload, Phase::FileStat).expect("it goes on");
        assert_eq!((looked.items, looked.surprises.count), (160, 80));
        assert_eq!(looked.surprises.first.len(), Surprises::DESCRIBED);
    }
}

#[test]
fn without_a_tree_there_is_no_phase() {
    for (backend, phase) in
        BACKENDS.into_iter().flat_map(|b| [Phase::FileCreate, Phase::FileStat].map(|p| (b, p)))
    {
        let bed = Bed::new();
        let workload = workload(&bed, backend, 2, Tree::flat(5));
        let error = run(&workload, phase).expect_err("nothing is there");
        assert!(matches!(error, EngineError::NoTree { .. }), "{error}");
        assert!(error.to_string().contains("create the tree first"), "{error}");
        fs::remove_dir(bed.path("t")).expect("removed");
        let error = run(&workload, Phase::TreeCreate).expect_err("no target").to_string();
        assert!(
            error.contains("/t/test-dir.0-0: no such file or directory (ENOENT); create the directory"),
            "{error}"
        );
    }
}

#[test]
fn what_the_file_system_refuses_says_what_to_do() {
    if !has("strace") {
        return skip("needs strace");
    }
    let bed = Bed::new();
    let words = [
        ("mkdirat", "ENAMETOOLONG", "file name too long (ENAMETOOLONG); shorten the path of the target"),
        ("mkdirat", "EMLINK", "too many links (EMLINK); a directory of this file system cannot contain more"),
        ("openat", "EDQUOT", "disk quota exceeded (EDQUOT); raise the quota of space or files"),
        ("unlinkat", "EIO", "input/output error (EIO); the device or its file system reports an error"),
    ];
    for (call, errno, expected) in words {
        fs::create_dir_all(bed.path("t")).expect("a target");
        let target = bed.path("t").display().to_string();
        // Fails at the third item.
        let inject = format!("inject={call}:error={errno}:when=1");
        let [directory, file] =
            ["dir", "file"].map(|kind| format!("-P{target}/test-dir.0-0/mdtest_tree.0/{kind}.mdtest.0.2"));
        let before = ["strace", "-f", "-qq", "-o", "/dev/null", &directory, &file, "-e", &inject];
        let words = format!("tree psync {target} count=5 phases=directory-create,file-create,file-remove");
        let printed = text(&output(&mut child(&before, &words)));
        if printed.contains("ptrace") {
            return skip("strace may not trace here");
        }
        assert!(printed.contains("cannot ") && printed.contains(expected), "{printed}");
        fs::remove_dir_all(bed.path("t")).expect("removed");
    }
}

#[test]
fn a_full_file_system_says_of_what_it_has_no_more() {
    if !is_root() {
        return skip("needs root to mount a tmpfs");
    }
    for backend in BACKENDS {
        let bed = Bed::new();
        let Some(mounted) = Mounted::tmpfs(bed.path("full"), 4 << 20) else {
            return skip("may not mount a tmpfs");
        };
        let at = mounted.at().to_str().expect("a plain path").to_owned();
        let tree = |items, bytes| Tree { write_bytes: Bytes(bytes), ..Tree::flat(items) };
        let on = |tree| {
            with(&spec(at.clone().into(), 1, 1), |spec| {
                (spec.tasks, spec.backend, spec.work) = (2, backend, plan::Work::Tree(tree));
            })
        };
        let workload = on(tree(1000, 32 << 10));
        run(&workload, Phase::TreeCreate).expect("made");
        let error = run(&workload, Phase::FileCreate).expect_err("full");
        let EngineError::Item { exhausted: Some(Exhausted::Space { .. }), .. } = error else {
            panic!("{error:?}")
        };
        assert!(
            error.to_string().contains("(ENOSPC): all 4 MiB of the file system are in use; free"),
            "{error}"
        );
        fs::remove_dir_all(directory(&workload)).expect("removed");
        assert!(sh("mount", &["-o", "remount,nr_inodes=50", &at]));
        let workload = on(tree(100, 0));
        run(&workload, Phase::TreeCreate).expect("made");
        let error = run(&workload, Phase::FileCreate).expect_err("full");
        let EngineError::Item { exhausted: Some(Exhausted::Inodes { all: 50 }), .. } = error else {
            panic!("{error:?}")
        };
        assert!(error.to_string().contains("all 50 inodes"), "{error}");
    }
}

#[test]
fn a_directory_without_the_right_is_named() {
    if is_root() {
        // Root can write everywhere except on read-only mounts.
        let bed = Bed::new();
        let workload = made(&bed, Backend::Psync, 1, Tree::flat(5));
        let target = bed.path("t");
        let target = target.to_str().expect("a plain path");
        if !sh("mount", &["--bind", target, target]) {
            return skip("may not mount");
        }
        let read_only = sh("mount", &["-o", "remount,bind,ro", target]);
        let error = run(&workload, Phase::FileRemove);
        assert!(sh("umount", &[target]));
        assert!(read_only);
        let error = error.expect_err("read-only").to_string();
        assert!(error.contains("cannot remove") && error.contains("(EROFS)"), "{error}");
        assert_eq!(walk(&bed.path("t")).len(), 7);
        return;
    }
    let bed = Bed::new();
    let workload = workload(&bed, Backend::Psync, 1, Tree::flat(5));
    run(&workload, Phase::TreeCreate).expect("made");
    fs::set_permissions(directory(&workload), fs::Permissions::from_mode(0o555)).expect("changed");
    let error = run(&workload, Phase::FileCreate).expect_err("no right").to_string();
    assert!(error.contains("cannot create") && error.contains("(EACCES)"), "{error}");
}
