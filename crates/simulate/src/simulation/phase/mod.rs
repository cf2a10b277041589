//! The events of a phase.
//!
//! | file | what is in it |
//! |---|---|
//! | here | the state of a phase, and the loop over its events |
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
mod operation;
mod repeats;
mod steady;
mod tasks;
mod transfer;

use std::collections::{HashMap, VecDeque};

use engine::{Controls, EndOutcome, PhaseJob, Progress, Stonewalled};
use plan::{Phase, Sharing};

use crate::simulation::exchanges::Exchanges;
use crate::simulation::jobs::RunningJobs;
use crate::simulation::objects::ObjectPhase;
use crate::simulation::parts::names::NameCall;
use crate::simulation::parts::service::whole;
use crate::simulation::queue::Events;
use crate::simulation::recording::Recording;
use crate::simulation::request::{NONE, Request, Requests, Stage};
use crate::simulation::steady::{Extrapolated, Steady};
use crate::simulation::system::{Behind, LayoutPath, NodeLimits, System};
use crate::simulation::task::{Members, Task, bytes_of_task};
use crate::simulation::time::{CLOCK_END, TICKS_PER_NS, Ticks, ns, ticks};

/// Number of events between two checks of the stop flag, at which the progress is also reported.
const LOOK_EVERY: u32 = 1 << 16;

/// The input of the simulation of a phase.
pub(crate) struct PhaseInput<'a> {
    pub(crate) job: &'a PhaseJob<'a>,
    /// The node of each task.
    pub(crate) node_of: &'a [u32],
    /// For exchanges: the node of each endpoint.
    pub(crate) ends: &'a [u32],
    /// Index of the layout.
    pub(crate) layout: usize,
    pub(crate) limits: &'a NodeLimits,
    /// Distinguishes the files of the case from those of others.
    pub(crate) key: u64,
    /// The devices of the case, if it uses members of its target.
    pub(crate) members: Option<Members>,
    /// Factor for all times. Rate limits are not exceeded, however.
    pub(crate) factor: f64,
    /// The share of each node's reads that its page cache serves.
    pub(crate) cached: &'a [f64],
    pub(crate) controls: &'a Controls,
    /// Whether the progress is shown there.
    pub(crate) shows: bool,
    /// Whether the time in a steady state is computed and not simulated.
    pub(crate) extrapolates: bool,
}

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
pub(crate) struct Sample {
    pub(crate) start: Ticks,
    pub(crate) length: Ticks,
    /// The devices that did something, by index.
    pub(crate) drives: Vec<(usize, crate::simulation::parts::drive::Counters)>,
}

/// A phase in progress.
struct Running<'a> {
    input: &'a PhaseInput<'a>,
    system: &'a mut System,
    path: LayoutPath,
    events: Events,
    /// Events of other requests that are caused by the current event. They are added to the queue when it is
    /// done, because one of them may precede it in the order of events at the same time.
    following: Vec<(Ticks, u32)>,
    requests: Requests,
    tasks: Vec<Task>,
    recording: Recording,
    start: Ticks,
    interval: Ticks,
    interval_end: Ticks,
    samples: Vec<Sample>,
    /// No operation begins at or after this time.
    deadline: Ticks,
    /// Number of operations to which all tasks continue after a stonewall.
    worn: Option<u64>,
    stonewall: Option<(Ticks, u64)>,
    /// Number of tasks that have not reached their end yet, plus one for the launcher of jobs.
    left: usize,
    /// Number of tasks whose data is written before their files are closed.
    syncing: usize,
    first_done: Option<(Ticks, u64)>,
    moved: u64,
    /// For each node: whether tasks wait for processors.
    crowded: Vec<bool>,
    /// Whether all tasks are on one node, so that their requests remain in order.
    on_one_node: bool,
    /// For each tier of the path: whether a request goes on to the next part at once.
    goes_on: Vec<bool>,
    /// Requests of each node that wait for room in its page cache.
    waiting: Vec<VecDeque<u32>>,
    /// Number of requests that have waited so.
    waited: u64,
    /// Processor time of a request on its node.
    request_time: Ticks,
    /// Ticks between due operations of one task, and between those of neighbouring tasks.
    pace: Option<(f64, f64)>,
    buffered: bool,
    /// Whether writes wait for the devices although they use the page cache.
    synced: bool,
    /// Size of the files of each task in bytes, which limits how many bytes wait to be written.
    bytes_of_task: u64,
    moves_data: bool,
    /// For objects: their order.
    objects: Option<ObjectPhase<'a>>,
    /// For jobs: their launches.
    jobs: Option<RunningJobs<'a>>,
    /// For exchanges: their endpoints.
    exchanges: Option<Exchanges<'a>>,
    warm: bool,
    pieces: Vec<(u32, crate::simulation::parts::drive::Piece)>,
    unstarted: u64,
    first_io: Ticks,
    steady: Steady,
}

