//! Several ranks, on this machine and on several hosts, started as launchers start them.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use testbed::{Finished, Hosts, Launch, Limits, Program, Slurm, skipped};

use crate::desk::{Desk, assert_says, measured, run};
use crate::hosts::{file, no_hosts, over, target};

#[test]
fn ior_runs_on_four_ranks_of_this_machine() {
    let desk = Desk::new();
    for (available, launch, out) in [
        (Launch::open_mpi_available(), Launch::open_mpi(4), "openmpi"),
        (Launch::mpich_available(), Launch::mpich(4), "mpich"),
    ] {
        if skipped(available) {
            continue;
        }
        let words = format!("ior -w -r -F -t 64k -b 1m -o f --out {out}");
        let ran = run(&launch.start(&desk.ioproof(&words))).expect_code(0);
        assert_says(&ran.stdout, &["tasks : 4", "clients per node : 4"]);
        assert_eq!(ran.stdout.matches("Summary of all tests").count(), 1, "one rank prints");
        let report = run(&desk.ioproof(&format!("report --format json {out}"))).expect_code(0);
        assert_says(&report.stdout, &["\"complete\""]);
        assert!(!desk.path("f.00000000").exists(), "files are removed");
    }
}

#[test]
fn tasks_on_four_hosts_share_a_directory_and_read_no_data_of_their_own() {
    if no_hosts() {
        return;
    }
    let (desk, hosts) = (Desk::new(), Hosts::of(4).expect("hosts"));
    let words = format!("-w -r -C -F -e -t 256k -b 1m -o {}", file(&hosts.shared()));
    let ran = run(&over(&hosts, 2, &desk.ior(&words))).expect_code(0);
    assert_says(&ran.stdout, &["tasks : 8", "nodes : 4", "clients per node : 2"]);
    assert_eq!(fs::read_dir(hosts.shared()).expect("a directory").count(), 0, "files are removed");
    assert_eq!(desk.report().state(), "complete");
}

#[test]
fn node_local_directories_are_used_and_cleaned_on_every_host() {
    if no_hosts() {
        return;
    }
    let (desk, hosts) = (Desk::new(), Hosts::of(4).expect("hosts"));
    let words = format!("-w -r -F -t 256k -b 1m -o {}", file(&hosts.local()));
    let ran = run(&over(&hosts, 2, &desk.ior(&words))).expect_code(0);
    assert_says(&ran.stdout, &["tasks : 8", "nodes : 4"]);
    for index in 0..hosts.count() {
        let list = hosts.inside(index, &Program::new("ls").arg("-A").arg(hosts.local()));
        assert_eq!(run(&list).expect_code(0).stdout, "", "{} keeps files", hosts.name(index));
    }
}

#[test]
fn a_shared_file_in_a_directory_that_is_not_shared_is_refused() {
    if no_hosts() {
        return;
    }
    let (desk, hosts) = (Desk::new(), Hosts::of(2).expect("hosts"));
    let words = format!("-w -r -t 256k -b 1m -o {}", file(&hosts.local()));
    let refused = run(&over(&hosts, 1, &desk.ior(&words))).expect_code(3);
    let differs = format!("another directory on node {} than on {}", hosts.name(1), hosts.name(0));
    assert_says(&refused.stderr, &[&differs, "cannot share a file", "-F"]);
}

/// These hosts are what containers are: namespaces with names of their own over one kernel.
#[test]
fn containers_of_one_machine_are_not_the_nodes_that_were_promised() {
    if no_hosts() {
        return;
    }
    let (desk, hosts) = (Desk::new(), Hosts::of(2).expect("hosts"));
    let study = target("ssd", &hosts.local(), "node-local")
        + "[[workload]]\nname = \"w\"\nnodes = 2\ntasks_per_node = 1\ntransfer = \"64KiB\"\nsize = \"1MiB\"\n\
           sharing = \"per-task\"\nphases = [\"write\"]\nduration = \"2100ms\"\nfsync = \"close\"\n\
           [[commitment]]\nname = \"promise\"\nworkload = \"w\"\nstatistic = \"median\"\nbandwidth_at_least = \"1kB/s\"\n";
    let _ = run(&over(&hosts, 1, &desk.study(&study))).expect_code(0);
    let verdict = run(&desk.ioproof("verdict").arg(desk.record())).expect_code(8).stdout;
    let words = verdict.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(
        &words,
        &["DOUBTFUL", "shared kernel: its 2 nodes have 1 kernel: node1, node2 are containers"],
    );
}

#[test]
fn a_rank_that_alone_cannot_join_tells_it() {
    if skipped(Launch::open_mpi_available()) {
        return;
    }
    let desk = Desk::new();
    let script = format!(
        "[ $OMPI_COMM_WORLD_RANK = 0 ] || set -- --mpi /nowhere/libmpi.so; \
         exec {} ior -w -t 64k -b 1m -o f \"$@\"",
        env!("CARGO_BIN_EXE_ioproof")
    );
    let ranks =
        Program::new("sh").args(["-c", &script]).current_dir(desk.path("")).limit(Duration::from_secs(60));
    let refused = run(&Launch::open_mpi(3).start(&ranks)).expect_code(4);
    let told = refused.stderr.lines().filter(|line| line.starts_with("ioproof: ")).count();
    assert_eq!(told, 1, "{}", refused.stderr);
    assert_says(&refused.stderr, &["/nowhere/libmpi.so", "--mpi"]);
    assert!(!desk.path("f").exists());
}

