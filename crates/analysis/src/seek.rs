//! Positioning time and transfer rate of a device, from its rates at several transfer sizes.

use std::collections::HashMap;
use std::fmt;

use plan::{Case, Order, Phase, Plan, Setting};

use crate::Figure;
use crate::RateOf;
use crate::curve::Curve;
use crate::gate::{Gate, Kind, Stated};
use crate::regression::student;
use crate::table::{Column, Of, Quantity, Statement, Value};

/// Two unknowns need three sizes; the fourth shows whether it is a line at all.
pub const FIT_SIZES_MIN: usize = 4;
/// Over less than this factor of sizes the line's beginning is a guess.
pub const FIT_SPAN_MIN: f64 = 8.0;
/// Times that are off the line by more than this, as the root of the mean square of their shares, are not
/// those of a device that positions and then moves bytes at one rate.
pub const FIT_ERROR_MAX: f64 = 0.25;

/// The rates of random transfers of several sizes, and what they say of the device.
#[derive(Debug, Clone, PartialEq)]
pub struct SeekFit {
    /// The workload.
    pub group: String,
    /// The target.
    pub target: String,
    /// The phase.
    pub phase: Phase,
    /// The other swept keys and their values.
    pub fixed: Vec<Setting>,
    /// Devices over which the rate was divided.
    pub devices: u32,
    /// Transfers under way on one device: with more than one the device may order and overlap them, and the
    /// positioning time is what is left of it.
    pub under_way: f64,
    /// In rising order of sizes.
    pub points: Vec<SeekPoint>,
    /// The line, or why there is none.
    pub fit: Result<SeekTime, FitRefused>,
}

impl Statement for SeekFit {
    const KIND: Kind = Kind::Seek;
    const OF: Of = Of::Sweep;
    const CAPTION: &'static str = "Of one device: time of a transfer = seek time + bytes ÷ rate, by least squares of the times' shares, with 95 % \
         intervals. With several transfers under way a device may order and overlap them: the seek time is what is left of it";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::count("sizes", |one: &Self| Some(one.points.len() as u64), "Transfer sizes."),
        Column::number("under_way", |one: &Self| Some(one.under_way), "Transfers under way on one device.")
            .headed("under way"),
        Column::nanos(
            "positioning",
            |one: &Self| Some(one.line()?.positioning_ns),
            "Time before bytes move.",
        )
        .headed("seek time"),
        Column::nanos(
            "positioning_half_width",
            |one: &Self| Some(one.line()?.positioning_half_ns),
            "Half of its interval.",
        )
        .headed("±"),
        Column::rate(
            "rate_per_second",
            |one: &Self| one.rate(|line| line.bytes_per_second),
            "Rate while bytes move.",
        )
        .headed("rate"),
        Column::rate("rate_low_per_second", |one: &Self| one.rate(|line| line.interval.0), "From there")
            .headed("from"),
        Column::rate(
            "rate_high_per_second",
            |one: &Self| one.rate(|line| line.interval.1),
            "to there; nothing where it is open.",
        )
        .headed("to"),
        Column::share(
            "error",
            |one: &Self| Some(one.line()?.error),
            "Root of the mean square of the times' shares off the line.",
        )
        .headed("off the line"),
        Column::number(
            "half_rate_bytes",
            |one: &Self| Some(one.line()?.half_rate_bytes),
            "Bytes of a transfer that reaches half of the rate.",
        )
        .headed("half of it at bytes"),
        Column::number(
            "devices",
            |one: &Self| Some(one.devices.into()),
            "Devices over which the rate was divided.",
        )
        .detail(),
        Column::text(
            "refused",
            |one: &Self| match &one.fit {
                Ok(_) => String::new(),
                Err(why) => format!("no seek time is fitted; {why}"),
            },
            "Why no line was fitted.",
        )
        .below(),
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

impl SeekFit {
    /// The line, where one was fitted.
    #[must_use]
    pub fn line(&self) -> Option<&SeekTime> {
        self.fit.as_ref().ok()
    }

