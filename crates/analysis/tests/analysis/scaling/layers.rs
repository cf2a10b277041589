//! The cost of layers, whether queues explain it, and the cost of targets relative to their performance.

use analysis::{
    findings::findings,
    gate::{Judgement, Kind, Stated, Value},
    scaling::Layer,
    targets::fits,
};
use plan::{Bytes, Claim, Phase, Quantity, Relation, Selector, Sharing, Side};
use record::{Fact, HostFacts, TargetDevices};

use crate::common::rows::run_of;
use crate::common::studies::{Study, count, said, target};
use crate::targets::devices_alone::host;

const MB: f64 = 1e6;

/// Five passes around `rate` in MB/s.
fn passes(rate: f64) -> [f64; 5] {
    [0.998, 0.999, 1.0, 1.001, 1.002].map(|scale| scale * rate * MB)
}

fn layered() -> Study {
    let on = |name: &str, below: &str| target(name, |target| target.above = Some(below.to_owned()));
    let mut study = Study::new(vec![target("disk", |_| {}), on("xfs", "disk"), on("nfs", "xfs")]);
    for (depth, scale) in [(1, 1.0), (8, 2.0)] {
        for (name, rate) in [("nfs", 60.0), ("disk", 100.0), ("xfs", 90.0)] {
            study.add("w", name, &[count("depth", depth)], Phase::Read, &passes(rate * scale));
        }
    }
    study
}

#[test]
fn every_layer_loses_against_the_one_below_it() {
    let study = layered();
    let stacks = study.findings().layers;
    let best: Vec<_> = stacks.iter().map(|stack| layer(&stack[0]).best).collect();
    assert_eq!(best, [true, false], "the fastest point comes first");
    let layers: Vec<_> = stacks[1].iter().map(|one| seen(layer(one))).collect();
    assert_eq!(layers, [("disk", None, 1.0), ("xfs", Some(100.0), 0.9), ("nfs", Some(333.0), 0.6)]);
    // One second of processor time per ten seconds, for 1 GB and for 0.9 GB.
    let cpu = |step: usize| layer(&stacks[1][step]).cpu_seconds_per_gb.expect("it was recorded");
    assert!((cpu(0) - 1.0).abs() < 1e-9 && (cpu(1) - 1.0 / 0.9).abs() < 1e-9);
}

fn layer(one: &Stated<Layer>) -> &Layer {
    one.says().expect("nothing speaks against it")
}

/// Its target, its loss in thousandths, and the remaining rate.
fn seen(one: &Layer) -> (&str, Option<f64>, f64) {
    (&one.target, one.loss.map(|loss| (loss * 1000.0).round()), one.share.unwrap_or(1.0))
}

#[test]
fn a_layer_loses_nothing_that_the_repetitions_do_not_show() {
    let on = target("xfs", |target| target.above = Some("disk".to_owned()));
    let mut study = Study::new(vec![target("disk", |_| {}), on]);
    study.add("w", "disk", &[], Phase::Read, &[90.0, 100.0, 110.0, 120.0, 95.0].map(|rate| rate * MB));
    study.add("w", "xfs", &[], Phase::Read, &[85.0, 100.0, 105.0, 118.0, 92.0].map(|rate| rate * MB));
    let found = study.findings();
    let xfs = layer(&found.layers[0][1]);
    assert_eq!((xfs.loss, xfs.share), (None, None), "{xfs:?}");
    assert!(!found.layers[0][1].reasons.is_empty(), "it says why");
}

#[test]
fn a_layer_that_was_not_measured_is_passed_over_and_one_layer_is_no_stack() {
    let mut study = layered();
    study.plan.cases.retain(|case| case.target != "xfs");
    let stacks = study.findings().layers;
    let layers: Vec<_> = stacks[0].iter().map(|one| seen(layer(one))).collect();
    assert_eq!(layers, [("disk", None, 1.0), ("nfs", Some(400.0), 0.6)]);
    study.plan.cases.retain(|case| case.target == "disk");
    assert_eq!(study.findings().layers, Vec::<Vec<_>>::new());
}

#[test]
fn layers_that_stand_on_each_other_in_a_record_do_no_harm() {
    let mut study = layered();
    study.plan.criteria.targets[0].above = Some("nfs".to_owned());
    assert_eq!(study.findings().layers, Vec::<Vec<_>>::new());
}

