//! Every error is identified, and its message suggests the next step.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use engine::{EngineError, UringUnavailable};
use plan::{Backend, Phase, Sharing, WorkloadSpec};

use crate::bed::{
    BACKENDS, Bed, Mounted, child, has, is_root, output, run, run_with, skip, spec, text, with,
};

fn message(spec: &WorkloadSpec, phase: Phase, backend: Backend) -> String {
    let workload = with(spec, |spec| spec.backend = backend);
    run(&workload, phase).expect_err("it cannot work").to_string()
}

#[test]
fn a_missing_file_or_directory_is_named() {
    let bed = Bed::new();
    for backend in BACKENDS {
        let read = message(&bed.spec("nothing", 4096, 1), Phase::Read, backend);
        assert!(read.contains("nothing for reading: no such file or directory (ENOENT)"), "{read}");
        let write = message(&bed.spec("no/where/file", 4096, 1), Phase::Write, backend);
        assert!(
            write.contains("no/where/file for writing") && write.contains("create the directory"),
            "{write}"
        );
    }
}

#[test]
fn a_file_that_is_too_short_is_named_with_the_place() {
    let bed = Bed::new();
    fs::write(bed.path("file"), vec![1; 10_000]).expect("written");
    for backend in BACKENDS {
        match run(&with(&bed.spec("file", 4096, 4), |spec| spec.backend = backend), Phase::Read) {
            Err(EngineError::FileTooShort { offset, asked, file_bytes, .. }) => {
                assert!(offset == 8192 || offset == 12_288, "{offset}");
                assert_eq!((asked, file_bytes), (4096, 10_000));
            }
            other => panic!("{backend:?}: {other:?}"),
        }
    }
}

#[test]
fn direct_io_that_the_file_system_does_not_do_is_refused_with_a_way_out() {
    // Files on the kernel's pseudo file systems do not support direct I/O.
    for backend in [Backend::Psync, Backend::Uring { depth: 1, required: true }, Backend::Libaio { depth: 1 }]
    {
        let workload = with(&spec("/proc/version".into(), 4096, 1), |spec| {
            spec.direct = true;
            spec.backend = backend;
        });
        let error = run(&workload, Phase::Read).expect_err("refused");
        assert!(matches!(error, EngineError::DirectUnsupported { .. }), "{error}");
        assert!(
            error.to_string().contains("does not support direct I/O (O_DIRECT); leave direct I/O off"),
            "{error}"
        );
    }
}

#[test]
fn direct_transfers_that_do_not_fit_the_sectors_are_refused_with_a_size_that_would() {
    if !is_root() || !has("losetup") || !has("mkfs.ext4") {
        return skip("needs root, losetup and mkfs.ext4");
    }
    let bed = Bed::new();
    let Some(mounted) = Mounted::ext4(bed.path("mnt"), &bed.path("image"), 64 << 20, 4096) else {
        return skip("no loop device with sectors of 4096 bytes can be had");
    };
    let file = mounted.at().join("file");
    for existing in [false, true] {
        let error = run(&with(&spec(file.clone(), 512, 8), |spec| spec.direct = true), Phase::Write);
        match error {
            Err(EngineError::DirectAlignment { needed, suggestion, .. }) => {
                assert_eq!((needed.0, suggestion.0), (4096, 4096));
            }
            other => panic!("{other:?}"),
        }
        if !existing {
            for backend in
                [Backend::Psync, Backend::Uring { depth: 4, required: true }, Backend::Libaio { depth: 4 }]
            {
                let workload = with(&spec(file.clone(), 4096, 8), |spec| {
                    spec.direct = true;
                    spec.backend = backend;
                });
                assert_eq!(run(&workload, Phase::Write).expect("written").writes, 8);
                assert_eq!(run(&workload, Phase::CheckWrite).expect("checked").mismatches.wrong_cells, 0);
            }
        }
    }
}

