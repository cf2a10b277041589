//! Bounds of percentiles against the binomial distribution and against distributions with known percentiles.

use analysis::statistics::{
    Beyond, PERCENTILE_LEVEL, beyond_at_least, beyond_at_most, passes_beyond, passes_needed, passes_within,
    transfers_needed, transfers_of_pass,
};
use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};

use crate::common::random::Random;

const LEVEL: f64 = PERCENTILE_LEVEL;

/// Of scipy 1.17: the largest k with binom.cdf(k, n, q) <= 0.01 and the smallest with binom.sf(k - 1, n, q) <= 0.01.
#[test]
fn counts_are_those_of_the_binomial_distribution() {
    for (transfers, percent, few, many) in [
        (4_602, 99.9, None, Some(11)),
        (4_603, 99.9, Some(0), Some(11)),
        (10_000, 99.9, Some(2), Some(19)),
        (100_000, 99.9, Some(77), Some(125)),
        (458, 99.0, None, Some(11)),
        (459, 99.0, Some(0), Some(11)),
        (1_000, 99.0, Some(2), Some(19)),
        (10_000_000, 99.99, Some(926), Some(1_075)),
        (1_000_000_000, 99.99, Some(99_264), Some(100_737)),
        (20, 50.0, Some(4), Some(16)),
        (7, 50.0, Some(0), Some(7)),
        (6, 50.0, None, None),
        (0, 50.0, None, None),
        (1_000_000, 100.0, None, Some(1)),
    ] {
        assert_eq!(beyond_at_most(transfers, percent, LEVEL), few, "{transfers} transfers, p{percent}");
        assert_eq!(beyond_at_least(transfers, percent, LEVEL), many, "{transfers} transfers, p{percent}");
    }
}

#[test]
fn the_number_of_transfers_needed_is_the_first_with_a_bound() {
    for (percent, needed) in [(50.0, 7), (90.0, 44), (99.0, 459), (99.9, 4_603), (99.99, 46_050)] {
        assert_eq!(transfers_needed(percent, LEVEL), Some(needed), "p{percent}");
        assert_eq!(beyond_at_most(needed, percent, LEVEL), Some(0), "p{percent}");
        assert_eq!(beyond_at_most(needed - 1, percent, LEVEL), None, "p{percent}");
    }
    assert_eq!(transfers_needed(100.0, LEVEL), None);
}

fn passes(count: usize, transfers: u64, beyond: u64) -> Vec<Beyond> {
    vec![Beyond { transfers, beyond }; count]
}

/// By hand: 0.75¹⁶ is 0.01002, and 0.75¹⁷ below 0.01. With 33 in flight, a stall of one pass of 1,000 is 33 of the 10
/// allowed, and (1 + 10/33)¹⁸ is the first power above 100; 0.75²¹ is the first below 0.0025.
#[test]
fn the_number_of_passes_needed_is_the_first_that_shows_anything() {
    for (percent, transfers, in_flight, needed) in [
        (99.0, 1_000_u64, 1.0, 17),
        (99.0, 1_000, 33.0, 18),
        (99.9, 1_000_000, 256.0, 17),
        (99.9, 50, 1.0, 95),
        (50.0, 1_000, 1.0, 17),
    ] {
        assert_eq!(passes_needed(percent, transfers as f64, in_flight, LEVEL), Some(needed));
        let shows = |count: u64| {
            let count = usize::try_from(count).expect("few");
            passes_within(&passes(count, transfers, 0), percent, in_flight, LEVEL)
        };
        assert!(
            shows(needed) && !shows(needed - 1),
            "p{percent}, {transfers} transfers, {in_flight} in flight"
        );
    }
    assert_eq!(passes_needed(100.0, 1e9, 1.0, LEVEL), None);
    assert_eq!(passes_needed(99.0, 1e9, 1.0, LEVEL / 4.0), Some(21));
    // 100 to the power of 1/17 is 1.31112.
    let least = (transfers_of_pass(99.99, 1.0, LEVEL), transfers_of_pass(99.0, 32.0, LEVEL));
    assert_eq!(least, (Some(3_112), Some(996)));
    assert_eq!(passes_needed(99.99, 3_112.0, 1.0, LEVEL), Some(17));
    assert_eq!(passes_needed(99.99, 3_111.0, 1.0, LEVEL), Some(18));
    assert_eq!(transfers_of_pass(100.0, 1.0, LEVEL), None);
}

