//! A job's transfer counters, in a small file read by its launcher.
//!
//! The file contains one record: its sequence number, 18 counters, and the XXH64 of both, as little-endian
//! 64-bit words. It is written with one `pwrite(2)` and read with one `pread(2)`. The kernel does not
//! guarantee that a reader sees either all or nothing of a write; the hash detects a mix of two records.

use std::fs::{File, OpenOptions};
use std::hash::Hasher;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use twox_hash::XxHash64;

use crate::Counters;

/// Number of counters: six for each of three spaces.
const COUNTERS: usize = 18;
/// Number of words in the record: the sequence number, the counters, the hash.
const WORDS: usize = COUNTERS + 2;
/// Size of the record in bytes.
const RECORD_BYTES: usize = WORDS * 8;
/// Maximum number of attempts after an inconsistent read; the next write is 10 ms away.
const LOOKS: u32 = 16;

/// Why counters of a job could not be read.
#[derive(Debug, thiserror::Error)]
pub enum CountersError {
    /// The read failed.
    #[error("the counters of a job cannot be read: {0}")]
    Unreadable(#[source] io::Error),
    /// Every read was inconsistent.
    #[error(
        "the counters of a job were inconsistent in each of {LOOKS} reads: is another program writing \
             them?"
    )]
    Torn,
}

impl Counters {
    /// The last counters that the job has written to the file at `fd`; zeros if there are none yet. The file
    /// position of `fd` is neither used nor changed.
    ///
    /// # Errors
    /// Errors if the file cannot be read, or contains something else.
    pub fn read_from(fd: BorrowedFd<'_>) -> Result<Self, CountersError> {
        for _ in 0..LOOKS {
            let mut record = [0_u8; RECORD_BYTES];
            match rustix::io::retry_on_intr(|| rustix::io::pread(fd, &mut record, 0)) {
                Ok(0) => return Ok(Self::default()),
                Ok(_) => {}
                Err(error) => return Err(CountersError::Unreadable(error.into())),
            }
            if let Some((_, counters)) = decoded(&record) {
                return Ok(counters);
            }
        }
        Err(CountersError::Torn)
    }

    /// All numbers, in file order.
    const fn groups(&self) -> [&[u64; 3]; 6] {
        let Self { read_bytes, write_bytes, reads, writes, held_bytes, peak_bytes } = self;
        [read_bytes, write_bytes, reads, writes, held_bytes, peak_bytes]
    }
}

/// The record of `counters`.
fn encoded(sequence: u64, counters: &Counters) -> [u8; RECORD_BYTES] {
    let mut record = [0_u8; RECORD_BYTES];
    let numbers = counters.groups().into_iter().flatten();
    let words = std::iter::once(&sequence).chain(numbers);
    for (place, word) in record.chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    let (said, hash) = record.split_at_mut(RECORD_BYTES - 8);
    hash.copy_from_slice(&hash_of(said).to_le_bytes());
    record
}

/// The sequence number and counters in `record`, or `None` if it is inconsistent.
fn decoded(record: &[u8; RECORD_BYTES]) -> Option<(u64, Counters)> {
    let mut words = [0_u64; WORDS];
    for (word, bytes) in words.iter_mut().zip(record.chunks_exact(8)) {
        *word = u64::from_le_bytes(bytes.try_into().ok()?);
    }
    if words[WORDS - 1] != hash_of(&record[..RECORD_BYTES - 8]) {
        return None;
    }
    let group = |place: usize| [words[1 + 3 * place], words[2 + 3 * place], words[3 + 3 * place]];
    let counters = Counters {
        read_bytes: group(0),
        write_bytes: group(1),
        reads: group(2),
        writes: group(3),
        held_bytes: group(4),
        peak_bytes: group(5),
    };
    Some((words[0], counters))
}

fn hash_of(bytes: &[u8]) -> u64 {
    let mut hash = XxHash64::with_seed(0);
    hash.write(bytes);
    hash.finish()
}

