//! Barriers of the engine's phases across the processes of a run.

use std::time::Duration;

use comm::Comm;
use engine::{Point, Rendezvous, RendezvousError};

/// The engine's barriers, implemented with a [`Comm`].
pub(crate) struct RankBarrier<'a> {
    /// All ranks.
    comm: &'a dyn Comm,
    /// The ranks that run tasks.
    group: &'a dyn Comm,
    /// The phase number, sent to the other ranks when a task fails.
    number: u64,
}

impl<'a> RankBarrier<'a> {
    /// Creates the barriers of the ranks of `group`, a subset of `comm`, for the phase with this number.
    pub(crate) fn new(comm: &'a dyn Comm, group: &'a dyn Comm, number: u64) -> Self {
        Self { comm, group, number }
    }
}

impl Rendezvous for RankBarrier<'_> {
    fn meet(&self, _point: Point) -> Result<(), RendezvousError> {
        self.group.barrier().map_err(Into::into)
    }

    fn begin(&self, _point: Point) -> Result<Duration, RendezvousError> {
        self.group.meet().map_err(Into::into)
    }

    fn agree_max(&self, value: u64) -> Result<u64, RendezvousError> {
        self.group.max_u64(value).map_err(Into::into)
    }

    fn any(&self, value: bool) -> Result<bool, RendezvousError> {
        self.group.any(value).map_err(Into::into)
    }

    fn share(&self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, RendezvousError> {
        let all = self.group.gather(own)?;
        let all = all.map(|all| serde_json::to_vec(&all)).transpose()?.unwrap_or_default();
        Ok(serde_json::from_slice(&self.group.broadcast(all)?)?)
    }

    fn fail(&self) {
        self.comm.signal(self.number);
    }
}
