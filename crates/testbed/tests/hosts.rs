//! Hosts on one machine behave as hosts, and nothing of them stays.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use testbed::{Hosts, Launch, Limits, Program, Running, attempts, skipped};

/// Waits until `running` has what `look` finds.
fn wait_for<T>(running: &mut Running, look: impl Fn(&Running) -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look(running) {
            return found;
        }
        assert!(!running.has_ended().expect("its state is known"), "it ended too early");
        assert!(start.elapsed() < Duration::from_secs(20), "it did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn shell(script: &str) -> Program {
    Program::new("sh").args(["-c", script]).limit(Duration::from_secs(30))
}

fn text(program: &Program) -> String {
    program.run().expect("it ends").expect_code(0).stdout.trim().to_owned()
}

#[test]
fn every_host_has_its_name_its_address_and_its_own_directory_and_shares_another() {
    if skipped(Hosts::available()) {
        return;
    }
    let hosts = Hosts::of(3).expect("hosts");
    for index in 0..3 {
        let (local, shared) = (hosts.local(), hosts.shared());
        let script = format!(
            "hostname; hostname >{}/own; hostname >{}/$(hostname); pwd",
            local.display(),
            shared.display()
        );
        let said =
            hosts.inside(index, &shell(&script).current_dir("/usr/lib")).run().expect("it ends").stdout;
        assert_eq!(said, format!("{}\n/usr/lib\n", hosts.name(index)));
    }
    assert!(!hosts.local().join("own").exists(), "it is not seen from outside");
    for index in 0..3 {
        let own = hosts.inside(index, &Program::new("cat").arg(hosts.local().join("own")));
        assert_eq!(text(&own), hosts.name(index));
        assert_eq!(
            fs::read_to_string(hosts.shared().join(hosts.name(index))).expect("it is seen").trim(),
            hosts.name(index)
        );
    }
}

#[test]
fn a_cut_link_carries_nothing_until_it_is_mended() {
    if skipped(Hosts::available()) {
        return;
    }
    let hosts = Hosts::of(2).expect("hosts");
    // A refused connection is an answer of the other host; no answer is none.
    let reaches = || {
        let ask = shell("timeout 2 bash -c ': </dev/tcp/node2/9' 2>&1");
        hosts.inside(0, &ask).run().expect("it ends").stdout.contains("refused")
    };
    assert!(reaches(), "the hosts reach each other");
    hosts.cut(1).expect("cut");
    assert!(!reaches(), "the link is cut");
    hosts.mend(1).expect("mended");
    assert!(reaches(), "the link is mended");
}

#[test]
fn measured_a_limited_link_carries_what_it_may() {
    if skipped(Hosts::available()) || skipped(python()) {
        return;
    }
    attempts(|_| {
        const BITS: u64 = 80_000_000;
        let hosts = Hosts::of(2).expect("hosts");
        hosts.limit_link(1, BITS).expect("limited");
        let receive = "import socket,time\ns=socket.create_server(('',9000));c=s.accept()[0]\nc.recv(1<<21,socket.MSG_WAITALL)\n\
                   t=time.monotonic();n=0\nwhile d:=c.recv(1<<16): n+=len(d)\nprint(n/(time.monotonic()-t))";
        let send = "import socket,time\nfor i in range(200):\n try: c=socket.create_connection(('node2',9000));break\n \
                except OSError: time.sleep(.02)\nc.sendall(bytes(22<<20))";
        let receiver =
            hosts.inside(1, &Program::new("python3").args(["-c", receive])).spawn().expect("it starts");
        text(&hosts.inside(0, &Program::new("python3").args(["-c", send])));
        let rate: f64 =
            receiver.wait().expect("it ends").expect_code(0).stdout.trim().parse().expect("a number");
        let share = rate * 8.0 / BITS as f64;
        assert!((0.85..=1.02).contains(&share), "{share:.3} of the limit");
    });
}

fn python() -> Result<(), String> {
    Program::new("python3").arg("--version").run().map(|_| ()).map_err(|_| "needs python3".to_owned())
}

#[test]
fn all_of_a_host_is_stopped_and_goes_on() {
    if skipped(Hosts::available()) {
        return;
    }
    let hosts = Hosts::of(2).expect("hosts");
    let ticking = |index: usize| {
        let file = hosts.shared().join(format!("ticks{index}"));
        let ticks = shell(&format!("while :; do echo tick >>{}; sleep 0.02; done", file.display()));
        let mut running = hosts.inside(index, &ticks).spawn().expect("it starts");
        wait_for(&mut running, |_| file.exists().then_some(()));
        let count = move || fs::metadata(&file).map_or(0, |file| file.len());
        (running, count)
    };
    let ((mut first, first_count), (mut second, second_count)) = (ticking(0), ticking(1));
    assert!(!hosts.processes(1).is_empty());
    hosts.stop(1);
    let (before, stopped) = (first_count(), second_count());
    wait_for(&mut first, |_| (first_count() > before + 25).then_some(()));
    assert!(second_count() <= stopped + 5, "a stopped host went on");
    hosts.go_on(1);
    wait_for(&mut second, |_| (second_count() > stopped + 25).then_some(()));
}

#[test]
fn nothing_is_left_when_the_value_goes_also_while_a_test_panics() {
    if skipped(Hosts::available()) {
        return;
    }
    let seen = std::thread::spawn(|| {
        let hosts = Hosts::builder(2).devices(1, Limits::default()).build().expect("hosts");
        // In a session of its own and deaf, as the worst of daemons.
        let deaf = "trap '' TERM INT HUP; setsid sleep 600 & wait";
        let mut running = hosts.inside(0, &shell(deaf)).spawn().expect("it starts");
        let sleeper = wait_for(&mut running, |_| {
            hosts.processes(0).into_iter().find(|process| process.name() == "sleep")
        });
        std::panic::panic_any((sleeper.id(), hosts.shared()));
    });
    let seen = seen.join().expect_err("the thread panics");
    let (sleeper, shared) = *seen.downcast::<(u32, std::path::PathBuf)>().expect("what it saw");
    assert!(!Path::new(&format!("/proc/{sleeper}")).exists(), "the daemon lives");
    assert!(!shared.exists(), "{} is still there", shared.display());
}

#[test]
fn measured_devices_of_all_hosts_reach_their_limits_at_the_same_time() {
    if skipped(Hosts::available()) || skipped(testbed::Testbed::available()) {
        return;
    }
    attempts(|_| {
        const LIMIT: u64 = 40_000_000;
        let mut hosts = Hosts::builder(3).devices(1, Limits::bandwidth(LIMIT)).build().expect("hosts");
        hosts.device_mut(2, 0).expect("a device").limit(Limits::bandwidth(LIMIT / 4)).expect("limited");
        let file = hosts.device_path(0).join("data");
        // What passes free after idle is written before the clock starts.
        let write = format!(
            "dd if=/dev/zero of={0} bs=1M count=4 oflag=direct status=none
         start=$(date +%s%N); dd if=/dev/zero of={0} bs=1M count=$1 oflag=direct status=none
         echo $(($(date +%s%N) - start))",
            file.display()
        );
        let started: Vec<_> = [200, 200, 50]
            .iter()
            .enumerate()
            .map(|(index, pieces)| {
                let program = Program::new("sh").args(["-c", &write, "sh", &pieces.to_string()]);
                hosts.inside(index, &program).spawn().expect("it starts")
            })
            .collect();
        for (running, (pieces, limit)) in
            started.into_iter().zip([(200, LIMIT), (200, LIMIT), (50, LIMIT / 4)])
        {
            let took: f64 =
                running.wait().expect("it ends").expect_code(0).stdout.trim().parse().expect("a time");
            let share = f64::from(pieces << 20) / (took / 1e9) / limit as f64;
            assert!((0.95..=1.05).contains(&share), "{share:.3} of the limit");
        }
    });
}

/// Lines in order, since ranks print in none.
fn sorted(output: &str) -> Vec<String> {
    let mut lines: Vec<String> = output.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn open_mpi_starts_ranks_on_all_hosts() {
    if skipped(Hosts::available()) || skipped(Launch::open_mpi_available()) {
        return;
    }
    let hosts = Hosts::of(4).expect("hosts");
    let program = shell("echo $(hostname) $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE $(pwd)");
    let finished = Launch::open_mpi(2).over(&hosts).start(&program.current_dir("/usr/lib")).run();
    let said = sorted(&finished.expect("it ends").expect_code(0).stdout);
    let expected = (0..8).map(|rank| format!("node{} {rank} of 8 /usr/lib", rank / 2 + 1));
    assert_eq!(said, expected.collect::<Vec<_>>());
    let left: Vec<_> = (0..4).flat_map(|index| hosts.processes(index)).collect();
    assert_eq!(left, [], "the daemons are gone");
}

#[test]
fn mpich_starts_ranks_on_all_hosts() {
    if skipped(Hosts::available()) || skipped(Launch::mpich_available()) {
        return;
    }
    let hosts = Hosts::of(2).expect("hosts");
    let program = shell("echo $(hostname) $PMI_RANK of $PMI_SIZE");
    let finished = Launch::mpich(2).over(&hosts).start(&program).run();
    let said = sorted(&finished.expect("it ends").expect_code(0).stdout);
    assert_eq!(said, ["node1 0 of 4", "node1 1 of 4", "node2 2 of 4", "node2 3 of 4"]);
}

#[test]
fn a_launch_that_hangs_is_killed_with_its_ranks_and_daemons() {
    if skipped(Hosts::available()) || skipped(Launch::open_mpi_available()) {
        return;
    }
    let hosts = Hosts::of(2).expect("hosts");
    let program = Program::new("sleep").arg("600");
    let mut running = Launch::open_mpi(2).over(&hosts).start(&program).spawn().expect("it starts");
    let ranks = wait_for(&mut running, |running| {
        let ranks: Vec<_> = running.processes().into_iter().filter(|rank| rank.name() == "sleep").collect();
        (ranks.len() == 4).then_some(ranks)
    });
    let mut numbers: Vec<_> = ranks.iter().filter_map(testbed::Process::rank).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [0, 1, 2, 3]);
    hosts.stop(1);
    drop(running);
    let start = Instant::now();
    while (0..2).any(|index| !hosts.processes(index).is_empty()) {
        assert!(start.elapsed() < Duration::from_secs(10), "something goes on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn both_launchers_start_ranks_on_this_machine() {
    let rank = shell("echo ${OMPI_COMM_WORLD_RANK:-$PMI_RANK}");
    for (available, launch) in
        [(Launch::open_mpi_available(), Launch::open_mpi(4)), (Launch::mpich_available(), Launch::mpich(4))]
    {
        if !skipped(available) {
            let finished = launch.start(&rank).run().expect("it ends").expect_code(0);
            assert_eq!(sorted(&finished.stdout), ["0", "1", "2", "3"]);
        }
    }
}

#[test]
#[ignore = "started by `hosts_end_with_a_test_that_is_killed`"]
fn keeps_hosts_until_it_is_killed() {
    let hosts = Hosts::builder(1).devices(1, Limits::default()).build().expect("hosts");
    let _running = hosts.inside(0, &Program::new("sleep").arg("600.25")).spawn().expect("it starts");
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

#[test]
fn hosts_end_with_a_test_that_is_killed() {
    if skipped(Hosts::available()) || skipped(testbed::Testbed::available()) {
        return;
    }
    let this = std::env::current_exe().expect("this test");
    let arguments = ["--ignored", "--exact", "keeps_hosts_until_it_is_killed"];
    let mut other = Program::new(this).args(arguments).spawn().expect("it starts");
    let sleeper = wait_for(&mut other, |other| {
        other
            .processes()
            .into_iter()
            .find(|process| process.name() == "sleep" && is_the_sleeper(process.id()))
    });
    // Not even its descendants are told.
    other.signal(rustix::process::Signal::KILL).expect("it lives");
    other.wait().expect("it ends");
    let start = Instant::now();
    while is_the_sleeper(sleeper.id()) {
        assert!(start.elapsed() < Duration::from_secs(10), "it outlives the test that started it");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn is_the_sleeper(process: u32) -> bool {
    fs::read(format!("/proc/{process}/cmdline")).is_ok_and(|words| words == b"sleep\x00600.25\x00")
}
