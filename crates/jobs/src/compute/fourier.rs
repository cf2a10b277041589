//! Fourier transforms of a series and back, one block after another.

use std::sync::Arc;

use plan::jobs::{Step, drawn};
use rustfft::num_complex::Complex64;
use rustfft::{Fft, FftPlanner};

use super::{LANES, in_lanes, index, outcome, real, times};
use crate::row::{ROW_BYTES, amount, unit};
use crate::{JobError, StepContext, StepOutcome};

/// Number of values in a block, if the series has that many: 1 MiB of complex numbers.
pub(crate) const BLOCK_VALUES: usize = 1 << 16;

/// The results of transforming a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Transformed {
    /// Number of transforms, each forward and back.
    pub(crate) pairs: u64,
    /// Number of values in a block.
    pub(crate) block_values: usize,
    /// The sum of the squares of the spectra, divided by the number of values in a block. By Parseval's theorem this
    /// is the sum of the squares of the series.
    pub(crate) energy: f64,
    /// The largest difference between a value and its round trip.
    pub(crate) largest_error: f64,
}

/// Runs the step.
pub(crate) fn run(
    context: &StepContext<'_>,
    step: &Step,
    input: Option<&str>,
    operations: u64,
) -> Result<StepOutcome, JobError> {
    let most = values_max(context.data_bytes(step), step.threads);
    let mut series;
    let mut rows_in = 0;
    if let Some(input) = input {
        let table = context.input(input)?.open(context.io)?;
        series = Vec::with_capacity(index(table.rows_at_most()).min(most));
        rows_in = table.for_each_page(|page| {
            let room = most - series.len();
            series.extend(page.chunks_exact(ROW_BYTES).take(room).map(|row| cents(amount(row))));
            Ok(())
        })?;
    } else {
        // As many values as will be transformed, so that none is transformed twice if there is enough
        // memory.
        let blocks = times(operations, operations_per_pair(BLOCK_VALUES)).max(1);
        let values = index(blocks).saturating_mul(BLOCK_VALUES).min(most);
        let seed = context.seed();
        series = (0..values as u64).map(|place| unit(drawn(seed, place)) - 0.5).collect();
    }
    if series.is_empty() {
        // If the table is empty: the transform of zero is zero.
        series.push(0.0);
    }
    let found = transform(&series, pairs(operations, series.len()), step.threads)?;
    let all = [
        ("values", real(series.len() as u64)),
        ("block_values", real(found.block_values as u64)),
        ("transforms", real(2 * found.pairs)),
        ("energy", found.energy),
        ("largest_error", found.largest_error),
        ("operations", real(found.pairs * operations_per_pair(found.block_values))),
    ];
    Ok(outcome(rows_in, all))
}

/// Number of values that fit into memory in addition to the threads' buffers; at least one block.
fn values_max(memory_bytes: usize, threads: u32) -> usize {
    let of_threads = index(u64::from(threads.max(1)) * thread_bytes(BLOCK_VALUES));
    (memory_bytes.saturating_sub(of_threads) / size_of::<f64>()).max(BLOCK_VALUES)
}

/// Converts an amount to a value of a series.
#[expect(clippy::cast_precision_loss, reason = "amounts of tables have six digits")]
const fn cents(amount: i64) -> f64 {
    amount as f64
}

/// Block size for a series of `values` values: a power of two, at least 2.
pub(crate) fn block_values(values: usize) -> usize {
    values.max(2).next_power_of_two().min(BLOCK_VALUES)
}

/// Number of operations to transform a block forward and back: 5 n log2 n each, as counted by the FFTW
/// project.
pub(crate) fn operations_per_pair(block_values: usize) -> u64 {
    10 * block_values as u64 * u64::from(block_values.ilog2())
}

/// Number of transform pairs for `operations` operations, such that each block is transformed at least
/// once.
pub(crate) fn pairs(operations: u64, values: usize) -> u64 {
    let block = block_values(values);
    times(operations, operations_per_pair(block)).max(values.div_ceil(block) as u64)
}

/// Memory that a thread needs in addition to the series, in bytes.
pub(crate) fn thread_bytes(block_values: usize) -> u64 {
    // The block, and scratch space of the same size.
    (2 * block_values * size_of::<Complex64>()) as u64
}

