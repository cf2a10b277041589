//! Workloads at the same time: what each gets beside the others is known where they share one server, first come, first
//! served.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;

use comm::Solo;
use engine::{Controls, PhaseJob, PhaseOutcome};
use host::{Host, Root};
use plan::{Case, Concurrent, Nanos, Pace, Phase, Plan, PlanSource, WorkloadSpec};
use record::{PhaseRow, Recorder, Run};
use runner::{Machine, MachineJob, MachinePhase, PlanExecution, Silent, Watch};

use crate::bench::{in_order, is_close, machine, machine_of_cases, manifest, noisy, random_for, read};
use crate::open_loops::waits;
use crate::same_bytes::Ends;

/// Two devices, each behind its own layout, of which each serves 1,000 transfers a second.
const LIMITED: &str = r#"
    node = { processors = 64 }

    [[device]]
    name = "one"
    slots = 64
    read = { time = "10us" }
    write = { time = "10us" }
    limits = { read_iops = 1000 }

    [[device]]
    name = "two"
    slots = 64
    read = { time = "10us" }
    write = { time = "10us" }
    limits = { read_iops = 1000 }

    [[layout]]
    name = "one"
    devices = "one"
    targets = ["a", "b"]

    [[layout]]
    name = "two"
    devices = "two"
    targets = ["c"]
"#;

/// Chance in each part, and a page cache.
const RANDOM: &str = r#"
    node = { count = 2, processors = 4, request_time = "5us", cache = { size = "64MiB", rate = "2GB/s" } }

    [[server]]
    name = "controller"
    slots = 4
    read = { time = "100us", distribution = "exponential" }
    write = { time = "150us", distribution = "log-normal", deviation = 0.5 }

    [[device]]
    name = "disk"
    count = 4
    read = { time = "1ms", distribution = "exponential" }
    write = { time = "1ms", distribution = "exponential" }

    [[layout]]
    name = "here"
    devices = "disk"
    through = ["controller"]
    chunk = "64KiB"
"#;

/// A case on `target` that begins so many seconds after the first.
fn case(target: &str, spec: WorkloadSpec, phase: Phase, start: u64) -> Case {
    let together =
        Concurrent { name: "both".to_owned(), alone: target.to_owned(), start: Nanos::secs(start) };
    let case = Case::new(format!("both:{target}"), spec.validate().expect("valid"), vec![phase]);
    Case { target: target.to_owned(), concurrent: Some(together), ..case }
}

/// Reads at random places for so many seconds, with files of their own.
fn reads(target: &str, seconds: u64, tasks: u32) -> WorkloadSpec {
    let mut spec = random_for(seconds, tasks);
    spec.files.targets = vec![format!("/data/{target}").into()];
    spec
}

/// Runs `cases` at the same time.
fn run(machine: &mut dyn Machine, cases: &[Case]) -> Vec<MachinePhase> {
    let controls = Controls::new();
    let node_of = [0; 256];
    let job = |case: &'_ Case| -> usize { case.workload.tasks as usize };
    let jobs: Vec<MachineJob<'_>> = cases
        .iter()
        .map(|case| MachineJob {
            case,
            job: PhaseJob::new(&case.workload, case.phases[0], 0),
            node_of: &node_of[..job(case)],
            controls: &controls,
        })
        .collect();
    machine.phases(&jobs).expect("the model has all parts")
}

fn rate(outcome: &PhaseOutcome) -> f64 {
    (outcome.reads + outcome.writes) as f64 / (outcome.io_ns as f64 / 1e9)
}

fn rates(model: &str, cases: &[Case]) -> Vec<f64> {
    run(&mut machine(model, 1), cases).iter().map(|one| rate(&one.outcome)).collect()
}

