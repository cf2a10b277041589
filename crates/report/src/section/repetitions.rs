//! How far repetitions spread over a swept size, and how rounds drift.

use analysis::Stated;

use super::{Block, figure, only, signed, title};
use crate::chosen::Chosen;
use crate::format::{bare_rate, column_unit, duration, megabytes, percent, rate_under, shared_unit};
use crate::table::{Align, Cell, Table, Tone};
use crate::text::iops;
use crate::view::{Figure, Report};
use crate::words::unit as unit_of;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let mut blocks = report.statements.blocks(report, "repetitions");
    blocks.extend(only(
        "Spread of the repetitions: deviation is longest − shortest time of the phase",
        spread(report),
    ));
    blocks.extend(only(
        "Every value that counts, in the order in which they were measured; the maximum is shown beside them, and \
         is no typical value",
        values(report),
    ));
    blocks.extend(only(
        "Mean ± standard deviation (n − 1) of the repetitions that count; fluctuation is deviation ÷ mean",
        means(report),
    ));
    blocks.extend(only(
        "Rounds without a wipe in between; the last of each repetition is recorded, and drift is its rate ÷ that \
         of the first round − 1",
        rounds(report),
    ));
    blocks
}

fn spread(report: &Report) -> Table {
    let all = || report.found.dispersion.iter().filter_map(Stated::says);
    let shared = shared_unit(all().map(|one| unit_of(one.phase)));
    let [min, median, max] =
        ["min", "median", "max"].map(|word| format!("{word} {shared}").trim_end().to_owned());
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("target", Align::Left),
        ("phase", Align::Left),
        ("at", Align::Left),
        ("per task", Align::Right),
        ("n", Align::Right),
        (&min, Align::Right),
        (&median, Align::Right),
        (&max, Align::Right),
        ("varies by", Align::Right),
        ("deviation", Align::Right),
    ]);
    for one in all() {
        let onset = one.points.iter().find(|point| Some(&point.at) == one.onset.as_ref());
        for point in &one.points {
            let Some(own) = figure(report, point.figure + 1) else { continue };
            let beyond = onset.is_some_and(|onset| point.x >= onset.x);
            let tone = if beyond { Tone::Doubtful } else { Tone::Plain };
            table.row(vec![
                Cell::figure(Some(point.figure + 1)),
                title(report, &one.target).into(),
                one.phase.name().into(),
                format!("{} {}", one.axis, point.at).into(),
                plan::Bytes(point.bytes_per_task).to_string().into(),
                point.repetitions.len().to_string().into(),
                rate_under(shared, own.headline().minimum, own.unit).into(),
                rate_under(shared, own.headline().median, own.unit).into(),
                rate_under(shared, own.headline().maximum, own.unit).into(),
                Cell::toned(percent(point.variation), tone),
                duration(point.seconds).into(),
            ]);
        }
    }
    table
}

/// The maximum of each figure and all of its values, as studies that publish the best of three show
/// them; of large studies those figures that are shown in full.
fn values(report: &Report) -> Table {
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("maximum", Align::Left),
        ("all values", Align::Left),
        ("conditions", Align::Left),
    ])
    .below("conditions");
    for figure in Chosen::of(report).figures(report).into_iter().filter(|figure| figure.counted() > 1) {
        let large = figure.is_large();
        let (unit, show): (_, fn(f64) -> String) =
            if large { ("MB/s", megabytes) } else { (figure.operations_unit(), iops) };
        let value = |bytes: f64, transfers: f64| show(if large { bytes } else { transfers });
        let counted = figure.repetitions.iter().filter(|one| one.counts());
        let all: Vec<String> =
            counted.map(|one| value(one.bytes_per_second, one.transfers_per_second)).collect();
        let highest = value(figure.bytes_per_second.maximum, figure.transfers_per_second.maximum);
        table.row(vec![
            Cell::figure(Some(figure.number)),
            format!("{highest} {unit}, maximum of {}", all.len()).into(),
            all.join(", ").into(),
            figure.conditions.clone().into(),
        ]);
    }
    table
}

/// Mean and deviation of figures that were repeated; of large studies those that are shown in full.
fn means(report: &Report) -> Table {
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("target", Align::Left),
        ("n", Align::Right),
        ("mean ± deviation", Align::Right),
        ("fluctuation", Align::Right),
        ("conditions", Align::Left),
    ]);
    for figure in Chosen::of(report).figures(report) {
        let spread = figure.headline();
        let Some(deviation) = spread.deviation else { continue };
        let shown = |value: f64| bare_rate(value, figure.unit);
        table.row(vec![
            Cell::figure(Some(figure.number)),
            title(report, &figure.target).into(),
            figure.counted().to_string().into(),
            format!("{} ± {} {}", shown(spread.mean), shown(deviation), column_unit(figure.unit)).into(),
            percent(if spread.mean > 0.0 { deviation / spread.mean } else { 0.0 }).into(),
            figure.conditions.clone().into(),
        ]);
    }
    table
}

/// Every pass of figures whose repetitions have several rounds; of large studies those that are
/// shown in full.
fn rounds(report: &Report) -> Table {
    let has_rounds = |figure: &&Figure| figure.repetitions.iter().any(|one| one.drift.is_some());
    let these: Vec<&Figure> = Chosen::of(report).figures(report).into_iter().filter(has_rounds).collect();
    let unit = shared_unit(these.iter().map(|figure| figure.unit));
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("pass", Align::Right),
        ("role", Align::Left),
        (if unit.is_empty() { "rate" } else { unit }, Align::Right),
        ("drift", Align::Right),
        ("conditions", Align::Left),
    ]);
    for figure in these {
        for one in &figure.repetitions {
            table.row(vec![
                Cell::figure(Some(figure.number)),
                (one.repetition + 1).to_string().into(),
                one.role.into(),
                rate_under(unit, one.headline(figure.unit), figure.unit).into(),
                one.drift.map(signed).unwrap_or_default().into(),
                figure.conditions.clone().into(),
            ]);
        }
    }
    table
}
