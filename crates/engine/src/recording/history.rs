//! The last operations of a phase. Each worker records its own in a ring that other threads may read while
//! the phase runs.
//!
//! A worker writes between two operations, with plain stores into preallocated memory, and never waits for a
//! reader. A reader skips entries that were overwritten during the read: the entry count is stored after each
//! entry, and checked before and after a read, as in a sequence lock (Boehm, "Can seqlocks get along with
//! programming language memory models?", MSPC 2012).

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use crate::phase::clock::Scale;
use plan::Operation;

/// One operation of a phase. Times are nanoseconds since the phase's common start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastOperation {
    /// The worker that executed it, from 0.
    pub thread: u32,
    /// The task that issued it, by its number in the whole run.
    pub task: u32,
    /// The operation.
    pub operation: Operation,
    /// Time of submission to the kernel.
    pub start_ns: u64,
    /// Time from submission to completion.
    pub latency_ns: u64,
    /// The file or item; empty if its name is not known yet.
    pub path: Arc<Path>,
    /// Offset in the file, or number of the item.
    pub offset: u64,
    /// Bytes moved.
    pub bytes: u64,
}

/// A ring entry: start and end in ticks; offset or item; operation and task.
type Entry = [AtomicU64; 4];

/// The history of one worker.
#[derive(Debug)]
pub(crate) struct Ring {
    /// One more entry than readers get: the extra one is the one being written.
    entries: Box<[Entry]>,
    written: Written,
}

/// Number of entries written so far. Has its own cache lines, like [`crate::phase::controls::Slot`].
#[derive(Debug, Default)]
#[repr(align(128))]
struct Written(AtomicU64);

/// An entry as read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Raw {
    start: u64,
    end: u64,
    place: u64,
    what: u64,
}

impl Ring {
    /// Creates a ring with room for `operations` operations. All of it is touched.
    fn new(operations: usize) -> Self {
        Self { entries: (0..=operations).map(|_| Entry::default()).collect(), written: Written::default() }
    }

    /// Returns the entries from number `seen` on that are still in the ring, and the number written by
    /// then.
    fn since(&self, seen: u64) -> (Vec<Raw>, u64) {
        let slots = self.entries.len() as u64;
        let there = |written: u64| (written + 1).saturating_sub(slots);
        let written = self.written.0.load(Ordering::Acquire);
        let from = there(written).max(seen);
        let read = |number: u64| {
            // The remainder is less than the ring's length, so the conversion cannot fail.
            let entry = &self.entries[usize::try_from(number % slots).unwrap_or(0)];
            let [start, end, place, what] = [0, 1, 2, 3].map(|word| entry[word].load(Ordering::Relaxed));
            Raw { start, end, place, what }
        };
        let mut read: Vec<Raw> = (from..written).map(read).collect();
        fence(Ordering::Acquire);
        let lost = there(self.written.0.load(Ordering::Relaxed)).saturating_sub(from);
        read.drain(..usize::try_from(lost).unwrap_or(usize::MAX).min(read.len()));
        (read, written)
    }
}

/// Writes the operations of one worker.
#[derive(Debug)]
pub(crate) struct HistoryWriter {
    ring: Arc<Ring>,
    written: u64,
    /// Index of the next entry.
    next: usize,
}

impl HistoryWriter {
    /// Records that operation index `operation` of `task` took from `start` to `end`, in ticks.
    #[inline(always)]
    pub(crate) fn keep(&mut self, task: u32, operation: usize, start: u64, end: u64, place: u64) {
        // The following stores must not become visible before the count of the previous entry.
        fence(Ordering::Release);
        let entries = &self.ring.entries;
        let entry = &entries[self.next];
        let words = [start, end, place, (operation as u64) << 32 | u64::from(task)];
        for (word, value) in entry.iter().zip(words) {
            word.store(value, Ordering::Relaxed);
        }
        self.next += 1;
        if self.next == entries.len() {
            self.next = 0;
        }
        self.written += 1;
        self.ring.written.0.store(self.written, Ordering::Release);
    }
}

/// The history of all workers of a process for a phase, with what is needed to interpret it.
#[derive(Debug)]
pub(crate) struct History {
    rings: Box<[Arc<Ring>]>,
    /// The operations by index.
    operations: Box<[Operation]>,
    /// The tasks' files, for operations at an offset of a file.
    paths: HashMap<u32, Arc<Path>>,
    /// Bytes moved by each operation.
    bytes: u64,
    /// The clock's rate and the start, set when the phase begins.
    start: AtomicU64,
    scale: AtomicU64,
}

impl History {
    /// Creates a history of the last `operations_kept` operations, divided evenly among `workers`
    /// workers.
    pub(crate) fn new(
        operations_kept: u64,
        workers: usize,
        operations: &[Operation],
        bytes: u64,
        paths: HashMap<u32, Arc<Path>>,
    ) -> Self {
        let kept = usize::try_from(operations_kept).unwrap_or(usize::MAX);
        let per_worker = kept.div_ceil(workers.max(1)).max(1);
        Self {
            rings: (0..workers).map(|_| Arc::new(Ring::new(per_worker))).collect(),
            operations: operations.into(),
            paths,
            bytes,
            start: AtomicU64::new(0),
            scale: AtomicU64::new(0),
        }
    }

