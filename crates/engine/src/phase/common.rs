//! State shared by the workers of a process during a phase, independent of the kind of work.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::phase::barrier::PhaseBarriers;
use crate::phase::clock::{self, ClockKind, Scale};
use crate::phase::controls::WorkerCounters;
use crate::recording::history::{History, HistoryWriter};
use crate::system::sys::{CpuTime, cpu_time};
use crate::{Controls, EngineError, LastOperation, Point, Rendezvous};

/// A point in time that concerns the whole phase, with the number of transfers done until then.
#[derive(Debug, Default)]
pub(crate) struct Mark {
    /// 0 until set.
    ticks: AtomicU64,
    transfers: AtomicU64,
}

impl Mark {
    /// Returns the time and the transfers, if they have been set.
    pub(crate) fn get(&self) -> Option<(u64, u64)> {
        let ticks = self.ticks.load(Ordering::Acquire);
        (ticks != 0).then(|| (ticks, self.transfers.load(Ordering::Acquire)))
    }
}

/// CPU time and wall clock, recorded by the leader.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Meter {
    pub(crate) started_unix_ns: i64,
    pub(crate) at_start: CpuTime,
    pub(crate) at_end: CpuTime,
}

/// State shared by the workers of a process.
pub(crate) struct Common<'a> {
    pub(crate) kind: ClockKind,
    pub(crate) counters: Arc<[WorkerCounters]>,
    pub(crate) barriers: PhaseBarriers,
    rendezvous: &'a dyn Rendezvous,
    stop: Arc<AtomicBool>,
    failure: Mutex<Option<EngineError>>,
    /// Whether a process failed before the start, so that nothing runs.
    abandoned: AtomicBool,
    peer_failed: AtomicBool,
    scale: AtomicU64,
    start: AtomicU64,
    /// Common start of the transfers, if tasks synchronise after open.
    base: AtomicU64,
    /// Largest number of transfers that a task had done at the stonewall: at first among the tasks of
    /// this process, then among those of all processes.
    most: AtomicU64,
    pub(crate) first_done: Mark,
    /// Number of transfers that took several calls because a call moved fewer bytes than requested.
    pub(crate) continued: AtomicU64,
    meter: Mutex<Meter>,
    history: Option<Arc<History>>,
    /// The directories that the tasks of all processes search. At first only known to the process of the
    /// first task.
    deal: Mutex<Vec<u8>>,
}

impl<'a> Common<'a> {
    /// Creates the state for `workers` workers, which count operations of about `operation_bytes` in `counters`
    /// sets of counters and synchronise at `points`. The first point is [`Point::Ready`], the last [`Point::Closed`].
    pub(crate) fn new(
        points: Vec<Point>,
        (workers, counters): (usize, usize),
        operation_bytes: u64,
        rendezvous: &'a dyn Rendezvous,
        controls: &'a Controls,
    ) -> Self {
        Self {
            counters: controls.begin(counters, operation_bytes),
            barriers: PhaseBarriers::new(points, workers),
            kind: clock::kind(),
            stop: controls.halt_flag(),
            rendezvous,
            failure: Mutex::new(None),
            abandoned: AtomicBool::new(false),
            peer_failed: AtomicBool::new(false),
            scale: AtomicU64::new(0),
            start: AtomicU64::new(0),
            base: AtomicU64::new(0),
            most: AtomicU64::new(0),
            first_done: Mark::default(),
            continued: AtomicU64::new(0),
            meter: Mutex::default(),
            history: None,
            deal: Mutex::default(),
        }
    }

    /// Enables the history of the last operations: each worker's recorder takes its writer
    /// ([`crate::recording::series::Recorder::keeping`]) and records every operation in it.
    pub(crate) fn keep(&mut self, history: History, controls: &Controls) {
        let history = Arc::new(history);
        controls.keep(&history);
        self.history = Some(history);
    }

    /// Returns the history writer of a worker, if the history is enabled.
    pub(crate) fn keeper(&self, worker: usize) -> Option<HistoryWriter> {
        self.history.as_ref().map(|history| history.keeper(worker))
    }

    /// Returns the operations in the history, ordered by start time.
    pub(crate) fn kept(&self) -> Vec<LastOperation> {
        self.history.as_ref().map(|history| history.all(clock::scale())).unwrap_or_default()
    }

    /// The flag that ends the phase.
    pub(crate) fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    /// Keeps the first error and ends the phase, in this process and its peers.
    pub(crate) fn fail(&self, error: EngineError) {
        let lost = matches!(error, EngineError::Rendezvous(_));
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        let first = failure.is_none();
        failure.get_or_insert(error);
        drop(failure);
        self.stop.store(true, Ordering::Relaxed);
        // Before the start, the peers find out by asking. A halt might arrive before they have begun.
        if first && !lost && self.start() != 0 {
            self.rendezvous.fail();
        }
    }

