//! Positioning time and transfer rate of a device, from its rates at several transfer sizes, and what follows from
//! them for the block size of a file system.

use plan::{Phase, Setting, TargetDescription};

use crate::figures::{Subject, texts};
use crate::gate::{
    Gate, Kind, Of, Stated, Statement,
    table::{
        Column, bandwidth, below, bytes, count, detail, list, nanos, number, share, subject, text, word,
    },
};
use crate::statistics::student;
use crate::sweeps::Curve;

/// Two unknowns need three sizes; the fourth shows whether the relation is linear at all.
pub const FIT_SIZES_MIN: usize = 4;
/// With a smaller ratio of sizes, the intercept of the line is a guess.
pub const FIT_SPAN_MIN: f64 = 8.0;
/// If the root mean square of the relative residuals is above this, the times are not those of a device that
/// positions and then transfers at a constant rate.
pub const FIT_ERROR_MAX: f64 = 0.25;

/// The rates of random transfers of several sizes, and the device parameters derived from them.
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
    /// The number of devices by which the rate was divided.
    pub devices: u32,
    /// Transfers in flight per device: with more than one, the device may reorder and overlap them, and the
    /// positioning time is only what remains of it.
    pub under_way: f64,
    /// The points, in ascending order of size.
    pub points: Vec<SeekPoint>,
    /// The line, or a sentence why there is none.
    pub fit: Result<SeekTime, String>,
}

impl Statement for SeekFit {
    const KIND: Kind = Kind::Seek;
    const OF: Of = Of::Sweep;
    const CAPTION: &'static str = "For one device: time of a transfer = seek time + bytes ÷ rate, by least \
         squares of the relative deviations, with 95 % intervals. With several transfers in flight, a device \
         may reorder and overlap them: the seek time is what remains of it";
    const COLUMNS: &'static [Column<Self>] = &[
        count("sizes", "sizes", "Transfer sizes.", |one| Some(one.points.len() as u64)),
        number("under_way", "in flight", "Transfers in flight on one device.", |one| Some(one.under_way)),
        nanos("positioning", "seek time", "Time before bytes move.", |one| Some(one.line()?.positioning_ns)),
        nanos("positioning_half_width", "±", "Half its interval.", |one| {
            Some(one.line()?.positioning_half_ns)
        }),
        bandwidth("rate_per_second", "rate", "While bytes move.", |one| {
            one.rate(|line| line.bytes_per_second)
        }),
        bandwidth("rate_low_per_second", "from", "From there", |one| one.rate(|line| line.interval.0)),
        bandwidth("rate_high_per_second", "to", "to there.", |one| one.rate(|line| line.interval.1)),
        share("error", "off the line", "Root mean square of the relative deviations of the times.", |one| {
            Some(one.line()?.error)
        }),
        number(
            "half_rate_bytes",
            "half of it at bytes",
            "Size at which half of the rate is reached.",
            |one| Some(one.line()?.half_rate_bytes),
        ),
        detail(number("devices", "devices", "The number of devices that the rate was divided by.", |one| {
            Some(one.devices.into())
        })),
        below(text("refused", "refused", "Why no line was fitted.", |one| match &one.fit {
            Ok(_) => String::new(),
            Err(why) => format!("no seek time is fitted; {why}"),
        })),
        below(list("at", "at", "The other swept keys.", |one| texts(&one.fixed))),
    ];
}

impl SeekFit {
    /// The line, if one was fitted.
    #[must_use]
    pub fn line(&self) -> Option<&SeekTime> {
        self.fit.as_ref().ok()
    }

    fn rate(&self, of: impl FnOnce(&SeekTime) -> f64) -> Option<f64> {
        self.line().map(of).filter(|rate| rate.is_finite())
    }
}

/// The statements for [`seek_fits`].
pub(crate) fn of_gate(gate: &Gate<'_>, fits: &[SeekFit]) -> Vec<Stated<SeekFit>> {
    let state =
        |one: &SeekFit| gate.state(one.points.iter().map(|point| point.figure).collect(), one.clone());
    fits.iter().filter(|one| !one.points.is_empty()).map(state).collect()
}

