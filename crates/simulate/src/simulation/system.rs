//! The parts of a model with their state, which persists from phase to phase.

use std::collections::{BTreeMap, HashMap};

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::model::{Cache, Layout, Model};
use crate::simulation::parts::drive::Drive;
use crate::simulation::parts::names::NameService;
use crate::simulation::parts::route::Striping;
use crate::simulation::parts::service::whole;
use crate::simulation::parts::station::{Limiter, RateLimit, Slots, Station};
use crate::simulation::time::{Ticks, ticks};

/// All parts of a model.
#[derive(Debug, Clone)]
pub(crate) struct System {
    /// The present time. Phases run one after another.
    pub(crate) now: Ticks,
    pub(crate) nodes: Vec<NodeState>,
    /// Number of nodes in the model, of which the plan needs `nodes`.
    pub(crate) nodes_of_model: u32,
    /// Links and servers of all layouts.
    pub(crate) stations: Vec<Station>,
    pub(crate) drives: Vec<Drive>,
    /// The name of each of `drives`, and its location.
    pub(crate) drive_names: Vec<(String, String)>,
    pub(crate) names: Vec<NameService>,
    /// The paths, by index of the layout in the model.
    pub(crate) paths: Vec<LayoutPath>,
    /// Links between nodes: the index of the first one, and their number.
    pub(crate) between: Vec<(usize, u32)>,
    /// Random numbers for choices that are not made by a part.
    pub(crate) random: Xoshiro256PlusPlus,
    /// Processor time of a request on its node.
    pub(crate) request_time: Ticks,
    /// Data that page caches had not written when the last phase ended.
    pub(crate) behind: Vec<Behind>,
}

/// Bytes that a page cache writes after the phase whose tasks produced them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Behind {
    /// Time when they have been written.
    pub(crate) at: Ticks,
    pub(crate) node: u32,
    pub(crate) bytes: u64,
    /// The files and the task to which they belong.
    pub(crate) key: u64,
    pub(crate) task: u32,
}

/// The state of a node.
#[derive(Debug, Clone)]
pub(crate) struct NodeState {
    pub(crate) processors: Slots,
    /// Its network adapter, for each direction.
    pub(crate) adapter: [Limiter; 2],
    /// Its file-system client.
    pub(crate) client: Limiter,
    /// Copies from and to the page cache.
    pub(crate) copies: Limiter,
    /// Number of bytes that wait to be written.
    pub(crate) dirty: u64,
    /// Those of them that are being written.
    pub(crate) writing: u64,
    /// Number of bytes in the page cache, by the files to which they belong.
    pub(crate) cached: BTreeMap<u64, u64>,
}

/// The path of requests to the devices of a layout.
#[derive(Debug, Clone)]
pub(crate) struct LayoutPath {
    pub(crate) striping: Striping,
    /// Index of the first device; for a local layout, of that on the first node.
    pub(crate) first_drive: usize,
    /// Number of devices in the group.
    pub(crate) drives: u32,
    /// Links and servers on the path: for each tier the index of the first one, and their number.
    pub(crate) tiers: Vec<(usize, u32)>,
    /// Whether each node has its own.
    pub(crate) local: bool,
    /// Total latency of all links, one way.
    pub(crate) latency: Ticks,
    /// Index of its metadata service; for a local layout, of that on the first node.
    names: Option<usize>,
}

/// Constant properties of a node.
#[derive(Debug, Clone)]
pub(crate) struct NodeLimits {
    pub(crate) adapter: RateLimit,
    pub(crate) client: RateLimit,
    pub(crate) copies: RateLimit,
    /// Capacity of the page cache in bytes, and how many of them may wait to be written.
    pub(crate) cache: Option<(u64, u64)>,
}

impl NodeLimits {
    pub(crate) fn of(model: &Model) -> Self {
        let cache = model.node.cache.as_ref();
        let dirty = |cache: &Cache| cache.dirty.map_or(cache.size.0 / 5, |dirty| dirty.0);
        Self {
            adapter: RateLimit::new(None, model.node.bandwidth),
            client: RateLimit::new(model.node.iops, None),
            copies: RateLimit::new(None, cache.map(|cache| cache.rate)),
            cache: cache.map(|cache| (cache.size.0, dirty(cache))),
        }
    }
}

impl NodeState {
    /// Makes a page cache of `size` bytes drop older contents than those of the files with `key`.
    pub(crate) fn evict(&mut self, size: u64, key: u64) {
        let mut room = size - self.cached.get(&key).copied().unwrap_or(0).min(size);
        for (_, bytes) in self.cached.iter_mut().filter(|(other, _)| **other != key) {
            *bytes = (*bytes).min(room);
            room -= *bytes;
        }
    }
}

