//! Least-squares regression of the measure on the eight variables, with bootstrap errors of its coefficients.
//!
//! The coefficients are computed from sums of products over all rows, as they are read. Their standard errors
//! come from the bootstrap: the rows in memory are resampled repeatedly, each row weighted by a Poisson
//! variable with mean 1 (Hanley and MacGibbon, *Creating non-parametric bootstrap samples using Poisson
//! frequencies*, 2006), and the coefficients are recomputed each time.

use nalgebra::{SMatrix, SVector};
use plan::jobs::{Step, drawn};

use super::{LANES, in_lanes, index, outcome, real, times};
use crate::row::{ROW_BYTES, x, y};
use crate::{JobError, StepContext, StepOutcome};

/// Number of variables in a row.
pub(crate) const VARIABLES: usize = 8;
/// Number of coefficients: the intercept, and one for each variable.
pub(crate) const COEFFICIENTS: usize = VARIABLES + 1;
/// Number of columns kept of a row: the variables and the measure.
const COLUMNS: usize = VARIABLES + 1;
/// Number of factors: these columns, preceded by the constant 1 of the intercept.
const FACTORS: usize = COLUMNS + 1;
/// Number of operations for each row and pass: 55 products of two factors, each multiplied and added, and
/// 10 weighted factors.
pub(crate) const OPERATIONS_PER_ROW: u64 = 2 * (FACTORS * (FACTORS + 1) / 2) as u64 + FACTORS as u64;
/// Bytes kept per row.
pub(crate) const BYTES_PER_ROW: u64 = (COLUMNS * size_of::<f64>()) as u64;
/// Number of rows in a block, which is stored column by column and fits into a cache of 32 KiB.
const BLOCK_ROWS: usize = 256;

/// Names of the coefficients and their errors in the results.
const NAMES: [[&str; 2]; COEFFICIENTS] = [
    ["intercept", "intercept_error"],
    ["x0", "x0_error"],
    ["x1", "x1_error"],
    ["x2", "x2_error"],
    ["x3", "x3_error"],
    ["x4", "x4_error"],
    ["x5", "x5_error"],
    ["x6", "x6_error"],
    ["x7", "x7_error"],
];

/// Runs the step.
pub(crate) fn run(
    context: &StepContext<'_>,
    step: &Step,
    input: &str,
    operations: u64,
) -> Result<StepOutcome, JobError> {
    let table = context.input(input)?.open(context.io)?;
    let mut rows = Rows::new(context.data_bytes(step) as u64, table.rows_at_most());
    let rows_in = table.for_each_page(|page| {
        for row in page.chunks_exact(ROW_BYTES) {
            rows.push(std::array::from_fn(|number| x(row, number)), y(row));
        }
        Ok(())
    })?;
    let fit = rows.fit();
    let resamplings = rows.resamplings(operations);
    let done = (fit.rows + resamplings * rows.kept()) * OPERATIONS_PER_ROW;
    let mut found = vec![
        ("rows", real(fit.rows)),
        ("rows_in_memory", real(rows.kept())),
        ("r_squared", fit.r_squared),
        ("resamplings", real(resamplings)),
        ("operations", real(done)),
    ];
    found.extend(NAMES.iter().zip(fit.coefficients).map(|(names, value)| (names[0], value)));
    let errors = rows.errors(context.seed(), resamplings, step.threads)?;
    // A single resampling has no deviation.
    if resamplings > 1 {
        found.extend(NAMES.iter().zip(errors).map(|(names, value)| (names[1], value)));
    }
    Ok(outcome(rows_in, found))
}

/// Sums of the pairwise products of factors, in the order 1, x0, … x7, y.
type Products = SMatrix<f64, FACTORS, FACTORS>;

/// Rows in memory, in blocks of columns.
#[derive(Debug)]
pub(crate) struct Rows {
    /// Blocks of [`BLOCK_ROWS`] × [`COLUMNS`].
    values: Vec<f64>,
    rows: usize,
    rows_max: usize,
    /// Rows that are not in a full block yet, and all rows beyond the memory limit.
    open: Box<Block>,
    open_rows: usize,
    products: Products,
    seen: u64,
}

