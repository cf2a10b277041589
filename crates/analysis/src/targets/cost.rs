//! The cost of targets relative to their performance, where data that is mostly read should be placed, and whether it
//! fits.

use std::collections::HashMap;
use std::path::Path;

use plan::{Case, FileSystemSpace, JobSpace, Phase, Plan, TargetDescription};
use record::{FileSystemFacts, Run};

use crate::audit::Use;
use crate::figures::{LARGE_TRANSFER, Subject, grouped};
use crate::gate::{
    Gate, Kind, Of, Stated, Statement,
    table::{Column, bandwidth, bytes, count, detail, flag, number, seconds, share, subject, word},
};
use crate::jobs::Timeline;

/// From this ratio of read rate to write rate on, a target is suited for data that is mostly read.
pub const READ_FAVOURED_RATIO: f64 = 1.25;
/// A file system with at least this share of a capacity has that capacity: its metadata takes the rest.
const AGREES_PERCENT: u64 = 90;
/// Bytes in the TB for which the cost is given.
const TERABYTE: f64 = 1e12;

/// The time of a figure multiplied by the hardware it used.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// Median wall time of the counted passes, in seconds.
    pub seconds: f64,
    /// Wall time for one TB at the figure's rate, in seconds, which is comparable even if passes moved different
    /// amounts.
    pub seconds_per_tb: f64,
    /// The number of devices; 0 if the study does not give it.
    pub devices: u32,
    /// Rack units, or whatever else is counted; 0 if not given.
    pub rack_units: f64,
    /// The number of ports; 0 if not given.
    pub(crate) ports: u32,
}

/// The time × the count, if the count is given.
fn times(seconds: f64, count: impl Into<f64>) -> Option<f64> {
    let count = count.into();
    (count > 0.0).then_some(seconds * count)
}

impl Statement for Cost {
    const KIND: Kind = Kind::Cost;
    const OF: Of = Of::Target;
    const CAPTION: &'static str = "Time × devices, × rack units and × ports, of the best figure of each target; for 1 TB, since passes may have moved different amounts.";
    const COLUMNS: &'static [Column<Self>] = &[
        seconds("seconds", "run time", "median wall time of the passes that count", |one| Some(one.seconds)),
        seconds("seconds_per_tb", "per TB", "wall time for 1 TB at its rate", |one| Some(one.seconds_per_tb)),
        seconds("device_seconds", "× devices", "run time × devices", |one| times(one.seconds, one.devices)),
        seconds("rack_unit_seconds", "× rack units", "run time × rack units", |one| {
            times(one.seconds, one.rack_units)
        }),
        seconds("port_seconds", "× ports", "run time × ports", |one| times(one.seconds, one.ports)),
        seconds("device_seconds_per_tb", "per TB × devices", "time for 1 TB × devices", |one| {
            times(one.seconds_per_tb, one.devices)
        }),
        seconds("rack_unit_seconds_per_tb", "per TB × rack units", "time for 1 TB × rack units", |one| {
            times(one.seconds_per_tb, one.rack_units)
        }),
        seconds("port_seconds_per_tb", "per TB × ports", "time for 1 TB × ports", |one| {
            times(one.seconds_per_tb, one.ports)
        }),
    ];
}

/// The kind of data that a target is suited for.
#[derive(Debug, Clone, PartialEq)]
pub struct Placement {
    /// Bytes per second of its best figure of large reads.
    pub read: f64,
    /// The same of large writes.
    pub write: f64,
    /// Whether it is suited for data that is mostly read: the ratio was shown to be at least [`READ_FAVOURED_RATIO`],
    /// or shown to be below. `None` if the repetitions leave that open.
    pub for_reads: Option<bool>,
    /// Share of reads in the bytes of all counted passes on it.
    pub read_share: f64,
}

