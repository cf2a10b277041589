//! Collective operations over point-to-point messages, in a number of steps that is logarithmic in the number
//! of ranks.
//!
//! Ranks form a tree in which the descendants of a rank directly follow it in number, so parts can be
//! merged in rank order. The ranks of a node form a subtree, and their first ranks form a tree over the
//! nodes, so that only few messages leave a node.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::links::{Call, Links, Message, Operation};
use crate::stream::{Parts, pieces};
use crate::{Clock, Comm, CommError, Merge, OnSignal, Topology};

/// The number of the group of all ranks.
const WORLD: u64 = 0;

/// Number of pieces that a rank may send before its parent has taken the first one: enough to keep the
/// connection busy, but few enough for a parent with twenty children.
const PIECES_AHEAD: usize = 4;

/// Number of comparisons of two clocks, of which the one with the shortest round trip is used. With more
/// than ten it is likely that one was not delayed.
const COMPARISONS: usize = 20;

/// A rank's position in the tree over `0..nodes.len()`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TreePosition {
    pub(crate) above: Option<usize>,
    /// The children, in ascending order.
    pub(crate) below: Vec<usize>,
}

impl TreePosition {
    /// The position of `index` among ranks on these nodes.
    pub(crate) fn of(index: usize, nodes: &[u32]) -> Self {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            match runs.last_mut() {
                Some(run) if nodes[run.start] == *node => run.end = at + 1,
                _ => runs.push(at..at + 1),
            }
        }
        let number = runs.partition_point(|run| run.end <= index);
        let run = runs[number].clone();
        let inside = index - run.start;
        let mut below: Vec<usize> =
            Self::children(inside, run.len()).map(|child| run.start + child).collect();
        if inside > 0 {
            return Self { above: Some(run.start + Self::parent(inside)), below };
        }
        below.extend(Self::children(number, runs.len()).map(|child| runs[child].start));
        Self { above: (number > 0).then(|| runs[Self::parent(number)].start), below }
    }

    /// The parent in a binomial tree: the number without its lowest set bit.
    fn parent(of: usize) -> usize {
        of & (of - 1)
    }

    /// The children in a binomial tree: the number with one of the bits below its lowest set bit added.
    fn children(of: usize, size: usize) -> impl Iterator<Item = usize> {
        let bits = if of == 0 { usize::BITS } else { of.trailing_zeros() };
        (0..bits).map(move |bit| of + (1 << bit)).take_while(move |&child| child < size)
    }
}

/// A rank of a world or of a group.
pub(crate) struct Ranks<L> {
    shared: Arc<Shared<L>>,
    strand: Arc<Strand>,
    /// The members of the group, by their number in it, as ranks of the world.
    members: Arc<[u32]>,
    group: u64,
    /// This rank's number in the group.
    index: usize,
    above: Option<u32>,
    below: Vec<u32>,
    topology: Topology,
}

/// State of a rank shared by all of its groups and strands.
struct Shared<L> {
    links: L,
    strands: Mutex<BTreeMap<u8, Arc<Strand>>>,
    clock: Mutex<Clock>,
}

/// State of a rank on one strand, shared by all of its groups.
struct Strand {
    number: u8,
    /// Number of calls made so far, by group. Threads that share a strand of a rank take turns, since a rank
    /// is in one call of a strand at a time.
    turn: Mutex<HashMap<u64, u64>>,
}

impl<L> Shared<L> {
    /// The strand with this number, which begins when it is first asked for.
    fn strand(&self, number: u8) -> Arc<Strand> {
        let mut strands = self.strands.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = || Arc::new(Strand { number, turn: Mutex::default() });
        Arc::clone(strands.entry(number).or_insert_with(begun))
    }
}

/// The current call of this rank on a strand.
struct CollectiveCall<'a> {
    call: Call,
    _turn: MutexGuard<'a, HashMap<u64, u64>>,
}

impl<L: Links> Ranks<L> {
    /// The rank of `links` in a world of these nodes.
    pub(crate) fn world(links: L, topology: Topology) -> Self {
        let shared = Shared { links, strands: Mutex::default(), clock: Mutex::default() };
        let strand = shared.strand(0);
        let size = u32::try_from(topology.node_of().len()).expect("ranks are numbered by a u32");
        Self::group_of(Arc::new(shared), strand, (0..size).collect(), WORLD, topology)
    }

