//! The numbers of a report as the page's template wants them: formatted, beside the raw ones.

use std::collections::{BTreeSet, HashSet};

use analysis::ShownIn;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, escape_formatter};
use plan::Bytes;
use record::{BlockDeviceFacts, Fact, FileSystemFacts, Run};
use serde_json::{Value, json};

use super::charts::{self, Chart};
use super::section;
use crate::chosen::Chosen;
use crate::escape;
use crate::format::{
    NOT_OBSERVED, decimal_bytes, grouped, latency, mebibytes, megabytes, number, percent, rate, whole,
};
use crate::inventory::beside;
use crate::latencies::{self, LatencyInfo};
use crate::section::{Section, sections, signed, unnamed, which_target};
use crate::sheet;
use crate::study::Second;
use crate::text;
use crate::view::{BYTES_PER_SECOND, CaseInfo, Figure, Repetition, Report};

/// Cases that the plan's table shows; the page of a sweep with thousands must still open.
const CASES_SHOWN: usize = 200;
/// Devices in the table of one figure.
const DEVICES_SHOWN: usize = 48;
/// Targets that a table names.
const TARGETS_NAMED: usize = 3;

/// The page up to the scripts.
///
/// # Errors
/// The template is wrong, which a test would have found.
pub(crate) fn page(run: &Run, report: &Report, second: Option<&Second>) -> Result<String, minijinja::Error> {
    let chosen = Chosen::of(report);
    let shown = chosen.figures(report);
    let overview = charts::overview(run, report, &shown);
    let source = |figure: &Figure| &report.sources[figure.number - 1];
    let of_figures: Vec<Vec<Chart>> =
        shown.iter().map(|figure| charts::of_figure(run, figure, source(figure))).collect();
    let of_sections = charts::of_study(run, report, second.map(|second| &second.report));
    let all: Vec<&Chart> = of_sections.iter().chain(&overview).chain(of_figures.iter().flatten()).collect();
    let linked = chosen.numbers.iter().copied().collect();
    let mut sections = sections(report);
    sections.extend(second.map(|second| second.changed.clone()));
    sections.extend(sheet::section(run, report));
    let sections: Vec<Value> =
        sections.iter().map(|one| section::value(one, &of_sections, &linked)).collect();
    let figures: Vec<Value> = shown
        .iter()
        .zip(&of_figures)
        .map(|(figure, charts)| {
            let value = with(figure_value(figure), "charts", captions(charts));
            let value = with(value, "doubts", doubts(report, figure));
            with(value, "place", json!(place(report, figure)))
        })
        .collect();
    let of_transfers = |one: &&Value| one["is_operations"] == false;
    let transfers: Vec<Value> = figures.iter().filter(of_transfers).cloned().collect();
    let context = json!({
        "css": include_str!("page.css"),
        "run": report.run,
        "origin": text::origin(report),
        "host": report.host,
        "nodes": text::nodes_line(report),
        "missing": report.missing,
        "when": text::when(report),
        "statistic": crate::section::statistic(report),
        "intervals": crate::section::confidence(report),
        "result_latencies": latencies::headings(ShownIn::Latencies),
        "figure_latencies": latencies::headings(ShownIn::Figure),
        "transfers": transfers,
        "figures": figures,
        "notes": report.notes,
        "overview": captions(&overview),
        "left_out": chosen.left_out(),
        "sections": sections,
        "cases": report.cases.iter().take(CASES_SHOWN).map(case_value).collect::<Vec<_>>(),
        "more_cases": report.cases.len().saturating_sub(CASES_SHOWN),
        "host_facts": beside::page(&report.host, &report.machines),
        "file_systems": report.host.file_systems.iter().map(file_system).collect::<Vec<_>>(),
        "devices": report.host.devices.iter().map(device).collect::<Vec<_>>(),
        "definitions": report.definitions,
        "charts": escape::chart_json(raw(&all)),
        "hovers": hovers(report, &all),
    });
    render(include_str!("page.html"), context)
}

/// A section as a page of its own.
pub(super) fn alone(title: &str, section: &Section) -> Result<String, minijinja::Error> {
    let blocks = section::value(section, &[], &HashSet::new());
    let context = json!({ "css": include_str!("page.css"), "title": title, "section": blocks });
    render(include_str!("alone.html"), context)
}

fn render(template: &str, context: Value) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => out.write_str(&escape::html(text)).map_err(minijinja::Error::from),
        _ => escape_formatter(out, state, value),
    });
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.render_str(template, minijinja::value::Serde(context))
}