impl Statement for Placement {
    const KIND: Kind = Kind::Placement;
    const OF: Of = Of::Target;
    const CAPTION: &'static str = "Which data suits which target, by its best large transfers.";
    const COLUMNS: &'static [Column<Self>] = &[
        bandwidth(
            "read_bytes_per_second",
            "read",
            "its best figure of large reads, the first in `figures`",
            |one| Some(one.read),
        ),
        bandwidth(
            "write_bytes_per_second",
            "write",
            "its best figure of large writes, the second in `figures`",
            |one| Some(one.write),
        ),
        number("ratio", "read ÷ write", "read ÷ write", |one| Some(one.read / one.write)),
        word("for", "for", "which data it suits; empty where the repetitions leave it open", |one| {
            one.for_reads.map_or("", |for_reads| if for_reads { "what is mostly read" } else { "either" })
        }),
        share(
            "read_share",
            "read share of this run",
            "share of reads in the bytes that this run moved on it",
            |one| Some(one.read_share),
        ),
    ];
}

/// Whether something fits on a target.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The target.
    pub(crate) target: String,
    /// The number of devices and of slots for them, if both are given.
    pub slots: Option<(u32, u32)>,
    /// The bytes to be stored and the target's capacity, if that is given.
    pub bytes: Option<(u64, u64)>,
    /// The capacity according to the study, if the observed file systems are smaller; the capacity of those is in
    /// `bytes`.
    pub studied_capacity: Option<u64>,
    /// Whether the bytes are what the study says the real work needs; otherwise they are those of its own workloads.
    pub said: bool,
}

impl Fit {
    /// Whether all of it fits.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.slots.is_none_or(|(devices, slots)| devices <= slots)
            && self.bytes.is_none_or(|(needed, capacity)| needed <= capacity)
    }
}

impl Statement for Fit {
    const KIND: Kind = Kind::Fit;
    const OF: Of = Of::Nothing;
    const CAPTION: &'static str = "Whether there are slots for the devices and room for the data";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(word("target", "target", "The target.", |one| &one.target)),
        flag("fits", "fits", "Whether all of it fits.", |one| Some(one.fits())),
        count("devices", "devices", "Devices, where slots are stated.", |one| Some(one.slots?.0.into())),
        count("slots", "slots", "Slots available for them.", |one| Some(one.slots?.1.into())),
        bytes("needed", "needed", "Bytes to be stored.", |one| Some(one.bytes?.0)),
        detail(flag(
            "needed_by_real_work",
            "needed by real work",
            "The study states what is needed; otherwise it is the study's own data.",
            |one| Some(one.said),
        )),
        bytes("capacity", "capacity", "Bytes available.", |one| Some(one.bytes?.1)),
        bytes(
            "studied_capacity",
            "capacity in the study",
            "The capacity that the study states, where the actual file systems are smaller.",
            |one| one.studied_capacity,
        ),
    ];
}

/// The best transfer figure of each target and phase whose devices or rack units are given in the study, if they are
/// given for at least two targets.
#[must_use]
pub(crate) fn costs(gate: &Gate<'_>) -> Vec<Stated<Cost>> {
    let has_terms =
        |one: &&Subject<'_>| one.target.is_some_and(|target| target.rack_units > 0.0 || target.ports > 0);
    let counted = gate.subjects.iter().filter(|one| has_cost(one.figure.phase) && rate(one) > 0.0);
    let groups = grouped(counted.filter(has_terms), |one| (one.case.target.as_str(), one.figure.phase));
    if groups.iter().all(|all| all[0].case.target == groups[0][0].case.target) {
        return Vec::new();
    }
    let stated = |all: Vec<&Subject<'_>>| {
        let best = gate.best(&all)?.best;
        Some(gate.state(vec![best.index], cost(best)?))
    };
    groups.into_iter().filter_map(stated).collect()
}

/// Whether the phase has transfers or jobs, so that time and bytes of its passes measure the target.
const fn has_cost(phase: Phase) -> bool {
    phase.is_transfers() || matches!(phase, Phase::Jobs)
}

fn rate(subject: &Subject<'_>) -> f64 {
    subject.figure.bytes_per_second.median
}

