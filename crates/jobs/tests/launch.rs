//! Processes of this host that are launched: a shell speaks for the job.
#![expect(clippy::unwrap_used, reason = "a test fails where it stands")]
#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use host::{Root, RunGroups};
use jobs::JobOrder;
use jobs::launch::{
    LaunchOutcome, LaunchProgress, LaunchReport, LaunchRules, LaunchTask, LaunchWatch, Launched, Program,
    RealProcesses, launch,
};
use plan::{Bytes, JobSpace, Nanos, table_name};

/// Begins, and is done.
const WELL: &str = r#"echo '{"event":"began","at_ns":0}'; echo '{"event":"done"}'"#;

/// Stops the run as soon as so many are over.
struct StopAfter(Option<u32>, u32);

impl LaunchWatch for StopAfter {
    fn is_stopped(&self) -> bool {
        self.0.is_some_and(|most| self.1 >= most)
    }

    fn ended(&mut self, _: &[&LaunchReport]) {}

    fn progress(&mut self, progress: LaunchProgress) {
        self.1 = progress.over;
    }
}

fn task(number: u32, place: &Path, after: &[u32]) -> LaunchTask {
    let own = |space: JobSpace| match space {
        JobSpace::Permanent => place.to_owned(),
        other => place.join(format!("{other}-launch.{number}")),
    };
    let order = JobOrder {
        launch: number,
        test: "t".to_owned(),
        stream: 0,
        round: 0,
        page_bytes: Bytes::kib(64),
        direct: false,
        sync: false,
        check: false,
        seed: 1,
        directories: JobSpace::ALL.map(own),
        inputs: BTreeMap::new(),
        steps: Vec::new(),
        counters_fd: None,
    };
    LaunchTask { order, after: after.to_vec(), memory_max: None, kind: None }
}

fn rules() -> LaunchRules {
    LaunchRules { concurrency: 2, limit: None, interval: Nanos::millis(50) }
}

/// What becomes of `tasks` where each process reads its order and then is a shell with `script`.
fn run(script: &str, tasks: &[LaunchTask], place: &Path, rules: LaunchRules, stop: Option<u32>) -> Launched {
    let root = Root::default();
    let name = format!("test-{}-{}", std::process::id(), place.file_name().unwrap().to_str().unwrap());
    let groups = RunGroups::make(&root, &name);
    let script = format!("read -r order; {script}");
    let program = Program { path: "/bin/sh".into(), arguments: vec!["-c".to_owned(), script] };
    let mut processes = RealProcesses::new(&program, &groups, JobSpace::ALL.map(|_| place.to_owned()));
    let launched = launch(tasks, rules, &mut processes, &mut StopAfter(stop, 0));
    drop(processes);
    groups.remove().unwrap();
    assert_eq!(RunGroups::remove_left(&root, &name).unwrap(), 0, "no control group is left");
    launched
}

/// What becomes of one process with `script`.
fn one(script: &str, rules: LaunchRules, stop: Option<u32>) -> LaunchReport {
    let place = tempfile::tempdir().unwrap();
    let launched = run(script, &[task(0, place.path(), &[])], place.path(), rules, stop);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "the directories of launches are gone");
    let [one] = <[LaunchReport; 1]>::try_from(launched.launches).unwrap();
    one
}

#[test]
fn a_process_is_told_its_order_and_its_end_is_accounted() {
    let place = tempfile::tempdir().unwrap();
    let tasks: Vec<_> = (0..5).map(|number| task(number, place.path(), &[])).collect();
    let script = format!(r#"case "$order" in *'"launch":'*) {WELL};; esac"#);
    let launched = run(&script, &tasks, place.path(), rules(), None);
    for one in &launched.launches {
        assert_eq!((one.outcome, one.message.as_str()), (LaunchOutcome::Complete, ""));
        assert!(one.usage.peak_memory_bytes > 0 && one.end_ns > one.start_ns, "{one:?}");
    }
    assert!(launched.samples.iter().all(|one| one.free_bytes.iter().all(Option::is_some)));
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "the directories of launches are gone");
}

