//! Tests of the warnings before a run.

use super::{
    AssumedDevice, CaseEstimate, Concern, FileSystemSpace, Interval, PredictedRate, Prediction, RateUnit,
    RunEnvironment, Source, estimates,
};
use crate::{
    Amount, Bound, Bytes, Case, Commitment, Criteria, Existing, Geometry, Keep, Layer, Nanos, Over, Phase,
    Plan, PlanSource, Protocol, RateName, Rpc, Selector, Sharing, Statistic, Stonewall, TargetDescription,
    Terms, Tree, WorkloadSpec,
};

fn environment(free: u64, rate: f64) -> RunEnvironment {
    RunEnvironment {
        spaces: vec![FileSystemSpace { name: "/t".into(), free: Bytes(free), targets: vec!["/t/f".into()] }],
        memory: Some(Bytes::gib(64)),
        assumed: AssumedDevice { bytes_per_second: rate, transfer_time: Nanos(0), class: "test".into() },
        ..RunEnvironment::default()
    }
}

fn case(tasks: u32, block: Bytes, segments: u64, change: impl FnOnce(&mut WorkloadSpec)) -> Case {
    let geometry = Geometry { transfer: block, block, segments };
    let mut spec = WorkloadSpec::new("w", "/t/f", geometry);
    spec.tasks = tasks;
    spec.direct = true;
    spec.files.sharing = Sharing::PerTask;
    change(&mut spec);
    Case::new("w", spec.validate().expect("valid"), vec![Phase::Write, Phase::Read])
}

#[test]
fn published_volumes_against_twenty_four_terabytes() {
    let environment = environment(24_000_000_000_000, 24e9);
    let tight = CaseEstimate::of(&case(132, Bytes::mib(16), 10_000, |_| ()), &environment);
    assert_eq!(tight.forecast.footprint.0, 22_145_925_120_000);
    assert!(
        matches!(tight.concerns[0], Concern::LittleSpace { segments: Some(9753), .. }),
        "{:?}",
        tight.concerns
    );
    let over = CaseEstimate::of(&case(264, Bytes::mib(16), 10_000, |_| ()), &environment);
    let Some(Concern::NoSpace { segments: Some(segments), .. }) = over.concerns.first() else {
        panic!("{:?}", over.concerns)
    };
    let fits = CaseEstimate::of(&case(264, Bytes::mib(16), *segments, |_| ()), &environment);
    assert_eq!(fits.concerns, [], "the advice is good");
    let more = CaseEstimate::of(&case(264, Bytes::mib(16), *segments + 1, |_| ()), &environment);
    assert_ne!(more.concerns, [], "and no smaller than needed");
}

#[test]
fn the_advised_segments_make_a_short_phase_long_enough() {
    let environment = environment(u64::MAX, 18.8e9);
    let short = CaseEstimate::of(&case(33, Bytes::mib(1), 1_000, |_| ()), &environment);
    let Some(Concern::TooShort { segments: Some(segments), .. }) = short.concerns.first() else {
        panic!("{:?}", short.concerns)
    };
    let longer = CaseEstimate::of(&case(33, Bytes::mib(1), *segments, |_| ()), &environment);
    assert!(longer.concerns.is_empty() && longer.phases[0].seconds.middle >= 10.0, "{:?}", longer.phases);
}

/// A scaled-down study sets its own minimum phase duration.
#[test]
fn a_phase_is_short_by_what_the_study_asks_for() {
    let mut case = case(1, Bytes::mib(1), 100, |_| ());
    let environment = environment(u64::MAX, 100.0 * 1024.0 * 1024.0);
    assert!(matches!(CaseEstimate::of(&case, &environment).concerns[0], Concern::TooShort { .. }));
    case.protocol.phase_min = Nanos::millis(50);
    assert_eq!(CaseEstimate::of(&case, &environment).concerns, []);
    case.protocol.phase_min = Nanos::secs(3);
    let Concern::TooShort { segments, .. } = CaseEstimate::of(&case, &environment).concerns[0] else {
        panic!("a second is too short")
    };
    assert_eq!(segments, Some(1500), "five times what is asked for");
}

