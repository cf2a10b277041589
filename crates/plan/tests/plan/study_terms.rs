//! What a study says beside its cases, and which mistakes in it are found.
#![expect(clippy::unwrap_used, reason = "a study that is not as expected fails the test")]

use crate::common::{RIGHT, shown, study};
use plan::study::{Options, Override, StudyErrors, UnknownId, read_criteria, read_with, unknown_ids};
use plan::{
    Amount, Bound, Bytes, Client, Layer, Nanos, NodeDescription, Over, Per, Phase, Plan, Protocol, Quantity,
    RateName, Relation, SettingValue, Side, Statistic, Stopping,
};

/// A study with one of everything.
const ALL: &str = include_str!("all-terms.toml");

fn all() -> Plan {
    study(ALL).unwrap_or_else(|errors| panic!("{}", shown(&errors)))
}

/// Replaces a part of the study with everything and gives what is shown then.
fn spoilt(part: &str, by: &str) -> String {
    assert!(ALL.contains(part), "{part}");
    shown(&study(&ALL.replacen(part, by, 1)).unwrap_err())
}

fn with(text: &str, overrides: &[&str]) -> Result<Plan, StudyErrors> {
    let overrides = overrides.iter().map(|text| Override::parse(text).unwrap()).collect();
    read_with("study.toml".as_ref(), text, &Options { overrides, ..Options::default() })
}

#[test]
fn targets_say_what_they_are() {
    let plan = all();
    let [card, flash] = plan.criteria.targets.as_slice() else { panic!("{:?}", plan.criteria.targets) };
    assert_eq!((card.name.as_str(), card.title.as_str(), card.devices), ("card", "", 0));
    assert_eq!((flash.title.as_str(), flash.stands_for.as_str()), ("Flash", "layout 2"));
    assert_eq!((flash.layer, flash.client), (Layer::NodeLocal, Client::LocalToServer));
    assert_eq!((flash.devices, flash.baseline.as_deref()), (12, Some("card")));
    assert_eq!((flash.server_memory, flash.caches), (Some(Bytes::mib(256)), Some(Bytes::mib(50))));
    assert_eq!(flash.rack_units.to_bits(), 3.5_f64.to_bits());
    assert_eq!((plan.criteria.exclusive, plan.criteria.release.as_deref()), (Some(false), Some("5.1.2")));
    assert_eq!(plan.criteria.nodes, [1, 4, 8, 16]);
    assert_eq!(plan.criteria.node.words(), "40 cores, 160 threads, 512 GiB of memory");
    assert_eq!(NodeDescription::default().words(), "");
}

#[test]
fn expectations_have_a_limit_and_what_it_belongs_to() {
    let plan = all();
    let [link, sheet, tail] = plan.criteria.expectations.as_slice() else { panic!("three") };
    assert_eq!((link.amount, link.per, link.ceiling), (Amount::BytesPerSecond(1.25e9), Per::Node, true));
    assert_eq!((link.count.to_bits(), link.target.as_deref()), (2.0_f64.to_bits(), Some("flash")));
    assert_eq!((link.source.as_str(), link.reached.as_str()), ("IEEE 802.3ae", "the link is full"));
    assert_eq!(sheet.amount, Amount::OperationsPerSecond(314_000.0));
    assert_eq!(
        (sheet.phase, sheet.random, sheet.transfer),
        (Some(Phase::Mixed), Some(true), Some(Bytes::kib(4)))
    );
    assert_eq!((sheet.read_percent, sheet.at_latency), (Some(75), Some(Nanos::millis(1))));
    assert_eq!(tail.amount, Amount::Latency { nanos: 2e6, percent: Some(99.0) });
    assert_eq!((tail.per, tail.ceiling, tail.target.as_deref()), (Per::Target, false, None));
}

#[test]
fn an_expectation_of_some_nodes_names_them() {
    let with = |more: &str| study(&ALL.replacen("per = \"node\"", more, 1));
    let plan = with("per = \"node\"\nnodes = \"n[01-03],login\"").unwrap();
    let [link, ..] = plan.criteria.expectations.as_slice() else { panic!("three") };
    assert_eq!(link.nodes.names(), ["n01", "n02", "n03", "login"]);
    for (more, said) in [
        ("nodes = \"n[3-1]\"", "`n[3-1]` is not a list of nodes: `3-1` ends before it begins"),
        ("per = \"device\"\nnodes = \"n1\"", "`per` cannot be told of some of the nodes"),
        ("at_latency = \"1ms\"\nnodes = \"n1\"", "`at_latency` cannot be told of some of the nodes"),
    ] {
        let errors = spoilt("per = \"node\"", more);
        assert!(errors.contains(said), "{more}: {errors}");
    }
}

