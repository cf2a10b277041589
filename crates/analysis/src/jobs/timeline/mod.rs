//! What happened while jobs ran: when, how many concurrently, how much of what, and where.

mod concurrency;
mod cost;
mod full_timer;
mod launch_timer;
mod profile;
mod published;
mod spaces;

use std::sync::Arc;

use plan::Phase;
use record::{LaunchRow, Run, SpaceRow};

pub use concurrency::{Concurrency, concurrency, edge, lengths};
pub(crate) use cost::job_costs;
pub use cost::{JobCost, published_costs};
pub use full_timer::FullTimer;
pub(crate) use full_timer::{doubts, full_timers};
use launch_timer::in_seconds;
pub use launch_timer::{CPU_AGREES_NS, CPU_AGREES_SHARE, LaunchTimer};
pub(crate) use launch_timer::{complete, ran, whole};
pub use profile::{
    CLIMB_SECONDS_MIN, Level, Levels, PEAK_SHARE, ProfileSecond, START_SHARE, levels, profile,
};
pub use published::PublishedJobComparison;
pub(crate) use published::beside_jobs;
pub use spaces::{KindMoved, SpaceUse};

use crate::figures::{Figure, RepetitionFigure, Subject, subjects};
use crate::gate::{
    Kind, Of, Stated, Statement,
    table::{Column, below, bytes, count, detail, flag, number, seconds, share, subject, text},
};
use crate::statistics::{Histogram, Summary};

/// One pass of a phase of jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// The index of the figure.
    pub figure: usize,
    pub(crate) case: String,
    /// The number of the pass, starting at 0.
    pub repetition: u32,
    /// Whether the pass is part of the figure.
    pub counts: bool,
    /// All launches, ordered by number.
    pub launches: Vec<Arc<LaunchTimer>>,
    /// How many launches ran concurrently.
    pub concurrency: Concurrency,
    /// The durations of the completed launches in seconds. `None` if none completed.
    pub lengths: Option<(Summary, Histogram)>,
    /// Bytes over time, without gaps.
    pub seconds: Vec<ProfileSecond>,
    /// Start, climb, peak and end of the byte rate. `None` if nothing was moved.
    pub levels: Option<Levels>,
    /// Permanent, work and utility space.
    pub(crate) spaces: Vec<SpaceUse>,
    /// Bytes of the loaded tables that the launches read, with each input of a step counted once, according to the
    /// plan.
    input_bytes: u64,
    /// The input and the moved bytes of the tests of each kind.
    pub(crate) kinds: Vec<KindMoved>,
    /// Device bytes ÷ application bytes. `None` if the devices could not be observed.
    device_share: Option<f64>,
    /// CPU time of the launcher and the monitor ÷ wall time, as a share of one core. `None` if it was not recorded.
    launcher_share: Option<f64>,
    /// Seconds from the start of a launch to its first step: median and maximum.
    start_seconds: [f64; 2],
}

impl Statement for Timeline {
    const KIND: Kind = Kind::JobPass;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "How many launches ran at a time, and how long they took";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(count("pass", "pass", "Its number, from 0.", |one| Some(one.repetition.into()))),
        detail(flag("counts", "counts", "Whether the figure includes it.", |one| Some(one.counts))),
        count("launches", "launches", "Launches.", |one| Some(one.concurrency.launches as u64)),
        count("complete", "complete", "Launches that completed.", |one| {
            Some(one.concurrency.complete as u64)
        }),
        seconds("elapsed", "elapsed", "First start to last end.", |one| {
            Some(in_seconds(one.concurrency.elapsed_ns))
        }),
        seconds("real", "sum of real", "Sum of the real times of all launches.", |one| {
            Some(in_seconds(one.concurrency.real_ns))
        }),
        number("mean_running", "mean at a time", "Sum of real times ÷ elapsed time.", |one| {
            Some(one.concurrency.mean)
        }),
        count("most_running", "most", "The most at a time.", |one| Some(one.concurrency.most)),
        seconds("shortest", "shortest", "Real time of the shortest complete launch.", |one| {
            Some(one.lengths.as_ref()?.0.min)
        }),
        seconds("median", "median", "Median real time of complete launches.", |one| {
            Some(one.lengths.as_ref()?.0.median)
        }),
        seconds("longest", "longest", "Real time of the longest complete launch.", |one| {
            Some(one.lengths.as_ref()?.0.max)
        }),
        share("launcher", "launcher", "CPU time of the launcher ÷ wall time.", |one| one.launcher_share),
        detail(seconds(
            "start",
            "start",
            "From the start of a launch until its first step: median.",
            |one| Some(one.start_seconds[0]),
        )),
        detail(seconds("longest_start", "longest start", "The longest of them.", |one| {
            Some(one.start_seconds[1])
        })),
        detail(bytes("read", "read", "Bytes that all launches read.", |one| {
            Some(one.spaces.iter().map(|space| space.read_bytes).sum())
        })),
        detail(bytes("written", "written", "Bytes that they wrote.", |one| {
            Some(one.spaces.iter().map(|space| space.write_bytes).sum())
        })),
        detail(bytes(
            "input",
            "input",
            "Bytes of loaded tables by the plan, counting the inputs of each step once.",
            |one| Some(one.input_bytes),
        )),
        detail(share("device_share", "device share", "Device bytes ÷ application bytes.", |one| {
            one.device_share
        })),
        below(text("lengths", "lengths", "Distribution of the times.", |one| {
            one.lengths.as_ref().map(|(_, bins)| bins.in_words(edge)).unwrap_or_default()
        })),
    ];
}

