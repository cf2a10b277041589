//! Several processes working on one phase. Here they are threads that each run their share of the tasks.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};

use engine::{Controls, EngineError, PhaseJob, PhaseOutcome, Point, Rendezvous, RendezvousError};
use plan::{Backend, Nanos, Phase, Stonewall, Workload};

use crate::bed::{Bed, spec, with};

/// Processes that synchronize at barriers.
struct Peers {
    barrier: Barrier,
    most: AtomicU64,
    shared: Mutex<Vec<Vec<u8>>>,
    said: AtomicBool,
    points: Mutex<Vec<Point>>,
    /// When the last process reached the most recent `begin`.
    last_came: Mutex<Option<Instant>>,
    failed: AtomicU32,
    /// The controls of all processes, which are halted when one has failed.
    controls: Vec<Controls>,
}

impl Peers {
    fn new(count: usize) -> Self {
        Self {
            barrier: Barrier::new(count),
            most: AtomicU64::new(0),
            shared: Mutex::default(),
            said: AtomicBool::new(false),
            points: Mutex::default(),
            last_came: Mutex::default(),
            failed: AtomicU32::new(0),
            controls: (0..count).map(|_| Controls::new()).collect(),
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
        let now = Instant::now();
        let mut last = self.last_came.lock().expect("no panic");
        *last = (*last).max(Some(now));
        drop(last);
        self.meet(point)?;
        let last = self.last_came.lock().expect("no panic").expect("this process came");
        Ok(last.elapsed())
    }

    fn fail(&self) {
        self.failed.fetch_add(1, Ordering::SeqCst);
        self.controls.iter().for_each(Controls::halt);
    }

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

    /// The order is arbitrary: threads have no numbers here.
    fn share(&self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, RendezvousError> {
        self.shared.lock().expect("no panic").push(own);
        self.barrier.wait();
        let all = self.shared.lock().expect("no panic").clone();
        self.barrier.wait();
        Ok(all)
    }
}

/// Runs two halves of the tasks, as two processes would.
fn run_in_halves(workload: &Workload, phase: Phase) -> ([Result<PhaseOutcome, EngineError>; 2], Vec<Point>) {
    let peers = Peers::new(2);
    let half = workload.tasks / 2;
    let outcomes = std::thread::scope(|scope| {
        let run = |tasks| {
            let mut job = PhaseJob::new(workload, phase, 0);
            job.tasks = tasks;
            let controls = &peers.controls[usize::from(job.tasks.start > 0)];
            engine::run(&job, &peers, controls)
        };
        let first = scope.spawn(move || run(0..half));
        let second = scope.spawn(move || run(half..workload.tasks));
        [first, second].map(|thread| thread.join().expect("no panic"))
    });
    let failures = outcomes.iter().filter(|outcome| outcome.is_err()).count();
    assert_eq!(peers.failed.load(Ordering::SeqCst), u32::from(failures > 0), "who fails says so once");
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
    for backend in [Backend::Psync, Backend::Uring { depth: 4, required: true }, Backend::Libaio { depth: 4 }]
    {
        let written = with(&bed.spec("file", 4096, 8), |spec| spec.tasks = 2);
        crate::bed::run(&written, Phase::Write).expect("written");
        let read = with(&bed.spec("file", 4096, 8), |spec| {
            spec.tasks = 4;
            spec.backend = backend;
            spec.barriers = true;
        });
        // The second half of the tasks reads beyond the written data.
        let ([first, second], _) = run_in_halves(&read, Phase::Read);
        assert!(matches!(first, Err(EngineError::Peer)), "{first:?}");
        assert!(matches!(second, Err(EngineError::FileTooShort { .. })), "{second:?}");
    }
}

/// A process that is notified of each begin with a delay of `late`.
struct Late<'p> {
    peers: &'p Peers,
    late: Duration,
}

impl Rendezvous for Late<'_> {
    fn meet(&self, point: Point) -> Result<(), RendezvousError> {
        self.peers.meet(point)
    }

