//! Formulas of rates: what they scale to, lose, need and mean.

use analysis::{Little, RateUnits, Stripe, job_rate};
use plan::{Amount, Bytes, Nanos, balance_bound};

use super::{alike, like, line, shown};
use crate::format::{grouped, latency, number, percent};

/// Measured ÷ (devices × baseline), and what the number of tasks can reach of it.
///
/// # Errors
/// The rates are not of one unit.
pub fn scalability(
    measured: Amount,
    baseline: Amount,
    devices: u32,
    tasks: Option<u32>,
) -> Result<String, String> {
    let (rate, one) = alike(measured, baseline)?;
    let sum = one * f64::from(devices);
    let mut out = String::new();
    line(&mut out, "sum of devices", &like(baseline, sum), &format!("{devices} × {}", shown(baseline)));
    line(
        &mut out,
        "scalability",
        &percent(analysis::scalability(rate, f64::from(devices), one).unwrap_or(f64::NAN)),
        &format!("{} ÷ {}", shown(measured), like(baseline, sum)),
    );
    if let Some(tasks) = tasks {
        out.push_str(&balance(tasks, devices));
    }
    Ok(out)
}

/// (reference − other) ÷ reference.
///
/// # Errors
/// The rates are not of one unit.
pub fn tax(reference: Amount, other: Amount) -> Result<String, String> {
    let (from, to) = alike(reference, other)?;
    let mut out = String::new();
    let how = format!("({} − {}) ÷ {}", shown(reference), shown(other), shown(reference));
    line(&mut out, "tax", &percent(analysis::tax(from, to).unwrap_or(f64::NAN)), &how);
    Ok(out)
}

/// The share of the sum of all targets that so many tasks can reach.
#[must_use]
pub fn balance(tasks: u32, targets: u32) -> String {
    let mut out = String::new();
    let most = tasks.div_ceil(targets.max(1));
    let how = format!("{tasks} ÷ ({targets} × {most}): one target has {most} tasks");
    line(&mut out, "balance bound", &percent(balance_bound(tasks, targets)), &how);
    out
}

/// One rate in every unit.
///
/// # Errors
/// Operations cannot become bytes without a transfer size.
pub fn units(rate: Amount, transfer: Option<Bytes>) -> Result<String, String> {
    let size = transfer.unwrap_or(Bytes::kib(4));
    let all = match (rate, transfer) {
        (Amount::BytesPerSecond(bytes), _) => RateUnits::from_bytes(bytes, size),
        (Amount::OperationsPerSecond(operations), Some(_)) => RateUnits::from_operations(operations, size),
        _ => {
            return Err(format!(
                "{} operations have no bytes without a size: add --transfer, as --transfer 4KiB",
                shown(rate)
            ));
        }
    };
    let mut out = String::new();
    line(&mut out, "MB/s", &number(all.megabytes), "10^6 bytes per second");
    line(&mut out, "MiB/s", &number(all.mebibytes), "2^20 bytes per second");
    if transfer.is_some() {
        let name = format!("transfers of {size}");
        line(&mut out, &name, &shown(Amount::OperationsPerSecond(all.operations)), "bytes ÷ transfer size");
        if let Some(mebibytes) = analysis::whole_mebibytes(all.operations, size) {
            let how = "whole MiB/s: such a number was converted, not counted";
            line(&mut out, "a multiple of", &format!("{} MiB/s", grouped(mebibytes)), how);
        }
    }
    Ok(out)
}

/// Drives for a rate, at one or several rates of a drive.
///
/// # Errors
/// The rates are not of one unit, or the stripe is none.
pub fn drives(goal: Amount, per_drive: &[Amount], data: u32, parity: u32) -> Result<String, String> {
    let stripe = Stripe { strips: data.saturating_add(parity), parity };
    let mut out = String::new();
    for &one in per_drive {
        let (wanted, each) = alike(goal, one)?;
        let needed = analysis::drives(wanted, each, stripe).ok_or_else(|| {
            format!("{} of {} each are more drives than can be counted", shown(goal), shown(one))
        })?;
        let name = format!("drives of {}", shown(one));
        line(&mut out, &name, &grouped(needed.data), &format!("⌈{} ÷ {}⌉", shown(goal), shown(one)));
        if parity > 0 {
            let how = format!("× {} ÷ {data}: each stripe writes {parity} of parity", stripe.strips);
            line(&mut out, "  with parity", &grouped(needed.with_parity), &how);
        }
    }
    Ok(out)
}

