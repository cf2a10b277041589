//! Shapes of curves: knee, plateau, saturation, sweet spot and dips, on curves with and without them.

use analysis::{
    statistics::{Model, Sample, Summary, lack_of_fit},
    sweeps::{Shape, dips, geometric, knee, shape, shape_once, sweet_spot},
};
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};

fn once(points: &[(f64, f64)]) -> Vec<Sample> {
    points.iter().map(|&(x, y)| Sample::once(x, y)).collect()
}

/// Sizes from 4 KiB to 16 MiB, doubling, with the rate of each in GB/s.
fn sizes(rates: [f64; 13]) -> Vec<Sample> {
    let point = |(power, rate): (i32, &f64)| Sample::once(4096.0 * 2.0_f64.powi(power), *rate);
    (0..).zip(&rates).map(point).collect()
}

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * 1024.0;

#[test]
fn a_transfer_size_curve_has_its_knee_and_plateau() {
    let curve = sizes([0.4, 0.8, 1.6, 2.8, 3.0, 3.02, 3.03, 3.03, 3.04, 3.03, 3.04, 3.05, 3.04]);
    let shape = shape(&curve);
    assert_eq!(shape.peak, Some(11));
    assert_eq!(shape.knee, Some(32.0 * KIB));
    assert_eq!(shape.plateau, Some((32.0 * KIB, 16.0 * MIB)));
    assert_eq!((shape.reaches_90, shape.reaches_95), (Some(32.0 * KIB), Some(64.0 * KIB)));
    let spread = shape.spread_beyond.expect("points beyond 64 KiB");
    assert!((spread - 0.03 / 3.05).abs() < 1e-12);
    assert_eq!(shape.sweet_spot, None);
}

#[test]
fn a_knee_of_single_measurements_is_stated_where_the_curve_bends_beyond_its_noise() {
    let bent = |noise: f64| {
        let points = (1..=24).zip(normal(7, 24));
        let point = |(n, noisy): (u32, f64)| (f64::from(n), f64::from(n.min(8)) * (1.0 + noise * noisy));
        shape_once(&once(&points.map(point).collect::<Vec<_>>())).knee
    };
    assert_eq!(bent(0.0), Some(8.0));
    assert!(bent(0.03).is_some_and(|knee| (6.0..=11.0).contains(&knee)), "{:?}", bent(0.03));
    let flat = (0..200).filter(|&seed| {
        let points = (1..=21).zip(normal(seed, 21)).map(|(n, noisy)| (f64::from(n), 1.0 + 0.05 * noisy));
        shape_once(&once(&points.collect::<Vec<_>>())).knee.is_some()
    });
    let flat = flat.count();
    assert!(flat <= 6, "knees in the noise of {flat} of 200 curves");
}

/// At saturation the last point scatters ten times as far as the others.
#[test]
fn a_point_that_scatters_more_bends_no_flat_curve() {
    for points in [8_u32, 24] {
        let curve = |seed: u64| {
            let noise = normal(seed, points as usize * 6);
            let sample = |(place, own): (u32, &[f64])| {
                let scatter = if place == points { 0.2 } else { 0.02 };
                let rates: Vec<f64> = own.iter().map(|one| (scatter * one).exp()).collect();
                let all = Summary::of(&rates).expect("six rates");
                let Summary { median: y, mean, deviation_sample: deviation, .. } = all;
                Sample { x: f64::from(place), y, mean, repetitions: 6, deviation }
            };
            (1..).zip(noise.chunks(6)).map(sample).collect::<Vec<_>>()
        };
        let bent = (0..800).filter(|&seed| lack_of_fit(&curve(seed), Model::Flat) == Some(true)).count();
        assert!(bent <= 14, "{bent} of 800 with {points} points");
    }
}

#[test]
fn a_straight_line_and_a_flat_one_have_no_knee() {
    let straight: Vec<(f64, f64)> = (1..=8).map(|n| (f64::from(n), f64::from(n))).collect();
    assert_eq!(knee(&once(&straight)), None);
    assert_eq!(shape(&once(&straight)).plateau, None);
    let flat: Vec<(f64, f64)> = (1..=8).map(|n| (f64::from(n), 5.0 + 0.01 * f64::from(n % 3))).collect();
    assert_eq!(knee(&once(&flat)), None);
    assert_eq!(shape(&once(&flat)).plateau, Some((1.0, 8.0)));
}

