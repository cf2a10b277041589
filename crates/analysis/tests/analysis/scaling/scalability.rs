//! How devices scale, the cost of layouts, which devices are slowest, and which are steady.

use analysis::{
    audit::{Check, Outcome},
    figures::Figure,
    gate::Because,
    nodes::slowest_member,
};
use plan::{Client, Order, Phase};
use proptest::collection::vec;
use proptest::prelude::{prop_assert, proptest};
use record::Warning;

use crate::common::studies::{Study, bytes, count, findings, said, target};

const GB: f64 = 1e9;
const MIB: u64 = 1 << 20;

/// Five repetitions with this median.
fn repeated(rate: f64) -> [f64; 5] {
    [1.0, 0.9995, 1.0004, 0.9998, 1.0001].map(|share| share * rate)
}

/// One card and two layouts of twelve, with the best rates of study A.
fn cards() -> Study {
    let twelve = |name: &str| {
        target(name, |target| {
            target.devices = 12;
            target.baseline = Some("card".to_owned());
        })
    };
    let mut study = Study::new(vec![target("card", |t| t.devices = 1), twelve("xfs"), twelve("md")]);
    for (name, tasks, write, read) in [
        ("card", 4, 1.9, 2.5),
        ("card", 6, 2.05, 2.78),
        ("xfs", 66, 24.1, 32.9),
        ("xfs", 33, 20.0, 27.0),
        ("md", 66, 24.2, 29.9),
    ] {
        let settings = [count("tasks", tasks), bytes("transfer", MIB)];
        for (phase, rate) in [(Phase::Write, write), (Phase::Read, read)] {
            study.add("layouts", name, &settings, phase, &repeated(rate * GB));
        }
    }
    study
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[test]
fn scalability_is_counted_from_the_best_of_the_baseline() {
    let study = cards();
    let found = study.findings().scaling;
    let shares: Vec<_> = said(&found).iter().map(|(of, one)| (of[0], of[1], percent(one.share))).collect();
    let best = [(4, 2, "98.0 %"), (5, 3, "98.6 %"), (8, 2, "98.4 %"), (9, 3, "89.6 %")];
    let others = [(6, 2, "81.3 %"), (7, 3, "80.9 %")];
    let expected = best.into_iter().chain(others).map(|(own, one, share)| (own, one, share.to_owned()));
    assert_eq!(shares, expected.collect::<Vec<_>>(), "the card itself is not counted");
    assert!(said(&found).iter().all(|(_, one)| one.ratio.is_none()), "one card had fewer tasks");
}

/// One card had streams of 128 KiB and 16 MiB, both cards all sizes, by 64 tasks.
#[test]
fn the_gain_of_a_second_device_is_that_of_the_same_work() {
    let mut study = Study::new(vec![
        target("one", |t| t.devices = 1),
        target("both", |t| {
            t.devices = 2;
            t.baseline = Some("one".to_owned());
        }),
    ]);
    let direct = |spec: &mut plan::WorkloadSpec| spec.direct = true;
    for (name, tasks, transfer, rate) in [
        ("one", 64, 128 << 10, 5.887),
        ("one", 64, 16 * MIB, 5.231),
        ("one", 8, 16 * MIB, 6.0),
        ("both", 64, 4096, 0.4),
        ("both", 64, 128 << 10, 8.0),
        ("both", 64, 16 * MIB, 10.0),
        ("both", 16, 16 * MIB, 9.0),
        ("both", 5, 16 * MIB, 7.0),
    ] {
        let settings = [count("tasks", tasks), bytes("transfer", transfer)];
        study.add_of("streams", name, &settings, Phase::Read, &repeated(rate * GB), |spec| {
            direct(spec);
            spec.tasks = u32::try_from(tasks).expect("few");
            spec.geometry =
                plan::Geometry { transfer: plan::Bytes(transfer), block: plan::Bytes(16 * MIB), segments: 1 };
        });
    }
    // The same size through the page cache is other work.
    study.add("streams", "one", &[count("tasks", 64), bytes("transfer", 4096)], Phase::Read, &repeated(GB));
    let found = study.findings().scaling;
    let mut seen: Vec<_> = said(&found)
        .iter()
        .map(|(of, one)| (of.to_vec(), percent(one.share), one.ratio.map(|ratio| format!("{ratio:.3}"))))
        .collect();
    seen.sort();
    let expected = [
        (vec![4, 2, 0], "66.7 %", Some("1.359")),
        (vec![5, 2, 1], "83.3 %", Some("1.912")),
        (vec![6, 2], "75.0 %", Some("1.500")),
        (vec![7, 2], "58.3 %", None),
    ];
    let expected = expected.map(|(of, share, ratio)| (of, share.to_owned(), ratio.map(str::to_owned)));
    assert_eq!(seen, expected, "4 KiB was not measured on one card");
}

/// B22: 5 and 9.8 GB/s with one and two devices.
#[test]
fn a_sweep_of_members_is_counted_from_the_fewest() {
    let mut study = Study::new(vec![target("cards", |target| target.devices = 2)]);
    for (members, tasks, rate) in [(1, 4, 4.0), (1, 8, 5.0), (2, 4, 7.0), (2, 8, 9.8)] {
        let settings = [count("members", members), count("tasks", tasks)];
        study.add("gain", "cards", &settings, Phase::Read, &[rate * GB]);
    }
    let found = study.findings().scaling;
    let told: Vec<_> =
        said(&found).iter().map(|(of, one)| (of[0], of[1], one.devices, percent(one.share))).collect();
    assert_eq!(told, [(3, 1, 2, "98.0 %".to_owned()), (2, 1, 2, "70.0 %".to_owned())]);
    let gains = said(&found).iter().map(|(_, one)| one.ratio).collect::<Vec<_>>();
    assert_eq!(gains, [Some(1.96), Some(1.75)], "the gain of the second device, at as many tasks");
}

#[test]
fn random_transfers_are_counted_from_the_same_size_and_order() {
    let mut study = Study::new(vec![
        target("one", |t| t.devices = 1),
        target("two", |t| {
            t.devices = 2;
            t.baseline = Some("one".to_owned());
        }),
    ]);
    for (name, transfer, rate) in [("one", 4096, 0.5), ("one", MIB, 3.0), ("two", 4096, 0.9)] {
        let settings = [bytes("transfer", transfer)];
        study.add_of("w", name, &settings, Phase::Read, &[rate * GB], |spec| {
            spec.order = Order::Random { seed: 1 };
        });
    }
    study.add("w", "two", &[bytes("transfer", 4096)], Phase::Read, &[GB]);
    let found = study.findings().scaling;
    let [(of, scaling)] = said(&found)[..] else { panic!("nothing sequential was measured on one device") };
    assert_eq!((of[1], percent(scaling.share)), (0, "90.0 %".to_owned()));
}

#[test]
fn a_tax_is_a_loss_against_the_target_before_and_may_be_a_gain() {
    let study = cards();
    let found = study.findings().taxes;
    let seen: Vec<_> = said(&found).iter().map(|(of, tax)| (of[1], of[0], percent(tax.share))).collect();
    assert_eq!(seen, [(4, 8, "-0.4 %".to_owned()), (5, 9, "9.1 %".to_owned())]);
}

/// A value that is there is shown with its number of repetitions, also where they do not tell a difference.
#[test]
fn a_tax_of_few_repetitions_is_marked_with_their_number() {
    for n in [1, 3] {
        let mut study = Study::new(vec![target("below", |_| {}), target("above", |_| {})]);
        for (name, rate) in [("below", 1.0), ("above", 0.9)] {
            study.add("w", name, &[], Phase::Read, &vec![rate * GB; n]);
        }
        let [tax] = &study.findings().taxes[..] else { panic!("one pair") };
        assert_eq!(tax.says().map(|one| percent(one.share)), Some("10.0 %".to_owned()));
        assert_eq!(tax.outcome, Outcome::Marked);
        let reasons: Vec<_> = tax.reasons.iter().map(|one| (one.because, one.evidence.clone())).collect();
        assert_eq!(reasons, [(Because::TooFew, format!("n = {n}, 5 are needed"))]);
    }
}

#[test]
fn targets_that_are_not_alike_are_not_taxed() {
    let mut study = Study::new(vec![
        target("near", |t| t.client = Client::LocalToServer),
        target("unstated", |_| {}),
        target("far", |t| t.client = Client::Remote),
        target("wide", |t| {
            t.client = Client::Remote;
            t.devices = 4;
        }),
    ]);
    for name in ["near", "unstated", "far", "wide"] {
        study.add("w", name, &[], Phase::Read, &[GB]);
    }
    assert_eq!(study.findings().taxes, []);
}

/// One target with a sweep, and one with a single point: what the sweep gains with more tasks does not count as a
/// cost.
#[test]
fn a_tax_is_of_the_points_that_both_targets_have() {
    let mut study =
        Study::new(vec![target("swept", |_| {}), target("once", |_| {}), target("large", |_| {})]);
    let mut add = |name: &str, tasks: u64, transfer: u64, rate: f64| {
        let settings = [count("tasks", tasks), bytes("transfer", transfer)];
        study.add("w", name, &settings, Phase::Read, &repeated(rate * GB));
    };
    for tasks in 1..=8 {
        add("swept", tasks, MIB, tasks as f64);
    }
    add("once", 1, MIB, 1.1);
    add("large", 1, 8 * MIB, 2.0);
    let found = study.findings().taxes;
    let seen: Vec<_> = said(&found).iter().map(|(of, tax)| (of.to_vec(), percent(tax.share))).collect();
    assert_eq!(seen, [(vec![8, 0], "-10.0 %".to_owned())], "at one task");
    let apart =
        found.iter().filter(|one| one.reasons.iter().any(|one| one.because == Because::OtherConditions));
    assert_eq!(apart.map(|one| one.says()).collect::<Vec<_>>(), [None, None]);
}

/// Two targets over eight task counts. The rates of one vary by this much.
fn steady_beside(varies: f64) -> Study {
    let mut study = Study::new(vec![target("calm", |_| {}), target("wild", |_| {})]);
    for (tasks, calm) in (1..).zip([2.0, 2.01, 1.99, 2.0, 2.02, 1.98, 2.01, 1.99]) {
        let wild = 2.0 + varies * (calm - 2.0) * 100.0;
        study.add("w", "wild", &[count("tasks", tasks)], Phase::Read, &repeated(wild * GB));
        study.add("w", "calm", &[count("tasks", tasks)], Phase::Read, &repeated(calm * GB));
    }
    study
}

#[test]
fn the_steadiest_target_ranks_first_where_that_is_shown() {
    let study = steady_beside(0.5);
    let (figures, found) = (study.figures(), study.findings().consistency);
    let seen: Vec<_> =
        said(&found).iter().map(|(of, one)| (one.steadiest, &*figures[of[0]].target)).collect();
    assert_eq!(seen, [(true, "calm"), (false, "wild")]);
    let found = steady_beside(0.01).findings().consistency;
    assert!(found[0].says().is_some_and(|one| !one.steadiest), "{found:?}");
    assert_eq!(found[0].reasons[0].because, Because::WithinScatter);
}

/// Two layouts vary alike, and the third one far more: that is told although no rank of the two is.
#[test]
fn an_unsteady_target_is_told_beside_two_that_are_alike() {
    let names = ["md", "fs", "cards"];
    let mut study = Study::new(names.map(|name| target(name, |_| {})).into());
    for (tasks, rate) in (1..).zip([2.0, 2.01, 1.99, 2.0, 2.02, 1.98, 2.01, 1.99]) {
        for (name, times) in names.into_iter().zip([0.5, 0.5, 10.0]) {
            let rate = 2.0 + times * (rate - 2.0);
            study.add("w", name, &[count("tasks", tasks)], Phase::Read, &repeated(rate * GB));
        }
    }
    let (figures, found) = (study.figures(), study.findings().consistency);
    let seen: Vec<_> = found
        .iter()
        .map(|one| {
            (&*figures[one.figure()].target, one.outcome, one.reasons.first().map(|why| &*why.evidence))
        })
        .collect();
    let alike = Some("not told apart from 1 other");
    assert_eq!(
        seen,
        [("md", Outcome::Marked, alike), ("fs", Outcome::Marked, alike), ("cards", Outcome::Stated, None)]
    );
    assert!(found.iter().all(|one| one.says().is_some_and(|one| !one.steadiest)), "{found:?}");
}

/// The other target may be equally steady if nothing holds the program back.
#[test]
fn the_steadiest_target_is_open_where_the_program_was_held_back_on_the_other_one() {
    let study = steady_beside(0.5);
    let mut figures = study.figures();
    let of_wild = figures.iter_mut().filter(|one| one.target == "wild");
    for pass in of_wild.flat_map(|one| &mut one.repetitions) {
        pass.warnings = vec![Warning::Starved { seen: "stopped".to_owned(), share: 0.3 }];
    }
    let found = findings(&study.plan, &figures, 4).consistency;
    assert!(found.iter().all(|one| one.says().is_none()), "{found:?}");
}

/// A third figure that was held back for half of the time may be faster than the two that are compared.
#[test]
fn a_best_point_says_that_one_that_was_held_back_may_be_faster() {
    let mut study = Study::new(vec![target("a", |_| {})]);
    for (tasks, rate) in [(1, 1.0), (2, 2.0), (4, 3.0)] {
        study.add("scale", "a", &[count("tasks", tasks)], Phase::Read, &repeated(rate * GB));
    }
    let mut figures = study.figures();
    let best = |figures: &[Figure]| findings(&study.plan, figures, 4).best.remove(0);
    assert_eq!(best(&figures).outcome, Outcome::Stated);
    for pass in &mut figures[0].repetitions {
        pass.warnings = vec![Warning::Starved { seen: "stopped".to_owned(), share: 0.5 }];
    }
    let found = best(&figures);
    assert_eq!((found.outcome, found.reasons[0].because), (Outcome::Marked, Because::LeftOut), "{found:?}");
}

#[test]
fn workloads_of_one_target_each_stand_beside_those_that_sweep_the_same_keys() {
    let mut study = Study::new(vec![target("a", |_| {}), target("b", |_| {})]);
    for (tasks, b) in [(1, 2.0), (2, 2.2)] {
        study.add("of a", "a", &[count("tasks", tasks)], Phase::Read, &[GB]);
        study.add("of b", "b", &[count("tasks", tasks)], Phase::Read, &[b * GB]);
        study.add("other", "b", &[bytes("transfer", tasks * MIB)], Phase::Read, &[b * GB]);
    }
    let (figures, found) = (study.figures(), study.findings().consistency);
    let seen: Vec<_> = said(&found).iter().map(|(of, one)| (one.n, &*figures[of[0]].group)).collect();
    assert_eq!(seen, [(2, "of a"), (2, "of b"), (2, "other")]);
}

#[test]
fn the_slowest_of_sixteen_disks_bounds_them_all() {
    let disks: Vec<_> = (0..16).map(|n| (format!("d{n}"), if n == 7 { 350e6 } else { 500e6 })).collect();
    let slowest = slowest_member(&disks).expect("sixteen");
    assert_eq!((slowest.members, slowest.name.as_str(), slowest.bound), (16, "d7", 5.6e9));
    assert_eq!((slowest.rate, slowest.typical), (350e6, 500e6));
    assert_eq!(slowest_member(&[]), None);
    assert_eq!(slowest_member(&[("still".to_owned(), 0.0), ("a".to_owned(), 1.0)]), None);
}

proptest! {
    #[test]
    fn no_member_is_slower_than_the_bound_says(rates in vec(1.0_f64..1e9, 1..40)) {
        let members: Vec<_> = (0..).zip(&rates).map(|(n, &rate): (u32, _)| (n.to_string(), rate)).collect();
        let slowest = slowest_member(&members).expect("members");
        prop_assert!(slowest.bound <= rates.iter().sum::<f64>() * (1.0 + 1e-12));
        prop_assert!(slowest.rate <= slowest.typical);
        prop_assert!(rates.iter().all(|&rate| rate >= slowest.rate));
    }
}

/// No two devices reach six times their combined rate, so the baseline was measured under other conditions.
#[test]
fn more_than_all_devices_together_is_doubted() {
    let layout = target("layout", |target| {
        target.devices = 2;
        target.baseline = Some("one".to_owned());
    });
    let mut study = Study::new(vec![target("one", |target| target.devices = 1), layout]);
    study.add("scale", "one", &[count("tasks", 1)], Phase::Read, &[GB]);
    study.add("scale", "layout", &[count("tasks", 2)], Phase::Read, &[2.05 * GB]);
    study.add("scale", "layout", &[count("tasks", 4)], Phase::Read, &[12.0 * GB]);
    let doubts = study.findings().audit;
    let beyond: Vec<_> = doubts.iter().filter(|doubt| doubt.check == Check::AboveDevices).collect();
    assert_eq!(beyond.len(), 1, "{doubts:?}");
    assert_eq!((beyond[0].figure, beyond[0].disqualifies()), (Some(2), false));
    assert!(
        beyond[0].evidence.starts_with("600.0 % of what 2 devices reach together"),
        "{}",
        beyond[0].evidence
    );
}