/// The lowest of several limits.
///
/// # Errors
/// The rates are not of one unit.
pub fn bound(limits: &[(String, f64, Amount)], measured: Option<Amount>) -> Result<String, String> {
    let mut all = Vec::new();
    for (name, count, each) in limits {
        let (value, _) = alike(*each, limits.first().map_or(*each, |first| first.2))?;
        all.push((name, *count, *each, value * count));
    }
    all.sort_by(|one, other| one.3.total_cmp(&other.3));
    let mut out = String::new();
    for (name, count, each, total) in &all {
        line(&mut out, name, &like(*each, *total), &format!("{} × {}", number(*count), shown(*each)));
    }
    if let Some((name, _, each, total)) = all.first() {
        line(&mut out, "weakest link", &like(*each, *total), name);
        if let Some(measured) = measured {
            let (value, _) = alike(measured, *each)?;
            let how = format!("{} ÷ {}", shown(measured), like(*each, *total));
            line(&mut out, "efficiency", &percent(value / total), &how);
        }
    }
    Ok(out)
}

/// Operations per second of a job by its wall time.
///
/// # Errors
/// The job took no time.
pub fn job(tasks: u64, operations: u64, seconds: f64) -> Result<String, String> {
    let rate = job_rate(tasks as f64, operations as f64, seconds)
        .ok_or_else(|| format!("a job of {seconds} s has no rate: give a time above 0"))?;
    let mut out = String::new();
    let how = format!("{} tasks × {} operations ÷ {seconds} s", grouped(tasks), grouped(operations));
    line(&mut out, "by wall time", &shown(Amount::OperationsPerSecond(rate)), &how);
    Ok(out)
}

/// Operations under way = rate × latency.
///
/// # Errors
/// The rate is not one of operations.
pub fn little(rate: Amount, each: Nanos, in_flight: Option<f64>) -> Result<String, String> {
    let Amount::OperationsPerSecond(operations) = rate else {
        return Err(format!("{} is no rate of operations: write it as 1200000/s", shown(rate)));
    };
    let law = Little::of(operations, each.0 as f64, in_flight.unwrap_or(1.0))
        .ok_or("the operations under way must be above 0")?;
    let mut out = String::new();
    let how = format!("{} × {}", shown(rate), latency(each.0));
    line(&mut out, "under way", &number(law.predicted), &how);
    if in_flight.is_some() {
        let how = format!("{} ÷ {}", number(law.predicted), number(law.ran));
        line(&mut out, "agreement", &percent(law.agreement), &how);
    }
    Ok(out)
}

/// Measured ÷ promised − 1.
///
/// # Errors
/// The rates are not of one unit.
pub fn margin(promised: Amount, measured: Amount) -> Result<String, String> {
    let (wanted, got) = alike(promised, measured)?;
    let share = got / wanted - 1.0;
    let word = if share >= 0.0 { "PASS" } else { "FAIL" };
    let mut out = String::new();
    let how = format!("{} ÷ {} − 1", shown(measured), shown(promised));
    line(&mut out, word, &format!("{:+.1} %", share * 100.0), &how);
    Ok(out)
}

/// The number of nodes from which on a rate that grows by node is above one that does not.
///
/// # Errors
/// The rates are not of one unit.
pub fn crossover(slope: Amount, plateau: Amount) -> Result<String, String> {
    let (each, level) = alike(slope, plateau)?;
    let nodes = analysis::crossover(each, 0.0, level)
        .ok_or_else(|| format!("{} for each node never reach {}", shown(slope), shown(plateau)))?;
    let mut out = String::new();
    let how = format!("⌈{} ÷ {}⌉", shown(plateau), shown(slope));
    line(&mut out, "cross-over at", &format!("{} nodes", grouped(nodes)), &how);
    Ok(out)
}
