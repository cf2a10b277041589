//! Jobs of an analytics server: determines what each thread of a launch does next.
//!
//! A step consists of passes ([`plan::jobs::StepPass`]). In a pass each thread of the step has an equal part of the
//! pages to read and of those to write. It reads a page, computes its rows, writes as large a share of its part as it
//! has read, and so on. At the end it computes its part of the operations. A thread does one thing at a time, and the
//! threads share the processors.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jobs::launch::{LaunchTask, News};
use jobs::{Counters, Io, JobError, Meter, StepContext};
use plan::jobs::{Data, Extents, Flow, Step, StepRows};
use plan::{JobSpace, Jobs};

use crate::model::Node;
use crate::simulation::parts::service::{uniform, whole};
use crate::simulation::parts::threads::Threads;
use crate::simulation::time::{Ticks, ticks};

/// Longest uninterrupted computation, after which another thread may get the processor: a millisecond.
const SLICE_NS: f64 = 1e6;

/// How long computations take, in ticks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ComputeTimes {
    row: f64,
    operation: f64,
    /// Processor time of a transfer.
    request: f64,
}

impl ComputeTimes {
    /// The times on `node`, which must specify them. All are multiplied by `factor`.
    pub(crate) fn of(node: &Node, factor: f64) -> Self {
        let each = |rate: Option<f64>| rate.map_or(0.0, |rate| ticks(1e9) / rate * factor);
        Self {
            row: each(node.rows_per_second),
            operation: each(node.operations_per_second),
            request: node.request_time.map_or(0.0, |time| ticks(time.0 as f64) * factor),
        }
    }

    /// The time for one page with `rows` rows that is read or written.
    fn page(&self, rows: u64) -> Ticks {
        whole(self.request + self.row * rows as f64)
    }
}

/// A part of a pass.
#[derive(Debug, Clone)]
struct Stream {
    file: u64,
    space: usize,
    bytes: u64,
    /// Position in the file at which it begins, if it is sequential.
    start: u64,
    /// Number of pages in the file, from which those at random positions are chosen.
    file_pages: u64,
    random: bool,
    /// Whether the data is new and uses space.
    is_new: bool,
    /// Whether it is removed at the end of the step.
    is_own: bool,
}

/// A page to transfer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Page {
    pub(crate) place: (u64, u64),
    pub(crate) bytes: u64,
    pub(crate) space: usize,
    is_new: bool,
}

/// A pass of a running step.
#[derive(Debug, Clone, Default)]
struct Pass {
    reads: Vec<Stream>,
    writes: Vec<Stream>,
    /// Processor time of all operations.
    computing: f64,
}

/// A thread in a pass.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct JobThread {
    pub(crate) launch: u32,
    /// Number of the thread among those that share the processors.
    pub(crate) processor_thread: u32,
    /// The range of pages still to read: the next one, and the one after the last. Then the same for
    /// writes.
    reads: (u64, u64),
    writes: (u64, u64),
    first_read: u64,
    first_write: u64,
    /// Number of computations that are left, and the duration of each.
    slices: u64,
    slice: Ticks,
    /// The page that it is transferring or computing.
    pub(crate) page: Option<Page>,
}

/// What a thread does next.
#[derive(Debug, Clone, Copy)]
pub(crate) enum JobAction {
    /// It reads a page, and then computes its rows.
    Read(Page),
    /// It computes the rows of a page, and then writes it.
    Write(Page, Ticks),
    /// It computes.
    Compute(Ticks),
    /// It has nothing more to do in this pass.
    Rest,
}

