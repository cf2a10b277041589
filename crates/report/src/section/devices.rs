//! Devices one by one and together: which are slow, what their models are worth, how they seek.

use super::{Block, figure, only, point, title};
use crate::format::{latency, megabytes, number, percent, rate, whole};
use crate::table::{Align, Cell, Table, Tone};
use crate::text::iops;
use crate::view::layers::{Member, MemberSet, SeekFit};
use crate::view::{Figure, Report};

/// Members whose rows a report shows; the JSON form has all.
const ROWS_MAX: usize = 192;
/// Sentences that are read.
const SENTENCES_MAX: usize = 24;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let findings = &report.findings;
    let mut sentences: Vec<String> = findings.members.iter().map(|set| sentence(report, set)).collect();
    sentences.extend(
        findings
            .seeks
            .iter()
            .filter(|one| one.line.is_none())
            .map(|one| format!("{}: no seek time is fitted; {}.", seek_name(report, one), one.refused)),
    );
    sentences.truncate(SENTENCES_MAX);
    let mut blocks = Vec::new();
    if !sentences.is_empty() {
        blocks.push(Block::List(sentences));
    }
    blocks.extend(only(
        "Models: the median of their devices against what the study expects of one device",
        models(report),
    ));
    blocks.extend(only(
        "Devices. Slow: below 93 % of the median of its model and 3.5 robust standard deviations under it (Iglewicz \
         and Hoaglin, 1993); of fewer than four devices below 75 % of the median",
        members(report),
    ));
    blocks.extend(only(
        "Seek time and transfer rate of one device: time of a transfer = seek time + bytes ÷ rate, by least squares \
         of the times' shares, with 95 % intervals. With several transfers under way on a device it may order and \
         overlap them: the seek time is what is left of it",
        seeks(report),
    ));
    blocks.extend(report.statements.blocks(report, "devices"));
    blocks
}

/// `read of disks, one by one, transfer 2 MiB`.
fn set_name(report: &Report, set: &MemberSet) -> String {
    let mut parts = vec![match set.target.is_empty() {
        true => set.phase.to_owned(),
        false => format!("{} of {}", set.phase, title(report, &set.target)),
    }];
    parts.push(if set.together { "all together" } else { "one by one" }.to_owned());
    let fixed = point(&set.fixed);
    if !fixed.is_empty() {
        parts.push(fixed);
    }
    parts.join(", ")
}

/// The rate of a member as data sheets tell it, and its unit.
pub(crate) fn member_rate(report: &Report, member: &Member) -> (f64, &'static str) {
    match figure(report, member.figure).is_some_and(Figure::is_large) {
        true => (member.bytes_per_second / 1e6, "MB/s"),
        false => (member.transfers_per_second, "IOPS"),
    }
}

fn shown(report: &Report, member: &Member) -> String {
    match member_rate(report, member) {
        (_, "MB/s") => rate(member.bytes_per_second),
        (rate, unit) => format!("{} {unit}", iops(rate)),
    }
}

fn sentence(report: &Report, set: &MemberSet) -> String {
    let by_rate = |a: &&Member, b: &&Member| a.bytes_per_second.total_cmp(&b.bytes_per_second);
    let ends = set.members.iter().min_by(by_rate).zip(set.members.iter().max_by(by_rate));
    let mut text = format!("{} ({}): ", set_name(report, set), set.group);
    if let Some((low, high)) = ends {
        text.push_str(&format!(
            "{} ({}) to {} ({})",
            shown(report, low),
            low.name,
            shown(report, high),
            high.name
        ));
    }
    text.push_str(&format!(", variation {}", percent(set.variation)));
    if set.uneven {
        text.push_str(", more than 40 %");
    }
    let slow: Vec<&str> =
        set.members.iter().filter(|member| member.slow).map(|member| member.name.as_str()).collect();
    match slow.is_empty() {
        true => text.push_str("; none is slow among its model."),
        false => text.push_str(&format!("; slow: {}.", slow.join(", "))),
    }
    text
}

/// `read of disk, tasks 1`.
pub(crate) fn seek_name(report: &Report, one: &SeekFit) -> String {
    let target = title(report, &one.target);
    let mut text =
        if target.is_empty() { one.phase.to_owned() } else { format!("{} of {target}", one.phase) };
    let fixed = point(&one.fixed);
    if !fixed.is_empty() {
        text.push_str(&format!(", {fixed}"));
    }
    text
}

