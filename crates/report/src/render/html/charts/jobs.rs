//! Charts of jobs: ratios of CPU time to real time, launches over time, concurrency, durations, and bytes per
//! second.

use std::collections::HashSet;

use analysis::{
    gate::Stated,
    jobs::{JobAccounting, LaunchTimer, Level, Levels, ProfileSecond, Timeline},
    statistics::Histogram,
};
use record::StepRow;
use serde_json::json;

use super::look::{Look, SKY, TEXT_COLOUR};
use super::plotly::{Chart, Trace, axis, names};
use crate::format::escape::chart as escaped;
use crate::format::{duration, rate};
use crate::report::Report;
use crate::section::{point, title};

/// Maximum number of passes drawn: the first counted pass of each of the first figures.
const PASSES_MAX: usize = 6;
/// Maximum number of rows of the launch chart; each stream of a test has one.
const ROWS_MAX: usize = 90;
/// Heights in CSS pixels: of a row, and of the panel with the number of running launches.
const ROW_PX: usize = 17;
const PANEL_PX: usize = 200;
/// Maximum number of points of a line with a marker at each.
const MARKED_MAX: usize = 40;
/// Maximum number of points of a line; of more, neighbours are averaged.
const POINTS_MAX: usize = 1500;

/// The throughput of all systems and a histogram of CPU ratios for each workload, and the charts of each pass.
pub(super) fn charts(report: &Report) -> Vec<Chart> {
    let passes =
        analysis::jobs::first_passes(&report.found.timelines).filter_map(Stated::says).take(PASSES_MAX);
    let of_pass = |one: &Timeline| {
        let profile = one.levels.as_ref().map(|levels| profile(one, levels));
        let lengths = one.lengths.as_ref().map(|(_, lengths)| histogram(one, lengths));
        let workload = report.figures.get(one.figure).map(|figure| figure.group.as_str()).unwrap_or_default();
        let charts = [Some(launches(one)), profile, lengths].into_iter().flatten();
        charts.map(|chart| chart.of_workload(workload)).collect::<Vec<_>>()
    };
    let several = systems(report);
    several.into_iter().chain(ratios(report)).chain(passes.flat_map(of_pass)).collect()
}

/// The throughput of all systems that ran the jobs of a workload, on one axis.
fn systems(report: &Report) -> Vec<Chart> {
    let first = analysis::jobs::first_passes(&report.found.timelines).filter_map(Stated::says);
    let first = first.filter(|one| one.levels.is_some());
    let group = |one: &&Timeline| report.figures.get(one.figure).map(|figure| figure.group.as_str());
    let groups = analysis::figures::grouped(first, group);
    groups.into_iter().filter(|all| all.len() > 1).map(|all| beside(report, &all)).collect()
}

fn beside(report: &Report, passes: &[&Timeline]) -> Chart {
    let drawn = passes.iter().take(SYSTEMS_MAX).enumerate();
    let lines = drawn.filter_map(|(place, one)| {
        let figure = report.figures.get(one.figure)?;
        let at = point(&figure.settings);
        let at = if at.is_empty() { at } else { format!(", {at}") };
        let name = format!("{}{at}", title(report, &figure.target));
        let peak = one.levels.as_ref().map(|levels| rate(levels.peak.bytes_per_second))?;
        let points = profile_points(one).into_iter().map(|(at, rates)| {
            let words = format!("<b>{}</b>, {at:.1} s: {}", escaped(&name), rate(rates[0]));
            (at, rates[0] / 1e6, words)
        });
        Some(
            Trace::lines(&format!("{name}: peak {peak}"), Look::of(place)).points(points.collect::<Vec<_>>()),
        )
    });
    let group = report.figures.get(passes[0].figure).map(|figure| figure.group.as_str()).unwrap_or_default();
    let note =
        "Bytes read and written by all jobs in each second, the first pass that counts of each system.";
    Chart::new("systems", "job-times", format!("Throughput over time: {group}"), note)
        .of_workload(group)
        .height(380)
        .axes(axis("seconds since the start of the phase"), axis("MB/s, reads and writes"))
        .traces(lines)
}