    fn begin(&self, point: Point) -> Result<Duration, RendezvousError> {
        let ago = self.peers.begin(point)?;
        let heard = Instant::now();
        std::thread::sleep(self.late);
        Ok(ago + heard.elapsed())
    }

    fn agree_max(&self, value: u64) -> Result<u64, RendezvousError> {
        self.peers.agree_max(value)
    }

    fn any(&self, value: bool) -> Result<bool, RendezvousError> {
        self.peers.any(value)
    }

    fn share(&self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, RendezvousError> {
        self.peers.share(own)
    }

    fn fail(&self) {
        self.peers.fail();
    }
}

#[test]
fn times_and_series_of_all_processes_count_from_one_moment() {
    const LATE: Duration = Duration::from_millis(400);
    const INTERVAL: Nanos = Nanos::millis(50);
    let late_ns = u64::try_from(LATE.as_nanos()).expect("short");
    let bed = Bed::new();
    for backend in [Backend::Null, Backend::Psync, Backend::Uring { depth: 2, required: true }] {
        let workload = with(&bed.spec("file", 4096, 64), |spec| {
            spec.tasks = 2;
            spec.backend = backend;
        });
        let peers = Peers::new(2);
        let run = |task: u32, late: Duration| {
            let mut job = PhaseJob::new(&workload, Phase::Write, 0);
            job.tasks = task..task + 1;
            job.series_interval = INTERVAL;
            engine::run(&job, &Late { peers: &peers, late }, &Controls::new()).expect("ran")
        };
        let before = Instant::now();
        let [prompt, late] = std::thread::scope(|scope| {
            [(0, Duration::ZERO), (1, LATE)]
                .map(|(task, late)| scope.spawn(move || run(task, late)))
                .map(|thread| thread.join().expect("no panic"))
        });
        let all_ns = u64::try_from(before.elapsed().as_nanos()).expect("short");
        // The clock readings differ by the time that a reading takes, not by the delay.
        let apart = prompt.started_unix_ns.abs_diff(late.started_unix_ns);
        assert!(apart < late_ns / 2, "{backend:?}: {apart} ns apart");
        assert!(late.tasks[0].open_start_ns >= late_ns, "{backend:?}: {:?}", late.tasks);
        assert!(late.tasks[0].close_end_ns < all_ns, "{backend:?}: {:?}", late.tasks);
        assert!(prompt.tasks[0].close_end_ns < all_ns, "{backend:?}: {:?}", prompt.tasks);
        for interval in &late.series {
            assert!(interval.start_ns + INTERVAL.0 > late.tasks[0].io_start_ns, "{backend:?}: {interval:?}");
            assert!(interval.start_ns <= late.tasks[0].io_end_ns, "{backend:?}: {interval:?}");
        }
        assert!(!late.series.is_empty());
    }
}

#[test]
fn peers_of_a_failed_task_end_long_before_their_time() {
    let bed = Bed::new();
    for backend in [Backend::Psync, Backend::Uring { depth: 4, required: true }, Backend::Libaio { depth: 4 }]
    {
        let workload = with(&bed.spec("file", 4096, 1 << 20), |spec| {
            spec.tasks = 4;
            spec.files.sharing = plan::Sharing::PerTask;
            spec.backend = backend;
            spec.duration = Some(Nanos::secs(7200));
        });
        // Task 3 does not find its file.
        for task in 0..3 {
            let file = std::fs::File::create(bed.path(&format!("file.{task:08}"))).expect("created");
            file.set_len(4 << 30).expect("made long");
        }
        let ([first, second], _) = run_in_halves(&workload, Phase::Read);
        assert!(matches!(first, Err(EngineError::Peer)), "{first:?}");
        assert!(matches!(second, Err(EngineError::Open { .. })), "{second:?}");
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
    // No machine has 32 TiB of memory for buffers.
    assert!(matches!(bad, Err(EngineError::Memory { .. })), "{bad:?}");
    assert!(!bed.path("file").exists(), "nothing was begun");
    assert_eq!(peers.failed.load(Ordering::SeqCst), 0, "those who have not begun need not be ended");
}
