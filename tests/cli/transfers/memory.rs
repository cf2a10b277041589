//! Reads that may have been served from memory do not meet a commitment, however fast and steady they are.

use std::time::Duration;

use testbed::{FileSystem, LoopDevice, Programme, ProgrammedFs, Scratch, Testbed, skipped};

use crate::desk::{Desk, assert_says, emptied, measured, run};

/// Part of a study: a commitment that any result meets, about reads of `workload` on `target`.
fn study(target: &str, workload: &str, repetitions: u32) -> String {
    format!(
        "[protocol]\nrepetitions = {repetitions}\nphase_min = \"1ms\"\n[[target]]\nname = \"store\"\n{target}\n\
         [[workload]]\nname = \"reads\"\n{workload}\n\
         [[commitment]]\nname = \"promise\"\nworkload = \"reads\"\nphase = \"read\"\nstatistic = \"median\"\n\
         iops_at_least = 1\n"
    )
}

/// Runs `study`; its reads must be DOUBTFUL for these reasons in both the verdict and the audit.
fn is_doubtful(desk: &Desk, study: &str, reasons: &[&str]) {
    let _ = run(&desk.study(study).arg("--verdict")).expect_code(8);
    let verdict = run(&desk.ioproof("verdict --json").arg(desk.record())).expect_code(8).stdout;
    let verdict: serde_json::Value = serde_json::from_str(&verdict).expect("JSON");
    assert_eq!(verdict["verdicts"][0]["judgement"], "DOUBTFUL", "{verdict}");
    assert_says(&verdict.to_string(), reasons);
    let audit = run(&desk.ioproof("check --json").arg(desk.record())).stdout;
    assert_says(&audit, &["memory not excluded"]);
}

/// Four clients, each with a cache; later repetitions read what the first ones brought into it.
#[test]
fn clients_with_a_cache_keep_no_promise_about_reads() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    // Slow enough that a pass whose first reads come from the device does not look like memory as a whole.
    let slow = Programme { read_latency: Duration::from_millis(1), ..Programme::default() };
    let builder = ProgrammedFs::builder().page_cache().programme(slow);
    let mounts: Vec<ProgrammedFs> = (0..4).map(|_| builder.clone().mount().expect("a file system")).collect();
    let paths: Vec<String> = mounts.iter().map(|one| format!("\"{}/f\"", one.path().display())).collect();
    let target = format!("paths = [{}]", paths.join(", "));
    // Each pass begins with an empty cache and reads each block four times.
    let random = "transfer = \"4KiB\"\nadvice = \"as-meant\"\norder = \"random\"\nfresh_order = true\ntasks = 4\nsharing = \"per-task\"\nsize = \"1MiB\"\n\
                  phases = [\"read\"]\nfill = true\noperations = 1024";
    for repetitions in [1, 2] {
        is_doubtful(
            &Desk::new(),
            &study(&target, random, repetitions),
            &["device bytes unknown", "passes its data to a program", "server_memory", "target store"],
        );
    }
    // If the memory size is stated, the size of the data is what counts.
    let stated = format!("{target}\nserver_memory = \"64KiB\"");
    is_doubtful(&Desk::new(), &study(&stated, random, 2), &["of data or more", "on the servers"]);
}

/// `O_DIRECT` does not bypass what a program behind FUSE has cached.
#[test]
fn direct_reads_of_a_file_system_in_user_space_are_no_better() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    let mount = ProgrammedFs::builder().mount().expect("a file system");
    let target = format!("directory = \"{}\"", mount.path().display());
    is_doubtful(
        &Desk::new(),
        &study(&target, "transfer = \"4KiB\"\nsize = \"1MiB\"\ndirect = true", 1),
        &["device bytes unknown", "server_memory"],
    );
}

/// The counters of a loop device include reads that were served from the page cache of its backing file.
#[test]
fn measured_a_loop_device_over_the_page_cache_keeps_no_promise_and_one_around_it_does() {
    if skipped(Testbed::available()) {
        return;
    }
    measured(|times| {
        let builder = LoopDevice::builder().on_disk().bytes(512 << 20).file_system(FileSystem::Xfs);
        let of = |device: &LoopDevice| {
            let directory = device.mount_point().expect("mounted").display();
            let size = 16 * times;
            study(
                &format!("directory = \"{directory}\"\ncaches = \"0\""),
                &format!(
                    "transfer = \"4KiB\"\nsize = \"{size}MiB\"\ndirect = true\nphases = [\"read\"]\nfill = true\n\
                     duration = \"2100ms\""
                ),
                2,
            )
        };
        let cached = builder.clone().cached().build().expect("a device");
        let reason = format!("{} reads its file", cached.name());
        is_doubtful(
            &Desk::new(),
            &of(&cached),
            &[&reason, "through the page cache", "losetup --direct-io=on"],
        );
        drop(cached);
        let direct = builder.build().expect("a device");
        let said = run(&Desk::new().study(&of(&direct)).arg("--verdict")).expect_code(0).stdout;
        assert_says(&said, &["PASS"]);
    });
}

#[test]
fn a_target_in_memory_keeps_no_promise() {
    let Ok(memory) = Scratch::in_memory() else { return };
    let target = format!("directory = \"{}\"", memory.path().display());
    is_doubtful(
        &Desk::new(),
        &study(&target, "transfer = \"1MiB\"\nsize = \"64MiB\"", 1),
        &["is in memory, with no storage below it"],
    );
}

