//! What happened while jobs ran: when, how many at a time, how much of what, and where.
//!
//! | what | for |
//! |---|---|
//! | [`LaunchTimer`], [`StepTimer`] | real time, CPU time, memory and I/O of each launch and step, and whether they agree |
//! | [`Concurrency`] | how many launches ran at a time |
//! | [`lengths`] | how long they took |
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
    CPU_AGREES_NS, CPU_AGREES_SHARE, CpuAgreement, FullTimer, Harness, LaunchTimer, StepTimer, Timer,
};
pub(crate) use full_timer::{full_timers, whole};
pub use lengths::{edge, lengths};
pub(crate) use placement::job_placings;
pub use placement::{JobPlacing, RatesOf};
pub use profile::{
    CLIMB_SECONDS_MIN, Climb, Level, Levels, PEAK_SHARE, Profile, ProfileSecond, START_SHARE, levels, profile,
};
pub use published::{JobsBeside, beside_jobs};
pub(crate) use spaces::file_system_of;
pub use spaces::{ActionUse, KindMoved, Moved, SpaceUse, actions, moved, spaces};

use std::sync::Arc;

use crate::gate::{Kind, Stated};
use crate::table::{Column, Of, Statement};
use crate::{Figure, Histogram, Summary};

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
    pub launches: Vec<Arc<LaunchTimer>>,
    /// How many ran at a time.
    pub concurrency: Concurrency,
    /// How many seconds those took that are complete; none where none is.
    pub lengths: Option<(Summary, Histogram)>,
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

impl Statement for Timeline {
    const KIND: Kind = Kind::JobPass;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "How many launches ran at a time, and how long they took";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::count("pass", |one: &Self| Some(one.repetition.into()), "Its number, from 0.").subject(),
        Column::flag("counts", |one: &Self| Some(one.counts), "Whether the figure is made of it.").detail(),
        Column::count("launches", |one: &Self| Some(one.concurrency.launches as u64), "Launches."),
        Column::count(
            "complete",
            |one: &Self| Some(one.concurrency.complete as u64),
            "Those that came to their end.",
        ),
        Column::seconds(
            "elapsed",
            |one: &Self| Some(nanos(one.concurrency.elapsed_ns)),
            "First start to last end.",
        ),
        Column::seconds(
            "real",
            |one: &Self| Some(nanos(one.concurrency.real_ns)),
            "Sum of the real times of all launches.",
        )
        .headed("sum of real"),
        Column::number(
            "mean_running",
            |one: &Self| Some(one.concurrency.mean),
            "Sum of real times ÷ elapsed time.",
        )
        .headed("mean at a time"),
        Column::count("most_running", |one: &Self| Some(one.concurrency.most.into()), "The most at a time.")
            .headed("most"),
        Column::seconds("shortest", |one: &Self| Some(one.lengths.as_ref()?.0.min), "Of complete launches."),
        Column::seconds("median", |one: &Self| Some(one.lengths.as_ref()?.0.median), "Of complete launches."),
        Column::seconds("longest", |one: &Self| Some(one.lengths.as_ref()?.0.max), "Of complete launches."),
        Column::share(
            "launcher",
            |one: &Self| one.harness.core_share,
            "CPU time of the launcher ÷ wall time.",
        ),
        Column::seconds(
            "start",
            |one: &Self| Some(nanos(one.harness.start_median_ns)),
            "From the start of a launch until its first step: median.",
        )
        .detail(),
        Column::seconds(
            "longest_start",
            |one: &Self| Some(nanos(one.harness.start_longest_ns)),
            "The longest of them.",
        )
        .detail(),
        Column::bytes("read", |one: &Self| Some(one.moved.read_bytes), "Bytes that all launches read.")
            .detail(),
        Column::bytes("written", |one: &Self| Some(one.moved.write_bytes), "Bytes that they wrote.").detail(),
        Column::bytes(
            "input",
            |one: &Self| Some(one.moved.input_bytes),
            "Bytes of loaded tables, each step its inputs once, by the plan.",
        )
        .detail(),
        Column::share("device_share", |one: &Self| one.device_share, "Device bytes ÷ application bytes.")
            .detail(),
        Column::text(
            "lengths",
            |one: &Self| one.lengths.as_ref().map(|(_, bins)| bins.in_words(edge)).unwrap_or_default(),
            "How many took how long.",
        )
        .below(),
    ];
}

const fn nanos(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// What passes that count say of one thing each, with the number of the pass.
pub(crate) fn of_passes<T>(
    all: &[Stated<Timeline>],
    what: impl Fn(&Timeline) -> Vec<T>,
) -> Vec<Stated<(u32, T)>> {
    let counted = all.iter().filter(|one| one.about().counts);
    counted
        .flat_map(|one| one.each(|pass| what(pass).into_iter().map(|of| (pass.repetition, of)).collect()))
        .collect()
}

/// What the first pass that counts of each figure says.
pub(crate) fn of_first_passes<T>(
    all: &[Stated<Timeline>],
    what: impl Fn(&Timeline) -> Vec<T>,
) -> Vec<Stated<T>> {
    first_passes(all).flat_map(|one| one.each(&what)).collect()
}

/// The first pass of each figure that counts.
pub fn first_passes(all: &[Stated<Timeline>]) -> impl Iterator<Item = &Stated<Timeline>> {
    let counted: Vec<_> = all.iter().filter(|one| one.about().counts).collect();
    let mut last = None;
    counted.into_iter().filter(move |one| last.replace(one.figure()) != Some(one.figure()))
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
            launches: full_timer::launch_timers(&rows.launches, &rows.steps),
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
