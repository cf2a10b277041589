//! What should be looked at before a plan starts, in words, with the option that would do.

use plan::{Case, Concern, Outlook, PhaseOutlook, Plan, Question, SpaceOutlook};

use crate::format::{counted, decimal_bytes, duration, grouped, percent, rate};
use crate::table::PROSE_COLUMNS as COLUMNS;
use crate::table::wrapped;

/// Concerns of all cases, each said once, with the cases that it is about.
pub(super) fn of_plan(plan: &Plan, all: &[Outlook]) -> String {
    let mut said: Vec<(String, Vec<&str>)> = Vec::new();
    for (case, outlook) in plan.cases.iter().zip(all) {
        for concern in outlook.concerns.iter().filter(|concern| is_news(plan, concern)) {
            let text = concern_words(plan, case, concern);
            match said.iter_mut().find(|(other, _)| *other == text) {
                Some((_, cases)) => cases.push(&case.id),
                None => said.push((text, vec![&case.id])),
            }
        }
    }
    said.iter()
        .map(|(text, cases)| wrapped("  ! ", &format!("{}: {text}", cases.join(", ")), COLUMNS))
        .collect()
}

/// A quick plan measures the cache on purpose and says so in the titles of those cases.
pub(super) fn is_news(plan: &Plan, concern: &Concern) -> bool {
    !matches!((&plan.question, concern), (Question::Quick { .. }, Concern::Cacheable { .. }))
}

/// One concern of one case, as a line.
pub(super) fn line(plan: &Plan, case: &Case, concern: &Concern) -> String {
    wrapped("  ! ", &concern_words(plan, case, concern), COLUMNS)
}

/// A concern in words, with the option that would do.
pub(super) fn concern_words(plan: &Plan, case: &Case, concern: &Concern) -> String {
    let knob = knob(plan);
    let to = |verb: &str, segments: &Option<u64>, otherwise: &str| match segments {
        Some(segments) => format!("{verb} {knob} to {segments}"),
        None => otherwise.to_owned(),
    };
    let take = |outlook: &PhaseOutlook| {
        let (volume, seconds) = (decimal_bytes(outlook.bytes.0), duration(outlook.seconds));
        if outlook.bytes.0 == 0 {
            return format!("{}: takes {seconds}", outlook.phase);
        }
        format!("{}: {volume} take {seconds} at {}", outlook.phase, rate(outlook.bytes_per_second))
    };
    match concern {
        Concern::TooShort { outlook, segments } => {
            let longer = match case.workload.operations {
                Some(_) => "do more operations",
                None => "set a longer time",
            };
            let advice = to("raise", segments, longer);
            format!("{}, too short for a rate that can be defended: {advice}", take(outlook))
        }
        Concern::TooLong { outlook, segments } => {
            let advice = to("lower", segments, "use fewer tasks, a smaller block or a shorter time");
            format!("{}: {advice}, if that is not meant", take(outlook))
        }
        Concern::NoSpace { space, segments } => {
            let advice = would_fit(knob, segments);
            let free = decimal_bytes(space.free.0);
            format!("{}, but {} has {free} free: {advice}", product(case, space), space.name)
        }
        Concern::LittleSpace { space, segments } => {
            let advice = would_fit(knob, segments);
            let (free, share) = (decimal_bytes(space.free.0), percent(space.share()));
            format!(
                "{} of {free} free on {} ({share}): a full file system is slow; {advice} with room to spare",
                product(case, space),
                space.name
            )
        }
        Concern::Cacheable { volume, memory, segments } => format!(
            "{} go through the page cache of a host with {}: memory may answer; use direct I/O, or raise {knob} to {segments}",
            decimal_bytes(volume.0),
            decimal_bytes(memory.0)
        ),
        Concern::CachesTooLarge { volume, caches, share, segments } => format!(
            "caches of {} are {} of the {} of data, more than 5 %: raise {knob} to {segments}",
            decimal_bytes(caches.0),
            percent(*share),
            decimal_bytes(volume.0)
        ),
        Concern::ReadsOwnNode { tasks, of, distance } => {
            let advice = match (distance, knob) {
                (None, _) => "the nodes are too uneven for any shift to avoid it".to_owned(),
                (Some(_), "-s") => "leave -Q out, or raise it".to_owned(),
                (Some(distance), _) => {
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

/// The option that sets the number of segments, in the words of whoever asked.
fn knob(plan: &Plan) -> &'static str {
    match &plan.question {
        Question::Dialect { tool, .. } if tool == "ior" => "-s",
        _ => "segments",
    }
}

fn would_fit(knob: &str, segments: &Option<u64>) -> String {
    match segments {
        Some(segments) => format!("{knob} {segments} would fit"),
        None => "use fewer tasks or a smaller block".to_owned(),
    }
}

/// `132 tasks × 16 MiB × 10,000 = 22.1 TB`, or the bytes alone where the files are spread.
fn product(case: &Case, space: &SpaceOutlook) -> String {
    let geometry = case.workload.geometry;
    let needed = decimal_bytes(space.needed.0);
    if space.needed != case.workload.bytes() {
        return needed;
    }
    let tasks = counted(u64::from(case.workload.tasks), "task");
    format!("{tasks} × {} × {} = {needed}", geometry.block, grouped(geometry.segments))
}
