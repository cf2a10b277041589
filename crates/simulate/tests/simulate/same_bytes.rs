//! The same study, model and seed give the same record, whatever else runs, and after an interruption too.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use comm::Solo;
use engine::Controls;
use host::{Host, Root};
use plan::{Case, Phase, Plan, PlanSource};
use record::{PhaseRow, Recorder, Run};
use runner::{Event, PlanExecution, Silent, Watch};

use crate::bench::{in_order, manifest, noisy, random_for};

/// Two nodes, with chance in each part. All parts are at rest when a phase that waits for its data is over.
const MODEL: &str = r#"
    [node]
    count = 2
    processors = 4
    request_time = "5us"
    cache = { size = "16MiB", rate = "2GB/s" }

    [[server]]
    name = "controller"
    slots = 4
    read = { time = "100us", distribution = "exponential" }
    write = { time = "150us", distribution = "log-normal", deviation = 0.5 }

    [[device]]
    name = "disk"
    count = 4
    read = { time = "1ms", distribution = "exponential" }
    write = { time = "1ms", distribution = "empirical", quantiles = ["200us", "1ms", "4ms"] }

    [[layout]]
    name = "here"
    devices = "disk"
    through = ["controller"]
    chunk = "64KiB"
"#;

/// What lasts from case to case, or depends on the time.
const TROUBLES: &str = r#"
    [[trouble]]
    kind = "drift"
    devices = "disk"
    share = 100.0

    [[trouble]]
    kind = "stall"
    devices = "disk"
    members = [1]
    at = "1s"
    length = "200ms"
    every = "7s"

    [[trouble]]
    kind = "burst"
    devices = "disk"
    members = [2]
    size = "3MB"
    rate = "1MB/s"

    [[trouble]]
    kind = "load"
    devices = "disk"
    members = [3]
    share = 0.2
"#;

/// Cases of each kind of load.
fn cases() -> Vec<Case> {
    let case = |id: &str, mut spec: plan::WorkloadSpec, phases: &[Phase]| {
        spec.nodes = 2;
        Case { repetitions: 3, ..Case::new(id, spec.validate().expect("valid"), phases.to_vec()) }
    };
    let mut mixed = random_for(2, 4);
    mixed.read_percent = 60;
    let mut buffered = in_order(65_536, 4 << 20, 4);
    (buffered.direct, buffered.sync.at_close) = (false, true);
    let mut paced = random_for(2, 2);
    paced.pace = Some(plan::Pace { transfers_per_second: 500.0 });
    vec![
        case("mixed", mixed, &[Phase::Mixed]),
        case("buffered", buffered, &[Phase::Write, Phase::Read]),
        case("paced", paced, &[Phase::Read]),
    ]
}

/// Ends a run after so many phases.
pub(crate) struct Ends(pub(crate) Arc<Controls>, pub(crate) usize);

impl Watch for Ends {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::PhaseFinished(_) = event {
            self.1 = self.1.saturating_sub(1);
            if self.1 == 0 {
                self.0.stop();
            }
        }
    }
}

/// The record of a run of `cases` on `model`, which goes on after `interrupted` phases; its directory is below
/// `place`.
fn record(place: &Path, model: &str, cases: Vec<Case>, seed: u64, interrupted: Option<usize>) -> PathBuf {
    let directory = place.join(format!("record-{}", fs::read_dir(place).expect("readable").count()));
    let plan =
        Plan::new("a test", PlanSource::Quick { directory: "/data".into(), others: Vec::new() }, 1, cases);
    let host = Host::new(Root::default());
    for (starts, phases) in interrupted.map(Some).into_iter().chain([None]).enumerate() {
        let mut machine = noisy(model, 0.05, seed);
        let comm = Solo::of_nodes(machine.topology());
        let check = |finished| {
            let checked = runner::check_on(&machine, plan.clone(), &comm, "a-run".to_owned(), 0, finished);
            checked.expect("the model has all parts")
        };
        let (recorder, checked) = match starts {
            0 => {
                let checked = check(BTreeSet::new());
                (Recorder::create(&directory, &manifest(&checked)).expect("a new directory"), checked)
            }
            _ => {
                let (recorder, resumed) = Recorder::resume(&directory).expect("an interrupted run");
                (recorder, check(resumed.finished.iter().cloned().collect()))
            }
        };
        let controls = Arc::new(Controls::new());
        let mut ends = phases.map(|phases| Ends(Arc::clone(&controls), phases));
        let watch: &mut dyn Watch = match &mut ends {
            Some(ends) => ends,
            None => &mut Silent,
        };
        let execution = PlanExecution::new(&host, &comm, recorder, watch, controls);
        let summary = execution.on_machine(&mut machine).run(&checked).expect("the record can be written");
        assert_eq!(summary.interrupted, phases.is_some());
    }
    directory
}

