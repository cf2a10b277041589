//! Jobs on a node of a model, against the sums of what their steps move and compute.

use engine::{Controls, PhaseJob};
use jobs::launch::{LaunchOutcome, LaunchReport};
use plan::jobs::{Action, JobTable, Output, Step, TableOrder};
use plan::{
    Bytes, Case, Geometry, JobSpace, JobTest, Jobs, Phase, Plan, PlanSource, TestKind, Work, WorkloadSpec,
};
use runner::{Machine, MachinePhase};
use simulate::SimulatedMachine;

use crate::bench::{is_close, machine, noisy};

const PAGE: u64 = 256 << 10;
/// Each page has a header in the place of a row.
const ROWS_OF_PAGE: u64 = 2047;
/// Rows of the table: 500 pages.
const ROWS: u64 = 500 * ROWS_OF_PAGE;
const TABLE: u64 = 500 * PAGE;

/// A node with so many processors, whose processors take 50 ns for a row and 1 ns for an operation, and a card.
fn model(processors: u32, slots: u32) -> String {
    format!(
        "[node]\nprocessors = {processors}\nrequest_time = \"5us\"\nrows_per_second = 20e6\n\
         operations_per_second = 1e9\n\
         [[device]]\nname = \"card\"\nslots = {slots}\n\
         read = {{ time = \"100us\", rate = \"2GB/s\" }}\nwrite = {{ time = \"50us\", rate = \"1GB/s\" }}\n\
         [[layout]]\nname = \"fs\"\ndevices = \"card\"\n"
    )
}

/// Seconds that the device takes for a page that is read or written, and the processor for its rows.
const READ: f64 = 100e-6 + PAGE as f64 / 2e9;
const WRITE: f64 = 50e-6 + PAGE as f64 / 1e9;
const ROW_WORK: f64 = 5e-6 + ROWS_OF_PAGE as f64 / 20e6;

fn step(action: Action, threads: u32) -> Step {
    Step { action, threads, memory: Bytes::mib(64) }
}

fn scan(output: Option<Output>) -> Action {
    Action::Scan { input: "t".to_owned(), output, keep_millionths: 500_000 }
}

fn test(name: &str, streams: u32, steps: Vec<Step>) -> JobTest {
    JobTest { streams, ..JobTest::new(name, TestKind::Io, steps) }
}

fn of(tests: Vec<JobTest>) -> Jobs {
    let table = JobTable { name: "t".to_owned(), rows: ROWS, groups: 1000, order: TableOrder::Number };
    Jobs { tests, tables: vec![table], direct: true, ..Jobs::new(Bytes(PAGE)) }
}

/// The phase of `jobs` on `model`.
fn run(model: &str, jobs: &Jobs, phase: Phase) -> MachinePhase {
    run_on(&mut machine(model, 1), jobs, phase, 0)
}

/// The phase of repetition number `repetition` of `jobs` on `machine`.
fn run_on(machine: &mut SimulatedMachine, jobs: &Jobs, phase: Phase, repetition: u32) -> MachinePhase {
    let geometry = Geometry { transfer: jobs.page_bytes, block: jobs.page_bytes, segments: 1 };
    let mut spec = WorkloadSpec::new("w", "/data", geometry);
    spec.files.targets = ["/data/p", "/data/w", "/data/u"].map(Into::into).into();
    let launches = u32::try_from(jobs.launches().len()).expect("few");
    (spec.tasks, spec.work) = (launches, Work::Jobs(jobs.clone()));
    let case = Case::new("a", spec.validate().expect("valid"), vec![Phase::Load, phase]);
    let job = PhaseJob::new(&case.workload, phase, repetition);
    machine.phase(&case, &job, &[], &Controls::new()).expect("the model has all parts")
}

fn launches(phase: &MachinePhase) -> &[LaunchReport] {
    let (_, launched) = phase.launched.as_ref().expect("jobs");
    assert!(launched.launches.iter().all(|one| one.outcome == LaunchOutcome::Complete));
    &launched.launches
}

fn seconds(report: &LaunchReport) -> f64 {
    (report.end_ns - report.start_ns) as f64 / 1e9
}

