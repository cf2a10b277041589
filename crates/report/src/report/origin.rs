//! Where, when and by which program a run was made, as lines for all formats.

use std::fmt::Write as _;

use record::{BlockDeviceFacts, FileSystemFacts, Provenance};

use crate::format::names;
use crate::format::{compact, duration, percent, utc};
use crate::inventory::beside::Whose;
use crate::report::Report;
use crate::report::run_info::RunInfo;

/// The nodes, if there are several, and the facts in which they differ.
pub(crate) fn nodes_line(report: &Report) -> Option<String> {
    let cluster = report.cluster.as_ref()?;
    let mut line = cluster.line();
    if !cluster.differences.is_empty() {
        let facts: Vec<&str> = cluster.differences.iter().map(|one| one.fact.as_str()).collect();
        let _ = write!(line, " · not the same: {}", facts.join(", "));
    }
    Some(line)
}

/// Node, system, processors and memory, without unknown facts.
pub(crate) fn host_line(report: &Report) -> String {
    let host = &report.host;
    let of = if is_simulated(report) { "the model's machine: " } else { "" };
    let several = report.cluster.as_ref().is_some_and(|cluster| cluster.nodes.len() > 1);
    let mut parts = vec![match (several, is_imported(report) && host.node == UNKNOWN_NODE) {
        (true, _) => format!("{of}first node {}", host.node),
        (false, true) => "on a host that is not printed".to_owned(),
        (false, false) => format!("{of}{}", host.node),
    }];
    parts.extend(host.operating_system.known().cloned());
    parts.extend(
        host.kernel.known().map(|kernel| kernel.split_whitespace().next().unwrap_or_default().to_owned()),
    );
    let cpus = host.usable_cpus;
    // Unknown for an imported run.
    if cpus > 0 {
        parts.push(match host.cpu_model.known() {
            Some(model) => format!("{cpus} × {model}"),
            None => format!("{cpus} processors"),
        });
        if host.memory_bytes > 0 {
            parts.push(format!("{} memory", plan::Bytes(host.memory_bytes)));
        }
    }
    parts.join(" · ")
}

/// What was measured on: the storage, then what [`host_line`] says.
pub(crate) fn measured_on(report: &Report) -> String {
    storage(report).into_iter().chain([host_line(report)]).collect::<Vec<_>>().join(" · ")
}

/// Whether `source` is the device `name` or one of its partitions: `sda1` of `sda`, `nvme0n1p1` of `nvme0n1`.
fn is_on(source: &str, name: &str) -> bool {
    let Some(rest) = source.strip_prefix(name) else { return false };
    let numbered = match name.ends_with(|last: char| last.is_ascii_digit()) {
        true => rest.strip_prefix('p'),
        false => Some(rest),
    };
    rest.is_empty()
        || numbered.is_some_and(|part| !part.is_empty() && part.bytes().all(|one| one.is_ascii_digit()))
}

/// Maximum number of kinds of storage that are named.
const STORAGE_NAMED: usize = 3;

