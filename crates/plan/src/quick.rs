//! The plan of `ioproof run --quick DIR`: what a storage can do, in about a minute.
//!
//! All cases share one file, which is filled once: reads find data, and writes go over blocks that
//! are allocated already. Each case is ended by the clock, because nobody knows yet how fast the
//! storage is. The direct cases come first and the cached ones last, since pages in the cache would
//! slow direct transfers down.
//!
//! ```
//! use plan::quick::{QuickSurroundings, plan};
//! let quick = plan(QuickSurroundings {
//!     directory: "/mnt/scratch".into(),
//!     free_bytes: 500 << 30,
//!     memory_available_bytes: 16 << 30,
//!     direct_supported: true,
//!     logical_block_bytes: 512,
//!     seed: 1,
//!     uring: true,
//! })?;
//! assert_eq!(quick.plan.cases[0].title, "Sequential write, 1 MiB");
//! assert!(quick.notes.is_empty());
//! # Ok::<(), plan::PlanError>(())
//! ```

use std::path::PathBuf;

use crate::seeds::named_seed;
use crate::{
    Backend, Bytes, Case, Existing, FileSet, Geometry, Nanos, Order, Phase, Plan, PlanError, Question,
    Sharing, WorkloadSpec,
};

/// Below this much free space a run could fill the file system under its users.
pub const FREE_BYTES_MIN: u64 = 64 << 20;
/// The data takes one part in so many of the free space: allocators slow down on a full disk.
pub const FREE_SHARE: u64 = 10;
/// A disk of 170 MB/s writes this in the time of the first case; a larger set would have to be
/// filled for longer than a minute on a slow one.
pub const WORKING_SET_MAX: u64 = 1 << 30;
/// 4096 places for random transfers of 4 KiB: fewer would be repeated within a second.
pub const WORKING_SET_MIN: u64 = 16 << 20;
/// Larger than the caches of common processors, so that it is the page cache that answers.
pub const CACHED_SET_MAX: u64 = 256 << 20;
/// Linux starts to write dirty pages back at 10 % of the available memory; one part in 16 stays
/// below that, so that a cached case measures the cache alone.
pub const MEMORY_SHARE: u64 = 16;
/// Sets are whole multiples of this: eight tasks with whole transfers of 1 MiB.
const GRAIN: u64 = 8 << 20;

/// Transfers of the sequential cases: as long as block layers split them only a few times.
const LARGE: u64 = 1 << 20;
/// Transfers of the random cases: a page.
const SMALL: u64 = 4 << 10;
/// The smallest transfer of any device.
const SECTOR: u64 = 512;

/// What is known of the place that is to be characterised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuickSurroundings {
    /// Where the data file is to be.
    pub directory: PathBuf,
    /// Bytes that this user may still write there.
    pub free_bytes: u64,
    /// Memory that the page cache may take.
    pub memory_available_bytes: u64,
    /// A file there can be opened with `O_DIRECT`.
    pub direct_supported: bool,
    /// The alignment that a direct transfer needs; 512 where it is not known.
    pub logical_block_bytes: u64,
    /// Chooses orders, the data and the name of the data file.
    pub seed: u64,
    /// This process may use io_uring.
    pub uring: bool,
}

/// The plan, and what a reader has to know of how it came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Quick {
    /// One case for each figure.
    pub plan: Plan,
    /// Whole sentences: what was left out or replaced, and why.
    pub notes: Vec<String>,
}

/// The plan for a directory.
///
/// # Errors
/// There is too little free space; the error says how much is needed.
pub fn plan(surroundings: QuickSurroundings) -> Result<Quick, PlanError> {
    surroundings.enough_space()?;
    let sizes = Sizes::of(&surroundings);
    let mut cases = Vec::new();
    for &route in sizes.routes() {
        for figure in sizes.figures(route) {
            cases.push(figure.case(route, &sizes, &surroundings)?);
        }
    }
    let notes = sizes.notes(&surroundings);
    let plan = Plan::new(
        format!("Quick characterisation of {}", surroundings.directory.display()),
        Question::Quick { directory: surroundings.directory },
        surroundings.seed,
        cases,
    );
    Ok(Quick { plan, notes })
}