/// A running launch.
#[derive(Debug)]
pub(crate) struct RunningLaunch {
    pub(crate) task: LaunchTask,
    /// The number of its first thread; its threads have consecutive numbers.
    pub(crate) first_thread: u32,
    pub(crate) step: usize,
    /// Number of rows that the step reads and writes.
    pub(crate) rows: StepRows,
    passes: Vec<Pass>,
    pass: usize,
    /// Number of threads that are working in the pass.
    pub(crate) at_work: u32,
    pub(crate) step_start: Ticks,
    pub(crate) step_before: Counters,
    pub(crate) moved: Counters,
    /// Bytes of the step's own files in each space.
    own: [u64; 3],
    /// Processor time of all steps, and before the current one.
    pub(crate) cpu: Ticks,
    pub(crate) cpu_before: Ticks,
    /// The signal that ends it, if any.
    pub(crate) killed: Option<i32>,
}

/// The running launches of a phase.
pub(crate) struct RunningJobs<'a> {
    pub(crate) phase: JobPhase<'a>,
    pub(crate) threads: Threads,
    pub(crate) launches: BTreeMap<u32, RunningLaunch>,
    /// The state of each thread, by task of the phase.
    pub(crate) at_work: Vec<JobThread>,
    pub(crate) news: Vec<News>,
    /// Processor time of all launches.
    pub(crate) processor_time: Ticks,
}

impl<'a> RunningJobs<'a> {
    /// Creates the state without any launches.
    pub(crate) fn new(jobs: &'a Jobs, times: ComputeTimes, threads: Threads) -> Self {
        let phase = JobPhase::new(jobs, times);
        Self {
            phase,
            threads,
            launches: BTreeMap::new(),
            at_work: Vec::new(),
            news: Vec::new(),
            processor_time: 0,
        }
    }
}

impl JobThread {
    /// A thread that has nothing to do.
    pub(crate) fn new(processor_thread: u32) -> Self {
        Self { processor_thread, ..Self::default() }
    }

    /// The same state on another thread.
    pub(crate) fn on(self, processor_thread: u32) -> Self {
        Self { processor_thread, ..self }
    }
}

/// What all launches have in common.
#[derive(Debug)]
pub(crate) struct JobPhase<'a> {
    pub(crate) jobs: &'a Jobs,
    times: ComputeTimes,
    /// The numbers of files.
    files: BTreeMap<PathBuf, u64>,
    io: Io,
}

impl<'a> JobPhase<'a> {
    pub(crate) fn new(jobs: &'a Jobs, times: ComputeTimes) -> Self {
        let io = Io {
            page_bytes: jobs.page_bytes,
            direct: jobs.direct,
            sync: jobs.sync,
            meter: Meter::default().into(),
        };
        Self { jobs, times, files: BTreeMap::new(), io }
    }

    /// The tables and their sizes before step number `step` of a launch.
    fn known(&self, task: &LaunchTask, step: usize) -> Extents {
        self.jobs.test(&task.order.test).map_or_else(Extents::new, |test| self.jobs.extents(test, step))
    }

    /// Sets up the passes of the current step of `launch`.
    fn passes(
        &mut self,
        launch: &RunningLaunch,
        step: &Step,
        known: &Extents,
    ) -> Result<Vec<Pass>, JobError> {
        let mut all = Vec::new();
        for pass in self.jobs.passes(step, known) {
            let mut streams = |flows: &[Flow<'_>], writes: bool| {
                flows.iter().map(|flow| self.stream(launch, step, flow, writes)).collect::<Result<_, _>>()
            };
            let (reads, writes) = (streams(&pass.reads, false)?, streams(&pass.writes, true)?);
            all.push(Pass { reads, writes, computing: 0.0 });
        }
        if launch.task.order.check {
            // A loaded table is read back.
            let reads = all.iter().flat_map(|pass| pass.writes.clone()).collect();
            all.push(Pass { reads, ..Pass::default() });
        }
        if step.action.operations() > 0 {
            let computing = step.action.operations() as f64 * self.times.operation;
            all.push(Pass { computing, ..Pass::default() });
        }
        Ok(all)
    }

