//! Files and directories, small objects, and requests between processes: what is read by its operations.

use analysis::ShownIn;

use super::{Block, conditions, only, title, unnamed};
use crate::chosen::Chosen;
use crate::format::{
    NOT_OBSERVED, counted, decimal_bytes, grouped, latency, megabytes, number, rate_in, whole,
};
use crate::latencies::{self, LatencyInfo};
use crate::table::{Align, Cell, Table, Tone};
use crate::text::{iops, marks};
use crate::view::{Exchange, Figure, Report};

/// Figures of files, directories and objects, or those of exchanges.
fn these(report: &Report, exchanges: bool) -> Vec<&Figure> {
    let wanted = |figure: &&Figure| figure.is_operations() && figure.exchange.is_some() == exchanges;
    Chosen::of(report).figures(report).into_iter().filter(wanted).collect()
}

/// Files, directories and objects.
pub(super) fn metadata(report: &Report) -> Vec<Block> {
    let figures = these(report, false);
    if figures.is_empty() {
        return Vec::new();
    }
    let mut blocks = only("Operations per second by wall time", rates(report, &figures));
    let moved = match figures.iter().any(|figure| figure.bytes_per_second.median > 0.0) {
        true => " Moved: the bytes of the same operations.",
        false => "",
    };
    blocks.push(Block::Text(format!(
        "Rates are medians of n repetitions, with the interval of the median.{moved} CPU: processor time of all \
         processes for one of them."
    )));
    blocks.extend(only("Each operation of a round over objects, over the time of all", rounds(&figures)));
    blocks.extend(only(
        "Space that the file system holds for a file, by the blocks that stat tells (st_blocks × 512 bytes)",
        allocated(report, &figures),
    ));
    let surprised: Vec<String> = figures
        .iter()
        .filter(|figure| figure.surprises > 0)
        .map(|figure| {
            let items = counted(figure.surprises, "item");
            let (were, them) = if figure.surprises == 1 { ("was", "it") } else { ("were", "them") };
            format!(
                "Figure {}, {}: {items} {were} not as the run had left {them}.",
                figure.number, figure.what
            )
        })
        .collect();
    if !surprised.is_empty() {
        blocks.push(Block::List(surprised));
    }
    blocks
}

fn rates(report: &Report, figures: &[&Figure]) -> Table {
    let before = [
        ("#", Align::Right),
        ("target", Align::Left),
        ("phase", Align::Left),
        ("path", Align::Left),
        ("tasks", Align::Right),
        ("nodes", Align::Right),
        ("rate", Align::Right),
        ("n", Align::Right),
        ("interval", Align::Right),
    ];
    let after = [("moved MB/s", Align::Right), ("CPU", Align::Right), ("at, notes", Align::Left)];
    let columns = latencies::columns(&before, ShownIn::Operations, &after);
    let mut table = Table::new(&columns).below("at, notes");
    let one_path = figures.iter().all(|figure| figure.path == figures[0].path);
    let clustered = figures.iter().any(|figure| figure.nodes > 1);
    for figure in figures {
        let moved = figure.bytes_per_second.median;
        let mut row: Vec<Cell> = vec![
            Cell::figure(Some(figure.number)),
            super::which_target(report, figure).into(),
            figure.what.clone().into(),
            if one_path { String::new() } else { figure.path.clone() }.into(),
            grouped(u64::from(figure.tasks)).into(),
            if clustered { grouped(figure.nodes) } else { String::new() }.into(),
            Cell::toned(rate_in(figure.transfers_per_second.median, figure.unit), Tone::Main),
            figure.counted().to_string().into(),
            interval(figure).into(),
        ];
        row.extend(times(response(figure)));
        row.extend([
            if moved > 0.0 { megabytes(moved) } else { String::new() }.into(),
            figure.cpu_ns_per_operation.map(|nanos| latency(whole(nanos))).unwrap_or_default().into(),
            [unnamed(figure), marks(figure)]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join(", ")
                .into(),
        ]);
        table.row(row);
    }
    table
}

/// Cells of the latencies of operations.
fn times(one: Option<&LatencyInfo>) -> impl Iterator<Item = Cell> {
    latencies::cells(one, ShownIn::Operations).into_iter().map(Cell::from)
}

/// The latency of the only operation of `figure`; of several the tables of rounds and latencies have each.
pub(super) fn response(figure: &Figure) -> Option<&LatencyInfo> {
    let mut all = figure.latency.iter().filter(|one| one.measure == "response");
    all.next().filter(|_| all.next().is_none())
}

fn interval(figure: &Figure) -> String {
    let spread = &figure.transfers_per_second;
    match (spread.interval_low, spread.interval_high) {
        (Some(low), Some(high)) => format!("{} – {}", iops(low), iops(high)),
        _ => String::new(),
    }
}

