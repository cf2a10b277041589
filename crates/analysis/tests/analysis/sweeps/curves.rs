//! Curves: which figures belong to one curve, and over which axis.

use analysis::{
    audit::Outcome,
    gate::{Because, Gate},
    scaling::limits,
    statistics::Regression,
    sweeps::{Curve, Shape, curves},
};
use plan::{Client, Phase};

use crate::common::studies::{Study, bytes, count, findings, said, target, word};

const KIB: u64 = 1024;
const GB: f64 = 1e9;

/// Four task counts × three transfer sizes on two targets; the rate is tasks × transfer.
fn product() -> Study {
    let mut study = Study::new(vec![target("disk", |_| {}), target("flash", |_| {})]);
    for name in ["disk", "flash"] {
        for tasks in [1, 2, 4, 8] {
            for transfer in [4 * KIB, 64 * KIB, 1024 * KIB] {
                let settings = [word("target", name), count("tasks", tasks), bytes("transfer", transfer)];
                study.add("w", name, &settings, Phase::Read, &[(tasks * transfer) as f64]);
            }
        }
    }
    study
}

fn axes(curves: &[Curve]) -> Vec<(&str, &str, String, usize)> {
    let fixed = |curve: &Curve| curve.fixed.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let axis = |curve| (fixed(curve), curve);
    curves
        .iter()
        .map(axis)
        .map(|(fixed, curve)| (curve.target.as_str(), curve.axis.as_str(), fixed, curve.points.len()))
        .collect()
}

#[test]
fn the_key_with_most_values_is_the_axis_and_another_long_one_a_second_family() {
    let study = product();
    let curves = curves(&Gate::new(&study.plan, &study.figures(), &[]));
    assert_eq!(curves.len(), 2 * 3 + 2 * 4);
    let axes = axes(&curves);
    assert_eq!(axes[0], ("disk", "tasks", "transfer 4 KiB".to_owned(), 4));
    assert_eq!(axes[3].0, "flash");
    assert_eq!(axes[6], ("disk", "transfer", "tasks 1".to_owned(), 3));
    let rates: Vec<f64> = curves[0].points.iter().map(|point| point.bytes_per_second / 4096.0).collect();
    assert_eq!(rates, [1.0, 2.0, 4.0, 8.0]);
    assert!(curves[0].points.windows(2).all(|pair| pair[0].x < pair[1].x));
}

#[test]
fn a_key_of_two_values_is_a_comparison_and_no_axis() {
    let mut study = Study::new(Vec::new());
    for tasks in [1, 2, 4] {
        for transfer in [4 * KIB, 64 * KIB] {
            let settings = [bytes("transfer", transfer), count("tasks", tasks)];
            study.add("w", "", &settings, Phase::Write, &[GB]);
        }
    }
    let curves = curves(&Gate::new(&study.plan, &study.figures(), &[]));
    assert!(curves.iter().all(|curve| curve.axis == "tasks"), "{:?}", axes(&curves));
    assert_eq!(curves.len(), 2);
}

#[test]
fn keys_that_go_in_step_are_one_axis() {
    let mut study = Study::new(Vec::new());
    for (tasks, size) in [(1, 64 * KIB), (2, 32 * KIB), (4, 16 * KIB)] {
        for path in ["direct", "buffered"] {
            let settings = [count("tasks", tasks), bytes("size", size), word("path", path)];
            study.add("w", "", &settings, Phase::Write, &[GB]);
        }
    }
    let curves = curves(&Gate::new(&study.plan, &study.figures(), &[]));
    let axes = axes(&curves);
    let axis = |path: &str| ("", "tasks", format!("path {path}"), 3);
    assert_eq!(axes, [axis("direct"), axis("buffered")]);
}

#[test]
fn figures_of_different_clients_are_never_on_one_curve() {
    let clients = [("near", Client::LocalToServer), ("far", Client::Remote)];
    let mut study = Study::new(clients.map(|(name, client)| target(name, |t| t.client = client)).to_vec());
    for (tasks, name) in [(1, "near"), (2, "near"), (1, "far"), (2, "far"), (4, "far")] {
        study.add("w", name, &[count("tasks", tasks)], Phase::Read, &[GB]);
    }
    let curves = curves(&Gate::new(&study.plan, &study.figures(), &[]));
    let seen: Vec<_> = curves.iter().map(|curve| (curve.client, curve.points.len())).collect();
    assert_eq!(seen, [(Client::LocalToServer, 2), (Client::Remote, 3)]);
}

