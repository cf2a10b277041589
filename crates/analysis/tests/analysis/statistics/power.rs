//! What repetitions can tell, against what the tests tell of values drawn at random.

use analysis::statistics::{
    CONFIDENCE, DIFFERENCE_LEAST, Question, bounds, detectable, difference, median_bounds, repetitions_for,
    settled_by,
};

use crate::common::random::Random;

const DRAWS: usize = 400;

fn draw(random: &mut Random, n: usize, rate: f64, noise: f64) -> Vec<f64> {
    (0..n).map(|_| rate * (noise * random.normal()).exp()).collect()
}

/// The share of draws in which `effect` is told.
fn told(question: Question, effect: f64, noise: f64, n: usize, family: usize) -> f64 {
    let random = &mut Random::seeded((n * family) as u64);
    let mut tells = || {
        let values = draw(random, n, 1.0 + effect, noise);
        match question {
            Question::Differ => {
                difference(&draw(random, n, 1.0, noise), &values, family).expect("positive").is_stated()
            }
            Question::Equal => {
                let equal = values.iter().map(|value| value / (1.0 + effect)).collect::<Vec<_>>();
                let found = difference(&draw(random, n, 1.0, noise), &equal, family).expect("positive");
                let (low, high) = found.interval.expect("five values");
                low > -effect && high < effect
            }
            Question::Number => bounds(&values, family).expect("five values").0 > 1.0,
            Question::EqualsNumber => {
                let equal = values.iter().map(|value| value / (1.0 + effect)).collect::<Vec<_>>();
                let (low, high) = bounds(&equal, family).expect("five values");
                low > 1.0 / (1.0 + effect) && high < 1.0 + effect
            }
            Question::Promise => {
                median_bounds(&values, (1.0 - CONFIDENCE) / family as f64).expect("enough").low > 1.0
            }
        }
    };
    (0..DRAWS).filter(|_| tells()).count() as f64 / DRAWS as f64
}

#[test]
fn the_smallest_effect_is_told_in_nine_of_ten_runs() {
    let all =
        [Question::Differ, Question::Equal, Question::Number, Question::EqualsNumber, Question::Promise];
    let mut wrong = Vec::new();
    for question in all {
        for (n, family, noise) in [
            (2, 1, 0.01),
            (3, 6, 0.1),
            (4, 66, 0.01),
            (5, 1, 0.1),
            (5, 66, 0.01),
            (6, 900, 0.1),
            (8, 6, 0.01),
            (12, 66, 0.01),
        ] {
            let Some(effect) = detectable(question, noise, n, family) else { continue };
            let share = told(question, effect, noise, n, family);
            if !(0.85..=0.97).contains(&share) {
                wrong.push((question, n, family, noise, effect, share));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn so_many_repetitions_tell_an_effect_and_one_less_does_not() {
    let all =
        [Question::Differ, Question::Equal, Question::Number, Question::EqualsNumber, Question::Promise];
    for question in all {
        for (effect, noise, family) in [(0.05, 0.01, 1), (0.09, 0.02, 66), (-0.5, 0.05, 6)] {
            let n = repetitions_for(question, effect, noise, family).expect("few enough");
            let size = f64::exp_m1(f64::ln_1p(effect).abs());
            let smallest = |n| detectable(question, noise, n, family).unwrap_or(f64::INFINITY);
            assert!(smallest(n) <= size * 1.000_001 && smallest(n - 1) > size, "{question:?} {effect} {n}");
        }
    }
    assert_eq!(repetitions_for(Question::Differ, 0.0, 0.01, 1), None);
    assert_eq!(repetitions_for(Question::Differ, 0.001, 0.2, 1), None);
}

/// Counted by a program of its own, of one comparison: noise, effect, repetitions a side.
#[test]
fn repetitions_are_those_that_were_counted_by_drawing() {
    for (noise, effect, n) in
        [(0.01, 0.05, 5), (0.02, 0.05, 8), (0.02, 0.1, 5), (0.05, 0.5, 5), (0.1, 0.5, 5)]
    {
        let found = repetitions_for(Question::Differ, effect, noise, 1).expect("few enough");
        assert!(found.abs_diff(n) <= 1, "{noise} {effect}: {found}, not {n}");
    }
}

#[test]
fn nothing_is_told_of_one_repetition_and_factors_of_a_few() {
    for question in
        [Question::Differ, Question::Equal, Question::Number, Question::EqualsNumber, Question::Promise]
    {
        assert_eq!(detectable(question, 0.01, 1, 1), None);
    }
    assert_eq!(detectable(Question::Number, 0.01, DIFFERENCE_LEAST - 1, 1), None);
    let few = detectable(Question::Differ, 0.01, 3, 6).expect("obvious");
    assert!((0.5..0.6).contains(&few), "{few}");
}

/// 4 % between samples that scatter by 2 %.
#[test]
fn what_would_tell_a_change_is_computed_from_the_scatter_of_both_sides() {
    let (before, after) = ([98.0, 102.0, 100.0, 98.0, 102.0], [102.0, 106.0, 104.0, 102.0, 106.0]);
    let found = settled_by(&before, &after, 1).expect("not told yet");
    assert!((found.change - 0.04).abs() < 1e-12 && (9..=13).contains(&found.repetitions), "{found:?}");
    assert!(settled_by(&before, &after, 66).expect("not told").repetitions > found.repetitions);
    assert_eq!(settled_by(&before, &before, 1), None, "there is nothing to tell");
    assert_eq!(settled_by(&before, &after.map(|value| 2.0 * value), 1), None, "it is told");
    assert_eq!(settled_by(&[1.0], &[2.0], 1), None, "nothing is known of their scatter");
    assert!(settled_by(&[1.0], &[2.0, 2.1], 1).is_some());
}
