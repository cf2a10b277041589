//! The plan of `ioproof run --quick DIR`: characterises a storage in about a minute.
//!
//! Six figures are measured in six interleaved passes, so that each has its own spread, drift over time affects all of
//! them, and a difference between two such runs can be shown (with the cached cases it is obvious at most). All cases
//! share one file, which is filled once: reads find data, and writes overwrite allocated blocks. Each pass is ended by
//! the clock, because the speed of the storage is unknown before it is measured. Optional cases on cached data come last,
//! since pages in the cache would slow direct transfers down.
//!
//! Several directories are measured in turns, figure by figure, under the same conditions: [`plan_in_turns`].
//!
//! ```
//! use plan::quick::{Options, QuickEnvironment, plan};
//! let environment = QuickEnvironment {
//!     directory: "/mnt/scratch".into(),
//!     file_system: "ext4 on /dev/sda1".to_owned(),
//!     free_bytes: 500 << 30,
//!     memory_available_bytes: 16 << 30,
//!     direct_supported: true,
//!     logical_block_bytes: 512,
//!     seed: 1,
//!     uring: true,
//! };
//! let mut options = Options::default();
//! options.set("repetitions=5")?;
//! let quick = plan(environment, &options)?;
//! assert_eq!(quick.plan.cases[0].title, "Sequential write, 1 MiB");
//! assert_eq!((quick.plan.cases.len(), quick.plan.cases[0].repetitions), (6, 5));
//! assert!(quick.notes.is_empty());
//! # Ok::<(), plan::PlanError>(())
//! ```

use std::path::PathBuf;

use crate::seeds::named_seed;
use crate::{
    Backend, Bytes, Case, Existing, FileSet, Geometry, Nanos, Order, Phase, Plan, PlanError, PlanSource,
    Sharing, TargetDescription, UnitError, WorkloadSpec,
};

/// With less free space than this, a run could fill the file system.
pub const FREE_BYTES_MIN: u64 = 64 << 20;
/// The data takes at most one part in this many of the free space: allocators slow down on a full disk.
pub const FREE_SHARE: u64 = 10;
/// A disk with 170 MB/s fills this in about 6 s; a larger set would take more than a minute on a slow disk.
pub const WORKING_SET_MAX: u64 = 1 << 30;
/// 4096 places for random transfers of 4 KiB: fewer would be repeated within a second.
pub const WORKING_SET_MIN: u64 = 16 << 20;
/// Larger than the caches of common processors, so that the page cache is measured.
pub const CACHED_SET_MAX: u64 = 256 << 20;
/// Linux starts to write back dirty pages at 10 % of the available memory; one part in 16 stays below that, so
/// that a cached case only measures the cache.
pub const MEMORY_SHARE: u64 = 16;
/// Sets are whole multiples of this: eight tasks with whole transfers of 1 MiB.
const GRAIN: u64 = 8 << 20;

/// Transfer size of the sequential cases: large, but split only a few times by block layers.
const LARGE: u64 = 1 << 20;
/// Transfer size of the random cases: a page.
const SMALL: u64 = 4 << 10;
/// Number of passes of each case: the fewest with an interval of 95 % of the median, and enough to show a difference
/// of two runs among their six rates and six latencies (`analysis::statistics::repetitions_to_show`).
const REPETITIONS: u32 = 6;
/// Limit on repetitions: more would take days.
const REPETITIONS_MAX: u32 = 1000;
/// Duration of a pass: 36 of them take 47 s, and leave some seconds of a minute for filling the file.
pub(crate) const TIME: Nanos = Nanos::millis(1300);
/// The most directories that are measured in turns: the comparison of more takes a study file.
pub const DIRECTORIES_MAX: usize = 8;
/// Longer names of directories would make the tables too wide.
const NAME_BYTES_MAX: usize = 64;
/// Settings that [`Options::set`] accepts, by their study keys.
const SETTABLE: &str = "a quick run takes repetitions=5, duration=5s (of each pass), size=256MiB (of its file) and delay=1s \
     (before each pass); use a study file for anything else";

