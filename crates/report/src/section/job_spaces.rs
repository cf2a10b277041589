//! Where the bytes of jobs went: by space, by kind of test, by what steps do; and which space is for what reads fast.

use super::job_times::{caption, shown};
use super::{Block, only, title};
use crate::format::{decimal_bytes, duration, number, percent, rate};
use crate::table::{Align, Cell, Table, Tone};
use crate::view::Report;
use crate::view::timeline::{JobPlacing, SpaceUse, Timeline};

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let all = &report.findings.timelines;
    let mut sentences: Vec<String> = all.iter().flat_map(warnings).collect();
    sentences.extend(shown(all).into_iter().map(sum));
    sentences.extend(report.findings.job_placings.iter().map(|one| advice(report, one)));
    let mut blocks = Vec::new();
    if !sentences.is_empty() {
        blocks.push(Block::List(sentences));
    }
    for one in shown(all) {
        blocks.extend(only(
            &caption(one, "bytes of each space, and the most that launches held there"),
            spaces(one),
        ));
        blocks.extend(only(
            &caption(one, "free space of the file systems of the spaces, looked at each second"),
            free(one),
        ));
        blocks.extend(only(
            &caption(one, "input of a single instance of each test, and what all moved"),
            kinds(one),
        ));
        blocks.extend(only(
            &caption(one, "what steps do. Copies: bytes written for each byte of the rows read"),
            actions(one),
        ));
    }
    blocks.extend(only("Share of reads, and rates of single steps beside others", placings(report)));
    blocks
}

fn warnings(one: &Timeline) -> impl Iterator<Item = String> {
    let low = one.spaces.iter().filter(|space| space.low);
    low.map(|space| {
        let text = format!(
            "{} space ran low: {} were free at the least, the limit is {} of {}. Flash writes slowly without fallow \
             space: make it larger or use less of it.",
            space.space,
            bytes(space.free_least_bytes),
            bytes(space.free_limit_bytes),
            bytes(space.size_bytes)
        );
        caption(one, &text)
    })
}

fn sum(one: &Timeline) -> String {
    let moved = &one.moved;
    let multiple = |multiple: Option<f64>| match multiple {
        Some(multiple) => format!(" ({} × the input)", number(multiple)),
        None => String::new(),
    };
    let text = format!(
        "{} read{}, {} written{}.",
        decimal_bytes(moved.read_bytes),
        multiple(moved.read_multiple),
        decimal_bytes(moved.write_bytes),
        multiple(moved.write_multiple)
    );
    let input = match moved.input_bytes {
        0 => String::new(),
        bytes => format!(" Input: {} of loaded tables, each step its inputs once.", decimal_bytes(bytes)),
    };
    caption(one, &format!("{text}{input}"))
}

fn advice(report: &Report, one: &JobPlacing) -> String {
    let target = title(report, &one.target);
    let place = if target.is_empty() { format!("Figure {}", one.figure) } else { target.to_owned() };
    let rates = match (one.read_bytes_per_second, one.write_bytes_per_second, one.ratio) {
        (Some(read), Some(write), Some(ratio)) => format!(
            "reads {}, writes {}, ratio {} ({}). ",
            rate(read),
            rate(write),
            number(ratio),
            one.rates_of
        ),
        _ => String::new(),
    };
    let Some(first) = one.shares.first() else { return format!("{place}: {rates}") };
    let share = percent(first.read_share);
    if let Some(why) = &one.withheld {
        return format!("{place}: which space is for flash is withheld: {why}.");
    }
    let words = match (one.for_reads, one.ratio.is_some()) {
        (true, _) => format!(
            "If flash cannot hold all spaces, put {} space there: {share} of its bytes are read, the highest share.",
            first.space
        ),
        (false, true) => format!(
            "It writes nearly as fast as it reads: nothing speaks for {} space, though {share} of its bytes are read.",
            first.space
        ),
        (false, false) => format!(
            "{} space has the highest share of reads, {share}; add large transfers on this target to learn its ratio of \
             reads to writes.",
            first.space
        ),
    };
    format!("{place}: {rates}{words}")
}

