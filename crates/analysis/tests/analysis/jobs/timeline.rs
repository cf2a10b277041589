//! Events while jobs ran, computed from rows with known results.

use plan::jobs::{Action, Output, Step, TableOrder};
use plan::{
    Bytes, Case, FileSystemSpace, JobSpace, JobTable, JobTest, Jobs, Phase, Plan, Setting, SettingValue,
    TargetDescription, TestKind, Work, Workload,
};
use proptest::collection::vec;
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use record::{
    FileSystemFacts, LaunchRow, LayoutLifetime, PhaseKey, PhaseRecord, PhaseRow, Run, SpaceRow, StepRow,
};

use analysis::{
    RateName,
    audit::Check,
    figures::{RateOf, figures},
    findings::{Findings, findings},
    gate::{Kind, Row, Value},
    jobs::{Timeline, concurrency, lengths, levels, profile},
    targets::fits,
};

use crate::common::rows::{SECOND, cell, plan, run, workload};

const MB: u64 = 1_000_000;

fn key(repetition: u32) -> PhaseKey {
    PhaseKey { case: "c".into(), repetition, phase: Phase::Jobs }
}

fn launch(number: u32, start_s: f64, end_s: f64) -> LaunchRow {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "made-up times are small")]
    let nanos = |seconds: f64| (seconds * 1e9).round() as u64;
    LaunchRow {
        node: "n".into(),
        launch: number,
        kind: "io".into(),
        start_ns: nanos(start_s),
        end_ns: nanos(end_s),
        start_cost_ns: 5_000_000 * u64::from(number + 1),
        user_cpu_ns: 2 * SECOND,
        system_cpu_ns: SECOND,
        permanent_read_bytes: 100 * MB,
        work_read_bytes: 100 * MB,
        work_write_bytes: 200 * MB,
        work_peak_bytes: 150 * MB,
        utility_write_bytes: 100 * MB,
        utility_peak_bytes: 100 * MB,
        ..LaunchRow::new(key(0), "sort")
    }
}

fn step(launch: &LaunchRow, number: u32, action: &str) -> StepRow {
    StepRow {
        key: launch.key.clone(),
        launch: launch.launch,
        test: launch.test.clone(),
        step: number,
        action: action.into(),
        threads: 2,
        start_ns: launch.start_ns,
        end_ns: launch.end_ns,
        user_cpu_ns: launch.user_cpu_ns,
        system_cpu_ns: launch.system_cpu_ns,
        peak_memory_bytes: 0,
        block_input_bytes: 0,
        block_output_bytes: 0,
        voluntary_switches: 0,
        involuntary_switches: 0,
        permanent_read_bytes: launch.permanent_read_bytes,
        permanent_write_bytes: launch.permanent_write_bytes,
        work_read_bytes: launch.work_read_bytes,
        work_write_bytes: launch.work_write_bytes,
        utility_read_bytes: launch.utility_read_bytes,
        utility_write_bytes: launch.utility_write_bytes,
        rows_in: 100 * MB / 128,
        rows_out: 100 * MB / 128,
        checksum: record::SharedText::EMPTY,
        result: "{}".into(),
    }
}

fn second(space: JobSpace, at: u64, read: u64, write: u64, free: u64) -> SpaceRow {
    SpaceRow {
        key: key(0),
        space: space.name().into(),
        start_ns: at * SECOND,
        length_ns: SECOND,
        read_bytes: read,
        write_bytes: write,
        free_bytes: Some(free),
    }
}

fn jobs() -> Jobs {
    let sort = Step {
        action: Action::Scan { input: "sales".to_owned(), output: None, keep_millionths: 10 },
        threads: 1,
        memory: Bytes::mib(64),
    };
    let table = JobTable { name: "sales".to_owned(), rows: 20_470, groups: 10, order: TableOrder::Number };
    let test = JobTest { streams: 2, ..JobTest::new("sort", TestKind::Io, vec![sort]) };
    Jobs { tables: vec![table], tests: vec![test], free_percent_min: 10, ..Jobs::new(Bytes::kib(256)) }
}

