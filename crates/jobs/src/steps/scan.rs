//! Reads a table and keeps the rows of some days.

use std::sync::{Mutex, PoisonError};

use plan::jobs::{Output, Step};

use super::sums::Sums;
use super::target::Target;
use crate::parallel::in_order;
use crate::row::{DAYS, ROW_BYTES, day};
use crate::step::StepContext;
use crate::{JobError, StepOutcome};

/// Keeps the rows whose day is below a share of all days, in their order.
pub(crate) fn scan(
    context: &StepContext<'_>,
    step: &Step,
    input: &str,
    output: Option<&Output>,
    keep_millionths: u32,
) -> Result<StepOutcome, JobError> {
    let table = context.input(input)?.open(context.io)?;
    let limit = u64::from(keep_millionths) * u64::from(DAYS);
    let kept = |row: &&[u8]| u64::from(day(row)) * 1_000_000 < limit;
    let sums = Mutex::new(Sums::default());
    let mut target = Target::new(context, output);
    let writes = target.writes();
    let keep = |rows: &[u8], output: &mut Vec<u8>| {
        let mut here = Sums::default();
        for row in rows.chunks_exact(ROW_BYTES).filter(kept) {
            here.add(row);
            if writes {
                output.extend_from_slice(row);
            }
        }
        sums.lock().unwrap_or_else(PoisonError::into_inner).join(here);
    };
    let mut outcome = StepOutcome {
        rows_in: in_order(&table, step.threads, keep, |origin, rows| target.push_all(origin, rows))?,
        ..StepOutcome::default()
    };
    target.finish(&mut outcome)?;
    outcome.found = sums.into_inner().unwrap_or_else(PoisonError::into_inner).found("matches");
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use plan::jobs::{Action, Output, TableOrder};
    use plan::{Bytes, JobSpace};
    use proptest::prelude::{ProptestConfig, proptest};

    use crate::Row;
    use crate::tests::{Bench, cents};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn rows_of_the_first_days_are_kept_in_their_order(
            rows in 0..5000_u64, keep_millionths in 0..=1_000_000_u32, threads in 1..5_u32
        ) {
            let mut bench = Bench::new(Bytes::kib(64));
            bench.generate("t", rows, 10, TableOrder::Number);
            let last = f64::from(keep_millionths) / 1e6 * 3650.0;
            let expected: Vec<Row> =
                bench.rows("t").into_iter().filter(|row| f64::from(row.day) < last).collect();
            let output = Some(Output { table: "kept".to_owned(), space: JobSpace::Work });
            let write = Action::Scan { input: "t".to_owned(), output, keep_millionths };
            let look = Action::Scan { input: "t".to_owned(), output: None, keep_millionths };
            let written = bench.run_with(write, threads, Bytes::mib(2)).expect("scanned");
            assert_eq!(bench.rows("kept"), expected);
            assert_eq!((written.rows_in, written.rows_out), (rows, expected.len() as u64));
            assert_eq!(written.found["matches"], f64::from(u32::try_from(expected.len()).expect("few")));
            assert_eq!(written.found["sum_amount"], cents(&expected));
            let looked = bench.run_with(look, threads, Bytes::mib(2)).expect("scanned");
            assert_eq!((looked.found, looked.rows_out, looked.checksum), (written.found, 0, None));
        }
    }

    #[test]
    fn a_damaged_page_ends_the_scan_on_all_threads() {
        let mut bench = Bench::new(Bytes::kib(64));
        bench.generate("t", 20_000, 10, TableOrder::Number);
        let path = bench.path(JobSpace::Permanent, "t.0.table");
        let mut bytes = std::fs::read(&path).expect("a table");
        bytes[7 * 65_536 + 500] ^= 1;
        std::fs::write(&path, bytes).expect("damaged");
        let look = Action::Scan { input: "t".to_owned(), output: None, keep_millionths: 1 };
        let error = bench.run_with(look, 4, Bytes::mib(2)).expect_err("damaged").to_string();
        assert!(error.contains("t.0.table, page 7: the checksum of its rows is wrong"), "{error}");
    }
}
