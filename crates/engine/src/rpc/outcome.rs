//! The outcome of one endpoint of exchanges, apart from its tasks.

use serde::{Deserialize, Serialize};

use crate::system::sys::CpuTime;

/// The outcome of a process that was a client, a server, or both.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EndOutcome {
    /// Number of the endpoint.
    pub end: u32,
    /// The network interface used; empty if no single interface has its address.
    pub interface: String,
    /// The address used there.
    pub address: String,
    /// The NUMA node of the adapter, if it reports one.
    pub adapter_node: Option<u32>,
    /// Number of client threads.
    pub client_threads: u32,
    /// Number of server threads.
    pub server_threads: u32,
    /// CPU time of the client threads, from the common start of the exchanges to their end.
    pub client_cpu_ns: u64,
    /// CPU time of the server threads over the same time.
    pub server_cpu_ns: u64,
    /// Processors that the client threads were bound to, by thread or for all; empty if they were not
    /// bound.
    pub client_processors: String,
    /// Processors that the server threads were bound to.
    pub server_processors: String,
    /// The transport of the messages.
    pub transport: String,
    /// Why no remote direct memory access was used.
    pub rdma: String,
    /// Number of connections rejected because they did not present the key of the phase.
    pub shut_out: u64,
}

impl EndOutcome {
    /// Adds the values of a thread.
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
