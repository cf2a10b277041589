//! Curves: rates against a swept key, everything else fixed.

use std::collections::{HashMap, HashSet};

use plan::{Case, Client, Phase, Plan, Setting, SettingValue};
use record::Measure;

use crate::Figure;
use crate::curve::{Curve, CurvePoint};
use crate::gate::Gate;
use crate::little::little;
use crate::shape::shape_shown;
use crate::subject::{MEMBER, Subject, TARGET, ValueKey, value_of};

/// Values that a key needs to become the x axis of a second family of curves: two are a
/// comparison, not a curve.
pub const SECOND_AXIS_VALUES_MIN: usize = 3;

/// The curves of all sweeps of `plan`.
///
/// For each workload the x axis is the swept numeric key with most values, the first of them in
/// the study where several have as many; each other numeric key with at least
/// [`SECOND_AXIS_VALUES_MIN`] values is the axis of a second family. There is one curve for each
/// target, client, phase and combination of the other swept keys: figures of clients on the server
/// and behind a network never share one. Keys that go in step with the axis are not fixed. A point
/// that was measured twice, as in merged runs, starts a second curve, so that both can be laid over
/// each other. A curve has at least two points.
#[must_use]
pub fn curves(plan: &Plan, figures: &[Figure]) -> Vec<Curve> {
    of_gate(&Gate::new(plan, figures, &[]))
}

/// As [`curves`], with what speaks against figures. Disqualified points have no part in a shape, and a curve over the
/// names of members has none.
pub(crate) fn of_gate(gate: &Gate<'_>) -> Vec<Curve> {
    let (plan, subjects) = (gate.plan, &gate.subjects);
    let mut of_group: HashMap<&str, Vec<&Subject<'_>>> = HashMap::new();
    for subject in subjects {
        of_group.entry(subject.case.group.as_str()).or_default().push(subject);
    }
    let mut curves = Vec::new();
    for (group, cases) in groups(plan) {
        let Some(subjects) = of_group.get(group) else { continue };
        for family in families(&cases) {
            family.curves(group, subjects, &mut curves);
        }
    }
    for curve in &mut curves {
        for point in &mut curve.points {
            point.usable = gate.is_usable(point.figure);
        }
        if curve.axis != MEMBER {
            curve.shape = shape_shown(&curve.points);
        }
    }
    curves
}

/// The cases of each workload, in the order of the study.
fn groups(plan: &Plan) -> Vec<(&str, Vec<&Case>)> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut groups: Vec<(&str, Vec<&Case>)> = Vec::new();
    for case in &plan.cases {
        let place = *places.entry(case.group.as_str()).or_insert_with(|| {
            groups.push((case.group.as_str(), Vec::new()));
            groups.len() - 1
        });
        groups[place].1.push(case);
    }
    groups
}

/// A swept key and the values that it takes.
struct Key<'a> {
    name: &'a str,
    values: HashSet<ValueKey<'a>>,
    numeric: bool,
}

/// The swept keys of a workload, in the order of the study.
fn keys<'a>(cases: &[&'a Case]) -> Vec<Key<'a>> {
    let mut keys: Vec<Key<'a>> = Vec::new();
    for setting in cases.iter().flat_map(|case| &case.settings).filter(|setting| setting.key != TARGET) {
        let place = keys.iter().position(|key| key.name == setting.key).unwrap_or_else(|| {
            keys.push(Key { name: &setting.key, values: HashSet::new(), numeric: true });
            keys.len() - 1
        });
        keys[place].values.insert(ValueKey::from(&setting.value));
        keys[place].numeric &= setting.value.on_axis().is_some();
    }
    keys
}

/// Curves over one axis.
struct Family<'a> {
    axis: &'a str,
    fixed: Vec<&'a str>,
}

fn families<'a>(cases: &[&'a Case]) -> Vec<Family<'a>> {
    let keys = keys(cases);
    let candidates = || keys.iter().filter(|key| key.numeric && key.values.len() > 1);
    let most = candidates().map(|key| key.values.len()).max();
    let Some(first) = candidates().find(|key| Some(key.values.len()) == most) else { return Vec::new() };
    let mut families = vec![family(cases, &keys, first)];
    for key in candidates().filter(|key| key.name != first.name) {
        let same_axis = in_step(cases, first, key) && in_step(cases, key, first);
        if key.values.len() >= SECOND_AXIS_VALUES_MIN && !same_axis {
            families.push(family(cases, &keys, key));
        }
    }
    families
}