fn of_jobs(jobs: Jobs) -> Workload {
    workload(|spec| {
        spec.files.targets = ["/data/permanent", "/data/work", "/data/utility"].map(Into::into).to_vec();
        spec.tasks = u32::try_from(jobs.launches().len()).expect("few");
        spec.work = Work::Jobs(jobs);
    })
}

fn study() -> Plan {
    let case = Case { target: "flash".to_owned(), ..Case::new("c", of_jobs(jobs()), vec![Phase::Jobs]) };
    let mut plan = plan(vec![case]);
    plan.criteria.targets = vec![TargetDescription {
        name: "flash".to_owned(),
        devices: 5,
        slots: 4,
        rack_units: 2.0,
        capacity: Some(Bytes(300 * MB)),
        ..TargetDescription::default()
    }];
    plan
}

/// Two launches of 4 s and 2 s that overlap by one second, and six seconds of transferred bytes.
fn made() -> (Vec<LaunchRow>, Vec<StepRow>, Vec<SpaceRow>) {
    let launches = vec![launch(0, 0.0, 4.0), launch(1, 3.0, 5.0)];
    let steps = launches.iter().map(|one| step(one, 0, "sort")).collect();
    let mut spaces = Vec::new();
    for at in 0..5 {
        let free = 400 * MB - at * 70 * MB;
        spaces.push(second(JobSpace::Permanent, at, 40 * MB, 0, 900 * MB));
        spaces.push(second(JobSpace::Work, at, 40 * MB, 80 * MB, free));
        spaces.push(second(JobSpace::Utility, at, 0, 40 * MB, 800 * MB));
    }
    (launches, steps, spaces)
}

fn phase_row() -> PhaseRow {
    PhaseRow {
        wall_ns: 5 * SECOND,
        io_ns: 5 * SECOND,
        read_bytes: 400 * MB,
        write_bytes: 600 * MB,
        device_read_bytes: Some(100 * MB),
        device_write_bytes: Some(600 * MB),
        harness_cpu_ns: Some(50_000_000),
        ..PhaseRow::new(key(0))
    }
}

fn observed(change: impl FnOnce(&mut PhaseRecord)) -> Run {
    let (launches, steps, spaces) = made();
    let mut record = PhaseRecord { launches, steps, spaces, ..PhaseRecord::new(phase_row()) };
    change(&mut record);
    let mut run = run(&study(), vec![record]);
    run.manifest.host.file_systems = [("/", 9_000 * MB), ("/data/work", 2_000 * MB)]
        .map(|(mount, size)| FileSystemFacts {
            mount_point: mount.to_owned(),
            kind: "xfs".to_owned(),
            source: String::new(),
            options: String::new(),
            size_bytes: size,
            free_bytes: size,
            reserved_bytes: 0,
            inodes: 0,
            free_inodes: 0,
        })
        .to_vec();
    run
}

fn refs<T>(all: &[T]) -> Vec<&T> {
    all.iter().collect()
}

fn found(run: &Run) -> Findings {
    findings(run, &figures(run, RateName::ByWall))
}

fn timeline(run: &Run) -> Timeline {
    found(run).timelines[0].says().expect("a pass").clone()
}

#[test]
fn two_launches_that_overlap_for_one_second_are_one_and_a_fifth_at_a_time() {
    let one = timeline(&observed(|_| {})).concurrency;
    assert_eq!((one.launches, one.complete, one.most), (2, 2, 2));
    assert_eq!((one.real_ns, one.elapsed_ns), (6 * SECOND, 5 * SECOND));
    assert!((one.mean - 1.2).abs() < 1e-12);
    let changes: Vec<(u64, u64)> = one.changes.iter().map(|(at, running)| (at / SECOND, *running)).collect();
    assert_eq!(changes, [(0, 1), (3, 2), (4, 1), (5, 0)]);
}

#[test]
fn a_launch_that_begins_as_another_one_ends_is_not_beside_it() {
    let rows = [launch(0, 0.0, 2.0), launch(1, 2.0, 3.0)];
    assert_eq!(concurrency(&refs(&rows)).most, 1);
}

