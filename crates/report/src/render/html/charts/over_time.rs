//! A figure of many runs over time.

use analysis::gate::Outcome;
use serde_json::json;

use super::look::Look;
use super::plotly::{Chart, Trace, error_bar};
use crate::format::escape::chart as escaped;
use crate::runs::{Point, Series, utc};

/// The chart of `series`: each run with its interval, the levels, and the runs with which they changed.
pub(crate) fn over_time(place: &str, series: &Series) -> Chart {
    let (unit, scale) = series.axis();
    let look = Look::of_work(series.phase(), 0);
    let at = |point: &Point| utc(point.started_unix_ns);
    let words = |point: &Point| {
        let reasons: Vec<&str> = point.value.reasons.iter().map(|reason| reason.because.name()).collect();
        let doubts = if reasons.is_empty() { String::new() } else { format!("<br>{}", reasons.join(", ")) };
        format!("<b>{}</b>: {}{doubts}", escaped(&point.name), series.shown(point.value.value))
    };
    let marks = |trace: Trace, is_meant: fn(&Outcome) -> bool| {
        let points = series.points.iter().filter(|point| is_meant(&point.value.outcome));
        trace.points_with_errors(
            "y",
            points.map(|point| {
                let value = &point.value;
                let error = error_bar(value.value, value.ends, |distance| distance / scale);
                ((at(point), value.value / scale, words(point)), error)
            }),
        )
    };
    let mut data = vec![
        marks(Trace::marks("runs", look), |outcome| *outcome != Outcome::Withheld),
        marks(Trace::marks("left out of the levels", Look { symbol: "circle-open", ..look }), |outcome| {
            *outcome == Outcome::Withheld
        }),
    ];
    // The last run of a level is the one before the next level.
    let ends = series.changes.iter().map(|one| one.at).chain([series.points.len()]).skip(1);
    let levels = series.changes.iter().zip(ends).map(|(one, end)| (one.at, end - 1, one.after));
    let first = series.changes.first().map(|one| (0, one.at - 1, one.before));
    for (from, to, level) in first.into_iter().chain(levels) {
        let name = format!("level {}", series.shown(level));
        let ends = [from, to].map(|run| (at(&series.points[run]), level / scale, escaped(&name)));
        data.push(Trace::lines(&name, look).with("line.width", 2.5).hidden(true).points(ends));
    }
    let lines: Vec<_> = series
        .changes
        .iter()
        .map(|one| {
            let x = at(&series.points[one.at]);
            json!({
                "type": "line", "x0": x, "x1": x, "xref": "x", "y0": 0, "y1": 1, "yref": "paper",
                "line": { "color": "ink", "width": 1.2, "dash": "dash" },
            })
        })
        .collect();
    let changed = series.changes.iter().map(|one| series.points[one.at].name.as_str()).collect::<Vec<_>>();
    let note = match changed[..] {
        [] => "Each run with what it scattered within itself.".to_owned(),
        _ => format!(
            "Each run with what it scattered within itself; lines: levels; dashed: the level changed with {}.",
            changed.join(", ")
        ),
    };
    // The values are far from 0 and near each other, so the axis does not begin at 0.
    let mut chart = Chart::new("over-time", place, series.conditions(), note)
        .axes(json!({ "type": "date" }), json!({ "title": { "text": unit } }))
        .with("shapes", lines)
        .traces(data);
    series.mark().into_iter().for_each(|mark| chart.mark(mark));
    chart
}
