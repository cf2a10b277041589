//! Outcome of one endpoint of exchanges, beside its tasks.

use serde::{Deserialize, Serialize};

use crate::system::sys::CpuTime;

/// A process that was a client, a server, or both.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EndOutcome {
    /// Its number among the endpoints.
    pub end: u32,
    /// The network interface used; empty if no single interface has its address.
    pub interface: String,
    /// Its address there.
    pub address: String,
    /// The NUMA node of the adapter, if it reports one.
    pub adapter_node: Option<u32>,
    /// Client threads.
    pub client_threads: u32,
    /// Server threads.
    pub server_threads: u32,
    /// CPU time of the client threads, from the common start of the exchanges to their end.
    pub client_cpu_ns: u64,
    /// The same for the server threads.
    pub server_cpu_ns: u64,
    /// Processors the client threads were bound to, by thread or for all; empty if unbound.
    pub client_processors: String,
    /// The same for the server threads.
    pub server_processors: String,
    /// The transport of the messages.
    pub transport: String,
    /// Why no remote direct memory access was used.
    pub rdma: String,
    /// Rejected connections without the key of the phase.
    pub shut_out: u64,
}

impl EndOutcome {
    /// Adds a thread.
    pub(super) fn add(&mut self, asks: bool, cpu: CpuTime) {
        let spent = cpu.user_ns + cpu.system_ns;
        let (threads, sum) = match asks {
            true => (&mut self.client_threads, &mut self.client_cpu_ns),
            false => (&mut self.server_threads, &mut self.server_cpu_ns),
        };
        *threads += 1;
        *sum += spent;
    }
}