/// Transforms the blocks of `series` in turn, forward and back, `pairs` times in total. The last block is
/// padded with zeros.
pub(crate) fn transform(series: &[f64], pairs: u64, threads: u32) -> Result<Transformed, JobError> {
    let block_values = block_values(series.len());
    let mut planner = FftPlanner::new();
    let forward = planner.plan_fft_forward(block_values);
    let back = planner.plan_fft_inverse(block_values);
    let blocks: Vec<&[f64]> = series.chunks(block_values).collect();
    // Each lane is a range of neighbouring pairs: at most one lane per pair, to avoid unused buffers.
    let lanes = pairs.clamp(1, LANES);
    let found = in_lanes(threads, lanes, |lane| {
        let mut bench = Bench::new(&forward, &back);
        let (mut energy, mut largest) = (0.0, 0.0_f64);
        for pair in (lane..pairs).step_by(index(lanes)) {
            let (own, error) = bench.there_and_back(blocks[index(pair % blocks.len() as u64)]);
            largest = largest.max(error);
            if pair < blocks.len() as u64 {
                energy += own;
            }
        }
        (energy, largest)
    })?;
    let (energy, largest_error) =
        found.into_iter().fold((0.0, 0.0_f64), |all, one| (all.0 + one.0, all.1.max(one.1)));
    Ok(Transformed { pairs, block_values, energy, largest_error })
}

/// Buffers of one thread.
struct Bench<'a> {
    forward: &'a Arc<dyn Fft<f64>>,
    back: &'a Arc<dyn Fft<f64>>,
    block: Vec<Complex64>,
    scratch: Vec<Complex64>,
}

impl<'a> Bench<'a> {
    fn new(forward: &'a Arc<dyn Fft<f64>>, back: &'a Arc<dyn Fft<f64>>) -> Self {
        let scratch = forward.get_inplace_scratch_len().max(back.get_inplace_scratch_len());
        Self {
            forward,
            back,
            block: vec![Complex64::default(); forward.len()],
            scratch: vec![Complex64::default(); scratch],
        }
    }

    /// The energy of the spectrum of `values`, and the largest error of the round trip.
    fn there_and_back(&mut self, values: &[f64]) -> (f64, f64) {
        self.block.fill(Complex64::default());
        for (place, &value) in self.block.iter_mut().zip(values) {
            place.re = value;
        }
        let count = real(self.block.len() as u64);
        self.forward.process_with_scratch(&mut self.block, &mut self.scratch);
        let energy = self.block.iter().map(Complex64::norm_sqr).sum::<f64>() / count;
        self.back.process_with_scratch(&mut self.block, &mut self.scratch);
        let zeros = std::iter::repeat(&0.0);
        let errors = self.block.iter().zip(values.iter().chain(zeros));
        let largest = errors.map(|(back, value)| (back / count - value).norm()).fold(0.0, f64::max);
        (energy, largest)
    }
}

#[cfg(test)]
mod tests {
    use plan::jobs::drawn;

    use super::{BLOCK_VALUES, block_values, operations_per_pair, pairs, transform};
    use crate::row::unit;

    fn series(values: usize) -> Vec<f64> {
        (0..values as u64).map(|place| unit(drawn(5, place)) * 1000.0 - 300.0).collect()
    }

    #[test]
    fn what_was_transformed_comes_back_and_keeps_its_energy() {
        for values in [1, 2, 1000, 3 * BLOCK_VALUES / 2] {
            let series = series(values);
            let found = transform(&series, pairs(0, values), 2).unwrap();
            let energy: f64 = series.iter().map(|value| value * value).sum();
            assert!((found.energy / energy - 1.0).abs() < 1e-12, "{values}: {} for {energy}", found.energy);
            assert!(found.largest_error < 1e-9, "{values}: {found:?}");
        }
    }

    #[test]
    fn a_wave_has_its_energy_in_one_frequency() {
        let wave: Vec<f64> =
            (0..64).map(|place| (f64::from(place) * std::f64::consts::TAU / 16.0).cos()).collect();
        let found = transform(&wave, 1, 1).unwrap();
        assert!((found.energy - 32.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn threads_and_further_rounds_change_nothing() {
        let series = series(5 * BLOCK_VALUES + 7);
        let once = transform(&series, 6, 1).unwrap();
        assert_eq!(once, transform(&series, 6, 3).unwrap());
        let often = transform(&series, 20, 2).unwrap();
        assert!((often.energy / once.energy - 1.0).abs() < 1e-14);
    }

    #[test]
    fn operations_say_how_many_transforms_there_are() {
        assert_eq!((block_values(0), block_values(1000), block_values(1 << 20)), (2, 1024, BLOCK_VALUES));
        assert_eq!(operations_per_pair(BLOCK_VALUES), 10 * 65_536 * 16);
        assert_eq!(pairs(7 * operations_per_pair(1024), 1000), 7);
        assert_eq!(pairs(0, 3 * BLOCK_VALUES), 3, "each block once");
    }
}