#[test]
fn phases_have_curves_of_their_own_and_a_single_point_has_none() {
    let mut study = Study::new(Vec::new());
    for tasks in [1, 2] {
        study.add("w", "", &[count("tasks", tasks)], Phase::Read, &[GB]);
    }
    study.add("w", "", &[count("tasks", 4)], Phase::Write, &[GB]);
    study.add("alone", "", &[], Phase::Read, &[GB]);
    let curves = curves(&Gate::new(&study.plan, &study.figures(), &[]));
    assert_eq!(curves.len(), 1);
    assert_eq!((curves[0].phase, curves[0].points.len()), (Phase::Read, 2));
}

#[test]
fn a_sweep_that_was_measured_twice_has_two_curves() {
    let mut study = Study::new(Vec::new());
    for rate in [2.0 * GB, 3.0 * GB] {
        for tasks in [1, 2, 4] {
            study.add("w", "", &[count("tasks", tasks)], Phase::Read, &[rate]);
        }
    }
    let curves = curves(&Gate::new(&study.plan, &study.figures(), &[]));
    let rates: Vec<_> =
        curves.iter().map(|curve| (curve.points.len(), curve.points[2].bytes_per_second)).collect();
    assert_eq!(rates, [(3, 2.0 * GB), (3, 3.0 * GB)]);
}

#[test]
fn points_carry_repetitions_and_their_spread() {
    let mut study = Study::new(Vec::new());
    for tasks in [1, 2] {
        study.add("w", "", &[count("tasks", tasks)], Phase::Read, &[GB, 3.0 * GB, 2.0 * GB]);
    }
    let curves = curves(&Gate::new(&study.plan, &study.figures(), &[]));
    let point = &curves[0].points[1];
    assert_eq!(
        (point.bytes_per_second, point.headline.n, point.headline.deviation_sample),
        (2.0 * GB, 3, GB)
    );
}

#[test]
fn the_best_point_is_named_with_the_second_and_the_gain() {
    let mut study = Study::new(vec![target("card", |_| {})]);
    for (tasks, transfer, rate) in
        [(4, KIB, 1.8), (6, KIB, 2.05), (8, KIB, 2.0), (6, 2 * KIB, 1.9), (8, 2 * KIB, 1.95)]
    {
        let settings = [word("target", "card"), count("tasks", tasks), bytes("transfer", transfer)];
        study.add("search", "card", &settings, Phase::Write, &[rate * GB]);
    }
    let found = study.findings().best;
    let [(of, best)] = said(&found)[..] else { panic!("{found:?}") };
    assert_eq!((of, best.runner_up, best.of), (&[1, 2][..], Some(2), 5));
    assert_eq!((best.gain, found[0].reasons[0].because), (None, Because::TooFew), "of one repetition each");
    assert_eq!(best.larger_is_slower, None, "nor that a transfer of 2 KiB is slower");
}

/// Five points of which the second is best by `gain`, with six repetitions each and a scatter of 1 %.
fn repeated(gain: f64) -> Study {
    let mut study = Study::new(vec![target("card", |_| {})]);
    for (tasks, transfer, rate) in
        [(4, KIB, 1.6), (6, KIB, 2.0 * gain), (8, KIB, 2.0), (6, 2 * KIB, 1.5), (8, 2 * KIB, 1.4)]
    {
        let settings = [word("target", "card"), count("tasks", tasks), bytes("transfer", transfer)];
        let rates = [1.0, 1.007, 0.99, 1.01, 0.995, 1.002].map(|one| one * rate * GB);
        study.add("search", "card", &settings, Phase::Write, &rates);
    }
    study
}