    /// Whether nothing runs because a process failed before the start.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Acquire)
    }

    /// The clock's rate, available from [`Point::Start`] on.
    pub(crate) fn scale(&self) -> Scale {
        Scale::from_bits(self.scale.load(Ordering::Acquire))
    }

    /// The phase's common start, in ticks; 0 before [`Point::Start`].
    pub(crate) fn start(&self) -> u64 {
        self.start.load(Ordering::Acquire)
    }

    /// The common start of the transfers, in ticks, if tasks synchronise after open.
    pub(crate) fn base(&self) -> u64 {
        self.base.load(Ordering::Acquire)
    }

    /// Reports the number of `transfers` that a task had done at the stonewall.
    pub(crate) fn offer_most(&self, transfers: u64) {
        self.most.fetch_max(transfers, Ordering::AcqRel);
    }

    /// The number of transfers to which all tasks continue after [`Point::Stonewall`].
    pub(crate) fn most(&self) -> u64 {
        self.most.load(Ordering::Acquire)
    }

    /// Sets the deal. All processes have it after [`Point::Dealt`].
    pub(crate) fn offer_deal(&self, deal: Vec<u8>) {
        *self.deal.lock().unwrap_or_else(PoisonError::into_inner) = deal;
    }

    /// The deal that was set; empty before [`Point::Dealt`].
    pub(crate) fn dealt(&self) -> Vec<u8> {
        self.deal.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reports that a task has done all its transfers at `now`; only the first call counts.
    pub(crate) fn task_done(&self, now: u64) {
        let first = &self.first_done.ticks;
        if first.compare_exchange(0, now.max(1), Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            let transfers = self.counters.iter().map(WorkerCounters::transfers).sum();
            self.first_done.transfers.store(transfers, Ordering::Release);
        }
    }

    /// Runs the leader's action when all workers have arrived at `point`.
    pub(crate) fn lead(&self, point: Point) {
        if self.is_abandoned() {
            return;
        }
        if let Err(lost) = self.try_lead(point) {
            // The peers are lost, so the process must not wait for them again.
            self.fail(EngineError::Rendezvous(lost));
            self.abandoned.store(true, Ordering::Release);
        }
    }

    fn try_lead(&self, point: Point) -> Result<(), crate::RendezvousError> {
        let peers = self.rendezvous;
        match point {
            Point::Ready => {
                let failed = peers.any(self.has_failed())?;
                self.peer_failed.store(failed, Ordering::Release);
                self.abandoned.store(failed, Ordering::Release);
            }
            Point::Start => {
                self.scale.store(clock::scale().to_bits(), Ordering::Release);
                let ago = peers.begin(point)?;
                self.start.store(self.before_now(ago).max(1), Ordering::Release);
                if let Some(history) = &self.history {
                    history.begin(self.scale(), self.start());
                }
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                let since = since.saturating_sub(ago).as_nanos();
                let mut meter = self.meter.lock().unwrap_or_else(PoisonError::into_inner);
                meter.started_unix_ns = i64::try_from(since).unwrap_or(i64::MAX);
                meter.at_start = cpu_time();
            }
            Point::Dealt => {
                let own = std::mem::take(&mut *self.deal.lock().unwrap_or_else(PoisonError::into_inner));
                // Only one process has set a deal.
                self.offer_deal(peers.share(own)?.concat());
            }
            Point::Opened => {
                let ago = peers.begin(point)?;
                self.base.store(self.before_now(ago), Ordering::Release);
            }
            Point::Stonewall => {
                let most = peers.agree_max(self.most())?;
                self.most.store(most, Ordering::Release);
            }
            Point::Transferred => peers.meet(point)?,
            Point::Closed => {
                let at_end = cpu_time();
                self.meter.lock().unwrap_or_else(PoisonError::into_inner).at_end = at_end;
                let failed = peers.any(self.has_failed())?;
                self.peer_failed.store(failed, Ordering::Release);
            }
        }
        Ok(())
    }

    /// The time `ago` before the present, in ticks.
    fn before_now(&self, ago: Duration) -> u64 {
        let now = clock::now(self.kind);
        let nanos = u64::try_from(ago.as_nanos()).unwrap_or(u64::MAX);
        now.saturating_sub(self.scale().ticks(nanos))
    }

    fn has_failed(&self) -> bool {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Takes the first error of this process, or reports that a peer failed.
    pub(crate) fn take_failure(&self) -> Option<EngineError> {
        let own = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        own.or_else(|| self.peer_failed.load(Ordering::Acquire).then_some(EngineError::Peer))
    }

    /// Restarts the meter, so that CPU time used until now is not counted.
    pub(crate) fn meter_from_here(&self) {
        self.meter.lock().unwrap_or_else(PoisonError::into_inner).at_start = cpu_time();
    }

    pub(crate) fn meter(&self) -> Meter {
        *self.meter.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
