//! Devices beside each other, measured rates beside those that a seek time predicts, and file systems beside
//! what their devices promise.

use analysis::{Member, MemberSet, SeekFit, Stated};
use serde_json::{Value, json};

use super::axis::{Axis, Span};
use super::spread::pattern_of;
use super::{BLUE, Chart, DASHES, ORANGE, PALETTE, SHAPES, escaped};
use crate::format::{latency, percent, rate, whole};
use crate::section::title;
use crate::view::{Figure, Report};

const PLACE: &str = "devices";
/// Charts of devices; the tables have the rest.
const CHARTS_MAX: usize = 12;
/// Devices up to which each has a bar.
const BARS_MAX: usize = 192;
/// Lines of one chart of sizes.
const LINES_MAX: usize = 6;
/// Places between two sizes at which the line is drawn.
const STEPS: usize = 12;

/// All of them.
pub(super) fn charts(report: &Report) -> Vec<Chart> {
    let mut charts: Vec<Chart> = families(report)
        .iter()
        .take(CHARTS_MAX)
        .enumerate()
        .map(|(index, sets)| members(report, sets, index))
        .collect();
    charts.extend(sizes(report));
    charts.extend(strips(report));
    charts.extend(disk_view(report));
    charts
}

/// Reads and writes of the same devices in the same way stand side by side.
fn families(report: &Report) -> Vec<Vec<&MemberSet>> {
    let mut families: Vec<Vec<&MemberSet>> = Vec::new();
    for set in report.found.members.iter().filter_map(Stated::says) {
        let alike = |family: &&mut Vec<&MemberSet>| {
            let first = family[0];
            let same =
                (&first.group, &first.target, first.together) == (&set.group, &set.target, set.together);
            same && first.fixed == set.fixed && family.iter().all(|one| one.phase != set.phase)
        };
        match families.iter_mut().find(alike) {
            Some(family) => family.push(set),
            None => families.push(vec![set]),
        }
    }
    families
}

/// The rate of a member as data sheets tell it, and its unit.
fn member_rate(report: &Report, member: &Member) -> (f64, &'static str) {
    match report.figures.get(member.figure).is_some_and(Figure::is_large) {
        true => (member.bytes_per_second / 1e6, "MB/s"),
        false => (member.transfers_per_second, "IOPS"),
    }
}

/// `read of disk, tasks 1`.
fn seek_name(report: &Report, one: &SeekFit) -> String {
    let target = title(report, &one.target);
    let on = if target.is_empty() { String::new() } else { format!(" of {target}") };
    let fixed: String = one.fixed.iter().map(|setting| format!(", {setting}")).collect();
    format!("{}{on}{fixed}", one.phase)
}