#[test]
fn a_curve_that_falls_after_its_peak_is_judged_up_to_the_peak() {
    let curve = [(1.0, 1.0), (2.0, 1.9), (4.0, 3.6), (8.0, 3.9), (16.0, 4.0), (32.0, 2.0), (64.0, 1.0)];
    assert_eq!(knee(&once(&curve)), Some(4.0));
}

#[test]
fn few_nodes_are_enough() {
    let curve = [(1.0, 1.0), (2.0, 2.0), (4.0, 3.7), (8.0, 4.0), (16.0, 3.9), (32.0, 3.6)];
    let shape = shape(&once(&curve));
    assert_eq!((shape.reaches_90, shape.reaches_95), (Some(4.0), Some(8.0)));
    assert!((shape.spread_beyond.expect("beyond") - 0.1).abs() < 1e-12);
}

#[test]
fn an_axis_is_geometric_where_its_logarithms_are_more_even() {
    assert!(geometric(&[1.0, 2.0, 4.0, 8.0]));
    assert!(geometric(&[1.0, 2.0, 4.0, 8.0, 12.0, 16.0, 32.0, 64.0]));
    assert!(!geometric(&[33.0, 66.0, 99.0, 132.0, 165.0, 198.0, 231.0, 264.0]));
    assert!(!geometric(&[0.0, 5.0, 10.0]));
    assert!(!geometric(&[1.0, 2.0]));
}

#[test]
fn a_sweet_spot_stands_out_from_both_neighbours() {
    let mix = |at_30: f64| {
        let mut curve: Vec<(f64, f64)> = (0..=20).map(|step| (f64::from(step) * 5.0, 2.0)).collect();
        curve[6].1 = at_30;
        once(&curve)
    };
    assert_eq!(sweet_spot(&mix(2.3)), None, "a single point that was measured once may be an outlier");
    let repeated = |deviation: f64| -> Vec<Sample> {
        mix(2.3).into_iter().map(|sample| Sample { repetitions: 5, deviation, ..sample }).collect()
    };
    assert_eq!(sweet_spot(&repeated(0.02)), Some(30.0));
    assert_eq!(sweet_spot(&repeated(0.4)), None, "the repetitions of one point differ by as much");
}

#[test]
fn curves_without_points_or_rates_have_no_shape() {
    assert_eq!(shape(&[]), Shape::default());
    assert_eq!(shape(&once(&[(1.0, 0.0), (2.0, 0.0)])), Shape::default());
    let one = shape(&once(&[(1.0, 3.0)]));
    assert_eq!((one.peak, one.reaches_95, one.spread_beyond, one.knee), (Some(0), Some(1.0), None, None));
}

/// Sizes in steps of 4 KiB up to `steps`. The rate rises with the size, with a dip of `depth` where `dip` returns
/// true.
fn stepped(steps: u32, noise: &[f64], depth: f64, dip: impl Fn(u32) -> bool) -> Vec<(f64, f64)> {
    let rate = |step: u32| {
        let rising = f64::from(step) / (8.0 + f64::from(step));
        let noise = noise.get(step as usize - 1).copied().unwrap_or(0.0);
        rising * (1.0 + noise) * if dip(step) { 1.0 - depth } else { 1.0 }
    };
    (1..=steps).map(|step| (f64::from(step) * 4.0 * KIB, rate(step))).collect()
}

#[test]
fn a_dip_every_64_kib_in_steps_of_4_kib_has_that_period() {
    for steps in [64, 256, 1000] {
        let found = dips(&stepped(steps, &[], 0.2, |step| step % 16 == 0)).expect("dips");
        assert_eq!(found.period, 64.0 * KIB, "{steps} steps");
        assert!((found.depth - 0.2).abs() < 0.02, "{found:?}");
    }
}

#[test]
fn sizes_that_fill_a_stripe_are_regular_peaks() {
    let found = dips(&stepped(256, &[], -0.25, |step| step % 16 == 0)).expect("peaks");
    assert_eq!(found.period, 64.0 * KIB);
    assert!((found.depth + 0.25).abs() < 0.02, "{found:?}");
}

#[test]
fn every_second_point_and_wide_dips_are_found_too() {
    let second = dips(&stepped(64, &[], 0.3, |step| step % 2 == 1)).expect("dips");
    assert_eq!(second.period, 8.0 * KIB);
    assert!((second.depth - 0.3).abs() < 0.05, "{second:?}");
    let wide = dips(&stepped(256, &[], 0.3, |step| step % 32 < 5)).expect("dips");
    assert_eq!(wide.period, 128.0 * KIB);
}

