//! Whether a case makes sense where it is to run: seconds, space and memory, before it starts.
//!
//! A [`crate::Forecast`] needs the case alone. An [`Outlook`] sets it against the
//! [`Surroundings`]: free space, memory and the rates that are expected, measured or assumed.

use std::path::{Path, PathBuf};

use crate::forecast::filled_before;
use crate::{Bytes, Case, Forecast, Nanos, Phase, Plan, Sharing, Workload};

/// A phase below this many seconds is mostly start, end and the burst that caches and token
/// buckets give away; study A's shortest lines took 1.8 s and say little.
pub const PHASE_SECONDS_MIN: f64 = 2.0;
/// Length that advice aims at: long enough for ten one-second samples.
pub const PHASE_SECONDS_ADVISED: f64 = 10.0;
/// A phase above this many seconds is taken for a slip in a size.
pub const PHASE_SECONDS_MAX: f64 = 3_600.0;
/// Above this share of the free space allocators slow down and flash has no room to move data.
pub const SPACE_SHARE_MAX: f64 = 0.90;
/// Buffered volume below this multiple of the memory can be answered from the page cache.
pub const MEMORY_MULTIPLE_MIN: f64 = 2.0;

/// What is known of the place where a plan is to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Surroundings {
    /// The file systems (or block devices) that the targets are on.
    pub spaces: Vec<Space>,
    /// Memory that the page cache may use; `None` where it is not known.
    pub memory: Option<Bytes>,
    /// What writing is expected to reach.
    pub write: ExpectedRate,
    /// What reading is expected to reach.
    pub read: ExpectedRate,
}

/// A file system, and which targets are on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// Its mount point, or the device's path.
    pub name: String,
    /// Bytes that this user may still write there.
    pub free: Bytes,
    /// Targets of the plan that are on it.
    pub targets: Vec<PathBuf>,
}

/// A rate, and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedRate {
    /// Most bytes per second, whatever the tasks and the depth.
    pub bytes_per_second: f64,
    /// Time of one small transfer, which limits few tasks at a low depth.
    pub transfer_time: Nanos,
    /// In words, as in `given with --expect` or `assumed`.
    pub source: String,
}

impl ExpectedRate {
    /// Stands in where nothing is known: a SATA-class solid-state disk.
    #[must_use]
    pub fn assumed() -> Self {
        Self { bytes_per_second: 500e6, transfer_time: Nanos(100_000), source: "assumed".to_owned() }
    }

    /// Bytes per second that `workload` is expected to reach: the limit of the storage, of one
    /// transfer's time at its depth and tasks (Little's law), or of its own pace.
    #[must_use]
    pub fn of(&self, workload: &Workload) -> f64 {
        let transfer = workload.geometry.transfer.0 as f64;
        let under_way = f64::from(workload.tasks) * f64::from(workload.backend.depth());
        let by_latency = under_way * transfer / self.transfer_time.as_secs_f64().max(1e-9);
        let by_pace = workload.pace.map_or(f64::INFINITY, |pace| pace.transfers_per_second * transfer);
        self.bytes_per_second.min(by_latency).min(by_pace)
    }
}

/// What one phase of a case is expected to move and take.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseOutlook {
    /// Which phase.
    pub phase: Phase,
    /// Bytes per second that it is expected to reach.
    pub bytes_per_second: f64,
    /// Bytes that it is expected to move: one pass, or what the clock allows.
    pub bytes: Bytes,
    /// Seconds that it is expected to take.
    pub seconds: f64,
    /// The clock ends it, not the volume.
    pub by_clock: bool,
}

/// What a case (or a plan) puts on one file system.
#[derive(Debug, Clone, PartialEq)]
pub struct SpaceOutlook {
    /// Mount point or device.
    pub name: String,
    /// Bytes that its files take there at the same time.
    pub needed: Bytes,
    /// Bytes free there.
    pub free: Bytes,
}

impl SpaceOutlook {
    /// Needed ÷ free.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.needed.0 as f64 / (self.free.0 as f64).max(1.0)
    }
}

