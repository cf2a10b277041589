//! Phrases that several works have in common.

use std::fmt::Write as _;

use plan::{Case, Keep, Phase, Spread, Workload};

use crate::format::{counted, grouped};

pub(super) fn tasks_words(workload: &Workload) -> String {
    let tasks = grouped(u64::from(workload.tasks));
    let (least, most) = (workload.tasks / workload.nodes, workload.tasks.div_ceil(workload.nodes));
    match (workload.nodes, workload.spread) {
        (1, _) => tasks,
        (nodes, Spread::Ranks { tasks_per_rank }) => {
            format!("{tasks} on {nodes} nodes, {tasks_per_rank} on each process of the launcher")
        }
        (nodes, Spread::Nodes) if least == most => format!("{tasks} on {nodes} nodes, {least} on each"),
        (nodes, Spread::Nodes) => format!("{tasks} on {nodes} nodes, {least} or {most} on each"),
    }
}

pub(super) fn phases_words(case: &Case) -> String {
    let mut names: Vec<String> = case.phases.iter().map(ToString::to_string).collect();
    if case.phases.contains(&Phase::Mixed) {
        names.push(format!("({} % reads)", case.workload.read_percent));
    }
    let mut text = format!("{}; {}", names.join(", "), counted(u64::from(case.repetitions), "repetition"));
    if case.delay.0 > 0 {
        let _ = write!(text, ", {} of rest before each write and read", case.delay);
    }
    if let Some(limit) = case.time_limit {
        let _ = write!(text, ", none started after {limit}");
    }
    text
}

pub(super) fn clock_words(workload: &Workload) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(operations) = workload.operations {
        parts.push(format!("each task does {} transfers", grouped(operations)));
    }
    if let Some(duration) = workload.duration {
        parts.push(format!("passes are repeated for {duration}"));
    }
    if let Some(stonewall) = workload.stonewall {
        let after =
            if stonewall.wear_out { "all catch up with the fastest" } else { "the rest stays undone" };
        parts.push(format!("each task stops after {}, then {after}", stonewall.deadline));
    }
    if let Some(pace) = workload.pace {
        let rate = pace.transfers_per_second;
        parts.push(format!("open loop: {rate} transfers/s in all, latency counted from the intended start"));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

pub(super) fn keep_words(workload: &Workload) -> &'static str {
    match workload.files.keep {
        Keep::Never => "the files are removed, whatever happened",
        Keep::OnError => "the files are removed unless a check found wrong data",
        Keep::Always => "the files are kept",
    }
}
