//! How far the values of one workload can be lowered, and the settings that do so.

use std::path::PathBuf;

use super::cost::whole_up;
use super::limits::{FOOTPRINT_MIN, PASS_SECONDS_MIN, TRANSFERS_MIN};
use crate::study::WrittenWorkload;
use crate::work::kind::halvings;
use crate::{
    Bytes, CACHE_MULTIPLE, Case, CaseEstimate, MEMORY_MULTIPLE_MIN, Nanos, PHASE_SECONDS_MIN, Plan,
    SERVER_MEMORY_MULTIPLE, SHORT_PASSES_MIN, SettingValue, Sharing, Stopping, TargetDescription,
};

/// Keys of amounts: they are not changed where one of them is swept.
pub(super) const AMOUNTS: [&str; 8] =
    ["size", "block", "segments", "items_per_directory", "precreated", "steps", "scale", "operations"];
/// Keys of how much is under way; the largest of their values need the most.
pub(super) const LOADS: [&str; 3] = ["tasks", "tasks_per_node", "nodes"];
/// Keys of times that end a phase.
const CLOCKS: [&str; 3] = ["duration", "stonewall", "phase_max"];
/// A steady state needs some rounds before the window that counts.
const STEADY_WINDOWS: u32 = 2;

/// A workload with its cases, and how far its values can be lowered. Sizes are divided by powers of two, whose
/// exponents are given here.
#[derive(Debug)]
pub(super) struct ScaledWorkload<'p> {
    pub(super) written: &'p WrittenWorkload,
    pub(super) cases: Vec<&'p Case>,
    /// Whether an amount is swept, so that its sizes stay.
    is_fixed: bool,
    /// The largest exponent with enough transfers and files that are large enough.
    pub(super) exponent_max: u32,
    /// The largest exponent with which the caches of the target, which nothing bypasses, hold no more than before.
    pub(super) exponent_caches: u32,
    /// The largest exponent with which the page cache does not hold more than before.
    pub(super) exponent_uncached: u32,
    /// The largest exponent with which a pass is long enough. `None` if the volume does not end it.
    pub(super) exponent_of_time: Option<u32>,
    /// Whether files are filled before it, which takes time by their sizes.
    pub(super) is_filled: bool,
    /// Whether it can bypass the page cache instead.
    pub(super) can_be_direct: bool,
    /// The key of the time that ends its phases, and the time.
    clock: Option<(&'static str, u64)>,
    targets: Vec<&'p PathBuf>,
}

impl<'p> ScaledWorkload<'p> {
    pub(super) fn new(
        written: &'p WrittenWorkload,
        plan: &'p Plan,
        estimates: &[CaseEstimate],
        memory: Option<Bytes>,
    ) -> Option<Self> {
        let own = || plan.cases.iter().zip(estimates).filter(|(case, _)| case.group == written.name);
        let cases: Vec<&Case> = own().map(|(case, _)| case).collect();
        let first = *cases.first()?;
        let target = |case: &Case| plan.criteria.targets.iter().find(|target| target.name == case.target);
        let is_fixed = AMOUNTS.iter().any(|key| *key != "operations" && written.is_swept(key));
        let exponent_max = match is_fixed {
            true => 0,
            false => cases.iter().map(|case| exponent_max(case)).min().unwrap_or(0),
        };
        let caches = |case: &&Case| exponent_caches(case, target(case));
        let uncached = |case: &&Case| memory.map_or(u32::MAX, |memory| exponent_uncached(case, memory));
        let of_time = own().filter_map(|(case, estimate)| exponent_of_time(case, estimate)).min();
        let clock = CLOCKS.into_iter().find_map(|key| Some((key, written.integer(key)?)));
        let mut targets: Vec<&PathBuf> = cases.iter().flat_map(|case| &case.workload.files.targets).collect();
        targets.sort();
        targets.dedup();
        Some(Self {
            written,
            is_fixed,
            exponent_max,
            exponent_caches: cases.iter().map(caches).min().unwrap_or(u32::MAX),
            exponent_uncached: cases.iter().map(uncached).min().unwrap_or(u32::MAX),
            exponent_of_time: of_time,
            is_filled: own().any(|(_, one)| one.fill.is_some() || one.precondition.is_some()),
            can_be_direct: !written.is_swept("direct") && cases.iter().all(|case| can_be_direct(case)),
            clock: clock.filter(|_| clock_of(first).is_some()),
            cases,
            targets,
        })
    }

    /// Whether both use the same files, whose sizes are then lowered alike. Where sizes are swept, they are not.
    pub(super) fn shares_files(&self, other: &Self) -> bool {
        let has_one_size =
            |one: &Self| !one.is_fixed && one.cases.iter().all(|case| case.workload.work.is_transfers());
        has_one_size(self)
            && has_one_size(other)
            && self.targets.iter().any(|target| other.targets.contains(target))
    }

    /// The shortest pass.
    fn seconds_min(&self) -> f64 {
        self.cases.iter().map(|case| seconds_min(case)).fold(0.0, f64::max)
    }

