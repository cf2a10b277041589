//! Requests and responses between the processes of a run.
//!
//! An *end* is a process that acts as client, server or both. The ends are numbered node by node, so that the
//! first half of them is the first half of the nodes; [`Rpc::pairs`] defines which sends requests to which. A
//! task is one connection, seen from the client; the tasks of one client have consecutive numbers.
//!
//! ```
//! use plan::{Bytes, Pattern, Rpc};
//! let mut rpc = Rpc::new(Bytes::kib(1), Bytes::kib(1));
//! (rpc.ends, rpc.pattern, rpc.connections) = (4, Pattern::OneToOne, 2);
//! assert_eq!(rpc.pairs().collect::<Vec<_>>(), [(0, 2), (1, 3)]);
//! assert_eq!((rpc.tasks(), rpc.tasks_of(1), rpc.server_of(3)), (4, 2..4, 3));
//! ```

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::workload::limits::TASKS_MAX;
use crate::{Backend, Bytes, Nanos, PlanError};

/// Limit on the size of one message; in-flight data is only held in kernel memory.
const MESSAGE_MAX: Bytes = Bytes(1 << 30);
/// Limit on threads per process; more are taken for a typing error.
const THREADS_MAX: u32 = 4096;
/// Limit on ends: with more, the exchange of their addresses takes too long.
const ENDS_MAX: u32 = 65_536;
/// Limit on processor numbers (`CPU_SETSIZE` of glibc).
const PROCESSORS_MAX: u32 = 1024;

/// Which ends send requests to which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Each end of the first half sends requests to one end of the second half.
    OneToOne,
    /// All ends send requests to the first.
    ManyToOne,
    /// Every end sends requests to every other.
    AllToAll,
}

impl Pattern {
    /// All patterns.
    pub const ALL: [Self; 3] = [Self::OneToOne, Self::ManyToOne, Self::AllToAll];

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

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The processors that threads are bound to. Written as `none`, `0-3,6`, `numa:1` or `adapter`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Binding {
    /// None: the kernel schedules them freely.
    #[default]
    None,
    /// Each thread to one of these processors, in turn.
    Processors(Vec<u32>),
    /// All threads to the processors of a NUMA node.
    NumaNode(u32),
    /// All threads to the processors of the NUMA node that the network adapter is attached to.
    Adapter,
}

impl FromStr for Binding {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Self, PlanError> {
        let wrong = |problem: String| {
            PlanError::new(
                "bind",
                problem,
                "write none, processors as 0-3,6, a NUMA node as numa:0, or adapter",
            )
        };
        match text.trim() {
            "none" => return Ok(Self::None),
            "adapter" => return Ok(Self::Adapter),
            _ => {}
        }
        if let Some(node) = text.trim().strip_prefix("numa:") {
            let number = node.parse().map(Self::NumaNode);
            return number.map_err(|_| wrong(format!("`{node}` is not a NUMA node")));
        }
        let mut processors = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.trim().split_once('-').unwrap_or((part.trim(), part.trim()));
            let number = |word: &str| {
                let number = word.trim().parse::<u32>().ok().filter(|&number| number < PROCESSORS_MAX);
                number.ok_or_else(|| wrong(format!("`{word}` is not a processor")))
            };
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return Err(wrong(format!("the range {first}-{last} contains no processors")));
            }
            processors.extend(first..=last);
        }
        Ok(Self::Processors(processors))
    }
}

impl fmt::Display for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Adapter => f.write_str("adapter"),
            Self::NumaNode(node) => write!(f, "numa:{node}"),
            Self::Processors(processors) => {
                let mut rest = processors.as_slice();
                let mut between = "";
                while let Some(&first) = rest.first() {
                    let run = rest.iter().zip(first..).take_while(|(have, next)| *have == next).count();
                    write!(f, "{between}{first}")?;
                    if let Some(&last) = rest[..run].last().filter(|&&last| last > first) {
                        write!(f, "-{last}")?;
                    }
                    (rest, between) = (&rest[run..], ",");
                }
                Ok(())
            }
        }
    }
}

impl TryFrom<String> for Binding {
    type Error = PlanError;

