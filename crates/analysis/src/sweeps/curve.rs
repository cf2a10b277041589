//! Rates against a swept key, and what such a curve looks like: peak, knee, plateau, saturation, sweet spot.

use plan::{Client, Phase, Setting, SettingValue};

use crate::statistics::{FIT_POINTS_LEAST, Model, Sample, Summary, bends_at, lack_of_fit::lack_of_fit};
use crate::sweeps::{Dips, dips::dips};

/// A plateau stays within this share of the peak.
pub const PLATEAU_SHARE: f64 = 0.10;
/// The knee is at least this far from the chord, where the curve and its axis are both 1 long.
pub const KNEE_DISTANCE_MIN: f64 = 0.10;
/// Below this rise, as a share of the peak, a curve is flat and has no knee.
pub const KNEE_RISE_MIN: f64 = 0.10;
/// Below this share of the rate two points are alike, whatever their repetitions say.
pub const ALIKE_SHARE: f64 = 0.02;
/// The same where nothing was repeated and the noise is not known.
pub const ALIKE_SHARE_UNREPEATED: f64 = 0.05;
/// Standard errors by which a point stands out; with four, one of 30,000 pairs does by chance.
const STANDARD_ERRORS: f64 = 4.0;
/// Standard error of a median ÷ that of a mean of normal values: √(π/2).
const MEDIAN_ERROR: f64 = 1.253_314;
/// An axis that ends below this multiple of its begin is shown in even steps.
const GEOMETRIC_SPAN_MIN: f64 = 4.0;

/// Rates of one workload against one swept key; everything else is fixed.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Curve {
    pub group: String,
    pub target: String,
    /// Where the measuring program ran; figures of different clients are never on one curve.
    pub client: Client,
    pub phase: Phase,
    /// The swept key on the x axis, as in `tasks`.
    pub axis: String,
    /// The other swept keys and their values, the target left out.
    pub fixed: Vec<Setting>,
    pub points: Vec<CurvePoint>,
    pub shape: Shape,
}

/// One point of a curve.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct CurvePoint {
    pub figure: usize,
    /// The value of the swept key.
    pub at: SettingValue,
    /// The same as a number: bytes, nanoseconds or a count.
    pub x: f64,
    /// Nothing disqualifies the figure.
    pub usable: bool,
    /// The rate that the curve is of, [`crate::figures::Figure::headline`]: one of the next two.
    pub rate: f64,
    pub bytes_per_second: f64,
    pub transfers_per_second: f64,
    /// Of the repetitions that count, of [`CurvePoint::rate`].
    pub headline: Summary,
    /// Mean latency of all transfers that count.
    pub latency_mean_ns: Option<f64>,
    /// Tasks × depth that the latency predicts by Little's law ÷ tasks × depth that ran.
    pub little: Option<f64>,
    /// Share of the sum of all targets that the number of tasks can reach; 1 where they divide.
    pub balance_bound: f64,
}

/// What a curve looks like, as far as repetitions show it. Values are on the x axis, rates are those of
/// [`CurvePoint::rate`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shape {
    /// Where the rate is highest, as an index into the points.
    pub peak: Option<usize>,
    /// Where the rise ends: the farthest point from the chord of the normalised curve.
    pub knee: Option<f64>,
    /// From where to where the rate stays within 10 % of the peak.
    pub plateau: Option<(f64, f64)>,
    /// Smallest value that reaches 90 % of the peak.
    pub reaches_90: Option<f64>,
    /// Smallest value that reaches 95 % of the peak.
    pub reaches_95: Option<f64>,
    /// Largest distance from the peak beyond [`Shape::reaches_95`], as a share of the peak.
    pub spread_beyond: Option<f64>,
    /// The highest point inside the curve that stands out from both neighbours beyond the noise.
    pub sweet_spot: Option<f64>,
    /// Regular dips or peaks.
    pub dips: Option<Dips>,
}

impl From<&CurvePoint> for Sample {
    fn from(point: &CurvePoint) -> Self {
        Self { y: point.rate, ..Self::of(point.x, &point.headline) }
    }
}

