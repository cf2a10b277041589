//! Jobs over time: who ran when, how many at a time, how long, and how much each second.

use analysis::{LaunchTimer, Level, Levels, ProfileSecond, Timeline};
use serde_json::{Value, json};

use super::spread::pattern_of;
use super::{
    BLUE, Chart, DASHES, FRAME_PX, GREEN, ORANGE, PALETTE, PANEL_PX, PURPLE, SHAPES, VERMILLION, escaped,
};
use crate::format::{duration, rate};
use crate::view::Report;

/// Passes that are drawn: the first that counts of each of the first figures.
const PASSES_MAX: usize = 6;
/// Streams of tests in one chart; each has a row.
const LANES_MAX: usize = 90;
/// Height of a row in CSS pixels.
const LANE_PX: usize = 17;
/// Points of one line; of more, neighbours are added up.
const POINTS_MAX: usize = 1500;
/// Hatchings that tell tests of one colour apart.
const HATCHES: [&str; 4] = ["", "/", "x", "."];
/// What a launch is marked by that did not come to its end.
const BROKEN: &str = "did not come to its end";

pub(super) fn charts(report: &Report) -> Vec<Chart> {
    let all = analysis::first_passes(&report.found.timelines).filter_map(analysis::Stated::says);
    all.take(PASSES_MAX).flat_map(of_pass).collect()
}

fn of_pass(one: &Timeline) -> Vec<Chart> {
    let mut charts = vec![launches(one)];
    charts.extend(one.levels.as_ref().map(|levels| profile(one, levels)));
    charts.extend(one.lengths.as_ref().map(|_| histogram(one)));
    charts
}

const fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

const fn real_seconds(row: &record::StepRow) -> f64 {
    seconds(row.end_ns.saturating_sub(row.start_ns))
}

fn id(kind: &str, one: &Timeline) -> String {
    format!("chart-jobs-{kind}-{}", one.figure + 1)
}

fn title(one: &Timeline, text: &str) -> String {
    format!("Figure {}, pass {}: {text}", one.figure + 1, one.repetition)
}

/// A row for each stream of each test, and the number that run below.
fn launches(one: &Timeline) -> Chart {
    let mut lanes: Vec<(&str, u32)> = Vec::new();
    let mut tests: Vec<&str> = Vec::new();
    for timer in one.launches.iter().filter(|timer| real_seconds(&timer.whole) > 0.0) {
        if !tests.contains(&timer.row.test.as_str()) {
            tests.push(&timer.row.test);
        }
        if !lanes.contains(&(&timer.row.test, timer.row.stream)) {
            lanes.push((&timer.row.test, timer.row.stream));
        }
    }
    // Streams of one test stand together.
    lanes.sort_by_key(|(test, stream)| (tests.iter().position(|one| one == test), *stream));
    let gone = lanes.len().saturating_sub(LANES_MAX);
    lanes.truncate(LANES_MAX);
    let name = |(test, stream): &(&str, u32)| format!("{} · {}", escaped(test), stream + 1);
    let names: Vec<String> = lanes.iter().map(name).collect();
    let mut data: Vec<Value> =
        tests.iter().enumerate().map(|(place, test)| bars(one, place, test, &lanes, name)).collect();
    data.extend(broken(one, &lanes, name));
    data.extend([running(one), mean(one)]);
    let rows = LANE_PX * lanes.len();
    let height = rows + FRAME_PX + PANEL_PX + 30;
    // The panel of the number running has a height of its own, whatever the number of rows.
    let below = PANEL_PX as f64 / (rows + PANEL_PX + 30) as f64;
    let more = match gone {
        0 => String::new(),
        gone => format!(" {gone} more streams are not drawn."),
    };
    Chart {
        id: id("launches", one),
        place: "job-times".to_owned(),
        title: title(one, "launches over time"),
        note: format!(
            "A row for each stream of each test, a bar for each launch, from its start to its end. Below: how many run at a \
             time, and dashed their mean.{more}"
        ),
        full: true,
        height,
        data,
        layout: json!({
            "barmode": "overlay", "bargap": 0.15, "hovermode": "closest", "showlegend": false,
            "xaxis": { "title": { "text": "seconds since the start of the phase" }, "rangemode": "tozero", "anchor": "y2" },
            "yaxis": {
                "type": "category", "categoryorder": "array",
                "categoryarray": names.iter().rev().collect::<Vec<_>>(),
                "tickmode": "array", "tickvals": names, "tickfont": { "size": 10.5 }, "showgrid": false,
                "range": [-0.6, lanes.len() as f64 - 0.4], "domain": [below + 0.03, 1.0],
            },
            "yaxis2": { "title": { "text": "running" }, "rangemode": "tozero", "domain": [0.0, below] },
        }),
    }
}