impl QuickSurroundings {
    /// Refuses a place whose users would be in need of space.
    pub(crate) fn enough_space(&self) -> Result<(), PlanError> {
        if self.free_bytes >= FREE_BYTES_MIN {
            return Ok(());
        }
        let (directory, free) = (self.directory.display(), Bytes(self.free_bytes).both_units());
        Err(PlanError::new(
            "directory",
            format!("{directory} has {free} free, too little for a quick run"),
            format!("free at least {} there, or name another directory", Bytes(FREE_BYTES_MIN)),
        ))
    }
}

/// How transfers of a case reach the storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    /// Around the page cache.
    Direct,
    /// Through the page cache, because there is no other way.
    Buffered,
    /// Through the page cache, on data that it holds.
    Cached,
}

impl Route {
    fn id_prefix(self) -> &'static str {
        match self {
            Self::Direct => "",
            Self::Buffered => "buffered-",
            Self::Cached => "cached-",
        }
    }

    fn title_suffix(self) -> &'static str {
        match self {
            Self::Direct => "",
            Self::Buffered => ", through the page cache",
            Self::Cached => ", cached",
        }
    }
}

/// Sizes that follow from the surroundings.
pub(crate) struct Sizes {
    direct: bool,
    pub(crate) working_set: u64,
    cached_set: u64,
    /// Transfers of the random cases.
    small: u64,
    /// The smallest direct transfer.
    smallest: u64,
}

impl Sizes {
    pub(crate) fn of(surroundings: &QuickSurroundings) -> Self {
        let block = surroundings.logical_block_bytes.max(1).next_power_of_two();
        let share = surroundings.free_bytes / FREE_SHARE;
        let working_set = whole_grains(share.clamp(WORKING_SET_MIN, WORKING_SET_MAX));
        let in_memory = (surroundings.memory_available_bytes / MEMORY_SHARE).clamp(GRAIN, CACHED_SET_MAX);
        let direct = surroundings.direct_supported && block <= LARGE;
        Self {
            direct,
            working_set,
            cached_set: whole_grains(in_memory).min(working_set),
            small: if direct { SMALL.max(block) } else { SMALL },
            smallest: if direct { SECTOR.max(block) } else { SECTOR },
        }
    }

    pub(crate) fn routes(&self) -> &'static [Route] {
        if self.direct { &[Route::Direct, Route::Cached] } else { &[Route::Buffered] }
    }

    /// The figures of a route, in the order in which they are measured. The write brings the data
    /// into the cache for the cached reads; random writes come last because some file systems
    /// scatter the data with them.
    pub(crate) fn figures(&self, route: Route) -> Vec<Figure> {
        let small = self.small;
        let mut figures = vec![
            Figure::stream("seq-write", Phase::Write),
            Figure::stream("seq-read", Phase::Read),
            Figure::random("rand-read-d1", Phase::Read, small, 1),
            Figure::random("rand-read-d32", Phase::Read, small, 32),
        ];
        if route != Route::Direct || self.smallest <= SECTOR {
            figures.push(Figure::latency("latency-512", SECTOR));
        }
        figures.push(Figure::latency("latency-4k", small));
        figures.push(Figure::random("rand-write-d1", Phase::Write, small, 1));
        figures.push(Figure::random("rand-write-d32", Phase::Write, small, 32));
        figures
    }

    pub(crate) fn notes(&self, surroundings: &QuickSurroundings) -> Vec<String> {
        let mut notes = Vec::new();
        let directory = surroundings.directory.display();
        if !self.direct {
            notes.push(format!(
                "O_DIRECT cannot be used in {directory}, so every transfer goes through the page cache: reads \
                 may be answered from memory."
            ));
        }
        if self.direct && self.smallest > SECTOR {
            notes.push(format!(
                "The latency of a direct 512 B request was left out: the device's logical block is {} B, \
                 and a direct transfer cannot be smaller.",
                self.smallest
            ));
        }
        if self.small > SMALL {
            notes.push(format!(
                "Small transfers are {} instead of 4 KiB: that is the device's logical block.",
                Bytes(self.small)
            ));
        }
        if !surroundings.uring {
            notes.push(
                "io_uring cannot be used here: a depth of n is n tasks with one transfer each instead."
                    .to_owned(),
            );
        }
        if self.working_set < WORKING_SET_MAX {
            notes.push(format!(
                "The data is {} because {} are free; on so little, caches of the device may answer.",
                Bytes(self.working_set),
                Bytes(surroundings.free_bytes)
            ));
        }
        notes
    }
}