#[test]
fn what_never_ran_and_what_was_killed_count_where_they_belong() {
    let mut rows = [launch(0, 0.0, 2.0), launch(1, 0.0, 8.0), launch(2, 0.0, 0.0)];
    rows[1].outcome = "killed".into();
    rows[2].outcome = "skipped".into();
    let one = concurrency(&refs(&rows));
    assert_eq!((one.launches, one.complete, one.most, one.real_ns), (3, 1, 2, 10 * SECOND));
    let (lengths, _) = lengths(&refs(&rows)).expect("one is complete");
    assert_eq!((lengths.n, lengths.max), (1, 2.0));
}

#[test]
fn lengths_have_even_bins_or_bins_by_decades() {
    let even: Vec<LaunchRow> = [4.0, 5.0, 5.5, 9.9].iter().map(|&end| launch(0, 0.0, end)).collect();
    let bins = |rows: &[LaunchRow]| lengths(&refs(rows)).expect("lengths").1.bins().collect::<Vec<_>>();
    let (from, to, _) = bins(&even)[1];
    assert!((to - from - 0.5).abs() < 1e-9, "{from} to {to}");
    let wide: Vec<LaunchRow> = [0.3, 2.0, 3.0, 30.0].iter().map(|&end| launch(0, 0.0, end)).collect();
    let all = bins(&wide);
    let edges: Vec<f64> = all.iter().map(|bin| (bin.0 * 1000.0).round() / 1000.0).collect();
    assert_eq!(edges, [0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0]);
    let counts: Vec<usize> = all.iter().map(|bin| bin.2).collect();
    assert_eq!(counts, [1, 0, 0, 2, 0, 0, 1]);
    let (lengths, _) = lengths(&refs(&wide)).expect("lengths");
    assert!((lengths.median - 2.5).abs() < 1e-9);
}

#[test]
fn a_profile_that_jumps_climbs_and_peaks_has_these_levels() {
    // 10 s at 900 MB/s, a ramp of 20 s from 1000 to 2000 MB/s, 5 s at 4000 MB/s, 5 s at 500 MB/s.
    let mut rates: Vec<u64> = vec![900; 10];
    rates.extend((0..20).map(|at| 1000 + at * 1000 / 19));
    rates.extend([4000; 5]);
    rates.extend([500; 5]);
    let rows: Vec<SpaceRow> =
        rates.iter().zip(0..).map(|(rate, at)| second(JobSpace::Work, at, rate * MB, 0, 0)).collect();
    let levels = levels(&profile(&refs(&rows))).expect("bytes were moved");
    assert_eq!(levels.start.bytes_per_second, 900e6);
    assert_eq!((levels.start.from_seconds, levels.start.to_seconds), (0.0, 4.0));
    assert_eq!((levels.peak.bytes_per_second, levels.peak.from_seconds), (4000e6, 30.0));
    assert_eq!(levels.end.bytes_per_second, 500e6);
    let (climb, slope, r_squared) = levels.climb.expect("26 s between");
    assert!((1.9e9..2.05e9).contains(&climb.bytes_per_second), "{climb:?}");
    assert!(slope > 40e6 && r_squared > 0.9, "{climb:?}");
}

#[test]
fn a_stall_is_in_the_profile_and_the_rest_of_a_second_is_not() {
    let mut rest = second(JobSpace::Work, 4, MB, 0, 0);
    rest.length_ns = SECOND / 10;
    let rows = [second(JobSpace::Work, 0, MB, 0, 0), second(JobSpace::Utility, 3, 0, MB, 0), rest];
    let seconds = profile(&refs(&rows));
    let bytes: Vec<u64> = seconds.iter().map(analysis::jobs::ProfileSecond::bytes).collect();
    assert_eq!(bytes, [MB, 0, 0, 2 * MB]);
    assert_eq!(seconds[3].length_ns, SECOND + SECOND / 10);
    assert_eq!(levels(&[]), None);
}

