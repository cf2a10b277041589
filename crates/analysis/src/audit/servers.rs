//! What server and client counters show about the reads of a pass.

use crate::figures::{DEVICE_SHARE_MAX, DEVICE_SHARE_MIN, RepetitionFigure, ServerCounts};

/// What server and client counters show about the reads of a pass.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shown {
    /// Nothing.
    Nothing,
    /// A part of the reads was served from memory; described in words.
    Cached(String),
    /// The reads came from servers, which may have had the data in memory.
    FromServers,
    /// The reads came from the disks of servers.
    FromDisks,
}

/// What the counters show about the reads of `pass`. If the counters cover several mounts and clients, cache hits can
/// be hidden by reads of others, so counts above [`DEVICE_SHARE_MAX`] times the bytes show nothing. Reads of workloads at the
/// same time are in the counts, too: fewer bytes than the own ones show hits, but only as many as all read exclude them.
pub(super) fn shown(pass: &RepetitionFigure) -> Shown {
    let read = pass.phase.read_bytes;
    let Some(counts) = pass.servers.as_deref().filter(|_| read > 0) else { return Shown::Nothing };
    let share = |moved: Option<u64>| moved.map(|bytes| bytes as f64 / read as f64);
    let of_all = read as f64 / read.saturating_add(pass.beside.read_bytes) as f64;
    let [wire, served, disks, most] =
        [counts.over_wire[0], counts.at_servers[0], counts.from_disks, counts.from_disks_max].map(share);
    let less = |share: Option<f64>, what: &str, instead: &str| {
        let share = share.filter(|&share| share < DEVICE_SHARE_MIN)?;
        Some(format!("{what} {:.1} % of the bytes that tasks read: {instead}", share * 100.0))
    };
    let cached = less(wire, "over the wire, the clients took", "their caches answered the rest")
        .or_else(|| {
            let instead = "a cache before them answered the rest, or not all servers were asked";
            less(served, "the servers handed out", instead)
        })
        .or_else(|| {
            let instead = "their memory answered the rest, or not all servers were asked";
            less(most, "the disks of the servers read at most", instead)
        });
    let all = |share: Option<f64>| {
        share.is_some_and(|share| (DEVICE_SHARE_MIN..=DEVICE_SHARE_MAX).contains(&(share * of_all)))
    };
    match cached {
        Some(words) => Shown::Cached(words),
        None if all(disks) => Shown::FromDisks,
        None if all(wire) || all(served) => Shown::FromServers,
        None => Shown::Nothing,
    }
}

/// Storage targets that hold the files but moved nothing, and other targets that moved bytes. Returns `None` if both
/// sets agree or are not known.
pub(super) fn elsewhere(counts: &ServerCounts, is_concurrent: bool) -> Option<String> {
    if counts.asked.is_empty() || counts.used.is_empty() {
        return None;
    }
    let names = |some: Vec<&String>, what: &str| {
        let named: Vec<&str> = some.iter().take(NAMED_MAX).map(|name| name.as_str()).collect();
        let more = if some.len() > NAMED_MAX { " …" } else { "" };
        (!some.is_empty()).then(|| format!("{}{more} {what}", named.join(", ")))
    };
    let idle = names(counts.asked.difference(&counts.used).collect(), "moved nothing");
    // Those of workloads at the same time are no others.
    let others = counts.used.difference(&counts.asked).filter(|_| !is_concurrent).collect();
    let others = names(others, "moved bytes but hold none of the files");
    let told: Vec<String> = idle.into_iter().chain(others).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// The maximum number of storage targets that are named.
const NAMED_MAX: usize = 8;
