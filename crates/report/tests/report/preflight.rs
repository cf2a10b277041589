//! What the user is told before anything is written.

use std::path::PathBuf;

use plan::{
    Amount, AssumedDevice, Backend, Bound, Bytes, Case, Claim, Commitment, FileSystemSpace, Geometry,
    Interval, Nanos, OptionNote, Order, Over, Phase, Plan, PlanSource, PredictedRate, Predictions, Quantity,
    RateName, RateUnit, ReadFrom, Relation, RunEnvironment, Selector, Sharing, Side, Source, Statistic,
    SyncRule, TargetDescription, WorkloadSpec,
};

/// Study A, layout 2: twelve mount points, one file per task.
fn twelve_cards(tasks: u32, transfer: Bytes, segments: u64) -> Case {
    let geometry = Geometry { transfer, block: transfer, segments };
    let mut spec = WorkloadSpec::new("ior", "0/0", geometry);
    spec.files.targets = (0..12).map(|card| PathBuf::from(format!("{card}/{card}"))).collect();
    spec.files.sharing = Sharing::PerTask;
    spec.files.keep = plan::Keep::Always;
    spec.tasks = tasks;
    spec.direct = true;
    spec.sync = SyncRule { at_close: true, per_write: false };
    spec.read_from = ReadFrom::Shift { tasks: 1 };
    Case::new("ior", spec.validate().expect("valid"), vec![Phase::Write, Phase::Read])
}

fn ior(case: Case) -> Plan {
    let note = |written: &str, name: &str, meaning: &str| OptionNote {
        written: written.into(),
        name: name.into(),
        meaning: meaning.into(),
    };
    let notes = vec![
        note("-a POSIX", "api", "POSIX: pread and pwrite"),
        note("-B", "useO_DIRECT", "direct I/O: round the page cache"),
        note("-C", "reorderTasksConstant", "task t reads what task t + 1 wrote"),
    ];
    let arguments = ["ior", "-a", "POSIX", "-B", "-C"].map(str::to_owned).to_vec();
    let question = PlanSource::Dialect { tool: "ior".into(), arguments, notes, memo: String::new() };
    Plan::new("IOR on 12 targets", question, 42, vec![case])
}

fn around(rate: f64, free: u64) -> RunEnvironment {
    let mut predicted = Predictions::default();
    for phase in [Phase::Write, Phase::Read] {
        let rate =
            PredictedRate { rate: Interval::exact(rate), unit: RateUnit::Bytes, source: Source::Given };
        predicted.add("ior", phase, rate);
    }
    RunEnvironment {
        spaces: vec![FileSystemSpace {
            name: "/p3700".into(),
            free: Bytes(free),
            targets: (0..12).map(|card| PathBuf::from(format!("{card}/{card}"))).collect(),
        }],
        memory: Some(Bytes::gib(256)),
        assumed: AssumedDevice { bytes_per_second: rate, transfer_time: Nanos(0), class: "array".into() },
        predicted,
        ..RunEnvironment::default()
    }
}

/// The text with line breaks removed.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_plan_is_explained_in_full() {
    let plan = ior(twelve_cards(33, Bytes::mib(1), 1_000));
    insta::assert_snapshot!(report::explain(
        &plan,
        &around(18.8e9, 24_000_000_000_000),
        report::Screen::PLAIN
    ));
}

/// Figure 2 of study B: three tasks, two segments, two transfers per block.
#[test]
fn offsets_and_the_order_of_blocks_in_a_shared_file_are_shown() {
    let geometry = Geometry { transfer: Bytes(1), block: Bytes(2), segments: 2 };
    let mut spec = WorkloadSpec::new("figure 2", "file", geometry);
    spec.tasks = 3;
    let case = Case::new("figure-2", spec.validate().expect("valid"), vec![Phase::Write]);
    let text = report::explain(&ior(case), &around(1e9, 1 << 40), report::Screen::PLAIN);
    assert!(text.contains("Block[0,0] Block[0,1] Block[0,2] Block[1,0] Block[1,1] Block[1,2]"), "{text}");
    assert!(text.contains("1  file  2, 3, 8, 9"), "{text}");
}

