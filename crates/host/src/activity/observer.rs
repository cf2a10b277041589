//! Activity of the block devices and interference by the node during a phase, interval by interval.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use record::{DeviceRow, PhaseKey};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::activity::load::{LOOK, LoadSample, LoadWatch};
use crate::devices::counters::CounterFile;
use crate::{DeviceCounters, HostError, Root};

/// The thread only reads small files and compares numbers, so it needs little stack.
const STACK_BYTES: usize = 128 * 1024;

/// One interval of one device, as differences of the kernel's counters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceSample {
    /// Start of the interval, from the start of the observer.
    pub start_ns: u64,
    /// Length of the interval.
    pub length_ns: u64,
    /// The increase of the counters.
    pub counters: DeviceCounters,
}

impl DeviceSample {
    /// Converts the sample to a row of the record for this node.
    #[must_use]
    pub fn into_row(self, key: PhaseKey, node: &str) -> DeviceRow {
        let counters = self.counters;
        DeviceRow {
            key,
            node: node.into(),
            device: counters.device.into(),
            start_ns: self.start_ns,
            length_ns: self.length_ns,
            reads: counters.reads,
            read_bytes: counters.read_bytes,
            read_time_ns: counters.read_time_ns,
            writes: counters.writes,
            write_bytes: counters.write_bytes,
            write_time_ns: counters.write_time_ns,
            busy_ns: counters.busy_ns,
            queue_time_ns: counters.queue_time_ns,
        }
    }
}

/// What was observed from start to stop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observed {
    /// Value of `CLOCK_MONOTONIC_RAW` at the start of the observer.
    pub started_raw_ns: u64,
    /// The samples of one device after the other, in the order given at the start.
    pub devices: Vec<DeviceSample>,
    /// The samples of the node, ordered by time.
    pub load: Vec<LoadSample>,
}

/// Watches devices and the node in its own thread, which takes samples and checks the clock in between.
///
/// A snapshot is taken at the start, at every interval and at the stop, so that the samples of a device
/// add up to exactly its activity from start to stop.
#[derive(Debug)]
pub struct Observer {
    stop: Arc<(Mutex<bool>, Condvar)>,
    started: Instant,
    thread: Option<JoinHandle<Observed>>,
}

impl Observer {
    /// Starts watching `devices` and the node, on which this process and `mates` belong to the run. The counters have
    /// been read when this returns.
    ///
    /// # Errors
    /// Errors if a device has no counters, or if no thread can be started.
    pub fn start(
        root: &Root,
        devices: &[String],
        mates: &BTreeSet<u32>,
        interval: Duration,
    ) -> Result<Self, HostError> {
        let files =
            devices.iter().map(|device| CounterFile::open(root, device)).collect::<Result<Vec<_>, _>>()?;
        let mut watches = Vec::with_capacity(files.len());
        let (started, raw) = (Instant::now(), clock_gettime(ClockId::MonotonicRaw));
        let started_raw_ns = u64::try_from(i128::from(raw.tv_sec) * 1_000_000_000 + i128::from(raw.tv_nsec));
        let started_raw_ns = started_raw_ns.unwrap_or_default();
        for file in files {
            let last = file.read()?;
            watches.push(ObservedDevice { file, last, last_at: started, samples: Vec::new() });
        }
        let load = LoadWatch::new(root, mates);
        let mut watches = ObservedDevices { started_raw_ns, devices: watches, load, seen: Vec::new() };
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let signal = Arc::clone(&stop);
        let thread = thread::Builder::new()
            .name("observer".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || {
                watches.watch(&signal, started, interval);
                watches.observed()
            })
            .map_err(|error| {
                HostError::io("start a thread that monitors", &root.path("/sys/class/block"), error)
            })?;
        Ok(Self { stop, started, thread: Some(thread) })
    }

    /// The start time, from which the `start_ns` of every sample counts.
    #[must_use]
    pub fn started(&self) -> Instant {
        self.started
    }

    /// Takes the last snapshot and returns all samples.
    #[must_use]
    pub fn stop(mut self) -> Observed {
        self.finish()
    }

    fn finish(&mut self) -> Observed {
        *self.stop.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.1.notify_all();
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.finish();
    }
}

/// One device under observation.
struct ObservedDevice {
    file: CounterFile,
    last: DeviceCounters,
    last_at: Instant,
    samples: Vec<DeviceSample>,
}

impl ObservedDevice {
    /// Takes a sample. A device that has disappeared yields no more samples, but its earlier samples are kept.
    /// Returns whether the device had no request during the whole interval.
    fn sample(&mut self, started: Instant) -> bool {
        let Ok(counters) = self.file.read() else { return false };
        let now = Instant::now();
        let delta = counters.since(&self.last);
        let idle = delta.reads + delta.writes + delta.under_way == 0;
        self.samples.push(DeviceSample {
            start_ns: nanoseconds(self.last_at.duration_since(started)),
            length_ns: nanoseconds(now.duration_since(self.last_at)),
            counters: delta,
        });
        self.last = counters;
        self.last_at = now;
        idle
    }
}

/// Everything that is watched.
struct ObservedDevices {
    started_raw_ns: u64,
    devices: Vec<ObservedDevice>,
    load: LoadWatch,
    seen: Vec<LoadSample>,
}

impl ObservedDevices {
    fn sample(&mut self, started: Instant) {
        let idle =
            self.devices.iter_mut().map(|watch| watch.sample(started)).filter(|idle| !idle).count() == 0;
        let idle = idle && !self.devices.is_empty();
        self.seen.push(self.load.sample(started, idle));
    }

    fn observed(self) -> Observed {
        let devices = self.devices.into_iter().flat_map(|watch| watch.samples).collect();
        Observed { started_raw_ns: self.started_raw_ns, devices, load: self.seen }
    }

    /// Samples at multiples of the interval from the start, so that a late wake-up does not move later samples.
    /// Checks the clock more often.
    fn watch(&mut self, stop: &(Mutex<bool>, Condvar), started: Instant, interval: Duration) {
        let mut next = started + interval;
        let mut due = Instant::now();
        let mut stopped = stop.0.lock().unwrap_or_else(PoisonError::into_inner);
        while !*stopped {
            let now = Instant::now();
            self.load.look(now.saturating_duration_since(due));
            if now >= next {
                drop(stopped);
                self.sample(started);
                while next <= now {
                    next += interval.max(Duration::from_millis(1));
                }
                stopped = stop.0.lock().unwrap_or_else(PoisonError::into_inner);
            }
            due = next.min(Instant::now() + LOOK);
            if !*stopped {
                let waited = stop.1.wait_timeout(stopped, due.saturating_duration_since(Instant::now()));
                stopped = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        drop(stopped);
        self.load.look(Instant::now().saturating_duration_since(due));
        self.sample(started);
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
