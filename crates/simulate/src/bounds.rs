//! Upper bounds of a model's performance: the bounds of a closed network of queues.
//!
//! With `N` transfers in flight, a rate `X` and a mean response time `R ≥ R_min`, Little's law gives `X ≤ N ÷
//! R_min`, and each part of the path serves at most its capacity. Both bounds meet at `N* = capacity of the
//! bottleneck × R_min`: with fewer transfers in flight the response time is the limit, with more the
//! bottleneck is. Source: Lazowska, Zahorjan, Graham and Sevcik, "Quantitative System Performance", 1984,
//! chapter 5.2 (asymptotic bounds).
//!
//! The bounds are those of direct transfers in the steady state, spread evenly over the files of all tasks. Page
//! caches and troubles are left out, and a write cache counts with the rate at which it drains.

use std::collections::BTreeSet;

use crate::model::{Device, Layout, Model, Server, Time};
use crate::simulation::parts::drive::Piece;
use crate::simulation::parts::route::Striping;
use crate::simulation::parts::service::ServiceTime;
use crate::simulation::parts::station::{READ, RateLimit, WRITE};
use crate::simulation::time::TICKS_PER_NS;

/// Number of transfers of a file over which the load of the parts is averaged, because a transfer may
/// begin at any chunk.
const TRANSFERS: u64 = 64;

/// The kind of transfers to which bounds apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// Bytes of each transfer.
    pub bytes: u64,
    /// Whether they are writes; otherwise they are reads.
    pub writes: bool,
    /// Whether they are at random offsets; otherwise each one begins where the previous one of its file
    /// has ended.
    pub random: bool,
}

/// The tasks that issue the transfers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Issuers {
    /// Number of nodes.
    pub nodes: u32,
    /// Number of tasks on each node, each with its own file, or `None` for as many as necessary.
    pub tasks: Option<u32>,
    /// Number of transfers that each task has in flight.
    pub depth: u32,
}

/// The maximum rate of one part of the path.
#[derive(Debug, Clone, PartialEq)]
pub struct PartLimit {
    /// The part that is the limit.
    pub part: String,
    /// The number of such parts that are used.
    pub count: u64,
    /// Transfers per second of all of them together.
    pub transfers_per_second: f64,
}

/// The bounds of one kind of transfer.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// Every limit, lowest first, so the first one is the bottleneck.
    pub limits: Vec<PartLimit>,
    /// Minimum mean response time in nanoseconds, that is, of a transfer that does not wait for any
    /// other.
    pub response_ns: f64,
    /// Number of transfers in flight from which on the bottleneck is the limit, and not the response
    /// time.
    pub saturation: f64,
    /// Bytes that the devices move for each byte of a transfer: copies, parity, and data read for parity.
    pub amplification: f64,
}

impl Bounds {
    /// The bottleneck: the part with the lowest limit. Returns `None` for a model without devices.
    #[must_use]
    pub fn weakest(&self) -> Option<&PartLimit> {
        self.limits.first()
    }

    /// Maximum number of transfers per second.
    #[must_use]
    pub fn transfers_per_second(&self) -> f64 {
        self.weakest().map_or(0.0, |limit| limit.transfers_per_second)
    }
}

/// The load that one transfer puts on a part.
#[derive(Default)]
struct Load {
    /// Time in one slot, in nanoseconds.
    slot_ns: f64,
    /// Time that its rate limit requires, in nanoseconds.
    limit_ns: f64,
}

impl Load {
    /// Transfers per second of `members` parts with `slots` slots each.
    fn capacity(&self, members: u64, slots: u32) -> f64 {
        let each = (self.slot_ns / f64::from(slots)).max(self.limit_ns);
        members as f64 / each * 1e9
    }
}

