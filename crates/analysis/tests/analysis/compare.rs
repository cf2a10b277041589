//! Two runs beside each other.

use analysis::{
    Outcome, Steadier, by_chance, compare, compare_figures, compare_spread, difference, largest_gap,
};
use proptest::collection::vec;
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use record::Operation;

use crate::rows::bucket;
use crate::study::{Study, key, reads};

const CALM: [f64; 5] = [100.0, 101.0, 99.0, 100.5, 99.5];

#[test]
fn equal_runs_show_no_difference() {
    let same = difference(&CALM, &[100.2, 99.8, 101.2, 99.1, 100.1], true).expect("two samples");
    assert_eq!(same.outcome, Outcome::NoDifference);
    let (low, high) = same.interval.expect("an interval");
    assert!(low < 0.0 && high > 0.0 && same.p_value.expect("five values") > 0.5, "{same:?}");
}

/// The second has 1.1 times each rate: the ratio is known, and the interval holds it.
#[test]
fn a_gain_is_told_with_its_interval() {
    let after = CALM.map(|value| value * 1.1);
    let gain = difference(&CALM, &after, true).expect("two samples");
    assert_eq!(gain.outcome, Outcome::Faster);
    assert!((gain.change - 0.1).abs() < 1e-12);
    let (low, high) = gain.interval.expect("an interval");
    assert!(0.08 < low && low < 0.1 && 0.1 < high && high < 0.13, "{gain:?}");
    assert!((gain.p_value.expect("five values") - 2.0 / 252.0).abs() < 1e-12);
    assert_eq!(difference(&after, &CALM, true).map(|loss| loss.outcome), Some(Outcome::Slower));
    assert_eq!(difference(&CALM, &after, false).map(|later| later.outcome), Some(Outcome::Slower));
}

#[test]
fn three_values_cannot_tell() {
    let three = difference(&[1.0, 1.1, 1.2], &[9.0, 9.1, 9.2], true).expect("two samples");
    assert_eq!((three.outcome, three.interval), (Outcome::TooFew, None));
    let one = difference(&[1.0], &[9.0], true).expect("two samples");
    assert_eq!((one.outcome, one.p_value, one.change), (Outcome::TooFew, None, 8.0));
    assert_eq!(difference(&[], &[1.0], true), None);
    assert_eq!(difference(&[0.0], &[1.0], true), None);
    assert_eq!(difference(&[1.0], &[f64::INFINITY], true), None);
}

#[test]
fn figures_are_compared_by_case_and_phase() {
    let before = Study::default()
        .with(reads("a"), &[100, 101, 102, 103, 104])
        .with(reads("b"), &[100, 101, 102, 103, 104])
        .with(reads("gone"), &[1]);
    let after = Study::default()
        .with(reads("b"), &[150, 151, 152, 153, 154])
        .with(reads("a"), &[104, 102, 100, 103, 101])
        .with(reads("new"), &[1]);
    let found = compare(&before.figures(), &after.figures());
    let said: Vec<_> = found.iter().map(|one| (one.case.as_str(), one.outcome)).collect();
    assert_eq!(said, [("a", Outcome::NoDifference), ("b", Outcome::Faster)]);
    assert_eq!((found[1].before, found[1].after), (102.0 * 4096.0, 152.0 * 4096.0));
    let gap = largest_gap(&found).expect("two rates");
    assert!(gap.case == "b" && (gap.change - 50.0 / 102.0).abs() < 1e-12);
    assert!((by_chance(&found) - 0.1).abs() < 1e-12);
}

/// Two targets of one run have cases of different names; the latency is compared as well, where
/// less is better.
#[test]
fn two_figures_of_one_run_can_be_compared() {
    let mut study = Study::default().with(reads("disk"), &[100; 5]).with(reads("flash"), &[200; 5]);
    for (place, latency_ns) in [(0, 1000), (1, 500)] {
        for repetition in 0..5 {
            let key = key(&study.cases[place], repetition, plan::Phase::Read);
            let edges = (latency_ns + repetition as u64, latency_ns + repetition as u64);
            study.latency.push(bucket(&key, Operation::Read, edges, 10));
        }
    }
    let figures = study.figures();
    let found = compare_figures(&figures[0], &figures[1]);
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].case.as_str(), found[0].operation, found[0].change), ("disk → flash", None, 1.0));
    assert_eq!((found[1].operation, found[1].before, found[1].after), (Some(Operation::Read), 1002.0, 502.0));
    assert_eq!(found[1].outcome, Outcome::Faster);
    assert_eq!(largest_gap(&found).map(|gap| gap.operation), Some(None), "latencies are no rates");
}

