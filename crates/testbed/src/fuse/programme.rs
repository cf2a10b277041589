//! Programmes for a [`crate::ProgrammedFs`], and their timing and counters.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Latencies, bandwidths and faults of one file, or of all files that do not have their own programme.
///
/// A request is answered `bytes ÷ bandwidth + latency` after it arrives. Requests in the same direction share the
/// bandwidth and queue for it, while their latencies overlap.
///
/// ```
/// use std::time::Duration;
/// use testbed::{Effect, Fault, Programme, When};
/// let programme = Programme {
///     read_latency: Duration::from_millis(1),
///     faults: vec![Fault::on_read(When::Number(3), Effect::EIO)],
///     ..Programme::default()
/// };
/// # drop(programme);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Programme {
    /// Added to each read.
    pub read_latency: Duration,
    /// Added to each write.
    pub write_latency: Duration,
    /// Added to each fsync.
    pub sync_latency: Duration,
    /// Total bandwidth of all reads, in bytes per second.
    pub read_bandwidth: Option<u64>,
    /// Total bandwidth of all writes, in bytes per second.
    pub write_bandwidth: Option<u64>,
    /// Size of a write cache, which drains at the write bandwidth. A write is answered as soon as it fits in the
    /// cache. An fsync does not wait for the cache to drain, as with a controller whose cache survives a power loss.
    pub write_cache_bytes: u64,
    /// Writes that would allocate more than this many bytes in total fail with ENOSPC, regardless of what `statfs(2)`
    /// reported.
    pub space_bytes: Option<u64>,
    /// All changes to the file system fail with EROFS, as if an error had made it read-only.
    pub read_only: bool,
    /// Faults to inject. The first one that matches a request applies.
    pub faults: Vec<Fault>,
}

/// A fault: which requests it applies to, and its effect on them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    operation: Faulty,
    when: When,
    effect: Effect,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Faulty {
    Read,
    Write,
    Sync,
    Open,
    Close,
}

impl Fault {
    /// A fault on reads.
    #[must_use]
    pub const fn on_read(when: When, effect: Effect) -> Self {
        Self { operation: Faulty::Read, when, effect }
    }

    /// A fault on writes.
    #[must_use]
    pub const fn on_write(when: When, effect: Effect) -> Self {
        Self { operation: Faulty::Write, when, effect }
    }

    /// Makes fsync fail with an error number. An fsync has no offset, so [`When::Covering`] never matches.
    #[must_use]
    pub const fn on_sync(when: When, error_number: i32) -> Self {
        Self { operation: Faulty::Sync, when, effect: Effect::Error(error_number) }
    }

    /// Makes opening or creating a file fail with an error number. These requests have no offset.
    #[must_use]
    pub const fn on_open(when: When, error_number: i32) -> Self {
        Self { operation: Faulty::Open, when, effect: Effect::Error(error_number) }
    }

    /// Makes `close(2)` of a file that was opened for writing fail with an error number. It has no offset.
    #[must_use]
    pub const fn on_close(when: When, error_number: i32) -> Self {
        Self { operation: Faulty::Close, when, effect: Effect::Error(error_number) }
    }
}

/// Which requests a fault applies to. Requests of each kind are counted separately, from 1, since the programme was
/// set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// All requests.
    Always,
    /// The n-th request.
    Number(u64),
    /// The n-th request and all later ones.
    From(u64),
    /// Every n-th request.
    Every(u64),
    /// Requests that include the byte at this offset.
    Covering(u64),
}

/// The effect of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Fails with this error number.
    Error(i32),
    /// Transfers only this many bytes.
    Short(u32),
    /// Reports success, but with wrong data.
    Wrong(WrongData),
}

impl Effect {
    /// Fails with an I/O error (EIO).
    pub const EIO: Self = Self::Error(libc::EIO);
}

