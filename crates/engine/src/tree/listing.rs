//! Reads the names in a directory in batches.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, RawDir, StatxFlags};

use crate::Errno;
use crate::tree::walk::again;

/// Size of the buffer for the names read from a directory at once, in bytes.
pub(crate) const LIST_BYTES: usize = 64 << 10;

/// Passes on one batch of names of the directory `open`, each with its type. Returns `false` at the end
/// of the directory.
pub(crate) fn names(
    open: &OwnedFd,
    bytes: &mut [MaybeUninit<u8>],
    mut take: impl FnMut(&CStr, FileType),
) -> Result<bool, Errno> {
    let mut entries = RawDir::new(open, bytes);
    loop {
        match entries.next() {
            None => return Ok(false),
            Some(Err(rustix::io::Errno::INTR)) => continue,
            Some(Err(errno)) => return Err(errno.into()),
            Some(Ok(entry)) => {
                let (name, mut kind) = (entry.file_name(), entry.file_type());
                if kind == FileType::Unknown {
                    let looked =
                        again(|| rustix::fs::statx(open, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::TYPE));
                    kind = match looked {
                        Ok(status) => FileType::from_raw_mode(status.stx_mode.into()),
                        Err(Errno(libc::ENOENT)) => FileType::RegularFile,
                        Err(errno) => return Err(errno),
                    };
                }
                if !matches!(name.to_bytes(), b"." | b"..") {
                    take(name, kind);
                }
            }
        }
        if entries.is_buffer_empty() {
            return Ok(true);
        }
    }
}
