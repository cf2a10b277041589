//! Exchanges over loopback, between threads in the role of processes, and with misbehaving peers.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};

use plan::{Backend, Bytes, Geometry, Nanos, Operation, Pattern, Phase, Rpc, Workload, WorkloadSpec};

use super::NetworkError;
use super::endpoint_exchange::{Card, Key, Offer};
use crate::{
    Controls, EngineError, PhaseJob, PhaseOutcome, Point, Rendezvous, RendezvousError, SingleProcess,
};

const BACKENDS: [Backend; 3] = [
    Backend::Psync,
    Backend::Uring { depth: 1, required: true },
    Backend::Uring { depth: 5, required: true },
];

fn random() -> Key {
    super::endpoint_exchange::random().expect("the kernel gives random bits")
}

fn workload(rpc: Rpc, backend: Backend, change: impl FnOnce(&mut WorkloadSpec)) -> Workload {
    let geometry = Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 };
    let mut spec = WorkloadSpec::new("w", "unused", geometry);
    spec.files.targets.clear();
    (spec.tasks, spec.work, spec.backend, spec.verify) = (rpc.tasks(), rpc.into(), backend, true);
    change(&mut spec);
    spec.validate().expect("valid")
}

fn rpc_of(workload: &Workload) -> &Rpc {
    workload.work.rpc().expect("exchanges")
}

/// Processes that synchronise at barriers.
struct Peers {
    barrier: Barrier,
    shared: Mutex<Vec<(u32, Vec<u8>)>>,
    said: AtomicBool,
    controls: Vec<Controls>,
}

/// One of them.
struct Peer<'p>(u32, &'p Peers);

impl Rendezvous for Peer<'_> {
    fn meet(&self, _point: Point) -> Result<(), RendezvousError> {
        self.1.barrier.wait();
        Ok(())
    }

    fn begin(&self, point: Point) -> Result<Duration, RendezvousError> {
        self.meet(point).map(|()| Duration::ZERO)
    }

    fn agree_max(&self, value: u64) -> Result<u64, RendezvousError> {
        Ok(value)
    }

    fn any(&self, value: bool) -> Result<bool, RendezvousError> {
        self.1.said.fetch_or(value, Ordering::SeqCst);
        self.1.barrier.wait();
        let any = self.1.said.load(Ordering::SeqCst);
        self.1.barrier.wait();
        Ok(any)
    }

    fn share(&self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, RendezvousError> {
        self.1.shared.lock().expect("no panic").push((self.0, own));
        self.1.barrier.wait();
        let mut all = self.1.shared.lock().expect("no panic").clone();
        all.sort();
        if self.1.barrier.wait().is_leader() {
            self.1.shared.lock().expect("no panic").clear();
        }
        self.1.barrier.wait();
        Ok(all.into_iter().map(|(_, bytes)| bytes).collect())
    }

    fn fail(&self) {
        self.1.controls.iter().for_each(Controls::halt);
    }
}

/// Runs each endpoint in a thread.
fn run_all(workload: &Workload) -> Vec<Result<PhaseOutcome, EngineError>> {
    run_each(|_| workload.clone(), rpc_of(workload).ends)
}

