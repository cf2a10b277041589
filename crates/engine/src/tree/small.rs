//! Small files: written and read as a whole, by plain system calls.

use std::ffi::CStr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use crate::check::{Expected, Findings, NoiseTable};
use crate::tree::data::{Desk, Inks};
use crate::tree::trouble::{Surprise, Verdict};
use crate::tree::walk::again;
use crate::{EngineError, Errno, sys};

/// Mode of files, less the umask: as that of files that transfers make.
pub(crate) const FILE_MODE: u32 = 0o664;

/// Writes and reads the files of a task.
#[derive(Debug)]
pub(crate) struct Small<'s> {
    inks: Option<&'s Inks>,
    noise: Option<&'s NoiseTable>,
    /// First and last generation that are right.
    generations: Option<(u16, u16)>,
    task: u32,
    sheet: Option<Desk>,
    room: Desk,
    /// What was read last and is not compared yet.
    unchecked: Option<Unchecked>,
    pub(crate) findings: Findings,
    pub(crate) read_bytes: u64,
    pub(crate) write_bytes: u64,
}

/// Bytes in the room that were read from a file.
#[derive(Debug, Clone, Copy)]
struct Unchecked {
    file: u32,
    read: usize,
    offset: u64,
    goes_on: bool,
}

impl<'s> Small<'s> {
    /// For `task`, which writes with `inks`, reads `read_bytes` of a file and compares them with `noise`.
    pub(crate) fn new(
        task: u32,
        inks: Option<&'s Inks>,
        read_bytes: u64,
        noise: Option<&'s NoiseTable>,
        generations: Option<(u16, u16)>,
    ) -> Self {
        Self {
            inks,
            noise,
            generations,
            task,
            sheet: inks.map(Desk::for_writing),
            room: Desk::for_reading(read_bytes),
            unchecked: None,
            findings: Findings::default(),
            read_bytes: 0,
            write_bytes: 0,
        }
    }

    /// Makes the first bytes of `file` ready to be written. Says whether there are any.
    #[inline(always)]
    pub(crate) fn make_ready(&mut self, file: u32) -> bool {
        match (self.inks, &mut self.sheet) {
            (Some(inks), Some(sheet)) => {
                sheet.chunk(inks, file, 0);
                true
            }
            _ => false,
        }
    }

    /// Opens, writes, syncs where asked for, closes. The first bytes of `file` are ready.
    pub(crate) fn write(
        &mut self,
        (at, name): (BorrowedFd<'_>, &CStr),
        more: OFlags,
        file: u32,
        sync: bool,
    ) -> Result<Verdict, Errno> {
        let flags = OFlags::WRONLY | OFlags::CLOEXEC | more;
        let fd = again(|| rustix::fs::openat(at, name, flags, Mode::from_raw_mode(FILE_MODE)))?;
        if let (Some(inks), Some(sheet)) = (self.inks, &mut self.sheet) {
            let mut offset = 0;
            while offset < inks.bytes() {
                let chunk = if offset == 0 { sheet.made(inks, 0) } else { sheet.chunk(inks, file, offset) };
                write_all(&fd, chunk)?;
                offset += chunk.len() as u64;
            }
            self.write_bytes += offset;
        }
        if sync {
            again(|| rustix::fs::fsync(&fd))?;
        }
        sys::close(fd)?;
        Ok(Verdict::Done)
    }

    /// Opens `file`, reads the `asked` bytes or as many as there are, closes. It was left with `written`
    /// bytes.
    pub(crate) fn read(
        &mut self,
        (at, name): (BorrowedFd<'_>, &CStr),
        file: u32,
        asked: u64,
        written: u64,
    ) -> Result<Verdict, Errno> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let fd = again(|| rustix::fs::openat(at, name, flags, Mode::empty()))?;
        let mut offset = 0;
        while offset < asked {
            self.check();
            let room = self.room.room(asked - offset);
            let length = room.len();
            let read = read_up_to(&fd, room)?;
            let ends = read < length;
            if self.noise.is_some() {
                self.unchecked = Some(Unchecked { file, read, offset, goes_on: !ends && written > asked });
            }
            offset += read as u64;
            if ends {
                break;
            }
        }
        self.read_bytes += offset;
        sys::close(fd)?;
        let expected = written.min(asked);
        match offset < expected {
            true => Ok(Verdict::Surprise(Surprise::Short { found: offset, expected })),
            false => Ok(Verdict::Done),
        }
    }

    /// Compares what was read last, where that is asked for and not done yet. Says whether it was.
    #[inline(always)]
    pub(crate) fn check(&mut self) -> bool {
        match (self.unchecked.take(), self.noise) {
            (Some(Unchecked { file, read, offset, goes_on }), Some(table)) => {
                let expected = Expected { table, file, generations: self.generations };
                self.room.check(read, offset, goes_on, self.task, &expected, &mut self.findings);
                true
            }
            _ => false,
        }
    }

    /// The first wrong data that was found, in the file at `path`, as an error.
    #[cold]
    pub(crate) fn wrong_data(&self, path: &Path) -> Option<EngineError> {
        let first = self.findings.first_described(self.generations, path);
        first.map(|mismatch| EngineError::WrongData(Box::new(mismatch)))
    }
}

fn write_all(file: &OwnedFd, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match again(|| rustix::io::write(file, bytes))? {
            // Disk quotas of some network file systems end a write this way.
            0 => return Err(Errno(libc::ENOSPC)),
            written => bytes = &bytes[written..],
        }
    }
    Ok(())
}

/// Reads until `room` is full or the file ends.
fn read_up_to(file: &OwnedFd, room: &mut [u8]) -> Result<usize, Errno> {
    let mut filled = 0;
    while filled < room.len() {
        match again(|| rustix::io::read(file, &mut room[filled..]))? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}