fn models(report: &Report) -> Table {
    let mut table = Table::new(&[
        ("devices of", Align::Left),
        ("workload", Align::Left),
        ("model", Align::Left),
        ("n", Align::Right),
        ("median", Align::Right),
        ("slowest", Align::Right),
        ("fastest", Align::Right),
        ("slow", Align::Right),
        ("verdict", Align::Left),
    ]);
    for set in &report.findings.members {
        let large =
            set.members.first().and_then(|one| figure(report, one.figure)).filter(|one| one.is_large());
        let bytes = set.members.first().and_then(|one| figure(report, one.figure));
        let size = bytes.map_or(1, |one| one.transfer_bytes.max(1)) as f64;
        let value = |per_second: f64| match large {
            Some(_) => rate(per_second),
            None => format!("{} IOPS", iops(per_second / size)),
        };
        for model in &set.models {
            let verdict = match (&model.reached, &model.missed) {
                (Some(grade), _) => {
                    // The easiest of several grades is no praise.
                    let tone = match set.grades.iter().position(|one| one.name == grade.name) {
                        Some(place) if place + 1 == set.grades.len() => Tone::Good,
                        Some(0) => Tone::Doubtful,
                        _ => Tone::Plain,
                    };
                    Cell::toned(
                        format!("{} ({}): {}", grade.name, value(grade.per_second), grade.reached),
                        tone,
                    )
                }
                (None, Some(grade)) => {
                    let advice = if grade.missed.is_empty() { "" } else { ": " };
                    let limit = value(grade.per_second);
                    Cell::toned(format!("below {} ({limit}){advice}{}", grade.name, grade.missed), Tone::Bad)
                }
                (None, None) => Cell::default(),
            };
            table.row(vec![
                Cell::from(set_name(report, set)),
                set.group.as_str().into(),
                model.model.as_str().into(),
                model.n.to_string().into(),
                Cell::toned(value(model.median_per_second), Tone::Main),
                value(model.lowest_per_second).into(),
                value(model.highest_per_second).into(),
                if model.slow == 0 {
                    Cell::default()
                } else {
                    Cell::toned(model.slow.to_string(), Tone::Bad)
                },
                verdict,
            ]);
        }
    }
    table
}

fn members(report: &Report) -> Table {
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("devices of", Align::Left),
        ("no.", Align::Right),
        ("device", Align::Left),
        ("model", Align::Left),
        ("MB/s", Align::Right),
        ("IOPS", Align::Right),
        ("n", Align::Right),
        ("of its model", Align::Right),
        ("", Align::Left),
    ]);
    let all = report.findings.members.iter().flat_map(|set| set.members.iter().map(move |one| (set, one)));
    for (set, one) in all.take(ROWS_MAX) {
        table.row(vec![
            Cell::figure(Some(one.figure)),
            set_name(report, set).into(),
            one.place.to_string().into(),
            one.name.as_str().into(),
            one.model.as_str().into(),
            megabytes(one.bytes_per_second).into(),
            iops(one.transfers_per_second).into(),
            one.n.to_string().into(),
            percent(one.share).into(),
            if one.slow { Cell::toned("slow", Tone::Bad) } else { Cell::default() },
        ]);
    }
    table
}

fn seeks(report: &Report) -> Table {
    let mut table = Table::new(&[
        ("transfers", Align::Left),
        ("sizes", Align::Right),
        ("under way", Align::Right),
        ("seek time", Align::Right),
        ("±", Align::Right),
        ("rate", Align::Right),
        ("95 % interval", Align::Right),
        ("off the line", Align::Right),
        ("half of it at", Align::Right),
    ]);
    for one in &report.findings.seeks {
        let Some(line) = &one.line else { continue };
        let upper = line.interval_high.map_or_else(|| "open".to_owned(), megabytes);
        table.row(vec![
            Cell::from(seek_name(report, one)),
            one.points.len().to_string().into(),
            number(one.under_way).into(),
            Cell::toned(latency(whole(line.positioning_ns)), Tone::Main),
            latency(whole(line.positioning_half_width_ns)).into(),
            Cell::toned(rate(line.bytes_per_second), Tone::Main),
            format!("{} – {upper} MB/s", megabytes(line.interval_low)).into(),
            percent(line.error).into(),
            crate::format::decimal_bytes(whole(line.half_rate_bytes)).into(),
        ]);
    }
    table
}
