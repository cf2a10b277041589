//! Counters of servers and clients before and after a pass.

use std::collections::{BTreeMap, BTreeSet};

use plan::Bytes;
use record::ServerRow;

/// The counters of servers and clients around one pass. A byte count is `None` if it was not reported both before and
/// after the pass.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerCounts {
    /// Bytes that the clients received from servers and sent to them.
    pub over_wire: [Option<u64>; 2],
    /// Bytes read from and written to storage targets.
    pub at_servers: [Option<u64>; 2],
    /// Bytes read at storage targets whose caches are all off, so that the bytes came from disks.
    pub from_disks: Option<u64>,
    /// Upper limit of the bytes read by the disks of servers, from their request histograms.
    pub from_disks_max: Option<u64>,
    /// Storage targets that moved bytes.
    pub used: BTreeSet<String>,
    /// Storage targets that hold the files; empty if they were not reported.
    pub asked: BTreeSet<String>,
    /// Server caches that keep data for later reads.
    pub caches: Vec<String>,
    /// Client caches whose size is known.
    pub client_caches: Vec<String>,
}

impl ServerCounts {
    /// The counters in the rows of one pass. Returns `None` if there are none.
    #[must_use]
    pub fn of<'a>(rows: impl Iterator<Item = &'a ServerRow>) -> Option<Self> {
        let rows: Vec<&ServerRow> = rows.collect();
        if rows.is_empty() {
            return None;
        }
        let mut found = Self::default();
        // Two commands may have queried the same server, and a command the same client as ioproof itself.
        let mut servers: BTreeMap<(&str, &str), &ServerRow> = BTreeMap::new();
        for row in rows.iter().filter(|row| &*row.system == "lustre-server") {
            servers.entry((&row.device, &row.counter)).or_insert(row);
        }
        let is_own = |row: &&&ServerRow| !row.node.is_empty();
        let own_told = |row: &&&ServerRow| is_wire(row) && is_own(row);
        let own = rows.iter().any(|row| own_told(&row));
        let wire: Vec<&ServerRow> =
            rows.iter().filter(|row| is_wire(row) && (!own || is_own(row))).copied().collect();
        for (place, name) in ["read_bytes", "write_bytes"].into_iter().enumerate() {
            let of_servers: Vec<&ServerRow> =
                servers.values().filter(|row| &*row.counter == name).copied().collect();
            found.at_servers[place] = sum(&of_servers);
            let of_wire: Vec<&ServerRow> =
                wire.iter().filter(|row| row.counter.ends_with(name)).copied().collect();
            found.over_wire[place] = sum(&of_wire);
            let all: Vec<&ServerRow> = if of_servers.is_empty() { of_wire } else { of_servers };
            let moved = all.iter().filter(|row| delta(row).is_some_and(|bytes| bytes > 0));
            found.used.extend(moved.filter_map(|row| storage_target(&row.device)));
        }
        let is_off = |device: &str| {
            let setting = |name| servers.get(&(device, name)).and_then(|row| row.before.max(row.after));
            ["read_cache_enable", "writethrough_cache_enable"]
                .into_iter()
                .all(|name| setting(name) == Some(0))
        };
        let reads: Vec<&ServerRow> =
            servers.values().filter(|row| &*row.counter == "read_bytes").copied().collect();
        let cold = reads.iter().all(|row| delta(row) == Some(0) || is_off(&row.device));
        found.from_disks = sum(&reads).filter(|_| cold);
        let most: Vec<&ServerRow> =
            servers.values().filter(|row| &*row.counter == "disk_read_bytes_max").copied().collect();
        // A single server that reports nothing may have read everything.
        found.from_disks_max = sum(&most).filter(|_| reads.len() <= most.len());
        for row in servers.values().filter(|row| row.counter.ends_with("_cache_enable")) {
            if row.before.max(row.after) > Some(0) {
                found.caches.push(format!("{}.{}", row.device, row.counter));
            }
        }
        for row in &rows {
            match (&*row.counter, row.before.or(row.after)) {
                ("asked", Some(_)) => found.asked.extend(storage_target(&row.device)),
                ("pagepool_bytes", Some(bytes)) => {
                    found.client_caches.push(format!("{}: pagepool of {}", row.device, Bytes(bytes)));
                }
                _ => {}
            }
        }
        Some(found)
    }
}

/// Whether the row counts what a client received from servers or sent to them. GPFS counts what it delivered to
/// programs, whatever its source.
fn is_wire(row: &ServerRow) -> bool {
    match &*row.system {
        "lustre-client" => true,
        "nfs-client" => row.counter.starts_with("server_"),
        _ => false,
    }
}

/// The increase of the counter. Returns `None` if it is not known or the counter was reset.
fn delta(row: &ServerRow) -> Option<u64> {
    row.after?.checked_sub(row.before.unwrap_or(0))
}

/// The sum of all increases. Returns `None` if one of them is not known, or if there are no rows.
fn sum(rows: &[&ServerRow]) -> Option<u64> {
    let all: Option<Vec<u64>> = rows.iter().map(|row| delta(row)).collect();
    all.filter(|all| !all.is_empty()).map(|all| all.into_iter().fold(0, u64::saturating_add))
}

/// `OST0003` of `scratch-OST0003-osc-ffff8801`.
fn storage_target(device: &str) -> Option<String> {
    device.split('-').find(|part| part.starts_with("OST") && part.len() > 3).map(str::to_owned)
}

impl ServerCounts {
    /// Combines the counters of two passes.
    pub(crate) fn and(self, other: &Self) -> Self {
        let add = |one: Option<u64>, other: Option<u64>| Some(one?.saturating_add(other?));
        let both =
            |one: [Option<u64>; 2], other: [Option<u64>; 2]| [add(one[0], other[0]), add(one[1], other[1])];
        let join = |one: Vec<String>, other: &[String]| {
            let all: BTreeSet<String> = one.into_iter().chain(other.iter().cloned()).collect();
            all.into_iter().collect()
        };
        Self {
            over_wire: both(self.over_wire, other.over_wire),
            at_servers: both(self.at_servers, other.at_servers),
            from_disks: add(self.from_disks, other.from_disks),
            from_disks_max: add(self.from_disks_max, other.from_disks_max),
            used: &self.used | &other.used,
            asked: &self.asked | &other.asked,
            caches: join(self.caches, &other.caches),
            client_caches: join(self.client_caches, &other.client_caches),
        }
    }
}