/// One result for each counted pass, with the number of the pass.
pub(crate) fn of_passes<T>(
    all: &[Stated<Timeline>],
    what: impl Fn(&Timeline) -> Vec<T>,
) -> Vec<Stated<(u32, T)>> {
    let of = |pass: &Timeline| what(pass).into_iter().map(|of| (pass.repetition, of)).collect();
    all.iter().filter(|one| one.about().counts).flat_map(|one| one.each(of)).collect()
}

/// One result for the first counted pass of each figure.
pub(crate) fn of_first_passes<T>(
    all: &[Stated<Timeline>],
    what: impl Fn(&Timeline) -> Vec<T>,
) -> Vec<Stated<T>> {
    first_passes(all).flat_map(|one| one.each(&what)).collect()
}

/// The first counted pass of each figure.
pub fn first_passes(all: &[Stated<Timeline>]) -> impl Iterator<Item = &Stated<Timeline>> {
    let mut last = None;
    let counted = all.iter().filter(|one| one.about().counts);
    counted.filter(move |one| last.replace(one.figure()) != Some(one.figure()))
}

/// Every pass of every job figure, in the order of the figures. Empty for a record without launch rows.
#[must_use]
pub fn timelines(run: &Run, figures: &[Figure]) -> Vec<Timeline> {
    let all = subjects(&run.manifest.plan, figures);
    all.iter().filter(|one| one.figure.phase == Phase::Jobs).flat_map(|one| of_figure(run, one)).collect()
}

fn of_figure(run: &Run, &Subject { index: figure, figure: of, case, .. }: &Subject<'_>) -> Vec<Timeline> {
    let (launches, steps, spaces) = (run.launches(&case.id), run.steps(&case.id), run.spaces(&case.id));
    let timeline = |pass: &RepetitionFigure| {
        let key = &pass.phase.key;
        let launches = launch_timer::launch_timers(
            launches.iter().filter(|row| row.key == *key),
            steps.iter().filter(|row| row.key == *key),
        );
        let rows: Vec<&LaunchRow> = launches.iter().map(|one| &one.row).collect();
        let spaces: Vec<&SpaceRow> = spaces.iter().filter(|row| row.key == *key).collect();
        let seconds = profile(&spaces);
        let begun = rows.iter().filter(|row| ran(row) && row.start_cost_ns > 0);
        let starts = Summary::of(&begun.map(|row| row.start_cost_ns as f64).collect::<Vec<_>>());
        let (wall_ns, cpu_ns) = (pass.phase.wall_ns, pass.phase.harness_cpu_ns);
        let found = Timeline {
            figure,
            case: case.id.clone(),
            repetition: pass.repetition,
            counts: pass.counts,
            concurrency: concurrency(&rows),
            lengths: lengths(&rows),
            levels: levels(&seconds),
            seconds,
            spaces: spaces::spaces(&run.manifest.host, case, &launches, &spaces),
            input_bytes: case.workload.work.jobs().map_or(0, |jobs| jobs.read_bytes().0),
            kinds: spaces::kinds(case, &launches),
            device_share: pass.moved_by_devices(),
            launcher_share: cpu_ns.filter(|_| wall_ns > 0).map(|cpu| cpu as f64 / wall_ns as f64),
            start_seconds: starts
                .map_or([0.0; 2], |all| [all.median, all.max].map(|cost| in_seconds(whole(cost)))),
            launches,
        };
        (!found.launches.is_empty()).then_some(found)
    };
    of.repetitions.iter().filter_map(timeline).collect()
}
