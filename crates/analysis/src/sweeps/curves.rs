//! Curves: rates over a swept key, with everything else fixed.

use std::collections::{HashMap, HashSet};
use std::iter;

use plan::{Case, Measure, Setting, SettingValue};

use crate::figures::{Figure, MEMBER, Subject, TARGET, ValueKey, grouped, little::little, value_of};
use crate::gate::Gate;
use crate::sweeps::{Curve, CurvePoint, Shape, shape_shown};

/// The minimum number of values that a key needs to become the x axis of a second family of curves: two values are a
/// comparison, not a curve.
const SECOND_AXIS_VALUES_MIN: usize = 3;

/// The curves of all sweeps.
///
/// For each workload, the x axis is the swept numeric key with the most values, or the first of them in the study if
/// several have equally many. Each other numeric key with at least three values is the axis of a second family. There
/// is one curve for each target, client, phase and combination of the other swept keys, except those that change in
/// step with the axis. A point that was measured twice, as in merged runs, starts a second curve. A curve has at
/// least two points. Disqualified points do not contribute to a shape, and a curve over the names of members has no
/// shape.
#[must_use]
pub fn curves(gate: &Gate<'_>) -> Vec<Curve> {
    let of_group = grouped(&gate.subjects, |one| one.case.group.as_str()).into_iter();
    let of_group: HashMap<&str, _> = of_group.map(|all| (all[0].case.group.as_str(), all)).collect();
    let mut curves = Vec::new();
    for cases in grouped(&gate.plan.cases, |case| case.group.as_str()) {
        if let Some(subjects) = of_group.get(cases[0].group.as_str()) {
            for (axis, fixed) in families(&cases) {
                curves.extend(over(gate, subjects, axis, &fixed));
            }
        }
    }
    curves
}

/// A swept key, the number of its values, and whether they are numbers.
type Key<'a> = (&'a str, usize, bool);

/// The axes of the curves of a workload, each with the swept keys that are fixed on one curve, in the order of the
/// study.
fn families<'a>(cases: &[&'a Case]) -> Vec<(&'a str, Vec<&'a str>)> {
    let all = cases.iter().flat_map(|case| &case.settings).filter(|setting| setting.key != TARGET);
    let key = |all: Vec<&'a Setting>| -> Key<'a> {
        let values: HashSet<_> = all.iter().map(|one| ValueKey::of(&one.value)).collect();
        (&all[0].key, values.len(), all.iter().all(|one| one.value.on_axis().is_some()))
    };
    let keys: Vec<Key<'_>> = grouped(all, |one| one.key.as_str()).into_iter().map(key).collect();
    let candidates = || keys.iter().filter(|(_, values, numeric)| *numeric && *values > 1);
    let most = candidates().map(|(_, values, _)| values).max();
    let Some(first) = candidates().find(|(_, values, _)| Some(values) == most) else { return Vec::new() };
    let other = |key: &&Key<'_>| {
        let same_axis = || in_step(cases, *first, **key) && in_step(cases, **key, *first);
        key.0 != first.0 && key.1 >= SECOND_AXIS_VALUES_MIN && !same_axis()
    };
    let family = |axis: &Key<'a>| {
        let fixed = keys.iter().filter(|key| key.0 != axis.0 && !in_step(cases, *axis, **key));
        (axis.0, fixed.map(|key| key.0).collect())
    };
    iter::once(first).chain(candidates().filter(other)).map(family).collect()
}

/// Whether the value of `leader` determines that of `follower`, which has several values.
fn in_step(cases: &[&Case], leader: Key<'_>, follower: Key<'_>) -> bool {
    let mut value_at = HashMap::new();
    follower.1 > 1
        && cases.iter().all(|case| match (value_of(case, leader.0), value_of(case, follower.0)) {
            (Some(at), Some(value)) => {
                let value = ValueKey::of(value);
                *value_at.entry(ValueKey::of(at)).or_insert(value) == value
            }
            _ => false,
        })
}

/// The curves of one workload over `axis`.
fn over(gate: &Gate<'_>, subjects: &[&Subject<'_>], axis: &str, fixed: &[&str]) -> Vec<Curve> {
    // How often each point has occurred.
    let mut times: HashMap<_, usize> = HashMap::new();
    let points = subjects.iter().filter_map(|subject| {
        let value = value_of(subject.case, axis)?;
        let x = value.on_axis()?;
        let fixed: Vec<Option<ValueKey<'_>>> =
            fixed.iter().map(|key| value_of(subject.case, key).map(ValueKey::of)).collect();
        let key = (subject.case.target.as_str(), subject.client(), subject.figure.phase, fixed);
        let time = times.entry((key.clone(), ValueKey::of(value))).or_default();
        *time += 1;
        Some(((key, *time), *subject, point(gate, subject, value, x)))
    });
    let all = grouped(points, |(key, ..)| key.clone()).into_iter().filter(|all| all.len() > 1);
    let curve = all.map(|all| {
        let first = all[0].1;
        let mut points: Vec<CurvePoint> = all.into_iter().map(|(.., point)| point).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let fixed = first.case.settings.iter().filter(|one| fixed.contains(&one.key.as_str()));
        Curve {
            group: first.case.group.clone(),
            target: first.case.target.clone(),
            client: first.client(),
            phase: first.figure.phase,
            axis: axis.to_owned(),
            fixed: fixed.cloned().collect(),
            shape: if axis == MEMBER { Shape::default() } else { shape_shown(&points) },
            points,
        }
    });
    curve.collect()
}

fn point(gate: &Gate<'_>, subject: &Subject<'_>, value: &SettingValue, x: f64) -> CurvePoint {
    let figure = subject.figure;
    CurvePoint {
        figure: subject.index,
        at: value.clone(),
        x,
        usable: gate.is_usable(subject.index),
        rate: subject.rate(),
        bytes_per_second: figure.bytes_per_second.median,
        transfers_per_second: figure.transfers_per_second.median,
        headline: *figure.headline(),
        latency_mean_ns: latency_mean_ns(figure),
        little: little(subject.case, figure).map(|little| little.agreement),
        balance_bound: subject.balance_bound(),
    }
}

/// The mean latency over all operations of any kind, from their intended start.
fn latency_mean_ns(figure: &Figure) -> Option<f64> {
    let of_measure = || figure.latency.iter().filter(|latency| latency.measure == Measure::Response);
    let count: f64 = of_measure().map(|latency| latency.count as f64).sum();
    let sum: f64 = of_measure().map(|latency| latency.mean_ns() * latency.count as f64).sum();
    (count > 0.0).then(|| sum / count)
}