fn run_each(workload: impl Fn(u32) -> Workload + Sync, ends: u32) -> Vec<Result<PhaseOutcome, EngineError>> {
    let peers = Peers {
        barrier: Barrier::new(ends as usize),
        shared: Mutex::default(),
        said: AtomicBool::new(false),
        controls: (0..ends).map(|_| Controls::new()).collect(),
    };
    let run = |end: u32| {
        let workload = workload(end);
        let tasks = rpc_of(&workload).tasks_of(end);
        let job = PhaseJob { end, tasks, ..PhaseJob::new(&workload, Phase::Exchange, 0) };
        crate::run(&job, &Peer(end, &peers), &peers.controls[end as usize])
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..ends).map(|end| scope.spawn(move || run(end))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

fn alone(workload: &Workload) -> Result<PhaseOutcome, EngineError> {
    crate::run(&PhaseJob::new(workload, Phase::Exchange, 0), &SingleProcess, &Controls::new())
}

fn errors(ended: &[Result<PhaseOutcome, EngineError>]) -> Vec<String> {
    ended.iter().filter_map(|end| end.as_ref().err()).map(ToString::to_string).collect()
}

fn network(result: Result<PhaseOutcome, EngineError>) -> NetworkError {
    match result {
        Err(EngineError::Network(error)) => error,
        Err(error) => panic!("no error of the network: {error}"),
        Ok(outcome) => panic!("no error, but {} exchanges", outcome.items),
    }
}

#[test]
fn every_byte_arrives_and_every_exchange_is_counted() {
    for backend in BACKENDS {
        for (request, response) in
            [(1, 1), (1, 3000), (1024, 1024), (700_001, 1), (1, 700_001), (65_536, 65_536)]
        {
            let rpc = Rpc { connections: 3, threads: 2, ..Rpc::new(Bytes(request), Bytes(response)) };
            let outcome = alone(&workload(rpc, backend, |spec| spec.operations = Some(20))).expect("it runs");
            let named = format!("{backend:?} {request} {response}");
            assert_eq!((outcome.items, outcome.reads, outcome.writes), (60, 0, 0), "{named}");
            assert_eq!((outcome.write_bytes, outcome.read_bytes), (60 * request, 60 * response), "{named}");
            assert_eq!((outcome.tasks.len(), outcome.tasks[2].items), (3, 20), "{named}");
            let [latency] = outcome.latency.as_slice() else { panic!("{named}: {:?}", outcome.latency) };
            assert_eq!((latency.operation, latency.histogram.total()), (Operation::Exchange, 60), "{named}");
            assert_eq!(outcome.series.iter().map(|one| one.transfers).sum::<u64>(), 60, "{named}");
            assert_eq!(outcome.mismatches.wrong_cells, 0, "{named}: {:?}", outcome.mismatches.first);
            let cells = 60 * (request + response) / 512;
            assert!(outcome.mismatches.checked_cells >= cells, "{named}");
            let end = outcome.end.expect("an end");
            let threads = if backend == Backend::Psync { 3 } else { 2 };
            assert_eq!((end.client_threads, end.server_threads), (threads, threads), "{named}");
            assert_eq!((end.transport.as_str(), end.interface.as_str(), end.shut_out), ("TCP", "lo", 0));
            assert!(end.rdma.starts_with("RDMA not available: "), "{}", end.rdma);
        }
    }
}

#[test]
fn wrong_bytes_are_found_on_either_side() {
    for backend in BACKENDS {
        let rpc = Rpc { ends: 2, ..Rpc::new(Bytes(2000), Bytes(500)) };
        // Each endpoint expects the bytes of its own signature.
        let other = |end: u32| {
            workload(rpc.clone(), backend, |spec| {
                (spec.signature, spec.operations) = (u64::from(end), Some(4))
            })
        };
        let [client, server] = run_each(other, 2).try_into().expect("two");
        let (client, server) = (client.expect("it runs"), server.expect("it runs"));
        assert!(client.mismatches.wrong_cells >= 4 && server.mismatches.wrong_cells >= 15, "{backend:?}");
        let words = client.mismatches.first[0].to_string();
        assert!(words.contains("connection 0 with ") && words.contains("wrong data at offset 0"), "{words}");
        let strict = |end: u32| {
            workload(rpc.clone(), backend, |spec| {
                (spec.signature, spec.operations, spec.quit_on_error) = (u64::from(end), Some(4), true);
            })
        };
        let ended = run_each(strict, 2);
        let said = errors(&ended);
        assert!(ended.iter().any(|end| matches!(end, Err(EngineError::WrongData(_)))), "{said:?}");
        assert_eq!(said.len(), 2, "{said:?}");
    }
}

#[test]
fn all_patterns_ask_whom_they_should() {
    for backend in BACKENDS {
        for pattern in Pattern::ALL {
            let rpc =
                Rpc { ends: 4, pattern, connections: 2, threads: 3, ..Rpc::new(Bytes(100), Bytes(5000)) };
            let workload = workload(rpc.clone(), backend, |spec| spec.operations = Some(7));
            let all: Vec<PhaseOutcome> =
                run_all(&workload).into_iter().map(|end| end.expect("it runs")).collect();
            let mut seen = Vec::new();
            for (end, outcome) in (0..).zip(&all) {
                assert_eq!(outcome.items, 7 * rpc.tasks_of(end).len() as u64, "{pattern} {end}");
                assert_eq!(outcome.mismatches.wrong_cells, 0);
                let known = outcome.end.as_ref().expect("an end");
                assert_eq!(
                    (known.client_threads > 0, known.server_threads > 0),
                    (rpc.asks(end), rpc.answers(end))
                );
                seen.extend(outcome.tasks.iter().map(|task| (end, task.file)));
            }
            let pairs: Vec<(u32, u32)> = rpc.pairs().flat_map(|pair| [pair, pair]).collect();
            assert_eq!(seen, pairs, "{pattern}");
        }
    }
}

#[test]
fn exchanges_of_the_warm_up_are_not_counted_and_a_duration_ends_the_rest() {
    for backend in BACKENDS {
        let warm_up = Nanos::millis(60);
        let rpc = Rpc { warm_up, connections: 2, ..Rpc::new(Bytes(64), Bytes(64)) };
        let timed = workload(rpc, backend, |spec| spec.duration = Some(Nanos::millis(100)));
        let outcome = alone(&timed).expect("it runs");
        assert!(outcome.items > 0);
        for task in &outcome.tasks {
            assert!(task.io_start_ns >= warm_up.0, "{task:?}");
            assert!(task.io_end_ns >= task.io_start_ns, "{task:?}");
        }
        let total: u64 = outcome.latency.iter().map(|latency| latency.histogram.total()).sum();
        assert_eq!(total, outcome.items);
    }
}

#[test]
fn a_stop_ends_exchanges_without_an_error() {
    for backend in BACKENDS {
        let rpc = Rpc { connections: 2, ..Rpc::new(Bytes(64), Bytes(64)) };
        let endless = workload(rpc, backend, |spec| spec.duration = Some(Nanos::secs(3600)));
        let controls = Controls::new();
        let outcome = std::thread::scope(|scope| {
            let job = PhaseJob::new(&endless, Phase::Exchange, 0);
            let controls = &controls;
            let ran = scope.spawn(move || crate::run(&job, &SingleProcess, controls));
            while controls.progress().transfers < 10 {
                std::thread::sleep(Duration::from_millis(1));
            }
            controls.stop();
            ran.join().expect("no panic")
        });
        let outcome = outcome.expect("it runs");
        assert!(outcome.stopped && outcome.items >= 10, "{backend:?}");
    }
}

#[test]
fn what_cannot_be_bound_is_an_error_on_all_ends() {
    let two = || Rpc { ends: 2, ..Rpc::new(Bytes(1), Bytes(1)) };
    let nowhere = Rpc { interface: Some("nowhere7".into()), ..two() };
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = Some(taken.local_addr().expect("known").port());
    let used = Rpc { port, interface: Some("lo".into()), ..two() };
    let far = Rpc { client_binding: "1023".parse().expect("a processor"), ..two() };
    for (rpc, says) in [(nowhere, "nowhere7"), (used, "in use"), (far, "1023")] {
        let workload = workload(rpc, Backend::Psync, |spec| spec.operations = Some(1));
        let ended = run_all(&workload);
        let said = errors(&ended);
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said.iter().any(|words| words.contains(says)), "{said:?}");
    }
}

/// A single process; the function supplies the bytes of all processes.
struct FakeRendezvous<F>(F);

impl<F: Fn(Vec<u8>) -> Result<Vec<Vec<u8>>, RendezvousError> + Sync> Rendezvous for FakeRendezvous<F> {
    fn meet(&self, point: Point) -> Result<(), RendezvousError> {
        SingleProcess.meet(point)
    }

    fn begin(&self, point: Point) -> Result<Duration, RendezvousError> {
        SingleProcess.begin(point)
    }

    fn agree_max(&self, value: u64) -> Result<u64, RendezvousError> {
        SingleProcess.agree_max(value)
    }

    fn any(&self, value: bool) -> Result<bool, RendezvousError> {
        SingleProcess.any(value)
    }

    fn share(&self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, RendezvousError> {
        self.0(own)
    }

    fn fail(&self) {}
}

/// A peer simulated by the test: it publishes its address, and behaves as the test wants.
struct Played {
    offer: Offer,
    rounds: Mutex<u32>,
}

impl Played {
    fn at(listener: &TcpListener) -> Self {
        let address = listener.local_addr().expect("known");
        let offer = Offer { key: random(), answer: random(), ways: vec![(address, vec![0])] };
        Self { offer, rounds: Mutex::new(0) }
    }

    /// A rendezvous with it.
    fn rendezvous(&self) -> impl Rendezvous {
        FakeRendezvous(|own| Ok(vec![own, self.card()]))
    }

    /// The bytes it shares next.
    fn card(&self) -> Vec<u8> {
        let mut round = self.rounds.lock().expect("no panic");
        *round += 1;
        let card = Card {
            end: 1,
            name: "other".into(),
            identity: "elsewhere".into(),
            addresses: vec![[127, 0, 0, 1].into()],
        };
        if *round == 1 { card.write() } else { self.offer.write(1) }
    }
}

/// The error that a client reports about a peer that runs `role` after accepting its connection.
fn asked(backend: Backend, role: impl FnOnce(TcpStream) + Send, knows_key: bool) -> (NetworkError, Duration) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let played = Played::at(&listener);
    let deadline = Nanos::millis(400);
    let rpc = Rpc { ends: 2, deadline, ..Rpc::new(Bytes(100), Bytes(100)) };
    let workload = workload(rpc, backend, |spec| spec.duration = Some(Nanos::secs(3600)));
    let answer = if knows_key { played.offer.answer } else { random() };
    let (key, start) = (played.offer.key, Instant::now());
    let error = std::thread::scope(|scope| {
        scope.spawn(move || {
            let (mut stream, _) = listener.accept().expect("a caller");
            let mut hello = [0; 20];
            stream.read_exact(&mut hello).expect("a key");
            assert_eq!(hello[..16], key);
            stream.write_all(&answer).expect("answered");
            role(stream);
        });
        let job = PhaseJob { end: 0, tasks: 0..1, ..PhaseJob::new(&workload, Phase::Exchange, 0) };
        network(crate::run(&job, &played.rendezvous(), &Controls::new()))
    });
    (error, start.elapsed())
}

#[test]
fn a_peer_that_stalls_closes_or_does_not_know_the_key_is_named() {
    for backend in BACKENDS {
        let silent = |mut stream: TcpStream| {
            // Until the peer closes the connection.
            let mut all = Vec::new();
            let _ = stream.read_to_end(&mut all);
            assert!(!all.is_empty());
        };
        let (error, took) = asked(backend, silent, true);
        assert!(
            matches!(&error, NetworkError::Stalled { peer, .. } if peer.starts_with("other (127.0.0.1:")),
            "{error:?}"
        );
        assert!(took >= Duration::from_millis(400), "{took:?}");
        let one = |mut stream: TcpStream| {
            let mut request = [0; 100];
            stream.read_exact(&mut request).expect("a request");
            stream.write_all(&request).expect("a response");
            stream.read_exact(&mut request).expect("another request");
        };
        let (error, _) = asked(backend, one, true);
        assert!(
            matches!(&error, NetworkError::Closed { peer, exchanges: 1 } if peer.starts_with("other")),
            "{error:?}"
        );
        let (error, _) = asked(backend, drop, false);
        assert!(matches!(&error, NetworkError::NotOurs { .. }), "{error:?}");
    }
}

#[test]
fn who_answers_names_a_peer_that_does_not_come() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let rpc = Rpc {
        ends: 2,
        deadline: Nanos::millis(300),
        pattern: Pattern::ManyToOne,
        ..Rpc::new(Bytes(1), Bytes(1))
    };
    let workload = workload(Rpc { interface: Some("lo".into()), ..rpc }, Backend::Psync, |spec| {
        spec.operations = Some(1)
    });
    let played = Played::at(&listener);
    // The simulated peer is endpoint 1, a client; it never connects.
    let job = PhaseJob { end: 0, tasks: 0..0, ..PhaseJob::new(&workload, Phase::Exchange, 0) };
    let error = network(crate::run(&job, &played.rendezvous(), &Controls::new()));
    assert!(
        matches!(&error, NetworkError::Missing { missing: 1, all: 1, peer, .. } if peer == "other"),
        "{error:?}"
    );
}

