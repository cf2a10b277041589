//! Simulates paths of a geometric random walk, and computes the mean of their end values.

use plan::jobs::{Step, drawn};
use rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{LANES, dealt, in_lanes, outcome, real, times};
use crate::{JobError, StepContext, StepOutcome};

/// Number of steps in a path: the trading days of a year.
const PATH_STEPS: u32 = 252;
/// Number of operations for each step of a path: 2 for drawing a normal number, 2 for its scaling and
/// shift, 8 for the exponential (as counted by McMahon's Livermore loops), 2 for the multiplication and
/// the counting.
const OPERATIONS_PER_STEP: u64 = 14;
/// Start value of paths.
const START: f64 = 100.0;
/// Annual growth.
const GROWTH: f64 = 0.05;
/// Annual standard deviation of the logarithm.
const VOLATILITY: f64 = 0.2;

/// The result of a simulation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Simulated {
    /// Number of paths.
    pub(crate) paths: u64,
    /// The mean of their end values.
    pub(crate) mean: f64,
    /// Its standard error.
    pub(crate) standard_error: f64,
    /// The expected value of the mean.
    pub(crate) expected: f64,
}

/// Runs the step.
pub(crate) fn run(context: &StepContext<'_>, step: &Step, operations: u64) -> Result<StepOutcome, JobError> {
    let found = simulate(context.seed(), paths(operations), step.threads)?;
    let all = [
        ("paths", real(found.paths)),
        ("mean", found.mean),
        ("standard_error", found.standard_error),
        ("expected", found.expected),
        ("operations", real(self::operations(found.paths))),
    ];
    Ok(outcome(0, all))
}

/// Number of paths for `operations` operations; at least one.
pub(crate) fn paths(operations: u64) -> u64 {
    times(operations, u64::from(PATH_STEPS) * OPERATIONS_PER_STEP).max(1)
}

/// Operations of `paths` paths.
pub(crate) fn operations(paths: u64) -> u64 {
    paths * u64::from(PATH_STEPS) * OPERATIONS_PER_STEP
}

/// Simulates `paths` paths.
pub(crate) fn simulate(seed: u64, paths: u64, threads: u32) -> Result<Simulated, JobError> {
    let lane = |lane: u64| {
        // Each lane has its own generator, so that no path depends on the number of threads.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(drawn(seed, lane));
        let ends = (0..dealt(paths, lane, LANES)).map(|_| end(&mut random));
        // Sums of differences from the expected value remain small and lose no precision.
        ends.map(|end| end - expected())
            .fold((0.0, 0.0), |(sum, squares), end| (sum + end, squares + end * end))
    };
    let (sum, squares) = in_lanes(threads, LANES, lane)?
        .into_iter()
        .fold((0.0, 0.0), |all: (f64, f64), one: (f64, f64)| (all.0 + one.0, all.1 + one.1));
    let count = real(paths);
    let difference = sum / count;
    let variance = (squares - sum * difference) / (count - 1.0).max(1.0);
    Ok(Simulated {
        paths,
        mean: expected() + difference,
        standard_error: (variance / count).sqrt(),
        expected: expected(),
    })
}

/// End value of one path.
fn end(random: &mut Xoshiro256PlusPlus) -> f64 {
    let step = 1.0 / f64::from(PATH_STEPS);
    let (drift, spread) = ((GROWTH - VOLATILITY * VOLATILITY / 2.0) * step, VOLATILITY * step.sqrt());
    (0..PATH_STEPS).fold(START, |value, _| {
        let normal: f64 = StandardNormal.sample(random);
        value * (drift + spread * normal).exp()
    })
}

/// Expected end value of a path.
fn expected() -> f64 {
    START * GROWTH.exp()
}

#[cfg(test)]
mod tests {
    use super::{Simulated, operations, paths, simulate};

    #[test]
    fn the_mean_is_within_four_standard_errors_of_its_expectation() {
        for seed in 0..4 {
            let Simulated { mean, standard_error, expected, .. } = simulate(seed, 5_000, 2).unwrap();
            assert!((mean - expected).abs() < 4.0 * standard_error, "{mean} ± {standard_error}");
            // The standard deviation of the end is known too: about 21.2 around 105.1.
            let deviation = standard_error * 5_000_f64.sqrt();
            assert!((deviation - 21.24).abs() < 1.5, "{deviation}");
        }
    }

    #[test]
    fn threads_change_nothing_and_seeds_do() {
        assert_eq!(simulate(7, 300, 1).unwrap(), simulate(7, 300, 5).unwrap());
        assert_ne!(simulate(7, 300, 1).unwrap().mean, simulate(8, 300, 1).unwrap().mean);
    }

    #[test]
    fn operations_say_how_many_paths_there_are() {
        assert_eq!(paths(operations(1234)), 1234);
        assert_eq!(paths(0), 1);
        assert!(simulate(1, 1, 1).unwrap().standard_error.is_finite());
    }
}
