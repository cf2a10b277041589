//! Small objects in sets, in the [`ObjectOrder`] of md-workbench.
//!
//! An item is an operation on an object. The directories of the sets are created and removed within the time of
//! the phase, but not counted as items. Each call uses the whole path of its object. If a step does not find its
//! object, the rest of the step is skipped. Source: the calls of md-workbench of IOR 4.1, as shown by strace.

pub(crate) mod order;

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use plan::{Bytes, Objects, ObjectsPlacement, Operation, Phase};
use rustix::fs::{AtFlags, CWD, Mode, OFlags};

use crate::data::check::{NoiseTable, generations};
use crate::phase::clock::{self, Scale};
use crate::phase::rules::LEAST_INTERVAL_NS;
use crate::tree::data::DataPatterns;
use crate::tree::item_ops::DIRECTORY_MODE;
use crate::tree::name::Name;
use crate::tree::objects::order::{CREATE, Emptied, ObjectCall, ObjectOrder, READ, REMOVE, STAT};
use crate::tree::small::Small;
use crate::tree::sync_worker::{OpCounters, OpRunner, TaskContext};
use crate::tree::trouble::{OpOutcome, Surprise, failed, note};
use crate::tree::walk::again;
use crate::{EngineError, Errno, PhaseJob, Point, Surprises};

/// Parameters shared by all tasks of a phase.
#[derive(Debug)]
pub(crate) struct ObjectRules<'a> {
    job: &'a PhaseJob<'a>,
    objects: &'a Objects,
    placement: ObjectsPlacement<'a>,
    order: ObjectOrder<'a>,
    null: bool,
    /// `O_DIRECT` if the data of objects bypasses the page cache.
    direct: OFlags,
    patterns: Option<DataPatterns>,
    noise: Option<NoiseTable>,
}

impl<'a> ObjectRules<'a> {
    pub(crate) fn new(job: &'a PhaseJob<'a>, placement: ObjectsPlacement<'a>) -> Self {
        let (workload, objects) = (job.workload, placement.objects());
        let order = ObjectOrder::new(job, objects);
        let step = order.step;
        let null = !workload.backend.moves_data();
        let writes = step.contains(&CREATE) && objects.object_bytes > Bytes(0) && !null;
        let verifies = step.contains(&READ) && workload.verify && !null;
        let data = &job.data;
        Self {
            job,
            objects,
            placement,
            order,
            null,
            direct: if workload.direct { OFlags::DIRECT } else { OFlags::empty() },
            patterns: writes
                .then(|| DataPatterns::new(data.signature, data.write_generation, objects.object_bytes.0)),
            noise: verifies.then(|| NoiseTable::new(data.signature)),
        }
    }

    /// The points at which all tasks synchronise.
    pub(crate) fn points(&self) -> Vec<Point> {
        let mut points = vec![Point::Ready, Point::Start];
        points.extend(self.job.ending().point());
        // A root is only removed when no task's sets are left in it.
        if self.job.workload.barriers || self.job.phase == Phase::Cleanup {
            points.push(Point::Transferred);
        }
        points.push(Point::Closed);
        points
    }

    /// The first and last generation that a check accepts.
    pub(crate) fn generations(&self) -> Option<(u16, u16)> {
        generations(&self.job.data.expect)
    }

    /// Length of an interval of the series.
    pub(crate) fn interval_ns(&self) -> u64 {
        self.job.series_interval.0.max(LEAST_INTERVAL_NS)
    }

    /// Size of an object in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.objects.object_bytes.0
    }

    /// The context of the task at `index` in this process, which has the number `task`.
    pub(crate) fn context(&'a self, index: usize, task: u32) -> TaskContext<'a> {
        let limit = self.order.operations(index, task);
        TaskContext { job: self.job, interval_ns: self.interval_ns(), limit }
    }

    /// The file number of an object's data. The numbers of two objects are rarely equal.
    #[expect(clippy::cast_possible_truncation, reason = "documented")]
    fn file_number(&self, owner: u32, set: u32, object: u64) -> u32 {
        /// The factor is odd and far from any small fraction of 2^32.
        const SPREAD: u32 = 0x9e37_79b1;
        owner
            .wrapping_mul(self.objects.sets)
            .wrapping_add(set)
            .wrapping_mul(SPREAD)
            .wrapping_add(object as u32)
    }
}

