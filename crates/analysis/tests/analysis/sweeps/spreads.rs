//! Repetitions that scatter more as files grow, differences between curves, and the meaning of IOPS.

use analysis::{
    audit::{AuditIssue, Check, audit},
    figures::Figure,
    gate::Gate,
    sweeps::{Dispersion, coincident, curves, dispersion, onset},
    targets::iops_table,
};
use plan::{Backend, Bytes, Order, Phase, Setting, SettingValue};
use proptest::collection::vec;
use proptest::prelude::{prop_assert, proptest};

use crate::common::studies::{Study, bytes, count, findings, said, target};

const GB: f64 = 1e9;
const MIB: u64 = 1 << 20;

/// Twelve sizes. From the fifth on the repetitions scatter ten times as much.
fn sizes() -> Study {
    let mut study = Study::new(vec![target("ssd", |_| {})]);
    for step in 1..=12_u64 {
        let spread = if step >= 5 { 0.2 } else { 0.02 };
        let rates = [1.0, 1.0 - spread, 1.0 + spread, 1.0 - spread / 2.0, 1.0 + spread / 2.0];
        let rates = rates.map(|rate| rate * GB);
        study.add("exp.fs", "ssd", &[bytes("size", step * 100 * MIB)], Phase::Write, &rates);
    }
    study
}

fn dispersions(study: &Study, figures: &[Figure]) -> Vec<Dispersion> {
    let gate = Gate::new(&study.plan, figures, &[]);
    curves(&gate).iter().filter_map(|curve| dispersion(&gate, curve)).collect()
}

#[test]
fn the_size_where_repetitions_begin_to_spread_is_found() {
    let study = sizes();
    let figures = study.figures();
    let all = dispersions(&study, &figures);
    assert_eq!(all.len(), 1);
    let found = &all[0];
    assert_eq!(
        (found.curve.axis.as_str(), found.onset.clone()),
        ("size", Some(SettingValue::Bytes(Bytes(500 * MIB))))
    );
    let points = &found.points;
    assert_eq!((points.len(), points[0].point.headline.n), (12, 5));
    assert_eq!(points[11].bytes_per_task, 1200 * MIB);
    assert!(points[3].point.headline.variation < 0.02 && points[4].point.headline.variation > 0.1);
    // Every phase of the study takes ten seconds, however much data it moves.
    assert!(found.worst_seconds.abs() < 1e-9);
}

#[test]
fn the_worst_deviation_is_a_time() {
    let mut study = sizes();
    let last = study.phases.len() - 1;
    study.phases[last].wall_ns += 90_000_000_000;
    let figures = study.figures();
    let all = dispersions(&study, &figures);
    assert!((all[0].worst_seconds - 90.0).abs() < 1e-9);
    assert!((all[0].points[11].seconds - 90.0).abs() < 1e-9 && all[0].points[10].seconds < 1e-9);
}

#[test]
fn curves_over_tasks_or_single_measurements_have_no_dispersion() {
    let mut study = Study::new(Vec::new());
    for n in 1..4 {
        study.add("tasks", "", &[count("tasks", n)], Phase::Write, &[GB, 2.0 * GB]);
        study.add("once", "", &[bytes("size", n * MIB)], Phase::Write, &[GB]);
    }
    let figures = study.figures();
    assert_eq!(dispersions(&study, &figures), []);
}

#[test]
fn a_single_wild_size_is_no_onset() {
    let mut spreads = [(5, 0.01); 10];
    spreads[4].1 = 0.2;
    assert_eq!(onset(&spreads), None);
    assert_eq!(onset(&[(5, 0.01); 10]), None);
    assert_eq!(onset(&[]), None);
    assert_eq!(onset(&[(1, 0.0), (1, 0.0), (1, 0.0)]), None);
}

proptest! {
    #[test]
    fn an_onset_is_where_the_spread_grows(place in 2_usize..10, factors in vec(0.8_f64..1.25, 12)) {
        let spreads: Vec<_> = factors.iter().enumerate()
            .map(|(at, factor)| (5, factor * if at >= place { 0.1 } else { 0.01 })).collect();
        prop_assert!(onset(&spreads) == Some(place), "{:?}", onset(&spreads));
        let even: Vec<_> = factors.iter().map(|factor| (5, factor * 0.05)).collect();
        prop_assert!(onset(&even).is_none());
    }
}

const FIVE: [f64; 5] = [0.999, 1.001, 1.0, 0.9995, 1.0005];

/// Rates of 64 and 160 processes at four transfer sizes.
fn processes(of_160: [f64; 4], scatter: &[f64]) -> Study {
    let mut study = Study::new(Vec::new());
    for (tasks, rates) in [(64, [1.0, 2.0, 3.0, 3.1]), (160, of_160)] {
        for (transfer, rate) in [MIB, 2 * MIB, 4 * MIB, 8 * MIB].into_iter().zip(rates) {
            let settings = [count("tasks", tasks), bytes("transfer", transfer)];
            let rates: Vec<f64> = scatter.iter().map(|share| share * rate * GB).collect();
            study.add("w", "", &settings, Phase::Read, &rates);
        }
    }
    study
}

