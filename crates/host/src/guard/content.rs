//! The content of a device: signatures known to util-linux, and any other non-zero data.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rustix::fs::{Advice, SeekFrom};
use serde::{Deserialize, Serialize};

use super::Reason;
use crate::activity::programs;

/// Tests whether 512 bytes were written by this program.
pub(super) type StampTest = dyn Fn(&[u8]) -> bool + Send + Sync;

/// Number of bytes read at each end, where signatures and the tables of volume managers are.
const END_BYTES: u64 = 1 << 20;
/// Number of bytes read for each sample in between.
const SAMPLE_BYTES: u64 = 4096;
/// Number of samples between the ends, evenly spaced.
const SAMPLES: u64 = 64;
/// Offsets of the copies of the btrfs super block, which remain when the beginning is wiped.
const KNOWN_PLACES: [u64; 2] = [64 << 20, 256 << 30];
/// Size of the unit in which this program stamps the data it writes.
const CELL_BYTES: usize = 512;
/// Exit status of `blkid -p` if it found nothing (`blkid(8)`).
const BLKID_NOTHING: i32 = 2;
/// Exit status of `blkid -p` if signatures contradict each other.
const BLKID_AMBIVALENT: i32 = 8;

pub(super) fn reasons(path: &Path, file: &File, is_own_stamp: &StampTest) -> Vec<Reason> {
    let mut reasons = wipefs(path);
    for reason in blkid(path) {
        let is_known = match &reason {
            Reason::Signature { .. } => reasons.iter().any(|known| matches!(known, Reason::Signature { .. })),
            _ => false,
        };
        if !is_known {
            reasons.push(reason);
        }
    }
    match first_unknown(file, is_own_stamp) {
        Ok(Some(offset)) => reasons.push(Reason::UnknownData { offset }),
        Ok(None) => {}
        Err(error) => reasons.push(Reason::CannotOpen { error: error.to_string() }),
    }
    reasons
}

/// Signature of a file system, volume manager or partition table on a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Signature {
    /// The kind, as named by util-linux, for example `xfs`.
    pub(crate) kind: String,
    /// The offset, as printed by util-linux.
    pub(crate) offset: String,
    /// Its UUID; empty if it has none.
    pub(crate) uuid: String,
}

/// Finds each individual signature, even if it is inconsistent with the others.
fn wipefs(path: &Path) -> Vec<Reason> {
    match found_signatures(path) {
        Ok(found) => found
            .into_iter()
            .map(|Signature { kind, offset, .. }| Reason::Signature { kind, offset })
            .collect(),
        Err(reason) => vec![reason],
    }
}

pub(super) fn found_signatures(path: &Path) -> Result<Vec<Signature>, Reason> {
    let failed = |error: String| Reason::ProbeFailed { program: "wipefs", error };
    let arguments = ["--no-act", "--noheadings", "--output", "TYPE,OFFSET,UUID"];
    match run("wipefs", &arguments, path) {
        Ok(output) if output.status.success() => Ok(signatures(&String::from_utf8_lossy(&output.stdout))),
        Ok(output) => Err(failed(complaint(&output))),
        Err(error) => Err(failed(error.to_string())),
    }
}

fn signatures(table: &str) -> Vec<Signature> {
    table
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let mut columns = line.split_ascii_whitespace();
            Signature {
                kind: columns.next().unwrap_or("an unknown kind").to_owned(),
                offset: columns.next().unwrap_or("an unknown offset").to_owned(),
                uuid: columns.next().unwrap_or_default().to_owned(),
            }
        })
        .collect()
}

/// Runs the low-level probe, which also detects formats without magic bytes.
fn blkid(path: &Path) -> Vec<Reason> {
    let failed = |error: String| vec![Reason::ProbeFailed { program: "blkid", error }];
    let output = match run("blkid", &["-p", "-o", "export"], path) {
        Ok(output) => output,
        Err(error) => return failed(error.to_string()),
    };
    let signature = |kind: String| {
        vec![Reason::Signature { kind, offset: "an offset that blkid does not report".to_owned() }]
    };
    match output.status.code() {
        Some(0) => {
            let text = String::from_utf8_lossy(&output.stdout);
            let kind = ["TYPE=", "PTTYPE="]
                .iter()
                .find_map(|key| text.lines().find_map(|line| line.strip_prefix(key)))
                .map(str::to_owned);
            // The entry of the device in a partition table (`PART_ENTRY_…`) says nothing about its
            // content.
            let says_content = text.lines().any(|line| {
                !line.is_empty() && !line.starts_with("DEVNAME=") && !line.starts_with("PART_ENTRY_")
            });
            match kind {
                Some(kind) => signature(kind),
                None if says_content => signature("an unknown kind".to_owned()),
                None => Vec::new(),
            }
        }
        Some(BLKID_NOTHING) if output.stderr.is_empty() => Vec::new(),
        Some(BLKID_AMBIVALENT) => signature("several contradictory kinds".to_owned()),
        _ => failed(complaint(&output)),
    }
}

