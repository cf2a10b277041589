//! Changes a table in place: appends rows, or changes rows of some of its pages.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use plan::jobs::{Step, drawn};

use super::sums::Sums;
use crate::page::{HEADER_BYTES, Header, sum_of_hashes};
use crate::parallel::on_threads;
use crate::row::{ROW_BYTES, Row, id};
use crate::step::StepContext;
use crate::table::TableEditor;
use crate::{JobError, PageBuffer, StepOutcome};

/// The rows written by all threads together.
#[derive(Default)]
struct Tally {
    sums: Mutex<Sums>,
    checksum: AtomicU64,
    pages: AtomicU64,
}

impl Tally {
    fn add(&self, rows: &[u8]) {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner).join(Sums::of(rows));
        self.checksum.fetch_add(sum_of_hashes(rows, ROW_BYTES), Relaxed);
        self.pages.fetch_add(1, Relaxed);
    }

    /// The outcome of a step that has read `rows_in` rows. `name` is the name of the number of rows
    /// written in the results.
    #[expect(clippy::cast_precision_loss, reason = "a number of pages below 2^53 is exact")]
    fn outcome(self, rows_in: u64, name: &str) -> StepOutcome {
        let sums = self.sums.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut found = sums.found(name);
        found.insert("pages".to_owned(), self.pages.into_inner() as f64);
        StepOutcome { rows_in, rows_out: sums.rows, checksum: Some(self.checksum.into_inner()), found }
    }
}

/// Appends `rows` rows, numbered after the table's initial rows and its last row.
pub(crate) fn append(
    context: &StepContext<'_>,
    step: &Step,
    table: &str,
    rows: u64,
) -> Result<StepOutcome, JobError> {
    let place = context.input(table)?;
    let editor = TableEditor::open(context.io, place.space, &place.path)?;
    let reader = editor.reader();
    let mut last = reader.buffer();
    let header = reader.read_header(reader.pages() - 1, &mut last)?;
    let before = header.records_of(&last).rchunks_exact(ROW_BYTES).next().map_or(0, |row| id(row) + 1);
    let added =
        Added { header, first: before.max(header.origin.rows), rows, per_page: reader.rows_per_page() };
    let tally = Tally::default();
    let rows_in = u64::from(header.records);
    // Page 0 of the added pages is the table's former last page with more rows in it.
    let next = AtomicU64::new(1);
    added.write(&editor, 0, &mut last, &tally)?;
    drop(last);
    on_threads(step.threads, |_| {
        let mut page = PageBuffer::new(context.io.page());
        loop {
            let number = next.fetch_add(1, Relaxed);
            if number >= added.pages() {
                return Ok(());
            }
            added.write(&editor, number, &mut page, &tally)?;
        }
    })?;
    editor.finish()?;
    Ok(tally.outcome(rows_in, "rows"))
}

/// The rows after the last page of a table.
struct Added {
    /// Header of the former last page.
    header: Header,
    /// The number of the first row.
    first: u64,
    rows: u64,
    per_page: u64,
}

impl Added {
    /// Number of pages written, including the former last one.
    fn pages(&self) -> u64 {
        (u64::from(self.header.records) + self.rows).div_ceil(self.per_page).max(1)
    }

    /// Writes page `number` of those. For the first one, `page` contains its old rows.
    fn write(
        &self,
        editor: &TableEditor,
        number: u64,
        page: &mut PageBuffer,
        tally: &Tally,
    ) -> Result<(), JobError> {
        let old = u64::from(self.header.records);
        // Rows are counted from the first one of the former last page.
        let start = (number * self.per_page).max(old);
        let end = ((number + 1) * self.per_page).min(old + self.rows);
        let place = |row: u64| {
            let row = usize::try_from(row - number * self.per_page).unwrap_or(usize::MAX);
            HEADER_BYTES + row * ROW_BYTES
        };
        let rows = place(start)..place(end.max(start));
        self.header.origin.fill(self.first + (start - old), &mut page.bytes_mut()[rows.clone()]);
        tally.add(&page.bytes()[rows]);
        let header = Header {
            number: self.header.number + number,
            records: u32::try_from(end - number * self.per_page).unwrap_or(u32::MAX),
            last: number + 1 == self.pages(),
            ..self.header
        };
        editor.write(page, &header)
    }
}

/// Changes all rows in a share of the pages: adds 1 to the amount, and 1 to the quantity, which wraps from
/// 100 to 1.
pub(crate) fn update(
    context: &StepContext<'_>,
    step: &Step,
    table: &str,
    share_millionths: u32,
) -> Result<StepOutcome, JobError> {
    let place = context.input(table)?;
    let editor = TableEditor::open(context.io, place.space, &place.path)?;
    let pages = editor.reader().pages();
    let share = u128::from(pages) * u128::from(share_millionths);
    let wanted = u64::try_from(share.div_ceil(1_000_000)).unwrap_or(pages).min(pages);
    let chosen = Mutex::new(Choice { seed: context.seed(), place: 0, pages, wanted });
    let tally = Tally::default();
    on_threads(step.threads, |_| {
        let mut page = editor.reader().buffer();
        loop {
            let next = chosen.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(number) = next else { return Ok(()) };
            let header = editor.reader().read_header(number, &mut page)?;
            let end = HEADER_BYTES + header.records as usize * ROW_BYTES;
            let rows = &mut page.bytes_mut()[HEADER_BYTES..end];
            rows.chunks_exact_mut(ROW_BYTES).for_each(change);
            tally.add(rows);
            editor.write(&mut page, &header)?;
        }
    })?;
    editor.finish()?;
    let mut outcome = tally.outcome(0, "rows");
    outcome.rows_in = outcome.rows_out;
    Ok(outcome)
}

