//! What targets cost for what they give, where data that is mostly read should lie, and whether it fits.

use std::collections::HashMap;

use plan::{Bytes, Phase, Placement, Plan, TargetTerms};

use crate::Figure;
use crate::subject::{Subject, subjects};
use crate::timeline::Timeline;

/// Transfers from this size on tell of rates in bytes.
const LARGE_TRANSFER: Bytes = Bytes::kib(64);
/// From this ratio of its read rate to its write rate on a target is the place for what is mostly read.
pub const READ_FAVOURED_RATIO: f64 = 1.25;
/// Bytes of the TB for which cost is told.
const TERABYTE: f64 = 1e12;

/// The time of a figure times what it took.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// The figure: the best of its target, phase and order.
    pub figure: usize,
    /// The target.
    pub target: String,
    /// The phase.
    pub phase: Phase,
    /// Median wall time of the passes that count, in seconds.
    pub seconds: f64,
    /// Wall time for one TB at its rate, in seconds: comparable where passes moved different amounts.
    pub seconds_per_tb: f64,
    /// Devices; 0 where the study does not say.
    pub devices: u32,
    /// Rack units, ports or what else is counted; 0 where not said.
    pub rack_units: f64,
    /// Time of the run × devices, in seconds.
    pub device_seconds: Option<f64>,
    /// Time of the run × rack units.
    pub rack_unit_seconds: Option<f64>,
    /// The same for one TB.
    pub device_seconds_per_tb: Option<f64>,
    /// The same for one TB.
    pub rack_unit_seconds_per_tb: Option<f64>,
}

/// Which data a target is for.
#[derive(Debug, Clone, PartialEq)]
pub struct Placing {
    /// The target.
    pub target: String,
    /// Its best figure of large reads, and of large writes.
    pub figures: (usize, usize),
    /// Bytes per second of them.
    pub rates: (f64, f64),
    /// Read ÷ write.
    pub ratio: f64,
    /// From [`READ_FAVOURED_RATIO`] on: it is for what is mostly read.
    pub for_reads: bool,
    /// Share of reads in the bytes of all passes that count on it.
    pub read_share: f64,
}

/// Whether something fits on a target.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The target.
    pub target: String,
    /// Devices and the slots for them, where both are said.
    pub slots: Option<(u32, u32)>,
    /// Bytes that are to be there and its capacity, where that is said.
    pub bytes: Option<(u64, u64)>,
    /// The bytes are those that the study says the real work needs; else those of its own workloads.
    pub said: bool,
}

impl Fit {
    /// All of it fits.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.slots.is_none_or(|(devices, slots)| devices <= slots)
            && self.bytes.is_none_or(|(needed, capacity)| needed <= capacity)
    }
}

/// The best figure of transfers of each target and phase whose devices or rack units the study counts, where it
/// counts them for two targets or more.
#[must_use]
pub fn costs(plan: &Plan, figures: &[Figure]) -> Vec<Cost> {
    costs_of(&subjects(plan, figures))
}