/// The seconds of a pass as points of a line.
fn profile_points(one: &Timeline) -> Vec<(f64, [f64; 4])> {
    one.seconds.chunks(neighbours(one)).map(point_of).collect()
}

/// How many seconds are averaged for a point.
fn neighbours(one: &Timeline) -> usize {
    one.seconds.len().div_ceil(POINTS_MAX).max(1)
}

fn chart(one: &Timeline, kind: &'static str, heading: &str, note: String) -> Chart {
    let figure = one.figure + 1;
    let pass = match one.repetition {
        0 => "first pass".to_owned(),
        later => format!("pass {}", later + 1),
    };
    Chart::new(kind, "job-times", format!("Figure {figure}, {pass}: {heading}"), note)
}

const fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

const fn real_seconds(row: &StepRow) -> f64 {
    seconds(row.end_ns.saturating_sub(row.start_ns))
}

/// A row for each stream of each test; below, the number of running launches.
fn launches(one: &Timeline) -> Chart {
    let ran: Vec<&LaunchTimer> =
        one.launches.iter().map(|timer| &**timer).filter(|timer| real_seconds(&timer.whole) > 0.0).collect();
    let mut tests: Vec<&str> = Vec::new();
    for timer in &ran {
        if !tests.contains(&timer.row.test.as_str()) {
            tests.push(&timer.row.test);
        }
    }
    // Rows are ordered by test, then by stream.
    let place = |timer: &LaunchTimer| tests.iter().position(|one| *one == timer.row.test).unwrap_or_default();
    let row = |timer: &LaunchTimer| (place(timer), timer.row.stream);
    let mut rows: Vec<(usize, u32)> = ran.iter().map(|timer| row(timer)).collect();
    rows.sort_unstable();
    rows.dedup();
    let hidden = rows.len().saturating_sub(ROWS_MAX);
    rows.truncate(ROWS_MAX);
    let streams = |test: usize| rows.iter().filter(|(one, _)| *one == test).count();
    let name = |(test, stream): (usize, u32)| match streams(test) {
        1 => escaped(tests[test]),
        _ => format!("{} · {}", escaped(tests[test]), stream + 1),
    };
    let drawn = || ran.iter().filter(|timer| rows.contains(&row(timer)));
    let starts: Vec<f64> = drawn().map(|timer| seconds(timer.row.start_ns)).collect();
    let points = drawn().map(|timer| (real_seconds(&timer.whole), name(row(timer)), words(timer)));
    let bars = Trace::bars("launches", SKY)
        .with("orientation", "h")
        .outlined(0.6)
        .with("base", starts)
        .points(points);
    // A cross at the end of each incomplete launch.
    let lost = drawn()
        .filter(|timer| timer.row.outcome != "complete")
        .map(|timer| (seconds(timer.row.end_ns), name(row(timer)), words(timer)));
    let lost = Trace::marks("did not complete", Look { symbol: "x", ..TEXT_COLOUR.into() }).points(lost);
    let changes = &one.concurrency.changes;
    let running = changes.iter().map(|&(at, running)| {
        let at = seconds(at);
        (at, running, format!("from {at:.1} s on: {running} at a time"))
    });
    let running = Trace::lines("running", SKY)
        .with("line.shape", "hv")
        .with("fill", "tozeroy")
        .with("fillcolor", format!("{SKY}22"))
        .with("yaxis", "y2")
        .points(running);
    let mean = one.concurrency.mean;
    let ends = [changes.first(), changes.last()].map(|at| (at.map_or(0.0, |(at, _)| seconds(*at)), mean));
    let mean = Trace::level(&format!("{mean:.1} at a time on average"), "dash", ends).with("yaxis", "y2");
    let labels: Vec<String> = rows.iter().copied().map(name).collect();
    let height = ROW_PX * rows.len() + PANEL_PX;
    let below = PANEL_PX as f64 / height as f64;
    let more = if hidden == 0 { String::new() } else { format!(" {hidden} more streams are not drawn.") };
    let note = format!(
        "A row for each stream of each test, a bar for each launch, from its start to its end. Below: how many run \
         at a time, and dashed their mean.{more}"
    );
    chart(one, "jobs-launches", "launches over time", note)
        .height(height + 60)
        .panels([([below + 0.03, 1.0], super::latency::rows(&labels)), ([0.0, below], axis("running"))])
        .with("yaxis.tickfont.size", 10.5)
        .with("barmode", "overlay")
        .with("showlegend", false)
        .traces([bars, lost, running, mean])
}