/// Transfers of one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeekPoint {
    /// The figure.
    pub figure: usize,
    /// Bytes per transfer.
    pub bytes: f64,
    /// Bytes per second of one device.
    pub bytes_per_second: f64,
    /// Time per transfer of one device, `bytes ÷ bytes_per_second`, in nanoseconds.
    pub time_ns: f64,
}

/// `time(bytes) = positioning + bytes ÷ rate`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeekTime {
    /// Time before data is transferred, in nanoseconds; not below 0.
    pub positioning_ns: f64,
    /// Half width of its 95 % interval.
    pub positioning_half_ns: f64,
    /// Bytes per second during the transfer.
    pub bytes_per_second: f64,
    /// The ends of the 95 % interval of this rate; the upper one may be infinite.
    pub interval: (f64, f64),
    /// Root mean square of the relative residuals of the times.
    pub error: f64,
    /// The size at which half of the rate is reached: positioning time × rate.
    pub half_rate_bytes: f64,
}

impl SeekTime {
    /// The line through times of transfers, weighted so that relative errors count: a time is known to a few percent,
    /// whether it is for 4 KiB or for 16 MiB. With `w = 1 ÷ time²`, the normal equations of weighted least squares
    /// (Draper and Smith, "Applied Regression Analysis", 3rd edition, 1998, section 9.2) give both parameters, and
    /// the residual variance with n − 2 degrees of freedom gives their 95 % intervals.
    ///
    /// `points` are `(bytes, nanoseconds)`.
    ///
    /// # Errors
    /// Returns the reason, in a sentence, if the points do not determine a line.
    ///
    /// ```
    /// // 8 ms of positioning, 160 MB/s.
    /// let points: Vec<(f64, f64)> = [64e3, 256e3, 1e6, 4e6].map(|s| (s, 8e6 + s / 0.16)).to_vec();
    /// let line = analysis::targets::SeekTime::of(&points).expect("four sizes");
    /// assert!((line.positioning_ns - 8e6).abs() < 1.0 && (line.bytes_per_second - 160e6).abs() < 1.0);
    /// ```
    pub fn of(points: &[(f64, f64)]) -> Result<Self, String> {
        let points: Vec<(f64, f64)> = points.iter().copied().filter(|(s, t)| *s > 0.0 && *t > 0.0).collect();
        let mut sizes: Vec<f64> = points.iter().map(|(bytes, _)| *bytes).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup();
        if sizes.len() < FIT_SIZES_MIN {
            return Err(format!("{} sizes are too few: {FIT_SIZES_MIN} are needed", sizes.len()));
        }
        let factor = sizes[sizes.len() - 1] / sizes[0];
        if factor < FIT_SPAN_MIN {
            return Err(format!(
                "the largest size is {factor:.1} times the smallest: {FIT_SPAN_MIN} times are needed"
            ));
        }
        // Each equation is divided by its time: 1 = positioning · (1 ÷ time) + slope · (bytes ÷ time).
        let sum = |of: fn(f64, f64) -> f64| -> f64 {
            points.iter().map(|(bytes, time)| of(1.0 / time, bytes / time)).sum()
        };
        let (aa, ab, bb) = (sum(|a, _| a * a), sum(|a, b| a * b), sum(|_, b| b * b));
        let (a1, b1) = (sum(|a, _| a), sum(|_, b| b));
        let determinant = aa * bb - ab * ab;
        let mut positioning = (bb * a1 - ab * b1) / determinant;
        let mut slope = (aa * b1 - ab * a1) / determinant;
        if determinant <= 0.0 || slope <= 0.0 {
            return Err("larger transfers take no longer, so something else determines the time".to_owned());
        }
        if positioning < 0.0 {
            // A time cannot be negative: use the best line through 0.
            (positioning, slope) = (0.0, b1 / bb);
        }
        let off = points.iter().map(|(bytes, time)| (1.0 - (positioning + slope * bytes) / time).powi(2));
        let squares: f64 = off.sum();
        let n = points.len() as f64;
        let error = (squares / n).sqrt();
        if error > FIT_ERROR_MAX {
            let off = error * 100.0;
            return Err(format!(
                "the times are {off:.0} % off any line: more than positioning and one rate is at work"
            ));
        }
        let variance = squares / (n - 2.0);
        let width = student(n - 2.0);
        let slope_half = width * (variance * aa / determinant).sqrt();
        let rate = |slope: f64| if slope > 0.0 { 1e9 / slope } else { f64::INFINITY };
        Ok(Self {
            positioning_ns: positioning,
            positioning_half_ns: width * (variance * bb / determinant).sqrt(),
            bytes_per_second: rate(slope),
            interval: (rate(slope + slope_half), rate(slope - slope_half)),
            error,
            half_rate_bytes: positioning / slope,
        })
    }

