//! The backend `psync`: only `pread(2)` and `pwrite(2)` in the timed part.

use std::num::NonZeroU64;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::Advice;

use crate::backend::contract::SyncBackend;
use crate::phase::rules::{Rules, TaskPlan};
use crate::system::file;
use crate::{EngineError, Errno};

/// An open file.
#[derive(Debug)]
pub(crate) struct Psync {
    file: OwnedFd,
    /// Whether to sync with `fdatasync`.
    data_sync: bool,
}

impl SyncBackend for Psync {
    const MOVES: bool = true;

    fn open(task: &TaskPlan, rules: &Rules<'_>) -> Result<Self, EngineError> {
        let data_sync = rules.job.workload.data_sync;
        let file = file::open(task, rules)?;
        if rules.forgets {
            // Pages that were cached together can only be dropped together, so drop them now and let later
            // reads cache them as requested. A file system that ignores the advice behaves as if it had
            // not been given.
            let _ = rustix::fs::fadvise(&file, 0, None, Advice::DontNeed);
            let _ = rustix::fs::fadvise(&file, 0, None, Advice::Random);
        }
        Ok(Self { file, data_sync })
    }

    #[inline(always)]
    fn read(&mut self, buffer: &mut [u8], offset: u64) -> Result<usize, Errno> {
        Ok(rustix::io::pread(&self.file, buffer, offset)?)
    }

    #[inline(always)]
    fn write(&mut self, buffer: &[u8], offset: u64) -> Result<usize, Errno> {
        Ok(rustix::io::pwrite(&self.file, buffer, offset)?)
    }

    fn forget(&self, offset: u64, bytes: usize) {
        // A file system that ignores the advice behaves as if it had not been given.
        let _ = rustix::fs::fadvise(&self.file, offset, NonZeroU64::new(bytes as u64), Advice::DontNeed);
    }

    fn sync(&mut self, _offset: u64, _bytes: usize) -> Result<(), Errno> {
        match self.data_sync {
            true => Ok(rustix::fs::fdatasync(&self.file)?),
            false => Ok(rustix::fs::fsync(&self.file)?),
        }
    }

    fn length(&self) -> u64 {
        file::length(self.file.as_fd()).unwrap_or(0)
    }

    fn close(self, task: &TaskPlan, sync: bool) -> Result<(), EngineError> {
        if sync {
            file::fsync(self.file.as_fd(), &task.file.path)?;
        }
        file::close(self.file, &task.file.path)
    }
}
