//! Warnings about a case before it starts.

use super::{PhaseEstimate, SpaceEstimate};
use crate::cases::criteria::CACHE_MULTIPLE;
use crate::placement::cross_node_reads::reads_from_others;
use crate::{Bytes, Case, Nanos, cross_node_reads};

/// A shorter phase is dominated by its start, its end and the burst of caches and token buckets; study A's
/// shortest rows took 1.8 s and are hardly meaningful.
pub const PHASE_SECONDS_MIN: f64 = 2.0;
/// With [`SHORT_PASSES_MIN`] passes, whose scatter is known, a phase may be as short as five of the 100 ms in which
/// kernels grant processor time and the rate of throttled devices.
pub const SHORT_SECONDS_MIN: f64 = 0.5;
/// The fewest passes of which a difference is shown.
pub const SHORT_PASSES_MIN: usize = 5;
/// So many operations for each that is in flight. The queue then drains in at most a third of the time, in which a
/// server with one queue is as busy as before, and one of several is not.
pub const SHORT_TURNS_MIN: f64 = 3.0;
/// Phase length that advice aims at: long enough for ten one-second samples.
pub const PHASE_SECONDS_ADVISED: f64 = 10.0;
/// A phase longer than this many seconds is taken for a typing error in a size.
pub const PHASE_SECONDS_MAX: f64 = 3_600.0;
/// Above this share of the free space, allocators slow down and flash has little spare area.
pub const SPACE_SHARE_MAX: f64 = 0.90;
/// Buffered volume below this multiple of the memory can be served from the page cache.
pub const MEMORY_MULTIPLE_MIN: f64 = 2.0;

/// A warning about a case before it starts, with the number of segments that would avoid it.
#[derive(Debug, Clone, PartialEq)]
pub enum Concern {
    /// A phase is too short for a meaningful rate.
    TooShort {
        /// The phase.
        estimate: PhaseEstimate,
        /// Segments for a phase of [`PHASE_SECONDS_ADVISED`], or of five times the duration that the
        /// protocol asks for. `None` if the clock or a count of operations ends the phase.
        segments: Option<u64>,
    },
    /// A phase takes unreasonably long.
    TooLong {
        /// The phase.
        estimate: PhaseEstimate,
        /// Segments for a phase of [`PHASE_SECONDS_MAX`]. `None` if even one segment takes longer.
        segments: Option<u64>,
    },
    /// The files will not fit.
    NoSpace {
        /// The file system.
        space: SpaceEstimate,
        /// Segments that fit into [`SPACE_SHARE_MAX`] of the space. `None` if even one does not fit.
        segments: Option<u64>,
    },
    /// The files fit, but leave little room.
    LittleSpace {
        /// The file system.
        space: SpaceEstimate,
        /// Segments that fit into [`SPACE_SHARE_MAX`] of the space. `None` if even one does not fit.
        segments: Option<u64>,
    },
    /// The memory of a node can hold the data that passes through its page cache.
    Cacheable {
        /// Bytes of one pass on the node with the most tasks.
        volume: Bytes,
        /// Memory of one node.
        memory: Bytes,
        /// Segments for [`MEMORY_MULTIPLE_MIN`] times the memory.
        segments: u64,
    },
    /// The caches of the target can hold more than a twentieth of the data.
    CachesTooLarge {
        /// Bytes of the case's files.
        volume: Bytes,
        /// Caches of clients, servers and controllers together.
        caches: Bytes,
        /// Caches ÷ volume: above 1 ÷ [`crate::CACHE_MULTIPLE`].
        share: f64,
        /// Segments for [`crate::CACHE_MULTIPLE`] times the caches.
        segments: u64,
    },
    /// Tasks meant to read data of other nodes read data of their own node, whose memory may serve it.
    ReadsOwnNode {
        /// The number of these tasks.
        tasks: u32,
        /// The number of all tasks.
        of: u32,
        /// A shift with which no task would do so, if there is one.
        distance: Option<u32>,
    },
    /// Some targets have one task more than others.
    Unbalanced {
        /// Number of tasks.
        tasks: u32,
        /// Number of targets.
        targets: u32,
        /// The share of the sum of all targets that can be reached.
        bound: f64,
    },
}

/// The seconds that a phase is below if it is too short for a rate: [`crate::Protocol::phase_min`] where it is given,
/// else [`PHASE_SECONDS_MIN`]. From [`SHORT_SECONDS_MIN`] on it is not if its case has [`SHORT_PASSES_MIN`] passes and
/// it made `turns`, its operations for each one that is in flight, at least [`SHORT_TURNS_MIN`] times: what is left of
/// the noise of a short phase then is scatter between passes, which every test counts.
#[must_use]
pub fn short_of(seconds: f64, phase_min: Nanos, passes: usize, turns: f64) -> Option<f64> {
    let is_known = passes >= SHORT_PASSES_MIN && turns >= SHORT_TURNS_MIN;
    let least = match phase_min {
        Nanos(0) if is_known => SHORT_SECONDS_MIN,
        Nanos(0) => PHASE_SECONDS_MIN,
        phase_min => phase_min.as_secs_f64(),
    };
    (seconds < least).then_some(least)
}