/// Columns of a few rows.
type Block = [[f64; BLOCK_ROWS]; COLUMNS];

impl Rows {
    /// Creates an empty set, with capacity for the rows that fit into `memory_bytes`.
    pub(crate) fn new(memory_bytes: u64, rows: u64) -> Self {
        let rows_max = index((memory_bytes / BYTES_PER_ROW).min(rows)).next_multiple_of(BLOCK_ROWS);
        Self {
            values: Vec::with_capacity(rows_max * COLUMNS),
            rows: 0,
            rows_max,
            open: Box::new([[0.0; BLOCK_ROWS]; COLUMNS]),
            open_rows: 0,
            products: Products::zeros(),
            seen: 0,
        }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, variables: [f64; VARIABLES], measure: f64) {
        for (column, value) in self.open.iter_mut().zip(variables.into_iter().chain([measure])) {
            column[self.open_rows] = value;
        }
        self.open_rows += 1;
        if self.open_rows == BLOCK_ROWS {
            self.close_block();
        }
    }

    /// Adds the open block to the sums, and keeps it if there is room.
    fn close_block(&mut self) {
        let rows = std::mem::take(&mut self.open_rows);
        let mut weights = [0.0; BLOCK_ROWS];
        weights[..rows].fill(1.0);
        add_products(&self.open, &weights, &mut self.products);
        self.seen += rows as u64;
        if self.rows + BLOCK_ROWS <= self.rows_max {
            self.values.extend(self.open.iter().flatten());
            self.rows += rows;
        }
    }

    /// Returns the coefficients of all rows. Called after the last row.
    pub(crate) fn fit(&mut self) -> Fit {
        if self.open_rows > 0 {
            // Left-over rows of the previous block have no weight.
            self.close_block();
        }
        fit(&self.products, self.seen)
    }

    /// Number of rows in memory.
    pub(crate) const fn kept(&self) -> u64 {
        self.rows as u64
    }

    /// Number of resamplings for the part of `operations` that is left after all rows have been counted
    /// once.
    pub(crate) fn resamplings(&self, operations: u64) -> u64 {
        let left = operations.saturating_sub(self.seen.saturating_mul(OPERATIONS_PER_ROW));
        if self.rows == 0 { 0 } else { times(left, self.kept() * OPERATIONS_PER_ROW) }
    }

    /// The standard deviations of the coefficients over `resamplings` resamplings of the rows in memory.
    pub(crate) fn errors(
        &self,
        seed: u64,
        resamplings: u64,
        threads: u32,
    ) -> Result<[f64; COEFFICIENTS], JobError> {
        let lanes = in_lanes(threads, LANES, |lane| {
            let mut sums = [[0.0; 2]; COEFFICIENTS];
            for resampling in (lane..resamplings).step_by(index(LANES)) {
                let found = self.resampled(drawn(seed, resampling));
                for (sum, value) in sums.iter_mut().zip(found.coefficients) {
                    *sum = [sum[0] + value, sum[1] + value * value];
                }
            }
            sums
        })?;
        let count = real(resamplings);
        Ok(std::array::from_fn(|number| {
            let [sum, squares] =
                lanes.iter().fold([0.0; 2], |all, lane| [all[0] + lane[number][0], all[1] + lane[number][1]]);
            ((squares - sum * sum / count).max(0.0) / (count - 1.0).max(1.0)).sqrt()
        }))
    }

    /// The coefficients of one resampling.
    fn resampled(&self, seed: u64) -> Fit {
        let mut products = Products::zeros();
        let mut weights = [0.0; BLOCK_ROWS];
        for (number, block) in self.values.chunks_exact(BLOCK_ROWS * COLUMNS).enumerate() {
            let first = number * BLOCK_ROWS;
            let rows = (self.rows - first).min(BLOCK_ROWS);
            for (row, weight) in weights.iter_mut().enumerate() {
                *weight = if row < rows { poisson(drawn(seed, (first + row) as u64)) } else { 0.0 };
            }
            let (columns, _) = block.as_chunks::<BLOCK_ROWS>();
            if let Ok(columns) = columns.try_into() {
                add_products(columns, &weights, &mut products);
            }
        }
        fit(&products, self.kept())
    }
}