/// What is known about the storage to be characterised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuickEnvironment {
    /// Location of the data file.
    pub directory: PathBuf,
    /// The file system that it is on, for example `ext4 on /dev/sda1`. Directories on the same one share its free space.
    pub file_system: String,
    /// Bytes that this user may still write there.
    pub free_bytes: u64,
    /// Memory available to the page cache.
    pub memory_available_bytes: u64,
    /// Whether a file there can be opened with `O_DIRECT`.
    pub direct_supported: bool,
    /// The alignment required for direct I/O; 512 if it is not known.
    pub logical_block_bytes: u64,
    /// Determines orders, the data and the name of the data file.
    pub seed: u64,
    /// Whether this process may use io_uring.
    pub uring: bool,
}

/// Options of a quick run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Also measure data cached in the page cache.
    pub cached: bool,
    /// Number of passes of each case.
    pub repetitions: u32,
    /// Length of a pass; chosen by the plan if not given.
    pub duration: Option<Nanos>,
    /// Size of the file; chosen by the plan if not given.
    pub size: Option<Bytes>,
    /// Pause before each pass.
    pub delay: Nanos,
}

impl Default for Options {
    fn default() -> Self {
        Self { cached: false, repetitions: REPETITIONS, duration: None, size: None, delay: Nanos(0) }
    }
}

impl Options {
    /// Applies `KEY=VALUE`; the key may be prefixed with the table of a study, as in `protocol.repetitions=5`
    /// or `workload.*.size=64MiB`.
    ///
    /// # Errors
    /// Errors if a quick run has no such key, or the value cannot be used.
    pub fn set(&mut self, written: &str) -> Result<(), PlanError> {
        let refused = |why: String, help: &str| Err(PlanError::new("set", why, help));
        let (key, value) = written.split_once('=').unwrap_or((written, ""));
        let (key, value) = (key.trim(), value.trim().trim_matches('"'));
        let wrong =
            |error: UnitError| PlanError::new("set", format!("`{key}`: {}", error.message), error.help);
        match key.strip_prefix("protocol.").or_else(|| key.strip_prefix("workload.*.")).unwrap_or(key) {
            "repetitions" => match value.parse() {
                Ok(count @ 1..=REPETITIONS_MAX) => self.repetitions = count,
                _ => {
                    let help = format!("write a whole number from 1 to {REPETITIONS_MAX}");
                    return refused(format!("`{value}` repetitions cannot be measured"), &help);
                }
            },
            "duration" => match Nanos::parse_study(value).map_err(wrong)? {
                Nanos(0) => {
                    let why = "passes of 0 s measure nothing".to_owned();
                    return refused(why, "write a time, for example 3s");
                }
                duration => self.duration = Some(duration),
            },
            "size" => self.size = Some(Bytes::parse_study(value).map_err(wrong)?),
            "delay" => self.delay = Nanos::parse_study(value).map_err(wrong)?,
            _ => return refused(format!("`{written}` cannot be set in a quick run"), SETTABLE),
        }
        Ok(())
    }
}

/// The plan, and notes about how it was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Quick {
    /// One case per figure.
    pub plan: Plan,
    /// Sentences about what was left out or replaced, and why.
    pub notes: Vec<String>,
}

/// The plan for a directory.
///
/// # Errors
/// Errors if there is too little free space, or the requested size is too small; the error states the required
/// size.
pub fn plan(environment: QuickEnvironment, options: &Options) -> Result<Quick, PlanError> {
    plan_in_turns(vec![environment], options)
}