#[test]
fn commitments_say_how_they_are_judged() {
    let plan = all();
    let [rate, tail] = plan.criteria.commitments.as_slice() else { panic!("two") };
    assert_eq!((rate.name.as_str(), rate.by.as_str()), ("24 GB/s at 12 cards", "the vendor"));
    assert_eq!(
        (rate.statistic, rate.rate, rate.over),
        (Statistic::ConfidenceBound, RateName::ByIo, Over::Best)
    );
    assert_eq!((rate.bound, rate.asked), (Bound::AtLeast, Amount::BytesPerSecond(24e9).into()));
    assert_eq!(rate.figures.workload.as_deref(), Some("scale"));
    assert_eq!((rate.figures.target.as_deref(), rate.figures.phase), (Some("flash"), Some(Phase::Write)));
    assert_eq!(rate.figures.at.len(), 2);
    assert!(plan.cases.iter().filter(|case| rate.figures.takes(case, Phase::Write)).count() == 1);
    assert_eq!((tail.bound, tail.rate, tail.over), (Bound::AtMost, RateName::ByWall, Over::Every));
    assert_eq!(tail.asked, Amount::Latency { nanos: 5e6, percent: Some(99.9) }.into());
}

#[test]
fn claims_compare_figures_with_figures_or_values() {
    let plan = all();
    let [tax, lower] = plan.criteria.claims.as_slice() else { panic!("two") };
    assert_eq!(
        (tax.id.as_str(), tax.text.as_str(), tax.quantity),
        ("a-1", "Twelve are slower", Quantity::BestRate)
    );
    assert_eq!((tax.relation, tax.factor.to_bits()), (Relation::Less, 12.0_f64.to_bits()));
    assert_eq!(tax.tolerance.to_bits(), 0.05_f64.to_bits());
    let Side::Measured(right) = &tax.right else { panic!("{:?}", tax.right) };
    assert_eq!((tax.left.target.as_deref(), right.target.as_deref()), (Some("flash"), Some("card")));
    assert_eq!(right.at[0].value, SettingValue::Count(2));
    assert_eq!((lower.right.clone(), lower.quantity), (Side::Value(1_048_576.0), Quantity::Knee));
    let [best, point] = plan.criteria.published.as_slice() else { panic!("two") };
    assert_eq!((best.id.as_str(), best.figures.at.len(), point.figures.at.len()), ("cuny-fig-3", 0, 1));
}

#[test]
fn values_on_the_right_have_any_unit() {
    let value = |text: &str| {
        let plan = study(&ALL.replace("right = \"1MiB\"", &format!("right = {text}"))).unwrap();
        match plan.criteria.claims[1].right {
            Side::Value(value) => value,
            Side::Measured(_) | Side::OperationsPerSecond(_) => panic!("{text}"),
        }
    };
    for (text, expected) in
        [("4", 4.0), ("-0.5", -0.5), ("\"4KiB\"", 4096.0), ("\"2ms\"", 2e6), ("\"40 %\"", 0.4)]
    {
        assert!((value(text) - expected).abs() < 1e-9, "{text}: {}", value(text));
    }
}

