//! What is done to an item, by plain system calls.

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use plan::Phase;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, StatxFlags};

use crate::check::{Expected, Findings};
use crate::tree::data::Desk;
use crate::tree::live::Doer;
use crate::tree::rules::{ItemPlan, TreeRules};
use crate::tree::trouble::{Surprise, Verdict, failed};
use crate::tree::walk::{Walk, again};
use crate::{EngineError, Errno, Operation, sys};

/// Mode of files, less the umask: as that of files that transfers make.
pub(crate) const FILE_MODE: u32 = 0o664;
/// Mode of directories, less the umask.
pub(crate) const DIRECTORY_MODE: u32 = 0o775;
/// Bytes of names that are read in one call.
const LIST_BYTES: usize = 32 << 10;
/// Bytes of the units in which the kernel tells what a file holds.
const BLOCK: u64 = 512;

/// Bytes in the desk that were read from a file.
#[derive(Debug, Clone, Copy)]
struct Unchecked {
    read: usize,
    offset: u64,
    goes_on: bool,
}

/// A task at its items.
#[derive(Debug)]
pub(crate) struct Hand<'s> {
    rules: &'s TreeRules<'s>,
    plan: &'s ItemPlan,
    walk: Walk<'s>,
    desk: Desk,
    /// Room for the names of a directory.
    names: Vec<MaybeUninit<u8>>,
    /// What was read last and is not compared yet.
    unchecked: Option<Unchecked>,
    pub(crate) findings: Findings,
    pub(crate) read_bytes: u64,
    pub(crate) write_bytes: u64,
    pub(crate) allocated_bytes: u64,
}

impl<'s> Hand<'s> {
    /// Ready for the items of `plan`; nothing is opened yet.
    pub(crate) fn new(rules: &'s TreeRules<'s>, plan: &'s ItemPlan) -> Self {
        let desk = match &rules.inks {
            Some(inks) => Desk::for_writing(inks),
            None => Desk::for_reading(if rules.phase == Phase::FileRead { rules.bytes } else { 0 }),
        };
        let names = if rules.phase == Phase::DirectoryList { LIST_BYTES } else { 0 };
        Self {
            rules,
            plan,
            walk: Walk::new(rules, plan),
            desk,
            names: vec![MaybeUninit::uninit(); names],
            unchecked: None,
            findings: Findings::default(),
            read_bytes: 0,
            write_bytes: 0,
            allocated_bytes: 0,
        }
    }

    fn try_act(&mut self) -> Result<Verdict, Errno> {
        let rules = self.rules;
        match rules.phase {
            Phase::FileCreate if rules.tree.make_node => return self.make_node(),
            Phase::FileCreate => return self.write_file(OFlags::CREATE | OFlags::EXCL),
            Phase::FileWrite => return self.write_file(OFlags::empty()),
            Phase::FileRead => return self.read_file(),
            Phase::DirectoryList => return self.list(),
            Phase::FileRename | Phase::DirectoryRename => return self.rename(),
            _ => {}
        }
        let (at, name) = self.walk.here()?;
        match rules.phase {
            Phase::DirectoryCreate => {
                again(|| rustix::fs::mkdirat(at, name, Mode::from_raw_mode(DIRECTORY_MODE)))?;
            }
            Phase::DirectoryRemove => again(|| rustix::fs::unlinkat(at, name, AtFlags::REMOVEDIR))?,
            Phase::FileRemove => again(|| rustix::fs::unlinkat(at, name, AtFlags::empty()))?,
            _ => {
                let flags = AtFlags::SYMLINK_NOFOLLOW;
                let found = again(|| rustix::fs::statx(at, name, flags, StatxFlags::BASIC_STATS))?;
                self.allocated_bytes += found.stx_blocks * BLOCK;
            }
        }
        Ok(Verdict::Done)
    }

    /// `mknod(2)`; only a file that gets bytes is opened for them.
    fn make_node(&mut self) -> Result<Verdict, Errno> {
        let (at, name) = self.walk.here()?;
        let mode = Mode::from_raw_mode(FILE_MODE);
        again(|| rustix::fs::mknodat(at, name, FileType::RegularFile, mode, 0))?;
        if self.rules.inks.is_some() { self.write_file(OFlags::empty()) } else { Ok(Verdict::Done) }
    }

    /// Opens, writes, syncs where asked for, closes. The first bytes are ready.
    fn write_file(&mut self, more: OFlags) -> Result<Verdict, Errno> {
        let (at, name) = self.walk.here()?;
        let flags = OFlags::WRONLY | OFlags::CLOEXEC | more;
        let file = again(|| rustix::fs::openat(at, name, flags, Mode::from_raw_mode(FILE_MODE)))?;
        if let Some(inks) = &self.rules.inks {
            let number = self.rules.file_number(self.plan.owner, self.walk.item());
            let mut offset = 0;
            while offset < inks.bytes() {
                let chunk =
                    if offset == 0 { self.desk.ready(inks) } else { self.desk.chunk(inks, number, offset) };
                write_all(&file, chunk)?;
                offset += chunk.len() as u64;
            }
            self.write_bytes += offset;
        }
        if self.rules.tree.sync {
            again(|| rustix::fs::fsync(&file))?;
        }
        sys::close(file)?;
        Ok(Verdict::Done)
    }

