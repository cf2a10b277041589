//! The audit of own figures: each check finds its problem, and sound figures raise no doubts.

use analysis::{
    RateName,
    audit::{AuditIssue, Check, audit},
    figures::figures,
    targets::Expected,
};
use plan::{
    Amount, Bytes, Commitment, Geometry, Nanos, Objects, Operation, Phase, Rpc, Sharing, Tree, Work,
    WorkloadSpec,
};
use record::{LatencyRow, PhaseRecord, PhaseRow, Warning, WarningRow};

use crate::common::rows::{SECOND, bucket, case, key, phase, plan, run, workload};

/// One repetition of a read of 1000 transfers in 10 s, and the changes that a test makes to it.
struct One {
    plan: plan::Plan,
    phase: PhaseRow,
    latency: Vec<LatencyRow>,
    warnings: Vec<Warning>,
    expected: Vec<Expected>,
}

impl One {
    fn new(change: impl FnOnce(&mut WorkloadSpec)) -> Self {
        let workload = workload(|spec| {
            spec.direct = true;
            change(spec);
        });
        let key = key(0, Phase::Read);
        Self {
            plan: plan(vec![plan::Case { repetitions: 1, ..case(workload, vec![Phase::Read]) }]),
            phase: PhaseRow { device_read_bytes: Some(4_096_000), ..phase(&key, 4_096_000, 10 * SECOND) },
            // One task with a queue depth of one: 10 ms per transfer.
            latency: vec![bucket(&key, Operation::Read, (10_000_000, 10_000_000), 1000)],
            warnings: Vec::new(),
            expected: Vec::new(),
        }
    }

    fn doubts(&self) -> Vec<AuditIssue> {
        let warnings: Vec<WarningRow> = self
            .warnings
            .iter()
            .map(|warning| WarningRow { key: Some(self.phase.key.clone()), warning: warning.clone() })
            .collect();
        let record =
            PhaseRecord { latency: self.latency.clone(), warnings, ..PhaseRecord::new(self.phase.clone()) };
        audit(&self.plan, &figures(&run(&self.plan, vec![record]), RateName::ByWall), &self.expected)
    }

    fn checks(&self) -> Vec<(Check, bool)> {
        self.doubts().into_iter().map(|doubt| (doubt.check, doubt.disqualifies())).collect()
    }
}

#[test]
fn an_honest_figure_has_no_doubts() {
    assert_eq!(One::new(|_| {}).checks(), []);
}

#[test]
fn cached_reads_are_found_by_what_the_devices_moved_whatever_was_warned_of() {
    let mut warned = One::new(|spec| spec.direct = false);
    warned.warnings = vec![Warning::CachedReads { device_share: 0.01 }];
    assert_eq!(warned.checks(), [], "its counters tell of 100 %");
    let mut around = One::new(|_| {});
    around.phase.device_read_bytes = Some(0);
    assert_eq!(around.checks(), [(Check::Cached, true)], "direct I/O that reaches no device");
    assert_eq!(around.doubts()[0].advice, "use data larger than all memory on the data path");
    let mut counted = One::new(|spec| spec.direct = false);
    counted.phase.device_read_bytes = Some(40_960);
    assert_eq!(counted.checks(), [(Check::Cached, true)]);
    assert!(counted.doubts()[0].evidence.contains("1.0 %"), "{}", counted.doubts()[0].evidence);
}

/// Data held in caches affects how fast files are read, but not how fast they are created.
#[test]
fn files_that_no_device_served_are_cached_where_they_are_read_and_not_where_they_are_made() {
    let of = |phase, work: Work| {
        let mut one = One::new(|spec| (spec.direct, spec.work) = (false, work));
        one.plan.cases[0].phases = vec![phase];
        one.latency.clear();
        let made = phase == Phase::FileCreate;
        let (read_bytes, write_bytes) = if made { (0, 4_096_000) } else { (4_096_000, 0) };
        let (device_read_bytes, device_write_bytes) = (Some(read_bytes / 100), Some(write_bytes / 100));
        one.phase = PhaseRow {
            key: key(0, phase),
            items: 1000,
            read_bytes,
            write_bytes,
            device_read_bytes,
            device_write_bytes,
            ..one.phase
        };
        one.checks()
    };
    let tree = Tree { write_bytes: Bytes::kib(4), read_bytes: Bytes::kib(4), ..Tree::flat(1000) };
    let objects = |read_only| {
        let object_bytes = Bytes::kib(4);
        Work::Objects(Objects {
            sets: 1,
            precreated: 10,
            steps: 100,
            object_bytes,
            read_only,
            ..Objects::default()
        })
    };
    let (cached, marked) = ([(Check::Cached, true)], [(Check::CachedFileData, false)]);
    assert_eq!(of(Phase::FileRead, Work::Tree(tree.clone())), cached);
    assert_eq!(of(Phase::Benchmark, objects(true)), cached);
    assert_eq!(of(Phase::FileCreate, Work::Tree(tree)), marked);
    assert_eq!(
        of(Phase::Benchmark, objects(false)),
        marked,
        "a round that makes and removes objects as well"
    );
}