/// Of a rate a bare number says nothing: five million bytes a second, or operations?
#[test]
fn a_rate_is_compared_with_bytes_or_operations_per_second() {
    let right = |quantity: &str, text: &str| {
        let written = format!("quantity = \"{quantity}\"\nright = {text}");
        let claim = ALL.replace("quantity = \"knee\"", "").replace("right = \"1MiB\"", &written);
        study(&claim).map(|plan| plan.criteria.claims[1].right.clone())
    };
    for (text, expected) in [
        ("\"2.8GB/s\"", Side::Value(2.8e9)),
        ("\"100000 IOPS\"", Side::OperationsPerSecond(1e5)),
        ("\"100k IOPS\"", Side::OperationsPerSecond(1e5)),
        ("\"1.5MIOPS\"", Side::OperationsPerSecond(1.5e6)),
        ("\"50000/s\"", Side::OperationsPerSecond(5e4)),
    ] {
        assert_eq!(right("best-rate", text).expect(text), expected, "{text}");
    }
    for text in ["5000000", "\"1MiB\"", "\"2ms\""] {
        let errors = right("lowest-rate", text).unwrap_err();
        let error = &errors.errors()[0];
        assert_eq!(error.message(), "`right` is compared with a rate, but has no unit of a rate", "{text}");
    }
    let errors = right("latency", "\"2.8GB/s\"").unwrap_err();
    assert_eq!(errors.errors()[0].message(), "`right` is a rate, but `latency` is not");
}

#[test]
fn the_protocol_reaches_every_case_and_a_workload_has_its_own() {
    let plan = all();
    let of = |group: &str| plan.cases.iter().find(|case| case.group == group).unwrap();
    let general = of("scale");
    assert_eq!(
        general.protocol,
        Protocol {
            warm_up: 1,
            rounds: 2,
            stopping: Stopping::Interval { share: 0.05, least: 8 },
            wipe: true,
            precondition: 2,
            drop_caches: true,
            phase_min: Nanos::secs(5),
            ..Protocol::default()
        }
    );
    assert_eq!((general.repetitions, general.passes_max()), (30, 61));
    assert_eq!(general.workload.stonewall.unwrap().deadline, Nanos::secs(300));
    let own = of("own");
    let stopping = Stopping::Steady { window: 4, excursion: 0.3, slope: 0.05 };
    assert_eq!((own.protocol.stopping, own.protocol.warm_up, own.protocol.rounds), (stopping, 0, 5));
    assert_eq!((own.workload.stonewall, own.workload.duration), (None, Some(Nanos::secs(60))));
    assert!(!own.protocol.wipe && !own.protocol.drop_caches);
    assert_eq!((own.protocol.precondition, own.protocol.phase_min), (0, Nanos::secs(1)));
    assert_eq!(own.passes_max(), 50);
}

#[test]
fn a_steady_state_is_that_of_the_specification_unless_said_otherwise() {
    let text = RIGHT.replace("repetitions = 3", "repetitions = 25\nuntil = \"steady\"");
    let steady = Stopping::Steady { window: 5, excursion: 0.2, slope: 0.1 };
    assert_eq!(study(&text).unwrap().cases[0].protocol.stopping, steady);
}

/// Four tasks with one file on storage that each node has for itself.
fn node_local() -> String {
    let place = "path = \"/mnt/scratch/data\"";
    shown(&study(&RIGHT.replace(place, &format!("{place}\nlayer = \"node-local\""))).unwrap_err())
}

