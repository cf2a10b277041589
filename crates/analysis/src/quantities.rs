//! The quantities that claims compare, taken from own figures and curves.

use std::collections::HashSet;

use plan::{Bytes, Nanos, Quantity, Selector, SettingValue};
use record::Operation;

use crate::curve::Sample;
use crate::curve_shape::{is_counted, regression};
use crate::gate::Gate;
use crate::node_comparison::comparison;
use crate::shape::shape;
use crate::subject::{Subject, label};
use crate::summary::median;
use crate::table::Standing;
use crate::{Curve, RateOf, Summary, operation_of};

/// What claims are tested on.
#[derive(Debug)]
pub(crate) struct Amounts<'a> {
    pub(crate) gate: &'a Gate<'a>,
    pub(crate) curves: &'a [Curve],
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measured {
    pub(crate) value: f64,
    /// The same of each pass alone; empty where a pass has none.
    pub(crate) passes: Vec<f64>,
    /// Of so many it is the best or the lowest.
    pub(crate) among: usize,
    /// Which figure or how many.
    pub(crate) what: String,
    /// A value of the axis, where the value is one: it says in which unit the axis is.
    pub(crate) setting: Option<SettingValue>,
    /// The figures that the value hangs on.
    pub(crate) by: Vec<usize>,
    /// What it counts, where it is a rate.
    pub(crate) counts: RateOf,
}

/// Why there is no value of a side, and whether measuring again would change that.
pub(crate) type Missing = (Standing, String);