#[test]
fn a_phase_by_the_clock_is_not_measured_by_its_volume() {
    let timed = |seconds| {
        let case = case(1, Bytes::mib(1), 1, |s| s.duration = Some(Nanos::secs(seconds)));
        CaseEstimate::of(&case, &environment(u64::MAX, 1e9))
    };
    assert_eq!(timed(5).concerns, []);
    assert_eq!(timed(5).phases[0].bytes, Bytes(5_000_000_000));
    assert!(matches!(timed(1).concerns[0], Concern::TooShort { segments: None, .. }));
}

#[test]
fn one_small_transfer_at_a_time_is_bound_by_its_latency() {
    let case = case(1, Bytes::kib(4), 1, |_| ());
    let mut environment = environment(u64::MAX, 1e9);
    environment.assumed.transfer_time = Nanos(100_000);
    let rate = CaseEstimate::of(&case, &environment).phases[0].bytes_per_second;
    assert!((rate.middle - 40_960_000.0).abs() < 1.0, "{rate:?}");
}

#[test]
fn buffered_volume_below_the_memory_is_a_concern() {
    let buffered = case(1, Bytes::mib(1), 40_000, |s| s.direct = false);
    let estimate = CaseEstimate::of(&buffered, &environment(u64::MAX, 1e9));
    let expected =
        Concern::Cacheable { volume: Bytes::mib(40_000), memory: Bytes::gib(64), segments: 131_072 };
    assert_eq!(estimate.concerns, [expected]);
}

#[test]
fn a_read_of_files_that_nothing_has_written_is_preceded_by_a_fill() {
    let fills = |phases: &[Phase]| {
        let mut case = case(1, Bytes::mib(100), 100, |s| s.files.fill = true);
        case.phases = phases.to_vec();
        let question = PlanSource::Quick { directory: "/t".into(), others: Vec::new() };
        let plan = Plan::new(String::new(), question, 0, vec![case.clone(), case]);
        estimates(&plan, &environment(u64::MAX, 1e9)).0.iter().map(|o| o.fill.is_some()).collect::<Vec<_>>()
    };
    assert_eq!(fills(&[Phase::Read]), [true, false]);
    assert_eq!(fills(&[Phase::Write, Phase::Read]), [false, false]);
}

#[test]
fn thirty_three_tasks_on_twelve_targets_are_a_concern() {
    let case = case(33, Bytes::mib(1), 10_000, |s| {
        s.files.targets = (0..12).map(|d| format!("/t/{d}").into()).collect();
    });
    let estimate = CaseEstimate::of(&case, &environment(u64::MAX, 20e9));
    let [Concern::Unbalanced { tasks: 33, targets: 12, bound }] = estimate.concerns[..] else {
        panic!("{:?}", estimate.concerns)
    };
    assert!((bound - 0.9167).abs() < 1e-4);
}

#[test]
fn cases_on_the_same_files_need_their_space_once() {
    let needed = |cases: Vec<Case>| {
        let plan = Plan::new(
            String::new(),
            PlanSource::Quick { directory: "/t".into(), others: Vec::new() },
            0,
            cases,
        );
        estimates(&plan, &environment(u64::MAX, 1e9)).1[0].needed
    };
    let (small, large) = (case(1, Bytes::mib(1), 10, |_| ()), case(1, Bytes::mib(1), 30, |_| ()));
    let other = case(1, Bytes::mib(1), 5, |s| s.files.sharing = Sharing::Shared);
    let kept =
        case(1, Bytes::mib(1), 5, |s| (s.files.sharing, s.files.keep) = (Sharing::Shared, Keep::Always));
    let three = |second: &Case| vec![small.clone(), second.clone(), large.clone()];
    assert_eq!(needed(three(&other)), Bytes::mib(30), "the files between are removed before the last case");
    assert_eq!(needed(three(&kept)), Bytes::mib(35), "those that are kept stay");
    let in_turn = Case { in_turn: true, ..large.clone() };
    assert_eq!(needed(vec![other, in_turn]), Bytes::mib(35), "taking turns both have their files");
}

