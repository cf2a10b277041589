//! A search through directories. Every name that is not a directory counts as an operation.
//!
//! Names are read in batches, so the first name of a batch includes the wait for the directory. Only names that
//! match the pattern are examined, as by `find(1)`. Symbolic links count as names and are not followed.

mod deal;

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use plan::{Find, Operation};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, StatxFlags};

use crate::phase::common::Common;
use crate::phase::rules::LEAST_INTERVAL_NS;
use crate::system::sys;
use crate::tree::find::deal::Directory;
use crate::tree::listing::{LIST_BYTES, names};
use crate::tree::sync_worker::{OpCounters, OpRunner, TaskContext};
use crate::tree::trouble::{OpOutcome, Surprise, failed};
use crate::tree::walk::again;
use crate::{EngineError, Errno, PhaseJob, Point, Surprises};

/// How names of the claims of runs begin (`record::TargetClaim`). They are in the directories that are searched, but not
/// among the names that the benchmark has made.
const CLAIM: &[u8] = b".ioproof-claim-";

/// Parameters shared by all tasks of a phase.
#[derive(Debug)]
pub(crate) struct FindRules<'a> {
    pub(crate) job: &'a PhaseJob<'a>,
    find: &'a Find,
}

impl<'a> FindRules<'a> {
    pub(crate) const fn new(job: &'a PhaseJob<'a>, find: &'a Find) -> Self {
        Self { job, find }
    }

    /// The points at which all tasks synchronise.
    pub(crate) fn points() -> Vec<Point> {
        vec![Point::Ready, Point::Start, Point::Dealt, Point::Closed]
    }

    /// The context that every task needs.
    pub(crate) fn context(&self) -> TaskContext<'a> {
        TaskContext { job: self.job, interval_ns: self.interval_ns(), limit: u64::MAX }
    }

    /// Length of an interval of the series.
    pub(crate) fn interval_ns(&self) -> u64 {
        self.job.series_interval.0.max(LEAST_INTERVAL_NS)
    }

    fn targets(&self) -> &'a [PathBuf] {
        &self.job.workload.files.targets
    }
}

/// A task that searches its directories.
pub(crate) struct FindWorker<'s> {
    rules: &'s FindRules<'s>,
    common: &'s Common<'s>,
    task: u32,
    targets: Vec<OwnedFd>,
    /// Modification time of the file that matches must be newer than: seconds and nanoseconds.
    newer_than: Option<(i64, u32)>,
    /// Stack of directories still to be searched; the next one is last.
    stack: Vec<Directory>,
    here: Option<(Directory, OwnedFd)>,
    batch: Batch,
    found: u64,
    /// The name being examined, for messages.
    name: PathBuf,
}

impl<'s> FindWorker<'s> {
    pub(crate) fn new(rules: &'s FindRules<'s>, common: &'s Common<'s>, task: u32) -> Self {
        Self {
            rules,
            common,
            task,
            targets: Vec::new(),
            newer_than: None,
            stack: Vec::new(),
            here: None,
            batch: Batch::default(),
            found: 0,
            name: PathBuf::new(),
        }
    }

    /// Reads more names, from this directory or the next one. Returns `false` if there are none left.
    fn refill(&mut self) -> Result<bool, EngineError> {
        loop {
            let Some((directory, open)) = &self.here else {
                let Some(next) = self.stack.pop() else { return Ok(false) };
                let path = || next.path_below(&self.rules.targets()[next.target]);
                let open = next.open(&self.targets).map_err(|errno| open_failed(&path(), errno))?;
                self.here = Some((next, open));
                continue;
            };
            let read = self.batch.read(self.rules.find, open, directory, &mut self.stack);
            match read {
                Ok(Some(found)) => {
                    self.found += found;
                    if !self.batch.is_empty() {
                        return Ok(true);
                    }
                }
                Ok(None) => {
                    if let Some((directory, open)) = self.here.take() {
                        let path = || directory.path_below(&self.rules.targets()[directory.target]);
                        sys::close(open).map_err(|errno| failed(path(), Operation::Find, errno, 0))?;
                    }
                }
                Err(errno) => {
                    let path = directory.path_below(&self.rules.targets()[directory.target]);
                    return Err(failed(path, Operation::Find, errno, 0));
                }
            }
        }
    }

    /// Examines the next name that matches the pattern.
    fn look(&mut self) -> Result<OpOutcome, EngineError> {
        let Self { rules, batch, here, .. } = self;
        let (Some((directory, open)), Some(name)) = (here.as_ref(), batch.next()) else {
            return Ok(OpOutcome::Done);
        };
        let wanted = StatxFlags::SIZE | StatxFlags::MTIME;
        let looked = again(|| rustix::fs::statx(open.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW, wanted));
        match looked {
            Ok(status) => {
                let changed = (status.stx_mtime.tv_sec, status.stx_mtime.tv_nsec);
                let fits = rules.find.bytes.is_none_or(|bytes| bytes.0 == status.stx_size)
                    && self.newer_than.is_none_or(|other| changed > other);
                self.found += u64::from(fits);
                Ok(OpOutcome::Done)
            }
            Err(errno) => {
                let path = directory.path_below(&rules.targets()[directory.target]);
                self.name = path.join(Path::new(std::str::from_utf8(name.to_bytes()).unwrap_or("?")));
                match Surprise::of(Operation::Find, errno) {
                    Some(surprise) => Ok(OpOutcome::Surprise(surprise)),
                    None => Err(failed(self.name.clone(), Operation::Find, errno, 0)),
                }
            }
        }
    }
}