#[test]
fn thirty_three_tasks_over_twelve_targets_are_told_their_bound() {
    let plan = ior(twelve_cards(33, Bytes::mib(1), 10_000));
    let text = one_line(&report::preflight(&plan, &around(20e9, 24_000_000_000_000), report::Screen::PLAIN));
    assert!(text.contains("33 tasks over 12 targets: at most 91.7 % of the sum can be reached"), "{text}");
}

#[test]
fn a_published_line_is_too_short_and_told_what_would_do() {
    let plan = ior(twelve_cards(33, Bytes::mib(1), 1_000));
    let text =
        one_line(&report::preflight(&plan, &around(18.8e9, 24_000_000_000_000), report::Screen::PLAIN));
    assert!(text.contains("34.6 GB take about 1.8 s at 18.8 GB/s, from rates given by hand"), "{text}");
    assert!(text.contains("raise -s to 5434"), "{text}");
}

#[test]
fn files_that_leave_little_room_or_none_are_told_what_would_fit() {
    let told = |tasks| {
        let plan = ior(twelve_cards(tasks, Bytes::mib(16), 10_000));
        one_line(&report::preflight(&plan, &around(20e9, 24_000_000_000_000), report::Screen::PLAIN))
    };
    let tight = told(132);
    assert!(tight.contains("132 tasks × 16 MiB × 10,000 = 22.1 TB of 24.0 TB free"), "{tight}");
    let over = told(264);
    assert!(over.contains("264 tasks × 16 MiB × 10,000 = 44.3 TB, but /p3700 has 24.0 TB free"), "{over}");
    assert!(over.contains("-s 4876 would fit"), "{over}");
}

/// Twice the claim that reads are faster, and a promise that the best of reads and writes is to keep.
fn claimed(repetitions: u32) -> Plan {
    let mut plan = ior(Case { repetitions, ..twelve_cards(12, Bytes::mib(1), 100_000) });
    let of = |phase| Selector { phase: Some(phase), ..Selector::default() };
    let claim = Claim {
        id: "own".to_owned(),
        text: "reads are faster".to_owned(),
        quantity: Quantity::BestRate,
        left: of(Phase::Read),
        relation: Relation::Greater,
        right: Side::Measured(of(Phase::Write)),
        factor: 1.0,
        tolerance: 0.0,
    };
    let promise = Commitment {
        name: "rate".to_owned(),
        by: String::new(),
        figures: Selector::default(),
        rate: RateName::ByWall,
        statistic: Statistic::Median,
        bound: Bound::AtLeast,
        asked: Amount::BytesPerSecond(1e9).into(),
        over: Over::Best,
        terms: plan::Terms::default(),
    };
    plan.criteria.claims = vec![claim.clone(), claim];
    plan.criteria.commitments = vec![promise];
    plan
}

/// If there are too few repetitions for a statement, this is reported once before the measurement, with the required
/// number.
#[test]
fn a_claim_or_a_promise_that_needs_more_repetitions_is_told_before_the_run() {
    let around = around(1e9, 1 << 50);
    let claims = "claims compare figures of 3 repetitions: at least 5 are needed; set repetitions = 5";
    let best = "commitments take the best of several figures of 3 repetitions: at least 6 are needed";
    for text in [
        report::preflight(&claimed(3), &around, report::Screen::PLAIN),
        report::explain(&claimed(3), &around, report::Screen::PLAIN),
    ] {
        let text = one_line(&text);
        assert_eq!(text.matches(claims).count(), 1, "{text}");
        assert!(text.contains(best), "{text}");
    }
    assert!(!report::preflight(&claimed(6), &around, report::Screen::PLAIN).contains("are needed"));
}