fn members(report: &Report, sets: &[&MemberSet], index: usize) -> Chart {
    let first = sets[0];
    let mut order: Vec<(&str, u64, &str)> = sets
        .iter()
        .flat_map(|set| &set.members)
        .map(|one| (one.model.as_str(), one.place, one.name.as_str()))
        .collect();
    // Models stand together, in the order in which they come.
    let models: Vec<&str> = first.models.iter().map(|one| one.model.as_str()).collect();
    let rank = |model: &str| models.iter().position(|known| *known == model).unwrap_or(models.len());
    order.sort_by_key(|(model, place, _)| (rank(model), *place));
    order.dedup();
    order.truncate(BARS_MAX);
    let unit = first.members.first().map_or("MB/s", |one| member_rate(report, one).1);
    let mut data = Vec::new();
    for (place, set) in sets.iter().enumerate() {
        let these: Vec<_> = order
            .iter()
            .filter_map(|(model, place, _)| {
                set.members.iter().find(|one| one.model == *model && one.place == *place)
            })
            .collect();
        let of = |text: &dyn Fn(&&Member) -> String| these.iter().map(text).collect::<Vec<_>>();
        let deviations: Vec<f64> = these
            .iter()
            .map(|one| match unit {
                "MB/s" => one.deviation / 1e6,
                // Transfers of one size: both rates are in proportion.
                _ => one.deviation * one.transfers_per_second / one.bytes_per_second.max(1.0),
            })
            .collect();
        data.push(json!({
            "type": "bar", "name": set.phase.name(),
            "x": [of(&|one| escaped(&one.model)), of(&|one| escaped(&one.name))],
            "y": these.iter().map(|one| member_rate(report, one).0).collect::<Vec<_>>(),
            "error_y": { "type": "data", "array": deviations, "thickness": 1.2, "width": 2, "color": "ink" },
            "customdata": of(&|one| {
                let mut text = format!(
                    "<b>{}</b> ({}), {}: {}<br>{} of the median of its model, n = {}",
                    escaped(&one.name), escaped(&one.model), set.phase, rate(one.bytes_per_second), percent(one.share), one.n
                );
                if one.slow { text.push_str("<br>slow"); }
                text
            }),
            "text": of(&|one| if one.slow { "slow".to_owned() } else { String::new() }),
            "textposition": "outside", "hovertemplate": "%{customdata}<extra></extra>",
            "marker": {
                "color": if place == 0 { BLUE } else { ORANGE },
                "line": { "color": "ink", "width": these.iter().map(|one| if one.slow { 1.6 } else { 0.0 }).collect::<Vec<_>>() },
            },
        }));
    }
    let whose =
        if first.target.is_empty() { escaped(&first.group) } else { escaped(title(report, &first.target)) };
    let how = if first.together { "all together" } else { "one by one" };
    let at: String = first.fixed.iter().map(|setting| format!(", {setting}")).collect();
    let variations: Vec<String> = sets
        .iter()
        .map(|set| {
            let mark = if set.uneven { " (more than 40 %)" } else { "" };
            format!("{} {}{mark}", set.phase, percent(set.variation))
        })
        .collect();
    let (shapes, annotations) = grades(sets, unit);
    // The names of the grades stand right of the bars.
    let room = if annotations.is_empty() { 24 } else { 170 };
    Chart {
        id: format!("chart-devices-{index}"),
        place: PLACE.to_owned(),
        title: format!("{whose}, {how}{at}: rate of each device, by model"),
        note: format!(
            "Variation, (fastest − slowest) ÷ fastest: {}. Framed: slow among its model. Whiskers: standard deviation of \
             the repetitions.",
            variations.join(", ")
        ),
        full: true,
        height: 400,
        data,
        layout: json!({
            "barmode": "group", "bargap": 0.25,
            "xaxis": { "showgrid": false, "tickfont": { "size": 11 } },
            "yaxis": { "title": { "text": unit }, "rangemode": "tozero" },
            "shapes": shapes, "annotations": annotations, "showlegend": true,
            "hovermode": "closest", "margin": { "l": 10, "r": room, "t": 50, "b": 70 },
        }),
    }
}

/// A line across the chart for each grade; those of several phases once.
fn grades(sets: &[&MemberSet], unit: &str) -> (Vec<Value>, Vec<Value>) {
    if unit != "MB/s" {
        return (Vec::new(), Vec::new());
    }
    let mut known: Vec<(f64, &str)> = Vec::new();
    for grade in sets.iter().flat_map(|set| &set.grades) {
        if !known.iter().any(|(rate, _)| (rate - grade.rate).abs() < 1.0) {
            known.push((grade.rate, &grade.name));
        }
    }
    let shape = |rate: f64| {
        json!({ "type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": rate / 1e6, "y1": rate / 1e6,
            "line": { "color": "ink", "width": 1, "dash": DASHES[2] } })
    };
    let label = |level: f64, name: &str| {
        json!({ "xref": "paper", "x": 1.005, "y": level / 1e6, "xanchor": "left", "yanchor": "middle", "showarrow": false,
            "text": format!("{}<br>{}", rate(level), escaped(name)), "align": "left", "font": { "size": 11 } })
    };
    (
        known.iter().map(|(rate, _)| shape(*rate)).collect(),
        known.iter().map(|(rate, name)| label(*rate, name)).collect(),
    )
}

