//! A run in one process, without communication.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::{Clock, Comm, CommError, Merge, OnSignal, Topology};

/// The only rank of a run in one process.
///
/// ```
/// use comm::{Comm, Solo};
/// let solo = Solo::new("node1");
/// assert_eq!((solo.rank(), solo.size(), solo.node()), (0, 1, "node1"));
/// ```
pub struct Solo {
    topology: Topology,
    /// The handler of signals, shared by all groups and strands.
    handler: Arc<Mutex<Option<OnSignal>>>,
}

impl Solo {
    /// Creates the only rank, on the node with this name.
    pub fn new(node: impl Into<String>) -> Self {
        Self::of_nodes(Topology::of([node.into()]))
    }

    /// Creates the only rank of a run whose nodes are described and do not exist.
    #[must_use]
    pub fn of_nodes(topology: Topology) -> Self {
        Self { topology, handler: Arc::default() }
    }
}

impl Comm for Solo {
    fn rank(&self) -> u32 {
        0
    }

    fn size(&self) -> u32 {
        1
    }

    fn node(&self) -> &str {
        &self.topology.names()[0]
    }

    fn barrier(&self) -> Result<(), CommError> {
        Ok(())
    }

    fn max_u64(&self, value: u64) -> Result<u64, CommError> {
        Ok(value)
    }

    fn any(&self, value: bool) -> Result<bool, CommError> {
        Ok(value)
    }

    fn gather(&self, bytes: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, CommError> {
        Ok(Some(vec![bytes]))
    }

    fn broadcast(&self, bytes: Vec<u8>) -> Result<Vec<u8>, CommError> {
        Ok(bytes)
    }

    fn topology(&self) -> &Topology {
        &self.topology
    }

    fn combine(&self, bytes: Vec<u8>, _merge: Merge<'_>) -> Result<Option<Vec<u8>>, CommError> {
        Ok(Some(bytes))
    }

    fn stream(&self, bytes: Vec<u8>, take: &mut dyn FnMut(u32, Vec<u8>)) -> Result<(), CommError> {
        take(0, bytes);
        Ok(())
    }

    fn group<'a>(&'a self, members: &[u32]) -> Option<Box<dyn Comm + 'a>> {
        members.contains(&0).then(|| self.strand(0))
    }

    fn strand<'a>(&'a self, _number: u8) -> Box<dyn Comm + 'a> {
        Box::new(Self { topology: self.topology.clone(), handler: Arc::clone(&self.handler) })
    }

    fn synchronize(&self) -> Result<Vec<Clock>, CommError> {
        Ok(vec![Clock::default()])
    }

    fn meet(&self) -> Result<Duration, CommError> {
        Ok(Duration::ZERO)
    }

    fn signal(&self, value: u64) {
        let handler = self.handler.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(handler) = handler {
            handler(value);
        }
    }

    fn on_signal(&self, handler: OnSignal) {
        *self.handler.lock().unwrap_or_else(PoisonError::into_inner) = Some(handler);
    }

    fn failure(&self) -> Option<CommError> {
        None
    }
}
