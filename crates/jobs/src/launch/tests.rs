//! Tests of order, limits, failures and skips of a matrix, with simulated processes.

use std::collections::{BTreeMap, BTreeSet};

use plan::{Bytes, JobTest, Jobs, Nanos, TestKind};
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::fake::{FakeProcesses, MILLISECOND, Script};
use super::{
    Ending, LaunchOutcome, LaunchProgress, LaunchReport, LaunchRules, LaunchTask, LaunchWatch, Launched,
    launch,
};
use crate::{JobEvent, JobOrder};

const SECOND: u64 = 1000 * MILLISECOND;

/// Stops the run after a number of ended launches.
#[derive(Default)]
struct Watcher {
    stop_after: Option<u32>,
    seen: Vec<LaunchProgress>,
    /// Launches reported as ended, in order.
    ended: Vec<u32>,
}

impl LaunchWatch for Watcher {
    fn is_stopped(&self) -> bool {
        let over = self.seen.last().map_or(0, |seen| seen.over);
        self.stop_after.is_some_and(|most| over >= most)
    }

    fn ended(&mut self, ended: &[&LaunchReport]) {
        self.ended.extend(ended.iter().map(|one| one.launch));
    }

    fn progress(&mut self, progress: LaunchProgress) {
        self.seen.push(progress);
    }
}

pub(super) fn task(number: u32, after: &[u32]) -> LaunchTask {
    let order = JobOrder {
        launch: number,
        test: format!("t{number}"),
        stream: 0,
        round: 0,
        page_bytes: Bytes::kib(64),
        direct: false,
        sync: false,
        check: false,
        seed: 1,
        directories: Default::default(),
        inputs: BTreeMap::new(),
        steps: Vec::new(),
        counters_fd: None,
    };
    LaunchTask { order, after: after.to_vec(), memory_max: None, kind: None }
}

fn rules(concurrency: u32) -> LaunchRules {
    LaunchRules { concurrency, limit: None, interval: Nanos::secs(1) }
}

fn run(tasks: &[LaunchTask], rules: LaunchRules, scripts: &[(u32, Script)]) -> (Launched, FakeProcesses) {
    run_until(tasks, rules, scripts, None)
}

fn run_until(
    tasks: &[LaunchTask],
    rules: LaunchRules,
    scripts: &[(u32, Script)],
    stop_after: Option<u32>,
) -> (Launched, FakeProcesses) {
    let mut processes = FakeProcesses::new(scripts);
    let mut watcher = Watcher { stop_after, ..Watcher::default() };
    let launched = launch(tasks, rules, &mut processes, &mut watcher);
    let last = watcher.seen.last().unwrap();
    assert_eq!((last.over as usize, last.all as usize, last.running), (tasks.len(), tasks.len(), 0));
    let mut told = watcher.ended.clone();
    told.sort_unstable();
    assert!(told.iter().copied().eq(0..last.all), "each end is told once: {:?}", watcher.ended);
    (launched, processes)
}

fn outcomes(launched: &Launched) -> Vec<LaunchOutcome> {
    launched.launches.iter().map(|one| one.outcome).collect()
}

#[test]
fn all_that_are_ready_run_at_once_where_nothing_limits_them() {
    let tasks: Vec<_> = (0..5).map(|number| task(number, &[])).collect();
    let (launched, processes) = run(&tasks, rules(0), &[]);
    assert_eq!(processes.most, 5);
    assert_eq!(outcomes(&launched), [LaunchOutcome::Complete; 5]);
    assert_eq!(launched.length_ns, 10 * MILLISECOND);
    assert!(launched.launches.iter().all(|one| one.began_ns == Some(MILLISECOND)));
}

#[test]
fn kinds_run_beside_each_other_where_not_all_can() {
    let kinds = [TestKind::Computation, TestKind::Computation, TestKind::Io, TestKind::Io, TestKind::Memory];
    let tasks: Vec<LaunchTask> =
        (0..).zip(kinds).map(|(number, kind)| LaunchTask { kind: Some(kind), ..task(number, &[]) }).collect();
    let (launched, _) = run(&tasks, rules(2), &[]);
    let mut starts: Vec<(u64, u32)> =
        launched.launches.iter().map(|one| (one.start_ns, one.launch)).collect();
    starts.sort_unstable();
    let first: Vec<u32> = starts.iter().take(2).map(|(_, launch)| *launch).collect();
    assert_eq!(first, [0, 2], "computation and I/O, not both of computation");
}