    /// Bytes per second for transfers of this size.
    #[must_use]
    pub fn rate_at(&self, bytes: f64) -> f64 {
        bytes / (self.positioning_ns / 1e9 + bytes / self.bytes_per_second)
    }
}

/// The fits of all curves over sizes of random transfers; none for several devices together.
#[must_use]
pub fn seek_fits(gate: &Gate<'_>, curves: &[Curve]) -> Vec<SeekFit> {
    let sized = |curve: &&Curve| {
        let random = |figure| gate.subject(figure).is_some_and(|subject| subject.is_random());
        curve.axis == "transfer"
            && matches!(curve.phase, Phase::Read | Phase::Write)
            && curve.points.iter().all(|point| random(point.figure))
    };
    let fit = |curve: &Curve| {
        let first = gate.subject(curve.points.first()?.figure)?;
        let devices = first.devices();
        let usable = curve.points.iter().filter(|point| point.bytes_per_second > 0.0);
        let points = usable.map(|point| {
            let rate = point.bytes_per_second / f64::from(devices);
            let time_ns = point.x / rate * 1e9;
            SeekPoint { figure: point.figure, bytes: point.x, bytes_per_second: rate, time_ns }
        });
        let points: Vec<SeekPoint> = points.collect();
        Some(SeekFit {
            group: curve.group.clone(),
            target: curve.target.clone(),
            phase: curve.phase,
            fixed: curve.fixed.clone(),
            devices,
            under_way: first.case.in_flight()? / f64::from(devices),
            fit: match devices {
                0 | 1 => SeekTime::of(&points.iter().map(|one| (one.bytes, one.time_ns)).collect::<Vec<_>>()),
                // How much each of them did in which time is not known.
                several => {
                    Err(format!("the rates are of {several} devices together: measure one (`member = 0`)"))
                }
            },
            points,
        })
    };
    curves.iter().filter(sized).filter_map(fit).collect()
}

/// A file system that spreads each block over its devices, compared with the prediction from its devices.
///
/// Source: study E, "effect of the file-system block size": a disk sees strips of a block ÷ data disks, at random
/// places, so that its rate at that size times the data disks is the limit of the file system.
#[derive(Debug, Clone, PartialEq)]
pub struct StripPoint {
    /// The target whose rate is predicted.
    pub target: String,
    /// The phase.
    pub phase: Phase,
    /// The block size in bytes.
    pub block: u64,
    devices: u32,
    /// Block ÷ devices.
    pub strip: f64,
    /// Bytes per second: devices × the rate of one device for strips of this size.
    pub predicted: f64,
    /// Whether it comes from the line of [`SeekTime`]; otherwise it is interpolated linearly between the two
    /// neighbouring times.
    by_line: bool,
    /// Whether the strip is smaller or larger than all sizes that were measured on the device.
    pub extrapolated: bool,
    /// Bytes per second of the best figure of the target.
    pub measured: Option<f64>,
    /// Measured ÷ predicted.
    pub ratio: Option<f64>,
}