#[test]
fn the_last_words_of_a_failed_process_are_its_message() {
    let one = one("yes . | head -9000 >&2; echo so it ends >&2; exit 3", rules(), None);
    assert_eq!(one.outcome, LaunchOutcome::Failed);
    assert!(one.message.ends_with("so it ends") && one.message.len() <= 4096, "{}", one.message);
}

#[test]
fn an_event_before_the_end_counts_and_what_is_no_event_is_told() {
    let says = r#"echo '{"event":"failed","step":1,"message":"no space"}'; exit 1"#;
    assert_eq!(one(says, rules(), None).message, "step 1: no space");
    let garbled = one("echo hello; exec sleep 1000", rules(), None);
    assert_eq!(garbled.outcome, LaunchOutcome::Failed);
    assert!(garbled.message.contains("hello"), "{}", garbled.message);
}

#[test]
fn one_that_is_killed_or_too_long_or_stopped_says_so() {
    assert_eq!(one("kill -9 $$", rules(), None).outcome, LaunchOutcome::Killed);
    let short = LaunchRules { limit: Some(Nanos::millis(100)), ..rules() };
    assert_eq!(one("exec sleep 1000", short, None).outcome, LaunchOutcome::TooLong);
    let place = tempfile::tempdir().unwrap();
    let tasks = [task(0, place.path(), &[]), task(1, place.path(), &[])];
    let quick_and_long = format!(r#"case "$order" in *'"launch":0,'*) {WELL};; *) exec sleep 1000;; esac"#);
    let launched = run(&quick_and_long, &tasks, place.path(), rules(), Some(1));
    let outcomes: Vec<_> = launched.launches.iter().map(|one| one.outcome).collect();
    assert_eq!(outcomes, [LaunchOutcome::Complete, LaunchOutcome::Stopped]);
}

#[test]
fn a_program_that_is_not_there_fails_each_launch() {
    let place = tempfile::tempdir().unwrap();
    let groups = RunGroups::make(&Root::default(), &format!("test-none-{}", std::process::id()));
    let program = Program { path: "/no/such/program".into(), arguments: Vec::new() };
    let mut processes = RealProcesses::new(&program, &groups, JobSpace::ALL.map(|_| place.path().to_owned()));
    let tasks = [task(0, place.path(), &[]), task(1, place.path(), &[0])];
    let launched = launch(&tasks, rules(), &mut processes, &mut StopAfter(None, 0));
    drop(processes);
    groups.remove().unwrap();
    assert_eq!(launched.launches[0].outcome, LaunchOutcome::Failed);
    assert!(launched.launches[0].message.contains("/no/such/program"), "{}", launched.launches[0].message);
    assert_eq!(launched.launches[1].outcome, LaunchOutcome::Skipped);
}

#[test]
fn tables_of_a_launch_go_with_it_and_what_is_not_its_own_stays() {
    let place = tempfile::tempdir().unwrap();
    let tasks = [task(0, place.path(), &[])];
    let own = &tasks[0].order.directories[JobSpace::Work as usize];
    let table = own.join(table_name("t", 0));
    let script = format!("echo > {}; echo > {}/other; {WELL}", table.display(), own.display());
    let launched = run(&script, &tasks, place.path(), rules(), None);
    assert_eq!(launched.launches[0].outcome, LaunchOutcome::Complete);
    assert!(!table.exists() && own.join("other").exists());
}

#[test]
fn the_kernel_keeps_the_ceiling_of_memory() {
    let place = tempfile::tempdir().unwrap();
    let probe = RunGroups::make(&Root::default(), &format!("probe-{}", std::process::id()));
    let (keeps, missing) = (probe.keeps_memory(), probe.missing().join("; "));
    probe.remove().unwrap();
    if !keeps {
        println!("skipped: {missing}");
        return;
    }
    let tasks = [LaunchTask { memory_max: Some(Bytes::mib(16)), ..task(0, place.path(), &[]) }];
    let launched =
        run("exec dd if=/dev/zero of=/dev/null bs=256M count=1", &tasks, place.path(), rules(), None);
    let one = &launched.launches[0];
    assert_eq!(one.outcome, LaunchOutcome::OutOfMemory, "{one:?}");
    assert!(one.usage.peak_memory_bytes < 20 << 20, "{one:?}");
    assert!(one.message.contains("memory_max"), "{}", one.message);
}
