//! What a study fixes before it runs: how each case is gone through, and what was promised.

use plan::{Bound, Case, Plan, Protocol, Stopping};

use super::COLUMNS;
use crate::build::findings::{amount, judged_by, selected};
use crate::format::{counted, percent};
use crate::section;
use crate::table::wrapped;

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

fn words(case: &Case) -> String {
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
        let promised = section::amount(&amount(&one.amount));
        let of = selected(&one.figures, one.over);
        let text = format!("{}{by}: {side} {promised}, {of}; judged by {}", one.name, judged_by(one));
        out.push_str(&wrapped("  · ", &text, COLUMNS));
    }
    out
}