#[test]
fn buffered_reads_at_the_speed_of_memory_are_cached_even_where_devices_are_unknown() {
    let mut one = One::new(|spec| spec.direct = false);
    one.phase = PhaseRow { device_read_bytes: None, reads: 10_000_000, ..one.phase };
    one.latency = vec![bucket(&one.phase.key, Operation::Read, (1000, 1000), 10_000_000)];
    assert_eq!(one.checks(), [(Check::Cached, true)]);
}

#[test]
fn direct_transfers_at_the_speed_of_memory_are_implausible() {
    let mut one = One::new(|_| {});
    one.phase = PhaseRow { reads: 10_000_000, ..one.phase };
    one.latency = vec![bucket(&one.phase.key, Operation::Read, (1000, 1000), 10_000_000)];
    assert_eq!(one.checks(), [(Check::ImplausibleLatency, true)]);
}

/// Such rates are possible over loopback.
#[test]
fn exchanges_faster_than_a_network_are_implausible_between_nodes() {
    let of = |nodes, nanos: u64| {
        let rpc = Rpc { ends: 2, ..Rpc::new(Bytes(1), Bytes(1)) };
        let mut one = One::new(|spec| {
            (spec.direct, spec.tasks, spec.nodes, spec.work) = (false, rpc.tasks(), nodes, Work::Rpc(rpc));
            (spec.duration, spec.geometry) =
                (Some(Nanos::secs(10)), Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 });
            spec.files.targets.clear();
        });
        one.plan.cases[0].phases = vec![Phase::Exchange];
        one.phase = PhaseRow { items: 1000, ..phase(&key(0, Phase::Exchange), 0, 10 * SECOND) };
        one.latency = vec![bucket(&one.phase.key, Operation::Exchange, (nanos, nanos), 1000)];
        one.checks().into_iter().any(|found| found == (Check::ImplausibleLatency, true))
    };
    assert!(of(2, 4_000) && !of(2, 6_000));
    assert!(!of(1, 4_000));
}

#[test]
fn a_histogram_that_ends_before_it_begins_is_no_record() {
    let mut one = One::new(|_| {});
    one.latency = vec![bucket(&one.phase.key, Operation::Read, (10_200_000, 9_800_000), 1000)];
    assert_eq!(one.checks(), [(Check::ImpossibleStatistic, true)]);
}

#[test]
fn a_phase_is_too_short_by_the_minimum_of_its_protocol() {
    let mut one = One::new(|_| {});
    one.plan.cases[0].protocol.phase_min = Nanos::secs(60);
    assert_eq!(one.checks(), [(Check::TooShort, true)]);
    assert_eq!(one.doubts()[0].advice, "move more data, or set a duration");
    let mut timed = One::new(|spec| spec.duration = Some(Nanos::secs(10)));
    timed.plan.cases[0].protocol.phase_min = Nanos::secs(60);
    assert_eq!(timed.doubts()[0].advice, "set a longer duration");
    one.plan.cases[0].protocol.phase_min = Nanos::secs(5);
    assert_eq!(one.checks(), []);
}

#[test]
fn more_items_make_a_phase_of_names_longer_as_a_duration_does_not() {
    let mut one = One::new(|spec| (spec.direct, spec.work) = (false, Work::Tree(Tree::flat(1000))));
    one.plan.cases[0].phases = vec![Phase::FileStat];
    let key = key(0, Phase::FileStat);
    (one.phase, one.latency) = (PhaseRow { items: 1000, ..phase(&key, 0, SECOND / 2) }, Vec::new());
    let doubts = one.doubts();
    let short =
        doubts.iter().find(|doubt| doubt.check == Check::TooShort).unwrap_or_else(|| panic!("{doubts:?}"));
    assert_eq!(short.advice, "give each task more items");
}

