//! Synchronisation and agreement between the processes of a phase.

use std::time::Duration;

/// An error between processes. The type is chosen by the implementer.
pub type RendezvousError = Box<dyn std::error::Error + Send + Sync>;

/// A point of a phase at which all tasks of all processes synchronise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// Everything is prepared.
    Ready,
    /// Times are counted from the arrival of the last process at this point.
    Start,
    /// The directories have been distributed to the tasks (only in a search).
    Dealt,
    /// All files are open (only if the workload has barriers or a pace).
    Opened,
    /// The stonewall's deadline has passed (only with wear-out).
    Stonewall,
    /// All transfers are done (only with barriers).
    Transferred,
    /// All files are closed.
    Closed,
}

/// Barriers and reductions between the processes of a run.
///
/// All processes pass the same points in the same order, even after an error or a stop, so an
/// implementation may be as simple as one MPI call per method. Only the thread that called [`crate::run`]
/// calls these methods.
pub trait Rendezvous: Sync {
    /// Returns when all processes have called it.
    ///
    /// # Errors
    /// Errors if a peer is gone.
    fn meet(&self, point: Point) -> Result<(), RendezvousError>;

    /// Like [`Rendezvous::meet`], but also agrees on the arrival of the last process and returns how long ago
    /// it was. The times of all processes count from it. Called at [`Point::Start`] and [`Point::Opened`].
    ///
    /// # Errors
    /// Errors if a peer is gone.
    fn begin(&self, point: Point) -> Result<Duration, RendezvousError>;

    /// Returns the largest of the values that the processes passed.
    ///
    /// # Errors
    /// Errors if a peer is gone.
    fn agree_max(&self, value: u64) -> Result<u64, RendezvousError>;

    /// Whether any process passed `true`.
    ///
    /// # Errors
    /// Errors if a peer is gone.
    fn any(&self, value: bool) -> Result<bool, RendezvousError>;

    /// Returns the bytes of every process, by process number: a few hundred each, or up to a few million
    /// from one of them.
    ///
    /// # Errors
    /// Errors if a peer is gone.
    fn share(&self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, RendezvousError>;

    /// Reports that a task of this process has failed, so that the others end the phase soon with
    /// [`crate::Controls::halt`]. Called at most once in a phase, from any thread of the process, between
    /// [`Point::Start`] and [`Point::Closed`]. Returns at once. The report may arrive late: a peer that has
    /// passed [`Point::Closed`] must not halt its next phase because of it.
    fn fail(&self);
}

/// A single process, without peers.
#[derive(Debug, Clone, Copy, Default)]
pub struct SingleProcess;

impl Rendezvous for SingleProcess {
    fn meet(&self, _point: Point) -> Result<(), RendezvousError> {
        Ok(())
    }

    fn begin(&self, _point: Point) -> Result<Duration, RendezvousError> {
        Ok(Duration::ZERO)
    }

    fn agree_max(&self, value: u64) -> Result<u64, RendezvousError> {
        Ok(value)
    }

    fn any(&self, value: bool) -> Result<bool, RendezvousError> {
        Ok(value)
    }

    fn share(&self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, RendezvousError> {
        Ok(vec![own])
    }

    fn fail(&self) {}
}
