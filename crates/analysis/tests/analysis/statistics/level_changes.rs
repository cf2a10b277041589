//! Changes of level over runs: the false alarm rate without a change, and the detection rate with one.

use analysis::statistics::{DIFFERENCE_LEVEL, level_changes};

use crate::common::random::Random;

const SERIES: usize = 400;
/// Two standard errors of such a count above the level.
const ALARMS_MAX: f64 = DIFFERENCE_LEVEL + 2.0 * 0.005;

/// `n` runs around 100 with 2 % noise.
fn steady(random: &mut Random, n: usize) -> Vec<f64> {
    (0..n).map(|_| 100.0 * (0.02 * random.normal()).exp()).collect()
}

/// Multiplies the values in `places` by `factor`.
fn scaled(mut values: Vec<f64>, places: std::ops::Range<usize>, factor: f64) -> Vec<f64> {
    values[places].iter_mut().for_each(|value| *value *= factor);
    values
}

fn places(values: &[f64]) -> Vec<usize> {
    level_changes(values).iter().map(|one| one.at).collect()
}

/// The share of series with any change.
fn alarms(mut series: impl FnMut() -> Vec<f64>) -> f64 {
    (0..SERIES).filter(|_| !level_changes(&series()).is_empty()).count() as f64 / SERIES as f64
}

#[test]
fn runs_of_one_level_have_no_change_whatever_their_distribution() {
    for n in [12, 30, 60] {
        let random = &mut Random::seeded(n as u64);
        let share = alarms(|| steady(random, n));
        assert!(share <= ALARMS_MAX, "{n} normal: {share}");
        let share = alarms(|| (0..n).map(|_| (random.normal()).exp()).collect());
        assert!(share <= ALARMS_MAX, "{n} skewed: {share}");
        let mut two_modes = || {
            let mode = if random.uniform() < 0.5 { 80.0 } else { 100.0 };
            mode + random.normal()
        };
        let share = alarms(|| (0..n).map(|_| two_modes()).collect());
        assert!(share <= ALARMS_MAX, "{n} of two modes: {share}");
        let share = alarms(|| {
            let night =
                |value: f64, random: &mut Random| if random.uniform() < 0.1 { value / 4.0 } else { value };
            steady(random, n).into_iter().map(|value| night(value, random)).collect()
        });
        assert!(share <= ALARMS_MAX, "{n} with bad nights: {share}");
    }
}

/// The share of series of `n` runs with 2 % noise in which a change by `factor` at `range` is told with exactly its
/// `places`, give or take one run.
fn told(n: usize, range: std::ops::Range<usize>, factor: f64) -> f64 {
    let random = &mut Random::seeded(3);
    let wanted: Vec<usize> =
        [range.start, range.end].into_iter().filter(|end| (1..n).contains(end)).collect();
    let is_told = |_: &usize| {
        let found = places(&scaled(steady(random, n), range.clone(), factor));
        found.len() == wanted.len() && found.iter().zip(&wanted).all(|(one, other)| one.abs_diff(*other) <= 1)
    };
    (0..SERIES).filter(is_told).count() as f64 / SERIES as f64
}

#[test]
fn the_last_five_of_thirty_runs_that_are_slower_are_told_with_the_run() {
    let share = told(30, 25..30, 0.94);
    assert!(share > 0.9, "{share}");
    let share = told(30, 15..30, 0.94);
    assert!(share > 0.9, "{share}");
    let share = told(30, 0..8, 0.94);
    assert!(share > 0.9, "{share}");
}

#[test]
fn a_level_that_was_left_and_returned_to_is_told_with_both_runs() {
    let share = told(60, 30..38, 0.92);
    assert!(share > 0.9, "{share}");
}

#[test]
fn bad_nights_are_no_change() {
    let random = &mut Random::seeded(11);
    for place in [0, 1, 14, 28, 29] {
        for nights in 1..=3 {
            let range = place..(place + nights).min(30);
            let share = alarms(|| scaled(steady(random, 30), range.clone(), 0.2));
            assert!(share <= ALARMS_MAX, "{nights} from {place} on: {share}");
        }
    }
}

#[test]
fn a_change_beside_a_bad_night_is_told_where_it_is() {
    let random = &mut Random::seeded(5);
    let told = (0..100)
        .filter(|_| {
            let values = scaled(scaled(steady(random, 30), 15..30, 0.9), 4..5, 0.3);
            matches!(places(&values)[..], [14..=16])
        })
        .count();
    assert!(told > 90, "{told}");
}

/// Where both levels are far apart, a value at the edge of one is not taken for one of the other.
#[test]
fn a_large_change_is_told_exactly_where_it_is() {
    let random = &mut Random::seeded(6);
    // The part before it is a series of its own, of which one in a hundred shows a change.
    for _ in 0..200 {
        let found = places(&scaled(steady(random, 30), 20..30, 0.5));
        assert_eq!(found.last(), Some(&20), "{found:?}");
    }
}

#[test]
fn a_change_has_no_unit_and_its_interval_holds_it() {
    let values = scaled(steady(&mut Random::seeded(8), 40), 22..40, 0.9);
    let found = level_changes(&values);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].interval.0 < -0.1 && -0.1 < found[0].interval.1 && found[0].p_value <= 0.01,
        "{found:?}"
    );
    assert!((found[0].after / found[0].before - 1.0 - found[0].change).abs() < 1e-12);
    let other: Vec<f64> = values.iter().map(|value| value * 1e9).collect();
    assert_eq!(places(&other), places(&values));
}

#[test]
fn few_or_equal_values_and_what_is_no_number_show_nothing() {
    let step = |n: usize| (0..n).map(|at| if at < n / 2 { 100.0 } else { 50.0 }).collect::<Vec<_>>();
    assert_eq!(places(&step(10)), [] as [usize; 0]);
    assert_eq!(places(&step(12)), [6]);
    assert_eq!(places(&[7.0; 40]), [] as [usize; 0]);
    assert_eq!(places(&[]), [] as [usize; 0]);
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut values = step(20);
        values[3] = value;
        assert_eq!(places(&values), [] as [usize; 0], "{value}");
    }
    // A change of half a percent is certain here, and of no matter.
    let small: Vec<f64> = (0..40).map(|at| if at < 20 { 100.0 } else { 99.5 }).collect();
    assert_eq!(places(&small), [] as [usize; 0]);
}