#[test]
fn bytes_and_free_space_are_told_by_space_and_low_space_is_marked() {
    let all = found(&observed(|_| {}));
    let of = |space: &str, key: &str| of_row(&all, Kind::JobSpace, ("space", space), key);
    assert_eq!(
        [of("permanent", "read"), of("permanent", "written")],
        [200, 0].map(|all| Value::Bytes(all * MB))
    );
    assert_eq!(of("permanent", "read_share"), Value::Share(1.0));
    assert_eq!(
        [of("permanent", "held_by_one"), of("permanent", "size")],
        [Value::None, Value::Bytes(9_000 * MB)]
    );
    let work = ["read", "written", "held_by_one", "held_by_all", "free_first", "free_least", "limit"];
    // 10 % of 2 GB, the file system of the work space, is 200 MB.
    let expected = [200, 400, 150, 300, 400, 120, 200].map(|all| Value::Bytes(all * MB));
    assert_eq!(work.map(|key| of("work", key)), expected);
    let low = ["permanent", "work", "utility"].map(|space| of(space, "low"));
    assert_eq!(low, [false, true, true].map(Value::Flag));
}

/// The value in the column `key` of the row whose column `row.0` has the value `row.1`.
fn of_row(found: &Findings, kind: Kind, row: (&str, &str), key: &str) -> Value {
    let tables = found.tables();
    let table = tables.iter().find(|table| table.kind == kind).expect("a table");
    let place = |key: &str| table.columns.iter().position(|column| column.key == key).expect("a column");
    let is_it = |one: &&Row| one.cells[place(row.0)] == Value::Text(row.1.to_owned());
    table.rows.iter().find(is_it).map_or(Value::None, |one| one.cells[place(key)].clone())
}

#[test]
fn bytes_are_set_against_the_input() {
    let all = found(&observed(|_| {}));
    let pass = all.timelines[0].says().expect("a pass");
    // 20,470 rows fill ten pages. Two streams read each of them once.
    let expected = [2 * 10 * 262_144, 400 * MB, 600 * MB].map(Value::Bytes);
    assert_eq!(["input", "read", "written"].map(|key| cell(pass, key)), expected);
    assert_eq!(of_row(&all, Kind::JobInput, ("kind", "io"), "instance_input"), Value::Bytes(10 * 262_144));
}

/// At a scale of one millionth, tables of one page are as large as they would be at one hundred-thousandth.
#[test]
fn input_at_full_scale_is_not_told_where_pages_round_it() {
    let with_rows = |rows: u64| {
        let mut run = observed(|_| {});
        let case = &mut run.manifest.plan.cases[0];
        let mut spec = plan::WorkloadSpec::from(case.workload.clone());
        let plan::Work::Jobs(jobs) = &mut spec.work else { panic!("no jobs") };
        jobs.tables.iter_mut().for_each(|table| table.rows = rows);
        case.workload = spec.validate().expect("valid");
        of_row(&found(&run), Kind::JobInput, ("kind", "io"), "full_scale_input")
    };
    assert_eq!(with_rows(100), Value::None);
    assert!(matches!(with_rows(20_470), Value::Bytes(_)));
}

#[test]
fn the_harness_is_told_as_a_share_of_a_core_and_by_its_start_costs() {
    let one = timeline(&observed(|_| {}));
    let Value::Share(share) = cell(&one, "launcher") else { panic!("not recorded") };
    assert!((share - 0.01).abs() < 1e-12);
    assert_eq!(["start", "longest_start"].map(|key| cell(&one, key)), [0.0075, 0.01].map(Value::Seconds));
}

#[test]
fn cpu_times_that_do_not_add_up_are_doubted() {
    let doubts = |change: fn(&mut PhaseRecord)| {
        let found = found(&observed(change));
        found
            .audit
            .iter()
            .filter(|one| one.check == Check::Accounts)
            .map(|one| one.evidence.clone())
            .collect()
    };
    let none: Vec<String> = Vec::new();
    assert_eq!(doubts(|_| {}), none);
    // For 3 s of CPU time the tolerance is 60 ms.
    assert_eq!(doubts(|record| record.steps[0].user_cpu_ns -= 59_000_000), none);
    let apart: Vec<String> = doubts(|record| record.steps[1].user_cpu_ns -= 61_000_000);
    assert!(
        apart.len() == 1 && apart[0].contains("1 of 2 launches") && apart[0].contains("launch 1"),
        "{apart:?}"
    );
    let group: Vec<String> = doubts(|record| record.launches[0].group_cpu_ns = Some(4 * SECOND));
    assert!(group.len() == 1 && group[0].contains("its control group 4.000 s"), "{group:?}");
    // The missing steps of a killed launch are expected.
    let killed = doubts(|record| {
        record.launches[0].outcome = "killed".into();
        record.steps.remove(0);
    });
    assert_eq!(killed, none);
}