/// The plan for several directories, which are measured in turns: each pass of a figure in every directory, one after
/// the other. Sizes and paths are those that all of them allow, so that nothing but the directory differs. Each
/// directory is a target, named as its last part, or by its place if two have the same.
///
/// # Errors
/// Errors as [`plan`] does, for the first directory that has the problem, and if there is no directory.
pub fn plan_in_turns(places: Vec<QuickEnvironment>, options: &Options) -> Result<Quick, PlanError> {
    places.iter().try_for_each(QuickEnvironment::enough_space)?;
    let Some(common) = common(&places) else {
        return Err(PlanError::new("directory", "no directory is named", "name one or more"));
    };
    common.enough_space()?;
    let sizes = Sizes::of(&common).wanted(options.size)?;
    let routes = sizes.routes();
    let names = if places.len() > 1 { names(&places) } else { vec![String::new()] };
    let alike = |place: QuickEnvironment| {
        let QuickEnvironment { directory, file_system, .. } = place;
        QuickEnvironment { directory, file_system, ..common.clone() }
    };
    let places: Vec<QuickEnvironment> = places.into_iter().map(alike).collect();
    let mut cases = Vec::new();
    for &route in if options.cached { routes } else { &routes[..1] } {
        let first = cases.len();
        for figure in sizes.figures() {
            for (place, name) in places.iter().zip(&names) {
                let time = options.duration.unwrap_or(TIME);
                let case = on_target(figure.case(route, time, &sizes, place)?, name)?;
                let (repetitions, delay, in_turn) = (options.repetitions, options.delay, cases.len() > first);
                cases.push(Case { repetitions, delay, in_turn, ..case });
            }
        }
    }
    let mut notes = sizes.notes(&common);
    if options.cached && routes.len() == 1 {
        notes.push("--cached adds nothing here: every case goes through the page cache.".to_owned());
    }
    let all: Vec<String> = places.iter().map(|place| place.directory.display().to_string()).collect();
    let mut directories = places.into_iter().map(|place| place.directory);
    let source = PlanSource::Quick {
        directory: directories.next().unwrap_or_default(),
        others: directories.collect(),
    };
    let title = format!("Quick characterisation of {}", all.join(" and "));
    let mut plan = Plan::new(title, source, common.seed, cases);
    if all.len() > 1 {
        let target = |(name, title): (String, String)| TargetDescription {
            name,
            title,
            ..TargetDescription::default()
        };
        plan.criteria.targets = names.into_iter().zip(all).map(target).collect();
    }
    Ok(Quick { plan, notes })
}

/// What all of `places` allow. The directory is the first, or the first without direct I/O.
fn common(places: &[QuickEnvironment]) -> Option<QuickEnvironment> {
    let first = places.iter().find(|place| !place.direct_supported).or(places.first())?;
    let sharing = |one: &QuickEnvironment| {
        places.iter().filter(|place| place.file_system == one.file_system).count().max(1) as u64
    };
    let count = places.len() as u64;
    Some(QuickEnvironment {
        free_bytes: places.iter().map(|place| place.free_bytes / sharing(place)).min()?,
        memory_available_bytes: first.memory_available_bytes / count,
        direct_supported: places.iter().all(|place| place.direct_supported),
        logical_block_bytes: places.iter().map(|place| place.logical_block_bytes).max()?,
        uring: places.iter().all(|place| place.uring),
        ..first.clone()
    })
}

/// A name for each of `places`: its last part, as far as ids of cases may have its characters; with its place if
/// another has the same.
fn names(places: &[QuickEnvironment]) -> Vec<String> {
    let last = |place: &QuickEnvironment| {
        let name = place.directory.file_name().unwrap_or_default().to_string_lossy();
        let name: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' })
            .collect();
        if name.is_empty() || name.len() > NAME_BYTES_MAX { "directory".to_owned() } else { name }
    };
    let all: Vec<String> = places.iter().map(last).collect();
    let is_unique = (1..all.len()).all(|place| !all[..place].contains(&all[place]));
    match is_unique {
        true => all,
        false => all.iter().zip(1..).map(|(name, place)| format!("{name}-{place}")).collect(),
    }
}

/// `case` on the target `name`; unchanged if it has none.
fn on_target(case: Case, name: &str) -> Result<Case, PlanError> {
    if name.is_empty() {
        return Ok(case);
    }
    let id = format!("{}:target={name}", case.id);
    let mut spec = WorkloadSpec::from(case.workload);
    spec.name.clone_from(&id);
    Ok(Case { id, target: name.to_owned(), workload: spec.validate()?, ..case })
}

