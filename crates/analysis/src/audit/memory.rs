//! Checks whether read data may have been served by a memory on the way from the storage to the task.
//!
//! A memory is ruled out by counters or by the size of the data. Anything unknown is not ruled out: neither
//! `O_DIRECT` nor a fresh order says anything about the cache of a FUSE daemon, a file system's own cache, or the
//! memory of a server.

use std::collections::BTreeSet;

use plan::{Bytes, CACHE_MULTIPLE, Client, Order, Phase, SERVER_MEMORY_MULTIPLE, TargetDescription};
use record::{CacheLocation, Provenance, Warning};

use super::issue::{RawIssue, percent};
use super::servers::{self, Shown};
use crate::audit::Check;
use crate::figures::{DEVICE_SHARE_MAX, DEVICE_SHARE_MIN, RepetitionFigure, Subject};

/// The doubt about a read figure some of whose reads may have been served from memory.
pub(super) fn not_excluded(subject: &Subject<'_>, counted: &[&RepetitionFigure]) -> Option<RawIssue> {
    if !subject.case.workload.backend.moves_data() {
        return None;
    }
    let memories = Memories::of(subject, counted)?;
    let (multiple, data) = (multiple(subject), distance(subject));
    let needed = memories.held(subject).map(|held| Bytes(held.saturating_mul(multiple)));
    if !memories.of_device
        && needed.as_ref().is_ok_and(|&needed| data.is_some_and(|data| data.0 > 0 && data >= needed))
    {
        return None;
    }
    let evidence = format!(
        "memory may have answered: {}; {}, {}",
        memories.because.join("; "),
        between(data),
        memories.sizes(subject)
    );
    let advice = match needed {
        _ if memories.of_device => "commit to figures of storage that is not backed by memory".to_owned(),
        Err(advice) => format!("{advice}, and use data of {multiple} times all memory on the data path"),
        Ok(needed) => format!("use {} of data or more", needed.both_units()),
    };
    let around = match (memories.of_loop, memories.read_ahead) {
        (true, _) => "make the loop device bypass the page cache (losetup --direct-io=on), or ",
        (_, true) => "use direct I/O, or ",
        _ => "",
    };
    Some(RawIssue::new(Check::MemoryNotExcluded, evidence, format!("{around}{advice}")))
}

/// The doubt about promised reads that a cache below the devices may have served. No interface of a drive, a RAID
/// controller, an array or a hypervisor says how much memory it has, so the study has to.
pub(super) fn behind(subject: &Subject<'_>, counted: &[&RepetitionFigure]) -> Option<RawIssue> {
    let reads = counted.iter().any(|pass| reads(subject, pass));
    if !subject.case.workload.backend.moves_data() || !reads {
        return None;
    }
    let Some(held) = subject.target.and_then(TargetDescription::stated_memory) else {
        let evidence = "the study does not say which caches are behind the devices";
        return Some(RawIssue::new(
            Check::UnstatedCaches,
            evidence,
            plan::state_caches(&subject.case.target),
        ));
    };
    // With a node-local target, each node has its own caches and its own part of the data.
    let targets = subject.targets_of_all_nodes();
    let data = distance(subject).zip(targets).map(|(data, targets)| Bytes(data.0 / u64::from(targets)));
    let needed = Bytes(held.0.saturating_mul(multiple(subject)));
    data.is_none_or(|data| data < needed).then(|| {
        let evidence = format!("caches of {} may have answered: {}", held.both_units(), between(data));
        RawIssue::new(Check::UnstatedCaches, evidence, format!("use {} of data or more", needed.both_units()))
    })
}

/// The memories that no counter rules out.
#[derive(Default)]
struct Memories {
    /// The reasons, each listed once.
    because: Vec<String>,
    /// The device itself keeps its data in memory.
    of_device: bool,
    /// There is a memory below a loop device or similar on a node.
    of_loop: bool,
    /// The page cache may have served data that was read ahead.
    read_ahead: bool,
    /// There is a memory behind a user-space daemon or a network.
    of_servers: bool,
    /// The page caches of the nodes held no data of the files before each pass, and no pass reads a byte twice.
    were_empty: bool,
    /// All data came from servers, as counted by the servers or the clients, so no memory of the nodes served any.
    over_wire: bool,
}

