//! The quantities that claims compare, taken from own figures and curves.

use std::collections::HashSet;

use plan::{Bytes, Nanos, Quantity, Selector, SettingValue};
use record::Operation;

use crate::claims::label;
use crate::grounds::Grounds;
use crate::node_comparison::comparison;
use crate::study::{is_counted, regression};
use crate::subject::Subject;
use crate::{Curve, RateOf, Summary, operation_of};

/// What claims are tested on.
#[derive(Debug)]
pub(crate) struct Amounts<'a> {
    pub(crate) subjects: &'a [Subject<'a>],
    pub(crate) curves: &'a [Curve],
    pub(crate) grounds: Grounds<'a>,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measured {
    pub(crate) value: f64,
    /// Of the median over repetitions; none where there is no repetition behind the value.
    pub(crate) interval: Option<(f64, f64)>,
    /// Which figure or how many.
    pub(crate) what: String,
    /// A value of the axis, where the value is one: it says in which unit the axis is.
    pub(crate) setting: Option<SettingValue>,
    /// The figures that the value hangs on.
    pub(crate) by: Vec<usize>,
    /// What it counts, where it is a rate.
    pub(crate) counts: RateOf,
}

impl Measured {
    pub(crate) fn times(&self, factor: f64) -> Self {
        let interval = self.interval.map(|(low, high)| (low * factor, high * factor));
        Self { value: self.value * factor, interval, ..self.clone() }
    }

    pub(crate) fn low(&self) -> f64 {
        self.interval.map_or(self.value, |(low, _)| low)
    }

    pub(crate) fn high(&self) -> f64 {
        self.interval.map_or(self.value, |(_, high)| high)
    }
}

/// A number on an axis, as its settings are written.
pub(crate) fn on_axis(setting: Option<&SettingValue>, value: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a value of the same axis, which holds whole numbers above 0; a cast saturates"
    )]
    let whole = value.round() as u64;
    match setting {
        Some(SettingValue::Bytes(_)) => Bytes(whole).to_string(),
        Some(SettingValue::Time(_)) => Nanos(whole).to_string(),
        Some(SettingValue::Count(_)) => whole.to_string(),
        _ => value.to_string(),
    }
}

impl<'a> Amounts<'a> {
    /// The quantity over the selected figures, or why there is none.
    pub(crate) fn of(&self, quantity: Quantity, selector: &Selector) -> Result<Measured, String> {
        let chosen: Vec<&Subject<'a>> = self
            .subjects
            .iter()
            .filter(|subject| selector.takes(subject.case, subject.figure.phase))
            .collect();
        if chosen.is_empty() {
            return Err("nothing of it was measured".to_owned());
        }
        if let Some(reason) = self.grounds.incomplete(selector) {
            return Err(reason);
        }
        if chosen.iter().any(|one| one.figure.rate_of() != chosen[0].figure.rate_of()) {
            return Err(
                "its rates count bytes in some phases and operations in others: name a phase".to_owned()
            );
        }
        let measured = self.measured(quantity, &chosen)?;
        match self.grounds.doubtful(&measured.by) {
            Some(reason) => Err(reason),
            None => Ok(Measured { counts: chosen[0].figure.rate_of(), ..measured }),
        }
    }

