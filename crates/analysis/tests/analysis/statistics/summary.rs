//! Summaries, checked against their definitions.

use analysis::statistics::{CONFIDENCE, Summary, bound_least, median_bounds, overhead};
use proptest::collection::vec;
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

/// Values by hand: mean 5, squared distances 9+1+1+1+0+0+4+16 = 32.
#[test]
fn known_values() {
    let summary = Summary::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).expect("eight values");
    assert_eq!((summary.n, summary.mean, summary.median), (8, 5.0, 4.5));
    assert_eq!((summary.min, summary.max, summary.best), (2.0, 9.0, 9.0));
    assert_eq!(summary.deviation_population, 2.0);
    assert!(close(summary.deviation_sample, (32.0_f64 / 7.0).sqrt()));
    assert!(close(summary.variation, (32.0_f64 / 7.0).sqrt() / 5.0));
}

#[test]
fn nothing_and_nonsense_have_no_summary() {
    assert_eq!(Summary::of(&[]), None);
    assert_eq!(Summary::of(&[1.0, f64::NAN]), None);
    assert_eq!(Summary::of(&[f64::INFINITY]), None);
    let one = Summary::of(&[3.0]).expect("one value");
    assert_eq!((one.deviation_sample, one.median_interval), (0.0, None));
}

/// Le Boudec, table of confidence intervals for the median at 95 %: for n = 6 the whole range
/// (p = 0.969), for 10 the 2nd to 9th value (0.979), for 20 the 6th to 15th (0.959), for 50 the
/// 18th to 33rd (0.967), for 70 the 27th to 44th (0.959).
#[test]
fn intervals_of_the_median_are_those_of_the_book() {
    for (n, low, high, confidence) in
        [(6, 1, 6, 0.969), (10, 2, 9, 0.979), (20, 6, 15, 0.959), (50, 18, 33, 0.967), (70, 27, 44, 0.959)]
    {
        let values: Vec<f64> = (1..=n).map(f64::from).collect();
        let interval = Summary::of(&values).and_then(|s| s.median_interval).expect("an interval");
        assert_eq!((interval.low, interval.high), (f64::from(low), f64::from(high)), "n = {n}");
        assert!((interval.confidence - confidence).abs() < 0.0006, "n = {n}: {}", interval.confidence);
    }
}

/// Five repetitions cannot give 95 % two-sided, 1 − 2 · 2⁻⁵, but can one-sided.
#[test]
fn few_values_have_no_interval() {
    let five = [3.0, 1.0, 2.0, 5.0, 4.0];
    assert_eq!(Summary::of(&five).map(|all| (all.n, all.median_interval)), Some((5, None)));
    let bounds = median_bounds(&five, 0.05).expect("a bound");
    assert_eq!((bounds.low, bounds.high, bounds.confidence), (1.0, 5.0, 0.968_75));
    assert_eq!(median_bounds(&five[..4], 0.05), None);
    assert_eq!([0.05, 0.025, 0.05 / 24.0].map(bound_least), [5, 6, 9]);
}

#[test]
fn overhead_is_the_median_of_the_pairs() {
    let cost =
        overhead(&[99.0, 202.0, 297.0, 392.0, 495.0, 588.0], &[100.0, 200.0, 300.0, 400.0, 500.0, 600.0])
            .expect("pairs");
    assert!(close(cost.median, 0.01), "{}", cost.median);
    assert_eq!(cost.pairs, 6);
    let interval = cost.interval.expect("an interval");
    assert!(close(interval.low, -0.01) && close(interval.high, 0.02));
    assert_eq!(overhead(&[1.0], &[1.0, 2.0]), None);
    assert_eq!(overhead(&[1.0], &[0.0]), None);
}

proptest! {
    #[test]
    fn a_summary_is_what_its_names_say(values in vec(-1e12_f64..1e12, 1..200)) {
        let summary = Summary::of(&values).expect("finite values");
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        prop_assert!((summary.mean - mean).abs() <= 1e-3);
        prop_assert!((summary.deviation_population - (squares / n).sqrt()).abs() <= 1e-3);
        let below = values.iter().filter(|&&value| value <= summary.median).count();
        let above = values.iter().filter(|&&value| value >= summary.median).count();
        prop_assert!(2 * below >= values.len() && 2 * above >= values.len(), "half on either side");
        prop_assert!(values.contains(&summary.min) && values.contains(&summary.max));
        prop_assert!(values.iter().all(|&value| summary.min <= value && value <= summary.max));
    }

    /// If the requested confidence is possible, the interval has at least that confidence and contains the median,
    /// and the next narrower interval would have less.
    #[test]
    fn the_interval_is_the_narrowest_that_suffices(n in 6_usize..400) {
        let values: Vec<f64> = (0..n).map(|value| value as f64).collect();
        let summary = Summary::of(&values).expect("values");
        let interval = summary.median_interval.expect("an interval");
        prop_assert!(interval.low <= summary.median && summary.median <= interval.high);
        prop_assert_eq!(interval.low, (n - 1) as f64 - interval.high, "both sides alike");
        let confidence = |low: usize| 1.0 - 2.0 * (0..=low).map(|k| binomial_half(n, k)).sum::<f64>();
        let low = values.iter().position(|&value| value == interval.low).expect("a value");
        prop_assert!((interval.confidence - confidence(low)).abs() < 1e-9);
        prop_assert!(interval.confidence >= CONFIDENCE);
        prop_assert!(confidence(low + 1) < CONFIDENCE);
    }
}

/// P(Binomial(n, 1/2) = k), multiplied factor by factor to avoid overflow.
fn binomial_half(n: usize, k: usize) -> f64 {
    let mut probability = 1.0;
    let mut halvings = n;
    for i in 0..k {
        probability *= (n - i) as f64 / (i + 1) as f64;
        while probability > 1.0 && halvings > 0 {
            probability /= 2.0;
            halvings -= 1;
        }
    }
    probability * 0.5_f64.powi(i32::try_from(halvings).expect("small"))
}
