//! Single requests: one task, one request under way, each timed; through the page cache and around it.

use std::collections::{HashMap, HashSet, VecDeque};

use analysis::Check;

use super::operations::response;
use super::{Block, only, which_target};
use crate::format::{grouped, latency, whole};
use crate::table::{Align, Cell, Table, Tone};
use crate::view::{Figure, Report};

/// The figures of the workloads whose transfers are all single requests.
fn singles(report: &Report) -> Vec<&Figure> {
    let transfers = || report.figures.iter().filter(|figure| !figure.is_operations());
    let mixed: HashSet<&str> =
        transfers().filter(|figure| !is_one_at_a_time(figure)).map(|figure| figure.group.as_str()).collect();
    transfers().filter(|figure| !mixed.contains(figure.group.as_str())).collect()
}

/// Whether one task has one small request under way.
fn is_one_at_a_time(figure: &Figure) -> bool {
    figure.tasks == 1 && figure.path.ends_with(" 1") && !figure.is_large() && response(figure).is_some()
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
    // Among other work, those stand alone that something published is known of.
    let others = report.figures.iter().filter(|figure| !figure.is_operations()).count() > figures.len();
    let is_told = |figure: &&Figure| {
        !others || !(paired.contains(&figure.number) || published(report, &[figure]).is_empty())
    };
    let told: Vec<&Figure> = figures.into_iter().filter(is_told).collect();
    blocks.extend(only(
        "One request at a time. Mean and standard deviation are of the requests, not of their mean",
        each(report, &told, &paired),
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

/// The same requests of the same target: around the page cache, and through it.
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

fn side_by_side(report: &Report, pairs: &[[&Figure; 2]]) -> Table {
    let mut table = Table::new(&[
        ("target", Align::Left),
        ("request", Align::Left),
        ("direct", Align::Right),
        ("min", Align::Right),
        ("mean", Align::Right),
        ("max", Align::Right),
        ("dev.", Align::Right),
        ("cached", Align::Right),
        ("min", Align::Right),
        ("mean", Align::Right),
        ("max", Align::Right),
        ("dev.", Align::Right),
        ("flag", Align::Left),
        ("published", Align::Left),
    ])
    .below("published");
    for [direct, cached] in pairs {
        let mut row: Vec<Cell> = vec![which_target(report, direct).into(), direct.what.clone().into()];
        row.extend(times(direct));
        row.extend(times(cached));
        row.push(flags(direct, cached));
        row.push(published(report, &[direct, cached]).into());
        table.row(row);
    }
    table
}

/// Its number, minimum, mean, maximum and standard deviation.
fn times(figure: &Figure) -> [Cell; 5] {
    let time = |key: &str| response(figure).map(|one| one.words(key)).unwrap_or_default();
    [
        Cell::figure(Some(figure.number)),
        time("minimum").into(),
        Cell::toned(time("mean"), Tone::Main),
        time("maximum").into(),
        time("deviation").into(),
    ]
}

/// Of which of both memory was the source.
fn flags(direct: &Figure, cached: &Figure) -> Cell {
    match (from_memory(direct), from_memory(cached)) {
        (true, true) => Cell::toned("page cache; direct: memory", Tone::Bad),
        (true, false) => Cell::toned("direct: memory", Tone::Bad),
        (false, true) => Cell::toned("page cache", Tone::Doubtful),
        (false, false) => Cell::toned("", Tone::Plain),
    }
}

/// Every figure with all that is known of its requests; what is published stands with `paired` ones already.
fn each(report: &Report, figures: &[&Figure], paired: &HashSet<usize>) -> Table {
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("target", Align::Left),
        ("request", Align::Left),
        ("cached or direct", Align::Left),
        ("requests", Align::Right),
        ("min", Align::Right),
        ("mean", Align::Right),
        ("max", Align::Right),
        ("mean dev.", Align::Right),
        ("std. dev.", Align::Right),
        ("device ÷ tasks", Align::Right),
        ("doubts", Align::Left),
        ("published", Align::Left),
    ])
    .below("published");
    for figure in figures {
        let Some(one) = response(figure) else { continue };
        let (cache, tone) = match (is_direct(figure), from_memory(figure)) {
            (true, false) => ("direct", Tone::Plain),
            (true, true) => ("direct: memory", Tone::Bad),
            (false, true) => ("page cache", Tone::Doubtful),
            (false, false) => ("cached path", Tone::Plain),
        };
        table.row(vec![
            Cell::figure(Some(figure.number)),
            which_target(report, figure).into(),
            figure.what.clone().into(),
            Cell::toned(cache, tone),
            grouped(one.transfers).into(),
            one.words("minimum").into(),
            Cell::toned(one.words("mean"), Tone::Main),
            one.words("maximum").into(),
            one.words("mean_deviation").into(),
            one.words("deviation").into(),
            crate::text::share(figure.device_share).into(),
            figure.doubts.join(", ").into(),
            if paired.contains(&figure.number) { String::new() } else { published(report, &[figure]) }.into(),
        ]);
    }
    table
}

fn is_direct(figure: &Figure) -> bool {
    figure.path.starts_with("direct")
}

/// Whether memory answered, or so fast that no device did.
fn from_memory(figure: &Figure) -> bool {
    let of_memory = [Check::Cached, Check::ImplausibleLatency].map(Check::name);
    figure.doubts.iter().any(|doubt| of_memory.contains(doubt))
}

/// The published latencies beside any of `figures`, by what they are of:
/// `published of NVMe: min 793 ns, mean 1.02 µs, max 4.13 µs (Performance study of …, 2018); …`.
fn published(report: &Report, figures: &[&Figure]) -> String {
    let is_of = |figure: Option<usize>| figures.iter().any(|one| figure == Some(one.number - 1));
    let placed = report
        .found
        .published
        .iter()
        .filter_map(analysis::Stated::says)
        .filter(|one| one.unit == "ns" && is_of(one.figure))
        .map(|one| {
            (
                one.id.as_str(),
                one.storage.as_str(),
                one.source.as_str(),
                one.statistic.as_str(),
                one.published,
            )
        });
    let mut told: Vec<&str> = Vec::new();
    let mut of_storage: Vec<(&str, &str, Vec<String>)> = Vec::new();
    for (id, storage, source, statistic, value) in placed {
        if told.contains(&id) {
            continue;
        }
        told.push(id);
        let value = format!("{statistic} {}", latency(whole(value)));
        match of_storage.iter_mut().find(|(known, cited, _)| (*known, *cited) == (storage, source)) {
            Some((_, _, values)) => values.push(value),
            None => of_storage.push((storage, source, vec![value])),
        }
    }
    let told = |(storage, source, values): &(&str, &str, Vec<String>)| {
        let on = if storage.is_empty() { String::new() } else { format!(" of {storage}") };
        format!("published{on}: {} ({source})", values.join(", "))
    };
    of_storage.iter().map(told).collect::<Vec<_>>().join("; ")
}