fn cost(subject: &Subject<'_>) -> Option<Cost> {
    let target: &TargetDescription = subject.target?;
    let mut walls: Vec<u64> = subject.figure.counted().map(|pass| pass.phase.wall_ns).collect();
    walls.sort_unstable();
    let seconds = *walls.get(walls.len() / 2)? as f64 / 1e9;
    let seconds_per_tb = TERABYTE / rate(subject);
    let TargetDescription { devices, rack_units, ports, .. } = *target;
    Some(Cost { seconds, seconds_per_tb, devices, rack_units, ports })
}

/// Every target whose cost or data the study describes, and that was both read and written in large transfers.
#[must_use]
pub(crate) fn placements(gate: &Gate<'_>) -> Vec<Stated<Placement>> {
    let says = |target: &&TargetDescription| {
        target.rack_units > 0.0 || target.capacity.is_some() || target.slots > 0
    };
    let placement = |target: &TargetDescription| {
        let (read, write) = large_rates(gate, &target.name).filter(|(_, write)| write.1 > 0.0)?;
        let (mut reads, mut all) = (0.0, 0.0);
        let of_target = gate.subjects.iter().filter(|one| one.case.target == target.name);
        for pass in of_target.flat_map(|one| one.figure.counted()) {
            reads += pass.phase.read_bytes as f64;
            all += pass.phase.bytes() as f64;
        }
        let value = Placement {
            read: read.1,
            write: write.1,
            for_reads: for_reads(gate, read.0, write.0),
            read_share: if all > 0.0 { reads / all } else { 0.0 },
        };
        Some(gate.state_as(Use::Compared, vec![read.0, write.0], value))
    };
    gate.plan.described_targets().filter(says).filter_map(placement).collect()
}

/// Whether the interval of reads ÷ writes is above [`READ_FAVOURED_RATIO`], or below it.
fn for_reads(gate: &Gate<'_>, read: usize, write: usize) -> Option<bool> {
    let found = gate.difference(gate.subject(write)?, gate.subject(read)?, 1)?;
    let (low, high) = found.interval.map(|(low, high)| (1.0 + low, 1.0 + high))?;
    let is_open = low < READ_FAVOURED_RATIO && high >= READ_FAVOURED_RATIO;
    (!is_open).then_some(low >= READ_FAVOURED_RATIO)
}

/// The best figures of large reads and of large writes on `target`, each with its bytes per second.
pub(crate) fn large_rates(gate: &Gate<'_>, target: &str) -> Option<((usize, f64), (usize, f64))> {
    let of = |phase: Phase| {
        let these = gate.subjects.iter().filter(|one| one.case.target == target && one.figure.phase == phase);
        let large: Vec<_> = these.filter(|one| one.case.transfer() >= Some(LARGE_TRANSFER)).collect();
        let best = gate.best(&large)?.best;
        Some((best.index, rate(best)))
    };
    of(Phase::Read).zip(of(Phase::Write))
}

/// Whether there are slots for the devices of each target and room for its data, if the study gives the numbers.
/// `spaces` are the file systems on which the targets are or will be.
#[must_use]
pub fn fits(plan: &Plan, spaces: &[FileSystemSpace]) -> Vec<Fit> {
    fits_with(plan, &[], |target| free_of(plan, spaces, target))
}

/// The same as [`fits`], with the use of work and utility space by jobs as observed, and the file systems of the host
/// and of the layouts of `run`.
pub(crate) fn fits_of(run: &Run, timelines: &[Timeline]) -> Vec<Fit> {
    fits_with(&run.manifest.plan, timelines, |target| capacity_of(run, target))
}

