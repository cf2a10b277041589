//! Requests and responses between the processes of a run ([`plan::Rpc`]).
//!
//! A phase of exchanges has the same points as any other phase:
//!
//! 1. *Before it is ready* the endpoints exchange addresses ([`endpoint_exchange`]): each server listens at
//!    the addresses that lead to its clients, and publishes them with a key over the run's own rendezvous.
//! 2. *Open*: connections are established ([`handshake`]); peers without the key are rejected. Then the
//!    listening sockets are closed, and all endpoints begin together.
//! 3. *Exchanges*: by `io_uring` ([`rings`]), or by blocking calls with a thread for each connection
//!    ([`blocking`]). Each is counted with its latency by the client.
//! 4. *Close*: clients close their connections, and servers see the end of them. No socket outlives the
//!    phase.
//!
//! Requests are bytes written and responses bytes read; each exchange is an item.

mod binding;
mod blocking;
mod connection;
mod endpoint_exchange;
mod error;
mod handshake;
mod interface;
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

use plan::{Operation, Rpc};

use self::binding::{Bound, Places};
use self::connection::{Bounds, Connection, EndpointRole, Spent, ThreadParameters};
use self::endpoint_exchange::Meeting;
use self::handshake::{Called, Failed, STRANGERS_MAX, Wait, admit};
use self::noise::Noise;
use crate::data::check::CheckResults;
use crate::phase::barrier::BarrierGuard;
use crate::phase::clock::{self, Clock, ClockKind};
use crate::phase::common::Common;
use crate::phase::crew;
use crate::phase::outcome::Mismatches;
use crate::recording::account::{Account, TaskReport, WorkerReport};
use crate::recording::series::{Counts, Recorder};
use crate::system::limits;
use crate::system::sys::CpuTime;
use crate::{Controls, EngineError, Note, PhaseJob, PhaseOutcome, Point, Rendezvous};

/// Minimum interval of the series, so that a clock reading is short in comparison.
const LEAST_INTERVAL_NS: u64 = 1_000_000;
/// Interval at which a thread that waits for its connections checks the stop flag.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Runs this process's part of a phase of exchanges, that is, the endpoint [`PhaseJob::end`].
pub(crate) fn run(
    job: &PhaseJob<'_>,
    rpc: &Rpc,
    rendezvous: &dyn Rendezvous,
    controls: &Controls,
) -> Result<PhaseOutcome, EngineError> {
    // The clock's rate is measured from here on.
    let kind = clock::kind();
    let prepared = Session::prepare(job, rpc, rendezvous);
    let (session, plans) = match prepared {
        Ok(prepared) => prepared,
        Err(lost @ EngineError::Rendezvous(_)) => return Err(lost),
        Err(error) => {
            // The peers ask before they start, and would wait for an answer.
            return match rendezvous.any(true) {
                Ok(_) => Err(error),
                Err(lost) => Err(EngineError::Rendezvous(lost)),
            };
        }
    };
    let bytes = rpc.request_bytes.0 + rpc.response_bytes.0;
    let points = vec![Point::Ready, Point::Start, Point::Opened, Point::Closed];
    let common = Common::new(points, (plans.len(), plans.len()), bytes, rendezvous, controls);
    let mut counts: Vec<Counts<1>> = vec![[[0; crate::recording::histogram::BUCKETS]; 1]; plans.len()];
    let plans = plans.into_iter().zip(&mut counts).collect();
    let reports = match kind {
        #[cfg(target_arch = "x86_64")]
        ClockKind::Counter => session.crew(&common, clock::Counter, plans),
        ClockKind::Monotonic => session.crew(&common, clock::Monotonic, plans),
    };
    match common.take_failure() {
        Some(error) => Err(error),
        None => Ok(session.outcome(&common, reports, controls)),
    }
}

