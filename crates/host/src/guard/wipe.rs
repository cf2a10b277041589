//! Wipes a device, and reclaims one that a layout has used.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::SeekFrom;

use super::content::{self, Signature};
use super::{Guard, PermittedDevice, Reason, Refusal};
use crate::system::sys;
use crate::{DeviceNumber, HostError};

impl Guard {
    /// Claims a device that a layout has written, provided that it is not in use. Checking its content is
    /// up to the caller.
    ///
    /// # Errors
    /// Errors if it no longer is the device with this number, or if something uses it.
    pub(crate) fn reclaim(&self, path: &Path, number: DeviceNumber) -> Result<PermittedDevice, Refusal> {
        let (device, mut reasons) = self.look_at(path)?;
        if device.number != number {
            let error = format!("it was device {number}, and is now {}", device.number);
            reasons = vec![Reason::CannotOpen { error }];
        }
        if !reasons.is_empty() {
            return Err(Refusal { path: path.to_owned(), reasons });
        }
        Ok(device)
    }

    /// The signatures on a device, in the order reported by util-linux.
    pub(crate) fn signatures(path: &Path) -> Result<Vec<Signature>, Reason> {
        content::found_signatures(path)
    }
}

impl PermittedDevice {
    /// Discards the device, then overwrites any remaining data with zeros at the places that
    /// [`Guard::permit`] examines: some devices do not return zeros after a discard, and some cannot
    /// discard.
    ///
    /// # Errors
    /// Errors if the device cannot be opened for writing or written, or if another device has taken its
    /// place.
    pub(crate) fn wipe(&self) -> Result<Wiped, HostError> {
        let failed = |error: io::Error| HostError::io("wipe", &self.path, error);
        let (file, bytes) = self.writable().map_err(failed)?;
        let discarded_bytes = match sys::discard(&file, 0, bytes) {
            Ok(()) => bytes,
            Err(error) if is_unsupported(&error) => 0,
            Err(error) => return Err(failed(error)),
        };
        let overwritten_bytes = blank(&file, bytes).map_err(failed)?;
        Ok(Wiped { discarded_bytes, overwritten_bytes })
    }

    /// Discards every byte of the device (`BLKDISCARD`), and returns the number of bytes.
    ///
    /// # Errors
    /// Errors if the device cannot be opened for writing or cannot discard, or if another device has
    /// taken its place.
    pub fn discard(&self) -> Result<u64, HostError> {
        let failed = |error: io::Error| HostError::io("discard", &self.path, error);
        let (file, bytes) = self.writable().map_err(failed)?;
        sys::discard(&file, 0, bytes).map_err(failed)?;
        Ok(bytes)
    }

    /// Opens the device for writing, and returns it with its size in bytes.
    fn writable(&self) -> io::Result<(File, u64)> {
        let file = OpenOptions::new().read(true).write(true).open(&self.path)?;
        if !self.is_same(&file) {
            return Err(io::Error::other("another device took its place"));
        }
        let bytes = rustix::fs::seek(&file, SeekFrom::End(0))?;
        Ok((file, bytes))
    }
}

/// How a device was wiped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wiped {
    /// Number of bytes discarded; 0 if the device cannot discard.
    discarded_bytes: u64,
    /// Number of bytes overwritten, in the samples that contained data other than zeros.
    overwritten_bytes: u64,
}

impl fmt::Display for Wiped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.discarded_bytes, self.overwritten_bytes) {
            (0, overwritten) => write!(
                f,
                "it does not support discard: {overwritten} bytes of the data found on it were overwritten \
                 with zeros"
            ),
            (discarded, 0) => write!(f, "discarded {discarded} bytes"),
            (discarded, overwritten) => write!(
                f,
                "discarded {discarded} bytes; it does not read as zeros afterwards: {overwritten} bytes \
                 were overwritten"
            ),
        }
    }
}

fn is_unsupported(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported || error.raw_os_error() == Some(libc::ENOTTY)
}

/// Writes zeros to all sampled places that contain other data.
fn blank(file: &File, size_bytes: u64) -> io::Result<u64> {
    let mut overwritten = 0;
    for (offset, length) in content::places(size_bytes) {
        let mut sample = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        file.read_exact_at(&mut sample, offset)?;
        if sample.iter().any(|byte| *byte != 0) {
            sample.fill(0);
            file.write_all_at(&sample, offset)?;
            overwritten += length;
        }
    }
    file.sync_all()?;
    // The samples must not be served from the page cache later. A failure here is harmless.
    let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed);
    Ok(overwritten)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::blank;
    use crate::guard::content::first_unknown;

    #[test]
    fn what_the_guard_would_find_is_overwritten_and_nothing_else() {
        let file = tempfile::tempfile().unwrap();
        let bytes = 160 << 20;
        file.set_len(bytes).unwrap();
        for offset in [0, (64 << 20) + 64, bytes - 512, 90 << 20] {
            file.write_all_at(b"data", offset).unwrap();
        }
        let overwritten = blank(&file, bytes).unwrap();
        assert_eq!(first_unknown(&file, &|_| false).unwrap(), None);
        assert_eq!(overwritten, (2 << 20) + 4096, "two ends and a copy of a super block");
        assert_eq!(blank(&file, bytes).unwrap(), 0, "nothing is written twice");
    }
}
