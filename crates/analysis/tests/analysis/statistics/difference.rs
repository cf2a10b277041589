//! The test for differences: what it reports, and how often that is wrong.

use analysis::statistics::{
    Contrast, DIFFERENCE_LEAST, DIFFERENCE_LEVEL, Difference, Family, bounds, difference,
};
use proptest::collection::vec;
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

use crate::common::random::Random;

const CALM: [f64; 5] = [100.0, 101.0, 99.0, 100.5, 99.5];

fn tested(before: &[f64], after: &[f64], family: usize) -> Difference {
    difference(before, after, family).expect("positive values")
}

/// Every rate of the second sample is 1.1 times that of the first: the ratio is known, and the interval contains it.
#[test]
fn a_gain_is_stated_with_its_interval() {
    let after = CALM.map(|value| value * 1.1);
    let gain = tested(&CALM, &after, 1);
    assert_eq!((gain.outcome, gain.n), (Contrast::Higher, (5, 5)));
    assert!((gain.change - 0.1).abs() < 1e-12);
    let (low, high) = gain.interval.expect("an interval");
    assert!(0.05 < low && low < 0.1 && 0.1 < high && high < 0.15, "{gain:?}");
    assert!((gain.p_value.expect("five values") - 2.0 / 252.0).abs() < 1e-12);
    assert_eq!(tested(&after, &CALM, 1).outcome, Contrast::Lower);
}

/// In a family so large that the ranks of five repetitions cannot reach its level.
#[test]
fn an_interval_ends_where_the_test_shows_no_more() {
    let after = CALM.map(|value| value * 1.1);
    let (low, high) = tested(&CALM, &after, 66).interval.expect("an interval");
    for end in [low, high] {
        let moved = tested(&CALM.map(|value| value * (1.0 + end)), &after, 66);
        assert!((moved.p_value.expect("five values") - DIFFERENCE_LEVEL).abs() < 1e-6, "{moved:?}");
    }
}

#[test]
fn equal_samples_show_no_difference() {
    let same = tested(&CALM, &[100.2, 99.8, 101.2, 99.1, 100.1], 1);
    let (low, high) = same.interval.expect("an interval");
    assert_eq!(same.outcome, Contrast::NotShown);
    assert!(low < 0.0 && high > 0.0 && same.p_value.expect("five values") > 0.5, "{same:?}");
}

/// Four repetitions on a side show nothing, however large the difference is. It may be obvious.
#[test]
fn few_repetitions_tell_what_is_obvious() {
    let four = tested(&[1.0, 1.1, 1.2, 1.3], &[9.0, 9.1, 9.2, 9.3, 9.4, 9.5, 9.6, 9.7], 1);
    assert_eq!((four.outcome, four.interval, four.p_value, four.n), (Contrast::Higher, None, None, (4, 8)));
    assert!(four.is_obvious() && !four.is_shown() && four.to_show == DIFFERENCE_LEAST, "{four:?}");
    // IOPS of `run --quick` before and after a throttle.
    let fall = tested(&[99.1e3, 99.6e3, 99.8e3], &[513.0, 514.0, 514.2], 6);
    assert_eq!((fall.outcome, fall.is_obvious()), (Contrast::Lower, true));
    // By less than half as much again.
    let near = tested(&[100.0, 100.1, 100.2], &[149.0, 149.1, 149.2], 1);
    assert_eq!(near.outcome, Contrast::TooFew);
    assert_eq!(tested(&[1.0, 1.0], &[1.0, 1.0], 1).outcome, Contrast::TooFew);
    let one = tested(&[1.0], &[9.0], 1);
    assert_eq!((one.outcome, one.change), (Contrast::TooFew, 8.0));
    assert_eq!(difference(&[], &[1.0], 1), None);
    assert_eq!(difference(&[0.0], &[1.0], 1), None);
    assert_eq!(difference(&[1.0], &[f64::INFINITY], 1), None);
}