/// What should be looked at before a case starts, with the number of segments that would do.
#[derive(Debug, Clone, PartialEq)]
pub enum Concern {
    /// A phase will be over before its rate means much.
    TooShort {
        /// The phase.
        outlook: PhaseOutlook,
        /// Segments for a phase of [`PHASE_SECONDS_ADVISED`]; none where the clock ends it.
        segments: Option<u64>,
    },
    /// A phase will take longer than anybody may want to wait.
    TooLong {
        /// The phase.
        outlook: PhaseOutlook,
        /// Segments for a phase of [`PHASE_SECONDS_MAX`]; none where one segment is too much.
        segments: Option<u64>,
    },
    /// The files will not fit.
    NoSpace {
        /// Where.
        space: SpaceOutlook,
        /// Segments that fit into [`SPACE_SHARE_MAX`] of the space; none where one is too much.
        segments: Option<u64>,
    },
    /// The files fit, but leave little room.
    LittleSpace {
        /// Where.
        space: SpaceOutlook,
        /// Segments that fit into [`SPACE_SHARE_MAX`] of the space; none where one is too much.
        segments: Option<u64>,
    },
    /// The memory can hold what goes through the page cache.
    Cacheable {
        /// Bytes of one pass.
        volume: Bytes,
        /// Memory.
        memory: Bytes,
        /// Segments for [`MEMORY_MULTIPLE_MIN`] times the memory.
        segments: u64,
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

/// The forecast of one case, set against where it is to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outlook {
    /// What it touches and moves.
    pub forecast: Forecast,
    /// What is written before the case because nothing before it is certain to have written it;
    /// known only where the cases before are, see [`outlooks`].
    pub fill: Option<PhaseOutlook>,
    /// Each phase of one repetition, in order.
    pub phases: Vec<PhaseOutlook>,
    /// Seconds of all repetitions, with their delays, and of the fill.
    pub seconds: f64,
    /// What its files take where.
    pub spaces: Vec<SpaceOutlook>,
    /// What should be looked at.
    pub concerns: Vec<Concern>,
}

impl Outlook {
    /// The outlook of `case`.
    ///
    /// ```
    /// use plan::{Bytes, Case, Concern, ExpectedRate, Geometry, Nanos, Outlook, Phase, Surroundings, WorkloadSpec};
    /// // Study A, layout 3: 33 tasks × 1 MiB × 1000 take 1.8 s at 18.8 GB/s.
    /// let geometry = Geometry { transfer: Bytes::mib(1), block: Bytes::mib(1), segments: 1000 };
    /// let mut spec = WorkloadSpec::new("gpfs", "file", geometry);
    /// (spec.tasks, spec.direct) = (33, true);
    /// let case = Case::new("gpfs", spec.validate()?, vec![Phase::Write]);
    /// let rate = ExpectedRate { bytes_per_second: 18.8e9, transfer_time: Nanos(0), source: "published".into() };
    /// let around = Surroundings { spaces: vec![], memory: None, write: rate.clone(), read: rate };
    /// let outlook = Outlook::of(&case, &around);
    /// assert!((outlook.seconds - 1.84).abs() < 0.01);
    /// assert!(matches!(outlook.concerns[0], Concern::TooShort { segments: Some(5434), .. }));
    /// # Ok::<(), plan::PlanError>(())
    /// ```
    #[must_use]
    pub fn of(case: &Case, around: &Surroundings) -> Self {
        let forecast = Forecast::of(case);
        let phases: Vec<PhaseOutlook> =
            case.phases.iter().map(|&phase| phase_outlook(case, phase, around)).collect();
        let one: f64 = phases.iter().map(|phase| phase.seconds + case.delay.as_secs_f64()).sum();
        let all = one * f64::from(case.repetitions);
        let seconds = case.time_limit.map_or(all, |limit| all.min(limit.as_secs_f64().max(one)));
        let spaces = spaces(case, around);
        let mut concerns = length_concerns(case, &phases);
        concerns.extend(space_concerns(case, &spaces));
        concerns.extend(memory_concern(case, around.memory));
        if forecast.balance_bound < 1.0 {
            let targets = u32::try_from(case.workload.files.targets.len()).unwrap_or(u32::MAX);
            let (tasks, bound) = (case.workload.tasks, forecast.balance_bound);
            concerns.push(Concern::Unbalanced { tasks, targets, bound });
        }
        Self { forecast, fill: None, phases, seconds, spaces, concerns }
    }
}

/// The outlook of every case of `plan`, and what all of them together put on each file system at
/// most: every set of files once, at its largest.
#[must_use]
pub fn outlooks(plan: &Plan, around: &Surroundings) -> (Vec<Outlook>, Vec<SpaceOutlook>) {
    let mut there = Vec::new();
    let with_fill = |case| {
        let mut outlook = Outlook::of(case, around);
        let bytes = filled_before(case, outlook.forecast.footprint, &mut there);
        if bytes.0 > 0 {
            let bytes_per_second = around.write.bytes_per_second.max(1.0);
            let seconds = bytes.0 as f64 / bytes_per_second;
            outlook.seconds += seconds;
            outlook.fill =
                Some(PhaseOutlook { phase: Phase::Fill, bytes_per_second, bytes, seconds, by_clock: false });
        }
        outlook
    };
    let all: Vec<Outlook> = plan.cases.iter().map(with_fill).collect();
    let totals = around.spaces.iter().map(|space| {
        let mut sets: Vec<(&crate::FileSet, u64)> = Vec::new();
        for (case, outlook) in plan.cases.iter().zip(&all) {
            let here = outlook.spaces.iter().find(|s| s.name == space.name).map_or(0, |s| s.needed.0);
            let files = &case.workload.files;
            match sets.iter_mut().find(|(other, _)| same_files(other, files)) {
                Some((_, most)) => *most = (*most).max(here),
                None => sets.push((files, here)),
            }
        }
        let needed = Bytes(sets.iter().map(|(_, most)| most).fold(0, |sum, &most| sum.saturating_add(most)));
        SpaceOutlook { name: space.name.clone(), needed, free: space.free }
    });
    let totals = totals.collect();
    (all, totals)
}

/// Whether two sets name the same files.
fn same_files(one: &crate::FileSet, other: &crate::FileSet) -> bool {
    let names = |set: &crate::FileSet| (set.sharing, set.unique_dir, set.file_per_repetition);
    one.targets == other.targets && names(one) == names(other)
}

fn phase_outlook(case: &Case, phase: Phase, around: &Surroundings) -> PhaseOutlook {
    let workload = &case.workload;
    let bytes_per_second = match phase {
        Phase::Mixed => mixed_rate(workload, around),
        _ if phase.writes() => around.write.of(workload),
        _ => around.read.of(workload),
    }
    .max(1.0);
    let volume = workload.bytes().0 as f64;
    let by_volume = volume / bytes_per_second;
    let (seconds, by_clock) = if !phase.is_result() {
        (by_volume, false)
    } else if let Some(duration) = workload.duration {
        (duration.as_secs_f64(), true)
    } else {
        match workload.stonewall {
            Some(stonewall) if !stonewall.wear_out && stonewall.deadline.as_secs_f64() < by_volume => {
                (stonewall.deadline.as_secs_f64(), true)
            }
            _ => (by_volume, false),
        }
    };
    let moved = if by_clock { seconds * bytes_per_second } else { volume };
    PhaseOutlook { phase, bytes_per_second, bytes: whole(moved), seconds, by_clock }
}

/// Reads and writes take turns, so times add up and rates do not.
fn mixed_rate(workload: &Workload, around: &Surroundings) -> f64 {
    let reads = f64::from(workload.read_percent) / 100.0;
    1.0 / (reads / around.read.of(workload) + (1.0 - reads) / around.write.of(workload))
}

fn length_concerns(case: &Case, phases: &[PhaseOutlook]) -> Vec<Concern> {
    let segments = case.workload.geometry.segments;
    let scaled = |outlook: &PhaseOutlook, seconds: f64| {
        (!outlook.by_clock).then(|| whole_up(segments as f64 * seconds / outlook.seconds))
    };
    let results = phases.iter().filter(|outlook| outlook.phase.is_result());
    let concern = |outlook: &PhaseOutlook| {
        if outlook.seconds < PHASE_SECONDS_MIN {
            let segments = scaled(outlook, PHASE_SECONDS_ADVISED);
            return Some(Concern::TooShort { outlook: outlook.clone(), segments });
        }
        if outlook.seconds > PHASE_SECONDS_MAX {
            let fitting = segments as f64 * PHASE_SECONDS_MAX / outlook.seconds;
            let segments = (!outlook.by_clock && fitting >= 1.0).then(|| whole(fitting).0);
            return Some(Concern::TooLong { outlook: outlook.clone(), segments });
        }
        None
    };
    results.filter_map(concern).collect()
}

/// What the files of `case` take on each file system that one of its targets is on.
fn spaces(case: &Case, around: &Surroundings) -> Vec<SpaceOutlook> {
    let files = &case.workload.files;
    let sets = if files.file_per_repetition { u64::from(case.repetitions) } else { 1 };
    let on = |space: &Space, target: &Path| space.targets.iter().any(|other| other == target);
    let needed = |space: &Space| -> Option<u64> {
        let here = files.targets.iter().enumerate().filter(|(_, target)| on(space, target));
        let bytes: Vec<u64> = here.map(|(index, _)| bytes_on_target(&case.workload, index)).collect();
        let sum = bytes.iter().fold(0_u64, |sum, &bytes| sum.saturating_add(bytes));
        (!bytes.is_empty()).then(|| sum.saturating_mul(sets))
    };
    let outlook = |space: &Space| {
        let needed = Bytes(needed(space)?);
        Some(SpaceOutlook { name: space.name.clone(), needed, free: space.free })
    };
    around.spaces.iter().filter_map(outlook).collect()
}

/// Tasks go round the targets; a shared file is on the first.
fn bytes_on_target(workload: &Workload, index: usize) -> u64 {
    match workload.files.sharing {
        Sharing::Shared if index == 0 => workload.bytes().0,
        Sharing::Shared => 0,
        Sharing::PerTask => {
            let (tasks, targets) = (workload.tasks as usize, workload.files.targets.len());
            let here = tasks / targets + usize::from(index < tasks % targets);
            workload.geometry.bytes_per_task().0.saturating_mul(here as u64)
        }
    }
}

fn space_concerns(case: &Case, spaces: &[SpaceOutlook]) -> Vec<Concern> {
    let segments = case.workload.geometry.segments;
    let concern = |space: &SpaceOutlook| {
        let share = space.share();
        if share <= SPACE_SHARE_MAX {
            return None;
        }
        let fitting = whole(segments as f64 * SPACE_SHARE_MAX / share).0;
        let (space, segments) = (space.clone(), (fitting >= 1).then_some(fitting));
        Some(if share > 1.0 {
            Concern::NoSpace { space, segments }
        } else {
            Concern::LittleSpace { space, segments }
        })
    };
    spaces.iter().filter_map(concern).collect()
}

fn memory_concern(case: &Case, memory: Option<Bytes>) -> Option<Concern> {
    let workload = &case.workload;
    let moves_data = !matches!(workload.backend, crate::Backend::Null);
    let memory = memory.filter(|memory| moves_data && !workload.direct && memory.0 > 0)?;
    let volume = workload.bytes();
    let short = memory.0 as f64 * MEMORY_MULTIPLE_MIN / volume.0 as f64;
    (short > 1.0).then(|| {
        let segments = whole_up(workload.geometry.segments as f64 * short);
        Concern::Cacheable { volume, memory, segments }
    })
}

/// Whole bytes (or segments) below a positive number.
fn whole(value: f64) -> Bytes {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative; `as` saturates at the ends"
    )]
    let floor = value.max(0.0) as u64;
    Bytes(floor)
}