    /// The same world with an updated topology.
    pub(crate) fn on(&self, topology: Topology) -> Self {
        let (shared, strand) = (Arc::clone(&self.shared), Arc::clone(&self.strand));
        Self::group_of(shared, strand, Arc::clone(&self.members), WORLD, topology)
    }

    pub(crate) fn links(&self) -> &L {
        &self.shared.links
    }

    /// The parent and children of this rank.
    pub(crate) fn neighbours(&self) -> impl Iterator<Item = u32> {
        self.above.into_iter().chain(self.below.iter().copied())
    }

    fn group_of(
        shared: Arc<Shared<L>>,
        strand: Arc<Strand>,
        members: Arc<[u32]>,
        group: u64,
        topology: Topology,
    ) -> Self {
        let own = shared.links.rank();
        let index = members.iter().position(|&member| member == own).expect("only members make a group");
        let place = TreePosition::of(index, topology.node_of());
        let above = place.above.map(|above| members[above]);
        let below = place.below.iter().map(|&below| members[below]).collect();
        Self { shared, strand, members, group, index, above, below, topology }
    }

    /// The group of `members`, which are ranks of the world and include this rank.
    fn part(&self, members: Vec<u32>, names: &[String], node_of: impl Fn(u32) -> usize) -> Self {
        let topology = Topology::of(members.iter().map(|&member| names[node_of(member)].clone()));
        let group = number_of(self.group, &members);
        let (shared, strand) = (Arc::clone(&self.shared), Arc::clone(&self.strand));
        Self::group_of(shared, strand, members.into(), group, topology)
    }

