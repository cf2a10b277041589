//! The chart of one figure: its rate and longest latency over time.

use analysis::figures::{Second, SecondsLine};
use record::Run;

use super::latency;
use super::look::Look;
use super::plotly::{Chart, Trace, axis};
use crate::format::BYTES_PER_SECOND;
use crate::format::escape::chart as escaped;
use crate::format::{self, column_unit, divisor, iops, rate};
use crate::report::figure::Figure;

/// Maximum number of lines with legend entries; others are named by their hover texts.
const NAMED_MAX: usize = 4;
/// Height of a chart of two panels, in CSS pixels.
const PANELS_PX: usize = 416;

/// Minimum number of seconds of the longest repetition: fewer show no trend.
const SECONDS_MIN: usize = 3;

/// The chart of `figure`; none if its repetitions are too short.
pub(crate) fn of_figure(run: &Run, figure: &Figure) -> Option<Chart> {
    over_time(figure, &analysis::figures::seconds(&run.series(&figure.case), &figure.case, figure.phase))
}

/// The position of a second in a panel, and its hover text.
type Place<'a> = &'a dyn Fn(&Second) -> (f64, f64, String);

/// The rate, and below it the longest latency if that was measured.
fn over_time(figure: &Figure, all: &[SecondsLine]) -> Option<Chart> {
    let first = all.first().filter(|_| all.iter().any(|line| line.points.len() >= SECONDS_MIN))?;
    let timed = all.iter().flat_map(|line| &line.points).any(|second| second.latency_max_ns > 0);
    let both = all.iter().any(|line| line.operation != first.operation);
    let few = all.len() <= NAMED_MAX;
    let unit = figure.shown_unit();
    let rates = |second: &Second| {
        let (bytes, transfers) = (second.bytes_per_second, second.transfers_per_second);
        let value = if unit == BYTES_PER_SECOND { bytes } else { transfers };
        let mut words = format!("{} {}", iops(transfers), figure.operations_unit());
        if bytes > 0.0 || !figure.is_operations() {
            words = format!("{} · {words}", rate(bytes));
        }
        (second.at_seconds, value / divisor(unit), words)
    };
    let longest = |second: &Second| {
        let words = format!("longest {}", format::latency(second.latency_max_ns));
        (second.at_seconds, latency::microseconds(second.latency_max_ns as f64), words)
    };
    let data = all.iter().enumerate().flat_map(|(index, one)| {
        let of = if both { format!("{}s, ", one.operation.name()) } else { String::new() };
        let name = format!("{of}repetition {}", one.repetition + 1);
        // If there are many lines, those of one operation have the same look.
        let first = all.iter().position(|line| line.operation == one.operation).unwrap_or_default();
        let (look, opacity) = if few { (index, 1.0) } else { (first, 0.6) };
        let named = few && all.len() > 1;
        let panels: [Place<'_>; 2] = [&rates, &longest];
        let line = |(number, place): (usize, &Place<'_>)| {
            let points = one.points.iter().map(place).map(|(at, value, words)| {
                (at, value, format!("<b>{}</b>, second {at:.1}: {words}", escaped(&name)))
            });
            let panel = if number == 0 { "y" } else { "y2" };
            let look = Look::of_work(figure.phase, look);
            let line = Trace::curve(&name, look).with("marker.size", 5).with("opacity", opacity);
            line.points(points).with("yaxis", panel).with("legendgroup", &*name).hidden(!named || number > 0)
        };
        panels.iter().take(1 + usize::from(timed)).enumerate().map(line).collect::<Vec<_>>()
    });
    let nanos = all.iter().flat_map(|line| &line.points).map(|second| second.latency_max_ns as f64);
    let of = if figure.is_operations() { "operation" } else { "transfer" };
    let several = if few { "" } else { " One line for each repetition." };
    let longest = if timed { format!(", and its longest {of}") } else { String::new() };
    let chart =
        Chart::new("time", "", "Over time", format!("What completed in each second{longest}.{several}"));
    let rate = axis(column_unit(unit));
    let chart = match timed {
        true => chart
            .height(PANELS_PX)
            .panels([([0.52, 1.0], rate), ([0.0, 0.42], latency::axis("longest latency", nanos))]),
        false => chart.panels([([0.0, 1.0], rate)]),
    };
    Some(chart.traces(data))
}
