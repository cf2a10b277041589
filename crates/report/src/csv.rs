//! A report as comma-separated values (RFC 4180): one row for each figure, conditions included, then one for each value
//! of a statement.

use std::collections::HashMap;

use crate::escape;
use crate::section::shown_passes;
use crate::statements::{self, Said};
use crate::view::findings::Setting;
use crate::view::layers::Member;
use crate::view::nodes::NodeComparison;
use crate::view::timeline::Timeline;
use crate::view::{Figure, LatencyInfo, Report};

/// The columns, in order; `docs/REPORT.md` describes them.
pub(crate) const COLUMNS: [&str; 142] = [
    "row",
    "run_id",
    "number",
    "case",
    "title",
    "workload",
    "target",
    "client",
    "settings",
    "phase",
    "conditions",
    "provenance",
    "tasks",
    "transfer_bytes",
    "page_cache",
    "statistic",
    "repetitions",
    "bytes_per_second_median",
    "bytes_per_second_minimum",
    "bytes_per_second_maximum",
    "bytes_per_second_interval_low",
    "bytes_per_second_interval_high",
    "interval_confidence",
    "transfers_per_second_median",
    "transfers_per_second_minimum",
    "transfers_per_second_maximum",
    "device_share",
    "read_transfers",
    "read_latency_minimum_ns",
    "read_latency_mean_ns",
    "read_latency_p50_ns",
    "read_latency_p90_ns",
    "read_latency_p99_ns",
    "read_latency_p99_9_ns",
    "read_latency_p99_99_ns",
    "read_latency_maximum_ns",
    "write_transfers",
    "write_latency_minimum_ns",
    "write_latency_mean_ns",
    "write_latency_p50_ns",
    "write_latency_p90_ns",
    "write_latency_p99_ns",
    "write_latency_p99_9_ns",
    "write_latency_p99_99_ns",
    "write_latency_maximum_ns",
    "notes",
    "warnings",
    "doubts",
    "nodes_compared",
    "slow_nodes",
    "missing_nodes",
    "unit",
    "nodes",
    "cpu_ns_per_operation",
    "bytes_per_operation",
    "allocated_bytes_per_file",
    "surprises",
    "create_operations",
    "create_latency_minimum_ns",
    "create_latency_mean_ns",
    "create_latency_p50_ns",
    "create_latency_p90_ns",
    "create_latency_p99_ns",
    "create_latency_p99_9_ns",
    "create_latency_p99_99_ns",
    "create_latency_maximum_ns",
    "stat_operations",
    "stat_latency_minimum_ns",
    "stat_latency_mean_ns",
    "stat_latency_p50_ns",
    "stat_latency_p90_ns",
    "stat_latency_p99_ns",
    "stat_latency_p99_9_ns",
    "stat_latency_p99_99_ns",
    "stat_latency_maximum_ns",
    "list_operations",
    "list_latency_minimum_ns",
    "list_latency_mean_ns",
    "list_latency_p50_ns",
    "list_latency_p90_ns",
    "list_latency_p99_ns",
    "list_latency_p99_9_ns",
    "list_latency_p99_99_ns",
    "list_latency_maximum_ns",
    "rename_operations",
    "rename_latency_minimum_ns",
    "rename_latency_mean_ns",
    "rename_latency_p50_ns",
    "rename_latency_p90_ns",
    "rename_latency_p99_ns",
    "rename_latency_p99_9_ns",
    "rename_latency_p99_99_ns",
    "rename_latency_maximum_ns",
    "remove_operations",
    "remove_latency_minimum_ns",
    "remove_latency_mean_ns",
    "remove_latency_p50_ns",
    "remove_latency_p90_ns",
    "remove_latency_p99_ns",
    "remove_latency_p99_9_ns",
    "remove_latency_p99_99_ns",
    "remove_latency_maximum_ns",
    "exchange_operations",
    "exchange_latency_minimum_ns",
    "exchange_latency_mean_ns",
    "exchange_latency_p50_ns",
    "exchange_latency_p90_ns",
    "exchange_latency_p99_ns",
    "exchange_latency_p99_9_ns",
    "exchange_latency_p99_99_ns",
    "exchange_latency_maximum_ns",
    "devices_compared",
    "device_models",
    "slow_devices",
    "launches",
    "launches_complete",
    "mean_running",
    "most_running",
    "elapsed_seconds",
    "real_seconds",
    "shortest_launch_seconds",
    "median_launch_seconds",
    "longest_launch_seconds",
    "start_bytes_per_second",
    "climb_bytes_per_second",
    "peak_bytes_per_second",
    "permanent_read_bytes",
    "permanent_write_bytes",
    "work_read_bytes",
    "work_write_bytes",
    "utility_read_bytes",
    "utility_write_bytes",
    "low_spaces",
    "statement",
    "outcome",
    "because",
    "figures",
    "value_name",
    "value",
    "value_text",
    "value_unit",
    "about",
];

