//! What servers and clients counted around a pass, counter by counter.

use std::collections::{BTreeMap, BTreeSet};

use plan::Bytes;
use record::ServerRow;

/// What servers and clients told around one pass. A number of bytes is none where it was not told, or not twice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerCounts {
    /// What the clients took from servers, and brought there.
    pub over_wire: [Option<u64>; 2],
    /// What storage targets handed out and took in: read and written.
    pub at_servers: [Option<u64>; 2],
    /// Bytes read at storage targets all of whose caches are off: they came from disks.
    pub from_disks: Option<u64>,
    /// Bytes that the disks of servers read at most, by the histograms of their requests.
    pub from_disks_max: Option<u64>,
    /// Storage targets that moved bytes.
    pub used: BTreeSet<String>,
    /// Storage targets that the files are on; empty where nobody told.
    pub asked: BTreeSet<String>,
    /// Caches of servers that keep data for later reads.
    pub caches: Vec<String>,
    /// Caches of clients of which it is known how large they are.
    pub client_caches: Vec<String>,
}

impl ServerCounts {
    /// Those of the rows of one pass; none where there are none.
    #[must_use]
    pub fn of<'a>(rows: impl Iterator<Item = &'a ServerRow>) -> Option<Self> {
        let rows: Vec<&ServerRow> = rows.collect();
        if rows.is_empty() {
            return None;
        }
        let mut found = Self::default();
        // Two commands may have asked the same server, and a command the same client as ioproof itself.
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
        // One server that does not tell may have read all.
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

/// Whether it counts what a client took from servers or brought there. What GPFS counts is what it handed to programs,
/// from wherever.
fn is_wire(row: &ServerRow) -> bool {
    match &*row.system {
        "lustre-client" => true,
        "nfs-client" => row.counter.starts_with("server_"),
        _ => false,
    }
}

/// By how much it rose; none where that is not known, or it began anew.
fn delta(row: &ServerRow) -> Option<u64> {
    row.after?.checked_sub(row.before.unwrap_or(0))
}

/// All that they rose; none where one of them is not known, or there are none.
fn sum(rows: &[&ServerRow]) -> Option<u64> {
    let all: Option<Vec<u64>> = rows.iter().map(|row| delta(row)).collect();
    all.filter(|all| !all.is_empty()).map(|all| all.into_iter().fold(0, u64::saturating_add))
}

/// `OST0003` of `scratch-OST0003-osc-ffff8801`.
fn storage_target(device: &str) -> Option<String> {
    device.split('-').find(|part| part.starts_with("OST") && part.len() > 3).map(str::to_owned)
}

impl ServerCounts {
    /// Of two passes together.
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
