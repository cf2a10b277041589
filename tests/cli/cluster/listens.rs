//! Where the program listens and where it connects to, as documented in `docs/SECURITY.md`.

use std::fs;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use testbed::{Call, Hosts, Launch, Program, Strace, Trace, skipped};

use crate::desk::{Desk, assert_says, fio, run};
use crate::hosts::{no_hosts, over};

/// Calls that create, name and use sockets.
const SOCKETS: &str = "socket,bind,listen,accept4,connect,sendto,close";

fn traced(program: &Program) -> Trace {
    let trace = Strace::new().calls(SOCKETS).run(program).expect("a trace");
    // The checks raise doubts about runs as short as these.
    assert!([Some(0), Some(8)].contains(&trace.finished.code), "{:?}", trace.finished);
    trace
}

fn is_inet(call: &Call) -> bool {
    call.arguments.iter().any(|argument| argument.contains("AF_INET"))
}

fn expect_silent(trace: &Trace, words: &str) {
    // The standard library creates a socket pair when it starts a program. These sockets have no name and are not
    // connected to anything else.
    let calls = ["socket", "bind", "listen", "accept4", "connect"];
    let sockets: Vec<&Call> = calls.into_iter().flat_map(|name| trace.of(name)).collect();
    assert!(sockets.is_empty(), "{words}: {sockets:?}");
}

#[test]
fn without_rpc_nothing_listens_or_connects() {
    if skipped(Strace::available()) {
        return;
    }
    let (desk, data) = Desk::with_data();
    let jobs = "[[table]]\nname = \"sales\"\nsize = \"1MB\"\ngroups = 100\n\n[[test]]\nname = \"sum\"\n\
                kind = \"io\"\nmemory = \"8MiB\"\n\n[[test.step]]\ndo = \"summarise\"\ninput = \"sales\"\n";
    let study = format!(
        "[[target]]\nname = \"disk\"\ndirectory = \"{}\"\n\n[[workload]]\nname = \"w\"\ntransfer = \"64KiB\"\nsize = \"1MiB\"\n\n\
         [[workload]]\nname = \"jobs\"\nwork = \"jobs\"\npage = \"64KiB\"\n{jobs}",
        data.display()
    );
    fs::write(desk.path("study.toml"), study).expect("the study is written");
    let mut all = vec![
        "run study.toml --yes --out record",
        "ior -a POSIX -w -r -t 64k -b 256k -o f --out other",
        "mdtest -n 4 -d data --out trees",
        "ioping -c 2 data",
        "report record --full",
        "report record --format html",
        "report record --format openmetrics",
        "compare record other",
        "check record",
        "merge both record other",
        "host facts",
        "studies",
        "reference list",
    ];
    if !skipped(fio()) {
        all.push("cross-check data --size 16MiB --time 200ms --case rand-read-d1 --out cross");
    }
    for words in all {
        expect_silent(&traced(&desk.ioproof(words)), words);
    }
}

#[test]
fn in_a_launch_without_rpc_only_the_library_would_listen() {
    if skipped(Strace::available()) || skipped(Launch::open_mpi_available()) {
        return;
    }
    let (desk, _) = Desk::with_data();
    let traces = desk.path("traces");
    fs::create_dir(&traces).expect("a directory");
    let ranks = Program::new("strace")
        .args(["-ff", "-qq", "-e", "trace=bind,listen,accept4", "-o"])
        .arg(traces.join("of"))
        .arg(env!("CARGO_BIN_EXE_ioproof"))
        .args("ior -a POSIX -w -t 64k -b 256k -o f --out record".split(' '))
        .current_dir(desk.path("data"));
    // Between the ranks of one host, the MPI library is told not to use sockets.
    let _ = run(&Launch::open_mpi(2).start(&ranks)).expect_code(0);
    let traces: Vec<String> = fs::read_dir(&traces)
        .expect("readable")
        .map(|entry| fs::read_to_string(entry.expect("an entry").path()).expect("readable"))
        .collect();
    assert!(traces.len() >= 2, "each rank has one");
    for line in traces.iter().flat_map(|trace| trace.lines()) {
        let calls = ["bind(", "listen(", "accept4("];
        assert!(!calls.iter().any(|call| line.contains(call)), "{line}");
    }
}

/// The first number in the arguments of a call: its descriptor.
fn descriptor(call: &Call) -> &str {
    let first = call.arguments.first().map_or("", String::as_str);
    first.split('<').next().unwrap_or_default()
}

