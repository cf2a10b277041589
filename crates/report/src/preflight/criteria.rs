//! What a study fixes before it runs: the protocol of each case, and the commitments.

use analysis::{
    comparisons::{PercentileNeed, judged_by, selected, side},
    statistics::{CONFIDENCE, DIFFERENCE_LEAST, bound_least},
};
use plan::{Asked, Case, Commitment, Over, PHASE_SECONDS_MIN, Plan, Protocol, Side, Statistic, Stopping};

use crate::format::screen::Screen;
use crate::format::table::wrapped;
use crate::format::{counted, duration, grouped, names, percent};
use crate::section::criterion;

/// Statistics of the study that need more repetitions than planned, with how many.
pub(super) fn repetitions(plan: &Plan, screen: Screen) -> String {
    let claimed = plan.criteria.claims.iter().flat_map(|claim| {
        let right = match &claim.right {
            Side::Measured(selector) => Some(selector),
            Side::Value(_) | Side::OperationsPerSecond(_) => None,
        };
        [Some(&claim.left), right].into_iter().flatten()
    });
    let claimed = claimed.map(|selector| ("claims compare figures", selector, DIFFERENCE_LEAST));
    // A percentile takes more than a median of rates: see `percentiles`.
    let by_median = plan.criteria.commitments.iter().filter(|one| !is_of_percentile(one));
    let promised = by_median.filter_map(|one| {
        let among = match one.over {
            Over::Best => plan.selected(&one.figures).len().max(1),
            Over::Every => 1,
        };
        let what = match (among, one.statistic) {
            (1, Statistic::ConfidenceBound) => "commitments ask for a bound",
            (1, Statistic::Median) => {
                "commitments judge a median, which near the promise may pass or fail by chance,"
            }
            (1, _) => return None,
            _ => "commitments take the best of several figures",
        };
        Some((what, &one.figures, bound_least((1.0 - CONFIDENCE) / among as f64)))
    });
    let too_few = claimed.chain(promised).filter_map(|(what, selector, needed)| {
        let there = plan.selected(selector).into_iter().map(|(case, _)| case.repetitions_least()).min()?;
        ((there as usize) < needed).then_some((what, there, needed))
    });
    let line = |same: &Vec<(&str, u32, usize)>| {
        let there = counted(same.iter().map(|one| one.1).min().unwrap_or(0).into(), "repetition");
        let needed = same.iter().map(|one| one.2).max().unwrap_or(0);
        let what = same[0].0;
        let text = format!("{what} of {there}: at least {needed} are needed; set repetitions = {needed}");
        wrapped("  ! ", &text, screen.prose())
    };
    let too_few = analysis::figures::grouped(too_few, |(what, ..)| *what);
    too_few.iter().map(line).chain(percentiles(plan, screen)).collect()
}

fn is_of_percentile(commitment: &Commitment) -> bool {
    commitment.asked.percentile().is_some()
}

/// A line for each promised percentile that the planned transfers and repetitions cannot show to be kept.
fn percentiles(plan: &Plan, screen: Screen) -> impl Iterator<Item = String> {
    let line = move |one: &Commitment| {
        let needs = PercentileNeed::of(plan, one);
        let unmet =
            needs.iter().filter(|need| need.is_met() == Some(false)).max_by_key(|need| need.repetitions)?;
        let name = &one.name;
        let text = format!("{name}: {}; it will not be shown to be kept", need_words(unmet));
        Some(wrapped("  ! ", &text, screen.prose()))
    };
    plan.criteria.commitments.iter().filter_map(line)
}

/// `p99.9 takes at least 4,603 transfers, and 17 repetitions of 2,000 or more with 4 in flight; planned are …`.
fn need_words(need: &PercentileNeed) -> String {
    let PercentileNeed { percent, repetitions, planned, in_flight, .. } = need;
    let Some(transfers) = need.transfers else {
        return format!("p{percent}: no number of transfers shows that none takes longer");
    };
    let transfers = grouped(transfers);
    let takes = if need.in_one {
        format!("{transfers} transfers in one repetition")
    } else {
        let each = need.planned_of_each.map_or(need.of_each, |planned| planned.min(need.of_each));
        format!(
            "{transfers} transfers, and {} with {} or more each ({in_flight} in flight)",
            counted(*repetitions, "repetition"),
            grouped(each)
        )
    };
    let planned = counted(*planned, "repetition");
    let planned = match (need.planned_of_each, need.is_met()) {
        (Some(each), _) => format!("planned are {planned} of {}", counted(each, "transfer")),
        (None, None) => format!("planned are {planned}, of as many transfers as the storage completes"),
        (None, _) => format!("planned are {planned}"),
    };
    format!("p{percent} takes at least {takes}; {planned}")
}

