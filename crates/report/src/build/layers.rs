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
    findings.strips = found.strips.iter().map(strip).collect();
    findings.process_limits = found.process_limits.iter().map(|one| process_limit(one, unit)).collect();
    findings.disk_views = found.disk_views.iter().map(disk_view).collect();
    findings.fits = found.fits.iter().map(fit).collect();
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
        curve: one.curve,
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

fn strip(one: &analysis::StripPoint) -> view::Strip {
    view::Strip {
        target: one.target.clone(),
        below: one.below.clone(),
        phase: one.phase.name(),
        block_bytes: one.block,
        devices: one.devices,
        strip_bytes: one.strip,
        predicted_bytes_per_second: one.predicted,
        by_line: one.by_line,
        extrapolated: one.extrapolated,
        figure: one.figure.map(number),
        measured_bytes_per_second: one.measured,
        ratio: one.ratio,
    }
}

fn process_limit(one: &analysis::ProcessLimit, unit: impl Fn(usize) -> &'static str) -> view::ProcessLimit {
    let point = |&(devices, figure, per_second): &(u32, usize, f64)| view::DeviceCount {
        devices,
        figure: number(figure),
        per_second,
    };
    view::ProcessLimit {
        group: one.group.clone(),
        phase: one.phase.name(),
        tasks: one.tasks,
        fixed: one.fixed.iter().map(setting).collect(),
        unit: one.points.first().map_or(BYTES_PER_SECOND, |(_, figure, _)| unit(*figure)),
        points: one.points.iter().map(point).collect(),
        spread: one.spread,
        gain: one.gain,
        flat: one.flat,
    }
}

fn disk_view(one: &analysis::DiskView) -> view::DiskView {
    view::DiskView {
        figure: number(one.figure),
        tasks: one.tasks,
        operations: one.operations,
        application_share: one.application_share,
        application_seek_bytes: one.application_seek_bytes,
        device_requests: one.devices.map(|devices| devices.requests),
        device_share: one.devices.map(|devices| devices.share),
        device_seek_bytes: one.devices.and_then(|devices| devices.seek_bytes),
    }
}

fn fit(one: &analysis::Fit) -> view::Fit {
    view::Fit {
        target: one.target.clone(),
        devices: one.slots.map(|(devices, _)| devices),
        slots: one.slots.map(|(_, slots)| slots),
        needed_bytes: one.bytes.map(|(needed, _)| needed),
        capacity_bytes: one.bytes.map(|(_, capacity)| capacity),
        studied_capacity_bytes: one.studied_capacity,
        said: one.said,
        fits: one.fits(),
    }
}