/// How data is wrong. For a write, the stored data is wrong. For a read, only the returned data is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrongData {
    /// The content before the last overwrite, as if the write were lost.
    Stale,
    /// The data of another offset. For a write, the data is stored at that offset instead.
    Misplaced {
        /// The other offset.
        offset: u64,
    },
    /// The first half is new and the second half is [`WrongData::Stale`].
    Torn,
    /// Bytes that nobody has written.
    Foreign,
    /// Zeros.
    Zeros,
}

/// A programme in use, with its counters.
#[derive(Debug, Default)]
pub(crate) struct Active {
    programme: Programme,
    reads: Lane,
    writes: Lane,
    syncs: Lane,
    opens: Lane,
    closes: Lane,
    faults_met: AtomicU64,
}

/// Requests of one kind.
#[derive(Debug, Default)]
struct Lane {
    count: AtomicU64,
    free_at: Mutex<Option<Instant>>,
}

/// Bandwidth and cache of one direction.
#[derive(Debug, Clone, Copy, Default)]
struct Pipe {
    bandwidth: Option<u64>,
    cache_bytes: u64,
}

/// The outcome of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fate {
    /// When to send the answer.
    pub(crate) due: Instant,
    /// The fault, if any.
    pub(crate) effect: Option<Effect>,
}

impl Fate {
    /// The result of a request that moves no data.
    pub(crate) const fn result(&self) -> Result<(), i32> {
        match self.effect {
            Some(Effect::Error(code)) => Err(code),
            Some(Effect::Short(_) | Effect::Wrong(_)) | None => Ok(()),
        }
    }
}

impl Active {
    pub(crate) fn new(programme: Programme) -> Self {
        Self { programme, ..Self::default() }
    }

    pub(crate) const fn space_bytes(&self) -> Option<u64> {
        self.programme.space_bytes
    }

    pub(crate) fn read(&self, offset: u64, bytes: u64) -> Fate {
        let programme = &self.programme;
        self.fate(
            Faulty::Read,
            &self.reads,
            (offset, bytes),
            Pipe { bandwidth: programme.read_bandwidth, cache_bytes: 0 },
            programme.read_latency,
        )
    }

    pub(crate) fn write(&self, offset: u64, bytes: u64) -> Fate {
        let programme = &self.programme;
        self.fate(
            Faulty::Write,
            &self.writes,
            (offset, bytes),
            Pipe { bandwidth: programme.write_bandwidth, cache_bytes: programme.write_cache_bytes },
            programme.write_latency,
        )
    }

    pub(crate) fn sync(&self) -> Fate {
        self.fate(Faulty::Sync, &self.syncs, (0, 0), Pipe::default(), self.programme.sync_latency)
    }

    pub(crate) fn open(&self) -> Result<(), i32> {
        self.fate(Faulty::Open, &self.opens, (0, 0), Pipe::default(), Duration::ZERO).result()
    }

    pub(crate) fn close(&self) -> Result<(), i32> {
        self.fate(Faulty::Close, &self.closes, (0, 0), Pipe::default(), Duration::ZERO).result()
    }

    /// Refuses the change if the file system is read-only.
    pub(crate) fn change(&self) -> Result<(), i32> {
        if !self.programme.read_only {
            return Ok(());
        }
        self.faults_met.fetch_add(1, Ordering::Relaxed);
        Err(libc::EROFS)
    }

    /// The number of requests that have hit a fault so far.
    pub(crate) fn faults_met(&self) -> u64 {
        self.faults_met.load(Ordering::Relaxed)
    }

    fn fate(
        &self,
        operation: Faulty,
        lane: &Lane,
        (offset, bytes): (u64, u64),
        pipe: Pipe,
        latency: Duration,
    ) -> Fate {
        let number = lane.count.fetch_add(1, Ordering::Relaxed) + 1;
        let met = |fault: &&Fault| {
            fault.operation == operation
                && match fault.when {
                    When::Always => true,
                    When::Number(n) => number == n,
                    When::From(n) => number >= n,
                    When::Every(n) => number.is_multiple_of(n),
                    When::Covering(at) => (offset..offset + bytes).contains(&at),
                }
        };
        let effect = self.programme.faults.iter().find(met).map(|fault| fault.effect);
        if effect.is_some() {
            self.faults_met.fetch_add(1, Ordering::Relaxed);
        }
        Fate { due: lane.moved(Instant::now(), bytes, pipe) + latency, effect }
    }
}