impl OpRunner for FindWorker<'_> {
    fn task(&self) -> (u32, u32) {
        (self.task, self.task)
    }

    fn prepare(&mut self) -> Result<(), EngineError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        for path in self.rules.targets() {
            let open = again(|| rustix::fs::open(path, flags, Mode::empty()));
            self.targets.push(open.map_err(|errno| open_failed(path, errno))?);
        }
        if let Some(path) = &self.rules.find.newer_than {
            let status =
                again(|| rustix::fs::statx(rustix::fs::CWD, path, AtFlags::empty(), StatxFlags::MTIME));
            let status = status.map_err(|errno| EngineError::Open {
                path: path.clone(),
                purpose: "its modification time, which others must be newer than",
                errno,
            })?;
            self.newer_than = Some((status.stx_mtime.tv_sec, status.stx_mtime.tv_nsec));
        }
        Ok(())
    }

    fn enter(&mut self, _surprises: &mut Surprises) -> Result<(), EngineError> {
        if self.task == 0 {
            let shares = deal::deal(&self.targets, self.rules.job.workload.tasks, &mut self.batch.bytes);
            let shares = shares.map_err(|(directory, errno)| {
                open_failed(&directory.path_below(&self.rules.targets()[directory.target]), errno)
            })?;
            self.common.offer_deal(deal::encoded(&shares));
        }
        Ok(())
    }

    fn go(&mut self, position: u64) -> Result<bool, EngineError> {
        if position == 0 {
            self.stack = deal::decoded(&self.common.dealt(), self.task, self.targets.len());
        }
        Ok(position == 0)
    }

    #[inline(always)]
    fn more(&mut self) -> Result<bool, EngineError> {
        Ok(!self.batch.is_empty() || self.refill()?)
    }

    #[inline(always)]
    fn act(&mut self) -> Result<OpOutcome, EngineError> {
        if self.batch.plain > 0 {
            self.batch.plain -= 1;
            return Ok(OpOutcome::Done);
        }
        self.look()
    }

    fn check(&mut self) -> bool {
        false
    }

    fn wrong_data(&self) -> Option<EngineError> {
        None
    }

    fn path(&self) -> PathBuf {
        self.name.clone()
    }

    fn give(self) -> OpCounters {
        OpCounters { found: self.found, ..OpCounters::default() }
    }
}

/// Names that have been read but not processed.
struct Batch {
    /// Number of names that need not be examined.
    plain: u64,
    /// Names to be examined, each terminated by a zero.
    names: Vec<u8>,
    /// Position of the next of these names.
    next: usize,
    bytes: Vec<MaybeUninit<u8>>,
}

impl Default for Batch {
    fn default() -> Self {
        Self { plain: 0, names: Vec::new(), next: 0, bytes: vec![MaybeUninit::uninit(); LIST_BYTES] }
    }
}

impl Batch {
    fn is_empty(&self) -> bool {
        self.plain == 0 && self.next == self.names.len()
    }

    fn next(&mut self) -> Option<&std::ffi::CStr> {
        let name = std::ffi::CStr::from_bytes_until_nul(self.names.get(self.next..)?).ok()?;
        self.next += name.to_bytes_with_nul().len();
        Some(name)
    }

    /// Reads the next names of `open`, the opened `directory`, and pushes its subdirectories onto `stack`.
    /// Returns the number of names that need not be examined, or `None` at the end of the directory.
    fn read(
        &mut self,
        find: &Find,
        open: &OwnedFd,
        directory: &Directory,
        stack: &mut Vec<Directory>,
    ) -> Result<Option<u64>, Errno> {
        self.names.clear();
        self.next = 0;
        let mut found = 0;
        let read = names(open, &mut self.bytes, |name, kind| {
            if name.to_bytes().starts_with(CLAIM) {
                return;
            }
            if kind == FileType::Directory {
                if directory.descends {
                    stack.push(directory.below(name.to_bytes()));
                }
            } else if !find.fits(name.to_bytes()) {
                self.plain += 1;
            } else if find.looks() {
                self.names.extend_from_slice(name.to_bytes_with_nul());
            } else {
                (self.plain, found) = (self.plain + 1, found + 1);
            }
        })?;
        Ok(read.then_some(found))
    }
}

fn open_failed(path: &Path, errno: Errno) -> EngineError {
    EngineError::Open { path: path.to_owned(), purpose: "the names in it", errno }
}
