//! Curves laid over each other: where they are farthest apart, and which cannot be told apart.

use std::collections::HashMap;

use plan::{Client, Phase, SettingValue};

use crate::curve::{Curve, CurvePoint};
use crate::curve_shape::on_axis;
use crate::gate::{Gate, Kind, Stated};
use crate::headline::RateOf;
use crate::shape::{ALIKE_SHARE, ALIKE_SHARE_UNREPEATED};
use crate::table::{Column, Of, Statement, Value};

/// With more curves than this beside each other, pairs of them are no comparison any more.
pub const OVERLAID_MAX: usize = 4;
/// A chart of more curves than this has no legend that names those that coincide.
pub const CHARTED_MAX: usize = 64;
/// Standard errors within which two points are alike.
const STANDARD_ERRORS: f64 = 2.0;

/// Where two curves are farthest apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Overlay {
    /// A curve, by its place in [`crate::Findings::curves`].
    pub first: usize,
    /// The other one.
    pub second: usize,
    /// The values of the other keys of both; the same where a sweep was measured twice.
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
        Column::text("first", |one: &Self| one.fixed[0].clone(), "The other keys of the first line.")
            .subject(),
        Column::text("second", |one: &Self| one.fixed[1].clone(), "Those of the second.").subject(),
        Column::text("axis", |one: &Self| one.axis.clone(), "The swept key.").headed("over").subject(),
        Column::setting("at", |one: &Self| Value::Setting(one.at.clone()), "Where they are farthest apart."),
        Column::change(
            "difference",
            |one: &Self| Some(one.difference),
            "(Second − first) ÷ the larger of both.",
        ),
    ];
}

/// Pairs of points at the same value of the axis; both lists stand in rising order.
fn in_common<'a, P>(
    first: &'a [P],
    second: &'a [P],
    x: impl Fn(&P) -> f64,
) -> impl Iterator<Item = (&'a P, &'a P)> {
    let mut rest = second;
    first.iter().filter_map(move |point| {
        while rest.first().is_some_and(|other| x(other) < x(point)) {
            rest = &rest[1..];
        }
        rest.first().filter(|other| x(other) == x(point)).map(|other| (point, other))
    })
}

/// The largest difference of each pair of curves of one workload, target, client, phase and axis:
/// of two numbers of processes, or of a sweep that was measured twice, where it is shown among all points that both
/// have in common. Families of more than [`OVERLAID_MAX`] curves are left out.
#[must_use]
pub(crate) fn overlays(gate: &Gate<'_>, curves: &[Curve]) -> Vec<Stated<Overlay>> {
    let mut overlays = Vec::new();
    let usable = |curve: &Curve| -> Vec<CurvePoint> {
        curve.points.iter().filter(|point| point.usable).cloned().collect()
    };
    let lines: Vec<Vec<CurvePoint>> = curves.iter().map(usable).collect();
    for family in families(curves, |curve| Some(curve.phase)) {
        if family.len() > OVERLAID_MAX {
            continue;
        }
        for (place, &first) in family.iter().enumerate() {
            for &second in &family[place + 1..] {
                let pairs: Vec<_> = in_common(&lines[first], &lines[second], |point| point.x).collect();
                let apart = |(one, other): &(&CurvePoint, &CurvePoint)| {
                    (other.rate - one.rate) / one.rate.max(other.rate)
                };
                let largest = pairs.iter().filter(|(one, other)| one.rate.max(other.rate) > 0.0);
                let largest = largest.max_by(|a, b| apart(a).abs().total_cmp(&apart(b).abs()));
                let shown = |(one, other): &&(&CurvePoint, &CurvePoint)| {
                    gate.is_stated(one.figure, other.figure, pairs.len())
                };
                if let Some(pair) = largest.filter(shown) {
                    let fixed = |place: usize| {
                        curves[place].fixed.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
                    };
                    let overlay = Overlay {
                        first,
                        second,
                        fixed: [first, second].map(fixed),
                        axis: curves[first].axis.clone(),
                        at: on_axis(&pair.0.at, pair.0.x),
                        difference: apart(pair),
                    };
                    let all = curves[first].points.iter().chain(&curves[second].points);
                    let stated = gate.state(Kind::Overlay, vec![pair.0.figure, pair.1.figure], overlay);
                    overlays.push(gate.leaving_out(all.map(|point| point.figure), stated));
                }
            }
        }
    }
    overlays
}

