//! Devices, layers and cost in the words and units of a report.

use analysis::Figure;

use super::findings::{number, setting};
use crate::view::BYTES_PER_SECOND;
use crate::view::findings::Findings;
use crate::view::layers as view;
use crate::words;

/// Fills in what `found` says of devices, layers and cost.
pub(super) fn fill(findings: &mut Findings, found: &analysis::Findings, figures: &[Figure]) {
    let unit = |index: usize| figures.get(index).map_or(BYTES_PER_SECOND, |one| words::unit(one.phase));
    findings.members = found.members.iter().map(|one| members(one, unit)).collect();
    findings.seeks = found.seeks.iter().map(seek).collect();
}

fn members(one: &analysis::MemberSet, unit: impl Fn(usize) -> &'static str) -> view::MemberSet {
    let member = |one: &analysis::Member| view::Member {
        figure: number(one.figure),
        place: one.place,
        name: one.name.clone(),
        model: one.model.clone(),
        bytes_per_second: one.bytes_per_second,
        transfers_per_second: one.transfers_per_second,
        n: one.n,
        deviation_per_second: one.deviation,
        share: one.share,
        slow: one.slow,
    };
    let model = |one: &analysis::ModelVerdict| view::Model {
        model: one.model.clone(),
        n: one.n,
        median_per_second: one.median,
        lowest_per_second: one.lowest,
        highest_per_second: one.highest,
        slow: one.slow,
        reached: one.reached.as_ref().map(grade),
        missed: one.missed.as_ref().map(grade),
    };
    view::MemberSet {
        group: one.group.clone(),
        target: one.target.clone(),
        phase: one.phase.name(),
        fixed: one.fixed.iter().map(setting).collect(),
        together: one.together,
        unit: one.members.first().map_or(BYTES_PER_SECOND, |first| unit(first.figure)),
        members: one.members.iter().map(member).collect(),
        variation: one.variation,
        uneven: one.uneven,
        models: one.models.iter().map(model).collect(),
        grades: one.grades.iter().map(grade).collect(),
    }
}

fn grade(one: &analysis::Grade) -> view::Grade {
    view::Grade {
        name: one.name.clone(),
        per_second: one.rate,
        reached: one.reached.clone(),
        missed: one.missed.clone(),
    }
}

fn seek(one: &analysis::SeekFit) -> view::SeekFit {
    let point = |one: &analysis::SeekPoint| view::SeekPoint {
        figure: number(one.figure),
        transfer_bytes: one.bytes,
        bytes_per_second: one.bytes_per_second,
        time_ns: one.time_ns,
        predicted_bytes_per_second: one.predicted,
    };
    let line = |one: &analysis::SeekTime| view::SeekLine {
        positioning_ns: one.positioning_ns,
        positioning_half_width_ns: one.positioning_half_ns,
        bytes_per_second: one.bytes_per_second,
        interval_low: one.interval.0,
        interval_high: Some(one.interval.1).filter(|end| end.is_finite()),
        error: one.error,
        half_rate_bytes: one.half_rate_bytes,
    };
    view::SeekFit {
        group: one.group.clone(),
        target: one.target.clone(),
        phase: one.phase.name(),
        fixed: one.fixed.iter().map(setting).collect(),
        devices: one.devices,
        under_way: one.under_way,
        points: one.points.iter().map(point).collect(),
        line: one.fit.as_ref().ok().map(line),
        refused: one.fit.as_ref().err().map(ToString::to_string).unwrap_or_default(),
    }
}