    fn enter(&self, operation: Operation) -> Result<CollectiveCall<'_>, CommError> {
        let mut turn = self.strand.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let count = turn.entry(self.group).or_default();
        let call = Call { strand: self.strand.number, group: self.group, sequence: *count, operation };
        *count += 1;
        match self.links().failure(call) {
            Some(failure) => Err(failure),
            None => Ok(CollectiveCall { call, _turn: turn }),
        }
    }

    fn receive(&self, from: u32, turn: &CollectiveCall<'_>) -> Result<Message, CommError> {
        self.links().receive(from, turn.call)
    }

    fn send(&self, to: u32, turn: &CollectiveCall<'_>, bytes: Vec<u8>) {
        self.links().send(to, turn.call, bytes);
    }

    /// Ends the world because the rank with this number in the group has sent something invalid.
    fn lose(&self, turn: &CollectiveCall<'_>, rank: u32, what: &str) -> CommError {
        let place = self.topology.node_of().get(rank as usize);
        let node = place.map_or("unknown", |&node| self.topology.names()[node as usize].as_str()).to_owned();
        let rank = self.members.get(rank as usize).copied().unwrap_or(rank);
        self.links().fail(turn.call, CommError::Lost { rank, node, what: what.to_owned() })
    }

    /// Merges the bytes of all ranks in order. The result is on the first rank.
    fn up(
        &self,
        turn: &CollectiveCall<'_>,
        own: Vec<u8>,
        join: Merge<'_>,
    ) -> Result<Option<Vec<u8>>, CommError> {
        let mut whole = own;
        for &below in &self.below {
            whole = join(whole, self.receive(below, turn)?.bytes);
        }
        Ok(match self.above {
            None => Some(whole),
            Some(above) => {
                self.send(above, turn, whole);
                None
            }
        })
    }

    /// Sends the first rank's bytes to all.
    fn down(&self, turn: &CollectiveCall<'_>, bytes: Option<Vec<u8>>) -> Result<Vec<u8>, CommError> {
        let bytes = match self.above {
            None => bytes.unwrap_or_default(),
            Some(above) => self.receive(above, turn)?.bytes,
        };
        // The child with the largest subtree first.
        for &below in self.below.iter().rev() {
            self.send(below, turn, bytes.clone());
        }
        Ok(bytes)
    }

    /// The largest number of all ranks, on every rank.
    fn maximum(&self, turn: &CollectiveCall<'_>, own: i128) -> Result<i128, CommError> {
        let mut larger =
            |first: Vec<u8>, second: Vec<u8>| number(&first).max(number(&second)).to_le_bytes().to_vec();
        let whole = self.up(turn, own.to_le_bytes().to_vec(), &mut larger)?;
        self.down(turn, whole).map(|bytes| number(&bytes))
    }

    /// Waits until all ranks are about to end.
    pub(crate) fn end(&self) -> Result<(), CommError> {
        let turn = self.enter(Operation::End)?;
        self.maximum(&turn, 0).map(|_| ())
    }

    /// This rank's clock offset from rank 0.
    fn clock(&self) -> Clock {
        *self.shared.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The current time according to the clock of rank 0.
    fn common_ns(&self) -> i64 {
        self.links().now_ns().saturating_add(self.clock().offset_ns)
    }

    /// Takes part in the parent's comparison of clocks, and receives the result.
    fn be_compared(&self, above: u32, turn: &CollectiveCall<'_>) -> Result<Clock, CommError> {
        for _ in 0..COMPARISONS {
            let came = self.receive(above, turn)?.at_ns;
            let mut answer = came.to_le_bytes().to_vec();
            answer.extend(self.links().now_ns().to_le_bytes());
            self.send(above, turn, answer);
        }
        Ok(decode_clock(&self.receive(above, turn)?.bytes))
    }

    /// Compares the clock of the rank `below` with that of this rank, and sends it its offset from rank 0.
    /// The offset is computed from four readings as in RFC 5905, section 8.
    fn compare(&self, below: u32, turn: &CollectiveCall<'_>) -> Result<(), CommError> {
        let mut best: Option<Clock> = None;
        for _ in 0..COMPARISONS {
            let sent = self.links().now_ns();
            self.send(below, turn, Vec::new());
            let answer = self.receive(below, turn)?;
            let (there, back) = (integer(&answer.bytes, 0), integer(&answer.bytes, 8));
            let way = answer.at_ns.saturating_sub(sent).saturating_sub(back.saturating_sub(there)).max(0);
            // How far this rank's clock is ahead of the other one.
            let ahead = i128::from(sent) - i128::from(there) + i128::from(answer.at_ns) - i128::from(back);
            let offset_ns = i64::try_from(ahead / 2).unwrap_or_default();
            let error_ns = way.unsigned_abs().div_ceil(2);
            if best.is_none_or(|best| error_ns < best.error_ns) {
                best = Some(Clock { offset_ns, error_ns });
            }
        }
        let own = self.clock();
        let found = best.unwrap_or_default();
        let whole = Clock {
            offset_ns: own.offset_ns.saturating_add(found.offset_ns),
            error_ns: own.error_ns.saturating_add(found.error_ns),
        };
        self.send(below, turn, encode_clock(whole));
        Ok(())
    }

    /// Among the first ranks of all nodes: each clock is measured by the parent, from the top of the tree
    /// down. The first rank receives all results.
    fn compare_nodes(&self) -> Result<Vec<Clock>, CommError> {
        let turn = self.enter(Operation::Comparison)?;
        if let Some(above) = self.above {
            let clock = self.be_compared(above, &turn)?;
            *self.shared.clock.lock().unwrap_or_else(PoisonError::into_inner) = clock;
        }
        // The child with the largest subtree first.
        for &below in self.below.iter().rev() {
            self.compare(below, &turn)?;
        }
        let Some(all) = self.up(&turn, encode_clock(self.clock()), &mut append)? else {
            return Ok(Vec::new());
        };
        if all.len() != CLOCK_BYTES * self.members.len() {
            let rank = (all.len() / CLOCK_BYTES).clamp(1, self.members.len() - 1);
            let rank = u32::try_from(rank).expect("ranks are numbered by a u32");
            return Err(self.lose(&turn, rank, "its clock reading is malformed"));
        }
        Ok(all.chunks_exact(CLOCK_BYTES).map(decode_clock).collect())
    }

    /// Sends a piece to the parent as soon as this is permitted.
    fn send_piece(
        &self,
        turn: &CollectiveCall<'_>,
        ahead: &mut usize,
        piece: Vec<u8>,
    ) -> Result<(), CommError> {
        let Some(above) = self.above else { return Ok(()) };
        if *ahead == PIECES_AHEAD {
            self.receive(above, turn)?;
            *ahead -= 1;
        }
        self.send(above, turn, piece);
        *ahead += 1;
        Ok(())
    }

    /// Takes all pieces from the child `below`. The last one is empty.
    fn take_pieces(
        &self,
        turn: &CollectiveCall<'_>,
        below: u32,
        take: &mut dyn FnMut(Vec<u8>) -> Result<(), CommError>,
    ) -> Result<(), CommError> {
        loop {
            let piece = self.receive(below, turn)?.bytes;
            let last = piece.is_empty();
            if !last {
                take(piece)?;
            }
            self.send(below, turn, Vec::new());
            if last {
                return Ok(());
            }
        }
    }
}