fn words(one: &LaunchTimer) -> String {
    let mut text = format!(
        "<b>launch {}: {}</b>, stream {}, round {}<br>from {} for {}, CPU {}",
        one.row.launch,
        escaped(&one.row.test),
        one.row.stream + 1,
        one.row.round + 1,
        duration(seconds(one.row.start_ns)),
        duration(real_seconds(&one.whole)),
        duration(seconds(one.row.user_cpu_ns + one.row.system_cpu_ns))
    );
    let steps = one.steps.iter();
    text.extend(steps.map(|step| format!("<br>{} {}", escaped(&step.action), duration(real_seconds(step)))));
    if one.row.outcome != "complete" {
        text.push_str(&format!("<br>{} {}", escaped(&one.row.outcome), escaped(&one.row.message)));
    }
    text
}

/// Bytes per second of each space and of all together, with the start, climb and peak levels.
fn profile(one: &Timeline, levels: &Levels) -> Chart {
    let neighbours = neighbours(one);
    let points = profile_points(one);
    let mut data = Vec::new();
    // The sum is drawn only if several spaces were used.
    let used = (1..4).filter(|&place| points.iter().any(|(_, rates)| rates[place] > 0.0)).count();
    let looks = [TEXT_COLOUR.into(), Look::of(0), Look::of(1), Look::of(2)];
    let spaces = ["all spaces", "permanent", "work", "utility"].into_iter().zip(looks);
    for (place, (name, look)) in spaces.enumerate() {
        if points.iter().any(|(_, rates)| rates[place] > 0.0) && (place > 0 || used > 1) {
            let point = |(at, rates): &(f64, [f64; 4])| {
                let words = format!("{name}, {at:.1} s: {}", rate(rates[place]));
                (*at, rates[place] / 1e6, words)
            };
            let line = if points.len() > MARKED_MAX { Trace::lines } else { Trace::curve };
            data.push(line(name, look).points(points.iter().map(point)));
        }
    }
    let mut level = |name: &str, look: Look, one: &Level| {
        let name = format!("{name} {}", rate(one.bytes_per_second));
        let ends = [(one.from_seconds, one.from_bytes_per_second), (one.to_seconds, one.bytes_per_second)];
        let points = ends.map(|(at, bytes)| (at, bytes / 1e6, name.clone()));
        data.push(Trace::curve(&name, look).with("line.width", 3).points(points));
    };
    level("start", TEXT_COLOUR.into(), &levels.start);
    if let Some((climb, ..)) = &levels.climb {
        level("climbs to", Look { dash: "dash", symbol: "square", ..TEXT_COLOUR.into() }, climb);
    }
    level("peak", Look { symbol: "diamond", ..TEXT_COLOUR.into() }, &levels.peak);
    let mut note = "Bytes read and written by the jobs in each second, by space.".to_owned();
    if neighbours > 1 {
        note.push_str(&format!(" Each point is the mean of {neighbours} seconds."));
    }
    chart(one, "jobs-profile", "throughput over time", note)
        .height(420)
        .axes(axis("seconds since the start of the phase"), axis("MB/s, reads and writes"))
        .traces(data)
}

/// The middle of some neighbouring seconds, and their bytes per second: of all spaces together, then of each.
fn point_of(some: &[ProfileSecond]) -> (f64, [f64; 4]) {
    let nanos: f64 = some.iter().map(|one| one.length_ns as f64).sum();
    let from = some.first().map_or(0, |one| one.start_ns) as f64;
    let [permanent, work, utility] = [0, 1, 2]
        .map(|space| some.iter().map(|one| one.of_spaces[space]).sum::<u64>() as f64 / nanos.max(1.0) * 1e9);
    ((from + nanos / 2.0) / 1e9, [permanent + work + utility, permanent, work, utility])
}