impl Lane {
    /// When `bytes` that arrive at `now` have passed through the pipe, or fit in the cache in front of it. Earlier
    /// requests pass through first.
    fn moved(&self, now: Instant, bytes: u64, pipe: Pipe) -> Instant {
        let Some(bandwidth) = pipe.bandwidth else { return now };
        let time_of = |bytes: u64| Duration::from_secs_f64(bytes as f64 / bandwidth.max(1) as f64);
        let mut free_at = self.free_at.lock().unwrap_or_else(PoisonError::into_inner);
        let start = free_at.map_or(now, |at| at.max(now));
        let end = start + time_of(bytes);
        *free_at = Some(end);
        end.checked_sub(time_of(pipe.cache_bytes)).map_or(now, |at| at.max(now))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Active, Effect, Fault, Lane, Pipe, Programme, When};

    #[test]
    fn faults_meet_the_requests_that_they_name() {
        let faults = vec![
            Fault::on_read(When::Number(2), Effect::EIO),
            Fault::on_read(When::Covering(8192), Effect::Short(512)),
            Fault::on_write(When::From(2), Effect::Error(28)),
        ];
        let active = Active::new(Programme { faults, ..Programme::default() });
        assert_eq!(active.read(0, 4096).effect, None);
        assert_eq!(active.read(0, 4096).effect, Some(Effect::EIO));
        assert_eq!(active.read(4096, 4096).effect, None, "the byte at 8192 is not in it");
        assert_eq!(active.read(8192, 4096).effect, Some(Effect::Short(512)));
        let writes = [(); 3].map(|()| active.write(0, 1).effect);
        assert_eq!(writes, [None, Some(Effect::Error(28)), Some(Effect::Error(28))]);
        assert_eq!(active.sync().effect, None);
        assert_eq!(active.faults_met(), 4);
    }

    #[test]
    fn opens_closes_and_changes_have_faults_of_their_own() {
        let faults = vec![Fault::on_open(When::Every(2), 5), Fault::on_close(When::Number(1), 28)];
        let active = Active::new(Programme { faults, ..Programme::default() });
        assert_eq!([(); 4].map(|()| active.open()), [Ok(()), Err(5), Ok(()), Err(5)]);
        assert_eq!([active.close(), active.close(), active.change()], [Err(28), Ok(()), Ok(())]);
        let active = Active::new(Programme { read_only: true, ..Programme::default() });
        assert_eq!((active.change(), active.faults_met()), (Err(libc::EROFS), 1));
    }

    #[test]
    fn requests_share_the_bandwidth_and_idle_time_is_not_saved_up() {
        let (lane, now) = (Lane::default(), Instant::now());
        let second = Duration::from_secs(1);
        let pipe = Pipe { bandwidth: Some(1000), cache_bytes: 0 };
        assert_eq!(lane.moved(now, 500, pipe), now + second / 2);
        assert_eq!(lane.moved(now, 500, pipe), now + second);
        assert_eq!(lane.moved(now + 5 * second, 1000, pipe), now + 6 * second);
        assert_eq!(lane.moved(now, 1 << 40, Pipe::default()), now);
    }

    #[test]
    fn what_fits_into_the_cache_does_not_wait_and_the_rest_waits_for_its_drain() {
        let (lane, now) = (Lane::default(), Instant::now());
        let second = Duration::from_secs(1);
        let pipe = Pipe { bandwidth: Some(1000), cache_bytes: 2000 };
        assert_eq!(lane.moved(now, 2000, pipe), now);
        assert_eq!(lane.moved(now, 1000, pipe), now + second);
        assert_eq!(lane.moved(now + 3 * second, 2000, pipe), now + 3 * second, "it is empty again");
    }
}
