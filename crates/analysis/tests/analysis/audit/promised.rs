//! Doubts about figures that are good enough to be shown, but not to be promised.

use analysis::{
    audit::{AuditIssue, Check},
    comparisons::Verdict,
    figures::figures,
    findings::Findings,
    gate::Judgement,
};
use plan::{
    Amount, Bytes, Commitment, Nanos, Over, Phase, PlanSource, RateName, Selector, TargetDescription, Terms,
};
use record::{Cluster, HostFacts, NodeFacts, TaskRow};

use crate::common::rows::{self, SECOND, at_least};
use crate::common::studies::{Study, count, target};

const GB: f64 = 1e9;

/// A read of 2 GB/s by two tasks, and how much of it is promised.
fn study(promised: f64, change: impl FnOnce(&mut TargetDescription)) -> Study {
    let mut study = Study::new(vec![target("disk", change)]);
    study.add("w", "disk", &[count("tasks", 2)], Phase::Read, &[2.0 * GB; 5]);
    study.plan.criteria.commitments.push(at_least(Amount::BytesPerSecond(promised)));
    study
}

fn verdict(found: &Findings) -> Verdict {
    found.verdicts[0].says().expect("a verdict").clone()
}

fn doubt(found: &Findings, check: Check) -> Option<&AuditIssue> {
    found.audit.iter().find(|one| one.check == check)
}

#[test]
fn promised_reads_need_the_caches_behind_the_devices() {
    let unstated = study(GB, |_| {}).findings();
    assert_eq!(verdict(&unstated).judgement, Judgement::CannotTell);
    let why = verdict(&unstated).because.join("; ");
    assert!(why.contains("write caches = \"64MiB\" in [[target]] name = \"disk\""), "{why}");
    let stated = |change: fn(&mut TargetDescription)| verdict(&study(GB, change).findings()).judgement;
    assert_eq!(stated(|target| target.caches = Some(Bytes(0))), Judgement::Holds);
    assert_eq!(stated(|target| target.server_memory = Some(Bytes(1))), Judgement::Holds);
    assert_eq!(
        stated(|target| target.caches = Some(Bytes::gib(64))),
        Judgement::CannotTell,
        "larger than the data"
    );
    let both = |target: &mut TargetDescription| {
        (target.caches, target.server_memory) = (Some(Bytes::gib(64)), Some(Bytes(1)));
    };
    assert_eq!(stated(both), Judgement::CannotTell);
    // A cache makes no figure worse.
    assert_eq!(verdict(&study(3.0 * GB, |_| {}).findings()).judgement, Judgement::DoesNotHold);
}

#[test]
fn without_a_promise_nobody_is_asked_for_caches() {
    let mut quiet = study(GB, |_| {});
    quiet.plan.criteria.commitments.clear();
    assert!(doubt(&quiet.findings(), Check::UnstatedCaches).is_none());
    quiet.plan.criteria.commitments.push(Commitment {
        figures: Selector { phase: Some(Phase::Write), ..Selector::default() },
        ..at_least(Amount::BytesPerSecond(GB))
    });
    assert!(doubt(&quiet.findings(), Check::UnstatedCaches).is_none(), "only writes are promised");
}

#[test]
fn a_lowered_minimum_keeps_no_promise_by_phases_that_a_burst_may_fill() {
    let caches = |target: &mut TargetDescription| target.caches = Some(Bytes(0));
    let lasting = |promised: f64, seconds: f64| {
        let mut short = study(promised, caches);
        short.plan.cases[0].protocol.phase_min = Nanos::millis(10);
        for phase in &mut short.phases {
            let share = seconds / (phase.wall_ns as f64 / SECOND as f64);
            for bytes in [&mut phase.read_bytes, &mut phase.reads] {
                *bytes = plan_share(*bytes, share);
            }
            phase.device_read_bytes = Some(phase.read_bytes);
            (phase.wall_ns, phase.io_ns) = (plan_share(phase.wall_ns, share), plan_share(phase.io_ns, share));
        }
        short.findings()
    };
    let short = lasting(GB, 0.5);
    assert_eq!(verdict(&short).judgement, Judgement::CannotTell);
    let said = doubt(&short, Check::ShortForPromise).expect("it is said");
    assert!(said.evidence.contains("`phase_min` is 10 ms, but a promise needs 2"), "{}", said.evidence);
    assert!(short.audit.iter().all(|one| one.check != Check::TooShort), "the study may state it");
    assert_eq!(verdict(&lasting(GB, 2.5)).judgement, Judgement::Holds);
    assert_eq!(verdict(&lasting(9.0 * GB, 0.5)).judgement, Judgement::DoesNotHold);
}

