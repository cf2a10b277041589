//! Rates over a swept key, and the shape of such a curve: peak, knee, plateau, saturation, sweet spot.

use plan::{Client, Phase, Setting, SettingValue};

use crate::statistics::{
    FIT_POINTS_LEAST, Model, Sample, Summary, bends_at, bends_once_at, lack_of_fit::lack_of_fit,
};
use crate::sweeps::{Dips, dips::dips, sweet_spot::sweet_spot, swept_axis::axis};

/// A plateau stays within this share of the peak.
pub const PLATEAU_SHARE: f64 = 0.10;
/// The minimum distance of a knee from the chord, with curve and axis both normalised to length 1.
pub const KNEE_DISTANCE_MIN: f64 = 0.10;
/// Below this rise, as a share of the peak, a curve is flat and has no knee.
pub const KNEE_RISE_MIN: f64 = 0.10;

/// Rates of one workload over one swept key; everything else is fixed.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Curve {
    pub group: String,
    pub target: String,
    /// Where the measuring program ran; figures of different clients are never on the same curve.
    pub client: Client,
    pub phase: Phase,
    /// The swept key on the x axis, as in `tasks`.
    pub axis: String,
    /// The other swept keys and their values, without the target.
    pub fixed: Vec<Setting>,
    pub points: Vec<CurvePoint>,
    pub shape: Shape,
}

impl Curve {
    /// The points from which something may be concluded.
    pub fn usable(&self) -> impl Iterator<Item = &CurvePoint> {
        self.points.iter().filter(|point| point.usable)
    }
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
    /// Whether nothing disqualifies the figure.
    pub usable: bool,
    /// The rate plotted on the curve, [`crate::figures::Figure::headline`]: one of the next two.
    pub rate: f64,
    pub bytes_per_second: f64,
    pub transfers_per_second: f64,
    /// Summary of [`CurvePoint::rate`] over the counted repetitions.
    pub headline: Summary,
    /// Mean latency of all counted transfers.
    pub latency_mean_ns: Option<f64>,
    /// Tasks × depth as predicted from the latency by Little's law ÷ tasks × depth that ran.
    pub little: Option<f64>,
    /// Share of the sum of all targets that the number of tasks can reach; 1 if the tasks divide evenly. `None` if
    /// tasks or nodes are not known.
    pub balance_bound: Option<f64>,
}

/// The shape of a curve, as far as the repetitions show it. Values are on the x axis, rates are those of
/// [`CurvePoint::rate`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shape {
    /// The index of the point with the highest rate.
    pub peak: Option<usize>,
    /// Where the rise ends: the point farthest from the chord of the normalised curve.
    pub knee: Option<f64>,
    /// The range in which the rate stays within 10 % of the peak.
    pub plateau: Option<(f64, f64)>,
    /// Smallest value that reaches 90 % of the peak.
    pub reaches_90: Option<f64>,
    /// Smallest value that reaches 95 % of the peak.
    pub reaches_95: Option<f64>,
    /// Largest distance from the peak beyond [`Shape::reaches_95`], as a share of the peak.
    pub spread_beyond: Option<f64>,
    /// Where the curve is higher than further down on both sides, by more than the noise: [`sweet_spot`](crate::sweeps::sweet_spot).
    pub sweet_spot: Option<f64>,
    /// Regular dips or peaks.
    pub dips: Option<Dips>,
}

impl From<&CurvePoint> for Sample {
    fn from(point: &CurvePoint) -> Self {
        Self { y: point.rate, ..Self::of(point.x, &point.headline) }
    }
}

/// The stated shape of a curve over `points` in ascending order of x, without the disqualified ones: only what the
/// repetitions do not explain as noise. If [`lack_of_fit`] cannot distinguish a curve from a flat one, only the peak
/// is stated; a knee is only stated if the curve bends there by [`bends_at`], and a plateau if the curve is not a
/// straight line.
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

/// The shape of a curve of single measurements, whose points are in ascending order of x. A knee is only stated if the
/// curve bends there by [`bends_once_at`].
#[must_use]
pub fn shape_once(samples: &[Sample]) -> Shape {
    let all = shape(samples);
    let on_axis = axis(samples);
    let bent: Vec<Sample> = samples.iter().map(|one| Sample { x: on_axis(one.x), ..*one }).collect();
    Shape { knee: all.knee.filter(|&knee| bends_once_at(&bent, on_axis(knee))), ..all }
}

/// The shape of a curve whose points are in ascending order of x. All but the sweet spot and the dips ignore their
/// scatter.
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

/// The first point with the highest rate. Returns `None` if no rate is above 0.
fn peak(samples: &[Sample]) -> Option<usize> {
    let highest = samples.iter().map(|sample| sample.y).fold(0.0, f64::max);
    samples.iter().position(|sample| sample.y == highest && highest > 0.0)
}

/// The point farthest above the chord of the normalised curve. The chord is from the first point to the last, or to
/// the peak if the curve falls by more than [`PLATEAU_SHARE`] after it. The axis is logarithmic if the sweep is
/// [`geometric`](crate::sweeps::geometric).
///
/// Source: Satopää, Albrecht, Irwin, Raghavan, "Finding a 'Kneedle' in a Haystack: Detecting Knee Points in System
/// Behavior", ICDCS workshops 2011, section III, with one knee, the highest local maximum of the difference curve,
/// and a fixed minimum distance instead of their sensitivity.
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
    // The chord ends at height 1 even if the last point is slightly below the peak.
    let distance =
        |sample: &Sample| (sample.y - first.y) / height - (on_axis(sample) - on_axis(first)) / width;
    let inner = &rise[1..rise.len() - 1];
    let knee = inner.iter().max_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    (distance(knee) >= KNEE_DISTANCE_MIN).then_some(knee.x)
}

/// The range in which the rate stays within `share` of the peak. Returns `None` if it is the peak alone.
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