/// Rates against transfer sizes with the curve that a seek time predicts, one chart for each workload.
fn sizes(report: &Report) -> Vec<Chart> {
    let mut groups: Vec<(&str, Vec<&SeekFit>)> = Vec::new();
    for fit in report.found.seeks.iter().filter_map(Stated::says) {
        match groups.iter_mut().find(|(group, _)| *group == fit.group) {
            Some((_, fits)) => fits.push(fit),
            None => groups.push((&fit.group, vec![fit])),
        }
    }
    groups
        .iter()
        .take(CHARTS_MAX)
        .enumerate()
        .map(|(index, (_, fits))| size_chart(report, fits, index))
        .collect()
}

fn size_chart(report: &Report, fits: &[&SeekFit], index: usize) -> Chart {
    let fits = &fits[..fits.len().min(LINES_MAX)];
    let all = fits.iter().flat_map(|fit| fit.points.iter().map(|point| point.bytes));
    let span = Span::new("transfer", "bytes", all.collect());
    let axis = Axis::new(&span);
    let mut data = Vec::new();
    for (place, fit) in fits.iter().enumerate() {
        let (colour, symbol) = (PALETTE[place % PALETTE.len()], SHAPES[place % SHAPES.len()]);
        let name = escaped(&seek_name(report, fit));
        data.push(json!({
            "type": "scatter", "mode": "markers", "name": format!("{name}: measured"), "legendgroup": name,
            "x": fit.points.iter().map(|point| point.bytes).collect::<Vec<_>>(),
            "y": fit.points.iter().map(|point| point.bytes_per_second / 1e6).collect::<Vec<_>>(),
            "text": fit.points.iter().map(|point| format!(
                "<b>{name}</b><br>{} of one device, {} each", rate(point.bytes_per_second), latency(whole(point.time_ns))
            )).collect::<Vec<_>>(),
            "hovertemplate": "%{text}<extra></extra>",
            "marker": { "color": colour, "symbol": symbol, "size": 9 },
        }));
        let Some(line) = fit.line() else { continue };
        let at = |bytes: f64| bytes / (line.positioning_ns / 1e9 + bytes / line.bytes_per_second) / 1e6;
        let x = steps(fit);
        data.push(json!({
            "type": "scatter", "mode": "lines", "legendgroup": name,
            "name": format!(
                "{name}: seek {} ± {}, then {}", latency(whole(line.positioning_ns)),
                latency(whole(line.positioning_half_ns)), rate(line.bytes_per_second)
            ),
            "x": x, "y": x.iter().map(|&bytes| at(bytes)).collect::<Vec<_>>(),
            "hoverinfo": "skip", "line": { "color": colour, "width": 1.6, "dash": DASHES[place / PALETTE.len() % 4] },
        }));
    }
    let margin = 14 + 20 * data.len().div_ceil(2);
    Chart {
        id: format!("chart-seek-{index}"),
        place: PLACE.to_owned(),
        title: format!("{}: rate of one device against transfer size", escaped(&fits[0].group)),
        note: "Points: medians of the repetitions that count. Lines: bytes ÷ (seek time + bytes ÷ rate), fitted to them."
            .to_owned(),
        full: true,
        height: 360 + margin,
        data,
        layout: json!({
            "xaxis": axis.layout(), "yaxis": { "title": { "text": "MB/s" }, "rangemode": "tozero" },
            "legend": { "font": { "size": 12 } }, "hovermode": "closest",
            "margin": { "l": 10, "r": 24, "t": margin, "b": 44 },
        }),
    }
}

/// Sizes from the smallest to the largest, each by the same factor from the one before.
fn steps(fit: &SeekFit) -> Vec<f64> {
    let sizes = || fit.points.iter().map(|point| point.bytes);
    let (low, high) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
    let count = STEPS * fit.points.len();
    (0..=count).map(|step| low * (high / low).powf(step as f64 / count as f64)).collect()
}