fn bars(
    one: &Timeline,
    place: usize,
    test: &str,
    lanes: &[(&str, u32)],
    name: impl Fn(&(&str, u32)) -> String,
) -> Value {
    let own = one.launches.iter().filter(|timer| {
        timer.row.test == test
            && real_seconds(&timer.whole) > 0.0
            && lanes.contains(&(test, timer.row.stream))
    });
    let own: Vec<&LaunchTimer> = own.map(|timer| &**timer).collect();
    json!({
        "type": "bar", "orientation": "h", "name": escaped(test),
        "base": own.iter().map(|timer| seconds(timer.row.start_ns)).collect::<Vec<_>>(),
        "x": own.iter().map(|timer| real_seconds(&timer.whole)).collect::<Vec<_>>(),
        "y": own.iter().map(|timer| name(&(test, timer.row.stream))).collect::<Vec<_>>(),
        "hovertext": own.iter().map(|timer| words(timer)).collect::<Vec<_>>(),
        "hovertemplate": "%{hovertext}<extra></extra>",
        "marker": {
            "color": PALETTE[place % PALETTE.len()],
            "line": { "color": "ink", "width": 0.6 },
            "pattern": pattern_of(HATCHES[place / PALETTE.len() % HATCHES.len()]),
        },
    })
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
    let steps = one
        .steps
        .iter()
        .map(|step| format!("<br>{} {}", escaped(&step.action), duration(real_seconds(step))));
    text.extend(steps);
    if one.row.outcome != "complete" {
        text.push_str(&format!("<br>{} {}", escaped(&one.row.outcome), escaped(&one.row.message)));
    }
    text
}

/// A cross at the end of each launch that is not complete.
fn broken(one: &Timeline, lanes: &[(&str, u32)], name: impl Fn(&(&str, u32)) -> String) -> Option<Value> {
    let lost = one.launches.iter().filter(|timer| {
        timer.row.outcome != "complete"
            && real_seconds(&timer.whole) > 0.0
            && lanes.contains(&(timer.row.test.as_str(), timer.row.stream))
    });
    let lost: Vec<&LaunchTimer> = lost.map(|timer| &**timer).collect();
    (!lost.is_empty()).then(|| {
        json!({
            "type": "scatter", "mode": "markers", "name": BROKEN,
            "x": lost.iter().map(|timer| seconds(timer.row.end_ns)).collect::<Vec<_>>(),
            "y": lost.iter().map(|timer| name(&(timer.row.test.as_str(), timer.row.stream))).collect::<Vec<_>>(),
            "text": lost.iter().map(|timer| words(timer)).collect::<Vec<_>>(),
            "hovertemplate": "%{text}<extra></extra>",
            "marker": { "color": "ink", "symbol": "x", "size": 10 },
        })
    })
}

fn running(one: &Timeline) -> Value {
    json!({
        "type": "scatter", "mode": "lines", "name": "running", "yaxis": "y2", "fill": "tozeroy",
        "fillcolor": format!("{BLUE}22"),
        "x": one.concurrency.changes.iter().map(|(at, _)| seconds(*at)).collect::<Vec<_>>(),
        "y": one.concurrency.changes.iter().map(|(_, running)| running).collect::<Vec<_>>(),
        "hovertemplate": "from %{x:.1f} s on: %{y} at a time<extra></extra>",
        "line": { "color": BLUE, "width": 1.5, "shape": "hv" },
    })
}

/// How many ran at a time on average, from the first start to the last end.
fn mean(one: &Timeline) -> Value {
    let at = |place: Option<&(u64, u64)>| place.map_or(0.0, |(at, _)| seconds(*at));
    json!({
        "type": "scatter", "mode": "lines", "name": "mean", "yaxis": "y2",
        "x": [at(one.concurrency.changes.first()), at(one.concurrency.changes.last())], "y": [one.concurrency.mean, one.concurrency.mean],
        "hovertemplate": format!("{:.1} at a time on average<extra></extra>", one.concurrency.mean),
        "line": { "color": "ink", "width": 1.5, "dash": "dash" },
    })
}

