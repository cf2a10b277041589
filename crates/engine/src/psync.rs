//! The backend `psync`: `pread(2)` and `pwrite(2)`, nothing else in the timed part.

use std::os::fd::{AsFd, OwnedFd};

use crate::rules::{Rules, TaskPlan};
use crate::sync::Mover;
use crate::{EngineError, Errno, file};

/// An open file.
#[derive(Debug)]
pub(crate) struct Psync(OwnedFd);

impl Mover for Psync {
    const MOVES: bool = true;

    fn open(task: &TaskPlan, rules: &Rules<'_>) -> Result<Self, EngineError> {
        file::open(task, rules).map(Self)
    }

    #[inline(always)]
    fn read(&mut self, buffer: &mut [u8], offset: u64) -> Result<usize, Errno> {
        Ok(rustix::io::pread(&self.0, buffer, offset)?)
    }

    #[inline(always)]
    fn write(&mut self, buffer: &[u8], offset: u64) -> Result<usize, Errno> {
        Ok(rustix::io::pwrite(&self.0, buffer, offset)?)
    }

    fn sync(&mut self, _offset: u64, _bytes: usize) -> Result<(), Errno> {
        Ok(rustix::fs::fsync(&self.0)?)
    }

    fn length(&self) -> u64 {
        file::length(self.0.as_fd()).unwrap_or(0)
    }

    fn close(self, task: &TaskPlan, sync: bool) -> Result<(), EngineError> {
        if sync {
            file::fsync(self.0.as_fd(), &task.file.path)?;
        }
        file::close(self.0, &task.file.path)
    }
}