/// A line for each protocol that differs from the default.
pub(super) fn protocol(plan: &Plan, screen: Screen) -> String {
    let told = plan.cases.iter().filter(|case| case.protocol != Protocol::default());
    let said = analysis::figures::grouped(told, |case| words(case));
    let line = |same: &Vec<&Case>| {
        let names = same.iter().map(|case| if case.group.is_empty() { &case.id } else { &case.group });
        let names = analysis::figures::grouped(names, |name| *name);
        let names: Vec<&str> = names.iter().map(|same| same[0].as_str()).collect();
        let of = if said.len() > 1 { format!("{}: ", names.join(", ")) } else { String::new() };
        wrapped("  protocol    ", &format!("{of}{}", words(same[0])), screen.prose())
    };
    said.iter().map(line).collect()
}

/// The protocol of a case in words.
pub(crate) fn words(case: &Case) -> String {
    let protocol = &case.protocol;
    let repetitions = counted(case.repetitions.into(), "repetition");
    let wiped = case.preparations(case.passes_max());
    let writes = counted(protocol.precondition.into(), "full sequential write");
    let parts = [
        protocol.wipe.then(|| {
            format!(
                "the files are removed, and a device or a layout's free space is discarded (wiped), {}",
                if wiped > 1 { format!("{wiped} times: before each repetition") } else { "first".to_owned() }
            )
        }),
        (protocol.precondition > 0).then(|| {
            let when = if wiped > 1 { "after each wipe" } else { "before the first pass" };
            format!("{writes} of the files {when}")
        }),
        match protocol.warm_up {
            0 => None,
            1 => Some("1 warm-up pass that does not count".to_owned()),
            several => Some(format!("{several} warm-up passes that do not count")),
        },
        Some(match protocol.stopping {
            Stopping::Count => repetitions,
            Stopping::Interval { share, least } => format!(
                "until the interval of the median, valid after each repetition, is at most {} wide, after at \
                 least {least} and at most {repetitions}",
                percent(share)
            ),
            Stopping::Steady { window, excursion, slope } => format!(
                "until {window} repetitions are steady (excursion {}, slope {}), at most {repetitions}",
                percent(excursion),
                percent(slope)
            ),
        }),
        (protocol.rounds > 1).then(|| format!("{} rounds each, of which the last counts", protocol.rounds)),
        protocol.drop_caches.then(|| "the page cache, directory entries and inodes of the whole host are dropped before each phase that reads".to_owned()),
        protocol.evict_files.then(|| {
            "only its files' pages are evicted from the page cache before each phase that reads".to_owned()
        }),
        (protocol.phase_min.0 > 0).then(|| {
            let least = protocol.phase_min.as_secs_f64().max(PHASE_SECONDS_MIN);
            format!("a phase shorter than {} meets no commitment", duration(least))
        }),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// `random reads (the contract): at least 1,000,000 IOPS`; `operations` is the unit of operations per second.
pub(crate) fn promised(one: &Commitment, asked: Asked, operations: &str) -> String {
    let by = if one.by.is_empty() { String::new() } else { format!(" ({})", one.by) };
    format!("{}{by}: {}", one.name, criterion(asked, side(one.bound), operations))
}

/// Every commitment with the rule that judges it.
pub(super) fn commitments(plan: &Plan, screen: Screen) -> String {
    let all = plan.criteria.commitments.iter().map(|one| {
        let (of, by) = (selected(&one.figures, one.over), judged_by(plan, one));
        let phases = plan.selected(&one.figures).into_iter().map(|(_, phase)| phase);
        let what = promised(one, one.asked, names::common_operations_unit(phases));
        let needs = PercentileNeed::of(plan, one);
        // The case that is furthest from what it takes.
        let hardest = needs.iter().max_by_key(|need| (need.is_met() == Some(false), need.repetitions));
        let takes = hardest.map(|need| format!("; {}", need_words(need))).unwrap_or_default();
        wrapped("  · ", &format!("{what}, {of}; judged by {by}{takes}"), screen.prose())
    });
    let all: String = all.collect();
    if all.is_empty() { all } else { format!("\nPromised, and fixed from now on\n{all}") }
}