impl QuickEnvironment {
    /// Rejects a file system with too little free space.
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

/// The path of a case's transfers to the storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    /// Bypassing the page cache.
    Direct,
    /// Through the page cache, because `O_DIRECT` is unavailable.
    Buffered,
    /// Through the page cache, on cached data.
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

/// Sizes that follow from the environment.
pub(crate) struct Sizes {
    direct: bool,
    pub(crate) working_set: u64,
    cached_set: u64,
    /// Transfers of the random cases.
    small: u64,
    /// Whether the user chose the file size.
    is_chosen: bool,
}

impl Sizes {
    pub(crate) fn of(environment: &QuickEnvironment) -> Self {
        let block = environment.logical_block_bytes.max(1).next_power_of_two();
        let share = environment.free_bytes / FREE_SHARE;
        let working_set = whole_grains(share.clamp(WORKING_SET_MIN, WORKING_SET_MAX));
        let in_memory = (environment.memory_available_bytes / MEMORY_SHARE).clamp(GRAIN, CACHED_SET_MAX);
        let direct = environment.direct_supported && block <= LARGE;
        Self {
            direct,
            working_set,
            cached_set: whole_grains(in_memory).min(working_set),
            small: if direct { SMALL.max(block) } else { SMALL },
            is_chosen: false,
        }
    }

    /// The same with a file of this size, if given.
    pub(crate) fn wanted(self, size: Option<Bytes>) -> Result<Self, PlanError> {
        let Some(size) = size else { return Ok(self) };
        let working_set = whole_grains(size.0);
        if working_set < WORKING_SET_MIN {
            return Err(PlanError::new(
                "size",
                format!("{size} is too small for the cases"),
                format!("the file needs at least {}", Bytes(WORKING_SET_MIN)),
            ));
        }
        Ok(Self { working_set, cached_set: self.cached_set.min(working_set), is_chosen: true, ..self })
    }

    pub(crate) fn routes(&self) -> &'static [Route] {
        if self.direct { &[Route::Direct, Route::Cached] } else { &[Route::Buffered] }
    }

    /// The figures of a route, in the order of the first pass. The write brings the data into the cache
    /// for the cached reads; random writes come last because some file systems scatter the data with them.
    pub(crate) fn figures(&self) -> [Figure; 6] {
        [
            Figure::stream("seq-write", Phase::Write),
            Figure::stream("seq-read", Phase::Read),
            Figure::random("rand-read-d1", Phase::Read, self.small, 1),
            Figure::random("rand-read-d32", Phase::Read, self.small, 32),
            Figure::random("rand-write-d1", Phase::Write, self.small, 1),
            Figure::random("rand-write-d32", Phase::Write, self.small, 32),
        ]
    }