impl Memories {
    /// Returns `None` if all reads came from devices that have no memory below them.
    fn of(subject: &Subject<'_>, counted: &[&RepetitionFigure]) -> Option<Self> {
        let mut found = Self::default();
        let mut because = BTreeSet::new();
        (found.were_empty, found.over_wire) = (true, true);
        for pass in counted.iter().filter(|pass| reads(subject, pass)) {
            found.were_empty &= was_cold(subject, pass);
            let at_servers = servers::shown(pass);
            found.over_wire &= matches!(at_servers, Shown::FromServers | Shown::FromDisks);
            if let Some(cache) = pass.servers.as_deref().and_then(|counts| counts.caches.first()) {
                found.of_servers = true;
                because.insert(format!("a cache of the servers is on, {cache}"));
            }
            for warning in &pass.warnings {
                if let Warning::MemoryBelow { place, what } = warning {
                    found.of_device |= *place == CacheLocation::Device;
                    found.of_loop |= *place == CacheLocation::Node;
                    found.of_servers |= *place == CacheLocation::Server;
                    because.insert(what.clone());
                }
            }
            // The check for cached reads reports a smaller share.
            match pass.device_share.read {
                None if found.of_device || at_servers == Shown::FromDisks => {}
                None => {
                    found.of_servers = true;
                    because.insert(unknown(subject, pass));
                }
                Some(share) if subject.figure.is_concurrent && share < DEVICE_SHARE_MIN => {
                    because.insert(format!(
                        "the devices read {} of what all workloads at the time read, which does not show whose reads \
                         memory answered",
                        percent(share)
                    ));
                }
                Some(share) if is_amplified(subject, pass) => {
                    found.read_ahead = true;
                    because.insert(format!(
                        "the devices read {share:.1} times the bytes: read-ahead, or reads of others, hide \
                         what the page cache answered"
                    ));
                }
                Some(_) => {}
            }
        }
        // Data below a loop device, or in a server on the same node, is also in the memory of that node.
        let on_node = found.of_loop || found.of_servers && subject.client() == Client::LocalToServer;
        let caches = subject.target.and_then(|target| target.caches);
        found.were_empty &=
            !on_node && (!subject.figure.has_own_cache || caches.is_some_and(|caches| caches.0 > 0));
        found.over_wire &= !on_node;
        found.because = because.into_iter().collect();
        (!found.because.is_empty()).then_some(found)
    }

    /// The total size of these memories in bytes, or an `Err` with what the study has to state to make it known.
    fn held(&self, subject: &Subject<'_>) -> Result<u64, String> {
        let target = subject.target;
        let caches = target.and_then(|target| target.caches).map(|caches| caches.0);
        let of_nodes = if self.were_empty || self.over_wire { Some(0) } else { subject.figure.memory_bytes };
        let stated = target.and_then(|target| target.server_memory).map(|memory| memory.0);
        let of_servers = match self.of_servers && subject.client() != Client::LocalToServer {
            // No client and server together have no memory at all.
            true => stated.or(caches.filter(|&caches| caches > 0)),
            false => Some(stated.unwrap_or(0)),
        };
        match (of_nodes, of_servers) {
            (Some(nodes), Some(servers)) => Ok(nodes.saturating_add(servers).max(caches.unwrap_or(0))),
            (None, _) if subject.figure.provenance == Provenance::Imported => {
                caches.map(|caches| caches.max(stated.unwrap_or(0))).ok_or_else(|| {
                    "set caches = \"…\" (of clients, servers and controllers together) of a [[target]] in \
                     the terms (--terms)"
                        .to_owned()
                })
            }
            (None, _) => Err("measure it again: the record lacks the memory size of its nodes".to_owned()),
            (_, None) => Err(match subject.case.target.as_str() {
                "" => "write a study whose [[target]] sets server_memory = \"…\"".to_owned(),
                name => format!("set server_memory = \"…\" of the target {name}"),
            }),
        }
    }

    /// What is known about their sizes.
    fn sizes(&self, subject: &Subject<'_>) -> String {
        let nodes = match subject.figure.memory_bytes {
            _ if self.were_empty => "empty page caches on the nodes".to_owned(),
            _ if self.over_wire => "all bytes taken from servers".to_owned(),
            Some(bytes) => format!("{} of memory on the nodes", Bytes(bytes).both_units()),
            None => "an unknown amount of memory on the nodes".to_owned(),
        };
        let stated = subject.target.and_then(|target| target.server_memory);
        match stated {
            Some(bytes) => format!("{nodes}, {} on the servers", bytes.both_units()),
            None if self.of_servers && subject.client() != Client::LocalToServer => {
                format!("{nodes}, and the memory of the servers is not declared")
            }
            None => nodes,
        }
    }
}