    /// How many times its durations, or its numbers of operations, can become smaller.
    pub(super) fn shortest(&self) -> f64 {
        let of_clock = self.clock.map_or(1.0, |(_, nanos)| nanos as f64 / 1e9 / self.seconds_min());
        let operations = self.written.integer("operations");
        let of_operations = operations.map_or(1.0, |all| all as f64 / self.operations_min() as f64);
        of_clock.max(of_operations).max(1.0)
    }

    /// The fewest operations of a pass that ends by their number.
    fn operations_min(&self) -> u64 {
        self.cases.iter().map(|case| transfers_min(case)).max().unwrap_or(1).max(1)
    }

    /// The settings with sizes divided by 2^`exponent`.
    pub(super) fn sizes(&self, exponent: u32) -> Vec<(&'static str, String)> {
        if exponent == 0 {
            return Vec::new();
        }
        let written = self.written;
        let halved = |key: &'static str| {
            let value = written.integer(key)?;
            Some((key, (value >> exponent.min(63)).max(1).to_string()))
        };
        let work = &self.cases[0].workload.work;
        if work.jobs().is_some() {
            let scale = written.number("scale").unwrap_or(1.0) / 2_f64.powi(exponent.cast_signed());
            return vec![("scale", format!("{scale:.12}"))];
        }
        match work.is_transfers() {
            true => match (written.integer("size"), written.integer("block")) {
                (Some(size), _) => {
                    vec![("size", in_bytes(whole(size >> exponent.min(63), self.unit(true))))]
                }
                (None, Some(block)) => {
                    let segments = written.integer("segments").unwrap_or(1);
                    let of_segments = exponent.min(segments.max(1).ilog2());
                    let block = whole(block >> (exponent - of_segments).min(63), self.unit(false));
                    vec![("block", in_bytes(block)), ("segments", (segments >> of_segments).to_string())]
                }
                (None, None) => Vec::new(),
            },
            false => work.kind().halved_keys().iter().copied().filter_map(halved).collect(),
        }
    }

    /// The setting with which its data need not be there.
    pub(super) fn filled(&self) -> Option<(&'static str, String)> {
        let case = self.cases[0];
        let reads = case.workload.work.is_transfers()
            && case.phases.first().is_some_and(|phase| phase.needs_data())
            && case.protocol.precondition == 0;
        (reads && !self.written.is_swept("fill")).then(|| ("fill", "true".to_owned()))
    }

    /// What a size is a multiple of, so that each task has whole transfers.
    fn unit(&self, of_files: bool) -> u64 {
        let of = |case: &&Case| {
            let workload = &case.workload;
            let shared = of_files && workload.files.sharing == Sharing::Shared;
            let sharers = if shared { u64::from(workload.tasks) } else { 1 };
            workload.geometry.transfer.0.saturating_mul(sharers)
        };
        self.cases.iter().map(of).fold(1, least_common_multiple)
    }

    /// The settings with times divided by `factor`.
    pub(super) fn times(&self, factor: f64) -> Vec<(&'static str, String)> {
        let mut settings = Vec::new();
        if let Some((key, nanos)) = self.clock {
            /// Durations are whole tenths of a second.
            const TENTH: f64 = 1e8;
            let least = self.seconds_min() * 1e9;
            let wanted = (nanos as f64 / factor).max(least);
            let tenths = whole_up(wanted / TENTH);
            let shorter = tenths.saturating_mul(100);
            if shorter < nanos / 1_000_000 {
                settings.push((key, format!("{shorter}ms")));
            }
        }
        if let Some(operations) = self.written.integer("operations") {
            let fewer = whole_up(operations as f64 / factor).max(self.operations_min());
            if fewer < operations {
                settings.push(("operations", fewer.to_string()));
            }
        }
        settings
    }

    /// The number of repetitions after `fewer` were given up, if that is less.
    pub(super) fn repetitions(&self, fewer: u32) -> Option<u32> {
        if self.written.is_swept("repetitions") {
            return None;
        }
        let case = self.cases[0];
        let left = case.repetitions.saturating_sub(fewer).max(repetitions_min(case));
        (left < case.repetitions).then_some(left)
    }

    /// The number of repetitions that can be given up.
    pub(super) fn spare_repetitions(&self) -> u32 {
        let case = self.cases[0];
        case.repetitions - repetitions_min(case)
    }

    /// The settings of a protocol with `step` parts of its preparation given up: pauses, warm-ups, early rounds.
    pub(super) fn preparation(&self, step: u32) -> Vec<(&'static str, String)> {
        let case = self.cases[0];
        let mut settings = Vec::new();
        let mut set = |is_given_up: bool, key: &'static str, value: &str| {
            if is_given_up && !self.written.is_swept(key) {
                settings.push((key, value.to_owned()));
            }
        };
        set(step >= 1 && case.delay.0 > 0, "delay", "0s");
        set(step >= 2 && case.protocol.warm_up > 0, "warm_up", "0");
        set(step >= 2 && case.protocol.precondition > 1, "precondition", "1");
        set(step >= 3 && case.protocol.rounds > 1, "rounds", "1");
        settings
    }
}

