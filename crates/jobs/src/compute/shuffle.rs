//! Rows in memory that are visited in an order no cache can predict: each row holds the index of the
//! next.

use plan::jobs::{Step, drawn};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{LANES, dealt, in_lanes, index, outcome, real};
use crate::row::ROW_BYTES;
use crate::{JobError, StepContext, StepOutcome};

/// Number of words in a row.
const ROW_WORDS: usize = ROW_BYTES / 8;
/// A row, preceded by the index of the next row to visit.
pub(crate) type Cell = [u64; ROW_WORDS + 1];
/// Memory per row: the cell, and an entry of the visiting order during construction.
const BYTES_PER_ROW: u64 = (size_of::<Cell>() + size_of::<u32>()) as u64;

/// Minimum number of visits per row, so that the visits take longer than creating the rows.
const VISITS_OF_A_ROW: u64 = 16;

/// Minimum length of a cycle.
const ROWS_MIN: u64 = 2;

/// Mask of the lower bits of a sum, which a floating-point result represents exactly.
const FOUND_BITS: u64 = (1 << f64::MANTISSA_DIGITS) - 1;

/// Runs the step: fills its memory with rows of `input` and then with random ones, and visits them. At a
/// small scale it uses fewer rows, so that each is visited [`VISITS_OF_A_ROW`] times.
pub(crate) fn run(
    context: &StepContext<'_>,
    step: &Step,
    input: Option<&str>,
    operations: u64,
) -> Result<StepOutcome, JobError> {
    let most = index(rows(context.data_bytes(step) as u64).min((operations / VISITS_OF_A_ROW).max(ROWS_MIN)));
    let mut cells = Vec::with_capacity(most);
    let mut rows_in = 0;
    if let Some(input) = input {
        let table = context.input(input)?.open(context.io)?;
        rows_in = table.for_each_page(|page| {
            let room = most - cells.len();
            cells.extend(page.chunks_exact(ROW_BYTES).take(room).map(cell));
            Ok(())
        })?;
    }
    let kept = cells.len();
    let seed = context.seed();
    cells.extend((kept as u64..most as u64).map(|number| drawn_cell(seed, number)));
    let trip = Trip::through(cells, seed);
    let sum = trip.visit(operations, step.threads)?;
    let all = [
        ("rows", real(trip.rows())),
        ("rows_of_input", real(kept as u64)),
        ("checksum", real(sum & FOUND_BITS)),
        ("operations", real(operations)),
    ];
    Ok(outcome(rows_in, all))
}

/// A cell with random row `number` from `seed`.
fn drawn_cell(seed: u64, number: u64) -> Cell {
    let mut cell = [0; ROW_WORDS + 1];
    for (place, word) in (number * ROW_WORDS as u64..).zip(&mut cell[1..]) {
        *word = drawn(seed, place);
    }
    cell
}

/// Number of rows that fit into `memory_bytes`: at least two, and at most what an index can address.
pub(crate) fn rows(memory_bytes: u64) -> u64 {
    (memory_bytes / BYTES_PER_ROW).clamp(ROWS_MIN, u64::from(u32::MAX))
}

/// A cell with the row of these bytes.
pub(crate) fn cell(row: &[u8]) -> Cell {
    let mut cell = [0; ROW_WORDS + 1];
    for (word, bytes) in cell[1..].iter_mut().zip(row.chunks_exact(8)) {
        let mut eight = [0; 8];
        eight.copy_from_slice(bytes);
        *word = u64::from_le_bytes(eight);
    }
    cell
}

/// Rows that are linked into one cycle through all of them.
#[derive(Debug)]
pub(crate) struct Trip {
    cells: Vec<Cell>,
    /// Start of each visitor, at equal distances along the cycle.
    starts: Vec<u32>,
}

