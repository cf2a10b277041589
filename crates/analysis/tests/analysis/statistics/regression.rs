//! Regression lines, checked against certified values and general properties.

use analysis::statistics::{Regression, crossover};
use proptest::collection::vec;
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

/// NIST Statistical Reference Datasets, linear regression, "Norris": observed values of ozone
/// monitors, y against x.
const NORRIS: [(f64, f64); 36] = [
    (0.1, 0.2),
    (338.8, 337.4),
    (118.1, 118.2),
    (888.0, 884.6),
    (9.2, 10.1),
    (228.1, 226.5),
    (668.5, 666.3),
    (998.5, 996.3),
    (449.1, 448.6),
    (778.9, 777.0),
    (559.2, 558.2),
    (0.3, 0.4),
    (0.1, 0.6),
    (778.1, 775.5),
    (668.8, 666.9),
    (339.3, 338.0),
    (448.9, 447.5),
    (10.8, 11.6),
    (557.7, 556.0),
    (228.3, 228.1),
    (998.0, 995.8),
    (888.8, 887.6),
    (119.6, 120.2),
    (0.3, 0.3),
    (0.6, 0.3),
    (557.6, 556.8),
    (339.3, 339.1),
    (888.0, 887.2),
    (998.5, 999.0),
    (778.9, 779.0),
    (10.2, 11.1),
    (117.6, 118.3),
    (228.9, 229.2),
    (668.4, 669.1),
    (449.2, 448.9),
    (0.2, 0.5),
];

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-10 * b.abs()
}

#[test]
fn certified_values_are_reached_to_ten_digits() {
    let (y, x): (Vec<f64>, Vec<f64>) = NORRIS.iter().copied().unzip();
    let line = Regression::of(&x, &y).expect("a line");
    let sure = line.uncertainty.expect("36 points");
    for (name, own, certified) in [
        ("intercept", line.intercept, -0.262_323_073_774_029),
        ("slope", line.slope, 1.002_116_818_020_45),
        ("error of the intercept", sure.intercept_half_width / sure.student, 0.232_818_234_301_152),
        ("error of the slope", sure.slope_half_width / sure.student, 0.429_796_848_199_937e-3),
        ("deviation", sure.deviation, 0.884_796_396_144_373),
        ("R²", line.r_squared, 0.999_993_745_883_712),
    ] {
        assert!(close(own, certified), "{name}: {own} instead of {certified}");
    }
}

/// Study B, figure 7: 5153 MB/s per node.
#[test]
fn an_exact_line_is_found_exactly() {
    let x: Vec<f64> = (1..=16).map(f64::from).collect();
    let y: Vec<f64> = x.iter().map(|x| 5153.0 * x).collect();
    let line = Regression::of(&x, &y).expect("a line");
    assert_eq!((line.slope, line.intercept, line.r_squared), (5153.0, 0.0, 1.0));
    assert!(line.residuals.iter().all(|&residual| residual == 0.0));
    let far = line.predict(64.0);
    assert_eq!((far.value, far.half_width, far.extrapolated), (329_792.0, Some(0.0), true));
    assert!(!line.predict(16.0).extrapolated);
}

/// By hand: x = 1 to 5, y = 2, 4, 5, 4, 5. Sxx = 10, slope 0.6, intercept 2.2, Σ residual² = 2.4,
/// s = √0.8, t(3) = 3.182.
#[test]
fn a_prediction_has_an_interval() {
    let line = Regression::of(&[1.0, 2.0, 3.0, 4.0, 5.0], &[2.0, 4.0, 5.0, 4.0, 5.0]).expect("a line");
    let sure = line.uncertainty.expect("five points");
    assert!((line.slope - 0.6).abs() < 1e-12 && (line.intercept - 2.2).abs() < 1e-12);
    assert!((sure.student - 3.182_446).abs() < 1e-5, "{}", sure.student);
    assert!((sure.slope_half_width - 3.182_446 * (0.8_f64 / 10.0).sqrt()).abs() < 1e-5);
    let at = line.predict(7.0);
    assert!((at.value - 6.4).abs() < 1e-12 && at.extrapolated);
    let expected = 3.182_446 * (0.8 * (1.0 + 0.2 + 16.0 / 10.0_f64)).sqrt();
    assert!((at.half_width.expect("an interval") - expected).abs() < 1e-4);
    let expected = 3.182_446 * (0.8 * (0.2 + 16.0 / 10.0_f64)).sqrt();
    assert!((at.line_half_width.expect("an interval") - expected).abs() < 1e-4);
}

