//! The spread of repetitions over file size, and the size from which on it increases.

use plan::SettingValue;

use crate::audit::Use;
use crate::figures::Subject;
use crate::gate::{
    Gate, Kind, Of, Stated, Statement, Value,
    table::{Column, seconds, setting, subject, word},
};
use crate::sweeps::{Curve, CurvePoint};

/// Repetitions spread more than before if their deviation is this many times the previous one: with five repetitions
/// per size, one of two hundred pairs of sizes differs this much by chance.
pub const ONSET_FACTOR: f64 = 3.0;
/// The spread at the size of the onset must be at least this many times that of the sizes before.
const ONSET_POINT_FACTOR: f64 = 2.0;
/// The minimum number of sizes before an onset, so that there is something to compare with.
const BEFORE_MIN: usize = 2;
/// The spread of repetitions is assumed to be at least this share of the rate.
const VARIATION_MIN: f64 = 1e-3;

/// Spread of repetitions over a swept size.
#[derive(Debug, Clone, PartialEq)]
pub struct Dispersion {
    /// The curve.
    pub curve: Curve,
    /// Its points that were repeated and are not disqualified.
    pub points: Vec<DispersionPoint>,
    /// The value from which on the repetitions spread more than before.
    pub onset: Option<SettingValue>,
    /// Maximum minus minimum time of one phase, over all points, in seconds.
    pub worst_seconds: f64,
}

/// The repetitions at one size.
#[derive(Debug, Clone, PartialEq)]
pub struct DispersionPoint {
    /// The point.
    pub point: CurvePoint,
    /// Maximum minus minimum time of the phase, in seconds.
    pub seconds: f64,
    /// Bytes per task.
    pub bytes_per_task: u64,
}

/// The statements for `curves`.
pub(crate) fn of_gate(gate: &Gate<'_>, curves: &[Curve]) -> Vec<Stated<Dispersion>> {
    let state = |curve: &Curve| {
        let one = dispersion(gate, curve)?;
        let inputs = one.points.iter().map(|one| one.point.figure).collect();
        let stated = gate.state_as(Use::Compared, inputs, one);
        Some(gate.leaving_out(curve.points.iter().map(|point| point.figure), stated))
    };
    curves.iter().filter_map(state).collect()
}

/// The spread of the repetitions along a curve on which the bytes per task grow while tasks and transfer size stay
/// the same, without disqualified points. Points that were measured once, or for a fixed time, have no spread of
/// their times and are left out.
#[must_use]
pub fn dispersion(gate: &Gate<'_>, curve: &Curve) -> Option<Dispersion> {
    let subjects: Vec<&Subject<'_>> =
        curve.points.iter().map(|point| gate.subject(point.figure)).collect::<Option<_>>()?;
    if !is_over_size(&subjects) {
        return None;
    }
    let point = |(point, subject): (&CurvePoint, &&Subject<'_>)| {
        let times = || subject.figure.counted().map(|one| one.phase.wall_ns);
        let seconds = (times().max()? - times().min()?) as f64 / 1e9;
        let bytes_per_task = bytes_per_task(subject);
        let repeated = point.usable && point.headline.n > 1;
        repeated.then(|| DispersionPoint { point: point.clone(), seconds, bytes_per_task })
    };
    let points: Vec<_> = curve.points.iter().zip(&subjects).filter_map(point).collect();
    let spreads: Vec<_> =
        points.iter().map(|one| (one.point.headline.n, one.point.headline.variation)).collect();
    let enough = spreads.iter().all(|(n, _)| *n >= Kind::Dispersion.policy().least);
    let onset = onset(&spreads).filter(|_| enough).map(|place| points[place].point.at.clone());
    let worst_seconds = points.iter().map(|one| one.seconds).reduce(f64::max)?;
    Some(Dispersion { curve: curve.clone(), points, onset, worst_seconds })
}

impl Statement for Dispersion {
    const KIND: Kind = Kind::Dispersion;
    const OF: Of = Of::Sweep;
    const CAPTION: &'static str = "The size from which the repetitions spread more than before; empty where \
         there is none. Deviation: longest − shortest time of a phase, the largest of all sizes";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(word("axis", "over", "The swept key.", |one| &one.curve.axis)),
        setting("onset", "spread more from", "The value from which the repetitions spread more.", |one| {
            Value::or_none(one.onset.clone(), Value::Setting)
        }),
        seconds("worst_seconds", "largest deviation", "The largest deviation.", |one| {
            Some(one.worst_seconds)
        }),
    ];
}

fn bytes_per_task(subject: &Subject<'_>) -> u64 {
    let workload = &subject.case.workload;
    let each =
        workload.work.kind().operation_bytes(subject.figure.phase).unwrap_or(workload.geometry.transfer);
    workload.transfers_per_pass().saturating_mul(each.0)
}

/// Whether file sizes grow along the curve and nothing else changes.
fn is_over_size(subjects: &[&Subject<'_>]) -> bool {
    let grows = |pair: &[&Subject<'_>]| {
        let [a, b] = [pair[0], pair[1]].map(|one| &one.case.workload);
        let alike = a.tasks == b.tasks && a.geometry.transfer == b.geometry.transfer && a.work == b.work;
        alike && bytes_per_task(pair[0]) < bytes_per_task(pair[1])
    };
    subjects.windows(2).all(grows) && subjects.iter().all(|one| one.case.workload.duration.is_none())
}

/// The index from which on repetitions spread at least [`ONSET_FACTOR`] times as far as before, given the number of
/// repetitions and their coefficient of variation at each size, in ascending order.
///
/// The most likely place for a single change of the variance of normal values is taken: the one with the smallest sum
/// over both sides of degrees of freedom × ln(variance). Source: the likelihood of D. M. Hawkins, "Testing a sequence
/// of observations for a shift in location", Journal of the American Statistical Association 72, 1977, with the
/// variance instead of the mean.
///
/// ```
/// let spreads = [(5, 0.01), (5, 0.012), (5, 0.009), (5, 0.08), (5, 0.11), (5, 0.09)];
/// assert_eq!(analysis::sweeps::onset(&spreads), Some(3));
/// ```
#[must_use]
pub fn onset(spreads: &[(usize, f64)]) -> Option<usize> {
    // Cumulative sums of squares and degrees of freedom before each place, so that pooling takes constant time.
    let mut before = vec![(0.0, 0.0)];
    for (n, variation) in spreads {
        let (squares, degrees) = before[before.len() - 1];
        let freedom = n.saturating_sub(1) as f64;
        before.push((squares + variation.max(VARIATION_MIN).powi(2) * freedom, degrees + freedom));
    }
    let (all_squares, all_degrees) = before[spreads.len()];
    let split = |place: usize| {
        let (squares, degrees) = before[place];
        let later_degrees = all_degrees - degrees;
        let (variance, later) = (squares / degrees, (all_squares - squares) / later_degrees);
        let unlikely = degrees * variance.ln() + later_degrees * later.ln();
        (degrees > 0.0 && later_degrees > 0.0).then_some((place, variance, later, unlikely))
    };
    let (place, variance, later, _) =
        (BEFORE_MIN..spreads.len()).filter_map(split).min_by(|one, other| one.3.total_cmp(&other.3))?;
    let stays = |from: &[(usize, f64)]| {
        let more = from.iter().filter(|(_, variation)| *variation > ONSET_POINT_FACTOR * variance.sqrt());
        more.count() * 2 > from.len()
    };
    let begins = stays(&spreads[place..=place]);
    (later / variance >= ONSET_FACTOR * ONSET_FACTOR && begins && stays(&spreads[place..])).then_some(place)
}