/// The peaks of two curves of different workloads over the same axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Peaks {
    /// Both workloads.
    pub groups: [String; 2],
    /// The key that both sweep.
    pub axis: String,
    /// The highest transfers per second of the first.
    pub first_transfers_per_second: f64,
    /// The highest transfers per second of the second.
    pub second_transfers_per_second: f64,
    /// |second − first| ÷ the larger of the two; none where no difference is shown.
    pub apart: Option<f64>,
}

impl Statement for Peaks {
    const KIND: Kind = Kind::Peaks;
    const OF: Of = Of::Target;
    const CAPTION: &'static str = "Highest IOPS of two workloads that sweep the same key, and how far they are apart, where a difference is shown";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::text("axis", |one: &Self| one.axis.clone(), "The swept key.").headed("over").subject(),
        Column::text("first", |one: &Self| one.groups[0].clone(), "A workload.").subject(),
        Column::rate(
            "first_per_second",
            |one: &Self| Value::Rate(one.first_transfers_per_second, RateOf::Operations),
            "Its highest IOPS.",
        )
        .headed("its peak"),
        Column::text("second", |one: &Self| one.groups[1].clone(), "Another workload.").subject(),
        Column::rate(
            "second_per_second",
            |one: &Self| Value::Rate(one.second_transfers_per_second, RateOf::Operations),
            "Its highest IOPS.",
        )
        .headed("its peak"),
        Column::share(
            "apart",
            |one: &Self| one.apart,
            "|Second − first| ÷ the larger of both, where a difference is shown.",
        ),
    ];
}

