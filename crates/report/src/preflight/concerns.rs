//! Warnings before a plan starts, with the option that would avoid each.

use plan::{
    Bytes, Case, Concern, Interval, PhaseEstimate, Plan, PlanSource, Sharing, Source, SpaceEstimate, visible,
};

use crate::format::screen::Screen;
use crate::format::table::wrapped;
use crate::format::{counted, decimal_bytes, duration, grouped, percent, rate};

/// Whether to show a concern. A quick plan measures the cache on purpose, as the titles of those cases say.
pub(super) fn is_news(plan: &Plan, concern: &Concern) -> bool {
    !matches!((&plan.source, concern), (PlanSource::Quick { .. }, Concern::Cacheable { .. }))
}

/// One concern of one case, as a line.
pub(super) fn line(plan: &Plan, case: &Case, concern: &Concern, screen: Screen) -> String {
    wrapped("  ! ", &concern_words(plan, case, concern), screen.prose())
}

/// A concern in words, with the option that would avoid it.
pub(super) fn concern_words(plan: &Plan, case: &Case, concern: &Concern) -> String {
    let tool = match &plan.source {
        PlanSource::Dialect { tool, .. } => dialect::advice(tool),
        _ => None,
    };
    let set = |to: &str, segments: u64| more_data(plan, case, tool, to, segments);
    let take = |estimate: &PhaseEstimate| {
        let (phase, seconds) = (estimate.phase, duration(estimate.seconds.middle));
        let (volume, rate) = (decimal_bytes(estimate.bytes.0), rate(estimate.bytes_per_second.middle));
        match estimate.bytes.0 {
            0 => format!("{phase}: takes {seconds}"),
            _ if estimate.by_clock => format!("{phase}: {volume} take {seconds} at {rate}"),
            _ => format!("{phase}: {volume} take about {seconds} at {rate}, {}", origin(estimate)),
        }
    };
    let would_fit = |segments: &Option<u64>| match segments {
        Some(segments) => format!("{} would fit", set("", *segments)),
        None if case.workload.work.jobs().is_some() => "lower the scale".to_owned(),
        None => "use fewer tasks or a smaller block".to_owned(),
    };
    match concern {
        Concern::TooShort { estimate, segments } => {
            let advice = match (segments, case.workload.operations) {
                (Some(segments), _) => format!("raise {}", set(" to", *segments)),
                (None, Some(_)) => "do more operations".to_owned(),
                (None, None) => "set a longer time".to_owned(),
            };
            format!("{}, too short for a rate that can be defended: {advice}", take(estimate))
        }
        Concern::TooLong { estimate, segments } => {
            let advice = match segments {
                Some(segments) => format!("lower {}", set(" to", *segments)),
                None if case.workload.work.jobs().is_some() => "lower the scale".to_owned(),
                None => "use fewer tasks, a smaller block or a shorter time".to_owned(),
            };
            format!("{}: {advice}, unless that is intended", take(estimate))
        }
        Concern::NoSpace { space, segments } => {
            let (needs, name, free) = (product(case, space), &space.name, decimal_bytes(space.free.0));
            format!("{needs}, but {name} has {free} free: {}", would_fit(segments))
        }
        Concern::LittleSpace { space, segments } => {
            let (needs, name, free) = (product(case, space), &space.name, decimal_bytes(space.free.0));
            let (share, advice) = (percent(space.share()), would_fit(segments));
            format!(
                "{needs} of {free} free on {name} ({share}): a full file system is slow; {advice} with room to spare"
            )
        }
        Concern::Cacheable { volume, memory, segments } => format!(
            "{} go through the page cache of a host with {}: memory may answer; use direct I/O{}, or raise {}",
            decimal_bytes(volume.0),
            decimal_bytes(memory.0),
            tool.map(|tool| format!(" ({})", tool.direct)).unwrap_or_default(),
            set(" to", *segments)
        ),
        Concern::CachesTooLarge { volume, caches, share, segments } => format!(
            "caches of {} are {} of the {} of data, more than 5 %: raise {}",
            decimal_bytes(caches.0),
            percent(*share),
            decimal_bytes(volume.0),
            set(" to", *segments)
        ),
        Concern::ReadsOwnNode { tasks, of, distance } => {
            let advice = match (distance, tool.and_then(|tool| tool.read_distance), &plan.source) {
                (None, ..) => "the nodes are too uneven for any shift to avoid it".to_owned(),
                (Some(_), Some(option), _) => format!("leave {option} out, or raise it"),
                (Some(distance), None, PlanSource::Dialect { .. }) => {
                    format!("a distance of {distance} tasks would avoid it")
                }
                (Some(distance), None, _) => {
                    format!("write read_from = \"next-node\", or a read_distance of {distance}")
                }
            };
            let tasks = counted(u64::from(*tasks), "task");
            format!("{tasks} of {of} read what their own node wrote, and its memory may answer: {advice}")
        }
        Concern::Unbalanced { tasks, targets, bound } => format!(
            "{} over {}: at most {} of the sum can be reached; use a multiple of {targets}",
            counted(u64::from(*tasks), "task"),
            counted(u64::from(*targets), "target"),
            percent(*bound)
        ),
    }
}

/// What makes `case` move as much data as `segments` segments, in the words of the request: an option of the tool, or
/// keys of a study, which uses `size` if present.
fn more_data(plan: &Plan, case: &Case, tool: Option<&dialect::Advice>, to: &str, segments: u64) -> String {
    let geometry = case.workload.geometry;
    match (tool, &plan.source) {
        _ if case.workload.work.jobs().is_some() => "the scale".to_owned(),
        _ if !case.workload.work.is_transfers() => "the number of files or their size".to_owned(),
        (Some(tool), _) => tool.volume(case, segments, to),
        (None, PlanSource::Study { .. }) if geometry.segments == 1 => {
            let sharers =
                if case.workload.files.sharing == Sharing::Shared { case.workload.tasks } else { 1 };
            let size = geometry.block.0.saturating_mul(segments).saturating_mul(sharers.into());
            format!("size{to} {}", Bytes(size))
        }
        (None, PlanSource::Study { .. }) => format!("segments{to} {segments}"),
        _ => {
            let all = case.workload.bytes().0 / geometry.segments.max(1);
            format!("the amount of data{to} {}", Bytes(all.saturating_mul(segments)))
        }
    }
}

/// Where the rate of an estimate comes from. What a data sheet or a limit gives is its highest value, and the rate that
/// is expected is a share of it.
fn origin(estimate: &PhaseEstimate) -> String {
    let source = visible(&estimate.source.to_string()).into_owned();
    let Interval { middle, high, .. } = estimate.bytes_per_second;
    match estimate.source {
        Source::Expected(_) | Source::Ceiling(_) if middle < high => {
            format!("{} of the {} of {source}", percent(middle / high), rate(high))
        }
        _ => format!("from {source}"),
    }
}

/// `132 tasks × 16 MiB × 10,000 = 22.1 TB`, or only the bytes if the files are spread.
fn product(case: &Case, space: &SpaceEstimate) -> String {
    let geometry = case.workload.geometry;
    let needed = decimal_bytes(space.needed.0);
    if space.needed != case.workload.bytes() {
        return needed;
    }
    let tasks = counted(u64::from(case.workload.tasks), "task");
    format!("{tasks} × {} × {} = {needed}", geometry.block, grouped(geometry.segments))
}