#[test]
fn warm_up_rounds_and_preconditioning_are_counted() {
    let mut case = case(1, Bytes::mib(100), 100, |_| ());
    case.repetitions = 3;
    case.protocol = Protocol { warm_up: 1, rounds: 2, precondition: 2, ..Protocol::default() };
    let estimate = CaseEstimate::of(&case, &environment(u64::MAX, 100.0 * 1024.0 * 1024.0));
    // Seven passes of two phases of 100 s, and two writes before them.
    assert!((estimate.seconds.middle - 1600.0).abs() < 1e-6, "{:?}", estimate.seconds);
    // After a wipe before the first pass and before each of the three repetitions, there are eight writes.
    case.protocol.wipe = true;
    let estimate = CaseEstimate::of(&case, &environment(u64::MAX, 100.0 * 1024.0 * 1024.0));
    assert!((estimate.seconds.middle - 2200.0).abs() < 1e-6, "{:?}", estimate.seconds);
}

#[test]
fn the_warm_up_of_exchanges_takes_its_time() {
    let seconds = |warm_up: u64| {
        let rpc = Rpc { warm_up: Nanos::secs(warm_up), ..Rpc::new(Bytes::kib(1), Bytes::kib(1)) };
        let case = case(1, Bytes::mib(1), 1, |s| {
            (s.work, s.duration) = (rpc.clone().into(), Some(Nanos::secs(2)));
        });
        let case = Case { phases: vec![Phase::Exchange], ..case };
        CaseEstimate::of(&case, &environment(u64::MAX, 1e9)).seconds.middle
    };
    assert!(
        (seconds(6) - seconds(0) - 6.0).abs() < 1e-6 && seconds(0) >= 2.0,
        "{} {}",
        seconds(6),
        seconds(0)
    );
}

#[test]
fn published_working_sets_are_set_against_the_caches() {
    // Study E: 76 streams × 32 GiB against about 120 GB of cache.
    let caches = |tasks| {
        let mut case = case(tasks, Bytes::gib(1), 32, |_| ());
        case.target = "array".to_owned();
        let question = PlanSource::Quick { directory: "/t".into(), others: Vec::new() };
        let mut plan = Plan::new(String::new(), question, 0, vec![case]);
        let target = TargetDescription {
            name: "array".into(),
            caches: Some(Bytes(120_000_000_000)),
            ..TargetDescription::default()
        };
        plan.criteria = Criteria { targets: vec![target], ..Criteria::default() };
        estimates(&plan, &environment(u64::MAX, 1e9)).0.remove(0)
    };
    let published = caches(76);
    assert!((published.cache_share.expect("the caches are known") - 0.046).abs() < 0.001);
    assert!(!published.concerns.iter().any(|concern| matches!(concern, Concern::CachesTooLarge { .. })));
    let Some(Concern::CachesTooLarge { share, segments, .. }) = caches(38).concerns.last().cloned() else {
        panic!("half of it is too little")
    };
    assert!(share > 0.05 && segments == 59, "{share} {segments}");
}

#[test]
fn on_storage_of_each_node_files_take_space_of_their_node_alone() {
    let space = |layer, targets: &[&str]| {
        let mut case = case(12, Bytes::mib(1), 10, |s| {
            s.nodes = 4;
            s.files.targets = targets.iter().map(|target| (*target).into()).collect();
        });
        case.target = "flash".to_owned();
        let mut plan = Plan::new(
            String::new(),
            PlanSource::Quick { directory: "/t".into(), others: Vec::new() },
            0,
            vec![case],
        );
        let target = TargetDescription { name: "flash".into(), layer, ..TargetDescription::default() };
        plan.criteria = Criteria { targets: vec![target], ..Criteria::default() };
        let mut environment = environment(u64::MAX, 1e9);
        environment.spaces[0].targets = targets.iter().map(|target| (*target).into()).collect();
        estimates(&plan, &environment).1[0].needed
    };
    assert_eq!(space(Layer::Shared, &["/t/a"]), Bytes::mib(120));
    assert_eq!(space(Layer::NodeLocal, &["/t/a"]), Bytes::mib(30), "three tasks on each of four nodes");
    assert_eq!(
        space(Layer::NodeLocal, &["/t/a", "/t/b"]),
        Bytes::mib(30),
        "over two directories of one disk"
    );
}

/// An environment in which each of `targets` is on a disk of its own.
fn apart(targets: &[&str], rate: f64) -> RunEnvironment {
    let space = |target: &&str| FileSystemSpace {
        name: (*target).to_owned(),
        free: Bytes(u64::MAX),
        targets: vec![(*target).into()],
    };
    RunEnvironment { spaces: targets.iter().map(space).collect(), ..environment(0, rate) }
}

