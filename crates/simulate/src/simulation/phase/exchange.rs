//! Requests and responses between the nodes.
//!
//! A thread of the client spends processor time on a request, and one of the server as much on the response. A
//! message goes through the adapter of its sender, the links between nodes and the adapter of its receiver as a
//! stream: its head reaches the next part before its tail has left the last one, so that its bytes take the time of
//! the narrowest part once. Within a node messages take processor time only.

use engine::EndOutcome;
use plan::{Operation, Rpc};

use super::Running;
use crate::simulation::request::{Request, Stage};
use crate::simulation::service::whole;
use crate::simulation::station::{READ, WRITE};
use crate::simulation::system::System;
use crate::simulation::threads::Threads;
use crate::simulation::time::{TICKS_PER_NS, Ticks, ns};

/// The ends of the exchanges of a phase.
pub(super) struct Exchanges<'a> {
    rpc: &'a Rpc,
    /// The node of each end.
    nodes: &'a [u32],
    threads: Threads,
    /// The threads of each task at its client and its server.
    of_task: Vec<[u32; 2]>,
    /// The threads of each end: how many are clients, how many servers; numbered end by end, clients first.
    of_end: Vec<[u32; 2]>,
    /// All connections are open.
    pub(super) opened: Ticks,
    /// Exchanges before this are not counted.
    pub(super) counted_from: Ticks,
    /// Processor time is counted.
    metered: bool,
    /// A time ends the phase, else a number of exchanges.
    by_time: bool,
}

impl<'a> Exchanges<'a> {
    /// Of connections that are all open at `opened`. With `shared` threads each carries several connections.
    pub(super) fn new(
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

    /// Whether an exchange is counted: of those that a time ends all that end after the warm-up, of a number of them
    /// those that begin after it.
    pub(super) fn counts(&self, began: Ticks, now: Ticks) -> bool {
        (if self.by_time { now } else { began }) >= self.counted_from
    }

    /// Whether an exchange that begins now is one of the number that is asked for.
    pub(super) fn is_of_the_number(&self, now: Ticks) -> bool {
        now >= self.counted_from
    }

    /// Bytes of a request and its response.
    pub(super) fn bytes(&self) -> u64 {
        self.rpc.request_bytes.0 + self.rpc.response_bytes.0
    }

    /// Processor time of all threads, from the end of the warm-up on.
    pub(super) fn processor_time(&self) -> Ticks {
        self.threads.used_by_all()
    }

    /// What each end did, with its node.
    pub(super) fn outcomes(&self) -> Vec<(u32, EndOutcome)> {
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

/// Roles of the threads of a task, as indices into [`Exchanges::of_task`].
const CLIENT: usize = 0;
const SERVER: usize = 1;

impl Running<'_> {
    /// A thread of the end that sends the next message spends processor time on it.
    pub(super) fn work(&mut self, now: Ticks, number: u32) -> Option<Ticks> {
        let (time, factor) = (self.system.request_time, self.input.factor);
        let request = self.requests.get(number);
        request.stage = Stage::Worked;
        let thread = self.exchanges.as_ref()?.of_task[request.task as usize][sender(request)];
        let exchanges = self.exchanges.as_mut()?;
        if !exchanges.metered && now >= exchanges.counted_from {
            exchanges.metered = true;
            exchanges.threads.restart_meter();
        }
        exchanges.threads.give(now, thread, number, whole(time as f64 * factor))
    }

    /// The thread is free for the next message, and this one is sent.
    pub(super) fn worked(&mut self, now: Ticks, number: u32) -> Option<Ticks> {
        let request = self.requests.get(number);
        request.ended = now;
        let exchanges = self.exchanges.as_mut()?;
        let thread = exchanges.of_task[request.task as usize][sender(request)];
        request.piece.bytes = match request.piece.direction {
            WRITE => exchanges.rpc.request_bytes.0,
            _ => exchanges.rpc.response_bytes.0,
        };
        let next = exchanges.threads.done(now, thread);
        self.following.extend(next);
        self.hop(now, number, 0)
    }

    /// The head of a message reaches part number `part` of its way: the adapter of its sender, each link outwards and
    /// inwards, the adapter of its receiver.
    pub(super) fn hop(&mut self, now: Ticks, number: u32, part: u8) -> Option<Ticks> {
        let request = *self.requests.get(number);
        let exchanges = self.exchanges.as_ref()?;
        let task = request.task;
        let ends = [exchanges.rpc.client_of(task), exchanges.rpc.server_of(task)];
        let sender = sender(&request);
        let node = |end: usize| exchanges.nodes[ends[end] as usize];
        let (from, to) = (node(sender), node(1 - sender));
        let (mut head, mut tail) = (now, request.ended);
        let bytes = request.piece.bytes;
        let factor = self.input.factor.max(1.0);
        let System { nodes, stations, between, .. } = &mut *self.system;
        let links = 2 * between.len();
        let all = nodes.len() as u64;
        let last = if from == to { 0 } else { links + 2 };
        for part in usize::from(part)..last {
            let adapter = self.input.limits.adapter.cost(bytes) * factor;
            let is_link = (1..=links).contains(&part);
            // Outwards behind the sender, inwards behind the receiver.
            let (direction, node) =
                if part == 0 || (is_link && part % 2 == 1) { (WRITE, from) } else { (READ, to) };
            let (limiter, cost, latency) = if is_link {
                let (first, count) = between[(part - 1) / 2];
                let member = u64::from(node) * u64::from(count) / all;
                let link = &mut stations[first + usize::try_from(member).unwrap_or(0)];
                let latency = if direction == READ { link.latency } else { 0 };
                let (limiter, cost) = link.lane(direction, bytes);
                (limiter, cost * factor, latency)
            } else {
                (&mut nodes[node as usize].adapter[direction], adapter, 0)
            };
            if cost > 0.0 {
                // Messages join a queue in the order in which their heads come.
                if head > now {
                    let request = self.requests.get(number);
                    request.ended = tail;
                    request.stage = Stage::Hop(u8::try_from(part).unwrap_or(u8::MAX));
                    return Some(head);
                }
                let end = limiter.pass(head, cost);
                head = head.max(end.saturating_sub(whole(cost)));
                tail = tail.max(end);
            }
            let latency = whole(latency as f64 * self.input.factor);
            (head, tail) = (head.saturating_add(latency), tail.saturating_add(latency));
        }
        let request = self.requests.get(number);
        request.ended = tail;
        request.stage = Stage::Arrived;
        Some(tail)
    }

    /// The tail of a message has arrived: the server answers a request, and a response ends the exchange.
    pub(super) fn arrived(&mut self, now: Ticks, number: u32) -> Option<Ticks> {
        let request = self.requests.get(number);
        if request.piece.direction == READ {
            return self.end(now, number);
        }
        request.piece.direction = READ;
        self.work(now, number)
    }

    /// The next exchange of a connection, whose request is sent first.
    pub(super) fn exchange(request: &mut Request) {
        request.operation = Operation::Exchange;
        request.piece.direction = WRITE;
    }
}

/// The role of the end that sends the next message: the client writes, and reads what the server sends.
fn sender(request: &Request) -> usize {
    if request.piece.direction == WRITE { CLIENT } else { SERVER }
}
