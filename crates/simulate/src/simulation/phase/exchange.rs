//! Requests and responses between nodes.
//!
//! A thread of the client spends processor time on a request, and a thread of the server spends the same time on
//! the response. A message passes through the adapter of its sender, the links between nodes and the adapter of its
//! receiver as a stream: its head reaches the next part before its tail has left the previous one, so its bytes
//! take the time of the slowest part only once. Messages within a node only use processor time.

use plan::Operation;

use super::{Running, narrow};
use crate::simulation::exchanges::{CLIENT, SERVER};
use crate::simulation::parts::service::whole;
use crate::simulation::parts::station::{READ, WRITE};
use crate::simulation::request::{Request, Stage};
use crate::simulation::system::System;
use crate::simulation::time::Ticks;

impl Running<'_> {
    /// A thread of the endpoint that sends the next message begins to spend processor time on it.
    pub(super) fn work(&mut self, now: Ticks, number: u32) -> Option<Ticks> {
        let request = self.requests.get(number);
        request.stage = Stage::Worked;
        let phase = &mut self.phases[request.phase as usize];
        let (time, task) = (phase.request_time, request.task as usize - phase.first_task);
        let exchanges = phase.exchanges.as_mut()?;
        let thread = exchanges.of_task[task][sender(request)];
        if !exchanges.metered && now >= exchanges.counted_from {
            exchanges.metered = true;
            exchanges.threads.restart_meter();
        }
        exchanges.threads.give(now, thread, number, time)
    }

    /// The message is sent, and the thread is free for the next one.
    pub(super) fn worked(&mut self, now: Ticks, number: u32) -> Option<Ticks> {
        let request = self.requests.get(number);
        request.ended = now;
        let phase = &mut self.phases[request.phase as usize];
        let task = request.task as usize - phase.first_task;
        let exchanges = phase.exchanges.as_mut()?;
        let thread = exchanges.of_task[task][sender(request)];
        request.piece.bytes = match request.piece.direction() {
            WRITE => exchanges.rpc.request_bytes.0,
            _ => exchanges.rpc.response_bytes.0,
        };
        let next = exchanges.threads.done(now, thread);
        self.following.extend(next);
        self.hop(now, number, 0)
    }

    /// The head of a message reaches part number `part` of its path: the adapter of its sender, all links outwards,
    /// then all links inwards in the opposite order, and the adapter of its receiver.
    pub(super) fn hop(&mut self, now: Ticks, number: u32, part: u8) -> Option<Ticks> {
        let request = *self.requests.get(number);
        let phase = &self.phases[request.phase as usize];
        let exchanges = phase.exchanges.as_ref()?;
        let task = request.task - narrow(phase.first_task);
        let ends = [exchanges.rpc.client_of(task), exchanges.rpc.server_of(task)];
        let sender = sender(&request);
        let node = |end: usize| exchanges.nodes[ends[end] as usize];
        let (from, to) = (node(sender), node(1 - sender));
        let (mut head, mut tail) = (now, request.ended);
        let bytes = request.piece.bytes;
        let (times, factor) = (phase.input.factor, phase.input.factor.max(1.0));
        let System { nodes, stations, between, nodes_of_model, .. } = &mut *self.system;
        // Nodes are behind the same links whatever other cases the plan has.
        let all = u64::from(*nodes_of_model);
        let links = between.len();
        let last = if from == to { 0 } else { 2 * links + 2 };
        for part in usize::from(part)..last {
            let adapter = self.limits.adapter.cost(bytes) * factor;
            let (link, direction) = place_of(part, links);
            // On the way outwards the links are those of the sender, on the way inwards those of the
            // receiver.
            let node = if direction == WRITE { from } else { to };
            let (limiter, cost, latency) = match link {
                Some(link) => {
                    let (first, count) = between[link];
                    let member = u64::from(node) * u64::from(count) / all;
                    let link = &mut stations[first + usize::try_from(member).unwrap_or(0)];
                    // Both members are one link of the path, so its latency counts only once.
                    let latency = if direction == READ { link.latency } else { 0 };
                    let (limiter, cost) = link.lane(direction, bytes);
                    (limiter, cost * factor, latency)
                }
                None => (&mut nodes[node as usize].adapter[direction], adapter, 0),
            };
            if cost > 0.0 {
                // Messages join a queue in the order in which their heads arrive.
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
            let latency = whole(latency as f64 * times);
            (head, tail) = (head.saturating_add(latency), tail.saturating_add(latency));
        }
        let request = self.requests.get(number);
        request.ended = tail;
        request.stage = Stage::Arrived;
        Some(tail)
    }

    /// The tail of a message has arrived. The server then answers a request; a response ends the
    /// exchange.
    pub(super) fn arrived(&mut self, now: Ticks, number: u32) -> Option<Ticks> {
        let request = self.requests.get(number);
        if request.piece.direction() == READ {
            return self.end(now, number);
        }
        request.piece.set_direction(READ);
        self.work(now, number)
    }

    /// Begins the next exchange of a connection, whose request is sent first.
    pub(super) fn exchange(request: &mut Request) {
        request.operation = Operation::Exchange;
        request.piece.set_direction(WRITE);
    }
}

/// Part number `part` of the path of a message through `links` links: either a link or the adapter of a node,
/// and whether it is passed outwards or inwards. The outermost link of one node is also that of the other.
fn place_of(part: usize, links: usize) -> (Option<usize>, usize) {
    match part {
        0 => (None, WRITE),
        _ if part <= links => (Some(part - 1), WRITE),
        _ if part <= 2 * links => (Some(2 * links - part), READ),
        _ => (None, READ),
    }
}

/// The role of the endpoint that sends the next message. The client writes, and reads what the server
/// sends.
fn sender(request: &Request) -> usize {
    if request.piece.direction() == WRITE { CLIENT } else { SERVER }
}

#[cfg(test)]
mod tests {
    use super::{READ, WRITE, place_of};

    #[test]
    fn a_message_goes_out_to_the_last_link_and_in_from_it() {
        let way = |links: usize| (0..2 * links + 2).map(|part| place_of(part, links)).collect::<Vec<_>>();
        assert_eq!(way(0), [(None, WRITE), (None, READ)]);
        // Rack and core of the sender, core and rack of the receiver.
        let links = [(Some(0), WRITE), (Some(1), WRITE), (Some(1), READ), (Some(0), READ)];
        assert_eq!(way(2)[1..5], links);
        assert_eq!((way(2)[0], way(2)[5]), ((None, WRITE), (None, READ)));
    }
}
