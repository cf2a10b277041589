//! What the workers of a process share while a phase runs, whatever they do in it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::clock::{self, Kind, Scale};
use crate::controls::Slot;
use crate::gate::Gates;
use crate::history::{History, Keeper};
use crate::sys::{CpuTime, cpu_time};
use crate::{Controls, EngineError, LastOperation, Point, Rendezvous};

/// A moment of the phase as a whole, with what had been done by then.
#[derive(Debug, Default)]
pub(crate) struct Mark {
    /// 0 until it is set.
    ticks: AtomicU64,
    transfers: AtomicU64,
}

impl Mark {
    /// The moment and the transfers, when it came.
    pub(crate) fn get(&self) -> Option<(u64, u64)> {
        let ticks = self.ticks.load(Ordering::Acquire);
        (ticks != 0).then(|| (ticks, self.transfers.load(Ordering::Acquire)))
    }
}

/// CPU time and wall clock, kept by the leader.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Meter {
    pub(crate) started_unix_ns: i64,
    pub(crate) at_start: CpuTime,
    pub(crate) at_end: CpuTime,
}

/// Everything that the workers of a process see of each other.
pub(crate) struct Common<'a> {
    pub(crate) kind: Kind,
    pub(crate) slots: Arc<[Slot]>,
    pub(crate) gates: Gates,
    rendezvous: &'a dyn Rendezvous,
    stop: Arc<AtomicBool>,
    failure: Mutex<Option<EngineError>>,
    /// Some process failed before the start: nothing runs.
    abandoned: AtomicBool,
    peer_failed: AtomicBool,
    scale: AtomicU64,
    start: AtomicU64,
    /// Common start of the transfers, where tasks meet after open.
    base: AtomicU64,
    /// Most transfers of a task of this process when the stonewall fell, then of all.
    most: AtomicU64,
    pub(crate) first_done: Mark,
    meter: Mutex<Meter>,
    history: Option<Arc<History>>,
}

impl<'a> Common<'a> {
    /// For so many `workers`, who count their operations of about `operation_bytes` in so many `slots`
    /// and meet at `points`, the first and the last of which are [`Point::Ready`] and [`Point::Closed`].
    pub(crate) fn new(
        points: Vec<Point>,
        (workers, slots): (usize, usize),
        operation_bytes: u64,
        rendezvous: &'a dyn Rendezvous,
        controls: &'a Controls,
    ) -> Self {
        Self {
            slots: controls.begin(slots, operation_bytes),
            gates: Gates::new(points, workers),
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
            meter: Mutex::default(),
            history: None,
        }
    }

    /// Has the last operations kept: each worker's recorder takes its keeper
    /// ([`crate::series::Recorder::keeping`]) and is told of each operation.
    pub(crate) fn keep(&mut self, history: History, controls: &Controls) {
        let history = Arc::new(history);
        controls.keep(&history);
        self.history = Some(history);
    }

    /// What the worker of this number keeps its operations with, where they are wanted.
    pub(crate) fn keeper(&self, worker: usize) -> Option<Keeper> {
        self.history.as_ref().map(|history| history.keeper(worker))
    }

    /// The operations that were kept, by their starts.
    pub(crate) fn kept(&self) -> Vec<LastOperation> {
        self.history.as_ref().map(|history| history.all(clock::scale())).unwrap_or_default()
    }

    /// The flag that ends the phase.
    pub(crate) fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    /// Keeps the first error and ends the phase, here and in the peers.
    pub(crate) fn fail(&self, error: EngineError) {
        let lost = matches!(error, EngineError::Rendezvous(_));
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        let first = failure.is_none();
        failure.get_or_insert(error);
        drop(failure);
        self.stop.store(true, Ordering::Relaxed);
        // Before the start the peers ask by themselves; a halt might come before they have begun.
        if first && !lost && self.start() != 0 {
            self.rendezvous.fail();
        }
    }

    /// Nothing runs, because some process failed before the start.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Acquire)
    }

    /// The clock's rate, known from [`Point::Start`] on.
    pub(crate) fn scale(&self) -> Scale {
        Scale::from_bits(self.scale.load(Ordering::Acquire))
    }

    /// The phase's common start, in ticks; 0 before [`Point::Start`].
    pub(crate) fn start(&self) -> u64 {
        self.start.load(Ordering::Acquire)
    }

    /// The common start of the transfers, in ticks, where tasks meet after open.
    pub(crate) fn base(&self) -> u64 {
        self.base.load(Ordering::Acquire)
    }

    /// A task had done `transfers` when the stonewall fell.
    pub(crate) fn offer_most(&self, transfers: u64) {
        self.most.fetch_max(transfers, Ordering::AcqRel);
    }

    /// To how many transfers all tasks go on after [`Point::Stonewall`].
    pub(crate) fn most(&self) -> u64 {
        self.most.load(Ordering::Acquire)
    }

    /// A task has done all its transfers at `now`; only the first one counts.
    pub(crate) fn task_done(&self, now: u64) {
        let first = &self.first_done.ticks;
        if first.compare_exchange(0, now.max(1), Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            let transfers = self.slots.iter().map(Slot::transfers).sum();
            self.first_done.transfers.store(transfers, Ordering::Release);
        }
    }

    /// What the leader does when all workers have come to `point`.
    pub(crate) fn lead(&self, point: Point) {
        if self.is_abandoned() {
            return;
        }
        if let Err(lost) = self.try_lead(point) {
            // Without its peers the process must not wait for them again.
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

    /// The moment so long ago, in ticks.
    fn before_now(&self, ago: Duration) -> u64 {
        let now = clock::now(self.kind);
        let nanos = u64::try_from(ago.as_nanos()).unwrap_or(u64::MAX);
        now.saturating_sub(self.scale().ticks(nanos))
    }

    fn has_failed(&self) -> bool {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// The first error of this process, or that of a peer.
    pub(crate) fn take_failure(&self) -> Option<EngineError> {
        let own = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        own.or_else(|| self.peer_failed.load(Ordering::Acquire).then_some(EngineError::Peer))
    }

    /// What was spent until now is not counted.
    pub(crate) fn meter_from_here(&self) {
        self.meter.lock().unwrap_or_else(PoisonError::into_inner).at_start = cpu_time();
    }

    pub(crate) fn meter(&self) -> Meter {
        *self.meter.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