/// What is stated of the shape of a curve over `points` in rising order of x, of those that are not disqualified: what
/// the repetitions do not explain. Of a curve that [`lack_of_fit`] does not tell from a flat one only the peak; a knee
/// only where the curve bends there by [`bends_at`], and a plateau where it is no straight line.
pub(crate) fn shape_shown(points: &[CurvePoint]) -> Shape {
    let usable: Vec<usize> = (0..points.len()).filter(|&place| points[place].usable).collect();
    let samples: Vec<Sample> = usable.iter().map(|&place| Sample::from(&points[place])).collect();
    if samples.len() < points.len() && samples.len() < FIT_POINTS_LEAST {
        return Shape::default();
    }
    let all = shape(&samples);
    let peak = all.peak.map(|place| usable[place]);
    if lack_of_fit(&samples, Model::Flat) != Some(true) {
        return Shape { peak, ..Shape::default() };
    }
    let straight = lack_of_fit(&samples, Model::Straight) != Some(true);
    Shape {
        peak,
        knee: all.knee.filter(|&knee| {
            let on_axis = axis(&samples);
            let bent = samples.iter().map(|one| Sample { x: on_axis(one.x), ..*one });
            bends_at(&bent.collect::<Vec<_>>(), on_axis(knee))
        }),
        plateau: all.plateau.filter(|_| !straight),
        ..all
    }
}

/// The shape of a curve whose points stand in rising order of x, whatever their scatter.
#[must_use]
pub fn shape(samples: &[Sample]) -> Shape {
    let Some(peak) = peak(samples) else { return Shape::default() };
    let reaches_95 = reaches(samples, 0.95);
    Shape {
        peak: Some(peak),
        knee: knee(samples),
        plateau: plateau(samples, PLATEAU_SHARE),
        reaches_90: reaches(samples, 0.90),
        reaches_95,
        spread_beyond: reaches_95.and_then(|from| spread_beyond(samples, from)),
        sweet_spot: sweet_spot(samples),
        dips: dips(&samples.iter().map(|sample| (sample.x, sample.y)).collect::<Vec<_>>()),
    }
}

/// The first point with the highest rate; none where no rate is above 0.
fn peak(samples: &[Sample]) -> Option<usize> {
    let highest = samples.iter().map(|sample| sample.y).fold(0.0, f64::max);
    samples.iter().position(|sample| sample.y == highest && highest > 0.0)
}

/// The farthest point above the chord of the normalised curve, from its first point to its last,
/// or to its peak where it falls by more than [`PLATEAU_SHARE`] after it. The axis is logarithmic
/// where the sweep is [`geometric`].
///
/// Source: Satopää, Albrecht, Irwin, Raghavan, "Finding a 'Kneedle' in a Haystack: Detecting Knee
/// Points in System Behavior", ICDCS workshops 2011, section III, with one knee, the highest local
/// maximum of the difference curve, and a fixed least distance in place of their sensitivity.
#[must_use]
pub fn knee(samples: &[Sample]) -> Option<f64> {
    let peak = peak(samples)?;
    let falls = samples.last()?.y < samples[peak].y * (1.0 - PLATEAU_SHARE);
    let rise = if falls { &samples[..=peak] } else { samples };
    let place = axis(samples);
    let on_axis = |sample: &Sample| place(sample.x);
    let (first, last) = (rise.first()?, rise.last()?);
    let (width, height) = (on_axis(last) - on_axis(first), samples[peak].y - first.y);
    if rise.len() < 3 || width <= 0.0 || height < samples[peak].y * KNEE_RISE_MIN {
        return None;
    }
    // The chord ends at the height of 1 even where the last point is a little below the peak.
    let distance =
        |sample: &Sample| (sample.y - first.y) / height - (on_axis(sample) - on_axis(first)) / width;
    let inner = &rise[1..rise.len() - 1];
    let knee = inner.iter().max_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    (distance(knee) >= KNEE_DISTANCE_MIN).then_some(knee.x)
}