#[test]
fn a_full_file_system_is_named() {
    if !is_root() {
        return skip("needs root to mount a small tmpfs");
    }
    let bed = Bed::new();
    let Some(mounted) = Mounted::tmpfs(bed.path("mnt"), 1 << 20) else {
        return skip("tmpfs cannot be mounted here");
    };
    let file = mounted.at().join("file");
    for backend in BACKENDS {
        for fsync in [false, true] {
            // The transfer size does not divide the free space, so one transfer is short before the error.
            let workload = with(&spec(file.clone(), 48_000, 100), |spec| {
                spec.backend = backend;
                spec.sync.per_write = fsync;
            });
            let error = run(&workload, Phase::Write).expect_err("there is no space");
            let text = error.to_string();
            assert!(
                text.contains("no space left on device (ENOSPC); free some space"),
                "{backend:?}: {text}"
            );
            if backend == Backend::Mmap {
                assert!(text.contains("posix_fallocate"), "{text}");
            } else if backend == Backend::Stdio && fsync {
                // The stream has buffered the bytes. The lack of space is only noticed when it flushes them.
                assert!(text.contains("fsync failed"), "{text}");
            } else {
                assert!(text.contains("write of 48000 bytes at offset"), "{text}");
            }
            fs::remove_file(&file).expect("removable: nothing holds it");
        }
    }
}

#[test]
fn preallocation_takes_the_space_first() {
    let bed = Bed::new();
    for sharing in [Sharing::Shared, Sharing::PerTask] {
        let workload = with(&bed.spec("file", 4096, 16), |spec| {
            spec.tasks = 2;
            spec.files.sharing = sharing;
            spec.files.preallocate = true;
            spec.transfer_limit = Some(1);
        });
        run(&workload, Phase::Write).expect("written");
        let (name, bytes) =
            if sharing == Sharing::Shared { ("file", 131_072) } else { ("file.00000001", 65_536) };
        assert_eq!(fs::metadata(bed.path(name)).expect("there").len(), bytes);
    }
}

#[test]
fn limits_are_raised_or_named() {
    if !is_root() || !has("setpriv") || !has("prlimit") {
        return skip("needs root, setpriv and prlimit");
    }
    let bed = Bed::new();
    let words = |rest: &str| format!("write {rest} {} count=1 tasks=200 pertask", bed.path("file").display());
    let within = ["prlimit", "--nofile=64:4096"];
    let raised = text(&output(&mut child(&within, &words("psync"))));
    assert!(raised.contains("200 transfers"), "{raised}");
    // Runs without the capability to raise hard limits.
    let weak =
        ["setpriv", "--bounding-set=-sys_resource,-ipc_lock", "--inh-caps=-all", "prlimit", "--nofile=64:64"];
    let refused = text(&output(&mut child(&weak, &words("psync"))));
    assert!(
        refused.contains("the limit on open files (RLIMIT_NOFILE) is 64, but this plan needs 2"),
        "{refused}"
    );
    assert!(refused.contains("ulimit -n"), "{refused}");
    let weak = [
        "setpriv",
        "--bounding-set=-sys_resource,-ipc_lock",
        "--inh-caps=-all",
        "prlimit",
        "--memlock=65536:65536",
    ];
    let words = |rest: &str| {
        format!("write uring {} count=64 transfer=1048576 depth=8 {rest}", bed.path("one").display())
    };
    let refused = text(&output(&mut child(&weak, &words(""))));
    assert!(
        // Eight buffers of 1 MiB, and two pages for a ring of eight entries.
        refused.contains("locked memory in bytes (RLIMIT_MEMLOCK) is 65536, but this plan needs 8396800"),
        "{refused}"
    );
    assert!(refused.contains("ulimit -l 8200"), "{refused}");
    let plain = text(&output(&mut child(&weak, &words("optional"))));
    assert!(
        plain.contains("64 transfers") && plain.contains("fewer than half of its buffers registered"),
        "{plain}"
    );
}

