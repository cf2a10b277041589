//! Sorted runs in utility space. They are created from pieces of a table that fit into memory, and
//! merged.
//!
//! A record begins with its number and its key (see [`crate::row`]). Records are sorted by key and then by
//! number; the sort is stable.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use plan::JobSpace;

use crate::parallel::on_threads;
use crate::row::{Origin, id, key};
use crate::step::{Place, StepContext};
use crate::table::{Cursor, TableReader, TableWriter};
use crate::{JobError, PageBuffer};

/// Sort key of a record, and its index in memory.
type Mark = (u64, u64, u32);
/// Maximum number of records addressable by a mark.
const RECORDS_MAX: usize = u32::MAX as usize;
/// Minimum number of runs merged at a time.
const RUNS_MIN: usize = 2;
/// Number of buffers that a merge needs in addition to those of its runs: for its output, and for the
/// reader of the output.
const BUFFERS: usize = 4;

/// Creates and merges the runs of one step.
pub(crate) struct Sorter<'a> {
    pub context: &'a StepContext<'a>,
    pub threads: u32,
    /// Number of bytes for data and buffers of all threads.
    pub data_bytes: usize,
    /// Size of a record in bytes.
    pub record_bytes: usize,
}

impl Sorter<'_> {
    /// Sorts pieces of `source` on all threads and writes each as a run, in the order of the pieces.
    /// `extract` appends the records of a page to a vector; its argument is the number of the page's first
    /// row.
    pub(crate) fn runs(
        &self,
        source: &TableReader,
        extract: impl Fn(u64, &[u8], &mut Vec<u8>) + Sync,
    ) -> Result<Vec<Place>, JobError> {
        let pages_per_run = self.pages_per_run(source);
        let count = u32::try_from(source.pages().div_ceil(pages_per_run)).unwrap_or(u32::MAX);
        let runs: Vec<Place> = (0..count).map(|run| self.place(run)).collect();
        let next = AtomicU64::new(0);
        on_threads(self.threads.min(count), |_| {
            let mut piece = Piece::new(self, source, pages_per_run);
            loop {
                let number = next.fetch_add(1, Relaxed);
                let Some(place) = usize::try_from(number).ok().and_then(|number| runs.get(number)) else {
                    return Ok(());
                };
                let first = number * pages_per_run;
                let origin =
                    piece.read(source, first..(first + pages_per_run).min(source.pages()), &extract)?;
                piece.write(self, place, origin)?;
            }
        })?;
        Ok(runs)
    }

    /// Number of pages whose records, marks and buffers fit into a thread's share of memory.
    fn pages_per_run(&self, source: &TableReader) -> u64 {
        let buffers = 2 * self.context.io.page();
        let share = (self.data_bytes / self.threads.max(1) as usize).saturating_sub(buffers);
        let rows = share / (self.record_bytes + size_of::<Mark>());
        (rows.min(RECORDS_MAX) as u64 / source.rows_per_page()).max(1)
    }

    fn place(&self, run: u32) -> Place {
        self.context.own(JobSpace::Utility, "run", run)
    }

    /// Merges `runs` until a single further merge suffices. Merged runs are removed.
    pub(crate) fn narrow(&self, mut runs: Vec<Place>) -> Result<Vec<Place>, JobError> {
        let most = (self.data_bytes / self.context.io.page()).saturating_sub(BUFFERS).max(RUNS_MIN);
        let mut number = u32::try_from(runs.len()).unwrap_or(u32::MAX);
        while runs.len() > most {
            let mut merged = Vec::new();
            for together in runs.chunks(most) {
                let place = self.place(number);
                number += 1;
                let mut writer = None;
                self.merge(together, |origin, record| {
                    let writer = match &mut writer {
                        Some(writer) => writer,
                        none => none.insert(self.create(&place, origin)?),
                    };
                    writer.push(record)
                })?;
                writer.map(TableWriter::finish).transpose()?;
                for run in together {
                    self.context.io.remove(run.space, &run.path)?;
                }
                merged.push(place);
            }
            runs = merged;
        }
        Ok(runs)
    }

    /// Passes on the records of all `runs` in sorted order. Empty runs are skipped.
    pub(crate) fn merge(
        &self,
        runs: &[Place],
        mut take: impl FnMut(Origin, &[u8]) -> Result<(), JobError>,
    ) -> Result<(), JobError> {
        let mut sources = Vec::with_capacity(runs.len());
        let mut heap = BinaryHeap::with_capacity(runs.len());
        for run in runs {
            let io = self.context.io;
            let table = TableReader::open_records(io, run.space, &run.path, self.record_bytes)?;
            let source = Cursor::new(table, self.record_bytes)?;
            if let Some(record) = source.record() {
                heap.push(Reverse((key(record), id(record), sources.len())));
                sources.push(source);
            }
        }
        while let Some(mut least) = heap.peek_mut() {
            let Reverse((_, _, number)) = *least;
            let source = &mut sources[number];
            if let Some(record) = source.record() {
                take(source.origin(), record)?;
            }
            source.step()?;
            match source.record() {
                Some(record) => *least = Reverse((key(record), id(record), number)),
                None => {
                    PeekMut::pop(least);
                }
            }
        }
        Ok(())
    }

    /// Removes `runs`.
    pub(crate) fn remove(&self, runs: &[Place]) -> Result<(), JobError> {
        runs.iter().try_for_each(|run| self.context.io.remove(run.space, &run.path))
    }

    /// Creates a table of such records.
    pub(crate) fn create(&self, place: &Place, origin: Origin) -> Result<TableWriter, JobError> {
        TableWriter::create_records(self.context.io, place.space, &place.path, origin, self.record_bytes)
    }
}

/// Records of one run in memory.
struct Piece {
    buffer: PageBuffer,
    records: Vec<u8>,
    marks: Vec<Mark>,
}

impl Piece {
    fn new(sorter: &Sorter<'_>, source: &TableReader, pages: u64) -> Self {
        // Allocated at once, because a growing vector temporarily needs memory for two copies.
        let rows = usize::try_from(pages.min(source.pages()) * source.rows_per_page()).unwrap_or(usize::MAX);
        Self {
            buffer: source.buffer(),
            records: Vec::with_capacity(rows.saturating_mul(sorter.record_bytes)),
            marks: Vec::with_capacity(rows),
        }
    }

    fn read(
        &mut self,
        source: &TableReader,
        pages: std::ops::Range<u64>,
        extract: &impl Fn(u64, &[u8], &mut Vec<u8>),
    ) -> Result<Option<Origin>, JobError> {
        let mut origin = None;
        self.records.clear();
        for page in pages {
            let header = source.read_header(page, &mut self.buffer)?;
            origin = Some(header.origin);
            let first = page * source.rows_per_page();
            extract(first, header.records_of(&self.buffer), &mut self.records);
        }
        Ok(origin)
    }

    /// Sorts the records read and writes them as a run.
    fn write(&mut self, sorter: &Sorter<'_>, place: &Place, origin: Option<Origin>) -> Result<(), JobError> {
        let Some(origin) = origin else { return Ok(()) };
        let width = sorter.record_bytes;
        self.marks.clear();
        self.marks.extend(
            (0..)
                .zip(self.records.chunks_exact(width))
                .map(|(number, record)| (key(record), id(record), number)),
        );
        self.marks.sort_unstable();
        let mut writer = sorter.create(place, origin)?;
        for (_, _, number) in &self.marks {
            let start = *number as usize * width;
            writer.push(&self.records[start..start + width])?;
        }
        writer.finish().map(|_| ())
    }
}