pub(super) fn length_concerns(case: &Case, phases: &[PhaseEstimate]) -> Vec<Concern> {
    let segments = case.workload.geometry.segments;
    let transfers = case.workload.work.is_transfers();
    let by_volume =
        |estimate: &PhaseEstimate| !estimate.by_clock && case.workload.operations.is_none() && transfers;
    let scaled = |estimate: &PhaseEstimate, seconds: f64| {
        by_volume(estimate).then(|| whole_up(segments as f64 * seconds / estimate.seconds.middle))
    };
    let asked = case.protocol.phase_min.as_secs_f64();
    let advised = match asked > 0.0 {
        true => asked * PHASE_SECONDS_ADVISED / PHASE_SECONDS_MIN,
        false => PHASE_SECONDS_ADVISED,
    };
    // The predicted duration for the directories of a tree is meaningless, and a guess for items is not good
    // enough for advice.
    let is_known = |estimate: &&PhaseEstimate| (transfers || estimate.by_clock) && !estimate.is_unknown();
    let results = phases.iter().filter(|estimate| estimate.phase.is_result()).filter(is_known);
    let concern = |estimate: &PhaseEstimate| {
        let by_bytes = || estimate.bytes.0 / case.workload.geometry.transfer.0.max(1);
        let operations = estimate.operations.unwrap_or_else(by_bytes) as f64;
        // What is not predicted is not said to be too little.
        let turns = case.in_flight().filter(|_| operations > 0.0);
        let turns = turns.map_or(f64::INFINITY, |in_flight| operations / in_flight.max(1.0));
        let passes = case.repetitions_least() as usize;
        if short_of(estimate.seconds.middle, case.protocol.phase_min, passes, turns).is_some() {
            let segments = scaled(estimate, advised);
            return Some(Concern::TooShort { estimate: estimate.clone(), segments });
        }
        if estimate.seconds.middle > PHASE_SECONDS_MAX {
            let fitting = segments as f64 * PHASE_SECONDS_MAX / estimate.seconds.middle;
            let segments = (by_volume(estimate) && fitting >= 1.0).then(|| whole(fitting).0);
            return Some(Concern::TooLong { estimate: estimate.clone(), segments });
        }
        None
    };
    results.filter_map(concern).collect()
}

pub(super) fn space_concerns(case: &Case, spaces: &[SpaceEstimate]) -> Vec<Concern> {
    let segments = case.workload.geometry.segments;
    let concern = |space: &SpaceEstimate| {
        let share = space.share();
        if share <= SPACE_SHARE_MAX {
            return None;
        }
        let fitting = whole(segments as f64 * SPACE_SHARE_MAX / share).0;
        let fits = fitting >= 1 && case.workload.work.is_transfers();
        let (space, segments) = (space.clone(), fits.then_some(fitting));
        Some(if share > 1.0 {
            Concern::NoSpace { space, segments }
        } else {
            Concern::LittleSpace { space, segments }
        })
    };
    spaces.iter().filter_map(concern).collect()
}

pub(super) fn memory_concern(case: &Case, memory: Option<Bytes>) -> Option<Concern> {
    let workload = &case.workload;
    // Names and small files are normally cached, and meant to be.
    let moves_data = workload.backend.moves_data() && workload.work.is_transfers();
    let memory = memory.filter(|memory| moves_data && !workload.direct && memory.0 > 0)?;
    let of_node = workload.tasks.div_ceil(workload.nodes);
    let volume = workload.footprint().min(workload.bytes());
    let volume = Bytes(volume.0 / u64::from(workload.tasks) * u64::from(of_node));
    let short = memory.0 as f64 * MEMORY_MULTIPLE_MIN / volume.0 as f64;
    (short > 1.0).then(|| {
        let segments = whole_up(workload.geometry.segments as f64 * short);
        Concern::Cacheable { volume, memory, segments }
    })
}

/// The caches as a share of the data, if that is too large (study E).
pub(super) fn cache_concern(case: &Case, volume: Bytes, caches: Bytes) -> Option<Concern> {
    let needed = caches.0.saturating_mul(CACHE_MULTIPLE);
    if volume.0 >= needed || volume.0 == 0 {
        return None;
    }
    let times = needed as f64 / volume.0 as f64;
    let segments = whole_up(case.workload.geometry.segments as f64 * times);
    Some(Concern::CachesTooLarge { volume, caches, share: caches.0 as f64 / volume.0 as f64, segments })
}

/// Whole bytes (or segments) below a positive number.
pub(super) fn whole(value: f64) -> Bytes {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative; `as` saturates at the ends"
    )]
    let floor = value.max(0.0) as u64;
    Bytes(floor)
}

/// A read across nodes that does not leave a task's own node.
pub(super) fn across_concern(case: &Case, node_of: &[u32]) -> Option<Concern> {
    if !reads_from_others(&case.workload, &case.phases) {
        return None;
    }
    // A run with too few processes is rejected when it starts.
    let reads = cross_node_reads(&case.workload, node_of).ok()??;
    (reads.own_node > 0).then_some(Concern::ReadsOwnNode {
        tasks: reads.own_node,
        of: reads.tasks,
        distance: reads.distance,
    })
}

fn whole_up(value: f64) -> u64 {
    whole(value.ceil()).0
}
