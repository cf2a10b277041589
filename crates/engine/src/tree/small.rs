//! Small files that are written and read as a whole by plain system calls.

use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, SeekFrom};

use crate::data::check::{CheckResults, Expected, NoiseTable};
use crate::system::sys;
use crate::tree::data::{DataPatterns, FileBuffer};
use crate::tree::trouble::{OpOutcome, Surprise};
use crate::tree::walk::again;
use crate::{EngineError, Errno};

/// Mode of files before the umask is applied; the same as for files of transfers.
pub(crate) const FILE_MODE: u32 = 0o664;

/// Writes and reads the files of a task.
#[derive(Debug)]
pub(crate) struct Small<'s> {
    patterns: Option<&'s DataPatterns>,
    noise: Option<&'s NoiseTable>,
    /// The first and last generation accepted.
    generations: Option<(u16, u16)>,
    task: u32,
    write_buffer: Option<FileBuffer>,
    read_buffer: FileBuffer,
    /// Data of the last read that has not been checked yet.
    unchecked: Option<Unchecked>,
    pub(crate) findings: CheckResults,
    pub(crate) read_bytes: u64,
    pub(crate) write_bytes: u64,
    /// Number of files for which a read or write moved less than requested, and the rest was requested again.
    pub(crate) continued: u64,
}

/// Bytes in the buffer that were read from a file.
#[derive(Debug, Clone, Copy)]
struct Unchecked {
    file: u32,
    read: usize,
    offset: u64,
    goes_on: bool,
}

impl<'s> Small<'s> {
    /// Creates the state of `task`, which writes `patterns`, reads `read_bytes` of a file and compares
    /// them with `noise`.
    pub(crate) fn new(
        task: u32,
        patterns: Option<&'s DataPatterns>,
        read_bytes: u64,
        noise: Option<&'s NoiseTable>,
        generations: Option<(u16, u16)>,
    ) -> Self {
        Self {
            patterns,
            noise,
            generations,
            task,
            write_buffer: patterns.map(FileBuffer::for_writing),
            read_buffer: FileBuffer::for_reading(read_bytes),
            unchecked: None,
            findings: CheckResults::default(),
            read_bytes: 0,
            write_bytes: 0,
            continued: 0,
        }
    }

    /// Prepares the first bytes of `file` for writing. Returns whether there are any.
    #[inline(always)]
    pub(crate) fn make_ready(&mut self, file: u32) -> bool {
        match (self.patterns, &mut self.write_buffer) {
            (Some(patterns), Some(write_buffer)) => {
                write_buffer.chunk(patterns, file, 0);
                true
            }
            _ => false,
        }
    }

    /// Opens, writes, syncs if requested, and closes. The first bytes of `file` have been prepared.
    pub(crate) fn write(
        &mut self,
        name: &CStr,
        more: OFlags,
        file: u32,
        sync: bool,
    ) -> Result<OpOutcome, Errno> {
        // No item is a link, unless someone has put one there.
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW | more;
        let fd = again(|| rustix::fs::openat(CWD, name, flags, Mode::from_raw_mode(FILE_MODE)))?;
        if let (Some(patterns), Some(write_buffer)) = (self.patterns, &mut self.write_buffer) {
            let (mut offset, mut is_continued) = (0, false);
            to_start(&fd)?;
            while offset < patterns.bytes() {
                let chunk = if offset == 0 {
                    write_buffer.made(patterns, 0)
                } else {
                    write_buffer.chunk(patterns, file, offset)
                };
                is_continued |= write_all(&fd, chunk)?;
                offset += chunk.len() as u64;
            }
            self.write_bytes += offset;
            self.continued += u64::from(is_continued);
        }
        if sync {
            again(|| rustix::fs::fsync(&fd))?;
        }
        sys::close(fd)?;
        Ok(OpOutcome::Done)
    }

    /// Opens `file` with `flags`, reads `asked` bytes or as many as there are, and closes. The file was left with
    /// `written` bytes.
    pub(crate) fn read(
        &mut self,
        name: &CStr,
        flags: OFlags,
        file: u32,
        asked: u64,
        written: u64,
    ) -> Result<OpOutcome, Errno> {
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let fd = again(|| rustix::fs::openat(CWD, name, flags, Mode::empty()))?;
        if asked > 0 {
            to_start(&fd)?;
        }
        let (mut offset, mut is_continued) = (0, false);
        while offset < asked {
            self.check();
            let buffer = self.read_buffer.for_read(asked - offset);
            let length = buffer.len();
            let (read, more) = read_up_to(&fd, buffer)?;
            is_continued |= more;
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
        self.continued += u64::from(is_continued);
        sys::close(fd)?;
        let expected = written.min(asked);
        match offset < expected {
            true => Ok(OpOutcome::Surprise(Surprise::Short { found: offset, expected })),
            false => Ok(OpOutcome::Done),
        }
    }

    /// Checks the data of the last read, if requested and not done yet. Returns whether it was checked.
    #[inline(always)]
    pub(crate) fn check(&mut self) -> bool {
        match (self.unchecked.take(), self.noise) {
            (Some(Unchecked { file, read, offset, goes_on }), Some(table)) => {
                let expected = Expected { table, file, generations: self.generations };
                self.read_buffer.check(read, offset, goes_on, self.task, &expected, &mut self.findings);
                true
            }
            _ => false,
        }
    }

    /// The first wrong data found in the file at `path`, as an error.
    #[cold]
    pub(crate) fn wrong_data(&self, path: &Path) -> Option<EngineError> {
        let first = self.findings.first_described(self.generations, path);
        first.map(|mismatch| EngineError::WrongData(Box::new(mismatch)))
    }
}

/// Seeks to the start of a newly opened file, although it is there already. This is part of the measurement, because
/// IOR's programs do so before they move data.
fn to_start(file: &OwnedFd) -> Result<(), Errno> {
    again(|| rustix::fs::seek(file, SeekFrom::Start(0))).map(drop)
}

/// Returns whether more than one call was needed.
fn write_all(file: &OwnedFd, mut bytes: &[u8]) -> Result<bool, Errno> {
    let whole = bytes.len();
    let mut is_continued = false;
    while !bytes.is_empty() {
        match again(|| rustix::io::write(file, bytes))? {
            // Some network file systems report an exhausted disk quota this way.
            0 => return Err(Errno(libc::ENOSPC)),
            written => {
                is_continued |= bytes.len() < whole;
                bytes = &bytes[written..];
            }
        }
    }
    Ok(is_continued)
}

/// Reads until `buffer` is full or the file ends. Returns also whether more than one call returned data.
fn read_up_to(file: &OwnedFd, buffer: &mut [u8]) -> Result<(usize, bool), Errno> {
    let (mut filled, mut is_continued) = (0, false);
    while filled < buffer.len() {
        match again(|| rustix::io::read(file, &mut buffer[filled..]))? {
            0 => break,
            read => {
                is_continued |= filled > 0;
                filled += read;
            }
        }
    }
    Ok((filled, is_continued))
}