/// A task working on its objects.
#[derive(Debug)]
pub(crate) struct ObjectWorker<'s> {
    rules: &'s ObjectRules<'s>,
    task: u32,
    /// The roots of all targets, in order, each with a trailing slash.
    roots: Vec<Vec<u8>>,
    name: Name,
    small: Small<'s>,
    call: ObjectCall,
    /// Whether the step has not found its object.
    given_up: bool,
    emptied: Emptied,
    /// Number of the task's sets that the cleanup has removed, and the surprises found there.
    removed: u32,
    surprises: Surprises,
    /// Start of the step, in ticks. The rest after it is a multiple of its duration.
    began: u64,
    scale: Scale,
    paths: Vec<(u32, PathBuf)>,
}

impl<'s> ObjectWorker<'s> {
    /// Creates a worker for the objects of `task`. Nothing is opened yet.
    pub(crate) fn new(rules: &'s ObjectRules<'s>, task: u32) -> Self {
        let reads = if rules.order.step.contains(&READ) { rules.bytes() } else { 0 };
        let small =
            Small::new(task, rules.patterns.as_ref(), reads, rules.noise.as_ref(), rules.generations());
        Self {
            rules,
            task,
            roots: root_names(rules),
            name: Name::new(),
            small,
            call: ObjectCall::default(),
            given_up: false,
            emptied: Emptied::default(),
            removed: 0,
            surprises: Surprises::default(),
            began: 0,
            scale: clock::scale(),
            paths: Vec::new(),
        }
    }

    fn root_path(&self, owner: u32) -> PathBuf {
        self.rules.placement.root(owner, self.rules.job.repetition)
    }

    fn set_path(&self, owner: u32, set: u32) -> PathBuf {
        self.root_path(owner).join(ObjectsPlacement::set(owner, set))
    }

    /// Whether this task creates and removes a root. The first task on each target does, unless the root is the
    /// target itself.
    fn has_own_root(&self) -> bool {
        let Self { rules, .. } = self;
        !rules.null
            && !rules.objects.in_target
            && (self.task as usize) < self.rules.placement.roots(self.rules.job.repetition).len()
    }

    fn try_act(&mut self) -> Result<OpOutcome, Errno> {
        let ObjectCall { owner, set, object, .. } = self.call;
        let name = self.name.c_str()?;
        let (file, bytes) = (self.rules.file_number(owner, set, object), self.rules.bytes());
        match self.call.kind {
            STAT => {
                again(|| rustix::fs::stat(name))?;
                Ok(OpOutcome::Done)
            }
            READ => self.small.read(name, OFlags::RDONLY | self.rules.direct, file, bytes, bytes),
            REMOVE => {
                again(|| rustix::fs::unlink(name))?;
                Ok(OpOutcome::Done)
            }
            _ => self.small.write(name, OFlags::CREATE | self.rules.direct, file, false),
        }
    }

    /// Rests after a step, for the step's duration times the configured factor.
    fn rest(&mut self) {
        let kind = clock::kind();
        let took = self.scale.nanos(clock::now(kind).saturating_sub(self.began));
        if self.began > 0 {
            crate::phase::pace::sleep(self.rules.objects.rest_ns(took));
        }
        self.began = clock::now(kind);
    }

    /// Removes the directories of the task's sets before number `end`, which the task has emptied.
    #[cold]
    fn remove_sets(&mut self, end: u32) -> Result<(), EngineError> {
        let mut surprises = std::mem::take(&mut self.surprises);
        for set in self.removed..end {
            self.directory(self.set_path(self.task, set), Operation::Remove, &mut surprises)?;
        }
        (self.removed, self.surprises) = (end, surprises);
        Ok(())
    }

    /// Performs an operation on a directory of sets.
    fn directory(
        &self,
        path: PathBuf,
        operation: Operation,
        surprises: &mut Surprises,
    ) -> Result<(), EngineError> {
        let done = again(|| match operation {
            Operation::Remove => rustix::fs::unlinkat(CWD, &path, AtFlags::REMOVEDIR),
            _ => rustix::fs::mkdirat(CWD, &path, Mode::from_raw_mode(DIRECTORY_MODE)),
        });
        let Err(errno) = done else { return Ok(()) };
        match Surprise::of(operation, errno) {
            Some(surprise) => note(surprises, surprise, || path),
            None => return Err(failed(path, operation, errno, 0)),
        }
        Ok(())
    }
}

