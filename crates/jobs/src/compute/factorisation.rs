//! Factorisation of a dense matrix: A = P L U with partial pivoting, one block column after another.
//!
//! Each block column is a separate matrix, so that threads can change several of them concurrently. The
//! right-hand side of a system whose solution is all ones is added as another column. The deviation of the
//! computed solution from ones verifies the factors without a second copy of the matrix.

use nalgebra::DMatrix;
use plan::jobs::{Step, drawn};

use super::{in_lanes, index, outcome, real, times};
use crate::row::{ROW_BYTES, unit, x};
use crate::{JobError, StepContext, StepOutcome};

/// Columns of a block: wide enough that most of the work is matrix multiplication, narrow enough that the
/// serial part stays small.
const BLOCK_COLUMNS: usize = 64;

/// Number of variables in a row of a table.
const VARIABLES: usize = 8;

/// The result of factorising a matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Factorised {
    /// The natural logarithm of the determinant's absolute value.
    pub(crate) log_determinant: f64,
    /// The largest deviation from 1 in the solution of A x = A 1.
    pub(crate) solution_error: f64,
}

/// Runs the step. The variables of `input`, minus one half, fill the first matrix row by row; the rest of it,
/// and all further matrices, are random.
pub(crate) fn run(
    context: &StepContext<'_>,
    step: &Step,
    input: Option<&str>,
    operations: u64,
) -> Result<StepOutcome, JobError> {
    let (rows, matrices) = matrices(operations, context.data_bytes(step) as u64);
    let mut blocks = Blocks::new(rows);
    let (mut rows_in, mut filled) = (0, 0);
    if let Some(input) = input {
        let table = context.input(input)?.open(context.io)?;
        rows_in = table.for_each_page(|page| {
            for row in page.chunks_exact(ROW_BYTES) {
                for number in 0..VARIABLES.min(rows * rows - filled) {
                    blocks.set(filled / rows, filled % rows, x(row, number) - 0.5);
                    filled += 1;
                }
            }
            Ok(())
        })?;
    }
    let of_input = filled;
    blocks.draw(drawn(context.seed(), 0), filled);
    let first = blocks.factorise(step.threads)?;
    let mut solution_error = first.solution_error;
    for matrix in 1..matrices {
        blocks.draw(drawn(context.seed(), matrix), 0);
        solution_error = worse(solution_error, blocks.factorise(step.threads)?.solution_error);
    }
    let all = [
        ("rows", real(rows as u64)),
        ("matrices", real(matrices)),
        ("elements_of_input", real(of_input as u64)),
        ("log_determinant", first.log_determinant),
        ("solution_error", solution_error),
        ("operations", real(operations_of(rows).saturating_mul(matrices))),
    ];
    Ok(outcome(rows_in, all))
}

/// The number of rows of each matrix, and the number of matrices, for `operations` operations; a matrix
/// takes 2/3 n³. One matrix if it fits into `memory_bytes`, otherwise several of the largest size that
/// fits.
pub(crate) fn matrices(operations: u64, memory_bytes: u64) -> (usize, u64) {
    let of_operations = (1.5 * real(operations)).cbrt();
    let of_memory = (real(memory_bytes) / 8.0).sqrt();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a root of 64 bits is a small number"
    )]
    let rows = (of_operations.min(of_memory) + 1e-6).floor().max(1.0) as usize;
    (rows, times(operations, operations_of(rows)).max(1))
}

/// Number of operations to factorise a matrix of `rows` rows.
pub(crate) fn operations_of(rows: usize) -> u64 {
    let rows = rows as u128;
    u64::try_from((2 * rows * rows * rows).div_ceil(3)).unwrap_or(u64::MAX)
}

/// The larger of two errors; NaN counts as the largest.
fn worse(one: f64, other: f64) -> f64 {
    if one.is_nan() || one > other { one } else { other }
}

/// A square matrix in block columns, with the sum of each row after its last column.
#[derive(Debug)]
pub(crate) struct Blocks {
    rows: usize,
    blocks: Vec<DMatrix<f64>>,
}