fn plan_share(value: u64, share: f64) -> u64 {
    format!("{:.0}", value as f64 * share).parse().expect("a whole number")
}

#[test]
fn another_number_of_nodes_neither_keeps_nor_breaks_a_promise() {
    let on = |nodes: &[u32], promised: f64| {
        let mut study = study(promised, |target| target.caches = Some(Bytes(0)));
        study.plan.criteria.commitments[0].terms = Terms { nodes: nodes.to_vec(), ..Terms::default() };
        verdict(&study.findings())
    };
    assert_eq!(on(&[], GB).judgement, Judgement::Holds);
    assert_eq!(on(&[1, 16], GB).judgement, Judgement::Holds);
    for promised in [GB, 9.0 * GB] {
        let other = on(&[16], promised);
        assert_eq!(other.judgement, Judgement::CannotTell);
        assert_eq!(other.because, ["it is about 16 nodes, and this is a figure of 1 node"]);
    }
}

#[test]
fn containers_of_one_machine_keep_no_promise_of_several_nodes() {
    let on = |kernels: [Option<&str>; 4], promised: f64| {
        let names = ["n0", "n1", "n2", "elsewhere"];
        let study = study(promised, |target| target.caches = Some(Bytes(0)));
        let tasks: Vec<TaskRow> = study
            .phases
            .iter()
            .flat_map(|phase| {
                let task = |(task, node): (u32, &&str)| TaskRow {
                    node: (*node).into(),
                    ..rows::task(&phase.key, task, phase.read_bytes / 3, (0, phase.io_ns))
                };
                (0..).zip(&names[..3]).map(task).collect::<Vec<_>>()
            })
            .collect();
        let mut run = rows::run_of(&study.plan, &study.phases, &tasks, &[]);
        let host = run.manifest.host.clone();
        let node = |(name, kernel): (&str, Option<&str>)| NodeFacts {
            host: HostFacts { node: name.to_owned(), ..host.clone() },
            ranks: vec![0],
            clock_offset_ns: 0,
            clock_error_ns: 0,
            clock_drift_ns: None,
            boot_id: kernel.map(str::to_owned),
        };
        let nodes = names.into_iter().zip(kernels).map(node).collect();
        run.manifest.cluster = Some(Cluster { library: String::new(), nodes });
        verdict(&analysis::findings::findings(&run, &figures(&run, RateName::ByWall)))
    };
    let of_records_before = on([None; 4], GB);
    assert_eq!(of_records_before.judgement, Judgement::Holds, "{:?}", of_records_before.because);
    // The fourth node is not that of the figure.
    assert_eq!(on([Some("a"), Some("b"), Some("c"), Some("a")], GB).judgement, Judgement::Holds);
    let shared = on([Some("a"), Some("b"), Some("a"), Some("d")], GB);
    assert_eq!(shared.judgement, Judgement::CannotTell);
    let why = shared.because.join("; ");
    assert!(why.contains("its 3 nodes have 2 kernels: n0, n2 are containers of one machine"), "{why}");
    assert_eq!(on([Some("a"); 4], 9.0 * GB).judgement, Judgement::DoesNotHold);
}

#[test]
fn a_promise_of_every_point_is_not_kept_where_an_override_has_left_some_out() {
    let without = |taken_away: usize, over: Over, promised: f64| {
        let mut study = study(promised, |target| target.caches = Some(Bytes(0)));
        study.plan.criteria.commitments[0].terms = Terms { taken_away, ..Terms::default() };
        study.plan.criteria.commitments[0].over = over;
        verdict(&study.findings())
    };
    assert_eq!(without(0, Over::Every, GB).judgement, Judgement::Holds);
    let fewer = without(3, Over::Every, GB);
    assert_eq!(fewer.judgement, Judgement::CannotTell);
    assert_eq!(fewer.because, ["--set has taken away 3 of the figures that the study file promises"]);
    assert_eq!(without(3, Over::Every, 9.0 * GB).judgement, Judgement::DoesNotHold);
    assert_eq!(without(3, Over::Best, GB).judgement, Judgement::Holds);
}

#[test]
fn a_verdict_names_what_was_set_of_its_own_figures() {
    let mut study = study(GB, |_| {});
    study.plan.criteria.commitments[0].figures.workload = Some("w".to_owned());
    let overrides =
        ["protocol.phase_min=10ms", "workload.w.size=1MiB", "workload.other.size=1MiB", "target.*.caches=0"];
    let (path, text) = ("s.toml".into(), String::new());
    study.plan.source =
        PlanSource::Study { path, text, overrides: overrides.iter().map(ToString::to_string).collect() };
    let own = ["protocol.phase_min=10ms", "workload.w.size=1MiB", "target.*.caches=0"];
    assert_eq!(verdict(&study.findings()).overrides, own);
}