/// Repetitions without any scatter, such as counts.
#[test]
fn identical_repetitions_differ_by_more_than_rounding_or_not_at_all() {
    for family in [1, 66, 1_000_000] {
        assert_eq!(tested(&[5.0; 5], &[5.0; 7], family).outcome, Contrast::NotShown);
        assert_eq!(tested(&[5.0; 5], &[5.0 * (1.0 + 0.9e-9); 5], family).outcome, Contrast::NotShown);
        let many = tested(&[5.0; 50], &[5.0 * (1.0 + 0.9e-9); 50], family);
        assert_eq!(many.outcome, Contrast::NotShown, "however often it is so");
        let higher = tested(&[5.0; 5], &[6.0; 5], family);
        assert_eq!(higher.outcome, Contrast::Higher);
        let (low, high) = higher.interval.expect("an interval");
        assert!((0.19..=0.2).contains(&low) && (0.2..0.21).contains(&high), "{higher:?}");
    }
}

/// Two samples that share one value, while the means of the others are far apart.
#[test]
fn one_outlier_is_no_difference() {
    let outlier = [100.0, 101.0, 99.0, 100.5, 9_950.0];
    assert_eq!(tested(&CALM, &outlier, 1).outcome, Contrast::NotShown);
}

type Shape = fn(&mut Random) -> f64;

const DRAWS: usize = 2_000;

/// The share of sample pairs that are reported as different.
fn stated(n: usize, family: usize, mut draw: impl FnMut(bool) -> f64) -> f64 {
    let mut sample = |second: bool| (0..n).map(|_| draw(second)).collect::<Vec<_>>();
    let found = (0..DRAWS).filter(|_| tested(&sample(false), &sample(true), family).is_stated());
    found.count() as f64 / DRAWS as f64
}

#[test]
fn equal_storage_is_called_different_at_most_once_in_a_hundred() {
    for n in [DIFFERENCE_LEAST, 8] {
        let random = &mut Random::seeded(n as u64);
        let shapes: [(&str, Shape); 5] = [
            ("normal", |random| 100.0 + 5.0 * random.normal()),
            ("log-normal", |random| random.normal().exp()),
            ("of two modes", |random| {
                [100.0, 400.0][usize::from(random.uniform() < 0.4)] * (1.0 + 0.01 * random.normal())
            }),
            ("with an outlier", |random| if random.uniform() < 0.1 { 3.0 } else { 100.0 + random.normal() }),
            ("of few different values", |random| (3.0 * random.uniform()).ceil()),
        ];
        // Two standard errors of such a count above 1 %.
        let most = 0.01 + 2.0 * (0.01 * 0.99 / DRAWS as f64).sqrt();
        for (name, shape) in shapes {
            let share = stated(n, 1, |_| shape(random));
            assert!(share <= most, "{name}, {n}: {share}");
        }
        for scatter in [0.02, 0.03, 0.1] {
            let share = stated(n, 1, |second| {
                let deviation = if second { scatter } else { 0.01 };
                (deviation * random.normal()).exp()
            });
            assert!(share <= most, "a scatter of {scatter} beside one of 0.01, {n}: {share}");
        }
    }
}

/// A family of equal pairs has a false statement in at most one of a hundred pages.
#[test]
fn a_page_of_equal_pairs_states_nothing() {
    let (random, family) = (&mut Random::seeded(7), 66);
    let share = stated(6, family, |_| 100.0 * (0.02 * random.normal()).exp());
    assert!(share * family as f64 <= 0.02, "{share}");
}

/// Both passes of a storage with two states may be in the same one: five repetitions a side show nothing of 66.
#[test]
fn two_states_are_no_difference_that_is_shown() {
    let (slow, fast) = ([100.0, 100.4, 99.8, 100.1, 100.3], [130.0, 130.4, 129.8, 130.1, 130.3]);
    assert!(tested(&slow, &fast, 5).is_shown());
    let among_many = tested(&slow, &fast, 66);
    assert!(among_many.is_obvious() && among_many.to_show == 7, "{among_many:?}");
    let with_gap = |n: usize, family| {
        let sides =
            [100.0, 130.0].map(|of| (0..n).map(|place| of + 0.1 * place as f64).collect::<Vec<f64>>());
        tested(&sides[0], &sides[1], family)
    };
    for (n, family) in [(5, 5), (6, 20), (7, 81), (8, 327)] {
        assert!(with_gap(n, family).is_shown() && !with_gap(n, family + 1).is_shown(), "{n}");
    }
}

