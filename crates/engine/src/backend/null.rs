//! The backend `null`: no I/O and no data. Its result is the upper limit of the measuring loop.

use crate::backend::contract::SyncBackend;
use crate::phase::rules::{Rules, TaskPlan};
use crate::{EngineError, Errno};

/// Stand-in for a file.
#[derive(Debug)]
pub(crate) struct Null;

impl SyncBackend for Null {
    const MOVES: bool = false;

    fn open(_task: &TaskPlan, _rules: &Rules<'_>) -> Result<Self, EngineError> {
        Ok(Self)
    }

    #[inline(always)]
    fn read(&mut self, buffer: &mut [u8], offset: u64) -> Result<usize, Errno> {
        // Forces the offset to be computed although it is not used.
        std::hint::black_box(offset);
        Ok(buffer.len())
    }

    #[inline(always)]
    fn write(&mut self, buffer: &[u8], offset: u64) -> Result<usize, Errno> {
        std::hint::black_box(offset);
        Ok(buffer.len())
    }

    fn sync(&mut self, _offset: u64, _bytes: usize) -> Result<(), Errno> {
        Ok(())
    }

    fn length(&self) -> u64 {
        u64::MAX
    }

    fn close(self, _task: &TaskPlan, _sync: bool) -> Result<(), EngineError> {
        Ok(())
    }
}
