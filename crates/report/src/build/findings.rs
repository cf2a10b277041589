//! Puts the findings of the analysis into the words and units of a report.

use plan::{Bound, Client, Commitment, Layer, Over, Plan, Selector, SettingValue, Statistic};

use super::{compared, layers, timeline};
use crate::view::findings as view;
use crate::view::{BYTES_PER_SECOND, Figure};
use crate::words;

/// `found`, of `figures` of `plan`, which are made of `sources` and are called `job` in the job table.
pub(crate) fn findings(
    plan: &Plan,
    figures: &[Figure],
    sources: &[analysis::Figure],
    found: &analysis::Findings,
    job: &str,
) -> view::Findings {
    let conditions =
        |index: usize| figures.get(index).map(|figure| figure.conditions.clone()).unwrap_or_default();
    let mut findings = view::Findings {
        verdicts: found
            .verdicts
            .iter()
            .filter_map(|one| {
                let commitment = plan.terms.commitments.get(one.commitment)?;
                Some(verdict(commitment, one, one.figure.map(conditions).unwrap_or_default()))
            })
            .collect(),
        curves: found.curves.iter().map(curve).collect(),
        expected: found.expected.iter().map(expected).collect(),
        weakest_links: found.bounds.iter().map(weakest_link).collect(),
        claims: found.claims.iter().map(claim).collect(),
        beside: found.published.iter().map(beside).collect(),
        overlays: found.overlays.iter().map(overlay).collect(),
        dispersion: found.dispersion.iter().map(dispersion).collect(),
        regressions: found.regressions.iter().map(|one| regression(one, &found.curves)).collect(),
        coincident: found.coincident.clone(),
        iops: found.iops.iter().map(|one| number(one.figure)).collect(),
        peaks: found.peaks.iter().map(peaks).collect(),
        jobs: super::jobs::jobs(figures, found, job),
        audit: found.audit.iter().map(doubt).collect(),
        nodes: found.nodes.iter().map(compared::comparison).collect(),
        node_grids: found.node_grids.iter().map(compared::grid).collect(),
        weak_scaling: found.weak_scaling.iter().map(compared::weak_scaling).collect(),
        layer_crossovers: found.layer_crossovers.iter().map(compared::crossover).collect(),
        coverage: found.coverage.as_ref().map(compared::coverage),
        matrices: super::matrix::matrices(&found.matrices),
        ..view::Findings::default()
    };
    layers::fill(&mut findings, found, sources);
    timeline::fill(&mut findings, found);
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

pub(crate) const fn amount(amount: &plan::Amount) -> view::Amount {
    match *amount {
        plan::Amount::BytesPerSecond(value) => view::Amount { value, unit: "bytes/s", percentile: None },
        plan::Amount::OperationsPerSecond(value) => view::Amount { value, unit: "ops/s", percentile: None },
        plan::Amount::Latency { nanos, percent } => {
            view::Amount { value: nanos, unit: "ns", percentile: percent }
        }
    }
}

fn verdict(commitment: &Commitment, one: &analysis::Verdict, conditions: String) -> view::Verdict {
    view::Verdict {
        name: commitment.name.clone(),
        by: commitment.by.clone(),
        concerns: selected(&commitment.figures, commitment.over),
        promised: amount(&commitment.amount),
        side: match commitment.bound {
            Bound::AtLeast => "at least",
            Bound::AtMost => "at most",
        },
        judged_by: judged_by(commitment),
        judgement: one.judgement.name(),
        figure: one.figure.map(number),
        conditions,
        measured: one.measured,
        margin: one.margin,
        unfavourable_end: one.bound.map(|(end, _)| end),
        confidence: one.bound.map(|(_, confidence)| confidence),
        because: one.because.clone(),
    }
}

/// The statistic and the rate that a commitment is judged by.
pub(crate) fn judged_by(commitment: &Commitment) -> String {
    let statistic = match commitment.statistic {
        Statistic::Median => "median",
        Statistic::Mean => "mean",
        Statistic::Worst => "worst repetition",
        Statistic::Best => "best repetition",
        Statistic::ConfidenceBound => "confidence bound of the median",
    };
    match commitment.amount {
        plan::Amount::Latency { percent: Some(percent), .. } => format!("{statistic} of p{percent}"),
        plan::Amount::Latency { percent: None, .. } => format!("{statistic} of the mean latency"),
        _ => format!("{statistic}, {}", commitment.rate.name()),
    }
}

/// `every read of deep on flash at tasks 33`.
pub(crate) fn selected(selector: &Selector, over: Over) -> String {
    let mut text = match over {
        Over::Every => "every ",
        Over::Best => "the best ",
    }
    .to_owned();
    text.push_str(selector.phase.map_or("result", plan::Phase::name));
    if let Some(workload) = &selector.workload {
        text.push_str(&format!(" of {workload}"));
    }
    if let Some(target) = &selector.target {
        text.push_str(&format!(" on {target}"));
    }
    for (index, setting) in selector.at.iter().enumerate() {
        text.push_str(if index == 0 { " at " } else { ", " });
        text.push_str(&setting.to_string());
    }
    text
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

fn expected(one: &analysis::Expected) -> view::Expected {
    view::Expected {
        figure: number(one.figure),
        name: one.name.clone(),
        amount: amount(&one.amount),
        ratio: one.ratio,
        ceiling: one.ceiling,
        in_time: one.in_time,
        reached: one.reached.clone(),
        source: one.source.clone(),
    }
}

/// The lowest limit of a target, in the units of a report.
pub(crate) fn weakest_link(one: &analysis::WeakestLink) -> view::WeakestLink {
    let limit =
        |(name, one): &(String, plan::Amount)| view::NamedAmount { name: name.clone(), amount: amount(one) };
    view::WeakestLink {
        target: one.target.clone(),
        phase: one.phase.map(plan::Phase::name),
        order: one.random.map(|random| if random { "random" } else { "sequential" }),
        transfer_bytes: one.transfer.map(|bytes| bytes.0),
        nodes: one.nodes,
        limits: one.limits.iter().map(limit).collect(),
        weakest: one.weakest.clone(),
        amount: amount(&one.amount),
        efficiency: one.efficiency,
    }
}

fn claim(one: &analysis::ClaimVerdict) -> view::Claim {
    view::Claim {
        id: one.id.clone(),
        text: one.text.clone(),
        source: one.source.clone(),
        standing: one.standing.name(),
        evidence: one.evidence.clone(),
    }
}

fn beside(one: &analysis::Beside) -> view::Beside {
    view::Beside {
        id: one.id.clone(),
        figure: one.figure.map(number),
        at: settings(&one.at),
        group: one.group.clone(),
        target: one.target.clone(),
        phase: one.phase.map(plan::Phase::name),
        unit: one.unit.clone(),
        published: one.published,
        own: one.own,
        ratio: one.ratio,
        as_published: one.as_published.clone(),
        statistic: one.statistic.clone(),
        misprint: one.misprint.clone(),
        source: one.source.clone(),
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
