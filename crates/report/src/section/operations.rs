//! Figures of operations: files and directories, small objects, and requests between processes.

use crate::format::interval;
use analysis::figures::ShownIn;
use plan::Phase;
use record::Provenance;

use super::block::{Block, beneath, conditions, only, title, which_target};
use crate::format::iops;
use crate::format::table::{Cell, Table, Tone};
use crate::format::{
    NOT_OBSERVED, counted, decimal_bytes, grouped, latency, megabytes, number, rate_in, whole,
};
use crate::report::Report;
use crate::report::figure::{Exchange, Figure};
use crate::report::latencies::{self, LatencyInfo};
use crate::section::chosen::Chosen;

/// The figures of exchanges, or else those of files, directories and objects.
fn operation_figures(report: &Report, exchanges: bool) -> Vec<&Figure> {
    let wanted = |figure: &&Figure| figure.is_operations() && figure.exchange.is_some() == exchanges;
    Chosen::of(report).figures(report).into_iter().filter(wanted).collect()
}

/// The section of files, directories and objects.
pub(super) fn metadata(report: &Report) -> Vec<Block> {
    let figures = operation_figures(report, false);
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
    blocks.extend(only(
        "Each operation of a round over objects, over the time of all of them",
        rounds(&figures),
    ));
    blocks.extend(only(
        "Space that the file system uses for a file, by the blocks that stat reports (st_blocks × 512 bytes)",
        allocated(report, &figures),
    ));
    blocks.extend(only("What searches came across", searched(&figures)));
    let surprised: Vec<String> = figures
        .iter()
        .filter(|figure| figure.surprises() > 0)
        .map(|figure| {
            let items = counted(figure.surprises(), "item");
            let (were, them) = if figure.surprises() == 1 { ("was", "it") } else { ("were", "them") };
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
    let one_path = figures.iter().all(|figure| figure.path == figures[0].path);
    let clustered = figures.iter().any(|figure| figure.node_count > Some(1));
    let notes = |figure: &Figure| {
        let parts = [beneath(figure), figure.marks()].into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(", ")
    };
    Table::of(figures)
        .right("#", |one| Cell::figure(Some(one.number)))
        .left("target", |one| which_target(report, one))
        .left("phase", |one| one.what.clone())
        .left("path", |one| if one_path { "" } else { &one.path })
        .right("tasks", |one| one.tasks.map(|tasks| grouped(tasks.into())))
        .right("nodes", |one| one.node_count.filter(|_| clustered).map(grouped))
        .right("rate", |one| Cell::toned(rate_in(one.transfers_per_second.median, one.unit()), Tone::Main))
        .right("n", |one| one.repeated().to_string())
        .right("interval", |one| interval(&one.transfers_per_second, iops))
        .with(|table| latencies::columns(table, ShownIn::Operations, |one| response(one)))
        .right("moved MB/s", |one| moved(one.bytes_per_second.median))
        .right("CPU", |one| cpu(one))
        .left("at, notes", |one| notes(one))
        .done()
        .below("at, notes")
}

/// A rate in MB/s; none if no bytes are moved.
fn moved(bytes_per_second: f64) -> Option<String> {
    (bytes_per_second > 0.0).then(|| megabytes(bytes_per_second))
}

fn cpu(figure: &Figure) -> Option<String> {
    figure.cpu_ns_per_operation().map(|nanos| latency(whole(nanos)))
}

/// The response time of `figure` if it has a single kind of operation.
pub(crate) fn response(figure: &Figure) -> Option<&LatencyInfo> {
    let mut all = figure.latency.iter().filter(|one| one.is_response());
    all.next().filter(|_| all.next().is_none())
}

/// The kinds of operations of phases that have several.
fn rounds(figures: &[&Figure]) -> Table {
    let rows = figures.iter().flat_map(|&figure| {
        figure.operations().into_iter().map(move |(operation, rate)| {
            let of = |other: &&LatencyInfo| other.operation == operation && other.is_response();
            (figure.number, operation, rate, figure.latency.iter().find(of))
        })
    });
    Table::of(rows)
        .right("#", |(number, ..)| Cell::figure(Some(*number)))
        .left("operation", |(_, operation, ..)| operation.name())
        .right("per second", |(.., rate, _)| Cell::toned(iops(rate.transfers_per_second), Tone::Main))
        .right("MB/s", |(.., rate, _)| moved(rate.bytes_per_second))
        .with(|table| latencies::columns(table, ShownIn::Operations, |(.., found)| *found))
        .right("operations", |(.., found)| found.map(|one| grouped(one.count)))
        .done()
}

/// File sizes and allocated bytes, with the create rate of the same case.
fn allocated(report: &Report, figures: &[&Figure]) -> Table {
    let rows = figures.iter().filter_map(|figure| {
        let of_case = |phase: Phase| {
            report.figures.iter().find(|other| other.case == figure.case && other.phase == phase)
        };
        let created = of_case(Phase::FileCreate).or_else(|| of_case(Phase::FileWrite));
        let bytes = created.and_then(|created| created.bytes_per_operation).unwrap_or(0);
        let held = figure.allocated_bytes_per_file()?;
        let is_empty = bytes == 0 && held == 0.0;

        (!is_empty).then_some((created.unwrap_or(figure), held, created, bytes))
    });
    let ratio =
        |held: f64, bytes: u64| if bytes > 0 { number(held / bytes as f64) } else { NOT_OBSERVED.to_owned() };
    Table::of(rows)
        .right("#", |(figure, ..)| Cell::figure(Some(figure.number)))
        .left("target", |(figure, ..)| title(report, &figure.target))
        .right("bytes of a file", |(.., bytes)| plan::Bytes(*bytes).to_string())
        .right("held for it", |(_, held, ..)| Cell::toned(decimal_bytes(whole(*held)), Tone::Main))
        .right("held ÷ bytes", |(_, held, _, bytes)| ratio(*held, *bytes))
        .right("creates/s", |(_, _, created, _)| created.map(|one| iops(one.transfers_per_second.median)))
        .left("conditions", |(figure, ..)| conditions(report, figure))
        .done()
        .below("conditions")
}

/// Names that searches visited, and the matches among them.
fn searched(figures: &[&Figure]) -> Table {
    let rows = figures.iter().filter_map(|figure| Some((*figure, figure.searched()?)));
    Table::of(rows)
        .right("#", |(figure, _)| Cell::figure(Some(figure.number)))
        .left("search", |(figure, _)| figure.conditions.clone())
        .right("names", |(_, (all, _))| grouped(*all))
        .right("found", |(_, (_, found))| Cell::toned(grouped(*found), Tone::Main))
        .done()
}

/// The section of requests and responses between processes.
pub(super) fn exchanges(report: &Report) -> Vec<Block> {
    let figures = operation_figures(report, true);
    if figures.is_empty() {
        return Vec::new();
    }
    let caption = "Request and response together are one RPC; out and back in MB/s";
    let mut blocks = only(caption, exchange_table(report, &figures));
    blocks.push(Block::Text(
        "Depth: requests in flight on each connection. Threads: of each process. Out and back: requests and \
         responses. CPU: processor time of all processes for one RPC. Processors: those that threads are bound to. \
         Transport: TCP in every figure that ioproof has measured; RDMA is not available, as this program has no \
         transport for it."
            .to_owned(),
    ));
    blocks
}

fn exchange_table(report: &Report, figures: &[&Figure]) -> Table {
    // Other tools do not print hosts and networks.
    let imported = |figure: &Figure| figure.provenance == Provenance::Imported;
    let told = |figure: &Figure, how: &Exchange| match imported(figure) {
        true => conditions(report, figure),
        false => format!("{}; {}", conditions(report, figure), placement(figure, how)),
    };
    let sizes =
        |how: &Exchange| format!("{} → {}", plan::Bytes(how.request_bytes), plan::Bytes(how.response_bytes));
    Table::of(figures.iter().filter_map(|&figure| Some((figure, figure.exchange.as_ref()?))))
        .right("#", |(figure, _)| Cell::figure(Some(figure.number)))
        .left("request → response", |(_, how)| sizes(how))
        .right("connections", |(figure, _)| figure.tasks.map(|tasks| grouped(tasks.into())))
        .right("threads", |(_, how)| how.threads.to_string())
        .right("depth", |(_, how)| how.depth.to_string())
        .right("RPC/s", |(figure, _)| Cell::toned(iops(figure.transfers_per_second.median), Tone::Main))
        .right("n", |(figure, _)| figure.repeated().to_string())
        .with(|table| latencies::columns(table, ShownIn::Operations, |(figure, _)| response(figure)))
        .right("out", |(_, how)| megabytes(how.requests_bytes_per_second))
        .right("back", |(_, how)| megabytes(how.responses_bytes_per_second))
        .right("CPU", |(figure, _)| cpu(figure))
        .left("transport", |(figure, how)| if imported(figure) { "not printed" } else { how.transport })
        .left("conditions", |(figure, how)| told(figure, how))
        .done()
        .below("conditions")
}

/// Placement of the processes and threads of exchanges.
fn placement(figure: &Figure, how: &Exchange) -> String {
    let ends = if how.ends == 1 { "1 process".to_owned() } else { format!("{} processes", how.ends) };
    let interface = if how.interface.is_empty() { "the one of the route" } else { &how.interface };
    let bound = match (how.clients_on.as_str(), how.servers_on.as_str()) {
        ("none", "none") => "threads not bound".to_owned(),
        (asking, answering) => format!("processors: asking {asking}, answering {answering}"),
    };
    format!(
        "{ends} on {}; interface {interface}; {bound}",
        figure.node_count.map_or("an unknown number of nodes".to_owned(), |nodes| counted(nodes, "node"))
    )
}
