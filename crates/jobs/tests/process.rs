//! Processes of jobs that really run, `examples/job`: what each step says of itself against what the kernel says.
#![expect(clippy::unwrap_used, reason = "a test fails where it stands")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use host::{Root, RunGroups};
use jobs::launch::{
    LaunchOutcome, LaunchProgress, LaunchReport, LaunchRules, LaunchTask, LaunchWatch, Program,
    RealProcesses, launch,
};
use jobs::{JobOrder, StepReport};
use plan::jobs::{Action, Output, Step, TableOrder};
use plan::{Bytes, JobSpace, Nanos};

/// What each step may have.
const MEMORY: Bytes = Bytes::mib(48);
/// Rows of the largest table: more than fit into it.
const ROWS: u64 = 500_000;

/// `examples/job`, which cargo builds with these tests.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let built = test.ancestors().nth(2).map(|profile| profile.join("examples/job"));
    built
        .filter(|path| path.exists())
        .expect("examples are built: `cargo test`, or `cargo build --examples` before")
}

fn output(table: &str, space: JobSpace) -> Output {
    Output { table: table.to_owned(), space }
}

/// Each kind of step.
fn actions() -> Vec<Action> {
    let (orders, sorted) = ("orders".to_owned(), "sorted".to_owned());
    let input = || Some("orders".to_owned());
    let made = |table: &str, order| Action::Generate {
        output: output(table, JobSpace::Permanent),
        rows: ROWS,
        groups: ROWS / 2,
        order,
    };
    vec![
        made("orders", TableOrder::Number),
        made("prices", TableOrder::Key),
        Action::Scan {
            input: orders.clone(),
            output: Some(output("kept", JobSpace::Work)),
            keep_millionths: 500_000,
        },
        Action::Summarise { input: orders.clone(), output: Some(output("sums", JobSpace::Work)) },
        Action::Sort { input: orders.clone(), output: output("sorted", JobSpace::Work) },
        Action::Merge { left: sorted, right: "prices".to_owned(), output: None },
        Action::Index { input: orders.clone(), lookups: 1000 },
        Action::Append { table: orders.clone(), rows: 10_000 },
        Action::Update { table: orders.clone(), share_millionths: 100_000 },
        Action::Regression { input: orders, operations: 400_000_000 },
        Action::Factorisation { input: input(), operations: 4_000_000_000 },
        Action::Fourier { input: input(), operations: 500_000_000 },
        Action::Simulation { operations: 200_000_000 },
        Action::Shuffle { input: input(), operations: 10_000_000 },
    ]
}

fn order(place: &Path, actions: Vec<Action>) -> JobOrder {
    let own = |space: JobSpace| match space {
        JobSpace::Permanent => place.to_owned(),
        other => place.join(format!("{other}-launch.0")),
    };
    let step = |action| Step { action, threads: 2, memory: MEMORY };
    JobOrder {
        launch: 0,
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
        steps: actions.into_iter().map(step).collect(),
        counters_fd: None,
    }
}

struct Silent;

impl LaunchWatch for Silent {
    fn is_stopped(&self) -> bool {
        false
    }

    fn ended(&mut self, _: &[&LaunchReport]) {}

    fn progress(&mut self, _: LaunchProgress) {}
}

/// What becomes of a process that does these.
fn launched(place: &Path, actions: Vec<Action>) -> LaunchReport {
    let name = format!("test-{}-{}", std::process::id(), place.file_name().unwrap().to_str().unwrap());
    let groups = RunGroups::make(&Root::default(), &name);
    let program = Program { path: program(), arguments: Vec::new() };
    let task = LaunchTask { order: order(place, actions), after: Vec::new(), memory_max: None, kind: None };
    let rules = LaunchRules { concurrency: 1, limit: None, interval: Nanos::millis(50) };
    let mut processes = RealProcesses::new(&program, &groups, JobSpace::ALL.map(|_| place.to_owned()));
    let launched = launch(&[task], rules, &mut processes, &mut Silent);
    drop(processes);
    groups.remove().unwrap();
    let [one] = <[LaunchReport; 1]>::try_from(launched.launches).unwrap();
    one
}

fn sum(steps: &[StepReport], of: impl Fn(&StepReport) -> u64) -> u64 {
    steps.iter().map(of).sum()
}