#[test]
fn closed_loops_share_a_limited_device_by_their_tasks() {
    for (tasks, shares) in [([1, 1], [0.5, 0.5]), ([8, 8], [0.5, 0.5]), ([4, 1], [0.8, 0.2])] {
        let all: Vec<Case> = (["a", "b"].iter().zip(tasks))
            .map(|(target, tasks)| case(target, reads(target, 20, tasks), Phase::Read, 0))
            .collect();
        let found = rates(LIMITED, &all);
        is_close("the sum", found.iter().sum(), 1000.0);
        for (found, share) in found.iter().zip(shares) {
            is_close(&format!("{tasks:?}"), *found, 1000.0 * share);
        }
    }
}

#[test]
fn what_uses_another_device_costs_nothing() {
    let alone = |target: &str| rates(LIMITED, &[case(target, reads(target, 5, 3), Phase::Read, 0)])[0];
    let both = rates(LIMITED, &["a", "c"].map(|target| case(target, reads(target, 5, 3), Phase::Read, 0)));
    assert_eq!(
        both.iter().map(|rate| rate.to_bits()).collect::<Vec<_>>(),
        [alone("a").to_bits(), alone("c").to_bits()]
    );
}

#[test]
fn a_stream_below_its_share_keeps_its_rate_and_the_rest_goes_to_the_other() {
    let mut paced = reads("a", 20, 2);
    paced.pace = Some(Pace { transfers_per_second: 100.0 });
    let all = [case("a", paced, Phase::Read, 0), case("b", reads("b", 20, 8), Phase::Read, 0)];
    let found = rates(LIMITED, &all);
    is_close("with a rate", found[0], 100.0);
    is_close("without", found[1], 900.0);
}

#[test]
fn even_arrivals_beside_others_wait_as_if_all_were_one_stream() {
    // Two even streams of 300 and 300 transfers a second, half a turn apart, are one of 600: D/M/1.
    let model = r#"
        node = { processors = 64 }

        [[device]]
        name = "disk"
        read = { time = "1ms", distribution = "exponential" }
        write = { time = "1ms" }

        [[layout]]
        name = "here"
        devices = "disk"
    "#;
    let stream = |target: &str, start: u64| {
        let mut spec = reads(target, 1500, 1);
        spec.pace = Some(Pace { transfers_per_second: 300.0 });
        spec.backend = plan::Backend::Uring { depth: 64, required: true };
        let mut case = case(target, spec, Phase::Read, 0);
        case.concurrent.iter_mut().for_each(|together| together.start = Nanos(start));
        case
    };
    let alone = run(&mut machine(model, 1), &[stream("a", 0)]);
    let both = run(&mut machine(model, 1), &[stream("a", 0), stream("b", 1_666_667)]);
    let latency = |one: &MachinePhase| {
        let sum: u64 = one.outcome.series.iter().map(|one| one.latency_sum_ns).sum();
        sum as f64 / 1e9 / (one.outcome.reads as f64)
    };
    let mean = |utilisation: f64| 1e-3 / (1.0 - waits(utilisation));
    is_close("alone", latency(&alone[0]), mean(0.3));
    for one in &both {
        is_close("rate", rate(&one.outcome), 300.0);
        is_close("beside the other", latency(one), mean(0.6));
    }
}

#[test]
fn slots_are_shared_by_the_number_in_flight() {
    let model = LIMITED
        .replace("slots = 64", "slots = 4")
        .replace("limits = { read_iops = 1000 }", "")
        .replace("10us", "1ms");
    let all: Vec<Case> = [("a", 12), ("b", 4)]
        .map(|(target, tasks)| case(target, reads(target, 20, tasks), Phase::Read, 0))
        .to_vec();
    let found = rates(&model, &all);
    is_close("12 of 16", found[0], 3000.0);
    is_close("4 of 16", found[1], 1000.0);
}

