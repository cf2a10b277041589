//! Requests and responses between the processes of a run ([`plan::Rpc`]).
//!
//! A phase of exchanges goes through the same points as any other:
//!
//! 1. *Before it is ready* the ends meet ([`meeting`]): who answers listens at the one address that leads to
//!    those who ask, and tells it with a key over the run's own rendezvous.
//! 2. *Open*: connections come into being ([`door`]); who does not hold the key is shut out. Then the
//!    listening sockets are closed, and all ends begin together.
//! 3. *Exchanges*: by `io_uring` ([`rings`]), or by plain calls on a thread for each connection
//!    ([`blocking`]). Each is counted with its latency by the end that asks.
//! 4. *Close*: who asks closes its connections, and who answers sees their end. No socket outlives the phase.
//!
//! Requests are bytes written and responses bytes read; each exchange is an item.

mod binding;
mod blocking;
mod door;
mod error;
mod interface;
mod line;
mod meeting;
mod noise;
mod outcome;
mod rings;
mod sys;
#[cfg(test)]
mod tests;

pub use error::NetworkError;
pub use outcome::EndOutcome;

use std::os::fd::OwnedFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use plan::{Backend, Operation, Rpc};

use self::binding::{Bound, Places};
use self::door::{Called, Failed, Wait, admit};
use self::line::{Bounds, Line, Role, Spent, Terms};
use self::meeting::Meeting;
use self::noise::Noise;
use crate::account::{Account, TaskReport, WorkerReport};
use crate::check::Findings;
use crate::clock::{self, Clock, Kind};
use crate::common::Common;
use crate::gate::Course;
use crate::outcome::Mismatches;
use crate::rules::Ending;
use crate::series::{Counts, Recorder};
use crate::sys::CpuTime;
use crate::{Controls, EngineError, Note, PhaseJob, PhaseOutcome, Point, Rendezvous, crew, limits};

/// The series has no shorter intervals, so that a clock reading is short beside them.
const LEAST_INTERVAL_NS: u64 = 1_000_000;
/// A thread that waits for its connections looks at the stop flag after this time.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Runs a phase of exchanges, as far as it belongs to this process: the end [`PhaseJob::end`].
pub(crate) fn run(
    job: &PhaseJob<'_>,
    rpc: &Rpc,
    rendezvous: &dyn Rendezvous,
    controls: &Controls,
) -> Result<PhaseOutcome, EngineError> {
    // The clock's rate is measured from here on.
    let kind = clock::kind();
    let prepared = Session::prepare(job, rpc, rendezvous);
    let (session, seats) = match prepared {
        Ok(prepared) => prepared,
        Err(lost @ EngineError::Rendezvous(_)) => return Err(lost),
        Err(error) => {
            // The peers ask each other before they start; without an answer they would wait.
            return match rendezvous.any(true) {
                Ok(_) => Err(error),
                Err(lost) => Err(EngineError::Rendezvous(lost)),
            };
        }
    };
    let bytes = rpc.request_bytes.0 + rpc.response_bytes.0;
    let points = vec![Point::Ready, Point::Start, Point::Opened, Point::Closed];
    let common = Common::new(points, (seats.len(), seats.len()), bytes, rendezvous, controls);
    let mut counts: Vec<Counts<1>> = vec![[[0; crate::histogram::BUCKETS]; 1]; seats.len()];
    let seats = seats.into_iter().zip(&mut counts).collect();
    let reports = match kind {
        #[cfg(target_arch = "x86_64")]
        Kind::Counter => session.crew(&common, clock::Counter, seats),
        Kind::Monotonic => session.crew(&common, clock::Monotonic, seats),
    };
    match common.take_failure() {
        Some(error) => Err(error),
        None => Ok(session.outcome(&common, reports, controls)),
    }
}

/// What all threads of this end know.
struct Session<'a> {
    job: &'a PhaseJob<'a>,
    rpc: &'a Rpc,
    meeting: Meeting,
    noise: Noise,
    /// Where the threads of each side run: who asks, who answers.
    places: [Places; 2],
    /// Tasks that others ask of this end.
    expected: Vec<u32>,
    shut_out: AtomicU64,
    interface: String,
    adapter_node: Option<u32>,
}