/// The whole table, heading first.
pub(crate) fn csv(report: &Report) -> String {
    let mut out = line(COLUMNS.map(str::to_owned).to_vec());
    let said = OfFigures::of(report);
    for figure in &report.figures {
        out.push_str(&line(row(report, figure, &said)));
    }
    for one in statements::said(report) {
        out.push_str(&line(statement(report, &one)));
    }
    out
}

/// A value of a statement: the columns that say which figure it is of, and those of statements.
fn statement(report: &Report, one: &Said<'_>) -> Vec<String> {
    let figure = |of: fn(&Figure) -> String| one.figure.map(of).unwrap_or_default();
    let about =
        || one.about.iter().map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>().join("; ");
    let of = |column: &str| match column {
        "row" => "statement".to_owned(),
        "run_id" => report.run.id.clone(),
        "number" => figure(|one| one.number.to_string()),
        "case" => figure(|one| one.case.clone()),
        "workload" => figure(|one| one.group.clone()),
        "target" => figure(|one| one.target.clone()),
        "settings" => figure(|one| settings(&one.settings)),
        "phase" => figure(|one| one.phase.to_owned()),
        "about" => about(),
        "statement" => one.kind.to_owned(),
        "outcome" => one.row.outcome.name().to_owned(),
        "because" => one.because(),
        "figures" => one.figures(),
        "value_name" => one.name.to_owned(),
        "value" => optional(one.value),
        "value_text" => one.text.clone(),
        "value_unit" => one.unit.to_owned(),
        _ => String::new(),
    };
    COLUMNS.iter().map(|column| of(column)).collect()
}

/// What is said of each figure, by its number.
#[derive(Default)]
struct OfFigures<'a> {
    warnings: HashMap<usize, Vec<&'a str>>,
    nodes: HashMap<usize, &'a NodeComparison>,
    members: HashMap<usize, Vec<&'a Member>>,
    timelines: HashMap<usize, &'a Timeline>,
}

impl<'a> OfFigures<'a> {
    fn of(report: &'a Report) -> Self {
        let nodes = report.findings.nodes.iter().map(|one| (one.figure, one)).collect();
        let mut said = Self { nodes, ..Self::default() };
        for one in shown_passes(&report.findings.timelines) {
            said.timelines.insert(one.figure, one);
        }
        for member in report.findings.members.iter().flat_map(|set| &set.members) {
            said.members.entry(member.figure).or_default().push(member);
        }
        for entry in report.notes.iter().flat_map(|note| &note.entries) {
            for number in &entry.figures {
                said.warnings.entry(*number).or_default().push(&entry.text);
            }
        }
        said
    }
}

/// `tasks=33;transfer=1048576`, in the units of the JSON form.
fn settings(all: &[Setting]) -> String {
    let raw = |one: &Setting| match one.value.as_str() {
        Some(word) => format!("{}={word}", one.key),
        None => format!("{}={}", one.key, one.value),
    };
    all.iter().map(raw).collect::<Vec<_>>().join(";")
}

fn row(report: &Report, figure: &Figure, said: &OfFigures<'_>) -> Vec<String> {
    let (bytes, transfers) = (&figure.bytes_per_second, &figure.transfers_per_second);
    let mut cells = vec![
        "figure".to_owned(),
        report.run.id.clone(),
        figure.number.to_string(),
        figure.case.clone(),
        figure.title.clone(),
        figure.group.clone(),
        figure.target.clone(),
        figure.client.to_owned(),
        settings(&figure.settings),
        figure.phase.to_owned(),
        figure.conditions.clone(),
        figure.provenance.to_owned(),
        figure.tasks.to_string(),
        figure.transfer_bytes.to_string(),
        figure.page_cache.to_string(),
        figure.statistic.clone(),
        figure.counted().to_string(),
        decimal(bytes.median),
        decimal(bytes.minimum),
        decimal(bytes.maximum),
        optional(bytes.interval_low),
        optional(bytes.interval_high),
        optional(bytes.confidence),
        decimal(transfers.median),
        decimal(transfers.minimum),
        decimal(transfers.maximum),
        optional(figure.device_share),
    ];
    let response = |operation: &str| {
        figure.latency.iter().find(|one| one.operation == operation && one.measure == "response")
    };
    for operation in ["read", "write"] {
        cells.extend(latency(response(operation)));
    }
    cells.push(figure.notes.join(" "));
    cells.push(said.warnings.get(&figure.number).map(|words| words.join("; ")).unwrap_or_default());
    cells.push(figure.doubts.join("; "));
    cells.extend(said.nodes.get(&figure.number).map(|one| nodes(one)).unwrap_or_default());
    cells.extend([
        figure.unit.to_owned(),
        figure.nodes.to_string(),
        optional(figure.cpu_ns_per_operation),
        figure.bytes_per_operation.map(|bytes| bytes.to_string()).unwrap_or_default(),
        optional(figure.allocated_bytes_per_file),
        figure.surprises.to_string(),
    ]);
    for operation in ["create", "stat", "list", "rename", "remove", "exchange"] {
        cells.extend(latency(response(operation)));
    }
    cells.extend(members(said.members.get(&figure.number).map_or(&[], Vec::as_slice)));
    cells.extend(said.timelines.get(&figure.number).map(|one| timeline(one)).unwrap_or_default());
    cells.resize(COLUMNS.len(), String::new());
    cells
}