#[test]
fn terms_that_cannot_be() {
    let wrong = [
        ("commitment_without_statistic", spoilt("statistic = \"confidence-bound\"\n", "")),
        ("commitment_without_amount", spoilt("bandwidth_at_least = \"24GB/s\"\n", "")),
        ("commitment_with_two_amounts", spoilt("over = \"best\"", "latency_at_most = \"5ms\"")),
        ("commitment_with_a_bare_number", spoilt("\"24GB/s\"", "24")),
        ("commitment_in_unclear_units", spoilt("\"24GB/s\"", "\"24Gb/s\"")),
        ("commitment_about_an_unknown_workload", spoilt("workload = \"scale\"", "workload = \"scael\"")),
        (
            "commitment_about_an_unknown_target",
            spoilt("target = \"flash\"\nphase", "target = \"flahs\"\nphase"),
        ),
        ("commitment_about_a_key_not_swept", spoilt("{ tasks = 12, ", "{ depth = 12, ")),
        ("commitment_about_a_misspelt_key", spoilt("{ tasks = 12, ", "{ task = 12, ")),
        ("commitment_about_a_point_not_measured", spoilt("{ tasks = 12, ", "{ tasks = 13, ")),
        ("commitment_about_a_phase_not_measured", spoilt("phase = \"write\"", "phase = \"mixed\"")),
        ("commitment_by_a_rate_of_a_latency", spoilt("percentile = 99.9", "rate = \"by-io\"")),
        ("commitment_with_an_idle_percentile", spoilt("over = \"best\"", "percentile = 99")),
        ("two_commitments_of_one_name", spoilt("\"p99.9\"", "\"24 GB/s at 12 cards\"")),
        ("expectation_without_amount", spoilt("bandwidth = \"10Gbit/s\"\n", "")),
        ("expectation_of_nothing", spoilt("\"10Gbit/s\"", "\"0Gbit/s\"")),
        ("expectation_of_an_unknown_target", spoilt("target = \"flash\"\ncount", "target = \"disk\"\ncount")),
        ("claim_without_sides", spoilt("left = { target = \"flash\" }\n", "")),
        (
            "claim_with_a_wrong_selection",
            spoilt("left = { target = \"flash\" }", "left = { targe = \"flash\" }"),
        ),
        ("claim_with_a_word_for_a_selection", spoilt("left = { target = \"flash\" }", "left = \"flash\"")),
        ("claim_with_a_wrong_relation", spoilt("relation = \"less\"", "relation = \"lower\"")),
        ("claim_with_no_value", spoilt("right = \"1MiB\"", "right = \"a lot\"")),
        ("claim_with_an_impossible_tolerance", spoilt("tolerance = \"5 %\"", "tolerance = 5")),
        ("baseline_that_is_none", spoilt("baseline = \"card\"", "baseline = \"crad\"")),
        ("nodes_that_are_none", spoilt("nodes = [1, 4, 8, 16]", "nodes = [1, 0]")),
        ("shared_file_on_node_local_storage", node_local()),
        (
            "less_than_the_servers_remember",
            spoilt("server_memory = \"256MiB\"", "server_memory = \"384GiB\""),
        ),
    ];
    for (name, shown) in wrong {
        insta::assert_snapshot!(name, shown);
    }
}

#[test]
fn overrides_that_cannot_be() {
    let refused = |text: &str| Override::parse(text).unwrap_err().to_string();
    let parsed: Vec<String> = [
        "workload.stream.size",
        "size=64MiB",
        "worklod.stream.size=64MiB",
        "workload.size=64MiB",
        "protocol.all.repetitions=2",
        "protocol=2",
        "claim.x.factor=2",
        "=2",
        "",
    ]
    .map(|text| format!("{text}\n  {}", refused(text)))
    .to_vec();
    insta::assert_snapshot!("override_of_another_form", parsed.join("\n"));
    let put = |overrides: &[&str]| shown(&with(RIGHT, overrides).unwrap_err());
    let wrong = [
        ("override_of_an_unknown_workload", put(&["workload.straem.size=64MiB"])),
        ("override_of_an_unknown_key", put(&["workload.stream.sise=64MiB"])),
        ("override_with_a_wrong_value", put(&["workload.stream.tasks=many"])),
        ("override_with_a_wrong_item", put(&["protocol.delay=1s", "workload.stream.tasks=[1, 2, 0]"])),
        ("override_that_does_not_fit", put(&["workload.*.transfer=3MiB"])),
    ];
    for (name, shown) in wrong {
        insta::assert_snapshot!(name, shown);
    }
}

#[test]
fn a_study_in_miniature_keeps_its_terms_and_selects_nothing() {
    let plan = with(ALL, &["workload.scale.tasks=[1, 2]", "workload.scale.transfer=64KiB"]).unwrap();
    let rate = &plan.criteria.commitments[0];
    assert!(!plan.cases.iter().any(|case| rate.figures.takes(case, Phase::Write)));
}

/// The mistake of a study with one of everything, spoilt in `part`.
fn mistake(part: &str, by: &str) -> String {
    assert!(ALL.contains(part), "{part}");
    let errors = study(&ALL.replacen(part, by, 1)).unwrap_err();
    errors.errors()[0].message().to_owned()
}

#[test]
fn a_commitment_to_nothing_is_refused() {
    let text =
        format!("{RIGHT}\n[[commitment]]\nname = \"c\"\nstatistic = \"median\"\nlatency_at_most = \"0s\"\n");
    let errors = study(&text).unwrap_err();
    assert_eq!(errors.errors()[0].message(), "`latency_at_most` is a time of 0");
    assert_eq!(errors.errors()[0].place(), text.find("\"0s\"").unwrap());
}

