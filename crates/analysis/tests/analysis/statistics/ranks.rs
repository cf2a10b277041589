//! Comparison of two samples without an assumption about their distribution.

use analysis::statistics::{mann_whitney, shift};
use proptest::collection::vec;
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

/// Hollander and Wolfe, example 4.1: permeability of membranes at term and at 12 to 26 weeks.
const TERM: [f64; 10] = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
const WEEKS: [f64; 5] = [1.15, 0.88, 0.90, 0.74, 1.21];

/// From the book: U = 15 for the second sample, one-sided P = 0.127, and a 95 % interval of the shift from −0.76 to
/// 0.15.
#[test]
fn the_textbook_example_comes_out() {
    let test = mann_whitney(&TERM, &WEEKS).expect("two samples");
    assert_eq!(test.u, 15.0);
    assert!((test.p_value - 0.254_412_254_412_254_4).abs() < 1e-12, "{}", test.p_value);
    let (low, high) = shift(&TERM, &WEEKS, 0.95).expect("an interval");
    assert!((low + 0.76).abs() < 1e-9 && (high - 0.15).abs() < 1e-9, "{low} {high}");
}

#[test]
fn probabilities_are_those_of_counting() {
    let five = mann_whitney(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0]).expect("two samples");
    assert!((five.p_value - 2.0 / 252.0).abs() < 1e-15 && five.u == 25.0);
    let same = mann_whitney(&[1.0; 5], &[1.0; 5]).expect("two samples");
    assert_eq!((same.p_value, same.u), (1.0, 12.5));
}

/// Compared with SciPy 1.17, `mannwhitneyu(method="asymptotic")`.
#[test]
fn many_values_are_compared_with_the_normal_distribution() {
    let first: Vec<f64> = (0..25).map(f64::from).collect();
    let second: Vec<f64> = first.iter().map(|value| value + 6.5).collect();
    let test = mann_whitney(&first, &second).expect("two samples");
    assert!((test.p_value - 0.006_222_848_471_189_992).abs() < 1e-9, "{}", test.p_value);
    let first: Vec<f64> = (0..25).map(|value| f64::from(value / 3)).collect();
    let second: Vec<f64> = (0..30).map(|value| f64::from((value + 8) / 3)).collect();
    let test = mann_whitney(&first, &second).expect("two samples");
    assert!((test.p_value - 0.000_109_279_534_437_693_4).abs() < 1e-9, "{}", test.p_value);
    assert_eq!(mann_whitney(&[1.0; 30], &[1.0; 30]).map(|test| test.p_value), Some(1.0));
}

#[test]
fn few_values_have_no_interval() {
    assert_eq!(shift(&[1.0, 2.0, 3.0], &[11.0, 12.0, 13.0], 0.95), None);
    assert_eq!(mann_whitney(&[], &[1.0]), None);
    assert_eq!(mann_whitney(&[f64::NAN], &[1.0]), None);
}

/// A million values are compared without enumerating their pairwise differences.
#[test]
fn many_values_are_no_reason_to_run_out_of_memory() {
    let many: Vec<f64> = (0..1_000_000).map(f64::from).collect();
    assert_eq!(shift(&many, &many, 0.95), None);
    let same = analysis::statistics::difference(&many[1..], &many[1..], 1).expect("two samples");
    assert_eq!(
        (same.outcome, same.interval, same.change),
        (analysis::statistics::Contrast::NotShown, None, 0.0)
    );
}

/// Enumerates all ways to choose `n` of the values, as bit masks.
fn by_counting(first: &[f64], second: &[f64]) -> f64 {
    let all: Vec<f64> = first.iter().chain(second).copied().collect();
    let u = |chosen: u32| -> f64 {
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        for (place, &value) in all.iter().enumerate() {
            if chosen >> place & 1 == 1 { inside.push(value) } else { outside.push(value) }
        }
        let pair = |a: f64, b: f64| {
            if b > a {
                1.0
            } else if b == a {
                0.5
            } else {
                0.0
            }
        };
        outside.iter().flat_map(|&a| inside.iter().map(move |&b| pair(a, b))).sum()
    };
    let middle = (first.len() * second.len()) as f64 / 2.0;
    let own = ((1_u32 << second.len()) - 1) << first.len();
    let ways: Vec<f64> = (0..1_u32 << all.len())
        .filter(|chosen| chosen.count_ones() as usize == second.len())
        .map(|chosen| (u(chosen) - middle).abs())
        .collect();
    let away = (u(own) - middle).abs();
    ways.iter().filter(|&&one| one >= away).count() as f64 / ways.len() as f64
}

proptest! {
    /// Few distinct values, so that there are many ties.
    #[test]
    fn the_probability_is_the_share_of_ways(first in vec(0_u8..6, 1..7), second in vec(0_u8..6, 1..7)) {
        let first: Vec<f64> = first.into_iter().map(f64::from).collect();
        let second: Vec<f64> = second.into_iter().map(f64::from).collect();
        let test = mann_whitney(&first, &second).expect("two samples");
        prop_assert!((test.p_value - by_counting(&first, &second)).abs() < 1e-12);
        let turned = mann_whitney(&second, &first).expect("two samples");
        prop_assert!((turned.p_value - test.p_value).abs() < 1e-12);
        prop_assert_eq!(turned.u + test.u, (first.len() * second.len()) as f64);
    }

    /// Without ties, the interval of the shift excludes 0 exactly if the test finds a difference.
    #[test]
    fn the_interval_and_the_test_agree(first in vec(0.0_f64..100.0, 4..12), second in vec(0.0_f64..100.0, 4..12), by in -80.0_f64..80.0) {
        let second: Vec<f64> = second.iter().map(|value| value + by).collect();
        let test = mann_whitney(&first, &second).expect("two samples");
        let (low, high) = shift(&first, &second, 0.95).expect("an interval");
        prop_assert_eq!(test.p_value <= 0.05 + 1e-12, low > 0.0 || high < 0.0, "{:?} {} {}", test, low, high);
    }
}