fn whole_up(value: f64) -> u64 {
    whole(value.ceil()).0
}

#[cfg(test)]
mod tests {
    use super::{Concern, ExpectedRate, Outlook, Space, Surroundings, outlooks};
    use crate::{Bytes, Case, Geometry, Nanos, Phase, Plan, Question, Sharing, WorkloadSpec};

    fn around(free: u64, rate: f64) -> Surroundings {
        let rate =
            ExpectedRate { bytes_per_second: rate, transfer_time: Nanos(0), source: "test".to_owned() };
        Surroundings {
            spaces: vec![Space { name: "/t".into(), free: Bytes(free), targets: vec!["/t/f".into()] }],
            memory: Some(Bytes::gib(64)),
            write: rate.clone(),
            read: rate,
        }
    }

    fn case(tasks: u32, block: Bytes, segments: u64, change: impl FnOnce(&mut WorkloadSpec)) -> Case {
        let geometry = Geometry { transfer: block, block, segments };
        let mut spec = WorkloadSpec::new("w", "/t/f", geometry);
        spec.tasks = tasks;
        spec.direct = true;
        spec.files.sharing = Sharing::PerTask;
        change(&mut spec);
        Case::new("w", spec.validate().expect("valid"), vec![Phase::Write, Phase::Read])
    }