impl Measured {
    fn new(value: f64, passes: Vec<f64>, what: String, by: Vec<usize>) -> Self {
        Self { value, passes, among: 1, what, setting: None, by, counts: RateOf::Bytes }
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
    pub(crate) fn of(&self, quantity: Quantity, selector: &Selector) -> Result<Measured, Missing> {
        let chosen: Vec<&Subject<'a>> = self
            .gate
            .subjects
            .iter()
            .filter(|subject| selector.takes(subject.case, subject.figure.phase))
            .collect();
        let untested = |reason: String| (Standing::NotTested, reason);
        if chosen.is_empty() {
            return Err(untested("nothing of it was measured".to_owned()));
        }
        if let Some(reason) = self.gate.incomplete(selector) {
            return Err(untested(reason));
        }
        if chosen.iter().any(|one| one.figure.rate_of() != chosen[0].figure.rate_of()) {
            let reason = "its rates count bytes in some phases and operations in others: name a phase";
            return Err(untested(reason.to_owned()));
        }
        let measured = self.measured(quantity, &chosen).map_err(untested)?;
        match self.gate.doubtful(&measured.by) {
            Some(reason) => Err((Standing::CannotTell, reason)),
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
            Quantity::Reaches90 => {
                self.on_curve(chosen, "no rise that repetitions show", |curve| curve.shape.reaches_90)
            }
            Quantity::VariationBeyond => {
                self.on_curve(chosen, "fewer than two points from 90 % of the peak on", variation_beyond)
            }
            Quantity::RSquared => self.on_counted_curve(chosen),
            Quantity::SlowestShare => slowest_share(chosen),
        }
    }

    /// The curves of the chosen figures: another one only passes through some of them.
    fn curves_of(&self, chosen: &[&Subject<'_>]) -> Vec<&'a Curve> {
        let places: HashSet<usize> = chosen.iter().map(|subject| subject.index).collect();
        let is_chosen = |curve: &&Curve| curve.points.iter().all(|point| places.contains(&point.figure));
        self.curves.iter().filter(is_chosen).collect()
    }

    fn best_at(&self, chosen: &[&Subject<'_>]) -> Result<Measured, String> {
        let best = best_of(chosen, |one, other| one > other).ok_or("nothing of it was measured")?;
        let mut curves = self.curves_of(chosen);
        curves.retain(|curve| curve.points.iter().any(|point| point.figure == best.index));
        let at = |curve: &Curve| Some(curve.points[curve.shape.peak?].x);
        of_one(chosen, &curves, "no rate above 0", at)
            .map(|measured| Measured { what: label(best), ..measured })
    }

    fn on_curve(
        &self,
        chosen: &[&Subject<'_>],
        none: &str,
        value: impl Fn(&Curve) -> Option<f64>,
    ) -> Result<Measured, String> {
        of_one(chosen, &self.curves_of(chosen), none, value)
    }

    /// R² of the line through the curve over nodes or tasks, of which there may be others.
    fn on_counted_curve(&self, chosen: &[&Subject<'_>]) -> Result<Measured, String> {
        let mut curves = self.curves_of(chosen);
        curves.retain(|curve| is_counted(curve));
        of_one(chosen, &curves, "no line of three points", |curve| Some(regression(curve)?.r_squared))
    }
}

/// What `value` says of the only one of `curves`.
fn of_one(
    chosen: &[&Subject<'_>],
    curves: &[&Curve],
    none: &str,
    value: impl Fn(&Curve) -> Option<f64>,
) -> Result<Measured, String> {
    match *curves {
        [] => Err("it is on no curve".to_owned()),
        [curve] => {
            let all = value(curve).ok_or_else(|| format!("{none} in the curve over {}", curve.axis))?;
            let on_curve: Vec<&Subject<'_>> = curve
                .points
                .iter()
                .filter_map(|point| chosen.iter().copied().find(|one| one.index == point.figure))
                .collect();
            let passes = each_pass(&on_curve, |rates| {
                let mut pass = curve.clone();
                for (point, &rate) in pass.points.iter_mut().zip(rates) {
                    point.rate = rate;
                }
                pass.shape = shape(&pass.points.iter().map(Sample::from).collect::<Vec<_>>());
                value(&pass)
            });
            let by = curve.points.iter().map(|point| point.figure).collect();
            let setting = curve.points.first().map(|point| point.at.clone());
            Ok(Measured { setting, ..Measured::new(all, passes, curve.target.clone(), by) })
        }
        _ => Err(several(curves.iter().map(|curve| curve.axis.as_str()))),
    }
}

/// What `of` says of the rates of each pass alone; empty where a pass has no such value, or figures have not as many
/// passes.
fn each_pass(chosen: &[&Subject<'_>], of: impl Fn(&[f64]) -> Option<f64>) -> Vec<f64> {
    let rates: Vec<Vec<f64>> = chosen.iter().map(|subject| passes(subject)).collect();
    let n = rates.first().map_or(0, Vec::len);
    if rates.iter().any(|one| one.len() != n) {
        return Vec::new();
    }
    let pass = |pass: usize| of(&rates.iter().map(|one| one[pass]).collect::<Vec<_>>());
    (0..n).map(pass).collect::<Option<_>>().unwrap_or_default()
}

/// The rate of each pass that counts.
fn passes(subject: &Subject<'_>) -> Vec<f64> {
    subject.figure.counted().filter_map(|one| subject.figure.headline_of(one)).collect()
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
        Some((*subject, bound.share?, bound))
    });
    let shares: Vec<_> = shares.collect();
    let by: Vec<usize> = shares.iter().map(|(subject, ..)| subject.index).collect();
    let largest = shares.into_iter().max_by(|one, other| one.1.total_cmp(&other.1));
    let (subject, value, bound) = largest.ok_or("none of it was measured on several nodes at once")?;
    let limits = match &bound.device {
        Some((device, _)) => format!("{} with {device}", bound.slowest.name),
        None => bound.slowest.name.clone(),
    };
    let passes = bound.passes.iter().map(|&rate| bound.slowest.share(rate)).collect();
    let what = format!("{}, slowest {limits}", label(subject));
    Ok(Measured { among: by.len(), ..Measured::new(value, passes, what, by) })
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

fn extreme(chosen: &[&Subject<'_>], better: impl Fn(f64, f64) -> bool) -> Result<Measured, String> {
    let best = best_of(chosen, better).ok_or("nothing of it was measured")?;
    let measured = Measured::new(best.rate(), passes(best), label(best), vec![best.index]);
    Ok(Measured { among: chosen.len(), ..measured })
}

fn coefficient(rates: &[f64]) -> Option<f64> {
    Summary::of(rates).filter(|all| all.n > 1).map(|all| all.variation)
}

fn medians(chosen: &[&Subject<'_>]) -> Vec<f64> {
    chosen.iter().map(|subject| subject.rate()).collect()
}

/// The median over all of them.
fn typical(chosen: &[&Subject<'_>]) -> Result<Measured, String> {
    let value = median(&medians(chosen)).ok_or("its rates are no numbers")?;
    let what = match chosen {
        [only] => label(only),
        _ => format!("median of {} points", chosen.len()),
    };
    Ok(Measured::new(value, each_pass(chosen, median), what, all(chosen)))
}

fn variation(chosen: &[&Subject<'_>]) -> Result<Measured, String> {
    let value = coefficient(&medians(chosen)).ok_or("variation needs at least two points")?;
    let what = format!("{}, {} points", target_of(chosen), chosen.len());
    Ok(Measured::new(value, each_pass(chosen, coefficient), what, all(chosen)))
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
    Ok(Measured::new(spread(&most), Vec::new(), label(most), all(chosen)))
}

/// The smallest mean over all transfers.
fn latency(chosen: &[&Subject<'_>]) -> Result<Measured, String> {
    let of = |subject: &Subject<'_>| operation_of(subject.figure.phase).unwrap_or(Operation::Read);
    let mean = |subject: &&Subject<'_>| Some(subject.figure.response(of(subject))?.mean_ns());
    let means: Vec<_> = chosen.iter().filter_map(|subject| Some((*subject, mean(subject)?))).collect();
    let among = means.len();
    let (best, value) = means
        .into_iter()
        .min_by(|one, other| one.1.total_cmp(&other.1))
        .ok_or("no latencies were recorded")?;
    let passes = best.figure.counted().filter_map(|one| Some(one.response(of(best))?.mean_ns())).collect();
    Ok(Measured { among, ..Measured::new(value, passes, label(best), vec![best.index]) })
}

/// Processor time ÷ (wall time × tasks) at the best point.
fn cpu_share(chosen: &[&Subject<'_>]) -> Result<Measured, String> {
    let best = best_of(chosen, |one, other| one > other).ok_or("nothing of it was measured")?;
    let tasks = f64::from(best.case.workload.tasks);
    let used = best.figure.counted().map(|one| {
        let phase = &one.phase;
        ((phase.user_cpu_ns + phase.system_cpu_ns) as f64, phase.wall_ns as f64 * tasks)
    });
    let used: Vec<(f64, f64)> = used.collect();
    let (cpu, wall) = used.iter().fold((0.0, 0.0), |all, pass| (all.0 + pass.0, all.1 + pass.1));
    if wall <= 0.0 {
        return Err("no time was recorded".to_owned());
    }
    let passes = used.iter().map(|(cpu, wall)| cpu / wall).collect();
    let measured = Measured::new(cpu / wall, passes, label(best), vec![best.index]);
    Ok(Measured { among: chosen.len(), ..measured })
}
