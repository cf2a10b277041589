//! Builds an index of a table by key, and uses it to read rows in random order.
//!
//! The index is a table in utility space whose entries of 16 bytes are a row's number and key, sorted by key.
//! A lookup finds the first entry with its key in the index page that must contain it, and reads the row's
//! page of the table: two random pages. The first keys of the index pages are kept in memory.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use plan::JobSpace;
use plan::jobs::{Step, drawn};

use super::runs::Sorter;
use super::sums::Sums;
use crate::parallel::on_threads;
use crate::row::{Origin, ROW_BYTES, id, key};
use crate::step::{Place, StepContext};
use crate::table::TableReader;
use crate::{JobError, PageBuffer, StepOutcome};

/// Size of an entry in bytes: a number and a key.
const ENTRY_BYTES: usize = 16;

/// Looks up keys drawn from all keys that the table may have.
pub(crate) fn index(
    context: &StepContext<'_>,
    step: &Step,
    input: &str,
    lookups: u64,
) -> Result<StepOutcome, JobError> {
    let table = context.input(input)?.open(context.io)?;
    let place = context.own(JobSpace::Utility, "index", 0);
    let index = Index::build(context, step, &table, &place)?;
    let sums = Mutex::new(Sums::default());
    let (next, seed) = (AtomicU64::new(0), context.seed());
    on_threads(step.threads, |_| {
        let (mut entries, mut rows) = (table.buffer(), table.buffer());
        let mut here = Sums::default();
        loop {
            let number = next.fetch_add(1, Relaxed);
            if number >= lookups {
                sums.lock().unwrap_or_else(PoisonError::into_inner).join(here);
                return Ok(());
            }
            let wanted = drawn(seed, number) % index.origin.groups.max(1);
            if let Some(number) = index.find(wanted, &mut entries)? {
                here.add(row(&table, number, wanted, &mut rows)?);
            }
        }
    })?;
    let rows_in = index.rows;
    drop(index);
    context.io.remove(place.space, &place.path)?;
    let sums = sums.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut found = sums.found("matches");
    #[expect(clippy::cast_precision_loss, reason = "a number of lookups below 2^53 is exact")]
    found.insert("lookups".to_owned(), lookups as f64);
    Ok(StepOutcome { rows_in: rows_in + sums.rows, found, ..StepOutcome::default() })
}

/// Row `number` of the table, which must have the key given by the index.
fn row<'a>(
    table: &TableReader,
    number: u64,
    wanted: u64,
    buffer: &'a mut PageBuffer,
) -> Result<&'a [u8], JobError> {
    let page = number / table.rows_per_page();
    let start = usize::try_from(number % table.rows_per_page()).unwrap_or(usize::MAX) * ROW_BYTES;
    let rows = table.read(page, buffer)?;
    let row = rows.get(start..start + ROW_BYTES).filter(|row| key(row) == wanted);
    row.ok_or_else(|| {
        JobError::damaged(
            table.path(),
            page,
            format!("row {number} does not have the key {wanted} of its index"),
        )
    })
}

/// An index in utility space.
struct Index {
    entries: TableReader,
    /// The first key of each of its pages.
    begins: Vec<u64>,
    origin: Origin,
    /// Number of rows in the table.
    rows: u64,
}

impl Index {
    fn build(
        context: &StepContext<'_>,
        step: &Step,
        table: &TableReader,
        place: &Place,
    ) -> Result<Self, JobError> {
        let sorter = Sorter {
            context,
            threads: step.threads.max(1),
            data_bytes: context.data_bytes(step),
            record_bytes: ENTRY_BYTES,
        };
        let runs = sorter.runs(table, |first, rows, entries| {
            for (number, row) in (first..).zip(rows.chunks_exact(ROW_BYTES)) {
                entries.extend_from_slice(&number.to_le_bytes());
                entries.extend_from_slice(&key(row).to_le_bytes());
            }
        })?;
        let runs = sorter.narrow(runs)?;
        let origin = table.origin(&mut table.buffer())?;
        let mut writer = sorter.create(place, origin)?;
        let per_page = crate::page::records_per_page(context.io.page(), ENTRY_BYTES) as u64;
        let (mut begins, mut rows) = (Vec::new(), 0);
        sorter.merge(&runs, |_, entry| {
            if rows % per_page == 0 {
                begins.push(key(entry));
            }
            rows += 1;
            writer.push(entry)
        })?;
        writer.finish()?;
        sorter.remove(&runs)?;
        let entries = TableReader::open_records(context.io, place.space, &place.path, ENTRY_BYTES)?;
        Ok(Self { entries, begins, origin, rows })
    }

    /// The first row with the key `wanted`, if there is one.
    fn find(&self, wanted: u64, buffer: &mut PageBuffer) -> Result<Option<u64>, JobError> {
        // The first page that begins with this key or a larger one. The key may also be in the page
        // before it.
        let at_or_above = self.begins.partition_point(|begin| *begin < wanted);
        if let Some(before) = at_or_above.checked_sub(1) {
            let entries = self.entries.read(before as u64, buffer)?;
            let count = entries.len() / ENTRY_BYTES;
            let entry = |place: usize| &entries[place * ENTRY_BYTES..(place + 1) * ENTRY_BYTES];
            let place = first_place(count, |place| key(entry(place)) >= wanted);
            if place < count {
                return Ok((key(entry(place)) == wanted).then(|| id(entry(place))));
            }
        }
        if self.begins.get(at_or_above) == Some(&wanted) {
            return Ok(Some(id(self.entries.read(at_or_above as u64, buffer)?)));
        }
        Ok(None)
    }
}

/// The first of `count` indices from which on `holds` is true.
fn first_place(count: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use plan::jobs::{Action, TableOrder, drawn};
    use plan::{Bytes, JobSpace};
    use proptest::prelude::{ProptestConfig, any, proptest};

    use super::Sums;
    use crate::Row;
    use crate::tests::{Bench, cents};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn lookups_find_the_first_row_of_each_key(
            rows in 0..15_000_u64, groups in 1..20_000_u64, lookups in 0..300_u64, threads in 1..4_u32, key in any::<bool>()
        ) {
            let mut bench = Bench::new(Bytes::kib(64));
            let order = if key { TableOrder::Key } else { TableOrder::Number };
            bench.generate("t", rows, groups, order);
            let all = bench.rows("t");
            let first: HashMap<u64, Row> = all.iter().rev().map(|row| (row.key, *row)).collect();
            let seed = bench.context(1).seed();
            let wanted = (0..lookups).map(|number| drawn(seed, number) % groups);
            let found: Vec<Row> = wanted.filter_map(|key| first.get(&key).copied()).collect();
            let action = Action::Index { input: "t".to_owned(), lookups };
            let outcome = bench.run_with(action, threads, Bytes::kib(512)).expect("looked up");
            assert_eq!(outcome.rows_in, rows + found.len() as u64);
            let bytes: Vec<u8> = found.iter().flat_map(Row::encode).collect();
            let mut expected = Sums::of(&bytes).found("matches");
            expected.insert("lookups".to_owned(), f64::from(u32::try_from(lookups).expect("few")));
            assert_eq!(outcome.found, expected);
            assert_eq!(outcome.found["sum_amount"], cents(&found));
            assert_eq!((bench.files(JobSpace::Utility), bench.counters().held_bytes[2]), (Vec::new(), 0));
            let reads = bench.counters().reads[0];
            // One for the index, one for the origin, and one for each row found.
            assert_eq!(reads, rows.div_ceil(511).max(1) + 1 + found.len() as u64);
        }
    }
}
