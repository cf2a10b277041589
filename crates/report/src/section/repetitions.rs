//! Spread of repetitions, their values, and drift over rounds.

use analysis::{figures::RepetitionFigure, gate::Stated, statistics::Summary};

use super::block::{Block, Extent, only, signed, title};
use crate::format::iops;
use crate::format::names::unit as unit_of;
use crate::format::table::{Cell, Table, Tone};
use crate::format::{duration, megabytes, percent, rate_under, shared_unit};
use crate::report::Report;
use crate::report::figure::{Figure, role};
use crate::section::chosen::Chosen;

pub(super) fn blocks(report: &Report, extent: Extent) -> Vec<Block> {
    let mut blocks = report.statements.blocks(report, "repetitions", extent);
    blocks.extend(only(
        "Spread of the repetitions: deviation is longest − shortest time of the phase",
        spread(report),
    ));
    blocks.extend(only(
        "The repetitions that count, in the order in which they were measured, with mean ± standard deviation \
         (n − 1); fluctuation is deviation ÷ mean, and the maximum is no typical value",
        values(report),
    ));
    blocks.extend(only(
        "Rounds of each repetition, without a wipe between them; the last is recorded, and drift is its rate ÷ that \
         of the first round − 1",
        rounds(report),
    ));
    blocks
}

fn spread(report: &Report) -> Table {
    let all = || report.found.dispersion.iter().filter_map(Stated::says);
    let shared = shared_unit(all().map(|one| unit_of(one.curve.phase)));
    let heading = |word: &str| format!("{word} {shared}").trim_end().to_owned();
    let rate = |own: &Figure, of: fn(&Summary) -> f64| rate_under(shared, of(own.headline()), own.unit());
    let rows = all().flat_map(|one| {
        let onset =
            one.points.iter().map(|one| &one.point).find(|point| Some(&point.at) == one.onset.as_ref());
        let tone =
            move |x| if onset.is_some_and(|onset| x >= onset.x) { Tone::Doubtful } else { Tone::Plain };
        let points = one.points.iter();
        points.filter_map(move |point| {
            Some((one, point, report.figures.get(point.point.figure)?, tone(point.point.x)))
        })
    });
    Table::of(rows)
        .right("#", |(_, point, ..)| Cell::figure(Some(point.point.figure + 1)))
        .left("target", |(one, ..)| title(report, &one.curve.target))
        .left("phase", |(one, ..)| one.curve.phase.name())
        .left("at", |(one, point, ..)| format!("{} {}", one.curve.axis, point.point.at))
        .right("per task", |(_, point, ..)| plan::Bytes(point.bytes_per_task).to_string())
        .right("n", |(_, point, ..)| point.point.headline.n.to_string())
        .right(&heading("min"), |(_, _, own, _)| rate(own, |spread| spread.min))
        .right(&heading("median"), |(_, _, own, _)| rate(own, |spread| spread.median))
        .right(&heading("max"), |(_, _, own, _)| rate(own, |spread| spread.max))
        .right("varies by", |(_, point, _, tone)| Cell::toned(percent(point.point.headline.variation), *tone))
        .right("deviation", |(_, point, ..)| duration(point.seconds))
        .done()
}

/// The values of each repeated figure and their maximum, for comparison with studies that publish the best of three. Of
/// large studies only figures shown in full.
fn values(report: &Report) -> Table {
    let spread = |one: &Figure| if one.is_large() { one.bytes_per_second } else { one.transfers_per_second };
    let shown = |one: &Figure, value: f64| if one.is_large() { megabytes(value) } else { iops(value) };
    let unit = |one: &Figure| if one.is_large() { "MB/s" } else { one.operations_unit() };
    let all = |one: &Figure| {
        let value = |pass: &RepetitionFigure| one.rate_in(pass, one.shown_unit());
        one.counted().map(|pass| shown(one, value(pass))).collect::<Vec<_>>().join(", ")
    };
    let rows = Chosen::of(report).figures(report).into_iter();
    Table::of(
        rows.filter(|one| one.repeated() > 1).map(|one| (one, spread(one), spread(one).deviation_sample)),
    )
    .right("#", |(one, ..)| Cell::figure(Some(one.number)))
    .left("target", |(one, ..)| title(report, &one.target))
    .right("mean ± deviation", |(one, spread, deviation)| {
        format!("{} ± {} {}", shown(one, spread.mean), shown(one, *deviation), unit(one))
    })
    .right("fluctuation", |(_, spread, deviation)| {
        percent(if spread.mean > 0.0 { deviation / spread.mean } else { 0.0 })
    })
    .left("maximum", |(one, spread, _)| {
        format!("{} {}, maximum of {}", shown(one, spread.max), unit(one), one.repeated())
    })
    .left("all values", |(one, ..)| all(one))
    .left("conditions", |(one, ..)| one.conditions.clone())
    .done()
    .below("conditions")
}

/// The passes of figures with several rounds; of large studies only figures shown in full.
fn rounds(report: &Report) -> Table {
    let has_rounds = |figure: &&Figure| figure.repetitions.iter().any(|one| one.drift.is_some());
    let these: Vec<&Figure> = Chosen::of(report).figures(report).into_iter().filter(has_rounds).collect();
    let unit = shared_unit(these.iter().map(|figure| figure.unit()));
    let rows = these.iter().flat_map(|figure| figure.repetitions.iter().map(move |one| (*figure, one)));
    Table::of(rows)
        .right("#", |(figure, _)| Cell::figure(Some(figure.number)))
        .right("pass", |(_, one)| (one.repetition + 1).to_string())
        .left("role", |(_, one)| role(one))
        .right(if unit.is_empty() { "rate" } else { unit }, |(figure, one)| {
            rate_under(unit, figure.rate_in(one, figure.unit()), figure.unit())
        })
        .right("drift", |(_, one)| one.drift.map(signed))
        .left("conditions", |(figure, _)| figure.conditions.clone())
        .done()
}