/// The share of the pages of `family` comparisons that state a difference of sides that are alike.
fn false_pages(n: usize, family: usize, draws: usize, mut draw: impl FnMut(bool) -> f64) -> f64 {
    let mut sample = |second: bool| (0..n).map(|_| draw(second)).collect::<Vec<_>>();
    let found = (0..draws).filter(|_| tested(&sample(false), &sample(true), family).is_stated()).count();
    found as f64 / draws as f64 * family as f64
}

type OfSide = fn(&mut Random, bool) -> f64;

#[test]
fn what_is_obvious_is_false_on_one_page_of_a_hundred() {
    let shapes: [(&str, OfSide); 6] = [
        ("2 %", |random, _| (0.02 * random.normal()).exp()),
        ("20 %", |random, _| (0.2 * random.normal()).exp()),
        ("1 % beside 20 %", |random, second| (if second { 0.2 } else { 0.01 } * random.normal()).exp()),
        ("4 % beside 20 %", |random, second| (if second { 0.2 } else { 0.04 } * random.normal()).exp()),
        ("normal, 20 %", |random, _| (1.0 + 0.2 * random.normal()).max(0.01)),
        ("uniform", |random, _| 1.0 + 0.3 * random.uniform()),
    ];
    for n in 2..DIFFERENCE_LEAST {
        for family in [1, 6, 66] {
            let random = &mut Random::seeded((n * family) as u64);
            for (name, shape) in shapes {
                let share = false_pages(n, family, 15_000, |second| shape(random, second));
                // Two standard errors above 1 %.
                let most = 0.01 + 2.0 * (0.01 * family as f64 / 15_000.0).sqrt();
                assert!(share <= most, "{n} a side, {family} comparisons, {name}: {share}");
            }
        }
    }
}

#[test]
fn what_everybody_sees_is_told() {
    for (factor, noise, family, n, least) in
        [(2.0, 0.05, 6, 3, 0.99), (10.0, 0.2, 6, 3, 0.98), (0.1, 0.2, 6, 3, 0.98)]
    {
        let random = &mut Random::seeded(n as u64);
        let share =
            stated(n, family, |second| if second { factor } else { 1.0 } * (noise * random.normal()).exp());
        assert!(share >= least, "×{factor} at {noise}: {share}");
    }
}

