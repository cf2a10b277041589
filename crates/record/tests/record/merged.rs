//! Several runs as one.

use plan::Phase;
use record::{Manifest, PhaseRecord, RecordError, Run, RunState, Warning, merge, write_merged};

use crate::sample;

/// A run of the case `seq` with these passes, on the host `node`.
fn run(run_id: &str, node: &str, passes: u32, change: impl FnOnce(&mut Manifest)) -> Run {
    let mut manifest = sample::manifest();
    manifest.run_id = run_id.to_owned();
    manifest.host.node = node.to_owned();
    manifest.plan.cases.truncate(1);
    manifest.plan.cases[0].repetitions = passes;
    change(&mut manifest);
    let id = manifest.plan.cases[0].id.clone();
    let records: Vec<PhaseRecord> = (0..passes)
        .flat_map(|pass| [Phase::Write, Phase::Read].map(|p| sample::phase(&id, pass, p, 2)))
        .collect();
    Run::in_memory(manifest, records)
}

fn passes(run: &Run, case: &str) -> Vec<u32> {
    let of_case = run.phases.iter().filter(|row| row.key.case == case && row.key.phase == Phase::Read);
    of_case.map(|row| row.key.repetition).collect()
}

#[test]
fn passes_of_the_same_case_follow_one_another() {
    let whole = merge(vec![run("a", "n1", 2, |_| ()), run("b", "n1", 3, |_| ())]).expect("merged");
    assert_eq!(passes(&whole, "seq"), [0, 1, 2, 3, 4]);
    assert_eq!(whole.manifest.plan.cases[0].repetitions, 5);
    assert_eq!(whole.tasks("seq").len(), 5 * 2 * 2);
    assert_eq!(whole.latency("seq").iter().filter(|row| row.key.repetition == 4).count(), 2 * 200);
    assert_eq!(whole.finished_cases, ["seq"]);
    let parts: Vec<_> = whole.parts.iter().map(|part| (part.run_id.as_str(), part.cases.len())).collect();
    assert_eq!(parts, [("a", 1), ("b", 1)]);
    let hosts =
        |run: &Run| run.warnings.iter().any(|row| matches!(row.warning, Warning::SeveralHosts { .. }));
    assert!(!hosts(&whole), "it was one host");
    let two = merge(vec![run("a", "n1", 2, |_| ()), run("b", "n2", 2, |_| ())]).expect("merged");
    assert!(hosts(&two), "{:?}", two.warnings);
}

#[test]
fn different_cases_stand_side_by_side() {
    let other = run("b", "n2", 1, |manifest| manifest.plan.cases[0].id = "other".to_owned());
    let whole = merge(vec![run("a", "n1", 2, |_| ()), other]).expect("merged");
    let ids: Vec<_> = whole.manifest.plan.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids, ["seq", "other"]);
    assert_eq!((passes(&whole, "seq"), passes(&whole, "other")), (vec![0, 1], vec![0]));
    let hosts = whole.warnings.iter().any(|row| matches!(row.warning, Warning::SeveralHosts { .. }));
    assert!(!hosts, "no case is of two hosts");
}

#[test]
fn rounds_keep_their_roles_and_only_the_first_warm_up_is_kept() {
    let with_rounds = |manifest: &mut Manifest| {
        let case = &mut manifest.plan.cases[0];
        (case.protocol.warm_up, case.protocol.rounds, case.repetitions) = (1, 2, 1);
    };
    // Passes 0 to 2 each: the warm-up, an earlier round, the recorded one.
    let whole = merge(vec![run("a", "n", 3, with_rounds), run("b", "n", 3, with_rounds)]).expect("merged");
    assert_eq!(passes(&whole, "seq"), [0, 1, 2, 3, 4]);
    let case = &whole.manifest.plan.cases[0];
    assert_eq!(case.role(4), plan::Role::Recorded);
    assert_eq!(case.passes_max(), 5);
}

#[test]
fn a_case_that_asks_for_something_else_is_refused_by_name() {
    let other = run("b", "n1", 2, |manifest| {
        let case = &mut manifest.plan.cases[0];
        let mut spec = plan::WorkloadSpec::from(case.workload.clone());
        spec.tasks = 4;
        case.workload = spec.validate().expect("valid");
    });
    let error = merge(vec![run("a", "n1", 2, |_| ()), other]).map(|_| ()).expect_err("refused");
    assert!(matches!(error, RecordError::CannotMerge { .. }), "{error}");
    assert!(error.to_string().contains("`seq`") && error.to_string().contains("run b"), "{error}");
    let twice = merge(vec![run("a", "n1", 2, |_| ()), run("a", "n1", 2, |_| ())]).map(|_| ());
    assert!(twice.expect_err("refused").to_string().contains("named twice"));
    assert!(merge(Vec::new()).is_err());
}

