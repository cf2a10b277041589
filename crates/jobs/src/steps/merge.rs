//! Joins two tables sorted by key, reading both once.

use plan::jobs::{Output, Step};

use super::sums::Sums;
use super::target::Target;
use crate::row::{ROW_BYTES, Row, key};
use crate::step::StepContext;
use crate::table::Cursor;
use crate::{JobError, StepOutcome};

/// Writes a row for each pair of rows with equal keys, in the order of the left side, then of the right
/// side.
pub(crate) fn merge(
    context: &StepContext<'_>,
    step: &Step,
    left: &str,
    right: &str,
    output: Option<&Output>,
) -> Result<StepOutcome, JobError> {
    let mut left = Side::open(context, left)?;
    let mut right = Side::open(context, right)?;
    let mut target = Target::new(context, output);
    target.push_all(left.rows.origin(), &[])?;
    // Other memory is needed for a page of each side and one of the output.
    let memory_bytes = context.data_bytes(step).saturating_sub(3 * context.io.page());
    let mut group = Group { key: None, rows: Vec::new(), memory_bytes };
    let mut sums = Sums::default();
    while let Some(row) = left.row() {
        let key = key(row);
        group.take(&mut right, key)?;
        for other in group.rows.chunks_exact(ROW_BYTES) {
            let pair = pair(sums.rows, row, other).encode();
            sums.add(&pair);
            target.push_all(left.rows.origin(), &pair)?;
        }
        left.step()?;
    }
    // The rest of the right side is also read, to verify its order.
    while right.row().is_some() {
        right.step()?;
    }
    let mut outcome =
        StepOutcome { rows_in: left.rows.passed() + right.rows.passed(), ..StepOutcome::default() };
    target.finish(&mut outcome)?;
    outcome.found = sums.found("matches");
    Ok(outcome)
}

/// The row of a pair: its number, and fields of both sides.
fn pair(number: u64, left: &[u8], right: &[u8]) -> Row {
    let (left, right) = (Row::decode(left), Row::decode(right));
    let [x0, x1, x2, x3, ..] = left.x;
    let [x4, x5, x6, x7, ..] = right.x;
    Row {
        id: number,
        amount: left.amount.wrapping_add(right.amount),
        x: [x0, x1, x2, x3, x4, x5, x6, x7],
        y: left.y + right.y,
        filler: [left.id, right.id, left.filler[2]],
        ..left
    }
}

/// The rows of the right side that have the same key.
struct Group {
    key: Option<u64>,
    rows: Vec<u8>,
    memory_bytes: usize,
}

impl Group {
    /// Reads until the group contains the rows with key `wanted`.
    fn take(&mut self, right: &mut Side, wanted: u64) -> Result<(), JobError> {
        if self.key == Some(wanted) {
            return Ok(());
        }
        self.key = Some(wanted);
        self.rows.clear();
        while let Some(row) = right.row() {
            let key = key(row);
            if key > wanted {
                break;
            }
            if key == wanted {
                self.add(row)?;
            }
            right.step()?;
        }
        Ok(())
    }

    fn add(&mut self, row: &[u8]) -> Result<(), JobError> {
        let needed = self.rows.len() + ROW_BYTES;
        if needed > self.memory_bytes {
            return Err(JobError::Memory {
                what: format!("a merge that pairs all rows of key {} of the right side", key(row)),
                needed_bytes: needed as u64,
                memory_bytes: self.memory_bytes as u64,
            });
        }
        self.rows.extend_from_slice(row);
        Ok(())
    }
}

/// A table sorted by key that is being read.
struct Side {
    rows: Cursor,
}

impl Side {
    fn open(context: &StepContext<'_>, table: &str) -> Result<Self, JobError> {
        Ok(Self { rows: Cursor::new(context.input(table)?.open(context.io)?, ROW_BYTES)? })
    }

    fn row(&self) -> Option<&[u8]> {
        self.rows.record()
    }

    /// Advances to the next row, whose key must not be smaller.
    fn step(&mut self) -> Result<(), JobError> {
        let before = self.row().map(key);
        self.rows.step()?;
        match (before, self.row().map(key)) {
            (Some(before), Some(key)) if key < before => Err(JobError::NotInOrder {
                path: self.rows.table().path().to_owned(),
                row: self.rows.passed(),
                key,
                before,
            }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use plan::jobs::{Action, Output, TableOrder};
    use plan::{Bytes, JobSpace};
    use proptest::prelude::{ProptestConfig, proptest};

    use crate::Row;
    use crate::tests::{Bench, cents};

    fn merge(left: &str, right: &str, output: Option<&str>) -> Action {
        let output = output.map(|table| Output { table: table.to_owned(), space: JobSpace::Work });
        Action::Merge { left: left.to_owned(), right: right.to_owned(), output }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn pairs_are_those_of_all_rows_with_all_rows(
            left in 0..1500_u64, right in 0..1500_u64, groups in 20..900_u64, others in 20..900_u64
        ) {
            let mut bench = Bench::new(Bytes::kib(64));
            bench.generate("l", left, groups, TableOrder::Key);
            bench.generate("r", right, others, TableOrder::Key);
            let (lefts, rights) = (bench.rows("l"), bench.rows("r"));
            let pairs: Vec<(&Row, &Row)> = lefts
                .iter()
                .flat_map(|one| rights.iter().filter(|other| other.key == one.key).map(move |other| (one, other)))
                .collect();
            let outcome = bench.run(merge("l", "r", Some("m")));
            let found = bench.rows("m");
            assert_eq!((outcome.rows_in, outcome.rows_out), (left + right, pairs.len() as u64));
            for ((row, (one, other)), number) in found.iter().zip(&pairs).zip(0..) {
                assert_eq!((row.id, row.key, row.day, row.quantity), (number, one.key, one.day, one.quantity));
                assert_eq!((row.amount, row.y), (one.amount + other.amount, one.y + other.y));
                assert_eq!((row.x[3], row.x[4]), (one.x[3], other.x[0]));
                assert_eq!(row.filler, [one.id, other.id, one.filler[2]]);
            }
            assert_eq!(outcome.found["sum_amount"], cents(&found));
            let looked = bench.run(merge("l", "r", None));
            assert_eq!((looked.found, looked.rows_out), (outcome.found, 0));
        }
    }

    #[test]
    fn a_table_that_is_not_in_order_is_told_with_its_row() {
        let mut bench = Bench::new(Bytes::kib(64));
        bench.generate("sorted", 2000, 100, TableOrder::Key);
        bench.generate("mixed", 2000, 100, TableOrder::Number);
        let rows = bench.rows("mixed");
        let row = rows.windows(2).position(|two| two[1].key < two[0].key).expect("not in order") + 1;
        for (left, right) in [("mixed", "sorted"), ("sorted", "mixed")] {
            let error = bench.run_with(merge(left, right, None), 1, Bytes::mib(1)).expect_err("not in order");
            let expected = format!(
                "mixed.0.table, row {row}: key {} comes after key {}",
                rows[row].key,
                rows[row - 1].key
            );
            assert!(error.to_string().contains(&expected), "{error}");
        }
    }

    #[test]
    fn one_key_with_more_rows_than_memory_is_told() {
        let mut bench = Bench::new(Bytes::kib(64));
        bench.generate("l", 1, 1, TableOrder::Key);
        bench.generate("r", 20_000, 1, TableOrder::Key);
        let error = bench.run_with(merge("l", "r", None), 1, Bytes(0)).expect_err("no room").to_string();
        assert!(
            error.contains("a merge that pairs all rows of key 0") && error.contains("more memory"),
            "{error}"
        );
    }
}
