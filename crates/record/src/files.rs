//! Files that are either whole or not there.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::RecordError;

/// The name under which `path` is written until it is whole. Hidden, so that `*.parquet` does
/// not match it.
pub(crate) fn unfinished(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    path.with_file_name(format!(".{name}.unfinished"))
}

/// Makes names in `directory` durable.
pub(crate) fn sync_directory(directory: &Path) -> Result<(), RecordError> {
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(RecordError::io("sync", directory))
}

/// Puts `bytes` in place of whatever is at `path`: a reader sees the old file or the new one,
/// never a part. The mode follows the user's umask.
pub(crate) fn replace(path: &Path, bytes: &[u8], durable: bool) -> Result<(), RecordError> {
    let temporary = unfinished(path);
    let write = || {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&temporary)?;
        file.write_all(bytes)?;
        if durable { file.sync_all() } else { Ok(()) }
    };
    let put = write().and_then(|()| fs::rename(&temporary, path));
    if put.is_err() {
        // The error that counts is the first; a leftover is overwritten by the next attempt.
        let _ = fs::remove_file(&temporary);
    }
    put.map_err(RecordError::io("write", path))?;
    match path.parent() {
        Some(parent) if durable => sync_directory(parent),
        _ => Ok(()),
    }
}

/// FNV-1a, 64 bits (Fowler, Noll and Vo; RFC 9923): tells a damaged file from a whole one. It is
/// no defence against forgery.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Checksum(u64);

impl Checksum {
    pub(crate) const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// Sixteen hexadecimal digits.
    pub(crate) fn text(self) -> String {
        format!("{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Checksum;

    /// Test vectors of RFC 9923 (and of the authors' page).
    #[test]
    fn the_checksum_is_fnv_1a() {
        let of = |bytes: &[u8]| {
            let mut checksum = Checksum::new();
            checksum.update(bytes);
            checksum.text()
        };
        assert_eq!(of(b""), "cbf29ce484222325");
        assert_eq!(of(b"a"), "af63dc4c8601ec8c");
        assert_eq!(of(b"foobar"), "85944171f73967e8");
    }
}
