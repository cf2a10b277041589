//! Rules that end a case based on the measured values.

use analysis::statistics::{all_settled, counted, interval_share, settled, steady, summary_under};
use plan::Stopping;
use proptest::collection::vec;
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

const SNIA: Stopping = Stopping::Steady { window: 5, excursion: 0.2, slope: 0.1 };

#[test]
fn a_count_is_not_ended_by_values() {
    assert!(!settled(&[1.0; 100], Stopping::Count));
}

/// By hand: 100, 104, 96, 108, 102 have the mean 102 and the range 12. The slope is Σ(x − 2)(y − 102) = 8 over Σ(x −
/// 2)² = 10, which is 0.8 and rises by 3.2 over the window.
#[test]
fn a_window_within_both_limits_is_steady() {
    let values = [500.0, 300.0, 100.0, 104.0, 96.0, 108.0, 102.0];
    let state = steady(&values, SNIA).expect("a window");
    assert!(state.reached);
    assert!((state.range_share - 12.0 / 102.0).abs() < 1e-12);
    assert!((state.slope_share - 3.2 / 102.0).abs() < 1e-12);
    assert!(settled(&values, SNIA));
    assert!(!settled(&values[..6], SNIA), "the fall is still in the window");
    assert!(!settled(&values[3..], SNIA), "four rounds are no window");
}

/// A steady decline of 12 % stays within a range of 20 %, but is not a steady state.
#[test]
fn a_drift_is_not_steady() {
    let values = [106.0, 103.0, 100.0, 97.0, 94.0];
    let state = steady(&values, SNIA).expect("a window");
    assert!((state.range_share - 0.12).abs() < 1e-12 && (state.slope_share - 0.12).abs() < 1e-12);
    assert!(!state.reached);
}

/// No drift, but one value that is too far off.
#[test]
fn an_excursion_is_not_steady() {
    let values = [100.0, 100.0, 125.0, 100.0, 100.0];
    let state = steady(&values, SNIA).expect("a window");
    assert!(state.slope_share < 1e-12 && state.range_share > 0.2 && !state.reached);
}

/// With seven equal values the confidence is below 95 % at every look, with eight it is above.
#[test]
fn an_interval_needs_its_confidence() {
    let rule = |least| Stopping::Interval { share: 0.05, least };
    assert!(!settled(&[7.0; 7], rule(2)));
    assert!(settled(&[7.0; 8], rule(2)));
    assert!(!settled(&[7.0; 8], rule(9)));
    assert!(settled(&[7.0; 9], rule(9)));
    let spread = [95.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 101.0];
    assert_eq!(interval_share(&spread), Some(0.06));
    assert!(!settled(&spread, rule(8)));
    assert!(settled(&spread, Stopping::Interval { share: 0.06, least: 8 }), "the limit itself is enough");
    assert!(!settled(&[0.0; 10], rule(2)), "nothing was moved");
}

/// If an interval ended the case, that same interval must be shown next to the values.
#[test]
fn a_case_that_its_interval_ended_shows_that_interval() {
    let values: Vec<f64> = (1..=12).map(f64::from).collect();
    let ends = |stopping| {
        let shown =
            summary_under(&values, stopping).and_then(|all| all.median_interval).expect("an interval");
        (shown.low, shown.high)
    };
    assert_eq!(ends(Stopping::Interval { share: 0.9, least: 8 }), (2.0, 11.0));
    assert_eq!(ends(Stopping::Count), (3.0, 10.0));
    assert_eq!(ends(SNIA), (3.0, 10.0));
}

#[test]
fn every_phase_has_to_settle() {
    let (calm, wild) = ([5.0; 8], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    let rule = Stopping::Interval { share: 0.05, least: 8 };
    assert!(all_settled([&calm[..], &calm[..]], rule));
    assert!(!all_settled([&calm[..], &wild[..]], rule));
    assert!(!all_settled(std::iter::empty::<&[f64]>(), rule));
}

#[test]
fn of_a_steady_case_the_last_window_counts() {
    assert_eq!(counted(9, SNIA), 4..9);
    assert_eq!(counted(3, SNIA), 0..3);
    assert_eq!(counted(9, Stopping::Count), 0..9);
    assert_eq!(counted(9, Stopping::Interval { share: 0.1, least: 6 }), 0..9);
}

proptest! {
    /// Neither the unit nor values before the window matter.
    #[test]
    fn steadiness_has_no_unit(
        before in vec(1.0_f64..1e3, 0..5), values in vec(90.0_f64..120.0, 5), unit in 1e-3_f64..1e9,
    ) {
        let alone = steady(&values, SNIA).expect("a window");
        let scaled: Vec<f64> = before.iter().chain(&values).map(|value| value * unit).collect();
        let state = steady(&scaled, SNIA).expect("a window");
        prop_assert!((state.range_share - alone.range_share).abs() < 1e-9);
        prop_assert!((state.slope_share - alone.slope_share).abs() < 1e-9);
        prop_assert!(state.slope_share <= 2.0 * state.range_share, "a line cannot rise much more than its points");
    }

    #[test]
    fn settled_is_what_the_interval_says(values in vec(50.0_f64..150.0, 0..30), share in 0.0_f64..1.0) {
        let wanted = interval_share(&values).is_some_and(|width| width <= share);
        prop_assert_eq!(settled(&values, Stopping::Interval { share, least: 0 }), wanted);
    }
}
