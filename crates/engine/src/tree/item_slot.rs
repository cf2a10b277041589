//! One operation in flight in a ring: the sequence of requests until the item is done.

#![expect(unsafe_code, reason = "memory that the kernel fills")]

use std::ffi::CStr;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use io_uring::types::Fd;
use io_uring::{opcode, squeue};
use plan::Phase;

use crate::Errno;
use crate::data::check::{CheckResults, Expected};
use crate::system::sys;
use crate::tree::data::FileBuffer;
use crate::tree::item_ops::{BLOCK, DIRECTORY_MODE};
use crate::tree::name::Name;
use crate::tree::rules::{ItemPlan, TreeRules};
use crate::tree::small::FILE_MODE;
use crate::tree::trouble::{OpOutcome, Surprise};
use crate::tree::walk::push_directory;

/// The request in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The whole operation is a single request.
    Whole,
    Open,
    Move,
    Sync,
    Close,
}

/// What to do after a completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Submit another request of the same item.
    Request,
    /// The item is done.
    Done(OpOutcome),
}

/// Slot for one item in flight.
pub(crate) struct ItemSlot<'s> {
    rules: &'s TreeRules<'s>,
    /// The lane of the item's task, as an index among those of the worker.
    pub(crate) lane: usize,
    /// The item.
    pub(crate) item: u64,
    /// Submission time, in ticks.
    pub(crate) start: u64,
    stage: Stage,
    name: Name,
    /// Result of `statx`. It is boxed because the kernel writes to it.
    found: Box<libc::statx>,
    buffer: Option<FileBuffer>,
    file: Option<RawFd>,
    number: u32,
    /// Number of bytes of the file moved so far, and the start of the chunk in flight.
    moved: u64,
    chunk: u64,
    /// Whether a short read or write was continued.
    is_continued: bool,
}

impl<'s> ItemSlot<'s> {
    pub(crate) fn new(rules: &'s TreeRules<'s>, lane: usize) -> Self {
        let buffer = match &rules.patterns {
            Some(patterns) => Some(FileBuffer::for_writing(patterns)),
            None => (rules.phase == Phase::FileRead).then(|| FileBuffer::for_reading(rules.bytes)),
        };
        Self {
            rules,
            lane,
            item: 0,
            start: 0,
            stage: Stage::Whole,
            name: Name::new(),
            // SAFETY: the structure is made of integers, for which zeros are values.
            found: Box::new(unsafe { std::mem::zeroed() }),
            buffer,
            file: None,
            number: 0,
            moved: 0,
            chunk: 0,
            is_continued: false,
        }
    }

    /// Begins `item` of the owner of `plan`.
    pub(crate) fn begin(&mut self, plan: &ItemPlan, stem: &[u8], item: u64) {
        let rules = self.rules;
        self.item = item;
        push_directory(&mut self.name, rules, plan, item);
        self.name.push(stem).push_number(rules.tree.number_of(item));
        self.stage = match rules.phase {
            Phase::FileCreate | Phase::FileWrite | Phase::FileRead => Stage::Open,
            _ => Stage::Whole,
        };
        (self.number, self.moved, self.chunk) =
            (rules.file_number(plan.owner, rules.content_of(plan, item)), 0, 0);
        self.is_continued = false;
        if let (Some(patterns), Some(buffer)) = (&rules.patterns, &mut self.buffer) {
            buffer.chunk(patterns, self.number, 0);
        }
    }

    /// Returns the next request. The memory it refers to stays in place until the slot is changed.
    pub(crate) fn entry(&mut self) -> Result<squeue::Entry, Errno> {
        // Names are complete paths.
        let at = Fd(libc::AT_FDCWD);
        let name = self.name.c_str().map(CStr::as_ptr)?;
        Ok(match self.stage {
            Stage::Open => {
                let (flags, mode) = match self.rules.phase {
                    Phase::FileCreate => (libc::O_RDWR | libc::O_CREAT, FILE_MODE),
                    _ => (libc::O_RDWR, 0),
                };
                // No item is a link, unless someone has put one there.
                let flags =
                    flags | libc::O_CLOEXEC | libc::O_NOFOLLOW | self.rules.direct.bits().cast_signed();
                opcode::OpenAt::new(at, name).flags(flags).mode(mode).build()
            }
            Stage::Move => self.move_entry(),
            Stage::Sync => opcode::Fsync::new(self.fd()).build(),
            Stage::Close => opcode::Close::new(self.fd()).build(),
            Stage::Whole => match self.rules.phase {
                Phase::DirectoryCreate => opcode::MkDirAt::new(at, name).mode(DIRECTORY_MODE).build(),
                Phase::DirectoryRemove => opcode::UnlinkAt::new(at, name).flags(libc::AT_REMOVEDIR).build(),
                Phase::FileRemove => opcode::UnlinkAt::new(at, name).build(),
                _ => {
                    let found = (&raw mut *self.found).cast();
                    let entry = opcode::Statx::new(at, name, found);
                    entry.mask(libc::STATX_BASIC_STATS).build()
                }
            },
        })
    }