#[test]
fn a_launch_with_less_memory_than_one_of_its_steps_is_doubted() {
    let doubt = |launch_bytes: u64| {
        let found = found(&observed(|record| {
            record.launches[0].outcome = "killed".into();
            record.launches[0].peak_memory_bytes = launch_bytes;
            record.steps[0].peak_memory_bytes = 233 << 20;
        }));
        found.audit.iter().find(|one| one.check == Check::Accounts).map(|one| one.evidence.clone())
    };
    assert_eq!(doubt(233 << 20), None);
    let told = doubt(6 << 20).expect("a doubt");
    assert!(told.contains("1 of 2 launches") && told.contains("launch 0"), "{told}");
    assert!(told.contains("6 MiB, its step 233 MiB"), "{told}");
}

#[test]
fn seconds_that_lack_bytes_are_doubted() {
    let found = found(&observed(|record| record.spaces[1].write_bytes = 0));
    let told = found.audit.iter().find(|one| one.check == Check::Accounts).expect("a doubt");
    assert!(told.evidence.contains("work space") && !told.disqualifies(), "{told:?}");
}

#[test]
fn published_figures_stand_beside_own_ones() {
    let all = found(&observed(|_| {}));
    let beside =
        |what: &str| ["own", "published"].map(|key| of_row(&all, Kind::JobPublished, ("what", what), key));
    assert_eq!(beside("launches"), [2.0, 101.0].map(Value::Number));
    assert_eq!(beside("mean concurrency"), [1.2, 30.0].map(Value::Number));
    assert_eq!(beside("shortest launch"), [2.0, 300.0].map(Value::Seconds));
    assert_eq!(beside("longest launch"), [4.0, 6780.0].map(Value::Seconds));
    let rates = |rates: [f64; 2]| rates.map(|rate| Value::Rate(rate, RateOf::Bytes));
    assert_eq!(beside("profile, start"), rates([200e6, 900e6]));
    assert_eq!(beside("profile, peak"), rates([200e6, 4e9]));
    assert_eq!(
        beside("profile, climbs to")[0],
        Value::None,
        "what is level from the start has its peak there"
    );
}

#[test]
fn a_file_system_smaller_than_the_study_says_decides_what_fits() {
    let mut run = observed(|_| {});
    run.manifest.plan.criteria.targets[0].capacity = Some(Bytes(8_000_000 * MB));
    let facts = run.manifest.host.file_systems[0].clone();
    run.manifest.host.file_systems =
        vec![FileSystemFacts { mount_point: "/data".to_owned(), size_bytes: 400 * MB, ..facts }];
    let fit = &found(&run).fits[0];
    assert_eq!(fit.bytes.map(|(_, capacity)| capacity), Some(400 * MB));
    assert_eq!(fit.studied_capacity, Some(8_000_000 * MB));
    run.manifest.plan.criteria.targets[0].capacity = Some(Bytes(410 * MB));
    let fit = &found(&run).fits[0];
    assert_eq!((fit.bytes.map(|(_, capacity)| capacity), fit.studied_capacity), (Some(410 * MB), None));
}

/// Of ten pages, each of two streams has its table in permanent space, its copy and its output in work space, and its
/// runs in utility space.
#[test]
fn a_plan_counts_all_spaces_of_jobs() {
    let sort = Action::Sort {
        input: "sales".to_owned(),
        output: Output { table: "sorted".to_owned(), space: JobSpace::Work },
    };
    let mut sorts = jobs();
    sorts.tests[0].steps[0].action = sort;
    let mut plan = study();
    plan.cases[0].workload = of_jobs(sorts);
    let needed = |spaces: &[FileSystemSpace]| fits(&plan, spaces)[0].bytes;
    assert_eq!(needed(&[]), Some((2 * 40 * 262_144, 300 * MB)));
    let spaces = ["permanent", "work", "utility"].map(|space| FileSystemSpace {
        name: space.to_owned(),
        free: Bytes(5 * MB),
        targets: vec![format!("/data/{space}").into()],
    });
    assert_eq!(
        needed(&spaces),
        Some((2 * 40 * 262_144, 15 * MB)),
        "what is there is less than the study says"
    );
    assert_eq!(needed(&spaces[..2]), Some((2 * 40 * 262_144, 300 * MB)), "one of them is not known");
}

