//! Where the level of independent values, such as one value of each nightly run, changed.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::statistics::{DIFFERENCE_LEAST, DIFFERENCE_LEVEL, MAD_FACTOR, ROBUST_Z_MAX, median, shift};

/// A change smaller than this share of the level before is not reported, however significant it is.
pub const LEVEL_CHANGE_MIN: f64 = 0.01;
/// Fewer values show no change: of ten, five on either side have a probability of 0.016 if they do not overlap.
pub const LEVEL_VALUES_MIN: usize = 11;
/// The minimum number of values on either side of a change, as for a difference: fewer establish no level.
const LEVEL_LEAST: usize = DIFFERENCE_LEAST;
/// The maximum number of values of a level between two others at which the search looks in one step. A longer one is
/// found by its ends. It limits the time for long series.
const BETWEEN_MAX: usize = 100;
/// The number of random orders that a series is compared with.
const ORDERS: u32 = 1_999;
/// Each series is searched in two ways, each at half of the level.
const WAYS: f64 = 2.0;

/// A place at which the level of a series changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelChange {
    /// The number of values before the change: the index of the first value of the new level.
    pub at: usize,
    /// Median of the values of the level before.
    pub before: f64,
    /// Median of the values of the level after.
    pub after: f64,
    /// After ÷ before − 1.
    pub change: f64,
    /// The interval of the change ([`shift`] of the logarithms) with a confidence of 1 − [`DIFFERENCE_LEVEL`]. It
    /// does not contain 0.
    pub interval: (f64, f64),
    /// Probability that independent values of one level show one at least as clearly: at most [`DIFFERENCE_LEVEL`].
    pub p_value: f64,
}

/// The places at which the level of `values`, independent and in the order of measurement, changed. Each value has to
/// be above 0; otherwise nothing is found. Fewer than [`LEVEL_VALUES_MIN`] values show no change.
///
/// For each place the distance of the mean after it from the mean before it is divided by its standard deviation in a
/// random order, `√(n ÷ (k (n − k)))` times the deviation of the values; the largest such quotient is compared with
/// those of `ORDERS` random orders of the same values (a permutation test). A second search compares the values
/// between two places with all others (circular binary segmentation: A. Olshen, E. Venkatraman, R. Lucito and M.
/// Wigler, Biostatistics 5, 2004), since a level that was left and returned to is hidden from the first. Each has
/// half of [`DIFFERENCE_LEVEL`]. A series that changed is divided there, and its parts are searched again. At the end
/// each place is searched once more between its neighbours, and kept if the interval of the change does not contain 0
/// and the change is at least [`LEVEL_CHANGE_MIN`].
///
/// Logarithms are compared. For the search, values are clipped to [`ROBUST_Z_MAX`] robust deviations from the median,
/// the deviation being the smaller of those of the values and of their steps. For the interval, values that stand
/// apart from their level by as much are left out, and either side needs five others: a few bad values are no level.
/// Nothing is assumed about the distribution, but independence is. The orders come from a fixed
/// seed: the result is the same on any machine.
///
/// ```
/// use analysis::statistics::level_changes;
/// let rates: Vec<f64> =
///     (0..30).map(|run| if run < 25 { 500.0 } else { 470.0 } + f64::from(run * 7 % 10)).collect();
/// let found = level_changes(&rates);
/// assert_eq!(found.iter().map(|one| one.at).collect::<Vec<_>>(), [25]);
/// assert!(found[0].interval.0 < -0.06 && -0.06 < found[0].interval.1);
/// ```
#[must_use]
pub fn level_changes(values: &[f64]) -> Vec<LevelChange> {
    if values.iter().any(|value| !value.is_finite() || *value <= 0.0) {
        return Vec::new();
    }
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let mut places = Vec::new();
    divide(&logarithms, 0, &mut places);
    places.sort_by_key(|(place, _)| *place);
    places.dedup_by_key(|(place, _)| *place);
    settle(&logarithms, &mut places);
    loop {
        let good = good(&logarithms, &places);
        let changes: Vec<Option<LevelChange>> =
            (0..places.len()).map(|number| change_at(&good, &places, number)).collect();
        // Without a place that shows no change, the levels beside it are one.
        let Some(weakest) = changes.iter().position(Option::is_none) else {
            return changes.into_iter().flatten().collect();
        };
        places.remove(weakest);
    }
}

