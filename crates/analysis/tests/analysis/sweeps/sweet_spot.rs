//! How often a sweet spot is found: where there is none, and where there is one.

use analysis::statistics::{Sample, Summary};
use analysis::sweeps::sweet_spot;

use crate::common::random::Random;

/// Numbers of points of a curve.
const POINTS: [usize; 4] = [8, 21, 64, 256];
/// Drawn curves of each kind. A count above [`FALSE_MAX`] has a probability of 1 in 1,000 where 1 % are false.
const CURVES: usize = 300;
const FALSE_MAX: usize = 10;

/// A true curve: the rate at a place from 0 to 1.
type Truth = fn(f64) -> f64;

const NOTHING: [(&str, Truth); 5] = [
    ("flat", |_| 1.0),
    ("rising", |x| 1.0 + x),
    ("falling", |x| 2.0 - x),
    ("saturating", |x| (x / 0.3).min(1.0) + 0.05),
    ("bending", |x| x / (0.1 + x) + 0.05),
];

/// The curve `truth` with `noise`, a share of the rate, each point measured `repetitions` times.
fn drawn(random: &mut Random, truth: Truth, points: usize, noise: f64, repetitions: usize) -> Vec<Sample> {
    let sample = |place: usize| {
        let at = place as f64 / (points - 1) as f64;
        let values: Vec<f64> =
            (0..repetitions).map(|_| truth(at) * (1.0 + noise * random.normal()).max(0.01)).collect();
        let all = Summary::of(&values).expect("values");
        let (mean, deviation) = (all.mean, all.deviation_sample);
        Sample { x: 1.0 + place as f64, y: all.median, mean, repetitions, deviation }
    };
    (0..points).map(sample).collect()
}

/// The number of curves with a sweet spot, and of those with one between these places.
fn found(truth: Truth, points: usize, noise: [f64; 2], repetitions: usize) -> (usize, usize) {
    let random = &mut Random::seeded((points * 10 + repetitions) as u64);
    let spots = (0..CURVES).filter_map(|_| {
        let level = noise[0] + (noise[1] - noise[0]) * random.uniform();
        sweet_spot(&drawn(random, truth, points, level, repetitions))
    });
    let spots: Vec<f64> = spots.map(|x| (x - 1.0) / (points - 1) as f64).collect();
    (spots.len(), spots.iter().filter(|x| (0.25..=0.75).contains(*x)).count())
}

#[test]
fn noise_and_curves_that_only_rise_or_fall_have_no_sweet_spot() {
    let (mut wrong, mut all) = (0, 0);
    for (name, truth) in NOTHING {
        for points in POINTS {
            for repetitions in [1, 5] {
                let (count, _) = found(truth, points, [0.01, 0.1], repetitions);
                assert!(count <= FALSE_MAX, "{name}, {points} points × {repetitions}: {count} of {CURVES}");
                (wrong, all) = (wrong + count, all + CURVES);
            }
        }
    }
    assert!(wrong * 100 <= all, "{wrong} of {all}");
}

/// 20 % above the ends over a third of the range, with slopes of a sixth of it on both sides.
fn broad(x: f64) -> f64 {
    let above = ((x - 1.0 / 6.0).min(5.0 / 6.0 - x) * 6.0).clamp(0.0, 1.0);
    1.0 + 0.2 * above
}

#[test]
fn a_broad_optimum_is_found() {
    // Eight single measurements do not tell it from noise.
    for (points, repetitions, least) in [(8, 1, 0), (8, 5, 95), (21, 1, 95), (64, 1, 99), (256, 1, 99)] {
        let (count, inside) = found(broad, points, [0.03, 0.03], repetitions);
        assert!(count * 100 >= least * CURVES, "{points} points × {repetitions}: {count} of {CURVES}");
        assert_eq!(count, inside, "{points} points × {repetitions}");
    }
}

#[test]
fn a_smooth_optimum_is_found() {
    let (count, inside) = found(|x| 1.0 + 0.2 * (std::f64::consts::PI * x).sin(), 21, [0.03, 0.03], 1);
    assert!(count * 100 >= 80 * CURVES && inside == count, "{count} of {CURVES}, {inside} inside");
}