/// What a number of repetitions can tell is computed from the noise: of three that are usual, or of the one that a run
/// has measured or the study states.
#[test]
fn what_the_repetitions_can_tell_is_told_before_the_run() {
    let around = around(1e9, 1 << 50);
    let told = |plan: &Plan, around: &RunEnvironment| {
        one_line(&report::explain(plan, around, report::Screen::PLAIN))
    };
    let text = told(&claimed(6), &around);
    assert!(
        text.contains("if rates of passes scatter by 1 %, 2 % or 5 % (to know it: --like RUNDIR"),
        "{text}"
    );
    assert!(text.contains("· own: 6 repetitions a side tell differences of"), "{text}");
    assert!(text.contains("· rate: 6 repetitions tell a margin of"), "{text}");
    assert!(told(&claimed(1), &around).contains("own: 1 repetition a side tells nothing; 5 % takes"));

    let mut stated = claimed(5);
    stated.cases[0].protocol.noise = Some(0.01);
    let claim = &mut stated.criteria.claims[1];
    (claim.relation, claim.factor, claim.tolerance) = (Relation::Equal, 0.909, 0.02);
    let text = told(&stated, &around);
    assert!(!text.contains("to know it"), "{text}");
    assert!(
        text.contains(
            "own: 5 repetitions a side tell differences of 3.8 % where passes scatter by 1 %; 5 % takes 5"
        ),
        "{text}"
    );
    assert!(
        text.contains("equality within 4.2 % where passes scatter by 1 %; 2 % takes 13; 9.1 % takes 5"),
        "{text}"
    );
    let before = one_line(&report::preflight(&stated, &around, report::Screen::PLAIN));
    assert_eq!(before.matches("own: 5 repetitions do not tell it").count(), 1, "{before}");
    assert!(before.contains("where passes scatter by 1 %: 13 would"), "{before}");

    // What a run has measured counts before what is stated.
    let mut measured = around.clone();
    for (phase, noise) in [(Phase::Read, 0.03), (Phase::Write, 0.01)] {
        measured.predicted.add_noise("ior", phase, noise);
    }
    assert!(told(&stated, &measured).contains("where passes scatter by 2.2 %"));
}

/// Anything that does not fit is reported before the run, with the reason.
/// 33 tasks × 1,000 segments of 1 MiB are 33,000 transfers of a pass.
#[test]
fn what_a_promised_percentile_takes_is_told_before_the_run() {
    let promised = |percent, repetitions, duration: Option<Nanos>| {
        let mut case = twelve_cards(33, Bytes::mib(1), 1_000);
        let mut spec = WorkloadSpec::from(case.workload.clone());
        spec.duration = duration;
        case.workload = spec.validate().expect("valid");
        case.repetitions = repetitions;
        let mut plan = ior(case);
        plan.criteria.commitments = vec![Commitment {
            name: "in time".to_owned(),
            by: String::new(),
            figures: Selector { phase: Some(Phase::Read), ..Selector::default() },
            rate: RateName::ByWall,
            statistic: Statistic::Median,
            bound: Bound::AtMost,
            asked: Amount::Latency { nanos: 5e6, percent: Some(percent) }.into(),
            over: Over::Every,
            terms: plan::Terms::default(),
        }];
        let around = around(20e9, 24_000_000_000_000);
        let before = one_line(&report::preflight(&plan, &around, report::Screen::PLAIN));
        (before, one_line(&report::explain(&plan, &around, report::Screen::PLAIN)))
    };
    let (before, explained) = promised(99.9, 17, None);
    let takes = "p99.9 takes at least 4,603 transfers, and 17 repetitions with 10,268 or more each (33 in flight); planned \
                 are 17 repetitions of 33,000 transfers";
    assert!(explained.contains(takes), "{explained}");
    assert!(!before.contains("will not be shown"), "{before}");
    // A tenth of 33,000 is allowed for each of 33 in flight: ln 100 ÷ ln 1.1 is 48.3.
    let (before, explained) = promised(99.99, 17, None);
    let takes =
        "p99.99 takes at least 46,050 transfers, and 49 repetitions with 33,000 or more each (33 in flight)";
    assert!(explained.contains(takes), "{explained}");
    let warns =
        format!("! in time: {takes}; planned are 17 repetitions of 33,000 transfers; it will not be shown");
    assert!(before.contains(&warns), "{before}");
    // Nobody knows how many transfers the storage completes in a minute.
    let minute = Some(Nanos::secs(60));
    let (before, explained) = promised(99.0, 17, minute);
    assert!(
        explained.contains("planned are 17 repetitions, of as many transfers as the storage completes"),
        "{explained}"
    );
    assert!(!before.contains("will not be shown"), "{before}");
    let (before, _) = promised(99.0, 6, minute);
    assert!(
        before.contains("with 1,027 or more each (33 in flight); planned are 6 repetitions; it will not"),
        "{before}"
    );
    let (before, _) = promised(100.0, 12, None);
    assert!(
        before.contains("in time: p100: no number of transfers shows that none takes longer"),
        "{before}"
    );
}

