//! Whether counts of transfers beyond a limit show that a percentile keeps the limit, or breaks it.
//!
//! A percentile of 99.9 is within a limit if at most 0.1 % of the transfers take longer. Two rules have to agree.
//! By the first, the transfers of all passes are counted together, as if each were independent. That alone is wrong
//! for storage: a stall delays every transfer in flight, and passes differ. By the second, the unit is the pass.

use statrs::function::gamma::ln_gamma;

use crate::statistics::whole;

/// The probability with which each bound of a percentile may be on the wrong side.
pub const PERCENTILE_LEVEL: f64 = 0.01;

/// A pass in which nothing was beyond the limit counts as evidence against the case that this many times the allowed
/// share is beyond it in some passes, and nothing in the others: 3 stands for a third of the passes.
const SHARE_OF_A_BAD_PASS: f64 = 3.0;

/// If a pass has more beyond the limit than that, others may have up to this many times as much.
const UNSEEN: f64 = 4.0;

/// If everything beyond the limit is in this share of the passes, there are to be so many of them that chance leaves
/// out all of these with a probability of at most the level.
const BAD_PASSES: f64 = 0.25;

/// The transfers of one pass, and how many of them are beyond a limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Beyond {
    pub transfers: u64,
    pub beyond: u64,
}

/// The share of transfers that may take longer than the percentile: 0.001 for 99.9.
fn allowed(percent: f64) -> f64 {
    ((100.0 - percent) / 100.0).clamp(0.0, 1.0)
}

/// The least number of transfers that can show anything about an upper limit of a percentile, if none of them is
/// beyond it: (percent ÷ 100)ⁿ is at most `level`, so about 4.6 ÷ (1 − percent ÷ 100) for 0.01. `None` for 100 %.
///
/// ```
/// use analysis::statistics::{PERCENTILE_LEVEL, transfers_needed};
/// assert_eq!(transfers_needed(99.9, PERCENTILE_LEVEL), Some(4603));
/// assert_eq!(transfers_needed(100.0, PERCENTILE_LEVEL), None);
/// ```
#[must_use]
pub fn transfers_needed(percent: f64, level: f64) -> Option<u64> {
    let allowed = allowed(percent);
    (allowed > 0.0).then(|| whole((level.ln() / (-allowed).ln_1p()).ceil()).max(1))
}

/// The least number of passes, however many transfers each has: (1 − [`BAD_PASSES`])ⁿ is at most `level`, and the
/// stake of [`passes_within`] can grow to 1 ÷ `level`.
fn least_passes(level: f64) -> f64 {
    let (gain, loss) = ((1.0 / (SHARE_OF_A_BAD_PASS - 1.0)).ln_1p(), -(-BAD_PASSES).ln_1p());
    (-level.ln() / gain.min(loss)).ceil()
}

/// The least number of passes with `transfers` each that can show anything about an upper limit of a percentile, if
/// `in_flight` transfers are in flight at a time: see [`passes_within`]. `None` for 100 %, or without transfers.
#[must_use]
pub fn passes_needed(percent: f64, transfers: f64, in_flight: f64, level: f64) -> Option<u64> {
    let share = allowed(percent) * transfers / in_flight.max(1.0);
    let gain = share.min(1.0 / (SHARE_OF_A_BAD_PASS - 1.0)).ln_1p();
    (gain > 0.0).then(|| whole((-level.ln() / gain).ceil().max(least_passes(level))))
}

/// The least number of transfers of a pass for which the number of passes, and not that of transfers, decides
/// [`passes_needed`]. `None` for 100 %.
#[must_use]
pub fn transfers_of_pass(percent: f64, in_flight: f64, level: f64) -> Option<u64> {
    let allowed = allowed(percent);
    let share = (-level.ln() / least_passes(level)).exp_m1();
    (allowed > 0.0).then(|| whole((in_flight.max(1.0) * share / allowed).ceil()))
}

/// The largest number of `transfers` beyond a limit that shows the percentile to be within it: were as many beyond it
/// as allowed, so few would be seen with a probability of at most `level`. `None` if there are too few transfers.
///
/// Source: order statistics, as in Hahn and Meeker, "Statistical Intervals", 1991, section 5.2.
#[must_use]
pub fn beyond_at_most(transfers: u64, percent: f64, level: f64) -> Option<u64> {
    largest_count(transfers, allowed(percent), level)
}

