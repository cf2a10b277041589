//! Checks a fit on points that it was not made from: those with most transfers in flight are left out,
//! and predicted.

use super::core::{Estimate, Fit};
use super::network::{Load, Nodes};
use super::sweep::{Direction, Point, Sweep};

/// One in this many points is left out: those with most in flight and, among equal ones, with the largest
/// transfers.
const LEFT_OUT: usize = 4;
/// Maximum half width of a meaningful interval, as a share of the rate.
const HALF_WIDTH_MAX: f64 = 0.15;

/// The check of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// The points that were left out and predicted.
    pub held: Vec<Held>,
    /// Why the model must not be used beyond what was measured, or `None` if it may be.
    pub refused: Option<String>,
}

/// A point that was left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// Description of the point.
    pub point: String,
    /// Transfers per second predicted by the fit of the other points, with the ends of the 95 % interval.
    pub predicted: [f64; 3],
    /// Measured transfers per second.
    pub measured: f64,
}

/// Fits the lower points of `sweep`, and predicts the upper ones. `whole` is the fit of all points.
pub(super) fn check(sweep: &Sweep, nodes: Nodes, seed: u64, whole: &Fit) -> Checked {
    let mut checked = Checked { held: Vec::new(), refused: None };
    let mut refuse = |reason: String| {
        checked.refused.get_or_insert(reason);
    };
    let parted: Vec<(Direction, Vec<Point>)> = sweep.directions.iter().map(part).collect();
    let lower: Vec<Direction> = parted.iter().map(|(lower, _)| lower.clone()).collect();
    let Some(fit) = Fit::of(&lower, nodes, seed) else {
        refuse("no parameters fit the points without the upper ones".to_owned());
        return checked;
    };
    for (index, (lower, upper)) in parted.iter().enumerate() {
        let direction = direction(lower.writes);
        let is_saturated = fit.is_saturated(index);
        if !is_saturated && lower.ceilings == [None; 2] {
            let most = lower.points.last().map_or(1, |point| point.load.in_flight());
            refuse(format!(
                "{direction}: up to {most} in flight no limit of the storage was reached, and the study \
                 states no ceiling: measure more in flight, or add an [[expectation]] with `ceiling = true`"
            ));
        }
        for point in upper {
            let predicted = match is_saturated {
                true => fit.predict(index, point),
                false => between(&fit, index, lower, point),
            };
            let measured = point.mean()[0].exp() * 1e9;
            let named = format!("{direction}, {}", named(point.load));
            let half_width = predicted.half_width();
            if half_width > HALF_WIDTH_MAX {
                refuse(format!(
                    "{named}: the interval of the prediction is ±{:.0} %, but the maximum is ±{:.0} %",
                    half_width * 100.0,
                    HALF_WIDTH_MAX * 100.0
                ));
            } else if !(predicted.low..=predicted.high).contains(&measured) {
                refuse(format!(
                    "{named}: {measured:.0} transfers/s were measured, but {:.0} to {:.0} were predicted",
                    predicted.low, predicted.high
                ));
            }
            checked.held.push(Held {
                point: named,
                predicted: [predicted.value, predicted.low, predicted.high],
                measured,
            });
        }
        if !whole.is_saturated(index) && lower.ceilings == [None; 2] {
            refuse(format!("{direction}: no limit of the storage was reached"));
        }
    }
    checked
}

/// The points of a direction that are used for the fit, and those that are left out.
fn part(direction: &Direction) -> (Direction, Vec<Point>) {
    let count = direction.points.len();
    let (lower, upper) = direction.points.split_at(count - count.div_ceil(LEFT_OUT));
    (Direction { points: lower.to_vec(), ..direction.clone() }, upper.to_vec())
}

/// If no limit was observed: the interval from the highest measured rate to the rate permitted by the
/// response time or the ceilings of the study.
fn between(fit: &Fit, index: usize, lower: &Direction, point: &Point) -> Estimate {
    let highest = lower.points.iter().map(|one| one.mean()[0].exp() * 1e9).fold(0.0, f64::max);
    let station = &fit.joint.solutions[index].station;
    let bytes = point.load.bytes;
    let response = fit.nodes.request_ns + station.pause_ns(bytes) + station.service_ns(bytes);
    let alone = f64::from(point.load.in_flight()) / response * 1e9;
    let [operations, bandwidth] = lower.ceilings;
    let ceilings = operations.into_iter().chain(bandwidth.map(|rate| rate / bytes as f64));
    let most = ceilings.fold(alone, f64::min).max(highest);
    // The ends correspond to 95 % of a normal distribution.
    let off = (1.96 * fit.off(index, point)).exp();
    Estimate { value: highest.midpoint(most), low: highest / off, high: most * off }
}

pub(super) const fn direction(writes: bool) -> &'static str {
    if writes { "writes" } else { "reads" }
}

/// Describes a point: `4 tasks × depth 8, 4 KiB`.
pub(super) fn named(load: Load) -> String {
    let tasks = if load.tasks == 1 { "1 task".to_owned() } else { format!("{} tasks", load.tasks) };
    format!("{tasks} × depth {}, {}", load.depth, plan::Bytes(load.bytes))
}
