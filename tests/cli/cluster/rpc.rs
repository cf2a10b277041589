//! `ioproof rpc`: requests and responses within a process, between processes, and between hosts.

use std::fs;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use testbed::{Hosts, Program, Strace, skipped};

use crate::desk::{Desk, assert_near, assert_says, measured, run};
use crate::hosts::{list, no_hosts, number, over, text};

/// `ioproof rpc`, recorded on the desk.
fn rpc(desk: &Desk, words: &str) -> Program {
    desk.ioproof("rpc --yes").args(words.split_whitespace()).arg("--out").arg(desk.record())
}

#[test]
fn a_process_asks_itself_and_lists_are_swept() {
    let desk = Desk::new();
    let words = "--exchanges 200 --warm-up 0 --threads 1,2 --size 1,4k --verify";
    let ran = run(&rpc(&desk, words)).expect_code(0);
    assert_says(&ran.stdout, &["within one process, over loopback", "TCP"]);
    let figures = list(&desk, "figures");
    assert_eq!(figures.len(), 4, "two sizes, two numbers of threads");
    for figure in &figures {
        let conditions = text(&figure["conditions"]);
        let threads = if conditions.contains("2 threads") { 2.0 } else { 1.0 };
        assert_eq!(number(&figure["latency"][0]["transfers"]), 200.0 * threads, "{conditions}");
    }
    assert_eq!(desk.report().state(), "complete");
    assert!(desk.record().join("ends").is_dir(), "where the threads ran is in the record");
}

#[test]
fn plain_calls_do_where_io_uring_is_missing() {
    if skipped(Strace::available()) {
        return;
    }
    let desk = Desk::new();
    let strace = Strace::new().calls("io_uring_setup").inject("io_uring_setup", "error=ENOSYS");
    let words = "--exchanges 20 --warm-up 0 --threads 1 --connections 2 --depth 3";
    let _ = strace.run(&rpc(&desk, words)).expect("a trace").finished.expect_code(0);
    assert_says(&desk.tables(), &["6 connections", "psync"]);
    let figure = &list(&desk, "figures")[0];
    assert_eq!(
        number(&figure["latency"][0]["transfers"]),
        6.0 * 20.0,
        "as many requests under way as before"
    );
}

#[test]
fn sockets_are_bound_to_the_named_interface_alone() {
    if skipped(Strace::available()) {
        return;
    }
    let desk = Desk::new();
    let words = "--exchanges 5 --warm-up 0 --interface lo";
    let trace = Strace::new().calls("bind,listen").run(&rpc(&desk, words)).expect("a trace");
    let _ = trace.finished.clone().expect_code(0);
    let inet: Vec<String> = trace
        .of("bind")
        .map(|call| call.arguments.join(","))
        .filter(|arguments| arguments.contains("AF_INET"))
        .collect();
    assert!(!inet.is_empty() && trace.of("listen").count() > 0);
    for arguments in &inet {
        assert!(arguments.contains("127.0.0.1"), "{arguments}");
    }
}

#[test]
fn what_cannot_be_bound_is_refused_with_the_next_step() {
    let desk = Desk::new();
    let refused = run(&rpc(&desk, "--interface nowhere7")).expect_code(4);
    assert_says(&refused.stderr, &["no network interface nowhere7", "lo"]);
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("known").port();
    fs::remove_dir_all(desk.record()).expect("removed");
    let refused = run(&rpc(&desk, &format!("--interface lo --port {port}"))).expect_code(4);
    assert_says(&refused.stderr, &["the port is in use", &port.to_string()]);
    fs::remove_dir_all(desk.record()).expect("removed");
    let refused = run(&rpc(&desk, "--bind numa:4000")).expect_code(4);
    assert_says(&refused.stderr, &["no such NUMA node"]);
    let wrong = run(&rpc(&desk, "--bind somewhere")).expect_code(2);
    assert_says(&wrong.stderr, &["somewhere", "numa:0", "adapter"]);
}

