//! Merging several runs into one.

use plan::Phase;
use record::{Manifest, PhaseRecord, RecordError, Run, RunState, Warning, merge, write_merged};

use crate::sample;

/// A run of the case `seq` with this many passes, on the single host `node`.
fn run(run_id: &str, node: &str, passes: u32, change: impl FnOnce(&mut Manifest)) -> Run {
    let mut manifest = sample::manifest();
    manifest.run_id = run_id.to_owned();
    manifest.host.node = node.to_owned();
    manifest.cluster = None;
    manifest.plan.cases.truncate(1);
    manifest.plan.cases[0].repetitions = passes;
    change(&mut manifest);
    let id = manifest.plan.cases[0].id.clone();
    let mut records: Vec<PhaseRecord> = (0..passes)
        .flat_map(|pass| [Phase::Write, Phase::Read].map(|p| sample::phase(&id, pass, p, 2)))
        .collect();
    for record in records.iter_mut().filter(|_| manifest.cluster.is_none()) {
        record.tasks.iter_mut().for_each(|task| task.node = node.into());
    }
    Run::in_memory(manifest, records)
}

/// Whether a result is marked as coming from several hosts.
fn hosts(run: &Run) -> bool {
    run.warnings.iter().any(|row| matches!(row.warning, Warning::SeveralHosts { .. }))
}

fn passes(run: &Run, case: &str) -> Vec<u32> {
    let of_case = run.all_phases().filter(|row| row.key.case == case && row.key.phase == Phase::Read);
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
    assert!(!hosts(&whole), "it was one host");
    let two = merge(vec![run("a", "n1", 2, |_| ()), run("b", "n2", 2, |_| ())]).expect("merged");
    assert!(hosts(&two), "{:?}", two.warnings);
}

/// A cross-check with this release of fio, with the given number of passes for each tool.
fn cross_check(run_id: &str, release: &str, own: u32, theirs: u32) -> Run {
    let mut manifest = sample::manifest();
    manifest.run_id = run_id.to_owned();
    manifest.plan.cases.truncate(1);
    let other = plan::Case { id: "seq-fio".to_owned(), ..manifest.plan.cases[0].clone() };
    manifest.plan.cases.push(other);
    manifest.plan.source = plan::PlanSource::CrossCheck {
        directory: "/data".into(),
        tool: release.to_owned(),
        program: "/usr/bin/fio".into(),
        rivals: vec![plan::Rival {
            own: "seq".to_owned(),
            case: "seq-fio".to_owned(),
            command_line: vec!["fio".to_owned()],
        }],
    };
    let of = |id, count| (0..count).map(move |pass| sample::phase(id, pass, Phase::Read, 2));
    Run::in_memory(manifest, of("seq", own).chain(of("seq-fio", theirs)).collect())
}

#[test]
fn pairs_of_two_tools_stay_pairs_after_an_interrupted_one() {
    let runs = [(3, 2), (2, 3), (2, 2)].iter().zip(["a", "b", "c"]);
    let runs = runs.map(|(&(own, theirs), id)| cross_check(id, "fio 3.33", own, theirs)).collect();
    let whole = merge(runs).expect("merged");
    assert_eq!(passes(&whole, "seq"), [0, 1, 2, 3, 4, 6, 7]);
    assert_eq!(passes(&whole, "seq-fio"), [0, 1, 3, 4, 5, 6, 7]);
}

#[test]
fn two_releases_of_the_other_tool_are_two_questions() {
    let differ = |release| {
        let whole = merge(vec![cross_check("a", "fio 3.33", 1, 1), cross_check("b", release, 1, 1)]);
        let warnings = whole.expect("merged").warnings;
        warnings.iter().any(|row| matches!(row.warning, Warning::DifferentQuestions { .. }))
    };
    assert!(!differ("fio 3.33"));
    assert!(differ("fio 3.36"));
}

/// A run of a set of cases that run at the same time.
fn set(run_id: &str, members: &[&str]) -> Run {
    let mut manifest = sample::manifest();
    manifest.run_id = run_id.to_owned();
    let first = manifest.plan.cases[0].clone();
    let member = |name: &&str| plan::Case {
        id: format!("night:{name}"),
        concurrent: Some(plan::Concurrent {
            name: "night".to_owned(),
            alone: (*name).to_owned(),
            start: plan::Nanos(0),
        }),
        ..first.clone()
    };
    manifest.plan.cases = members.iter().map(member).collect();
    let ids = manifest.plan.cases.iter().map(|case| case.id.clone());
    let records = ids.flat_map(|id| (0..2).map(move |pass| sample::phase(&id, pass, Phase::Read, 2)));
    let records = records.collect();
    Run::in_memory(manifest, records)
}