/// Simulates a phase, which begins at the present time of `system`. That time is then advanced to its
/// end.
pub(crate) fn simulate(input: &PhaseInput<'_>, system: &mut System) -> PhaseOutput {
    let mut running = Running::new(input, system);
    running.write_behind();
    running.open();
    let stopped = running.go();
    running.finish(stopped)
}

impl<'a> Running<'a> {
    fn new(input: &'a PhaseInput<'a>, system: &'a mut System) -> Self {
        let job = input.job;
        let workload = job.workload;
        let start = system.now;
        let path = system.paths[input.layout].clone();
        let tasks: Vec<Task> = input.tasks(path.drives);
        let interval = whole(ticks(job.series_interval.0 as f64)).max(TICKS_PER_NS);
        let exchanges = match workload.work.rpc() {
            Some(rpc) => {
                // Establishing a connection takes one round trip.
                let opened = start.saturating_add(2 * system.latency_between());
                let shared = workload.backend.capabilities().needs_uring;
                let by_time = job.ending().limit().is_some();
                Some(Exchanges::new(rpc, input.ends, system, opened, (shared, by_time)))
            }
            _ => None,
        };
        let objects = workload.work.objects().map(|objects| ObjectPhase::new(job, objects));
        let from = exchanges.as_ref().map_or(start, |exchanges| exchanges.counted_from);
        let limit = job.ending().limit();
        let deadline =
            limit.map_or(u64::MAX, |limit| from.saturating_add(limit.0.saturating_mul(TICKS_PER_NS)));
        let processors_of = |node: usize| system.nodes[node].processors.count();
        let mut on_node = vec![0_usize; system.nodes.len()];
        tasks.iter().for_each(|task| on_node[task.node as usize] += 1);
        let on_one_node = on_node.iter().filter(|count| **count > 0).count() <= 1;
        let crowded = on_node.iter().enumerate().map(|(node, count)| *count > processors_of(node)).collect();
        let pace = workload.pace.filter(|_| job.phase.is_result() && exchanges.is_none()).map(|pace| {
            let between = ticks(1e9) / pace.transfers_per_second;
            (between * f64::from(workload.tasks), between)
        });
        // Jobs that sync their tables when closing them wait for the devices.
        let (direct, synced) =
            (workload.work.kind().is_direct(workload), workload.work.kind().syncs(workload));
        let is_possible = objects.is_none()
            && (workload.work.is_transfers() || workload.work.makes_trees() || exchanges.is_some());
        let several = system.nodes.len();
        let buffered = input.limits.cache.is_some() && !direct;
        let one_way = workload.work.is_transfers() && job.phase != Phase::Mixed;
        let in_flight = tasks.len() as u64 * u64::from(workload.backend.depth().max(1));
        // A page cache writes as much at once as it holds.
        let requests = if buffered || !system.behind.is_empty() { u64::MAX } else { in_flight };
        let requests = requests.saturating_mul(path.striping.pieces_at_most());
        let mut goes_on = path.goes_on(&system.stations, requests, start);
        goes_on.iter_mut().for_each(|goes_on| *goes_on &= one_way);
        system.names.iter_mut().for_each(super::parts::names::NameService::unlock);
        Self {
            left: tasks.len() + usize::from(workload.work.jobs().is_some()),
            syncing: 0,
            tasks,
            recording: Recording::new(several, interval),
            events: Events::default(),
            following: Vec::new(),
            requests: Requests::default(),
            start,
            interval,
            interval_end: start + interval,
            samples: Vec::new(),
            deadline,
            worn: None,
            stonewall: None,
            first_done: None,
            moved: 0,
            crowded,
            on_one_node,
            goes_on,
            waiting: vec![VecDeque::new(); several],
            waited: 0,
            request_time: whole(system.request_time as f64 * input.factor),
            pace,
            buffered,
            synced,
            bytes_of_task: bytes_of_task(workload),
            moves_data: workload.backend.moves_data(),
            objects,
            jobs: None,
            exchanges,
            warm: job.repetition > 0,
            pieces: Vec::new(),
            unstarted: 0,
            first_io: u64::MAX,
            steady: Steady::new(input.extrapolates && is_possible),
            path,
            input,
            system,
        }
    }

