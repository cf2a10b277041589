//! Lets the engine's phases meet over the processes of a run.

use std::time::Duration;

use comm::Comm;
use engine::{Point, Rendezvous, RendezvousError};

/// The signal by which a rank tells the others that a task of it has failed in this phase.
const PHASE_FAILED: u64 = 1;

/// The engine's meeting points, carried by a [`Comm`].
pub(crate) struct Meeting<'a> {
    comm: &'a dyn Comm,
}

impl<'a> Meeting<'a> {
    /// Meets over `comm`.
    pub(crate) fn new(comm: &'a dyn Comm) -> Self {
        Self { comm }
    }
}

impl Rendezvous for Meeting<'_> {
    fn meet(&self, _point: Point) -> Result<(), RendezvousError> {
        self.comm.barrier().map_err(Into::into)
    }

    fn begin(&self, _point: Point) -> Result<Duration, RendezvousError> {
        self.comm.meet().map_err(Into::into)
    }

    fn agree_max(&self, value: u64) -> Result<u64, RendezvousError> {
        self.comm.max_u64(value).map_err(Into::into)
    }

    fn any(&self, value: bool) -> Result<bool, RendezvousError> {
        self.comm.any(value).map_err(Into::into)
    }

    fn fail(&self) {
        self.comm.signal(PHASE_FAILED);
    }
}