/// A histogram of launch durations.
fn histogram(one: &Timeline, lengths: &Histogram) -> Chart {
    let bins = lengths.bins().map(|(from, to, count)| {
        let [from, to] = [from, to].map(analysis::jobs::edge);
        (format!("{from} –<br>{to}"), count, format!("{from} – {to}: {count} launches"))
    });
    let bars = Trace::bars("launches", SKY)
        .points(bins)
        .with("text", lengths.bins().map(|(.., count)| count).collect::<Vec<_>>())
        .with("textposition", "outside")
        .with("cliponaxis", false);
    let note = "Real times of the complete launches; a bin does not include its end.".to_owned();
    chart(one, "jobs-lengths", "how long launches took", note)
        .half(true)
        .axes(names(), axis("launches"))
        .with("xaxis.title.text", "real time")
        .with("yaxis.tickformat", "d")
        .traces([bars])
}

/// End of the y axis ÷ highest bar.
const HEADROOM: f64 = 1.1;
/// Maximum number of systems in one chart.
const SYSTEMS_MAX: usize = 12;

/// A histogram of CPU time ÷ real time for each workload, of the systems whose ratios are stated.
fn ratios(report: &Report) -> Vec<Chart> {
    let stated = report.found.matrix_tables.ratios.iter().filter(|one| one.says().is_some());
    let stated: HashSet<usize> = stated.filter_map(|one| one.inputs.first().copied()).collect();
    let of_group = |systems: &[JobAccounting]| {
        let is_stated = |one: &&JobAccounting| one.ratios.is_some() && stated.contains(&one.figure);
        let shown = systems.iter().filter(is_stated).take(SYSTEMS_MAX);
        let systems: Vec<&JobAccounting> = shown.collect();
        (!systems.is_empty()).then(|| ratio_histogram(report, &systems))
    };
    let groups = report.found.matrices.all.chunk_by(|a, b| a.case.group == b.case.group);
    groups.filter_map(of_group).collect()
}

fn ratio_histogram(report: &Report, systems: &[&JobAccounting]) -> Chart {
    let bins = || systems.iter().flat_map(|one| one.histogram.bins());
    let top = bins().map(|(.., launches)| launches).max().unwrap_or_default() as f64 * HEADROOM;
    let width = bins().next().map_or(0.0, |(from, to, _)| to - from);
    let bars = systems.iter().enumerate().map(|(place, one)| {
        let bins = one.histogram.bins().map(|(from, to, launches)| {
            let words = format!("{launches} launches from {from:.3} to below {to:.3}");
            (f64::midpoint(from, to), launches, words)
        });
        Trace::bars(title(report, &one.system), Look::of(place)).points(bins)
    });
    let means = systems.iter().enumerate().filter_map(|(place, one)| {
        let mean = one.ratios.as_ref()?.summary.mean;
        let of = match systems.len() {
            1 => String::new(),
            _ => format!(" of {}", title(report, &one.system)),
        };
        let dash = ["dash", "longdash", "dashdot"][place % 3];
        Some(Trace::level(&format!("mean{of}: {mean:.3}"), dash, [(mean, 0.0), (mean, top)]))
    });
    let one = Trace::level("below 1: waits for I/O, above: threaded", "dot", [(1.0, 0.0), (1.0, top)]);
    let heading = format!("{}: CPU time ÷ real time of every launch", systems[0].case.group);
    let note = format!(
        "Launches in bins of {width:.3}: twice the interquartile range ÷ ∛n, raised to a round number."
    );
    let launches = json!({ "title": { "text": "launches" }, "range": [0.0, top] });
    Chart::new("matrix", "matrix", heading, note)
        .axes(axis("(user + system CPU time) ÷ real time"), launches)
        .with("xaxis.rangemode", "normal")
        .traces(bars.chain([one]).chain(means))
}
