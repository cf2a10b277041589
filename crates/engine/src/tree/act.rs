//! What is done to an item, by plain system calls.

use std::mem::MaybeUninit;
use std::path::PathBuf;

use plan::Phase;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, StatxFlags};

use crate::tree::live::{Doer, Yield};
use crate::tree::rules::{ItemPlan, TreeRules};
use crate::tree::small::{FILE_MODE, Small};
use crate::tree::trouble::{Surprise, Verdict, failed};
use crate::tree::walk::{Walk, again};
use crate::{EngineError, Errno, Surprises, sys};

/// Mode of directories, less the umask.
pub(crate) const DIRECTORY_MODE: u32 = 0o775;
/// Bytes of names that are read in one call.
const LIST_BYTES: usize = 32 << 10;
/// Bytes of the units in which the kernel tells what a file holds.
pub(crate) const BLOCK: u64 = 512;

/// A task at its items.
#[derive(Debug)]
pub(crate) struct Hand<'s> {
    rules: &'s TreeRules<'s>,
    plan: &'s ItemPlan,
    walk: Walk<'s>,
    small: Small<'s>,
    /// Room for the names of a directory.
    names: Vec<MaybeUninit<u8>>,
    allocated_bytes: u64,
}

impl<'s> Hand<'s> {
    /// Ready for the items of `plan`; nothing is opened yet.
    pub(crate) fn new(rules: &'s TreeRules<'s>, plan: &'s ItemPlan) -> Self {
        let read_bytes = if rules.phase == Phase::FileRead { rules.bytes } else { 0 };
        let names = if rules.phase == Phase::DirectoryList { LIST_BYTES } else { 0 };
        let (inks, noise) = (rules.inks.as_ref(), rules.noise.as_ref());
        Self {
            rules,
            plan,
            walk: Walk::new(rules, plan),
            small: Small::new(plan.task, inks, read_bytes, noise, rules.generations()),
            names: vec![MaybeUninit::uninit(); names],
            allocated_bytes: 0,
        }
    }

    /// The number of the data of the item.
    fn file(&self) -> u32 {
        self.rules.file_number(self.plan.owner, self.walk.item())
    }

    fn try_act(&mut self) -> Result<Verdict, Errno> {
        let (rules, tree) = (self.rules, self.rules.tree);
        let file = self.file();
        if matches!(rules.phase, Phase::FileRename | Phase::DirectoryRename) {
            let (at, from, to) = self.walk.here_and_there()?;
            again(|| rustix::fs::renameat(at, from, at, to))?;
            return Ok(Verdict::Done);
        }
        if rules.phase == Phase::DirectoryList {
            return self.list();
        }
        let (at, name) = self.walk.here()?;
        match rules.phase {
            Phase::FileCreate if tree.make_node => {
                let mode = Mode::from_raw_mode(FILE_MODE);
                again(|| rustix::fs::mknodat(at, name, FileType::RegularFile, mode, 0))?;
                // Only a file that gets bytes is opened for them.
                if rules.inks.is_some() {
                    return self.small.write((at, name), OFlags::empty(), file, tree.sync);
                }
            }
            Phase::FileCreate => {
                // Where tasks share a file, another one may have made it.
                let more = if tree.shared { OFlags::empty() } else { OFlags::EXCL };
                return self.small.write((at, name), OFlags::CREATE | more, file, tree.sync);
            }
            Phase::FileWrite => return self.small.write((at, name), OFlags::empty(), file, tree.sync),
            Phase::FileRead => return self.small.read((at, name), file, rules.bytes, tree.write_bytes.0),
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
            self.walk.go(position.saturating_mul(self.rules.tree.items_per_directory.max(1)))?;
            return Ok(false);
        }
        self.walk.go(position)?;
        let file = self.file();
        Ok(self.small.make_ready(file))
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
        self.small.check()
    }

    fn wrong_data(&self) -> Option<EngineError> {
        self.small.wrong_data(&self.walk.path())
    }

    #[cold]
    fn path(&self) -> PathBuf {
        if self.rules.phase == Phase::DirectoryList { self.walk.directory_path() } else { self.walk.path() }
    }

    fn give(self) -> Yield {
        let Small { findings, read_bytes, write_bytes, .. } = self.small;
        Yield { findings, paths: Vec::new(), read_bytes, write_bytes, allocated_bytes: self.allocated_bytes }
    }
}
