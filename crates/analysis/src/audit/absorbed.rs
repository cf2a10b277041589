//! Checks whether written data was on stable storage when the timing ended, and whether the amount exceeds what
//! caches hold back.
//!
//! A commitment about writes is only kept if the data survives a power loss. Either an fsync inside the timed part
//! shows that, or the devices that received the data during the timed part have no volatile caches. Data in a
//! battery-backed cache is safe but says nothing about the storage behind the cache, so either much more data than
//! the caches hold has to be written, or a steady state has to be reached (SNIA Solid State Storage Performance Test
//! Specification).

use std::collections::BTreeSet;

use plan::{Amount, Asked, Bytes, CACHE_MULTIPLE, Client, Commitment, FigureQuantity, RateName, Stopping};
use record::{CacheLocation, Fact, HostFacts, Provenance, Run, Warning, option_against_fsync};

use super::issue::{AuditIssue, RawIssue, percent};
use super::memory::DATA_UNKNOWN;
use crate::audit::Check;
use crate::figures::{DEVICE_SHARE_MIN, Figure, RepetitionFigure, Subject, subjects};
use crate::nodes::hosts;
use crate::statistics::settled::settled;

/// How many times the servers' memory has to be written. An fsync flushes that memory, unless the server replies
/// before its data is on stable storage.
const SERVER_MULTIPLE: u64 = 2;
/// The setting that puts an fsync into the timed part.
const ADVICE: &str = "set fsync = \"close\" (ior: -e)";

/// Doubts about write figures that a cache may have absorbed. Only figures that a commitment refers to are checked.
pub(crate) fn absorbed(run: &Run, figures: &[Figure]) -> Vec<AuditIssue> {
    let all: Vec<&HostFacts> = [&run.manifest.host].into_iter().chain(hosts(run)).collect();
    let plan = &run.manifest.plan;
    let doubt = |subject: &Subject<'_>| {
        let (case, phase) = (subject.case, subject.figure.phase);
        let is_about = |promise: &&Commitment| promise.figures.takes(case, phase);
        let promises: Vec<&Commitment> = plan.criteria.commitments.iter().filter(is_about).collect();
        let (evidence, advice) = absorbs(subject, &promises, &all)?;
        let found = RawIssue::new(Check::AbsorbedWrites, evidence, advice);
        Some(found.of(Some(subject.index), subject.figure.conditions.clone()))
    };
    subjects(plan, figures).iter().filter_map(doubt).collect()
}

/// What may have absorbed the writes of a figure, and what would settle the question.
fn absorbs(
    subject: &Subject<'_>,
    promises: &[&Commitment],
    hosts: &[&HostFacts],
) -> Option<(String, String)> {
    let (figure, workload) = (subject.figure, &subject.case.workload);
    let counted: Vec<&RepetitionFigure> = figure.counted().collect();
    let made_up = !workload.backend.moves_data();
    let writes = match figure.provenance {
        Provenance::Imported => figure.phase.writes(),
        _ => counted.iter().any(|one| one.phase.write_bytes > 0),
    };
    if promises.is_empty() || !writes || made_up {
        return None;
    }
    let warnings = || counted.iter().flat_map(|one| &one.warnings);
    let in_memory = |warning: &Warning| match warning {
        Warning::MemoryBelow { place: CacheLocation::Device, what } => Some(what.clone()),
        _ => None,
    };
    if let Some(what) = warnings().find_map(in_memory) {
        return Some((what, "commit to figures of storage that is not backed by memory".to_owned()));
    }
    // The number of files or objects created per second does not show where their data is.
    let is_of_bytes = |promise: &&&Commitment| match promise.asked {
        Asked::Amount(amount) => matches!(amount, Amount::BytesPerSecond(_)),
        Asked::OfReference { of, .. } => of == FigureQuantity::Rate,
    };
    if !figure.phase.is_transfers() && !promises.iter().any(|promise| is_of_bytes(&promise)) {
        return None;
    }
    let lost = |warning: &Warning| match warning {
        Warning::NotDurable { what } => Some(what.clone()),
        _ => None,
    };
    if let Some(what) = warnings().find_map(lost) {
        return Some((what, "commit to writes of storage all of whose layers keep them".to_owned()));
    }
    let shares: Option<Vec<f64>> = counted.iter().map(|one| one.device_share.write).collect();
    let at_devices = shares.and_then(|shares| shares.into_iter().reduce(f64::min));
    let by_devices = at_devices.is_some_and(|share| share >= DEVICE_SHARE_MIN);
    // An imported text that prints no fsync says nothing about one.
    let is_printed = subject.case.sync().is_some();
    let outside = promises.iter().find(|promise| !has_close(promise)).filter(|_| workload.sync.at_close);
    let is_timed = workload.sync.per_write
        || workload.sync.at_close && outside.is_none()
        || workload.work.tree().is_some_and(|tree| tree.sync);
    if let Some(what) = fsync_is_off(subject, hosts).filter(|_| is_timed) {
        return Some((what, "mount it without that option".to_owned()));
    }
    if !is_timed {
        let volatile = volatile(figure, hosts);
        let why = match volatile.first() {
            _ if !by_devices => Some(match at_devices {
                Some(share) => format!("the devices had written {} of the data", percent(share)),
                None => "no device counters show where the data was".to_owned(),
            }),
            Some(Ok(name)) => Some(format!("{name} has a volatile write cache")),
            Some(Err(name)) => Some(format!("whether {name} has a volatile write cache is not known")),
            None => None,
        };
        if let Some(why) = why {
            return Some(match outside {
                None if is_printed => {
                    (format!("no fsync inside the timed part, and {why}"), ADVICE.to_owned())
                }
                None => (
                    format!("whether an fsync is inside the timed part is not printed, and {why}"),
                    "import a text that prints it, with the command line".to_owned(),
                ),
                Some(promise) => (
                    format!("the timing of {} ends before the fsync at close, and {why}", promise.name),
                    "set fsync = \"each\", or commit to a rate by wall time".to_owned(),
                ),
            });
        }
    }
    too_few(subject, &counted, by_devices)
}