    pub(crate) fn notes(&self, environment: &QuickEnvironment) -> Vec<String> {
        let mut notes = Vec::new();
        let directory = environment.directory.display();
        if !self.direct {
            notes.push(format!(
                "O_DIRECT cannot be used in {directory}, so every transfer goes through the page cache: reads \
                 may be answered from memory."
            ));
        }
        if self.small > SMALL {
            notes.push(format!(
                "Small transfers are {} instead of 4 KiB: that is the device's logical block.",
                Bytes(self.small)
            ));
        }
        if !environment.uring {
            notes.push(
                "io_uring cannot be used here: a depth of n is replaced by n tasks with one transfer each."
                    .to_owned(),
            );
        }
        if !self.is_chosen && self.working_set < WORKING_SET_MAX {
            notes.push(format!(
                "The data is {}, since {} of free space can be used for it; with so little data, caches of the device may answer.",
                Bytes(self.working_set),
                Bytes(environment.free_bytes)
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
    depth: u32,
}

impl Figure {
    fn stream(id: &'static str, phase: Phase) -> Self {
        Self { id, phase, transfer: LARGE, random: false, depth: 8 }
    }

    fn random(id: &'static str, phase: Phase, transfer: u64, depth: u32) -> Self {
        Self { id, phase, transfer, random: true, depth }
    }

    fn title(&self, route: Route) -> String {
        let (size, phase, suffix) = (Bytes(self.transfer), self.phase, route.title_suffix());
        match self.random {
            true => format!("Random {phase}, {size}, {} at a time{suffix}", self.depth),
            false => format!("Sequential {phase}, {size}{suffix}"),
        }
    }

    /// Bytes covered by the figure. Random writes without `O_DIRECT` are limited to what memory can hold:
    /// writing more pages back in random order could take hours.
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
        time: Nanos,
        sizes: &Sizes,
        environment: &QuickEnvironment,
    ) -> Result<Case, PlanError> {
        let (backend, tasks) = match environment.uring {
            true => (Backend::queued(self.depth), 1),
            false => (Backend::plain(), self.depth),
        };
        let block = Bytes(self.set(route, sizes) / u64::from(tasks));
        let geometry = Geometry { transfer: Bytes(self.transfer), block, segments: 1 };
        let id = format!("{}{}", route.id_prefix(), self.id);
        let mut spec = WorkloadSpec::new(&id, data_file(environment), geometry);
        spec.files = FileSet {
            sharing: Sharing::Shared,
            // The data is kept between cases; each overwrites it.
            existing: Existing::Reuse,
            // Filled once, so that reads find data however slow the writes are.
            fill: true,
            ..spec.files
        };
        spec.tasks = tasks;
        spec.backend = backend;
        spec.direct = route == Route::Direct;
        spec.sync.at_close = self.phase.writes() && route != Route::Cached;
        spec.duration = Some(time);
        spec.signature = environment.seed;
        if self.random {
            // A different order for each pass of each case, so that no device cache learns it.
            spec.order = Order::Random { seed: named_seed(environment.seed, &id) };
            spec.fresh_order = true;
        }
        Ok(Case { title: self.title(route), ..Case::new(id, spec.validate()?, vec![self.phase]) })
    }
}

/// The one data file. The seed in its name keeps two runs in one directory apart.
fn data_file(around: &QuickEnvironment) -> PathBuf {
    around.directory.join(format!("ioproof-quick-{:016x}.data", around.seed))
}

#[cfg(test)]
mod tests {
    use super::{FREE_BYTES_MIN, Options, Quick, QuickEnvironment, plan, plan_in_turns};
    use crate::{AssumedDevice, Backend, Bytes, Nanos, Phase, Placement, RunEnvironment, estimates};

    fn environment() -> QuickEnvironment {
        QuickEnvironment {
            directory: "/mnt/scratch".into(),
            file_system: "ext4 on /dev/sda1".to_owned(),
            free_bytes: 500 << 30,
            memory_available_bytes: 16 << 30,
            direct_supported: true,
            logical_block_bytes: 512,
            seed: 7,
            uring: true,
        }
    }

    fn changed(change: impl Fn(&mut QuickEnvironment)) -> Quick {
        let mut environment = environment();
        change(&mut environment);
        plan(environment, &Options::default()).expect("enough space")
    }

    fn with_cached(environment: QuickEnvironment) -> Quick {
        plan(environment, &Options { cached: true, ..Options::default() }).expect("enough space")
    }

    fn ids(quick: &Quick) -> Vec<&str> {
        quick.plan.cases.iter().map(|case| case.id.as_str()).collect()
    }

    #[test]
    fn six_figures_take_turns_and_cached_ones_after_them() {
        let direct =
            ["seq-write", "seq-read", "rand-read-d1", "rand-read-d32", "rand-write-d1", "rand-write-d32"];
        let quick = changed(|_| ());
        assert_eq!(ids(&quick), direct);
        assert_eq!((quick.plan.blocks().count(), quick.plan.blocks().next()), (1, Some(0..6)));
        assert!(quick.plan.cases.iter().all(|case| case.repetitions == 6 && case.workload.direct));

        let quick = with_cached(environment());
        let cached: Vec<String> = direct.iter().map(|id| format!("cached-{id}")).collect();
        let expected: Vec<&str> = direct.iter().copied().chain(cached.iter().map(String::as_str)).collect();
        assert_eq!(ids(&quick), expected);
        assert_eq!(quick.plan.blocks().collect::<Vec<_>>(), [0..6, 6..12]);
        for case in &quick.plan.cases {
            let cached = case.id.starts_with("cached-");
            assert_eq!(case.workload.direct, !cached, "{}", case.id);
            assert_eq!(case.title.ends_with(", cached"), cached, "{}", case.title);
        }
    }

    fn in_turns(places: &[(&str, &str)], change: impl Fn(usize, &mut QuickEnvironment)) -> Quick {
        let place = |(index, (directory, file_system)): (usize, &(&str, &str))| {
            let mut place = QuickEnvironment {
                directory: directory.into(),
                file_system: (*file_system).to_owned(),
                ..environment()
            };
            change(index, &mut place);
            place
        };
        let places = places.iter().enumerate().map(place).collect();
        plan_in_turns(places, &Options::default()).expect("enough space")
    }

    #[test]
    fn several_directories_take_turns_at_each_figure_under_the_same_conditions() {
        let quick = in_turns(&[("/a/nvme", "x"), ("/b/sata", "y")], |index, place| {
            place.free_bytes = if index == 1 { 4 << 30 } else { 500 << 30 };
            place.logical_block_bytes = if index == 1 { 4096 } else { 512 };
        });
        let ids = ids(&quick);
        assert_eq!(&ids[..3], ["seq-write:target=nvme", "seq-write:target=sata", "seq-read:target=nvme"]);
        assert_eq!(
            (ids.len(), quick.plan.blocks().next(), quick.plan.blocks().count()),
            (12, Some(0..12), 1)
        );
        let turns: Vec<usize> = quick.plan.turns(0..12).map(|(place, _)| place).collect();
        assert_eq!((&turns[..3], turns[12]), (&[0, 1, 2][..], 11), "there and back");
        for pair in quick.plan.cases.chunks(2) {
            let [one, other] = pair else { panic!("pairs") };
            assert_eq!((&one.group, one.target.as_str()), (&other.group, "nvme"));
            assert_eq!(one.workload.footprint(), other.workload.footprint());
            assert_eq!(one.workload.conditions(one.phases[0]), other.workload.conditions(other.phases[0]));
            let files = [one, other].map(|case| Placement::new(&case.workload).files(0)[0].path.clone());
            assert!(files[0].starts_with("/a/nvme") && files[1].starts_with("/b/sata"), "{files:?}");
        }
        let titles: Vec<_> = quick.plan.criteria.targets.iter().map(|one| one.title.as_str()).collect();
        assert_eq!(titles, ["/a/nvme", "/b/sata"]);
        assert_eq!(quick.plan.title, "Quick characterisation of /a/nvme and /b/sata");
        assert!(
            quick.notes[0].contains("409.6 MiB") || quick.notes[0].contains("408 MiB"),
            "{:?}",
            quick.notes
        );
    }

    #[test]
    fn directories_of_one_name_are_numbered_and_share_the_space_of_one_file_system() {
        let quick = in_turns(&[("/a/data", "x"), ("/b/data", "x")], |_, place| place.free_bytes = 2 << 30);
        let named = |case: &crate::Case| case.target.clone();
        let names: Vec<String> = quick.plan.cases.iter().take(2).map(named).collect();
        assert_eq!(names, ["data-1", "data-2"]);
        let alone = changed(|place| place.free_bytes = 2 << 30);
        let size = |quick: &Quick| quick.plan.cases[0].workload.footprint().0;
        assert!(size(&quick) <= size(&alone) / 2 && size(&quick) > 0);
    }

    #[test]
    fn what_one_directory_lacks_no_directory_uses() {
        let quick = in_turns(&[("/a", "x"), ("/tmp", "tmpfs")], |index, place| {
            place.direct_supported = index == 0;
        });
        assert!(ids(&quick).iter().all(|id| id.starts_with("buffered-")), "{:?}", ids(&quick));
        assert!(quick.notes[0].starts_with("O_DIRECT cannot be used in /tmp"), "{:?}", quick.notes);
    }

    #[test]
    fn what_is_set_is_taken_and_the_rest_is_refused_with_what_can_be() {
        let mut options = Options::default();
        for written in ["protocol.repetitions=5", "duration=4s", "workload.*.size=100MiB", "delay = \"1s\""] {
            options.set(written).expect(written);
        }
        let quick = plan(environment(), &options).expect("valid");
        for case in &quick.plan.cases {
            assert_eq!((case.repetitions, case.delay), (5, Nanos::secs(1)));
            assert_eq!(case.workload.duration, Some(Nanos::secs(4)));
            assert_eq!(case.workload.footprint(), Bytes::mib(96), "whole transfers of eight tasks");
        }
        assert!(quick.notes.is_empty(), "{:?}", quick.notes);
        let refused = |written: &str| {
            let error = Options::default().set(written).expect_err(written);
            format!("{}: {}", error.message, error.help)
        };
        assert!(refused("tasks=4").contains("takes repetitions=5, duration=5s"), "{}", refused("tasks=4"));
        assert!(refused("repetitions=0").contains("from 1 to 1000"));
        assert!(refused("duration=0s").contains("write a time"));
        assert!(refused("size=much").contains("size"));
        options.set("size=15MiB").expect("a size");
        assert!(plan(environment(), &options).unwrap_err().help.contains("16 MiB"));
    }

    #[test]
    fn conditions_are_those_that_were_promised() {
        let conditions = |quick: &Quick| -> String {
            let lines = quick.plan.cases.iter().map(|case| {
                format!("{:24}{} · {}", case.id, case.title, case.workload.conditions(case.phases[0]))
            });
            lines.collect::<Vec<_>>().join("\n")
        };
        insta::assert_snapshot!("quick_conditions", conditions(&with_cached(environment())));
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
        let quick = with_cached(environment());
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
        for rate in [120e6, 500e6, 3e9] {
            let assumed = AssumedDevice { bytes_per_second: rate, ..AssumedDevice::default() };
            let around = RunEnvironment { assumed, ..RunEnvironment::default() };
            let (all, _) = estimates(&changed(|_| ()).plan, &around);
            let seconds: f64 = all.iter().map(|one| one.seconds.middle).sum();
            assert!((40.0..75.0).contains(&seconds), "{seconds} s at {rate}");
        }
    }

    #[test]
    fn it_fits_into_little_space() {
        let quick = changed(|s| s.free_bytes = FREE_BYTES_MIN);
        for case in &quick.plan.cases {
            assert!(case.workload.bytes().get() <= FREE_BYTES_MIN / 4, "{}", case.id);
        }
        assert_eq!(quick.notes.len(), 1, "{:?}", quick.notes);

        let mut full = environment();
        full.free_bytes = FREE_BYTES_MIN - 1;
        let error = plan(full, &Options::default()).unwrap_err();
        assert_eq!(error.field, "directory");
        assert!(error.message.contains("/mnt/scratch") && error.help.contains("64 MiB"), "{error:?}");
    }

    #[test]
    fn cached_cases_leave_the_memory_alone() {
        let quick = with_cached(QuickEnvironment { memory_available_bytes: 512 << 20, ..environment() });
        for case in quick.plan.cases.iter().filter(|case| !case.workload.direct) {
            assert!(case.workload.bytes().get() <= 32 << 20, "{}", case.id);
        }
    }

    #[test]
    fn a_device_with_larger_blocks_gets_larger_transfers_and_says_so() {
        let quick = changed(|s| s.logical_block_bytes = 8192);
        assert_eq!(quick.plan.cases[2].title, "Random read, 8 KiB, 1 at a time");
        assert!(quick.notes[0].contains("8 KiB instead of 4 KiB"), "{:?}", quick.notes);
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
            let around = QuickEnvironment {
                directory, file_system: String::new(), free_bytes, memory_available_bytes, direct_supported, logical_block_bytes, seed, uring,
            };
            let quick = plan(around, &Options { cached: true, ..Options::default() });
            proptest::prop_assert!(quick.is_ok(), "{quick:?}");
        }
    }
}
