//! Operations on items by plain system calls. They are those of mdtest of IOR 4.1, as shown by strace.

use std::mem::MaybeUninit;
use std::path::PathBuf;

use plan::Phase;
use rustix::fs::{CWD, FileType, Mode, OFlags, RawDir};

use crate::system::sys;
use crate::tree::rules::{ItemPlan, TreeRules};
use crate::tree::small::Small;
use crate::tree::sync_worker::{OpCounters, OpRunner};
use crate::tree::trouble::{OpOutcome, Surprise, failed};
use crate::tree::walk::{Walk, again};
use crate::{EngineError, Errno, Surprises};

/// Mode of directories before the umask is applied.
pub(crate) const DIRECTORY_MODE: u32 = 0o775;
/// Mode of files created with `mknod(2)`, which are not opened.
const NODE_MODE: u32 = 0o400;
/// Size of the buffer for reading directory entries in one call.
const LIST_BYTES: usize = 32 << 10;
/// Unit of `st_blocks` in bytes.
pub(crate) const BLOCK: u64 = 512;

/// A task working on its items.
#[derive(Debug)]
pub(crate) struct ItemWorker<'s> {
    rules: &'s TreeRules<'s>,
    plan: &'s ItemPlan,
    walk: Walk<'s>,
    small: Small<'s>,
    /// Buffer for the names of a directory.
    names: Vec<MaybeUninit<u8>>,
    allocated_bytes: u64,
}

impl<'s> ItemWorker<'s> {
    /// Creates a worker for the items of `plan`. Nothing is opened yet.
    pub(crate) fn new(rules: &'s TreeRules<'s>, plan: &'s ItemPlan) -> Self {
        let read_bytes = if rules.phase == Phase::FileRead { rules.bytes } else { 0 };
        let names = if rules.phase == Phase::DirectoryList { LIST_BYTES } else { 0 };
        let (patterns, noise) = (rules.patterns.as_ref(), rules.noise.as_ref());
        Self {
            rules,
            plan,
            walk: Walk::new(rules, plan),
            small: Small::new(plan.task, patterns, read_bytes, noise, rules.generations()),
            names: vec![MaybeUninit::uninit(); names],
            allocated_bytes: 0,
        }
    }

    /// File number of the item's data.
    fn file(&self) -> u32 {
        self.rules.file_number(self.plan.owner, self.rules.content_of(self.plan, self.walk.item()))
    }

    fn try_act(&mut self) -> Result<OpOutcome, Errno> {
        let (rules, tree) = (self.rules, self.rules.tree);
        let file = self.file();
        if matches!(rules.phase, Phase::FileRename | Phase::DirectoryRename) {
            let (old, new) = self.walk.old_and_new()?;
            again(|| rustix::fs::rename(old, new))?;
            return Ok(OpOutcome::Done);
        }
        if rules.phase == Phase::DirectoryList {
            return self.list();
        }
        let name = self.walk.path_here()?;
        match rules.phase {
            Phase::FileCreate if tree.make_node => {
                let mode = Mode::from_raw_mode(NODE_MODE);
                again(|| rustix::fs::mknodat(CWD, name, FileType::RegularFile, mode, 0))?;
            }
            Phase::FileCreate => {
                return self.small.write(name, OFlags::CREATE | rules.direct, file, tree.sync);
            }
            Phase::FileWrite => return self.small.write(name, rules.direct, file, tree.sync),
            Phase::FileRead => {
                let flags = OFlags::RDWR | rules.direct;
                return self.small.read(name, flags, file, rules.bytes, tree.write_bytes.0);
            }
            Phase::DirectoryCreate => {
                again(|| rustix::fs::mkdir(name, Mode::from_raw_mode(DIRECTORY_MODE)))?;
            }
            Phase::DirectoryRemove => again(|| rustix::fs::rmdir(name))?,
            Phase::FileRemove => again(|| rustix::fs::unlink(name))?,
            _ => {
                let found = again(|| rustix::fs::stat(name))?;
                self.allocated_bytes += found.st_blocks.unsigned_abs() * BLOCK;
            }
        }
        Ok(OpOutcome::Done)
    }

    /// Reads all names of the item's directory.
    fn list(&mut self) -> Result<OpOutcome, Errno> {
        let path = self.walk.directory_here()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = again(|| rustix::fs::openat(CWD, path, flags, Mode::empty()))?;
        let mut entries = RawDir::new(&directory, &mut self.names);
        while let Some(entry) = entries.next() {
            match entry {
                Ok(entry) => drop(std::hint::black_box(entry)),
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        sys::close(directory)?;
        Ok(OpOutcome::Done)
    }

    /// Decides whether an error of the operation is fatal or a surprise.
    #[cold]
    fn judge(&self, errno: Errno) -> Result<OpOutcome, EngineError> {
        let operation = self.rules.operation;
        match Surprise::of(operation, errno) {
            Some(surprise) => Ok(OpOutcome::Surprise(surprise)),
            None => Err(failed(self.path(), operation, errno, self.rules.bytes)),
        }
    }
}

impl OpRunner for ItemWorker<'_> {
    fn task(&self) -> (u32, u32) {
        (self.plan.task, self.plan.owner)
    }

    fn prepare(&mut self) -> Result<(), EngineError> {
        Ok(())
    }

    fn enter(&mut self, _surprises: &mut Surprises) -> Result<(), EngineError> {
        self.walk.enter()
    }

    #[inline(always)]
    fn go(&mut self, position: u64) -> Result<bool, EngineError> {
        if self.rules.phase == Phase::DirectoryList {
            self.walk.go(position.saturating_mul(self.rules.tree.items_per_directory.max(1)));
            return Ok(false);
        }
        self.walk.go(position);
        let file = self.file();
        Ok(self.small.make_ready(file))
    }

    #[inline(always)]
    fn act(&mut self) -> Result<OpOutcome, EngineError> {
        if self.rules.null {
            std::hint::black_box(&self.walk);
            return Ok(OpOutcome::Done);
        }
        match self.try_act() {
            Ok(verdict) => Ok(verdict),
            Err(errno) => self.judge(errno),
        }
    }

    #[inline(always)]
    fn check(&mut self) -> bool {
        self.small.check()
    }

    fn wrong_data(&self) -> Option<EngineError> {
        self.small.wrong_data(&self.walk.path())
    }

    #[cold]
    fn path(&self) -> PathBuf {
        if self.rules.phase == Phase::DirectoryList { self.walk.directory_path() } else { self.walk.path() }
    }

    fn give(self) -> OpCounters {
        let Small { findings, read_bytes, write_bytes, continued, .. } = self.small;
        OpCounters {
            findings,
            paths: Vec::new(),
            read_bytes,
            write_bytes,
            allocated_bytes: self.allocated_bytes,
            found: 0,
            continued,
        }
    }
}