#[test]
fn a_layout_smaller_than_the_study_says_decides_what_fits() {
    let mut run = observed(|_| {});
    let facts = run.manifest.host.file_systems[0].clone();
    run.manifest.plan.criteria.targets[0].capacity = Some(Bytes(8_000_000 * MB));
    run.manifest.plan.cases[0].layout = Some("cards".to_owned());
    let made = |layout: &str, size: u64| LayoutLifetime {
        layout: layout.to_owned(),
        file_systems: ["/data/permanent", "/data/work", "/data/utility"]
            .map(|place| FileSystemFacts {
                mount_point: place.to_owned(),
                source: format!("/dev{place}"),
                size_bytes: size,
                ..facts.clone()
            })
            .to_vec(),
        ..LayoutLifetime::default()
    };
    run.layouts = vec![made("cards", 90 * MB), made("cards", 100 * MB), made("others", 1 << 40)];
    let fit = &found(&run).fits[0];
    assert_eq!(
        fit.bytes.map(|(_, capacity)| capacity),
        Some(300 * MB),
        "those of the last time that it was made"
    );
    assert!(!fit.fits() && fit.studied_capacity == Some(8_000_000 * MB));
}

#[test]
fn run_time_is_multiplied_by_devices_and_rack_units_and_what_does_not_fit_is_told() {
    let found = found(&observed(|_| {}));
    assert_eq!(found.job_costs[0].outcome, analysis::audit::Outcome::Marked, "the page cache answered");
    let cost = found.job_costs[0].says().expect("a cost");
    let seconds = [5.0, 25.0, 10.0, 6.0, 30.0, 12.0].map(Value::Seconds);
    let keys =
        ["elapsed", "elapsed_devices", "elapsed_rack_units", "real", "real_devices", "real_rack_units"];
    assert_eq!(keys.map(|key| cell(cost, key)), seconds);
    assert_eq!(cell(cost, "devices"), Value::Count(5));
    let fit = &found.fits[0];
    // Five devices for four slots, ten pages for each of two streams, and the maximum that both launches held.
    assert_eq!(fit.slots, Some((5, 4)));
    assert_eq!(fit.bytes, Some((2 * 10 * 262_144 + 300 * MB + 200 * MB, 300 * MB)));
    assert!(!fit.fits());
    let published = analysis::jobs::published_costs(record::published());
    let [spinning, flash] = &published[..] else { panic!("two systems: {published:?}") };
    let says = |one, keys: [&str; 3]| keys.map(|key| cell(one, key));
    let keys = ["devices", "rack_units", "real"];
    assert_eq!(says(spinning, keys), [Value::Count(192), Value::Number(84.0), Value::Seconds(72_480.0)]);
    assert_eq!(says(flash, keys), [Value::Count(5), Value::None, Value::Seconds(76_140.0)]);
    let name = |one| format!("{:?}", cell(one, "system"));
    assert!(name(spinning).contains("published: spinning,") && name(flash).contains("published: flash,"));
}