#[test]
fn one_that_begins_later_leaves_the_other_alone_before() {
    let all = [case("a", reads("a", 15, 4), Phase::Read, 0), case("b", reads("b", 5, 4), Phase::Read, 5)];
    let found = run(&mut machine(LIMITED, 1), &all);
    let series: Vec<u64> = found[0].outcome.series.iter().map(|one| one.transfers).collect();
    for (second, transfers) in series.iter().enumerate().take(15) {
        let expected = if (5..10).contains(&second) { 500.0 } else { 1000.0 };
        assert!((*transfers as f64 - expected).abs() <= 8.0, "{second} s: {transfers}");
    }
    is_close("the later one", rate(&found[1].outcome), 500.0);
    let started = found[1].outcome.started_unix_ns - found[0].outcome.started_unix_ns;
    assert_eq!(started, 5_000_000_000);
    // Its counters are those of the whole system, from its start to its end.
    let requests = |one: &MachinePhase| one.devices.iter().map(|(_, one)| one.counters.reads).sum::<u64>();
    is_close("requests beside it", requests(&found[1]) as f64, 5000.0);
    is_close("all requests", requests(&found[0]) as f64, 15_000.0);
    let ends: Vec<u64> = found[1].devices.iter().map(|(_, one)| one.start_ns + one.length_ns).collect();
    assert_eq!(found[1].devices[0].1.start_ns, 0);
    assert!(ends.windows(2).all(|pair| pair[0] <= pair[1]), "{ends:?}");
}

#[test]
fn a_page_cache_has_the_bytes_of_all() {
    let model = r#"
        node = { processors = 8, cache = { size = "4GiB", dirty = "100MB", rate = "1GB/s" } }

        [[device]]
        name = "disk"
        read = { rate = "100MB/s" }
        write = { rate = "100MB/s" }

        [[layout]]
        name = "here"
        devices = "disk"
    "#;
    let stream = |target: &str, phase| {
        let mut spec = in_order(1 << 20, 2000 << 20, 1);
        spec.files.targets = vec![format!("/data/{target}").into()];
        (spec.direct, spec.sync.at_close) = (false, true);
        case(target, spec, phase, 0)
    };
    let found = run(&mut machine(model, 1), &[stream("a", Phase::Write), stream("b", Phase::Read)]);
    let bytes = |one: &MachinePhase| (one.outcome.read_bytes + one.outcome.write_bytes) as f64;
    assert_eq!([bytes(&found[0]), bytes(&found[1])], [2000.0 * 1_048_576.0; 2]);
    // The disk moves all bytes of both, one after another.
    let last = found.iter().map(|one| one.outcome.wall_ns).max().expect("two") as f64 / 1e9;
    is_close("until both are done", last, 2.0 * 2000.0 * 1.048_576 / 100.0);
}

#[test]
fn two_streams_on_a_disk_do_not_continue_each_other() {
    let model = r#"
        node = { processors = 8 }

        [[device]]
        name = "disk"
        read = { time = "4ms", next_time = "1ms" }
        write = { time = "4ms" }

        [[layout]]
        name = "here"
        devices = "disk"
    "#;
    let stream = |target: &str| {
        let mut spec = in_order(4096, 4096 * 2000, 1);
        spec.files.targets = vec![format!("/data/{target}").into()];
        case(target, spec, Phase::Read, 0)
    };
    is_close("alone", rates(model, &[stream("a")])[0], 1000.0);
    rates(model, &[stream("a"), stream("b")]).iter().for_each(|rate| is_close("in turn", *rate, 125.0));
}

/// A mixed stream, and one that writes through the page cache from the second second on.
fn random_cases() -> Vec<Case> {
    let mut mixed = reads("a", 2, 4);
    mixed.read_percent = 60;
    let mut buffered = in_order(65_536, 8 << 20, 4);
    buffered.files.targets = vec!["/data/b".into()];
    (buffered.direct, buffered.sync.at_close) = (false, true);
    vec![case("a", mixed, Phase::Mixed, 0), case("b", buffered, Phase::Write, 1)]
}