/// Two raw disks, and a volume over both that loses `loss` of their rate.
fn volume(loss: f64, queues: Option<u32>, top: &str) -> (Study, HostFacts) {
    let on = target("volume", |target| target.above = Some("disks".to_owned()));
    let mut study = Study::new(vec![target("disks", |_| {}), on]);
    study.add_of("w", "disks", &[], Phase::Read, &passes(100.0), |spec| {
        spec.tasks = 2;
        (spec.files.sharing, spec.files.targets) =
            (Sharing::PerTask, vec!["/dev/sda".into(), "/dev/sdb".into()]);
    });
    study.add_of("w", "volume", &[], Phase::Read, &passes(100.0 * (1.0 - loss)), |spec| {
        spec.tasks = 2;
        (spec.files.sharing, spec.files.targets) = (Sharing::PerTask, vec!["/mnt/data".into()]);
    });
    let mut host = host(&["A", "A"], 4);
    let mut device = host.devices[0].clone();
    device.name = "md0".to_owned();
    device.hardware_queues = queues.map_or(Fact::Unknown("no mq".to_owned()), Fact::Known);
    host.devices.push(device);
    let bottom = vec!["sda".to_owned(), "sdb".to_owned()];
    let top = if top.is_empty() { bottom.clone() } else { vec![top.to_owned()] };
    host.target_devices.push(TargetDevices { path: "/mnt/data".to_owned(), top, bottom });
    (study, host)
}

fn verdict(loss: f64, queues: Option<u32>, top: &str) -> (Judgement, String) {
    let (study, host) = volume(loss, queues, top);
    let mut run = run_of(&study.plan, &study.phases, &[], &[]);
    run.manifest.host = host;
    let found = findings(&run, &study.figures());
    let [stack] = found.layers.as_slice() else { panic!("{:?}", found.layers) };
    layer(&stack[1]).single_queue.clone().expect("a volume over two")
}

#[test]
fn a_single_queue_is_blamed_only_where_there_is_one_and_a_tax() {
    let (said, because) = verdict(0.1, Some(1), "md0");
    assert_eq!(said, Judgement::Holds);
    assert!(because.contains("md0 has 1 hardware queue, the devices in direct use have 8"), "{because}");
    assert!(because.contains("s of processor time for each GB"), "{because}");
    assert_eq!(verdict(0.1, Some(4), "md0").0, Judgement::DoesNotHold);
    let (said, because) = verdict(0.1, None, "md0");
    assert_eq!(said, Judgement::DoesNotHold);
    assert!(because.contains("no queue of its own"), "{because}");
    assert_eq!(verdict(0.1, None, "").0, Judgement::DoesNotHold);
    for (loss, why) in [(0.0, "no loss was shown"), (-0.2, "the volume is faster")] {
        let (said, because) = verdict(loss, Some(1), "md0");
        assert_eq!((said, because.as_str()), (Judgement::CannotTell, why));
    }
}

/// A report that says it judges the claim, although no rule of the study tests it.
#[test]
fn claims_that_other_statements_judge_are_judged() {
    let judged = |queues: Option<u32>, tasks: &[u64]| {
        let (mut study, host) = volume(0.1, queues, "md0");
        for &tasks in tasks {
            study.add("sweep", "disks", &[count("tasks", tasks)], Phase::Read, &passes(100.0 * tasks as f64));
        }
        let on = |target: &str| Selector { target: Some(target.to_owned()), ..Selector::default() };
        study.plan.criteria.claims = vec![Claim {
            id: "a-claim-tax".to_owned(),
            text: String::new(),
            quantity: Quantity::BestRate,
            left: on("volume"),
            relation: Relation::Less,
            right: Side::Measured(on("disks")),
            factor: 1.0,
            tolerance: 0.0,
        }];
        let mut run = run_of(&study.plan, &study.phases, &[], &[]);
        run.manifest.host = host;
        let found = findings(&run, &study.figures());
        ["a-claim-queue", "a-claim-caveat", "a-claim-xvm"].map(|id| {
            let claims = found.claims.iter().filter_map(Stated::says);
            let claim = claims.into_iter().find(|one| one.id == id).expect("a claim of the study");
            (claim.judgement, claim.evidence.join("; "))
        })
    };
    let [queue, caveat, xvm] = judged(Some(1), &[1, 2]);
    assert_eq!((queue.0, caveat.0, xvm.0), (Judgement::Holds, Judgement::Holds, Judgement::NotTested));
    assert!(queue.1.starts_with("volume, read: md0 has 1 hardware queue"), "{}", queue.1);
    assert!(caveat.1.starts_with("the best point says: a peak holds"), "{}", caveat.1);
    let [queue, caveat, _] = judged(Some(4), &[]);
    assert_eq!((queue.0, caveat.0), (Judgement::DoesNotHold, Judgement::NotTested));
    assert_eq!(caveat.1, "no best point is stated");
}