#[test]
fn ranks_with_other_arguments_are_refused() {
    if skipped(Launch::open_mpi_available()) {
        return;
    }
    let desk = Desk::new();
    let script = format!(
        "exec {} ior -w -t 64k -b \"$((OMPI_COMM_WORLD_RANK + 1))m\" -o f",
        env!("CARGO_BIN_EXE_ioproof")
    );
    let ranks =
        Program::new("sh").args(["-c", &script]).current_dir(desk.path("")).limit(Duration::from_secs(60));
    let refused = run(&Launch::open_mpi(2).start(&ranks)).expect_code(2);
    assert_says(&refused.stderr, &["rank 1", "arguments"]);
    assert!(!desk.path("f").exists());
}

#[test]
fn measured_a_slow_host_is_named() {
    if no_hosts() || skipped(testbed::Testbed::available()) {
        return;
    }
    measured(|_| {
        const LIMIT: u64 = 20_000_000;
        let desk = Desk::new();
        let mut hosts = Hosts::builder(4).devices(1, Limits::bandwidth(LIMIT)).build().expect("hosts");
        hosts.device_mut(2, 0).expect("a device").limit(Limits::bandwidth(LIMIT / 4)).expect("limited");
        let words = format!("-w -F -D 5 -t 1m -b 256m --posix.odirect -o {}", file(&hosts.device_path(0)));
        let _ = run(&over(&hosts, 1, &desk.ior(&words))).expect_code(0);
        let report = run(&desk.ioproof("report --full --format text").arg(desk.record())).expect_code(0);
        assert_says(&report.stdout, &["node node3 had"]);
    });
}

/// What is printed when `harm` hits the second of two hosts during a long run, and how long rank 0 keeps running
/// after that.
fn harmed(harm: impl FnOnce(&Hosts, &testbed::Running)) -> (Finished, Duration) {
    let (desk, hosts) = (Desk::new(), Hosts::of(2).expect("hosts"));
    let words = format!("-w -F -i 1000000 -t 64k -b 8m -o {}", file(&hosts.shared()));
    let mut running = over(&hosts, 1, &desk.ior(&words)).spawn().expect("it starts");
    let start = Instant::now();
    while !hosts.shared().join("f.00000001").exists() {
        assert!(!running.has_ended().expect("its state is known"), "it ended too early");
        assert!(start.elapsed() < Duration::from_secs(40), "no task has started");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_secs(2));
    harm(&hosts, &running);
    let start = Instant::now();
    let leads = |running: &testbed::Running| {
        running.processes().iter().any(|one| one.name() == "ioproof" && one.rank() == Some(0))
    };
    while leads(&running) && start.elapsed() < Duration::from_secs(50) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let took = start.elapsed();
    hosts.go_on(1);
    let _ = hosts.mend(1);
    (running.wait().expect("it ends"), took)
}

#[test]
fn a_rank_that_is_killed_ends_the_run() {
    if no_hosts() {
        return;
    }
    let (ended, took) = harmed(|_, running| {
        let ranks = running.processes();
        let last = ranks.iter().find(|one| one.name() == "ioproof" && one.rank() == Some(1));
        last.expect("rank 1").signal(Signal::KILL);
    });
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert_ne!(ended.code, Some(0));
}

#[test]
fn a_host_that_is_stopped_is_named_and_ends_the_run() {
    lost(|hosts| hosts.stop(1));
}

#[test]
fn a_host_that_is_cut_off_is_named_and_ends_the_run() {
    lost(|hosts| hosts.cut(1).expect("cut"));
}

/// A run whose second host no longer responds.
fn lost(harm: impl Fn(&Hosts)) {
    if no_hosts() {
        return;
    }
    let (ended, took) = harmed(|hosts, _| harm(hosts));
    assert!(took < Duration::from_secs(30), "{took:?}");
    assert_ne!(ended.code, Some(0));
    assert_says(&ended.stderr, &["node2"]);
}

#[test]
fn batch_jobs_run_in_a_real_slurm_and_are_merged() {
    if skipped(Slurm::available()) || skipped(Launch::open_mpi_available()) {
        return;
    }
    let desk = Desk::new();
    let slurm = Slurm::over(Hosts::of(2).expect("hosts")).expect("a cluster");
    let text = format!(
        "[[target]]\nname = \"scratch\"\ndirectory = \"{}\"\nlayer = \"shared\"\n\
         [[workload]]\nname = \"weak\"\nnodes = [1, 2]\ntasks_per_node = 2\nsharing = \"per-task\"\n\
         transfer = \"64KiB\"\nsize = \"4MiB\"\n",
        slurm.hosts().shared().display()
    );
    fs::write(desk.path("weak.toml"), text).expect("the study is written");
    let words =
        format!("batch weak.toml --slurm --per-point --out jobs --program {}", env!("CARGO_BIN_EXE_ioproof"));
    let _ = run(&desk.ioproof(&words)).expect_code(0);
    for (script, code) in [("nodes-1.sh", 0), ("nodes-2.sh", 0), ("merge.sh", 0)] {
        let job =
            slurm.sbatch(&desk.path("jobs").join(script)).env("SBATCH_OUTPUT", desk.path("slurm-%j.out"));
        let job = job.env("SLURM_MPI_TYPE", "pmix").env("SLURM_PMIX_FENCE", "tree");
        let ended = run(&job);
        let said = fs::read_dir(desk.path("")).expect("a directory").flatten();
        let said = said.filter(|entry| entry.file_name().to_string_lossy().starts_with("slurm-"));
        let said: String = said.filter_map(|entry| fs::read_to_string(entry.path()).ok()).collect();
        assert_eq!(ended.code, Some(code), "{script}: {said}");
    }
    let report = run(&desk.ioproof("report --format json jobs/all")).expect_code(0);
    assert_says(&report.stdout, &["weak:nodes=1", "weak:nodes=2"]);
}