    fn try_from(text: String) -> Result<Self, PlanError> {
        text.parse()
    }
}

impl From<Binding> for String {
    fn from(binding: Binding) -> Self {
        binding.to_string()
    }
}

/// Requests and responses over TCP connections that stay open for a phase. [`crate::Backend::depth`] is the
/// number of requests in flight per connection.
///
/// The tests of nsdperf are expressed as sizes: `write` is a large request with a small response, `read` a
/// small request with a large response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rpc {
    /// Bytes of a request; at least 1.
    pub request_bytes: Bytes,
    /// Bytes of a response; at least 1.
    pub response_bytes: Bytes,
    /// Which ends send requests to which.
    pub pattern: Pattern,
    /// Number of client and server processes, distributed evenly over the nodes. With 1, a process sends
    /// requests to itself over loopback.
    pub ends: u32,
    /// Number of connections of each client-server pair.
    pub connections: u32,
    /// Number of client threads of each process, which is also the number of server threads.
    pub threads: u32,
    /// The network interface to whose address sockets are bound; if not given, the one that leads to the
    /// peer.
    pub interface: Option<String>,
    /// The port of the first server process on a host; the second one uses the next port, and so on. If not
    /// given, the kernel chooses ports.
    pub port: Option<u16>,
    /// CPU binding of client threads.
    pub client_binding: Binding,
    /// CPU binding of server threads.
    pub server_binding: Binding,
    /// Exchanges within this time after the common start are not counted.
    pub warm_up: Nanos,
    /// A connection that should make progress but does not for this long is an error.
    pub deadline: Nanos,
}

impl Rpc {
    /// The name of the transport.
    pub const TRANSPORT: &'static str = "TCP";

    /// One connection of a process with itself, on one thread without CPU binding.
    #[must_use]
    pub const fn new(request_bytes: Bytes, response_bytes: Bytes) -> Self {
        Self {
            request_bytes,
            response_bytes,
            pattern: Pattern::OneToOne,
            ends: 1,
            connections: 1,
            threads: 1,
            interface: None,
            port: None,
            client_binding: Binding::None,
            server_binding: Binding::None,
            warm_up: Nanos(0),
            deadline: Nanos::secs(30),
        }
    }