    /// Opens the files or connections, and starts the first operations.
    fn open(&mut self) {
        if let Some(exchanges) = &self.exchanges {
            let (opened, first) = (exchanges.opened, exchanges.counted_from);
            self.first_io = first;
            for task in &mut self.tasks {
                // With a warm-up, connections are established before the counted time.
                task.opened = if first > opened { [first; 2] } else { [self.start, opened] };
                task.io = [first; 2];
            }
            self.set_off(|_| opened);
            self.seek_steady(first);
            return self.seek_repeats(first);
        }
        let job = self.input.job;
        let workload = job.workload;
        let creates = job.phase.only_writes();
        let shared = workload.files.sharing == Sharing::Shared;
        let names = self.moves_data && workload.work.is_transfers();
        let mut last = self.start;
        for task in &mut self.tasks {
            let call =
                if creates && (!shared || task.number == 0) { NameCall::Create } else { NameCall::Open };
            let opened = match self.path.names_of(task.node).filter(|_| names) {
                Some(names) => {
                    let there = self.start.saturating_add(self.path.latency);
                    self.system.names[names]
                        .serve(there, call, 0, self.input.factor)
                        .saturating_add(self.path.latency)
                }
                None => self.start,
            };
            task.opened = [self.start, opened];
            last = last.max(opened);
        }
        let together = workload.barriers || self.pace.is_some();
        for task in &mut self.tasks {
            let begin = if together { last } else { task.opened[1] };
            task.io = [begin; 2];
            self.first_io = self.first_io.min(begin);
        }
        self.set_off(|task| task.io[0]);
        self.seek_steady(self.first_io.min(last));
        self.seek_repeats(self.first_io.min(last));
    }

    /// Takes over the data of earlier phases that page caches have not written yet.
    fn write_behind(&mut self) {
        // What devices did between the phases does not belong to any interval.
        for drive in &mut self.system.drives {
            drive.settle(self.start);
            let _ = drive.take_settled(self.interval_end);
        }
        let by_number: HashMap<u32, u32> =
            self.tasks.iter().zip(0..).map(|(task, index)| (task.number, index)).collect();
        for Behind { at, node, bytes, key, task } in std::mem::take(&mut self.system.behind) {
            if at <= self.start {
                continue;
            }
            let cache = &mut self.system.nodes[node as usize];
            (cache.dirty, cache.writing) = (cache.dirty + bytes, cache.writing + bytes);
            let own = by_number.get(&task).filter(|_| key == self.input.key).copied();
            let mut request =
                Request { stage: Stage::WrittenBack, ..Request::new(own.unwrap_or(NONE), node) };
            if let Some(index) = own {
                self.tasks[index as usize].unwritten += bytes;
            }
            request.piece.bytes = bytes;
            let number = self.requests.add(request);
            self.events.push((at, number));
        }
    }

    /// Lets each task begin as many operations as it may have in flight, at the time returned by `begin`.
    fn set_off(&mut self, begin: impl Fn(&Task) -> Ticks) {
        let workload = self.input.job.workload;
        // Calls on names are made one after another.
        let depth = if workload.work.makes_trees() { 1 } else { workload.backend.depth() };
        for index in 0..self.tasks.len() {
            let begin = begin(&self.tasks[index]);
            for _ in 0..depth.max(1) {
                let number = self.requests.add(Request::new(narrow(index), self.tasks[index].node));
                self.events.push((begin, number));
            }
        }
    }

    /// Processes all events until it is stopped or the clock ends.
    fn go(&mut self) -> bool {
        self.show(Progress { model_ns: Some(0), ..Progress::default() });
        let mut count = 0_u32;
        while let Some((now, number)) = self.events.first() {
            if now >= CLOCK_END {
                return false;
            }
            self.happen(now, number);
            if self.steady.repeats.next != u64::MAX && self.done_by_first() >= self.steady.repeats.next {
                self.end_turn(now);
            }
            if self.recording.recorded().0 >= self.steady.next {
                self.end_batch(now);
            }
            count = count.wrapping_add(1);
            if count.is_multiple_of(LOOK_EVERY) {
                if self.input.controls.is_stopped() {
                    return true;
                }
                let transfers = self.tasks.iter().map(|task| task.done.iter().sum::<u64>()).sum();
                let model_ns = Some(ns(now - self.start));
                self.show(Progress { transfers, bytes: self.moved, launches: None, model_ns });
            }
        }
        false
    }

    fn show(&self, progress: Progress) {
        if self.input.shows {
            self.input.controls.show(progress);
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
            Stage::Issue => self.issue(now.saturating_add(self.request_time), number),
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
        }
    }
}

/// Converts an index to `u32`, which is sufficient for the number of tasks and requests.
fn narrow(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(NONE)
}