/// State shared by all threads of this endpoint.
struct Session<'a> {
    job: &'a PhaseJob<'a>,
    rpc: &'a Rpc,
    meeting: Meeting,
    noise: Noise,
    /// The processors of the threads of each role: clients, servers.
    places: [Places; 2],
    /// Tasks that this endpoint serves.
    expected: Vec<u32>,
    shut_out: AtomicU64,
    interface: String,
    adapter_node: Option<u32>,
}

/// The role and the connections of a thread.
struct ThreadPlan {
    role: EndpointRole,
    /// The thread's index among the threads of its role.
    number: usize,
    /// The thread's index among all threads of this endpoint.
    index: usize,
    tasks: Vec<u32>,
    receiver: Option<Mutex<Receiver<(u32, OwnedFd)>>>,
    /// Set for the first server thread, which accepts the connections of the others.
    admits: Option<Vec<Sender<(u32, OwnedFd)>>>,
}

/// The report of a thread of an endpoint.
struct EndReport<'m> {
    role: EndpointRole,
    worker: WorkerReport<'m, 1>,
    found: Mismatches,
    cpu: CpuTime,
}

impl<'a> Session<'a> {
    /// Exchanges addresses with the other endpoints, and returns the plan of each thread of this
    /// endpoint.
    fn prepare(
        job: &'a PhaseJob<'a>,
        rpc: &'a Rpc,
        rendezvous: &dyn Rendezvous,
    ) -> Result<(Self, Vec<ThreadPlan>), EngineError> {
        // Even after an error here, the others wait for this endpoint's answer.
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
        let plans = session.plans();
        Ok((session, plans))
    }

    /// Checks the limits on threads and files.
    fn check(job: &PhaseJob<'_>, rpc: &Rpc) -> Result<(), EngineError> {
        let answered = (0..job.workload.tasks).filter(|&task| rpc.server_of(task) == job.end).count();
        let connections = job.tasks.len() as u64 + answered as u64;
        let uring = job.workload.backend.capabilities().needs_uring;
        let threads = if uring { connections.min(2 * u64::from(rpc.threads)) } else { connections };
        limits::threads(threads, job.beside.threads, job.processes_here)?;
        // At most one listening socket per peer, the unauthenticated connections, and a ring for each
        // thread.
        let files = connections + u64::from(rpc.ends) + STRANGERS_MAX as u64 + threads;
        limits::open_files(job.beside.open_files.saturating_add(files))?;
        if uring {
            crate::uring_available()?;
        }
        Ok(())
    }

    /// Returns the threads of this endpoint. Connections are distributed round-robin.
    fn plans(&self) -> Vec<ThreadPlan> {
        let uring = self.job.workload.backend.capabilities().needs_uring;
        let threads = |tasks: usize| if uring { tasks.min(self.rpc.threads as usize) } else { tasks };
        let deal = |tasks: &[u32]| {
            let mut shares = vec![Vec::new(); threads(tasks.len())];
            let count = shares.len();
            for (place, task) in tasks.iter().enumerate() {
                shares[place % count].push(*task);
            }
            shares
        };
        let plan =
            |role, number, tasks| ThreadPlan { role, number, index: 0, tasks, receiver: None, admits: None };
        let own: Vec<u32> = self.job.tasks.clone().collect();
        let asking =
            deal(&own).into_iter().enumerate().map(|(number, tasks)| plan(EndpointRole::Asks, number, tasks));
        let mut senders = Vec::new();
        let mut answering: Vec<ThreadPlan> = Vec::new();
        for (number, tasks) in deal(&self.expected).into_iter().enumerate() {
            let (sender, receiver) = mpsc::channel();
            senders.push(sender);
            let receiver = Some(Mutex::new(receiver));
            answering.push(ThreadPlan { receiver, ..plan(EndpointRole::Answers, number, tasks) });
        }
        if let Some(first) = answering.first_mut() {
            first.admits = Some(senders);
        }
        let all = asking.chain(answering).enumerate();
        all.map(|(index, plan)| ThreadPlan { index, ..plan }).collect()
    }

