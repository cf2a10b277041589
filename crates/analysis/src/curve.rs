//! Rates against a swept key: points, shape, straight line.

use plan::{Client, Phase, Setting, SettingValue};

use crate::Summary;

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
    /// The rate that the curve is of, [`crate::Figure::headline`]: one of the next two.
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
    /// Where the rise ends: the farthest point from the chord of the normalised curve; none where
    /// the curve does not bend.
    pub knee: Option<f64>,
    /// From where to where the rate stays within 10 % of the peak; none where no neighbour of the
    /// peak does.
    pub plateau: Option<(f64, f64)>,
    /// Smallest value that reaches 90 % of the peak.
    pub reaches_90: Option<f64>,
    /// Smallest value that reaches 95 % of the peak.
    pub reaches_95: Option<f64>,
    /// Largest distance from the peak beyond [`Shape::reaches_95`], as a share of the peak; none
    /// where the curve ends there.
    pub spread_beyond: Option<f64>,
    /// A point inside the curve that stands out from both neighbours beyond the noise: the peak
    /// where it does, else the highest that does.
    pub sweet_spot: Option<f64>,
    /// Regular dips or peaks.
    pub dips: Option<Dips>,
}

/// Dips that come back after each period, as where offsets cross a stripe, or peaks, as where transfers fill one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dips {
    /// On the x axis.
    pub period: f64,
    /// Mean depth ÷ the rate beside the dip; below 0 of peaks.
    pub depth: f64,
}

/// One point of a curve as far as its shape goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// The swept value.
    pub x: f64,
    /// The median rate.
    pub y: f64,
    /// The mean rate.
    pub mean: f64,
    /// Repetitions.
    pub repetitions: usize,
    /// Standard deviation (n − 1) of the repetitions, in the unit of [`Sample::y`].
    pub deviation: f64,
}

impl Sample {
    /// The repetitions at `x`.
    pub(crate) const fn of(x: f64, all: &Summary) -> Self {
        let Summary { median: y, mean, n: repetitions, deviation_sample: deviation, .. } = *all;
        Self { x, y, mean, repetitions, deviation }
    }

    /// A point that was measured once.
    #[must_use]
    pub const fn once(x: f64, y: f64) -> Self {
        Self { x, y, mean: y, repetitions: 1, deviation: 0.0 }
    }
}

impl From<&CurvePoint> for Sample {
    fn from(point: &CurvePoint) -> Self {
        Self { y: point.rate, ..Self::of(point.x, &point.headline) }
    }
}
