//! Open-loop transfers at scheduled times, and the effect of a stall on them.

use std::time::{Duration, Instant};

use engine::PhaseOutcome;
use plan::{Backend, Measure, Nanos, Pace, Phase, Workload};

use crate::bed::{Bed, Mounted, has, is_root, run, sh, skip, spec, with};

/// The latency percentile for `share` of the transfers.
fn percentile(outcome: &PhaseOutcome, measure: Measure, share: f64) -> f64 {
    let latency = outcome.latency.iter().find(|l| l.measure == measure).expect("recorded");
    let wanted = latency.histogram.total() as f64 * share;
    let mut seen = 0;
    for (low, high, count) in latency.histogram.buckets() {
        seen += count;
        if seen as f64 >= wanted {
            return (low + high) as f64 / 2e9;
        }
    }
    unreachable!("all transfers are in some bucket")
}

#[test]
fn as_many_transfers_as_the_rate_asks_for() {
    let bed = Bed::new();
    run(&with(&bed.spec("file", 4096, 64), |_| {}), Phase::Fill).expect("filled");
    for backend in [
        Backend::Psync,
        Backend::Uring { depth: 4, required: true },
        Backend::Libaio { depth: 4 },
        Backend::Mmap,
        Backend::Null,
    ] {
        for tasks in [1, 4] {
            let workload = with(&bed.spec("file", 4096, 64 / u64::from(tasks)), |spec| {
                spec.tasks = tasks;
                spec.backend = backend;
                spec.pace = Some(Pace { transfers_per_second: 2000.0 });
                spec.duration = Some(Nanos::millis(100));
            });
            // The last transfer starts half a millisecond before the end. A busy machine may miss it, or start the
            // first ones late, but not every time.
            let mut outcome = run(&workload, Phase::Read).expect("ran");
            for _ in 1..20 {
                assert_eq!(outcome.reads + outcome.unstarted, 200, "{backend:?}, {tasks} tasks");
                if outcome.unstarted == 0 && outcome.io_ns >= 99_000_000 {
                    break;
                }
                outcome = run(&workload, Phase::Read).expect("ran");
            }
            assert_eq!((outcome.reads, outcome.unstarted), (200, 0), "{backend:?}, {tasks} tasks");
            for measure in [Measure::Response, Measure::Service] {
                let latency = outcome.latency.iter().find(|l| l.measure == measure).expect("recorded");
                assert_eq!(latency.histogram.total(), 200);
            }
            assert!(
                percentile(&outcome, Measure::Response, 0.5) >= percentile(&outcome, Measure::Service, 0.5),
                "a response includes its service"
            );
            assert!(outcome.io_ns >= 99_000_000, "the loop lasts as long as was asked: {}", outcome.io_ns);
        }
    }
}

#[test]
fn a_rate_that_is_too_high_says_how_many_were_never_started() {
    let workload = with(&spec("unused".into(), 4096, 1 << 30), |spec| {
        spec.backend = Backend::Null;
        spec.pace = Some(Pace { transfers_per_second: 1e9 });
        spec.duration = Some(Nanos::millis(10));
    });
    let outcome = run(&workload, Phase::Read).expect("ran");
    assert!(outcome.unstarted > 0);
    assert_eq!(outcome.reads + outcome.unstarted, 10_000_000);
}

/// Runs 1000 writes per second for 10 seconds on a file system that is frozen for two of them. Returns the outcome,
/// and lower and upper bounds (in seconds) for the length of the stall.
fn stalled(workload: &Workload, at: &str) -> (PhaseOutcome, (f64, f64)) {
    std::thread::scope(|scope| {
        let freezer = scope.spawn(|| {
            std::thread::sleep(Duration::from_secs(4));
            // Sync first, so that freezing has nothing left to write back.
            assert!(sh("sync", &["-f", at]));
            let before = Instant::now();
            assert!(sh("fsfreeze", &["-f", at]));
            let frozen = Instant::now();
            std::thread::sleep(Duration::from_millis(1990));
            let least = frozen.elapsed();
            // The thaw always happens: no statement between the freeze and this one can fail.
            assert!(sh("fsfreeze", &["-u", at]));
            (least.as_secs_f64(), before.elapsed().as_secs_f64())
        });
        let outcome = run(workload, Phase::Write).expect("written");
        (outcome, freezer.join().expect("no panic"))
    })
}

/// The latencies of a run with a stall that do not match the length of the stall.
fn wrong_latencies(workload: &Workload, at: &str) -> Vec<String> {
    let (outcome, (least, most)) = stalled(workload, at);
    assert_eq!(outcome.writes, 10_000, "none is left out");
    let mut wrong = Vec::new();
    // During a stall of d seconds, the first transfer waits for d and the last does not wait at all. The slowest
    // tenth of all transfers therefore waits for more than `d - 1` s, and the slowest hundredth for more than `d -
    // 0.1` s.
    for (share, faster) in [(0.90, 1.0), (0.99, 0.1)] {
        let found = percentile(&outcome, Measure::Response, share);
        let (low, high) = ((least - faster) * 0.95, (most - faster) * 1.05);
        println!("p{:.0} {found:.3} s, truth {:.3} s", share * 100.0, most - faster);
        if found <= low || found >= high {
            wrong.push(format!("{found} s is not within {low} to {high} s"));
        }
    }
    // One transfer per task was blocked in the kernel.
    let service = percentile(&outcome, Measure::Service, 0.99);
    if service >= 1.0 {
        wrong.push(format!("99 % of the services took up to {service} s"));
    }
    wrong
}

#[test]
fn a_stall_is_in_the_latency_from_the_intended_start() {
    if !is_root() || !has("fsfreeze") || !has("mkfs.ext4") || !has("losetup") {
        return skip("needs root, losetup, mkfs.ext4 and fsfreeze");
    }
    let bed = Bed::new();
    let Some(mounted) = Mounted::ext4(bed.path("mnt"), &bed.path("image"), 128 << 20, 512) else {
        return skip("no loop device can be had");
    };
    let at = mounted.at().to_str().expect("a plain path");
    for backend in [Backend::Psync, Backend::Uring { depth: 8, required: true }, Backend::Libaio { depth: 8 }]
    {
        let workload = with(&spec(mounted.at().join("file"), 4096, 10_000), |spec| {
            spec.backend = backend;
            spec.pace = Some(Pace { transfers_per_second: 1000.0 });
            spec.duration = Some(Nanos::secs(10));
        });
        // A busy machine may add delays, by catching up slowly or thawing late, but not every time.
        let mut wrong = Vec::new();
        let close = (0..3).any(|_| {
            wrong = wrong_latencies(&workload, at);
            assert!(sh("sync", &["-f", at]));
            wrong.is_empty()
        });
        assert!(close, "{backend:?}: {wrong:?}");
    }
}