impl OpRunner for ObjectWorker<'_> {
    fn task(&self) -> (u32, u32) {
        (self.task, self.task)
    }

    fn prepare(&mut self) -> Result<(), EngineError> {
        if self.rules.job.phase != Phase::Precreate || !self.has_own_root() {
            return Ok(());
        }
        let root = self.root_path(self.task);
        match again(|| rustix::fs::mkdir(&root, Mode::from_raw_mode(DIRECTORY_MODE))) {
            Ok(()) | Err(Errno(libc::EEXIST)) => Ok(()),
            Err(errno) => Err(failed(root, Operation::Create, errno, 0)),
        }
    }

    fn enter(&mut self, surprises: &mut Surprises) -> Result<(), EngineError> {
        if self.rules.null {
            return Ok(());
        }
        if self.rules.job.phase == Phase::Precreate {
            for set in 0..self.rules.objects.sets {
                self.directory(self.set_path(self.task, set), Operation::Create, surprises)?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, surprises: &mut Surprises) -> Result<(), EngineError> {
        if self.rules.job.phase == Phase::Cleanup && !self.rules.null {
            self.remove_sets(self.rules.objects.sets)?;
            surprises.merge(std::mem::take(&mut self.surprises));
        }
        Ok(())
    }

    fn leave(&mut self, surprises: &mut Surprises) -> Result<(), EngineError> {
        if self.rules.job.phase == Phase::Cleanup && self.has_own_root() {
            self.directory(self.root_path(self.task), Operation::Remove, surprises)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn go(&mut self, position: u64) -> Result<bool, EngineError> {
        let rules = self.rules;
        let before = self.call;
        self.call = rules.order.at(self.task, position, &mut self.emptied);
        let ObjectCall { kind, owner, set, object } = self.call;
        if set > self.removed && rules.job.phase == Phase::Cleanup && !rules.null {
            self.remove_sets(set)?;
        }
        if position == 0 || (before.owner, before.set, before.object) != (owner, set, object) {
            self.name.clear().push(&self.roots[owner as usize % self.roots.len()]);
            self.name.push_number(owner.into()).push(b"_").push_number(set.into());
            self.name.push(b"/file-").push_number(object);
        }
        let begins = rules.order.begins_step(position);
        self.given_up &= !begins;
        let rests = rules.objects.waiting_ppm > 0 && begins;
        if rests {
            self.rest();
        }
        if kind != CREATE {
            return Ok(rests);
        }
        Ok(self.small.make_ready(rules.file_number(owner, set, object)))
    }

    #[inline(always)]
    fn act(&mut self) -> Result<OpOutcome, EngineError> {
        if self.rules.null {
            std::hint::black_box(&self.name);
            return Ok(OpOutcome::Done);
        }
        if self.given_up {
            return Ok(OpOutcome::LeftOut);
        }
        let errno = match self.try_act() {
            Ok(verdict) => return Ok(verdict),
            Err(errno) => errno,
        };
        let operation = self.call.operation();
        match Surprise::of(operation, errno) {
            Some(surprise) => {
                // In other phases each operation has its own object.
                self.given_up = self.rules.job.phase == Phase::Benchmark;
                Ok(OpOutcome::Surprise(surprise))
            }
            None => Err(failed(self.path(), operation, errno, self.rules.bytes())),
        }
    }

    #[inline(always)]
    fn kind(&self) -> usize {
        self.call.kind
    }

    fn may_end(&self, done: u64) -> bool {
        done.is_multiple_of(self.rules.order.round())
    }

    #[inline(always)]
    fn check(&mut self) -> bool {
        let before = self.small.findings.first.len();
        let checked = self.small.check();
        if self.small.findings.first.len() > before {
            let ObjectCall { owner, set, object, .. } = self.call;
            self.paths.push((self.rules.file_number(owner, set, object), self.path()));
        }
        checked
    }

    fn wrong_data(&self) -> Option<EngineError> {
        self.small.wrong_data(&self.path())
    }

    #[cold]
    fn path(&self) -> PathBuf {
        let ObjectCall { owner, set, object, .. } = self.call;
        self.set_path(owner, set).join(ObjectsPlacement::object_name(object))
    }

    fn give(self) -> OpCounters {
        let Small { findings, read_bytes, write_bytes, continued, .. } = self.small;
        let paths = self.paths;
        OpCounters { findings, paths, read_bytes, write_bytes, continued, ..OpCounters::default() }
    }
}

/// The roots of all targets that have tasks, in order, each with a trailing slash.
fn root_names(rules: &ObjectRules<'_>) -> Vec<Vec<u8>> {
    let workload = rules.job.workload;
    let targets = workload.files.targets.len().min(workload.tasks as usize);
    let name =
        |owner| [rules.placement.root(owner, rules.job.repetition).as_os_str().as_bytes(), b"/"].concat();
    (0..u32::try_from(targets).unwrap_or(u32::MAX)).map(name).collect()
}