/// The file to which a job writes its counters.
#[derive(Debug)]
pub struct CountersFile {
    file: File,
    sequence: u64,
}

impl CountersFile {
    /// Opens the file that this process has inherited as descriptor `fd`.
    ///
    /// # Errors
    /// Errors if there is no such descriptor, or no `/proc`.
    pub fn inherited(fd: i32) -> io::Result<Self> {
        // Opened again, because the number alone does not prove that the descriptor is open.
        let file = OpenOptions::new().write(true).open(format!("/proc/self/fd/{fd}"))?;
        Ok(Self { file, sequence: 0 })
    }

    /// Writes `counters`.
    ///
    /// # Errors
    /// Errors if the file cannot be written.
    pub fn tell(&mut self, counters: &Counters) -> io::Result<()> {
        self.sequence += 1;
        let record = encoded(self.sequence, counters);
        let written = rustix::io::retry_on_intr(|| rustix::io::pwrite(self.file.as_fd(), &record, 0))?;
        if written == RECORD_BYTES { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::{AsFd, AsRawFd};
    use std::os::unix::fs::FileExt;
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::fs::{MemfdFlags, memfd_create};

    use super::{Counters, CountersError, CountersFile, RECORD_BYTES, decoded, encoded};

    /// Counters that differ in each position.
    fn some(from: u64) -> Counters {
        let three = |start: u64| [from + start, from + start + 1, from + start + 2];
        Counters {
            read_bytes: three(0),
            write_bytes: three(3),
            reads: three(6),
            writes: three(9),
            held_bytes: three(12),
            peak_bytes: three(15),
        }
    }

    fn memory_file() -> File {
        memfd_create("counters", MemfdFlags::CLOEXEC).expect("a file in memory").into()
    }

    #[test]
    fn what_a_job_tells_is_what_its_launcher_reads() {
        let file = memory_file();
        assert_eq!(Counters::read_from(file.as_fd()).unwrap(), Counters::default(), "nothing is told yet");
        let mut told = CountersFile::inherited(file.as_raw_fd()).unwrap();
        for from in [1, 1000] {
            told.tell(&some(from)).unwrap();
            assert_eq!(Counters::read_from(file.as_fd()).unwrap(), some(from));
        }
    }

    #[test]
    fn parts_of_two_writes_are_told_apart_from_one() {
        let (first, second) = (encoded(7, &some(0)), encoded(8, &some(0)));
        for cut in (8..RECORD_BYTES).step_by(8) {
            let torn: Vec<u8> = second[..cut].iter().chain(&first[cut..]).copied().collect();
            assert_eq!(decoded(&torn.try_into().unwrap()), None, "cut at {cut}");
        }
        let file = memory_file();
        file.write_all_at(&second[..80], 0).unwrap();
        assert!(matches!(Counters::read_from(file.as_fd()), Err(CountersError::Torn)));
    }

    #[test]
    fn a_descriptor_that_is_not_open_is_an_error() {
        let closed = memory_file().as_raw_fd();
        assert!(CountersFile::inherited(closed.max(1000)).is_err());
    }

    /// All numbers read beside a writer belong to one record.
    #[test]
    fn a_reader_beside_a_writer_sees_whole_records() {
        let file = memory_file();
        let mut told = CountersFile::inherited(file.as_raw_fd()).unwrap();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                (1..200_000).for_each(|from| told.tell(&some(from)).unwrap());
                over.store(true, Ordering::Release);
            });
            let mut last = 0;
            while !over.load(Ordering::Acquire) {
                // A writer without a pause may tear all reads.
                let Ok(seen) = Counters::read_from(file.as_fd()) else { continue };
                let from = seen.read_bytes[0];
                assert!(from == 0 || seen == some(from), "{seen:?}");
                assert!(from >= last, "{from} after {last}");
                last = from;
            }
        });
        assert_eq!(Counters::read_from(file.as_fd()).unwrap(), some(199_999));
    }
}