/// The number of steps of [`ScaledWorkload::preparation`].
pub(super) const PREPARATION_STEPS: u32 = 3;

fn repetitions_min(case: &Case) -> u32 {
    let least = match case.protocol.stopping {
        Stopping::Count => u32::try_from(SHORT_PASSES_MIN).unwrap_or(u32::MAX),
        Stopping::Interval { least, .. } => least,
        Stopping::Steady { window, .. } => window.saturating_mul(STEADY_WINDOWS),
    };
    least.min(case.repetitions)
}

fn seconds_min(case: &Case) -> f64 {
    match repetitions_min(case) as usize >= SHORT_PASSES_MIN {
        true => PASS_SECONDS_MIN,
        false => PHASE_SECONDS_MIN,
    }
}

fn transfers_min(case: &Case) -> u64 {
    TRANSFERS_MIN * u64::from(case.workload.backend.depth())
}

/// The largest exponent with enough transfers for a task, and files that are large enough.
fn exponent_max(case: &Case) -> u32 {
    let workload = &case.workload;
    let most = workload.work.kind().halvings(workload, TRANSFERS_MIN);
    match workload.work.is_transfers() {
        true => most.min(halvings(workload.footprint().0, FOOTPRINT_MIN.0)),
        false => most,
    }
}

/// The largest exponent with which the files are as large beside the caches of the target as they have to be, unless
/// they are too small as they are.
fn exponent_caches(case: &Case, target: Option<&TargetDescription>) -> u32 {
    let (Some(target), true) = (target, case.workload.work.is_transfers()) else { return u32::MAX };
    let footprint = case.workload.footprint().0;
    let caches = target.caches.map(|caches| caches.0.saturating_mul(CACHE_MULTIPLE));
    let memory = target.server_memory.map(|memory| memory.0.saturating_mul(SERVER_MEMORY_MULTIPLE));
    let limits = caches.into_iter().chain(memory).filter(|limit| (1..=footprint).contains(limit));
    limits.map(|limit| halvings(footprint, limit)).min().unwrap_or(u32::MAX)
}

/// The largest exponent with which the page cache of a node holds no more of the data than as it is.
fn exponent_uncached(case: &Case, memory: Bytes) -> u32 {
    let workload = &case.workload;
    let Some(volume) = workload.work.kind().cached_bytes(workload) else { return u32::MAX };
    let needed = memory.0 as f64 * MEMORY_MULTIPLE_MIN;
    if memory.0 == 0 || (volume as f64) < needed {
        return u32::MAX;
    }
    halvings(volume, whole_up(needed))
}

/// The largest exponent with which the shortest phase that ends by its volume is long enough. `None` if there is none.
fn exponent_of_time(case: &Case, estimate: &CaseEstimate) -> Option<u32> {
    let workload = &case.workload;
    if workload.duration.is_some() || workload.operations.is_some() {
        return None;
    }
    let seconds = estimate.phases.iter().filter(|phase| phase.phase.is_result()).map(|phase| {
        let by_volume = match workload.work.is_transfers() {
            true => workload.bytes().0 as f64 / phase.bytes_per_second.middle.max(1.0),
            false => phase.seconds.middle,
        };
        // A pass that is not predicted does not hold others back.
        if phase.is_unknown() || by_volume <= 0.0 { f64::INFINITY } else { by_volume }
    });
    let shortest = match workload.work.is_transfers() {
        true => seconds.fold(f64::INFINITY, f64::min),
        // The phases of a tree or of jobs are of very different lengths; the longest is what takes the time.
        false => seconds.filter(|seconds| seconds.is_finite()).fold(0.0, f64::max),
    };
    let ratio = (shortest / seconds_min(case)).log2().floor();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to 63; `as` saturates at the ends"
    )]
    Some(ratio.clamp(0.0, 63.0) as u32)
}

/// The deadline or the duration that ends phases of `case`.
pub(super) fn clock_of(case: &Case) -> Option<Nanos> {
    case.workload.duration.or(case.workload.stonewall.map(|stonewall| stonewall.deadline))
}

/// Whether direct I/O is possible, and measures the same but for the page cache.
fn can_be_direct(case: &Case) -> bool {
    case.workload.work.kind().can_be_direct(&case.workload)
}

fn whole(bytes: u64, unit: u64) -> u64 {
    (bytes / unit).max(1).saturating_mul(unit)
}

fn in_bytes(bytes: u64) -> String {
    SettingValue::Bytes(Bytes(bytes)).exact()
}

fn least_common_multiple(one: u64, other: u64) -> u64 {
    let (mut a, mut b) = (one.max(1), other.max(1));
    while b != 0 {
        (a, b) = (b, a % b);
    }
    (one.max(1) / a).saturating_mul(other.max(1))
}