    fn stream(
        &mut self,
        launch: &RunningLaunch,
        step: &Step,
        flow: &Flow<'_>,
        writes: bool,
    ) -> Result<Stream, JobError> {
        let number = u32::try_from(launch.step).unwrap_or(u32::MAX);
        let context = StepContext { order: &launch.task.order, step: number, io: &self.io };
        let place = match flow.data {
            Data::Input(name) => context.input(name)?,
            Data::Output => match step.action.output() {
                Some(output) => context.output(output),
                None => context.own(JobSpace::Work, "output", 0),
            },
            Data::Own(space, what) => context.own(space, what, 0),
        };
        let next = self.files.len() as u64;
        Ok(Stream {
            file: *self.files.entry(place.path).or_insert(next),
            space: place.space as usize,
            bytes: flow.bytes,
            start: flow.start,
            file_pages: flow.size.div_ceil(self.jobs.page_bytes.0).max(1),
            random: flow.random,
            is_new: writes && !flow.random,
            is_own: matches!(flow.data, Data::Own(..)),
        })
    }

    /// Creates the launch of `task`, whose threads begin at `first_thread`, before its first step.
    pub(crate) fn launch(task: LaunchTask, first_thread: u32) -> RunningLaunch {
        RunningLaunch {
            task,
            first_thread,
            step: 0,
            rows: StepRows::default(),
            passes: Vec::new(),
            pass: 0,
            at_work: 0,
            step_start: 0,
            step_before: Counters::default(),
            moved: Counters::default(),
            own: [0; 3],
            cpu: 0,
            cpu_before: 0,
            killed: None,
        }
    }

    /// Begins the next step of `launch`, which becomes its current step.
    ///
    /// # Errors
    /// Errors if it reads a table that does not exist.
    pub(crate) fn begin_step(&mut self, launch: &mut RunningLaunch, now: Ticks) -> Result<(), JobError> {
        let step = &launch.task.order.steps[launch.step];
        let known = self.known(&launch.task, launch.step);
        let mut rows = self.jobs.rows(step, &known);
        if launch.task.order.check {
            rows.read += rows.written;
        }
        launch.passes = self.passes(launch, step, &known)?;
        launch.rows = rows;
        let mut own = [0; 3];
        let written = launch.passes.iter().flat_map(|pass| &pass.writes).filter(|stream| stream.is_own);
        written.for_each(|stream| own[stream.space] += stream.bytes);
        (launch.pass, launch.step_start, launch.step_before) = (0, now, launch.moved);
        (launch.cpu_before, launch.own) = (launch.cpu, own);
        Ok(())
    }

    /// The parts of all threads in the current pass of `launch`, or `None` if the step has no more
    /// passes.
    pub(crate) fn begin_pass(&self, launch: &mut RunningLaunch) -> Option<Vec<JobThread>> {
        let pass = launch.passes.get(launch.pass)?;
        let threads = u64::from(launch.task.order.steps[launch.step].threads.max(1));
        let pages = |streams: &[Stream]| streams.iter().map(|one| self.pages(one)).sum::<u64>();
        let (reads, writes) = (pages(&pass.reads), pages(&pass.writes));
        let part = |all: u64, number: u64| (all * number / threads, all * (number + 1) / threads);
        let computing = pass.computing / threads as f64;
        let slices = whole((computing / ticks(SLICE_NS)).ceil());
        let thread = |number: u64| JobThread {
            launch: launch.task.order.launch,
            reads: part(reads, number),
            writes: part(writes, number),
            first_read: part(reads, number).0,
            first_write: part(writes, number).0,
            slices,
            slice: whole(computing / slices.max(1) as f64),
            ..JobThread::default()
        };
        launch.at_work = u32::try_from(threads).unwrap_or(u32::MAX);
        Some((0..threads).map(thread).collect())
    }

    /// Ends the current pass of `launch`.
    pub(crate) fn end_pass(launch: &mut RunningLaunch) {
        launch.pass += 1;
    }

