//! Puts the findings of the analysis into the words and units of a report.

use plan::{Client, Layer, SettingValue};

use super::{compared, layers};
use crate::view::BYTES_PER_SECOND;
use crate::view::findings as view;
use crate::words;

/// `found`, of figures that are made of `sources`.
pub(crate) fn findings(sources: &[analysis::Figure], found: &analysis::Findings) -> view::Findings {
    let mut findings = view::Findings {
        curves: found.curves.iter().map(curve).collect(),
        overlays: found.overlays.iter().map(overlay).collect(),
        dispersion: found.dispersion.iter().map(dispersion).collect(),
        regressions: found.regressions.iter().map(|one| regression(one, &found.curves)).collect(),
        coincident: found.coincident.clone(),
        peaks: found.peaks.iter().map(peaks).collect(),
        audit: found.audit.iter().map(doubt).collect(),
        nodes: found.nodes.iter().map(compared::comparison).collect(),
        node_grids: found.node_grids.iter().map(compared::grid).collect(),
        ..view::Findings::default()
    };
    layers::fill(&mut findings, found, sources);
    findings
}

/// The number of a figure in a report: from 1.
pub(super) const fn number(index: usize) -> usize {
    index + 1
}

/// Where the measuring program ran, in words; empty where the study does not say.
pub(crate) const fn client(client: Client) -> &'static str {
    match client {
        Client::Unstated => "",
        Client::LocalToServer => "local to server",
        Client::Remote => "remote",
    }
}

/// Which nodes reach a target, in words; empty where the study does not say.
pub(crate) const fn layer(layer: Layer) -> &'static str {
    match layer {
        Layer::Unstated => "",
        Layer::NodeLocal => "node-local",
        Layer::Shared => "shared",
    }
}

/// A swept key with its value.
pub(crate) fn setting(one: &plan::Setting) -> view::Setting {
    setting_of(&one.key, &one.value)
}

fn setting_of(key: &str, value: &SettingValue) -> view::Setting {
    let raw = match value {
        SettingValue::Bytes(bytes) => bytes.0.into(),
        SettingValue::Time(nanos) => nanos.0.into(),
        SettingValue::Count(count) => (*count).into(),
        SettingValue::Number(number) => (*number).into(),
        SettingValue::Flag(flag) => (*flag).into(),
        SettingValue::Word(word) => word.clone().into(),
    };
    let unit = match value {
        SettingValue::Bytes(_) => "bytes",
        SettingValue::Time(_) => "ns",
        _ => "",
    };
    view::Setting { key: key.to_owned(), value: raw, unit, text: value.to_string() }
}

fn settings(all: &[plan::Setting]) -> Vec<view::Setting> {
    all.iter().map(setting).collect()
}

fn curve(one: &analysis::Curve) -> view::Curve {
    let point = |point: &analysis::CurvePoint| view::CurvePoint {
        figure: number(point.figure),
        at: setting_of(&one.axis, &point.at),
        x: point.x,
        bytes_per_second: point.bytes_per_second,
        transfers_per_second: point.transfers_per_second,
        n: point.repetitions,
        deviation_per_second: point.deviation,
        latency_mean_ns: point.latency_mean_ns,
        littles_law_ratio: point.little,
        balance_bound: point.balance_bound,
    };
    let shape = &one.shape;
    view::Curve {
        group: one.group.clone(),
        target: one.target.clone(),
        client: client(one.client),
        phase: one.phase.name(),
        axis: one.axis.clone(),
        fixed: settings(&one.fixed),
        unit: words::unit(one.phase),
        points: one.points.iter().map(point).collect(),
        shape: view::Shape {
            peak: shape.peak.and_then(|index| one.points.get(index)).map(|point| point.x),
            knee: shape.knee,
            plateau_from: shape.plateau.map(|(from, _)| from),
            plateau_to: shape.plateau.map(|(_, to)| to),
            reaches_90_percent: shape.reaches_90,
            reaches_95_percent: shape.reaches_95,
            spread_beyond: shape.spread_beyond,
            sweet_spot: shape.sweet_spot,
            dips_period: shape.dips.map(|dips| dips.period),
            dips_depth: shape.dips.map(|dips| dips.depth),
        },
    }
}

fn dispersion(one: &analysis::Dispersion) -> view::Dispersion {
    let point = |point: &analysis::DispersionPoint| view::DispersionPoint {
        figure: number(point.figure),
        x: point.x,
        repetitions_per_second: point.repetitions.clone(),
        variation: point.variation,
        spread_seconds: point.seconds,
        bytes_per_task: point.bytes_per_task,
    };
    view::Dispersion {
        group: one.group.clone(),
        target: one.target.clone(),
        phase: one.phase.name(),
        axis: one.axis.clone(),
        unit: words::unit(one.phase),
        points: one.points.iter().map(point).collect(),
        onset: one.onset,
        worst_seconds: one.worst_seconds,
    }
}

fn regression(one: &analysis::CurveRegression, curves: &[analysis::Curve]) -> view::Regression {
    view::Regression {
        curve: one.curve,
        unit: curves.get(one.curve).map_or(BYTES_PER_SECOND, |curve| words::unit(curve.phase)),
        slope_per_second: one.slope,
        slope_half_width_per_second: one.slope_half_width,
        intercept_per_second: one.intercept,
        r_squared: one.r_squared,
    }
}

const fn overlay(one: &analysis::Overlay) -> view::Overlay {
    view::Overlay { first: one.first, second: one.second, x: one.at, difference: one.difference }
}

const fn peaks(one: &analysis::Peaks) -> view::Peaks {
    view::Peaks {
        first: one.first,
        second: one.second,
        first_transfers_per_second: one.first_transfers_per_second,
        second_transfers_per_second: one.second_transfers_per_second,
        apart: one.apart,
    }
}

fn doubt(one: &analysis::Doubt) -> view::Doubt {
    view::Doubt {
        check: one.check.name(),
        figure: one.figure.map(number),
        concerns: one.concerns.clone(),
        evidence: one.evidence.clone(),
        advice: one.advice.clone(),
        disqualifies: one.disqualifies(),
    }
}