/// Three passes with both page sizes: the larger page moves ten times the bytes, mostly padding, in the same time.
#[test]
fn pages_are_judged_by_the_time_of_the_same_jobs() {
    let sizes = [Bytes::kib(64), Bytes::mib(1)];
    let case = |page: Bytes| Case {
        group: "w".to_owned(),
        target: "flash".to_owned(),
        repetitions: 3,
        settings: vec![Setting { key: "page".to_owned(), value: SettingValue::Bytes(page) }],
        ..Case::new(page.to_string(), of_jobs(Jobs { page_bytes: page, ..jobs() }), vec![Phase::Jobs])
    };
    let plan = plan(sizes.iter().map(|&page| case(page)).collect());
    let record = |(case, repetition): (usize, u32)| {
        let key = PhaseKey { case: plan.cases[case].id.as_str().into(), repetition, phase: Phase::Jobs };
        let row = PhaseRow {
            read_bytes: if case == 0 { 100 * MB } else { 1000 * MB },
            wall_ns: 5 * SECOND,
            io_ns: 5 * SECOND,
            ..PhaseRow::new(key.clone())
        };
        let of = |stream: u32| LaunchRow { key: key.clone(), stream, ..launch(stream, 0.0, 4.0) };
        PhaseRecord { launches: vec![of(0), of(1)], ..PhaseRecord::new(row) }
    };
    let passes = (0..2).flat_map(|case| (0..3).map(move |repetition| (case, repetition)));
    let found = found(&run(&plan, passes.map(record).collect()));
    let best = found.best[0].says().expect("a best");
    assert_eq!((best.elapsed, best.gain), (Some(5.0), None), "bytes of jobs are no merit");
    let [one] = &found.matrices.comparisons[..] else { panic!("{:?}", found.matrices.comparisons) };
    assert_eq!((one.first, one.second, one.complete), (0, 1, true));
    assert_eq!(cell(&one.contrasts[0].0, "change"), Value::Change(0.0), "the same real time");
}

proptest! {
    #[test]
    fn the_area_under_the_number_running_is_the_sum_of_real_times(
        times in vec((0_u32..1000, 0_u32..1000), 1..60)
    ) {
        let rows: Vec<LaunchRow> = times
            .iter()
            .map(|&(start, length)| launch(0, f64::from(start), f64::from(start + length)))
            .collect();
        let one = concurrency(&refs(&rows));
        let area: u64 = one
            .changes
            .windows(2)
            .map(|pair| (pair[1].0 - pair[0].0) * pair[0].1)
            .sum();
        prop_assert_eq!(area, one.real_ns);
        prop_assert_eq!(one.changes.last().map_or(0, |last| last.1), 0);
        // Naive definition: at each start, count the launches that have begun and not ended.
        let most = rows.iter().map(|at| {
            rows.iter().filter(|row| row.start_ns <= at.start_ns && at.start_ns < row.end_ns).count()
        });
        prop_assert_eq!(usize::try_from(one.most).ok(), most.max());
    }

    #[test]
    fn the_seconds_of_a_profile_add_up_to_all_bytes(
        rows in vec((0_usize..3, 0_u64..40, 0_u64..1000, 0_u64..1000, 1_u64..=10), 0..80)
    ) {
        let rows: Vec<SpaceRow> = rows
            .into_iter()
            .map(|(space, at, read, write, tenths)| SpaceRow {
                length_ns: SECOND / 10 * tenths,
                ..second(JobSpace::ALL[space], at, read, write, 0)
            })
            .collect();
        let seconds = profile(&refs(&rows));
        let all: u64 = rows.iter().map(|row| row.read_bytes + row.write_bytes).sum();
        prop_assert_eq!(seconds.iter().map(analysis::jobs::ProfileSecond::bytes).sum::<u64>(), all);
        prop_assert!(seconds.windows(2).all(|pair| pair[0].start_ns < pair[1].start_ns));
        if let Some(levels) = levels(&seconds) {
            let highest = seconds.iter().map(analysis::jobs::ProfileSecond::bytes_per_second).fold(0.0, f64::max);
            prop_assert!(levels.peak.bytes_per_second <= highest * (1.0 + 1e-9));
        }
    }

    #[test]
    fn every_length_is_in_one_bin(lengths_s in vec(0.001_f64..10_000.0, 1..100)) {
        let rows: Vec<LaunchRow> = lengths_s.iter().map(|&one| launch(0, 0.0, one)).collect();
        let all: Vec<_> = lengths(&refs(&rows)).expect("all are complete").1.bins().collect();
        prop_assert_eq!(all.iter().map(|bin| bin.2).sum::<usize>(), rows.len());
        prop_assert!(all.windows(2).all(|pair| pair[0].1 == pair[1].0));
        prop_assert!(all[0].2 > 0 && all.last().is_some_and(|last| last.2 > 0));
        prop_assert!(all.len() <= 3 * 8);
    }
}