/// Jobs over time, of the first pass that counts.
fn timeline(one: &Timeline) -> [String; 19] {
    let seconds = |nanos: u64| decimal(nanos as f64 / 1e9);
    let lengths = one.lengths.as_ref();
    let levels = one.levels.as_ref();
    let moved = |place: usize| {
        let space = one.spaces.get(place);
        [space.map(|space| space.read_bytes), space.map(|space| space.write_bytes)]
            .map(|bytes| bytes.map(|bytes| bytes.to_string()).unwrap_or_default())
    };
    let [[read, write], [work_read, work_write], [utility_read, utility_write]] = [0, 1, 2].map(moved);
    let low: Vec<&str> = one.spaces.iter().filter(|space| space.low).map(|space| space.space).collect();
    [
        one.launches.to_string(),
        one.complete.to_string(),
        decimal(one.mean_running),
        one.most_running.to_string(),
        seconds(one.elapsed_ns),
        seconds(one.real_ns),
        optional(lengths.map(|all| all.shortest_seconds)),
        optional(lengths.map(|all| all.median_seconds)),
        optional(lengths.map(|all| all.longest_seconds)),
        optional(levels.map(|all| all.start.bytes_per_second)),
        optional(levels.and_then(|all| all.climb).map(|climb| climb.bytes_per_second)),
        optional(levels.map(|all| all.peak.bytes_per_second)),
        read,
        write,
        work_read,
        work_write,
        utility_read,
        utility_write,
        low.join(" "),
    ]
}

/// The devices that a figure is of, their models, and which of them are slow.
fn members(all: &[&Member]) -> [String; 3] {
    let names = |these: &mut dyn Iterator<Item = &&Member>| {
        these.map(|one| one.name.as_str()).collect::<Vec<_>>().join(" ")
    };
    let mut models: Vec<&str> = all.iter().map(|one| one.model.as_str()).collect();
    models.dedup();
    [names(&mut all.iter()), models.join("; "), names(&mut all.iter().filter(|one| one.slow))]
}

/// How many nodes are compared, which of them are slow, and on which nothing was measured.
fn nodes(one: &NodeComparison) -> [String; 3] {
    let slow = one.nodes.iter().filter(|node| node.slow).map(|node| node.node.as_str());
    [one.nodes.len().to_string(), slow.collect::<Vec<_>>().join(" "), one.missing.join(" ")]
}

fn latency(one: Option<&LatencyInfo>) -> [String; 9] {
    let Some(one) = one else { return Default::default() };
    [
        one.transfers.to_string(),
        one.minimum_ns.to_string(),
        decimal(one.mean_ns),
        one.p50_ns.to_string(),
        one.p90_ns.to_string(),
        one.p99_ns.to_string(),
        one.p99_9_ns.to_string(),
        one.p99_99_ns.to_string(),
        one.maximum_ns.to_string(),
    ]
}

/// A number with a point and without an exponent, as every reader of CSV takes it; nothing where
/// it is not finite.
fn decimal(value: f64) -> String {
    if value.is_finite() { format!("{value}") } else { String::new() }
}

fn optional(value: Option<f64>) -> String {
    value.map(decimal).unwrap_or_default()
}

pub(crate) fn line(cells: Vec<String>) -> String {
    let mut out = cells.iter().map(|cell| escape::csv(cell)).collect::<Vec<_>>().join(",");
    out.push_str("\r\n");
    out
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn cells_with_commas_and_quotes_are_quoted() {
        let cells = ["4 KiB random read, direct", "a\"b", "c"].map(str::to_owned);
        assert_eq!(line(cells.to_vec()), "\"4 KiB random read, direct\",\"a\"\"b\",c\r\n");
    }
}