    fn rate(&self, of: impl FnOnce(&SeekTime) -> f64) -> Value {
        let rate = self.line().map(of).filter(|rate| rate.is_finite());
        Value::or_none(rate, |rate| Value::Rate(rate, RateOf::Bytes))
    }
}

/// Those of [`seek_fits`].
pub(crate) fn of_gate(gate: &Gate<'_>, fits: &[SeekFit]) -> Vec<Stated<SeekFit>> {
    let inputs = |one: &SeekFit| one.points.iter().map(|point| point.figure).collect();
    fits.iter()
        .filter(|one| !one.points.is_empty())
        .map(|one| gate.state(Kind::Seek, inputs(one), one.clone()))
        .collect()
}

/// Transfers of one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeekPoint {
    /// The figure.
    pub figure: usize,
    /// Bytes of a transfer.
    pub bytes: f64,
    /// Bytes per second of one device.
    pub bytes_per_second: f64,
    /// Time of one transfer of one device, `bytes ÷ bytes_per_second`, in nanoseconds.
    pub time_ns: f64,
    /// What the line says; none without one.
    pub predicted: Option<f64>,
}

/// `time(bytes) = positioning + bytes ÷ rate`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeekTime {
    /// Time before bytes move, in nanoseconds; not below 0.
    pub positioning_ns: f64,
    /// Half width of its 95 % interval.
    pub positioning_half_ns: f64,
    /// Bytes per second while they move.
    pub bytes_per_second: f64,
    /// The ends of its 95 % interval; the upper one may be infinite.
    pub interval: (f64, f64),
    /// Root of the mean square of the times' shares off the line.
    pub error: f64,
    /// The size at which half of the rate is reached: positioning time × rate.
    pub half_rate_bytes: f64,
}

/// Why no line was fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FitRefused {
    /// So many sizes are too few.
    TooFew(usize),
    /// The largest is only so many times the smallest.
    TooNarrow(f64),
    /// Larger transfers take no longer: something else than moving bytes sets the time.
    NotRising,
    /// The times are so far off any line.
    NoLine(f64),
    /// The rates are of so many devices together: what one of them did in which time is not known.
    SeveralDevices(u32),
}

impl fmt::Display for FitRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew(sizes) => write!(f, "{sizes} sizes are too few: {FIT_SIZES_MIN} are needed"),
            Self::TooNarrow(factor) => {
                write!(
                    f,
                    "the largest size is {factor:.1} times the smallest: {FIT_SPAN_MIN} times are needed"
                )
            }
            Self::NotRising => {
                f.write_str("larger transfers take no longer, so that something else sets the time")
            }
            Self::NoLine(error) => write!(
                f,
                "the times are {:.0} % off any line: more than positioning and one rate is at work",
                error * 100.0
            ),
            Self::SeveralDevices(devices) => {
                write!(f, "the rates are of {devices} devices together: measure one (`member = 0`)")
            }
        }
    }
}

impl SeekTime {
    /// The line through times of transfers, weighted so that each counts by its share: a time is known to some
    /// percent, whether it is of 4 KiB or of 16 MiB. With `w = 1 ÷ time²` the normal equations of weighted
    /// least squares (Draper and Smith, "Applied Regression Analysis", 3rd edition, 1998, section 9.2) give
    /// both parameters, and the residual variance with n − 2 degrees of freedom their 95 % intervals.
    ///
    /// `points` are `(bytes, nanoseconds)`.
    ///
    /// # Errors
    /// With the reason, where the points do not say it.
    ///
    /// ```
    /// // 8 ms of positioning, 160 MB/s.
    /// let points: Vec<(f64, f64)> = [64e3, 256e3, 1e6, 4e6].map(|s| (s, 8e6 + s / 0.16)).to_vec();
    /// let line = analysis::SeekTime::of(&points).expect("four sizes");
    /// assert!((line.positioning_ns - 8e6).abs() < 1.0 && (line.bytes_per_second - 160e6).abs() < 1.0);
    /// ```
    pub fn of(points: &[(f64, f64)]) -> Result<Self, FitRefused> {
        let points: Vec<(f64, f64)> = points.iter().copied().filter(|(s, t)| *s > 0.0 && *t > 0.0).collect();
        let mut sizes: Vec<f64> = points.iter().map(|(bytes, _)| *bytes).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        if sizes.len() < FIT_SIZES_MIN {
            return Err(FitRefused::TooFew(sizes.len()));
        }
        let factor = sizes[sizes.len() - 1] / sizes[0];
        if factor < FIT_SPAN_MIN {
            return Err(FitRefused::TooNarrow(factor));
        }
        // Each equation divided by its time: 1 = positioning · (1 ÷ time) + slope · (bytes ÷ time).
        let (mut aa, mut ab, mut bb, mut a1, mut b1) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for (bytes, time) in &points {
            let (a, b) = (1.0 / time, bytes / time);
            aa += a * a;
            ab += a * b;
            bb += b * b;
            a1 += a;
            b1 += b;
        }
        let determinant = aa * bb - ab * ab;
        if determinant <= 0.0 {
            return Err(FitRefused::NotRising);
        }
        let mut positioning = (bb * a1 - ab * b1) / determinant;
        let mut slope = (aa * b1 - ab * a1) / determinant;
        if slope <= 0.0 {
            return Err(FitRefused::NotRising);
        }
        if positioning < 0.0 {
            // No time is negative: the best line through 0.
            (positioning, slope) = (0.0, b1 / bb);
        }
        let squares: f64 =
            points.iter().map(|(bytes, time)| (1.0 - (positioning + slope * bytes) / time).powi(2)).sum();
        let n = points.len() as f64;
        let error = (squares / n).sqrt();
        if error > FIT_ERROR_MAX {
            return Err(FitRefused::NoLine(error));
        }
        let variance = squares / (n - 2.0);
        let width = student(n - 2.0);
        let positioning_half_ns = width * (variance * bb / determinant).sqrt();
        let slope_half = width * (variance * aa / determinant).sqrt();
        let rate = |slope: f64| if slope > 0.0 { 1e9 / slope } else { f64::INFINITY };
        Ok(Self {
            positioning_ns: positioning,
            positioning_half_ns,
            bytes_per_second: rate(slope),
            interval: (rate(slope + slope_half), rate(slope - slope_half)),
            error,
            half_rate_bytes: positioning / slope,
        })
    }