#[test]
fn a_rate_above_a_link_is_found_and_a_data_sheet_is_no_link() {
    let mut one = One::new(|_| {});
    let limit = |ceiling, ratio| Expected {
        figure: 0,
        name: "PCIe x4".to_owned(),
        amount: Amount::BytesPerSecond(300_000.0),
        count: 1.0,
        ratio,
        ceiling,
        nodes: String::new(),
        reached: None,
        open: false,
        in_time: None,
        source: String::new(),
    };
    one.expected = vec![limit(true, 1.24)];
    assert_eq!(one.checks(), [(Check::AboveCeiling, true)]);
    assert!(one.doubts()[0].evidence.contains("372 kB/s is 124.0 % of PCIe x4 (300 kB/s)"));
    // The bytes moved by the devices count as well, even if the figure stays below the limit.
    one.expected = vec![limit(true, 0.9)];
    assert_eq!(one.checks(), [(Check::AboveCeiling, true)]);
    one.expected = vec![limit(false, 1.24)];
    assert_eq!(one.checks(), []);
}

#[test]
fn latency_and_rate_that_contradict_are_found() {
    let mut more = One::new(|_| {});
    more.latency = vec![bucket(&more.phase.key, Operation::Read, (20_000_000, 20_000_000), 1000)];
    assert_eq!(more.checks(), [(Check::LittlesLaw, true)]);
    let mut idle = One::new(|_| {});
    idle.latency = vec![bucket(&idle.phase.key, Operation::Read, (5_000_000, 5_000_000), 1000)];
    assert_eq!(idle.checks(), [(Check::IdleTasks, false)]);
}

#[test]
fn tasks_that_do_not_divide_are_named_with_their_bound() {
    let one = One::new(|spec| {
        spec.tasks = 33;
        spec.files.sharing = Sharing::PerTask;
        spec.files.targets = (0..12).map(|target| format!("{target}/f").into()).collect();
    });
    let found = one.doubts().into_iter().find(|doubt| doubt.check == Check::Unbalanced).expect("a doubt");
    assert_eq!(found.evidence, "33 tasks over 12 targets can reach at most 91.7 % of their sum");
    assert!(!found.disqualifies());
}

#[test]
fn a_working_set_that_caches_hold_is_named_with_their_share() {
    let mut one = One::new(|_| {});
    one.plan.cases[0].target = "t".to_owned();
    let target = |caches, memory| plan::TargetDescription {
        name: "t".to_owned(),
        caches,
        server_memory: memory,
        ..plan::TargetDescription::default()
    };
    // The workload size is 1 MiB.
    one.plan.criteria.targets = vec![target(Some(Bytes::kib(128)), None)];
    assert_eq!(one.checks(), [(Check::WorkingSet, false)]);
    assert_eq!(one.doubts()[0].evidence, "caches are 12.5 % of the working set (limit: 5 %)");
    assert!(one.doubts()[0].concerns.starts_with("t: 4 KiB sequential read"));
    one.plan.criteria.targets = vec![target(Some(Bytes::kib(51)), Some(Bytes::kib(256)))];
    assert_eq!(one.checks(), []);
    one.plan.criteria.targets = vec![target(None, Some(Bytes::kib(257)))];
    assert_eq!(one.checks(), [(Check::WorkingSet, false)]);
    // A mixed pass that only wrote found no data in the servers' memory.
    let has_memory = |one: &One| one.checks().contains(&(Check::WorkingSet, false));
    (one.phase.key.phase, one.plan.cases[0].phases) = (Phase::Mixed, vec![Phase::Mixed]);
    assert!(has_memory(&one));
    (one.phase.write_bytes, one.phase.writes) = (one.phase.read_bytes, one.phase.reads);
    (one.phase.read_bytes, one.phase.reads) = (0, 0);
    assert!(!has_memory(&one));
}

#[test]
fn wrong_data_disqualify_and_company_does_not() {
    let mut wrong = One::new(|_| {});
    wrong.phase.wrong_cells = 3;
    assert_eq!(wrong.checks(), [(Check::WrongData, true)]);
    let mut busy = One::new(|_| {});
    busy.warnings = vec![
        Warning::NotQuiet { seen: "load".to_owned(), share: 0.0 },
        Warning::HarnessBound { cpu_share: 0.95 },
    ];
    assert_eq!(busy.checks(), [(Check::NotQuiet, false), (Check::HarnessBound, false)]);
    let mut shared = One::new(|_| {});
    shared.plan.criteria.exclusive = Some(false);
    assert_eq!(shared.checks(), [(Check::NotQuiet, false)]);
}