/// What a thread has to do.
struct Seat {
    role: Role,
    /// Among those of its role.
    number: usize,
    /// Among all of this end.
    slot: usize,
    tasks: Vec<u32>,
    connections: Option<Mutex<Receiver<(u32, OwnedFd)>>>,
    /// The first thread that answers lets the others' connections in.
    admits: Option<Vec<Sender<(u32, OwnedFd)>>>,
}

/// What a thread of an end reports.
struct EndReport<'m> {
    role: Role,
    worker: WorkerReport<'m, 1>,
    found: Mismatches,
    cpu: CpuTime,
}

impl<'a> Session<'a> {
    /// Meets the other ends, and gives what each thread of this one has to do.
    fn prepare(
        job: &'a PhaseJob<'a>,
        rpc: &'a Rpc,
        rendezvous: &dyn Rendezvous,
    ) -> Result<(Self, Vec<Seat>), EngineError> {
        // Whatever is wrong here, the others wait for word of this end.
        let ready = Self::check(job, rpc);
        let meeting = match &ready {
            Ok(()) => Meeting::hold(rpc, job.end, rendezvous),
            Err(_) => Meeting::decline(rendezvous).and(Err(EngineError::Peer)),
        };
        ready?;
        let meeting = meeting?;
        let interface = rpc.interface.clone().or_else(|| {
            meeting.address.and_then(|address| meeting.host.interface_with(address)).map(str::to_owned)
        });
        let adapter_node = interface.as_deref().and_then(interface::numa_node);
        let bindings = [&rpc.client_binding, &rpc.server_binding];
        let place = |binding| Places::of(binding, &meeting.host.name, interface.as_deref(), adapter_node);
        let places = [place(bindings[0])?, place(bindings[1])?];
        let expected: Vec<u32> = if rpc.answers(job.end) {
            (0..job.workload.tasks).filter(|&task| rpc.server_of(task) == job.end).collect()
        } else {
            Vec::new()
        };
        let session = Self {
            job,
            rpc,
            noise: Noise::new(job.data.signature, job.workload.verify),
            places,
            shut_out: AtomicU64::new(0),
            interface: interface.unwrap_or_default(),
            adapter_node,
            meeting,
            expected,
        };
        let seats = session.seats();
        Ok((session, seats))
    }

    /// Whether this process may have the threads and files.
    fn check(job: &PhaseJob<'_>, rpc: &Rpc) -> Result<(), EngineError> {
        let answered = (0..job.workload.tasks).filter(|&task| rpc.server_of(task) == job.end).count();
        let connections = job.tasks.len() as u64 + answered as u64;
        let uring = matches!(job.workload.backend, Backend::Uring { .. });
        let threads = if uring { connections.min(2 * u64::from(rpc.threads)) } else { connections };
        limits::threads(threads, job.processes_here)?;
        // A listening socket for each peer at most, and a ring for each thread.
        limits::open_files(connections + u64::from(rpc.ends) + threads)?;
        if uring {
            crate::uring_available()?;
        }
        Ok(())
    }

    /// The threads of this end, which carry its connections in turn.
    fn seats(&self) -> Vec<Seat> {
        let uring = matches!(self.job.workload.backend, Backend::Uring { .. });
        let threads = |tasks: usize| if uring { tasks.min(self.rpc.threads as usize) } else { tasks };
        let deal = |tasks: &[u32]| {
            let mut hands = vec![Vec::new(); threads(tasks.len())];
            let count = hands.len();
            for (place, task) in tasks.iter().enumerate() {
                hands[place % count].push(*task);
            }
            hands
        };
        let seat =
            |role, number, tasks| Seat { role, number, slot: 0, tasks, connections: None, admits: None };
        let own: Vec<u32> = self.job.tasks.clone().collect();
        let asking =
            deal(&own).into_iter().enumerate().map(|(number, tasks)| seat(Role::Asks, number, tasks));
        let mut doors = Vec::new();
        let mut answering: Vec<Seat> = Vec::new();
        for (number, tasks) in deal(&self.expected).into_iter().enumerate() {
            let (sender, receiver) = mpsc::channel();
            doors.push(sender);
            let connections = Some(Mutex::new(receiver));
            answering.push(Seat { connections, ..seat(Role::Answers, number, tasks) });
        }
        if let Some(first) = answering.first_mut() {
            first.admits = Some(doors);
        }
        let all = asking.chain(answering).enumerate();
        all.map(|(slot, seat)| Seat { slot, ..seat }).collect()
    }