impl Statement for StripPoint {
    const KIND: Kind = Kind::Strip;
    const OF: Of = Of::Nothing;
    const CAPTION: &'static str = "How the block size of a file system affects its devices. Predicted: \
                                   devices × the rate of one at strips of block ÷ devices";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(word("target", "target", "The file system.", |one| &one.target)),
        subject(word("phase", "phase", "The phase.", |one| one.phase.name())),
        bytes("block", "block", "Bytes of a block.", |one| Some(one.block)),
        count("devices", "devices", "Data devices.", |one| Some(one.devices.into())),
        number("strip_bytes", "strip, bytes", "Block ÷ devices.", |one| Some(one.strip)),
        bandwidth("predicted_per_second", "predicted", "Devices × the rate of one.", |one| {
            Some(one.predicted)
        }),
        bandwidth("measured_per_second", "measured", "The best figure of the target.", |one| one.measured),
        share("ratio", "of predicted", "Measured ÷ predicted.", |one| one.ratio),
        text("predicted_by", "predicted by", "From a fitted line, or from the sizes beside it.", |one| {
            let by = if one.by_line { "seek time and rate" } else { "the sizes beside it" };
            if one.extrapolated { format!("{by}, beyond what was measured") } else { by.to_owned() }
        }),
    ];
}

/// A point for each target with [`plan::TargetDescription::fs_block`] and each phase in which the target below it was
/// measured at several sizes, in ascending order of block size.
pub(crate) fn strips(gate: &Gate<'_>, fits: &[SeekFit]) -> Vec<Stated<StripPoint>> {
    let mut targets: Vec<_> = gate.plan.criteria.targets.iter().collect();
    targets.sort_by_key(|one| one.fs_block);
    let of_phase = |phase| targets.iter().filter_map(move |one| strip(gate, fits, one, phase));
    of_phase(Phase::Write).chain(of_phase(Phase::Read)).collect()
}

fn strip(
    gate: &Gate<'_>,
    fits: &[SeekFit],
    target: &TargetDescription,
    phase: Phase,
) -> Option<Stated<StripPoint>> {
    let (block, below) = (target.fs_block?.0, target.above.as_deref()?);
    let fit = fits.iter().find(|fit| fit.target == below && fit.phase == phase)?;
    let of_target = || gate.subjects.iter().filter(|subject| subject.case.target == target.name);
    let devices = of_target().next().map_or(target.devices, Subject::devices).max(1);
    let strip = block as f64 / f64::from(devices);
    let (one, by_line) = rate_at(fit, strip)?;
    let of_phase: Vec<&Subject<'_>> = of_target().filter(|subject| subject.figure.phase == phase).collect();
    let best = gate.best(&of_phase).map(|chosen| chosen.best);
    let predicted = one * f64::from(devices);
    let measured = best.map(|subject| subject.figure.bytes_per_second.median);
    let sizes = || fit.points.iter().map(|point| point.bytes);
    let point = StripPoint {
        target: target.name.clone(),
        phase,
        block,
        devices,
        strip,
        predicted,
        by_line,
        extrapolated: !sizes().any(|size| size <= strip) || !sizes().any(|size| size >= strip),
        measured,
        ratio: measured.map(|measured| measured / predicted),
    };
    let inputs =
        best.map(|subject| subject.index).into_iter().chain(fit.points.iter().map(|point| point.figure));
    Some(gate.state(inputs.collect(), point))
}

/// The rate of one device for transfers of `bytes`, and whether it comes from the line.
fn rate_at(fit: &SeekFit, bytes: f64) -> Option<(f64, bool)> {
    if let Some(line) = fit.line() {
        return Some((line.rate_at(bytes), true));
    }
    // Times, not rates, are linear between two sizes.
    let after = fit.points.iter().position(|point| point.bytes >= bytes)?;
    let high = fit.points[after];
    if high.bytes <= bytes {
        return Some((high.bytes_per_second, false));
    }
    let low = fit.points[after.checked_sub(1)?];
    let share = (bytes - low.bytes) / (high.bytes - low.bytes);
    let time_ns = low.time_ns + share * (high.time_ns - low.time_ns);
    Some((bytes / time_ns * 1e9, false))
}
