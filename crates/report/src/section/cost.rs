//! What targets cost for what they give, which data they are for, and whether it fits.

use super::{Block, only, title};
use crate::format::{duration, number};
use crate::table::{Align, Cell, Table, Tone};
use crate::view::Report;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let mut blocks = report.statements.blocks(report, "cost");
    blocks.extend(only(
        "Jobs: elapsed time, from the first start to the last end, × devices and × rack units",
        job_costs(report, false),
    ));
    blocks.extend(only(
        "Jobs: sum of the real times of all launches × devices and × rack units; published systems print this alone",
        job_costs(report, true),
    ));
    blocks
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