#[test]
fn steps_keep_their_memory_and_add_up_to_what_the_kernel_accounts_for() {
    let place = tempfile::tempdir().unwrap();
    let actions = actions();
    let one = launched(place.path(), actions.clone());
    assert_eq!((one.outcome, one.message.as_str()), (LaunchOutcome::Complete, ""));
    assert_eq!(one.steps.len(), actions.len());

    for (step, action) in one.steps.iter().zip(&actions) {
        let (peak, most) = (step.peak_memory_bytes, MEMORY.0 + MEMORY.0 / 10);
        assert!(peak <= most, "{} has had {peak} bytes of {MEMORY}", action.name());
        assert!(
            step.end_ns > step.start_ns && step.user_cpu_ns + step.system_cpu_ns > 0,
            "{}: {step:?}",
            action.name()
        );
    }
    // One that holds memory does hold it.
    let held = one.steps.last().unwrap().peak_memory_bytes;
    assert!(held > MEMORY.0 / 10 * 8, "{held}");

    // The sum of the steps is all that the kernel knows of, but for starting and ending the process.
    let told = sum(&one.steps, |step| step.user_cpu_ns + step.system_cpu_ns);
    let known = one.usage.user_cpu_ns + one.usage.system_cpu_ns;
    assert!(told <= known, "{told} of {known}");
    assert!(known - told <= 30_000_000 + known / 50, "{told} of {known}");
    let moved = sum(&one.steps, |step| step.moved.read_bytes.iter().sum());
    assert_eq!(moved, one.moved.read_bytes.iter().sum::<u64>(), "the file of counters has the last of them");
    assert!(sum(&one.steps, |step| step.voluntary_switches) <= one.usage.voluntary_switches);

    let regression = &one.steps[9].outcome;
    assert_eq!(regression.rows_in, ROWS + 10_000);
    assert!((regression.found["x7"] - 8.0).abs() < 0.01, "{regression:?}");
    assert!(one.began_ns.is_some_and(|began| began >= one.start_ns));
}

/// 48 MiB are filled and visited, then some numbers are computed; the program that launches holds 200 MiB.
#[test]
fn a_launch_has_had_the_memory_of_its_largest_step_and_not_of_its_last_one_or_its_launcher() {
    let place = tempfile::tempdir().unwrap();
    let of_launcher = std::hint::black_box(vec![1_u8; 200 << 20]);
    let shuffle = Action::Shuffle { input: None, operations: 10_000_000 };
    let one = launched(place.path(), vec![shuffle, Action::Simulation { operations: 1000 }]);
    drop(of_launcher);
    let [large, small] = [0, 1].map(|step| one.steps[step].peak_memory_bytes);
    assert!(large > MEMORY.0 / 2 && small < large / 2, "{large}, {small}");
    assert_eq!(one.usage.peak_memory_bytes, large);
}

#[test]
fn a_step_that_fails_is_told_and_ends_the_job() {
    let place = tempfile::tempdir().unwrap();
    let missing = Action::Regression { input: "nothing".to_owned(), operations: 1 };
    let one = launched(place.path(), vec![Action::Simulation { operations: 1 }, missing]);
    assert_eq!((one.outcome, one.steps.len()), (LaunchOutcome::Failed, 1));
    assert!(one.message.contains("step 1") && one.message.contains("no table nothing"), "{}", one.message);
}

#[test]
fn what_is_no_order_is_refused_in_one_line() {
    for (text, says) in [
        ("", "no order"),
        ("\n", "no order"),
        ("{\"launch\":1}\n", "missing field"),
        ("x\n", "cannot be parsed"),
    ] {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("order"), text).unwrap();
        let input = fs::File::open(place.path().join("order")).unwrap();
        let ended = Command::new(program()).stdin(input).output().unwrap();
        let told = String::from_utf8(ended.stderr).unwrap();
        assert!(ended.status.code() == Some(2) && ended.stdout.is_empty(), "{text}: {:?}", ended.status);
        assert!(told.contains(says) && told.lines().count() == 1, "{text}: {told}");
    }
}

#[test]
fn a_job_whose_launcher_is_killed_ends() {
    let place = tempfile::tempdir().unwrap();
    // Seconds of work: the job would tell of them if it were left alone.
    let long = order(place.path(), vec![Action::Simulation { operations: 3_000_000_000 }]);
    fs::write(place.path().join("order"), serde_json::to_string(&long).unwrap() + "\n").unwrap();
    let events = place.path().join("events");
    let script = r#""$0" < order > events & echo $!; wait"#;
    let mut shell = Command::new("sh")
        .args(["-c", script])
        .arg(program())
        .current_dir(place.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut job = String::new();
    BufReader::new(shell.stdout.take().unwrap()).read_line(&mut job).unwrap();
    let began = || fs::read_to_string(&events).unwrap_or_default().contains("began");
    while !began() {
        std::thread::yield_now();
    }
    shell.kill().unwrap();
    shell.wait().unwrap();
    // Nobody may have come for it yet: then it is a zombie.
    let status = Path::new("/proc").join(job.trim()).join("status");
    let lives = || fs::read_to_string(&status).is_ok_and(|text| !text.contains("State:\tZ"));
    while lives() {
        std::thread::yield_now();
    }
    let told = fs::read_to_string(&events).unwrap();
    assert_eq!(told.lines().count(), 1, "it went on: {told}");
}