#[test]
fn passes_beside_other_cases_are_not_joined() {
    let whole = merge(vec![set("a", &["users", "backup"]), set("b", &["users", "backup"])]).expect("merged");
    assert_eq!(passes(&whole, "night:users"), [0, 1, 2, 3]);
    for other in [&["users", "backup", "scan"][..], &["users", "scan"]] {
        let said =
            merge(vec![set("a", &["users", "backup"]), set("b", other)]).expect_err("refused").to_string();
        assert!(said.contains("night:scan, night:users at the same time in run b"), "{said}");
        assert!(said.contains("night:backup, night:users in a run named before it"), "{said}");
    }
}

#[test]
fn different_cases_stand_side_by_side() {
    let other = run("b", "n2", 1, |manifest| manifest.plan.cases[0].id = "other".to_owned());
    let whole = merge(vec![run("a", "n1", 2, |_| ()), other]).expect("merged");
    let ids: Vec<_> = whole.manifest.plan.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids, ["seq", "other"]);
    assert_eq!((passes(&whole, "seq"), passes(&whole, "other")), (vec![0, 1], vec![0]));
    assert!(!hosts(&whole), "no case is of two hosts");
}

#[test]
fn jobs_of_one_node_each_are_a_comparison_of_nodes() {
    let merged = |nodes: &[(&str, u32)]| {
        let job = |(number, (node, passes)): (usize, &(&str, u32))| {
            run(&format!("job{number}"), node, *passes, |_| ())
        };
        merge(nodes.iter().enumerate().map(job).collect()).expect("merged")
    };
    assert!(!hosts(&merged(&[("n1", 2), ("n2", 2), ("n3", 2)])));
    assert!(!hosts(&merged(&[("n1", 2), ("n2", 4), ("n3", 4), ("n1", 2)])), "in two jobs");
    assert!(hosts(&merged(&[("n1", 2), ("n2", 2)])), "none of two is the odd one");
    assert!(hosts(&merged(&[("n1", 2), ("n2", 2), ("n3", 3)])), "one node counts more than the others");
}

#[test]
fn jobs_of_several_nodes_are_of_the_same_hosts_where_their_nodes_are_the_same() {
    let on = |second: &'static str| {
        move |manifest: &mut Manifest| {
            let mut cluster = sample::cluster(None);
            second.clone_into(&mut cluster.nodes[1].host.node);
            manifest.cluster = Some(cluster);
            let case = &mut manifest.plan.cases[0];
            let mut spec = plan::WorkloadSpec::from(case.workload.clone());
            (spec.tasks, spec.nodes) = (2, 2);
            case.workload = spec.validate().expect("valid");
        }
    };
    let (one, two) = (run("a", "node1", 1, on("node2")), run("b", "node1", 1, on("node2")));
    assert!(!hosts(&merge(vec![one, two]).expect("merged")));
    let (one, two) = (run("a", "node1", 1, on("node2")), run("b", "node1", 1, on("node3")));
    let whole = merge(vec![one, two]).expect("merged");
    let nodes = vec!["node1".to_owned(), "node2".to_owned(), "node3".to_owned()];
    assert!(whole.warnings.iter().any(|row| row.warning == Warning::SeveralHosts { nodes: nodes.clone() }));
    assert_eq!(whole.parts[1].cluster.as_ref().map(|cluster| cluster.nodes.len()), Some(2));
}

/// Also holds for a merge of merges, and after it was stored.
#[test]
fn each_pass_says_which_run_it_is_of_when_it_began_and_on_which_nodes() {
    let with_warm_up = |manifest: &mut Manifest| manifest.plan.cases[0].protocol.warm_up = 1;
    let job = |id: &str, node: &str, passes: u32| run(id, node, passes, with_warm_up);
    let first = merge(vec![job("a", "n1", 2), job("b", "n2", 3)]).expect("merged");
    let second = merge(vec![job("c", "n3", 2), job("d", "n4", 2)]).expect("merged");
    let whole = merge(vec![first, second]).expect("merged");
    let place = tempfile::tempdir().expect("a directory");
    write_merged(&whole, &[], &place.path().join("merged")).expect("written");
    let read = Run::open(&place.path().join("merged")).expect("readable");
    let passes = read.passes();
    assert_eq!(passes, whole.passes());
    let said: Vec<_> = passes
        .iter()
        .map(|pass| (pass.repetition, &read.parts[pass.part.expect("said")].run_id[..], &pass.nodes[0][..]))
        .collect();
    // Only the warm-up of the first job is kept.
    let (a, b) = (("a", "n1"), ("b", "n2"));
    let expected = [a, a, b, b, ("c", "n3"), ("d", "n4")];
    let numbered: Vec<_> = (0..).zip(expected).map(|(pass, (run, node))| (pass, run, node)).collect();
    assert_eq!(said, numbered);
    let started = |pass: u32| passes.iter().find(|of| of.repetition == pass).map(|of| of.started_unix_ns);
    let row = |pass| read.all_phases().find(|row| row.key.repetition == pass).map(|row| row.started_unix_ns);
    assert_eq!(started(3), row(3));
    let alone = job("e", "n5", 2).passes();
    assert!(alone.iter().all(|pass| pass.part.is_none() && *pass.nodes == ["n5".to_owned()]), "{alone:?}");
}