/// The warm-up of the first run is far off; without it both are the same.
#[test]
fn a_warm_up_is_not_compared() {
    let case = || {
        let mut case = reads("a");
        case.protocol.warm_up = 1;
        case
    };
    let before = Study::default().with(case(), &[9000, 100, 101, 102, 103]);
    let after = Study::default().with(case(), &[100, 100, 101, 102, 103]);
    let found = compare(&before.figures(), &after.figures());
    assert_eq!((found[0].before, found[0].after), (101.5 * 4096.0, 101.5 * 4096.0));
    assert_eq!(found[0].p_value, Some(1.0));
}

/// Against SciPy 1.17: `levene(center="median")` of both samples, each divided by its median.
#[test]
fn the_steadier_system_is_named() {
    let calm: Vec<f64> = [10.0, 11.0, 9.0, 10.5, 9.5, 10.2].iter().map(|value| value / 10.1).collect();
    let wild: Vec<f64> = [10.0, 15.0, 5.0, 13.0, 7.0, 11.0].iter().map(|value| value / 10.5).collect();
    let test = compare_spread(&calm, &wild).expect("two samples");
    assert_eq!(test.steadier, Steadier::First);
    assert!((test.p_value - P_OF_RELATIVE).abs() < 1e-9, "{}", test.p_value);
    assert_eq!(compare_spread(&wild, &calm).map(|test| test.steadier), Some(Steadier::Second));
    let larger: Vec<f64> = calm.iter().map(|value| value * 7.0).collect();
    assert_eq!(compare_spread(&calm, &larger).map(|test| test.steadier), Some(Steadier::NoDifference));
    assert_eq!(compare_spread(&calm[..4], &wild).map(|test| test.steadier), Some(Steadier::TooFew));
    assert_eq!(compare_spread(&[5.0; 5], &[9.0; 5]).map(|test| test.p_value), Some(1.0));
    assert_eq!(compare_spread(&[5.0], &wild), None);
    assert_eq!(compare_spread(&[0.0; 5], &wild), None);
}

const P_OF_RELATIVE: f64 = 0.024_487_668_564_713_75;

proptest! {
    /// The unit does not matter, and turning the sides turns the outcome.
    #[test]
    fn a_difference_has_no_unit(
        before in vec(50.0_f64..150.0, 1..9), after in vec(50.0_f64..150.0, 1..9), power in -10_i32..30,
    ) {
        let unit = 2.0_f64.powi(power);
        let scaled = |values: &[f64]| values.iter().map(|value| value * unit).collect::<Vec<_>>();
        let one = difference(&before, &after, true).expect("two samples");
        let other = difference(&scaled(&before), &scaled(&after), true).expect("two samples");
        prop_assert_eq!((one.outcome, one.p_value), (other.outcome, other.p_value));
        prop_assert!((one.change - other.change).abs() < 1e-9);
        let turned = difference(&after, &before, true).expect("two samples").outcome;
        let opposite = match one.outcome {
            Outcome::Faster => Outcome::Slower,
            Outcome::Slower => Outcome::Faster,
            same => same,
        };
        prop_assert_eq!(turned, opposite);
        if let Some((low, high)) = one.interval {
            prop_assert!(low <= high && low > -1.0);
        }
    }

    /// The same sample on both sides is never a difference.
    #[test]
    fn a_run_does_not_differ_from_itself(values in vec(1.0_f64..1e9, 2..30)) {
        let same = difference(&values, &values, true).expect("two samples");
        prop_assert!(matches!(same.outcome, Outcome::NoDifference | Outcome::TooFew));
        prop_assert!(compare_spread(&values, &values).is_some_and(|test| test.p_value > 0.99));
    }
}