/// The smallest number of `transfers` beyond a limit that shows the percentile not to be within it, at the same
/// `level`. `None` if there are too few transfers.
#[must_use]
pub fn beyond_at_least(transfers: u64, percent: f64, level: f64) -> Option<u64> {
    largest_count(transfers, 1.0 - allowed(percent), level).map(|within| transfers - within)
}

/// Whether `passes` show that a percentile is within a limit, with the pass as the unit.
///
/// Each pass multiplies a stake by 1 + (allowed − beyond) ÷ scale, and the stake has to grow to 1 ÷ `level`. If more
/// than allowed is beyond the limit in the long run, the stake does not grow on average, and so exceeds 1 ÷ `level`
/// with a probability of at most `level`, however skewed the counts are. The scale is the largest count that one pass
/// is taken to have at the limit, less what is allowed: twice the allowed count of the longest pass, all transfers
/// in flight (one stall), or four times the largest count of these passes. There have to be at least 17 passes for a
/// level of 0.01: were a quarter of all passes bad, 16 would have none of them with a probability of 1.002 %.
///
/// Source: Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86, 2024. The
/// scale, and the error if passes depend on each other, are calibrated: `docs/VALIDATION.md` has the table.
#[must_use]
pub fn passes_within(passes: &[Beyond], percent: f64, in_flight: f64, level: f64) -> bool {
    let allowed = allowed(percent);
    let longest = passes.iter().map(|pass| pass.transfers).max().unwrap_or(0) as f64;
    let most = passes.iter().map(|pass| pass.beyond).max().unwrap_or(0) as f64;
    let scale = ((SHARE_OF_A_BAD_PASS - 1.0) * allowed * longest).max(in_flight).max(UNSEEN * most).max(1.0);
    let gain = |pass: &Beyond| ((allowed * pass.transfers as f64 - pass.beyond as f64) / scale).ln_1p();
    passes.len() as f64 >= least_passes(level) && passes.iter().map(gain).sum::<f64>() >= -level.ln()
}

/// Whether `passes` show that a percentile is not within a limit, with the pass as the unit: as [`passes_within`],
/// with the opposite sign. No count is below 0, so that this needs no assumption about the largest. It takes as many
/// passes.
#[must_use]
pub fn passes_beyond(passes: &[Beyond], percent: f64, level: f64) -> bool {
    let allowed = allowed(percent);
    let longest = passes.iter().map(|pass| pass.transfers).max().unwrap_or(0) as f64;
    let scale = (SHARE_OF_A_BAD_PASS - 1.0) * allowed * longest;
    if scale <= 0.0 {
        return passes.iter().any(|pass| pass.beyond > 0);
    }
    let gain = |pass: &Beyond| ((pass.beyond as f64 - allowed * pass.transfers as f64) / scale).ln_1p();
    passes.len() as f64 >= least_passes(level) && passes.iter().map(gain).sum::<f64>() >= -level.ln()
}

/// The largest number of successes of `trials` that is not exceeded with a probability of at most `level`, if each
/// succeeds with the probability `share`. `None` if none at all is likelier than that.
fn largest_count(trials: u64, share: f64, level: f64) -> Option<u64> {
    let is_rare = |count: u64| binomial_at_most(count, trials, share) <= level;
    if trials == 0 || !is_rare(0) {
        return None;
    }
    // At the mean, the probability is about one half.
    let (mut low, mut high) = (0, whole(trials as f64 * share) + 1);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if is_rare(middle) { low = middle } else { high = middle }
    }
    Some(low)
}

/// The probability of at most `count` successes in `trials` that succeed with the probability `share` each.
fn binomial_at_most(count: u64, trials: u64, share: f64) -> f64 {
    if count >= trials || share <= 0.0 {
        return 1.0;
    }
    if share >= 1.0 {
        return 0.0;
    }
    if count as f64 >= trials as f64 * share {
        return 1.0 - binomial_at_most(trials - count - 1, trials, 1.0 - share);
    }
    let (k, n) = (count as f64, trials as f64);
    let ways = ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0);
    let first = ways + k * share.ln() + (n - k) * (-share).ln_1p();
    // Each term as a multiple of the first, from the largest on: below the mean they fall.
    let (mut term, mut sum) = (1.0, 1.0);
    for below in (1..=count).rev() {
        term *= below as f64 * (1.0 - share) / ((trials - below + 1) as f64 * share);
        sum += term;
        if term < sum * f64::EPSILON {
            break;
        }
    }
    (first + sum.ln()).exp()
}