    fn fd(&self) -> Fd {
        // Only stages after an open use this descriptor.
        Fd(self.file.unwrap_or(-1))
    }

    /// Makes a request for the rest of the chunk.
    fn move_entry(&mut self) -> squeue::Entry {
        let (fd, offset) = (self.fd(), self.moved);
        let skip = usize::try_from(self.moved - self.chunk).unwrap_or(0);
        let bytes = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        match (&self.rules.patterns, &mut self.buffer) {
            (Some(patterns), Some(buffer)) => {
                let rest = &buffer.made(patterns, self.chunk)[skip..];
                opcode::Write::new(fd, rest.as_ptr(), bytes(rest.len())).offset(offset).build()
            }
            (None, Some(buffer)) => {
                let rest = &mut buffer.for_read(self.rules.bytes - self.chunk)[skip..];
                opcode::Read::new(fd, rest.as_mut_ptr(), bytes(rest.len())).offset(offset).build()
            }
            _ => opcode::Nop::new().build(),
        }
    }

    /// Handles the completion `result` of the request. `task` checks the data read.
    pub(crate) fn turn(
        &mut self,
        result: i32,
        task: u32,
        findings: &mut CheckResults,
    ) -> Result<Next, Errno> {
        if result < 0 {
            let errno = Errno(result.wrapping_neg());
            if matches!(errno.0, libc::EINTR | libc::EAGAIN) && self.stage != Stage::Close {
                return Ok(Next::Request);
            }
            if self.stage == Stage::Close {
                // Linux has closed the descriptor even if it reports an error.
                self.file = None;
                if errno.0 == libc::EINTR {
                    return Ok(Next::Done(self.verdict()));
                }
            }
            return Err(errno);
        }
        match self.stage {
            Stage::Whole => return Ok(Next::Done(OpOutcome::Done)),
            Stage::Open => {
                self.file = Some(result);
                self.stage = if self.rules.bytes > 0 { Stage::Move } else { self.behind_data() };
            }
            Stage::Move => self.moved_more(result.unsigned_abs(), task, findings)?,
            Stage::Sync => self.stage = Stage::Close,
            Stage::Close => {
                self.file = None;
                return Ok(Next::Done(self.verdict()));
            }
        }
        Ok(Next::Request)
    }

    fn behind_data(&self) -> Stage {
        if self.rules.tree.sync && self.rules.phase != Phase::FileRead { Stage::Sync } else { Stage::Close }
    }

    fn moved_more(&mut self, bytes: u32, task: u32, findings: &mut CheckResults) -> Result<(), Errno> {
        let rules = self.rules;
        let Some(buffer) = &mut self.buffer else { return Ok(()) };
        let whole = match &rules.patterns {
            // Some network file systems report an exhausted disk quota this way.
            Some(_) if bytes == 0 => return Err(Errno(libc::ENOSPC)),
            Some(patterns) => buffer.made(patterns, self.chunk).len() as u64,
            None => buffer.for_read(rules.bytes - self.chunk).len() as u64,
        };
        self.is_continued |= bytes > 0 && self.moved > self.chunk;
        self.moved += u64::from(bytes);
        let ends = bytes == 0 || self.moved == rules.bytes;
        if !ends && self.moved - self.chunk < whole {
            return Ok(());
        }
        if let Some(table) = &rules.noise {
            let expected = Expected { table, file: self.number, generations: rules.generations() };
            let read = usize::try_from(self.moved - self.chunk).unwrap_or(0);
            let goes_on = bytes > 0 && rules.tree.write_bytes.0 > rules.bytes;
            buffer.check(read, self.chunk, goes_on, task, &expected, findings);
        }
        self.chunk = self.moved;
        if ends {
            self.stage = self.behind_data();
        } else if let Some(patterns) = &rules.patterns {
            buffer.chunk(patterns, self.number, self.chunk);
        }
        Ok(())
    }

    /// The outcome for a file.
    fn verdict(&self) -> OpOutcome {
        let expected = self.rules.tree.write_bytes.0.min(self.rules.bytes);
        if self.rules.phase == Phase::FileRead && self.moved < expected {
            return OpOutcome::Surprise(Surprise::Short { found: self.moved, expected });
        }
        OpOutcome::Done
    }

    /// Number of bytes moved.
    pub(crate) fn moved(&self) -> u64 {
        self.moved
    }

    /// Whether a short read or write was continued.
    pub(crate) fn is_continued(&self) -> bool {
        self.is_continued
    }

    /// Number of bytes allocated for the examined file.
    pub(crate) fn allocated_bytes(&self) -> u64 {
        self.found.stx_blocks * BLOCK
    }

    /// Closes a file left open by a failed item.
    pub(crate) fn abandon(&mut self) {
        if let Some(file) = self.file.take() {
            // SAFETY: the ring has opened it for this slot, which is its only owner.
            let file = unsafe { OwnedFd::from_raw_fd(file) };
            // The item has failed already, and its error has been reported.
            let _ = sys::close(file);
        }
    }
}

impl Drop for ItemSlot<'_> {
    fn drop(&mut self) {
        self.abandon();
    }
}