#[test]
fn what_a_terminal_obeys_is_no_text() {
    let release = "release = \"5.1.2\"";
    assert_eq!(mistake(release, "release = \"\\u001b[31mred\""), "the string contains the character \\u{1b}");
    assert_eq!(mistake(release, "release = \"\\u202egpj\""), "the string contains the character \\u{202e}");
    let lines = ALL.replacen(release, "release = \"one\\n\\ttwo, für Größe\"", 1);
    assert_eq!(study(&lines).unwrap().criteria.release.unwrap(), "one\n\ttwo, für Größe");
}

#[test]
fn a_target_is_not_its_own_baseline() {
    assert_eq!(mistake("baseline = \"card\"", "baseline = \"flash\""), "target `flash` is its own baseline");
}

#[test]
fn phases_can_be_as_long_as_they_must() {
    let with = |keys: &str| study(&RIGHT.replacen("repetitions = 3", keys, 1));
    assert!(with("phase_min = \"1s\"\nphase_max = \"5s\"").is_ok());
    let errors = with("phase_min = \"5s\"\nphase_max = \"1s\"").unwrap_err();
    let message = errors.errors()[0].message();
    assert!(message.starts_with("`phase_min` is 5 s, but `phase_max` ends"), "{message}");
}

/// fill = false says that the data is there already; nothing may write over it.
#[test]
fn what_is_only_read_is_not_preconditioned() {
    let with = |keys: &str| {
        let text = RIGHT.replacen("repetitions = 3", "precondition = 1", 1);
        study(&format!("{text}{keys}\n"))
    };
    let errors = with("phases = [\"read\"]\nfill = false").unwrap_err();
    assert_eq!(errors.errors()[0].message(), "`precondition` would overwrite the data that this reads");
    assert!(with("phases = [\"read\"]\nfill = true").is_ok());
    assert!(with("phases = [\"write\", \"read\"]\nfill = false").is_ok());
}

/// Who knows the ids says which are unknown; the study knows where they stand.
#[test]
fn a_foreign_id_is_shown_in_its_line() {
    let text = format!("{RIGHT}\n[[published]]\nfigure = \"one\"\n\n[[published]]\nfigure = \"two\"\n");
    study(&text).unwrap();
    let unknown =
        [UnknownId { table: "published", index: 1, id: "two".to_owned(), nearest: Some("one".to_owned()) }];
    let errors = unknown_ids("study.toml".as_ref(), &text, &Options::default(), &unknown);
    assert_eq!(errors.errors()[0].place(), text.find("\"two\"").unwrap());
    assert!(shown(&errors).contains("figure = \"two\""), "{}", shown(&errors));
}

#[test]
fn long_values_are_cut_in_messages() {
    let long = "9".repeat(10_000);
    for text in [
        RIGHT.replacen("\"64MiB\"", &format!("\"{long}\""), 1),
        RIGHT.replacen("repetitions = 3", &format!("phase_min = \"{long}\""), 1),
    ] {
        let errors = study(&text).unwrap_err();
        let message = errors.errors()[0].message();
        assert!(message.len() < 200, "{} bytes", message.len());
    }
    let huge = format!("{RIGHT}# {}", "a".repeat(1 << 20));
    assert!(shown(&study(&huge).unwrap_err()).len() < 1000);
}

/// A ready study has no contract of its own; what was claimed by somebody else stays as it is.
#[test]
fn a_promise_can_be_set_from_outside_and_a_claim_cannot() {
    let promise = "name = \"1.5 GB/s\"\nstatistic = \"median\"\nbandwidth_at_least = \"1.5GB/s\"";
    let text = format!("{RIGHT}\n[[commitment]]\n{promise}\n");
    let set = |one: &str| with(&text, &[one]).unwrap().criteria.commitments.pop().expect("a commitment");
    let amount = set("commitment.1.5 GB/s.bandwidth_at_least=2GB/s").asked;
    assert_eq!(amount, plan::Amount::BytesPerSecond(2e9).into());
    let amount = set("commitment.*.iops_at_least=1000").asked;
    assert_eq!(
        amount,
        plan::Amount::OperationsPerSecond(1000.0).into(),
        "one amount takes the place of the other"
    );
    let claim = Override::parse("claim.c.factor=2").unwrap_err();
    assert!(claim.message.contains("fixed before the run"), "{claim}");
}