#[test]
fn storage_is_exclusive_only_where_all_runs_say_so() {
    let says = |exclusive| move |manifest: &mut Manifest| manifest.plan.criteria.exclusive = exclusive;
    let of = |one, other| {
        let whole = merge(vec![run("a", "n", 1, says(one)), run("b", "n", 1, says(other))]).expect("merged");
        assert_eq!([whole.parts[0].exclusive, whole.parts[1].exclusive], [one, other]);
        whole.manifest.plan.criteria.exclusive
    };
    let (yes, no) = (Some(true), Some(false));
    assert_eq!((of(yes, yes), of(yes, no), of(no, None), of(yes, None)), (yes, no, no, None));
}

#[test]
fn rounds_keep_their_roles_and_only_the_first_warm_up_is_kept() {
    let with_rounds = |manifest: &mut Manifest| {
        let case = &mut manifest.plan.cases[0];
        (case.protocol.warm_up, case.protocol.rounds, case.repetitions) = (1, 2, 1);
    };
    // Passes 0 to 2 in each run: the warm-up, an earlier round, the recorded one.
    let whole = merge(vec![run("a", "n", 3, with_rounds), run("b", "n", 3, with_rounds)]).expect("merged");
    assert_eq!(passes(&whole, "seq"), [0, 1, 2, 3, 4]);
    let case = &whole.manifest.plan.cases[0];
    assert_eq!(case.role(4), plan::PassRole::Recorded);
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
    write_merged(&whole, &[], &directory).expect("written");
    let read = Run::open(&directory).expect("readable");
    assert_eq!(read.damage, []);
    assert!(read.all_phases().eq(whole.all_phases()));
    assert_eq!((&read.parts, &read.state), (&whole.parts, &RunState::Complete));
    assert_eq!(read.manifest, whole.manifest);
    assert_eq!(*read.tasks("seq"), *whole.tasks("seq"));
    assert_eq!(*read.latency("seq"), *whole.latency("seq"));
    assert_eq!(read.warnings.len(), whole.warnings.len());
    let again = write_merged(&whole, &[], &directory).expect_err("it is there");
    assert!(matches!(again, RecordError::NotEmpty { .. }), "{again}");
}

#[test]
fn a_merged_run_and_one_of_its_parts_are_refused() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().join("merged");
    let part = |id: &str| run(id, "n1", 2, |_| ());
    write_merged(&merge(vec![part("a"), part("b")]).expect("merged"), &[], &directory).expect("written");
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
            manifest.plan.criteria.commitments.push(fast(gigabytes * 1e9));
        }
    };
    let differ = |run: Run| -> Vec<Warning> {
        let of_run = run.warnings.into_iter().filter(|row| row.key.is_none()).map(|row| row.warning);
        of_run.filter(|warning| matches!(warning, Warning::DifferentTerms { .. })).collect()
    };
    let same = merge(vec![run("a", "n", 1, with(1.0)), run("b", "n", 1, with(1.0))]).expect("merged");
    assert_eq!(differ(same), []);
    let other = merge(vec![run("a", "n", 1, with(1.0)), run("b", "n", 1, with(5.0))]).expect("merged");
    assert_eq!(other.manifest.plan.criteria.commitments.len(), 1, "the first decides");
    let names = vec!["commitment `fast`".to_owned()];
    assert_eq!(differ(other), [Warning::DifferentTerms { names, run: "b".to_owned() }]);
}

/// A commitment for every figure, of a study.
fn promises(manifest: &mut Manifest) {
    manifest.plan.source =
        plan::PlanSource::Study { path: "s.toml".into(), text: "s".to_owned(), overrides: Vec::new() };
    manifest.plan.criteria.targets =
        vec![plan::TargetDescription { name: "disk".to_owned(), ..plan::TargetDescription::default() }];
    manifest.plan.cases[0].target = "disk".to_owned();
    manifest.plan.criteria.commitments = vec![fast(1e6)];
}