    fn measured(&self, quantity: Quantity, chosen: &[&Subject<'a>]) -> Result<Measured, String> {
        match quantity {
            Quantity::BestRate => extreme(chosen, |one, other| one > other),
            // A doubtful figure may seem faster than it is, and be the lowest in truth.
            Quantity::LowestRate => {
                Ok(Measured { by: all(chosen), ..extreme(chosen, |one, other| one < other)? })
            }
            Quantity::TypicalRate => typical(chosen),
            Quantity::Variation => variation(chosen),
            Quantity::RepetitionSpread => repetition_spread(chosen),
            Quantity::Latency => latency(chosen),
            Quantity::CpuShare => cpu_share(chosen),
            Quantity::BestAt => self.best_at(chosen),
            Quantity::Knee => self.on_curve(chosen, "no knee", |curve| curve.shape.knee),
            Quantity::PlateauFrom => {
                self.on_curve(chosen, "no plateau", |curve| curve.shape.plateau.map(|(from, _)| from))
            }
            Quantity::Reaches90 => self.on_curve(chosen, "no rate above 0", |curve| curve.shape.reaches_90),
            Quantity::VariationBeyond => {
                self.on_curve(chosen, "fewer than two points from 90 % of the peak on", variation_beyond)
            }
            Quantity::RSquared => self.on_counted_curve(chosen),
            Quantity::SlowestShare => slowest_share(chosen),
        }
    }

    /// The curves that have one of the chosen figures among their points.
    fn curves_of(&self, chosen: &[&Subject<'_>]) -> Vec<&'a Curve> {
        let places: HashSet<usize> = chosen.iter().map(|subject| subject.index).collect();
        let has = |curve: &&Curve| curve.points.iter().any(|point| places.contains(&point.figure));
        self.curves.iter().filter(has).collect()
    }

    fn best_at(&self, chosen: &[&Subject<'_>]) -> Result<Measured, String> {
        let best = best_of(chosen, |one, other| one > other).ok_or("nothing of it was measured")?;
        let at: Vec<(&str, f64, &SettingValue)> = self
            .curves_of(&[best])
            .into_iter()
            .filter_map(|curve| {
                let point = curve.points.iter().find(|point| point.figure == best.index)?;
                Some((curve.axis.as_str(), point.x, &point.at))
            })
            .collect();
        match at[..] {
            [] => Err("the best figure is on no curve".to_owned()),
            [(_, value, setting)] => Ok(Measured {
                value,
                interval: None,
                what: label(best),
                setting: Some(setting.clone()),
                by: vec![best.index],
                counts: RateOf::Bytes,
            }),
            _ => Err(several(at.iter().map(|(axis, ..)| *axis))),
        }
    }

    fn on_curve(
        &self,
        chosen: &[&Subject<'_>],
        none: &str,
        value: impl Fn(&Curve) -> Option<f64>,
    ) -> Result<Measured, String> {
        of_one(&self.curves_of(chosen), none, value)
    }

    /// R² of the line through the curve over nodes or tasks, of which there may be others.
    fn on_counted_curve(&self, chosen: &[&Subject<'_>]) -> Result<Measured, String> {
        let mut curves = self.curves_of(chosen);
        curves.retain(|curve| is_counted(curve));
        of_one(&curves, "no line of three points", |curve| Some(regression(0, curve)?.r_squared))
    }
}

/// What `value` says of the only one of `curves`.
fn of_one(curves: &[&Curve], none: &str, value: impl Fn(&Curve) -> Option<f64>) -> Result<Measured, String> {
    match *curves {
        [] => Err("it is on no curve".to_owned()),
        [curve] => {
            let value = value(curve).ok_or_else(|| format!("{none} in the curve over {}", curve.axis))?;
            let setting = curve.points.first().map(|point| point.at.clone());
            let by = curve.points.iter().map(|point| point.figure).collect();
            Ok(Measured {
                value,
                interval: None,
                what: curve.target.clone(),
                setting,
                by,
                counts: RateOf::Bytes,
            })
        }
        _ => Err(several(curves.iter().map(|curve| curve.axis.as_str()))),
    }
}

/// The coefficient of variation of the points from 90 % of the peak on; none of one point.
fn variation_beyond(curve: &Curve) -> Option<f64> {
    let from = curve.shape.reaches_90?;
    let beyond = curve.points.iter().filter(|point| point.x >= from).map(|point| point.rate);
    Summary::of(&beyond.collect::<Vec<_>>()).filter(|all| all.n > 1).map(|all| all.variation)
}

/// The largest measured rate ÷ (nodes × slowest) of the figures of several nodes.
fn slowest_share(chosen: &[&Subject<'_>]) -> Result<Measured, String> {
    let shares = chosen.iter().filter_map(|subject| {
        let bound = comparison(subject, &[])?.bound?;
        let limits = match &bound.device {
            Some((device, _)) => format!("{} with {device}", bound.slowest.name),
            None => bound.slowest.name.clone(),
        };
        Some((*subject, bound.share?, limits))
    });
    let shares: Vec<_> = shares.collect();
    let by = shares.iter().map(|(subject, ..)| subject.index).collect();
    let largest = shares.into_iter().max_by(|one, other| one.1.total_cmp(&other.1));
    let (subject, value, limits) = largest.ok_or("none of it was measured on several nodes at once")?;
    let what = format!("{}, slowest {limits}", label(subject));
    Ok(Measured { value, interval: None, what, setting: None, by, counts: RateOf::Bytes })
}

fn all(chosen: &[&Subject<'_>]) -> Vec<usize> {
    chosen.iter().map(|subject| subject.index).collect()
}

fn several<'a>(axes: impl Iterator<Item = &'a str>) -> String {
    let axes: Vec<&str> = axes.collect();
    format!("it is on {} curves, over {}: fix the other keys with `at`", axes.len(), axes.join(" and "))
}

fn best_of<'a, 'b>(chosen: &[&'b Subject<'a>], better: impl Fn(f64, f64) -> bool) -> Option<&'b Subject<'a>> {
    chosen.iter().copied().reduce(|best, one| if better(one.rate(), best.rate()) { one } else { best })
}

fn interval(summary: &Summary) -> Option<(f64, f64)> {
    summary.median_interval.map(|interval| (interval.low, interval.high))
}

fn extreme(chosen: &[&Subject<'_>], better: impl Fn(f64, f64) -> bool) -> Result<Measured, String> {
    let best = best_of(chosen, better).ok_or("nothing of it was measured")?;
    let rate = best.figure.headline();
    Ok(Measured {
        value: rate.median,
        interval: interval(rate),
        what: label(best),
        setting: None,
        by: vec![best.index],
        counts: RateOf::Bytes,
    })
}

fn medians(chosen: &[&Subject<'_>]) -> Option<Summary> {
    let medians: Vec<f64> = chosen.iter().map(|subject| subject.rate()).collect();
    Summary::of(&medians)
}

/// The median over all of them. The interval is that of the repetitions where it is one figure;
/// several differ by their conditions, which is no scatter.
fn typical(chosen: &[&Subject<'_>]) -> Result<Measured, String> {
    if let [only] = chosen {
        let rate = only.figure.headline();
        return Ok(Measured {
            value: rate.median,
            interval: interval(rate),
            what: label(only),
            setting: None,
            by: all(chosen),
            counts: RateOf::Bytes,
        });
    }
    let rates = medians(chosen).ok_or("its rates are no numbers")?;
    let what = format!("median of {} points", rates.n);
    Ok(Measured {
        value: rates.median,
        interval: None,
        what,
        setting: None,
        by: all(chosen),
        counts: RateOf::Bytes,
    })
}

fn variation(chosen: &[&Subject<'_>]) -> Result<Measured, String> {
    let rates = medians(chosen).filter(|rates| rates.n > 1).ok_or("variation needs at least two points")?;
    let what = format!("{}, {} points", target_of(chosen), rates.n);
    Ok(Measured {
        value: rates.variation,
        interval: None,
        what,
        setting: None,
        by: all(chosen),
        counts: RateOf::Bytes,
    })
}

fn target_of(chosen: &[&Subject<'_>]) -> String {
    let first = chosen.first().map_or("", |subject| subject.case.target.as_str());
    let same = chosen.iter().all(|subject| subject.case.target == first);
    if same && !first.is_empty() { first.to_owned() } else { "all".to_owned() }
}

fn repetition_spread(chosen: &[&Subject<'_>]) -> Result<Measured, String> {
    let repeated = chosen.iter().filter(|subject| subject.figure.headline().n > 1);
    let spread = |subject: &&&Subject<'_>| subject.figure.headline().variation;
    let most = repeated.max_by(|one, other| spread(one).total_cmp(&spread(other)));
    let most = most.ok_or("spread needs at least two repetitions")?;
    Ok(Measured {
        value: spread(&most),
        interval: None,
        what: label(most),
        setting: None,
        by: all(chosen),
        counts: RateOf::Bytes,
    })
}

/// The smallest mean over all transfers; its interval is that of the means of the repetitions.
fn latency(chosen: &[&Subject<'_>]) -> Result<Measured, String> {
    let of = |subject: &Subject<'_>| operation_of(subject.figure.phase).unwrap_or(Operation::Read);
    let mean = |subject: &&Subject<'_>| Some(subject.figure.response(of(subject))?.mean_ns());
    let means = chosen.iter().filter_map(|subject| Some((*subject, mean(subject)?)));
    let (best, value) =
        means.min_by(|one, other| one.1.total_cmp(&other.1)).ok_or("no latencies were recorded")?;
    let repetitions = best.figure.repetitions.iter();
    let means: Vec<f64> = repetitions.filter_map(|one| Some(one.response(of(best))?.mean_ns)).collect();
    let interval = Summary::of(&means).as_ref().and_then(interval);
    Ok(Measured {
        value,
        interval,
        what: label(best),
        setting: None,
        by: vec![best.index],
        counts: RateOf::Bytes,
    })
}

/// Processor time ÷ (wall time × tasks) at the best point, over the repetitions that count.
fn cpu_share(chosen: &[&Subject<'_>]) -> Result<Measured, String> {
    let best = best_of(chosen, |one, other| one > other).ok_or("nothing of it was measured")?;
    let phases = best.figure.repetitions.iter().filter(|one| one.counts).map(|one| &one.phase);
    let (cpu, wall) = phases.fold((0.0, 0.0), |(cpu, wall), phase| {
        (cpu + (phase.user_cpu_ns + phase.system_cpu_ns) as f64, wall + phase.wall_ns as f64)
    });
    let value = cpu / (wall * f64::from(best.case.workload.tasks));
    match value.is_finite() {
        true => Ok(Measured {
            value,
            interval: None,
            what: label(best),
            setting: None,
            by: vec![best.index],
            counts: RateOf::Bytes,
        }),
        false => Err("no time was recorded".to_owned()),
    }
}
