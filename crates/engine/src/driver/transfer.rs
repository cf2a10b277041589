//! Handling of late, short and wrong transfers, shared by both drivers.

use plan::Operation;

use crate::data::check::CheckResults;
use crate::phase::rules::TaskPlan;
use crate::{EngineError, Errno};

/// Time at which an open loop stops catching up: the deadline plus the time from the start to the
/// deadline.
pub(crate) fn give_up(base: u64, deadline: u64) -> u64 {
    deadline.saturating_add(deadline.saturating_sub(base))
}

/// Converts the first finding to an error.
#[cold]
pub(crate) fn wrong_data(
    findings: &CheckResults,
    generations: Option<(u16, u16)>,
    plan: &TaskPlan,
) -> EngineError {
    let described = findings.first_described(generations, &plan.file.path);
    match described {
        Some(mismatch) => EngineError::WrongData(Box::new(mismatch)),
        // Below the limit a wrong cell is always described, and this is the first one.
        None => crate::system::file::call("check", &plan.file.path, Errno(libc::EIO)),
    }
}

/// A transfer that did not move all its bytes at once.
pub(crate) struct Short<'p> {
    pub(crate) path: &'p std::path::Path,
    pub(crate) operation: Operation,
    pub(crate) offset: u64,
    pub(crate) asked: usize,
    /// Total number of bytes moved so far.
    pub(crate) moved: usize,
}

impl Short<'_> {
    /// Decides whether the transfer may be continued after a call that moved `bytes`.
    pub(crate) fn judge(
        &self,
        bytes: usize,
        single_attempt: bool,
        file_bytes: u64,
    ) -> Result<(), EngineError> {
        let (offset, asked, moved) = (self.offset, self.asked as u64, self.moved as u64);
        if moved == asked {
            return Ok(());
        }
        let path = self.path.to_owned();
        match (bytes, self.operation) {
            (0, Operation::Read) => Err(EngineError::FileTooShort { path, offset, asked, moved, file_bytes }),
            // Some network file systems report an exhausted disk quota this way.
            (0, Operation::Write) => Err(self.failed(Errno(libc::ENOSPC))),
            _ if single_attempt => {
                Err(EngineError::ShortTransfer { path, operation: self.operation, offset, asked, moved })
            }
            _ => Ok(()),
        }
    }

    /// Makes the error `errno` of this transfer.
    pub(crate) fn failed(&self, errno: Errno) -> EngineError {
        EngineError::Transfer {
            path: self.path.to_owned(),
            operation: self.operation,
            offset: self.offset,
            asked: self.asked as u64,
            moved: self.moved as u64,
            errno,
        }
    }
}
