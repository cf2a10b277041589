//! Compares curves with each other: where they are farthest apart, and which cannot be distinguished.

use plan::{Phase, SettingValue};

use crate::figures::{grouped, texts};
use crate::gate::{
    Gate, Kind, Of, Stated, Statement, Value,
    table::{Column, change, operations, setting, share, subject, word},
};
use crate::sweeps::{ALIKE_SHARE, Curve, CurvePoint, on_axis};

/// With more curves than this, pairs of them are not compared.
pub const OVERLAID_MAX: usize = 4;
/// The maximum number of curves in a chart whose legend names those that coincide.
pub const CHARTED_MAX: usize = 64;
/// Two points that differ by less than this share are equal if nothing was repeated and the noise is not known.
pub const ALIKE_SHARE_UNREPEATED: f64 = 0.05;
/// The number of standard errors within which two points are equal.
const STANDARD_ERRORS: f64 = 2.0;

/// Where two curves are farthest apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Overlay {
    /// The values of the other keys of both curves; the same if a sweep was measured twice.
    pub fixed: [String; 2],
    /// The swept key.
    pub axis: String,
    /// The value on the axis.
    pub at: SettingValue,
    /// (Second − first) ÷ the larger of the two.
    pub difference: f64,
}

impl Statement for Overlay {
    const KIND: Kind = Kind::Overlay;
    const OF: Of = Of::Sweep;
    const CAPTION: &'static str =
        "Where two lines of a sweep are farthest apart: (second − first) ÷ the larger of both";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(word("first", "first", "The other keys of the first line.", |one| &one.fixed[0])),
        subject(word("second", "second", "Those of the second.", |one| &one.fixed[1])),
        subject(word("axis", "over", "The swept key.", |one| &one.axis)),
        setting("at", "at", "Where they are farthest apart.", |one| Value::Setting(one.at.clone())),
        change("difference", "difference", "(Second − first) ÷ the larger.", |one| Some(one.difference)),
    ];
}

/// Pairs of points at the same value of the axis; both lists are in ascending order.
fn in_common<'a>(
    first: impl Iterator<Item = &'a CurvePoint>,
    second: impl Iterator<Item = &'a CurvePoint>,
) -> impl Iterator<Item = (&'a CurvePoint, &'a CurvePoint)> {
    let mut rest = second.peekable();
    first.filter_map(move |point| {
        while rest.next_if(|other| other.x < point.x).is_some() {}
        rest.peek().filter(|other| other.x == point.x).map(|other| (point, *other))
    })
}

/// Each element paired with each of those after it.
fn pairs<T: Copy>(all: &[T]) -> impl Iterator<Item = (T, T)> {
    all.iter().enumerate().flat_map(|(place, &one)| all[place + 1..].iter().map(move |&other| (one, other)))
}

/// The largest difference of each pair of curves of one workload, target, client, phase and axis, for example for two
/// numbers of processes, or for a sweep that was measured twice. A difference is given if it is shown among all
/// points that both have in common. Families of more than [`OVERLAID_MAX`] curves are left out.
#[must_use]
pub(crate) fn overlays(gate: &Gate<'_>, curves: &[Curve]) -> Vec<Stated<Overlay>> {
    let families = families(curves, |curve| Some(curve.phase)).into_iter();
    let overlaid: Vec<Vec<usize>> = families.filter(|family| family.len() <= OVERLAID_MAX).collect();
    let overlay = |(first, second): (usize, usize)| {
        let (first, second) = (&curves[first], &curves[second]);
        let pairs: Vec<_> = in_common(first.usable(), second.usable()).collect();
        let apart =
            |(one, other): &(&CurvePoint, &CurvePoint)| (other.rate - one.rate) / one.rate.max(other.rate);
        let moved = pairs.iter().filter(|(one, other)| one.rate.max(other.rate) > 0.0);
        let largest = moved.max_by(|a, b| apart(a).abs().total_cmp(&apart(b).abs()))?;
        let (one, other) = *largest;
        if !gate.is_shown(one.figure, other.figure, pairs.len()) {
            return None;
        }
        let value = Overlay {
            fixed: [first, second].map(|curve| texts(&curve.fixed).join(", ")),
            axis: first.axis.clone(),
            at: on_axis(&one.at, one.x),
            difference: apart(largest),
        };
        let all = first.points.iter().chain(&second.points).map(|point| point.figure);
        Some(gate.leaving_out(all, gate.state(vec![one.figure, other.figure], value)))
    };
    overlaid.iter().flat_map(|family| pairs(family)).filter_map(overlay).collect()
}

/// The peaks of two curves of different workloads over the same axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Peaks {
    /// The names of both workloads.
    pub groups: [String; 2],
    /// The key that both sweep.
    pub axis: String,
    /// The highest number of transfers per second of each.
    pub highest: [f64; 2],
    /// |second − first| ÷ the larger of the two. `None` if no difference is shown.
    pub apart: Option<f64>,
}

impl Statement for Peaks {
    const KIND: Kind = Kind::Peaks;
    const OF: Of = Of::Target;
    const CAPTION: &'static str = "Highest IOPS of two workloads that sweep the same key, and how far they are apart, where a difference is shown";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(word("axis", "over", "The swept key.", |one| &one.axis)),
        subject(word("first", "first", "A workload.", |one| &one.groups[0])),
        operations("first_per_second", "its peak", "Its highest IOPS.", |one| Some(one.highest[0])),
        subject(word("second", "second", "Another workload.", |one| &one.groups[1])),
        operations("second_per_second", "its peak", "Its highest IOPS.", |one| Some(one.highest[1])),
        share("apart", "apart", "|Second − first| ÷ the larger, where a difference is shown.", |one| {
            one.apart
        }),
    ];
}