/// Changes a row.
fn change(bytes: &mut [u8]) {
    let row = Row::decode(bytes);
    let changed = Row { amount: row.amount.wrapping_add(1), quantity: row.quantity % 100 + 1, ..row };
    changed.encode_into(bytes);
}

/// A uniformly random subset of the pages of a table, in page order (algorithm S of Knuth, *The Art of
/// Computer Programming*, 3.4.2).
struct Choice {
    seed: u64,
    /// The next page to be considered.
    place: u64,
    pages: u64,
    /// Number of pages still to be chosen.
    wanted: u64,
}

impl Iterator for Choice {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        while self.place < self.pages {
            let page = self.place;
            self.place += 1;
            if drawn(self.seed, page) % (self.pages - page) < self.wanted {
                self.wanted -= 1;
                return Some(page);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use plan::jobs::{Action, TableOrder, table_seed};
    use plan::{Bytes, JobSpace};
    use proptest::prelude::{ProptestConfig, any, proptest};

    use super::Choice;
    use crate::row::Origin;
    use crate::tests::Bench;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn a_table_with_added_rows_is_one_that_was_made_with_them(
            rows in 0..2000_u64, first in 0..2000_u64, second in 0..2000_u64, threads in 1..4_u32, page in 6..8_u32
        ) {
            let mut bench = Bench::new(Bytes::kib(1 << page));
            bench.generate("t", rows, 50, TableOrder::Key);
            let origin = Origin { seed: table_seed(1, "t", 0), rows, groups: 50, order: TableOrder::Key };
            for (added, all) in [(first, rows + first), (second, rows + first + second)] {
                let action = Action::Append { table: "t".to_owned(), rows: added };
                let outcome = bench.run_with(action, threads, Bytes::mib(1)).expect("added");
                assert_eq!(outcome.rows_out, added);
                assert_eq!(bench.rows("t"), (0..all).map(|id| origin.row(id)).collect::<Vec<_>>());
            }
            let counters = bench.counters();
            let bytes = plan::Jobs::new(bench.io.page_bytes).table_bytes(rows + first + second).0;
            assert_eq!(counters.held_bytes, [bytes, 0, 0]);
        }

        #[test]
        fn so_many_pages_are_chosen_as_are_wanted(seed in any::<u64>(), pages in 1..200_u64, wanted in 0..200_u64) {
            let wanted = wanted.min(pages);
            let chosen: Vec<u64> = Choice { seed, place: 0, pages, wanted }.collect();
            assert!(chosen.len() as u64 == wanted && chosen.is_sorted_by(|one, two| one < two));
            assert!(chosen.iter().all(|page| *page < pages));
        }

        #[test]
        fn an_update_changes_all_rows_of_its_pages_and_no_others(
            rows in 1..6000_u64, share_millionths in 0..=1_000_000_u32, threads in 1..4_u32, round in 0..9_u32
        ) {
            let mut bench = Bench::new(Bytes::kib(64));
            bench.order.round = round;
            bench.generate("t", rows, 50, TableOrder::Number);
            let before = bench.rows("t");
            let action = Action::Update { table: "t".to_owned(), share_millionths };
            let outcome = bench.run_with(action, threads, Bytes::mib(1)).expect("changed");
            let after = bench.rows("t");
            let pages = before.chunks(511).zip(after.chunks(511)).filter(|(old, new)| old != new);
            let mut changed = 0;
            for (old, new) in pages.clone() {
                changed += old.len() as u64;
                for (old, new) in old.iter().zip(new) {
                    assert_eq!((new.amount, new.quantity), (old.amount + 1, old.quantity % 100 + 1));
                    assert_eq!((new.id, new.key, new.filler), (old.id, old.key, old.filler));
                }
            }
            let share = rows.div_ceil(511) * u64::from(share_millionths);
            assert_eq!(pages.count() as u64, share.div_ceil(1_000_000));
            assert_eq!((outcome.rows_in, outcome.rows_out), (changed, changed));
            let counters = bench.counters();
            assert_eq!(counters.read_bytes[0], counters.reads[0] << 16);
            assert_eq!(counters.held_bytes[0], counters.peak_bytes[0]);
        }
    }

    #[test]
    fn another_launch_changes_other_pages() {
        let mut bench = Bench::new(Bytes::kib(64));
        let seeds = [0, 1].map(|round| {
            bench.order.round = round;
            bench.context(0).seed()
        });
        let [one, other] =
            seeds.map(|seed| Choice { seed, place: 0, pages: 1000, wanted: 100 }.collect::<Vec<_>>());
        assert_ne!(one, other);
    }

    #[test]
    fn a_table_that_cannot_be_written_is_told() {
        let mut bench = Bench::new(Bytes::kib(64));
        bench.order.inputs.insert("t".to_owned(), bench.path(JobSpace::Permanent, "none"));
        let error = bench.run_with(Action::Append { table: "t".to_owned(), rows: 1 }, 1, Bytes(0));
        assert!(error.expect_err("not there").to_string().contains("cannot open"));
    }
}