impl System {
    /// Creates the idle parts of `model` with `nodes` of its nodes.
    pub(crate) fn new(model: &Model, nodes: u32) -> Self {
        let node = NodeState {
            processors: Slots::new(model.node.processors),
            adapter: [Limiter::default(); 2],
            client: Limiter::default(),
            copies: Limiter::default(),
            dirty: 0,
            writing: 0,
            cached: BTreeMap::new(),
        };
        let mut system = Self {
            now: 0,
            nodes: vec![node; nodes as usize],
            nodes_of_model: model.node.count.max(1),
            stations: Vec::new(),
            drives: Vec::new(),
            drive_names: Vec::new(),
            names: Vec::new(),
            paths: Vec::new(),
            between: Vec::new(),
            request_time: model.node.request_time.map_or(0, |time| whole(ticks(time.0 as f64))),
            random: Xoshiro256PlusPlus::seed_from_u64(0),
            behind: Vec::new(),
        };
        // Layouts on the same group of devices share it; the same applies to links, servers and metadata
        // services.
        let mut drives = HashMap::new();
        let mut stations = HashMap::new();
        let mut services = HashMap::new();
        for layout in &model.layouts {
            let path = system.path(model, layout, nodes, (&mut drives, &mut stations, &mut services));
            system.paths.push(path);
        }
        for link in
            model.node.through.iter().filter_map(|name| model.links.iter().find(|link| link.name == *name))
        {
            let first = *stations.entry((link.name.as_str(), false)).or_insert_with(|| {
                let first = system.stations.len();
                system.stations.extend((0..link.count).map(|_| Station::of_link(link)));
                first
            });
            system.between.push((first, link.count));
        }
        system
    }

    /// Total latency of all links between two nodes, one way.
    pub(crate) fn latency_between(&self) -> Ticks {
        self.between.iter().map(|(first, _)| self.stations[*first].latency).sum()
    }

    /// Advances the time until page caches have written everything.
    pub(crate) fn write_all_behind(&mut self) {
        let last = self.behind.drain(..).map(|one| one.at).max();
        self.now = self.now.max(last.unwrap_or(0));
    }

    /// Drops the data that page caches have not written yet, because its files have been removed.
    pub(crate) fn give_up_behind(&mut self) {
        if self.behind.is_empty() {
            return;
        }
        self.behind.clear();
        let now = self.now;
        self.drives.iter_mut().for_each(|drive| drive.give_up(now));
        self.stations.iter_mut().for_each(|station| station.give_up(now));
        for node in &mut self.nodes {
            node.adapter.iter_mut().for_each(|limiter| limiter.give_up(now));
            node.client.give_up(now);
        }
    }

    /// The states of all random numbers.
    pub(crate) fn random_states(&self) -> Vec<Xoshiro256PlusPlus> {
        let drives = self.drives.iter().map(|drive| &drive.random);
        let names = self.names.iter().map(|names| &names.random);
        [&self.random].into_iter().chain(drives).chain(names).cloned().collect()
    }

    /// Moves everything that is in flight by `time`; of the devices, that of those that are `used`.
    pub(crate) fn shift(&mut self, time: Ticks, used: impl Fn(usize) -> bool) {
        let drives = self.drives.iter_mut().enumerate().filter(|(drive, _)| used(*drive));
        drives.for_each(|(_, drive)| drive.shift(time));
        self.stations.iter_mut().for_each(|station| station.shift(time));
        self.names.iter_mut().for_each(|service| service.shift(time));
        for node in &mut self.nodes {
            node.processors.shift(time);
            node.adapter.iter_mut().for_each(|limiter| limiter.shift(time));
            node.client.shift(time);
            node.copies.shift(time);
        }
    }

    /// Sets new seeds, drawn from `random`, for all parts.
    pub(crate) fn reseed(&mut self, random: &mut Xoshiro256PlusPlus) {
        let mut new = || Xoshiro256PlusPlus::seed_from_u64(random.next_u64());
        self.random = new();
        self.drives.iter_mut().for_each(|drive| drive.random = new());
        self.names.iter_mut().for_each(|service| service.random = new());
    }