#[test]
fn a_merged_run_is_stored_and_opens_like_any_other() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().join("merged");
    let whole = merge(vec![run("a", "n1", 2, |_| ()), run("b", "n2", 2, |_| ())]).expect("merged");
    write_merged(&whole, &directory).expect("written");
    let read = Run::open(&directory).expect("readable");
    assert_eq!(read.damage, []);
    assert_eq!((&read.phases, &read.parts, &read.state), (&whole.phases, &whole.parts, &RunState::Complete));
    assert_eq!(read.manifest, whole.manifest);
    assert_eq!(*read.tasks("seq"), *whole.tasks("seq"));
    assert_eq!(*read.latency("seq"), *whole.latency("seq"));
    assert_eq!(read.warnings.len(), whole.warnings.len());
    let again = write_merged(&whole, &directory).expect_err("it is there");
    assert!(matches!(again, RecordError::NotEmpty { .. }), "{again}");
}

#[test]
fn a_merged_run_and_one_of_its_parts_are_refused() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().join("merged");
    let part = |id: &str| run(id, "n1", 2, |_| ());
    write_merged(&merge(vec![part("a"), part("b")]).expect("merged"), &directory).expect("written");
    let ab = || Run::open(&directory).expect("readable");
    let refused = |runs: Vec<Run>| merge(runs).map(|_| ()).expect_err("refused").to_string();
    for runs in [vec![ab(), part("a")], vec![part("b"), ab()]] {
        let error = refused(runs);
        assert!(error.contains("is part of run a+b") && error.contains("count twice"), "{error}");
    }
    let overlap = merge(vec![part("b"), part("c")]).expect("merged");
    let error = refused(vec![ab(), overlap]);
    assert!(error.contains("run b is part of run b+c"), "{error}");
    merge(vec![ab(), part("c")]).expect("nothing comes twice");
}

#[test]
fn terms_of_one_name_that_differ_are_named() {
    let with = |gigabytes: f64| {
        move |manifest: &mut Manifest| {
            let amount = plan::Amount::BytesPerSecond(gigabytes * 1e9);
            manifest.plan.terms.commitments.push(plan::Commitment {
                name: "fast".to_owned(),
                by: String::new(),
                figures: plan::Selector::default(),
                rate: plan::RateName::ByWall,
                statistic: plan::Statistic::Median,
                bound: plan::Bound::AtLeast,
                amount,
                over: plan::Over::Every,
            });
        }
    };
    let differ = |run: Run| -> Vec<Warning> {
        let of_run = run.warnings.into_iter().filter(|row| row.key.is_none()).map(|row| row.warning);
        of_run.filter(|warning| matches!(warning, Warning::DifferentTerms { .. })).collect()
    };
    let same = merge(vec![run("a", "n", 1, with(1.0)), run("b", "n", 1, with(1.0))]).expect("merged");
    assert_eq!(differ(same), []);
    let other = merge(vec![run("a", "n", 1, with(1.0)), run("b", "n", 1, with(5.0))]).expect("merged");
    assert_eq!(other.manifest.plan.terms.commitments.len(), 1, "the first decides");
    let names = vec!["commitment `fast`".to_owned()];
    assert_eq!(differ(other), [Warning::DifferentTerms { names, run: "b".to_owned() }]);
}

#[test]
fn different_questions_are_told() {
    let asks = |text: &str, said: &str| {
        let question = plan::Question::Study {
            path: "study.toml".into(),
            text: text.to_owned(),
            overrides: vec![said.to_owned()],
        };
        move |manifest: &mut Manifest| manifest.plan.question = question
    };
    let told = |one, other| {
        let whole = merge(vec![run("a", "n", 1, one), run("b", "n", 1, other)]).expect("merged");
        let of_questions = |row: &&record::WarningRow| {
            row.key.is_none() && matches!(row.warning, Warning::DifferentQuestions { .. })
        };
        whole.warnings.iter().filter(of_questions).count()
    };
    let (here, there) = ("target.disk.directory=/a", "target.disk.directory=/b");
    assert_eq!(told(asks("x", here), asks("x", there)), 0, "only the place differs");
    assert_eq!(told(asks("x", here), asks("y", here)), 1);
    assert_eq!(told(asks("x", here), asks("x", "workload.w.tasks=4")), 1);
}