/// Study C: five cards against 192 disks.
fn cards_and_disks() -> Study {
    let mut study = Study::new(vec![
        target("cards", |target| {
            (target.devices, target.rack_units, target.slots) = (5, 8.0, 11);
            (target.capacity, target.needs) = (Some(Bytes::gib(10)), Some(Bytes::gib(12)));
        }),
        target("disks", |target| (target.devices, target.rack_units, target.ports) = (192, 84.0, 16)),
    ]);
    for (name, read, write) in [("cards", 1250.0, 500.0), ("disks", 1000.0, 1000.0)] {
        for (phase, rate) in [(Phase::Read, read), (Phase::Write, write)] {
            study.add_of("w", name, &[], phase, &[rate * MB], |spec| {
                spec.geometry.transfer = Bytes::mib(1);
            });
        }
    }
    study
}

#[test]
fn cost_is_time_by_devices_and_by_rack_units() {
    let study = cards_and_disks();
    let found = study.findings().costs;
    let seen: Vec<_> = said(&found)
        .iter()
        .map(|(_, one)| {
            (one.devices, one.seconds * f64::from(one.devices), one.seconds_per_tb * one.rack_units)
        })
        .collect();
    assert_eq!(
        seen,
        [(5, 50.0, 6400.0), (5, 50.0, 16_000.0), (192, 1920.0, 84_000.0), (192, 1920.0, 84_000.0),]
    );
    let table = study.findings().tables().into_iter().find(|one| one.kind == Kind::Cost).expect("costs");
    let ports = table.columns.iter().position(|one| one.key == "port_seconds").expect("a column");
    let by_ports: Vec<_> = table.rows.iter().map(|row| row.cells[ports].clone()).collect();
    assert_eq!(by_ports, [Value::None, Value::None, Value::Seconds(160.0), Value::Seconds(160.0)]);
    let mut alone = cards_and_disks();
    alone.plan.cases.retain(|case| case.target == "cards");
    assert_eq!(alone.findings().costs, [], "nothing stands beside it");
}

#[test]
fn what_reads_faster_than_it_writes_is_for_what_is_read() {
    let of = |study: &Study| -> Vec<_> {
        let found = study.findings().placements;
        said(&found).iter().map(|(_, one)| (one.read / one.write, one.for_reads)).collect()
    };
    let study = cards_and_disks();
    assert_eq!(of(&study), [(2.5, None), (1.0, None)], "one repetition shows nothing");
    let found = study.findings().placements;
    let repeated = |rates: [f64; 2]| {
        let mut study = Study::new(vec![target("cards", |target| target.capacity = Some(Bytes::gib(10)))]);
        for (phase, rate) in [Phase::Read, Phase::Write].into_iter().zip(rates) {
            let passes = [0.99, 1.01, 1.0, 0.995, 1.005, 1.002].map(|noise| rate * noise * MB);
            study.add_of("w", "cards", &[], phase, &passes, |spec| spec.geometry.transfer = Bytes::mib(1));
        }
        of(&study)[0].1
    };
    assert_eq!(repeated([1250.0, 500.0]), Some(true));
    assert_eq!(repeated([1000.0, 1000.0]), Some(false));
    assert_eq!(repeated([1250.0, 1000.0]), None, "at the ratio itself it is open");
    assert!((said(&found)[0].1.read_share - 1250.0 / 1750.0).abs() < 1e-9);
}

#[test]
fn devices_need_slots_and_data_needs_room() {
    let mut study = cards_and_disks();
    let found = fits(&study.plan, &[]);
    assert_eq!(found.len(), 1, "of the disks nothing is said");
    assert_eq!((found[0].slots, found[0].fits(), found[0].said), (Some((5, 11)), false, true));
    study.plan.criteria.targets[0].needs = None;
    assert!(fits(&study.plan, &[])[0].fits(), "a MiB is what its own workloads put there");
    study.plan.criteria.targets[0].slots = 4;
    assert!(!fits(&study.plan, &[])[0].fits());
}
