//! Outliers.

use analysis::statistics::{ROBUST_Z_MAX, robust_z, standing_apart};
use proptest::collection::vec;
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

/// The last two values are outliers, although the standard deviation that they inflate hides them: neither is three
/// standard deviations from the mean.
#[test]
fn two_that_hide_each_other_are_found() {
    let values = [2.1, 2.6, 2.4, 2.5, 2.3, 2.1, 2.3, 2.6, 8.2, 8.3];
    assert_eq!(standing_apart(&values), [8, 9]);
    let scores = robust_z(&values).expect("scores");
    // Median 2.45; distances sorted 0.05 0.05 0.15 0.15 0.15 0.15 0.35 0.35 5.75 5.85: MAD 0.15.
    assert!((scores[8] - 0.674_489_75 * 5.75 / 0.15).abs() < 1e-6, "{}", scores[8]);
}

#[test]
fn many_equal_values_are_no_reason_to_divide_by_nothing() {
    let mut values = vec![100.0; 9];
    assert_eq!(standing_apart(&values), Vec::<usize>::new());
    values.push(160.0);
    assert_eq!(standing_apart(&values), [9]);
    assert_eq!(robust_z(&[1.0, 2.0]), None);
    assert_eq!(standing_apart(&[1.0, f64::NAN, 2.0]), Vec::<usize>::new());
}

proptest! {
    /// Unit and offset do not matter, and at least half of the values are never outliers.
    #[test]
    fn scores_have_no_unit(values in vec(-1e3_f64..1e3, 3..40), unit in 0.1_f64..10.0, zero in -1e3_f64..1e3) {
        let scores = robust_z(&values).expect("scores");
        let moved: Vec<f64> = values.iter().map(|value| value * unit + zero).collect();
        for (score, moved) in scores.iter().zip(robust_z(&moved).expect("scores")) {
            prop_assert!((score - moved).abs() <= 1e-6 * (1.0 + score.abs()));
        }
        prop_assert!(standing_apart(&values).len() <= values.len() / 2);
        let far = scores.iter().filter(|score| score.abs() > ROBUST_Z_MAX).count();
        prop_assert_eq!(far, standing_apart(&values).len());
    }
}