    #[test]
    fn published_volumes_against_twenty_four_terabytes() {
        let around = around(24_000_000_000_000, 24e9);
        let tight = Outlook::of(&case(132, Bytes::mib(16), 10_000, |_| ()), &around);
        assert_eq!(tight.forecast.footprint.0, 22_145_925_120_000);
        assert!(
            matches!(tight.concerns[0], Concern::LittleSpace { segments: Some(9753), .. }),
            "{:?}",
            tight.concerns
        );
        let over = Outlook::of(&case(264, Bytes::mib(16), 10_000, |_| ()), &around);
        let Some(Concern::NoSpace { segments: Some(segments), .. }) = over.concerns.first() else {
            panic!("{:?}", over.concerns)
        };
        let fits = Outlook::of(&case(264, Bytes::mib(16), *segments, |_| ()), &around);
        assert_eq!(fits.concerns, [], "the advice is good");
        let more = Outlook::of(&case(264, Bytes::mib(16), *segments + 1, |_| ()), &around);
        assert_ne!(more.concerns, [], "and no smaller than needed");
    }

    #[test]
    fn the_advised_segments_make_a_short_phase_long_enough() {
        let around = around(u64::MAX, 18.8e9);
        let short = Outlook::of(&case(33, Bytes::mib(1), 1_000, |_| ()), &around);
        let Some(Concern::TooShort { segments: Some(segments), .. }) = short.concerns.first() else {
            panic!("{:?}", short.concerns)
        };
        let longer = Outlook::of(&case(33, Bytes::mib(1), *segments, |_| ()), &around);
        assert!(longer.concerns.is_empty() && longer.phases[0].seconds >= 10.0, "{:?}", longer.phases);
    }