/// The commitment `fast`: every figure has at least this rate.
fn fast(bytes_per_second: f64) -> plan::Commitment {
    plan::Commitment {
        name: "fast".to_owned(),
        by: String::new(),
        figures: plan::Selector::default(),
        rate: plan::RateName::ByWall,
        statistic: plan::Statistic::Median,
        bound: plan::Bound::AtLeast,
        asked: plan::Amount::BytesPerSecond(bytes_per_second).into(),
        over: plan::Over::Every,
        terms: plan::Terms::default(),
    }
}

/// Merges a run with one that was changed, in both orders: what the commitment says to differ.
fn differing(change: impl Fn(&mut Manifest)) -> [Vec<String>; 2] {
    let changed = || {
        run("b", "n", 2, |manifest| {
            promises(manifest);
            change(manifest);
        })
    };
    let first = || run("a", "n", 2, promises);
    [vec![first(), changed()], vec![changed(), first()]].map(|runs| {
        let whole = merge(runs).expect("merged");
        whole.manifest.plan.criteria.commitments[0].terms.differing.clone()
    })
}

/// Changes a record.
type Change = fn(&mut Manifest);

#[test]
fn passes_of_other_terms_or_other_storage_do_not_count_for_a_commitment() {
    assert_eq!(differing(|_| ()), [const { Vec::<String>::new() }; 2]);
    let moved = |manifest: &mut Manifest| {
        let case = &mut manifest.plan.cases[0];
        let mut spec = plan::WorkloadSpec::from(case.workload.clone());
        spec.files.targets.iter_mut().for_each(|target| *target = "/elsewhere/file".into());
        case.workload = spec.validate().expect("valid");
    };
    let changes: [(&str, Change); 6] = [
        ("commitment `fast` (amount)", |manifest| {
            manifest.plan.criteria.commitments[0].asked = plan::Amount::BytesPerSecond(9e8).into();
        }),
        ("commitment `fast` (statistic)", |manifest| {
            manifest.plan.criteria.commitments[0].statistic = plan::Statistic::Best;
        }),
        ("only one of them has commitment `fast`", |manifest| {
            manifest.plan.criteria.commitments.clear();
        }),
        ("target `disk` (caches)", |manifest| {
            manifest.plan.criteria.targets[0].caches = Some(plan::Bytes(10 << 30));
        }),
        ("/elsewhere/file", moved),
        ("of other", |manifest| manifest.host.node = "other".to_owned()),
    ];
    for (said, change) in changes {
        for differing in differing(change) {
            assert!(differing.len() == 1 && differing[0].contains(said), "{said}: {differing:?}");
        }
    }
    // What was found is kept when the merged run is merged again.
    let both = || {
        merge(vec![
            run("a", "n", 1, promises),
            run("b", "n", 1, |manifest| {
                promises(manifest);
                moved(manifest);
            }),
        ])
        .expect("merged")
    };
    for runs in [vec![both(), run("c", "n", 1, promises)], vec![run("c", "n", 1, promises), both()]] {
        let again = merge(runs).expect("merged");
        assert!(!again.manifest.plan.criteria.commitments[0].terms.differing.is_empty());
    }
}

#[test]
fn parts_name_their_study_and_overrides() {
    let set = |override_: &'static str| {
        move |manifest: &mut Manifest| {
            promises(manifest);
            let overrides = vec![override_.to_owned()];
            manifest.plan.source =
                plan::PlanSource::Study { path: "s.toml".into(), text: "s".to_owned(), overrides };
        }
    };
    let whole = merge(vec![
        run("a", "n", 1, set("workload.x.size=1MiB")),
        run("b", "n", 1, set("workload.y.size=1MiB")),
    ])
    .expect("merged");
    let sets: Vec<_> =
        whole.parts.iter().filter_map(|part| Some(part.study.as_ref()?.overrides.clone())).collect();
    assert_eq!(sets, [["workload.x.size=1MiB"], ["workload.y.size=1MiB"]]);
    assert!(whole.parts.iter().all(|part| part.plan_sha256.len() == 64));
    let plan = &whole.manifest.plan;
    assert_eq!(plan::study::overrides_of(plan, &plan.criteria.commitments[0]).len(), 2, "those of each run");
}

#[test]
fn different_questions_are_told() {
    let asks = |text: &str, said: &str| {
        let question = plan::PlanSource::Study {
            path: "study.toml".into(),
            text: text.to_owned(),
            overrides: vec![said.to_owned()],
        };
        move |manifest: &mut Manifest| manifest.plan.source = question
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
