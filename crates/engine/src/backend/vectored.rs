//! The backend `vectored`: `preadv(2)` and `pwritev(2)`, each transfer in one call from several pieces of
//! memory.

#![expect(unsafe_code, reason = "hands pieces of a buffer to the kernel")]

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use crate::backend::contract::SyncBackend;
use crate::phase::rules::{Rules, TaskPlan};
use crate::system::file;
use crate::{EngineError, Errno};

/// An open file, and space for the list of pieces of a transfer.
#[derive(Debug)]
pub(crate) struct Vectored {
    fd: OwnedFd,
    piece: usize,
    pieces: Vec<libc::iovec>,
}

impl Vectored {
    /// Lists the pieces that make up `bytes` bytes from `start` on: whole pieces, and one for the
    /// remainder.
    #[inline(always)]
    fn list(&mut self, start: *mut u8, bytes: usize) -> libc::c_int {
        self.pieces.clear();
        let mut done = 0;
        while done < bytes {
            let length = self.piece.min(bytes - done);
            let base = start.wrapping_add(done).cast();
            self.pieces.push(libc::iovec { iov_base: base, iov_len: length });
            done += length;
        }
        libc::c_int::try_from(self.pieces.len()).unwrap_or(libc::c_int::MAX)
    }
}

impl SyncBackend for Vectored {
    const MOVES: bool = true;

    fn open(task: &TaskPlan, rules: &Rules<'_>) -> Result<Self, EngineError> {
        let pieces = (rules.job.workload.backend.pieces() as usize).clamp(1, rules.transfer);
        let piece = rules.transfer.div_ceil(pieces);
        Ok(Self { fd: file::open(task, rules)?, piece, pieces: Vec::with_capacity(pieces) })
    }

    #[inline(always)]
    fn read(&mut self, buffer: &mut [u8], offset: u64) -> Result<usize, Errno> {
        let count = self.list(buffer.as_mut_ptr(), buffer.len());
        let offset = signed(offset)?;
        // SAFETY: the pieces are parts of the buffer, which is ours and writable, and there are `count`.
        moved(unsafe { libc::preadv(self.fd.as_raw_fd(), self.pieces.as_ptr(), count, offset) })
    }

    #[inline(always)]
    fn write(&mut self, buffer: &[u8], offset: u64) -> Result<usize, Errno> {
        let count = self.list(buffer.as_ptr().cast_mut(), buffer.len());
        let offset = signed(offset)?;
        // SAFETY: the pieces are parts of the buffer, which the call only reads, and there are `count`.
        moved(unsafe { libc::pwritev(self.fd.as_raw_fd(), self.pieces.as_ptr(), count, offset) })
    }

    fn sync(&mut self, _offset: u64, _bytes: usize) -> Result<(), Errno> {
        Ok(rustix::fs::fsync(&self.fd)?)
    }

    fn length(&self) -> u64 {
        file::length(self.fd.as_fd()).unwrap_or(0)
    }

    fn close(self, task: &TaskPlan, sync: bool) -> Result<(), EngineError> {
        if sync {
            file::fsync(self.fd.as_fd(), &task.file.path)?;
        }
        file::close(self.fd, &task.file.path)
    }
}

fn signed(offset: u64) -> Result<i64, Errno> {
    i64::try_from(offset).map_err(|_| Errno(libc::EOVERFLOW))
}

fn moved(result: libc::ssize_t) -> Result<usize, Errno> {
    usize::try_from(result).map_err(|_| Errno::from(&std::io::Error::last_os_error()))
}