fn run(program: &str, arguments: &[&str], path: &Path) -> io::Result<Output> {
    let place = programs::find(program).ok_or_else(|| io::Error::new(ErrorKind::NotFound, "not found"))?;
    Command::new(place).args(arguments).arg(path).env("LC_ALL", "C").stdin(Stdio::null()).output()
}

fn complaint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    match text.lines().next() {
        Some(line) => line.to_owned(),
        None => output.status.to_string(),
    }
}

/// The first sampled offset with data that is neither zero nor written by this program.
pub(super) fn first_unknown(file: &File, is_own_stamp: &StampTest) -> io::Result<Option<u64>> {
    let size_bytes = rustix::fs::seek(file, SeekFrom::End(0))?;
    let mut buffer = vec![0; usize::try_from(END_BYTES).map_err(io::Error::other)?];
    let mut found = None;
    for (offset, length) in places(size_bytes) {
        let sample = &mut buffer[..usize::try_from(length).map_err(io::Error::other)?];
        file.read_exact_at(sample, offset)?;
        let is_known = |cell: &[u8]| cell.iter().all(|byte| *byte == 0) || is_own_stamp(cell);
        if let Some(cell) = sample.chunks(CELL_BYTES).position(|cell| !is_known(cell)) {
            found = Some(offset + (cell * CELL_BYTES) as u64);
            break;
        }
    }
    // The samples must not be served from the page cache later. A failure here is harmless.
    let _ = rustix::fs::fadvise(file, 0, None, Advice::DontNeed);
    Ok(found)
}

/// Offset and length of each sample, in ascending order and within the device.
pub(super) fn places(size_bytes: u64) -> Vec<(u64, u64)> {
    if size_bytes <= 2 * END_BYTES {
        let first = size_bytes.min(END_BYTES);
        let all = [(0, first), (first, size_bytes - first)];
        return all.into_iter().filter(|(_, length)| *length > 0).collect();
    }
    let last = size_bytes - END_BYTES;
    let step = last / (SAMPLES + 1);
    let mut between: Vec<u64> = (1..=SAMPLES)
        .map(|number| number * step / SAMPLE_BYTES * SAMPLE_BYTES)
        .chain(KNOWN_PLACES)
        .filter(|offset| *offset >= END_BYTES && offset + SAMPLE_BYTES <= last)
        .collect();
    between.sort_unstable();
    between.dedup();
    let mut places = vec![(0, END_BYTES)];
    places.extend(between.into_iter().map(|offset| (offset, SAMPLE_BYTES)));
    places.push((last, END_BYTES));
    places
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, SeekFrom, Write};

    use proptest::prelude::*;

    use super::{END_BYTES, first_unknown, places, signatures};

    #[test]
    fn data_is_found_at_either_end_and_at_copies_of_super_blocks() {
        for offset in [0_u64, 700, END_BYTES - 1, 64 << 20, (128 << 20) - 1] {
            let mut file = tempfile::tempfile().unwrap();
            file.set_len(128 << 20).unwrap();
            assert_eq!(first_unknown(&file, &|_| false).unwrap(), None);
            file.seek(SeekFrom::Start(offset)).unwrap();
            file.write_all(&[1]).unwrap();
            assert_eq!(first_unknown(&file, &|_| false).unwrap(), Some(offset / 512 * 512));
            assert_eq!(first_unknown(&file, &|cell| cell.contains(&1)).unwrap(), None, "a known stamp");
        }
    }

    #[test]
    fn every_line_of_wipefs_is_a_signature() {
        assert_eq!(signatures("").len(), 0);
        assert_eq!(signatures("gpt 0x200\nPMBR 0x1fe\n\n").len(), 2);
        assert_eq!(signatures("odd\n").len(), 1);
    }

    proptest! {
        #[test]
        fn samples_stay_within_the_device_and_cover_its_ends(size_bytes in 1_u64..1 << 50) {
            let places = places(size_bytes);
            for pair in places.windows(2) {
                prop_assert!(pair[0].0 + pair[0].1 <= pair[1].0);
            }
            prop_assert_eq!(places[0].0, 0);
            let (offset, length) = places[places.len() - 1];
            prop_assert_eq!(offset + length, size_bytes);
            prop_assert!(places[0].1 == END_BYTES.min(size_bytes));
        }
    }
}
