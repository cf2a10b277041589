//! Rates and latencies of single figures.

use crate::format::interval;
use std::fmt::Write as _;

use analysis::figures::ShownIn;

use super::block::{Block, Section, beneath, only, unnamed, which_target};
use crate::format::table::{Cell, Table};
use crate::format::{grouped, mebibytes, megabytes, percent};
use crate::format::{iops, share};
use crate::report::Report;
use crate::report::figure::Figure;
use crate::report::latencies::{self, LatencyInfo, RESPONSE_FROM_START};
use crate::section::chosen::Chosen;

/// The tables of the figures shown in full; with `long` one column has all conditions.
pub(crate) fn rates(report: &Report, long: bool) -> Vec<Section> {
    let section = |id, title, blocks| Section { id, title, before_figures: false, blocks };
    if report.figures.is_empty() {
        let nothing = "There is no finished result in this run.".to_owned();
        return vec![section("rates", "Rates", vec![Block::Text(nothing)])];
    }
    let chosen = Chosen::of(report);
    let figures = chosen.figures(report);
    let transfers: Vec<&Figure> = figures.iter().copied().filter(|one| !one.is_operations()).collect();
    let mut sections = Vec::new();
    if !transfers.is_empty() {
        let mut blocks = vec![Block::Text(statistic(report))];
        blocks.extend(chosen.left_out().map(Block::Text));
        blocks.extend(only("", table(report, &transfers, long)));
        sections.push(section("rates", "Rates", blocks));
    }
    let mut blocks = only("", latencies(report, &figures));
    blocks.extend(measures(report).map(Block::Text));
    if !blocks.is_empty() {
        sections.push(section("latencies", latency_heading(report), blocks));
    }
    sections
}

/// How the rates were obtained.
fn statistic(report: &Report) -> String {
    let repeated = report.figures.iter().any(|figure| figure.repeated() > 1);
    let mut text = if repeated { "Median of n repetitions" } else { "One repetition of each" }.to_owned();
    match one_rate(report) {
        Some(name) => {
            let _ = write!(text, ", {name}.");
        }
        None => text.push_str(", by the rate that stands in each row."),
    }
    if let Some(confidence) = confidence(report) {
        let _ = write!(text, " Interval: {confidence}.");
    }
    text.push_str(" MB = 10⁶ bytes, MiB = 2²⁰ bytes. Device: bytes that the devices moved ÷ bytes that the tasks moved.");
    text
}

/// The name of the rate, if it is the same for all figures.
fn one_rate(report: &Report) -> Option<&'static str> {
    let first = report.figures.first()?.rate;
    report.figures.iter().all(|figure| figure.rate == first).then_some(first.name())
}

/// The lowest confidence of the intervals, if there are any.
fn confidence(report: &Report) -> Option<String> {
    let transfers = report.figures.iter().filter(|figure| !figure.is_operations());
    let spreads = transfers
        .filter_map(|figure| figure.bytes_per_second.median_interval.map(|interval| interval.confidence));
    let least = spreads.fold(f64::INFINITY, f64::min);
    least.is_finite().then(|| format!("of the median, in MB/s, at {} confidence or more", percent(least)))
}

/// Heading of the latencies.
fn latency_heading(report: &Report) -> &'static str {
    if report.figures.iter().any(Figure::is_operations) {
        "Latency of every operation"
    } else {
        "Latency of every transfer"
    }
}

/// The table of rates; with `long` one column has all conditions.
fn table(report: &Report, figures: &[&Figure], long: bool) -> Table {
    let same_rate = one_rate(report).is_some();
    let short = |text: String| (!long).then_some(text);
    Table::of(figures)
        .right("#", |one| Cell::figure(Some(one.number)))
        .left("target", |one| which_target(report, one))
        .left(if long { "conditions" } else { "what" }, |one| {
            if long { one.conditions.clone() } else { one.what.clone() }
        })
        .left("path", |one| short(one.path.clone()))
        .right("tasks", |one| one.tasks.and_then(|tasks| short(grouped(tasks.into()))))
        .right("MB/s", |one| megabytes(one.bytes_per_second.median))
        .right("MiB/s", |one| mebibytes(one.bytes_per_second.median))
        .right("IOPS", |one| iops(one.transfers_per_second.median))
        .right("n", |one| one.repeated().to_string())
        .right("interval", |one| interval(&one.bytes_per_second, megabytes))
        .right("device", |one| share(one.moved_by_devices()))
        .right("caches ÷ data", |one| one.caveats.cache_share.map(percent))
        .left("rate", |one| if same_rate { "" } else { one.rate.name() })
        .left("notes", |one| one.marks())
        .left("at", |one| beneath(one))
        .done()
        .below("at")
}

/// The table of latencies: one row for each figure and direction.
fn latencies(report: &Report, figures: &[&Figure]) -> Table {
    let of = |figure: &Figure, one: &LatencyInfo| {
        let service = if one.is_response() { "" } else { " svc" };
        (figure.latency.len() > 1).then(|| format!("{}s{service}", one.operation.name()))
    };
    let operations = figures.iter().any(|figure| figure.is_operations());
    Table::of(figures.iter().flat_map(|figure| figure.latency.iter().map(move |one| (*figure, one))))
        .right("#", |(figure, _)| Cell::figure(Some(figure.number)))
        .left("target", |(figure, _)| which_target(report, figure))
        .left("what", |(figure, _)| figure.what.clone())
        .left("path", |(figure, _)| if figure.is_operations() { "" } else { &figure.path })
        .right("tasks", |(figure, _)| figure.tasks.map(|tasks| grouped(tasks.into())))
        .left("of", |(figure, one)| of(figure, one))
        .with(|table| latencies::columns(table, ShownIn::Latencies, |(_, one)| Some(*one)))
        .right(if operations { "operations" } else { "transfers" }, |(_, one)| grouped(one.count))
        .left("at", |(figure, _)| unnamed(figure))
        .done()
        .below("at")
}

/// The start points of response and service times, if the table has both.
fn measures(report: &Report) -> Option<String> {
    let all = || report.figures.iter().flat_map(|figure| &figure.latency);
    let service = all().find(|one| !one.is_response()).map(|one| one.counted_from);
    let open_loop = all().find(|one| one.counted_from != RESPONSE_FROM_START).map(|one| one.counted_from);
    service.zip(open_loop).map(|(service, response)| {
        format!("svc: service time, counted {service}; the same transfers without it: {response}.")
    })
}