impl<L: Links> Comm for Ranks<L> {
    fn rank(&self) -> u32 {
        u32::try_from(self.index).expect("ranks are numbered by a u32 from the start")
    }

    fn size(&self) -> u32 {
        u32::try_from(self.members.len()).expect("ranks are numbered by a u32 from the start")
    }

    fn node(&self) -> &str {
        &self.topology.names()[self.topology.node_of()[self.index] as usize]
    }

    fn barrier(&self) -> Result<(), CommError> {
        let turn = self.enter(Operation::Barrier)?;
        let whole = self.up(&turn, Vec::new(), &mut append)?;
        self.down(&turn, whole).map(|_| ())
    }

    fn max_u64(&self, value: u64) -> Result<u64, CommError> {
        let turn = self.enter(Operation::Maximum)?;
        let largest = self.maximum(&turn, i128::from(value))?;
        Ok(u64::try_from(largest).unwrap_or(value))
    }

    fn any(&self, value: bool) -> Result<bool, CommError> {
        let turn = self.enter(Operation::Vote)?;
        self.maximum(&turn, i128::from(value)).map(|largest| largest != 0)
    }

    fn gather(&self, bytes: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, CommError> {
        let turn = self.enter(Operation::Gathering)?;
        let mut own = (bytes.len() as u64).to_le_bytes().to_vec();
        own.extend(bytes);
        match self.up(&turn, own, &mut append)? {
            Some(all) => split(&all, self.members.len()).map(Some).map_err(|rank| {
                self.lose(&turn, rank, "the data it sent for gathering does not have the declared length")
            }),
            None => Ok(None),
        }
    }

    fn broadcast(&self, bytes: Vec<u8>) -> Result<Vec<u8>, CommError> {
        let turn = self.enter(Operation::Broadcast)?;
        self.down(&turn, Some(bytes))
    }

    fn topology(&self) -> &Topology {
        &self.topology
    }

    fn combine(&self, bytes: Vec<u8>, merge: Merge<'_>) -> Result<Option<Vec<u8>>, CommError> {
        let turn = self.enter(Operation::Merge)?;
        self.up(&turn, bytes, merge)
    }

    fn stream(&self, bytes: Vec<u8>, take: &mut dyn FnMut(u32, Vec<u8>)) -> Result<(), CommError> {
        let turn = self.enter(Operation::Stream)?;
        let mut ahead = 0;
        if self.above.is_none() {
            take(0, bytes);
            let mut parts = Parts::new(self.size(), plan::limits::MESSAGE_BYTES);
            for &below in &self.below {
                self.take_pieces(&turn, below, &mut |piece| match parts.add(&piece) {
                    Ok(Some((rank, bytes))) => {
                        take(rank, bytes);
                        Ok(())
                    }
                    Ok(None) => Ok(()),
                    Err((rank, what)) => Err(self.lose(&turn, rank, &what)),
                })?;
            }
            return parts.end().map_err(|(rank, what)| self.lose(&turn, rank, &what));
        }
        for piece in pieces(bytes) {
            self.send_piece(&turn, &mut ahead, piece)?;
        }
        for &below in &self.below {
            self.take_pieces(&turn, below, &mut |piece| self.send_piece(&turn, &mut ahead, piece))?;
        }
        self.send_piece(&turn, &mut ahead, Vec::new())?;
        if let Some(above) = self.above {
            for _ in 0..ahead {
                self.receive(above, &turn)?;
            }
        }
        Ok(())
    }

    fn group<'a>(&'a self, members: &[u32]) -> Option<Box<dyn Comm + 'a>> {
        if !members.contains(&self.rank()) {
            return None;
        }
        // By the ranks of the world, to which messages are addressed.
        let node_by_rank: HashMap<u32, u32> =
            self.members.iter().copied().zip(self.topology.node_of().iter().copied()).collect();
        let ranks = members.iter().map(|&member| self.members[member as usize]).collect();
        Some(Box::new(self.part(ranks, self.topology.names(), |rank| node_by_rank[&rank] as usize)))
    }

    fn strand<'a>(&'a self, number: u8) -> Box<dyn Comm + 'a> {
        Box::new(Self {
            shared: Arc::clone(&self.shared),
            strand: self.shared.strand(number),
            members: Arc::clone(&self.members),
            group: self.group,
            index: self.index,
            above: self.above,
            below: self.below.clone(),
            topology: self.topology.clone(),
        })
    }

    fn synchronize(&self) -> Result<Vec<Clock>, CommError> {
        let nodes = 0..u32::try_from(self.topology.names().len()).expect("not more nodes than ranks");
        let leaders: Vec<u32> = nodes.map(|node| self.topology.leader(node)).collect();
        let node = self.topology.node_of()[self.index];
        let neighbours: Vec<u32> = self.topology.ranks_on(node).collect();
        let mut clocks = Vec::new();
        if leaders.contains(&self.rank()) {
            let ranks: Vec<u32> = leaders.iter().map(|&leader| self.members[leader as usize]).collect();
            let own = self.members[self.index];
            let numbered: HashMap<u32, usize> = ranks.iter().copied().zip(0..).collect();
            debug_assert!(numbered.contains_key(&own));
            clocks = self.part(ranks, self.topology.names(), |rank| numbered[&rank]).compare_nodes()?;
        }
        let ranks: Vec<u32> = neighbours.iter().map(|&rank| self.members[rank as usize]).collect();
        let on_node = self.part(ranks, self.topology.names(), |_| node as usize);
        let clock = decode_clock(&on_node.broadcast(encode_clock(self.clock()))?);
        *self.shared.clock.lock().unwrap_or_else(PoisonError::into_inner) = clock;
        Ok(clocks)
    }

    fn meet(&self) -> Result<Duration, CommError> {
        let turn = self.enter(Operation::Meeting)?;
        let last = self.maximum(&turn, i128::from(self.common_ns()))?;
        let since = (i128::from(self.common_ns()) - last).max(0);
        Ok(Duration::from_nanos(u64::try_from(since).unwrap_or_default()))
    }

    fn signal(&self, value: u64) {
        self.links().signal(value);
    }

    fn on_signal(&self, handler: OnSignal) {
        self.links().on_signal(handler);
    }

    fn failure(&self) -> Option<CommError> {
        self.links().failed()
    }
}