/// mdtest -E: the number of files read per second depends on where their data are stored.
#[test]
fn files_that_are_read_are_judged_as_other_reads() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    let mount = ProgrammedFs::builder().mount().expect("a file system");
    let study = format!(
        "[protocol]\nphase_min = \"1ms\"\n[[target]]\nname = \"store\"\ndirectory = \"{}\"\n\
         [[workload]]\nname = \"small\"\nwork = \"tree\"\nitems_per_directory = 100\n\
         file_bytes = \"4KiB\"\nphases = [\"tree-create\", \"file-create\", \"file-read\", \"file-remove\", \"tree-remove\"]\n\
         [[commitment]]\nname = \"reads\"\nworkload = \"small\"\nphase = \"file-read\"\n\
         statistic = \"median\"\niops_at_least = 1\n",
        mount.path().display()
    );
    is_doubtful(&Desk::new(), &study, &["device bytes unknown"]);
    let creates = study.replace("phase = \"file-read\"", "phase = \"file-create\"");
    let desk = Desk::new();
    let _ = run(&desk.study(&creates).arg("--verdict")).expect_code(8);
    let verdict = run(&desk.ioproof("verdict --json").arg(desk.record())).expect_code(8).stdout;
    assert_says(&verdict, &["too short for a promise"]);
    assert!(!verdict.contains("device bytes unknown"), "only reads depend on it: {verdict}");
}

/// If caches are shown to have been empty, the data need not be larger than the node's memory.
#[test]
fn reads_behind_caches_that_were_shown_empty_keep_a_promise() {
    if skipped(ProgrammedFs::available()) || !rustix::process::geteuid().is_root() {
        return;
    }
    // 8 MiB in requests of at most 128 KiB take more than 2 s.
    let slow = Programme { read_latency: Duration::from_millis(40), ..Programme::default() };
    let mount = ProgrammedFs::builder().page_cache().programme(slow).mount().expect("a file system");
    // The program behind it caches nothing, but only its owner can confirm that.
    let memory = "server_memory = \"64KiB\"\ncaches = \"64KiB\"";
    let target = format!("path = \"{}/f\"\n{memory}", mount.path().display());
    let workload =
        "transfer = \"64KiB\"\nsize = \"8MiB\"\nphases = [\"read\"]\nfill = true\nadvice = \"as-meant\"";
    let warm = study(&target, workload, 2);
    let cold = warm.replace("[protocol]\n", "[protocol]\ndrop_caches = true\n");
    let emptied = emptied();
    let said = run(&Desk::new().study(&cold).arg("--verdict")).expect_code(0).stdout;
    drop(emptied);
    assert_says(&said, &["PASS"]);
    is_doubtful(&Desk::new(), &warm, &["of memory on the nodes"]);
}

/// The cache accepts writes at once, and fsync does not wait for the storage, so only a large volume shows the
/// storage's rate. Each pass starts with an empty cache: during the delay before it, the storage can absorb three
/// times what the cache holds.
#[test]
fn measured_writes_that_a_cache_absorbed_keep_no_promise_and_far_more_of_them_do() {
    if skipped(ProgrammedFs::available()) {
        return;
    }
    measured(|_| {
        let behind_cache =
            Programme { write_bandwidth: Some(8 << 20), write_cache_bytes: 1 << 20, ..Programme::default() };
        let mount = ProgrammedFs::builder().programme(behind_cache).mount().expect("a file system");
        let of = |size: &str, promised: &str, caches: &str| {
            format!(
                "[protocol]\nrepetitions = 5\nphase_min = \"1ms\"\ndelay = \"400ms\"\n\
             [[target]]\nname = \"store\"\ndirectory = \"{}\"\n{caches}\n\
             [[workload]]\nname = \"writes\"\nphases = [\"write\"]\ntransfer = \"64KiB\"\nsize = \"{size}\"\nfsync = \"close\"\n\
             [[commitment]]\nname = \"promise\"\nworkload = \"writes\"\nphase = \"write\"\nstatistic = \"median\"\n\
             bandwidth_at_least = \"{promised}\"\n",
                mount.path().display()
            )
        };
        let judged = |study: &str| {
            let desk = Desk::new();
            let _ = run(&desk.study(study));
            let verdict = run(&desk.ioproof("verdict --json").arg(desk.record())).stdout;
            let verdict: serde_json::Value = serde_json::from_str(&verdict).expect("JSON");
            let audit = run(&desk.ioproof("check --json").arg(desk.record())).stdout;
            (verdict["verdicts"][0]["judgement"].as_str().expect("a judgement").to_owned(), audit)
        };
        let declared = "caches = \"1MiB\"";
        let (judgement, said) = judged(&of("1MiB", "100MB/s", declared));
        assert_eq!(judgement, "DOUBTFUL", "{said}");
        assert_says(&said, &["absorbed writes", "caches may hold much of the 1 MiB", "20 MiB"]);
        let (judgement, said) = judged(&of("1MiB", "100MB/s", ""));
        assert_eq!(judgement, "DOUBTFUL", "{said}");
        assert_says(&said, &["the caches and the memory of the servers are not declared"]);
        // So far below the promise that waiting for a processor on a busy host is no explanation.
        let (judgement, said) = judged(&of("20MiB", "1GB/s", declared));
        assert_eq!(judgement, "FAIL", "{said}");
        let (judgement, said) = judged(&of("20MiB", "4MB/s", declared));
        assert_eq!(judgement, "PASS", "{said}");
    });
}
