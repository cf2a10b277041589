//! Sorts a table that may be larger than memory.
//!
//! The input is copied to work space, the copy is sorted piece by piece into runs in utility space, and these
//! are merged into the output. At the end there are three copies in addition to the input, two of which are
//! then removed.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use plan::JobSpace;
use plan::jobs::{Output, Step};

use super::runs::Sorter;
use super::target::Target;
use crate::parallel::on_threads;
use crate::row::ROW_BYTES;
use crate::step::{Place, StepContext};
use crate::table::PageSink;
use crate::{JobError, StepOutcome};

/// Sorts by key and number.
pub(crate) fn sort(
    context: &StepContext<'_>,
    step: &Step,
    input: &str,
    output: &Output,
) -> Result<StepOutcome, JobError> {
    let staged = context.own(JobSpace::Work, "staged", 0);
    let rows_in = copy(context, step.threads, &context.input(input)?, &staged)?;
    let sorter = Sorter {
        context,
        threads: step.threads.max(1),
        data_bytes: context.data_bytes(step),
        record_bytes: ROW_BYTES,
    };
    let source = staged.open(context.io)?;
    let runs = sorter.runs(&source, |_, rows, records| records.extend_from_slice(rows))?;
    let runs = sorter.narrow(runs)?;
    let mut target = Target::new(context, Some(output));
    let mut buffer = source.buffer();
    target.push_all(source.origin(&mut buffer)?, &[])?;
    drop(buffer);
    sorter.merge(&runs, |origin, row| target.push_all(origin, row))?;
    let mut outcome = StepOutcome { rows_in, ..StepOutcome::default() };
    target.finish(&mut outcome)?;
    sorter.remove(&runs)?;
    context.io.remove(staged.space, &staged.path)?;
    Ok(outcome)
}

/// Copies a table, several pages at a time. Returns its number of rows.
fn copy(context: &StepContext<'_>, threads: u32, from: &Place, to: &Place) -> Result<u64, JobError> {
    let table = from.open(context.io)?;
    let origin = table.origin(&mut table.buffer())?;
    let sink = PageSink::create(context.io, to.space, &to.path, origin, ROW_BYTES)?;
    let next = AtomicU64::new(0);
    on_threads(threads, |_| {
        let mut buffer = table.buffer();
        loop {
            let number = next.fetch_add(1, Relaxed);
            if number >= table.pages() {
                return Ok(());
            }
            let header = table.read_header(number, &mut buffer)?;
            sink.write(number, &mut buffer, header.records as usize, header.last)?;
        }
    })?;
    Ok(sink.finish()?.rows)
}

#[cfg(test)]
mod tests {
    use plan::jobs::{Action, Output, TableOrder};
    use plan::{Bytes, JobSpace};
    use proptest::prelude::{ProptestConfig, proptest};

    use crate::tests::Bench;

    fn sort(space: JobSpace) -> Action {
        Action::Sort { input: "t".to_owned(), output: Output { table: "sorted".to_owned(), space } }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn the_output_is_the_input_in_order_for_any_memory_threads_and_pages(
            rows in 0..12_000_u64, groups in 1..5000_u64, threads in 1..5_u32, kib in 0..3000_u64, page in 6..9_u32
        ) {
            let mut bench = Bench::new(Bytes::kib(1 << page));
            let made = bench.generate("t", rows, groups, TableOrder::Number);
            let mut expected = bench.rows("t");
            expected.sort_by_key(|row| (row.key, row.id));
            let outcome = bench.run_with(sort(JobSpace::Work), threads, Bytes::kib(kib)).expect("sorted");
            assert_eq!((outcome.rows_in, outcome.rows_out, outcome.checksum), (rows, rows, made.checksum));
            assert_eq!(bench.rows("sorted"), expected);
            assert_eq!(bench.files(JobSpace::Work), ["sorted.1.table"]);
            assert_eq!(bench.files(JobSpace::Utility), Vec::<String>::new());
        }
    }

    #[test]
    fn three_copies_stand_at_its_end_and_one_is_left() {
        let mut bench = Bench::new(Bytes::kib(64));
        bench.generate("t", 100_000, 500, TableOrder::Number);
        let input = std::fs::metadata(bench.path(JobSpace::Permanent, "t.0.table")).expect("a table").len();
        bench.run_with(sort(JobSpace::Work), 2, Bytes::mib(4)).expect("sorted");
        let counters = bench.counters();
        let [_, work, utility] = counters.peak_bytes;
        assert_eq!((work, counters.held_bytes[1], counters.held_bytes[2]), (2 * input, input, 0));
        // Each run ends with a page that is not full.
        assert!((input..input + input / 20).contains(&utility), "{utility} of {input}");
    }

    #[test]
    fn more_runs_than_memory_has_buffers_for_are_merged_in_several_passes() {
        let mut bench = Bench::new(Bytes::kib(64));
        bench.generate("t", 60_000, 100_000, TableOrder::Number);
        let input = std::fs::metadata(bench.path(JobSpace::Permanent, "t.0.table")).expect("a table").len();
        // 12 pages of memory: 8 runs are merged at a time.
        bench.run_with(sort(JobSpace::Permanent), 1, Bytes(0)).expect("sorted");
        assert!(bench.rows("sorted").is_sorted_by_key(|row| (row.key, row.id)));
        let counters = bench.counters();
        assert!(counters.write_bytes[2] >= 2 * input, "runs have been merged into runs");
        assert!(counters.peak_bytes[1] + counters.peak_bytes[2] <= 3 * input);
    }
}
