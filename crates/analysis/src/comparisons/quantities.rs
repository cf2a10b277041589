//! The quantities that claims compare, computed from own figures and curves.

use std::collections::HashSet;

use plan::{Bytes, Operation, Quantity, Selector, SettingValue};

use crate::figures::{LARGE_TRANSFER, RateOf, RepetitionFigure, Subject, label};
use crate::gate::{Gate, Judgement};
use crate::nodes::comparison;
use crate::statistics::{Sample, Summary, median};
use crate::sweeps::{Curve, is_counted, regression, shape};

/// The data that claims are tested on.
#[derive(Debug)]
pub(crate) struct Amounts<'a> {
    pub(crate) gate: &'a Gate<'a>,
    pub(crate) curves: &'a [Curve],
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measured {
    pub(crate) value: f64,
    /// The same quantity for each pass alone; empty if a pass has none.
    pub(crate) passes: Vec<f64>,
    /// The number of figures of which this is the best or the lowest.
    pub(crate) among: usize,
    /// Which figure, or how many figures.
    pub(crate) what: String,
    /// The value of the axis, if the quantity is one: it determines the unit.
    pub(crate) setting: Option<SettingValue>,
    /// The figures that the value is based on.
    pub(crate) by: Vec<usize>,
    /// What is counted, if it is a rate.
    pub(crate) counts: RateOf,
}

/// Why a side has no value, and whether measuring again would change that.
pub(crate) type Missing = (Judgement, String);

impl Measured {
    fn new(value: f64, passes: Vec<f64>, what: String, by: Vec<usize>) -> Self {
        Self { value, passes, among: 1, what, setting: None, by, counts: RateOf::Bytes }
    }

    fn among(self, among: usize) -> Self {
        Self { among, ..self }
    }
}

impl<'a> Amounts<'a> {
    /// The quantity over the selected figures, or the reason why there is none. Rates are the first rates of their
    /// phases unless the rule says what to count.
    pub(crate) fn of(
        &self,
        quantity: Quantity,
        selector: &Selector,
        counts: Option<RateOf>,
    ) -> Result<Measured, Missing> {
        let takes = |one: &&Subject<'a>| selector.takes(one.case, one.figure.phase);
        let chosen: Vec<&Subject<'a>> = self.gate.subjects.iter().filter(takes).collect();
        let untested = |reason: String| (Judgement::NotTested, reason);
        if chosen.is_empty() {
            return Err(untested("none of it was measured".to_owned()));
        }
        if let Some(reason) = self.gate.incomplete(selector) {
            return Err(untested(reason));
        }
        let first = chosen[0].figure.rate_of();
        if counts.is_none() && chosen.iter().any(|one| one.figure.rate_of() != first) {
            let reason = "its rates count bytes in some phases and operations in others: name a phase";
            return Err(untested(reason.to_owned()));
        }
        let counts = counts.unwrap_or(first);
        let measured = self.measured(quantity, &chosen, counts).map_err(untested)?;
        match self.gate.doubtful(&measured.by) {
            Some(reason) => Err((Judgement::CannotTell, reason)),
            None => Ok(Measured { counts, ..measured }),
        }
    }

    /// The size of all transfers that `selectors` take, if it is one below [`LARGE_TRANSFER`].
    pub(crate) fn small_transfer(&self, selectors: [&Selector; 2]) -> Option<Bytes> {
        let takes =
            |one: &&Subject<'_>| selectors.iter().any(|selector| selector.takes(one.case, one.figure.phase));
        let mut chosen = self.gate.subjects.iter().filter(takes);
        let size = |one: &Subject<'_>| one.case.transfer().filter(|_| one.figure.rate_of() == RateOf::Bytes);
        let first = chosen.next().and_then(&size).filter(|size| *size < LARGE_TRANSFER)?;
        chosen.all(|one| size(one) == Some(first)).then_some(first)
    }