    /// Ends a step, whose own files are removed.
    pub(crate) fn end_step(launch: &mut RunningLaunch) {
        for (held, own) in launch.moved.held_bytes.iter_mut().zip(launch.own) {
            *held -= own.min(*held);
        }
        launch.step += 1;
    }

    fn pages(&self, stream: &Stream) -> u64 {
        stream.bytes.div_ceil(self.jobs.page_bytes.0)
    }

    /// Determines what `thread` of `launch` does next. `random` is used to choose positions.
    pub(crate) fn next(
        &self,
        launch: &RunningLaunch,
        thread: &mut JobThread,
        random: &mut rand_xoshiro::Xoshiro256PlusPlus,
    ) -> JobAction {
        let Some(pass) = launch.passes.get(launch.pass).filter(|_| launch.killed.is_none()) else {
            return JobAction::Rest;
        };
        let (read, reads) = (thread.reads.0 - thread.first_read, thread.reads.1 - thread.first_read);
        let (written, writes) = (thread.writes.0 - thread.first_write, thread.writes.1 - thread.first_write);
        let due = (writes * read).checked_div(reads).unwrap_or(writes);
        if written < due {
            let page = self.page(&pass.writes, thread.writes.0, random);
            thread.writes.0 += 1;
            return JobAction::Write(page, self.time_of(&page));
        }
        if read < reads {
            let page = self.page(&pass.reads, thread.reads.0, random);
            thread.reads.0 += 1;
            return JobAction::Read(page);
        }
        if thread.slices > 0 {
            thread.slices -= 1;
            return JobAction::Compute(thread.slice);
        }
        JobAction::Rest
    }

    /// Page number `number` of several consecutive streams.
    fn page(
        &self,
        streams: &[Stream],
        mut number: u64,
        random: &mut rand_xoshiro::Xoshiro256PlusPlus,
    ) -> Page {
        let each = self.jobs.page_bytes.0;
        let mut page = Page { place: (0, 0), bytes: each, space: 0, is_new: false };
        for stream in streams {
            let pages = self.pages(stream);
            if number < pages {
                let at = if stream.random {
                    // The number is above 0 and at most 1.
                    whole((uniform(random) * stream.file_pages as f64).ceil() - 1.0)
                } else {
                    stream.start / each + number
                };
                page.place = (stream.file, at * each);
                page.bytes = each.min(stream.bytes - number * each);
                (page.space, page.is_new) = (stream.space, stream.is_new);
                break;
            }
            number -= pages;
        }
        page
    }

    /// Processor time of a page that was read or will be written. It depends on its rows; the header takes
    /// the space of one row.
    pub(crate) fn time_of(&self, page: &Page) -> Ticks {
        self.times.page((page.bytes / plan::jobs::ROW_BYTES).saturating_sub(1))
    }
}

impl RunningLaunch {
    /// Counts a page that was read or written.
    pub(crate) fn count(&mut self, page: &Page, writes: bool) {
        let moved = &mut self.moved;
        if !writes {
            moved.read_bytes[page.space] += page.bytes;
            moved.reads[page.space] += 1;
            return;
        }
        moved.write_bytes[page.space] += page.bytes;
        moved.writes[page.space] += 1;
        if page.is_new {
            moved.held_bytes[page.space] += page.bytes;
            moved.peak_bytes[page.space] = moved.peak_bytes[page.space].max(moved.held_bytes[page.space]);
        }
    }

    /// The counters of the current step so far.
    pub(crate) fn moved_in_step(&self) -> Counters {
        let before = &self.step_before;
        let less = |now: [u64; 3], then: [u64; 3]| std::array::from_fn(|space| now[space] - then[space]);
        Counters {
            read_bytes: less(self.moved.read_bytes, before.read_bytes),
            write_bytes: less(self.moved.write_bytes, before.write_bytes),
            reads: less(self.moved.reads, before.reads),
            writes: less(self.moved.writes, before.writes),
            ..self.moved
        }
    }
}
