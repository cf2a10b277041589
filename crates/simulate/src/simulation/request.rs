//! Requests on their path through the parts of a model.

use plan::Operation;

use crate::simulation::parts::drive::Piece;
use crate::simulation::time::Ticks;

/// No request.
pub(crate) const NONE: u32 = u32::MAX;

/// The next event of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Its task begins the next operation.
    Next,
    /// Its node spends processor time on it.
    Submit,
    /// It leaves the node, or is served from its page cache.
    Issue,
    /// It reaches the metadata service.
    Names,
    /// Its bytes leave the node after its name was found.
    Data,
    /// It reaches the link or server with this number on its path, or the device after the last of them.
    Part(u8),
    /// A thread has spent its processor time on it.
    Worked,
    /// The head of a message reaches the part with this number on its path to another node.
    Hop(u8),
    /// A message has arrived.
    Arrived,
    /// It is done.
    End,
    /// A write of the page cache, for whose end nobody waits, is done.
    WrittenBack,
    /// What the page cache has read ahead is there.
    ReadAhead,
    /// A phase begins later than others.
    Begin,
}

/// An operation of a task, a piece of one on one device, or a write of the page cache.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    pub(crate) task: u32,
    /// The phase of its task, among those that run at the same time.
    pub(crate) phase: u32,
    /// The node of its task, which all parts on the path need to know.
    pub(crate) node: u32,
    pub(crate) stage: Stage,
    pub(crate) operation: Operation,
    /// Whether it is counted. Operations that only prepare others are not.
    pub(crate) counts: bool,
    /// The operation of which it is a piece.
    pub(crate) parent: u32,
    /// Number of pieces that have not reached their devices yet.
    pub(crate) pending: u32,
    pub(crate) device: u32,
    pub(crate) piece: Piece,
    /// Time when it was due.
    pub(crate) due: Ticks,
    /// Time when it was submitted.
    pub(crate) submitted: Ticks,
    /// Time when the last of its pieces ended; for a message, when its tail has reached the position of
    /// its head.
    pub(crate) ended: Ticks,
}

impl Request {
    /// Creates a request of `task` on `node` that has not begun. `phase` is the number of the task's phase.
    pub(crate) fn new(task: u32, node: u32, phase: u32) -> Self {
        Self {
            task,
            phase,
            node,
            stage: Stage::Next,
            operation: Operation::Read,
            counts: true,
            parent: NONE,
            pending: 0,
            device: 0,
            piece: Piece::new(0, 0, (0, 0), false),
            due: 0,
            submitted: 0,
            ended: 0,
        }
    }

    /// The time when all its pieces were served, which is its next event.
    #[inline]
    pub(crate) fn served(&mut self) -> Ticks {
        if !matches!(self.stage, Stage::WrittenBack | Stage::ReadAhead) {
            self.stage = Stage::End;
        }
        self.ended
    }
}

/// All requests. Completed ones are reused for others.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    all: Vec<Request>,
    free: Vec<u32>,
}

impl Requests {
    pub(crate) fn add(&mut self, request: Request) -> u32 {
        if let Some(number) = self.free.pop() {
            self.all[number as usize] = request;
            return number;
        }
        self.all.push(request);
        u32::try_from(self.all.len() - 1).unwrap_or(NONE)
    }

    pub(crate) fn remove(&mut self, number: u32) {
        self.free.push(number);
    }

    /// Moves all their times by `time`.
    pub(crate) fn shift(&mut self, time: Ticks) {
        for request in &mut self.all {
            for at in [&mut request.due, &mut request.submitted, &mut request.ended] {
                *at = at.saturating_add(time);
            }
        }
    }

    #[inline]
    pub(crate) fn get(&mut self, number: u32) -> &mut Request {
        &mut self.all[number as usize]
    }
}
