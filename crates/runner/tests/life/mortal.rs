//! A rank that dies, or that sees different directories than the other ranks.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use comm::{Clock, Comm, CommError, Fake, Merge, OnSignal, Topology};

/// A rank that dies when it reaches the phase with this number, counted from 1. It behaves as if it were killed:
/// nothing is cleaned up.
pub(crate) struct Mortal {
    rank: Fake,
    dies_in: u32,
    phases: AtomicU32,
    /// A directory, and the directory mounted in its place on the node of this rank.
    mounted: Option<(String, String)>,
}

impl Mortal {
    /// Creates a rank that never dies if `dies_in` is 0.
    pub(crate) fn new(rank: Fake, dies_in: u32, mounted: Option<(String, String)>) -> Self {
        Self { rank, dies_in, phases: AtomicU32::new(0), mounted }
    }
}

impl Comm for Mortal {
    fn rank(&self) -> u32 {
        self.rank.rank()
    }

    fn size(&self) -> u32 {
        self.rank.size()
    }

    fn node(&self) -> &str {
        self.rank.node()
    }

    fn barrier(&self) -> Result<(), CommError> {
        self.rank.barrier()
    }

    fn max_u64(&self, value: u64) -> Result<u64, CommError> {
        self.rank.max_u64(value)
    }

    fn any(&self, value: bool) -> Result<bool, CommError> {
        self.rank.any(value)
    }

    fn gather(&self, bytes: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, CommError> {
        self.rank.gather(bytes)
    }

    fn broadcast(&self, bytes: Vec<u8>) -> Result<Vec<u8>, CommError> {
        let told = self.rank.broadcast(bytes)?;
        // This rank carries out every instruction for that directory in the other one.
        Ok(match (&self.mounted, std::str::from_utf8(&told)) {
            (Some((from, to)), Ok(text)) => text.replace(from, to).into_bytes(),
            _ => told,
        })
    }

    fn topology(&self) -> &Topology {
        self.rank.topology()
    }

    fn combine(&self, bytes: Vec<u8>, merge: Merge<'_>) -> Result<Option<Vec<u8>>, CommError> {
        self.rank.combine(bytes, merge)
    }

    fn stream(&self, bytes: Vec<u8>, take: &mut dyn FnMut(u32, Vec<u8>)) -> Result<(), CommError> {
        self.rank.stream(bytes, take)
    }

    fn group<'a>(&'a self, members: &[u32]) -> Option<Box<dyn Comm + 'a>> {
        if self.phases.fetch_add(1, Ordering::SeqCst) + 1 == self.dies_in {
            std::panic::resume_unwind(Box::new("killed"));
        }
        self.rank.group(members)
    }

    fn strand<'a>(&'a self, number: u8) -> Box<dyn Comm + 'a> {
        self.rank.strand(number)
    }

    fn synchronize(&self) -> Result<Vec<Clock>, CommError> {
        self.rank.synchronize()
    }

    fn meet(&self) -> Result<Duration, CommError> {
        self.rank.meet()
    }

    fn signal(&self, value: u64) {
        self.rank.signal(value);
    }

    fn on_signal(&self, handler: OnSignal) {
        self.rank.on_signal(handler);
    }

    fn failure(&self) -> Option<CommError> {
        self.rank.failure()
    }
}