/// The differences of the pages of `family` comparisons, whose samples are known together.
fn on_pages(
    n: usize,
    family: usize,
    pages: usize,
    mut draw: impl FnMut(usize, bool) -> f64,
) -> Vec<Vec<Difference>> {
    let mut side = |second: bool| -> Vec<Vec<f64>> {
        let mut sample = |place: usize| (0..n).map(|_| draw(place, second)).collect();
        (0..family).map(&mut sample).collect()
    };
    let mut page = || {
        let (before, after) = (side(false), side(true));
        let [one, other] = [&before, &after].map(|side| side.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let among = Family::of_samples(family, &one, &other);
        let pairs = before.iter().zip(&after);
        pairs.map(|(one, other)| difference(one, other, among).expect("positive values")).collect()
    };
    (0..pages).map(|_| page()).collect()
}

/// The share of pages that state a difference.
fn with_any(pages: &[Vec<Difference>]) -> f64 {
    pages.iter().filter(|page| page.iter().any(Difference::is_stated)).count() as f64 / pages.len() as f64
}

#[test]
fn ten_percent_in_five_repetitions_with_noise_of_two_percent_is_stated() {
    for (n, family) in [(5, 1), (5, 66), (6, 66)] {
        let random = &mut Random::seeded(family as u64);
        let pages = on_pages(n, family, 660 / family, |_, second| {
            let rate = if second { 110.0 } else { 100.0 };
            rate * (1.0 + 0.02 * random.normal())
        });
        let stated = pages.iter().flatten().filter(|one| one.is_stated()).count();
        assert!(stated >= 594, "{stated} of 660, {n} a side in a family of {family}");
    }
}

/// Half of the figures of one side, or all of them, scatter five times as far.
#[test]
fn a_side_that_scatters_more_is_no_difference() {
    for upto in [0.5, 1.0] {
        let random = &mut Random::seeded(11);
        let pages = on_pages(5, 66, 600, |place, second| {
            let scatter = if second && (place as f64) < upto * 66.0 { 0.1 } else { 0.02 };
            (scatter * random.normal()).exp()
        });
        // Two standard errors above 1 %.
        assert!(with_any(&pages) <= 0.018, "{upto}: {}", with_any(&pages));
    }
}

/// Each value is half like the one before.
#[test]
fn a_page_allows_for_repetitions_that_depend_on_each_other() {
    let share = |family: usize, n: usize| {
        let random = &mut Random::seeded(3);
        let mut state = 0.0;
        let mut count = 0;
        let pages = on_pages(n, family, 200, |_, _| {
            // A sample begins at random.
            state = if count % n == 0 {
                random.normal()
            } else {
                0.5 * state + 0.75_f64.sqrt() * random.normal()
            };
            count += 1;
            (0.02 * state).exp()
        });
        with_any(&pages)
    };
    assert!(share(20, 10) <= 0.025, "{}", share(20, 10));
    assert!(share(1, 20) <= 0.05, "{}", share(1, 20));
}

proptest! {
    /// The unit does not matter, and swapping the sides reverses the result.
    #[test]
    fn a_difference_has_no_unit(
        before in vec(50.0_f64..150.0, 1..9), after in vec(50.0_f64..150.0, 1..9), by in 0.5_f64..2.0,
        power in -10_i32..30, family in 1_usize..100,
    ) {
        let after: Vec<f64> = after.iter().map(|value| value * by).collect();
        let unit = 2.0_f64.powi(power);
        let scaled = |values: &[f64]| values.iter().map(|value| value * unit).collect::<Vec<_>>();
        let one = tested(&before, &after, family);
        let other = tested(&scaled(&before), &scaled(&after), family);
        prop_assert_eq!(one.outcome, other.outcome);
        prop_assert!((one.change - other.change).abs() < 1e-9);
        let turned = tested(&after, &before, family);
        let opposite = match one.outcome {
            Contrast::Higher => Contrast::Lower,
            Contrast::Lower => Contrast::Higher,
            same => same,
        };
        prop_assert_eq!(turned.outcome, opposite);
        if let (Some((low, high)), Some((turned_low, turned_high))) = (one.interval, turned.interval) {
            prop_assert!(-1.0 < low && low <= high);
            prop_assert!(((1.0 + low) * (1.0 + turned_high) - 1.0).abs() < 1e-6);
            prop_assert!(((1.0 + high) * (1.0 + turned_low) - 1.0).abs() < 1e-6);
            // An interval that excludes 0 together with "not shown" would be contradictory.
            prop_assert_eq!(one.is_stated(), low > 0.0 || high < 0.0, "{:?}", one);
        }
    }

    /// The same sample on both sides never counts as a difference.
    #[test]
    fn a_sample_does_not_differ_from_itself(values in vec(1.0_f64..1e9, 1..30), family in 1_usize..100) {
        prop_assert!(!tested(&values, &values, family).is_stated());
    }
}

#[test]
fn bounds_against_a_number_are_the_wider_of_student_and_ranks() {
    let near = |one: f64, other: f64| assert!((one / other - 1.0).abs() < 1e-6, "{one} is not {other}");
    // Logarithms −0.02, −0.01 … 0.02: half of their range beyond each end.
    let even = [-2, -1, 0, 1, 2].map(|step| (0.01 * f64::from(step)).exp());
    let (low, high) = bounds(&even, 1).expect("five values");
    near(low, (-0.04_f64).exp());
    near(high, 0.04_f64.exp());
    // One-sided, Student's t with 4 degrees of freedom at 0.01 ÷ 1000 is 20.27.
    let reach = 25.0 * 0.000_25_f64.sqrt() / 5.0_f64.sqrt();
    assert!(bounds(&even, 1000).expect("five values").1 > 0.04_f64.exp());
    assert!(bounds(&even, 1000).expect("five values").1 < reach.exp());
    // With one outlier among seven, the t distribution alone would give a bound below the largest measured value.
    near(bounds(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0], 1).expect("seven values").1, 2.0);
    assert_eq!((bounds(&even[..4], 1), bounds(&[0.0; 5], 1)), (None, None));
}
