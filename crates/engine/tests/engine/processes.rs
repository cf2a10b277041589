//! Several processes on one phase, here as threads that each run their part of the tasks.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::Duration;

use engine::{Controls, EngineError, PhaseJob, PhaseOutcome, Point, Rendezvous, RendezvousError};
use plan::{Backend, Nanos, Phase, Stonewall, Workload};

use crate::bed::{Bed, spec, with};

/// Processes that meet at barriers.
struct Peers {
    barrier: Barrier,
    most: AtomicU64,
    said: AtomicBool,
    points: Mutex<Vec<Point>>,
}

impl Peers {
    fn new(count: usize) -> Self {
        Self {
            barrier: Barrier::new(count),
            most: AtomicU64::new(0),
            said: AtomicBool::new(false),
            points: Mutex::default(),
        }
    }
}

impl Rendezvous for Peers {
    fn meet(&self, point: Point) -> Result<(), RendezvousError> {
        if self.barrier.wait().is_leader() {
            self.points.lock().expect("no panic").push(point);
        }
        Ok(())
    }

    fn begin(&self, point: Point) -> Result<Duration, RendezvousError> {
        self.meet(point).map(|()| Duration::ZERO)
    }

    fn fail(&self) {}

    fn agree_max(&self, value: u64) -> Result<u64, RendezvousError> {
        self.most.fetch_max(value, Ordering::SeqCst);
        self.barrier.wait();
        let most = self.most.load(Ordering::SeqCst);
        self.barrier.wait();
        Ok(most)
    }

    fn any(&self, value: bool) -> Result<bool, RendezvousError> {
        self.said.fetch_or(value, Ordering::SeqCst);
        self.barrier.wait();
        let any = self.said.load(Ordering::SeqCst);
        self.barrier.wait();
        Ok(any)
    }
}

/// Runs two halves of the tasks as two processes would.
fn run_in_halves(workload: &Workload, phase: Phase) -> ([Result<PhaseOutcome, EngineError>; 2], Vec<Point>) {
    let peers = Peers::new(2);
    let half = workload.tasks / 2;
    let outcomes = std::thread::scope(|scope| {
        let run = |tasks| {
            let mut job = PhaseJob::new(workload, phase, 0);
            job.tasks = tasks;
            engine::run(&job, &peers, &Controls::new())
        };
        let first = scope.spawn(move || run(0..half));
        let second = scope.spawn(move || run(half..workload.tasks));
        [first, second].map(|thread| thread.join().expect("no panic"))
    });
    (outcomes, peers.points.into_inner().expect("no panic"))
}

#[test]
fn processes_wear_out_to_the_most_of_any() {
    let mut null = spec("unused".into(), 4096, 1 << 40);
    null.backend = Backend::Null;
    null.tasks = 4;
    let workload = with(&null, |spec| {
        spec.barriers = true;
        spec.stonewall = Some(Stonewall { deadline: Nanos::millis(10), wear_out: true });
    });
    let (outcomes, points) = run_in_halves(&workload, Phase::Read);
    let [first, second] = outcomes.map(|outcome| outcome.expect("ran"));
    assert_eq!(first.most_transfers(), second.most_transfers());
    let tasks: Vec<u32> = first.tasks.iter().chain(&second.tasks).map(|task| task.task).collect();
    assert_eq!(tasks, [0, 1, 2, 3]);
    assert_eq!(points, [Point::Start, Point::Opened, Point::Transferred]);
}

#[test]
fn a_failure_in_one_process_ends_the_phase_for_all() {
    let bed = Bed::new();
    for backend in [Backend::Psync, Backend::Uring { depth: 4, required: true }] {
        let written = with(&bed.spec("file", 4096, 8), |spec| spec.tasks = 2);
        crate::bed::run(&written, Phase::Write).expect("written");
        let read = with(&bed.spec("file", 4096, 8), |spec| {
            spec.tasks = 4;
            spec.backend = backend;
            spec.barriers = true;
        });
        // The second half of the tasks reads where nothing was written.
        let ([first, second], _) = run_in_halves(&read, Phase::Read);
        assert!(matches!(first, Err(EngineError::Peer)), "{first:?}");
        assert!(matches!(second, Err(EngineError::FileTooShort { .. })), "{second:?}");
    }
}

#[test]
fn a_failure_before_the_start_leaves_nobody_waiting() {
    let bed = Bed::new();
    let workload = with(&bed.spec("file", 4096, 8), |spec| spec.tasks = 2);
    let peers = Peers::new(2);
    let impossible = with(&bed.spec("file", 4096, 8), |spec| {
        spec.tasks = 2;
        spec.backend = Backend::Uring { depth: 32_768, required: true };
        spec.geometry.transfer = plan::Bytes(1 << 30);
        spec.geometry.block = plan::Bytes(1 << 30);
        spec.geometry.segments = 1 << 20;
    });
    let run = |workload: &Workload, tasks| {
        let mut job = PhaseJob::new(workload, Phase::Write, 0);
        job.tasks = tasks;
        engine::run(&job, &peers, &Controls::new())
    };
    let (good, bad) = std::thread::scope(|scope| {
        let bad = scope.spawn(|| run(&impossible, 1..2));
        let good = scope.spawn(|| run(&workload, 0..1));
        (good.join().expect("no panic"), bad.join().expect("no panic"))
    });
    assert!(matches!(good, Err(EngineError::Peer)), "{good:?}");
    // 32 TiB of buffers are in no machine.
    assert!(matches!(bad, Err(EngineError::Memory { .. })), "{bad:?}");
    assert!(!bed.path("file").exists(), "nothing was begun");
}