/// The file systems of the targets, or the devices if there is none: `ext4 on nvme0n1 (PM9A3)`, `12 × xfs (P3700)`.
fn storage(report: &Report) -> Option<String> {
    let host = &report.host;
    let model = |source: &str| {
        let device = host.devices.iter().find(|device| is_on(source, &device.name))?;
        device.model.known().map(|model| model.trim().to_owned()).filter(|model| !model.is_empty())
    };
    let of_system = |system: &FileSystemFacts| {
        // A share of a server is named with its server, a device without its directory.
        let source = match system.source.strip_prefix("/dev/") {
            Some(device) => device.rsplit('/').next().unwrap_or_default(),
            None => &system.source,
        };
        let on = Some(source.to_owned()).filter(|on| !on.is_empty() && *on != system.kind);
        (system.kind.clone(), on, model(source))
    };
    let mut all: Vec<_> = host.file_systems.iter().map(of_system).collect();
    if all.is_empty() {
        let raw =
            |device: &BlockDeviceFacts| ("raw".to_owned(), Some(device.name.clone()), model(&device.name));
        all.extend(host.devices.iter().map(raw));
    }
    let groups = analysis::figures::grouped(&all, |(kind, _, model)| (kind, model));
    let words = |same: &Vec<&(String, Option<String>, Option<String>)>| {
        let (kind, on, model) = same[0];
        let model = model.as_ref().map(|model| format!(" ({model})")).unwrap_or_default();
        match (same.len(), on) {
            (1, Some(on)) if kind == "raw" => format!("block device {on}{model}"),
            (_, _) if kind == "raw" => format!("{} block devices{model}", same.len()),
            (1, Some(on)) => format!("{kind} on {on}{model}"),
            (1, None) => format!("{kind}{model}"),
            (count, _) => format!("{count} × {kind}{model}"),
        }
    };
    let mut named: Vec<String> = groups.iter().take(STORAGE_NAMED).map(words).collect();
    let more = groups.len().saturating_sub(STORAGE_NAMED);
    named.extend((more > 0).then(|| format!("{more} more kinds of storage")));
    (!named.is_empty()).then(|| named.join(", "))
}

/// The node name of imported runs whose text does not name the host.
pub(crate) const UNKNOWN_NODE: &str = "unknown";

pub(crate) fn is_imported(report: &Report) -> bool {
    report.run.provenance == "imported"
}

pub(crate) fn is_simulated(report: &Report) -> bool {
    report.run.provenance == names::provenance(Provenance::Simulated)
}

/// The owner of the host facts of the run.
pub(crate) fn whose(report: &Report) -> Whose {
    if is_simulated(report) { Whose::Model } else { Whose::Host }
}

/// When the run took place, how long, by which program and with which seed; for an imported run first its source.
pub(crate) fn run_line(report: &Report) -> String {
    let run = &report.run;
    let (when, origin, program) = (when(report), origin(report), &run.program_version);
    let state = format!("run {} ({})", run.id, run.state);
    let state = match prediction(report) {
        Some(prediction) => format!("{prediction} · {state}"),
        None => state,
    };
    if is_imported(report) || is_simulated(report) {
        return format!("{origin} by ioproof {program} · {when} · {state}");
    }
    format!("{when} · {origin} by ioproof {program} · seed {} · {state}", run.seed)
}

fn several_files(report: &Report) -> bool {
    report.printed.as_ref().is_some_and(|printed| printed.files.len() > 1)
}

/// When the run took place and how long it took, as far as known.
pub(crate) fn when(report: &Report) -> String {
    let run = &report.run;
    let utc = |unix_ns: i64| match utc(unix_ns) {
        printed if run.zoneless => printed.trim_end_matches(" UTC").to_owned(),
        time => time,
    };
    let zone = if run.zoneless { " (no time zone printed)" } else { "" };
    let started = utc(run.started_unix_ns);
    let took = took(report).map(|took| format!(", took {took}")).unwrap_or_default();
    match (is_imported(report), run.undated) {
        (true, true) => format!("when it was measured is not printed; imported {started}"),
        (true, false) => match (several_files(report), run.finished_unix_ns) {
            (true, Some(finished)) => format!("measured from {started} to {}{zone}", utc(finished)),
            _ => format!("measured {started}{zone}{took}"),
        },
        // Merged runs have no duration of their own. The phases of a simulated run took virtual time, and the
        // time of the computation is meaningless.
        (false, _) if is_simulated(report) => {
            let all = if run.runs > 1 { " in all" } else { "" };
            let took = run
                .virtual_ns
                .map(|nanos| format!(", {} of virtual time{all}", duration(nanos as f64 / 1e9)));
            let computed = run.computed.map(|part| {
                let time = duration(part.seconds);
                // Periods have no interval.
                let error = match part.rate_error {
                    0.0 => String::new(),
                    error => format!(", rates ± {} or less", percent(error)),
                };
                format!(" ({time} computed from steady states{error})")
            });
            let parts = [took, computed].into_iter().flatten();
            std::iter::once(started).chain(parts).collect()
        }
        (false, _) => match (run.runs, run.finished_unix_ns) {
            (2.., Some(finished)) => format!("{} runs from {started} to {}", run.runs, utc(finished)),
            _ => {
                let paused = paused(&report.run).unwrap_or_default();
                format!("{started}{took}{paused}")
            }
        },
    }
}

