//! The kernel's counters of a block device.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::devices::block::SECTOR_BYTES;
use crate::{HostError, Root};

/// Maximum length of a line of counters: 17 numbers of up to 20 digits, separated by spaces.
const LINE_BYTES: usize = 512;
/// The kernel counts times in milliseconds in 32 bits, so they wrap to 0 after 49 days.
const TIME_PERIOD_NS: u64 = (1 << 32) * NS_PER_MS;
const NS_PER_MS: u64 = 1_000_000;

/// Activity of a device since it appeared. The columns are those of `Documentation/admin-guide/iostats.rst`
/// of Linux: fields 1, 3, 4, 5, 7, 8, 9, 10 and 11.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceCounters {
    /// The kernel's name, for example `nvme0n1`.
    pub device: String,
    /// Number of completed reads.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Sum of the durations of the reads.
    pub read_time_ns: u64,
    /// Number of completed writes.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Sum of the durations of the writes.
    pub write_time_ns: u64,
    /// Number of requests in flight now.
    pub under_way: u64,
    /// Time during which at least one request was in flight.
    pub busy_ns: u64,
    /// Number of requests in flight, integrated over time.
    pub queue_time_ns: u64,
}

impl DeviceCounters {
    /// Reads the counters of `devices`, in the same order.
    ///
    /// # Errors
    /// Errors if a device has no readable counters.
    pub fn read(root: &Root, devices: &[String]) -> Result<Vec<Self>, HostError> {
        devices.iter().map(|device| CounterFile::open(root, device)?.read()).collect()
    }

    /// The increase since `earlier`; `under_way` keeps the current value.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            device: self.device.clone(),
            reads: self.reads.wrapping_sub(earlier.reads),
            read_bytes: self.read_bytes.wrapping_sub(earlier.read_bytes),
            read_time_ns: time_since(self.read_time_ns, earlier.read_time_ns),
            writes: self.writes.wrapping_sub(earlier.writes),
            write_bytes: self.write_bytes.wrapping_sub(earlier.write_bytes),
            write_time_ns: time_since(self.write_time_ns, earlier.write_time_ns),
            under_way: self.under_way,
            busy_ns: time_since(self.busy_ns, earlier.busy_ns),
            queue_time_ns: time_since(self.queue_time_ns, earlier.queue_time_ns),
        }
    }

    fn parse(device: &str, line: &str) -> Option<Self> {
        let mut fields = line.split_ascii_whitespace().map(|field| field.parse::<u64>().ok());
        let mut next = || fields.next().flatten();
        let (reads, _reads_merged, read_sectors, read_ms) = (next()?, next()?, next()?, next()?);
        let (writes, _writes_merged, write_sectors, write_ms) = (next()?, next()?, next()?, next()?);
        let (under_way, busy_ms, queue_ms) = (next()?, next()?, next()?);
        Some(Self {
            device: device.to_owned(),
            reads,
            read_bytes: read_sectors.wrapping_mul(SECTOR_BYTES),
            read_time_ns: read_ms.wrapping_mul(NS_PER_MS),
            writes,
            write_bytes: write_sectors.wrapping_mul(SECTOR_BYTES),
            write_time_ns: write_ms.wrapping_mul(NS_PER_MS),
            under_way,
            busy_ns: busy_ms.wrapping_mul(NS_PER_MS),
            queue_time_ns: queue_ms.wrapping_mul(NS_PER_MS),
        })
    }
}

/// Difference of times; a decrease means that the counter wrapped to 0.
fn time_since(now_ns: u64, earlier_ns: u64) -> u64 {
    if now_ns >= earlier_ns {
        now_ns - earlier_ns
    } else {
        now_ns.wrapping_add(TIME_PERIOD_NS).wrapping_sub(earlier_ns)
    }
}

/// The counters of one device. The file is kept open so that a sample takes a single read.
#[derive(Debug)]
pub(crate) struct CounterFile {
    device: String,
    path: PathBuf,
    file: File,
}

impl CounterFile {
    pub(crate) fn open(root: &Root, device: &str) -> Result<Self, HostError> {
        let name = format!("/sys/class/block/{device}/stat");
        let path = root.path(&name);
        let file = root.open(&name).map_err(|error| HostError::io("open", &path, error))?;
        Ok(Self { device: device.to_owned(), path, file })
    }

    pub(crate) fn read(&self) -> Result<DeviceCounters, HostError> {
        let mut line = [0; LINE_BYTES];
        let length =
            self.file.read_at(&mut line, 0).map_err(|error| HostError::io("read", &self.path, error))?;
        let text = String::from_utf8_lossy(&line[..length]);
        DeviceCounters::parse(&self.device, &text).ok_or_else(|| HostError::Malformed {
            path: self.path.clone(),
            expected: "at least eleven numbers",
            found: text.trim().to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{DeviceCounters, NS_PER_MS};

    #[test]
    fn the_columns_are_those_of_the_documentation() {
        let line = "   66634    12250  6847634    72122    50996    31109  4939240    15348        3    21548    88605    10131       21   924792      934     5177      199\n";
        let counters = DeviceCounters::parse("vda", line).unwrap();
        assert_eq!(counters.reads, 66_634);
        assert_eq!(counters.read_bytes, 6_847_634 * 512);
        assert_eq!(counters.read_time_ns, 72_122 * NS_PER_MS);
        assert_eq!(counters.writes, 50_996);
        assert_eq!(counters.write_bytes, 4_939_240 * 512);
        assert_eq!(counters.write_time_ns, 15_348 * NS_PER_MS);
        assert_eq!(counters.under_way, 3);
        assert_eq!(counters.busy_ns, 21_548 * NS_PER_MS);
        assert_eq!(counters.queue_time_ns, 88_605 * NS_PER_MS);
        assert_eq!(DeviceCounters::parse("vda", "1 2 3 4 5 6 7 8 9 10"), None, "one field short");
    }

    proptest! {
        #[test]
        fn a_difference_survives_the_end_of_the_kernels_32_bits(start_ms in 0_u64..1 << 32, added_ms in 0_u64..1 << 32) {
            let at = |ms: u64| DeviceCounters { busy_ns: ms % (1 << 32) * NS_PER_MS, ..DeviceCounters::default() };
            prop_assert_eq!(at(start_ms + added_ms).since(&at(start_ms)).busy_ns, added_ms * NS_PER_MS);
        }

        #[test]
        fn parts_of_an_interval_add_up_to_the_whole(a in 0_u64..1 << 40, b in 0_u64..1 << 40) {
            let at = |reads| DeviceCounters { reads, ..DeviceCounters::default() };
            let (start, middle, end) = (at(7), at(7 + a), at(7 + a + b));
            prop_assert_eq!(middle.since(&start).reads + end.since(&middle).reads, end.since(&start).reads);
        }
    }
}