#[test]
fn a_point_that_failed_does_not_hide_the_period() {
    let mut curve = stepped(128, &[], 0.2, |step| step % 16 == 0);
    curve.remove(47);
    curve.remove(20);
    assert_eq!(dips(&curve).map(|dips| dips.period), Some(64.0 * KIB));
}

#[test]
fn uneven_axes_and_single_dips_have_no_period() {
    let doubling: Vec<(f64, f64)> = (0..24).map(|n| (2.0_f64.powi(n), f64::from(1 + n % 2))).collect();
    assert_eq!(dips(&doubling), None);
    assert_eq!(dips(&stepped(64, &[], 0.5, |step| step == 30)), None);
    assert_eq!(dips(&stepped(256, &[], 0.5, |step| [30, 77, 190, 203].contains(&step))), None);
    assert_eq!(dips(&stepped(256, &[], 0.0, |_| false)), None, "a bend is no dip");
    assert_eq!(dips(&[]), None);
}

/// Approximately normal values with deviation 1, computed as sums of twelve uniform ones. They are drawn from a seed,
/// because values that a property test shrinks one by one are no longer noise.
fn normal(seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed;
    let mut uniform = || {
        // Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..count).map(|_| (0..12).map(|_| uniform()).sum::<f64>() - 6.0).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn noise_has_no_period(seed: u64, level in 0.005_f64..0.2, steps in 24_u32..128) {
        let noise: Vec<f64> = normal(seed, 128).iter().map(|value| value * level).collect();
        prop_assert_eq!(dips(&stepped(steps, &noise, 0.0, |_| false)), None);
    }

    #[test]
    fn rare_outliers_have_no_period(places in vec(1_u32..256, 0..12), level in vec(-0.01_f64..0.01, 256)) {
        let spaced = |a: u32, b: u32, c: u32| a + c == 2 * b && a != b;
        let in_step = places.iter().any(|&a| places.iter().any(|&b| places.iter().any(|&c| spaced(a, b, c))));
        let found = dips(&stepped(256, &level, 0.4, |step| places.contains(&step)));
        prop_assert!(in_step || found.is_none(), "{:?} in {:?}", found, places);
    }

    #[test]
    fn a_period_is_found_in_noise(seed: u64, every in 4_u32..40, offset in 0_u32..4) {
        let noise: Vec<f64> = normal(seed, 256).iter().map(|value| value * 0.01).collect();
        let found = dips(&stepped(256, &noise, 0.25, |step| step % every == offset));
        prop_assert_eq!(found.map(|dips| dips.period), Some(f64::from(every) * 4.0 * KIB));
    }

    #[test]
    fn shares_are_reached_in_order(rates in vec(0.1_f64..10.0, 1..40)) {
        let points: Vec<Sample> = (1..).zip(&rates).map(|(n, &rate)| Sample::once(f64::from(n), rate)).collect();
        let shape = shape(&points);
        let peak = points[shape.peak.expect("rates")];
        let (at_90, at_95) = (shape.reaches_90.expect("90 %"), shape.reaches_95.expect("95 %"));
        prop_assert!(at_90 <= at_95 && at_95 <= peak.x);
        if let Some((from, to)) = shape.plateau {
            prop_assert!(from <= peak.x && peak.x <= to && from < to);
            let inside = points.iter().filter(|point| (from..=to).contains(&point.x));
            prop_assert!(inside.map(|point| point.y).fold(f64::INFINITY, f64::min) >= 0.9 * peak.y - 1e-9);
        }
        prop_assert!(shape.spread_beyond.is_none_or(|share| (0.0..=1.0).contains(&share)));
    }

    /// Five repetitions of the same rate at each of twenty points: none of them is a sweet spot.
    #[test]
    fn noise_is_seldom_sweet(seed: u64, level in 0.005_f64..0.1) {
        let values: Vec<f64> = normal(seed, 100).iter().map(|value| 1.0 + value * level).collect();
        let samples: Vec<Sample> = (0..).zip(values.chunks_exact(5)).map(|(n, chunk)| {
            let summary = analysis::statistics::Summary::of(chunk).expect("five");
            Sample { x: f64::from(n), y: summary.median, mean: summary.mean, repetitions: 5, deviation: summary.deviation_sample }
        }).collect();
        prop_assert_eq!(sweet_spot(&samples), None);
    }
}