/// `measured`; for an imported run its files and the tools that printed them, for a simulated one its model.
pub(crate) fn origin(report: &Report) -> String {
    if let Some(model) = &report.run.model {
        return format!("{} by model {}", report.run.provenance, model.name);
    }
    let files = report.printed.as_ref().map(|printed| printed.files.as_slice()).unwrap_or_default();
    match (report.run.provenance, files) {
        ("imported", [_, ..]) => format!("imported from {} ({})", files.join(", "), report.run.tool),
        (provenance, _) => provenance.to_owned(),
    }
}

/// The file of the model of a simulated run, and what decides its figures.
pub(crate) fn model_line(report: &Report) -> Option<String> {
    let model = report.run.model.as_ref()?;
    Some(format!("model {} · SHA-256 {} · {}", model.path, model.sha256, model.seed_words()))
}

/// Duration of the run, if its end is known. Imported times are whole seconds, so shorter durations are unknown.
fn took(report: &Report) -> Option<String> {
    let nanos = report.run.finished_unix_ns?.checked_sub(report.run.started_unix_ns)?;
    let seconds = nanos as f64 / 1e9;
    match is_imported(report) {
        true => (seconds >= 1.0).then(|| format!("about {}", duration(seconds))),
        false => Some(duration(seconds)),
    }
}

/// `1.4 × the predicted 3 min (2 min to 5 min, from the study's expectations)`: how far the prediction of a complete run
/// was off, without the time in which it did not run.
pub(crate) fn prediction(report: &Report) -> Option<String> {
    let run = &report.run;
    let predicted = run.predicted.as_ref().filter(|one| one.seconds > 0.0 && run.state == "complete")?;
    let seconds = match run.virtual_ns {
        Some(nanos) => nanos as f64 / 1e9,
        None => {
            run.finished_unix_ns?.checked_sub(run.started_unix_ns)? as f64 / 1e9 - run.paused_ns as f64 / 1e9
        }
    };
    let (least, most) = (duration(predicted.low_seconds), duration(predicted.high_seconds));
    let range = if least == most { String::new() } else { format!("{least} to {most}, ") };
    let times = seconds / predicted.seconds;
    let (times, about) = (compact(times, times, false), duration(predicted.seconds));
    Some(format!("{times} × the predicted {about} ({range}from {})", predicted.source))
}

/// `; 6 min 3 s of them left nothing in the record: killed, resumed once`: it did not run, or what it did was lost.
fn paused(run: &RunInfo) -> Option<String> {
    let killed = if run.killed > 0 { "killed" } else { "interrupted" };
    let times = match run.resumed {
        0 => return None,
        1 => "once".to_owned(),
        n => format!("{n} times"),
    };
    let paused = duration(run.paused_ns as f64 / 1e9);
    Some(format!("; {paused} of them left nothing in the record: {killed}, resumed {times}"))
}

#[cfg(test)]
mod tests {
    use super::is_on;

    #[test]
    fn a_partition_is_on_its_own_device() {
        for (source, name) in
            [("sda", "sda"), ("sda1", "sda"), ("nvme0n1p2", "nvme0n1"), ("nvme0n1", "nvme0n1")]
        {
            assert!(is_on(source, name), "{source} {name}");
        }
        for (source, name) in
            [("sdaa1", "sda"), ("nvme0n10", "nvme0n1"), ("sdb", "sda"), ("server:/sda", "sda")]
        {
            assert!(!is_on(source, name), "{source} {name}");
        }
    }
}