#[test]
fn of_several_warnings_the_worst_is_told_and_equal_words_once() {
    let told = |warnings: &[(&str, f64)]| {
        let mut one = One::new(|_| {});
        let warning = |&(seen, share): &(&str, f64)| Warning::NotQuiet { seen: seen.to_owned(), share };
        one.warnings = warnings.iter().map(warning).collect();
        one.doubts().remove(0).evidence
    };
    assert_eq!(told(&[("a backup", 0.1), ("a build", 0.3), ("a login", 0.0)]), "a build");
    assert_eq!(told(&[("load", 0.0), ("load", 0.0), ("requests", 0.0), ("more", 0.0)]), "load; requests");
}

#[test]
fn judging_by_the_best_is_pointed_out() {
    let mut one = One::new(|_| {});
    one.plan.criteria.commitments = vec![Commitment {
        name: "2 GB/s".to_owned(),
        by: String::new(),
        figures: plan::Selector::default(),
        rate: RateName::ByWall,
        statistic: plan::Statistic::Best,
        bound: plan::Bound::AtLeast,
        asked: Amount::BytesPerSecond(2e9).into(),
        over: plan::Over::Every,
        terms: plan::Terms::default(),
    }];
    assert_eq!(one.checks(), [(Check::BestAsTypical, false)]);
    assert_eq!((one.doubts()[0].figure, one.doubts()[0].concerns.as_str()), (None, "2 GB/s"));
}

#[test]
fn the_mean_of_rates_is_not_the_rate_of_the_sums() {
    let mut study = crate::common::studies::Study::new(Vec::new());
    study.add("w", "t", &[], Phase::Read, &[100e6, 10e6]);
    // Equal work in unequal times: the slow repetition has more weight.
    for row in &mut study.phases {
        let seconds = if row.key.repetition == 0 { 10 } else { 100 };
        *row = PhaseRow {
            read_bytes: 1_000_000_000,
            wall_ns: seconds * SECOND,
            io_ns: seconds * SECOND,
            ..row.clone()
        };
    }
    let doubts = audit(&study.plan, &study.figures(), &[]);
    let found = doubts.iter().find(|doubt| doubt.check == Check::RatioOfSums).expect("a doubt");
    assert_eq!(found.evidence, "the mean of 2 rates is 55 MB/s, but all bytes ÷ all time is 18.18 MB/s");
}

#[test]
fn published_bests_beside_medians_are_named_together() {
    let mut study = crate::common::studies::Study::new(Vec::new());
    study.add("w", "t", &[], Phase::Read, &[100e6, 101e6]);
    let place = |id: &str| plan::PublishedReference { id: id.to_owned(), figures: plan::Selector::default() };
    study.plan.criteria.published =
        ["a-t2-read-best", "b-tab3-ssd-read-mean", "a-t3-read-best"].map(place).to_vec();
    let doubts = audit(&study.plan, &study.figures(), &[]);
    assert_eq!(doubts.len(), 1, "{doubts:?}");
    assert!(doubts[0].evidence.ends_with(": a-t2-read-best, a-t3-read-best"), "{}", doubts[0].evidence);
}

/// In a fixed time each target moves what it can, independent of the others.
#[test]
fn tasks_that_do_not_divide_are_no_bound_in_a_given_time() {
    let one = One::new(|spec| {
        spec.tasks = 33;
        spec.duration = Some(Nanos::secs(10));
        spec.files.sharing = Sharing::PerTask;
        spec.files.targets = (0..12).map(|target| format!("{target}/f").into()).collect();
    });
    assert!(one.doubts().iter().all(|doubt| doubt.check != Check::Unbalanced), "{:?}", one.doubts());
}

#[test]
fn a_case_that_lacks_repetitions_is_unfinished() {
    let mut one = One::new(|_| {});
    one.plan.cases[0].repetitions = 3;
    assert_eq!(one.checks(), [(Check::Unfinished, true)]);
    assert_eq!(one.doubts()[0].evidence, "1 of 3 repetitions were measured");
}

/// The passes of a figure with these rates.
fn passes(phase: Phase, rates: &[f64]) -> Vec<AuditIssue> {
    let mut study = crate::common::studies::Study::new(Vec::new());
    study.add("w", "t", &[], phase, rates);
    let mut doubts = audit(&study.plan, &study.figures(), &[]);
    doubts.retain(|doubt| matches!(doubt.check, Check::PassesJump | Check::WriteDrift));
    doubts
}

