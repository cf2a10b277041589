//! Ranks as processes started by a launcher, with the MPI library of the site.
//!
//! The library is only loaded if a launcher's variables are set. Without a launcher there is a single
//! process, and the machine does not need MPI.
//!
//! Only point-to-point messages are used, and [`crate::Comm`] is built on them. All MPI calls are made by
//! one thread of each process, which also checks whether neighbours are alive.

mod agent;
mod calls;
mod frame;
#[doc(hidden)]
pub mod fuzzing;
mod launcher;
mod library;
mod queue;
mod secret;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{Builder, sleep};
use std::time::Duration;

use thiserror::Error;

use crate::tree::Ranks;
use crate::{Comm, CommError, Delegate, JoinError, Launched, Launcher, Topology};
use agent::Agent;
use calls::end_now;
use queue::{MessageQueue, Order, PeerMessages};
use secret::Secret;

/// A neighbour that is silent for this long is lost. Heartbeats are sent every second, so fifteen of them
/// are missing by then. This is more than a busy host or a short network outage delays, and half of the
/// thirty seconds within which a run with a lost node ends.
pub const PATIENCE: Duration = Duration::from_secs(15);

/// Timeout of MPI's initialisation. Launchers of a thousand nodes need less.
const START: Duration = Duration::from_secs(300);

/// Timeout of the library's abort. After that, this process ends by itself.
const END: Duration = Duration::from_secs(5);

/// Timeout of MPI's finalisation after the last synchronisation of the ranks. After that, a rank is lost.
const FINALIZE: Duration = Duration::from_secs(30);

/// The MPI libraries that this process could load, one for each kind of launcher: the name or path, and what the library
/// says of itself; `named` alone if it is given. `variable` reads an environment variable. Nothing is initialised.
#[must_use]
pub fn installed(
    named: Option<&Path>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Vec<(std::path::PathBuf, String)> {
    library::installed(named, variable)
}

/// How to join the other processes of a job.
#[derive(Clone, Copy)]
pub struct JoinOptions<'a> {
    /// The MPI library, or `None` to find one that matches the launcher.
    pub library: Option<&'a Path>,
    /// Reads an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// How long a neighbour may be silent; [`PATIENCE`] outside tests.
    pub patience: Duration,
}

/// A rank of an MPI job. If it is dropped without [`Mpi::leave`], all processes of the job are ended, so
/// that they do not wait for a rank that has ended early.
pub struct Mpi {
    ranks: Ranks<PeerMessages>,
    library: String,
    /// Additional time that the launcher may need to notice a lost node.
    detection_delay: Duration,
    left: bool,
}

/// Exit code of a process that ends early: that of an internal error.
const EARLY: i32 = 1;

/// Joins the processes of the job started by a launcher. Returns `None` if there is no launcher, or only
/// one process.
///
/// # Errors
/// Errors if a launcher's variables are set, but its processes cannot be joined.
///
/// ```
/// let options = comm::JoinOptions { library: None, variable: &|_| None, patience: comm::PATIENCE };
/// assert!(comm::join(&options).expect("nothing is to be joined").is_none());
/// ```
pub fn join(options: &JoinOptions<'_>) -> Result<Option<Mpi>, JoinError> {
    let Some(launched) = Launched::find(options.variable).filter(|launched| launched.size > 1) else {
        return Ok(None);
    };
    let (found, path) = library::find(options.library, options.variable, launched)?;
    let library = format!("{} ({})", found.version, path.display());
    let not_started = |reason: String| JoinError::NotStarted { library: library.clone(), reason };

    let secret = Secret::random().map_err(|errno| {
        not_started(format!("the kernel does not provide random bits for the secret of the launch: {errno}"))
    })?;
    let queue = MessageQueue::new();
    let (started, answer) = channel();
    let at_work = Arc::clone(&queue);
    let patience = options.patience;
    let agent = move || {
        let calls = found.calls;
        let place = calls.init().and_then(|()| Ok((calls.rank()?, calls.size()?)));
        let fits = place.as_ref().is_ok_and(|&(_, size)| size == launched.size);
        if started.send(place.clone()).is_err() {
            return;
        }
        match place {
            Ok(place) if fits => Agent::new(calls, at_work, place, patience, secret).run(),
            // If there is only a single process, there are no peers to wait for.
            Ok(_) => drop(calls.finalize()),
            Err(_) => {}
        }
    };
    Builder::new().name("mpi".to_owned()).spawn(agent).map_err(|error| not_started(error.to_string()))?;
    let (rank, size) = match answer.recv_timeout(START) {
        Ok(Ok(place)) => place,
        Ok(Err(failed)) => return Err(not_started(failed.0)),
        Err(RecvTimeoutError::Timeout) => {
            return Err(not_started(format!("its start took longer than {} s", START.as_secs())));
        }
        Err(RecvTimeoutError::Disconnected) => return Err(not_started("its thread ended".to_owned())),
    };
    if size != launched.size {
        return Err(JoinError::Alone { launched, library, size });
    }
    let ranks = Ranks::world(PeerMessages { rank, size, queue }, unknown(size));
    let detection_delay = match launched.launcher {
        Launcher::OpenMpi => launcher::detection_delay(options.variable, patience),
        _ => Duration::ZERO,
    };
    let mut mpi = Mpi { ranks, library, detection_delay, left: false };
    match mpi.meet_all() {
        Ok(()) => Ok(Some(mpi)),
        // All ranks know about this, and one of them must report it before the job ends.
        Err(error @ JoinError::Different { .. }) => match mpi.leave() {
            Ok(()) => Err(error),
            Err(stranded) => Err(stranded.mpi.give_up(stranded.error.into())),
        },
        Err(error) => Err(mpi.give_up(error)),
    }
}