#[test]
fn computing_shares_the_processors() {
    let operations = 8_000_000_000;
    for (processors, streams, threads, expected) in
        [(4, 1, 1, 8.0), (4, 1, 2, 4.0), (4, 4, 2, 16.0), (1, 1, 4, 8.0)]
    {
        let all = of(vec![test("c", streams, vec![step(Action::Simulation { operations }, threads)])]);
        let phase = run(&model(processors, 1), &all, Phase::Jobs);
        is_close("time", phase.outcome.io_ns as f64 / 1e9, expected * if streams == 4 { 0.5 } else { 1.0 });
        let cpu: u64 = launches(&phase).iter().map(|one| one.usage.user_cpu_ns).sum();
        is_close("processor time", cpu as f64 / 1e9, 8.0 * f64::from(streams));
    }
}

#[test]
fn a_thread_reads_computes_and_writes_one_page_after_the_other() {
    let output = || Some(Output { table: "half".to_owned(), space: JobSpace::Work });
    for (threads, output, expected) in [
        (1, None, 500.0 * (READ + ROW_WORK)),
        (4, None, 125.0 * (READ + ROW_WORK)),
        (1, output(), 500.0 * (READ + ROW_WORK) + 250.0 * (WRITE + ROW_WORK)),
    ] {
        let all = of(vec![test("s", 1, vec![step(scan(output), threads)])]);
        let phase = run(&model(8, 16), &all, Phase::Jobs);
        is_close("time", seconds(&launches(&phase)[0]), expected);
        let pages = if launches(&phase)[0].moved.writes == [0; 3] { 500 } else { 750 };
        let computed = launches(&phase)[0].usage.user_cpu_ns;
        assert!((computed as f64 / 1e9 - f64::from(pages) * ROW_WORK).abs() < 1e-6, "{computed} ns");
    }
}

#[test]
fn many_scans_take_what_the_device_gives() {
    let all = of(vec![test("s", 16, vec![step(scan(None), 2)])]);
    let phase = run(&model(64, 1), &all, Phase::Jobs);
    is_close(
        "rate",
        phase.outcome.read_bytes as f64 / (phase.outcome.io_ns as f64 / 1e9),
        PAGE as f64 / READ,
    );
    let read: u64 = phase.devices.iter().map(|(_, one)| one.counters.read_bytes).sum();
    assert_eq!(read, phase.outcome.read_bytes, "the device read what the jobs did");
}

#[test]
fn steps_move_what_the_plan_says_in_each_space() {
    let sorted = Output { table: "sorted".to_owned(), space: JobSpace::Work };
    let steps = vec![
        step(scan(Some(Output { table: "half".to_owned(), space: JobSpace::Work })), 2),
        step(Action::Sort { input: "half".to_owned(), output: sorted }, 3),
        step(Action::Index { input: "sorted".to_owned(), lookups: 100 }, 1),
        step(Action::Update { table: "sorted".to_owned(), share_millionths: 100_000 }, 2),
        step(Action::Append { table: "sorted".to_owned(), rows: 4096 }, 1),
        step(Action::Regression { input: "t".to_owned(), operations: 1000 }, 1),
    ];
    let all = of(vec![test("s", 3, steps)]);
    let phase = run(&model(4, 4), &all, Phase::Jobs);
    let said = all.traffic();
    is_close("bytes read", phase.outcome.read_bytes as f64, said.read.0 as f64);
    is_close("bytes written", phase.outcome.write_bytes as f64, said.written.0 as f64);
    let half = TABLE / 2;
    for one in launches(&phase) {
        assert_eq!(one.moved.read_bytes[JobSpace::Permanent as usize], 2 * TABLE);
        // Half of the table, its copy and the sorted rows; the copy is gone after the sort.
        assert_eq!(one.moved.peak_bytes[JobSpace::Work as usize], 3 * half);
        let sort = &one.steps[1];
        assert_eq!(sort.moved.read_bytes, [0, 2 * half, half]);
        assert_eq!(sort.moved.write_bytes, [0, 2 * half, half]);
        assert!(one.steps.windows(2).all(|pair| pair[0].end_ns == pair[1].start_ns), "one after the other");
        assert_eq!(one.end_ns, one.steps[5].end_ns);
        let rows: Vec<_> =
            one.steps.iter().map(|step| (step.outcome.rows_in, step.outcome.rows_out)).collect();
        let (half, changed) = (ROWS / 2, 25 * ROWS_OF_PAGE);
        let last_page = ROWS_OF_PAGE;
        let expected =
            [(ROWS, half), (half, half), (half + 100, 0), (changed, changed), (last_page, 4096), (ROWS, 0)];
        assert_eq!(rows, expected, "as those of a measured run");
    }
    let loaded = run(&model(4, 4), &all, Phase::Load);
    assert_eq!([loaded.outcome.write_bytes, loaded.outcome.read_bytes], [3 * TABLE; 2], "and read back");
    let step = &launches(&loaded)[0].steps[0];
    assert_eq!((step.outcome.rows_in, step.outcome.rows_out), (ROWS, ROWS));
}

