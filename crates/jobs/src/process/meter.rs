//! Counts the bytes that a job moves and holds in each space.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use plan::JobSpace;

use crate::process::usage::now_ns;
use crate::{Counters, CountersFile};

/// Minimum interval between writes of the counts. A reader that polls each second does not need more, and a
/// write to memory costs about a microsecond.
const TOLD_NS: u64 = 10_000_000;

/// Counts the bytes of a job in each space; shared by all of its threads.
///
/// ```
/// use jobs::Meter;
/// use plan::JobSpace;
/// let meter = Meter::default();
/// meter.wrote(JobSpace::Work, 4096);
/// meter.holds(JobSpace::Work, 4096);
/// meter.holds(JobSpace::Work, -4096);
/// let counters = meter.snapshot();
/// assert_eq!((counters.write_bytes[1], counters.writes[1]), (4096, 1));
/// assert_eq!((counters.held_bytes[1], counters.peak_bytes[1]), (0, 4096));
/// ```
#[derive(Debug, Default)]
pub struct Meter {
    read_bytes: [AtomicU64; 3],
    write_bytes: [AtomicU64; 3],
    reads: [AtomicU64; 3],
    writes: [AtomicU64; 3],
    held_bytes: [AtomicU64; 3],
    peak_bytes: [AtomicU64; 3],
    /// The file for the counts.
    told: Option<Mutex<CountersFile>>,
    due_ns: AtomicU64,
}

impl Meter {
    /// Creates a meter with counts of zero, which are written to `file`: at most every 10 ms, and
    /// whenever [`Meter::tell`] is called.
    #[must_use]
    pub fn telling(file: CountersFile) -> Self {
        Self { told: Some(Mutex::new(file)), ..Self::default() }
    }

    /// Writes the counts now.
    ///
    /// # Errors
    /// Errors if the file cannot be written.
    pub fn tell(&self) -> io::Result<()> {
        let Some(told) = &self.told else { return Ok(()) };
        // Only one write at a time, so that older counts never overwrite newer ones.
        let mut file = told.lock().unwrap_or_else(PoisonError::into_inner);
        file.tell(&self.snapshot())
    }

    /// Writes the counts if the last write was long enough ago. A failure is reported at the end of the
    /// step.
    fn tell_when_due(&self) {
        if self.told.is_none() {
            return;
        }
        let (now, due) = (now_ns(), self.due_ns.load(Relaxed));
        let is_due = now >= due && self.due_ns.compare_exchange(due, now + TOLD_NS, Relaxed, Relaxed).is_ok();
        if is_due {
            let _ = self.tell();
        }
    }

    /// Counts a read of `bytes`.
    pub fn read(&self, space: JobSpace, bytes: u64) {
        self.read_bytes[space as usize].fetch_add(bytes, Relaxed);
        self.reads[space as usize].fetch_add(1, Relaxed);
        self.tell_when_due();
    }

    /// Counts a write of `bytes`.
    pub fn wrote(&self, space: JobSpace, bytes: u64) {
        self.write_bytes[space as usize].fetch_add(bytes, Relaxed);
        self.writes[space as usize].fetch_add(1, Relaxed);
        self.tell_when_due();
    }

    /// Changes the number of bytes held by the job.
    pub fn holds(&self, space: JobSpace, change_bytes: i64) {
        let held = &self.held_bytes[space as usize];
        // Adding a negative number as its two's complement wraps around to the difference.
        let change = change_bytes.cast_unsigned();
        let now = held.fetch_add(change, Relaxed).wrapping_add(change);
        self.peak_bytes[space as usize].fetch_max(if change_bytes > 0 { now } else { 0 }, Relaxed);
    }

    /// All counts so far. This is not an atomic snapshot if other threads are counting.
    #[must_use]
    pub fn snapshot(&self) -> Counters {
        let of = |counts: &[AtomicU64; 3]| std::array::from_fn(|space| counts[space].load(Relaxed));
        Counters {
            read_bytes: of(&self.read_bytes),
            write_bytes: of(&self.write_bytes),
            reads: of(&self.reads),
            writes: of(&self.writes),
            held_bytes: of(&self.held_bytes),
            peak_bytes: of(&self.peak_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use plan::JobSpace;

    use super::Meter;

    #[test]
    fn threads_count_together_and_spaces_apart() {
        let meter = Meter::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        meter.read(JobSpace::Permanent, 3);
                        meter.holds(JobSpace::Utility, 5);
                    }
                });
            }
        });
        meter.holds(JobSpace::Utility, -19_999);
        let counters = meter.snapshot();
        assert_eq!((counters.read_bytes, counters.reads), ([12_000, 0, 0], [4000, 0, 0]));
        assert_eq!((counters.held_bytes, counters.peak_bytes), ([0, 0, 1], [0, 0, 20_000]));
    }
}