#[test]
fn slots_and_room_that_the_study_tells_are_shown_before_the_run() {
    let mut plan = ior(twelve_cards(12, Bytes::mib(1), 1_000));
    plan.cases[0].target = "cards".to_owned();
    plan.criteria.targets.push(TargetDescription {
        name: "cards".to_owned(),
        devices: 12,
        slots: 11,
        capacity: Some(Bytes::gib(1)),
        ..TargetDescription::default()
    });
    let around = around(20e9, 24_000_000_000_000);
    for text in [
        report::preflight(&plan, &around, report::Screen::PLAIN),
        report::explain(&plan, &around, report::Screen::PLAIN),
    ] {
        let text = one_line(&text);
        assert!(text.contains("Slots and room, by what the study says"), "{text}");
        assert!(text.contains("cards no 12 11 11.7 GiB 1 GiB"), "{text}");
    }
}

#[test]
fn a_table_of_several_cases_fits_a_terminal() {
    let mut cases = Vec::new();
    for (id, transfer, random, depth) in [
        ("seq-1m", Bytes::mib(1), false, 1),
        ("rand-4k-d1", Bytes::kib(4), true, 1),
        ("rand-4k-d32", Bytes::kib(4), true, 32),
    ] {
        let mut spec =
            WorkloadSpec::new(id, "/p3700/f", Geometry { transfer, block: Bytes::gib(1), segments: 4 });
        spec.direct = true;
        spec.duration = Some(Nanos::secs(3));
        if random {
            spec.order = Order::Random { seed: 7 };
        }
        if depth > 1 {
            spec.backend = Backend::Uring { depth, required: false };
        }
        cases.push(Case {
            repetitions: 3,
            ..Case::new(id, spec.validate().expect("valid"), vec![Phase::Fill, Phase::Write, Phase::Read])
        });
    }
    let plan = Plan::new(
        "Quick study of /p3700",
        PlanSource::Quick { directory: "/p3700".into(), others: Vec::new() },
        42,
        cases,
    );
    let mut around = around(2e9, 1_000_000_000_000);
    around.spaces[0].targets = vec!["/p3700/f".into()];
    let text = report::preflight(&plan, &around, report::Screen::PLAIN);
    assert!(text.lines().all(|line| line.chars().count() <= 110), "{text}");
    insta::assert_snapshot!(text);
}

/// 33 to 264 tasks with four transfer sizes, on `cases` layouts.
fn sweep() -> Plan {
    let mut cases = Vec::new();
    for tasks in (33..=264).step_by(33) {
        for transfer in [1, 4, 8, 16] {
            let setting = |key: &str, value| plan::Setting { key: key.into(), value };
            let case = twelve_cards(tasks, Bytes::mib(transfer), 1_000);
            cases.push(Case {
                id: format!("layouts:tasks={tasks}:transfer={transfer}MiB"),
                group: "layouts".into(),
                target: "xfs".into(),
                repetitions: 2,
                protocol: plan::Protocol { rounds: 2, ..plan::Protocol::default() },
                settings: vec![
                    setting("tasks", plan::SettingValue::Count(tasks.into())),
                    setting("transfer", plan::SettingValue::Bytes(Bytes::mib(transfer))),
                ],
                ..case
            });
        }
    }
    let mut plan = Plan::new(
        "Made-up sweep",
        PlanSource::Quick { directory: "/p3700".into(), others: Vec::new() },
        42,
        cases,
    );
    plan.criteria.targets = vec![plan::TargetDescription {
        name: "xfs".into(),
        title: "Twelve XFS".into(),
        devices: 12,
        ..Default::default()
    }];
    plan.criteria.nodes = vec![1, 4, 8, 16];
    let limit = |name: &str, rate, per| plan::Expectation {
        target: Some("xfs".into()),
        per,
        ceiling: true,
        source: "made up".into(),
        ..plan::Expectation::new(name, plan::Amount::BytesPerSecond(rate))
    };
    plan.criteria.expectations =
        vec![limit("node link", 1.25e9, plan::Per::Node), limit("cluster link", 10e9, plan::Per::Target)];
    plan
}