fn spaces(one: &Timeline) -> Table {
    let mut table = Table::new(&[
        ("space", Align::Left),
        ("read", Align::Right),
        ("written", Align::Right),
        ("read share", Align::Right),
        ("held by one", Align::Right),
        ("held by all", Align::Right),
    ]);
    for space in &one.spaces {
        table.row(vec![
            space.space.to_owned(),
            decimal_bytes(space.read_bytes),
            decimal_bytes(space.write_bytes),
            space.read_share.map(percent).unwrap_or_default(),
            bytes(space.peak_bytes),
            bytes(space.held_at_most_bytes),
        ]);
    }
    table
}

fn free(one: &Timeline) -> Table {
    let mut table = Table::new(&[
        ("space", Align::Left),
        ("free at first", Align::Right),
        ("least", Align::Right),
        ("at last", Align::Right),
        ("limit", Align::Right),
        ("size", Align::Right),
        ("directory", Align::Left),
    ]);
    for space in one.spaces.iter().filter(|space| space.free_least_bytes.is_some()) {
        table.row(vec![
            space.space.into(),
            bytes(space.free_first_bytes).into(),
            least(space),
            bytes(space.free_last_bytes).into(),
            bytes(space.free_limit_bytes).into(),
            bytes(space.size_bytes).into(),
            space.directory.as_str().into(),
        ]);
    }
    table
}

fn bytes(bytes: Option<u64>) -> String {
    bytes.map(decimal_bytes).unwrap_or_default()
}

fn least(space: &SpaceUse) -> Cell {
    let text = space.free_least_bytes.map(decimal_bytes).unwrap_or_default();
    if space.low { Cell::toned(format!("{text}, low"), Tone::Bad) } else { text.into() }
}

fn kinds(one: &Timeline) -> Table {
    let mut table = Table::new(&[
        ("kind", Align::Left),
        ("tests", Align::Right),
        ("launches", Align::Right),
        ("input of one instance", Align::Right),
        ("at full scale", Align::Right),
        ("read by all", Align::Right),
        ("written by all", Align::Right),
    ]);
    for kind in &one.moved.kinds {
        table.row(vec![
            kind.kind.to_owned(),
            kind.tests.to_string(),
            kind.launches.to_string(),
            decimal_bytes(kind.instance_input_bytes),
            decimal_bytes(crate::format::whole(kind.full_scale_input_bytes)),
            decimal_bytes(kind.read_bytes),
            decimal_bytes(kind.write_bytes),
        ]);
    }
    table
}

fn actions(one: &Timeline) -> Table {
    let mut table = Table::new(&[
        ("does", Align::Left),
        ("steps", Align::Right),
        ("real", Align::Right),
        ("CPU", Align::Right),
        ("input rows", Align::Right),
        ("read", Align::Right),
        ("written", Align::Right),
        ("copies", Align::Right),
        ("rate of one", Align::Right),
    ]);
    for action in &one.actions {
        let moved = action.read_bytes + action.write_bytes > 0;
        table.row(vec![
            action.action.clone(),
            action.steps.to_string(),
            duration(action.real_ns as f64 / 1e9),
            duration(action.cpu_ns as f64 / 1e9),
            decimal_bytes(action.input_bytes),
            decimal_bytes(action.read_bytes),
            decimal_bytes(action.write_bytes),
            action.copies.map(number).unwrap_or_default(),
            if moved { rate(action.bytes_per_second) } else { String::new() },
        ]);
    }
    table
}

fn placings(report: &Report) -> Table {
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("space", Align::Left),
        ("read share", Align::Right),
        ("moved", Align::Right),
        ("scan", Align::Right),
        ("generate", Align::Right),
    ]);
    for one in &report.findings.job_placings {
        for (place, share) in one.shares.iter().enumerate() {
            let tone = if place == 0 { Tone::Main } else { Tone::Plain };
            let steps = |value: Option<f64>| value.map(rate).unwrap_or_default();
            table.row(vec![
                Cell::figure(Some(one.figure)),
                share.space.into(),
                Cell::toned(percent(share.read_share), tone),
                decimal_bytes(share.bytes).into(),
                steps(share.scan_bytes_per_second).into(),
                steps(share.generate_bytes_per_second).into(),
            ]);
        }
    }
    table
}
