//! Latencies of single requests: one task with one request in flight, direct and through the page cache.

use std::collections::{HashMap, HashSet, VecDeque};

use analysis::audit::Check;

use super::block::{Block, only, which_target};
use super::operations::response;
use crate::format::table::{Cell, Table, TableOf, Tone};
use crate::format::{grouped, latency, whole};
use crate::report::Report;
use crate::report::figure::Figure;

/// The figures of workloads in which all transfers are single requests.
fn singles(report: &Report) -> Vec<&Figure> {
    let transfers = || report.figures.iter().filter(|figure| !figure.is_operations());
    let mixed: HashSet<&str> =
        transfers().filter(|figure| !is_one_at_a_time(figure)).map(|figure| figure.group.as_str()).collect();
    transfers().filter(|figure| !mixed.contains(figure.group.as_str())).collect()
}

/// Whether one task has one small request in flight.
fn is_one_at_a_time(figure: &Figure) -> bool {
    figure.tasks == Some(1) && figure.path.ends_with(" 1") && !figure.is_large() && response(figure).is_some()
}

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let figures = singles(report);
    if figures.is_empty() {
        return Vec::new();
    }
    let pairs = pairs(&figures);
    let paired: HashSet<usize> = pairs.iter().flat_map(|pair| pair.map(|figure| figure.number)).collect();
    let mut blocks = only(
        "Figures of direct requests and of the same through the page cache, side by side; dev. is the standard \
         deviation of the requests",
        side_by_side(report, &pairs),
    );
    // In a study with other work, figures without a partner are listed only if published latencies are known.
    let others = report.figures.iter().filter(|figure| !figure.is_operations()).count() > figures.len();
    let is_listed = |figure: &&Figure| {
        !others || !(paired.contains(&figure.number) || published(report, &[figure]).is_empty())
    };
    let listed: Vec<&Figure> = figures.into_iter().filter(is_listed).collect();
    blocks.extend(only(
        "One request at a time. Mean and standard deviation are of the requests, not of their mean",
        each(report, &listed, &paired),
    ));
    if blocks.is_empty() {
        return blocks;
    }
    blocks.push(Block::Text(
        "Page cache: memory of this host answered, which is no latency of the device. A direct request that is \
         answered faster than any device can is flagged, too."
            .to_owned(),
    ));
    blocks
}

/// Figures of the same requests to the same target: direct, and through the page cache.
fn pairs<'a>(figures: &[&'a Figure]) -> Vec<[&'a Figure; 2]> {
    let request = |one: &'a Figure| (one.target.as_str(), one.what.as_str(), one.phase);
    let (direct, cached): (Vec<&Figure>, Vec<&Figure>) = figures.iter().partition(|figure| is_direct(figure));
    let mut partners: HashMap<_, VecDeque<&Figure>> = HashMap::new();
    for figure in cached {
        partners.entry(request(figure)).or_default().push_back(figure);
    }
    let pair = |one: &'a Figure| Some([one, partners.get_mut(&request(one))?.pop_front()?]);
    direct.into_iter().filter_map(pair).collect()
}

fn side_by_side<'a>(report: &Report, pairs: &'a [[&'a Figure; 2]]) -> Table {
    let times = |table: TableOf<&'a [&'a Figure; 2]>, heading, place: usize| {
        let time = move |pair: &&[&Figure; 2], key: &str| response(pair[place]).map(|one| one.words(key));
        table
            .right(heading, |pair| Cell::figure(Some(pair[place].number)))
            .right("min", |pair| time(pair, "minimum"))
            .right("mean", |pair| Cell::toned(time(pair, "mean").unwrap_or_default(), Tone::Main))
            .right("max", |pair| time(pair, "maximum"))
            .right("dev.", |pair| time(pair, "deviation"))
    };
    Table::of(pairs)
        .left("target", |[direct, _]| which_target(report, direct))
        .left("request", |[direct, _]| direct.what.clone())
        .with(|table| times(table, "direct", 0))
        .with(|table| times(table, "cached", 1))
        .left("flag", |[direct, cached]| flags(direct, cached))
        .left("published", |pair| published(report, &pair[..]))
        .done()
        .below("published")
}