/// The target and the swept values that tell `figure` from others of the same words.
fn place(report: &Report, figure: &Figure) -> String {
    let (target, at) = (which_target(report, figure), unnamed(figure));
    [target, &at].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// What the audit says of `figure`.
fn doubts(report: &Report, figure: &Figure) -> Value {
    let these = report.findings.audit.iter().filter(|one| one.figure == Some(figure.number));
    these.map(raw).collect()
}

/// What a pointer is told of each figure that a chart names, once for all charts.
fn hovers(report: &Report, charts: &[&Chart]) -> String {
    let numbers: BTreeSet<u64> = charts.iter().flat_map(|chart| chart.figures()).collect();
    let told = |number: u64| {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        Some((number.to_string(), Value::from(charts::hover(report.figures.get(index)?))))
    };
    let map: serde_json::Map<String, Value> = numbers.into_iter().filter_map(told).collect();
    escape::chart_json(Value::from(map))
}

fn captions(charts: &[Chart]) -> Value {
    charts.iter().map(Chart::caption).collect()
}

/// `value` with one more key.
fn with(mut value: Value, key: &str, more: Value) -> Value {
    if let Value::Object(map) = &mut value {
        map.insert(key.to_owned(), more);
    }
    value
}

fn raw(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

fn figure_value(figure: &Figure) -> Value {
    let bytes = &figure.bytes_per_second;
    let large = figure.is_large();
    let iops = text::iops(figure.transfers_per_second.median);
    let words = json!({
        "megabytes": megabytes(bytes.median),
        "mebibytes": mebibytes(bytes.median),
        "iops": iops,
        "interval": bytes.interval(crate::format::megabytes),
        "device_share": text::share(figure.device_share),
        "headline": if large { rate(bytes.median) } else { format!("{iops} {}", figure.operations_unit()) },
    });
    let names: Vec<&str> = rate_names(figure);
    let value =
        with(with(with(raw(figure), "text", words), "large", json!(large)), "rate_names", json!(names));
    let value = with(value, "counted", json!(figure.counted()));
    let value = with(value, "is_operations", json!(figure.is_operations()));
    let value = with(value, "rate_unit", json!(rate_unit(figure)));
    let value = with(value, "latency", figure.latency.iter().map(latency_value).collect());
    let value = with(
        value,
        "repetitions",
        figure.repetitions.iter().map(|one| repetition_value(one, &names, figure.unit)).collect(),
    );
    let more = figure.devices.len().saturating_sub(DEVICES_SHOWN);
    let value = with(value, "more_devices", json!(more));
    with(value, "devices", figure.devices.iter().take(DEVICES_SHOWN).map(device_means).collect())
}

/// The unit of the named rates of `figure`, in words.
fn rate_unit(figure: &Figure) -> &'static str {
    if figure.is_operations() { figure.unit } else { "MB/s (10⁶ bytes per second)" }
}

/// Every rate that a repetition of `figure` has, in the order of the first.
fn rate_names(figure: &Figure) -> Vec<&'static str> {
    let mut names = Vec::new();
    for one in figure.repetitions.iter().flat_map(|repetition| &repetition.rates) {
        if !names.contains(&one.name) {
            names.push(one.name);
        }
    }
    names
}

fn repetition_value(one: &Repetition, names: &[&str], unit: &str) -> Value {
    let rates: Vec<String> = names
        .iter()
        .map(|name| {
            let found = one.rates.iter().find(|rate| rate.name == *name);
            found.map_or_else(
                || NOT_OBSERVED.to_owned(),
                |rate| match unit == BYTES_PER_SECOND {
                    true => megabytes(rate.bytes_per_second),
                    false => text::iops(rate.transfers_per_second),
                },
            )
        })
        .collect();
    let cpu = (one.user_cpu_ns + one.system_cpu_ns) as f64 / 1e9;
    let words = json!({
        "moved": decimal_bytes(one.bytes),
        "seconds": format!("{} s", number(one.io_ns as f64 / 1e9)),
        "rates": rates,
        "iops": text::iops(one.transfers_per_second),
        "operations": grouped(one.transfers),
        "drift": one.drift.map(signed),
        "device_share": text::share(one.device_share),
        "cpu": format!("{} s", number(cpu)),
    });
    with(raw(one), "text", words)
}

fn latency_value(one: &LatencyInfo) -> Value {
    let words = json!({
        "transfers": grouped(one.transfers),
        "result": latencies::cells(Some(one), ShownIn::Latencies),
        "figure": latencies::cells(Some(one), ShownIn::Figure),
    });
    with(raw(one), "text", words)
}

fn device_means(one: &crate::view::DeviceInfo) -> Value {
    let words = json!({
        "read": megabytes(one.read_bytes_per_second),
        "write": megabytes(one.write_bytes_per_second),
        "busy": percent(one.busy_share),
        "queue": number(one.queue_requests),
        "wait": one.wait_ns.map_or_else(|| NOT_OBSERVED.to_owned(), |wait| latency(whole(wait))),
    });
    with(raw(one), "text", words)
}

fn case_value(case: &CaseInfo) -> Value {
    let mut targets: Vec<&str> = case.targets.iter().take(TARGETS_NAMED).map(String::as_str).collect();
    let more = case.targets.len().saturating_sub(TARGETS_NAMED);
    let rest = format!("and {more} more");
    if more > 0 {
        targets.push(&rest);
    }
    let words = json!({
        "block": Bytes(case.block_bytes).to_string(),
        "segments": grouped(case.segments),
        "volume": Bytes(case.pass_bytes).both_units(),
        "files": grouped(case.files),
        "targets": targets.join(", "),
    });
    with(raw(case), "text", words)
}

fn file_system(one: &FileSystemFacts) -> Value {
    json!({
        "mount_point": one.mount_point,
        "kind": one.kind,
        "source": one.source,
        "options": one.options.replace(',', ", "),
        "size": Bytes(one.size_bytes).both_units(),
        "free": Bytes(one.free_bytes).both_units(),
        "inodes": if one.inodes == 0 { "no fixed number".to_owned() } else { grouped(one.free_inodes) },
    })
}

fn device(one: &BlockDeviceFacts) -> Value {
    let read_ahead = match &one.read_ahead_bytes {
        Fact::Known(bytes) => Fact::Known(Bytes(*bytes).to_string()),
        Fact::Unknown(reason) => Fact::Unknown(reason.clone()),
    };
    let rotational = match &one.rotational {
        Fact::Known(turns) => Fact::Known(if *turns { "yes" } else { "no" }.to_owned()),
        Fact::Unknown(reason) => Fact::Unknown(reason.clone()),
    };
    let value = with(raw(one), "size", json!(Bytes(one.size_bytes).both_units()));
    with(with(value, "read_ahead", raw(&read_ahead)), "rotational", raw(&rotational))
}