/// What can never be shown is not promised.
#[test]
fn a_confidence_bound_has_its_repetitions() {
    let with = |repetitions: u32| {
        let text = RIGHT.replacen("repetitions = 3", &format!("repetitions = {repetitions}"), 1);
        let promise = "name = \"c\"\nstatistic = \"confidence-bound\"\nbandwidth_at_least = \"1GB/s\"";
        format!("{text}\n[[commitment]]\n{promise}\n")
    };
    assert!(study(&with(5)).is_ok(), "0.5 to the power of 5 is 3.1 %");
    let errors = study(&with(4)).unwrap_err();
    assert_eq!(
        errors.errors()[0].message(),
        "a confidence bound needs at least 5 repetitions; this study has 4"
    );
    assert!(miniature(&with(5)).is_ok(), "a study in miniature keeps its terms");
    // The best of several keeps a promise by chance more often.
    let best = |repetitions| {
        format!("{}over = \"best\"\n", with(repetitions)).replacen("tasks = 4", "tasks = [1, 2, 4]", 1)
    };
    let errors = study(&best(5)).unwrap_err();
    assert!(shown(&errors).contains("set `repetitions` to at least 6"), "{}", shown(&errors));
    assert!(study(&best(6)).is_ok());
}

fn miniature(text: &str) -> Result<Plan, StudyErrors> {
    with(text, &["protocol.repetitions=2"])
}

/// As of figures that somebody else has measured: there is a plan, and no study.
#[test]
fn terms_alone_are_about_the_figures_of_a_plan() {
    let plan = study(RIGHT).unwrap();
    let workload = plan.cases[0].group.clone();
    let promise = |more: &str| {
        let text = format!(
            "[study]\nexclusive = true\n\n[[commitment]]\nname = \"fast\"\nstatistic = \"worst\"\n\
             bandwidth_at_least = \"1GB/s\"\n{more}"
        );
        read_criteria("terms.toml".as_ref(), &text, &plan)
    };
    let terms = promise(&format!("workload = \"{workload}\"\n")).unwrap();
    assert_eq!((terms.commitments[0].name.as_str(), terms.exclusive), ("fast", Some(true)));
    assert_eq!(terms.targets, plan.criteria.targets);
    let wrong = |more: &str| shown(&promise(more).unwrap_err());
    assert!(wrong("workload = \"other\"\n").contains(&format!("the workloads are {workload}")));
    assert!(wrong("target = \"other\"\n").contains("there is no target `other`"));
    assert!(wrong("phase = \"exchange\"\n").contains("selects no figure"));
    assert!(wrong("at = { tasks = 9 }\n").contains("`tasks` is not swept"));
}

#[test]
fn terms_know_the_points_of_a_plan() {
    let swept = format!(
        "{}\n[[workload]]\nname = \"many\"\ntransfer = [\"4KiB\", \"1MiB\"]\nsize = \"1MiB\"\n",
        RIGHT
    );
    let plan = study(&swept).unwrap();
    let promise = |at: &str| {
        let text = format!(
            "[[commitment]]\nname = \"fast\"\nstatistic = \"worst\"\niops_at_least = 5\nworkload = \"many\"\n\
             at = {{ transfer = \"{at}\" }}\n"
        );
        read_criteria("terms.toml".as_ref(), &text, &plan)
    };
    assert_eq!(promise("1MiB").unwrap().commitments[0].figures.at.len(), 1);
    let wrong = shown(&promise("2MiB").unwrap_err());
    assert!(wrong.contains("it is swept over 4 KiB, 1 MiB"), "{wrong}");
}

#[test]
fn servers_are_asked_by_the_commands_of_their_target() {
    let keys = "fs_block = \"1MiB\"\nserver_collect = [\"cat /tmp/counters\"]\nserver_time_limit = \"5s\"\n";
    let text = format!(
        "[[target]]\nname = \"far\"\npath = \"/x\"\n{keys}[[workload]]\nname = \"w\"\ntransfer = \"4KiB\"\nsize = \"1MiB\"\n"
    );
    let far = study(&text).unwrap().criteria.targets.remove(0);
    assert_eq!(far.server_collect, ["cat /tmp/counters"]);
    assert_eq!(far.server_time_limit, Some(Nanos(5_000_000_000)));
}