/// Where a value stands on the axis of a curve: at its logarithm where the sweep is [`geometric`].
fn axis(samples: &[Sample]) -> fn(f64) -> f64 {
    let logarithmic = geometric(&samples.iter().map(|sample| sample.x).collect::<Vec<_>>());
    if logarithmic { f64::log2 } else { |value| value }
}

/// Whether values on an axis grow by a factor: their logarithms are spaced more evenly than they are themselves.
#[must_use]
pub fn geometric(values: &[f64]) -> bool {
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return false };
    if values.len() < 3 || *first <= 0.0 || last / first < GEOMETRIC_SPAN_MIN {
        return false;
    }
    let unevenness = |value: fn(f64) -> f64| {
        let steps: Vec<f64> = values.windows(2).map(|pair| value(pair[1]) - value(pair[0])).collect();
        Summary::of(&steps).map_or(f64::INFINITY, |summary| summary.variation)
    };
    unevenness(f64::log2) < unevenness(|value| value)
}

/// From where to where the rate stays within `share` of the peak; none where that is the peak alone.
pub(crate) fn plateau(samples: &[Sample], share: f64) -> Option<(f64, f64)> {
    let peak = peak(samples)?;
    let least = samples[peak].y * (1.0 - share);
    let high = |sample: &&Sample| sample.y >= least;
    let after = samples[peak..].iter().take_while(high).count();
    let before = samples[..peak].iter().rev().take_while(high).count();
    (before + after > 1).then(|| (samples[peak - before].x, samples[peak + after - 1].x))
}

/// The smallest value at which the rate is at least `share` of the peak.
pub(crate) fn reaches(samples: &[Sample], share: f64) -> Option<f64> {
    let least = samples[peak(samples)?].y * share;
    samples.iter().find(|sample| sample.y >= least).map(|sample| sample.x)
}

/// Largest distance from the peak at points beyond `from`, as a share of the peak.
pub(crate) fn spread_beyond(samples: &[Sample], from: f64) -> Option<f64> {
    let peak = samples[peak(samples)?].y;
    let lowest = samples.iter().filter(|sample| sample.x > from).map(|sample| sample.y).reduce(f64::min)?;
    Some((peak - lowest) / peak)
}

/// The share of a rate by which two points have to differ to be told apart: four standard errors
/// of the difference of two medians, with the deviation pooled over all points, and at least
/// [`ALIKE_SHARE`].
fn noise_share(samples: &[Sample]) -> f64 {
    let repeated = || samples.iter().filter(|one| one.repetitions > 1 && one.y > 0.0);
    let sum = |of: fn(&Sample) -> f64| repeated().map(of).sum::<f64>();
    let freedom = |one: &Sample| (one.repetitions - 1) as f64;
    let degrees: f64 = repeated().map(freedom).sum();
    if degrees == 0.0 {
        return ALIKE_SHARE_UNREPEATED;
    }
    let squares: f64 = repeated().map(|one| (one.deviation / one.y).powi(2) * freedom(one)).sum();
    let inverse = sum(|one| 1.0 / one.repetitions as f64) / sum(|_| 1.0);
    (STANDARD_ERRORS * MEDIAN_ERROR * (squares / degrees).sqrt() * (2.0 * inverse).sqrt()).max(ALIKE_SHARE)
}

/// The value of a point inside the curve that is above both neighbours by more than
/// the noise: the peak where it is one, else the highest that is.
#[must_use]
pub fn sweet_spot(samples: &[Sample]) -> Option<f64> {
    let noise = noise_share(samples);
    let above = |one: &Sample, other: &Sample| one.y - other.y > one.y * noise;
    let stands_out = |around: &&[Sample]| above(&around[1], &around[0]) && above(&around[1], &around[2]);
    let spots = samples.windows(3).filter(stands_out).map(|around| &around[1]);
    spots.max_by(|a, b| a.y.total_cmp(&b.y)).map(|sample| sample.x)
}
