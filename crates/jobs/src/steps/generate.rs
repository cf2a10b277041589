//! Makes a table from its seed, several pages at a time.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use plan::jobs::{Output, Step, TableOrder};

use crate::page::{HEADER_BYTES, sum_of_hashes};
use crate::parallel::on_threads;
use crate::row::{Origin, ROW_BYTES};
use crate::step::{Place, StepContext};
use crate::table::PageSink;
use crate::{JobError, PageBuffer, StepOutcome};

/// Writes the rows 0 to `rows` of the table. Reads all of them back if the job checks its output. If such a
/// job has the table among its inputs, an existing correct table is kept.
pub(crate) fn generate(
    context: &StepContext<'_>,
    step: &Step,
    output: &Output,
    rows: u64,
    groups: u64,
    order: TableOrder,
) -> Result<StepOutcome, JobError> {
    let origin = Origin { seed: context.table_seed(&output.table), rows, groups: groups.max(1), order };
    let place = context.output(output);
    if context.order.check
        && context.order.inputs.contains_key(&output.table)
        && let Some(checksum) = standing(context, step, &place, origin)
    {
        return Ok(StepOutcome {
            rows_in: rows,
            rows_out: rows,
            checksum: Some(checksum),
            ..StepOutcome::default()
        });
    }
    let sink = PageSink::create(context.io, place.space, &place.path, origin, ROW_BYTES)?;
    let page_bytes = context.io.page();
    let rows_per_page = (page_bytes - HEADER_BYTES) as u64 / ROW_BYTES as u64;
    let pages = rows.div_ceil(rows_per_page).max(1);
    let next = AtomicU64::new(0);
    on_threads(step.threads, |_| {
        let mut page = PageBuffer::new(page_bytes);
        loop {
            let number = next.fetch_add(1, Relaxed);
            if number >= pages {
                return Ok(());
            }
            let first = number * rows_per_page;
            let records = usize::try_from((rows - first).min(rows_per_page)).unwrap_or(usize::MAX);
            let data = &mut page.bytes_mut()[HEADER_BYTES..];
            origin.fill(first, &mut data[..records * ROW_BYTES]);
            sink.write(number, &mut page, records, number + 1 == pages)?;
        }
    })?;
    let written = sink.finish()?;
    let mut outcome =
        StepOutcome { rows_out: written.rows, checksum: Some(written.checksum), ..StepOutcome::default() };
    if context.order.check {
        outcome.rows_in = check(context, step, &place, written.rows, written.checksum)?;
    }
    Ok(outcome)
}

/// The checksum of the existing table at `place`, if each of its pages matches `origin`.
fn standing(context: &StepContext<'_>, step: &Step, place: &Place, origin: Origin) -> Option<u64> {
    let table = place.open(context.io).ok()?;
    let rows_per_page = table.rows_per_page();
    if table.pages() != origin.rows.div_ceil(rows_per_page).max(1) {
        return None;
    }
    let (next, differs, sum) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    on_threads(step.threads, |_| {
        let (mut buffer, mut data) = (table.buffer(), vec![0; context.io.page()]);
        loop {
            let number = next.fetch_add(1, Relaxed);
            if number >= table.pages() || differs.load(Relaxed) > 0 {
                return Ok(());
            }
            let first = number * rows_per_page;
            let records = usize::try_from((origin.rows - first).min(rows_per_page)).unwrap_or(usize::MAX);
            let expected = &mut data[..records * ROW_BYTES];
            origin.fill(first, expected);
            let header = table.read_header(number, &mut buffer)?;
            let found = header.records_of(&buffer);
            if found != expected || header.origin != origin {
                differs.fetch_add(1, Relaxed);
            }
            sum.fetch_add(sum_of_hashes(found, ROW_BYTES), Relaxed);
        }
    })
    .ok()?;
    (differs.into_inner() == 0).then(|| sum.into_inner())
}

