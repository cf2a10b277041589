//! Targets beside each other: scaling, what one loses against another, consistency.

use super::{Block, conditions, figure, headline, only, point, signed, title};
use crate::format::{number, percent, rate_under, shared_unit};
use crate::table::{Align, Cell, Table, Tone};
use crate::view::findings::Tax;
use crate::view::{Figure, Report};

/// Taxes that are shown: twelve devices one by one have seventy pairs.
const TAXES_MAX: usize = 40;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let mut blocks = only("What each target is, as the study says", described(report));
    blocks.extend(only(
        "Scaling: rate ÷ (devices × the rate of one device), at the best point of each target, phase and order",
        scaling(report),
    ));
    let more = report.findings.scaling.iter().filter(|one| !one.best).count();
    if more > 0 {
        let points = crate::format::counted(more as u64, "other point");
        blocks.push(Block::Text(format!("The scaling of {points} is in the JSON form.")));
    }
    blocks.extend(only(
        "Tax: what the second target loses against the first, both at their best; negative where it is faster",
        taxes(report),
    ));
    let all = report.findings.taxes.len();
    if all > TAXES_MAX {
        let all = crate::format::grouped(all as u64);
        blocks.push(Block::Text(format!("The {TAXES_MAX} largest are shown; the JSON form has all {all}.")));
    }
    blocks.extend(only(
        "Consistency over the points of each sweep: standard deviation ÷ mean of the medians; 1 is the steadiest",
        consistency(report),
    ));
    blocks
}

/// Targets of which the study says more than a name.
fn described(report: &Report) -> Table {
    let mut table = Table::new(&[
        ("target", Align::Left),
        ("stands for", Align::Left),
        ("reached by", Align::Left),
        ("client", Align::Left),
        ("devices", Align::Right),
    ]);
    for one in &report.study.targets {
        let said = [one.stands_for.as_str(), one.layer, one.client];
        if one.devices == 0 && said.iter().all(|word| word.is_empty()) {
            continue;
        }
        let [stands_for, layer, client] = said.map(str::to_owned);
        let devices = if one.devices == 0 { String::new() } else { one.devices.to_string() };
        let reached_by = match layer.as_str() {
            "node-local" => "its node".to_owned(),
            "shared" => "all nodes".to_owned(),
            _ => String::new(),
        };
        table.row(vec![one.title.clone(), stands_for, reached_by, client, devices]);
    }
    table
}

fn scaling(report: &Report) -> Table {
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("target", Align::Left),
        ("phase", Align::Left),
        ("at", Align::Left),
        ("rate", Align::Right),
        ("devices", Align::Right),
        ("one device", Align::Right),
        ("× one", Align::Right),
        ("scaling", Align::Right),
        ("tasks allow", Align::Right),
        ("devices busy", Align::Right),
        ("per rack unit", Align::Right),
        ("conditions", Align::Left),
    ])
    .below("conditions");
    for one in report.findings.scaling.iter().filter(|one| one.best) {
        let (Some(own), Some(baseline)) = (figure(report, one.figure), figure(report, one.baseline)) else {
            continue;
        };
        let units = report.study.targets.iter().find(|target| target.name == own.target);
        let units = units.map_or(0.0, |target| target.rack_units);
        table.row(vec![
            Cell::figure(Some(one.figure)),
            title(report, &own.target).into(),
            own.phase.into(),
            point(&own.settings).into(),
            headline(own).into(),
            one.devices.to_string().into(),
            headline(baseline).into(),
            number(one.ratio).into(),
            Cell::toned(percent(one.share), Tone::Main),
            if one.balance_bound < 1.0 { percent(one.balance_bound) } else { String::new() }.into(),
            busy(own).into(),
            if units > 0.0 {
                crate::format::rate_in(own.headline().median / units, own.unit)
            } else {
                String::new()
            }
            .into(),
            format!("{}; one device: {} ({})", own.conditions, conditions(report, baseline), one.baseline)
                .into(),
        ]);
    }
    table
}

/// The share of the time in which the devices had a request under way: of the idlest and the busiest.
fn busy(figure: &Figure) -> String {
    let shares = || figure.devices.iter().map(|device| device.busy_share.min(1.0));
    let least = shares().fold(f64::INFINITY, f64::min);
    let most = shares().fold(0.0, f64::max);
    match figure.devices.len() {
        0 => String::new(),
        1 => percent(most),
        _ => format!("{} to {}", percent(least), percent(most)),
    }
}

fn taxes(report: &Report) -> Table {
    let mut table = Table::new(&[
        ("phase", Align::Left),
        ("#", Align::Right),
        ("reference", Align::Left),
        ("reached", Align::Right),
        ("#", Align::Right),
        ("target", Align::Left),
        ("reached", Align::Right),
        ("tax", Align::Right),
    ]);
    for one in largest(&report.findings.taxes) {
        let (Some(reference), Some(own)) = (figure(report, one.reference), figure(report, one.figure)) else {
            continue;
        };
        table.row(vec![
            one.phase.into(),
            Cell::figure(Some(one.reference)),
            title(report, &reference.target).into(),
            headline(reference).into(),
            Cell::figure(Some(one.figure)),
            title(report, &own.target).into(),
            headline(own).into(),
            Cell::toned(signed(one.share), Tone::Main),
        ]);
    }
    table
}

/// The largest taxes, in their order.
fn largest(taxes: &[Tax]) -> Vec<&Tax> {
    let mut places: Vec<usize> = (0..taxes.len()).collect();
    places.sort_by(|&a, &b| taxes[b].share.abs().total_cmp(&taxes[a].share.abs()));
    places.truncate(TAXES_MAX);
    places.sort_unstable();
    places.into_iter().map(|place| &taxes[place]).collect()
}

fn consistency(report: &Report) -> Table {
    let unit = shared_unit(report.findings.consistency.iter().map(|one| one.unit));
    let [lowest, highest] = ["lowest", "highest"].map(|word| format!("{word} {unit}").trim_end().to_owned());
    let mut table = Table::new(&[
        ("workload", Align::Left),
        ("phase", Align::Left),
        ("rank", Align::Right),
        ("target", Align::Left),
        ("varies by", Align::Right),
        (&lowest, Align::Right),
        (&highest, Align::Right),
        ("points", Align::Right),
    ]);
    let mut all: Vec<_> = report.findings.consistency.iter().collect();
    // Only sweeps over the same keys are ranked against each other, as those of one workload are.
    all.sort_by_key(|one| (&one.group, one.phase, one.rank));
    for one in all {
        table.row(vec![
            one.group.clone(),
            one.phase.to_owned(),
            one.rank.to_string(),
            title(report, &one.target).to_owned(),
            percent(one.variation),
            rate_under(unit, one.minimum_per_second, one.unit),
            rate_under(unit, one.maximum_per_second, one.unit),
            one.points.to_string(),
        ]);
    }
    table
}