/// A rank that could not leave its job because others are lost.
#[derive(Error)]
#[error("{error}")]
pub struct FinalizeFailed {
    /// The rank. The caller reports the error, and then ends the job with [`Mpi::abort`].
    pub mpi: Box<Mpi>,
    /// The loss.
    pub error: CommError,
}

impl fmt::Debug for FinalizeFailed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(formatter)
    }
}

/// Topology before the ranks have exchanged their nodes.
fn unknown(size: u32) -> Topology {
    Topology::of((0..size).map(|_| "unknown"))
}

/// The node and the MPI version that a rank sends when it joins.
fn place_in(bytes: &[u8]) -> Option<(String, String)> {
    let text = std::str::from_utf8(bytes).ok()?.strip_suffix('\0')?;
    let (node, version) = text.split_once('\0').filter(|(_, version)| !version.contains('\0'))?;
    Some((node.to_owned(), version.to_owned()))
}

/// The nodes and MPI versions of `size` ranks, ordered by rank. Returns `None` if there are more or
/// fewer.
fn places(bytes: &[u8], size: u32) -> Option<(Vec<String>, Vec<String>)> {
    let mut all = bytes.split_inclusive(|&byte| byte == 0);
    let one = || Some(place_in(&[all.next()?, all.next()?].concat()));
    let all: Option<(Vec<String>, Vec<String>)> = std::iter::from_fn(one).collect();
    all.filter(|(nodes, _)| nodes.len() == size as usize)
}

impl Mpi {
    /// The library and its location.
    #[must_use]
    pub fn library(&self) -> &str {
        &self.library
    }

    /// Exchanges the nodes of all ranks, starts to watch the neighbours, and compares the clocks.
    fn meet_all(&mut self) -> Result<(), JoinError> {
        let queue = Arc::clone(&self.ranks.links().queue);
        let node = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let version = self.library.split(" (").next().unwrap_or_default();
        let own = format!("{node}\0{version}\0").into_bytes();
        let all = self.ranks.gather(own)?.unwrap_or_default();
        if let Some(rank) = (0..).zip(&all).find_map(|(rank, own)| (place_in(own).is_none()).then_some(rank))
        {
            return Err(self.told_wrong(rank).into());
        }
        let all = self.ranks.broadcast(all.concat())?;
        let (nodes, versions) = places(&all, self.ranks.size()).ok_or_else(|| self.told_wrong(0))?;
        if let Some(other) = versions.iter().position(|version| *version != versions[0]) {
            return Err(JoinError::Different {
                rank: u32::try_from(other).unwrap_or_default(),
                node: nodes[other].clone(),
                theirs: versions[other].clone(),
                ours: versions[0].clone(),
            });
        }
        self.ranks = self.ranks.on(Topology::of(nodes.iter().cloned()));
        queue.order(Order::Watch { neighbours: self.ranks.neighbours().collect(), nodes });
        self.ranks.synchronize()?;
        Ok(())
    }

    /// The error for a rank whose message at joining cannot be parsed.
    fn told_wrong(&self, rank: u32) -> CommError {
        let what = "the node and the MPI version that it reported cannot be parsed".to_owned();
        CommError::Lost { rank, node: "unknown".to_owned(), what }
    }

    /// Leaves the job when all ranks do. This is the regular end.
    ///
    /// # Errors
    /// Errors if a peer is gone, late or out of step, or if the library did not finalise. This rank is
    /// returned in the error.
    pub fn leave(mut self) -> Result<(), FinalizeFailed> {
        match self.part() {
            Ok(()) => {
                self.left = true;
                Ok(())
            }
            Err(error) => Err(FinalizeFailed { mpi: Box::new(self), error }),
        }
    }

    fn part(&self) -> Result<(), CommError> {
        let queue = &self.ranks.links().queue;
        // Neighbours are watched until all ranks have arrived; otherwise a lost one would be waited for.
        self.ranks.end()?;
        // A rank's heartbeats arrive before its later messages, so none is in flight when all ranks have
        // synchronised again.
        queue.order(Order::Rest);
        self.ranks.end()?;
        let (answer, left) = channel();
        queue.order(Order::Leave(answer));
        match left.recv_timeout(FINALIZE) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(failed)) => Err(self.own_failure(failed.0)),
            Err(RecvTimeoutError::Timeout) => {
                Err(self.own_failure(format!("its end took longer than {} s", FINALIZE.as_secs())))
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.own_failure("its thread ended".to_owned())),
        }
    }

    /// Gives up joining the job for this reason. The process ends without the library.
    fn give_up(mut self, error: JoinError) -> JoinError {
        self.left = true;
        error
    }

    fn own_failure(&self, reason: String) -> CommError {
        let what = format!("its MPI reports: {reason}");
        CommError::Lost { rank: self.rank(), node: self.node().to_owned(), what }
    }

    /// Ends all processes of the job with this exit code at once. A code of 0 is replaced by 1, because an
    /// aborted job has not done its work. After the loss of a node this takes a few seconds, and exit code
    /// and message may be those of the launcher: see `docs/MPI.md`.
    pub fn abort(&self, code: i32) -> ! {
        let code = if code == 0 { EARLY } else { code };
        if self.ranks.links().queue.inbox.failed().is_some_and(|failure| failure.call.is_none()) {
            sleep(self.detection_delay);
            launcher::end_launcher();
        }
        self.ranks.links().queue.order(Order::Abort(code));
        sleep(END);
        // The library does not end the job; its own processes may be unreachable. End this process, so that
        // the launcher notices.
        end_now(code)
    }
}

impl Delegate for Mpi {
    fn comm(&self) -> &dyn Comm {
        &self.ranks
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        if !self.left {
            self.abort(EARLY);
        }
    }
}