fn needed(case: &Case, environment: &RunEnvironment) -> Vec<Bytes> {
    CaseEstimate::of(case, environment).spaces.iter().map(|space| space.needed).collect()
}

#[test]
fn files_take_space_on_the_target_of_their_task() {
    let targets = ["/a", "/b", "/c"];
    let over = |tasks: u32, count: usize| {
        case(tasks, Bytes::mib(1), 10, |s| {
            s.files.targets = targets[..count].iter().map(Into::into).collect()
        })
    };
    let environment = apart(&targets, 1e9);
    assert_eq!(needed(&over(5, 3), &environment), [20, 20, 10].map(Bytes::mib));
    assert_eq!(needed(&over(2, 3), &environment), [10, 10, 0].map(Bytes::mib));
    // Disks work at the same time.
    let seconds = |case: &Case| CaseEstimate::of(case, &environment).phases[0].seconds.middle;
    assert!((seconds(&over(6, 1)) / seconds(&over(6, 3)) - 3.0).abs() < 1e-6);
}

#[test]
fn each_repetition_has_files_of_its_own_where_the_study_says_so() {
    let environment = environment(u64::MAX, 10.0 * 1024.0 * 1024.0);
    let of = |own: bool, deadline: Option<u64>| {
        let mut case = case(1, Bytes::mib(1), 1000, |s| {
            let stonewall = |seconds| Stonewall { deadline: Nanos::secs(seconds), wear_out: false };
            (s.files.file_per_repetition, s.stonewall) = (own, deadline.map(stonewall));
        });
        case.repetitions = 3;
        needed(&case, &environment)[0].0
    };
    assert_eq!(of(false, None), 1000 << 20);
    assert_eq!(of(true, None), 3000 << 20);
    // Until the deadline, only a part of the file is written.
    let part = of(false, Some(1));
    assert!(0 < part && part < 500 << 20, "{part}");
    assert!(of(true, Some(1)).abs_diff(3 * part) <= 3);
}

#[test]
fn trees_take_what_all_tasks_make() {
    let tree = Tree { write_bytes: Bytes::kib(4), ..Tree::flat(1000) };
    let mut made = case(4, Bytes::kib(4), 1, |s| s.work = tree.into());
    made.phases = vec![Phase::FileCreate];
    assert_eq!(needed(&made, &environment(u64::MAX, 1e9)), [Bytes(4 * 1000 * 4096)]);
}

#[test]
fn operations_are_moved_but_the_files_take_what_a_pass_goes_over() {
    let estimate = |operations| {
        let mut case =
            case(2, Bytes::mib(1), 100, |s| (s.operations, s.files.fill) = (Some(operations), true));
        case.phases = vec![Phase::Read];
        let question = PlanSource::Quick { directory: "/t".into(), others: Vec::new() };
        let plan = Plan::new(String::new(), question, 0, vec![case]);
        estimates(&plan, &environment(u64::MAX, 100.0 * 1024.0 * 1024.0)).0.remove(0)
    };
    for (operations, seconds) in [(1000, 20.0), (50, 1.0)] {
        let estimate = estimate(operations);
        assert_eq!(estimate.forecast.footprint, Bytes::mib(200));
        assert_eq!(estimate.spaces[0].needed, Bytes::mib(200));
        assert_eq!(estimate.phases[0].bytes, Bytes::mib(2 * operations));
        assert_eq!(estimate.fill.as_ref().map(|fill| fill.bytes), Some(Bytes::mib(200)));
        let predicted = estimate.phases[0].seconds.middle;
        assert!((predicted - seconds).abs() < 1e-6, "{predicted}");
    }
    assert!(matches!(estimate(50).concerns[0], Concern::TooShort { segments: None, .. }));
}

#[test]
fn each_node_caches_what_its_own_tasks_move() {
    // 64 GiB of memory on each node, and 160 GiB on two.
    let volume = |nodes| {
        let case = case(160, Bytes::mib(1), 1024, |s| (s.direct, s.nodes) = (false, nodes));
        let cacheable = |concern: &Concern| match concern {
            Concern::Cacheable { volume, .. } => Some(*volume),
            _ => None,
        };
        CaseEstimate::of(&case, &environment(u64::MAX, 1e9)).concerns.iter().find_map(cacheable)
    };
    assert_eq!(volume(1), None);
    assert_eq!(volume(2), Some(Bytes::gib(80)));
}

