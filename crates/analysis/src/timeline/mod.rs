//! What happened while jobs ran: when, how many at a time, how much of what, and where.
//!
//! | what | for |
//! |---|---|
//! | [`LaunchTimer`], [`StepTimer`] | real time, CPU time, memory and I/O of each launch and step, and whether they agree |
//! | [`Concurrency`] | how many launches ran at a time |
//! | [`Lengths`] | how long they took |
//! | [`Profile`] | bytes per second over time: where it starts, climbs to and peaks |
//! | [`SpaceUse`], [`ActionUse`] | bytes by space and by what a step does |
//! | [`Harness`] | what launching and watching cost |
//! | [`JobPlacing`], [`JobCost`] | which space is for what reads fast; run time × devices |

mod concurrency;
mod cost;
mod full_timer;
mod lengths;
mod placement;
mod profile;
mod published;
mod spaces;

use plan::{Case, Phase};
use record::{LaunchRow, Run, SpaceRow, StepRow};

pub use concurrency::{Concurrency, Running, concurrency};
pub(crate) use cost::job_costs;
pub use cost::{JobCost, published_costs};
pub(crate) use full_timer::doubts;
pub use full_timer::{
    CPU_AGREES_NS, CPU_AGREES_SHARE, CpuAgreement, Harness, LaunchTimer, StepTimer, Timer, launch_timers,
};
pub use lengths::{LENGTH_BINS_MAX, LengthBin, Lengths, lengths};
pub use placement::{JobPlacing, RatesOf, ReadWriteRates, SpaceShare, job_placings};
pub use profile::{
    CLIMB_SECONDS_MIN, Climb, Level, Levels, PEAK_SHARE, Profile, ProfileSecond, START_SHARE, levels, profile,
};
pub use published::{JobsBeside, beside_jobs};
pub(crate) use spaces::file_system_of;
pub use spaces::{ActionUse, KindMoved, Moved, SpaceUse, actions, moved, spaces};

use crate::Figure;

/// One pass of a phase of jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// The figure.
    pub figure: usize,
    /// Its case.
    pub case: String,
    /// The number of the pass, from 0.
    pub repetition: u32,
    /// Whether the figure is made of it.
    pub counts: bool,
    /// All launches, in the order of their numbers.
    pub launches: Vec<LaunchTimer>,
    /// How many ran at a time.
    pub concurrency: Concurrency,
    /// How long those took that are complete; none where none is.
    pub lengths: Option<Lengths>,
    /// Bytes per second over time.
    pub profile: Profile,
    /// Permanent, work and utility space.
    pub spaces: Vec<SpaceUse>,
    /// What steps of each kind did, in the order in which they come first.
    pub actions: Vec<ActionUse>,
    /// All bytes, against the input.
    pub moved: Moved,
    /// Device bytes ÷ application bytes; none where devices could not be observed.
    pub device_share: Option<f64>,
    /// What launching and watching cost.
    pub harness: Harness,
    /// Published figures of the same kind beside it.
    pub published: Vec<JobsBeside>,
}

/// The rows of one pass.
pub(crate) struct PassRows<'a> {
    pub(crate) launches: Vec<&'a LaunchRow>,
    pub(crate) steps: Vec<&'a StepRow>,
    pub(crate) spaces: Vec<&'a SpaceRow>,
}

/// Every pass of every figure of jobs, in the order of the figures. A record without rows of launches gives none.
#[must_use]
pub fn timelines(run: &Run, figures: &[Figure]) -> Vec<Timeline> {
    let of_jobs = figures.iter().enumerate().filter(|(_, figure)| figure.phase == Phase::Jobs);
    let case_of = |id: &str| run.manifest.plan.cases.iter().find(|case| case.id == id);
    of_jobs
        .filter_map(|(place, figure)| Some((place, figure, case_of(&figure.case)?)))
        .flat_map(|(place, figure, case)| of_figure(run, place, figure, case))
        .collect()
}

fn of_figure(run: &Run, place: usize, figure: &Figure, case: &Case) -> Vec<Timeline> {
    let (launches, steps, spaces) = (run.launches(&case.id), run.steps(&case.id), run.spaces(&case.id));
    let timeline = |pass: &crate::RepetitionFigure| {
        let key = &pass.phase.key;
        let mut rows = PassRows {
            launches: launches.iter().filter(|row| row.key == *key).collect(),
            steps: steps.iter().filter(|row| row.key == *key).collect(),
            spaces: spaces.iter().filter(|row| row.key == *key).collect(),
        };
        if rows.launches.is_empty() {
            return None;
        }
        rows.launches.sort_by_key(|row| row.launch);
        rows.steps.sort_by_key(|row| (row.launch, row.step));
        let profile = profile(rows.spaces.iter().copied());
        let mut found = Timeline {
            figure: place,
            case: case.id.clone(),
            repetition: pass.repetition,
            counts: pass.counts,
            concurrency: concurrency(rows.launches.iter().copied()),
            lengths: lengths(rows.launches.iter().copied()),
            spaces: spaces::spaces(&run.manifest.host, case, &rows.launches, &rows.spaces),
            actions: actions(rows.steps.iter().copied()),
            moved: moved(case, &rows.launches),
            device_share: pass.moved_by_devices(),
            harness: Harness::of(&pass.phase, &rows.launches),
            launches: launch_timers(&rows.launches, &rows.steps),
            profile,
            published: Vec::new(),
        };
        found.published = beside_jobs(&found, record::published());
        Some(found)
    };
    figure.repetitions.iter().filter_map(timeline).collect()
}

/// Whether a launch was started at all.
pub(crate) fn ran(row: &LaunchRow) -> bool {
    row.end_ns > row.start_ns
}

/// Whether it came to its end.
pub(crate) fn complete(row: &LaunchRow) -> bool {
    row.outcome == "complete"
}