/// The difference between the peaks of transfers per second for each pair of workloads that sweep the same key of one
/// target, such as block sizes in steps of 4 KiB and in powers of two. Peaks of transfers of different sizes are not
/// compared. If a workload has several curves, the highest is used; if there are more than [`OVERLAID_MAX`]
/// workloads, none are compared. Disqualified points do not count as peaks.
#[must_use]
pub(crate) fn peaks(gate: &Gate<'_>, curves: &[Curve]) -> Vec<Stated<Peaks>> {
    let peaks = curves.iter().filter_map(|curve| {
        let most =
            |a: &&CurvePoint, b: &&CurvePoint| a.transfers_per_second.total_cmp(&b.transfers_per_second);
        Some((curve, curve.usable().max_by(most)?))
    });
    let families =
        grouped(peaks, |(curve, _)| (curve.target.as_str(), curve.client, curve.phase, curve.axis.as_str()));
    let compared = families.into_iter().filter_map(|family| {
        let of_group = grouped(family, |(curve, _)| curve.group.as_str()).into_iter();
        let rate = |one: &(&Curve, &CurvePoint)| one.1.transfers_per_second;
        let workloads =
            of_group.filter_map(|all| all.into_iter().rev().max_by(|a, b| rate(a).total_cmp(&rate(b))));
        let workloads: Vec<_> = workloads.collect();
        (workloads.len() <= OVERLAID_MAX).then_some(workloads)
    });
    let peaks = |((first, one), (second, other)): ((&Curve, &CurvePoint), (&Curve, &CurvePoint))| {
        let rates = [one, other].map(|point| point.transfers_per_second);
        let larger = rates[0].max(rates[1]);
        if larger <= 0.0 || !are_of_one_size(one, other) {
            return None;
        }
        // Each is the best of the points of its curve.
        let among = first.usable().count().max(second.usable().count());
        let value = Peaks {
            groups: [first, second].map(|curve| curve.group.clone()),
            axis: first.axis.clone(),
            highest: rates,
            apart: gate
                .is_shown(one.figure, other.figure, among)
                .then(|| (rates[1] - rates[0]).abs() / larger),
        };
        let all = first.points.iter().chain(&second.points).map(|point| point.figure);
        Some(gate.leaving_out(all, gate.state(vec![one.figure, other.figure], value)))
    };
    compared.flat_map(|workloads| pairs(&workloads).collect::<Vec<_>>()).filter_map(peaks).collect()
}

/// Medians of both rates may be of different passes, so their ratio may not be a whole number.
fn are_of_one_size(one: &CurvePoint, other: &CurvePoint) -> bool {
    let [a, b] = [one, other].map(|point| match point.transfers_per_second > 0.0 {
        true => point.bytes_per_second / point.transfers_per_second,
        false => 0.0,
    });
    (a - b).abs() <= a.max(b) * 0.01
}

/// Which of `curves` coincide in each chart of at most [`CHARTED_MAX`] of them, which are those of one workload,
/// target, client and axis: groups of at least two curves, by index, whose points are within the noise of each other.
/// Disqualified points are left out, and curves with fewer than two values in common never coincide.
///
/// Points are equal if they differ by less than 2 % ([`ALIKE_SHARE`]), or by less than two standard errors of the
/// difference of two means; the limit is 5 % if a point was not repeated.
#[must_use]
pub fn coincident(curves: &[Curve]) -> Vec<Vec<usize>> {
    let charts = families(curves, |_| None).into_iter().filter(|chart| chart.len() <= CHARTED_MAX);
    let in_chart = charts.flat_map(|chart| {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for place in chart {
            // Each curve is compared with the first of its group, so that a chain of neighbours does not join curves
            // that are far apart.
            match groups.iter_mut().find(|group| alike(&curves[group[0]], &curves[place])) {
                Some(group) => group.push(place),
                None => groups.push(vec![place]),
            }
        }
        groups
    });
    in_chart.filter(|group| group.len() > 1).collect()
}

fn alike(one: &Curve, other: &Curve) -> bool {
    let common: Vec<_> = in_common(one.usable(), other.usable()).collect();
    common.len() > 1 && common.into_iter().all(|(a, b)| points_alike(a, b))
}

fn points_alike(a: &CurvePoint, b: &CurvePoint) -> bool {
    let repeated = a.headline.n > 1 && b.headline.n > 1;
    let share = if repeated { ALIKE_SHARE } else { ALIKE_SHARE_UNREPEATED };
    let error = |point: &CurvePoint| point.headline.deviation_sample.powi(2) / point.headline.n as f64;
    let noise = STANDARD_ERRORS * (error(a) + error(b)).sqrt();
    (a.rate - b.rate).abs() <= noise.max(a.rate.max(b.rate) * share)
}

/// The indices of curves that are compared with each other.
fn families(curves: &[Curve], phase: impl Fn(&Curve) -> Option<Phase>) -> Vec<Vec<usize>> {
    grouped(0..curves.len(), |&place| {
        let curve = &curves[place];
        (curve.group.as_str(), curve.target.as_str(), curve.client, phase(curve), curve.axis.as_str())
    })
}