fn append(mut first: Vec<u8>, second: Vec<u8>) -> Vec<u8> {
    first.extend(second);
    first
}

/// Splits gathered bytes into the parts of `ranks` ranks, each preceded by its length.
///
/// # Errors
/// Returns the rank whose part is truncated, or that is one too many.
fn split(mut all: &[u8], ranks: usize) -> Result<Vec<Vec<u8>>, u32> {
    let mut parts = Vec::with_capacity(ranks);
    while parts.len() < ranks || !all.is_empty() {
        let cut = u32::try_from(parts.len().min(ranks - 1)).expect("ranks are numbered by a u32");
        let (length, rest) = all.split_first_chunk::<8>().ok_or(cut)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| cut)?;
        let part = rest.get(..length).filter(|_| parts.len() < ranks).ok_or(cut)?;
        parts.push(part.to_vec());
        all = &rest[length..];
    }
    Ok(parts)
}

fn number(bytes: &[u8]) -> i128 {
    bytes.first_chunk().map_or(i128::MIN, |bytes| i128::from_le_bytes(*bytes))
}

fn integer(bytes: &[u8], at: usize) -> i64 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| i64::from_le_bytes(*bytes))
}

/// Size of an encoded clock.
const CLOCK_BYTES: usize = 16;

fn encode_clock(clock: Clock) -> Vec<u8> {
    let mut bytes = clock.offset_ns.to_le_bytes().to_vec();
    bytes.extend(clock.error_ns.to_le_bytes());
    bytes
}

fn decode_clock(bytes: &[u8]) -> Clock {
    Clock { offset_ns: integer(bytes, 0), error_ns: integer(bytes, 8).unsigned_abs() }
}

/// A number for a group within a group (FNV-1a, 64 bits). It is the same on all its members, and never
/// that of the world.
fn number_of(within: u64, members: &[u32]) -> u64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let bytes =
        within.to_le_bytes().into_iter().chain(members.iter().flat_map(|member| member.to_le_bytes()));
    bytes.fold(BASIS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME)).max(1)
}
