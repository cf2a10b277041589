//! Ranks as processes under real launchers. The tests that are ignored are what a rank does; the others
//! start a launcher with one of them.
#![expect(clippy::unwrap_used, reason = "a failed call is what a test is to report")]

mod promises;

use std::path::{Path, PathBuf};
use std::process::exit;
use std::time::{Duration, Instant};

use comm::{Comm, CommError, JoinError, JoinOptions, Mpi};
use rustix::process::Signal;
use testbed::{Finished, Hosts, Launch, Process, Program, Running, Scratch, skipped};

/// For how long a neighbour may be silent in tests: short, but longer than this machine holds a process up.
const PATIENCE: Duration = Duration::from_secs(5);

/// The exit code of a run with a lost node.
const LOST: i32 = 9;

/// The variable with the path of a file that is made when all ranks are there.
const READY: &str = "COMM_TEST_READY";

/// The variable with the library that is to be loaded.
const LIBRARY: &str = "COMM_TEST_LIBRARY";

/// Over hosts, Open MPI hands on only the variables that it is told; and its `mpirun` waits for hours for
/// its daemon on a host that is cut off, unless it asks the network earlier whether it is there.
const OVER_HOSTS: [&str; 11] = [
    "-x",
    READY,
    "--mca",
    "oob_tcp_keepalive_time",
    "3",
    "--mca",
    "oob_tcp_keepalive_intvl",
    "2",
    "--mca",
    "oob_tcp_keepalive_probes",
    "3",
];

fn join(library: Option<&Path>) -> Result<Option<Mpi>, JoinError> {
    let variable = |name: &str| std::env::var(name).ok();
    comm::join(&JoinOptions { library, variable: &variable, patience: PATIENCE })
}

/// Prints a line for the test that started this rank. The harness may have begun one.
fn tell(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stdout().lock(), "\n# {line}");
}

#[test]
#[ignore = "one rank of a job; other tests start it"]
fn keeps_the_contract() {
    let Some(mpi) = join(None).unwrap() else { return };
    promises::keeps(&mpi);
    for _ in 0..100 {
        mpi.barrier().unwrap();
    }
    // On a machine with few processors, a call of many ranks takes long.
    promises::strands(&mpi, 2000 / u64::from(mpi.size()).pow(2) + 2);
    // All nodes of these tests have one clock, so an offset is a mistake, and must be within the error that is told.
    for clock in mpi.synchronize().unwrap() {
        assert!(clock.offset_ns.unsigned_abs() <= clock.error_ns, "{clock:?}");
    }
    if mpi.rank() == 0 {
        tell(&format!("{} ranks of {}", mpi.size(), mpi.library()));
    }
    mpi.leave().unwrap();
}

/// Waits for a rank that never comes, and says how that ended.
#[test]
#[ignore = "one rank of a job; other tests start it"]
fn waits_for_ever() {
    let Some(mpi) = join(None).unwrap() else { return };
    mpi.barrier().unwrap();
    let last = mpi.size() - 1;
    if mpi.rank() == last {
        std::fs::write(std::env::var(READY).unwrap(), "").unwrap();
        std::thread::sleep(Duration::from_secs(100));
    }
    let errors = promises::on_strands(&mpi, |strand, _| strand.barrier().unwrap_err());
    let error = &errors[0];
    assert!(errors.iter().all(|other| other == error), "{errors:?}");
    tell(&format!("rank {}: {error}", mpi.rank()));
    assert_eq!(mpi.max_u64(1).as_ref().unwrap_err(), error, "the first error stays");
    // All say what they saw before the first of them ends the job.
    std::thread::sleep(Duration::from_secs(1));
    mpi.abort(LOST);
}

/// Leaves while a rank never does, and says how that ended.
#[test]
#[ignore = "one rank of a job; other tests start it"]
fn leaves_alone() {
    let Some(mpi) = join(None).unwrap() else { return };
    mpi.barrier().unwrap();
    if mpi.rank() == mpi.size() - 1 {
        std::fs::write(std::env::var(READY).unwrap(), "").unwrap();
        std::thread::sleep(Duration::from_secs(100));
    }
    let stranded = mpi.leave().unwrap_err();
    tell(&format!("rank {}: {stranded}", stranded.mpi.rank()));
    std::thread::sleep(Duration::from_secs(1));
    stranded.mpi.abort(LOST);
}

#[test]
#[ignore = "one rank of a job; other tests start it"]
fn ends_early() {
    let Some(mpi) = join(None).unwrap() else { return };
    if mpi.rank() == 1 {
        return;
    }
    let _ = mpi.barrier();
    exit(0);
}