/// Which of the two was served from memory.
fn flags(direct: &Figure, cached: &Figure) -> Cell {
    match (from_memory(direct), from_memory(cached)) {
        (true, true) => Cell::toned("page cache; direct: memory", Tone::Bad),
        (true, false) => Cell::toned("direct: memory", Tone::Bad),
        (false, true) => Cell::toned("page cache", Tone::Doubtful),
        (false, false) => Cell::toned("", Tone::Plain),
    }
}

/// Every figure with all statistics of its requests. Published latencies of `paired` ones are in the other table.
fn each(report: &Report, figures: &[&Figure], paired: &HashSet<usize>) -> Table {
    let cache = |figure: &Figure| match (is_direct(figure), from_memory(figure)) {
        (true, false) => Cell::from("direct"),
        (true, true) => Cell::toned("direct: memory", Tone::Bad),
        (false, true) => Cell::toned("page cache", Tone::Doubtful),
        (false, false) => Cell::from("cached path"),
    };
    let unpaired = |figure: &Figure| !paired.contains(&figure.number);
    Table::of(figures.iter().filter_map(|&figure| Some((figure, response(figure)?))))
        .right("#", |(figure, _)| Cell::figure(Some(figure.number)))
        .left("target", |(figure, _)| which_target(report, figure))
        .left("request", |(figure, _)| figure.what.clone())
        .left("cached or direct", |(figure, _)| cache(figure))
        .right("requests", |(_, one)| grouped(one.count))
        .right("min", |(_, one)| one.words("minimum"))
        .right("mean", |(_, one)| Cell::toned(one.words("mean"), Tone::Main))
        .right("max", |(_, one)| one.words("maximum"))
        .right("mean dev.", |(_, one)| one.words("mean_deviation"))
        .right("std. dev.", |(_, one)| one.words("deviation"))
        .right("device ÷ tasks", |(figure, _)| crate::format::share(figure.moved_by_devices()))
        .left("doubts", |(figure, _)| figure.doubts.join(", "))
        .left("published", |(figure, _)| unpaired(figure).then(|| published(report, &[figure])))
        .done()
        .below("published")
}

fn is_direct(figure: &Figure) -> bool {
    figure.path.starts_with("direct")
}

/// Whether the audit found that the data was served from memory.
fn from_memory(figure: &Figure) -> bool {
    let of_memory = [Check::Cached, Check::ImplausibleLatency].map(Check::name);
    figure.doubts.iter().any(|doubt| of_memory.contains(doubt))
}

/// The published latencies for any of `figures`, by storage: `published of NVMe: min 793 ns, mean 1.02 µs, max
/// 4.13 µs (Performance study of …, 2018); …`.
fn published(report: &Report, figures: &[&Figure]) -> String {
    let is_of = |figure: Option<usize>| figures.iter().any(|one| figure == Some(one.number - 1));
    let placed = report.found.published.iter().filter_map(analysis::gate::Stated::says);
    let mut seen = HashSet::new();
    let of_these = placed
        .filter(|one| one.unit() == "ns" && is_of(one.figure) && seen.insert(one.published.id.as_str()));
    let words = |same: &Vec<&analysis::comparisons::PublishedComparison>| {
        let on = match same[0].storage() {
            "" => String::new(),
            storage => format!(" of {storage}"),
        };
        let value = |one: &&analysis::comparisons::PublishedComparison| {
            format!("{} {}", one.published.statistic.name(), latency(whole(one.value())))
        };
        let values = same.iter().map(value).collect::<Vec<_>>().join(", ");
        format!("published{on}: {values} ({})", same[0].source())
    };
    let of_storage = analysis::figures::grouped(of_these, |one| (one.storage(), one.source()));
    of_storage.iter().map(words).collect::<Vec<_>>().join("; ")
}
