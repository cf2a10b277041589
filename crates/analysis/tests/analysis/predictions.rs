//! Predictions for a plan from a run: they use the rates of the nearest cases, and ignore cases that are too
//! different.

use analysis::predictions::predictions_like;
use plan::{Bytes, Case, Interval, Order, Phase, Plan, RunEnvironment, Source, WorkloadSpec, estimates};

use crate::common::rows::{SECOND, case, key, phase, plan, run_of, workload};

/// The predicted duration in seconds of a phase. The prediction is based on a run with three repetitions of a 1 GB
/// sequential read, which took 4, 5 and 6 s of wall time. `None` if the run does not apply.
fn predicted(phase_of: Phase, change: impl FnOnce(&mut WorkloadSpec)) -> Option<Interval> {
    let earlier = plan(vec![Case { repetitions: 3, ..case(workload(|_| ()), vec![Phase::Read]) }]);
    let rows = [3, 4, 5].map(|io| phase(&key(io - 3, Phase::Read), 1_000_000_000, u64::from(io) * SECOND));
    let run = run_of(&earlier, &rows, &[], &[]);
    let gigabyte = |spec: &mut WorkloadSpec| {
        spec.geometry.segments = 1000;
        change(spec);
    };
    let new: Plan = plan(vec![case(workload(gigabyte), vec![phase_of])]);
    let predicted = predictions_like(&new, &run, &Source::Run("r".to_owned()));
    let around = RunEnvironment { predicted, ..RunEnvironment::default() };
    let estimate = estimates(&new, &around).0.remove(0).phases.remove(0);
    matches!(estimate.source, Source::Run(_)).then_some(estimate.seconds)
}

#[test]
fn the_same_phase_of_a_larger_file_takes_its_rates() {
    let seconds = predicted(Phase::Read, |_| ()).expect("measured");
    // 1000 MiB at 200 MB/s, between the slowest and the fastest repetition, plus 5 % for variation between runs.
    assert!((seconds.middle - 5.243).abs() < 0.001, "{seconds:?}");
    assert!((seconds.low - 1.048_576 * 4.0 / 1.05).abs() < 0.001, "{seconds:?}");
    assert!((seconds.high - 1.048_576 * 6.0 * 1.05).abs() < 0.001, "{seconds:?}");
}

#[test]
fn the_range_is_wider_the_farther_a_case_is() {
    let width = |tasks| {
        let seconds = predicted(Phase::Read, |spec| spec.tasks = tasks)?;
        Some(seconds.high / seconds.low)
    };
    let widths = [1, 2, 4, 8].map(|tasks| width(tasks).expect("near enough"));
    assert!(widths.is_sorted() && widths[3] > 4.0 * widths[0], "{widths:?}");
    assert_eq!(width(64), None, "six doublings away");
}

#[test]
fn what_is_not_alike_predicts_nothing() {
    let seed = 1;
    assert_eq!(predicted(Phase::Write, |_| ()), None, "reads say nothing of writes");
    assert_eq!(
        predicted(Phase::Read, |spec| spec.order = Order::Random { seed }),
        None,
        "nor of random ones"
    );
    assert_eq!(predicted(Phase::Read, |spec| spec.direct = true), None, "nor of another path");
    let transfer = |bytes| predicted(Phase::Read, |spec| spec.geometry.transfer = Bytes(bytes)).is_some();
    assert!(transfer(512) && !transfer(65_536), "three doublings of a transfer are near, four are not");
}

#[test]
fn the_scatter_between_its_passes_is_the_noise() {
    let earlier = plan(vec![Case { repetitions: 2, ..case(workload(|_| ()), vec![Phase::Read]) }]);
    let noise = |seconds: &[u64]| {
        let rows: Vec<_> = seconds
            .iter()
            .zip(0..)
            .map(|(&seconds, pass)| phase(&key(pass, Phase::Read), 1_000_000_000, seconds * SECOND))
            .collect();
        let run = run_of(&earlier, &rows, &[], &[]);
        let found = predictions_like(&earlier, &run, &Source::Run("r".to_owned()));
        found.noise(&earlier.cases[0].id, Phase::Read)
    };
    // 4 and 8 s of wall time: ln 2 ÷ √2.
    assert!((noise(&[3, 7]).expect("two passes") - 0.490_129).abs() < 1e-4);
    assert_eq!(noise(&[4]), None);
}