#[test]
#[ignore = "one rank of a job; other tests start it"]
fn panics() {
    let Some(mpi) = join(None).unwrap() else { return };
    assert_ne!(mpi.rank(), 1, "as a test of what the others see");
    let _ = mpi.barrier();
    exit(0);
}

#[test]
#[ignore = "one rank of a job; other tests start it"]
fn makes_another_call() {
    let Some(mpi) = join(None).unwrap() else { return };
    // The top of the tree waits for rank 1, and that for the top.
    let own = if mpi.rank() == 1 { mpi.broadcast(Vec::new()).map(|_| ()) } else { mpi.barrier() };
    let error = own.unwrap_err();
    assert!(matches!(error, CommError::OutOfStep { .. }), "{error}");
    tell(&format!("rank {}: {error}", mpi.rank()));
    std::thread::sleep(Duration::from_secs(1));
    mpi.abort(2);
}

#[test]
#[ignore = "one rank of a job; other tests start it"]
fn makes_another_call_on_one_strand() {
    let Some(mpi) = join(None).unwrap() else { return };
    promises::wait_for_each_other_on_two_strands(&mpi);
    let errors = promises::make_different_calls_on_one_strand(&mpi);
    assert!(errors.iter().all(|error| matches!(error, CommError::OutOfStep { .. })), "{errors:?}");
    tell(&format!("rank {}: {}", mpi.rank(), errors[0]));
    std::thread::sleep(Duration::from_secs(1));
    mpi.abort(2);
}

/// Loads the library that a variable names and says why that did not go well.
#[test]
#[ignore = "one rank of a job; other tests start it"]
fn joins_with_another_library() {
    let Ok(library) = std::env::var(LIBRARY) else { return };
    match join(Some(Path::new(&library))) {
        Ok(Some(mpi)) => {
            promises::keeps(&mpi);
            if mpi.rank() == 0 {
                tell(&format!("{} ranks of {}", mpi.size(), mpi.library()));
            }
            mpi.leave().unwrap();
        }
        Ok(None) => tell("alone"),
        Err(error) => {
            tell(&error.to_string());
            exit(4);
        }
    }
}

/// This program as `rank`.
fn program(rank: &str) -> Program {
    Program::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", rank, "--nocapture", "--test-threads=1"])
        .limit(Duration::from_secs(100))
}

/// The lines that ranks told.
fn told(finished: &Finished) -> Vec<&str> {
    finished.stdout.lines().filter_map(|line| line.split_once("# ")).map(|(_, told)| told).collect()
}

#[test]
fn ranks_of_open_mpi_keep_the_contract() {
    if skipped(Launch::open_mpi_available()) {
        return;
    }
    for ranks in [1, 2, 7, 64] {
        let finished =
            Launch::open_mpi(ranks).start(&program("keeps_the_contract")).run().unwrap().expect_code(0);
        if ranks > 1 {
            let told = told(&finished);
            assert!(told.len() == 1 && told[0].contains(&format!("{ranks} ranks of Open MPI")), "{told:?}");
        }
    }
}

#[test]
fn ranks_of_mpich_keep_the_contract() {
    if skipped(Launch::mpich_available()) {
        return;
    }
    for ranks in [1, 2, 7] {
        let finished =
            Launch::mpich(ranks).start(&program("keeps_the_contract")).run().unwrap().expect_code(0);
        if ranks > 1 {
            let told = told(&finished);
            assert!(told.len() == 1 && told[0].contains(&format!("{ranks} ranks of MPICH")), "{told:?}");
        }
    }
}

/// A library of the standard ABI over MPICH, built with these options; none without a compiler.
fn shim(options: &[&str]) -> Option<(Scratch, PathBuf)> {
    let scratch = Scratch::on_disk().unwrap();
    let library = scratch.path().join("libmpi_abi.so.0");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/standard/shim.c");
    let compiler = Program::new("cc").args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"]);
    let compiled = compiler.arg(&library).args(options).args([source, "-ldl"]).run();
    if skipped(compiled.as_ref().map(|_| ()).map_err(|error| format!("needs a C compiler: {error}"))) {
        return None;
    }
    let _ = compiled.unwrap().expect_code(0);
    Some((scratch, library))
}