/// Bytes per second of all spaces and of each, with the named levels.
fn profile(one: &Timeline, levels: &Levels) -> Chart {
    let neighbours = one.seconds.len().div_ceil(POINTS_MAX).max(1);
    let points: Vec<(f64, [f64; 4])> = one.seconds.chunks(neighbours).map(point).collect();
    let x: Vec<f64> = points.iter().map(|(at, _)| *at).collect();
    let lines = [
        ("all spaces", "ink", 2.2),
        ("permanent", BLUE, 1.3),
        ("work", VERMILLION, 1.3),
        ("utility", GREEN, 1.3),
    ];
    let mut data: Vec<Value> = Vec::new();
    for (place, (name, colour, width)) in lines.iter().enumerate() {
        let y: Vec<f64> = points.iter().map(|(_, rates)| rates[place] / 1e6).collect();
        if y.iter().all(|&rate| rate == 0.0) {
            continue;
        }
        data.push(json!({
            "type": "scatter", "mode": "lines", "name": name, "x": x, "y": y,
            "text": points.iter().map(|(_, rates)| rate(rates[place])).collect::<Vec<_>>(),
            "hovertemplate": format!("%{{x:.1f}} s: %{{text}}<extra>{name}</extra>"),
            "line": { "color": colour, "width": width, "dash": DASHES[place] },
        }));
    }
    let level = |name: &str, one: &Level, place: usize| {
        let [from, to] = [one.from_bytes_per_second, one.bytes_per_second];
        json!({
            "type": "scatter", "mode": "lines+markers", "name": format!("{name} {}", rate(to)),
            "x": [one.from_seconds, one.to_seconds], "y": [from / 1e6, to / 1e6],
            "hovertemplate": "%{fullData.name}<extra></extra>", "line": { "color": PURPLE, "width": 4 },
            "marker": { "color": PURPLE, "symbol": SHAPES[place], "size": 9 },
        })
    };
    data.push(level("start", &levels.start, 0));
    if let Some((climb, ..)) = &levels.climb {
        let mut line = level("climbs to", climb, 1);
        line["line"] = json!({ "color": ORANGE, "width": 2.5, "dash": "dash" });
        line["marker"]["color"] = ORANGE.into();
        data.push(line);
    }
    data.push(level("peak", &levels.peak, 2));
    let added = match neighbours {
        1 => String::new(),
        _ => format!(" Each point is the mean of {neighbours} seconds."),
    };
    Chart {
        id: id("profile", one),
        place: "job-times".to_owned(),
        title: title(one, "throughput over time"),
        note: format!("Bytes read and written by the jobs in each second, by space.{added}"),
        full: true,
        height: FRAME_PX + 2 * PANEL_PX,
        data,
        layout: json!({
            "xaxis": { "title": { "text": "seconds since the start of the phase" }, "rangemode": "tozero" },
            "yaxis": { "title": { "text": "MB/s, reads and writes" }, "rangemode": "tozero" },
            "hovermode": "closest", "margin": { "l": 10, "r": 24, "t": 66, "b": 44 },
        }),
    }
}

/// The middle of some neighbours, and the bytes per second of all spaces and of each.
fn point(some: &[ProfileSecond]) -> (f64, [f64; 4]) {
    let nanos: f64 = some.iter().map(|one| one.length_ns as f64).sum();
    let from = some.first().map_or(0, |one| one.start_ns) as f64;
    let of =
        |space: usize| some.iter().map(|one| one.of_spaces[space]).sum::<u64>() as f64 / nanos.max(1.0) * 1e9;
    let [permanent, work, utility] = [of(0), of(1), of(2)];
    ((from + nanos / 2.0) / 1e9, [permanent + work + utility, permanent, work, utility])
}

/// How long launches took.
fn histogram(one: &Timeline) -> Chart {
    let bins = one.lengths.iter().flat_map(|(_, all)| all.bins());
    let names: Vec<String> = bins
        .clone()
        .map(|(from, to, _)| format!("{} –<br>{}", analysis::edge(from), analysis::edge(to)))
        .collect();
    let counts: Vec<usize> = bins.map(|(_, _, count)| count).collect();
    Chart {
        id: id("lengths", one),
        place: "job-times".to_owned(),
        title: title(one, "how long launches took"),
        note: "Real times of the launches that are complete; the end of a bin is not in it.".to_owned(),
        full: false,
        height: FRAME_PX + PANEL_PX + 60,
        data: vec![json!({
            "type": "bar", "name": "launches", "x": names, "showlegend": false,
            "y": counts, "text": counts, "textposition": "outside", "cliponaxis": false,
            "hovertemplate": "%{x}: %{y} launches<extra></extra>",
            "marker": { "color": BLUE },
        })],
        layout: json!({
            "bargap": 0.08,
            "xaxis": { "type": "category", "title": { "text": "real time" }, "showgrid": false, "tickangle": 0, "tickfont": { "size": 11 } },
            "yaxis": { "title": { "text": "launches" }, "rangemode": "tozero", "tickformat": "d" },
            "hovermode": "closest", "margin": { "l": 10, "r": 24, "t": 34, "b": 60 },
        }),
    }
}