    /// Opens, reads as much as asked for or there is, closes.
    fn read_file(&mut self) -> Result<Verdict, Errno> {
        let (at, name) = self.walk.here()?;
        let file = again(|| rustix::fs::openat(at, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()))?;
        let (asked, written) = (self.rules.bytes, self.rules.tree.write_bytes.0);
        let mut read = 0;
        while read < asked {
            self.check();
            let room = self.desk.room(asked - read);
            let length = room.len();
            let got = read_up_to(&file, room)?;
            let ends = got < length;
            if self.rules.noise.is_some() {
                self.unchecked =
                    Some(Unchecked { read: got, offset: read, goes_on: !ends && written > asked });
            }
            read += got as u64;
            if ends {
                break;
            }
        }
        self.read_bytes += read;
        sys::close(file)?;
        let expected = written.min(asked);
        if read < expected {
            return Ok(Verdict::Surprise(Surprise::Short { found: read, expected }));
        }
        Ok(Verdict::Done)
    }

    fn rename(&mut self) -> Result<Verdict, Errno> {
        let (at, from, to) = self.walk.here_and_there()?;
        again(|| rustix::fs::renameat(at, from, at, to))?;
        Ok(Verdict::Done)
    }

    /// All names of the directory that the item is in.
    fn list(&mut self) -> Result<Verdict, Errno> {
        let (root, path) = self.walk.directory_here()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = again(|| rustix::fs::openat(root, path, flags, Mode::empty()))?;
        let mut entries = RawDir::new(&directory, &mut self.names);
        while let Some(entry) = entries.next() {
            match entry {
                Ok(entry) => drop(std::hint::black_box(entry)),
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        sys::close(directory)?;
        Ok(Verdict::Done)
    }

    /// What an error of the operation means.
    #[cold]
    fn judge(&self, errno: Errno) -> Result<Verdict, EngineError> {
        let operation = self.rules.operation;
        match Surprise::of(operation, errno) {
            Some(surprise) => Ok(Verdict::Surprise(surprise)),
            None => Err(failed(self.path(), operation, errno, self.rules.bytes)),
        }
    }
}

impl Doer for Hand<'_> {
    fn prepare(&mut self) -> Result<(), EngineError> {
        Ok(())
    }

    fn enter(&mut self) -> Result<(), EngineError> {
        self.walk.enter()
    }

    #[inline(always)]
    fn go(&mut self, position: u64) -> Result<bool, EngineError> {
        if self.rules.phase == Phase::DirectoryList {
            self.walk.go(position.saturating_mul(self.rules.tree.items_per_directory.max(1)))?;
            return Ok(false);
        }
        self.walk.go(position)?;
        if let Some(inks) = &self.rules.inks {
            self.desk.chunk(inks, self.rules.file_number(self.plan.owner, self.walk.item()), 0);
            return Ok(true);
        }
        Ok(false)
    }

    #[inline(always)]
    fn act(&mut self) -> Result<Verdict, EngineError> {
        if self.rules.null {
            std::hint::black_box(&self.walk);
            return Ok(Verdict::Done);
        }
        match self.try_act() {
            Ok(verdict) => Ok(verdict),
            Err(errno) => self.judge(errno),
        }
    }

    #[inline(always)]
    fn check(&mut self) -> bool {
        match (self.unchecked.take(), &self.rules.noise) {
            (Some(Unchecked { read, offset, goes_on }), Some(table)) => {
                let file = self.rules.file_number(self.plan.owner, self.walk.item());
                let expected = Expected { table, file, generations: self.rules.generations() };
                self.desk.check(read, offset, goes_on, self.plan.task, &expected, &mut self.findings);
                true
            }
            _ => false,
        }
    }

    fn wrong_cells(&self) -> u64 {
        self.findings.wrong_cells
    }

    #[cold]
    fn wrong_data(&self) -> EngineError {
        match self.findings.first_described(self.rules.generations(), &self.walk.path()) {
            Some(mismatch) => EngineError::WrongData(Box::new(mismatch)),
            // A wrong cell is always described while there are fewer than the limit, and this is the first.
            None => failed(self.walk.path(), Operation::Read, Errno(libc::EIO), 0),
        }
    }

    #[cold]
    fn path(&self) -> PathBuf {
        if self.rules.phase == Phase::DirectoryList { self.walk.directory_path() } else { self.walk.path() }
    }

    fn leave(&mut self) -> Result<Vec<(Surprise, PathBuf)>, EngineError> {
        Ok(Vec::new())
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