/// Each operation of phases that do several.
fn rounds(figures: &[&Figure]) -> Table {
    let before = [
        ("#", Align::Right),
        ("operation", Align::Left),
        ("per second", Align::Right),
        ("MB/s", Align::Right),
    ];
    let columns = latencies::columns(&before, ShownIn::Operations, &[("operations", Align::Right)]);
    let mut table = Table::new(&columns);
    for figure in figures {
        for one in &figure.operations {
            let found = figure
                .latency
                .iter()
                .find(|other| other.operation == one.operation && other.measure == "response");
            let moved = one.bytes_per_second;
            let mut row: Vec<Cell> = vec![
                Cell::figure(Some(figure.number)),
                one.operation.into(),
                Cell::toned(iops(one.per_second), Tone::Main),
                if moved > 0.0 { megabytes(moved) } else { String::new() }.into(),
            ];
            row.extend(times(found));
            row.push(found.map(|one| grouped(one.transfers)).unwrap_or_default().into());
            table.row(row);
        }
    }
    table
}

/// Bytes that files have and bytes that are held for them, with the creates of the same case.
fn allocated(report: &Report, figures: &[&Figure]) -> Table {
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("target", Align::Left),
        ("bytes of a file", Align::Right),
        ("held for it", Align::Right),
        ("held ÷ bytes", Align::Right),
        ("creates/s", Align::Right),
        ("conditions", Align::Left),
    ])
    .below("conditions");
    for figure in figures {
        let Some(held) = figure.allocated_bytes_per_file else { continue };
        let of_case = |phase: &str| {
            report.figures.iter().find(|other| other.case == figure.case && other.phase == phase)
        };
        let created = of_case("file-create").or_else(|| of_case("file-write"));
        let bytes = created.and_then(|created| created.bytes_per_operation).unwrap_or(0);
        table.row(vec![
            Cell::figure(Some(figure.number)),
            title(report, &figure.target).into(),
            plan::Bytes(bytes).to_string().into(),
            Cell::toned(decimal_bytes(whole(held)), Tone::Main),
            if bytes > 0 { number(held / bytes as f64) } else { NOT_OBSERVED.to_owned() }.into(),
            created.map(|created| iops(created.transfers_per_second.median)).unwrap_or_default().into(),
            conditions(report, figure).into(),
        ]);
    }
    table
}

/// Requests and responses between processes.
pub(super) fn exchanges(report: &Report) -> Vec<Block> {
    let figures = these(report, true);
    if figures.is_empty() {
        return Vec::new();
    }
    let caption = "Request and response together are one RPC; out and back in MB/s";
    let mut blocks = only(caption, exchange_table(report, &figures));
    blocks.push(Block::Text(
        "Depth: requests under way on each connection. Threads: of each process. Out and back: requests and \
         responses. CPU: processor time of all processes for one RPC. Processors: those that threads are bound to. \
         Transport: TCP in every figure that ioproof has measured; RDMA is not available, as this program has no \
         transport for it."
            .to_owned(),
    ));
    blocks
}

fn exchange_table(report: &Report, figures: &[&Figure]) -> Table {
    let before = [
        ("#", Align::Right),
        ("request → response", Align::Left),
        ("connections", Align::Right),
        ("threads", Align::Right),
        ("depth", Align::Right),
        ("RPC/s", Align::Right),
        ("n", Align::Right),
    ];
    let after = [
        ("out", Align::Right),
        ("back", Align::Right),
        ("CPU", Align::Right),
        ("transport", Align::Left),
        ("conditions", Align::Left),
    ];
    let columns = latencies::columns(&before, ShownIn::Operations, &after);
    let mut table = Table::new(&columns).below("conditions");
    for figure in figures {
        let Some(how) = &figure.exchange else { continue };
        // What another tool's ends ran on, and over what, is not printed.
        let (transport, told) = match figure.provenance {
            "imported" => ("not printed", conditions(report, figure)),
            _ => (how.transport, format!("{}; {}", conditions(report, figure), placement(figure, how))),
        };
        let mut row: Vec<Cell> = vec![
            Cell::figure(Some(figure.number)),
            format!("{} → {}", plan::Bytes(how.request_bytes), plan::Bytes(how.response_bytes)).into(),
            grouped(u64::from(figure.tasks)).into(),
            how.threads.to_string().into(),
            how.depth.to_string().into(),
            Cell::toned(iops(figure.transfers_per_second.median), Tone::Main),
            figure.counted().to_string().into(),
        ];
        row.extend(times(response(figure)));
        row.extend([
            megabytes(how.requests_bytes_per_second).into(),
            megabytes(how.responses_bytes_per_second).into(),
            figure.cpu_ns_per_operation.map(|nanos| latency(whole(nanos))).unwrap_or_default().into(),
            transport.into(),
            told.into(),
        ]);
        table.row(row);
    }
    table
}

/// Where the processes and threads of exchanges ran.
fn placement(figure: &Figure, how: &Exchange) -> String {
    let ends = if how.ends == 1 { "1 process".to_owned() } else { format!("{} processes", how.ends) };
    let interface = if how.interface.is_empty() { "the one of the route" } else { &how.interface };
    let bound = match (how.clients_on.as_str(), how.servers_on.as_str()) {
        ("none", "none") => "threads not bound".to_owned(),
        (asking, answering) => format!("processors: asking {asking}, answering {answering}"),
    };
    format!("{ends} on {}; interface {interface}; {bound}", counted(figure.nodes, "node"))
}