pub(crate) fn whole_grains(bytes: u64) -> u64 {
    bytes / GRAIN * GRAIN
}

/// One figure of the summary.
pub(crate) struct Figure {
    pub(crate) id: &'static str,
    phase: Phase,
    transfer: u64,
    random: bool,
    /// One request after another through the plainest call there is.
    single: bool,
    depth: u32,
    time: Nanos,
}

impl Figure {
    fn stream(id: &'static str, phase: Phase) -> Self {
        // Writing gets longer: devices take their first second into a fast cache.
        let time = if phase.writes() { Nanos::secs(6) } else { Nanos::secs(5) };
        Self { id, phase, transfer: LARGE, random: false, single: false, depth: 8, time }
    }

    fn random(id: &'static str, phase: Phase, transfer: u64, depth: u32) -> Self {
        Self { id, phase, transfer, random: true, single: false, depth, time: Nanos::secs(4) }
    }

    fn latency(id: &'static str, transfer: u64) -> Self {
        let time = Nanos::secs(3);
        Self { id, phase: Phase::Read, transfer, random: true, single: true, depth: 1, time }
    }

    /// Memory answers evenly from the first second; and all figures are to fit into a minute.
    fn time(&self, route: Route) -> Nanos {
        if route == Route::Cached { Nanos::millis(2500) } else { self.time }
    }

    fn title(&self, route: Route) -> String {
        let (size, phase, suffix) = (Bytes(self.transfer), self.phase, route.title_suffix());
        match (self.single, self.random) {
            (true, _) => format!("Latency of a single {phase}, {size}{suffix}"),
            (false, true) => format!("Random {phase}, {size}, {} at a time{suffix}", self.depth),
            (false, false) => format!("Sequential {phase}, {size}{suffix}"),
        }
    }

    /// The bytes that the figure moves within. Random writes without `O_DIRECT` keep to what the
    /// memory can hold: to write more pages back in random order could take hours.
    fn set(&self, route: Route, sizes: &Sizes) -> u64 {
        let scattered = self.random && self.phase.writes();
        match route {
            Route::Direct => sizes.working_set,
            Route::Buffered if !scattered => sizes.working_set,
            Route::Buffered | Route::Cached => sizes.cached_set,
        }
    }