/// Sequential shares at the application and at the devices, figure by figure.
fn disk_view(report: &Report) -> Option<Chart> {
    let seen = report.found.disk_views.iter().filter_map(|one| Some((one.figure(), one.says()?)));
    let views: Vec<(usize, &analysis::DiskView, f64)> =
        seen.filter_map(|(figure, one)| Some((figure, one, one.devices?.share))).collect();
    let names: Vec<String> = views
        .iter()
        .map(|(place, one, _)| {
            let what = report.figures.get(*place).map(|own| escaped(&own.what)).unwrap_or_default();
            format!("{}. {what}<br>{}", place + 1, crate::format::counted(one.tasks.into(), "stream"))
        })
        .collect();
    let bar = |name: &str, y: Vec<f64>, colour: &str, pattern: &str| {
        json!({
            "type": "bar", "name": name, "x": names, "y": y,
            "marker": { "color": colour, "pattern": pattern_of(pattern) },
            "hovertemplate": "%{fullData.name}: %{y:.1f} %<extra></extra>",
        })
    };
    let percent = |share: f64| share * 100.0;
    (!views.is_empty()).then(|| Chart {
        id: "chart-disk-view".to_owned(),
        place: "disk-view".to_owned(),
        title: "Transfers in a row: what the application asks for, and what the disks get".to_owned(),
        note: "Share of operations, and of requests, that begin where the one before has ended.".to_owned(),
        full: true,
        height: 360,
        data: vec![
            bar(
                "at the application",
                views.iter().map(|(_, one, _)| percent(one.application_share)).collect(),
                BLUE,
                "",
            ),
            bar("at the devices", views.iter().map(|(.., there)| percent(*there)).collect(), ORANGE, "/"),
        ],
        layout: json!({
            "barmode": "group", "bargap": 0.3, "xaxis": { "type": "category", "showgrid": false },
            "yaxis": { "title": { "text": "% in a row" }, "range": [0, 104] },
            "hovermode": "closest", "margin": { "l": 10, "r": 24, "t": 50, "b": 60 },
        }),
    })
}

/// Predicted and measured rates against block sizes, one chart for each phase.
fn strips(report: &Report) -> Vec<Chart> {
    let mut charts = Vec::new();
    for phase in ["write", "read"] {
        let points = report.found.strips.iter().filter_map(analysis::Stated::says);
        let points: Vec<&analysis::StripPoint> = points.filter(|one| one.phase.name() == phase).collect();
        if points.is_empty() {
            continue;
        }
        let names: Vec<String> = points
            .iter()
            .map(|one| format!("{}<br>{}", plan::Bytes(one.block), escaped(title(report, &one.target))))
            .collect();
        charts.push(Chart {
            id: format!("chart-strips-{phase}"),
            place: PLACE.to_owned(),
            title: format!("{phase}: file systems by block size, predicted from one device and measured"),
            note: "Predicted: devices × the rate of one at strips of block ÷ devices.".to_owned(),
            full: false,
            height: 360,
            data: vec![
                json!({
                    "type": "bar", "name": "measured", "x": names,
                    "y": points.iter().map(|one| one.measured.map(|rate| rate / 1e6)).collect::<Vec<_>>(),
                    "marker": { "color": BLUE, "pattern": pattern_of("") },
                    "hovertemplate": "measured %{y:,.0f} MB/s<extra></extra>",
                }),
                json!({
                    "type": "scatter", "mode": "lines+markers", "name": "predicted", "x": names,
                    "y": points.iter().map(|one| one.predicted / 1e6).collect::<Vec<_>>(),
                    "line": { "color": ORANGE, "dash": DASHES[1], "width": 1.6 },
                    "marker": { "color": ORANGE, "symbol": "diamond", "size": 10 },
                    "hovertemplate": "predicted %{y:,.0f} MB/s<extra></extra>",
                }),
            ],
            layout: json!({
                "xaxis": { "type": "category", "showgrid": false },
                "yaxis": { "title": { "text": "MB/s" }, "rangemode": "tozero" },
                "bargap": 0.45, "hovermode": "closest", "margin": { "l": 10, "r": 24, "t": 50, "b": 60 },
            }),
        });
    }
    charts
}