#[test]
fn a_launch_waits_for_those_that_it_comes_after() {
    let tasks = [task(0, &[]), task(1, &[0]), task(2, &[]), task(3, &[0, 2])];
    let (launched, processes) = run(&tasks, rules(0), &[(0, Script::well(30)), (2, Script::well(50))]);
    assert_eq!(processes.started, [0, 2, 1, 3]);
    let start = |number: usize| launched.launches[number].start_ns / MILLISECOND;
    assert_eq!([start(0), start(2), start(1), start(3)], [0, 0, 30, 50]);
}

#[test]
fn one_that_is_ready_does_not_wait_behind_one_that_is_not() {
    let tasks = [task(0, &[]), task(1, &[0]), task(2, &[]), task(3, &[])];
    let (_, processes) = run(&tasks, rules(2), &[(0, Script::well(100))]);
    assert_eq!(processes.started, [0, 2, 3, 1]);
}

#[test]
fn whoever_waits_for_a_failed_launch_is_skipped_and_says_for_which() {
    let tasks = [task(0, &[]), task(1, &[0]), task(2, &[1]), task(3, &[])];
    let failed = JobEvent::Failed { step: Some(2), message: "no space in work".to_owned() };
    let script = Script { code: Some(5), events: vec![failed], ..Script::well(5) };
    let (launched, _) = run(&tasks, rules(0), &[(0, script)]);
    let skipped = LaunchOutcome::Skipped;
    assert_eq!(outcomes(&launched), [LaunchOutcome::Failed, skipped, skipped, LaunchOutcome::Complete]);
    assert_eq!(launched.launches[0].message, "step 2: no space in work");
    let message = &launched.launches[2].message;
    assert_eq!(message, "comes after launch 1 (`t1`, stream 0, round 0), which is not complete (skipped)");
}

#[test]
fn each_end_has_its_name() {
    let tasks: Vec<_> = (0..6).map(|number| task(number, &[])).collect();
    let killed = Script { code: None, signal: Some(9), events: Vec::new(), ..Script::well(5) };
    let scripts = [
        (0, Script { refused: true, ..Script::well(1) }),
        (1, killed.clone()),
        (2, Script { out_of_memory: true, ..killed }),
        (3, Script { events: Vec::new(), ..Script::well(5) }),
        (4, Script { code: Some(1), events: Vec::new(), ..Script::well(5) }),
        (5, Script { garbled: Some("hello".to_owned()), ..Script::well(5000) }),
    ];
    let (launched, _) = run(&tasks, rules(0), &scripts);
    use LaunchOutcome::{Failed, Killed, OutOfMemory};
    assert_eq!(outcomes(&launched), [Failed, Killed, OutOfMemory, Failed, Failed, Failed]);
    let says = |number: usize, word: &str| {
        let message = &launched.launches[number].message;
        assert!(message.contains(word), "{message}");
    };
    says(0, "no such program");
    says(1, "signal 9");
    says(2, "memory_max");
    says(3, "before its steps were done");
    says(4, "code 1");
    says(5, "hello");
}

#[test]
fn one_that_runs_for_too_long_is_asked_to_end_and_then_killed() {
    let tasks = [task(0, &[]), task(1, &[]), task(2, &[])];
    let limits = LaunchRules { limit: Some(Nanos(SECOND)), ..rules(0) };
    let heeds = Script::well(60_000);
    let scripts = [(0, heeds.clone()), (1, Script { stubborn: true, ..heeds })];
    let (launched, processes) = run(&tasks, limits, &scripts);
    use LaunchOutcome::{Complete, TooLong};
    assert_eq!(outcomes(&launched), [TooLong, TooLong, Complete]);
    assert_eq!(processes.ended, [(0, Ending::Asked), (1, Ending::Asked), (1, Ending::Killed)]);
    assert!(launched.launches[0].end_ns < 2 * SECOND && launched.launches[1].end_ns < 4 * SECOND);
}