/// Adds the places at which `values`, which begin at `start` of the series, change, with their probability.
fn divide(values: &[f64], start: usize, places: &mut Vec<(usize, f64)>) {
    let Some((cuts, p_value)) = clearest(values) else { return };
    places.extend(cuts.iter().map(|cut| (start + cut, p_value)));
    let mut begin = 0;
    for end in cuts.iter().copied().chain([values.len()]) {
        divide(&values[begin..end], start + begin, places);
        begin = end;
    }
}

/// The one or two places that divide `values` most clearly, if a random order is unlikely to show them as clearly.
fn clearest(values: &[f64]) -> Option<(Vec<usize>, f64)> {
    if values.len() < LEVEL_VALUES_MIN {
        return None;
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(values.len() as u64);
    let centred = centred(values)?;
    let split = probability(&centred, &mut random, split).map(|(place, p)| (vec![place], p));
    split.or_else(|| {
        probability(&centred, &mut random, between).map(|((from, to), p)| {
            let inside = [from, to].into_iter().filter(|cut| (1..values.len()).contains(cut));
            (inside.collect(), p)
        })
    })
}

/// The values without outliers, around their mean. `None` if they are all alike.
fn centred(values: &[f64]) -> Option<Vec<f64>> {
    let centre = median(values)?;
    let distances: Vec<f64> = distances(values, centre).collect();
    // Levels make the values scatter, but not their steps.
    let steps = values.windows(2).map(|pair| (pair[1] - pair[0]).abs() / std::f64::consts::SQRT_2);
    let reach = reach(&distances).min(reach(&steps.collect::<Vec<_>>()));
    let near = clipped(values, centre - reach, centre + reach);
    // Far below any resolution of a clock.
    near.iter().any(|value| value.abs() > 1e-12).then_some(near)
}

/// The distance from its centre at which a value is an outlier, if the others have these `distances` from it.
fn reach(distances: &[f64]) -> f64 {
    let deviation = median(distances).filter(|deviation| *deviation > 0.0);
    deviation.map_or(f64::INFINITY, |deviation| deviation * MAD_FACTOR * ROBUST_Z_MAX)
}

/// The values between `low` and `high`, around their mean.
fn clipped(values: &[f64], low: f64, high: f64) -> Vec<f64> {
    let mut near: Vec<f64> = values.iter().map(|value| value.clamp(low, high)).collect();
    let mean = near.iter().sum::<f64>() / near.len() as f64;
    near.iter_mut().for_each(|value| *value -= mean);
    near
}

/// Where `search` finds the largest statistic, and the probability that a random order of the values has one at least
/// as large, for both ways together. `None` if that is above [`DIFFERENCE_LEVEL`].
fn probability<P>(
    values: &[f64],
    random: &mut Xoshiro256PlusPlus,
    search: fn(&[f64]) -> (P, f64),
) -> Option<(P, f64)> {
    let (place, own) = search(values);
    let mut order = values.to_vec();
    let mut reached = 0;
    for _ in 0..ORDERS {
        shuffle(&mut order, random);
        // Rounding differs with the order.
        reached += u32::from(search(&order).1 >= own * (1.0 - 1e-9));
        if p_value(reached) > DIFFERENCE_LEVEL {
            return None;
        }
    }
    Some((place, p_value(reached)))
}

/// The order itself is one of those that could have come.
fn p_value(reached: u32) -> f64 {
    WAYS * f64::from(reached + 1) / f64::from(ORDERS + 1)
}

/// The order of Fisher and Yates. The bias of the product is below 2⁻³² for any length here.
fn shuffle(values: &mut [f64], random: &mut Xoshiro256PlusPlus) {
    for last in (1..values.len()).rev() {
        let below = (u128::from(random.next_u64()) * (last as u128 + 1)) >> 64;
        values.swap(last, usize::try_from(below).unwrap_or(last));
    }
}

/// Partial sums from S_0 = 0 on.
fn partial_sums(values: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for (place, value) in values.iter().enumerate() {
        sums.push(sums[place] + value);
    }
    sums
}

/// The squared statistic of `count` of `n` values around 0 with the sum `sum`.
fn apart(sum: f64, count: usize, n: usize) -> f64 {
    sum * sum * n as f64 / (count as f64 * (n - count) as f64)
}

/// The place with the largest statistic.
fn split(values: &[f64]) -> (usize, f64) {
    let n = values.len();
    let mut best = (0, 0.0);
    let mut sum: f64 = values[..LEVEL_LEAST - 1].iter().sum();
    for place in LEVEL_LEAST..=n - LEVEL_LEAST {
        sum += values[place - 1];
        let statistic = apart(sum, place, n);
        if statistic > best.1 {
            best = (place, statistic);
        }
    }
    best
}

/// The two places between which the values differ most from all others.
fn between(values: &[f64]) -> ((usize, usize), f64) {
    let n = values.len();
    let sums = partial_sums(values);
    let mut best = ((0, n), 0.0);
    let most = BETWEEN_MAX.min(n.saturating_sub(LEVEL_LEAST));
    for count in LEVEL_LEAST..=most {
        let factor = apart(1.0, count, n);
        // What is left on a side is a level of its own.
        for from in LEVEL_LEAST..=n.saturating_sub(count + LEVEL_LEAST) {
            let sum = sums[from + count] - sums[from];
            let statistic = sum * sum * factor;
            if statistic > best.1 {
                best = ((from, from + count), statistic);
            }
        }
    }
    best
}

/// Searches each of `places` again between its neighbours, with outliers clipped to both levels: a search that does not
/// know them yet clips the farther one, too.
fn settle(logarithms: &[f64], places: &mut [(usize, f64)]) {
    for number in 0..places.len() {
        let (from, to) = neighbours(logarithms.len(), places, number);
        let at = places[number].0;
        let (one, other) = (&logarithms[from..at], &logarithms[at..to]);
        if one.len().min(other.len()) < LEVEL_LEAST {
            continue;
        }
        let centres = [one, other].map(|level| median(level).unwrap_or_default());
        let distances: Vec<f64> =
            [one, other].iter().zip(centres).flat_map(|(level, of)| distances(level, of)).collect();
        let reach = reach(&distances);
        let [low, high] = [centres[0].min(centres[1]) - reach, centres[0].max(centres[1]) + reach];
        places[number].0 = from + split(&clipped(&logarithms[from..to], low, high)).0;
    }
}

/// The distances of `values` from `centre`.
fn distances(values: &[f64], centre: f64) -> impl Iterator<Item = f64> {
    values.iter().map(move |value| (value - centre).abs())
}

/// The places before and after place `number`; the ends of the series where there are none.
fn neighbours(n: usize, places: &[(usize, f64)], number: usize) -> (usize, usize) {
    let from = number.checked_sub(1).map_or(0, |before| places[before].0);
    (from, places.get(number + 1).map_or(n, |(after, _)| *after))
}

/// Each value, or `None` if it stands apart from the others of its level.
fn good(logarithms: &[f64], places: &[(usize, f64)]) -> Vec<Option<f64>> {
    let cuts = places.iter().map(|(place, _)| *place).chain([logarithms.len()]);
    let mut begin = 0;
    let levels = cuts.flat_map(|end| {
        let level = &logarithms[std::mem::replace(&mut begin, end)..end];
        let centre = median(level).unwrap_or_default();
        distances(level, centre)
    });
    let distances: Vec<f64> = levels.collect();
    let reach = reach(&distances);
    let all = logarithms.iter().zip(distances);
    all.map(|(value, distance)| (distance <= reach).then_some(*value)).collect()
}

/// The change at place `number`, if the levels on both sides of it differ.
fn change_at(good: &[Option<f64>], places: &[(usize, f64)], number: usize) -> Option<LevelChange> {
    let (from, to) = neighbours(good.len(), places, number);
    let (at, p_value) = places[number];
    let [one, other] =
        [from..at, at..to].map(|part| good[part].iter().flatten().copied().collect::<Vec<_>>());
    if one.len().min(other.len()) < LEVEL_LEAST {
        return None;
    }
    let (low, high) = shift(&one, &other, 1.0 - DIFFERENCE_LEVEL)?;
    let (before, after) = (median(&one)?.exp(), median(&other)?.exp());
    let change = after / before - 1.0;
    let is_told = (low > 0.0 || high < 0.0) && change.abs() >= LEVEL_CHANGE_MIN;
    let interval = (low.exp_m1(), high.exp_m1());
    is_told.then_some(LevelChange { at, before, after, change, interval, p_value })
}
