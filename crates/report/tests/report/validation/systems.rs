//! Two systems that ran the same jobs.

use std::time::Duration;

use plan::jobs::{Action, Step};
use plan::{
    Bytes, Case, Criteria, Geometry, JobTest, Jobs, Layer, Phase, Plan, PlanSource, TestKind, Work,
    WorkloadSpec,
};
use record::{LaunchRow, PhaseKey, PhaseRecord, PhaseRow};

use super::draw::{Fault, Random, run_of, word};
use super::said::Kind;
use super::scenario::{Setup, Trial, USUAL, by_effect, down, nothing, of_run, target};

/// Tests, and the streams and rounds of each.
const TESTS: [&str; 4] = ["regression", "sort", "scan", "merge"];
const STREAMS: u32 = 3;
const ROUNDS: u32 = 2;
/// Seconds per launch.
const SECONDS: f64 = 20.0;
/// Standard deviation of the logarithm of one launch's time, in addition to the variation shared by all launches of a
/// pass.
const OF_ONE: f64 = 0.05;
/// The share of launches that take five times as long.
const STALLED: f64 = 0.1;
/// CPU seconds of a launch of each test.
const CPU: [u64; 4] = [30, 12, 5, 10];

/// What the effect increases on the second system.
#[derive(Clone, Copy, PartialEq)]
enum More {
    Time,
    /// If there is an effect, the launches of a pass scatter four times as much.
    Scatter,
}

/// Twenty-four launches on each of two systems. The noise of a repetition is shared by all launches of a pass.
pub(super) fn systems(setup: Setup, random: &mut Random) -> Trial {
    let more = random.of(&[More::Time, More::Scatter]);
    // With stalls, the scatter of few launches is rarely distinguishable.
    let stalls = more == More::Time && random.uniform() < 0.25 && setup != USUAL;
    let has_more = |kind| setup.effect > 0.0 && more == kind;
    let cases = ["a", "b"].map(|name| case(name, setup));
    let mut records = Vec::new();
    for case in &cases {
        let is_second = case.target == "b";
        let level = if is_second && has_more(More::Time) { 1.0 + setup.effect } else { 1.0 };
        let scatter = if is_second && has_more(More::Scatter) { 4.0 * OF_ONE } else { OF_ONE };
        for pass in 0..setup.repetitions {
            let shared = level * (setup.noise * random.normal()).exp();
            let mut seconds = || {
                let stall = if stalls && random.uniform() < STALLED { 5.0 } else { 1.0 };
                SECONDS * shared * stall * (scatter * random.normal()).exp()
            };
            records.push(record(case, pass, setup.fault, &mut seconds));
        }
    }
    let targets = ["a", "b"].map(|name| target(name, 1, None, Layer::Unstated)).to_vec();
    let criteria = Criteria { targets, ..Criteria::default() };
    let question = PlanSource::Quick { directory: "/data".into(), others: Vec::new() };
    let plan = Plan { criteria, ..Plan::new("Drawn from known distributions", question, 1, cases.to_vec()) };
    // Scatter also increases the mean time.
    let truths = match more {
        More::Time => vec![
            by_effect(Kind::JobTimes, setup.effect),
            by_effect(Kind::JobSums, setup.effect),
            nothing(Kind::JobSpread),
        ],
        More::Scatter if setup.effect > 0.0 => {
            vec![nothing(Kind::JobTimes), down(Kind::JobSpread)]
        }
        More::Scatter => vec![nothing(Kind::JobTimes), nothing(Kind::JobSums), nothing(Kind::JobSpread)],
    };
    of_run(setup, run_of(plan, records), truths)
}

fn case(name: &str, setup: Setup) -> Case {
    let step = Step { action: Action::Simulation { operations: 1 }, threads: 1, memory: Bytes::mib(64) };
    let test = |name: &str| JobTest {
        streams: STREAMS,
        rounds: ROUNDS,
        ..JobTest::new(name, TestKind::Io, vec![step.clone()])
    };
    let jobs = Jobs { tests: TESTS.map(test).to_vec(), ..Jobs::new(Bytes::kib(64)) };
    let geometry = Geometry { transfer: Bytes::kib(64), block: Bytes::mib(1), segments: 1 };
    let mut spec = WorkloadSpec::new("jobs", format!("/{name}/permanent"), geometry);
    spec.files.targets =
        ["permanent", "work", "utility"].map(|space| format!("/{name}/{space}").into()).to_vec();
    spec.tasks = u32::try_from(jobs.launches().len()).expect("few");
    spec.work = Work::Jobs(jobs);
    Case {
        group: "jobs".to_owned(),
        target: name.to_owned(),
        settings: vec![word(name)],
        repetitions: setup.repetitions + u32::from(setup.fault == Fault::Unfinished),
        ..Case::new(format!("jobs:{name}"), spec.validate().expect("valid"), vec![Phase::Jobs])
    }
}

/// A pass whose launches take `seconds` each, one after the other. In a faulty pass the first launch has failed.
fn record(case: &Case, pass: u32, fault: Fault, seconds: &mut dyn FnMut() -> f64) -> PhaseRecord {
    let key = PhaseKey { case: case.id.as_str().into(), repetition: pass, phase: Phase::Jobs };
    let jobs = case.workload.work.jobs().expect("made above");
    let mut end_ns = 0;
    let launch = |one: &plan::Launch| {
        let start_ns = end_ns;
        end_ns += u64::try_from(Duration::from_secs_f64(seconds()).as_nanos()).expect("some minutes");
        let failed = one.number == 0 && !matches!(fault, Fault::None | Fault::Unfinished);
        LaunchRow {
            node: "n0".into(),
            launch: one.number,
            kind: "io".into(),
            stream: one.stream,
            round: one.round,
            start_ns,
            end_ns,
            user_cpu_ns: CPU[one.test] * 900_000_000,
            system_cpu_ns: CPU[one.test] * 100_000_000,
            peak_memory_bytes: 1 << 26,
            outcome: if failed { "failed" } else { "complete" }.into(),
            ..LaunchRow::new(key.clone(), &jobs.tests[one.test].name)
        }
    };
    let launches = jobs.launches().iter().map(launch).collect();
    let phase = PhaseRow {
        wall_ns: end_ns,
        io_ns: end_ns,
        read_bytes: 1 << 40,
        reads: 1 << 24,
        ..PhaseRow::new(key)
    };
    PhaseRecord { launches, ..PhaseRecord::new(phase) }
}
