//! A run in one process: every agreement is with itself.

use crate::{Comm, CommError};

/// The only rank of a run in one process.
///
/// ```
/// use comm::{Comm, Solo};
/// let solo = Solo::new("node1");
/// assert_eq!((solo.rank(), solo.size(), solo.node()), (0, 1, "node1"));
/// ```
#[derive(Debug, Clone)]
pub struct Solo {
    node: String,
}

impl Solo {
    /// The only rank, on the node of this name.
    pub fn new(node: impl Into<String>) -> Self {
        Self { node: node.into() }
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
        &self.node
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
}