/// A case that moves 1 GB per phase, limited to 10 s with `clock`.
fn gigabyte(id: &str, phases: &[Phase], clock: bool, change: fn(&mut WorkloadSpec)) -> Case {
    let geometry = Geometry { transfer: Bytes(1_000_000), block: Bytes(1_000_000_000), segments: 1 };
    let mut spec = WorkloadSpec::new(id, "data", geometry);
    spec.files.fill = true;
    spec.duration = clock.then_some(Nanos::secs(10));
    change(&mut spec);
    Case::new(id, spec.validate().expect("valid"), phases.to_vec())
}

fn seconds(cases: Vec<Case>) -> Vec<f64> {
    let question = PlanSource::Quick { directory: ".".into(), others: Vec::new() };
    let plan = Plan::new(String::new(), question, 0, cases);
    let mut environment = environment(u64::MAX, 100e6);
    let reads = PredictedRate { rate: Interval::exact(200e6), unit: RateUnit::Bytes, source: Source::Given };
    for case in &plan.cases {
        environment.predicted.add(&case.id, Phase::Read, reads.clone());
    }
    estimates(&plan, &environment).0.iter().map(|one| one.seconds.middle).collect()
}

#[test]
fn a_fill_is_counted_once_and_only_where_data_is_missing() {
    let read = |id| gigabyte(id, &[Phase::Read], true, |_| ());
    assert_eq!(seconds(vec![read("a"), read("b")]), [20.0, 10.0]);
    let write = gigabyte("w", &[Phase::Write, Phase::Read], false, |_| ());
    assert_eq!(seconds(vec![write, read("b")]), [15.0, 10.0]);
    let unfilled = gigabyte("there", &[Phase::Read], true, |spec| spec.files.fill = false);
    assert_eq!(seconds(vec![unfilled]), [10.0]);
}

#[test]
fn a_write_by_the_clock_does_not_promise_data() {
    let write = gigabyte("w", &[Phase::Write], true, |_| ());
    assert_eq!(seconds(vec![write, gigabyte("r", &[Phase::Read], true, |_| ())]), [10.0, 20.0]);
}

/// A promise is a minimum: a small one does not make the devices slower, a large one asks for more than are assumed.
#[test]
fn a_promised_rate_never_lowers_a_prediction() {
    let predicted = |promised: f64| {
        let case = case(1, Bytes::mib(1), 1000, |_| {});
        let mut plan =
            Plan::new("p", PlanSource::Quick { directory: "/t".into(), others: Vec::new() }, 1, vec![case]);
        plan.criteria.commitments.push(Commitment {
            name: "all".into(),
            by: String::new(),
            figures: Selector::default(),
            rate: RateName::ByWall,
            statistic: Statistic::Median,
            bound: Bound::AtLeast,
            asked: Amount::BytesPerSecond(promised).into(),
            over: Over::Every,
            terms: Terms::default(),
        });
        let environment = RunEnvironment {
            assumed: AssumedDevice { transfer_time: Nanos(1), ..environment(1 << 40, 500e6).assumed },
            ..environment(1 << 40, 500e6)
        };
        let phase = estimates(&plan, &environment).0.remove(0).phases.remove(0);
        (phase.bytes_per_second, phase.source)
    };
    let assumed = (
        Interval { low: 125e6, middle: 500e6, high: 2e9 },
        Source::Assumed("an assumed test of 500 MB/s".into()),
    );
    assert_eq!(predicted(1e6), assumed);
    let asked = Interval { low: 125e6, middle: 5e9, high: 10e9 };
    assert_eq!(predicted(5e9), (asked, Source::Promised("all".into())));
}

#[test]
fn files_that_are_written_over_are_made_first() {
    let reuse = |spec: &mut WorkloadSpec| spec.files.existing = Existing::Reuse;
    let write = |id| gigabyte(id, &[Phase::Write], true, reuse);
    assert_eq!(seconds(vec![write("a"), write("b")]), [20.0, 10.0]);
}