/// Reads the whole table and compares it with the rows written.
fn check(
    context: &StepContext<'_>,
    step: &Step,
    place: &Place,
    rows: u64,
    checksum: u64,
) -> Result<u64, JobError> {
    let table = place.open(context.io)?;
    let (next, found, sum) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    on_threads(step.threads, |_| {
        let mut buffer = table.buffer();
        loop {
            let number = next.fetch_add(1, Relaxed);
            if number >= table.pages() {
                return Ok(());
            }
            let page = table.read(number, &mut buffer)?;
            found.fetch_add((page.len() / ROW_BYTES) as u64, Relaxed);
            sum.fetch_add(sum_of_hashes(page, ROW_BYTES), Relaxed);
        }
    })?;
    let (found, sum) = (found.into_inner(), sum.into_inner());
    if (found, sum) != (rows, checksum) {
        let what = format!(
            "the table has {found} rows with the checksum {sum:016x}, but {rows} with {checksum:016x} were written"
        );
        return Err(JobError::damaged(&place.path, table.pages() - 1, what));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use plan::jobs::{Action, Output, TableOrder, table_seed};
    use plan::{Bytes, JobSpace};
    use proptest::prelude::{ProptestConfig, any, proptest};

    use crate::row::Origin;
    use crate::tests::Bench;

    fn table() -> Output {
        Output { table: "t".to_owned(), space: JobSpace::Permanent }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn rows_are_those_of_the_seed_however_many_threads_make_them(
            rows in 0..4000_u64, groups in 1..100_u64, threads in 1..5_u32, seed in any::<u64>()
        ) {
            let order = if seed % 2 == 0 { TableOrder::Key } else { TableOrder::Number };
            let mut bench = Bench::new(Bytes::kib(64));
            (bench.order.seed, bench.order.stream) = (seed, 2);
            let action = Action::Generate { output: table(), rows, groups, order };
            let outcome = bench.run_with(action, threads, Bytes::mib(1)).expect("made");
            assert_eq!((outcome.rows_in, outcome.rows_out), (0, rows));
            let origin = Origin { seed: table_seed(seed, "t", 2), rows, groups, order };
            assert_eq!(bench.rows("t"), (0..rows).map(|id| origin.row(id)).collect::<Vec<_>>());
            assert_eq!(bench.files(JobSpace::Permanent), ["t.2.table"]);
        }
    }

    #[test]
    fn what_is_made_is_read_back_where_the_job_checks() {
        let mut bench = Bench::new(Bytes::kib(64));
        bench.order.check = true;
        let outcome = bench.generate("t", 2000, 7, TableOrder::Number);
        assert_eq!((outcome.rows_in, outcome.rows_out), (2000, 2000));
        let counters = bench.counters();
        assert_eq!(counters.read_bytes, [4 << 16, 0, 0]);
        assert_eq!((counters.write_bytes, counters.held_bytes), (counters.read_bytes, counters.read_bytes));
    }

    #[test]
    fn a_table_that_stands_and_is_right_is_kept() {
        let mut bench = Bench::new(Bytes::kib(64));
        bench.order.check = true;
        let made = bench.generate("t", 2000, 7, TableOrder::Number);
        let path = bench.path(JobSpace::Permanent, "t.0.table");
        bench.order.inputs.insert("t".to_owned(), path.clone());
        let (before, written) = (std::fs::read(&path).expect("a table"), bench.counters().write_bytes);
        let kept = bench.generate("t", 2000, 7, TableOrder::Number);
        assert_eq!((kept.checksum, bench.counters().write_bytes), (made.checksum, written));
        // Another seed, one more row, other groups: each causes a rebuild.
        let mut damaged = before.clone();
        damaged[70_000] ^= 1;
        std::fs::write(&path, damaged).expect("written");
        assert_eq!(bench.generate("t", 2000, 7, TableOrder::Number).checksum, made.checksum);
        assert_eq!(std::fs::read(&path).expect("a table"), before);
        assert_ne!(bench.generate("t", 2000, 8, TableOrder::Number).checksum, made.checksum);
        assert_ne!(bench.generate("t", 2001, 8, TableOrder::Number).checksum, made.checksum);
    }
}