    #[expect(clippy::type_complexity, reason = "the parts made so far, by name")]
    fn path<'m>(
        &mut self,
        model: &'m Model,
        layout: &'m Layout,
        nodes: u32,
        (drives, stations, services): (
            &mut HashMap<(&'m str, bool), usize>,
            &mut HashMap<(&'m str, bool), usize>,
            &mut HashMap<(&'m str, bool), usize>,
        ),
    ) -> LayoutPath {
        let local = layout.local;
        let times = if local { nodes } else { 1 };
        let group = model.group(&layout.devices);
        let count = group.map_or(0, |group| group.count);
        let first_drive = *drives.entry((&layout.devices, local)).or_insert_with(|| {
            let first = self.drives.len();
            for node in 0..times {
                let place = if local { node_name(model, node) } else { layout.devices.clone() };
                for member in 0..count {
                    let Some(group) = group else { continue };
                    self.drives.push(Drive::new(group, member, &model.troubles));
                    self.drive_names.push((place.clone(), format!("{}-{member}", group.name)));
                }
            }
            first
        });
        let mut latency = 0;
        let tiers = layout.through.iter().filter_map(|name| {
            let link = model.links.iter().find(|link| link.name == *name);
            let server = model.servers.iter().find(|server| server.name == *name);
            let (one, count) = match (link, server) {
                (Some(link), _) => (Station::of_link(link), link.count),
                (None, Some(server)) => (Station::of_server(server), server.count),
                (None, None) => return None,
            };
            latency += one.latency;
            let first = *stations.entry((name.as_str(), local)).or_insert_with(|| {
                let first = self.stations.len();
                self.stations.extend((0..times * count).map(|_| one.clone()));
                first
            });
            Some((first, count))
        });
        let tiers: Vec<(usize, u32)> = tiers.collect();
        let names = model.metadata_of(layout).map(|service| {
            *services.entry((service.name.as_str(), local)).or_insert_with(|| {
                let first = self.names.len();
                self.names.extend((0..times).map(|_| NameService::new(service)));
                first
            })
        });
        let striping = Striping::new(model, layout);
        LayoutPath { striping, first_drive, drives: count, tiers, local, latency, names }
    }
}

impl LayoutPath {
    /// Index of the metadata service for `node`.
    #[inline]
    pub(crate) fn names_of(&self, node: u32) -> Option<usize> {
        let before = if self.local { node as usize } else { 0 };
        self.names.map(|first| first + before)
    }

    /// Index of a device for a request from `node`.
    #[inline]
    pub(crate) fn drive(&self, node: u32, device: u32) -> usize {
        let before = if self.local { node as usize * self.drives as usize } else { 0 };
        self.first_drive + before + device as usize
    }

    /// For each tier: whether a request goes on to the next part of its path at once when it leaves. It does if requests
    /// reach that part in the order in which they are looked at, or if their order does not matter there, because none of
    /// at most so many `requests` in flight ever waits.
    pub(crate) fn goes_on(&self, stations: &[Station], requests: u64, now: Ticks) -> Vec<bool> {
        let of_tier = |tier: usize| {
            let (first, count) = self.tiers[tier];
            let nodes = if self.local { (stations.len() - first) / count as usize } else { 1 };
            &stations[first..first + count as usize * nodes]
        };
        let never_waits = |tier: usize| of_tier(tier).iter().all(|one| one.never_waits(requests, now));
        // The last tier that may have changed the order of those that were looked at in order, and whether it keeps it.
        let (mut last, mut keeps_order) = (None, true);
        let of = |tier: usize| {
            if !never_waits(tier) {
                (last, keeps_order) = (Some(tier), of_tier(tier)[0].keeps_order());
            }
            let is_last = tier + 1 == self.tiers.len();
            let goes_on =
                (!is_last && never_waits(tier + 1)) || (keeps_order && self.leads_alone(last, tier + 1));
            if !goes_on {
                (last, keeps_order) = (None, true);
            }
            goes_on
        };
        (0..self.tiers.len()).map(of).collect()
    }

    /// Whether all that reaches a member of tier number `next` comes from the same member of tier number `last`.
    fn leads_alone(&self, last: Option<usize>, next: usize) -> bool {
        let Some(last) = last.filter(|_| next < self.tiers.len()) else { return true };
        // Devices are in order, so those behind one member are neighbours.
        (1..self.drives).all(|device| {
            let is_same = |tier| self.station(tier, 0, device) == self.station(tier, 0, device - 1);
            is_same(last) || !is_same(next)
        })
    }

    /// Index of the link or server in tier number `tier` on the path to `device`.
    #[inline]
    pub(crate) fn station(&self, tier: usize, node: u32, device: u32) -> usize {
        let (first, count) = self.tiers[tier];
        let before = if self.local { node as usize * count as usize } else { 0 };
        let member = u64::from(device) * u64::from(count) / u64::from(self.drives.max(1));
        first + before + usize::try_from(member).unwrap_or(0)
    }
}

/// The name of a node of `model`.
pub(crate) fn node_name(model: &Model, node: u32) -> String {
    let digits = model.node.count.saturating_sub(1).max(1).ilog10() as usize + 1;
    format!("node{node:0digits$}")
}