/// The figures of a run of the random cases, each alone and both at the same time, with so many threads. It goes on after
/// `interrupted` phases.
fn recorded(place: &Path, threads: usize, interrupted: Option<usize>) -> String {
    let repeated = |case: Case| Case { repetitions: 3, ..case };
    let alone = |case: Case| Case { id: case.target.clone(), concurrent: None, ..case };
    let both: Vec<Case> = random_cases().into_iter().map(repeated).collect();
    let again = |case: Case| {
        let together = case.concurrent.map(|one| Concurrent { name: "again".to_owned(), ..one });
        Case { id: format!("again:{}", case.target), concurrent: together, ..case }
    };
    let cases: Vec<Case> =
        both.iter().cloned().map(alone).chain(both.clone()).chain(both.iter().cloned().map(again)).collect();
    let source = PlanSource::Quick { directory: "/data".into(), others: Vec::new() };
    let plan = Plan::new("a test", source, 1, cases.clone());
    let directory = place.join(format!("record-{threads}-{interrupted:?}"));
    let host = Host::new(Root::default());
    for (starts, phases) in interrupted.map(Some).into_iter().chain([None]).enumerate() {
        let threads = NonZero::new(threads).expect("one or more");
        let mut machine = machine_of_cases(read(RANDOM, 0.05), cases.clone(), 1).with_threads(threads);
        let comm = Solo::of_nodes(machine.topology());
        let check = |finished| {
            let checked = runner::check_on(&machine, plan.clone(), &comm, "a-run".to_owned(), 0, finished);
            checked.expect("the model has all parts")
        };
        let (recorder, checked) = if starts == 0 {
            let checked = check(BTreeSet::new());
            (Recorder::create(&directory, &manifest(&checked)).expect("a new directory"), checked)
        } else {
            let (recorder, resumed) = Recorder::resume(&directory).expect("an interrupted run");
            (recorder, check(resumed.finished.iter().cloned().collect()))
        };
        let controls = Arc::new(Controls::new());
        let mut ends = phases.map(|phases| Ends(Arc::clone(&controls), phases));
        let watch: &mut dyn Watch = match &mut ends {
            Some(ends) => ends,
            None => &mut Silent,
        };
        let execution = PlanExecution::new(&host, &comm, recorder, watch, controls);
        let summary = execution.on_machine(&mut machine).run(&checked).expect("the record can be written");
        assert_eq!((summary.interrupted, summary.failed), (phases.is_some(), None));
    }
    let run = Run::open(&directory).expect("a whole record");
    let of = |case: &Case| {
        let case = case.id.as_str();
        let own = run.phases(case);
        let phases: Vec<_> = own.iter().map(|row| PhaseRow { started_unix_ns: 0, ..row.clone() }).collect();
        assert_eq!(phases.len(), 3, "{case}");
        let (tasks, series, devices) = (run.tasks(case), run.series(case), run.devices(case));
        let tasks: Vec<_> = tasks.iter().collect();
        let series: Vec<_> = series.iter().collect();
        let devices: Vec<_> = devices.iter().collect();
        format!("{phases:#?}\n{tasks:#?}\n{series:#?}\n{devices:#?}")
    };
    cases.iter().map(of).collect()
}

#[test]
fn a_run_has_the_same_figures_with_any_number_of_threads_and_after_an_interruption() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a place");
    let whole = recorded(place.path(), 1, None);
    for (threads, interrupted) in
        [(2, None), (5, None), (2, Some(7)), (2, Some(8)), (2, Some(10)), (2, Some(15))]
    {
        let other = recorded(place.path(), threads, interrupted);
        let apart = whole.lines().zip(other.lines()).find(|(one, other)| one != other);
        assert!(whole == other, "{threads} threads, {interrupted:?}: {apart:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_figures_and_nothing_is_lost() {
    let run = |seed| run(&mut noisy(RANDOM, 0.05, seed), &random_cases());
    let [one, two, other] = [1, 1, 2].map(|seed| format!("{:?}", run(seed)));
    assert!(one == two, "the same seed gave something else");
    assert!(one != other, "another seed gave the same");
    for phase in run(3) {
        let of_tasks: u64 = phase.outcome.tasks.iter().map(|task| task.reads + task.writes).sum();
        let of_series: u64 = phase.outcome.series.iter().map(|one| one.transfers).sum();
        assert_eq!([of_tasks, of_series], [phase.outcome.reads + phase.outcome.writes; 2]);
    }
}