#[test]
fn buffers_of_exactly_the_limit_are_registered_but_for_the_last() {
    if !is_root() || !has("setpriv") || !has("prlimit") {
        return skip("needs root, setpriv and prlimit");
    }
    let bed = Bed::new();
    // What is locked counts for all processes of a user, so this one has no others.
    let user = ["setpriv", "--reuid=61234", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"];
    let words =
        |work: &str| format!("{work} uring {} count=64 transfer=524288 depth=8", bed.path("one").display());
    fs::set_permissions(bed.path("."), fs::Permissions::from_mode(0o777)).expect("our own");
    // Eight buffers of 512 KiB alone, and with the two pages of their ring.
    for limit in ["4194304", "4202496"] {
        let memlock = format!("--memlock={limit}:{limit}");
        let weak = [&["prlimit", &*memlock], &user[..]].concat();
        for work in ["write", "read"] {
            let printed = text(&output(&mut child(&weak, &words(work))));
            assert!(printed.contains("64 transfers") && !printed.contains("registered"), "{limit} {printed}");
        }
    }
}

#[test]
fn io_uring_says_why_it_cannot_be_had() {
    if !has("strace") {
        return skip("needs strace");
    }
    let bed = Bed::new();
    let words = format!("write uring {} count=4", bed.path("file").display());
    for (errno, says) in [("ENOSYS", "this kernel does not have it (ENOSYS)"), ("EPERM", "a seccomp filter")]
    {
        let inject = format!("inject=io_uring_setup:error={errno}");
        let printed =
            text(&output(&mut child(&["strace", "-f", "-qq", "-o", "/dev/null", "-e", &inject], &words)));
        if printed.contains("ptrace") {
            return skip("strace may not trace here");
        }
        assert!(printed.contains("io_uring cannot be used") && printed.contains(says), "{printed}");
    }
    // Simulates an older kernel that rejects the newest mode. The engine falls back to the next one and reports it.
    let inject =
        ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=io_uring_setup:error=EINVAL:when=2"];
    let printed = text(&output(&mut child(&inject, &words)));
    assert!(printed.contains("4 transfers") && printed.contains("without SINGLE_ISSUER"), "{printed}");
    if let Err(why) = engine::uring_available() {
        assert!(!matches!(why, UringUnavailable::Other(_)), "{why}");
    }
}

/// A file in a directory of another user, who replaces it by something else after the run has claimed it.
#[test]
fn what_has_appeared_under_the_name_of_a_file_is_not_written() {
    let bed = Bed::new();
    let (victim, planted) = (bed.path("victim"), bed.path("planted"));
    let spec = WorkloadSpec { tasks: 2, ..bed.spec("planted", 4096, 4) };
    let new_files = BTreeSet::from([planted.clone()]);
    let plant: [fn(&Path, &Path); 2] = [
        |victim, planted| std::os::unix::fs::symlink(victim, planted).expect("a link"),
        |victim, planted| fs::hard_link(victim, planted).expect("a second name"),
    ];
    for (backend, plant) in BACKENDS.into_iter().flat_map(|backend| plant.map(|plant| (backend, plant))) {
        let workload = with(&spec, |spec| spec.backend = backend);
        fs::write(&victim, vec![7; 100_000]).expect("written");
        plant(&victim, &planted);
        let result = run_with(&workload, Phase::Write, |job| job.new_files = &new_files);
        assert!(matches!(result, Err(EngineError::Appeared { .. })), "{backend:?}: {result:?}");
        assert!(fs::read(&victim).expect("it is there").iter().all(|byte| *byte == 7), "{backend:?}");
        fs::remove_file(&planted).expect("removed");
        // Tasks that create a shared file together do not get in each other's way.
        run_with(&workload, Phase::Write, |job| job.new_files = &new_files).expect("written");
        fs::remove_file(&planted).expect("removed");
        plant(&victim, &planted);
        let links = BTreeSet::from([planted.clone()]);
        run_with(&workload, Phase::Write, |job| job.links = &links).expect("the user has named this link");
        fs::remove_file(&planted).expect("removed");
        let _ = fs::remove_file(&victim);
    }
}