/// As [`costs`], of figures that were looked up already.
pub(crate) fn costs_of(subjects: &[Subject<'_>]) -> Vec<Cost> {
    let mut best: Vec<(&str, Phase, &Subject<'_>)> = Vec::new();
    for subject in subjects.iter().filter(|subject| has_cost(subject.figure.phase)) {
        if subject.target.is_none_or(|terms| terms.rack_units <= 0.0) || rate(subject) <= 0.0 {
            continue;
        }
        let (target, phase) = (subject.case.target.as_str(), subject.figure.phase);
        match best.iter_mut().find(|(name, of, _)| *name == target && *of == phase) {
            Some((.., known)) if rate(subject) > rate(known) => *known = subject,
            Some(_) => {}
            None => best.push((target, phase, subject)),
        }
    }
    let several = best.iter().any(|(name, ..)| *name != best[0].0);
    if !several {
        return Vec::new();
    }
    best.into_iter().filter_map(|(_, _, subject)| cost(subject)).collect()
}

/// Transfers and jobs: passes whose time and bytes are what a target gives.
const fn has_cost(phase: Phase) -> bool {
    phase.is_transfers() || matches!(phase, Phase::Jobs)
}

fn rate(subject: &Subject<'_>) -> f64 {
    subject.figure.bytes_per_second.median
}

fn cost(subject: &Subject<'_>) -> Option<Cost> {
    let terms: &TargetTerms = subject.target?;
    let mut walls: Vec<u64> = subject.figure.counted().map(|pass| pass.phase.wall_ns).collect();
    walls.sort_unstable();
    let seconds = *walls.get(walls.len() / 2)? as f64 / 1e9;
    let seconds_per_tb = TERABYTE / rate(subject);
    let devices = (terms.devices > 0).then_some(f64::from(terms.devices));
    let units = (terms.rack_units > 0.0).then_some(terms.rack_units);
    Some(Cost {
        figure: subject.index,
        target: terms.name.clone(),
        phase: subject.figure.phase,
        seconds,
        seconds_per_tb,
        devices: terms.devices,
        rack_units: terms.rack_units,
        device_seconds: devices.map(|count| count * seconds),
        rack_unit_seconds: units.map(|count| count * seconds),
        device_seconds_per_tb: devices.map(|count| count * seconds_per_tb),
        rack_unit_seconds_per_tb: units.map(|count| count * seconds_per_tb),
    })
}

/// Every target of which the study says what it costs or holds, and that was both read and written in large
/// transfers.
#[must_use]
pub fn placings(plan: &Plan, figures: &[Figure]) -> Vec<Placing> {
    placings_of(plan, &subjects(plan, figures))
}

/// As [`placings`], of figures that were looked up already.
pub(crate) fn placings_of(plan: &Plan, subjects: &[Subject<'_>]) -> Vec<Placing> {
    let says = |terms: &&TargetTerms| terms.rack_units > 0.0 || terms.capacity.is_some() || terms.slots > 0;
    let placing = |terms: &TargetTerms| {
        let (read, write) = large_rates(subjects, &terms.name)?;
        let ratio = (write.1 > 0.0).then(|| read.1 / write.1)?;
        let (mut reads, mut all) = (0.0, 0.0);
        let of_target = subjects.iter().filter(|one| one.case.target == terms.name);
        for pass in of_target.flat_map(|one| one.figure.counted()) {
            reads += pass.phase.read_bytes as f64;
            all += pass.phase.bytes() as f64;
        }
        Some(Placing {
            target: terms.name.clone(),
            figures: (read.0, write.0),
            rates: (read.1, write.1),
            ratio,
            for_reads: ratio >= READ_FAVOURED_RATIO,
            read_share: if all > 0.0 { reads / all } else { 0.0 },
        })
    };
    plan.described_targets().filter(says).filter_map(placing).collect()
}

/// The best figure of large reads on `target` and that of large writes, each with its bytes per second.
pub(crate) fn large_rates(subjects: &[Subject<'_>], target: &str) -> Option<((usize, f64), (usize, f64))> {
    let of = |phase: Phase| {
        let these = subjects.iter().filter(|one| one.case.target == target && one.figure.phase == phase);
        let large = these.filter(|one| one.case.workload.geometry.transfer >= LARGE_TRANSFER);
        large.max_by(|a, b| rate(a).total_cmp(&rate(b))).map(|one| (one.index, rate(one)))
    };
    of(Phase::Read).zip(of(Phase::Write))
}

/// Whether the devices of each target have slots and its data has room, where the study says how much there is.
#[must_use]
pub fn fits(plan: &Plan) -> Vec<Fit> {
    fits_of(plan, &[])
}

/// As [`fits`], with what jobs were seen to hold in work and utility space beside their tables.
pub(crate) fn fits_of(plan: &Plan, timelines: &[Timeline]) -> Vec<Fit> {
    let mut put: HashMap<&str, u64> = HashMap::new();
    let mut held: HashMap<&str, u64> = HashMap::new();
    for one in timelines {
        let bytes = one.spaces.iter().filter_map(|space| space.held_at_most_bytes).sum::<u64>();
        let known = held.entry(&one.case).or_default();
        *known = bytes.max(*known);
    }
    for (case, jobs) in plan.cases.iter().filter_map(|case| Some((case, case.workload.work.jobs()?))) {
        let bytes = jobs.loaded_bytes().0 + held.get(case.id.as_str()).copied().unwrap_or(0);
        let known = put.entry(&case.target).or_default();
        *known = bytes.max(*known);
    }
    for case in plan.cases.iter().filter(|case| !case.workload.work.makes_trees()) {
        let placement = Placement::new(&case.workload);
        let bytes = placement.file_bytes().0.saturating_mul(u64::from(placement.file_count()));
        let known = put.entry(&case.target).or_default();
        // Cases of a sweep replace each other's files.
        *known = bytes.max(*known);
    }
    let fit = |terms: &TargetTerms| {
        let own = put.get(terms.name.as_str()).copied().unwrap_or(0);
        let needed = terms.needs.map_or(own, |bytes| bytes.0);
        let slots = (terms.slots > 0 && terms.devices > 0).then_some((terms.devices, terms.slots));
        let bytes = terms.capacity.filter(|_| needed > 0).map(|capacity| (needed, capacity.0));
        (slots.is_some() || bytes.is_some()).then(|| Fit {
            target: terms.name.clone(),
            slots,
            bytes,
            said: terms.needs.is_some(),
        })
    };
    plan.described_targets().filter_map(fit).collect()
}