#[test]
fn within_a_host_rpc_listens_at_loopback_until_all_have_come() {
    if skipped(Strace::available()) {
        return;
    }
    let desk = Desk::new();
    let words = "rpc --yes --exchanges 5 --warm-up 0 --threads 2 --size 3000 --blocking";
    let trace = traced(&desk.ioproof(words).arg("--out").arg(desk.record()));
    let named: Vec<&Call> = trace.of("bind").filter(|call| is_inet(call)).collect();
    assert_eq!(named.len(), 1);
    for call in named.into_iter().chain(trace.of("connect").filter(|call| is_inet(call))) {
        assert!(call.arguments.concat().contains("127.0.0.1"), "{call:?}");
    }
    let [listen] = trace.of("listen").collect::<Vec<_>>()[..] else { panic!("{:?}", trace.calls) };
    let closed = trace
        .of("close")
        .find(|call| call.at_unix_ns > listen.at_unix_ns && descriptor(call) == descriptor(listen));
    let closed = closed.expect("it is closed").at_unix_ns;
    let exchanged = |call: &&Call| call.arguments.get(2).is_some_and(|bytes| bytes == "3000");
    let first = trace.of("sendto").find(exchanged).expect("an exchange").at_unix_ns;
    assert!(closed < first, "it listens during exchanges");
    let accepted = trace.of("accept4").filter(|call| call.returned.is_some_and(|one| one >= 0));
    assert_eq!(accepted.count(), 2, "a connection for each thread");
}

#[test]
fn between_hosts_rpc_listens_at_the_address_of_the_interface() {
    if skipped(Strace::available()) || no_hosts() {
        return;
    }
    let (desk, hosts) = (Desk::new(), Hosts::of(2).expect("hosts"));
    let words = "rpc --yes --exchanges 5 --warm-up 0 --port 17077";
    let program = over(&hosts, 1, &desk.ioproof(words).arg("--out").arg(desk.record()));
    let trace = traced(&program);
    let ours = |call: &&Call| call.arguments.concat().contains("htons(17077)");
    let named: Vec<&Call> = trace.of("bind").filter(ours).collect();
    assert_eq!(named.len(), 1, "end 1 answers: {named:?}");
    assert!(named[0].arguments.concat().contains("10.77.0.2"), "{:?}", named[0]);
}

/// The addresses that listen at this port on this host, in the kernel's notation.
fn listening_at(port: u16) -> Vec<String> {
    let tables =
        ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| fs::read_to_string(table).unwrap_or_default());
    let lines = tables.iter().flat_map(|table| table.lines().skip(1));
    let sockets = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
    let listens = sockets.filter(|fields| fields.get(3) == Some(&"0A"));
    let named = listens.filter_map(|fields| fields.get(1)?.split_once(':'));
    let here = named.filter(|(_, other)| u16::from_str_radix(other, 16) == Ok(port));
    here.map(|(address, _)| address.to_owned()).collect()
}

#[test]
fn strangers_at_the_port_of_rpc_are_counted_in_the_record() {
    if skipped(Strace::available()) {
        return;
    }
    const STRANGERS: usize = 100;
    let desk = Desk::new();
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("known").port();
    let words = format!("rpc --yes --exchanges 5 --warm-up 0 --threads 1 --port {port}");
    let program = desk.ioproof(&words).arg("--out").arg(desk.record());
    // The connecting process is delayed before it connects, so that others have time to connect first.
    let strace = Strace::new().calls("connect").inject("connect", "delay_enter=5000000");
    std::thread::scope(|scope| {
        let traced = scope.spawn(|| strace.run(&program).expect("a trace").finished.expect_code(0));
        while listening_at(port).is_empty() {
            assert!(!traced.is_finished(), "it ended before it listened");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(listening_at(port), ["0100007F"], "127.0.0.1 alone");
        let strangers: Vec<TcpStream> =
            (0..STRANGERS).map(|_| TcpStream::connect(("127.0.0.1", port)).expect("it listens")).collect();
        let _ = traced.join().expect("no panic");
        for mut stranger in strangers {
            let mut told = Vec::new();
            assert!(stranger.read_to_end(&mut told).is_err() || told.is_empty(), "{told:?}");
        }
    });
    assert_eq!(listening_at(port), [""; 0]);
    assert_says(&desk.tables(), &["100 connections"]);
}
