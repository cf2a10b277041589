//! What a study fixes before it runs: how each case is gone through, and what was promised.

use analysis::{CONFIDENCE, DIFFERENCE_LEAST, bound_least, judged_by, selected};
use plan::{Bound, Case, Over, Plan, Protocol, Selector, Side, Statistic, Stopping};

use crate::format::{counted, percent};
use crate::section;
use crate::table::PROSE_COLUMNS as COLUMNS;
use crate::table::wrapped;

/// What the study asks of its figures that their repetitions cannot carry, with how many would.
pub(super) fn repetitions(plan: &Plan) -> String {
    let claimed = plan.terms.claims.iter().flat_map(|claim| {
        let right = match &claim.right {
            Side::Measured(selector) => Some(selector),
            Side::Value(_) => None,
        };
        std::iter::once(&claim.left).chain(right)
    });
    let claimed = claimed.map(|selector| ("claims compare figures", selector, DIFFERENCE_LEAST));
    let promised = plan.terms.commitments.iter().filter_map(|commitment| {
        let among = match commitment.over {
            Over::Best => chosen(plan, &commitment.figures).count().max(1),
            Over::Every => 1,
        };
        let needed = bound_least((1.0 - CONFIDENCE) / among as f64);
        match (among, commitment.statistic) {
            (1, Statistic::ConfidenceBound) => {
                Some(("commitments ask for a bound", &commitment.figures, needed))
            }
            (1, _) => None,
            _ => Some(("commitments take the best of several figures", &commitment.figures, needed)),
        }
    });
    let mut said: Vec<(&str, u32, usize)> = Vec::new();
    for (what, selector, needed) in claimed.chain(promised) {
        let fewest = chosen(plan, selector).map(counting).min();
        let Some(there) = fewest.filter(|&there| (there as usize) < needed) else { continue };
        match said.iter_mut().find(|(other, ..)| *other == what) {
            Some((_, fewest, most)) => (*fewest, *most) = ((*fewest).min(there), (*most).max(needed)),
            None => said.push((what, there, needed)),
        }
    }
    let line = |(what, there, needed): &(&str, u32, usize)| {
        let there = counted(u64::from(*there), "repetition");
        let text = format!("{what} of {there}: at least {needed} are needed; set repetitions = {needed}");
        wrapped("  ! ", &text, COLUMNS)
    };
    said.iter().map(line).collect()
}

/// The cases and result phases that a selection is about.
fn chosen<'a>(plan: &'a Plan, selector: &Selector) -> impl Iterator<Item = &'a Case> {
    let phases = plan.cases.iter().flat_map(|case| case.phases.iter().map(move |&phase| (case, phase)));
    phases.filter(|(case, phase)| phase.is_result() && selector.takes(case, *phase)).map(|(case, _)| case)
}

/// How many passes of a case will count, at least.
const fn counting(case: &Case) -> u32 {
    match case.protocol.stopping {
        Stopping::Count => case.repetitions,
        Stopping::Interval { least, .. } => least,
        Stopping::Steady { window, .. } => window,
    }
}

/// How cases are gone through, where it is not simply once: one line for each protocol.
pub(super) fn protocol(plan: &Plan) -> String {
    let mut said: Vec<(String, Vec<&str>)> = Vec::new();
    for case in plan.cases.iter().filter(|case| case.protocol != Protocol::default()) {
        let text = words(case);
        let workload = if case.group.is_empty() { case.id.as_str() } else { case.group.as_str() };
        match said.iter_mut().find(|(other, _)| *other == text) {
            Some((_, workloads)) if workloads.contains(&workload) => {}
            Some((_, workloads)) => workloads.push(workload),
            None => said.push((text, vec![workload])),
        }
    }
    let several = said.len() > 1;
    let line = |(text, workloads): &(String, Vec<&str>)| {
        let of = if several { format!("{}: ", workloads.join(", ")) } else { String::new() };
        wrapped("  protocol    ", &format!("{of}{text}"), COLUMNS)
    };
    said.iter().map(line).collect()
}

/// How a case is gone through.
pub(crate) fn words(case: &Case) -> String {
    let protocol = &case.protocol;
    let mut parts = Vec::new();
    if protocol.wipe {
        parts.push("the files are removed and the device is discarded (wiped) first".to_owned());
    }
    if protocol.precondition > 0 {
        let writes = counted(protocol.precondition.into(), "full sequential write");
        parts.push(format!("{writes} of the files before the first pass"));
    }
    if protocol.warm_up > 0 {
        let passes = match protocol.warm_up {
            1 => "1 warm-up pass that does not count".to_owned(),
            several => format!("{several} warm-up passes that do not count"),
        };
        parts.push(passes);
    }
    let repetitions = counted(case.repetitions.into(), "repetition");
    parts.push(match protocol.stopping {
        Stopping::Count => repetitions,
        Stopping::Interval { share, least } => format!(
            "until the interval of the median is at most {} wide, not before {least} and at most {repetitions}",
            percent(share)
        ),
        Stopping::Steady { window, excursion, slope } => format!(
            "until {window} repetitions are steady (excursion {}, slope {}), at most {repetitions}",
            percent(excursion),
            percent(slope)
        ),
    });
    if protocol.rounds > 1 {
        parts.push(format!("{} rounds each, of which the last counts", protocol.rounds));
    }
    if protocol.drop_caches {
        parts.push("the page cache is dropped before each phase that reads".to_owned());
    }
    if protocol.phase_min.0 > 0 {
        parts.push(format!("a phase shorter than {} meets no commitment", protocol.phase_min));
    }
    parts.join("; ")
}

/// Every commitment with the rule that judges it.
pub(super) fn commitments(plan: &Plan) -> String {
    if plan.terms.commitments.is_empty() {
        return String::new();
    }
    let mut out = "\nPromised, and fixed from now on\n".to_owned();
    for one in &plan.terms.commitments {
        let side = match one.bound {
            Bound::AtLeast => "at least",
            Bound::AtMost => "at most",
        };
        let by = if one.by.is_empty() { String::new() } else { format!(" ({})", one.by) };
        let promised = section::amount(one.amount);
        let of = selected(&one.figures, one.over);
        let text = format!("{}{by}: {side} {promised}, {of}; judged by {}", one.name, judged_by(one));
        out.push_str(&wrapped("  · ", &text, COLUMNS));
    }
    out
}