fn family<'a>(cases: &[&'a Case], keys: &[Key<'a>], axis: &Key<'a>) -> Family<'a> {
    let fixed = keys.iter().filter(|key| key.name != axis.name && !in_step(cases, axis, key));
    Family { axis: axis.name, fixed: fixed.map(|key| key.name).collect() }
}

/// Whether the value of `leader` says which value `follower` has, while `follower` has several.
fn in_step(cases: &[&Case], leader: &Key<'_>, follower: &Key<'_>) -> bool {
    if follower.values.len() < 2 {
        return false;
    }
    let mut value_at = HashMap::new();
    cases.iter().all(|case| {
        let (Some(at), Some(value)) = (value_of(case, leader.name), value_of(case, follower.name)) else {
            return false;
        };
        let value = ValueKey::from(value);
        *value_at.entry(ValueKey::from(at)).or_insert(value) == value
    })
}

/// What the points of one curve have in common. The last is the how many-th measurement it is.
type CurveKey<'a> = (&'a str, Client, Phase, Vec<Option<ValueKey<'a>>>, usize);

impl Family<'_> {
    fn curves(&self, group: &str, subjects: &[&Subject<'_>], curves: &mut Vec<Curve>) {
        let mut places: HashMap<CurveKey<'_>, usize> = HashMap::new();
        let mut measured: HashMap<(CurveKey<'_>, ValueKey<'_>), usize> = HashMap::new();
        let mut found: Vec<Curve> = Vec::new();
        for subject in subjects {
            let Some(value) = value_of(subject.case, self.axis) else { continue };
            let Some(x) = value.on_axis() else { continue };
            let fixed =
                self.fixed.iter().map(|key| value_of(subject.case, key).map(ValueKey::from)).collect();
            let (target, client, phase) =
                (subject.case.target.as_str(), subject.client(), subject.figure.phase);
            let mut key: CurveKey<'_> = (target, client, phase, fixed, 0);
            let times = measured.entry((key.clone(), ValueKey::from(value))).or_default();
            key.4 = *times;
            *times += 1;
            let place = *places.entry(key).or_insert_with(|| {
                found.push(self.empty(group, subject));
                found.len() - 1
            });
            found[place].points.push(point(subject, value, x));
        }
        curves.extend(found.into_iter().filter(|curve| curve.points.len() > 1).map(|mut curve| {
            curve.points.sort_by(|a, b| a.x.total_cmp(&b.x));
            curve
        }));
    }

    fn empty(&self, group: &str, subject: &Subject<'_>) -> Curve {
        let fixed = |setting: &&Setting| self.fixed.contains(&setting.key.as_str());
        Curve {
            group: group.to_owned(),
            target: subject.case.target.clone(),
            client: subject.client(),
            phase: subject.figure.phase,
            axis: self.axis.to_owned(),
            fixed: subject.case.settings.iter().filter(fixed).cloned().collect(),
            points: Vec::new(),
            shape: crate::Shape::default(),
        }
    }
}

fn point(subject: &Subject<'_>, value: &SettingValue, x: f64) -> CurvePoint {
    let figure = subject.figure;
    CurvePoint {
        figure: subject.index,
        at: value.clone(),
        x,
        usable: true,
        rate: subject.rate(),
        bytes_per_second: figure.bytes_per_second.median,
        transfers_per_second: figure.transfers_per_second.median,
        repetitions: figure.headline().n,
        mean: figure.headline().mean,
        deviation: figure.headline().deviation_sample,
        latency_mean_ns: latency_mean_ns(figure),
        little: little(subject.case, figure).map(|little| little.agreement),
        balance_bound: subject.balance_bound(),
    }
}

/// The mean over all operations from their intended start, of whatever kind.
fn latency_mean_ns(figure: &Figure) -> Option<f64> {
    let of_measure = figure.latency.iter().filter(|latency| latency.measure == Measure::Response);
    let (mut sum, mut count) = (0.0, 0.0);
    for latency in of_measure {
        sum += latency.mean_ns() * latency.count as f64;
        count += latency.count as f64;
    }
    (count > 0.0).then(|| sum / count)
}