#[test]
fn reads_that_a_cache_answers_from_some_pass_on_are_a_jump() {
    let warmed = passes(Phase::Read, &[3372.0 * 4096.0, 11_346.0 * 4096.0]);
    assert_eq!((warmed.len(), warmed[0].check, warmed[0].disqualifies()), (1, Check::PassesJump, true));
    assert_eq!(
        warmed[0].evidence,
        "the rate changed for good from pass 1 to 2 of 2: 13.81 MB/s, then 46.47 MB/s"
    );
    assert_eq!(passes(Phase::Read, &[100e6, 83e6, 121e6, 95e6]), [], "scatter of 20 % is none");
    let drift = passes(Phase::Write, &[900e6, 880e6, 300e6, 290e6]);
    assert_eq!((drift.len(), drift[0].check, drift[0].disqualifies()), (1, Check::WriteDrift, false));
}

/// A device that gets slower by 2 % in each pass.
#[test]
fn passes_that_fall_one_after_the_other_are_told() {
    let doubts = |rates: &[f64]| {
        let mut study = crate::common::studies::Study::new(Vec::new());
        study.add("w", "t", &[], Phase::Read, rates);
        let mut doubts = audit(&study.plan, &study.figures(), &[]);
        doubts.retain(|doubt| doubt.check == Check::DependentPasses);
        doubts
    };
    let falling: Vec<f64> = (0..20).map(|pass| 1e9 * 0.98_f64.powi(pass)).collect();
    let told = doubts(&falling);
    assert_eq!(told.len(), 1);
    assert_eq!(
        told[0].evidence,
        "the rate falls by 2.0 % from pass to pass: 1 GB/s in the first, 681.2 MB/s in the last of 20"
    );
    assert!(!told[0].disqualifies());
    assert_eq!(doubts(&falling[..5]), [], "five of a kind have a probability of 2 in 120");
    assert_eq!(doubts(&falling[..6]).len(), 1);
    let halves: Vec<f64> =
        (0..40).map(|pass| 1e9 + 1e6 * f64::from(pass / 10 % 2 * 80 + pass * 7 % 10)).collect();
    assert!(
        doubts(&halves)[0].evidence.starts_with("each pass is like the one before"),
        "{:?}",
        doubts(&halves)
    );
    let even: Vec<f64> = (0..20).map(|pass| 1e9 + 1e6 * f64::from(pass * 7 % 20)).collect();
    assert_eq!(doubts(&even), []);
}

/// Scatter alone triggers the check for less than 1 % of figures. Two passes are the worst case.
#[test]
fn scatter_of_a_fifth_is_hardly_ever_a_jump() {
    let mut study = crate::common::studies::Study::new(Vec::new());
    let mut state = 7_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    // The sum of twelve uniform numbers is a sufficient approximation of a normal distribution.
    let mut rate = || 100e6 * (0.2 * ((0..12).map(|_| uniform()).sum::<f64>() - 6.0)).exp();
    const DRAWS: usize = 2000;
    for draw in 0..DRAWS {
        let setting = crate::common::studies::count("draw", draw as u64);
        study.add("w", "t", &[setting], Phase::Read, &[rate(), rate()]);
    }
    let doubts = audit(&study.plan, &study.figures(), &[]);
    let jumps = doubts.iter().filter(|doubt| doubt.check == Check::PassesJump).count();
    assert!(jumps * 100 <= DRAWS, "{jumps} of {DRAWS}");
}

#[test]
fn small_random_reads_at_the_rate_of_sequential_ones_of_the_same_data_are_told() {
    let told = |random: f64, sequential: f64| {
        let mut study = crate::common::studies::Study::new(Vec::new());
        for (order, transfer, rate) in
            [(plan::Order::Sequential, 1 << 20, sequential), (plan::Order::Random { seed: 1 }, 4096, random)]
        {
            let settings = [crate::common::studies::bytes("transfer", transfer)];
            study.add_of("w", "t", &settings, Phase::Read, &[rate], |spec| {
                spec.direct = true;
                spec.order = order;
                (spec.geometry.transfer, spec.geometry.block) = (Bytes(transfer), Bytes::mib(8));
            });
        }
        let doubts = audit(&study.plan, &study.figures(), &[]);
        doubts.into_iter().find(|doubt| doubt.check == Check::RandomAboveSequential)
    };
    assert_eq!(told(40e6, 200e6), None);
    let found = told(200e6, 200e6).expect("a doubt");
    assert_eq!(found.figure, Some(1));
    assert_eq!(
        found.evidence,
        "random reads of 4 KiB reach 200 MB/s, sequential reads of 1 MiB over the same data 200 MB/s"
    );
}
