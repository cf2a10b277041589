//! Freezing a file system for a while, and shutting it down permanently.
#![expect(unsafe_code, reason = "FIFREEZE, FITHAW and FS_IOC_SHUTDOWN have no safe wrapper")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use crate::Error;

/// `FIFREEZE` of `linux/fs.h`: `_IOWR('X', 119, int)`.
const FIFREEZE: libc::c_ulong = 0xc004_5877;
/// `FITHAW` of `linux/fs.h`: `_IOWR('X', 120, int)`.
const FITHAW: libc::c_ulong = 0xc004_5878;
/// `XFS_IOC_GOINGDOWN` and `EXT4_IOC_SHUTDOWN`, the same request: `_IOR('X', 125, __u32)`.
const SHUT_DOWN: libc::c_ulong = 0x8004_587d;
/// Shuts down without writing anything more.
static NOTHING_WRITTEN: u32 = 2;

/// Shuts down the file system that holds `directory`.
pub(crate) fn shut_down(directory: &Path) -> Result<(), Error> {
    let handle = File::open(directory).map_err(Error::file(directory))?;
    // SAFETY: the request reads one u32, which lives as long as the call.
    let result = unsafe { libc::ioctl(handle.as_raw_fd(), SHUT_DOWN, &raw const NOTHING_WRITTEN) };
    if result == 0 { Ok(()) } else { Err(Error::file(directory)(io::Error::last_os_error())) }
}

/// A frozen file system: writes to it block until this guard is dropped.
#[derive(Debug)]
pub struct Frozen {
    directory: File,
}

impl Frozen {
    /// Freezes the file system that holds `directory`. Dirty data is written out first.
    ///
    /// # Errors
    /// The file system cannot be frozen, or is already frozen.
    pub fn new(directory: &Path) -> Result<Self, Error> {
        let handle = File::open(directory).map_err(Error::file(directory))?;
        request(&handle, FIFREEZE).map_err(Error::file(directory))?;
        Ok(Self { directory: handle })
    }

    /// Unfreezes the file system. Unlike dropping the guard, this reports errors.
    ///
    /// # Errors
    /// The file system is no longer frozen.
    pub fn thaw(self) -> Result<(), Error> {
        request(&self.directory, FITHAW).map_err(Error::file("FITHAW"))
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        // This fails only if someone else has already thawed it, which is fine.
        let _ = request(&self.directory, FITHAW);
    }
}

fn request(directory: &File, code: libc::c_ulong) -> io::Result<()> {
    // SAFETY: both requests ignore their argument, and the descriptor stays open for the duration of the borrow.
    let result = unsafe { libc::ioctl(directory.as_raw_fd(), code, 0) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