/// The result of a regression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fit {
    /// The intercept, followed by one coefficient for each variable.
    pub(crate) coefficients: [f64; COEFFICIENTS],
    /// The share of the measure's variance that the variables explain.
    pub(crate) r_squared: f64,
    /// Number of rows.
    pub(crate) rows: u64,
}

/// Solves the normal equations. If variables are linearly dependent, or there are too few rows, the
/// coefficients are NaN.
fn fit(products: &Products, rows: u64) -> Fit {
    let of_factors: SMatrix<f64, COEFFICIENTS, COEFFICIENTS> =
        products.fixed_view::<COEFFICIENTS, COEFFICIENTS>(0, 0).into_owned();
    let with_measure: SVector<f64, COEFFICIENTS> =
        products.fixed_view::<COEFFICIENTS, 1>(0, COEFFICIENTS).into_owned();
    let solved = of_factors.cholesky().map(|cholesky| cholesky.solve(&with_measure));
    let coefficients = solved.unwrap_or(SVector::repeat(f64::NAN));
    let (count, sum, squares) =
        (products[(0, 0)], products[(0, COEFFICIENTS)], products[(COEFFICIENTS, COEFFICIENTS)]);
    let left = squares - coefficients.dot(&with_measure);
    Fit { coefficients: coefficients.into(), r_squared: 1.0 - left / (squares - sum * sum / count), rows }
}

/// Adds the weighted pairwise products of the rows of a block. The lower half mirrors the upper one.
fn add_products(columns: &Block, weights: &[f64; BLOCK_ROWS], products: &mut Products) {
    products[(0, 0)] += weights.iter().sum::<f64>();
    let mut weighted = [0.0; BLOCK_ROWS];
    for (number, column) in columns.iter().enumerate() {
        for ((product, value), weight) in weighted.iter_mut().zip(column).zip(weights) {
            *product = value * weight;
        }
        add(products, 0, number + 1, sum(&weighted));
        for (other, column) in columns.iter().enumerate().skip(number) {
            add(products, number + 1, other + 1, dot(&weighted, column));
        }
    }
}

fn add(products: &mut Products, row: usize, column: usize, value: f64) {
    products[(row, column)] += value;
    if row != column {
        products[(column, row)] += value;
    }
}

/// Number of parallel sums, which lets the processor do several additions at a time.
const SIDE_BY_SIDE: usize = 8;

fn dot(one: &[f64; BLOCK_ROWS], other: &[f64; BLOCK_ROWS]) -> f64 {
    let mut sums = [0.0; SIDE_BY_SIDE];
    for (one, other) in one.as_chunks::<SIDE_BY_SIDE>().0.iter().zip(other.as_chunks::<SIDE_BY_SIDE>().0) {
        for place in 0..SIDE_BY_SIDE {
            sums[place] += one[place] * other[place];
        }
    }
    sums.iter().sum()
}

fn sum(values: &[f64; BLOCK_ROWS]) -> f64 {
    let mut sums = [0.0; SIDE_BY_SIDE];
    for values in values.as_chunks::<SIDE_BY_SIDE>().0 {
        for place in 0..SIDE_BY_SIDE {
            sums[place] += values[place];
        }
    }
    sums.iter().sum()
}

/// A Poisson variable of mean 1, from 64 random bits.
fn poisson(bits: u64) -> f64 {
    /// 2^32 times the probability of at most 0, 1, … 9.
    const UP_TO: [u32; 10] = [
        1_580_030_168,
        3_160_060_337,
        3_950_075_421,
        4_213_413_783,
        4_279_248_373,
        4_292_415_291,
        4_294_609_777,
        4_294_923_276,
        4_294_962_463,
        4_294_966_817,
    ];
    let upper = bits >> 32;
    UP_TO.iter().map(|&bound| if upper >= u64::from(bound) { 1.0 } else { 0.0 }).sum()
}