#[test]
fn a_best_point_is_ahead_where_the_difference_is_shown() {
    let found = repeated(1.1).findings().best;
    let [(_, best)] = said(&found)[..] else { panic!("{found:?}") };
    assert_eq!(found[0].reasons, []);
    assert!((best.gain.expect("shown") - 0.1).abs() < 1e-3);
    assert_eq!(best.larger_is_slower, Some(3), "a transfer of 2 KiB was slower");
    let found = repeated(1.001).findings().best;
    let [(_, best)] = said(&found)[..] else { panic!("{found:?}") };
    assert_eq!((found[0].reasons[0].because, best.gain), (Because::WithinScatter, None));
}

#[test]
fn points_that_are_equally_fast_and_were_not_held_back_leave_nothing_out() {
    let mut study = Study::new(vec![target("card", |_| {})]);
    for tasks in 1..=4 {
        let rates = [0.99, 0.995, 1.0, 1.002, 1.007, 1.01].map(|one| one * GB);
        study.add("search", "card", &[word("target", "card"), count("tasks", tasks)], Phase::Write, &rates);
    }
    let found = study.findings().best;
    assert!(found[0].reasons.iter().all(|one| one.because != Because::LeftOut), "{found:?}");
}

#[test]
fn a_figure_in_doubt_is_never_the_best() {
    let mut study = repeated(1.1);
    let cut = study.plan.cases[1].clone();
    study.plan.cases[1].repetitions = cut.repetitions + 1;
    let found = study.findings().best;
    let [(of, best)] = said(&found)[..] else { panic!("{found:?}") };
    assert_eq!((of[0], best.of), (2, 4), "the second best, of those that are finished");
    assert_eq!(found[0].reasons.last().map(|one| one.because), Some(Because::LeftOut));
    for case in &mut study.plan.cases {
        case.repetitions = cut.repetitions + 1;
    }
    let found = study.findings().best;
    assert_eq!((said(&found).len(), found[0].outcome), (0, Outcome::Withheld));
}

#[test]
fn what_is_said_of_the_rest_of_a_curve_says_how_much_is_left_out() {
    let mut study = Study::new(vec![target("card", |_| {})]);
    for tasks in 1..=6 {
        let rates = [0.99, 1.0, 1.0, 1.0, 1.002, 1.01].map(|one| one * tasks as f64 * GB);
        study.add("w", "card", &[count("tasks", tasks)], Phase::Read, &rates);
    }
    let shape = study.findings().shapes.pop().expect("a line");
    assert_eq!((shape.outcome, shape.inputs.len()), (Outcome::Stated, 6));
    study.plan.cases[2].repetitions += 1;
    let shape = study.findings().shapes.pop().expect("a line through the others");
    assert_eq!((shape.outcome, shape.inputs.len()), (Outcome::Marked, 5));
    assert_eq!(shape.reasons.last().map(|one| one.because), Some(Because::LeftOut));
}

#[test]
fn a_workload_that_sweeps_nothing_has_no_best_point() {
    let mut study = Study::new(Vec::new());
    study.add("w", "", &[], Phase::Read, &[GB]);
    assert_eq!(study.findings().best, []);
}

#[test]
fn findings_hold_what_its_parts_say() {
    let study = product();
    let figures = study.figures();
    let findings = findings(&study.plan, &figures, 4);
    assert_eq!(findings.curves, curves(&Gate::new(&study.plan, &figures, &[])));
    let stated: Vec<_> = findings.limits.iter().filter_map(|one| one.says().copied()).collect();
    assert_eq!(stated, limits(&study.plan, &figures, 4));
    assert_eq!(findings.limits.len(), figures.len());
    assert_eq!(findings.verdicts, []);
}

/// Rates over 1, 2, … tasks, each measured this many times with a scatter of 1 %.
fn over_tasks(rates: &[f64], repetitions: usize) -> Study {
    let mut study = Study::new(Vec::new());
    for (tasks, rate) in (1..).zip(rates) {
        let scatter = [1.0, 0.99, 1.01, 0.995, 1.005];
        let rates: Vec<f64> = scatter[..repetitions].iter().map(|share| share * rate * 1e9).collect();
        study.add("w", "", &[count("tasks", tasks)], Phase::Read, &rates);
    }
    study
}

