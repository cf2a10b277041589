//! Ranks that real launchers start, with the libraries of the site: `examples/ring` stands for a
//! program.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use testbed::{Finished, Hosts, Launch, Process, Program, Running, Slurm, skipped};

/// `examples/ring`, which cargo builds with these tests.
fn ring(arguments: &[&str]) -> Program {
    let test = std::env::current_exe().expect("this test");
    let built = test.ancestors().nth(2).map(|profile| profile.join("examples/ring"));
    let path: PathBuf = built
        .filter(|path| path.exists())
        .expect("examples are built: `cargo test`, or `cargo build --examples` before");
    Program::new(path).args(arguments).limit(Duration::from_secs(90))
}

/// A few rounds of everything.
const FEW: [&str; 2] = ["--times", "5"];
/// More rounds than a test waits for.
const ENDLESS: [&str; 2] = ["--times", "100000000"];

/// What rank 0 printed of a run of so many ranks on so many nodes.
#[track_caller]
fn assert_ran(finished: Finished, library: &str, ranks: u32, nodes: u32) {
    let said = finished.expect_code(0).stdout;
    assert!(said.contains(library), "no {library} in {said}");
    assert_eq!(said.matches(&format!("ranks {ranks} nodes {nodes} ")).count(), 1, "{said}");
}

#[test]
fn open_mpi_starts_one_to_many_ranks_on_this_machine() {
    if skipped(Launch::open_mpi_available()) {
        return;
    }
    for ranks in [2, 7, 32] {
        let launch = Launch::open_mpi(ranks).start(&ring(&FEW));
        assert_ran(launch.run().expect("it ends"), "Open MPI", ranks, 1);
    }
    let alone = Launch::open_mpi(1).start(&ring(&FEW)).run().expect("it ends").expect_code(0);
    assert!(alone.stdout.contains("ranks 1 nodes 1 "), "{}", alone.stdout);
}

#[test]
fn mpich_starts_a_few_ranks_on_this_machine() {
    if skipped(Launch::mpich_available()) {
        return;
    }
    for ranks in [2, 4] {
        let launch = Launch::mpich(ranks).start(&ring(&FEW));
        assert_ran(launch.run().expect("it ends"), "MPICH", ranks, 1);
    }
}

#[test]
fn both_start_ranks_on_several_hosts() {
    if skipped(Hosts::available()) {
        return;
    }
    let hosts = Hosts::of(4).expect("hosts");
    if !skipped(Launch::open_mpi_available()) {
        let launch = Launch::open_mpi(2).over(&hosts).start(&ring(&FEW));
        assert_ran(launch.run().expect("it ends"), "Open MPI", 8, 4);
    }
    if !skipped(Launch::mpich_available()) {
        let launch = Launch::mpich(1).over(&hosts).start(&ring(&FEW));
        assert_ran(launch.run().expect("it ends"), "MPICH", 4, 4);
    }
}

#[test]
fn slurm_starts_both_where_its_process_manager_fits_and_no_rank_goes_on_alone_where_not() {
    if skipped(Slurm::available()) || skipped(Launch::open_mpi_available()) {
        return;
    }
    let slurm = Slurm::over(Hosts::of(4).expect("hosts")).expect("a cluster");
    let with = |manager: &str, library: &str| {
        let found = Program::new("sh").args(["-c", &format!("ls /usr/lib/*/{library} | head -n 1")]).run();
        let path = found.expect("it ends").expect_code(0).stdout.trim().to_owned();
        slurm.srun(manager, 1, &ring(&["--times", "5", "--mpi", &path])).run().expect("it ends")
    };
    assert_ran(with("pmix", "libmpi.so.40"), "Open MPI", 4, 4);
    if skipped(Launch::mpich_available()) {
        return;
    }
    assert_ran(with("pmi2", "libmpich.so.12"), "MPICH", 4, 4);
    for manager in ["pmix", "none"] {
        // srun ends all ranks when the first has failed, and may lose what they have printed.
        let is_told = (0..5).any(|_| {
            let refused = with(manager, "libmpich.so.12");
            assert!(!refused.stdout.contains("ranks 1"), "{manager}: {refused:?}");
            assert_ne!(refused.code, Some(0), "{manager}: {refused:?}");
            refused.stderr.contains("every process believes that it is alone")
        });
        assert!(is_told, "{manager}");
    }
}

/// The ranks of a running launch, by their number, when all of them are there.
fn ranks(running: &mut Running, count: usize) -> Vec<Process> {
    let start = Instant::now();
    loop {
        let mut found: Vec<_> = running.processes().into_iter().filter(|one| one.name() == "ring").collect();
        found.sort_by_key(Process::rank);
        if found.len() == count {
            return found;
        }
        assert!(!running.has_ended().expect("its state is known"), "it ended too early");
        assert!(start.elapsed() < Duration::from_secs(30), "the ranks did not come: {found:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// How long joining takes before ranks are at work.
const AT_WORK: Duration = Duration::from_secs(3);

/// What a run of four ranks on two hosts says, to whose second host `harm` is done while it works,
/// and how long it lasts after that.
fn harmed(harm: impl FnOnce(&Hosts, &[Process])) -> (String, Duration) {
    let hosts = Hosts::of(2).expect("hosts");
    let mut running = Launch::open_mpi(2).over(&hosts).start(&ring(&ENDLESS)).spawn().expect("it starts");
    let all = ranks(&mut running, 4);
    std::thread::sleep(AT_WORK);
    harm(&hosts, &all);
    let start = Instant::now();
    // The launcher may wait for what cannot answer; the ranks must not.
    while running.processes().iter().any(|one| one.id() == all[0].id()) {
        assert!(start.elapsed() < Duration::from_secs(60), "rank 0 goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
    let took = start.elapsed();
    hosts.go_on(1);
    let _ = hosts.mend(1);
    let ended = running.wait().expect("it ends");
    assert_ne!(ended.code, Some(0));
    (ended.stdout + &ended.stderr, took)
}

#[test]
fn a_rank_that_is_killed_ends_the_others() {
    if skipped(Hosts::available()) || skipped(Launch::open_mpi_available()) {
        return;
    }
    let (_, took) = harmed(|_, ranks| ranks[3].signal(rustix::process::Signal::KILL));
    assert!(took < Duration::from_secs(10), "{took:?}");
}

#[test]
fn a_host_that_is_stopped_is_named_in_time() {
    if skipped(Hosts::available()) || skipped(Launch::open_mpi_available()) {
        return;
    }
    let (said, took) = harmed(|hosts, _| hosts.stop(1));
    assert!(took < Duration::from_secs(30), "{took:?}");
    assert!(said.contains("node2 is lost"), "{said}");
}

#[test]
fn a_host_that_is_cut_off_is_named_in_time() {
    if skipped(Hosts::available()) || skipped(Launch::open_mpi_available()) {
        return;
    }
    let (said, took) = harmed(|hosts, _| hosts.cut(1).expect("cut"));
    assert!(took < Duration::from_secs(30), "{took:?}");
    assert!(said.contains("node2 is lost"), "{said}");
}