#[test]
fn what_has_no_line_gets_none() {
    assert_eq!(Regression::of(&[1.0], &[1.0]), None);
    assert_eq!(Regression::of(&[1.0, 1.0], &[1.0, 2.0]), None);
    assert_eq!(Regression::of(&[1.0, 2.0], &[1.0]), None);
    assert_eq!(Regression::of(&[1.0, f64::NAN], &[1.0, 2.0]), None);
    let two = Regression::of(&[1.0, 2.0], &[1.0, 3.0]).expect("a line");
    assert_eq!((two.slope, two.uncertainty, two.predict(3.0).half_width), (2.0, None, None));
    let flat = Regression::of(&[1.0, 2.0, 3.0], &[4.0; 3]).expect("a line");
    assert_eq!((flat.slope, flat.r_squared), (0.0, 0.0));
}

/// Study B, section 4: 378 MB/s per node with a shared layer of 4.4 GB/s.
#[test]
fn local_devices_overtake_the_shared_layer_at_twelve_nodes() {
    assert_eq!(crossover(378.0, 0.0, 4400.0), Some(12));
    assert_eq!(crossover(100.0, 0.0, 300.0), Some(3), "reaching it is enough");
    assert_eq!(crossover(0.1, 0.0, 0.3), Some(3), "rounding is no reason for one more");
    assert_eq!(crossover(378.0, 4400.0, 4400.0), Some(1));
    assert_eq!(crossover(0.0, 0.0, 1.0), None);
    assert_eq!(crossover(-1.0, 0.0, 1.0), None);
    assert_eq!(crossover(f64::NAN, 0.0, 1.0), None);
    assert_eq!(crossover(1e-300, 0.0, 1e300), None);
}

proptest! {
    /// The least squares line passes through the means, its residuals sum to 0 and are uncorrelated with x, and no
    /// other line is closer.
    #[test]
    fn no_other_line_is_nearer(points in vec((0.0_f64..1e3, 0.0_f64..1e3), 3..60), nudge in -1.0_f64..1.0) {
        let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
        let Some(line) = Regression::of(&x, &y) else { return Ok(()) };
        let squares = |slope: f64, intercept: f64| -> f64 {
            points.iter().map(|(x, y)| (y - intercept - slope * x).powi(2)).sum()
        };
        let least = squares(line.slope, line.intercept);
        let slack = 1e-6 * (1.0 + least);
        prop_assert!(squares(line.slope + nudge, line.intercept) >= least - slack);
        prop_assert!(squares(line.slope, line.intercept + nudge) >= least - slack);
        prop_assert!((0.0..=1.0).contains(&line.r_squared));
        prop_assert!(line.residuals.iter().sum::<f64>().abs() < 1e-6 * 1e3 * points.len() as f64);
        prop_assert_eq!(line.residuals.len(), line.n);
    }

    /// The interval is narrowest at the mean of x and widens to both sides.
    #[test]
    fn an_interval_grows_with_the_distance(y in vec(0.0_f64..1e3, 4..20), away in 0.1_f64..100.0) {
        let x: Vec<f64> = (0..y.len()).map(|x| x as f64).collect();
        let middle = (y.len() - 1) as f64 / 2.0;
        let line = Regression::of(&x, &y).expect("a line");
        let width = |x: f64| line.predict(x).half_width.expect("an interval");
        prop_assert!(width(middle + away) >= width(middle));
        prop_assert!((width(middle + away) - width(middle - away)).abs() <= 1e-9 * width(middle + away));
    }

    #[test]
    fn the_crossover_is_the_first_to_reach_the_plateau(slope in 1_u32..10_000, plateau in 1_u32..1_000_000) {
        let n = crossover(f64::from(slope), 0.0, f64::from(plateau)).expect("it rises");
        prop_assert!(u64::from(slope) * n >= u64::from(plateau));
        prop_assert!(n == 1 || u64::from(slope) * (n - 1) < u64::from(plateau));
    }
}
