//! File systems that stand still for a while, or for good.
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
/// The file system goes down without writing anything more.
static NOTHING_WRITTEN: u32 = 2;

/// Shuts down the file system that holds `directory`.
pub(crate) fn shut_down(directory: &Path) -> Result<(), Error> {
    let handle = File::open(directory).map_err(Error::file(directory))?;
    // SAFETY: the request reads one u32, which lives as long as the call.
    let result = unsafe { libc::ioctl(handle.as_raw_fd(), SHUT_DOWN, &raw const NOTHING_WRITTEN) };
    if result == 0 { Ok(()) } else { Err(Error::file(directory)(io::Error::last_os_error())) }
}

/// A frozen file system: writes to it wait until this guard is dropped.
#[derive(Debug)]
pub struct Frozen {
    directory: File,
}

impl Frozen {
    /// Freezes the file system that holds `directory`. Dirty data is written out first.
    ///
    /// # Errors
    /// The file system cannot be frozen, or is frozen by somebody else.
    pub fn new(directory: &Path) -> Result<Self, Error> {
        let handle = File::open(directory).map_err(Error::file(directory))?;
        request(&handle, FIFREEZE).map_err(Error::file(directory))?;
        Ok(Self { directory: handle })
    }

    /// Lets the writes go on; the same as dropping the guard, but says when it fails.
    ///
    /// # Errors
    /// The file system is not frozen any more.
    pub fn thaw(self) -> Result<(), Error> {
        request(&self.directory, FITHAW).map_err(Error::file("FITHAW"))
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        // Fails only where somebody else has thawed it, which is the wanted state.
        let _ = request(&self.directory, FITHAW);
    }
}

fn request(directory: &File, code: libc::c_ulong) -> io::Result<()> {
    // SAFETY: both requests ignore their argument, and the descriptor is open as long as the borrow.
    let result = unsafe { libc::ioctl(directory.as_raw_fd(), code, 0) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
