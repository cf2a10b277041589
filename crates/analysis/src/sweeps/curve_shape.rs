//! The shape of each sweep, as statements.

use plan::{Bytes, Nanos, SettingValue};

use crate::audit::Use;
use crate::figures::{NODES, RateOf, TASKS, TASKS_PER_NODE, texts};
use crate::gate::{
    Gate, Kind, Of, Stated, Statement, Value,
    table::{Column, below, detail, list, number, rate, setting, share, subject, word},
};
use crate::statistics::{Regression, Sample, rises_straight, whole};
use crate::sweeps::{Curve, Shape};

/// The minimum number of points for a shape that is worth stating.
const POINTS_LEAST: usize = 3;
/// The minimum share of the variance that a straight line has to explain to describe a curve.
const EXPLAINED_LEAST: f64 = 0.9;

/// The shape of a curve.
#[derive(Debug, Clone, PartialEq)]
pub struct CurveShape {
    /// The curve.
    pub curve: Curve,
    /// The straight line through it, if that explains the curve.
    pub line: Option<Regression>,
}

impl Statement for CurveShape {
    const KIND: Kind = Kind::CurveShape;
    const OF: Of = Of::Sweep;
    const COUNTS: Option<fn(&Self) -> RateOf> = Some(|one| RateOf::phase(one.curve.phase));
    const CAPTION: &'static str = "Where the rate is highest, bends (knee), reaches 95 % of it, \
         stands out from both neighbours (sweet spot) or falls regularly (dips; negative depths are peaks); and what one \
         more of the key adds, ± half of its 95 % interval";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(word("axis", "over", "The swept key.", |one| &one.curve.axis)),
        setting("peak", "highest at", "Where the rate is highest.", |one| one.place(one.peak())),
        setting("sweet_spot", "sweet spot", "Stands out from both neighbours.", |one| {
            one.place(one.curve.shape.sweet_spot)
        }),
        setting("knee", "knee", "Where the rise ends.", |one| one.place(one.curve.shape.knee)),
        detail(setting("plateau_from", "plateau from", "Within 10 % of the highest from here.", |one| {
            one.place(one.plateau(false))
        })),
        detail(setting("plateau_to", "plateau to", "To here.", |one| one.place(one.plateau(true)))),
        detail(setting(
            "reaches_90",
            "reaches 90",
            "The lowest value with 90 % of the highest rate.",
            |one| one.place(one.curve.shape.reaches_90),
        )),
        setting("reaches_95", "95 % at", "The lowest value with 95 % of it.", |one| {
            one.place(one.curve.shape.reaches_95)
        }),
        share("spread_beyond", "then lower by up to", "From 95 % on, the largest distance from it.", |one| {
            one.curve.shape.spread_beyond
        }),
        setting("dips_period", "dips every", "Distance after which dips recur.", |one| {
            one.place(one.curve.shape.dips.map(|dips| dips.period))
        }),
        share("dips_depth", "depth", "Depth ÷ the rate beside the dip.", |one| {
            Some(one.curve.shape.dips?.depth)
        }),
        rate("slope_per_second", "one more adds", "What one more of the key adds.", |one| {
            Some(one.line.as_ref()?.slope)
        }),
        rate("slope_half_width_per_second", "±", "Half of its interval.", |one| {
            Some(one.line.as_ref()?.uncertainty?.slope_half_width)
        }),
        number("r_squared", "R²", "Variance that the line explains.", |one| {
            Some(one.line.as_ref()?.r_squared)
        }),
        below(list("at", "at", "The other swept keys.", |one| texts(&one.curve.fixed))),
    ];
}

impl CurveShape {
    /// A share of reads is shown as the share of writes as well.
    fn place(&self, at: Option<f64>) -> Value {
        let setting = |at: f64| match self.curve.axis == "read_percent" {
            true => SettingValue::Word(format!("{:.0} % writes", 100.0 - at)),
            false => on_axis(&self.curve.points[0].at, at),
        };
        Value::or_none(at, |at| Value::Setting(setting(at)))
    }

    fn peak(&self) -> Option<f64> {
        Some(self.curve.points[self.curve.shape.peak?].x)
    }

    fn plateau(&self, end: bool) -> Option<f64> {
        let (from, to) = self.curve.shape.plateau.filter(|(from, to)| from < to)?;
        Some(if end { to } else { from })
    }

    fn says_something(&self) -> bool {
        let Shape { knee, reaches_90, reaches_95, sweet_spot, dips, .. } = &self.curve.shape;
        let any = [*knee, *reaches_90, *reaches_95, *sweet_spot, self.plateau(false)];
        any.iter().any(Option::is_some) || dips.is_some() || self.line.is_some()
    }
}

/// Converts a number on an axis to the kind of value of that axis.
pub(crate) fn on_axis(of_axis: &SettingValue, value: f64) -> SettingValue {
    match of_axis {
        SettingValue::Bytes(_) => SettingValue::Bytes(Bytes(whole(value.round()))),
        SettingValue::Time(_) => SettingValue::Time(Nanos(whole(value.round()))),
        SettingValue::Count(_) => SettingValue::Count(whole(value.round())),
        _ => SettingValue::Number(value),
    }
}

/// Every curve with something to state. Disqualified points are left out.
pub(crate) fn of_gate(gate: &Gate<'_>, curves: &[Curve]) -> Vec<Stated<CurveShape>> {
    let of_curve = |curve: &Curve| {
        let all = || curve.points.iter().map(|point| point.figure);
        let inputs = all().filter(|&place| gate.is_usable(place)).collect();
        let value = CurveShape { line: line(curve), curve: curve.clone() };
        let state = || gate.leaving_out(all(), gate.state_as(Use::Compared, inputs, value.clone()));
        value.says_something().then(state)
    };
    curves.iter().filter(|curve| curve.points.len() >= POINTS_LEAST).filter_map(of_curve).collect()
}

/// A straight line through a curve over a number of nodes or tasks, if the curve is not flat and the repetitions do
/// not show that it is not straight. There is none for a curve that saturates or has a disqualified point.
fn line(curve: &Curve) -> Option<Regression> {
    let samples: Vec<Sample> = curve.points.iter().map(Sample::from).collect();
    let straight =
        is_counted(curve) && curve.points.iter().all(|point| point.usable) && rises_straight(&samples);
    let line = regression(curve).filter(|_| straight)?;
    let rises = line.slope.abs() > line.uncertainty?.slope_half_width;
    (rises && line.r_squared >= EXPLAINED_LEAST).then_some(line)
}

/// Whether the curve is over a key that counts parallel workers, so that the slope of a straight line is the gain per
/// additional one.
pub(crate) fn is_counted(curve: &Curve) -> bool {
    [NODES, TASKS, TASKS_PER_NODE].contains(&curve.axis.as_str())
}

/// The line through a curve. Returns `None` if it has fewer than three points.
pub(crate) fn regression(curve: &Curve) -> Option<Regression> {
    let (x, y): (Vec<f64>, Vec<f64>) = curve.points.iter().map(|point| (point.x, point.rate)).unzip();
    Regression::of(&x, &y).filter(|line| line.uncertainty.is_some())
}
