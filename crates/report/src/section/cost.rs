//! What targets cost for what they give, which data they are for, and whether it fits.

use super::{Block, only, title};
use crate::format::{decimal_bytes, duration, number, percent, rate};
use crate::table::{Align, Cell, Table, Tone};
use crate::view::Report;
use crate::view::layers::{Fit, Placing};

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let findings = &report.findings;
    let mut sentences: Vec<String> = findings.placings.iter().map(|one| advice(report, one)).collect();
    sentences.extend(findings.fits.iter().map(|one| fit(report, one)));
    let mut blocks = Vec::new();
    if !sentences.is_empty() {
        blocks.push(Block::List(sentences));
    }
    blocks.extend(only(
        "Time × devices and × rack units, of the best figure of each target; for 1 TB, since passes may have moved \
         different amounts",
        costs(report),
    ));
    blocks.extend(only(
        "Jobs: elapsed time, from the first start to the last end, × devices and × rack units",
        job_costs(report, false),
    ));
    blocks.extend(only(
        "Jobs: sum of the real times of all launches × devices and × rack units; published systems print this alone",
        job_costs(report, true),
    ));
    blocks.extend(only("Which data is for which target, by its best large transfers", placings(report)));
    blocks
}

fn advice(report: &Report, one: &Placing) -> String {
    let words = match one.for_reads {
        true => "put data there that is mostly read",
        false => "it writes nearly as fast as it reads: nothing speaks for data that is mostly read",
    };
    format!(
        "{}: reads {}, writes {}, ratio {}: {words}. Of the bytes that this run moved on it {} were read.",
        title(report, &one.target),
        rate(one.read_bytes_per_second),
        rate(one.write_bytes_per_second),
        number(one.ratio),
        percent(one.read_share)
    )
}

fn fit(report: &Report, one: &Fit) -> String {
    let mut parts = Vec::new();
    if let (Some(devices), Some(slots)) = (one.devices, one.slots) {
        parts.push(format!("{devices} devices for {slots} slots"));
    }
    if let (Some(needed), Some(capacity)) = (one.needed_bytes, one.capacity_bytes) {
        let whose = if one.said { "needed" } else { "of this study's data" };
        parts.push(format!("{} {whose}, {} there", decimal_bytes(needed), decimal_bytes(capacity)));
    }
    let verdict = if one.fits { "fits" } else { "does not fit" };
    format!("{}: {verdict} ({}).", title(report, &one.target), parts.join("; "))
}

fn costs(report: &Report) -> Table {
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("target", Align::Left),
        ("phase", Align::Left),
        ("run time", Align::Right),
        ("1 TB takes", Align::Right),
        ("devices", Align::Right),
        ("rack units", Align::Right),
        ("time × devices", Align::Right),
        ("time × rack units", Align::Right),
        ("1 TB × devices", Align::Right),
        ("1 TB × rack units", Align::Right),
    ]);
    for one in &report.findings.costs {
        let time = |seconds: Option<f64>| seconds.map(duration).unwrap_or_default();
        table.row(vec![
            Cell::figure(Some(one.figure)),
            title(report, &one.target).into(),
            one.phase.into(),
            duration(one.seconds).into(),
            duration(one.seconds_per_tb).into(),
            if one.devices > 0 { one.devices.to_string() } else { String::new() }.into(),
            if one.rack_units > 0.0 { number(one.rack_units) } else { String::new() }.into(),
            time(one.device_seconds).into(),
            time(one.rack_unit_seconds).into(),
            Cell::toned(time(one.device_seconds_per_tb), Tone::Main),
            Cell::toned(time(one.rack_unit_seconds_per_tb), Tone::Main),
        ]);
    }
    table
}

/// Of the `sum` of real times, or else of elapsed times.
fn job_costs(report: &Report, sum: bool) -> Table {
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("system", Align::Left),
        (if sum { "sum of real" } else { "elapsed" }, Align::Right),
        ("devices", Align::Right),
        ("rack units", Align::Right),
        ("time × devices", Align::Right),
        ("time × rack units", Align::Right),
    ]);
    for one in &report.findings.job_costs {
        let time = |seconds: Option<f64>| seconds.map(duration).unwrap_or_default();
        let (seconds, devices, units) = match sum {
            true => (Some(one.real_seconds), one.real_device_seconds, one.real_rack_unit_seconds),
            false => (one.elapsed_seconds, one.elapsed_device_seconds, one.elapsed_rack_unit_seconds),
        };
        let Some(seconds) = seconds else { continue };
        let system = match &one.published {
            Some(_) => format!("published: {}", one.system),
            None => title(report, &one.system).to_owned(),
        };
        table.row(vec![
            Cell::figure(one.figure),
            system.into(),
            duration(seconds).into(),
            if one.devices > 0 { one.devices.to_string() } else { String::new() }.into(),
            if one.rack_units > 0.0 { number(one.rack_units) } else { String::new() }.into(),
            Cell::toned(time(devices), Tone::Main),
            Cell::toned(time(units), Tone::Main),
        ]);
    }
    table
}

fn placings(report: &Report) -> Table {
    let mut table = Table::new(&[
        ("target", Align::Left),
        ("read", Align::Right),
        ("write", Align::Right),
        ("read ÷ write", Align::Right),
        ("for", Align::Left),
        ("read share of this run", Align::Right),
    ]);
    for one in &report.findings.placings {
        let (words, tone) = match one.for_reads {
            true => ("what is mostly read", Tone::Good),
            false => ("either", Tone::Plain),
        };
        table.row(vec![
            Cell::from(title(report, &one.target)),
            rate(one.read_bytes_per_second).into(),
            rate(one.write_bytes_per_second).into(),
            number(one.ratio).into(),
            Cell::toned(words, tone),
            percent(one.read_share).into(),
        ]);
    }
    table
}