/// A part between the nodes and the devices.
enum Tier<'a> {
    Link(&'a crate::model::Link),
    Server(&'a Server),
}

impl Model {
    /// The bounds of `transfer` on `layout`, which must be one of this model's.
    ///
    /// ```
    /// # let text = r#"
    /// #     model = { name = "one disk" }
    /// #     node = { processors = 4 }
    /// #     [[device]]
    /// #     name = "disk"
    /// #     read = { time = "8ms", rate = "200MB/s" }
    /// #     write = { time = "8ms", rate = "200MB/s" }
    /// #     [[layout]]
    /// #     name = "ext4"
    /// #     devices = "disk"
    /// # "#;
    /// # let model = simulate::read("disk.toml".as_ref(), text)?;
    /// use simulate::{Issuers, Transfer};
    /// let transfer = Transfer { bytes: 400_000, writes: false, random: true };
    /// let one = Issuers { nodes: 1, tasks: None, depth: 1 };
    /// let bounds = model.bounds(&model.layouts[0], transfer, one);
    /// // 8 ms + 400,000 bytes ÷ 200 MB/s
    /// assert!((bounds.transfers_per_second() - 100.0).abs() < 1e-9);
    /// # Ok::<(), simulate::ModelErrors>(())
    /// ```
    #[must_use]
    pub fn bounds(&self, layout: &Layout, transfer: Transfer, issuers: Issuers) -> Bounds {
        let direction = if transfer.writes { WRITE } else { READ };
        let striping = Striping::new(self, layout);
        let transfers: Vec<Vec<Piece>> = (0..TRANSFERS)
            .map(|number| {
                let mut pieces = Vec::new();
                let offset = number * transfer.bytes;
                striping.pieces(0, offset, transfer.bytes, direction, &mut pieces);
                pieces.into_iter().map(|(_, piece)| piece).collect()
            })
            .collect();
        let mean = |of_pieces: &dyn Fn(&[Piece]) -> f64| {
            transfers.iter().map(|pieces| of_pieces(pieces)).sum::<f64>() / transfers.len() as f64
        };
        let sum = |of: &dyn Fn(&Piece) -> f64| mean(&|pieces| pieces.iter().map(of).sum());
        let longest = |of: &dyn Fn(&Piece) -> f64| mean(&|pieces| pieces.iter().map(of).fold(0.0, f64::max));
        let nodes = u64::from(issuers.nodes);
        let own = if layout.local { nodes } else { 1 };
        let files = u64::from(issuers.tasks.unwrap_or(u32::MAX)) * if layout.local { 1 } else { nodes };

        let mut limits = Vec::new();
        let request_ns = self.node.request_time.map_or(0.0, |Time(ns)| ns as f64);
        if request_ns > 0.0 {
            let tasks = u64::from(issuers.tasks.unwrap_or(u32::MAX).min(self.node.processors)) * nodes;
            let per_second = tasks as f64 / request_ns * 1e9;
            limits.push(limit("processor", tasks, per_second));
        }
        let mut response = request_ns;
        if !layout.local {
            let adapter = RateLimit::new(self.node.iops, self.node.bandwidth);
            let load = sum(&|piece| ns(adapter.cost(piece.bytes)));
            if load > 0.0 {
                limits.push(limit("node", nodes, nodes as f64 / load * 1e9));
            }
            response += load;
        }
        let tiers: Vec<Tier<'_>> = layout.through.iter().filter_map(|name| self.tier(name)).collect();
        let device = self.group(&layout.devices);
        let devices = device.map_or(0, |device| device.count);
        let used = striping.devices_of(files);
        for tier in &tiers {
            let members: BTreeSet<u64> =
                used.iter().map(|device| tier.member(u64::from(*device), devices)).collect();
            let load = Load {
                slot_ns: sum(&|piece| tier.service_ns(direction, piece)),
                limit_ns: sum(&|piece| tier.limit_ns(direction, piece)),
            };
            let members = members.len() as u64 * own;
            let per_second = load.capacity(members, tier.slots());
            if per_second.is_finite() {
                limits.push(limit(tier.name(), members, per_second));
            }
            response += 2.0 * tier.latency_ns();
        }
        if let Some(device) = device {
            let drive = DeviceTimes::new(device, transfer);
            let load = Load {
                slot_ns: sum(&|piece| drive.slot_ns(piece)),
                limit_ns: sum(&|piece| drive.limit_ns(piece)),
            };
            let members = used.len() as u64 * own;
            limits.push(limit(&device.name, members, load.capacity(members, device.slots)));
            response += longest(&|piece| {
                let on_the_way = tiers
                    .iter()
                    .map(|tier| tier.limit_ns(direction, piece) + tier.service_ns(direction, piece));
                on_the_way.sum::<f64>() + drive.response_ns(piece)
            });
        }
        let capacity = limits.iter().map(|limit| limit.transfers_per_second).fold(f64::INFINITY, f64::min);
        if let Some(tasks) = issuers.tasks {
            let in_flight = u64::from(tasks) * u64::from(issuers.depth) * nodes;
            limits.push(limit("transfer in flight", in_flight, in_flight as f64 / response * 1e9));
        }
        limits.sort_by(|a, b| a.transfers_per_second.total_cmp(&b.transfers_per_second));
        Bounds {
            limits,
            response_ns: response,
            saturation: capacity * response / 1e9,
            amplification: striping.amplification(direction, transfer.bytes),
        }
    }

    fn tier(&self, name: &str) -> Option<Tier<'_>> {
        let link = self.links.iter().find(|link| link.name == *name).map(Tier::Link);
        link.or_else(|| self.servers.iter().find(|server| server.name == *name).map(Tier::Server))
    }
}