#[test]
fn a_wear_out_is_bounded_by_the_clock() {
    // 10.4 TB per pass, as with `-D 300`: at 500 MB/s the volume alone would take almost six hours.
    let case = case(16, Bytes::mib(1), 620_000, |spec| {
        spec.stonewall = Some(Stonewall { deadline: Nanos::secs(300), wear_out: true });
    });
    let estimate = CaseEstimate::of(&case, &environment(u64::MAX, 500e6));
    let write = &estimate.phases[0];
    assert!(write.by_clock);
    assert_eq!((write.seconds.middle, write.seconds.high), (300.0, 600.0), "the slowest may be half as fast");
    assert_eq!(write.bytes, Bytes(150_000_000_000), "what 300 s allow");
}

/// A study whose target has twelve cards of 1 GB/s behind a link.
fn by_terms(terms: &str, target: &str) -> Result<(f64, f64, Source), String> {
    let text = format!(
        r#"
        [[target]]
        name = "cards"
        directory = "/t"
        {target}
        [[workload]]
        name = "stream"
        tasks_per_node = 12
        nodes = 2
        transfer = "1MiB"
        size = "100GiB"
        sharing = "per-task"
        phases = ["write"]
        {terms}
        "#
    );
    let plan =
        crate::study::read("s.toml".as_ref(), &text).map_err(|errors| format!("{:?}", errors.errors()))?;
    let phase = estimates(&plan, &RunEnvironment::default()).0.remove(0).phases.remove(0);
    Ok((phase.bytes_per_second.low, phase.bytes_per_second.high, phase.source))
}

#[test]
fn the_study_says_what_its_targets_can_do() -> Result<(), String> {
    const SHEET: &str =
        "[[expectation]]\nname = \"sheet\"\nphase = \"write\"\nbandwidth = \"1GB/s\"\nper = \"device\"\n";
    const READS: &str =
        "[[expectation]]\nname = \"reads\"\nphase = \"read\"\nbandwidth = \"9GB/s\"\nper = \"device\"\n";
    const LINK: &str =
        "[[expectation]]\nname = \"link\"\nbandwidth = \"2GB/s\"\nper = \"node\"\nceiling = true\n";
    let (shared, local) = ("layer = \"shared\"\ndevices = 12", "layer = \"node-local\"\ndevices = 12");
    let sheet = Source::Expected("sheet".into());
    assert_eq!(by_terms(SHEET, shared)?, (6e9, 12e9, sheet.clone()), "half of the data sheet to all of it");
    assert_eq!(by_terms(SHEET, local)?, (12e9, 24e9, sheet.clone()), "each node has its own");
    let below_link = by_terms(&format!("{SHEET}{LINK}"), shared)?;
    assert_eq!(below_link, (4e9, 4e9, sheet), "two links carry no more");
    assert_eq!(by_terms(LINK, shared)?, (1e9, 4e9, Source::Ceiling("link".into())), "a ceiling is wider");
    let (low, high, source) = by_terms(READS, shared)?;
    assert_eq!(
        (low, high),
        (1.5e9, 24e9),
        "of writes nothing is said: 12 times the assumed 500 MB/s, a quarter to four times"
    );
    assert!(matches!(source, Source::Assumed(_)), "{source}");
    Ok(())
}

#[test]
fn the_best_source_is_used() {
    let case = case(1, Bytes::mib(1), 1000, |_| ());
    let mut environment = environment(u64::MAX, 1e9);
    let source = |environment: &RunEnvironment| CaseEstimate::of(&case, environment).phases[0].source.clone();
    assert!(matches!(source(&environment), Source::Assumed(_)));
    for known in [Source::Run("r".into()), Source::Model("m".into()), Source::Given] {
        let rate = Interval::around(2e9, 2.0);
        let rate = PredictedRate { rate, unit: RateUnit::Bytes, source: known.clone() };
        environment.predicted.add("w", Phase::Write, rate);
        assert_eq!(source(&environment), known);
    }
}

#[test]
fn on_a_model_no_device_is_assumed() {
    let case = case(1, Bytes::mib(1), 1000, |_| ());
    let environment = RunEnvironment { model: Some("m".to_owned()), ..environment(u64::MAX, 1e9) };
    let estimate = CaseEstimate::of(&case, &environment);
    assert!(estimate.is_partly_unknown());
    assert_eq!(estimate.seconds, Interval::exact(0.0));
    assert!(estimate.concerns.is_empty(), "nothing is too short or too long: {:?}", estimate.concerns);
    let predicted = Prediction::of(&[case], &[estimate], &environment);
    assert_eq!(
        predicted.source,
        "the time of read, write is not known before the simulation and is not included"
    );
}