#[test]
fn messages_of_others_in_the_same_world_change_nothing() {
    if skipped(Launch::mpich_available()) {
        return;
    }
    let Some((_scratch, library)) = shim(&["-DFOREIGN"]) else { return };
    let program = program("joins_with_another_library").env(LIBRARY, &library);
    let finished = Launch::mpich(4).start(&program).run().unwrap().expect_code(0);
    let told = told(&finished);
    assert!(told.len() == 1 && told[0].contains("4 ranks of MPICH"), "{told:?}");
}

#[test]
fn a_rank_whose_message_comes_twice_is_lost() {
    if skipped(Launch::mpich_available()) {
        return;
    }
    let Some((_scratch, library)) = shim(&["-DTWICE=9"]) else { return };
    let program = program("joins_with_another_library").env(LIBRARY, &library);
    let finished = Launch::mpich(2).start(&program).run().unwrap();
    assert_ne!(finished.code, Some(0), "{finished:?}");
    let output = [finished.stdout.as_str(), finished.stderr.as_str()].concat();
    assert!(
        output.contains("frame ") && output.contains("when ") && output.contains(" was expected"),
        "{finished:?}"
    );
}

#[test]
fn ranks_with_a_library_of_the_standard_abi_keep_the_contract() {
    if skipped(Launch::mpich_available()) {
        return;
    }
    let Some((scratch, library)) = shim(&[]) else { return };
    // Named, and found by itself where the loader looks.
    let named = program("joins_with_another_library").env(LIBRARY, &library);
    let found = program("keeps_the_contract").env("LD_LIBRARY_PATH", scratch.path());
    for program in [named, found] {
        let finished = Launch::mpich(4).start(&program).run().unwrap().expect_code(0);
        let told = told(&finished);
        assert!(told.len() == 1 && told[0].contains("4 ranks of MPICH"), "{told:?}");
        assert!(told[0].contains("libmpi_abi.so.0"), "{told:?}");
    }
}

#[test]
fn ranks_on_several_hosts_keep_the_contract() {
    if skipped(Hosts::available()) || skipped(Launch::open_mpi_available()) {
        return;
    }
    let hosts = Hosts::of(3).unwrap();
    let _ =
        Launch::open_mpi(2).over(&hosts).start(&program("keeps_the_contract")).run().unwrap().expect_code(0);
    if !skipped(Launch::mpich_available()) {
        let _ =
            Launch::mpich(2).over(&hosts).start(&program("keeps_the_contract")).run().unwrap().expect_code(0);
    }
}

/// Ranks of which the last one never comes.
struct Stuck {
    running: Running,
    _scratch: Scratch,
}

impl Stuck {
    /// Starts them and waits until all are there. Hosts have no memory in common.
    fn start(launch: Launch<'_>) -> Self {
        Self::start_as("waits_for_ever", launch)
    }

    /// As [`Stuck::start`], where the ranks are those of another test.
    fn start_as(rank: &str, launch: Launch<'_>) -> Self {
        let scratch = Scratch::on_disk().unwrap();
        let ready = scratch.path().join("ready");
        let program = program(rank).env(READY, &ready);
        let running = launch.start(&program).spawn().unwrap();
        let start = Instant::now();
        while !ready.exists() {
            assert!(start.elapsed() < Duration::from_secs(60), "the ranks did not come");
            std::thread::sleep(Duration::from_millis(20));
        }
        // The launcher's own messages of the start come to their end.
        std::thread::sleep(Duration::from_secs(1));
        Self { running, _scratch: scratch }
    }

    fn rank(&self, rank: u32) -> Process {
        let all = self.running.processes().into_iter();
        // Daemons of a launcher are no ranks, whatever variables they have.
        let mut ranks =
            all.filter(|process| process.rank() == Some(rank) && process.name().starts_with("mpi-"));
        ranks.next().unwrap()
    }

    /// The end of the job, which must come within `limit`.
    fn end(self, limit: Duration) -> Finished {
        let start = Instant::now();
        let finished = self.running.wait().unwrap();
        assert!(start.elapsed() < limit, "it took {:?}: {finished:?}", start.elapsed());
        assert_ne!(finished.code, Some(0), "{finished:?}");
        finished
    }
}

/// Within so long all ranks know of one that is stopped, with the patience of these tests.
const NOTICED: Duration = Duration::from_secs(25);

/// Checks that each rank but the last one, which ran on `node`, said that it is lost.
fn expect_lost(finished: &Finished, rank: u32, node: &str) {
    let told = told(finished);
    for survivor in 0..rank {
        let start = format!("rank {survivor}: rank {rank} on node {node} is lost: ");
        assert!(told.iter().any(|line| line.starts_with(&start)), "{start}? {finished:?}");
    }
}

