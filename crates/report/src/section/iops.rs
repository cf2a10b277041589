//! Transfers per second of one system, by what is meant by the word.

use std::collections::HashMap;

use super::{Block, LARGE_TRANSFER_BYTES, only, title};
use crate::format::{grouped, latency, whole};
use crate::table::{Align, Cell, Table, Tone};
use crate::text::{iops, share};
use crate::view::{Figure, Report};

/// What makes two figures of IOPS two things: target, size, order, direction, path with its depth,
/// and whether a cache answered.
type Meaning<'a> = (&'a str, u64, bool, &'static str, &'a str, bool);

/// Fewer definitions need no table.
const DEFINITIONS_LEAST: usize = 2;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let mut order: Vec<Meaning<'_>> = Vec::new();
    let mut best: HashMap<Meaning<'_>, &Figure> = HashMap::new();
    for figure in report.figures.iter().filter(|figure| figure.transfer_bytes < LARGE_TRANSFER_BYTES) {
        let random = figure.what.contains("random");
        let key =
            (&*figure.target, figure.transfer_bytes, random, figure.phase, &*figure.path, figure.page_cache);
        let known = best.entry(key).or_insert_with(|| {
            order.push(key);
            figure
        });
        if figure.transfers_per_second.median > known.transfers_per_second.median {
            *known = figure;
        }
    }
    if order.len() < DEFINITIONS_LEAST {
        return Vec::new();
    }
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("target", Align::Left),
        ("transfers", Align::Left),
        ("path, depth", Align::Left),
        ("tasks", Align::Right),
        ("client", Align::Left),
        ("device ÷ tasks", Align::Left),
        ("IOPS", Align::Right),
        ("mean", Align::Right),
        ("p99", Align::Right),
        ("rate", Align::Left),
    ]);
    for figure in order.iter().filter_map(|key| best.get(key)) {
        let first = figure.latency.first();
        table.row(vec![
            Cell::figure(Some(figure.number)),
            title(report, &figure.target).into(),
            figure.what.clone().into(),
            figure.path.clone().into(),
            grouped(u64::from(figure.tasks)).into(),
            figure.client.into(),
            cache(figure).into(),
            Cell::toned(iops(figure.transfers_per_second.median), Tone::Main),
            first.map(|one| latency(whole(one.mean_ns))).unwrap_or_default().into(),
            first.map(|one| latency(one.p99_ns)).unwrap_or_default().into(),
            figure.rate.into(),
        ]);
    }
    let mut blocks = only(
        "Transfers completed per second of the same system; of several task counts and mixes the fastest",
        table,
    );
    blocks.push(Block::Text(
        "All of these are its IOPS. None of them means anything without the words in its row.".to_owned(),
    ));
    blocks
}

fn cache(figure: &Figure) -> String {
    let share = share(figure.device_share);
    if figure.page_cache { format!("{share}, page cache") } else { share }
}