#[test]
fn two_numbers_of_processes_are_laid_over_each_other() {
    let study = processes([1.0, 1.5, 2.9, 3.1], &FIVE);
    let found = study.findings();
    let overlays = found.overlays;
    let [(_, overlay)] = said(&overlays)[..] else { panic!("one: {overlays:?}") };
    let at = SettingValue::Bytes(Bytes(2 * MIB));
    assert_eq!((overlay.fixed.join("; "), &overlay.at), ("tasks 64; tasks 160".to_owned(), &at));
    assert!((overlay.difference + 0.25).abs() < 1e-12);
    assert_eq!(found.coincident, Vec::<Vec<usize>>::new());
    let alike = processes([1.0, 2.001, 3.002, 3.1], &FIVE);
    assert_eq!(findings(&alike.plan, &alike.figures(), 1).overlays, [], "no difference is shown");
}

#[test]
fn lines_that_cannot_be_told_apart_are_named() {
    let study = processes([1.03, 2.05, 2.9, 3.0], &[1.0]);
    let figures = study.figures();
    assert_eq!(findings(&study.plan, &figures, 1).coincident, [[0, 1]]);
}

#[test]
fn lines_of_different_targets_are_in_different_charts() {
    let mut study = Study::new(Vec::new());
    for name in ["a", "b"] {
        for tasks in [1, 2, 4] {
            study.add("w", name, &[count("tasks", tasks)], Phase::Read, &[GB]);
        }
    }
    let figures = study.figures();
    let mut found = findings(&study.plan, &figures, 1);
    assert!(found.coincident.is_empty());
    // In one chart they could not be told apart.
    found.curves[1].target = "a".to_owned();
    assert_eq!(coincident(&found.curves), [[0, 1]]);
}

#[test]
fn an_iops_is_nothing_without_its_definition() {
    let mut study = Study::new(vec![target("disk", |_| {})]);
    let mut add = |transfer: u64, phase, rate: f64, random: bool, direct: bool, depth: u32| {
        let settings: [Setting; 1] = [bytes("transfer", transfer)];
        study.add_of("w", "disk", &settings, phase, &[rate * GB], |spec| {
            spec.direct = direct;
            spec.backend = Backend::Uring { depth, required: false };
            if random {
                spec.order = Order::Random { seed: 1 };
            }
        });
    };
    add(4096, Phase::Read, 1.0, true, true, 32);
    add(4096, Phase::Read, 1.2, true, true, 32);
    add(4096, Phase::Read, 0.1, true, true, 1);
    add(4096, Phase::Write, 0.5, true, true, 32);
    add(4096, Phase::Read, 2.0, false, true, 32);
    add(4096, Phase::Read, 8.0, true, false, 32);
    add(MIB, Phase::Read, 3.0, false, true, 32);
    for row in &mut study.phases {
        row.device_read_bytes = None;
    }
    let table = iops_table(&study.plan, &study.figures(), &[]);
    assert_eq!(table.iter().map(|row| row.figure).collect::<Vec<_>>(), [5, 4, 1, 3, 2, 6]);
    let definition = &table[2].definition;
    assert_eq!((definition.transfer, definition.depth), (Some(Bytes(4096)), Some(32)));
    assert!(definition.way.starts_with("random"), "{}", definition.way);
    assert_eq!(table[0].definition.cache, "not observed");
}

#[test]
fn an_iops_from_memory_is_another_definition() {
    let mut study = Study::new(Vec::new());
    for _ in 0..2 {
        study.add("w", "", &[bytes("transfer", 4096)], Phase::Read, &[GB]);
    }
    let bytes = study.phases[0].read_bytes;
    study.phases[0].device_read_bytes = Some(bytes);
    study.phases[1].device_read_bytes = Some(bytes / 10);
    let figures = study.figures();
    let table = iops_table(&study.plan, &figures, &audit(&study.plan, &figures, &[]));
    let states: Vec<_> = table.iter().map(|row| row.definition.cache).collect();
    assert_eq!(states, ["from the devices", "from memory"]);
}

#[test]
fn a_disqualified_figure_takes_no_place_of_another_of_its_definition() {
    let mut study = Study::new(Vec::new());
    for rate in [2.0, 1.0] {
        study.add("w", "", &[bytes("transfer", 4096)], Phase::Read, &[rate * GB]);
    }
    let figures = study.figures();
    let short = |figure| AuditIssue {
        check: Check::TooShort,
        figure: Some(figure),
        commitment: None,
        concerns: String::new(),
        evidence: String::new(),
        advice: String::new(),
        severity: 0.0,
    };
    let best = |doubts: &[AuditIssue]| iops_table(&study.plan, &figures, doubts)[0].figure;
    assert_eq!(best(&[]), 0);
    assert_eq!(best(&[short(0)]), 1);
    assert_eq!(best(&[short(0), short(1)]), 0);
}

#[test]
fn peaks_of_transfers_of_different_sizes_are_not_compared() {
    let peaks = |other: u64| {
        let mut study = Study::new(Vec::new());
        for (group, transfer) in [("small", 4096), ("large", other)] {
            for tasks in [1, 2] {
                study.add_of(group, "t", &[count("tasks", tasks)], Phase::Read, &[GB], |spec| {
                    (spec.geometry.transfer, spec.geometry.block) = (Bytes(transfer), Bytes(transfer));
                });
            }
        }
        for row in &mut study.phases {
            let transfer = if row.key.case.starts_with("small") { 4096 } else { other };
            row.reads = row.read_bytes / transfer;
        }
        findings(&study.plan, &study.figures(), 4).peaks.len()
    };
    assert_eq!((peaks(4096), peaks(131_072)), (1, 0));
}