/// How far the peaks of transfers per second are apart for each pair of workloads that sweep the same
/// key of one target, as block sizes in steps of 4 KiB and in powers of two. Peaks of transfers of different sizes
/// are not compared. Of several curves of a workload the
/// highest stands for it; of more than [`OVERLAID_MAX`] workloads none are compared. Disqualified points are none.
#[must_use]
pub(crate) fn peaks(gate: &Gate<'_>, curves: &[Curve]) -> Vec<Stated<Peaks>> {
    let mut families: Vec<(PeakKey<'_>, Vec<(usize, Highest)>)> = Vec::new();
    let mut places: HashMap<PeakKey<'_>, usize> = HashMap::new();
    for (place, curve) in curves.iter().enumerate().filter(|(_, curve)| curve.points.len() > 1) {
        let usable = curve.points.iter().filter(|point| point.usable);
        let highest = usable.max_by(|a, b| a.transfers_per_second.total_cmp(&b.transfers_per_second));
        let Some(peak) = highest.map(Highest::of) else { continue };
        let key = (curve.target.as_str(), curve.client, curve.phase, curve.axis.as_str());
        let family = *places.entry(key).or_insert_with(|| {
            families.push((key, Vec::new()));
            families.len() - 1
        });
        let members = &mut families[family].1;
        match members.iter_mut().find(|(other, _)| curves[*other].group == curve.group) {
            Some(highest) if peak.rate > highest.1.rate => *highest = (place, peak),
            Some(_) => {}
            None => members.push((place, peak)),
        }
    }
    let mut found = Vec::new();
    for (_, members) in families.iter().filter(|(_, members)| members.len() <= OVERLAID_MAX) {
        for (index, &(first, one)) in members.iter().enumerate() {
            for &(second, other) in &members[index + 1..] {
                let larger = f64::max(one.rate, other.rate);
                if larger > 0.0 && one.is_of_the_size_of(other) {
                    let value = Peaks {
                        groups: [first, second].map(|place| curves[place].group.clone()),
                        axis: curves[first].axis.clone(),
                        first_transfers_per_second: one.rate,
                        second_transfers_per_second: other.rate,
                        apart: gate
                            .is_stated(one.figure, other.figure, 1)
                            .then(|| (other.rate - one.rate).abs() / larger),
                    };
                    let all = curves[first].points.iter().chain(&curves[second].points);
                    let stated = gate.state(Kind::Peaks, vec![one.figure, other.figure], value);
                    found.push(gate.leaving_out(all.map(|point| point.figure), stated));
                }
            }
        }
    }
    found
}

/// The highest rate of a curve, and bytes of each of its transfers.
#[derive(Clone, Copy)]
struct Highest {
    figure: usize,
    rate: f64,
    transfer_bytes: f64,
}

impl Highest {
    fn of(point: &CurvePoint) -> Self {
        let rate = point.transfers_per_second;
        Self {
            figure: point.figure,
            rate,
            transfer_bytes: if rate > 0.0 { point.bytes_per_second / rate } else { 0.0 },
        }
    }

    /// Medians of both rates may be of different passes, so that their ratio is no whole number.
    fn is_of_the_size_of(self, other: Self) -> bool {
        let larger = self.transfer_bytes.max(other.transfer_bytes);
        (self.transfer_bytes - other.transfer_bytes).abs() <= larger * 0.01
    }
}

/// What the workloads whose peaks are compared have in common.
type PeakKey<'a> = (&'a str, Client, Phase, &'a str);

/// Which of `curves` are drawn over each other: groups of at least two whose points are within the
/// noise of each other, by their places. Curves over different axes are never alike, nor are those
/// with fewer than two values in common.
///
/// Points are alike where they differ by less than 2 % ([`ALIKE_SHARE`]), or by less than two
/// standard errors of the difference of two means; 5 % where a point was not repeated.
#[must_use]
pub fn coincident(curves: &[Curve]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (place, curve) in curves.iter().enumerate() {
        // Each is compared with the first of its group, so that a chain of neighbours does not
        // join curves that are far apart.
        match groups.iter_mut().find(|group| alike(&curves[group[0]], curve)) {
            Some(group) => group.push(place),
            None => groups.push(vec![place]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

/// [`coincident`] within each chart of at most [`CHARTED_MAX`] curves: those of one workload, target,
/// client and axis.
pub(crate) fn coincident_in_charts(curves: &[Curve]) -> Vec<Vec<usize>> {
    let mut all = Vec::new();
    for chart in families(curves, |_| None).into_iter().filter(|chart| chart.len() <= CHARTED_MAX) {
        let of_chart: Vec<Curve> = chart.iter().map(|&place| curves[place].clone()).collect();
        let places = |group: Vec<usize>| group.into_iter().map(|place| chart[place]).collect();
        all.extend(coincident(&of_chart).into_iter().map(places));
    }
    all
}

fn alike(one: &Curve, other: &Curve) -> bool {
    let mut common = 0;
    one.axis == other.axis
        && in_common(&one.points, &other.points, |point| point.x).all(|(a, b)| {
            common += 1;
            points_alike(a, b)
        })
        && common > 1
}

fn points_alike(a: &CurvePoint, b: &CurvePoint) -> bool {
    let larger = a.rate.max(b.rate);
    let repeated = a.repetitions > 1 && b.repetitions > 1;
    let share = if repeated { ALIKE_SHARE } else { ALIKE_SHARE_UNREPEATED };
    let error = |point: &CurvePoint| point.deviation.powi(2) / point.repetitions.max(1) as f64;
    let noise = STANDARD_ERRORS * (error(a) + error(b)).sqrt();
    (a.rate - b.rate).abs() <= noise.max(larger * share)
}

/// What curves that are looked at together have in common.
type FamilyKey<'a> = (&'a str, &'a str, Client, Option<Phase>, &'a str);

fn families(curves: &[Curve], phase: impl Fn(&Curve) -> Option<Phase>) -> Vec<Vec<usize>> {
    let mut places: HashMap<FamilyKey<'_>, usize> = HashMap::new();
    let mut families: Vec<Vec<usize>> = Vec::new();
    for (place, curve) in curves.iter().enumerate() {
        let key =
            (curve.group.as_str(), curve.target.as_str(), curve.client, phase(curve), curve.axis.as_str());
        let family = *places.entry(key).or_insert_with(|| {
            families.push(Vec::new());
            families.len() - 1
        });
        families[family].push(place);
    }
    families
}