#[cfg(test)]
mod tests {
    use plan::jobs::{TableOrder, drawn};

    use super::{BYTES_PER_ROW, COEFFICIENTS, OPERATIONS_PER_ROW, Rows, poisson};
    use crate::row::Origin;

    fn rows(count: u64, memory_bytes: u64) -> Rows {
        let origin = Origin { seed: 9, rows: count, groups: 10, order: TableOrder::Number };
        let mut rows = Rows::new(memory_bytes, count);
        for row in (0..count).map(|id| origin.row(id)) {
            rows.push(row.x, row.y);
        }
        rows
    }

    #[test]
    fn the_coefficients_of_the_rows_are_found_whatever_the_memory() {
        let fit = rows(20_000, u64::MAX).fit();
        for (number, found) in fit.coefficients.iter().enumerate() {
            let known = if number == 0 { 1.0 } else { number as f64 };
            assert!((found - known).abs() < 0.05, "{number}: {found}");
        }
        // The variance of the variables is 204/12, that of the noise 1/12.
        assert!((fit.r_squared - 204.0 / 205.0).abs() < 0.001, "{fit:?}");
        assert_eq!(fit.rows, 20_000);
        let mut little = rows(20_000, 1000 * BYTES_PER_ROW);
        assert_eq!(little.fit(), fit);
        assert_eq!(little.kept(), 768 + 256, "whole blocks of the rows that memory has room for");
    }

    #[test]
    fn what_is_explained_exactly_leaves_no_error() {
        let origin = Origin { seed: 3, rows: 100, groups: 10, order: TableOrder::Number };
        let mut exact = Rows::new(1 << 20, 100);
        for row in (0..100).map(|id| origin.row(id)) {
            exact.push(row.x, 5.0 - 3.0 * row.x[2] + 0.5 * row.x[7]);
        }
        let fit = exact.fit();
        let expected = [5.0, 0.0, 0.0, -3.0, 0.0, 0.0, 0.0, 0.0, 0.5];
        assert!(
            fit.coefficients.iter().zip(expected).all(|(found, known)| (found - known).abs() < 1e-9),
            "{fit:?}"
        );
        assert!((fit.r_squared - 1.0).abs() < 1e-9);
        assert!(exact.errors(1, 20, 2).unwrap().iter().all(|error| *error < 1e-6));
    }

    #[test]
    fn errors_are_those_that_theory_gives_and_threads_change_nothing() {
        let mut rows = rows(3_000, u64::MAX);
        let _ = rows.fit();
        let errors = rows.errors(5, 400, 3).unwrap();
        assert_eq!(errors, rows.errors(5, 400, 1).unwrap());
        // Noise and variables all have variance 1/12: the error is 1 divided by the root of the rows.
        for error in &errors[1..COEFFICIENTS] {
            assert!((error * 3000_f64.sqrt() - 1.0).abs() < 0.25, "{errors:?}");
        }
    }

    #[test]
    fn operations_say_how_often_rows_are_drawn_anew() {
        let mut rows = rows(1_000, u64::MAX);
        let _ = rows.fit();
        assert_eq!(OPERATIONS_PER_ROW, 120);
        assert_eq!(rows.resamplings(1_000 * 120), 0, "all of them went into the first count");
        assert_eq!(rows.resamplings(8 * 1_000 * 120), 7);
        assert_eq!(Rows::new(0, 0).resamplings(1_000), 0);
    }

    #[test]
    fn too_few_rows_have_no_coefficients() {
        let fit = rows(3, u64::MAX).fit();
        assert!(fit.rows == 3 && fit.coefficients[0].is_nan(), "{fit:?}");
    }

    #[test]
    fn frequencies_are_those_of_poisson() {
        let counts: Vec<f64> = (0..100_000).map(|place| poisson(drawn(1, place))).collect();
        let mean = counts.iter().sum::<f64>() / 1e5;
        let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 1e5;
        assert!((mean - 1.0).abs() < 0.02 && (variance - 1.0).abs() < 0.03, "{mean}, {variance}");
        assert_eq!((poisson(0), poisson(u64::MAX)), (0.0, 10.0));
    }
}