impl Trip {
    /// Creates a cycle through `cells`, of which there must be fewer than 2^32, in an order determined by
    /// `seed`.
    pub(crate) fn through(mut cells: Vec<Cell>, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut order: Vec<u32> = (0..u32::try_from(cells.len()).unwrap_or(u32::MAX)).collect();
        // Fisher-Yates shuffle (Knuth, volume 2, 3.4.2, algorithm P).
        for last in (1..order.len()).rev() {
            order.swap(last, below(&mut random, last as u64 + 1));
        }
        for (place, &row) in order.iter().enumerate() {
            let next = if place + 1 < order.len() { order[place + 1] } else { order[0] };
            cells[row as usize][0] = u64::from(next);
        }
        let visitors = (order.len() as u64).min(LANES);
        let start = |visitor: u64| index(visitor * order.len() as u64 / visitors);
        let starts = (0..visitors).map(|visitor| order[start(visitor)]).collect();
        Self { cells, starts }
    }

    /// Rows.
    pub(crate) fn rows(&self) -> u64 {
        self.cells.len() as u64
    }

    /// The wrapping sum of first word XOR last word over `visits` visits. Several visitors share the
    /// visits; each has its own part of the cycle and repeats it as often as needed.
    pub(crate) fn visit(&self, visits: u64, threads: u32) -> Result<u64, JobError> {
        let visitors = self.starts.len() as u64;
        let (rounds, rest) = (visits / self.rows(), visits % self.rows());
        // Start of this visitor along the cycle, also in later rounds.
        let along =
            |number: u64| number / visitors * self.rows() + number % visitors * self.rows() / visitors;
        let sum_of = |visitor: u64| {
            // In a round a visitor advances to the start of the next one, so that each row is visited.
            let turns = along(visitor + rounds) - along(visitor) + dealt(rest, visitor, visitors);
            let mut place = self.starts[index(visitor)];
            let mut sum = 0_u64;
            for _ in 0..turns {
                let cell = &self.cells[place as usize];
                sum = sum.wrapping_add(cell[1] ^ cell[ROW_WORDS]);
                place = next(cell);
            }
            sum
        };
        Ok(in_lanes(threads, visitors, sum_of)?.into_iter().fold(0, u64::wrapping_add))
    }
}

/// Index of the next row.
#[expect(clippy::cast_possible_truncation, reason = "it was a u32")]
const fn next(cell: &Cell) -> u32 {
    cell[0] as u32
}

/// A number below `bound`, which fits into 32 bits (Lemire 2019, without the rejection: the bias is below 2^-31).
fn below(random: &mut Xoshiro256PlusPlus, bound: u64) -> usize {
    index(((random.next_u64() >> 32) * bound) >> 32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;

    use super::{Cell, Trip, cell, rows};

    fn numbered(rows: u64) -> Vec<Cell> {
        (1..=rows).map(|row| std::array::from_fn(|word| if word == 1 { row } else { 0 })).collect()
    }

    proptest! {
        #[test]
        fn a_round_visits_each_row_once(rows in 2..500_u64, seed in 0..50_u64, rounds in 1..4_u64) {
            let trip = Trip::through(numbered(rows), seed);
            let mut seen = vec![false; usize::try_from(rows).unwrap()];
            let mut place = 0;
            for _ in 0..rows {
                assert!(!std::mem::replace(&mut seen[place as usize], true), "back too early");
                place = super::next(&trip.cells[place as usize]);
            }
            assert_eq!(place, 0, "a round trip");
            assert_eq!(trip.visit(rounds * rows, 3).unwrap(), rounds * rows * (rows + 1) / 2);
        }

        #[test]
        fn threads_change_nothing(rows in 2..300_u64, visits in 0..2000_u64) {
            let trip = Trip::through(numbered(rows), 3);
            assert_eq!(trip.visit(visits, 1).unwrap(), trip.visit(visits, 4).unwrap());
        }
    }

    #[test]
    fn rows_are_visited_in_an_order_that_the_seed_gives() {
        let place = |seed: u64| Trip::through(numbered(1000), seed).cells[0][0];
        assert_eq!(place(1), place(1));
        assert_ne!(place(1), place(2));
    }

    #[test]
    fn a_cell_holds_the_words_of_a_row() {
        let bytes: Vec<u8> = (0..128).collect();
        assert_eq!(cell(&bytes)[1], u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7]));
        assert_eq!(cell(&bytes)[16], u64::from_le_bytes([120, 121, 122, 123, 124, 125, 126, 127]));
        assert_eq!((rows(0), rows(1400), rows(u64::MAX)), (2, 10, u64::from(u32::MAX)));
    }
}