#[test]
fn a_stop_ends_what_runs_and_begins_nothing_more() {
    let tasks: Vec<_> = (0..4).map(|number| task(number, &[])).collect();
    let long = Script { stubborn: true, ..Script::well(60_000) };
    let (launched, processes) = run_until(&tasks, rules(2), &[(1, long)], Some(1));
    use LaunchOutcome::{Complete, Stopped};
    assert_eq!(outcomes(&launched)[..2], [Complete, Stopped]);
    assert_eq!(outcomes(&launched)[3], Stopped);
    assert!(!processes.started.contains(&3));
    assert!(processes.ended.contains(&(1, Ending::Killed)));
}

#[test]
fn samples_add_up_to_what_the_launches_moved() {
    let tasks: Vec<_> = (0..3).map(|number| task(number, &[])).collect();
    let script = |milliseconds| Script { read_bytes: 1_000_000, ..Script::well(milliseconds) };
    let scripts = [(0, script(500)), (1, script(2500)), (2, script(1700))];
    let (launched, _) = run(&tasks, rules(2), &scripts);
    let samples = &launched.samples;
    let read: u64 = samples.iter().map(|one| one.moved.read_bytes[0]).sum();
    assert_eq!(read, 3_000_000);
    assert_eq!(samples.iter().map(|one| one.running).collect::<Vec<_>>(), [2, 2, 0]);
    assert!(samples.windows(2).all(|two| two[0].start_ns + two[0].length_ns == two[1].start_ns));
    assert_eq!(samples[0].free_bytes, [Some(1 << 40), None, None]);
    assert_eq!(launched.own_cpu_ns, launched.length_ns / 100);
}

/// A script, and whether its process completes.
pub(super) fn script() -> impl Strategy<Value = Script> {
    let broken = Script { code: Some(1), events: Vec::new(), ..Script::well(1) };
    let shapes = prop_oneof![8 => Just(Script::well(1)), 1 => Just(broken)];
    (shapes, 1_u64..3000).prop_map(|(shape, length)| Script { length_ns: length * MILLISECOND, ..shape })
}

proptest! {
    #[test]
    fn every_launch_ends_once_and_no_limit_is_passed(
        (links, scripts, most) in (1_usize..20).prop_flat_map(|count| (
            proptest::collection::vec(proptest::collection::vec(any::<u32>(), 0..3), count),
            proptest::collection::vec(script(), count),
            0_u32..5,
        ))
    ) {
        // Each depends on some of the previous ones.
        let tasks: Vec<LaunchTask> = (0_u32..).zip(&links).map(|(number, after)| {
            let after: BTreeSet<u32> = after.iter().filter(|_| number > 0).map(|one| one % number.max(1)).collect();
            task(number, &after.into_iter().collect::<Vec<_>>())
        }).collect();
        let scripts: Vec<(u32, Script)> = (0_u32..).zip(scripts).collect();
        let (launched, processes) = run(&tasks, rules(most), &scripts);
        prop_assert_eq!(launched.launches.len(), tasks.len());
        prop_assert!(most == 0 || processes.most <= most as usize);
        for (task, report) in tasks.iter().zip(&launched.launches) {
            let before = || task.after.iter().map(|number| &launched.launches[*number as usize]);
            if before().all(|one| one.outcome == LaunchOutcome::Complete) {
                prop_assert!(report.outcome != LaunchOutcome::Skipped);
                prop_assert!(before().all(|one| one.end_ns <= report.start_ns));
            } else {
                prop_assert_eq!(report.outcome, LaunchOutcome::Skipped);
            }
        }
    }

    #[test]
    fn a_matrix_of_a_plan_is_launched_whole(streams in 1_u32..4, rounds in 1_u32..4, most in 0_u32..4) {
        let mut test = JobTest::new("t", TestKind::Io, Vec::new());
        (test.streams, test.rounds) = (streams, rounds);
        let jobs = Jobs { tests: vec![test], ..Jobs::new(Bytes::kib(64)) };
        let tasks: Vec<LaunchTask> = jobs.launches().iter().map(|one| task(one.number, &one.after)).collect();
        let (launched, _) = run(&tasks, rules(most), &[]);
        prop_assert!(launched.launches.iter().all(|one| one.outcome == LaunchOutcome::Complete));
    }
}