/// The mount on which an fsync does not reach the medium, if the file system of a target has one. Records of earlier
/// versions have no [`Warning::NotDurable`].
fn fsync_is_off(subject: &Subject<'_>, hosts: &[&HostFacts]) -> Option<String> {
    let targets = &subject.case.workload.files.targets;
    targets.iter().find_map(|target| {
        let mount = hosts.iter().find_map(|host| host.file_system_of(target))?;
        let option = option_against_fsync(&mount.options)?;
        Some(format!("{} is mounted with {option}: fsync does not reach stable storage", mount.mount_point))
    })
}

/// Whether the rate in the commitment includes the time of the close.
fn has_close(promise: &Commitment) -> bool {
    !promise.asked.is_of_latency() && promise.rate == RateName::ByWall
}

/// The devices with volatile write caches, and those for which this is not known.
fn volatile(figure: &Figure, hosts: &[&HostFacts]) -> Vec<Result<String, String>> {
    let names: BTreeSet<&str> = figure.devices.iter().map(|(name, _)| name.as_str()).collect();
    let of = |name: &str| {
        // With several nodes, device names are prefixed with the name of their node.
        let (node, device) =
            name.rsplit_once(':').map_or((None, name), |(node, device)| (Some(node), device));
        let here = |host: &&&HostFacts| node.is_none_or(|node| host.node == node);
        let mut facts = hosts
            .iter()
            .filter(here)
            .flat_map(|host| &host.devices)
            .filter(|one| one.name == device)
            .peekable();
        if facts.peek().is_none() {
            return Some(Err(name.to_owned()));
        }
        let caches: Vec<_> = facts.map(|device| &device.volatile_write_cache).collect();
        match () {
            () if caches.iter().any(|cache| **cache == Fact::Known(true)) => Some(Ok(name.to_owned())),
            () if caches.iter().all(|cache| **cache == Fact::Known(false)) => None,
            () => Some(Err(name.to_owned())),
        }
    };
    let mut found: Vec<_> = names.into_iter().filter_map(of).collect();
    found.sort_by_key(Result::is_err);
    found
}

/// Whether a pass wrote too little compared with the cache sizes and was not in a steady state.
fn too_few(
    subject: &Subject<'_>,
    counted: &[&RepetitionFigure],
    by_devices: bool,
) -> Option<(String, String)> {
    let of = |value: fn(&plan::TargetDescription) -> Option<Bytes>| {
        subject.target.and_then(value).map(|held| held.0)
    };
    let (caches, memory) = (of(|one| one.caches), of(|one| one.server_memory));
    let is_near = by_devices || subject.client() == Client::LocalToServer;
    if caches.is_none() && memory.is_none() {
        let what = "the caches and the memory of the servers are not declared".to_owned();
        let name = match subject.case.target.as_str() {
            "" => "the [[target]]",
            name => name,
        };
        let advice =
            format!("set caches = \"…\" or server_memory = \"…\" of {name}, or set until = \"steady\"");
        return (!by_devices).then_some((what, advice));
    }
    let memory = memory.filter(|_| !is_near).unwrap_or(0).saturating_mul(SERVER_MULTIPLE);
    let needed = Bytes(caches.unwrap_or(0).saturating_mul(CACHE_MULTIPLE).max(memory));
    let known = subject.targets_of_all_nodes().filter(|_| subject.case.volume().is_some() || needed.0 == 0);
    let Some(targets) = known else {
        return Some((DATA_UNKNOWN.to_owned(), format!("use {} of data or more", needed.both_units())));
    };
    let all_of = |bytes: u64| Bytes(bytes / u64::from(targets));
    let data = all_of(subject.case.workload.footprint().0);
    if data < needed {
        let evidence =
            format!("caches may hold much of the {} that are overwritten repeatedly", data.both_units());
        return Some((evidence, format!("use {} of data or more", needed.both_units())));
    }
    let stopping = subject.case.protocol.stopping;
    let rates: Vec<f64> = subject.figure.headline_of_passes();
    if matches!(stopping, Stopping::Steady { .. }) && settled(&rates, stopping) {
        return None;
    }
    let written = all_of(counted.iter().map(|one| one.phase.write_bytes).min().unwrap_or(0));
    (written < needed).then(|| {
        let evidence = format!("{} written in a pass may be in caches", written.both_units());
        let advice = format!("write {} or more in a pass, or set until = \"steady\"", needed.both_units());
        (evidence, advice)
    })
}