    fn measured(
        &self,
        quantity: Quantity,
        chosen: &[&Subject<'a>],
        counts: RateOf,
    ) -> Result<Measured, String> {
        let of = |one: &Subject<'_>| one.figure.counting(counts).median;
        let rates: Vec<f64> = chosen.iter().map(|one| of(one)).collect();
        let all = || chosen.iter().map(|subject| subject.index).collect();
        let rate = |one: &Subject<'_>, by| {
            let passes = one.figure.passes_counting(counts);
            Ok(Measured::new(of(one), passes, label(one), by).among(chosen.len()))
        };
        let on_curve = |none: &str, value: fn(&Curve) -> Option<f64>| {
            of_one(chosen, &self.curves_of(chosen), none, value)
        };
        match quantity {
            Quantity::BestRate => {
                let best = fastest(chosen, counts);
                rate(best, vec![best.index])
            }
            // A doubtful figure may appear faster than it is, and may really be the lowest.
            Quantity::LowestRate => {
                let lowest = chosen.iter().min_by(|one, other| of(one).total_cmp(&of(other)));
                rate(lowest.unwrap_or(&chosen[0]), all())
            }
            Quantity::TypicalRate => {
                let value = median(&rates).ok_or("its rates are not numbers")?;
                let what = match chosen {
                    [only] => label(only),
                    _ => format!("median of {} points", chosen.len()),
                };
                Ok(Measured::new(value, each_pass(chosen, counts, median), what, all()))
            }
            Quantity::Variation => {
                let value = variation(&rates).ok_or("variation needs at least two points")?;
                let first = chosen[0].case.target.as_str();
                let same = chosen.iter().all(|subject| subject.case.target == first);
                let target = if same && !first.is_empty() { first } else { "all" };
                let what = format!("{target}, {} points", chosen.len());
                Ok(Measured::new(value, each_pass(chosen, counts, variation), what, all()))
            }
            Quantity::RepetitionSpread => {
                let repeated = chosen.iter().filter(|subject| subject.figure.headline().n > 1);
                let spread = |subject: &&&Subject<'_>| subject.figure.headline().variation;
                let most = repeated.max_by(|one, other| spread(one).total_cmp(&spread(other)));
                let most = most.ok_or("spread needs at least two repetitions")?;
                Ok(Measured::new(spread(&most), Vec::new(), label(most), all()))
            }
            Quantity::Latency => latency(chosen),
            Quantity::CpuShare => cpu_share(chosen),
            Quantity::BestAt => {
                let best = fastest(chosen, counts);
                let mut curves = self.curves_of(chosen);
                curves.retain(|curve| curve.points.iter().any(|point| point.figure == best.index));
                let at = |curve: &Curve| Some(curve.points[curve.shape.peak?].x);
                let measured = of_one(chosen, &curves, "no rate above 0", at)?;
                Ok(Measured { what: label(best), ..measured })
            }
            Quantity::Knee => on_curve("no knee", |curve| curve.shape.knee),
            Quantity::PlateauFrom => on_curve("no plateau", |curve| Some(curve.shape.plateau?.0)),
            Quantity::Reaches90 => on_curve("no rise that repetitions show", |curve| curve.shape.reaches_90),
            // The points from 90 % of the peak onwards.
            Quantity::VariationBeyond => {
                on_curve("fewer than two points from 90 % of the peak on", |curve| {
                    let from = curve.shape.reaches_90?;
                    let beyond = curve.points.iter().filter(|point| point.x >= from).map(|point| point.rate);
                    variation(&beyond.collect::<Vec<_>>())
                })
            }
            // R² of the line through the curve over nodes or tasks; there may be other curves.
            Quantity::RSquared => {
                let mut curves = self.curves_of(chosen);
                curves.retain(|curve| is_counted(curve));
                of_one(chosen, &curves, "no line of three points", |curve| Some(regression(curve)?.r_squared))
            }
            Quantity::SlowestShare => slowest_share(chosen),
        }
    }