#[test]
fn a_stranger_without_the_key_is_shut_out_and_counted() {
    for backend in BACKENDS {
        let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("known").port();
        let rpc = Rpc { port: Some(free), ..Rpc::new(Bytes(10), Bytes(10)) };
        let workload = workload(rpc, backend, |spec| spec.operations = Some(5));
        let came = AtomicBool::new(false);
        let guarded = FakeRendezvous(|own: Vec<u8>| {
            if Offer::read(&own).is_some_and(|(_, offer)| !offer.ways.is_empty()) {
                // It listens now: first in its queue is a stranger with an invalid key.
                let mut stranger = TcpStream::connect(("127.0.0.1", free))?;
                stranger.write_all(&[7; 20])?;
                came.store(true, Ordering::SeqCst);
                std::mem::forget(stranger);
            }
            Ok(vec![own])
        });
        let job = PhaseJob::new(&workload, Phase::Exchange, 0);
        let outcome = crate::run(&job, &guarded, &Controls::new()).expect("it runs");
        assert!(came.load(Ordering::SeqCst));
        assert_eq!(outcome.items, 5);
        assert_eq!(outcome.end.expect("an end").shut_out, 1);
        let after = TcpStream::connect(("127.0.0.1", free));
        assert!(after.is_err(), "nobody listens after the phase");
    }
}