#[test]
fn the_same_seed_gives_the_same_files_and_another_seed_others() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a place");
    let tables = |directory: PathBuf| {
        let mut found = Vec::new();
        let mut directories = vec![directory.clone()];
        while let Some(next) = directories.pop() {
            for entry in fs::read_dir(next).expect("readable").flatten() {
                if entry.path().is_dir() {
                    directories.push(entry.path());
                } else if entry.path().extension().is_some_and(|end| end == "parquet") {
                    let name = entry.path().strip_prefix(&directory).expect("below").to_owned();
                    found.push((name, fs::read(entry.path()).expect("readable")));
                }
            }
        }
        found.sort();
        found
    };
    let [one, two, other] = [1, 1, 2]
        .map(|seed| tables(record(place.path(), &format!("{MODEL}{TROUBLES}"), cases(), seed, None)));
    assert!(one.len() >= 4, "tables of phases, tasks, latencies, series: {}", one.len());
    assert!(one == two, "the tables differ");
    assert!(one != other, "another seed gave the same");
}

/// The tables of each case but for when its phases began, which depends on what ran before.
fn without_starts(directory: &Path) -> Vec<String> {
    let run = Run::open(directory).expect("a whole record");
    let of = |case: Case| {
        let case = case.id.as_str();
        let own = run.phases(case);
        let phases: Vec<_> = own.iter().map(|row| PhaseRow { started_unix_ns: 0, ..row.clone() }).collect();
        let (tasks, latency, series) = (run.tasks(case), run.latency(case), run.series(case));
        let tasks: Vec<_> = tasks.iter().collect();
        let latency: Vec<_> = latency.iter().collect();
        let series: Vec<_> = series.iter().collect();
        format!("{phases:#?}\n{tasks:#?}\n{latency:#?}\n{series:#?}")
    };
    cases().into_iter().map(of).collect()
}

#[test]
fn a_run_that_was_interrupted_ends_with_the_figures_of_one_that_was_not() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a place");
    let mut in_turns = cases();
    in_turns.iter_mut().for_each(|case| case.in_turn = true);
    // Troubles go on from case to case, and depend on the time.
    let model = format!("{MODEL}{TROUBLES}");
    for planned in [cases(), in_turns] {
        let whole = without_starts(&record(place.path(), &model, planned.clone(), 1, None));
        for phases in [1, 4, 10] {
            let resumed = without_starts(&record(place.path(), &model, planned.clone(), 1, Some(phases)));
            for ((whole, resumed), case) in whole.iter().zip(&resumed).zip(cases()) {
                let apart = whole.lines().zip(resumed.lines()).find(|(one, other)| one != other);
                assert!(whole == resumed, "{} after {phases} phases: {apart:?}", case.id);
            }
        }
    }
}

#[test]
fn a_case_has_the_same_figures_whatever_ran_before_it() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a place");
    let mut turned = cases();
    turned.reverse();
    let [one, other] =
        [cases(), turned].map(|cases| without_starts(&record(place.path(), MODEL, cases, 1, None)));
    for ((one, other), case) in one.iter().zip(&other).zip(cases()) {
        let apart = one.lines().zip(other.lines()).find(|(one, other)| one != other);
        assert!(one == other, "{}: {apart:?}", case.id);
    }
}
