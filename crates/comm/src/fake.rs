//! Several ranks as threads of one process, so that what needs peers can be tested without them.
//!
//! Every operation is one round of the same exchange: each rank lays down its bytes, the last
//! one to come closes the round, and all take the bytes of all.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::{Clock, Comm, CommError, Merge, OnSignal, Topology};

/// How long a rank waits for the others unless the test says otherwise: longer than any phase of
/// a test, short enough that a hang ends before a test runner loses patience.
const PATIENCE: Duration = Duration::from_secs(60);

/// One rank of a world of threads. Dropping it tells the others that it is gone.
pub struct Fake {
    rank: u32,
    world: Arc<World>,
    /// Two threads that hold the same rank take turns: a rank is in one place at a time.
    turn: Mutex<()>,
    /// Dropping it says nothing of the rank: it is its place in a group.
    stays: bool,
}

struct World {
    topology: Topology,
    patience: Duration,
    handlers: Mutex<HashMap<u32, OnSignal>>,
    /// Worlds of some of the ranks, by them.
    groups: Mutex<HashMap<Vec<u32>, Arc<World>>>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Rounds that have been closed.
    round: u64,
    /// What the open round is for; `None` before anyone has come.
    operation: Option<&'static str>,
    /// What each rank has laid down in the open round.
    parts: Vec<Option<Vec<u8>>>,
    /// What all ranks laid down in the last closed round.
    closed: Arc<Vec<Vec<u8>>>,
    /// Ranks that have been dropped.
    gone: Vec<bool>,
    /// The first failure; it stays.
    failure: Option<CommError>,
}

impl Fake {
    /// A world with one rank for each name, which is the node that the rank says it runs on.
    #[must_use]
    pub fn world(nodes: &[&str]) -> Vec<Self> {
        Self::world_with_patience(nodes, PATIENCE)
    }

    /// Like [`Fake::world`], where a rank waits for the others no longer than `patience`.
    #[must_use]
    pub fn world_with_patience(nodes: &[&str], patience: Duration) -> Vec<Self> {
        let size = nodes.len();
        let world = World::new(Topology::of(nodes.iter().copied()), patience);
        (0..)
            .take(size)
            .map(|rank| Self { rank, world: Arc::clone(&world), turn: Mutex::new(()), stays: false })
            .collect()
    }

    /// Lays down `bytes` and waits for those of all ranks.
    fn exchange(&self, operation: &'static str, bytes: Vec<u8>) -> Result<Arc<Vec<Vec<u8>>>, CommError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.world.lock();
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        let ours = *state.operation.get_or_insert(operation);
        if ours != operation {
            let failure = CommError::OutOfStep { rank: self.rank, theirs: operation, ours };
            return Err(self.world.fail(&mut state, failure));
        }
        state.parts[self.index()] = Some(bytes);
        if state.parts.iter().all(Option::is_some) {
            let closed = Arc::new(state.parts.iter_mut().filter_map(Option::take).collect());
            state.closed = Arc::clone(&closed);
            state.operation = None;
            state.round += 1;
            self.world.changed.notify_all();
            return Ok(closed);
        }
        if let Some(failure) = state.missing_for_good(operation) {
            return Err(self.world.fail(&mut state, failure));
        }
        self.wait(state, operation)
    }

    /// Waits until the open round is closed, has failed or has taken too long.
    fn wait(
        &self,
        mut state: MutexGuard<'_, State>,
        operation: &'static str,
    ) -> Result<Arc<Vec<Vec<u8>>>, CommError> {
        let round = state.round;
        let deadline = Instant::now() + self.world.patience;
        loop {
            // The round is looked at first: one that was closed counts, even if a peer was
            // dropped right after it.
            if state.round != round {
                return Ok(Arc::clone(&state.closed));
            }
            if let Some(failure) = &state.failure {
                return Err(failure.clone());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let failure = CommError::TimedOut {
                    missing: state.missing(),
                    operation,
                    patience: self.world.patience,
                };
                return Err(self.world.fail(&mut state, failure));
            }
            let waited = self.world.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn index(&self) -> usize {
        self.rank as usize
    }
}

impl World {
    fn new(topology: Topology, patience: Duration) -> Arc<Self> {
        let size = topology.node_of().len();
        Arc::new(Self {
            topology,
            patience,
            handlers: Mutex::default(),
            groups: Mutex::default(),
            state: Mutex::new(State {
                round: 0,
                operation: None,
                parts: vec![None; size],
                closed: Arc::default(),
                gone: vec![false; size],
                failure: None,
            }),
            changed: Condvar::new(),
        })
    }

    /// The state; no code that holds it can panic between two changes that belong together.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fail(&self, state: &mut State, failure: CommError) -> CommError {
        state.failure = Some(failure.clone());
        self.changed.notify_all();
        failure
    }
}

impl State {
    /// Ranks that have not come to the open round.
    fn missing(&self) -> Vec<u32> {
        (0..).zip(&self.parts).filter(|(_, part)| part.is_none()).map(|(rank, _)| rank).collect()
    }