/// Whether the page caches held no data of the files before a pass that reads no byte twice.
fn was_cold(subject: &Subject<'_>, pass: &RepetitionFigure) -> bool {
    /// The share that read-ahead and directories leave in the page cache.
    const RESIDENT_MAX: f64 = 0.01;
    let was_empty = pass.resident_share().is_some_and(|share| share <= RESIDENT_MAX);
    let once = pass.first_touches.is_some_and(|share| share >= 1.0 - RESIDENT_MAX);
    was_empty && once && subject.figure.phase == Phase::Read
}

/// Whether a pass reads data; an imported pass may not say how much.
pub(super) fn reads(subject: &Subject<'_>, pass: &RepetitionFigure) -> bool {
    let imported = subject.figure.provenance == Provenance::Imported;
    match subject.figure.phase {
        Phase::Read => true,
        Phase::Mixed if imported => true,
        Phase::Mixed | Phase::Load | Phase::Jobs => pass.phase.read_bytes > 0,
        _ if reads_items(subject) => imported || pass.phase.read_bytes > 0,
        _ => false,
    }
}

/// Whether the case only reads files or objects. A round over objects that also creates and removes them measures
/// a rate of names.
pub(super) fn reads_items(subject: &Subject<'_>) -> bool {
    let phase = subject.figure.phase;
    !phase.is_transfers() && subject.case.workload.work.kind().only_reads(phase)
}

/// Whether the devices read so much more than a buffered pass asked for, counted in whole pages, that their
/// counters do not show which of its transfers they served.
fn is_amplified(subject: &Subject<'_>, pass: &RepetitionFigure) -> bool {
    /// The page cache reads whole pages.
    const PAGE_BYTES: u64 = 4096;
    let workload = &subject.case.workload;
    let transfer = workload.geometry.transfer.0.next_multiple_of(PAGE_BYTES);
    let asked = pass.phase.reads.saturating_mul(transfer).max(pass.phase.read_bytes);
    let asked = asked.saturating_add(pass.beside.read_bytes);
    let device = pass.phase.device_read_bytes.unwrap_or(0);
    subject.figure.phase.is_transfers() && !workload.direct && device as f64 > asked as f64 * DEVICE_SHARE_MAX
}

fn unknown(subject: &Subject<'_>, pass: &RepetitionFigure) -> String {
    let reason = pass.warnings.iter().find(|warning| matches!(warning, Warning::DevicesUnknown { .. }));
    reason.map_or_else(
        || match subject.figure.provenance {
            Provenance::Imported => "an imported figure does not show where its bytes came from".to_owned(),
            _ => "device bytes unknown".to_owned(),
        },
        ToString::to_string,
    )
}

/// How many times larger than all memories the data must be. When data is read from front to back, the next byte
/// is always the least recently used one, so the multiple of study D is enough. In any other order the hit rate is
/// proportional to what the memories hold.
fn multiple(subject: &Subject<'_>) -> u64 {
    let streams = subject.case.workload.work.is_transfers() && subject.figure.phase == Phase::Read;
    match subject.case.order() {
        Some(Order::Sequential) if streams => SERVER_MEMORY_MULTIPLE,
        _ => CACHE_MULTIPLE,
    }
}

/// The minimum number of bytes moved between two uses of the same byte: all data, or what the shortest pass moved
/// if that is less, because the next pass starts with the same bytes. `None` if an imported text does not print how
/// much data there is.
fn distance(subject: &Subject<'_>) -> Option<Bytes> {
    let workload = &subject.case.workload;
    subject.case.volume()?;
    let footprint = match workload.order {
        Order::Same => workload.geometry.transfer.0.saturating_mul(u64::from(workload.tasks)),
        _ => workload.footprint().0,
    };
    let passes = subject.figure.repetitions.iter().map(|pass| pass.phase.bytes());
    Some(Bytes(passes.filter(|&bytes| bytes > 0).min().map_or(0, |bytes| bytes.min(footprint))))
}

/// Said where a text does not print how much data there is, or on how many nodes.
pub(super) const DATA_UNKNOWN: &str = "how much data each target holds is not printed";

/// The distance in words.
fn between(data: Option<Bytes>) -> String {
    match data {
        Some(data) => format!("{} between two reads of the same byte", data.both_units()),
        None => DATA_UNKNOWN.to_owned(),
    }
}