fn own_node() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[test]
fn a_stopped_rank_is_lost() {
    if !skipped(Launch::open_mpi_available()) {
        let stuck = Stuck::start(Launch::open_mpi(7));
        stuck.rank(6).signal(Signal::STOP);
        expect_lost(&stuck.end(NOTICED), 6, &own_node());
    }
    if !skipped(Launch::mpich_available()) {
        let stuck = Stuck::start(Launch::mpich(4));
        stuck.rank(3).signal(Signal::STOP);
        expect_lost(&stuck.end(NOTICED), 3, &own_node());
    }
}

#[test]
fn a_rank_that_is_stopped_when_the_others_leave_is_lost() {
    if skipped(Launch::open_mpi_available()) {
        return;
    }
    let stuck = Stuck::start_as("leaves_alone", Launch::open_mpi(4));
    stuck.rank(3).signal(Signal::STOP);
    expect_lost(&stuck.end(NOTICED), 3, &own_node());
}

#[test]
fn a_killed_rank_ends_the_job() {
    if !skipped(Launch::open_mpi_available()) {
        let stuck = Stuck::start(Launch::open_mpi(4));
        stuck.rank(3).signal(Signal::KILL);
        stuck.end(Duration::from_secs(10));
    }
    if !skipped(Launch::mpich_available()) {
        let stuck = Stuck::start(Launch::mpich(4));
        stuck.rank(3).signal(Signal::KILL);
        stuck.end(Duration::from_secs(10));
    }
}

#[test]
fn a_stopped_rank_on_another_host_is_lost() {
    if skipped(Hosts::available()) || skipped(Launch::open_mpi_available()) {
        return;
    }
    let hosts = Hosts::of(3).unwrap();
    let stuck = Stuck::start(Launch::open_mpi(1).over(&hosts).with(OVER_HOSTS));
    // Its daemon is not stopped: whether a launcher waits for that is its own affair.
    stuck.rank(2).signal(Signal::STOP);
    expect_lost(&stuck.end(NOTICED), 2, &hosts.name(2));
}

#[test]
fn a_host_that_is_cut_off_is_lost() {
    if skipped(Hosts::available()) || skipped(Launch::open_mpi_available()) {
        return;
    }
    let hosts = Hosts::of(3).unwrap();
    let stuck = Stuck::start(Launch::open_mpi(1).over(&hosts).with(OVER_HOSTS));
    hosts.cut(2).unwrap();
    expect_lost(&stuck.end(NOTICED), 2, &hosts.name(2));
}

#[test]
fn a_rank_that_ends_early_ends_the_job() {
    if skipped(Launch::open_mpi_available()) {
        return;
    }
    for rank in ["ends_early", "panics"] {
        let finished = Launch::open_mpi(4).start(&program(rank)).run().unwrap();
        assert_ne!(finished.code, Some(0), "{finished:?}");
        assert!(finished.took < Duration::from_secs(30), "{finished:?}");
    }
}

#[test]
fn ranks_that_make_different_calls_are_told_so() {
    if skipped(Launch::open_mpi_available()) {
        return;
    }
    for rank in ["makes_another_call", "makes_another_call_on_one_strand"] {
        let finished = Launch::open_mpi(4).start(&program(rank)).run().unwrap();
        let told = told(&finished);
        assert_eq!(told.len(), 4, "{finished:?}");
        assert_eq!(finished.code, Some(2), "{finished:?}");
    }
}

#[test]
fn a_library_that_does_not_fit_the_launcher_is_named() {
    if skipped(Launch::open_mpi_available()) || skipped(Launch::mpich_available()) {
        return;
    }
    let cases = [
        (Launch::open_mpi(2), "libmpich.so.12", "so every process believes that it is alone"),
        (Launch::mpich(2), "libmpi.so.40", "so every process believes that it is alone"),
        (Launch::open_mpi(2), "libm.so.6", "libm.so.6 is not a known MPI library"),
        (Launch::open_mpi(2), "libnone.so.1", "tried libnone.so.1; name one with --mpi PATH"),
    ];
    for (launch, library, message) in cases {
        let program = program("joins_with_another_library").env(LIBRARY, library);
        let finished = launch.start(&program).run().unwrap();
        assert_eq!(finished.code, Some(4), "{finished:?}");
        let told = told(&finished);
        assert!(!told.is_empty(), "{finished:?}");
        assert!(told.iter().all(|line| line.contains(message) && line.contains(library)), "{told:?}");
    }
}