    /// The curves of the chosen figures. Other curves only share some of their points with them.
    fn curves_of(&self, chosen: &[&Subject<'_>]) -> Vec<&'a Curve> {
        let places: HashSet<usize> = chosen.iter().map(|subject| subject.index).collect();
        let is_chosen = |curve: &&Curve| curve.points.iter().all(|point| places.contains(&point.figure));
        self.curves.iter().filter(is_chosen).collect()
    }
}

/// The result of `value` for the only one of `curves`.
fn of_one(
    chosen: &[&Subject<'_>],
    curves: &[&Curve],
    none: &str,
    value: impl Fn(&Curve) -> Option<f64>,
) -> Result<Measured, String> {
    let curve = match *curves {
        [] => return Err("it is not on a curve".to_owned()),
        [curve] => curve,
        _ => {
            let axes: Vec<&str> = curves.iter().map(|curve| curve.axis.as_str()).collect();
            let axes = format!("{} curves, over {}", axes.len(), axes.join(" and "));
            return Err(format!("it is on {axes}: fix the other keys with `at`"));
        }
    };
    let all = value(curve).ok_or_else(|| format!("{none} in the curve over {}", curve.axis))?;
    let by: Vec<usize> = curve.points.iter().map(|point| point.figure).collect();
    let subject = |figure: &usize| chosen.iter().copied().find(|one| one.index == *figure);
    let subjects: Vec<&Subject<'_>> = by.iter().filter_map(subject).collect();
    let passes = each_pass(&subjects, chosen[0].figure.rate_of(), |rates| {
        let mut pass = curve.clone();
        for (point, &rate) in pass.points.iter_mut().zip(rates) {
            point.rate = rate;
        }
        pass.shape = shape(&pass.points.iter().map(Sample::from).collect::<Vec<_>>());
        value(&pass)
    });
    let setting = curve.points.first().map(|point| point.at.clone());
    Ok(Measured { setting, ..Measured::new(all, passes, curve.target.clone(), by) })
}

/// The result of `of` for the rates of each pass alone; empty if a pass has no such value, or if the figures have
/// different numbers of passes.
fn each_pass(chosen: &[&Subject<'_>], counts: RateOf, of: impl Fn(&[f64]) -> Option<f64>) -> Vec<f64> {
    let rates: Vec<Vec<f64>> = chosen.iter().map(|subject| subject.figure.passes_counting(counts)).collect();
    let n = rates.first().map_or(0, Vec::len);
    if rates.iter().any(|one| one.len() != n) {
        return Vec::new();
    }
    let pass = |pass: usize| of(&rates.iter().map(|one| one[pass]).collect::<Vec<_>>());
    (0..n).map(pass).collect::<Option<_>>().unwrap_or_default()
}

/// The coefficient of variation of several values.
fn variation(values: &[f64]) -> Option<f64> {
    Summary::of(values).filter(|all| all.n > 1).map(|all| all.variation)
}

/// The first figure with the highest rate.
fn fastest<'b, 'a>(chosen: &[&'b Subject<'a>], counts: RateOf) -> &'b Subject<'a> {
    let rate = |one: &Subject<'_>| one.figure.counting(counts).median;
    chosen.iter().copied().fold(chosen[0], |best, one| if rate(one) > rate(best) { one } else { best })
}

/// The largest measured rate ÷ (nodes × slowest) among the figures of several nodes.
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
    let passes = bound.passes.iter().map(|rate| rate / bound.slowest.bound).collect();
    let what = format!("{}, slowest {limits}", label(subject));
    let among = by.len();
    Ok(Measured::new(value, passes, what, by).among(among))
}

/// The smallest mean over all transfers.
fn latency(chosen: &[&Subject<'_>]) -> Result<Measured, String> {
    let of = |subject: &Subject<'_>| subject.figure.phase.operation().unwrap_or(Operation::Read);
    let mean = |subject: &&Subject<'_>| Some(subject.figure.response(of(subject))?.mean_ns());
    let means = || chosen.iter().filter_map(|subject| Some((*subject, mean(subject)?)));
    let (best, value) =
        means().min_by(|one, other| one.1.total_cmp(&other.1)).ok_or("no latencies were recorded")?;
    let passes = best.figure.counted().filter_map(|one| Some(one.response(of(best))?.mean_ns())).collect();
    Ok(Measured::new(value, passes, label(best), vec![best.index]).among(means().count()))
}

/// Processor time ÷ (wall time × tasks) at the best point.
fn cpu_share(chosen: &[&Subject<'_>]) -> Result<Measured, String> {
    let best = fastest(chosen, chosen[0].figure.rate_of());
    if best.figure.is_concurrent {
        return Err("processor time is that of all workloads at the same time".to_owned());
    }
    let tasks = f64::from(best.case.tasks().ok_or("the number of tasks is not printed")?);
    let used = |one: &RepetitionFigure| (one.phase.user_cpu_ns + one.phase.system_cpu_ns) as f64;
    let wall = |one: &RepetitionFigure| one.phase.wall_ns as f64 * tasks;
    let all_wall: f64 = best.figure.counted().map(wall).sum();
    if all_wall <= 0.0 {
        return Err("no time was recorded".to_owned());
    }
    let all_used: f64 = best.figure.counted().map(used).sum();
    let passes = best.figure.counted().map(|one| used(one) / wall(one)).collect();
    Ok(Measured::new(all_used / all_wall, passes, label(best), vec![best.index]).among(chosen.len()))
}
