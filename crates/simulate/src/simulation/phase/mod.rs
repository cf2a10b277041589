//! The events of a phase, or of several at the same time.
//!
//! Each task and each request belongs to one of the phases. They share the parts of the model, the clock and the events.
//!
//! | file | what is in it |
//! |---|---|
//! | here | phases that run at the same time, and the loop over their events |
//! | `one` | the state of one of them |
//! | `tasks` | the tasks at the beginning of a phase |
//! | `operation` | an operation: its beginning, its processor time, its call on a name, its end |
//! | `transfer` | the path of bytes between a node and the devices |
//! | `exchange` | messages between nodes |
//! | `launches` | jobs and their processes |
//! | `steady` | the steady state, and the time that is not simulated |
//! | `repeats` | the same for a phase that repeats itself |
//! | `ending` | how tasks end, and what the phase leaves behind |

mod ending;
mod exchange;
pub(crate) mod launches;
mod one;
mod operation;
mod repeats;
mod steady;
mod tasks;
mod transfer;

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use engine::{EndOutcome, Stonewalled};
use plan::Sharing;

pub(crate) use self::one::PhaseInput;
use self::one::RunningPhase;
use crate::simulation::jobs::RunningJobs;
use crate::simulation::parts::names::NameCall;
use crate::simulation::parts::service::whole;
use crate::simulation::queue::Events;
use crate::simulation::recording::Recording;
use crate::simulation::request::{NONE, Request, Requests, Stage};
use crate::simulation::steady::{Extrapolated, Steady};
use crate::simulation::system::{Behind, NodeLimits, System};
use crate::simulation::task::{Task, depth_of};
use crate::simulation::time::{CLOCK_END, TICKS_PER_NS, Ticks, ticks};

/// Number of events between two checks of the stop flag, at which the progress is also reported.
const LOOK_EVERY: u32 = 1 << 16;

/// The result of a phase.
pub(crate) struct PhaseOutput {
    pub(crate) tasks: Vec<Task>,
    pub(crate) recording: Recording,
    /// When it began and ended.
    pub(crate) start: Ticks,
    pub(crate) end: Ticks,
    pub(crate) stonewall: Option<Stonewalled>,
    /// Time from the beginning of the first transfer until the first task was done, and the bytes of all
    /// tasks by then.
    pub(crate) first_done: (Ticks, u64),
    /// Counters of each device at the end of each interval.
    pub(crate) samples: Vec<Sample>,
    pub(crate) stopped: bool,
    /// Whether it reached the end of the clock.
    pub(crate) too_long: bool,
    /// In an open loop: number of transfers that were due and never started.
    pub(crate) unstarted: u64,
    /// Processor time that the program used on all nodes.
    pub(crate) processor_time: Ticks,
    /// For exchanges: each endpoint, with its node.
    pub(crate) ends: Vec<(u32, EndOutcome)>,
    /// The part that was not simulated.
    pub(crate) extrapolated: Option<Extrapolated>,
}

/// The counters of the devices in an interval.
#[derive(Clone)]
pub(crate) struct Sample {
    pub(crate) start: Ticks,
    pub(crate) length: Ticks,
    /// The devices that did something, by index.
    pub(crate) drives: Vec<(usize, crate::simulation::parts::drive::Counters)>,
}

/// Index of the only phase, where no other runs at the same time.
const ALONE: usize = 0;

/// Phases in progress, which run at the same time.
struct Running<'a> {
    phases: Vec<RunningPhase<'a>>,
    system: &'a mut System,
    limits: &'a NodeLimits,
    events: Events,
    /// Events of other requests that are caused by the current event. They are added to the queue when it is
    /// done, because one of them may precede it in the order of events at the same time.
    following: Vec<(Ticks, u32)>,
    requests: Requests,
    /// The tasks of all phases, one phase after another.
    tasks: Vec<Task>,
    /// Length of an interval of the series, and when the next interval of the devices' counters ends.
    interval: Ticks,
    interval_end: Ticks,
    /// The counters between the ends of all intervals, and the starts and ends of all phases.
    samples: Vec<Sample>,
    /// For each node: whether tasks wait for processors.
    crowded: Vec<bool>,
    /// Whether all tasks are of one phase and on one node, so that their requests remain in order.
    on_one_node: bool,
    /// Requests of each node that wait for room in its page cache.
    waiting: Vec<VecDeque<u32>>,
    /// Number of requests that have waited so.
    waited: u64,
    /// For jobs, which never run beside others: their launches.
    jobs: Option<RunningJobs<'a>>,
    pieces: Vec<(u32, crate::simulation::parts::drive::Piece)>,
    steady: Steady,
}