#[test]
fn a_sweep_is_told_by_workload_with_its_bounds_and_counted_concerns() {
    let text = report::preflight(&sweep(), &around(18.8e9, 24_000_000_000_000), report::Screen::PLAIN);
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    assert!(text.lines().count() < 40, "{text}");
    let line = one_line(&text);
    assert!(line.contains("at most 91.7 % of the sum can be reached"), "{text}");
    insta::assert_snapshot!(text);
}

/// A buffered write and read of a 64 MiB file for each of two tasks, asked by `tool`.
fn buffered(tool: &str, operations: Option<u64>) -> Plan {
    let geometry = Geometry { transfer: Bytes::mib(1), block: Bytes::mib(64), segments: 1 };
    let mut spec = WorkloadSpec::new(tool, "/p3700/f", geometry);
    spec.tasks = 2;
    spec.operations = operations;
    let case = Case::new("ior", spec.validate().expect("valid"), vec![Phase::Write, Phase::Read]);
    let (arguments, memo) = (vec![tool.to_owned()], String::new());
    let asked = PlanSource::Dialect { tool: tool.to_owned(), arguments, notes: Vec::new(), memo };
    Plan::new(tool, asked, 42, vec![case])
}

#[test]
fn advice_names_the_options_of_the_tool_that_was_called() {
    for (tool, volume, direct) in [
        ("gpfsperf", "raise -n to 20g", "use direct I/O (-dio)"),
        ("iozone", "raise -s to 10g", "use direct I/O (-I)"),
        ("ior", "raise -s to 160", "use direct I/O (--posix.odirect)"),
    ] {
        let environment = RunEnvironment { memory: Some(Bytes::gib(10)), ..around(1.92e9, 1 << 40) };
        let text = report::explain(&buffered(tool, None), &environment, report::Screen::PLAIN);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(volume) && text.contains(direct), "{tool}: {text}");
        assert!(tool == "ior" || !text.contains("segments to"), "{tool}: {text}");
    }
}

#[test]
fn bytes_that_are_moved_again_do_not_fill_the_page_cache() {
    let again = buffered("gpfsperf", Some(1_000_000));
    assert!(again.cases[0].workload.bytes() > Bytes::gib(512), "more than twice the memory");
    let text = report::explain(&again, &around(1e9, 1 << 40), report::Screen::PLAIN);
    let memory = text.lines().find(|line| line.trim_start().starts_with("memory ")).expect("a line");
    assert!(memory.ends_with("the page cache can"), "{text}");
}

#[test]
fn a_rate_that_is_a_share_of_an_expectation_says_so() {
    let mut plan = buffered("ior", None);
    plan.cases[0].id = "other".to_owned();
    plan.criteria.expectations = vec![plan::Expectation::new("disk", Amount::BytesPerSecond(362e6))];
    let text = report::explain(&plan, &around(1e9, 1 << 40), report::Screen::PLAIN);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("80.0 % of the 362 MB/s of the study's expectation `disk`"), "{text}");
    assert!(text.contains("at 290 MB/s"), "{text}");
}

#[test]
fn devices_of_unknown_kind_are_not_called_solid_state_disks() {
    let mut plan = buffered("ior", None);
    let target = TargetDescription { name: "disks".to_owned(), devices: 192, ..TargetDescription::default() };
    (plan.criteria.targets, plan.cases[0].target) = (vec![target], "disks".to_owned());
    let text = report::explain(&plan, &RunEnvironment::default(), report::Screen::PLAIN);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("192 assumed devices of 500 MB/s each"), "{text}");
}
