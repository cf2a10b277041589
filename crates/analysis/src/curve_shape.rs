//! What each sweep looks like, as statements.

use plan::{Bytes, Nanos, Setting, SettingValue};

use crate::curve::{Curve, CurveRegression, Shape};
use crate::gate::{Gate, Kind, Stated};
use crate::headline::RateOf;
use crate::table::{Column, Of, Quantity, Statement, Value};

/// Points below which a curve has no shape worth a statement.
const POINTS_LEAST: usize = 3;
/// Share of the variance below which a straight line is no description of a curve.
const EXPLAINED_LEAST: f64 = 0.9;

/// What a curve looks like.
#[derive(Debug, Clone, PartialEq)]
pub struct CurveShape {
    /// The swept key.
    pub axis: String,
    /// The other swept keys.
    pub fixed: Vec<Setting>,
    /// Where the rate is highest, and all else; places are on the axis.
    pub peak: Option<f64>,
    /// What it looks like.
    pub shape: Shape,
    /// The straight line through it, where that explains it.
    pub line: Option<CurveRegression>,
    /// A value of the axis, which says in which unit it is.
    value: SettingValue,
    counts: RateOf,
}

impl Statement for CurveShape {
    const KIND: Kind = Kind::CurveShape;
    const OF: Of = Of::Sweep;
    const CAPTION: &'static str = "Where the rate is highest, bends (knee), reaches 95 % of it, \
         stands out from both neighbours (sweet spot) or falls regularly (dips; negative depths are peaks); and what one \
         more of the key adds, ± half of its 95 % interval";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::text("axis", |one: &Self| one.axis.clone(), "The swept key.").headed("over").subject(),
        Column::setting("peak", |one: &Self| one.place(one.peak), "Where the rate is highest.")
            .headed("highest at"),
        Column::setting(
            "sweet_spot",
            |one: &Self| one.place(one.shape.sweet_spot),
            "Stands out from both neighbours.",
        )
        .headed("sweet spot"),
        Column::setting("knee", |one: &Self| one.place(one.shape.knee), "Where the rise ends."),
        Column::setting(
            "plateau_from",
            |one: &Self| one.place(one.plateau(false)),
            "Within 10 % of the highest from here.",
        )
        .detail(),
        Column::setting("plateau_to", |one: &Self| one.place(one.plateau(true)), "To here.").detail(),
        Column::setting(
            "reaches_90",
            |one: &Self| one.place(one.shape.reaches_90),
            "The least with 90 % of the highest rate.",
        )
        .detail(),
        Column::setting(
            "reaches_95",
            |one: &Self| one.place(one.shape.reaches_95),
            "The least with 95 % of it.",
        )
        .headed("95 % at"),
        Column::share(
            "spread_beyond",
            |one: &Self| one.shape.spread_beyond,
            "From 95 % on, the largest distance from it.",
        )
        .headed("then below it by"),
        Column::setting(
            "dips_period",
            |one: &Self| one.place(one.shape.dips.map(|dips| dips.period)),
            "Dips come back after it.",
        )
        .headed("dips every"),
        Column::share(
            "dips_depth",
            |one: &Self| Some(one.shape.dips?.depth),
            "Depth ÷ the rate beside the dip.",
        )
        .headed("depth"),
        Column::rate(
            "slope_per_second",
            |one: &Self| one.of_line(|line| line.slope),
            "What one more of the key adds.",
        )
        .headed("one more adds"),
        Column::rate(
            "slope_half_width_per_second",
            |one: &Self| one.of_line(|line| line.slope_half_width),
            "Half of its interval.",
        )
        .headed("±"),
        Column::number(
            "r_squared",
            |one: &Self| Some(one.line.as_ref()?.r_squared),
            "Variance that the line explains.",
        )
        .headed("R²"),
        Column::new(
            "at",
            "at",
            Quantity::List,
            |one: &Self| Value::List(one.fixed.iter().map(ToString::to_string).collect()),
            "The other swept keys.",
        )
        .below(),
    ];
}

impl CurveShape {
    /// A share of reads is told as the share of writes as well.
    fn place(&self, at: Option<f64>) -> Value {
        let mix = |at: f64| SettingValue::Word(format!("{:.0} % writes", 100.0 - at));
        let is_mix = self.axis == "read_percent";
        Value::or_none(at, |at| Value::Setting(if is_mix { mix(at) } else { on_axis(&self.value, at) }))
    }

    fn plateau(&self, end: bool) -> Option<f64> {
        let (from, to) = self.shape.plateau.filter(|(from, to)| from < to)?;
        Some(if end { to } else { from })
    }

    fn of_line(&self, value: impl FnOnce(&CurveRegression) -> f64) -> Value {
        Value::or_none(self.line.as_ref(), |line| Value::Rate(value(line), self.counts))
    }

    fn says_something(&self) -> bool {
        let Shape { knee, reaches_90, reaches_95, sweet_spot, dips, .. } = &self.shape;
        let any = [*knee, *reaches_90, *reaches_95, *sweet_spot, self.plateau(false)];
        any.iter().any(Option::is_some) || dips.is_some() || self.line.is_some()
    }
}

/// A number on an axis, as the values of the axis are written.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a value of the same axis, which holds whole numbers above 0; a cast saturates"
)]
pub(crate) fn on_axis(of_axis: &SettingValue, value: f64) -> SettingValue {
    let whole = value.round() as u64;
    match of_axis {
        SettingValue::Bytes(_) => SettingValue::Bytes(Bytes(whole)),
        SettingValue::Time(_) => SettingValue::Time(Nanos(whole)),
        SettingValue::Count(_) => SettingValue::Count(whole),
        _ => SettingValue::Number(value),
    }
}

/// Every curve of which there is something to say. Disqualified points have no part in it.
pub(crate) fn of_gate(
    gate: &Gate<'_>,
    curves: &[Curve],
    lines: &[CurveRegression],
) -> Vec<Stated<CurveShape>> {
    let of_curve = |(place, curve): (usize, &Curve)| {
        let all = || curve.points.iter().map(|point| point.figure);
        let inputs = all().filter(|&place| gate.is_usable(place)).collect();
        let is_line = |line: &&CurveRegression| {
            line.curve == place
                && line.slope.abs() > line.slope_half_width
                && line.r_squared >= EXPLAINED_LEAST
        };
        let value = CurveShape {
            axis: curve.axis.clone(),
            fixed: curve.fixed.clone(),
            peak: curve.shape.peak.map(|peak| curve.points[peak].x),
            shape: curve.shape.clone(),
            line: lines.iter().find(is_line).cloned(),
            value: curve.points.first()?.at.clone(),
            counts: RateOf::phase(curve.phase),
        };
        value.says_something().then(|| gate.leaving_out(all(), gate.state(Kind::CurveShape, inputs, value)))
    };
    curves
        .iter()
        .enumerate()
        .filter(|(_, curve)| curve.points.len() >= POINTS_LEAST)
        .filter_map(of_curve)
        .collect()
}