/// Simulates phases at the same time, which begins at the present time of `system`. That time is then advanced to the end of
/// the last of them. The results are in the order of `inputs`.
pub(crate) fn simulate(
    inputs: &[PhaseInput<'_>],
    limits: &NodeLimits,
    system: &mut System,
) -> Vec<PhaseOutput> {
    let mut running = Running::new(inputs, limits, system);
    running.write_behind();
    running.begin();
    let stopped = running.go();
    running.finish(stopped)
}

impl<'a> Running<'a> {
    fn new(inputs: &'a [PhaseInput<'a>], limits: &'a NodeLimits, system: &'a mut System) -> Self {
        let start = system.now;
        let interval = inputs.iter().map(|input| ticks(input.job.series_interval.0 as f64));
        let interval = whole(interval.fold(f64::INFINITY, f64::min)).max(TICKS_PER_NS);
        let mut tasks: Vec<Task> = Vec::new();
        let mut phases: Vec<RunningPhase<'a>> = Vec::new();
        for (number, input) in (0..).zip(inputs) {
            let mut own = input.tasks(system.paths[input.layout].drives);
            own.iter_mut().for_each(|task| task.phase = number);
            let own_tasks = (tasks.len(), own.len());
            phases.push(RunningPhase::new(input, (number, limits), own_tasks, interval, system));
            tasks.append(&mut own);
        }
        let is_alone = phases.len() == 1;
        for phase in &mut phases {
            if is_alone { phase.runs_alone(tasks.len(), system) } else { phase.runs_beside_others() }
        }
        let processors_of = |node: usize| system.nodes[node].processors.count();
        let mut on_node = vec![0_usize; system.nodes.len()];
        tasks.iter().for_each(|task| on_node[task.node as usize] += 1);
        let on_one_node = is_alone && on_node.iter().filter(|count| **count > 0).count() <= 1;
        let crowded = on_node.iter().enumerate().map(|(node, count)| *count > processors_of(node)).collect();
        system.names.iter_mut().for_each(super::parts::names::NameService::unlock);
        let ends = phases.iter().map(|phase| phase.interval_after(start, start, interval));
        Self {
            interval,
            interval_end: ends.min().unwrap_or(Ticks::MAX),
            // What several phases do in a steady state is not known.
            steady: Steady::new(is_alone && phases.iter().all(RunningPhase::may_be_steady)),
            phases,
            tasks,
            events: Events::default(),
            following: Vec::new(),
            requests: Requests::default(),
            samples: Vec::new(),
            crowded,
            on_one_node,
            waiting: vec![VecDeque::new(); system.nodes.len()],
            waited: 0,
            jobs: None,
            pieces: Vec::new(),
            limits,
            system,
        }
    }

    /// The indices of the tasks of phase number `of`.
    fn tasks_of(&self, of: usize) -> Range<usize> {
        let end = self.phases.get(of + 1).map_or(self.tasks.len(), |next| next.first_task);
        self.phases[of].first_task..end
    }

    /// Begins the phases that begin at once, and has the others begin later.
    fn begin(&mut self) {
        for of in 0..self.phases.len() {
            let start = self.phases[of].start;
            if start == self.system.now {
                self.open(of);
            } else {
                let begin = Request { stage: Stage::Begin, ..Request::new(NONE, 0, narrow(of)) };
                let number = self.requests.add(begin);
                self.events.push((start, number));
            }
        }
        while let Some(event) = self.following.pop() {
            self.events.push(event);
        }
    }

    /// Opens the files or connections of a phase, and starts its first operations.
    fn open(&mut self, of: usize) {
        let tasks = self.tasks_of(of);
        let phase = &mut self.phases[of];
        let start = phase.start;
        if let Some(exchanges) = &phase.exchanges {
            let (opened, first) = (exchanges.opened, exchanges.counted_from);
            phase.first_io = first;
            for task in &mut self.tasks[tasks] {
                // With a warm-up, connections are established before the counted time.
                task.opened = if first > opened { [first; 2] } else { [start, opened] };
                task.io = [first; 2];
            }
            self.set_off(of, |_| opened);
            self.seek_steady(first);
            return self.seek_repeats(first);
        }
        let job = phase.input.job;
        let workload = job.workload;
        let creates = job.phase.only_writes();
        let shared = workload.files.sharing == Sharing::Shared;
        let names = phase.moves_data && workload.work.is_transfers();
        let mut last = start;
        for task in &mut self.tasks[tasks.clone()] {
            let call =
                if creates && (!shared || task.number == 0) { NameCall::Create } else { NameCall::Open };
            let opened = match phase.path.names_of(task.node).filter(|_| names) {
                Some(names) => {
                    let there = start.saturating_add(phase.path.latency);
                    self.system.names[names]
                        .serve(there, call, phase.apart, phase.input.factor)
                        .saturating_add(phase.path.latency)
                }
                None => start,
            };
            task.opened = [start, opened];
            last = last.max(opened);
        }
        let together = workload.barriers || phase.pace.is_some();
        for task in &mut self.tasks[tasks] {
            let begin = if together { last } else { task.opened[1] };
            task.io = [begin; 2];
            phase.first_io = phase.first_io.min(begin);
        }
        let first = phase.first_io.min(last);
        self.set_off(of, |task| task.io[0]);
        self.seek_steady(first);
        self.seek_repeats(first);
    }

    /// Takes over the data of earlier phases that page caches have not written yet.
    fn write_behind(&mut self) {
        // What devices did between the phases does not belong to any interval.
        for drive in &mut self.system.drives {
            drive.settle(self.system.now);
            let _ = drive.take_settled(self.interval_end);
        }
        let start = self.system.now;
        let by_number: HashMap<(u64, u32), u32> = (self.tasks.iter().zip(0..))
            .map(|(task, index)| ((self.phases[task.phase as usize].input.key, task.number), index))
            .collect();
        for Behind { at, node, bytes, key, task } in std::mem::take(&mut self.system.behind) {
            if at <= start {
                continue;
            }
            let cache = &mut self.system.nodes[node as usize];
            (cache.dirty, cache.writing) = (cache.dirty + bytes, cache.writing + bytes);
            let own = by_number.get(&(key, task)).copied();
            let phase = own.map_or(0, |index| self.tasks[index as usize].phase);
            let new = Request::new(own.unwrap_or(NONE), node, phase);
            let mut request = Request { stage: Stage::WrittenBack, ..new };
            if let Some(index) = own {
                self.tasks[index as usize].unwritten += bytes;
            }
            request.piece.bytes = bytes;
            let number = self.requests.add(request);
            self.events.push((at, number));
        }
    }

    /// Lets each task of a phase begin as many operations as it may have in flight, at the time returned by `begin`.
    fn set_off(&mut self, of: usize, begin: impl Fn(&Task) -> Ticks) {
        let workload = self.phases[of].input.job.workload;
        for index in self.tasks_of(of) {
            let begin = begin(&self.tasks[index]);
            for _ in 0..depth_of(workload) {
                let request = Request::new(narrow(index), self.tasks[index].node, narrow(of));
                let number = self.requests.add(request);
                self.following.push((begin, number));
            }
        }
    }

    /// Processes all events until it is stopped or the clock ends.
    fn go(&mut self) -> bool {
        self.show(self.system.now);
        let mut count = 0_u32;
        while let Some((now, number)) = self.events.first() {
            if now >= CLOCK_END {
                return false;
            }
            self.happen(now, number);
            if self.steady.repeats.next != u64::MAX && self.done_by_first() >= self.steady.repeats.next {
                self.end_turn(now);
            }
            if self.steady.next != u64::MAX && self.phases[ALONE].recording.recorded().0 >= self.steady.next {
                self.end_batch(now);
            }
            count = count.wrapping_add(1);
            if count.is_multiple_of(LOOK_EVERY) {
                if self.phases.iter().any(|phase| phase.input.controls.is_stopped()) {
                    return true;
                }
                self.show(now);
            }
        }
        false
    }

    /// Shows how far each phase has come.
    fn show(&self, now: Ticks) {
        for (of, phase) in self.phases.iter().enumerate() {
            let tasks = &self.tasks[self.tasks_of(of)];
            phase.show(now, tasks.iter().map(|task| task.done.iter().sum::<u64>()).sum());
        }
    }

    /// Processes the first event, if there is one.
    fn step(&mut self) {
        if let Some((now, number)) = self.events.first() {
            self.happen(now, number);
        }
    }

    /// Processes the first event, which happens at `now` to request `number`.
    #[inline]
    fn happen(&mut self, now: Ticks, number: u32) {
        if now >= self.interval_end && !self.is_over() {
            self.sample(now);
        }
        match self.advance(now, number) {
            Some(next) => self.events.replace_first((next.max(now), number)),
            None => self.events.pop(),
        }
        while let Some(event) = self.following.pop() {
            self.events.push(event);
        }
    }

    /// Advances a request as far as possible at `now`. Returns the time of its next event.
    fn advance(&mut self, now: Ticks, number: u32) -> Option<Ticks> {
        match self.requests.get(number).stage {
            Stage::Next => self.next(now, number),
            Stage::Submit => self.submit(now, number),
            Stage::Issue => {
                let of = self.requests.get(number).phase as usize;
                self.issue(now.saturating_add(self.phases[of].request_time), number)
            }
            Stage::Names => self.names(now, number),
            Stage::Data => self.data(now, number),
            Stage::Part(part) => self.route(now, number, part),
            Stage::Worked if self.jobs.is_some() => self.job_computed(now, number),
            Stage::Worked => self.worked(now, number),
            Stage::Hop(part) => self.hop(now, number, part),
            Stage::Arrived => self.arrived(now, number),
            Stage::End => self.end(now, number),
            Stage::WrittenBack => {
                self.written_back(now, number);
                None
            }
            Stage::ReadAhead => {
                self.read_ahead(now, number);
                None
            }
            Stage::Begin => {
                let of = self.requests.get(number).phase as usize;
                self.requests.remove(number);
                self.open(of);
                None
            }
        }
    }
}

/// Converts an index to `u32`, which is sufficient for the number of tasks and requests.
fn narrow(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(NONE)
}
