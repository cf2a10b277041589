//! Intervals from samples of the sample, against the textbook and against what they promise.

use analysis::statistics::{Bootstrap, BootstrapMethod, Summary, bootstrap_mean};
use proptest::collection::vec;
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

/// Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, table 14.1: the spatial test
/// data, test A of 26 children.
const SPATIAL: [f64; 26] = [
    48.0, 36.0, 20.0, 29.0, 42.0, 42.0, 20.0, 42.0, 22.0, 41.0, 45.0, 14.0, 6.0, 0.0, 33.0, 28.0, 34.0, 4.0,
    32.0, 24.0, 47.0, 41.0, 24.0, 26.0, 30.0, 41.0,
];

fn median(values: &mut [f64]) -> f64 {
    Summary::of(values).map_or(f64::NAN, |all| all.median)
}

/// Divisor n, as in the book.
fn variance(values: &mut [f64]) -> f64 {
    let mean = bootstrap_mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64
}

/// The same book, table 14.2: variance 171.5, percentiles 100.8 to 233.9, BCa 115.8 to 259.6 at
/// 90 %, acceleration 0.061, bias 0.146 from 2000 samples of their own.
#[test]
fn the_textbook_example_comes_out() {
    let with = |method| {
        let bootstrap = Bootstrap { method, samples: 50_000, confidence: 0.9, seed: 1 };
        bootstrap.interval(&SPATIAL, variance).expect("an interval")
    };
    let percentile = with(BootstrapMethod::Percentile);
    assert!((percentile.statistic - 171.5).abs() < 0.05, "{percentile:?}");
    assert!((percentile.low - 100.8).abs() < 4.0 && (percentile.high - 233.9).abs() < 4.0, "{percentile:?}");
    let bca = with(BootstrapMethod::Bca);
    assert!((bca.acceleration - 0.061).abs() < 0.0005, "{bca:?}");
    assert!((bca.bias - 0.146).abs() < 0.04, "{bca:?}");
    assert!((bca.low - 115.8).abs() < 5.0 && (bca.high - 259.6).abs() < 6.0, "{bca:?}");
}

/// The numbers of a record must come out again on every machine and with every later program.
#[test]
fn the_same_seed_gives_the_same_interval() {
    let with = |seed| {
        let bootstrap = Bootstrap { seed, samples: 500, ..Bootstrap::default() };
        let interval = bootstrap.interval(&SPATIAL, bootstrap_mean).expect("an interval");
        (interval.low, interval.high)
    };
    assert_eq!(with(7), with(7));
    assert_ne!(with(7), with(8));
    assert_eq!(with(7), PINNED);
}

const PINNED: (f64, f64) = (24.971_213_796_750_68, 34.601_253_895_195_946);

/// The mean of 10 000 samples lies at the mean, and the interval at ± 1.96 standard errors.
#[test]
fn the_interval_of_a_mean_is_that_of_the_normal_distribution() {
    let values: Vec<f64> = (1..=1000).map(f64::from).collect();
    let interval = Bootstrap { samples: 2000, ..Bootstrap::default() }
        .interval(&values, bootstrap_mean)
        .expect("an interval");
    let error = (1_000_000.0_f64 / 12.0 / 1000.0).sqrt();
    assert!((interval.low - (500.5 - 1.96 * error)).abs() < error / 5.0, "{interval:?}");
    assert!((interval.high - (500.5 + 1.96 * error)).abs() < error / 5.0, "{interval:?}");
}

#[test]
fn what_has_no_interval_gets_none() {
    let bootstrap = Bootstrap::default();
    assert_eq!(bootstrap.interval(&[1.0], bootstrap_mean), None);
    assert_eq!(bootstrap.interval(&[1.0, f64::NAN], bootstrap_mean), None);
    assert_eq!(bootstrap.interval(&[1.0, 2.0], |_| f64::NAN), None);
    assert_eq!(Bootstrap { confidence: 1.0, ..bootstrap }.interval(&[1.0, 2.0], bootstrap_mean), None);
    assert_eq!(Bootstrap { samples: 1, ..bootstrap }.interval(&[1.0, 2.0], bootstrap_mean), None);
    let equal = bootstrap.interval(&[5.0; 4], median).expect("an interval");
    assert_eq!((equal.low, equal.high, equal.bias, equal.acceleration), (5.0, 5.0, 0.0, 0.0));
}

proptest! {
    /// Ends are statistics of samples: never outside of the values, and in order.
    #[test]
    fn ends_lie_between_the_values(values in vec(0.0_f64..1e6, 2..30), seed in any::<u64>(), bca in any::<bool>()) {
        let method = if bca { BootstrapMethod::Bca } else { BootstrapMethod::Percentile };
        let bootstrap = Bootstrap { method, samples: 200, confidence: 0.9, seed };
        if let Some(interval) = bootstrap.interval(&values, median) {
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(0.0, f64::max);
            prop_assert!(low <= interval.low && interval.low <= interval.high && interval.high <= high);
        }
    }

    /// A wider confidence never gives a narrower interval of percentiles.
    #[test]
    fn more_confidence_is_wider(values in vec(0.0_f64..1e6, 2..30), seed in any::<u64>()) {
        let width = |confidence| {
            let bootstrap = Bootstrap { method: BootstrapMethod::Percentile, samples: 200, confidence, seed };
            bootstrap.interval(&values, bootstrap_mean).map(|interval| interval.high - interval.low)
        };
        prop_assert!(width(0.99) >= width(0.9));
        prop_assert_eq!(width(0.9), width(0.9));
    }
}
