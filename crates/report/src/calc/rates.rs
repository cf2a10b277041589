//! Formulas for rates: scalability, losses, requirements and means.

use analysis::{
    figures::{Little, RateUnits},
    jobs::job_rate,
    targets::Stripe,
};
use plan::{Amount, Bytes, Nanos, balance_bound};

use super::{alike, like, line, shown};
use crate::format::{grouped, latency, number, percent};

/// Measured ÷ (devices × baseline), and the part of it that the number of tasks allows.
pub fn scalability(
    measured: Amount,
    baseline: Amount,
    devices: u32,
    tasks: Option<u32>,
) -> Result<String, String> {
    let (rate, one) = alike(measured, baseline)?;
    let sum = like(baseline, one * f64::from(devices));
    let share = percent(analysis::scaling::scalability(rate, f64::from(devices), one).unwrap_or(f64::NAN));
    Ok(line("sum of devices", &sum, &format!("{devices} × {}", shown(baseline)))
        + &line("scalability", &share, &format!("{} ÷ {sum}", shown(measured)))
        + &tasks.map(|tasks| balance(tasks, devices)).unwrap_or_default())
}

/// (reference − other) ÷ reference.
pub fn tax(reference: Amount, other: Amount) -> Result<String, String> {
    let (from, to) = alike(reference, other)?;
    let how = format!("({} − {}) ÷ {}", shown(reference), shown(other), shown(reference));
    Ok(line("tax", &percent(analysis::scaling::tax(from, to).unwrap_or(f64::NAN)), &how))
}

/// The share of the sum of all targets that `tasks` tasks can reach.
#[must_use]
pub fn balance(tasks: u32, targets: u32) -> String {
    let most = tasks.div_ceil(targets.max(1));
    let how = format!("{tasks} ÷ ({targets} × {most}): one target has {most} tasks");
    line("balance bound", &percent(balance_bound(tasks, targets)), &how)
}

/// One rate in every unit. Operations can only be converted to bytes with a transfer size.
pub fn units(rate: Amount, transfer: Option<Bytes>) -> Result<String, String> {
    let size = transfer.unwrap_or(Bytes::kib(4));
    let all = match (rate, transfer) {
        (Amount::BytesPerSecond(bytes), _) => RateUnits::from_bytes(bytes, size),
        (Amount::OperationsPerSecond(operations), Some(_)) => RateUnits::from_operations(operations, size),
        _ => {
            return Err(format!(
                "{} operations have no bytes without a size: add --transfer, for example --transfer 4KiB",
                shown(rate)
            ));
        }
    };
    let mut out = line("MB/s", &number(all.megabytes), "10^6 bytes per second");
    out += &line("MiB/s", &number(all.mebibytes), "2^20 bytes per second");
    if transfer.is_some() {
        let operations = shown(Amount::OperationsPerSecond(all.operations));
        out += &line(&format!("transfers of {size}"), &operations, "bytes ÷ transfer size");
        if let Some(mebibytes) = analysis::figures::whole_mebibytes(all.operations, size) {
            let how = "whole MiB/s: such a number was converted, not counted";
            out += &line("a multiple of", &format!("{} MiB/s", grouped(mebibytes)), how);
        }
    }
    Ok(out)
}

/// Number of drives for a rate, at one or several rates per drive, with stripes of `data` data and `parity`
/// parity drives.
pub fn drives(goal: Amount, per_drive: &[Amount], data: u32, parity: u32) -> Result<String, String> {
    let stripe = Stripe { strips: data.saturating_add(parity), parity };
    let mut out = String::new();
    for &one in per_drive {
        let (wanted, each) = alike(goal, one)?;
        let (goal, one) = (shown(goal), shown(one));
        let needed = analysis::targets::drives(wanted, each, stripe)
            .ok_or_else(|| format!("{goal} of {one} each are more drives than can be counted"))?;
        out += &line(&format!("drives of {one}"), &grouped(needed.data), &format!("⌈{goal} ÷ {one}⌉"));
        if parity > 0 {
            let how = format!("× {} ÷ {data}: each stripe writes {parity} of parity", stripe.strips);
            out += &line("  with parity", &grouped(needed.with_parity), &how);
        }
    }
    Ok(out)
}

/// The lowest of several limits: a name, a number and the rate of each.
pub fn bound(limits: &[(String, f64, Amount)], measured: Option<Amount>) -> Result<String, String> {
    let mut all = Vec::new();
    for (name, count, each) in limits {
        let (value, _) = alike(*each, limits[0].2)?;
        all.push((name, *count, *each, value * count));
    }
    all.sort_by(|one, other| one.3.total_cmp(&other.3));
    let mut out = String::new();
    for (name, count, each, total) in &all {
        out += &line(name, &like(*each, *total), &format!("{} × {}", number(*count), shown(*each)));
    }
    if let Some((name, _, each, total)) = all.first() {
        let weakest = like(*each, *total);
        out += &line("weakest link", &weakest, name);
        if let Some(measured) = measured {
            let (value, _) = alike(measured, *each)?;
            out += &line("efficiency", &percent(value / total), &format!("{} ÷ {weakest}", shown(measured)));
        }
    }
    Ok(out)
}

/// Operations per second of a job by its wall time.
pub fn job(tasks: u64, operations: u64, seconds: f64) -> Result<String, String> {
    let rate = job_rate(tasks as f64, operations as f64, seconds)
        .ok_or_else(|| format!("a job of {seconds} s has no rate: give a time above 0"))?;
    let how = format!("{} tasks × {} operations ÷ {seconds} s", grouped(tasks), grouped(operations));
    Ok(line("by wall time", &shown(Amount::OperationsPerSecond(rate)), &how))
}

/// Operations in flight = rate × latency.
pub fn little(rate: Amount, each: Nanos, in_flight: Option<f64>) -> Result<String, String> {
    let Amount::OperationsPerSecond(operations) = rate else {
        return Err(format!("{} is not a rate of operations: write it as 1200000/s", shown(rate)));
    };
    let law = Little::of(operations, each.0 as f64, in_flight.unwrap_or(1.0))
        .ok_or("the operations in flight must be above 0")?;
    let predicted = number(law.predicted);
    let mut out = line("in flight", &predicted, &format!("{} × {}", shown(rate), latency(each.0)));
    if in_flight.is_some() {
        out += &line("agreement", &percent(law.agreement), &format!("{predicted} ÷ {}", number(law.ran)));
    }
    Ok(out)
}

/// Measured ÷ promised − 1.
pub fn margin(promised: Amount, measured: Amount) -> Result<String, String> {
    let (wanted, got) = alike(promised, measured)?;
    let share = got / wanted - 1.0;
    let word = if share >= 0.0 { "PASS" } else { "FAIL" };
    let how = format!("{} ÷ {} − 1", shown(measured), shown(promised));
    Ok(line(word, &format!("{:+.1} %", share * 100.0), &how))
}

/// The number of nodes above which a rate that grows with nodes exceeds a constant one.
pub fn crossover(slope: Amount, plateau: Amount) -> Result<String, String> {
    let (each, level) = alike(slope, plateau)?;
    let (slope, plateau) = (shown(slope), shown(plateau));
    let nodes = analysis::statistics::crossover(each, 0.0, level)
        .ok_or_else(|| format!("a slope of {slope} per node never reaches {plateau}"))?;
    Ok(line("cross-over at", &format!("{} nodes", grouped(nodes)), &format!("⌈{plateau} ÷ {slope}⌉")))
}
