//! Requests and responses between the processes of a run.

use serde::{Deserialize, Serialize};

use crate::Bytes;

/// Who asks whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// The first half of the nodes asks the second half, each one other.
    OneToOne,
    /// All nodes but the first ask the first.
    ManyToOne,
    /// Every node asks every other.
    AllToAll,
}

impl Pattern {
    /// The word used in study files and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OneToOne => "one-to-one",
            Self::ManyToOne => "many-to-one",
            Self::AllToAll => "all-to-all",
        }
    }
}

/// Requests and responses over connections that stay open for a phase. A task is a connection, seen from
/// the side that asks; [`crate::Backend::depth`] is how many requests it has under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rpc {
    /// Bytes of a request; at least 1.
    pub request_bytes: Bytes,
    /// Bytes of a response; at least 1.
    pub response_bytes: Bytes,
    /// Who asks whom.
    pub pattern: Pattern,
    /// Threads of each process that carry its connections.
    pub threads: u32,
    /// The network interface that sockets are bound to; the one that leads to the peer where none is named.
    pub interface: Option<String>,
    /// Processors that the threads are bound to, in turn; empty binds none.
    pub processors: Vec<u32>,
}