    /// The failure of an open round that a dropped rank can no longer come to.
    fn missing_for_good(&self, operation: &'static str) -> Option<CommError> {
        let rank = self.missing().into_iter().find(|&rank| self.gone[rank as usize])?;
        Some(CommError::PeerGone { rank, operation })
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        if self.stays {
            return;
        }
        let mut state = self.world.lock();
        state.gone[self.index()] = true;
        if state.failure.is_none()
            && let Some(operation) = state.operation
            && let Some(failure) = state.missing_for_good(operation)
        {
            self.world.fail(&mut state, failure);
        }
    }
}

impl Comm for Fake {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        u32::try_from(self.world.topology.node_of().len())
            .expect("ranks are numbered by a u32 from the start")
    }

    fn node(&self) -> &str {
        let topology = &self.world.topology;
        &topology.names()[topology.node_of()[self.index()] as usize]
    }

    fn barrier(&self) -> Result<(), CommError> {
        self.exchange("a barrier", Vec::new()).map(|_| ())
    }

    fn max_u64(&self, value: u64) -> Result<u64, CommError> {
        let all = self.exchange("a maximum", value.to_le_bytes().to_vec())?;
        let values = all.iter().filter_map(|part| part.as_slice().try_into().ok()).map(u64::from_le_bytes);
        Ok(values.max().unwrap_or(value))
    }

    fn any(&self, value: bool) -> Result<bool, CommError> {
        let all = self.exchange("a vote", vec![u8::from(value)])?;
        Ok(all.iter().any(|part| part == &[1]))
    }

    fn gather(&self, bytes: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, CommError> {
        let all = self.exchange("a gathering", bytes)?;
        Ok((self.rank == 0).then(|| all.to_vec()))
    }

    fn broadcast(&self, bytes: Vec<u8>) -> Result<Vec<u8>, CommError> {
        let own = if self.rank == 0 { bytes } else { Vec::new() };
        let all = self.exchange("a broadcast", own)?;
        Ok(all[0].clone())
    }

    fn topology(&self) -> &Topology {
        &self.world.topology
    }

    fn combine(&self, bytes: Vec<u8>, merge: Merge<'_>) -> Result<Option<Vec<u8>>, CommError> {
        let all = self.exchange("a merge", bytes)?;
        let whole = all.iter().cloned().reduce(merge);
        Ok(if self.rank == 0 { whole } else { None })
    }

    fn stream(&self, bytes: Vec<u8>, take: &mut dyn FnMut(u32, Vec<u8>)) -> Result<(), CommError> {
        let all = self.exchange("a stream", bytes)?;
        if self.rank == 0 {
            (0..).zip(all.iter()).for_each(|(rank, bytes)| take(rank, bytes.clone()));
        }
        Ok(())
    }

    fn group<'a>(&'a self, members: &[u32]) -> Option<Box<dyn Comm + 'a>> {
        let place = members.iter().position(|&member| member == self.rank)?;
        let topology = &self.world.topology;
        let name = |&rank: &u32| topology.names()[topology.node_of()[rank as usize] as usize].clone();
        let mut groups = self.world.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let world = groups
            .entry(members.to_vec())
            .or_insert_with(|| World::new(Topology::of(members.iter().map(name)), self.world.patience));
        let rank = u32::try_from(place).ok()?;
        Some(Box::new(Self { rank, world: Arc::clone(world), turn: Mutex::new(()), stays: true }))
    }

    fn synchronize(&self) -> Result<Vec<Clock>, CommError> {
        self.exchange("a comparison of clocks", Vec::new())?;
        let nodes = self.world.topology.names().len();
        Ok(if self.rank == 0 { vec![Clock::default(); nodes] } else { Vec::new() })
    }

    fn meet(&self) -> Result<Duration, CommError> {
        self.barrier().map(|()| Duration::ZERO)
    }

    fn signal(&self, value: u64) {
        let handlers: Vec<OnSignal> =
            self.world.handlers.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        handlers.iter().for_each(|handler| handler(value));
    }

    fn on_signal(&self, handler: OnSignal) {
        self.world.handlers.lock().unwrap_or_else(PoisonError::into_inner).insert(self.rank, handler);
    }
}