impl Blocks {
    /// An uninitialised matrix of `rows` rows.
    pub(crate) fn new(rows: usize) -> Self {
        let all = rows + 1;
        let widths = (0..all).step_by(BLOCK_COLUMNS).map(|first| (all - first).min(BLOCK_COLUMNS));
        Self { rows, blocks: widths.map(|width| DMatrix::zeros(rows, width)).collect() }
    }

    /// Sets the element in `row` and `column`.
    pub(crate) fn set(&mut self, row: usize, column: usize, value: f64) {
        self.blocks[column / BLOCK_COLUMNS][(row, column % BLOCK_COLUMNS)] = value;
    }

    fn get(&self, row: usize, column: usize) -> f64 {
        self.blocks[column / BLOCK_COLUMNS][(row, column % BLOCK_COLUMNS)]
    }

    /// Sets all elements from index `from` on, row by row, to random values from `seed` in [-0.5, 0.5).
    pub(crate) fn draw(&mut self, seed: u64, from: usize) {
        for place in from..self.rows * self.rows {
            self.set(place / self.rows, place % self.rows, unit(drawn(seed, place as u64)) - 0.5);
        }
    }

    /// Factorises it in place, using `threads` threads.
    pub(crate) fn factorise(&mut self, threads: u32) -> Result<Factorised, JobError> {
        for row in 0..self.rows {
            let sum = (0..self.rows).map(|column| self.get(row, column)).sum();
            self.set(row, self.rows, sum);
        }
        let mut log_determinant = 0.0;
        for block in 0..self.blocks.len() {
            let first = block * BLOCK_COLUMNS;
            let (done, rest) = self.blocks.split_at_mut(block + 1);
            let panel = &mut done[block];
            let columns = panel.ncols().min(self.rows - first);
            let swaps = factorise_panel(panel, first, columns);
            log_determinant +=
                (0..columns).map(|column| panel[(first + column, column)].abs().ln()).sum::<f64>();
            if columns < panel.ncols() {
                break;
            }
            update_all(rest, panel, first, &swaps, threads)?;
        }
        let solution_error = self.solution().iter().map(|x| (x - 1.0).abs()).fold(0.0, worse);
        Ok(Factorised { log_determinant, solution_error })
    }

    /// Solves U x = the transformed right-hand side.
    fn solution(&self) -> Vec<f64> {
        let mut solution: Vec<f64> = (0..self.rows).map(|row| self.get(row, self.rows)).collect();
        for column in (0..self.rows).rev() {
            let (block, within) = (&self.blocks[column / BLOCK_COLUMNS], column % BLOCK_COLUMNS);
            let value = solution[column] / block[(column, within)];
            solution[column] = value;
            for (row, above) in solution[..column].iter_mut().enumerate() {
                *above -= value * block[(row, within)];
            }
        }
        solution
    }
}

/// Eliminates the first `columns` columns of a block column whose diagonal begins in row `first`, and updates
/// its other columns. Returns, for each row of the diagonal, the row with which it was swapped.
fn factorise_panel(panel: &mut DMatrix<f64>, first: usize, columns: usize) -> Vec<usize> {
    let (rows, width) = panel.shape();
    let mut swaps = Vec::with_capacity(columns);
    for column in 0..columns {
        let diagonal = first + column;
        let pivot = (diagonal..rows)
            .max_by(|&one, &other| panel[(one, column)].abs().total_cmp(&panel[(other, column)].abs()))
            .unwrap_or(diagonal);
        panel.swap_rows(diagonal, pivot);
        swaps.push(pivot);
        let (left, right) = panel.as_mut_slice().split_at_mut((column + 1) * rows);
        let left = &mut left[column * rows..];
        let divisor = left[diagonal];
        for value in &mut left[diagonal + 1..] {
            *value /= divisor;
        }
        for later in right.chunks_exact_mut(rows).take(width - column - 1) {
            let factor = later[diagonal];
            for (value, multiplier) in later[diagonal + 1..].iter_mut().zip(&left[diagonal + 1..]) {
                *value -= factor * multiplier;
            }
        }
    }
    swaps
}