    /// Bytes per second of transfers of so many bytes.
    #[must_use]
    pub fn rate_at(&self, bytes: f64) -> f64 {
        bytes / (self.positioning_ns / 1e9 + bytes / self.bytes_per_second)
    }
}

/// The fits of all curves over sizes of random transfers; of several devices together none.
#[must_use]
pub fn seek_fits(plan: &Plan, figures: &[Figure], curves: &[Curve]) -> Vec<SeekFit> {
    let cases: HashMap<&str, &Case> = plan.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let fit = |curve: &Curve| {
        let case_of = |figure: usize| cases.get(&*figures.get(figure)?.case).copied();
        let first = case_of(curve.points.first()?.figure)?;
        let random =
            |figure| case_of(figure).is_some_and(|case| matches!(case.workload.order, Order::Random { .. }));
        let sized = curve.axis == "transfer" && matches!(curve.phase, Phase::Read | Phase::Write);
        if !sized || !curve.points.iter().all(|point| random(point.figure)) {
            return None;
        }
        let devices = devices(plan, first);
        let workload = &first.workload;
        let mut points: Vec<SeekPoint> = curve
            .points
            .iter()
            .filter(|point| point.bytes_per_second > 0.0)
            .map(|point| {
                let rate = point.bytes_per_second / f64::from(devices);
                let time_ns = point.x / rate * 1e9;
                SeekPoint {
                    figure: point.figure,
                    bytes: point.x,
                    bytes_per_second: rate,
                    time_ns,
                    predicted: None,
                }
            })
            .collect();
        let fit = match devices {
            0 | 1 => SeekTime::of(&points.iter().map(|one| (one.bytes, one.time_ns)).collect::<Vec<_>>()),
            several => Err(FitRefused::SeveralDevices(several)),
        };
        if let Ok(line) = &fit {
            for point in &mut points {
                point.predicted = Some(line.rate_at(point.bytes));
            }
        }
        Some(SeekFit {
            group: curve.group.clone(),
            target: curve.target.clone(),
            phase: curve.phase,
            fixed: curve.fixed.clone(),
            devices,
            under_way: f64::from(workload.tasks) * f64::from(workload.backend.depth()) / f64::from(devices),
            points,
            fit,
        })
    };
    curves.iter().filter_map(fit).collect()
}

/// How many members of its target a case is on, where its sweep picks them.
pub(crate) fn chosen_devices(case: &Case) -> Option<u32> {
    let picks = |one: &Setting| one.key == crate::subject::MEMBER || one.key == "members";
    let paths = u32::try_from(case.workload.files.targets.len()).unwrap_or(u32::MAX).max(1);
    case.settings.iter().any(picks).then_some(paths)
}

/// Devices of the target of `case`: those that the study says, or else its paths.
pub(crate) fn devices(plan: &Plan, case: &Case) -> u32 {
    let paths = u32::try_from(case.workload.files.targets.len()).unwrap_or(u32::MAX).max(1);
    if let Some(chosen) = chosen_devices(case) {
        return chosen;
    }
    let terms = plan.terms.targets.iter().find(|terms| terms.name == case.target);
    terms.map(|terms| terms.devices).filter(|&said| said > 0).unwrap_or(paths)
}