/// As many transfers beyond the limit, in all passes or in one.
#[test]
fn one_bad_pass_weighs_more_than_the_same_number_in_all() {
    let even = passes(20, 10_000, 20);
    let mut uneven = passes(20, 10_000, 0);
    uneven[3].beyond = 400;
    assert!(passes_within(&even, 99.0, 1.0, LEVEL));
    assert!(!passes_within(&uneven, 99.0, 1.0, LEVEL));
    // More passes like the others can make up for it.
    uneven.extend(passes(80, 10_000, 0));
    assert!(passes_within(&uneven, 99.0, 1.0, LEVEL));
}

#[test]
fn passes_with_more_than_allowed_break_it() {
    assert!(passes_beyond(&passes(17, 1_000, 20), 99.0, LEVEL));
    assert!(!passes_beyond(&passes(16, 1_000, 20), 99.0, LEVEL));
    assert!(!passes_beyond(&passes(1_000, 1_000, 10), 99.0, LEVEL));
    assert!(passes_beyond(&passes(1, 10, 1), 100.0, LEVEL));
    assert!(!passes_beyond(&passes(50, 10, 0), 100.0, LEVEL));
}

/// The share of trials in which a percentile is shown to be within a limit that exactly as many transfers exceed as
/// are allowed. `share` gives the share beyond the limit in each pass.
fn shown_at_the_limit(passes: usize, transfers: u64, mut share: impl FnMut(&mut Random) -> f64) -> f64 {
    const TRIALS: u32 = 2_000;
    let mut random = Random::seeded(7);
    let mut shown = 0;
    for _ in 0..TRIALS {
        let pass = |_| {
            let share = share(&mut random);
            let beyond = (0..transfers).filter(|_| random.uniform() < share).count() as u64;
            Beyond { transfers, beyond }
        };
        let all: Vec<Beyond> = (0..passes).map(pass).collect();
        shown += u32::from(passes_within(&all, 99.0, 1.0, LEVEL));
    }
    f64::from(shown) / f64::from(TRIALS)
}

/// Two kinds of passes with exponential times, of which one takes 1.3 times as long: at a limit of 5.38 times the mean
/// of the faster ones, 0.461 % and 1.595 % are beyond it, together 1.028 %.
#[test]
fn passes_of_two_kinds_do_not_pass_by_chance() {
    for count in [7, 17, 20] {
        let shown = shown_at_the_limit(count, 200, |random| {
            let mean = if random.uniform() < 0.5 { 1.0 } else { 1.3 };
            (-5.38_f64 / mean).exp()
        });
        assert!(shown <= 0.01, "{count} passes: {shown}");
    }
}

/// The logarithm of the mean time depends on that of the pass before, with an autocorrelation of 0.5 and a scatter of
/// 10 %. At a limit of 4.68 times the median, 1.008 % are beyond it (integrated numerically).
#[test]
fn passes_that_depend_on_each_other_do_not_pass_by_chance() {
    for count in [12, 20] {
        let mut level = 0.0;
        let shown = shown_at_the_limit(count, 200, |random| {
            level = 0.5 * level + 0.75_f64.sqrt() * random.normal();
            (-4.68 / (0.1 * level).exp()).exp()
        });
        assert!(shown <= 0.01, "{count} passes: {shown}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Fewer transfers beyond the limit never hurt, and more passes without any never do.
    #[test]
    fn less_beyond_the_limit_never_hurts(seed in 0_u64..1 << 32, count in 1_usize..30, most in 1_u64..30) {
        let mut random = Random::seeded(seed);
        let pass = |_| {
            let beyond = (0..most).filter(|_| random.uniform() < 0.3).count() as u64;
            Beyond { transfers: 1_000, beyond }
        };
        let mut all: Vec<Beyond> = (0..count).map(pass).collect();
        let before = passes_within(&all, 99.0, 1.0, LEVEL);
        all.extend(passes(1, 1_000, 0));
        prop_assert!(!before || passes_within(&all, 99.0, 1.0, LEVEL));
        let fewer: Vec<Beyond> =
            all.iter().map(|pass| Beyond { beyond: pass.beyond / 2, ..*pass }).collect();
        prop_assert!(!before || passes_within(&fewer, 99.0, 1.0, LEVEL));
    }

    /// One count more than the last that shows the one is not enough, and both cannot be shown at once.
    #[test]
    fn counts_grow_with_the_transfers(transfers in 1_u64..2_000_000, percent in 1.0_f64..99.99) {
        let few = beyond_at_most(transfers, percent, LEVEL);
        let many = beyond_at_least(transfers, percent, LEVEL);
        prop_assert!(few.zip(many).is_none_or(|(few, many)| few < many));
        prop_assert!(few <= beyond_at_most(transfers + 1, percent, LEVEL));
        prop_assert_eq!(few.is_some(), transfers_needed(percent, LEVEL).is_some_and(|least| transfers >= least));
    }
}