/// Applies `panel` to all later block columns.
fn update_all(
    rest: &mut [DMatrix<f64>],
    panel: &DMatrix<f64>,
    first: usize,
    swaps: &[usize],
    threads: u32,
) -> Result<(), JobError> {
    let each: Vec<_> = rest.iter_mut().map(std::sync::Mutex::new).collect();
    // Each lane is locked once, by the thread that takes it.
    let _: Vec<()> = in_lanes(threads, each.len() as u64, |lane| {
        if let Ok(mut block) = each[index(lane)].lock() {
            update(&mut block, panel, first, swaps);
        }
    })?;
    Ok(())
}

/// Applies `panel` to one block column: swaps its rows, solves for the rows of U, and updates the rest below.
fn update(block: &mut DMatrix<f64>, panel: &DMatrix<f64>, first: usize, swaps: &[usize]) {
    let rows = block.nrows();
    for (column, &pivot) in swaps.iter().enumerate() {
        block.swap_rows(first + column, pivot);
    }
    let below = first + swaps.len();
    for values in block.as_mut_slice().chunks_exact_mut(rows) {
        for (column, multipliers) in panel.as_slice().chunks_exact(rows).enumerate() {
            let diagonal = first + column;
            let factor = values[diagonal];
            for (value, multiplier) in
                values[diagonal + 1..below].iter_mut().zip(&multipliers[diagonal + 1..below])
            {
                *value -= factor * multiplier;
            }
        }
    }
    let (upper, mut lower) = block.rows_range_pair_mut(first..below, below..);
    lower.gemm(-1.0, &panel.rows_range(below..), &upper, 1.0);
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;
    use plan::jobs::drawn;
    use proptest::prelude::proptest;

    use super::{BLOCK_COLUMNS, Blocks, Factorised, matrices, operations_of};
    use crate::row::unit;

    fn element(seed: u64, rows: usize, row: usize, column: usize) -> f64 {
        unit(drawn(seed, (row * rows + column) as u64)) - 0.5
    }

    fn factorised(seed: u64, rows: usize, threads: u32) -> Factorised {
        let mut blocks = Blocks::new(rows);
        blocks.draw(seed, 0);
        blocks.factorise(threads).unwrap()
    }

    proptest! {
        #[test]
        fn determinant_and_solution_are_those_of_the_matrix(rows in 1..200_usize, seed in 0..1000_u64) {
            let found = factorised(seed, rows, 2);
            let known = DMatrix::from_fn(rows, rows, |row, column| element(seed, rows, row, column)).lu();
            let expected: f64 = known.u().diagonal().iter().map(|value| value.abs().ln()).sum();
            assert!((found.log_determinant - expected).abs() < 1e-7, "{found:?}, not {expected}");
            assert!(found.solution_error < 1e-6, "{found:?}");
        }
    }

    #[test]
    fn a_matrix_of_known_determinant_is_factorised() {
        // Twos beside a diagonal of n: (n - 2)^(n - 1) × (n - 2 + 2 n).
        let rows = BLOCK_COLUMNS + 3;
        let mut blocks = Blocks::new(rows);
        for place in 0..rows * rows {
            let (row, column) = (place / rows, place % rows);
            blocks.set(row, column, if row == column { rows as f64 } else { 2.0 });
        }
        let n = rows as f64;
        let expected = (n - 1.0) * (n - 2.0).ln() + (3.0 * n - 2.0).ln();
        let found = blocks.factorise(1).unwrap();
        assert!((found.log_determinant - expected).abs() < 1e-9 && found.solution_error < 1e-12, "{found:?}");
    }

    #[test]
    fn threads_change_nothing() {
        assert_eq!(factorised(3, 300, 1), factorised(3, 300, 4));
    }

    #[test]
    fn a_singular_matrix_shows_by_its_error() {
        let found = Blocks::new(5).factorise(1).unwrap();
        assert!(!found.log_determinant.is_finite() && found.solution_error.is_nan(), "{found:?}");
    }

    #[test]
    fn operations_say_how_many_rows_a_matrix_has_and_memory_how_many_matrices_there_are() {
        assert_eq!(matrices(operations_of(1000), 1 << 30), (1000, 1));
        assert_eq!(matrices(operations_of(1000), 500 * 500 * 8), (500, 8));
        assert_eq!(matrices(0, 0), (1, 1));
    }
}