    fn crew<'m, C: Clock>(
        &self,
        common: &Common<'_>,
        clock: C,
        plans: Vec<(ThreadPlan, &'m mut Counts<1>)>,
    ) -> Vec<EndReport<'m>> {
        crew::run(common, plans, |(plan, counts), barrier| self.work(common, clock, plan, counts, barrier))
    }

    fn work<'m, C: Clock>(
        &self,
        common: &Common<'_>,
        clock: C,
        plan: ThreadPlan,
        counts: &'m mut Counts<1>,
        mut barrier: BarrierGuard<'_>,
    ) -> Option<EndReport<'m>> {
        let (role, index) = (plan.role, plan.index);
        let places = &self.places[usize::from(role == EndpointRole::Answers)];
        let _bound = Bound::to(&places.of_thread(plan.number));
        barrier.pass(Point::Ready);
        barrier.pass(Point::Start);
        if common.is_abandoned() {
            return None;
        }
        let began = clock.now();
        let connections = match self.open(common, plan) {
            Ok(connections) => connections,
            Err(Failed::Stopped) => Vec::new(),
            Err(Failed::Network(error)) => {
                common.fail(error.into());
                Vec::new()
            }
        };
        let opened = clock.now();
        barrier.pass(Point::Opened);
        let parameters = self.parameters(common, role);
        let tasks = if role == EndpointRole::Asks { connections.as_slice() } else { &[] };
        // With a warm-up, connections are established before the counted time.
        let first = parameters.bounds.counted_from;
        let open = if self.rpc.warm_up.0 > 0 { (first, first) } else { (began, opened) };
        let mut tasks: Vec<TaskReport> =
            tasks.iter().map(|connection| parameters.report(connection.task, open)).collect();
        let mut recorder = Recorder::new(counts, None);
        let interval = self.job.series_interval.0.max(LEAST_INTERVAL_NS);
        recorder.start(common.scale(), common.start(), common.scale().ticks(interval));
        let (mut found, mut notes) = (Mismatches::default(), Vec::new());
        let mut spent = Spent::from(first, (index == 0).then_some(common));
        let kept = rings::ThreadState {
            recorder: (role == EndpointRole::Asks && self.job.instrument).then_some(&mut recorder),
            counters: &common.counters[index],
            found: &mut found,
            spent: &mut spent,
            notes: &mut notes,
        };
        if let Err(error) = self.exchange(parameters, clock, connections, &mut tasks, kept) {
            common.fail(error);
        }
        let closed = clock.now();
        let cpu = spent.end();
        for task in &mut tasks {
            parameters.close(task, (task.io.1.max(parameters.bounds.base), closed));
        }
        if role == EndpointRole::Asks {
            common.task_done(closed);
        }
        barrier.finish();
        let worker = WorkerReport { tasks, recorder, findings: CheckResults::default(), unstarted: 0, notes };
        Some(EndReport { role, worker, found, cpu })
    }

    fn exchange<C: Clock>(
        &self,
        parameters: ThreadParameters<'_>,
        clock: C,
        connections: Vec<Connection>,
        reports: &mut Vec<TaskReport>,
        kept: rings::ThreadState<'_, '_, '_>,
    ) -> Result<(), EngineError> {
        if connections.is_empty() || parameters.is_stopped() {
            return Ok(());
        }
        if self.job.workload.backend.capabilities().needs_uring {
            // A server reports nothing, but its connections are handled in the same way.
            reports.resize_with(connections.len(), TaskReport::default);
            let ended = rings::run(parameters, clock, connections, reports, kept);
            if parameters.role == EndpointRole::Answers {
                reports.clear();
            }
            return ended;
        }
        let rings::ThreadState { mut recorder, counters, found, spent, .. } = kept;
        for (place, connection) in connections.iter().enumerate() {
            let mut unseen = TaskReport::default();
            let report = reports.get_mut(place).unwrap_or(&mut unseen);
            blocking::run(
                parameters,
                clock,
                connection,
                report,
                recorder.as_deref_mut(),
                counters,
                (found, spent),
            )?;
        }
        Ok(())
    }

    fn parameters<'s>(&'s self, common: &'s Common<'_>, role: EndpointRole) -> ThreadParameters<'s> {
        let workload = self.job.workload;
        let (rpc, scale) = (self.rpc, common.scale());
        let (request, response) = (rpc.request_bytes.0, rpc.response_bytes.0);
        let (sends, receives) =
            if role == EndpointRole::Asks { (request, response) } else { (response, request) };
        let duration = self.job.ending().limit().map(|duration| duration.0);
        ThreadParameters {
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

    /// Establishes the connections of a thread.
    fn open(&self, common: &Common<'_>, plan: ThreadPlan) -> Result<Vec<Connection>, Failed> {
        let wait = Wait::new(self.rpc, common.stop());
        let ThreadPlan { tasks, receiver, admits, role, .. } = plan;
        if role == EndpointRole::Asks {
            let called: Vec<(u32, Called)> = tasks
                .iter()
                .map(|&task| Called::call(&self.meeting, self.rpc, task, wait).map(|called| (task, called)))
                .collect::<Result<_, _>>()?;
            let answered = |(task, called): (u32, Called)| {
                called.answered(wait).map(|(socket, peer)| Connection { socket, task, peer })
            };
            return called.into_iter().map(answered).collect();
        }
        if let Some(senders) = admits {
            let hand = |place: usize, socket| {
                // A thread that has ended does not receive it, but then the phase is over.
                let _ = senders[place % senders.len()].send((self.expected[place], socket));
            };
            let shut_out = admit(&self.meeting, self.rpc, &self.expected, wait, hand)?;
            self.shut_out.store(shut_out, Ordering::Relaxed);
        }
        let Some(receiver) = receiver.and_then(|receiver| receiver.into_inner().ok()) else {
            return Ok(Vec::new());
        };
        let mut connections = Vec::with_capacity(tasks.len());
        while connections.len() < tasks.len() {
            match receiver.recv_timeout(LOOK_EVERY) {
                Ok((task, socket)) => {
                    let client = self.meeting.name_of(self.rpc.client_of(task));
                    let from = rustix::net::getpeername(&socket).ok().flatten();
                    let from = from.and_then(|from| std::net::SocketAddr::try_from(from).ok());
                    let from = from.map_or_else(String::new, |from| format!(" ({from})"));
                    connections.push(Connection { socket, task, peer: format!("{client}{from}") });
                }
                Err(RecvTimeoutError::Timeout) if common.stop().load(Ordering::Relaxed) => {
                    return Err(Failed::Stopped);
                }
                Err(RecvTimeoutError::Timeout) => {}
                // The accepting thread has failed, and has reported its error.
                Err(RecvTimeoutError::Disconnected) => return Err(Failed::Stopped),
            }
        }
        Ok(connections)
    }

    fn outcome(self, common: &Common<'_>, reports: Vec<EndReport<'_>>, controls: &Controls) -> PhaseOutcome {
        let account = Account {
            operations: [Operation::Exchange],
            ending: self.job.ending(),
            interval_ns: self.job.series_interval.0.max(LEAST_INTERVAL_NS),
        };
        let mut end = self.end();
        let mut mismatches = Mismatches::default();
        let mut workers = Vec::with_capacity(reports.len());
        for EndReport { role, mut worker, found, cpu } in reports {
            end.add(role == EndpointRole::Asks, cpu);
            mismatches.merge(found);
            worker.notes.retain(|note| !matches!(note, Note::BuffersNotRegistered { .. }));
            workers.push(worker);
        }
        let outcome = account.outcome(common, &workers, controls);
        PhaseOutcome { mismatches, end: Some(end), ..outcome }
    }

    /// The outcome of this endpoint, without that of its threads.
    fn end(&self) -> EndOutcome {
        let uring = self.job.workload.backend.capabilities().needs_uring;
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