fn fits_with(plan: &Plan, timelines: &[Timeline], capacity: impl Fn(&str) -> Option<u64>) -> Vec<Fit> {
    let held = most(timelines.iter().map(|one| {
        let bytes = one.spaces.iter().filter_map(|space| space.held_at_most_bytes).sum::<u64>();
        (one.case.as_str(), bytes)
    }));
    // The cases of a sweep replace each other's files.
    let put = most(plan.cases.iter().flat_map(|case| {
        let workload = &case.workload;
        let jobs = workload.work.jobs().map(|jobs| {
            let planned =
                JobSpace::ALL.map(|space| jobs.needs(space).0).into_iter().fold(0, u64::saturating_add);
            let held = held.get(case.id.as_str()).copied().unwrap_or(0);
            planned.max(jobs.loaded_bytes().0.saturating_add(held))
        });
        let files = (!workload.work.makes_trees()).then(|| {
            let placement = plan::Placement::new(workload);
            placement.file_bytes().0.saturating_mul(u64::from(placement.file_count()))
        });
        jobs.into_iter().chain(files).map(|bytes| (case.target.as_str(), bytes))
    }));
    let fit = |target: &TargetDescription| {
        let own = put.get(target.name.as_str()).copied().unwrap_or(0);
        let needed = target.needs.map_or(own, |bytes| bytes.0);
        let slots = (target.slots > 0 && target.devices > 0).then_some((target.devices, target.slots));
        let said = target.capacity.filter(|_| needed > 0).map(|capacity| capacity.0);
        let there = capacity(&target.name);
        let smaller = there.filter(|&there| said.is_some_and(|said| there < said / 100 * AGREES_PERCENT));
        let bytes = said.map(|said| (needed, smaller.unwrap_or(said)));
        (slots.is_some() || bytes.is_some()).then(|| Fit {
            target: target.name.clone(),
            slots,
            bytes,
            studied_capacity: said.filter(|_| smaller.is_some()),
            said: target.needs.is_some(),
        })
    };
    plan.described_targets().filter_map(fit).collect()
}

/// The largest number of bytes for each name.
fn most<'a>(all: impl Iterator<Item = (&'a str, u64)>) -> HashMap<&'a str, u64> {
    all.fold(HashMap::new(), |mut most, (name, bytes)| {
        let known = most.entry(name).or_default();
        *known = bytes.max(*known);
        most
    })
}

/// Free bytes of the file systems that hold the directories of `target`. Returns `None` if one of them is not known.
fn free_of(plan: &Plan, spaces: &[FileSystemSpace], target: &str) -> Option<u64> {
    let on = |path: &Path| spaces.iter().find(|space| space.targets.iter().any(|one| one == path));
    total(plan, target, |_, path| on(path), |space| space.free.0)
}

/// Total size of the file systems that hold the directories of `target`: of the host, or of the last time that the
/// target's layout was made. Returns `None` if one of them is not known.
fn capacity_of(run: &Run, target: &str) -> Option<u64> {
    let of_layout = |name: &str, path: &Path| {
        let made = run.layouts.iter().rev().filter(|made| made.layout == name);
        let of_path = |one: &&FileSystemFacts| path.starts_with(&one.mount_point);
        made.filter_map(|made| {
            made.file_systems.iter().filter(of_path).max_by_key(|one| one.mount_point.len())
        })
        .next()
    };
    let on = |case: &Case, path: &Path| match &case.layout {
        Some(layout) => of_layout(layout, path),
        None => run.manifest.host.file_system_of(path),
    };
    total(
        &run.manifest.plan,
        target,
        |case, path| on(case, path).filter(|one| one.size_bytes > 0),
        |one| one.size_bytes,
    )
}

/// The sum of `bytes` of all different file systems `on` which the directories of `target` are.
fn total<'a, F: PartialEq + 'a>(
    plan: &Plan,
    target: &str,
    on: impl Fn(&Case, &Path) -> Option<&'a F>,
    bytes: impl Fn(&F) -> u64,
) -> Option<u64> {
    let mut found: Vec<&F> = Vec::new();
    for case in plan.cases.iter().filter(|case| case.target == target) {
        for path in &case.workload.files.targets {
            let file_system = on(case, path)?;
            if !found.contains(&file_system) {
                found.push(file_system);
            }
        }
    }
    (!found.is_empty()).then(|| found.into_iter().map(bytes).fold(0, u64::saturating_add))
}