#[test]
fn rounds_follow_each_other_and_a_late_launch_is_ended() {
    let operations = 2_000_000_000;
    let mut twice = test("c", 2, vec![step(Action::Simulation { operations }, 1)]);
    twice.rounds = 3;
    let mut all = of(vec![twice]);
    let phase = run(&model(4, 1), &all, Phase::Jobs);
    let starts: Vec<f64> = launches(&phase).iter().map(|one| one.start_ns as f64 / 1e9).collect();
    for (start, expected) in starts.iter().zip([0.0, 0.0, 2.0, 2.0, 4.0, 4.0]) {
        assert!((start - expected).abs() < 0.02, "{starts:?}");
    }
    all.launch_limit = Some(plan::Nanos::secs(1));
    let phase = run(&model(4, 1), &all, Phase::Jobs);
    let (_, launched) = phase.launched.expect("jobs");
    let outcomes: Vec<LaunchOutcome> = launched.launches.iter().map(|one| one.outcome).collect();
    assert_eq!(outcomes[..3], [LaunchOutcome::TooLong, LaunchOutcome::TooLong, LaunchOutcome::Skipped]);
}

#[test]
fn noise_spreads_the_times_of_repetitions() {
    let scans = of(vec![test("s", 1, vec![step(scan(None), 1)])]);
    let computes = of(vec![test("c", 1, vec![step(Action::Simulation { operations: 2_000_000_000 }, 1)])]);
    for jobs in [scans, computes] {
        let mut machine = noisy(&model(4, 1), 0.2, 1);
        let times: Vec<u64> = (0..5)
            .map(|repetition| {
                launches(&run_on(&mut machine, &jobs, Phase::Jobs, repetition))[0].usage.user_cpu_ns
            })
            .collect();
        let (least, most) = (times.iter().min().expect("some"), times.iter().max().expect("some"));
        assert!(*most as f64 > 1.1 * *least as f64, "{times:?}");
    }
}

#[test]
fn lookups_go_to_all_of_the_index() {
    // The index has 63 pages in two chunks, one on each device.
    let model = model(4, 1)
        .replace("slots = 1", "count = 2\nslots = 1")
        .replace("devices = \"card\"", "devices = \"card\"\nchunk = \"8MiB\"");
    let reads = |lookups: u64| {
        let index = Action::Index { input: "t".to_owned(), lookups };
        let phase = run(&model, &of(vec![test("i", 1, vec![step(index, 1)])]), Phase::Jobs);
        let of = |number: &str| {
            let own = phase.devices.iter().filter(|(_, one)| one.counters.device.ends_with(number));
            own.map(|(_, one)| one.counters.reads).sum::<u64>()
        };
        ["-0", "-1"].map(of)
    };
    let (few, more) = (reads(1), reads(33));
    // 32 lookups more read a page of the table and a page of the index each.
    let by = [more[0] - few[0], more[1] - few[1]];
    assert!(by.iter().sum::<u64>() == 64 && by.iter().all(|one| *one >= 22), "{by:?}");
}

#[test]
fn what_a_model_leaves_out_of_jobs_is_told() {
    let told = |memory_max: Option<Bytes>, direct: bool| {
        let limited = JobTest { memory_max, ..test("s", 1, vec![step(scan(None), 1)]) };
        let jobs = Jobs { direct, ..of(vec![limited]) };
        let geometry = Geometry { transfer: jobs.page_bytes, block: jobs.page_bytes, segments: 1 };
        let mut spec = WorkloadSpec::new("w", "/data", geometry);
        spec.files.targets = ["/data/p", "/data/w", "/data/u"].map(Into::into).into();
        spec.work = Work::Jobs(jobs);
        let case = Case::new("a", spec.validate().expect("valid"), vec![Phase::Load, Phase::Jobs]);
        let plan = Plan::new(
            "a test",
            PlanSource::Quick { directory: "/data".into(), others: Vec::new() },
            1,
            vec![case],
        );
        SimulatedMachine::left_out(&plan)
    };
    assert!(told(None, true).is_empty());
    let limit = told(Some(Bytes::gib(1)), true);
    assert!(limit.len() == 1 && limit[0].contains("`memory_max`") && limit[0].contains("`s`"), "{limit:?}");
    let buffered = told(None, false);
    assert!(buffered.len() == 1 && buffered[0].contains("`direct = false`"), "{buffered:?}");
}
