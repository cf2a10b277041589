//! Periodic dips, for example where transfers cross a stripe boundary, and periodic peaks, for example where they
//! fill a stripe.

/// The minimum number of dips for a pattern; two may be a coincidence.
pub const DIPS_MIN: usize = 3;
/// The minimum depth of a dip, as a share of the rate next to it; shallower dips are not distinguished from noise.
pub const DIP_DEPTH_MIN: f64 = 0.02;
/// With fewer points the scatter is not known well enough.
pub const DIP_POINTS_MIN: usize = 24;
/// The longest period that is searched for, in steps; the running time grows with points × this.
pub const PERIOD_STEPS_MAX: usize = 1024;
/// The minimum depth of a member of the pattern, as a share of the mean depth.
const MEMBER_DEPTH: f64 = 0.5;
/// The share of the places of the pattern that have to be dips.
const MEMBERS: f64 = 0.8;
/// The probability that noise alone produces a pattern, over all periods and offsets together.
const CHANCE: f64 = 1e-4;
/// The scatter of rates is assumed to be at least this share: a smooth curve has no pattern.
const SCATTER_MIN: f64 = 1e-3;
/// The number of points on each side with which a dip is compared: few if dips are narrow and close together, many if
/// they are wide.
const BESIDE: [usize; 3] = [3, 8, 32];
/// The share of an axis's even steps that must have been measured.
const MEASURED: f64 = 0.8;

/// Periodic dips, for example where offsets cross a stripe boundary, or periodic peaks, for example where transfers
/// fill a stripe.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dips {
    /// The period on the x axis.
    pub period: f64,
    /// Mean depth ÷ the rate next to the dip; negative for peaks.
    pub depth: f64,
}

/// The dips of a curve of points (x, rate) in ascending order of x, if x has even steps; or its peaks, which are dips
/// with negative depth.
///
/// Each rate is divided by the median of those next to it, so that the curvature of the curve does not count. For
/// each period and offset, the mean depth at the places of the pattern is compared with the scatter of all other
/// places. The most significant pattern is taken if noise would not produce it (with Bonferroni's bound over all that
/// were tried), if it is at least [`DIP_DEPTH_MIN`] deep, if nearly all of its places are dips, and if most dips of
/// the curve belong to it.
///
/// ```
/// let kib = 1024.0;
/// let rate = |step: u32| if step % 16 == 0 { 0.8e9 } else { 1e9 };
/// let curve: Vec<_> = (1..=64).map(|step| (f64::from(step) * 4.0 * kib, rate(step))).collect();
/// let dips = analysis::sweeps::dips(&curve).expect("a dip at every 16th point");
/// assert_eq!(dips.period, 64.0 * kib);
/// assert!((dips.depth - 0.2).abs() < 1e-9);
/// ```
#[must_use]
pub fn dips(points: &[(f64, f64)]) -> Option<Dips> {
    let (step, rates) = grid(points)?;
    // If every second point is low, every second one is high: peaks are only searched for if there are no dips.
    let best = [1.0, -1.0].into_iter().find_map(|way| best_pattern(&rates, way))?;
    Some(Dips { period: best.steps as f64 * step, depth: best.depth })
}

/// The most significant pattern of dips, or of peaks if `way` is −1.
fn best_pattern(rates: &[Option<f64>], way: f64) -> Option<Pattern> {
    let patterns = BESIDE.iter().filter_map(|&beside| {
        let in_pattern = |place: usize, pattern: &Pattern| place % pattern.steps == pattern.offset;
        let turned: Vec<Option<f64>> =
            depths(rates, beside, |_, _| true).into_iter().map(|depth| Some(depth? * way)).collect();
        let pattern = pattern(&turned)?;
        // The other dips of the pattern are excluded from the neighbours of a dip.
        let apart =
            depths(rates, beside, |place, other| in_pattern(place, &pattern) && !in_pattern(other, &pattern));
        let (depth, _) = mean_depth(&apart, pattern.steps, pattern.offset);
        Some(Pattern { depth, ..pattern })
    });
    patterns.max_by(|a, b| a.score.total_cmp(&b.score))
}

/// The step of the axis and the rate at each step, which is `None` if it was not measured. Returns `None` if the
/// steps are not even.
fn grid(points: &[(f64, f64)]) -> Option<(f64, Vec<Option<f64>>)> {
    let steps = points.windows(2).map(|pair| pair[1].0 - pair[0].0);
    let step = steps.reduce(f64::min).filter(|&step| step > 0.0)?;
    let (first, last) = (points.first()?.0, points.last()?.0);
    let length = (last - first) / step + 1.0;
    if points.len() < DIP_POINTS_MIN || points.len() as f64 / length < MEASURED {
        return None;
    }
    let mut rates: Vec<Option<f64>> = Vec::new();
    for &(x, rate) in points {
        let place = (x - first) / step;
        if (place - place.round()).abs() > 1e-3 || !rate.is_finite() {
            return None;
        }
        while (rates.len() as f64) < place.round() {
            rates.push(None);
        }
        rates.push(Some(rate));
    }
    Some((step, rates))
}

