//! What is known of one end of exchanges beside its tasks.

use serde::{Deserialize, Serialize};

use crate::sys::CpuTime;

/// One process that asked, answered, or did both.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EndOutcome {
    /// Its number among the ends.
    pub end: u32,
    /// The network interface that it used; empty where no one interface has its address.
    pub interface: String,
    /// Its address there.
    pub address: String,
    /// The NUMA node of the adapter, where it tells one.
    pub adapter_node: Option<u32>,
    /// Threads that asked.
    pub client_threads: u32,
    /// Threads that answered.
    pub server_threads: u32,
    /// CPU time of the threads that asked, from the common start of the exchanges to their end.
    pub client_cpu_ns: u64,
    /// The same of those that answered.
    pub server_cpu_ns: u64,
    /// The processors that asking threads were bound to, by thread or all of them; empty where to none.
    pub client_processors: String,
    /// The same of those that answered.
    pub server_processors: String,
    /// How messages went over the network.
    pub transport: String,
    /// Why no remote direct memory access was used.
    pub rdma: String,
    /// Connections without the key of the phase, which were shut out.
    pub shut_out: u64,
}

impl EndOutcome {
    /// Counts a thread.
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