    fn crew<'m, C: Clock>(
        &self,
        common: &Common<'_>,
        clock: C,
        seats: Vec<(Seat, &'m mut Counts<1>)>,
    ) -> Vec<EndReport<'m>> {
        crew::run(common, seats, |(seat, counts), course| self.work(common, clock, seat, counts, course))
    }

    fn work<'m, C: Clock>(
        &self,
        common: &Common<'_>,
        clock: C,
        seat: Seat,
        counts: &'m mut Counts<1>,
        mut course: Course<'_>,
    ) -> Option<EndReport<'m>> {
        let (role, slot) = (seat.role, seat.slot);
        let places = &self.places[usize::from(role == Role::Answers)];
        let _bound = Bound::to(&places.of_thread(seat.number));
        course.pass(Point::Ready);
        course.pass(Point::Start);
        if common.is_abandoned() {
            return None;
        }
        let began = clock.now();
        let lines = match self.open(common, seat) {
            Ok(lines) => lines,
            Err(Failed::Stopped) => Vec::new(),
            Err(Failed::Network(error)) => {
                common.fail(error.into());
                Vec::new()
            }
        };
        let opened = clock.now();
        course.pass(Point::Opened);
        let terms = self.terms(common, role);
        let tasks = if role == Role::Asks { lines.as_slice() } else { &[] };
        // With a warm-up connections come into being before the time that counts.
        let first = terms.bounds.counted_from;
        let open = if self.rpc.warm_up.0 > 0 { (first, first) } else { (began, opened) };
        let mut tasks: Vec<TaskReport> = tasks.iter().map(|line| terms.report(line.task, open)).collect();
        let mut recorder = Recorder::new(counts, None);
        let interval = self.job.series_interval.0.max(LEAST_INTERVAL_NS);
        recorder.start(common.scale(), common.start(), common.scale().ticks(interval));
        let (mut found, mut notes) = (Mismatches::default(), Vec::new());
        let mut spent = Spent::from(first, (slot == 0).then_some(common));
        let kept = rings::Kept {
            recorder: (role == Role::Asks && self.job.instrument).then_some(&mut recorder),
            slot: &common.slots[slot],
            found: &mut found,
            spent: &mut spent,
            notes: &mut notes,
        };
        if let Err(error) = self.exchange(terms, clock, lines, &mut tasks, kept) {
            common.fail(error);
        }
        let closed = clock.now();
        let cpu = spent.end();
        for task in &mut tasks {
            terms.close(task, (task.io.1.max(terms.bounds.base), closed));
        }
        if role == Role::Asks {
            common.task_done(closed);
        }
        course.pass(Point::Closed);
        let worker = WorkerReport { tasks, recorder, findings: Findings::default(), unstarted: 0, notes };
        Some(EndReport { role, worker, found, cpu })
    }

    fn exchange<C: Clock>(
        &self,
        terms: Terms<'_>,
        clock: C,
        lines: Vec<Line>,
        reports: &mut Vec<TaskReport>,
        kept: rings::Kept<'_, '_, '_>,
    ) -> Result<(), EngineError> {
        if lines.is_empty() || terms.is_stopped() {
            return Ok(());
        }
        if matches!(self.job.workload.backend, Backend::Uring { .. }) {
            // Who answers reports nothing, but its connections are kept in the same way.
            reports.resize_with(lines.len(), TaskReport::default);
            let ended = rings::run(terms, clock, lines, reports, kept);
            if terms.role == Role::Answers {
                reports.clear();
            }
            return ended;
        }
        let rings::Kept { mut recorder, slot, found, spent, .. } = kept;
        for (place, line) in lines.iter().enumerate() {
            let mut unseen = TaskReport::default();
            let report = reports.get_mut(place).unwrap_or(&mut unseen);
            blocking::run(terms, clock, line, report, recorder.as_deref_mut(), slot, (found, spent))?;
        }
        Ok(())
    }

    fn terms<'s>(&'s self, common: &'s Common<'_>, role: Role) -> Terms<'s> {
        let workload = self.job.workload;
        let duration = workload.duration.or(workload.stonewall.map(|stonewall| stonewall.deadline));
        let (rpc, scale) = (self.rpc, common.scale());
        let (request, response) = (rpc.request_bytes.0, rpc.response_bytes.0);
        let (sends, receives) = if role == Role::Asks { (request, response) } else { (response, request) };
        let duration = duration.map(|duration| duration.0);
        Terms {
            role,
            bounds: Bounds::new(rpc, common.base(), scale, duration, workload.transfers_per_task()),
            noise: &self.noise,
            stop: common.stop(),
            scale,
            depth: workload.backend.depth(),
            sends,
            receives,
            rpc,
            quit_on_error: workload.quit_on_error,
        }
    }

    /// The connections of a thread.
    fn open(&self, common: &Common<'_>, seat: Seat) -> Result<Vec<Line>, Failed> {
        let wait = Wait::new(self.rpc, common.stop());
        let Seat { tasks, connections, admits, role, .. } = seat;
        if role == Role::Asks {
            let called: Vec<(u32, Called)> = tasks
                .iter()
                .map(|&task| Called::call(&self.meeting, self.rpc, task, wait).map(|called| (task, called)))
                .collect::<Result<_, _>>()?;
            let answered = |(task, called): (u32, Called)| {
                called.answered(wait).map(|(socket, peer)| Line { socket, task, peer })
            };
            return called.into_iter().map(answered).collect();
        }
        if let Some(doors) = admits {
            let hand = |place: usize, socket| {
                // A thread that has gone does not take it, and the phase is over.
                let _ = doors[place % doors.len()].send((self.expected[place], socket));
            };
            let shut_out = admit(&self.meeting, self.rpc, &self.expected, wait, hand)?;
            self.shut_out.store(shut_out, Ordering::Relaxed);
        }
        let Some(connections) = connections.and_then(|receiver| receiver.into_inner().ok()) else {
            return Ok(Vec::new());
        };
        let mut lines = Vec::with_capacity(tasks.len());
        while lines.len() < tasks.len() {
            match connections.recv_timeout(LOOK_EVERY) {
                Ok((task, socket)) => {
                    let client = self.meeting.name_of(self.rpc.client_of(task));
                    let from = rustix::net::getpeername(&socket).ok().flatten();
                    let from = from.and_then(|from| std::net::SocketAddr::try_from(from).ok());
                    let from = from.map_or_else(String::new, |from| format!(" ({from})"));
                    lines.push(Line { socket, task, peer: format!("{client}{from}") });
                }
                Err(RecvTimeoutError::Timeout) if common.stop().load(Ordering::Relaxed) => {
                    return Err(Failed::Stopped);
                }
                Err(RecvTimeoutError::Timeout) => {}
                // Whoever lets connections in has failed, and has said so.
                Err(RecvTimeoutError::Disconnected) => return Err(Failed::Stopped),
            }
        }
        Ok(lines)
    }

    fn outcome(self, common: &Common<'_>, reports: Vec<EndReport<'_>>, controls: &Controls) -> PhaseOutcome {
        let duration = self.job.workload.duration.map(|duration| duration.0);
        let account = Account {
            operations: [Operation::Exchange],
            ending: duration.map_or(Ending::Volume, Ending::Duration),
            interval_ns: self.job.series_interval.0.max(LEAST_INTERVAL_NS),
        };
        let mut end = self.end();
        let mut mismatches = Mismatches::default();
        let mut workers = Vec::with_capacity(reports.len());
        for EndReport { role, mut worker, found, cpu } in reports {
            end.add(role == Role::Asks, cpu);
            mismatches.merge(found);
            worker.notes.retain(|note| !matches!(note, Note::BuffersNotRegistered { .. }));
            workers.push(worker);
        }
        let outcome = account.outcome(common, &workers, controls);
        PhaseOutcome { mismatches, end: Some(end), ..outcome }
    }

    /// This end, before its threads are counted.
    fn end(&self) -> EndOutcome {
        let uring = matches!(self.job.workload.backend, Backend::Uring { .. });
        let threads = |tasks: usize| if uring { tasks.min(self.rpc.threads as usize) } else { tasks };
        let [asks, answers] = &self.places;
        EndOutcome {
            end: self.job.end,
            interface: self.interface.clone(),
            address: self.meeting.address.map_or_else(String::new, |address| address.to_string()),
            adapter_node: self.adapter_node,
            client_processors: asks.in_words(threads(self.job.tasks.len())),
            server_processors: answers.in_words(threads(self.expected.len())),
            transport: Rpc::TRANSPORT.to_owned(),
            rdma: interface::rdma(),
            shut_out: self.shut_out.load(Ordering::Relaxed),
            ..EndOutcome::default()
        }
    }
}