    #[test]
    fn a_phase_by_the_clock_is_not_measured_by_its_volume() {
        let timed = |seconds| {
            let case = case(1, Bytes::mib(1), 1, |s| s.duration = Some(Nanos::secs(seconds)));
            Outlook::of(&case, &around(u64::MAX, 1e9))
        };
        assert_eq!(timed(5).concerns, []);
        assert_eq!(timed(5).phases[0].bytes, Bytes(5_000_000_000));
        assert!(matches!(timed(1).concerns[0], Concern::TooShort { segments: None, .. }));
    }

    #[test]
    fn one_small_transfer_at_a_time_is_bound_by_its_latency() {
        let case = case(1, Bytes::kib(4), 1, |_| ());
        let rate =
            ExpectedRate { bytes_per_second: 1e9, transfer_time: Nanos(100_000), source: String::new() };
        assert!((rate.of(&case.workload) - 40_960_000.0).abs() < 1.0);
    }

    #[test]
    fn buffered_volume_below_the_memory_is_a_concern() {
        let buffered = case(1, Bytes::mib(1), 40_000, |s| s.direct = false);
        let outlook = Outlook::of(&buffered, &around(u64::MAX, 1e9));
        let expected =
            Concern::Cacheable { volume: Bytes::mib(40_000), memory: Bytes::gib(64), segments: 131_072 };
        assert_eq!(outlook.concerns, [expected]);
    }

    #[test]
    fn a_read_of_files_that_nothing_has_written_is_preceded_by_a_fill() {
        let fills = |phases: &[Phase]| {
            let mut case = case(1, Bytes::mib(100), 100, |s| s.files.fill = true);
            case.phases = phases.to_vec();
            let question = Question::Quick { directory: "/t".into() };
            let plan = Plan::new(String::new(), question, 0, vec![case.clone(), case]);
            outlooks(&plan, &around(u64::MAX, 1e9)).0.iter().map(|o| o.fill.is_some()).collect::<Vec<_>>()
        };
        assert_eq!(fills(&[Phase::Read]), [true, false]);
        assert_eq!(fills(&[Phase::Write, Phase::Read]), [false, false]);
    }

    #[test]
    fn thirty_three_tasks_on_twelve_targets_are_a_concern() {
        let case = case(33, Bytes::mib(1), 10_000, |s| {
            s.files.targets = (0..12).map(|d| format!("/t/{d}").into()).collect();
        });
        let outlook = Outlook::of(&case, &around(u64::MAX, 20e9));
        let [Concern::Unbalanced { tasks: 33, targets: 12, bound }] = outlook.concerns[..] else {
            panic!("{:?}", outlook.concerns)
        };
        assert!((bound - 0.9167).abs() < 1e-4);
    }

    #[test]
    fn cases_on_the_same_files_need_their_space_once() {
        let (small, large) = (case(1, Bytes::mib(1), 10, |_| ()), case(1, Bytes::mib(1), 30, |_| ()));
        let other = case(1, Bytes::mib(1), 5, |s| s.files.sharing = Sharing::Shared);
        let plan = Plan::new(
            String::new(),
            Question::Quick { directory: "/t".into() },
            0,
            vec![small, large, other],
        );
        let (all, spaces) = outlooks(&plan, &around(u64::MAX, 1e9));
        assert_eq!(all.len(), 3);
        assert_eq!(spaces[0].needed, Bytes::mib(35));
    }
}