/// How far each rate is below the median of `beside` rates on each side, relative to that median. At the ends fewer
/// rates are used, the same number on either side, so that a slope does not count as a dip. Only the places accepted
/// by `counts` (place, other place) are neighbours of a place.
fn depths(rates: &[Option<f64>], beside: usize, counts: impl Fn(usize, usize) -> bool) -> Vec<Option<f64>> {
    let mut around = Vec::with_capacity(2 * beside);
    let depth = |place: usize| {
        let rate = rates[place]?;
        let reach = beside.min(place).min(rates.len() - 1 - place);
        around.clear();
        let others = (place - reach..=place + reach).filter(|&other| other != place && counts(place, other));
        around.extend(others.filter_map(|other| rates[other]));
        around.sort_by(f64::total_cmp);
        let (low, high) = (around.get(around.len().saturating_sub(1) / 2)?, around.get(around.len() / 2)?);
        let level = f64::midpoint(*low, *high);
        (level > 0.0).then(|| 1.0 - rate / level)
    };
    (0..rates.len()).map(depth).collect()
}

/// A period and offset at which the curve dips.
struct Pattern {
    steps: usize,
    offset: usize,
    depth: f64,
    score: f64,
}

fn pattern(depths: &[Option<f64>]) -> Option<Pattern> {
    let longest = (depths.len() / DIPS_MIN).min(PERIOD_STEPS_MAX);
    let over_all = scatter(depths);
    let tried = (2..=longest).sum::<usize>().max(1) as f64;
    // P(normal > z) < exp(−z²/2) / 2.
    let score_min = (2.0 * (tried / CHANCE).ln()).sqrt();
    let mut best: Option<Pattern> = None;
    for steps in 2..=longest {
        // If a third of all places or more are dips, they dominate the scatter of all.
        let scatter = if steps <= 3 { scatter_within(depths, steps).0 } else { over_all };
        for offset in 0..steps {
            let (depth, count) = mean_depth(depths, steps, offset);
            let score = depth / scatter * (count as f64).sqrt();
            let enough = count >= DIPS_MIN && depth >= DIP_DEPTH_MIN && score >= score_min;
            if enough && best.as_ref().is_none_or(|best| score > best.score) {
                best = Some(Pattern { steps, offset, depth, score });
            }
        }
    }
    // A median of few values is sometimes far too small, so the chosen pattern must also stand out from the deviation
    // of all places.
    let stands_out = |pattern: &Pattern| {
        let (scatter, degrees) = scatter_within(depths, pattern.steps);
        let (_, count) = mean_depth(depths, pattern.steps, pattern.offset);
        normal_score(pattern.depth / scatter * (count as f64).sqrt(), degrees) >= score_min
    };
    best.filter(|pattern| stands_out(pattern) && is_regular(depths, pattern))
}

/// The mean depth at every `steps`-th place starting at `offset`, and the number of these places.
fn mean_depth(depths: &[Option<f64>], steps: usize, offset: usize) -> (f64, usize) {
    let (mut sum, mut count) = (0.0, 0);
    for depth in depths[offset..].iter().step_by(steps).flatten() {
        sum += depth;
        count += 1;
    }
    (if count == 0 { 0.0 } else { sum / count as f64 }, count)
}

/// Whether nearly all places of the pattern are dips, and most dips of the curve belong to the pattern. Adjacent dips
/// are one wide dip.
fn is_regular(depths: &[Option<f64>], pattern: &Pattern) -> bool {
    let is_place = |place: usize| place % pattern.steps == pattern.offset;
    let is_dip = |place: usize| depths[place].is_some_and(|depth| depth >= pattern.depth * MEMBER_DEPTH);
    let measured: Vec<usize> = (0..depths.len()).filter(|&place| depths[place].is_some()).collect();
    let places = measured.iter().filter(|&&place| is_place(place)).count();
    let (mut inside, mut outside) = (0_usize, 0_usize);
    for run in measured.chunk_by(|&one, &next| is_dip(one) == is_dip(next)).filter(|run| is_dip(run[0])) {
        match run.iter().filter(|&&place| is_place(place)).count() {
            0 => outside += 1,
            places => inside += places,
        }
    }
    inside >= DIPS_MIN && inside as f64 >= places as f64 * MEMBERS && outside * 2 <= inside
}

/// The deviation of normal values with the same median of absolute values, at least [`SCATTER_MIN`]: rare dips do not
/// affect a median.
fn scatter(depths: &[Option<f64>]) -> f64 {
    let mut sizes: Vec<f64> = depths.iter().flatten().map(|depth| depth.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    // The median of the absolute values of normal values is 0.6745 deviations.
    sizes.get(sizes.len() / 2).map_or(0.0, |median| median / 0.6745).max(SCATTER_MIN)
}

/// The standard deviation from the mean of each place in the period, at least [`SCATTER_MIN`], and its degrees of
/// freedom.
fn scatter_within(depths: &[Option<f64>], steps: usize) -> (f64, f64) {
    let means: Vec<f64> = (0..steps).map(|offset| mean_depth(depths, steps, offset).0).collect();
    let (mut squares, mut count) = (0.0, 0_usize);
    for (place, depth) in depths.iter().enumerate() {
        let Some(depth) = depth else { continue };
        squares += (depth - means[place % steps]).powi(2);
        count += 1;
    }
    let degrees = count.saturating_sub(steps).max(1) as f64;
    ((squares / degrees).sqrt().max(SCATTER_MIN), degrees)
}

/// The value of a normal distribution that is as improbable as `score` is in Student's.
///
/// Source: D. L. Wallace, "Bounds on normal approximations to Student's and the chi-square
/// distributions", Annals of Mathematical Statistics 30, 1959.
fn normal_score(score: f64, degrees: f64) -> f64 {
    (degrees * (1.0 + score * score / degrees).ln()).sqrt() * (8.0 * degrees + 1.0) / (8.0 * degrees + 3.0)
}