    /// Pairs of each client with each of its servers, in the order of the tasks.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let (ends, pattern) = (self.ends, self.pattern);
        let half = ends / 2;
        (0..ends).flat_map(move |client| {
            let servers = match pattern {
                _ if ends == 1 => 0..1,
                Pattern::OneToOne if client < half => client + half..client + half + 1,
                Pattern::ManyToOne if client > 0 => 0..1,
                Pattern::OneToOne | Pattern::ManyToOne => 0..0,
                Pattern::AllToAll => 0..ends,
            };
            servers.filter(move |&server| ends == 1 || server != client).map(move |server| (client, server))
        })
    }

    /// Number of servers of the end `client`.
    fn servers_of(&self, client: u32) -> u32 {
        match self.pattern {
            _ if self.ends == 1 => 1,
            Pattern::OneToOne => u32::from(client < self.ends / 2),
            Pattern::ManyToOne => u32::from(client > 0),
            Pattern::AllToAll => self.ends - 1,
        }
    }

    /// Number of pairs whose client is below `end`.
    fn pairs_before(&self, end: u32) -> u64 {
        let end = u64::from(end.min(self.ends));
        match self.pattern {
            _ if self.ends == 1 => end,
            Pattern::OneToOne => end.min(u64::from(self.ends / 2)),
            Pattern::ManyToOne => end.saturating_sub(1),
            Pattern::AllToAll => end * u64::from(self.ends - 1),
        }
    }

    /// Number of all tasks: the connections of all pairs.
    #[must_use]
    pub fn tasks(&self) -> u32 {
        let all = self.pairs_before(self.ends).saturating_mul(u64::from(self.connections));
        u32::try_from(all).unwrap_or(u32::MAX)
    }

    /// The tasks whose requests the end `client` sends; empty if it is only a server.
    #[must_use]
    pub fn tasks_of(&self, client: u32) -> Range<u32> {
        let first =
            |end| u32::try_from(self.pairs_before(end) * u64::from(self.connections)).unwrap_or(u32::MAX);
        first(client)..first(client + 1)
    }

    /// The end that sends the requests of `task`.
    #[must_use]
    pub fn client_of(&self, task: u32) -> u32 {
        let pair = task / self.connections.max(1);
        match self.pattern {
            _ if self.ends == 1 => 0,
            Pattern::OneToOne => pair,
            Pattern::ManyToOne => pair + 1,
            Pattern::AllToAll => pair / (self.ends - 1),
        }
    }

    /// The end that responds to the requests of `task`.
    #[must_use]
    pub fn server_of(&self, task: u32) -> u32 {
        let pair = task / self.connections.max(1);
        match self.pattern {
            _ if self.ends == 1 => 0,
            Pattern::OneToOne => pair + self.ends / 2,
            Pattern::ManyToOne => 0,
            Pattern::AllToAll => {
                let (client, place) = (pair / (self.ends - 1), pair % (self.ends - 1));
                place + u32::from(place >= client)
            }
        }
    }

    /// Whether the end is a client.
    #[must_use]
    pub fn asks(&self, end: u32) -> bool {
        self.servers_of(end) > 0
    }

    /// Whether the end is a server.
    #[must_use]
    pub const fn answers(&self, end: u32) -> bool {
        match self.pattern {
            _ if self.ends == 1 => true,
            Pattern::OneToOne => end >= self.ends / 2,
            Pattern::ManyToOne => end == 0,
            Pattern::AllToAll => true,
        }
    }

    /// Checks every value against the others, and against the workload's `tasks` and `nodes`.
    pub(crate) fn check(&self, tasks: u32, nodes: u32, backend: Backend) -> Result<(), PlanError> {
        if !backend.capabilities().sockets {
            return Err(PlanError::new(
                "backend",
                format!("the backend {} cannot send messages", backend.name()),
                "use uring, or psync for plain calls",
            ));
        }
        for (field, bytes) in [("request_bytes", self.request_bytes), ("response_bytes", self.response_bytes)]
        {
            if bytes.0 == 0 || bytes > MESSAGE_MAX {
                return Err(PlanError::new(
                    field,
                    format!("messages of {} bytes cannot be exchanged", bytes.0),
                    format!("give a size from 1 byte to {MESSAGE_MAX}"),
                ));
            }
        }
        let count = |field: &'static str, count: u32, most: u32| {
            let right = (1..=most).contains(&count);
            let problem = format!("{count} {field} are not possible");
            right
                .then_some(())
                .ok_or_else(|| PlanError::new(field, problem, format!("give a number from 1 to {most}")))
        };
        count("connections", self.connections, TASKS_MAX)?;
        count("threads", self.threads, THREADS_MAX)?;
        count("ends", self.ends, ENDS_MAX)?;
        if self.pattern == Pattern::OneToOne && self.ends > 1 && !self.ends.is_multiple_of(2) {
            return Err(PlanError::new(
                "ends",
                format!("with {} processes, one has no partner", self.ends),
                "start an even number of them, or use the pattern many-to-one or all-to-all",
            ));
        }
        if nodes == 0 || nodes > self.ends {
            return Err(PlanError::new(
                "nodes",
                format!("{} processes cannot run on {nodes} nodes", self.ends),
                format!("give a number of nodes from 1 to {}, or start more processes", self.ends),
            ));
        }
        if tasks != self.tasks() || tasks > TASKS_MAX {
            return Err(PlanError::new(
                "connections",
                format!(
                    "{tasks} tasks do not match the {} connections of {} processes, {}, {} for each pair",
                    self.tasks(),
                    self.ends,
                    self.pattern,
                    self.connections
                ),
                format!("there is a task for each connection, and at most {TASKS_MAX} of them"),
            ));
        }
        if self.deadline.0 == 0 {
            return Err(PlanError::new(
                "deadline",
                "no peer answers within 0 s",
                "give a time above 0, for example 30s",
            ));
        }
        if self.interface.as_ref().is_some_and(|name| name.is_empty() || name.contains('/')) {
            return Err(PlanError::new(
                "interface",
                "that is not the name of a network interface",
                "`ip link` lists them",
            ));
        }
        Ok(())
    }

    /// The conditions of a figure on `nodes` nodes, as in
    /// `1 KiB request, 1 KiB response, 4 connections, 4 threads, depth 1, TCP, one-to-one`.
    pub(crate) fn conditions(&self, nodes: u32, depth: u32) -> String {
        let count = |count: u32, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
        let ends = match self.ends {
            1 => " within one process".to_owned(),
            ends if nodes == 1 => format!(" of {ends} processes"),
            ends if ends == nodes => format!(" of {ends} nodes"),
            ends => format!(" of {ends} processes on {nodes} nodes"),
        };
        let interface = self.interface.as_ref().map_or_else(String::new, |name| format!(" over {name}"));
        let bound = |who: &str, binding: &Binding| match binding {
            Binding::None => String::new(),
            binding => format!(", {who} on {binding}"),
        };
        let bound = match self.client_binding == self.server_binding {
            true => bound("threads", &self.client_binding),
            false => bound("clients", &self.client_binding) + &bound("servers", &self.server_binding),
        };
        format!(
            "{} request, {} response, {}, {}, depth {}, {}{interface}, {}{ends}{bound}",
            self.request_bytes,
            self.response_bytes,
            count(self.connections, "connection"),
            count(self.threads, "thread"),
            depth,
            Self::TRANSPORT,
            self.pattern,
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
    use proptest::sample::select;

    use super::{Binding, Pattern, Rpc};
    use crate::{Backend, Bytes, Geometry, Work, WorkloadSpec, assign};

    fn spec(rpc: Rpc, nodes: u32) -> WorkloadSpec {
        let geometry = Geometry { transfer: Bytes(1), block: Bytes(1), segments: 1 };
        let mut spec = WorkloadSpec::new("w", "unused", geometry);
        spec.files.targets.clear();
        (spec.tasks, spec.nodes, spec.work) = (rpc.tasks(), nodes, Work::Rpc(rpc));
        spec
    }

    proptest! {
        #[test]
        fn tasks_of_pairs_are_counted_as_they_are_listed(
            ends in 1_u32..12, connections in 1_u32..5, pattern in select(Pattern::ALL.as_slice()),
        ) {
            let ends = if pattern == Pattern::OneToOne && ends > 1 { ends / 2 * 2 } else { ends };
            let rpc = Rpc { ends, connections, pattern, ..Rpc::new(Bytes(1), Bytes(1)) };
            let listed: Vec<(u32, u32)> =
                rpc.pairs().flat_map(|pair| std::iter::repeat_n(pair, connections as usize)).collect();
            prop_assert_eq!(listed.len(), rpc.tasks() as usize);
            for (task, (client, server)) in (0_u32..).zip(&listed) {
                prop_assert_eq!((rpc.client_of(task), rpc.server_of(task)), (*client, *server));
                prop_assert!(rpc.tasks_of(*client).contains(&task));
                prop_assert!(rpc.asks(*client) && rpc.answers(*server));
            }
            for end in 0..ends {
                let asks = listed.iter().filter(|pair| pair.0 == end).count();
                prop_assert_eq!(rpc.tasks_of(end).len(), asks);
                prop_assert_eq!(rpc.asks(end), asks > 0);
                prop_assert_eq!(rpc.answers(end), listed.iter().any(|pair| pair.1 == end));
            }
        }

        #[test]
        fn every_end_is_a_process_on_the_first_nodes(
            per_node in 1_u32..4, nodes in 1_u32..5, spare in 0_u32..3, in_turn: bool,
        ) {
            let ends = per_node * nodes;
            let rpc = Rpc { ends, pattern: Pattern::AllToAll, ..Rpc::new(Bytes(1), Bytes(1)) };
            let workload = spec(rpc.clone(), nodes).validate().expect("valid");
            let (all_nodes, each) = (nodes + spare, per_node + spare);
            let node_of: Vec<u32> = (0..all_nodes * each)
                .map(|rank| if in_turn { rank % all_nodes } else { rank / each })
                .collect();
            let assigned = assign(&workload, &node_of).expect("there are enough");
            prop_assert_eq!(assigned.len(), ends as usize);
            for (end, one) in (0_u32..).zip(&assigned) {
                prop_assert_eq!(node_of[one.rank as usize], end / per_node);
                prop_assert_eq!(&one.tasks, &rpc.tasks_of(end));
            }
            let too_few = assign(&workload, &node_of[..ends as usize - 1]);
            prop_assert!(too_few.is_err());
        }
    }

    #[test]
    fn who_only_answers_is_an_end_without_tasks() {
        let many = Rpc { ends: 3, pattern: Pattern::ManyToOne, ..Rpc::new(Bytes(1), Bytes(1)) };
        let assigned = assign(&spec(many, 3).validate().expect("valid"), &[0, 1, 2]).expect("enough");
        let shown: Vec<_> = assigned.into_iter().map(|one| (one.rank, one.tasks)).collect();
        assert_eq!(shown, [(0, 0..0), (1, 0..1), (2, 1..2)]);
    }

    #[test]
    fn conditions_say_what_a_figure_is_of() {
        let rpc = Rpc { connections: 4, threads: 4, ..Rpc::new(Bytes::kib(1), Bytes::kib(1)) };
        let conditions = |rpc: Rpc, nodes| {
            let mut spec = spec(rpc, nodes);
            spec.backend = Backend::Uring { depth: 1, required: false };
            spec.validate().expect("valid").conditions(crate::Phase::Exchange)
        };
        assert_eq!(
            conditions(rpc.clone(), 1),
            "1 KiB request, 1 KiB response, 4 connections, 4 threads, depth 1, TCP, one-to-one within one process"
        );
        let bound = "0-1".parse().expect("processors");
        let bound = Rpc { ends: 2, interface: Some("eth1".into()), client_binding: bound, ..rpc };
        assert_eq!(
            conditions(bound, 2),
            "1 KiB request, 1 KiB response, 4 connections, 4 threads, depth 1, TCP over eth1, one-to-one of 2 nodes, \
             clients on 0-1"
        );
    }

    #[test]
    fn values_that_cannot_be_exchanged_name_their_field() {
        let field = |change: fn(&mut Rpc)| {
            let mut rpc = Rpc { ends: 2, ..Rpc::new(Bytes(1), Bytes(1)) };
            change(&mut rpc);
            let spec = spec(rpc, 1);
            spec.validate().map(|_| ()).expect_err("not valid").field
        };
        assert_eq!(field(|rpc| rpc.request_bytes = Bytes(0)), "request_bytes");
        assert_eq!(field(|rpc| rpc.response_bytes = Bytes::gib(2)), "response_bytes");
        assert_eq!(field(|rpc| rpc.connections = 0), "connections");
        assert_eq!(field(|rpc| rpc.connections = u32::MAX), "connections");
        assert_eq!(field(|rpc| rpc.threads = 0), "threads");
        assert_eq!(field(|rpc| rpc.ends = 0), "ends");
        assert_eq!(field(|rpc| rpc.ends = 3), "ends");
        assert_eq!(field(|rpc| rpc.deadline = crate::Nanos(0)), "deadline");
        assert_eq!(field(|rpc| rpc.interface = Some("a/b".into())), "interface");
        let nodes = spec(Rpc::new(Bytes(1), Bytes(1)), 2).validate().expect_err("one process on two nodes");
        assert_eq!(nodes.field, "nodes");
    }

    #[test]
    fn a_binding_is_read_as_it_is_written() {
        for text in ["none", "adapter", "numa:1", "0", "0-3,6", "5,4,0-1"] {
            let binding: Binding = text.parse().expect(text);
            assert_eq!(binding.to_string(), text);
        }
        assert_eq!("0-2".parse(), Ok(Binding::Processors(vec![0, 1, 2])));
        for text in ["", "x", "3-1", "numa:", "1024", "0,,1"] {
            let error = text.parse::<Binding>().expect_err(text);
            assert!(error.help.contains("adapter"), "{error}");
        }
    }
}