    pub(crate) fn case(
        &self,
        route: Route,
        sizes: &Sizes,
        around: &QuickSurroundings,
    ) -> Result<Case, PlanError> {
        let (backend, tasks) = match (self.single, around.uring) {
            (true, _) => (Backend::Psync, 1),
            (false, true) => (Backend::Uring { depth: self.depth, required: false }, 1),
            (false, false) => (Backend::Psync, self.depth),
        };
        let block = Bytes(self.set(route, sizes) / u64::from(tasks));
        let geometry = Geometry { transfer: Bytes(self.transfer), block, segments: 1 };
        let id = format!("{}{}", route.id_prefix(), self.id);
        let mut spec = WorkloadSpec::new(&id, data_file(around), geometry);
        spec.files = FileSet {
            sharing: Sharing::Shared,
            // The data stays from case to case; each writes over what is there.
            existing: Existing::Reuse,
            // Made once, so that reads find data however little a slow storage writes in time.
            fill: true,
            ..spec.files
        };
        spec.tasks = tasks;
        spec.backend = backend;
        spec.direct = route == Route::Direct;
        spec.sync.at_close = self.phase.writes() && route != Route::Cached;
        spec.duration = Some(self.time(route));
        spec.signature = around.seed;
        if self.random {
            // An order of its own for each case, so that no device cache learns it.
            spec.order = Order::Random { seed: named_seed(around.seed, &id) };
        }
        Ok(Case { title: self.title(route), ..Case::new(id, spec.validate()?, vec![self.phase]) })
    }
}

/// The one data file. The seed in its name keeps two runs in one directory apart.
fn data_file(around: &QuickSurroundings) -> PathBuf {
    around.directory.join(format!("ioproof-quick-{:016x}.data", around.seed))
}

#[cfg(test)]
mod tests {
    use super::{FREE_BYTES_MIN, Quick, QuickSurroundings, plan};
    use crate::{Backend, Phase, Placement, seconds_per_case};

    fn surroundings() -> QuickSurroundings {
        QuickSurroundings {
            directory: "/mnt/scratch".into(),
            free_bytes: 500 << 30,
            memory_available_bytes: 16 << 30,
            direct_supported: true,
            logical_block_bytes: 512,
            seed: 7,
            uring: true,
        }
    }

    fn changed(change: impl Fn(&mut QuickSurroundings)) -> Quick {
        let mut surroundings = surroundings();
        change(&mut surroundings);
        plan(surroundings).expect("enough space")
    }

    fn ids(quick: &Quick) -> Vec<&str> {
        quick.plan.cases.iter().map(|case| case.id.as_str()).collect()
    }

    #[test]
    fn every_figure_is_measured_direct_and_cached() {
        let direct = [
            "seq-write",
            "seq-read",
            "rand-read-d1",
            "rand-read-d32",
            "latency-512",
            "latency-4k",
            "rand-write-d1",
            "rand-write-d32",
        ];
        let quick = changed(|_| ());
        let cached: Vec<String> = direct.iter().map(|id| format!("cached-{id}")).collect();
        let expected: Vec<&str> = direct.iter().copied().chain(cached.iter().map(String::as_str)).collect();
        assert_eq!(ids(&quick), expected);
        for case in &quick.plan.cases {
            let cached = case.id.starts_with("cached-");
            assert_eq!(case.workload.direct, !cached, "{}", case.id);
            assert_eq!(case.title.ends_with(", cached"), cached, "{}", case.title);
        }
    }

    #[test]
    fn conditions_are_those_that_were_promised() {
        let conditions = |quick: &Quick| -> String {
            let lines = quick.plan.cases.iter().map(|case| {
                format!("{:24}{} · {}", case.id, case.title, case.workload.conditions(case.phases[0]))
            });
            lines.collect::<Vec<_>>().join("\n")
        };
        insta::assert_snapshot!("quick_conditions", conditions(&changed(|_| ())));
        insta::assert_snapshot!(
            "quick_conditions_without_uring_and_direct",
            conditions(&changed(|s| {
                s.uring = false;
                s.direct_supported = false;
            }))
        );
    }

    #[test]
    fn all_cases_share_one_file_and_its_data() {
        let quick = changed(|_| ());
        let first = &quick.plan.cases[0].workload;
        let largest = Placement::new(first).file_bytes();
        for case in &quick.plan.cases {
            assert_eq!(case.workload.files, first.files);
            assert!(case.workload.files.fill);
            assert_eq!(case.workload.signature, first.signature);
            assert!(Placement::new(&case.workload).file_bytes() <= largest, "{}", case.id);
        }
        assert_eq!(quick.plan.cases[0].phases, [Phase::Write]);
    }