/// Sockets of a host that are listening, and sockets that are connected.
fn sockets(hosts: &Hosts, index: usize, options: &str) -> String {
    run(&hosts.inside(index, &Program::new("ss").arg(options))).expect_code(0).stdout
}

#[test]
fn measured_a_link_with_a_limit_gives_what_it_has() {
    if no_hosts() {
        return;
    }
    const LIMIT: u64 = 200_000_000;
    // Of 1514 bytes on the wire, 1448 are message payload.
    const PAYLOAD: f64 = LIMIT as f64 / 8.0 * 1448.0 / 1514.0;
    let hosts = Hosts::of(2).expect("hosts");
    hosts.limit_link(1, LIMIT).expect("limited");
    measured(|times| {
        let desk = Desk::new();
        let seconds = 2 * times;
        let words = format!("--write --size 64k --threads 2 --depth 4 --interface eth0 --seconds {seconds}");
        let mut running = over(&hosts, 1, &rpc(&desk, &words)).spawn().expect("it starts");
        let start = Instant::now();
        while !sockets(&hosts, 1, "-Htn").contains("10.77.0.2:") {
            assert!(!running.has_ended().expect("its state is known"), "it ended too early");
            assert!(start.elapsed() < Duration::from_secs(40), "nothing was exchanged");
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(700));
        // The launcher's connections use the same network.
        let ours = |text: &str| text.lines().filter(|line| line.contains("ioproof")).count();
        assert_eq!(ours(&sockets(&hosts, 1, "-Htlnp")), mpi_listens(&hosts), "all have come: nobody listens");
        let _ = running.wait().expect("it ends").expect_code(0);
        assert_says(&desk.tables(), &["eth0", "of 2 nodes"]);
        let rate = desk.report().rate("exchange");
        assert_near("the link", rate, PAYLOAD, 0.05);
        assert_eq!(ours(&sockets(&hosts, 1, "-Htnp")), 0, "nothing is left behind");
    });
}

/// Sockets at which the MPI library of a rank listens; they do not belong to ioproof.
fn mpi_listens(hosts: &Hosts) -> usize {
    let all = sockets(hosts, 0, "-Htlnp");
    all.lines().filter(|line| line.contains("ioproof")).count()
}

#[test]
fn many_ask_one_and_all_ask_all() {
    if no_hosts() {
        return;
    }
    let hosts = Hosts::of(3).expect("hosts");
    let desk = Desk::new();
    let words = "--pattern many-to-one,all-to-all --exchanges 50 --warm-up 0 --connections 2 --verify";
    let _ = run(&over(&hosts, 1, &rpc(&desk, words))).expect_code(0);
    let transfers: Vec<f64> =
        list(&desk, "figures").iter().map(|figure| number(&figure["latency"][0]["transfers"])).collect();
    assert_eq!(transfers, [2.0 * 2.0 * 50.0, 6.0 * 2.0 * 50.0]);
}

#[test]
fn measured_a_host_that_stops_is_named() {
    if no_hosts() {
        return;
    }
    measured(|_| {
        let (desk, hosts) = (Desk::new(), Hosts::of(2).expect("hosts"));
        let words = "--seconds 600 --deadline 2 --interface eth0";
        let mut running = over(&hosts, 1, &rpc(&desk, words)).spawn().expect("it starts");
        let start = Instant::now();
        while sockets(&hosts, 1, "-Htnp").lines().filter(|line| line.contains("ioproof")).count() < 2 {
            assert!(!running.has_ended().expect("its state is known"), "it ended too early");
            assert!(start.elapsed() < Duration::from_secs(40), "nothing was exchanged");
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_secs(1));
        hosts.stop(1);
        let leads = |running: &testbed::Running| {
            running.processes().iter().any(|one| one.name() == "ioproof" && one.rank() == Some(0))
        };
        let start = Instant::now();
        while leads(&running) && start.elapsed() < Duration::from_secs(50) {
            std::thread::sleep(Duration::from_millis(50));
        }
        hosts.go_on(1);
        let ended = running.wait().expect("it ends");
        assert_ne!(ended.code, Some(0));
        assert_says(&ended.stderr, &["node2"]);
    });
}
