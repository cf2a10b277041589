//! The endpoints of exchanges: their nodes, their threads, and what is counted.

use engine::EndOutcome;
use plan::Rpc;

use crate::simulation::parts::threads::Threads;
use crate::simulation::system::System;
use crate::simulation::time::{TICKS_PER_NS, Ticks, ns};

/// Roles of the threads of a task, as indices into [`Exchanges::of_task`].
pub(crate) const CLIENT: usize = 0;
pub(crate) const SERVER: usize = 1;

/// The endpoints of the exchanges of a phase.
pub(crate) struct Exchanges<'a> {
    pub(crate) rpc: &'a Rpc,
    /// The node of each endpoint.
    pub(crate) nodes: &'a [u32],
    pub(crate) threads: Threads,
    /// The threads of each task: at its client and at its server.
    pub(crate) of_task: Vec<[u32; 2]>,
    /// The numbers of client threads and server threads of each endpoint. Threads are numbered endpoint
    /// by endpoint, clients first.
    of_end: Vec<[u32; 2]>,
    /// Time at which all connections are open.
    pub(crate) opened: Ticks,
    /// Exchanges before this time are not counted.
    pub(crate) counted_from: Ticks,
    /// Whether processor time is being counted.
    pub(crate) metered: bool,
    /// Whether a time ends the phase, and not a number of exchanges.
    by_time: bool,
}

impl<'a> Exchanges<'a> {
    /// Creates exchanges on connections that are all open at `opened`. With `shared` threads, each thread
    /// handles several connections.
    pub(crate) fn new(
        rpc: &'a Rpc,
        nodes: &'a [u32],
        system: &System,
        opened: Ticks,
        (shared, by_time): (bool, bool),
    ) -> Self {
        let mut threads = Threads::new(system.nodes.iter().map(|node| node.processors.count()));
        let tasks = rpc.tasks() as usize;
        let mut of_task = vec![[0; 2]; tasks];
        let mut answered: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
        (0..rpc.tasks()).for_each(|task| answered[rpc.server_of(task) as usize].push(task));
        let mut of_end = Vec::with_capacity(nodes.len());
        for ((end, node), answered) in (0..).zip(nodes).zip(&answered) {
            let mut deal = |role: usize, tasks: &mut dyn ExactSizeIterator<Item = u32>| {
                let most = if shared { rpc.threads as usize } else { usize::MAX };
                let own: Vec<u32> = (0..tasks.len().min(most)).map(|_| threads.add(*node)).collect();
                for (place, task) in tasks.enumerate() {
                    of_task[task as usize][role] = own[place % own.len()];
                }
                u32::try_from(own.len()).unwrap_or(u32::MAX)
            };
            let clients = deal(CLIENT, &mut rpc.tasks_of(end));
            of_end.push([clients, deal(SERVER, &mut answered.iter().copied())]);
        }
        let counted_from = opened.saturating_add(rpc.warm_up.0.saturating_mul(TICKS_PER_NS));
        Self { rpc, nodes, threads, of_task, of_end, opened, counted_from, metered: false, by_time }
    }

    /// Whether an exchange is counted. If a time ends the phase, all exchanges that end after the warm-up are
    /// counted; if a number does, those that begin after it.
    pub(crate) fn counts(&self, began: Ticks, now: Ticks) -> bool {
        (if self.by_time { now } else { began }) >= self.counted_from
    }

    /// Whether an exchange that begins now belongs to the requested number.
    pub(crate) fn is_of_the_number(&self, now: Ticks) -> bool {
        now >= self.counted_from
    }

    /// Number of bytes of a request and its response.
    pub(crate) fn bytes(&self) -> u64 {
        self.rpc.request_bytes.0 + self.rpc.response_bytes.0
    }

    /// Processor time of all threads since the end of the warm-up.
    pub(crate) fn processor_time(&self) -> Ticks {
        self.threads.used_by_all()
    }

    /// The outcome of each endpoint, with its node.
    pub(crate) fn outcomes(&self) -> Vec<(u32, EndOutcome)> {
        let mut first = 0;
        let mut time = |count: u32| {
            let own = first..first + count;
            first = own.end;
            ns(own.map(|thread| self.threads.used(thread)).sum())
        };
        let outcome = |(end, (node, [clients, servers])): (u32, (&u32, &[u32; 2]))| {
            let one = EndOutcome {
                end,
                client_threads: *clients,
                server_threads: *servers,
                client_cpu_ns: time(*clients),
                server_cpu_ns: time(*servers),
                transport: Rpc::TRANSPORT.to_owned(),
                rdma: "the network is a model".to_owned(),
                ..EndOutcome::default()
            };
            (*node, one)
        };
        (0..).zip(self.nodes.iter().zip(&self.of_end)).map(outcome).collect()
    }
}