    #[test]
    fn it_takes_about_a_minute_at_plausible_rates() {
        for (write, read) in [(120e6, 150e6), (500e6, 550e6), (3e9, 6e9)] {
            let seconds: f64 = seconds_per_case(&changed(|_| ()).plan, write, read).iter().sum();
            assert!((40.0..75.0).contains(&seconds), "{seconds} s at {write}");
        }
    }

    #[test]
    fn it_fits_into_little_space() {
        let quick = changed(|s| s.free_bytes = FREE_BYTES_MIN);
        for case in &quick.plan.cases {
            assert!(case.workload.bytes().get() <= FREE_BYTES_MIN / 4, "{}", case.id);
        }
        assert_eq!(quick.notes.len(), 1, "{:?}", quick.notes);

        let mut full = surroundings();
        full.free_bytes = FREE_BYTES_MIN - 1;
        let error = plan(full).unwrap_err();
        assert_eq!(error.field, "directory");
        assert!(error.message.contains("/mnt/scratch") && error.help.contains("64 MiB"), "{error:?}");
    }

    #[test]
    fn cached_cases_leave_the_memory_alone() {
        let quick = changed(|s| s.memory_available_bytes = 512 << 20);
        for case in quick.plan.cases.iter().filter(|case| !case.workload.direct) {
            assert!(case.workload.bytes().get() <= 32 << 20, "{}", case.id);
        }
    }

    #[test]
    fn a_device_with_4_kib_blocks_skips_the_direct_sector_and_says_so() {
        let quick = changed(|s| s.logical_block_bytes = 4096);
        assert!(!ids(&quick).contains(&"latency-512"));
        assert!(ids(&quick).contains(&"cached-latency-512"));
        assert!(quick.notes[0].contains("512 B") && quick.notes[0].contains("4096 B"), "{:?}", quick.notes);
    }

    #[test]
    fn without_direct_everything_is_buffered_and_said_to_be() {
        let quick = changed(|s| s.direct_supported = false);
        assert!(ids(&quick).iter().all(|id| id.starts_with("buffered-")));
        assert!(quick.plan.cases.iter().all(|case| !case.workload.direct));
        assert!(quick.notes[0].contains("page cache"), "{:?}", quick.notes);
    }

    #[test]
    fn pages_that_are_written_in_random_order_stay_within_the_memory() {
        let quick = changed(|s| {
            s.direct_supported = false;
            s.memory_available_bytes = 512 << 20;
        });
        for case in quick.plan.cases.iter().filter(|case| case.id.contains("rand-write")) {
            assert!(case.workload.bytes().get() <= 32 << 20, "{}", case.id);
            assert!(case.workload.sync.at_close, "{}", case.id);
        }
    }

    #[test]
    fn without_uring_tasks_make_the_depth() {
        let quick = changed(|s| s.uring = false);
        assert!(quick.plan.cases.iter().all(|case| case.workload.backend == Backend::Psync));
        let deep = quick.plan.cases.iter().find(|case| case.id == "rand-read-d32").expect("is there");
        assert_eq!(deep.workload.tasks, 32);
        assert!(quick.notes[0].contains("io_uring"), "{:?}", quick.notes);
    }

    proptest::proptest! {
        #[test]
        fn any_place_with_enough_space_gets_a_plan(
            free_bytes in FREE_BYTES_MIN..=u64::MAX, memory_available_bytes: u64,
            direct_supported: bool, logical_block_bytes in 0_u64..(1 << 40), seed: u64, uring: bool,
        ) {
            let directory = "/mnt/scratch".into();
            let around = QuickSurroundings {
                directory, free_bytes, memory_available_bytes, direct_supported, logical_block_bytes, seed, uring,
            };
            let quick = plan(around);
            proptest::prop_assert!(quick.is_ok(), "{quick:?}");
        }
    }
}
