//! Computes sums per key, with a hash table that fits into the memory of the step.
//!
//! Keys that are in the table when it becomes full are kept, and all their rows are added there. Rows with
//! other keys are written to partitions in utility space, chosen by a hash of their key. Each partition is
//! then summed in the same way.

use plan::JobSpace;
use plan::jobs::{GOLDEN, Output, Step, mix};

use super::sums::Sums;
use super::target::Target;
use crate::parallel::in_order;
use crate::row::{Origin, ROW_BYTES, Row, key};
use crate::step::{Place, StepContext};
use crate::table::{TableReader, TableWriter};
use crate::{JobError, StepOutcome};

/// Number of partitions, if there is enough memory for their buffers.
const PARTITIONS_MAX: usize = 64;
/// Initial number of slots of a table.
const SLOTS_MIN: usize = 1024;

/// The sums of one key. The slot is free if there is no row.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    key: u64,
    sums: Sums,
}

/// A table with open addressing that is at most three quarters full.
#[derive(Debug)]
struct Groups {
    slots: Vec<Slot>,
    used: usize,
    slots_max: usize,
}

impl Groups {
    /// Creates a table that uses at most `bytes` bytes, even while it grows.
    fn new(bytes: usize) -> Self {
        // While it grows, the old table with half the slots exists as well.
        let fit = bytes * 2 / 3 / size_of::<Slot>();
        let slots_max = if fit < 2 { 2 } else { 1 << fit.ilog2() };
        Self { slots: vec![Slot::default(); SLOTS_MIN.min(slots_max)], used: 0, slots_max }
    }

    /// Adds `row`. Returns `false` if there is no room for its key.
    #[inline]
    fn add(&mut self, row: &[u8]) -> bool {
        let key = key(row);
        let mut place = self.place(key);
        if self.slots[place].sums.rows == 0 {
            if (self.used + 1) * 4 > self.slots.len() * 3 {
                if self.slots.len() >= self.slots_max {
                    return false;
                }
                self.grow();
                place = self.place(key);
            }
            self.used += 1;
            self.slots[place].key = key;
        }
        self.slots[place].sums.add(row);
        true
    }

    /// Slot of `key`, whether present or not.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower bits are what is wanted")]
    fn place(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut place = mix(key) as usize & mask;
        while self.slots[place].sums.rows > 0 && self.slots[place].key != key {
            place = (place + 1) & mask;
        }
        place
    }

    fn grow(&mut self) {
        let grown = vec![Slot::default(); self.slots.len() * 2];
        for slot in std::mem::replace(&mut self.slots, grown) {
            if slot.sums.rows > 0 {
                let place = self.place(slot.key);
                self.slots[place] = slot;
            }
        }
    }

    /// All sums, by key.
    fn sorted(&mut self) -> impl Iterator<Item = &Slot> {
        self.slots.sort_unstable_by_key(|slot| (slot.sums.rows == 0, slot.key));
        self.slots[..self.used].iter()
    }
}

impl Slot {
    /// The output row of this key.
    #[expect(clippy::cast_precision_loss, reason = "a mean is no exact number")]
    fn row(&self) -> Row {
        Row {
            id: self.key,
            key: self.key,
            amount: self.sums.amount,
            y: self.sums.amount as f64 / self.sums.rows as f64,
            filler: [self.sums.rows, self.sums.quantity, 0],
            ..Row::default()
        }
    }
}

/// Rows whose keys did not fit yet.
struct Partition {
    place: Place,
    /// Number of times its rows have been partitioned.
    depth: u64,
}

/// A summary in progress.
struct Summary<'a> {
    context: &'a StepContext<'a>,
    threads: u32,
    table_bytes: usize,
    partitions: usize,
    target: Target<'a>,
    waiting: Vec<Partition>,
    made: u32,
    keys: u64,
    all: Sums,
}

/// Sums the rows of each key.
pub(crate) fn summarise(
    context: &StepContext<'_>,
    step: &Step,
    input: &str,
    output: Option<&Output>,
) -> Result<StepOutcome, JobError> {
    let page_bytes = context.io.page();
    let data_bytes = context.data_bytes(step);
    let partitions = (data_bytes / 4 / page_bytes).clamp(2, PARTITIONS_MAX);
    let buffers = (3 * step.threads.max(1) as usize + partitions + 1) * page_bytes;
    let mut summary = Summary {
        context,
        threads: step.threads,
        table_bytes: data_bytes.saturating_sub(buffers).max(page_bytes),
        partitions,
        target: Target::new(context, output),
        waiting: Vec::new(),
        made: 0,
        keys: 0,
        all: Sums::default(),
    };
    let rows_in = summary.sum(&context.input(input)?.open(context.io)?, 0)?;
    while let Some(Partition { place, depth }) = summary.waiting.pop() {
        summary.sum(&place.open(context.io)?, depth)?;
        context.io.remove(place.space, &place.path)?;
    }
    let mut outcome = StepOutcome { rows_in, ..StepOutcome::default() };
    let Summary { target, keys, all, .. } = summary;
    target.finish(&mut outcome)?;
    outcome.found = all.found("rows");
    #[expect(clippy::cast_precision_loss, reason = "a number of keys below 2^53 is exact")]
    outcome.found.insert("keys".to_owned(), keys as f64);
    Ok(outcome)
}

