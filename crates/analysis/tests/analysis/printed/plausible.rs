//! Bounds on printed statistics: real samples never violate them, impossible values always do.

use analysis::{
    printed::{
        Implausible, PrintedStatistics, check_statistics, deviation_max, deviation_min, values_needed,
    },
    statistics::Summary,
};
use proptest::prelude::*;

fn printed(values: &[f64]) -> PrintedStatistics {
    let summary = Summary::of(values).expect("values");
    PrintedStatistics {
        n: Some(values.len() as u64),
        min: Some(summary.min),
        max: Some(summary.max),
        mean: Some(summary.mean),
        deviation: Some(summary.deviation_sample),
        ..PrintedStatistics::default()
    }
}

proptest! {
    #[test]
    fn no_sample_is_called_impossible(values in prop::collection::vec(-1e6_f64..1e6, 1..60)) {
        prop_assert_eq!(check_statistics(&printed(&values)), []);
        let without_number = PrintedStatistics { n: None, ..printed(&values) };
        prop_assert_eq!(check_statistics(&without_number), []);
    }

    #[test]
    fn the_bounds_are_reached(range in 0.1_f64..1e6, n in 2_u64..200) {
        let mut middle = vec![range / 2.0; usize::try_from(n).expect("small") - 2];
        middle.extend([0.0, range]);
        let least = Summary::of(&middle).expect("values").deviation_sample;
        prop_assert!((least / deviation_min(range, n) - 1.0).abs() < 1e-9);
        let ends: Vec<f64> = (0..n).map(|index| if index % 2 == 0 { 0.0 } else { range }).collect();
        let most = Summary::of(&ends).expect("values").deviation_sample;
        prop_assert!((most / deviation_max(range, n) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn beyond_the_bounds_is_found(range in 0.1_f64..1e6, n in 3_u64..200, beyond in 1.01_f64..10.0) {
        let with = |deviation| PrintedStatistics {
            n: Some(n), range: Some(range), deviation: Some(deviation), ..PrintedStatistics::default()
        };
        let small = check_statistics(&with(deviation_min(range, n) / beyond));
        let is_small = matches!(small[..], [(Implausible::DeviationTooSmall, _)]);
        prop_assert!(is_small, "found {:?}", small);
        let large = check_statistics(&with(deviation_max(range, n) * beyond));
        let is_large = matches!(large[..], [(Implausible::DeviationTooLarge, _)]);
        prop_assert!(is_large, "found {:?}", large);
    }

    #[test]
    fn a_mean_outside_of_the_values_is_found(min in -1e3_f64..1e3, range in 0.1_f64..1e3, by in 0.01_f64..10.0) {
        let max = min + range;
        let with = |mean| PrintedStatistics {
            min: Some(min), max: Some(max), mean: Some(mean), ..PrintedStatistics::default()
        };
        prop_assert_eq!(check_statistics(&with(f64::midpoint(min, max))), []);
        prop_assert_eq!(check_statistics(&with(max + by)).len(), 1);
        prop_assert_eq!(check_statistics(&with(min - by)).len(), 1);
    }
}

#[test]
fn the_deviation_of_study_c_is_impossible() {
    let flash = PrintedStatistics {
        n: Some(101),
        range: Some(2.15),
        mean: Some(1.15),
        deviation: Some(0.035),
        ..PrintedStatistics::default()
    };
    let found = check_statistics(&flash);
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].1,
        "a standard deviation of 0.035 is impossible for 101 values with a range of 2.15: \
         it is at least 0.152; 1888 values would be needed"
    );
    assert_eq!(values_needed(2.15, 0.035), Some(1888));
    let spinning = PrintedStatistics { range: Some(2.65), deviation: Some(0.345), ..flash };
    assert_eq!(check_statistics(&spinning), []);
    assert!((deviation_min(2.65, 101) - 0.187_383_297_014_434_07).abs() < 1e-15);
    assert!((deviation_min(2.65, 19) - 0.441_666_666_666_666_65).abs() < 1e-15);
}

#[test]
fn values_that_were_rounded_have_room() {
    let exact = PrintedStatistics {
        n: Some(2),
        range: Some(2.0),
        deviation: Some(1.42),
        ..PrintedStatistics::default()
    };
    assert_eq!(check_statistics(&exact).len(), 1);
    assert_eq!(check_statistics(&PrintedStatistics { rounding: 0.005, ..exact }), []);
}

/// Three values with range 3 have a deviation of at least 1.5 with the divisor 2, and of at least 1.225 with the
/// divisor 3. The message contains the deviation as printed.
#[test]
fn a_deviation_of_either_divisor_has_the_lower_bound_and_is_told_as_printed() {
    let of = |deviation, either_divisor| {
        let (n, range, deviation) = (Some(3), Some(3.0), Some(deviation));
        let found = check_statistics(&PrintedStatistics {
            n,
            range,
            deviation,
            either_divisor,
            ..Default::default()
        });
        found.into_iter().next().map(|(_, evidence)| evidence)
    };
    assert_eq!(of(1.3, true), None);
    assert!(of(1.3, false).is_some_and(|said| said.contains("at least 1.500; 4 values")));
    let said = of(1.2, true).expect("too small for either");
    assert!(said.contains("deviation of 1.2 is") && said.contains("at least 1.225; 4 values"), "{said}");
}

#[test]
fn nothing_printed_is_nothing_wrong() {
    assert_eq!(check_statistics(&PrintedStatistics::default()), []);
    let negative = PrintedStatistics { min: Some(2.0), max: Some(1.0), ..PrintedStatistics::default() };
    assert_eq!(check_statistics(&negative)[0].0, Implausible::NegativeRange);
}

/// The mean of seven equal values has an error in the last bit, and so does their deviation.
#[test]
fn equal_values_are_possible() {
    for value in [0.1, 0.7, 1.1, 3.3e9, 123_456_789.1] {
        for n in 2_u32..20 {
            let mean = (0..n).map(|_| value).sum::<f64>() / f64::from(n);
            let squares: f64 = (0..n).map(|_| (value - mean).powi(2)).sum();
            let printed = PrintedStatistics {
                n: Some(n.into()),
                min: Some(value),
                max: Some(value),
                mean: Some(mean),
                deviation: Some((squares / f64::from(n - 1)).sqrt()),
                ..PrintedStatistics::default()
            };
            assert_eq!(check_statistics(&printed), [], "{n} times {value}");
        }
    }
}