    /// Returns the writer of a worker, by worker number.
    pub(crate) fn keeper(&self, worker: usize) -> HistoryWriter {
        HistoryWriter { ring: Arc::clone(&self.rings[worker]), written: 0, next: 0 }
    }

    /// Records that the phase starts at tick `start` of a clock with the rate `scale`.
    pub(crate) fn begin(&self, scale: Scale, start: u64) {
        self.scale.store(scale.to_bits(), Ordering::Relaxed);
        self.start.store(start, Ordering::Release);
    }

    /// Returns all entries after `seen` that are still in the rings, ordered by start time.
    pub(crate) fn since(&self, seen: &mut Vec<u64>) -> Vec<LastOperation> {
        self.read(seen, Scale::from_bits(self.scale.load(Ordering::Acquire)))
    }

    /// Returns all entries still in the rings, ordered by start time. Ticks are converted with `rate`, which
    /// is known more exactly at the end of a phase. The latencies are those that were counted.
    pub(crate) fn all(&self, rate: Scale) -> Vec<LastOperation> {
        self.read(&mut Vec::new(), rate)
    }

    fn read(&self, seen: &mut Vec<u64>, rate: Scale) -> Vec<LastOperation> {
        let start = self.start.load(Ordering::Acquire);
        if start == 0 {
            return Vec::new();
        }
        let scale = Scale::from_bits(self.scale.load(Ordering::Relaxed));
        seen.resize(self.rings.len(), 0);
        let nowhere: Arc<Path> = Arc::from(Path::new(""));
        let mut all = Vec::new();
        for (thread, (ring, seen)) in (0..).zip(self.rings.iter().zip(seen)) {
            let (read, written) = ring.since(*seen);
            *seen = written;
            all.extend(read.into_iter().filter_map(|raw| {
                let [operation, task] = [raw.what >> 32, raw.what & u64::from(u32::MAX)];
                let task = u32::try_from(task).ok()?;
                Some(LastOperation {
                    thread,
                    task,
                    operation: *self.operations.get(usize::try_from(operation).ok()?)?,
                    start_ns: rate.nanos(raw.start.saturating_sub(start)),
                    latency_ns: scale.nanos(raw.end.saturating_sub(raw.start)),
                    path: Arc::clone(self.paths.get(&task).unwrap_or(&nowhere)),
                    offset: raw.place,
                    bytes: self.bytes,
                })
            }));
        }
        all.sort_by_key(|operation| operation.start_ns);
        all
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::{History, Ring};
    use crate::phase::clock::Scale;
    use plan::Operation;

    fn history(kept: u64, workers: usize) -> History {
        let history = History::new(kept, workers, &Operation::TRANSFERS, 4096, HashMap::new());
        history.begin(Scale::from_bits(1 << 32), 1000);
        history
    }

    #[test]
    fn the_last_operations_are_there_whole_and_in_order() {
        let history = history(6, 2);
        let mut keepers = [history.keeper(0), history.keeper(1)];
        for number in 0..10 {
            let start = 1000 + number * 10;
            keepers[usize::from(number % 2 == 1)].keep(
                7,
                usize::from(number % 2 == 1),
                start,
                start + 5,
                number,
            );
        }
        let mut seen = Vec::new();
        let kept = history.since(&mut seen);
        assert_eq!(kept.iter().map(|one| one.offset).collect::<Vec<_>>(), [4, 5, 6, 7, 8, 9]);
        let last = &kept[5];
        assert_eq!((last.thread, last.task, last.operation), (1, 7, Operation::Write));
        assert_eq!((last.start_ns, last.latency_ns, last.bytes), (90, 5, 4096));
        assert_eq!(history.since(&mut seen), [], "each is told once");
        keepers[0].keep(7, 0, 1100, 1105, 10);
        assert_eq!(history.since(&mut seen).len(), 1);
    }

    /// With a reader beside a writer that never waits, no entry read mixes parts of two entries.
    #[test]
    fn a_reader_beside_the_writer_sees_whole_entries_only() {
        let ring = Arc::new(Ring::new(8));
        let done = AtomicBool::new(false);
        let mut keeper = super::HistoryWriter { ring: Arc::clone(&ring), written: 0, next: 0 };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..2_000_000_u64 {
                    keeper.keep(0, 0, number, number + 1, number * 3);
                }
                done.store(true, Ordering::Release);
            });
            let (mut seen, mut read) = (0, 0_u64);
            while !done.load(Ordering::Acquire) {
                let (entries, written) = ring.since(seen);
                for pair in entries.windows(2) {
                    assert_eq!(pair[1].start, pair[0].start + 1);
                }
                for entry in &entries {
                    assert!(entry.start >= seen && entry.start < written, "{entry:?} of {seen}..{written}");
                    assert_eq!((entry.end, entry.place), (entry.start + 1, entry.start * 3));
                }
                read += entries.len() as u64;
                seen = written;
            }
            assert!(read > 0);
        });
        assert_eq!(ring.since(0).0.len(), 8);
    }
}