const BENT: [f64; 10] = [1.0, 2.0, 3.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0];
const PEAKED: [f64; 10] = [4.0, 4.0, 4.0, 4.0, 4.0, 4.4, 4.0, 4.0, 4.0, 4.0];

fn shape_of(study: &Study) -> Shape {
    findings(&study.plan, &study.figures(), 4).curves[0].shape.clone()
}

#[test]
fn a_shape_is_stated_where_the_scatter_of_repetitions_does_not_explain_it() {
    let bent = shape_of(&over_tasks(&BENT, 5));
    assert_eq!((bent.knee, bent.plateau, bent.reaches_95), (Some(4.0), Some((4.0, 10.0)), Some(4.0)));
    let peaked = shape_of(&over_tasks(&PEAKED, 5));
    assert_eq!((peaked.sweet_spot, peaked.knee), (Some(6.0), None), "one high point is no knee");
    let peak = |at| Shape { peak: Some(at), ..Shape::default() };
    assert_eq!(shape_of(&over_tasks(&BENT, 2)), peak(3), "too few repetitions");
    let noise = [1.0, 1.004, 0.997, 1.006, 0.995, 1.003, 1.0, 0.996, 1.005, 0.998];
    assert_eq!(shape_of(&over_tasks(&noise, 5)), peak(3));
    let straight: Vec<f64> = (1..=10).map(f64::from).collect();
    let straight = shape_of(&over_tasks(&straight, 5));
    assert_eq!((straight.knee, straight.plateau, straight.reaches_90), (None, None, Some(9.0)));
}

#[test]
fn a_disqualified_point_has_no_part_in_a_shape() {
    let damaged = |rates: &[f64]| {
        let mut study = over_tasks(rates, 5);
        for row in study.phases.iter_mut().filter(|row| &*row.key.case == "w/5") {
            row.wrong_cells = 1;
        }
        shape_of(&study)
    };
    assert_eq!(damaged(&PEAKED), Shape { peak: Some(0), ..Shape::default() }, "the others are flat");
    assert_eq!(damaged(&BENT).knee, Some(4.0));
    assert_eq!(
        damaged(&[1.0, 2.0, 3.0, 4.0, 4.0, 4.0][2..]),
        shape_of(&over_tasks(&[3.0, 4.0, 4.0, 4.0], 5))
    );
}

#[test]
fn names_of_members_are_no_axis_of_a_shape() {
    let mut study = over_tasks(&BENT, 5);
    for setting in study.plan.cases.iter_mut().flat_map(|case| &mut case.settings) {
        setting.key = "member".to_owned();
    }
    assert_eq!(shape_of(&study), Shape::default());
}

/// The regression lines through its curves.
fn lines_of(study: &Study) -> Vec<Regression> {
    let shapes = study.findings().shapes;
    said(&shapes).into_iter().filter_map(|(_, one)| one.line.clone()).collect()
}

#[test]
fn no_line_goes_through_a_curve_that_saturates_or_is_flat() {
    let lines = |rates: &[f64], repetitions| {
        let study = over_tasks(rates, repetitions);
        lines_of(&study).len()
    };
    let straight: Vec<f64> = (1..=10).map(f64::from).collect();
    assert_eq!((lines(&straight, 5), lines(&straight, 1)), (1, 0));
    assert_eq!((lines(&BENT, 5), lines(&[4.0; 10], 5)), (0, 0));
}

#[test]
fn a_line_goes_through_a_straight_curve_over_tasks_and_none_over_sizes() {
    let straight: Vec<f64> = (1..=10).map(f64::from).collect();
    let study = over_tasks(&straight, 5);
    let lines = lines_of(&study);
    assert!(
        (lines[0].slope / 1e9 - 1.0).abs() < 1e-9
            && lines[0].uncertainty.expect("ten points").slope_half_width < 1.0,
        "{lines:?}"
    );
    assert!((lines[0].r_squared - 1.0).abs() < 1e-12);
    let mut sizes = study;
    for setting in sizes.plan.cases.iter_mut().flat_map(|case| &mut case.settings) {
        setting.key = "transfer".to_owned();
    }
    assert_eq!(lines_of(&sizes), []);
}