impl Tier<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Link(link) => &link.name,
            Self::Server(server) => &server.name,
        }
    }

    /// The member through which `device`, one of `devices` devices, is reached.
    fn member(&self, device: u64, devices: u32) -> u64 {
        let count = match self {
            Self::Link(link) => link.count,
            Self::Server(server) => server.count,
        };
        device * u64::from(count) / u64::from(devices.max(1))
    }

    fn slots(&self) -> u32 {
        match self {
            Self::Link(_) => 1,
            Self::Server(server) => server.slots,
        }
    }

    fn latency_ns(&self) -> f64 {
        match self {
            Self::Link(link) => link.latency.map_or(0.0, |Time(ns)| ns as f64),
            Self::Server(_) => 0.0,
        }
    }

    fn limit_ns(&self, direction: usize, piece: &Piece) -> f64 {
        let limit = match self {
            Self::Link(link) => RateLimit::new(None, link.bandwidth),
            Self::Server(server) => RateLimit::both(&server.limits)[direction],
        };
        ns(limit.cost(piece.bytes))
    }

    fn service_ns(&self, direction: usize, piece: &Piece) -> f64 {
        let Self::Server(server) = self else { return 0.0 };
        let service = if direction == WRITE { &server.write } else { &server.read };
        service.as_ref().map_or(0.0, |service| ServiceTime::new(service).mean_ns(piece.bytes, false))
    }
}

/// The times of one device.
struct DeviceTimes<'a> {
    device: &'a Device,
    service: [ServiceTime; 2],
    limit: RateLimit,
    direction: usize,
    continues: bool,
}

impl<'a> DeviceTimes<'a> {
    fn new(device: &'a Device, transfer: Transfer) -> Self {
        let direction = if transfer.writes { WRITE } else { READ };
        Self {
            device,
            service: [ServiceTime::new(&device.read), ServiceTime::new(&device.write)],
            limit: RateLimit::both(&device.limits)[direction],
            direction,
            continues: !transfer.random,
        }
    }

    fn is_cached(&self) -> bool {
        self.direction == WRITE && self.device.write_cache.is_some()
    }

    /// Time in a slot.
    fn slot_ns(&self, piece: &Piece) -> f64 {
        let service = &self.service[self.direction];
        if self.is_cached() {
            return service.mean_ns(piece.bytes, true) - service.mean_ns(0, true);
        }
        let reads_first = if piece.modifies { self.service[READ].mean_ns(piece.bytes, false) } else { 0.0 };
        service.mean_ns(piece.bytes, self.continues) + reads_first
    }

    /// Time required by its rate limit, or by the drain of its cache.
    fn limit_ns(&self, piece: &Piece) -> f64 {
        let drain = self.device.write_cache.as_ref().filter(|_| self.is_cached());
        let drain = drain.map_or(0.0, |cache| piece.bytes as f64 / cache.drain.0 * 1e9);
        ns(self.limit.cost(piece.bytes)).max(drain)
    }

    /// Time of a piece that does not wait for any other.
    fn response_ns(&self, piece: &Piece) -> f64 {
        let cached = self.device.write_cache.as_ref().filter(|_| self.is_cached());
        let cache = cached.map_or(0.0, |cache| cache.time.0 as f64);
        ns(self.limit.cost(piece.bytes)) + self.slot_ns(piece).max(cache)
    }
}

fn limit(part: &str, count: u64, transfers_per_second: f64) -> PartLimit {
    PartLimit { part: part.to_owned(), count, transfers_per_second }
}

fn ns(ticks: f64) -> f64 {
    ticks / TICKS_PER_NS as f64
}

#[cfg(test)]
mod tests;