impl Summary<'_> {
    /// Sums the rows of `table` whose keys fit, and partitions the rest. Returns the number of rows read.
    fn sum(&mut self, table: &TableReader, depth: u64) -> Result<u64, JobError> {
        let mut groups = Groups::new(self.table_bytes);
        let mut aside: Vec<Option<TableWriter>> = Vec::new();
        aside.resize_with(self.partitions, || None);
        let mut origin = None;
        let rows = in_order(
            table,
            self.threads,
            |rows, output| output.extend_from_slice(rows),
            |from, rows| {
                origin = Some(from);
                for row in rows.chunks_exact(ROW_BYTES) {
                    if !groups.add(row) {
                        self.put_aside(&mut aside, from, row, depth)?;
                    }
                }
                Ok(())
            },
        )?;
        for writer in aside.into_iter().flatten() {
            writer.finish()?;
        }
        self.emit(groups, origin)?;
        Ok(rows)
    }

    fn put_aside(
        &mut self,
        aside: &mut [Option<TableWriter>],
        origin: Origin,
        row: &[u8],
        depth: u64,
    ) -> Result<(), JobError> {
        // A different hash at each depth separates the rows of a partition again.
        let hash = mix(key(row).wrapping_add((depth + 1).wrapping_mul(GOLDEN)));
        let number = usize::try_from(hash % aside.len() as u64).unwrap_or(0);
        let writer = match &mut aside[number] {
            Some(writer) => writer,
            none => {
                let place = self.context.own(JobSpace::Utility, "partition", self.made);
                self.made += 1;
                let writer = TableWriter::create(self.context.io, place.space, &place.path, origin)?;
                self.waiting.push(Partition { place, depth: depth + 1 });
                none.insert(writer)
            }
        };
        writer.push(row)
    }

    /// Writes a row for each key of `groups`.
    fn emit(&mut self, mut groups: Groups, origin: Option<Origin>) -> Result<(), JobError> {
        self.keys += groups.used as u64;
        let Some(origin) = origin else { return Ok(()) };
        self.target.push_all(origin, &[])?;
        for slot in groups.sorted() {
            self.all.join(slot.sums);
            self.target.push_all(origin, &slot.row().encode())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use plan::jobs::{Action, Output, TableOrder};
    use plan::{Bytes, JobSpace};
    use proptest::prelude::{ProptestConfig, proptest};

    use crate::tests::{Bench, cents};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn sums_are_those_of_each_key(rows in 0..6000_u64, groups in 1..4000_u64, threads in 1..4_u32) {
            let mut bench = Bench::new(Bytes::kib(64));
            bench.generate("t", rows, groups, TableOrder::Number);
            let mut expected = BTreeMap::<u64, (u64, u64, i64)>::new();
            for row in bench.rows("t") {
                let sums = expected.entry(row.key).or_default();
                *sums = (sums.0 + 1, sums.1 + u64::from(row.quantity), sums.2 + row.amount);
            }
            let output = Some(Output { table: "s".to_owned(), space: JobSpace::Work });
            let action = Action::Summarise { input: "t".to_owned(), output };
            let outcome = bench.run_with(action, threads, Bytes::mib(16)).expect("summed");
            let found = bench.rows("s");
            assert!(found.is_sorted_by_key(|row| row.key), "all keys have room");
            let sums = found.iter().map(|row| (row.key, (row.filler[0], row.filler[1], row.amount)));
            assert_eq!(sums.collect::<Vec<_>>(), expected.clone().into_iter().collect::<Vec<_>>());
            assert_eq!((outcome.rows_in, outcome.rows_out), (rows, expected.len() as u64));
            assert_eq!(outcome.found["sum_amount"], cents(&found));
        }
    }

    #[test]
    fn keys_without_room_are_put_aside_and_summed_later() {
        let mut bench = Bench::new(Bytes::kib(64));
        bench.generate("t", 60_000, 40_000, TableOrder::Number);
        let run = |bench: &mut Bench, table: &str, memory| {
            let output = Some(Output { table: table.to_owned(), space: JobSpace::Work });
            let action = Action::Summarise { input: "t".to_owned(), output };
            let outcome = bench.run_with(action, 1, memory).expect("summed");
            let mut rows = bench.rows(table);
            rows.sort_by_key(|row| row.key);
            (outcome, rows)
        };
        let roomy = run(&mut bench, "roomy", Bytes::mib(64));
        assert_eq!(bench.counters().write_bytes[2], 0);
        let tight = run(&mut bench, "tight", Bytes(0));
        assert_eq!(tight, roomy);
        let counters = bench.counters();
        assert!(counters.write_bytes[2] > 0 && counters.read_bytes[2] == counters.write_bytes[2]);
        assert_eq!((counters.held_bytes[2], bench.files(JobSpace::Utility)), (0, Vec::new()));
    }
}
